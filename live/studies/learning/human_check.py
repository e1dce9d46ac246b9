"""How well a network says what was played in games, by rating and kind. Pure.

Of every game the plies after the opening are asked for, with the players' own ratings
and, where the network knows ratings, with both 400 Elo higher and lower.
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
"""By their names in JSON."""

#: Ratings this far off must say less of the moves than the right ones.
OFF_ELO = 400
#: Width of a band of ratings.
BAND_ELO = 200
#: No move is held less likely than this: a share of zero would be an endless surprise.
FLOOR = 1e-6
_RESAMPLED = 1000


def _compute_surprise(given: dict[str, float], uci: str) -> float:
    return -math.log(max(given[uci], FLOOR))


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
    # Of a position: number of its game, kind and band of Elo; whether the first choice
    # was played, and the surprise (nats); whether wrong ratings were asked for too, and
    # both surprises.
    rows: list[tuple[float, ...]] = []
    # Of the moves with a forecast in each tenth: its sum, how many were played, how
    # many there are.
    tenths = np.zeros((10, 3))
    count = 0
    for count, game in enumerate(games, 1):
        positions = []
        for asked, uci in list_test_positions(game):
            reason = explain_not_covered(asked.board)
            if reason is None and uci[4:] in ("", "q"):
                positions.append((asked, uci))
            else:
                left_out[
                    reason or "promotions to a lesser piece were not learned apart"
                ] += 1
        right = network.predict_shares([asked for asked, _ in positions])
        wanted = []
        for asked, _ in positions:
            wanted += [asked._replace(elo=elo) for elo in _shift_elos(asked.elo)]
        others = iter(network.predict_shares(wanted))
        for (asked, uci), given in zip(positions, right, strict=True):
            loss = _compute_surprise(given, uci)
            wrong = [
                _compute_surprise(next(others), uci) for _ in _shift_elos(asked.elo)
            ]
            beside = (1, loss, fmean(wrong)) if wrong else (0, 0, 0)
            own = asked.elo[0] // BAND_ELO * BAND_ELO
            hit = next(iter(given)) == uci
            rows.append((count - 1, KINDS.index(asked.kind), own, hit, loss, *beside))
            shares = np.array([*given.values()])
            each = np.stack(
                [shares, [move == uci for move in given], np.ones(len(shares))], axis=1
            )
            np.add.at(tenths, np.minimum(shares * 10, 9).astype(int), each)
    found = np.array(rows, dtype=np.float64).reshape(-1, 8)
    numbers, kinds, elos = found.T[:3].astype(np.int64)
    off, at_right, at_wrong = (
        np.bincount(numbers, each, count).astype(np.float64) for each in found.T[5:]
    )
    return {
        **_average_figures(found),
        "right_elo_gain": _estimate_gain(off, at_wrong - at_right),
        "by_elo": [
            {"elo": elo, **_average_figures(found[elos == elo])}
            for elo in np.unique(elos).tolist()
        ],
        "by_kind": [
            {"kind": kind, **_average_figures(found[kinds == at])}
            for kind, at in sorted(zip(KINDS, itertools.count()))
            if at in kinds
        ],
        "reliability": [
            {
                "at": at / 10,
                "forecast": round(forecast / many, 4),
                "played": round(played / many, 4),
                "positions": int(many),
            }
            for at, (forecast, played, many) in enumerate(tenths.tolist())
            if many
        ],
        "left_out": dict(left_out),
    }


def _average_figures(rows: Floats) -> Figures:
    """Return the share of first choices played, and mean negative log-likelihoods in
    nats.
    """
    hits, loss, off, right, wrong = rows[:, 3:].sum(axis=0).tolist()
    many = max(len(rows), 1)
    return {
        "positions": len(rows),
        "first_choice": round(hits / many, 4),
        "nll": round(loss / many, 4),
        "right_elo_nll": round(right / off, 4) if off else None,
        "wrong_elo_nll": round(wrong / off, 4) if off else None,
    }


def _estimate_gain(many: Floats, gained: Floats) -> dict[str, float] | None:
    """What the right rating is worth against one 400 off, in nats, with its 95 %
    interval.

    Games are drawn again with repetition: the moves of one game are no independent
    witnesses.
    """
    if not many.sum():
        return None
    drawn = np.random.default_rng(1).integers(len(many), size=(_RESAMPLED, len(many)))
    means = gained[drawn].sum(1) / np.maximum(many[drawn].sum(1), 1)
    ends = (gained.sum() / many.sum(), *np.quantile(means, [0.025, 0.975]))
    return dict(
        zip(("mean", "low", "high"), (round(float(x), 4) for x in ends), strict=True)
    )
