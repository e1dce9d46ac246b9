"""The incident log as files: whole, to the second, and harmless wherever it is opened."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json

from live.alerts.incident_log import IncidentLog
from live.events import Alert
from live.report.incident_report import as_csv, texts

ZONE = dt.timezone(dt.timedelta(hours=2))
BASE_S = dt.datetime(2026, 5, 1, 15, 4, 5, tzinfo=ZONE).timestamp()


def log() -> IncidentLog:
    made = IncidentLog()
    alert = Alert(
        id="takeback g1",
        kind="takeback",
        severity="warning",
        text="<b>17 Nf3</b> taken back",
        advice="Ask.",
        game="g1",
        first_seen_s=BASE_S,
        note="=cmd()",
    )
    made.alert(alert, BASE_S)
    made.entry("draw offer disputed", BASE_S + 35 * 60)
    return made


def files() -> dict[str, str]:
    formats = ("html", "csv", "json", "pgn")
    found = log().incidents()
    return texts(found, formats, stem="round", title="round", written="as of now", zone=ZONE)


def test_each_thing_that_happened_is_a_row() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(log().incidents(), ZONE))))
    assert [(row["number"], row["at"], row["what"], row["text"]) for row in rows] == [
        ("1", "2026-05-01 15:04:05 +0200", "raised", "<b>17 Nf3</b> taken back"),
        ("1", "2026-05-01 15:04:05 +0200", "noted", "'=cmd()"),
        ("2", "2026-05-01 15:39:05 +0200", "entry", "draw offer disputed"),
    ]


def test_the_page_is_to_be_signed_and_holds_no_markup_of_others() -> None:
    page = files()["round-incidents.html"]
    assert "<b>17 Nf3</b>" not in page and "&lt;b&gt;17 Nf3" in page
    assert "2 incidents, 1 open" in page and "Signature: ____" in page
    assert "15:39:05" in page and "as of now" in page


def test_there_is_a_file_for_each_format_that_can_hold_it() -> None:
    found = files()
    assert sorted(found) == [f"round-incidents.{end}" for end in ("csv", "html", "json")]
    first, second = json.loads(found["round-incidents.json"])["incidents"]
    assert first["changes"][0]["at_s"] == BASE_S and second["kind"] == "entry"
