"""The desk: the list follows from the messages, and an arbiter's word counts until it is new."""

from __future__ import annotations

import msgspec
import pytest

from live.alerts.alert_desk import NOTE_CHARS
from live.events import (
    Alert,
    EngineHealth,
    EngineInfo,
    EngineMessage,
    EngineState,
    FeedHealth,
    FeedReport,
    GoneMessage,
    MoveMessage,
    PlayerMethods,
    PlayerView,
    Score,
    Share,
    StandingMessage,
)
from live.feeds.board_mistakes import MISTAKES, Mistake
from live.feeds.demo.demo_feed import games as demo_games
from live.feeds.game_timeline import PlannedIncident
from live.games.update_plan import GameGone
from tests.alerts.games import four_boards, played
from tests.alerts.hall import START_S, Rehearsal

LINE = "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7"


def illegal(hall: Rehearsal) -> Alert:
    """A board with an illegal move."""
    hall.play([played(LINE)], [PlannedIncident("illegal-move", 0, 5)])
    (alert,) = hall.desk.open()
    return alert


def test_messages_make_the_list() -> None:
    hall = Rehearsal()
    wrong = [
        PlannedIncident("slip", 1, 12),
        PlannedIncident("clock-still", 0, 11),
        PlannedIncident("flag", 2, 20),
    ]
    hall.play(four_boards(), wrong)
    hall.keeper.feed_health(FeedHealth("hall", "failed", "gone"))
    held: dict[str, Alert] = {}
    for message in hall.messages:
        if message.alert.cleared_s is None:
            held[message.alert.id] = message.alert
        else:
            del held[message.alert.id]
    assert held and held == {alert.id: alert for alert in hall.desk.open()}
    over = {alert.id for alert in hall.desk.history()}
    assert over and all(alert.cleared_s is not None for alert in hall.desk.history())


def test_what_lasts_stays_when_it_is_acknowledged_and_goes_with_its_cause() -> None:
    hall = Rehearsal()
    alert = illegal(hall)
    (message,) = hall.desk.acknowledge(alert.id, hall.now_s, "phoned the operator")
    assert message.alert.acknowledged_s == hall.now_s
    hall.wait(60)
    (still,) = hall.desk.open()
    assert (still.note, still.first_seen_s) == ("phoned the operator", alert.first_seen_s)
    hall.report(FeedReport("hall", (played(LINE),)))
    assert not hall.desk.open()
    (over,) = hall.desk.history()
    assert over.note == "phoned the operator"


def test_what_is_past_and_happens_again_asks_for_notice_again() -> None:
    hall = Rehearsal()
    told = [LINE, LINE.replace("Be7", "Bc5"), LINE.replace("Be7", "b5")]
    hall.report(FeedReport("hall", (played(told[0]),)))
    hall.report(FeedReport("hall", (played(told[1]),)))
    (alert,) = hall.desk.open()
    hall.desk.acknowledge(alert.id, hall.now_s)
    assert not hall.desk.open()
    hall.wait(10)
    assert not hall.desk.open()
    hall.report(FeedReport("hall", (played(told[2]),)))
    (again,) = hall.desk.open()
    assert again.id == alert.id and again.acknowledged_s is None


def test_a_mute_hides_and_nothing_more() -> None:
    hall = Rehearsal()
    alert = illegal(hall)
    for muted in ({"alert": alert.id}, {"kind": alert.kind}, {"game": alert.game}):
        (message,) = hall.desk.mute(**muted)
        assert message.alert.muted and hall.desk.open() == [message.alert]
        (message,) = hall.desk.mute(False, **muted)
        assert hall.desk.open() == [alert]


def test_a_note_is_kept_short_and_can_be_taken_away() -> None:
    hall = Rehearsal()
    alert = illegal(hall)
    (message,) = hall.desk.note(alert.id, "x" * 10_000)
    assert len(message.alert.note) == NOTE_CHARS
    assert hall.desk.note(alert.id, "")[0].alert == alert


def test_an_alert_that_is_over_is_left_alone() -> None:
    hall = Rehearsal()
    assert hall.desk.acknowledge("no such alert", hall.now_s) == []
    assert hall.desk.note("no such alert", "x") == []


def test_a_game_that_is_gone_takes_its_alerts_with_it() -> None:
    hall = Rehearsal()
    alert = illegal(hall)
    assert alert.game is not None
    hall.keeper.apply(GameGone(alert.game))
    assert not hall.desk.open()
    assert hall.messages[-1].alert.cleared_s == hall.now_s
    assert hall.desk.changes([GoneMessage("never heard of")], hall.now_s) == []


