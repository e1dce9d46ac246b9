"""Many games at once, as arrays: what learning a model and judging it need.

The same arithmetic as :mod:`live.ratings.perceived.perceived_rating`, one row a counted move.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from live.ratings.perceived.circumstances import Circumstance, measured
from live.ratings.perceived.loss_logit import GRID_ELO, Floats, LossLogit
from live.ratings.perceived.perceived_rating import CALM_MOVES, LEAST_ELO, MOST_ELO, PULL_MOVES
from live.ratings.perceived.played_games import PlayedGame

Ints = npt.NDArray[np.int64]
Which = npt.NDArray[np.bool_]

#: Rows looked at together: each takes some 2 kB.
_ROWS = 40_000


class Turns(NamedTuple):
    """Counted moves, one row each, by game, then by ply."""

    game: Ints
    side: Ints
    """0 White, 1 Black."""
    player: Ints
    """Index among the players."""
    elo: Floats
    """The mover's; NaN without one."""
    level: Floats
    """Of the game (``F``)."""
    ply: Ints
    number: Ints
    """How many moves of this side are counted with this one, from 1."""
    of: Ints
    """How many are counted in the whole game."""
    at: Floats
    """Circumstances: (rows, circumstances)."""
    gain_cp: Ints
    score_cp: Ints
    """Before the move, mover's side."""
    classes: Ints

    def rows(self, which: Which | Ints | slice) -> Turns:
        """Some of them; ``number`` and ``of`` stay those of the game."""
        return Turns(*(each[which] for each in self))  # type: ignore[arg-type]  # of either kind


def turns_of(
    games: Sequence[PlayedGame],
    names: tuple[Circumstance, ...],
    edges_cp: Sequence[int],
    *,
    field_elo: float | None = None,
) -> tuple[Turns, list[str]]:
    """Every turn of the games, and who plays them.

    ``field_elo``: the level of games without a rating, which are else left out.
    """
    players: dict[str, int] = {}
    rows: list[tuple[float, ...]] = []
    at: list[list[float]] = []
    for index, game in enumerate(games):
        known = [side.elo for side in game.sides if side.elo is not None]
        level = sum(known) / len(known) if known else field_elo
        if level is None:
            continue
        turns = [
            (turn.ply, color, number, turn)
            for color, side in enumerate(game.sides)
            for number, turn in enumerate(side.turns, 1)
        ]
        for ply, color, number, turn in sorted(turns, key=lambda each: each[:2]):
            side = game.sides[color]
            elo = float("nan") if side.elo is None else side.elo
            # Nobody knows who an unnamed player is, so he is another one in each game.
            player = players.setdefault(side.player or f"{index}/{color}", len(players))
            count = len(side.turns)
            cp = (turn.gain_cp, turn.score_before_cp)
            rows.append((index, color, player, elo, level, ply, number, count, *cp))
            at.append(measured(turn, names))
    columns = np.array(rows, dtype=np.float64).reshape(-1, 10).T
    game_, color_, player_, elo_, level_, ply_, number_, of_, gain_, score_ = columns
    gain_cp = gain_.astype(np.int64)
    turns_ = Turns(
        game_.astype(np.int64),
        color_.astype(np.int64),
        player_.astype(np.int64),
        elo_,
        level_,
        ply_.astype(np.int64),
        number_.astype(np.int64),
        of_.astype(np.int64),
        np.array(at, dtype=np.float64).reshape(-1, len(names)),
        gain_cp,
        score_.astype(np.int64),
        np.searchsorted(np.array(edges_cp), -gain_cp, side="left"),
    )
    return turns_, list(players)


def in_parts(turns: Turns) -> Iterator[Turns]:
    """The same in parts of whole games, for arrays that would not fit in memory."""
    starts = np.flatnonzero(np.r_[True, turns.game[1:] != turns.game[:-1]])
    begin = 0
    while begin < len(turns.game):
        after = starts[starts >= begin + _ROWS]
        end = int(after[0]) if len(after) else len(turns.game)
        yield turns.rows(slice(begin, end))
        begin = end


class Scored(NamedTuple):
    """What each row scores against players of each Elo, before the game's hardness."""

    score: Floats
    """``s(E)``, (rows, Elos)."""
    variance: Floats
    of_level: Floats
    of_own: Floats
    """NaN without a rating; so are the next three."""
    own_variance: Floats
    own_score: Floats
    """``s(R) - 1/2``, (rows,)."""
    surprise: Floats
    hardness: Floats
    """What the opponent's surprises before come to, for ``beta`` to be multiplied by."""


