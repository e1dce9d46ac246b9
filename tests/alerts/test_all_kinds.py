"""Each alert is raised by a rehearsal with exactly that mistake, and by no other."""

from __future__ import annotations

import msgspec
import pytest

from live.events import (
    IN_DOUBT,
    STANDS,
    EngineHealth,
    EngineInfo,
    EngineMessage,
    EngineState,
    FeedHealth,
    FeedReport,
    GameReport,
    PlayerMethods,
    PlayerView,
    Score,
    Share,
    StandingMessage,
)
from live.feeds.board_mistakes import MISTAKES, Mistake
from live.feeds.demo.demo_feed import games as demo_games
from live.feeds.game_timeline import PlannedIncident
from tests.alerts.games import four_boards, played
from tests.alerts.hall import START_S, Rehearsal

#: Plies at which a mistake is made with board 1, which has 30 or more.
PLY = 21


def test_clean_boards_raise_nothing() -> None:
    hall = Rehearsal()
    hall.play([*four_boards(), played("f3 e5 g4 Qh4#", result="0-1")])
    assert all(view.result != "*" for view in hall.keeper.games())
    assert not hall.raised


@pytest.mark.parametrize("mistake", [each for each in MISTAKES if each != "stale"])
def test_a_mistake_raises_its_alert_and_no_other(mistake: Mistake) -> None:
    games = four_boards()
    if mistake == "result":
        games.append(played("f3 e5 g4 Qh4#", result="0-1"))
        incident = PlannedIncident(mistake, 4, 1)
    else:
        incident = PlannedIncident(mistake, 0, PLY)
    hall = Rehearsal()
    hall.play(games, [incident])
    assert hall.kinds() == [mistake]
    (alert,) = hall.raised.values()
    assert alert.game is not None
    view = hall.keeper.game(alert.game)
    assert view is not None and view.board == incident.game + (1 if mistake != "result" else 5)
    assert alert.text.startswith(f"Board {view.board}: ")
    assert alert.text.endswith(".") and alert.advice.endswith(".")


def test_a_board_that_stands_still_while_others_move() -> None:
    """It is told by its pace long before the clock, too, says that something is wrong."""
    hall = Rehearsal()
    hall.play(four_boards(), [PlannedIncident("stale", 0, PLY)])
    hall.wait(3 * 3600)
    assert [alert.kind for alert in hall.raised.values()] == ["stale", "flag"]


@pytest.mark.parametrize("speed", [1.0, 30.0, 100.0])
def test_a_long_think_in_the_opening_is_no_standstill_at_any_pace(speed: float) -> None:
    hall = Rehearsal()
    hall.tick_s = max(1.0, 30.0 / speed)
    hall.play(demo_games(), speed=speed)
    assert "stale" not in hall.kinds()


def test_a_board_that_stands_still_is_told_in_fast_playback_as_soon_by_its_clock() -> None:
    seen = []
    for speed in (1.0, 60.0):
        hall = Rehearsal()
        hall.tick_s = 30.0 / speed
        hall.play(four_boards(), [PlannedIncident("stale", 0, PLY)], speed=speed)
        (alert,) = (each for each in hall.raised.values() if each.kind == "stale")
        seen.append((alert.first_seen_s - START_S) * speed)
    assert seen[1] == pytest.approx(seen[0], rel=0.02)


@pytest.mark.parametrize("kind, alert", [("slip", "correction"), ("takeback", "takeback")])
def test_a_slip_and_a_takeback_raise_theirs(kind: str, alert: str) -> None:
    incident = PlannedIncident("slip" if kind == "slip" else "takeback", 1, 12)
    hall = Rehearsal()
    hall.play(four_boards(), [incident])
    assert hall.kinds() == [alert]
    (told,) = hall.raised.values()
    assert told.severity == "look" and told.ply == 12
    # Six plies stand upon it by now: nothing is left to look at.
    assert told.cleared_s is not None and not hall.desk.open()


