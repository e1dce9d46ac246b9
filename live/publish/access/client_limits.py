"""Bounds that keep one client from costing another anything."""

from __future__ import annotations

import msgspec

from live.publish.stream.numbered_stream import HistoryLimits


class ClientLimits(msgspec.Struct, frozen=True, kw_only=True):
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
    """Frames, pongs aside, that a subscriber may send within ``messages_s``."""
    messages_s: float = 30.0
    connections: int = 10_000
    connections_per_address: int = 256
    """From one address; this machine's own is not counted."""
    handshakes_per_s: float = 200.0
    """Each new subscriber costs a snapshot: from all addresses together."""
    handshakes_burst: float = 2_000.0
    handshakes_per_address_per_s: float = 5.0
    handshakes_per_address_burst: float = 50.0
    filters: int = 512
    """Distinct filters served at once, aside of those that leave nothing out; all that select
    nothing yet count as one.
    """
    filters_per_address: int = 128
    """For one address; this machine's own is not counted."""
    history: HistoryLimits = HistoryLimits()
