"""Which calibration rates a game: its own pace's, a neighbour's with a word, or none."""

from __future__ import annotations

import msgspec
import pytest

from live.events import GainKind
from live.ratings.calibration.calibration_choice import (
    CalibrationChoice,
    CalibrationShelf,
    fitting_shelf,
    learned_from,
    transferred_shelf,
)
from live.ratings.calibration.engine_transfer import (
    MeasuredEngine,
    ScoreAgreement,
    load_reference,
    load_terms,
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


REFERENCE = load_reference()
TERMS = load_terms()
MEASURED = MeasuredEngine(agreement=ScoreAgreement(0.85, 0.011, 0.982, 294), nodes=100_000)
REFUSED = MeasuredEngine(agreement=ScoreAgreement(0.1, 0.05, 0.2, 294), nodes=100_000)


def transferred(
    measured: MeasuredEngine | None, gain: GainKind = "same-search"
) -> CalibrationShelf:
    held = [QUICK, load_calibration("blitz"), CLASSICAL]
    return transferred_shelf(held, REFERENCE, gain, TERMS, measured, note="none for Other 1")


def test_the_calibrations_of_the_reference_engine_are_transferred() -> None:
    shelf = transferred(MEASURED)
    assert [each.name for each in shelf.calibrations] == ["classical", "quick"]
    assert shelf.transfer == MEASURED.transfer(TERMS)
    assert "transferred from Stockfish 19" in shelf.note
    assert "correlation 0.982 and scale 0.85 over 294 reference positions" in shelf.note
    choice = shelf.choose("classical")
    assert choice.weigher is not None and choice.weigher.transfer == shelf.transfer
    assert choice.told == "transferred"
    assert shelf.choose("rapid").told == (
        "transferred; none for rapid games; nearest: classical, provisional"
    )


def test_an_engine_nobody_has_measured_is_read_as_any() -> None:
    shelf = transferred(None)
    assert shelf.transfer == TERMS.unmeasured
    assert "not measured yet: intervals are wider" in shelf.note
    measured = MEASURED.transfer(TERMS)
    assert TERMS.unmeasured.weight < measured.weight


def test_an_engine_whose_scores_do_not_fit_has_none() -> None:
    shelf = transferred(REFUSED)
    assert not shelf.calibrations and shelf.transfer is None
    assert shelf.note.startswith("none for Other 1; its scores do not fit")


def test_another_gain_is_not_transferred() -> None:
    shelf = transferred(MEASURED, gain="successive")
    assert not shelf.calibrations
    assert shelf.note == "none for Other 1"


def test_what_was_learned_with_the_engine_in_use_is_not_called_transferred() -> None:
    shelf = fitting_shelf([CLASSICAL], CLASSICAL.engine, CLASSICAL.limit, CLASSICAL.gain)
    assert shelf.transfer is None
    assert shelf.choose("classical").told == ""


def test_the_reference_is_that_of_shipped_calibrations() -> None:
    assert CLASSICAL.matches(REFERENCE.engine, REFERENCE.limit, "same-search")
    assert len(REFERENCE.positions) == len({each.fen for each in REFERENCE.positions}) == 294
