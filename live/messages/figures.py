"""Figures about moves, games and players, with their confidence intervals.

A figure that is missing comes with the reason.
"""

from typing import Literal

import msgspec

from live.messages.from_sources import Player, Result
from live.messages.values import FeedName, GameId, Value

Mark = Literal["find", "trap"]


class RatingShare(Value, gc=False):
    """The share of players of one rating who would play a move."""

    elo: int
    share: float
    """The share, 0 to 1, rounded to thousandths; 0 means fewer than 1 in 200."""


class DifficultyView(Value, gc=False):
    """The difficulty of a position for players with the rating of the side to move."""

    elo: int | None
    """The rating for which these figures hold: that of the player to move, rounded to
    hundreds and limited to the ratings that the neural network of human moves knows."""
    best: str
    """The engine's first choice, UCI."""
    best_share: float | None = None
    """Share of players who would find ``best``, 0 to 1. Null until a short search has
    scored the other moves, and if ``best`` is a promotion to a piece other than a
    queen."""
    best_references: tuple[RatingShare, ...] = ()
    """The share who would find ``best``, for players of other ratings."""
    error_chance: float | None = None
    """Share of players whose move would lose a pawn or more, 0 to 1; null until a short
    search has scored the moves."""
    expected_loss_cp: int | None = None
    """Average loss by the moves of players of this rating, centipawns."""


class ComplexityView(Value, gc=False):
    """How much the engine's score of a position changed during its search.

    See Alliot 2017, section 3.1.
    """

    stability_cp: float
    """Mean change of the score from one depth to the next, centipawns."""
    jump_cp: int
    """Largest change of the score from one depth to the next, centipawns."""
    jump_depth: int | None
    """The depth after which the largest change came; null if the score did not change.
    """


class Share(Value, gc=False):
    """A share of moves with its 95 % interval (by game if there are several games)."""

    share: float | None = None
    low: float | None = None
    high: float | None = None
    moves: int = 0
    """Number of moves counted: the denominator of the share."""


class Intrinsic(Value, gc=False):
    """One player's choices among several engine lines (Regan and Haworth 2011).

    Choices are counted from move 9 on, without decided and repeated positions. The
    figures are valid for one engine, limit and number of lines. The z-scores are
    screening figures: they show where to look, and accuse nobody.
    """

    turns: int
    """Number of moves counted."""
    rating: float | None
    """Rating, Elo, of the players who would most probably have chosen these moves; null
    if it is beyond the range of the table."""
    low: float | None
    """Lower end of the 95 % interval of ``rating``; null if it is beyond the range of
    the table."""
    high: float | None
    """Upper end of the 95 % interval of ``rating``; null if it is beyond the range of
    the table."""
    beyond: bool
    """True if ``rating`` is outside the ratings from which the table was learned."""
    move_match: float
    """Share of moves that were the engine's first choice, 0 to 1."""
    average_difference: float
    """Mean difference between the move played and the best move, pawns, corrected for
    the size of the evaluation."""
    projected_match: float | None
    """Expected ``move_match`` of players with this player's own rating; null without a
    rating."""
    projected_difference: float | None
    """Expected ``average_difference`` of players with this player's own rating; null
    without a rating."""
    match_z: float | None
    """Number of standard deviations by which ``move_match`` is closer to the engine
    than expected."""
    difference_z: float | None
    """Number of standard deviations by which ``average_difference`` is closer to the
    engine than expected."""
    table: str
    """Name of the table that relates choices to Elo."""
    note: str = "a screening figure: it says where to look, and accuses nobody"


class MoveMethods(Value):
    """One player's moves, measured by methods other than Algorithm 4.

    Null never means zero: ``missing`` gives the reason why a figure is null.
    """

    conformance: Share = Share()
    """``p(30 cp)``: share of moves that are at most 30 centipawns worse than the
    engine's (Alliot 2017, section 4.2); from move 10 on, without forced moves."""
    guid_bratko: Share = Share()
    """``p(20 cp)``: share of moves that are at most 20 centipawns worse than the
    engine's, in positions where neither side is more than two pawns ahead."""
    ponderated: Share = Share()
    """``p(30 cp)``, with each loss divided by a number that grows with the mover's
    advantage or disadvantage."""
    first_choice: Share = Share()
    """Share of moves that were the engine's first choice, from move 9 on, without
    forced moves and positions decided by more than three pawns (after Regan and Haworth
    2011)."""
    centipawn_loss: float | None = None
    """Average centipawn loss of the moves scored so far, with scores limited to ±1000.
    """
    accuracy: float | None = None
    """Accuracy of the moves scored so far, in per cent by lichess's published
    formula."""
    intrinsic: Intrinsic | None = None
    """Choices among several engine lines; null without Multi-PV."""
    missing: dict[str, str] = msgspec.field(default_factory=dict)
    """Text for people: the reason why a figure is null, by the figure's name."""