def test_a_deep_correction_stays_until_somebody_takes_note() -> None:
    hall = Rehearsal()
    told = "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7"
    hall.report(FeedReport("hall", (played(told),)))
    hall.wait(60)
    hall.report(FeedReport("hall", (played("e4 e5 Nf3 Nc6 Bc4 Bc5 c3 Nf6 d3 d6 O-O O-O"),)))
    (alert,) = hall.desk.open()
    assert (alert.kind, alert.severity, alert.ply) == ("correction", "warning", 5)
    assert "Bb5 was told first and is now Bc4, 6 plies with it" in alert.text
    (message,) = hall.desk.acknowledge(alert.id, hall.now_s)
    assert message.alert.cleared_s == hall.now_s
    assert not hall.desk.open()
    hall.wait(60)
    assert not hall.desk.open()


def test_a_position_that_can_come_the_third_time() -> None:
    hall = Rehearsal()
    shuffle = "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1"
    hall.report(FeedReport("hall", (played(shuffle),)))
    (alert,) = hall.desk.open()
    assert alert.kind == "repetition"
    assert "Ng8 would bring the position for the third time" in alert.text
    hall.report(FeedReport("hall", (played(shuffle + " Ng8"),)))
    (alert,) = hall.desk.open()
    assert "stands for the third time" in alert.text
    hall.report(FeedReport("hall", (played(shuffle + " Ng8 e4"),)))
    assert not hall.desk.open()


def test_fifty_moves() -> None:
    hall = Rehearsal()
    fen = "8/8/8/4k3/8/8/4K3/R7 w - - 97 80"
    hall.report(FeedReport("hall", (played("Ra2", start_fen=fen),)))
    assert not hall.desk.open()
    hall.report(FeedReport("hall", (played("Ra2 Kd5", start_fen=fen),)))
    (alert,) = hall.desk.open()
    assert alert.kind == "fifty-moves" and "next move can be the fiftieth" in alert.text
    hall.report(FeedReport("hall", (played("Ra2 Kd5 Rb2", start_fen=fen),)))
    (alert,) = hall.desk.open()
    assert "50 moves without a capture or a pawn move" in alert.text


@pytest.mark.parametrize(
    "line, fen, severity, says",
    [
        ("Qc7", "k7/8/1K6/8/8/8/8/2Q5 w - - 0 1", "warning", "it is stalemate"),
        ("Kxb2", "8/8/8/8/8/3k4/1p6/K7 w - - 0 1", "look", "neither side can mate"),
    ],
)
def test_a_drawn_position_and_no_draw_told(line: str, fen: str, severity: str, says: str) -> None:
    hall = Rehearsal()
    hall.report(FeedReport("hall", (played(line, start_fen=fen),)))
    assert not hall.desk.open()
    hall.wait(90)
    (alert,) = hall.desk.open()
    assert (alert.kind, alert.severity) == ("result", "warning")
    assert says in alert.text and "no result" in alert.text
    hall.report(FeedReport("hall", (played(line, start_fen=fen, result="1-0"),)))
    (alert,) = hall.desk.open()
    assert (alert.kind, alert.severity) == ("result", severity)
    hall.report(FeedReport("hall", (played(line, start_fen=fen, result="1/2-1/2"),)))
    assert not hall.desk.open()


def test_a_feed_that_fails_is_told_at_once_and_one_that_stumbles_is_not() -> None:
    hall = Rehearsal()
    hall.keeper.feed_health(FeedHealth("hall", "retrying", "again in 4 s"))
    hall.wait(10)
    hall.keeper.feed_health(FeedHealth("hall", "live"))
    hall.wait(60)
    assert not hall.raised
    hall.keeper.feed_health(FeedHealth("hall", "stale", "nothing for 2 min"))
    hall.wait(20)
    (alert,) = hall.desk.open()
    assert (alert.kind, alert.severity, alert.feed) == ("feed", "warning", "hall")
    hall.keeper.feed_health(FeedHealth("hall", "failed", "no such round"))
    (alert,) = hall.desk.open()
    assert alert.severity == "alarm" and "no such round" in alert.text
    hall.keeper.feed_health(FeedHealth("hall", "live"))
    assert not hall.desk.open()
    assert hall.kinds() == ["feed"]


