"""What all views of the terminal share: the state looked at, what may be done, what was said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

import msgspec
from rich.text import Text

from live.errors import LiveRateError
from live.events import AlertKind, GameId
from live.publish.published_state import PublishedState
from live.terminal.boards.board_row import BoardRows
from live.terminal.palette import DUSK, Palette
from live.terminal.recent_changes import RecentChanges
from live.terminal.view_frame import KeyHint

#: How long a message stays, seconds.
SAID_S = 6.0

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
        self.delay_s: Callable[[], float] | None = None
        self.set_delay: Callable[[float], None] | None = None
        self.no_delay = "the delay belongs to the service: start it with --delay"
        self.not_delayed = ""
        """Whom ``set_delay`` does not reach, to end a sentence with."""
        self.alert_acts: AlertActions | None = None
        self.no_alert_acts = "only the terminal of the service itself can answer alerts"
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
        notebook: RecentChanges,
        desk: TerminalActions,
        wall_s: Callable[[], float],
    ) -> None:
        self.state = state
        self.notebook = notebook
        self.desk = desk
        self.wall_s = wall_s
        self.rows = BoardRows(notebook)
        self.palette: Palette = DUSK
        self.pinned: set[GameId] = set()
        self.prompt: TextPrompt | None = None
        self.ask: TextQuestion | None = None
        self.show: Callable[[GameId], None] = lambda game: None
        """Opens the board view."""
        self.list_boards: Callable[[str], None] = lambda query: None
        """Opens the view of all boards with this filter."""
        self.copy: Callable[[str], None] = lambda text: None
        """Puts a text on the clipboard."""
        self._said: tuple[float, str] | None = None

    def say(self, text: str) -> None:
        """Tell the person in front of it something."""
        self._said = (self.notebook.now(), text)

    def said(self) -> str:
        """The message of the moment, if there is one."""
        if self._said is None or self.notebook.now() - self._said[0] > SAID_S:
            return ""
        return self._said[1]

    @property
    def calibrated(self) -> bool:
        return self.state.engine().calibration is not None

    # --- keys that every view with a board under the cursor has ----------------------------------

    def board_keys(self, game: GameId | None) -> list[KeyHint]:
        """Pin, overlay, export, delay."""
        none = "" if game else "no board is selected"
        desk = self.desk
        pinned = game in self.pinned
        return [
            KeyHint("space", "␣", "unpin" if pinned else "pin", "keep the board on top", none),
            KeyHint("o", "o", "overlay", "copy the address of the board's overlay", none),
            KeyHint(
                "e",
                "e",
                "export",
                "write the board or the round as PGN, CSV or a printable page",
                "" if desk.export else desk.no_export,
            ),
            KeyHint(
                "d",
                "d",
                "delay",
                "hold everything back by so many seconds",
                "" if desk.set_delay else desk.no_delay,
            ),
        ]

    def press_board(self, key: str, game: GameId | None) -> bool:
        """Carry out one of :meth:`board_keys`."""
        match key:
            case "space" if game:
                self.pinned ^= {game}
                self.say("Pinned: it stays on top" if game in self.pinned else "Unpinned")
            case "o" if game:
                url = self.desk.overlay(game)
                self.copy(url)
                self.say(f"Copied {url}")
            case "e":
                self._ask_export(game)
            case "d":
                self._ask_delay()
            case _:
                return False
        return True

    def _ask_export(self, game: GameId | None) -> None:
        export = self.desk.export
        if export is None:
            self.say(f"e does nothing: {self.desk.no_export}")
            return

        def write(kind: ExportKind, of: GameId | None) -> None:
            try:
                self.say(f"Wrote {export(kind, of)}")
            except LiveRateError as error:
                self.say(str(error))

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
        desk = self.desk
        if desk.set_delay is None or desk.delay_s is None:
            now = "" if desk.delay_s is None else f" (it is {desk.delay_s():g} s)"
            self.say(f"d does nothing: {desk.no_delay}{now}")
            return
        set_delay = desk.set_delay

        def done(text: str) -> None:
            try:
                seconds = float(text)
                if not 0 <= seconds <= 86400:
                    raise ValueError
            except ValueError:
                self.say(f"{text!r} is no number of seconds between 0 and 86400")
                return
            set_delay(seconds)
            self.say(f"What is heard from now on is held back by {seconds:g} s{desk.not_delayed}")

        self.ask = TextQuestion("Delay in seconds:", f"{desk.delay_s():g}", done)
