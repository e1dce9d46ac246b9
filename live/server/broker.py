"""Which retained messages a broker should hold: a function of the state. Pure.

Topics below the prefix and the number of the protocol (``live-rate/3``), each holding one message
of the websocket protocol without its ``seq``::

    status                    {"state":"online"|"offline",…}; "offline" is also the last will
    engine                    engine      which engine, and how strong it counts
    health                    health      feeds and engines
    players/PLAYER            standing    a player's figures over the event
    EVENT/BOARD/game          game        headers, result, progress
    EVENT/BOARD/move          move        the last ply, with its score as far as it is known
    EVENT/BOARD/white         point       the last point of White's curve
    EVENT/BOARD/black         point       the last point of Black's curve

BOARD is the game's board number, so a screen that shows board 1 goes on with the next round; a game
without one has its id there. Where two games claim a board, the later one in
:func:`live.server.published_state.game_order` has it. Names are made fit for a topic by
:func:`level`.

What changed is only remembered; :meth:`RetainedMessages.take` compares what should be held with
what the broker was sent. So nothing piles up while a broker is slow or away, and the latest state
is what it is sent.

Sends a broker the state, as retained messages: the shell around `retained`.

MQTT 5, QoS 1. Loss policy: while the broker is slow or away nothing piles up; it is sent the latest
state when it can take it. At most :data:`IN_FLIGHT` messages wait for its word at a time, each for
another topic, so the messages of one topic arrive in order.

The numbered stream for static pages that read it from a broker.

Three topics below the prefix and the number of the protocol:

- ``site/changes``, not retained: ``{"epoch":…,"messages":[…]}``, the messages of the websocket,
  each with its ``seq``; a heartbeat says that nothing is missing while nothing happens.
- ``site/since``, retained: the messages since the last snapshot, in the same form, with ``after``,
  the number of that snapshot.
- ``site/snapshot``, retained, by gzip: ``{"epoch":…,"hello":{…},"snapshot":{…}}``.

A newcomer reads the changes, then both retained topics, until a live message follows what it holds
without a gap. So a gap is seen in every message, and mended from what is retained. Loss policy:
lossless while the broker keeps up; when it does not, or was away, the stream jumps, and readers
take the fresh snapshot.
"""

import asyncio
import contextlib
import gzip
import hashlib
import logging
import random
from collections.abc import Callable, Collection, Iterable
from math import inf
from typing import Any
from urllib.parse import urlsplit

import aiomqtt
import msgspec
from paho.mqtt.subscribeoptions import SubscribeOptions

import live
from live.clock import ReadClock
from live.config import MqttConfig, named_text
from live.errors import first_of
from live.event.rate_game import COLORS
from live.event.tracked_game import view_of
from live.messages.figures import GameView
from live.messages.health import FeedState, HealthReport, PublicDelay, part_health
from live.messages.to_clients import (
    Change,
    ClockMessage,
    EngineMessage,
    GameMessage,
    GoneMessage,
    HealthMessage,
    HeartbeatMessage,
    Message,
    MoveMessage,
    PointMessage,
    ScoreMessage,
    StandingMessage,
)
from live.messages.values import GameId, Value
from live.server import wire
from live.server.published_state import PublishedState, game_order
from live.server.streams import FIRST_SEQ, StreamHub
from live.server.visibility import EVERYTHING, StreamFilter, Visibility, sends, shown
from live.sources.mqtt_client import MqttClient, create_tls_context
from live.sources.retry import Chance, format_duration, generate_backoff_s

#: Longest level before it is cut and identified by a digest, in characters.
_LEVEL_CHARS = 120

Place = tuple[str, str]
"""Levels of event and board."""


def level(name: str) -> str:
    """A name as one level of a topic: ``%``, ``/``, ``+``, ``#``, what cannot be printed and what
    is no character are percent-encoded UTF-8; no name at all is ``-``. Different names differ.
    """
    if not name or name == "-":
        return "-" if not name else "%2D"
    whole = "".join(
        char
        if char not in "%/+#" and (char.isprintable() or char == " ")
        else "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))
        for char in name
    )
    if len(whole) <= _LEVEL_CHARS:
        return whole
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{whole[:_LEVEL_CHARS]}%~{digest}"


def place(view: GameView) -> Place:
    """Where a game's topics are."""
    return level(view.event), level(view.id if view.board is None else str(view.board))


