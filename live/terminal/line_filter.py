"""``/``: which lines are listed. Pure.

Words in any order, all of which must be found; accents and case do not matter; ``!word`` must not
be found; a number is also a board's number.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from live.terminal.boards.board_row import BoardRow

#: Longest filter taken, characters.
MAX_CHARS = 200


def bare(text: str) -> str:
    """Small letters without accents."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in apart if not unicodedata.combining(char))


def matcher(query: str) -> Callable[[str, int | None], bool]:
    """A function that takes a line's text and its board number, if it has one."""
    words = bare(query[:MAX_CHARS]).split()
    wanted = [word for word in words if not word.startswith("!")]
    unwanted = [word[1:] for word in words if word.startswith("!") and len(word) > 1]

    def matches(text: str, board: int | None) -> bool:
        line = bare(text)

        def found(word: str) -> bool:
            if word.isdecimal():
                return board == int(word) or any(part == word for part in line.split())
            return word in line

        return all(map(found, wanted)) and not any(map(found, unwanted))

    return matches


def board_text(row: BoardRow) -> str:
    """What a board's filter looks at."""
    return " ".join(
        (
            row.event,
            row.round,
            row.white.title,
            row.white.name,
            row.black.title,
            row.black.name,
            "running" if row.running else f"finished {row.result}",
            row.problem,
        )
    )
