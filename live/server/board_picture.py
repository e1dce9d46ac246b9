"""The preview picture of a board, which chats and other sites show with a link. Pure.

It shows the position and both players with their perceived ratings.
"""

import textwrap
from collections.abc import Iterator

import chess.svg

from live.catalogue import EARLY_MOVES, find_event_name, write_sentence
from live.games.game import number_move, side_of_ply
from live.games.rounds import normalise_round
from live.messages.figures import CurvePoint, GameDetail, GameView
from live.messages.values import Color
from live.server.drawing import (
    FONTS,
    GROUND,
    HEIGHT,
    INK,
    QUIET,
    WIDTH,
    cut_text,
    draw_text,
)
from live.watch.moment_rules import find_win_despite_lower_rating
from live.watch.sentences import format_result, write_sentences

#: Maximum length of a player's name and of an event's name, characters.
_NAME = 28
_EVENT = 24
#: Maximum length of a line in small type beside the board, characters.
_LINE = 60
#: Reason why no figure can be shown: no model fits the engine and its limit.
_NO_MODEL = "no rating for this engine's scores"
_COLORS: dict[Color, str] = {"white": "#f2c14e", "black": "#63a4ff"}
_SQUARES = {
    "square light": "#d9dee5",
    "square dark": "#71849b",
    "square light lastmove": "#e8d592",
    "square dark lastmove": "#b39d57",
}


def draw_board(game: GameDetail) -> str:
    """Return the picture of a game as SVG of 1200 by 630 pixels.

    It shows the last position and both players with their figures.
    """
    board = chess.Board(game.start_fen)
    for ply in game.plies:
        board.push_uci(ply.uci)
    drawn = chess.svg.board(
        board,
        lastmove=board.peek() if board.move_stack else None,
        coordinates=False,
        size=570,
        colors=_SQUARES,
    )
    event = " · ".join(describe_place(game))
    state = " · ".join(
        filter(None, (_describe_outcome(game), _describe_last_move(game)))
    )
    return "".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"'
            f' font-family="{FONTS}">'
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{GROUND}"/>',
            f'<g transform="translate(30 30)">{drawn}</g>',
            draw_text(630, 60, 22, QUIET, event),
            *_draw_player(120, game, "black"),
            *_draw_curves(game),
            draw_text(630, 376, 26, INK, state),
            *_draw_win_despite_lower_rating(399, game),
            *_draw_player(456, game, "white"),
            draw_text(630, 608, 22, QUIET, "live-rate"),
            "</svg>",
        )
    )


def _draw_player(y: int, game: GameDetail, color: Color) -> Iterator[str]:
    player = getattr(game, color)
    opponent = game.black if color == "white" else game.white
    points: tuple[CurvePoint, ...] = getattr(game.curves, color)
    name = cut_text(" ".join(filter(None, (player.title, player.name or "?"))), _NAME)
    yield draw_text(630, y, 28, INK, f"{name}  {player.elo or ''}")
    point = points[-1] if points else None
    if point is None or point.perceived is None:
        yield draw_text(630, y + 60, 50, QUIET, "–")
        has_model = point is None or point.reason != "no-model"
        reason = "too few moves yet" if has_model else _NO_MODEL
        yield draw_text(630, y + 92, 20, QUIET, reason)
        return
    # Number of the player's moves that are not yet included in the figure.
    missing = sum(
        side_of_ply(game, ply.ply) == color for ply in game.plies[point.ply :]
    )
    early = point.counted < EARLY_MOVES
    final = not game.running and not missing
    figure, *parts = write_sentence(point, player.elo, opponent.elo, final=final).split(
        " · "
    )
    figure += "…" if missing else ""
    yield draw_text(
        630, y + 54, 26 if early else 40, QUIET if early else _COLORS[color], figure
    )
    for at, part in enumerate(parts):
        yield draw_text(630, y + 86 + 26 * at, 20, QUIET, part)


def _draw_curves(game: GameDetail) -> Iterator[str]:
    """Draw both rating curves on one scale, with each player's Elo as a dashed line."""
    x, y, width, height = 630, 256, 540, 90
    curves: dict[Color, list[tuple[int, float]]] = {}
    values: list[float] = []
    for color in _COLORS:
        curves[color] = [
            (shown_point.ply, shown_point.perceived)
            for shown_point in getattr(game.curves, color)
            if shown_point.perceived is not None
        ]
        values += [value for _, value in curves[color]]
    if not values:
        return
    elos = {"white": game.white.elo, "black": game.black.elo}
    values += filter(None, elos.values())
    low, high, last = min(values) - 50, max(values) + 50, max(2, len(game.plies))

    def find_y(value: float) -> str:
        return f"{y + height * (high - value) / (high - low):.1f}"

    for color, stroke in _COLORS.items():
        path = " ".join(
            f"{x + width * ply / last:.1f},{find_y(value)}"
            for ply, value in curves[color]
        )
        style = f'fill="none" stroke="{stroke}" stroke-width="4"'
        yield f'<polyline points="{path}" {style}/>'
        if elo := elos[color]:
            line = (
                f'd="M{x} {find_y(elo)}h{width}" stroke="{stroke}" stroke-width="1.5"'
            )
            yield f'<path {line} stroke-dasharray="8 8"/>'


def _draw_win_despite_lower_rating(y: int, game: GameDetail) -> Iterator[str]:
    """Draw the reason if the winner had the lower perceived rating; else nothing."""
    for draft in find_win_despite_lower_rating(game):
        text = write_sentences(draft, game).en
        for at, line in enumerate(
            textwrap.wrap(text, _LINE, max_lines=2, placeholder="…")
        ):
            yield draw_text(630, y + 21 * at, 18, QUIET, line.replace("\u00a0", " "))


def describe_place(game: GameView) -> Iterator[str]:
    """Yield event, round and board of a game, as far as they are known.

    An event whose name is only the pairing is left out.
    """
    if event := find_event_name(game):
        yield cut_text(event, _EVENT)
    if round := normalise_round(game.round):
        yield f"Round {round}" if round.isdecimal() else cut_text(round, _EVENT)
    if game.board:
        yield f"board {game.board}"


def _describe_outcome(game: GameDetail) -> str:
    """Return the result of a game, or its last known score while it is in progress."""
    if not game.running:
        return format_result(game.result)
    scored = [ply for ply in game.plies if ply.final and ply.score_cp is not None]
    if not scored:
        return ""
    last = scored[-1]
    if last.mate is not None:
        return f"#{last.mate}"
    return f"{(last.score_cp or 0) / 100:+.2f}".replace("-", "−")


def _describe_last_move(game: GameDetail) -> str:
    if not game.plies:
        return ""
    number, white = number_move(game, len(game.plies))
    return f"{number}{'.' if white else '…'} {game.plies[-1].san}"
