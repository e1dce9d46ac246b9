"""The one port: websockets, pages and JSON. The shell that owns sockets and timers."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType

from websockets.extensions import Extension
from websockets.protocol import State
from websockets.server import ServerProtocol

from live.config import ServerConfig
from live.events import Change, FeedHealth, FeedState, FigureChoice, GameId, Incident
from live.publish import wire
from live.publish.access import (
    Authentication,
    BoardsOnAir,
    ClientLimits,
    Guest,
    OriginPolicy,
    RateLimits,
    TokenFile,
    check_exposure,
    games_of,
    is_loopback,
)
from live.publish.answers import HttpRequest, HttpResponse, MetricCounts, problem
from live.publish.connection import HttpConnection, PortListener
from live.publish.event_exports import EventExports
from live.publish.handshake import AdmittedClient, HandshakeJudge, TokenHandshake
from live.publish.public_state import PublicState
from live.publish.published_state import PublishedState
from live.publish.routes import HttpRoutes
from live.publish.static_files import StaticSite
from live.publish.streams import NumberedStream, TooManyFilters
from live.publish.study_page import StudyFiles
from live.publish.subscribers import Broadcaster, FairTurns, Subscriber
from live.publish.visibility import EVERYTHING, StreamFilter, Visibility

_log = logging.getLogger(__name__)

_SWEEP_S = 1.0
_EXPIRED = "the token is no longer valid"


class Publisher:
    """Serves the state and its changes. Use as ``async with Publisher(config, state) as p``.

    Loss policy: see :class:`live.publish.subscribers.Subscriber`; a slow client is skipped
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
        figure: FigureChoice = "perceived",
        public: PublicState | None = None,
        incidents: Callable[[], Sequence[Incident]] = tuple,
        on_air: Callable[[frozenset[GameId]], None] = lambda games: None,
        exports: EventExports | None = None,
        study: StudyFiles | None = None,
        report: Callable[[FeedHealth], None] = lambda health: None,
    ) -> None:
        """``state`` is what arbiters are shown, ``public`` what all others are, made of it here
        unless given; ``incidents`` gives the incident log; ``on_air`` is called with the boards on
        air whenever they change; ``exports`` makes downloads, ``study`` those of a corpus;
        ``report`` is given what is wrong with the file of tokens.
        """
        self._config = config
        self._clock = clock
        self._on_air = on_air
        self._air = BoardsOnAir()
        self._last_on_air: frozenset[GameId] = frozenset()
        limits = limits or ClientLimits(
            connections=config.max_connections,
            connections_per_address=config.max_connections_per_address,
        )
        self._limits = limits
        self._rates = RateLimits(limits, clock)
        tally = MetricCounts()
        self.public = public or PublicState(state, hide_scores=config.hide_scores, clock=clock)
        self._routes = HttpRoutes(
            state,
            site or StaticSite(),
            tally,
            self.public,
            incidents,
            secure=bool(config.certificate_file),
            exports=exports,
            study=study,
            figure=figure,
            clock=clock,
        )
        self._routes.frames = config.frames
        epoch = secrets.token_hex(6)
        self.broadcaster, self._arbiters = (
            Broadcaster(
                each,
                epoch=f"{epoch}{audience}",
                clock=clock,
                limits=limits,
                tally=tally,
                figure=figure,
                delay=self.public.held,
                elsewhere=self._in_thread,
            )
            for audience, each in (("", self.public), ("a", state))
        )
        self.public.listen(self._to_public)
        self._tokens = TokenFile(config.tokens_file) if config.tokens_file else None
        self._report = report
        self._reported = ""
        self._authentication = Authentication(
            self._tokens.read() if self._tokens else None,
            public=config.public,
            hide_scores=config.hide_scores,
            now=now,
        )
        origins = OriginPolicy(config.host, config.hosts, config.origins)
        self._handshakes = HandshakeJudge(origins, self._authentication, self._rates, self._stream)
        self._turns = FairTurns()
        self._connections: set[HttpConnection | TokenHandshake | Subscriber] = set()
        self._listener = PortListener(
            config,
            lambda: HttpConnection(self, self._turns, clock, limits),
            self._rates,
            limits,
        )
        self._loop: asyncio.AbstractEventLoop
        self._ticks: dict[Broadcaster, asyncio.TimerHandle] = {}
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
        for warning in check_exposure(config):
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
        for broadcaster in (self.broadcaster, self._arbiters):
            broadcaster.flush()
        for timer in (*self._ticks.values(), self._sweep_timer, self._heartbeat_timer):
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
        """Take over host names, origins, bounds, and what those without a token may see.

        Clients whose view changes are closed with "come back".
        """
        self._config = config
        self._handshakes.origins = OriginPolicy(config.host, config.hosts, config.origins)
        self._routes.frames = config.frames
        self._authentication.admit(public=config.public, hide_scores=config.hide_scores)
        self.public.hide(config.hide_scores)
        self._rates.bound(config.max_connections, config.max_connections_per_address)
        for connection in list(self._connections):
            if isinstance(connection, Subscriber) and not self._authentication.still(
                connection.guest
            ):
                connection.close(wire.CloseCode.GOING_AWAY, "the settings have changed")

    # --- changes out ------------------------------------------------------------------------------

    def publish(self, changes: Iterable[Change]) -> None:
        """Send subscribers the changes, which the state already holds. Cheap and synchronous.

        Moves are written at once, the rest within ``tick_s``; the public gets what it may know,
        when it may.
        """
        changes = list(changes)
        self._send(self._arbiters, changes)
        self.public.publish(changes)

    def _to_public(self, changes: Iterable[Change]) -> None:
        self._send(self.broadcaster, changes)

    def _send(self, broadcaster: Broadcaster, changes: Iterable[Change]) -> None:
        broadcaster.publish(changes)
        # A tick for each audience: when the public is written to says nothing of the other's news.
        if broadcaster not in self._ticks and not self._stopping:
            self._ticks[broadcaster] = self._loop.call_later(
                self._limits.tick_s, self._tick_over, broadcaster
            )

    def _tick_over(self, broadcaster: Broadcaster) -> None:
        del self._ticks[broadcaster]
        broadcaster.flush()

    def _in_thread(self, work: Callable[[], None], then: Callable[[], None]) -> None:
        """Done in another thread; ``then`` is called here, even after a failure."""

        def over(done: asyncio.Future[None]) -> None:
            if not done.cancelled() and (error := done.exception()) is not None:
                _log.error("a snapshot was not packed", exc_info=error)
            then()

        self._loop.run_in_executor(None, work).add_done_callback(over)

    def _of(self, selected: StreamFilter) -> Broadcaster:
        """Who sends what this filter selects."""
        return self._arbiters if selected.visibility is Visibility.ARBITER else self.broadcaster

    def _stream(self, selected: StreamFilter, address: str) -> NumberedStream:
        stream = self._of(selected).stream(selected)
        if stream.filter.narrow and not is_loopback(address):
            read = {
                each.stream
                for each in self._connections
                if isinstance(each, Subscriber) and each.address == address
            }
            if stream not in read and len(read) >= self._limits.filters_per_address:
                raise TooManyFilters
        return stream

    # --- connections ------------------------------------------------------------------------------

    def entered(self, connection: HttpConnection) -> bool:
        """Count a connection; whether there is room for it."""
        self._connections.add(connection)
        self._empty.clear()
        return self._rates.enter(connection.address) and not self._stopping

    def gone(self, connection: asyncio.Protocol) -> None:
        """Forget a connection."""
        assert isinstance(connection, HttpConnection | TokenHandshake | Subscriber)
        self._connections.discard(connection)
        self._air.close(connection)
        self._put_on_air()
        self._rates.leave(connection.address)
        if not self._connections:
            self._empty.set()

    def answer(self, request: HttpRequest) -> HttpResponse:
        """Answer anything but a handshake."""
        return self._handshakes.answer(request, self._serve)

    def _serve(self, request: HttpRequest, guest: Guest | None) -> HttpResponse:
        sees = guest.limit(EVERYTHING) if guest else None
        # Figures know no delay: whoever is held back needs a token that says metrics.
        anybody = guest is not None and not guest.digest and not self.public.delay_s
        metrics = guest is not None and guest.metrics and (anybody or bool(guest.digest))
        return self._routes.answer(
            request, sees, metrics=metrics, anybody=guest is not None and not guest.digest
        )

    def judge(
        self, connection: HttpConnection, request: HttpRequest
    ) -> AdmittedClient | HttpResponse:
        """The client that a handshake admits, or the response that refuses it."""
        if self._stopping:
            return problem(503, "the service stops; come back later", [("Retry-After", "5")])
        return self._handshakes.judge(request, connection.address)

    def subscribe(
        self,
        connection: HttpConnection,
        client: AdmittedClient,
        accepted: bytes,
        early: bytes,
        extensions: list[Extension],
    ) -> None:
        """Turn a connection into a subscriber, or into one that must send its token first."""
        connection.transport.write(accepted)
        protocol = ServerProtocol(
            state=State.OPEN, max_size=self._limits.message_bytes, logger=wire.FRAMES_LOG
        )
        protocol.extensions = extensions
        after: TokenHandshake | Subscriber
        if client.guest is not None:
            after = self._begin(connection, client, client.guest, protocol)
        else:
            after = TokenHandshake(
                self,
                client,
                connection.transport,
                connection.address,
                self._clock,
                self._limits,
                protocol,
            )
            self._hand_on(connection, after)
        if early:
            after.data_received(early)

    def identify(self, connection: TokenHandshake, message: bytes, rest: bytes) -> bool:
        """Turn a connection into a subscriber if its first message holds a valid token."""
        client = self._handshakes.identify(connection.client, message)
        if client is None or client.guest is None:
            self.broadcaster.closed("forbidden")
            return False
        try:
            self._stream(client.selected, connection.address)
        except TooManyFilters:
            connection.close(1013, "too many different filters are in use")  # try again later
            return True
        subscriber = self._begin(connection, client, client.guest, connection.protocol)
        if rest:
            subscriber.data_received(rest)
        return True

    def _begin(
        self,
        before: HttpConnection | TokenHandshake,
        client: AdmittedClient,
        guest: Guest,
        protocol: ServerProtocol,
    ) -> Subscriber:
        """Send a subscriber its greeting and what it lacks; or close it, if its token has expired
        since it was judged.
        """
        broadcaster = self._of(client.selected)
        subscriber = Subscriber(
            broadcaster,
            broadcaster.stream(client.selected),
            before.transport,
            self._clock,
            self._limits,
            when_gone=self.gone,
            guest=guest,
            protocol=protocol,
            said=self._heard if guest.producer or client.here else None,
            turns=self._turns,
            wanted=client.selected,
        )
        self._hand_on(before, subscriber)
        if self._handshakes.still(guest):
            broadcaster.join(subscriber, client.resume)
        else:
            subscriber.close(wire.CloseCode.FORBIDDEN, _EXPIRED)
        return subscriber

    def _heard(self, overlay: Subscriber, message: bytes) -> None:
        """Who may say so says which boards are on air."""
        games = games_of(message)
        if games is not None:
            self._air.show(overlay, games)
            self._put_on_air()

    def _put_on_air(self) -> None:
        games = self._air.games
        if games != self._last_on_air:
            self._last_on_air = games
            self._on_air(games)

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
            self._authentication.replace(changed)
        self._report_tokens()
        for connection in list(self._connections):
            try:
                self._sweep_one(connection, now_s)
            except Exception:
                # Broad: a fault in one connection must not lift the deadlines of all others.
                _log.exception("a connection is dropped")
                connection.transport.abort()
        for broadcaster in (self.broadcaster, self._arbiters):
            broadcaster.drop_unused()

    def _report_tokens(self) -> None:
        problem = self._tokens.problem if self._tokens is not None else ""
        if problem != self._reported:
            self._reported = problem
            state: FeedState = "failed" if problem else "live"
            self._report(FeedHealth("tokens file", state, problem, part=True))

    def _sweep_one(
        self, connection: HttpConnection | TokenHandshake | Subscriber, now_s: float
    ) -> None:
        connection.sweep(now_s)
        if isinstance(connection, Subscriber) and not self._authentication.still(connection.guest):
            connection.close(wire.CloseCode.FORBIDDEN, _EXPIRED)

    def _sweep_again(self) -> None:
        self._sweep_timer = self._loop.call_later(_SWEEP_S, self._sweep_again)
        self.sweep()

    def _heartbeat_again(self) -> None:
        self._heartbeat_timer = self._loop.call_later(
            self._limits.heartbeat_s, self._heartbeat_again
        )
        for broadcaster in (self.broadcaster, self._arbiters):
            broadcaster.heartbeat()
