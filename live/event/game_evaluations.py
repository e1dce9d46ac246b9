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
from live.games.game import side_to_play
from live.human.question import HumanQuestion
from live.messages.figures import GainKind
from live.messages.from_sources import MATE_CP, Score
from live.messages.to_clients import Change
from live.messages.values import Color, GameId, Value
from live.ratings.accuracy import LICHESS_START
from live.ratings.ferreira import compute_same_search_gain, compute_successive_gain
from live.ratings.perceived_model import Board, describe_board

RequestKind = Literal["position", "played", "replies"]


class RequestId(Value, gc=False):
    """Which request this is: the result comes back with it."""

    game: GameId
    ply: int
    """The position's index (of ``position`` and ``replies``), or the ply of the move played."""
    kind: RequestKind
    generation: int
    """Counts the changes of the game's past: the result of an older request is dropped."""


class EvaluatedPosition(Value):
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


class Gains(Value):
    """Both gains of a ply, mover's side; None while unknown or for ever."""

    same_search_cp: int | None
    successive_cp: int | None

    def of(self, kind: GainKind) -> int | None:
        return self.same_search_cp if kind == "same-search" else self.successive_cp


class KnownMove(Value):
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


class SearchedPosition(msgspec.Struct):
    """All that is known of one position, and of the move that led to it."""

    found: EvaluatedPosition | None
    fen: str
    uci: str = ""
    board: Board | None = None
    """What the board showed before the move."""
    taken: bool = False
    """The move took something."""
    played: Score | None = None
    """Of the move, by a search of its own."""
    lost: frozenset[RequestKind] = frozenset()
    """What will never come."""
    wanted: tuple[int, Limit] | None = None
    """How many lines are searched, and under which limit, where replies are wanted."""
    replies: dict[str, int] | None = None
    """White's score of each reply that was searched, centipawns."""


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
        self._at = [SearchedPosition(self._by_rule(), start_fen)]
        # Moves as last put together, where nothing has changed since.
        self._known: dict[int, KnownMove] = {}

    def __len__(self) -> int:
        """How many plies."""
        return len(self._at) - 1

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
        return side_to_play(self.start_fen, ply)

    # --- the moves ------------------------------------------------------------------------------

    def extend(self, uci: str) -> None:
        """One more move; its resulting position is scored at once when the game ends by rule."""
        board = self.board
        repeated = board.halfmove_clock > 3 and board.is_repetition(2)
        before = describe_board(board, taken=self._at[-1].taken, repeated=repeated)
        move = board.parse_uci(uci)
        taken = board.is_capture(move)
        board.push(move)
        self._at.append(SearchedPosition(self._by_rule(), board.fen(), uci, before, taken))

    def truncate(self, ply: int) -> None:
        """Forget every move after ``ply`` and all that was known of them."""
        while len(self) > ply:
            self._known.pop(len(self), None)
            self._at.pop()
            self.board.pop()

    def look(self) -> tuple[SearchedPosition, ...]:
        """What is known now."""
        return tuple(self._at)

    def learn(self, look: Sequence[SearchedPosition]) -> None:
        """Know what was known of the same moves, which begin here.

        Raises:
            ValueError: they do not fit.
        """
        for each in look[1:]:
            self.board.push_uci(each.uci)
        self._at = list(look)

    # --- what becomes known ---------------------------------------------------------------------

    def set_position(self, index: int, evaluated: EvaluatedPosition) -> None:
        self._at[index].found = evaluated
        for ply in (index, index + 1):
            self._known.pop(ply, None)

    def take_source_eval(self, index: int, score: Score | None) -> None:
        """The source's own evaluation of a position, or None: then there will never be one."""
        if self._at[index].found is not None:
            return  # over by rule
        if score is None:
            self.give_up("position", index)
        else:
            self.set_position(index, EvaluatedPosition(score, None))

    def set_played(self, ply: int, score: Score) -> None:
        self._at[ply].played = score
        self._known.pop(ply, None)

    def want_replies(self, index: int, wanted: tuple[int, Limit]) -> None:
        """What the moves of a position lose is wanted: once its score is known, so many lines are
        searched under a limit, unless its own search had several.
        """
        self._at[index].wanted = wanted

    def set_replies(self, index: int, lines: Sequence[Line]) -> None:
        self._at[index].replies = {line.move: line.score.cp for line in lines}

    def give_up(self, kind: RequestKind, index: int) -> None:
        """This score will never come: its gains stay unknown and nothing waits for them."""
        self._at[index].lost |= {kind}

    def position(self, index: int) -> EvaluatedPosition | None:
        return self._at[index].found

    def fen(self, index: int) -> str:
        return self._at[index].fen

    def moves(self, first: int, last: int) -> tuple[str, ...]:
        """The moves between two positions, UCI."""
        return tuple(each.uci for each in self._at[first + 1 : last + 1])

    def replies(self, index: int) -> dict[str, int] | None:
        """White's score of each reply that was searched beside others, centipawns, by UCI."""
        here = self._at[index]
        if here.found is not None and len(here.found.lines) > 1:
            return {line.move: line.score.cp for line in here.found.lines}
        return here.replies

    def is_forced(self, index: int) -> bool:
        """Whether a position leaves exactly one legal move."""
        board = self._at[index + 1].board if index < len(self) else None
        if board is not None:
            return board.is_forced
        return len(list(islice(self.board.generate_legal_moves(), 2))) == 1

    def collect_known(self) -> KnownGame:
        """Return all that is known now, for ratings."""
        first = self._at[0]
        start = first.found.score if first.found else None
        if start is None and "position" in first.lost and self.start_fen == chess.STARTING_FEN:
            start = LICHESS_START
        return KnownGame(start, [self.known_move(ply) for ply in range(1, len(self) + 1)])

    def known_move(self, ply: int) -> KnownMove:
        """All that is known of one move."""
        if ply not in self._known:
            here, before = self._at[ply], self._at[ply - 1].found
            assert here.board is not None  # it has a move
            self._known[ply] = KnownMove(
                *(ply, self.mover(ply), here.uci, here.board, before, here.found),
                *(self.played(ply), self._gains(ply)),
            )
        return self._known[ply]

    def played(self, ply: int) -> Score | None:
        """Score of the move played, as far as it needs no search of its own or had it."""
        before, here = self._at[ply - 1].found, self._at[ply]
        if before is None:
            return None
        if before.best is not None and before.best == here.uci:
            return before.score
        if here.found is not None and here.found.by_rule:
            return here.found.score
        for line in before.lines:
            if line.move == here.uci:
                return line.score
        return here.played

    def _gains(self, ply: int) -> Gains:
        before, after, mover = self._at[ply - 1].found, self._at[ply].found, self.mover(ply)
        if before is None:
            return Gains(None, None)
        same: int | None = None
        played = self.played(ply)
        if played is not None and before.best is not None:
            same = compute_same_search_gain(before.score, played, mover)
        elif before.by_rule:
            same = 0  # played on in a dead position: nothing left to gain or lose
        successive = (
            None if after is None else compute_successive_gain(before.score, after.score, mover)
        )
        return Gains(same, successive)

    # --- what is needed -------------------------------------------------------------------------

    def needs(self, index: int) -> Iterator[RequestKind]:
        """What is missing at a position, and of the move to it unless that was the first choice."""
        here, before = self._at[index], self._at[index - 1].found if index else None
        chosen = before is not None and before.best is not None
        searched = here.found is not None and here.found.best is not None
        missing: dict[RequestKind, object] = {
            "position": here.found is None,
            "played": chosen and self.played(index) is None,
            "replies": here.wanted and searched and self.replies(index) is None,
        }
        return (kind for kind, needed in missing.items() if needed and kind not in here.lost)

    def search(self, kind: RequestKind, index: int) -> Search:
        """The search that answers: a position, or the one before ``index`` restricted to it."""
        here = self._at[index]
        if kind == "replies" and here.wanted is not None:
            lines, limit = here.wanted
            return Search(self._prefix(index), lines=lines, limit=limit)
        if kind == "position":
            return self._search_options.search_of_position(self._prefix(index))
        before = self._at[index - 1].found
        depth = before.depth if before is not None else None
        return self._search_options.search_of_move(self._prefix(index - 1), here.uci, depth)

    def _prefix(self, index: int) -> Position:
        return Position(self.start_fen, self.moves(0, index), self.chess960)


# --- requests -----------------------------------------------------------------------------------

Urgency = Literal["head", "closing", "backlog", "finished", "spare"]
"""The newest position of a running game, the last of one that has just ended, the rest of a running
game, a game that was over; and what no rating waits for."""


class SearchRequest(Value):
    """A search that the ledger needs. The same id again changes the urgency."""

    id: RequestId
    search: Search
    urgency: Urgency


class HumanRequest(Value):
    """A question for the network of human moves; it is answered, or given up, once."""

    game: GameId
    ply: int
    """The position's index."""
    question: HumanQuestion
    newest: bool = False
    """The last position of a running game: people look at it."""


class Outbox(msgspec.Struct):
    """Collects what one piece of news leads to, in the order it must be carried out; all parts of
    the ledger share one.
    """

    dropped: list[RequestId] = []
    """Requests whose results nobody needs any more."""
    requests: list[SearchRequest] = []
    changes: list[Change] = []
    """Messages that bring subscribers to the state after the news."""
    questions: list[HumanRequest] = []
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
