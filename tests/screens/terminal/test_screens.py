"""Every key and view, on the state of a rehearsal; and the frames themselves, kept as
text.
"""

import datetime as dt
import os
from functools import partial
from itertools import chain
from pathlib import Path

import pytest
from msgspec.structs import astuple, replace
from rich.cells import cell_len

from live.catalogue import BY_ID, LIVE_FIGURES, write_percentile
from live.manual import pages
from live.messages.alerts import Alert
from live.messages.figures import Curves, DifficultyView, GameDetail
from live.messages.from_clients import DeskCommand
from live.messages.health import (
    EngineHealth,
    FeedHealth,
    MeasuringProgress,
    PublicDelay,
)
from live.messages.to_clients import (
    AlertMessage,
    EngineMessage,
    GameMessage,
    GoneMessage,
    HealthMessage,
    MomentMessage,
    MoveMessage,
    StandingMessage,
)
from live.messages.values import GameId
from live.screens.terminal import terminal_app
from live.screens.terminal.board_rows import (
    choose_clock_style,
    find_best_percentile,
    find_least_clock_s,
)
from live.screens.terminal.sources_view import write_delay
from live.screens.terminal.text import DUSK
from live.screens.terminal.widgets import RowList
from live.server.event_reader import replay_game
from live.server.visibility import Visibility
from live.server.visibility import redact as withheld_from
from live.sources import demo_feed
from live.watch.incident_log import IncidentLog
from tests.figures import Kind
from tests.screens.terminal.sample_boards import detail, full_point
from tests.screens.terminal.stage import Stage
from tests.watch.games import moment

FRAMES = Path(__file__).resolve().parent / "frames"
#: Each view by the keys that lead to it from the one before.
VIEWS = {
    "boards": (),
    "board": ("enter",),
    "board-algorithm4": ("v",),
    "players": ("v", "2"),
    "player": ("enter",),
    "alerts": ("3",),
    "sources": ("5",),
    "moments": ("6",),
    "boards-clocks": ("1", "f", "s"),
    "help": ("question_mark",),
}
SIZES = ((80, 24), (120, 40), (200, 60))


#: Views that differ on a larger terminal.
LARGE_VIEWS = ("boards", "board", "board-algorithm4", "players")


@pytest.mark.parametrize(
    ("field", "size", "views"),
    [
        ("", SIZES[0], tuple(VIEWS)),
        ("", SIZES[1], LARGE_VIEWS),
        ("", SIZES[2], LARGE_VIEWS),
        ("unrated-", SIZES[0], ("boards", "board")),
    ],
)
async def test_the_frames_are_as_they_were_looked_at(
    field: str, size: tuple[int, int], views: tuple[str, ...]
) -> None:
    kind: Kind = "unrated" if field else "open"
    async with Stage(
        alerts=not field, kind=kind, native=bool(field), size=size
    ) as stage:
        for view in views:
            await stage.press(*VIEWS[view])
            stage.now_s += 60  # messages of the moment are gone
            shown = await stage.frame() + "\n"
            path = FRAMES / f"{field}{view}-{size[0]}x{size[1]}.txt"
            # Set it to look at new frames, and to keep them.
            if os.environ.get("LIVE_RATE_WRITE_FRAMES"):
                path.write_text(shown, encoding="utf-8")
            assert shown == path.read_text(encoding="utf-8"), view


async def test_the_screen_in_the_manual_is_a_real_frame() -> None:
    """With the players of the demo, which the manual shows."""
    async with Stage(alerts=True, moments=False) as stage:
        for view, report in zip(
            list(stage.client_state.games()), demo_feed.read_demo_games(), strict=True
        ):
            heads = report.headers
            named = replace(
                view,
                white=replace(view.white, name=heads.white.name),
                black=replace(view.black, name=heads.black.name),
            )
            stage.client_state.apply(GameMessage(named))
        told = moment(next(iter(stage.client_state.games())).id, 42)
        words = "Fiandro falls from 48 % to 31 % with 21... Ba8. Best was Ba6."
        told = replace(told, text=replace(told.text, en=words))
        stage.client_state.apply(MomentMessage(told.game, told))
        shown = await stage.frame()
    path = Path(pages.__file__).with_name("arbiter.md")
    before, _, rest = path.read_text(encoding="utf-8").partition("```text\n")
    in_manual, _, after = rest.partition("\n```")
    if os.environ.get("LIVE_RATE_WRITE_FRAMES"):
        path.write_text(f"{before}```text\n{shown}\n```{after}", encoding="utf-8")
        in_manual = shown
    assert in_manual == shown


