"""Tables of calibration: Table 4, and how well a calibration does. Pure functions."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from live.events import GainKind
from live.ledger.players.ferreira_table_4 import TableFour
from live.ratings.calibration.calibration_check import CalibrationCheck, EloErrors
from live.ratings.regan.intrinsic_rating import IntrinsicTable
from live.terminal.figure_text import plain


def table_four(found: TableFour, engine: str, limit: str, gain: GainKind) -> Table:
    """Algorithms 2 and 3 with the columns of Ferreira 2012, Table 4."""
    table = _table(
        f"Engine strength by Algorithms 2 and 3 ({plain(engine, 60)}, {limit}, {gain} gain)"
    )
    table.add_column("Player", no_wrap=True, overflow="ellipsis", max_width=20)
    for head in ("Moves", "Elo r", "Est. r'", "Score p", "Diff. d", "r - d", "r' - d"):
        table.add_column(head, justify="right", no_wrap=True, min_width=len(head))
    for row in found.rows:
        table.add_row(
            Text(plain(row.name, 40)),
            str(row.moves),
            _whole(row.elo),
            _whole(row.strength),
            f"{row.expected_score:.3f}",
            "∞" if row.difference is None else f"{row.difference:+.0f}",
            _whole(row.engine_by_elo),
            _whole(row.engine_by_strength),
        )
    table.add_section()
    table.add_row(
        "Average", "", "", "", "", "", _whole(found.engine_by_elo), _whole(found.engine_by_strength)
    )
    if found.missing:
        table.caption = found.missing
        table.caption_justify = "left"
    return table


def summary(games: int, players: int, moves: int, rating: float | None, missing: str) -> str:
    """One line on the rated games, for people."""
    if missing:
        return missing
    strength = "no bounded difference" if rating is None else f"{rating:.0f} Elo"
    return (
        f"{games} rated player-games, {players} players, {moves} moves: "
        f"the engine counts {strength} (Algorithm 3 weighted by moves)."
    )


def mileposts(found: IntrinsicTable) -> Table:
    """Sensitivity and competence by Elo (Regan and Haworth 2011, section 7)."""
    table = _table(
        f"Intrinsic ratings ({plain(found.engine, 60)}, {found.limit}; {found.turns} turns of "
        f"{found.players} players)"
    )
    for head in ("Elo", "s", "c"):
        table.add_column(head, justify="right", no_wrap=True)
    for post in found.mileposts:
        table.add_row(f"{post.elo:.0f}", f"{post.s:.3f}", f"{post.c:.3f}")
    if found.players_sd_elo is not None:
        table.caption = f"One game strays from a player's rating by {found.players_sd_elo:.0f} Elo."
        table.caption_justify = "left"
    return table


def checked(found: CalibrationCheck, note: str) -> Table:
    """Coverage and errors of a calibration, whole games, after some moves, and pooled."""
    table = _table(
        f"Calibration {plain(found.calibration, 40)} on {found.games} player-games of "
        f"{found.players} players"
    )
    table.add_column("After", no_wrap=True)
    heads = ("Number", "Coverage", "Mean error", "Constant", "Width", "r")
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for moves, errors in found.by_moves.items():
        table.add_row(f"{moves} moves", *_errors(errors))
    table.add_row(
        "the game",
        str(found.games),
        _percent(found.coverage),
        _whole(found.mean_absolute_error),
        _whole(found.constant_error),
        "",
        _r(found.r),
    )
    pooled = found.pooled
    table.add_row(
        "20 games or more",
        str(pooled.players),
        _percent(pooled.coverage),
        _whole(pooled.mean_absolute_error),
        _whole(pooled.constant_error),
        "",
        _r(pooled.r),
    )
    if note:
        table.caption = note
        table.caption_justify = "left"
    return table


def _errors(errors: EloErrors) -> tuple[str, ...]:
    return (
        str(errors.number),
        _percent(errors.coverage),
        _whole(errors.mean_absolute_error),
        _whole(errors.constant_error),
        _whole(errors.width),
        _r(errors.r),
    )


def _table(title: str) -> Table:
    return Table(
        title=Text(title),
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )


def _whole(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"


def _r(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
