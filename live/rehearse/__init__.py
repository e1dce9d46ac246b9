"""Plays a PGN back as a real broadcast."""
