"""The server for websockets, pages and JSON on one port, with sockets and timers."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Sequence
from functools import partial

from websockets.extensions import Extension
from websockets.protocol import State
from websockets.server import ServerProtocol

from live.messages.alerts import Incident
from live.messages.from_clients import DeskCommand, decode_client_message
from live.messages.health import HealthReport
from live.messages.to_clients import Change
from live.messages.values import GameId
from live.process.clock import ReadClock
from live.server.admission import AdmittedClient, read_resume_point
from live.server.audience import Audience
from live.server.authentication import Authentication, Guest
from live.server.boards_on_air import BoardsOnAir
from live.server.connection import HttpConnection, TlsHandshakes
from live.server.event_reader import EventReader
from live.server.fair_turns import FairTurns
from live.server.http_values import LATER, UNKNOWN, HttpRequest, HttpResponse, problem
from live.server.limits import ClientLimits, RateLimits
from live.server.listening import bind_socket, check_exposure, load_certificate
from live.server.metrics import MetricCounts
from live.server.origins import (
    PREFLIGHT,
    OriginPolicy,
    allow_origin,
    is_loopback,
    is_this_machine,
    read_client_address,
)
from live.server.public_view import PublicView
from live.server.routes import HttpRoutes
from live.server.static_files import StaticSite
from live.server.stream_filter import FilterError, StreamFilter, parse_filter
from live.server.streams import TooManyFilters
from live.server.subscriber import Subscriber
from live.server.tokens import TokenFile
from live.server.visibility import Visibility
from live.server.wire import FRAMES_LOG, CloseCode
from live.settings import ServerConfig
from live.user_files import on_own_thread

_log = logging.getLogger(__name__)
#: Time between two checks of deadlines and of the port, seconds.
_SWEEP_S = 1.0
#: Maximum number of connections that wait to be accepted.
_BACKLOG = 1024
#: Maximum number of connections accepted in one turn of the event loop, so that many
#: new connections do not delay moves.
_ACCEPTED = 4
#: The reason in the close frame after a change of the settings.
_CHANGED = "the settings have changed"


class Publisher:
    """Serves the state and its changes while it is open as an async context manager.

    Loss policy: see :class:`live.server.subscriber.Subscriber`. A slow client is
    skipped and gets the missing data later. It never needs unlimited memory, and does
    not slow down other clients.
    """

    def __init__(
        self,
        config: ServerConfig,
        state: EventReader,
        *,
        clock: ReadClock = time.monotonic,
        limits: ClientLimits | None = None,
        site: StaticSite | None = None,
        public: PublicView | None = None,
        incidents: Callable[[], Sequence[Incident]] = tuple,
        desk: Callable[[DeskCommand, str], None] = lambda command, by: None,
        on_air: Callable[[frozenset[GameId]], None] = lambda games: None,
        study: StaticSite | None = None,
        report: HealthReport = lambda health: None,
    ) -> None:
        """Create a server; it listens when it is opened.

        Args:
            config: settings of the server.
            state: the live state, for arbiters.
            clock: returns a monotonic time, seconds.
            limits: limits for clients; by default those of :class:`ClientLimits`.
            site: the static files of the pages.
            public: the state for all other clients; by default derived from ``state``.
            incidents: returns the incident log.
            desk: called with each command of an arbiter and the name of his token.
            on_air: called with the ids of the games on air whenever they change.
            study: the folder with tables and figures of studies.
            report: called when a problem with the file of tokens begins or ends.
        """
        self._config = config
        self._clock = clock
        self._air = BoardsOnAir(
            lambda games: on_air(self.public.names.find_real_ids(games))
        )
        self._desk = desk
        self._limits = limits = limits or ClientLimits(
            connections=config.max_connections
        )
        self._rates = RateLimits(limits, clock)
        self.tally = MetricCounts()
        self.public = public or PublicView(
            state, hide_scores=config.hide_scores, clock=clock
        )
        self._routes = HttpRoutes(
            state,
            self.public,
            site or StaticSite(),
            self.tally,
            incidents,
            config=config,
            study=study,
            clock=clock,
        )
        epoch = secrets.token_hex(6)
        create_audience = partial(
            Audience,
            clock=clock,
            limits=limits,
            tally=self.tally,
            describe_delay=self.public.describe_delay,
        )
        self.public_audience = create_audience(self.public, epoch=epoch)
        self.arbiters = create_audience(state, epoch=f"{epoch}a")
        self.public.listen(
            self.public_audience.publish,
            partial(self.public_audience.restart, "the delay has changed"),
        )
        self._tokens = (
            TokenFile(config.tokens_file, report) if config.tokens_file else None
        )
        tokens = self._tokens.read(self._tokens.load()) if self._tokens else None
        self._authentication = Authentication(tokens, config)
        self._origins = OriginPolicy(config)
        self._turns = FairTurns()
        self._connections: set[HttpConnection | Subscriber] = set()
        self._server: asyncio.Server
        # If the setting is 0 (any free port), the assigned port is kept for listening
        # again.
        self._port = config.port
        self._loop: asyncio.AbstractEventLoop
        self._timer: asyncio.TimerHandle
        self._looking: asyncio.Task[None] | None = None
        self._beat_s = clock()
        self._empty = asyncio.Event()
        self._empty.set()
        self._stopping = False

    # --- start and end ----------------------------------------------------------------

    async def __aenter__(self) -> Publisher:
        """Start to listen.

        Raises:
            PortInUse: another program listens on this port.
            ConfigError: the address cannot be used, other machines can reach it without
                permission by a setting, or a certificate cannot be used.
        """
        self._loop = asyncio.get_running_loop()
        for warning in check_exposure(self._config):
            _log.warning("%s", warning)
        await self._listen()
        self._timer = self._loop.call_later(_SWEEP_S, self._enforce_each_second)
        return self

    async def _listen(self) -> None:
        config = self._config
        tls = load_certificate(config.certificate_file, config.key_file)
        handshakes = None if tls is None else TlsHandshakes(tls)
        sock = bind_socket(config.host, self._port)
        self._server = await self._loop.create_server(
            lambda: HttpConnection(
                self, self._turns, self._clock, self._limits, handshakes
            ),
            sock=sock,
            backlog=_ACCEPTED,
        )
        sock.listen(_BACKLOG)
        self._port = self.address[1]

    async def watch(self) -> None:
        """Listen again whenever the port was lost, until cancelled.

        Raises:
            PortInUse: another program uses the port now.
            ConfigError: the address can no longer be used.
        """
        while True:
            await asyncio.sleep(_SWEEP_S)
            if not self._server.is_serving():
                await self._listen()
                _log.warning(
                    "port %d was lost; the service listens on it again", self._port
                )

    async def __aexit__(self, *raised: object) -> None:
        """Send all waiting changes, close all connections, and stop listening.

        Clients are told to reconnect. All this takes at most ``closing_s`` seconds.
        """
        self._stopping = True
        self._server.close()
        self._timer.cancel()
        for audience in self.audiences:
            audience.end()
        if self._looking is not None:
            self._looking.cancel()
        for connection in list(self._connections):
            if isinstance(connection, Subscriber):
                connection.close(CloseCode.GOING_AWAY, "the service stops")
            else:
                connection.close_when_flushed()
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
        """The host and port on which the server listens; never port 0."""
        host, port = self._server.sockets[0].getsockname()[:2]
        return str(host), int(port)

    @property
    def url(self) -> str:
        """The address of the pages for a browser on this machine."""
        host, port = self.address
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        host = f"[{host}]" if ":" in host else host
        return f"http{'s' if self._config.certificate_file else ''}://{host}:{port}/"

    def reconfigure(self, config: ServerConfig) -> None:
        """Apply changed settings: host names, origins, limits and public rights.

        Clients whose rights change are closed and told to reconnect.
        """
        self._origins = OriginPolicy(config)
        self._routes.frames = config.frames
        self._authentication.reconfigure(config)
        if config.hide_scores != self._config.hide_scores:
            self.public.hide_scores(config.hide_scores)
            # A client that resumed an old stream would miss the data that was withheld
            # from it before.
            self.public_audience.restart(_CHANGED)
        self._rates.set_max_connections(config.max_connections)
        self._config = config
        self._close_unauthorised(CloseCode.GOING_AWAY, _CHANGED)

    # --- sending changes --------------------------------------------------------------

    def publish(self, changes: Sequence[Change]) -> None:
        """Send subscribers changes that are already part of the state.

        This is fast and synchronous. The public gets its part of the data after its
        delay.
        """
        self.arbiters.publish(changes)
        self.public.publish(changes)

    @property
    def audiences(self) -> tuple[Audience, Audience]:
        """The public and the arbiters."""
        return self.public_audience, self.arbiters

    def _choose_audience(self, selected: StreamFilter) -> Audience:
        """Return the audience to which a filter belongs."""
        if selected.visibility is Visibility.ARBITER:
            return self.arbiters
        return self.public_audience

    # --- connections ------------------------------------------------------------------

    def add_connection(self, connection: HttpConnection) -> bool:
        """Count a new connection; return whether it is within the limits."""
        self._connections.add(connection)
        self._empty.clear()
        return self._rates.add_connection(connection.address) and not self._stopping

    def remove_connection(self, connection: HttpConnection | Subscriber) -> None:
        """Forget a connection."""
        self._connections.discard(connection)
        self._air.remove(connection)
        self._rates.remove_connection(connection.address)
        if isinstance(connection, Subscriber):
            self._rates.remove_websocket(connection.sender)
        if not self._connections:
            self._empty.set()

    async def answer(self, request: HttpRequest) -> HttpResponse:
        """Return the response to a request other than a handshake."""
        if (foreign := self._refuse_host(request)) is not None:
            return foreign
        origin = request.headers.get("origin", "")
        listed = self._origins.is_listed(origin)
        if listed and request.method == "OPTIONS":
            return allow_origin(HttpResponse(204, PREFLIGHT), origin)
        response = await self._routes.answer(
            request, self._authentication.authenticate(request)
        )
        return allow_origin(response, origin) if listed else response

    def admit(
        self, connection: HttpConnection, request: HttpRequest
    ) -> AdmittedClient | HttpResponse:
        """Return the admitted client of a handshake, or the response refusing it.

        The checks go from the cheapest to the most expensive, before anything is
        created: host name, origin, rate, token, filter.
        """
        if (foreign := self._refuse_host(request)) is not None:
            return foreign
        headers = request.headers
        address = connection.address
        visitor = read_client_address(headers, address)
        if not self._origins.allows_origin(
            headers.get("origin"), headers.get("host", "")
        ):
            return problem(
                403,
                f"pages of {headers['origin']} may not connect: "
                "server.origins does not list it",
            )
        if not self._rates.admit_handshake(visitor):
            return problem(
                429, "too many new subscribers at once; come back later", LATER
            )
        if not self._rates.has_room_for(visitor):
            return problem(503, "too many connections; come back later", LATER)
        guest: Guest | None = None
        if not self._authentication.should_ask_for_token(request):
            guest = self._authentication.authenticate(request)
            if guest is None:
                return UNKNOWN
        try:
            is_local = is_this_machine(headers, address)
            selected = parse_filter(request.query)
            resume = read_resume_point(request)
            client = AdmittedClient(selected, resume, guest, is_local, visitor)
            if guest is not None:
                self._check_filter(
                    self.public.names.add_public_ids(guest.restrict(client.selected)),
                    client.sender,
                )
        except FilterError as error:
            return problem(400, str(error))
        except TooManyFilters:
            return problem(
                503, "too many different filters are in use; come back later", LATER
            )
        return client

    def _check_filter(self, selected: StreamFilter, address: str) -> None:
        """Check whether a filter can be served to an address now.

        Raises:
            TooManyFilters: too many filters are in use, by this address or in total.
        """
        if selected.is_narrow and not is_loopback(address):
            # Without this limit, one or two addresses could use up all filters.
            read = {
                connection.stream.filter
                for connection in self._connections
                if isinstance(connection, Subscriber)
                and connection.guest
                and connection.sender == address
            }
            if selected not in read and len(read) >= self._limits.filters_per_address:
                raise TooManyFilters
        self._choose_audience(selected).open_stream(selected)

    def _refuse_host(self, request: HttpRequest) -> HttpResponse | None:
        authority = request.headers.get("host", "")
        if self._origins.accepts_host(authority):
            return None
        return problem(421, f"this service does not answer to the name {authority!r}")

    def subscribe(
        self,
        connection: HttpConnection,
        client: AdmittedClient,
        accepted: bytes,
        early: bytes,
        extensions: list[Extension],
    ) -> None:
        """Turn a connection into a subscriber; it can still have to send its token.

        See :meth:`live.server.connection.ConnectionHost.subscribe`.
        """
        connection.transport.write(accepted)
        protocol = ServerProtocol(
            state=State.OPEN, max_size=self._limits.message_bytes, logger=FRAMES_LOG
        )
        protocol.extensions = extensions
        subscriber = Subscriber(
            connection.transport,
            self._clock,
            self._limits,
            self.remove_connection,
            protocol,
            turns=self._turns,
            tally=self.tally,
        )
        subscriber.sender = client.sender
        self._rates.add_websocket(client.sender)
        self._connections.discard(connection)
        self._connections.add(subscriber)
        connection.transport.set_protocol(subscriber)
        if client.guest is not None:
            self._start_stream(subscriber, client, client.guest)
        else:
            subscriber.on_text = lambda message: self._authenticate_first(
                subscriber, client, message
            )
        if early:
            subscriber.data_received(early)

    def _authenticate_first(
        self, subscriber: Subscriber, client: AdmittedClient, message: bytes
    ) -> None:
        """Start the stream of a subscriber if its first message has a valid token.

        Close the subscriber otherwise.
        """
        guest = self._authentication.authenticate_message(message)
        if guest is None:
            subscriber.close(CloseCode.FORBIDDEN, "a valid token is needed")
            return
        try:
            self._check_filter(
                self.public.names.add_public_ids(guest.restrict(client.selected)),
                client.sender,
            )
            self._start_stream(subscriber, client, guest)
        except TooManyFilters:
            subscriber.close(
                CloseCode.TRY_LATER, "too many different filters are in use"
            )

    def _start_stream(
        self, subscriber: Subscriber, client: AdmittedClient, guest: Guest
    ) -> None:
        """Send a subscriber its greeting, and a snapshot or the missing messages.

        Raises:
            TooManyFilters: too many filters are in use.
        """
        selected = self.public.names.add_public_ids(guest.restrict(client.selected))
        audience = self._choose_audience(selected)
        is_heeded = guest.is_producer or client.is_local

        def on_text(message: bytes) -> None:
            if is_heeded:
                self._air.update(subscriber, message)
            command = (
                decode_client_message(message, DeskCommand)
                if guest.can_command
                else None
            )
            if command is not None and self._authentication.is_still_valid(guest):
                self._desk(command, guest.name)

        subscriber.follow(audience, selected, guest, on_text)
        audience.subscribe(subscriber, client.resume)

    # --- regular checks ---------------------------------------------------------------

    def enforce_deadlines(self) -> None:
        """Close all connections that have passed a time limit.

        A timer calls this about once a second.
        """
        now_s = self._clock()
        for connection in list(self._connections):
            try:
                connection.enforce_deadlines(now_s)
            except Exception:
                # Any error in one connection must not prevent the checks of all others.
                _log.exception("a connection is dropped")
                connection.transport.abort()
        self._close_unauthorised(CloseCode.FORBIDDEN, "the token is no longer valid")
        for audience in self.audiences:
            audience.hub.evict_unused()

    async def reload_tokens(self) -> None:
        """Read the file of tokens and apply its changes.

        A timer calls this about once a second.
        """
        if self._tokens is None:
            return
        changed = self._tokens.update(await on_own_thread(self._tokens.load))
        if changed is not None:
            self._authentication.tokens = changed
            self._close_unauthorised(
                CloseCode.FORBIDDEN, "the token is no longer valid"
            )

    def _close_unauthorised(self, code: CloseCode, reason: str) -> None:
        """Close subscribers whose tokens or rights have changed."""
        for connection in list(self._connections):
            if not isinstance(connection, Subscriber) or connection.guest is None:
                continue
            if not self._authentication.is_still_valid(connection.guest):
                connection.close(code, reason)

    def _enforce_each_second(self) -> None:
        self._timer = self._loop.call_later(_SWEEP_S, self._enforce_each_second)
        self.enforce_deadlines()
        if self._looking is None or self._looking.done():
            self._looking = self._loop.create_task(
                self.reload_tokens(), name="tokens file"
            )
        if self._clock() - self._beat_s >= self._limits.heartbeat_s:
            self._beat_s = self._clock()
            for audience in self.audiences:
                audience.send_heartbeat()
