"""Learn a calibration from rated games.

The weights are those of ``live.ratings.calibration.gain_likelihood``, found first over single
games, then, for the
``pooled`` tables, over players with several games. A game also counts as it stood after a few
moves, so that the interval is honest from the start.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from live.events import GainKind
from live.ratings.calibration.gain_likelihood import (
    LikelihoodSample,
    LikelihoodWeights,
    fit_weights,
)
from live.ratings.calibration.move_evidence import (
    Calibration,
    Circumstance,
    Population,
    SlopePart,
    Table,
    circumstance_class,
)
from live.ratings.calibration.posterior import Floats
from live.ratings.calibration.rated_games import RatedGame, belongs
from live.ratings.ferreira.algorithm_4 import Algorithm4
from live.ratings.ferreira.engine_distribution import SpikeAtZero

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
#: Precision of the normal prior on a weight that holds in all circumstances; chosen by
#: cross-validation on the games over the board.
PRECISION = 20.0
#: Precision for the pooled tables, which are corrections to the others.
POOLED_PRECISION = 12.0
HALF_MOVES = 40.0
GAMES_CORRELATION = 0.12
POOLING_GAMES = 3.0
#: Players need this many games to teach the pooled tables, and so many such players are needed.
POOLED_GAMES, POOLED_PLAYERS = 2, 200
#: A player of G games teaches with weight G / (G + this).
POOLED_TRUST = 15.0
#: A game also counts as it stood after so many moves, in turn, with this weight.
PREFIXES, PREFIX_WEIGHT = (5, 10, 20, 40), 0.5
#: Fewest player-games to learn anything from.
MIN_GAMES = 50
_ROWS = sum(len(cuts) + 1 for _, cuts in CIRCUMSTANCES)


class TooFewGames(ValueError):
    """Not enough rated games to learn from."""


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
    half_moves: float = HALF_MOVES,
) -> Calibration:
    """Learn from rated player-games; O(games) a step, a few hundred steps.

    ``half_moves``: after so many moves of a game a further one counts a quarter as much as the
    first (``Calibration.half_moves``); the smaller, the wider are the intervals of long games.

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
    features, prefixes, prefix_of = _count(held, edges, half_moves)
    single = fit_weights(
        [
            LikelihoodSample(features, elo, np.ones(len(held))),
            LikelihoodSample(prefixes, elo[prefix_of], np.full(len(prefix_of), PREFIX_WEIGHT)),
        ],
        population,
        (centre, scale),
        len(edges) + 1,
        PRECISION,
    )
    pooled, players_population, players = _pool(held, features, elo, single, (centre, scale))
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
        half_moves=half_moves,
        games_correlation=GAMES_CORRELATION,
        pooling_games=POOLING_GAMES,
        gain_edges_cp=edges,
        curvature=_row(single.curvature),
        pooled_curvature=_row(pooled.curvature),
        parts=_parts(single.slope, pooled.slope, len(edges) + 1),
        elo_range=elo_range(held),
    )


def elo_range(games: Sequence[RatedGame]) -> tuple[float, float] | None:
    """The middle 95 % of the ratings; None where they are all the same."""
    low, high = np.quantile([game.elo for game in games], (0.025, 0.975)).round().tolist()
    return (low, high) if low < high else None


def engine_rating(games: Sequence[RatedGame], gain: GainKind) -> float | None:
    """Algorithm 3 over the players of ``games``, weighted by their moves, in Elo.

    Each player's gains are pooled and measured against a spike at 0 (Ferreira 2012, section 6);
    his rating is the mean over his moves. None when no player's difference is bounded.
    """
    rated: dict[str, tuple[Algorithm4, list[int]]] = {}
    for game in games:
        pooled, elos = rated.setdefault(
            game.player, (Algorithm4(engine=SpikeAtZero(), gain=gain), [])
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


def _count(
    held: Sequence[RatedGame], edges: tuple[int, ...], half_moves: float
) -> tuple[Floats, Floats, Ints]:
    """Damped counts of kinds of move, whole games (g, k) and games cut short (h, k) with their
    index (h,).
    """
    classes = len(edges) + 1
    starts = np.cumsum([0] + [(len(cuts) + 1) * classes for _, cuts in CIRCUMSTANCES])
    whole = np.zeros((len(held), _ROWS * classes))
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
        whole[index] = np.bincount(places.ravel(), minlength=whole.shape[1]) * _damping(
            n, half_moves
        )
        short = PREFIXES[index % len(PREFIXES)]
        if short < n:
            taken = places[:, :short].ravel()
            cut.append(np.bincount(taken, minlength=whole.shape[1]) * _damping(short, half_moves))
            cut_of.append(index)
    return whole, np.array(cut).reshape(-1, whole.shape[1]), np.array(cut_of, dtype=np.int64)


def _damping(n: int, half_moves: float) -> float:
    return 1 / (1 + n / half_moves)


def _pool(
    held: Sequence[RatedGame],
    features: Floats,
    elo: Floats,
    single: LikelihoodWeights,
    scale: tuple[float, float],
) -> tuple[LikelihoodWeights, Population | None, int]:
    """The pooled weights, the population of players with several games, all players."""
    names = sorted({game.player for game in held})
    number = {name: index for index, name in enumerate(names)}
    of = np.array([number[game.player] for game in held])
    games = np.bincount(of, minlength=len(names)).astype(np.float64)
    several = games >= POOLED_GAMES
    if several.sum() < POOLED_PLAYERS:
        nothing = LikelihoodWeights(np.zeros_like(single.slope), np.zeros_like(single.curvature))
        return nothing, None, len(names)
    total = np.zeros((len(names), features.shape[1]))
    np.add.at(total, of, features)
    total /= (1 + (games - 1) * GAMES_CORRELATION)[:, None]
    strength = np.bincount(of, elo, minlength=len(names)) / games
    trust = games / (games + POOLED_TRUST)
    population = _population(strength[several], trust[several])
    more = games - 1
    share = (more / (more + POOLING_GAMES))[:, None]
    sample = LikelihoodSample((total * share)[several], strength[several], trust[several])
    known = single, single.evidence(total[several])
    classes = len(single.curvature)
    weights = fit_weights([sample], population, scale, classes, POOLED_PRECISION, known)
    return weights, population, len(names)


def _population(elo: Floats, weight: Floats) -> Population:
    mean = np.average(elo, weights=weight)
    sd = np.sqrt(np.average((elo - mean) ** 2, weights=weight))
    return Population(round(float(mean), 1), round(float(max(sd, 1.0)), 1))


def _table(weights: Floats, classes: int) -> Table:
    return tuple(_row(row) for row in weights.reshape(-1, classes))


def _row(weights: Floats) -> tuple[float, ...]:
    return tuple(round(float(cell), 5) + 0.0 for cell in weights)


def _parts(single: Floats, pooled: Floats, classes: int) -> tuple[SlopePart, ...]:
    parts = []
    start = 0
    for by, cuts in CIRCUMSTANCES:
        end = start + (len(cuts) + 1) * classes
        tables = (_table(weights[start:end], classes) for weights in (single, pooled))
        parts.append(SlopePart(by, cuts, *tables))
        start = end
    return tuple(parts)
