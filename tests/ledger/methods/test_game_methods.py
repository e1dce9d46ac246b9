"""One game by the other methods: the figures people know, as scores come and go."""

from __future__ import annotations

import chess
import pytest

from live.engine.search import SearchOptions
from live.events import Color, Score
from live.ledger.calibrations_in_use import CalibrationsInUse
from live.ledger.game.game_evaluations import GameEvaluations
from live.ledger.methods.game_methods import GameMethodsState
from tests.ledger.event_of_three import event

GAINS: dict[Color, float | None] = {"white": -10.0, "black": None}
ELOS: dict[Color, int | None] = {"white": 2500, "black": None}
MEASURE = CalibrationsInUse("same-search")


def told(*scores: int | None, start: int | None = None) -> tuple[GameEvaluations, GameMethodsState]:
    """1.f3 e5 2.g4 Qh4# with the source's own evaluations after each ply."""
    known = GameEvaluations(chess.STARTING_FEN, chess960=False, search_options=SearchOptions())
    judgement = GameMethodsState()
    known.take_source_eval(0, None if start is None else Score(start))
    for ply, (uci, cp) in enumerate(zip(("f2f3", "e7e5", "g2g4", "d8h4"), scores, strict=False), 1):
        known.extend(uci)
        known.take_source_eval(ply, None if cp is None else Score(cp))
        judgement.judge(known, ply)
    return known, judgement


def test_the_mating_move_is_part_of_the_average() -> None:
    known, judgement = told(-50, -40, -900, None)
    methods = judgement.methods(known, GAINS, MEASURE, ELOS)
    assert judgement.sides["black"].loss.moves == 2
    assert methods.black.centipawn_loss == pytest.approx(5.0)  # 10 and 0
    assert methods.black.accuracy is not None and 90 < methods.black.accuracy <= 100
    assert methods.white.mean_gain_cp == -10.0
    assert "accuracy" not in methods.white.missing


def test_a_standard_start_without_an_evaluation_counts_as_lichess_has_it() -> None:
    known, judgement = told(15, 15)
    assert judgement.methods(known, GAINS, MEASURE, ELOS).white.centipawn_loss == 0.0
    known, judgement = told(15, 15, start=95)
    assert judgement.methods(known, GAINS, MEASURE, ELOS).white.centipawn_loss == 80.0


def test_a_move_without_a_score_keeps_the_accuracy_open() -> None:
    known, judgement = told(15, None, 20)
    methods = judgement.methods(known, GAINS, MEASURE, ELOS)
    assert methods.black.accuracy is None
    assert methods.black.missing["accuracy"] == "1 move not scored"
    assert methods.white.accuracy_so_far == 100.0


def test_nothing_is_read_anew_while_nothing_changes() -> None:
    known, judgement = told(15, 15, 15)
    first = judgement.methods(known, GAINS, MEASURE, ELOS)
    assert judgement.methods(known, GAINS, MEASURE, ELOS) is first
    known.truncate(2)
    judgement.truncate(2)
    assert judgement.methods(known, GAINS, MEASURE, ELOS) is not first
    fresh = told(15, 15)[1]
    assert judgement.methods(known, GAINS, MEASURE, ELOS) == fresh.methods(
        known, GAINS, MEASURE, ELOS
    )


@pytest.mark.slow
def test_a_whole_game_is_predicted_from_its_conformance() -> None:
    for view in event().games():
        assert view.methods.expected_score is not None
        assert view.methods.low is not None and view.methods.high is not None
        assert view.methods.low <= view.methods.expected_score <= view.methods.high
