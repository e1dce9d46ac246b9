"""What the result of a match says. Pure."""
