"""Algorithms 1, 3 and 4 of Ferreira 2012, and how the engine's own gains are distributed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import NormalDist, fmean
from typing import Literal, NamedTuple, Protocol

import msgspec

from live.errors import InputError
from live.events import Color, GainKind
from live.ratings.expected_score import difference_of
from live.ratings.gain import MAX_GAIN_CP, GainHistogram, checked_gain
from live.ratings.learned_files import LearnedFiles
from live.ratings.score_interval import GameScores, score_interval

# --- algorithm 1 --------------------------------------------------------------------------------

# Algorithm 1 as the game goes on: how the two players of a game compare by their gains.
#
# Source: Ferreira 2012, section 4, Algorithm 1. The cross-correlation is never formed. One gain
# more only adds the pairs it makes with the gains of the other player, and a Fenwick tree
# (Fenwick 1994) per player counts those in O(log bins).


class RankedGains:
    """One player's gains, with the number of them below any gain in O(log bins).

    The Fenwick tree is sparse (a dict of its non-zero nodes): a full array of 15,601 bins for
    each player of each game would cost a large event a hundred megabytes.
    """

    __slots__ = ("_nodes", "histogram")

    def __init__(self) -> None:
        self.histogram = GainHistogram()
        self._nodes: dict[int, int] = {}

    def add(self, gain_cp: int) -> None:
        """Raises ValueError for what is no gain."""
        self.histogram.add(gain_cp)
        self._shift(gain_cp, 1)

    def remove(self, gain_cp: int) -> None:
        """Raises ValueError when no such gain is counted."""
        self.histogram.remove(gain_cp)
        self._shift(gain_cp, -1)

    def below(self, gain_cp: int) -> int:
        """How many gains lie below ``gain_cp``."""
        checked_gain(gain_cp)
        nodes = self._nodes
        index = gain_cp + MAX_GAIN_CP
        count = 0
        while index > 0:
            count += nodes.get(index, 0)
            index &= index - 1
        return count

    def half_points_of(self, gain_cp: int) -> int:
        """What a move of ``gain_cp`` scores against all gains here: 2 for each it beats, 1 for
        each it equals (Ferreira 2012, Eq. 2, doubled to stay whole).
        """
        return 2 * self.below(gain_cp) + self.histogram[gain_cp]

    def _shift(self, gain_cp: int, by: int) -> None:
        nodes = self._nodes
        index = gain_cp + MAX_GAIN_CP + 1
        while index <= 2 * MAX_GAIN_CP + 1:
            count = nodes.get(index, 0) + by
            if count:
                nodes[index] = count
            else:
                del nodes[index]
            index += index & -index


class Algorithm1:
    """White against Black over all gains so far (Ferreira 2012, Algorithm 1).

    >>> game = Algorithm1()
    >>> for color, gain_cp in (("white", 0), ("black", -35), ("white", -10), ("black", 0)):
    ...     game.add(color, gain_cp)
    >>> game.expected_score
    0.625
    >>> round(game.difference, 1)
    90.1
    """

    __slots__ = ("_half_points", "black", "white")

    def __init__(self) -> None:
        self.white = RankedGains()
        self.black = RankedGains()
        # White's score over all pairs of gains, in half points: an integer, so that removing
        # undoes adding exactly.
        self._half_points = 0

    def add(self, color: Color, gain_cp: int) -> None:
        """One more move of ``color``; O(log bins). Raises ValueError for what is no gain."""
        self._side(color).add(gain_cp)
        self._half_points += self._half_points_with(color, gain_cp)

    def remove(self, color: Color, gain_cp: int) -> None:
        """Take a move of ``color`` back; O(log bins). Raises ValueError when it is not counted."""
        self._side(color).remove(gain_cp)
        self._half_points -= self._half_points_with(color, gain_cp)

    @property
    def expected_score(self) -> float | None:
        """White's expected score (Eq. 2); None while either player has no gain."""
        pairs = self.white.histogram.n * self.black.histogram.n
        return self._half_points / (2 * pairs) if pairs else None

    @property
    def difference(self) -> float | None:
        """Elo by which White is the stronger; None while unknown or unbounded."""
        score = self.expected_score
        return None if score is None else difference_of(score)

    def _side(self, color: Color) -> RankedGains:
        return self.white if color == "white" else self.black

    def _half_points_with(self, color: Color, gain_cp: int) -> int:
        if color == "white":
            return self.black.half_points_of(gain_cp)
        return 2 * self.white.histogram.n - self.white.half_points_of(gain_cp)


