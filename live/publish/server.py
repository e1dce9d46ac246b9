"""The one port: websockets, pages and JSON. The shell that owns sockets and timers."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import secrets
import time
from collections.abc import Callable, Iterable
from types import TracebackType

from websockets.server import ServerProtocol

from live.config import ServerConfig
from live.events import Change
from live.publish import wire
from live.publish.access import exposure
from live.publish.access.authentication import Authentication, Guest
from live.publish.access.client_limits import ClientLimits
from live.publish.access.handshake import HandshakeJudge, resume_point
from live.publish.access.origin_policy import OriginPolicy
from live.publish.access.rate_limits import RateLimits
from live.publish.access.token_file import TokenFile
from live.publish.access.token_handshake import TokenHandshake
from live.publish.http.fair_turns import FairTurns
from live.publish.http.http_connection import HttpConnection
from live.publish.http.http_routes import HttpRequest, HttpResponse, HttpRoutes, problem
from live.publish.http.listener import PortListener
from live.publish.http.static_files import StaticSite
from live.publish.metrics import MetricCounts
from live.publish.published_state import PublishedState
from live.publish.stream.broadcaster import Broadcaster
from live.publish.stream.stream_filter import EVERYTHING
from live.publish.stream.stream_hub import TooManyFilters
from live.publish.stream.subscriber import Subscriber

_log = logging.getLogger(__name__)

_SWEEP_S = 1.0


class Publisher:
    """Serves the state and its changes. Use as ``async with Publisher(config, state) as p``.

    Loss policy: see :class:`live.publish.stream.subscriber.Subscriber`; a slow client is skipped
    and gets a fresh snapshot, and costs neither unbounded memory nor anybody else's time.
    """

    def __init__(
        self,
        config: ServerConfig,
        state: PublishedState,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
        limits: ClientLimits | None = None,
        site: StaticSite | None = None,
    ) -> None:
        self._config = config
        self._clock = clock
        limits = limits or ClientLimits(
            connections=config.max_connections,
            connections_per_address=config.max_connections_per_address,
        )
        self._limits = limits
        self._admission = RateLimits(limits, clock)
        tally = MetricCounts()
        self._routes = HttpRoutes(state, site or StaticSite(), tally)
        self.audience = Broadcaster(
            state, epoch=secrets.token_hex(6), clock=clock, limits=limits, tally=tally
        )
        self._tokens = TokenFile(config.tokens_file) if config.tokens_file else None
        self._guard = Authentication(
            self._tokens.read() if self._tokens else None,
            public=config.public,
            hide_scores=config.hide_scores,
            now=now,
        )
        gate = OriginPolicy(config.host, config.hosts, config.origins)
        self._door = HandshakeJudge(gate, self._guard, self._admission, self.audience)
        turns = FairTurns()
        self._connections: set[HttpConnection | TokenHandshake | Subscriber] = set()
        self._listener = PortListener(
            config, lambda: HttpConnection(self, turns, clock, limits), limits.request_s
        )
        self._loop: asyncio.AbstractEventLoop
        self._tick: asyncio.TimerHandle | None = None
        self._sweep_timer: asyncio.TimerHandle | None = None
        self._heartbeat_timer: asyncio.TimerHandle | None = None
        self._empty = asyncio.Event()
        self._empty.set()
        self._stopping = False

    # --- life -------------------------------------------------------------------------------------

    async def __aenter__(self) -> Publisher:
        """Listen.

        Raises:
            PortInUse: somebody else listens there.
            ConfigError: the address cannot be listened on or lets in more people than was said,
                or a certificate cannot be used.
        """
        config = self._config
        self._loop = asyncio.get_running_loop()
        for warning in exposure.check(config):
            _log.warning("%s", warning)
        await self._listener.open()
        self._sweep_timer = self._loop.call_later(_SWEEP_S, self._sweep_again)
        self._heartbeat_timer = self._loop.call_later(
            self._limits.heartbeat_s, self._heartbeat_again
        )
        return self

    async def watch(self) -> None:
        """Listen again whenever the port was lost; see :meth:`PortListener.watch`."""
        await self._listener.watch()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Send what waits, say goodbye with "come back", and end within ``closing_s``."""
        self._stopping = True
        self._listener.close()
        self.audience.flush()
        for timer in (self._tick, self._sweep_timer, self._heartbeat_timer):
            if timer is not None:
                timer.cancel()
        for connection in list(self._connections):
            if isinstance(connection, Subscriber | TokenHandshake):
                connection.close(wire.CloseCode.GOING_AWAY, "the service stops")
            else:
                connection.shut()
        try:
            async with asyncio.timeout(self._limits.closing_s):
                await self._empty.wait()
        except TimeoutError:
            for connection in list(self._connections):
                connection.transport.abort()
            await self._empty.wait()
        await self._listener.wait_closed()

    @property
    def address(self) -> tuple[str, int]:
        """Host and port listened on; the port is the real one where 0 was asked for."""
        return self._listener.address

    @property
    def url(self) -> str:
        """Where a browser on this machine finds the page."""
        return self._listener.url

    def reconfigure(self, config: ServerConfig) -> None:
        """From now on other names, origins, bounds, and another sight for those without a token.

        Whoever sees other things now is sent away to come again.
        """
        self._config = config
        self._door.gate = OriginPolicy(config.host, config.hosts, config.origins)
        self._guard.admit(public=config.public, hide_scores=config.hide_scores)
        self._admission.bound(config.max_connections, config.max_connections_per_address)
        for connection in list(self._connections):
            if isinstance(connection, Subscriber) and not self._guard.still(connection.guest):
                connection.close(wire.CloseCode.GOING_AWAY, "the settings have changed")

    # --- changes out ------------------------------------------------------------------------------

    def publish(self, changes: Iterable[Change]) -> None:
        """Tell subscribers about changes which the state already holds. Cheap and synchronous.

        Moves are written at once, the rest within ``tick_s``.
        """
        self.audience.publish(changes)
        if self._tick is None and not self._stopping:
            self._tick = self._loop.call_later(self._limits.tick_s, self._tick_over)

    def _tick_over(self) -> None:
        self._tick = None
        self.audience.flush()

    # --- connections ------------------------------------------------------------------------------

    def entered(self, connection: HttpConnection) -> bool:
        """Count a connection; whether there is room for it."""
        self._connections.add(connection)
        self._empty.clear()
        return self._admission.enter(connection.address) and not self._stopping

    def gone(self, connection: asyncio.Protocol) -> None:
        """Forget a connection."""
        assert isinstance(connection, HttpConnection | TokenHandshake | Subscriber)
        self._connections.discard(connection)
        self._admission.leave(connection.address)
        if not self._connections:
            self._empty.set()

    def answer(self, request: HttpRequest) -> HttpResponse:
        """Answer anything but a handshake."""
        return self._door.answer(request, self._serve)

    def _serve(self, request: HttpRequest, guest: Guest | None) -> HttpResponse:
        return self._routes.answer(request, guest.limit(EVERYTHING) if guest else None)

    def refusal(self, connection: HttpConnection, request: HttpRequest) -> HttpResponse | None:
        """Why a handshake is refused, if it is."""
        if self._stopping:
            return problem(503, "the service stops; come back later", [("Retry-After", "5")])
        return self._door.refusal(request, connection.address)

    def subscribe(
        self, connection: HttpConnection, request: HttpRequest, accepted: bytes, early: bytes
    ) -> None:
        """Turn a connection into a subscriber, or into a newcomer that must say who it is."""
        transport = connection.transport
        transport.write(accepted)
        if self._guard.asks_first(request):
            newcomer = TokenHandshake(
                self, request, transport, connection.address, self._clock, self._limits
            )
            self._hand_on(connection, newcomer)
            if early:
                newcomer.data_received(early)
            return
        guest = self._guard.who(request)
        assert guest is not None, "refused before"
        subscriber = self._seat(connection, request, guest)
        if early:
            subscriber.data_received(early)

    def introduce(self, newcomer: TokenHandshake, message: bytes) -> bool:
        """A newcomer says who it is: seat it if that is somebody."""
        guest = self._guard.introduced(message)
        if guest is None:
            self.audience.closed("forbidden")
            return False
        try:
            self._door.stream(newcomer.request, guest)
        except TooManyFilters:
            newcomer.close(1013, "too many different filters are in use")  # try again later
            return True
        self._seat(newcomer, newcomer.request, guest, newcomer.protocol).data_received(b"")
        return True

    def _seat(
        self,
        before: HttpConnection | TokenHandshake,
        request: HttpRequest,
        guest: Guest,
        protocol: ServerProtocol | None = None,
    ) -> Subscriber:
        """Greet a subscriber, then give it what it lacks."""
        subscriber = Subscriber(
            self.audience,
            self._door.stream(request, guest),
            before.transport,
            self._clock,
            self._limits,
            when_gone=self.gone,
            guest=guest,
            protocol=protocol,
        )
        self._hand_on(before, subscriber)
        self.audience.join(subscriber, resume_point(request))
        return subscriber

    def _hand_on(
        self, before: HttpConnection | TokenHandshake, after: TokenHandshake | Subscriber
    ) -> None:
        self._connections.discard(before)
        self._connections.add(after)
        before.transport.set_protocol(after)

    # --- the clock --------------------------------------------------------------------------------

    def sweep(self) -> None:
        """Keep all deadlines. Runs about once a second by itself."""
        now_s = self._clock()
        if self._tokens is not None and (changed := self._tokens.changed()) is not None:
            self._guard.replace(changed)
        for connection in list(self._connections):
            connection.sweep(now_s)
            if isinstance(connection, Subscriber) and not self._guard.still(connection.guest):
                connection.close(wire.CloseCode.FORBIDDEN, "the token is no longer valid")
        self.audience.drop_unused()

    def _sweep_again(self) -> None:
        self._sweep_timer = self._loop.call_later(_SWEEP_S, self._sweep_again)
        self.sweep()

    def _heartbeat_again(self) -> None:
        self._heartbeat_timer = self._loop.call_later(
            self._limits.heartbeat_s, self._heartbeat_again
        )
        self.audience.heartbeat()
