"""What a source reports: players, moves with their clocks, whole games."""

from typing import Literal

from live.messages.values import FeedName, Value

#: What a game's ``result`` may say; anything else is normalised or ``*``.
Result = Literal["*", "1-0", "0-1", "1/2-1/2", "0-0", "1/2-0", "0-1/2"]

#: Points of White and Black for each result.
RESULT_POINTS: dict[str, tuple[float, float]] = {
    "1-0": (1.0, 0.0),
    "0-1": (0.0, 1.0),
    "1/2-1/2": (0.5, 0.5),
    "0-0": (0.0, 0.0),
    "1/2-0": (0.5, 0.0),
    "0-1/2": (0.0, 0.5),
}

#: What the ``problem`` of a game begins with while a file that is being written has
#: lost it, or moves of it. Nothing is wrong with the game.
IN_DOUBT = "kept:"

#: What it begins with where its source has lost the game for good.
NO_LONGER = "no longer in its source"

#: What it holds where an illegal move stands because the game went on from it.
STANDS = "stands, since the game went on from it"

#: What it begins with where the moves are as the source has them, and something else of
#: the game could not be read.
NOT_READ = "not read:"

#: A forced mate counts 39 pawns (Ferreira 2012, section 3).
MATE_CP = 3900


class Score(Value, gc=False):
    """How good a position is, from White's side.

    ``cp`` is clamped to ±3900; a forced mate is ±3900 whatever its distance
    (Ferreira 2012, section 3).
    """

    cp: int
    mate: int | None = None
    """Moves to mate: positive when White mates, negative when Black does,
    0 when the side to move is already mated."""


class Player(Value, gc=False):
    """A player as the source names them."""

    name: str
    elo: int | None = None
    title: str | None = None
    fide_id: int | None = None
    federation: str | None = None
    team: str | None = None
    k: int | None = None
    """FIDE's development coefficient, where a rating list has it."""


class Move(Value, gc=False, omit_defaults=True):
    """One ply as a source told it, already checked to be legal."""

    uci: str
    """UCI; castling is king-to-rook in Chess960, king's two steps otherwise."""
    san: str
    """Canonical: ``+`` and ``#`` by the rules, whatever the source wrote."""
    clock_s: float | None = None
    """The mover's clock after the move, seconds."""
    spent_s: float | None = None
    """Time the move took, seconds."""
    eval: Score | None = None
    """An evaluation the source itself gave (``[%eval]``), White's side."""


class Headers(Value, omit_defaults=True):
    """What a game says about itself, as far as this product uses it."""

    white: Player
    black: Player
    event: str = ""
    site: str = ""
    round: str = ""
    board: int | None = None
    date: str = ""
    time_control: str = ""
    url: str = ""
    """Where people can watch the game."""
    variant: str = "standard"
    """``standard``, ``chess960``, or the name of a variant we leave alone."""
    eco: str = ""
    """Opening code as the source tells it (``B31``)."""
    opening: str = ""
    termination: str = ""
    """How it ended or why it stands still, as the source tells it (``time
    forfeit``)."""


Unread = Literal["moves", "result"]


class GameReport(Value, omit_defaults=True):
    """A whole game as one source holds it now; the next report mends a missed one."""

    key: str
    """The source's own stable name of the game (lichess game id, ``uuid/round/board``),
    empty when it has none and the game must be told by its headers."""
    headers: Headers
    start_fen: str
    """Full FEN of the position before the first move."""
    moves: tuple[Move, ...] = ()
    result: Result = "*"
    start_eval: Score | None = None
    """The source's evaluation of the starting position, if it gave one."""
    problem: str | None = None
    """Why the game could not be read to its end ("illegal move 12...Qh9"), for
    people."""
    unread: tuple[Unread, ...] = ()
    """Parts of which the source may say more than could be read: ``moves``, whose line
    may go on behind the last one here, and ``result``. What was known of them before
    stays."""


GameReports = tuple[GameReport, ...]


class FeedReport(Value):
    """What one source says now."""

    feed: FeedName
    games: GameReports
    complete: bool = False
    """True when ``games`` is all the source holds, so a game not in it is gone."""
