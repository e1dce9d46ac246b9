"""Outputs for other programs of a production: notices to people, and scenes of OBS."""
