"""What people play: the share of players of a rating who would choose each move.

A network of our own, learned from rated games (``train.py``), gives ``P(move |
position, Elo of both players, kind of game)``; ``network.md`` beside it says what it
was learned from and how well it does on players it has never seen.
"""
