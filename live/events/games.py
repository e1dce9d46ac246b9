"""What subscribers get of a game: plies, curve points and figures; and of a player."""

from __future__ import annotations

from typing import Literal

import msgspec

from live.events.human import DifficultyView, Mark, RatingShare
from live.events.methods import ComplexityView, GameMethods, PlayerMethods, PluginFigure
from live.events.reports import FeedName, GameId, Player, Result

GainKind = Literal["same-search", "successive"]
FigureChoice = Literal["auto", "level", "percentile", "alone", "algorithm4"]
"""Which figure leads on screens; ``auto``: the one that says most."""


GainCounts = tuple[tuple[int, int], ...]
"""How many moves had which gain: pairs of gain in centipawns and moves, gains ascending."""


class CalibrationInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A calibration in use; ``GameView.calibration`` says which games it rates."""

    name: str
    time_control: str
    prior_elo: float
    """What is believed before the first move: the field, as far as its ratings are known."""
    prior_sd_elo: float
    elo_low: float | None = None
    """It was learned from players rated ``elo_low`` to ``elo_high`` (the middle 95 %): a calibrated
    rating beyond them is an extrapolation. Null where that is not known."""
    elo_high: float | None = None


class EngineInfo(msgspec.Struct, frozen=True):
    """Which engine gives the scores, and how strong it counts."""

    name: str
    limit: str
    """For people: ``100000 nodes``, ``depth 16``, ``500 ms``."""
    rating: int
    """The engine's rating in whole Elo: Algorithm 4 adds a player's difference to it."""
    rating_source: str
    """``fixed`` (configured), ``calibration`` (stored), or ``field`` (Algorithm 3 over the
    rated players of the running event)."""
    rating_moves: int = 0
    """How many moves of rated players ``field`` rests on."""
    calibration: str | None = None
    """Name of the usual calibration; null where none fits engine, limit and gain."""
    calibration_note: str = ""
    """For people: what it was learned from, or why none fits."""
    calibrations: tuple[CalibrationInfo, ...] = ()
    """All in use, the usual one first: which one rates a game goes by its time control."""


class PlyView(msgspec.Struct, frozen=True):
    """One ply with everything known about it."""

    ply: int
    san: str
    uci: str
    clock_s: float | None = None
    spent_s: float | None = None
    score_cp: int | None = None
    """Score of the position after the move, White's side; null until scored."""
    mate: int | None = None
    depth: int | None = None
    final: bool = False
    """False while the engine is still searching: shown, but in no histogram."""
    best: str | None = None
    """The engine's first choice before the move (UCI)."""
    played_cp: int | None = None
    """Score of the move played, searched from the same position as ``best``, White's side."""
    gain_cp: int | None = None
    """The gain that feeds the curves, mover's side."""
    gain_same_search_cp: int | None = None
    gain_successive_cp: int | None = None
    complexity: ComplexityView | None = None
    """Of the position after the move; null until its score is final, and where it follows from
    the rules or was not searched here."""
    score_source: str = ""
    """For people: whose ``score_cp`` this is (``lichess cloud``) while it is not of this event's
    engine; empty: the engine's."""
    win: float | None = None
    """How likely White is to win from here, 0 to 1, by score, ratings and point of the game; null
    while the score is unknown or no model of results fits."""
    draw: float | None = None
    loss: float | None = None
    """How likely White is to lose; the three add up to 1."""
    played_share: float | None = None
    """0 to 1: how many players of the mover's rating would play this move; null without a rating
    or a network of human moves, and in positions unlike those it learned from."""
    played_elo: int | None = None
    """The rating that ``played_share`` is for: the mover's in hundreds, within those learned."""
    played_references: tuple[RatingShare, ...] = ()
    """The same for players of other ratings."""
    difficulty: DifficultyView | None = None
    """Of the position after the move, for the player to move."""
    mark: Mark | None = None
    """``find``: the engine's best move, which few players of the mover's rating would play, and
    most would err instead. ``trap``: what most of the opponent's rating would reply loses a pawn or
    more."""


class CurvePoint(msgspec.Struct, frozen=True):
    """Algorithm 4 after one more move of one player (Ferreira 2012, section 7).

    ``difference`` and ``rating`` are null where unbounded: ``expected_score`` 0 (no lower
    bound: ``low`` is null, ``high`` finite) or 1 (the other way round).
    """

    ply: int
    n: int
    """Moves in the histogram so far."""
    gain_cp: int
    expected_score: float
    difference: float | None
    """Elo against the engine."""
    difference_low: float | None
    difference_high: float | None
    rating: float | None
    """``EngineInfo.rating + difference``, exactly."""
    low: float | None
    """95 % interval of ``rating``: ``EngineInfo.rating + difference_low``."""
    high: float | None
    calibrated: float | None = None
    """Passing, kept for one version: ``level`` and ``alone`` take its place. Posterior rating on
    the Elo scale; null where no calibration fits."""
    calibrated_low: float | None = None
    """Passing, kept for one version: see ``calibrated``."""
    calibrated_high: float | None = None
    """Passing, kept for one version: see ``calibrated``."""
    form: float | None = None
    """Passing, kept for one version: ``percentile`` takes its place. Elo above the player's own
    rating, as far as these moves tell; null where that rating is unknown or no calibration fits."""
    alone: float | None = None
    """Elo at which the counted moves are likeliest, from these moves alone: no own Elo, no field,
    no result; null where unbounded or unknown."""
    alone_low: float | None = None
    """Its 95 % interval; an end that is null while the other is not is unbounded."""
    alone_high: float | None = None
    level: float | None = None
    """Elo played at: the own Elo (without one the field's) and these moves together."""
    level_low: float | None = None
    level_high: float | None = None
    level_share: float | None = None
    """How much of ``level`` comes from these moves, 0 to 1; the rest is what was known before."""
    percentile: float | None = None
    """0 to 100: how many games by players rated like this one, in positions as hard, were played
    worse; null without an Elo or under five counted moves."""


