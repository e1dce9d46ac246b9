"""Who may connect: the ``Host`` and ``Origin`` headers, and the address listened on. Pure.

A page anywhere on the web can make its visitor's browser connect to 127.0.0.1, and can point its
own domain name there (DNS rebinding). The first shows in ``Origin``, the second in ``Host``.

Which boards are on air, and who may say so.

A board on air is analysed before all others, so strangers have no say: only overlays on this
machine, and those with a producer's token. An overlay sends ``{"type":"air","games":["ID"]}`` as a
websocket message whenever it shows other boards; what it said counts while it is connected.

Bounds that keep one client from costing another anything.

How many may come, and how fast. Pure: addresses and a clock in, yes or no out.

Connections from this machine are not counted by address: behind a reverse proxy everybody's are.
There handshakes, websockets and filters are counted by whom the proxy names (``X-Forwarded-For``).

Bearer tokens: who may read what. Pure: text and time in, answers out.

The file holds one table for each token, and of the token itself only its SHA-256::

    [[token]]
    name = "hall screen"
    sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    events = ["Open A"]        # also games, players: as in a query; none: everything
    expires = 2026-12-31       # the last day it is valid, UTC; none: for ever
    arbiter = false            # true: also sees what is for arbiters alone
    metrics = false            # true: reads /metrics, which counts what engines did
    producer = false           # true: the boards that its overlays show are analysed first

A plain SHA-256 is enough because tokens are made here, from 256 bits of chance (``live-rate
token``): there is no guessing them. Tokens read; a producer's also says which boards
are on air.

The file of tokens on disk, read again whenever it changes: that is how a token is withdrawn.

A file that is gone or broken lets nobody in: it may be half written, so its tokens stay valid for
:data:`GRACE_LOOKS` looks, and no longer.

Who a client is, and what it may see: tokens by header, query or first message. Pure.

Without a file of tokens everybody is a guest and sees the same. With one, a token is needed for all
data; with ``public`` as well, those without a token are the public and a token shows more.
"""

import contextlib
import datetime as dt
import hashlib
import ipaddress
import logging
import tomllib
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from live.clock import ReadClock
from live.config import ServerConfig, named_text
from live.errors import ConfigError
from live.messages.from_clients import DeskCommand
from live.messages.health import FeedState, HealthReport, part_health
from live.messages.values import GameId, Value
from live.server.answers import HttpRequest, HttpResponse
from live.server.visibility import FilterError, StreamFilter, Visibility, parse


def is_loopback(host: str) -> bool:
    """Whether a name or address (no port, no brackets) can only mean this machine."""
    if f".{host.lower()}".rstrip(".").endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_of(authority: str) -> str:
    """The host of ``host:port`` in lower case, without brackets; empty when there is none."""
    if any(char in authority for char in "/@?#\\ \t"):
        return ""
    try:
        parts = urlsplit(f"//{authority}")
        _ = parts.port  # raises on a port that is no number
    except ValueError:
        return ""
    return parts.hostname or ""


class OriginPolicy:
    """The names we answer to and the origins whose pages may connect.

    Listening on loopback, only names of this machine are answered. Elsewhere any name is, unless
    ``hosts`` lists some: then they and those of this machine. A page of our own may always connect;
    ``origins`` lists further ones (``https://example.org``, ``null`` for local files).
    """

    def __init__(self, config: ServerConfig) -> None:
        self._loopback_only = is_loopback(config.host)
        self._hosts = {host.lower() for host in config.hosts}
        self._origins = {origin.lower().rstrip("/") for origin in config.origins}

    def answers_to(self, authority: str) -> bool:
        """Whether a ``Host`` header names us."""
        host = host_of(authority)
        # A rebound domain stands in ``Host`` by its own name, never by one of this machine.
        if not host or host in self._hosts or is_loopback(host):
            return bool(host)
        return not self._loopback_only and not self._hosts

    def names(self, origin: str) -> bool:
        """Whether this origin is one of those listed: its pages may read answers, too."""
        return origin.lower() in self._origins

    def lets_in(self, origin: str | None, authority: str) -> bool:
        """Whether a page of ``origin`` may open a websocket. Programs send no origin."""
        if origin is None or self.names(origin):
            return True
        scheme, _, ours = origin.lower().partition("://")
        return scheme in ("http", "https") and ours == authority.lower()


