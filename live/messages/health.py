"""How sources, engines and the public delay are doing."""

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
    """How a source is doing, or a part of the service that is in trouble."""

    feed: FeedName
    state: FeedState
    detail: str = ""
    """For people: what is wrong and what happens next."""
    part: bool = False
    """Not a source but a part of the service, shown only while it fails and is started
    again."""


part_health = partial(FeedHealth, part=True)

HealthReport = Callable[[FeedHealth], None]


class EngineState(Value):
    """One engine process, as people see it."""

    index: int
    state: Literal["starting", "idle", "searching", "restarting", "failed"]
    knodes_per_s: float | None = None
    searching: str = ""
    """For people: the game and ply being searched."""
    depth: int | None = None
    """Reached in the running search, or in the last one."""


class QueueLengths(Value):
    """Searches that wait for an engine, by class, most urgent first."""

    head: int = 0
    """The newest positions of running games, and what their last moves need."""
    backlog: int = 0
    finished: int = 0
    """Of games that were over when they were first seen."""
    speculate: int = 0
    closing: int = 0
    """Of games that have just ended; they come after the newest positions of running
    ones."""


class SpeculationFigures(Value):
    """What searching ahead of the moves was good for so far."""

    hits: int = 0
    """Searches a new move needed that had been made before it came."""
    misses: int = 0
    """Searches a new move needed that had not."""


class MeasuringProgress(Value):
    """How far an engine that no calibration knows is measured."""

    done: int
    """Reference positions searched."""
    of: int
    """How many there are."""


class HumanHealth(Value):
    """How the network of human moves is doing."""

    network: str = ""
    """Which one; empty until it is loaded."""
    learned_from: str = ""
    """For people: whose games."""
    waiting: int = 0
    """Positions not yet answered."""
    answered: int = 0
    left_out: int = 0
    """Positions given up because too many waited."""
    ms_per_position: float | None = None
    """All ratings asked for, of the last hundreds of positions."""
    problem: str = ""
    """For people: why there is none."""


class PublicDelay(Value):
    """How far the public is behind the arbiters, who see everything at once."""

    delay_s: float = 0.0
    held_moves: int = 0
    """Moves that wait to be shown."""
    held_boards: int = 0
    """Boards that they were played on."""


class EngineHealth(Value):
    engines: tuple[EngineState, ...] = ()
    queued: int = 0
    """Searches somebody waits for; those ahead of the moves are in ``waiting`` only."""
    oldest_wait_s: float = 0.0
    """Of those somebody waits for."""
    searches: int = 0
    """Made, those ahead of the moves included."""
    cache_hits: int = 0
    """Searches asked for whose result was known already."""
    restarts: int = 0
    set_aside: int = 0
    """Positions given up after engines died over them."""
    asked: int = 0
    """Searches asked for, those ahead of the moves not counted: ``cache_hits`` of them
    were known."""
    waiting: QueueLengths = QueueLengths()
    speculation: SpeculationFigures | None = None
    """Null when switched off."""
    problem: str = ""
    """For people: what the engines have to do without, and why."""
    behind: str = ""
    """For people: how many moves figures are behind the boards, and what helps; empty
    where the engines keep up."""
    measuring: MeasuringProgress | None = None
    """While the engine in use is compared with that of the calibrations; else null."""
    human: HumanHealth | None = None
    """Null when switched off."""
