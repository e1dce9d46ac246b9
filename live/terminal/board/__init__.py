"""The view of one board."""
