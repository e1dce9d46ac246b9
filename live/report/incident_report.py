"""The incident log as a page to print and sign, as CSV and as JSON. Pure.

Times are written in the zone of the one who asks, with its offset, to the second.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence
from html import escape

import msgspec

from live.alerts.finding import SIGNS
from live.alerts.incident_log import kind_name
from live.events import Incident, IncidentChange
from live.report.printed_figures import HtmlColumn, document, html, table
from live.report.report_files import rows_text

#: Longest text of an incident that is printed, characters.
_CHARS = 600
_COLUMNS = ("number", "kind", "severity", "board", "game", "ply", "player", "feed")
_HEADS = ("at", "what", "text")


def texts(
    incidents: Sequence[Incident],
    formats: Collection[str],
    *,
    stem: str,
    title: str,
    written: str,
    zone: dt.tzinfo,
) -> dict[str, str]:
    """File names and what belongs into them. ``written`` says when and of which moment."""
    found: dict[str, str] = {}
    if "csv" in formats:
        found[f"{stem}-incidents.csv"] = as_csv(incidents, zone)
    if "json" in formats:
        found[f"{stem}-incidents.json"] = as_json(incidents)
    if "html" in formats:
        found[f"{stem}-incidents.html"] = as_page(incidents, title, written, zone)
    return found


def as_json(incidents: Sequence[Incident]) -> str:
    """As ``/api/v1/incidents`` answers."""
    return msgspec.json.format(msgspec.json.encode({"incidents": incidents}), indent=1).decode()


def as_csv(incidents: Sequence[Incident], zone: dt.tzinfo) -> str:
    """A row for each thing that happened, in the order of the incidents."""
    rows = (
        (
            *(getattr(each, name) for name in _COLUMNS),
            moment(change.at_s, zone),
            change.what,
            change.text,
        )
        for each in incidents
        for change in each.changes
    )
    return rows_text((*_COLUMNS, *_HEADS), rows)


def as_page(incidents: Sequence[Incident], title: str, written: str, zone: dt.tzinfo) -> str:
    """One self-contained page, with a place for the signature."""
    heads = ("Began", "Over", "Board", "What", "What happened to it")
    columns = [HtmlColumn("No.", "n"), *map(HtmlColumn, heads)]
    rows = [_row(each, zone) for each in incidents]
    open_ones = sum(each.over_s is None for each in incidents)
    count = f"{len(incidents)} incident{'' if len(incidents) == 1 else 's'}, {open_ones} open"
    return document(
        f"{title}: incidents",
        f"<h1>{html(title, 160)}: incidents</h1>",
        f'<p class="lead">{count} · {html(written)} by live-rate</p>',
        table(columns, rows),
        "<p>An alert is a reason to look, and accuses nobody.</p>",
        "<p>Arbiter: ______________________ &nbsp; Date: ______________ &nbsp; "
        "Signature: ______________________</p>",
    )


def _row(each: Incident, zone: dt.tzinfo) -> tuple[str, ...]:
    day = moment(each.began_s, zone)[:10]
    over = moment(each.over_s, zone, day) if each.over_s is not None else "<b>open</b>"
    happened = "<br>".join(html(line(change, zone, day), _CHARS) for change in each.changes)
    sign = SIGNS[each.severity]
    what = f"{sign} {kind_name(each.kind)}"
    return (
        str(each.number),
        escape(moment(each.began_s, zone)),
        over if each.over_s is None else escape(over),
        html(each.board, 80),
        html(what, 80),
        happened,
    )


def line(change: IncidentChange, zone: dt.tzinfo, day: str = "") -> str:
    """``15:04:05 noted: draw offer disputed``; with the date where it is not ``day``."""
    text = f": {change.text}" if change.text else ""
    return f"{moment(change.at_s, zone, day)} {change.what}{text}"


def moment(at_s: float, zone: dt.tzinfo, day: str = "") -> str:
    """``2026-05-01 15:04:05 +0200``; the time alone on that ``day``."""
    at = dt.datetime.fromtimestamp(at_s, zone)
    if day and at.strftime("%Y-%m-%d") == day:
        return at.strftime("%H:%M:%S")
    return at.strftime("%Y-%m-%d %H:%M:%S %z")
