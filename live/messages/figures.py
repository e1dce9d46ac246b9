"""What is said of moves, games and players: each figure with its interval, or why it
has none.
"""

from typing import Literal

import msgspec

from live.messages.from_sources import Player, Result
from live.messages.values import FeedName, GameId, Value

Mark = Literal["find", "trap"]


class RatingShare(Value, gc=False):
    """How many players of one rating would play a move."""

    elo: int
    share: float
    """0 to 1, to thousandths; 0: fewer than 1 in 200."""


class DifficultyView(Value, gc=False):
    """How hard a position is for players of the rating of the player to move."""

    elo: int | None
    """That rating, in hundreds, within those that the network of human moves
    learned."""
    best: str
    """The engine's first choice, UCI."""
    best_share: float | None = None
    """0 to 1: how many would find ``best``; null until a short search has said what the
    other moves lose, and where it is a promotion to a lesser piece."""
    best_references: tuple[RatingShare, ...] = ()
    """The same for players of other ratings."""
    error_chance: float | None = None
    """0 to 1: how many would lose a pawn or more with their move; null until a short
    search has said what the moves lose."""
    expected_loss_cp: int | None = None
    """What they would lose on average, centipawns."""


class ComplexityView(Value, gc=False):
    """How much the engine changed its mind about a position while it searched (Alliot
    2017, section 3.1).
    """

    stability_cp: float
    """Mean change of the score from one depth to the next."""
    jump_cp: int
    """Largest such change."""
    jump_depth: int | None
    """The depth it came after; null if nothing changed."""


class Share(Value, gc=False):
    """A share of moves, with its 95 % interval (by game where there are several)."""

    share: float | None = None
    low: float | None = None
    high: float | None = None
    moves: int = 0
    """Moves counted: the denominator."""


class Intrinsic(Value, gc=False):
    """One player's choices among several lines (Regan and Haworth 2011), from move 9
    on, decided and repeated positions left out. Holds for one engine, limit and number
    of lines.

    The z-scores are screening figures: they say where to look, and accuse nobody.
    """

    turns: int
    rating: float | None
    """Elo whose players would have chosen these moves most probably; null where the
    table does not reach."""
    low: float | None
    """95 % interval of the level shown; null for an end beyond the table's reach."""
    high: float | None
    beyond: bool
    """``rating`` lies outside the ratings the table was learned from."""
    move_match: float
    """Share of turns in which the engine's first choice was played."""
    average_difference: float
    """Mean distance of the move played from the best one, pawns, corrected for the size
    of the evaluation."""
    projected_match: float | None
    """The same two for players of this one's own rating; null for the unrated."""
    projected_difference: float | None
    match_z: float | None
    """Standard deviations towards the engine."""
    difference_z: float | None
    table: str
    """Which correspondence of choices and Elo it is by."""
    note: str = "a screening figure: it says where to look, and accuses nobody"


class MoveMethods(Value):
    """What methods beside Algorithm 4 say of one player's moves. Null is never zero:
    ``missing`` says why a figure is null.
    """

    conformance: Share = Share()
    """``p(30 cp)``: share of moves that fall at most 30 centipawns short of the
    engine's (Alliot 2017, section 4.2); from move 10 on, forced moves left out."""
    guid_bratko: Share = Share()
    """``p(20 cp)``, where the position is within two pawns of level."""
    ponderated: Share = Share()
    """``p(30 cp)``, each shortfall divided by how far ahead or behind the mover is."""
    first_choice: Share = Share()
    """Share of moves that were the engine's first choice: from move 9 on, forced moves
    and positions decided by more than three pawns left out (after Regan and Haworth
    2011)."""
    centipawn_loss: float | None = None
    """Average centipawn loss of the moves scored so far, scores capped at ±1000."""
    accuracy: float | None = None
    """Accuracy of the moves scored so far, in per cent by lichess's published
    formula."""
    intrinsic: Intrinsic | None = None
    """Choices among several lines; null without Multi-PV."""
    missing: dict[str, str] = msgspec.field(default_factory=dict)
    """Why a figure is null, for people, by the figure's name."""


class SideMethods(MoveMethods):
    """One side of one game."""

    mean_gain_cp: float | None = None


class GameMethods(Value):
    """One game by the methods that need nothing but its own moves."""

    white: SideMethods = SideMethods()
    black: SideMethods = SideMethods()
    expected_score: float | None = None
    """White's, by the difference of conformance (Alliot 2017, section 4.2)."""
    low: float | None = None
    """95 % interval of ``expected_score``."""
    high: float | None = None
    missing: str = ""
    """Why ``expected_score`` is null, for people."""


