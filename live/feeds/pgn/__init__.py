"""PGN bytes to whole-game reports, for every source that speaks PGN."""
