"""What the public is shown is what was true one delay ago; what a client holds
of it.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from live.catalogue import find_event_name
from live.event.game_change import EventChange, select_messages
from live.messages.figures import PlyView
from live.messages.from_sources import FeedReport, Player
from live.messages.health import PublicDelay
from live.messages.to_clients import (
    Change,
    GoneMessage,
    HeartbeatMessage,
    HelloMessage,
    MoveMessage,
    ScoreMessage,
    SnapshotMessage,
)
from live.server import wire
from live.server.audience import Audiences
from live.server.event_reader import game_order
from live.server.filtered_reader import snapshot
from live.server.limits import ClientLimits
from live.server.metrics import MetricCounts
from live.server.pseudonyms import Pseudonyms
from live.server.public_view import PublicView
from live.server.reference_client import OutOfStep, ReferenceClient
from live.server.stream_filter import ALL
from live.server.visibility import Visibility, redact
from live.server.withheld_games import _list_changes_between
from tests.screens.terminal.sample_boards import detail
from tests.server.world import Clock, World
from tests.watch.replayed_event import Rehearsal, played

DELAY_S = 900.0
NAMES = Pseudonyms(b"a secret")


def redacted(whole: SnapshotMessage) -> SnapshotMessage:
    """A snapshot as the late public is told it, where its other names are ``NAMES``."""
    games = sorted(map(NAMES.redact, whole.games), key=game_order)
    moments = sorted(map(NAMES.redact, whole.moments), key=lambda each: each.id)
    return msgspec.structs.replace(
        whole,
        games=tuple(games),
        moments=tuple(moments),
        players=tuple(map(NAMES.redact, whole.players)),
        feeds=tuple(map(NAMES.redact, whole.feeds)),
    )


def follower(public: PublicView) -> ReferenceClient:
    """A client that takes in all that the public is sent."""
    client = ReferenceClient()

    def begin_anew() -> None:
        client.apply(snapshot(public))

    def listener(changes: list[Change]) -> None:
        for change in changes:
            client.apply(change)

    begin_anew()
    public.listen(listener, begin_anew)
    return client


@pytest.mark.parametrize("seed", range(4))
def test_the_public_and_its_clients_hold_what_the_live_state_held_a_delay_ago(
    seed: int,
) -> None:
    world = World(seed)
    now = [0.0]
    public = PublicView(world, delay_s=DELAY_S, pseudonyms=NAMES, clock=lambda: now[0])
    client = follower(public)
    steps = (
        world.move,
        world.appear,
        world.point,
        world.point,
        world.standing,
        world.rerate,
        world.clock,
        world.take_back,
        world.vanish,
        world.moment,
        world.moment,
        world.withdraw,
    )
    held = []
    for _ in range(60):
        # Several steps at once: they are due together.
        for _ in range(world.random.randint(1, 6)):
            public.publish(world.random.choice(steps)())
        held.append((now[0], snapshot(world)))
        now[0] += 30.0
        public.release_due()
        past = [then for at_s, then in held if at_s <= now[0] - DELAY_S]
        if past:
            seen = redact(client.snapshot(), Visibility.PUBLIC)
            assert snapshot(public) == redacted(past[-1]) == seen
    assert past


@pytest.mark.parametrize("seed", range(8))
def test_messages_lead_from_one_stage_of_a_game_to_the_next(seed: int) -> None:
    world = World(seed, "g1", plies=3)
    client = ReferenceClient()
    client.apply(snapshot(world))
    for _ in range(12):
        before = world.held["g1"]
        for step in world.random.choices(
            (world.move, world.clock, world.score, world.take_back), k=3
        ):
            step()
        for change in _list_changes_between(before, world.held["g1"]):
            client.apply(change)
        assert client.game("g1") == world.held["g1"]


@pytest.mark.parametrize(
    "withheld", [{"delay_s": DELAY_S}, {"hide_scores": True}], ids=["late", "hidden"]
)
async def test_what_the_public_may_not_see_starts_none_of_its_timers(
    withheld: dict[str, Any],
) -> None:
    world = World(1, "g1", plies=1)
    view = PublicView(world, clock=Clock(), **withheld)
    audiences = Audiences(
        world, view, clock=Clock(), limits=ClientLimits(), tally=MetricCounts()
    )
    audiences.publish([ScoreMessage("g1", world.held["g1"].plies[0])])
    assert audiences.arbiters._tick is not None
    assert audiences.public._tick is None


class PublishedEvent(Rehearsal):
    """Games played into the real keeper, with a public that hears of them."""

    public: PublicView

    def publish(self, changes: Sequence[EventChange]) -> None:
        super().publish(changes)
        # A game can be reported before anybody listens.
        if hasattr(self, "public"):
            self.public.publish(select_messages(changes))


def test_every_game_waits_whatever_its_round_and_result() -> None:
    service = PublishedEvent()
    service.public = PublicView(
        service.state, delay_s=DELAY_S, pseudonyms=NAMES, clock=lambda: service.now_s
    )
    client = follower(service.public)
    guests: Any = {"white": Player("Guest"), "black": Player("Visitor")}
    games = (
        played("e4 e5", round="7.1", board=1),
        played("d4 d5 c4", round="8.2", board=2, result="1-0"),
        played("c4", round="", board=3, **guests),
    )
    service.report(FeedReport("hall", games))
    assert client.snapshot().games == () and not list(service.public.players())
    held = PublicDelay(DELAY_S, 6, 3)
    assert service.public.describe_delay() == held
    assert service.public.describe_delay(Visibility.PUBLIC) == PublicDelay(DELAY_S)
    service.now_s += DELAY_S - 1
    service.public.release_due()
    assert client.snapshot().games == ()
    service.now_s += 1
    service.public.release_due()
    everything = redacted(snapshot(service.state, ALL))
    assert client.snapshot().games == everything.games
    assert snapshot(service.public, ALL) == everything
    assert service.public.describe_delay() == PublicDelay(DELAY_S)


def test_a_delay_that_is_set_holds_from_the_next_move() -> None:
    service = PublishedEvent()
    service.public = PublicView(service.state, clock=lambda: service.now_s)
    client = follower(service.public)

    def plies() -> list[int]:
        return [game.plies_played for game in client.snapshot().games]

    service.report(FeedReport("hall", (played("e4 e5"),)))
    service.public.set_delay(DELAY_S)
    service.report(FeedReport("hall", (played("e4 e5 Nf3"),)))
    assert plies() == [2]
    # What waits never waits for less than it was to when the delay becomes longer.
    service.now_s += 60
    service.public.set_delay(2 * DELAY_S)
    service.now_s += DELAY_S
    service.public.release_due()
    assert plies() == [2]
    service.public.set_delay(60.0)
    assert plies() == [3]


def test_boards_of_one_round_keep_their_order_whatever_their_event_names() -> None:
    # Games of a lichess broadcast, whose events are named after their players.
    games = [
        detail(
            id,
            board,
            white=white,
            black="B",
            event=f"Round {round}: {white} - B",
            round=round,
        )
        for id, round, board, white in (
            ("a", "10.2", 2, "Abel"),
            ("b", "10.1", 1, "Cid"),
            ("c", "2.10", 10, "Eve"),
            ("d", "2.9", 9, "Gus"),
        )
    ]
    assert [game.id for game in sorted(games, key=game_order)] == ["d", "c", "b", "a"]
    # An event that is no pairing keeps its name.
    assert find_event_name(detail(event="Open - A")) == "Open - A"
    nobody = detail(white="", black="", event="Open - A")
    assert (
        nobody.white == Player("", elo=2459, title="GM")
        and find_event_name(nobody) == "Open - A"
    )


def test_what_cannot_follow_is_refused() -> None:
    held = ReferenceClient()
    with pytest.raises(OutOfStep):
        held.snapshot()
    world = World(1, "g1")
    held.apply(snapshot(world))
    with pytest.raises(OutOfStep):
        held.apply(MoveMessage("g1", 2, PlyView(2, "d4", "d2d4")))
    with pytest.raises(OutOfStep):
        held.apply(MoveMessage("g2", 1, None))
    # Who is gone is gone, however often that is said.
    for _ in range(2):
        held.apply(GoneMessage("g1"))
    assert held.snapshot().games == ()


def test_numbers_must_follow_each_other() -> None:
    world = World(1)
    client_state = ReferenceClient()

    def receive(
        message: HelloMessage | HeartbeatMessage | GoneMessage, seq: int
    ) -> None:
        client_state.receive(wire.number(wire.encode(message), seq))

    late = PublicDelay(30.0)
    hello = HelloMessage(1, "e", world.info, "same-search", "0", public_delay=late)
    receive(hello, 4)
    assert client_state.public_delay == late
    with pytest.raises(OutOfStep):
        receive(GoneMessage("x"), 5)  # no snapshot yet
    client_state.receive(wire.number(wire.encode(snapshot(world)), 5))
    receive(GoneMessage("x"), 6)
    receive(HeartbeatMessage(PublicDelay(60.0)), 6)
    receive(HeartbeatMessage(), 6)  # a broker's
    assert client_state.public_delay == PublicDelay(60.0)
    for seq in (6, 8):
        with pytest.raises(OutOfStep):
            receive(GoneMessage("x"), seq)
    for seq in (5, 7):
        with pytest.raises(OutOfStep):
            receive(HeartbeatMessage(), seq)
    receive(msgspec.structs.replace(hello, resumed=True), 6)
    with pytest.raises(OutOfStep):
        receive(msgspec.structs.replace(hello, resumed=True), 5)
