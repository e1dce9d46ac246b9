"""What the alert desk knows again after a restart, out of the journal. Part of the composition
root.

Alerts are kept as they were sent, with all that arbiters did about them. Some of them rest
on how a game came about: a move that was reported and does not stand, a wait. So the desk is
given again, at their times, the steps of those games in which something may still be found:
those that go on or have just ended, and those with an open alert. Of the others it is given only
how they stand.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

import msgspec

from live.alerts.finding import NAMES
from live.alerts.incident_log import IncidentLog
from live.events import (
    Alert,
    AlertKind,
    Change,
    ClockMessage,
    FeedName,
    GameId,
    GameMessage,
    GameView,
    GoneMessage,
    MoveMessage,
    ScoreMessage,
    StandingMessage,
)
from live.games.game import (
    ClocksCorrected,
    Game,
    MovesPlayed,
    NewGame,
    ResultChanged,
    Step,
    TailReplaced,
    TakenBack,
    game_after,
)
from live.ledger.event_state import EventState
from live.ledger.game.game_views import unscored
from live.store.journal import Journal
from live.store.journal_records import RecordedChange as Kept
from live.store.journal_records import RecordedNote, Restated

log = logging.getLogger(__name__)

#: What notes of the journal are about.
ALERT, MUTE, ALIVE, ENTRY, RULING = "alert", "mute", "alive", "entry", "ruling"
#: How often it is noted that the desk watches, seconds: in a quiet hour nothing else shows it.
ALIVE_S = 60.0
#: Games given again although they are over: those that changed so shortly before the last change,
#: milliseconds, and so many at most.
RECENT_MS = 6 * 3_600_000
RECENT = 300


class RestoredMute(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The arbiter does not want to be shown something, or wants it again."""

    muted: bool
    alert: str | None = None
    kind: AlertKind | None = None
    game: GameId | None = None


class OpenAlert(msgspec.Struct, frozen=True):
    """The desk watches; the note's time says since when a restart may have seen nothing."""


class ArbiterEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the arbiter wrote down."""

    text: str
    game: GameId | None = None


class BoardRuling(msgspec.Struct, frozen=True):
    """The arbiter removed a board, or brought it back."""

    game: GameId
    removed: bool


class RestoredAlerts(NamedTuple):
    """A run before this one, as far as alerts need it."""

    told: Sequence[tuple[float, Change]]
    """What the desk was given, each with its time, seconds since 1970 UTC."""
    alerts: Sequence[Alert]
    """Every alert as it was sent, in order."""
    mutes: Sequence[RestoredMute]
    last_s: float
    """Until when that run is known to have lived, seconds since 1970 UTC."""
    log: IncidentLog
    """The incident log as it stands."""


def log_of(notes: Iterable[RecordedNote]) -> IncidentLog:
    """The incident log that these notes make; what cannot be read is left out, and said."""
    found = IncidentLog()
    for note in notes:
        at_s = note.at_ms / 1000
        try:
            match note.kind:
                case "alert":
                    found.alert(msgspec.json.decode(note.body, type=Alert), at_s)
                case "mute":
                    mute = msgspec.json.decode(note.body, type=RestoredMute)
                    if (what := muted_words(mute)) is not None:
                        found.muted(what, mute.muted, at_s, mute.game)
                case "entry":
                    entry = msgspec.json.decode(note.body, type=ArbiterEntry)
                    found.entry(entry.text, at_s, entry.game)
        except msgspec.MsgspecError as error:
            log.error("record %d of the incident log cannot be read (%s)", note.n, error)
    return found


def muted_words(mute: RestoredMute) -> str | None:
    """What was muted, for people; None for one alert, whose own incident says it."""
    if mute.kind is not None:
        return f"all alerts of kind {NAMES[mute.kind]!r}"
    return "all alerts of this board" if mute.game is not None else None


def alerts_of(notes: Iterable[RecordedNote]) -> list[Alert]:
    """Every alert as it was sent, in order; what cannot be read is left out."""
    return [alert for note in notes if (alert := alert_of(note)) is not None]


def alert_of(note: RecordedNote) -> Alert | None:
    """The alert that a note is about; None where it is about none, or cannot be read."""
    if note.kind != ALERT:
        return None
    try:
        return msgspec.json.decode(note.body, type=Alert)
    except msgspec.MsgspecError as error:
        log.error("an alert of the journal cannot be read (%s)", error)
        return None


def mutes_of(notes: Iterable[RecordedNote]) -> list[RestoredMute]:
    """What the arbiter muted and showed again, in order; what cannot be read is left out."""
    found = []
    for note in notes:
        if note.kind == MUTE:
            try:
                found.append(msgspec.json.decode(note.body, type=RestoredMute))
            except msgspec.MsgspecError as error:
                log.error("a mute of the journal cannot be read (%s)", error)
    return found


def rule_again(state: EventState, notes: Iterable[RecordedNote]) -> None:
    """Remove the boards that the arbiter removed and did not bring back."""
    for note in notes:
        if note.kind != RULING:
            continue
        try:
            ruling = msgspec.json.decode(note.body, type=BoardRuling)
        except msgspec.MsgspecError as error:
            log.error("a removed board of the journal cannot be read (%s)", error)
            continue
        (state.remove if ruling.removed else state.bring_back)(ruling.game)


def remember(
    journal: Journal | None, what: RestoredMute | OpenAlert | ArbiterEntry | BoardRuling
) -> None:
    """Keep it for the runs to come."""
    if journal is None:
        return
    match what:
        case RestoredMute(game=game):
            journal.note(MUTE, msgspec.json.encode(what), game or "")
        case ArbiterEntry(game=game):
            journal.note(ENTRY, msgspec.json.encode(what), game or "")
        case BoardRuling(game=game):
            journal.note(RULING, msgspec.json.encode(what), game)
        case OpenAlert():
            journal.note(ALIVE, msgspec.json.encode(what))


def past(
    journal: Journal, state: EventState, feeds: Sequence[FeedName]
) -> Generator[None, None, RestoredAlerts]:
    """What is known of the run before, of the games that stand again and the sources followed.
    Yields after every game.
    """
    notes = journal.notes()
    alerts = [alert for alert in alerts_of(notes) if alert.feed is None or alert.feed in feeds]
    last = {alert.id: alert for alert in alerts}
    alarming = {alert.game for alert in last.values() if alert.cleared_s is None}
    views = {view.id: view for view in state.games()}
    # A game that another source carries, too, stands there once.
    games = {id: game for id in views if (game := state.holding(id)) is not None}
    live = {id for id, game in games.items() if game.result == "*" or id in alarming}
    live |= _recent(journal.last_changes(), games)
    steps: dict[GameId, list[Kept]] = {}
    whole: set[GameId] = set()
    for id in live:
        steps[id] = journal.changes_of(id)
        if _whole(games[id], steps[id]):
            whole.add(id)
        yield
    changes = sorted((each for kept in steps.values() for each in kept), key=attrgetter("n"))
    times_ms = [*(each.at_ms for each in changes[-1:]), *(note.at_ms for note in notes[-1:])]
    last_s = max(times_ms, default=0) / 1000
    told: list[tuple[float, Change]] = []
    # First those that stand still: their moves are no sign that other boards move on.
    for id, game in games.items():
        if id not in whole:
            told += ((last_s, change) for change in _as_it_stands(views[id], game))
            yield
    for each in changes:
        if not isinstance(each.step, Restated) and each.step.id in whole:
            view = views[each.step.id]
            told += ((each.at_ms / 1000, change) for change in _again(view, each.step))
            yield
    for id in live:
        told += ((last_s, change) for change in _figures(state, views[id]))
        yield
    told += ((last_s, StandingMessage(player)) for player in state.players())
    return RestoredAlerts(told, alerts, mutes_of(notes), last_s, log_of(notes))


def _recent(changed_ms: Mapping[GameId, int], games: Collection[GameId]) -> set[GameId]:
    """Games of this round or the one before: of their end something may still be found."""
    latest = sorted(((at_ms, id) for id, at_ms in changed_ms.items() if id in games), reverse=True)
    return {id for at_ms, id in latest[:RECENT] if at_ms >= latest[0][0] - RECENT_MS}


def _whole(game: Game, changes: Sequence[Kept]) -> bool:
    """Whether the steps in the journal make the game as it stands."""
    made: Game | None = None
    try:
        for each in changes:
            if not isinstance(each.step, Restated):
                made = game_after(made, each.step)
    except (ValueError, IndexError):
        return False
    played = [move.uci for move in made.moves] if made is not None else []
    return played == [move.uci for move in game.moves]


def _as_it_stands(view: GameView, game: Game) -> Iterator[Change]:
    yield GameMessage(view)
    for ply, move in enumerate(game.moves, 1):
        yield MoveMessage(view.id, ply, unscored(ply, move))


def _again(view: GameView, step: Step | Restated) -> Iterator[Change]:
    """The changes that a step made when it was carried out, as far as the desk looks at it."""
    match step:
        case NewGame(game=game):
            yield GoneMessage(view.id)
            yield GameMessage(msgspec.structs.replace(view, result=game.result))
            for ply, move in enumerate(game.moves, 1):
                yield MoveMessage(view.id, ply, unscored(ply, move))
        case MovesPlayed(from_ply=first, moves=moves) | TailReplaced(from_ply=first, moves=moves):
            for ply, move in enumerate(moves, first):
                yield MoveMessage(view.id, ply, unscored(ply, move))
        case TakenBack(to_ply=ply):
            yield MoveMessage(view.id, ply + 1, None)
        case ClocksCorrected(clocks=clocks):
            for ply, clock_s, spent_s in clocks:
                yield ClockMessage(view.id, ply, clock_s, spent_s)
        case ResultChanged(result=result):
            yield GameMessage(msgspec.structs.replace(view, result=result))


def _figures(state: EventState, view: GameView) -> Iterator[Change]:
    """The game as it is now, and its scores."""
    yield GameMessage(view)
    detail = state.game(view.id)
    for ply in detail.plies if detail is not None else ():
        if ply.depth is not None:
            yield ScoreMessage(view.id, ply)
