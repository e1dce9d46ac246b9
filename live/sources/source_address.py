"""Which kind of source a ``--feed`` text means, and what to call it. Pure, but for a
look whether a bare name is that of a folder.
"""

import os
import re
from typing import Literal, NamedTuple
from urllib.parse import (
    SplitResult,
    parse_qsl,
    unquote,
    urlencode,
    urlsplit,
    urlunsplit,
)

from live.errors import UnknownFeed
from live.messages.values import Value
from live.user_files import in_print

# ``mqtt(s)://[user[:password]@]BROKER[:port]/TOPIC``: the parts of a broker's address.
# Pure.
#
# Not a URL like others: ``#`` and ``+`` are wildcards of the topic, and everything
# behind the broker's ``/`` is topic.


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


class MqttAddress(Value):
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


def read_mqtt_address(text: str) -> MqttAddress | None:
    """Return the parts of an address, or None when it is none; an empty topic is left
    empty.

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


def describe_wrong_topic(topic: str) -> str | None:
    """Say what is wrong with a topic to subscribe to (MQTT 3.1.1, section 4.7); None if
    nothing.
    """
    levels = topic.split("/")
    if not topic:
        return "names no topic"
    if (
        not topic.isprintable()
        or len(topic.encode("utf-8", "replace")) > MAX_TOPIC_BYTES
    ):
        return "has a topic that no broker takes"
    if any("#" in level for level in levels[:-1]) or (
        "#" in levels[-1] and levels[-1] != "#"
    ):
        return "has a # that is not the last level of its topic"
    if any("+" in level and level != "+" for level in levels):
        return "has a + that is not a whole level of its topic"
    return None


class SourceKind(NamedTuple):
    """One kind of source."""

    opener: str
    """What opens it, ``MODULE:NAME`` in this package."""
    schemes: tuple[str, ...] = ()
    """Of addresses that mean this kind and no other."""
    once: bool = False
    """What was read is not there a second time."""


KINDS = {
    "demo": SourceKind("demo_feed:DemoFeed", once=True),
    "stdin": SourceKind("stdin_feed:StdinFeed", once=True),
    "file": SourceKind("file_feed:open_path", ("file",)),
    "folder": SourceKind("file_feed:open_path"),
    "pgn-url": SourceKind("web_page_feed:open_web_page"),
    "lichess": SourceKind("lichess:open_lichess"),
    "livechess-cloud": SourceKind("livechess_cloud:LiveChessCloudFeed"),
    "dgt-board": SourceKind("livechess:LiveChessFeed", ("ws", "wss")),
    "mqtt": SourceKind("mqtt_feed:MqttFeed", ("mqtt", "mqtts")),
}
#: Kinds of versions before 0.4, each with what takes its place.
GONE_KINDS = {
    "plugin": (
        "Write its games as PGN into a file that --feed follows, pipe them into"
        " --feed -, or publish them at an MQTT broker"
    ),
}
#: A lichess broadcast is a round, a tournament of rounds, or a group of tournaments. A
#: page has no stream: a study, an arena, a swiss tournament, what a user is playing.
LichessKind = Literal["round", "tour", "group", "game", "tv", "page"]

_KNOWN = f"The kinds are: {', '.join(KINDS)}; kind+URL forces one"
LICHESS = "https://lichess.org"

#: Query parameters that carry secrets on one server or another.
_SECRET = re.compile(
    r"token|key|secret|pass|pwd|auth|sig|credential|session|jwt|code|\A[tkps]\Z",
    re.IGNORECASE,
)
_FORCED = re.compile(r"([a-z][a-z-]*)\+(.*)", re.DOTALL)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9.-]*)://")
#: Eight letters and digits (lichess API, ids of rounds and tournaments).
_ID8 = r"[A-Za-z0-9]{8}"
#: Pages of lichess whose names look like ids of games.
_PAGES = frozenset(
    {
        "training",
        "practice",
        "analysis",
        "streamer",
        "insights",
        "timeline",
        "features",
        "tourname",
    }
)
#: ``UUID``, ``UUID/ROUND`` or ``UUID/ROUND/BOARD``.
_CLOUD = re.compile(
    r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:/(\d{1,3})(?:/\d{1,4})?)?",
    re.IGNORECASE,
)
#: What people copy from the browser, and the API's own addresses: what each is, and its
#: id.
_LICHESS: tuple[tuple[LichessKind, str], ...] = (
    (
        "round",
        rf"(/api|/embed)?/broadcast/[^/]+/[^/]+/(?P<a>{_ID8})(/{_ID8})?(\.pgn|/)?",
    ),
    ("tour", rf"(/embed)?/broadcast/(?!round/)[^/]+/(?P<a>{_ID8})/?"),
    ("round", rf"/api/(stream/)?broadcast/round/(?P<a>{_ID8})(\.pgn)?"),
    # One link of the API documentation spells it "tournament".
    ("tour", rf"/api/stream/broadcast/tour(nament)?/(?P<a>{_ID8})(\.pgn)?"),
    ("group", rf"/api/stream/broadcast/group/(?P<a>{_ID8})(\.pgn)?"),
    ("tour", rf"/api/broadcast/(?P<a>{_ID8})(\.pgn)?"),
    ("tv", r"/(api/)?tv(/(?P<a>[A-Za-z0-9]{2,20}))??(/feed)?/?"),
    # A game's id has eight letters; a player's own link has four more.
    (
        "game",
        rf"/(api/stream/game/|embed/game/|embed/|game/export/)?(?P<a>{_ID8})([A-Za-z0-9]{{4}})?"
        r"(\.pgn|/white|/black|/)?",
    ),
)
#: Pages: the path of their PGN, and the seconds between two requests for it: lichess
#: allows 20 in a minute (API documentation, rate limiting), and arenas are long.
_PGN_PAGES: tuple[tuple[str, str, float], ...] = (
    (rf"(/embed)?(/api)?/study/({_ID8}(/{_ID8})?)(\.pgn|/)?", "/api/study/{2}.pgn", 10),
    (
        rf"(/api)?/((tournament|swiss)/{_ID8})(/games|/)?",
        "/api/{1}/games?clocks=true",
        60,
    ),
    (
        r"(/@/|/api/user/)([A-Za-z0-9_-]{2,30})(/tv/?|/current-game)",
        "/api/user/{1}/current-game?clocks=true",
        6,
    ),
)


class LichessTarget(NamedTuple):
    """What an address of lichess shows."""

    what: LichessKind
    id: str
    """Of the round, tournament, group or game; the channel (empty: the best); a page's
    PGN.
    """
    poll_s: float = 0.0
    """The least time between two requests for a page."""


class FeedAddress(Value):
    """A recognised ``--feed`` text."""

    kind: str
    target: str
    """What the kind needs: a path, or a URL with everything in it, secrets too."""
    name: str
    """What people call it: never with secrets."""
    forced: bool = False
    """The kind stood before a ``+``."""


def recognise_source(spec: str, *, lichess_url: str = LICHESS) -> FeedAddress:
    """Tell the kind of source from the text after ``--feed``.

    ``kind+REST`` forces a kind. ``lichess_url`` is the configured base URL, recognised
    beside lichess.org itself. Raises :class:`UnknownFeed`.
    """
    text = spec.strip()
    if forced := _FORCED.fullmatch(text):
        kind, target = forced.groups()
        if kind in GONE_KINDS:
            # What stands behind it may be secret.
            why = "names a kind of source that is gone since 0.4"
            raise UnknownFeed(f'--feed "{kind}+…"', why, GONE_KINDS[kind])
        if kind in KINDS:
            return FeedAddress(
                kind, target, f"{kind}+{redact_address(target)}", forced=True
            )
        if _SCHEME.match(target):  # otherwise it may be a file with a plus in its name
            raise create_unknown_feed(spec)
    return FeedAddress(_kind_of(text, spec, lichess_url), text, redact_address(text))


def create_unknown_feed(
    spec: str, why: str = "names no kind of source", remedy: str = ""
) -> UnknownFeed:
    """Return the error for a text that cannot be followed, with the list of kinds."""
    return UnknownFeed(
        f'--feed "{redact_address(spec.strip())}"', why, remedy or _KNOWN
    )


def _kind_of(text: str, spec: str, lichess_url: str) -> str:
    if text == "demo":
        return "demo"
    if text == "-":
        return "stdin"
    scheme = _SCHEME.match(text)
    if scheme is None:
        if "/" in text or "\\" in text or text.lower().endswith(".pgn"):
            return "file"
        if os.path.isdir(text):
            return "folder"
        if "." in text:
            why = "is taken for a file only if its name ends in .pgn"
            raise create_unknown_feed(
                spec, why, f"Write file+{redact_address(text)} if it is PGN. {_KNOWN}"
            )
        remedy = f"Write ./{redact_address(text)} if it is a file or folder. {_KNOWN}"
        raise create_unknown_feed(spec, remedy=remedy if text else "")
    named = scheme[1].lower()
    for kind, row in KINDS.items():
        if named in row.schemes:
            return kind
    if named not in ("http", "https"):
        raise create_unknown_feed(spec)
    url = split_address(text)
    if url is None or not url.hostname:
        raise create_unknown_feed(spec, "is not a URL that can be read")
    if _is_same_site(url, LICHESS) or _is_same_site(url, lichess_url):
        if read_lichess_target(text) is not None:
            return "lichess"
        if not url.path.endswith(".pgn"):
            raise create_unknown_feed(
                spec,
                "is a lichess page that cannot be followed: broadcasts, studies,"
                " tournaments and games end in their eight-letter id",
            )
    if url.hostname.endswith("livechesscloud.com"):
        if read_cloud_address(text) is None:
            raise create_unknown_feed(
                spec, "is a LiveChess Cloud address without a tournament's id"
            )
        return "livechess-cloud"
    return "pgn-url"


def read_lichess_target(url: str) -> LichessTarget | None:
    """Return what a browser's or the API's URL of lichess shows; None for any other."""
    parts = split_address(url)
    path = parts.path if parts else ""
    for what, pattern in _LICHESS:
        if found := re.fullmatch(pattern, path):
            named = what == "game" and found["a"] in _PAGES
            return None if named else LichessTarget(what, found["a"] or "")
    for pattern, pgn, poll_s in _PGN_PAGES:
        if found := re.fullmatch(pattern, path):
            return LichessTarget("page", pgn.format(*found.groups()), poll_s)
    return None


def read_cloud_address(url: str) -> tuple[str, int | None] | None:
    """Return tournament and round (None: the current one) of a LiveChess Cloud viewer's
    URL.
    """
    parts = split_address(url)
    if parts is None:
        return None
    for text in (parts.fragment, parts.path):
        if found := _CLOUD.fullmatch(text.strip("/")):
            return found[1].lower(), int(found[2] or 0) or None
    return None


def origin_of(url: str) -> str:
    """Return scheme, host and port of a URL: ``https://lichess.org``."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], "", "", ""))


