"""The terminal app: its screens, the keys that work on all of them, and the lines
around every screen.

Frames are drawn at a fixed rate. If something changes twice between two frames, only
its latest state is drawn.
"""

import dataclasses
import logging
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding
from textual.command import CommandPalette
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.theme import BUILTIN_THEMES, Theme
from textual.widget import AwaitMount
from textual.widgets import ContentSwitcher, Input, Static, Tab, Tabs

from live.screens.terminal.alerts_view import AlertsView
from live.screens.terminal.board_view import BoardView
from live.screens.terminal.boards_view import BoardsView
from live.screens.terminal.log_view import LogView
from live.screens.terminal.players_view import MomentsView, PlayerPage, PlayersView
from live.screens.terminal.sources_view import SourcesView, is_healthy, write_health
from live.screens.terminal.text import (
    FEED_SIGNS,
    PALETTES,
    PAPER,
    Palette,
    begin_line,
    fit,
    plain,
    wrap_texts,
)
from live.screens.terminal.view_context import (
    SCREENS,
    Answers,
    Shown,
    ViewContext,
    is_awaiting_arbiter,
)
from live.screens.terminal.widgets import (
    AskLine,
    Choice,
    HelpScreen,
    KeyLine,
    Lines,
    ListView,
    RowList,
    View,
)
from live.watch.finding import SIGNS as ALERT_SIGNS
from live.watch.finding import format_hms, sort_by_urgency

#: Time between frames, in seconds; a key is answered at once.
FRAME_S = 0.25
#: Minimum width in cells at which moments are shown beside the board, and the address
#: in the first line.
_WIDE = 120
#: Explanations of the signs on the screens.
SIGNS = (
    "Alerts: !! act now  ! act soon  ? worth a look  ✓ acknowledged  z muted  ✎ has"
    " a note. Boards with alerts that nobody has acknowledged come first, the most "
    "urgent on top.",
    "▌ selected  • just changed  ◌ from before the restart, not sent again yet  ▾ "
    "sorted by this column  ○ White  ● Black  ~ provisional score  … score of an"
    " earlier move  · not known yet",
    "Clocks: White's, Black's. In colour: under 5 minutes, then 1; less where games"
    " are fast. 0:00? has run out by our estimate only. Age: since the last move,"
    " > at least that long.",
    "Plays like: the rating that these moves look like, ▲ above or ▼ below what is "
    "usual. Grey and early under ten counted moves. usual: 8 of 10 games by players"
    " of this Elo are in this range. Better than: how many of 100 games by players "
    "of this Elo are worse. Moves: how many of the player's moves are counted.",
    "Curves: ┈ own Elo, dotted the edges of what is usual, ▼ a move that cost 10 of"
    " 100 points of expected score. Below them the score: up is good for White.",
    "Algorithm 4 (Ferreira, against the engine) ranks; its distances are not Elo.",
    "Odds: White wins, draw, Black wins, of 100. 3 in 10 play it: how many players of"
    " this Elo would; reply best, go wrong: how many of the opponent's Elo.",
    "3= is a tie: equal numbers.",
    "A rating says how good these moves were. It accuses nobody of anything.",
)


