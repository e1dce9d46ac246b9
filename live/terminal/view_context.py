"""What all views of the terminal share: the state looked at, what may be done, keys and lists."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Generic, Literal, Protocol, TypeVar, get_args
from urllib.parse import quote

import msgspec
from rich.text import Text

from live.config import checked
from live.errors import ConfigError, LiveRateError
from live.events import (
    Alert,
    AlertKind,
    BellChoice,
    FigureChoice,
    GameId,
    Incident,
    PublicDelay,
)
from live.publish.published_state import PublishedState
from live.terminal.recent_changes import RecentChanges
from live.terminal.text import DUSK, Palette, filled, spoken_time, styled, window

#: How long a message stays, seconds.
MESSAGE_S = 6.0

#: What each choice of the leading figure means, for people.
FIGURE_CHOICES: dict[FigureChoice, str] = {
    "perceived": "playing like",
    "algorithm4": "Algorithm 4 as published, on its own scale",
}

ExportKind = Literal["pgn", "csv", "html"]

BELLS: tuple[BellChoice, ...] = get_args(BellChoice)
#: What each choice means, for people.
BELL_WORDS: dict[BellChoice, str] = {
    "off": "The bell is silent",
    "alarms": "The bell rings for alarms (!!)",
    "all": "The bell rings for every alert",
}


class AlertActions(Protocol):
    """What an arbiter may do about an alert; ``live.app`` puts the alert desk behind it."""

    def acknowledge(self, alert: str, note: str = "") -> None: ...

    def note(self, alert: str, text: str) -> None: ...

    def mute(self, alert: str, muted: bool) -> None: ...

    def mute_kind(self, kind: AlertKind, muted: bool) -> None: ...

    def mute_board(self, game: GameId, muted: bool) -> None: ...


@dataclasses.dataclass
class TerminalActions:
    """What may be done from this terminal besides looking. What is None cannot be done here, and
    the matching ``no_…`` says why.
    """

    address: str
    """Base URL of the service's pages, ending with a slash."""
    leave_question: str = "End live-rate?"
    export: Callable[[ExportKind, GameId | None], str] | None = None
    """Writes a file and says which."""
    no_export: str = "this terminal cannot write files"
    public_delay: Callable[[], PublicDelay] = PublicDelay
    """How far the public is behind this terminal, and what waits for it."""
    set_delay: Callable[[float], None] | None = None
    no_delay: str = "the delay belongs to the service: start it with --delay"
    alert_actions: AlertActions | None = None
    incidents: Callable[[], Sequence[Incident]] = tuple
    """The incident log, in the order it began."""
    export_log: Callable[[], str] | None = None
    """Writes the incident log as a page to print and says where."""
    enter: Callable[[str, GameId | None], None] | None = None
    """Writes an entry of the arbiter's own into it."""
    remove_board: Callable[[GameId], None] | None = None
    """Takes a board off all screens, points and reports."""
    bring_back_board: Callable[[], str] = str
    """Brings the board removed last back and says which; empty where there is none."""
    no_alert_actions: str = "only the terminal of the service itself can answer alerts"
    no_alerts: Callable[[], str] = str
    """Why it is not known whether there are alerts; empty where it is."""
    no_incidents: str = ""
    """Why the incident log cannot be seen here; empty where it can."""
    status: Callable[[], str] = str
    """What is wrong with the connection; empty when nothing is."""

    def overlay(self, game: GameId) -> str:
        """The address of a board's overlay."""
        return f"{self.address}overlay?game={quote(game, safe='')}"


class TextPrompt(msgspec.Struct, frozen=True):
    """A question answered with one key."""

    question: str
    answers: Mapping[str, Callable[[], None]]


class TextQuestion(msgspec.Struct, frozen=True):
    """A question answered with a line of text."""

    label: str
    value: str
    done: Callable[[str], None]
    typed: Callable[[str], None] | None = None
    """Called with what stands there so far."""
    cancelled: Callable[[], None] | None = None


def asks(alert: Alert) -> bool:
    """Whether it stands and nobody took note of it."""
    return alert.cleared_s is None and alert.acknowledged_s is None and not alert.muted


