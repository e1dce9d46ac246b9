"""White's expected score after each ply of a game. Pure.

The expected score is the chance of a win plus half the chance of a draw. It depends on
the engine's score, both ratings and the stage of the game, or on the engine's score
alone if no model of results applies. Only final engine scores are used.
"""

import contextlib
import math
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

import chess
from msgspec.structs import replace

from live.messages.figures import GameDetail, PlyView
from live.messages.values import Color

Scores = Sequence[float | None]
"""White's expected score at the start and after each ply; None while the engine's score
is not final.
"""

#: Slope, per centipawn, of the win percentage curve that lichess publishes
#: (lichess.org/page/accuracy).
_LOGISTIC = 0.00368208
#: Limit of the absolute engine score that enters the curve, centipawns.
_MOST_CP = 4000
#: Minimum advantage, centipawns. If a score of 0 is next to such an advantage, the
#: position can be a repetition.
_ADVANTAGE_CP = 100
#: Fields of a ply that depend on the position after it.
_SCORED = ("score_cp", "mate", "final", "win", "draw")


def score_of(color: Color, score: float) -> float:
    """Return the expected score of ``color``, given White's expected score."""
    return score if color == "white" else 1 - score


def expected_scores(game: GameDetail) -> list[float | None]:
    """Return White's expected score at the start and after each ply."""
    # The start has no expected score that includes the ratings. Next to scores that
    # include them, it would make the first move look like a gain or a loss.
    is_comparable = all(ply.win is None for ply in game.plies)
    start = list_equal_rating_scores(game)[0] if is_comparable else None
    return [start, *map(_compute_expected_score, game.plies)]


def list_equal_rating_scores(game: GameDetail) -> list[float | None]:
    """Return White's expected score at the start and after each ply, computed as if
    both players had the same rating.
    """
    final_scores = (ply.score_cp if ply.final else None for ply in game.plies)
    return [
        None if score_cp is None else compute_equal_rating_score(score_cp)
        for score_cp in (game.start_score_cp, *final_scores)
    ]


def score_after(game: GameDetail, ply: int) -> int | None:
    """Return the engine's score after a ply (0: the start), in centipawns for White;
    None while it is unknown.
    """
    return game.plies[ply - 1].score_cp if ply else game.start_score_cp


def compute_equal_rating_score(score_cp: int) -> float:
    """Return White's expected score against a player of equal rating.

    ``score_cp`` is the engine's score in centipawns.
    """
    return 1 / (1 + math.exp(-_LOGISTIC * max(-_MOST_CP, min(_MOST_CP, score_cp))))


def _compute_expected_score(ply: PlyView) -> float | None:
    if not ply.final or ply.score_cp is None:
        return None
    if ply.win is not None and ply.draw is not None:
        return ply.win + ply.draw / 2
    return compute_equal_rating_score(ply.score_cp)


def replace_repetition_draws(game: GameDetail) -> GameDetail:
    """Return the game with the scores of repeated positions corrected.

    The engine scores the third occurrence of a position as a draw, although the game
    continues. Such a ply gets the score of the previous occurrence of the position. The
    last position of the game is not changed.
    """
    if not _has_sudden_zero_score(game):
        return game
    plies = list(game.plies)
    moves = tuple(ply.uci for ply in game.plies[:-1])
    start, *positions = _replay(game.start_fen, game.variant == "chess960", moves)
    times = defaultdict[str, list[PlyView | None]](list, {start: [None]})
    for at, position in enumerate(positions):
        earlier_plies = times[position]
        before = earlier_plies[-1] if len(earlier_plies) >= 2 else None
        if game.plies[at].score_cp == 0 and before is not None:
            scored = {name: getattr(before, name) for name in _SCORED}
            plies[at] = replace(game.plies[at], **scored)
        earlier_plies.append(plies[at])
    return replace(game, plies=tuple(plies))


def _has_sudden_zero_score(game: GameDetail) -> bool:
    """Return whether a score of 0 is next to a clear advantage.

    Only such a game is replayed to look for repetitions, since a replay is slow.
    """
    cp = [game.start_score_cp or 0, *(ply.score_cp or 0 for ply in game.plies)]
    return any(
        middle == 0 and max(abs(before), abs(after)) >= _ADVANTAGE_CP
        for before, middle, after in zip(cp, cp[1:], cp[2:], strict=False)
    )


@lru_cache(maxsize=64)
def _replay(start_fen: str, chess960: bool, moves: tuple[str, ...]) -> tuple[str, ...]:
    """Return the positions of a game from the start up to the first unreadable move.

    The result is cached, since each new score of a game causes a new examination.
    """
    positions = [start_fen]
    with contextlib.suppress(ValueError):
        board = chess.Board(start_fen, chess960=chess960)
        positions = [board.epd()]
        for move in moves:
            board.push_uci(move)
            positions.append(board.epd())
    return tuple(positions)
