"""The state of the event: games, scores, gains and curves, with one writer. Pure.

Steps of games, results of searches and answers about human moves go in; requests,
questions and the changes that subscribers see come out.
"""
