"""One numbered stream of messages: all subscribers with the same filter read the same one. Pure.

The numbering is per stream, not global: with a global number a filtered client could not
distinguish a message it was not meant to get from one it lost. ``epoch`` names this numbering; it
changes when a stream is dropped and made anew, and with every start of the service, so an old
number is never mistaken for a new one.

From changes of the state to numbered streams, one per distinct filter. Pure.

After every :meth:`StreamHub.publish` and :meth:`StreamHub.flush` each stream's frames wait in it
until the shell takes them. A snapshot taken by :meth:`StreamHub.snapshot` is exactly what a client
holds that applied the stream up to the snapshot's number.

Which changes wait for the next tick, and which of them a later one makes needless.

A move or a vanished game goes out at once; it first pushes out what waits for the same game, so
order within a game is kept. Everything else waits, and a later change that overwrites all an
earlier one would have written takes its place **at the end** of the queue. Dropping such an
earlier change cannot be seen in the final state; the property tests hold that for random games.

Changes of different games, and changes of no game (standings, engine, health), write to different
parts of a client's state, so their order among each other is free.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cached_property

import msgspec

from live.events import (
    AlertMessage,
    Change,
    ClockMessage,
    EngineMessage,
    GainsMessage,
    GameId,
    GameMessage,
    GameView,
    GoneMessage,
    HealthMessage,
    Message,
    MomentMessage,
    MoveMessage,
    PlayerView,
    PointMessage,
    ScoreMessage,
    StandingMessage,
)
from live.publish import wire
from live.publish.published_state import PublishedState, snapshot, whole_game
from live.publish.visibility import StreamFilter, Visibility, shown
from live.publish.wire import brief

#: The number of a stream's first snapshot. ``hello`` carries one less than what follows it.
FIRST_SEQ = 1

#: Longer messages take more than about a millisecond to deflate.
_PACKED_AT_ONCE_BYTES = 64_000


class HistoryLimits(msgspec.Struct, frozen=True):
    """How much of the past can be resumed. A cache: the snapshot is always obtainable."""

    messages: int = 2_000
    payload_bytes: int = 4_000_000
    age_s: float = 120.0


class NumberedMessage(msgspec.Struct, gc=False):
    """One message of one stream. ``body`` is shared between streams, the number is not.

    It is deflated once, when somebody first takes it so.
    """

    seq: int
    body: bytes
    at_s: float
    """When it was numbered, on the injected clock."""
    packed: bytes | None = None
    """The numbered message deflated; null until asked for, and where that is not worth it."""

    @property
    def slow_to_pack(self) -> bool:
        """Whether it is not deflated yet, and that takes more than about a millisecond."""
        return self.packed is None and len(self.body) > _PACKED_AT_ONCE_BYTES

    def pack(self) -> None:
        """Deflate it now, for all who take it so. Any thread may, since a body never changes."""
        self._payload(deflated=True)

    def frame(self, *, deflated: bool = False) -> bytes:
        """One text frame; ``deflated`` where that is worth it."""
        payload, packed = self._payload(deflated)
        return wire.frame(payload, deflated=packed)

    def fragments(self, size: int, *, deflated: bool = False) -> list[bytes]:
        """Frames of at most ``size`` bytes of payload."""
        payload, packed = self._payload(deflated)
        return wire.fragments(payload, size, deflated=packed)

    def _payload(self, deflated: bool) -> tuple[bytes, bool]:
        plain = wire.number(self.body, self.seq)
        if deflated and self.packed is None:
            self.packed = wire.deflate(plain)
        return (self.packed, True) if deflated and self.packed is not None else (plain, False)


class TakenFrames:
    """Frames of some messages: the same bytes for everybody, in either form."""

    def __init__(self, messages: list[NumberedMessage]) -> None:
        self._messages = messages

    @property
    def payloads(self) -> list[bytes]:
        """The numbered messages themselves."""
        return [wire.number(each.body, each.seq) for each in self._messages]

    @cached_property
    def plain(self) -> bytes:
        return b"".join([each.frame() for each in self._messages])

    @cached_property
    def deflated(self) -> bytes:
        return b"".join([each.frame(deflated=True) for each in self._messages])


class ResumeTooOld(msgspec.Struct, frozen=True):
    """The missing messages are not all held: only a snapshot helps. ``why`` is for people."""

    why: str


class NumberedStream:
    """History and numbering of one filter's messages."""

    def __init__(
        self,
        selected: StreamFilter,
        epoch: str,
        clock: Callable[[], float],
        limits: HistoryLimits = HistoryLimits(),  # noqa: B008 - frozen
    ) -> None:
        self.filter = selected
        self.epoch = epoch
        self.seq = FIRST_SEQ
        """Number of the last message; a snapshot taken now carries it."""
        self._clock = clock
        self._limits = limits
        self._history: deque[NumberedMessage] = deque()
        self._history_bytes = 0
        self._fresh: list[NumberedMessage] = []

    def append(self, body: bytes) -> NumberedMessage:
        """Number one encoded message."""
        self.seq += 1
        numbered = NumberedMessage(self.seq, body, self._clock())
        self._fresh.append(numbered)
        self._history.append(numbered)
        self._history_bytes += len(body)
        self._forget_old(numbered.at_s)
        return numbered

    def since(self, epoch: str, seq: int) -> tuple[NumberedMessage, ...] | ResumeTooOld:
        """Exactly the messages after ``seq``, or that they can't all be given; never a part."""
        if epoch != self.epoch:
            return ResumeTooOld("the epoch is another one")
        if seq > self.seq:
            return ResumeTooOld(f"message {seq} does not exist yet")
        self._forget_old(self._clock())
        missing = self.seq - seq
        if missing > len(self._history):
            return ResumeTooOld(f"messages after {seq} are no longer held")
        return tuple(self._history)[len(self._history) - missing :] if missing else ()

    def take(self) -> TakenFrames:
        """Frames of the messages appended since the last time."""
        fresh, self._fresh = self._fresh, []
        return TakenFrames(fresh)

    @property
    def waiting(self) -> bool:
        """Whether :meth:`take` has something to give."""
        return bool(self._fresh)

    def _forget_old(self, now_s: float) -> None:
        history, limits = self._history, self._limits
        while history and (
            len(history) > limits.messages
            or self._history_bytes > limits.payload_bytes
            or now_s - history[0].at_s > limits.age_s
        ):
            self._history_bytes -= len(history.popleft().body)


