"""Learn a model of losses from rated games.

The weights are the likeliest, with a normal prior on each that keeps small samples honest. What
says how far the model is to be believed is measured on players it was not learned from: they are
split into shares, and each share is looked at by weights learned from the others. Players who
judge (``live.ratings.held_out``) are never seen here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import logsumexp

from live.events import GainKind
from live.ratings.calibration.calibration_fit import MIN_GAMES, TooFewGames
from live.ratings.ferreira.algorithm_4 import Algorithm4
from live.ratings.held_out import SHARES, judges, share_of
from live.ratings.strength.expected_result import ResultModel
from live.ratings.strength.human_join_fit import learn_join
from live.ratings.strength.known_before_move import Circumstance, Turn, measured
from live.ratings.strength.loss_distributions import (
    Ints,
    Seen,
    Told,
    measured_model,
)
from live.ratings.strength.loss_model import (
    GRID_ELO,
    Band,
    Floats,
    LossModel,
    Roots,
)
from live.ratings.strength.played_games import PlayedGame

#: Classes of loss, centipawns.
LOSS_EDGES_CP: dict[GainKind, tuple[int, ...]] = {
    "same-search": (0, 10, 25, 60, 150),
    "successive": (-15, 0, 10, 25, 60, 150),
}
OF_SCORES: tuple[Circumstance, ...] = (
    "always",
    "opening",
    "early",
    "late",
    "ahead",
    "behind",
    "level",
)
OF_SEARCH: tuple[Circumstance, ...] = ("instability", "jump")
OF_BOARD: tuple[Circumstance, ...] = ("choices", "pieces", "captures", "recapture", "check")
CHANGING: tuple[Circumstance, ...] = (
    "always",
    "opening",
    "early",
    "ahead",
    "behind",
    "instability",
    "choices",
)
SCALE_ELO = 400.0
HALF_MOVES = 40.0
#: Precision of the normal prior on a weight, on its change with Elo, and on the bend.
PRECISION, PRECISION_OF_SLOPE, PRECISION_OF_BEND = 2.0, 8.0, 16.0
#: More turns than this teach the weights nothing new; players' games are then drawn evenly.
MOST_TURNS = 90_000
BANDS_ELO = (0, 1200, 1600, 2000, 2300, 2500, 2600, 4000)


def learn_losses(
    games: Sequence[PlayedGame],
    *,
    name: str,
    engine: str,
    limit: str,
    gain: GainKind,
    time_control: str,
    data: str,
    date: str,
    results: ResultModel | None = None,
    network: str = "",
    without: Callable[[str], bool] = judges,
) -> LossModel:
    """Learn from rated games; half a minute for 400 games.

    ``results`` is what says how games of two such players end; without it the performance has no
    distribution of its own. ``network`` is whose answers the turns' likelihood among people comes
    from, where they have one. ``without`` says which players are left out.

    Raises TooFewGames below 50 player-games.
    """
    found, players, elos = tell(games, gain, without)
    if len(elos) < MIN_GAMES:
        raise TooFewGames(f"{len(elos)} rated player-games: {MIN_GAMES} are needed to learn from")
    names, changing = _circumstances(found.at)
    edges = LOSS_EDGES_CP[gain]
    found = found._replace(at=found.at[:, [_ALL.index(each) for each in names]])
    centre = float(round(float(np.mean(elos))))
    low, high = np.quantile(elos, (0.025, 0.975)).round().tolist()

    def model(weights: Floats, means: tuple[Floats, Floats]) -> LossModel:
        p, q = len(names), len(changing)
        return LossModel(
            name=name,
            engine=engine,
            limit=limit,
            gain=gain,
            time_control=time_control,
            data=data,
            date=date,
            games=len(elos),
            players=players,
            moves=len(found.classes),
            bands=bands(elos),
            elo_range=(low, high),
            difference=shown_difference(games, gain, without, centre),
            mean_elo=round(float(np.mean(elos)), 1),
            sd_elo=round(float(np.std(elos)), 1),
            centre_elo=centre,
            scale_elo=SCALE_ELO,
            half_moves=HALF_MOVES,
            loss_edges_cp=edges,
            circumstances=names,
            changing=changing,
            level=_rows(weights[:p]),
            slope=_rows(weights[p : p + q]),
            bend=_row(weights[-1]),
            mean_log_loss=_row(means[0]),
            mean_square_log_loss=_row(means[1]),
            roots=(Roots(1, (0.0, 0.0), (1.0, 0.0), (-1.96, 1.96)),),
        )

    def taught(rows: npt.NDArray[np.bool_]) -> LossModel:
        taken = _thinned(found, rows)
        weights = _fit(found, taken, names, changing, centre, len(edges) + 1)
        means = _means(found, rows, len(edges) + 1)
        return model(weights, means)

    seen = _empty(len(found.classes))
    for share in range(SHARES):
        apart = found.share == share
        if apart.any() and not apart.all():
            see(taught(~apart), found, apart, seen)
    whole = taught(np.ones(len(found.classes), dtype=bool))
    fitted = measured_model(whole, found, seen, games, results)
    if not network or found.human is None:
        return fitted
    return msgspec.structs.replace(
        fitted, human=learn_join(fitted, found, seen, found.human, games, results, network)
    )


def tell(
    games: Sequence[PlayedGame], gain: GainKind, without: Callable[[str], bool]
) -> tuple[Told, int, Floats]:
    """The turns of rated players, how many players, and the Elo of each player-game."""
    edges = np.array(LOSS_EDGES_CP[gain])
    rows: list[tuple[int, int, int, float, float, int]] = []
    at: list[list[float]] = []
    gains: list[int] = []
    players: set[str] = set()
    elos: list[float] = []
    human: list[Floats] = []
    for index, played in enumerate(games):
        turns: list[tuple[int, int, int, Turn]] = []
        for color, one in enumerate(played.sides):
            if one.elo is None or not one.turns or without(one.player):
                continue
            players.add(one.player)
            elos.append(one.elo)
            turns += [(turn.ply, color, number, turn) for number, turn in enumerate(one.turns)]
        for _, color, number, turn in sorted(turns, key=lambda each: each[0]):
            one = played.sides[color]
            assert one.elo is not None
            share = share_of(one.player, SHARES)
            rows.append((index, color, share, one.elo, turn.log_loss, number))
            at.append(measured(turn, _ALL))
            gains.append(turn.gain_cp)
            if one.human:
                human.append(one.human[number])
    game, side, share_, elo, log_loss, number_ = np.array(rows, dtype=np.float64).reshape(-1, 6).T
    found = Told(
        game.astype(np.int64),
        side.astype(np.int64),
        share_.astype(np.int64),
        elo,
        np.array(at).reshape(-1, len(_ALL)),
        np.searchsorted(edges, -np.array(gains, dtype=np.int64), side="left"),
        log_loss,
        number_.astype(np.int64),
        np.array(human, dtype=np.float32) if human and len(human) == len(rows) else None,
    )
    return found, len(players), np.array(elos, dtype=np.float64)


def shown_difference(
    games: Sequence[PlayedGame],
    gain: GainKind,
    without: Callable[[str], bool],
    centre: float,
) -> tuple[float, float]:
    """What Algorithm 4 shows of players: at the centre, and what it rises by for each z."""
    pooled: dict[str, tuple[Algorithm4, list[int]]] = {}
    for game in games:
        for side in game.sides:
            if side.elo is None or not side.turns or without(side.player):
                continue
            rating, elos = pooled.setdefault(side.player, (Algorithm4(gain=gain), []))
            for turn in side.turns:
                rating.add(turn.gain_cp)
            elos.append(side.elo)
    told = [
        (float(np.mean(elos)), rating.difference, rating.n)
        for rating, elos in pooled.values()
        if rating.difference is not None
    ]
    elo, difference, moves = np.array(told, dtype=np.float64).T
    z = (elo - centre) / SCALE_ELO
    line = np.polynomial.polynomial.polyfit(z, difference, 1, w=np.sqrt(moves))
    return round(float(line[0]), 2), round(float(line[1]), 2)


def bands(elos: Floats) -> tuple[Band, ...]:
    """Player-games by band of Elo; empty bands left out."""
    counted = np.histogram(elos, BANDS_ELO)[0].tolist()
    edges = pairwise(BANDS_ELO)
    return tuple(Band(edge, n) for edge, n in zip(edges, counted, strict=True) if n)


def see(model: LossModel, found: Told, rows: npt.NDArray[np.bool_], into: Seen) -> None:
    """Write what ``model`` says of the turns ``rows`` into ``into``."""
    at = np.flatnonzero(rows)
    level = np.zeros((len(model.circumstances), len(model.mean_log_loss)))
    level[:, 1:] = model.level
    slope = np.zeros((len(model.changing), level.shape[1]))
    slope[:, 1:] = model.slope
    bend = np.array([0.0, *model.bend])
    base = found.at[at] @ level
    rise = found.at[at][:, [model.circumstances.index(each) for each in model.changing]] @ slope
    mean, square = np.array(model.mean_log_loss), np.array(model.mean_square_log_loss)
    number = np.arange(len(at))
    classes = found.classes[at]
    for column, elo in enumerate(GRID_ELO):
        z = model.z(float(elo))
        odds = base + rise * z + bend * (z * z)
        into.log_likelihood[at, column] = odds[number, classes] - logsumexp(odds, axis=1)
    z_own = ((found.elo[at] - model.centre_elo) / model.scale_elo)[:, None]
    step = 25 / model.scale_elo
    means = []
    for moved in (0.0, -step, step):
        odds = base + rise * (z_own + moved) + bend * (z_own + moved) ** 2
        chance = np.exp(odds - logsumexp(odds, axis=1, keepdims=True))
        means.append(chance @ mean)
        if not moved:
            into.variance[at] = chance @ square - means[0] ** 2
    into.mean[at] = means[0]
    into.slope[at] = (means[2] - means[1]) / 50


def _empty(turns: int) -> Seen:
    return Seen(
        np.zeros((turns, len(GRID_ELO)), dtype=np.float32), *(np.zeros(turns) for _ in range(3))
    )


def _circumstances(at: Floats) -> tuple[tuple[Circumstance, ...], tuple[Circumstance, ...]]:
    """What the games know of: that which is the same everywhere says nothing."""
    known = {
        name
        for name, column in zip(_ALL, at.T, strict=True)
        if name == "always" or np.ptp(column) > 0
    }
    return (
        tuple(name for name in _ALL if name in known),
        tuple(name for name in CHANGING if name in known),
    )


def _thinned(found: Told, rows: npt.NDArray[np.bool_]) -> Ints:
    """At most ``MOST_TURNS`` of the turns, in whole player-games."""
    if rows.sum() <= MOST_TURNS:
        return np.flatnonzero(rows)
    key = found.game * 2 + found.side
    # Drawn by the number of the game, so that the same games teach whenever it is run again.
    drawn = (key * 2654435761) % 2**32 / 2**32
    return np.flatnonzero(rows & (drawn < MOST_TURNS / rows.sum()))


def _fit(
    found: Told,
    rows: Ints,
    names: tuple[Circumstance, ...],
    changing: tuple[Circumstance, ...],
    centre: float,
    classes: int,
) -> Floats:
    """The likeliest weights: (circumstances + changing + 1, classes - 1)."""
    at = found.at[rows]
    z = ((found.elo[rows] - centre) / SCALE_ELO)[:, None]
    moving = at[:, [names.index(each) for each in changing]]
    features = np.concatenate([at, moving * z, z * z], axis=1)
    stiff = np.repeat(
        (PRECISION, PRECISION_OF_SLOPE, PRECISION_OF_BEND), (len(names), len(changing), 1)
    )[:, None]
    # What holds always is as the games say.
    stiff[0], stiff[len(names)] = 0.01, 0.5
    kinds = found.classes[rows]
    number = np.arange(len(rows))
    hit = np.eye(classes)[kinds][:, 1:]

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(features.shape[1], classes - 1)
        odds = np.zeros((len(rows), classes))
        odds[:, 1:] = features @ weights
        top = odds.max(axis=1, keepdims=True)
        chance = np.exp(odds - top)
        total = chance.sum(axis=1, keepdims=True)
        fit = float((odds[number, kinds] - top[:, 0] - np.log(total[:, 0])).sum())
        rise = features.T @ (hit - chance[:, 1:] / total)
        penalty = 0.5 * float((stiff * weights**2).sum())
        return penalty - fit, (stiff * weights - rise).ravel()

    start = np.zeros(features.shape[1] * (classes - 1))
    result = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 150})
    weights: Floats = result.x.reshape(features.shape[1], classes - 1)
    return weights


def _means(found: Told, rows: npt.NDArray[np.bool_], classes: int) -> tuple[Floats, Floats]:
    kinds, loss = found.classes[rows], found.log_loss[rows]
    count = np.maximum(np.bincount(kinds, minlength=classes), 1)
    return (
        np.bincount(kinds, loss, minlength=classes) / count,
        np.bincount(kinds, loss**2, minlength=classes) / count,
    )


def _rows(weights: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(_row(row) for row in weights)


def _row(weights: Floats) -> tuple[float, ...]:
    return tuple(round(float(each), 4) + 0.0 for each in weights)


_ALL: tuple[Circumstance, ...] = (*OF_SCORES, *OF_SEARCH, *OF_BOARD)
