"""The health of sources and engines, and the state of the public delay."""

from collections.abc import Callable
from functools import partial
from typing import Literal

from live.messages.values import FeedName, Value

FeedState = Literal[
    "connecting", "waiting", "live", "stale", "retrying", "failed", "finished"
]

DIRECTOR = "director"

NOTIFICATIONS = "notifications"

ARBITERS_NOTIFICATIONS = "notifications of arbiters"

GAME_PART = "game "

PRODUCERS_PARTS = frozenset({DIRECTOR, NOTIFICATIONS, ARBITERS_NOTIFICATIONS})


class FeedHealth(Value):
    """The health of a source, or of a part of the service that has a problem."""

    feed: FeedName
    state: FeedState
    detail: str = ""
    """Text for people: the problem, and what happens next."""
    part: bool = False
    """True for a part of the service that is not a source. It is shown only while it
    has a problem."""


part_health = partial(FeedHealth, part=True)

HealthReport = Callable[[FeedHealth], None]


class EngineState(Value):
    """The state of one engine process, for display."""

    index: int
    state: Literal["starting", "idle", "searching", "restarting", "failed"]
    knodes_per_s: float | None = None
    searching: str = ""
    """Text for people: the game and ply that is being searched."""
    depth: int | None = None
    """Depth reached in the present search, or else in the last one."""


class QueueLengths(Value):
    """Numbers of searches that wait for an engine, by class."""

    head: int = 0
    """Searches of the newest positions of games in progress, and searches needed for
    the figures of their last moves."""
    backlog: int = 0
    """Searches of earlier positions of games in progress."""
    finished: int = 0
    """Searches of games that had already ended when they were first seen."""
    speculate: int = 0
    """Searches ahead of the moves: of positions that can arise next."""
    closing: int = 0
    """Searches of games that have just ended; they are the most urgent after ``head``.
    """


class SpeculationFigures(Value):
    """How often searching ahead of the moves has been useful so far."""

    hits: int = 0
    """Number of searches needed for a new move that were done before the move came."""
    misses: int = 0
    """Number of searches needed for a new move that were not done before."""


class MeasuringProgress(Value):
    """The progress in measuring an engine for which there is no calibration."""

    done: int
    """Number of reference positions searched so far."""
    of: int
    """Number of all reference positions."""


class HumanHealth(Value):
    """The health of the neural network of human moves."""

    network: str = ""
    """Name of the neural network; empty until it is loaded."""
    learned_from: str = ""
    """Text for people: the games on which it was trained."""
    waiting: int = 0
    """Number of positions that wait for an answer."""
    answered: int = 0
    """Number of positions answered so far."""
    left_out: int = 0
    """Number of positions given up because too many were waiting."""
    ms_per_position: float | None = None
    """Mean time for a position with all ratings asked for, milliseconds, over the last
    few hundred positions."""
    problem: str = ""
    """Text for people: why the neural network is not available."""


class PublicDelay(Value):
    """The delay of the public view; arbiters see everything at once."""

    delay_s: float = 0.0
    """The delay, seconds."""
    held_moves: int = 0
    """Number of moves that the public does not see yet."""
    held_boards: int = 0
    """Number of boards with moves that the public does not see yet."""


class EngineHealth(Value):
    """The health of all engines, and figures about their searches."""

    engines: tuple[EngineState, ...] = ()
    queued: int = 0
    """Number of searches in the queue that are needed now. Searches ahead of the moves
    are counted in ``waiting`` only."""
    oldest_wait_s: float = 0.0
    """Longest time that a search counted in ``queued`` has waited, seconds."""
    searches: int = 0
    """Number of searches done, including those ahead of the moves."""
    cache_hits: int = 0
    """Number of requested searches whose result was already known."""
    restarts: int = 0
    """Number of times that an engine was restarted."""
    set_aside: int = 0
    """Number of positions given up because engines crashed on them."""
    asked: int = 0
    """Number of requested searches, without those ahead of the moves. It includes the
    searches counted in ``cache_hits``."""
    waiting: QueueLengths = QueueLengths()
    speculation: SpeculationFigures | None = None
    """Figures about searching ahead of the moves; null if it is switched off."""
    problem: str = ""
    """Text for people: what is not available to the engines, and why."""
    behind: str = ""
    """Text for people: by how many moves the figures are behind the boards, and what
    helps; empty if the engines keep up."""
    measuring: MeasuringProgress | None = None
    """Progress in comparing the engine in use with the engine of the calibrations. All
    figures can change until it is null."""
    human: HumanHealth | None = None
    """Health of the neural network of human moves; null if it is switched off."""