@pytest.mark.parametrize(
    ("part", "detail", "text"),
    [
        ("journal", "journal x.sqlite: is a folder. Name another", "Journal x.sqlite: is a folder"),
        ("broker b:1883", "refuses the password", "Broker b:1883: refuses the password."),
        ("alerts", "", "Alerts: has failed."),
    ],
)
def test_a_part_of_the_service_is_no_feed_that_is_not_reached(
    part: str, detail: str, text: str
) -> None:
    hall = Rehearsal()
    hall.keeper.feed_health(FeedHealth(part, "failed", detail, part=True))
    (alert,) = hall.desk.open()
    assert alert.text.startswith(text) and "oard" not in alert.advice
    hall.keeper.feed_health(FeedHealth(part, "live", part=True))
    assert not hall.desk.open()


def test_an_engine_that_fails() -> None:
    hall = Rehearsal()
    states = [EngineState(0, "searching"), EngineState(1, "failed")]
    hall.keeper.engine_health(EngineHealth(tuple(states)))
    (alert,) = hall.desk.open()
    assert (alert.kind, alert.severity) == ("engine", "warning")
    hall.keeper.engine_health(EngineHealth((EngineState(0, "failed"), EngineState(1, "failed"))))
    (alert,) = hall.desk.open()
    assert alert.severity == "alarm" and alert.text == "Engine 1, 2 of 2 does not run."
    hall.keeper.engine_health(EngineHealth((EngineState(0, "idle"), EngineState(1, "restarting"))))
    assert not hall.desk.open()
    hall.wait(30)
    assert len(hall.desk.open()) == 1


def standing(number: int, share: float, moves: int, elo: int | None = 2000) -> StandingMessage:
    view = PlayerView(
        f"p{number}",
        f"Player {number}",
        elo,
        3,
        moves,
        None,
        None,
        *(None,) * 6,
        methods=PlayerMethods(first_choice=Share(share, None, None, moves)),
    )
    return StandingMessage(view)


def test_agreement_far_outside_a_players_range() -> None:
    hall = Rehearsal()
    engine = EngineInfo("Stockfish 19 Lite WASM Multithreaded", "100000 nodes", 2200, "field")
    hall._published([EngineMessage(engine)])
    hall._published([standing(number, 0.48, 60) for number in range(112)])
    assert not hall.raised
    hall._published([standing(3, 0.62, 60)])
    assert not hall.raised  # among 112 players somebody gets so far
    hall._published([standing(3, 0.80, 60)])
    (alert,) = hall.desk.open()
    assert (alert.kind, alert.severity, alert.player) == ("agreement", "look", "Player 3")
    told = alert.agreement
    assert told is not None and (told.moves, told.boards) == (60, 56)
    assert told.z > 3.4 and told.false_alarms == 0.05
    assert "48 of 60 moves (80%)" in alert.text
    assert "accuses nobody" in alert.advice and "56 boards" in alert.advice
    hall._published([standing(3, 0.5, 90)])
    assert not hall.desk.open()


def test_another_engine_is_held_to_the_field() -> None:
    hall = Rehearsal()
    hall._published([EngineMessage(EngineInfo("Other", "depth 9", 2200, "field"))])
    hall._published([standing(1, 0.9, 60)])
    assert not hall.raised  # there is nobody to be compared with
    hall._published([standing(number, 0.35, 60) for number in range(2, 30)])
    hall._published([standing(1, 0.7, 60)])
    (alert,) = hall.desk.open()
    assert alert.agreement is not None
    assert alert.agreement.expected == pytest.approx(0.35, abs=0.01)
    assert alert.agreement.rests_on.startswith("the 28 other players")


def test_a_player_without_a_rating_is_held_to_nothing() -> None:
    hall = Rehearsal()
    engine = EngineInfo("Stockfish 19 Lite WASM Multithreaded", "100000 nodes", 2200, "field")
    hall._published([EngineMessage(engine), standing(1, 1.0, 99, elo=None)])
    assert not hall.raised