def asking(alerts: Iterable[Alert]) -> set[GameId]:
    """Boards with an alert that asks for notice."""
    return {alert.game for alert in alerts if alert.game is not None and asks(alert)}


class AlertBell:
    """Rings once for each alert that newly asks for notice. What stands when it is first asked is
    no news.
    """

    def __init__(self, choice: BellChoice = "off") -> None:
        self.choice: BellChoice = choice
        self._rung: dict[str, int] | None = None

    def next_choice(self) -> str:
        """Another choice, in words."""
        self.choice = BELLS[(BELLS.index(self.choice) + 1) % len(BELLS)]
        return BELL_WORDS[self.choice]

    def rings(self, alerts: Iterable[Alert]) -> bool:
        """Whether to ring now, for the alerts that stand now."""
        asking = [each for each in alerts if asks(each)]
        before, self._rung = self._rung, {each.id: each.times for each in asking}
        if before is None or self.choice == "off":
            return False
        return any(
            each.times > before.get(each.id, 0)
            for each in asking
            if self.choice == "all" or each.severity == "alarm"
        )


def _nothing(*_: str) -> None:
    """Where nobody listens."""


@dataclasses.dataclass
class ViewContext:
    """Shared by the views."""

    state: PublishedState
    changes: RecentChanges
    actions: TerminalActions
    wall_s: Callable[[], float]
    """Seconds since 1970 UTC."""
    palette: Palette = DUSK
    pinned: set[GameId] = dataclasses.field(default_factory=set)
    keyless: bool = False
    """Nobody presses keys here: what runs is shown, and no cursor."""
    figure: FigureChoice = "perceived"
    """Which figure leads."""
    prompt: TextPrompt | None = None
    ask: TextQuestion | None = None
    show: Callable[[GameId], None] = _nothing
    """Opens the board view."""
    list_boards: Callable[[str], None] = _nothing
    """Opens the view of all boards with this filter."""
    copy: Callable[[str], None] = _nothing
    """Puts a text on the clipboard."""
    bell: AlertBell = dataclasses.field(default_factory=AlertBell)
    _message: tuple[float, str] = (-math.inf, "")

    def notify(self, text: str) -> None:
        """Show a message for a few seconds."""
        self._message = (self.changes.now(), text)

    def message(self) -> str:
        """The message of the moment, if there is one."""
        at_s, text = self._message
        return text if self.changes.now() - at_s <= MESSAGE_S else ""

    def next_figure(self) -> None:
        """Another figure leads: the next of those there are."""
        self.figure = "algorithm4" if self.figure == "perceived" else "perceived"
        self.notify(f"Curves show: {FIGURE_CHOICES[self.figure]}")

    # --- keys that every view with a board under the cursor has ----------------------------------

    def board_keys(self, game: GameId | None) -> list[KeyHint]:
        """Pin, overlay, export, log entry, removal, delay."""
        here, none = game or "", "" if game else "no board is selected"
        actions = self.actions
        desk = actions.no_alert_actions

        def pin() -> None:
            self.pinned ^= {here}
            self.notify("Pinned: it stays on top" if here in self.pinned else "Unpinned")

        def overlay() -> None:
            url = actions.overlay(here)
            self.copy(url)
            self.notify(f"Copied {url}")

        pinned = "unpin" if here in self.pinned else "pin"
        entry = "write an entry about the board into the log"
        no_entry = none or ("" if actions.enter else desk)
        export = "write the board or the round as PGN, CSV or a printable page"
        no_export = "" if actions.export else actions.no_export
        remove = "remove the board, or bring back the one removed last"
        no_removal = "" if actions.remove_board else desk
        delay = "hold back by so many seconds what the public sees"
        no_delay = "" if actions.set_delay else actions.no_delay
        return [
            KeyHint("space", pinned, "keep the board on top", pin, none),
            KeyHint("o", "overlay", "copy the address of the board's overlay", overlay, none),
            KeyHint("e", "export", export, partial(self._ask_export, game), no_export),
            KeyHint("w", "", entry, partial(self.write_entry, game), no_entry),
            KeyHint("x", "", remove, partial(self._ask_removal, game), no_removal),
            KeyHint("d", "delay", delay, self._ask_delay, no_delay),
        ]

    def open_key(self, game: GameId | None, why: str) -> KeyHint:
        """Looks at the board that a line is about; ``why`` it cannot."""
        return KeyHint("enter", "board", "look at the board", partial(self.show, game or ""), why)

    def write_entry(self, game: GameId | None) -> None:
        """Ask what to write into the incident log, about a board or none."""

        def done(text: str) -> None:
            if text.strip() and self.actions.enter is not None:
                self.actions.enter(text.strip(), game)
                self.notify("Written into the log: 4 shows it")

        self.ask = TextQuestion("Log entry:", "", done)

    def _ask_removal(self, game: GameId | None) -> None:
        remove = self.actions.remove_board

        def back() -> None:
            words = self.actions.bring_back_board()
            self.notify(f"Brought back: {words}" if words else "No board is removed")

        answers = {"u": back}
        question = "u bring back the board removed last  esc nothing"
        if game is not None and remove is not None:

            def removed() -> None:
                remove(game)
                self.notify("Removed, and written into the log: x u brings it back")

            answers["y"] = removed
            question = f"Remove the board, its points too?  y yes  {question}"
        self.prompt = TextPrompt(question, answers)

    def _ask_export(self, game: GameId | None) -> None:
        def write(kind: ExportKind, of: GameId | None) -> None:
            if (export := self.actions.export) is not None:
                self.written(lambda: export(kind, of))

        def choose(kind: ExportKind) -> None:
            if game is None:
                write(kind, None)
                return
            question = f"{kind.upper()} of  b this board  r the whole round  esc neither"
            answers = {"b": partial(write, kind, game), "r": partial(write, kind, None)}
            self.prompt = TextPrompt(question, answers)

        answers = {kind[0]: partial(choose, kind) for kind in get_args(ExportKind)}
        self.prompt = TextPrompt(
            "Export  p annotated PGN  c CSV  h printable page  esc nothing", answers
        )

    def written(self, write: Callable[[], str]) -> None:
        """Say which file was written, or why none was."""
        try:
            self.notify(f"Wrote {write()}")
        except LiveRateError as error:
            self.notify(str(error))

    def _ask_delay(self) -> None:
        def done(text: str) -> None:
            try:
                seconds = float(str(checked("delay", "feeds.delay_s", text)))
            except ConfigError as error:
                self.notify(str(error))
                return
            if self.actions.set_delay is not None:
                self.actions.set_delay(seconds)
            behind = f"Delayed boards are {spoken_time(seconds)} behind for the public"
            self.notify(behind if seconds else "The public sees everything at once")

        now_s = self.actions.public_delay().delay_s
        self.ask = TextQuestion("Public delay (90, 15m, 1h):", f"{now_s:g}", done)


