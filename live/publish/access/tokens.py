"""Bearer tokens: who may read what. Pure: text and time in, answers out.

The file holds one table for each token, and of the token itself only its SHA-256::

    [[token]]
    name = "hall screen"
    sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    events = ["Open A"]        # also games, players: as in a query; none: everything
    expires = 2026-12-31       # the last day it is valid, UTC; none: for ever
    arbiter = false            # true: also sees what is for arbiters alone
    metrics = false            # true: reads /metrics, which counts what engines did
    producer = false           # true: the boards that its overlays show are analysed first

A plain SHA-256 is enough because tokens are made here, from 256 bits of chance (``live-rate
token``): there is no guessing them. Every token only reads; a producer's also says which boards
are on air.

The file of tokens on disk, read again whenever it changes: that is how a token is withdrawn.

A file that is gone or broken lets nobody in: it may be half written, so its tokens stay valid for
:data:`GRACE_LOOKS` looks, and no longer.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import logging
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import msgspec

from live.errors import ConfigError
from live.publish.stream.stream_filter import FilterError, StreamFilter, parse

#: Bytes of chance in a token.
TOKEN_BYTES = 32

#: Longest token looked at.
MAX_CHARS = 512


class Token(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
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
    def within(self) -> StreamFilter | None:
        """What it is confined to; null: nothing.

        Raises:
            FilterError: a value no query could hold either.
        """
        wanted = parse(
            [("event", each) for each in self.events]
            + [("game", each) for each in self.games]
            + [("player", each) for each in self.players]
        )
        return wanted if wanted.narrow else None

    def expired(self, now: dt.datetime) -> bool:
        """Whether its time is over. ``now`` has a time zone."""
        if self.expires is None:
            return False
        return now >= dt.datetime.combine(self.expires, dt.time(), dt.UTC) + dt.timedelta(days=1)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    token: tuple[Token, ...] = ()


class Tokens:
    """All tokens of a file."""

    def __init__(self, tokens: tuple[Token, ...] = ()) -> None:
        self._by_digest = {token.sha256: token for token in tokens}

    def __len__(self) -> int:
        return len(self._by_digest)

    def find(self, digest: str, now: dt.datetime) -> Token | None:
        """The valid token whose SHA-256 this is. Looking digests up gives no timing away."""
        token = self._by_digest.get(digest)
        return None if token is None or token.expired(now) else token


def digest_of(token: str) -> str:
    """SHA-256 of a token, lower-case hexadecimal."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def read_tokens(text: str, where: str) -> Tokens:
    """The tokens of a file's text; ``where`` names it in errors.

    Raises:
        ConfigError: not TOML, an unknown key, a wrong value, or the same token or name twice.
    """
    try:
        tree = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # not TOML, too long a number, too deep
        raise ConfigError(
            where, f"is not valid TOML: {error}", 'Make entries with "live-rate token NAME"'
        ) from None
    try:
        tokens = msgspec.convert(tree, _File).token
        for token in tokens:
            _ = token.within
    except (msgspec.ValidationError, FilterError) as error:
        raise ConfigError(
            where, f"{error}", 'Make entries with "live-rate token NAME" and append them'
        ) from None
    for what, values in (
        ("name", [token.name for token in tokens]),
        ("sha256", [token.sha256 for token in tokens]),
    ):
        if len(set(values)) != len(values):
            raise ConfigError(where, f"two tokens have the same {what}", "Remove one of them")
    return Tokens(tokens)


def new_token(
    name: str,
    chance: Callable[[int], bytes],
    *,
    arbiter: bool = False,
    metrics: bool = False,
    producer: bool = False,
    events: tuple[str, ...] = (),
    expires: dt.date | None = None,
) -> tuple[str, str]:
    """A new token, and the entry for the file. ``chance`` gives that many unguessable bytes."""
    secret = chance(TOKEN_BYTES).hex()
    lines = ["[[token]]", f"name = {_quoted(name)}", f'sha256 = "{digest_of(secret)}"']
    if arbiter:
        lines.append("arbiter = true")
    if metrics:
        lines.append("metrics = true")
    if producer:
        lines.append("producer = true")
    if events:
        lines.append(f"events = [{', '.join(map(_quoted, events))}]")
    if expires is not None:
        lines.append(f"expires = {expires.isoformat()}")
    return secret, "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A TOML basic string: JSON's escapes are among its own, DEL is the one exception."""
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007F")


_log = logging.getLogger(__name__)

#: How many looks, a second apart, a file that cannot be used may be in the middle of being written.
GRACE_LOOKS = 3

_Stamp = tuple[int, int, int, int]


class TokenFile:
    """One file, with what it said last."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._stamp: _Stamp | None = None
        self._looks_left, self._wrong = 0, ""
        self.problem = ""
        """For people: what is wrong with the file, and what of it; empty when all is well."""

    def read(self) -> Tokens:
        """The tokens now.

        Raises:
            ConfigError: the file cannot be read, or says something else than tokens.
        """
        self._stamp = self._seen()
        subject = f"server.tokens_file {self._path}"
        try:
            text = self._path.read_text(encoding="utf-8")
        except OSError as error:
            raise ConfigError(
                subject,
                f"cannot be read ({error.strerror})",
                'Make it with "live-rate token NAME >> FILE"',
            ) from None
        except UnicodeDecodeError:
            raise ConfigError(subject, "is not UTF-8 text", "Save it as UTF-8") from None
        return read_tokens(text, subject)

    def changed(self) -> Tokens | None:
        """The tokens where they are others than before, none where the file cannot be used any
        more; null where they are the same. To be called about once a second.
        """
        if self._seen() != self._stamp:
            try:
                tokens = self.read()
            except ConfigError as error:
                self._complain(error)
            else:
                if self.problem:
                    _log.warning("server.tokens_file %s: is read again", self._path)
                self.problem, self._looks_left = "", 0
                return tokens
        if not self._looks_left:
            return None
        self._looks_left -= 1
        if self._looks_left:
            return None
        self.problem = f"{self._wrong}: its tokens are withdrawn until it can be read"
        _log.error("server.tokens_file %s %s", self._path, self.problem)
        return Tokens()

    def _complain(self, error: ConfigError) -> None:
        self._wrong = error.problem
        if self.problem:
            return  # being written again gives no more time
        self._looks_left = GRACE_LOOKS + 1
        self.problem = f"{self._wrong}: its tokens are withdrawn in {GRACE_LOOKS} s"
        _log.error("%s; its tokens are withdrawn in %d s", error, GRACE_LOOKS)

    def _seen(self) -> _Stamp | None:
        try:
            stat = self._path.stat()
        except OSError:
            return None
        # The last: whoever may read it no more has changed no byte of it.
        return stat.st_mtime_ns, stat.st_size, stat.st_ino, stat.st_ctime_ns
