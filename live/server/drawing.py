"""Common parts of the preview pictures: size, colours, and text as SVG. Pure."""

from html import escape
from typing import Literal

WIDTH, HEIGHT = 1200, 630
FONTS = "Inter, DejaVu Sans, Noto Sans, Liberation Sans, Arial, Helvetica, Segoe UI"
INK, QUIET, GROUND = "#e8ecf1", "#9aa7b8", "#12161c"


def cut_text(text: str, limit: int) -> str:
    """Return the text, cut to at most ``limit`` characters."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def draw_text(
    x: int,
    y: int,
    size: int,
    fill: str,
    text: str,
    *,
    anchor: Literal["start", "middle", "end"] = "start",
    is_bold: bool = False,
) -> str:
    """Return a line of text as SVG; ``anchor`` is the part of the text at ``x``."""
    # XML forbids control characters, and feeds can send half of a surrogate pair.
    printable = "".join(char for char in text if char.isprintable())
    style = f' text-anchor="{anchor}"' if anchor != "start" else ""
    style += ' font-weight="bold"' if is_bold else ""
    place = f'x="{x}" y="{y}" font-size="{size}" fill="{fill}"'
    return f"<text {place}{style}>{escape(printable)}</text>"
