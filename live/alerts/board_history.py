"""What is remembered of one board, as far as alerts need it. Pure.

The position of a board, move by move, and what the rules say of it.

Of the past only the positions since the last capture or pawn move are kept.

The two clocks of a board, and what is odd about them; O(1) a move.

Measured over the board (336 games of an open with ``90+30``, clocks at every move): a clock shows
the very same second after three own moves in a row in no game but those whose clock was not
connected, and rises by up to 35 s more than the increment where the board was read a little late.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import chess
import msgspec

from live.alerts.finding import Finding
from live.events import (
    AlertKind,
    ClockMessage,
    Color,
    GameView,
    MoveMessage,
    PlyView,
    Result,
    Severity,
)
from live.games.player_identity import same_person

#: Turns without capture or pawn move, in plies (FIDE Laws 9.3).
FIFTY_PLIES = 100


class PositionTrack:
    """Follows one game. O(1) a move; a move replaced or taken back costs the game once more."""

    def __init__(self, start_fen: str, *, chess960: bool) -> None:
        self._start = chess.Board(start_fen, chess960=chess960)
        self._begin()

    def _begin(self) -> None:
        self.board = self._start.copy(stack=False)
        self.plies = 0
        self._forget()

    def cut(self, to_ply: int) -> None:
        """Only the first ``to_ply`` plies stand: all have to be followed again."""
        if to_ply < self.plies:
            self._begin()

    def _forget(self) -> None:
        for known in ("times", "third_time", "mated", "drawn"):
            self.__dict__.pop(known, None)

    def follow(self, moves: Sequence[str]) -> None:
        """Make the moves (UCI) after those made already."""
        for uci in moves[self.plies :]:
            self.board.push(chess.Move.from_uci(uci))
            self.plies += 1
            if self.board.halfmove_clock == 0:
                # No position before can come back.
                self.board.clear_stack()
        self._forget()

    @cached_property
    def times(self) -> int:
        """How often the position has stood, this time included."""
        times = 1
        while self.board.is_repetition(times + 1):
            times += 1
        return times

    @cached_property
    def third_time(self) -> chess.Move | None:
        """A move after which the position has stood three times or more; None if there is none."""
        for move in self.board.legal_moves:
            self.board.push(move)
            third = self.board.is_repetition(3)
            self.board.pop()
            if third:
                return move
        return None

    @cached_property
    def mated(self) -> bool:
        return self.board.is_checkmate()

    @cached_property
    def drawn(self) -> str:
        """Why the game is drawn by the rules whatever anybody claims; empty if it is not.

        (FIDE Laws 5.2.1 stalemate, 5.2.2 dead position, 9.6.1 fivefold repetition, 9.6.2 75 moves.)
        """
        board = self.board
        reasons = {
            "neither side can mate": board.is_insufficient_material,
            "the position has stood five times": board.is_fivefold_repetition,
            "it is stalemate": board.is_stalemate,
            "75 moves were made without a capture or a pawn move": board.is_seventyfive_moves,
        }
        return next((words for words, holds in reasons.items() if holds()), "")


#: Own moves in a row after which the clock showed the same second: a game with time to think, and
#: a fast one, where moves made in no time are nothing strange.
STILL_MOVES = 4
STILL_MOVES_FAST = 10
#: Own moves in a row that took no time at all, so the clock rose by the increment each time.
FREE_MOVES = 6
FREE_MOVES_FAST = 20
#: A game that begins with less is a fast one, seconds.
FAST_S = 600.0
#: A clock may be read this late: a share of the first clock, between these bounds, seconds.
LATE_SHARE, LATE_LEAST_S, LATE_MOST_S = 1 / 60, 5.0, 60.0
#: Own moves at which time controls end, give or take one: the clock may gain a whole period.
CONTROLS = (30, 35, 36, 40, 45, 50, 56, 60, 80)
#: With less left than this, seconds, the next period may begin at once: some clocks count no moves.
NEXT_PERIOD_S = 60.0
#: Largest increment anybody plays with, where nothing says which, seconds.
UNKNOWN_INCREMENT_S = 60.0

_INCREMENT = re.compile(r"\+\s*(\d{1,4}(?:\.\d+)?)(?![\d.]|\s*(?:m\b|min|'(?!')))", re.ASCII)
_A_MOVE = re.compile(r"(\d{1,4})\s*(?:s|sec|secs|seconds?|\"|″|'')\s*(?:/|per|a|each)\s*move", re.I)
_SUDDEN = re.compile(r"(?:\d+/\d+:)*(?:\d+/)?\d+")


def increment_s(time_control: str) -> float | None:
    """Seconds added a move, as far as a ``TimeControl`` says; None where it does not.

    PGN's own form (``5400+30``, ``40/5400+30:1800+30``, ``300``), minutes before the plus as
    broadcasts write them (``90+30``), and prose (``15 min/game + 10 sec/move``). The last number
    of ``90:30`` may be an increment or not: all but PGN's last period count moves.
    """
    text = time_control.strip()
    if found := _A_MOVE.search(text):
        return float(found[1])
    if plus := _INCREMENT.findall(text):
        return float(plus[-1])
    return 0.0 if _SUDDEN.fullmatch(text) else None


class ClockRise(NamedTuple):
    """A clock gained more than a move can give it."""

    ply: int
    from_s: float
    to_s: float
    over_s: float
    """More than the increment."""


class ClockReading(NamedTuple):
    """What the mover's clock showed after a ply."""

    ply: int
    clock_s: float
    still: int
    """Own moves in a row, up to this, that left the clock as it was."""
    free: int
    """Own moves in a row, up to this, that took no time."""
    rise: ClockRise | None


