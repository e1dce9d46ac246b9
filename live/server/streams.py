"""Numbered streams of changes, one for each different filter. Pure.

All subscribers with the same filter read the same stream. Each stream has its own
numbering: with global numbers, a client with a filter could not distinguish a message
that it was not meant to get from one that was lost. ``epoch`` identifies a numbering.
It changes when a stream is dropped and opened again, and at every start of the service,
so an old number is never mistaken for a new one.

After :meth:`StreamHub.publish` and :meth:`StreamHub.flush` new messages wait in each
stream until they are taken. A snapshot by :meth:`StreamHub.snapshot` is identical to
the state of a client that has applied the stream up to the snapshot's number.

A move and the removal of a game are sent at once, after all waiting changes of the same
game, so that the order within a game is kept. All other changes wait for the next tick.
A later change replaces an earlier one if it overwrites everything that the earlier one
would have set; it is put **at the end** of the queue. Leaving out the earlier change
does not alter the final state; property tests check this with random games.

Changes of different games, and changes that are not about a game (standings, engine,
health), affect different parts of a client's state, so they can come in any order.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from io import BytesIO
from itertools import chain
from typing import Protocol

import msgspec

import live
from live.messages.alerts import Alert
from live.messages.figures import GameDetail, GameView, PlayerView, PlyView
from live.messages.health import PublicDelay
from live.messages.to_clients import (
    AlertMessage,
    Change,
    ClockMessage,
    EngineMessage,
    GainsMessage,
    GameMessage,
    GoneMessage,
    HealthMessage,
    HelloMessage,
    Message,
    MomentMessage,
    MoveMessage,
    PointMessage,
    ScoreMessage,
    StandingMessage,
)
from live.messages.values import GameId
from live.process.clock import ReadClock
from live.server import wire
from live.server.brief import encode_brief
from live.server.event_reader import EventReader, game_of, replay_game
from live.server.filtered_reader import snapshot_without_games
from live.server.limits import ClientLimits
from live.server.stream_filter import StreamFilter
from live.server.visibility import Visibility, redact
from live.server.wire import split_frames

#: The number of a stream's first snapshot. The number of ``hello`` is one less than
#: that of the message after it.
FIRST_SEQ = 1


class NumberedMessage(msgspec.Struct, gc=False, eq=False):
    """One message of one stream. Streams can share ``body``, but not the number.

    The message is deflated only once, when a subscriber first needs it.
    """

    seq: int
    body: bytes
    at_s: float
    """The time when the message was numbered, on the clock of the hub."""
    numbered: bool = False
    """True if ``body`` already contains the number, as snapshots do."""
    packed: bytes | None = None
    """The numbered message, deflated; None until it is needed, and if it is too short.
    """

    @property
    def plain(self) -> bytes:
        """The numbered message, not deflated."""
        return self.body if self.numbered else wire.number(self.body, self.seq)

    @property
    def is_slow_to_deflate(self) -> bool:
        """True if the message is not deflated yet, and that would take more than about
        a millisecond.
        """
        return self.packed is None and len(self.body) > wire.LONG_BYTES

    def pack(self) -> None:
        """Deflate the message now, for all subscribers that accept it deflated.

        This can be called in any thread, since a body never changes.
        """
        if self.packed is None:
            self.packed = wire.deflate(self.plain)

    def frames(self, size: int = 1 << 63, *, deflated: bool = False) -> Iterator[bytes]:
        """Yield the message as frames of at most ``size`` bytes; by default one frame.

        Each frame is built only when it is needed.
        """
        if deflated:
            self.pack()
        packed = self.packed if deflated else None
        return split_frames(packed or self.plain, size, deflated=packed is not None)


class Reader(Protocol):
    """A reader of a stream."""

    def close(self, code: wire.CloseCode, reason: str = "") -> None: ...


Writers = dict[Reader, Callable[[bytes], None]]


class NumberedStream:
    """The messages of one filter, with their numbers, history and readers."""

    def __init__(
        self,
        selected: StreamFilter,
        epoch: str,
        clock: ReadClock,
        limits: ClientLimits,
    ) -> None:
        self.filter = selected
        self.epoch = epoch
        self.seq = FIRST_SEQ
        """The number of the last message, which is also that of a snapshot taken now.
        """
        self.readers: set[Reader] = set()
        """All readers of this stream. The stream is kept while it has readers."""
        self.ready: tuple[Writers, Writers] = {}, {}
        """The write functions of readers that are ready for more messages: first those
        for plain messages, then those for deflated messages.
        """
        self.used_s = clock()
        """The time when the stream was last opened or lost a reader."""
        self.is_narrow = selected.is_narrow
        """True if its filter selects some games; otherwise it contains all games."""
        self.games: set[GameId] = set()
        """The ids of the games in a narrow stream."""
        self.players: set[str] = set()
        """The ids of the players in a narrow stream's games."""
        self.snapshot: NumberedMessage | None = None
        """The last encoded snapshot; None if there is none or it is too old."""
        self._clock = clock
        self._limits = limits
        self._history: deque[NumberedMessage] = deque()
        self._history_bytes = 0
        self.unsent: list[NumberedMessage] = []
        """Messages that the next :meth:`take` returns."""
        # For a brief stream: the last message about each game header, each player, the
        # engine and the health.
        self._sent: dict[Hashable, bytes] = {}

    def append(self, body: bytes) -> None:
        """Give an encoded message the next number, and add it to the stream."""
        self.seq += 1
        numbered = NumberedMessage(self.seq, body, self._clock())
        self.unsent.append(numbered)
        self._history.append(numbered)
        self._history_bytes += len(body)
        self._evict_old(numbered.at_s)

    def list_since(self, epoch: str, seq: int) -> list[NumberedMessage] | None:
        """Return all messages after the number ``seq`` of an epoch.

        Return None if some are no longer kept, or if it is not this stream's epoch.
        """
        self._evict_old(self._clock())
        missing = self.seq - seq
        if epoch != self.epoch or not 0 <= missing <= len(self._history):
            return None
        return list(self._history)[len(self._history) - missing :]

    def take(self) -> list[NumberedMessage]:
        """Return the messages appended since the last call."""
        unsent = self.unsent
        self.unsent = []
        return unsent

    def release(self, reader: Reader) -> None:
        """Remove a reader, which can resume while the history contains its position."""
        self.readers.remove(reader)
        self.used_s = self._clock()

    def record_news(self, change: Change, body: bytes) -> bool:
        """Record a message of a brief stream; return whether it must be sent.

        It need not be sent if it is the same as the last one about its subject, which
        is common, since brief messages leave out many fields.
        """
        match change:
            case StandingMessage(player=PlayerView(games=0, moves=0)):
                self._sent.pop((None, _coalescing_key(change)), None)
            case GameMessage() | StandingMessage() | EngineMessage() | HealthMessage():
                about = game_of(change), _coalescing_key(change)
                before = self._sent.get(about)
                self._sent[about] = body
                return before != body
            case GoneMessage(game=game):
                self._sent.pop((game, GameMessage), None)
        return True

    def _evict_old(self, now_s: float) -> None:
        history = self._history
        limits = self._limits
        while history and (
            len(history) > limits.history_messages
            or self._history_bytes > limits.history_bytes
            or now_s - history[0].at_s > limits.history_age_s
        ):
            self._history_bytes -= len(history.popleft().body)


