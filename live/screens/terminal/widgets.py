"""Textual widgets for rows and charts that change while people look at them.

Only lines that have changed are drawn again. Textual's ``DataTable`` redraws every cell
when one has changed, which takes 0.4 s at 200x60. Rows of text in an ``OptionList``
avoid that, and have its cursor, scrolling, keys and mouse.
"""

from collections.abc import Callable, Sequence
from itertools import zip_longest

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Region, Size
from textual.screen import ModalScreen, Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from live.messages.values import GameId
from live.screens.terminal.text import Panel, begin_line, is_same
from live.screens.terminal.view_context import Answers, ViewContext


class Lines(Widget):
    """Widget that shows lines of text."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: Panel = []

    def show(self, lines: Panel) -> int:
        """Draw the lines that differ from before; return their number."""
        pairs = enumerate(zip_longest(lines, self._lines))
        changed = [row for row, (line, before) in pairs if not is_same(line, before)]
        size = self._measure()
        self._lines = lines
        if self.styles.auto_dimensions and self._measure() != size:
            lay_out_again(self)
        if changed:
            self.refresh(*(Region(0, row, self.size.width, 1) for row in changed))
        return len(changed)

    def _measure(self) -> Size:
        return Size(
            max((line.cell_len for line in self._lines), default=0), len(self._lines)
        )

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return self._measure().width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._measure().height

    def render_line(self, y: int) -> Strip:
        line = self._lines[y] if y < len(self._lines) else Text()
        return draw_strip(self, line, self.size.width)


class KeyLine(Lines):
    """The keys that work where the focus is, in one line; a click presses a key.

    Textual's own footer has a widget for each key and makes them all again whenever the
    focus moves, which costs more than everything else that a key does.
    """

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._write_keys)

    def _write_keys(self, screen: Screen[object]) -> None:
        # A terminal without the keyboard has no focus: keep what works once it is back.
        if not self.app.app_focus:
            return
        keys: dict[str, Text] = {}
        for active in screen.active_bindings.values():
            binding = active.binding
            if not binding.show or binding.action in keys:
                continue
            sign = self.app.get_key_display(binding)
            key = Text.assemble((sign, "key"), (f" {binding.description} ", "text"))
            key.apply_meta(
                {
                    "@click": f"app.simulate_key({binding.key!r})",
                    "tooltip": active.tooltip,
                }
            )
            keys[binding.action] = key
        self.show([Text.assemble(*keys.values())])

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Explain the key under the mouse."""
        self.tooltip = event.style.meta.get("tooltip")


def lay_out_again(widget: Widget) -> None:
    """Request a new layout for a widget, now and again once the widget is idle.

    Textual merges all requests made before the widget is idle. If it lays out the
    screen in between, as at the start, the widget would keep its old size.
    """
    widget.refresh(layout=True)
    widget.call_after_refresh(widget.refresh, layout=True)


def set_border_title(widget: Widget, title: str) -> None:
    """Write ``title`` into the border, as plain text without markup."""
    content = Content(title)
    if widget.border_title != content.markup:
        widget.border_title = content


def draw_strip(widget: Widget, line: Text, width: int) -> Strip:
    """Return a line on the widget's background, in exactly ``width`` cells."""
    ground = widget.rich_style
    line = line.copy()
    line.truncate(width, overflow="ellipsis")
    strip = Strip(line.render(widget.app.console, end=""))
    return strip.adjust_cell_length(width, ground).apply_style(ground)


