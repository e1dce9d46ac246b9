"""Colours by what they mean. No meaning stands in colour alone: a sign or a word stands beside it.

``signal`` is for eyes that do not distinguish red from green (colours after Okabe and Ito 2008,
"Color Universal Design"); ``plain`` uses no colour at all, only what a terminal of 1980 could do.
"""

from __future__ import annotations

import msgspec


class Palette(msgspec.Struct, frozen=True):
    """Rich styles; an empty one is the terminal's own. Without colours it is ``plain``."""

    name: str = "plain"
    dark: bool = True
    ground: str = ""
    """Background as ``#rrggbb``; empty leaves the terminal's."""
    text: str = ""
    dim: str = "dim"
    head: str = "bold"
    """Title line and column heads."""
    strong: str = "bold"
    accent: str = "bold"
    good: str = ""
    warn: str = "bold"
    bad: str = "bold underline"
    changed: str = "bold reverse"
    """What has just changed, beside the sign ``•``."""
    cursor: str = "reverse"
    white: str = "bold"
    """White's share of a graph."""
    black: str = ""
    band: str = "dim"
    """What is usual, or the 95 % interval, around a curve."""
    light_square: str = ""
    dark_square: str = ""
    last_move: str = "underline"
    """The squares of the last move."""
    white_piece: str = "bold"
    black_piece: str = ""


PLAIN = Palette()
DUSK = Palette(
    name="dusk",
    dark=True,
    ground="#15181d",
    text="#d7dae0",
    dim="#8a919e",
    head="bold #9ecbff",
    strong="bold #ffffff",
    accent="#7fd1c7",
    good="#8fd18a",
    warn="#f0c36a",
    bad="bold #ff8b80",
    changed="bold #15181d on #f0c36a",
    cursor="on #2f3b4e",
    white="#f2efe6",
    black="#6f9bd1",
    band="#56627a",
    light_square="on #a58b6a",
    dark_square="on #7d6448",
    last_move="on #8f9a3c",
    white_piece="bold #ffffff",
    black_piece="#101010",
)
PAPER = Palette(
    name="paper",
    dark=False,
    ground="#fbfaf6",
    text="#23272e",
    dim="#686f7a",
    head="bold #1b4f8a",
    strong="bold #000000",
    accent="#0d6e63",
    good="#1c6b22",
    warn="#8a5a00",
    bad="bold #b3261e",
    changed="bold #23272e on #ffd75e",
    cursor="on #d5e3f5",
    white="#b07d2b",
    black="#2f5d94",
    band="#b9c3d3",
    light_square="on #e3cfae",
    dark_square="on #b58d62",
    last_move="on #cdd26a",
    white_piece="bold #ffffff",
    black_piece="#101010",
)
SIGNAL = msgspec.structs.replace(
    DUSK,
    name="signal",
    good="#56b4e9",
    warn="#f0e442",
    bad="bold #e69f00",
    changed="bold #000000 on #f0e442",
    white="#e69f00",
    black="#56b4e9",
    accent="#cc79a7",
)
PALETTES = {each.name: each for each in (DUSK, PAPER, SIGNAL, PLAIN)}
