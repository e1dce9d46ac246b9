"""Tables of players, methods and games, to read without a screen."""

from collections.abc import Collection, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from live.catalogue import (
    BY_ID,
    RANKED_BY,
    rank_players,
    write_cell,
    write_interval,
)
from live.games.rounds import format_round_and_board
from live.messages.figures import (
    AnalysedPlayer,
    CurvePoint,
    EngineInfo,
    GainKind,
    GameDetail,
    PlayerView,
)
from live.messages.values import GameId
from live.screens.terminal.text import (
    RATING_SOURCES,
    Column,
    fit_columns,
    is_early,
    plain,
    write_figure,
)

#: Maximum width of a table, in cells; wider rows are hard to read as one line.
WIDEST_TABLE = 100
#: Settings of a column of names: names are shortened to make room for figures.
NAME: dict[str, Any] = {"ratio": 1, "no_wrap": True, "overflow": "ellipsis"}
_FIGURE: dict[str, Any] = {"justify": "right", "no_wrap": True}
FIGURE_COLUMNS = (
    Column("Elo", 4, "elo"),
    Column("Plays like", 10, "perceived"),
    Column("usual", 9, "usual"),
    Column("Better than", 11, "percentile"),
    Column("Moves", 5, "counted"),
    Column("Pts", 4, "points"),
    Column("Gm", 2, "games"),
    Column("Algorithm 4", 11, "algorithm4"),
)
#: Minimum width of a player's name, in cells; columns are left out to keep it.
_LEAST_PLAYER = 13
#: Width of the columns before the names, in cells: place, and sign of an alert.
RANK = 6
_PRINTED_METHODS = (
    "tournament",
    "conformance",
    "first_choice",
    "centipawn_loss",
    "accuracy",
)


def choose_figure_columns(width: int, gap: int) -> Sequence[Column]:
    """Return the columns of figures that fit beside the players' names, from the left.

    Args:
        width: the width of the whole line, in cells.
        gap: the cells between two columns.
    """
    return fit_columns(FIGURE_COLUMNS, width - RANK - _LEAST_PLAYER - 2, gap)


def begin_table(
    title: str, *heads: str, first: str = "", width: int | None = None
) -> Table:
    """Return an empty table with a title and columns of figures with these ``heads``.

    ``first`` is the head of a column of names before them; without it there is none.
    """
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
        table.add_column(head, **_FIGURE)
    return table


def build_players_table(
    views: Sequence[PlayerView], engine: EngineInfo, gain: GainKind, *, width: int
) -> Table:
    """Return a table of all players in the order of
    :func:`live.catalogue.rank_players`.
    """
    basis = "no model reads the scores"
    if engine.models:
        word = "model" if len(engine.models) == 1 else "models"
        basis = f"{word} {', '.join(engine.models)}"
    columns = choose_figure_columns(width, gap=2)
    if columns == FIGURE_COLUMNS:
        source = RATING_SOURCES[engine.rating_source]
        basis += "; Algorithm 4, a scale of its own, with the engine at"
        basis += f" {engine.rating} Elo, {source}"
    table = begin_table(f"Players ({gain} gain; {basis})", width=width)
    table.add_column("", **_FIGURE)
    table.add_column("Player", **NAME)
    for column in columns:
        table.add_column(column.head, min_width=column.width, **_FIGURE)
    for ranked in rank_players(views):
        view = ranked.view
        row = []
        for column in columns:
            early = column.figure == "perceived" and is_early(view)
            text = write_figure(column.figure, view, engine.rating)
            row.append(Text(text, "dim" if early else ""))
        table.add_row(ranked.place_text, Text(plain(view.name, 40)), *row)
    note = f" {engine.note[:1].upper()}{engine.note[1:]}." if engine.note else ""
    table.caption = Text(f"{RANKED_BY}{note}")
    return table


def build_methods_table(views: Sequence[AnalysedPlayer], *, width: int) -> Table:
    """Return a table of the figures of the papers' methods; a cell is empty until its
    method has enough data.
    """
    table = begin_table(
        "Methods (p30: moves within 30 cp of the engine's choice)", width=width
    )
    table.add_column("Player", **NAME)
    figures = [BY_ID[name] for name in _PRINTED_METHODS]
    for figure in figures:
        table.add_column(figure.head, min_width=4, **_FIGURE)
        if figure.kind == "share":
            table.add_column(figure.interval, min_width=6, **_FIGURE)
    for ranked in rank_players(views):
        view = ranked.view
        row = [plain(view.name, 40)]
        for figure in figures:
            row.append(write_cell(figure, view))
            if figure.kind == "share":
                row.append(write_interval(figure, view))
        table.add_row(*map(Text, row))
    return table


#: Minimum width of a table of games that shows the usual range, characters; a narrower
#: table needs the room for names.
_USUAL_FROM = 100


def build_games_table(
    details: Sequence[GameDetail],
    engine: EngineInfo,
    gain: GainKind,
    *,
    width: int,
    in_doubt: Collection[GameId] = (),
) -> Table:
    """Return a table of finished games with both players' figures over the whole game
    and a comparison of them; ``?`` marks a result ``in_doubt``.
    """
    table = begin_table(
        f"Games ({plain(engine.name, 60)}, {engine.limit}, {gain} gain)", width=width
    )
    table.add_column("Rd.Bd", **_FIGURE)
    cells = 1 + (width >= _USUAL_FROM)
    for color in ("White", "Black"):
        table.add_column(color, **NAME)
        table.add_column("Plays like", **_FIGURE)
        if cells > 1:
            table.add_column("usual", min_width=9, **_FIGURE)
        if color == "White":
            table.add_column("Result", justify="center", min_width=7, no_wrap=True)
    for game in details:
        table.add_row(
            Text(plain(format_round_and_board(game), 12)),
            Text(plain(game.white.name, 28)),
            *_write_last_figures(game.curves.white)[:cells],
            f"{game.result} ?" if game.id in in_doubt else game.result,
            Text(plain(game.black.name, 28)),
            *_write_last_figures(game.curves.black)[:cells],
        )
    return table


def _write_last_figures(points: Sequence[CurvePoint]) -> tuple[Text, Text]:
    """Return the perceived rating after the last move, with a word if it is early, and
    its usual range.
    """
    last = points[-1] if points else None
    rating = Text(write_figure("perceived", last), "bold")
    if last is not None and last.perceived is not None and is_early(last):
        rating = Text(f"{rating.plain} early", "dim")
    return rating, Text(write_figure("usual", last), "dim")
