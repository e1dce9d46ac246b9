"""The bundled games, and the feed that replays them."""