async def test_every_view_fits_every_size_and_a_screen_too_small_says_so() -> None:
    async with Stage(alerts=True) as stage:
        for size in ((60, 12), (163, 40)):
            await stage.resize(size)
            for keys in VIEWS.values():
                lines = (await stage.press("escape", *keys)).split("\n")
                assert len(lines) == size[1] and max(map(cell_len, lines)) <= size[0]
                if size[0] >= 80 and "question_mark" not in keys:
                    assert "3 Alerts 1 !! 1 ?" in lines[0] and "http" in lines[0]
                    assert "? help" in lines[-1] and "w write" in lines[-1]
            await stage.press("escape")
        await stage.resize((30, 5))
        assert "At least 60x12" in await stage.frame()


def cursor_line(text: str) -> str:
    return next(line for line in text.splitlines() if line.startswith("▌"))


def colours(stage: Stage, text: str) -> set[str]:
    """Colours in which the first line with ``text`` is written."""
    for strip in stage.strips():
        if text in strip.text:
            styles = [part.style for part in strip if part.style and part.text.strip()]
            return {each.color.get_truecolor().hex for each in styles if each.color}
    raise AssertionError(text)


async def test_arrows_and_letters_move_the_cursor() -> None:
    async with Stage() as stage:
        first = cursor_line(stage.read_screen())
        second = cursor_line(await stage.press("j"))
        assert second != first
        assert cursor_line(await stage.press("down", "k", "up")) == first
        last = cursor_line(await stage.press("end"))
        assert cursor_line(await stage.press("home")) == first != last
        assert cursor_line(await stage.press("pagedown")) == last


def list_players(stage: Stage) -> list[int | None]:
    """Board numbers from above."""
    return [game.board for game in stage.app.boards.listed]


async def test_figures_are_not_called_final_while_the_engine_is_measured() -> None:
    async with Stage() as stage:
        boards = await stage.frame()
        [row] = [line for line in boards.splitlines() if "1-0" in line]
        assert "6" in row
        await stage.press("end")
        final = await stage.press("enter")
        assert "Played like" in final and "can still change" not in final
        state = stage.client_state
        health = replace(state.engines(), measuring=MeasuringProgress(74, 294))
        state.apply(HealthMessage(tuple(state.feeds()), health))
        measured = await stage.frame()
        assert "figures can change: 25 % measured" in measured.splitlines()[-2]
        assert "Plays like" in measured and "Played like" not in measured
        sources = " ".join((await stage.press("5")).split())
        words = "figures can still change: the engine is 25 % measured"
        assert words in sources


async def test_the_foot_has_trouble_first_and_the_measuring_of_the_engine_last() -> (
    None
):
    async with Stage(size=(120, 24)) as stage:
        state = stage.client_state
        health = replace(state.engines(), measuring=MeasuringProgress(74, 294))
        feeds = tuple(state.feeds())
        state.apply(HealthMessage(feeds, health))
        foot = (await stage.frame()).splitlines()[-2]
        assert foot.endswith("queue 14  figures can change: 25 % measured")
        behind = "figures are up to 8 moves behind on 20 boards: follow fewer boards"
        state.apply(HealthMessage(feeds, replace(health, behind=behind)))
        foot = (await stage.frame()).splitlines()[-2]
        assert (
            "! figures are up to 8 moves behind on 20 boards: follow fewer boards"
            in foot
        )
        assert "measur" not in foot
        foot = (await stage.resize((80, 24))).splitlines()[-2]
        assert foot.endswith("! figures are up to 8 moves behind on 20 boards")


async def test_every_order_sorts_and_says_so() -> None:
    async with Stage() as stage:
        by_board = list_players(stage)
        assert "Bd▾" in await stage.frame() and by_board == [1, 2, 3, 4, 5, 6]
        boards = stage.app.boards
        for head, order, value in (
            (
                "Clocks▾",
                "clock",
                lambda game: (
                    -1e9 if game.result != "*" else -(find_least_clock_s(game) or 1e9)
                ),
            ),
            ("Age▾", "age", lambda game: game.result == "*"),
            ("Better than▾", "rating", lambda game: find_best_percentile(game) or 0.0),
        ):
            text = await stage.press("s")
            assert (
                head in text and boards.order == order and "alerts stay on top" in text
            )
            values = [value(stage.client_state.game(view.id)) for view in boards.listed]
            assert values == sorted(values, reverse=True)
        # The marked column shows what the order follows.
        best = [find_best_percentile(game) for game in boards.listed]
        assert best[0] is not None and write_percentile(best[0]) in text
        text = await stage.press("s")
        assert "Better than" not in text.splitlines()[1]
        assert list_players(stage) == by_board


async def test_the_filter_lists_only_what_matches_and_esc_shows_all() -> None:
    async with Stage() as stage:
        await stage.press("slash", *"kovchan")
        assert list_players(stage) == [2], "at once, while it is typed"
        assert len(list_players(stage)) == 1 and "Rivero" in await stage.press("escape")
        await stage.press("slash")
        assert "No board matches 'nobody at all'" in await stage.answer("nobody at all")
        await stage.press("slash")
        await stage.answer("!kovchan running")
        assert 2 not in list_players(stage)
        await stage.press("escape")
        assert len(list_players(stage)) == 6
        # Letters that are keys elsewhere are text here.
        await stage.press("slash", *"q j", "enter")
        assert stage.app.boards.query_text == "q j" and not stage.asks_for


