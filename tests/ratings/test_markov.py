"""Markov chains: general properties, and the two matrices that Alliot 2017 prints."""

from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.messages.values import Color
from live.ratings.markov import (
    NINETEEN,
    NINETEEN_WIDTHS_CP,
    TEN,
    Chain,
    EvaluationClasses,
    Transitions,
    build_outcome_vector,
    predict_by_markov,
    solve_chain,
)
from live.studies.papers.printed import read_papers

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

#: Alliot 2017, Tables 2 and 3: the matrices of Robert Fischer as White and of Boris
#: Spassky as Black in 1971, rounded to two digits. Spassky's third row sums to 1.01.
[PRINTED] = [paper.chains for paper in read_papers() if paper.chains]
FISCHER = np.array(PRINTED.fischer_1971)
SPASSKY = np.array(PRINTED.spassky_1971)

#: Alliot 2017, section 3.4: the stationary vector that the paper computed from its
#: unrounded matrices.
PUBLISHED = np.array([0.07, 0.01, 0.01, 0.04, 0.14, 0.18, 0.07, 0.04, 0.04, 0.40])


def normalised(matrix: Floats) -> Floats:
    found: Floats = matrix / matrix.sum(axis=1, keepdims=True)
    return found


def with_slips(matrix: Floats, share: float) -> Floats:
    """Return the matrix with a small probability of any worse class, the same for each.

    The printed tables contain many exact zeros, where the players' true probabilities
    are small.
    """
    n = len(matrix)
    worse = (
        np.tri(n)
        if matrix[-1, 0] >= matrix[0, -1] and matrix[1, 0] > 0
        else np.tri(n).T
    )
    return (1 - share) * normalised(matrix) + share * normalised(worse)


def simulate_games(
    rng: np.random.Generator,
    white: Floats,
    black: Floats,
    start: Floats,
    games: int,
    turns: int,
) -> tuple[Counts, Counts]:
    """Simulate games from known matrices. Return the counts of the moves of White and
    of Black, by the classes before and after the move, from White's side.
    """
    n = len(white)
    found = (np.zeros((n, n), dtype=np.int64), np.zeros((n, n), dtype=np.int64))
    steps = (white.cumsum(axis=1), black.cumsum(axis=1))
    before = rng.choice(n, games, p=start)
    for _ in range(turns):
        for step, counts in zip(steps, found, strict=True):
            after = np.minimum(
                (rng.random((games, 1)) > step[before]).sum(axis=1), n - 1
            )
            np.add.at(counts, (before, after), 1)
            before = after
    return found


# --- markov classes -------------------------------------------------------------------


scores = st.integers(-3900, 3900) | st.integers(-210, 210)


def test_ten_classes_of_four_tenths_of_a_pawn() -> None:
    assert len(TEN) == 10
    # Alliot 2017, section 3.4: "state -0.6 (the evaluation function is between -0.4 and
    # -0.8)".
    middles = (-180, -140, -100, -60, -20, 20, 60, 100, 140, 180)
    for index, middle in enumerate(middles):
        assert {TEN.find_class(cp) for cp in range(middle - 19, middle + 20)} == {index}
    assert (TEN.find_class(-3900), TEN.find_class(3900)) == (0, 9)


def test_nineteen_classes_have_the_widths_of_section_4_4_1() -> None:
    assert len(NINETEEN) == 19
    # Zero and both ends are classes of their own.
    assert {cp for cp in range(-3900, 3901) if NINETEEN.find_class(cp) == 9} == {0}
    assert {cp for cp in range(-3900, 3901) if NINETEEN.find_class(cp) == 18} == set(
        range(200, 3901)
    )
    # Alliot 2017: "The classes closest to zero on either side are 10cp wide, and the
    # width of classes grows as we get further from 0, with the last classes being 50cp
    # wide."
    inner = [
        cp
        for cp in range(1, 201)
        if NINETEEN.find_class(cp) != NINETEEN.find_class(cp - 1)
    ]
    widths = np.diff([0, *inner[1:]])
    assert widths.tolist() == list(NINETEEN_WIDTHS_CP)
    assert (widths[0], widths[-1], widths.sum()) == (10, 50, 200)
    assert (np.diff(widths) > 0).all()


@given(scores)
def test_nineteen_classes_mirror_each_other(cp: int) -> None:
    assert NINETEEN.find_class(-cp) == 18 - NINETEEN.find_class(cp)


# --- markov ---------------------------------------------------------------------------


