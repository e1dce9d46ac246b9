"""Runs a coroutine as the main program of this process."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from live.errors import LiveRateError, find_first_error


def run(main: Coroutine[Any, Any, int]) -> int:
    """Run a coroutine to its end and return its exit code; raise the package's own
    errors alone, not wrapped in a group.
    """
    try:
        return asyncio.run(main)
    except (
        BaseExceptionGroup
    ) as group:  # Python before 3.11.4 wraps errors that except* raises
        if group.split(LiveRateError)[1] is None:
            raise find_first_error(group) from None
        raise
