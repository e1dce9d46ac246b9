"""The arbiters' desk of a running service: alerts, their times, and the incident log.

Alerts are stored as they were sent, with the arbiters' actions on them. Other facts
that alerts depend on, such as a withdrawn move or a waiting time, are stored together
with the change that caused them. A restart reads all of them from the journal.
"""

import logging
from collections import Counter
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from live.event.bus import TakeChanges
from live.event.event import Event
from live.event.game_change import EventChange
from live.messages.alerts import Alert, Incident
from live.messages.figures import GameView
from live.messages.from_clients import DeskCommand
from live.messages.health import FeedHealth, HealthReport, part_health
from live.messages.to_clients import (
    AlertMessage,
    GameMessage,
    GoneMessage,
    HealthMessage,
)
from live.messages.values import FeedName, GameId
from live.process.clock import ReadClock
from live.process.supervision import FaultLog
from live.watch.alert_desk import AlertDesk
from live.watch.alert_kinds import NAMES
from live.watch.arbiter_notes import (
    ArbiterEntry,
    BoardRuling,
    Heartbeat,
    Mute,
    ServiceGap,
    WatchMemory,
    WatchStore,
    build_incident_log,
)
from live.watch.board_memory import BoardMemory, MoveFlow
from live.watch.finding import span
from live.watch.incident_log import (
    ENTRY_CHARS,
    SERVICE,
    IncidentLog,
    log_lines,
    name_board_and_players,
    should_enter_occurrence,
)
from live.watch.pairing_changes import PairingChanges
from live.watch.watched_event import DeskMemory, FindRecord

log = logging.getLogger(__name__)

#: Time between two heartbeats in the journal, seconds. In a quiet hour nothing else
#: shows that the service was running.
ALIVE_S = 60.0
#: After this many seconds without a tick, the service counts as not having run. Ticks
#: normally come every second.
STOOD_STILL_S = 10.0
#: Kinds of values in the journal: about a board, about a source, and the time during
#: which the service did not run.
BOARD, SOURCE, UNWATCHED = "board", "source", "unwatched"

#: Name of the desk in the list of the service's parts.
PART = "alerts"
#: The part of the service that writes its problem into the log before it is reported.
_LOGS_ITSELF = "journal"
#: Text of the last entry of a run that ended normally.
ENDED = "The service ended."


