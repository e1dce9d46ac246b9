"""The delay of the public in a running service: its clock, and what a restart has to hold back.

Part of the composition root.
"""

from __future__ import annotations

from live.clock import Clock
from live.events import GameId
from live.ledger.event_state import EventState
from live.publish.public_state import PublicState
from live.store.journal import Journal

#: How long it is not looked whether something is due, seconds; what is due then is so much late.
LOOK_S = 1.0


async def pass_on(public: PublicState, clock: Clock) -> None:
    """Give the public what it may know, as soon as it may, until cancelled."""
    while True:
        await clock.sleep(LOOK_S if public.next_s is None else min(LOOK_S, public.next_s))
        public.pass_due()


async def all_passed_on(public: PublicState, clock: Clock) -> None:
    """Return once the public knows everything."""
    while (wait_s := public.next_s) is not None:
        await clock.sleep(wait_s)
        public.pass_due()


def changed_ago_s(journal: Journal | None, state: EventState, now_s: float) -> dict[GameId, float]:
    """How long ago the games shown have changed last, in whichever of their sources; ``now_s``
    since 1970 UTC. Negative where the clock was set back since.
    """
    if journal is None:
        return {}
    changed_ms = journal.last_changes()
    found: dict[GameId, float] = {}
    for game in state.games():
        # The journal has them as their sources have them, the public sees them as one.
        times_ms = [changed_ms[id] for id in state.carriers(game.id) if id in changed_ms]
        if times_ms:
            found[game.id] = now_s - max(times_ms) / 1000
    return found
