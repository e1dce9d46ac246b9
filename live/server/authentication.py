"""The identity of a client and its rights, by a token. Pure.

The token is in a header, in the query or in the first message. Without a file of tokens
all clients have the same rights. With a file of tokens, a token is needed for all data.
With ``public`` in addition, clients without a token see the public data, and a token
gives further rights.
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
    """A client that is allowed to read, with its rights."""

    visibility: Visibility = Visibility.PUBLIC
    restriction: StreamFilter | None = None
    """The games that the client's token allows; None if all games are allowed."""
    digest: str = ""
    """SHA-256 of the client's token; empty without a token."""
    can_read_metrics: bool = False
    """True if the client is allowed to read the metrics of the service."""
    is_producer: bool = False
    """True if the client can report which boards are on air, from any machine."""
    name: str = ""
    """The name of the client's token."""

    @property
    def can_command(self) -> bool:
        """True if the client can send commands about alerts.

        Only arbiters whose token allows all games can send them.
        """
        return self.visibility is Visibility.ARBITER and self.restriction is None

    def restrict(self, selected: StreamFilter) -> StreamFilter:
        """Return ``selected`` limited to what this guest is allowed to see."""
        return replace(
            selected, restriction=self.restriction, visibility=self.visibility
        )


def public_filter(hide_scores: bool) -> StreamFilter:
    """Return the filter for clients without a token, including readers of a broker."""
    return StreamFilter(
        visibility=Visibility.VENUE if hide_scores else Visibility.PUBLIC
    )


class Authentication:
    """Identifies clients by their tokens.

    ``now`` returns the present date and time with a time zone.
    """

    def __init__(
        self,
        tokens: Tokens | None,
        config: ServerConfig,
        now: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
    ) -> None:
        self.tokens = tokens
        """The tokens, replaced whenever their file changes; None without a file."""
        self._now = now
        self.reconfigure(config)

    def reconfigure(self, config: ServerConfig) -> None:
        """Set the rights of clients without a token from the configuration."""
        self._public = config.public
        self._visibility = public_filter(config.hide_scores).visibility

    @property
    def anonymous_guest(self) -> Guest | None:
        """The rights of clients without a token; None if a token is required."""
        if self.tokens is not None and not self._public:
            return None
        # Metrics reveal how many searches the engines have made, so they are withheld
        # where scores are hidden.
        can_read_metrics = self.tokens is None and self._visibility is Visibility.PUBLIC
        return Guest(self._visibility, can_read_metrics=can_read_metrics)

    def authenticate(self, request: HttpRequest) -> Guest | None:
        """Return the sender of a request; None if its token is missing or wrong.

        A wrong token is refused even if the public can read: its sender should notice
        the error, not just get fewer rights. Without a file of tokens, tokens are
        ignored.
        """
        return self._find_guest_of(read_token(request))

    def authenticate_message(self, message: str | bytes) -> Guest | None:
        """Return the sender of a first websocket message, identified by its token.

        Return None if the message contains no token, or an invalid one.
        """
        first = decode_client_message(message, TokenMessage)
        return None if first is None else self._find_guest_of(first.token)

    def should_ask_for_token(self, request: HttpRequest) -> bool:
        """Return whether a websocket must send its token in its first message."""
        return read_token(request) is None and self.anonymous_guest is None

    def is_still_valid(self, guest: Guest) -> bool:
        """Return whether a connected guest still has the same rights.

        The rights change if its token was withdrawn or changed, or has expired.
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
    """Return the token from the ``Authorization`` header, or else from the query.

    Return None without a token. The query is for pages in OBS, which cannot set a
    header. Anything else, such as another scheme, is returned as an empty token, which
    is never valid.
    """
    if (header := request.headers.get("authorization")) is not None:
        scheme, _, token = header.partition(" ")
        return token.strip() if scheme.lower() == "bearer" else ""
    tokens = [value for name, value in request.query if name == "token"]
    return None if not tokens else tokens[0] if len(tokens) == 1 else ""
