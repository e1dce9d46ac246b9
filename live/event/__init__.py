"""The state of the event: games, scores, gains and curves, with one writer. Pure.

Plan steps and search results go in; search requests and the changes subscribers see come out.
"""
