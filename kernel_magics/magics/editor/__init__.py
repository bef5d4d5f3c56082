"""What editors ask the kernel about `%%hlo` cells: completions, and what a word means."""
