"""Tasks that wait until something has become true."""

import asyncio
from collections.abc import Callable


class Waiters:
    """Tasks that wait for conditions.

    Code that changes such a condition must call :meth:`wake`.
    """

    def __init__(self) -> None:
        self._changed = asyncio.Event()

    def wake(self) -> None:
        """Make every waiting task check its condition again."""
        self._changed.set()

    async def wait_until(self, is_true: Callable[[], bool]) -> None:
        """Return once ``is_true`` returns True."""
        while not is_true():
            self._changed.clear()
            await self._changed.wait()
