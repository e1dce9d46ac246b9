"""All numbered streams of one audience, and the routing of changes to them. Pure.

All subscribers with the same filter read the same stream
(:mod:`live.server.numbered_stream`). After :meth:`StreamHub.publish` and
:meth:`StreamHub.flush` new messages wait in each stream until they are taken. A
snapshot by :meth:`StreamHub.snapshot` is identical to the state of a client that has
applied the stream up to the snapshot's number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

import live
from live.messages.figures import GameView, PlayerView
from live.messages.health import PublicDelay
from live.messages.to_clients import (
    AlertMessage,
    Change,
    GainsMessage,
    GameMessage,
    GoneMessage,
    HeartbeatMessage,
    HelloMessage,
    MomentMessage,
    StandingMessage,
)
from live.messages.values import GameId
from live.process.clock import ReadClock
from live.server import wire
from live.server.coalescing import WaitingChanges
from live.server.encoded_snapshots import (
    MessageForm,
    SnapshotEncoder,
    encode_in_form,
    find_form,
)
from live.server.event_reader import EventReader, game_of, replay_game
from live.server.limits import ClientLimits
from live.server.numbered_stream import NumberedMessage, NumberedStream, count_bytes
from live.server.stream_filter import StreamFilter
from live.server.visibility import Visibility, redact

#: An existing snapshot is sent to new readers up to this age, seconds, and while the
#: changes after it are at most this share of its size.
_SNAPSHOT_S = 30.0
_SNAPSHOT_SHARE = 0.25
#: Filters that select no game cost little, so their limit is higher by this factor.
_OF_NOTHING = 4


DescribeDelay = Callable[[Visibility], PublicDelay]
"""Function that returns the delay of the public, redacted for a visibility level."""


class TooManyFilters(Exception):
    """The maximum number of different filters is in use.

    It is limited since each filter needs its own encoding and history.
    """


class StreamHub:
    """All streams of one audience in one run of the service.

    ``clock`` returns a monotonic time, seconds. ``epoch`` must be different at every
    start of the service.
    """

    def __init__(
        self,
        state: EventReader,
        *,
        epoch: str,
        clock: ReadClock,
        limits: ClientLimits = ClientLimits(),  # noqa: B008 - frozen
        describe_delay: DescribeDelay = lambda visibility: PublicDelay(),
    ) -> None:
        self._state = state
        self._epoch = epoch
        self._clock = clock
        self._limits = limits
        self._describe_delay = describe_delay
        self._stream_count = 0
        self.reset()

    def reset(self) -> None:
        """Drop all streams; new streams get other epochs."""
        self._waiting = WaitingChanges()
        self._snapshots = SnapshotEncoder(self._state)
        self._streams: dict[StreamFilter, NumberedStream] = {}
        # For each game, the data that filters check. The filters are checked again only
        # if this data changes.
        self._identities: dict[GameId, object] = {}
        self._known_players: set[str] = set()

    # --- incoming changes -------------------------------------------------------------

    def publish(self, changes: Iterable[Change]) -> None:
        """Add changes that are already part of the state.

        Moves go to the streams at once.
        """
        ready: list[Change] = []
        for change in changes:
            game = game_of(change)
            if game is not None:
                self._snapshots.forget(game)
            ready += self._waiting.add(change)
        self._route(ready)

    def flush(self) -> None:
        """Pass all waiting changes to the streams, at the end of a tick."""
        if self._waiting:
            self._route(self._waiting.take_all())

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
                self._drop_unread_stream_if_full(bool(stream.games))
            self._streams[selected] = stream
        stream.used_s = self._clock()
        return stream

    def snapshot(self, stream: NumberedStream) -> NumberedMessage:
        """Return a snapshot for a stream, with the number of the stream's last message.

        The snapshot is encoded and deflated only once until the number changes.
        """
        self.flush()
        now = stream.snapshot
        if now is None or now.seq != stream.seq:
            now = stream.snapshot = NumberedMessage(
                stream.seq,
                self._snapshots.encode(stream.seq, stream.filter),
                self._clock(),
                numbered=True,
            )
        return now

    def list_catch_up(self, stream: NumberedStream) -> list[NumberedMessage]:
        """Return the messages for a new reader: a snapshot and the messages after it.

        The last snapshot is used again while little has changed. So if many readers
        join within a short time, only one snapshot is computed. Computing a snapshot
        blocks the event loop.
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
                public_delay=self._describe_delay(visibility),
            )
        )

    def encode_heartbeat(self, stream: NumberedStream) -> bytes:
        """Return a heartbeat for the readers of a stream as JSON, without a number."""
        delay = self._describe_delay(stream.filter.visibility)
        return wire.encode(HeartbeatMessage(delay))

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

    def _drop_unread_stream_if_full(self, selects: bool) -> None:
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
        sent to that stream from the state, after all changes in ``ready``. The changes
        of that game in ``ready`` are not sent to that stream. Its waiting changes are
        added to ``ready``, since otherwise the stream would get them twice.
        """
        views = (change.game for change in ready if isinstance(change, GameMessage))
        for game in {view.id for view in views if self._has_new_identity(view)}:
            ready.extend(self._waiting.take_game(game))
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
        """Append a change to the streams that include it; encode each form once."""
        bodies: dict[MessageForm, bytes] = {}
        for stream in streams:
            selected = stream.filter
            if not selected.should_send(change):
                continue
            form = find_form(selected)
            body = bodies.get(form)
            if body is None:
                body = bodies[form] = encode_in_form(change, form)
            if not selected.brief or stream.record_news(change, body):
                stream.append(body)

    def _has_new_identity(self, view: GameView) -> bool:
        return self._identities.get(view.id) != _describe_identity(view)

    def _reselect(self, view: GameView) -> list[NumberedStream]:
        """Update the narrow streams for a game whose header has changed.

        Remove the game from streams that no longer select it. Return the streams that
        select it but do not contain it yet.
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
        """Send a whole game to streams, as messages about changes."""
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
        """Tell a narrow stream which players have joined or left its games."""
        before = stream.players
        stream.players = self._find_players(stream)
        for player in before - stream.players:
            # A standing without games and moves makes clients delete the player.
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


def _describe_identity(view: GameView) -> object:
    """Return the data of a game that filters check."""
    return view.event, view.white, view.black, view.board
