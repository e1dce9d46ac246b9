"""Endgames that are solved: Syzygy tables, where somebody has put them.

A position of few men then has a proven value instead of a search: won ±3900 as any forced mate
(Ferreira 2012, section 3), drawn 0. A move that keeps the value loses nothing, another one all.
Values are those of the fifty-move rule, counted from the position itself: a win that takes longer
is a draw. Where tables are used, scores no longer depend on engine and limit alone, so the limit
names them and no calibration fits.
"""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Final, Self

import chess
import chess.syzygy

from live.engine.search import Line, SearchKey, SearchResult
from live.errors import ConfigError
from live.events import MATE_CP, Score

#: The largest tables there are.
MOST_MEN: Final = 7
#: Positions remembered: a proof takes milliseconds, one for every move.
_KEPT: Final = 1_000

_Ranked = list[tuple[int, str]]


class SyzygyTables:
    """The tables of a folder (``*.rtbw``; with ``*.rtbz`` beside them wins are the shortest to
    the next capture or pawn move). Close after use.
    """

    def __init__(self, folder: Path) -> None:
        """Raises ConfigError where there are none."""
        self._tables = chess.syzygy.Tablebase()
        count = self._tables.add_directory(str(folder)) if folder.is_dir() else 0
        if not count:
            raise ConfigError(
                "engine.syzygy_path",
                f"there are no Syzygy tables (*.rtbw) in {folder}",
                "Name the folder that holds them, or leave it empty",
            )
        self._known: OrderedDict[tuple[str, bool], _Ranked | None] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._tables.close()

    def result(self, search_key: SearchKey) -> SearchResult | None:
        """What is proven, or None where no table says."""
        if sum(map(str.isalpha, search_key.fen.partition(" ")[0])) > MOST_MEN:
            # Known without setting up the board; no man is taken by the moves that are sent along.
            return None
        board = search_key.board()
        ranked = self._ranked(board)
        if not ranked:
            return None
        if search_key.only is not None:
            ranked = [each for each in ranked if each[1] == search_key.only]
        sign = 1 if board.turn == chess.WHITE else -1
        lines = tuple(Line(move, Score(sign * cp), 0) for cp, move in ranked)
        return SearchResult(
            score=lines[0].score,
            best=lines[0].move,
            depth=0,
            exact_best=lines[0].move,
            lines=lines[: search_key.lines] if search_key.lines > 1 else (),
        )

    def _ranked(self, board: chess.Board) -> _Ranked | None:
        """Every move with its value for the mover, best first; None where a table is missing."""
        key = (board.epd(), board.chess960)
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        try:
            found = sorted(
                (self._value(board, move) for move in board.legal_moves),
                key=lambda value: value[:2],
            )
        except KeyError:
            # What chess.syzygy raises for a missing table, too many men, or castling rights.
            ranked = None
        else:
            ranked = [(-cp, move) for cp, _, move in found]
        self._known[key] = ranked
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return ranked

    def _value(self, board: chess.Board, move: chess.Move) -> tuple[int, int, str]:
        """Value of a move for the opponent, how long it takes where that is known, and the move."""
        zeroing = board.is_zeroing(move)
        board.push(move)
        try:
            if board.is_checkmate():
                return -MATE_CP, -1, move.uci()
            if board.is_stalemate() or board.is_insufficient_material():
                return 0, 0, move.uci()
            wdl = self._tables.probe_wdl(board)
            cp = MATE_CP * ((wdl == 2) - (wdl == -2))
            distance = 0
            if cp and not zeroing:
                # A loss for the opponent should come soon, a win of his late; his own distance is
                # negative when he loses.
                distance = -(self._tables.get_dtz(board, 0) or 0)
            return cp, distance, move.uci()
        finally:
            board.pop()
