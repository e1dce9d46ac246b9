"""Tables over the whole state."""

from __future__ import annotations

import msgspec

from live.events import FeedHealth
from live.publish.answers import EventView, events, health
from tests.publish.world import World


def test_events_count_their_games() -> None:
    world = World(1)
    for game, event, result in (("g1", "B", "*"), ("g2", "A", "1-0"), ("g3.pgn", "B", "0-1")):
        world.appear(game)
        world.move(game)
        world.held[game] = msgspec.structs.replace(
            world.held[game], event=event, result=result, round="2"
        )
    assert events(world.games()) == [
        EventView("A", ("2",), 1, 0, 1, 0),
        EventView("B", ("2",), 2, 1, 2, 0),
    ]
    assert events([]) == []


def test_a_service_is_well_while_a_producers_program_is_shut() -> None:
    world = World(1)
    shut = FeedHealth("director", "retrying", "OBS cannot be reached", part=True)
    world.feed_health = (FeedHealth("demo", "live"), shut)
    answer = health(world, 0)
    assert (answer.status, answer.ready) == ("ok", True)
    assert shut in answer.feeds
    world.feed_health = (shut, FeedHealth("journal", "failed", "the disk is full", part=True))
    assert health(world, 0).status == "degraded"