def check_exposure(config: ServerConfig) -> list[str]:
    """Warnings, one line each, about an address that others can reach.

    Raises:
        ConfigError: others can reach it and nothing says that they may.
    """
    if is_loopback(config.host):
        return []
    if not config.public and not config.tokens_file:
        raise ConfigError(
            f"server.host {config.host}",
            "everybody who reaches this address could read along",
            "Give tokens (server.tokens_file), or set server.public (live-rate --public)",
        )
    warnings = []
    if config.public:
        warnings.append(
            f"whoever reaches {config.host} reads along"
            + (" without scores" if config.hide_scores else ", scores of running games included")
        )
    if config.tokens_file and not config.certificate_file:
        warnings.append(
            "tokens travel in the clear: set server.certificate_file, or put a TLS proxy in front"
        )
    return warnings


#: Boards of one overlay that count: a grid of all boards puts none of them before the others.
MOST_BOARDS = 8

#: What proxies add: the request comes from elsewhere, whatever address it has.
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via", "cf-connecting-ip")


class OnAirMessage(Value, tag="air"):
    """What an overlay sends: the games it shows now."""

    games: tuple[GameId, ...] = ()


class TokenMessage(Value, tag="token"):
    """What a client may send first instead of a header: ``{"type":"token","token":"…"}``."""

    token: str


Said = TypeVar("Said", OnAirMessage, TokenMessage, DeskCommand)


def client_message(text: str | bytes, kind: type[Said]) -> Said | None:
    """What a client sent, where it is a message of this kind."""
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def sender(headers: Mapping[str, str], address: str) -> str:
    """Who a request is from: behind a proxy on this machine, the last address that it names."""
    with contextlib.suppress(ValueError):
        if is_loopback(address):
            named = headers.get("x-forwarded-for", "").rpartition(",")[2]
            return str(ipaddress.ip_address(named.strip()))
    return address


def is_this_machine(headers: Mapping[str, str], address: str) -> bool:
    """Whether a request was made on this machine, by a page of this machine or by a program."""
    if not is_loopback(address) or any(name in headers for name in _FORWARDED):
        return False
    named = [headers.get("host", "")]
    if "origin" in headers:
        named.append(headers["origin"].partition("://")[2])
    return all(is_loopback(host_of(each)) for each in named)


class BoardsOnAir:
    """What all overlays together show; ``changed`` is called with it whenever it changes."""

    def __init__(self, changed: Callable[[frozenset[GameId]], None]) -> None:
        self._changed = changed
        self._shown: dict[Hashable, frozenset[GameId]] = {}
        self._all: frozenset[GameId] = frozenset()

    def show(self, overlay: Hashable, message: bytes) -> None:
        """This overlay shows the games of its message from now on; more than a few are none."""
        if (air := client_message(message, OnAirMessage)) is not None:
            games = frozenset(air.games)
            self._shown[overlay] = games if len(games) <= MOST_BOARDS else frozenset()
            self._tell()

    def close(self, overlay: Hashable) -> None:
        """This overlay is gone."""
        if self._shown.pop(overlay, None):
            self._tell()

    def _tell(self) -> None:
        games = frozenset[GameId]().union(*self._shown.values())
        if games != self._all:
            self._all = games
            self._changed(games)


