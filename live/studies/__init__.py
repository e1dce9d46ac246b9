"""Studies of the papers: corpora, tables, figures, learning, comparisons and matches.

A corpus holds many finished games in one database, searched once, and studied as
columns. Nothing that runs live imports anything from here.
"""
