"""The incident log: one incident for each thing, with all that happened to it, never
rewritten.
"""

import re
from pathlib import Path

import msgspec

import live.manual
from live.messages.alerts import Alert
from live.watch.alert_kinds import CONTRADICTIONS, DOUBTS, NAMES, find_doubted_games
from live.watch.finding import sort_by_urgency
from live.watch.incident_log import (
    IncidentLog,
    has_words,
    kind_name,
    list_changes,
    log_lines,
    name_boards,
)

ALERT = Alert(
    id="flag g1",
    kind="flag",
    severity="warning",
    text="White's flag is about to fall",
    advice="Go there.",
    game="g1",
    first_seen_s=100.0,
)


def changed(**fields: object) -> Alert:
    return msgspec.structs.replace(ALERT, **fields)


def test_what_each_kind_doubts_is_what_the_manual_says() -> None:
    """``?`` on the results sheet, ``in_doubt`` in its CSV."""
    text = (Path(live.manual.__file__).parent / "arbiter.md").read_text("utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \| [^|]* \| ([^|]*?) \|", text, re.MULTILINE)
    assert {kind: doubt for kind, doubt in rows if doubt} == DOUBTS
    assert {kind for kind, _ in rows} == NAMES.keys()


def test_a_game_is_in_doubt_while_such_an_alert_stands() -> None:
    for kind in NAMES:
        games = find_doubted_games(
            [changed(kind=kind, game="g1"), changed(kind="stale", game="g2")]
        )
        assert games == ({"g1"} if kind in DOUBTS else set())
    exchanged = changed(kind="players-swapped", other_game="g2")
    assert find_doubted_games([exchanged]) == {"g1", "g2"}
    assert find_doubted_games([exchanged], CONTRADICTIONS) == set()


def test_one_open_thing_is_one_incident_with_all_that_happened_to_it() -> None:
    log = IncidentLog()
    worse = changed(severity="alarm", text="White's flag has fallen")
    taken = msgspec.structs.replace(worse, acknowledged_s=130.0, note="seen")
    muted = msgspec.structs.replace(taken, muted=True)
    over = msgspec.structs.replace(muted, cleared_s=150.0, ended="1-0")
    for at_s, alert in (
        (100, ALERT),
        (120, worse),
        (130, taken),
        (140, muted),
        (150, over),
    ):
        assert log.add_alert(alert, at_s)
    assert log.add_alert(changed(first_seen_s=160.0), 160.0)
    assert list_changes(ALERT, changed(severity="alarm")) == [
        ("changed", "! became !!")
    ]
    incident, another = log.incidents()
    assert (another.number, another.began_s, another.over_s) == (2, 160, None)
    assert [(each.at_s, each.what, each.text) for each in incident.changes] == [
        (100, "raised", ALERT.text),
        (120, "changed", f"! became !!: {worse.text}"),
        (130, "acknowledged", ""),
        (130, "noted", "seen"),
        (140, "muted", ""),
        (150, "over", "1-0"),
    ]
    assert (incident.began_s, incident.over_s, incident.severity) == (100, 150, "alarm")
    assert (incident.acknowledged_s, incident.note, incident.muted) == (
        130,
        "seen",
        True,
    )


def test_what_only_words_another_figure_is_no_record() -> None:
    log = IncidentLog()
    assert log.add_alert(ALERT, 100.0)
    assert not log.add_alert(changed(text="for 12 min"), 101.0)
    assert [each.text for each in log.open()] == ["for 12 min"]
    assert len(log.incidents()[0].changes) == 1


def test_what_has_passed_ends_as_it_is_taken_note_of() -> None:
    log = IncidentLog()
    log.add_alert(ALERT, 100.0)
    log.add_alert(changed(acknowledged_s=130.0, cleared_s=130.0, ended="1-0"), 130.0)
    (incident,) = log.incidents()
    assert [each.what for each in incident.changes] == ["raised", "acknowledged"]
    assert incident.over_s == 130