class RowList(OptionList):
    """List of one-line rows whose cursor stays on its row, even when the row moves."""

    BINDINGS = [
        Binding("enter", "select", "open", tooltip="what is under the cursor"),
        Binding("up,k", "cursor_up", "one up", show=False),
        Binding("down,j", "cursor_down", "one down", show=False),
    ]

    def __init__(
        self, opened: Callable[[], None] = lambda: None, *, id: str | None = None
    ) -> None:
        """Create an empty list; ``opened`` is called when the row under the cursor is
        chosen.
        """
        super().__init__(id=id, compact=True)
        self._opened = opened
        self._draw: Callable[[int], Text] = lambda row: Text()
        self._drawn: dict[int, Text] = {}
        self.ids: Sequence[str] = ()
        self.moved = True
        """Whether a key has moved the cursor since the last action on its row."""

    @property
    def cursor(self) -> str | None:
        """Id of the row under the cursor; None if there is none."""
        at = self.highlighted
        return self.ids[at] if at is not None and at < len(self.ids) else None

    def show(self, ids: Sequence[str], draw: Callable[[int], Text]) -> int:
        """Draw the visible rows that differ from before; return their number.

        A row without an id belongs to the row above it, and the cursor skips it.
        """
        selected, at = self.cursor, self.highlighted or 0
        self.ids, self._draw = ids, draw
        if [bool(id) for id in ids] != [not option.disabled for option in self.options]:
            self.set_options(Option(" ", disabled=not id) for id in ids)
            lay_out_again(self)
        if ids:
            index = ids.index(selected) if selected in ids else min(at, len(ids) - 1)
            if not ids[index]:
                index -= 1
            if index != self.highlighted:
                self.highlighted = index
        top = self.scroll_offset.y
        before = self._drawn
        self._drawn = {
            row: draw(row) for row in range(len(ids))[top : top + self.size.height]
        }
        changed = [
            row
            for row, line in self._drawn.items()
            if not is_same(line, before.get(row))
        ]
        if changed:
            self.refresh(*(Region(0, row - top, self.size.width, 1) for row in changed))
        return len(changed)

    def render_line(self, y: int) -> Strip:
        row, width = self.scroll_offset.y + y, self.scrollable_content_region.width
        if row >= len(self.ids):
            return draw_strip(self, Text(), width)
        # While the input line is open, the list still shows its cursor, since the input
        # is about that row.
        is_asking = self.can_focus and isinstance(self.screen.focused, AskLine)
        is_current = row == self.highlighted and (self.has_focus or is_asking)
        line = Text("▌" if is_current else " ", "accent", no_wrap=True, end="")
        line = Text.assemble(line, self._drawn.get(row) or self._draw(row))
        if is_current:
            line.pad_right(max(0, width - line.cell_len))
            line.stylize_before("cursor")
        return draw_strip(self, line, width).apply_meta({"option": row})

    def action_select(self) -> None:
        # Call the function instead of posting a message, which later keys would
        # overtake.
        if self.highlighted is not None:
            self._opened()


