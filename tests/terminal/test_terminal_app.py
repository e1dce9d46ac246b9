"""The app as a person meets it: Textual's pilot presses the keys, on the state of a rehearsal."""

import logging
from collections.abc import Callable

import pytest
from msgspec.structs import replace
from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import Input

from live.events import GameMessage
from live.terminal.terminal_app import Canvas, Terminal
from tests.terminal.stage import Stage


class Ended:
    """How the app was left."""

    def __init__(self) -> None:
        self.stopped = self.interrupted = 0

    def stop(self) -> None:
        self.stopped += 1

    def interrupt(self) -> None:
        self.interrupted += 1


def app(stage: Stage, ended: Ended | None = None, theme: str = "dusk") -> Terminal:
    ended = ended or Ended()
    return Terminal(stage.context, theme=theme, stop=ended.stop, interrupt=ended.interrupt)


def shown(terminal: Terminal) -> str:
    """What the canvas really renders, line by line."""
    canvas = terminal.query_one(Canvas)
    return "\n".join(canvas.render_line(row).text.rstrip() for row in range(canvas.size.height))


async def press(pilot: Pilot[None], *keys: str) -> str:
    await pilot.press(*keys)
    await pilot.pause()
    assert isinstance(pilot.app, Terminal)
    return shown(pilot.app)


async def test_the_filter_is_typed_seen_at_once_and_left_again() -> None:
    stage = Stage()
    terminal = app(stage)
    async with terminal.run_test(size=(80, 24)) as pilot:
        await press(pilot, "slash")
        line = terminal.query_one(Input)
        assert line.has_focus
        text = await press(pilot, *"kovchan")
        assert "Kovchan" in text and "Fiorito" not in text
        assert "Fiorito" in await press(pilot, "escape")
        await press(pilot, "slash", *"q j", "enter")
        assert stage.controller.boards.query == "" and terminal.controller.boards.query == "q j"
        assert not line.has_focus


def burst(terminal: Terminal, *keys: str) -> None:
    """Keys that are all there before the first is looked at, as a terminal hands them over."""
    for key in keys:
        event = events.Key(key, key if len(key) == 1 else None)
        event.set_sender(terminal)
        terminal.post_message(event)


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_keys_typed_in_a_burst_are_not_lost(size: tuple[int, int]) -> None:
    stage = Stage()
    terminal = app(stage)
    async with terminal.run_test(size=size) as pilot:
        await pilot.pause()
        burst(terminal, "d", "backspace", *"600", "enter", "2")
        await pilot.pause()
        await pilot.pause()
        assert stage.delay_s == 600
        assert terminal.controller.view.name == terminal.controller.players.name
        burst(terminal, "1", "d", *"15", "escape", "slash", *"kov", "enter", "enter", "d", *"9")
        await pilot.pause()
        await pilot.pause()
        # Given up, searched, opened, and the next question is under way.
        assert stage.delay_s == 600
        assert terminal.controller.boards.query == "kov"
        assert terminal.controller.view.name == terminal.controller.board.name
        assert terminal.query_one(Input).value == "6009"
        burst(terminal, "enter")
        await pilot.pause()
        await pilot.pause()
        assert stage.delay_s == 6009


async def test_the_palette_of_commands_opens_and_runs_one() -> None:
    terminal = app(Stage())
    async with terminal.run_test(size=(80, 24)) as pilot:
        await pilot.press("colon")
        await pilot.pause()
        assert isinstance(terminal.screen, CommandPalette)
        await pilot.press(*"players")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        await pilot.press("down", "enter")
        await pilot.pause()
        assert terminal.controller.view is terminal.controller.players


async def test_q_asks_and_so_does_the_first_ctrl_c() -> None:
    ended = Ended()
    terminal = app(Stage(), ended)
    async with terminal.run_test(size=(80, 24)) as pilot:
        assert "End live-rate?" in await press(pilot, "q")
        await press(pilot, "escape")
        assert not ended.stopped
        await pilot.press("q", "y")
        await pilot.pause()
    assert (ended.stopped, ended.interrupted) == (1, 0)
    ended = Ended()
    async with (terminal := app(Stage(), ended)).run_test(size=(80, 24)) as pilot:
        assert "End live-rate?" in await press(pilot, "ctrl+c")
        await press(pilot, "escape")
        await press(pilot, "ctrl+c")
        assert not ended.interrupted and terminal.return_code is None
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert terminal.return_code == 0
    assert (ended.stopped, ended.interrupted) == (0, 1)


