"""Conversion of dates as people write them to the PGN form ``2026.10.15``. No I/O."""

import re
import unicodedata
from datetime import date

from live.sources.typography import normalise_text

#: For each month, the beginnings of its names in the languages of the pages, without
#: accents.
_MONTHS = (
    "jan janv jän ene gen янв",
    "feb fev фев",
    "mar mars märz мар",
    "apr avr abr апр",
    "may mai mag маи мая",
    "jun juin giu июн",
    "jul juil lug июл",
    "aug aou ago авг",
    "sep set сен",
    "oct okt ott окт",
    "nov ноя",
    "dec dez dic дек",
)
#: Names of weekdays that begin like the name of a month.
_WEEKDAYS = re.compile(r"\b(?:mardi|martes|martedi|marte)\b")
_MOST_CHARS = 40

_OF_PGN = re.compile(r"\d{4}\.\d\d\.\d\d", re.ASCII)
_YEAR_FIRST = re.compile(r"(\d{4})([-./ ])(\d{1,2}|\?\?)(?:\2(\d{1,2}|\?\?))?(?!\d)")
_COMPACT = re.compile(r"(\d{4})(\d\d)(\d\d)(?!\d)")
_YEAR_LAST = re.compile(r"(\d{1,2})([-./])\s?(\d{1,2})\2\s?(\d{4})(?!\d)")
_NUMBERS = re.compile(r"(?<!\d)\d{1,2}(?!\d)")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_LETTERS = re.compile(r"[^\W\d_]+")


def convert_date_to_pgn(text: str) -> str:
    """Return a date in PGN form, with ``??`` for unknown parts.

    An ambiguous (``05/06/2026``) or unreadable date is returned as written; a text
    without any digit is not a date and gives an empty text.
    """
    if _OF_PGN.fullmatch(text):
        return text
    text = normalise_text(text).strip()[:_MOST_CHARS]
    if not any(sign.isdigit() for sign in text):
        return ""
    return _read_numeric_date(text) or _read_worded_date(text) or text


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


def _read_worded_date(text: str) -> str:
    """Return the PGN form of a date such as ``Oct 15, 2026`` or ``15 de octubre de
    2026``; empty if the text has no unique date.
    """
    folded = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(sign for sign in folded if not unicodedata.combining(sign))
    bare = _WEEKDAYS.sub("", unicodedata.normalize("NFC", bare))
    months = {
        month for word in _LETTERS.findall(bare) if (month := _month_number(word))
    }
    years = {*_YEAR.findall(bare)}
    days = {*_NUMBERS.findall(re.sub(r"\d{1,2}:\d\d(?::\d\d)?", "", bare))}
    if len(months) != 1 or len(years) != 1 or len(days) > 1:
        return ""
    return _join_date(years.pop(), str(months.pop()), days.pop() if days else "??")


def _month_number(word: str) -> int:
    for number, beginnings in enumerate(_MONTHS, 1):
        if any(word.startswith(beginning) for beginning in beginnings.split()):
            return number
    return 0


def _join_date(year: str, month: str, day: str) -> str:
    """Return the date in PGN form; empty if there is no such day."""
    try:
        date(int(year), *(int(part) if part.isdigit() else 1 for part in (month, day)))
    except ValueError:
        return ""
    return f"{year}.{month.zfill(2)}.{day.zfill(2)}"
