"""Errors of sources, and the time until a source is asked again. No I/O.

A session with a source ends in one of three ways: the source has ended; it is in
temporary :class:`FeedTrouble`, and is tried again after a growing wait; or the trouble
looks permanent (``fatal``). Permanent trouble ends the run only if nobody waits for the
source (``--once``, or a probe). Otherwise the source is tried again: a round might not
be published yet, or a token might be about to be renewed.
"""

import os
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from live.errors import FeedError, FeedNotFound, FeedUnreadable

#: Wait after status 429 without ``Retry-After``, seconds. lichess sends none; its API
#: documentation (rate limiting) asks for one minute "in most cases".
TOO_MANY_S = 60.0
#: Longest ``Retry-After`` that is obeyed, seconds.
PATIENCE_S = 3600.0


class FeedTrouble(Exception):
    """Reason why a session with a source ended before the source did.

    ``reason`` is for people, in lower case, without a full stop. ``wait_s`` is the
    shortest wait that the source asks for, seconds. ``fatal`` is the error to raise if
    nobody waits for the source; None if the trouble is temporary. ``status`` is that of
    an HTTP answer, 0 for other trouble.
    """

    def __init__(
        self,
        reason: str,
        *,
        wait_s: float = 0.0,
        fatal: FeedError | None = None,
        status: int = 0,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait_s = wait_s
        self.fatal = fatal
        self.status = status


def create_permanent_trouble(
    feed: str, problem: str, remedy: str, reason: str = ""
) -> FeedTrouble:
    """Return permanent trouble, which ends the run only before the first report of a
    source that nobody waits for. ``reason`` defaults to ``the source`` and the problem.
    """
    fatal = FeedUnreadable(feed, problem, remedy)
    return FeedTrouble(reason or f"the source {problem}", fatal=fatal)


class RefusedRequest(FeedTrouble):
    """Raised if the source rejects the form of the request, not its target or
    sender.
    """


def read_capped_retry_after_s(value: str | None, now: datetime) -> float | None:
    """Return the seconds that a ``Retry-After`` header asks for (RFC 9110, section
    10.2.3), at least 0 and at most :data:`PATIENCE_S`.

    Accepts seconds and HTTP dates; returns None if there is no header or it cannot be
    read.
    """
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        # int() refuses long strings of digits; ten digits are already 300 years.
        return PATIENCE_S if len(text) > 10 else min(PATIENCE_S, float(int(text)))
    date = read_http_date(text)
    if date is None:
        return None
    return min(PATIENCE_S, max(0.0, (date - now).total_seconds()))


def read_http_date(text: str) -> datetime | None:
    """Return the time in an HTTP date; None for other texts."""
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def describe_os_error(error: OSError) -> str:
    """Return the operating system's description of an error, such as ``Connection
    refused``; empty if there is none. asyncio's description with the address is
    replaced, since the address is shown next to it anyway.
    """
    words = error.strerror or ""
    if error.errno and words.startswith("Connect call failed"):
        return os.strerror(error.errno)
    return words


def translate_status(
    feed: str, status: int, retry_after: str | None, now: datetime
) -> FeedTrouble | None:
    """Return the trouble that an HTTP status means for the source; None if the answer
    should be read (2xx, 304).
    """
    if 200 <= status < 300 or status == 304:
        return None
    kind, wait_s = FeedTrouble, 0.0
    fatal: FeedError | None = None
    asked_s = read_capped_retry_after_s(retry_after, now)
    if status in (404, 410):
        problem = f"the source has nothing there ({status})"
        fatal = FeedNotFound(feed, problem, "Check the address")
    elif status in (401, 403):
        problem = f"the source refuses access ({status})"
        remedy = "Give it the token or password it asks for, or ask its owner"
        fatal = FeedUnreadable(feed, problem, remedy)
    elif status == 429:
        problem = "the source asks for fewer requests (429)"
        wait_s = TOO_MANY_S if asked_s is None else asked_s
    elif status in (408, 425) or status >= 500:
        problem, wait_s = (
            f"the source reports a fault of its own ({status})",
            asked_s or 0.0,
        )
    else:
        problem = f"the source does not accept the request ({status})"
        kind, fatal = RefusedRequest, FeedUnreadable(feed, problem, "Check the address")
    return kind(problem, wait_s=wait_s, fatal=fatal, status=status)
