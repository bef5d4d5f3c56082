"""A child process that tries what could end the kernel."""
