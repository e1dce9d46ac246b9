from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.errors import FeedNotFound, FeedUnreadable
from live.feeds.retry import (
    CAP_S,
    PATIENCE_S,
    TOO_MANY_S,
    backoff,
    retry_after_s,
    spoken,
    trouble_of_status,
)

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@given(st.floats(0, 1, exclude_max=True))
def test_waits_are_capped_and_grow_after_a_random_first_one(chance: float) -> None:
    waits = list(islice(backoff(lambda: chance), 12))
    assert waits[0] == chance * 2
    assert waits[1:] == sorted(waits[1:])
    assert waits[1:6] == [2, 4, 8, 16, 32]
    assert max(waits) == CAP_S


def test_chance_is_asked_for_each_reconnect_so_that_clients_spread() -> None:
    chances = iter([0.1, 0.9])
    assert [next(backoff(lambda: next(chances))) for _ in range(2)] == [0.2, 1.8]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("120", 120.0),
        (" 5 ", 5.0),
        ("0", 0.0),
        ("999999", PATIENCE_S),
        ("9" * 5000, PATIENCE_S),
        ("-3", None),
        ("soon", None),
        ("", None),
        ("²", None),
        (format_datetime(NOW + timedelta(seconds=90), usegmt=True), 90.0),
        (format_datetime(NOW - timedelta(days=1), usegmt=True), 0.0),
        ("Sat, 21 Nov 2026 12:00:30", 30.0),
        ("Sat, 99 Nov 2026 12:00:30 GMT", None),
    ],
)
def test_retry_after_in_all_its_forms(value: str | None, seconds: float | None) -> None:
    assert retry_after_s(value, NOW) == seconds


@pytest.mark.slow
@given(st.text())
def test_retry_after_never_raises_and_never_asks_for_the_past(value: str) -> None:
    seconds = retry_after_s(value, NOW)
    assert seconds is None or 0 <= seconds <= PATIENCE_S


@pytest.mark.parametrize(
    ("statuses", "fatal"),
    [
        ((404, 410), FeedNotFound),
        ((401, 403, 400, 302), FeedUnreadable),
        ((408, 425, 429, 500, 502, 503, 504), type(None)),  # what time may mend
    ],
)
def test_what_looks_permanent_is_fatal_where_nobody_waits(
    statuses: tuple[int, ...], fatal: type[Exception | None]
) -> None:
    for status in statuses:
        trouble = trouble_of_status("feed", status, None, NOW)
        assert trouble is not None and trouble.status == status
        assert type(trouble.fatal) is fatal and str(status) in trouble.reason
        # How long to wait is the session's own: a source that is not there yet is asked again soon.
        assert trouble.wait_s == (TOO_MANY_S if status == 429 else 0)


def test_a_server_is_given_the_time_it_asks_for_and_answers_are_read() -> None:
    for status in (429, 503):
        trouble = trouble_of_status("feed", status, "7", NOW)
        assert trouble is not None and trouble.wait_s == 7
    assert not any(trouble_of_status("feed", status, None, NOW) for status in (200, 204, 206, 304))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "1 s"), (4.4, "4 s"), (89, "89 s"), (360, "6 min"), (7200, "2 h")],
)
def test_times_as_people_say_them(seconds: float, words: str) -> None:
    assert spoken(seconds) == words
