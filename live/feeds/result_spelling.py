"""One spelling for the many ways in which sources write a result."""

from __future__ import annotations

import re
from typing import Final

from live.events import Result

#: Result words that may stand in movetext. ``0-0`` is not among them: there it is castling.
TOKENS: Final[dict[str, Result]] = {
    "*": "*",
    "1-0": "1-0",
    "0-1": "0-1",
    "1/2-1/2": "1/2-1/2",
    "1/2-0": "1/2-0",
    "0-1/2": "0-1/2",
    "½-½": "1/2-1/2",
    "½-0": "1/2-0",
    "0-½": "0-1/2",
    "0.5-0.5": "1/2-1/2",
    ".5-.5": "1/2-1/2",
    "0,5-0,5": "1/2-1/2",
    "1.0-0.0": "1-0",
    "0.0-1.0": "0-1",
    "1:0": "1-0",
    "0:1": "0-1",
    "½:½": "1/2-1/2",
    "1/2:1/2": "1/2-1/2",
    "1/2": "1/2-1/2",
}

_POINTS: Final[dict[str, str]] = {
    "1": "1",
    "1.0": "1",
    "+": "1",
    "0": "0",
    "0.0": "0",
    "-": "0",
    "1/2": "1/2",
    "0.5": "1/2",
    ".5": "1/2",
    "=": "1/2",
}
_SCORES: Final[dict[str, Result]] = {
    "1-0": "1-0",
    "0-1": "0-1",
    "1/2-1/2": "1/2-1/2",
    "0-0": "0-0",
    "1/2-0": "1/2-0",
    "0-1/2": "0-1/2",
}
_SIDES = re.compile(r"([^\s:-]+|[+-])\s*[:-]\s*([^\s:-]+|[+-])\Z")
#: A forfeit is often marked after the point: ``1-0F``, ``1F-0F``, ``1-0 FF``.
_FORFEIT = re.compile(r"(?<=[01])\s*FF?\b", re.IGNORECASE)


def read_result(text: str) -> Result:
    """The result that ``text`` (a ``Result`` tag, a field of another source) means, or ``*``.

    Understands ``½-½``, ``0.5-0.5``, ``1:0``, forfeits (``+--``, ``-:+``, ``1-0F``), and
    ``1/2`` alone.
    """
    text = text.strip()
    token = TOKENS.get(text)
    if token is not None:
        return token
    text = text[:24].replace("½", "1/2").replace(",", ".").replace("–", "-").replace("−", "-")
    sides = _SIDES.match(_FORFEIT.sub("", text))
    if sides is None:
        return TOKENS.get(text, "*")
    white, black = (_POINTS.get(side) for side in sides.groups())
    return _SCORES.get(f"{white}-{black}", "*")