class Coalescer:
    """Changes that wait, by game.

    Loss policy: nothing is lost but what a later change overwrites. Bounded by the state itself:
    at most one entry per field a client holds.
    """

    def __init__(self) -> None:
        self._games: dict[GameId, dict[Hashable, Change]] = {}
        self._rest: dict[Hashable, Change] = {}

    def __bool__(self) -> bool:
        return bool(self._games or self._rest)

    def add(self, change: Change) -> list[Change]:
        """Take a change in; answers what must go out now, in order (usually nothing)."""
        match change:
            # Moments are few, and clients know the game by then only if its header went before.
            case MoveMessage(game=game) | GoneMessage(game=game) | MomentMessage(game=game):
                return [*self.take_game(game), change]
            case GameMessage(game=view):
                self._keep(self._of(view.id), "game", change)
            case ScoreMessage(game=game, ply=ply):
                self._keep(self._of(game), ("score", ply.ply), change)
            case ClockMessage(game=game, ply=at):
                self._keep(self._of(game), ("clock", at), change)
            case PointMessage(game=game, color=color, point=point):
                waiting = self._of(game)
                # A point drops all later points of its colour, so waiting ones go too.
                for key in [k for k in waiting if _later_point(k, color, point.ply)]:
                    del waiting[key]
                waiting["point", color, point.ply] = change
            case StandingMessage(player=player):
                self._keep(self._rest, ("standing", player.id), change)
            case GainsMessage(player=id, gain_cp=gain_cp):
                self._keep(self._rest, ("gains", id, gain_cp), change)
            case EngineMessage():
                self._keep(self._rest, "engine", change)
            case HealthMessage():
                self._keep(self._rest, "health", change)
            case AlertMessage(alert=alert):
                waiting = self._rest if alert.game is None else self._of(alert.game)
                self._keep(waiting, ("alert", alert.id), change)
        return []

    def take_game(self, game: GameId) -> list[Change]:
        """Everything that waits for one game, in order; it waits no longer."""
        return list(self._games.pop(game, {}).values())

    def take(self) -> list[Change]:
        """Everything that waits."""
        games, self._games = self._games, {}
        rest, self._rest = self._rest, {}
        out = [change for waiting in games.values() for change in waiting.values()]
        out.extend(rest.values())
        return out

    def _of(self, game: GameId) -> dict[Hashable, Change]:
        return self._games.setdefault(game, {})

    @staticmethod
    def _keep(waiting: dict[Hashable, Change], key: Hashable, change: Change) -> None:
        waiting.pop(key, None)
        waiting[key] = change


