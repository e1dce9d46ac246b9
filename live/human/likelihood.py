"""What players of a rating play here, from the network's logits; no network, no files.

A share is a probability: of a hundred players of this rating in this position and kind of game,
how many choose the move. Shares of a position add up to one over its legal moves. A promotion to
a lesser piece was too rare to learn apart: a pawn's step to the last rank counts once, as the
promotion to a queen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import chess
import numpy as np

from live.human.encoding import KINDS, LEARNED_ELO, Floats

#: A loss of this many centipawns is an error.
ERROR_CP = 100
#: Of an error's forecast, at least this share of the players' moves must have a score.
SCORED_SHARE = 0.7
#: Shares below this are all the same to the network: too rare to be told apart.
LEAST_SHARE = 1 / 200


def not_covered(board: chess.Board, start: str = chess.STARTING_FEN) -> str | None:
    """Why a position is unlike those learned from, in a few words; None when it is like them.

    ``start`` is the position that the game began with.
    """
    if board.chess960:
        return "Chess960 was not learned"
    if start.split()[:4] != chess.STARTING_FEN.split()[:4]:
        return "games from another starting position were not learned"
    for color in chess.COLORS:
        if len(board.pieces(chess.QUEEN, color)) > 2:
            return "three queens of one side were not learned"
        for kind in (chess.ROOK, chess.BISHOP, chess.KNIGHT):
            if len(board.pieces(kind, color)) > 2:
                return f"a pawn promoted to a {chess.piece_name(kind)} was not learned"
    if not board.is_valid():
        return "the position is not legal"
    return None


def learned_elo(elo: int) -> tuple[int, bool]:
    """The rating within those learned that is nearest, and whether it had to be moved."""
    low, high = LEARNED_ELO
    nearest = min(max(elo, low), high)
    return nearest, nearest != elo


def learned_kind(kind: str | None, online: bool = False) -> str:
    """The kind of game learned that is nearest: classical and unknown are the board's own."""
    if kind in KINDS:
        return str(kind)
    return "classical" if online else "otb"


def shares(board: chess.Board, logits: Floats) -> dict[str, float]:
    """Share of the players who choose each legal move, by UCI, the most frequent first.

    ``logits`` are the 4096 of this position, from the mover's side.
    """
    flip = 0 if board.turn else 56
    moves: list[str] = []
    places: list[int] = []
    for move in board.legal_moves:
        if move.promotion in (None, chess.QUEEN):
            moves.append(move.uci())
            places.append((move.from_square ^ flip) * 64 + (move.to_square ^ flip))
    if not moves:
        return {}
    chosen = logits[places].astype(np.float64)
    weights = np.exp(chosen - chosen.max())
    weights /= weights.sum()
    order = np.argsort(-weights, kind="stable")
    return {moves[k]: float(weights[k]) for k in order}


@dataclass(frozen=True)
class Difficulty:
    """What an engine's scores say of the moves that these players choose.

    ``scored``: the share of their moves that have a score; the rest is assumed to be like them.
    ``error``: the chance of losing a pawn or more. ``expected_loss_cp``: the mean loss.
    """

    scored: float
    error: float
    expected_loss_cp: float


def difficulty(
    given: Mapping[str, float], losses_cp: Mapping[str, float], error_cp: float = ERROR_CP
) -> Difficulty | None:
    """The chance of an error and the expected loss; None when too few of the moves are scored.

    ``losses_cp``: centipawns that a move loses against the best, by UCI, where known.
    """
    known = [(share, losses_cp[uci]) for uci, share in given.items() if uci in losses_cp]
    scored = sum(share for share, _ in known)
    if scored < SCORED_SHARE:
        return None
    error = sum(share for share, loss in known if loss >= error_cp) / scored
    mean = sum(share * max(loss, 0.0) for share, loss in known) / scored
    return Difficulty(min(scored, 1.0), min(error, 1.0), mean)


def surprise(given: Mapping[str, float]) -> float:
    """Entropy of the shares in nats: 0 when everybody plays the same."""
    return -sum(share * float(np.log(share)) for share in given.values() if share > 0)


def in_words(share: float) -> str:
    """A share as a commentator would say it, no finer than the network can carry.

    ``about 1 in 12``, ``about 4 in 10``, ``nearly all``; below one in 200 all are
    ``fewer than 1 in 200``.
    """
    if share < LEAST_SHARE:
        return "fewer than 1 in 200"
    if share < 0.275:
        return f"about 1 in {_round_many(1 / share)}"
    if share < 0.95:
        tenths = min(max(round(share * 10), 3), 9)
        return "about half" if tenths == 5 else f"about {tenths} in 10"
    return "nearly all"


def _round_many(many: float) -> int:
    """To steps that grow with the number: 4, 5 .. 10, 12, 15, 20, 25, 30, 40, 50, 70, 100 ..."""
    steps = (4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200)
    return min(steps, key=lambda step: abs(np.log(many / step)))


def likely(given: Mapping[str, float], share: float = 0.9, most: int = 5) -> Sequence[str]:
    """The most frequent moves that together make up ``share``, at most so many."""
    chosen: list[str] = []
    total = 0.0
    for uci, part in given.items():
        if total >= share or len(chosen) == most:
            break
        chosen.append(uci)
        total += part
    return chosen
