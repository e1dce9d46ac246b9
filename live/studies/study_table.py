"""A table of a study: for people, for spreadsheets and for programs. Pure.

The same corpus gives the same bytes every time: rows have an order of their own, and numbers are
written with as many digits as they deserve.
"""

from __future__ import annotations

import csv
import io
from typing import Any, Literal, NamedTuple

import msgspec

Cell = str | int | float | None


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
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    """What has to be known to read it; the paper's own figures where they are few."""


TableForm = Literal["text", "csv", "json"]


def formatted(table: StudyTable, form: TableForm) -> str:
    """The table as text, ending with a newline."""
    if form == "json":
        return msgspec.json.format(msgspec.json.encode(_json(table)), indent=1).decode() + "\n"
    return _csv(table) if form == "csv" else _text(table)


def rounded(value: Cell, digits: int | None) -> Cell:
    """A number with its digits, never a negative zero; anything else as it is."""
    if isinstance(value, float) and digits is not None:
        return round(value, digits) + 0.0
    return value


def _json(table: StudyTable) -> dict[str, Any]:
    return {
        "name": table.name,
        "title": table.title,
        "source": table.source,
        "engine": table.engine,
        "columns": [{"name": each.name, "meaning": each.meaning} for each in table.columns],
        "rows": [
            [
                rounded(value, column.digits)
                for value, column in zip(row, table.columns, strict=True)
            ]
            for row in table.rows
        ],
        "notes": list(table.notes),
    }


def _csv(table: StudyTable) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(column.name for column in table.columns)
    for row in table.rows:
        writer.writerow(
            _word(value, column) for value, column in zip(row, table.columns, strict=True)
        )
    return out.getvalue()


def _text(table: StudyTable) -> str:
    cells = [
        [_word(value, column) for value, column in zip(row, table.columns, strict=True)]
        for row in table.rows
    ]
    heads = [column.name for column in table.columns]
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


def _word(value: Cell, column: TableColumn) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and column.digits is not None:
        return f"{round(value, column.digits) + 0.0:.{column.digits}f}"
    return str(value)
