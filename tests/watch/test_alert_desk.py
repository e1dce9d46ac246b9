"""The desk: the list follows from the messages, and an arbiter's word counts until it
is new.
"""

import random
from typing import Any, Literal

import chess
import msgspec
import pytest

from live.event.game_change import EventChange
from live.games.game import GameGone
from live.games.player_identity import person_key
from live.messages.alerts import Alert
from live.messages.figures import ChoiceEvidence, PlayerView
from live.messages.from_sources import (
    IN_DOUBT,
    NOT_READ,
    STANDS,
    FeedReport,
    GameReport,
    Result,
    Score,
)
from live.messages.health import EngineHealth, EngineState, FeedHealth
from live.messages.to_clients import GoneMessage, StandingMessage
from live.server.filtered_reader import snapshot
from live.server.stream_filter import StreamFilter
from live.server.visibility import Visibility
from live.sources.demo_feed import read_demo_games as demo_games
from live.sources.game_timeline import MISTAKES, Mistake, PlannedIncident
from live.watch.alert_desk import NOTE_CHARS
from live.watch.arbiter_notes import Mute
from live.watch.incident_log import list_changes
from tests.games.short_reports import change_headers
from tests.watch.replayed_event import START_S, Rehearsal, four_boards, played


def quiet_line(plies: int) -> str:
    """Moves by chance, without checks, captures and repetitions."""
    chance, board, found = random.Random(7), chess.Board(), list[str]()
    stood = {board.epd()}
    while len(found) < plies:
        move = chance.choice(sorted(board.legal_moves, key=chess.Move.uci))
        if board.is_capture(move) or board.gives_check(move):
            continue
        san = board.san(move)
        board.push(move)
        if board.epd() in stood:
            board.pop()
            continue
        stood.add(board.epd())
        found.append(san)
    return " ".join(found)


QUIET = quiet_line(120)
LINE = "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7"


@pytest.fixture
def service() -> Rehearsal:
    return Rehearsal()


def illegal(service: Rehearsal) -> Alert:
    """A board with an illegal move."""
    service.play([played(LINE)], [PlannedIncident("illegal-move", 0, 5)])
    (alert,) = service.desk.open()
    return alert


def test_messages_make_the_list(service: Rehearsal) -> None:
    wrong = [
        PlannedIncident("slip", 1, 12),
        PlannedIncident("clock-still", 0, 11),
        PlannedIncident("flag", 2, 20),
    ]
    service.play(four_boards(), wrong)
    service.publish(
        service.state.update_feed_health(FeedHealth("hall", "failed", "gone"))
    )
    held: dict[str, Alert] = {}
    for message in service.messages:
        if message.alert.cleared_s is None:
            held[message.alert.id] = message.alert
        else:
            del held[message.alert.id]
    assert held and held == {alert.id: alert for alert in service.desk.open()}
    service.publish(service.state.update_feed_health(FeedHealth("hall", "live")))
    assert service.messages[-1].alert.ended == "live"


def test_what_lasts_stays_when_it_is_acknowledged_and_goes_with_its_cause() -> None:
    service = Rehearsal()
    alert = illegal(service)
    service._take(service.desk.note(alert.id, "phoned the operator"))
    (message,) = service.desk.acknowledge(alert.id, service.now_s, "Deputy")
    assert message.alert.acknowledged_s == service.now_s
    assert ("acknowledged", "Deputy") in list_changes(alert, message.alert)
    service._take([message])
    service.wait(60)
    assert service.desk.acknowledge(alert.id, service.now_s) == [], "that is no news"
    (still,) = service.desk.open()
    assert (still.note, still.first_seen_s) == (
        "phoned the operator",
        alert.first_seen_s,
    )
    service.report(FeedReport("hall", (played(LINE),)))
    assert not service.desk.open()
    over = service.raised[alert.id]
    assert over.note == "phoned the operator" and over.cleared_s == service.now_s
    assert over.ended == "5...Be7 is the last move"


def test_a_mute_hides_and_nothing_more(service: Rehearsal) -> None:
    alert = illegal(service)
    for mute in (
        Mute(muted=True, alert=alert.id),
        Mute(muted=True, kind=alert.kind),
        Mute(muted=True, game=alert.game),
    ):
        (message,) = service.desk.mute(mute)
        assert message.alert.muted and service.desk.open() == [message.alert]
        service.desk.mute(msgspec.structs.replace(mute, muted=False))
        assert service.desk.open() == [alert]


def test_a_note_is_kept_short_and_can_be_taken_away(service: Rehearsal) -> None:
    alert = illegal(service)
    (message,) = service.desk.note(alert.id, "x" * 10_000)
    assert len(message.alert.note) == NOTE_CHARS
    assert service.desk.note(alert.id, "")[0].alert == alert
    # One that is over is left alone.
    assert service.desk.acknowledge("no such alert", service.now_s) == []
    assert service.desk.note("no such alert", "x") == []


def test_a_game_that_is_gone_takes_its_alerts_with_it(service: Rehearsal) -> None:
    alert = illegal(service)
    assert alert.game is not None
    service.publish(service.state.apply_step(GameGone(alert.game)))
    assert not service.desk.open()
    assert service.messages[-1].alert.cleared_s == service.now_s
    assert service.messages[-1].alert.ended == "the board is gone"
    assert service.desk.apply([GoneMessage("unknown")], service.now_s) == []