def scored(logit: LossLogit, turns: Turns, *, level: float | None = None) -> Scored:
    """Score every row; ``level`` puts one Elo in the place of the games' own."""
    number = np.arange(len(turns.game))
    lines = logit.lines(turns.at)
    shares = logit.shares(*lines)
    scores = class_scores(shares)
    levels = np.clip(turns.level if level is None else level, LEAST_ELO, MOST_ELO)
    own = logit.shares_of(*lines, np.clip(turns.elo, LEAST_ELO, MOST_ELO))
    own_scores = class_scores(own)
    own_variance = (own * own_scores**2).sum(axis=-1) - 0.25
    own_score = own_scores[number, turns.classes] - 0.5
    surprise = own_score / np.sqrt(own_variance)
    of_level = np.broadcast_to(logit.shares_of(*lines, levels), own.shape)
    return Scored(
        scores[number, :, turns.classes],
        (shares * scores**2).sum(axis=-1) - 0.25,
        np.einsum("rek,rk->re", scores, of_level),
        np.einsum("rek,rk->re", scores, own),
        own_variance,
        own_score,
        surprise,
        _hardness(turns, surprise),
    )


def class_scores(shares: Floats) -> Floats:
    """What a move of each class scores against players with these shares, (…, classes)."""
    found: Floats = 1.0 - np.cumsum(shares, axis=-1) + shares / 2
    return found


def _hardness(turns: Turns, surprise: Floats) -> Floats:
    """Of each row: the opponent's surprises before it, drawn towards none; 0 where he is unrated
    (all his surprises are unknown then).
    """
    found = np.zeros(len(surprise))
    known = np.nan_to_num(surprise)
    rated = ~np.isnan(surprise)
    for side in (0, 1):
        theirs = turns.side != side
        total = within_games(turns.game, np.where(theirs, known, 0.0))
        count = within_games(turns.game, np.where(theirs & rated, 1.0, 0.0))
        own = ~theirs
        found[own] = (total / (count + CALM_MOVES))[own]
    return found


def within_games(game: Ints, values: Floats) -> Floats:
    """Sums from the start of each game, row by row."""
    total = np.cumsum(values, axis=0, dtype=np.float64)
    starts = np.flatnonzero(np.r_[True, game[1:] != game[:-1]])
    before = np.concatenate([np.zeros((1, *values.shape[1:])), total])[starts]
    found: Floats = total - np.repeat(before, np.diff(np.r_[starts, len(game)]), axis=0)
    return found


def betas(ply: Ints, shared: Sequence[tuple[int, float]]) -> Floats:
    """``beta`` of each ply."""
    at = np.searchsorted([last for last, _ in shared], ply, side="left")
    found: Floats = np.array([beta for _, beta in shared])[np.minimum(at, len(shared) - 1)]
    return found


class States(NamedTuple):
    """Sums of a player-game after each of some of its moves; without any dispersion."""

    turns: Turns
    """The last move of each."""
    score: Floats
    """``S(E)``, (states, Elos)."""
    of_level: Floats
    variance: Floats
    of_own: Floats
    own_variance: Floats
    """(states,)."""
    at_own: Floats
    """``S(R) - n/2``."""


def states(turns: Turns, found: Scored, beta: Floats, wanted: Which) -> States:
    """The sums at the rows ``wanted``; ``beta`` of each row."""
    order = np.lexsort((turns.ply, turns.game * 2 + turns.side))
    key = (turns.game * 2 + turns.side)[order]
    kept = wanted[order]
    less = beta * found.hardness

    def sums(values: Floats) -> Floats:
        return within_games(key, values[order])[kept]

    return States(
        turns.rows(order).rows(kept),
        sums(found.score - less[:, None]),
        sums(found.of_level),
        sums(found.variance),
        sums(found.of_own),
        sums(found.own_variance),
        sums(found.own_score - less),
    )


def ratings(held: States) -> Floats:
    """The perceived rating of each state."""
    n = held.turns.number[:, None].astype(np.float64)
    return crossings(held.score - n / 2 + (PULL_MOVES / n) * (held.of_level - n / 2))


def places(held: States, rating: Floats) -> Floats:
    """``z``, but for the dispersion: where each rating lies among those of players rated alike."""
    return at_elo(held.score - held.of_own, rating) / np.sqrt(held.own_variance)


def at_elo(lines: Floats, elo: Floats) -> Floats:
    """Each line over the grid at an Elo of its own."""
    place = np.clip((elo - GRID_ELO[0]) / (GRID_ELO[1] - GRID_ELO[0]), 0, len(GRID_ELO) - 1)
    left = np.minimum(place.astype(np.int64), len(GRID_ELO) - 2)
    row = np.arange(len(lines))
    low, high = lines[row, left], lines[row, left + 1]
    found: Floats = low + (high - low) * (place - left)
    return found


def crossings(falling: Floats) -> Floats:
    """Where each line first falls to 0; the ends of the grid where it does not."""
    below = falling <= 0
    at = below.argmax(axis=1)
    row = np.arange(len(falling))
    inner = np.maximum(at, 1)
    left, right = falling[row, inner - 1], falling[row, inner]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = GRID_ELO[inner - 1] + (GRID_ELO[1] - GRID_ELO[0]) * left / (left - right)
    found = np.where(at == 0, GRID_ELO[0], found)
    ends: Floats = np.where(below.any(axis=1), found, GRID_ELO[-1])
    return ends
