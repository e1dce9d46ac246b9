"""The delay of the public over restarts: how long it is, and what is still withheld."""

import logging
import secrets
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import inf
from typing import Annotated

import msgspec

from live.event.event import Event
from live.games.game import Game, Step, apply_or_none
from live.games.shared_games import find_longest, merge_games
from live.journal.journal import Journal
from live.journal.journal_reader import Memory, RecentChange
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
#: The kind of memory that holds the secret of the pseudonyms.
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
    """Set the delay that changed settings name, from the next move on; it replaces the
    arbiter's.
    """
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
    """Return, by game, what the public had not been shown when the journal ended.
    Downtime does not count towards the delay, whatever the clock says.
    """
    if not delay_s:
        return {}
    # Too late is better than too soon.
    withheld_whole: list[Stage] = [(0.0, None)]
    recent = journal.read_recent_changes(1000 * delay_s)
    if recent is None or any(not id for _, id, _ in recent):
        # All games were written again: what they were before is not known.
        return {game.id: withheld_whole for game in state.games()}
    found: dict[GameId, list[Stage]] = {}
    known = journal.read_last_change_times()
    places: dict[GameId, list[int]] = defaultdict(list)
    for place, (_, id, _) in enumerate(recent):
        places[id].append(place)
    for game in state.games():
        # The journal has the games of the sources, the public sees them as one game.
        *others, first = state.list_source_ids(game.id)
        carriers = (first, *others)
        if not known.keys() & set(carriers):
            found[game.id] = withheld_whole
            continue
        in_order = sorted(chain.from_iterable(places[id] for id in carriers))
        theirs = [recent[place] for place in in_order]
        if not theirs:
            continue
        stages = _read_stages(journal, carriers, theirs)
        is_whole = bool(stages) and stages[-1][1] == state.get_shown_game(game.id)
        last_s = min(ago_ms for ago_ms, _, _ in theirs) / 1000
        found[game.id] = [*(stages if is_whole else ()), (last_s, None)]
    return found


def _read_stages(
    journal: Journal, carriers: Sequence[GameId], recent: Sequence[RecentChange]
) -> list[Stage]:
    """Return how a game was shown before and after each recent change of its
    ``carriers``, of which the first gives the id, with how long ago that was.

    Ages are seconds. Return no stage where that is not clear.
    """
    held: dict[GameId, Game] = {}
    stages: list[Stage] = []
    recent_n = {change.n for _, _, change in recent if change is not None}
    try:
        for id in carriers:
            for each in journal.read_changes_of_game(id):
                if each.n not in recent_n:
                    _follow_step(held, each.step)
        if carriers[0] in held:
            stages.append((inf, _show_as_one(held, carriers)))
        for ago_ms, _, change in recent:
            if change is None:
                return []
            _follow_step(held, change.step)
            if carriers[0] not in held:
                stages.clear()
                continue
            shown = _show_as_one(held, carriers)
            if stages and stages[-1][0] == ago_ms / 1000:
                stages.pop()
            stages.append((ago_ms / 1000, shown))
    except (ValueError, KeyError, IndexError):
        return []
    return stages


def _follow_step(held: dict[GameId, Game], step: Step) -> None:
    game = apply_or_none(held.pop(step.id, None), step)
    if game is not None:
        held[step.id] = game


def _show_as_one(held: Mapping[GameId, Game], carriers: Sequence[GameId]) -> Game:
    """Return the game as it is shown, of those sources that had it."""
    reports = [held[id] for id in carriers if id in held]
    return merge_games(reports, find_longest(reports))
