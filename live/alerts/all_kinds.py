"""Every kind of alert there is, by what it looks at. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from live.alerts.finding import Finding
from live.alerts.kinds import (
    clock_faults,
    contradicted_results,
    corrected_moves,
    corrected_pairings,
    draw_claims,
    engine_agreement,
    flag_fall,
    missing_endings,
    source_failures,
    stalled_boards,
    standing_illegal_moves,
    unreadable_games,
    vanished_boards,
)
from live.alerts.watched_event import BOARD, ENGINES, FEEDS, PLAYER, AlertTopic, WatchedEvent

_ALWAYS = (
    unreadable_games,
    standing_illegal_moves,
    vanished_boards,
    corrected_moves,
    corrected_pairings,
    clock_faults,
)
#: What rests on knowing where the board stands.
_WHILE_READ = (flag_fall, stalled_boards, missing_endings, contradicted_results, draw_claims)


def findings(watched: WatchedEvent, topic: AlertTopic, now_s: float) -> Iterator[Finding]:
    """All that is the matter with one board, with one player, with the feeds or the engines."""
    if topic.kind == BOARD:
        board = watched.boards.get(topic.id)
        if board is not None:
            read = not unreadable_games.is_lost(board) and not vanished_boards.is_gone(board)
            for kind in (*_ALWAYS, *_WHILE_READ) if read else _ALWAYS:
                yield from kind.findings(board, now_s)
    elif topic.kind == PLAYER:
        yield from engine_agreement.findings(watched, topic.id, now_s)
    elif topic.kind == FEEDS:
        yield from source_failures.feeds(watched, now_s)
    elif topic.kind == ENGINES:
        yield from source_failures.engines(watched, now_s)
