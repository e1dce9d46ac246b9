"""What the lines of PGN look like, and what is made of them: the text of one game."""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

INDENT = rb"(?:\xef\xbb\xbf|[ \t])*+"
HEADER_LINES = re.compile(rb"(?:" + INDENT + rb"(?:[\[%;][^\n]*+)?\n)*+")
HEADER_START = re.compile(INDENT + rb"[\[%;]")
BLANK_LINES = re.compile(rb"(?:" + INDENT + rb"\n)*+")
TAG_LINE = re.compile(INDENT + rb'\[[ \t]*+[A-Za-z0-9][^\n"]*+"')
EVENT_LINE = re.compile(INDENT + rb"\[[ \t]*+Event\b")
#: A line end worth a look: behind what ends a result, before a bracket, before an escaped line.
STOP = re.compile(
    rb"\n(?:(?<=[*\xbd \t]\n)|(?<=[-:/.,][0125]\n)|%|" + INDENT + rb"\[[ \t]*+[A-Za-z0-9])"
)
RESULT_END = re.compile(
    rb"(?<![^\s})])(?:1-0|0-1|1/2-(?:1/2|0)|0-1/2|\*|(?:\xc2?\xbd|0)[-:]\xc2?\xbd|\xc2?\xbd[-:]0"
    rb"|1:0|0:1|1/2:1/2|0?[.,]5-0?[.,]5|1\.0-0\.0|0\.0-1\.0)[ \t]*+\Z"
)
RESULT_END_BYTES = 40
FIRST_MOVE = re.compile(rb"[ \t]*+1(?:\.(?!\.)|[ \t])")
#: Lines looked at in one step. Many games in one buffer must not each look at all the others.
STEP_BYTES = 8192
MOVE_LIKE = re.compile(rb"\d\s*+\.|[a-h][1-8]|O-O|\*|\d-\d")
NEXT_TAG = re.compile(rb"\n" + INDENT + rb"\[[ \t]*+[A-Za-z0-9]")
NEXT_EVENT = re.compile(rb"\n" + INDENT + rb"\[[ \t]*+Event[ \t]")
#: Comments and escapes, for text in which line comments occur.
COMMENTS = re.compile(rb"\{[^}]*+(\})?|;[^\n]*+(\n?)|^%[^\n]*+(\n?)", re.MULTILINE)


class LineEnd(Enum):
    """How a game's text came to its end."""

    WHOLE = "whole"
    """A result, or the next game, followed."""
    CUT = "cut"
    """The input ended; its last word may be half a word."""
    TOO_LONG = "too long"
    """The rest was left out: the game passed the bound."""


class PgnSegment(NamedTuple):
    """The text of one game."""

    header: bytes
    movetext: bytes
    end: LineEnd
