"""What all views of the terminal share: the state looked at, what may be done, the message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

import msgspec
from rich.text import Text

from live.errors import ConfigError, LiveRateError
from live.events import AlertKind, FigureChoice, GameId, Incident, PublicDelay
from live.publish.published_state import PublishedState
from live.settings import Delay, checked
from live.terminal.alerts.alert_bell import AlertBell
from live.terminal.boards.board_row import BoardRows
from live.terminal.palette import DUSK, Palette
from live.terminal.recent_changes import RecentChanges
from live.terminal.view_frame import KeyHint, spoken_time

#: How long a message stays, seconds.
MESSAGE_S = 6.0

#: What each choice of the leading figure means, for people.
FIGURE_CHOICES: dict[FigureChoice, str] = {
    "perceived": "playing like",
    "algorithm4": "Algorithm 4 as published, on its own scale",
}

ExportKind = Literal["pgn", "csv", "html"]


class AlertActions(Protocol):
    """What an arbiter may do about an alert; ``live.app`` puts the alert desk behind it."""

    def acknowledge(self, alert: str, note: str = "") -> None: ...

    def note(self, alert: str, text: str) -> None: ...

    def mute(self, alert: str, muted: bool) -> None: ...

    def mute_kind(self, kind: AlertKind, muted: bool) -> None: ...

    def mute_board(self, game: GameId, muted: bool) -> None: ...


class TerminalActions:
    """What may be done from this terminal besides looking. What is None cannot be done here, and
    the matching ``no_…`` says why.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        """Base URL of the service's pages, ending with a slash."""
        self.leave_question = "End live-rate?"
        self.export: Callable[[ExportKind, GameId | None], str] | None = None
        """Writes a file and says which."""
        self.no_export = "this terminal cannot write files"
        self.public_delay: Callable[[], PublicDelay] = PublicDelay
        """How far the public is behind this terminal, and what waits for it."""
        self.set_delay: Callable[[float], None] | None = None
        self.no_delay = "the delay belongs to the service: start it with --delay"
        self.alert_actions: AlertActions | None = None
        self.incidents: Callable[[], Sequence[Incident]] = tuple
        """The incident log, in the order it began."""
        self.export_log: Callable[[], str] | None = None
        """Writes the incident log as a page to print and says where."""
        self.enter: Callable[[str, GameId | None], None] | None = None
        """Writes an entry of the arbiter's own into it."""
        self.remove_board: Callable[[GameId], None] | None = None
        """Takes a board off all screens, points and reports."""
        self.bring_back_board: Callable[[], str] = str
        """Brings the board removed last back and says which; empty where there is none."""
        self.no_alert_actions = "only the terminal of the service itself can answer alerts"
        self.no_alerts: Callable[[], str] = lambda: ""
        """Why it is not known whether there are alerts; empty where it is."""
        self.no_incidents = ""
        """Why the incident log cannot be seen here; empty where it can."""
        self.status: Callable[[], str] = lambda: ""
        """What is wrong with the connection; empty when nothing is."""

    def overlay(self, game: GameId) -> str:
        """The address of a board's overlay."""
        from urllib.parse import quote

        return f"{self.address}overlay?game={quote(game, safe='')}"


class TextPrompt(msgspec.Struct, frozen=True):
    """A question answered with one key."""

    question: str
    answers: dict[str, Callable[[], None]]


class TextQuestion(msgspec.Struct, frozen=True):
    """A question answered with a line of text."""

    label: str
    value: str
    done: Callable[[str], None]
    typed: Callable[[str], None] | None = None
    """Called with what stands there so far."""
    cancelled: Callable[[], None] | None = None


class TerminalView(Protocol):
    """One of the screens."""

    name: str

    def draw(self, width: int, height: int) -> list[Text]: ...

    def offers(self) -> Sequence[KeyHint]: ...

    def caption(self) -> str:
        """For the line above the keys."""
        ...

    def press(self, key: str) -> bool:
        """Whether the key did something."""
        ...


