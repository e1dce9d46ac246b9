"""First choices against what is expected, for arbiters who ask for them. Pure."""

from __future__ import annotations

from html import escape

from live.alerts.agreement import LEAST_MOVES, false_alarm_rate
from live.alerts.expectation import Field, expected
from live.events import PlayerView
from live.publish.analysis import Analysis
from live.report import notes
from live.report.figures import html, interval, percent, signed
from live.report.table import Column, table

_COLUMNS = [
    Column("Player"),
    Column("Elo", "n"),
    Column("Moves", "n"),
    Column("First choices", "n"),
    Column("95 %", "n range"),
    Column("Expected", "n"),
    Column("z", "n"),
    Column("By chance", "n"),
]

#: Where several lines were searched: z of move matches and of the average difference.
_LINES = [Column("z match", "n"), Column("z diff.", "n")]


def section(told: Analysis) -> str:
    """Everybody with enough moves, the farthest above expectation first.

    "By chance" is the share of events of this size in which somebody who plays fair gets so far.
    """
    field = Field()
    for view in told.players:
        field.update(view.id, view)
    watched = max(1, field.players(LEAST_MOVES))
    lines = any(view.methods.intrinsic is not None for view in told.players)
    rows: list[tuple[float, list[str]]] = []
    for view in told.players:
        found = view.methods.first_choice
        if view.elo is None or found.share is None or found.moves < LEAST_MOVES:
            continue
        norm = expected(told.engine, field, view.id, view.elo)
        if norm is None:
            continue
        z = norm.z(found.share, found.moves)
        low, high = (None if end is None else 100 * end for end in (found.low, found.high))
        row = [
            html(view.name),
            str(view.elo),
            str(found.moves),
            percent(found.share),
            interval(low, high),
            percent(norm.share),
            signed(z, 1),
            _chance(false_alarm_rate(z, watched)),
        ]
        rows.append((z, row + _among_lines(view) if lines else row))
    rows.sort(key=lambda each: -each[0])
    warning = f'<p class="warn">{escape(notes.screening(told.engine))}</p>'
    if not rows:
        return (
            warning + f"<p>Nobody has {LEAST_MOVES} moves that count and a norm to be held to.</p>"
        )
    return warning + table(_COLUMNS + _LINES if lines else _COLUMNS, [row for _, row in rows])


def _among_lines(view: PlayerView) -> list[str]:
    """Regan and Haworth's two figures, where several lines were searched."""
    found = view.methods.intrinsic
    if found is None:
        return ["", ""]
    return [signed(found.match_z, 1), signed(found.difference_z, 1)]


def _chance(rate: float) -> str:
    if rate >= 0.995:
        return "always"
    return f"{100 * rate:.0f} %" if rate >= 0.01 else "&lt; 1 %"
