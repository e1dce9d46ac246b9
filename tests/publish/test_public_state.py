"""What the public is shown is what was true one delay ago."""

from __future__ import annotations

import pytest

from live.events import Change, EngineMessage, MomentMessage
from live.publish.public_state import PublicState
from live.publish.published_state import snapshot
from live.publish.stream.client_state import ClientState
from tests.publish.world import World

DELAY_S = 900.0


@pytest.mark.parametrize("seed", range(4))
def test_the_public_and_its_clients_hold_what_the_live_state_held_a_delay_ago(seed: int) -> None:
    world = World(seed)
    now = [0.0]
    public = PublicState(world, delay_s=DELAY_S, clock=lambda: now[0], wall_s=lambda: now[0])
    client = ClientState()
    client.apply(snapshot(public))

    def listener(changes: list[Change]) -> None:
        for change in changes:
            client.apply(change)

    public.listen(listener)
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
        public.pass_due()
        past = [then for at_s, then in held if at_s <= now[0] - DELAY_S]
        if past:
            assert snapshot(public) == past[-1] == client.snapshot()
    assert past


def test_of_engine_ratings_that_are_due_together_only_the_last_is_passed_on() -> None:
    world = World(1)
    now = [0.0]
    public = PublicState(world, delay_s=DELAY_S, clock=lambda: now[0], wall_s=lambda: now[0])
    came: list[Change] = []
    public.listen(came.extend)
    public.publish(world.appear("g1") + world.move("g1"))
    for _ in range(3):
        public.publish(world.rerate() + world.point())
    now[0] += DELAY_S
    public.pass_due()
    assert [each for each in came if isinstance(each, EngineMessage)] == [EngineMessage(world.info)]
    assert snapshot(public) == snapshot(world)


def test_moments_wait_like_everything_and_are_not_there_where_scores_are_hidden() -> None:
    world = World(2)
    now = [0.0]
    public = PublicState(world, delay_s=DELAY_S, clock=lambda: now[0], wall_s=lambda: now[0])
    came: list[Change] = []
    public.listen(came.extend)
    public.publish(world.appear("g1") + world.move("g1"))
    now[0] += DELAY_S / 2
    public.publish(world.moment())
    now[0] += DELAY_S / 2
    public.pass_due()
    assert not any(isinstance(each, MomentMessage) for each in came)
    assert list(public.moments()) == []
    now[0] += DELAY_S / 2
    public.pass_due()
    assert list(public.moments()) == list(world.moments()) != []
    came.clear()
    public.hide(True)
    public.publish(world.moment())
    now[0] += DELAY_S
    public.pass_due()
    assert (came, list(public.moments())) == ([], [])
