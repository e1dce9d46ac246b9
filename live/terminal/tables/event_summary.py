"""Tables for reading after the event: players and games. Pure functions to rich renderables."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from live.events import CurvePoint, EngineInfo, GainKind, GameDetail, PlayerView, Share
from live.ledger.players.leading_figure import (
    FigureKind,
    figure,
    is_transferred,
    ranked_by,
    scale_of,
    standings,
)
from live.terminal.figure_text import (
    FIGURE_NAMES,
    figure_interval,
    figure_text,
    plain,
    so_far,
)
from live.terminal.tables.boards_table import RATING_SOURCES, figure_cells

#: Names and figures further apart than this are hard to read as one line.
WIDEST_TABLE = 100


def players(
    views: Sequence[PlayerView], engine: EngineInfo, gain: GainKind, *, width: int
) -> Table:
    """Everybody's pooled figures by what is known of them; ties are ties."""
    ranked = ranked_by(views)
    scale = scale_of(views)
    basis = f"calibration {engine.calibration}" if engine.calibration else "not calibrated"
    if is_transferred(engine):
        basis += ", transferred"
    table = _figures(
        f"Players ({gain} gain; {basis}; Algorithm 4 with the engine at {engine.rating} Elo, "
        f"{RATING_SOURCES[engine.rating_source]})",
        width,
    )
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("Player", ratio=1, no_wrap=True, overflow="ellipsis")
    kinds: list[FigureKind] = []
    if any(figure(view, "performance") is not None for view in views):
        kinds.append("performance")
    if scale != "algorithm4":
        kinds.append(scale)
    kinds.append("algorithm4")
    heads = [("elo", "Elo", 4), ("games", "Gm", 2), ("moves", "n", 3), ("gain", "Gain", 5)]
    for kind in kinds:
        heads += [(kind, _HEADS[kind], 5), (f"{kind} 95", "95 %", 9)]
        if kind == "level" and any(view.percentile is not None for view in views):
            heads.append(("percentile", "Pct", 4))
    heads = _fitting(heads, width)
    for _, head, least in heads:
        table.add_column(head, justify="right", min_width=least, no_wrap=True)
    for standing in standings(views):
        view = standing.view
        gain_cp = view.mean_gain_cp
        cells: dict[str, str | Text] = {
            "elo": str(view.elo or ""),
            "games": str(view.games),
            "moves": str(view.moves),
            "gain": f"{gain_cp / 100:+.2f}" if gain_cp is not None else "",
            "percentile": figure_text(figure(view, "percentile")),
        }
        for kind in kinds:
            found = figure(view, kind)
            cells |= {kind: figure_text(found), f"{kind} 95": figure_interval(found)}
        row = [cells[name] for name, _, _ in heads]
        table.add_row(standing.text, Text(plain(view.name, 40)), *row)
    caption = (
        f"By {FIGURE_NAMES[ranked].lower()}; = are ties: their 95 % intervals overlap. A4 is an "
        "index on its own scale."
    )
    if not engine.calibration and engine.calibration_note:
        caption += f" Calibration: {engine.calibration_note}."
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
_DISPENSABLE = (
    "algorithm4 95",
    "gain",
    "games",
    "algorithm4",
    "percentile",
    "level 95",
    "alone 95",
)

_HEADS: dict[FigureKind, str] = {
    "performance": "Perf",
    "level": "Level",
    "alone": "Alone",
    "algorithm4": "A4",
}


def methods(views: Sequence[PlayerView], *, width: int) -> Table:
    """What the other methods say of everybody, strongest play first; empty where they cannot yet.

    Accuracy and average loss are those of the moves scored so far, marked where some are not.
    """
    table = _figures("By other methods (p: moves within 30 cp of the engine's choice)", width)
    table.add_column("Player", ratio=1, no_wrap=True, overflow="ellipsis")
    heads = [("A2", 4), ("p", 4), ("95 %", 9), ("1st", 4), ("95 %", 9)]
    for head, least in [*heads, ("Loss", 4), ("Acc.", 4)]:
        table.add_column(head, justify="right", min_width=least, no_wrap=True)
    for view in (standing.view for standing in standings(views)):
        found = view.methods
        loss, accuracy = found.centipawn_loss_so_far, found.accuracy_so_far
        second = "" if found.tournament_rating is None else str(found.tournament_rating)
        if not second and found.tournament_difference is not None:
            second = f"{found.tournament_difference:+d}"
        table.add_row(
            Text(plain(view.name, 40)),
            second,
            *_share(found.conformance),
            *_share(found.first_choice),
            "" if loss is None else so_far(f"{loss:.0f}", found.centipawn_loss),
            "" if accuracy is None else so_far(f"{accuracy:.0f} %", found.accuracy),
        )
        if accuracy is not None and found.accuracy is None:
            table.caption = Text("~ so far: some moves are not scored")
            table.caption_justify = "left"
    return table


def _share(found: Share) -> tuple[str, str]:
    if found.share is None:
        return "", ""
    ends = "" if found.low is None or found.high is None else f"{found.low:.2f}–{found.high:.2f}"
    return f"{found.share:.2f}", ends


def games(
    details: Sequence[GameDetail], engine: EngineInfo, gain: GainKind, *, width: int
) -> Table:
    """Finished games: both players' rating over the whole game, and how they compare."""
    points = [
        points[-1]
        for each in details
        for points in (each.curves.white, each.curves.black)
        if points
    ]
    scale = scale_of(points)
    basis = FIGURE_NAMES[scale].lower() if scale != "algorithm4" else "Algorithm 4"
    if is_transferred(engine):
        basis += ", transferred"
    table = _figures(
        f"Games ({plain(engine.name, 60)}, {engine.limit}, {gain} gain, {basis})", width
    )
    for color in ("White", "Black"):
        table.add_column(color, ratio=1, no_wrap=True, overflow="ellipsis")
        table.add_column(_HEADS[scale], justify="right", min_width=5, no_wrap=True)
        table.add_column("95 %", justify="right", min_width=9, no_wrap=True)
        if color == "White":
            table.add_column("Result", justify="center", min_width=7, no_wrap=True)
    table.add_column("Exp.", justify="right", min_width=4, no_wrap=True)
    for game in details:
        duel = game.head_to_head.expected_score
        table.add_row(
            Text(plain(game.white.name, 28)),
            *figure_cells(_last(game.curves.white), scale),
            game.result,
            Text(plain(game.black.name, 28)),
            *figure_cells(_last(game.curves.black), scale),
            "" if duel is None else f"{duel:.2f}",
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
