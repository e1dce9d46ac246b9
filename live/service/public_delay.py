"""The delay of the public in a running service: its clock, and what a restart has to hold back.

Part of the composition root.
"""

from __future__ import annotations

from live.clock import Clock
from live.events import GameId
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


def changed_ago_s(journal: Journal | None, now_s: float) -> dict[GameId, float]:
    """When the games that the journal holds have changed last; ``now_s`` since 1970 UTC."""
    if journal is None:
        return {}
    return {game: now_s - at_ms / 1000 for game, at_ms in journal.last_changes().items()}
