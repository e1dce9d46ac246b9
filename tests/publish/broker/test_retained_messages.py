"""What a broker should hold: always the state, whatever happened and however little was told."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.config import MqttConfig
from live.events import Change, GameMessage, GoneMessage
from live.publish.broker import (
    SINCE,
    SNAPSHOT,
    BrokerPublisher,
    RetainedMessages,
    SiteStream,
    level,
    place,
)
from live.publish.visibility import StreamFilter, Visibility
from tests.publish.world import World


class Held:
    """A broker that believes everything."""

    def __init__(self) -> None:
        self.topics: dict[str, bytes] = {}

    def tell(self, batch: dict[str, bytes]) -> None:
        for topic, payload in batch.items():
            if payload:
                self.topics[topic] = payload
            else:
                del self.topics[topic]


def test_topics_of_a_board_and_a_player() -> None:
    world = World(1)
    world.appear("g1")
    world.set("g1", event="Open A/B+#", board=12)
    world.move("g1")
    world.set_ply("g1", 1, score_cp=33)
    world.point()
    world.standing()
    held = RetainedMessages(world, "live-rate").everything()
    base = "live-rate/2/Open A%2FB%2B%23/12"
    (player,) = world.standings
    color = "white" if world.held["g1"].curves.white else "black"
    assert set(held) == {
        "live-rate/2/engine",
        "live-rate/2/health",
        f"live-rate/2/players/{level(player)}",
        f"{base}/game",
        f"{base}/move",
        f"{base}/{color}",
    }
    assert json.loads(held[f"{base}/game"])["game"]["id"] == "g1"
    assert json.loads(held[f"{base}/move"])["move"]["score_cp"] == 33
    assert json.loads(held[f"{base}/{color}"])["type"] == "point"


@pytest.mark.slow
@given(seed=st.integers(0, 100_000), most=st.integers(1, 30), sight=st.sampled_from(Visibility))
def test_the_broker_always_comes_to_hold_the_state(seed: int, most: int, sight: Visibility) -> None:
    """Told in small batches, sometimes not for a long time, sometimes lost and come back."""
    world = World(seed)
    selected = StreamFilter(visibility=sight)
    retained, broker = RetainedMessages(world, "p", selected), Held()
    for _ in range(40):
        retained.changed(world.step())
        if world.random.random() < 0.5:
            broker.tell(retained.take(most))
        if world.random.random() < 0.05:
            # Another connection; the broker may have lost everything, and may hold something else.
            if world.random.random() < 0.5:
                broker.topics.clear()
            broker.topics["p/2/gone/1/game"] = b"old"
            retained.forget()
            for topic in broker.topics:
                retained.holds(topic)
    while batch := retained.take(most):
        assert len(batch) <= most
        broker.tell(batch)
    assert broker.topics == RetainedMessages(world, "p", selected).everything()


@given(seed=st.integers(0, 100_000))
def test_nothing_is_told_twice(seed: int) -> None:
    world = World(seed)
    retained, broker = RetainedMessages(world, "p"), Held()
    for _ in range(30):
        changes: list[Change] = world.step()
        retained.changed([*changes, *changes])
        for topic, payload in retained.take(1000).items():
            assert broker.topics.get(topic, b"") != payload
            broker.tell({topic: payload})
        assert retained.take(1000) == {}


def test_a_board_goes_on_with_the_next_round_and_back() -> None:
    world = World(1)
    for game, round_ in (("g1", "1.1"), ("g2", "2.1")):
        world.appear(game)
        world.set(game, event="Open A", round=round_, board=1)
    retained = RetainedMessages(world, "p")
    assert json.loads(retained.everything()["p/2/Open A/1/game"])["game"]["id"] == "g2"
    retained.take(100)
    del world.held["g2"]
    retained.changed([GoneMessage("g2")])
    told = retained.take(100)
    assert set(told) == {"p/2/Open A/1/game"}
    assert json.loads(told["p/2/Open A/1/game"])["game"]["id"] == "g1"
    world.set("g1", board=2)
    retained.changed([world.view("g1")])
    told = retained.take(100)
    assert told["p/2/Open A/1/game"] == b""
    assert json.loads(told["p/2/Open A/2/game"])["game"]["board"] == 2


def test_the_status_is_nobodys_leftover() -> None:
    retained = RetainedMessages(World(1), "p")
    retained.take(100)
    retained.holds("p/2/status")
    assert retained.take(100) == {}
    retained.holds("p/2/old/topic")
    assert retained.take(100) == {"p/2/old/topic": b""}


@pytest.mark.parametrize("streams", [True, False])
def test_what_a_former_run_left_of_the_sites_stream_is_cleared_where_there_is_none(
    streams: bool,
) -> None:
    world = World(1)
    stream = SiteStream(world, epoch="e", clock=lambda: 0.0) if streams else None
    config = MqttConfig(publish="mqtt://127.0.0.1", prefix="p")
    retained = BrokerPublisher(config, world, stream=stream)._retained
    retained.take(100)
    left = [f"p/2/{topic}" for topic in (SNAPSHOT, SINCE)]
    for topic in left:
        retained.holds(topic)
    assert retained.take(100) == ({} if streams else dict.fromkeys(left, b""))


@given(one=st.text(), other=st.text())
def test_levels_are_fit_for_topics_and_tell_names_apart(one: str, other: str) -> None:
    for name in (one, other):
        made = level(name)
        assert made
        assert not set(made) & set("/+#\0")
        assert made.isprintable()
        made.encode("utf-8")
        assert len(made) <= 200
    assert (level(one) == level(other)) == (one == other)


@pytest.mark.parametrize(
    ("name", "topic"),
    [
        ("", "-"),
        ("-", "%2D"),
        ("Open A", "Open A"),
        ("50%", "50%25"),
        ("a/b", "a%2Fb"),
        ("München", "München"),
        ("\0\n", "%00%0A"),
        ("\ud800", "%ED%A0%80"),
    ],
)
def test_levels(name: str, topic: str) -> None:
    assert level(name) == topic


def test_long_names_stay_apart() -> None:
    assert level("x" * 500 + "a") != level("x" * 500 + "b")
    assert len(level("/" * 500)) < 150


def test_a_game_without_board_is_at_its_id() -> None:
    world = World(1)
    world.appear("g 4/ü")
    world.set("g 4/ü", event="", board=None)
    (message,) = [world.view("g 4/ü")]
    assert isinstance(message, GameMessage)
    assert place(message.game) == ("-", "g 4%2Fü")


def test_a_venue_is_told_no_scores() -> None:
    world = World(1)
    world.appear("g1")
    world.move("g1")
    world.set_ply("g1", 1, score_cp=3333, best="b1a3")
    world.point()
    held = RetainedMessages(world, "p", StreamFilter(visibility=Visibility.VENUE)).everything()
    assert not [topic for topic in held if topic.endswith(("white", "black"))]
    assert b"3333" not in b"".join(held.values())
    assert msgspec.json.decode(held["p/2/engine"])["engine"]["rating"] == 0
