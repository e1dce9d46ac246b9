"""What waits, what goes, and that dropping the overwritten cannot be seen."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import (
    ClockMessage,
    CurvePoint,
    EngineMessage,
    GoneMessage,
    MoveMessage,
    PlyView,
    PointMessage,
    ScoreMessage,
)
from live.publish.published_state import ClientState, snapshot
from live.publish.streams import Coalescer
from live.publish.visibility import StreamFilter, Visibility
from tests.publish.world import World

#: All there is, what arbiters alone are told included.
WHOLE = StreamFilter(visibility=Visibility.ARBITER, gains=True)


def score(ply: int, cp: int) -> ScoreMessage:
    return ScoreMessage("g", PlyView(ply, "e4", "e2e4", score_cp=cp))


def point(ply: int) -> PointMessage:
    return PointMessage(
        "g", "white", CurvePoint(ply, ply, ply, 0, *(None,) * 6, 0.5, None, None, None)
    )


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


def test_a_rating_of_the_engine_that_goes_there_and_back_leaves_no_trace() -> None:
    world, waiting, client = World(21), Coalescer(), ClientState()
    world.appear("g1")
    world.move("g1")
    client.apply(snapshot(world))
    at_first = world.info
    changes = [*world.rerate(), *world.point(), *world.standing()]
    world.info = at_first
    changes.append(EngineMessage(at_first))
    for change in changes:
        assert waiting.add(change) == []
    for change in waiting.take():
        client.apply(change)
    assert client.snapshot() == snapshot(world)


def test_a_move_takes_along_what_waits_for_its_game_only() -> None:
    waiting = Coalescer()
    other = msgspec.structs.replace(score(1, 5), game="h")
    assert waiting.add(score(1, 5)) == []
    assert waiting.add(other) == []
    move = MoveMessage("g", 2, PlyView(2, "e5", "e7e5"))
    assert waiting.add(move) == [score(1, 5), move]
    assert waiting.take() == [other]


def test_a_gone_game_goes_at_once() -> None:
    assert Coalescer().add(GoneMessage("g")) == [GoneMessage("g")]


def test_the_last_score_of_a_ply_remains_and_comes_last() -> None:
    waiting = Coalescer()
    clock = ClockMessage("g", 1, 3.0, None)
    for change in (score(1, 5), score(2, 6), clock, score(1, 7)):
        assert waiting.add(change) == []
    assert waiting.take() == [score(2, 6), clock, score(1, 7)]


def test_a_point_drops_the_later_points_that_wait() -> None:
    waiting = Coalescer()
    for ply in (1, 3, 5, 3):
        waiting.add(point(ply))
    assert waiting.take() == [point(1), point(3)]
