"""Bearer tokens, and the file that holds them.

The file holds one table for each token, and of the token itself only its SHA-256::

    [[token]]
    name = "hall screen"
    sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    events = ["Open A"]        # also games, players: as in a query; none: everything
    expires = 2026-12-31       # the last day it is valid, UTC; none: for ever
    arbiter = false            # true: also sees what is for arbiters alone
    metrics = false            # true: reads /metrics, which counts what engines did
    producer = false           # true: boards that its overlays show are analysed first

A plain SHA-256 is enough because tokens are made here, from 256 bits of chance
(``live-rate token``): there is no guessing them. Tokens read; a producer's also says
which boards are on air.

The file is read again whenever it changes: that is how a token is withdrawn. A file
that is missing or broken may be half written, so its tokens stay valid for
:data:`GRACE_LOOKS` looks, and no longer.
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

#: Bytes of chance in a token.
TOKEN_BYTES = 32
#: Longest token looked at.
MAX_CHARS = 512


class Token(Value, forbid_unknown_fields=True, omit_defaults=True):
    """One table of the file."""

    name: Annotated[str, msgspec.Meta(min_length=1)]
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
    arbiter: bool = False
    events: tuple[str, ...] = ()
    games: tuple[str, ...] = ()
    players: tuple[str, ...] = ()
    expires: dt.date | None = None
    """The last day it is valid, UTC."""
    metrics: bool = False
    """Reads the figures of the service, which are of all events and know no delay."""
    producer: bool = False
    """The boards that its overlays show are analysed first."""

    @property
    def restriction(self) -> StreamFilter | None:
        """What it is restricted to; None: nothing.

        Raises:
            FilterError: a value no query could hold either.
        """
        pairs: list[tuple[str, str]] = []
        for kind in ("event", "game", "player"):
            pairs += [(kind, each) for each in getattr(self, f"{kind}s")]
        wanted = parse_filter(pairs)
        return wanted if wanted.is_narrow else None

    def has_expired(self, now: dt.datetime) -> bool:
        """Return whether its last day is over. ``now`` has a time zone."""
        return self.expires is not None and now.astimezone(dt.UTC).date() > self.expires


class _File(Value, forbid_unknown_fields=True):
    token: tuple[Token, ...] = ()


Tokens = Mapping[str, Token]
"""All tokens of a file, by their SHA-256. Looking up digests reveals nothing by its
timing.
"""


def hash_token(token: str) -> str:
    """Return the SHA-256 of a token, lower-case hexadecimal."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


@lru_cache(maxsize=1)  # the file is read every second
def read_tokens(text: str, where: str) -> Tokens:
    """Read the tokens of a file's text; ``where`` names it in errors.

    Raises:
        ConfigError: not TOML, an unknown key, a wrong value, or the same token or name
            twice.
    """
    try:
        tokens = msgspec.convert(tomllib.loads(text), _File).token
        for token in tokens:
            _ = token.restriction
    # Not TOML, a number too long, nested too deeply, or no tokens.
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise ConfigError(
            where,
            f"is no list of tokens: {error}",
            'Make entries with "live-rate token NAME" and append them',
        ) from None
    for what in ("name", "sha256"):
        if len({getattr(token, what) for token in tokens}) != len(tokens):
            raise ConfigError(
                where, f"two tokens have the same {what}", "Remove one of them"
            )
    return {token.sha256: token for token in tokens}


def create_token(
    name: str, chance: Callable[[int], bytes], **rights: Any
) -> tuple[str, str]:
    """Create a token; return it and its entry for the file.

    ``chance`` gives that many unguessable bytes; ``rights`` are fields of
    :class:`Token`.
    """
    secret = chance(TOKEN_BYTES).hex()
    token = Token(name, hash_token(secret), **rights)
    fields = msgspec.to_builtins(token, builtin_types=[dt.date])
    lines = [f"{name} = {_format_toml(value)}" for name, value in fields.items()]
    return secret, "\n".join(["[[token]]", *lines]) + "\n"


def _format_toml(value: object) -> str:
    """Write a value as TOML, which JSON is but for dates and DEL."""
    text = msgspec.json.encode(value).decode().replace("\x7f", "\\u007F")
    return text.strip('"') if isinstance(value, dt.date) else text


_log = logging.getLogger(__name__)
#: How many looks, a second apart, an unusable file is taken for one that is being
#: written.
GRACE_LOOKS = 3


class TokenFile:
    """One file, with what it said last. ``report`` is given what is wrong with it, and
    that it is over.
    """

    def __init__(self, path: str, report: HealthReport) -> None:
        self._path = path
        self._report = report
        self._text = ""
        # How many looks it could not be used at.
        self._spoilt = 0

    def load(self) -> str | ConfigError:
        """Read the file, or say why it cannot be read. Its drive may not answer: it is
        for a thread of its own.
        """
        try:
            return read_file_of_setting("server.tokens_file", self._path)
        except ConfigError as error:
            return error

    def read(self, found: str | ConfigError) -> Tokens:
        """Return the tokens of what :meth:`load` has found.

        Raises:
            ConfigError: the file cannot be read, or says something else than tokens.
        """
        if isinstance(found, ConfigError):
            raise found
        self._text = found
        return read_tokens(found, f"server.tokens_file {self._path}")

    def update(self, found: str | ConfigError) -> Tokens | None:
        """Return the tokens of what :meth:`load` has found, where they are others than
        before.

        None where they are the same, no tokens where the file has been unusable for too
        long. To be called about once a second.
        """
        before = self._text
        try:
            tokens = self.read(found)
        except ConfigError as error:
            # A file that is written again and again gets no more time.
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
            level, "server.tokens_file %s %s", self._path, problem or "is read again"
        )
        state: FeedState = "failed" if problem else "live"
        self._report(part_health("tokens file", state, problem))