# --- engine distribution ------------------------------------------------------------------------

# How the engine's own gains are distributed, which is what a player is measured against.
#
# Ferreira 2012, section 6 takes a single peak at 0 (``SpikeAtZero``), and names a better
# characterisation
# as future work (sections 7 and 10): ``MeasuredDistribution`` is that, from gains of the engine
# itself.


_FILES = LearnedFiles("engine_gains", "count of an engine's gains")


class EngineDistribution(Protocol):
    """What a move scores against the engine: ``F_E(g) = P(E < g) + 0.5 P(E = g)``.

    Given as whole parts of a fixed ``scale``, so that sums over moves stay exact.
    """

    @property
    def scale(self) -> int:
        """The parts that make one whole point."""

    @property
    def counts(self) -> tuple[tuple[int, int], ...]:
        """What it was counted from: pairs of gain in centipawns and moves, gains ascending."""

    def parts(self, gain_cp: int) -> int:
        """``F_E(gain_cp)`` times ``scale``."""


class SpikeAtZero:
    """All the engine's gains are 0 (Ferreira 2012, Algorithm 3, step 1).

    For same-search gains this is exact by construction; for successive gains an approximation.
    """

    __slots__ = ()

    scale = 2
    counts = ((0, 1),)

    def parts(self, gain_cp: int) -> int:
        return 2 if gain_cp > 0 else 1 if gain_cp == 0 else 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SpikeAtZero)

    def __hash__(self) -> int:
        return hash(SpikeAtZero)

    def __repr__(self) -> str:
        return "Spike()"


class MeasuredDistribution:
    """The engine's gains as counted: in moves where the player chose the engine's own first
    choice, or in games of the engine against itself.

    A look-up costs O(1) after O(bins) once. Raises ValueError for an empty histogram.
    """

    __slots__ = ("_histogram", "_parts", "scale")

    def __init__(self, gains: GainHistogram) -> None:
        if not gains.n:
            raise ValueError("an empty histogram says nothing about the engine: use Spike()")
        self._histogram = gains.copy()
        self.scale = 2 * gains.n
        self._parts: list[int] = []
        below = 0
        for gain_cp in range(-MAX_GAIN_CP, MAX_GAIN_CP + 1):
            equal = gains[gain_cp]
            self._parts.append(2 * below + equal)
            below += equal

    @property
    def counts(self) -> tuple[tuple[int, int], ...]:
        return tuple(self._histogram)

    def parts(self, gain_cp: int) -> int:
        return self._parts[checked_gain(gain_cp) + MAX_GAIN_CP]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MeasuredDistribution) and self._histogram == other._histogram

    __hash__ = None  # type: ignore[assignment]  # nothing keys on it

    def __repr__(self) -> str:
        return f"Measured({self._histogram!r})"


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

    @property
    def distribution(self) -> MeasuredDistribution:
        """What players are measured against. Raises ValueError for counts that are none."""
        held = GainHistogram()
        for gain_cp, moves in self.rows:
            for _ in range(moves):
                held.add(gain_cp)
        return MeasuredDistribution(held)


def shipped_engine_gains() -> tuple[str, ...]:
    """Names of the counts that come with the package."""
    return _FILES.names()


def load_engine_gains(name_or_path: str) -> EngineGains:
    """A shipped count by its name, or a file. Raises InputError for what is none."""
    data = _FILES.read(name_or_path)
    try:
        held = msgspec.json.decode(data, type=EngineGains)
        _ = held.distribution
    except (msgspec.DecodeError, ValueError) as error:
        raise InputError(
            name_or_path,
            f"holds no count of an engine's gains ({error})",
            "Write it: live-rate study table CORPUS engine-gains --form json --out FILE",
        ) from None
    return held


# --- algorithm 4 --------------------------------------------------------------------------------

# Algorithm 4: how strong a player is seen to be after each move.
#
# Source: Ferreira 2012, section 7. The player's gains are compared with the engine's own; the
# difference, added to the engine's rating, is the perceived rating. A move costs O(1), whether it
# is added or taken back.


#: How far games of one player lie apart beyond chance, standard deviation in Elo of what this
#: shows: found so that the interval holds the value over three or more other games of the player in
#: .94 of 164 player-games over the board (31 players; .86 without), and in .93 of 1,645 of blitz.
BETWEEN_GAMES_SD: dict[GainKind, float] = {"same-search": 22.0, "successive": 30.0}

