"""A board as a picture that chats and other sites show beside a link: position and both figures.

The drawing is pure. The pixels are made by resvg, in a process of its own: it takes some tenths of
a second, and holds Python's lock meanwhile. Run as a program this module is that process.

The page of one board for links in chats: what these read of it, and the way to the board.

Places of the page stand behind the ``#`` of its address, which no server is told.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from html import escape
from typing import Final
from urllib.parse import quote, urlencode

import chess
import chess.svg

from live.catalogue import EARLY_MOVES, sentence
from live.events import Color, CurvePoint, GameDetail, GameView
from live.games.game import move_number, mover
from live.publish.made_files import ExportFailed, child_answer, step_back

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


def can_draw() -> bool:
    """Whether resvg is installed."""
    return importlib.util.find_spec("resvg_py") is not None


def board_svg(game: GameDetail) -> str:
    """The game's last position with both players, their figures in words and as curves, as SVG of
    1200 by 630.
    """
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
            *_player(120, game, "black"),
            *_curves(game, 630, 270, 540, 110),
            _words(630, 420, 26, _INK, state),
            *_player(470, game, "white"),
            _words(630, 600, 22, _QUIET, "live-rate"),
            "</svg>",
        )
    )


def _player(y: int, game: GameDetail, color: Color) -> Iterator[str]:
    player = getattr(game, color)
    other = game.black if color == "white" else game.white
    points: tuple[CurvePoint, ...] = getattr(game.curves, color)
    name = _cut(" ".join(filter(None, (player.title, player.name or "?"))), _NAME)
    yield _words(630, y, 28, _INK, f"{name}  {player.elo or ''}")
    point = points[-1] if points else None
    if point is None or point.perceived is None:
        yield _words(630, y + 60, 50, _QUIET, "–")
        yield _words(630, y + 92, 20, _QUIET, game.note or "nothing can be said yet")
        return
    missing = _unrated(game, color, point.ply)
    early = point.counted < EARLY_MOVES
    final = game.result != "*" and not missing
    figure, *parts = sentence(point, player.elo, other.elo, final=final).split(" · ")
    figure += "…" if missing else ""
    yield _words(630, y + 54, 26 if early else 40, _QUIET if early else _COLORS[color], figure)
    for at, part in enumerate(parts):
        yield _words(630, y + 86 + 26 * at, 20, _QUIET, part)


def _curves(game: GameDetail, x: int, y: int, width: int, height: int) -> Iterator[str]:
    """Both curves, small, on one scale."""
    values = [
        each.perceived
        for each in (*game.curves.white, *game.curves.black)
        if each.perceived is not None
    ]
    if not values:
        return
    low, high = min(values) - 50, max(values) + 50
    last = max(2, len(game.plies))
    for color in _COLORS:
        points: tuple[CurvePoint, ...] = getattr(game.curves, color)
        path = " ".join(
            f"{x + width * each.ply / last:.1f},"
            f"{y + height * (high - each.perceived) / (high - low):.1f}"
            for each in points
            if each.perceived is not None
        )
        yield (
            f'<polyline points="{path}" fill="none" stroke="{_COLORS[color]}" stroke-width="4"/>'
        )


def _unrated(game: GameDetail, color: Color, rated_ply: int) -> int:
    """How many moves of a side its figure does not rest on."""
    return sum(mover(game, ply.ply) == color for ply in game.plies[rated_ply:])


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


def share_page(asked: str, game: GameView | None, root: str, *, picture: bool) -> bytes:
    """HTML with Open Graph (ogp.me) tags, which leads to the board at once.

    Args:
        asked: The id in the link: the page that it leads to may know a token, which no link has.
        game: The game; None for one that this visitor may not see, or that is not there.
        root: Where the service is, ``https://HOST/``.
        picture: Whether there is one of it.
    """
    place = f"#{urlencode({'game': asked})}" if asked else ""
    title = "live-rate" if game is None else f"{game.white.name or '?'} – {game.black.name or '?'}"
    tags = {"og:type": "website", "og:site_name": "live-rate", "og:title": title}
    if game is not None:
        tags["og:description"] = " · ".join(filter(None, (game.event, game.round, game.result)))
        if picture:
            tags["og:image"] = f"{root}api/v1/games/{quote(game.id, safe='')}.png"
            tags["og:image:width"], tags["og:image:height"] = str(WIDTH), str(HEIGHT)
            tags["twitter:card"] = "summary_large_image"
    head = "".join(
        f'<meta property="{name}" content="{escape(text)}">' for name, text in tags.items()
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'{head}<meta http-equiv="refresh" content="0; url=./{escape(place)}"></head>'
        f'<body><a href="./{escape(place)}">{escape(title)}</a></body></html>'
    ).encode("utf-8", "replace")