class BoardClocks:
    """The clocks after each move, from White's and Black's side."""

    def __init__(self, time_control: str, *, white_begins: bool = True) -> None:
        self.increment_s = increment_s(time_control)
        self._white_begins = white_begins
        self._sides: dict[Color, list[ClockReading]] = {"white": [], "black": []}

    def _side(self, ply: int) -> list[ClockReading]:
        return self._sides["white" if (ply % 2 == 1) == self._white_begins else "black"]

    def add(self, ply: int, clock_s: float | None) -> None:
        """The mover's clock after ``ply``, which is the latest."""
        if clock_s is None:
            return
        side, still, free, rise = self._side(ply), 0, 0, None
        if side:
            last = side[-1]
            gained_s = clock_s - last.clock_s
            still = last.still + 1 if gained_s == 0 else 0
            increment = self.increment_s
            if increment is not None and increment >= 2 and gained_s >= increment - 0.5:
                free = last.free + 1
            rise = self._rise(side, ply, clock_s)
        side.append(ClockReading(ply, clock_s, still, free, rise))

    def _rise(self, side: list[ClockReading], ply: int, clock_s: float) -> ClockRise | None:
        before_s = side[-1].clock_s
        increment = UNKNOWN_INCREMENT_S if self.increment_s is None else self.increment_s
        over_s = clock_s - before_s - increment
        late_s = min(LATE_MOST_S, max(LATE_LEAST_S, side[0].clock_s * LATE_SHARE))
        own_move = (ply + 1) // 2
        control = any(abs(own_move - each) <= 1 for each in CONTROLS) and over_s >= 300
        if over_s <= late_s or control or before_s < NEXT_PERIOD_S:
            return None
        return ClockRise(ply, before_s, clock_s, over_s)

    def cut(self, from_ply: int) -> None:
        """Plies from this one on do not stand."""
        for side in self._sides.values():
            while side and side[-1].ply >= from_ply:
                side.pop()

    def correct(self, ply: int, clock_s: float | None) -> None:
        """The clock after an earlier ply is another one: those of its side are looked at again."""
        side = self._side(ply)
        clocks = {each.ply: each.clock_s for each in side} | {ply: clock_s}
        side.clear()
        for at in sorted(clocks):
            self.add(at, clocks[at])

    def used_s(self, ply: int, clock_s: float | None) -> float | None:
        """What the mover of ``ply``, which comes next, used by this clock; None where that cannot
        be known: nothing before it, or more time than the increment added.
        """
        before = self._side(ply)
        if clock_s is None or not before or self.increment_s is None:
            return None
        used = before[-1].clock_s + self.increment_s - clock_s
        return used if used >= 0 else None

    # --- what is odd ----------------------------------------------------------------------------

    def last_s(self, color: Color) -> float | None:
        """What the clock showed after this side's last move that had one."""
        side = self._sides[color]
        return side[-1].clock_s if side else None

    def last_ply(self, color: Color) -> int:
        side = self._sides[color]
        return side[-1].ply if side else 0

    def unmoved(self, color: Color) -> int:
        """Own moves in a row that left the clock where it was or took no time, if too many."""
        side = self._sides[color]
        if not side:
            return 0
        fast, last = side[0].clock_s < FAST_S, side[-1]
        if last.still >= (STILL_MOVES_FAST if fast else STILL_MOVES):
            return last.still
        return last.free if last.free >= (FREE_MOVES_FAST if fast else FREE_MOVES) else 0

    def rises(self, color: Color) -> list[ClockRise]:
        """Every time this clock gained more than a move can give it."""
        return [each.rise for each in self._sides[color] if each.rise is not None]


#: More moves at once than this were made before they were reported: they say nothing of the pace.
LIVE_MOVES = 2
#: Moves of a board that come within so many seconds came at once: no two were waited for.
BURST_S = 0.02
#: When no board of a source has moved for so many times the mean wait of one, it is the source that
#: paused: no board is blamed for that time.
PAUSE_TIMES = 3.0