_SPIKE = SpikeAtZero()


class Algorithm4:
    """One player's moves against the engine (Ferreira 2012, Algorithm 4).

    ``gain`` says which definition the gains follow: same-search gains are never above 0, so with
    the engine at 0 the expected score lies in [0, 0.5], and the interval makes use of that.

    >>> player = Algorithm4([0, 0, -20, 0, -5])
    >>> player.expected_score
    0.3
    >>> round(player.difference, 1)
    -148.3
    >>> player.remove(-5)
    >>> player.n, player.expected_score
    (4, 0.375)
    """

    __slots__ = ("_squares", "_total", "ceiling", "engine", "gain", "histogram")

    def __init__(
        self,
        gains_cp: Iterable[int] = (),
        *,
        engine: EngineDistribution = _SPIKE,
        gain: GainKind = "same-search",
    ) -> None:
        self.engine = engine
        self.gain = gain
        self.histogram = GainHistogram()
        # Sums of the parts each move scores and of their squares: integers, so that removing
        # undoes adding exactly.
        self._total = 0
        self._squares = 0
        #: The most that a move of this kind can score, in parts.
        self.ceiling = ceiling_of(engine, gain)
        for gain_cp in gains_cp:
            self.add(gain_cp)

    def add(self, gain_cp: int) -> None:
        """One more move. Raises ValueError for what is no gain of this kind."""
        if gain_cp > 0 and self.gain == "same-search":
            raise ValueError(
                f"same-search gain {gain_cp} cp is above 0: cut it, see live.ratings.gain"
            )
        self.histogram.add(gain_cp)
        parts = self.engine.parts(gain_cp)
        self._total += parts
        self._squares += parts * parts

    def remove(self, gain_cp: int) -> None:
        """Take a move back. Raises ValueError when no such gain is counted."""
        self.histogram.remove(gain_cp)
        parts = self.engine.parts(gain_cp)
        self._total -= parts
        self._squares -= parts * parts

    @property
    def n(self) -> int:
        """Moves counted."""
        return self.histogram.n

    @property
    def expected_score(self) -> float | None:
        """Expected score against the engine (Eq. 2); None before the first move."""
        return self._total / (self.n * self.engine.scale) if self.n else None

    @property
    def difference(self) -> float | None:
        """Elo against the engine; None before the first move, and where unbounded."""
        score = self.expected_score
        return None if score is None else difference_of(score)

    @property
    def bound(self) -> Literal["low", "high"] | None:
        """Which way ``difference`` is unbounded: ``low`` at an expected score of 0 (no lower
        bound), ``high`` at 1.
        """
        if not self.n:
            return None
        if self._total == 0:
            return "low"
        return "high" if self._total == self.n * self.engine.scale else None

    @property
    def scores(self) -> GameScores:
        """What all moves scored against the engine, in parts of ``engine.scale``."""
        return GameScores(self.n, self._total, self._squares)

    def interval(self) -> tuple[float | None, float | None]:
        """:func:`interval_of` its moves; both None before the first."""
        return interval_of(self.scores, self.engine, self.gain) if self.n else (None, None)


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
        return _moved(low, -apart), _moved(high, apart)
    reached = None if high is None else difference + math.hypot(high - difference, apart)
    return (
        None if low is None else difference - math.hypot(difference - low, apart),
        reached if reached is None or most is None else min(reached, most),
    )


def _moved(end: float | None, by: float) -> float | None:
    return None if end is None else end + by


# --- algorithm 3 --------------------------------------------------------------------------------

# Algorithm 3: the engine's rating from players whose ratings are known.
#
# Source: Ferreira 2012, section 6 and Table 4. The batch form, with both columns of the table; the
# service runs the first column live, see ``live.ratings.ferreira``.


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
    >>> round(found.rows[0].difference, 1)
    -71.7
    >>> round(found.by_elo, 1)
    2871.7
    """
    rows = tuple(_estimate(player) for player in players)
    return Algorithm3(
        rows,
        _mean(row.by_elo for row in rows),
        _mean(row.by_strength for row in rows),
    )


class PlayedGains(NamedTuple):
    """One rated player's gains of one game."""

    player: str
    elo: int
    """At the time."""
    gains_cp: tuple[int, ...]


