"""Moves against the engine's choice: what is known of them, and what is counted."""

from __future__ import annotations

import chess
import pytest

from live.engine.search import Line, SearchOptions
from live.events import Score
from live.ledger.game_evaluations import EvaluatedPosition, GameEvaluations
from live.ledger.rate_game import FIRST_CHOICE_PLY, MoveCounts, MoveQuality, judged
from live.ratings.choice_model import spread_of
from live.ratings.conformance import (
    GUID_BRATKO,
    PONDERATED,
    RAW,
    AccumulatedConformance,
)


def known(*ucis: str, start_fen: str = chess.STARTING_FEN) -> GameEvaluations:
    found = GameEvaluations(start_fen, chess960=False, search_options=SearchOptions())
    for uci in ucis:
        found.extend(uci)
    return found


def test_a_move_is_judged_as_its_scores_become_known() -> None:
    found = known("e2e4", "e7e5")
    assert judged(found.known_move(2)) == MoveQuality(2)
    found.set_position(1, EvaluatedPosition(Score(40), "c7c5"))
    assert judged(found.known_move(2)) == MoveQuality(2, best_cp=-40, first_choice=False)
    found.set_played(2, Score(55))
    assert judged(found.known_move(2)) == MoveQuality(
        2, best_cp=-40, gain_cp=-15, first_choice=False
    )
    found.set_position(2, EvaluatedPosition(Score(60), "g1f3"))
    assert judged(found.known_move(2)).after == Score(60)


def test_evaluations_of_the_source_know_no_first_choice() -> None:
    found = known("e2e4")
    found.take_source_eval(0, Score(20))
    assert judged(found.known_move(1)) == MoveQuality(1, best_cp=20)
    assert MoveCounts().after(judged(found.known_move(1))).unchosen


def test_the_only_legal_move_is_forced() -> None:
    # The king on h1 must take the queen on g2: everything else stays in check.
    found = known("h1g2", start_fen="k7/8/8/8/8/8/6q1/7K w - - 0 1")
    assert judged(found.known_move(1)).forced
    assert not judged(known("e2e4").known_move(1)).forced


@pytest.mark.parametrize(
    ("move", "choices"),
    [
        (MoveQuality(FIRST_CHOICE_PLY, 20, 0, True), 1),
        (MoveQuality(FIRST_CHOICE_PLY - 2, 20, 0, True), 0),
        (MoveQuality(FIRST_CHOICE_PLY, 301, 0, True), 0),
        (MoveQuality(FIRST_CHOICE_PLY, 20, 0, True, forced=True), 0),
        (MoveQuality(FIRST_CHOICE_PLY, 20, None, None), 0),
    ],
)
def test_first_choices_count_where_there_was_a_choice(move: MoveQuality, choices: int) -> None:
    assert MoveCounts().after(move).first_choice == (choices, choices)


def test_shares_count_what_the_accumulated_conformance_counts() -> None:
    moves = [
        MoveQuality(ply, best_cp=ply * 7 - 200, gain_cp=-(ply % 5) * 20, first_choice=ply % 5 == 0)
        for ply in range(1, 80, 2)
    ]
    counts = MoveCounts()
    for move in moves:
        counts = counts.after(move)
    for kind, found in (
        (RAW, counts.raw), (GUID_BRATKO, counts.guid_bratko), (PONDERATED, counts.ponderated)
    ):  # fmt: skip
        whole = AccumulatedConformance(kind)
        for move in moves:
            assert move.best_cp is not None and move.gain_cp is not None
            whole.add(move.best_cp, move.gain_cp, ply=move.ply)
        assert found == (whole.n, whole.within)
    assert counts.markov == counts.raw.n > 0


def test_a_choice_among_several_lines_is_kept_where_it_counts() -> None:
    shuffle = ("g1f3", "g8f6", "f3g1", "f6g8")
    found = GameEvaluations(
        chess.STARTING_FEN, chess960=False, search_options=SearchOptions(lines=2)
    )
    for uci in (*shuffle * 4, "e2e4", "e7e5", "a2a3"):
        found.extend(uci)

    def search(ply: int, best: str, other: str) -> None:
        sign = 1 if found.mover(ply) == "white" else -1
        lines = (Line(best, Score(sign * 40), 12), Line(other, Score(sign * 10), 12))
        found.set_position(ply - 1, EvaluatedPosition(Score(sign * 40), best, lines=lines))

    search(18, "e7e5", "c7c5")
    assert judged(found.known_move(18)).spread == spread_of([("e7e5", 40), ("c7c5", 10)], "e7e5")
    search(19, "g1f3", "a2a3")
    assert judged(found.known_move(19)).spread == spread_of([("g1f3", 40), ("a2a3", 10)], "a2a3")
    search(16, "f6g8", "e7e6")
    assert judged(found.known_move(16)).spread is None  # opening
    search(17, "e2e4", "a2a3")
    assert found.known_move(17).board.repeated
    assert judged(found.known_move(17)).spread is None
    search(18, "e7e5", "e7e5")
    assert judged(found.known_move(18)).spread is None  # one move at two ranks: another is missing
