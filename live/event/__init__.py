"""The state of the event: games, scores, gains and rating curves. Pure.

Only one task changes the state. Its input is steps of games, results of searches, and
answers about human moves. Its output is search requests, questions about human moves,
and the changes that subscribers receive.
"""
