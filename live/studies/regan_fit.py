"""Fits of Regan and Haworth's model (2011): of one player's choices, and of what
corresponds to Elo; and their table of (s, c) by player, event, year or rating.
"""

import contextlib
import math
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np
import polars
from polars import Int64, col

from live.errors import InputError
from live.messages.values import Value
from live.ratings.intrinsic_rating import (
    Choices,
    ChoiceSkill,
    Curve,
    Floats,
    IntrinsicTable,
    Milepost,
    Model,
    Spread,
    TurnArrays,
    compute_choices,
    compute_choices_by_turn,
    project_choices,
)
from live.studies.study_data import (
    Column,
    Row,
    Rows,
    StudyData,
    TableHead,
    table,
    with_interval,
)

# --- fisher scoring -------------------------------------------------------------------

# Fisher scoring: Newton's method with the expected curvature, damped against going
# astray.


#: The longest step, where parameters are logarithms: e-fold.
LONGEST = 1.0
_STEPS = 100


class ScoringStep(NamedTuple):
    """What is known at one point, to make the next step."""

    loss: float
    slope: Floats
    """Of the loss, shape (parameters,)."""
    curvature: Floats
    """Positive semidefinite, shape (parameters, parameters)."""


class NoFit(ValueError):
    """Why there are no parameters, for people."""


def descend(
    step_of: Callable[[Floats], ScoringStep],
    start: Floats,
    lowest: Floats,
    highest: Floats,
) -> tuple[Floats, ScoringStep]:
    """The point of least loss, with what is known there: damped steps (Levenberg 1944,
    Marquardt 1963) until none helps. Raises NoFit where they do not come to rest within
    the bounds.
    """
    at = start
    here = step_of(at)
    damping = 1e-3
    moved = math.inf
    gained = math.inf
    for _ in range(_STEPS):
        if moved < 1e-7 or gained < 1e-12 * (1 + abs(here.loss)) or damping > 1e12:
            if np.all(lowest < at) and np.all(at < highest):
                return at, here
            break
        pull = here.curvature + np.diag(damping * np.diag(here.curvature) + 1e-12)
        move = np.clip(-np.linalg.solve(pull, here.slope), -LONGEST, LONGEST)
        there = np.clip(at + move, lowest, highest)
        found = step_of(there)
        if found.loss <= here.loss:
            gained = here.loss - found.loss
            moved = float(np.abs(there - at).max())
            at = there
            here = found
            damping = max(damping / 10, 1e-9)
        else:
            damping *= 10
    raise NoFit("these moves are explained best by no finite s and c")


def inverse(matrix: Floats) -> Floats | None:
    """The inverse of a covariance or information; None where it is singular but for
    rounding.
    """
    if not np.all(np.isfinite(matrix)) or np.any(np.diag(matrix) <= 0):
        return None
    scale = np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)))
    alike = matrix / scale
    if np.linalg.eigvalsh(alike)[0] < 1e-10:
        return None
    return np.asarray(np.linalg.inv(alike) / scale)


# --- choice fit -----------------------------------------------------------------------

# The sensitivity and competence that best explain the moves a player chose, with
# intervals.
#
# Two fits (Regan and Haworth 2011, section 6). Maximum likelihood takes the s and c
# under which the moves played were most probable: Fisher scoring finds them, the
# expected information gives their covariance, and the intervals are those of the
# profile likelihood. The percentile method asks whether the moves fall where predicted:
# over the moves of a turn in order of merit, the played one spans an interval of the
# predicted cumulative probability, and for every percentile q the share of turns "up",
# at or below q, should be q. It minimises the squares of the differences, and has no
# intervals. Nor has the paper any.
#
# Both work in log s and log c, where they are nearly normal. What cannot be fitted
# raises ``NoFit`` with the reason.


Method = Literal["likelihood", "percentile"]

#: Turns below which a fit says too little (``tests/studies/test_regan_fit.py``).
MIN_TURNS: dict[Method, int] = {"likelihood": 20, "percentile": 160}

#: Percentiles, "stepping q by 0.05 from 0 to 1" (Regan and Haworth 2011, section 6).
#: The ends match whatever the parameters are.
PERCENTILES: Floats = np.linspace(0.05, 0.95, 19)

_START = (math.log(0.1), math.log(0.5))
#: s from 1/10,000 to 100 pawns, c from 1/50 to 20: a fit that leaves this has no finite
#: answer.
_LOWEST = np.array([math.log(1e-4), math.log(0.02)])
_HIGHEST = np.array([math.log(100.0), math.log(20.0)])
_PROFILE_STEPS = 30