class ClientLimits(Value, kw_only=True):
    """Every bound of the server, with its default."""

    tick_s: float = 0.05
    """How long scores, points and standings are gathered before they go out together."""
    heartbeat_s: float = 15.0
    """Between two heartbeats; a browser page can't see websocket pings."""
    silent_after_s: float = 45.0
    """A subscriber that answers no ping for so long is gone."""
    write_bytes: int = 262_144
    """Unsent bytes held for one client; beyond them it is skipped until it drains."""
    piece_bytes: int = 65_536
    """A large snapshot is handed to the transport in pieces of this size."""
    slow_after_s: float = 10.0
    """A skipped client that has not drained by then is closed."""
    encrypting: int = 256
    """Unfinished TLS handshakes; beyond them the one begun first gives way to a newcomer."""
    encrypting_s: float = 5.0
    """For a TLS handshake."""
    request_s: float = 10.0
    """For a whole request (and so for the handshake) to arrive."""
    idle_s: float = 60.0
    """For the next request on a connection that is kept."""
    closing_s: float = 3.0
    """For a client to answer our close frame, or to read a last response."""
    request_bytes: int = 16_384
    """Request line and headers together."""
    message_bytes: int = 4_096
    """One message from a subscriber."""
    messages: int = 60
    """Frames that a subscriber may send at once, and again in ``messages_s``."""
    messages_s: float = 30.0
    connections: int = 10_000
    connections_per_address: int = 256
    """From one address; this machine's own is not counted. Of one visitor behind a proxy on this
    machine so many websockets."""
    handshakes_per_s: float = 200.0
    """Each new subscriber costs a snapshot: from all addresses together."""
    handshakes_burst: float = 2_000.0
    handshakes_per_address_per_s: float = 5.0
    handshakes_per_address_burst: float = 50.0
    filters: int = 512
    """Distinct filters that select games, aside of those that leave nothing out."""
    filters_per_address: int = 128
    """For one address; this machine's own is not counted."""
    history_messages: int = 2_000
    """How much of the past can be resumed. A cache: the snapshot is always obtainable."""
    history_bytes: int = 4_000_000
    history_age_s: float = 120.0


#: Addresses whose rate is remembered at once; beyond, the one unseen for longest is forgotten.
_ADDRESSES = 4096


class TokenBucket:
    """A token bucket: ``rate`` per second on average, ``burst`` at once."""

    def __init__(self, rate: float, burst: float, now_s: float) -> None:
        self._rate, self._burst = rate, burst
        self._tokens, self._at_s = burst, now_s

    def take(self, now_s: float) -> bool:
        """Whether there is a token left; it is gone then."""
        self._tokens = min(self._burst, self._tokens + (now_s - self._at_s) * self._rate)
        self._at_s = now_s
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


class RateLimits:
    """Counts connections, and handshakes per second."""

    def __init__(self, limits: ClientLimits, clock: ReadClock) -> None:
        self._limits = limits
        self._clock = clock
        self.connections = 0
        """How many are in."""
        self._by_address: Counter[str] = Counter()
        self._by_visitor: Counter[str] = Counter()
        self._everybody = TokenBucket(limits.handshakes_per_s, limits.handshakes_burst, clock())
        self._rates: dict[str, TokenBucket] = {}

    def bound(self, connections: int) -> None:
        """From now on so many may come; who is in stays."""
        self._limits = replace(self._limits, connections=connections)

    def enter(self, address: str) -> bool:
        """Count one connection; whether there was room for it. :meth:`leave` it in any case."""
        self.connections += 1
        self._by_address[address] += 1
        return self.connections <= self._limits.connections and (
            is_loopback(address)
            or self._by_address[address] <= self._limits.connections_per_address
        )

    def leave(self, address: str) -> None:
        """One connection fewer."""
        self.connections -= 1
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]

    def has_room(self, visitor: str) -> bool:
        """Whether somebody behind a proxy on this machine may have one more websocket."""
        return (
            is_loopback(visitor) or self._by_visitor[visitor] < self._limits.connections_per_address
        )

    def join(self, visitor: str) -> None:
        """Count one websocket of a visitor."""
        self._by_visitor[visitor] += 1

    def part(self, visitor: str) -> None:
        """One websocket of a visitor fewer."""
        self._by_visitor[visitor] -= 1
        if not self._by_visitor[visitor]:
            del self._by_visitor[visitor]

    def shake(self, address: str) -> bool:
        """Whether one more handshake of this visitor may be answered now."""
        now_s, limits = self._clock(), self._limits
        if not is_loopback(address):
            bucket = self._rates.pop(address, None) or TokenBucket(
                limits.handshakes_per_address_per_s, limits.handshakes_per_address_burst, now_s
            )
            self._rates[address] = bucket
            if len(self._rates) > _ADDRESSES:
                del self._rates[next(iter(self._rates))]
            if not bucket.take(now_s):
                return False
        return self._everybody.take(now_s)