@pytest.mark.parametrize("restarted", [False, True])
def test_time_in_which_nothing_ran_is_held_against_nobody(restarted: bool) -> None:
    """The machine slept, or the service was down."""
    service = Rehearsal()
    line = played(LINE, clocks=(5400.0,) * 8 + (1200.0, 1200.0))
    service.report(FeedReport("hall", (line,)))
    service.wait(600)
    service.now_s += 7200
    if restarted:
        service.restart(service.now_s - 7200)
    service.wait(600)
    assert not service.raised  # 20 minutes were waited through, of White's 20
    service.wait(200)
    assert service.kinds() == ["flag"]


#: Plies at which a mistake is made with board 1, which has 30 or more.
PLY = 21


def test_clean_boards_raise_nothing(service: Rehearsal) -> None:
    service.play([*four_boards(), played("f3 e5 g4 Qh4#", result="0-1")])
    assert all(view.result != "*" for view in service.state.games())
    assert not service.raised


@pytest.mark.parametrize("mistake", [each for each in MISTAKES if each != "stale"])
def test_a_mistake_raises_its_alert_and_no_other(mistake: Mistake) -> None:
    games = four_boards()
    if mistake == "result":
        games.append(played("f3 e5 g4 Qh4#", result="0-1"))
        incident = PlannedIncident(mistake, 4, 1)
    else:
        incident = PlannedIncident(mistake, 0, PLY)
    service = Rehearsal()
    service.play(games, [incident])
    assert service.kinds() == [mistake]
    (alert,) = service.raised.values()
    assert alert.game is not None
    view = service.state.game(alert.game)
    assert view is not None and view.board == incident.game + (
        1 if mistake != "result" else 5
    )
    assert alert.text.startswith(f"Board {view.board}: ")
    assert alert.text.endswith(".") and alert.advice.endswith(".")


def test_a_board_that_stands_still_while_others_move(service: Rehearsal) -> None:
    """It is told by its pace long before the clock, too, says that something is
    wrong.
    """
    service.play(four_boards(), [PlannedIncident("stale", 0, PLY)])
    service.wait(3 * 3600)
    assert [alert.kind for alert in service.raised.values()] == ["stale", "flag"]


@pytest.mark.parametrize("speed", [1.0, 30.0, 100.0])
def test_a_long_think_in_the_opening_is_no_standstill_at_any_pace(speed: float) -> None:
    service = Rehearsal()
    service.tick_s = max(1.0, 30.0 / speed)
    service.play(demo_games(), speed=speed)
    assert "stale" not in service.kinds()


def test_a_board_that_stands_still_is_told_by_its_clock_in_fast_playback() -> None:
    seen = []
    for speed in (1.0, 60.0):
        service = Rehearsal()
        service.tick_s = 30.0 / speed
        service.play(four_boards(), [PlannedIncident("stale", 0, PLY)], speed=speed)
        (alert,) = (each for each in service.raised.values() if each.kind == "stale")
        seen.append((alert.first_seen_s - START_S) * speed)
    assert seen[1] == pytest.approx(seen[0], rel=0.02)


@pytest.mark.parametrize(
    "kind, alert", [("slip", "correction"), ("takeback", "takeback")]
)
def test_a_slip_and_a_takeback_raise_theirs(kind: str, alert: str) -> None:
    incident = PlannedIncident("slip" if kind == "slip" else "takeback", 1, 12)
    service = Rehearsal()
    service.play(four_boards(), [incident])
    assert service.kinds() == [alert]
    (told,) = service.raised.values()
    assert told.severity == "look" and told.ply == 12
    # Six plies stand upon it by now: nothing is left to look at.
    assert told.cleared_s is not None and not service.desk.open()


def standing(
    number: int, matches: int, log_e_value: float, elo: int | None = 2000
) -> StandingMessage:
    view = PlayerView(
        f"p{number}",
        f"Player {number}",
        elo,
        3,
        60,
        None,
        agreement=ChoiceEvidence(60, matches, 28.8, log_e_value),
    )
    return StandingMessage(view)


def test_agreement_far_outside_a_players_range(service: Rehearsal) -> None:
    service.publish([standing(number, 29, -0.5) for number in range(112)])
    assert not service.raised
    service.publish([standing(3, 37, 6.0)])
    assert not service.raised  # among 112 players somebody gets so far
    service.publish([standing(3, 48, 7.9)])
    (alert,) = service.desk.open()
    assert (alert.kind, alert.severity, alert.player) == (
        "agreement",
        "look",
        "Player 3",
    )
    told = alert.agreement
    assert told is not None and (told.moves, told.boards) == (60, 56)
    assert told.z > 3.4 and told.false_alarms == 0.05
    assert "48 of 60 choices (80%)" in alert.text
    assert "accuses nobody" in alert.advice and "56 boards" in alert.advice
    service.publish([standing(3, 30, -0.1)])
    assert not service.desk.open()


def test_agreement_is_found_again_after_the_board_is_gone(service: Rehearsal) -> None:
    service.report(FeedReport("hall", (played(LINE),)))
    (view,) = service.state.games()
    player = msgspec.structs.replace(
        standing(3, 60, 99.0).player, id=person_key(view.white)
    )
    service.publish([StandingMessage(player)])
    (alert,) = service.desk.open()
    assert alert.game == view.id
    service.publish(service.state.apply_step(GameGone(view.id)))
    assert not service.desk.open()
    service.publish([StandingMessage(player)])
    (alert,) = service.desk.open()
    assert alert.kind == "agreement" and alert.game is None


def test_a_small_field_needs_less_and_nothing_is_claimed_without_a_rating() -> None:
    service = Rehearsal()
    service.publish([standing(number, 29, -0.5) for number in range(8)])
    bare = msgspec.structs.replace(standing(2, 60, 99.0).player, agreement=None)
    service.publish([standing(1, 60, 99.0, elo=None), StandingMessage(bare)])
    assert not service.raised
    service.publish([standing(3, 44, 5.2)])
    assert len(service.desk.open()) == 1


