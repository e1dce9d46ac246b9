"""Alerts and moments of a running service: their clock, their way to subscribers and into the
journal, and what is known of them again after a restart. Part of the composition root.

Alerts are kept as they were sent, with all that arbiters did about them. What they rest on besides
the games, a move that was reported and does not stand, a wait, is kept with the change that brought
it about; so a restart has nothing to find out again.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec
from msgspec.structs import asdict, replace

from live.catalogue import main_event
from live.event.event_state import EventState
from live.games.rounds import normalise_round
from live.journal.journal import Journal
from live.journal.journal_reader import Memory, RecordedNote, encode
from live.messages.alerts import Alert, AlertKind, Incident
from live.messages.figures import GameDetail, GameView
from live.messages.from_clients import DeskCommand
from live.messages.from_sources import Player
from live.messages.health import FeedHealth, HealthReport, part_health
from live.messages.moments import Moment
from live.messages.to_clients import (
    AlertMessage,
    Change,
    GameMessage,
    GoneMessage,
    HealthMessage,
    MoveMessage,
    ScoreMessage,
)
from live.messages.values import FeedName, GameId, Value
from live.process.clock import ReadClock
from live.process.supervision import FaultLog
from live.watch.alert_desk import AlertDesk
from live.watch.alert_kinds import CONTRADICTIONS, NAMES, find_doubted_games
from live.watch.board_memory import BoardMemory, MoveFlow
from live.watch.finding import span
from live.watch.incident_log import (
    ENTRY_CHARS,
    SERVICE,
    IncidentLog,
    is_entered,
    log_lines,
)
from live.watch.story_desk import GameStory, StoryDesk
from live.watch.watched_event import DeskMemory, DetailOf

log = logging.getLogger(__name__)

#: How often it is noted that the desk watches, seconds: in a quiet hour nothing else shows it.
ALIVE_S = 60.0
#: Ticks come every second: after so many seconds without one nothing ran.
STOOD_STILL_S = 10.0
#: Kinds of what is remembered: of a board, of a source, and how long nobody watched.
BOARD, SOURCE, UNWATCHED = "board", "source", "unwatched"


class RestoredMute(Value, kw_only=True, omit_defaults=True):
    """The arbiter does not want to be shown something, or wants it again."""

    muted: bool
    alert: str | None = None
    kind: AlertKind | None = None
    game: GameId | None = None


class Heartbeat(Value):
    """The desk watches; the note's time says since when a restart may have seen nothing."""


class ArbiterEntry(Value, omit_defaults=True):
    """What the arbiter wrote down, or what happened to the service."""

    text: str
    game: GameId | None = None
    by: str = ""
    """Name of the token it came by, or :data:`live.watch.incident_log.SERVICE`."""
    gap_s: float = 0.0
    """Of a start: for how long before it nothing ran."""


class ServiceGap(Value):
    """Nothing ran until the time of this note: the machine slept, or was stopped."""

    from_s: float
    """Since when, seconds since 1970 UTC."""


class BoardRuling(Value):
    """The arbiter removed a board, or brought it back."""

    game: GameId
    removed: bool


Said = Alert | RestoredMute | ArbiterEntry | BoardRuling | Heartbeat | ServiceGap
ALERT = "alert"
#: By what notes of the journal are about.
_SAID: dict[str, type[Said]] = {
    ALERT: Alert,
    "mute": RestoredMute,
    "entry": ArbiterEntry,
    "ruling": BoardRuling,
    "alive": Heartbeat,
    "gap": ServiceGap,
}


def said_in(notes: Iterable[RecordedNote]) -> Iterator[tuple[float, Said]]:
    """What notes say, each with its time, seconds since 1970 UTC; what cannot be read is left out,
    and said.
    """
    for note in notes:
        if note.kind in _SAID:
            try:
                yield note.at_ms / 1000, msgspec.json.decode(note.body, type=_SAID[note.kind])
            except ValueError as error:  # of msgspec, and of what is no UTF-8
                log.error("record %d of the incident log cannot be read (%s)", note.n, error)


def log_of(notes: Iterable[RecordedNote]) -> IncidentLog:
    """The incident log that these notes make."""
    found = IncidentLog()
    for at_s, said in said_in(notes):
        match said:
            case Alert():
                found.add_alert(said, at_s)
            case RestoredMute() if (what := muted_words(said)) is not None:
                found.add_mute(what, said.muted, at_s, said.game)
            case ArbiterEntry(text, game, by, gap_s):
                found.add_entry(text, at_s, game, by, gap_s=gap_s)
            case ServiceGap(from_s):
                found.add_gap(from_s, at_s)
    return found


