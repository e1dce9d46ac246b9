"""A game as an immutable value, and the steps that change it. No I/O."""

from collections.abc import Iterator

import msgspec

from live.messages.figures import GameView
from live.messages.from_sources import GameReport, Headers, Move, Result, Score
from live.messages.values import Color, FeedName, GameId, Value


class Game(Value):
    """A game of one feed. A change creates a new ``Game`` (:func:`apply_step`)."""

    id: GameId
    """Id of the game: stable, short and safe in a URL; see
    :mod:`live.games.player_identity`.
    """
    feed: FeedName
    key: str
    """The source's own identifier of the game; empty if it has none."""
    headers: Headers
    start_fen: str
    moves: tuple[Move, ...] = ()
    """``moves[ply - 1]`` is the move that leads to ``ply``."""
    result: Result = "*"
    """The result as reported; after a mate without a reported result, the result by the
    rules.
    """
    start_eval: Score | None = None
    problem: str | None = None
    """Reason why the moves are incomplete, as text for display."""
    also: tuple[FeedName, ...] = ()
    """Other sources that report the same game; see :mod:`live.games.shared_games`."""
    dispute: str = ""
    """Contradictions between the game's sources, as text for display."""

    @property
    def chess960(self) -> bool:
        return self.headers.variant == "chess960"

    def to_report(self) -> GameReport:
        """Return the game as its source would report it."""
        return GameReport(
            key=self.key,
            headers=self.headers,
            start_fen=self.start_fen,
            moves=self.moves,
            result=self.result,
            start_eval=self.start_eval,
            problem=self.problem,
        )


# The steps of a plan. Plies are counted from 1. ``from_ply`` is the first ply that
# changes, ``to_ply`` the last one that is kept.


class _OfGame(Value, tag=True):
    id: GameId


class NewGame(Value, tag=True):
    """A game appears, with all the moves that are known."""

    game: Game

    @property
    def id(self) -> GameId:
        return self.game.id


class MovesPlayed(_OfGame):
    """``moves`` are added after the last known move, which is ply ``from_ply - 1``."""

    from_ply: int
    moves: tuple[Move, ...]


class TailReplaced(_OfGame):
    """``moves`` replace the known moves from ``from_ply`` on; neither the old nor the
    new ones are empty.
    """

    from_ply: int
    moves: tuple[Move, ...]


class TakenBack(_OfGame):
    """All moves after the first ``to_ply`` plies are taken back."""

    to_ply: int


class ClocksCorrected(_OfGame):
    """Clocks of known moves are corrected: ``(ply, clock_s, spent_s)``."""

    clocks: tuple[tuple[int, float | None, float | None], ...]


class EvalsChanged(_OfGame):
    """The source's evaluations are corrected: ``(ply, score)``; ply 0 is the start."""

    evals: tuple[tuple[int, Score | None], ...]


class HeadersChanged(_OfGame):
    """``headers`` replace the previous headers. The variant never changes."""

    headers: Headers


class ResultChanged(_OfGame):
    result: Result


class ProblemChanged(_OfGame):
    problem: str | None


class CarriersChanged(_OfGame):
    """The other sources that report the game, or their contradictions, have changed."""

    also: tuple[FeedName, ...]
    dispute: str


class GameGone(_OfGame):
    """The source no longer has the game, so it is deleted."""


class GameConfirmed(_OfGame):
    """A source reports a game that was restored from an earlier start of the service.

    The game loses its mark ``restored``; nothing else changes.
    """


Step = (
    NewGame
    | MovesPlayed
    | TailReplaced
    | TakenBack
    | ClocksCorrected
    | EvalsChanged
    | HeadersChanged
    | ResultChanged
    | ProblemChanged
    | CarriersChanged
    | GameConfirmed
    | GameGone
)


def side_to_play(start_fen: str, ply: int) -> Color:
    """Return the side that plays a ply of a game that began at ``start_fen``."""
    return "white" if (ply % 2 == 1) == (" w " in start_fen) else "black"


