"""Algorithms 3 and 4 of Ferreira 2012, and how the engine's own gains are distributed.

Algorithm 4 (section 7) compares a player's gains with the engine's own; the difference, added to
the engine's rating, is the perceived rating of the paper. Algorithm 3 (section 6, Table 4) finds
the engine's rating from players whose ratings are known. Algorithm 1 is
:func:`live.ratings.gain.expected_score_between`, Algorithm 2 :mod:`live.ratings.algorithm_2`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate
from statistics import NormalDist, fmean
from typing import NamedTuple

import msgspec

from live.events import GainCounts, GainKind
from live.ratings.expected_score import difference_of
from live.ratings.gain import GainHistogram
from live.ratings.learned_files import LearnedFiles
from live.ratings.score_interval import GameScores, score_interval

#: How far games of one player lie apart beyond chance, standard deviation in Elo of what this
#: shows: found so that the interval holds the value over three or more other games of the player in
#: .94 of 164 player-games over the board (31 players; .86 without), and in .93 of 1,645 of blitz.
BETWEEN_GAMES_SD: dict[GainKind, float] = {"same-search": 22.0, "successive": 30.0}


class EngineDistribution:
    """How the engine's own gains are distributed, which is what a player is measured against.

    Ferreira 2012, section 6 takes a single peak at 0 (``SPIKE_AT_ZERO``), exact by construction for
    same-search gains. A better characterisation is future work there (sections 7 and 10): gains as
    counted, in moves where the player chose the engine's own first choice, or in games of the
    engine against itself.
    """

    __slots__ = ("_below", "_gains_cp", "counts", "scale")

    def __init__(self, gains: GainHistogram) -> None:
        """Raises ValueError for an empty histogram."""
        self.counts: GainCounts = tuple(gains)
        """What it was counted from: pairs of gain in centipawns and moves, gains ascending."""
        if not self.counts:
            raise ValueError("an empty histogram says nothing about the engine: use the spike at 0")
        self.scale = 2 * gains.n
        """The parts that make one whole point, so that sums over moves stay exact."""
        self._gains_cp = [gain_cp for gain_cp, _ in self.counts]
        self._below = list(accumulate((count for _, count in self.counts), initial=0))

    def parts(self, gain_cp: int) -> int:
        """What a move scores against the engine, ``P(E < g) + 0.5 P(E = g)``, times ``scale``."""
        at = bisect_left(self._gains_cp, gain_cp)
        equal = at < len(self._gains_cp) and self._gains_cp[at] == gain_cp
        return self._below[at] + self._below[at + equal]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EngineDistribution) and self.counts == other.counts

    __hash__ = None  # type: ignore[assignment]  # nothing keys on it


SPIKE_AT_ZERO = EngineDistribution(GainHistogram([0]))


class EngineGains(msgspec.Struct, frozen=True):
    """An engine's own successive gains as ``study table engine-gains`` counts them: in moves where
    the player chose what the engine would have played.
    """

    engine: str
    """Engine and limit, as a study names them."""
    rows: tuple[tuple[int, int], ...]
    """Gain in centipawns, and how many moves had it."""

    def fits(self, engine: str, limit: str) -> bool:
        """Whether it is of this engine under this limit."""
        # A study names what changes the engine's scores behind its name.
        name, _, bound = self.engine.partition(", ")
        return (name.partition(";")[0], bound) == (engine, limit)

    def __post_init__(self) -> None:
        _ = self.distribution

    @property
    def distribution(self) -> EngineDistribution:
        """What players are measured against. Raises ValueError for counts that are none."""
        held = GainHistogram()
        for gain_cp, moves in self.rows:
            held.add(gain_cp, moves)
        return EngineDistribution(held)


ENGINE_GAINS = LearnedFiles(
    "engine_gains",
    EngineGains,
    "count of an engine's gains",
    "Write it: live-rate study table CORPUS engine-gains --form json --out FILE",
)


# --- Algorithm 4 ----------------------------------------------------------------------------------


def scores_against(
    gains_cp: Iterable[int], engine: EngineDistribution = SPIKE_AT_ZERO
) -> GameScores:
    """What moves score against the engine, in parts of ``engine.scale`` (Algorithm 4).

    >>> found = scores_against([0, 0, -20, 0, -5])
    >>> found.total / (found.n * SPIKE_AT_ZERO.scale)
    0.3
    """
    parts = [engine.parts(gain_cp) for gain_cp in gains_cp]
    return GameScores(len(parts), sum(parts), sum(each * each for each in parts))


def ceiling_of(engine: EngineDistribution, gain: GainKind) -> int:
    """The most that a move of this kind can score, in parts."""
    return engine.parts(0) if gain == "same-search" else engine.scale


def interval_of(
    scores: GameScores, engine: EngineDistribution, gain: GainKind
) -> tuple[float | None, float | None]:
    """95 % interval of what the player's other games show, Elo, from one move or more; None for an
    end that is unbounded. Chance within the game is as in ``live.ratings.score_interval``; how
    games of one player differ is added to it.
    """
    n, total, squares = scores
    scale, ceiling = engine.scale, ceiling_of(engine, gain)
    low, high = score_interval(
        n, total / scale, squares / scale**2, ceiling=ceiling / scale, smooth=scale > 2
    )
    most = difference_of(ceiling / scale)
    ends = difference_of(low), difference_of(high)
    return over_other_games(difference_of(total / (n * scale)), ends, most, gain)


def over_other_games(
    difference: float | None,
    ends: tuple[float | None, float | None],
    most: float | None,
    gain: GainKind,
) -> tuple[float | None, float | None]:
    """The interval of one game, Elo, widened by how games of one player differ.

    ``ends`` hold chance within the game; ``most`` is what the best move every time shows: no game
    can show more.
    """
    low, high = ends
    apart = NormalDist().inv_cdf(0.975) * BETWEEN_GAMES_SD[gain]
    if difference is None:
        # The other end has no middle to be added to in quadrature.
        return None if low is None else low - apart, None if high is None else high + apart
    reached = None if high is None else difference + math.hypot(high - difference, apart)
    return (
        None if low is None else difference - math.hypot(difference - low, apart),
        reached if reached is None or most is None else min(reached, most),
    )


# --- Algorithm 3 ----------------------------------------------------------------------------------


class MeasuredPlayer(NamedTuple):
    """What Algorithm 3 needs of a player."""

    player: str
    expected_score: float
    """Against the engine (Algorithm 1, step 4), in [0, 1]."""
    elo: float | None = None
    """The actual rating r_i; None when unrated."""
    strength: float | None = None
    """The perceived rating r'_i of Algorithm 2, where there is one."""


