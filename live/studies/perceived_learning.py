"""Learn models of perceived ratings, and judge them on players they never saw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import pairwise
from statistics import NormalDist
from typing import Any, NamedTuple

import msgspec
import numpy as np

from live.events import GainKind
from live.ratings.expected_score import difference_of
from live.ratings.perceived_model import Circumstance, PerceivedModel
from live.ratings.perceived_rating import (
    LEAST_ELO,
    MOST_ELO,
    PULL_MOVES,
    Dispersion,
    Floats,
    LossLogit,
)
from live.studies.perceived_games import (
    Ints,
    PlayedGame,
    States,
    Turns,
    Which,
    betas,
    crossings,
    in_parts,
    places,
    ratings,
    scored,
    states,
    turns_of,
)

# --- held out -----------------------------------------------------------------------------------

# Which players judge the figures, and so are left out of everything that is learned.
#
# Decided once, by player: one in eight, drawn by the SHA-256 of the number (or the name) that the
# files of games give him. ``live/ratings/held_out.json`` lists those of the searched games over the
# board, with the games they played (SHA-256 of the moves in UCI, joined by spaces).


#: Shares that all players fall into; one of them judges.
SHARES = 8


def share_of(player: str, shares: int = SHARES) -> int:
    """Which of so many shares of all players this one belongs to; share 0 judges."""
    return int(sha256(player.encode()).hexdigest(), 16) % shares


def judges(player: str) -> bool:
    """Whether no fit may see this player's games."""
    return share_of(player) == 0


# --- learn --------------------------------------------------------------------------------------

# Learn a model of perceived ratings from games of rated players.
#
# The weights of the logit are the likeliest, with a normal prior on each that keeps small samples
# honest. What games share (``beta``) and what they differ by beyond chance (``kappa``) is
# measured on players that the weights were not learned from: they are split into shares, and each
# share is scored by weights learned from the others. Players who judge
# (``live.studies.perceived_learning``) are never seen.


#: Classes of loss, centipawns.
LOSS_EDGES_CP: dict[GainKind, tuple[int, ...]] = {
    "same-search": (0, 10, 25, 60, 150),
    "successive": (-15, 0, 10, 25, 60, 150),
}
CHANGING: tuple[Circumstance, ...] = (
    *("always", "opening", "early", "ahead", "behind", "dead", "instability", "choices"),
)
CIRCUMSTANCES: tuple[Circumstance, ...] = (
    *("always", "opening", "early", "late", "ahead", "behind", "level", "dead", "won"),
    *("instability", "jump", "choices", "pieces", "captures", "recapture", "check"),
)
SCALE_ELO = 400.0
#: Precision of the normal prior on a weight, on its change with Elo, and on the bend.
PRECISION, PRECISION_OF_SLOPE, PRECISION_OF_BEND = 2.0, 8.0, 16.0
#: More turns than this teach the weights nothing new; players' games are then drawn evenly.
MOST_TURNS = 90_000
#: Fewest player-games to learn anything from.
MIN_GAMES = 50
#: Shares of the players, each scored by weights learned from the others.
FOLDS = 5
#: Up to which ply ``beta`` holds; the last for all after.
STAGES_PLIES = (20, 40, 60)
MOST_BETA = 0.3
#: After how many counted moves ``kappa`` is measured.
NODES = (5, 10, 20, 40)


class TooFewGames(ValueError):
    """Not enough rated games to learn from."""


