"""A board as a picture that chats and other sites show beside a link: position and both figures.

The drawing is pure. The pixels are made by resvg, in a process of its own: it takes some tenths of
a second, and holds Python's lock meanwhile. Run as a program this module is that process.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from typing import Final
from xml.sax.saxutils import escape

import chess
import chess.svg

from live.events import Color, CurvePoint, FigureChoice, GameDetail
from live.games.move_numbers import move_number, mover
from live.ledger.players.leading_figure import (
    Figure,
    FigureKind,
    is_early,
    leading,
    percentile_figure,
)
from live.publish.export.event_exports import ExportFailed
from live.publish.export.maker_process import child_answer, step_back

WIDTH, HEIGHT = 1200, 630
#: A picture that is not there by then is given up, seconds.
LIMIT_S: Final = 20.0
#: What a name, an event may have, characters.
_NAME, _EVENT = 28, 34
_FONTS: Final = "DejaVu Sans, Noto Sans, Liberation Sans, Arial, Helvetica, Segoe UI"
_INK, _QUIET, _GROUND = "#e8ecf1", "#9aa7b8", "#12161c"
_COLORS: Final[dict[Color, str]] = {"white": "#f2c14e", "black": "#63a4ff"}
_SQUARES: Final = {
    "square light": "#d9dee5",
    "square dark": "#71849b",
    "square light lastmove": "#e8d592",
    "square dark lastmove": "#b39d57",
}
_NAMES: Final[dict[FigureKind, str]] = {
    "level": "Level",
    "percentile": "Better than so many of 100",
    "alone": "Moves alone",
    "algorithm4": "Algorithm 4, an index",
}


def can_draw() -> bool:
    """Whether resvg is installed."""
    return importlib.util.find_spec("resvg_py") is not None


def board_svg(game: GameDetail, choice: FigureChoice = "auto") -> str:
    """The game's last position with both players and their figures, as SVG of 1200 by 630."""
    board = chess.Board(game.start_fen)
    for ply in game.plies:
        board.push(chess.Move.from_uci(ply.uci))
    drawn = chess.svg.board(
        board,
        lastmove=board.peek() if board.move_stack else None,
        coordinates=False,
        size=570,
        colors=_SQUARES,
    )
    place = f"board {game.board}" if game.board else ""
    event = " · ".join(filter(None, (_cut(game.event, _EVENT), place)))
    state = "  ".join(filter(None, (_last(game), "" if game.result == "*" else game.result)))
    return "".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"'
            f' font-family="{_FONTS}"><rect width="{WIDTH}" height="{HEIGHT}" fill="{_GROUND}"/>',
            f'<g transform="translate(30 30)">{drawn}</g>',
            _words(630, 60, 24, _QUIET, event),
            *_player(130, game, "black", choice),
            _words(630, 330, 30, _INK, state),
            *_player(420, game, "white", choice),
            _words(630, 600, 22, _QUIET, "live-rate"),
            "</svg>",
        )
    )


def _player(y: int, game: GameDetail, color: Color, choice: FigureChoice) -> Iterator[str]:
    player = getattr(game, color)
    points: tuple[CurvePoint, ...] = getattr(game.curves, color)
    name = _cut(" ".join(filter(None, (player.title, player.name or "?"))), _NAME)
    yield _words(630, y, 28, _INK, f"{name}  {player.elo or ''}")
    found = leading(points[-1], player.elo, choice)[0] if points else None
    if found is None:
        yield _words(630, y + 64, 56, _COLORS[color], "–")
        yield _words(630, y + 104, 22, _QUIET, "nothing can be said yet")
        return
    rated, missing = points[-1].n, _unrated(game, color, points[-1].ply)
    basis = f"{rated} of {rated + missing} moves" if missing else f"{rated} moves"
    color_of = _QUIET if is_early(found, rated) else _COLORS[color]
    yield _words(630, y + 64, 56, color_of, _value(found) + ("…" if missing else ""))
    yield _words(630, y + 104, 22, _QUIET, f"{_NAMES[found.kind]}{_range(found)}, {basis}")


def _unrated(game: GameDetail, color: Color, rated_ply: int) -> int:
    """How many moves of a side its figure does not rest on."""
    return sum(mover(game, ply.ply) == color for ply in game.plies[rated_ply:])


def _value(found: Figure) -> str:
    if found.kind == "percentile":
        return percentile_figure(found.value)
    if found.low is None and found.high is not None:
        return f"{found.high:.0f} or less"
    if found.low is not None and found.high is None:
        return f"{found.low:.0f} or more"
    return "–" if found.value is None else f"{found.value:.0f}"


def _range(found: Figure) -> str:
    if found.kind == "percentile" or found.low is None or found.high is None:
        return ""
    return f", 95 %: {found.low:.0f}–{found.high:.0f}"


def _last(game: GameDetail) -> str:
    if not game.plies:
        return ""
    number, white = move_number(game, len(game.plies))
    return f"{number}{'.' if white else '…'} {game.plies[-1].san}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _words(x: int, y: int, size: int, fill: str, text: str) -> str:
    # XML has no control characters, and pairs of surrogates stand alone in what feeds send.
    known = "".join(char for char in text if char.isprintable())
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{fill}">{escape(known)}</text>'


async def drawn(svg: str) -> bytes:
    """The picture as PNG.

    Raises:
        ExportFailed: it could not be made.
    """
    try:
        made = await child_answer(("-m", __name__), svg.encode(), LIMIT_S)
    except TimeoutError:
        raise ExportFailed("the picture was not made in time") from None
    if made.code != 0:
        raise ExportFailed("the picture could not be made")
    return made.body


if __name__ == "__main__":
    import resvg_py

    step_back()
    sys.stdout.buffer.write(resvg_py.svg_to_bytes(svg_string=sys.stdin.buffer.read().decode()))
