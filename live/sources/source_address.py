"""Recognition of the kind of source that a ``--feed`` text means, and of its name. No
I/O, except that a path is checked for being a folder.
"""

import difflib
import os
import re
from itertools import chain
from typing import Literal, NamedTuple
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit, urlunsplit

from live.errors import UnknownFeed
from live.messages.values import Value
from live.sources.mqtt_address import read_mqtt_address
from live.user_files import escape_surrogates


class SourceKind(NamedTuple):
    """A kind of source."""

    opener: str
    """Function or class that opens the source: ``MODULE:NAME`` in this package."""
    schemes: tuple[str, ...] = ()
    """URL schemes that only this kind has."""
    once: bool = False
    """Whether the source can be read only once."""


KINDS = {
    "demo": SourceKind("demo_feed:DemoFeed", once=True),
    "stdin": SourceKind("stdin_feed:StdinFeed", once=True),
    "file": SourceKind("file_feed:open_path", ("file",)),
    "folder": SourceKind("file_feed:open_path"),
    "pgn-url": SourceKind("pgn_url_feed:open_pgn_url"),
    "lichess": SourceKind("lichess:open_lichess"),
    "livechess-cloud": SourceKind("livechess_cloud:LiveChessCloudFeed"),
    "dgt-board": SourceKind("livechess:LiveChessFeed", ("ws", "wss")),
    "mqtt": SourceKind("mqtt_feed:MqttFeed", ("mqtt", "mqtts")),
}
#: Kinds that existed before version 0.4, each with advice on what to use instead.
GONE_KINDS = {
    "plugin": (
        "Write its games as PGN into a file that --feed follows, pipe them into"
        " --feed -, or publish them at an MQTT broker"
    ),
}
#: Kind of a lichess address. ``round``, ``tour`` (a tournament of rounds) and ``group``
#: (of tournaments) belong to broadcasts. A ``page`` has no stream: a study, an arena, a
#: Swiss tournament or a user's current game.
LichessKind = Literal["round", "tour", "group", "game", "tv", "page"]
_KNOWN = (
    "Give demo, - (standard input), a PGN file, a folder, or an address (http, ws,"
    " mqtt). KIND+ADDRESS says of which kind it is; the kinds are:"
    f" {', '.join(KINDS)}"
)
#: Schemes of addresses that can be followed.
_SCHEMES = (
    "https",
    "http",
    *chain.from_iterable(kind.schemes for kind in KINDS.values()),
)
LICHESS = "https://lichess.org"
#: Names of query parameters that contain secrets on some servers.
_SECRET = re.compile(
    r"token|key|secret|pass|pwd|auth|sig|credential|session|jwt|code|\A[tkps]\Z",
    re.IGNORECASE,
)
_FORCED = re.compile(r"([a-z][a-z-]*)\+(.*)", re.DOTALL)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9.-]*)://")
#: Id of a round or tournament in the lichess API: eight letters and digits.
_ID8 = r"[A-Za-z0-9]{8}"
#: Names of lichess pages that look like ids of games.
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
#: Tournament id, round and board: ``UUID``, ``UUID/ROUND`` or ``UUID/ROUND/BOARD``.
_CLOUD = re.compile(
    r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:/(\d{1,3})(?:/\d{1,4})?)?",
    re.IGNORECASE,
)
#: Kinds of lichess addresses, each with the pattern of its path, in which group ``a``
#: is the id: addresses from the browser and those of the API.
_LICHESS: tuple[tuple[LichessKind, str], ...] = (
    (
        "round",
        rf"(/api|/embed)?/broadcast/[^/]+/[^/]+/(?P<a>{_ID8})(/{_ID8})?(\.pgn|/)?",
    ),
    ("tour", rf"(/embed)?/broadcast/(?!round/)[^/]+/(?P<a>{_ID8})/?"),
    ("round", rf"/api/(stream/)?broadcast/round/(?P<a>{_ID8})(\.pgn)?"),
    # One link in the API documentation spells it "tournament".
    ("tour", rf"/api/stream/broadcast/tour(nament)?/(?P<a>{_ID8})(\.pgn)?"),
    ("group", rf"/api/stream/broadcast/group/(?P<a>{_ID8})(\.pgn)?"),
    ("tour", rf"/api/broadcast/(?P<a>{_ID8})(\.pgn)?"),
    ("tv", r"/(api/)?tv(/(?P<a>[A-Za-z0-9]{2,20}))??(/feed)?/?"),
    # A game's id has eight letters; the link for one of its players has four more.
    (
        "game",
        rf"/(api/stream/game/|embed/game/|embed/|game/export/)?(?P<a>{_ID8})([A-Za-z0-9]{{4}})?"
        r"(\.pgn|/white|/black|/)?",
    ),
)
#: Lichess pages: pattern of the path, path of the page's PGN, and least seconds between
#: two requests. lichess allows 20 requests per minute (API documentation, rate
#: limiting), and the PGN of an arena is long.
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
    """The target of a lichess address."""

    kind: LichessKind
    id: str
    """Id of the round, tournament, group or game; name of the TV channel (empty: the
    best game); or path of a page's PGN.
    """
    poll_s: float = 0.0
    """Least time between two requests for a page, seconds."""


class FeedAddress(Value):
    """A ``--feed`` text whose kind was recognised."""

    kind: str
    target: str
    """Path or complete URL, including secrets."""
    name: str
    """Name shown to people, without secrets."""
    forced: bool = False
    """Whether the text names its kind before a ``+``."""