def report(*games: GameReport) -> FeedReport:
    return FeedReport("hall", games, complete=True)


_ROUND = [played(QUIET, board=board) for board in range(1, 7)]


def _boards(plies: int, *, standing: int | None = None) -> FeedReport:
    """A round of six boards that have made so many plies each, but for one that stands
    still.
    """
    games = []
    for game in _ROUND:
        made = min(plies, 26) if game.headers.board == standing else plies
        games.append(msgspec.structs.replace(game, moves=game.moves[:made]))
    return FeedReport("hall", tuple(games))


def _report_plies(service: Rehearsal, plies: range, step_s: float, **how: int) -> None:
    for count in plies:
        service.wait(step_s)
        service.report(_boards(count, **how))


@pytest.mark.parametrize("pause_s", [60.0, 600.0])
def test_a_pause_of_the_source_blames_no_board(
    service: Rehearsal, pause_s: float
) -> None:
    """All boards come at once after it, one after the other: while the first ones move,
    the others still stand where they stood.
    """
    service.tick_s = 2.0
    _report_plies(service, range(1, 31), 2.0)
    service.wait(pause_s)
    caught_up = _boards(40)
    for game in caught_up.games:
        service.now_s += 0.001
        service.report(FeedReport("hall", (game,)))
        service.tick()
    service.wait(60)
    assert "stale" not in service.kinds()


def test_a_board_that_stands_still_is_found_after_a_pause_too(
    service: Rehearsal,
) -> None:
    service.tick_s = 2.0
    _report_plies(service, range(1, 31), 2.0, standing=5)
    service.wait(300)
    _report_plies(service, range(31, 70), 2.0, standing=5)
    (alert,) = (each for each in service.raised.values() if each.kind == "stale")
    assert alert.text.startswith("Board 5: no move by White for")


@pytest.mark.parametrize(
    "played_again, expected",
    [
        ("Nf3 Nc6", None),
        ("Nf3 Nf6", "Board 9: 2... Nc6 was reported first and is now Nf6."),
        ("Nf3", "Board 9: 2... Nc6 was taken back."),
    ],
)
def test_a_move_withdrawn_and_played_again_in_one_batch_is_no_correction(
    service: Rehearsal, played_again: str, expected: str | None
) -> None:
    service.report(report(played("e4 e5 Nf3 Nc6")))
    service.wait(60)
    batch: list[EventChange] = []
    for line in ("e4 e5", f"e4 e5 {played_again}"):
        for changes in service.state.apply_report(report(played(line))):
            batch += changes
    service.publish(batch)
    service.wait(3)
    assert [alert.text for alert in service.desk.open()] == (
        [expected] if expected else []
    )


Event = (
    GameReport
    | tuple[GameReport, ...]
    | FeedReport
    | FeedHealth
    | EngineHealth
    | float
    | str
)


def happens(service: Rehearsal, what: Event) -> None:
    """A source reports its games, a feed or the engines say how they are, time passes,
    the arbiter takes note of all alerts, or the service starts anew; ``forgetful``: its
    journal has the games alone.
    """
    match what:
        case FeedHealth():
            service.publish(service.state.update_feed_health(what))
        case EngineHealth():
            service.publish(service.state.update_engine_health(what))
        case GameReport():
            service.report(report(what))
        case tuple():
            service.report(report(*what))
        case FeedReport():
            service.report(what)
        case "acknowledge":
            for alert in service.desk.open():
                (message,) = service.desk.acknowledge(alert.id, service.now_s)
                assert message.alert.acknowledged_s == service.now_s
                service.messages.append(message)
        case str():
            service.restart(remembered=what != "forgetful")
        case _:
            service.wait(what)


def engines(
    *states: Literal["searching", "idle", "failed", "restarting"],
) -> EngineHealth:
    return EngineHealth(
        tuple(EngineState(index, state) for index, state in enumerate(states))
    )


def swap_colors(game: GameReport) -> GameReport:
    return change_headers(game, white=game.headers.black, black=game.headers.white)


def in_source(feed: str, line: str) -> FeedReport:
    return FeedReport(feed, (played(f"e4 e5 Nf3 Nc6 Bb5 a6 {line}"),), complete=True)


def problem(line: str, text: str) -> GameReport:
    return msgspec.structs.replace(played(line), problem=text)


def scored(line: str, result: Result) -> GameReport:
    """A game whose last move White stands better after by 4 pawns, with time on both
    clocks.
    """
    game = played(line, clocks=(3000.0,) * len(line.split()), result=result)
    last = msgspec.structs.replace(game.moves[-1], eval=Score(420))
    return msgspec.structs.replace(game, moves=(*game.moves[:-1], last))


FIFTY = "8/8/8/4k3/8/8/4K3/R7 w - - 97 80"
BLACK_BEGINS = "8/8/8/4k3/8/8/4K3/R7 b - - 0 1"
STALEMATE = "k7/8/1K6/8/8/8/8/2Q5 w - - 0 1"
DEAD = "8/8/8/8/8/3k4/1p6/K7 w - - 0 1"
SEVENTY_FIVE = "8/8/8/4k3/8/8/4K3/R7 w - - 146 100"
LATE_START = "8/8/8/4k3/8/8/4K3/R7 w - - 0 41"
MATING = "7k/8/6K1/8/8/8/8/R7 w - - 147 100"
AGAIN = "Nf3 Nf6 Ng1 Ng8"
ON = "e4 e5 Nf3 Nc6"
FIVE = f"{AGAIN} {AGAIN} {AGAIN} {AGAIN}"
SHUFFLE = "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1"
MATE = "f3 e5 g4 Qh4#"
SPANISH = "e4 e5 Nf3 Nc6 Bb5 a6"
HOUR = (3700.0, 3700.0, 3650.0, 3650.0, 3600.0, 3600.0)
QUEENS = "d4 d5 c4 e6 Nc3 Nf6"
EXCHANGED = "players-swapped warning Board 7 and Board 8 seem to be swapped"


