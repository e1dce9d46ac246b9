"""Which calibration rates a game: its own pace's, a neighbour's with a word, or none."""

from __future__ import annotations

import msgspec
import pytest

from live.ratings.calibration.calibration_choice import (
    CalibrationChoice,
    CalibrationShelf,
    fitting_shelf,
    learned_from,
)
from live.ratings.calibration.move_evidence import Calibration, load_calibration
from live.ratings.pace_of_play import Pace

CLASSICAL = load_calibration("classical")
QUICK = msgspec.structs.replace(CLASSICAL, name="quick", time_control="blitz")


def name(choice: CalibrationChoice) -> str | None:
    return choice.calibration.name if choice.calibration else None


@pytest.mark.parametrize(
    ("pace", "found", "sure"),
    [
        ("classical", "classical", True),
        ("blitz", "quick", True),
        ("rapid", "classical", False),
        ("bullet", "quick", False),
        (None, "classical", False),
    ],
)
def test_of_two_the_one_of_the_pace_or_the_nearest(
    pace: Pace | None, found: str, sure: bool
) -> None:
    choice = CalibrationShelf([CLASSICAL, QUICK]).choose(pace)
    assert name(choice) == found
    assert (not choice.note) == sure
    assert choice.key == (found, not sure)


@pytest.mark.parametrize("pace", ["blitz", "bullet"])
def test_quick_games_are_never_rated_as_classical_ones(pace: Pace) -> None:
    choice = CalibrationShelf([CLASSICAL]).choose(pace)
    assert choice.weigher is None
    assert choice.key is None
    assert choice.note == f"no calibration for {pace} games"


def test_rapid_takes_blitz_where_there_is_nothing_slower() -> None:
    choice = CalibrationShelf([QUICK]).choose("rapid")
    assert name(choice) == "quick"
    assert choice.note == "none for rapid games; nearest: blitz, provisional"


def test_one_that_somebody_named_rates_every_game_and_says_what_differs() -> None:
    shelf = CalibrationShelf([CLASSICAL], by_name=True)
    assert shelf.choose("classical").note == shelf.choose(None).note == ""
    assert name(shelf.choose("blitz")) == "classical"
    assert shelf.choose("blitz").note == "learned from classical games, this one is blitz"
    unspecified = msgspec.structs.replace(CLASSICAL, time_control="unspecified")
    assert CalibrationShelf([unspecified], by_name=True).choose("blitz").note == ""


def test_only_what_holds_for_engine_limit_and_gain_is_on_the_shelf() -> None:
    own = (CLASSICAL.engine, CLASSICAL.limit, CLASSICAL.gain)
    other: Calibration = load_calibration("blitz")
    shelf = fitting_shelf([QUICK, other, CLASSICAL], *own)
    assert [each.name for each in shelf.calibrations] == ["classical", "quick"]
    assert shelf.note == learned_from(CLASSICAL)
    empty = fitting_shelf([CLASSICAL], CLASSICAL.engine, "5 nodes", CLASSICAL.gain)
    assert empty.calibrations == ()
    assert empty.choose("classical") == CalibrationChoice(note=empty.note)
    assert "5 nodes" in empty.note
