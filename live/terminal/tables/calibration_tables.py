"""Tables of calibration: Table 4, and how well a model does. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from live.events import GainKind
from live.ledger.comparisons import TableFour
from live.ratings.intrinsic_rating import IntrinsicTable
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


def checked(model: str, after: Mapping[str, Mapping[str, Any]], *, known: bool) -> Table:
    """What a model's bands hold after some moves and over whole games, as ``judge.summary`` says.

    ``known``: its own file, of which only those players count that it never saw.
    """
    table = _table(f"Model {plain(model, 40)}: shares of player-games")
    table.add_column("After", no_wrap=True)
    for head in ("Number", "In usual", "In 95 %", "Own outside", "Blind r"):
        table.add_column(head, justify="right", no_wrap=True)
    for when, row in after.items():
        if row["n"]:
            shares = (row[key] for key in ("usual_holds", "interval_holds", "own_outside"))
            r = row["blind_r"]
            table.add_row(
                f"{when} moves" if when.isdigit() else "the game",
                str(row["n"]),
                *(f"{100 * share:.1f} %" for share in shares),
                "" if r is None else f"{r:.2f}",
            )
    if known:
        table.caption = "Learned from this file: only players who were left out count."
        table.caption_justify = "left"
    return table


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
