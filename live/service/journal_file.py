"""Which journal belongs to which sources. Part of the composition root."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from live.config import JournalConfig
from live.events import FeedName

#: Sources that begin anew with each start: nothing is kept unless a file is named.
PASSING = frozenset({"demo", "standard input"})

_UNSAFE = re.compile(r"[^A-Za-z0-9]+")


def journal_path(
    config: JournalConfig, feeds: Sequence[FeedName], *, once: bool = False
) -> Path | None:
    """Which file; None for none.

    Without a name of its own it goes by the sources, whatever order they are given in, so that two
    events never mix and the same command goes on where it stopped.
    """
    if not config.enabled:
        return None
    if config.file:
        return Path(config.file)
    if once or PASSING.issuperset(feeds):
        return None
    import platformdirs  # only here: most commands need no journal

    named = sorted(feeds)
    digest = hashlib.blake2b("\x1f".join(named).encode(), digest_size=4).hexdigest()
    words = _UNSAFE.sub("-", "-".join(named)).strip("-")[:60].strip("-")
    return platformdirs.user_state_path("live-rate") / f"{words}-{digest}.sqlite"
