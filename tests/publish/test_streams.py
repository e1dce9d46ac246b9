"""What waits, what goes, and that dropping the overwritten cannot be seen.

Laws of the hub: whoever follows a stream holds what a fresh snapshot says.
"""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import (
    SnapshotMessage,
)
from live.publish import wire
from live.publish.published_state import ClientState, snapshot
from live.publish.streams import (
    FIRST_SEQ,
    Coalescer,
    HistoryLimits,
    NumberedMessage,
    NumberedStream,
    StreamHub,
    TooManyFilters,
)
from live.publish.visibility import EVERYTHING, StreamFilter, Visibility, fold
from live.publish.wire import brief
from tests.publish.world import EVENTS, GAMES, NAMES, Clock, World

#: All there is, what arbiters alone are told included.
WHOLE = StreamFilter(visibility=Visibility.ARBITER, gains=True)


READER: Any = object()


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32), steps=st.integers(0, 80), tick=st.integers(1, 30))
def test_coalesced_or_not_the_client_ends_with_the_same(seed: int, steps: int, tick: int) -> None:
    world, waiting = World(seed), Coalescer()
    plain, coalesced = ClientState(), ClientState()
    plain.apply(snapshot(world, WHOLE))
    coalesced.apply(snapshot(world, WHOLE))
    sent = told = 0
    for at in range(steps):
        for change in world.step():
            plain.apply(change)
            told += 1
            for out in waiting.add(change):
                coalesced.apply(out)
                sent += 1
        if at % tick == 0:
            for out in waiting.take():
                coalesced.apply(out)
                sent += 1
            assert coalesced.snapshot() == plain.snapshot() == snapshot(world, WHOLE)
    for out in waiting.take():
        coalesced.apply(out)
        sent += 1
    assert coalesced.snapshot() == plain.snapshot() == snapshot(world, WHOLE)
    assert sent <= told
    assert not waiting


FILTERS = (
    EVERYTHING,
    StreamFilter(games=frozenset({"g1", "g3.pgn"})),
    StreamFilter(games=frozenset({"nobody"})),
    StreamFilter(events=frozenset({fold(EVENTS[0])})),
    StreamFilter(players=frozenset({fold(NAMES[2])})),
    StreamFilter(players=frozenset({"1503014"})),
    StreamFilter(boards=frozenset({"12"})),
    StreamFilter(events=frozenset({fold(EVENTS[1])}), players=frozenset({fold(NAMES[0])})),
    StreamFilter(games=frozenset(GAMES[:3]), events=frozenset(map(fold, EVENTS[:2]))),
    StreamFilter(brief=True),
    StreamFilter(gains=True),
    StreamFilter(games=frozenset(GAMES[:3]), gains=True),
    StreamFilter(games=frozenset(GAMES[:3]), brief=True),
)


def taken(stream: NumberedStream) -> list[bytes]:
    """What its readers are sent now."""
    return [each.plain for each in stream.take()]


class Client:
    """Follows one stream from the moment it is made, through real encoded bytes."""

    def __init__(self, hub: StreamHub, selected: StreamFilter) -> None:
        self.stream = hub.stream(selected)
        self.client_state = ClientState()
        for each in hub.beginning(self.stream):
            self.client_state.receive(wire.number(each.body, each.seq))


def held_by(world: World, selected: StreamFilter) -> SnapshotMessage:
    """A fresh snapshot as a client reads it."""
    fresh = snapshot(world, selected)
    return msgspec.json.decode(brief(fresh), type=SnapshotMessage) if selected.brief else fresh