class Lapse(NamedTuple):
    """A move was reported that does not stand."""

    ply: int
    back: int
    """Plies that fell with it, itself counted."""
    was: str
    """SAN of the move that does not stand."""
    now: str | None
    """SAN of what stands there instead; null for a takeback."""
    at_s: float
    times: int
    plies: int
    """Moves that stood right after it."""


class ResultChange(NamedTuple):
    """A decided result does not stand any more."""

    was: Result
    at_s: float
    times: int


class MovePace:
    """How long a board waits between moves, as far as that was seen."""

    def __init__(self) -> None:
        self.moves = 0
        self.total_s = 0.0
        self.longest_s = 0.0

    def add(self, wait_s: float) -> None:
        self.moves += 1
        self.total_s += wait_s
        self.longest_s = max(self.longest_s, wait_s)

    @property
    def mean_s(self) -> float:
        return self.total_s / self.moves if self.moves else 0.0


class MoveFlow:
    """Moves of all boards of one source."""

    def __init__(self) -> None:
        self.moves = 0
        self._moved_s: float | None = None
        self._ended_s = 0.0
        self.pace = MovePace()
        self.played_s = 0.0
        """What players used by their clocks, over all waits of which that is known."""
        self.timed_s = 0.0
        """The same waits by our clock."""

    @property
    def speed(self) -> float:
        """How many seconds of the players' clocks pass in one of ours: 1 in a hall, more where
        games are played back fast.
        """
        return max(1.0, self.played_s / self.timed_s) if self.timed_s > 0 else 1.0

    def moved(self, now_s: float) -> None:
        """A move of some board was reported."""
        self._ended_s = self.paused_s(now_s)
        self._moved_s = now_s
        self.moves += 1

    def paused_s(self, now_s: float) -> float:
        """How long the source has paused by now, all its pauses together."""
        silent_s = 0.0 if self._moved_s is None else now_s - self._moved_s
        paused = self.pace.moves and silent_s > PAUSE_TIMES * self.pace.mean_s
        return self._ended_s + silent_s * bool(paused)

    def shift(self, gap_s: float) -> None:
        """The clock jumped by so much."""
        if self._moved_s is not None:
            self._moved_s += gap_s


