"""How far a model of losses is to be believed, measured on players it was not learned from.

How the signed root of the likelihood ratio is distributed at players' true ratings, how mean
losses lie around what was expected, how much of the opponent's losses a player shares, and how far
the play of one game lies from a player's rating.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from live.ratings.calibration.calibration_fit import MIN_GAMES
from live.ratings.strength.expected_result import ResultModel
from live.ratings.strength.loss_model import (
    GRID_ELO,
    Floats,
    LossModel,
    Ranks,
    Roots,
    learned_z,
    peak,
)
from live.ratings.strength.percentile import LEAST_MOVES, OPPONENT_MOVES, STAGES_MOVES, stage_of
from live.ratings.strength.performance import POINTS, Results, of_result
from live.ratings.strength.played_games import PlayedGame

Ints = npt.NDArray[np.int64]

#: Numbers of moves at which the distributions are measured.
NODES = (5, 10, 20, 30, 40, 60)
#: Quantiles kept of each.
QUANTILES = 41


class Told(NamedTuple):
    """Turns of rated players as arrays, one row a turn, in the order of a game's plies."""

    game: Ints
    side: Ints
    """0 White, 1 Black."""
    share: Ints
    """Of the players."""
    elo: Floats
    at: Floats
    """Circumstances: (turns, circumstances)."""
    classes: Ints
    log_loss: Floats
    number: Ints
    """Of the player's own turn in this game, from 0."""
    human: npt.NDArray[np.float32] | None = None
    """Log-likelihood of the move among people: (turns, grid); None where nobody was asked."""


class Seen(NamedTuple):
    """What weights that were learned without these players say of their turns."""

    log_likelihood: Floats
    """(turns, grid)."""
    mean: Floats
    """Of ``log_loss`` at the player's own Elo."""
    variance: Floats
    slope: Floats
    """What the mean changes by per Elo, there."""


def measured_model(
    model: LossModel,
    found: Told,
    seen: Seen,
    games: Sequence[PlayedGame],
    results: ResultModel | None,
) -> LossModel:
    """The model with the distributions of what it says."""
    model = msgspec.structs.replace(model, **measured_roots(model, found, seen, games, results))
    shared = shared_losses(found, seen)
    model = msgspec.structs.replace(
        model,
        shared=shared,
        ranks=rank_nodes(model, found, seen, shared, running(found)),
        final_ranks=rank_nodes(model, found, seen, shared, finished(found)),
    )
    form = form_spread(found, seen)
    return msgspec.structs.replace(
        model, form_sd_elo=round(form.sd_elo, 1), form_sd_elo_high=round(form.high_elo, 1)
    )


def measured_roots(
    model: LossModel,
    found: Told,
    seen: Seen,
    games: Sequence[PlayedGame],
    results: ResultModel | None,
) -> dict[str, Any]:
    """The fields of roots of a model, or of what joins it."""
    whole, after = performance_roots(model, found, seen, games, results) if results else (None, ())
    return {
        "roots": root_nodes(model, found, seen, running(found)),
        "final_roots": root_nodes(model, found, seen, finished(found)),
        "performance": whole,
        "running_performance": after,
    }


def prefixes(found: Told, moves: int) -> tuple[Ints, Ints]:
    """Where each player-game with at least so many moves begins, and ends after them, in the order
    of players' turns (``own_order``); 0 is the whole game.
    """
    order = own_order(found)
    key = (found.game * 2 + found.side)[order]
    starts = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
    ends = np.r_[starts[1:], len(key)]
    long = ends - starts >= moves
    return starts[long], starts[long] + moves if moves else ends


def own_order(found: Told) -> Ints:
    """Rows by player-game, then by the number of the turn."""
    return np.lexsort((found.number, found.game * 2 + found.side))


def summed(values: Floats, order: Ints, starts: Ints, ends: Ints) -> Floats:
    """Sums over the rows of each player-game."""
    total = np.concatenate(
        [np.zeros((1, *values.shape[1:])), np.cumsum(values[order], axis=0, dtype=np.float64)]
    )
    found: Floats = total[ends] - total[starts]
    return found


