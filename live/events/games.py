"""What subscribers get of a game: plies, curve points and figures; and of a player."""

from __future__ import annotations

from typing import Literal

import msgspec

from live.events.human import DifficultyView, Mark, RatingShare
from live.events.methods import ComplexityView, GameMethods, PlayerMethods, PluginFigure
from live.events.reports import FeedName, GameId, Player, Result

GainKind = Literal["same-search", "successive"]
FigureChoice = Literal["perceived", "algorithm4"]
"""Which figure leads on screens: the perceived rating, or Algorithm 4 as published."""


GainCounts = tuple[tuple[int, int], ...]
"""How many moves had which gain: pairs of gain in centipawns and moves, gains ascending."""


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
    models: tuple[str, ...] = ()
    """Names of the models that perceived ratings are read by; empty where none fits the engine."""
    note: str = ""
    """For people: what they were learned from, how they are read for another engine, or why none
    fits."""


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
    """How strong one player plays, after one more move: the perceived rating, and Algorithm 4
    (Ferreira 2012, section 7).
    """

    ply: int
    n: int
    """Moves in Algorithm 4's histogram so far, forced ones too."""
    counted: int
    """Moves that the perceived rating rests on; under ten it is early."""
    gain_cp: int
    perceived: float | None
    """Elo, 400 to 3600: the rating this play looks like. Null before the first counted move and
    where no model reads these scores; the game's ``note`` says why."""
    low: float | None
    """95 % interval of these moves alone, whoever plays; null for an end beyond 400 or 3600."""
    high: float | None
    usual_low: float | None
    """8 of 10 games by players of the own rating lie between these; null without a rating."""
    usual_high: float | None
    percentile: float | None
    """0 to 100: how many games by players of the own rating are worse; null without a rating."""
    score: float
    """Algorithm 4's expected score against the engine, 0 to 1."""
    difference: float | None
    """Elo against the engine; null where ``score`` is 0 (no lower bound) or 1 (no upper bound).
    ``EngineInfo.rating + difference`` is Algorithm 4's rating."""
    difference_low: float | None
    """Its 95 % interval; one end is null where ``difference`` is."""
    difference_high: float | None


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
    model: str | None = None
    """What its perceived ratings are read by: ``classical``, ``blitz``, or ``rapid`` (the mean of
    both); null where nothing reads them."""
    note: str = ""
    """For people: what of that is provisional (``time control unknown: taken as classical``), or
    why there are none; empty where all fits."""
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
    """In Algorithm 4's histogram."""
    mean_gain_cp: float | None
    counted: int = 0
    """Moves that ``perceived`` rests on."""
    perceived: float | None = None
    """Elo, 400 to 3600, over the games of ``model``; null without a counted move."""
    low: float | None = None
    """As those of ``CurvePoint``, over the event."""
    high: float | None = None
    usual_low: float | None = None
    usual_high: float | None = None
    percentile: float | None = None
    """0 to 100: how many events of as many games by players of the own rating are worse."""
    score: float | None = None
    """Algorithm 4's expected score against the engine; null without a move."""
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    methods: PlayerMethods = PlayerMethods()
    model: str | None = None
    """What ``perceived`` is read by. Games of another pace are not in it."""
    note: str = ""
    """For people: what of it is provisional, and which games are left out."""
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
    plugins: tuple[PluginFigure, ...] = ()
    """Figures of plugins, in the order of their names."""


class PlayerGains(msgspec.Struct, frozen=True):
    """One player's gains over the event, counted at one centipawn (Ferreira 2012, section 4)."""

    player: str
    """``PlayerView.id``."""
    counts: GainCounts
