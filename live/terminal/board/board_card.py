"""One board in depth: position, moves with gains, graphs, both players' figures. Pure.

On a small terminal one panel at a time stands beside the board, on a large one all do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
from rich.cells import cell_len
from rich.text import Text

from live.catalogue import EARLY_MOVES, band_text, percentile_text, sentence
from live.events import CurvePoint, FigureChoice, GainCounts, GameDetail
from live.games.move_numbers import move_number
from live.terminal.board import text_charts
from live.terminal.board.move_table import MOVE_CELLS, moves, row_of
from live.terminal.board.side_figures import side_figures
from live.terminal.board.text_diagram import board_after, diagram, san_of
from live.terminal.boards.board_list import RESULTS
from live.terminal.boards.board_row import RESTORED
from live.terminal.figure_text import (
    age_text,
    clock_left_s,
    clock_runs,
    clock_text,
    interval_text,
    move_text,
    odds_bar,
    odds_text,
    perceived_text,
    rating_text,
    score_text,
    share_text,
)
from live.terminal.low_clocks import clock_style, low_clock_s
from live.terminal.palette import Palette
from live.terminal.text_cells import beside, left, plain, right, styled

Panel = Literal["moves", "curves", "gains", "methods"]
PANELS: tuple[Panel, ...] = ("moves", "curves", "gains", "methods")
PANEL_NAMES = {
    "moves": "Moves",
    "curves": "Curves",
    "gains": "Gains",
    "methods": "Methods",
}
#: From this size on every panel is shown at once.
LARGE = (150, 40)
_DIAGRAM = 20
_LARGE_DIAGRAM = 34


class BoardCardOptions(msgspec.Struct, frozen=True):
    """How one board is looked at now."""

    palette: Palette
    figure: FigureChoice
    engine_rating: int
    """What Algorithm 4 adds its differences to, Elo."""
    ply: int
    """The ply under the cursor; 0 is the starting position."""
    following: bool
    """The cursor goes with the last move."""
    panel: Panel
    age_s: float | None
    """Seconds since the last move; None when it was before we looked."""
    new: bool
    ran_s: float = 0.0
    """Seconds that the clock of the side to move has run."""
    alerts: Sequence[str] = ()
    """Texts of the alerts about this board that nobody took note of."""
    engine_gains: GainCounts = ()
    """The engine's own gains, drawn under the players'."""


def board_card(game: GameDetail, width: int, height: int, look: BoardCardOptions) -> list[Text]:
    """Exactly ``height`` lines of at most ``width`` cells."""
    lines = [headline(game, width, look), *players(game, width, look)]
    rest = height - len(lines)
    if width >= LARGE[0] and height >= LARGE[1] - 4:
        lines += _large(game, width, rest, look)
    else:
        lines += _small(game, width, rest, look)
    return [*lines[:height], *(Text() for _ in range(height - len(lines)))]


def headline(game: GameDetail, width: int, look: BoardCardOptions) -> Text:
    """Where the game is played, how it stands, and what is wrong with it."""
    palette = look.palette
    line = Text(no_wrap=True)
    line.append(f" Board {game.board} " if game.board is not None else " Board ", palette.head)
    if game.result != "*":
        line.append(f"· {RESULTS.get(game.result, game.result)} ", palette.strong)
    if game.problem:
        line.append(f"· ! {plain(game.problem, 60)} ", palette.bad)
    elif game.restored:
        line.append(f"· {RESTORED} ", palette.warn)
    for text in look.alerts:
        line.append(f"· ! {plain(text, 100)} ", palette.bad)
    behind = game.plies_played - game.plies_scored
    if behind > 1:
        line.append(f"· {behind} plies to score ", palette.warn)
    if look.age_s is not None and game.result == "*":
        line.append(f"· last move {age_text(look.age_s)} ago ", palette.dim)
    if game.dispute:
        line.append(f"· ! {plain(game.dispute, 100)} ", palette.warn)
    # What gives way on a narrow terminal stands last.
    sources = " and ".join(plain(name, 40) for name in (game.feed, *game.also))
    for part in (
        plain(game.event, 40),
        f"round {plain(game.round, 8)}" if game.round else "",
        f"from {sources}" if game.also else "",
    ):
        if part:
            line.append(f"· {part} ", palette.dim)
    line.truncate(width, overflow="ellipsis")
    return line


def players(game: GameDetail, width: int, look: BoardCardOptions) -> list[Text]:
    """A head and a line for each player: the figure, what is usual, moves, clock."""
    palette = look.palette
    plan = _plan(width)
    name = min(40, width - 2 - sum(cells + 1 for _, _, cells in plan))
    head = "  " + left("Player", name)
    for _, text, cells in plan:
        head += " " + (left(text, cells) if text in _LEFT else right(text, cells))
    lines = [styled(head, palette.dim)]
    last = {move_number(game, ply.ply)[1]: ply for ply in game.plies[-2:]}
    for sign, player, points, white in (
        ("○", game.white, game.curves.white, True),
        ("●", game.black, game.curves.black, False),
    ):
        point = points[-1] if points else None
        ply = last.get(white)
        ran_s = look.ran_s if clock_runs(game, len(game.plies)) is white else 0.0
        left_s = clock_left_s(ply.clock_s, ran_s) if ply else None
        texts = {
            "elo": str(player.elo or ""),
            "clock": clock_text(left_s),
            **_figures(point, look.engine_rating),
        }
        early = point is None or point.counted < EARLY_MOVES
        line = styled(f"{sign} ", palette.white if white else palette.black)
        title = f"{plain(player.title, 4)} " if player.title else ""
        line.append(title, palette.strong)
        line.append(left(plain(player.name, 40), name - cell_len(title)))
        for key, head_text, cells in plan:
            interval = head_text in _LEFT
            style = palette.dim if interval or (key == "plays" and early) else ""
            if key == ("plays" if look.figure == "perceived" else "a4") and not early:
                style = palette.strong
            if key == "clock" and game.result == "*":
                style = clock_style(left_s, low_clock_s(game.time_control), palette)
            text = texts.get(key, "")
            line.append(" ")
            line.append(left(text, cells) if interval else right(text, cells), style)
        lines.append(line)
    return lines


#: Heads of what is written from the left.
_LEFT = ("usual", "95 %")


def _plan(width: int) -> list[tuple[str, str, int]]:
    """What stands beside a player's name: key, head, cells."""
    plan = [("elo", "Elo", 4), ("plays", "Plays", 5), ("usual", "usual", 9), ("pct", "Pct", 4)]
    plan.append(("a4", "A4", 4))
    if width >= 96:
        plan.append(("a4 95 %", "95 %", 9))
    return [*plan, ("n", "n", 3), ("clock", "Clock", 5)]


