"""All files of a report and of the incident log, and what spreadsheets read of them."""

import csv
import datetime as dt
import io
import json

import chess.pgn
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.messages.alerts import Alert
from live.screens.reports.report_files import (
    FORMULA,
    build_files,
    build_incident_files,
    format_cell,
    format_incidents_csv,
    select_part,
)
from live.server.analysis import Analysis
from live.server.visibility import Visibility, redact
from live.watch.incident_log import IncidentLog
from tests.screens.reports.sample_event import event

# --- csv text -------------------------------------------------------------------------


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def rows(name: str, *in_doubt: str) -> list[dict[str, str]]:
    whole = msgspec.structs.replace(event(), in_doubt=in_doubt)
    return read(build_files(whole, ["csv"], written="now")[f"event-{name}.csv"])


def test_every_ply_is_a_row_with_its_game() -> None:
    found = rows("plies")
    assert len(found) == 10
    first = found[0]
    assert (first["game"], first["ply"], first["san"], first["score_cp"]) == (
        "g2",
        "1",
        "e4",
        "20",
    )
    assert first["white"].startswith("'=HYPERLINK") and first["final"] == "true"
    assert first["complexity.jump_cp"] == "" == first["best"]
    assert found[4]["gain_cp"] == "-240"  # a number, so its sign is left alone

    points = rows("points")
    assert len(points) == 10
    assert (
        points[0]["color"] == "white" and points[0]["difference"] == ""
    )  # unbounded is empty
    assert points[0]["perceived"] == "2001"


def test_every_figure_of_a_player_is_a_column() -> None:
    found = rows("players")
    assert [row["id"] for row in found] == ["a", "b", "c", "d"]
    assert found[0]["methods.first_choice.share"] == "0.9"
    assert found[0]["methods.tournament_rating"] == ""


def test_gains_are_counted_over_all_games_in_each_and_of_the_engine() -> None:
    found = rows("gains")
    pooled = [row for row in found if row["of"] == "player"]
    assert [(row["gain_cp"], row["moves"]) for row in pooled[:3]] == [
        ("-900", "1"),
        ("-10", "2"),
        ("0", "5"),
    ]
    assert pooled[0]["name"] == format_cell(event().players[0].name)
    assert sum(int(row["moves"]) for row in found if row["of"] == "game") == len(
        rows("points")
    )
    assert tuple(found[-1].values()) == (
        "engine",
        "",
        "",
        event().engine.name,
        "0",
        "1",
    )


def test_results_are_in_the_order_of_boards() -> None:
    """Others read these columns by their names."""
    found = rows("results")
    assert [(row["board"], row["result"]) for row in found] == [
        ("1", "1-0"),
        ("2", "1-0"),
    ]
    columns = [
        "round",
        "board",
        "white",
        "white_elo",
        "black",
        "black_elo",
        "result",
        "in_doubt",
    ]
    assert [*found[0]] == columns
    marked = rows("results", event().games[0].id)
    assert sorted(row["in_doubt"] for row in marked) == ["false", "true"]


# Not FORMULA itself: a sign missing there would not be missed here.
@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_no_cell_is_a_formula(begin: str) -> None:
    assert format_cell(f"{begin}1+1").startswith("'")
    assert format_cell("plain") == "plain"
    assert format_cell(-12) == "-12"


@given(st.text())
def test_text_never_begins_as_a_formula_nor_breaks_a_row(text: str) -> None:
    told = format_cell(text)
    assert not told.startswith(FORMULA)
    assert "\n" not in told and "\r" not in told and "\x1b" not in told


# --- report files ---------------------------------------------------------------------


def test_every_format() -> None:
    found = build_files(
        event(),
        ("pgn", "csv", "json", "html"),
        stem="round-1",
        written="2026-11-21 09:00 UTC",
    )
    tables = {
        f"-{name}.csv" for name in ("gains", "players", "plies", "points", "results")
    }
    ends = {*tables, ".html", "-games.html", "-results.html", ".json", ".pgn"}
    assert {*found} == {f"round-1{end}" for end in ends}
    game = chess.pgn.read_game(io.StringIO(found["round-1.pgn"]))
    assert game is not None and not game.errors
    public = redact(event(), Visibility.PUBLIC)
    assert msgspec.json.decode(found["round-1.json"], type=Analysis) == public


def test_what_is_for_arbiters_is_written_only_for_them() -> None:
    public = build_files(event(), ("csv", "json", "html"), written="now")
    arbiters = build_files(
        event(), ("csv", "json", "html"), written="now", arbiter=True
    )
    for name, z in (
        ("event-players.csv", "1.25"),
        ("event.json", "1.25"),
        ("event.html", "+1.2"),
    ):
        assert z not in public[name] and z in arbiters[name]


def test_one_board() -> None:
    part = select_part(event(), {"g1"}, {"a", "b"})
    assert [game.id for game in part.games] == ["g1"]
    assert [view.id for view in part.players] == ["a", "b"]
    found = build_files(part, ["html"], written="now")
    assert [*found] == ["event.html"] and "=HYPERLINK" not in found["event.html"]
    assert "Bb5" in found["event.html"], "one game is shown move by move"


def test_a_round_is_short_unless_its_games_are_asked_for() -> None:
    found = build_files(event(), ["html"], written="now")
    assert "Bb5" not in found["event.html"] and "Bb5" in found["event-games.html"]
    sheet = found["event-results.html"]
    assert "1–0" in sheet and "Plays like" not in sheet


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
    made.add_alert(alert, BASE_S)
    made.add_entry("draw offer disputed", BASE_S + 35 * 60)
    return made


def files() -> dict[str, str]:
    formats = ("html", "csv", "json", "pgn")
    found = log().incidents()
    return build_incident_files(
        found, formats, stem="round", title="round", written="as of now", zone=ZONE
    )


def test_each_thing_that_happened_is_a_row() -> None:
    rows = list(
        csv.DictReader(io.StringIO(format_incidents_csv(log().incidents(), ZONE)))
    )
    assert [(row["number"], row["at"], row["what"], row["text"]) for row in rows] == [
        ("1", "2026-05-01 15:04:05 +0200", "raised", "<b>17 Nf3</b> taken back"),
        ("1", "2026-05-01 15:04:05 +0200", "noted", "'=cmd()"),
        ("2", "2026-05-01 15:39:05 +0200", "entry", "draw offer disputed"),
    ]


def test_the_page_is_to_be_signed_and_holds_no_markup_of_others() -> None:
    page = files()["round-incidents.html"]
    assert "<b>17 Nf3</b>" not in page and "&lt;b&gt;17 Nf3" in page
    assert (
        "2 incidents, 1 open" in page
        and "Signature: ____" in page
        and "Hall: ____" in page
    )
    assert "15:39:05" in page and "as of now" in page
    # What somebody has entered is no alert.
    assert "✎ Arbiter" in page


def test_there_is_a_file_for_each_format_that_can_hold_it() -> None:
    found = files()
    assert sorted(found) == [
        f"round-incidents.{end}" for end in ("csv", "html", "json")
    ]
    first, second = json.loads(found["round-incidents.json"])["incidents"]
    assert first["changes"][0]["at_s"] == BASE_S and second["kind"] == "entry"