def learn(
    games: Sequence[PlayedGame],
    *,
    name: str,
    engine: str,
    limit: str,
    gain: GainKind,
    time_control: str,
    data: str,
    date: str,
    without: Callable[[str], bool] = judges,
) -> PerceivedModel:
    """Learn from rated games; some seconds for 400 games, the same from the same games.

    ``without`` says which players are left out. Raises TooFewGames below 50 player-games.
    """
    edges = LOSS_EDGES_CP[gain]
    turns, players = turns_of(games, CIRCUMSTANCES, edges)
    left_out = np.array([without(player) for player in players], dtype=bool)
    share = np.array([share_of(player, FOLDS) for player in players], dtype=np.int64)
    taught = ~left_out[turns.player] & ~np.isnan(turns.elo) if players else np.zeros(0, dtype=bool)
    sides = taught & (turns.number == 1)
    elos = turns.elo[sides]
    if len(elos) < MIN_GAMES:
        raise TooFewGames(f"{len(elos)} rated player-games: {MIN_GAMES} are needed to learn from")
    names = _known(turns.at[taught])
    turns = turns._replace(at=turns.at[:, [CIRCUMSTANCES.index(each) for each in names]])
    changing = tuple(each for each in CHANGING if each in names)
    centre = float(round(float(elos.mean())))
    low, high = np.quantile(elos, (0.025, 0.975)).round().tolist()
    engine_rating, difference = _engine(turns.rows(taught), centre)
    weights = _fit(turns, taught, names, changing, centre, len(edges) + 1)
    p = len(names)
    model = PerceivedModel(
        name=name,
        engine=engine,
        limit=limit,
        gain=gain,
        time_control=time_control,
        data=data,
        date=date,
        games=len(elos),
        players=len(set(turns.player[sides].tolist())),
        moves=int(taught.sum()),
        elo_range=(low, high),
        mean_elo=round(float(elos.mean()), 1),
        engine_rating=engine_rating,
        difference=difference,
        centre_elo=centre,
        scale_elo=SCALE_ELO,
        loss_edges_cp=edges,
        circumstances=names,
        changing=changing,
        **_weights(weights, p),
        shared=tuple((last, 0.0) for last in STAGES_PLIES),
        dispersion=((NODES[0], 1.0),),
        finished_dispersion=1.0,
    )

    apart: list[tuple[LossLogit, Which]] = []
    for number in range(FOLDS):
        of_share = share[turns.player] == number
        others = taught & ~of_share
        if not (taught & of_share).any() or not others.any():
            continue
        fitted = _fit(turns, others, names, changing, centre, len(edges) + 1, weights)
        other = msgspec.structs.replace(model, **_weights(fitted, p))
        apart.append((other.logit(), taught & of_share))
    if not apart:
        apart = [(model.logit(), taught)]
    shared = _shared(turns, apart)
    return msgspec.structs.replace(model, shared=shared, **_dispersions(turns, apart, shared))


def _known(at: Floats) -> tuple[Circumstance, ...]:
    """What the games know of: that which is the same everywhere says nothing."""
    return tuple(
        name
        for name, column in zip(CIRCUMSTANCES, at.T, strict=True)
        if name == "always" or np.ptp(column) > 0
    )


def _fit(
    turns: Turns,
    which: Which,
    names: tuple[Circumstance, ...],
    changing: tuple[Circumstance, ...],
    centre: float,
    classes: int,
    start: Floats | None = None,
) -> Floats:
    """The likeliest weights: (circumstances + changing + 1, classes - 1)."""
    rows = turns.rows(_thinned(turns, which))
    z = ((rows.elo - centre) / SCALE_ELO)[:, None]
    moving = rows.at[:, [names.index(each) for each in changing]]
    features = np.concatenate([rows.at, moving * z, z * z], axis=1)
    stiff = np.repeat(
        (PRECISION, PRECISION_OF_SLOPE, PRECISION_OF_BEND), (len(names), len(changing), 1)
    )[:, None]
    # What holds always is as the games say.
    stiff[0], stiff[len(names)] = 0.01, 0.5
    number = np.arange(len(features))
    hit = np.eye(classes)[rows.classes][:, 1:]

    from scipy.optimize import minimize  # where asked for: a slow import

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(features.shape[1], classes - 1)
        odds = np.zeros((len(features), classes))
        odds[:, 1:] = features @ weights
        top = odds.max(axis=1, keepdims=True)
        chance = np.exp(odds - top)
        total = chance.sum(axis=1, keepdims=True)
        fit = float((odds[number, rows.classes] - top[:, 0] - np.log(total[:, 0])).sum())
        rise = features.T @ (hit - chance[:, 1:] / total)
        penalty = 0.5 * float((stiff * weights**2).sum())
        return penalty - fit, (stiff * weights - rise).ravel()

    size = features.shape[1] * (classes - 1)
    result = minimize(
        loss,
        np.zeros(size) if start is None else start.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 150},
    )
    weights: Floats = result.x.reshape(features.shape[1], classes - 1)
    return weights


