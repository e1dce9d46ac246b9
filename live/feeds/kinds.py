"""Which kind of source a ``--feed`` text means, and what to call it. Pure."""

from __future__ import annotations

import re
from typing import Literal, get_args
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit, urlunsplit

import msgspec

from live.errors import UnknownFeed

Kind = Literal["demo", "stdin", "file", "pgn-url", "lichess"]
KINDS: tuple[Kind, ...] = get_args(Kind)

LICHESS = "https://lichess.org"

#: Query parameters that carry secrets on one server or another.
_SECRET = re.compile(r"token|key|secret|pass|pwd|auth|sig|credential|session|jwt", re.IGNORECASE)
_FORCED = re.compile(r"([a-z][a-z-]*)\+(.*)", re.DOTALL)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9.-]*)://")
#: Eight letters and digits (lichess API, ids of rounds and tournaments).
_ID8 = r"[A-Za-z0-9]{8}"
_ROUND_PAGE = re.compile(rf"/broadcast/[^/]+/[^/]+/({_ID8})(?:/{_ID8})?/?")
_ROUND_API = re.compile(rf"/api/(?:stream/)?broadcast/round/({_ID8})(?:\.pgn)?")


class Source(msgspec.Struct, frozen=True):
    """A recognised ``--feed`` text."""

    kind: Kind
    target: str
    """What the kind needs: a path, or a URL with everything in it, secrets too."""
    name: str
    """What people call it: never with secrets."""
    forced: bool = False
    """The kind stood before a ``+``."""


def recognise(spec: str, *, lichess_url: str = LICHESS) -> Source:
    """Tell the kind of source from the text after ``--feed``.

    ``kind+REST`` forces a kind. ``lichess_url`` is the configured base URL, recognised beside
    lichess.org itself. Raises :class:`UnknownFeed`.
    """
    text = spec.strip()
    if forced := _FORCED.fullmatch(text):
        kind, target = forced.groups()
        for known in KINDS:
            if kind == known:
                return Source(known, target, f"{known}+{public_name(target)}", forced=True)
        if _SCHEME.match(target):  # otherwise it may be a file with a plus in its name
            raise unknown(spec)
    return Source(_kind_of(text, spec, lichess_url), text, public_name(text))


def unknown(spec: str, why: str = "names no kind of source") -> UnknownFeed:
    """The error for a text that cannot be followed, with the list of kinds."""
    return UnknownFeed(
        f'--feed "{public_name(spec.strip())}"',
        why,
        f"The kinds are: {', '.join(KINDS)}; kind+URL forces one",
    )


def _kind_of(text: str, spec: str, lichess_url: str) -> Kind:
    if text == "demo":
        return "demo"
    if text == "-":
        return "stdin"
    scheme = _SCHEME.match(text)
    if scheme is None:
        if text and ("/" in text or "\\" in text or text.lower().endswith(".pgn")):
            return "file"
        raise unknown(spec)
    match scheme.group(1).lower():
        case "file":
            return "file"
        case "http" | "https":
            url = split(text)
            if url is None or not url.hostname:
                raise unknown(spec, "is not a URL that can be read")
            if _same_site(url, LICHESS) or _same_site(url, lichess_url):
                if lichess_round(text) is None and not url.path.endswith(".pgn"):
                    raise unknown(
                        spec,
                        "is a lichess page that cannot be followed: a broadcast round ends in"
                        " its eight-letter id",
                    )
                return "lichess" if lichess_round(text) is not None else "pgn-url"
            return "pgn-url"
        case _:
            raise unknown(spec)


def lichess_round(url: str) -> str | None:
    """The round's id in a browser's or the API's URL of a lichess broadcast round."""
    parts = split(url)
    if parts is None:
        return None
    for pattern in (_ROUND_PAGE, _ROUND_API):
        if found := pattern.fullmatch(parts.path):
            return found.group(1)
    return None


def origin(url: str) -> str:
    """Scheme, host and port of a URL: ``https://lichess.org``."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], "", "", ""))


def split(url: str) -> SplitResult | None:
    """``urlsplit`` that answers None for what is no URL."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts


def public_name(text: str) -> str:
    """The text as it may be shown: no user, no password, no secret parameter, no controls."""
    text = "".join(c if c.isprintable() else "�" for c in text)
    if "://" not in text:
        return text
    parts = split(text)
    if parts is None:  # no URL at all: shown only where it has no place for a secret
        return text.partition("://")[0] + "://…" if "@" in text or "?" in text else text
    query = parts.query
    if _SECRET.search(unquote(query)):
        pairs = parse_qsl(query, keep_blank_values=True, separator="&")
        query = urlencode([(k, "***" if _SECRET.search(k) else v) for k, v in pairs], safe="*")
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, query, parts.fragment))


def _same_site(url: SplitResult, base: str) -> bool:
    other = split(base)
    if other is None:
        return False
    host = (url.hostname or "").removeprefix("www.")
    return (host, url.port) == ((other.hostname or "").removeprefix("www."), other.port)
