"""The whole terminal without the terminal: keys in, frames of text out. Knows no Textual.

Draws title, one view, the last message or the health line, and the keys. Routes each key: an open
question first, then the view, then what holds everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.text import Text

from live.events import GameId
from live.terminal import view_frame
from live.terminal.alerts import alert_list
from live.terminal.alerts.alerts_view import AlertsView
from live.terminal.board.board_view import BoardView
from live.terminal.boards.boards_view import BoardsView
from live.terminal.incidents.incidents_view import IncidentsView
from live.terminal.palette import PALETTES
from live.terminal.players.players_view import PlayersView
from live.terminal.text_cells import styled
from live.terminal.view_context import TerminalView, TextPrompt, ViewContext
from live.terminal.view_frame import KeyHint

#: What the signs on the screens mean.
SIGNS = (
    "○ White  ● Black  ★ pinned  • just changed  ▌ selected  ! something is wrong here",
    "~ provisional score  · not known yet",
    "Plays: the rating that these moves look like, compared with what players of every rating "
    "lose in the same positions. Grey under ten counted moves: early. Strong: the game is over.",
    "usual: 8 of 10 games by players of this Elo lie there. Pct: better than so many of 100 such "
    "games. n: counted moves. Nothing within the usual band is unusual.",
    "A4: Ferreira's Algorithm 4 against the engine, on its own scale: it ranks, its distances are "
    "not Elo. v shows it in the curves.",
    "Odds: █ White wins ▒ draw ░ Black wins, for these two players from here.",
    "Swing: largest change of the score in four plies. Age: since the last move. 1st: first "
    "choices of the engine. Loss: mean loss of a move, centipawns.",
    "Jump: how far the score moved while the engine looked deeper: a hard position.",
    "Alerts: !! act now  ! act soon  ? worth a look  ✓ acknowledged  z muted  ✎ has a note.",
    "A clock in colour is low: under 5 minutes, then under 1; less where games are fast.",
    "A key in brackets does nothing now; here it says why. 3= is a tie: equal numbers.",
    "A rating says how good these moves were. It accuses nobody of anything.",
)
#: Smallest terminal that is drawn on, cells and lines.
LEAST = (60, 12)


class TerminalController:
    """``leave`` ends the terminal; ``palette_opener`` opens the list of commands."""

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
        self.board = BoardView(context, self.boards)
        self.players = PlayersView(context)
        self.alerts = AlertsView(context)
        self.incidents = IncidentsView(context)
        self.view: TerminalView = self.boards
        self.helping = False
        self.asking = ""
        """What is to be typed in the line below the frame; empty when nothing is."""
        self._help_first = 0
        self.restyle: Callable[[], None] = lambda: None
        """Called when the palette changed."""
        self._behind: list[TerminalView] = []
        context.show = self._show
        context.list_boards = self._list_boards

    # --- frames -----------------------------------------------------------------------------------

    def frame(self, width: int, height: int) -> list[Text]:
        """Exactly ``height`` lines of at most ``width`` cells."""
        if width < LEAST[0] or height < LEAST[1]:
            text = styled(f"At least {LEAST[0]}x{LEAST[1]}, please"[:width])
            return [text, *(Text() for _ in range(height - 1))]
        context = self.context
        body = self._help(width, height - 3) if self.helping else self._draw(width, height - 3)
        state = context.state
        top = view_frame.title(
            "Help" if self.helping else self.view.name,
            context.actions.address,
            state.engine(),
            state.gain(),
            alert_list.unread(list(state.alerts())),
            width,
            context.palette,
            view_frame.delay_text(context.actions.public_delay(), context.wall_s()),
        )
        lines = [top, *body[: height - 3], self._status(width), self._bottom(width)]
        for line in lines:
            if line.cell_len > width:
                line.truncate(width, overflow="ellipsis")
        return lines

    def _draw(self, width: int, height: int) -> list[Text]:
        return self.view.draw(width, height)

    def _help(self, width: int, height: int) -> list[Text]:
        lines = view_frame.help_lines(
            self.view.name,
            [*self.view.offers(), *self._everywhere()],
            SIGNS,
            width,
            self.context.palette,
        )
        self._help_first = max(0, min(self._help_first, len(lines) - height))
        lines = lines[self._help_first :][:height]
        return [*lines, *(Text() for _ in range(height - len(lines)))]

    def _status(self, width: int) -> Text:
        context = self.context
        palette = context.palette
        trouble = context.actions.status()
        if trouble:
            line = styled(f" ↻ {trouble}", palette.warn)
        elif message := context.message():
            line = styled(f" {message}", palette.accent)
        else:
            caption = self.view.caption()
            line = styled(f" {caption}  " if caption else "", palette.text)
            state = context.state
            rest = width - line.cell_len
            if rest > 20:
                line.append_text(view_frame.health(state.feeds(), state.engines(), rest, palette))
        line.truncate(width, overflow="ellipsis")
        return line

    def _bottom(self, width: int) -> Text:
        if self.context.prompt is not None:
            line = styled(f" {self.context.prompt.question}", self.context.palette.warn)
            line.truncate(width, overflow="ellipsis")
            return line
        if self.asking:
            line = styled(f" {self.asking}  ⏎ done  esc as before", self.context.palette.warn)
            line.truncate(width, overflow="ellipsis")
            return line
        if self.helping:
            keys: Sequence[KeyHint] = [
                KeyHint("down", "↑↓", "scroll"),
                KeyHint("escape", "esc", "close"),
            ]
        else:
            keys = [*self.view.offers(), *self._everywhere()]
        return view_frame.footer(keys, width, self.context.palette)

    # --- keys -------------------------------------------------------------------------------------

    def _everywhere(self) -> list[KeyHint]:
        # The first screen has no room for it; help names it there.
        views = "" if self.view is self.boards else "views"
        return [
            KeyHint("1", "1 2 3 4", views, "boards, players and standings, alerts, incident log"),
            KeyHint("colon", ":", "more", "every command, found by typing part of its name"),
            KeyHint("v", "v", "", "show Algorithm 4 in the curves, or the perceived rating"),
            KeyHint("b", "b", "", "the bell: silent, rings for alarms, rings for every alert"),
            KeyHint("t", "t", "", "another theme: dusk, paper, signal (colour-blind safe), plain"),
            KeyHint("q", "q", "quit", "end, after asking"),
            KeyHint("question_mark", "?", "help", "this page"),
        ]

    def press(self, key: str) -> None:
        """Carry out a key, as Textual names it."""
        context = self.context
        if context.prompt is not None:
            prompt, context.prompt = context.prompt, None
            answer = prompt.answers.get(key)
            if answer is not None:
                answer()
            return
        if self.helping:
            self._press_help(key)
            return
        if key == "ctrl+c":
            self._leave()
        elif why := self._disabled(key):
            context.notify(why)
        elif not self.view.press(key):
            self._press_anywhere(key)

    def interrupted(self) -> bool:
        """Ctrl-C: whether it is to end now. The first one asks: a hall depends on the service."""
        prompt = self.context.prompt
        if prompt is not None and prompt.question == self._leave_question():
            return True
        self._ask_to_leave()
        return False

    def _leave_question(self) -> str:
        return f"{self.context.actions.leave_question}  y yes  esc no"

    def _ask_to_leave(self) -> None:
        answers = dict.fromkeys(("y", "q", "enter"), self._leave)
        self.context.prompt = TextPrompt(self._leave_question(), answers)

    def _press_help(self, key: str) -> None:
        if key in ("down", "j", "pagedown", "up", "k", "pageup"):
            self._help_first += {"down": 1, "j": 1, "pagedown": 10, "pageup": -10}.get(key, -1)
        elif key in ("escape", "question_mark", "q", "enter"):
            self.helping = False

    def _disabled(self, key: str) -> str:
        for each in self.view.offers():
            if each.key == key and each.disabled:
                return f"{each.sign} does nothing now: {each.disabled}"
        return ""

    def _press_anywhere(self, key: str) -> None:
        match key:
            case "escape":
                self.view = self._behind.pop() if self._behind else self.boards
            case "1":
                self.go(self.boards)
            case "2":
                self.go(self.players)
            case "3":
                self.go(self.alerts)
            case "4":
                self.go(self.incidents)
            case "question_mark" | "f1":
                self.helping = True
                self._help_first = 0
            case "colon":
                self._command_list()
            case "t":
                self.next_theme()
            case "v":
                self.context.next_figure()
            case "b":
                self.context.notify(self.context.bell.next_choice())
            case "q":
                self._ask_to_leave()
            case _:
                pass

    def go(self, view: TerminalView) -> None:
        """Show one of the four lists."""
        self._behind.clear()
        self.helping = False
        self.view = view

    def _show(self, game: GameId) -> None:
        if self.view is not self.board:
            self._behind.append(self.view)
        self.board.open(game)
        self.view = self.board

    def _list_boards(self, query: str) -> None:
        self._behind = [self.view]
        self.boards.query = query
        self.view = self.boards

    def next_theme(self) -> None:
        """The theme after this one."""
        names = list(PALETTES)
        self.use_theme(names[(names.index(self.context.palette.name) + 1) % len(names)])

    def use_theme(self, name: str) -> None:
        """This theme."""
        self.context.palette = PALETTES[name]
        self.restyle()
        self.context.notify(f"Theme {name}")

    def commands(self) -> list[tuple[str, str, Callable[[], None]]]:
        """Name, explanation and action of everything there is, for the list of commands."""
        found: list[tuple[str, str, Callable[[], None]]] = [
            ("Boards", "all boards", lambda: self.go(self.boards)),
            ("Players", "players and standings by every method", lambda: self.go(self.players)),
            ("Alerts", "what an arbiter should know", lambda: self.go(self.alerts)),
            ("Log", "all alerts, notes and entries", lambda: self.go(self.incidents)),
        ]
        for each in self.view.offers():
            if each.key and each.explained and not each.disabled:
                name = each.label.capitalize() or each.explained.partition(";")[0].capitalize()
                found.append((name, each.explained, self._pressing(each.key)))
        found += [(f"Theme {name}", "colours", self._using(name)) for name in PALETTES]
        found.append(("Help", "every key", self._pressing("question_mark")))
        found.append(("Quit", "after asking", self._pressing("q")))
        return found

    def _pressing(self, key: str) -> Callable[[], None]:
        return lambda: self.press(key)

    def _using(self, name: str) -> Callable[[], None]:
        return lambda: self.use_theme(name)