def deliver(hub: StreamHub, clients: list[Client]) -> None:
    for stream in hub.streams:
        for payload in taken(stream):
            for client in clients:
                if client.stream is stream:
                    client.client_state.receive(payload)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    steps=st.integers(1, 120),
    batch=st.integers(1, 7),
    flush_each=st.integers(1, 9),
)
def test_snapshot_and_deltas_make_a_fresh_snapshot(
    seed: int, steps: int, batch: int, flush_each: int
) -> None:
    world, random = World(seed), Random(seed)
    hub = StreamHub(world, epoch="e", clock=Clock())
    clients: list[Client] = [Client(hub, each) for each in (*FILTERS[:4], FILTERS[-1])]
    for at in range(steps):
        hub.publish([change for _ in range(random.randint(1, batch)) for change in world.step()])
        deliver(hub, clients)
        if at % flush_each == 0:
            hub.flush()
            deliver(hub, clients)
        if random.random() < 0.1:
            newcomer = Client(hub, random.choice(FILTERS))
            # The snapshot already says what the streams hold at this moment.
            deliver(hub, clients)
            clients.append(newcomer)
            assert newcomer.client_state.snapshot() == held_by(world, newcomer.stream.filter)
            for client in clients:
                if client.stream is newcomer.stream:
                    assert client.client_state.seq == newcomer.client_state.seq
                    assert client.client_state.snapshot() == newcomer.client_state.snapshot()
    hub.flush()
    deliver(hub, clients)
    for client in clients:
        assert client.client_state.snapshot() == held_by(world, client.stream.filter)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), keep=st.integers(0, 40), steps=st.integers(1, 60))
def test_resume_gives_exactly_the_missing_messages_or_says_too_old(
    seed: int, keep: int, steps: int
) -> None:
    world, random = World(seed), Random(seed)
    hub = StreamHub(world, epoch="e", clock=Clock(), limits=HistoryLimits(messages=keep))
    stream = hub.stream(random.choice(FILTERS))
    sent: list[bytes] = [b""] * (stream.seq + 1)
    for _ in range(steps):
        hub.publish(world.step())
        hub.flush()
        sent.extend(taken(stream))
    assert len(sent) == stream.seq + 1
    for seq in range(stream.seq + 3):
        answer = stream.since(stream.epoch, seq)
        if max(FIRST_SEQ, stream.seq - keep) <= seq <= stream.seq:
            assert answer is not None
            assert [wire.number(each.body, each.seq) for each in answer] == sent[seq + 1 :]
        else:
            assert answer is None
    assert stream.since("another", stream.seq) is None


def test_history_forgets_by_age_and_by_bytes() -> None:
    clock = Clock()
    limits = HistoryLimits(messages=100, payload_bytes=30, age_s=10)
    stream = NumberedStream(EVERYTHING, "e", clock, limits)
    start = stream.seq
    for _ in range(3):
        stream.append(b'{"type":"x"}')  # 12 bytes: two fit
    assert stream.since("e", start) is None
    assert len(held(stream.since("e", start + 1))) == 2
    clock.now_s += 10
    assert len(held(stream.since("e", start + 1))) == 2
    clock.now_s += 0.001
    assert stream.since("e", start + 2) is None
    assert stream.since("e", start + 3) == []


def test_what_was_forgotten_is_still_delivered_once() -> None:
    stream = NumberedStream(EVERYTHING, "e", Clock(), HistoryLimits(messages=1))
    for _ in range(5):
        stream.append(b'{"type":"x"}')
    assert len(taken(stream)) == 5
    assert taken(stream) == []


def test_a_stream_dropped_and_made_anew_has_another_epoch() -> None:
    clock = Clock()
    hub = StreamHub(World(), epoch="e", clock=clock, limits=HistoryLimits(age_s=5))
    first = hub.stream(EVERYTHING)
    clock.now_s += 5
    hub.drop_unused()
    assert hub.stream(EVERYTHING) is first
    first.readers.add(READER)
    clock.now_s += 5.1
    hub.drop_unused()
    assert hub.stream(EVERYTHING) is first
    clock.now_s += 5.1
    first.release(READER)
    clock.now_s += 5
    hub.drop_unused()
    assert hub.stream(EVERYTHING) is first
    clock.now_s += 5.1
    hub.drop_unused()
    second = hub.stream(EVERYTHING)
    assert second is not first
    assert second.epoch != first.epoch
    assert second.since(first.epoch, first.seq) is None


