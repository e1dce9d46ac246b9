"""What readers of the site's stream hold: with every gap seen, and mended from what is retained."""

from __future__ import annotations

import gzip
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.publish.access.authentication import everybody
from live.publish.broker.site_stream import CHANGES, SINCE, SNAPSHOT, BrokerMessage, SiteStream
from live.publish.published_state import snapshot
from live.publish.stream.client_state import ClientState
from tests.publish.world import World


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


class Broker:
    """What is retained, and who reads live."""

    def __init__(self) -> None:
        self.retained: dict[str, bytes] = {}
        self.readers: list[Reader] = []

    def send(self, messages: list[BrokerMessage], lost: bool = False) -> None:
        for each in messages:
            if each.retain:
                self.retained[each.topic] = each.payload
            for reader in self.readers:
                if not (lost and each.topic == CHANGES):
                    reader.hear(each.topic, each.payload)


class Reader:
    """As live/web/client/broker_connection.js, without a network."""

    def __init__(self, broker: Broker) -> None:
        self.state = ClientState()
        self.epoch = ""
        self.mended = 0
        self._broker = broker
        self._early: dict[int, dict[str, Any]] = {}
        broker.readers.append(self)
        self.mend()

    def mend(self) -> None:
        self.mended += 1
        for topic in (SNAPSHOT, SINCE):
            if topic in self._broker.retained:
                self.hear(topic, self._broker.retained[topic])

    def hear(self, topic: str, payload: bytes) -> None:
        held = self.state.seq
        said = msgspec.json.decode(gzip.decompress(payload) if topic == SNAPSHOT else payload)
        if topic == SNAPSHOT:
            if said["epoch"] == self.epoch and held is not None and said["snapshot"]["seq"] <= held:
                return
            if said["epoch"] != self.epoch:
                self._early.clear()
            self.epoch = said["epoch"]
            for each in (said["hello"], said["snapshot"]):
                self.state.receive(msgspec.json.encode(each))
        elif said["epoch"] != self.epoch or (topic == SINCE and said["after"] > (held or 0)):
            return
        for each in said.get("messages", ()):
            if each["type"] != "heartbeat" or each["seq"] > (self.state.seq or 0):
                self._early[each["seq"]] = each
        while (following := self._early.pop((self.state.seq or 0) + 1, None)) is not None:
            if following["type"] != "heartbeat":
                self.state.receive(msgspec.json.encode(following))
        self._early = {k: v for k, v in self._early.items() if k > (self.state.seq or 0)}

    @property
    def missing(self) -> bool:
        return bool(self._early)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 80))
def test_readers_that_come_at_any_time_and_lose_messages_hold_the_snapshot(
    seed: int, steps: int
) -> None:
    world, random, clock, broker = World(seed), Random(seed), Clock(), Broker()
    stream = SiteStream(world, epoch="e", clock=clock)
    broker.send(stream.take())
    readers = [Reader(broker)]
    for _ in range(steps):
        stream.changed([change for _ in range(3) for change in world.step()])
        clock.now_s += random.random()
        broker.send(stream.take(), lost=random.random() < 0.2)
        if random.random() < 0.1:
            readers.append(Reader(broker))
    clock.now_s += 2
    broker.send(stream.take())
    clock.now_s += 20
    broker.send(stream.take())  # a heartbeat shows what is missing
    for reader in readers:
        if reader.missing:
            reader.mend()
        assert reader.state.snapshot() == snapshot(world)


def test_another_start_of_the_service_begins_anew_for_all() -> None:
    world, clock, broker = World(3), Clock(), Broker()
    for game in ("g1", "g2"):
        world.appear(game)
    first = SiteStream(world, epoch="first", clock=clock)
    broker.send(first.take())
    reader = Reader(broker)
    again = SiteStream(world, epoch="again", clock=clock)
    again.changed(world.move("g1"))
    broker.send(again.take())
    assert reader.epoch.startswith("again")
    assert reader.state.snapshot() == snapshot(world)


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