def muted_words(mute: RestoredMute) -> str | None:
    """What was muted, for people; None for one alert, whose own incident says it."""
    if mute.kind is not None:
        return f"all alerts of kind {NAMES[mute.kind]!r}"
    return "all alerts of this board" if mute.game is not None else None


def changed_players(game: GameView, before: tuple[Player, Player]) -> Iterator[str]:
    """Yield what was changed of a game's players after its first move, for people. That
    they changed seats is an alert.
    """
    now = (game.white, game.black)
    if tuple(map(_identity, before)) == tuple(map(_identity, reversed(now))):
        return
    number = f"Board {game.board}" if game.board is not None else ""
    board = number or " – ".join(player.name for player in before)
    moves = (game.plies_played + 1) // 2
    for color, was, player in zip(("White", "Black"), before, now, strict=True):
        if _identity(was) != _identity(player):
            old = _described(was, player)
            new = _described(player, was)
            yield f"{board}: {color} was {old} and is now {new}, after move {moves}."


def _identity(player: Player) -> tuple[object, ...]:
    return player.name, player.elo or None, player.fide_id or None


def _described(player: Player, other: Player) -> str:
    """Return how a player is told from another: ``Ding, L (2780, FIDE 8603677)``."""
    known = list[str]()
    if player.elo or other.elo:
        known.append(str(player.elo) if player.elo else "no Elo")
    if player.fide_id != other.fide_id:
        known.append(f"FIDE {player.fide_id}" if player.fide_id else "no FIDE id")
    about = f" ({', '.join(known)})" if known else ""
    return f"{player.name or '?'}{about}"


Remembered = TypeVar("Remembered")


def memory_of(kind: str, about: str, value: object | None) -> Memory:
    """What is to be remembered; None: nothing any more."""
    try:
        return Memory(kind, about, encode(value) if value is not None else None)
    except (TypeError, ValueError):
        # Text that no encoding has: it costs nobody else anything.
        log.exception("what is to be remembered of %s %r is left out", kind, about)
        return Memory(kind, about, None)


def read_memories(journal: Journal, kind: str, of: type[Remembered]) -> dict[str, Remembered]:
    """What the journal remembers of this kind, by what it is about; what cannot be read is as if it
    had not been.
    """
    found, decode = {}, msgspec.msgpack.Decoder(of).decode
    for about, body in journal.read_memories(kind).items():
        try:
            found[about] = decode(body)
        except (ValueError, TypeError) as error:
            log.error("what is remembered of %s %s cannot be read (%s)", kind, about, error)
    return found


def rule_again(state: EventState, notes: Iterable[RecordedNote]) -> None:
    """Remove the boards that the arbiter removed and did not bring back."""
    for _, ruling in said_in(notes):
        if isinstance(ruling, BoardRuling):
            (state.remove if ruling.removed else state.bring_back)(ruling.game)


def write_note(journal: Journal, what: Said) -> None:
    """Keep it for the runs to come."""
    kind = next(name for name, each in _SAID.items() if isinstance(what, each))
    journal.add_note(kind, msgspec.json.encode(what), getattr(what, "game", None) or "")


#: What the desk is called where parts of the service are listed.
PART = "alerts"
#: The last that the log says of a run that was not cut off.
ENDED = "The service ended."