class SideMethods(MoveMethods):
    """The methods applied to one side of one game."""

    mean_gain_cp: float | None = None


class GameMethods(Value):
    """The methods that need only the moves of one game, applied to both sides."""

    white: SideMethods = SideMethods()
    black: SideMethods = SideMethods()
    expected_score: float | None = None
    """White's expected score by the difference in conformance, 0 to 1 (Alliot 2017,
    section 4.2)."""
    low: float | None = None
    """Lower end of the 95 % interval of ``expected_score``."""
    high: float | None = None
    """Upper end of the 95 % interval of ``expected_score``."""
    missing: str = ""
    """Text for people: the reason why ``expected_score`` is null."""


class PlayerMethods(MoveMethods):
    """The methods applied to one player over all games of the event."""

    tournament_rating: int | None = None
    """Rating by Algorithm 2, whole Elo, from all comparisons of the event. The mean of
    the rated players stays the same (Ferreira 2012, section 5)."""
    tournament_difference: int | None = None
    """Rating by Algorithm 2 as the difference from the mean of all players in the same
    ``tournament_group``, Elo."""
    tournament_low: int | None = None
    """Lower end of the 95 % interval of ``tournament_rating``, with games as clusters.
    If no player of the group is rated, the interval is that of
    ``tournament_difference``."""
    tournament_high: int | None = None
    """Upper end of the 95 % interval that begins at ``tournament_low``."""
    tournament_group: int | None = None
    """Number of the player's group. Players of one group are linked by games; players
    of different groups cannot be compared."""
    markov_moves: int = 0
    """Number of moves usable for the Markov predictor, which needs 500 (Alliot 2017,
    section 4.4.1)."""


GainKind = Literal["same-search", "successive"]

GainCounts = tuple[tuple[int, int], ...]


class EngineInfo(Value):
    """The engine that computes the scores, its search limit and its rating."""

    name: str
    limit: str
    """Text for people: the search limit (``100000 nodes``, ``depth 16``, ``500 ms``).
    """
    rating: int = 0
    """The engine's rating in whole Elo. Algorithm 4 adds a player's difference to it.
    """
    rating_source: str = "withheld"
    """Origin of ``rating``: ``fixed`` (configured), ``calibration`` (stored), ``field``
    (Algorithm 3 over the rated players of this event), or ``withheld`` if ratings are
    not shown."""
    rating_moves: int = 0
    """Number of moves by rated players from which a ``field`` rating is computed. From
    100 on, it has two significant digits, since each change is sent to every client.
    """
    models: tuple[str, ...] = ()
    """Names of the models that convert moves to perceived ratings; empty if no model
    fits the engine."""
    note: str = ""
    """Text for people: the data from which the models were learned, how they are
    adapted to another engine, or why no model fits."""


