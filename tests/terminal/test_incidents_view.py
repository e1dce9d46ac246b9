"""The bell, and the view of the incident log: everything is in it, searched, and added to."""

from __future__ import annotations

import datetime as dt
from functools import partial
from pathlib import Path

import msgspec
import pytest

from live.alerts.incident_log import IncidentLog
from live.events import Alert, BellChoice, GameId
from live.service.program_output import export_incidents
from live.terminal.view_context import BELLS, AlertBell
from tests.terminal.stage import Stage

LOOK = Alert(id="a", kind="stale", severity="look", text="", advice="", first_seen_s=0.0)
ALARM = msgspec.structs.replace(LOOK, id="b", kind="flag", severity="alarm")


def test_the_bell_rings_once_for_each_new_alarm_when_asked() -> None:
    silent, bell = AlertBell(), AlertBell("alarms")
    for each in (silent, bell):
        assert not each.rings([LOOK]), "what stood before is no news"
    assert not silent.rings([LOOK, ALARM]) and bell.rings([LOOK, ALARM])
    silent.choice = "all"
    assert not silent.rings([LOOK, ALARM]), "what came while it was silent is no news later"
    assert not bell.rings([LOOK, ALARM])
    assert bell.rings([LOOK, msgspec.structs.replace(ALARM, times=2)])
    assert not bell.rings([]) and bell.rings([ALARM]), "gone, and there again"
    assert [AlertBell(each).next_choice() for each in BELLS][-1] == "The bell is silent"


@pytest.mark.parametrize(
    ("choice", "alert", "rings"),
    [
        ("all", LOOK, True),
        ("alarms", LOOK, False),
        ("off", ALARM, False),
        ("all", msgspec.structs.replace(ALARM, muted=True), False),
        ("all", msgspec.structs.replace(LOOK, acknowledged_s=1.0), False),
    ],
)
def test_the_bell_rings_for_what_was_chosen(choice: BellChoice, alert: Alert, rings: bool) -> None:
    bell = AlertBell(choice)
    bell.rings([])
    assert bell.rings([alert]) is rings


BASE_S = dt.datetime(2026, 5, 1, 15, 4, 5).timestamp()


class Desk:
    """A log, and what is entered from the terminal."""

    def __init__(self, game: GameId) -> None:
        self.log = IncidentLog()
        flag = Alert(
            id=f"flag {game}",
            kind="flag",
            severity="alarm",
            text="White's flag has fallen",
            advice="Go there.",
            game=game,
            first_seen_s=BASE_S,
        )
        self.log.alert(flag, BASE_S)
        self.log.alert(msgspec.structs.replace(flag, cleared_s=BASE_S + 60), BASE_S + 60)
        self.log.alert(msgspec.structs.replace(flag, id="feed x", kind="feed", game=None), BASE_S)

    def enter(self, text: str, game: GameId | None) -> None:
        self.log.entry(text, BASE_S + 120, game)


def stage() -> tuple[Stage, Desk]:
    made = Stage()
    desk = Desk(made.controller.boards.listed[0].id)
    made.actions.incidents = desk.log.incidents
    made.actions.enter = desk.enter
    return made, desk


def test_what_is_over_stays_in_the_log() -> None:
    made, _ = stage()
    text = made.press("4")
    assert "15:04:05 Flag" in text and "White's flag has fallen" in text
    assert "2 incidents" in text
    assert "1 incident open" in made.press("O")


def test_the_incident_under_the_cursor_says_all_that_happened() -> None:
    made, _ = stage()
    assert "15:05:05 over" in made.press("4", "down")


def test_it_is_filtered_by_words_and_by_the_time() -> None:
    made, desk = stage()
    desk.enter("draw offer disputed", None)
    made.press("4", "slash")
    assert made.context.ask is not None and made.context.ask.typed is not None
    made.context.ask.typed("disputed")
    assert "1 incident ·" in made.frame()
    made.context.ask.typed("15:06:05")
    assert "draw offer disputed" in made.frame() and "1 incident ·" in made.frame()
    made.context.ask.typed("")
    assert "3 incidents" in made.frame()


def test_an_entry_is_written_with_and_without_a_board() -> None:
    made, desk = stage()
    game = made.controller.boards.listed[0].id
    made.press("w")
    assert made.context.ask is not None
    made.context.ask.done("draw offer disputed")
    made.press("4", "w")
    assert made.context.ask is not None
    made.context.ask.done("  ")
    made.context.ask.done("lights out for a minute")
    entries = [each for each in desk.log.incidents() if each.kind == "entry"]
    assert [(each.text, each.game) for each in entries] == [
        ("draw offer disputed", game),
        ("lights out for a minute", None),
    ]
    assert "lights out" in made.frame()


def test_a_terminal_that_is_not_the_services_writes_nothing() -> None:
    made = Stage(able=False)
    assert "only the terminal of the service itself" in made.press("4", "w")
    assert "nothing is in the log" in made.frame()


def test_a_terminal_without_the_log_says_so_instead_of_calling_it_empty() -> None:
    made = Stage()
    assert "nothing is in the log" in made.press("4")
    made.actions.no_incidents = "The incident log is at the terminal of the service"
    assert "terminal of the service" in made.frame()
    assert "nothing is in the log" not in made.frame()


def test_the_log_is_written_as_a_page_with_one_key(tmp_path: Path) -> None:
    made, desk = stage()
    made.press("4")
    made.actions.export_log = partial(
        export_incidents,
        desk.log.incidents,
        made.client_state,
        tmp_path,
        now=lambda: dt.datetime(2026, 5, 1, tzinfo=dt.UTC),
    )
    assert "Wrote" in made.press("e")
    (page,) = tmp_path.glob("live-rate-*-incidents.html")
    text = page.read_text("utf-8")
    assert "2 incidents, 1 open" in text and "Larino Nieto, David" in text and "Signature" in text


def test_the_list_keeps_the_point_at_eighty_columns() -> None:
    made, desk = stage()
    board = next(iter(made.client_state.games()))
    text = f"Board {board.board}: {board.white.name}'s clock rose from 1:00:33 to 1:30:30"
    rise = Alert(
        id="rise", kind="clock-rising", severity="look", text=text, advice="",
        game=board.id, player=board.white.name, first_seen_s=BASE_S,
    )  # fmt: skip
    desk.log.alert(rise, BASE_S)
    made.press("4")
    assert "1: Larino Nieto's clock rose from 1:00:33 to" in made.frame()
