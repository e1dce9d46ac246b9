"""First choices against what is expected, for arbiters who ask for them. Pure."""

from __future__ import annotations

import math
from html import escape

from live.alerts.engine_agreement import LEAST_MOVES
from live.events import PlayerView
from live.publish.export.analysis_json import Analysis
from live.report import report_notes
from live.report.html_table import HtmlColumn, table
from live.report.printed_figures import html, percent, signed

_COLUMNS = [
    HtmlColumn("Player"),
    HtmlColumn("Elo", "n"),
    HtmlColumn("Moves", "n"),
    HtmlColumn("First choices", "n"),
    HtmlColumn("Expected", "n"),
    HtmlColumn("z", "n"),
    HtmlColumn("By chance", "n"),
]

#: Where several lines were searched: z of move matches and of the average difference.
_LINES = [HtmlColumn("z match", "n"), HtmlColumn("z diff.", "n")]


def section(event: Analysis) -> str:
    """Everybody with enough choices, those with most evidence first.

    "By chance" is the most that the share of events of this size can be in which the evidence about
    somebody who plays fair ever gets so far.
    """
    watched = max(1, sum(view.agreement is not None for view in event.players))
    lines = any(view.methods.intrinsic is not None for view in event.players)
    rows: list[tuple[float, list[str]]] = []
    for view in event.players:
        found = view.agreement
        if view.elo is None or found is None or found.moves < LEAST_MOVES:
            continue
        share, expected = found.matches / found.moves, found.expected / found.moves
        z = (found.matches - found.expected) / math.sqrt(found.moves * expected * (1 - expected))
        row = [
            html(view.name),
            str(view.elo),
            str(found.moves),
            percent(share),
            percent(expected),
            signed(z, 1),
            _chance(min(1.0, watched * math.exp(-found.log_e_value))),
        ]
        rows.append((found.log_e_value, row + _among_lines(view) if lines else row))
    rows.sort(key=lambda each: -each[0])
    warning = f'<p class="warn">{escape(report_notes.screening(event.engine))}</p>'
    if not rows:
        return (
            warning
            + f"<p>Nobody has {LEAST_MOVES} choices that count and a forecast of them: there is "
            "one for the embedded engine and its usual limit.</p>"
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