async def test_next_morning_only_the_newest_round_is_shown_at_first() -> None:
    async with Stage() as stage:
        for board in (1, 2):
            for change in replay_game(
                detail(f"new{board}", board, round="99", event="")
            ):
                stage.client_state.apply(change)
        for view in list(stage.client_state.games()):
            over = "*" if view.id.startswith("new") else "1-0"
            told = replace(view, event="Open", result=over)
            stage.client_state.apply(GameMessage(told))
        assert "and 6 boards of earlier rounds, all over" in await stage.frame()
        assert list_players(stage) == [1, 2]
        text = await stage.press("r")
        assert " Rd " in text.splitlines()[1] and len(list_players(stage)) == 8
        await stage.press("slash")
        await stage.answer("round 99")
        assert list_players(stage) == [1, 2]


async def test_export_asks_for_form_and_extent() -> None:
    async with Stage() as stage:
        text = await stage.press("e")
        assert "p  this board as PGN" in text and "H  the round as a page" in text
        assert "Wrote round.csv" in await stage.press("c")
        await stage.press("e", "H", "e", "escape", "2", "e", "C", "e", "P")
        game = stage.app.boards.listed[0].id
        of_round = [("html", None), ("csv", None), ("pgn", None)]
        assert stage.exported == [("csv", game), *of_round]


async def test_the_delay_is_asked_for_and_checked() -> None:
    async with Stage() as stage:
        await stage.press("d")
        assert "does not fit" in await stage.answer("soon")
        await stage.press("d")
        text = await stage.answer("15m")
        assert stage.delay_s == 900
        assert "The public is 15:00 behind" in text
        assert "public 15:00 behind" in text.splitlines()[0]


async def test_how_far_the_public_is_behind_and_what_waits() -> None:
    async with Stage() as stage:
        for delay, said in (
            (PublicDelay(), ""),
            (PublicDelay(30.0), "0:30 behind"),
            (PublicDelay(30.0, 5, 2), "0:30 behind, holding 5 moves on 2 boards"),
        ):
            assert write_delay(delay) == said
            stage.context.public_delay = partial(PublicDelay, *astuple(delay))
            text = " ".join((await stage.press("5")).split())
            assert (said or "sees everything at once") in text


async def test_the_arbiter_is_told_that_the_public_sees_no_scores() -> None:
    async with Stage() as stage:
        assert "without scores" not in await stage.press("5")
        stage.context.hides_scores = lambda: True
        for delay_s, first_line, said in (
            (0.0, " public without scores", "sees moves at once;"),
            (30.0, " public 0:30 behind, without scores", "0:30 behind;"),
        ):
            stage.delay_s = delay_s
            text = await stage.frame()
            assert first_line in text.splitlines()[0]
            assert f"{said} scores and ratings are hidden" in " ".join(text.split())


def find_upper_label(text: str) -> int:
    lines = enumerate(text.splitlines())
    return next(at for at, line in lines if "+5┤" in line)


async def test_a_board_stays_where_it_is_while_the_game_goes_on() -> None:
    async with Stage() as stage:
        for size in SIZES:
            await stage.resize(size)
            rows = set()
            for key in ("enter", "left", "home"):
                rows.add(find_upper_label(await stage.press(key)))
            assert len(rows) == 1, size
            await stage.press("end", "escape")


async def test_a_key_that_does_nothing_says_why() -> None:
    async with Stage(alerts=True, able=False) as stage:
        assert "Not possible now: alerts and log are for arbiters" in await stage.press(
            "w"
        )
        assert "set only at the service" in await stage.press("d")
        assert "removed only at the service itself" in await stage.press("x")
        assert "are for arbiters" in await stage.press("3", "a")
    async with Stage() as stage:
        assert "Not possible now: there is no alert" in await stage.press("3", "a")
        assert "no open alert" in await stage.press("1", "A")


async def test_a_board_opens_steps_and_closes() -> None:
    async with Stage() as stage:
        game = stage.client_state.game(stage.app.boards.listed[0].id)
        assert game is not None
        assert game.plies[-1].san in await stage.press("enter")
        before = await stage.press("left")
        assert stage.app.board.ply == len(game.plies) - 1
        assert (
            f"at {len(game.plies) // 2}" in before
            and "end follows the game again" in before
        )
        stage.client_state.apply(MoveMessage(game.id, 1, None))
        assert "no move yet" in await stage.frame() and stage.app.board.ply is None
        assert "at the start" in await stage.press("home")
        for change in replay_game(game):
            stage.client_state.apply(change)
        await stage.press("right", "right", "left", "right")
        assert stage.app.board.ply == 2
        assert (await stage.press("end")) and stage.app.board.ply is None
        assert "Board 2 " in await stage.press("j")
        assert "Board 1 " in await stage.press("up")
        assert "2402●" in await stage.frame() and "v curve" in await stage.frame()
        other = await stage.press("v")
        assert "2402●" not in other
        assert "2402●" in await stage.press("v")
        await stage.press("escape")
        assert stage.app.view is stage.app.boards


