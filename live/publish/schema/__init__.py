"""The published descriptions of messages and answers. Pure."""
