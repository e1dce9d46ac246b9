"""The connection that keeps one MQTT broker up to date.

It uses MQTT 5 with QoS 1. While the broker is slow or disconnected, old messages are
not stored; later the broker gets the latest state. At most :data:`_IN_FLIGHT` messages
wait for an acknowledgement at a time, each for a different topic, so the messages of
one topic arrive in order.
"""

import asyncio
import contextlib
import logging
import random
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterable
from math import inf
from typing import Any
from urllib.parse import urlsplit

import aiomqtt
from paho.mqtt.subscribeoptions import SubscribeOptions

from live.errors import find_first_error
from live.messages.health import FeedState, HealthReport, part_health
from live.messages.to_clients import Change, ChangeListener
from live.process.backoff import Chance, format_duration, generate_backoff_s
from live.process.supervision import Supervisor, run_in_background
from live.server.authentication import public_filter
from live.server.event_reader import EventReader
from live.server.public_view import PublicView
from live.server.retained_messages import RetainedMessages, encode_status
from live.server.site_stream import SINCE, SNAPSHOT, SiteStream
from live.server.stream_filter import EVERYTHING, StreamFilter
from live.settings import Config, MqttConfig
from live.sources.mqtt_client import MqttClient, create_tls_context
from live.user_files import read_file_of_setting

_log = logging.getLogger(__name__)
#: Maximum number of unacknowledged messages: the default limit of brokers
#: (max_inflight_messages in mosquitto.conf).
_IN_FLIGHT = 20
#: Time for which changes are collected before they are sent, seconds.
TICK_S = 0.1
#: Time limit for an answer from the broker, seconds.
TIMEOUT_S = 10.0
#: Time limit for reporting the status ``offline`` at the end, seconds.
_GOODBYE_S = 2.0
#: Another service that writes under our prefix counts as ended after this time without
#: a message, seconds.
ALONE_S = 60.0
#: Delay before a message that another publisher wrote under our prefix is overwritten,
#: seconds. Two services with the same prefix overwrite each other's messages this
#: often.
MEND_S = 2.0
#: Maximum number of received messages, from former runs and other publishers, that wait
#: to be handled. Further messages are ignored, so they would stay at the broker.
_INCOMING = 100_000


@contextlib.asynccontextmanager
async def publishing_to_broker(
    config: Config,
    public: PublicView,
    report: HealthReport,
    guard: Callable[[ChangeListener], ChangeListener],
    supervisor: Supervisor,
) -> AsyncIterator[None]:
    """Keep the broker of the settings up to date during the block.

    ``guard`` wraps a listener so that an error in it does not stop the service.
    """
    visible = public_filter(config.server.hide_scores)
    stream = SiteStream(
        public,
        visible,
        epoch=secrets.token_hex(6),
        clock=time.monotonic,
        delay=public.describe_delay,
    )
    broker = BrokerPublisher(
        config.mqtt,
        public,
        visible,
        report=report,
        stream=stream if config.mqtt.site else None,
    )
    public.listen(guard(broker.publish), broker.reset)
    async with run_in_background(supervisor.keep("broker", broker.run), "broker"):
        yield