class ChoiceFit(Value):
    """Fitted parameters of one player's choices, with 95 % intervals."""

    skill: ChoiceSkill
    s_interval: tuple[float, float]
    """Pawns."""
    c_interval: tuple[float, float]


def fit_likelihood(
    turns: TurnArrays, *, model: Model = "shares", curve: Curve = "invexp"
) -> ChoiceFit:
    """Maximum likelihood (Regan and Haworth 2011, section 6).

    For 400 turns of 20 moves 7 ms by the shares model, 60 ms by the product model.
    """
    at, best = _likeliest("likelihood", turns, model, curve)
    covariance = inverse(best.curvature)
    if covariance is None:
        raise NoFit("s and c cannot be told apart from these moves")
    skill = _skill(at, model, curve)
    s, c = (_profile(turns, skill, best, covariance, which) for which in (0, 1))
    return ChoiceFit(skill, s, c)


def fit_percentile(turns: TurnArrays) -> ChoiceSkill:
    """The percentile method (Regan and Haworth 2011, section 6). As quick as the other.

    It begins where maximum likelihood ends, since far from there its score has other
    minima.
    """
    start, _ = _likeliest("percentile", turns, "shares", "invexp")
    at, _ = descend(
        lambda at: _percentile_step(turns, _skill(at)), start, _LOWEST, _HIGHEST
    )
    return _skill(at)


def fit_sensitivity(turns: TurnArrays, c: float) -> float | None:
    """The most likely s, pawns, of players whose c is given: ``s_fit`` of section 7.
    None where no finite one is.
    """

    def step(at: Floats) -> ScoringStep:
        both = _likelihood_step(turns, ChoiceSkill(math.exp(at[0]), c))
        return ScoringStep(both.loss, both.slope[:1], both.curvature[:1, :1])

    try:
        _refuse("likelihood", turns)
        at, _ = descend(step, np.array(_START[:1]), _LOWEST[:1], _HIGHEST[:1])
    except NoFit:
        return None
    return math.exp(at[0])


def log_likelihood(turns: TurnArrays, skill: ChoiceSkill) -> float:
    """Logarithm of the probability of all moves played."""
    return float(turns.select_played(compute_choices(turns, skill).log).sum())


def share_up(turns: TurnArrays, skill: ChoiceSkill) -> Floats:
    """Share of turns "up" at each of ``PERCENTILES``, shape (19,): ``R`` of section
    6.
    """
    mean: Floats = _ups(turns, skill)[0].mean(axis=0)
    return mean


def percentile_score(turns: TurnArrays, skill: ChoiceSkill) -> float:
    """``S`` of section 6, with the square as the measure of distance: near 0 where
    model and curve have the right shape.
    """
    return float(((share_up(turns, skill) - PERCENTILES) ** 2).sum())


def _refuse(method: Method, turns: TurnArrays) -> None:
    count = len(turns)
    if count < MIN_TURNS[method]:
        raise NoFit(f"{count} turns: by {method}, s and c need {MIN_TURNS[method]}")
    if not turns.select_played(turns.deltas).any():
        raise NoFit(
            "every move played was a best one: no bound to how strong the player is"
        )


def _likeliest(
    method: Method, turns: TurnArrays, model: Model, curve: Curve
) -> tuple[Floats, ScoringStep]:
    """Logarithms of the most likely s and c, and what is known there."""
    _refuse(method, turns)
    return descend(
        lambda at: _likelihood_step(turns, _skill(at, model, curve)),
        np.array(_START),
        _LOWEST,
        _HIGHEST,
    )


def _skill(at: Floats, model: Model = "shares", curve: Curve = "invexp") -> ChoiceSkill:
    return ChoiceSkill(math.exp(at[0]), math.exp(at[1]), model, curve)


def _quantile(turns: int) -> float:
    """Student's instead of the normal curve's: with few turns the latter is too
    bold.
    """
    from scipy.special import stdtrit  # where asked for: a slow import

    return float(stdtrit(turns - 2, 0.975))