#: Bytes of chance in a token.
TOKEN_BYTES = 32

#: Longest token looked at.
MAX_CHARS = 512


class Token(Value, forbid_unknown_fields=True, omit_defaults=True):
    """One table of the file."""

    name: Annotated[str, msgspec.Meta(min_length=1)]
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
    arbiter: bool = False
    events: tuple[str, ...] = ()
    games: tuple[str, ...] = ()
    players: tuple[str, ...] = ()
    expires: dt.date | None = None
    """The last day it is valid, UTC."""
    metrics: bool = False
    """Reads the figures of the service, which are of all events and know no delay."""
    producer: bool = False
    """The boards that its overlays show are analysed first."""

    @property
    def within(self) -> StreamFilter | None:
        """What it is confined to; null: nothing.

        Raises:
            FilterError: a value no query could hold either.
        """
        kinds = ("event", "game", "player")
        wanted = parse((kind, each) for kind in kinds for each in getattr(self, f"{kind}s"))
        return wanted if wanted.narrow else None

    def expired(self, now: dt.datetime) -> bool:
        """Whether its time is over. ``now`` has a time zone."""
        return self.expires is not None and now.astimezone(dt.UTC).date() > self.expires


class _File(Value, forbid_unknown_fields=True):
    token: tuple[Token, ...] = ()


Tokens = Mapping[str, Token]
"""All tokens of a file, by their SHA-256. Looking digests up gives no timing away."""