async def test_a_moment_opens_its_board() -> None:
    async with Stage() as stage:
        await stage.press("6")
        assert "Board 1 " in await stage.press("enter")
        assert stage.app.view is stage.app.board


async def test_a_board_that_vanished_says_so() -> None:
    async with Stage() as stage:
        await stage.press("enter")
        assert stage.app.board.game is not None
        gone = GoneMessage(stage.app.board.game)
        stage.client_state.apply(gone)
        stage.changes.note([gone])
        assert "no longer has this board" in await stage.frame()
        await stage.press("escape")
        assert len(list_players(stage)) == 5


async def test_players_are_sorted_by_what_is_said_and_opened() -> None:
    async with Stage() as stage:
        text = await stage.press("2")
        assert "Better than▾" in text and "by strength of play for their Elo" in text
        for number, view in enumerate(list(stage.client_state.players())):
            told = replace(view, points=number / 2, finished=1)
            stage.client_state.apply(StandingMessage(told))
        stage.now_s += 60
        lines = (await stage.press("s")).splitlines()
        assert "Pts▾" in lines[1] and "5½" in lines[2]
        elos = [view.elo or 0 for view in stage.client_state.players()]
        await stage.press("s", "end")
        assert str(max(elos)) in (await stage.frame()).splitlines()[2]
        last = stage.app.views["players"].query_one(RowList).cursor
        assert "Playing like" in await stage.press("enter")
        await stage.press("enter")
        [game] = stage.app.boards.listed
        assert last in stage.client_state.player_ids(game.id)
        await stage.press("escape", "escape", "escape")
        assert stage.app.view.id == "players"


async def test_a_players_page_is_whole_at_any_width() -> None:
    async with Stage(size=(60, 24)) as stage:
        pages = [await stage.press("2", "enter")]
        pages += [await stage.press("pagedown") for _ in range(4)]
        said = " ".join("\n".join(pages).split())
        assert "…" not in said
        for figure in LIVE_FIGURES:
            assert figure.name in said
        assert "needs a finished game against a rated opponent" in said
        assert BY_ID["elo"].meaning in " ".join(pages[0].split())


@pytest.mark.parametrize(
    ("width", "cell"),
    [(80, "▌!! 1    "), (120, "▌!! 1 Larino Nieto – Fiorito, Joaquin ")],
)
async def test_a_list_of_the_desk_names_both_players_or_none(
    width: int, cell: str
) -> None:
    async with Stage(alerts=True, size=(width, 24)) as stage:
        assert cursor_line(await stage.press("3")).startswith(cell)
        view = next(iter(stage.client_state.games()))
        long = replace(view.white, name="Fernandez De La Hoz Arellano, Carlos Alberto")
        stage.client_state.apply(GameMessage(replace(view, white=long)))
        row = cursor_line(await stage.frame())
        assert ("1 Fernandez De… – Fiorito, Joaquin " in row) == (width == 120)


async def test_alerts_are_acknowledged_muted_and_noted() -> None:
    async with Stage(alerts=True) as stage:
        text = await stage.press("3")
        assert text.index("flag has fallen") < text.index("No move for 22 minutes")
        assert "×2" in text
        flag, game = "flag g1 white", next(iter(stage.client_state.games())).id
        assert "Acknowledged;" in await stage.press("a")
        # What is past has gone by this; a second press does not take another alert.
        [first, second] = stage.client_state.alerts()
        stage.client_state.apply(AlertMessage(replace(first, cleared_s=1.0)))
        assert "Already acknowledged" in await stage.press("a")
        await stage.press("n")
        assert stage.asks_for == "Note on board 2, stale:"
        await stage.press("escape", "up", "a")
        assert stage.asked == [
            DeskCommand("acknowledge", flag),
            DeskCommand("acknowledge", second.id),
        ]
        stage.client_state.apply(AlertMessage(first))
        await stage.frame()
        await stage.press("exclamation_mark", "n")
        await stage.answer("told both players")
        await stage.press("m", "k", "m", "a", "m", "b", "m", "escape")
        assert stage.asked[2:] == [
            DeskCommand("note", flag, "told both players"),
            DeskCommand("mute-kind", "flag"),
            DeskCommand("mute", flag),
            DeskCommand("mute-board", game),
        ]
        stage.client_state.apply(AlertMessage(replace(first, muted=True)))
        stage.now_s += 60
        await stage.frame()
        assert "2 alerts, 1 of them muted" in await stage.press(
            "end"
        ) and "▌z " in cursor_line(await stage.frame())
        assert "Unmuted" in await stage.press("m")
        assert {each.muted for each in stage.asked[6:]} == {False}
        assert "Board 1 " in await stage.press("enter")


