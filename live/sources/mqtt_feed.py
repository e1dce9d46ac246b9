"""Source for games published over MQTT: ``--feed
mqtt(s)://[user@]BROKER[:port]/TOPIC``.

The subscription has QoS 1 and a session that the broker stores, so a short interruption
loses nothing. After a long one, retained messages give the present state. Messages are
taken from the library at once and passed to
:class:`~live.sources.mqtt_games.MqttGames`, which keeps only the latest state of each
topic while the consumer is busy.
"""

import asyncio
import hashlib
import logging
import platform
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiomqtt
from aiomqtt.exceptions import MqttConnectError
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from live.errors import FeedUnreadable
from live.process.loop_slices import LoopSlices
from live.sources.feed import PolledFeed
from live.sources.feed_session import FeedConditions, FeedSession, Poll
from live.sources.mqtt_address import describe_wrong_topic, read_mqtt_address
from live.sources.mqtt_client import MqttClient, create_tls_context
from live.sources.mqtt_games import MqttGames
from live.sources.mqtt_topic import MAX_BYTES
from live.sources.retry import FeedTrouble, create_permanent_trouble
from live.sources.source_address import FeedAddress, create_unknown_feed
from live.user_files import read_file_of_setting

log = logging.getLogger(__name__)
#: Greatest number of messages waiting in the library; each is processed in well under a
#: millisecond.
QUEUE = 10_000
#: Time after which the broker deletes our session while we are disconnected, seconds
#: (MQTT 5, section 3.1.2.11.2).
SESSION_S = 3600
#: Time between two checks for staleness and the end of the source, seconds.
LOOK_S = 30.0
#: Number of bytes by which the largest packet that the broker may send exceeds the
#: largest payload (MQTT 5, section 3.1.2.11.4).
OVERHEAD_BYTES = 70_000
#: OpenSSL's message about a certificate that no trusted authority has signed.
_UNTRUSTED = re.compile(r".*certificate verify failed: (.+?)(?: \(_ssl\.c:\d+\))?\.?\Z")
#: Reason codes of MQTT 5, section 2.4. The library translates those of 3.1.1 to them.
_UNSUPPORTED, _REFUSED = (
    132,
    {134: "user name or password", 135: "access", 138: "this client"},
)


