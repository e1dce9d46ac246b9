"""Limits on connections and rates, so that no client can slow down others. Pure.

Connections from this machine are not counted by address, since behind a reverse proxy
all connections have this address. Behind a proxy, handshakes, websockets and filters
are counted by the address that the proxy reports (``X-Forwarded-For``).
"""

from collections import Counter

from msgspec.structs import replace

from live.messages.values import Value
from live.process.clock import ReadClock
from live.server.origins import is_loopback


class ClientLimits(Value, kw_only=True):
    """All limits of the server, with their defaults."""

    tick_s: float = 0.05
    """Time for which scores, points and standings are collected and then sent together,
    seconds.
    """
    heartbeat_s: float = 15.0
    """Time between two heartbeats, seconds. Browser pages need them, since they cannot
    see websocket pings.
    """
    silent_after_s: float = 45.0
    """Time without an answer to a ping after which a subscriber is closed, seconds."""
    write_bytes: int = 262_144
    """Maximum number of unsent bytes for one client. A client with more is skipped
    until it has read them.
    """
    piece_bytes: int = 65_536
    """Size of the pieces in which a large snapshot is written, bytes."""
    slow_after_s: float = 10.0
    """Time after which a skipped client that has not read its data is closed, seconds.
    """
    encrypting: int = 256
    """Maximum number of unfinished TLS handshakes; beyond it, the oldest is dropped."""
    encrypting_s: float = 5.0
    """Time limit for a TLS handshake, seconds."""
    request_s: float = 10.0
    """Time limit for a complete request (or websocket handshake) to arrive, seconds."""
    idle_s: float = 60.0
    """Time limit for the next request on an open connection, seconds."""
    closing_s: float = 3.0
    """Time limit for a client to answer a close frame or read the last response,
    seconds.
    """
    request_bytes: int = 16_384
    """Maximum size of the request line and the headers together, bytes."""
    message_bytes: int = 4_096
    """Maximum size of a message from a subscriber, bytes."""
    messages: int = 60
    """Number of frames that a subscriber can send at once. The same number can be sent
    again after ``messages_s`` seconds.
    """
    messages_s: float = 30.0
    connections: int = 10_000
    """Maximum number of connections."""
    connections_per_address: int = 256
    """Maximum number of connections from one address other than this machine's. It is
    also the maximum number of websockets of one visitor behind a proxy on this machine.
    """
    handshakes_per_s: float = 200.0
    """Handshakes per second on average from all addresses together. They are limited
    because each new subscriber needs a snapshot.
    """
    handshakes_burst: float = 2_000.0
    """Maximum number of handshakes at once from all addresses together."""
    handshakes_per_address_per_s: float = 5.0
    """Handshakes per second on average from one address."""
    handshakes_per_address_burst: float = 50.0
    """Maximum number of handshakes at once from one address."""
    filters: int = 512
    """Maximum number of different filters that select some but not all games."""
    filters_per_address: int = 128
    """Maximum number of different filters for one address other than this machine's."""
    history_messages: int = 2_000
    """Maximum number of old messages kept per stream, so that clients can resume. A
    client that cannot resume gets a snapshot.
    """
    history_bytes: int = 4_000_000
    """Maximum total size of the old messages kept per stream, bytes."""
    history_age_s: float = 120.0
    """Maximum age of the old messages kept per stream, seconds."""


#: Maximum number of addresses whose handshake rate is stored. When it is exceeded, the
#: address without handshakes for the longest time is deleted.
_ADDRESSES = 4096


class TokenBucket:
    """A token bucket: ``rate`` tokens per second, and at most ``burst`` at once."""

    def __init__(self, rate: float, burst: float, now_s: float) -> None:
        self._rate = rate
        self._burst = burst
        self._tokens = burst
        self._at_s = now_s

    def take(self, now_s: float) -> bool:
        """Take a token if one is left; return whether a token was taken."""
        self._tokens = min(
            self._burst, self._tokens + (now_s - self._at_s) * self._rate
        )
        self._at_s = now_s
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


class RateLimits:
    """Counts connections and websockets, and limits the rate of handshakes."""

    def __init__(self, limits: ClientLimits, clock: ReadClock) -> None:
        self._limits = limits
        self._clock = clock
        self.connections = 0
        """The present number of connections."""
        self._by_address: Counter[str] = Counter()
        self._by_visitor: Counter[str] = Counter()
        self._everybody = TokenBucket(
            limits.handshakes_per_s, limits.handshakes_burst, clock()
        )
        self._rates: dict[str, TokenBucket] = {}

    def set_max_connections(self, connections: int) -> None:
        """Change the maximum number of connections; existing connections stay open."""
        self._limits = replace(self._limits, connections=connections)

    def add_connection(self, address: str) -> bool:
        """Count a new connection; return whether it is within the limits.

        Call :meth:`remove_connection` when the connection ends, even if it was refused.
        """
        self.connections += 1
        self._by_address[address] += 1
        return self.connections <= self._limits.connections and (
            is_loopback(address)
            or self._by_address[address] <= self._limits.connections_per_address
        )

    def remove_connection(self, address: str) -> None:
        """Subtract an ended connection from the counts."""
        self.connections -= 1
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]

    def has_room_for(self, visitor: str) -> bool:
        """Return whether a client is allowed to open one more websocket.

        ``visitor`` is its address, also behind a proxy on this machine.
        """
        return (
            is_loopback(visitor)
            or self._by_visitor[visitor] < self._limits.connections_per_address
        )

    def add_websocket(self, visitor: str) -> None:
        """Count a new websocket of a visitor."""
        self._by_visitor[visitor] += 1

    def remove_websocket(self, visitor: str) -> None:
        """Subtract an ended websocket from the count of a visitor."""
        self._by_visitor[visitor] -= 1
        if not self._by_visitor[visitor]:
            del self._by_visitor[visitor]

    def admit_handshake(self, address: str) -> bool:
        """Return whether a handshake from this address is within the rate limits."""
        now_s = self._clock()
        limits = self._limits
        if not is_loopback(address):
            bucket = self._rates.pop(address, None) or TokenBucket(
                limits.handshakes_per_address_per_s,
                limits.handshakes_per_address_burst,
                now_s,
            )
            self._rates[address] = bucket
            if len(self._rates) > _ADDRESSES:
                del self._rates[next(iter(self._rates))]
            if not bucket.take(now_s):
                return False
        return self._everybody.take(now_s)
