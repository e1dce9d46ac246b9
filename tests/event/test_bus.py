"""Distribution of changes to those who follow the event."""

from collections.abc import Iterable, Sequence
from itertools import chain

import pytest

from live.event.bus import Bus
from live.event.game_change import EventChange, GameChange
from live.messages.health import FeedHealth
from live.messages.to_clients import Change, GoneMessage, HealthMessage, MoveMessage
from live.sources import demo_feed
from tests.event.answered_event import (
    open_service,
    report_and_settle,
    settings,
)
from tests.sources.fakes import upto


def test_what_a_follower_publishes_comes_after_its_cause_for_everybody() -> None:
    bus, heard = Bus(), list[tuple[str, Change]]()
    cause, effect = GoneMessage("cause"), GoneMessage("effect")

    def follow(changes: Sequence[EventChange]) -> None:
        if cause in changes:
            bus.publish([effect])

    bus.follow(follow)
    bus.subscribe(lambda changes: heard.append(("one", changes[0])))
    bus.subscribe(lambda changes: heard.append(("other", changes[0])))
    bus.publish([cause])
    assert heard == [
        ("one", cause),
        ("other", cause),
        ("one", effect),
        ("other", effect),
    ]


def test_listeners_get_messages_alone_and_nothing_where_there_are_none() -> None:
    bus, followed, heard = Bus(), list[object](), list[object]()
    bus.follow(followed.append)
    bus.subscribe(heard.append)
    change, message = GameChange("g", 1), GoneMessage("g")
    bus.publish([])
    bus.publish([change])
    bus.publish([change, message])
    assert followed == [[change], [change, message]]
    assert heard == [[message]]


def test_changes_after_a_failed_follower_are_published() -> None:
    """What was waiting when it failed, too."""
    bus, heard = Bus(), list[Change]()
    first, second, third = map(GoneMessage, ("first", "second", "third"))

    def fail(changes: Sequence[EventChange]) -> None:
        if first in changes:
            bus.publish([second])
            raise KeyError("a fault of ours")

    bus.follow(fail)
    bus.subscribe(heard.extend)
    with pytest.raises(KeyError):
        bus.publish([first])
    assert heard == [first, second]
    bus.publish([third])
    assert heard == [first, second, third]


def test_a_failed_follower_costs_other_receivers_nothing_and_is_counted() -> None:
    bus, followed, heard = Bus(), list[EventChange](), list[Change]()
    health = list[FeedHealth]()
    errors = [KeyError("first"), ValueError("second")]

    def fail_first(changes: Sequence[EventChange]) -> None:
        raise errors[0]

    def fail_second(changes: Sequence[EventChange]) -> None:
        raise errors[1]

    bus.follow(fail_first)
    bus.follow(fail_second)
    bus.follow(followed.extend)
    bus.subscribe(heard.extend)
    message = GoneMessage("g")
    with pytest.raises(KeyError, match="first"):
        bus.publish([message])
    assert followed == heard == [message]
    bus.report_missed(health.append)
    assert [(part.feed, part.state) for part in health] == [("changes", "failed")]


async def test_what_fails_on_a_change_costs_others_nothing_and_health_says_so() -> None:
    def fails(changes: Iterable[Change]) -> None:
        raise RuntimeError("no")

    taken = list[Change]()
    async with open_service(settings()) as service:
        service.bus.subscribe(fails)
        service.bus.subscribe(taken.extend)
        await report_and_settle(service, upto(demo_feed.read_demo_games()[0], 2))
        assert MoveMessage in map(type, taken)
        taken.clear()
        for _ in range(3):
            service.report_engines()
        # Once: what says so is missed again.
        messages = [each for each in taken if isinstance(each, HealthMessage)]
        feeds = chain.from_iterable(message.feeds for message in messages)
        (said,) = {feed for feed in feeds if feed.feed == "changes"}
        assert (
            said.state == "failed"
            and "program fault caused missed changes" in said.detail
        )
        assert len(messages) < 3
