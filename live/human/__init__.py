"""Prediction of human moves: the share of players of a rating who would choose each
move.

A neural network, trained on rated games by ``live-rate train-human``, gives
``P(move | position, Elo of both players, kind of game)``. The file ``network.md``
describes the training data, and the accuracy for players outside the training data.
"""
