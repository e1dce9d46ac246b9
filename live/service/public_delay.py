"""The delay of the public in a running service: its clock, how long it is, and what a restart has
to hold back.

Part of the composition root.
"""

import logging
import secrets
from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import inf
from typing import Annotated

import msgspec

from live.event.event_state import EventState
from live.games.game import Game, apply_or_none
from live.journal.journal import Journal
from live.journal.journal_reader import Memory, RecordedChange
from live.messages.to_clients import Change, GameMessage, MoveMessage
from live.messages.values import GameId, Value
from live.process.clock import Clock
from live.server.pseudonyms import SECRET_BYTES, Pseudonyms
from live.server.public_audience import PublicAudience, Stage, Unshown

log = logging.getLogger(__name__)

#: What notes of the journal are about.
DELAY = "delay"
#: Notes that only say when the public was shown something that had waited.
SHOWN = "shown"
#: What the journal remembers other names for the public by.
SECRET = "secret"
#: How long it is not looked whether something is due, seconds; what is due then is so much late.
LOOK_S = 1.0


class ChosenDelay(Value):
    """What the arbiter chose, whatever the settings say; 0 where only the settings count."""

    delay_s: Annotated[float, msgspec.Meta(ge=0)]


def choose_delay(public: PublicAudience, journal: Journal, delay_s: float) -> None:
    """The arbiter sets the delay: it lasts over a restart, for what is withheld is kept, too."""
    public.set_delay(delay_s)
    _remember(journal, delay_s)


def settings_delay(public: PublicAudience, journal: Journal, delay_s: float) -> None:
    """The settings say another delay while the service runs: it holds from the next
    move on, and what the arbiter chose is over.
    """
    public.set_delay(delay_s)
    _remember(journal, 0.0)


def _remember(journal: Journal, delay_s: float) -> None:
    journal.add_note(DELAY, msgspec.json.encode(ChosenDelay(delay_s)))


def first_delay_s(settings_s: float, journal: Journal) -> float:
    """The delay to start with: the longer one of what the settings say and what the arbiter chose
    last before the restart.
    """
    chosen_s = 0.0
    for note in journal.read_notes():
        if note.kind == DELAY:
            try:
                chosen_s = msgspec.json.decode(note.body, type=ChosenDelay).delay_s
            except ValueError as error:  # of msgspec, and of what is no UTF-8
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
    secret = journal.read_memories(SECRET).get("", b"")
    if len(secret) != SECRET_BYTES:
        secret = secrets.token_bytes(SECRET_BYTES)
        journal.keep_memories(lambda: [Memory(SECRET, "", secret)])
    return Pseudonyms(secret)


def mark_shown(public: PublicAudience, journal: Journal, changes: Iterable[Change]) -> None:
    """Keep that the public was shown a move now, so that a restart does not take it back."""
    if public.delay_s and any(isinstance(each, MoveMessage | GameMessage) for each in changes):
        journal.add_note(SHOWN, b"{}")


async def pass_on(public: PublicAudience, clock: Clock) -> None:
    """Give the public what it may know, as soon as it may, until cancelled."""
    while True:
        await clock.sleep(LOOK_S if public.next_s is None else min(LOOK_S, public.next_s))
        public.release_due()


async def all_passed_on(public: PublicAudience, clock: Clock) -> None:
    """Return once the public knows everything."""
    while (wait_s := public.next_s) is not None:
        await clock.sleep(wait_s)
        public.release_due()


def find_unshown(journal: Journal, state: EventState, delay_s: float) -> Unshown:
    """Find what the public had not been shown when the journal ended, which is now:
    what had waited while the service was away waits on from there, whatever the clock
    says meanwhile.
    """
    if not delay_s:
        return {}
    found: dict[GameId, list[Stage]] = {}
    recent, known = journal.read_recent_changes(1000 * delay_s), journal.read_last_change_times()
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
            found[game.id] = [(0.0, None)]
            continue
        ago_s = [ago_s for id in carriers for ago_s, _ in by_game.get(id, ())]
        if not ago_s:
            continue
        now: Stage = (min(ago_s), None)
        stages = _stages(journal, game.id, by_game[game.id])
        # What other sources add is known by their last change at the latest.
        whole = len(carriers) > 1 or (stages and stages[-1][1] == state.holding(game.id))
        found[game.id] = [*stages, now] if whole else [now]
    return found


def _stages(
    journal: Journal, id: GameId, recent: Sequence[tuple[float, RecordedChange | None]]
) -> list[Stage]:
    """How a game stood before what is recent, and after each piece of that, with how long ago it
    came to stand so, seconds; empty where that is not clear.
    """
    stages: list[Stage] = []
    first_n = next((each.n for _, each in recent if each is not None), inf)
    before = [(inf, each) for each in journal.read_changes_of_game(id) if each.n < first_n]
    game: Game | None = None
    try:
        for ago_s, change in (*before, *recent):
            if change is None:
                return []
            game = apply_or_none(game, change.step)
            if game is None:
                stages.clear()
            elif stages and stages[-1][0] == ago_s:
                stages[-1] = (ago_s, game)
            else:
                stages.append((ago_s, game))
    except (ValueError, KeyError, IndexError):
        return []
    return stages
