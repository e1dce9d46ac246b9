"""Results of searches that are known already: in memory, in files, in tables, elsewhere."""
