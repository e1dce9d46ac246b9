"""The one port: websockets, pages and JSON. The shell that owns sockets and timers."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Iterable
from types import TracebackType

from live.config import ServerConfig
from live.events import Change
from live.publish import wire
from live.publish.admission import Admission
from live.publish.audience import Audience
from live.publish.gate import Gate
from live.publish.http import Request, Response, Routes, problem
from live.publish.http_connection import HttpConnection
from live.publish.hub import TooManyFilters
from live.publish.limits import Limits
from live.publish.listener import listen
from live.publish.metrics import Tally
from live.publish.pages import Site
from live.publish.select import FilterError, parse
from live.publish.state import State
from live.publish.subscriber import Subscriber

_log = logging.getLogger(__name__)

_SWEEP_S = 1.0
_BACKLOG = 1024


class Publisher:
    """Serves the state and its changes. Use as ``async with Publisher(config, state) as p``.

    Loss policy: see :class:`live.publish.subscriber.Subscriber`; a slow client is skipped and gets
    a fresh snapshot, and costs neither unbounded memory nor anybody else's time.
    """

    def __init__(
        self,
        config: ServerConfig,
        state: State,
        *,
        clock: Callable[[], float] = time.monotonic,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        site: Site | None = None,
    ) -> None:
        self._config = config
        self._clock = clock
        self._limits = limits
        self._admission = Admission(limits, clock)
        self._gate = Gate(config.host)
        tally = Tally()
        self._routes = Routes(state, site or Site(), tally)
        self.audience = Audience(
            state, epoch=secrets.token_hex(6), clock=clock, limits=limits, tally=tally
        )
        self._connections: set[HttpConnection | Subscriber] = set()
        self._server: asyncio.Server | None = None
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
            ConfigError: the address cannot be listened on.
        """
        self._loop = asyncio.get_running_loop()
        sock = listen(self._config.host, self._config.port)
        self._server = await self._loop.create_server(
            lambda: HttpConnection(self, self._clock, self._limits), sock=sock, backlog=_BACKLOG
        )
        self._sweep_timer = self._loop.call_later(_SWEEP_S, self._sweep_again)
        self._heartbeat_timer = self._loop.call_later(
            self._limits.heartbeat_s, self._heartbeat_again
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Send what waits, say goodbye with "come back", and end within ``closing_s``."""
        self._stopping = True
        assert self._server is not None
        self._server.close()
        self.audience.flush()
        for timer in (self._tick, self._sweep_timer, self._heartbeat_timer):
            if timer is not None:
                timer.cancel()
        for connection in list(self._connections):
            if isinstance(connection, Subscriber):
                connection.close(wire.Close.GOING_AWAY, "the service stops")
            else:
                connection.shut()
        try:
            async with asyncio.timeout(self._limits.closing_s):
                await self._empty.wait()
        except TimeoutError:
            for connection in list(self._connections):
                connection.transport.abort()
            await self._empty.wait()
        await self._server.wait_closed()

    @property
    def address(self) -> tuple[str, int]:
        """Host and port listened on; the port is the real one where 0 was asked for."""
        assert self._server is not None, "not entered yet"
        host, port = self._server.sockets[0].getsockname()[:2]
        return str(host), int(port)

    @property
    def url(self) -> str:
        """Where a browser on this machine finds the page."""
        host, port = self.address
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"

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
        assert isinstance(connection, HttpConnection | Subscriber)
        self._connections.discard(connection)
        self._admission.leave(connection.address)
        if not self._connections:
            self._empty.set()

    def answer(self, request: Request) -> Response:
        """Answer anything but a handshake."""
        return self._foreign(request) or self._routes.answer(request)

    def refusal(self, connection: HttpConnection, request: Request) -> Response | None:
        """Why a handshake is refused, if it is."""
        if (foreign := self._foreign(request)) is not None:
            return foreign
        headers = request.headers
        if not self._gate.lets_in(headers.get("origin"), headers.get("host", "")):
            return problem(403, f"pages of {headers['origin']} may not connect")
        later = [("Retry-After", "5")]
        if self._stopping:
            return problem(503, "the service stops; come back later", later)
        if not self._admission.shake(connection.address):
            return problem(429, "too many new subscribers at once; come back later", later)
        try:
            _resume_point(request)
            self.audience.stream(parse(request.query))
        except FilterError as error:
            return problem(400, str(error))
        except TooManyFilters:
            return problem(503, "too many different filters are in use; come back later", later)
        return None

    def subscribe(
        self, connection: HttpConnection, request: Request, accepted: bytes, early: bytes
    ) -> None:
        """Turn a connection into a subscriber: greet it, then give what it lacks."""
        stream = self.audience.stream(parse(request.query))
        transport = connection.transport
        subscriber = Subscriber(
            self.audience, stream, transport, self._clock, self._limits, when_gone=self.gone
        )
        self._connections.discard(connection)
        self._connections.add(subscriber)
        transport.set_protocol(subscriber)
        transport.write(accepted)
        self.audience.join(subscriber, _resume_point(request))
        if early:
            subscriber.data_received(early)

    def _foreign(self, request: Request) -> Response | None:
        authority = request.headers.get("host", "")
        if self._gate.answers_to(authority):
            return None
        return problem(421, f"this service does not answer to the name {authority!r}")

    # --- the clock --------------------------------------------------------------------------------

    def sweep(self) -> None:
        """Keep all deadlines. Runs about once a second by itself."""
        now_s = self._clock()
        for connection in list(self._connections):
            connection.sweep(now_s)
        self.audience.drop_unused()

    def _sweep_again(self) -> None:
        self._sweep_timer = self._loop.call_later(_SWEEP_S, self._sweep_again)
        self.sweep()

    def _heartbeat_again(self) -> None:
        self._heartbeat_timer = self._loop.call_later(
            self._limits.heartbeat_s, self._heartbeat_again
        )
        self.audience.heartbeat()


def _resume_point(request: Request) -> tuple[str, int] | None:
    """``epoch`` and ``since`` of a query; null without both, as a number means nothing alone.

    Raises:
        FilterError: ``since`` is no number.
    """
    query = dict(request.query)
    epoch, since = query.get("epoch"), query.get("since")
    if since is not None and not (since.isascii() and since.isdigit() and len(since) <= 18):
        raise FilterError("since is not a message number")
    return None if epoch is None or since is None else (epoch, int(since))
