"""Files and data created on request; simultaneous requests share one result."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

from live.messages.values import Value
from live.process.clock import ReadClock

Made = TypeVar("Made")


class ExportFailed(Exception):
    """A file could not be created. The text is a short reason in lower case, without a
    full stop.
    """


class ExportedFile(Value):
    """A file that is sent as a response."""

    media_type: str
    body: bytes


#: Time for which a finished value is reused, seconds.
KEEP_S = 5.0
#: Maximum number of values that are being created or are stored.
MAX_FILES = 64


class SingleFlight(Generic[Made]):
    """Creates each value once; simultaneous requests share the result."""

    def __init__(self, clock: ReadClock) -> None:
        self._clock = clock
        self._files: dict[Hashable, tuple[float, asyncio.Task[Made]]] = {}

    async def get(
        self, key: Hashable, make: Callable[[], Coroutine[Any, Any, Made]]
    ) -> Made:
        """Return the value for a key, and call ``make`` to create it if necessary.

        A value that was created within the last :data:`KEEP_S` seconds is reused.

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
