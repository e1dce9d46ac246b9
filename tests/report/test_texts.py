"""One file a format, three for CSV, and a part of an event is its part."""

from __future__ import annotations

import io

import chess.pgn
import msgspec

from live.publish.analysis import Analysis
from live.report.texts import only, texts
from tests.report.hostile import event


def test_every_format() -> None:
    found = texts(
        event(), ("pgn", "csv", "json", "html"), stem="round-1", written="2026-11-21 09:00 UTC"
    )
    assert sorted(found) == [
        "round-1-players.csv",
        "round-1-plies.csv",
        "round-1-points.csv",
        "round-1.html",
        "round-1.json",
        "round-1.pgn",
    ]
    game = chess.pgn.read_game(io.StringIO(found["round-1.pgn"]))
    assert game is not None and not game.errors
    assert msgspec.json.decode(found["round-1.json"], type=Analysis) == event()


def test_one_board() -> None:
    part = only(event(), {"g1"}, {"a", "b"})
    assert [game.id for game in part.games] == ["g1"]
    assert [view.id for view in part.players] == ["a", "b"]
    assert "=HYPERLINK" not in texts(part, ["html"], written="now")["event.html"]
