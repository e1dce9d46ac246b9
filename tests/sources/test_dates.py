"""Recognition of dates in many forms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.sources.dates import convert_date_to_pgn
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
    "Oct 5, 2026",
    "Mon Oct 05 2026",
    "5 October 2026",
    "5th of October, 2026",
    "05-Oct-2026",
    "5. Oktober 2026",
    "Montag, 5. Okt. 2026",
    "5 octobre 2026",
    "lundi 5 octobre 2026",
    "5 de octubre de 2026",
    "lunes 5 octubre 2026",
    "5 ottobre 2026",
    "5 октября 2026 г.",
    "Mon Oct 05 14:30:59 2026",
]


@pytest.mark.parametrize("text", SAME_DAY)
def test_a_date_has_one_form(text: str) -> None:
    assert convert_date_to_pgn(text) == "2026.10.05"


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("1. März 2026", "2026.03.01"),
        ("martes 3 de marzo de 2026", "2026.03.03"),
        ("3 juin 2026", "2026.06.03"),
        ("3 juillet 2026", "2026.07.03"),
        ("14 août 2026", "2026.08.14"),
        ("9 мая 2026", "2026.05.09"),
        ("9 май 2026", "2026.05.09"),
        ("25/12/2026", "2026.12.25"),
        ("12/25/2026", "2026.12.25"),
        ("May 2026", "2026.05.??"),
        ("2026.10.??", "2026.10.??"),
        ("2026.??.??", "2026.??.??"),
        ("2026", "2026"),
        # The order of day and month is unclear, so the text is left as it is.
        ("05/06/2026", "05/06/2026"),
        ("2026.13.45", "2026.13.45"),
        ("30 February 2026", "30 February 2026"),
        ("3 May or 4 June 2026", "3 May or 4 June 2026"),
        ("round 3", "round 3"),
        ("????.??.??", ""),
        ("", ""),
        ("today", ""),
    ],
)
def test_what_is_unknown_stays(text: str, date: str) -> None:
    assert convert_date_to_pgn(text) == date


def test_headers_have_dates() -> None:
    assert read_head(b'[Date "Sun Jul 09 2023"]').headers.date == "2023.07.09"
    assert read_head(b'[Date "?"]\n[UTCDate "2023-07-09"]').headers.date == "2023.07.09"


@given(st.text())
def test_no_date_is_too_odd(text: str) -> None:
    once = convert_date_to_pgn(text)
    assert len(once) <= 40
    assert convert_date_to_pgn(once) == once or not once.isascii()
