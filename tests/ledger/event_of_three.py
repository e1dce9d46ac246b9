"""A small event, rated by the engine made of arithmetic: three players, everybody twice."""

from __future__ import annotations

from functools import cache
from itertools import permutations

from live.events import Player
from live.games.game import NewGame
from tests.ledger.arithmetic import Held, game, line

PLAYERS = (Player("Anand", elo=2811), Player("Carlsen", elo=2826), Player("Ding, Liren"))
PLIES = 70


@cache
def event(plies: int = PLIES) -> Held:
    """Six games of ``plies`` plies; the third player has no rating. Not to be changed."""
    held = Held()
    for number, (one, other) in enumerate(permutations(PLAYERS, 2), 1):
        moves = line(*(step * step + 7 * number for step in range(plies)))
        held.follow(NewGame(game(f"g{number}", moves, white=one, black=other)))
    return held
