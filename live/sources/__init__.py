"""Readers of game sources, one module per kind: they turn received bytes into reports
of whole games. They know nothing of engines or ratings.
"""
