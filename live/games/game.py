"""One game as it stands: an immutable value, whole at every moment."""

from __future__ import annotations

import msgspec

from live.events import FeedName, GameId, Headers, Move, Result, Score


class Game(msgspec.Struct, frozen=True):
    """A game of one feed. A change makes a new ``Game`` (:func:`live.games.game.applied`)."""

    id: GameId
    """Stable, short and safe in a URL; see :mod:`live.games.player_identity`."""
    feed: FeedName
    key: str
    """The source's own name of the game; empty when it has none."""
    headers: Headers
    start_fen: str
    moves: tuple[Move, ...] = ()
    """``moves[ply - 1]`` is the move that leads to ``ply``."""
    result: Result = "*"
    """As reported, or by the rules where the board is mated and nothing was reported."""
    start_eval: Score | None = None
    problem: str | None = None
    """Why the game stops short, for people."""
    also: tuple[FeedName, ...] = ()
    """Other sources that carry the same game; see :mod:`live.games.shared_games`."""
    dispute: str = ""
    """Where its sources contradict each other, for people."""

    @property
    def chess960(self) -> bool:
        return self.headers.variant == "chess960"

    def position(self, ply: int) -> tuple[str, tuple[str, ...], bool]:
        """What an engine needs of the position after ``ply`` half-moves.

        Returns:
            ``(start_fen, moves in UCI from there, chess960)``.

        Raises:
            IndexError: ``ply`` is below 0 or past the last move.
        """
        if not 0 <= ply <= len(self.moves):
            raise IndexError(f"game {self.id} has plies 0 to {len(self.moves)}, not {ply}")
        return self.start_fen, tuple(move.uci for move in self.moves[:ply]), self.chess960


# What can happen to a game: the steps of a plan, and what each makes of a game.
#
# A ply counts from 1. ``from_ply`` is the first ply that changes; ``to_ply`` the last that stands.


class NewGame(msgspec.Struct, frozen=True, tag=True):
    """A game appears, with all the moves it has."""

    game: Game

    @property
    def id(self) -> GameId:
        return self.game.id


class MovesPlayed(msgspec.Struct, frozen=True, tag=True):
    """The game goes on: ``moves`` follow the last one held, which is ply ``from_ply - 1``."""

    id: GameId
    from_ply: int
    moves: tuple[Move, ...]


class TailReplaced(msgspec.Struct, frozen=True, tag=True):
    """From ``from_ply`` on, ``moves`` were played and not what was held. Neither is empty."""

    id: GameId
    from_ply: int
    moves: tuple[Move, ...]


class TakenBack(msgspec.Struct, frozen=True, tag=True):
    """Only the first ``to_ply`` plies stand."""

    id: GameId
    to_ply: int


class ClocksCorrected(msgspec.Struct, frozen=True, tag=True):
    """Clocks of moves already held are corrected: ``(ply, clock_s, spent_s)``."""

    id: GameId
    clocks: tuple[tuple[int, float | None, float | None], ...]


class EvalsChanged(msgspec.Struct, frozen=True, tag=True):
    """The source's own evaluations are corrected: ``(ply, score)``, ply 0 the start position."""

    id: GameId
    evals: tuple[tuple[int, Score | None], ...]


class HeadersChanged(msgspec.Struct, frozen=True, tag=True):
    """``headers`` replace what was held. The variant never changes."""

    id: GameId
    headers: Headers


class ResultChanged(msgspec.Struct, frozen=True, tag=True):
    id: GameId
    result: Result


class ProblemChanged(msgspec.Struct, frozen=True, tag=True):
    id: GameId
    problem: str | None


class CarriersChanged(msgspec.Struct, frozen=True, tag=True):
    """Which other sources carry the game that is shown, and where they contradict each other."""

    id: GameId
    also: tuple[FeedName, ...]
    dispute: str


class GameGone(msgspec.Struct, frozen=True, tag=True):
    """The source no longer holds the game: forget it."""

    id: GameId


class GameConfirmed(msgspec.Struct, frozen=True, tag=True):
    """A source reports a game that was held from before the service started.

    The game loses its mark ``restored``; nothing else changes.
    """

    id: GameId


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


def game_after(game: Game | None, step: Step) -> Game | None:
    """The fold over the steps of one game: what is held of it after ``step``.

    Args:
        game: what was held before; None before the game begins and after it is gone.
        step: any step about this game.

    Returns:
        The game; None when it is gone. A step about a game that is not held changes nothing.

    Raises:
        ValueError: ``step`` does not fit the game, or is about another one.
        IndexError: it corrects a ply that the game has not.
    """
    match step:
        case NewGame(game=new):
            return new
        case GameGone():
            return None
    return None if game is None else applied(game, step)


def applied(game: Game, step: Step) -> Game:
    """``game`` after ``step``, which must be about it.

    Raises:
        ValueError: ``step`` opens or ends a game, is about another one, or does not fit its moves.
    """
    if step.id != game.id:
        raise ValueError(f"{type(step).__name__} is about game {step.id}, not {game.id}")
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
                moves_now[ply - 1] = replace(moves_now[ply - 1], clock_s=clock_s, spent_s=spent_s)
            return replace(game, moves=tuple(moves_now))
        case EvalsChanged(evals=evals):
            start_eval, moves_now = game.start_eval, list(game.moves)
            for ply, score in evals:
                if ply == 0:
                    start_eval = score
                else:
                    moves_now[ply - 1] = replace(moves_now[ply - 1], eval=score)
            return replace(game, moves=tuple(moves_now), start_eval=start_eval)
        case HeadersChanged(headers=headers):
            return replace(game, headers=headers)
        case ResultChanged(result=result):
            return replace(game, result=result)
        case ProblemChanged(problem=problem):
            return replace(game, problem=problem)
        case CarriersChanged(also=also, dispute=dispute):
            return replace(game, also=also, dispute=dispute)
        case GameConfirmed():
            return game
    raise ValueError(
        f"{type(step).__name__} does not fit game {game.id}, which has {len(game.moves)} plies"
    )
