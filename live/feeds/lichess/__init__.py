"""lichess: broadcasts, games and TV."""
