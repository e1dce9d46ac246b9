"""How figures, names and tables are written on paper, and the page around them. Pure.

A figure that is not known is an empty cell, never a zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources

import msgspec

#: Longest name on paper, characters; the longest real one has about 60.
NAME_CHARS = 80
MINUS = "\N{MINUS SIGN}"
RANGE = "\N{EN DASH}"


def plain(text: str, most: int = NAME_CHARS) -> str:
    """Text of a source without control characters and not endless."""
    printable = "".join(char if char.isprintable() else " " for char in text[: 4 * most])
    words = " ".join(printable.split())
    return words if len(words) <= most else words[: most - 1] + "…"


def html(text: str, most: int = NAME_CHARS) -> str:
    """Text of a source for a page: never markup, and kept from turning its neighbours around."""
    return f"<bdi>{escape(plain(text, most))}</bdi>"


def whole(value: float | None) -> str:
    """``2034``."""
    return "" if value is None else f"{value:.0f}".replace("-", MINUS)


def interval(low: float | None, high: float | None) -> str:
    """``1890-2370`` with an en dash; empty where an end is open."""
    return "" if low is None or high is None else f"{whole(low)}{RANGE}{whole(high)}"


def signed(value: float | None, decimals: int = 0) -> str:
    """``+12``, with a real minus sign."""
    return "" if value is None else f"{value:+.{decimals}f}".replace("-", MINUS)


def pawns(cp: float | None) -> str:
    """Centipawns as signed pawns: ``+0.35``."""
    return "" if cp is None else signed(cp / 100, 2)


def percent(share: float | None) -> str:
    """``61 %``."""
    return "" if share is None else f"{100 * share:.0f} %"


def clock(seconds: float | None) -> str:
    """``1:02:11``."""
    if seconds is None:
        return ""
    kept = max(0, int(seconds))
    return f"{kept // 3600}:{kept // 60 % 60:02d}:{kept % 60:02d}"


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


_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'none'; base-uri 'none'"


def document(title: str, *parts: str) -> str:
    """A whole page that loads nothing and runs nothing; ``title`` as text, ``parts`` as HTML."""
    style = resources.files("live.report").joinpath("page.css").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )
