"""A table of a study: how it is called and made, and its forms for people, spreadsheets, programs.

Pure. The same corpus gives the same bytes every time: rows have an order of their own, and numbers
are written with as many digits as they deserve.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, NamedTuple, TypeVar

import msgspec

Cell = str | int | float | None
Row = tuple[Cell, ...]
Maker = TypeVar("Maker", bound="Callable[..., Iterable[Row | TableHead]]")


class TableColumn(NamedTuple):
    """What stands in one column."""

    name: str
    digits: int | None = None
    """Decimals of a number; None for words and whole numbers."""
    meaning: str = ""
    """For people, where the name does not say it."""


#: A name, or with it digits and meaning as in ``TableColumn``.
Column = str | tuple[str, int | None] | tuple[str, int | None, str]


def with_interval(
    name: str, digits: int, meaning: str = "", low: str = "low", high: str = "high"
) -> tuple[Column, Column, Column]:
    """A figure and both ends of its interval."""
    return (name, digits, meaning), (low, digits, f"95 % interval of {name}"), (high, digits)


class StudyTable(msgspec.Struct, frozen=True):
    """One table."""

    name: str
    title: str
    source: str
    """Paper and number of the table or figure that it answers to."""
    engine: str
    """Engine and limit that its figures hold for; empty where none had a say."""
    columns: tuple[TableColumn, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    """What has to be known to read it; the paper's own figures where they are few."""


class TableHead(msgspec.Struct, frozen=True):
    """What of a table is known only when it is made; given among its rows."""

    notes: tuple[str, ...] = ()
    """Before those that it always has."""
    title: str = ""
    columns: tuple[Column, ...] = ()


class TableKind(NamedTuple):
    """How a table is made from a ``StudyData``, and what it always says."""

    make: Callable[..., Iterable[Row | TableHead]]
    title: str
    source: str
    columns: tuple[Column, ...]
    notes: tuple[str, ...]
    engine: str
    about: Literal["players", "everybody", "named"]
    by: tuple[str, ...]


#: Every table by its name; a module adds its own when it is imported.
TABLES: Final[dict[str, TableKind]] = {}
#: Gains of one kind, whatever is studied.
SUCCESSIVE: Final = "{setting}, successive gain"


def table(
    name: str,
    title: str,
    source: str,
    *columns: Column,
    notes: tuple[str, ...] = (),
    engine: str = "{setting}, {gain} gain",
    about: Literal["players", "everybody", "named"] = "players",
    by: tuple[str, ...] = (),
) -> Callable[[Maker], Maker]:
    """Put a table among ``TABLES``. The function below gives its rows.

    ``engine``: what figures hold for; empty: games alone, and no engine has a say. ``about``: the
    players selected; everybody, so that ``--player`` and ``--top`` choose nothing; or all together
    and beside them those named, so that ``--top`` does not. ``by``: what it can be paired or
    grouped by, the usual first: the function's second argument.
    """

    def add(make: Maker) -> Maker:
        TABLES[name] = TableKind(make, title, source, columns, notes, engine, about, by)
        return make

    return add


TableForm = Literal["text", "csv", "json"]


def formatted(table: StudyTable, form: TableForm) -> str:
    """The table as text, ending with a newline."""
    if form == "json":
        return msgspec.json.format(msgspec.json.encode(_json(table)), indent=1).decode() + "\n"
    heads = [column.name for column in table.columns]
    cells = [
        [_word(value, column) for value, column in zip(row, table.columns, strict=True)]
        for row in table.rows
    ]
    if form == "text":
        return _text(table, heads, cells)
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([heads, *cells])
    return out.getvalue()


def _json(table: StudyTable) -> dict[str, Any]:
    rows = [
        [_rounded(value, column.digits) for value, column in zip(row, table.columns, strict=True)]
        for row in table.rows
    ]
    columns = [{"name": each.name, "meaning": each.meaning} for each in table.columns]
    return msgspec.structs.asdict(table) | {"columns": columns, "rows": rows}


def _text(table: StudyTable, heads: list[str], cells: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    numbers = [
        all(not isinstance(row[index], str) for row in table.rows) for index in range(len(heads))
    ]
    lines = [table.title, table.source, table.engine, ""]
    for row in [heads, *cells]:
        words = (
            word.rjust(width) if number else word.ljust(width)
            for word, width, number in zip(row, widths, numbers, strict=True)
        )
        lines.append("  ".join(words).rstrip())
    if not cells:
        lines.append("(nothing in this selection)")
    lines += ["", *table.notes] if table.notes else []
    meanings = [f"{each.name}: {each.meaning}" for each in table.columns if each.meaning]
    return "\n".join([*lines, *meanings]) + "\n"


def _rounded(value: Cell, digits: int | None) -> Cell:
    """A number with its digits, never a negative zero; anything else as it is."""
    if isinstance(value, float) and digits is not None:
        return round(value, digits) + 0.0
    return value


def _word(value: Cell, column: TableColumn) -> str:
    if isinstance(value, float) and column.digits is not None:
        return f"{_rounded(value, column.digits):.{column.digits}f}"
    return "" if value is None else str(value)
