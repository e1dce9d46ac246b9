"""How well a network says what was played in games, by rating and kind: pure bookkeeping.

Of every game the plies after the opening are asked for, with the players' own ratings and, where
the network knows ratings, with both 400 Elo higher and lower.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import chess
import numpy as np

from live.human.players import Asked, HumanMoves
from live.human.question import LEARNED_ELO, not_covered
from live.studies.human_dataset import OPENING_PLIES, GameLine

#: Ratings this far off must say less of the moves than the right ones.
OFF_ELO = 400
#: Width of a band of ratings.
BAND_ELO = 200
#: No move is held less likely than this: a share of zero would be an endless surprise.
FLOOR = 1e-6
#: Forecasts around which as many moves must be played, each with its lowest and highest.
LEVELS = {
    0.05: (0.04, 0.06),
    0.1: (0.08, 0.12),
    0.2: (0.17, 0.23),
    0.4: (0.36, 0.44),
    0.6: (0.55, 0.65),
    0.8: (0.75, 0.85),
}
_RESAMPLED = 1000


@dataclass
class Tally:
    """What one network said of some positions."""

    positions: int = 0
    hits: int = 0
    loss: float = 0.0
    off: int = 0
    off_right: float = 0.0
    off_wrong: float = 0.0
    forecast: Counter[Any] = field(default_factory=Counter)
    played: Counter[Any] = field(default_factory=Counter)
    moves: Counter[Any] = field(default_factory=Counter)

    def add(self, given: dict[str, float], uci: str, wrong: list[dict[str, float]]) -> None:
        """One position: its shares, the move played, and the shares at wrong ratings."""
        self.positions += 1
        self.hits += next(iter(given)) == uci
        loss = -math.log(max(given[uci], FLOOR))
        self.loss += loss
        if wrong:
            self.off += 1
            self.off_right += loss
            self.off_wrong += sum(-math.log(max(w[uci], FLOOR)) for w in wrong) / len(wrong)
        for move, share in given.items():
            bins: list[Any] = [("tenth", min(int(share * 10), 9))]
            bins += [
                ("level", level) for level, (low, high) in LEVELS.items() if low <= share < high
            ]
            for one in bins:
                self.forecast[one] += share  # type: ignore[assignment]
                self.played[one] += move == uci
                self.moves[one] += 1

    def reliability(self, name: str) -> list[dict[str, float | int]]:
        """Of the moves with a forecast in each bin, the mean forecast and the share played."""
        return [
            {
                "at": key[1] / 10 if name == "tenth" else key[1],
                "forecast": round(self.forecast[key] / many, 4),
                "played": round(self.played[key] / many, 4),
                "positions": many,
            }
            for key, many in sorted(self.moves.items())
            if key[0] == name
        ]

    def figures(self) -> dict[str, Any]:
        """Share of first choices played, and mean negative log-likelihoods in nats."""
        many = max(self.positions, 1)
        off = max(self.off, 1)
        return {
            "positions": self.positions,
            "first_choice": round(self.hits / many, 4),
            "nll": round(self.loss / many, 4),
            "right_elo_nll": round(self.off_right / off, 4) if self.off else None,
            "wrong_elo_nll": round(self.off_wrong / off, 4) if self.off else None,
        }


def asked_of(game: GameLine) -> Iterator[tuple[Asked, str]]:
    """The positions of a game after the opening, each with the move played, in UCI."""
    board = chess.Board()
    for ply, uci in enumerate(game.moves.split()):
        if ply >= OPENING_PLIES:
            elo = game.elo if board.turn else (game.elo[1], game.elo[0])
            yield Asked(board.copy(stack=8), elo, game.kind), uci
        board.push_uci(uci)


def _shifted(elo: tuple[int, int]) -> list[tuple[int, int]]:
    low, high = LEARNED_ELO
    return [
        (elo[0] + off, elo[1] + off) for off in (-OFF_ELO, OFF_ELO) if low <= elo[0] + off <= high
    ]


def band(elo: int) -> int:
    """The lower end of the 200 Elo that a rating lies in."""
    return elo // BAND_ELO * BAND_ELO


class Check:
    """The figures of one network over games, one game at a time."""

    def __init__(self, network: HumanMoves, wrong_elo: bool = True) -> None:
        self._network = network
        self._wrong = wrong_elo and network.by_elo
        self.total = Tally()
        self.by_elo: dict[int, Tally] = {}
        self.by_kind: dict[str, Tally] = {}
        self.left_out: Counter[str] = Counter()
        self._margins: list[tuple[int, float]] = []

    def add(self, game: GameLine) -> None:
        """Ask for every position of a game after the opening."""
        positions = []
        for asked, uci in asked_of(game):
            reason = not_covered(asked.board)
            if reason is None and uci[4:] in ("", "q"):
                positions.append((asked, uci))
            else:
                self.left_out[reason or "promotions to a lesser piece were not learned apart"] += 1
        right = self._network.shares([asked for asked, _ in positions])
        others = self._others([asked for asked, _ in positions])
        before = (self.total.off, self.total.off_wrong - self.total.off_right)
        for (asked, uci), given, wrong in zip(positions, right, others, strict=True):
            for tally in (
                self.total,
                self.by_elo.setdefault(band(asked.elo[0]), Tally()),
                self.by_kind.setdefault(asked.kind, Tally()),
            ):
                tally.add(given, uci, wrong)
        gained = self.total.off_wrong - self.total.off_right - before[1]
        self._margins.append((self.total.off - before[0], gained))

    def _others(self, asked: list[Asked]) -> list[list[dict[str, float]]]:
        if not self._wrong:
            return [[] for _ in asked]
        wanted = [Asked(one.board, elo, one.kind) for one in asked for elo in _shifted(one.elo)]
        answers = iter(self._network.shares(wanted))
        return [[next(answers) for _ in _shifted(one.elo)] for one in asked]

    def report(self) -> dict[str, Any]:
        """All figures, as ``live-rate human --check`` prints them."""
        return {
            **self.total.figures(),
            "right_elo_gain": self._gain(),
            "by_elo": [
                {"elo": elo, **tally.figures(), "reliability": tally.reliability("level")}
                for elo, tally in sorted(self.by_elo.items())
            ],
            "by_kind": [{"kind": kind, **t.figures()} for kind, t in sorted(self.by_kind.items())],
            "reliability": self.total.reliability("tenth"),
            "left_out": dict(self.left_out),
        }

    def _gain(self) -> dict[str, float] | None:
        """What the right rating is worth against one 400 off, in nats, with its 95 % interval.

        Games are drawn again with repetition: the moves of one game are no independent witnesses.
        """
        many = np.array([count for count, _ in self._margins], dtype=float)
        gained = np.array([gain for _, gain in self._margins])
        if not many.sum():
            return None
        drawn = np.random.default_rng(1).integers(len(many), size=(_RESAMPLED, len(many)))
        means = gained[drawn].sum(1) / np.maximum(many[drawn].sum(1), 1)
        low, high = np.quantile(means, [0.025, 0.975])
        return {
            "mean": round(float(gained.sum() / many.sum()), 4),
            "low": round(float(low), 4),
            "high": round(float(high), 4),
        }


def check(network: HumanMoves, games: Iterable[GameLine], wrong_elo: bool = True) -> Check:
    """A network held against games."""
    checked = Check(network, wrong_elo)
    for game in games:
        checked.add(game)
    return checked
