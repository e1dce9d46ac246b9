"""How many files and connections this process may hold open. Part of the composition root."""

from __future__ import annotations

import logging
import sys
from typing import Final

import msgspec

from live.config import ServerConfig

log = logging.getLogger(__name__)

#: For engines, journal, sources and files; what is left is for connections.
RESERVED: Final = 128
#: So many are asked for: far beyond what connections need, and no system refuses it for its size.
WANTED: Final = 65_536


def raise_limit() -> int | None:
    """Raise the soft limit of open files to the hard one, as far as that is of use; the limit that
    holds then. None where the platform has none that a process could ask for.
    """
    if sys.platform == "win32":
        return None
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (ValueError, OSError) as error:  # some systems count otherwise than they say
            log.warning("the limit of open files stays at %d (%s)", soft, error)
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def within(config: ServerConfig, limit: int | None) -> ServerConfig:
    """The settings with no more connections than there are files for; says so where it matters."""
    if limit is None or config.max_connections <= limit - RESERVED:
        return config
    room = max(1, limit - RESERVED if limit > 2 * RESERVED else limit // 2)
    if room >= config.max_connections:
        return config
    log.warning(
        "server.max_connections: %d instead of %d, since this system allows %d open files "
        "(raise it with ulimit -n, or LimitNOFILE= of the unit)",
        room,
        config.max_connections,
        limit,
    )
    return msgspec.structs.replace(config, max_connections=room)
