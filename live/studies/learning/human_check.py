"""Accuracy of a neural network's predictions of the moves of games, by rating and kind
of game. Pure.

The network is asked about every ply after the opening: with the players' own ratings,
and with both ratings 400 Elo higher and 400 Elo lower, if it was trained on such
ratings.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from statistics import fmean
from typing import Any

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


def evaluate_network(network: HumanNetwork, games: Iterable[RatedGameLine]) -> Figures:
    """Return all figures of one network over games, as ``live-rate human --check``
    prints them.
    """
    left_out: Counter[str] = Counter()
    # For each position: number of its game, kind, band of Elo; whether the first choice
    # was played, and the surprise (nats); whether wrong ratings were tried, and then
    # the surprise with the right and with the wrong ratings.
    rows: list[tuple[float, ...]] = []
    # For each tenth of the forecast probability: sum of the forecasts, number of moves
    # played, number of moves.
    tenths = np.zeros((10, 3))
    count = 0
    for count, game in enumerate(games, 1):
        positions = []
        for position, uci in list_test_positions(game):
            reason = explain_not_covered(position.board)
            if reason is None and uci[4:] in ("", "q"):
                positions.append((position, uci))
            else:
                left_out[
                    reason or "promotions to a lesser piece were not learned apart"
                ] += 1
        right_shares = network.predict_shares([position for position, _ in positions])
        shifted = []
        for position, _ in positions:
            shifted += [position._replace(elo=elo) for elo in _shift_elos(position.elo)]
        wrong_shares = iter(network.predict_shares(shifted))
        for (position, uci), predicted in zip(positions, right_shares, strict=True):
            loss = _compute_surprise(predicted, uci)
            wrong = [
                _compute_surprise(next(wrong_shares), uci)
                for _ in _shift_elos(position.elo)
            ]
            wrong_figures = (1, loss, fmean(wrong)) if wrong else (0, 0, 0)
            own = position.elo[0] // BAND_ELO * BAND_ELO
            hit = next(iter(predicted)) == uci
            rows.append(
                (count - 1, KINDS.index(position.kind), own, hit, loss, *wrong_figures)
            )
            shares = np.array([*predicted.values()])
            forecasts = np.stack(
                [shares, [move == uci for move in predicted], np.ones(len(shares))],
                axis=1,
            )
            np.add.at(tenths, np.minimum(shares * 10, 9).astype(int), forecasts)
    figures = np.array(rows, dtype=np.float64).reshape(-1, 8)
    numbers, kinds, elos = figures.T[:3].astype(np.int64)
    off, at_right, at_wrong = (
        np.bincount(numbers, column, count).astype(np.float64)
        for column in figures.T[5:]
    )
    return {
        **_average_figures(figures),
        "right_elo_gain": _estimate_gain(off, at_wrong - at_right),
        "by_elo": [
            {"elo": elo, **_average_figures(figures[elos == elo])}
            for elo in np.unique(elos).tolist()
        ],
        "by_kind": [
            {"kind": kind, **_average_figures(figures[kinds == at])}
            for kind, at in sorted(zip(KINDS, itertools.count()))
            if at in kinds
        ],
        "reliability": [
            {
                "at": at / 10,
                "forecast": round(forecast / n, 4),
                "played": round(played / n, 4),
                "positions": int(n),
            }
            for at, (forecast, played, n) in enumerate(tenths.tolist())
            if n
        ],
        "left_out": dict(left_out),
    }


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


def _estimate_gain(n: Floats, gained: Floats) -> dict[str, float] | None:
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
