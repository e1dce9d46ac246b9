"""The server for websockets, pages and JSON on one port, with sockets and timers."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

from live.errors import PortInUse
from live.messages.alerts import Incident
from live.messages.from_clients import DeskCommand
from live.messages.health import HealthReport
from live.messages.values import GameId
from live.process.clock import ReadClock
from live.server.audience import Audiences
from live.server.client_connections import SETTINGS_CHANGED, ClientConnections
from live.server.connection import HttpConnection, TlsHandshakes
from live.server.event_reader import EventReader
from live.server.limits import ClientLimits
from live.server.listening import (
    bind_socket,
    build_authority,
    check_exposure,
    choose_own_address,
    load_certificate,
)
from live.server.metrics import MetricCounts
from live.server.origins import OriginPolicy
from live.server.port_holder import name_port_holder
from live.server.public_view import PublicView
from live.server.routes import HttpRoutes
from live.server.static_files import StaticSite
from live.server.tokens import TokenFile
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


class Publisher:
    """Serves the state and its changes while it is open as an async context manager.

    A slow client is skipped and gets the missing data later
    (:mod:`live.server.subscriber`). It never needs unlimited memory, and does not slow
    down other clients.
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
            desk: called with each command of an arbiter and the name of the arbiter's
                token.
            on_air: called with the ids of the games on air whenever they change.
            study: the folder with tables and figures of studies.
            report: called when a problem with the file of tokens begins or ends.
        """
        limits = limits or ClientLimits(connections=config.max_connections)
        self.public = public or PublicView(
            state, hide_scores=config.hide_scores, clock=clock
        )
        self.tally = MetricCounts()
        self.audiences = Audiences(
            state, self.public, clock=clock, limits=limits, tally=self.tally
        )
        self._routes = HttpRoutes(
            self.audiences,
            site or StaticSite(),
            self.tally,
            incidents,
            config=config,
            study=study,
            clock=clock,
        )
        self._tokens = (
            TokenFile(config.tokens_file, report) if config.tokens_file else None
        )
        self.clients = ClientConnections(
            config,
            self.audiences,
            self._routes,
            self._tokens.read(self._tokens.load()) if self._tokens else None,
            self.tally,
            clock=clock,
            limits=limits,
            desk=desk,
            on_air=on_air,
        )
        self._config = config
        self._clock = clock
        self._limits = limits
        self._server: asyncio.Server
        # If the setting is 0 (any free port), the assigned port is kept for listening
        # again.
        self._port = config.port
        self._loop: asyncio.AbstractEventLoop
        self._timer: asyncio.TimerHandle
        self._looking: asyncio.Task[None] | None = None
        self._beat_s = clock()

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
        try:
            await self._listen()
        except PortInUse as error:
            host, port = self._config.host, self._port
            raise await name_port_holder(error, host, port) from None
        self._timer = self._loop.call_later(_SWEEP_S, self._check_each_second)
        return self

    async def _listen(self) -> None:
        config = self._config
        tls = load_certificate(config.certificate_file, config.key_file)
        handshakes = None if tls is None else TlsHandshakes(tls)
        sock = bind_socket(config.host, self._port)
        self._server = await self._loop.create_server(
            lambda: HttpConnection(
                self.clients,
                self.clients.turns,
                self._clock,
                self._limits,
                handshakes,
            ),
            sock=sock,
            backlog=_ACCEPTED,
        )
        sock.listen(_BACKLOG)
        self._port = self.address[1]

    async def watch(self) -> None:
        """Check regularly whether the server listens, and repair it; until cancelled.

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

        Clients are asked to reconnect. This takes at most ``closing_s`` seconds.
        """
        self._server.close()
        self._timer.cancel()
        for audience in self.audiences:
            audience.end()
        if self._looking is not None:
            self._looking.cancel()
        await self.clients.close()
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
        authority = build_authority(choose_own_address(host), port)
        return f"http{'s' if self._config.certificate_file else ''}://{authority}/"

    def reconfigure(self, config: ServerConfig) -> None:
        """Apply changed settings: host names, origins, limits and public rights.

        Connections of clients whose rights change are closed; the clients reconnect.
        """
        # If this raises an error, nothing has been changed.
        origins = OriginPolicy(config)
        self._routes.allow_frames(config.frames)
        if config.hide_scores != self._config.hide_scores:
            self.public.hide_scores(config.hide_scores)
            # A client that resumed an old stream would miss the data that was withheld
            # from it before.
            self.audiences.public.restart(SETTINGS_CHANGED)
        self._config = config
        self.clients.reconfigure(config, origins)

    # --- regular checks ---------------------------------------------------------------

    def sweep_connections_and_streams(self) -> None:
        """Close all connections that have passed a time limit, and drop streams and
        snapshots that nobody uses any more.

        A timer calls this about once a second.
        """
        self.clients.enforce_deadlines()
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
            self.clients.replace_tokens(changed)

    def _check_each_second(self) -> None:
        self._timer = self._loop.call_later(_SWEEP_S, self._check_each_second)
        self.sweep_connections_and_streams()
        if self._looking is None or self._looking.done():
            self._looking = self._loop.create_task(
                self.reload_tokens(), name="tokens file"
            )
        if self._clock() - self._beat_s >= self._limits.heartbeat_s:
            self._beat_s = self._clock()
            for audience in self.audiences:
                audience.send_heartbeat()
