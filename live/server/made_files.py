"""Files that are made beside the event loop, once for all who ask at the same time."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from typing import Any

from live.messages.values import Value
from live.process.clock import ReadClock
from live.server.http_values import LATER, REVALIDATE, HttpResponse, problem, respond


class ExportFailed(Exception):
    """Why there is no such file now: short, in lower case, without a full stop."""


class ExportedFile(Value):
    """A download."""

    media_type: str
    body: bytes


#: How long a finished file is given out again, seconds.
KEEP_S = 5.0
#: Most files that are being made or kept at once.
MAX_FILES = 64


async def respond_with_file(making: Awaitable[ExportedFile], name: str) -> HttpResponse:
    """Return the file as a response, or why it could not be made."""
    try:
        made = await making
    except ExportFailed as error:
        return problem(503, f"{name}: {error}", LATER)
    return respond(200, made.media_type, made.body, REVALIDATE)


class SingleFlight:
    """Makes each file once for all who ask at the same time."""

    def __init__(self, clock: ReadClock) -> None:
        self._clock = clock
        self._made: dict[Hashable, tuple[float, asyncio.Task[ExportedFile]]] = {}

    async def get(
        self, key: Hashable, make: Callable[[], Coroutine[Any, Any, ExportedFile]]
    ) -> ExportedFile:
        """Return what ``make`` makes, or has made within :data:`KEEP_S`.

        Raises:
            ExportFailed: so many others are being made.
            Exception: what ``make`` raises.
        """
        now_s = self._clock()
        for old, (at_s, task) in list(self._made.items()):
            full = len(self._made) >= MAX_FILES and key not in self._made
            if task.done() and (full or not 0 <= now_s - at_s < KEEP_S):
                del self._made[old]
        if key not in self._made:
            if len(self._made) >= MAX_FILES:
                raise ExportFailed("too many files are being made")
            self._made[key] = now_s, asyncio.ensure_future(make())
        # A client that disconnects must not cancel it for the others.
        return await asyncio.shield(self._made[key][1])
