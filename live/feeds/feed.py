"""What every source offers: a name, and ``run`` until there is nothing more to follow.

Loss policy feed → game: lossless. A report is a whole game, so a missed one is healed by the
next; ``FeedSink.report`` waits when the consumer is busy, so nothing is dropped here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from live.errors import FeedError
from live.events import FeedHealth, FeedName, FeedReport, GameReport


class FeedSink(Protocol):
    """Where a source puts what it learns."""

    async def report(self, report: FeedReport) -> None:
        """Hand over games; waits while the consumer is behind. Cancel-safe."""

    async def rated(self) -> None:
        """Return once all that was reported is rated. Games that are being played wait for nobody;
        a replay that would run ahead of its figures does.
        """

    def known(self, feed: FeedName) -> Sequence[GameReport]:
        """Games of this source as they stood when the service ended; none before its first run."""

    def health(self, health: FeedHealth) -> None:
        """Say how the source is doing; only changes of state or detail are worth saying."""


class Feed(Protocol):
    """One followed source.

    ``run`` returns when the source is over (end of input, every game finished and the source
    said so), having reported health ``finished``; one that lasts says ``finished`` and looks on,
    since the next round may come from it. What is not there yet (404, 401, a page that is not
    PGN, a name that does not resolve) is health ``waiting`` and asked for again; what fails after
    its first report is health ``retrying``. Only where nobody waits (``--once``, a look) does a
    source that cannot be followed raise :class:`live.errors.FeedError`.
    """

    name: FeedName
    """What people call it: the ``--feed`` text without secrets."""

    async def run(self, sink: FeedSink) -> None: ...


def failed(feed: FeedName, error: FeedError) -> FeedHealth:
    """What is shown of a source that cannot be followed; its name stands beside it already."""
    return FeedHealth(feed, "failed", str(error).removeprefix(f"{feed}: "))
