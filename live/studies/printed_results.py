"""Output of results of studies: as JSON or as tables, with numbers and intervals."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from live.screens.command_output import print_line, write_json
from live.screens.terminal.printed import begin_table

Evals = Literal["engine", "pgn"]


def report_result(json: str | None, result: object, *figures: Any) -> int:
    """Write a result as JSON to the file ``json``, if that is given; print its tables
    and lines, unless ``json`` is ``-`` (standard output). Return the exit code 0.
    """
    if json is not None:
        write_json(json, result)
    console = Console()
    for figure in figures if json != "-" else ():
        if isinstance(figure, str):
            print_line(figure, console)
        else:
            console.print(figure)
    return 0


def build_figures_table(
    title: str,
    rows: Iterable[Sequence[str]],
    *heads: str,
    first: str = "Figure",
    caption: str = "",
) -> Table:
    """Build a table of names with their figures, one name per row."""
    table = begin_table(title, *(heads or ("Value",)), first=first)
    for name, *figures in rows:
        table.add_row(Text(name), *figures)
    table.caption = caption
    return table


def count_decimals(low: float | None, high: float | None) -> int:
    """Return the number of decimals with which to print an Elo interval, so that
    rounding does not make its ends equal.
    """
    if low is None or high is None or high - low >= 20:
        return 0
    return 1 if high - low >= 2 else 2


def format_signed(value: float | None, digits: int) -> str:
    """Return a number as ``+0.9``; empty for None, and without a minus sign before a
    zero.
    """
    return "" if value is None else f"{round(value, digits) + 0.0:+.{digits}f}"


def format_number(value: float | None, form: str) -> str:
    return "" if value is None else f"{value:{form}}"


def format_interval(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return ""
    return f"{0 if low is None else low:.2f}–{1 if high is None else high:.2f}"


def format_signed_interval(
    low: float | None, high: float | None, digits: int = 0
) -> str:
    if low is not None and high is not None:
        return f"{format_signed(low, digits)} to {format_signed(high, digits)}"
    if high is not None:
        return f"≤ {format_signed(high, digits)}"
    return "" if low is None else f"≥ {format_signed(low, digits)}"