def _figures(point: CurvePoint | None, engine_rating: int) -> dict[str, str]:
    if point is None:
        return {"plays": "·", "a4": "·", "n": "0"}
    usual = percentile = ""
    if point.usual_low is not None and point.usual_high is not None:
        usual = band_text(point.usual_low, point.usual_high)
    if point.percentile is not None and point.counted >= EARLY_MOVES:
        percentile = percentile_text(point.percentile).replace(" ", "")

    def plus(difference: float | None) -> float | None:
        return None if difference is None else engine_rating + difference

    return {
        "plays": perceived_text(point.perceived),
        "usual": usual,
        "pct": percentile,
        "a4": rating_text(plus(point.difference)),
        "a4 95 %": interval_text(plus(point.difference_low), plus(point.difference_high)),
        "n": str(point.counted),
    }


def said(game: GameDetail, width: int, look: BoardCardOptions) -> list[Text]:
    """A sentence for each player: what the figure means here."""
    lines = []
    for sign, player, other, points in (
        ("○", game.white, game.black, game.curves.white),
        ("●", game.black, game.white, game.curves.black),
    ):
        text = sentence(points[-1], player.elo, other.elo) if points else ""
        line = styled(f"{sign} {text or game.note or 'no figure yet'}", look.palette.dim)
        line.truncate(width, overflow="ellipsis")
        lines.append(line)
    return lines


def position(game: GameDetail, look: BoardCardOptions, *, large: bool) -> list[Text]:
    """The diagram with what was played and what the engine would have."""
    palette = look.palette
    board = board_after(game, look.ply)
    if board is None:
        return [styled(f"no diagram of {plain(game.variant, 20)}", palette.dim)]
    lines = diagram(board, palette, large=large)
    if not 1 <= look.ply <= len(game.plies):
        return [*lines, styled("  start", palette.dim)]
    ply = game.plies[look.ply - 1]
    score = score_text(ply.score_cp, ply.mate)
    played = styled("  ")
    style = palette.changed if look.new and look.following else palette.strong
    played.append(move_text(game, ply), style)
    played.append(f" {score}{'' if ply.final or ply.score_cp is None else '~'}")
    lines.append(played)
    if ply.win is not None and ply.draw is not None:
        odds = styled(f"  {odds_bar(ply.win, ply.draw, 8)} ", palette.text)
        odds.append(odds_text(ply.win, ply.draw), palette.dim)
        lines.append(odds)
    first = san_of(board_after(game, look.ply - 1), ply.best)
    if first:
        same = ply.best == ply.uci
        engine = styled("  engine ", palette.dim)
        engine.append("the same" if same else first, palette.good if same else palette.accent)
        lines.append(engine)
    return lines


def human_lines(game: GameDetail, look: BoardCardOptions) -> list[Text]:
    """How many players of these ratings would play the move, and how hard the reply is."""
    if not 1 <= look.ply <= len(game.plies):
        return []
    ply = game.plies[look.ply - 1]
    hard = ply.difficulty
    shares = {
        "find" if ply.mark == "find" else "played": ply.played_share,
        "best": hard.best_share if hard is not None else None,
        "trap" if ply.mark == "trap" else "err": hard.error_chance if hard is not None else None,
    }
    lines = []
    for word, share in shares.items():
        if share is not None:
            style = look.palette.good if word == ply.mark else look.palette.dim
            lines.append(styled(f"  {word} {share_text(share)}", style))
    return lines


