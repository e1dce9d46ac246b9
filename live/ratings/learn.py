"""Learn a calibration from rated games.

The weights are those under which the players' true ratings are most probable (maximum posterior
of a conditional log-linear model), first over single games, then, for the ``pooled`` tables, over
players with several games. What keeps small samples honest is a normal prior on every weight: a
circumstance changes what a gain says only as far as the data insist. A game also counts as it
stood after a few moves, so that the interval is honest from the start.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import logsumexp

from live.events import GainKind
from live.ratings.calibration import (
    Calibration,
    Circumstance,
    Part,
    Population,
    circumstance_class,
)
from live.ratings.engine_distribution import Spike
from live.ratings.perceived import PerceivedRating
from live.ratings.posterior import Floats
from live.ratings.rated_games import RatedGame, belongs

Ints = npt.NDArray[np.int64]

#: Classes of gain, centipawns: fine where most moves lie.
GAIN_EDGES_CP: dict[GainKind, tuple[int, ...]] = {
    "same-search": (-300, -150, -80, -45, -25, -12, -4, -1),
    "successive": (-200, -100, -50, -25, -10, -3, 0, 8, 20),
}
CIRCUMSTANCES: tuple[tuple[Circumstance, tuple[int, ...]], ...] = (
    ("none", ()),
    ("ply", (16, 30, 50)),
    ("score_before_cp", (-300, -100, -30, 30, 100, 300)),
    ("previous_gain_cp", (-100, -20)),
)
#: Precision of the normal prior on a weight, of a part that depends on a circumstance, and of the
#: part that does not.
PRECISION, PRECISION_ALWAYS = 144.0, 36.0
HALF_MOVES = 30.0
GAMES_CORRELATION = 0.12
POOLING_GAMES = 3.0
#: Players need this many games to teach the pooled tables, and so many such players are needed.
POOLED_GAMES, POOLED_PLAYERS = 2, 200
#: A player of G games teaches with weight G / (G + this).
POOLED_TRUST = 30.0
#: A game also counts as it stood after so many moves, in turn, with this weight.
PREFIXES, PREFIX_WEIGHT = (5, 10, 20, 40), 0.5
#: Fewest player-games to learn anything from.
MIN_GAMES = 50
_STEP_ELO = 60.0


class TooFewGames(ValueError):
    """Not enough rated games to learn from."""


class _Sample(NamedTuple):
    """Rows to learn from: counted features (m, k), true Elo (m,), weights (m,)."""

    features: Floats
    elo: Floats
    weight: Floats


def learn(
    games: Iterable[RatedGame],
    *,
    name: str,
    engine: str,
    limit: str,
    gain: GainKind,
    time_control: str,
    data: str,
    date: str,
    leave_out: tuple[int, int] | None = None,
) -> Calibration:
    """Learn from rated player-games; O(games) a step, a few hundred steps.

    ``leave_out`` (d, r) keeps the players whose crc32 leaves r when divided by d unseen, to be
    checked on. Raises TooFewGames below 50 player-games.
    """
    held = [
        game
        for game in games
        if game.moves and not (leave_out and belongs(game.player, *leave_out))
    ]
    if len(held) < MIN_GAMES:
        raise TooFewGames(f"{len(held)} rated player-games: {MIN_GAMES} are needed to learn from")
    edges = GAIN_EDGES_CP[gain]
    elo = np.array([game.elo for game in held], dtype=np.float64)
    population = _population(elo, np.ones(len(held)))
    centre, scale = float(round(population.mean_elo)), 300.0
    features, prefixes, prefix_of = _count(held, edges)
    single = _fit(
        [
            _Sample(features, elo, np.ones(len(held))),
            _Sample(prefixes, elo[prefix_of], np.full(len(prefix_of), PREFIX_WEIGHT)),
        ],
        population,
        (centre, scale),
    )
    pooled, players_population, players = _pool(held, features, elo, single, (centre, scale))
    shape = (len(edges) + 1,)
    return Calibration(
        name=name,
        engine=engine,
        limit=limit,
        gain=gain,
        time_control=time_control,
        data=data,
        date=date,
        games=len(held),
        players=players,
        moves=sum(len(game.moves) for game in held),
        left_out=leave_out,
        engine_rating=engine_rating(held, gain),
        population=population,
        players_population=players_population or population,
        centre_elo=centre,
        scale_elo=scale,
        half_moves=HALF_MOVES,
        games_correlation=GAMES_CORRELATION,
        pooling_games=POOLING_GAMES,
        gain_edges_cp=edges,
        parts=_parts(single, pooled, shape[0]),
    )


def engine_rating(games: Sequence[RatedGame], gain: GainKind) -> float | None:
    """Algorithm 3 over the players of ``games``, weighted by their moves, in Elo.

    Each player's gains are pooled and measured against a spike at 0 (Ferreira 2012, section 6);
    his rating is the mean over his moves. None when no player's difference is bounded.
    """
    rated: dict[str, tuple[PerceivedRating, list[int]]] = {}
    for game in games:
        pooled, elos = rated.setdefault(
            game.player, (PerceivedRating(engine=Spike(), gain=gain), [])
        )
        for move in game.moves:
            pooled.add(move.gain_cp)
        elos += [game.elo] * len(game.moves)
    total = weight = 0.0
    for pooled, elos in rated.values():
        if pooled.difference is not None:
            total += sum(elos) - pooled.n * pooled.difference
            weight += pooled.n
    return round(total / weight, 1) if weight else None


def _count(held: Sequence[RatedGame], edges: tuple[int, ...]) -> tuple[Floats, Floats, Ints]:
    """Damped counts of kinds of move, whole games (g, k) and games cut short (h, k) with their
    index (h,).
    """
    classes = len(edges) + 1
    rows = sum(len(cuts) + 1 for _, cuts in CIRCUMSTANCES)
    starts = np.cumsum([0] + [(len(cuts) + 1) * classes for _, cuts in CIRCUMSTANCES])
    whole = np.zeros((len(held), rows * classes))
    cut, cut_of = [], []
    for index, game in enumerate(held):
        gains = np.array([move.gain_cp for move in game.moves])
        kinds = np.searchsorted(edges, gains, side="left")
        places = np.stack(
            [
                start
                + kinds
                + classes * np.array([circumstance_class(by, cuts, move) for move in game.moves])
                for start, (by, cuts) in zip(starts[:-1], CIRCUMSTANCES, strict=True)
            ]
        )
        n = len(game.moves)
        whole[index] = np.bincount(places.ravel(), minlength=whole.shape[1]) * _damping(n)
        short = PREFIXES[index % len(PREFIXES)]
        if short < n:
            taken = places[:, :short].ravel()
            cut.append(np.bincount(taken, minlength=whole.shape[1]) * _damping(short))
            cut_of.append(index)
    return whole, np.array(cut).reshape(-1, whole.shape[1]), np.array(cut_of, dtype=np.int64)


def _damping(n: int) -> float:
    return 1 / (1 + n / HALF_MOVES)


def _pool(
    held: Sequence[RatedGame],
    features: Floats,
    elo: Floats,
    single: Floats,
    scale: tuple[float, float],
) -> tuple[Floats, Population | None, int]:
    """The pooled weights (k, 2), the population of players with several games, all players."""
    names = sorted({game.player for game in held})
    number = {name: index for index, name in enumerate(names)}
    of = np.array([number[game.player] for game in held])
    games = np.bincount(of, minlength=len(names)).astype(np.float64)
    several = games >= POOLED_GAMES
    if several.sum() < POOLED_PLAYERS:
        return np.zeros_like(single), None, len(names)
    total = np.zeros((len(names), features.shape[1]))
    np.add.at(total, of, features)
    total /= (1 + (games - 1) * GAMES_CORRELATION)[:, None]
    strength = np.bincount(of, elo, minlength=len(names)) / games
    trust = games / (games + POOLED_TRUST)
    population = _population(strength[several], trust[several])
    more = games - 1
    share = (more / (more + POOLING_GAMES))[:, None]
    sample = _Sample((total * share)[several], strength[several], trust[several])
    weights = _fit([sample], population, scale, known=[(total @ single)[several]])
    return weights, population, len(names)


def _population(elo: Floats, weight: Floats) -> Population:
    mean = np.average(elo, weights=weight)
    sd = np.sqrt(np.average((elo - mean) ** 2, weights=weight))
    return Population(round(float(mean), 1), round(float(max(sd, 1.0)), 1))


def _fit(
    samples: list[_Sample],
    population: Population,
    scale: tuple[float, float],
    known: list[Floats] | None = None,
) -> Floats:
    """Weights (k, 2) of slope and curvature that make the true ratings most probable.

    ``known`` is evidence already there, shape (m, 2) for each sample. The log posterior is
    concave, so there is one answer.
    """
    features = np.concatenate([sample.features for sample in samples])
    elo = np.concatenate([sample.elo for sample in samples])
    weight = np.concatenate([sample.weight for sample in samples])
    mean, sd = population.mean_elo, population.sd_elo
    grid = np.arange(min(mean - 4 * sd, elo.min()), max(mean + 4 * sd, elo.max()) + 1, _STEP_ELO)
    z = (grid - scale[0]) / scale[1]
    basis = np.stack([z, -z * z / 2])
    z_true = (elo - scale[0]) / scale[1]
    basis_true = np.stack([z_true, -z_true * z_true / 2], axis=1)
    prior = -0.5 * ((grid - mean) / sd) ** 2
    offset = np.concatenate(known) if known else np.zeros((len(elo), 2))
    always = features.shape[1] // sum(len(cuts) + 1 for _, cuts in CIRCUMSTANCES)
    precision = np.full((features.shape[1], 1), PRECISION)
    precision[:always] = PRECISION_ALWAYS

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(-1, 2)
        natural = features @ weights + offset
        log = natural @ basis + prior
        norm = logsumexp(log, axis=1)
        log -= norm[:, None]
        expected = np.exp(log) @ basis.T
        fit = weight @ (np.einsum("mi,mi->m", natural, basis_true) - norm)
        slope = features.T @ (weight[:, None] * (basis_true - expected))
        penalty = 0.5 * float((precision * weights**2).sum())
        return penalty - float(fit), (precision * weights - slope).ravel()

    start = np.zeros(features.shape[1] * 2)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 200})
    return np.asarray(found.x, dtype=np.float64).reshape(-1, 2)


def _parts(single: Floats, pooled: Floats, classes: int) -> tuple[Part, ...]:
    parts = []
    start = 0
    for by, cuts in CIRCUMSTANCES:
        end = start + (len(cuts) + 1) * classes
        tables = [
            tuple(tuple(round(float(cell), 5) for cell in row) for row in column)
            for weights in (single, pooled)
            for column in (
                weights[start:end, 0].reshape(-1, classes),
                weights[start:end, 1].reshape(-1, classes),
            )
        ]
        parts.append(Part(by, cuts, *tables))
        start = end
    return tuple(parts)
