"""The app as a person meets it: keys, questions, hostile texts, what is drawn again,
themes.
"""

import logging
from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace
from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.command import CommandPalette
from textual.widgets import Tab, Tabs

from live.messages.to_clients import GameMessage
from live.screens.terminal.widgets import AskLine, KeyLine, Lines, RowList
from live.server.event_reader import replay_game
from tests.screens.terminal.sample_boards import detail
from tests.screens.terminal.stage import Stage


async def test_keys_typed_in_a_burst_are_not_lost() -> None:
    async with Stage(size=(200, 60)) as stage:
        await stage.press("d", "backspace", *"600", "enter", "2")
        assert stage.delay_s == 600
        assert stage.app.view.id == "players"
        keys = ("1", "d", *"15", "escape", "slash", *"kov", "enter", "enter", "d", *"9")
        await stage.press(*keys)
        # Given up, searched, opened, and the next question is under way.
        assert stage.delay_s == 600
        assert stage.app.boards.query_text == "kov"
        assert stage.app.view is stage.app.board
        assert stage.app.query_one(AskLine).value == "6009"
        await stage.press("enter", "x", "escape", "3")
        assert stage.delay_s == 6009
        assert stage.app.view.id == "alerts"


async def test_a_click_on_a_key_presses_it_and_the_mouse_has_it_explained() -> None:
    async with Stage() as stage:
        line = stage.read_screen().splitlines()[-1]
        await stage.pilot.hover(offset=(line.index("worst"), 23))
        assert stage.app.query_one(KeyLine).tooltip == "the top of the list"
        await stage.pilot.click(offset=(line.index("help"), 23))
        assert "Keys: boards" in await stage.frame()


async def test_another_line_of_keys_needs_no_other_widgets() -> None:
    async with Stage() as stage:
        assert "m mute" in await stage.press("3")
        before = set(stage.app.screen.walk_children())
        assert "m mute" not in await stage.press("slash")
        assert "m mute" in await stage.press("escape", "1", "3")
        assert set(stage.app.screen.walk_children()) == before


async def test_a_screen_is_made_when_somebody_first_looks_at_it() -> None:
    async with Stage() as stage:
        players = stage.app.views["players"]
        assert not players.is_attached
        await stage.pilot.click("#tab-players")
        assert "by strength of play for their Elo" in await stage.frame()
        assert stage.app.focused is players.query_one(RowList)
        # Keys that are there before the widgets wait for them.
        await stage.press("3", "slash", *"flag", "enter")
        assert stage.app.views["alerts"].describe().endswith("filter 'flag'")


@pytest.mark.parametrize(("name", "key"), [("sources", "5"), ("players", "2")])
async def test_a_screen_that_is_shown_twice_at_once_waits_for_its_widgets(
    name: str, key: str
) -> None:
    async with Stage() as stage:
        app = stage.app
        tabs = app.query_one(Tabs)
        for clicked in (name, "boards", name):
            tab = app.query_one(f"#tab-{clicked}", Tab)
            app.post_message(Tabs.TabActivated(tabs, tab))
        app.post_message(events.Key(key, key))
        await stage.frame()
        assert app.view is app.views[name]
        assert app.focused in app.view.walk_children(with_self=True)


async def test_the_palette_of_commands_has_views_keys_and_themes_and_runs_one() -> None:
    async with Stage() as stage:
        commands = stage.app.get_system_commands(stage.app.screen)
        titles = {command.title for command in commands}
        assert {"Boards", "Sources", "Open", "Sort", "Quit", "Delay"} <= titles
        assert "Theme" in titles
        await stage.pilot.press("colon")
        assert isinstance(stage.app.screen, CommandPalette)
        await stage.pilot.press(*"players")
        await stage.app.workers.wait_for_complete()
        await stage.pilot.pause()
        await stage.pilot.press("down", "enter")
        await stage.frame()
        assert stage.app.view.id == "players"


async def test_q_asks_and_so_does_the_first_ctrl_c() -> None:
    async with Stage() as stage:
        for key in ("q", "enter", "escape"):
            assert "End live-rate?" in await stage.press("q")
            await stage.press(key)
        assert not stage.stopped
        await stage.pilot.press("q", "y")
    assert (stage.stopped, stage.interrupted) == (1, 0)
    async with Stage() as stage:
        assert "End live-rate?" in await stage.press("ctrl+c")
        await stage.press("escape")
        await stage.press("ctrl+c")
        assert not stage.interrupted and stage.app.return_code is None
        await stage.pilot.press("ctrl+c")
        assert stage.app.return_code == 0
    assert (stage.stopped, stage.interrupted) == (0, 1)


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


HOSTILE_NAMES = tuple(HOSTILE.values())


