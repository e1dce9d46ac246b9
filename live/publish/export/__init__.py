"""Games and events as files: JSON and annotated PGN. Pure."""