class PlayerMethods(MoveMethods):
    """One player over all games of the event."""

    tournament_rating: int | None = None
    """Algorithm 2: whole Elo, from all comparisons of the event, the mean of the rated
    players kept (Ferreira 2012, section 5)."""
    tournament_difference: int | None = None
    """The same as Elo above the mean of those who can be compared
    (``tournament_group``)."""
    tournament_low: int | None = None
    """95 % interval of ``tournament_rating``, games counted as clusters; where nobody
    of the group is rated, of ``tournament_difference``."""
    tournament_high: int | None = None
    tournament_group: int | None = None
    """Players of one group are linked by games; between groups nothing can be
    compared."""
    markov_moves: int = 0
    """Moves that count for the Markov predictor; it needs 500 (Alliot 2017, section
    4.4.1)."""


GainKind = Literal["same-search", "successive"]

GainCounts = tuple[tuple[int, int], ...]


class EngineInfo(Value):
    """Which engine gives the scores, and how strong it counts."""

    name: str
    limit: str
    """For people: ``100000 nodes``, ``depth 16``, ``500 ms``."""
    rating: int = 0
    """The engine's rating in whole Elo: Algorithm 4 adds a player's difference to
    it."""
    rating_source: str = "withheld"
    """``fixed`` (configured), ``calibration`` (stored), ``field`` (Algorithm 3 over the
    rated players of the running event), or ``withheld`` where ratings are not shown."""
    rating_moves: int = 0
    """How many moves of rated players ``field`` rests on: of 100 or more the first two
    digits, as everybody is sent what changes here."""
    models: tuple[str, ...] = ()
    """Names of the models that perceived ratings are read by; empty where none fits the
    engine."""
    note: str = ""
    """For people: what they were learned from, how they are read for another engine, or
    why none fits."""


class PlyView(Value, omit_defaults=True):
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
    """Score of the move played, searched from the same position as ``best``, White's
    side."""
    gain_cp: int | None = None
    """The gain that feeds the curves, mover's side."""
    gain_same_search_cp: int | None = None
    gain_successive_cp: int | None = None
    complexity: ComplexityView | None = None
    """Of the position after the move; null until its score is final, and where it
    follows from the rules or was not searched here."""
    win: float | None = None
    """How likely White is to win from here, 0 to 1, by score, ratings and point of the
    game; null while the score is unknown or no model of results fits."""
    draw: float | None = None
    """White loses else."""
    played_share: float | None = None
    """0 to 1: how many players of the mover's rating would play this move; null without
    a rating or a network of human moves, and in positions unlike those it learned
    from."""
    played_elo: int | None = None
    """The rating that ``played_share`` is for: the mover's in hundreds, within those
    learned."""
    played_references: tuple[RatingShare, ...] = ()
    """The same for players of other ratings."""
    difficulty: DifficultyView | None = None
    """Of the position after the move, for the player to move."""
    mark: Mark | None = None
    """``find``: the engine's best move, which few players of the mover's rating would
    play, and most would err instead. ``trap``: what most of the opponent's rating would
    reply loses a pawn or more."""


PerceivedReason = Literal["early", "no-model"]


class CurvePoint(Value, omit_defaults=True, kw_only=True):
    """How strong one player plays, after one more move: the perceived rating, and
    Algorithm 4 (Ferreira 2012, section 7).
    """

    ply: int
    n: int
    """Moves in Algorithm 4's histogram so far, forced ones too; 0 where one side never
    began the game, which then has no figures."""
    counted: int
    """Moves that the perceived rating rests on; under ten it is early."""
    gain_cp: int
    perceived: int | None = None
    """Elo, 800 to 3200, where an end means *or beyond*: the rating this play looks
    like. Null where ``reason`` says why."""
    low: int | None = None
    """95 % interval of these moves alone, whoever plays; null for an end that lies
    nowhere."""
    high: int | None = None
    usual_low: int | None = None
    """8 of 10 games by players of the own rating lie between these; null without a
    rating and under ten counted moves."""
    usual_high: int | None = None
    percentile: float | None = None
    """0 to 100: how many games by players of the own rating are worse; null where
    ``usual_low`` is."""
    reason: PerceivedReason | None = None
    """Why ``perceived`` is null; null where it is not."""
    score: float
    """Algorithm 4's expected score against the engine, 0 to 1."""
    difference: float | None = None
    """Elo against the engine; null where ``score`` is 0 (no lower bound) or 1 (no upper
    bound). ``EngineInfo.rating + difference`` is Algorithm 4's rating."""
    difference_low: float | None = None
    """Its 95 % interval; one end is null where ``difference`` is."""
    difference_high: float | None = None


