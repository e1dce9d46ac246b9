"""A small event, rated by the engine made of arithmetic: three players, everybody twice."""

from __future__ import annotations

from live.events import Player
from live.games.game import NewGame
from live.ledger.event_state import EventLedger
from live.ledger.measure import Measure
from tests.ledger.arithmetic import answer, game, line

PLAYERS = (Player("Anand", elo=2811), Player("Carlsen", elo=2826), Player("Ding, Liren"))
PLIES = 70


def event(plies: int = PLIES) -> EventLedger:
    """Six games of ``plies`` plies; the third player has no rating."""
    held = EventLedger(
        measure=Measure("same-search"),
        engine_name="Arithmetic",
        limit="1 look",
        fixed_rating=None,
        stored_rating=2800,
    )
    number = 0
    for one in PLAYERS:
        for other in PLAYERS:
            if one is not other:
                number += 1
                moves = line(*(step * step + 7 * number for step in range(plies)))
                out = held.apply(NewGame(game(f"g{number}", moves, white=one, black=other)))
                requests = list(out.requests)
                while requests:
                    request = requests.pop()
                    found = answer(request.search)
                    requests += held.searched(request.id, found).requests
    return held
