"""What a journal tells of an event: as it stood, and how each rating came about."""

import contextlib
import csv
import datetime as dt
import functools
import json
import re
import sys
import time
from collections.abc import AsyncIterator
from itertools import product
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from live.commands.explain_rating import build_explanation, explain_rating, find_game
from live.commands.read_settings import read_settings
from live.commands.report_event import parse_moment_ms, report_event
from live.errors import InputError
from live.games.game import NewGame
from live.journal.journal import Journal
from live.journal.journal_reader import JournalReader
from live.journal.rating_explanation import Explanation, describe_explanation
from live.journal.recorded_event import RecordedEvent, rebuild_event
from live.messages.figures import CurvePoint, GameDetail
from live.messages.from_clients import DeskCommand
from live.messages.from_sources import FeedReport, GameReport, Player
from live.server.analysis import Analysis, build_analysis
from live.server.wire import encode_with_defaults
from live.sources import demo_feed
from tests.event.answered_event import (
    FollowedEvent,
    RunningEvent,
    open_running,
    open_ticking_journal,
)
from tests.event.arithmetic import game
from tests.event.test_event import ledger
from tests.games.short_reports import change_headers
from tests.journal.test_journal import RUN
from tests.sources.fakes import upto

FEED = "games.pgn"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


@contextlib.asynccontextmanager
async def open_ticking_event(
    path: Path, *, human: bool = False
) -> AsyncIterator[RunningEvent]:
    """A service whose clock moves one second with each thing written."""
    # A limit of its own: nobody else measures the engine under it.
    config = read_settings(None, {}, {"engine.nodes": 510})
    journal = open_ticking_journal(path)
    async with open_running(config, journal, human=human) as service:
        yield service


async def report_and_settle(service: FollowedEvent, *games: GameReport) -> Analysis:
    await service.take(FeedReport(FEED, games, complete=True))
    await service.settled()
    return whole_of(service)


def whole_of(service: FollowedEvent | RecordedEvent) -> Analysis:
    return build_analysis(service.state, service.state.rate_by_methods())


async def test_every_moment_of_an_event_can_be_told_again(path: Path) -> None:
    one, two = demo_feed.read_demo_games()[:2]
    moments: list[tuple[int, Analysis]] = []
    async with open_ticking_event(path) as service:
        for plies in (6, 9, 15):
            whole = await report_and_settle(service, upto(one, plies), upto(two, plies))
            moments.append((service.journal.journal._last_ms, whole))
        # A move taken back, and a game that is gone.
        whole = await report_and_settle(service, upto(one, 12))
        moments.append((service.journal.journal._last_ms, whole))
    with JournalReader.open(path) as reader:
        for at_ms, whole in moments:
            assert whole_of(rebuild_event(reader, path, at_ms)) == whole
        assert whole_of(rebuild_event(reader, path)) == moments[-1][1]
        with pytest.raises(InputError, match="begins later than that") as error:
            rebuild_event(reader, path, 999_000)
        (named,) = re.findall(r"at (\d{4}-\S+)\. Give a later --at", str(error.value))
        rebuild_event(reader, path, parse_moment_ms(named, dt.datetime.now(dt.UTC)))


async def test_a_board_brought_back_is_replayed_with_its_scores(path: Path) -> None:
    one, two = demo_feed.read_demo_games()[:2]
    async with open_ticking_event(path) as service:
        await report_and_settle(service, upto(one, 4), upto(two, 4))
        board = next(iter(service.state.games())).id
        service.arbiter.remove_board(service.state, board)
        service.arbiter.bring_back_board(service.state)
        await service.settled()
        assert [view.plies_scored for view in service.state.games()] == [4, 4]
        whole = whole_of(service)
        service.journal.journal.wait_until_written()
        with JournalReader.open(path) as reader:
            event = rebuild_event(reader, path)
            assert not event.waiting
            assert whole_of(event) == whole


