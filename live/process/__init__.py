"""What the operating system wants of a process, and what it gives."""