async def test_hostile_names_leave_the_screen_intact() -> None:
    wrong = "is not what a feed sends"
    async with Stage() as stage:
        board = next(view for view in stage.client_state.games() if view.board == 2)
        stage.client_state.apply(
            GameMessage(replace(board, problem=f"{wrong}, {wrong}"))
        )
        clean = (await stage.frame()).splitlines()
        for name in HOSTILE_NAMES:
            for view in stage.client_state.games():
                view = replace(view, event=name, problem=None)
                if view.board == 2:
                    player = replace(view.white, name=name, title=name)
                    view = replace(
                        view, white=player, problem=f"{wrong}, {wrong}, {name}"
                    )
                message = GameMessage(view)
                stage.client_state.apply(message)
                stage.changes.note([message])
            lines = (await stage.frame()).splitlines()
            # Nothing but that board's lines looks different, beside the event's name,
            # and figures stand where they did.
            row, note, *event = [row for row in range(22) if lines[row] != clean[row]]
            assert note == row + 1 and lines[note].strip().startswith(wrong)
            assert all(lines[each].startswith("─Board ") for each in event)
            before, after = (
                shown[row].partition("2284")[0] for shown in (clean, lines)
            )
            assert cell_len(before) == cell_len(after)
        for number, view in enumerate(list(stage.client_state.games())):
            names = [HOSTILE_NAMES[(2 * number + at) % len(HOSTILE)] for at in (0, 1)]
            white, black = (
                replace(view.white, name=names[0]),
                replace(view.black, name=names[1]),
            )
            stage.client_state.apply(
                GameMessage(replace(view, white=white, black=black))
            )
        for keys in (("j", "enter"), ("2",), ("enter",), ("3",), ("1", "k")):
            text = await stage.press(*keys)
            assert max(map(cell_len, text.splitlines())) <= 80
            for char in "\x1b\x07\r\t\x9b\u202e\u200d\ufe0f\u2028":
                assert char not in text


async def test_what_is_logged_is_shown_and_tears_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with Stage() as stage:
        logging.getLogger("live.sources").warning("the source \x1b[2J is away")
        text = await stage.press("j")
        assert "warning: the source [2J is away" in text
    assert "[2J" not in capsys.readouterr().out


async def test_only_lines_that_changed_are_drawn_again() -> None:
    async with Stage() as stage:
        for number in range(300):
            game = replace(detail(f"more{number}", 100 + number), start_score_cp=number)
            for change in replay_game(game):
                stage.client_state.apply(change)
        await stage.frame()
        await stage.frame()  # the list has grown
        rows = stage.app.boards.rows
        drawn: list[int] = []
        assert len(rows.ids) == 306
        show = rows.show

        def note(ids: Sequence[str], draw: Callable[[int], Text]) -> int:
            drawn.append(show(ids, draw))
            return drawn[-1]

        rows.show = note  # type: ignore[method-assign]
        stage.app.redraw()
        first = next(iter(stage.client_state.games()))
        stage.client_state.apply(GameMessage(replace(first, problem="illegal move")))
        stage.app.redraw()
        assert drawn[0] == 0 and 0 < drawn[1] <= rows.size.height
        panel = stage.app.query_one("#panel #charts", Lines)
        panel.show([Text("live", "good")])
        assert panel.show([Text("live", "bad")]) == 1, "another colour is drawn as well"


async def test_a_list_keeps_its_cursor_on_its_row_and_draws_only_what_is_seen() -> None:
    async with Stage() as stage:
        rows = RowList()
        drawn: set[int] = set()

        def draw(row: int) -> Text:
            drawn.add(row)
            return Text(str(row))

        await stage.app.screen.mount(rows)
        await stage.pilot.pause(0)
        many = [str(number) for number in range(1000)]
        rows.show(many, draw)
        rows.highlighted = 3
        rows.show(many[1:], draw)
        assert rows.cursor == "3" and rows.highlighted == 2
        rows.show(many[5:], draw)
        assert rows.cursor == "7", "where it was, when its row is gone"
        assert len(drawn) < 60


async def test_every_theme_draws() -> None:
    async with Stage(theme="plain") as stage:
        for theme in ("plain", "dusk", "paper", "signal", "plain"):
            stage.app.theme = theme
            await stage.frame()
            styles = [segment.style for segment in stage.strips()[2] if segment.style]
            colours = [style.color for style in styles if style.color]
            is_plain = all(colour.is_default for colour in colours)
            assert is_plain is bool(stage.app.ansi_color) is (theme == "plain")


class Small(App[None]):
    """A list and lines that are as high as what they show."""

    CSS = "RowList, Lines { height: auto; }"

    def compose(self) -> ComposeResult:
        yield RowList()
        yield Lines()


@pytest.mark.parametrize("kind", [RowList, Lines])
async def test_what_is_shown_gets_room_though_the_screen_was_laid_out_meanwhile(
    kind: type[RowList | Lines],
) -> None:
    app = Small()
    async with app.run_test() as pilot:
        widget = app.query_one(kind)
        widget.refresh(layout=True)
        app.screen._refresh_layout()
        if isinstance(widget, RowList):
            widget.show(["a", "b", "c"], lambda row: Text(str(row)))
        else:
            widget.show([Text("one"), Text("two"), Text("three")])
        await pilot.pause()
        await pilot.pause()
        assert widget.size.height == 3