class PlyView(Value, omit_defaults=True):
    """One ply, with everything known about it."""

    ply: int
    san: str
    uci: str
    clock_s: float | None = None
    spent_s: float | None = None
    score_cp: int | None = None
    """Score of the position after the move, centipawns from White's side; null until
    scored."""
    mate: int | None = None
    depth: int | None = None
    final: bool = False
    """False while the engine is still searching: the score is shown, but not used in
    any histogram."""
    best: str | None = None
    """The engine's first choice in the position before the move, UCI."""
    played_cp: int | None = None
    """Score of the move played, centipawns from White's side, from the same search as
    ``best``."""
    gain_cp: int | None = None
    """Gain of the move used for the curves, centipawns from the mover's side."""
    gain_same_search_cp: int | None = None
    gain_successive_cp: int | None = None
    complexity: ComplexityView | None = None
    """Complexity of the position after the move; null until its score is final, and if
    the score follows from the rules or was not searched by this service."""
    win: float | None = None
    """Chance that White wins from here, 0 to 1, by the score, the ratings and the stage
    of the game; null while the score is unknown or if no model of results fits."""
    draw: float | None = None
    """Chance of a draw from here, 0 to 1; the rest is the chance that White loses."""
    played_share: float | None = None
    """Share of players of the mover's rating who would play this move, 0 to 1. Null
    without a rating or without the neural network of human moves, and in positions
    unlike those that the network was trained on."""
    played_elo: int | None = None
    """The rating for which ``played_share`` holds: the mover's, rounded to hundreds and
    limited to the ratings that the neural network knows."""
    played_references: tuple[RatingShare, ...] = ()
    """The share who would play this move, for players of other ratings."""
    difficulty: DifficultyView | None = None
    """Difficulty of the position after the move, for the player to move."""
    mark: Mark | None = None
    """``find``: the move is as good as the engine's first choice, few players of the
    mover's rating would play it, and most other moves are clearly worse. ``trap``: the
    move costs little, and the opponent's most natural reply loses a pawn or more."""


PerceivedReason = Literal["early", "no-model"]


class CurvePoint(Value, omit_defaults=True, kw_only=True):
    """The strength of one player's moves up to a ply.

    It contains the perceived rating and Algorithm 4 (Ferreira 2012, section 7).
    """

    ply: int
    n: int
    """Number of moves in Algorithm 4's histogram so far, including forced moves. It is
    0 if one side never began the game; such a game has no figures."""
    counted: int
    """Number of moves on which the perceived rating rests. With fewer than ten, the
    rating is only a first estimate."""
    gain_cp: int
    perceived: int | None = None
    """The rating that this quality of play corresponds to, Elo, 800 to 3200; 800 means
    "or less", and 3200 "or more". If it is null, ``reason`` gives the cause."""
    low: int | None = None
    """Lower end of the 95 % interval of ``perceived``, computed from the moves alone,
    without the player's rating; null if the interval is open at this end."""
    high: int | None = None
    """Upper end of the 95 % interval of ``perceived``; null if the interval is open at
    this end."""
    usual_low: int | None = None
    """Lower end of the range that contains 8 of 10 games by players with the player's
    own rating; null without a rating or with fewer than ten counted moves."""
    usual_high: int | None = None
    """Upper end of the range that begins at ``usual_low``."""
    percentile: float | None = None
    """Percentage of games by players with the player's own rating that were played
    worse; null if ``usual_low`` is null."""
    reason: PerceivedReason | None = None
    """Reason why ``perceived`` is null; null if ``perceived`` is not."""
    score: float
    """Algorithm 4's expected score against the engine, 0 to 1."""
    difference: float | None = None
    """Rating difference from the engine, Elo; null if ``score`` is 0 (no lower bound)
    or 1 (no upper bound). ``EngineInfo.rating + difference`` is Algorithm 4's rating.
    """
    difference_low: float | None = None
    """Lower end of the 95 % interval of ``difference``. If ``difference`` is null, one
    end of the interval is null."""
    difference_high: float | None = None
    """Upper end of the 95 % interval of ``difference``."""


class Curves(Value):
    """The points of both players' rating curves, in the order of their plies."""

    white: tuple[CurvePoint, ...] = ()
    black: tuple[CurvePoint, ...] = ()


class HeadToHead(Value):
    """The result of Algorithm 1 for White against Black (Ferreira 2012, section 4)."""

    expected_score: float | None = None
    difference: float | None = None


#: Beginning of the text of a problem that comes from a search, not from the source.
NO_SCORE = "no score at ply"


