"""What the site's stream sends, and when. What readers make of it is in
``tests/web/client/test_connections.py``.
"""

from __future__ import annotations

import gzip

import msgspec

from live.publish.access import everybody
from live.publish.broker import CHANGES, SINCE, SNAPSHOT, SiteStream
from tests.publish.world import World


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def test_nothing_piles_up_while_the_broker_is_slow_or_away() -> None:
    world, clock = World(3), Clock()
    world.appear("g1")
    stream = SiteStream(world, epoch="e", clock=clock)
    stream.forget()
    for _ in range(500):
        stream.changed(world.step() + world.move())
    assert stream._waiting == []
    assert [each.topic for each in stream.take()] == [SNAPSHOT, SINCE]
    clock.now_s += 5
    for _ in range(8000):
        stream.changed(world.step() + world.move())
        if stream._jumped:
            break
    assert stream._jumped
    assert stream._waiting == []


def test_a_heartbeat_says_that_nothing_is_missing() -> None:
    clock = Clock()
    stream = SiteStream(World(3), epoch="e", clock=clock)
    stream.take()
    clock.now_s += 14
    assert stream.take() == []
    clock.now_s += 2
    (beat,) = stream.take()
    assert (beat.topic, beat.retain) == (CHANGES, False)
    assert msgspec.json.decode(beat.payload)["messages"] == [{"seq": 1, "type": "heartbeat"}]
    assert stream.take() == []


def test_hidden_scores_are_in_no_message() -> None:
    world, clock = World(7), Clock()
    stream = SiteStream(world, everybody(hide_scores=True), epoch="e", clock=clock)
    messages = stream.take()
    for _ in range(300):
        stream.changed(world.step())
        clock.now_s += 0.5
        messages += stream.take()
    assert len(messages) > 20
    for each in messages:
        text = gzip.decompress(each.payload) if each.topic == SNAPSHOT else each.payload
        for said in (b'"score_cp":1', b'"score_cp":-', b'"type":"point"', b'"type":"standing"'):
            assert said not in text
        assert b'"type":"alert"' not in text