class BrokerPublisher:
    """Publishes the state of the event to one MQTT broker while :meth:`run` runs.

    :meth:`publish` must be called with every change of the state.
    """

    def __init__(
        self,
        config: MqttConfig,
        state: EventReader,
        selected: StreamFilter = EVERYTHING,
        *,
        chance: Chance = random.random,
        report: HealthReport = lambda health: None,
        stream: SiteStream | None = None,
    ) -> None:
        """Read the files that the configuration names.

        Args:
            config: address, files and prefix.
            state: the state of the event.
            selected: the filter for the data that is published.
            chance: source of random numbers for the waiting times.
            report: called when a problem begins or ends.
            stream: a stream for a public web site, which is published too.

        Raises:
            ConfigError: a named file cannot be used.
        """
        url = urlsplit(config.publish)
        password = config.password_file
        secure = url.scheme == "mqtts"
        self._options: dict[str, Any] = {
            "hostname": url.hostname or "",
            "port": url.port or (8883 if secure else 1883),
            "username": url.username,
            "password": read_file_of_setting("mqtt.password_file", password).strip()
            if password
            else None,
            "tls_context": create_tls_context("mqtt.ca_file", config.ca_file)
            if secure
            else None,
        }
        self._name = f"broker {self._options['hostname']}:{self._options['port']}"
        # Without a stream, messages of a stream that a former run retained are deleted
        # like all other old messages.
        other_topics = () if stream is None else (SINCE, SNAPSHOT)
        self._retained = RetainedMessages(
            state, config.prefix, selected, other_topics=other_topics
        )
        self._status = self._retained.topic("status")
        self._stream = stream
        self._chance = chance
        self._report = report
        self.connected = False
        # True if the status topic contains ``online``, as far as this service knows.
        self._online = False
        # Topics to which another service wrote. The loop times when these topics are
        # overwritten and when that service counts as ended, seconds.
        self._foreign: set[str] = set()
        self._mend_s = self._alone_s = inf

    def publish(self, changes: Iterable[Change]) -> None:
        """Mark messages to be sent; the state must already contain the changes."""
        changes = list(changes)
        if self._stream is not None:
            self._stream.publish(changes)
        self._retained.mark_changed(changes)

    def reset(self) -> None:
        """Publish all games again, since their ids have changed."""
        if self._stream is not None:
            self._stream.reset()
        self._retained.reset()

    async def run(self) -> None:
        """Keep the broker up to date until cancelled; reconnect after every failure."""
        waits = generate_backoff_s(self._chance)
        reason = ""
        while True:
            try:
                await self._run_session()
            except* (aiomqtt.MqttError, OSError, TimeoutError) as group:
                reason = str(find_first_error(group))
            except* Exception:
                # An error with the broker must not stop anything else.
                _log.exception("%s failed", self._name)
                reason = "failed"
            if self.connected:
                self.connected = False
                waits = generate_backoff_s(self._chance)
            wait_s = next(waits)
            _log.warning("%s: %s; trying again in %.1f s", self._name, reason, wait_s)
            self._report_state(
                "retrying", f"{reason}; trying again in {format_duration(wait_s)}"
            )
            await asyncio.sleep(wait_s)

    def _report_state(self, state: FeedState, detail: str = "") -> None:
        self._report(part_health(self._name, state, detail))

    async def _run_session(self) -> None:
        """Connect, and keep the broker up to date until the connection is lost."""
        client = MqttClient(
            **self._options,
            protocol=aiomqtt.ProtocolVersion.V5,
            clean_start=True,
            will=aiomqtt.Will(
                self._status, encode_status("offline"), qos=1, retain=True
            ),
            timeout=TIMEOUT_S,
            max_inflight_messages=_IN_FLIGHT,
            max_queued_incoming_messages=_INCOMING,
        )
        client.pending_calls_threshold = _IN_FLIGHT + 2  # the default warns above ten
        async with client:
            self.connected = True
            self._report_state("live")
            _log.info("%s: connected", self._name)
            self._retained.forget()
            if self._stream is not None:
                self._stream.forget()
            # The broker first sends the retained messages of former runs. With this
            # option it does not send our own messages back to us.
            no_echo = SubscribeOptions(qos=0, noLocal=True)
            await client.subscribe(self._retained.topic("#"), options=no_echo)
            try:
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._listen(client), name="broker: listen")
                    tasks.create_task(self._send(client), name="broker: send")
            finally:
                # The broker sends the last will only if the connection is lost, so a
                # regular end must be reported.
                with contextlib.suppress(aiomqtt.MqttError, TimeoutError):
                    await client.publish(
                        self._status,
                        encode_status("offline"),
                        qos=1,
                        retain=True,
                        timeout=_GOODBYE_S,
                    )

    async def _listen(self, client: aiomqtt.Client) -> None:
        late_will = (self._status, encode_status("offline"))
        shared = (
            f"another service also publishes below {self._retained.topic('')}, and "
            "each overwrites the other: give it another mqtt.prefix, and let no other "
            "program write there"
        )
        async for message in client.messages:
            topic = str(message.topic)
            if (topic, message.payload) == late_will and not message.retain:
                # The broker sent the last will of an earlier connection, although this
                # service is online.
                self._online = False
                continue
            if message.retain:
                self._retained.note_topic(topic)
            else:
                now_s = asyncio.get_running_loop().time()
                if self._alone_s == inf:
                    _log.error("%s", shared)
                    self._report_state("retrying", shared)
                self._foreign.add(topic)
                self._alone_s = now_s + ALONE_S
                self._mend_s = min(self._mend_s, now_s + MEND_S)

    def _undo_foreign_writes(self, now_s: float) -> None:
        """Overwrite messages that another service wrote to our topics, if it is time
        for the next overwriting.

        Report the broker as live again once the other service counts as ended.
        """
        if now_s >= self._mend_s:
            site = self._retained.topic("site/")
            if self._stream is not None and any(
                topic.startswith(site) for topic in self._foreign
            ):
                self._stream.reset()
            self._online &= self._status not in self._foreign
            for topic in self._foreign:
                self._retained.doubt(topic)
            self._foreign.clear()
            self._mend_s = inf
        if now_s >= self._alone_s:
            self._alone_s = inf
            self._report_state("live")

    async def _send(self, client: aiomqtt.Client) -> None:
        self._online = False
        self._alone_s = inf
        while True:
            self._undo_foreign_writes(asyncio.get_running_loop().time())
            for message in self._stream.take() if self._stream is not None else ():
                topic = self._retained.topic(message.topic)
                await client.publish(
                    topic, message.payload, qos=1, retain=message.retain
                )
            batch = self._retained.take(_IN_FLIGHT)
            async with asyncio.TaskGroup() as tasks:
                for topic, payload in batch.items():
                    sending = client.publish(topic, payload, qos=1, retain=True)
                    tasks.create_task(sending, name=f"broker: {topic}")
            if batch:
                continue
            if not self._online:
                self._online = True
                await client.publish(
                    self._status, encode_status("online"), qos=1, retain=True
                )
            await asyncio.sleep(TICK_S)
