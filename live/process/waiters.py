"""Tasks that wait until something has become true."""

import asyncio
from collections.abc import Callable


class Waiters:
    """Tasks that wait; whoever changes what they wait for wakes them."""

    def __init__(self) -> None:
        self._changed = asyncio.Event()

    def wake(self) -> None:
        """Let every waiting task look again."""
        self._changed.set()

    async def wait_until(self, is_true: Callable[[], bool]) -> None:
        """Return once ``is_true`` returns True."""
        while not is_true():
            self._changed.clear()
            await self._changed.wait()