class BrokerStatus(Value, tag="status"):
    """What the status topic holds."""

    state: str
    """``online`` once every other topic is right; ``offline`` when the service ended or is lost."""
    version: str = live.__version__
    protocol: int = wire.PROTOCOL


def status(state: str) -> bytes:
    """The payload of the status topic."""
    return msgspec.json.encode(BrokerStatus(state))


class RetainedMessages:
    """What one broker should hold, what it was sent, and the difference."""

    def __init__(
        self,
        state: PublishedState,
        prefix: str,
        selected: StreamFilter = EVERYTHING,
        *,
        others: Collection[str] = (),
    ) -> None:
        """``others``: topics below the prefix that somebody else of ours sends."""
        self._state = state
        self._prefix = f"{prefix}/{wire.PROTOCOL}"
        self._visibility = selected.visibility
        # The status is the publisher's.
        self._others = {self.topic(each) for each in ("status", *others)}
        self._wanted: dict[str, bytes] = {}
        # What the broker holds, by topic; null where only that it holds something is known.
        self._sent: dict[str, bytes | None] = {}
        # Topics where the two may differ, in the order in which they came to be so.
        self._look: dict[str, None] = {}
        self._places: dict[GameId, Place] = {}
        # What to look at again: boards by their place, players by their id; null: the service.
        self._stale: set[Place | str | None] = set()
        self.forget()

    def topic(self, *levels: str) -> str:
        return "/".join((self._prefix, *levels))

    # --- what happens -----------------------------------------------------------------------------

    def changed(self, changes: Iterable[Change]) -> None:
        """Remember what to look at again."""
        for change in changes:
            match change:
                case GameMessage(game=view):
                    self._put(view)
                case GoneMessage(game=game):
                    self._drop(game)
                case MoveMessage() | ClockMessage() | ScoreMessage() | PointMessage():
                    if at := self._places.get(change.game):
                        self._stale.add(at)
                case StandingMessage(player=player):
                    self._stale.add(player.id)
                case EngineMessage():
                    # Every rating is another one now.
                    self._all_stale()
                case HealthMessage():
                    self._stale.add(None)

    def _all_stale(self) -> None:
        self._stale.update(self._places.values(), (each.id for each in self._state.players()))
        self._stale.add(None)

    def begin_anew(self) -> None:
        """Games have other ids: look again at the places of before and at those of now."""
        self._stale.update(self._places.values())
        self._places.clear()
        for view in self._state.games():
            self._put(view)
        self._all_stale()

    def holds(self, topic: str) -> None:
        """The broker holds something at this topic, perhaps of a former run of ours."""
        if topic not in self._others and topic not in self._sent:
            self.doubt(topic)

    def doubt(self, topic: str) -> None:
        """Somebody else wrote there: what the broker holds is not what it was sent."""
        if topic not in self._others:
            self._sent[topic] = self._look[topic] = None

    def forget(self) -> None:
        """Nothing is known of what the broker holds: it is a new connection, or another broker."""
        self._sent.clear()
        self._look = dict.fromkeys(self._wanted)
        for view in self._state.games():
            self._put(view)
        self._all_stale()

    # --- what to send -----------------------------------------------------------------------------

    def take(self, most: int) -> dict[str, bytes]:
        """Up to ``most`` topics with their new payloads, empty where the topic is to be cleared.

        They count as sent; a broker that did not get them is one to :meth:`forget`.
        """
        self._look_again()
        found: dict[str, bytes] = {}
        while self._look and len(found) < most:
            topic = next(iter(self._look))
            del self._look[topic]
            payload = self._wanted.get(topic, b"")
            if self._sent.pop(topic, b"") != payload:
                found[topic] = payload
            if payload:
                self._sent[topic] = payload
        return found

    def _look_again(self) -> None:
        stale, self._stale = self._stale, set()
        players = self._state.players() if any(isinstance(each, str) for each in stale) else ()
        views = {player.id: player for player in players}
        for each in stale:
            match each:
                case None:
                    self._want(self.topic("engine"), EngineMessage(self._state.engine()))
                    health = HealthMessage(self._state.feeds(), self._state.engines())
                    self._want(self.topic("health"), health)
                case str():
                    message = StandingMessage(views[each]) if each in views else None
                    self._want(self.topic("players", level(each)), message)
                case _:
                    self._board(each)

    def _board(self, at: Place) -> None:
        """What the four topics of a board should hold."""
        games = (self._state.game(game) for game, place in self._places.items() if place == at)
        detail = max(filter(None, games), key=game_order, default=None)
        latest: dict[str, Message | None] = dict.fromkeys(("game", "move", "white", "black"))
        if detail is not None:
            latest["game"] = GameMessage(view_of(detail))
            if detail.plies:
                latest["move"] = MoveMessage(detail.id, detail.plies[-1].ply, detail.plies[-1])
            for color in COLORS:
                if points := getattr(detail.curves, color):
                    latest[color] = PointMessage(detail.id, color, points[-1])
        for name, message in latest.items():
            self._want(self.topic(*at, name), message)

    def _want(self, topic: str, message: Message | None) -> None:
        self._look[topic] = None
        if message is None or not sends(type(message), self._visibility):
            self._wanted.pop(topic, None)
        else:
            self._wanted[topic] = wire.encode(shown(message, self._visibility))

    def _put(self, view: GameView) -> None:
        at = place(view)
        if self._places.get(view.id) != at:
            self._drop(view.id)
            self._places[view.id] = at
        self._stale.add(at)

    def _drop(self, game: GameId) -> None:
        if game in self._places:
            self._stale.add(self._places.pop(game))


