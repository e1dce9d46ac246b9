"""Files that something beside the loop makes, so that it waits for none of them. Shell.

Whoever asks for what is being made already waits for that; what was made is kept for a few seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Coroutine, Hashable, Sequence
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from live.events import SnapshotMessage
from live.operating_system import own_group


class ExportFailed(Exception):
    """Why there is no such file now: short, in lower case, without a full stop."""


class ExportedFile(msgspec.Struct, frozen=True):
    """A download."""

    media_type: str
    body: bytes


class EventExports(Protocol):
    """Whoever makes them, beside the loop."""

    @property
    def exports(self) -> Sequence[str]:
        """Names of those that there are."""

    async def export(self, name: str, event: SnapshotMessage) -> ExportedFile:
        """The event as that file. Raises ExportFailed."""


#: Whoever looks at pictures and tables takes no time from the engines.
_NICE: Final = 10


class ChildAnswer(NamedTuple):
    """How a program ended, and what it wrote."""

    code: int | None
    body: bytes
    said: str
    """On standard error."""


async def child_answer(program: Sequence[str], asked: bytes, limit_s: float) -> ChildAnswer:
    """What Python answers that is started with these arguments; it is killed where nobody waits.

    Raises TimeoutError where it takes longer than ``limit_s``.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", *program),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        **own_group(_NICE),
    )
    try:
        async with asyncio.timeout(limit_s):
            body, said = await process.communicate(asked)
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return ChildAnswer(process.returncode, body, said.decode("utf-8", "replace").strip())


def step_back() -> None:
    """Give this program the low priority; on Windows whoever started it has done so."""
    if sys.platform != "win32":
        os.nice(_NICE)


#: What was made is given again for so long, seconds.
KEPT_S: Final = 5.0
#: So many different files are made or kept at once.
MOST: Final = 16


class SharedMaking:
    """Makes each file once for all who ask at the same time."""

    def __init__(
        self, clock: Callable[[], float], *, kept_s: float = KEPT_S, most: int = MOST
    ) -> None:
        self._clock = clock
        self._kept_s, self._most = kept_s, most
        self._made: dict[Hashable, tuple[float, asyncio.Task[ExportedFile]]] = {}

    async def get(
        self, key: Hashable, make: Callable[[], Coroutine[Any, Any, ExportedFile]]
    ) -> ExportedFile:
        """What ``make`` makes, or made lately.

        Raises:
            ExportFailed: so many others are being made.
            Exception: what ``make`` raises.
        """
        now_s = self._clock()
        for old, (at_s, task) in list(self._made.items()):
            if task.done() and not 0 <= now_s - at_s < self._kept_s:
                del self._made[old]
        if key not in self._made:
            while len(self._made) >= self._most:
                done = next((old for old, (_, task) in self._made.items() if task.done()), None)
                if done is None:
                    raise ExportFailed("too many files are being made")
                del self._made[done]
            self._made[key] = now_s, begun(make())
        # Who goes away leaves the others waiting for it.
        return await asyncio.shield(self._made[key][1])


def begun(making: Coroutine[Any, Any, ExportedFile]) -> asyncio.Task[ExportedFile]:
    """A task whose failure is looked at even where nobody waits for it any more, so that asyncio
    does not complain.
    """
    task = asyncio.ensure_future(making)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task
