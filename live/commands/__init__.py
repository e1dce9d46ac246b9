"""The commands: each turns its flags into one call, and imports late what it needs."""
