"""Outputs for other programs of a broadcast: notices, and scenes of OBS."""
