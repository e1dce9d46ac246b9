"""The terminal app: a thin shell that gives keys to the deck and draws its frames at a fixed rate.

Loss policy state → terminal: at a fixed rate; what changed twice between two frames is seen once.
"""

import dataclasses
import logging
from collections.abc import Callable, Iterable
from functools import partial
from itertools import zip_longest

from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.theme import BUILTIN_THEMES, Theme
from textual.widget import Widget
from textual.widgets import Input

from live.terminal.controller import FRAME_S, TerminalController
from live.terminal.text import PALETTES, PAPER, Palette, Panel, plain
from live.terminal.view_context import TextQuestion, ViewContext

#: What a key other than a letter does in a line that is being typed.
_EDITING = {
    key: binding.action
    for binding in Input.BINDINGS
    if isinstance(binding, Binding)
    for key in binding.key.split(",")
}


class Canvas(Widget, can_focus=True):
    """Shows the lines it was last given."""

    DEFAULT_CSS = "Canvas { height: 1fr; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._lines: Panel = []
        self._ground = Style()

    def on_ground(self, style: Style) -> None:
        """Draw everything afresh on this background."""
        self._ground = style
        self.refresh()

    def show(self, lines: Panel) -> int:
        """Draw what differs from before; how many lines that were."""
        width = self.size.width
        pairs = enumerate(zip_longest(lines, self._lines))
        changed = [row for row, (line, before) in pairs if not _same(line, before)]
        self._lines = lines
        if changed:
            self.refresh(*(Region(0, row, width, 1) for row in changed))
        return len(changed)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y >= len(self._lines):
            return Strip.blank(width, self._ground)
        strip = Strip(self._lines[y].render(self.app.console, end=""))
        return strip.adjust_cell_length(width).apply_style(self._ground)


def _same(one: Text | None, other: Text | None) -> bool:
    """Texts that differ only in their style are equal."""
    return one == other and one is not None and other is not None and one.style == other.style


class Terminal(App[None]):
    """``stop`` is called when somebody has said yes to the end, ``interrupt`` on a second Ctrl-C;
    the app then closes by itself.
    """

    CSS = """
    Screen { layout: vertical; }
    #line { dock: bottom; height: 1; border: none; padding: 0 1; display: none; }
    """
    TITLE = "live-rate"

    def __init__(
        self,
        context: ViewContext,
        *,
        theme: str,
        stop: Callable[[], None],
        interrupt: Callable[[], None],
    ) -> None:
        palette = PALETTES[theme]
        super().__init__(ansi_color=not palette.ground or None)
        self.context = context
        self._stop = stop
        self._interrupt = interrupt
        self._canvas = Canvas()
        self._line = Input(id="line", select_on_focus=False)
        self.controller = TerminalController(context, self._leave, self.action_command_palette)
        self.controller.restyle = self._restyle
        context.palette = palette
        for each in PALETTES.values():
            self.register_theme(_theme(each))
        self._asked: TextQuestion | None = None
        self._telling = LogMessages(context)

    def compose(self) -> ComposeResult:
        yield self._canvas
        yield self._line

    def on_mount(self) -> None:
        self._restyle()
        self._canvas.focus()
        self.set_interval(FRAME_S, self._draw)
        logging.getLogger().addHandler(self._telling)

    def on_unmount(self) -> None:
        logging.getLogger().removeHandler(self._telling)

    def on_ready(self) -> None:
        self._draw()

    # --- drawing ----------------------------------------------------------------------------------

    def _draw(self) -> None:
        size = self._canvas.size
        if self.is_running and len(self.screen_stack) == 1 and size:
            self._canvas.show(self.controller.frame(*size))

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw)

    def _restyle(self) -> None:
        palette = self.context.palette
        self.ansi_color = not palette.ground or None
        self.theme = palette.name
        self.console.push_theme(palette.theme)
        ground = f"{palette.styles['text'] or 'default'} on {palette.ground or 'default'}"
        self._canvas.on_ground(Style.parse(ground))

    # --- keys -------------------------------------------------------------------------------------

    async def on_event(self, event: events.Event) -> None:
        # Before any binding of the framework's own: Ctrl-C and Ctrl-Q ask once, then end.
        if isinstance(event, events.Key) and event.key in ("ctrl+c", "ctrl+q"):
            event.stop()
            if self.controller.interrupted():
                self._interrupt()
                self.exit()
            self._draw()
            return
        # Each key is carried out before the next one is looked at: handed on to widgets, keys typed
        # in one go would overtake each other, and miss the line that the first of them opens.
        if (
            isinstance(event, events.Key)
            and not event.is_forwarded
            and len(self.screen_stack) == 1
            and event.key != self.COMMAND_PALETTE_BINDING
        ):
            event.stop()
            if self._asked is not None:
                await self._type(event)
            else:
                self._commanded(partial(self.controller.press, _name(event)))
            return
        await super().on_event(event)

    async def _type(self, event: events.Key) -> None:
        """A key for the line that is being typed."""
        if event.key == "escape":
            self._answered(None)
        elif event.key == "enter":
            self._answered(self._line.value)
        elif event.is_printable and event.character:
            self._line.insert_text_at_cursor(event.character)
        elif (action := _EDITING.get(event.key)) is not None:
            await self.run_action(action, self._line)

    def _ask(self, ask: TextQuestion) -> None:
        self.context.ask = None
        self._asked = ask
        self._line.display = True
        self.controller.asking = ask.label
        self._line.value = ask.value
        self._line.cursor_position = len(ask.value)
        # Not by a message: keys typed meanwhile would go astray.
        self.screen.set_focus(self._line)

    def on_input_changed(self, event: Input.Changed) -> None:
        if self._asked is not None and self._asked.at_once:
            # Not what the event says: it may be about the line before this one.
            self._asked.done(self._line.value)
            self._draw()

    def _answered(self, text: str | None) -> None:
        ask, self._asked = self._asked, None
        self.controller.asking = ""
        self._line.display = False
        self.screen.set_focus(self._canvas)
        if ask is None:
            return
        if text is not None or ask.at_once:
            ask.done(ask.value if text is None else text)
        self._draw()

    def _leave(self) -> None:
        self._stop()
        self.exit()

    # --- the list of commands ---------------------------------------------------------------------

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        for name, explained, action in self.controller.commands():
            yield SystemCommand(name, explained, partial(self._commanded, action))

    def _commanded(self, action: Callable[[], None]) -> None:
        action()
        if self.context.ask is not None:
            self._ask(self.context.ask)
        self._draw()


def _name(event: events.Key) -> str:
    """``S`` for shift+s, else Textual's name."""
    if event.character is not None and event.character.isalnum():
        return event.character
    return event.key


def _theme(palette: Palette) -> Theme:
    if not palette.ground:
        # The framework's own styles need more than we name.
        return dataclasses.replace(BUILTIN_THEMES["ansi-dark"], name=palette.name)
    return Theme(
        name=palette.name,
        dark=palette is not PAPER,
        primary=palette.styles["head"].removeprefix("bold "),
        accent=palette.styles["accent"],
        foreground=palette.styles["text"],
        background=palette.ground,
    )


class LogMessages(logging.Handler):
    """Shows what is logged as a message: written to the terminal it would tear the frame."""

    def __init__(self, context: ViewContext) -> None:
        super().__init__(logging.WARNING)
        self.context = context
        # Alerts have their own sign in the title and their own view.
        self.addFilter(lambda record: not record.getMessage().startswith("alert "))

    def emit(self, record: logging.LogRecord) -> None:
        self.context.notify(plain(f"{record.levelname.lower()}: {record.getMessage()}", 300))
