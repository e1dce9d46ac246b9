"""The journal: what was seen and what was scored."""