def digest_of(token: str) -> str:
    """SHA-256 of a token, lower-case hexadecimal."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


@lru_cache(maxsize=1)  # the file is read every second
def read_tokens(text: str, where: str) -> Tokens:
    """The tokens of a file's text; ``where`` names it in errors.

    Raises:
        ConfigError: not TOML, an unknown key, a wrong value, or the same token or name twice.
    """
    try:
        tokens = msgspec.convert(tomllib.loads(text), _File).token
        for token in tokens:
            _ = token.within
    # Not TOML, too long a number, too deep; or no tokens.
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise ConfigError(
            where,
            f"is no list of tokens: {error}",
            'Make entries with "live-rate token NAME" and append them',
        ) from None
    for what in ("name", "sha256"):
        if len({getattr(token, what) for token in tokens}) != len(tokens):
            raise ConfigError(where, f"two tokens have the same {what}", "Remove one of them")
    return {token.sha256: token for token in tokens}


def new_token(name: str, chance: Callable[[int], bytes], **rights: Any) -> tuple[str, str]:
    """A new token, and the entry for the file. ``chance`` gives that many unguessable bytes;
    ``rights`` are fields of :class:`Token`.
    """
    secret = chance(TOKEN_BYTES).hex()
    token = Token(name, digest_of(secret), **rights)
    fields = msgspec.to_builtins(token, builtin_types=[dt.date])
    lines = [f"{name} = {_toml(value)}" for name, value in fields.items()]
    return secret, "\n".join(["[[token]]", *lines]) + "\n"


def _toml(value: object) -> str:
    """JSON is TOML too, but for dates and DEL."""
    text = msgspec.json.encode(value).decode().replace("\x7f", "\\u007F")
    return text.strip('"') if isinstance(value, dt.date) else text


_log = logging.getLogger(__name__)

#: How many looks, a second apart, a file that cannot be used may be in the middle of being written.
GRACE_LOOKS = 3


class TokenFile:
    """One file, with what it said last. ``report`` is given what is wrong with it, and that it is
    over.
    """

    def __init__(self, path: str, report: HealthReport) -> None:
        self._path = path
        self._report = report
        self._text = ""
        # How many looks it could not be used at.
        self._spoilt = 0

    def load(self) -> str | ConfigError:
        """Read the file, or say why it cannot be read. Its drive may not answer: it is for a
        thread of its own.
        """
        try:
            return named_text("server.tokens_file", self._path)
        except ConfigError as error:
            return error

    def read(self, found: str | ConfigError) -> Tokens:
        """The tokens of what :meth:`load` has found.

        Raises:
            ConfigError: the file cannot be read, or says something else than tokens.
        """
        if isinstance(found, ConfigError):
            raise found
        self._text = found
        return read_tokens(found, f"server.tokens_file {self._path}")

    def changed(self, found: str | ConfigError) -> Tokens | None:
        """The tokens where they are others than before, none where the file cannot be used any
        more; null where they are the same. To be called about once a second with what :meth:`load`
        has found.
        """
        before = self._text
        try:
            tokens = self.read(found)
        except ConfigError as error:
            # Being written again gives no more time.
            self._spoilt += 1
            if self._spoilt == 1:
                self._say(f"{error.problem}: its tokens are withdrawn in {GRACE_LOOKS} s")
            if self._spoilt != GRACE_LOOKS + 1:
                return None
            self._say(f"{error.problem}: its tokens are withdrawn until it can be read")
            return {}
        if self._spoilt:
            self._spoilt = 0
            self._say("")
        elif self._text == before:
            return None
        return tokens

    def _say(self, problem: str) -> None:
        level = logging.ERROR if problem else logging.WARNING
        _log.log(level, "server.tokens_file %s %s", self._path, problem or "is read again")
        state: FeedState = "failed" if problem else "live"
        self._report(part_health("tokens file", state, problem))


class Guest(Value):
    """Somebody who may read."""

    visibility: Visibility = Visibility.PUBLIC
    within: StreamFilter | None = None
    """What its token confines it to."""
    digest: str = ""
    """SHA-256 of its token; empty for those without."""
    metrics: bool = False
    """Whether it reads the figures of the service."""
    producer: bool = False
    """Whether it says which boards are on air, from wherever it connects."""
    name: str = ""
    """Of its token."""

    @property
    def commands(self) -> bool:
        """Whether it may answer alerts: arbiters, not those who are confined to some boards."""
        return self.visibility is Visibility.ARBITER and self.within is None

    def limit(self, selected: StreamFilter) -> StreamFilter:
        """What this guest gets that asks for ``selected``."""
        return replace(selected, within=self.within, visibility=self.visibility)


def everybody(hide_scores: bool) -> StreamFilter:
    """What those see who are not asked who they are, a broker's readers among them."""
    return StreamFilter(visibility=Visibility.VENUE if hide_scores else Visibility.PUBLIC)