class GameView(Value, omit_defaults=True):
    """One game without its plies and curves."""

    id: GameId
    feed: FeedName
    event: str
    round: str
    board: int | None
    white: Player
    black: Player
    result: Result
    start_fen: str
    url: str = ""
    start_score_cp: int | None = None
    """Score of the starting position, centipawns from White's side; null until scored.
    """
    head_to_head: HeadToHead = HeadToHead()
    plies_played: int = 0
    plies_scored: int = 0
    """Number of plies whose final score is known."""
    variant: str = "standard"
    problem: str | None = None
    site: str = ""
    date: str = ""
    time_control: str = ""
    eco: str = ""
    opening: str = ""
    """Name of the opening, as given by the source."""
    model: str | None = None
    """Model for the perceived ratings of this game: ``classical``, ``blitz``, or
    ``rapid`` (the mean of the other two); null if there is no model for it."""
    note: str = ""
    """Text for people: a reservation about the perceived ratings (``time control
    unknown: taken as classical``), or why there are none; often empty."""
    restored: bool = False
    """True if the game is shown from the journal of an earlier run, and its source has
    not reported it since."""
    also: tuple[str, ...] = ()
    """Names of other sources that also report this game. The game is shown once."""
    dispute: str = ""
    """Text for people: how the sources of the game contradict each other; empty if they
    agree."""
    termination: str = ""
    """How the game ended or why it is interrupted (``adjourned``), as given by the
    source."""

    @property
    def running(self) -> bool:
        """True if the game has no result yet."""
        return self.result == "*"

    @property
    def adjourned(self) -> bool:
        """True if the game will continue on another day; its clocks are stopped."""
        return self.running and self.termination.casefold().startswith("adjourned")


class GameDetail(GameView):
    """One game with its plies and curves."""

    plies: tuple[PlyView, ...] = ()
    curves: Curves = Curves()


def view_of(detail: GameDetail) -> GameView:
    """Return a game without its plies and curves."""
    return GameView(*[getattr(detail, name) for name in GameView.__struct_fields__])


class ChoiceEvidence(Value):
    """How often a player chose the engine's move; a screening result, no accusation."""

    moves: int
    """Number of choices counted: moves from move 9 on that were not forced, not in a
    decided position, and not in a repeated position."""
    matches: int
    """Number of counted choices that were the engine's first choice."""
    expected: float
    """Number of matches that was forecast."""
    log_e_value: float
    """Natural logarithm of the evidence that some moves came from an engine. If the
    choices follow the forecast, the chance that it ever reaches log(1 / a) is at most
    a."""


class PlayerView(Value):
    """One player's figures over all games of the event.

    Games belong to the same player if the FIDE id is the same, or the name if no id is
    known.
    """

    id: str
    name: str
    elo: int | None
    games: int
    moves: int
    """Number of moves in Algorithm 4's histogram."""
    mean_gain_cp: float | None = None
    counted: int = 0
    """Number of moves on which ``perceived`` rests."""
    perceived: int | None = None
    """Perceived rating, as in ``CurvePoint``, over the games that use ``model``. The
    interval, the usual range and the percentile are over these games too."""
    low: int | None = None
    high: int | None = None
    usual_low: int | None = None
    usual_high: int | None = None
    percentile: float | None = None
    """Percentage of events by players with the player's own rating, with the same
    number of games, that were played worse."""
    reason: PerceivedReason | None = None
    score: float | None = None
    """Algorithm 4's expected score against the engine; null without a move."""
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    model: str | None = None
    """Model for ``perceived``. Games at another pace are not included."""
    note: str = ""
    """Text for people: reservations about ``perceived``, and the games left out."""
    fide_performance: int | None = None
    """Rating performance by FIDE's table, over finished games against rated
    opponents."""
    rating_change: float | None = None
    """Change of the player's own rating by the games of the event under FIDE's rules,
    with ``rating_k``."""
    agreement: ChoiceEvidence | None = None
    """Evidence for screening, not for spectators; null if the player has no rating, or
    if the engine's choices cannot be forecast."""
    rating_k: int | None = None
    """FIDE's development coefficient (K)."""
    points: float | None = None
    """Points from finished games; null while none is finished. Byes are not included.
    """
    finished: int = 0
    """Number of games that have a result."""
    rating_k_listed: bool = False
    """True if ``rating_k`` is from a rating list. Otherwise it is derived from the
    rating: 10 from 2400 on, and 20 below. That is too low for juniors and new players,
    who have 40."""


class AnalysedGame(GameDetail):
    """A game with its plies and curves, and with figures computed on demand."""

    methods: GameMethods | None = None
    """Figures by other methods; null in exports from a live screen. ``live-rate
    report`` computes them."""


class AnalysedPlayer(PlayerView):
    """A player's figures, including those computed on demand."""

    methods: PlayerMethods | None = None
    """Figures by other methods; null in exports from a live screen. ``live-rate
    report`` computes them."""


class PlayerGains(Value):
    """One player's gains over the event, as a histogram (Ferreira 2012, section 4)."""

    player: str
    """``PlayerView.id`` of the player."""
    counts: GainCounts
