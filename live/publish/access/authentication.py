"""Who a client is, and what it may see: tokens by header, query or first message. Pure.

Without a file of tokens everybody is a guest and sees the same. With one, a token is needed for all
data; with ``public`` as well, those without a token are the public and a token shows more.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import msgspec

from live.publish.access.tokens import MAX_CHARS, Tokens, digest_of
from live.publish.http.http_messages import HttpRequest
from live.publish.stream.stream_filter import StreamFilter
from live.publish.visibility import Visibility


class Guest(msgspec.Struct, frozen=True):
    """Somebody who may read."""

    visibility: Visibility = Visibility.PUBLIC
    within: StreamFilter | None = None
    """What its token confines it to."""
    digest: str = ""
    """SHA-256 of its token; empty for those without."""
    metrics: bool = False
    """Whether it reads the figures of the service."""
    producer: bool = False
    """Whether it says which boards are on air, from wherever it connects."""

    def limit(self, selected: StreamFilter) -> StreamFilter:
        """What this guest gets that asks for ``selected``."""
        return msgspec.structs.replace(selected, within=self.within, visibility=self.visibility)


def everybody(hide_scores: bool) -> StreamFilter:
    """What those see who are not asked who they are, a broker's readers among them."""
    return StreamFilter(visibility=Visibility.VENUE if hide_scores else Visibility.PUBLIC)


class TokenMessage(msgspec.Struct, frozen=True, tag="token"):
    """What a client may send first instead of a header: ``{"type":"token","token":"…"}``."""

    token: str


class Authentication:
    """Identifies clients. ``now`` gives the time of day, with its zone."""

    def __init__(
        self,
        tokens: Tokens | None,
        *,
        public: bool,
        hide_scores: bool,
        now: Callable[[], dt.datetime],
    ) -> None:
        self._tokens = tokens
        self._public = public
        self._visibility = everybody(hide_scores).visibility
        self._now = now

    def replace(self, tokens: Tokens) -> None:
        """From now on these are the tokens."""
        self._tokens = tokens

    def admit(self, *, public: bool, hide_scores: bool) -> None:
        """From now on this holds for those without a token."""
        self._public = public
        self._visibility = everybody(hide_scores).visibility

    @property
    def anybody(self) -> Guest | None:
        """What those without a token are; null where they are nobody."""
        open_to_all = self._tokens is None or self._public
        if not open_to_all:
            return None
        # Figures of the service say how many searches the engines have made.
        metrics = self._tokens is None and self._visibility is Visibility.PUBLIC
        return Guest(self._visibility, metrics=metrics)

    def who(self, request: HttpRequest) -> Guest | None:
        """Who sends this request; null when its token is missing or wrong.

        A token that is given must be right: somebody who means to see more is not quietly shown
        less. Where no tokens exist, none is looked at.
        """
        token = given_token(request)
        return self.anybody if token is None or self._tokens is None else self._known(token)

    def introduced(self, message: str | bytes) -> Guest | None:
        """Who sends this as its first websocket message; null when that is nobody."""
        try:
            first = msgspec.json.decode(message, type=TokenMessage)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        return self.anybody if self._tokens is None else self._known(first.token)

    def asks_first(self, request: HttpRequest) -> bool:
        """Whether a websocket is to say who it is in its first message."""
        if given_token(request) is not None:
            return False
        return self.anybody is None or ("auth", "message") in request.query

    def still(self, guest: Guest) -> bool:
        """Whether this guest may stay: its token is neither withdrawn nor changed nor over."""
        if not guest.digest:
            return self.anybody == guest
        return self._guest(guest.digest) == guest

    def _known(self, token: str) -> Guest | None:
        return self._guest(digest_of(token)) if 0 < len(token) <= MAX_CHARS else None

    def _guest(self, digest: str) -> Guest | None:
        token = self._tokens.find(digest, self._now()) if self._tokens is not None else None
        if token is None:
            return None
        visibility = Visibility.ARBITER if token.arbiter else self._visibility
        return Guest(visibility, token.within, digest, token.metrics, token.producer)


def given_token(request: HttpRequest) -> str | None:
    """The token of the ``Authorization`` header, else of the query; null when there is none.

    The query is for pages in OBS, which can set no header. What is neither, such as another
    scheme, is a token that nobody has.
    """
    if (header := request.headers.get("authorization")) is not None:
        scheme, _, token = header.partition(" ")
        return token.strip() if scheme.lower() == "bearer" else ""
    found = [value for name, value in request.query if name == "token"]
    return None if not found else found[0] if len(found) == 1 else ""
