"""One board in depth: position, moves with gains, graphs, both players' figures. Pure.

On a small terminal one panel at a time stands beside the board, on a large one all do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
from rich.cells import cell_len
from rich.text import Text

from live.events import FigureChoice, GainCounts, GameDetail
from live.games.move_numbers import move_number
from live.ledger.players.leading_figure import (
    CurveScale,
    FigureKind,
    FigureScale,
    figure,
    leading,
)
from live.terminal.board import text_charts
from live.terminal.board.move_table import MOVE_CELLS, moves, row_of
from live.terminal.board.side_figures import side_figures
from live.terminal.board.text_diagram import board_after, diagram, san_of
from live.terminal.boards.board_list import RESULTS
from live.terminal.boards.board_row import RESTORED
from live.terminal.figure_text import (
    FIGURE_NAMES,
    age_text,
    clock_left_s,
    clock_runs,
    clock_text,
    figure_interval,
    figure_text,
    move_text,
    odds_bar,
    odds_text,
    percentile_text,
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
    "methods": "Other methods",
}
#: From this size on every panel is shown at once.
LARGE = (150, 40)
_DIAGRAM = 20
_LARGE_DIAGRAM = 34


class BoardCardOptions(msgspec.Struct, frozen=True):
    """How one board is looked at now."""

    palette: Palette
    figure: FigureChoice
    scale: FigureScale
    """Which figures stand beside the names."""
    curves: CurveScale
    """What the curves show."""
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
    """A head and a line for each player: every figure with its interval, moves, clock. The one
    that leads is strong.
    """
    palette = look.palette
    plan = _plan(width, look.scale)
    name = min(40, width - 2 - sum(cells + 1 for _, _, cells in plan))
    head = "  " + left("Player", name)
    for _, text, cells in plan:
        head += " " + (left(text, cells) if text == "95 %" else right(text, cells))
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
            "n": str(point.n) if point else "0",
            "clock": clock_text(left_s),
            "performance": _performance(game, white),
        }
        leads: FigureKind | None = None
        if point is not None:
            found = leading(point, player.elo, look.figure)[0]
            leads = None if found is None else found.kind
            for kind in _SHOWN:
                held = figure(point, kind)
                over = kind != "percentile" or game.result != "*"
                texts[kind] = figure_text(held) if over else percentile_text(held, over=False)
                texts[kind] = texts[kind].replace(" %", "%")
                texts[f"{kind} 95 %"] = figure_interval(held)
        line = styled(f"{sign} ", palette.white if white else palette.black)
        title = f"{plain(player.title, 4)} " if player.title else ""
        line.append(title, palette.strong)
        line.append(left(plain(player.name, 40), name - cell_len(title)))
        for key, head_text, cells in plan:
            interval = head_text == "95 %"
            style = palette.strong if key == leads else palette.dim if interval else ""
            if key == "clock" and game.result == "*":
                style = clock_style(left_s, low_clock_s(game.time_control), palette)
            text = texts.get(key, "·" if key in _SHOWN else "")
            line.append(" ")
            line.append(left(text, cells) if interval else right(text, cells), style)
        lines.append(line)
    return lines


_SHOWN: tuple[FigureKind, ...] = ("level", "percentile", "alone", "algorithm4")


def _plan(width: int, scale: FigureScale) -> list[tuple[str, str, int]]:
    """What stands beside a player's name: key, head, cells."""
    level = [("level", "Level", 5), ("level 95 %", "95 %", 9), ("percentile", "Pct", 4)]
    alone = [("alone", "Alone", 5), ("alone 95 %", "95 %", 9)]
    by_algorithm_4 = [("algorithm4", "A4", 5), ("algorithm4 95 %", "95 %", 9)]
    plan = [("elo", "Elo", 4)]
    if scale == "level":
        plan += level + alone
    elif scale == "alone":
        plan += alone
    else:
        plan += by_algorithm_4
    if width >= 96:
        plan.append(("performance", "Perf", 5))
        if scale != "algorithm4":
            plan += by_algorithm_4
    return [*plan, ("n", "n", 3), ("clock", "Clock", 5)]


def _performance(game: GameDetail, white: bool) -> str:
    side = game.methods.white if white else game.methods.black
    return rating_text(side.performance, side.performance_low, side.performance_high)


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
            name = _curve_name(look.curves)
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


def _curve_name(shown: CurveScale) -> str:
    name = FIGURE_NAMES[shown]
    return f"{name}, 0 to 100" if shown == "percentile" else f"{name}, 95 % ░"


def _curves(
    game: GameDetail, width: int, height: int, look: BoardCardOptions
) -> tuple[Sequence[Text], Sequence[Text]]:
    curves = (game.curves.white, game.curves.black)
    scale = text_charts.common_scale(curves, look.curves)
    styles = (look.palette.white, look.palette.black)
    white, black = (
        text_charts.rating_graph(points, scale, width, height, style, look.palette, look.curves)
        for points, style in zip(curves, styles, strict=True)
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
    scale_name = _curve_name(look.curves)
    white, black = _curves(game, rest_width, graph_height, look)
    graphs = [
        styled("Score, White's side", palette.head),
        *text_charts.score_graph(game, look.ply, rest_width, graph_height, palette),
        styled(f"○ {scale_name}", palette.head),
        *white,
        styled(f"● {scale_name}", palette.head),
        *black,
        styled("Other methods", palette.head),
        *side_figures(game, rest_width, palette),
    ]
    return beside([(board, first_width), (listed, middle_width), (graphs, rest_width)])[:height]
