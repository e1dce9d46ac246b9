"""Sends a broker the state, as retained messages: the shell around `retained`.

MQTT 5, QoS 1. Loss policy: while the broker is slow or away nothing piles up; it is sent the latest
state when it can take it. At most :data:`IN_FLIGHT` messages wait for its word at a time, each for
another topic, so the messages of one topic arrive in order.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import ssl
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

import aiomqtt
from paho.mqtt.subscribeoptions import SubscribeOptions

from live.config import MqttConfig
from live.errors import ConfigError
from live.events import Change, FeedHealth, FeedState
from live.network.mqtt_client import MqttClient
from live.network.retry import backoff, spoken
from live.publish.broker.retained_messages import RetainedMessages, status
from live.publish.broker.site_stream import SINCE, SNAPSHOT, SiteStream
from live.publish.published_state import PublishedState
from live.publish.stream.stream_filter import EVERYTHING, StreamFilter
from live.settings import named_text

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
#: Messages of former runs that are read at the beginning; beyond, they would stay.
_STRANGERS = 100_000


class BrokerPublisher:
    """One broker that is kept up to date. ``run`` it, and give it every change."""

    def __init__(
        self,
        config: MqttConfig,
        state: PublishedState,
        selected: StreamFilter = EVERYTHING,
        *,
        chance: Callable[[], float] = random.random,
        report: Callable[[FeedHealth], None] = lambda health: None,
        stream: SiteStream | None = None,
    ) -> None:
        """Reads the files that the configuration names. ``report`` gets trouble and its end;
        ``stream`` is sent too.

        Raises:
            ConfigError: one of them cannot be used.
        """
        url = urlsplit(config.publish)
        self._host = url.hostname or ""
        self._port = url.port or (8883 if url.scheme == "mqtts" else 1883)
        self._user = url.username
        self._password = (
            named_text("mqtt.password_file", config.password_file).strip()
            if config.password_file
            else None
        )
        self._tls = _trust(config.ca_file) if url.scheme == "mqtts" else None
        # Without a stream, what a former run retained of one is cleared like all that is left.
        others = () if stream is None else (SINCE, SNAPSHOT)
        self._retained = RetainedMessages(state, config.prefix, selected, others=others)
        self._stream = stream
        self._changed = asyncio.Event()
        self._chance = chance
        self._report = report
        self.connected = False
        # What the status topic says, as far as we know.
        self._online = False

    def publish(self, changes: Iterable[Change]) -> None:
        """Changes that the state already holds. Cheap and synchronous."""
        changes = list(changes)
        if self._stream is not None:
            self._stream.changed(changes)
        self._retained.changed(changes)
        self._changed.set()

    async def run(self) -> None:
        """Keep the broker up to date until cancelled; come back after every loss."""
        waits, reason = backoff(self._chance), ""
        while True:
            try:
                await self._session()
            except* (aiomqtt.MqttError, OSError, TimeoutError) as group:
                reason = str(_first(group))
            except* Exception:
                # A broker ends nothing but itself; the log has the whole story.
                _log.exception("broker %s:%d failed", self._host, self._port)
                reason = "failed"
            if self.connected:
                self.connected = False
                waits = backoff(self._chance)
            wait_s = next(waits)
            _log.warning(
                "broker %s:%d: %s; tried again in %.1f s", self._host, self._port, reason, wait_s
            )
            self._say("retrying", f"{reason}; tried again in {spoken(wait_s)}")
            await asyncio.sleep(wait_s)

    def _say(self, state: FeedState, detail: str = "") -> None:
        self._report(FeedHealth(f"broker {self._host}:{self._port}", state, detail, part=True))

    async def _session(self) -> None:
        """One connection, until it is lost."""
        topic = self._retained.topic("status")
        client = MqttClient(
            self._host,
            self._port,
            username=self._user,
            password=self._password,
            tls_context=self._tls,
            protocol=aiomqtt.ProtocolVersion.V5,
            clean_start=True,
            will=aiomqtt.Will(topic, status("offline"), qos=1, retain=True),
            timeout=TIMEOUT_S,
            max_inflight_messages=IN_FLIGHT,
            max_queued_incoming_messages=_STRANGERS,
        )
        client.pending_calls_threshold = IN_FLIGHT + 2  # it warns beyond ten
        async with client:
            self.connected = True
            self._say("live")
            _log.info("broker %s:%d: connected", self._host, self._port)
            self._retained.forget()
            if self._stream is not None:
                self._stream.forget()
            # What former runs left there comes first, and what protocol 1 left, which is cleared,
            # too; our own messages do not come back to us.
            mine_not = SubscribeOptions(qos=0, noLocal=True)
            await client.subscribe([(each, mine_not) for each in self._retained.filters])
            try:
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._listen(client), name="broker: what it holds")
                    tasks.create_task(self._publish_all(client), name="broker: send")
                    if self._stream is not None:
                        sending = self._publish_stream(client, self._stream)
                        tasks.create_task(sending, name="broker: stream")
            finally:
                # The will is for those who are lost; who leaves in order has to say so.
                with contextlib.suppress(aiomqtt.MqttError, TimeoutError):
                    await client.publish(
                        topic, status("offline"), qos=1, retain=True, timeout=GOODBYE_S
                    )

    async def _listen(self, client: aiomqtt.Client) -> None:
        loop = asyncio.get_running_loop()
        alone: asyncio.TimerHandle | None = None
        foreign: set[str] = set()
        mend: asyncio.TimerHandle | None = None
        late_will = (self._retained.topic("status"), status("offline"))
        try:
            async for message in client.messages:
                topic = str(message.topic)
                if message.retain:
                    if self._retained.ours(topic, bytes(message.payload)):
                        self._retained.holds(topic)
                elif not self._retained.ours(topic):
                    continue
                elif (topic, message.payload) == late_will:
                    # Of a connection that we lost: we are here.
                    self._online = False
                else:
                    if alone is None:
                        _log.error("%s", self._shared())
                    else:
                        alone.cancel()
                    self._say("retrying", self._shared())
                    alone = loop.call_later(ALONE_S, self._say, "live")
                    if len(foreign) < _STRANGERS:
                        foreign.add(topic)
                    if mend is None or mend.when() <= loop.time():
                        mend = loop.call_later(MEND_S, self._mend, foreign)
                self._changed.set()
        finally:
            for timer in filter(None, (alone, mend)):
                timer.cancel()

    def _mend(self, foreign: set[str]) -> None:
        """Send all anew: what another wrote stands no longer."""
        self._retained.doubt(foreign)
        foreign.clear()
        if self._stream is not None:
            self._stream.begin_anew()
        self._online = False
        self._changed.set()

    def _shared(self) -> str:
        below = self._retained.topic("")
        return (
            f"another service publishes below {below}, too, and each undoes what the other says: "
            "give it another mqtt.prefix, and let nobody else write there"
        )

    async def _publish_all(self, client: aiomqtt.Client) -> None:
        self._online = False
        while True:
            self._changed.clear()
            batch = self._retained.take(IN_FLIGHT)
            if batch:
                async with asyncio.TaskGroup() as tasks:
                    for topic, payload in batch.items():
                        tasks.create_task(
                            client.publish(topic, payload, qos=1, retain=True),
                            name=f"broker: {topic}",
                        )
                continue
            if not self._online:
                self._online = True
                topic = self._retained.topic("status")
                await client.publish(topic, status("online"), qos=1, retain=True)
            await self._changed.wait()
            await asyncio.sleep(TICK_S)

    async def _publish_stream(self, client: aiomqtt.Client, stream: SiteStream) -> None:
        while True:
            for each in stream.take():
                topic = self._retained.topic(each.topic)
                await client.publish(topic, each.payload, qos=1, retain=each.retain)
            await asyncio.sleep(TICK_S)


def _first(group: BaseExceptionGroup[Exception]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _trust(file: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=file or None)
    except OSError as error:
        why = error.strerror or str(error)
        raise ConfigError(
            f"mqtt.ca_file {file}", f"cannot be used ({why})", "Give certificates in PEM"
        ) from None
