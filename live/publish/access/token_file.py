"""The file of tokens on disk, read again whenever it changes: that is how a token is withdrawn."""

from __future__ import annotations

import logging
from pathlib import Path

from live.errors import ConfigError
from live.publish.access.tokens import Tokens, read_tokens

_log = logging.getLogger(__name__)

_Stamp = tuple[int, int, int]


class TokenFile:
    """One file, with what it said last."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._stamp: _Stamp | None = None

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
        """The tokens where the file says something new; null where it says the same.

        A file that cannot be used any more changes nothing: it may be half written. That is
        logged once.
        """
        stamp = self._seen()
        if stamp == self._stamp:
            return None
        try:
            return self.read()
        except ConfigError as error:
            _log.error("%s; the tokens read before stay valid", error)
            return None

    def _seen(self) -> _Stamp | None:
        try:
            stat = self._path.stat()
        except OSError:
            return None
        return stat.st_mtime_ns, stat.st_size, stat.st_ino