class Curves(msgspec.Struct, frozen=True):
    white: tuple[CurvePoint, ...] = ()
    black: tuple[CurvePoint, ...] = ()


class HeadToHead(msgspec.Struct, frozen=True):
    """Algorithm 1, White against Black (Ferreira 2012, section 4)."""

    expected_score: float | None = None
    difference: float | None = None


class GameView(msgspec.Struct, frozen=True):
    """One game without its plies and curves."""

    id: GameId
    feed: FeedName
    event: str
    round: str
    board: int | None
    white: Player
    black: Player
    result: Result
    url: str
    start_fen: str
    start_score_cp: int | None
    """Score of the starting position; null until scored."""
    head_to_head: HeadToHead
    plies_played: int
    plies_scored: int
    """Plies whose final score is known."""
    variant: str = "standard"
    problem: str | None = None
    site: str = ""
    date: str = ""
    time_control: str = ""
    methods: GameMethods = GameMethods()
    eco: str = ""
    opening: str = ""
    """As the source names it."""
    calibration: str | None = None
    """Name of the calibration behind this game's ``calibrated``; null where none fits."""
    calibration_note: str = ""
    """For people: what of that choice is provisional (``nearest: classical``), or why there is
    none; empty where time control and calibration agree."""
    restored: bool = False
    """Shown from the journal of an earlier start: its source has not told it since."""
    also: tuple[str, ...] = ()
    """Other sources that carry the same game; it is shown once."""
    dispute: str = ""
    """Where these sources contradict each other, for people; empty where they agree."""


class GameDetail(GameView, frozen=True, kw_only=True):
    """One game in full."""

    plies: tuple[PlyView, ...] = ()
    curves: Curves = Curves()


class ChoiceEvidence(msgspec.Struct, frozen=True):
    """How often a player chose the engine's move, beside the forecast: accuses nobody."""

    moves: int
    """Choices: from move 9 on, neither forced, decided nor repeated."""
    matches: int
    expected: float
    """Matches by the forecast."""
    log_e_value: float
    """Natural logarithm of the evidence that some moves were the engine's. Where choices follow
    the forecast it ever reaches log(1 / a) with chance a at most."""


class PlayerView(msgspec.Struct, frozen=True):
    """One player pooled over the games of the event (by FIDE id, else by name)."""

    id: str
    name: str
    elo: int | None
    games: int
    moves: int
    mean_gain_cp: float | None
    expected_score: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    rating: float | None
    low: float | None
    high: float | None
    calibrated: float | None = None
    """Passing, kept for one version: ``level`` and ``alone`` take its place. Posterior rating on
    the Elo scale; null where no calibration fits."""
    calibrated_low: float | None = None
    """Passing, kept for one version: see ``calibrated``."""
    calibrated_high: float | None = None
    """Passing, kept for one version: see ``calibrated``."""
    form: float | None = None
    """Passing, kept for one version: see ``CurvePoint.form``."""
    methods: PlayerMethods = PlayerMethods()
    calibration: str | None = None
    """Name of the calibration behind ``calibrated``. Games rated by another one are not in it:
    ratings of different pools are not one scale."""
    calibration_note: str = ""
    """For people: what of it is provisional, which games are left out, and whether it lies beyond
    the ratings it was learned from."""
    performance: float | None = None
    """Elo at which moves and results are likeliest against these opponents; the own Elo is not
    used. Null where unbounded or unknown."""
    performance_low: float | None = None
    performance_high: float | None = None
    fide_performance: int | None = None
    """Rating performance by FIDE's table, over finished games against rated opponents."""
    rating_change: float | None = None
    """What these games change of the own rating by FIDE's rules, with ``rating_k``."""
    agreement: ChoiceEvidence | None = None
    """For screening, not for spectators; null without an own rating and where nothing forecasts the
    engine's choices."""
    rating_k: int | None = None
    """FIDE's development coefficient."""
    points: float | None = None
    """Points of finished games, as their results say; null while none is finished. Byes are not in
    it."""
    finished: int = 0
    """Games that have a result."""
    rating_k_listed: bool = False
    """It is from a rating list. Else it is taken from the rating, 10 from 2400 on, else 20: juniors
    and newcomers have 40, which no rating tells."""
    alone: float | None = None
    """Elo at which the counted moves are likeliest, from these moves alone: no own Elo, no field,
    no result; null where unbounded or unknown."""
    alone_low: float | None = None
    """Its 95 % interval; an end that is null while the other is not is unbounded."""
    alone_high: float | None = None
    level: float | None = None
    """Elo played at: the own Elo (without one the field's) and these moves together."""
    level_low: float | None = None
    level_high: float | None = None
    level_share: float | None = None
    """How much of ``level`` comes from these moves, 0 to 1; the rest is what was known before."""
    percentile: float | None = None
    """0 to 100: how many games by players rated like this one, in positions as hard, were played
    worse; null without an Elo or under five counted moves."""
    plugins: tuple[PluginFigure, ...] = ()
    """Figures of plugins, in the order of their names."""


class PlayerGains(msgspec.Struct, frozen=True):
    """One player's gains over the event, counted at one centipawn (Ferreira 2012, section 4)."""

    player: str
    """``PlayerView.id``."""
    counts: GainCounts
