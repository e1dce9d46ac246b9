"""live/web/client/broker_connection.js against the real stream: what readers of a broker hold, with
every gap seen and mended from what is retained.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Callable
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.publish.broker.broker_publisher import CHANGES, SINCE, SNAPSHOT, BrokerMessage, SiteStream
from live.publish.broker.retained_messages import status
from live.publish.published_state import snapshot
from tests.publish.world import World
from tests.web.client.test_event_state import plain

Pages = Callable[..., Any]
Script = list[dict[str, Any]]


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


class Broadcast:
    """A world and its stream, and what a broker was sent, as a script of its readers."""

    def __init__(self, seed: int = 3, epoch: str = "e") -> None:
        self.world, self.clock = World(seed), Clock()
        self.script: Script = []
        self.start(epoch)

    def start(self, epoch: str) -> None:
        """The service starts, once more."""
        self.stream = SiteStream(self.world, epoch=epoch, clock=self.clock)
        self.send()

    def send(self, lost: bool = False, after_s: float = 2.0) -> None:
        """Send what there is; time passes."""
        self.clock.now_s += after_s
        messages = self.stream.take()
        self.script += said(messages, lost)
        self.script.append({"advance": after_s * 1000})

    def step(self) -> None:
        self.stream.changed([change for _ in range(3) for change in self.world.step()])


def said(messages: list[BrokerMessage], lost: bool = False) -> Script:
    return [
        {
            "topic": f"p/2/{each.topic}",
            "payload": base64.b64encode(each.payload).decode(),
            "retain": each.retain,
            "lost": lost and each.topic == CHANGES,
        }
        for each in messages
    ]


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 60), joins=st.integers(0, 60))
def test_readers_that_come_at_any_time_and_lose_messages_hold_the_snapshot(
    pages: Pages, seed: int, steps: int, joins: int
) -> None:
    random, cast = Random(seed), Broadcast(seed)
    for at in range(steps + 1):
        if at == min(joins, steps):
            cast.script.append({"connect": True, "advance": 0})
        if random.random() < 0.03:
            cast.start(f"epoch {at}")
        cast.step()
        cast.send(lost=random.random() < 0.2, after_s=random.random())
    for _ in range(2):
        cast.send(after_s=20)  # a heartbeat shows what is missing
    cast.step()
    cast.send()
    cast.send(after_s=5)
    answer = pages("broker", script=cast.script)
    assert answer["statuses"][-1] == "live"
    assert pages("snapshot") == plain(snapshot(cast.world))


def test_a_stale_copy_of_what_is_retained_is_mended(pages: Pages) -> None:
    """A cache or a broker's other node gives for a minute what held a minute ago."""
    cast = Broadcast()
    cast.step()
    stale = [each for each in cast.script if each.get("retain")]
    cast.start("another")
    for _ in range(3):
        cast.step()
        cast.send()
    fresh = [each for each in cast.script if each.get("retain")][-2:]
    cast.stream.forget()
    cast.step()
    late = said(cast.stream.take())
    script = [*stale, {"connect": True}, {"advance": 3000}, *late, {"advance": 60_000}]
    # Whatever came in between: the present, as soon as it is there, and live after it.
    cast.step()
    cast.clock.now_s += 2
    script += [*stale, *fresh, *late, *said(cast.stream.take()), {"advance": 5000}]
    answer = pages("broker", script=script)
    assert answer["statuses"][-1] == "live"
    assert pages("snapshot") == plain(snapshot(cast.world))


@pytest.mark.parametrize(
    ("protocol", "reason"),
    [
        (3, "this page is older than the service: load it again"),
        (1, "the service is older than this page: bring it up to date, or write the page anew"),
    ],
)
@pytest.mark.parametrize("topic", ["site/snapshot", "status"])
def test_a_page_and_a_service_of_different_times_say_so(
    pages: Pages, protocol: int, reason: str, topic: str
) -> None:
    cast = Broadcast()
    if topic == "status":
        known = msgspec.json.decode(status("online")) | {"protocol": protocol}
        messages = [BrokerMessage("status", msgspec.json.encode(known), retain=True)]
    else:
        (first, *_) = [each for each in cast.script if each.get("topic") == f"p/2/{SNAPSHOT}"]
        whole = msgspec.json.decode(gzip.decompress(base64.b64decode(first["payload"])))
        whole["hello"]["protocol"] = protocol
        packed = gzip.compress(msgspec.json.encode(whole))
        messages = [BrokerMessage(SNAPSHOT, packed, retain=True)]
        assert SINCE in {each.get("topic", "").removeprefix("p/2/") for each in cast.script}
    answer = pages("broker", script=[*said(messages), {"connect": True}, {"advance": 3000}])
    assert (answer["statuses"][-1], answer["reason"]) == ("refused", reason)
