"""Make an intrinsic table for one's own engine and limit from games of rated players.

Regan and Haworth 2011, section 7, fit s and c to the players around each century of Elo and then
draw a line through the values of c. With fewer games than theirs the lines come first: log s and
log c are taken as linear in Elo, and their four parameters are fitted to all turns at once by
maximum likelihood. What that misses shows in ``players_sd_elo``: how far the level that players
show in a game strays from their rating, beyond chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from live.errors import InputError
from live.ratings.regan.choice_model import Curve, Floats, Model, TurnArrays, choices_of
from live.ratings.regan.fisher_scoring import ScoringStep, descend, inverse
from live.ratings.regan.intrinsic_rating import IntrinsicTable, Milepost
from live.ratings.regan.move_spread import SCALE_PER_PAWN, Spread

#: Fewest turns, and least spread of ratings, to draw a line through.
MIN_TURNS = 400
MIN_SD_ELO = 50.0
_SCALE_ELO = 200.0
_START = (math.log(0.1), 0.0, math.log(0.5), 0.0)
_LOWEST = np.array([math.log(1e-3), -1.0, math.log(0.05), -1.0])
_HIGHEST = np.array([math.log(10.0), 1.0, math.log(10.0), 1.0])


class RatedTurns(msgspec.Struct, frozen=True):
    """One player's turns in one game, those that count (``left_out`` is None)."""

    player: str
    elo: float
    """The player's own rating at the time."""
    spreads: tuple[Spread, ...]


def learn_intrinsic(
    games: Iterable[RatedTurns],
    *,
    name: str,
    engine: str,
    limit: str,
    lines: int,
    source: str,
    model: Model = "shares",
    curve: Curve = "invexp",
    scale_per_pawn: float = SCALE_PER_PAWN,
) -> IntrinsicTable:
    """Learn the correspondence of (s, c) and Elo; O(turns · lines) a step, some ten steps.

    Raises InputError, saying what is missing, for too few turns, ratings too much alike, and
    games in which higher ratings do not go with better moves.
    """
    held = [game for game in games if game.spreads]
    turns = TurnArrays([spread for game in held for spread in game.spreads])
    elo = np.repeat([game.elo for game in held], [len(game.spreads) for game in held])
    if len(turns) < MIN_TURNS:
        raise InputError(name, f"{len(turns)} turns: {MIN_TURNS} are needed", "Analyse more games")
    if not elo.std() >= MIN_SD_ELO:
        raise InputError(
            name,
            f"ratings differ by {elo.std():.0f} Elo only (standard deviation)",
            f"Take players who differ by {MIN_SD_ELO:.0f} or more",
        )
    centre = float(elo.mean())
    z = (elo - centre) / _SCALE_ELO
    fitted, last = descend(
        lambda at: _step(turns, z, model, curve, at), np.array(_START), (_LOWEST, _HIGHEST)
    )
    if last is None or np.any(fitted <= _LOWEST) or np.any(fitted >= _HIGHEST):
        raise InputError(name, "no finite s and c explain these moves", "Analyse more games")
    if inverse(last.curvature) is None:
        raise InputError(name, "s and c cannot be told apart in these games", "Analyse more games")
    posts = _mileposts(elo, centre, fitted)
    if not _improves(turns, model, curve, posts):
        raise InputError(
            name, "the higher rated players do not choose better moves here", "Analyse more games"
        )
    return IntrinsicTable(
        name=name,
        engine=engine,
        limit=limit,
        lines=lines,
        mileposts=posts,
        source=source,
        model=model,
        curve=curve,
        scale_per_pawn=scale_per_pawn,
        turns=len(turns),
        players=len({game.player for game in held}),
        players_sd_elo=_players_sd(turns, z, model, curve, fitted, held),
    )


def _parameters(z: Floats, at: Floats) -> tuple[Floats, Floats]:
    return np.exp(at[0] + at[1] * z)[:, None], np.exp(at[2] + at[3] * z)[:, None]


def _step(turns: TurnArrays, z: Floats, model: Model, curve: Curve, at: Floats) -> ScoringStep:
    s, c = _parameters(z, at)
    found = choices_of(turns.deltas, turns.is_move, model, curve, s, c)
    played = turns.of_played(found.slope)
    slope = np.stack([played[:, 0], played[:, 0] * z, played[:, 1], played[:, 1] * z]).sum(axis=1)
    of_turn = np.einsum("tm,tmi,tmj->tij", found.probability, found.slope, found.slope)
    design = np.zeros((len(z), 2, 4))
    design[:, 0, 0] = design[:, 1, 2] = 1.0
    design[:, 0, 1] = design[:, 1, 3] = z
    information = np.einsum("tik,tij,tjl->kl", design, of_turn, design, optimize=True)
    return ScoringStep(-float(turns.of_played(found.log).sum()), -slope, information)


def _mileposts(elo: Floats, centre: float, fitted: Floats) -> tuple[Milepost, ...]:
    """The centuries within the middle 95 % of ratings, and both its ends."""
    low, high = (float(round(end)) for end in np.quantile(elo, (0.025, 0.975)))
    centuries = np.arange(math.ceil(low / 100) * 100, high, 100).tolist()
    at = np.array(sorted({low, *centuries, high}))
    s, c = _parameters((at - centre) / _SCALE_ELO, fitted)
    return tuple(
        Milepost(e, round(float(a), 6), round(float(b), 6))
        for e, a, b in zip(at.tolist(), s[:, 0], c[:, 0], strict=True)
    )


def _improves(turns: TurnArrays, model: Model, curve: Curve, posts: Sequence[Milepost]) -> bool:
    """Whether players at the upper end are expected to lose less than at the lower end."""
    low, high = (
        choices_of(turns.deltas, turns.is_move, model, curve, post.s, post.c).probability
        for post in (posts[0], posts[-1])
    )
    return bool((high * turns.deltas).sum() < (low * turns.deltas).sum())


def _players_sd(
    turns: TurnArrays,
    z: Floats,
    model: Model,
    curve: Curve,
    fitted: Floats,
    games: Sequence[RatedTurns],
) -> float:
    """Spread of the level shown in a game about the rating, Elo, by the method of moments.

    The slope of a game's log-likelihood at the rating has as its variance the information I, plus
    I² times the variance of the level.
    """
    s, c = _parameters(z, fitted)
    found = choices_of(turns.deltas, turns.is_move, model, curve, s, c)
    by_elo = (found.slope @ np.array([fitted[1], fitted[3]])) / _SCALE_ELO
    information = np.einsum("tm,tm,tm->t", found.probability, by_elo, by_elo)
    game = np.repeat(np.arange(len(games)), [len(held.spreads) for held in games])
    slope_of = np.bincount(game, turns.of_played(by_elo))
    information_of = np.bincount(game, information)
    excess = float((slope_of**2 - information_of).sum())
    return round(math.sqrt(max(0.0, excess) / float((information_of**2).sum())), 1)
