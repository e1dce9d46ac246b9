"""Whether a process dies."""

from __future__ import annotations

import os
import select


def dies(pid: int, within_s: float = 20.0) -> bool:
    """Wait until the process is dead (a zombie counts); False if it outlives the time. Linux."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(watched, select.POLLIN)
        return bool(poll.poll(within_s * 1000))
    finally:
        os.close(watched)
