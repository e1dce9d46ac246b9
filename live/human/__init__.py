"""Prediction of human moves: the share of players of a rating who would choose each
move.

A neural network of this project, learned from rated games (``live-rate train-human``),
gives ``P(move | position, Elo of both players, kind of game)``. The file ``network.md``
beside it describes the data it was learned from and its accuracy for players it has
never seen.
"""
