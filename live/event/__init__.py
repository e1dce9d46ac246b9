"""The state of the event: games, scores, gains and rating curves. Pure.

It is called only on the event loop, and no call blocks. Its input is reports of
sources, results of searches, and answers about human moves. Its output is steps to
store, search requests, questions about human moves, and the changes that subscribers
receive.
"""
