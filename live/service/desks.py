"""The two desks of a running service, alerts for arbiters and moments for everybody: their clock,
their log, their way to subscribers, and what they know again after a restart, out of the journal.
Part of the composition root.

Alerts are kept as they were sent, with all that arbiters did about them. Some of them rest
on how a game came about: a move that was reported and does not stand, a wait. So the desk is
given again, at their times, the steps of those games in which something may still be found:
those that go on or have just ended, and those with an open alert. Of the others it is given only
how they stand. Moments are found anew in what is given again.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple, TypeVar

import msgspec

from live.alerts.alert_desk import AlertDesk
from live.alerts.finding import NAMES, Finding
from live.alerts.incident_log import ENTRY_CHARS, IncidentLog, log_lines
from live.events import (
    Alert,
    AlertKind,
    AlertMessage,
    Change,
    ClockMessage,
    FeedHealth,
    FeedName,
    GameDetail,
    GameId,
    GameMessage,
    GameView,
    GoneMessage,
    Incident,
    Moment,
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
)
from live.ledger.event_state import EventState
from live.ledger.tracked_game import unscored
from live.service.supervision import FaultLog
from live.store.journal import Journal
from live.store.journal_reader import RecordedChange, RecordedNote, Restated, game_of
from live.story.story_desk import StoryDesk

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


class Heartbeat(msgspec.Struct, frozen=True):
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


Said = Alert | RestoredMute | ArbiterEntry | BoardRuling | Heartbeat
_SAID: dict[str, type[Said]] = {
    ALERT: Alert,
    MUTE: RestoredMute,
    ENTRY: ArbiterEntry,
    RULING: BoardRuling,
    ALIVE: Heartbeat,
}
Kind = TypeVar("Kind", Alert, RestoredMute, BoardRuling)


def said_in(note: RecordedNote) -> Said | None:
    """What a note says; None where it is about something else, or cannot be read, which is said."""
    try:
        return msgspec.json.decode(note.body, type=_SAID[note.kind])
    except KeyError:
        return None
    except msgspec.MsgspecError as error:
        log.error("record %d of the incident log cannot be read (%s)", note.n, error)
        return None


def all_of(notes: Iterable[RecordedNote], kind: type[Kind]) -> list[Kind]:
    """What notes of this kind say, in order; what cannot be read is left out."""
    mine = (note for note in notes if _SAID.get(note.kind) is kind)
    return [each for note in mine if isinstance(each := said_in(note), kind)]


def log_of(notes: Iterable[RecordedNote]) -> IncidentLog:
    """The incident log that these notes make; what cannot be read is left out, and said."""
    found = IncidentLog()
    for note in notes:
        at_s = note.at_ms / 1000
        match said_in(note):
            case Alert() as alert:
                found.alert(alert, at_s)
            case RestoredMute() as mute if (what := muted_words(mute)) is not None:
                found.muted(what, mute.muted, at_s, mute.game)
            case ArbiterEntry(text=text, game=game):
                found.entry(text, at_s, game)
    return found


def muted_words(mute: RestoredMute) -> str | None:
    """What was muted, for people; None for one alert, whose own incident says it."""
    if mute.kind is not None:
        return f"all alerts of kind {NAMES[mute.kind]!r}"
    return "all alerts of this board" if mute.game is not None else None


def rule_again(state: EventState, notes: Iterable[RecordedNote]) -> None:
    """Remove the boards that the arbiter removed and did not bring back."""
    for ruling in all_of(notes, BoardRuling):
        (state.remove if ruling.removed else state.bring_back)(ruling.game)


def remember(journal: Journal, what: Said) -> None:
    """Keep it for the runs to come."""
    kind = next(name for name, each in _SAID.items() if isinstance(what, each))
    journal.note(kind, msgspec.json.encode(what), getattr(what, "game", None) or "")


def past(
    journal: Journal, state: EventState, feeds: Sequence[FeedName]
) -> Generator[None, None, RestoredAlerts]:
    """What is known of the run before, of the games that stand again and the sources followed.
    Yields after every game.
    """
    notes = journal.notes()
    alerts = [alert for alert in all_of(notes, Alert) if alert.feed is None or alert.feed in feeds]
    last = {alert.id: alert for alert in alerts}
    alarming = {alert.game for alert in last.values() if alert.cleared_s is None}
    views = {view.id: view for view in state.games()}
    # A game that another source carries, too, stands there once.
    games = {id: game for id in views if (game := state.holding(id)) is not None}
    live = {id for id, game in games.items() if game.result == "*" or id in alarming}
    # Of the end of games of this round or the one before something may still be found.
    changed_ms = ((at_ms, id) for id, at_ms in journal.last_changes().items() if id in games)
    latest = sorted(changed_ms, reverse=True)[:RECENT]
    live |= {id for at_ms, id in latest if at_ms >= latest[0][0] - RECENT_MS}
    steps: dict[GameId, list[RecordedChange]] = {}
    whole: set[GameId] = set()
    for id in live:
        steps[id] = journal.changes_of(id)
        made = game_of(id, steps[id])
        if made is not None and _line(made) == _line(games[id]):
            whole.add(id)
        yield
    changes = sorted(itertools.chain(*steps.values()), key=attrgetter("n"))
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
    return RestoredAlerts(told, alerts, all_of(notes, RestoredMute), last_s, log_of(notes))


def _line(game: Game) -> list[str]:
    return [move.uci for move in game.moves]


def _as_it_stands(view: GameView, game: Game) -> Iterator[Change]:
    yield GameMessage(view)
    for ply, move in enumerate(game.moves, 1):
        yield MoveMessage(view.id, ply, unscored(ply, move))


def _again(view: GameView, step: Step | Restated) -> Iterator[Change]:
    """The changes that a step made when it was carried out, as far as the desk looks at it."""
    match step:
        case NewGame(game=game):
            yield GoneMessage(view.id)
            yield from _as_it_stands(msgspec.structs.replace(view, result=game.result), game)
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


#: What the desk is called where parts of the service are listed.
PART = "alerts"


class AlertService:
    """What the terminal calls. Every call is sent to all subscribers who may see alerts."""

    def __init__(
        self,
        publish: Callable[[Sequence[Change]], None],
        clock: Callable[[], float] = time.time,
        report: Callable[[FeedHealth], None] = lambda health: None,
        journal: Journal | None = None,
        aloud: Callable[[], bool] = lambda: True,
    ) -> None:
        """``aloud``: whether who reads the log may know of alerts, as soon as they are raised."""
        self._desk = AlertDesk()
        self._publish = publish
        self._clock = clock
        self._report = report
        self._journal = journal or Journal()
        self._aloud = aloud
        self._faults = FaultLog("alerts are missed")
        self._log = IncidentLog()
        self.restoring = False
        """Games of before come back: that says nothing to arbiters."""
        # Changes that came while those before them are recalled.
        self._waiting: list[Change] | None = None
        # When it was noted last that the desk watches.
        self._noted_s = 0.0

    def await_plugins(self) -> None:
        """Plugins watch boards, too."""
        self._desk.awaits_plugins = True

    def with_alerts(self, changes: Iterable[Change]) -> Sequence[Change]:
        """The changes, and the alerts that follow from them.

        A fault of ours in here costs alerts, never the changes.
        """
        all_of_them = list(changes)
        if self._waiting is not None:
            self._waiting += all_of_them
        if self.restoring or self._waiting is not None:
            return all_of_them
        # Sixteen kinds of alert look at what feeds say. It is reported by :meth:`tick`.
        with self._faults.guarded():
            return [*all_of_them, *self._logged(self._desk.changes(all_of_them, self._clock()))]
        return all_of_them

    def noticed(self, plugin: str, game: GameId, found: Sequence[Finding]) -> None:
        """All that a plugin finds the matter with a board now."""
        self._say(self._desk.noticed(plugin, game, found, self._clock()))

    def tick(self) -> None:
        """To be called about once a second."""
        now_s = self._clock()
        if not 0 <= now_s - self._noted_s < ALIVE_S:
            self._noted_s = now_s
            remember(self._journal, Heartbeat())
        with self._faults.guarded():
            self._say(self._desk.tick(now_s))
        if missed := self._faults.count:
            times = "once" if missed == 1 else f"{missed} times"
            why = f"alerts were missed {times} by a fault of ours; the log says where"
            self._report(FeedHealth(PART, "failed", why, part=True))

    def alerts(self) -> Sequence[Alert]:
        """Those not cleared, in the order in which people should look at them."""
        return self._desk.open()

    def incidents(self) -> Sequence[Incident]:
        """Everything that arbiters were shown and did, in the order it began."""
        return self._log.incidents()

    def enter(self, text: str, game: GameId | None = None) -> None:
        """The arbiter writes something down, with or without a board. It is never rewritten."""
        entry = ArbiterEntry(text[:ENTRY_CHARS], game)
        remember(self._journal, entry)
        self._log.entry(entry.text, self._clock(), game)

    def acknowledge(self, alert: str, note: str = "") -> None:
        """The arbiter has taken note; see :meth:`live.alerts.alert_desk.AlertDesk.acknowledge`."""
        self._say(self._desk.acknowledge(alert, self._clock(), note))

    def note(self, alert: str, text: str) -> None:
        """The arbiter writes something to an alert."""
        self._say(self._desk.note(alert, text))

    def mute(self, alert: str, muted: bool) -> None:
        """Do not show this alert, or show it again; it is still found and logged."""
        self._mute(RestoredMute(muted=muted, alert=alert))

    def mute_kind(self, kind: AlertKind, muted: bool) -> None:
        """The same for all alerts of a kind."""
        self._mute(RestoredMute(muted=muted, kind=kind))

    def mute_board(self, game: GameId, muted: bool) -> None:
        """The same for all alerts of a board."""
        self._mute(RestoredMute(muted=muted, game=game))

    def _mute(self, mute: RestoredMute) -> None:
        remember(self._journal, mute)
        if (what := muted_words(mute)) is not None:
            self._log.muted(what, mute.muted, self._clock(), mute.game)
        self._say(self._desk.mute(**msgspec.structs.asdict(mute)))

    @contextlib.contextmanager
    def behind(self) -> Iterator[None]:
        """Changes wait for the end of the block: what happened before them is being recalled."""
        waiting: list[Change] = []
        self._waiting = waiting
        try:
            yield
        finally:
            self._waiting = None
            with self._faults.guarded():
                self._say(self._desk.changes(waiting, self._clock()))

    def resume(self, past: RestoredAlerts) -> Generator[None, None, None]:
        """Show again what a run before this one showed, without a word; within :meth:`behind`.
        Yields wherever others may have a turn.
        """
        for mute in past.mutes:
            self._desk.mute(**msgspec.structs.asdict(mute))
        for at_s, change in past.told:
            self._desk.recall(change, at_s)
            yield
        self._desk.restore(past.alerts, past.last_s, self._clock())
        self._log = past.log
        stand = {alert.id for alert in self._desk.open()}
        now_s = self._clock()
        ended = [alert for alert in past.log.open() if alert.id not in stand]
        # What the restart has ended, a board of a source that is followed no more, ends in the log.
        self._say([AlertMessage(msgspec.structs.replace(each, cleared_s=now_s)) for each in ended])

    def _say(self, messages: Sequence[AlertMessage]) -> None:
        if messages:
            self._publish(self._logged(messages))

    def _logged(self, messages: Sequence[AlertMessage]) -> Sequence[AlertMessage]:
        """Enter them in log and journal; that one is worded anew every few seconds is not."""
        for alert in (message.alert for message in messages):
            news = self._log.alert(alert, self._clock())
            if news:
                remember(self._journal, alert)
            for line in log_lines(alert, news) if self._aloud() else ():
                # Whatever level people ask for, what an arbiter sees and does is on record.
                log.warning("%s", line)
        return messages


#: Games looked at for moments in one go.
LOOKS = 12
#: Alerts that doubt the result of their game.
_DOUBTS: frozenset[AlertKind] = frozenset({"result", "sources-differ"})


def _time_and_game(told: tuple[float, Change]) -> tuple[float, object]:
    game = getattr(told[1], "game", None)
    return told[0], getattr(game, "id", game)


class StoryService:
    """Looks for moments once a second. A fault in here costs moments, nothing else: what is said of
    games rests on whatever feeds say of them, and must not cost anybody a move.
    """

    def __init__(
        self,
        publish: Callable[[Sequence[Change]], None],
        detail_of: Callable[[GameId], GameDetail | None],
        clock: Callable[[], float] = time.time,
        alerts: Callable[[], Iterable[Alert]] = tuple,
    ) -> None:
        """``alerts``: those that stand."""
        self._desk = StoryDesk(
            lambda game: any(each.game == game and each.kind in _DOUBTS for each in alerts())
        )
        self._publish = publish
        self._detail_of = detail_of
        self._clock = clock
        self.restoring = False
        """What happens happened at a time that is not known: games of before come back."""
        self._faults = FaultLog("moments are missed")

    def published(self, changes: Iterable[Change]) -> None:
        """To be called with every change, before subscribers are sent it."""
        with self._faults.guarded():
            self._desk.heard(changes, None if self.restoring else self._clock())

    def tick(self) -> None:
        """To be called about once a second: look at what has changed."""
        for _ in range(LOOKS):
            if not self._desk.waiting:
                return
            with self._faults.guarded():
                if messages := self._desk.look(self._detail_of):
                    self._publish(messages)

    def resume(self, told: Iterable[tuple[float, Change]]) -> Generator[None, None, None]:
        """Moments of what a run before this one saw stand again, with their times, without a word:
        who was sent them then is not sent them as news. Yields wherever others may have a turn.

        ``told``: that run's changes, each with its time, seconds since 1970 UTC.
        """
        with self._faults.guarded():
            for (at_s, _), together in itertools.groupby(told, key=_time_and_game):
                self._desk.heard([change for _, change in together], at_s)
                yield
            yield from self._desk.recall(self._detail_of)

    def moments(self) -> Sequence[Moment]:
        """Those that stand."""
        return self._desk.moments()
