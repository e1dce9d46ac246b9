"""A queue between two threads that is bounded, and emptied as a whole."""

from __future__ import annotations

import threading

from live.store.write_backlog import WriteBacklog


def test_it_turns_away_what_is_too_much_unless_it_must() -> None:
    backlog: WriteBacklog[int] = WriteBacklog(2)
    assert backlog.put(1) and backlog.put(2)
    assert not backlog.put(3)
    assert backlog.put(4, must=True)
    assert backlog.take(10) == [1, 2, 4]


def test_what_is_being_written_still_takes_room() -> None:
    backlog: WriteBacklog[int] = WriteBacklog(2)
    backlog.put(1)
    backlog.put(2)
    assert backlog.take(1) == [1]
    assert len(backlog) == 2 and not backlog.put(3)
    assert backlog.take(1) == [2]
    assert backlog.put(3)


def test_it_is_empty_only_when_everything_was_written() -> None:
    backlog: WriteBacklog[int] = WriteBacklog(2)
    assert backlog.wait_empty(0)
    backlog.put(1)
    assert backlog.take(10) == [1]
    assert not backlog.wait_empty(0)
    backlog.close()
    assert backlog.take(10) == []
    assert backlog.wait_empty(0)


def test_closing_wakes_whoever_waits_and_takes_nothing_more() -> None:
    backlog: WriteBacklog[int] = WriteBacklog(2)
    told: list[object] = []
    waiting = threading.Thread(target=lambda: told.append(backlog.take(10)))
    waiting.start()
    backlog.close()
    waiting.join(10)
    assert told == [[]]
    assert not backlog.put(1, must=True)
    assert backlog.pause(1000)
