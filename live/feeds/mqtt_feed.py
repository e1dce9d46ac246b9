"""``--feed mqtt(s)://[user@]BROKER[:port]/TOPIC``: games that somebody publishes. Shell.

Loss policy broker → us: QoS 1 with a session that the broker keeps for us, so nothing is lost in a
short break; a retained message gives the state after a long one. Messages are taken from the
library at once and read into :class:`~live.feeds.mqtt_payload.MqttGames`, where those of one
topic become one while the consumer is busy.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import platform
import re
import ssl

import aiomqtt
from aiomqtt.exceptions import MqttConnectError
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from live.errors import ConfigError, FeedUnreadable
from live.feeds.feed import FeedSink
from live.feeds.feed_session import FeedConditions, FeedSession, follow
from live.feeds.mqtt_payload import MqttGames
from live.feeds.source_address import MqttAddress
from live.network.mqtt_client import MqttClient
from live.network.retry import FeedTrouble
from live.settings import named_text

log = logging.getLogger(__name__)

#: Messages that may wait in the library; one is read in well under a millisecond.
QUEUE = 10_000
#: The broker forgets us when we are away for so long (MQTT 5, section 3.1.2.11.2).
SESSION_S = 3600
#: How often staleness and end are looked at.
LOOK_S = 30.0
#: The largest packet we let the broker send (MQTT 5, section 3.1.2.11.4), beside the payload.
OVERHEAD_BYTES = 70_000

#: What OpenSSL says of a certificate that nobody we trust vouches for.
_UNTRUSTED = re.compile(r".*certificate verify failed: (.+?)(?: \(_ssl\.c:\d+\))?\.?\Z")
#: Reason codes of MQTT 5, section 2.4; the library gives those of 3.1.1 as these too.
_UNSUPPORTED, _REFUSED = 132, {134: "user name or password", 135: "access", 138: "this client"}


class MqttFeed:
    """Follows every game on the topics of one subscription.

    Over when every game has a result and nothing has changed for the grace period.
    """

    def __init__(self, name: str, address: MqttAddress, conditions: FeedConditions) -> None:
        self.name = name
        self._address = address
        self._conditions = conditions
        settings = conditions.config.mqtt
        # Read at once, so that a mistake is reported before anything starts.
        self._password = address.password or _password(settings.password_file)
        self._tls = _tls(settings.ca_file) if address.tls else None
        self._games = MqttGames(max_bytes=conditions.config.max_bytes)
        self._news = asyncio.Event()
        self._version = aiomqtt.ProtocolVersion.V5
        self._warned: set[str] = set()

    async def run(self, sink: FeedSink) -> None:
        await follow(self.name, self._follow, sink, self._conditions)

    async def _follow(self, session: FeedSession) -> None:
        try:
            async with self._client() as client:
                answers = await client.subscribe(self._address.topic, qos=1)
                refused = [code for code in map(_code, answers) if code >= 128]
                if refused:
                    raise self._fatal(f"the broker refuses the topic ({refused[0]})")
                await self._listen(client, session)
        except MqttConnectError as error:
            raise self._refused(_code(error.rc)) from error
        except aiomqtt.MqttCodeError as error:
            raise FeedTrouble("connection to the broker lost") from error
        except aiomqtt.MqttError as error:
            raise FeedTrouble(_unreached(_reason(error))) from error

    def _client(self) -> aiomqtt.Client:
        config, address = self._conditions.config, self._address
        settings = config.mqtt
        modern = self._version is aiomqtt.ProtocolVersion.V5
        properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        # A second client of one name would push the first one out.
        passing = self._conditions.passing
        properties.SessionExpiryInterval = 0 if passing else SESSION_S
        properties.MaximumPacketSize = config.max_bytes + OVERHEAD_BYTES
        return MqttClient(
            address.host,
            address.port,
            username=address.user or settings.user or None,
            password=self._password or None,
            identifier="" if passing else settings.client_id or stable_id(self.name),
            protocol=self._version,
            # The broker keeps our subscription and what comes while we are away.
            clean_session=None if modern else passing,
            clean_start=passing if modern else 3,
            properties=properties if modern else None,
            timeout=config.timeout_s,
            max_queued_incoming_messages=QUEUE,
            tls_context=self._tls,
        )

    async def _listen(self, client: aiomqtt.Client, session: FeedSession) -> None:
        draining = asyncio.create_task(self._drain(client, session), name=f"mqtt {self.name}")
        draining.add_done_callback(lambda _: self._news.set())
        self._news.set()  # what was read before a lost connection
        try:
            while not session.over:
                try:
                    async with self._conditions.clock.deadline(session.soonest(LOOK_S)):
                        await self._news.wait()
                except TimeoutError:
                    session.alive()
                    continue
                self._news.clear()
                games, complete = self._games.take()
                await session.report(games, complete=complete)
                if draining.done():
                    await draining
        finally:
            draining.cancel()
            await asyncio.gather(draining, return_exceptions=True)

    async def _drain(self, client: aiomqtt.Client, session: FeedSession) -> None:
        async for message in client.messages:
            topic = message.topic.value
            payload = message.payload if isinstance(message.payload, bytes) else b""
            for _ in self._games.read(topic, payload):
                await asyncio.sleep(0)
            problem = self._games.problem(topic)
            if problem is None:
                self._news.set()
                self._warned.discard(topic)
            elif topic not in self._warned and len(self._warned) < QUEUE:
                self._warned.add(topic)
                log.warning("%s: topic %r holds %s", self.name, topic, problem)
                if not session.reported:
                    session.show("live", f"no games yet; {topic!r} holds {problem}")

    def _refused(self, code: int) -> FeedTrouble:
        if code == _UNSUPPORTED and self._version is aiomqtt.ProtocolVersion.V5:
            self._version = aiomqtt.ProtocolVersion.V311
            return FeedTrouble("the broker speaks MQTT 3.1.1 only")
        if what := _REFUSED.get(code):
            return self._fatal(f"the broker refuses {what}")
        return FeedTrouble(f"the broker does not let us in now ({code})")

    def _fatal(self, problem: str) -> FeedTrouble:
        remedy = (
            "Give the user as mqtt://USER@BROKER/… and the password in the file that"
            " feeds.mqtt.password_file names"
        )
        return FeedTrouble(problem, fatal=FeedUnreadable(self.name, problem, remedy))


def stable_id(name: str) -> str:
    """A client id that is the same whenever this machine follows this source."""
    text = f"{platform.node()}\x1f{name}"
    return "live-rate-" + hashlib.sha256(text.encode()).hexdigest()[:12]


def _code(code: object) -> int:
    value = getattr(code, "value", code)
    return value if isinstance(value, int) else 128


def _unreached(reason: str) -> str:
    """Why there is no connection, in words."""
    if found := _UNTRUSTED.match(reason):
        return (
            f"the broker's certificate is not accepted ({found.group(1)}): name the file of the one"
            " to trust in feeds.mqtt.ca_file"
        )
    return f"cannot reach the broker ({reason})"


def _reason(error: BaseException) -> str:
    """What the library says, without the number in front."""
    text = str(error).strip()
    return text.partition("] ")[2] if text.startswith("[") and "] " in text else text


def _password(path: str) -> str:
    return named_text("feeds.mqtt.password_file", path).rstrip("\r\n") if path else ""


def _tls(ca_file: str) -> ssl.SSLContext:
    """The system's certificates, or those of one file."""
    if not ca_file:
        return ssl.create_default_context()
    text = named_text("feeds.mqtt.ca_file", ca_file)
    try:
        return ssl.create_default_context(cadata=text)
    except ssl.SSLError:
        raise ConfigError(
            f"feeds.mqtt.ca_file {ca_file}", "holds no certificate", "Give a PEM file"
        ) from None
