"""What is asked of a network of human moves, and what any of them answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import chess


@dataclass(frozen=True)
class Asked:
    """A position, who plays it and in what kind of game.

    ``board`` keeps the moves that led here, of which the network sees the last two; ``elo`` is
    the mover's and the opponent's; ``kind`` is one of ``live.human.encoding.KINDS``.
    """

    board: chess.Board
    elo: tuple[int, int]
    kind: str = "otb"


class HumanMoves(Protocol):
    """A network of human moves."""

    #: What it was learned from, in a few words.
    about: dict[str, str]
    #: Whether the players' ratings change its answers.
    by_elo: bool

    def shares(self, asked: Sequence[Asked]) -> list[dict[str, float]]:
        """For each position the share of players who choose each legal move, largest first."""
        ...


def open_network(path: Path | None = None) -> HumanMoves:
    """The network in a file, or the one that comes with the package.

    A name that ends with ``.pb.gz`` is a Maia network, any other an ONNX file. Raises
    :class:`~live.errors.ConfigError`, one line that says what is missing or wrong.
    """
    if path is not None and path.name.endswith((".pb.gz", ".pb")):
        from live.human.maia import Maia

        return Maia(path)
    from live.human.network import HumanNetwork, shipped

    return HumanNetwork(path or shipped())
