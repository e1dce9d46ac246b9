"""Relation between Elo and (s, c), learned from games of rated players.

Regan and Haworth 2011, section 7, fit s and c to the players around each century of Elo
and then draw a line through the values of c. This module has fewer games, so it begins
with the lines: log s and log c are assumed to be linear in Elo, and the four parameters
are fitted to all turns at once by maximum likelihood. The error of this assumption
shows in ``players_sd_elo``: how far the level that players show in a game differs from
their rating, beyond chance.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from live.errors import InputError
from live.messages.values import Value
from live.ratings.choice_model import (
    Choices,
    ChoiceSkill,
    Floats,
    Spread,
    TurnArrays,
    compute_choices,
    compute_choices_by_turn,
)
from live.ratings.intrinsic_rating import IntrinsicTable, Milepost
from live.studies.learning.fisher_scoring import (
    NoFit,
    ScoringStep,
    invert,
    minimise_loss,
)

#: Smallest number of turns, and smallest standard deviation of the ratings (Elo), for a
#: fit.
MIN_TABLE_TURNS = 400
MIN_SD_ELO = 50.0
_SCALE_ELO = 200.0
_TABLE_START = (math.log(0.1), 0.0, math.log(0.5), 0.0)
_TABLE_LOWEST = np.array([math.log(1e-3), -1.0, math.log(0.05), -1.0])
_TABLE_HIGHEST = np.array([math.log(10.0), 1.0, math.log(10.0), 1.0])


class RatedTurns(Value):
    """Turns of one player in one game. Only turns that count are included (``left_out``
    is None).
    """

    player: str
    elo: float
    """The player's own rating at the time of the game."""
    spreads: tuple[Spread, ...]


def learn_intrinsic(
    games: Iterable[RatedTurns],
    *,
    name: str,
    engine: str,
    limit: str,
    lines: int,
    source: str,
) -> IntrinsicTable:
    """Learn the relation between (s, c) and Elo. A step costs O(turns · lines), and
    about ten steps are needed.

    Raises:
        InputError: there are too few turns, the ratings are too similar, or the higher
            rated players do not choose better moves. The error says which.
    """
    searched = [game for game in games if game.spreads]
    turns = TurnArrays([*chain.from_iterable(game.spreads for game in searched)])
    elo = np.repeat(
        [game.elo for game in searched], [len(game.spreads) for game in searched]
    )
    if len(turns) < MIN_TABLE_TURNS:
        raise InputError(
            name,
            f"{len(turns)} turns: {MIN_TABLE_TURNS} are needed",
            "Analyse more games",
        )
    if not elo.std() >= MIN_SD_ELO:
        raise InputError(
            name,
            f"ratings differ by {elo.std():.0f} Elo only (standard deviation)",
            f"Take players who differ by {MIN_SD_ELO:.0f} or more",
        )
    centre = float(elo.mean())
    z = (elo - centre) / _SCALE_ELO
    try:
        fitted, last = minimise_loss(
            lambda at: _compute_step(turns, z, at),
            np.array(_TABLE_START),
            _TABLE_LOWEST,
            _TABLE_HIGHEST,
        )
    except NoFit:
        raise InputError(
            name, "no finite s and c explain these moves", "Analyse more games"
        ) from None
    if invert(last.curvature) is None:
        raise InputError(
            name, "s and c cannot be distinguished in these games", "Analyse more games"
        )
    posts = _build_mileposts(elo, centre, fitted)
    if not _improves(turns, posts):
        raise InputError(
            name,
            "the higher rated players do not choose better moves here",
            "Analyse more games",
        )
    return IntrinsicTable(
        name=name,
        engine=engine,
        limit=limit,
        lines=lines,
        mileposts=posts,
        source=source,
        turns=len(turns),
        players=len({game.player for game in searched}),
        players_sd_elo=_measure_game_level_sd(turns, z, fitted, searched),
    )


def _compute_choices(turns: TurnArrays, s: Floats, c: Floats) -> Choices:
    return compute_choices_by_turn(
        turns.deltas, turns.is_move, "shares", "invexp", s, c
    )


def _compute_parameters(z: Floats, at: Floats) -> tuple[Floats, Floats]:
    return np.exp(at[0] + at[1] * z)[:, None], np.exp(at[2] + at[3] * z)[:, None]


def _compute_step(turns: TurnArrays, z: Floats, at: Floats) -> ScoringStep:
    choices = _compute_choices(turns, *_compute_parameters(z, at))
    # The logarithms of s and c are each a line in z.
    line = np.stack([np.ones_like(z), z], axis=1)
    slope = np.einsum("ti,tk->ik", turns.select_played(choices.slope), line).ravel()
    of_turn = np.einsum(
        "tm,tmi,tmj->tij", choices.probability, choices.slope, choices.slope
    )
    information = np.einsum(
        "tij,tk,tl->ikjl", of_turn, line, line, optimize=True
    ).reshape(4, 4)
    return ScoringStep(
        -float(turns.select_played(choices.log).sum()), -slope, information
    )


def _build_mileposts(
    elo: Floats, centre: float, fitted: Floats
) -> tuple[Milepost, ...]:
    """Return the mileposts: the two ends of the middle 95 % of the ratings, and the
    centuries of Elo between them.
    """
    low, high = (float(round(end)) for end in np.quantile(elo, (0.025, 0.975)))
    centuries = np.arange(math.ceil(low / 100) * 100, high, 100).tolist()
    at = np.array(sorted({low, *centuries, high}))
    s, c = _compute_parameters((at - centre) / _SCALE_ELO, fitted)
    return tuple(
        Milepost(e, round(float(a), 6), round(float(b), 6))
        for e, a, b in zip(at.tolist(), s[:, 0], c[:, 0], strict=True)
    )


def _improves(turns: TurnArrays, posts: Sequence[Milepost]) -> bool:
    """Return whether the expected loss is smaller for players at the highest milepost
    than for players at the lowest milepost.
    """
    low, high = (
        compute_choices(turns, ChoiceSkill(post.s, post.c)).probability
        for post in (posts[0], posts[-1])
    )
    return bool((high * turns.deltas).sum() < (low * turns.deltas).sum())


def _measure_game_level_sd(
    turns: TurnArrays, z: Floats, fitted: Floats, games: Sequence[RatedTurns]
) -> float:
    """Return how far the level shown in a game spreads around the rating, in Elo, by
    the method of moments.

    The slope of a game's log-likelihood at the rating has the variance I + I² · V,
    where I is the information and V the variance of the level.
    """
    choices = _compute_choices(turns, *_compute_parameters(z, fitted))
    by_elo = (choices.slope @ np.array([fitted[1], fitted[3]])) / _SCALE_ELO
    information = np.einsum("tm,tm,tm->t", choices.probability, by_elo, by_elo)
    game = np.repeat(np.arange(len(games)), [len(played.spreads) for played in games])
    slope_of = np.bincount(game, turns.select_played(by_elo))
    information_of = np.bincount(game, information)
    excess = float((slope_of**2 - information_of).sum())
    return round(math.sqrt(max(0.0, excess) / float((information_of**2).sum())), 1)
