"""Readers of commands inside PGN comments: ``[%clk]``, ``[%emt]``, ``[%eval]``. No I/O.

The commands are defined by the "PGN specification and implementation supplement"
(Cowderoy, 2001); ``%eval`` is read as lichess and python-chess write it. Programs
differ: DGT LiveChess pads numbers with zeros, puts each command into its own braces and
wraps lines inside a command; other programs omit the seconds.
"""

import re
from typing import NamedTuple

from live.messages.from_sources import MATE_CP, Score

_COMMAND = re.compile(rb"\[%\s*+(clk|emt|eval)\s++([^\[\]]*+)\]")
_TIME = re.compile(rb"(\d{1,6}+)(?::(\d{1,2}+))?(?::(\d{1,2}+))?(\.\d*+)?\Z")
_EVAL = re.compile(
    rb"(?:(?:#|M|#M)([+-]?)(\d{1,4}+)|([+-]?(?:\d{1,7}+(?:\.\d*+)?|\.\d++)))(?:[,/]\s*+\d++)?\Z"
)
#: A comment that consists only of a clock time, as ICC writes it.
_BARE_CLOCK = re.compile(rb"\s*+\(?(\d{1,2}:\d\d(?::\d\d(?:\.\d++)?)?)\)?\s*+\Z")


class Unsure(NamedTuple):
    """Ambiguities of one comment, which the rest of the game might resolve."""

    is_short: bool = False
    """Whether the clock has two parts, which were read as hours and minutes."""
    is_minutes: bool = False
    """Whether the clock has two parts that can only be minutes and seconds."""
    whole_pawns: int | None = None
    """The evaluation, if it was written without a fraction; it was read as pawns."""
    has_depth: bool = False
    """Whether a search depth followed the evaluation."""


class CommentValues(NamedTuple):
    """Values in one comment about the move before it."""

    clock_s: float | None = None
    spent_s: float | None = None
    eval: Score | None = None
    unsure: Unsure | None = None


def read_comment(comment: bytes, white_moved: bool) -> CommentValues | None:
    """Return the values of the commands in one comment (the text between its braces),
    or None if it has no readable command.

    ``white_moved`` tells whether White made the move before the comment, which is
    needed for ``[%eval #0]`` (mated). Of several commands of one kind the first
    readable one counts.
    """
    clock_s = spent_s = score = unsure = None
    for name, text in _COMMAND.findall(comment):
        text = text.strip()
        if name == b"clk" and clock_s is None:
            clock_s = read_time_s(text)
            if clock_s is not None and text.count(b":") == 1:
                is_minutes = b"." in text
                unsure = (unsure or Unsure())._replace(
                    is_short=not is_minutes, is_minutes=is_minutes
                )
        elif name == b"emt" and spent_s is None:
            spent_s = read_time_s(text, short_is_minutes=True)
        elif name == b"eval" and score is None:
            score = read_eval(text, white_moved=white_moved)
            if score is not None and score.mate is None and b"." not in text:
                pawns, comma, _ = text.replace(b"/", b",").partition(b",")
                unsure = (unsure or Unsure())._replace(
                    whole_pawns=int(pawns), has_depth=comma != b""
                )
    if clock_s is None and spent_s is None and score is None:
        return None
    return CommentValues(clock_s, spent_s, score, unsure)


def find_bare_clock(comment: bytes) -> bytes | None:
    """Return the time in a comment that consists only of a time (``0:04:57``), or None
    for other comments.
    """
    match = _BARE_CLOCK.match(comment)
    return None if match is None else match[1]


def read_time_s(text: bytes, *, short_is_minutes: bool = False) -> float | None:
    """Return the seconds for ``h:m:s``, ``h:m:s.f``, ``h:m`` or plain seconds, or None
    for other texts.

    Two parts are hours and minutes, as on a clock. They are minutes and seconds if they
    have a fraction or if ``short_is_minutes`` is set. It is set for the time spent on a
    move, which nobody writes in whole minutes.
    """
    match = _TIME.match(text)
    if match is None:
        return None
    first, second, third, fraction = match.groups()
    if third is not None:
        whole = int(first) * 3600 + int(second) * 60 + int(third)
    elif second is not None:
        whole = int(first) * 60 + int(second)
        if not short_is_minutes and fraction is None:
            return whole * 60.0
    else:
        whole = int(first)
    return whole + float(b"0" + fraction) if fraction else float(whole)


def read_eval(text: bytes, *, white_moved: bool) -> Score | None:
    """Return the score from White's view for ``0.23`` (pawns) or ``#-3`` (mate), with
    or without ``,depth`` after it; None if the text is no score.

    Scores are clamped to ±3900 centipawns, and a mate counts ±3900 (Ferreira 2012,
    section 3). ``#0`` has no sign and means that the side to move has been mated;
    ``white_moved``, whether White made the last move, decides only the sign of this
    score.
    """
    match = _EVAL.match(text)
    if match is None:
        return None
    sign, mate_in, pawns = match.groups()
    if pawns is not None:
        return Score(max(-MATE_CP, min(MATE_CP, round(float(pawns) * 100))))
    mate = int(mate_in)
    if mate == 0:
        return Score(MATE_CP if white_moved else -MATE_CP, 0)
    return Score(-MATE_CP, -mate) if sign == b"-" else Score(MATE_CP, mate)