def test_of_too_many_filters_the_one_unread_for_longest_makes_room() -> None:
    clock = Clock()
    hub = StreamHub(World(), epoch="e", clock=clock, max_filters=2)
    one, two, three = (StreamFilter(types=frozenset({kind})) for kind in ("move", "game", "score"))
    read = hub.stream(one)
    read.readers.add(READER)
    unread = hub.stream(two)
    clock.now_s += 1
    new = hub.stream(three)
    assert hub.stream(one) is read
    new.readers.add(READER)
    with pytest.raises(TooManyFilters):
        hub.stream(two)
    # Neither the whole event nor what selects no game is kept out by them, but by their like.
    for whole in (EVERYTHING, StreamFilter(brief=True), StreamFilter(gains=True)):
        hub.stream(whole).readers.add(READER)
    for number in range(8):
        hub.stream(StreamFilter(games=frozenset({f"zz{number}"}))).readers.add(READER)
    with pytest.raises(TooManyFilters):
        hub.stream(StreamFilter(games=frozenset({"zz"})))
    new.release(READER)
    assert hub.stream(two) is not unread


def test_a_type_filter_thins_out_messages_but_numbers_them_without_gaps() -> None:
    world = World(5)
    hub = StreamHub(world, epoch="e", clock=Clock())
    stream = hub.stream(StreamFilter(types=frozenset({"move", "point"})))
    start, kinds, seqs = stream.seq, set(), []
    for _ in range(200):
        hub.publish(world.step())
        hub.flush()
        for payload in taken(stream):
            told = msgspec.json.decode(payload)
            kinds.add(told["type"])
            seqs.append(told["seq"])
    assert kinds == {"move", "point"}
    assert seqs == list(range(start + 1, stream.seq + 1))


def test_a_move_goes_out_at_once_and_scores_wait_for_the_tick() -> None:
    world = World(1)
    hub = StreamHub(world, epoch="e", clock=Clock())
    stream = hub.stream(EVERYTHING)
    hub.publish(world.appear("g1"))
    assert not stream.waiting
    hub.publish(world.move("g1"))
    kinds = [msgspec.json.decode(each)["type"] for each in taken(stream)]
    assert kinds[:2] == ["game", "move"]
    for _ in range(50):
        hub.publish(world.score())
    assert not stream.waiting
    hub.flush()
    kinds = [msgspec.json.decode(each)["type"] for each in taken(stream)]
    assert sorted(kinds) == ["game", "score"]


def test_newcomers_share_a_snapshot_while_little_has_changed() -> None:
    world, clock = World(1), Clock()
    for game in GAMES:
        world.appear(game)
        for _ in range(30):
            world.move(game)
    hub = StreamHub(world, epoch="e", clock=clock)
    stream = hub.stream(EVERYTHING)
    (first,) = hub.beginning(stream)
    hub.publish(world.move("g1"))
    again, *after = hub.beginning(stream)
    assert again is first
    assert [each.seq for each in after] == list(range(first.seq + 1, stream.seq + 1)) != []
    # Too much has changed: the snapshot is the shorter way.
    for _ in range(30):
        hub.publish(world.move("g1") + world.move("g1"))
    (fresh,) = hub.beginning(stream)
    assert fresh.seq == stream.seq > first.seq
    # Too old: it is let go.
    hub.publish(world.move("g1"))
    clock.now_s += 31
    hub.drop_unused()
    (late,) = hub.beginning(stream)
    assert late.seq == stream.seq > fresh.seq


def test_the_snapshot_of_a_thinned_out_stream_is_fresh_too() -> None:
    world = World(1)
    hub = StreamHub(world, epoch="e", clock=Clock())
    stream = hub.stream(StreamFilter(types=frozenset({"move"})))
    before = hub.snapshot(stream)
    hub.publish(world.appear("g1"))
    after = hub.snapshot(stream)
    assert after.seq == before.seq
    assert msgspec.json.decode(after.body, type=SnapshotMessage) == snapshot(world)


def held(answer: list[NumberedMessage] | None) -> list[NumberedMessage]:
    assert answer is not None
    return answer
