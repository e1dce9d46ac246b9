"""Every kind of alert there is, by what it looks at. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from live.alerts import (
    agreement,
    claims,
    clock_faults,
    endings,
    flag,
    lapses,
    sources,
    stale,
    unreadable,
    verdict,
)
from live.alerts.finding import Finding
from live.alerts.watched import BOARD, ENGINES, FEEDS, PLAYER, Topic, Watched

_ALWAYS = (unreadable, lapses, clock_faults)
#: What rests on knowing where the board stands.
_WHILE_READ = (flag, stale, endings, verdict, claims)


def findings(watched: Watched, topic: Topic, now_s: float) -> Iterator[Finding]:
    """All that is the matter with one board, with one player, with the feeds or the engines."""
    if topic.kind == BOARD:
        board = watched.boards.get(topic.id)
        if board is not None:
            for kind in _ALWAYS if unreadable.is_lost(board) else (*_ALWAYS, *_WHILE_READ):
                yield from kind.findings(board, now_s)
    elif topic.kind == PLAYER:
        yield from agreement.findings(watched, topic.id, now_s)
    elif topic.kind == FEEDS:
        yield from sources.feeds(watched, now_s)
    elif topic.kind == ENGINES:
        yield from sources.engines(watched, now_s)
