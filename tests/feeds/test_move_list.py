import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.feeds.movetext import MAX_PLIES
from live.feeds.position_tracker import ListedMove, ListedMoves

START = chess.Board()


def told(*texts: str) -> list[ListedMove]:
    return [ListedMove(text) for text in texts]


def test_san_and_uci_are_both_moves_and_illegal_ones_end_the_game_there() -> None:
    held = ListedMoves()
    held.set(START, told("e4", "e7e5", "Ng1-f3", "b8c6", "Qh7", "d6"))
    assert [(move.uci, move.san) for move in held.moves] == [
        ("e2e4", "e4"),
        ("e7e5", "e5"),
        ("g1f3", "Nf3"),
        ("b8c6", "Nc6"),
    ]
    assert held.problem == "illegal move Qh7 at ply 5"
    held.set(START, told("e4", "e7e5", "Ng1-f3", "b8c6", "Bb5"))
    assert len(held.moves) == 5
    assert held.problem is None


def test_corrected_clocks_and_another_start() -> None:
    held = ListedMoves()
    held.set(START, [ListedMove("e4", 90.0), ListedMove("e5", 80.0)])
    held.set(START, [ListedMove("e4", 91.0, 2.0), ListedMove("e5", 80.0)])
    assert [move.clock_s for move in held.moves] == [91, 80]
    assert [move.spent_s for move in held.moves] == [2, None]
    held.set(chess.Board("4k3/8/8/8/8/8/8/4K2R w K - 0 1"), told("O-O"))
    assert [move.uci for move in held.moves] == ["e1g1"]
    held.set(chess.Board("4k3/8/8/8/8/8/8/4K2R w K - 0 1", chess960=True), told("O-O"))
    assert [move.uci for move in held.moves] == ["e1h1"]


def test_moves_beyond_any_game_are_left_out() -> None:
    shuffle = ["Nf3", "Nf6", "Ng1", "Ng8"] * (MAX_PLIES // 4 + 1)
    held = ListedMoves()
    held.set(START, told(*shuffle))
    assert len(held.moves) == MAX_PLIES
    held.set(START, told("Nf3"))
    assert len(held.moves) == 1


LINES = ["e4 e5 Nf3 Nc6 Bb5 a6", "e4 e5 Nf3 Nf6", "e4 c5", "d4 Kd7 c4", "", "e2e4 e5 Nf3 Nc6"]


@pytest.mark.slow
@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=8))
def test_law_what_was_told_before_does_not_matter(lines: list[str]) -> None:
    held, fresh = ListedMoves(), ListedMoves()
    for line in lines:
        held.set(START, told(*line.split()))
    fresh.set(START, told(*lines[-1].split()))
    assert (held.moves, held.problem) == (fresh.moves, fresh.problem)