HOSTILE = {
    "escape": "\x1b[2J\x1b[31mEvil\x07\x9b5n",
    "title": "\x1b]0;owned\x07Evil",
    "wide": "名前" * 50,
    "joined": "👩‍👩‍👧‍👦" * 20 + "🏳️‍🌈",
    "flags": "🇪🇸" * 30,
    "skin": "👍🏽" * 30,
    "marks": "Z" + "\u0301\u0302\u0303" * 2000,
    "turned": "\u202eevil\u2066name",
    "lines": "one\ntwo\rthree\u2028four\x85five\ttab",
    "markup": "[bold red]not red[/] [@click=app.exit]x[/]",
    "long": "A" * 10_000,
    "jamo": "\u1161\u11a8" * 40,
    "empty": "",
}


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_names_leave_the_screen_intact(name: str) -> None:
    stage = Stage()
    board = next(view for view in stage.client_state.games() if view.board == 2)
    wrong = "is not what a feed sends"
    stage.client_state.apply(GameMessage(replace(board, problem=f"{wrong}, {wrong}")))
    clean = stage.frame().splitlines()
    for view in stage.client_state.games():
        view = replace(view, event=name, problem=None)
        if view.board == 2:
            player = replace(view.white, name=name, title=name)
            view = replace(view, white=player, problem=f"{wrong}, {wrong}, {name}")
        message = GameMessage(view)
        stage.client_state.apply(message)
        stage.changes.note([message])
    for keys in ((), ("j", "enter"), ("tab",), ("2",), ("enter",), ("3",)):
        text = stage.press(*keys) if keys else stage.frame()
        lines = text.splitlines()
        assert max(map(cell_len, lines)) <= 80
        for char in "\x1b\x07\r\t\x9b\u202e\u200d\ufe0f\u2028":
            assert char not in text
        if not keys:
            # Nothing but that board's line looks different, beside the event's name, and figures
            # stand where they did.
            row, *event = [row for row in range(22) if lines[row] != clean[row]]
            assert all(lines[each].startswith(" Board ") for each in event)
            before, after = (shown[row].partition("2284")[0] for shown in (clean, lines))
            assert cell_len(before) == cell_len(after)


async def test_what_is_logged_is_shown_and_tears_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    terminal = app(Stage())
    async with terminal.run_test(size=(80, 24)) as pilot:
        logging.getLogger("live.feeds").warning("the source \x1b[2J is away")
        text = await press(pilot, "j")
        assert "warning: the source [2J is away" in text
    assert "[2J" not in capsys.readouterr().out


async def test_only_lines_that_changed_are_drawn_again() -> None:
    stage = Stage()
    terminal = app(stage)
    async with terminal.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        canvas = terminal.query_one(Canvas)
        frame: Callable[[], int] = lambda: canvas.show(terminal.controller.frame(80, 24))  # noqa: E731
        frame()
        assert frame() == 0
        terminal.controller.press("j")
        assert 0 < frame() <= 18, "both rows, and the board below them"
        canvas.show([Text("live", "good")])
        assert canvas.show([Text("live", "bad")]) == 1, "another colour is drawn as well"


@pytest.mark.parametrize("theme", ["dusk", "paper", "signal", "plain"])
async def test_every_theme_draws(theme: str) -> None:
    terminal = app(Stage(), theme=theme)
    async with terminal.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        strip = terminal.query_one(Canvas).render_line(3)
        colours = {seg.style.color for seg in strip if seg.style and seg.style.color}
        assert bool(terminal.ansi_color) is (theme == "plain")
        if theme == "plain":
            assert all(colour.is_default for colour in colours)
        else:
            assert any(not colour.is_default for colour in colours)
