"""Learning of three parameters of perceived ratings: how far a hard game affects the
moves of both players (``beta``), how much games differ beyond chance (``kappa``), and
how far ratings lie from the level of a game, which is the mean of its players' ratings
(``sigma``).
"""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from live.ratings.perceived_rating import (
    GRID_ELO,
    Evidence,
    Floats,
    Perceived,
    compute_z_score,
    read_rating,
)
from live.studies.learning.followed_games import Followed, FollowedMove

#: Smallest number of player-games from which a parameter is learned.
MIN_GAMES = 50
#: Last ply of each stage, each with its own ``beta``. The last ``beta`` is also used
#: for all later plies.
STAGES_PLIES = (20, 40, 60)
MOST_BETA = 1.0
#: Numbers of counted moves after which ``kappa`` is measured.
NODES = (5, 10, 20, 40)
#: Share of games that the usual band should contain, and the bounds between which
#: ``kappa`` is searched.
USUAL_SHARE = 0.8
LEAST_KAPPA = 0.1
MOST_KAPPA = 10.0
#: Value of ``sigma``, Elo, that is used while ``beta`` is learned, and if there are too
#: few games to learn ``sigma``.
USUAL_PRIOR_SD = 360.0
#: Largest share of players' own ratings that is allowed to lie outside the usual bands,
#: and the number of counted moves after which it is measured. ``sigma`` is the smallest
#: value that satisfies it: a smaller ``sigma`` makes ratings vary less, but moves the
#: bands of players far from the level of the game closer to that level.
OWN_OUTSIDE = 0.07
OWN_OUTSIDE_MOVES = 10
LEAST_PRIOR_SD = 100
MOST_PRIOR_SD = 600
PRIOR_SD_STEP = 5


class _StageSums(NamedTuple):
    """Sums of one side at the end of a stage."""

    total: Evidence
    """Sums of all moves so far, computed as if no game were hard."""
    hardness: Floats
    """Slope explained by hardness in each stage so far if ``beta`` is 1, shape (stages,
    Elos).
    """

    def compute_place(self, betas: Sequence[float]) -> float:
        """Return the z-score of the side's perceived rating among games by players of
        the same official rating. ``betas`` has one value for each stage so far.
        """
        slope = self.total.slope - np.array(betas) @ self.hardness
        total = self.total._replace(slope=slope)
        reading = read_rating(total, USUAL_PRIOR_SD)
        assert reading is not None  # each total has a counted move
        return compute_z_score(total, reading.rating)


def learn_shared(followed: Followed) -> tuple[tuple[int, float], ...]:
    """Learn ``beta`` stage by stage, so that the z-scores of the two players are
    uncorrelated at the end of each stage. Return the last ply and ``beta`` of each
    stage.

    The moves in ``followed`` must have been computed with a ``beta`` of 1.
    """
    sides: dict[int, list[list[_StageSums | None]]] = {}
    for side in followed:
        sides.setdefault(side.game, []).append(_sum_stages(side.moves))
    games = [pair for pair in sides.values() if len(pair) == 2]
    betas: list[float] = []
    for stage in range(len(STAGES_PLIES)):
        pairs = []
        for white, black in games:
            white_sums = white[stage]
            black_sums = black[stage]
            if white_sums is not None and black_sums is not None:
                pairs.append((white_sums, black_sums))
        beta = _find_beta(pairs, betas) if len(pairs) >= MIN_GAMES else 0.0
        betas.append(round(beta, 3))
    return tuple(zip(STAGES_PLIES, betas, strict=True))


def _sum_stages(moves: Sequence[FollowedMove]) -> list[_StageSums | None]:
    """Return a side's sums at the end of each stage; None for a stage that ends before
    the side's first counted move.
    """
    hardness = np.zeros((len(STAGES_PLIES), len(GRID_ELO)))
    slope = np.zeros(len(GRID_ELO))
    stage_sums: list[_StageSums | None] = [None] * len(STAGES_PLIES)
    for move in moves:
        stage = bisect_left(STAGES_PLIES[:-1], move.turn.ply)
        hardness[stage] += move.hardness
        slope = slope + move.compared.slope
        total = move.total._replace(slope=slope)
        for later in range(stage, len(STAGES_PLIES)):
            stage_sums[later] = _StageSums(total, hardness[: later + 1].copy())
    return stage_sums