class EngineEstimate(NamedTuple):
    """One row of Table 4: what one player says about the engine, in Elo."""

    player: str
    difference: float | None
    """d_i, the player against the engine; None where unbounded."""
    by_elo: float | None
    """r_i - d_i; None without a rating or a bounded difference."""
    by_strength: float | None
    """r'_i - d_i; likewise."""


class Algorithm3(NamedTuple):
    """Table 4: the rows and the average of each column, in Elo (None for an empty column)."""

    rows: tuple[EngineEstimate, ...]
    by_elo: float | None
    by_strength: float | None


def engine_strength(players: Iterable[MeasuredPlayer]) -> Algorithm3:
    """Run Algorithm 3, every player counting the same (Ferreira 2012, section 6).

    A player whose expected score is 0 or 1 has no bounded difference and enters no average.
    Raises ValueError for a score outside [0, 1].

    >>> found = engine_strength([MeasuredPlayer("Anand", 0.4, elo=2800)])
    >>> round(found.rows[0].difference, 1), round(found.by_elo, 1)
    (-71.7, 2871.7)
    """
    rows = []
    for player, score, *ratings in players:
        difference = difference_of(score)
        found = [
            None if difference is None or each is None else each - difference for each in ratings
        ]
        rows.append(EngineEstimate(player, difference, *found))
    by_elo = [row.by_elo for row in rows if row.by_elo is not None]
    by_strength = [row.by_strength for row in rows if row.by_strength is not None]
    return Algorithm3(
        tuple(rows), *(fmean(each) if each else None for each in (by_elo, by_strength))
    )


