"""Tables for reading after the event: players and games. Pure functions to rich renderables."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from live.catalogue import BY_ID, EARLY_MOVES, Figure, band_text, points_text, read, written
from live.events import CurvePoint, EngineInfo, GainKind, GameDetail, PlayerView
from live.terminal.figure_text import perceived_text, plain
from live.terminal.players.player_columns import COLUMNS
from live.terminal.players.player_list import RANKED, listed
from live.terminal.tables.boards_table import RATING_SOURCES, figure_cells

#: Names and figures further apart than this are hard to read as one line.
WIDEST_TABLE = 100


def players(
    views: Sequence[PlayerView], engine: EngineInfo, gain: GainKind, *, width: int
) -> Table:
    """Everybody by the perceived rating, the highest first; equal numbers are ties."""
    basis = f"read by {', '.join(engine.models)}" if engine.models else "no model reads the scores"
    table = _figures(
        f"Players ({gain} gain; {basis}; Algorithm 4 with the engine at {engine.rating} Elo, "
        f"{RATING_SOURCES[engine.rating_source]})",
        width,
    )
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("Player", ratio=1, no_wrap=True, overflow="ellipsis")
    heads = _fitting(list(_HEADS), width)
    for _, head, least in heads:
        table.add_column(head, justify="right", min_width=least, no_wrap=True)
    for line in listed(views, "", RANKED, reverse=False, engine_rating=engine.rating):
        view = line.view
        cells = {
            "plays": perceived_text(view.perceived),
            "usual": "",
            "games": str(view.games),
            "points": "" if view.points is None else points_text(view.points),
        }
        if view.usual_low is not None and view.usual_high is not None:
            cells["usual"] = band_text(view.usual_low, view.usual_high)
        for column in COLUMNS:
            if column.figure is not None and not column.interval:
                cells.setdefault(column.figure.id, column.text(view, engine.rating))
        style = "dim" if view.counted < EARLY_MOVES else ""
        row = [Text(cells[name], style if name == "plays" else "") for name, _, _ in heads]
        table.add_row(line.place, Text(plain(view.name, 40)), *row)
    caption = (
        "By “playing like”; equal numbers are ties, under ten counted moves nobody has a place. "
        "A4 is a scale of its own."
    )
    if engine.note:
        caption += f" {engine.note}."
    table.caption = Text(caption)
    table.caption_justify = "left"
    return table


def _fitting(heads: list[tuple[str, str, int]], width: int) -> list[tuple[str, str, int]]:
    """The columns that leave a name room to be read; what says least goes first."""
    kept = list(heads)
    for least in _DISPENSABLE:
        # Each column is followed by a space or two; the place takes four.
        if width - 4 - sum(cells + 2 for _, _, cells in kept) >= _LEAST_NAME:
            break
        kept = [head for head in kept if head[0] != least]
    return kept


_LEAST_NAME = 16
_HEADS = (
    ("elo", "Elo", 4),
    ("plays", "Plays", 5),
    ("usual", "usual", 9),
    ("percentile", "Pct", 4),
    ("algorithm4", "A4", 4),
    ("counted", "n", 3),
    ("games", "Gm", 2),
    ("points", "Pts", 3),
    ("mean_gain", "Gain", 5),
)
_DISPENSABLE = ("mean_gain", "games", "points", "algorithm4", "counted", "percentile")


def methods(views: Sequence[PlayerView], *, width: int) -> Table:
    """What the methods of the papers say of everybody; empty where they cannot yet."""
    table = _figures("Methods (p30: moves within 30 cp of the engine's choice)", width)
    table.add_column("Player", ratio=1, no_wrap=True, overflow="ellipsis")
    shown = [BY_ID[name] for name in _METHODS]
    for figure in shown:
        table.add_column(figure.head, justify="right", min_width=4, no_wrap=True)
        if figure.kind == "share":
            table.add_column(figure.interval, justify="right", min_width=6, no_wrap=True)
    for line in listed(views, "", RANKED, reverse=False):
        cells = [cell for figure in shown for cell in _cells(figure, line.view)]
        table.add_row(Text(plain(line.view.name, 40)), *cells)
    return table


_METHODS = ("tournament", "conformance", "first_choice", "centipawn_loss", "accuracy")


def _cells(figure: Figure, view: PlayerView) -> list[str]:
    found = read(figure, view)
    cells = [written(figure, found.value)]
    if figure.kind == "share":
        ends = [written(figure, end).removesuffix(" %") for end in (found.low, found.high)]
        cells.append("–".join(filter(None, ends)))
    return cells


def games(
    details: Sequence[GameDetail], engine: EngineInfo, gain: GainKind, *, width: int
) -> Table:
    """Finished games: both players' figure over the whole game, and how they compare."""
    table = _figures(f"Games ({plain(engine.name, 60)}, {engine.limit}, {gain} gain)", width)
    for color in ("White", "Black"):
        table.add_column(color, ratio=1, no_wrap=True, overflow="ellipsis")
        table.add_column("Plays", justify="right", min_width=5, no_wrap=True)
        table.add_column("usual", justify="right", min_width=9, no_wrap=True)
        if color == "White":
            table.add_column("Result", justify="center", min_width=7, no_wrap=True)
    for game in details:
        table.add_row(
            Text(plain(game.white.name, 28)),
            *figure_cells(_last(game.curves.white))[:2],
            game.result,
            Text(plain(game.black.name, 28)),
            *figure_cells(_last(game.curves.black))[:2],
        )
    return table


def _last(points: Sequence[CurvePoint]) -> CurvePoint | None:
    return points[-1] if points else None


def _figures(title: str, width: int) -> Table:
    """A table for reading after the event: names give way, figures do not."""
    return Table(
        title=Text(title),
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        width=min(width, WIDEST_TABLE),
    )
