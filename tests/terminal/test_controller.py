"""Every key and view, on the state of a rehearsal; and the frames themselves, kept as text."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
import pytest

from live.alerts.incident_log import IncidentLog
from live.events import (
    Alert,
    AlertMessage,
    BellChoice,
    Curves,
    DifficultyView,
    EngineHealth,
    EngineMessage,
    FeedHealth,
    GameDetail,
    GameId,
    GameMessage,
    GoneMessage,
    HealthMessage,
    MoveMessage,
    PublicDelay,
    QueueLengths,
    StandingMessage,
)
from live.publish.published_state import whole_game
from live.publish.visibility import Visibility
from live.publish.visibility import shown as withheld_from
from live.service.program_output import export_incidents
from live.terminal import controller
from live.terminal.boards_view import (
    best_strength,
    clock_style,
    least_clock_s,
    low_clock_s,
    swing_cp,
)
from live.terminal.view_context import BELLS, AlertBell
from tests.figures import Kind
from tests.terminal.sample_boards import detail, full_point
from tests.terminal.stage import Stage

FRAMES = Path(__file__).resolve().parent / "frames"
VIEWS = {
    "boards": (),
    "boards-by-swing": ("S",),
    "board": ("enter",),
    "board-curves": ("enter", "tab"),
    "board-gains": ("enter", "tab", "tab"),
    "board-methods": ("enter", "shift+tab"),
    "players": ("2",),
    "columns": ("2", "c"),
    "player-gains": ("2", "g"),
    "alerts": ("3",),
    "help": ("question_mark",),
}
SIZES = ((80, 24), (120, 40), (200, 60))


KINDS: dict[str, tuple[Kind, bool]] = {
    "": ("open", False),
    "elite-": ("elite", True),
    "unrated-": ("unrated", True),
}


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize(
    ("field", "view"),
    [("", view) for view in VIEWS]
    + [
        (field, view) for field in ("elite-", "unrated-") for view in ("boards", "board", "players")
    ],
)
def test_the_frame_is_as_it_was_looked_at(field: str, view: str, size: tuple[int, int]) -> None:
    kind, native = KINDS[field]
    stage = Stage(alerts=not field, kind=kind, native=native)
    stage.size = size
    stage.press(*VIEWS[view])
    stage.now_s += 60  # messages of the moment are gone
    shown = stage.frame() + "\n"
    path = FRAMES / f"{field}{view}-{size[0]}x{size[1]}.txt"
    if os.environ.get("LIVE_RATE_WRITE_FRAMES"):  # to look at them, and keep them
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("size", [(60, 12), (100, 30), (163, 40), (164, 20)])
@pytest.mark.parametrize("view", VIEWS)
def test_no_line_is_wider_and_no_frame_higher_than_the_terminal(
    view: str, size: tuple[int, int]
) -> None:
    stage = Stage(alerts=True)
    stage.press(*VIEWS[view])
    lines = stage.controller.frame(*size)
    assert len(lines) == size[1]
    assert max(line.cell_len for line in lines) <= size[0]
    # Where the title has no room for both, the address goes before who measures.
    title = lines[0].plain
    assert "Stockfish 19" in title and ("http" in title) == (size[0] > 60)


def test_a_terminal_too_small_says_so() -> None:
    stage = Stage()
    stage.size = (30, 5)
    assert "At least 60x12" in stage.frame()


def cursor_line(text: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(("▌", "★")))


def test_arrows_and_letters_move_the_cursor() -> None:
    stage = Stage()
    first = cursor_line(stage.frame())
    second = cursor_line(stage.press("j"))
    assert second != first
    assert cursor_line(stage.press("down", "k", "up")) == first
    last = cursor_line(stage.press("end"))
    assert cursor_line(stage.press("home")) == first != last
    assert cursor_line(stage.press("pagedown")) == last


def listed(text: str) -> list[str]:
    """Board numbers from above."""
    return [
        line[2:5].strip()
        for line in text.splitlines()[2:]
        if " ○ " in line[:8] and line[2:5].strip()
    ]


def test_every_sort_orders_and_turns_round() -> None:
    stage = Stage()
    rows = {row.board: row for row in stage.controller.boards.listed}
    values: dict[str, Callable[[int], float | None]] = {
        "S": lambda board: swing_cp(rows[board]),
        "R": lambda board: best_strength(rows[board]),
    }
    for key, value in values.items():
        found = [value(int(board)) for board in listed(stage.press("B", key))]
        known = [each for each in found if each is not None]
        assert len(known) > 1
        assert found == [*sorted(known, reverse=True), *[None] * (len(found) - len(known))]
        turned = [value(int(board)) for board in listed(stage.press(key))]
        assert turned == [*sorted(known), *[None] * (len(found) - len(known))]
    stage.press("T")
    clocks = map(least_clock_s, stage.controller.boards.listed)
    running = [clock for clock in clocks if clock is not None]
    assert running == sorted(running)
    assert listed(stage.press("B")) == ["1", "2", "3", "4", "5", "6"]
    assert listed(stage.press("B")) == ["6", "5", "4", "3", "2", "1"]


def test_age_puts_the_board_that_waits_longest_first() -> None:
    stage = Stage()
    ids = {view.board: view.id for view in stage.client_state.games() if view.result == "*"}
    latest = min(ids, key=str)
    game = stage.client_state.game(ids[latest])
    assert game is not None
    move = game.plies[-1]
    stage.now_s += 100
    stage.changes.note([MoveMessage(game.id, move.ply, move)])
    text = stage.press("A")
    running = [board for board in listed(text) if int(board) in ids]
    assert running[-1] == str(latest)
    assert "•" in text


def test_the_filter_lists_only_what_matches_and_esc_shows_all() -> None:
    stage = Stage()
    stage.press("slash")
    assert stage.context.ask is not None and stage.context.ask.typed is not None
    stage.context.ask.typed("kovchan")
    assert listed(stage.frame()) == ["2"]
    stage.context.ask.typed("nobody at all")
    assert "No board matches 'nobody at all'" in stage.frame()
    stage.context.ask.done("!kovchan running")
    assert "2" not in listed(stage.frame())
    assert len(listed(stage.press("escape"))) == 6


def test_a_pinned_board_stays_on_top() -> None:
    stage = Stage()
    text = stage.press("end", "space", "home")
    assert listed(text)[0] == "6"
    assert text.splitlines()[2].startswith("★")
    assert listed(stage.press("space")) == ["1", "2", "3", "4", "5", "6"]


def test_the_overlay_address_is_copied_and_shown() -> None:
    stage = Stage()
    text = stage.press("o")
    [url] = stage.copied
    assert url.startswith("http://127.0.0.1:8765/overlay?game=")
    assert f"Copied {url}"[:60] in text


def test_export_asks_for_form_and_extent() -> None:
    stage = Stage()
    assert "annotated PGN" in stage.press("e")
    assert "this board" in stage.press("c")
    assert "Wrote round.csv" in stage.press("b")
    stage.press("e", "h", "r", "e", "escape", "e", "p", "escape")
    game = stage.controller.boards.listed[0].id
    assert stage.exported == [("csv", game), ("html", None)]


def test_the_delay_is_asked_for_and_checked() -> None:
    stage = Stage()
    stage.press("d")
    assert stage.context.ask is not None
    stage.context.ask.done("soon")
    assert "does not fit" in stage.frame()
    stage.context.ask.done("15m")
    assert stage.delay_s == 900
    assert "Delayed boards are 15:00 behind for the public" in stage.frame()
    assert "public: delay 15:00, no board runs" in stage.frame().splitlines()[0]


@pytest.mark.parametrize(
    ("delay", "said"),
    [
        (PublicDelay(), ""),
        (PublicDelay(30.0, running_boards=7, late_boards=2), "2 of 7 running boards 0:30 behind"),
        (PublicDelay(30.0, running_boards=7), "no running board behind (delay 0:30)"),
        (
            PublicDelay(30.0, None, 5, 2, 2, 2, "9"),
            "2 of 2 running boards 0:30 behind, for none is of round 9,"
            " holding 5 moves on 2 boards",
        ),
    ],
)
def test_what_is_behind_is_counted_from_the_boards(delay: PublicDelay, said: str) -> None:
    assert controller.delay_text(delay, 0.0).removeprefix("public: ") == said


def test_a_key_that_does_nothing_says_why() -> None:
    stage = Stage(alerts=True, able=False)
    assert "(e export)" in stage.frame()
    assert "e does nothing" in stage.press("e")
    assert "start it with --delay" in stage.press("d")
    assert "only the terminal of the service itself" in stage.press("3", "a")
    stage = Stage()
    assert "a does nothing now: there is no alert" in stage.press("3", "a")


def test_a_board_opens_steps_and_closes() -> None:
    stage = Stage()
    game = stage.client_state.game(stage.controller.boards.listed[0].id)
    assert game is not None
    assert game.plies[-1].san in stage.press("enter")
    before = stage.press("left")
    assert stage.controller.board.ply == len(game.plies) - 1
    assert f"at ply {len(game.plies) - 1} of {len(game.plies)}" in before
    assert "start" in stage.press("home")
    stage.press("right", "l", "h", "down", "j", "k", "up")
    assert stage.controller.board.ply == 1
    assert stage.press("end") and stage.controller.board.ply is None
    assert "Board 2 " in stage.press("n")
    assert "Board 1 " in stage.press("p")
    assert "[Curves]" in stage.press("tab")
    assert "[Moves]" in stage.press("shift+tab")
    assert "Boards" in stage.press("escape").splitlines()[0]


def test_a_board_that_vanished_says_so() -> None:
    stage = Stage()
    stage.press("enter")
    assert stage.controller.board.game is not None
    gone = GoneMessage(stage.controller.board.game)
    stage.client_state.apply(gone)
    stage.changes.note([gone])
    assert "no longer holds this board" in stage.frame()
    assert len(listed(stage.press("escape"))) == 5


def test_a_takeback_takes_the_cursor_with_it() -> None:
    stage = Stage()
    stage.press("enter", "left")
    game = stage.controller.board.game
    assert game is not None
    stage.client_state.apply(MoveMessage(game, 5, None))
    stage.frame()
    assert stage.controller.board.ply is None


def test_players_sort_hide_and_explain_columns() -> None:
    stage = Stage()
    text = stage.press("2")
    assert "Playing like: " in text
    assert "How many of 100 games" in stage.press("right", "right")
    elos = [view.elo for view in stage.client_state.players()]
    stage.press("E")
    shown = [line.split() for line in stage.frame().splitlines()[2:14]]
    assert str(max(elo for elo in elos if elo)) in shown[0]
    stage.press("E")
    assert str(min(elo for elo in elos if elo)) in stage.frame().splitlines()[2]
    assert stage.controller.players.column == "Percentile"
    assert "Percentile is hidden" in stage.press("minus")
    assert "Pct" not in stage.frame().splitlines()[1]
    text = stage.press("c", "space")
    assert "space switches" in text
    stage.press("escape")


def test_the_curves_show_algorithm_4_when_asked() -> None:
    stage = Stage()
    assert "Plays like, usual" in stage.press("enter", "tab")
    assert "Algorithm 4, 95 %" in stage.press("v")
    assert "Plays like, usual" in stage.press("v")


def test_alerts_are_acknowledged_muted_and_noted() -> None:
    stage = Stage(alerts=True)
    assert "2 alerts" in stage.frame().splitlines()[0]
    text = stage.press("3")
    assert text.index("flag has fallen") < text.index("No move for 22 minutes")
    assert "×2" in text
    flag = "flag g1 white"
    assert "Acknowledged" in stage.press("a")
    # The cursor stays among what is new, and the question says what the note is to.
    stage.press("n")
    assert stage.context.ask is not None and stage.context.ask.label == "Note to board 2, stale:"
    stage.press("up", "n")
    assert stage.context.ask.label == "Note to board 1, flag:"
    stage.context.ask.done("told both players")
    stage.press("m", "k", "m", "a", "m", "b", "m", "escape")
    game = next(iter(stage.client_state.games())).id
    assert stage.answers.asked == [
        ("acknowledge", flag),
        ("note", flag, "told both players"),
        ("mute kind", "flag", True),
        ("mute", flag, True),
        ("mute board", game, True),
    ]
    assert "Board 1 " in stage.press("enter")


def test_a_board_is_removed_after_a_question_and_brought_back() -> None:
    stage = Stage()
    game = stage.controller.boards.listed[0].id
    assert "only the terminal of the service itself" in stage.press("x")
    removed: list[str] = []
    stage.context.actions.remove_board = removed.append
    stage.context.actions.bring_back_board = removed.pop
    assert "Remove the board" in stage.press("x")
    stage.press("escape")
    assert removed == []
    stage.press("x", "y")
    assert removed == [game]
    assert f"Brought back: {game}" in stage.press("x", "u")


def test_commands_cover_views_keys_and_themes() -> None:
    stage = Stage()
    names = [name for name, _, _ in stage.controller.commands()]
    assert {"Boards", "Players", "Alerts", "Open", "Pin", "Theme signal", "Quit"} <= {*names}
    {name: act for name, _, act in stage.controller.commands()}["Players"]()
    assert "Players" in stage.frame().splitlines()[0]


def test_a_lost_connection_stands_where_messages_stand() -> None:
    stage = Stage()
    stage.actions.status = lambda: "connection lost: nobody listens there; trying again in 2 s"
    assert "trying again in 2 s" in stage.frame().splitlines()[-2]


def test_help_can_be_read_to_its_end_in_a_small_terminal() -> None:
    stage = Stage(able=False)
    stage.press("3", "question_mark")
    pages = [stage.controller.frame(80, 24)]
    for _ in range(3):
        stage.press("pagedown")
        pages.append(stage.controller.frame(80, 24))
    told = " ".join(" ".join(line.plain for page in pages for line in page[1:-2]).split())
    assert "\u2026" not in told
    assert "8 of 10 games" in told and "something is wrong here" in told


@pytest.mark.parametrize("keys", [(), ("enter",)])
def test_the_clock_of_the_side_to_move_runs(keys: tuple[str, ...]) -> None:
    stage = Stage()
    stage.press(*keys)
    clocks = [clock for clock in ("59:04", "42:02") if clock in stage.frame()]
    assert clocks == ["59:04", "42:02"]
    stage.now_s += 3
    # Black has moved last at board 1.
    assert "59:01" in stage.frame() and "42:02" in stage.frame()
    stage.client_state.apply(HealthMessage((FeedHealth("demo", "retrying"),), EngineHealth()))
    stage.frame()
    stage.now_s += 600
    assert "59:01" in stage.frame() and "42:02" in stage.frame()


def _orders(stage: Stage) -> list[str]:
    stage.frame()
    return [row.id for row in stage.controller.boards.listed]


def test_boards_with_open_alerts_come_first_when_asked() -> None:
    stage = Stage(alerts=True)
    last = _orders(stage)[-1]
    (about, *_) = stage.client_state.alerts()
    stage.client_state.apply(
        AlertMessage(msgspec.structs.replace(about, id="flag last", game=last))
    )
    assert _orders(stage)[-1] == last
    assert "open alerts first" in stage.press("exclamation_mark")
    asking = {alert.game for alert in stage.client_state.alerts()}
    assert set(_orders(stage)[: len(asking)]) == asking and last in asking
    # Within them the order stays, and a pinned board stays above.
    stage.press("T")
    assert set(_orders(stage)[: len(asking)]) == asking
    stage.press("exclamation_mark")
    assert last not in _orders(stage)[:1]


def test_what_is_tried_again_says_when_at_eighty_columns() -> None:
    stage = Stage()
    why = "https://example.org/round/3/games.pgn asks us to slow down (429), trying again in 28 s"
    feed = FeedHealth("https://example.org/round/3/games.pgn", "retrying", why)
    stage.client_state.apply(HealthMessage((feed,), EngineHealth()))
    status = stage.frame().splitlines()[-2]
    assert "again in 28 s" in status and len(status) <= 80


def test_how_far_figures_are_behind_is_said_at_eighty_columns() -> None:
    stage = Stage()
    engines = EngineHealth(
        behind="figures are up to 6 moves behind on 9 boards: follow fewer boards"
    )
    stage.client_state.apply(HealthMessage((FeedHealth("demo", "live"),), engines))
    status = stage.frame().splitlines()[-2]
    assert "figures are up to 6 moves behind on 9" in status and len(status) <= 80


def test_players_sort_by_points_and_teams_have_their_matches() -> None:
    stage = Stage()
    assert "no source names teams" in stage.press("2", "m")
    for number, view in enumerate(list(stage.client_state.players())):
        told = msgspec.structs.replace(view, points=number / 2, finished=1)
        stage.client_state.apply(StandingMessage(told))
    stage.changes.everything()
    stage.now_s += 5
    stage.now_s += 60
    lines = stage.press("T").splitlines()
    assert " Pts" in lines[1] and "5½" in lines[2] and "by points" in lines[-2]
    for game in list(stage.client_state.games()):
        white = msgspec.structs.replace(game.white, team="Norway")
        black = msgspec.structs.replace(game.black, team="India")
        named = msgspec.structs.replace(game, white=white, black=black)
        stage.client_state.apply(GameMessage(named))
    stage.now_s += 60
    shown = stage.press("m")
    assert "India" in shown and "Norway" in shown and "0 – 1" in shown
    assert "Larino" in stage.press("m")


def test_alerts_that_cannot_be_known_are_not_called_none() -> None:
    stage = Stage()
    assert "✓ no alert" in stage.press("3")
    stage.actions.no_alerts = lambda: "the service went away"
    assert "no alert" not in stage.frame()
    assert "Not known: the service went away" in stage.frame()


def test_with_several_sources_the_board_says_which_it_comes_from() -> None:
    stage = Stage()
    assert "from demo" not in stage.frame()
    feeds = (FeedHealth("demo", "live"), FeedHealth("hall", "live"))
    stage.client_state.apply(HealthMessage(feeds, EngineHealth()))
    assert "from demo" in stage.frame().splitlines()[-2]


def board_shown(game: GameDetail, width: int, height: int) -> str:
    """The screen of one board."""
    stage = Stage()
    for change in whole_game(game):
        stage.client_state.apply(change)
    stage.size = (width, height)
    stage.context.show(game.id)
    return stage.frame()


def test_a_score_that_is_not_the_engines_names_its_source() -> None:
    game = detail(provisional=True)
    assert "lichess" not in board_shown(game, 80, 24)
    cloud = msgspec.structs.replace(game.plies[1], depth=40, score_source="lichess cloud")
    text = board_shown(msgspec.structs.replace(game, plies=(game.plies[0], cloud)), 80, 24)
    assert all(said in text for said in ("+0.37~", "lichess cloud", "depth 40"))


def test_what_others_would_play_stands_beside_the_move() -> None:
    game = detail()
    width, height = 80, 24
    assert "played" not in board_shown(game, width, height)
    hard = DifficultyView(2400, "e7e5", 0.05, (), 0.42, 90)
    common = msgspec.structs.replace(game.plies[1], played_share=0.3, difficulty=hard)
    find = msgspec.structs.replace(common, played_share=0.083, mark="find")
    trap = msgspec.structs.replace(common, mark="trap")
    said = {
        common: ("played 3 in 10", "best 1 in 20", "err 4 in 10"),
        find: ("find 1 in 12", "best 1 in 20", "err 4 in 10"),
        trap: ("played 3 in 10", "trap 4 in 10"),
    }
    for ply, words in said.items():
        text = board_shown(msgspec.structs.replace(game, plies=(game.plies[0], ply)), width, height)
        assert all(f"  {each}" in text for each in words)


def test_without_keys_running_boards_are_shown_and_nobody_presses_in_vain() -> None:
    stage = Stage()
    stage.context.keyless = True
    stage.size = (80, 12)
    views = list(stage.client_state.games())
    for view in views[:3]:
        stage.client_state.apply(GameMessage(msgspec.structs.replace(view, result="1-0")))
    stage.changes.everything()
    text = stage.frame()
    shown = {row.id for row in stage.controller.boards.listed}
    assert {view.id for view in views[3:]} - {views[-1].id} <= shown and len(shown) == 4
    assert "and 2 more boards: enlarge the terminal" in text and "▌" not in text
    assert "takes no keys" in text.splitlines()[-1] and "filter" not in text


def test_what_is_withheld_is_not_taken_for_unknown() -> None:
    stage = Stage()
    engine = withheld_from(stage.client_state.engine(), Visibility.VENUE)
    stage.client_state.apply(EngineMessage(engine))
    text = stage.frame().splitlines()[0]
    assert "this service withholds scores and ratings" in text and "0 Elo" not in text


def test_the_queue_is_told_by_class_where_several_wait() -> None:
    engines = EngineHealth(queued=14, waiting=QueueLengths(head=2, backlog=12, speculate=40))
    assert controller.queue_text(engines) == "14 (2 live, 12 behind)"
    assert controller.queue_text(EngineHealth()) == "0"


def test_every_view_marks_what_has_an_open_alert_until_somebody_takes_note() -> None:
    stage = Stage(alerts=True)

    def marks(column: int) -> int:
        return sum(line[column : column + 1] == "!" for line in stage.frame().splitlines()[2:])

    def said() -> tuple[int, int, bool]:
        stage.press("1")
        boards = marks(1)
        stage.press("2")
        players = marks(6)
        stage.press("1", "home", "enter")
        return boards, players, "! White's flag has fallen" in stage.frame().splitlines()[1]

    assert said() == (2, 4, True)
    for alert in list(stage.client_state.alerts()):
        stage.client_state.apply(AlertMessage(msgspec.structs.replace(alert, acknowledged_s=1.0)))
    assert said() == (0, 0, False)


def test_a_players_boards_are_one_key_away() -> None:
    stage = Stage()
    text = stage.press("2", "enter")
    assert len(listed(text)) == 1
    assert "Players" in stage.press("escape", "escape").splitlines()[0]


def test_the_clock_of_a_running_board_is_drawn_low() -> None:
    stage = Stage()
    game = stage.client_state.game(_orders(stage)[0])
    assert game is not None
    low = msgspec.structs.replace(game.plies[-1], clock_s=42.0)
    stage.client_state.apply(MoveMessage(game.id, low.ply, low))
    stage.changes.everything()

    def styles() -> set[str]:
        lines = stage.controller.frame(80, 24)
        (line,) = (line for line in lines[2:4] if "0:42" in line.plain)
        at = line.plain.index("0:42")
        return {str(span.style) for span in line.spans if span.start <= at < span.end}

    assert "bad" in styles()
    assert (
        clock_style(299.0, low_clock_s("90+30")) == clock_style(15.0, low_clock_s("3+2")) == "warn"
    )
    assert clock_style(59.0, low_clock_s("3+2")) == clock_style(None, low_clock_s("")) == ""
    assert clock_style(59.0, low_clock_s("")) == clock_style(9.0, low_clock_s("3+2")) == "bad"


def test_a_final_figure_and_a_running_one_are_told_apart() -> None:
    game = detail()
    curves = Curves(white=(full_point(1),), black=(full_point(2),))
    running = msgspec.structs.replace(game, curves=curves)
    over = msgspec.structs.replace(running, result="1-0")
    unsure = msgspec.structs.replace(over, plies_scored=1)
    for each, said in ((running, "lays like"), (over, "layed like"), (unsure, "lays like")):
        text = board_shown(each, 120, 40)
        assert f"P{said}" in text and ("played like 2441" in text) == (said == "layed like")


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
