"""What is remembered of one board, as far as alerts need it. Pure."""

from __future__ import annotations

from functools import cached_property

import msgspec

from live.alerts.board.board_clocks import BoardClocks
from live.alerts.board.board_position import PositionTrack
from live.events import ClockMessage, Color, GameView, MoveMessage, PlyView, Result
from live.games.player_identity import same_person

#: More moves at once than this were made before they were reported: they say nothing of the pace.
LIVE_MOVES = 2
#: Moves of a board that come within so many seconds came at once: no two were waited for.
BURST_S = 0.02
#: When no board of a source has moved for so many times the mean wait of one, it is the source that
#: paused: no board is blamed for that time.
PAUSE_TIMES = 3.0


class Lapse(msgspec.Struct, frozen=True):
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


class ResultChange(msgspec.Struct, frozen=True):
    """A decided result does not stand any more."""

    was: Result
    at_s: float
    times: int


class MovePace:
    """How long a board waits between moves, as far as that was seen."""

    __slots__ = ("longest_s", "moves", "total_s")

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

    __slots__ = ("_ended_s", "_moved_s", "moves", "pace", "played_s", "timed_s")

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
        if self.timed_s <= 0:
            return 1.0
        return max(1.0, self.played_s / self.timed_s)

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
            self._by_mate = self._mate_result()
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
        self._by_mate = self._mate_result() or self._by_mate
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
        if self.moved_s is not None:
            self.moved_s += gap_s
        if self.result_s is not None:
            self.result_s += gap_s
        if self.dispute_s is not None:
            self.dispute_s += gap_s

    def _mate_result(self) -> Result | None:
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
