"""Figures where little can be known: nobody or one player rated, odd ratings, short and open games.

Each is an honest figure, or an empty place.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from live.events import CurvePoint, GameDetail, Player, PlayerView, Result
from live.games.game import HeadersChanged, NewGame, ResultChanged
from live.ledger.measure import Measure
from live.ratings.engine_scale import load_reference
from live.service.engine_service import figure_models, fitting
from tests.ledger.arithmetic import Held, game, line

PLIES = 40
ENDS = [
    ("usual_low", "usual_high"),
    # Of the moves alone: what is shown is drawn towards the level, and may lie outside.
    ("low", "high"),
    ("difference_low", "difference", "difference_high"),
]


@pytest.fixture(scope="module")
def everything() -> Measure:
    """All that the embedded engine is read by."""
    reference = load_reference()
    models = fitting("auto", reference.engine, reference.limit, "same-search")
    results, forecast = figure_models(reference.engine, reference.limit)
    return Measure("same-search", models, results=results, forecast=forecast)


def event(
    measure: Measure,
    *elos: int | None,
    plies: int = PLIES,
    result: Result = "1-0",
) -> Held:
    """Players of these ratings, each against the next, White first."""
    held = Held(measure, stored_rating=2160)
    people = [Player(f"Player {number}", elo=elo) for number, elo in enumerate(elos)]
    for number, (white, black) in enumerate(zip(people[::2], people[1::2], strict=True)):
        moves = line(*(step * step + 5 * number for step in range(plies)))
        held.follow(
            NewGame(game(f"g{number}", moves, white=white, black=black)),
            ResultChanged(f"g{number}", result),
        )
    return held


def detail_of(held: Held) -> GameDetail:
    found = held.game("g0")
    assert found is not None
    return found


def player(held: Held, number: int) -> PlayerView:
    return next(view for view in held.players() if view.name == f"Player {number}")


def assert_sound(held: Held) -> None:
    """Every figure is a number between its ends, or nothing."""
    curves = detail_of(held).curves
    for point in (*curves.white, *curves.black):
        assert_figures_sound(point)
    for view in held.players():
        assert_figures_sound(view)


def assert_figures_sound(each: CurvePoint | PlayerView) -> None:
    for names in ENDS:
        known = [end for name in names if (end := getattr(each, name)) is not None]
        assert all(map(math.isfinite, known))
        assert known == sorted(known)
    assert each.percentile is None or 0 <= each.percentile <= 100


def test_in_a_field_without_a_rating_moves_and_field_are_all_there_is(everything: Any) -> None:
    held = event(everything, None, None)
    assert_sound(held)
    last, view = detail_of(held).curves.white[-1], player(held, 0)
    for each in (last, view):
        assert each.perceived is not None
        assert (each.percentile, each.usual_low, each.usual_high) == (None, None, None)
    assert (view.fide_performance, view.rating_change, view.agreement) == (None, None, None)


def test_one_rated_player_gives_the_other_a_performance(everything: Any) -> None:
    held = event(everything, 2300, None)
    assert_sound(held)
    rated, unrated = player(held, 0), player(held, 1)
    assert rated.percentile is not None and unrated.percentile is None
    assert unrated.fide_performance == 2300 - 800  # a loss
    # He has no rated opponent.
    assert rated.fide_performance is None and rated.rating_change is None


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
        assert view.perceived is not None and view.percentile is not None


@pytest.mark.parametrize(("k", "used"), [(None, 20), (40, 40)])
def test_the_rating_change_uses_the_listed_k(everything: Any, k: int | None, used: int) -> None:
    held = event(everything, 2300, 2200)
    headers = game(white=Player("Player 0", elo=2300, k=k), black=Player("Player 1", elo=2200))
    held.apply(HeadersChanged("g0", headers.headers))
    view = player(held, 0)
    assert (view.rating_k, view.rating_k_listed) == (used, k is not None)
    assert view.rating_change == pytest.approx(used * 0.36)


def test_a_game_without_a_move_counts_for_no_rating(everything: Any) -> None:
    held = event(everything, 2300, 2200, plies=0)
    view = player(held, 0)
    assert (view.points, view.finished) == (1.0, 1)
    assert (view.fide_performance, view.rating_change) == (None, None)
