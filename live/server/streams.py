"""From changes of the state to numbered streams, one per distinct filter. Pure.

All subscribers with the same filter read the same stream. The numbering is per stream,
not global: with a global number a filtered client could not distinguish a message it
was not meant to get from one it lost. ``epoch`` names this numbering; it changes when a
stream is dropped and opened again, and with every start of the service, so an old
number is never mistaken for a new one.

After every :meth:`StreamHub.publish` and :meth:`StreamHub.flush` each stream's frames
wait in it until the shell takes them. A snapshot taken by :meth:`StreamHub.snapshot` is
exactly what a client holds that applied the stream up to the snapshot's number.

A move or a vanished game goes out at once; it first pushes out what waits for the same
game, so order within a game is kept. Everything else waits for the next tick, and a
later change that overwrites all an earlier one would have written takes its place **at
the end** of the queue. Dropping such an earlier change cannot be seen in the final
state; the property tests hold that for random games.

Changes of different games, and changes of no game (standings, engine, health), write to
different parts of a client's state, so their order among each other is free.
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

#: The number of a stream's first snapshot. ``hello`` carries one less than what follows
#: it.
FIRST_SEQ = 1


class NumberedMessage(msgspec.Struct, gc=False, eq=False):
    """One message of one stream. ``body`` is shared between streams, the number is not.

    It is deflated once, when a subscriber first needs it deflated.
    """

    seq: int
    body: bytes
    at_s: float
    """When it was numbered, on the injected clock."""
    numbered: bool = False
    """Whether ``body`` contains the number already, as a long message of one stream
    does.
    """
    packed: bytes | None = None
    """The numbered message, deflated; None until it is asked for, and where that is not
    worth it.
    """

    @property
    def plain(self) -> bytes:
        """The numbered message."""
        return self.body if self.numbered else wire.number(self.body, self.seq)

    @property
    def is_slow_to_deflate(self) -> bool:
        """Whether deflating it takes more than about a millisecond and is still to be
        done.
        """
        return self.packed is None and len(self.body) > wire.LONG_BYTES

    def pack(self) -> None:
        """Deflate it now, for all subscribers that take it deflated. Any thread may do
        so, since a body never changes.
        """
        if self.packed is None:
            self.packed = wire.deflate(self.plain)

    def frames(self, size: int = 1 << 63, *, deflated: bool = False) -> Iterator[bytes]:
        """Yield frames of at most ``size`` bytes, each made when it is asked for; one
        if no size is given.
        """
        if deflated:
            self.pack()
        packed = self.packed if deflated else None
        return split_frames(packed or self.plain, size, deflated=packed is not None)


class Reader(Protocol):
    """Somebody who reads a stream."""

    def close(self, code: wire.CloseCode, reason: str = "") -> None: ...


Writers = dict[Reader, Callable[[bytes], None]]


class NumberedStream:
    """History and numbering of one filter's messages, and who reads them."""

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
        """Number of the last message; a snapshot taken now carries it."""
        self.readers: set[Reader] = set()
        """Its readers; the stream is kept while it has any."""
        self.ready: tuple[Writers, Writers] = {}, {}
        """Readers that may be written to now: those that take plain messages, and those
        that take deflated ones.
        """
        self.used_s = clock()
        """When it was last asked for or read."""
        self.is_narrow = selected.is_narrow
        """Whether its filter names a game, an event or a player; else it holds
        everything.
        """
        self.games: set[GameId] = set()
        """What a narrow stream holds."""
        self.players: set[str] = set()
        """Who plays in these games."""
        self.snapshot: NumberedMessage | None = None
        """The last encoded snapshot."""
        self._clock = clock
        self._limits = limits
        self._history: deque[NumberedMessage] = deque()
        self._history_bytes = 0
        self.fresh: list[NumberedMessage] = []
        """Messages that the next :meth:`take` returns."""
        # For a brief stream: the last message about each game, player, engine and
        # health.
        self._sent: dict[Hashable, bytes] = {}

    def append(self, body: bytes) -> None:
        """Number one encoded message."""
        self.seq += 1
        numbered = NumberedMessage(self.seq, body, self._clock())
        self.fresh.append(numbered)
        self._history.append(numbered)
        self._history_bytes += len(body)
        self._evict_old(numbered.at_s)

    def list_since(self, epoch: str, seq: int) -> list[NumberedMessage] | None:
        """Return all messages after ``seq``; None if some are no longer kept."""
        self._evict_old(self._clock())
        missing = self.seq - seq
        if epoch != self.epoch or not 0 <= missing <= len(self._history):
            return None
        return list(self._history)[len(self._history) - missing :]

    def take(self) -> list[NumberedMessage]:
        """Return the messages appended since the last call."""
        fresh = self.fresh
        self.fresh = []
        return fresh

    def release(self, reader: Reader) -> None:
        """Remove a reader. It can resume for as long as history lasts."""
        self.readers.remove(reader)
        self.used_s = self._clock()

    def record_news(self, change: Change, body: bytes) -> bool:
        """Record this brief message; return whether it differs from the last one of its
        subject.

        Brief messages leave out much of what changes.
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
    """Return the key under which a later change replaces an earlier one of the same
    game.
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


