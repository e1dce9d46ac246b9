"""Accuracy of a neural network's predictions of the moves of games, by rating and kind
of game. All functions are pure.

The network predicts the move of every ply after the opening: with the players' own
ratings, and with both ratings 400 Elo higher and 400 Elo lower, if it was trained on
such ratings.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from statistics import fmean
from typing import Any, NamedTuple

import chess
import numpy as np

from live.human.network import HumanNetwork, NetworkInput
from live.human.question import KINDS, LEARNED_ELO, explain_not_covered
from live.ratings.perceived_rating import Floats
from live.studies.learning.human_positions import OPENING_PLIES, Elos, RatedGameLine

Figures = dict[str, Any]
"""Figures by their names in JSON."""

#: Error of the deliberately wrong ratings, Elo. Wrong ratings should predict the moves
#: worse than right ones.
OFF_ELO = 400
#: Width of a band of ratings, Elo.
BAND_ELO = 200
#: Smallest probability of a move: a probability of zero would make the surprise
#: infinite.
FLOOR = 1e-6
_RESAMPLED = 1000


def _compute_surprise(shares: dict[str, float], uci: str) -> float:
    return -math.log(max(shares[uci], FLOOR))


def list_test_positions(game: RatedGameLine) -> Iterator[tuple[NetworkInput, str]]:
    """Yield the positions of a game after the opening, each with the move played, in
    UCI.
    """
    board = chess.Board()
    for ply, uci in enumerate(game.moves.split()):
        if ply >= OPENING_PLIES:
            yield (
                NetworkInput(
                    board.copy(stack=8), game.pair_elos(board.turn), game.kind
                ),
                uci,
            )
        board.push_uci(uci)


def _shift_elos(elo: Elos) -> list[Elos]:
    low, high = LEARNED_ELO
    return [
        (elo[0] + off, elo[1] + off)
        for off in (-OFF_ELO, OFF_ELO)
        if low <= elo[0] + off <= high
    ]


class _Answer(NamedTuple):
    """Result for one position, with the right ratings and with wrong ratings."""

    game: int
    kind: int
    band: int
    """Lower end of the mover's band of Elo."""
    hit: bool
    """Whether the first choice was played."""
    loss: float
    """Surprise of the move played, nats."""
    has_wrong: bool
    """Whether wrong ratings were tried."""
    right_loss: float
    wrong_loss: float
    """Surprise of the move, nats: with the right ratings, and as the mean over the
    wrong ones. Both are 0 if no wrong ratings were tried.
    """


def evaluate_network(network: HumanNetwork, games: Iterable[RatedGameLine]) -> Figures:
    """Return all figures of one network over games, as ``live-rate human --check``
    prints them.
    """
    left_out: Counter[str] = Counter()
    rows: list[_Answer] = []
    # Over all moves of all positions, for each tenth of the forecast probability: sum
    # of the forecasts, number of moves played, number of moves.
    tenths = np.zeros((10, 3))
    count = 0
    for count, game in enumerate(games, 1):
        positions = []
        for position, uci in list_test_positions(game):
            reason = _explain_left_out(position, uci)
            if reason is None:
                positions.append((position, uci))
            else:
                left_out[reason] += 1
        right_shares = network.predict_shares([position for position, _ in positions])
        wrong_losses = _compute_wrong_losses(network, positions)
        for (position, uci), predicted, wrong in zip(
            positions, right_shares, wrong_losses, strict=True
        ):
            loss = _compute_surprise(predicted, uci)
            rows.append(
                _Answer(
                    count - 1,
                    KINDS.index(position.kind),
                    position.elo[0] // BAND_ELO * BAND_ELO,
                    next(iter(predicted)) == uci,
                    loss,
                    bool(wrong),
                    loss if wrong else 0.0,
                    fmean(wrong) if wrong else 0.0,
                )
            )
            for move, share in predicted.items():
                tenths[min(int(share * 10), 9)] += (share, move == uci, 1)
    figures = np.array(rows, dtype=np.float64).reshape(-1, len(_Answer._fields))
    numbers, kinds, elos = figures.T[:3].astype(np.int64)
    off, at_right, at_wrong = (
        np.bincount(numbers, column, count).astype(np.float64)
        for column in figures.T[5:]
    )
    return {
        **_average_figures(figures),
        "right_elo_gain": _estimate_benefit_of_ratings(off, at_wrong - at_right),
        "by_elo": [
            {"elo": elo, **_average_figures(figures[elos == elo])}
            for elo in np.unique(elos).tolist()
        ],
        "by_kind": [
            {"kind": kind, **_average_figures(figures[kinds == KINDS.index(kind)])}
            for kind in sorted(KINDS)
            if KINDS.index(kind) in kinds
        ],
        "reliability": _list_tenths(tenths),
        "left_out": dict(left_out),
    }


def _explain_left_out(position: NetworkInput, uci: str) -> str | None:
    """Return why a position is left out of the check; None if it is
    included.
    """
    reason = explain_not_covered(position.board)
    if reason is None and uci[4:] not in ("", "q"):
        return "promotions to a lesser piece were not learned apart"
    return reason


def _compute_wrong_losses(
    network: HumanNetwork, positions: Iterable[tuple[NetworkInput, str]]
) -> list[list[float]]:
    """Return the surprise of each move with each pair of wrong ratings, nats."""
    shifted = []
    for position, uci in positions:
        wrong_inputs = [position._replace(elo=elo) for elo in _shift_elos(position.elo)]
        shifted.append((uci, wrong_inputs))
    asked = itertools.chain.from_iterable(inputs for _, inputs in shifted)
    shares = iter(network.predict_shares([*asked]))
    losses = []
    for uci, inputs in shifted:
        losses.append([_compute_surprise(next(shares), uci) for _ in inputs])
    return losses


def _list_tenths(tenths: Floats) -> list[Figures]:
    """Return how often moves of each tenth of the forecast probability were played."""
    rows = []
    for at, (forecast, played, n) in enumerate(tenths.tolist()):
        if n:
            rows.append(
                {
                    "at": at / 10,
                    "forecast": round(forecast / n, 4),
                    "played": round(played / n, 4),
                    "positions": int(n),
                }
            )
    return rows


def _average_figures(rows: Floats) -> Figures:
    """Return the share of first choices played, and the mean negative log-likelihoods
    in nats.
    """
    hits, loss, off, right, wrong = rows[:, 3:].sum(axis=0).tolist()
    n = max(len(rows), 1)
    return {
        "positions": len(rows),
        "first_choice": round(hits / n, 4),
        "nll": round(loss / n, 4),
        "right_elo_nll": round(right / off, 4) if off else None,
        "wrong_elo_nll": round(wrong / off, 4) if off else None,
    }


def _estimate_benefit_of_ratings(n: Floats, gained: Floats) -> dict[str, float] | None:
    """Return how much better right ratings predict a move than ratings 400 Elo off:
    mean in nats, with its 95 % interval. Return None if no wrong rating was tried.

    Whole games are resampled with replacement, because the moves of one game are not
    independent.
    """
    if not n.sum():
        return None
    drawn = np.random.default_rng(1).integers(len(n), size=(_RESAMPLED, len(n)))
    means = gained[drawn].sum(1) / np.maximum(n[drawn].sum(1), 1)
    ends = (gained.sum() / n.sum(), *np.quantile(means, [0.025, 0.975]))
    return dict(
        zip(("mean", "low", "high"), (round(float(x), 4) for x in ends), strict=True)
    )
