"""Follows a text file with a game a line: ``White - Black: e4 e5 Nf3``."""

import time
from collections.abc import Iterator
from pathlib import Path


class Scoresheets:
    """A feed plugin. It may block: it has a process of its own."""

    def follow(self, address: str) -> Iterator[str]:
        """The games as PGN whenever the file has changed."""
        known = ""
        while True:
            text = Path(address).read_text(encoding="utf-8")
            if text != known:
                known = text
                yield "\n".join(game(line) for line in text.splitlines() if ":" in line)
            time.sleep(1)


def game(line: str) -> str:
    """One line of the file as PGN."""
    players, _, moves = line.partition(":")
    white, _, black = players.partition(" - ")
    head = f'[White "{white.strip()}"]\n[Black "{black.strip()}"]\n[Result "*"]\n'
    return f"{head}\n{moves.strip()} *\n"