def _profile(
    turns: TurnArrays,
    skill: ChoiceSkill,
    best: ScoringStep,
    covariance: Floats,
    which: int,
) -> tuple[float, float]:
    """Where the likelihood, the other parameter at its best, has fallen by half of
    Student's t².

    Each step solves the quadratic that value, slope and information describe (Venzon
    and Moghadam 1988, "A method for computing profile-likelihood-based confidence
    intervals").
    """
    centre = np.log([skill.s, skill.c])
    quantile = _quantile(len(turns))
    target = best.loss + quantile**2 / 2
    # The other parameter goes along.
    reach = quantile * covariance[which] / math.sqrt(covariance[which, which])
    ends = []
    for side, wall, end in ((-1.0, _LOWEST, 0.0), (1.0, _HIGHEST, math.inf)):
        at = centre + np.clip(side * reach, -LONGEST, LONGEST)
        for _ in range(_PROFILE_STEPS):
            at = np.clip(at, _LOWEST, _HIGHEST)
            here = _likelihood_step(turns, _skill(at, skill.model, skill.curve))
            if at[which] == wall[which] and here.loss < target:
                break
            move = _towards(target, here, which, side)
            at = at + np.clip(move, -LONGEST, LONGEST)
            if abs(here.loss - target) < 1e-4 and abs(move[1 - which]) < 1e-3:
                end = math.exp(at[which])
                break
        ends.append(end)
    return ends[0], ends[1]


def _towards(target: float, here: ScoringStep, which: int, side: float) -> Floats:
    """The step to where, on ``side``, the loss is ``target`` and no slope is left in
    the other.
    """
    other = 1 - which
    within = max(here.curvature[other, other], 1e-12)
    along = -here.curvature[which, other] / within
    # With the other parameter following at its best, the loss is a + b x + q x²/2 in x
    # = move.
    b = here.slope[which] + along * here.slope[other]
    q = max(here.curvature[which, which] + along * here.curvature[which, other], 1e-9)
    a = here.loss - here.slope[other] ** 2 / (2 * within) - target
    x = (-b + side * math.sqrt(max(b * b - 2 * q * a, 0.0))) / q
    move = np.empty(2)
    move[which] = x
    move[other] = along * x - here.slope[other] / within
    return move


def _likelihood_step(turns: TurnArrays, skill: ChoiceSkill) -> ScoringStep:
    found = compute_choices(turns, skill)
    slope = turns.select_played(found.slope).sum(axis=0)
    information = np.einsum(
        "tm,tmi,tmj->ij", found.probability, found.slope, found.slope
    )
    return ScoringStep(
        -float(turns.select_played(found.log).sum()), -slope, information
    )


def _percentile_step(turns: TurnArrays, skill: ChoiceSkill) -> ScoringStep:
    ups, slopes = _ups(turns, skill)
    miss = ups.mean(axis=0) - PERCENTILES
    slope = slopes.mean(axis=0)
    return ScoringStep(float(miss @ miss) / 2, slope.T @ miss, slope.T @ slope)


def _ups(turns: TurnArrays, skill: ChoiceSkill) -> tuple[Floats, Floats]:
    """How far each turn is "up" at each percentile, and its derivatives.

    Shapes (turns, 19) and (turns, 19, 2).
    """
    found = compute_choices(turns, skill)
    before = np.arange(turns.deltas.shape[1]) < turns.played[:, None]
    below = np.where(before, found.probability, 0.0).sum(axis=1)
    below_slope = np.einsum(
        "tm,tmi->ti", np.where(before, found.probability, 0.0), found.slope
    )
    own = np.maximum(turns.select_played(found.probability), 1e-300)
    own_slope = turns.select_played(found.slope)
    raw = (PERCENTILES - below[:, None]) / own[:, None]
    straddles = (raw > 0) & (raw < 1)
    slope = (
        -below_slope[:, None] / own[:, None, None]
        - raw[:, :, None] * own_slope[:, None]
    )
    return np.clip(raw, 0.0, 1.0), np.where(straddles[:, :, None], slope, 0.0)


# --- intrinsic fit --------------------------------------------------------------------

# Make an intrinsic table for one's own engine and limit from games of rated players.
#
# Regan and Haworth 2011, section 7, fit s and c to the players around each century of
# Elo and then draw a line through the values of c. With fewer games than theirs the
# lines come first: log s and log c are taken as linear in Elo, and their four
# parameters are fitted to all turns at once by maximum likelihood. What that misses
# shows in ``players_sd_elo``: how far the level that players show in a game strays from
# their rating, beyond chance.


#: Fewest turns, and least spread of ratings, to draw a line through.
MIN_TABLE_TURNS = 400
MIN_SD_ELO = 50.0
_SCALE_ELO = 200.0
_TABLE_START = (math.log(0.1), 0.0, math.log(0.5), 0.0)
_TABLE_LOWEST = np.array([math.log(1e-3), -1.0, math.log(0.05), -1.0])
_TABLE_HIGHEST = np.array([math.log(10.0), 1.0, math.log(10.0), 1.0])