async def test_all_alerts_of_a_board_are_acknowledged_at_once() -> None:
    async with Stage(alerts=True) as stage:
        [flag, _] = stage.client_state.alerts()
        stage.client_state.apply(AlertMessage(replace(flag, id="other", kind="stale")))
        for keys in (("exclamation_mark",), ("enter",), ("3",)):
            stage.asked.clear()
            assert "Acknowledged 2 alerts of the board" in await stage.press(*keys, "A")
            assert {each.about for each in stage.asked} == {"other", flag.id}


async def test_problems_stand_on_top_and_one_sign_is_the_worst_that_stands() -> None:
    async with Stage(alerts=True) as stage:
        last = stage.app.boards.listed[-1].id
        (flag, stale) = stage.client_state.alerts()
        stage.client_state.apply(AlertMessage(replace(flag, id="flag last", game=last)))
        await stage.frame()
        assert [game.id for game in stage.app.boards.listed][:3] == [
            flag.game,
            last,
            stale.game,
        ]
        shown = (await stage.frame()).splitlines()
        assert "White's flag has fallen: 0:00 on the clock, no result" in shown[3]
        stage.client_state.apply(
            AlertMessage(replace(stale, id="stale last", game=last))
        )
        assert "no result (+1)\n" in await stage.press("j")
        # The view goes to the top, wherever the cursor was.
        await stage.resize((80, 12))
        assert cursor_line(await stage.press("end", "exclamation_mark"))[:6] == "▌!!  1"
        assert "2 !! 2 ?" in (await stage.frame()).splitlines()[0]
        for alert in list(stage.client_state.alerts()):
            if alert.severity == "alarm":
                stage.client_state.apply(
                    AlertMessage(replace(alert, acknowledged_s=1.0))
                )
        title = (await stage.press("5", "exclamation_mark")).splitlines()[0]
        assert (
            "2 ?" in title and "!" not in title and stage.app.view is stage.app.boards
        )


async def test_the_cursor_leaves_out_the_sentence_of_an_alert() -> None:
    async with Stage(alerts=True) as stage:
        assert "Larino Nieto" in cursor_line(stage.read_screen())
        assert "Sanz Wawer" in cursor_line(await stage.press("down"))
        assert stage.app.boards.rows.cursor == stage.app.boards.listed[1].id


async def test_the_curves_fit_at_once_when_the_list_grows_by_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(terminal_app, "FRAME_S", 60.0)
    async with Stage() as stage:
        first = next(iter(stage.client_state.games()))
        stage.client_state.apply(GameMessage(replace(first, problem="illegal move")))
        stage.app.redraw()
        for _ in range(3):
            await stage.pilot.pause()
        assert "-5┤" in stage.read_screen().splitlines()[-4]


async def test_what_is_withheld_has_no_column_and_is_not_taken_for_unknown() -> None:
    async with Stage() as stage:
        assert "Elo" in stage.read_screen().splitlines()[1]
        engine = withheld_from(stage.client_state.engine(), Visibility.VENUE)
        stage.client_state.apply(EngineMessage(engine))
        lines = (await stage.frame()).splitlines()
        heads = lines[1]
        assert "Clocks" in heads and "Curve" not in heads and "Plays like" not in heads
        assert "this service withholds scores and ratings" in lines[-2]
        assert "0 Elo" not in lines[0]


async def test_where_scores_are_withheld_nothing_is_announced_that_never_comes() -> (
    None
):
    async with Stage(moments=False) as stage:
        assert "Nothing yet: turns" in await stage.press("6")
        state = stage.client_state
        board = next(view for view in state.games() if view.board == 3)
        state.apply(GameMessage(replace(board, plies_scored=0)))
        stage.app.open("board", board.id)
        assert "moves to score" in await stage.frame()
        state.apply(EngineMessage(withheld_from(state.engine(), Visibility.VENUE)))
        assert "to score" not in await stage.frame()
        assert "No moments here: this service withholds" in await stage.press("6")


async def test_one_row_alone_has_the_cursor() -> None:
    async with Stage(size=(200, 60)) as stage:
        for keys in ((), ("tab",), ("tab",), ("slash",)):
            assert (await stage.press(*keys)).count("▌") == 1
            assert cursor_line(stage.read_screen())


async def test_the_cursor_marks_the_whole_row_and_trouble_has_its_colour() -> None:
    async with Stage(alerts=True, size=(120, 40)) as stage:
        tabs, _, row, *_ = stage.strips()
        first, last = (row.crop(at, at + 1)._segments[0].style for at in (6, 118))
        assert first and last and first.bgcolor == last.bgcolor
        style = (
            tabs.crop(tabs.text.index("3 Alerts"), tabs.text.index("4 Log"))
            ._segments[0]
            .style
        )
        assert style and style.color
        red, _, blue = style.color.get_truecolor()
        assert red > blue, "calm ones are blue"