class Curves(Value):
    white: tuple[CurvePoint, ...] = ()
    black: tuple[CurvePoint, ...] = ()


class HeadToHead(Value):
    """Algorithm 1, White against Black (Ferreira 2012, section 4)."""

    expected_score: float | None = None
    difference: float | None = None


#: How a problem begins that a search had, and no source.
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
    """Score of the starting position; null until scored."""
    head_to_head: HeadToHead = HeadToHead()
    plies_played: int = 0
    plies_scored: int = 0
    """Plies whose final score is known."""
    variant: str = "standard"
    problem: str | None = None
    site: str = ""
    date: str = ""
    time_control: str = ""
    eco: str = ""
    opening: str = ""
    """As the source names it."""
    model: str | None = None
    """What its perceived ratings are read by: ``classical``, ``blitz``, or ``rapid``
    (the mean of both); null where nothing reads them."""
    note: str = ""
    """For people: what of that is provisional (``time control unknown: taken as
    classical``), or why there are none; empty where all fits."""
    restored: bool = False
    """Shown from the journal of an earlier start: its source has not told it since."""
    also: tuple[str, ...] = ()
    """Other sources that carry the same game; it is shown once."""
    dispute: str = ""
    """Where these sources contradict each other, for people; empty where they agree."""
    termination: str = ""
    """How it ended or why it stands still (``adjourned``), as the source tells it."""

    @property
    def running(self) -> bool:
        """It has no result yet."""
        return self.result == "*"

    @property
    def adjourned(self) -> bool:
        """It goes on another day: no clock runs until then."""
        return self.running and self.termination.casefold().startswith("adjourned")


class GameDetail(GameView):
    """One game in full."""

    plies: tuple[PlyView, ...] = ()
    curves: Curves = Curves()


def view_of(detail: GameDetail) -> GameView:
    """Return a game without its plies and curves."""
    return GameView(*[getattr(detail, name) for name in GameView.__struct_fields__])


class ChoiceEvidence(Value):
    """How often a player chose the engine's move, and the forecast: accuses nobody."""

    moves: int
    """Choices: from move 9 on, neither forced, decided nor repeated."""
    matches: int
    expected: float
    """Matches by the forecast."""
    log_e_value: float
    """Natural logarithm of the evidence that some moves were the engine's. Where
    choices follow the forecast it ever reaches log(1 / a) with chance a at most."""


class PlayerView(Value):
    """One player pooled over the games of the event (by FIDE id, else by name)."""

    id: str
    name: str
    elo: int | None
    games: int
    moves: int
    """In Algorithm 4's histogram."""
    mean_gain_cp: float | None = None
    counted: int = 0
    """Moves that ``perceived`` rests on."""
    perceived: int | None = None
    """As that of ``CurvePoint``, over the games of ``model``, like all that follow."""
    low: int | None = None
    high: int | None = None
    usual_low: int | None = None
    usual_high: int | None = None
    percentile: float | None = None
    """0 to 100: how many events of as many games by players of the own rating are
    worse."""
    reason: PerceivedReason | None = None
    score: float | None = None
    """Algorithm 4's expected score against the engine; null without a move."""
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    model: str | None = None
    """What ``perceived`` is read by. Games of another pace are not in it."""
    note: str = ""
    """For people: what of it is provisional, and which games are left out."""
    fide_performance: int | None = None
    """Rating performance by FIDE's table, over finished games against rated
    opponents."""
    rating_change: float | None = None
    """What these games change of the own rating by FIDE's rules, with ``rating_k``."""
    agreement: ChoiceEvidence | None = None
    """For screening, not for spectators; null without an own rating and where nothing
    forecasts the engine's choices."""
    rating_k: int | None = None
    """FIDE's development coefficient."""
    points: float | None = None
    """Points of finished games, as their results say; null while none is finished. Byes
    are not in it."""
    finished: int = 0
    """Games that have a result."""
    rating_k_listed: bool = False
    """It is from a rating list. Else it is taken from the rating, 10 from 2400 on, else
    20: juniors and newcomers have 40, which no rating tells."""


class AnalysedGame(GameDetail):
    """A game in full, with what is made on demand."""

    methods: GameMethods | None = None
    """Null in what a live screen exports: ``live-rate report`` has it."""


class AnalysedPlayer(PlayerView):
    """A player, with what is made on demand."""

    methods: PlayerMethods | None = None
    """Null in what a live screen exports: ``live-rate report`` has it."""


class PlayerGains(Value):
    """One player's gains over the event, counted at one centipawn (Ferreira 2012,
    section 4).
    """

    player: str
    """``PlayerView.id``."""
    counts: GainCounts
