"""Widgets: a module to look into. The only part that imports ipywidgets and anywidget."""
