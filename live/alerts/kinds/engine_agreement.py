"""Players who choose the engine's move far more often than is expected of them. Pure.

A screening figure: it says where to look, with its sample and with how often it is wrong. It
accuses nobody. With many boards somebody is always far out by chance, so what counts as far grows
with the number of players watched (Bonferroni), and because a figure is looked at after every
move, with the measured price of looking often.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from live.alerts.expected_agreement import expected
from live.alerts.finding import Finding
from live.alerts.watched_event import WatchedEvent
from live.events import Agreement

#: Fewer moves say nothing.
LEAST_MOVES = 25
#: Of events in which nobody does anything wrong, this share may show an alert on some board.
FALSE_ALARMS = 0.05
#: How many times as often a figure is once above a bound, looked at after every move, as a normal
#: one looked at once. Measured on 156 honest player-games: 1.3 to 2.05 times, bounds 1 to 2.33
#: (``tests/benchmarks/alerts.py``).
LOOKS = 2.0


def findings(watched: WatchedEvent, id: str, now_s: float) -> Iterator[Finding]:
    view = watched.players.get(id)
    if view is None or view.elo is None:
        return
    figure = view.methods.first_choice
    if figure.share is None or figure.moves < LEAST_MOVES:
        return
    norm = expected(watched.engine, watched.field, id, view.elo)
    if norm is None:
        return
    z = norm.z(figure.share, figure.moves)
    players = max(1, watched.field.players(LEAST_MOVES))
    if false_alarm_rate(z, players) > FALSE_ALARMS:
        return
    board = watched.game_of(view)
    boards = (players + 1) // 2
    matches = round(figure.share * figure.moves)
    yield Finding(
        kind="agreement",
        severity="look",
        about=id,
        player=view.name,
        game=board.view.id if board else None,
        text=(
            f"{board.label + ': ' if board else ''}{view.name} ({view.elo}) played the engine's "
            f"move in {matches} of {figure.moves} moves ({figure.share:.0%}); {norm.share:.0%} is "
            f"expected, z = {z:.1f}."
        ),
        advice=(
            f"A screening figure that accuses nobody: with {boards} boards watched, "
            f"{FALSE_ALARMS:.0%} of events show one although all play fair. Say nothing in the "
            "hall; look at the games afterwards, with the usual procedure."
        ),
        agreement=Agreement(
            moves=figure.moves,
            share=round(figure.share, 4),
            expected=round(norm.share, 4),
            z=round(z, 2),
            boards=boards,
            false_alarms=FALSE_ALARMS,
            rests_on=norm.rests_on,
        ),
    )


def false_alarm_rate(z: float, players: int) -> float:
    """Of events with so many fair players, the share in which some figure reaches ``z``."""
    one = min(1.0, LOOKS * 0.5 * math.erfc(z / math.sqrt(2)))
    return float(-math.expm1(players * math.log1p(-one))) if one < 1 else 1.0
