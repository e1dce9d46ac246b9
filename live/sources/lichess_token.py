"""A lichess token, read again for each connection, and explanations of refused
requests.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from live.errors import ConfigError, FeedUnreadable
from live.messages.values import FeedName
from live.sources.retry import FeedTrouble
from live.user_files import read_regular

ENV_TOKEN = "LICHESS_TOKEN"
#: Form of a token (lichess API documentation, authentication).
_TOKEN = re.compile(r"[A-Za-z0-9_]+")
GET_ONE = (
    f"put one with study:read into {ENV_TOKEN} or the file of [feeds.lichess]"
    " token_file; it is made at https://lichess.org/account/oauth/token"
)


class LichessToken:
    """A token from the environment or a file. It is read again for every connection, so
    that a renewed token needs no restart.

    Raises:
        ConfigError: the file cannot be read, or its text is not a token. The error
            never contains the text.
    """

    def __init__(self, token_file: str, *, sent: bool = True) -> None:
        """Create the token. ``sent`` is false for servers that must not get it."""
        self._file = token_file
        self._sent = sent
        self._last = self._read_token() if sent else ""

    def auth_headers(self) -> dict[str, str]:
        """Return the header ``Authorization``, or nothing if there is no token."""
        if self._sent:
            # While the file is being written it cannot be read: the last token might
            # still be valid.
            with suppress(ConfigError):
                self._last = self._read_token()
        return {"Authorization": f"Bearer {self._last}"} if self._last else {}

    def _read_token(self) -> str:
        setting, token = (
            f"environment: {ENV_TOKEN}",
            os.environ.get(ENV_TOKEN, "").strip(),
        )
        if self._file:
            setting = f"feeds.lichess.token_file {self._file}"
            try:
                token = read_regular(Path(self._file).expanduser()).decode().strip()
            except (OSError, UnicodeDecodeError) as error:
                reason = error.strerror if isinstance(error, OSError) else "not text"
                raise ConfigError(
                    setting, f"cannot be read ({reason})", "Correct the path"
                ) from None
        if token and not _TOKEN.fullmatch(token):
            raise ConfigError(
                setting, "does not hold a lichess token", "It begins with lip_"
            )
        return token

    @contextmanager
    def explain_refusal(self, feed: FeedName) -> Iterator[None]:
        """Add an explanation that concerns the token to errors of the block with status
        401, 403 or 429.

        Since August 2026 every request for a broadcast needs a token (lila pull request
        21283).
        """
        try:
            yield
        except FeedTrouble as trouble:
            if trouble.status in (401, 403):
                expired = "the token has expired or may not read this"
                cause = expired if self._last else "it requires a token"
                reason = f"lichess refuses access ({trouble.status}): {cause}"
                trouble.fatal = FeedUnreadable(feed, reason, f"P{GET_ONE[1:]}")
                trouble.reason = f"{reason}; {GET_ONE}"
            elif trouble.status == 429 and not self._last:
                trouble.reason += f"; with a token it allows more requests: {GET_ONE}"
            raise