class MqttFeed(PolledFeed):
    """Follows all games on the topics of one subscription.

    The source has ended when every game has a result and nothing has changed for the
    grace period.
    """

    def __init__(self, source: FeedAddress, conditions: FeedConditions) -> None:
        """Create the source. Raises UnknownFeed, and ConfigError for a file that cannot
        be used.
        """
        super().__init__(source.name, conditions)
        address = read_mqtt_address(source.target)
        if address is None:
            raise create_unknown_feed(
                source.name,
                "is not a broker's address: those look like mqtt://BROKER/TOPIC",
            )
        if problem := describe_wrong_topic(address.topic):
            raise create_unknown_feed(
                source.name, f"{problem}: it should look like mqtt://BROKER/chess/#"
            )
        self._address = address
        settings = conditions.config.mqtt
        # Read the files at once, so that a mistake is reported before anything starts.
        self._password = address.password
        if not self._password and (path := settings.password_file):
            text = read_file_of_setting("feeds.mqtt.password_file", path)
            self._password = text.rstrip("\r\n")
        self._tls = (
            create_tls_context("feeds.mqtt.ca_file", settings.ca_file)
            if address.tls
            else None
        )
        self._games = MqttGames()
        self._warned: set[str] = set()

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[None]:
        try:
            async with self._create_client() as client:
                answers = await client.subscribe(self._address.topic, qos=1)
                if (code := max(map(_reason_code, answers), default=0)) >= 128:
                    raise self._create_fatal(f"the broker refuses the topic ({code})")
                self._news = news = asyncio.Event()
                self._reading = asyncio.create_task(
                    self._read_messages(client, news), name=f"mqtt {self.name}"
                )
                self._reading.add_done_callback(lambda _: news.set())
                try:
                    yield
                finally:
                    self._reading.cancel()
                    await asyncio.gather(self._reading, return_exceptions=True)
        except MqttConnectError as error:
            raise self._translate_refusal(_reason_code(error.rc)) from error
        except aiomqtt.MqttCodeError as error:
            raise FeedTrouble("connection to the broker lost") from error
        except aiomqtt.MqttError as error:
            raise FeedTrouble(_describe_unreached(str(error))) from error

    def _create_client(self) -> aiomqtt.Client:
        config, address = self._config, self._address
        properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        # A second client with the same id would disconnect the first one, so a probe
        # has no fixed id.
        passing = self._conditions.passing
        properties.SessionExpiryInterval = 0 if passing else SESSION_S
        properties.MaximumPacketSize = MAX_BYTES + OVERHEAD_BYTES
        return MqttClient(
            address.host,
            address.port,
            username=address.user or None,
            password=self._password or None,
            identifier=""
            if passing
            else config.mqtt.client_id or create_client_id(self.name),
            protocol=aiomqtt.ProtocolVersion.V5,
            # The broker keeps our subscription, and messages that arrive while we are
            # disconnected.
            clean_start=passing,
            properties=properties,
            timeout=config.timeout_s,
            max_queued_incoming_messages=QUEUE,
            tls_context=self._tls,
        )

    async def poll(self, session: FeedSession) -> Poll:
        """Return the games that have changed since the last poll."""
        lost = self._reading.exception() if self._reading.done() else None
        games, complete = self._games.take_reports()
        trouble = lost if isinstance(lost, Exception) else None
        return Poll(games, complete, note=self._games.note, trouble=trouble)

    def _poll_period_s(self, session: FeedSession) -> float:
        return LOOK_S

    async def _read_messages(self, client: aiomqtt.Client, news: asyncio.Event) -> None:
        async for message in client.messages:
            topic = message.topic.value
            payload = message.payload if isinstance(message.payload, bytes) else b""
            await LoopSlices().run(self._games.read_message(topic, payload))
            news.set()
            problem = self._games.describe_problem(topic)
            if problem is None:
                self._warned.discard(topic)
            elif topic not in self._warned and len(self._warned) < QUEUE:
                self._warned.add(topic)
                log.warning("%s: topic %r holds %s", self.name, topic, problem)

    def _translate_refusal(self, code: int) -> FeedTrouble:
        if code == _UNSUPPORTED:
            remedy = "Use a broker with MQTT 5 (most have it since 2019)"
            return create_permanent_trouble(
                self.name, "does not support MQTT 5", remedy
            )
        if refused := _REFUSED.get(code):
            return self._create_fatal(f"the broker refuses {refused}")
        return FeedTrouble(f"the broker refuses the connection for now ({code})")

    def _create_fatal(self, problem: str) -> FeedTrouble:
        remedy = (
            "Give the user as mqtt://USER@BROKER/… and the password in the file that"
            " feeds.mqtt.password_file names"
        )
        return FeedTrouble(problem, fatal=FeedUnreadable(self.name, problem, remedy))


def create_client_id(name: str) -> str:
    """Return a client id that is the same each time this computer follows this
    source.
    """
    text = f"{platform.node()}\x1f{name}"
    return f"live-rate-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _reason_code(code: object) -> int:
    value = getattr(code, "value", code)
    return value if isinstance(value, int) else 128


def _describe_unreached(text: str) -> str:
    """Return the reason why there is no connection, as text for display: the library's
    message without its error number.
    """
    reason = re.sub(r"\A\[[^]]*\] ", "", text.strip())
    if match := _UNTRUSTED.match(reason):
        return (
            f"the broker's certificate is not accepted ({match[1]}): "
            "name the file of the certificate to trust in feeds.mqtt.ca_file"
        )
    return f"cannot reach the broker ({reason})"
