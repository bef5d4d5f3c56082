"""Pictures of a linked module as data, text, DOT and SVG."""
