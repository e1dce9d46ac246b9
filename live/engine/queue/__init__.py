"""Which search runs next on which engine. Pure."""
