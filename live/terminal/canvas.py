"""The widget that shows a frame: lines of rich text, of which only those that changed are drawn."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

#: Strips kept of lines that come back, as a cursor moves up and down.
_KEPT = 512


class Canvas(Widget, can_focus=True):
    """Shows the lines it was last given."""

    DEFAULT_CSS = "Canvas { height: 1fr; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[Text] = []
        self._strips: dict[tuple[str, str, int], Strip] = {}
        self._ground = Style()

    def on_ground(self, style: Style) -> None:
        """Draw everything afresh on this background."""
        self._ground = style
        self._strips.clear()
        self.refresh()

    def show(self, lines: list[Text]) -> int:
        """Draw what differs from before; how many lines that were."""
        width = self.size.width
        before = self._lines
        changed = [
            row
            for row, line in enumerate(lines)
            if row >= len(before) or not _same(line, before[row])
        ]
        changed += range(len(lines), len(before))
        self._lines = lines
        if changed:
            self.refresh(*(Region(0, row, width, 1) for row in changed))
        return len(changed)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y >= len(self._lines):
            return Strip.blank(width, self._ground)
        line = self._lines[y]
        key = (line.plain, repr((line.style, line.spans)), width)
        strip = self._strips.get(key)
        if strip is None:
            if len(self._strips) >= _KEPT:
                self._strips.clear()
            segments = line.render(self.app.console, end="")
            strip = Strip(segments).adjust_cell_length(width).apply_style(self._ground)
            self._strips[key] = strip
        return strip


def _same(one: Text, other: Text) -> bool:
    return one.plain == other.plain and one.style == other.style and one.spans == other.spans
