"""The whole terminal without the terminal: keys in, frames of text out. Knows no Textual.

Draws the names of the screens, one view, the last message or the health line, and the keys. Routes
each key: an open question first, then the view, then what holds everywhere.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from textwrap import wrap

from rich.cells import cell_len
from rich.text import Text

from live.alerts.finding import SIGNS as ALERT_SIGNS
from live.alerts.finding import in_order
from live.events import FeedHealth
from live.terminal.alerts_view import (
    AlertsView,
    IncidentsView,
    SourcesView,
    delay_text,
    engine_troubles,
    engines_text,
    feed_style,
)
from live.terminal.board_view import BoardView
from live.terminal.boards_view import BoardsView, PlayerPage, PlayersView
from live.terminal.text import (
    FEED_SIGNS,
    PALETTES,
    SEVERITY_STYLES,
    WITHHELD,
    Panel,
    filled,
    fit,
    is_withheld,
    plain,
    styled,
)
from live.terminal.view_context import (
    KeyHint,
    ListView,
    PageView,
    Shown,
    TextPrompt,
    View,
    ViewContext,
    asks,
)

#: Time between frames, seconds. A key is answered at once, whatever the rate.
FRAME_S = 0.25
#: Stands in what a source says between what is wrong and when it is tried again.
RETRY = ", trying again in "
#: What the signs on the screens mean.
SIGNS = (
    "Alerts: !! act now  ! act soon  ? worth a look  ✓ acknowledged  z muted  ✎ has a note. Boards "
    "with alerts that nobody took note of stand on top, the most urgent first.",
    "▌ selected  • just changed  ▾ sorted by this column  ○ White  ● Black  ~ provisional score  "
    "· not known yet",
    "Clocks: White's, Black's. In colour: under 5 minutes, then 1; less where games are fast. "
    "0:00? has run out by our reckoning alone.",
    "Plays like: the rating that these moves look like. Grey under ten counted moves (n): early. "
    "Strong: the game is over. usual: 8 of 10 games by players of this Elo lie there. Pct: better "
    "than so many of 100 such games.",
    "A4: Ferreira's Algorithm 4 against the engine: it ranks, its distances are not Elo.",
    "Odds: White wins, draw, Black wins, of 100. Jump: how far the score moved while the engine "
    "looked deeper.",
    "A key in brackets does nothing now; here it says why. 3= is a tie: equal numbers.",
    "A rating says how good these moves were. It accuses nobody of anything.",
)
#: Smallest terminal that is drawn on, cells and lines.
LEAST = (60, 12)


class HelpPage(PageView):
    """Every key of the view behind it in words, and what the signs mean."""

    name = "Help"
    keys: Sequence[KeyHint] = ()
    of = ""

    def lines(self, width: int) -> Panel:
        lines = [styled(f" Keys: {self.of}", "head")]
        for key in self.keys:
            if key.explained:
                why = key.disabled and f" (not now: {key.disabled})"
                first, *more = wrap(f"{key.explained}{why}", max(20, width - 11))
                lines.append(Text.assemble((f" {key.sign:>7}  ", "strong"), (first, "text")))
                lines += [styled(" " * 10 + part, "text") for part in more]
        for note in SIGNS:
            lines += [styled(f" {part}", "dim") for part in wrap(note, max(20, width - 2))]
        return lines

    def offers(self) -> list[KeyHint]:
        return [*super().offers(), KeyHint("", "close", shown="esc")]


Command = tuple[str, str, Callable[[], None]]
"""Name, explanation and action."""


class TerminalController:
    """``leave`` ends the terminal; ``command_list`` opens the list of commands."""

    def __init__(
        self,
        context: ViewContext,
        leave: Callable[[], None],
        command_list: Callable[[], None] = lambda: None,
    ) -> None:
        self.context = context
        self._leave = leave
        self._command_list = command_list
        self.boards = BoardsView(context)
        self.board = BoardView(context)
        self.board.neighbour = self.boards.neighbour
        self.boards.summary = self.board.summary
        self.boards.figure_key = self.board.figure_key
        self.players = PlayersView(context)
        self.alerts = AlertsView(context)
        self.incidents = IncidentsView(context)
        self.sources = SourcesView(context)
        self._help = HelpPage(context)
        lists = self.boards, self.players, self.alerts, self.incidents
        self.screens: tuple[View, ...] = (*lists, self.sources)
        """In the order of their keys, 1 first."""
        self._opened: dict[Shown, View] = {
            "board": self.board,
            "boards": self.boards,
            "player": PlayerPage(context),
        }
        self.view: View = self.boards
        self.asking = ""
        """What is to be typed in the line below the frame; empty when nothing is."""
        self.restyle: Callable[[], None] = lambda: None
        """Called when the palette changed."""
        self._behind: list[View] = []
        context.show = self._show

    # --- frames -----------------------------------------------------------------------------------

    def frame(self, width: int, height: int) -> Panel:
        """Exactly ``height`` lines of at most ``width`` cells."""
        if width < LEAST[0] or height < LEAST[1]:
            return filled([styled(f"At least {LEAST[0]}x{LEAST[1]}, please"[:width])], height)
        state = self.context.state
        self.context.changes.look(state.feeds(), state.games())
        body = self.view.draw(width, height - 3)
        lines = [self._title(width), *body[: height - 3], self._status(width), self._bottom(width)]
        for line in lines:
            line.truncate(width, overflow="ellipsis")
        return lines

    def _title(self, width: int) -> Text:
        """The screens with their keys, what is wrong beside their names; how far the public is
        behind, and where browsers find the same.
        """
        context, state = self.context, self.context.state
        open_screen = next((x for x in (self.view, *self._behind[::-1]) if x in self.screens), None)
        beside: dict[View, tuple[str, str]] = {}
        if unread := in_order(filter(asks, state.alerts())):
            counts = Counter(alert.severity for alert in unread)
            said = " ".join(f"{count} {ALERT_SIGNS[kind]}" for kind, count in counts.items())
            beside[self.alerts] = said, SEVERITY_STYLES[unread[0].severity]
        if troubled := [feed.state for feed in state.feeds() if not is_calm(feed)]:
            beside[self.sources] = FEED_SIGNS[troubled[0]], feed_style(troubled[0])
        line = styled("")
        for key, screen in enumerate(self.screens, 1):
            here = screen is open_screen
            line.append(f"{'[' if here else ' '}{key} {screen.name}", "strong" if here else "dim")
            text, style = beside.get(screen, ("", ""))
            line.append(f" {text}" if text else "", style)
            line.append("]" if here else " ", "strong")
        delay = delay_text(context.public_delay(), brief=True)
        line.append(f" {delay} " if delay else "", "warn")
        place = f" {plain(context.address, 60)}"
        return line.append(place if line.cell_len + cell_len(place) <= width else "", "dim")

    def _status(self, width: int) -> Text:
        context = self.context
        if trouble := context.status():
            return styled(f" ↻ {trouble}", "warn")
        if message := context.message():
            return styled(f" {message}", "accent")
        caption = self.view.caption()
        line = styled(f" {caption}  " if caption else "", "text")
        rest = width - line.cell_len
        if rest > 20:
            line.append_text(health(context, rest))
        return line

    def _bottom(self, width: int) -> Text:
        context = self.context
        if context.prompt is not None:
            return styled(f" {context.prompt.question}", "warn")
        if self.asking:
            return styled(f" {fit(self.asking, width - 24)}  ⏎ done  esc as before", "warn")
        return footer(self.key_hints(), width)

    # --- keys -------------------------------------------------------------------------------------

    def key_hints(self) -> list[KeyHint]:
        """All that mean something now, those of the view first."""
        own = self.view.offers()
        taken = {key for hint in own for key in hint.keys.split()} - {"escape"}
        return [*own, *(x for x in self.everywhere() if taken.isdisjoint(x.keys.split()))]

    def everywhere(self) -> list[KeyHint]:
        """Keys of every screen."""
        screens = "boards, players and standings, alerts, incident log, sources"
        return [
            KeyHint("exclamation_mark", "worst", "the top of the list, or the boards", self._top),
            *self.context.board_keys(self.view.about()),
            KeyHint("1 2 3 4 5", "", screens, lambda key: self.go(self.screens[int(key) - 1])),
            KeyHint("colon", "more", "every command, by part of its name", self._command_list),
            KeyHint("q", "quit", "end, after asking", self._ask_to_leave),
            KeyHint("question_mark f1", "help", "this page", lambda key: self._open_help()),
            KeyHint("escape", act=self._back, shown=""),
        ]

    def press(self, key: str) -> None:
        """Carry out a key, as Textual names it; say why where it does nothing now."""
        context = self.context
        if context.prompt is not None:
            prompt, context.prompt = context.prompt, None
            prompt.answers.get(key, lambda: None)()
            return
        for hint in self.key_hints():
            if key in hint.keys.split():
                if hint.disabled:
                    context.notify(f"{hint.sign} does nothing now: {hint.disabled}")
                elif " " in hint.keys:
                    hint.act(key)
                else:
                    hint.act()
                return

    def interrupted(self) -> bool:
        """Ctrl-C: whether it is to end now. The first one asks: a hall depends on the service."""
        before = self.context.prompt
        self._ask_to_leave()
        return before == self.context.prompt

    def _ask_to_leave(self) -> None:
        question = f"{self.context.leave_question}  y yes  esc no"
        self.context.prompt = TextPrompt(question, {"y": self._leave})

    def _top(self) -> None:
        if not isinstance(self.view, ListView):
            self.go(self.boards)
        self.view.top()

    def _open_help(self) -> None:
        if self.view is not self._help:
            self._help.keys, self._help.of = self.key_hints(), self.view.name
            self._help.top()
            self._open(self._help)

    def _back(self) -> None:
        self._look_at(self._behind.pop() if self._behind else self.boards)

    def go(self, view: View) -> None:
        """Show one of the screens."""
        self._behind.clear()
        self._look_at(view)

    def _open(self, view: View) -> None:
        """Show what lies in front of a screen."""
        if self.view is not view:
            self._behind.append(self.view)
        self._look_at(view)

    def _look_at(self, view: View) -> None:
        if self.view is not view:
            self.context.notify("")
        self.view = view

    def _show(self, shown: Shown, about: str) -> None:
        view = self._opened[shown]
        view.open(about)
        self._open(view)

    def use_theme(self, name: str) -> None:
        """This theme."""
        self.context.palette = PALETTES[name]
        self.restyle()
        self.context.notify(f"Theme {name}")

    def commands(self) -> list[Command]:
        """Everything there is, for the list of commands."""
        found: list[Command] = [
            (view.name, f"key {key}", partial(self.go, view))
            for key, view in enumerate(self.screens, 1)
        ]
        for each in self.key_hints():
            if " " not in each.keys and each.keys and each.explained and not each.disabled:
                name = each.label.capitalize() or each.explained.partition(";")[0].capitalize()
                found.append((name, each.explained, partial(self.press, each.keys)))
        found += [(f"Theme {name}", "colours", partial(self.use_theme, name)) for name in PALETTES]
        return [*found, ("Help", "every key", self._open_help)]


# --- the lines around every view --------------------------------------------------------------


def is_calm(feed: FeedHealth) -> bool:
    """Whether nothing is wrong with a source."""
    return feed.state in ("live", "finished")


def health(context: ViewContext, width: int) -> Text:
    """One line: what figures are worth where that is little, trouble first, in words; what is to be
    known of a source that works; then how busy the engines are. The screen of sources has it whole.
    """
    state, engines = context.state, context.state.engines()
    line = styled(" ")
    if is_withheld(state.engine()):
        line.append(f"{WITHHELD}  ", "warn")
    elif not state.engine().models:
        line.append("no model reads these scores  ", "warn")
    for feed in state.feeds():
        name, style = plain(feed.feed), feed_style(feed.state)
        if not is_calm(feed):
            # How an address ends says most; what is wrong often begins with all of it.
            name = f"…{name[-20:]}" if len(name) > 21 else name
            room = width - line.cell_len - cell_len(name) - len(feed.state) - 7
            reason = trouble_text(feed.detail.removeprefix(feed.feed).strip(), room)
            line.append(f"{FEED_SIGNS[feed.state]} ", style)
            line.append(f"{name} {feed.state}{reason and f': {reason}'}  ", "warn")
    for trouble in engine_troubles(engines):
        line.append(f"! {plain(trouble, 80)}  ", "warn")
    for feed in filter(is_calm, state.feeds()):
        if note := feed.detail.partition("; ")[2]:
            line.append(
                f"{FEED_SIGNS[feed.state]} {plain(feed.feed, 36)}: {plain(note, 120)}  ", "text"
            )
    busy = f"⚙ {engines_text(engines)}"
    while busy and cell_len(busy) > width - line.cell_len:
        busy = busy.rpartition(" · ")[0]
    return line.append(busy, "dim")


def trouble_text(detail: str, room: int) -> str:
    """What is wrong with a source in ``room`` cells: when it is tried again stays, whatever else
    is cut.
    """
    what, again, when = plain(detail, 200).rpartition(RETRY)
    if not again:
        return fit(when, min(80, max(12, room)))
    when = f", again in {when}"
    return fit(what, max(8, room - cell_len(when))) + when


def footer(keys: Sequence[KeyHint], width: int) -> Text:
    """The keys that do something here. Those that do nothing now are dim and in brackets, and the
    first to have no room; help, the way to all the others, and quit are the last.
    """
    texts = {
        key: styled(f"({key.sign} {key.label})", "dim")
        if key.disabled
        else Text.assemble((f" {key.sign}", "head"), (f" {key.label}", "dim"))
        for key in keys
        if key.label
    }
    shown, room = set(), width
    last = ("help", "quit")
    for key in sorted(texts, key=lambda key: (key.label not in last, bool(key.disabled))):
        if texts[key].cell_len <= room:
            shown.add(key)
            room -= texts[key].cell_len
    return Text.assemble(*(text for key, text in texts.items() if key in shown), no_wrap=True)