def _thinned(turns: Turns, which: Which) -> Which:
    """At most ``MOST_TURNS`` of the turns, in whole player-games."""
    if which.sum() <= MOST_TURNS:
        return which
    key = turns.game * 2 + turns.side
    # Drawn by the number of the game, so that the same games teach whenever it is run again.
    drawn = (key * 2654435761) % 2**32 / 2**32
    found: Which = which & (drawn < MOST_TURNS / which.sum())
    return found


# --- what games share, and what they differ by ---------------------------------------------------


def _parts(turns: Turns, which: Which) -> Iterator[Turns]:
    """The whole games in which any of ``which`` was played."""
    return in_parts(turns.rows(np.isin(turns.game, turns.game[which])))


def _shared(
    turns: Turns, apart: Sequence[tuple[LossLogit, Which]]
) -> tuple[tuple[int, float], ...]:
    """``beta`` by stage: with it, the two players' scores go together no more than by chance.

    Of each game both players' sums at the end of a stage, standardised, are looked at; their
    covariance is a quadratic in the stage's ``beta``, since every earlier one is known.
    """
    own = np.full(len(turns.game), np.nan)
    variance, hardness = own.copy(), own.copy()
    numbered = turns._replace(number=np.arange(len(turns.game)))
    for logit, which in apart:
        for part in _parts(numbered, which):
            found = scored(logit, part)
            into = part.number
            theirs = which[into]
            own[into[theirs]] = found.own_score[theirs]
            variance[into[theirs]] = found.own_variance[theirs]
            hardness[into[theirs]] = found.hardness[theirs]
    seen = ~np.isnan(own)
    count = int(turns.game.max()) + 1

    def sums(values: Floats, rows: Which) -> Floats:
        key = (turns.game * 2 + turns.side)[rows]
        total: Floats = np.bincount(key, values[rows], minlength=2 * count).astype(np.float64)
        return total.reshape(count, 2)

    score, spread = np.zeros((count, 2)), np.zeros((count, 2))
    learned: list[tuple[int, float]] = []
    edges = (0, *STAGES_PLIES[:-1], np.inf)
    for last, (after, until) in zip(STAGES_PLIES, pairwise(edges), strict=True):
        stage = seen & (turns.ply > after) & (turns.ply <= until)
        score = score + sums(own, stage)
        spread = spread + sums(variance, stage)
        shared = sums(hardness, stage)
        both = (sums(np.ones(len(own)), stage) > 0).all(axis=1)
        beta = 0.0
        if both.sum() >= MIN_GAMES:
            deviation = np.sqrt(spread[both])
            beta = _uncorrelated(score[both] / deviation, shared[both] / deviation)
        learned.append((last, round(float(beta), 3)))
        score = score - beta * shared
    return tuple(learned)


def _uncorrelated(score: Floats, shared: Floats) -> float:
    """The least ``beta`` at which both columns of ``score - beta * shared`` are uncorrelated."""
    (a, b), (u, w) = (score - score.mean(axis=0)).T, (shared - shared.mean(axis=0)).T
    square, line, rest = float(u @ w), -float(a @ w + b @ u), float(a @ b)
    roots = np.roots([square, line, rest])
    found = sorted(each.real for each in roots if abs(each.imag) < 1e-9 and each.real > 0)
    if rest <= 0 or not found:
        return 0.0
    return min(float(found[0]), MOST_BETA)


def _dispersions(
    turns: Turns, apart: Sequence[tuple[LossLogit, Which]], shared: Sequence[tuple[int, float]]
) -> dict[str, object]:
    """The fields of ``kappa``: mean squares of what is 1 by chance alone."""
    held = []
    for logit, which in apart:
        for part in _parts(turns, which):
            last = part.number == part.of
            known = np.isin(part.player, turns.player[which])
            wanted = known & (last | np.isin(part.number, NODES))
            of = states(part, scored(logit, part), betas(part.ply, shared), wanted)
            about = (of.turns.number, of.turns.of, of.turns.player, of.own_variance, of.at_own)
            held.append(np.stack([places(of, ratings(of)) ** 2, *about]))
    squares, number, many, player_, variance, at_own = np.concatenate(held, axis=1)
    final, player = number == many, player_.astype(np.int64)
    running = tuple(
        (node, _kappa(squares[number == node])) for node in NODES if (number == node).sum() > 1
    )
    finished = _kappa(squares[final])
    return {
        "dispersion": running or ((NODES[0], finished),),
        "finished_dispersion": finished,
        "event_dispersion": _event_kappa(player[final], at_own[final], variance[final] * finished),
    }


