"""live/web/client/event_state.js holds, after every message, what the reference in Python holds."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import HelloMessage, SnapshotMessage
from live.publish import wire
from live.publish.published_state import ClientState, snapshot
from live.publish.visibility import StreamFilter, Visibility
from tests.publish.world import World
from tests.web.conftest import Pages

#: All there is, what arbiters alone are told included.
WHOLE = StreamFilter(visibility=Visibility.ARBITER, gains=True)


def numbered(messages: list[Any], first: int) -> list[Any]:
    """As the service sends them."""
    return [
        json.loads(wire.number(wire.encode(message), first + at))
        for at, message in enumerate(messages)
    ]


def plain(message: SnapshotMessage) -> Any:
    """A snapshot as JSON has it, without its type."""
    tree = json.loads(msgspec.json.encode(message))
    del tree["type"]
    return tree


def hello(world: World, resumed: bool = False) -> HelloMessage:
    return HelloMessage(1, "epoch", world.engine(), world.gain(), "0", resumed)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), before=st.integers(0, 40), steps=st.integers(1, 60))
def test_it_holds_what_the_reference_holds(
    pages: Pages, seed: int, before: int, steps: int
) -> None:
    world = World(seed)
    for _ in range(before):
        world.step()
    client_state = ClientState()
    client_state.apply(snapshot(world, WHOLE))
    pages("start")
    opening = [hello(world), snapshot(world, WHOLE)]
    pages("receive", messages=numbered(opening, first=4))
    seq = 5
    for _ in range(steps):
        changes = world.step()
        for change in changes:
            client_state.apply(change)
        answer = pages("receive", messages=numbered(list(changes), first=seq + 1))
        seq += len(changes)
        assert "outOfStep" not in answer
        assert pages("snapshot") == plain(client_state.snapshot())
    assert pages("snapshot") == plain(snapshot(world, WHOLE))


def test_a_snapshot_replaces_everything(pages: Pages) -> None:
    world = World(1)
    for _ in range(60):
        world.step()
    pages("start")
    pages("receive", messages=numbered([hello(world), snapshot(world)], first=0))
    other = World(2)
    other.appear()
    (touched,) = pages("receive", messages=numbered([snapshot(other)], first=900))["touched"]
    assert touched == {"all": True}
    assert pages("snapshot") == plain(snapshot(other))


def test_what_was_touched_is_told(pages: Pages) -> None:
    world = World(3)
    pages("start")
    pages("receive", messages=numbered([hello(world), snapshot(world)], first=0))
    changes = [*world.appear("g1"), *world.move("g1"), *world.health(), *world.standing()]
    touched = pages("receive", messages=numbered(changes, first=2))["touched"]
    game = {"game": "g1"}
    assert touched == [game, game, game, {"health": True}, {"players": True}]


def test_a_lost_or_repeated_number_is_noticed(pages: Pages) -> None:
    world = World(4)
    for first in (1, 3):
        pages("start")
        pages("receive", messages=numbered([hello(world), snapshot(world)], first=0))
        answer = pages("receive", messages=numbered(world.health(), first=first))
        assert answer == {"outOfStep": f"health {first} does not follow 1"}


def test_a_change_of_what_is_not_held_is_noticed(pages: Pages) -> None:
    world = World(5)
    pages("start")
    pages("receive", messages=numbered([hello(world), snapshot(world)], first=0))
    world.appear("g1")
    answer = pages("receive", messages=numbered(world.move("g1"), first=2))
    assert answer == {"outOfStep": "game g1 is not held"}


def test_a_ply_that_leaves_a_gap_is_noticed(pages: Pages) -> None:
    world = World(6)
    world.appear("g1")
    pages("start")
    pages("receive", messages=numbered([hello(world), snapshot(world)], first=0))
    world.move("g1")
    answer = pages("receive", messages=numbered(world.move("g1"), first=2))
    assert answer == {"outOfStep": "ply 2 does not follow 0 in g1"}


def test_a_heartbeat_and_a_resumption_show_what_was_lost(pages: Pages) -> None:
    world = World(7)
    pages("start")
    pages("receive", messages=numbered([hello(world), snapshot(world)], first=0))
    heartbeat = {"type": "heartbeat", "seq": 1}
    assert pages("receive", messages=[heartbeat]) == {"touched": [{}]}
    assert pages("receive", messages=[{**heartbeat, "seq": 2}])["outOfStep"]
    again = numbered([hello(world, resumed=True)], first=1)
    assert "touched" in pages("receive", messages=again)
    later = numbered([hello(world, resumed=True)], first=2)
    assert "but held is 1" in pages("receive", messages=later)["outOfStep"]


def test_a_type_of_a_later_version_is_left_alone_but_counted(pages: Pages) -> None:
    world = World(8)
    pages("start")
    pages("receive", messages=numbered([hello(world), snapshot(world)], first=0))
    pages("receive", messages=[{"type": "toString", "seq": 2}])
    assert "touched" in pages("receive", messages=numbered(world.health(), first=3))


def test_nothing_is_applied_before_a_snapshot(pages: Pages) -> None:
    world = World(9)
    pages("start")
    answer = pages("receive", messages=numbered([hello(world), *world.health()], first=0))
    assert answer == {"outOfStep": "health 1 does not follow null"}