class PlayedGains(NamedTuple):
    """One rated player's gains of one game."""

    player: str
    elo: int
    """At the time."""
    gains_cp: tuple[int, ...]


def rating_by_moves(games: Iterable[PlayedGains]) -> float | None:
    """Algorithm 3 over the players of ``games``, weighted by their moves, in Elo.

    Each player's gains are pooled and measured against a spike at 0 (Ferreira 2012, section 6);
    his rating is the mean over his moves. None when no player's difference is bounded.
    """
    rated: dict[str, tuple[int, int, int]] = {}
    for game in games:
        n, halves, elo = rated.get(game.player, (0, 0, 0))
        found = scores_against(game.gains_cp)
        rated[game.player] = n + found.n, halves + found.total, elo + game.elo * found.n
    total = weight = 0.0
    for n, halves, elo in rated.values():
        difference = difference_of(halves / (2 * n)) if n else None
        if difference is not None:
            total += elo - n * difference
            weight += n
    return round(total / weight, 1) if weight else None


#: Moves that the stored prior of a field's engine rating counts for.
PRIOR_MOVES = 200
#: One unseen move that scored this is added to a player whose every move scored 0 (or 1), whose
#: difference would otherwise be infinite: the middle of what a same-search gain can score.
_UNSEEN_MOVE_SCORE = 0.25
#: Sums are kept in whole units of 1/1024 Elo-move: sums of integers do not depend on their order.
_UNITS = 1024


class FieldEngineRating:
    """The engine's rating from the players of the running event (``engine_rating = "field"``).

    Algorithm 3, run live: each rated player gives an estimate ``r_e = r_i - d_i``. Here they are
    weighted by the moves they rest on and drawn towards ``prior_elo``, which counts as much as
    ``PRIOR_MOVES`` moves. But for that pull, the weighted mean of the perceived ratings equals the
    weighted mean of the actual ones, as in Algorithm 2, step 4. Only the latest figures of each
    player count, never the order in which they came; an update costs O(1).
    """

    def __init__(self, prior_elo: float) -> None:
        self.prior_elo = prior_elo
        self.moves = 0
        """Moves of rated players that the rating rests on."""
        self._players: dict[str, tuple[int, int]] = {}
        self._units = 0

    def update(self, player_id: str, elo: int | None, n: int, expected_score: float | None) -> None:
        """Replace what is known of a player: rating, moves, expected score against the engine.

        A player without rating or without moves counts nothing, so ``elo=None`` or ``n=0`` takes
        a player out again. Raises ValueError for a score outside [0, 1].
        """
        moves, units = self._players.pop(player_id, (0, 0))
        self.moves -= moves
        self._units -= units
        if elo is None or n == 0 or expected_score is None:
            return
        difference = difference_of(expected_score)
        if difference is None:
            difference = difference_of((n * expected_score + _UNSEEN_MOVE_SCORE) / (n + 1))
            assert difference is not None  # the unseen move keeps the score inside (0, 1)
        units = round((elo - difference) * _UNITS) * n
        self._players[player_id] = (n, units)
        self.moves += n
        self._units += units

    @property
    def rating(self) -> int:
        """The engine's rating in whole Elo, a half rounded to even."""
        units = round(self.prior_elo * _UNITS) * PRIOR_MOVES + self._units
        one = (PRIOR_MOVES + self.moves) * _UNITS
        whole, rest = divmod(units, one)
        return whole + (2 * rest > one or (2 * rest == one and whole % 2 == 1))
