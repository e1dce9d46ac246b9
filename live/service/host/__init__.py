"""What the operating system has to do with a run: signals, sleep, systemd, its output."""
