"""How many may come, and how fast. Pure: addresses and a clock in, yes or no out.

Connections from this machine are not counted by address: behind a reverse proxy everybody's are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import msgspec

from live.publish.access.client_limits import ClientLimits
from live.publish.access.origin_policy import is_loopback

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

    def __init__(self, limits: ClientLimits, clock: Callable[[], float]) -> None:
        self._limits = limits
        self._clock = clock
        self.connections = 0
        """How many are in."""
        self._by_address: Counter[str] = Counter()
        self._everybody = TokenBucket(limits.handshakes_per_s, limits.handshakes_burst, clock())
        self._rates: dict[str, TokenBucket] = {}

    def bound(self, connections: int, connections_per_address: int) -> None:
        """From now on so many may come; who is in stays."""
        self._limits = msgspec.structs.replace(
            self._limits,
            connections=connections,
            connections_per_address=connections_per_address,
        )

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

    def shake(self, address: str) -> bool:
        """Whether one more handshake may be answered now."""
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
