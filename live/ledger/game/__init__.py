"""One game with everything known about it. Pure."""