class RatedTurns(Value):
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
) -> IntrinsicTable:
    """Learn the correspondence of (s, c) and Elo; O(turns · lines) a step, some ten
    steps.

    Raises InputError, saying what is missing, for too few turns, ratings too much
    alike, and games in which higher ratings do not go with better moves.
    """
    held = [game for game in games if game.spreads]
    turns = TurnArrays([*chain.from_iterable(game.spreads for game in held)])
    elo = np.repeat([game.elo for game in held], [len(game.spreads) for game in held])
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
        fitted, last = descend(
            lambda at: _step(turns, z, at),
            np.array(_TABLE_START),
            _TABLE_LOWEST,
            _TABLE_HIGHEST,
        )
    except NoFit:
        raise InputError(
            name, "no finite s and c explain these moves", "Analyse more games"
        ) from None
    if inverse(last.curvature) is None:
        raise InputError(
            name, "s and c cannot be told apart in these games", "Analyse more games"
        )
    posts = _mileposts(elo, centre, fitted)
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
        players=len({game.player for game in held}),
        players_sd_elo=_players_sd(turns, z, fitted, held),
    )


def _choices_of(turns: TurnArrays, s: Floats, c: Floats) -> Choices:
    return compute_choices_by_turn(
        turns.deltas, turns.is_move, "shares", "invexp", s, c
    )


def _parameters(z: Floats, at: Floats) -> tuple[Floats, Floats]:
    return np.exp(at[0] + at[1] * z)[:, None], np.exp(at[2] + at[3] * z)[:, None]


def _step(turns: TurnArrays, z: Floats, at: Floats) -> ScoringStep:
    found = _choices_of(turns, *_parameters(z, at))
    # Each of both logarithms is a line in z.
    line = np.stack([np.ones_like(z), z], axis=1)
    slope = np.einsum("ti,tk->ik", turns.select_played(found.slope), line).ravel()
    of_turn = np.einsum("tm,tmi,tmj->tij", found.probability, found.slope, found.slope)
    information = np.einsum(
        "tij,tk,tl->ikjl", of_turn, line, line, optimize=True
    ).reshape(4, 4)
    return ScoringStep(
        -float(turns.select_played(found.log).sum()), -slope, information
    )


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


def _improves(turns: TurnArrays, posts: Sequence[Milepost]) -> bool:
    """Whether players at the upper end are expected to lose less than at the lower
    end.
    """
    low, high = (
        compute_choices(turns, ChoiceSkill(post.s, post.c)).probability
        for post in (posts[0], posts[-1])
    )
    return bool((high * turns.deltas).sum() < (low * turns.deltas).sum())


def _players_sd(
    turns: TurnArrays, z: Floats, fitted: Floats, games: Sequence[RatedTurns]
) -> float:
    """Spread of the level shown in a game about the rating, Elo, by the method of
    moments.

    The slope of a game's log-likelihood at the rating has as its variance the
    information I, plus I² times the variance of the level.
    """
    found = _choices_of(turns, *_parameters(z, fitted))
    by_elo = (found.slope @ np.array([fitted[1], fitted[3]])) / _SCALE_ELO
    information = np.einsum("tm,tm,tm->t", found.probability, by_elo, by_elo)
    game = np.repeat(np.arange(len(games)), [len(held.spreads) for held in games])
    slope_of = np.bincount(game, turns.select_played(by_elo))
    information_of = np.bincount(game, information)
    excess = float((slope_of**2 - information_of).sum())
    return round(math.sqrt(max(0.0, excess) / float((information_of**2).sum())), 1)


# --- the table ------------------------------------------------------------------------

GROUPINGS = ("player", "event", "year", "rating")
#: Turns of one row that are fitted at most: more say little more.
MOST_TURNS = 20_000
_RATING_STEP = 100


def _columns(by: str) -> tuple[Column, ...]:
    return (
        by,
        "turns",
        *with_interval(
            "s", 3, "sensitivity, pawns, by maximum likelihood", "s low", "s high"
        ),
        *with_interval("c", 3, "competence", "c low", "c high"),
        ("s percentile", 3, "by the percentile method"),
        ("c percentile", 3),
        ("mm_p", 1, "matches of the first line projected, percent"),
        ("mm_a", 1, "and actual"),
        ("ad_p", 3, "average difference projected, pawns"),
        ("ad_a", 3, "and actual"),
        ("Q_fit", 4, "sum of squares over percentiles; small: the right shape"),
        ("c_fit", 3, "by rating: c of the straight line through all c"),
        ("s_fit", 3, "by rating: the most likely s for that c, pawns"),
        "reason",
    )


