"""What players of a rating play here, from the network's logits; no network, no files.

A share is a probability: of a hundred players of this rating in this position and kind of game,
how many choose the move. Shares of a position add up to one over its legal moves. A promotion to
a lesser piece was too rare to learn apart: a pawn's step to the last rank counts once, as the
promotion to a queen.
"""

from __future__ import annotations

import chess
import numpy as np

from live.human.encoding import Floats


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
