"""One position of a game with the move that led to it, their scores, and their gains.

Position ``k`` is the position after ``k`` plies. Ply ``k`` leads from position ``k -
1`` to position ``k``. A game of n moves needs n + 1 searches of positions. Each move
that was not the engine's first choice also needs one search restricted to that move
(Alliot 2017, section 3.3). A short search of several lines (``replies``) finds how much
the moves that people would play in a position lose.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, starmap
from typing import Any, NamedTuple

import chess
import msgspec

from live.engine.requests import RequestKind
from live.engine.search import (
    Limit,
    Line,
    Position,
    Search,
    SearchOptions,
    SearchProgress,
    SearchResult,
)
from live.human.difficulty import Difficulty
from live.human.question import HumanAnswer
from live.messages.figures import ComplexityView, GainKind, PlyView
from live.messages.from_sources import MATE_CP, Move, Score
from live.messages.values import Color, Value
from live.ratings.accuracy import LICHESS_START
from live.ratings.complexity import measure_complexity
from live.ratings.gains import compute_same_search_gain, compute_successive_gain
from live.ratings.move_circumstances import Board, describe_board


class EvaluatedPosition(Value):
    """A position with its final score."""

    score: Score
    best: str | None
    """The engine's first choice, UCI; None if the score came without a move (from the
    rules of chess or from ``[%eval]``).
    """
    depth: int | None = None
    by_depth: tuple[Score | None, ...] = ()
    by_rule: bool = False
    """True if the game ended in this position and the rules of chess gave the score."""
    lines: tuple[Line, ...] = ()
    """The best lines, if the search was for several lines."""

    @classmethod
    def from_result(cls, result: SearchResult) -> EvaluatedPosition:
        return cls(
            result.score,
            result.best,
            result.depth,
            result.by_depth,
            lines=result.lines,
        )


class Gains(Value):
    """The two gains of a ply, centipawns, from the mover's side.

    A gain is None while it is unknown, or permanently if it cannot be known.
    """

    same_search_cp: int | None
    successive_cp: int | None

    def of(self, kind: GainKind) -> int | None:
        return self.same_search_cp if kind == "same-search" else self.successive_cp


class KnownMove(Value):
    """One move with all its final scores.

    The object is replaced when a score changes.
    """

    ply: int
    mover: Color
    uci: str
    board: Board
    """Facts about the board before the move."""
    before: EvaluatedPosition | None
    after: EvaluatedPosition | None
    played: Score | None
    """Score of the move played; None while its own search is missing."""
    gains: Gains


class KnownGame(NamedTuple):
    """All results of searches about one game."""

    start: Score | None
    """White's score of the starting position. If the search of the usual starting
    position has failed, it is the value that lichess uses.
    """
    moves: Sequence[KnownMove]


class KeptPly(msgspec.Struct, omit_defaults=True):
    """A position and the move that led to it, as stored in the archive."""

    view: PlyView
    """The move as subscribers see it. At the start of the game: ply 0
    without a move.
    """
    fen: str
    board: Board | None = None
    """Facts about the board before the move."""
    is_capture: bool = False
    found: EvaluatedPosition | None = None
    played: Score | None = None
    """Score of the move by its own search."""
    lost: frozenset[RequestKind] = frozenset()
    """Kinds of search that have failed and are not repeated."""
    failure: str = ""
    """Reason why the position or the move has no score, as text for people."""
    answer: HumanAnswer | None = None
    """Predicted human moves in the position."""
    wanted: tuple[int, Limit] | None = None
    """Number of lines and limit of the search for replies; None if no such search is
    needed.
    """
    replies: dict[str, int] | None = None
    """White's score of each reply that was searched, centipawns, by UCI."""