class Move(NamedTuple):
    color: Color
    best_cp: int
    gain_cp: int
    period: int


@st.composite
def one_move(draw: st.DrawFn) -> Move:
    best_cp = draw(st.integers(-3900, 3900) | st.integers(-250, 250))
    gain_cp = draw(
        st.integers(-3900 - best_cp, 0) | st.integers(max(-40, -3900 - best_cp), 0)
    )
    color: Color = draw(st.sampled_from(("white", "black")))
    return Move(color, best_cp, gain_cp, draw(st.integers(0, 3)))


games = st.lists(one_move(), max_size=40)
layouts = st.sampled_from([TEN, NINETEEN])


def transitions(classes: EvaluationClasses, moves: list[Move]) -> Transitions:
    found = Transitions(classes)
    for move in moves:
        found.add(*move)
    return found


def brute_force(
    classes: EvaluationClasses, moves: list[Move], color: Color, own_color: bool
) -> Floats:
    """Compute the matrix cell by cell, from Alliot 2017, sections 3.4 and 4.4.1."""
    n = len(classes)
    chosen = [move for move in moves if move.color == color or not own_color]
    newest = max((move.period for move in chosen), default=0)
    matrix = np.zeros((n, n))
    for i in range(n):
        row = [m for m in chosen if classes.find_class(m.best_cp) == i]
        total = sum(2.0 ** (m.period - newest) for m in row)
        for j in range(n):
            weights = (
                2.0 ** (m.period - newest)
                for m in row
                if classes.find_class(m.best_cp + m.gain_cp) == j
            )
            matrix[i, j] = sum(weights) / total if row else float(i == j)
    if color == "black":
        mirrored = np.zeros((n, n))
        for i, j in product(range(n), repeat=2):
            mirrored[i, j] = matrix[n - 1 - i, n - 1 - j]
        return mirrored
    return matrix


def fresh(counts: Counts, color: Color, classes: EvaluationClasses) -> Chain:
    """Return a chain from counts that are already from White's side."""
    rows = counts.sum(axis=1)
    matrix = np.eye(len(counts))
    matrix[rows > 0] = counts[rows > 0] / rows[rows > 0, None]
    return Chain(color, classes, matrix, rows.astype(np.float64), int(rows.sum()))


@settings(max_examples=50, deadline=None)
@given(layouts, games, games, st.booleans())
def test_a_chain_equals_a_count_by_hand(
    classes: EvaluationClasses, moves: list[Move], others: list[Move], own_color: bool
) -> None:
    found = transitions(classes, moves)
    found.merge(transitions(classes, others))
    color: Color = "white" if len(moves) % 2 else "black"
    chain = found.build_chain(color, own_color=own_color)
    by_hand = brute_force(classes, moves + others, color, own_color)
    assert chain.matrix == pytest.approx(by_hand, abs=1e-9)


def test_past_periods_count_half_of_the_next() -> None:
    moves = [Move("white", 20, 0, 1971)] * 3 + [Move("white", 20, -40, 1970)] * 2
    moves += [Move("white", 20, -80, 1968)] * 8
    found = transitions(TEN, moves).build_chain("white")
    assert found.matrix[5, 3:6] == pytest.approx([1 / 5, 1 / 5, 3 / 5])
    assert found.moves == 3
    # Effective sample size by Kish: (3 + 2/2 + 8/8)² / (3 + 2/4 + 8/64).
    assert found.support[5] == pytest.approx(25 / 3.625)


# --- the stationary vector ------------------------------------------------------------


def test_the_published_vector_lies_within_what_the_printed_tables_leave_open() -> None:
    # The tables as printed, with two digits, give 56 % wins. The paper has 40 % from
    # its unrounded matrices. An end class that is left once in 250 moves, or never,
    # accounts for the difference.
    rng = np.random.default_rng(0)
    lowest, highest = np.ones(10), np.zeros(10)
    nearest = 1.0
    for _ in range(1500):
        white, black = (
            normalised(
                np.clip(table + rng.uniform(-0.005, 0.005, (10, 10)) * shape, 0, None)
            )
            for table, shape in ((FISCHER, np.tri(10)), (SPASSKY, np.tri(10).T))
        )
        found = solve_chain(white, black)
        lowest, highest = np.minimum(lowest, found), np.maximum(highest, found)
        nearest = min(nearest, float(np.abs(found - PUBLISHED).max()))
    assert (lowest <= PUBLISHED).all() and (highest >= PUBLISHED).all()
    assert nearest < 0.03
    as_printed = solve_chain(normalised(FISCHER), normalised(SPASSKY))
    assert as_printed[-1] == pytest.approx(0.563, abs=0.001)


