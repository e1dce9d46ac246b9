"""Recognition of dates in many forms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.sources.dates import read_date
from live.sources.pgn_headers import read_head

SAME_DAY = [
    "2026.10.05",
    "2026-10-05",
    "2026/10/05",
    "2026.10.5",
    "20261005",
    "2026-10-05T12:30:00Z",
    "2026.10.05 14:30",
    "5.10.2026",
    "05.10.2026",
    "2026–10–05",
    "2026.10.05-06",
]


@pytest.mark.parametrize("text", SAME_DAY)
def test_a_date_has_one_form(text: str) -> None:
    assert read_date(text) == "2026.10.05"


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("25/12/2026", "2026.12.25"),
        ("12/25/2026", "2026.12.25"),
        ("Oct 15, 2026", "Oct 15, 2026"),
        ("2026.10.??", "2026.10.??"),
        ("2026.??.??", "2026.??.??"),
        ("2026", "2026"),
        # The order of day and month is unclear, so the text is left as it is.
        ("05/06/2026", "05/06/2026"),
        ("2026.13.45", "2026.13.45"),
        ("round 3", "round 3"),
        ("????.??.??", ""),
        ("", ""),
        ("today", ""),
    ],
)
def test_what_is_unknown_stays(text: str, date: str) -> None:
    assert read_date(text) == date


def test_headers_have_dates() -> None:
    assert read_head(b'[Date "Sun Jul 09 2023"]').headers.date == "Sun Jul 09 2023"
    assert read_head(b'[Date "?"]\n[UTCDate "2023-07-09"]').headers.date == "2023.07.09"


@given(st.text())
def test_no_date_is_too_odd(text: str) -> None:
    once = read_date(text)
    assert len(once) <= 40
    assert read_date(once) == once or not once.isascii()