def _find_beta(
    pairs: Sequence[tuple[_StageSums, _StageSums]], earlier: Sequence[float]
) -> float:
    """Return the smallest ``beta`` of a stage at which the z-scores of the two sides
    are uncorrelated.
    """

    def correlate(beta: float) -> float:
        betas = [*earlier, beta]
        places = [
            (white.compute_place(betas), black.compute_place(betas))
            for white, black in pairs
        ]
        return float(np.corrcoef(np.array(places).T)[0, 1])

    if correlate(0.0) <= 0:
        return 0.0
    if correlate(MOST_BETA) >= 0:
        return MOST_BETA
    from scipy.optimize import brentq  # imported only here, because the import is slow

    return float(brentq(correlate, 0.0, MOST_BETA, xtol=1e-3))


def learn_spread(followed: Followed) -> dict[str, object]:
    """Learn ``sigma``, and the values of ``kappa`` with which usual bands contain
    :data:`USUAL_SHARE` of games. Return the fields of the model, by name.
    """
    running: dict[int, list[Evidence]] = {node: [] for node in NODES}
    elos: dict[int, list[float]] = {node: [] for node in NODES}
    players: dict[str, list[Evidence]] = {}
    for side in followed:
        players.setdefault(side.player, []).append(side.moves[-1].total)
        for node in NODES:
            if node <= len(side.moves):
                running[node].append(side.moves[node - 1].total)
                elos[node].append(side.elo)
    prior_sd = USUAL_PRIOR_SD
    if len(running[OWN_OUTSIDE_MOVES]) >= MIN_GAMES:
        prior_sd = find_prior_sd(running[OWN_OUTSIDE_MOVES], elos[OWN_OUTSIDE_MOVES])
    finished = find_kappa([*chain.from_iterable(players.values())], prior_sd)
    learnable = {
        node: totals for node, totals in running.items() if len(totals) >= MIN_GAMES
    }
    dispersion = tuple(
        (node, find_kappa(totals, prior_sd)) for node, totals in learnable.items()
    )
    events = [
        functools.reduce(Evidence.join, games)
        for games in players.values()
        if games[1:]
    ]
    has_enough = len(events) >= MIN_GAMES / 2
    return {
        "prior_sd": prior_sd,
        "dispersion": dispersion or ((NODES[0], finished),),
        "finished_dispersion": finished,
        "event_dispersion": find_kappa(events, prior_sd) if has_enough else finished,
    }


def find_prior_sd(totals: Sequence[Evidence], elos: Sequence[float]) -> float:
    """Return the smallest ``sigma`` with which at most :data:`OWN_OUTSIDE` of players'
    own ratings lie outside their usual bands.
    """

    def has_too_many_outside(prior_sd: int) -> bool:
        kappa = find_kappa(totals, prior_sd)
        outside = 0
        for total, elo in zip(totals, elos, strict=True):
            reading = read_rating(total._replace(kappa=kappa), prior_sd)
            assert reading is not None  # each total has a counted move
            outside += not is_elo_in_usual_band(reading, elo)
        return outside > OWN_OUTSIDE * len(totals)

    sizes = range(LEAST_PRIOR_SD, MOST_PRIOR_SD, PRIOR_SD_STEP)
    at = bisect_left(sizes, True, key=lambda size: not has_too_many_outside(size))
    return float(sizes[min(at, len(sizes) - 1)])


def find_kappa(totals: Sequence[Evidence], prior_sd: float) -> float:
    """Return the ``kappa`` with which usual bands contain :data:`USUAL_SHARE` of
    player-games.
    """

    def find_surplus(kappa: float) -> float:
        figures = [
            read_rating(total._replace(kappa=kappa), prior_sd) for total in totals
        ]
        is_inside = [
            is_elo_in_usual_band(figure, figure.rating)
            for figure in figures
            if figure is not None
        ]
        return sum(is_inside) / len(is_inside) - USUAL_SHARE

    from scipy.optimize import bisect  # imported only here, because the import is slow

    return round(bisect(find_surplus, LEAST_KAPPA, MOST_KAPPA, xtol=1e-3), 3)


def is_elo_in_usual_band(figures: Perceived, elo: float) -> bool:
    """Return whether an Elo lies in the usual band of a player. The player must be
    rated, because there is no band otherwise.
    """
    assert figures.usual_low is not None and figures.usual_high is not None
    return figures.usual_low <= elo <= figures.usual_high
