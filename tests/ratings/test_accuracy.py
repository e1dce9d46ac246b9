from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import MATE_CP, Color, Score
from live.ratings.accuracy import (
    CAP_CP,
    LICHESS_START,
    GameAccuracy,
    centipawn_loss,
    move_accuracy,
    win_percent,
)

scores = st.one_of(
    st.integers(-MATE_CP, MATE_CP).map(Score),
    st.integers(1, 20).map(lambda n: Score(MATE_CP, n)),
    st.integers(1, 20).map(lambda n: Score(-MATE_CP, -n)),
)
COLORS: tuple[Color, Color] = ("white", "black")


def game_of(cps: Sequence[int | None], start: Score | None = LICHESS_START) -> GameAccuracy:
    game = GameAccuracy(start)
    for cp in cps:
        game.play(None if cp is None else Score(cp))
    return game


def lichess(start_cp: int, cps: Sequence[int], color: Color, first_ply: int = 1) -> float | None:
    """The published description, step by step: windows as lists, means over them."""
    chances = [
        50 + 50 * (2 / (1 + math.exp(-0.00368208 * max(-1000, min(1000, cp)))) - 1)
        for cp in [start_cp, *cps]
    ]
    size = min(8, max(2, len(cps) // 10))
    sliding = [chances[i : i + size] for i in range(max(1, len(chances) - size + 1))]
    windows = [chances[:size]] * (min(size, len(chances)) - 2) + sliding
    weights = [min(12, max(0.5, statistics.pstdev(window))) for window in windows]
    own = []
    for index, ((before, after), weight) in enumerate(
        zip(pairwise(chances), weights, strict=False)
    ):
        if index + 1 >= first_ply and (index % 2 == 0) == (color == "white"):
            lost = before - after if color == "white" else after - before
            raw = 103.1668100711649 * math.exp(-0.04354415386753951 * lost) - 3.166924740191411 + 1
            own.append((100.0 if lost <= 0 else min(100, max(0, raw)), weight))
    if not own:
        return None
    weighted = sum(a * w for a, w in own) / sum(w for _, w in own)
    harmonic = len(own) / sum(1 / max(1, a) for a, _ in own)
    return (weighted + harmonic) / 2


@pytest.mark.parametrize(
    ("lost", "expected"), [(0, 100), (5, 80.8), (10, 64.6), (20, 41.0), (40, 15.9)]
)
def test_published_accuracies_of_a_move(lost: float, expected: float) -> None:
    # Around an even position; scores are whole centipawns, so the chances are a little off.
    before, after = _score_of(50 + lost / 2), _score_of(50 - lost / 2)
    assert move_accuracy(before, after, "white") == pytest.approx(expected, abs=0.4)
    assert move_accuracy(after, before, "black") == pytest.approx(expected, abs=0.4)


def test_from_one_end_to_the_other_is_0_percent() -> None:
    assert move_accuracy(Score(1000), Score(-1000), "white") == 0


def _score_of(chance: float) -> Score:
    return Score(round(-math.log(100 / chance - 1) / 0.00368208))


def test_published_chances_to_win() -> None:
    assert win_percent(Score(0)) == 50
    assert win_percent(Score(100)) == pytest.approx(59.1, abs=0.05)
    assert win_percent(Score(50)) == pytest.approx(54.6, abs=0.05)


@pytest.mark.slow
@settings(max_examples=300)
@given(st.lists(st.integers(-1500, 1500), max_size=120))
def test_a_game_agrees_with_the_published_description(cps: list[int]) -> None:
    game = game_of(cps)
    for color in COLORS:
        expected = lichess(15, cps, color)
        found = game.accuracy(color)
        assert found.missing == 0
        if expected is None:
            assert found.percent is None
        else:
            assert found.percent == pytest.approx(expected, abs=1e-7)


def test_100_percent_is_not_shown_while_analysis_is_partial() -> None:
    game = game_of([20, 15, None, None, None, None])
    white = game.accuracy("white")
    assert white.percent is None
    assert (white.moves, white.missing) == (1, 2)
    # Said to be over the moves so far, not over the game.
    assert white.so_far == 100
    loss = game.centipawn_loss("white")
    assert loss.average_cp is None
    assert (loss.moves, loss.missing) == (1, 2)
    for ply in range(3, 7):
        game.score(ply, Score(-300 if ply % 2 else 0))
    expected = lichess(15, [20, 15, -300, 0, -300, 0], "white")
    assert game.accuracy("white").percent == pytest.approx(expected)


def test_the_mating_move_is_one_of_the_moves() -> None:
    # lila issue 11207: losses of 100, 839 and 2000 centipawns, then mate: 735, not 980.
    game = GameAccuracy(Score(0))
    for after in (0, 100, 0, 839, -1000, 1000):
        game.play(Score(after))
    game.play(Score(-MATE_CP, -1))
    game.play(Score(-MATE_CP, 0))
    black = game.centipawn_loss("black")
    assert black.average_cp == pytest.approx(2939 / 4)
    assert black.moves == 4
    assert game.accuracy("black").moves == 4
    assert game.move_accuracy(8) == 100


def test_positions_beyond_the_cap_are_not_in_the_denominator() -> None:
    # lila issue 11261. White loses 60, then makes three moves between +12 and +15.
    game = game_of([-45, 0, 1200, 1500, 1300, 1400, 1250, 1350], start=Score(15))
    white = game.centipawn_loss("white")
    assert (white.average_cp, white.moves, white.beyond_cap) == (30, 2, 2)
    black = game.centipawn_loss("black")
    assert (black.moves, black.beyond_cap) == (1, 3)


def test_a_move_from_beyond_the_cap_to_within_is_counted() -> None:
    loss = game_of([1500, 1500, 400], start=Score(1500)).centipawn_loss("white")
    assert (loss.average_cp, loss.moves, loss.beyond_cap) == (600, 1, 1)


def test_a_custom_start_is_compared_with_its_own_score() -> None:
    # lila issues 13914 and 11779: knight odds, where White starts at -5.
    start = Score(-500)
    game = GameAccuracy(start)
    game.play(Score(-500))
    assert game.move_accuracy(1) == 100
    assert game.centipawn_loss("white").average_cp == 0
    unknown = GameAccuracy(None)
    unknown.play(Score(-500))
    assert unknown.move_accuracy(1) is None
    assert unknown.accuracy("white").missing == 1
    unknown.score(0, start)
    assert unknown.accuracy("white") == game.accuracy("white")


def test_a_custom_start_with_black_to_move_belongs_to_black() -> None:
    game = GameAccuracy(Score(0), first_mover="black")
    game.play(Score(300))
    assert game.centipawn_loss("black").average_cp == 300
    assert game.accuracy("white").moves == 0
    assert game.accuracy("white").percent is None


@pytest.mark.slow
@given(scores, scores, st.sampled_from(COLORS))
def test_no_move_is_above_100_percent_or_below_0(before: Score, after: Score, mover: Color) -> None:
    assert 0 <= move_accuracy(before, after, mover) <= 100
    assert 0 <= centipawn_loss(before, after, mover) <= 2 * CAP_CP


def test_a_move_that_gains_is_100_percent_and_loses_nothing() -> None:
    # en-croissant issue 7: 113.6 %; python-chess-annotator issue 8: a negative loss.
    assert move_accuracy(Score(0), Score(300), "white") == 100
    assert centipawn_loss(Score(0), Score(300), "white") == 0
    assert move_accuracy(Score(0), Score(-300), "black") == 100
    # The bonus would make 101 of the smallest loss there is.
    assert move_accuracy(Score(0), Score(-1), "white") <= 100


def test_the_window_of_a_phase_does_not_restart() -> None:
    # lila issue 21457: after a storm, a quiet phase with a few small losses.
    cps = [400, -400] * 16 + [-390, -390, -420, -410, -440, -440, -430, -400]
    game = game_of(cps)
    opening, phase = game.accuracy("white", 1, 32), game.accuracy("white", 33)
    assert (opening.moves, phase.moves) == (16, 4)
    assert phase.percent == pytest.approx(lichess(15, cps, "white", first_ply=33))
    # Its first move is made from the last position before it.
    assert game.move_accuracy(33) == move_accuracy(Score(-400), Score(-390), "white")
    restarted = game_of(cps[32:], start=Score(-400)).accuracy("white")
    assert restarted.percent is not None and phase.percent is not None
    assert abs(phase.percent - restarted.percent) > 0.3


def test_a_mate_counts_the_same_in_every_figure() -> None:
    # lila issue 5617: one page capped at 1000, the next at 2000.
    mate, large = Score(MATE_CP, 3), Score(2500)
    assert win_percent(mate) == win_percent(large) == win_percent(Score(CAP_CP))
    for other in (Score(0), Score(-200), Score(-MATE_CP, -1)):
        assert centipawn_loss(mate, other, "white") == centipawn_loss(large, other, "white")
        assert move_accuracy(mate, other, "white") == move_accuracy(large, other, "white")
    assert centipawn_loss(mate, Score(-MATE_CP, -2), "white") == 2 * CAP_CP


def test_a_blunder_does_not_make_the_game_0() -> None:
    found = game_of([20, 20, -1000, -1000], start=Score(1000)).accuracy("white")
    assert found.percent is not None and found.percent > 0


def test_no_moves_have_no_figures() -> None:
    game = GameAccuracy(LICHESS_START)
    for color in COLORS:
        assert game.accuracy(color).percent is None
        assert game.accuracy(color).moves == 0
        assert game.centipawn_loss(color).average_cp is None
    assert game_of([1500, 1500], start=Score(1500)).centipawn_loss("white").average_cp is None


@pytest.mark.slow
@settings(max_examples=200)
@given(st.data())
def test_moves_scores_and_takebacks_in_any_order_end_in_the_same_figures(
    data: st.DataObject,
) -> None:
    game = GameAccuracy(LICHESS_START)
    held: list[Score | None] = [LICHESS_START]
    for _ in range(data.draw(st.integers(0, 40))):
        action = data.draw(st.sampled_from(["play", "play", "score", "take back"]))
        if action == "play":
            held.append(data.draw(st.none() | scores))
            game.play(held[-1])
        elif action == "score":
            ply = data.draw(st.integers(0, len(held) - 1))
            held[ply] = data.draw(st.none() | scores)
            game.score(ply, held[ply])
        elif len(held) > 1:
            held.pop()
            game.take_back()
        fresh = GameAccuracy(held[0])
        for score in held[1:]:
            fresh.play(score)
        assert game.plies == fresh.plies == len(held) - 1
        for color in COLORS:
            assert game.accuracy(color) == fresh.accuracy(color)
            assert game.centipawn_loss(color) == fresh.centipawn_loss(color)


def test_a_mate_taken_back_is_forgotten() -> None:
    game = GameAccuracy(Score(MATE_CP, 1))
    game.play(Score(MATE_CP, 0))
    assert game.centipawn_loss("white").moves == 1
    game.take_back()
    game.play(Score(MATE_CP, 5))
    assert game.centipawn_loss("white") == game_of([3900], start=Score(3900)).centipawn_loss(
        "white"
    )


def test_what_is_not_there_is_refused() -> None:
    game = GameAccuracy()
    with pytest.raises(ValueError, match="no move to take back"):
        game.take_back()
    with pytest.raises(ValueError, match="no ply 1"):
        game.score(1, Score(0))


@pytest.mark.slow
@given(
    st.lists(st.lists(st.none() | scores, min_size=1, max_size=40), min_size=1, max_size=4),
)
@settings(deadline=None)
def test_a_game_told_anew_ends_in_the_same_figures(told: list[list[Score | None]]) -> None:
    held = GameAccuracy()
    for positions in told:
        held.hold(positions)
        fresh = GameAccuracy(positions[0])
        for score in positions[1:]:
            fresh.play(score)
        for color in COLORS:
            assert held.accuracy(color) == fresh.accuracy(color)
            assert held.centipawn_loss(color) == fresh.centipawn_loss(color)


def test_a_game_without_a_starting_position_is_refused() -> None:
    with pytest.raises(ValueError, match="starting position"):
        GameAccuracy().hold([])
