"""What is known of one game's positions and moves, and which searches are still needed.

Position ``k`` is the one after ``k`` plies; ply ``k`` leads from position ``k - 1`` to ``k``.
n moves need n + 1 searches of positions, and one search restricted to the move played for each
move that was not the engine's first choice (Alliot 2017, section 3.3). Where somebody wants to know
what the other moves lose, a short search for several lines follows (``replies``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import islice
from typing import Literal, NamedTuple

import chess
import msgspec

from live.engine.search import Limit, Line, Position, Search, SearchOptions, SearchResult
from live.events import MATE_CP, Change, Color, GainKind, GameId, Score
from live.human.question import HumanQuestion
from live.ratings.accuracy import LICHESS_START
from live.ratings.ferreira import same_search_gain, successive_gain
from live.ratings.perceived_model import Board, board_before

RequestKind = Literal["position", "played", "replies"]


class RequestId(msgspec.Struct, frozen=True, gc=False):
    """Which request this is: the result comes back with it."""

    game: GameId
    ply: int
    """The position's index (of ``position`` and ``replies``), or the ply of the move played."""
    kind: RequestKind
    generation: int
    """Counts the changes of the game's past: the result of an older request is dropped."""


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


class KnownMove(msgspec.Struct, frozen=True):
    """One move with all that is finally known of it: the same object until something changes."""

    ply: int
    mover: Color
    uci: str
    board: Board
    """What the board showed before the move."""
    before: EvaluatedPosition | None
    after: EvaluatedPosition | None
    played: Score | None
    """Of the move played, where it needed no search of its own or had it."""
    gains: Gains


class KnownGame(NamedTuple):
    """Everything that searches have shown of one game."""

    start: Score | None
    """Of the starting position; where it will never be known, what lichess takes it for."""
    moves: Sequence[KnownMove]


