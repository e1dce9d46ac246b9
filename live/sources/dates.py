"""Conversion of dates as people write them to the PGN form ``2026.10.15``. No I/O."""

import re
from datetime import date

from live.sources.typography import normalise_text

_MOST_CHARS = 40

_OF_PGN = re.compile(r"\d{4}\.\d\d\.\d\d", re.ASCII)
_YEAR_FIRST = re.compile(r"(\d{4})([-./ ])(\d{1,2}|\?\?)(?:\2(\d{1,2}|\?\?))?(?!\d)")
_COMPACT = re.compile(r"(\d{4})(\d\d)(\d\d)(?!\d)")
_YEAR_LAST = re.compile(r"(\d{1,2})([-./])\s?(\d{1,2})\2\s?(\d{4})(?!\d)")


def read_date(text: str) -> str:
    """Return a date in PGN form, with ``??`` for unknown parts.

    An ambiguous (``05/06/2026``) or worded date is returned as written; a text without
    any digit is not a date and gives an empty text.
    """
    if _OF_PGN.fullmatch(text):
        return text
    text = normalise_text(text).strip()[:_MOST_CHARS]
    if not any(sign.isdigit() for sign in text):
        return ""
    return _read_numeric_date(text) or text


def _read_numeric_date(text: str) -> str:
    if match := _YEAR_FIRST.match(text):
        return _join_date(match[1], match[3], match[4] or "??")
    if match := _COMPACT.match(text):
        return _join_date(match[1], match[2], match[3])
    if match := _YEAR_LAST.match(text):
        first, sign, second, year = match.groups()
        if sign == "." or first == second or int(first) > 12:
            return _join_date(year, second, first)
        if int(second) > 12:
            return _join_date(year, first, second)
    return ""


def _join_date(year: str, month: str, day: str) -> str:
    """Return the date in PGN form; empty if there is no such day."""
    try:
        date(int(year), *(int(part) if part.isdigit() else 1 for part in (month, day)))
    except ValueError:
        return ""
    return f"{year}.{month.zfill(2)}.{day.zfill(2)}"
