"""Moves that a source sends as a list of texts, all of them each time. Pure.

A move sent before is only compared, so a resend costs little more than its new moves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import chess
import msgspec

from live.events import STANDS, GameReport, Move
from live.feeds.san import MAX_PLIES, MoveReader, UnplayableMove, after_illegal

#: Moves after an illegal one that show that the game went on from it.
PROOF_PLIES = 2

_UCI = re.compile(r"[a-h][1-8][a-h][1-8][qrbnQRBN]?")


class ListedMove(NamedTuple):
    """One move as sent: SAN or UCI, with the mover's clock after it and the time it took."""

    text: str
    clock_s: float | None = None
    spent_s: float | None = None


class ListedMoves:
    """The moves of one game; give each list to :meth:`set`."""

    def __init__(self) -> None:
        self.moves: list[Move] = []
        self.problem: str | None = None
        """Why the last list could not be played to its end."""
        self._texts: list[str] = []
        self._start: tuple[str, bool] | None = None
        self._mover = MoveReader(chess.Board())

    def set(self, start: chess.Board, told: Iterable[ListedMove]) -> None:
        """All moves so far from ``start``, which is left alone. An illegal one ends the game there.

        Moves sent before need O(1) legality checks, however many they are.
        """
        self.problem = None
        if (start.fen(), start.chess960) != self._start:
            self._start = (start.fen(), start.chess960)
            self._mover = MoveReader(start.copy(stack=False))
            self.moves, self._texts = [], []
        ply = 0
        for ply, each in enumerate(told, start=1):
            if ply > MAX_PLIES:
                return
            if ply <= len(self._texts) and self._texts[ply - 1] != each.text:
                self._back_to(ply - 1)
            if ply <= len(self._texts):
                held = self.moves[ply - 1]
                if (held.clock_s, held.spent_s) != each[1:]:
                    self.moves[ply - 1] = msgspec.structs.replace(
                        held, clock_s=each.clock_s, spent_s=each.spent_s
                    )
                continue
            try:
                uci, san = self._play(each.text)
            except UnplayableMove as error:
                self.problem = f"{error} at ply {ply}"
                return
            self._texts.append(each.text)
            self.moves.append(Move(uci, san, each.clock_s, each.spent_s))
        self._back_to(ply)

    def _play(self, text: str) -> tuple[str, str]:
        if _UCI.fullmatch(text):
            return self._mover.play_uci(text.lower())
        return self._mover.play_san(text)

    def _back_to(self, plies: int) -> None:
        if plies == len(self.moves):
            return
        board = self._mover.board
        for _ in range(len(self.moves) - plies):
            board.pop()
        self._mover = MoveReader(board)
        del self.moves[plies:], self._texts[plies:]


def with_going_on(
    report: GameReport, told: Sequence[ListedMove], *, who: str = ""
) -> tuple[GameReport, ...]:
    """The game, and what follows an illegal move in it as a game of its own.

    The laws let such a move stand when the game went on (FIDE Laws 7.5 and A.4), and
    :data:`PROOF_PLIES` more moves that fit the position behind it show that it did. Engines and
    ratings need games in which every move is legal, so the game is two.

    Args:
        report: up to the illegal move, with the ``problem`` that names it.
        told: all moves as the source sent them.
        who: names the game among those of its source, where the report has no key.
    """
    plies = len(report.moves)
    if report.problem is None or plies >= len(told):
        return (report,)
    board = chess.Board(report.start_fen, chess960=report.headers.variant == "chess960")
    for move in report.moves:
        board.push_uci(move.uci)
    after = after_illegal(board, told[plies].text)
    if after is None:
        return (report,)
    rest = ListedMoves()
    rest.set(after, told[plies + 1 :])
    if len(rest.moves) < PROOF_PLIES:
        return (report,)
    going_on = msgspec.structs.replace(
        report,
        key=f"{report.key or who} from ply {plies + 1}",
        start_fen=after.fen(),
        moves=tuple(rest.moves),
        problem=rest.problem,
    )
    return msgspec.structs.replace(report, problem=f"{report.problem} {STANDS}"), going_on
