"""Which way a run shows itself, and the way for programs."""

import asyncio
import contextlib
import datetime as dt
import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import msgspec
import pytest
from rich.console import Console

from live.errors import InputError
from live.messages.alerts import Alert
from live.messages.from_sources import FeedReport
from live.messages.health import EngineHealth, FeedHealth, MeasuringProgress
from live.messages.to_clients import HealthMessage
from live.screens.display import Display, choose_display
from live.screens.output_mode import OutputMode
from live.screens.printed_changes import JsonPrinter, LinePrinter
from live.screens.reports.report_export import export_incidents, export_report
from live.screens.reports.report_files import Format
from live.server.filtered_reader import snapshot
from live.server.public_view import PublicView
from live.server.reference_client import ReferenceClient
from live.sources import demo_feed
from tests.event.answered_event import (
    FEED,
    AnsweredEvent,
    FollowedEvent,
    open_unscored,
)
from tests.journal.test_journal import alter_file
from tests.server.world import World

ALL = ("stdin", "stdout", "stderr")


def open_screen(
    service: FollowedEvent, public: PublicView, shown: Display = "app"
) -> OutputMode:
    """The app at a terminal, or another display."""
    return OutputMode(
        shown,
        service.state,
        service.bus,
        service.arbiter,
        public,
        service.journal.journal,
        hide_scores=False,
        headlines=(),
        address="http://127.0.0.1/",
        console=Console(),
        stop=asyncio.Event(),
    )


def attach(monkeypatch: pytest.MonkeyPatch, terminals: tuple[str, ...]) -> None:
    """Only these streams are terminals."""
    for name in ALL:
        monkeypatch.setattr(
            getattr(sys, name), "isatty", partial(terminals.__contains__, name)
        )


