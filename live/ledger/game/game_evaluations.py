"""What is known of one game's positions and moves, and which searches are still needed.

Position ``k`` is the one after ``k`` plies; ply ``k`` leads from position ``k - 1`` to ``k``.
n moves need n + 1 searches of positions, and one search restricted to the move played for each
move that was not the engine's first choice (Alliot 2017, section 3.3). Where somebody wants to know
what the other moves lose, a short search for several lines follows (``replies``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import chess
import msgspec

from live.engine.search import Limit, Line, Position, Search, SearchOptions, SearchResult
from live.events import MATE_CP, Color, GainKind, GameId, Score
from live.ratings.gain import same_search_gain, successive_gain
from live.ratings.strength.known_before_move import Board, board_before

RequestKind = Literal["position", "played", "replies"]
Tier = Literal["quick", "full"]
"""Which of two looks at everything; see :mod:`live.ledger.game.game_evaluations`."""


class RequestId(msgspec.Struct, frozen=True, gc=False):
    """Which request this is: the result comes back with it."""

    game: GameId
    ply: int
    """The position's index (of ``position`` and ``replies``), or the ply of the move played."""
    kind: RequestKind
    generation: int
    """Counts the changes of the game's past: the result of an older request is dropped."""
    tier: Tier = "full"


class EvaluatedPosition(msgspec.Struct, frozen=True):
    """A position with its final score."""

    score: Score
    best: str | None
    """The engine's first choice, UCI; None where nobody chose (rules, ``[%eval]``)."""
    depth: int | None = None
    by_depth: tuple[Score | None, ...] = ()
    by_rule: bool = False
    """The game is over here: the rules of chess gave the score."""
    lines: tuple[Line, ...] = ()
    """The best moves, where several were searched."""

    @classmethod
    def of(cls, result: SearchResult) -> EvaluatedPosition:
        return cls(result.score, result.best, result.depth, result.by_depth, lines=result.lines)


class EvaluationsValue(msgspec.Struct, frozen=True):
    """All that is known of one game's positions and moves, as a value."""

    positions: tuple[EvaluatedPosition | None, ...]
    """By ply, from the starting position."""
    played: tuple[Score | None, ...]
    """By ply; the first is never used."""
    lost: tuple[tuple[RequestKind, int], ...] = ()
    replies: tuple[tuple[int, dict[str, int]], ...] = ()
    """By position, where they were searched: White's score of each reply, centipawns."""


class Gains(msgspec.Struct, frozen=True):
    """Both gains of a ply, mover's side; None while unknown or for ever."""

    same_search_cp: int | None
    successive_cp: int | None

    def of(self, kind: GainKind) -> int | None:
        return self.same_search_cp if kind == "same-search" else self.successive_cp


def rule_score(board: chess.Board) -> Score | None:
    """Score of a finished position by the rules of chess, or None when play can go on.

    Checkmate ±3900, stalemate and dead position 0 (mate as in Ferreira 2012, section 3).
    """
    if board.is_checkmate():
        return Score(cp=-MATE_CP if board.turn == chess.WHITE else MATE_CP, mate=0)
    if board.is_stalemate() or board.is_insufficient_material():
        return Score(cp=0)
    return None


def _only_one(board: chess.Board) -> bool:
    """Whether there is exactly one legal move."""
    moves = board.generate_legal_moves()
    return next(moves, None) is not None and next(moves, None) is None


