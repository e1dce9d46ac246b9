"""Facts about a board that its game record does not contain, as values for the journal.

These facts are the times of reports, and moves and results that were reported and later
withdrawn. Times are seconds since 1970 UTC, on a clock that stops while the service
does not run.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from live.messages.alerts import AlertKind
from live.messages.from_sources import Result
from live.messages.values import Color, GameId

#: Minimum silence that counts as a pause of the source, as a multiple of the mean wait
#: for a move at one board. A pause does not count as waiting time at any board.
PAUSE_TIMES = 3.0


class Lapse(NamedTuple):
    """A move that was reported and then withdrawn."""

    ply: int
    back: int
    """Number of plies that were withdrawn, including this one."""
    was: str
    """SAN of the withdrawn move."""
    now: str | None
    """SAN of the move that replaced it; None for a takeback."""
    at_s: float
    times: int
    plies: int
    """Number of plies of the game right after the change."""
    exchanged: bool = False
    """True if two boards exchanged their moves: a separate alert reports that."""


class ResultChange(NamedTuple):
    """A decided result that was changed or withdrawn."""

    was: Result
    at_s: float
    times: int


class MovePace(msgspec.Struct, omit_defaults=True):
    """Number, total and maximum of the observed waiting times for moves."""

    moves: int = 0
    total_s: float = 0.0
    longest_s: float = 0.0

    def add(self, wait_s: float) -> None:
        """Add the wait for one move."""
        self.moves += 1
        self.total_s += wait_s
        self.longest_s = max(self.longest_s, wait_s)

    @property
    def mean_s(self) -> float:
        """The mean wait, seconds; 0 if no wait was observed."""
        return self.total_s / self.moves if self.moves else 0.0


class MoveFlow(msgspec.Struct, omit_defaults=True):
    """The moves of all boards of one source: number, pace and pauses."""

    moves: int = 0
    moved_s: float | None = None
    ended_s: float = 0.0
    """Total length of the pauses that ended by the source's last move, seconds."""
    pace: MovePace = msgspec.field(default_factory=MovePace)
    played_s: float = 0.0
    """Time that players used by their own clocks, over all waits for which it is known,
    seconds.
    """
    timed_s: float = 0.0
    """Total real time of the waits that ``played_s`` includes, seconds."""

    @property
    def speed(self) -> float:
        """Seconds on the players' clocks per second of real time; at least 1.

        It is 1 for a live event, and more when recorded games are played back fast.
        """
        return max(1.0, self.played_s / self.timed_s) if self.timed_s > 0 else 1.0

    def add_move(self, now_s: float) -> None:
        """Count a move that a board of this source has reported."""
        self.ended_s = self.measure_pauses_s(now_s)
        self.moved_s = now_s
        self.moves += 1

    def measure_pauses_s(self, now_s: float) -> float:
        """Return the total length of the source's pauses up to now, seconds."""
        if self.moved_s is None or not self.pace.moves:
            return self.ended_s
        silent_s = now_s - self.moved_s
        has_paused = silent_s > PAUSE_TIMES * self.pace.mean_s
        return self.ended_s + silent_s if has_paused else self.ended_s


class BoardMemory(msgspec.Struct, omit_defaults=True):
    """The history of the reports about the game at one board."""

    began_s: float | None = None
    """The time when the first move was reported."""
    moved_s: float | None = None
    """The time when the last move was reported."""
    came: int = 0
    """Number of moves that were reported together with the last move, including it."""
    pace: MovePace = msgspec.field(default_factory=MovePace)
    flow_then: int = 0
    """Number of moves of all boards of the source at the time of this board's last
    move.
    """
    paused_then_s: float = 0.0
    """Total length of the source's pauses at the time of this board's last move,
    seconds.
    """
    lapses: dict[AlertKind, Lapse] = {}
    """The last ``correction`` and the last ``takeback``, by kind."""
    ran: bool = False
    """True if the game has been in progress while the service watched it."""
    result_s: float | None = None
    """The time when the result was reported; None if this was not observed."""
    result_change: ResultChange | None = None
    """The last change of a decided result; None if there was none, or if only the
    result of a mate was changed.
    """
    by_mate: Result | None = None
    """The result of the last mate since the result last changed. If the source reports
    no result, the rules of chess give this one.
    """
    dispute_s: float | None = None
    """The time since which the sources of the game have contradicted each other."""
    swaps: int = 0
    """Number of times that the players changed colours."""
    result_line: tuple[str, ...] | None = None
    """The moves at the time when the result was reported, UCI; None if that time is
    unknown, or if those moves belonged to another game.
    """
    replaced: tuple[str, ...] = ()
    """The moves before the last correction, UCI."""
    exchanged_with: str = ""
    """The label of the board with which this one exchanged its moves. It is set at only
    one of the two boards, since one alert reports the exchange.
    """
    exchanged_game: GameId | None = None
    """The id of the game at the board named in ``exchanged_with``."""
    exchanges: int = 0
    """Number of times that the board has exchanged its moves with another."""
    fallen: dict[Color, int] = {}
    """For each side whose clock has shown 0:00 with no further time period: the ply at
    which it showed 0:00.
    """
    read_s: float | None = None
    """The time when the clock of the player to move was corrected after the last move;
    None if it was not corrected.
    """