def assert_explained(lines: list[str], detail: GameDetail, point: CurvePoint) -> None:
    """What is worked out there is what was published; formulas hold."""
    last = {line.split(" = ")[0].strip(): line.split(" ")[-1] for line in lines}
    assert float(last["expected score"]) == pytest.approx(point.score, abs=1e-6)
    if point.difference is None:
        assert "difference: unbounded, so there is no rating" in "".join(lines)
    else:
        assert float(last["difference"]) == pytest.approx(point.difference, abs=0.0051)
    solved = [line for line in lines if "which balances it at" in line]
    assert bool(solved) == bool(point.counted)
    for line in solved:
        rating = float(line.split()[-1])
        if point.counted >= 5:
            # Written with one decimal there, whole here.
            assert point.perceived == pytest.approx(
                min(max(rating, 800), 3200), abs=0.551
            )
        if 400 < rating < 3600:
            (sums,) = (each for each in lines if "less what was hard for both" in each)
            slope, prior = (
                float(each.split(" = ")[-1].split(",")[0]) for each in (sums, line)
            )
            assert slope == pytest.approx(prior, abs=2e-4)
    view, sign = detail.plies[point.ply - 1], 1 if point.ply % 2 else -1
    searched = {
        what: int(line.split()[2])
        for line, what in product(lines, SEARCHES)
        if what in line
    }
    assert (
        view.score_cp is not None
        and searched["position after:"] == sign * view.score_cp
    )
    if view.best != view.uci:
        gain_cp = searched["move played:"] - searched["position before:"]
        assert view.gain_same_search_cp == min(0, gain_cp)
        (formula,) = (line for line in lines if "played - best = " in line)
        played, _, best = formula.split(" = ")[1].split(",")[0].partition(" - ")
        assert (int(played), int(best)) == (
            searched["move played:"],
            searched["position before:"],
        )
    else:
        assert "move played:" not in searched and view.gain_same_search_cp == 0


SEARCHES = ("position before:", "move played:", "position after:")


async def test_each_published_rating_is_explained_to_its_very_figure(
    path: Path, tmp_path: Path
) -> None:
    async with open_ticking_event(path, human=True) as service:
        one, two, three = (upto(game, 24) for game in demo_feed.read_demo_games()[:3])
        unrated = replace(three.headers.black, elo=None)
        # One is over, so that it is compared with finished games; in one a player has
        # no Elo.
        over = replace(two, result="1-0")
        await report_and_settle(
            service, one, over, change_headers(three, black=unrated)
        )
    with JournalReader.open(path) as reader:
        event = rebuild_event(reader, path)
        for detail in build_analysis(event.state).games:
            for ply in (1, 2, 6, 11, 15, 20, 24):
                (point,) = (
                    each
                    for each in (*detail.curves.white, *detail.curves.black)
                    if each.ply == ply
                )
                found = build_explanation(event, detail, ply)
                lines = list(describe_explanation(found))
                assert_explained(lines, detail, point)
                assert found.gains_cp[-1] == found.published.gain_cp == point.gain_cp
        text = "\n".join(lines)
        # What is written there can be typed to an engine: that is how anybody asks
        # again.
        assert "\n    go nodes 510\n" in text and "\n    position fen " in text
        assert "Perceived rating, read as classical" in text
        assert f"published: {point.perceived}\n" in text
        target = tmp_path / "explained.json"
        assert explain_rating(path, detail.id, ply, json=str(target)) == 0
        assert msgspec.json.decode(target.read_bytes(), type=Explanation) == found
        with pytest.raises(InputError, match="plies 1 to 24"):
            build_explanation(event, detail, 25)


def test_a_game_is_found_by_its_id_or_by_names() -> None:
    held = ledger()
    for id, black in (("a1", "Carlsen"), ("b2", "Ding")):
        held.apply_step(NewGame(game(id, black=Player(black))))
    games = [detail for id in ("a1", "b2") if (detail := held.game(id)) is not None]
    assert find_game(games, "b2").id == "b2"
    assert find_game(games, "ding").id == "b2"
    assert find_game(games, "anand carl").id == "a1"
    with pytest.raises(InputError, match=r"several games.*a1.*b2"):
        find_game(games, "Anand")
    with pytest.raises(InputError, match=r"not a game of this journal.*a1.*Ding\)$"):
        find_game(games, "Kramnik")
    with pytest.raises(InputError, match=r"or one of 12 more$"):
        find_game(games * 10, "Kramnik")