def test_a_result_against_the_evaluation() -> None:
    hall = Rehearsal()
    game = played("e4 e5 Nf3 Nc6 Bb5 a6", clocks=(3000.0,) * 6)
    scored = msgspec.structs.replace(game.moves[-1], eval=Score(420))
    game = msgspec.structs.replace(game, moves=(*game.moves[:-1], scored))
    hall.report(FeedReport("hall", (game,)))
    hall.wait(20)
    hall.report(FeedReport("hall", (msgspec.structs.replace(game, result="0-1"),)))
    (alert,) = hall.desk.open()
    assert alert.kind == "result" and alert.severity == "look"
    assert "the loser stood better by 4 pawns" in alert.text


def report(*games: GameReport) -> FeedReport:
    return FeedReport("hall", games, complete=True)


def test_a_result_that_is_corrected_is_reported_and_withdrawing_one_after_a_while() -> None:
    """Automatic results are wrong at times (lila issue 20926)."""
    game = played("e4 e5", result="1-0")
    hall = Rehearsal()
    hall.report(report(msgspec.structs.replace(game, result="*")))
    hall.report(report(game))
    hall.wait(30)
    hall.report(report(msgspec.structs.replace(game, result="1/2-1/2")))
    (alert,) = (each for each in hall.raised.values() if each.kind == "result-corrected")
    assert "the result 1-0 is now 1/2-1/2" in alert.text
    hall.report(report(msgspec.structs.replace(game, result="*")))
    hall.wait(10)
    (alert,) = (each for each in hall.raised.values() if each.kind == "result-corrected")
    assert "the result 1/2-1/2 was withdrawn" in alert.text


def test_players_who_change_seats_are_reported() -> None:
    game = played("e4 e5 Nf3 Nc6", result="*")
    told = game.headers
    swapped = msgspec.structs.replace(told, white=told.black, black=told.white)
    hall = Rehearsal()
    hall.report(report(game))
    hall.report(report(msgspec.structs.replace(game, headers=swapped)))
    assert hall.kinds() == ["players-swapped"]


def test_a_board_that_its_source_loses_is_kept_and_reported_until_it_is_back() -> None:
    one, other = played("e4 e5 Nf3", result="*"), four_boards()[0]
    hall = Rehearsal()
    hall.report(report(one, other))
    hall.report(report(other))
    (alert,) = hall.raised.values()
    assert alert.kind == "vanished" and "2. Nf3 the last of 3 plies" in alert.text
    hall.wait(3600)
    assert hall.kinds() == ["vanished"]
    hall.report(report(one, other))
    (alert,) = (each for each in hall.raised.values() if each.kind == "vanished")
    assert alert.cleared_s is not None


def test_a_board_kept_while_its_file_is_uploaded_raises_nothing() -> None:
    game = played("e4 e5 Nf3", result="*")
    hall = Rehearsal()
    hall.report(report(game))
    hall.report(report(msgspec.structs.replace(game, problem=f"{IN_DOUBT} less of it")))
    assert not hall.raised


@pytest.mark.parametrize(("waited_s", "raised"), [(500, False), (700, True)])
def test_a_source_that_has_not_begun_is_mentioned_after_ten_minutes(
    waited_s: float, raised: bool
) -> None:
    hall = Rehearsal()
    hall.keeper.feed_health(FeedHealth("hall", "waiting", "nothing there yet (404)"))
    hall.wait(waited_s)
    assert [alert.severity for alert in hall.raised.values()] == ["look"] * raised


def test_an_illegal_move_that_stands_is_no_lost_game() -> None:
    game = played("e4 e5 Nf3", result="*")
    hall = Rehearsal()
    hall.report(
        report(msgspec.structs.replace(game, problem=f"illegal move Qh6 at ply 4 {STANDS}"))
    )
    (alert,) = hall.raised.values()
    assert alert.kind == "illegal-stands" and "the game went on" in alert.text