class GameEvaluations:
    """Scores of one game's positions; grows with its moves, forgets with its takebacks.

    ``search_options`` shape the searches, ``limit`` says when they end (None: as the pool).
    """

    def __init__(
        self,
        start_fen: str,
        *,
        chess960: bool,
        search_options: SearchOptions = SearchOptions(),  # noqa: B008  # frozen
        limit: Limit | None = None,
    ) -> None:
        self._search_options = search_options
        self._limit = limit
        self.start_fen = start_fen
        self.chess960 = chess960
        self._board = chess.Board(start_fen, chess960=chess960)
        self._moves: list[str] = []
        self._positions: list[EvaluatedPosition | None] = [self._by_rule()]
        # Index 0 is never used, so that index and ply agree.
        self._played: list[Score | None] = [None]
        self._forced = [False]
        self._repeated = [False]
        self._lost: set[tuple[RequestKind, int]] = set()
        # Lines and limit for each position whose replies are wanted, and what was found.
        self._wanted: dict[int, tuple[int, Limit]] = {}
        self._replies: dict[int, dict[str, int]] = {}

    def __len__(self) -> int:
        """How many plies."""
        return len(self._moves)

    def _by_rule(self) -> EvaluatedPosition | None:
        score = rule_score(self._board)
        return None if score is None else EvaluatedPosition(score, None, by_rule=True)

    @property
    def white_to_start(self) -> bool:
        return " w " in self.start_fen

    def mover(self, ply: int) -> Color:
        """Who made ply ``ply``."""
        return "white" if (ply % 2 == 1) == self.white_to_start else "black"

    # --- the moves ------------------------------------------------------------------------------

    def extend(self, uci: str) -> None:
        """One more move; its resulting position is scored at once when the game ends by rule."""
        self._forced.append(_only_one(self._board))
        # Only choices among several lines need it, and it is slow.
        self._repeated.append(self._search_options.lines > 1 and self._board.is_repetition(2))
        self._board.push_uci(uci)
        self._moves.append(uci)
        self._positions.append(self._by_rule())
        self._played.append(None)

    def truncate(self, ply: int) -> None:
        """Forget every move after ``ply`` and all that was known of them."""
        while len(self._moves) > ply:
            self._moves.pop()
            self._board.pop()
        del self._positions[ply + 1 :]
        del self._played[ply + 1 :]
        del self._forced[ply + 1 :]
        del self._repeated[ply + 1 :]
        self._lost = {(kind, index) for kind, index in self._lost if index <= ply}
        self._wanted = {index: each for index, each in self._wanted.items() if index <= ply}
        self._replies = {index: each for index, each in self._replies.items() if index <= ply}

    def look(self) -> EvaluationsValue:
        """What is known now."""
        return EvaluationsValue(
            tuple(self._positions),
            tuple(self._played),
            tuple(sorted(self._lost)),
            tuple(self._replies.items()),
        )

    def learn(self, look: EvaluationsValue) -> None:
        """Know what was known of the same moves.

        Raises:
            ValueError: they are not as many.
        """
        if not len(look.positions) == len(look.played) == len(self._positions):
            raise ValueError(f"{len(self)} plies, and scores of {len(look.positions) - 1}")
        self._positions, self._played = list(look.positions), list(look.played)
        self._lost = set(look.lost)
        self._replies = dict(look.replies)

    # --- what becomes known ---------------------------------------------------------------------

    def set_position(self, index: int, evaluated: EvaluatedPosition) -> None:
        self._positions[index] = evaluated

    def take_source_eval(self, index: int, score: Score | None) -> None:
        """The source's own evaluation of a position, or None: then there will never be one."""
        if self._positions[index] is not None:
            return  # over by rule
        if score is None:
            self.give_up("position", index)
        else:
            self.set_position(index, EvaluatedPosition(score, None))

    def set_played(self, ply: int, score: Score) -> None:
        self._played[ply] = score

    def want_replies(self, index: int, lines: int, limit: Limit) -> None:
        """What the moves of a position lose is wanted: once its score is known, so many lines are
        searched under ``limit``, unless its own search had several.
        """
        self._wanted[index] = lines, limit

    def set_replies(self, index: int, lines: Sequence[Line]) -> None:
        self._replies[index] = {line.move: line.score.cp for line in lines}

    def give_up(self, kind: RequestKind, index: int) -> None:
        """This score will never come: its gains stay unknown and nothing waits for them."""
        self._lost.add((kind, index))

    def position(self, index: int) -> EvaluatedPosition | None:
        return self._positions[index]

    def positions(self) -> list[EvaluatedPosition | None]:
        """All positions, by index."""
        return self._positions.copy()

    def move(self, ply: int) -> str:
        """The move played, UCI."""
        return self._moves[ply - 1]

    def replies(self, index: int) -> dict[str, int] | None:
        """White's score of each reply that was searched beside others, centipawns, by UCI."""
        held = self._positions[index]
        if held is not None and len(held.lines) > 1:
            return {line.move: line.score.cp for line in held.lines}
        return self._replies.get(index)

    def forced(self, ply: int) -> bool:
        """Whether the move played was the only legal one."""
        return self._forced[ply]

    def is_forced(self, index: int) -> bool:
        """Whether a position leaves exactly one legal move."""
        return self._forced[index + 1] if index < len(self) else _only_one(self._board)

    def repeated(self, ply: int) -> bool:
        """Whether the position before the move had occurred before; known with Multi-PV only."""
        return self._repeated[ply]

    def played(self, ply: int) -> Score | None:
        """Score of the move played, as far as it needs no search of its own or had it."""
        before, after = self._positions[ply - 1], self._positions[ply]
        if before is None:
            return None
        if before.best is not None and before.best == self._moves[ply - 1]:
            return before.score
        if after is not None and after.by_rule:
            return after.score
        for line in before.lines:
            if line.move == self._moves[ply - 1]:
                return line.score
        return self._played[ply]

    # --- what is needed -------------------------------------------------------------------------

    def needs_position(self, index: int) -> bool:
        return self._positions[index] is None and ("position", index) not in self._lost

    def needs_played(self, ply: int) -> bool:
        """True when ``ply`` was not the first choice and its own search has not been made."""
        before = self._positions[ply - 1]
        return (
            before is not None
            and before.best is not None
            and self.played(ply) is None
            and ("played", ply) not in self._lost
        )

    def needs_replies(self, index: int) -> bool:
        """True when they are wanted, and the position itself was searched."""
        held = self._positions[index]
        return (
            index in self._wanted
            and held is not None
            and held.best is not None
            and self.replies(index) is None
            and ("replies", index) not in self._lost
        )

    def search(self, kind: RequestKind, index: int) -> Search:
        """The search that answers: a position, or the one before ``index`` restricted to it."""
        if kind == "replies":
            lines, limit = self._wanted[index]
            return Search(self._prefix(index), lines=lines, limit=limit)
        if kind == "position":
            return self._search_options.whole(self._prefix(index), self._limit)
        before = self._positions[index - 1]
        return self._search_options.played(
            self._prefix(index - 1),
            self._moves[index - 1],
            before.depth if before is not None else None,
            self._limit,
        )

    def _prefix(self, index: int) -> Position:
        return Position(self.start_fen, tuple(self._moves[:index]), self.chess960)

    # --- gains ----------------------------------------------------------------------------------

    def gains(self, ply: int) -> Gains:
        before, after = self._positions[ply - 1], self._positions[ply]
        mover = self.mover(ply)
        same: int | None = None
        if before is not None:
            played = self.played(ply)
            if played is not None and before.best is not None:
                same = same_search_gain(before.score, played, mover)
            elif before.by_rule:
                same = 0  # played on in a dead position: nothing left to gain or lose
        successive: int | None = None
        if before is not None and after is not None:
            successive = successive_gain(before.score, after.score, mover)
        return Gains(same, successive)

    def settled(self, ply: int, kind: GainKind) -> bool:
        """True when the gain of ``ply`` is known or can never be."""
        if self.gains(ply).of(kind) is not None:
            return True
        if ("position", ply - 1) in self._lost:
            return True
        last = ("position", ply) if kind == "successive" else ("played", ply)
        return last in self._lost


