"""``live-rate rehearse``."""

import enum
from pathlib import Path
from typing import Annotated, Literal

from live.commands.command_options import (
    Ended,
    Port,
    Within,
)

Protocol = Literal["lichess", "pgn-url", "folder"]
"""How games are sent."""


class Mistake(enum.StrEnum):
    """What ``rehearse`` gets wrong when asked; the names of the alerts that say so."""

    ILLEGAL_MOVE = "illegal-move"
    UNREADABLE = "unreadable"
    CLOCK_STILL = "clock-still"
    CLOCK_RISING = "clock-rising"
    FLAG = "flag"
    STALE = "stale"
    LAST_MOVE = "last-move"
    LATE_MOVE = "late-move"
    RESULT = "result"


def rehearse(
    pgn: Path,
    *,
    as_: Protocol = "lichess",
    speed: Annotated[float, Within(0.001)] = 1.0,
    mistake: list[Mistake] | None = None,
    round: str = "",
    host: str = "127.0.0.1",
    port: Port = 0,
    to: str = "",
    linger: Annotated[float, Within(0)] = 60.0,
) -> Ended:
    """Play games back as a real broadcast: the real protocol, with the games' own
    clocks.

    Options:
        pgn: Finished games, best with clocks.
        as_: The protocol to play them back over.
        speed: [X] How many times as fast as played. Overlays count real seconds: 1
            shows them as on the day.
        mistake: What an alert is for, in the middle of the first game; again for the
            next.
        round: [N] Only this round of the file.
        to: [FOLDER] With folder: one that stays.
        linger: [SECONDS] Stay after the last result.
    """
    from live.jobs.analyze_games import rehearse as play_back

    return play_back(
        pgn,
        as_,
        speed=speed,
        mistakes=[each.value for each in mistake or ()],
        round_name=round,
        host=host,
        port=port,
        to=to,
        linger_s=linger,
    )