SNAPSHOT, SINCE, CHANGES = "site/snapshot", "site/since", "site/changes"

#: A snapshot takes the place of so many bytes of changes.
_SINCE_BYTES = 100_000
#: What newcomers read is at most so old; meanwhile they wait.
_SINCE_S = 1.0
#: Beyond, the broker is too slow to follow, and gets a snapshot.
_WAITING_BYTES = 1_000_000


class BrokerMessage(Value):
    """One message for the broker."""

    topic: str
    """Below the prefix."""
    payload: bytes

    @property
    def retain(self) -> bool:
        """Whether it stays for newcomers."""
        return self.topic != CHANGES


class SiteStream:
    """What readers of one broker are sent. ``clock`` gives seconds that never go back; ``epoch``
    must differ at every start.
    """

    def __init__(
        self,
        state: PublishedState,
        selected: StreamFilter = EVERYTHING,
        *,
        epoch: str,
        clock: ReadClock,
        delay: Callable[[Visibility], PublicDelay] = lambda sees: PublicDelay(),
        heartbeat_s: float = 15.0,
    ) -> None:
        self._clock = clock
        self._heartbeat_s = heartbeat_s
        self._selected = selected
        self._hub = StreamHub(state, epoch=epoch, clock=clock, delay=delay)
        self._sent_s = self._since_s = clock()
        self._begin()

    def _begin(self) -> None:
        self._stream = self._hub.stream(self._selected)
        self._after = FIRST_SEQ
        self._since: list[bytes] = []
        self._waiting: list[bytes] = []
        self._stale_since = False
        self._jumped = True

    def begin_anew(self) -> None:
        """Somebody else wrote among our messages: another epoch has its readers throw away all."""
        self._hub.begin_anew()
        self._begin()

    def forget(self) -> None:
        """Nothing is known of what the broker holds: it begins with a snapshot."""
        self._jumped = True

    def changed(self, changes: Iterable[Change]) -> None:
        """Changes that the state already holds."""
        self._hub.publish(changes)
        self._gather()

    def take(self) -> list[BrokerMessage]:
        """What is to be sent now, in this order. It counts as sent."""
        self._hub.flush()
        self._gather()
        now_s, found = self._clock(), list[BrokerMessage]()
        if self._jumped:
            self._jumped = False
            self._waiting.clear()
            # By a heartbeat readers see that there is another epoch.
            found += [*self._snapshot(), self._heartbeat()]
        elif self._waiting:
            found.append(self._changes(self._waiting))
            self._since += self._waiting
            self._waiting = []
            self._stale_since = True
        if self._stale_since and now_s - self._since_s >= _SINCE_S:
            if sum(map(len, self._since)) > _SINCE_BYTES:
                found += self._snapshot()
            else:
                self._since_s, self._stale_since = now_s, False
                found.append(self._retained_since())
        if found:
            self._sent_s = now_s
        elif now_s - self._sent_s >= self._heartbeat_s:
            self._sent_s = now_s
            found.append(self._heartbeat())
        return found

    def _heartbeat(self) -> BrokerMessage:
        return self._changes([wire.number(wire.encode(HeartbeatMessage()), self._stream.seq)])

    def _gather(self) -> None:
        if self._stream.fresh:
            fresh = self._stream.take()
            if not self._jumped:
                self._waiting += [each.plain for each in fresh]
        if sum(map(len, self._waiting)) > _WAITING_BYTES:
            self._waiting.clear()
            self._jumped = True

    def _snapshot(self) -> list[BrokerMessage]:
        now = self._hub.snapshot(self._stream)
        hello = self._hub.hello(self._stream)
        self._after = now.seq
        self._since, self._stale_since, self._since_s = [], False, self._clock()
        whole = b'{"epoch":%b,"hello":%b,"snapshot":%b}' % (
            msgspec.json.encode(self._stream.epoch),
            wire.number(hello, now.seq - 1),
            now.plain,
        )
        packed = gzip.compress(whole, compresslevel=3, mtime=0)
        return [BrokerMessage(SNAPSHOT, packed), self._retained_since()]

    def _retained_since(self) -> BrokerMessage:
        return self._envelope(SINCE, b'"after":%d,' % self._after, self._since)

    def _changes(self, messages: list[bytes]) -> BrokerMessage:
        return self._envelope(CHANGES, b"", messages)

    def _envelope(self, topic: str, after: bytes, messages: list[bytes]) -> BrokerMessage:
        epoch, listed = msgspec.json.encode(self._stream.epoch), b",".join(messages)
        return BrokerMessage(topic, b'{"epoch":%b,%b"messages":[%b]}' % (epoch, after, listed))


