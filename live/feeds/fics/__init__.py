"""Chess servers of the FICS family."""