def first_moves(*plies: int) -> tuple[GameReport, ...]:
    """A round of which each board has made so many."""
    line = LINE.split()
    boards = enumerate(plies, 1)
    return tuple(played(" ".join(line[:made]), board=board) for board, made in boards)


PERIODS = "40/7200:20/3600:900+30"


def after_moves(
    own_moves: int,
    white_s: float,
    black_s: float,
    time_control: str = "",
    result: Result = "*",
    before_s: float = 3800.0,
) -> GameReport:
    """A game in which each side has made so many moves, and what their clocks show;
    ``before_s``: what White's showed a move earlier.
    """
    plies = 2 * own_moves
    game = played(
        " ".join(QUIET.split()[:plies]), time_control=time_control, result=result
    )
    earlier_s = [5400.0 - 15 * ply for ply in range(plies - 4)]
    clocks = [*earlier_s, before_s, 1000.0, white_s, black_s]
    moves = [
        msgspec.structs.replace(move, clock_s=clock_s)
        for move, clock_s in zip(game.moves, clocks, strict=True)
    ]
    return msgspec.structs.replace(game, moves=tuple(moves))


#: What happens, and which one alert then stands: its kind, severity and some of its
#: words; none.
COURSES: dict[str, list[tuple[Event, str]]] = {
    "a position that can come the third time": [
        (
            played(SHUFFLE),
            "repetition look Ng8 would repeat the position for the third time",
        ),
        (
            played(f"{SHUFFLE} Ng8"),
            "repetition look is on the board for the third time",
        ),
        (played(f"{SHUFFLE} Ng8 e4"), ""),
    ],
    "a position that stands for the fourth time, though the third is known": [
        (
            played(f"{SHUFFLE} Ng8"),
            "repetition look is on the board for the third time",
        ),
        ("acknowledge", "repetition look is on the board for the third time"),
        (played(f"{SHUFFLE} Ng8 Nf3 Nf6 Ng1"), "repetition look"),
        (
            played(f"{SHUFFLE} Ng8 {AGAIN}"),
            "repetition look is on the board for the fourth time",
        ),
    ],
    "a position that has stood five times, until somebody rules": [
        (played(FIVE.removesuffix(" Ng8")), "repetition look for the fourth"),
        (played(FIVE), "drawn alarm with 8... Ng8: it is drawn, and no result"),
        (played(f"{FIVE} e4"), "drawn alarm with 8... Ng8: it is drawn, and play"),
        (30, "drawn alarm and play goes on"),
        (played(f"{FIVE} e4 e5 Nf3"), "drawn alarm with 8... Ng8"),
        ("forgetful", "drawn alarm with 8... Ng8"),
        ("acknowledge", ""),
        (played(f"{FIVE} {ON}"), ""),
        ("restart", ""),
        (played(f"{FIVE} {ON}", result="1-0"), "result warning with 8... Ng8, but"),
        (
            played(f"{FIVE} {ON}", result="1/2-1/2"),
            "result-corrected warning 1-0 is now",
        ),
    ],
    "a position that stood five times by a slip, which is corrected": [
        (played(f"{FIVE} e4 e5"), "drawn alarm five times with 8... Ng8"),
        (played(f"{FIVE.removesuffix('Ng8')}g6 e4 e5"), ""),
        (3, "correction warning 8... Ng8 was reported first and is now g6"),
        ("acknowledge", ""),
    ],
    "a position that has stood five times, until the draw is entered": [
        (played(f"{FIVE} e4"), "drawn alarm and play goes on"),
        (played(f"{FIVE} e4", result="1/2-1/2"), ""),
    ],
    "75 moves, until somebody rules": [
        (played("Rb1 Kd5", start_fen=SEVENTY_FIVE), "fifty-moves look 74 moves"),
        (
            played("Rb1 Kd5 Rb2 Ke5", start_fen=SEVENTY_FIVE),
            "drawn alarm with 101... Ke5",
        ),
        (
            played("Rb1 Kd5 Rb2 Ke5 Rb3", start_fen=SEVENTY_FIVE),
            "drawn alarm or a pawn move with 101... Ke5: it is drawn, and play",
        ),
        ("acknowledge", ""),
        (60, ""),
    ],
    "75 moves, of which the last mates": [
        (played("Rb1 Kg8", start_fen=MATING), "fifty-moves look 74 moves"),
        (played("Rb1 Kg8 Rb8#", start_fen=MATING), ""),
        (60, ""),
    ],
    "a dead position in which play goes on": [
        (played("Kxb2 Kd4", start_fen=DEAD), "drawn alarm can mate with 1. Kxb2"),
        (
            played("Kxb2 Kd4 Kb3", start_fen=DEAD),
            "drawn alarm with 1. Kxb2: it is drawn",
        ),
        (
            played("Kxb2 Kd4", start_fen=DEAD, result="0-1"),
            "result look with 1. Kxb2, but",
        ),
    ],
    "fifty moves": [
        (played("Ra2", start_fen=FIFTY), ""),
        (
            played("Ra2 Kd5", start_fen=FIFTY),
            "fifty-moves look next move can be the fiftieth",
        ),
        (
            played("Ra2 Kd5 Rb2", start_fen=FIFTY),
            "fifty-moves look 50 moves without a capture",
        ),
    ],
    "stalemate, and no draw": [
        (played("Qc7", start_fen=STALEMATE), ""),
        (90, "drawn warning stalemate with 1. Qc7: it is drawn, and no result"),
        (
            played("Qc7", start_fen=STALEMATE, result="1-0"),
            "result warning stalemate, but",
        ),
        (
            played("Qc7", start_fen=STALEMATE, result="1/2-1/2"),
            "result-corrected warning 1-0 is now 1/2-1/2",
        ),
    ],
    "a dead position, and no draw": [
        (played("Kxb2", start_fen=DEAD), ""),
        (90, "drawn warning neither side can mate with 1. Kxb2: it is drawn, and no"),
        (
            played("Kxb2", start_fen=DEAD, result="1-0"),
            "result look neither side can mate, but",
        ),
    ],
    "a flag that falls, and the result that it explains": [
        (played(SPANISH, clocks=(*(3000.0,) * 5, 0.0)), "flag alarm shows 0:00"),
        (played(SPANISH, clocks=(*(3000.0,) * 5, 0.0), result="1-0"), ""),
        (90, ""),
    ],
    "a flag that fell, and the increment, until somebody rules": [
        (after_moves(50, 900.0, 0.0, "90+30"), "flag alarm clock shows 0:00"),
        (
            after_moves(50, 900.0, 30.0, "90+30"),
            "flag alarm at move 50, and play went on",
        ),
        (
            after_moves(51, 900.0, 25.0, "90+30"),
            "flag alarm at move 50, and play went on",
        ),
        ("restart", "flag alarm at move 50, and play went on"),
        (after_moves(51, 900.0, 0.0, "90+30"), "flag alarm clock shows 0:00"),
        ("acknowledge", ""),
        ("restart", ""),
        (after_moves(52, 900.0, 20.0, "90+30"), ""),
        (after_moves(53, 900.0, 0.0, "90+30"), "flag alarm clock shows 0:00"),
    ],
    "a flag that fell, and a result that goes against it": [
        (after_moves(50, 0.0, 900.0), "flag alarm clock shows 0:00"),
        (
            after_moves(50, 30.0, 900.0, result="1-0"),
            "flag warning at move 50, but the result",
        ),
        (after_moves(50, 30.0, 900.0, result="0-1"), "result-corrected warning"),
    ],
    "an hour that comes after forty moves, when the first time is used up": [
        (after_moves(40, 40.0, 900.0, PERIODS, before_s=100.0), ""),
        (600, ""),
        (after_moves(40, 0.0, 900.0, PERIODS, before_s=100.0), ""),
        (600, ""),
        (after_moves(40, 3590.0, 900.0, PERIODS, before_s=100.0), ""),
        (3590, ""),
        (30, "flag look to move, had 59:50 left 1 h 00 min ago"),
    ],
    "an hour that comes after forty moves, at the next move": [
        (after_moves(40, 0.0, 900.0, "90 min/40 moves + 30 min"), ""),
        (after_moves(41, 1700.0, 900.0, "90 min/40 moves + 30 min", before_s=0.0), ""),
    ],
    "an hour of which no header knows": [
        (after_moves(40, 0.0, 900.0), "flag alarm clock shows 0:00"),
        (after_moves(41, 3500.0, 900.0, before_s=0.0), ""),
    ],
    "a flag before the time control, though the clock goes on with the hour": [
        (after_moves(35, 0.0, 900.0, PERIODS), "flag alarm clock shows 0:00"),
        (
            after_moves(36, 3500.0, 900.0, PERIODS, before_s=0.0),
            "flag alarm showed 0:00 at move 35, and play went on",
        ),
    ],
    "a flag that falls in a game that begins with move 41": [
        (
            played("Ra2 Kd5", start_fen=LATE_START, clocks=(0.0, 900.0)),
            "flag alarm shows 0:00",
        ),
        (
            played("Ra2 Kd5 Ra1", start_fen=LATE_START, clocks=(0.0, 900.0, 20.0)),
            "flag alarm showed 0:00 at move 41, and play went on",
        ),
    ],
    "a clock that is read anew while its player thinks": [
        (after_moves(45, 34.0, 900.0, "90+30"), ""),
        (30, ""),
        (after_moves(45, 20.0, 900.0, "90+30"), ""),
        (30, ""),
        (30, "flag look had 0:20 left 60 s ago"),
        (after_moves(45, 900.0, 900.0, "90+30"), ""),
    ],
    "a loss that the source puts down to time, and one that it does not": [
        (played(SPANISH), ""),
        (change_headers(played(SPANISH, result="1-0"), termination="Time forfeit"), ""),
        (90, ""),
        (played(SPANISH, result="1-0"), "last-move look may be missing"),
    ],
    "a game that its source calls a forfeit, and one that nobody played": [
        (played(""), ""),
        (change_headers(played("", result="1-0"), termination="forfeit"), ""),
        (90, ""),
        (played("", result="1-0"), "last-move look without any move"),
        ("acknowledge", ""),
        ("restart", ""),
        (60, ""),
    ],
    "a game that one side never began": [
        (played("e4"), ""),
        (played("e4", result="1-0"), ""),
        (90, "last-move look only one move: a forfeit"),
        (change_headers(played("e4", result="1-0"), termination="Unplayed"), ""),
    ],
    "moves after the result, of which one alert has the number": [
        (played(LINE), ""),
        (played(LINE, result="1-0"), ""),
        (10, ""),
        (
            played(f"{LINE} Re1", result="1-0"),
            "late-move look a move came after the result 1-0",
        ),
        (
            played(f"{LINE} Re1 b5 Bb3", result="1-0"),
            "late-move look 3 moves came after",
        ),
        ("restart", "late-move look 3 moves came after"),
        (
            played(f"{LINE} Re1 b5 Bb3 d6", result="1-0"),
            "late-move look 4 moves came after",
        ),
        ("acknowledge", ""),
        (played(f"{LINE} Re1 b5 Bb3 d6", result="1-0"), ""),
        (
            played(f"{LINE} Re1 b5 Bb3 d6 c3", result="1-0"),
            "late-move look 5 moves came",
        ),
    ],
    "a result that comes while a board has another game's moves": [
        (played(LINE), ""),
        (played(LINE, result="1-0"), ""),
        (10, ""),
        (
            played(f"{QUEENS} Bg5 Be7 e3 O-O Nf3 Nbd7", result="1-0"),
            "correction warning",
        ),
        (3, "correction warning e4 was reported first and is now d4"),
        ("acknowledge", ""),
        (played(f"{QUEENS} Bg5 Be7 e3 O-O Nf3 Nbd7 Rc1 c6", result="1-0"), ""),
        ("restart", ""),
        (played(f"{QUEENS} Bg5 Be7 e3 O-O Nf3 Nbd7 Rc1 c6 Bd3", result="1-0"), ""),
    ],
    "a last move that is corrected after the result, and moves that come then": [
        (played(LINE), ""),
        (played(LINE, result="1-0"), ""),
        (10, ""),
        (played(LINE.replace("Be7", "Bc5"), result="1-0"), "correction look"),
        ("acknowledge", ""),
        (10, ""),
        (
            played(LINE.replace("Be7", "Bc5 c3"), result="1-0"),
            "late-move look a move came",
        ),
    ],
    "moves entered again after the result": [
        (played(LINE), ""),
        (played(LINE, result="1-0"), ""),
        (10, ""),
        (played("", result="1-0"), "takeback warning"),
        (3, "takeback warning e4 was taken back"),
        ("acknowledge", ""),
        (played("d4", result="1-0"), ""),
        (played(f"{QUEENS} Bg5 Be7 e3 O-O Nf3 Nbd7", result="1-0"), ""),
    ],
    "a player who is absent at the customary default times": [
        (first_moves(1, 1, 1, 0), ""),
        (600, ""),
        (first_moves(2, 2, 3, 0), ""),
        (
            360,
            (
                "not-begun look Board 4: no move by Weiß, "
                "Anna 16 min after the round began"
            ),
        ),
        ("acknowledge", "not-begun look no move by Weiß"),
        (
            900,
            (
                "not-begun look Board 4: no move by Weiß, "
                "Anna 31 min after the round began"
            ),
        ),
        ("restart", "not-begun look no move by Weiß"),
        (first_moves(2, 2, 3, 1), "not-begun look no move by Schwarz, Bea"),
        (first_moves(2, 2, 3, 2), ""),
    ],
    "boards of which many are not connected": [
        (first_moves(1, 1, 0, 0), ""),
        (7200, ""),
    ],
    "an adjourned game, whose clock stands until it goes on": [
        (played(SPANISH, clocks=HOUR), ""),
        (change_headers(played(SPANISH, clocks=HOUR), termination="Adjourned"), ""),
        (7200, ""),
        (played(SPANISH, clocks=HOUR), ""),
        (3610, ""),
        (10, "flag look the time must be up"),
        (80, "flag warning the time must be up"),
        (change_headers(played(SPANISH, clocks=HOUR), termination="adjourned"), ""),
    ],
    "a result against the evaluation": [
        (scored(SPANISH, "*"), ""),
        (20, ""),
        (scored(SPANISH, "0-1"), "result look the loser was 4 pawns ahead"),
    ],
    # Automatic results are wrong at times (lila issue 20926).
    "a result corrected, and one withdrawn": [
        (played("e4 e5"), ""),
        (played("e4 e5", result="1-0"), ""),
        (30, ""),
        (
            played("e4 e5", result="1/2-1/2"),
            "result-corrected warning 1-0 is now 1/2-1/2",
        ),
        (played("e4 e5"), ""),
        (10, "result-corrected warning the result 1/2-1/2 was withdrawn"),
    ],
    "a mate without a result has none that could be corrected": [
        (played("f3 e5 g4"), ""),
        (played(MATE), ""),
        (
            played("f3 e5 g4 d5"),
            "correction look Qh4# was reported first and is now d5",
        ),
        (60, "correction look"),
    ],
    "a wrong result after a mate, and its correction": [
        (played("f3 e5 g4"), ""),
        (played(MATE), ""),
        (played(MATE, result="0-1"), ""),
        (played(MATE, result="1-0"), "result alarm mate is on the board, which is 0-1"),
        (played(MATE, result="0-1"), "result-corrected warning 1-0 is now 0-1"),
    ],
    "a slip that happens again after somebody took note of it": [
        (played(LINE), ""),
        (played(LINE.replace("Be7", "Bc5")), "correction look Be7 was reported first"),
        ("acknowledge", ""),
        (10, ""),
        (played(LINE.replace("Be7", "b5")), "correction look Bc5 was reported first"),
    ],
    "a slip of which a restart knows nothing else": [
        (played(LINE), ""),
        (played(LINE.replace("Be7", "Bc5")), "correction look Be7 was reported first"),
        ("forgetful", "correction look Be7 was reported first"),
        (60, "correction look Be7 was reported first"),
        ("acknowledge", ""),
    ],
    "a deep correction, until somebody takes note": [
        (played(LINE), ""),
        (60, ""),
        (played("e4 e5 Nf3 Nc6 Bc4 Bc5 c3 Nf6 d3 d6 O-O O-O"), ""),
        (
            3,
            (
                "correction warning Bb5 was reported first and is now Bc4; "
                "the moves after it are gone"
            ),
        ),
        ("acknowledge", ""),
        (60, ""),
    ],
    (
        "sources that contradict each other for a minute, "
        "as one may be late with a correction"
    ): [
        (in_source("hall", ""), ""),
        (in_source("cloud", ""), ""),
        (in_source("hall", "Ba4 Nf6 O-O Be7"), ""),
        (in_source("cloud", "Bxc6 dxc6 O-O f6"), ""),
        (30, ""),
        (60, "sources-differ warning 4. Ba4 in hall, but Bxc6 in cloud"),
        (in_source("cloud", "Ba4 Nf6 O-O Be7"), ""),
    ],
    "sources that go different ways, each of them ahead in turn": [
        (in_source("hall", ""), ""),
        (in_source("cloud", ""), ""),
        (in_source("hall", "Ba4"), ""),
        (in_source("cloud", "Bxc6 dxc6"), ""),
        (5, ""),
        (in_source("hall", "Ba4 Nf6"), ""),
        (5, ""),
        (in_source("cloud", "Bxc6 dxc6 O-O"), ""),
        (5, ""),
        (in_source("hall", "Ba4 Nf6 O-O Be7"), ""),
        (5, ""),
        (in_source("cloud", "Bxc6 dxc6 O-O f6 d4"), ""),
        (61, "sources-differ warning 4. Bxc6 in cloud, but Ba4 in hall"),
        (in_source("hall", "Bxc6 dxc6 O-O f6 d4"), ""),
        (10, ""),
    ],
    "what one of two sources corrects, before the other has it": [
        (in_source("hall", "Ba4"), ""),
        (in_source("cloud", "Ba4"), ""),
        (
            in_source("hall", "Bxc6"),
            "correction look 4. Ba4 was reported first and is now Bxc6",
        ),
        (5, "correction look 4. Ba4 was reported first and is now Bxc6"),
        (
            in_source("cloud", "Bxc6"),
            "correction look 4. Ba4 was reported first and is now Bxc6",
        ),
    ],
    "a move taken back where Black began": [
        (played("Kd5 Ra2", start_fen=BLACK_BEGINS), ""),
        (played("Kd5", start_fen=BLACK_BEGINS), ""),
        (3, "takeback look 2. Ra2 was taken back"),
    ],
    "players who change seats": [
        (played("e4 e5 Nf3 Nc6"), ""),
        (
            swap_colors(played("e4 e5 Nf3 Nc6")),
            "players-swapped warning it was the other way round",
        ),
    ],
    "two boards that have each other's moves, until they have their own": [
        ((played(LINE, board=7), played(QUEENS, board=8)), ""),
        (20, ""),
        ((played(QUEENS, board=7), played(QUEENS, board=8)), ""),
        ((played(QUEENS, board=7), played(f"{LINE} Re1", board=8)), EXCHANGED),
        ((played(f"{QUEENS} Bg5", board=7), played(f"{LINE} Re1", board=8)), EXCHANGED),
        ((played(f"{LINE} Re1", board=7), played(f"{LINE} Re1", board=8)), EXCHANGED),
        ((played(f"{LINE} Re1", board=7), played(f"{QUEENS} Bg5", board=8)), ""),
        (20, ""),
        ((played(QUEENS, board=7), played(f"{LINE} Re1", board=8)), EXCHANGED),
    ],
    "a board that its source loses, until it is back": [
        ((played("e4 e5 Nf3"), four_boards()[0]), ""),
        ((four_boards()[0],), "vanished warning state is shown, after 2. Nf3"),
        (600, "vanished warning state is shown, after 2. Nf3"),
        ((played("e4 e5 Nf3"), four_boards()[0]), ""),
    ],
    "a board kept while its file is uploaded": [
        (played("e4 e5 Nf3"), ""),
        (problem("e4 e5 Nf3", f"{IN_DOUBT} less of it"), ""),
        (problem("e4 e5 Nf3", f"{NOT_READ} white.elo (a list)"), ""),
    ],
    "an illegal move that stands is no lost game": [
        (
            problem("e4 e5 Nf3", f"illegal move 2...Qh6 {STANDS}"),
            "illegal-stands warning the game went on",
        )
    ],
    "a feed that stumbles, one that is silent, and one that fails": [
        (FeedHealth("hall", "retrying", "again in 4 s"), ""),
        (10, ""),
        (FeedHealth("hall", "live"), ""),
        (60, ""),
        (FeedHealth("hall", "stale", "nothing for 2 min"), ""),
        (20, "feed warning Feed hall reports nothing new"),
        (FeedHealth("hall", "failed", "no such round"), "feed alarm no such round"),
        (FeedHealth("hall", "live"), ""),
    ],
    "a feed that failed in the run before, until it is live": [
        (FeedHealth("hall", "failed", "gone"), "feed alarm gone"),
        ("restart", "feed alarm gone"),
        (FeedHealth("hall", "connecting"), "feed alarm gone"),
        (FeedHealth("hall", "retrying"), "feed alarm gone"),
        (1, "feed alarm gone"),
        (FeedHealth("hall", "live"), ""),
    ],
    "an engine that failed in the run before": [
        (EngineHealth(problem="the engine died"), "engine warning the engine died"),
        ("restart", "engine warning the engine died"),
        (1, ""),
    ],
    "a source that has not begun is mentioned after ten minutes": [
        (FeedHealth("hall", "waiting", "nothing there yet (404)"), ""),
        (500, ""),
        (200, "feed look is not there yet"),
    ],
    "a part of the service that names itself": [
        (
            FeedHealth("journal", "failed", "journal x: is no file", part=True),
            "feed alarm Journal x: is",
        ),
        (FeedHealth("journal", "live", part=True), ""),
    ],
    "a part of the service that does not": [
        (
            FeedHealth("broker b:1883", "failed", "refuses", part=True),
            "feed alarm Broker b:1883: ",
        )
    ],
    "a part of the service without a word": [
        (FeedHealth("alerts", "failed", part=True), "feed alarm Alerts: has failed.")
    ],
    "engines that fail": [
        (engines("searching", "failed"), "engine warning Engine 2 of 2"),
        (engines("failed", "failed"), "engine alarm Engine 1, 2 of 2 is not running."),
        (engines("idle", "restarting"), ""),
        (30, "engine warning Engine 2 of 2"),
    ],
}


