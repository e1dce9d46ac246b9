"""Which round a game is of, whatever way its source writes that. Pure."""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = r"(?:round|rnd|rd|r|runde|ronde|ronda|rodada|turno|tour|kolo|runda|kierros)"
_BOARD: Final = r"(?:\.\d+)*(?:[\s,;/|-]*(?:board|bd|table|brett|tafel)\.?\s*\d+)?"
_ROUND = re.compile(
    rf"(?:{_WORD}\s*[.:#-]?\s*|#)?0*+(\d{{1,3}}){_BOARD}"
    rf"|0*+(\d{{1,3}})\s*(?:\.|st|nd|rd|th|e|ª|ème)?\s*{_WORD}",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\d((?:\.\d+)+)")

#: Sorts rounds, and what stands in them: numbers as numbers, after words.
RoundPlace = tuple[tuple[int, str], ...]


def round_of(text: str) -> int | None:
    """The number of the round that ``text`` (a ``Round`` tag, a setting) names.

    ``8``, ``08``, ``Round 8``, ``8th round`` and, as sources write boards and matches into rounds,
    ``8.2`` and ``08.5`` are 8. None where no single round is clear: nothing, ``?``, ``Final``,
    ``2-4``, ``1/8``, 0.

    >>> round_of("Round 08.5")
    8
    """
    found = _ROUND.fullmatch(text[:80].strip())
    return int(found[1] or found[2]) or None if found is not None else None


def main_round(text: str) -> str:
    """One name for one round: ``4`` of ``4.12``, ``04`` and ``Round 4``, or what stands before a
    point where no number is clear.
    """
    number = round_of(text)
    return text.partition(".")[0] if number is None else str(number)


def round_place(text: str, board: int | None) -> RoundPlace:
    """Round and place in it, for sorting: ``7.2`` stands between boards 1 and 3 of round ``7``.

    Args:
        text: the round as the source writes it, perhaps with match and board.
        board: the board's number where it is known.
    """
    if round_of(text) is None:
        parts = text.split(".")
    else:
        inner = _PLACE.search(text)
        parts = [main_round(text), *(inner[1].split(".")[1:] if inner is not None else ())]
    place = tuple((int(part), "") if _is_short(part) else (-1, part) for part in parts)
    return place if len(place) > 1 else (*place, (1 << 30 if board is None else board, ""))


def _is_short(part: str) -> bool:
    return part.isascii() and part.isdigit() and len(part) < 10
