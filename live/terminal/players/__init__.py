"""The view of players and standings."""
