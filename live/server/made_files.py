"""Files created on request, only once for all requests at the same time."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from typing import Any

from live.messages.values import Value
from live.process.clock import ReadClock
from live.server.http_values import LATER, REVALIDATE, HttpResponse, problem, respond


class ExportFailed(Exception):
    """A file could not be created. The text is a short reason in lower case, without a
    full stop.
    """


class ExportedFile(Value):
    """A file that is sent as a response."""

    media_type: str
    body: bytes


#: Time for which a finished file is reused, seconds.
KEEP_S = 5.0
#: Maximum number of files that are being created or kept.
MAX_FILES = 64


async def respond_with_file(making: Awaitable[ExportedFile], name: str) -> HttpResponse:
    """Return the file as a response, or a response with the reason if it failed."""
    try:
        file = await making
    except ExportFailed as error:
        return problem(503, f"{name}: {error}", LATER)
    return respond(200, file.media_type, file.body, REVALIDATE)


class SingleFlight:
    """Creates each file only once for all requests at the same time."""

    def __init__(self, clock: ReadClock) -> None:
        self._clock = clock
        self._files: dict[Hashable, tuple[float, asyncio.Task[ExportedFile]]] = {}

    async def get(
        self, key: Hashable, make: Callable[[], Coroutine[Any, Any, ExportedFile]]
    ) -> ExportedFile:
        """Return the file for a key, and call ``make`` to create it if necessary.

        A file that was created within the last :data:`KEEP_S` seconds is reused.

        Raises:
            ExportFailed: too many other files are being created.
            Exception: any error that ``make`` raises.
        """
        now_s = self._clock()
        for old, (at_s, task) in list(self._files.items()):
            full = len(self._files) >= MAX_FILES and key not in self._files
            if task.done() and (full or not 0 <= now_s - at_s < KEEP_S):
                del self._files[old]
        if key not in self._files:
            if len(self._files) >= MAX_FILES:
                raise ExportFailed("too many files are being made")
            self._files[key] = now_s, asyncio.ensure_future(make())
        # A client that disconnects must not cancel the work for the others.
        return await asyncio.shield(self._files[key][1])
