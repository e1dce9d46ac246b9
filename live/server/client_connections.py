"""All connections of the server: admission, requests, subscriptions and closing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from websockets.extensions import Extension
from websockets.protocol import State
from websockets.server import ServerProtocol

from live.messages.from_clients import DeskCommand, decode_client_message
from live.messages.values import GameId
from live.process.clock import ReadClock
from live.server.audience import Audiences
from live.server.authentication import Authentication, Guest
from live.server.boards_on_air import BoardsOnAir
from live.server.connection import AdmittedClient, HttpConnection
from live.server.fair_turns import FairTurns
from live.server.http_values import LATER, UNKNOWN, HttpRequest, HttpResponse, problem
from live.server.limits import ClientLimits, RateLimits
from live.server.metrics import MetricCounts
from live.server.origins import (
    PREFLIGHT,
    OriginPolicy,
    allow_origin,
    is_loopback,
    is_this_machine,
    read_client_address,
)
from live.server.routes import HttpRoutes
from live.server.stream_filter import FilterError, parse_filter
from live.server.streams import TooManyFilters
from live.server.subscriber import Subscriber
from live.server.tokens import Tokens
from live.server.wire import FRAMES_LOG, CloseCode
from live.settings import ServerConfig

_log = logging.getLogger(__name__)
#: Reasons in close frames.
SETTINGS_CHANGED = "the settings have changed"
_TOKEN_ENDED = "the token is no longer valid"


class ClientConnections:
    """All open connections of the server, limited in number and rate.

    This class implements :class:`live.server.connection.ConnectionHost`.
    """

    def __init__(
        self,
        config: ServerConfig,
        audiences: Audiences,
        routes: HttpRoutes,
        tokens: Tokens | None,
        tally: MetricCounts,
        *,
        clock: ReadClock,
        limits: ClientLimits,
        desk: Callable[[DeskCommand, str], None],
        on_air: Callable[[frozenset[GameId]], None],
    ) -> None:
        """Create the object, without connections.

        Args:
            config: settings of the server.
            audiences: the audiences that clients join.
            routes: answers requests.
            tokens: all valid tokens; None without a file of tokens.
            tally: counters for the metrics.
            clock: returns a monotonic time, seconds.
            limits: limits for clients.
            desk: called with each command of an arbiter and the name of the arbiter's
                token.
            on_air: called with the ids of the games on air whenever they change.
        """
        self.connections: set[HttpConnection | Subscriber] = set()
        """All open connections."""
        self.rates = RateLimits(limits, clock)
        self.turns = FairTurns()
        """The queue for reading from all connections."""
        names = audiences.view.names
        self._air = BoardsOnAir(lambda games: on_air(names.find_real_ids(games)))
        self._audiences = audiences
        self._authentication = Authentication(tokens, config)
        self._clock = clock
        self._desk = desk
        self._empty = asyncio.Event()
        self._empty.set()
        self._is_closing = False
        self._limits = limits
        self._origins = OriginPolicy(config)
        self._routes = routes
        self._tally = tally

    def reconfigure(self, config: ServerConfig, origins: OriginPolicy) -> None:
        """Apply changed settings: host names, origins, limits and public rights.

        ``origins`` are the host names and origins that the settings accept.
        Connections of clients whose rights change are closed; the clients reconnect.
        """
        self._origins = origins
        self._authentication.reconfigure(config)
        self.rates.set_max_connections(config.max_connections)
        self._close_unauthorised(CloseCode.GOING_AWAY, SETTINGS_CHANGED)

    def replace_tokens(self, tokens: Tokens) -> None:
        """Use other tokens; close clients whose tokens are no longer valid."""
        self._authentication.tokens = tokens
        self._close_unauthorised(CloseCode.FORBIDDEN, _TOKEN_ENDED)

    async def close(self) -> None:
        """Close all connections within ``closing_s`` seconds, and accept no others.

        The close code asks subscribers to reconnect later.
        """
        self._is_closing = True
        for connection in list(self.connections):
            if isinstance(connection, Subscriber):
                connection.close(CloseCode.GOING_AWAY, "the service stops")
            else:
                connection.close_when_flushed()
        try:
            async with asyncio.timeout(self._limits.closing_s):
                await self._empty.wait()
        except TimeoutError:
            for connection in list(self.connections):
                connection.transport.abort()
            await self._empty.wait()

    def enforce_deadlines(self) -> None:
        """Close all connections that have passed a time limit or lost their rights.

        Call this method about once a second.
        """
        now_s = self._clock()
        for connection in list(self.connections):
            try:
                connection.enforce_deadlines(now_s)
            except Exception:
                # Any error in one connection must not prevent the checks of all others.
                _log.exception("a connection is dropped after an error")
                connection.transport.abort()
        self._close_unauthorised(CloseCode.FORBIDDEN, _TOKEN_ENDED)

    def _close_unauthorised(self, code: CloseCode, reason: str) -> None:
        """Close subscribers whose tokens or rights have changed."""
        for connection in list(self.connections):
            if not isinstance(connection, Subscriber) or connection.guest is None:
                continue
            if not self._authentication.is_still_valid(connection.guest):
                connection.close(code, reason)

    # --- the host of each connection --------------------------------------------------

    def add_connection(self, connection: HttpConnection) -> bool:
        """Count a new connection; return whether it is within the limits."""
        self.connections.add(connection)
        self._empty.clear()
        return self.rates.add_connection(connection.address) and not self._is_closing

    def remove_connection(self, connection: HttpConnection | Subscriber) -> None:
        """Remove an ended connection from the set and from all counts."""
        self.connections.discard(connection)
        self._air.remove(connection)
        self.rates.remove_connection(connection.address)
        if isinstance(connection, Subscriber):
            self.rates.remove_websocket(connection.sender)
        if not self.connections:
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
        if not self.rates.admit_handshake(visitor):
            return problem(
                429, "too many new subscribers at once; come back later", LATER
            )
        if not self.rates.has_room_for(visitor):
            return problem(503, "too many connections; come back later", LATER)
        guest: Guest | None = None
        if not self._authentication.should_ask_for_token(request):
            guest = self._authentication.authenticate(request)
            if guest is None:
                return UNKNOWN
        try:
            is_local = is_this_machine(headers, address)
            selected = parse_filter(request.query)
            resume = _read_resume_point(request)
            client = AdmittedClient(selected, resume, guest, is_local, visitor)
            if guest is not None:
                self._open_stream_within_limits(client, guest)
        except FilterError as error:
            return problem(400, str(error))
        except TooManyFilters:
            return problem(
                503, "too many different filters are in use; come back later", LATER
            )
        return client

    def _open_stream_within_limits(self, client: AdmittedClient, guest: Guest) -> None:
        """Open the stream for the filter of a client, if the limits allow it.

        Raises:
            TooManyFilters: too many filters are in use, by the client's address or in
                total.
        """
        selected = self._audiences.restrict(guest, client.selected)
        address = client.sender
        if selected.is_narrow and not is_loopback(address):
            # Without this limit, one or two addresses could use up all filters.
            read = {
                connection.stream.filter
                for connection in self.connections
                if isinstance(connection, Subscriber)
                and connection.guest
                and connection.sender == address
            }
            if selected not in read and len(read) >= self._limits.filters_per_address:
                raise TooManyFilters
        self._audiences.choose(selected).open_stream(selected)

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
        """Turn a connection into a subscriber.

        If the handshake contained no token but one is needed, the first message of the
        subscriber must contain it. See
        :meth:`live.server.connection.ConnectionHost.subscribe` for the arguments.
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
            turns=self.turns,
            tally=self._tally,
        )
        subscriber.sender = client.sender
        self.rates.add_websocket(client.sender)
        self.connections.discard(connection)
        self.connections.add(subscriber)
        connection.transport.set_protocol(subscriber)
        if client.guest is not None:
            self._start_stream(subscriber, client, client.guest)
        else:
            subscriber.on_text = lambda message: self._authenticate_by_first_message(
                subscriber, client, message
            )
        if early:
            subscriber.data_received(early)

    def _authenticate_by_first_message(
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
            self._open_stream_within_limits(client, guest)
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
        selected = self._audiences.restrict(guest, client.selected)
        audience = self._audiences.choose(selected)
        can_report_air = guest.is_producer or client.is_local

        def on_text(message: bytes) -> None:
            if can_report_air:
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


def _read_resume_point(request: HttpRequest) -> tuple[str, int] | None:
    """Return ``epoch`` and ``since`` of a query; None unless both are present.

    Raises:
        FilterError: ``since`` is not a number.
    """
    query = dict(request.query)
    epoch = query.get("epoch")
    since = query.get("since")
    if since is not None and not (
        since.isascii() and since.isdigit() and len(since) <= 18
    ):
        raise FilterError("since is not a message number")
    return None if epoch is None or since is None else (epoch, int(since))
