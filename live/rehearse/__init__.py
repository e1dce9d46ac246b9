"""Rehearsals: a PGN file played back as a real broadcast."""
