"""Figures where little can be known: nobody or one player rated, odd ratings, short and open games.

Each is an honest figure, or an empty place.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from live.events import CurvePoint, GameDetail, Player, PlayerView, Result
from live.games.game_steps import NewGame, ResultChanged
from live.ledger.calibrations_in_use import CalibrationsInUse
from live.ledger.event_ledger import EventLedger
from live.ledger.players.leading_figure import leading, standings
from live.ratings.calibration.engine_transfer import load_reference
from live.service.measure_settings import figure_models, fitting
from tests.ledger.arithmetic import answer, game, line

PLIES = 40
ENDS = [
    ("alone", "alone_low", "alone_high"),
    ("level", "level_low", "level_high"),
    ("performance", "performance_low", "performance_high"),
]


@pytest.fixture(scope="module")
def everything() -> CalibrationsInUse:
    """All that the embedded engine is read by."""
    reference = load_reference()
    shelf = fitting("auto", reference.engine, reference.limit, "same-search")
    losses, results, forecast = figure_models("auto", reference.engine, reference.limit)
    return CalibrationsInUse(
        "same-search", shelf, losses=losses, results=results, forecast=forecast
    )


def event(
    in_use: CalibrationsInUse,
    *elos: int | None,
    plies: int = PLIES,
    result: Result = "1-0",
) -> EventLedger:
    """Players of these ratings, each against the next, White first."""
    reference = load_reference()
    held = EventLedger(
        in_use=in_use,
        engine_name=reference.engine,
        limit=reference.limit,
        fixed_rating=None,
        stored_rating=2160,
    )
    people = [Player(f"Player {number}", elo=elo) for number, elo in enumerate(elos)]
    for number, (white, black) in enumerate(zip(people[::2], people[1::2], strict=True)):
        moves = line(*(step * step + 5 * number for step in range(plies)))
        for step in (
            NewGame(game(f"g{number}", moves, white=white, black=black)),
            ResultChanged(f"g{number}", result),
        ):
            requests = list(held.apply(step).requests)
            while requests:
                request = requests.pop()
                requests += held.searched(request.id, answer(request.search)).requests
    return held


def detail_of(held: EventLedger) -> GameDetail:
    found = held.game("g0")
    assert found is not None
    return found


def player(held: EventLedger, number: int) -> PlayerView:
    return next(view for view in held.players() if view.name == f"Player {number}")


def assert_sound(held: EventLedger) -> None:
    """Every figure is a number between its ends, or nothing."""
    curves = detail_of(held).curves
    for point in (*curves.white, *curves.black):
        assert_figures_sound(point)
    for view in held.players():
        assert_figures_sound(view)


def assert_figures_sound(each: CurvePoint | PlayerView) -> None:
    for names in ENDS:
        value, low, high = (getattr(each, name, None) for name in names)
        known = [end for end in (low, value, high) if end is not None]
        assert all(map(math.isfinite, known))
        assert known == sorted(known)
    assert each.percentile is None or 0 <= each.percentile <= 100
    assert each.level_share is None or 0 <= each.level_share <= 1


def test_in_a_field_without_a_rating_moves_and_field_are_all_there_is(everything: Any) -> None:
    held = event(everything, None, None)
    assert_sound(held)
    last, view = detail_of(held).curves.white[-1], player(held, 0)
    for each in (last, view):
        assert each.percentile is None
        assert each.level is not None and each.level_share is not None
        assert 0 < each.level_share < 1
        assert (each.alone_low, each.alone_high) != (None, None)
    assert (view.performance, view.performance_low, view.performance_high) == (None, None, None)
    assert (view.fide_performance, view.rating_change, view.agreement) == (None, None, None)
    large, _ = leading(last, None)
    assert large is not None and large.kind in ("level", "alone")


def test_one_rated_player_gives_the_other_a_performance(everything: Any) -> None:
    held = event(everything, 2300, None)
    assert_sound(held)
    rated, unrated = player(held, 0), player(held, 1)
    assert rated.percentile is not None and unrated.percentile is None
    assert unrated.fide_performance == 2300 - 800  # a loss
    assert (unrated.performance_low, unrated.performance_high) != (None, None)
    # He has no rated opponent.
    assert rated.fide_performance is None and rated.rating_change is None
    assert (rated.performance_low, rated.performance_high) == (None, None)


@pytest.mark.parametrize("elos", [(0, 2300), (4000, 2300), (2300, 0), (2300, 4000), (0, 4000)])
@pytest.mark.parametrize("result", ["1-0", "*"])
def test_a_rating_of_0_or_4000_breaks_nothing(
    everything: Any, elos: tuple[int, int], result: Result
) -> None:
    held = event(everything, *elos, result=result)
    assert_sound(held)
    for number, elo in enumerate(elos):
        view = player(held, number)
        assert view.elo == elo
        assert "beyond the ratings it was learned from" in view.calibration_note or elo == 2300
        assert view.level == elo  # one game says nothing beyond the Elo


def test_three_moves_lead_nobody(everything: Any) -> None:
    held = event(everything, 2300, 2200, plies=6, result="1/2-1/2")
    assert_sound(held)
    for point in (detail_of(held).curves.white[-1], detail_of(held).curves.black[-1]):
        assert point.percentile is None
        low, high = point.alone_low or 400.0, point.alone_high or 3600.0
        assert high - low > 1000
    assert [standing.place for standing in standings(held.players())] == [None, None]


def test_without_a_result_the_position_stands_for_it(everything: Any) -> None:
    running, won = (event(everything, 2300, 2200, result=result) for result in ("*", "1-0"))
    assert_sound(running)
    one, other = player(running, 0), player(won, 0)
    assert one.performance is not None and other.performance is not None
    assert one.performance < other.performance
    assert one.fide_performance is None and one.rating_change is None
