"""Players pooled over the event, and their standings. Pure."""