class Authentication:
    """Identifies clients. ``now`` gives the time of day, with its zone."""

    def __init__(
        self,
        tokens: Tokens | None,
        config: ServerConfig,
        now: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
    ) -> None:
        self.tokens = tokens
        """Replaced where the file says something else; null where none is named."""
        self._now = now
        self.admit(config)

    def admit(self, config: ServerConfig) -> None:
        """From now on this holds for those without a token."""
        self._public = config.public
        self._visibility = everybody(config.hide_scores).visibility

    @property
    def anybody(self) -> Guest | None:
        """What those without a token are; null where they are nobody."""
        if self.tokens is not None and not self._public:
            return None
        # Figures of the service say how many searches the engines have made.
        metrics = self.tokens is None and self._visibility is Visibility.PUBLIC
        return Guest(self._visibility, metrics=metrics)

    def who(self, request: HttpRequest) -> Guest | None:
        """Who sends this request; null when its token is missing or wrong.

        A token that is given must be right: somebody who means to see more is not quietly shown
        less. Where no tokens exist, none is looked at.
        """
        return self._known(given_token(request))

    def introduced(self, message: str | bytes) -> Guest | None:
        """Who sends this as its first websocket message; null when that is nobody."""
        first = client_message(message, TokenMessage)
        return None if first is None else self._known(first.token)

    def asks_first(self, request: HttpRequest) -> bool:
        """Whether a websocket is to say who it is in its first message."""
        return given_token(request) is None and self.anybody is None

    def still(self, guest: Guest) -> bool:
        """Whether this guest may stay: its token is neither withdrawn nor changed nor over."""
        return (self._guest(guest.digest) if guest.digest else self.anybody) == guest

    def _known(self, token: str | None) -> Guest | None:
        if token is None or self.tokens is None:
            return self.anybody
        return self._guest(digest_of(token)) if 0 < len(token) <= MAX_CHARS else None

    def _guest(self, digest: str) -> Guest | None:
        token = (self.tokens or {}).get(digest)
        if token is None or token.expired(self._now()):
            return None
        visibility = Visibility.ARBITER if token.arbiter else self._visibility
        return Guest(visibility, token.within, digest, token.metrics, token.producer, token.name)


def given_token(request: HttpRequest) -> str | None:
    """The token of the ``Authorization`` header, else of the query; null when there is none.

    The query is for pages in OBS, which can set no header. What is neither, such as another
    scheme, is a token that nobody has.
    """
    if (header := request.headers.get("authorization")) is not None:
        scheme, _, token = header.partition(" ")
        return token.strip() if scheme.lower() == "bearer" else ""
    found = [value for name, value in request.query if name == "token"]
    return None if not found else found[0] if len(found) == 1 else ""


class AdmittedClient(Value):
    """A websocket client as it was judged: once, before the 101 response."""

    wanted: StreamFilter
    """What its query asks for."""
    resume: tuple[str, int] | None
    """Epoch and number of the last message it holds; null when it needs a snapshot."""
    guest: Guest | None = None
    """Who it is; null until its first message gives a token."""
    here: bool = False
    """Whether it is on this machine."""
    sender: str = ""
    """Who its filters are counted for."""


_RESOURCE_POLICY = "Cross-Origin-Resource-Policy"
PREFLIGHT = (
    ("Access-Control-Allow-Methods", "GET, HEAD"),
    ("Access-Control-Allow-Headers", "Authorization, If-None-Match"),
    ("Access-Control-Max-Age", "600"),
)


def open_to(response: HttpResponse, origin: str) -> HttpResponse:
    """Lets a page of an allowed origin read the response (fetch.spec.whatwg.org, CORS)."""
    kept = (each for each in response.headers if each[0] != _RESOURCE_POLICY)
    open = (
        ("Access-Control-Allow-Origin", origin),
        ("Access-Control-Expose-Headers", "ETag"),
        ("Vary", "Origin"),
        (_RESOURCE_POLICY, "cross-origin"),
    )
    return replace(response, headers=(*kept, *open))


def resume_point(request: HttpRequest) -> tuple[str, int] | None:
    """``epoch`` and ``since`` of a query; null without both, as a number means nothing alone.

    Raises:
        FilterError: ``since`` is no number.
    """
    query = dict(request.query)
    epoch, since = query.get("epoch"), query.get("since")
    if since is not None and not (since.isascii() and since.isdigit() and len(since) <= 18):
        raise FilterError("since is not a message number")
    return None if epoch is None or since is None else (epoch, int(since))
