"""Players who choose the engine's move more often than the forecast allows. Pure.

A screening figure: it says where to look, with its sample and with how often it is wrong. It
accuses nobody. The evidence is an e-value (``live.ratings.strength.agreement``): it may be looked
at after every move, and with many players watched each needs as many times more of it
(Bonferroni), so that the share of fair events with any alarm stays below what is said. How it did
on players who did not teach the forecast: ``tests/benchmarks/alerts.py``.
"""

from __future__ import annotations

from collections.abc import Iterator

from live.alerts.finding import Finding
from live.alerts.watched_event import WatchedEvent
from live.events import Agreement
from live.ratings.strength.agreement import FALSE_ALARMS, bound

#: Fewer moves say nothing to people, whatever they weigh.
LEAST_MOVES = 25


def findings(watched: WatchedEvent, id: str, now_s: float) -> Iterator[Finding]:
    """None where nothing forecasts this engine's choices: then nothing can be claimed."""
    view = watched.players.get(id)
    if view is None or view.elo is None or view.agreement is None:
        return
    found = view.agreement
    players = sum(each.agreement is not None for each in watched.players.values())
    if found.moves < LEAST_MOVES or found.log_e_value < bound(players):
        return
    share, expected = found.matches / found.moves, found.expected / found.moves
    board = watched.game_of(view)
    boards = (players + 1) // 2
    z = (found.matches - found.expected) / (found.moves * expected * (1 - expected)) ** 0.5
    yield Finding(
        kind="agreement",
        severity="look",
        about=id,
        player=view.name,
        game=board.view.id if board else None,
        text=(
            f"{board.label + ': ' if board else ''}{view.name} ({view.elo}) played the engine's "
            f"move in {found.matches} of {found.moves} choices ({share:.0%}); {expected:.0%} were "
            f"forecast, z = {z:.1f}."
        ),
        advice=(
            f"A screening figure that accuses nobody: with {boards} boards watched, at most "
            f"{FALSE_ALARMS:.0%} of events show one although all play fair. Say nothing in the "
            "hall; look at the games afterwards, with the usual procedure."
        ),
        agreement=Agreement(
            moves=found.moves,
            share=round(share, 4),
            expected=round(expected, 4),
            z=round(z, 2),
            boards=boards,
            false_alarms=FALSE_ALARMS,
            rests_on="a forecast of each choice by position and Elo, and how players and games "
            "were seen to lie around it",
        ),
    )
