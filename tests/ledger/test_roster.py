"""Points and namesakes."""

from __future__ import annotations

import pytest

from live.events import FeedReport, GameReport, Player, Result
from live.games.game import NewGame
from live.ledger.roster import (
    might_be_one,
    namesakes,
)
from tests.alerts.replayed_event import Rehearsal, played
from tests.ledger.arithmetic import Held, game


@pytest.mark.parametrize(
    ("result", "points"),
    [("1-0", (1.0, 0.0)), ("1/2-1/2", (0.5, 0.5)), ("0-0", (0.0, 0.0)), ("*", (None, None))],
)
def test_a_player_has_the_points_of_finished_games(
    result: Result, points: tuple[float | None, float | None]
) -> None:
    service = Rehearsal()

    def report(result: Result) -> tuple[float | None, ...]:
        told: GameReport = played("e4 e5 Nf3 Nc6", result=result)
        service.report(FeedReport("hall", (told,)))
        views = sorted(service.state.players(), key=lambda view: view.name, reverse=True)
        assert all(view.finished == (result != "*") for view in views)
        return tuple(view.points for view in views)

    report("*")
    assert report(result) == points
    assert report("*") == (None, None), "a result that is withdrawn takes its points along"


# --- namesakes ----------------------------------------------------------------------------------

# Two names of one person: reported where they might be, never for two who met.


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("carlsen magnus", "carlsen m"),
        ("carlsen", "carlsen magnus"),
        ("kasparov garry", "g kasparov"),
        ("radjabov teimour", "radzabov teimour"),
        ("grischuk alexander", "grishuk alexander"),
        ("topalov veselin", "topalvo veselin"),
        ("anand viswanathan", "anand viswanathan"),
    ],
)
def test_shorter_names_and_slips_might_be_one(one: str, other: str) -> None:
    assert might_be_one(one.split(), other.split())
    assert might_be_one(other.split(), one.split())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("carlsen magnus", "carlsen henrik"),
        ("polgar judit", "polgar susan"),
        ("li chao", "li wei"),
        ("wang yue", "wang hao"),
        ("m c", "magnus carlsen"),
        ("anna", "anne"),
        ("", "carlsen"),
    ],
)
def test_other_people_are_not(one: str, other: str) -> None:
    assert not might_be_one(one.split(), other.split())
    assert not might_be_one(other.split(), one.split())


def held(*pairs: tuple[Player, Player]) -> Held:
    ledger = Held()
    for number, (white, black) in enumerate(pairs):
        ledger.apply(NewGame(game(f"g{number}", white=white, black=black)))
    return ledger


def of(ledger: Held) -> tuple[tuple[str, str], ...]:
    met = {frozenset(ledger.player_ids(view.id)) for view in ledger.games()}
    return namesakes(ledger.players(), met)


def test_fide_ids_decide_and_else_it_is_reported() -> None:
    magnus, short = Player("Carlsen, Magnus", fide_id=1503014), Player("Carlsen, M")
    told_twice = held((magnus, Player("A. Nobody")), (short, Player("B. Somebody")))
    assert of(told_twice) == (("Carlsen, M", "Carlsen, Magnus"),)
    same = Player("Carlsen, M", fide_id=1503014)
    one_person = held((magnus, Player("A. Nobody")), (same, Player("B. Somebody")))
    assert len(one_person.players()) == 3
    assert of(one_person) == ()
    brother = Player("Carlsen, M", fide_id=4)
    assert of(held((magnus, Player("A. Nobody")), (brother, Player("B. Somebody")))) == ()


def test_two_who_meet_are_two() -> None:
    assert of(held((Player("Carlsen, Magnus"), Player("Carlsen, M")))) == ()