class Ply(KeptPly):
    """A position and the move that led to it, in a game that is being followed."""

    move: KnownMove | None = None
    """The move with its scores; None when it must be built again."""
    progress: SearchProgress | None = None
    """Progress of the running search of the position."""
    difficulties: dict[str, tuple[object, tuple[Difficulty, ...]]] = {}
    """Difficulties of the position for every rating of the question, with the data from
    which they were computed.

    The key is the UCI of a move that only its own search showed to lose nothing; empty
    for none.
    """

    @property
    def to_move(self) -> Color:
        return "white" if " w " in self.fen else "black"

    def get_replies(self) -> dict[str, int] | None:
        """Return White's score of each searched reply, centipawns, by UCI; None if
        unknown.
        """
        if self.found is not None and len(self.found.lines) > 1:
            return {line.move: line.score.cp for line in self.found.lines}
        return self.replies


def start_game(start_fen: str, board: chess.Board) -> Ply:
    """Return the starting position of a game from its board."""
    return Ply(PlyView(0, "", ""), start_fen, found=score_by_rule(board))


def play_move(board: chess.Board, before: Ply, view: PlyView) -> Ply:
    """Play a move on ``board``; return the position after it."""
    is_repeated = board.halfmove_clock > 3 and board.is_repetition(2)
    description = describe_board(
        board, is_after_capture=before.is_capture, repeated=is_repeated
    )
    move = board.parse_uci(view.uci)
    is_capture = board.is_capture(move)
    board.push(move)
    return Ply(view, board.fen(), description, is_capture, score_by_rule(board))


def list_moves(plies: Sequence[Ply], first: int, last: int) -> tuple[str, ...]:
    """Return the moves from position ``first`` to position ``last``, UCI."""
    return tuple(ply.view.uci for ply in plies[first + 1 : last + 1])


def set_found(plies: Sequence[Ply], index: int, evaluation: EvaluatedPosition) -> None:
    """Set the score of a position."""
    plies[index].found = evaluation
    # The move to this position and the move after it depend on its score.
    for ply in plies[index : index + 2]:
        ply.move = None


def set_source_eval(plies: Sequence[Ply], index: int, score: Score | None) -> None:
    """Set the source's own score of a position; None means that the source
    gives none.
    """
    ply = plies[index]
    if ply.found is not None:
        return  # the rules of chess have scored this position
    if score is None:
        ply.lost |= {"position"}
    else:
        set_found(plies, index, EvaluatedPosition(score, None))


def set_played(ply: Ply, score: Score) -> None:
    """Set the score of the move played, from its own search."""
    ply.played = score
    ply.move = None


def score_by_rule(board: chess.Board) -> EvaluatedPosition | None:
    """Return the score of a finished position by the rules of chess.

    Return None if play can continue. Checkmate is ±3900 centipawns; stalemate and a
    dead position are 0 (mate as in Ferreira 2012, section 3).
    """
    if board.is_checkmate():
        cp = -MATE_CP if board.turn == chess.WHITE else MATE_CP
        return EvaluatedPosition(Score(cp=cp, mate=0), None, by_rule=True)
    if board.is_stalemate() or board.is_insufficient_material():
        return EvaluatedPosition(Score(cp=0), None, by_rule=True)
    return None


def find_played_score(before: Ply, ply: Ply) -> Score | None:
    """Return the score of the move played; None if its own search is still needed."""
    if before.found is None:
        return None
    if before.found.best is not None and before.found.best == ply.view.uci:
        return before.found.score
    if ply.found is not None and ply.found.by_rule:
        return ply.found.score
    for line in before.found.lines:
        if line.move == ply.view.uci:
            return line.score
    return ply.played


def compute_gains(before: Ply, ply: Ply, played: Score | None) -> Gains:
    """Return the gains of the move that leads from one position to the next."""
    evaluation = before.found
    if evaluation is None:
        return Gains(None, None)
    same_search_cp: int | None = None
    if played is not None and evaluation.best is not None:
        same_search_cp = compute_same_search_gain(
            evaluation.score, played, before.to_move
        )
    elif evaluation.by_rule:
        same_search_cp = 0  # moves after the end of the game do not count
    successive_cp: int | None = None
    if ply.found is not None:
        after = ply.found.score
        successive_cp = compute_successive_gain(evaluation.score, after, before.to_move)
    return Gains(same_search_cp, successive_cp)