@table(
    "regan",
    "Sensitivity and competence by player",
    "Regan and Haworth 2011, section 7",
    *_columns("player"),
    by=GROUPINGS,
)
def regan_table(data: StudyData, by: str = "player") -> Rows:
    """Fits by maximum likelihood and by percentiles, projections beside what was
    played.
    """
    counts, kept, left_out = _turns(data, by)
    names: Any = {"player": data.players, "event": data.events}.get(by, {})
    order = (
        data.players
        if by == "player"
        else sorted(kept, key=lambda key: names.get(key, key))
    )
    fitted = {key: _row(kept[key]) for key in order if key in kept}
    known = {key: c for key, (c, _) in fitted.items() if c is not None}
    lines = line_of_competence(known) if by == "rating" else {}
    for key, (_, cells) in fitted.items():
        c_fit = lines.get(key)
        s_fit = None if c_fit is None else fit_sensitivity(kept[key], c_fit)
        yield names.get(key, key), *cells[:-1], c_fit, s_fit, cells[-1]
    yield (
        f"{left_out} turns left out: opening, repeated or decided positions, moves"
        " beyond the lines."
    )
    yield "(s, c) hold for this engine, limit and number of lines alone."
    yield (
        "A projection from a fit to the same moves shows whether the model has the"
        " right shape; it screens nobody."
    )
    if beyond := sum(max(0, n - MOST_TURNS) for n in counts.values()):
        yield f"{beyond} turns beyond {MOST_TURNS} of a row are not counted."
    if not fitted:
        yield "No position has several lines: search with study run --lines 10."
    yield TableHead(f"Sensitivity and competence by {by}", _columns(by))


def _turns(
    data: StudyData, by: str
) -> tuple[dict[Any, int], dict[Any, TurnArrays], int]:
    """How many turns count of each group, the first of them, and how many do not
    count.
    """
    key = col("elo" if by == "rating" else by).cast(Int64)
    if by == "rating":
        key = (key + _RATING_STEP // 2) // _RATING_STEP * _RATING_STEP
    turns = (
        data.scan(all_players=by != "player")
        .with_columns(key=key)
        .drop_nulls(["deltas", "key"])
    )
    known = turns.filter(turn_left_out="")
    others = turns.filter(col("turn_left_out") != "")
    counts = dict(known.group_by("key").len().collect().iter_rows())
    left_out = others.select(polars.len()).collect().item()
    first = known.group_by("key", maintain_order=True).head(MOST_TURNS).collect()
    kept = {}
    for (name,), part in first.partition_by("key", as_dict=True).items():
        rows = part.select("deltas", "played_line").iter_rows()
        spreads = [Spread(tuple(deltas), played, 0.0) for deltas, played in rows]
        kept[name] = TurnArrays(spreads)
    return counts, kept, left_out


def line_of_competence(known: dict[int, float]) -> dict[int, float]:
    """Return c on the straight line over the ratings (section 7); nothing for fewer
    than three.
    """
    if len(known) < 3:
        return {}
    slope, start = np.polyfit([*known], [*known.values()], 1)
    return {rating: float(start + slope * rating) for rating in known}


def _row(turns: TurnArrays) -> tuple[float | None, Row]:
    """The c of one group, and its cells but for its name and those that need all
    groups.
    """
    try:
        fit = fit_likelihood(turns)
    except NoFit as error:
        return None, (len(turns), *[None] * 13, str(error))
    skill = fit.skill
    other: Row = (None, None)
    quality = percentile_score(turns, skill)
    with contextlib.suppress(NoFit):
        percentile = fit_percentile(turns)
        other = (percentile.s, percentile.c)
        quality = percentile_score(turns, percentile)
    shown: Row = (None, None, None, None)
    if (projection := project_choices(turns, skill)) is not None:
        matches = projection.matches
        difference = projection.difference
        shares = (
            100 * each / projection.turns
            for each in (matches.projected, matches.actual)
        )
        shown = (*shares, difference.projected, difference.actual)
    own = (skill.s, *fit.s_interval, skill.c, *fit.c_interval)
    return skill.c, (len(turns), *own, *other, *shown, quality, "")
