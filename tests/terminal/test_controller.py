"""Every key and view, on the state of a rehearsal; and the frames themselves, kept as text."""

import datetime as dt
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from live.alerts.incident_log import IncidentLog
from live.events import (
    Alert,
    AlertMessage,
    Curves,
    DeskCommand,
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
    StandingMessage,
)
from live.publish.published_state import whole_game
from live.publish.visibility import Visibility
from live.publish.visibility import shown as withheld_from
from live.terminal.alerts_view import delay_text
from live.terminal.boards_view import best_strength, clock_style, least_clock_s
from tests.figures import Kind
from tests.terminal.sample_boards import detail, full_point
from tests.terminal.stage import Stage

FRAMES = Path(__file__).resolve().parent / "frames"
VIEWS = {
    "boards": (),
    "boards-clocks": ("f", "s"),
    "board": ("enter",),
    "board-algorithm4": ("enter", "v"),
    "players": ("2",),
    "player": ("2", "enter"),
    "alerts": ("3",),
    "sources": ("5",),
    "help": ("question_mark",),
}
SIZES = ((80, 24), (120, 40), (200, 60))
KINDS: dict[str, tuple[Kind, bool]] = {"": ("open", False), "unrated-": ("unrated", True)}


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize(
    ("field", "view"),
    [*(("", view) for view in VIEWS), *(("unrated-", view) for view in ("boards", "board"))],
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


@pytest.mark.parametrize("size", [(60, 12), (80, 24), (100, 30), (163, 40), (200, 60)])
@pytest.mark.parametrize("view", VIEWS)
def test_no_line_is_wider_and_no_frame_higher_than_the_terminal(
    view: str, size: tuple[int, int]
) -> None:
    stage = Stage(alerts=True)
    stage.press(*VIEWS[view])
    lines = stage.controller.frame(*size)
    assert len(lines) == size[1]
    assert max(line.cell_len for line in lines) <= size[0]
    assert "3 Alerts 1 !! 1 ?" in lines[0].plain
    assert ("http" in lines[0].plain) == (size[0] > 80)
    if size[0] >= 80:
        assert "? help" in lines[-1].plain and "w write" in lines[-1].plain


def test_a_terminal_too_small_says_so(stage: Stage) -> None:
    stage.size = (30, 5)
    assert "At least 60x12" in stage.frame()


def cursor_line(text: str) -> str:
    return next(line for line in text.splitlines() if line.startswith("▌"))


def test_arrows_and_letters_move_the_cursor(stage: Stage) -> None:
    first = cursor_line(stage.frame())
    second = cursor_line(stage.press("j"))
    assert second != first
    assert cursor_line(stage.press("down", "k", "up")) == first
    last = cursor_line(stage.press("end"))
    assert cursor_line(stage.press("home")) == first != last
    assert cursor_line(stage.press("pagedown")) == last


def listed(stage: Stage) -> list[int | None]:
    """Board numbers from above."""
    stage.frame()
    return [game.board for game in stage.controller.boards.listed]


def test_every_order_sorts_and_says_so(stage: Stage) -> None:
    by_board = listed(stage)
    assert "Bd▾" in stage.frame() and by_board == [1, 2, 3, 4, 5, 6]
    boards = stage.controller.boards
    for head, order, value in (
        (
            "Clocks▾",
            "clock",
            lambda game: -1e9 if game.result != "*" else -(least_clock_s(game) or 1e9),
        ),
        ("Age▾", "age", lambda game: game.result == "*"),
        ("Plays like▾", "rating", lambda game: best_strength(game) or 0.0),
    ):
        text = stage.press("s")
        assert head in text and boards.order == order and "alerts stay on top" in text
        values = [value(stage.client_state.game(view.id)) for view in boards.listed]
        assert values == sorted(values, reverse=True)
    stage.press("s")
    assert listed(stage) == by_board


def test_the_filter_lists_only_what_matches_and_esc_shows_all(stage: Stage) -> None:
    stage.press("slash")
    assert stage.context.ask is not None and stage.context.ask.at_once
    stage.context.ask.done("kovchan")
    assert listed(stage) == [2]
    stage.context.ask.done("nobody at all")
    assert "No board matches 'nobody at all'" in stage.frame()
    stage.context.ask.done("!kovchan running")
    assert 2 not in listed(stage)
    stage.press("escape")
    assert len(listed(stage)) == 6


def test_next_morning_the_newest_round_stands_alone_until_others_are_asked_for() -> None:
    stage = Stage()
    for board in (1, 2):
        for change in whole_game(detail(f"new{board}", board, round="99", event="")):
            stage.client_state.apply(change)
    for view in list(stage.client_state.games()):
        over = "*" if view.id.startswith("new") else "1-0"
        told = replace(view, event="Open", result=over)
        stage.client_state.apply(GameMessage(told))
    assert listed(stage) == [1, 2] and "and 6 boards of earlier rounds, all over" in stage.frame()
    text = stage.press("tab")
    assert " Rd " in text.splitlines()[1] and len(listed(stage)) == 8
    stage.press("slash")
    assert stage.context.ask is not None
    stage.context.ask.done("round 99")
    assert listed(stage) == [1, 2]


def test_export_asks_for_form_and_extent(stage: Stage) -> None:
    text = stage.press("e")
    assert "p PGN" in text and "this board, P C H the round" in text
    assert "Wrote round.csv" in stage.press("c")
    stage.press("e", "H", "e", "escape", "2", "e", "c", "e", "P")
    game = stage.controller.boards.listed[0].id
    of_round = [("html", None), ("csv", None), ("pgn", None)]
    assert stage.exported == [("csv", game), *of_round]


def test_the_delay_is_asked_for_and_checked(stage: Stage) -> None:
    stage.press("d")
    assert stage.context.ask is not None
    stage.context.ask.done("soon")
    assert "does not fit" in stage.frame()
    stage.context.ask.done("15m")
    assert stage.delay_s == 900
    assert "The public is 15:00 behind" in stage.frame()
    assert "public 15:00 behind" in stage.frame().splitlines()[0]


@pytest.mark.parametrize(
    ("delay", "said"),
    [
        (PublicDelay(), ""),
        (PublicDelay(30.0), "0:30 behind"),
        (PublicDelay(30.0, 5, 2), "0:30 behind, holding 5 moves on 2 boards"),
    ],
)
def test_how_far_the_public_is_behind_and_what_waits(delay: PublicDelay, said: str) -> None:
    assert delay_text(delay) == said
    stage = Stage()
    stage.context.public_delay = lambda: delay
    assert " ".join((said or "sees everything at once").split()) in " ".join(
        stage.press("5").split()
    )


@pytest.mark.parametrize("size", SIZES)
def test_a_board_stays_where_it_is_while_the_game_goes_on(size: tuple[int, int]) -> None:
    stage = Stage()
    stage.size = size
    texts = [stage.press("enter"), stage.press("left"), stage.press("home")]
    assert len({next(at for at, x in enumerate(t.splitlines()) if "+5┤" in x) for t in texts}) == 1


def test_a_key_that_does_nothing_says_why() -> None:
    stage = Stage(alerts=True, able=False)
    assert "q quit ? help" in stage.frame()
    assert "q quit ? help" in Stage(alerts=True).press("3")
    stage.size = (120, 40)
    assert "(w write)" in stage.frame()
    assert "w does nothing now: alerts and log are for arbiters" in stage.press("w")
    assert "set at the service" in stage.press("d")
    assert "removed at the service itself" in stage.press("x")
    assert "are for arbiters" in stage.press("3", "a")
    assert "a does nothing now: there is no alert" in Stage().press("3", "a")


def test_a_board_opens_steps_and_closes(stage: Stage) -> None:
    game = stage.client_state.game(stage.controller.boards.listed[0].id)
    assert game is not None
    assert game.plies[-1].san in stage.press("enter")
    before = stage.press("left")
    assert stage.controller.board.ply == len(game.plies) - 1
    assert f"at {len(game.plies) // 2}" in before and "end follows the game again" in before
    stage.client_state.apply(MoveMessage(game.id, 1, None))
    assert "no move yet" in stage.frame() and stage.controller.board.ply is None
    assert "at the start" in stage.press("home")
    for change in whole_game(game):
        stage.client_state.apply(change)
    stage.press("right", "right", "left", "right")
    assert stage.controller.board.ply == 2
    assert stage.press("end") and stage.controller.board.ply is None
    assert "Board 2 " in stage.press("j")
    assert "Board 1 " in stage.press("up")
    assert "2402●" in stage.frame() and "v A4" in stage.frame()
    other = stage.press("v")
    assert "2402●" not in other and "v like" in other
    assert "2402●" in stage.press("v")
    assert "[1 Boards]" in stage.press("escape").splitlines()[0]


def test_a_board_that_vanished_says_so(stage: Stage) -> None:
    stage.press("enter")
    assert stage.controller.board.game is not None
    gone = GoneMessage(stage.controller.board.game)
    stage.client_state.apply(gone)
    stage.changes.note([gone])
    assert "no longer holds this board" in stage.frame()
    stage.press("escape")
    assert len(listed(stage)) == 5


def test_players_are_sorted_by_what_is_said_and_opened(stage: Stage) -> None:
    assert "Plays like▾" in stage.press("2")
    for number, view in enumerate(list(stage.client_state.players())):
        told = replace(view, points=number / 2, finished=1)
        stage.client_state.apply(StandingMessage(told))
    stage.now_s += 60
    lines = stage.press("s").splitlines()
    assert "Pts▾" in lines[1] and "5½" in lines[2]
    elos = [view.elo or 0 for view in stage.client_state.players()]
    stage.press("s", "end")
    assert str(max(elos)) in stage.frame().splitlines()[2]
    last = stage.controller.players.cursor
    assert "Mean gain" in stage.press("enter")
    stage.press("enter")
    [game] = stage.controller.boards.listed
    assert last in stage.client_state.player_ids(game.id)
    assert "[2 Players]" in stage.press("escape", "escape", "escape").splitlines()[0]


def test_alerts_are_acknowledged_muted_and_noted() -> None:
    stage = Stage(alerts=True)
    text = stage.press("3")
    assert text.index("flag has fallen") < text.index("No move for 22 minutes")
    assert "×2" in text
    flag, game = "flag g1 white", next(iter(stage.client_state.games())).id
    assert "Acknowledged;" in stage.press("a")
    # What is past has gone by this; a second press does not take another alert.
    [first, second] = stage.client_state.alerts()
    stage.client_state.apply(AlertMessage(replace(first, cleared_s=1.0)))
    assert "Acknowledged already" in stage.press("a")
    stage.press("n")
    assert stage.context.ask is not None and stage.context.ask.label == "Note to board 2, stale:"
    stage.press("up", "a")
    assert stage.asked == [DeskCommand("acknowledge", flag), DeskCommand("acknowledge", second.id)]
    stage.client_state.apply(AlertMessage(first))
    stage.frame()
    stage.press("exclamation_mark", "n")
    stage.context.ask.done("told both players")
    stage.press("m", "k", "m", "a", "m", "b", "m", "escape")
    assert stage.asked[2:] == [
        DeskCommand("note", flag, "told both players"),
        DeskCommand("mute-kind", "flag"),
        DeskCommand("mute", flag),
        DeskCommand("mute-board", game),
    ]
    stage.client_state.apply(AlertMessage(replace(first, muted=True)))
    stage.now_s += 60
    stage.frame()
    assert "2 alerts, 1 of them muted" in stage.press("end") and "▌z " in cursor_line(stage.frame())
    assert "Unmuted" in stage.press("m")
    assert {each.muted for each in stage.asked[6:]} == {False}
    assert "Board 1 " in stage.press("enter")


def test_all_alerts_of_a_board_are_acknowledged_at_once() -> None:
    stage = Stage(alerts=True)
    [flag, _] = stage.client_state.alerts()
    stage.client_state.apply(AlertMessage(replace(flag, id="other", kind="stale")))
    for keys in (("exclamation_mark",), ("enter",), ("3",)):
        stage.asked.clear()
        assert "Acknowledged 2 alerts of the board" in stage.press(*keys, "A")
        assert {each.about for each in stage.asked} == {"other", flag.id}
    assert "no open alert" in Stage().press("A")


def test_problems_stand_on_top_and_one_sign_is_the_worst_that_stands() -> None:
    stage = Stage(alerts=True)
    last = stage.controller.boards.listed[-1].id
    (flag, stale) = stage.client_state.alerts()
    stage.client_state.apply(AlertMessage(replace(flag, id="flag last", game=last)))
    stage.frame()
    assert [game.id for game in stage.controller.boards.listed][:3] == [flag.game, last, stale.game]
    assert "What is w" in stage.frame() and "White's f" in stage.frame()
    stage.client_state.apply(AlertMessage(replace(stale, id="stale last", game=last)))
    assert "no result (+1)\n" in stage.press("j")
    # The view goes to the top, wherever the cursor was.
    stage.size = (80, 12)
    assert cursor_line(stage.press("end", "exclamation_mark"))[:6] == "▌!!  1"
    assert "2 !! 2 ?" in stage.frame().splitlines()[0]
    for alert in list(stage.client_state.alerts()):
        if alert.severity == "alarm":
            stage.client_state.apply(AlertMessage(replace(alert, acknowledged_s=1.0)))
    title = stage.press("5", "exclamation_mark").splitlines()[0]
    assert "2 ?" in title and "!" not in title and "[1 Boards]" in title


def test_an_alert_names_its_players_once(stage: Stage) -> None:
    stage.size = (120, 40)
    board = next(iter(stage.client_state.games()))
    name = board.black.name
    text = f"Board {board.board}: {name}'s clock rose from 60:33 to 90:30"
    rise = Alert(
        id="rise", kind="clock-rising", severity="look", text=text, advice="",
        game=board.id, player=name, color="black", first_seen_s=BASE_S,
    )  # fmt: skip
    stage.client_state.apply(AlertMessage(rise))
    assert "Black's clock rose from" in stage.frame()
    rows = stage.press("3").splitlines()
    assert name not in rows[2] and "Black's clock rose from 60:33 to 90:30" in rows[2]
    assert sum(name in row for row in rows) == 1
    log = IncidentLog()
    log.alert(rise, BASE_S)
    stage.context.incidents = log.incidents
    stage.size = (80, 24)
    assert "1: Black's clock rose from 60:33 to" in stage.press("4")


def test_a_board_is_removed_after_a_question_and_brought_back(stage: Stage) -> None:
    game = stage.controller.boards.listed[0].id
    removed: list[str] = []
    stage.context.remove_board = removed.append
    stage.context.bring_back_board = removed.pop
    assert "Remove the board" in stage.press("x")
    stage.press("escape")
    assert removed == []
    stage.press("x", "y")
    assert removed == [game]
    assert f"Brought back: {game}" in stage.press("x", "u")


def test_only_yes_ends_the_service(stage: Stage) -> None:
    for key in ("q", "enter", "escape"):
        stage.press("q", key)
    assert stage.left == 0
    stage.press("q", "y")
    assert stage.left == 1


def test_a_message_does_not_follow_to_another_screen(stage: Stage) -> None:
    assert "Sorted" in stage.press("s") and "Sorted" not in stage.press("2")


def test_commands_cover_views_keys_and_themes(stage: Stage) -> None:
    commands = {name: act for name, _, act in stage.controller.commands()}
    assert {"Boards", "Sources", "Open", "Sort", "Theme signal", "Quit"} <= {*commands}
    commands["Players"]()
    assert "[2 Players]" in stage.frame().splitlines()[0]


def test_a_lost_connection_stands_where_messages_stand(stage: Stage) -> None:
    stage.context.status = lambda: "connection lost: nobody listens there; trying again in 2 s"
    assert "trying again in 2 s" in stage.frame().splitlines()[-2]


def test_help_can_be_read_to_its_end_in_a_small_terminal() -> None:
    stage = Stage(able=False)
    pages = [stage.press("3", "question_mark")]
    pages += [stage.press("pagedown") for _ in range(3)]
    said = " ".join(" ".join(line for page in pages for line in page.splitlines()[1:-2]).split())
    assert "\u2026" not in said
    assert "8 of 10 games" in said and "acknowledge all alerts" in said and "not now:" in said
    assert "[3 Alerts]" in stage.press("escape").splitlines()[0]


@pytest.mark.parametrize("keys", [(), ("enter",)])
def test_the_clock_of_the_side_to_move_runs(stage: Stage, keys: tuple[str, ...]) -> None:
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
    stage.client_state.apply(HealthMessage((FeedHealth("demo", "live"),), EngineHealth()))
    stage.frame()
    stage.now_s += 6000
    # Never below zero; by our reckoning alone, until the source or an alert says so.
    assert "0:00?" in stage.frame()


def test_a_source_is_told_of_briefly_at_the_foot_and_whole_on_its_screen(stage: Stage) -> None:
    url = "https://example.org/round/3/a-long-name-of-an-event/games.pgn"
    why = f"{url} asks us to slow down (429), trying again in 28 s"
    feeds = FeedHealth("demo", "live"), FeedHealth(url, "retrying", why)
    stage.client_state.apply(HealthMessage(feeds, EngineHealth()))
    lines = stage.frame().splitlines()
    assert "again in 28 s" in lines[-2] and "5 Sources ↻" in lines[0]
    stage.now_s += 180
    text = " ".join(stage.press("5").split())
    assert (
        f"↻ {url}: retrying, 0 boards, not live for 3 min asks us to slow down (429), trying"
        in text
    )
    assert "● demo: live, 6 boards" in text
    late = EngineHealth(behind="figures are up to 6 moves behind on 9 boards: follow fewer")
    stage.client_state.apply(HealthMessage(feeds[:1], late))
    assert "! figures are up to 6 moves behind on 9" in stage.press("1").splitlines()[-2]
    assert "from ● demo" in stage.press("enter")
    ended = FeedHealth("demo", "failed", "demo holds no game")
    stage.client_state.apply(HealthMessage((ended,), EngineHealth()))
    assert "demo failed: holds no game" in stage.press("1").splitlines()[-2]


def test_alerts_and_log_that_cannot_be_known_are_not_called_none(stage: Stage) -> None:
    assert "✓ there is no alert" in stage.press("3") and "✓ the log is empty" in stage.press("4")
    stage.context.no_desk = lambda: "the service went away"
    for key in ("3", "4"):
        text = stage.press(key)
        assert "✓" not in text and "Not known: the service went away" in text
        assert "0 alerts" not in text and "0 incidents" not in text and "not known here" in text
    assert stage.press("w") and stage.context.ask is None


def board_shown(game: GameDetail, width: int, height: int) -> str:
    """The screen of one board."""
    stage = Stage()
    for change in whole_game(game):
        stage.client_state.apply(change)
    stage.size = (width, height)
    stage.context.show("board", game.id)
    return stage.frame()


def test_beside_the_move_stands_what_others_would_play() -> None:
    game = detail(provisional=True)
    bare = board_shown(game, 80, 24)
    assert "played" not in bare
    hard = DifficultyView(2400, "e7e5", 0.05, (), 0.42, 90)
    ply = replace(game.plies[1], depth=40, played_share=0.083, difficulty=hard)
    for mark, words in (
        (None, ("+0.37~", "depth 40", "played 1 in 12", "best 1 in 20")),
        ("find", ("find 1 in 12", "best 1 in 20", "err 4 in 10")),
        ("trap", ("played 1 in 12", "trap 4 in 10")),
    ):
        plies = game.plies[0], replace(ply, mark=mark)
        text = board_shown(replace(game, plies=plies), 80, 40)
        assert all(each in text for each in words)


def test_what_is_withheld_is_not_taken_for_unknown(stage: Stage) -> None:
    engine = withheld_from(stage.client_state.engine(), Visibility.VENUE)
    stage.client_state.apply(EngineMessage(engine))
    lines = stage.frame().splitlines()
    assert "this service withholds scores and ratings" in lines[-2] and "0 Elo" not in lines[0]


def test_every_view_marks_what_has_an_open_alert_until_somebody_takes_note() -> None:
    stage = Stage(alerts=True)

    def said() -> tuple[int, int, bool]:
        boards = [line[1] for line in stage.press("1", "home").splitlines()[2:8]]
        players = [line[6:7] for line in stage.press("2").splitlines()[2:-2]]
        board = stage.press("1", "enter")
        signs = sum(sign in ("!", "?") for sign in boards)
        return signs, players.count("!"), "!! White's flag has fallen" in board

    assert said() == (2, 4, True)
    first, *_ = list(stage.client_state.games())
    stage.client_state.apply(GameMessage(replace(first, problem="illegal move")))
    styles = []
    for acknowledged_s in (None, 1.0):
        for alert in list(stage.client_state.alerts()):
            stage.client_state.apply(AlertMessage(replace(alert, acknowledged_s=acknowledged_s)))
        stage.press("1", "home")
        row = next(x for x in stage.controller.frame(120, 40) if first.white.name[:9] in x.plain)
        styles.append({str(span.style) for span in row.spans})
    assert "bad" in styles[0] and not styles[1] & {"bad", "warn"}
    stage.client_state.apply(GameMessage(first))
    assert said() == (0, 0, False)


def test_the_clock_of_a_running_board_is_drawn_low(stage: Stage) -> None:
    game = stage.client_state.game(stage.controller.boards.listed[0].id)
    assert game is not None
    low = replace(game.plies[-1], clock_s=42.0)
    stage.client_state.apply(MoveMessage(game.id, low.ply, low))
    stage.press("f")
    line = stage.controller.frame(80, 24)[2]
    at = line.plain.index("0:42")
    assert "bad" in {str(span.style) for span in line.spans if span.start <= at < span.end}
    assert clock_style(299.0, "90+30") == clock_style(15.0, "3+2") == "warn"
    assert clock_style(59.0, "3+2") == clock_style(None, "") == ""
    assert clock_style(59.0, "") == clock_style(9.0, "3+2") == "bad"


def test_a_final_figure_and_a_running_one_are_told_apart() -> None:
    curves = Curves(white=(full_point(1),), black=(full_point(2),))
    running = replace(detail(), curves=curves)
    over = replace(running, result="1-0")
    unsure = replace(over, plies_scored=1)
    for each, said in ((running, "lays like"), (over, "layed like"), (unsure, "lays like")):
        text = board_shown(each, 120, 40)
        assert f"P{said}" in text and ("played like 2441" in text) == (said == "layed like")


LOOK = Alert(id="a", kind="stale", severity="look", text="", advice="", first_seen_s=0.0)


BASE_S = dt.datetime(2026, 5, 1, 15, 4, 5).timestamp()


def stage_with_log() -> tuple[Stage, GameId]:
    """A terminal whose log has two incidents, one of them over, and takes entries."""
    made, log = Stage(), IncidentLog()
    game = made.controller.boards.listed[0].id
    text, advice = "White's flag has fallen", "Go there."
    flag = Alert(
        id="f", kind="flag", severity="alarm", text=text, advice=advice, game=game,
        first_seen_s=BASE_S,
    )  # fmt: skip
    log.alert(flag, BASE_S)
    log.alert(replace(flag, cleared_s=BASE_S + 60), BASE_S + 60)
    log.alert(replace(flag, id="feed x", kind="feed", game=None), BASE_S)
    made.context.incidents = log.incidents
    made.context.command = lambda asked: log.entry(asked.text, BASE_S + 120, asked.about or None)
    return made, game


def test_the_log_keeps_what_is_over_and_says_all_that_happened() -> None:
    made, _ = stage_with_log()
    text = made.press("4")
    assert "15:04:05 Flag" in text and "White's flag has fallen" in text
    assert "2 incidents, 1 open" in text
    assert "15:05:05 over" in made.press("down")


def test_a_row_of_the_log_says_what_was_the_matter_then() -> None:
    made, log = Stage(), IncidentLog()
    log.alert(replace(LOOK, text="No move for 22 minutes"), BASE_S)
    log.alert(replace(LOOK, text="No move for 40 minutes", acknowledged_s=BASE_S + 1), BASE_S + 1)
    made.context.incidents = log.incidents
    assert "22 minutes" in made.press("4") and "40 minutes" not in made.frame()


def test_it_is_filtered_by_words_by_the_time_and_by_what_is_open() -> None:
    made, _ = stage_with_log()
    made.context.command(DeskCommand("enter", "", "draw offer disputed"))
    made.press("4", "slash")
    assert made.context.ask is not None
    for query, found in (("disputed", 1), ("15:06:05", 1), ("open", 1), ("over", 2), ("", 3)):
        made.context.ask.done(query)
        made.frame()
        assert len(made.controller.incidents.listed) == found, query


def test_an_entry_names_the_board_it_is_about() -> None:
    made, game = stage_with_log()
    made.press("w")
    assert made.context.ask is not None
    assert made.context.ask.label.startswith("Log entry, board 1 Larino")
    made.context.ask.done("draw offer disputed")
    made.press("4", "w")
    assert made.context.ask.label == "Log entry, no board:"
    made.context.ask.done("  ")
    made.context.ask.done("lights out for a minute")
    entries = [each for each in made.context.incidents() if each.kind == "entry"]
    shown = [(each.text, each.game) for each in entries]
    assert shown == [("draw offer disputed", game), ("lights out for a minute", None)]
    assert "lights out" in made.frame()


def test_the_log_is_written_as_a_page_with_one_key() -> None:
    made, _ = stage_with_log()
    made.context.export_log = lambda: "a page"
    assert "Wrote a page" in made.press("4", "e")
