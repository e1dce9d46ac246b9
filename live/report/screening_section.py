"""First choices against what is expected, for arbiters who ask for them. Pure."""

from __future__ import annotations

from html import escape

from live.alerts.expected_agreement import FieldAgreement, expected
from live.alerts.kinds.engine_agreement import LEAST_MOVES, false_alarm_rate
from live.events import PlayerView
from live.publish.export.analysis_json import Analysis
from live.report import report_notes
from live.report.html_table import HtmlColumn, table
from live.report.printed_figures import html, interval, percent, signed

_COLUMNS = [
    HtmlColumn("Player"),
    HtmlColumn("Elo", "n"),
    HtmlColumn("Moves", "n"),
    HtmlColumn("First choices", "n"),
    HtmlColumn("95 %", "n range"),
    HtmlColumn("Expected", "n"),
    HtmlColumn("z", "n"),
    HtmlColumn("By chance", "n"),
]

#: Where several lines were searched: z of move matches and of the average difference.
_LINES = [HtmlColumn("z match", "n"), HtmlColumn("z diff.", "n")]


def section(event: Analysis) -> str:
    """Everybody with enough moves, the farthest above expectation first.

    "By chance" is the share of events of this size in which somebody who plays fair gets so far.
    """
    field = FieldAgreement()
    for view in event.players:
        field.update(view.id, view)
    watched = max(1, field.players(LEAST_MOVES))
    lines = any(view.methods.intrinsic is not None for view in event.players)
    rows: list[tuple[float, list[str]]] = []
    for view in event.players:
        found = view.methods.first_choice
        if view.elo is None or found.share is None or found.moves < LEAST_MOVES:
            continue
        norm = expected(event.engine, field, view.id, view.elo)
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
    warning = f'<p class="warn">{escape(report_notes.screening(event.engine))}</p>'
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