def rating_by_moves(games: Iterable[PlayedGains], gain: GainKind) -> float | None:
    """Algorithm 3 over the players of ``games``, weighted by their moves, in Elo.

    Each player's gains are pooled and measured against a spike at 0 (Ferreira 2012, section 6);
    his rating is the mean over his moves. None when no player's difference is bounded.
    """
    rated: dict[str, tuple[Algorithm4, list[int]]] = {}
    for game in games:
        pooled, elos = rated.setdefault(
            game.player, (Algorithm4(engine=SpikeAtZero(), gain=gain), [])
        )
        for gain_cp in game.gains_cp:
            pooled.add(gain_cp)
        elos.append(game.elo * len(game.gains_cp))
    total = weight = 0.0
    for pooled, elos in rated.values():
        if pooled.difference is not None:
            total += sum(elos) - pooled.n * pooled.difference
            weight += pooled.n
    return round(total / weight, 1) if weight else None


def _estimate(player: MeasuredPlayer) -> EngineEstimate:
    difference = difference_of(player.expected_score)
    return EngineEstimate(
        player.player,
        difference,
        None if difference is None or player.elo is None else player.elo - difference,
        None if difference is None or player.strength is None else player.strength - difference,
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


# --- field engine rating ------------------------------------------------------------------------

# The engine's rating from the players of the running event (``engine_rating = "field"``).
#
# Source: Ferreira 2012, Algorithm 3 (section 6), run live: each rated player gives an estimate
# ``r_e = r_i - d_i``. Here the estimates are weighted by the moves they rest on and drawn towards a
# stored prior, which counts as much as ``prior_moves`` moves. But for that pull, the weighted mean
# of the perceived ratings equals the weighted mean of the actual ones, as in Algorithm 2, step 4.


#: Moves that the stored prior counts for.
PRIOR_MOVES = 200

#: One unseen move that scored this is added to a player whose every move scored 0 (or 1), whose
#: difference would otherwise be infinite: the middle of what a same-search gain can score.
_UNSEEN_MOVE_SCORE = 0.25

#: Sums are kept in whole units of 1/1024 Elo-move: sums of integers do not depend on their order.
_UNITS = 1024


class FieldEngineRating:
    """Algorithm 3 over the rated players of the event; an update costs O(1).

    The rating depends only on the latest figures of each player, never on the order in which
    they came.
    """

    __slots__ = ("_moves", "_players", "_prior_units", "_units", "prior_moves")

    def __init__(self, prior_elo: float, prior_moves: int = PRIOR_MOVES) -> None:
        """Raises ValueError when ``prior_moves`` is below 1, since then no rating would exist
        before the first move.
        """
        if prior_moves < 1:
            raise ValueError(f"the prior must count for at least one move, not {prior_moves}")
        self.prior_moves = prior_moves
        self._prior_units = round(prior_elo * _UNITS) * prior_moves
        self._players: dict[str, tuple[int, int]] = {}
        self._units = 0
        self._moves = 0

    def start(self, prior_elo: float) -> None:
        """Draw towards another rating from now on."""
        self._prior_units = round(prior_elo * _UNITS) * self.prior_moves

    def update(self, player_id: str, elo: int | None, n: int, expected_score: float | None) -> None:
        """Replace what is known of a player: rating, moves, expected score against the engine.

        A player without rating or without moves counts nothing, so ``elo=None`` or ``n=0`` takes
        a player out again. Raises ValueError for a negative ``n`` or a score outside [0, 1].
        """
        if n < 0:
            raise ValueError(f"player {player_id!r} cannot have {n} moves")
        moves, units = self._players.pop(player_id, (0, 0))
        self._moves -= moves
        self._units -= units
        if elo is None or n == 0 or expected_score is None:
            return
        units = round((elo - _finite_difference(n, expected_score)) * _UNITS) * n
        self._players[player_id] = (n, units)
        self._moves += n
        self._units += units

    @property
    def rating(self) -> int:
        """The engine's rating in whole Elo, a half rounded to even."""
        units, one = self._prior_units + self._units, (self.prior_moves + self._moves) * _UNITS
        whole, rest = divmod(units, one)
        return whole + (2 * rest > one or (2 * rest == one and whole % 2 == 1))

    @property
    def moves(self) -> int:
        """Moves of rated players that the rating rests on."""
        return self._moves


def _finite_difference(n: int, expected_score: float) -> float:
    """Elo against the engine; where it is unbounded, as if one more move had been seen."""
    difference = difference_of(expected_score)
    if difference is None:
        difference = difference_of((n * expected_score + _UNSEEN_MOVE_SCORE) / (n + 1))
        assert difference is not None  # the unseen move keeps the score inside (0, 1)
    return difference
