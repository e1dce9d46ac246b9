"""One game as it stands: an immutable value, whole at every moment.

Which move a ply is, and who makes it, counted from the start position. Pure.

Which round a game is of, whatever way its source writes that. Pure.
"""

import re

import msgspec

from live.events import (
    Color,
    FeedName,
    GameId,
    GameReport,
    GameView,
    Headers,
    Move,
    Result,
    Score,
    Value,
)


class Game(Value):
    """A game of one feed. A change makes a new ``Game`` (:func:`live.games.game.complete_report`)."""

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

    def position_after(self, ply: int) -> tuple[str, tuple[str, ...], bool]:
        """What an engine needs of the position after ``ply`` half-moves.

        Returns:
            ``(start_fen, moves in UCI from there, chess960)``.

        Raises:
            IndexError: ``ply`` is below 0 or past the last move.
        """
        if not 0 <= ply <= len(self.moves):
            raise IndexError(f"game {self.id} has plies 0 to {len(self.moves)}, not {ply}")
        return self.start_fen, tuple(move.uci for move in self.moves[:ply]), self.chess960

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


# What can happen to a game: the steps of a plan, and what each makes of a game.
#
# A ply counts from 1. ``from_ply`` is the first ply that changes; ``to_ply`` the last that stands.


class _OfGame(Value, tag=True):
    id: GameId


class NewGame(Value, tag=True):
    """A game appears, with all the moves it has."""

    game: Game

    @property
    def id(self) -> GameId:
        return self.game.id


class MovesPlayed(_OfGame):
    """The game goes on: ``moves`` follow the last one held, which is ply ``from_ply - 1``."""

    from_ply: int
    moves: tuple[Move, ...]


class TailReplaced(_OfGame):
    """From ``from_ply`` on, ``moves`` were played and not what was held. Neither is empty."""

    from_ply: int
    moves: tuple[Move, ...]


class TakenBack(_OfGame):
    """Only the first ``to_ply`` plies stand."""

    to_ply: int


class ClocksCorrected(_OfGame):
    """Clocks of moves already held are corrected: ``(ply, clock_s, spent_s)``."""

    clocks: tuple[tuple[int, float | None, float | None], ...]


class EvalsChanged(_OfGame):
    """The source's own evaluations are corrected: ``(ply, score)``, ply 0 the start position."""

    evals: tuple[tuple[int, Score | None], ...]


class HeadersChanged(_OfGame):
    """``headers`` replace what was held. The variant never changes."""

    headers: Headers


class ResultChanged(_OfGame):
    result: Result


class ProblemChanged(_OfGame):
    problem: str | None


class CarriersChanged(_OfGame):
    """Which other sources carry the game that is shown, and where they contradict each other."""

    also: tuple[FeedName, ...]
    dispute: str


class GameGone(_OfGame):
    """The source no longer holds the game: forget it."""


class GameConfirmed(_OfGame):
    """A source reports a game that was held from before the service started.

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
    """Who makes a ply of a game that began there."""
    return "white" if (ply % 2 == 1) == (" w " in start_fen) else "black"


def apply_or_none(game: Game | None, step: Step) -> Game | None:
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
    if isinstance(step, NewGame):
        return step.game
    return None if game is None or isinstance(step, GameGone) else apply_step(game, step)


def apply_step(game: Game, step: Step) -> Game:
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
        case HeadersChanged() | ResultChanged() | ProblemChanged() | CarriersChanged():
            return replace(game, **msgspec.structs.asdict(step))
        case GameConfirmed():
            return game
    raise ValueError(
        f"{type(step).__name__} does not fit game {game.id}, which has {len(game.moves)} plies"
    )


def number_move(game: GameView | GameReport, ply: int) -> tuple[int, bool]:
    """The move number of a ply, and whether White makes it."""
    fields = game.start_fen.split()
    first = max(1, int(fields[5])) if len(fields) > 5 and fields[5].isdecimal() else 1
    offset = ply - 1 + (fields[1:2] == ["b"])
    return first + offset // 2, offset % 2 == 0


def side_of_ply(game: GameView, ply: int) -> Color:
    """Who makes a ply."""
    return "white" if number_move(game, ply)[1] else "black"


_WORD = r"(?:round|rnd|rd|r|runde|ronde|ronda|rodada|turno|tour|kolo|runda|kierros)"
_BOARD = r"(?:\.\d+)*(?:[\s,;/|-]*(?:board|bd|table|brett|tafel)\.?\s*\d+)?"
_ROUND = re.compile(
    rf"(?:{_WORD}\s*[.:#-]?\s*|#)?0*+(\d{{1,3}}){_BOARD}"
    rf"|0*+(\d{{1,3}})\s*(?:\.|st|nd|rd|th|e|ª|ème)?\s*{_WORD}",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"[0-9]{1,9}")
_PLACE = re.compile(r"\d((?:\.\d+)+)")

#: Sorts rounds, and what stands in them: numbers as numbers, after words.
RoundPlace = tuple[tuple[int, str], ...]


def read_round_number(text: str) -> int | None:
    """The number of the round that ``text`` (a ``Round`` tag, a setting) names.

    ``8``, ``08``, ``Round 8``, ``8th round`` and, as sources write boards and matches into rounds,
    ``8.2`` and ``08.5`` are 8. None where no single round is clear: nothing, ``?``, ``Final``,
    ``2-4``, ``1/8``, 0.

    >>> round_of("Round 08.5")
    8
    """
    found = _ROUND.fullmatch(text[:80].strip())
    return int(found[1] or found[2]) or None if found is not None else None


def normalise_round(text: str) -> str:
    """One name for one round: ``4`` of ``4.12``, ``04`` and ``Round 4``, or what stands before a
    point where no number is clear.
    """
    number = read_round_number(text)
    return text.partition(".")[0] if number is None else str(number)


#: After so many plies both players have moved.
LEAST_PLIES = 2


def is_played(game: Game | GameReport) -> bool:
    """Whether both players have moved: no other game is rated, whatever its result
    (FIDE Rating Regulations 5.1). What could not be read may have been moves.
    """
    return len(game.moves) >= LEAST_PLIES or game.problem is not None


def format_board_number(game: GameView) -> str:
    """``4.12``: round and board."""
    if "." in game.round or game.board is None:
        return game.round
    return f"{normalise_round(game.round)}.{game.board}" if game.round else str(game.board)


def round_sort_key(text: str, board: int | None) -> RoundPlace:
    """Round and place in it, for sorting: ``7.2`` stands between boards 1 and 3 of round ``7``.

    Args:
        text: the round as the source writes it, perhaps with match and board.
        board: the board's number where it is known.
    """
    if read_round_number(text) is None:
        parts = text.split(".")
    else:
        inner = _PLACE.search(text)
        parts = [normalise_round(text), *(inner[1].split(".")[1:] if inner is not None else ())]
    # Not too long for int().
    place = tuple((int(p), "") if _DIGITS.fullmatch(p) else (-1, p) for p in parts)
    return place if len(place) > 1 else (*place, (1 << 30 if board is None else board, ""))