def test_a_move_after_stalemate_is_illegal_and_the_draw_is_said_at_once(
    service: Rehearsal,
) -> None:
    over = played("Qc7", start_fen=STALEMATE)
    over = msgspec.structs.replace(over, problem="illegal move 1...Ka7")
    service.report(report(over))
    told = {each.kind: each.text for each in service.desk.open()}
    assert told.keys() == {"illegal-move", "drawn"}
    assert "stalemate with 1. Qc7: it is drawn, and play goes on" in told["drawn"]


@pytest.mark.parametrize(
    ("steps", "ended"),
    [
        (
            COURSES["a board that its source loses, until it is back"],
            "back in its source",
        ),
        (
            [
                (after_moves(40, 0.0, 900.0, before_s=100.0), ""),
                (after_moves(40, 3590.0, 900.0, before_s=100.0), ""),
            ],
            "the clock shows 59:50",
        ),
    ],
)
def test_how_it_ended_is_said_of_what_it_was_about(
    steps: list[Any], ended: str
) -> None:
    service = Rehearsal()
    for what, _ in steps:
        happens(service, what)
    assert service.messages[-1].alert.ended == ended


@pytest.mark.parametrize("course", COURSES)
def test_what_stands_after_each_thing_that_happens(
    service: Rehearsal, course: str
) -> None:
    for what, stands in COURSES[course]:
        open_before = {each.id for each in service.desk.open()}
        service.raised.clear()
        happens(service, what)
        brief = {
            id: each.text
            for id, each in service.raised.items()
            if each.cleared_s is not None and id not in open_before
        }
        assert not brief, "raised and over at once"
        found = [(each.kind, each.severity, each.text) for each in service.desk.open()]
        kind, _, rest = stands.partition(" ")
        severity, _, words = rest.partition(" ")
        assert [each[:2] for each in found] == ([(kind, severity)] if stands else []), (
            what
        )
        assert all(words in text for *_, text in found), found