def _kappa(squares: Floats) -> float:
    return round(float(squares.mean()), 3)


def _event_kappa(player: Ints, score: Floats, variance: Floats) -> float:
    """Of players with several games together."""
    games = np.bincount(player)
    several = games >= 2
    if several.sum() < MIN_GAMES / 2:
        return 1.0
    total = np.bincount(player, score)[several]
    spread = np.bincount(player, variance)[several]
    return _kappa(total**2 / spread)


def _engine(turns: Turns, centre: float) -> tuple[int, tuple[float, float]]:
    """Algorithm 3 over the players, weighted by their moves, and how their differences rise."""
    moves = np.bincount(turns.player).astype(np.float64)
    points = np.bincount(turns.player, (np.sign(turns.gain_cp) + 1) / 2)
    told = [
        (elo / n, difference, n)
        for n, score, elo in zip(moves, points, np.bincount(turns.player, turns.elo), strict=True)
        if n and (difference := difference_of(min(1.0, float(score / n)))) is not None
    ]
    if not told:
        return round(centre), (0.0, 0.0)
    elo_, difference_, n_ = np.array(told, dtype=np.float64).T
    z = (elo_ - centre) / SCALE_ELO
    start, slope = np.polynomial.polynomial.polyfit(z, difference_, 1, w=np.sqrt(n_)).tolist()
    rating = float(((elo_ - difference_) * n_).sum() / n_.sum())
    return round(rating), (round(start, 2), round(slope, 2))


def _weights(flat: Floats, p: int) -> dict[str, Any]:
    """The fields of a model that are fitted, rounded; ``p``: how many circumstances there are."""
    rows = [tuple(round(each, 4) + 0.0 for each in row) for row in flat.tolist()]
    return {"level": tuple(rows[:p]), "slope": tuple(rows[p:-1]), "bend": rows[-1]}


# --- judge --------------------------------------------------------------------------------------

# How well a model does on players it never saw: what its bands hold, after so many moves.
#
# One row a player-game, as arrays; the bounds that must hold are those of ``numbers`` in the
# manual.


AFTER = (5, 10, 20, 40)
WHOLE = "whole"
PERCENTILES = (5, 25, 50, 75, 95)
BANDS = ((0, 1600), (1600, 2000), (2000, 2300), (2300, 2600), (2600, 4000))
BEYOND_ELO = 3200
_USUAL, _SURE = NormalDist().inv_cdf(0.9), NormalDist().inv_cdf(0.975)


class Judged(NamedTuple):
    """Player-games after some of their moves, one row each."""

    game: Ints
    side: Ints
    counted: Ints
    whole: Which
    elo: Floats
    level: Floats
    rating: Floats
    z: Floats
    """Where the rating lies among those of players rated alike, in standard deviations."""
    usual_low: Floats
    usual_high: Floats
    low: Floats
    """Of the 95 % interval; infinite beyond the grid."""
    high: Floats
    blind: Floats
    """The rating when everybody starts at one Elo and no rating is used."""


def judged_by(
    games: Sequence[PlayedGame], model: PerceivedModel, whom: Callable[[str], bool]
) -> dict[str, Judged]:
    """The players that ``whom`` names, by ``model``: after each of ``AFTER`` moves, and whole games
    as ``whole``.
    """
    turns, players = turns_of(games, model.circumstances, model.loss_edges_cp)
    chosen = np.array([whom(player) for player in players], dtype=bool)
    running, whole = (_judge(turns, chosen, model, over=over) for over in (False, True))
    after = {str(n): Judged(*(each[running.counted == n] for each in running)) for n in AFTER}
    return {**after, WHOLE: whole}