def _later_point(key: Hashable, color: str, ply: int) -> bool:
    return isinstance(key, tuple) and key[:2] == ("point", color) and key[2] >= ply


#: An older snapshot is not given to newcomers, nor one with more changes since than this share of
#: it: it would be the longer way.
_SNAPSHOT_S = 30.0
_SNAPSHOT_SHARE = 0.25


class StreamSelection:
    """One stream with what it holds: which games, and the players of these.

    A wide stream, whose filter names no game, event or player, holds everything and keeps neither.
    """

    def __init__(self, stream: NumberedStream, now_s: float) -> None:
        self.stream = stream
        self.games: set[GameId] = set()
        self.players: set[str] = set()
        self.readers = 0
        self.used_s = now_s
        self.snapshot: tuple[int, NumberedMessage] | None = None
        """The last encoded snapshot, after a stamp that changes with it."""
        # Of a brief stream: what was last sent of each game, player, engine and health.
        self._sent: dict[tuple[str, str], bytes] = {}

    def is_news(self, change: Change, body: bytes) -> bool:
        """Whether a brief message says more than the last one of its subject; from now on it is
        that one. Much of what changes is not in it.
        """
        match change:
            case GameMessage(game=view):
                about = "game", view.id
            case StandingMessage(player=player):
                about = "standing", player.id
            case EngineMessage() | HealthMessage():
                about = str(change.__struct_config__.tag), ""
            case GoneMessage(game=game):
                self._sent.pop(("game", game), None)
                return True
            case _:
                return True
        if self._sent.get(about) == body:
            return False
        self._sent[about] = body
        return True


class StreamIndex:
    """All selections, found by game and player without asking every filter."""

    def __init__(self) -> None:
        self.narrow: list[StreamSelection] = []
        self._wide: list[StreamSelection] = []
        self._by_game: dict[GameId, list[StreamSelection]] = {}
        self._by_player: dict[str, list[StreamSelection]] = {}

    def add(self, selection: StreamSelection) -> None:
        """Take in a selection that holds nothing yet."""
        (self.narrow if selection.stream.filter.narrow else self._wide).append(selection)

    def drop(self, selection: StreamSelection) -> None:
        """Forget a selection."""
        (self.narrow if selection.stream.filter.narrow else self._wide).remove(selection)
        for game in list(selection.games):
            self.leave(selection, game)
        self.reseat(selection, ())

    def everybody(self) -> list[StreamSelection]:
        return [*self._wide, *self.narrow]

    def of_game(self, game: GameId) -> list[StreamSelection]:
        return [*self._wide, *self._by_game.get(game, ())]

    def of_player(self, player: str) -> list[StreamSelection]:
        return [*self._wide, *self._by_player.get(player, ())]

    def enter(self, selection: StreamSelection, game: GameId) -> None:
        """From now on the selection holds this game."""
        selection.games.add(game)
        self._by_game.setdefault(game, []).append(selection)

    def leave(self, selection: StreamSelection, game: GameId) -> None:
        """It no longer does."""
        selection.games.discard(game)
        _remove(self._by_game, game, selection)

    def forget(self, game: GameId) -> None:
        """The game is gone, for everybody."""
        for selection in self._by_game.pop(game, ()):
            selection.games.discard(game)

    def reseat(self, selection: StreamSelection, players: Iterable[str]) -> None:
        """From now on the selection holds exactly these players."""
        now = set(players)
        for gone in selection.players - now:
            _remove(self._by_player, gone, selection)
        for new in now - selection.players:
            self._by_player.setdefault(new, []).append(selection)
        selection.players = now


