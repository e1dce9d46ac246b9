"""Parts of the address of an MQTT broker. No I/O.

An address is ``mqtt(s)://[user[:password]@]BROKER[:port]/TOPIC``. It is not an ordinary
URL: ``#`` and ``+`` are wildcards, and everything after the slash that follows the
broker is the topic.
"""

import re
from urllib.parse import unquote

from live.messages.values import Value

#: Ports registered with IANA, without and with TLS.
PORTS = {"mqtt": 1883, "mqtts": 8883}
#: Greatest length of a topic in a packet (MQTT 3.1.1, section 1.5.3).
MAX_TOPIC_BYTES = 65_535
_ADDRESS = re.compile(
    r"(?P<scheme>mqtts?)://(?:(?P<user>[^/]*)@)?"
    r"(?:\[(?P<v6>[0-9a-f:.%]+)\]|(?P<host>[^/@:\[\]\s]+))(?::(?P<port>\d{1,5}))?"
    r"(?:/(?P<topic>.*))?",
    re.IGNORECASE | re.DOTALL,
)


class MqttAddress(Value):
    """Address of a broker, and the topic to subscribe to."""

    host: str
    port: int
    tls: bool
    topic: str
    user: str = ""
    password: str = ""

    @property
    def public(self) -> str:
        """The address without its user name and password, for display."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        scheme = "mqtts" if self.tls else "mqtt"
        port = "" if self.port == PORTS[scheme] else f":{self.port}"
        return f"{scheme}://{host}{port}/{self.topic}"


def read_mqtt_address(text: str) -> MqttAddress | None:
    """Return the parts of an address, or None if it is not an address of a broker. A
    missing topic is empty.

    User name and password are percent-decoded, the topic is not.
    """
    match = _ADDRESS.fullmatch(text)
    if match is None:
        return None
    scheme = match["scheme"].lower()
    port = int(match["port"] or PORTS[scheme])
    if not 0 < port < 65_536:
        return None
    user, _, password = (match["user"] or "").partition(":")
    return MqttAddress(
        host=match["v6"] or match["host"],
        port=port,
        tls=scheme == "mqtts",
        topic=match["topic"] or "",
        user=unquote(user),
        password=unquote(password),
    )


def describe_wrong_topic(topic: str) -> str | None:
    """Return what is wrong with a topic for a subscription (MQTT 3.1.1, section 4.7);
    None if nothing is.
    """
    levels = topic.split("/")
    if not topic:
        return "names no topic"
    if (
        not topic.isprintable()
        or len(topic.encode("utf-8", "replace")) > MAX_TOPIC_BYTES
    ):
        return "has a topic that no broker accepts"
    if any("#" in level for level in levels[:-1]) or (
        "#" in levels[-1] and levels[-1] != "#"
    ):
        return "has a # that is not the last level of its topic"
    if any("+" in level and level != "+" for level in levels):
        return "has a + that is not a whole level of its topic"
    return None