async def test_the_title_of_a_board_has_whole_parts() -> None:
    async with Stage() as stage:
        lines = (await stage.resize((60, 40))).splitlines()
        title = next(line for line in lines if "Board 1 · round 4.2" in line)
        # At 80 cells the event stands there, too: the frames show it.
        assert "…" not in title and "Open 2025" not in title


async def test_an_event_without_boards_says_what_is_followed() -> None:
    async with Stage() as stage:
        for view in list(stage.client_state.games()):
            stage.client_state.apply(GoneMessage(view.id))
        feed = FeedHealth(
            "http://hall/r3",
            "retrying",
            "http://hall/r3 answers 503, trying again in 9 s",
        )
        stage.client_state.apply(HealthMessage((feed,), EngineHealth()))
        lines = [line.strip() for line in (await stage.frame()).splitlines()]
        assert "No board yet: they appear as soon as a source sends them" in lines
        at = lines.index("↻ http://hall/r3: retrying")
        assert lines[at + 1] == "answers 503, trying again in 9 s"
        assert "no board" in lines[-2] and "0 boards" not in lines[-2]


async def test_an_alert_names_its_players_once() -> None:
    async with Stage() as stage:
        await stage.resize((120, 40))
        board = next(iter(stage.client_state.games()))
        name = board.black.name
        text = f"Board {board.board}: {name}'s clock rose from 1:00:33 to 1:30:30"
        rise = Alert(
            id="rise",
            kind="clock-rising",
            severity="look",
            text=text,
            advice="",
            game=board.id,
            player=name,
            color="black",
            first_seen_s=BASE_S,
        )
        stage.client_state.apply(AlertMessage(rise))
        assert "Black's clock rose from" in await stage.frame()
        rows = (await stage.press("3")).splitlines()
        assert (
            rows[2].count(name) == 1
            and "Black's clock rose from 1:00:33 to 1:30:30" in rows[2]
        )
        assert sum(name in row for row in rows) == 2, "and below, with the advice"
        log = IncidentLog()
        log.add_alert(rise, BASE_S)
        stage.context.incidents = log.incidents
        await stage.resize((80, 24))
        assert "1: Black's clock rose from 1:00:33 to" in await stage.press("4")


async def test_a_board_is_removed_after_a_question_and_brought_back() -> None:
    async with Stage() as stage:
        game = stage.app.boards.listed[0].id
        removed: list[str] = []
        stage.context.remove_board = removed.append
        stage.context.bring_back_board = removed.pop
        assert "Remove the board" in await stage.press("x")
        await stage.press("escape")
        assert removed == []
        await stage.press("x", "y")
        assert removed == [game]
        assert f"Brought back: {game}" in await stage.press("x", "u")


async def test_a_message_does_not_follow_to_another_screen_and_trouble_does() -> None:
    async with Stage() as stage:
        assert "Sorted" in await stage.press("s")
        assert "Sorted" not in await stage.press("2")
        lost = "connection lost: no service listens there; trying again in 2 s"
        stage.context.status = lambda: lost
        for key in ("2", "s"):
            assert lost in (await stage.press(key)).splitlines()[-2]


async def test_help_can_be_read_to_its_end_in_a_small_terminal() -> None:
    async with Stage(able=False) as stage:
        pages = [(await stage.press("3", "question_mark"))]
        pages += [(await stage.press("pagedown")) for _ in range(3)]
        lines = chain.from_iterable(map(str.splitlines, pages))
        text = " ".join(line.strip("│─ ") for line in lines)
        said = " ".join(text.split())
        # The sign is explained; nothing else has it, so nothing is cut.
        explained = "\u2026 score of an earlier move"
        assert "\u2026" not in said.replace(explained, "")
        assert explained in said and "? f1 help" in said
        assert "8 of 10 games" in said and "all alerts of the board" in said
        await stage.press("escape")
        assert stage.app.view.id == "alerts"


async def test_the_clock_of_the_side_to_move_runs() -> None:
    async with Stage() as stage:
        clocks = [clock for clock in ("59:04", "42:02") if clock in await stage.frame()]
        assert clocks == ["59:04", "42:02"]
        stage.now_s += 3
        # Black has moved last at board 1.
        assert "59:01" in await stage.frame() and "42:02" in await stage.frame()
        stage.client_state.apply(
            HealthMessage((FeedHealth("demo", "retrying"),), EngineHealth())
        )
        await stage.frame()
        stage.now_s += 600
        assert "59:01" in await stage.frame() and "42:02" in await stage.frame()
        stage.client_state.apply(
            HealthMessage((FeedHealth("demo", "live"),), EngineHealth())
        )
        await stage.frame()
        stage.now_s += 6000
        # Never below zero; by our reckoning alone, until the source or an alert says
        # so.
        assert "0:00?" in await stage.frame()
        assert "0:00?" in await stage.press("enter")


