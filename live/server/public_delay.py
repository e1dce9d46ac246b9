"""The delay of the public over restarts: how long it is, and what is still withheld."""

import logging
import secrets
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from math import inf
from typing import Annotated

import msgspec

from live.event.event import Event
from live.games.game import Game, apply_or_none
from live.journal.journal import Journal
from live.journal.journal_reader import Memory, RecordedChange
from live.messages.to_clients import Change, GameMessage, MoveMessage
from live.messages.values import GameId, Value
from live.process.clock import Clock
from live.server.pseudonyms import SECRET_BYTES, Pseudonyms
from live.server.public_audience import PublicAudience, Stage, Unshown

log = logging.getLogger(__name__)

#: The kind of notes about the length of the delay.
DELAY = "delay"
#: The kind of notes that the public was shown something that had been withheld.
SHOWN = "shown"
#: Under which the journal keeps the secret of the pseudonyms.
SECRET = "secret"
#: Longest time between two looks at what is due, seconds.
LOOK_S = 1.0


class ChosenDelay(Value):
    """The delay that the arbiter chose; 0 if the one of the settings holds."""

    delay_s: Annotated[float, msgspec.Meta(ge=0)]


def choose_delay(public: PublicAudience, journal: Journal, delay_s: float) -> None:
    """Set the delay that an arbiter chose; it holds over a restart."""
    public.set_delay(delay_s)
    _remember(journal, delay_s)


def reset_delay(public: PublicAudience, journal: Journal, delay_s: float) -> None:
    """Set the delay of changed settings from the next move on, not the arbiter's."""
    public.set_delay(delay_s)
    _remember(journal, 0.0)


def _remember(journal: Journal, delay_s: float) -> None:
    journal.add_note(DELAY, msgspec.json.encode(ChosenDelay(delay_s)))


def restore_delay_s(settings_s: float, journal: Journal) -> float:
    """Return the delay to start with, seconds.

    It is the longer one of the settings' and the last one that an arbiter chose.
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
        "the public stays %g s behind, as was set before the restart, not %g s as in"
        " the settings; press d to change it",
        chosen_s,
        settings_s,
    )
    return chosen_s


def restore_pseudonyms(journal: Journal) -> Pseudonyms:
    """Return pseudonyms for the public, the same after a restart with this journal."""
    secret = journal.read_memories(SECRET).get("", b"")
    if len(secret) != SECRET_BYTES:
        secret = secrets.token_bytes(SECRET_BYTES)
        journal.keep_memories(lambda: [Memory(SECRET, "", secret)])
    return Pseudonyms(secret)


def record_publication(
    public: PublicAudience, journal: Journal, changes: Iterable[Change]
) -> None:
    """Note that the public was shown a move, so that a restart does not withdraw it."""
    has_moves = any(isinstance(each, MoveMessage | GameMessage) for each in changes)
    if public.delay_s and has_moves:
        journal.add_note(SHOWN, b"{}")


async def run_delay(public: PublicAudience, clock: Clock) -> None:
    """Publish what is due to the public, until cancelled."""
    while True:
        due_s = public.next_s
        await clock.sleep(LOOK_S if due_s is None else min(LOOK_S, due_s))
        public.release_due()


async def wait_until_published(public: PublicAudience, clock: Clock) -> None:
    """Wait until nothing is withheld from the public."""
    while (wait_s := public.next_s) is not None:
        await clock.sleep(wait_s)
        public.release_due()


def find_unpublished(journal: Journal, state: Event, delay_s: float) -> Unshown:
    """Return what the public had not been shown when the journal ended, by game.

    Downtime does not count towards the delay, whatever the clock says.
    """
    if not delay_s:
        return {}
    found: dict[GameId, list[Stage]] = {}
    recent = journal.read_recent_changes(1000 * delay_s)
    known = journal.read_last_change_times()
    # All games were written again: what they were before is not known.
    is_unclear = recent is None or any(not id for _, id, _ in recent)
    by_game: dict[GameId, list[tuple[float, RecordedChange | None]]] = defaultdict(list)
    for ago_ms, id, change in recent or ():
        by_game[id].append((ago_ms / 1000, change))
    for game in state.games():
        # The journal has the games of the sources, the public sees them as one game.
        carriers = state.list_source_ids(game.id)
        if is_unclear or not known.keys() & set(carriers):
            # Too late is better than too soon.
            found[game.id] = [(0.0, None)]
            continue
        changes = chain.from_iterable(by_game.get(id, ()) for id in carriers)
        last_s = min((ago_s for ago_s, _ in changes), default=None)
        if last_s is None:
            continue
        stages = _read_stages(journal, game.id, by_game[game.id])
        # What other sources add is known by their last change at the latest.
        is_whole = len(carriers) > 1
        if stages and stages[-1][1] == state.get_shown_game(game.id):
            is_whole = True
        found[game.id] = [*(stages if is_whole else ()), (last_s, None)]
    return found


def _read_stages(
    journal: Journal, id: GameId, recent: Sequence[tuple[float, RecordedChange | None]]
) -> list[Stage]:
    """Return a game before and after each recent change, with how long ago that was.

    Ages are seconds. Return no stage where that is not clear.
    """
    stages: list[Stage] = []
    first_n = next((each.n for _, each in recent if each is not None), inf)
    before = [
        (inf, each) for each in journal.read_changes_of_game(id) if each.n < first_n
    ]
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