def test_a_machine_that_slept_holds_nothing_against_those_who_were_waited_for() -> None:
    hall = Rehearsal()
    line = played(LINE, clocks=(5400.0,) * 8 + (1200.0, 1200.0))
    hall.report(FeedReport("hall", (line,)))
    hall.wait(600)
    hall.now_s += 7200
    hall.wait(600)
    assert not hall.raised  # 20 minutes were waited through, of White's 20
    hall.wait(200)
    assert hall.kinds() == ["flag"]


def again(before: Rehearsal, *, recall: bool = True) -> Rehearsal:
    """What a desk shows after a restart, at the same time."""
    hall = Rehearsal()
    hall.now_s = before.now_s
    if recall:
        for at_s, change in before.told:
            hall.desk.recall(change, at_s)
    hall.desk.restore(
        [message.alert for message in before.messages], before.now_s - 1, before.now_s
    )
    return hall


def test_what_stood_in_a_run_before_stands_again_and_is_raised_once() -> None:
    before = Rehearsal()
    alert = illegal(before)
    before.messages += before.desk.acknowledge(alert.id, 5.0, "seen")
    hall = again(before)
    assert hall.desk.open() == before.desk.open()
    (held,) = hall.desk.open()
    assert (held.note, held.acknowledged_s, held.times) == ("seen", 5.0, 1)
    hall.tick()
    assert not hall.messages, "the cause stands: nothing is new"
    hall.desk.changes([GoneMessage(alert.game or "")], hall.now_s)
    assert not hall.desk.open()


def test_a_slip_that_an_arbiter_took_note_of_stays_settled_after_a_restart() -> None:
    before = Rehearsal()
    told = [LINE, LINE.replace("Be7", "Bc5"), LINE.replace("Be7", "b5")]
    for line in told[:2]:
        before.report(FeedReport("hall", (played(line),)))
    (alert,) = before.desk.open()
    before.messages += before.desk.acknowledge(alert.id, before.now_s)
    hall = again(before)
    hall.wait(60)
    assert not hall.messages and not hall.desk.open()
    assert [over.acknowledged_s for over in hall.desk.history()] == [before.now_s]


def test_a_slip_of_which_nothing_else_is_known_stands_until_somebody_takes_note() -> None:
    before = Rehearsal()
    for line in (LINE, LINE.replace("Be7", "Bc5")):
        before.report(FeedReport("hall", (played(line),)))
    (alert,) = before.desk.open()
    # The journal has lost how the game came about, and has the game.
    before.told[:] = [each for each in before.told if not isinstance(each[1], MoveMessage)]
    hall = again(before)
    hall.wait(60)
    assert hall.desk.open() == [alert]
    hall.desk.acknowledge(alert.id, hall.now_s)
    assert not hall.desk.open()


def test_a_source_that_failed_before_is_over_when_it_is_live_and_no_sooner() -> None:
    before = Rehearsal()
    before.keeper.feed_health(FeedHealth("hall", "failed", "gone"))
    (alert,) = before.desk.open()
    before.messages += before.desk.note(alert.id, "phoned")
    hall = again(before, recall=False)
    for state in ("connecting", "retrying"):
        hall.keeper.feed_health(FeedHealth("hall", state))
        hall.tick()
        assert [each.note for each in hall.desk.open()] == ["phoned"]
    hall.keeper.feed_health(FeedHealth("hall", "live"))
    assert not hall.desk.open()


def test_an_engine_that_failed_ended_with_its_run() -> None:
    before = Rehearsal()
    before.keeper.engine_health(EngineHealth(problem="the engine died"))
    assert [alert.kind for alert in before.desk.open()] == ["engine"]
    hall = again(before, recall=False)
    assert hall.desk.open() == before.desk.open()
    hall.tick()
    assert not hall.desk.open()


def test_time_in_which_nothing_ran_is_held_against_nobody() -> None:
    before = Rehearsal()
    line = played(LINE, clocks=(5400.0,) * 8 + (1200.0, 1200.0))
    before.report(FeedReport("hall", (line,)))
    before.wait(600)
    before.now_s += 7200  # the service was down
    hall = Rehearsal()
    hall.now_s = before.now_s
    for at_s, change in before.told:
        hall.desk.recall(change, at_s)
    hall.desk.restore([], before.now_s - 7200, before.now_s)
    hall.wait(600)
    assert not hall.raised  # 20 minutes were waited through, of White's 20
    hall.wait(200)
    assert hall.kinds() == ["flag"]


def test_a_muted_alert_comes_back_muted() -> None:
    before = Rehearsal()
    alert = illegal(before)
    before.messages += before.desk.mute(alert=alert.id)
    hall = again(before)
    assert [each.muted for each in hall.desk.open()] == [True]
    hall.wait(60)
    assert [each.muted for each in hall.desk.open()] == [True]


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