class ArbiterDesk:
    """Publishes alerts, carries out arbiters' commands, and records both."""

    def __init__(
        self,
        publish: TakeChanges,
        store: WatchStore,
        clock: ReadClock,
        find_record: FindRecord = lambda game: None,
        report: HealthReport = lambda health: None,
    ) -> None:
        """``clock`` returns seconds since 1970 UTC."""
        self._desk = AlertDesk(find_record)
        self._publish = publish
        self._clock = clock
        self._report = report
        self._store = store
        self.should_log: Callable[[], bool] = lambda: True
        """Return whether alerts may appear in the log without delay."""
        self._faults = FaultLog("alerts are missed")
        self._log = IncidentLog()
        self.restoring = False
        """Whether games of an earlier run are being restored, which causes no alerts.
        """
        # Time of the last heartbeat, seconds since 1970 UTC.
        self._noted_s = 0.0
        # Time without a running service, as stored in the journal, seconds.
        self._unwatched_s = 0.0
        # Last time at which the earlier run is known to have been alive, seconds since
        # 1970 UTC.
        self._lived_s = 0.0
        self._started = False
        # Entries about boards, to be added after the entry about the service's start.
        self._held_back: list[tuple[str, GameId]] = []
        self._recorded = Counter[tuple[GameId, str]]()
        self._ticked_s: float | None = None
        # Whether each followed source has finished.
        self._followed: dict[FeedName, bool] = {}
        self._sources: tuple[FeedHealth, ...] = ()
        self._pairings = PairingChanges()

    def follow(self, changes: Sequence[EventChange]) -> None:
        """Publish the alerts that follow from changes of the event.

        An internal error can only cause missed alerts. :meth:`tick` reports such
        errors.
        """
        if self.restoring:
            return
        with self._faults.guarded():
            self._enter_gap(self._clock())
            self._enter_changes(changes)
            self._send(self._desk.apply(changes, self._clock()))

    def tick(self) -> None:
        """Check for alerts that depend on time. Call this about once a second."""
        now_s = self._clock()
        self._enter_gap(now_s)
        self._ticked_s = now_s
        if not 0 <= now_s - self._noted_s < ALIVE_S:
            self._noted_s = now_s
            self._store.write_note(Heartbeat())
        with self._faults.guarded():
            self._send(self._desk.tick(now_s))
        self._store.keep_memories(self.memories())
        missed = self._faults.count
        if missed:
            reason = (
                f"a program fault caused missed alerts ({missed}); the log says where"
            )
            self._report(part_health(PART, "failed", reason))

    def alerts(self) -> Sequence[Alert]:
        """Return the open alerts, the most urgent first."""
        return self._desk.open()

    def incidents(self) -> Sequence[Incident]:
        """Return all incidents (alerts and actions of arbiters) in the order they
        began.
        """
        return self._log.incidents()

    def command(self, request: DeskCommand, by: str = "") -> None:
        """Carry out an arbiter's command; ``by`` is the name of the client's access
        token.

        The alert or board that the command names might no longer exist. Internal errors
        are caught, so that neither the terminal nor the client's connection ends.
        """
        about = request.about
        muted = request.muted
        by = f"token {by}" if by == SERVICE else by
        with self._faults.guarded():
            match request.act:
                case "acknowledge":
                    self._send(self._desk.acknowledge(about, self._clock(), by))
                case "note":
                    self._send(self._desk.note(about, request.text, by))
                case "mute":
                    self._apply_mute(Mute(muted=muted, alert=about))
                case "mute-kind":
                    for kind in NAMES:
                        if kind == about:
                            self._apply_mute(Mute(muted=muted, kind=kind))
                case "mute-board" if about:
                    self._apply_mute(Mute(muted=muted, game=about))
                case "enter" if request.text.strip():
                    self.enter(request.text.strip(), about or None, by)

    def enter(self, text: str, game: GameId | None = None, by: str = "") -> None:
        """Add an arbiter's entry to the incident log, with or without a board."""
        self._store_entry(ArbiterEntry(text[:ENTRY_CHARS], game, by))

    def remove_board(self, state: Event, game: GameId) -> None:
        """Remove a board from all screens, tables and reports; record the removal in
        the log.
        """
        view = state.game(game)
        if view is not None:
            self._store.write_note(BoardRuling(game, True))
            self.enter(f"Board removed: {name_board_and_players(view)}", game)
            self._publish(state.remove(game))

    def bring_back_board(self, state: Event) -> str:
        """Restore the board that was removed last; return its description, empty if
        there is none.
        """
        words = ""
        for game in state.removed_ids()[-1:]:
            self._store.write_note(BoardRuling(game, False))
            self._publish(state.restore_removed(game))
            view = state.game(game)
            words = name_board_and_players(view) if view is not None else game
            self.enter(f"Board brought back: {words}", game)
        return words

    def _store_entry(self, entry: ArbiterEntry) -> None:
        self._store.write_note(entry)
        now_s = self._clock()
        self._log.add_entry(entry.text, now_s, entry.game, entry.by, gap_s=entry.gap_s)

    def record(self, text: str) -> None:
        """Add an entry about the service itself to the incident log."""
        self.enter(text, by=SERVICE)

    def _record_board(self, text: str, game: GameId) -> None:
        """Enter a change of a board in the log, or queue it until the service's start
        is entered.

        Repeated changes are entered ever more rarely, since a source that alternates
        between two versions would otherwise cause an entry with every poll.
        """
        if self._started:
            self._recorded[game, text] += 1
            if should_enter_occurrence(self._recorded[game, text], is_new=False):
                self.enter(text, game, SERVICE)
        else:
            self._held_back.append((text, game))

    def _enter_gap(self, now_s: float) -> None:
        """Enter that the service did not run for a time, or that the machine's clock
        was set back.
        """
        last_s = self._ticked_s
        if last_s is None or not self._started:
            return
        if now_s < last_s - STOOD_STILL_S:
            self._ticked_s = now_s
            set_back = span(last_s - now_s)
            self.record(f"The clock of this machine was set back by {set_back}.")
        elif now_s - last_s >= STOOD_STILL_S:
            self._ticked_s = now_s
            self._store.write_note(ServiceGap(last_s))
            self._log.add_gap(last_s, now_s)

    def record_start(self, delay_s: float) -> None:
        """Enter once that the service started, and how the previous run ended.

        ``delay_s`` is the delay with which the public sees the event, seconds.
        """
        if self._started:
            return
        self._started = True
        incidents = self._log.incidents()
        own = [incident.text for incident in incidents if incident.kind == SERVICE]
        restarted = ""
        away_s = 0.0
        if self._lived_s:
            # The journal contains the last heartbeat, but not the moment of a crash.
            is_cut_off = own and own[-1] != ENDED
            how = "was cut off, at most" if is_cut_off else "ended"
            away_s = max(0.0, self._clock() - self._lived_s)
            restarted = f" again; the previous run {how} {span(away_s)} earlier"
        public_lag = f", with the public {span(delay_s)} behind" if delay_s else ""
        started = f"The service started{restarted}{public_lag}."
        self._store_entry(ArbiterEntry(started, by=SERVICE, gap_s=away_s))
        for text, game in self._held_back:
            self._record_board(text, game)
        self._held_back.clear()
        self._enter_sources()

    def record_end(self) -> None:
        """Record the end of the service, if its start was recorded."""
        if self._started:
            self.record(ENDED)

    def _enter_changes(self, changes: Sequence[EventChange]) -> None:
        """Enter changes of sources and of pairings."""
        for change in changes:
            match change:
                case HealthMessage(feeds=feeds):
                    self._sources = feeds
                    self._enter_sources()
                case GameMessage(game=game):
                    self._enter_pairing(game)
                case GoneMessage(game=id):
                    replacing, texts = self._pairings.drop(id)
                    for text in texts:
                        self._record_board(text, replacing)

    def _enter_pairing(self, game: GameView) -> None:
        for text in self._pairings.follow(game):
            self._record_board(text, game.id)

    def _enter_sources(self) -> None:
        """Enter that a source is followed or has finished.

        Other changes of sources are reported as alerts.
        """
        if not self._started:
            return
        for feed in self._sources:
            if feed.part or feed.state not in ("live", "finished"):
                continue
            is_over = feed.state == "finished"
            if self._followed.get(feed.feed) is not is_over:
                self._followed[feed.feed] = is_over
                state = "has finished" if is_over else "is followed"
                self.record(f"Source {feed.feed} {state}.")

    def _apply_mute(self, mute: Mute) -> None:
        self._store.write_note(mute)
        description = mute.describe()
        if description is not None:
            self._log.add_mute(description, mute.muted, self._clock(), mute.game)
        self._send(self._desk.mute(mute))

    # --- restart ---

    def memories(self) -> list[WatchMemory]:
        """Return the values that have changed since the last call and must be stored.

        Games and alerts are stored elsewhere.
        """
        memories: list[WatchMemory] = []
        flows: dict[FeedName, MoveFlow] = {}
        for game, board in self._desk.unremembered().items():
            memories.append(WatchMemory(BOARD, game, board and board.memory))
            if board is not None:
                flows[board.view.feed] = board.flow
        memories += [WatchMemory(SOURCE, feed, flow) for feed, flow in flows.items()]
        if self._unwatched_s != self._desk.unwatched_s:
            self._unwatched_s = self._desk.unwatched_s
            memories.append(WatchMemory(UNWATCHED, "", self._unwatched_s))
        return memories

    def resume(self, state: Event, feeds: Sequence[FeedName]) -> None:
        """Restore the alerts of an earlier run about these games and sources, without
        publishing them.

        If a damaged journal causes an error here, the service still starts with its
        games.
        """
        with self._faults.guarded():
            self._resume(state, feeds)

    def _resume(self, state: Event, feeds: Sequence[FeedName]) -> None:
        notes = self._store.read_notes()
        alerts: list[Alert] = []
        for _, note in notes:
            if isinstance(note, Mute):
                self._desk.mute(note)
            elif isinstance(note, Alert) and (note.feed is None or note.feed in feeds):
                alerts.append(note)
        records = list(state.list_records())
        for record in records:
            self._enter_pairing(record.view)
        memory = DeskMemory(
            self._store.read_memories(BOARD, BoardMemory),
            self._store.read_memories(SOURCE, MoveFlow),
            self._store.read_memories(UNWATCHED, float).get("", 0.0),
        )
        self._unwatched_s = memory.unwatched_s
        now_s = self._clock()
        self._lived_s = self._store.read_last_alive_s()
        self._desk.restore(records, memory, alerts, self._lived_s, now_s)
        # Stored first: an earlier write would show that this run is alive, without a
        # record of the gap before it.
        self._store.keep_memories(self.memories())
        self._log = build_incident_log(notes)
        open_ids = {alert.id for alert in self._desk.open()}
        ended = [alert for alert in self._log.open() if alert.id not in open_ids]
        # Alerts that ended with the restart, such as alerts about a source that is no
        # longer followed, also end in the log.
        self._send([AlertMessage(replace(alert, cleared_s=now_s)) for alert in ended])

    def _send(self, messages: Sequence[AlertMessage]) -> None:
        if messages:
            self._publish(self._store_alerts(messages))

    def _store_alerts(self, messages: Sequence[AlertMessage]) -> Sequence[AlertMessage]:
        """Return the messages, after storing their alerts in the log and the journal.

        An alert of which only figures have changed is not stored.
        """
        for alert in (message.alert for message in messages):
            changes = self._log.add_alert(alert, self._clock())
            if changes is None:
                continue
            self._store.write_note(alert)
            if alert.feed == _LOGS_ITSELF:
                changes = [change for change in changes if change[0] != "raised"]
            if self.should_log():
                # Warnings pass every usual log level, so arbiters' alerts are always in
                # the log.
                for line in log_lines(alert, changes):
                    log.warning("%s", line)
        return messages