class QuickAndFull(GameEvaluations):
    """The scores of the full search, beside those of a quick search where there is one.

    A gain compares two scores, so both come from searches of one kind: from the full ones as soon
    as they are known, from the quick ones until then. Where a full search has failed, the quick
    score stays.
    """

    def __init__(
        self, start_fen: str, *, chess960: bool, search_options: SearchOptions, gain: GainKind
    ) -> None:
        super().__init__(start_fen, chess960=chess960, search_options=search_options)
        self._gain = gain
        # What the board shows before each move, as far as somebody asked.
        self._walk = chess.Board(start_fen, chess960=chess960)
        self._boards: list[Board] = []
        self._taken = [False]
        self.quick: GameEvaluations | None = None
        if search_options.quick is not None:
            self.quick = GameEvaluations(
                start_fen,
                chess960=chess960,
                search_options=search_options,
                limit=search_options.quick,
            )

    def extend(self, uci: str) -> None:
        super().extend(uci)
        if self.quick is not None:
            self.quick.extend(uci)

    def truncate(self, ply: int) -> None:
        super().truncate(ply)
        while len(self._boards) > ply:
            self._boards.pop()
            self._taken.pop()
            self._walk.pop()
        if self.quick is not None:
            self.quick.truncate(ply)

    def board(self, ply: int) -> Board:
        """What the board shows before ``ply``; worked out when it is first asked for."""
        walk = self._walk
        while len(self._boards) < ply:
            repeated = walk.halfmove_clock > 3 and walk.is_repetition(2)
            self._boards.append(board_before(walk, taken=self._taken[-1], repeated=repeated))
            # Known to be legal: the other board has taken it.
            move = chess.Move.from_uci(self.move(len(self._boards)))
            self._taken.append(walk.is_capture(move))
            walk.push(move)
        return self._boards[ply - 1]

    def tier(self, ply: int) -> Tier:
        """Which look gives the gain of ``ply``, or would."""
        if self.quick is None or self.gains(ply).of(self._gain) is not None:
            return "full"
        return "quick" if self.quick.gains(ply).of(self._gain) is not None else "full"

    def of(self, tier: Tier) -> GameEvaluations:
        """One look on its own; there must be one."""
        if tier == "full":
            return self
        assert self.quick is not None, "there is no quick look"
        return self.quick

    def at(self, ply: int) -> GameEvaluations:
        """The look that gives the gain of ``ply``."""
        return self.of(self.tier(ply))

    def is_settled(self, ply: int) -> bool:
        """Whether the gain of ``ply`` is known, by any look, or can never be."""
        return self.tier(ply) == "quick" or (
            self.settled(ply, self._gain)
            and (self.quick is None or self.quick.settled(ply, self._gain))
        )
