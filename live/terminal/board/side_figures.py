"""What the methods of the papers say of both players of one game. Pure."""

from __future__ import annotations

from rich.text import Text

from live.catalogue import FIGURES, Figure, read, why_missing, written
from live.events import GameDetail, SideMethods
from live.terminal.palette import Palette
from live.terminal.text_cells import left, plain, styled

_NAME_CELLS = 18
#: With fewer counted moves one side is not compared with the other.
_LEAST_MOVES = 5


def side_figures(game: GameDetail, width: int, palette: Palette) -> list[Text]:
    """A line for each method, White's figure beside Black's; why where there is none."""
    room = max(10, (width - _NAME_CELLS) // 2)
    white, black = game.methods.white, game.methods.black
    lines = [_line("", "○ White", "● Black", room, palette.dim, palette)]
    for figure in FIGURES:
        if figure.side:
            of_white, of_black = (_text(figure, side, room - 1) for side in (white, black))
            lines.append(_line(figure.name, of_white, of_black, room, "", palette))
    expected = game.methods.expected_score
    if min(white.conformance.moves, black.conformance.moves) < _LEAST_MOVES:
        pass  # one move decides nothing
    elif expected is not None:
        ends = ""
        if game.methods.low is not None and game.methods.high is not None:
            ends = f" ({game.methods.low:.2f}–{game.methods.high:.2f})"
        lines.append(styled(f"White expects {expected:.2f}{ends} by conformance"))
    elif game.methods.missing:
        lines.append(styled(plain(game.methods.missing, width), palette.dim))
    return lines


def _line(name: str, white: str, black: str, room: int, style: str, palette: Palette) -> Text:
    line = styled(left(name, _NAME_CELLS), palette.dim)
    line.append(left(white, room - 1) + " ", style)
    line.append(left(black, room), style)
    return line


def _text(figure: Figure, side: SideMethods, room: int) -> str:
    found = read(figure, side)
    if found.value is None:
        return why_missing(figure, side)
    unit = f" {figure.unit}" if figure.unit else ""
    text = f"{written(figure, found.value)}{unit}"
    if found.low is None or found.high is None:
        return text
    low, high = (written(figure, end).removesuffix(" %") for end in (found.low, found.high))
    ranged = f"{text} ({low}–{high})"
    return ranged if len(ranged) <= room else text
