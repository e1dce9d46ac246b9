"""Tables of a study: how they are registered, made, and written as text, CSV or JSON.

The same corpus gives the same bytes: rows have a defined order, and numbers are written
with a fixed number of digits.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, TypeVar

import msgspec

from live.errors import InputError
from live.messages.values import Value
from live.server.analysis import to_json
from live.studies.study_data import StudyData

Cell = str | int | float | None
Row = tuple[Cell, ...]


class TableColumn(NamedTuple):
    """What stands in one column."""

    name: str
    digits: int | None = None
    """Decimals of a number; None for words and whole numbers."""
    meaning: str = ""
    """For people, where the name does not say it."""


#: A name, or with it digits and meaning as in ``TableColumn``.
Column = str | tuple[str, int | None] | tuple[str, int | None, str]


def build_interval_columns(
    name: str, digits: int, meaning: str = "", low: str = "low", high: str = "high"
) -> tuple[Column, Column, Column]:
    """Return the columns of a figure and of both ends of its interval."""
    return (
        (name, digits, meaning),
        (low, digits, f"95 % interval of {name}"),
        (high, digits),
    )


class StudyTable(Value):
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


class TableHead(NamedTuple):
    """What of a table is known only when it is made; given among its rows."""

    title: str
    columns: tuple[Column, ...] = ()


Rows = Iterator[Row | str | TableHead]
"""What a table is made of: a word alone is a note, before those that the table always
has.
"""
Maker = TypeVar("Maker", bound=Callable[..., Rows])


class TableKind(NamedTuple):
    """How a table is made from a ``StudyData``, and what it always says."""

    make: Callable[..., Rows]
    title: str
    source: str
    columns: tuple[Column, ...]
    notes: tuple[str, ...]
    engine: str
    about: Literal["players", "everybody", "named"]
    by: tuple[str, ...]


#: Every table by its name; a module adds its own when it is imported.
TABLES: dict[str, TableKind] = {}
#: Gains of one kind, whatever is studied.
SUCCESSIVE = "{setting}, successive gain"


def register_table(
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

    ``engine``: what figures hold for; empty: games alone, and no engine has a say.
    ``about``: the players selected; everybody, so that ``--player`` and ``--top``
    choose nothing; or all together and beside them those named, so that ``--top`` does
    not. ``by``: what it can be paired or grouped by, the usual first: the function's
    second argument.
    """

    def add(make: Maker) -> Maker:
        TABLES[name] = TableKind(make, title, source, columns, notes, engine, about, by)
        return make

    return add


TableForm = Literal["text", "csv", "json"]


def format_table(table: StudyTable, form: TableForm) -> str:
    """Return the table as text, ending with a newline."""
    digits = [column.digits for column in table.columns]
    cells = [[*map(_round_cell, row, digits)] for row in table.rows]
    if form == "json":
        columns = [
            {"name": each.name, "meaning": each.meaning} for each in table.columns
        ]
        whole = msgspec.structs.asdict(table) | {"columns": columns, "rows": cells}
        return to_json(whole).decode()
    words = [[column.name for column in table.columns]]
    words += [[*map(_format_cell, row, digits)] for row in cells]
    if form == "csv":
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(words)
        return out.getvalue()
    aligned = []
    for index, column in enumerate(zip(*words, strict=True)):
        width = max(map(len, column))
        if any(isinstance(row[index], str) for row in cells):
            aligned.append([word.ljust(width) for word in column])
        else:
            aligned.append([word.rjust(width) for word in column])
    lines = [table.title, table.source, table.engine, ""]
    lines += ["  ".join(row).rstrip() for row in zip(*aligned, strict=True)]
    if not cells:
        lines.append("(nothing in this selection)")
    lines += ["", *table.notes] if table.notes else []
    lines += [f"{each.name}: {each.meaning}" for each in table.columns if each.meaning]
    return "\n".join(lines) + "\n"


def _round_cell(value: Cell, digits: int | None) -> Cell:
    """Round a number to its digits, never to a negative zero; return anything else as
    it is.
    """
    if isinstance(value, float) and digits is not None:
        return round(value, digits) + 0.0
    return value


def _format_cell(value: Cell, digits: int | None) -> str:
    if isinstance(value, float) and digits is not None:
        return f"{value:.{digits}f}"
    return "" if value is None else str(value)


def build_table(name: str, data: StudyData, by: str | None = None) -> StudyTable:
    """Make one table. ``by``: one of the ways that it can be paired or grouped by.

    Raises InputError for a name or ``by`` that there is not.
    """
    if name not in TABLES:
        raise InputError(name, "is no table", f"Name one of {', '.join(TABLES)}")
    kind = TABLES[name]
    if by is not None and by not in kind.by:
        remedy = f"Give one of {', '.join(kind.by)}" if kind.by else "Leave it out"
        raise InputError("--by", f"{by!r} says nothing to {name}", remedy)
    title = kind.title
    columns = kind.columns
    notes = list[str]()
    rows = list[Row]()
    for found in kind.make(data, by or kind.by[0]) if kind.by else kind.make(data):
        if isinstance(found, TableHead):
            title = found.title
            columns = found.columns or columns
        elif isinstance(found, str):
            notes.append(found)
        else:
            rows.append(found)
    return StudyTable(
        name,
        title,
        kind.source,
        kind.engine.format(setting=data.setting, gain=data.selection.gain),
        tuple(
            TableColumn(*([each] if isinstance(each, str) else each))
            for each in columns
        ),
        tuple(rows),
        (*notes, *kind.notes),
    )
