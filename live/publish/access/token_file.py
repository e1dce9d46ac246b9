"""The file of tokens on disk, read again whenever it changes: that is how a token is withdrawn.

A file that is gone or broken lets nobody in: it may be half written, so its tokens stay valid for
:data:`GRACE_LOOKS` looks, and no longer.
"""

from __future__ import annotations

import logging
from pathlib import Path

from live.errors import ConfigError
from live.publish.access.tokens import Tokens, read_tokens

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
