"""The state of the event: games, scores, gains and rating curves, changed by one
writer. Pure.

Steps of games, search results and answers about human moves come in. Search requests,
questions about human moves and the changes that subscribers see go out.
"""
