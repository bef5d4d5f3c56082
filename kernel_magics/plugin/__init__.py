"""Device plugins: found, tried in a child process, loaded while the kernel runs, compared."""
