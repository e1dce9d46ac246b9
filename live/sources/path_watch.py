"""Announcement of changes of a file or folder by the operating system."""

import asyncio
import logging
import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

from live.user_files import on_own_thread

# watchfiles logs every change that it sees. A log file in the followed folder would
# make it log for ever.
logging.getLogger("watchfiles").setLevel(logging.WARNING)

#: Function that sets the event whenever the path might have changed; it returns if it
#: cannot watch the path.
Watch = Callable[[Path, asyncio.Event], Awaitable[None]]


async def watch_path(path: Path, changed: asyncio.Event) -> None:
    """Set ``changed`` whenever the operating system reports that the file, or any PGN
    file below the folder, was created, written or replaced.
    """
    # If this import fails, the caller continues with polling.
    from watchfiles import Change, watch

    loop = asyncio.get_running_loop()
    stop = threading.Event()

    def follow() -> None:
        is_folder = path.is_dir()

        def is_followed(change: Change, changed_path: str) -> bool:
            if is_folder:
                return changed_path.lower().endswith(".pgn")
            return os.path.basename(changed_path) == path.name

        # A writer creates a file in several steps; a tenth of a second combines them.
        watched = path if is_folder else path.parent
        for _ in watch(
            watched,
            watch_filter=is_followed,
            recursive=is_folder,
            debounce=100,
            step=20,
            stop_event=stop,
            rust_timeout=1000,
        ):
            if stop.is_set():
                return
            loop.call_soon_threadsafe(changed.set)

    try:
        await on_own_thread(follow)
    finally:
        stop.set()
