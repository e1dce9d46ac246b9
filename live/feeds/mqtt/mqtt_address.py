"""``mqtt(s)://[user[:password]@]BROKER[:port]/TOPIC``: the parts of a broker's address. Pure.

Not a URL like others: ``#`` and ``+`` are wildcards of the topic, and everything behind the
broker's ``/`` is topic.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

import msgspec

#: Registered ports (IANA): plain and with TLS.
PORTS = {"mqtt": 1883, "mqtts": 8883}
#: The longest topic a packet can hold (MQTT 3.1.1, section 1.5.3).
MAX_TOPIC_BYTES = 65_535

_ADDRESS = re.compile(
    r"(?P<scheme>mqtts?)://(?:(?P<user>[^/]*)@)?"
    r"(?:\[(?P<v6>[0-9a-f:.%]+)\]|(?P<host>[^/@:\[\]\s]+))(?::(?P<port>\d{1,5}))?"
    r"(?:/(?P<topic>.*))?",
    re.IGNORECASE | re.DOTALL,
)


class MqttAddress(msgspec.Struct, frozen=True):
    """A broker and what to subscribe to there."""

    host: str
    port: int
    tls: bool
    topic: str
    user: str = ""
    password: str = ""

    @property
    def public(self) -> str:
        """The address as it may be shown."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        scheme = "mqtts" if self.tls else "mqtt"
        port = "" if self.port == PORTS[scheme] else f":{self.port}"
        return f"{scheme}://{host}{port}/{self.topic}"


def mqtt_address(text: str) -> MqttAddress | None:
    """The parts of an address, or None when it is none; an empty topic is left empty.

    User and password are percent-decoded, the topic is taken as it stands.
    """
    found = _ADDRESS.fullmatch(text)
    if found is None:
        return None
    scheme = found["scheme"].lower()
    port = int(found["port"] or PORTS[scheme])
    if not 0 < port < 65_536:
        return None
    user, _, password = (found["user"] or "").partition(":")
    return MqttAddress(
        host=found["v6"] or found["host"],
        port=port,
        tls=scheme == "mqtts",
        topic=found["topic"] or "",
        user=unquote(user),
        password=unquote(password),
    )


def wrong_topic(topic: str) -> str | None:
    """Say what is wrong with a topic to subscribe to (MQTT 3.1.1, section 4.7); None if nothing."""
    levels = topic.split("/")
    if not topic:
        return "names no topic"
    if not topic.isprintable() or len(topic.encode("utf-8", "replace")) > MAX_TOPIC_BYTES:
        return "has a topic that no broker takes"
    if any("#" in level for level in levels[:-1]) or ("#" in levels[-1] and levels[-1] != "#"):
        return "has a # that is not the last level of its topic"
    if any("+" in level and level != "+" for level in levels):
        return "has a + that is not a whole level of its topic"
    return None