class GameEvaluations:
    """Scores of one game's positions; grows with its moves, forgets with its takebacks.

    ``search_options`` shape the searches.
    """

    def __init__(
        self,
        start_fen: str,
        *,
        chess960: bool,
        search_options: SearchOptions = SearchOptions(),  # noqa: B008  # frozen
    ) -> None:
        self._search_options = search_options
        self.start_fen = start_fen
        self.chess960 = chess960
        self.board = chess.Board(start_fen, chess960=chess960)
        """After all moves."""
        self._moves: list[str] = []
        self._positions: list[EvaluatedPosition | None] = [self._by_rule()]
        # Index 0 is never used, so that index and ply agree.
        self._played: list[Score | None] = [None]
        # Before each move what the board showed, and whether the move took something.
        self._boards: list[Board] = []
        self._taken = [False]
        # As last put together; None where something has changed since.
        self._known: list[KnownMove | None] = []
        self._lost: set[tuple[RequestKind, int]] = set()
        # Lines and limit for each position whose replies are wanted, and what was found.
        self._wanted: dict[int, tuple[int, Limit]] = {}
        self._replies: dict[int, dict[str, int]] = {}

    def __len__(self) -> int:
        """How many plies."""
        return len(self._moves)

    def _by_rule(self) -> EvaluatedPosition | None:
        """A finished position by the rules of chess; None where play can go on. Checkmate ±3900,
        stalemate and dead position 0 (mate as in Ferreira 2012, section 3).
        """
        board = self.board
        if board.is_checkmate():
            score = Score(cp=-MATE_CP if board.turn == chess.WHITE else MATE_CP, mate=0)
        elif board.is_stalemate() or board.is_insufficient_material():
            score = Score(cp=0)
        else:
            return None
        return EvaluatedPosition(score, None, by_rule=True)

    def mover(self, ply: int) -> Color:
        """Who made ply ``ply``."""
        return "white" if (ply % 2 == 1) == (" w " in self.start_fen) else "black"

    # --- the moves ------------------------------------------------------------------------------

    def extend(self, uci: str) -> None:
        """One more move; its resulting position is scored at once when the game ends by rule."""
        board = self.board
        repeated = board.halfmove_clock > 3 and board.is_repetition(2)
        self._boards.append(board_before(board, taken=self._taken[-1], repeated=repeated))
        move = board.parse_uci(uci)
        self._taken.append(board.is_capture(move))
        board.push(move)
        self._moves.append(uci)
        self._known.append(None)
        self._positions.append(self._by_rule())
        self._played.append(None)

    def truncate(self, ply: int) -> None:
        """Forget every move after ``ply`` and all that was known of them."""
        while len(self._moves) > ply:
            self._moves.pop()
            self.board.pop()
        del self._positions[ply + 1 :]
        del self._played[ply + 1 :]
        del self._boards[ply:], self._known[ply:]
        del self._taken[ply + 1 :]
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
        self._known = [None] * len(self)
        self._lost = set(look.lost)
        self._replies = dict(look.replies)

    # --- what becomes known ---------------------------------------------------------------------

    def set_position(self, index: int, evaluated: EvaluatedPosition) -> None:
        self._positions[index] = evaluated
        for move in (index - 1, index):
            if 0 <= move < len(self):
                self._known[move] = None

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
        self._known[ply - 1] = None

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

    def move(self, ply: int) -> str:
        """The move played, UCI."""
        return self._moves[ply - 1]

    def replies(self, index: int) -> dict[str, int] | None:
        """White's score of each reply that was searched beside others, centipawns, by UCI."""
        held = self._positions[index]
        if held is not None and len(held.lines) > 1:
            return {line.move: line.score.cp for line in held.lines}
        return self._replies.get(index)

    def is_forced(self, index: int) -> bool:
        """Whether a position leaves exactly one legal move."""
        if index < len(self):
            return self._boards[index].forced
        return len(list(islice(self.board.generate_legal_moves(), 2))) == 1

    def known(self) -> KnownGame:
        """All that is known now, for ratings."""
        start = self._positions[0].score if self._positions[0] else None
        unknown = start is None and ("position", 0) in self._lost
        if unknown and self.start_fen == chess.STARTING_FEN:
            start = LICHESS_START
        return KnownGame(start, [self.known_move(ply) for ply in range(1, len(self) + 1)])

    def known_move(self, ply: int) -> KnownMove:
        """All that is known of one move."""
        held = self._known[ply - 1]
        if held is None:
            held = self._known[ply - 1] = KnownMove(
                ply,
                self.mover(ply),
                self._moves[ply - 1],
                self._boards[ply - 1],
                self._positions[ply - 1],
                self._positions[ply],
                self.played(ply),
                self.gains(ply),
            )
        return held

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

    def needs(self, index: int) -> Iterator[RequestKind]:
        """What is missing at a position, and of the move to it unless that was the first choice."""
        held, before = self._positions[index], self._positions[index - 1] if index else None
        missing: dict[RequestKind, bool] = {
            "position": held is None,
            "played": before is not None and before.best is not None and self.played(index) is None,
            # Only where they are wanted, and the position itself was searched.
            "replies": index in self._wanted
            and held is not None
            and held.best is not None
            and self.replies(index) is None,
        }
        for kind, needed in missing.items():
            if needed and (kind, index) not in self._lost:
                yield kind

    def search(self, kind: RequestKind, index: int) -> Search:
        """The search that answers: a position, or the one before ``index`` restricted to it."""
        if kind == "replies":
            lines, limit = self._wanted[index]
            return Search(self._prefix(index), lines=lines, limit=limit)
        if kind == "position":
            return self._search_options.whole(self._prefix(index))
        before = self._positions[index - 1]
        return self._search_options.played(
            self._prefix(index - 1),
            self._moves[index - 1],
            before.depth if before is not None else None,
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


# --- requests -----------------------------------------------------------------------------------

Urgency = Literal["head", "closing", "backlog", "finished", "spare"]
"""The newest position of a running game, the last of one that has just ended, the rest of a running
game, a game that was over; and what no rating waits for."""


class SearchRequest(msgspec.Struct, frozen=True):
    """A search that the ledger needs. The same id again changes the urgency."""

    id: RequestId
    search: Search
    urgency: Urgency


class HumanRequest(msgspec.Struct, frozen=True):
    """A question for the network of human moves; it is answered, or given up, once."""

    game: GameId
    ply: int
    """The position's index."""
    question: HumanQuestion
    newest: bool = False
    """The last position of a running game: people look at it."""


class Outbox:
    """Collects what one piece of news leads to, in the order it must be carried out; all parts of
    the ledger share one.
    """

    def __init__(self) -> None:
        self.dropped: list[RequestId] = []
        """Requests whose results nobody needs any more."""
        self.requests: list[SearchRequest] = []
        self.changes: list[Change] = []
        """Messages that bring subscribers to the state after the news."""
        self.questions: list[HumanRequest] = []
        """For the network of human moves."""

    def clear(self) -> None:
        """Forget what was collected."""
        self.dropped, self.requests, self.changes, self.questions = [], [], [], []

    def take(self) -> Outbox:
        """All that was collected; nothing is held then."""
        taken = copy(self)
        self.clear()
        return taken


class OpenRequests:
    """The open requests of one game; each is sent once, and again with another urgency."""

    def __init__(self, game: GameId, outbox: Outbox) -> None:
        self._game = game
        self._outbox = outbox
        self._generation = 0
        self._open: dict[tuple[RequestKind, int], tuple[RequestId, Urgency]] = {}

    def __len__(self) -> int:
        """How many requests are open."""
        return len(self._open)

    @property
    def rating(self) -> bool:
        """Whether a figure waits for one of them; what says how hard a position is keeps no figure
        waiting.
        """
        return any(urgency != "spare" for _, urgency in self._open.values())

    def __contains__(self, request_id: RequestId) -> bool:
        known = self._open.get((request_id.kind, request_id.ply))
        return known is not None and known[0] == request_id

    def review(self, ply: int, urgency: Urgency, known: GameEvaluations) -> None:
        """Request whatever is missing at ``ply``."""
        for kind in known.needs(ply):
            open_ = self._open.get((kind, ply))
            now: Urgency = "spare" if kind == "replies" else urgency
            if open_ is None or open_[1] != now:
                id = open_[0] if open_ else RequestId(self._game, ply, kind, self._generation)
                self._open[kind, ply] = id, now
                self._outbox.requests.append(SearchRequest(id, known.search(kind, ply), now))

    def close(self, request_id: RequestId) -> bool:
        """Close the request; False for one that is not open, whose result is void."""
        if request_id not in self:
            return False
        del self._open[request_id.kind, request_id.ply]
        return True

    def drop_from(self, ply: int) -> None:
        """The plies from ``ply`` on are gone, and so are the requests for them."""
        self._generation += 1
        for key in [key for key in self._open if key[1] >= ply]:
            self._outbox.dropped.append(self._open.pop(key)[0])
