"""Tables for reading after the event: players and games. Pure functions to rich renderables."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from live.events import CurvePoint, EngineInfo, GainKind, GameDetail, PlayerView, Share
from live.terminal.figure_text import interval_text, plain, rating_text, so_far
from live.terminal.tables.boards_table import RATING_SOURCES, calibrated_cells, rating_cells

#: Names and figures further apart than this are hard to read as one line.
WIDEST_TABLE = 100


def players(
    views: Sequence[PlayerView], engine: EngineInfo, gain: GainKind, *, width: int
) -> Table:
    """Everybody's pooled figures, strongest play first."""
    calibrated = engine.calibration is not None
    table = _figures(
        f"Perceived ratings ({gain} gain; Algorithm 4 with the engine at {engine.rating} Elo, "
        f"{RATING_SOURCES[engine.rating_source]}"
        + (f"; calibration {engine.calibration})" if calibrated else "; not calibrated)"),
        width,
    )
    table.add_column("Player", ratio=1, no_wrap=True, overflow="ellipsis")
    heads = [("Elo", 4), ("Gm", 2), ("Moves", 5), ("Gain", 5)]
    if calibrated:
        heads += [("Plays like", 10), ("95 %", 9)]
    heads += [("A4", 4), ("95 %", 9)]
    for head, least in heads:
        table.add_column(head, justify="right", min_width=least, no_wrap=True)
    for view in sorted(views, key=_strength, reverse=True):
        row: list[str | Text] = [
            Text(plain(view.name, 40)),
            str(view.elo or ""),
            str(view.games),
            str(view.moves),
            f"{view.mean_gain_cp / 100:+.2f}" if view.mean_gain_cp is not None else "",
        ]
        if calibrated:
            row.append(f"{view.calibrated:.0f}" if view.calibrated is not None else "")
            row.append(interval_text(view.calibrated_low, view.calibrated_high))
        row.append(rating_text(view.rating, view.low, view.high))
        row.append(interval_text(view.low, view.high))
        table.add_row(*row)
    return table


def methods(views: Sequence[PlayerView], *, width: int) -> Table:
    """What the other methods say of everybody, strongest play first; empty where they cannot yet.

    Accuracy and average loss are those of the moves scored so far, marked where some are not.
    """
    table = _figures("By other methods (p: moves within 30 cp of the engine's choice)", width)
    table.add_column("Player", ratio=1, no_wrap=True, overflow="ellipsis")
    heads = [("A2", 4), ("Form", 4), ("p", 4), ("95 %", 9), ("1st", 4), ("95 %", 9)]
    for head, least in [*heads, ("Loss", 4), ("Acc.", 4)]:
        table.add_column(head, justify="right", min_width=least, no_wrap=True)
    for view in sorted(views, key=_strength, reverse=True):
        found = view.methods
        loss, accuracy = found.centipawn_loss_so_far, found.accuracy_so_far
        second = "" if found.tournament_rating is None else str(found.tournament_rating)
        if not second and found.tournament_difference is not None:
            second = f"{found.tournament_difference:+d}"
        table.add_row(
            Text(plain(view.name, 40)),
            second,
            "" if view.form is None else f"{view.form:+.0f}",
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


def _strength(view: PlayerView) -> tuple[bool, float, float, str]:
    if view.expected_score is None:
        return False, 0.0, 0.0, view.name
    return True, view.calibrated or 0.0, view.expected_score, view.name


def games(
    details: Sequence[GameDetail], engine: EngineInfo, gain: GainKind, *, width: int
) -> Table:
    """Finished games: both players' rating over the whole game, and how they compare."""
    calibrated = engine.calibration is not None
    scale = f"calibration {engine.calibration}" if calibrated else "Algorithm 4"
    table = _figures(
        f"Games ({plain(engine.name, 60)}, {engine.limit}, {gain} gain, {scale})", width
    )
    for color in ("White", "Black"):
        table.add_column(color, ratio=1, no_wrap=True, overflow="ellipsis")
        table.add_column("Like", justify="right", min_width=4, no_wrap=True)
        table.add_column("95 %", justify="right", min_width=9, no_wrap=True)
        if color == "White":
            table.add_column("Result", justify="center", min_width=7, no_wrap=True)
    table.add_column("Exp.", justify="right", min_width=4, no_wrap=True)
    for game in details:
        duel = game.head_to_head.expected_score
        table.add_row(
            Text(plain(game.white.name, 28)),
            *_last_rating(game.curves.white, calibrated=calibrated),
            game.result,
            Text(plain(game.black.name, 28)),
            *_last_rating(game.curves.black, calibrated=calibrated),
            "" if duel is None else f"{duel:.2f}",
        )
    return table


def _last_rating(points: Sequence[CurvePoint], *, calibrated: bool) -> tuple[Text, Text]:
    point = points[-1] if points else None
    return calibrated_cells(point) if calibrated else rating_cells(point)


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