def _coalescing_key(change: Change) -> Hashable:
    """Return the key of a change: a later change of a game with the same key replaces
    an earlier one.
    """
    match change:
        case ScoreMessage(ply=PlyView(ply=at)) | ClockMessage(ply=at):
            return type(change), at
        case PointMessage(color=color, point=point):
            return PointMessage, color, point.ply
        case (
            AlertMessage(alert=Alert(id=id)) | StandingMessage(player=PlayerView(id=id))
        ):
            return type(change), id
        case GainsMessage(player=id, gain_cp=gain_cp):
            return GainsMessage, id, gain_cp
    return type(change)


#: Limits for sending an existing snapshot to new readers: its age, seconds, and the
#: size of the changes after it as a share of its own size.
_SNAPSHOT_S = 30.0
_SNAPSHOT_SHARE = 0.25
#: Filters that select no game cost little, so their limit is higher by this factor.
_OF_NOTHING = 4


class TooManyFilters(Exception):
    """The maximum number of different filters is in use. It is limited since each
    filter
    needs its own encoding and history.
    """


class StreamHub:
    """All streams of one audience in one run of the service.

    ``clock`` returns a monotonic time, seconds. ``epoch`` must be different at every
    start.
    """

    def __init__(
        self,
        state: EventReader,
        *,
        epoch: str,
        clock: ReadClock,
        limits: ClientLimits = ClientLimits(),  # noqa: B008 - frozen
        delay: Callable[[Visibility], PublicDelay] = lambda visibility: PublicDelay(),
    ) -> None:
        self._state = state
        self._epoch = epoch
        self._clock = clock
        self._limits = limits
        self._delay = delay
        self._stream_count = 0
        self.reset()

    def reset(self) -> None:
        """Drop all streams; new streams get other epochs."""
        # Changes that wait for the tick, by game. Loss policy: a change is left out
        # only if a later one overwrites it. The size is limited by the state: at most
        # one change for each field at a client waits.
        self._waiting: dict[GameId | None, dict[Hashable, Change]] = {}
        self._streams: dict[StreamFilter, NumberedStream] = {}
        # For each game, the data that filters check. Only if it changes, the filters
        # are checked again.
        self._identities: dict[GameId, object] = {}
        self._known_players: set[str] = set()
        # Finished games as encoded in snapshots, compressed at their second use; a game
        # is dropped when it changes.
        self._finished: dict[GameId, dict[tuple[Visibility, bool], bytes]] = {}

    # --- incoming changes -------------------------------------------------------------

    def publish(self, changes: Iterable[Change]) -> None:
        """Add changes that are already part of the state.

        Moves go to the streams at once.
        """
        ready: list[Change] = []
        for change in changes:
            ready += self._enqueue(change)
        self._route(ready)

    def flush(self) -> None:
        """Pass all waiting changes to the streams (the tick)."""
        if self._waiting:
            waiting = chain.from_iterable(map(dict.values, self._waiting.values()))
            self._waiting = {}
            self._route(list(waiting))

    def _enqueue(self, change: Change) -> list[Change]:
        """Add a change; return the changes to be sent now, in order (usually none)."""
        if (game := game_of(change)) is not None:
            self._finished.pop(game, None)
        # Moments are few, so they are sent at once. They come after the game's header,
        # so that clients know the game.
        if isinstance(change, MoveMessage | GoneMessage | MomentMessage):
            return [*self._drain_game(change.game), change]
        waiting = self._waiting.setdefault(game, {})
        slot = _coalescing_key(change)
        # The change must be at the end of the queue: a point of a curve makes clients
        # drop the later points of its colour.
        waiting.pop(slot, None)
        waiting[slot] = change
        return []

    def _drain_game(self, game: GameId) -> list[Change]:
        """Empty the queue of one game and return its waiting changes, in order."""
        return list(self._waiting.pop(game, {}).values())

    # --- streams ----------------------------------------------------------------------

    @property
    def streams(self) -> list[NumberedStream]:
        """All streams, as a new list."""
        return list(self._streams.values())

    def open_stream(self, selected: StreamFilter) -> NumberedStream:
        """Return the stream of a filter; create it if there is none.

        If too many filters are in use, the stream that has been without readers for the
        longest time is dropped. Filters that select everything have no limit, since
        they are few. Filters that select no game have a separate limit, so that they do
        not displace others.

        Raises:
            TooManyFilters: too many filters are in use, and all streams have readers.
        """
        stream = self._streams.get(selected)
        if stream is None:
            self.flush()
            stream = self._create_stream(selected)
            if stream.is_narrow:
                self._make_room(bool(stream.games))
            self._streams[selected] = stream
        stream.used_s = self._clock()
        return stream

    def snapshot(self, stream: NumberedStream) -> NumberedMessage:
        """Return a snapshot for a stream, with the number of the stream's last message.

        It is encoded and deflated only once for all requests at the same number.
        """
        self.flush()
        now = stream.snapshot
        if now is None or now.seq != stream.seq:
            body = self._encoded_snapshot(stream.seq, stream.filter)
            now = stream.snapshot = NumberedMessage(
                stream.seq, body, self._clock(), numbered=True
            )
        return now

    def _encoded_snapshot(self, seq: int, selected: StreamFilter) -> bytes:
        """Return a snapshot as JSON.

        Games are encoded one at a time, since all games as objects would need twice the
        memory of their text.
        """
        games, rest = snapshot_without_games(self._state, selected)
        head, field, tail = wire.number(_encode(rest, selected), seq).partition(
            b'"games":['
        )
        whole = BytesIO()
        before = b""
        whole.write(head + field)
        for id in games:
            if game := self._encoded_game(id, selected):
                whole.write(before)
                whole.write(game)
                before = b","
        whole.write(tail)
        return whole.getvalue()

    def _encoded_game(self, id: GameId, selected: StreamFilter) -> bytes:
        form = (selected.visibility, selected.brief)
        packed_forms = self._finished.setdefault(id, {})
        if packed := packed_forms.get(form):
            return zlib.decompress(packed)
        game = self._state.game(id)
        if game is None:
            return b""
        body = _encode(redact(game, selected.visibility), selected)
        if not game.running:
            packed_forms[form] = zlib.compress(body, 1) if form in packed_forms else b""
        return body

    def list_catch_up(self, stream: NumberedStream) -> list[NumberedMessage]:
        """Return the messages for a new reader: a snapshot and the messages after it.

        The last snapshot is used again while little has changed. So if many readers
        come at different numbers, only one snapshot is computed; computing one delays
        everyone.
        """
        self.flush()
        snapshot = stream.snapshot
        if snapshot is not None and self._clock() - snapshot.at_s <= _SNAPSHOT_S:
            after = stream.list_since(stream.epoch, snapshot.seq)
            if after is not None and count_bytes(after) <= _SNAPSHOT_SHARE * len(
                snapshot.body
            ):
                return [snapshot, *after]
        return [self.snapshot(stream)]

    def encode_hello(self, stream: NumberedStream, *, resumed: bool = False) -> bytes:
        """Return the greeting for a reader of a stream as JSON, without a number."""
        visibility = stream.filter.visibility
        return wire.encode(
            HelloMessage(
                protocol=wire.PROTOCOL,
                epoch=stream.epoch,
                engine=redact(self._state.engine(), visibility),
                gain=self._state.gain(),
                version=live.__version__,
                resumed=resumed,
                sight=visibility.wire_name,
                public_delay=self._delay(visibility),
            )
        )

    def evict_unused(self) -> None:
        """Drop streams without readers after the maximum age of their history.

        Drop old snapshots of the other streams too.
        """
        now_s = self._clock()
        for stream in self.streams:
            snapshot = stream.snapshot
            if (
                not stream.readers
                and now_s - stream.used_s > self._limits.history_age_s
            ):
                del self._streams[stream.filter]
            elif snapshot and now_s - snapshot.at_s > _SNAPSHOT_S:
                stream.snapshot = None

    def _make_room(self, selects: bool) -> None:
        alike = [s for s in self.streams if s.is_narrow and bool(s.games) == selects]
        if len(alike) < self._limits.filters * (1 if selects else _OF_NOTHING):
            return
        unread = [stream for stream in alike if not stream.readers]
        if not unread:
            raise TooManyFilters
        del self._streams[min(unread, key=lambda stream: stream.used_s).filter]

    # --- routing ----------------------------------------------------------------------

    def _route(self, ready: list[Change]) -> None:
        """Pass changes to the streams whose filters select them.

        If a game enters a narrow stream because its header changed, the whole game is
        sent to that stream from the state, after all these changes. Until then its
        changes are not sent there. Waiting changes of such a game are included here,
        since otherwise they would be sent twice.
        """
        views = (change.game for change in ready if isinstance(change, GameMessage))
        for game in {view.id for view in views if self._has_new_identity(view)}:
            ready.extend(self._drain_game(game))
        joining_streams: dict[GameId, list[NumberedStream]] = {}
        players_moved = False
        for change in ready:
            match change:
                case GameMessage(game=view) if self._has_new_identity(view):
                    self._identities[view.id] = _describe_identity(view)
                    players_moved = True
                    joining_streams[view.id] = self._reselect(view)
                case StandingMessage(player=player):
                    # A player of a selected game can have been identified as another
                    # person.
                    is_present = bool(player.games or player.moves)
                    players_moved |= (
                        not is_present or player.id not in self._known_players
                    )
                    if is_present:
                        self._known_players.add(player.id)
                    else:
                        self._known_players.discard(player.id)
            self._send(change, self._find_streams(change))
            if isinstance(change, GoneMessage):
                players_moved = True
                self._identities.pop(change.game, None)
                joining_streams.pop(change.game, None)
                for stream in self.streams:
                    stream.games.discard(change.game)
        for game, streams in joining_streams.items():
            self._send_game(game, streams)
        for stream in self.streams if players_moved else ():
            if stream.is_narrow:
                self._update_players(stream)

    def _find_streams(self, change: Change) -> list[NumberedStream]:
        """Return the streams that contain the subject of a change."""
        match change:
            case StandingMessage(player=PlayerView(id=id)) | GainsMessage(player=id):
                return [
                    stream
                    for stream in self.streams
                    if not stream.is_narrow or id in stream.players
                ]
        game = game_of(change)
        if game is None:
            return self.streams
        return [
            stream
            for stream in self.streams
            if not stream.is_narrow or game in stream.games
        ]

    def _send(self, change: Change, streams: Iterable[NumberedStream]) -> None:
        bodies: dict[tuple[Visibility, bool], bytes] = {}
        for stream in streams:
            selected = stream.filter
            if selected.should_send(change):
                form = selected.visibility, selected.brief
                if (body := bodies.get(form)) is None:
                    body = bodies[form] = _encode(
                        redact(change, selected.visibility), selected
                    )
                if not selected.brief or stream.record_news(change, body):
                    stream.append(body)

    def _has_new_identity(self, view: GameView) -> bool:
        return self._identities.get(view.id) != _describe_identity(view)

    def _reselect(self, view: GameView) -> list[NumberedStream]:
        """Update the narrow streams for a game whose header has changed.

        Remove the game from streams that no longer select it; return the streams that
        now select it for the first time.
        """
        narrow = [stream for stream in self.streams if stream.is_narrow]
        for stream in narrow:
            if view.id in stream.games and not stream.filter.has_game(view):
                stream.games.discard(view.id)
                self._send(GoneMessage(view.id), [stream])
        return [
            stream
            for stream in narrow
            if view.id not in stream.games and stream.filter.has_game(view)
        ]

    def _send_game(self, game: GameId, streams: list[NumberedStream]) -> None:
        """Send a whole game to streams, in the usual messages about changes."""
        detail = self._state.game(game) if streams else None
        if detail is None:
            return
        alerts = (
            AlertMessage(alert) for alert in self._state.alerts() if alert.game == game
        )
        moments = (
            MomentMessage(game, moment)
            for moment in self._state.moments()
            if moment.game == game
        )
        for change in (*replay_game(detail), *alerts, *moments):
            self._send(change, streams)
        for stream in streams:
            stream.games.add(game)

    def _update_players(self, stream: NumberedStream) -> None:
        """Send a narrow stream the players that its games gained or lost."""
        before = stream.players
        stream.players = self._find_players(stream)
        for player in before - stream.players:
            # With no games and no moves, the message means that clients drop the
            # player.
            self._send(
                StandingMessage(PlayerView(player, "", None, 0, 0, None)), [stream]
            )
        new = stream.players - before
        for view in self._state.players() if new else ():
            if view.id in new:
                self._send(StandingMessage(view), [stream])
                for gain_cp, moves in self._state.gains(view.id):
                    self._send(GainsMessage(view.id, gain_cp, moves), [stream])

    def _find_players(self, stream: NumberedStream) -> set[str]:
        return set(chain.from_iterable(map(self._state.player_ids, stream.games)))

    def _create_stream(self, selected: StreamFilter) -> NumberedStream:
        self._stream_count += 1
        stream = NumberedStream(
            selected, f"{self._epoch}-{self._stream_count}", self._clock, self._limits
        )
        if stream.is_narrow:
            for view in self._state.games():
                self._identities.setdefault(view.id, _describe_identity(view))
                if selected.has_game(view):
                    stream.games.add(view.id)
            stream.players = self._find_players(stream)
        return stream


def count_bytes(messages: Iterable[NumberedMessage]) -> int:
    """Return the total size of messages in bytes, not deflated."""
    return sum(len(message.body) for message in messages)


def _encode(message: Message | GameDetail, selected: StreamFilter) -> bytes:
    return encode_brief(message) if selected.brief else wire.encode(message)


def _describe_identity(view: GameView) -> object:
    """Return the data of a game that filters check."""
    return view.event, view.white, view.black, view.board
