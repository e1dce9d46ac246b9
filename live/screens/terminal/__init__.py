"""The arbiter's terminal: pure panels, and the live display."""
