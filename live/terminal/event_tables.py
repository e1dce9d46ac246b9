"""Tables for reading after the event: players and games. Pure functions to rich renderables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from live.catalogue import BY_ID, EARLY_MOVES, cell, ends_cell, standings
from live.events import CurvePoint, EngineInfo, GainKind, GameDetail, PlayerView
from live.terminal.players_view import COLUMNS
from live.terminal.text import RATING_SOURCES, perceived_text, plain, player_cell

#: Names and figures further apart than this are hard to read as one line.
WIDEST_TABLE = 100
#: How a column of names gives way where figures do not.
NAME: dict[str, Any] = {"ratio": 1, "no_wrap": True, "overflow": "ellipsis"}
_LEAST_NAME = 16
#: Figure, head, least cells: those of the screen, and one more; those that say least go first.
_HEADS = (*COLUMNS, ("mean_gain", "Gain", 5))
_DISPENSABLE = ("mean_gain", "games", "points", "counted", "percentile")
_METHODS = ("tournament", "conformance", "first_choice", "centipawn_loss", "accuracy")


def titled(title: str, *heads: str, first: str = "", width: int | None = None) -> Table:
    """A table under its title: a column of names where ``first`` is given, then figures."""
    table = Table(
        title=Text(title),
        title_justify="left",
        title_style="bold",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        width=None if width is None else min(width, WIDEST_TABLE),
    )
    if first:
        table.add_column(first, no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    return table


def players(
    views: Sequence[PlayerView], engine: EngineInfo, gain: GainKind, *, width: int
) -> Table:
    """Everybody by the perceived rating, the highest first; equal numbers are ties."""
    basis = f"read by {', '.join(engine.models)}" if engine.models else "no model reads the scores"
    table = titled(
        f"Players ({gain} gain; {basis}; Algorithm 4 with the engine at {engine.rating} Elo, "
        f"{RATING_SOURCES[engine.rating_source]})",
        width=width,
    )
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("Player", **NAME)
    shown = list(_HEADS)
    for least in _DISPENSABLE:
        # Each column is followed by a space or two; the place takes four.
        if width - 4 - sum(cells + 2 for _, _, cells in shown) >= _LEAST_NAME:
            break
        shown = [each for each in shown if each[0] != least]
    for _, head, cells in shown:
        table.add_column(head, justify="right", min_width=cells, no_wrap=True)
    for standing in standings(views):
        view = standing.view
        early = "dim" if view.counted < EARLY_MOVES else ""
        row = [
            Text(player_cell(name, view, engine.rating), early if name == "perceived" else "")
            for name, _, _ in shown
        ]
        table.add_row(standing.text, Text(plain(view.name, 40)), *row)
    caption = (
        "By “playing like”; equal numbers are ties, under ten counted moves nobody has a place. "
        "A4 is a scale of its own."
    )
    table.caption = Text(f"{caption} {engine.note}." if engine.note else caption)
    return table


def methods(views: Sequence[PlayerView], *, width: int) -> Table:
    """What the methods of the papers say of everybody; empty where they cannot yet."""
    table = titled("Methods (p30: moves within 30 cp of the engine's choice)", width=width)
    table.add_column("Player", **NAME)
    shown = [BY_ID[name] for name in _METHODS]
    for figure in shown:
        table.add_column(figure.head, justify="right", min_width=4, no_wrap=True)
        if figure.kind == "share":
            table.add_column(figure.interval, justify="right", min_width=6, no_wrap=True)
    for view in (each.view for each in standings(views)):
        row = [plain(view.name, 40)]
        for figure in shown:
            row.append(cell(figure, view))
            if figure.kind == "share":
                row.append(ends_cell(figure, view))
        table.add_row(*map(Text, row))
    return table


def games(
    details: Sequence[GameDetail], engine: EngineInfo, gain: GainKind, *, width: int
) -> Table:
    """Finished games: both players' figure over the whole game, and how they compare."""
    table = titled(f"Games ({plain(engine.name, 60)}, {engine.limit}, {gain} gain)", width=width)
    for color in ("White", "Black"):
        table.add_column(color, **NAME)
        table.add_column("Plays like", justify="right", no_wrap=True)
        table.add_column("usual", justify="right", min_width=9, no_wrap=True)
        if color == "White":
            table.add_column("Result", justify="center", min_width=7, no_wrap=True)
    for game in details:
        table.add_row(
            Text(plain(game.white.name, 28)),
            *_figure(game.curves.white),
            game.result,
            Text(plain(game.black.name, 28)),
            *_figure(game.curves.black),
        )
    return table


def _figure(points: Sequence[CurvePoint]) -> tuple[Text, Text]:
    """The perceived rating after the last move, and what is usual."""
    if not points or points[-1].perceived is None:
        return Text("·", "dim"), Text()
    early = points[-1].counted < EARLY_MOVES
    plays = Text(perceived_text(points[-1].perceived), "dim" if early else "bold")
    return plays, Text(ends_cell(BY_ID["perceived"], points[-1]), "dim")
