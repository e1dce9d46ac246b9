"""One stand-in for each service that real feeds come from."""
