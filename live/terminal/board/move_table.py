"""The move list with scores and gains. Pure."""

from __future__ import annotations

import math

from rich.text import Text

from live.events import GameDetail, PlyView
from live.games.move_numbers import move_number
from live.terminal.figure_text import clock_text, score_text
from live.terminal.palette import Palette
from live.terminal.text_cells import left, right, styled

#: Steepness of winning chances by centipawns (lichess, scalachess core/eval.scala, 2026-08-07).
_CHANCES = -0.00368208
#: A loss of this much of the winning chances, which run from -1 to 1, earns the sign (lichess,
#: modules/tree Advice.scala).
_SIGNS = ((0.3, "??"), (0.2, "?"), (0.1, "?!"))
#: Of a move that few would have found, and of one that sets a trap.
PRAISE = {"find": "!", "trap": "!?"}
#: Of one side: pointer, move with sign, gain, score.
_SIDE_CELLS = 1 + 9 + 7 + 8
_CLOCK_CELLS = 6
#: Width of the list without clocks: number, and both sides.
MOVE_CELLS = 3 + 2 * _SIDE_CELLS


def chances(score_cp: int) -> float:
    """White's winning chances from -1 to 1, scores capped at ten pawns."""
    return 2 / (1 + math.exp(_CHANCES * max(-1000, min(1000, score_cp)))) - 1


def sign(before_cp: int | None, after_cp: int | None, *, white: bool) -> str:
    """``??``, ``?``, ``?!`` or nothing, from the scores around the move."""
    if before_cp is None or after_cp is None:
        return ""
    lost = (chances(before_cp) - chances(after_cp)) * (1 if white else -1)
    return next((mark for limit, mark in _SIGNS if lost >= limit), "")


def signs(game: GameDetail) -> list[str]:
    """The sign of every ply; none while a score is provisional. What lost nothing may be a find
    or set a trap.
    """
    before: int | None = game.start_score_cp
    found = []
    for ply in game.plies:
        after = ply.score_cp if ply.final else None
        lost = sign(before, after, white=move_number(game, ply.ply)[1])
        found.append(lost or PRAISE.get(ply.mark or "", ""))
        before = after
    return found


def list_rows(game: GameDetail) -> list[tuple[int, PlyView | None, PlyView | None]]:
    """Move number, White's and Black's ply of each line of the list."""
    rows: list[tuple[int, PlyView | None, PlyView | None]] = []
    for ply in game.plies:
        number, white = move_number(game, ply.ply)
        if white or not rows or rows[-1][0] != number:
            rows.append((number, ply if white else None, None if white else ply))
        else:
            rows[-1] = (number, rows[-1][1], ply)
    return rows


def row_of(game: GameDetail, ply: int) -> int:
    """Index of the line that holds ``ply``."""
    rows = list_rows(game)
    for index, (_, white, black) in enumerate(rows):
        if any(each is not None and each.ply == ply for each in (white, black)):
            return index
    return max(0, len(rows) - 1)


def moves(
    game: GameDetail, cursor_ply: int, first: int, height: int, width: int, palette: Palette
) -> list[Text]:
    """Lines of the list from ``first`` on; with clocks where ``width`` has room for them."""
    clocks = width >= MOVE_CELLS + 2 * _CLOCK_CELLS
    marks = signs(game)
    lines = [_head(clocks, palette)]
    for number, white, black in list_rows(game)[first : first + height - 1]:
        line = styled(right(str(number), 3), palette.dim)
        for ply in (white, black):
            if ply is not None:
                _append(line, ply, marks[ply.ply - 1], cursor_ply == ply.ply, clocks, palette)
            elif white is None and black is not None and ply is white:
                line.append(left(" …", _SIDE_CELLS + (_CLOCK_CELLS if clocks else 0)))
        lines.append(line)
    return lines


def _head(clocks: bool, palette: Palette) -> Text:
    text = "   "
    for color in ("○ White", "● Black"):
        text += left(f" {color}", 10) + right("gain", 7) + right("score ", 8)
        text += right("clock", _CLOCK_CELLS) if clocks else ""
    return styled(text.rstrip(), palette.dim)


def _append(
    line: Text, ply: PlyView, mark: str, here: bool, clocks: bool, palette: Palette
) -> None:
    start = len(line)
    # The cursor is a sign as well: some terminals show no background.
    line.append("▸" if here else " ", palette.accent)
    line.append(ply.san, palette.strong if mark else palette.text)
    style = palette.good if mark in PRAISE.values() else palette.warn
    line.append(left(mark, 9 - len(ply.san)), palette.bad if mark == "??" else style)
    gain = "·" if ply.gain_cp is None else f"{ply.gain_cp / 100:+.2f}"
    line.append(right(gain, 7), palette.text if ply.gain_cp else palette.dim)
    score = score_text(ply.score_cp, ply.mate)
    if ply.score_cp is not None:
        score += " " if ply.final else "~"
    line.append(right(score, 8), palette.text if ply.final else palette.dim)
    if clocks:
        line.append(right(clock_text(ply.clock_s), _CLOCK_CELLS), palette.dim)
    if here:
        line.stylize_before(palette.cursor, start)
