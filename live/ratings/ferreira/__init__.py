"""The algorithms of Ferreira 2012. Pure."""