def recognise_source(spec: str, *, lichess_url: str = LICHESS) -> FeedAddress:
    """Return the kind and target of a ``--feed`` text.

    ``kind+REST`` forces a kind. ``lichess_url`` is the configured base URL, which is
    recognised in addition to lichess.org. Raises :class:`UnknownFeed`.
    """
    text = spec.strip()
    if forced := _FORCED.fullmatch(text):
        kind, target = forced.groups()
        if kind in GONE_KINDS:
            # The text after the kind might contain a secret.
            problem = "names a kind of source that was removed in 0.4"
            raise UnknownFeed(f'--feed "{kind}+…"', problem, GONE_KINDS[kind])
        if kind in KINDS:
            return FeedAddress(
                kind, target, f"{kind}+{redact_address(target)}", forced=True
            )
        # Any other text might be the name of a file that contains a plus.
        if _SCHEME.match(target):
            raise create_unknown_feed(spec)
    return FeedAddress(_kind_of(text, spec, lichess_url), text, redact_address(text))


def create_unknown_feed(
    spec: str, problem: str = "cannot be followed", remedy: str = ""
) -> UnknownFeed:
    """Return the error for a text that cannot be followed. Its remedy is ``remedy``; if
    that is empty, what can be followed.
    """
    return UnknownFeed(
        f'--feed "{redact_address(spec.strip())}"', problem, remedy or _KNOWN
    )


def _kind_of(text: str, spec: str, lichess_url: str) -> str:
    if text == "demo":
        return "demo"
    if text == "-":
        return "stdin"
    scheme = _SCHEME.match(text)
    if scheme is None:
        if os.path.isdir(os.path.expanduser(text)):
            return "folder"
        if "/" in text or "\\" in text or text.lower().endswith(".pgn"):
            return "file"
        if "." in text:
            problem = "is treated as a file only if its name ends in .pgn"
            raise create_unknown_feed(
                spec,
                problem,
                f"Write file+{redact_address(text)} if it is PGN. {_KNOWN}",
            )
        if not text:
            raise create_unknown_feed(spec, "is empty")
        remedy = f"Write ./{redact_address(text)} if it is a file or folder. {_KNOWN}"
        raise create_unknown_feed(spec, remedy=remedy)
    scheme_name = scheme[1].lower()
    for kind, row in KINDS.items():
        if scheme_name in row.schemes:
            return kind
    if scheme_name not in ("http", "https"):
        raise create_unknown_feed(spec, remedy=_correct_scheme(text, scheme_name))
    url = split_address(text)
    if url is None or not url.hostname:
        raise create_unknown_feed(spec, "is not a valid URL")
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


def _correct_scheme(text: str, scheme: str) -> str:
    """Return advice on an address whose scheme is misspelt; empty for one that
    resembles none.
    """
    close = difflib.get_close_matches(scheme, _SCHEMES, n=1, cutoff=0.7)
    if not close:
        return ""
    return f"Did you mean {redact_address(close[0] + text[len(scheme) :])}?"


def read_lichess_target(url: str) -> LichessTarget | None:
    """Return the target of a lichess URL copied from a browser or the API
    documentation; None for other URLs.
    """
    parts = split_address(url)
    path = parts.path if parts else ""
    for kind, pattern in _LICHESS:
        if match := re.fullmatch(pattern, path):
            is_page = kind == "game" and match["a"] in _PAGES
            return None if is_page else LichessTarget(kind, match["a"] or "")
    for pattern, pgn, poll_s in _PGN_PAGES:
        if match := re.fullmatch(pattern, path):
            return LichessTarget("page", pgn.format(*match.groups()), poll_s)
    return None


def read_cloud_address(url: str) -> tuple[str, int | None] | None:
    """Return the tournament id and the round (None for the current one) from the URL of
    a LiveChess Cloud viewer; None for other URLs.
    """
    parts = split_address(url)
    if parts is None:
        return None
    for text in (parts.fragment, parts.path):
        if match := _CLOUD.fullmatch(text.strip("/")):
            return match[1].lower(), int(match[2] or 0) or None
    return None


def origin_of(url: str) -> str:
    """Return scheme, host and port of a URL, such as ``https://lichess.org``."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], "", "", ""))


def is_http_address(url: str) -> bool:
    """Return whether a text is an http or https URL with a host."""
    parts = split_address(url)
    return (
        parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname)
    )


def split_address(url: str) -> SplitResult | None:
    """Split a URL as ``urlsplit`` does; return None if it is not a valid URL."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts


def redact_address(text: str) -> str:
    """Return the text for display: without user name, password, values of secret
    parameters and control characters.
    """
    text = "".join(c if c.isprintable() else "�" for c in escape_surrogates(text))
    if "://" not in text:
        return text
    if broker := read_mqtt_address(text):
        return broker.public
    parts = split_address(text)
    # Not a valid URL: it is displayed only if it has no place for a secret.
    if parts is None:
        return f"{text.partition('://')[0]}://…" if "@" in text or "?" in text else text
    query, fragment = _redact_user(parts.query), _redact_user(parts.fragment)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, query, fragment))


def _redact_user(query: str) -> str:
    """Return a query, or a fragment in the form of one, in which the values of secret
    parameters are replaced.
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
    site = split_address(base)
    if site is None:
        return False
    host = (url.hostname or "").removeprefix("www.")
    return (host, url.port) == ((site.hostname or "").removeprefix("www."), site.port)
