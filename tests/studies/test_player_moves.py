"""One player's moves, added row by row."""

from __future__ import annotations

from typing import Any

from live.studies.study_data import ConformingMoves


def row(game: int, ply: int, *, counted: bool, score: float) -> tuple[Any, ...]:
    return (game, 1, "white", 1972, "Match", 2, 2785, score, 10, -5, -5, counted, ply, False)


def test_a_game_without_a_counted_move_has_no_result() -> None:
    """A forfeit after one move is a game of nobody, else it would count for whoever moved."""
    held = ConformingMoves("same-search")
    held.add(row(1, 1, counted=False, score=0.0))
    for ply in (17, 19, 21):
        held.add(row(2, ply, counted=ply > 18, score=1.0))
    assert (held.points, held.results, held.games) == (1.0, 1, 2)