class AlertService:
    """What the terminal calls. Every call is sent to all subscribers who may see alerts."""

    def __init__(
        self,
        publish: Callable[[Sequence[Change]], None],
        detail_of: DetailOf = lambda game: None,
        clock: ReadClock = time.time,
        report: HealthReport = lambda health: None,
        journal: Journal | None = None,
        aloud: Callable[[], bool] = lambda: True,
    ) -> None:
        """``detail_of``: how the games stand. ``aloud``: whether who reads the log may know of
        alerts, as soon as they are raised.
        """
        self._desk = AlertDesk(detail_of)
        self._publish = publish
        self._clock = clock
        self._report = report
        self._journal = journal or Journal()
        self._aloud = aloud
        self._faults = FaultLog("alerts are missed")
        self._log = IncidentLog()
        self.restoring = False
        """Games of before come back: that says nothing to arbiters."""
        # When it was noted last that the desk watches.
        self._noted_s = 0.0
        # How long nobody watched, as the journal has it.
        self._unwatched_s = 0.0
        # When the run before this one showed a sign of life last, seconds since 1970 UTC.
        self._before_s = 0.0
        self._started = False
        # Entries about boards from before the start was entered.
        self._held_back: list[tuple[str, GameId]] = []
        self._recorded = Counter[tuple[GameId, str]]()
        self._ticked_s: float | None = None
        # Sources that are followed, and those of them that have finished.
        self._followed: dict[FeedName, bool] = {}
        self._sources: tuple[FeedHealth, ...] = ()
        self._players: dict[GameId, tuple[Player, Player]] = {}
        # Where games that have not begun stand (source, event, round, board), and who plays them.
        self._seated: dict[GameId, tuple[tuple[object, ...], tuple[str, str]]] = {}

    def with_alerts(self, changes: Iterable[Change]) -> Sequence[Change]:
        """The changes, and the alerts that follow from them.

        A fault of ours in here costs alerts, never the changes.
        """
        all_of_them = list(changes)
        if self.restoring:
            return all_of_them
        # Sixteen kinds of alert look at what feeds say. It is reported by :meth:`tick`.
        with self._faults.guarded():
            self._enter_gap(self._clock())
            self._follow(all_of_them)
            return [*all_of_them, *self._logged(self._desk.apply(all_of_them, self._clock()))]
        return all_of_them

    def tick(self) -> None:
        """To be called about once a second."""
        now_s = self._clock()
        self._enter_gap(now_s)
        self._ticked_s = now_s
        if not 0 <= now_s - self._noted_s < ALIVE_S:
            self._noted_s = now_s
            write_note(self._journal, Heartbeat())
        with self._faults.guarded():
            self._say(self._desk.tick(now_s))
        self._journal.keep_memories(self.memories)
        if missed := self._faults.count:
            why = f"alerts were missed by a fault of ours ({missed}); the log says where"
            self._report(part_health(PART, "failed", why))

    def alerts(self) -> Sequence[Alert]:
        """Those not cleared, in the order in which people should look at them."""
        return self._desk.open()

    def incidents(self) -> Sequence[Incident]:
        """Everything that arbiters were shown and did, in the order it began."""
        return self._log.incidents()

    def command(self, asked: DeskCommand, by: str = "") -> None:
        """Carry out what an arbiter wants, here or by a websocket whose token is named ``by``.
        What it names may be gone. A fault of ours in here ends neither screen nor connection.
        """
        about, muted = asked.about, asked.muted
        by = f"token {by}" if by == SERVICE else by
        with self._faults.guarded():
            match asked.act:
                case "acknowledge":
                    self._say(self._desk.acknowledge(about, self._clock(), by))
                case "note":
                    self._say(self._desk.note(about, asked.text, by))
                case "mute":
                    self._mute(RestoredMute(muted=muted, alert=about))
                case "mute-kind":
                    for kind in NAMES:
                        if kind == about:
                            self._mute(RestoredMute(muted=muted, kind=kind))
                case "mute-board" if about:
                    self._mute(RestoredMute(muted=muted, game=about))
                case "enter" if asked.text.strip():
                    self.enter(asked.text.strip(), about or None, by)

    def enter(self, text: str, game: GameId | None = None, by: str = "") -> None:
        """The arbiter writes something down, with or without a board. It is never rewritten."""
        self._enter(ArbiterEntry(text[:ENTRY_CHARS], game, by))

    def _enter(self, entry: ArbiterEntry) -> None:
        write_note(self._journal, entry)
        now_s = self._clock()
        self._log.add_entry(entry.text, now_s, entry.game, entry.by, gap_s=entry.gap_s)

    def record(self, text: str) -> None:
        """Something that happened to the service belongs into the log."""
        self.enter(text, by=SERVICE)

    def _record_board(self, text: str, game: GameId) -> None:
        """Something was changed about a board; never before the start is entered, and
        not with every poll of a source that gives two copies in turn.
        """
        if self._started:
            self._recorded[game, text] += 1
            if is_entered(self._recorded[game, text], is_new=False):
                self.enter(text, game, SERVICE)
        else:
            self._held_back.append((text, game))

    def _enter_gap(self, now_s: float) -> None:
        """Enter that nothing ran since the last tick, if so."""
        last_s = self._ticked_s
        if last_s is None or not self._started:
            return
        if now_s < last_s - STOOD_STILL_S:
            self._ticked_s = now_s
            back = span(last_s - now_s)
            self.record(f"The clock of this machine was set back by {back}.")
        elif now_s - last_s >= STOOD_STILL_S:
            self._ticked_s = now_s
            write_note(self._journal, ServiceGap(last_s))
            self._log.add_gap(last_s, now_s)

    def record_start(self, delay_s: float) -> None:
        """The service runs, what the journal had of the run before it is restored; counts once.
        ``delay_s``: how far the public is behind.
        """
        if self._started:
            return
        self._started = True
        own = [each.text for each in self._log.incidents() if each.kind == SERVICE]
        again, away_s = "", 0.0
        if self._before_s:
            # When it was last sure to run is known, not when it was cut off.
            how = "been cut off without a word at most" if own and own[-1] != ENDED else "ended"
            away_s = max(0.0, self._clock() - self._before_s)
            again = f" again; the one before had {how} {span(away_s)} earlier"
        behind = f", the public {span(delay_s)} behind" if delay_s else ""
        text = f"The service started{again}{behind}."
        self._enter(ArbiterEntry(text, by=SERVICE, gap_s=away_s))
        for held in self._held_back:
            self._record_board(*held)
        self._held_back.clear()
        self._enter_sources()

    def record_end(self) -> None:
        """The service that has been running ends."""
        if self._started:
            self.record(ENDED)

    def _follow(self, changes: Sequence[Change]) -> None:
        """Enter what the log says of sources, and of pairings that were changed."""
        for change in changes:
            match change:
                case HealthMessage(feeds=feeds):
                    self._sources = feeds
                    self._enter_sources()
                case GameMessage(game=game):
                    self._enter_players(game)
                case GoneMessage(game=id):
                    self._players.pop(id, None)
                    self._enter_gone(id)

    def _enter_gone(self, id: GameId) -> None:
        """Enter who came for whom where a game that had not begun is another now."""
        if id not in self._seated:
            return
        seat, before = self._seated.pop(id)
        seats = self._seated.items()
        instead = [(game, now) for game, (place, now) in seats if place == seat]
        # Where there are several it is another game: matches number their boards alike.
        if len(instead) == 1:
            game, now = instead[0]
            self._enter_instead(game, seat[-1], before, now)

    def _enter_players(self, game: GameView) -> None:
        """Enter who came for whom at a board before its first move, and what was
        changed of a player after it.
        """
        seat = (game.feed, main_event(game), normalise_round(game.round), game.board)
        now = (game.white.name, game.black.name)
        _, before = self._seated.pop(game.id, (seat, now))
        players = (game.white, game.black)
        known = self._players.get(game.id, players)
        self._players[game.id] = players
        if game.plies_played:
            for text in changed_players(game, known):
                self._record_board(text, game.id)
        elif game.board is not None and all(now):
            self._seated[game.id] = seat, now
            self._enter_instead(game.id, game.board, before, now)

    def _enter_instead(
        self, game: GameId, board: object, before: tuple[str, str], now: tuple[str, str]
    ) -> None:
        if set(before) != set(now):
            was, came = " – ".join(before), " – ".join(now)
            text = f"Board {board}: {came} in place of {was}, before the first move."
            self._record_board(text, game)

    def _enter_sources(self) -> None:
        """Enter that a source is followed, or has finished; when it is not reached is an alert."""
        for feed in self._sources if self._started else ():
            if not feed.part and feed.state in ("live", "finished"):
                over = feed.state == "finished"
                if self._followed.get(feed.feed) is not over:
                    self._followed[feed.feed] = over
                    self.record(f"Source {feed.feed} {'has finished' if over else 'is followed'}.")

    def _mute(self, mute: RestoredMute) -> None:
        write_note(self._journal, mute)
        if (what := muted_words(mute)) is not None:
            self._log.add_mute(what, mute.muted, self._clock(), mute.game)
        self._say(self._desk.mute(**asdict(mute)))

    # --- over a restart ---------------------------------------------------------------------------

    def memories(self) -> list[Memory]:
        """What there is to remember since the last call, beyond games and alerts."""
        boards = self._desk.unremembered()
        flows = {board.view.feed: board.flow for board in boards.values() if board is not None}
        found = [
            memory_of(BOARD, game, board.memory if board is not None else None)
            for game, board in boards.items()
        ]
        found += (memory_of(SOURCE, feed, flow) for feed, flow in flows.items())
        if self._unwatched_s != self._desk.unwatched_s:
            self._unwatched_s = self._desk.unwatched_s
            found.append(memory_of(UNWATCHED, "", self._unwatched_s))
        return found

    def resume(self, state: EventState, feeds: Sequence[FeedName]) -> None:
        """Show again what a run before this one showed, without a word: of the games that stand
        again and the sources followed. Whatever a strange journal brings about in here, the games
        stand, and the service starts.
        """
        with self._faults.guarded():
            self._resume(state, feeds)

    def _resume(self, state: EventState, feeds: Sequence[FeedName]) -> None:
        notes, changed_ms = self._journal.read_notes(), self._journal.read_last_change_times()
        alerts = list[Alert]()
        for _, said in said_in(notes):
            if isinstance(said, RestoredMute):
                self._desk.mute(**asdict(said))
            elif isinstance(said, Alert) and (said.feed is None or said.feed in feeds):
                alerts.append(said)
        times_ms = [*changed_ms.values(), *(note.at_ms for note in notes[-1:])]
        games = [(view, state.reader(view.id)) for view in state.games()]
        for view, _ in games:
            self._enter_players(view)
        memory = DeskMemory(
            read_memories(self._journal, BOARD, BoardMemory),
            read_memories(self._journal, SOURCE, MoveFlow),
            read_memories(self._journal, UNWATCHED, float).get("", 0.0),
        )
        self._unwatched_s, now_s = memory.unwatched_s, self._clock()
        self._before_s = max(times_ms, default=0) / 1000
        self._desk.restore(games, memory, alerts, self._before_s, now_s)
        # Before anything else shows that this run lives.
        self._journal.keep_memories(self.memories)
        self._log = log_of(notes)
        stand = {alert.id for alert in self._desk.open()}
        ended = [alert for alert in self._log.open() if alert.id not in stand]
        # What the restart has ended, a board of a source that is followed no more, ends in the log.
        self._say([AlertMessage(replace(each, cleared_s=now_s)) for each in ended])

    def _say(self, messages: Sequence[AlertMessage]) -> None:
        if messages:
            self._publish(self._logged(messages))

    def _logged(self, messages: Sequence[AlertMessage]) -> Sequence[AlertMessage]:
        """Enter them in log and journal; that one is worded anew every few seconds is not."""
        for alert in (message.alert for message in messages):
            is_kept = self._log.is_to_be_kept(alert)
            news = self._log.add_alert(alert, self._clock())
            if is_kept:
                write_note(self._journal, alert)
            for line in log_lines(alert, news) if self._aloud() else ():
                # Whatever level people ask for, what an arbiter sees and does is on record.
                log.warning("%s", line)
        return messages


