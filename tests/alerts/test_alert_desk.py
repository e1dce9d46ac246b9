"""The desk: the list follows from the messages, and an arbiter's word counts until it is new."""

from __future__ import annotations

from live.alerts.alert_desk import NOTE_CHARS
from live.events import Alert, EngineHealth, FeedHealth, FeedReport, GoneMessage, MoveMessage
from live.feeds.game_timeline import PlannedIncident
from live.games.update_plan import GameGone
from tests.alerts.games import four_boards, played
from tests.alerts.hall import Rehearsal

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