def search_lines(game: GameDetail, look: BoardCardOptions) -> list[Text]:
    """Who looked, if not the engine, and how deep; how hard the position is, and how long the
    player thought.
    """
    if not 1 <= look.ply <= len(game.plies):
        return []
    ply = game.plies[look.ply - 1]
    parts = []
    if ply.score_source:
        parts.append(ply.score_source)
    if ply.depth:
        parts.append(f"depth {ply.depth}")
    if ply.complexity is not None:
        # Alliot 2017, section 3.1: how far the score jumped while the engine looked deeper.
        parts.append(f"jump {ply.complexity.jump_cp / 100:.2f}")
    if ply.spent_s is not None:
        parts.append(f"took {clock_text(ply.spent_s)}")
    return [styled(f"  {part}", look.palette.dim) for part in parts]


def _move_list(game: GameDetail, look: BoardCardOptions, width: int, height: int) -> list[Text]:
    body = max(1, height - 1)
    first = max(0, row_of(game, max(1, look.ply)) - body + 1 + (0 if look.following else body // 2))
    first = min(first, max(0, (len(game.plies) + 2) // 2 - body))
    if not game.plies:
        return [styled("no move yet", look.palette.dim)]
    if width < MOVE_CELLS:
        return [styled("no room for the moves", look.palette.dim)]
    return moves(game, look.ply, first, height, width, look.palette)


def _small(game: GameDetail, width: int, height: int, look: BoardCardOptions) -> list[Text]:
    board = [
        *position(game, look, large=False),
        *human_lines(game, look),
        *search_lines(game, look),
    ]
    # The moves get what the board and a graph of nine lines leave.
    upper = max(min(len(board), max(9, height - 4)), height - 9) if height >= 13 else height
    room = width - _DIAGRAM - 2
    names = [
        f"[{PANEL_NAMES[panel]}]" if panel == look.panel else f" {PANEL_NAMES[panel]} "
        for panel in PANELS
    ]
    heads = styled(" ".join(names), look.palette.dim)
    panel = [heads, *_panel(game, room, upper - 1, look)]
    lines = beside([(board[:upper], _DIAGRAM), (panel[:upper], room)])
    if height - upper < 3:
        return lines  # no room for a graph that says anything
    return lines + text_charts.score_graph(game, look.ply, width, height - upper, look.palette)


def _panel(game: GameDetail, width: int, height: int, look: BoardCardOptions) -> list[Text]:
    palette = look.palette
    match look.panel:
        case "moves":
            return _move_list(game, look, width, height)
        case "curves":
            half = (width - 1) // 2
            name = _curve_name(look.figure)
            sides = ([styled(f"○ {name}", palette.dim)], [styled(f"● {name}", palette.dim)])
            curves = _curves(game, half, height - 1, look)
            both = [([*head, *curve], half) for head, curve in zip(sides, curves, strict=True)]
            return beside(both, 1)
        case "gains":
            classes = text_charts.histogram(game, width, height, palette)
            room = height - len(classes)
            return classes + text_charts.gain_charts(game, look.engine_gains, width, room, palette)
        case "methods":
            return side_figures(game, width, palette)[:height]


def _curve_name(shown: FigureChoice) -> str:
    return "Plays like, usual ░" if shown == "perceived" else "Algorithm 4, 95 % ░"


def _curves(
    game: GameDetail, width: int, height: int, look: BoardCardOptions
) -> tuple[Sequence[Text], Sequence[Text]]:
    sides = [
        [text_charts.figure_at(point, look.figure, look.engine_rating) for point in points]
        for points in (game.curves.white, game.curves.black)
    ]
    scale = text_charts.common_scale(sides)
    styles = (look.palette.white, look.palette.black)
    white, black = (
        text_charts.rating_graph(points, scale, width, height, style, look.palette)
        for points, style in zip(sides, styles, strict=True)
    )
    return white, black


def _large(game: GameDetail, width: int, height: int, look: BoardCardOptions) -> list[Text]:
    palette = look.palette
    board = [
        *position(game, look, large=True),
        *human_lines(game, look),
        *search_lines(game, look),
    ]
    first_width = _LARGE_DIAGRAM + 18
    board += [Text(), *text_charts.histogram(game, first_width, 9, palette), Text()]
    room = height - len(board)
    board += text_charts.gain_charts(game, look.engine_gains, first_width, room, palette)
    middle_width = MOVE_CELLS + 12
    rest_width = width - first_width - middle_width - 4
    listed = _move_list(game, look, middle_width, height)
    graph_height = max(8, (height - 3 - 12) // 3 // 2 * 2)
    scale_name = _curve_name(look.figure)
    white, black = _curves(game, rest_width, graph_height, look)
    graphs = [
        styled("Score, White's side", palette.head),
        *text_charts.score_graph(game, look.ply, rest_width, graph_height, palette),
        styled(f"○ {scale_name}", palette.head),
        *white,
        styled(f"● {scale_name}", palette.head),
        *black,
        *said(game, rest_width, look),
        styled("Methods", palette.head),
        *side_figures(game, rest_width, palette),
    ]
    return beside([(board, first_width), (listed, middle_width), (graphs, rest_width)])[:height]
