"""The public delay after a restart: its length, and the games still to be withheld."""

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
from live.server.public_view import PublicView
from live.server.withheld_games import Stage, Unshown
from live.settings import Config

log = logging.getLogger(__name__)

#: Kind of the journal notes that contain the delay chosen by an arbiter.
_DELAY = "delay"
#: Kind of the journal notes that record that moves were shown to the public.
SHOWN = "shown"
#: The kind of journal memory that holds the secret from which pseudonyms are made.
SECRET = "secret"
#: Maximum time between two checks for changes that are due, seconds.
LOOK_S = 1.0


class _ChosenDelay(Value):
    """The delay chosen by an arbiter, seconds; 0 if the setting applies."""

    delay_s: Annotated[float, msgspec.Meta(ge=0)]


def set_arbiters_delay(public: PublicView, journal: Journal, delay_s: float) -> None:
    """Set the delay that an arbiter chose, in seconds; it also applies after a
    restart.
    """
    public.set_delay(delay_s)
    _store_chosen_delay(journal, delay_s)


def set_delay_from_settings(
    public: PublicView, journal: Journal, delay_s: float
) -> None:
    """Set the delay from changed settings, in seconds; it replaces an arbiter's
    choice.
    """
    public.set_delay(delay_s)
    _store_chosen_delay(journal, 0.0)


def _store_chosen_delay(journal: Journal, delay_s: float) -> None:
    journal.add_note(_DELAY, msgspec.json.encode(_ChosenDelay(delay_s)))


def open_public(config: Config, event: Event, journal: Journal) -> PublicView:
    """Return the public's view of an event; it shows no more than before a restart."""
    delay_s = restore_delay_s(config.feeds.delay_s, journal)
    return PublicView(
        event,
        delay_s=delay_s,
        hide_scores=config.server.hide_scores,
        unshown=find_unpublished(journal, event, delay_s),
        stored_engine=event.stored_engine,
        pseudonyms=open_pseudonyms(journal),
    )


def restore_delay_s(settings_s: float, journal: Journal) -> float:
    """Return the delay at the start of the service, seconds.

    It is the delay of the settings or the last one that an arbiter chose, whichever is
    longer.
    """
    chosen_s = 0.0
    for note in journal.read_notes():
        if note.kind == _DELAY:
            try:
                chosen_s = msgspec.json.decode(note.body, type=_ChosenDelay).delay_s
            except ValueError as error:  # msgspec's errors, and text that is not UTF-8
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


def open_pseudonyms(journal: Journal) -> Pseudonyms:
    """Return the pseudonyms for the public, made with the secret in the journal.

    If the secret is missing or damaged, a new one is stored.
    """
    secret = journal.read_memories(SECRET).get("", b"")
    if len(secret) != SECRET_BYTES:
        secret = secrets.token_bytes(SECRET_BYTES)
        journal.keep_memories([Memory(SECRET, "", secret)])
    return Pseudonyms(secret)


def note_moves_shown(
    public: PublicView, journal: Journal, changes: Iterable[Change]
) -> None:
    """Note in the journal that delayed moves were shown, if ``changes`` contain moves.

    After a restart these moves are not withheld again.
    """
    has_moves = any(isinstance(change, MoveMessage | GameMessage) for change in changes)
    if public.delay_s and has_moves:
        journal.add_note(SHOWN, b"{}")


async def publish_due_changes(public: PublicView, clock: Clock) -> None:
    """Publish changes when they are due, until cancelled."""
    while True:
        due_s = public.next_s
        await clock.sleep(LOOK_S if due_s is None else min(LOOK_S, due_s))
        public.release_due()


async def wait_until_published(public: PublicView, clock: Clock) -> None:
    """Wait until nothing is withheld from the public."""
    while (wait_s := public.next_s) is not None:
        await clock.sleep(wait_s)
        public.release_due()


def find_unpublished(journal: Journal, state: Event, delay_s: float) -> Unshown:
    """Return the games that the public had not seen completely when the journal ended.

    Each game comes with its stages. Time during which the service did not run does not
    count towards the delay.
    """
    if not delay_s:
        return {}
    # A game whose stages are uncertain is withheld completely: showing it late does
    # less harm than showing it early.
    withheld_whole: list[Stage] = [(0.0, None)]
    recent = journal.read_changes_by_running_time(1000 * delay_s)
    if recent is None or any(not id for _, id, _ in recent):
        # All games were written to the journal again, so their earlier stages are
        # unknown.
        return {game.id: withheld_whole for game in state.games()}
    unshown: dict[GameId, list[Stage]] = {}
    change_times = journal.read_last_change_times()
    places: dict[GameId, list[int]] = defaultdict(list)
    for place, (_, id, _) in enumerate(recent):
        places[id].append(place)
    for game in state.games():
        # The journal contains a separate game for each source; the public sees these as
        # one game.
        *other_ids, first = state.list_source_ids(game.id)
        carriers = (first, *other_ids)
        if not change_times.keys() & set(carriers):
            unshown[game.id] = withheld_whole
            continue
        in_order = sorted(chain.from_iterable(places[id] for id in carriers))
        recent_changes = [recent[place] for place in in_order]
        if not recent_changes:
            continue
        stages = _read_stages(journal, carriers, recent_changes)
        is_whole = bool(stages) and stages[-1][1] == state.get_shown_game(game.id)
        last_s = min(ago_ms for ago_ms, _, _ in recent_changes) / 1000
        unshown[game.id] = [*(stages if is_whole else ()), (last_s, None)]
    return unshown


def _read_stages(
    journal: Journal, carriers: Sequence[GameId], recent: Sequence[RecentChange]
) -> list[Stage]:
    """Return the stages of a game: before its recent changes and after each of them.

    Return an empty list if they cannot be reconstructed.

    Args:
        journal: the journal of the earlier run.
        carriers: ids of the game at its sources; the first one is its main id.
        recent: the recent changes at these sources, in order.
    """
    games: dict[GameId, Game] = {}
    stages: list[Stage] = []
    recent_n = {change.n for _, _, change in recent if change is not None}
    try:
        for id in carriers:
            for earlier in journal.read_changes_of_game(id):
                if earlier.n not in recent_n:
                    _apply_step_to_game(games, earlier.step)
        if carriers[0] in games:
            stages.append((inf, _merge_games_of_sources(games, carriers)))
        for ago_ms, _, change in recent:
            if change is None:
                return []
            _apply_step_to_game(games, change.step)
            if carriers[0] not in games:
                stages.clear()
                continue
            game = _merge_games_of_sources(games, carriers)
            if stages and stages[-1][0] == ago_ms / 1000:
                stages.pop()
            stages.append((ago_ms / 1000, game))
    except (ValueError, KeyError, IndexError):
        return []
    return stages


def _apply_step_to_game(games: dict[GameId, Game], step: Step) -> None:
    game = apply_or_none(games.pop(step.id, None), step)
    if game is not None:
        games[step.id] = game


def _merge_games_of_sources(
    games: Mapping[GameId, Game], carriers: Sequence[GameId]
) -> Game:
    """Return the game as it is shown, merged from the sources that have it."""
    reports = [games[id] for id in carriers if id in games]
    return merge_games(reports, find_longest(reports))
