"""Tables of a study: how they are registered, made, and written as text, CSV or JSON.

A corpus always gives the same bytes: rows have a defined order, and numbers are written
with a fixed number of digits.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import msgspec

from live.errors import InputError
from live.messages.values import Value
from live.server.analysis import to_json
from live.studies.study_data import StudyData

Cell = str | int | float | None
Row = tuple[Cell, ...]


class TableColumn(NamedTuple):
    """Name and format of one column."""

    name: str
    digits: int | None = None
    """Decimals of a number; None for words and whole numbers."""
    meaning: str = ""
    """Explanation for people, if the name is not enough."""


#: Definition of a column: a name, or a name with digits and meaning as in
#: ``TableColumn``.
Column = str | tuple[str, int | None] | tuple[str, int | None, str]


def build_interval_columns(
    name: str, digits: int, meaning: str = "", low: str = "low", high: str = "high"
) -> tuple[Column, Column, Column]:
    """Return the columns of a figure and of the two ends of its interval."""
    return (
        (name, digits, meaning),
        (low, digits, f"95 % interval of {name}"),
        (high, digits),
    )


class StudyTable(Value):
    """One finished table."""

    name: str
    title: str
    source: str
    """Paper, and number of the table or figure in it that this table reproduces."""
    engine: str
    """Engine and limit for which the figures are valid; empty if no engine was used."""
    columns: tuple[TableColumn, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    """Notes that readers need; also the paper's own figures if there are few."""


class TableHead(NamedTuple):
    """Title and columns of a table, if they are known only when it is made. The
    function that makes the table yields it among the rows.
    """

    title: str
    columns: tuple[Column, ...] = ()


Rows = Iterator[Row | str | TableHead]
"""Output of the function that makes a table: its rows, its notes as plain texts, and a
head. These notes come before the table's fixed notes.
"""


class TableKind(NamedTuple):
    """Definition of a table: the function that makes it from a ``StudyData``, and the
    texts that do not depend on the data.
    """

    name: str
    """Name on the command line."""
    title: str
    source: str
    """Paper and number of the table or figure."""
    columns: tuple[Column, ...]
    make: Callable[..., Rows]
    notes: tuple[str, ...] = ()
    engine: str = "{setting}, {gain} gain"
    """The setting for which the figures are valid; empty if the table needs only games
    and no engine.
    """
    about: Literal["players", "everybody", "named"] = "players"
    """``players`` for a table about the selected players; ``everybody`` for one about
    all players, in which ``--player`` and ``--top`` have no effect; ``named`` for all
    players together and beside them those named, in which ``--top`` has no effect.
    """
    by: tuple[str, ...] = ()
    """Names of the pairings or groupings, the default first; the chosen one is the
    second argument of ``make``.
    """


#: Value of ``engine`` for tables that always use successive gains, whatever gain is
#: studied.
SUCCESSIVE = "{setting}, successive gain"


def define_table(
    name: str, title: str, source: str, *columns: Column, **rest: Any
) -> Callable[[Callable[..., Rows]], TableKind]:
    """Return a decorator that makes a function, which yields a table's rows, into the
    definition of the table. ``rest`` are fields of :class:`TableKind` after ``make``.
    """

    def define(make: Callable[..., Rows]) -> TableKind:
        return TableKind(name, title, source, columns, make, **rest)

    return define


TableForm = Literal["text", "csv", "json"]


def format_table(table: StudyTable, form: TableForm) -> str:
    """Return the table as text, CSV or JSON, ending with a newline."""
    digits = [column.digits for column in table.columns]
    cells = [[*map(_round_cell, row, digits)] for row in table.rows]
    if form == "json":
        columns = [
            {"name": column.name, "meaning": column.meaning} for column in table.columns
        ]
        document = msgspec.structs.asdict(table) | {"columns": columns, "rows": cells}
        return to_json(document).decode()
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
    lines += [
        f"{column.name}: {column.meaning}" for column in table.columns if column.meaning
    ]
    return "\n".join(lines) + "\n"


def _round_cell(value: Cell, digits: int | None) -> Cell:
    """Return a number rounded to its digits, never as a negative zero; return anything
    else unchanged.
    """
    if isinstance(value, float) and digits is not None:
        return round(value, digits) + 0.0
    return value


def _format_cell(value: Cell, digits: int | None) -> str:
    if isinstance(value, float) and digits is not None:
        return f"{value:.{digits}f}"
    return "" if value is None else str(value)


def build_table(kind: TableKind, data: StudyData, by: str | None = None) -> StudyTable:
    """Make one table. ``by`` is one of its pairings or groupings; None for the default.

    Raises:
        InputError: the table has no such ``by``.
    """
    if by is not None and by not in kind.by:
        remedy = f"Give one of {', '.join(kind.by)}" if kind.by else "Leave it out"
        raise InputError("--by", f"{by!r} is no choice for {kind.name}", remedy)
    title = kind.title
    columns = kind.columns
    notes = list[str]()
    rows = list[Row]()
    for part in kind.make(data, by or kind.by[0]) if kind.by else kind.make(data):
        if isinstance(part, TableHead):
            title = part.title
            columns = part.columns or columns
        elif isinstance(part, str):
            notes.append(part)
        else:
            rows.append(part)
    return StudyTable(
        kind.name,
        title,
        kind.source,
        kind.engine.format(setting=data.setting, gain=data.selection.gain),
        tuple(
            TableColumn(*([column] if isinstance(column, str) else column))
            for column in columns
        ),
        tuple(rows),
        (*notes, *kind.notes),
    )
