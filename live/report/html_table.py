"""An HTML table. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import msgspec


class HtmlColumn(msgspec.Struct, frozen=True):
    """Its head, and the classes of its cells: ``n`` figures, ``c`` centred, empty for text."""

    head: str
    kind: str = ""


def table(columns: Sequence[HtmlColumn], rows: Iterable[Sequence[str]]) -> str:
    """Cells are HTML already: whoever fills them has escaped what came from a source."""
    heads = "".join(f"<th{_class(each)}>{escape(each.head)}</th>" for each in columns)
    body = "\n".join(
        "<tr>"
        + "".join(
            f"<td{_class(column)}>{cell}</td>" for column, cell in zip(columns, row, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>\n{body}\n</tbody></table>"


def _class(column: HtmlColumn) -> str:
    return f' class="{escape(column.kind)}"' if column.kind else ""
