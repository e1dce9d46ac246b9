"""Every figure that Ferreira 2012 prints and whose input it prints too."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import chess.pgn
import pytest

from live.events import MATE_CP, Color, Score
from live.ratings.expected_score import difference_of
from live.ratings.ferreira import (
    GainHistogram,
    MeasuredPlayer,
    Strength,
    engine_strength,
    expected_score_between,
    scores_against,
    solve,
    successive_gain,
)

FIGURE_1 = Path(__file__).parents[1] / "data" / "figure-1.pgn"

# Figure 1, fourth column, in pawns, White and Black in turn.
GAINS = """
-0.01 0.00 -0.05 -0.16 -0.13 -0.11 -0.02 -0.04 -0.17 -0.10 -0.09 0.02 0.00 -0.04 -0.04 -0.13
-0.03 -0.03 0.06 -0.04 -1.37 0.00 -0.03 -0.01 0.01 0.01 -0.57 -0.38 0.04 0.13 -0.09 -0.26
-0.04 -0.11 -5.56 -0.09 -0.02 0.00 0.00 0.00 0.00 0.18 0.00 0.00 0.00 -0.02 -0.03 0.03
-0.55 -0.17 -2.60 0.21 -0.42 0.17 -1.35 -0.42 0.00 0.00 0.43 0.87 -0.74 0.15 -0.47 0.00
0.00 0.47 -10.25 3.73 -11.18 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00
0.00 0.00
"""

# Table 1: the names with their ratings, and the third line of each cell above the diagonal.
PLAYERS = {
    "Kramnik": 2800,
    "Carlsen": 2826,
    "Nakamura": 2758,
    "McShane": 2671,
    "Anand": 2811,
    "Aronian": 2802,
    "Short": 2698,
    "Howell": 2633,
    "Adams": 2734,
}
DIFFERENCES = [
    [15, 57, 51, 28, 43, 50, 63, 67],
    [40, 37, 11, 26, 36, 46, 51],
    [-3, -27, -17, -4, 4, 12],
    [-24, -13, -1, 8, 14],
    [13, 23, 32, 39],
    [12, 22, 29],
    [9, 15],
    [8],
]
# Table 4, fourth column.
SCORES_AGAINST_ENGINE = [0.403, 0.396, 0.320, 0.337, 0.371, 0.335, 0.340, 0.304, 0.315]


@pytest.fixture(scope="module")
def game() -> chess.pgn.Game:
    with FIGURE_1.open() as file:
        game = chess.pgn.read_game(file)
    assert game is not None
    assert not game.errors
    assert game.end().board().is_checkmate()
    return game


@pytest.fixture(scope="module")
def gains(game: chess.pgn.Game) -> list[tuple[Color, int]]:
    """Mover and gain of each ply, from the evaluations alone."""
    scores = []
    for node in [game, *game.mainline()]:
        evaluation = node.eval()
        assert evaluation is not None
        scores.append(Score(cp=evaluation.white().score(mate_score=MATE_CP)))
    colors: list[Color] = ["white", "black"]
    return [
        (colors[i % 2], successive_gain(before, after, colors[i % 2]))
        for i, (before, after) in enumerate(pairwise(scores))
    ]


def of(color: Color, gains: list[tuple[Color, int]]) -> list[int]:
    return [gain for mover, gain in gains if mover == color]


def test_every_gain_of_figure_1(gains: list[tuple[Color, int]]) -> None:
    printed = [round(100 * float(pawns)) for pawns in GAINS.split()]
    assert len(printed) == 82
    assert [gain for _, gain in gains] == printed


def test_algorithm_1_on_figure_1(gains: list[tuple[Color, int]]) -> None:
    byrne, fischer = GainHistogram(of("white", gains)), GainHistogram(of("black", gains))
    expected = expected_score_between(fischer, byrne)
    assert expected is not None
    assert round(expected, 4) == 0.6550
    assert round(difference_of(expected) or 0, 1) == 112.8


def test_algorithm_4_on_figure_1(gains: list[tuple[Color, int]]) -> None:
    def curve(color: Color) -> list[float | None]:
        own = of(color, gains)
        scores = [scores_against(own[:n]) for n in range(1, len(own) + 1)]
        return [difference_of(score.total / (2 * score.n)) for score in scores]

    byrne, fischer = curve("white"), curve("black")
    assert byrne[:6] == [None] * 6
    assert None not in byrne[6:]
    assert fischer[0] == 0.0
    assert byrne[-1] is not None and fischer[-1] is not None
    assert round(byrne[-1], 1) == -185.4
    assert round(fischer[-1], 1) == -43.4


def table_1() -> dict[str, Strength]:
    names = list(PLAYERS)
    differences = {
        (names[i], names[j]): float(difference)
        for i, row in enumerate(DIFFERENCES)
        for j, difference in enumerate(row, start=i + 1)
    }
    return solve(differences, PLAYERS)


def test_algorithm_2_on_table_1() -> None:
    strengths = table_1()
    ratings = [strengths[name].rating for name in PLAYERS]
    printed = (2789.7, 2773.9, 2733.4, 2736.9, 2761.3, 2749.3, 2737.9, 2728.6, 2722.0)
    assert ratings == pytest.approx(printed, abs=0.05)


def test_algorithm_3_on_table_4() -> None:
    strengths = table_1()
    engine = engine_strength(
        MeasuredPlayer(name, score, elo, strengths[name].rating)
        for (name, elo), score in zip(PLAYERS.items(), SCORES_AGAINST_ENGINE, strict=True)
    )
    printed = [-69, -74, -132, -119, -93, -120, -116, -145, -136]
    # The paper rounded p to three decimals only for print, which moves d by up to 0.4 Elo.
    assert [row.difference for row in engine.rows] == pytest.approx(printed, abs=0.9)
    assert engine.by_elo is not None and engine.by_strength is not None
    assert round(engine.by_elo, 1) == 2860.0
    assert round(engine.by_strength, 1) == 2860.0
