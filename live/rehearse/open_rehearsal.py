"""``live-rate rehearse``: a rehearsal from start to end, with its progress shown. Shell.

From the name after ``--as`` to the rehearsal that speaks that protocol.
"""

from __future__ import annotations

import asyncio
import errno
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from live.clock import Clock
from live.errors import InputError, PortInUse
from live.events import GameReport
from live.feeds.game_timeline import GameMoment, Mistake, timeline
from live.feeds.source_address import mqtt_address
from live.rehearse.rehearsal import Rehearsal, connections, incidents, mishaps, requests
from live.rehearse.rehearsal import mistakes as lasting


async def rehearse(
    games: Sequence[GameReport],
    protocol: Protocols,
    *,
    speed: float = 1.0,
    seed: int | None = None,
    mistakes: Sequence[Mistake] = (),
    host: str = "127.0.0.1",
    port: int = 0,
    to: str = "",
    linger_s: float = 60.0,
) -> None:
    """Play games back over one protocol; returns ``linger_s`` after the last result.

    The line to follow it with goes to standard output, progress to standard error.

    Raises:
        InputError: the target cannot be used.
        PortInUse: somebody else serves there.
    """
    rehearsal = open_rehearsal(protocol, games, seed=seed, to=to)
    wrong = [*incidents(seed, games), *lasting(mistakes, games)]
    moments = len(timeline(games, incidents=wrong))
    try:
        async with rehearsal.serving(host, port) as spec:
            Console().print(
                f"live-rate --feed {shlex.quote(spec)}",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )
            with _progress() as bar:
                task = bar.add_task(f"{len(games)} games", total=moments, last="")

                def shown(moment: GameMoment) -> None:
                    told = moment.report
                    board = told.headers.round or str(moment.game + 1)
                    last = told.moves[-1].san if told.moves else ""
                    bar.update(task, advance=1, last=f"{board}: {last} {told.result}")

                await rehearsal.play(speed, wrong, shown)
                bar.update(task, completed=moments, last=f"over, serving {linger_s:g} s more")
                await asyncio.sleep(linger_s)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(f"{host}:{port}", "is taken", "Choose another --port") from None
        raise InputError(
            "rehearse", f"cannot serve there ({error.strerror})", "Check --host, --port and --to"
        ) from None


def _progress() -> Progress:
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[last]}", markup=False),
        console=console,
        disable=not console.is_terminal,
    )


Protocols = Literal["lichess", "pgn-url", "dgt-board", "mqtt", "folder"]
PROTOCOLS: tuple[Protocols, ...] = get_args(Protocols)


def open_rehearsal(
    protocol: Protocols,
    games: Sequence[GameReport],
    *,
    seed: int | None = None,
    to: str = "",
    clock: Clock | None = None,
) -> Rehearsal:
    """A rehearsal of ``games``, with the faults that ``seed`` decides (None: none).

    ``to`` names a broker for ``mqtt`` (``mqtt://HOST/TOPIC``) and a folder for ``folder``; where
    it is empty, one of our own is used.

    Raises:
        InputError: ``to`` is no broker's address, or means nothing for this protocol.
    """
    if to and protocol not in ("mqtt", "folder"):
        raise InputError("--to", f"means nothing for {protocol}", "It is for mqtt and folder")
    if protocol in ("lichess", "pgn-url"):
        from live.rehearse.web_servers import LichessRehearsal, PgnUrlRehearsal

        if protocol == "lichess":
            return LichessRehearsal(games, clock=clock, fates=connections(seed))
        return PgnUrlRehearsal(games, clock=clock, fates=requests(seed))
    from live.rehearse import hall_sources  # brings libraries that the others do without

    wrong = mishaps(seed)
    match protocol:
        case "dgt-board":
            return hall_sources.DgtBoardRehearsal(games, clock=clock, mishaps=wrong)
        case "folder":
            folder = Path(to).expanduser() if to else None
            return hall_sources.FolderRehearsal(games, folder=folder, clock=clock, mishaps=wrong)
    broker = mqtt_address(to) if to else None
    if to and broker is None:
        raise InputError("--to", "is no broker's address", "It looks like mqtt://HOST/TOPIC")
    return hall_sources.MqttRehearsal(games, broker=broker, clock=clock, mishaps=wrong)