# --- moments ---

#: What is remembered of a game.
STORY = "story"
#: Games looked at for moments in one go.
LOOKS = 12


class StoryService:
    """Looks for moments once a second. A fault in here costs moments, nothing else: what is said of
    games rests on whatever feeds say of them, and must not cost anybody a move.
    """

    def __init__(
        self,
        publish: Callable[[Sequence[Change]], None],
        detail_of: Callable[[GameId], GameDetail | None],
        clock: ReadClock = time.time,
        alerts: Callable[[], Iterable[Alert]] = tuple,
        journal: Journal | None = None,
    ) -> None:
        """``alerts``: those that stand."""
        self._desk = StoryDesk(lambda game: game in find_doubted_games(alerts(), CONTRADICTIONS))
        self._publish = publish
        self._detail_of = detail_of
        self._clock = clock
        self._journal = journal or Journal()
        self.restoring = False
        """Games of before come back."""
        # Those that came back move by move: what is told of them may be out of date.
        self._made_anew: set[GameId] = set()
        self._faults = FaultLog("moments are missed")

    def published(self, changes: Iterable[Change]) -> None:
        """To be called with every change, before subscribers are sent it."""
        if self.restoring:
            news = (each for each in changes if isinstance(each, MoveMessage | ScoreMessage))
            self._made_anew.update(each.game for each in news)
            return
        with self._faults.guarded():
            self._desk.follow(changes, self._clock())

    def tick(self) -> None:
        """To be called about once a second: look at what has changed."""
        for _ in range(LOOKS):
            if not self._desk.waiting:
                break
            with self._faults.guarded():
                if messages := self._desk.look(self._detail_of):
                    self._publish(messages)
        self._desk.remember_waiting()
        self._journal.keep_memories(self.memories)

    def memories(self) -> list[Memory]:
        """What there is to remember since the last call."""
        return [memory_of(STORY, game, story) for game, story in self._desk.unremembered().items()]

    def resume(self, games: Iterable[GameView]) -> None:
        """Moments of what a run before this one saw stand again, with their times, without a word:
        who was sent them then is not sent them as news.
        """
        with self._faults.guarded():
            stories = read_memories(self._journal, STORY, GameStory)
            self._desk.restore(games, stories, self._made_anew)
        self._made_anew.clear()

    def moments(self) -> Sequence[Moment]:
        """Those that stand."""
        return self._desk.moments()
