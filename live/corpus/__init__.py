"""A corpus: many finished games in one database, searched once, and studied as columns."""
