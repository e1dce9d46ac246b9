"""Text by the cells it takes on a terminal: cut, padded, set side by side. Pure.

A line is a rich ``Text``, a panel a list of lines; a panel of width w has no line wider than w.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.text import Text

#: Unicode categories that move the cursor, turn the line or show nothing: control, format,
#: surrogate, private, unassigned, line and paragraph separators.
_NO_TEXT = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
#: Stands for pictures on whose width terminals disagree: emoji, flags, skin tones.
_PICTURE = "□"
#: Marks over or under one letter; more are no writing, they are paint over other lines.
_MARKS = 2
#: Characters of a hostile text looked at for each cell that is shown.
_LOOK = 8


def plain(text: str, width: int | None = None) -> str:
    """Feed text made safe for a terminal: no control, escape or direction characters, nothing
    whose width is a matter of opinion; cut to ``width`` cells with an ellipsis.
    """
    if text.isascii() and text.isprintable():
        return text if width is None else fit(text, width)
    if width is not None:
        text = text[: _LOOK * width + _LOOK]
    kept: list[str] = []
    marks = 0
    for char in unicodedata.normalize("NFC", text):
        category = unicodedata.category(char)
        if category in _NO_TEXT:
            continue
        if category in ("Mn", "Me"):
            marks += 1
            # U+FE00 to U+FE0F choose between text and picture, and with that the width.
            if marks > _MARKS or not kept or "\ufe00" <= char <= "\ufe0f":
                continue
        else:
            marks = 0
        kept.append(_PICTURE if _pictorial(char, category) else char)
    safe = "".join(kept)
    return safe if width is None else fit(safe, width)


def _pictorial(char: str, category: str) -> bool:
    if category in ("So", "Sk"):
        return char > "\uffff" or unicodedata.east_asian_width(char) == "W"
    return "\u1160" <= char <= "\u11ff"  # parts of a Korean syllable that found no whole


def fit(text: str, width: int) -> str:
    """At most ``width`` cells, with an ellipsis where something is cut."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + "…" if width > 0 else ""


def left(text: str, width: int) -> str:
    """Exactly ``width`` cells, set to the left."""
    return set_cell_size(fit(text, width), width)


def right(text: str, width: int) -> str:
    """Exactly ``width`` cells, set to the right."""
    shown = fit(text, width)
    return " " * (width - cell_len(shown)) + shown


def styled(text: str, style: str = "") -> Text:
    """A line that begins with ``text``. Its style ends where the text ends: what is appended has
    its own.
    """
    line = Text(no_wrap=True)
    line.append(text, style)
    return line


def widened(line: Text, width: int) -> Text:
    """A copy of exactly ``width`` cells."""
    if width <= 0:
        return Text()
    own = line.copy()
    if own.cell_len > width:
        own.truncate(width, overflow="ellipsis")
    own.append(" " * (width - own.cell_len))
    return own


def counted(number: int, thing: str) -> str:
    """``1 board``, ``2 boards``."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def beside(parts: Sequence[tuple[Sequence[Text], int]], gap: int = 2) -> list[Text]:
    """Panels (lines, width) side by side; as high as the highest."""
    height = max((len(lines) for lines, _ in parts), default=0)
    rows = []
    for row in range(height):
        line = Text(no_wrap=True)
        for index, (lines, width) in enumerate(parts):
            if index:
                line.append(" " * gap)
            line.append_text(widened(lines[row] if row < len(lines) else Text(), width))
        rows.append(line)
    return rows


def window(number: int, cursor: int, height: int, first: int = 0) -> int:
    """Index of the first of ``number`` lines to show in ``height`` so that ``cursor`` is seen,
    moving as little as possible from ``first``.
    """
    first = min(first, cursor)
    first = max(first, cursor - height + 1)
    return max(0, min(first, number - height))