def test_a_moment_is_a_time_of_day_or_a_date_with_time() -> None:
    zone = dt.timezone(dt.timedelta(hours=2))
    now = dt.datetime(2026, 5, 2, 18, 0, tzinfo=zone)
    assert parse_moment_ms("2026-05-01T15:04+00:00", now) == 1777647840000
    assert parse_moment_ms("2026-05-01T15:04Z", now) == 1777647840000
    local = dt.datetime(2026, 5, 2, 15, 4).timestamp() * 1000
    assert (
        parse_moment_ms("15:04", now)
        == parse_moment_ms("2026-05-02T15:04", now)
        == local
    )
    assert parse_moment_ms("15:04:30", now) == local + 30_000
    # After midnight 23:54 is the day before's: nothing is known of what is to come.
    assert parse_moment_ms("23:54", now) == parse_moment_ms("2026-05-01T23:54", now)
    for text in ("noon", "0001-01-01T00:00"):
        with pytest.raises(InputError, match="is not a time"):
            parse_moment_ms(text, now)


async def test_alerts_of_then_are_shown_to_those_who_ask_and_made_by_nobody_else(
    path: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with open_ticking_event(path) as service:
        game = replace(
            upto(demo_feed.read_demo_games()[0], 4), problem="illegal move 3.Qh9"
        )
        await report_and_settle(service, game)
        (alert,) = service.arbiter.alerts()
        service.arbiter.command(DeskCommand("note", alert.id, "phoned"))
        service.arbiter.command(DeskCommand("acknowledge", alert.id))
        service.arbiter.command(DeskCommand("enter", text="lights out"))
        (acknowledged,) = service.arbiter.alerts()
        then_ms = service.journal.journal._last_ms
        await report_and_settle(service, replace(game, problem=None))
        assert not service.arbiter.alerts()
    caplog.clear()
    with JournalReader.open(path) as reader:
        assert list(rebuild_event(reader, path, then_ms).state.alerts()) == [
            acknowledged
        ]
        assert not rebuild_event(reader, path).state.alerts()
    at = dt.datetime.fromtimestamp(then_ms / 1000).isoformat()
    tell = functools.partial(report_event, path, at=at, folder=None, formats=[])
    assert tell(alerts=True, json="-") == 0
    assert [each["note"] for each in json.loads(capsys.readouterr().out)["alerts"]] == [
        "phoned"
    ]
    assert tell(json="-") == 0
    with JournalReader.open(path) as reader:
        then = whole_of(rebuild_event(reader, path, then_ms))
    then = replace(then, in_doubt=(acknowledged.game,))
    assert json.loads(capsys.readouterr().out) == json.loads(encode_with_defaults(then))
    assert tell(alerts=True, json=None) == 0
    printed = capsys.readouterr().out
    assert "phoned" in printed and "✎" in printed and "lights out" in printed
    assert "alert raised" not in caplog.text, "a report raises none"
    # What was over by the end is in the log all the same, and in files of its own.
    folder = tmp_path / "out"
    assert (
        report_event(
            path,
            at=None,
            folder=folder,
            formats=["csv", "html"],
            alerts=True,
            json=None,
        )
        == 0
    )
    (incidents,) = folder.glob("*-incidents.csv")
    rows = csv.DictReader(incidents.read_text(encoding="utf-8").splitlines())
    words = [row["what"] for row in rows if row["what"] != "entry"]
    assert words == ["raised", "noted", "acknowledged", "over"]
    assert (
        list(folder.glob("*-incidents.html"))
        and (folder / "journal-plies.csv").exists()
    )


@pytest.mark.skipif(sys.platform == "win32", reason="nobody sets the zone there")
def test_a_report_has_the_offset_of_its_moment_whenever_it_is_made(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    july = dt.datetime(2026, 7, 1, 10, tzinfo=dt.UTC)
    with Journal(path, now_ms=lambda: round(july.timestamp() * 1000)) as journal:
        journal.begin_run(RUN)
        journal.add_change(NewGame(game("g1")))
        journal.add_note("entry", b'{"text":"lights out"}')
    january = dt.datetime(2027, 1, 15, tzinfo=dt.UTC)
    monkeypatch.setattr("live.commands.report_event.read_utc_now", lambda: january)
    monkeypatch.setenv("TZ", "Europe/Madrid")
    time.tzset()
    try:
        report_event(
            path,
            at=july.isoformat(),
            folder=tmp_path,
            formats=["html", "csv"],
            alerts=True,
            json=None,
        )
    finally:
        monkeypatch.undo()
        time.tzset()
    pages = list(tmp_path.glob("*.html"))
    assert len(pages) == 2, "one of the games, one of the incidents"
    for file in (*pages, *tmp_path.glob("*-incidents.csv")):
        text = file.read_text(encoding="utf-8")
        assert "12:00" in text and "+0200" in text and "+0100" not in text