def test_each_thing_that_happens_is_one_line_of_the_log() -> None:
    log = IncidentLog()

    def lines(**fields: object) -> list[str]:
        alert = changed(**fields)
        return log_lines(alert, log.add_alert(alert, 100.0) or [])

    assert lines() == ["alert raised ! White's flag is about to fall"]
    assert lines(text="for 12 min") == []
    assert lines(muted=True)[0].startswith("alert muted ! ")
    assert lines()[0].startswith("alert shown again")
    assert lines(times=2)[0].startswith("alert raised again (2 times)")
    found = lines(times=2, acknowledged_s=3.0, note="asked\x1b[2J {0}")
    assert found[0].startswith("alert acknowledged") and "\x1b" not in "".join(found)
    assert lines(times=2)[0].startswith("alert noted ('')")
    assert lines(times=2, cleared_s=4.0)[-1].startswith("alert over")
    assert log.open() == []
    # An end whose beginning was lost.
    assert lines(cleared_s=5.0)[-1].startswith("alert over")
    assert lines() == ["alert raised ! White's flag is about to fall"]


def test_what_comes_with_every_poll_does_not_fill_the_log() -> None:
    """A move taken back and played again for an hour, and a clock that rises
    each move.
    """
    for text in ("1. e4 was taken back", "the clock rose to {}"):
        log = IncidentLog()
        for times in range(1, 1001):
            alert = changed(times=times, text=text.format(times))
            assert log.add_alert(alert, float(times)) is not None
        (incident,) = log.incidents()
        assert (incident.times, incident.text) == (1000, text.format(1000))
        assert len(incident.changes) <= 12


def test_different_things_that_are_raised_again_are_entered() -> None:
    log = IncidentLog()
    for times, text in enumerate(
        ("Nf3 is now Nc3", "d4 is now d3", "O-O is now Kf1"), 1
    ):
        log.add_alert(changed(times=times, text=text), float(times))
    assert len(log.incidents()[0].changes) == 3


def test_moves_after_a_result_are_one_entry_with_their_number() -> None:
    log = IncidentLog()
    for moves in range(1, 44):
        alert = changed(kind="late-move", text=f"{moves} moves came after the result")
        changes = log.add_alert(alert, 100.0)
        assert changes is not None and not changes[1:]
        assert log.incidents()[0].text == alert.text
    log.add_alert(msgspec.structs.replace(alert, cleared_s=200.0, ended="1-0"), 200.0)
    (incident,) = log.incidents()
    assert [(each.what, each.text) for each in incident.changes] == [
        ("raised", "1 moves came after the result"),
        ("changed", "43 moves came after the result"),
        ("over", "1-0"),
    ]


def test_own_entries_and_mutes_join_it_in_their_place() -> None:
    log = IncidentLog()
    log.add_entry("draw offer disputed", 90.0, "g1")
    log.add_alert(ALERT, 100.0)
    log.add_mute("all alerts of this board", True, 101.0, "g1")
    found = name_boards(log.incidents(), {"g1": "7 Anand – Ding"})
    assert [(each.kind, each.board, each.over_s) for each in found] == [
        ("entry", "7 Anand – Ding", 90.0),
        ("flag", "7 Anand – Ding", None),
        ("mute", "7 Anand – Ding", 101.0),
    ]
    assert found[2].text == "all alerts of this board muted"
    for words in (["DRAW"], ["anand", "disputed"], []):
        assert has_words(found[0], words)
    assert not has_words(found[0], ["anand", "clock"])


def test_every_kind_has_a_name() -> None:
    assert kind_name("flag") == "Flag"
    assert kind_name("entry") == "Arbiter's entry"
    assert kind_name("of a later version") == "of a later version"


def test_alerts_are_ordered_by_state_then_urgency_then_the_newest_first() -> None:
    def alert(id: str, first_seen_s: float, **fields: object) -> Alert:
        return changed(
            id=id, first_seen_s=first_seen_s, **{"severity": "look", **fields}
        )

    expected = [
        alert("urgent, old", 100.0, severity="alarm"),
        alert("new", 300.0),
        alert("middle", 200.0),
        alert("old", 100.0),
        alert("old, by its id", 100.0),
        alert("seen, new", 300.0, acknowledged_s=310.0),
        alert("seen, old", 100.0, acknowledged_s=310.0),
        alert("muted", 400.0, severity="alarm", muted=True),
    ]
    assert sort_by_urgency(reversed(expected)) == sort_by_urgency(expected) == expected