class ViewContext:
    """Shared by the views. ``wall_s`` gives seconds since 1970 UTC."""

    def __init__(
        self,
        state: PublishedState,
        changes: RecentChanges,
        actions: TerminalActions,
        wall_s: Callable[[], float],
    ) -> None:
        self.state = state
        self.changes = changes
        self.actions = actions
        self.wall_s = wall_s
        self.rows = BoardRows(changes)
        self.palette: Palette = DUSK
        self.pinned: set[GameId] = set()
        self.default_figure: Callable[[], FigureChoice] = lambda: "perceived"
        """Which figure leads until somebody chooses."""
        self._figure: FigureChoice | None = None
        self.prompt: TextPrompt | None = None
        self.ask: TextQuestion | None = None
        self.show: Callable[[GameId], None] = lambda game: None
        """Opens the board view."""
        self.list_boards: Callable[[str], None] = lambda query: None
        """Opens the view of all boards with this filter."""
        self.copy: Callable[[str], None] = lambda text: None
        """Puts a text on the clipboard."""
        self._message: tuple[float, str] | None = None
        self.bell = AlertBell()

    def notify(self, text: str) -> None:
        """Show a message for a few seconds."""
        self._message = (self.changes.now(), text)

    def message(self) -> str:
        """The message of the moment, if there is one."""
        if self._message is None or self.changes.now() - self._message[0] > MESSAGE_S:
            return ""
        return self._message[1]

    @property
    def figure(self) -> FigureChoice:
        """Which figure leads."""
        return self._figure or self.default_figure()

    def next_figure(self) -> None:
        """Another figure leads: the next of those there are."""
        self._figure = "algorithm4" if self.figure == "perceived" else "perceived"
        self.notify(f"Curves show: {FIGURE_CHOICES[self._figure]}")

    def ask_filter(self, query: str, use: Callable[[str], None]) -> None:
        """Ask for the words of a filter; ``use`` gets what is typed, and ``query`` on esc."""
        self.ask = TextQuestion("Filter:", query, use, use, lambda: use(query))

    # --- keys that every view with a board under the cursor has ----------------------------------

    def board_keys(self, game: GameId | None) -> list[KeyHint]:
        """Pin, overlay, export, log entry, removal, delay."""
        none = "" if game else "no board is selected"
        actions = self.actions
        pinned = game in self.pinned
        return [
            KeyHint("space", "␣", "unpin" if pinned else "pin", "keep the board on top", none),
            KeyHint("o", "o", "overlay", "copy the address of the board's overlay", none),
            KeyHint(
                "e",
                "e",
                "export",
                "write the board or the round as PGN, CSV or a printable page",
                "" if actions.export else actions.no_export,
            ),
            KeyHint(
                "w",
                "w",
                "",
                "write an entry about the board into the log",
                none or ("" if actions.enter else actions.no_alert_actions),
            ),
            KeyHint(
                "x",
                "x",
                "",
                "remove the board, or bring back the one removed last",
                "" if actions.remove_board else actions.no_alert_actions,
            ),
            KeyHint(
                "d",
                "d",
                "delay",
                "hold back by so many seconds what the public sees",
                "" if actions.set_delay else actions.no_delay,
            ),
        ]

    def press_board(self, key: str, game: GameId | None) -> bool:
        """Carry out one of :meth:`board_keys`."""
        match key:
            case "space" if game:
                self.pinned ^= {game}
                self.notify("Pinned: it stays on top" if game in self.pinned else "Unpinned")
            case "o" if game:
                url = self.actions.overlay(game)
                self.copy(url)
                self.notify(f"Copied {url}")
            case "e":
                self._ask_export(game)
            case "w" if game:
                self.write_entry(game)
            case "x":
                self._ask_removal(game)
            case "d":
                self._ask_delay()
            case _:
                return False
        return True

    def write_entry(self, game: GameId | None) -> None:
        """Ask what to write into the incident log, about a board or none."""
        enter = self.actions.enter
        if enter is None:
            self.notify(f"w does nothing: {self.actions.no_alert_actions}")
            return

        def done(text: str) -> None:
            if text.strip():
                enter(text.strip(), game)
                self.notify("Written into the log: 4 shows it")

        self.ask = TextQuestion("Log entry:", "", done)

    def _ask_removal(self, game: GameId | None) -> None:
        remove, bring_back = self.actions.remove_board, self.actions.bring_back_board
        if remove is None:
            self.notify(f"x does nothing: {self.actions.no_alert_actions}")
            return

        def removed() -> None:
            assert game is not None
            remove(game)
            self.notify("Removed, and written into the log: x u brings it back")

        def back() -> None:
            words = bring_back()
            self.notify(f"Brought back: {words}" if words else "No board is removed")

        answers = {"u": back}
        question = "u bring back the board removed last  esc nothing"
        if game is not None:
            answers["y"] = removed
            question = f"Remove the board, its points too?  y yes  {question}"
        self.prompt = TextPrompt(question, answers)

    def _ask_export(self, game: GameId | None) -> None:
        export = self.actions.export
        if export is None:
            self.notify(f"e does nothing: {self.actions.no_export}")
            return

        def write(kind: ExportKind, of: GameId | None) -> None:
            try:
                self.notify(f"Wrote {export(kind, of)}")
            except LiveRateError as error:
                self.notify(str(error))

        def choose(kind: ExportKind) -> Callable[[], None]:
            def chosen() -> None:
                if game is None:
                    write(kind, None)
                    return
                self.prompt = TextPrompt(
                    f"{kind.upper()} of  b this board  r the whole round  esc neither",
                    {
                        "b": lambda: write(kind, game),
                        "r": lambda: write(kind, None),
                    },
                )

            return chosen

        self.prompt = TextPrompt(
            "Export  p annotated PGN  c CSV  h printable page  esc nothing",
            {"p": choose("pgn"), "c": choose("csv"), "h": choose("html")},
        )

    def _ask_delay(self) -> None:
        actions = self.actions
        if actions.set_delay is None:
            self.notify(f"d does nothing: {actions.no_delay}")
            return
        set_delay = actions.set_delay

        def done(text: str) -> None:
            try:
                seconds = float(str(checked("delay", "delay", text, {"delay": Delay})))
            except ConfigError as error:
                self.notify(str(error))
                return
            set_delay(seconds)
            self.notify(
                f"Delayed boards are {spoken_time(seconds)} behind for the public"
                if seconds
                else "The public sees everything at once"
            )

        now_s = actions.public_delay().delay_s
        self.ask = TextQuestion("Public delay (90, 15m, 1h):", f"{now_s:g}", done)