def describe_move(before: Ply, ply: Ply) -> KnownMove:
    """Return the move between two consecutive positions, with all its final scores."""
    if ply.move is None:
        assert ply.board is not None, "the start of the game is no move"
        played = find_played_score(before, ply)
        ply.move = KnownMove(
            ply.view.ply,
            before.to_move,
            ply.view.uci,
            ply.board,
            before.found,
            ply.found,
            played,
            compute_gains(before, ply, played),
        )
    return ply.move


def collect_search_results(plies: Sequence[Ply]) -> KnownGame:
    """Return all results of searches about a game."""
    first = plies[0]
    start = first.found.score if first.found else None
    is_usual = first.fen == chess.STARTING_FEN
    if start is None and "position" in first.lost and is_usual:
        start = LICHESS_START
    return KnownGame(start, list(starmap(describe_move, pairwise(plies))))


def list_missing(before: Ply | None, ply: Ply) -> list[RequestKind]:
    """Return the kinds of search that a position or the move that led to it still
    needs.
    """
    has_first_choice = ply.found is not None and ply.found.best is not None
    had_first_choice = (
        before is not None
        and before.found is not None
        and before.found.best is not None
    )
    missing: list[RequestKind] = []
    if ply.found is None:
        missing.append("position")
    if before and had_first_choice and find_played_score(before, ply) is None:
        missing.append("played")
    if ply.wanted and has_first_choice and ply.get_replies() is None:
        missing.append("replies")
    return [kind for kind in missing if kind not in ply.lost]


def build_search(
    plies: Sequence[Ply],
    kind: RequestKind,
    index: int,
    options: SearchOptions,
    *,
    chess960: bool,
) -> Search:
    """Return the search of position ``index``, or of the move that led to it."""
    ply = plies[index]
    last = index - 1 if kind == "played" else index
    position = Position(plies[0].fen, list_moves(plies, 0, last), chess960)
    if kind == "replies" and ply.wanted is not None:
        lines, limit = ply.wanted
        return Search(position, lines=lines, limit=limit)
    if kind == "position":
        return options.search_of_position(position)
    before = plies[last].found
    depth = before.depth if before is not None else None
    return options.search_of_move(position, ply.view.uci, depth)


# --- as subscribers see it ------------------------------------------------------------


def build_unscored_view(ply: int, move: Move | PlyView) -> PlyView:
    """Return a ply as its source reports it, without scores."""
    return PlyView(
        ply=ply,
        san=move.san,
        uci=move.uci,
        clock_s=move.clock_s,
        spent_s=move.spent_s,
    )


def collect_score_fields(
    move: KnownMove, progress: SearchProgress | None, gain: GainKind
) -> dict[str, Any]:
    """Return the fields of a ply's view that follow from searches.

    A provisional score is shown only while there is no final score.
    """
    evaluation = move.after or progress
    hard = measure_complexity(move.after.by_depth) if move.after else None
    complexity = None
    if hard is not None:
        stability_cp = round(hard.stability_cp, 1)
        complexity = ComplexityView(stability_cp, hard.jump_cp, hard.jump_depth)
    return {
        "score_cp": evaluation.score.cp if evaluation else None,
        "mate": evaluation.score.mate if evaluation else None,
        "depth": evaluation.depth if evaluation else None,
        "final": move.after is not None,
        "best": move.before.best if move.before else None,
        "played_cp": move.played.cp if move.played else None,
        "gain_cp": move.gains.of(gain),
        "gain_same_search_cp": move.gains.same_search_cp,
        "gain_successive_cp": move.gains.successive_cp,
        "complexity": complexity,
    }
