"""Who a client is, and what it may see: tokens by header, query or first message. Pure.

Without a file of tokens every client is a guest, and all see the same. With one, a
token is needed for all data; with ``public`` as well, those without a token are the
public and a token shows more.
"""

import datetime as dt
from collections.abc import Callable

from msgspec.structs import replace

from live.messages.from_clients import TokenMessage, decode_client_message
from live.messages.values import Value
from live.server.http_values import HttpRequest
from live.server.stream_filter import StreamFilter
from live.server.tokens import MAX_CHARS, Tokens, hash_token
from live.server.visibility import Visibility
from live.settings import ServerConfig


class Guest(Value):
    """A client that may read."""

    visibility: Visibility = Visibility.PUBLIC
    restriction: StreamFilter | None = None
    """What its token confines it to."""
    digest: str = ""
    """SHA-256 of its token; empty for those without."""
    can_read_metrics: bool = False
    """Whether it reads the figures of the service."""
    is_producer: bool = False
    """Whether it says which boards are on air, from wherever it connects."""
    name: str = ""
    """Of its token."""

    @property
    def can_command(self) -> bool:
        """Whether it may answer alerts: arbiters may, unless their token is
        restricted.
        """
        return self.visibility is Visibility.ARBITER and self.restriction is None

    def restrict(self, selected: StreamFilter) -> StreamFilter:
        """Return the part of ``selected`` that this guest may see."""
        return replace(
            selected, restriction=self.restriction, visibility=self.visibility
        )


def public_filter(hide_scores: bool) -> StreamFilter:
    """Return what clients without a token may see, readers of a broker among them."""
    return StreamFilter(
        visibility=Visibility.VENUE if hide_scores else Visibility.PUBLIC
    )


class Authentication:
    """Identifies clients. ``now`` gives the time of day, with its zone."""

    def __init__(
        self,
        tokens: Tokens | None,
        config: ServerConfig,
        now: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
    ) -> None:
        self.tokens = tokens
        """Replaced when the file has changed; None if no file is named."""
        self._now = now
        self.reconfigure(config)

    def reconfigure(self, config: ServerConfig) -> None:
        """Update what clients without a token may see."""
        self._public = config.public
        self._visibility = public_filter(config.hide_scores).visibility

    @property
    def anonymous_guest(self) -> Guest | None:
        """The guest without a token, or None if a token is required."""
        if self.tokens is not None and not self._public:
            return None
        # Figures of the service say how many searches the engines have made.
        can_read_metrics = self.tokens is None and self._visibility is Visibility.PUBLIC
        return Guest(self._visibility, can_read_metrics=can_read_metrics)

    def authenticate(self, request: HttpRequest) -> Guest | None:
        """Return who sends this request; None when its token is missing or wrong.

        A token that is given must be right: a client that asks for more does not
        silently get less. Without a file of tokens, no token is looked at.
        """
        return self._find_guest_of(read_token(request))

    def authenticate_message(self, message: str | bytes) -> Guest | None:
        """Return who sends this as its first websocket message; None without a valid
        token.
        """
        first = decode_client_message(message, TokenMessage)
        return None if first is None else self._find_guest_of(first.token)

    def should_ask_for_token(self, request: HttpRequest) -> bool:
        """Return whether a websocket must send its token in its first message."""
        return read_token(request) is None and self.anonymous_guest is None

    def is_still_valid(self, guest: Guest) -> bool:
        """Return whether this guest may stay: its token is neither withdrawn nor
        changed nor expired.
        """
        return (
            self._find_guest(guest.digest) if guest.digest else self.anonymous_guest
        ) == guest

    def _find_guest_of(self, token: str | None) -> Guest | None:
        if token is None or self.tokens is None:
            return self.anonymous_guest
        return (
            self._find_guest(hash_token(token)) if 0 < len(token) <= MAX_CHARS else None
        )

    def _find_guest(self, digest: str) -> Guest | None:
        token = (self.tokens or {}).get(digest)
        if token is None or token.has_expired(self._now()):
            return None
        visibility = Visibility.ARBITER if token.arbiter else self._visibility
        return Guest(
            visibility,
            token.restriction,
            digest,
            token.metrics,
            token.producer,
            token.name,
        )


def read_token(request: HttpRequest) -> str | None:
    """Return the token of the ``Authorization`` header, else of the query; None where
    there is none.

    The query is for pages in OBS, which can set no header. Anything else, such as
    another scheme, counts as an unknown token.
    """
    if (header := request.headers.get("authorization")) is not None:
        scheme, _, token = header.partition(" ")
        return token.strip() if scheme.lower() == "bearer" else ""
    found = [value for name, value in request.query if name == "token"]
    return None if not found else found[0] if len(found) == 1 else ""