async def test_a_source_is_brief_at_the_foot_and_whole_on_its_screen() -> None:
    async with Stage() as stage:
        url = "https://example.org/round/3/a-long-name-of-an-event/games.pgn"
        why = f"{url} asks us to slow down (429), trying again in 28 s"
        feeds = FeedHealth("demo", "live"), FeedHealth(url, "retrying", why)
        stage.client_state.apply(HealthMessage(feeds, EngineHealth()))
        lines = (await stage.frame()).splitlines()
        assert "again in 28 s" in lines[-2] and "5 Sources ↻" in lines[0]
        stage.now_s += 180
        text = " ".join((await stage.press("5")).split())
        assert (
            f"↻ {url}: retrying, 0 boards, "
            "not live for 3 min asks us to slow down (429), trying"
        ) in text
        assert "● demo: live, 6 boards" in text
        behind = (
            "figures are up to 6 moves behind on 9 boards: if that lasts, "
            "follow fewer boards"
        )
        late = EngineHealth(behind=behind)
        stage.client_state.apply(HealthMessage(feeds[:1], late))
        assert (
            "! figures are up to 6 moves behind on 9"
            in (await stage.press("1")).splitlines()[-2]
        )
        assert (
            "if that" not in stage.read_screen()
            and "follow fewer" not in stage.read_screen()
        )
        assert "from ● demo" in await stage.press("enter")
        ended = FeedHealth("demo", "failed", "demo holds no game")
        stage.client_state.apply(HealthMessage((ended,), EngineHealth()))
        assert "demo failed: holds no game" in (await stage.press("1")).splitlines()[-2]


async def test_a_note_of_a_source_stands_whole_at_the_foot_or_not_at_all() -> None:
    async with Stage() as stage:
        note = "your own event: live-rate --feed URL or FILE"
        feed = FeedHealth("demo", "live", f"6 games; {note}")
        stage.client_state.apply(HealthMessage((feed,), EngineHealth()))
        for width, stands in ((120, True), (90, True), (60, False)):
            foot = (await stage.resize((width, 24))).splitlines()[-2]
            assert (note in foot) == stands and "…" not in foot


async def test_alerts_and_log_that_cannot_be_known_are_not_called_none() -> None:
    async with Stage() as stage:
        assert "✓ there is no alert" in await stage.press(
            "3"
        ) and "✓ the log is empty" in (await stage.press("4"))
        stage.context.no_desk = lambda: "the service went away"
        for key in ("3", "4"):
            text = await stage.press(key)
            assert "✓" not in text and "Not known: the service went away" in text
            assert (
                "0 alerts" not in text
                and "0 incidents" not in text
                and "not known here" in text
            )
        assert await stage.press("w") and not stage.asks_for


async def show_board(stage: Stage, game: GameDetail) -> str:
    """The screen of one board."""
    for change in replay_game(game):
        stage.client_state.apply(change)
    stage.context.show("board", game.id)
    return await stage.frame()


async def test_beside_the_move_stands_what_others_would_play() -> None:
    game = detail(provisional=True)
    hard = DifficultyView(2400, "e7e5", 0.05, (), 0.42, 90)
    ply = replace(game.plies[1], depth=40, played_share=0.083, difficulty=hard)
    async with Stage(size=(80, 40)) as stage:
        assert " in " not in (await show_board(stage, game)).partition("○ play")[0]
        for mark, words in (
            (None, ("+0.37~", "depth 40", "1 in 12 play it", "1 in 20 reply best")),
            ("find", ("1 in 12 find it", "1 in 20 reply best", "4 in 10 go wrong")),
            ("trap", ("1 in 12 play it", "4 in 10 fall for it")),
        ):
            plies = game.plies[0], replace(ply, mark=mark)
            text = await show_board(stage, replace(game, plies=plies))
            assert all(each in text for each in words), mark


async def test_every_view_marks_a_board_with_an_unacknowledged_alert() -> None:
    async with Stage(alerts=True) as stage:

        async def read_signs() -> tuple[int, int, bool]:
            boards = [
                line[1] for line in (await stage.press("1", "home")).splitlines()[2:8]
            ]
            players = [
                line[6:7] for line in (await stage.press("2")).splitlines()[2:-2]
            ]
            board = await stage.press("1", "enter")
            signs = sum(sign in ("!", "?") for sign in boards)
            return signs, players.count("!"), "!! White's flag has fallen" in board

        assert await read_signs() == (2, 4, True)
        first, *_ = list(stage.client_state.games())
        stage.client_state.apply(GameMessage(replace(first, problem="illegal move")))
        styles = []
        for acknowledged_s in (None, 1.0):
            for alert in list(stage.client_state.alerts()):
                stage.client_state.apply(
                    AlertMessage(replace(alert, acknowledged_s=acknowledged_s))
                )
            await stage.press("1", "end")
            styles.append(colours(stage, first.white.name[:9]))
        bad, warn = (DUSK.styles[name].rpartition(" ")[2] for name in ("bad", "warn"))
        assert bad in styles[0] and not styles[1] & {bad, warn}
        stage.client_state.apply(GameMessage(first))
        assert await read_signs() == (0, 0, False)