def _remove(index: dict[str, list[StreamSelection]], key: str, selection: StreamSelection) -> None:
    index[key].remove(selection)
    if not index[key]:
        del index[key]


class TooManyFilters(Exception):
    """No further distinct filter is served now; each costs encoding and history."""


class StreamHub:
    """All streams of one service run.

    ``clock`` gives seconds that never go back. ``epoch`` must differ at every start.
    """

    def __init__(
        self,
        state: PublishedState,
        *,
        epoch: str,
        clock: Callable[[], float],
        limits: HistoryLimits = HistoryLimits(),  # noqa: B008 - frozen
        max_filters: int = 512,
    ) -> None:
        self._state = state
        self._epoch = epoch
        self._clock = clock
        self._limits = limits
        self._max_filters = max_filters
        self._waiting = Coalescer()
        self._selections: dict[StreamFilter, StreamSelection] = {}
        self._made = 0
        self._routed = 0
        self._index = StreamIndex()
        # Membership is looked at again only when one of these changed.
        self._identities: dict[GameId, object] = {}
        self._known_players: set[str] = set()
        self.headers_seen = 0
        """Changes whenever a filter may select something else than before."""

    # --- changes in -------------------------------------------------------------------------------

    def publish(self, changes: Iterable[Change]) -> None:
        """Take in changes that the state already holds. Moves go to the streams at once."""
        ready: list[Change] = []
        for change in changes:
            ready.extend(self._waiting.add(change))
        if ready:
            self._route(ready)

    def flush(self) -> None:
        """Give the streams everything that waits (the tick)."""
        if self._waiting:
            self._route(self._waiting.take())

    # --- streams out ------------------------------------------------------------------------------

    def stream(self, selected: StreamFilter) -> NumberedStream:
        """The stream of this filter, made if there is none.

        Where too many filters are in use, the one unread for longest makes room. Those of whole
        events are always served: they are few.

        Raises:
            TooManyFilters: somebody reads each of them.
        """
        selection = self._selections.get(selected)
        if selection is None:
            if not _whole(selected):
                self._make_room()
            self.flush()
            selection = self._open(selected)
        selection.used_s = self._clock()
        return selection.stream

    def selects(self, wanted: StreamFilter) -> bool:
        """Whether the filter selects anything now, or has done so lately."""
        return (
            not wanted.narrow
            or wanted in self._selections
            or any(wanted.takes(view) for view in self._state.games())
        )

    def hold(self, stream: NumberedStream) -> None:
        """One more reads this stream: it stays until as many have released it."""
        self._selections[stream.filter].readers += 1

    def release(self, stream: NumberedStream) -> None:
        """One fewer reads it. It can still be resumed for as long as history lasts."""
        selection = self._selections[stream.filter]
        selection.readers -= 1
        selection.used_s = self._clock()

    def snapshot(self, stream: NumberedStream) -> NumberedMessage:
        """Everything the stream's filter selects, with the number it stands at.

        Encoded, and deflated, once for all who ask at the same position.
        """
        self.flush()
        selection = self._selections[stream.filter]
        if selection.snapshot is None or selection.snapshot[0] != self._stamp(stream):
            body = _encoded(snapshot(self._state, stream.filter), stream.filter)
            numbered = NumberedMessage(stream.seq, body, self._clock())
            selection.snapshot = (self._stamp(stream), numbered)
        return selection.snapshot[1]

    def beginning(self, stream: NumberedStream) -> list[NumberedMessage]:
        """What a newcomer needs: a snapshot, then the messages after it.

        The last snapshot serves again while little has changed: that many come at once, each at
        another number, does not cost a snapshot each, whose making holds up everybody.
        """
        self.flush()
        selection = self._selections[stream.filter]
        if selection.snapshot is not None and not stream.filter.types:
            held = selection.snapshot[1]
            after = stream.since(stream.epoch, held.seq)
            if (
                not isinstance(after, ResumeTooOld)
                and self._clock() - held.at_s <= _SNAPSHOT_S
                and sum(len(each.body) for each in after) <= _SNAPSHOT_SHARE * len(held.body)
            ):
                return [held, *after]
        return [self.snapshot(stream)]

    def since(
        self, stream: NumberedStream, epoch: str, seq: int
    ) -> tuple[NumberedMessage, ...] | ResumeTooOld:
        """Exactly the messages after ``seq``, or that they can't all be given."""
        self.flush()
        return stream.since(epoch, seq)

    def waiting(self) -> Iterator[NumberedStream]:
        """Streams whose frames wait to be taken."""
        return (each.stream for each in self._selections.values() if each.stream.waiting)

    def drop_unused(self) -> None:
        """Forget streams that nobody has read for as long as history lasts anyway."""
        now_s = self._clock()
        for selection in list(self._selections.values()):
            if not selection.readers and now_s - selection.used_s > self._limits.age_s:
                self._drop(selection)
            elif (
                selection.snapshot
                and now_s - selection.snapshot[1].at_s > _SNAPSHOT_S
                and selection.snapshot[0] != self._stamp(selection.stream)
            ):
                selection.snapshot = None

    def _stamp(self, stream: NumberedStream) -> int:
        """Changes when the stream's snapshot does. A thinned out stream stands still meanwhile."""
        return self._routed if stream.filter.types else stream.seq

    def _make_room(self) -> None:
        several = [each for each in self._selections.values() if not _whole(each.stream.filter)]
        if len(several) < self._max_filters:
            return
        unread = [each for each in several if not each.readers]
        if not unread:
            raise TooManyFilters
        self._drop(min(unread, key=lambda each: each.used_s))

    # --- routing ----------------------------------------------------------------------------------

    def _route(self, ready: list[Change]) -> None:
        """Give changes to the streams that select them.

        A game that enters a narrow selection (its header changed) is sent whole, from the state,
        after all these changes; until then its changes are kept from that stream. Whatever still
        waits for such a game is taken along, or it would be sent twice.
        """
        self._routed += 1
        moved = [game for game in map(_renamed, ready) if game and self._moved(game)]
        for game in {view.id for view in moved}:
            ready.extend(self._waiting.take_game(game))
        joining: dict[GameId, list[StreamSelection]] = {}
        players_moved = False
        for change in ready:
            match change:
                case GameMessage(game=view):
                    if self._moved(view):
                        self._identities[view.id] = _identity(view)
                        self.headers_seen += 1
                        players_moved = True
                        self._reselect(view, joining)
                    self._send(change, self._index.of_game(view.id))
                case GoneMessage(game=game):
                    players_moved = True
                    self._send(change, self._index.of_game(game))
                    self._identities.pop(game, None)
                    joining.pop(game, None)
                    self._index.forget(game)
                case (
                    MoveMessage(game=game)
                    | ClockMessage(game=game)
                    | ScoreMessage(game=game)
                    | PointMessage(game=game)
                    | MomentMessage(game=game)
                ):
                    self._send(change, self._index.of_game(game))
                case AlertMessage(alert=alert) if alert.game is not None:
                    self._send(change, self._index.of_game(alert.game))
                case StandingMessage(player=player):
                    if player.id not in self._known_players:
                        # Perhaps somebody in a selected game turned out to be another person.
                        players_moved = True
                        self._known_players.add(player.id)
                    if not player.games and not player.moves:
                        players_moved = True
                        self._known_players.discard(player.id)
                    self._send(change, self._index.of_player(player.id))
                case GainsMessage(player=id):
                    self._send(change, self._index.of_player(id))
                case _:
                    self._send(change, self._index.everybody())
        for game, selections in joining.items():
            self._join(game, selections)
        if players_moved:
            for selection in self._index.narrow:
                self._reseat(selection)

    def _send(self, change: Change, selections: list[StreamSelection]) -> None:
        bodies: dict[tuple[Visibility, bool], bytes] = {}
        for selection in selections:
            wanted = selection.stream.filter
            if wanted.takes_type(change):
                form = wanted.visibility, wanted.brief
                if (body := bodies.get(form)) is None:
                    body = bodies[form] = _encoded(shown(change, wanted.visibility), wanted)
                if not wanted.brief or selection.is_news(change, body):
                    selection.stream.append(body)

    def _moved(self, view: GameView) -> bool:
        return self._identities.get(view.id) != _identity(view)

    def _reselect(self, view: GameView, joining: dict[GameId, list[StreamSelection]]) -> None:
        """The game's header says something new: it may enter selections and leave others."""
        joining.pop(view.id, None)
        entering: list[StreamSelection] = []
        for selection in self._index.narrow:
            if selection.stream.filter.takes(view):
                if view.id not in selection.games:
                    entering.append(selection)
            elif view.id in selection.games:
                self._index.leave(selection, view.id)
                self._send(GoneMessage(view.id), [selection])
        if entering:
            joining[view.id] = entering

    def _join(self, game: GameId, selections: list[StreamSelection]) -> None:
        """Send a game whole, in the messages every client knows anyway."""
        detail = self._state.game(game)
        if detail is None:
            return
        whole: list[Change] = list(whole_game(detail))
        whole.extend(AlertMessage(alert) for alert in self._state.alerts() if alert.game == game)
        moments = self._state.moments()
        whole.extend(MomentMessage(game, each) for each in moments if each.game == game)
        for change in whole:
            self._send(change, selections)
        for selection in selections:
            self._index.enter(selection, game)

    def _reseat(self, selection: StreamSelection) -> None:
        """Bring the players of a narrow selection up to its games."""
        now = self._players_of(selection)
        if now == selection.players:
            return
        gone, new = selection.players - now, now - selection.players
        self._index.reseat(selection, now)
        for player in gone:
            self._send(StandingMessage(forgotten(player)), [selection])
        for view in self._state.players():
            if view.id in new:
                self._send(StandingMessage(view), [selection])
                for gain_cp, moves in self._state.gains(view.id):
                    self._send(GainsMessage(view.id, gain_cp, moves), [selection])

    def _players_of(self, selection: StreamSelection) -> set[str]:
        return {each for game in selection.games for each in self._state.player_ids(game)}

    def _open(self, selected: StreamFilter) -> StreamSelection:
        self._made += 1
        stream = NumberedStream(selected, f"{self._epoch}-{self._made}", self._clock, self._limits)
        selection = StreamSelection(stream, self._clock())
        self._selections[selected] = selection
        self._index.add(selection)
        if selected.narrow:
            for view in self._state.games():
                self._identities.setdefault(view.id, _identity(view))
                if selected.takes(view):
                    self._index.enter(selection, view.id)
            self._index.reseat(selection, self._players_of(selection))
        return selection

    def _drop(self, selection: StreamSelection) -> None:
        del self._selections[selection.stream.filter]
        self._index.drop(selection)


def _whole(wanted: StreamFilter) -> bool:
    """Whether it leaves out neither games nor kinds of messages."""
    return not wanted.narrow and not wanted.types


def _encoded(message: Message, wanted: StreamFilter) -> bytes:
    return brief(message) if wanted.brief else wire.encode(message)


def forgotten(player: str) -> PlayerView:
    """What a standing says of a player to be forgotten: no games and no moves."""
    return PlayerView(player, "", None, 0, 0, None)


def _renamed(change: Change) -> GameView | None:
    return change.game if isinstance(change, GameMessage) else None


def _identity(view: GameView) -> object:
    """What filters look at."""
    return view.event, view.white, view.black, view.board