@pytest.mark.parametrize(
    ("terminals", "flags", "term", "expected"),
    [
        (ALL, {}, "xterm-256color", "app"),
        (("stdin", "stderr"), {}, "xterm", "lines"),
        (ALL, {"headless": True}, "xterm", "lines"),
        (ALL, {"json": True}, "xterm", "json"),
        ((), {"json": True}, "dumb", "json"),
    ],
)
def test_the_app_only_where_somebody_can_see_it(
    terminals: tuple[str, ...],
    flags: dict[str, bool],
    term: str,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    attach(monkeypatch, terminals)
    assert choose_display(environment={"TERM": term}, **flags) == expected


@pytest.mark.parametrize(
    ("terminals", "why"),
    [
        (ALL, "TERM says that this terminal cannot draw the app"),
        (("stdout", "stderr"), "standard input is not a terminal"),
        (("stdin", "stdout"), "standard error (2>) is not a terminal"),
    ],
)
def test_a_terminal_that_cannot_show_the_app_gets_lines_and_is_told_why(
    terminals: tuple[str, ...],
    why: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    attach(monkeypatch, terminals)
    term = "dumb" if terminals == ALL else "xterm"
    assert choose_display(environment={"TERM": term}) == "lines"
    [said] = caplog.messages
    assert said.endswith(f": {why}")


def test_the_terminal_holds_back_what_the_public_sees_and_shows_what_waits() -> None:
    world, service = World(1), open_unscored()
    public = PublicView(world)
    screen = open_screen(service, public)
    screen.begin()
    actions = screen._context
    assert actions.set_delay is not None and actions.public_delay().delay_s == 0
    actions.set_delay(900)
    public.publish(world.appear("g1") + world.move("g1"))
    held = actions.public_delay()
    assert (held.delay_s, held.held_moves, held.held_boards) == (900, 1, 1)
    actions.set_delay(0)
    assert public.game("g1") == world.held["g1"]
    said = [each.changes[0].text for each in service.arbiter.incidents()]
    assert [text.startswith("Delay set: ") for text in said] == [True, True]
    assert not actions.hides_scores()
    public.hide_scores(True)
    assert actions.hides_scores()


def test_lines_know_from_the_start_that_the_engine_is_still_to_be_measured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    world = World(1)
    world.engine_health = EngineHealth(measuring=MeasuringProgress(0, 294))
    public = PublicView(world)
    open_screen(open_unscored(), public, "lines").begin()
    world.engine_health = EngineHealth()
    public.publish([HealthMessage((), world.engine_health)])
    assert capsys.readouterr().out.endswith("measuring the engine has ended\n")


def test_json_lines_are_messages_a_client_can_follow() -> None:
    world = World(1, steps=20)
    lines: list[str] = []
    printer = JsonPrinter(lines.append)
    printer.begin(snapshot(world))
    for _ in range(40):
        printer.show(world.step())
    assert len(lines) > 20
    client_state = ReferenceClient()
    for line in lines:
        assert "\n" not in line
        client_state.receive(line)
    assert client_state.snapshot() == msgspec.json.decode(
        msgspec.json.encode(snapshot(world)), type=type(client_state.snapshot())
    )


def test_json_names_the_address_beside_the_messages(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With --port 0 nobody could know it otherwise."""
    open_screen(open_unscored(), PublicView(World(1)), "json").begin()
    out, err = capsys.readouterr()
    assert err == "live-rate is serving http://127.0.0.1/\n"
    assert [json.loads(line)["type"] for line in out.splitlines()] == ["snapshot"]


#: Takes nothing, as a full disk does.
FULL = Path("/dev/full")

pytestmark = pytest.mark.skipif(
    not FULL.exists(), reason="only Linux has a disk always full"
)


@pytest.fixture
def full() -> Iterator[TextIO]:
    file = FULL.open("w")
    yield file
    with contextlib.suppress(OSError):  # it still has what nobody took
        file.close()


def health(detail: str) -> HealthMessage:
    return HealthMessage((FeedHealth("games.pgn", "retrying", detail),), EngineHealth())


def test_lines_are_left_out_until_there_is_room_and_that_is_said_once(
    full: TextIO, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with (tmp_path / "log").open("w") as log:
        console = Console(file=full)
        printer = LinePrinter(console)
        printer.show([health("first")])
        printer.show([health("second")])
        console.file = log
        printer.show([health("third")])
        printer.show([health("fourth")])
    lines = (tmp_path / "log").read_text().splitlines()
    assert ["third" in lines[0], "fourth" in lines[1], len(lines)] == [True, True, 2]
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]
    assert (
        "its disk is full" in caplog.messages[0] and "Make room" in caplog.messages[0]
    )


def test_messages_keep_their_numbers_when_some_are_left_out(
    full: TextIO, tmp_path: Path
) -> None:
    with (tmp_path / "log").open("w") as log:
        files = [full, log]
        printer = JsonPrinter(lambda text: print(text, file=files[0], flush=True))
        printer.show([health("first")])
        files.pop(0)
        printer.show([health("second")])
    assert '"seq":2' in (tmp_path / "log").read_text()


def test_other_faults_of_the_output_are_not_hidden(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log:
        printer = LinePrinter(Console(file=log))
    with pytest.raises(ValueError, match="closed file"):
        printer.show([health("first")])


NOW = dt.datetime(2026, 11, 21, 9, 30, 5, tzinfo=dt.UTC)


def exporter(folder: Path) -> Callable[[Format, str | None], str]:
    world = World(3, "g1", "g2")
    world.move("g1")
    # Reports hold what the public knows; alerts that doubt a result are the arbiter's.
    live, world.held["g2"] = (
        World(3),
        msgspec.structs.replace(world.held["g2"], result="1-0"),
    )
    about: dict[str, Any] = {"id": "a", "text": "", "advice": "", "first_seen_s": 1.0}
    live.raised["a"] = Alert(kind="result", severity="alarm", game="g2", **about)
    return lambda kind, game: export_report(
        world, live, folder, kind, game, lambda: NOW
    )


def test_the_whole_event_and_one_board(tmp_path: Path) -> None:
    folder = tmp_path / "reports"
    told = exporter(folder)("html", None).split(", ")
    local = NOW.astimezone()
    assert told[0] == str(folder / f"live-rate-{local:%Y%m%d-%H%M%S}.html")
    assert f"written <bdi>{local:%Y-%m-%d %H:%M %z}" in Path(told[0]).read_text("utf-8")
    assert "1–0 ?" in Path(told[2]).read_text("utf-8")
    assert exporter(folder)("csv", "g1").count(".csv") == 5
    board = next(folder.glob("*board*-plies.csv"))
    assert board.read_bytes().count(b"\r\n") == 2


@pytest.mark.skipif(sys.platform == "win32", reason="nobody sets the zone there")
def test_report_and_incident_log_have_one_time_zone_which_they_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Europe/Madrid")
    time.tzset()
    try:
        report = Path(exporter(tmp_path)("html", None).split(", ")[0])
        incidents = Path(export_incidents(tuple, World(1), tmp_path, lambda: NOW))
    finally:
        monkeypatch.undo()
        time.tzset()
    assert report.stem + "-incidents" == incidents.stem
    assert "written <bdi>2026-11-21 10:30 +0100" in report.read_text("utf-8")
    assert "as of 2026-11-21 10:30:05 +0100" in incidents.read_text("utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="rights are not in the mode there")
def test_an_incident_report_is_its_users_own(tmp_path: Path) -> None:
    written = Path(export_incidents(tuple, World(1), tmp_path, lambda: NOW))
    assert written.stat().st_mode & 0o077 == 0


def test_a_folder_that_cannot_be_written_and_a_board_that_is_gone(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        exporter(tmp_path / "file")("pgn", None)
    with pytest.raises(InputError, match="no longer exists"):
        exporter(tmp_path)("pgn", "no such board")


async def test_a_clock_that_ran_goes_on_over_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    game = demo_feed.read_demo_games()[0]
    running = msgspec.structs.replace(game, moves=game.moves[:10], result="*")
    async with AnsweredEvent(path).started() as hall:
        await hall.take(FeedReport(FEED, (running,)))
    alter_file(path, "UPDATE games SET at_ms = at_ms - 60000")
    async with AnsweredEvent(path).started() as hall:
        public = PublicView(hall.state)
        screen = open_screen(hall, public)
        screen.begin()
        (view,) = hall.state.games()
        assert (
            60 <= screen._context.changes.measure_run_s(view.id, view.feed, 10) < 1000
        )