async def test_the_clock_of_a_running_board_is_drawn_low() -> None:
    async with Stage() as stage:
        game = stage.client_state.game(stage.app.boards.listed[0].id)
        assert game is not None
        low = replace(game.plies[-1], clock_s=42.0)
        stage.client_state.apply(MoveMessage(game.id, low.ply, low))
        await stage.press("f")
        assert DUSK.styles["bad"].rpartition(" ")[2] in colours(stage, "0:42")
        assert (
            choose_clock_style(299.0, "90+30")
            == choose_clock_style(15.0, "3+2")
            == "warn"
        )
        assert choose_clock_style(59.0, "3+2") == choose_clock_style(None, "") == ""
        assert choose_clock_style(59.0, "") == choose_clock_style(9.0, "3+2") == "bad"


async def test_a_final_figure_and_a_running_one_are_told_apart() -> None:
    curves = Curves(white=(full_point(1),), black=(full_point(2),))
    running = replace(detail(), curves=curves)
    over = replace(running, result="1-0")
    unsure = replace(over, plies_scored=1)
    async with Stage(size=(120, 40)) as stage:
        for each, said in (
            (running, "lays like"),
            (over, "layed like"),
            (unsure, "lays like"),
        ):
            text = await show_board(stage, each)
            assert f"P{said}   Clock     usual Better than Moves" in text
            assert ("played like 2441" in text) == (said == "layed like")


LOOK = Alert(
    id="a", kind="stale", severity="look", text="", advice="", first_seen_s=0.0
)


BASE_S = dt.datetime(2026, 5, 1, 15, 4, 5).timestamp()


def stage_with_log() -> tuple[Stage, GameId]:
    """A terminal whose log has two incidents, one of them over, and takes entries."""
    made, log = Stage(), IncidentLog()
    game = next(view.id for view in made.client_state.games() if view.board == 1)
    text, advice = "White's flag has fallen", "Go there."
    flag = Alert(
        id="f",
        kind="flag",
        severity="alarm",
        text=text,
        advice=advice,
        game=game,
        first_seen_s=BASE_S,
    )
    log.add_alert(flag, BASE_S)
    log.add_alert(replace(flag, cleared_s=BASE_S + 60), BASE_S + 60)
    log.add_alert(replace(flag, id="feed x", kind="feed", game=None), BASE_S)
    made.context.incidents = log.incidents
    made.context.command = lambda asked: log.add_entry(
        asked.text, BASE_S + 120, asked.about or None
    )
    return made, game


async def test_the_log_keeps_what_is_over_and_says_all_that_happened() -> None:
    made, _ = stage_with_log()
    async with made as stage:
        text = await stage.press("4")
        assert "15:04:05 Flag" in text and "White's flag has fallen" in text
        assert "2 incidents, 1 open" in text
        assert "15:05:05 over" in await stage.press("down")
        stage.context.export_log = lambda: "a page"
        assert "Wrote a page" in await stage.press("e")


async def test_a_row_of_the_log_says_what_was_the_matter_then() -> None:
    log = IncidentLog()
    log.add_alert(replace(LOOK, text="No move for 22 minutes"), BASE_S)
    log.add_alert(
        replace(LOOK, text="No move for 40 minutes", acknowledged_s=BASE_S + 1),
        BASE_S + 1,
    )
    async with Stage() as stage:
        stage.context.incidents = log.incidents
        rows = (await stage.press("4")).splitlines()[:10]
        assert "22 minutes" in rows[2] and not any("40 minutes" in row for row in rows)


async def test_it_is_filtered_by_words_by_the_time_and_by_what_is_open() -> None:
    made, _ = stage_with_log()
    made.context.command(DeskCommand("enter", "", "draw offer disputed"))
    async with made as stage:
        await stage.press("4")
        rows = stage.app.views["log"].query_one(RowList)
        for query, found in (
            ("disputed", 1),
            ("15:06:05", 1),
            ("open", 1),
            ("over", 2),
            ("", 3),
        ):
            await stage.press("slash")
            await stage.answer(query)
            assert len(rows.ids) == found, query


async def test_an_entry_names_the_board_it_is_about() -> None:
    made, game = stage_with_log()
    async with made as stage:
        await stage.press("w")
        assert stage.asks_for.startswith("Log entry, board 1 Larino")
        await stage.answer("draw offer disputed")
        await stage.press("4", "w")
        assert stage.asks_for == "Log entry, no board:"
        await stage.answer("  ")
        await stage.press("w")
        assert "lights out" in await stage.answer("lights out for a minute")
    entries = [each for each in made.context.incidents() if each.kind == "entry"]
    shown = [(each.text, each.game) for each in entries]
    assert shown == [("draw offer disputed", game), ("lights out for a minute", None)]
