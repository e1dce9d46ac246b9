"""What happened at a board that its game does not show: plain values for the journal.

When something was reported, and what was reported and later withdrawn. Times are
seconds since 1970 UTC, on a clock that stops while nobody watches.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from live.messages.alerts import AlertKind
from live.messages.from_sources import Result
from live.messages.values import Color, GameId

#: A source has paused when none of its boards has moved for so many times the mean wait
#: of one: no board is blamed for that time.
PAUSE_TIMES = 3.0


class Lapse(NamedTuple):
    """A move was reported and then withdrawn."""

    ply: int
    back: int
    """Plies that were withdrawn, this one included."""
    was: str
    """SAN of the withdrawn move."""
    now: str | None
    """SAN of the move in its place; None for a takeback."""
    at_s: float
    times: int
    plies: int
    """Plies of the game right after it."""
    exchanged: bool = False
    """Two boards exchanged their moves with each other: one alert tells of both."""


class ResultChange(NamedTuple):
    """A decided result was changed or withdrawn."""

    was: Result
    at_s: float
    times: int


class MovePace(msgspec.Struct, omit_defaults=True):
    """How long was waited for moves, as far as that was seen."""

    moves: int = 0
    total_s: float = 0.0
    longest_s: float = 0.0

    def add(self, wait_s: float) -> None:
        """Count the wait for one move."""
        self.moves += 1
        self.total_s += wait_s
        self.longest_s = max(self.longest_s, wait_s)

    @property
    def mean_s(self) -> float:
        """The mean wait, seconds; 0 if no wait was seen."""
        return self.total_s / self.moves if self.moves else 0.0


class MoveFlow(msgspec.Struct, omit_defaults=True):
    """Moves of all boards of one source."""

    moves: int = 0
    moved_s: float | None = None
    ended_s: float = 0.0
    """How long it had paused by the last move, all pauses together."""
    pace: MovePace = msgspec.field(default_factory=MovePace)
    played_s: float = 0.0
    """What players used by their clocks, over all waits for which that is known."""
    timed_s: float = 0.0
    """The same waits by our clock."""

    @property
    def speed(self) -> float:
        """Seconds of players' clocks in one of ours: 1 in a hall, more in playback."""
        return max(1.0, self.played_s / self.timed_s) if self.timed_s > 0 else 1.0

    def add_move(self, now_s: float) -> None:
        """Count a move that some board has reported."""
        self.ended_s = self.measure_pauses_s(now_s)
        self.moved_s = now_s
        self.moves += 1

    def measure_pauses_s(self, now_s: float) -> float:
        """Return how long the source has paused until now, all pauses together."""
        if self.moved_s is None or not self.pace.moves:
            return self.ended_s
        silent_s = now_s - self.moved_s
        has_paused = silent_s > PAUSE_TIMES * self.pace.mean_s
        return self.ended_s + silent_s if has_paused else self.ended_s


class BoardMemory(msgspec.Struct, omit_defaults=True):
    """How the game at one board came about."""

    began_s: float | None = None
    """When the first move was reported."""
    moved_s: float | None = None
    """When the last move was reported."""
    came: int = 0
    """Moves that came with it, itself included."""
    pace: MovePace = msgspec.field(default_factory=MovePace)
    flow_then: int = 0
    """Moves of its source up to the last one here."""
    paused_then_s: float = 0.0
    """How long its source had paused by then."""
    lapses: dict[AlertKind, Lapse] = {}
    """The last ``correction`` and the last ``takeback``."""
    ran: bool = False
    """Whether it was seen without a result."""
    result_s: float | None = None
    """When the result was reported, if that was seen."""
    result_change: ResultChange | None = None
    """The last time that a decided result changed, unless it was that of a mate."""
    by_mate: Result | None = None
    """The result of the last mate since the result changed: where a source reports
    none, the rules give it."""
    dispute_s: float | None = None
    """Since when its sources have contradicted each other."""
    swaps: int = 0
    """How often the players changed seats."""
    result_line: tuple[str, ...] | None = None
    """The moves when the result was reported, UCI; None if that was not seen, or if
    those moves were another game's."""
    replaced: tuple[str, ...] = ()
    """The moves before the last correction, UCI."""
    exchanged_with: str = ""
    """The label of the board with which it exchanged its moves; empty at the other
    board, since one alert tells of both."""
    exchanged_game: GameId | None = None
    """The id of that board's game."""
    exchanges: int = 0
    """How often that happened."""
    fallen: dict[Color, int] = {}
    """Whose clock has shown 0:00 with no more time to come, and at which own ply."""
    read_s: float | None = None
    """When the clock of the player to move was read again since the last move."""