class Page(VerticalScroll):
    """Text to read; it scrolls if it does not fit."""

    BINDINGS = [
        Binding("up,k", "scroll_up", "up", show=False),
        Binding("down,j", "scroll_down", "down", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.lines = Lines()

    def compose(self) -> ComposeResult:
        yield self.lines


class View(Vertical):
    """One of the screens, or a part of one."""

    def __init__(self, context: ViewContext, id: str) -> None:
        super().__init__(id=id)
        self.context = context

    def redraw(self) -> None:
        """Draw everything that has changed."""
        raise NotImplementedError

    def on_resize(self) -> None:
        """Draw again, since lines for another size are cut or leave rows empty."""
        self.redraw()

    def start(self) -> None:
        """Move the keyboard focus to this view."""
        # Set the focus instead of posting a message: keys typed until then would be
        # lost.
        self.screen.set_focus(self.query("RowList, Page").first(Widget))

    def look_at(self, about: str) -> None:
        """Show this item: a board, a player, or the rows that match a filter."""

    def find_board(self) -> GameId | None:
        """Return the board to which the keys about a board apply."""
        return None

    def give_up(self) -> bool:
        """Remove the view's filter or other restriction; return whether it had one."""
        return False

    def describe(self) -> str:
        """Return the caption above the line of keys."""
        return ""


class TextView(View):
    """A screen of text to read."""

    def __init__(self, context: ViewContext, id: str) -> None:
        super().__init__(context, id)
        self.page = Page()

    def compose(self) -> ComposeResult:
        yield self.page

    def redraw(self) -> None:
        self.page.lines.show(self.write(self.page.scrollable_content_region.width))

    def write(self, width: int) -> Panel:
        """Return the whole text in lines of at most ``width`` cells."""
        raise NotImplementedError


class ListView(View):
    """A list that can be filtered."""

    BINDINGS = [
        Binding(
            "slash",
            "filter",
            "filter",
            tooltip="list what has these words; !word leaves out",
        )
    ]

    def __init__(self, context: ViewContext, id: str) -> None:
        super().__init__(context, id)
        self.query_text = ""
        self.rows = RowList(self.open_row)

    def open_row(self) -> None:
        """Open the item under the cursor."""

    def action_filter(self) -> None:
        self.context.ask("Filter:", self.query_text, self.look_at, at_once=True)

    def look_at(self, about: str) -> None:
        self.query_text = about

    def give_up(self) -> bool:
        narrowed = bool(self.query_text)
        self.query_text = ""
        return narrowed

    def add_filter(self, text: str) -> str:
        """Return the caption, followed by the filter."""
        return f"{text}{self.query_text and f' · filter {self.query_text!r}'}"


class AskLine(Input):
    """The input line at the foot of the screen."""

    BINDINGS = [
        Binding("enter", "submit", "done"),
        Binding("escape", "give_up", "as before"),
    ]

    def __init__(self) -> None:
        super().__init__(select_on_focus=False, compact=True)
        self._receive: Callable[[str], None] = lambda text: None
        self.closed: Callable[[], None] = lambda: None
        self._first = ""
        self._at_once = False

    def open(
        self, value: str, receive: Callable[[str], None], *, at_once: bool
    ) -> None:
        """Take the keyboard until the user enters the text or presses escape.

        Args:
            value: the text to begin with.
            receive: called with the text.
            at_once: whether ``receive`` is called after every key.
        """
        self._receive, self._at_once = receive, at_once
        self._first = value
        with self.prevent(Input.Changed):
            self.value = value
        self.cursor_position = len(value)
        self.screen.set_focus(self)

    def on_input_changed(self) -> None:
        if self._at_once and self.has_focus:
            self._receive(self.value)

    async def action_submit(self) -> None:
        self.closed()
        self._receive(self.value)

    def action_give_up(self) -> None:
        self.closed()
        if self._at_once:
            self._receive(self._first)


class Choice(ModalScreen[None]):
    """A question that is answered by one key; any other key means no."""

    def __init__(self, question: str, answers: Answers) -> None:
        super().__init__()
        self.question = question
        self._answers = answers

    def compose(self) -> ComposeResult:
        lines = [begin_line(self.question, "warn"), Text()]
        for key, (words, _) in self._answers.items():
            lines.append(Text.assemble((f"{key:>4}  ", "head"), (words, "text")))
        lines.append(Text.assemble((" esc  ", "head"), ("nothing", "text")))
        yield Static(Text("\n").join(lines))

    def answer(self, key: str) -> None:
        """Carry out the action of this key."""
        self.dismiss()
        _, act = self._answers.get(key, ("", lambda: None))
        act()


class HelpScreen(ModalScreen[None]):
    """Lists every key of the screen behind this one, and explains the signs."""

    BINDINGS = [Binding("escape,question_mark,f1,q", "dismiss", "close")]

    def __init__(self, lines: Panel) -> None:
        super().__init__()
        self._page = Page()
        self._help = lines

    def compose(self) -> ComposeResult:
        yield self._page

    def on_mount(self) -> None:
        self._page.border_title = "Help"
        self._page.border_subtitle = "↑↓ scroll  esc close"
        self._page.lines.show(self._help)
        self._page.focus()
