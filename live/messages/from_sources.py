"""Reports from sources: players, moves with their clocks, and whole games."""

from typing import Literal

from live.messages.values import FeedName, Value

#: The possible results of a game. Any other text from a source becomes one of these.
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

#: Beginning of a game's ``problem`` while the game, or moves of it, are missing from a
#: file that is just being written. Nothing is wrong with the game.
IN_DOUBT = "kept:"

#: Beginning of a game's ``problem`` if its source has removed the game.
NO_LONGER = "no longer in its source"

#: Part of a game's ``problem`` if an illegal move stands because play continued.
STANDS = "stands, since the game went on from it"

#: Beginning of a game's ``problem`` if all moves were read but other data could not be.
NOT_READ = "not read:"

#: Score of a forced mate, centipawns (Ferreira 2012, section 3).
MATE_CP = 3900


class Score(Value, gc=False):
    """The score of a position, from White's side.

    ``cp`` is limited to ±3900; a forced mate is ±3900 whatever its distance (Ferreira
    2012, section 3).
    """

    cp: int
    """Score in centipawns."""
    mate: int | None = None
    """Number of moves to mate: positive if White mates, negative if Black mates, 0 if
    the side to move is already mated; null without a forced mate."""


class Player(Value, gc=False):
    """A player, with the data given by the source."""

    name: str
    elo: int | None = None
    title: str | None = None
    fide_id: int | None = None
    federation: str | None = None
    team: str | None = None
    k: int | None = None
    """FIDE's development coefficient (K) from a rating list; null if unknown."""


class Move(Value, gc=False, omit_defaults=True):
    """One ply as reported by a source, already checked to be legal."""

    uci: str
    """The move in UCI notation. Castling is written as king to rook in Chess960, and as
    a king's move of two squares otherwise."""
    san: str
    """The move in SAN. ``+`` and ``#`` follow the rules, whatever the source wrote."""
    clock_s: float | None = None
    """The mover's clock after the move, seconds."""
    spent_s: float | None = None
    """Time used for the move, seconds."""
    eval: Score | None = None
    """Evaluation of the move by the source itself (``[%eval]``), from White's side."""


class Headers(Value, omit_defaults=True):
    """The headers of a game that this program uses."""

    white: Player
    black: Player
    event: str = ""
    site: str = ""
    round: str = ""
    board: int | None = None
    date: str = ""
    time_control: str = ""
    url: str = ""
    """Address of a web page where people can watch the game."""
    variant: str = "standard"
    """``standard``, ``chess960``, or the name of a variant that is not analysed."""
    eco: str = ""
    """Opening code, as given by the source (``B31``)."""
    opening: str = ""
    """Name of the opening, as given by the source."""
    termination: str = ""
    """How the game ended or why it is interrupted, as given by the source (``time
    forfeit``)."""


Unread = Literal["moves", "result"]


class GameReport(Value, omit_defaults=True):
    """The present state of a whole game at one source.

    Each report contains the whole game, so a missed report does no harm.
    """

    key: str
    """The source's own stable id of the game (lichess game id, ``uuid/round/board``).
    Empty if there is none; then the game is identified by its headers."""
    headers: Headers
    start_fen: str
    """Full FEN of the position before the first move."""
    moves: tuple[Move, ...] = ()
    result: Result = "*"
    start_eval: Score | None = None
    """The source's evaluation of the starting position, if it has one."""
    problem: str | None = None
    """Text for people: why the game could not be read to its end ("illegal move
    12...Qh9")."""
    unread: tuple[Unread, ...] = ()
    """Parts of the game that could not be read completely: ``moves`` if more moves can
    follow the last one here, and ``result``. Earlier data about these parts stays
    valid."""


GameReports = tuple[GameReport, ...]


class FeedReport(Value):
    """The present games of one source."""

    feed: FeedName
    games: GameReports
    complete: bool = False
    """True if ``games`` contains all games of the source, so that any other game is
    gone."""
