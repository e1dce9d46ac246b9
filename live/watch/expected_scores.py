"""What White is expected to score after each ply of a game. Pure.

Expected scores are the chance to win plus half that of a draw, by score, ratings and
point of the game; where no model of results fits, by the score alone. Only what holds
counts: final scores.
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
"""White's expected scores after each ply, the start first; None while one does not
hold.
"""

#: The logistic curve that lichess publishes as win percentage
#: (lichess.org/page/accuracy).
_LOGISTIC = 0.00368208
#: Centipawns beyond which nothing changes.
_MOST_CP = 4000
#: Centipawns beside which a draw by repetition stands out.
_ADVANTAGE_CP = 100
#: What is known of a ply by the position after it.
_SCORED = ("score_cp", "mate", "final", "win", "draw")


def other(color: Color) -> Color:
    """Return the other side."""
    return "black" if color == "white" else "white"


def score_of(color: Color, score: float) -> float:
    """Return one side's expected score, given White's."""
    return score if color == "white" else 1 - score


def expected_scores(game: GameDetail) -> list[float | None]:
    """Return White's expected score after each ply, the start first."""
    # Ratings do not enter into the start's: beside figures that know them it would be a
    # fall.
    is_comparable = all(ply.win is None for ply in game.plies)
    start = scores_alike(game)[0] if is_comparable else None
    return [start, *map(_expect, game.plies)]


def scores_alike(game: GameDetail) -> list[float | None]:
    """Return the same of players rated alike: by the score alone."""
    known = (ply.score_cp if ply.final else None for ply in game.plies)
    return [
        None if score_cp is None else score_alike(score_cp)
        for score_cp in (game.start_score_cp, *known)
    ]


def score_after(game: GameDetail, ply: int) -> int | None:
    """Return the score after a ply, centipawns, White's side; 0 is the start."""
    return game.plies[ply - 1].score_cp if ply else game.start_score_cp


def score_alike(score_cp: int) -> float:
    """Return what White is expected to score between players rated alike."""
    return 1 / (1 + math.exp(-_LOGISTIC * max(-_MOST_CP, min(_MOST_CP, score_cp))))


def _expect(ply: PlyView) -> float | None:
    if not ply.final or ply.score_cp is None:
        return None
    if ply.win is not None and ply.draw is not None:
        return ply.win + ply.draw / 2
    return score_alike(ply.score_cp)


def without_repetitions(game: GameDetail) -> GameDetail:
    """Score each position that is there for the third time as the time before: an
    engine calls it a draw, though the game goes on. The last position keeps its own
    score.
    """
    if not _has_sudden_draw(game):
        return game
    plies = list(game.plies)
    moves = tuple(ply.uci for ply in game.plies[:-1])
    start, *positions = _replay(game.start_fen, game.variant == "chess960", moves)
    times = defaultdict[str, list[PlyView | None]](list, {start: [None]})
    for at, position in enumerate(positions):
        same = times[position]
        before = same[-1] if len(same) >= 2 else None
        if game.plies[at].score_cp == 0 and before is not None:
            scored = {name: getattr(before, name) for name in _SCORED}
            plies[at] = replace(game.plies[at], **scored)
        same.append(plies[at])
    return replace(game, plies=tuple(plies))


def _has_sudden_draw(game: GameDetail) -> bool:
    """Whether a score of 0 stands beside an advantage, as only repetitions need a
    replay.
    """
    cp = [game.start_score_cp or 0, *(ply.score_cp or 0 for ply in game.plies)]
    return any(
        middle == 0 and max(abs(before), abs(after)) >= _ADVANTAGE_CP
        for before, middle, after in zip(cp, cp[1:], cp[2:], strict=False)
    )


@lru_cache(maxsize=64)
def _replay(start_fen: str, chess960: bool, moves: tuple[str, ...]) -> tuple[str, ...]:
    """Find the positions of a game, the start first, as far as it can be replayed.

    Kept, since a game is looked at again with every score of it.
    """
    found = [start_fen]
    with contextlib.suppress(ValueError):
        board = chess.Board(start_fen, chess960=chess960)
        found = [board.epd()]
        for move in moves:
            board.push_uci(move)
            found.append(board.epd())
    return tuple(found)