class BoardHistory:
    """One game as it was reported, and when."""

    def __init__(self, view: GameView, flow: MoveFlow) -> None:
        self.view = view
        self.flow = flow
        self.moves: list[PlyView] = []
        self.clocks = BoardClocks(view.time_control, white_begins=self.white_begins)
        self.pace = MovePace()
        self.moved_s: float | None = None
        """When the last move was reported."""
        self.lapses: dict[str, Lapse] = {}
        """The last ``correction`` and the last ``takeback``."""
        self.ran = False
        """Whether it was seen without a result."""
        self.result_s: float | None = None
        """When the result was reported, if that was seen."""
        self.result_change: ResultChange | None = None
        """The last time that a decided result became another, unless a mate gave that result."""
        self.dispute_s: float | None = None
        """Since when its sources have contradicted each other."""
        self.swaps = 0
        """How often the players changed seats."""
        self.late_plies = 0
        """Moves reported after the result."""
        # What the last mate reported since the result changed makes the result: the rules give it
        # where the source says none, so it need not have been reported at all.
        self._by_mate: Result | None = None
        self._came = (0.0, 0)
        self._flow_then = 0
        self._paused_then_s = 0.0

    @cached_property
    def white_begins(self) -> bool:
        return self.view.start_fen.split()[1:2] != ["b"]

    @cached_property
    def track(self) -> PositionTrack:
        """The position, if somebody asks; call :meth:`position` to have it up to date."""
        return PositionTrack(self.view.start_fen, chess960=self.view.variant == "chess960")

    def position(self) -> PositionTrack:
        """Where the board stands now."""
        if self.track.plies < len(self.moves):
            self.track.follow([move.uci for move in self.moves])
        return self.track

    @property
    def running(self) -> bool:
        return self.view.result == "*"

    @property
    def label(self) -> str:
        """For people, at the beginning of a sentence."""
        if self.view.board is not None:
            return f"Board {self.view.board}"
        return f"{self.view.white.name} - {self.view.black.name}"

    def name(self, color: str) -> str:
        """Who has these pieces."""
        player = self.view.white if color == "white" else self.view.black
        return player.name or color.capitalize()

    def finding(
        self,
        kind: AlertKind,
        severity: Severity,
        text: str,
        advice: str,
        *,
        after: str = ": ",
        **more: Any,
    ) -> Finding:
        """Something is the matter with this board as it stands now, unless ``more`` gives another
        ply; ``text`` follows on its label and on ``after``, and has no full stop.
        """
        more = {"ply": len(self.moves), **more}
        text = f"{self.label}{after}{text}."
        return Finding(
            kind=kind, severity=severity, text=text, advice=advice, game=self.view.id, **more
        )

    @property
    def to_move(self) -> Color:
        return "white" if self.white_begins == (len(self.moves) % 2 == 0) else "black"

    @property
    def moves_elsewhere(self) -> int:
        """Moves of other boards of the same source since the last one here."""
        return self.flow.moves - self._flow_then

    def waited_s(self, now_s: float) -> float:
        """Since the last move, without the time in which the source paused."""
        if self.moved_s is None:
            return 0.0
        return now_s - self.moved_s - (self.flow.paused_s(now_s) - self._paused_then_s)

    # --- changes ---------------------------------------------------------------------------

    def show(self, view: GameView, now_s: float) -> None:
        """The game's view changed."""
        if not view.dispute:
            self.dispute_s = None
        elif self.dispute_s is None:
            self.dispute_s = now_s
        if view.result == "*":
            self.ran, self.result_s, self.late_plies = True, None, 0
        elif self.view.result != view.result and self.ran:
            self.result_s = now_s
        if self.view.result != view.result:
            if self.view.result not in ("*", self._by_mate):
                times = self.result_change.times + 1 if self.result_change else 1
                self.result_change = ResultChange(self.view.result, now_s, times)
            self._by_mate = self.mate_result
        old = self.view
        if same_person(view.white, old.black) and same_person(view.black, old.white):
            self.swaps += not same_person(view.white, old.white)
        if view.time_control != self.view.time_control:
            self.clocks = BoardClocks(view.time_control, white_begins=self.white_begins)
            for move in self.moves:
                self.clocks.add(move.ply, move.clock_s)
        self.view = view

    def move(self, message: MoveMessage, now_s: float) -> None:
        """A move is made, replaced or taken back."""
        ply, move = message.ply, message.move
        if ply <= len(self.moves):
            held = self.moves[ply - 1]
            if move is None or move.uci != held.uci:
                self._lapse(held, move, now_s)
                if "track" in self.__dict__:
                    self.track.cut(ply - 1)
            del self.moves[ply - 1 :]
            self.clocks.cut(ply)
        if move is None or ply != len(self.moves) + 1:
            return
        self.moves.append(move)
        self._by_mate = self.mate_result or self._by_mate
        used_s = self.clocks.used_s(ply, move.clock_s) if move.spent_s is None else move.spent_s
        self.clocks.add(ply, move.clock_s)
        if self.result_s is not None and now_s > self.result_s:
            self.late_plies += 1
        self._arrived(now_s, used_s)

    def clock(self, message: ClockMessage) -> None:
        """A clock is corrected."""
        if message.ply <= len(self.moves):
            self.moves[message.ply - 1] = msgspec.structs.replace(
                self.moves[message.ply - 1], clock_s=message.clock_s, spent_s=message.spent_s
            )
            self.clocks.correct(message.ply, message.clock_s)

    def shift(self, gap_s: float) -> None:
        """The clock jumped: what was waited for is waited for from here on."""
        for name in ("moved_s", "result_s", "dispute_s"):
            if (at_s := getattr(self, name)) is not None:
                setattr(self, name, at_s + gap_s)

    @property
    def mate_result(self) -> Result | None:
        """What a mate that stands on the board makes the result."""
        if not self.moves or not self.moves[-1].san.endswith("#"):
            return None
        return "0-1" if self.to_move == "white" else "1-0"

    def _lapse(self, held: PlyView, move: PlyView | None, now_s: float) -> None:
        kind = "takeback" if move is None else "correction"
        before = self.lapses.get(kind)
        self.lapses[kind] = Lapse(
            ply=held.ply,
            back=len(self.moves) - held.ply + 1,
            was=held.san,
            now=move.san if move else None,
            at_s=now_s,
            times=before.times + 1 if before else 1,
            plies=held.ply - (move is None),
        )

    def _arrived(self, now_s: float, used_s: float | None) -> None:
        """A move came: one of few is a sign of the pace, one of many was made before."""
        self.flow.moved(now_s)
        self._flow_then = self.flow.moves
        at_s, moves = self._came
        if 0 <= now_s - at_s <= BURST_S:
            self._came = (now_s, moves + 1)
            self._stands(now_s)
            return
        if self.moved_s is not None and 0 < moves <= LIVE_MOVES:
            waited_s = self.waited_s(now_s)
            for pace in (self.pace, self.flow.pace):
                pace.add(waited_s)
            if used_s is not None:
                self.flow.played_s += used_s
                self.flow.timed_s += waited_s
        self._came = (now_s, 1)
        self._stands(now_s)

    def _stands(self, now_s: float) -> None:
        """The board waits for its next move from now on."""
        self.moved_s = now_s
        self._paused_then_s = self.flow.paused_s(now_s)
