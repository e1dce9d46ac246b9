"""The tables of the papers over a corpus, each from one pass over its moves."""
