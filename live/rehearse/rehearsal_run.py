"""``live-rate rehearse``: a rehearsal from start to end, with its progress shown. Shell."""

from __future__ import annotations

import asyncio
import errno
import shlex
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from live.errors import InputError, PortInUse
from live.events import GameReport
from live.feeds.game_timeline import GameMoment, timeline
from live.feeds.simulated_board_mistakes import Mistake
from live.rehearse.open_rehearsal import Protocols, open_rehearsal
from live.rehearse.planned_faults import incidents
from live.rehearse.planned_faults import mistakes as lasting


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