def _judge(turns: Turns, judged: Which, model: PerceivedModel, *, over: bool) -> Judged:
    """The players ``judged`` (one bool each), whose ``turns`` hold the model's circumstances.

    ``over``: whole games, else after each of ``AFTER``.
    """
    kappa = Dispersion(model.dispersion, model.finished_dispersion)
    logit = model.logit()
    found = []
    for part in _parts(turns, judged[turns.player]):
        mine = judged[part.player] & ~np.isnan(part.elo)
        wanted = mine & (part.number == part.of if over else np.isin(part.number, AFTER))
        moves = scored(logit, part)
        held = states(part, moves, betas(part.ply, model.shared), wanted)
        # Blind: one F for everybody; without ratings nothing is known of the game's hardness.
        same = scored(logit, part, level=model.mean_elo)
        bare = moves._replace(of_level=same.of_level)
        blind = ratings(states(part, bare, np.zeros(len(part.game)), wanted))
        spread = np.array([kappa.at(int(n), over=over) for n in held.turns.number])
        found.append(_figures(held, spread, blind))
    return Judged(*map(np.concatenate, zip(*found, strict=True)))


def _figures(held: States, kappa: Floats, blind: Floats) -> Judged:
    n = held.turns.number.astype(np.float64)[:, None]
    rating = ratings(held)
    pull = (PULL_MOVES / n) * (held.of_level - n / 2)
    usual = held.of_own - n / 2 + pull
    deviation = np.sqrt(kappa * held.own_variance)
    spread = _SURE * np.sqrt(kappa[:, None] * held.variance)
    gained = held.score - n / 2
    return Judged(
        held.turns.game,
        held.turns.side,
        held.turns.number,
        held.turns.number == held.turns.of,
        held.turns.elo,
        held.turns.level,
        rating,
        places(held, rating) / np.sqrt(kappa),
        crossings(usual - _USUAL * deviation[:, None]),
        crossings(usual + _USUAL * deviation[:, None]),
        _open(gained - spread),
        _open(gained + spread),
        blind,
    )


def _open(falling: Floats) -> Floats:
    found = crossings(falling)
    found[falling[:, 0] <= 0] = -np.inf
    found[(falling > 0).all(axis=1)] = np.inf
    return found


def summary(of: Judged) -> dict[str, Any]:
    """The figures of one row of the table."""
    if not len(of.elo):
        return {"n": 0}
    elo = np.clip(of.elo, LEAST_ELO, MOST_ELO)
    below = [float((of.z < NormalDist().inv_cdf(each / 100)).mean()) for each in PERCENTILES]
    return {
        "n": len(of.elo),
        "percentile_below": dict(zip(map(str, PERCENTILES), map(rounded, below), strict=True)),
        "pair_r": _r(*_pairs(of)),
        "pairs": len(_pairs(of)[0]),
        "usual_holds": share(usual_holds(of)),
        "interval_holds": share((of.low <= elo) & (elo <= of.high)),
        "own_outside": share((elo < of.usual_low) | (elo > of.usual_high)),
        "beyond_3200": share(of.rating > BEYOND_ELO),
        "blind_r": _r(of.blind, of.elo),
        "bands": [_band(of, *band) for band in BANDS],
    }


def _band(of: Judged, low: int, high: int) -> dict[str, Any]:
    inside = (of.elo >= low) & (of.elo < high)
    some = Judged(*(each[inside] for each in of))  # type: ignore[arg-type]
    n = len(some.elo)
    percentiles = [100 * NormalDist().cdf(each) for each in some.z]
    return {
        "elo": [low, high],
        "n": n,
        "usual_holds": share(usual_holds(some)),
        "percentile_mean": round(float(np.mean(percentiles)), 1) if n else None,
        "bias": round(float(np.median(some.rating - some.elo)), 1) if n else None,
        "beyond_3200": share(some.rating > BEYOND_ELO),
    }


def usual_holds(of: Judged) -> Which:
    """Whether each rating lies in its usual band."""
    return (of.usual_low <= of.rating) & (of.rating <= of.usual_high)


def _pairs(of: Judged) -> tuple[Floats, Floats]:
    """Both players' places, of the games that have both."""
    white, black = of.side == 0, of.side == 1
    _, at, there = np.intersect1d(of.game[white], of.game[black], return_indices=True)
    return of.z[white][at], of.z[black][there]


def _r(one: Floats, other: Floats) -> float | None:
    """Their correlation; None for fewer than three, or where all are the same."""
    if len(one) < 3 or not one.std() or not other.std():
        return None
    return rounded(float(np.corrcoef(one, other)[0, 1]))


def share(which: Which) -> float | None:
    """Of those there are, 0 to 1."""
    return rounded(float(which.mean())) if len(which) else None


def rounded(value: float, digits: int = 4) -> float:
    """For people."""
    return round(value, digits)