_log = logging.getLogger(__name__)

#: What brokers let a client have under way by default (mosquitto.conf, max_inflight_messages).
IN_FLIGHT = 20
#: How long changes are gathered before they are sent.
TICK_S = 0.1
#: For the broker to answer.
TIMEOUT_S = 10.0
#: For saying goodbye.
GOODBYE_S = 2.0
#: After so long without a word of another service under our prefix it is gone.
ALONE_S = 60.0
#: What another publisher wrote below our prefix is undone after so long; two services there undo
#: each other's at this pace.
MEND_S = 2.0
#: Messages of former runs, and of others, that wait to be read; beyond, they would stay.
_STRANGERS = 100_000


class BrokerPublisher:
    """One broker that is kept up to date. ``run`` it, and give it every change."""

    def __init__(
        self,
        config: MqttConfig,
        state: PublishedState,
        selected: StreamFilter = EVERYTHING,
        *,
        chance: Chance = random.random,
        report: HealthReport = lambda health: None,
        stream: SiteStream | None = None,
    ) -> None:
        """Reads the files that the configuration names. ``report`` gets trouble and its end;
        ``stream`` is sent too.

        Raises:
            ConfigError: one of them cannot be used.
        """
        url, password = urlsplit(config.publish), config.password_file
        secure = url.scheme == "mqtts"
        self._where: dict[str, Any] = {
            "hostname": url.hostname or "",
            "port": url.port or (8883 if secure else 1883),
            "username": url.username,
            "password": named_text("mqtt.password_file", password).strip() if password else None,
            "tls_context": create_tls_context("mqtt.ca_file", config.ca_file) if secure else None,
        }
        self._name = f"broker {self._where['hostname']}:{self._where['port']}"
        # Without a stream, what a former run retained of one is cleared like all that is left.
        others = () if stream is None else (SINCE, SNAPSHOT)
        self._retained = RetainedMessages(state, config.prefix, selected, others=others)
        self._status = self._retained.topic("status")
        self._stream = stream
        self._chance = chance
        self._report = report
        self.connected = False
        # What the status topic says, as far as we know.
        self._online = False
        # Where others wrote, when that is undone, and when they are taken to be gone.
        self._foreign: set[str] = set()
        self._mend_s = self._alone_s = inf

    def publish(self, changes: Iterable[Change]) -> None:
        """Changes that the state already holds. Cheap and synchronous."""
        changes = list(changes)
        if self._stream is not None:
            self._stream.changed(changes)
        self._retained.changed(changes)

    def begin_anew(self) -> None:
        """What was said of games is void: read the state again."""
        if self._stream is not None:
            self._stream.begin_anew()
        self._retained.begin_anew()

    async def run(self) -> None:
        """Keep the broker up to date until cancelled; come back after every loss."""
        waits, reason = generate_backoff_s(self._chance), ""
        while True:
            try:
                await self._session()
            except* (aiomqtt.MqttError, OSError, TimeoutError) as group:
                reason = str(first_of(group))
            except* Exception:
                # A broker ends nothing but itself; the log has the whole story.
                _log.exception("%s failed", self._name)
                reason = "failed"
            if self.connected:
                self.connected = False
                waits = generate_backoff_s(self._chance)
            wait_s = next(waits)
            _log.warning("%s: %s; tried again in %.1f s", self._name, reason, wait_s)
            self._say("retrying", f"{reason}; tried again in {format_duration(wait_s)}")
            await asyncio.sleep(wait_s)

    def _say(self, state: FeedState, detail: str = "") -> None:
        self._report(part_health(self._name, state, detail))

    async def _session(self) -> None:
        """One connection, until it is lost."""
        client = MqttClient(
            **self._where,
            protocol=aiomqtt.ProtocolVersion.V5,
            clean_start=True,
            will=aiomqtt.Will(self._status, status("offline"), qos=1, retain=True),
            timeout=TIMEOUT_S,
            max_inflight_messages=IN_FLIGHT,
            max_queued_incoming_messages=_STRANGERS,
        )
        client.pending_calls_threshold = IN_FLIGHT + 2  # it warns beyond ten
        async with client:
            self.connected = True
            self._say("live")
            _log.info("%s: connected", self._name)
            self._retained.forget()
            if self._stream is not None:
                self._stream.forget()
            # What former runs left there comes first; our own messages do not come back to us.
            mine_not = SubscribeOptions(qos=0, noLocal=True)
            await client.subscribe(self._retained.topic("#"), options=mine_not)
            try:
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._listen(client), name="broker: what it holds")
                    tasks.create_task(self._send(client), name="broker: send")
            finally:
                # The will is for those who are lost; who leaves in order has to say so.
                with contextlib.suppress(aiomqtt.MqttError, TimeoutError):
                    await client.publish(
                        self._status, status("offline"), qos=1, retain=True, timeout=GOODBYE_S
                    )

    async def _listen(self, client: aiomqtt.Client) -> None:
        late_will = (self._status, status("offline"))
        shared = (
            f"another service publishes below {self._retained.topic('')}, too, and each undoes "
            "what the other says: give it another mqtt.prefix, and let nobody else write there"
        )
        async for message in client.messages:
            topic = str(message.topic)
            if (topic, message.payload) == late_will and not message.retain:
                # Of a connection that we lost: we are here.
                self._online = False
                continue
            if message.retain:
                self._retained.holds(topic)
            else:
                now_s = asyncio.get_running_loop().time()
                if self._alone_s == inf:
                    _log.error("%s", shared)
                    self._say("retrying", shared)
                self._foreign.add(topic)
                self._alone_s, self._mend_s = now_s + ALONE_S, min(self._mend_s, now_s + MEND_S)

    def _look_after(self, now_s: float) -> None:
        """Undo what others wrote, there and nowhere else; say when they are gone."""
        if now_s >= self._mend_s:
            site = self._retained.topic("site/")
            if self._stream is not None and any(each.startswith(site) for each in self._foreign):
                self._stream.begin_anew()
            self._online &= self._status not in self._foreign
            for topic in self._foreign:
                self._retained.doubt(topic)
            self._foreign.clear()
            self._mend_s = inf
        if now_s >= self._alone_s:
            self._alone_s = inf
            self._say("live")

    async def _send(self, client: aiomqtt.Client) -> None:
        self._online, self._alone_s = False, inf
        while True:
            self._look_after(asyncio.get_running_loop().time())
            for each in self._stream.take() if self._stream is not None else ():
                topic = self._retained.topic(each.topic)
                await client.publish(topic, each.payload, qos=1, retain=each.retain)
            batch = self._retained.take(IN_FLIGHT)
            async with asyncio.TaskGroup() as tasks:
                for topic, payload in batch.items():
                    sending = client.publish(topic, payload, qos=1, retain=True)
                    tasks.create_task(sending, name=f"broker: {topic}")
            if batch:
                continue
            if not self._online:
                self._online = True
                await client.publish(self._status, status("online"), qos=1, retain=True)
            await asyncio.sleep(TICK_S)