def apply_or_none(game: Game | None, step: Step) -> Game | None:
    """Return a game after ``step``, for use as a fold over the game's steps.

    Args:
        game: the game before the step; None before the game begins and after it is
            deleted.
        step: any step of this game.

    Returns:
        The game after the step; None if it is deleted. A step of an unknown game
        changes nothing.

    Raises:
        ValueError: ``step`` does not fit the game, or belongs to another one.
        IndexError: ``step`` corrects a ply that the game does not have.
    """
    if isinstance(step, NewGame):
        return step.game
    if game is None or isinstance(step, GameGone):
        return None
    return apply_step(game, step)


def apply_step(game: Game, step: Step) -> Game:
    """Return ``game`` after ``step``, which must belong to this game.

    Raises:
        ValueError: ``step`` creates or deletes a game, belongs to another one, or does
            not fit its moves.
    """
    if step.id != game.id:
        raise ValueError(
            f"{type(step).__name__} is about game {step.id}, not {game.id}"
        )
    replace = msgspec.structs.replace
    match step:
        case MovesPlayed(from_ply=ply, moves=moves) if ply == len(game.moves) + 1:
            return replace(game, moves=game.moves + moves)
        case TailReplaced(from_ply=ply, moves=moves) if 1 <= ply <= len(game.moves):
            return replace(game, moves=game.moves[: ply - 1] + moves)
        case TakenBack(to_ply=ply) if 0 <= ply < len(game.moves):
            return replace(game, moves=game.moves[:ply])
        case ClocksCorrected(clocks=clocks):
            moves_now = list(game.moves)
            for ply, clock_s, spent_s in clocks:
                move = moves_now[ply - 1]
                moves_now[ply - 1] = replace(move, clock_s=clock_s, spent_s=spent_s)
            return replace(game, moves=tuple(moves_now))
        case EvalsChanged(evals=evals):
            start_eval = game.start_eval
            moves_now = list(game.moves)
            for ply, score in evals:
                if ply == 0:
                    start_eval = score
                else:
                    moves_now[ply - 1] = replace(moves_now[ply - 1], eval=score)
            return replace(game, moves=tuple(moves_now), start_eval=start_eval)
        case HeadersChanged() | ResultChanged() | ProblemChanged() | CarriersChanged():
            return replace(game, **msgspec.structs.asdict(step))
        case GameConfirmed():
            return game
    raise ValueError(
        f"{type(step).__name__} does not fit game {game.id},"
        f" which has {len(game.moves)} plies"
    )


#: Maximum number of moves that are applied in one step. It takes some milliseconds.
MOVES_A_STEP = 40


def split_into_steps(game: Game) -> Iterator[Step]:
    """Yield a game as steps that take some milliseconds each; the first step has no
    moves.
    """
    yield NewGame(msgspec.structs.replace(game, moves=()))
    for start in range(0, len(game.moves), MOVES_A_STEP):
        moves = game.moves[start : start + MOVES_A_STEP]
        yield MovesPlayed(game.id, start + 1, moves)


def number_move(game: GameView | GameReport, ply: int) -> tuple[int, bool]:
    """Return the move number of a ply, and True if White makes it."""
    fields = game.start_fen.split()
    first = 1
    if len(fields) > 5 and fields[5].isdecimal():
        first = max(1, int(fields[5]))
    offset = ply - 1 + (fields[1:2] == ["b"])
    return first + offset // 2, offset % 2 == 0


def side_of_ply(game: GameView, ply: int) -> Color:
    """Return the side that plays a ply."""
    return "white" if number_move(game, ply)[1] else "black"


#: Number of plies after which both players have moved.
LEAST_PLIES = 2


def is_played(game: Game | GameReport) -> bool:
    """Return whether both players have moved; only such games are rated.

    Source: FIDE Rating Regulations 5.1. A game with unreadable moves counts as played.
    """
    return len(game.moves) >= LEAST_PLIES or game.problem is not None