class Terminal(App[None]):
    """The terminal app.

    Args:
        context: the state that is shown, and the possible actions.
        theme: name of the palette.
        stop: called when the user has confirmed the end, just before the app closes.
        interrupt: called on a second Ctrl-C, just before the app closes.
    """

    TITLE = "live-rate"
    CSS_PATH = "terminal.tcss"
    COMMAND_PALETTE_BINDING = "colon"
    HORIZONTAL_BREAKPOINTS = [
        (0, "-thin"),
        (60, "-narrow"),
        (_WIDE, "-wide"),
        (180, "-wall"),
    ]
    VERTICAL_BREAKPOINTS = [
        (0, "-flat"),
        (12, "-short"),
        (20, "-low"),
        (34, "-tall"),
    ]
    BINDINGS = [
        Binding(
            "exclamation_mark",
            "worst",
            "worst",
            tooltip="the top of the list",
        ),
        Binding(
            "A",
            "desk('acknowledge_board')",
            "ack all",
            tooltip="all alerts of the board",
        ),
        Binding(
            "w",
            "desk('ask_log_entry')",
            "write",
            tooltip="write about the board into the log",
        ),
        Binding("q", "leave", "quit", tooltip="end, after asking"),
        Binding("question_mark,f1", "help", "help", tooltip="this page"),
        Binding(
            "e",
            "desk('ask_export')",
            "export",
            tooltip="a board or the round",
            show=False,
        ),
        Binding(
            "x", "desk('ask_removal')", "remove", tooltip="or bring back", show=False
        ),
        Binding("d", "ask_delay", "delay", tooltip="of the public", show=False),
        Binding(
            "colon", "command_palette", "more", tooltip="every command", show=False
        ),
        Binding(
            "escape", "go_back", "back", tooltip="to the screen before", show=False
        ),
        *(
            Binding(str(key), f"go('{name}')", name, show=False)
            for key, name in enumerate(SCREENS, 1)
        ),
    ]

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
        context.palette = palette
        context.ask = self.ask
        context.choose = self.choose
        context.show = self.open
        for theme_palette in PALETTES.values():
            self.register_theme(_build_theme(theme_palette))
        # Set the theme before the start: a later change would apply all styles again.
        self.theme = palette.name
        self.boards = BoardsView(context, "boards")
        self.board = BoardView(context, "board")
        self.views: dict[str, View] = {
            "boards": self.boards,
            "players": PlayersView(context, "players"),
            "alerts": AlertsView(context, "alerts"),
            "log": LogView(context, "log"),
            "sources": SourcesView(context, "sources"),
            "moments": MomentsView(context, "moments"),
            "board": self.board,
            "player": PlayerPage(context, "player"),
        }
        self.view: View = self.boards
        self._behind: list[View] = []
        # The others are mounted when somebody first looks at them: their widgets would
        # double the time to the first frame.
        self._switcher = ContentSwitcher(self.boards, initial="boards")
        self._mounting: AwaitMount | None = None
        self._tabs = Tabs(*(Tab(name, id=f"tab-{name}") for name in SCREENS))
        self._place, self._status = Lines(id="place"), Lines(id="status")
        self._label, self._line = Lines(id="label"), AskLine()
        self._line.closed = self._close_line
        self._ask = Horizontal(id="ask")
        self._keys = KeyLine(id="keys")
        self._telling = LogMessages(context)

    def compose(self) -> ComposeResult:
        with Horizontal(id="top"):
            yield self._tabs
            yield self._place
        yield self._switcher
        yield self._status
        with self._ask:
            yield self._label
            yield self._line
        yield self._keys
        yield Static("At least 60x12, please", id="small")

    def on_mount(self) -> None:
        self._tabs.can_focus = False
        self.watch_theme(self.theme)
        for name in BUILTIN_THEMES:
            self.unregister_theme(name)
        self.view.start()
        self.set_interval(FRAME_S, self.redraw)
        logging.getLogger().addHandler(self._telling)

    def on_unmount(self) -> None:
        logging.getLogger().removeHandler(self._telling)

    def on_ready(self) -> None:
        self.redraw()

    def on_resize(self) -> None:
        self.call_after_refresh(self.redraw)

    def watch_theme(self, name: str) -> None:
        """Draw in the colours of this theme."""
        if (palette := PALETTES.get(name)) is not None:
            self.context.palette = palette
            self.ansi_color = not palette.ground or None
            self.console.push_theme(palette.theme)

    # --- drawing ----------------------------------------------------------------------

    def redraw(self) -> None:
        """Draw everything that has changed since the last frame."""
        if not self.is_running or not self._status.size or self._mounting is not None:
            return
        state = self.context.state
        self.context.changes.track_ages_and_silences(state.feeds(), state.games())
        self.view.redraw()
        self._draw_tabs()
        place = begin_line(self._write_public_view(), "warn")
        if self.size.width >= _WIDE:
            place.append(plain(self.context.address, 60), "dim")
        self._place.show([place])
        self._status.show([self._write_status(self._status.size.width)])

    def _write_public_view(self) -> str:
        """Return what the public does not see, as text; empty if it sees everything at
        once.
        """
        parts = []
        if delay_s := self.context.public_delay().delay_s:
            parts.append(f"{format_hms(delay_s)} behind")
        if self.context.hides_scores():
            parts.append("without scores")
        return f" public {', '.join(parts)} " if parts else ""

    def _draw_tabs(self) -> None:
        """Show the screens' names with their keys, and signs of problems beside
        them.
        """
        state = self.context.state
        signs: dict[str, str] = {}
        if unread := sort_by_urgency(filter(is_awaiting_arbiter, state.alerts())):
            counts = Counter(alert.severity for alert in unread)
            marks = (f"{count} {ALERT_SIGNS[kind]}" for kind, count in counts.items())
            signs["alerts"] = f" {' '.join(marks)}"
        if troubled := [feed.state for feed in state.feeds() if not is_healthy(feed)]:
            signs["sources"] = f" {FEED_SIGNS[troubled[0]]}"
        for key, name in enumerate(SCREENS, 1):
            tab = self._tabs.query_one(f"#tab-{name}", Tab)
            label = f"{key} {name.capitalize()}{signs.get(name, '')}"
            if tab.label_text != label:
                tab.label = Content(label)
                tab.set_class(name in signs, "-trouble")

    def _write_status(self, width: int) -> Text:
        context = self.context
        if trouble := context.status():
            return begin_line(f" ↻ {trouble}", "warn")
        if message := context.find_message():
            return begin_line(f" {message}", "accent")
        caption = self.view.describe()
        line = begin_line(f" {caption}  " if caption else "", "text")
        rest = width - line.cell_len
        if rest > 20:
            line.append_text(write_health(context, rest))
        return line

    # --- keys -------------------------------------------------------------------------

    async def on_event(self, event: events.Event) -> None:
        is_key = isinstance(event, events.Key) and not event.is_forwarded
        if not is_key or isinstance(self.screen, CommandPalette):
            await super().on_event(event)
            return
        assert isinstance(event, events.Key)
        # Each key is carried out before the next one is read. If keys were passed to
        # widgets, keys typed quickly could overtake each other and miss the input line
        # that the first of them opens.
        event.stop()
        # A click just before the key may have shown a view whose widgets are not there.
        await self._finish_mounting()
        await self._carry_out_key(event)
        await self._finish_mounting()
        self.redraw()

    async def _carry_out_key(self, event: events.Key) -> None:
        # Textual's name of the key, except for letters: ``S`` for shift+s.
        is_letter = event.character is not None and event.character.isalnum()
        key = event.character if is_letter and event.character else event.key
        screen, focused = self.screen, self.focused
        if key in ("ctrl+c", "ctrl+q"):
            self._ask_to_end()
        elif isinstance(screen, Choice):
            screen.answer(key)
        elif isinstance(focused, Input) and event.is_printable and event.character:
            focused.insert_text_at_cursor(event.character)
        elif (active := screen.active_bindings.get(key)) is not None:
            await self.run_action(active.binding.action, active.node)
            if isinstance(active.node, RowList):
                active.node.moved = True

    def _ask_to_end(self) -> None:
        """Ask on the first Ctrl-C, since a whole hall depends on the service; end on
        the second.
        """
        question = self.context.leave_question
        if isinstance(self.screen, Choice) and self.screen.question == question:
            self._interrupt()
            self.exit()
        else:
            self.action_leave()

    def choose(self, question: str, answers: Answers) -> None:
        """Ask a question that is answered by one key."""
        self.push_screen(Choice(question, answers))

    def ask(
        self,
        label: str,
        value: str,
        receive: Callable[[str], None],
        *,
        at_once: bool = False,
    ) -> None:
        """Ask for a line of text at the foot of the screen; pass it to ``receive``."""
        self._show_line(True)
        text = fit(label, max(12, self.size.width - 40))
        self._label.show([begin_line(f" {text} ", "warn")])
        self._line.open(value, receive, at_once=at_once)

    def _close_line(self) -> None:
        self._show_line(False)
        self.view.start()

    def _show_line(self, is_open: bool) -> None:
        """Show the input line, or the line of keys."""
        # A class of the screen would have the styles of every widget applied again.
        self._ask.set_class(is_open, "-asking")
        self._keys.set_class(is_open, "-asking")

    def on_tabs_tab_activated(self, event: Tabs.TabActivated) -> None:
        """Show the screen whose name was clicked."""
        name = (event.tab.id or "").removeprefix("tab-")
        if self.views[name] not in (self.view, *self._behind):
            self.action_go(name)

    def action_go(self, name: str) -> None:
        """Show one of the screens."""
        self._behind.clear()
        self._look_at(self.views[name])
        with self.prevent(Tabs.TabActivated):
            self._tabs.active = f"tab-{name}"

    def open(self, name: Shown, about: str) -> None:
        """Open the view of a board, of a player, or of filtered boards; escape goes
        back.
        """
        view = self.views[name]
        view.look_at(about)
        if self.view is not view:
            self._behind.append(self.view)
        self._look_at(view)

    def _look_at(self, view: View) -> None:
        if self.view is not view:
            self.context.notify("")
        self.view = view
        if view.is_attached:
            self._switcher.current = view.id
            # Otherwise it gets the keyboard when the widgets are there.
            if self._mounting is None:
                view.start()
        else:
            self._mounting = self._switcher.mount(view)
            self._switcher.current = view.id
            # After a key it is already done then; a click leaves it to this call.
            self.call_later(self._finish_mounting)
        self.call_after_refresh(self.redraw)

    async def _finish_mounting(self) -> None:
        """Wait for the widgets of a view that is new; then give it the keyboard."""
        if self._mounting is not None:
            await self._mounting
            self._mounting = None
            self.view.start()

    def action_go_back(self) -> None:
        if not self.view.give_up():
            self._look_at(self._behind.pop() if self._behind else self.boards)

    def action_worst(self) -> None:
        if not isinstance(self.view, ListView):
            self.action_go("boards")
        self.view.query(RowList).first().action_first()
        self.view.query(RowList).first().moved = True

    def action_neighbour(self, step: int) -> None:
        """Open the next or previous board of the list."""
        rows = self.boards.rows
        if step > 0:
            rows.action_cursor_down()
        else:
            rows.action_cursor_up()
        self.board.look_at(rows.cursor or "")

    def action_desk(self, action: str) -> None:
        """Call this method of :class:`ViewContext` with the current view's board."""
        getattr(self.context, action)(self.view.find_board())

    def action_ask_delay(self) -> None:
        self.context.ask_delay()

    def action_leave(self) -> None:
        self.choose(self.context.leave_question, {"y": ("yes", self._leave)})

    def _leave(self) -> None:
        self._stop()
        self.exit()

    def action_help(self) -> None:
        """Show every key that works here, and what the signs mean."""
        lines = [begin_line(f" Keys: {self.view.id}", "head")]
        keys: dict[str, list[str]] = {}
        for active in self.screen.active_bindings.values():
            words = ": ".join(
                filter(None, (active.binding.description, active.binding.tooltip))
            )
            # Descriptions of Textual's own keys begin with a capital letter.
            if words[:1].islower():
                keys.setdefault(words, []).append(self.get_key_display(active.binding))
        for words, signs in keys.items():
            lines.append(
                Text.assemble((f" {' '.join(signs):>9}  ", "strong"), (words, "text"))
            )
        for note in SIGNS:
            lines += wrap_texts([(note, "dim")], 72)
        self.push_screen(HelpScreen(lines))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        for active in screen.active_bindings.values():
            binding = active.binding
            if binding.description and not binding.system:
                name = binding.description.capitalize()
                run = partial(self.run_action, binding.action, active.node)
                yield SystemCommand(name, binding.tooltip or f"key {binding.key}", run)
        yield SystemCommand("Theme", "colours", self.action_change_theme)


# --- the lines around every screen ----------------------------------------------------


def _build_theme(palette: Palette) -> Theme:
    if not palette.ground:
        # Textual's own styles need more colours than our palette has.
        return dataclasses.replace(BUILTIN_THEMES["ansi-dark"], name=palette.name)
    return Theme(
        name=palette.name,
        dark=palette is not PAPER,
        primary=palette.styles["head"].removeprefix("bold "),
        accent=palette.styles["accent"],
        warning=palette.styles["warn"].removeprefix("bold "),
        foreground=palette.styles["text"],
        background=palette.ground,
    )


class LogMessages(logging.Handler):
    """Log handler that shows records as messages on the screen, since printed lines
    would damage the display.
    """

    def __init__(self, context: ViewContext) -> None:
        super().__init__(logging.WARNING)
        self.context = context
        # Alerts are left out: a sign in the title and their own screen show them.
        self.addFilter(lambda record: not record.getMessage().startswith("alert "))

    def emit(self, record: logging.LogRecord) -> None:
        self.context.notify(
            plain(f"{record.levelname.lower()}: {record.getMessage()}", 300)
        )