#: An older snapshot is not given to newcomers, nor one followed by more changes than
#: this share of its size: a new snapshot is shorter then.
_SNAPSHOT_S = 30.0
_SNAPSHOT_SHARE = 0.25
#: Filters that select no game cost next to nothing, so this many times as many of them
#: may exist.
_OF_NOTHING = 4


class TooManyFilters(Exception):
    """No further distinct filter is served now; each costs encoding and history."""


class StreamHub:
    """All streams of one service run.

    ``clock`` gives seconds that never go back. ``epoch`` must differ at every start.
    """

    def __init__(
        self,
        state: EventReader,
        *,
        epoch: str,
        clock: ReadClock,
        limits: ClientLimits = ClientLimits(),  # noqa: B008 - frozen
        delay: Callable[[Visibility], PublicDelay] = lambda sees: PublicDelay(),
    ) -> None:
        self._state = state
        self._epoch = epoch
        self._clock = clock
        self._limits = limits
        self._delay = delay
        self._made = 0
        self.reset()

    def reset(self) -> None:
        """Forget all streams; those that are made from now on have other epochs."""
        # Changes that wait for the tick, by game. Loss policy: nothing is lost but what
        # a later change overwrites; bounded by the state: at most one entry per field a
        # client holds.
        self._waiting: dict[GameId | None, dict[Hashable, Change]] = {}
        self._streams: dict[StreamFilter, NumberedStream] = {}
        # Membership is looked at again only when one of these changed.
        self._identities: dict[GameId, object] = {}
        self._known_players: set[str] = set()
        # Finished games as they stand in snapshots, deflated at their second use, until
        # they change.
        self._finished: dict[GameId, dict[tuple[Visibility, bool], bytes]] = {}

    # --- changes in -------------------------------------------------------------------

    def publish(self, changes: Iterable[Change]) -> None:
        """Take in changes that the state already holds. Moves go to the streams at
        once.
        """
        ready: list[Change] = []
        for change in changes:
            ready += self._enqueue(change)
        self._route(ready)

    def flush(self) -> None:
        """Give the streams everything that waits (the tick)."""
        if self._waiting:
            waiting = chain.from_iterable(map(dict.values, self._waiting.values()))
            self._waiting = {}
            self._route(list(waiting))

    def _enqueue(self, change: Change) -> list[Change]:
        """Take a change in; return what must go out now, in order (usually nothing)."""
        if (game := game_of(change)) is not None:
            self._finished.pop(game, None)
        # Moments are few; send them at once, after the game's header, so that clients
        # know the game.
        if isinstance(change, MoveMessage | GoneMessage | MomentMessage):
            return [*self._drain_game(change.game), change]
        waiting = self._waiting.setdefault(game, {})
        slot = _coalescing_key(change)
        # At the end: a point drops the later ones of its colour.
        waiting.pop(slot, None)
        waiting[slot] = change
        return []

    def _drain_game(self, game: GameId) -> list[Change]:
        """Return everything that waits for one game, in order, and empty its queue."""
        return list(self._waiting.pop(game, {}).values())

    # --- streams out ------------------------------------------------------------------

    @property
    def streams(self) -> list[NumberedStream]:
        """All streams."""
        return list(self._streams.values())

    def open_stream(self, selected: StreamFilter) -> NumberedStream:
        """Return the stream of this filter; open it if there is none.

        Where too many filters are in use, the one unread for longest makes room.
        Filters of whole events are always served: they are few. Filters that select no
        game have a limit of their own, so that they keep no other out.

        Raises:
            TooManyFilters: somebody reads each of them.
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
        """Return everything the stream's filter selects, with the number it stands at.

        It is encoded, and deflated, once for all who ask at the same position.
        """
        self.flush()
        now = stream.snapshot
        if now is None or now.seq != stream.seq:
            body = self._encoded_snapshot(stream.seq, stream.filter)
            now = stream.snapshot = NumberedMessage(
                stream.seq, body, self._clock(), numbered=True
            )
        return now

    def _encoded_snapshot(self, seq: int, wanted: StreamFilter) -> bytes:
        """Encode a snapshot game by game: all games as values are twice as large as
        their text.
        """
        games, rest = snapshot_without_games(self._state, wanted)
        head, field, tail = wire.number(_encode(rest, wanted), seq).partition(
            b'"games":['
        )
        whole = BytesIO()
        before = b""
        whole.write(head + field)
        for id in games:
            if game := self._encoded_game(id, wanted):
                whole.write(before)
                whole.write(game)
                before = b","
        whole.write(tail)
        return whole.getvalue()

    def _encoded_game(self, id: GameId, wanted: StreamFilter) -> bytes:
        form = (wanted.visibility, wanted.brief)
        known = self._finished.setdefault(id, {})
        if packed := known.get(form):
            return zlib.decompress(packed)
        game = self._state.game(id)
        if game is None:
            return b""
        body = _encode(redact(game, wanted.visibility), wanted)
        if not game.running:
            known[form] = zlib.compress(body, 1) if form in known else b""
        return body

    def list_catch_up(self, stream: NumberedStream) -> list[NumberedMessage]:
        """Return what a newcomer needs: a snapshot, then the messages after it.

        The last snapshot serves again while little has changed: when many come at once,
        each at another number, only one snapshot is made, which delays everybody.
        """
        self.flush()
        held = stream.snapshot
        if held is not None and self._clock() - held.at_s <= _SNAPSHOT_S:
            after = stream.list_since(stream.epoch, held.seq)
            if after is not None and count_bytes(after) <= _SNAPSHOT_SHARE * len(
                held.body
            ):
                return [held, *after]
        return [self.snapshot(stream)]

    def encode_hello(self, stream: NumberedStream, *, resumed: bool = False) -> bytes:
        """Encode the greeting of those who read the stream, without its number."""
        sees = stream.filter.visibility
        return wire.encode(
            HelloMessage(
                protocol=wire.PROTOCOL,
                epoch=stream.epoch,
                engine=redact(self._state.engine(), sees),
                gain=self._state.gain(),
                version=live.__version__,
                resumed=resumed,
                sight=sees.wire_name,
                public_delay=self._delay(sees),
            )
        )

    def evict_unused(self) -> None:
        """Forget streams that nobody has read for as long as history lasts anyway."""
        now_s = self._clock()
        for stream in self.streams:
            held = stream.snapshot
            if (
                not stream.readers
                and now_s - stream.used_s > self._limits.history_age_s
            ):
                del self._streams[stream.filter]
            elif held and now_s - held.at_s > _SNAPSHOT_S:
                stream.snapshot = None

    def _make_room(self, selects: bool) -> None:
        alike = [s for s in self.streams if s.is_narrow and bool(s.games) == selects]
        if len(alike) < self._limits.filters * (1 if selects else _OF_NOTHING):
            return
        unread = [each for each in alike if not each.readers]
        if not unread:
            raise TooManyFilters
        del self._streams[min(unread, key=lambda each: each.used_s).filter]

    # --- routing ----------------------------------------------------------------------

    def _route(self, ready: list[Change]) -> None:
        """Give changes to the streams that select them.

        A game that enters a narrow stream (its header changed) is sent whole, from the
        state, after all these changes; until then its changes are kept from that
        stream. Whatever still waits for such a game is taken along, or it would be sent
        twice.
        """
        views = (change.game for change in ready if isinstance(change, GameMessage))
        for game in {view.id for view in views if self._has_new_identity(view)}:
            ready.extend(self._drain_game(game))
        joining: dict[GameId, list[NumberedStream]] = {}
        players_moved = False
        for change in ready:
            match change:
                case GameMessage(game=view) if self._has_new_identity(view):
                    self._identities[view.id] = _describe_identity(view)
                    players_moved = True
                    joining[view.id] = self._reselect(view)
                case StandingMessage(player=player):
                    # A player of a selected game may have turned out to be another
                    # person.
                    stays = bool(player.games or player.moves)
                    players_moved |= not stays or player.id not in self._known_players
                    if stays:
                        self._known_players.add(player.id)
                    else:
                        self._known_players.discard(player.id)
            self._send(change, self._find_streams(change))
            if isinstance(change, GoneMessage):
                players_moved = True
                self._identities.pop(change.game, None)
                joining.pop(change.game, None)
                for stream in self.streams:
                    stream.games.discard(change.game)
        for game, streams in joining.items():
            self._send_game(game, streams)
        for stream in self.streams if players_moved else ():
            if stream.is_narrow:
                self._update_players(stream)

    def _find_streams(self, change: Change) -> list[NumberedStream]:
        """Return the streams that hold what a change is about."""
        match change:
            case StandingMessage(player=PlayerView(id=id)) | GainsMessage(player=id):
                return [
                    each
                    for each in self.streams
                    if not each.is_narrow or id in each.players
                ]
        game = game_of(change)
        if game is None:
            return self.streams
        return [
            each for each in self.streams if not each.is_narrow or game in each.games
        ]

    def _send(self, change: Change, streams: Iterable[NumberedStream]) -> None:
        bodies: dict[tuple[Visibility, bool], bytes] = {}
        for stream in streams:
            wanted = stream.filter
            if wanted.should_send(change):
                form = wanted.visibility, wanted.brief
                if (body := bodies.get(form)) is None:
                    body = bodies[form] = _encode(
                        redact(change, wanted.visibility), wanted
                    )
                if not wanted.brief or stream.record_news(change, body):
                    stream.append(body)

    def _has_new_identity(self, view: GameView) -> bool:
        return self._identities.get(view.id) != _describe_identity(view)

    def _reselect(self, view: GameView) -> list[NumberedStream]:
        """Remove a game whose header changed from streams, and return the streams that
        it enters.
        """
        narrow = [each for each in self.streams if each.is_narrow]
        for stream in narrow:
            if view.id in stream.games and not stream.filter.has_game(view):
                stream.games.discard(view.id)
                self._send(GoneMessage(view.id), [stream])
        return [
            each
            for each in narrow
            if view.id not in each.games and each.filter.has_game(view)
        ]

    def _send_game(self, game: GameId, streams: list[NumberedStream]) -> None:
        """Send a game whole, in the messages every client knows anyway."""
        detail = self._state.game(game) if streams else None
        if detail is None:
            return
        alerts = (
            AlertMessage(each) for each in self._state.alerts() if each.game == game
        )
        moments = (
            MomentMessage(game, each)
            for each in self._state.moments()
            if each.game == game
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
            # No games and no moves: a player to be forgotten.
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
        self._made += 1
        stream = NumberedStream(
            selected, f"{self._epoch}-{self._made}", self._clock, self._limits
        )
        if stream.is_narrow:
            for view in self._state.games():
                self._identities.setdefault(view.id, _describe_identity(view))
                if selected.has_game(view):
                    stream.games.add(view.id)
            stream.players = self._find_players(stream)
        return stream


def count_bytes(messages: Iterable[NumberedMessage]) -> int:
    """Return the size of these messages in bytes, before deflating."""
    return sum(len(each.body) for each in messages)


def _encode(message: Message | GameDetail, wanted: StreamFilter) -> bytes:
    return encode_brief(message) if wanted.brief else wire.encode(message)


def _describe_identity(view: GameView) -> object:
    """Return what filters look at."""
    return view.event, view.white, view.black, view.board