def is_http_address(url: str) -> bool:
    """Return whether a URL can be asked for over HTTP."""
    parts = split_address(url)
    return (
        parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname)
    )


def split_address(url: str) -> SplitResult | None:
    """Split a URL as ``urlsplit`` does; None for what is no URL."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts


def redact_address(text: str) -> str:
    """Return the text as it may be shown: no user, no password, no secret parameter, no
    controls.
    """
    text = "".join(c if c.isprintable() else "�" for c in in_print(text))
    if "://" not in text:
        return text
    if broker := read_mqtt_address(text):
        return broker.public
    parts = split_address(text)
    if parts is None:  # no URL at all: shown only where it has no place for a secret
        return f"{text.partition('://')[0]}://…" if "@" in text or "?" in text else text
    query, fragment = _redact_user(parts.query), _redact_user(parts.fragment)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, query, fragment))


def _redact_user(query: str) -> str:
    """Return a query, or a fragment that is written like one, without the values of
    secret parameters.
    """
    pairs = (
        parse_qsl(query, keep_blank_values=True, separator="&") if "=" in query else []
    )
    if not any(_SECRET.search(name) for name, _ in pairs):
        return query
    return urlencode(
        [(k, "***" if _SECRET.search(k) else v) for k, v in pairs], safe="*"
    )


def _is_same_site(url: SplitResult, base: str) -> bool:
    other = split_address(base)
    if other is None:
        return False
    host = (url.hostname or "").removeprefix("www.")
    return (host, url.port) == ((other.hostname or "").removeprefix("www."), other.port)
