"""Which figure leads, and in which order players are listed."""

from __future__ import annotations

import msgspec
import pytest

from live.events import CurvePoint, EngineInfo, PlayerView
from live.ledger.players.leading_figure import (
    Figure,
    curve_scale_of,
    figure,
    is_transferred,
    leading,
    ranked_by,
    scale_of,
    standings,
)

NOTHING = CurvePoint(40, 20, -5, 0.4, -70.0, -150.0, 20.0, 2090.0, 2010.0, 2180.0)
FULL = msgspec.structs.replace(
    NOTHING,
    alone=2310.0,
    alone_low=1810.0,
    alone_high=2790.0,
    level=2441.0,
    level_low=2260.0,
    level_high=2600.0,
    level_share=0.22,
    percentile=74.0,
)


def kinds(point: CurvePoint, elo: int | None, choice: str = "auto") -> list[str | None]:
    shown = leading(point, elo, choice)  # type: ignore[arg-type]  # given as text
    return [None if each is None else each.kind for each in shown]


def test_the_level_leads_while_these_moves_say_enough_of_it() -> None:
    assert kinds(FULL, 2450) == ["level", "percentile"]
    quiet = msgspec.structs.replace(FULL, level_share=0.149)
    assert kinds(quiet, 2450) == ["percentile", "level"]


def test_under_five_moves_nothing_leads_and_the_level_stands_beneath() -> None:
    few = msgspec.structs.replace(FULL, n=4, level_share=0.03, percentile=None)
    assert kinds(few, 2450) == [None, "level"]
    without_percentiles = msgspec.structs.replace(few, n=20)
    assert kinds(without_percentiles, 2450) == ["level", "alone"]


def test_without_an_elo_the_field_s_level_or_the_moves_alone() -> None:
    assert kinds(FULL, None) == ["level", "alone"]
    assert kinds(msgspec.structs.replace(FULL, level_share=0.1), None) == ["alone", "level"]
    nobody_rated = msgspec.structs.replace(FULL, level=None, level_low=None, level_high=None)
    assert kinds(nobody_rated, None) == ["alone", None]


def test_what_nothing_bounds_is_no_figure() -> None:
    loose = msgspec.structs.replace(NOTHING, alone=3140.0)
    assert figure(loose, "alone") is None
    assert leading(loose, None) == (None, None)


def test_a_level_that_is_the_elo_says_so() -> None:
    assert Figure("level", 1963.0, 1963.0, 1963.0, 0.0).is_elo
    assert not Figure("level", 1963.0, 1900.0, 2000.0, 0.1).is_elo
    assert not Figure("alone", 1963.0, 1963.0, 1963.0).is_elo


def test_an_unbounded_figure_stays_unbounded() -> None:
    above = msgspec.structs.replace(NOTHING, alone_low=2000.0)
    assert figure(above, "alone") == Figure("alone", None, 2000.0, None)
    assert leading(above, None)[0] == Figure("alone", None, 2000.0, None)


def test_algorithm_4_leads_only_where_it_is_asked_for() -> None:
    assert kinds(NOTHING, 2450) == [None, None]
    assert kinds(NOTHING, None) == [None, None]
    assert kinds(FULL, 2450, "algorithm4") == ["algorithm4", None]


@pytest.mark.parametrize(
    ("choice", "beneath"), [("level", "percentile"), ("percentile", "level"), ("alone", "level")]
)
def test_a_choice_leads_whatever_is_known(choice: str, beneath: str) -> None:
    assert kinds(FULL, 2450, choice) == [choice, beneath]


def test_what_services_of_before_send_stands_for_the_level() -> None:
    before = msgspec.structs.replace(
        NOTHING, calibrated=2300.0, calibrated_low=1900.0, calibrated_high=2700.0
    )
    assert kinds(before, 2450) == ["level", None]


def test_curves_show_the_best_scale_that_anybody_has() -> None:
    alone = msgspec.structs.replace(NOTHING, alone_high=2600.0)
    assert scale_of([NOTHING]) == "algorithm4"
    assert scale_of([NOTHING, alone]) == "alone"
    assert scale_of([alone, FULL]) == "level"
    assert scale_of([FULL], "alone") == "alone"


def test_curves_show_what_leads_where_levels_are_nothing_but_the_elo() -> None:
    flat = msgspec.structs.replace(FULL, level=2450.0, level_low=2450.0, level_high=2450.0)
    early = msgspec.structs.replace(flat, percentile=None)
    assert curve_scale_of([FULL]) == "level"
    assert curve_scale_of([flat, early]) == "percentile"
    assert curve_scale_of([early]) == "alone"
    assert curve_scale_of([FULL], "percentile") == "percentile"
    assert curve_scale_of([flat], "level") == "level"
    assert curve_scale_of([flat], "algorithm4") == "algorithm4"


def test_a_transferred_calibration_is_seen_by_its_note() -> None:
    engine = EngineInfo("Stockfish 15.1", "100000 nodes", 2160, "field", calibration="classical")
    assert not is_transferred(engine)
    assert is_transferred(msgspec.structs.replace(engine, calibration_note="Transferred, r .98"))
    refused = "not transferred: its scores correlate too little"
    without = msgspec.structs.replace(engine, calibration=None, calibration_note=refused)
    assert not is_transferred(without)
    assert is_transferred(engine, "nearest: classical, transferred")


def player(name: str, moves: int, low: float | None, high: float | None) -> PlayerView:
    middle = None if low is None or high is None else (low + high) / 2
    view = PlayerView(name, name, None, 1, moves, None, None, None, None, None, None, None, None)
    return msgspec.structs.replace(
        view, performance=middle, performance_low=low, performance_high=high
    )


def test_who_cannot_be_told_apart_has_one_place() -> None:
    views = [
        player("wide", 20, 1500, 3100),
        player("worst", 30, 1700, 1900),
        player("best", 40, 2400, 2700),
        player("near", 40, 2300, 2650),
        player("one move", 1, 2390, 2900),
    ]
    shown = [(each.view.name, each.text) for each in standings(views)]
    assert shown == [
        ("best", "1="),
        ("near", "1="),
        ("wide", "1="),
        ("worst", "3"),
        ("one move", ""),
    ]


def test_no_end_is_worse_than_nobody() -> None:
    views = [player("sure", 40, 2400, 2700), player("unbounded above", 6, 2300, None)]
    assert [each.text for each in standings(views)] == ["1=", "1="]
    assert ranked_by(views) == "performance"
    assert ranked_by([]) == "level"
