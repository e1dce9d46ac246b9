"""Limits so that no client costs another anything: how many connections, how fast.
Pure.

Connections from this machine are not counted by address: behind a reverse proxy all
have that address. Behind a proxy, handshakes, websockets and filters are counted by the
address that the proxy names (``X-Forwarded-For``).
"""

from collections import Counter

from msgspec.structs import replace

from live.messages.values import Value
from live.process.clock import ReadClock
from live.server.origins import is_loopback


class ClientLimits(Value, kw_only=True):
    """Every bound of the server, with its default."""

    tick_s: float = 0.05
    """How long scores, points and standings are gathered before they go out
    together.
    """
    heartbeat_s: float = 15.0
    """Between two heartbeats; a browser page can't see websocket pings."""
    silent_after_s: float = 45.0
    """A subscriber that answers no ping for so long is closed."""
    write_bytes: int = 262_144
    """Unsent bytes held for one client; beyond them it is skipped until it drains."""
    piece_bytes: int = 65_536
    """A large snapshot is handed to the transport in pieces of this size."""
    slow_after_s: float = 10.0
    """A skipped client that has not drained by then is closed."""
    encrypting: int = 256
    """Unfinished TLS handshakes; above this number the oldest is dropped for a new one.
    """
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
    """Connections from one address; this machine's own is not counted. Also the number
    of websockets of one visitor behind a proxy on this machine.
    """
    handshakes_per_s: float = 200.0
    """Each new subscriber costs a snapshot: from all addresses together."""
    handshakes_burst: float = 2_000.0
    handshakes_per_address_per_s: float = 5.0
    handshakes_per_address_burst: float = 50.0
    filters: int = 512
    """Distinct filters that select some games, but not all."""
    filters_per_address: int = 128
    """For one address; this machine's own is not counted."""
    history_messages: int = 2_000
    """How much of the past can be resumed. A cache: the snapshot is always
    obtainable.
    """
    history_bytes: int = 4_000_000
    history_age_s: float = 120.0


#: Addresses whose rate is remembered; above this number the one unseen for longest is
#: forgotten.
_ADDRESSES = 4096


class TokenBucket:
    """A token bucket: ``rate`` per second on average, ``burst`` at once."""

    def __init__(self, rate: float, burst: float, now_s: float) -> None:
        self._rate = rate
        self._burst = burst
        self._tokens = burst
        self._at_s = now_s

    def take(self, now_s: float) -> bool:
        """Take a token; return whether there was one."""
        self._tokens = min(
            self._burst, self._tokens + (now_s - self._at_s) * self._rate
        )
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
        self._everybody = TokenBucket(
            limits.handshakes_per_s, limits.handshakes_burst, clock()
        )
        self._rates: dict[str, TokenBucket] = {}

    def set_max_connections(self, connections: int) -> None:
        """Change the limit; connections beyond it stay."""
        self._limits = replace(self._limits, connections=connections)

    def add_connection(self, address: str) -> bool:
        """Count one connection; return whether there was room for it.

        Call :meth:`remove_connection` later in either case.
        """
        self.connections += 1
        self._by_address[address] += 1
        return self.connections <= self._limits.connections and (
            is_loopback(address)
            or self._by_address[address] <= self._limits.connections_per_address
        )

    def remove_connection(self, address: str) -> None:
        """Count one connection fewer."""
        self.connections -= 1
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]

    def has_room_for(self, visitor: str) -> bool:
        """Return whether a visitor behind a proxy on this machine may open one more
        websocket.
        """
        return (
            is_loopback(visitor)
            or self._by_visitor[visitor] < self._limits.connections_per_address
        )

    def add_websocket(self, visitor: str) -> None:
        """Count one websocket of a visitor."""
        self._by_visitor[visitor] += 1

    def remove_websocket(self, visitor: str) -> None:
        """Count one websocket of a visitor fewer."""
        self._by_visitor[visitor] -= 1
        if not self._by_visitor[visitor]:
            del self._by_visitor[visitor]

    def admit_handshake(self, address: str) -> bool:
        """Return whether one more handshake of this visitor may be answered now."""
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