class Group(NamedTuple):
    """Player-games after about so many moves: where each begins and ends in ``own_order``."""

    moves: int
    starts: Ints
    ends: Ints


def running(found: Told) -> list[Group]:
    """Every player-game as it stood after so many moves."""
    groups = [Group(moves, *prefixes(found, moves)) for moves in NODES]
    return [group for group in groups if len(group.starts) >= MIN_GAMES]


def finished(found: Told) -> list[Group]:
    """Whole player-games in groups of like length."""
    starts, ends = prefixes(found, 0)
    length = ends - starts
    starts, ends, length = (each[length >= LEAST_MOVES] for each in (starts, ends, length))
    number = max(1, min(_LENGTHS, len(starts) // (2 * MIN_GAMES)))
    cuts = np.quantile(length, np.linspace(0, 1, number + 1)[1:-1])
    of = np.searchsorted(cuts, length, side="right")
    return [
        Group(int(np.median(length[of == each])), starts[of == each], ends[of == each])
        for each in range(number)
        if (of == each).any()
    ]


#: Groups of length of finished games.
_LENGTHS = 4


def root_nodes(
    model: LossModel, found: Told, seen: Seen, groups: Sequence[Group]
) -> tuple[Roots, ...]:
    """How the signed roots of the likelihood ratio lie at players' true ratings."""
    order = own_order(found)
    nodes = []
    for moves, starts, ends in groups:
        weight = 1 / (1 + (ends - starts) / model.half_moves)
        held = summed(seen.log_likelihood, order, starts, ends) * weight[:, None]
        elo = found.elo[order][starts]
        nodes.append(_roots(model, moves, signed_roots(held, elo), elo))
    return tuple(nodes)


def _roots(model: LossModel, moves: int, root: Floats, elo: Floats) -> Roots:
    z = learned_z(model, elo)
    middle = median_line(z, root)
    away = root - middle[0] - middle[1] * z
    # The mean distance of a normal distribution is this much of its standard deviation.
    sd = np.polynomial.polynomial.polyfit(z, np.abs(away), 1) * np.sqrt(np.pi / 2)
    standard = away / np.maximum(sd[0] + sd[1] * z, 0.3)
    low, high = np.quantile(standard, (0.022, 0.978)).tolist()
    return Roots(
        moves,
        (round(float(middle[0]), 4), round(float(middle[1]), 4)),
        (round(float(sd[0]), 4), round(float(sd[1]), 4)),
        (round(min(low, -1.8), 3), round(max(high, 1.8), 3)),
    )


def median_line(x: Floats, y: Floats) -> Floats:
    """Ordinate and slope of the line with half of the points above it at every ``x`` (Koenker and
    Bassett 1978), by reweighted least squares. After few moves roots are skewed: a rating at their
    mean would lie too high more often than too low.
    """
    at = np.stack([np.ones_like(x), x], axis=1)
    weight: Floats = np.ones_like(x)
    line: Floats = np.zeros(2)
    for _ in range(100):
        weighed = (at * weight[:, None]).T
        line = np.linalg.solve(weighed @ at, weighed @ y).astype(np.float64)
        weight = 1 / np.maximum(np.abs(y - at @ line), 1e-3)
    return line


#: Games with fewer moves of a player say nothing about his performance.
_FEWEST_MOVES = 10


def performance_roots(
    model: LossModel,
    found: Told,
    seen: Seen,
    games: Sequence[PlayedGame],
    results: ResultModel,
) -> tuple[Roots | None, tuple[Roots, ...]]:
    """How the signed root lies for moves and result of a whole game together, and for those of a
    running game after so many moves, with what its position promises.
    """
    chances = Results(results)
    starts, ends = prefixes(found, 0)
    long = ends - starts >= _FEWEST_MOVES
    whole = _performance_at(
        model, found, seen, games, chances, Group(1, starts[long], ends[long]), over=True
    )
    after = [
        _performance_at(model, found, seen, games, chances, group, over=False)
        for group in running(found)
    ]
    return whole, tuple(each for each in after if each is not None)


def _performance_at(
    model: LossModel,
    found: Told,
    seen: Seen,
    games: Sequence[PlayedGame],
    chances: Results,
    group: Group,
    *,
    over: bool,
) -> Roots | None:
    order = own_order(found)
    held = summed(seen.log_likelihood, order, group.starts, group.ends)
    rows, elos = [], []
    for row, start, end in zip(held, group.starts.tolist(), group.ends.tolist(), strict=True):
        at = order[start]
        played, side = games[int(found.game[at])], int(found.side[at])
        own, opponent = played.sides[side], played.sides[1 - side].elo
        points = POINTS.get(played.result)
        if points is None or opponent is None or own.elo is None:
            continue
        white = side == 0
        if over:
            ending = of_result(points if white else 1 - points)
        else:
            ending = chances.promised(own.turns[end - start - 1], opponent, white)
        joint = np.array(ending) @ chances.log_chances(opponent, white)
        rows.append(row * model.weight(end - start) + joint)
        elos.append(own.elo)
    if len(rows) < MIN_GAMES:
        return None
    elo = np.array(elos, dtype=np.float64)
    return _roots(model, group.moves, signed_roots(np.array(rows), elo), elo)


def signed_roots(held: Floats, elo: Floats) -> Floats:
    """Of twice the log-likelihood ratio at ``elo``; above 0 where the likeliest Elo is higher."""
    likeliest, top = np.array([peak(row) for row in held]).T
    at = np.array([np.interp(e, GRID_ELO, row) for e, row in zip(elo, held, strict=True)])
    found: Floats = np.sign(likeliest - elo) * np.sqrt(np.maximum(2 * (top - at), 0.0))
    return found


def opponents_losses(found: Told, seen: Seen) -> Floats:
    """Before each turn, what the opponent's losses came to beside what was expected of them."""
    surprise = (found.log_loss - seen.mean) / np.sqrt(seen.variance)
    told = np.zeros(len(surprise))
    game = -1
    totals, counts = [0.0, 0.0], [0, 0]
    rows = zip(found.game.tolist(), found.side.tolist(), surprise.tolist(), strict=True)
    for row, (of, side, value) in enumerate(rows):
        if of != game:
            game, totals, counts = of, [0.0, 0.0], [0, 0]
        told[row] = totals[1 - side] / (counts[1 - side] + OPPONENT_MOVES)
        totals[side] += value
        counts[side] += 1
    return told


def shared_losses(found: Told, seen: Seen) -> tuple[float, ...]:
    """By stage, the share of the opponent's losses at which the two players' mean losses, beside
    what was expected, do not go together.
    """
    told = opponents_losses(found, seen) * np.sqrt(seen.variance)
    stage = np.array([stage_of(n) for n in range(int(found.number.max()) + 1)])[found.number]
    shares: list[float] = []
    for at, moves in enumerate((*STAGES_MOVES, 60)):
        pairs = _pairs(found, moves)
        if len(pairs[0]) < MIN_GAMES:
            shares.append(shares[-1] if shares else 0.0)
            continue

        def together(share: float, at: int = at, pairs: tuple[Ints, ...] = pairs) -> float:
            held = np.array([*shares, share, *(0.0,) * (len(STAGES_MOVES) - at)])
            left = found.log_loss - seen.mean - held[stage] * told
            return correlation(found, seen, left, pairs)

        low, high = -0.5, 1.5
        for _ in range(20):
            middle = (low + high) / 2
            low, high = (middle, high) if together(middle) > 0 else (low, middle)
        shares.append(round((low + high) / 2, 3))
    return tuple(shares)


def _pairs(found: Told, moves: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Where the first so many turns of both players of a game begin and end."""
    order = own_order(found)
    starts, ends = prefixes(found, moves)
    key = (found.game * 2 + found.side)[order][starts]
    white = np.flatnonzero((key[:-1] % 2 == 0) & (key[1:] == key[:-1] + 1))
    return starts[white], ends[white], starts[white + 1], ends[white + 1]


def correlation(found: Told, seen: Seen, left: Floats, pairs: tuple[Ints, ...]) -> float:
    """Rank correlation of the two players' standardised sums."""
    order = own_order(found)
    sums = []
    for starts, ends in (pairs[:2], pairs[2:]):
        total = summed(left, order, starts, ends)
        sums.append(total / np.sqrt(summed(seen.variance, order, starts, ends)))
    ranks = [np.argsort(np.argsort(each)) for each in sums]
    centred = [each - each.mean() for each in ranks]
    return float(
        centred[0] @ centred[1] / np.sqrt((centred[0] ** 2).sum() * (centred[1] ** 2).sum())
    )


def rank_nodes(
    model: LossModel,
    found: Told,
    seen: Seen,
    shared: tuple[float, ...],
    groups: Sequence[Group],
) -> tuple[Ranks, ...]:
    """How the mean losses of games lie around what was expected."""
    order = own_order(found)
    told = opponents_losses(found, seen) * np.sqrt(seen.variance)
    stage = np.array([stage_of(n) for n in range(int(found.number.max()) + 1)])[found.number]
    left = found.log_loss - seen.mean - np.array(shared)[stage] * told
    nodes = []
    for moves, starts, ends in groups:
        total = summed(left, order, starts, ends)
        chance = summed(seen.variance, order, starts, ends)
        length = ends - starts
        spread = max(0.0, float(np.mean(total**2 - chance) / np.mean(chance * length)))
        distance = total / np.sqrt(chance * (1 + spread * length))
        z = learned_z(model, found.elo[order][starts])
        by_elo = float(np.polynomial.polynomial.polyfit(z, distance, 1)[1])
        shares = (np.arange(QUANTILES) + 0.5) / QUANTILES
        quantiles = np.quantile(distance - by_elo * z, shares)
        nodes.append(
            Ranks(
                moves,
                round(spread, 5),
                tuple(round(float(each), 4) + 0.0 for each in quantiles),
                round(by_elo, 4),
            )
        )
    return tuple(nodes)


class Form(NamedTuple):
    """How far the play of one game lies from a player's own rating, Elo."""

    variance: float
    """Elo²; below 0 where the parts of a game are less alike than parts of different games."""
    low: float
    high: float
    """95 % interval of the variance, over games."""
    games: int

    @property
    def sd_elo(self) -> float:
        """0 unless the variance is above 0 beyond doubt."""
        return float(np.sqrt(self.variance)) if self.low > 0 else 0.0

    @property
    def high_elo(self) -> float:
        return float(np.sqrt(max(self.high, 0.0)))


#: Moves of the first and of the second part of a game.
FORM_PARTS = ((0, 20), (20, 40))
_FEWEST_OF_PART = 8


def form_spread(found: Told, seen: Seen) -> Form:
    """What moves 1-20 say of moves 21-40 of the same player, beyond Elo and difficulty.

    The covariance of a player's two parts of a game, less that of one player's first and the
    other's second part (the game's difficulty is shared by both), on the scale of Elo. That of a
    player's parts of different games is what the rating misses in all games: it is not form and
    is left out too, where players have several games. Interval by drawing games anew.
    """
    left = found.log_loss - seen.mean
    key = found.game * 2 + found.side
    width = 2 * (int(found.game.max()) + 1)
    totals, rises = [], []
    for first, last in FORM_PARTS:
        within = (found.number >= first) & (found.number < last)
        count = np.bincount(key[within], minlength=width)
        total = np.bincount(key[within], left[within], minlength=width)
        rise = np.bincount(key[within], seen.slope[within], minlength=width)
        totals.append(np.where(count >= _FEWEST_OF_PART, total, np.nan).reshape(-1, 2))
        rises.append(rise.reshape(-1, 2))
    both = ~np.isnan(totals[0]).any(axis=1) & ~np.isnan(totals[1]).any(axis=1)
    if both.sum() < MIN_GAMES:
        return Form(0.0, 0.0, 0.0, int(both.sum()))
    early, late = (each[both] - each[both].mean() for each in totals)
    # What a point of Elo changes in both parts.
    scale = (rises[0] * rises[1])[both].mean(axis=1)
    excess = (early * late - early * late[:, ::-1]).mean(axis=1)
    drawn = np.random.default_rng(15).integers(len(excess), size=(1000, len(excess)))
    low, high = np.quantile(excess[drawn].mean(axis=1) / scale[drawn].mean(axis=1), (0.025, 0.975))
    return Form(float(excess.mean() / scale.mean()), float(low), float(high), len(excess))