# --- keys and views ---------------------------------------------------------------------------


_SIGNS = {
    "enter": "⏎",
    "slash": "/",
    "space": "␣",
    "colon": ":",
    "minus": "-",
    "exclamation_mark": "!",
    "question_mark": "?",
    "escape": "esc",
    "tab": "tab",
}


class KeyHint(msgspec.Struct, frozen=True):
    """Keys that do something here."""

    keys: str
    """As Textual names them, parted by spaces: ``enter``, ``slash``, ``down j``."""
    label: str = ""
    """One or two words for the footer; empty keeps it out of the footer."""
    explained: str = ""
    """For help; empty keeps it out of help."""
    act: Callable[..., object] = str
    """Carries it out; where there are several keys it is given the one that was pressed."""
    disabled: str = ""
    """Why it does nothing now; empty when it does."""
    shown: str | None = None
    """As people know them: ``↑↓ j k``; None where that is the first of them."""

    @property
    def sign(self) -> str:
        """As people know them."""
        if self.shown is not None:
            return self.shown
        return _SIGNS.get(self.keys.partition(" ")[0], self.keys)


class View:
    """One of the screens."""

    name = ""

    def __init__(self, context: ViewContext) -> None:
        self._context = context

    def draw(self, width: int, height: int) -> list[Text]:
        """Exactly ``height`` lines."""
        raise NotImplementedError

    def offers(self) -> list[KeyHint]:
        """The keys that mean something here, in the order of the footer."""
        raise NotImplementedError

    def caption(self) -> str:
        """For the line above the keys."""
        return ""

    def turn(self, what: str) -> Callable[..., None]:
        """Turns one of its switches."""
        return lambda *_: setattr(self, what, not getattr(self, what))

    def press(self, key: str, more: Sequence[KeyHint] = ()) -> None:
        """Carry out a key of this screen, or of ``more``; say why where it does nothing now."""
        for hint in (*self.offers(), *more):
            if key in hint.keys.split():
                if hint.disabled:
                    self._context.notify(f"{hint.sign} does nothing now: {hint.disabled}")
                elif " " in hint.keys:
                    hint.act(key)
                else:
                    hint.act()
                return


