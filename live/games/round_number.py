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
