"""Bearer tokens, and the file that contains them.

The file has one table for each token. It contains only the SHA-256 of the token::

    [[token]]
    name = "hall screen"
    sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    events = ["Open A"]        # also games, players: as in a query; default: all
    expires = 2026-12-31       # the last valid day, UTC; default: no limit
    arbiter = false            # true: also sees data for arbiters only
    metrics = false            # true: can read /metrics, which counts engine searches
    producer = false           # true: boards that its overlays show are analysed first

A plain SHA-256 is sufficient, since tokens are created by ``live-rate token`` from 256
random bits and cannot be guessed. Tokens give the right to read; a producer's token
also gives the right to report the boards on air.

The file is read again whenever it changes; a token is withdrawn by removing it from the
file. A missing or broken file can be one that is just being written, so its tokens stay
valid for :data:`GRACE_LOOKS` checks, but no longer.
"""

import datetime as dt
import hashlib
import logging
import tomllib
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Annotated, Any

import msgspec

from live.errors import ConfigError
from live.messages.health import FeedState, HealthReport, part_health
from live.messages.values import Value
from live.server.stream_filter import StreamFilter, parse_filter
from live.user_files import read_file_of_setting

#: Number of random bytes in a token.
_TOKEN_BYTES = 32
#: Maximum length of a token, characters; longer ones are refused.
MAX_CHARS = 512


class Token(Value, forbid_unknown_fields=True, omit_defaults=True):
    """One token: a table in the file."""

    name: Annotated[str, msgspec.Meta(min_length=1)]
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
    arbiter: bool = False
    events: tuple[str, ...] = ()
    games: tuple[str, ...] = ()
    players: tuple[str, ...] = ()
    expires: dt.date | None = None
    """The last day on which the token is valid, UTC; None without a limit."""
    metrics: bool = False
    """True if the token gives the right to read the metrics, which cover all events and
    have no delay.
    """
    producer: bool = False
    """True if boards on overlays that use this token are analysed first."""

    @property
    def restriction(self) -> StreamFilter | None:
        """The filter with the games that the token allows; None if it allows all games.

        Raises:
            FilterError: a value is not allowed in a filter.
        """
        pairs: list[tuple[str, str]] = []
        for kind in ("event", "game", "player"):
            pairs += [(kind, value) for value in getattr(self, f"{kind}s")]
        selected = parse_filter(pairs)
        return selected if selected.is_narrow else None

    def has_expired(self, now: dt.datetime) -> bool:
        """Return whether the last valid day has ended; ``now`` needs a time zone."""
        return self.expires is not None and now.astimezone(dt.UTC).date() > self.expires


class _File(Value, forbid_unknown_fields=True):
    token: tuple[Token, ...] = ()


Tokens = Mapping[str, Token]
"""All tokens of a file, by their SHA-256. A token is found by its digest, so the time
of a lookup reveals nothing about the token.
"""


def hash_token(token: str) -> str:
    """Return the SHA-256 of a token, in lower-case hexadecimal."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


@lru_cache(maxsize=1)  # the file is read every second
def read_tokens(text: str, file_name: str) -> Tokens:
    """Return the tokens in the text of a file; ``file_name`` is its name for errors.

    Raises:
        ConfigError: the text is not TOML, it has an unknown key or a wrong value, or it
            contains the same token or name twice.
    """
    try:
        tokens = msgspec.convert(tomllib.loads(text), _File).token
        for token in tokens:
            _ = token.restriction
    # The text is not TOML, has too long a number, is nested too deeply, or contains
    # something other than tokens.
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise ConfigError(
            file_name,
            f"is not a list of tokens: {error}",
            'Make entries with "live-rate token NAME" and append them',
        ) from None
    for field in ("name", "sha256"):
        if len({getattr(token, field) for token in tokens}) != len(tokens):
            raise ConfigError(
                file_name, f"two tokens have the same {field}", "Remove one of them"
            )
    return {token.sha256: token for token in tokens}


def create_token(
    name: str, chance: Callable[[int], bytes], **rights: Any
) -> tuple[str, str]:
    """Create a token; return the token and its entry for the file.

    ``chance`` returns a given number of secure random bytes; ``rights`` are fields of
    :class:`Token`.
    """
    secret = chance(_TOKEN_BYTES).hex()
    token = Token(name, hash_token(secret), **rights)
    fields = msgspec.to_builtins(token, builtin_types=[dt.date])
    lines = [f"{name} = {_format_toml(value)}" for name, value in fields.items()]
    return secret, "\n".join(["[[token]]", *lines]) + "\n"


def _format_toml(value: object) -> str:
    """Return a value as TOML; it is the same as JSON except for dates and DEL."""
    text = msgspec.json.encode(value).decode().replace("\x7f", "\\u007F")
    return text.strip('"') if isinstance(value, dt.date) else text


_log = logging.getLogger(__name__)
#: Number of checks, one per second, after which the tokens of an unusable file become
#: invalid. Before that, the file might just be incompletely written.
GRACE_LOOKS = 3


class TokenFile:
    """The file of tokens, with its last valid content.

    ``report`` is called when a problem with the file begins or ends.
    """

    def __init__(self, path: str, report: HealthReport) -> None:
        self._path = path
        self._report = report
        self._text = ""
        # Number of checks in a row at which the file was unusable.
        self._spoilt = 0

    def load(self) -> str | ConfigError:
        """Return the text of the file, or the error if it cannot be read.

        This must run in a separate thread, since the drive might not respond.
        """
        try:
            return read_file_of_setting("server.tokens_file", self._path)
        except ConfigError as error:
            return error

    def read(self, content: str | ConfigError) -> Tokens:
        """Return the tokens, given the result of :meth:`load`.

        Raises:
            ConfigError: the file cannot be read, or does not contain valid tokens.
        """
        if isinstance(content, ConfigError):
            raise content
        self._text = content
        return read_tokens(content, f"server.tokens_file {self._path}")

    def update(self, content: str | ConfigError) -> Tokens | None:
        """Return the tokens if they have changed, given the result of :meth:`load`.

        Return None if they have not changed, and no tokens if the file has been
        unusable for too long. Call this method about once a second.
        """
        before = self._text
        try:
            tokens = self.read(content)
        except ConfigError as error:
            # The count goes on even if the content changes, so that a file that is
            # written again and again gets no extra time.
            self._spoilt += 1
            if self._spoilt == 1:
                self._report_state(
                    f"{error.problem}: its tokens are withdrawn in {GRACE_LOOKS} s"
                )
            if self._spoilt != GRACE_LOOKS + 1:
                return None
            self._report_state(
                f"{error.problem}: its tokens are withdrawn until it can be read"
            )
            return {}
        if self._spoilt:
            self._spoilt = 0
            self._report_state("")
        elif self._text == before:
            return None
        return tokens

    def _report_state(self, problem: str) -> None:
        level = logging.ERROR if problem else logging.WARNING
        _log.log(
            level,
            "server.tokens_file %s %s",
            self._path,
            problem or "can be read again",
        )
        state: FeedState = "failed" if problem else "live"
        self._report(part_health("tokens file", state, problem))
