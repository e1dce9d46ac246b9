"""The perceived rating: how strong a player plays, in Elo, move by move."""
