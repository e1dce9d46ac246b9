"""When to ask a source again, and when not to. Pure.

A session with a source ends in one of three ways: it is over, it is in
:class:`FeedTrouble` that time will mend (tried again after a growing wait), or in
trouble that looks permanent (``fatal``). The last ends only a run that nobody waits for
(``--once``, a look); else it is waited for too: a round that is not published yet, a
token that is being renewed.
"""

import os
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from live.errors import FeedError, FeedNotFound, FeedUnreadable

#: "In most cases one minute" (lichess API documentation, rate limiting), which sends no
#: ``Retry-After``.
TOO_MANY_S = 60.0
#: A ``Retry-After`` beyond this is not believed.
PATIENCE_S = 3600.0


class FeedTrouble(Exception):
    """Why a session with a source ended before the source was over.

    ``reason`` is for people, lower case, without a full stop. ``wait_s`` is the least
    wait the source asks for. ``fatal`` is what to raise where nobody waits for the
    source to begin. ``status`` is that of an HTTP answer, 0 for other trouble.
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


def create_fatal_trouble(
    feed: str, problem: str, remedy: str, reason: str = ""
) -> FeedTrouble:
    """Return trouble that no wait mends; ``reason`` is ``the source`` and its problem
    where not given.
    """
    fatal = FeedUnreadable(feed, problem, remedy)
    return FeedTrouble(reason or f"the source {problem}", fatal=fatal)


class RefusedRequest(FeedTrouble):
    """The source takes offence at how it was asked, not at what was asked for or by
    whom.
    """


def read_retry_after_s(value: str | None, now: datetime) -> float | None:
    """Return the seconds that a ``Retry-After`` header asks for (RFC 9110, section
    10.2.3).

    Accepts seconds and HTTP dates; None when there is none or it says nothing that can
    be used. Never negative, never above :data:`PATIENCE_S`.
    """
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        # Long digit strings are refused by int() itself; ten digits are 300 years.
        return PATIENCE_S if len(text) > 10 else min(PATIENCE_S, float(int(text)))
    when = read_http_date(text)
    if when is None:
        return None
    return min(PATIENCE_S, max(0.0, (when - now).total_seconds()))


def read_http_date(text: str) -> datetime | None:
    """Return a date of HTTP; None for anything else."""
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def describe_os_error(error: OSError) -> str:
    """Return what the system says: ``Connection refused``. asyncio says which address
    it tried instead; that stands beside it already. Empty where nothing is said.
    """
    words = error.strerror or ""
    if error.errno and words.startswith("Connect call failed"):
        return os.strerror(error.errno)
    return words


def translate_status(
    feed: str, status: int, retry_after: str | None, now: datetime
) -> FeedTrouble | None:
    """Return what an HTTP answer means for the feed; None when it is one to read (2xx,
    304).
    """
    if 200 <= status < 300 or status == 304:
        return None
    kind, wait_s = FeedTrouble, 0.0
    fatal: FeedError | None = None
    asked_s = read_retry_after_s(retry_after, now)
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
        problem, wait_s = f"the source is in trouble itself ({status})", asked_s or 0.0
    else:
        problem = f"the source does not accept the request ({status})"
        kind, fatal = RefusedRequest, FeedUnreadable(feed, problem, "Check the address")
    return kind(problem, wait_s=wait_s, fatal=fatal, status=status)