def is_of_games(course: str) -> bool:
    events = (what for what, _ in COURSES[course])
    return not any(isinstance(what, FeedHealth | EngineHealth) for what in events)


#: What a source or an engine says of itself is said again after a restart, by itself.
OF_GAMES = list(filter(is_of_games, COURSES))


def list_open_alerts(service: Rehearsal) -> list[tuple[str, str, str]]:
    return [(each.kind, each.severity, each.text) for each in service.desk.open()]


@pytest.mark.parametrize("course", OF_GAMES)
def test_law_a_restart_after_each_thing_changes_nothing_and_nobody_else_is_told(
    service: Rehearsal, course: str
) -> None:
    plain = Rehearsal()
    for what, _ in COURSES[course]:
        for each in (plain, service):
            each.raised.clear()
            happens(each, what)
        assert service.raised == plain.raised, "nothing is raised a second time"
        service.restart(remembered=what != "forgetful")
        assert list_open_alerts(service) == list_open_alerts(plain), what
        for visibility in (Visibility.VENUE, Visibility.PUBLIC):
            seen = StreamFilter(visibility=visibility)
            assert snapshot(service.state, seen).alerts == ()


#: Of these the moves that stand decide, however they came about.
BY_MOVES = {"drawn", "repetition", "fifty-moves", "result"}


def is_decided_by_moves(course: str) -> bool:
    kinds = {text.split(" ")[0] for _, text in COURSES[course]}
    events = [what for what, _ in COURSES[course]]
    return not kinds.isdisjoint(BY_MOVES) and "acknowledge" not in events


@pytest.mark.parametrize(
    "course", [course for course in OF_GAMES if is_decided_by_moves(course)]
)
def test_law_moves_taken_back_and_played_again_leave_what_the_moves_say(
    service: Rehearsal, course: str
) -> None:
    plain = Rehearsal()
    for what, _ in COURSES[course]:
        if isinstance(what, GameReport):
            shorter = msgspec.structs.replace(what, moves=what.moves[:-3], result="*")
            happens(service, shorter)
        for each in (plain, service):
            happens(each, what)
        expected = [alert for alert in list_open_alerts(plain) if alert[0] in BY_MOVES]
        by_moves = [
            alert for alert in list_open_alerts(service) if alert[0] in BY_MOVES
        ]
        assert by_moves == expected, what
