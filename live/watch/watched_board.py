"""One board as the alert rules see it: its game, and the history of its reports. Pure.

The moves come from the game's record (:class:`live.event.game_record.GameRecord`).
Facts that the record lacks are in :class:`live.watch.board_memory.BoardMemory`. The
position and the clocks are computed from the moves.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any

import chess

from live.event.game_change import GameChange
from live.event.game_record import GameRecord
from live.event.rate_game import COLORS, count_common
from live.games.game import number_move
from live.games.player_identity import is_same_person
from live.messages.alerts import AlertKind, Severity
from live.messages.figures import PlyView
from live.messages.from_sources import Result
from live.messages.values import Color
from live.watch.board_memory import BoardMemory, Lapse, MoveFlow, ResultChange
from live.watch.finding import Finding
from live.watch.played_position import GameEnd, PlayedPosition
from live.watch.player_clock import (
    SideClock,
    read_increment_s,
    read_side_clock,
    read_time_controls,
)

#: Maximum number of moves in one report that are used to measure the pace. A larger
#: group was played some time before it was reported.
LIVE_MOVES = 2
#: Maximum time between moves of one board that count as reported together, seconds.
BURST_S = 0.02

#: Maximum number of withdrawn plies that count as a small slip of a sensor or an
#: operator.
SHALLOW_PLIES = 2
#: Number of plies after which an alert about a small slip ends.
SETTLED_PLIES = 6

#: Minimum number of equal plies that proves an exchange of boards. Fewer equal plies
#: can be a coincidence.
EXCHANGED_PLIES = 4

#: Fields of a game whose changes must be stored for the next run.
_REMEMBERED_BY = ("result", "dispute", "white", "black", "termination")


class WatchedBoard:
    """One game, and the history of its reports.

    Args:
        record: the record of the game.
        flow: the moves of its source.
        memory: the memory of this board from an earlier run, if there is one.
    """

    def __init__(
        self,
        record: GameRecord,
        flow: MoveFlow,
        memory: BoardMemory | None = None,
    ) -> None:
        self.record = record
        self.view = record.view
        """The game without its moves, at the time of the last :meth:`follow`."""
        self.flow = flow
        self.memory = BoardMemory() if memory is None else memory
        self.round_began_s: float | None = None
        """The time when half of the boards of its round had begun; None until the round
        counts as begun.
        """
        # Values that are computed from the moves when first needed.
        self._clocks: dict[Color, SideClock] = {}
        self._position: PlayedPosition | None = None

    @property
    def moves(self) -> Sequence[PlyView]:
        """All moves of the game. Access takes time proportional to their number."""
        return self.record.moves

    @property
    def ply_count(self) -> int:
        """The number of plies of the game."""
        return self.record.ply_count

    @property
    def last_move(self) -> PlyView | None:
        """The last move; None if no move was made."""
        return self.record.last_move

    @property
    def is_running(self) -> bool:
        """True if the game has no result."""
        return self.view.running

    @cached_property
    def white_begins(self) -> bool:
        """True if White makes the first move."""
        return self.view.start_fen.split()[1:2] != ["b"]

    @property
    def to_move(self) -> Color:
        """The side to move."""
        return "white" if self.white_begins == (self.ply_count % 2 == 0) else "black"

    def read_clock(self, color: Color) -> SideClock:
        """Return the summary of one side's clock readings."""
        if color not in self._clocks:
            first = 0 if self.white_begins == (color == "white") else 1
            readings = [
                (move.ply, move.clock_s)
                for move in self.moves[first::2]
                if move.clock_s is not None
            ]
            header = self.view.time_control
            self._clocks[color] = read_side_clock(
                readings,
                read_increment_s(header),
                read_time_controls(header),
                plies_before=chess.Board(self.view.start_fen).ply(),
            )
        return self._clocks[color]

    @property
    def position(self) -> PlayedPosition:
        """The position after the last move."""
        if self._position is None:
            self._position = PlayedPosition(
                self.view.start_fen,
                [move.uci for move in self.moves],
                chess960=self.view.variant == "chess960",
            )
        return self._position

    @property
    def end(self) -> GameEnd | None:
        """The end of the game by the rules, independently of the result that the source
        reports; None while it can go on.
        """
        return self.position.end if self.ply_count else None

    @property
    def mate_result(self) -> Result | None:
        """The result if the last move gives mate; otherwise None."""
        if self.last_move is None or not self.last_move.san.endswith("#"):
            return None
        return "0-1" if self.to_move == "white" else "1-0"

    @property
    def late_plies(self) -> int:
        """Number of plies that were added after the result was reported."""
        result_line = self.memory.result_line
        return 0 if result_line is None else max(0, self.ply_count - len(result_line))

    @property
    def moves_elsewhere(self) -> int:
        """Number of moves on the source's other boards since the last move here."""
        return self.flow.moves - self.memory.flow_then

    def measure_wait_s(self, now_s: float) -> float:
        """Return the seconds since the last move, without pauses of the source."""
        if self.memory.moved_s is None:
            return 0.0
        paused_s = self.flow.measure_pauses_s(now_s) - self.memory.paused_then_s
        return now_s - self.memory.moved_s - paused_s

    # --- words ---

    @property
    def label(self) -> str:
        """The name of the board, for the beginning of a sentence."""
        if self.view.board is not None:
            return f"Board {self.view.board}"
        return f"{self.view.white.name} - {self.view.black.name}"

    def name_player(self, color: Color) -> str:
        """Return the name of the player with these pieces."""
        player = self.view.white if color == "white" else self.view.black
        return player.name or color.capitalize()

    def number_move(self, ply: int) -> str:
        """Return a move's number as on a scoresheet: ``12.`` for White, ``12...`` for
        Black.
        """
        number, is_white = number_move(self.view, ply)
        return f"{number}{'.' if is_white else '...'}"

    def name_move(self, ply: int, space: str = " ") -> str:
        """Return a move as written on a scoresheet: ``12... Nf6``.

        ``space`` is put between the number and the move.
        """
        return f"{self.number_move(ply)}{space}{self.record.game.moves[ply - 1].san}"

    def describe_last_event(self) -> str:
        """Return a text with the result, or the last move if there is no result."""
        if not self.is_running:
            return self.view.result
        if not self.ply_count:
            return "there is no move now"
        return f"{self.name_move(self.ply_count, '')} is the last move"

    def build_finding(
        self,
        kind: AlertKind,
        severity: Severity,
        text: str,
        advice: str,
        *,
        after: str = ": ",
        color: Color | None = None,
        **fields: Any,
    ) -> Finding:
        """Return a finding about this board.

        Its text consists of the label, ``after``, ``text`` and a full stop. ``fields``
        are other fields of the finding; without ``ply``, the last ply is set.
        """
        return Finding(
            kind=kind,
            severity=severity,
            text=f"{self.label}{after}{text}.",
            advice=advice,
            game=self.view.id,
            color=color,
            player=self.name_player(color) if color else None,
            **{"ply": self.ply_count, **fields},
        )

    # --- changes ---

    def follow(
        self, change: GameChange | None, reread: Collection[int], now_s: float
    ) -> bool:
        """Update the board to the present game; return whether its memory changed.

        Args:
            change: the change of the game's moves; None if the moves did not change.
            reread: plies whose clock reading was corrected.
            now_s: the current time, seconds.
        """
        if change or reread:
            self._clocks.clear()
        if change is not None:
            self._follow_moves(change, now_s)
        is_changed = self._update_view(now_s)
        # The last clock reading of the player to move was taken after this ply.
        is_reread = self.ply_count - 1 in reread
        if change or is_reread:
            self.memory.read_s = None if change else now_s
        if change or self.memory.result_s == now_s:
            self._note_result_line(now_s)
        has_fallen = self._note_flags() if self.is_running else False
        return is_changed or change is not None or is_reread or has_fallen

    def _follow_moves(self, change: GameChange, now_s: float) -> None:
        moves = self.moves
        common_plies = change.from_ply - 1
        if change.withdrawn:
            self._position = None
            # A change from one source to another is not a correction.
            if not change.is_disputed:
                self._record_withdrawal(change, moves, now_s)
        if common_plies < len(moves):
            self._note_new_moves(moves, common_plies, now_s)
            self._forget_slips(len(moves))

    def _record_withdrawal(
        self, change: GameChange, moves: Sequence[PlyView], now_s: float
    ) -> None:
        """Record that moves were corrected or taken back; ``moves`` are the moves of
        the game as it is now.

        Moves that were withdrawn and played again in one batch are not recorded.
        """
        common_plies = change.from_ply - 1
        replayed_plies = count_common(
            change.withdrawn,
            moves[common_plies:],
            lambda before, now: before.uci == now.uci,
        )
        common_plies += replayed_plies
        withdrawn = change.withdrawn[replayed_plies:]
        if not withdrawn:
            return
        now = moves[common_plies].san if common_plies < len(moves) else None
        kind: AlertKind = "takeback" if now is None else "correction"
        last = self.memory.lapses.get(kind)
        if now is not None:
            before = [*moves[:common_plies], *withdrawn]
            self.memory.replaced = tuple(move.uci for move in before)
        self.memory.lapses[kind] = Lapse(
            common_plies + 1,
            len(withdrawn),
            withdrawn[0].san,
            now,
            now_s,
            times=last.times + 1 if last else 1,
            plies=common_plies + (now is not None),
        )

    def _forget_slips(self, plies: int) -> None:
        """Forget small slips if enough moves have been played since.

        ``plies`` is the present number of plies.
        """
        for kind, lapse in list(self.memory.lapses.items()):
            is_over = plies >= lapse.plies + SETTLED_PLIES
            if lapse.back <= SHALLOW_PLIES and is_over:
                del self.memory.lapses[kind]

    def _note_new_moves(
        self, moves: Sequence[PlyView], common_plies: int, now_s: float
    ) -> None:
        """Note the arrival of the moves that follow the first ``common_plies``."""
        # The time used is known only for the first of these moves.
        used_s = self._measure_used_s(moves, common_plies)
        for move in moves[common_plies:]:
            self._note_arrival(now_s, used_s)
            if self._position is not None:
                self._position.play(move.uci)

    def _measure_used_s(
        self, moves: Sequence[PlyView], common_plies: int
    ) -> float | None:
        """Return the time used for the move that follows the first ``common_plies``,
        seconds.

        Return None if it is unknown: a clock reading or the increment is missing, or
        the clock gained more than the increment.
        """
        move = moves[common_plies]
        own = (
            earlier.clock_s
            for earlier in moves[common_plies % 2 : common_plies : 2][::-1]
        )
        before_s = next((clock_s for clock_s in own if clock_s is not None), None)
        added_s = read_increment_s(self.view.time_control)
        if move.spent_s is not None:
            return move.spent_s
        if move.clock_s is None or before_s is None or added_s is None:
            return None
        used_s = before_s + added_s - move.clock_s
        return used_s if used_s >= 0 else None

    def _note_arrival(self, now_s: float, used_s: float | None) -> None:
        """Note that a move was reported; update the pace if at most :data:`LIVE_MOVES`
        moves came together before.

        ``used_s`` is the time that the player used by the clock, seconds; None if
        unknown.
        """
        memory = self.memory
        flow = self.flow
        flow.add_move(now_s)
        if memory.began_s is None:
            memory.began_s = now_s
        last_s = memory.moved_s
        if last_s is not None and 0 <= now_s - last_s <= BURST_S:
            memory.came += 1
        else:
            if last_s is not None and 0 < memory.came <= LIVE_MOVES:
                waited_s = self.measure_wait_s(now_s)
                memory.pace.add(waited_s)
                flow.pace.add(waited_s)
                if used_s is not None:
                    flow.played_s += used_s
                    flow.timed_s += waited_s
            memory.came = 1
        self._begin_wait(now_s)

    def _begin_wait(self, now_s: float) -> None:
        """Note that the wait for the next move begins now."""
        self.memory.moved_s = now_s
        self.memory.flow_then = self.flow.moves
        self.memory.paused_then_s = self.flow.measure_pauses_s(now_s)

    def _update_view(self, now_s: float) -> bool:
        """Update the view; return whether something changed that must be stored."""
        view = self.view
        memory = self.memory
        self.view = game = self.record.view
        if game.time_control != view.time_control:
            self._clocks.clear()
        if view.adjourned and not game.adjourned and memory.moved_s is not None:
            self._begin_wait(now_s)
        if not game.dispute:
            memory.dispute_s = None
        elif memory.dispute_s is None:
            memory.dispute_s = now_s
        self._note_result(view.result, now_s)
        if is_same_person(game.white, view.black):
            has_swapped = is_same_person(game.black, view.white)
            memory.swaps += has_swapped and not is_same_person(game.white, view.white)
        return any(
            getattr(game, name) != getattr(view, name) for name in _REMEMBERED_BY
        )

    def _note_result(self, before: Result, now_s: float) -> None:
        """Note whether the result changed; ``before`` is the previous result."""
        memory = self.memory
        result = self.view.result
        memory.by_mate = self.mate_result or memory.by_mate
        if self.is_running:
            memory.ran = True
            memory.result_s = memory.result_line = None
        elif before != result and memory.ran:
            memory.result_s = now_s
        if before != result:
            if before not in ("*", memory.by_mate):
                times = memory.result_change.times + 1 if memory.result_change else 1
                memory.result_change = ResultChange(before, now_s, times)
            memory.by_mate = self.mate_result

    def _note_result_line(self, now_s: float) -> None:
        """Note the moves at the time when the result was reported."""
        memory = self.memory
        line = tuple(move.uci for move in self.moves)
        # Moves that arrive at the same time as the result belong to the same report.
        if memory.result_s == now_s:
            memory.result_line = line
        result_line = memory.result_line or ()
        pairs = zip(result_line, line, strict=False)
        first = next(
            (index for index, (old_move, now) in enumerate(pairs) if old_move != now),
            None,
        )
        if first is not None:
            # A small difference is a corrected slip. A larger difference means that the
            # moves belonged to another game.
            is_slip = len(result_line) - first <= SHALLOW_PLIES
            memory.result_line = line if is_slip else None

    def _note_flags(self) -> bool:
        """Note the sides whose clock has shown 0:00; return whether this changed."""
        before = dict(self.memory.fallen)
        for color in COLORS:
            clock = self.read_clock(color)
            noted = before.get(color, 0)
            if clock.fallen > noted:
                self.memory.fallen[color] = clock.fallen
            elif noted and clock.period >= noted:
                del self.memory.fallen[color]
        return self.memory.fallen != before

    def note_exchange(self, other: WatchedBoard) -> bool:
        """Note an exchange of moves between two boards, or its reversal.

        Return whether each board now has the moves that the other board had before.
        """
        if not (self._has_moves_of(other) and other._has_moves_of(self)):
            return False
        for board in (self, other):
            lapses = board.memory.lapses
            lapses["correction"] = lapses["correction"]._replace(exchanged=True)
        for board, partner in ((self, other), (other, self)):
            if board.memory.exchanged_with == partner.label:
                board.memory.exchanged_with = ""
                return True
        first, second = sorted(
            (self, other), key=lambda board: (board.view.board or 0, board.label)
        )
        first.memory.exchanged_with = second.label
        first.memory.exchanged_game = second.view.id
        first.memory.exchanges += 1
        return True

    def _has_moves_of(self, other: WatchedBoard) -> bool:
        replaced = other.memory.replaced
        shared = min(len(replaced), self.ply_count)
        now = tuple(move.uci for move in self.moves[:shared])
        return shared >= EXCHANGED_PLIES and replaced[:shared] == now
