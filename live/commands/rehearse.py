"""The command ``live-rate rehearse``."""

import enum
from pathlib import Path
from typing import Annotated, Literal

from live.commands.command_options import Port, Within
from live.errors import InputError

Protocol = Literal["lichess", "pgn-url", "folder"]
"""Protocols over which games can be played back."""


class Mistake(enum.StrEnum):
    """Mistakes that ``rehearse`` can make on request, named like the alerts that report
    them. An enumeration, because Typer accepts no list of a Literal.
    """

    ILLEGAL_MOVE = "illegal-move"
    UNREADABLE = "unreadable"
    CLOCK_STILL = "clock-still"
    CLOCK_RISING = "clock-rising"
    FLAG = "flag"
    STALE = "stale"
    LAST_MOVE = "last-move"
    LATE_MOVE = "late-move"
    RESULT = "result"


async def rehearse(
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
) -> int:
    """Play games back as a real broadcast: the real protocol, with the games' own
    clocks.

    Options:
        pgn: Finished games, best with clocks.
        as_: The protocol to play them back over.
        speed: [X] How many times as fast as played. Overlays count real seconds: 1
            shows them as on the day.
        mistake: [NAME] Make a mistake in the middle of the first game, to see its
            alert; repeat the option for the next games. illegal-move, unreadable,
            clock-still, clock-rising, flag, stale, last-move, late-move or result.
        round: [N] Only this round of the file.
        to: [FOLDER] With folder: write here, and keep the files.
        linger: [SECONDS] Continue for so long after the last result.
    """
    import asyncio

    import msgspec

    from live.games.rounds import normalise_round
    from live.process.signals import (
        derive_exit_code,
        run_until_stopped,
        stop_on_signals,
    )
    from live.rehearse.rehearsal import rehearse as play_back
    from live.sources.game_timeline import Mistake as MistakeName
    from live.sources.pgn_file import read_pgn_file

    games = read_pgn_file(pgn).games
    if round:
        number = normalise_round(round)
        games = tuple(
            game for game in games if normalise_round(game.headers.round) == number
        )
    if not games:
        remedy = "Look at its Round tags"
        raise InputError(str(pgn), f"has no round {round}", remedy)
    mistakes = [kind.value for kind in mistake or ()]
    playback = play_back(
        games,
        as_,
        speed=speed,
        mistakes=msgspec.convert(mistakes, list[MistakeName]),
        host=host,
        port=port,
        to=to,
        linger_s=linger,
    )
    # SIGTERM ends it as Ctrl-C does, so that no temporary folder is left.
    stop = asyncio.Event()
    with stop_on_signals(stop) as signals:
        await run_until_stopped(playback, stop)
    return derive_exit_code(signals)
