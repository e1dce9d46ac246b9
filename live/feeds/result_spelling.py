"""One table of the many ways in which sources write a result.

What reads a result and what judges whether a text is there to its end must know the same ones: else
a game that ends in a forfeit is never over, and its text never whole.
"""

from __future__ import annotations

import re
from itertools import product
from typing import Final

from live.events import Result

_POINTS: Final[dict[str, tuple[str, ...]]] = {
    "1": ("1", "1.0"),
    "0": ("0", "0.0"),
    "1/2": ("1/2", "½", "0.5", ".5"),
}
#: How a forfeit, or a draw agreed without play, is written, with ``/`` between as well.
_SIGNS: Final[dict[str, tuple[str, ...]]] = {"1": ("+",), "0": ("-",), "1/2": ("=",)}
_SCORES: Final[tuple[Result, ...]] = ("1-0", "0-1", "1/2-1/2", "0-0", "1/2-0", "0-1/2")
#: A forfeit is often marked after the point: ``1-0F``, ``1F-0F``, ``1-0 FF``.
_FORFEIT = re.compile(r"(?<=[01+-])\s*\(?(?:FF?|forfeit)\)?(?![A-Za-z])", re.IGNORECASE)


def _spelled(points: dict[str, tuple[str, ...]], signs: str) -> dict[str, Result]:
    found: dict[str, Result] = {}
    for score in _SCORES:
        white, _, black = score.partition("-")
        for one, sign, other in product(points[white], signs, points[black]):
            found[f"{one}{sign}{other}"] = score
    return found


_BY_SIGNS: Final = _spelled(_SIGNS, "-:/")
_SPELLINGS: Final[dict[str, Result]] = {
    "*": "*",
    "1/2": "1/2-1/2",
    "½": "1/2-1/2",
    **_spelled(_POINTS, "-:"),
    **_BY_SIGNS,
}
#: Words that say something else in movetext, castling or who stands better, unless the headers name
#: the same result or nothing was played.
_DOUBTFUL: Final = {"0-0", "½", *_BY_SIGNS}


def _as_written(word: str) -> set[str]:
    """A spelling with the dashes, decimal commas and marks of forfeit that it is found with."""
    dashed = {word.replace("-", dash) for dash in "-–−"} if word not in _BY_SIGNS else {word}
    points = {each for one in dashed for each in (one, one.replace(".", ","))}
    if word in ("1-0", "0-1", "0-0"):
        points |= {f"{one}F" for one in points} | {f"{one[0]}F{one[1:]}F" for one in points}
    return points


def _in_bytes(words: dict[str, Result]) -> dict[bytes, Result]:
    return {
        written.encode(charset): result
        for word, result in words.items()
        for written in _as_written(word)
        for charset in ("utf-8", "cp1252")
        if charset == "utf-8" or "−" not in written  # cp1252 has no minus sign
    }


#: Words of movetext that are results, in the charsets in which they are found.
RESULT_WORDS: Final = _in_bytes({w: r for w, r in _SPELLINGS.items() if w not in _DOUBTFUL})
#: Those that may mean something else.
DOUBTFUL_WORDS: Final = _in_bytes({w: r for w, r in _SPELLINGS.items() if w in _DOUBTFUL})


def read_result(text: str) -> Result:
    """The result that ``text`` (a ``Result`` tag, a field of another source) means, or ``*``.

    Understands ``½-½``, ``0.5-0.5``, ``1:0``, forfeits (``+/-``, ``+--``, ``-:+``, ``1-0F``), and
    ``1/2`` alone.
    """
    text = text.strip()[:24].replace(",", ".").replace("–", "-").replace("−", "-")
    text = "".join(_FORFEIT.sub("", text).split())
    found = _SPELLINGS.get(text)
    return found or _SPELLINGS.get(text.replace("½", "1/2"), "*")
