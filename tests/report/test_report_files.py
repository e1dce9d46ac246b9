"""One file a format, four for CSV, and a part of an event is its part."""

from __future__ import annotations

import io

import chess.pgn
import msgspec

from live.publish.export.analysis_json import Analysis
from live.publish.visibility import Visibility, shown
from live.report.report_files import only, texts
from tests.report.hostile import event


def test_every_format() -> None:
    found = texts(
        event(), ("pgn", "csv", "json", "html"), stem="round-1", written="2026-11-21 09:00 UTC"
    )
    assert sorted(found) == [
        "round-1-gains.csv",
        "round-1-players.csv",
        "round-1-plies.csv",
        "round-1-points.csv",
        "round-1.html",
        "round-1.json",
        "round-1.pgn",
    ]
    game = chess.pgn.read_game(io.StringIO(found["round-1.pgn"]))
    assert game is not None and not game.errors
    public = shown(event(), Visibility.PUBLIC)
    assert msgspec.json.decode(found["round-1.json"], type=Analysis) == public


def test_what_is_for_arbiters_is_written_only_for_them() -> None:
    public = texts(event(), ("csv", "json", "html"), written="now")
    arbiters = texts(event(), ("csv", "json", "html"), written="now", arbiter=True)
    for name, z in (("event-players.csv", "1.25"), ("event.json", "1.25"), ("event.html", "+1.2")):
        assert z not in public[name] and z in arbiters[name]


def test_one_board() -> None:
    part = only(event(), {"g1"}, {"a", "b"})
    assert [game.id for game in part.games] == ["g1"]
    assert [view.id for view in part.players] == ["a", "b"]
    assert "=HYPERLINK" not in texts(part, ["html"], written="now")["event.html"]
