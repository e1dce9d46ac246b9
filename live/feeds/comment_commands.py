"""Commands inside PGN comments: ``[%clk]``, ``[%emt]``, ``[%eval]``. Pure.

Defined by the "PGN specification and implementation supplement" (Cowderoy, 2001); ``%eval`` is as
lichess and python-chess write it. Writers differ: DGT LiveChess pads with zeros, uses a brace for
each command and wraps lines inside the command; others leave out the seconds.
"""

import re
from typing import NamedTuple

from live.events import MATE_CP, Score

_COMMAND = re.compile(rb"\[%\s*+(clk|emt|eval)\s++([^\[\]]*+)\]")
_TIME = re.compile(rb"(\d{1,6}+)(?::(\d{1,2}+))?(?::(\d{1,2}+))?(\.\d*+)?\Z")
_EVAL = re.compile(
    rb"(?:(?:#|M|#M)([+-]?)(\d{1,4}+)|([+-]?(?:\d{1,7}+(?:\.\d*+)?|\.\d++)))(?:,\s*+\d++)?\Z"
)


class CommentValues(NamedTuple):
    """What one comment says about the move before it."""

    clock_s: float | None
    spent_s: float | None
    eval: Score | None


def read_comment(comment: bytes, white_moved: bool) -> CommentValues | None:
    """The commands of one comment (text between its braces), None when it holds none.

    ``white_moved`` says who made the move before it, which ``[%eval #0]`` (mated) needs.
    The first readable command of a kind counts.
    """
    times_s: dict[bytes, float | None] = {b"clk": None, b"emt": None}
    score: Score | None = None
    for name, text in _COMMAND.findall(comment):
        if name == b"eval":
            score = read_eval(text.strip(), white_moved) if score is None else score
        elif times_s[name] is None:
            times_s[name] = read_time_s(text.strip(), short_is_minutes=name == b"emt")
    found = CommentValues(times_s[b"clk"], times_s[b"emt"], score)
    return None if found == (None, None, None) else found


def read_time_s(text: bytes, *, short_is_minutes: bool = False) -> float | None:
    """Seconds of ``h:m:s``, ``h:m:s.f``, ``h:m`` or plain seconds; None when it is none of them.

    Two parts are hours and minutes on a clock, but minutes and seconds when ``short_is_minutes``:
    nobody writes the time a move took in whole minutes.
    """
    match = _TIME.match(text)
    if match is None:
        return None
    first, second, third, fraction = match.groups()
    if third is not None:
        whole = int(first) * 3600 + int(second) * 60 + int(third)
    elif second is not None:
        whole = int(first) * 60 + int(second)
        if not short_is_minutes:
            return whole * 60.0 if fraction is None else None
    else:
        whole = int(first)
    return whole + float(b"0" + fraction) if fraction else float(whole)


def read_eval(text: bytes, white_moved: bool) -> Score | None:
    """White's score of ``0.23`` (pawns), ``#-3`` (mate), each with ``,depth`` or without.

    Clamped to ±3900 centipawns, mate ±3900 (Ferreira 2012, section 3). ``#0`` is the position
    in which the side to move is already mated.
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
