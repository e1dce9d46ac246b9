"""Limits of the process: open files and processors."""

import logging
import os
import sys

log = logging.getLogger(__name__)

#: Number of open files for engines, journal and sources; the rest is for connections.
RESERVED = 128
#: Number of open files to request: more than connections need, and few enough for every
#: operating system.
WANTED = 65_536


def raise_file_limit() -> int | None:
    """Raise the soft limit of open files towards the hard limit; return the new soft
    limit.

    Return None if the number of open files is not limited.
    """
    if sys.platform == "win32":
        return None
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < target:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
        except (ValueError, OSError) as error:
            # Some operating systems refuse even values below the hard limit.
            log.warning("the limit of open files stays at %d (%s)", soft, error)
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def cap_connections(limit: int, files: int | None) -> int:
    """Return the number of connections that a limit of open files allows.

    It is at most ``limit``; if it is less, a warning is logged.
    """
    if files is None:
        return limit
    room = max(files - RESERVED, files // 2)
    if limit <= room:
        return limit
    log.warning(
        "server.max_connections: %d instead of %d, since this system allows %d open"
        " files (raise it with ulimit -n, or LimitNOFILE= of the unit)",
        room,
        limit,
        files,
    )
    return room


def count_processors() -> int:
    """Return the number of processors that this process can use.

    On macOS and Windows, return the number of all processors.
    """
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
