"""What is asked of a network of human moves, and what any of them answers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import chess

from live.human.question import HumanAnswer, HumanQuestion, rounded_answer


@dataclass(frozen=True)
class Asked:
    """A position, who plays it and in what kind of game.

    ``board`` keeps the moves that led here, of which the network sees the last two; ``elo`` is
    the mover's and the opponent's; ``kind`` is one of ``live.human.question.KINDS``.
    """

    board: chess.Board
    elo: tuple[int, int]
    kind: str = "otb"


class HumanMoves(Protocol):
    """A network of human moves."""

    #: Its name and a digest of its file: equal where answers are.
    identity: str
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


def identity_of(path: Path) -> str:
    """Name and content of a network's file."""
    return f"{path.name} {hashlib.blake2b(path.read_bytes(), digest_size=6).hexdigest()}"


def answers(network: HumanMoves, questions: Sequence[HumanQuestion]) -> list[HumanAnswer]:
    """What the network answers, rounded; blocks while it works."""
    asked: list[Asked] = []
    for question in questions:
        board = chess.Board(question.fen)
        for uci in question.moves:
            board.push_uci(uci)
        elos = question.elos if network.by_elo else question.elos[:1]
        asked += [Asked(board, (elo, elo), question.kind) for elo in elos]
    shares = iter(network.shares(asked))
    answered = []
    for question in questions:
        if network.by_elo:
            each = [next(shares) for _ in question.elos]
        else:
            each = [next(shares)] * len(question.elos)
        answered.append(rounded_answer(network.identity, each, network.by_elo))
    return answered