# --- predictions ----------------------------------------------------------------------


def test_the_prediction_reads_the_ends_of_the_vector() -> None:
    rng = np.random.default_rng(5)
    white, black = with_slips(FISCHER, 0.02), with_slips(SPASSKY, 0.02)
    counts = simulate_games(rng, white, black, TEN.level, 100, 40)
    chains = (fresh(counts[0], "white", TEN), fresh(counts[1], "black", TEN))
    found = predict_by_markov(*chains)
    vector = solve_chain(chains[0].matrix, chains[1].matrix)
    assert (found.loss, found.win) == pytest.approx((vector[0], vector[-1]))
    assert found.draw == pytest.approx(1 - vector[0] - vector[-1])
    assert found.expected_score == pytest.approx(vector @ build_outcome_vector(10))
    assert found.expected_score == pytest.approx(
        (found.win or 0) + (found.draw or 0) / 2
    )
    assert found.caution == found.missing == ""


def test_no_moves_predict_nothing() -> None:
    empty = Transitions(TEN)
    some = transitions(TEN, [Move("white", 20, -40, 0)])
    found = predict_by_markov(empty.build_chain("white"), some.build_chain("black"))
    assert (found.expected_score, found.win, found.low) == (None, None, None)
    assert found.missing == "no moves of white yet"
    nobody = predict_by_markov(empty.build_chain("white"), empty.build_chain("black"))
    assert nobody.missing == "no moves of white and black yet"


def test_two_who_never_err_stay_where_they_start_and_it_is_said() -> None:
    flawless = transitions(
        NINETEEN, [Move("white", cp, 0, 0) for cp in range(-300, 301)]
    )
    found = predict_by_markov(
        flawless.build_chain("white"), flawless.build_chain("black")
    )
    assert (found.expected_score, found.draw) == (0.5, 1.0)
    assert found.low is None and found.high is None
    assert "the start decides" in found.caution


def test_one_who_never_errs_beats_one_who_does() -> None:
    flawless = transitions(TEN, [Move("white", cp, 0, 0) for cp in range(-300, 301)])
    erring = transitions(TEN, [Move("white", cp, -45, 0) for cp in range(-300, 301)])
    found = predict_by_markov(
        flawless.build_chain("white"), erring.build_chain("black")
    )
    assert (found.win, found.expected_score) == (1.0, 1.0)
    # A player without an error in 601 moves can err in the next move, so the interval
    # must be neither a single point nor the whole range from 0 to 1.
    assert found.low is not None
    assert 0 < found.low < 1
    assert found.high == 1.0
    assert "no move seen leads back" in found.caution
    turned = predict_by_markov(
        erring.build_chain("white"), flawless.build_chain("black")
    )
    assert turned.expected_score == 0.0
    assert turned.low == 0.0
    assert turned.high is not None
    assert 0 < turned.high < 1
    few = transitions(TEN, [Move("white", cp, 0, 0) for cp in range(-300, 301, 60)])
    wider = predict_by_markov(few.build_chain("white"), erring.build_chain("black"))
    assert wider.low is not None
    assert wider.low < found.low


@pytest.mark.parametrize(("games", "turns"), [(13, 40), (100, 40)])
def test_known_matrices_are_recovered_within_the_interval(
    games: int, turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The smaller case is near the smallest sample of the paper, 500 moves."""
    monkeypatch.setattr("live.ratings.predictions.USUAL_DESIGN_EFFECT", 1)
    rng = np.random.default_rng(games)
    white, black = with_slips(FISCHER, 0.02), with_slips(SPASSKY, 0.02)
    truth = float(solve_chain(white, black) @ build_outcome_vector(10))
    covered = told = 0
    errors = []
    for _ in range(400):
        counts = simulate_games(rng, white, black, TEN.level, games, turns)
        found = predict_by_markov(
            fresh(counts[0], "white", TEN), fresh(counts[1], "black", TEN)
        )
        assert found.expected_score is not None
        errors.append(found.expected_score - truth)
        if found.low is not None and found.high is not None:
            told += 1
            covered += found.low <= truth <= found.high
    assert told > 370
    assert 0.92 <= covered / told <= 0.99
    assert abs(np.mean(errors)) < 0.06
