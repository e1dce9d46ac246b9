"""The delay of the public in a running service: its clock, how long it is, and what a restart has
to hold back.

Part of the composition root.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Annotated

import msgspec

from live.clock import Clock
from live.config import FeedsConfig
from live.events import FeedHealth, GameId, PublicDelay
from live.ledger.event_state import EventState
from live.publish.public_state import DelayedGames, PublicState
from live.store.journal import Journal

log = logging.getLogger(__name__)

#: What notes of the journal are about.
DELAY = "delay"
#: What the delay is called where parts of the service are listed.
PART = "delay"
#: How long it is not looked whether something is due, seconds; what is due then is so much late.
LOOK_S = 1.0


class ChosenDelay(msgspec.Struct, frozen=True):
    """What the arbiter chose, whatever the settings say; 0 where only the settings count."""

    delay_s: Annotated[float, msgspec.Meta(ge=0)]


def choose_delay(public: PublicState, journal: Journal | None, delay_s: float) -> None:
    """The arbiter sets the delay: it lasts over a restart, for what is withheld is kept, too."""
    public.delay(delay_s)
    _remember(journal, delay_s)


def settings_delay(public: PublicState, journal: Journal | None, feeds: FeedsConfig) -> None:
    """The settings changed the delay while the service runs: it holds from the next move on, and
    what was chosen before is over.
    """
    public.delay(feeds.delay_s, DelayedGames.of(feeds))
    if words := without_time(feeds, feeds.delay_s):
        log.warning("delay: %s", words)
    _remember(journal, 0.0)


def _remember(journal: Journal | None, delay_s: float) -> None:
    if journal is not None:
        journal.note(DELAY, msgspec.json.encode(ChosenDelay(delay_s)))


def first_delay_s(settings_s: float, journal: Journal | None) -> float:
    """The delay to start with: the longer one of what the settings say and what the arbiter chose
    last before the restart.
    """
    chosen_s = 0.0
    for note in journal.notes() if journal is not None else ():
        if note.kind == DELAY:
            try:
                chosen_s = msgspec.json.decode(note.body, type=ChosenDelay).delay_s
            except msgspec.MsgspecError as error:
                log.error("a delay in the journal cannot be read (%s)", error)
    if chosen_s <= settings_s:
        return settings_s
    log.warning(
        "the public stays %g s behind, as was set before the restart, not %g s as in the settings; "
        "press d to change it",
        chosen_s,
        settings_s,
    )
    return chosen_s


def without_time(feeds: FeedsConfig, delay_s: float) -> str:
    """That rounds are named which nothing holds back, for people; empty where they are."""
    if delay_s or not feeds.delay_rounds:
        return ""
    return (
        f"feeds.delay_rounds names {', '.join(feeds.delay_rounds)}, and nothing is held back while"
        " the delay is 0: set feeds.delay_s, give --delay, or press d"
    )


async def pass_on(
    public: PublicState, clock: Clock, report: Callable[[FeedHealth], None] = lambda health: None
) -> None:
    """Give the public what it may know, as soon as it may, until cancelled; ``report`` gets what is
    wrong with the delay itself.
    """
    said = ""
    while True:
        await clock.sleep(LOOK_S if public.next_s is None else min(LOOK_S, public.next_s))
        public.pass_due()
        if (words := trouble(public.held())) != said:
            said = words
            if words:
                log.warning("delay: %s", words)
            report(FeedHealth(PART, "retrying" if words else "live", words, part=True))


def trouble(delay: PublicDelay) -> str:
    """What is wrong with the delay, for people; empty where nothing is."""
    if not delay.unmatched:
        return ""
    return (
        f"no board is of the delayed rounds ({delay.unmatched}), so every board is held back; "
        "correct feeds.delay_rounds if that is not meant"
    )


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
        # Where that cannot be read, a moment ago: held back too long rather than shown too soon.
        found[game.id] = now_s - max(times_ms) / 1000 if times_ms else 0.0
    return found