Line = TypeVar("Line")


class ListView(View, Generic[Line]):
    """A list with a cursor that stays on its line, and a filter."""

    empty = "nothing is listed"
    """Why keys about a line do nothing."""

    def __init__(self, context: ViewContext) -> None:
        super().__init__(context)
        self.query = ""
        self.cursor: Any = None
        """Id of the line under it."""
        self.listed: Sequence[Line] = ()
        """As they were last drawn."""
        self.first = 0
        self.page = 10

    def id_of(self, line: Any) -> object:
        """What the cursor stays on."""
        return line.id

    def at(self) -> int:
        """Index of the line under the cursor."""
        ids = (index for index, line in enumerate(self.listed) if self.id_of(line) == self.cursor)
        return next(ids, 0)

    def selected(self) -> Line | None:
        """The line under the cursor."""
        return self.listed[self.at()] if self.listed else None

    def seen(self, fits: int) -> Sequence[Line]:
        """Lines to draw where so many fit; the cursor's is one of them."""
        if not self.listed:
            return ()
        at = self.at()
        self.cursor = self.id_of(self.listed[at])
        self.first = window(len(self.listed), at, fits, self.first)
        return self.listed[self.first : self.first + fits]

    def steps(self) -> dict[str, int]:
        """By how many lines each key moves."""
        far = len(self.listed)
        page = {"pagedown": self.page, "pageup": -self.page, "home": -far, "end": far}
        return {"up": -1, "down": 1, "j": 1, "k": -1, **page}

    def none(self) -> str:
        """Why keys about a line do nothing now; empty where they do."""
        return "" if self.listed else self.empty

    def move_key(self, explained: str) -> KeyHint:
        """Moves the cursor."""
        keys = " ".join(self.steps())
        return KeyHint(keys, "", explained, self._move, self.none(), shown="↑↓ j k")

    def _move(self, key: str) -> None:
        if self.listed:
            at = max(0, min(len(self.listed) - 1, self.at() + self.steps()[key]))
            self.cursor = self.id_of(self.listed[at])

    def filter_keys(self, explained: str) -> list[KeyHint]:
        """Asks for the filter, and drops it."""
        use = partial(setattr, self, "query")

        def ask() -> None:
            before = self.query
            self._context.ask = TextQuestion("Filter:", before, use, use, partial(use, before))

        drop = [KeyHint("escape", act=partial(use, ""), shown="")] if self.query else []
        return [KeyHint("slash", "filter", explained, ask), *drop]

    def filtered(self, text: str) -> str:
        """A caption, and the filter behind it."""
        return text + (f" · filter {self.query!r}" if self.query else "")

    def pointed(self, line: Line, drawn: Text) -> Text:
        """A line behind the sign of the cursor, if it is there."""
        here = self.id_of(line) == self.cursor
        whole = Text.assemble(("▌" if here else " ", "accent"), drawn, no_wrap=True)
        if here:
            whole.stylize_before("cursor")
        return whole

    def with_detail(
        self, head: Text, rows: list[Text], detail: list[Text], size: tuple[int, int], most: int
    ) -> list[Text]:
        """Head, lines, and below a rule at most ``most`` lines about the one under the cursor."""
        width, height = size
        above = filled([head, *rows], max(1, height - 2 - most) + 1)
        return filled([*above, styled("─" * width, "dim"), *detail], height)
