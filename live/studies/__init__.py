"""Studies of the papers: corpora, tables, figures, learning, comparisons and matches.

A corpus stores many finished games in one database. They are searched once and then
studied as columns. No module of the live service imports this package.
"""
