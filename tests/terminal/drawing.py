"""Renderables as the text a terminal would show."""

from __future__ import annotations

from io import StringIO

from rich.console import Console, RenderableType


def drawn(renderable: RenderableType, width: int = 120) -> str:
    console = Console(file=StringIO(), width=width, force_terminal=False, color_system=None)
    console.print(renderable)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()
