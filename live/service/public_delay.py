"""The delay of the public in a running service: its clock, how long it is, and what a restart has
to hold back.

Part of the composition root.
"""

import logging
import secrets
from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import inf
from typing import Annotated, NamedTuple

import msgspec

from live.clock import Clock
from live.config import FeedsConfig
from live.events import (
    Change,
    GameId,
    GameMessage,
    HealthReport,
    MoveMessage,
    PublicDelay,
    Value,
    part_health,
)
from live.games.game import Game, game_after
from live.ledger.event_state import EventState
from live.publish.pseudonyms import SECRET_BYTES, Pseudonyms
from live.publish.public_state import DelayedGames, PublicState, Stage
from live.store.journal import Journal
from live.store.journal_reader import Memory, RecordedChange

log = logging.getLogger(__name__)

#: What notes of the journal are about.
DELAY = "delay"
#: Notes that only say when the public was shown something that had waited.
SHOWN = "shown"
#: What the delay is called where parts of the service are listed.
PART = "delay"
#: What the journal remembers other names for the public by.
SECRET = "secret"
#: How long it is not looked whether something is due, seconds; what is due then is so much late.
LOOK_S = 1.0


class Unshown(NamedTuple):
    """What a restart has to hold back."""

    changed_ago_s: dict[GameId, float]
    """How long ago games changed last that changed within the delay."""
    stages: dict[GameId, list[Stage]]
    """How those stood, and since how long, oldest first; without those of which it is not clear."""


class ChosenDelay(Value):
    """What the arbiter chose, whatever the settings say; 0 where only the settings count."""

    delay_s: Annotated[float, msgspec.Meta(ge=0)]


def choose_delay(public: PublicState, journal: Journal, delay_s: float) -> None:
    """The arbiter sets the delay: it lasts over a restart, for what is withheld is kept, too."""
    public.delay(delay_s)
    _remember(journal, delay_s)


def settings_delay(
    public: PublicState, journal: Journal, before: FeedsConfig, feeds: FeedsConfig
) -> None:
    """The settings changed the delay while the service runs: it holds from the next move on. What
    the arbiter chose is over where they say another time, and there alone.
    """
    delay_s = public.delay_s
    if feeds.delay_s != before.delay_s:
        delay_s = feeds.delay_s
        _remember(journal, 0.0)
    public.delay(delay_s, DelayedGames.of(feeds))
    if words := without_time(feeds, delay_s):
        log.warning("delay: %s", words)


def _remember(journal: Journal, delay_s: float) -> None:
    journal.note(DELAY, msgspec.json.encode(ChosenDelay(delay_s)))


def first_delay_s(settings_s: float, journal: Journal) -> float:
    """The delay to start with: the longer one of what the settings say and what the arbiter chose
    last before the restart.
    """
    chosen_s = 0.0
    for note in journal.notes():
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


def lasting_pseudonyms(journal: Journal) -> Pseudonyms:
    """Other names for the public, the same after a restart with this journal."""
    secret = journal.memories(SECRET).get("", b"")
    if len(secret) != SECRET_BYTES:
        secret = secrets.token_bytes(SECRET_BYTES)
        journal.remember(lambda: [Memory(SECRET, "", secret)])
    return Pseudonyms(secret)


def mark_shown(public: PublicState, journal: Journal, changes: Iterable[Change]) -> None:
    """Keep that the public was shown a move now, so that a restart does not take it back."""
    if public.delay_s and any(isinstance(each, MoveMessage | GameMessage) for each in changes):
        journal.note(SHOWN, b"{}")


def without_time(feeds: FeedsConfig, delay_s: float) -> str:
    """That rounds are named which nothing holds back, for people; empty where they are."""
    if delay_s or not feeds.delay_rounds:
        return ""
    return (
        f"feeds.delay_rounds names {', '.join(feeds.delay_rounds)}, and nothing is held back while"
        " the delay is 0: set feeds.delay_s, give --delay, or press d"
    )


async def pass_on(public: PublicState, clock: Clock, report: HealthReport) -> None:
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
            report(part_health(PART, "retrying" if words else "live", words))


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


def since_shown(journal: Journal, state: EventState, delay_s: float) -> Unshown:
    """What the public had not been shown when the journal ended, which is now: what had waited
    while the service was away waits on from there, whatever the clock says meanwhile.
    """
    found = Unshown({}, {})
    if not delay_s:
        return found
    recent, known = journal.recent(1000 * delay_s), journal.last_changes()
    # All games were written anew: what each of them was before, nobody can tell.
    unclear = recent is None or any(not id for _, id, _ in recent)
    by_game: dict[GameId, list[tuple[float, RecordedChange | None]]] = defaultdict(list)
    for ago_ms, id, change in recent or ():
        by_game[id].append((ago_ms / 1000, change))
    for game in state.games():
        # The journal has them as their sources have them, the public sees them as one.
        carriers = state.carriers(game.id)
        if unclear or not known.keys() & set(carriers):
            # Held back too long rather than shown too soon.
            found.changed_ago_s[game.id] = 0.0
            continue
        ago_s = [ago_s for id in carriers for ago_s, _ in by_game.get(id, ())]
        if not ago_s:
            continue
        found.changed_ago_s[game.id] = min(ago_s)
        stages = _stages(journal, game.id, by_game[game.id])
        whole = state.holding(game.id)
        if stages and whole is not None and len(carriers) > 1:
            # What other sources add is known by their last change at the latest.
            stages.append((min(ago_s), whole))
        if stages and stages[-1][1] == whole:
            found.stages[game.id] = stages
    return found


def _stages(
    journal: Journal, id: GameId, recent: Sequence[tuple[float, RecordedChange | None]]
) -> list[Stage]:
    """How a game stood before what is recent, and after each piece of that, with how long ago it
    came to stand so, seconds; empty where that is not clear.
    """
    stages: list[Stage] = []
    first_n = next((each.n for _, each in recent if each is not None), inf)
    before = [(inf, each) for each in journal.changes_of(id) if each.n < first_n]
    game: Game | None = None
    try:
        for ago_s, change in (*before, *recent):
            if change is None:
                return []
            game = game_after(game, change.step)
            if game is None:
                stages.clear()
            elif stages and stages[-1][0] == ago_s:
                stages[-1] = (ago_s, game)
            else:
                stages.append((ago_s, game))
    except (ValueError, KeyError, IndexError):
        return []
    return stages
