"""What all views of the terminal share: the state looked at, what may be done, keys and lists."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Generic, Literal, TypeVar, get_args

from rich.text import Text

from live.alerts.finding import dial, in_order
from live.alerts.incident_log import board_words
from live.clock import ReadClock
from live.config import checked
from live.errors import ConfigError, LiveRateError
from live.events import (
    Alert,
    Change,
    DeskCommand,
    FeedHealth,
    FeedName,
    GameId,
    GameView,
    GoneMessage,
    Incident,
    MoveMessage,
    PointMessage,
    PublicDelay,
    Value,
)
from live.publish.published_state import PublishedState
from live.terminal.text import DUSK, Palette, Panel, counted, filled, plain, window

#: How long a message stays, seconds.
MESSAGE_S = 6.0

ExportKind = Literal["pgn", "csv", "html"]
#: What is opened by what it is about.
Shown = Literal["board", "boards", "player"]


# --- what has just happened ----------------------------------------------------------------------

#: How long something counts as new, seconds.
NEW_S = 4.0


class RecentChanges:
    """What has just happened, as it is sent; ``now`` gives seconds that never go back.

    Noting costs a dictionary entry a change, so that listening holds up nobody. Loss policy: what
    changed twice between two frames is seen once.
    """

    def __init__(self, now: ReadClock) -> None:
        self.now = now
        # How many plies stand since when, and whether that is exact: the last change of each board.
        self._stands: dict[GameId, tuple[int, float, bool]] = {}
        # The last move sent and the last rating, with their times.
        self._moves: dict[GameId, tuple[int, float]] = {}
        self._points: dict[GameId, tuple[int, float]] = {}
        self._silent: dict[FeedName, float] = {}
        """Since when a feed is not live, seconds."""

    def note(self, changes: Iterable[Change]) -> None:
        """Note ``changes``; the state already holds them."""
        for change in changes:
            match change:
                case GoneMessage(game=game):
                    for known in (self._stands, self._moves, self._points):
                        known.pop(game, None)
                case MoveMessage(game=game, ply=ply, move=None):
                    self._stands[game] = ply - 1, self.now(), True
                    self._moves.pop(game, None)
                case MoveMessage(game=game, ply=ply):
                    self._stands[game] = ply, self.now(), True
                    self._moves[game] = ply, self.now()
                case PointMessage(game=game, point=point):
                    self._points[game] = (point.ply, self.now())

    def known(self, game: GameId, ply: int, ago_s: float) -> None:
        """The last move of a board, as far as is known of the time before us."""
        self._stands[game] = ply, self.now() - ago_s, True

    def age_s(self, game: GameId, plies: int) -> tuple[float, bool]:
        """Seconds since the last of so many plies came, and whether that is exact: of one that
        nobody sent, because it was there before us or came while we were cut off, all that is known
        is that it came before we first looked.
        """
        stand, since, exact = self._stands.setdefault(game, (plies, self.now(), False))
        if stand != plies:
            since, exact = self.now(), False
            self._stands[game] = plies, since, exact
        return self.now() - since, exact

    def look(self, feeds: Iterable[FeedHealth], games: Iterable[GameView]) -> None:
        """Note which feeds are silent: nobody knows whether clocks of their games still run; and
        since when games stand as they do, whether or not a screen shows them.
        """
        for game in games:
            self.age_s(game.id, game.plies_played)
        now = self.now()
        self._silent = {
            each.feed: self._silent.get(each.feed, now) for each in feeds if each.state != "live"
        }

    def ran_s(self, game: GameId, feed: FeedName, plies: int) -> float:
        """Seconds that the clock of the side to move has run after so many plies, as far as is
        known: for its :meth:`age_s`, and only until the feed fell silent.
        """
        return max(0.0, self.age_s(game, plies)[0] - self.silent_s(feed))

    def silent_s(self, feed: FeedName) -> float:
        """Seconds for which a feed is known not to be live; 0 while it is."""
        return self.now() - self._silent.get(feed, self.now())

    def is_new(self, game: GameId, ply: int) -> bool:
        """Whether this move, or the rating after it, is a moment old."""
        news = (self._moves.get(game), self._points.get(game))
        return any(x and x[0] == ply and self.now() - x[1] < NEW_S for x in news)


# --- what is asked, and what all views share ------------------------------------------------------


class TextPrompt(Value):
    """A question answered with one key."""

    question: str
    answers: Mapping[str, Callable[[], None]]


class TextQuestion(Value):
    """A question answered with a line of text."""

    label: str
    value: str
    done: Callable[[str], None]
    at_once: bool = False
    """Done with what stands there so far, and with what stood there first when it is given up."""


def asks(alert: Alert) -> bool:
    """Whether it stands and nobody took note of it."""
    return alert.cleared_s is None and alert.acknowledged_s is None and not alert.muted


def worst_by_board(alerts: Iterable[Alert]) -> dict[GameId, Alert]:
    """Boards with alerts that ask for notice, the most urgent first, each with its worst."""
    worst: dict[GameId, Alert] = {}
    for alert in in_order(filter(asks, alerts)):
        if alert.game is not None:
            worst.setdefault(alert.game, alert)
    return worst


@dataclasses.dataclass
class ViewContext:
    """Shared by the views: what is looked at, and what may be done from this terminal."""

    state: PublishedState
    changes: RecentChanges
    address: str
    """Base URL of the service's pages, ending with a slash."""
    wall_s: ReadClock
    """Seconds since 1970 UTC."""
    palette: Palette = DUSK
    prompt: TextPrompt | None = None
    ask: TextQuestion | None = None
    show: Callable[[Shown, str], None] = lambda view, about: None
    """Opens the view of a board, of a player, or of the boards that a filter takes."""
    export: Callable[[ExportKind, GameId | None], str] = lambda kind, game: ""
    """Writes a file and says which."""
    export_log: Callable[[], str] = str
    """Writes the incident log as a page to print and says where."""
    leave_question: str = "End live-rate?"
    public_delay: Callable[[], PublicDelay] = PublicDelay
    """How far the public is behind this terminal, and what waits for it."""
    set_delay: Callable[[float], None] | None = None
    """None where the delay is not set here."""
    command: Callable[[DeskCommand], None] = lambda command: None
    """Has an arbiter's command carried out."""
    incidents: Callable[[], Sequence[Incident]] = tuple
    """The incident log, in the order it began."""
    no_desk: Callable[[], str] = str
    """Why alerts and log are not known here, nor answered; empty where they are."""
    remove_board: Callable[[GameId], None] | None = None
    """Takes a board off all screens, points and reports; None where that is not done here."""
    bring_back_board: Callable[[], str] = str
    """Brings the board removed last back and says which; empty where there is none."""
    status: Callable[[], str] = str
    """What is wrong with the connection; empty when nothing is."""
    _message: tuple[float, str] = (-math.inf, "")

    def notify(self, text: str) -> None:
        """Show a message for a few seconds."""
        self._message = (self.changes.now(), text)

    def message(self) -> str:
        """The message of the moment, if there is one."""
        at_s, text = self._message
        return text if self.changes.now() - at_s <= MESSAGE_S else ""

    # --- keys about the board that a view is at ---------------------------------------------------

    def board_words(self, game: GameId | None) -> str:
        """``board 12 Carlsen – Ding``; ``no board``."""
        view = self.state.game(game) if game else None
        return f"board {plain(board_words(view), 44)}" if view else "no board"

    def board_keys(self, game: GameId | None) -> list[KeyHint]:
        """Acknowledge all of it, log entry, export, removal; delay."""
        desk = self.no_desk()
        asking = [each.id for each in self.state.alerts() if each.game == game and asks(each)]
        none = "" if game and asking else "the board has no open alert"
        remove = "remove the board, or bring back the one removed last"
        no_removal = "" if self.remove_board else "boards are removed at the service itself"
        no_delay = "" if self.set_delay else "the delay is set at the service: --delay"
        take, write = partial(self._take_all, asking), partial(self._write_entry, game)
        export, removal = partial(self._ask_export, game), partial(self._ask_removal, game)
        return [
            KeyHint("A", "ack all", "acknowledge all alerts of the board", take, desk or none),
            KeyHint("w", "write", "write about the board into the log", write, desk),
            KeyHint("e", "", "write the board or the round as PGN, CSV or a page", export),
            KeyHint("x", "", remove, removal, no_removal),
            KeyHint("d", "", "delay the public", self._ask_delay, no_delay),
        ]

    def open_key(self, game: GameId | None, why: str) -> KeyHint:
        """Looks at the board that a line is about; ``why`` it cannot."""
        return KeyHint(
            "enter", "board", "look at the board", partial(self.show, "board", game or ""), why
        )

    def _take_all(self, alerts: Sequence[str]) -> None:
        for alert in alerts:
            self.command(DeskCommand("acknowledge", alert))
        self.notify(f"Acknowledged {counted(len(alerts), 'alert')} of the board")

    def _write_entry(self, game: GameId | None) -> None:
        def done(text: str) -> None:
            if text.strip():
                self.command(DeskCommand("enter", game or "", text.strip()))
                self.notify("Written into the log: 4 shows it")

        self.ask = TextQuestion(f"Log entry, {self.board_words(game)}:", "", done)

    def _ask_removal(self, game: GameId | None) -> None:
        remove = self.remove_board

        def back() -> None:
            words = self.bring_back_board()
            self.notify(f"Brought back: {words}" if words else "No board is removed")

        answers = {"u": back}
        question = "esc nothing  u bring the last one back"
        if game is not None and remove is not None:

            def removed() -> None:
                remove(game)
                self.notify("Removed, and written into the log: x u brings it back")

            answers["y"] = removed
            question = f"Remove the board and its points?  y yes  {question}"
        self.prompt = TextPrompt(question, answers)

    def _ask_export(self, game: GameId | None) -> None:
        def write(kind: ExportKind, of: GameId | None) -> None:
            self.written(partial(self.export, kind, of))

        kinds = get_args(ExportKind)
        answers = {kind[0]: partial(write, kind, game) for kind in kinds}
        answers |= {kind[0].upper(): partial(write, kind, None) for kind in kinds}
        of = "this board, P C H the round" if game else "the round"
        self.prompt = TextPrompt(f"Export  p PGN  c CSV  h printable: {of}  esc nothing", answers)

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
            if self.set_delay is not None:
                self.set_delay(seconds)
            behind = f"The public is {dial(seconds)} behind"
            self.notify(behind if seconds else "The public sees everything at once")

        now_s = self.public_delay().delay_s
        self.ask = TextQuestion("Public delay (90, 15m, 1h):", f"{now_s:g}", done)


# --- keys and views ---------------------------------------------------------------------------


_SIGNS = {
    "enter": "⏎",
    "slash": "/",
    "colon": ":",
    "exclamation_mark": "!",
    "question_mark": "?",
    "escape": "esc",
}


class KeyHint(Value):
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

    def draw(self, width: int, height: int) -> Panel:
        """Exactly ``height`` lines."""
        raise NotImplementedError

    def offers(self) -> list[KeyHint]:
        """The keys of this screen alone, in the order of the footer."""
        raise NotImplementedError

    def open(self, about: str) -> None:
        """Look at this one: a board, a player, or what a filter takes."""

    def about(self) -> GameId | None:
        """The board that keys about a board are about."""
        return None

    def top(self) -> None:
        """Go to what is most urgent."""

    def caption(self) -> str:
        """For the line above the keys."""
        return ""


class PageView(View):
    """Text to read, scrolled where it does not fit."""

    _first = 0

    def lines(self, width: int) -> Panel:
        """The whole text."""
        raise NotImplementedError

    def draw(self, width: int, height: int) -> Panel:
        lines = self.lines(width)
        self._first = max(0, min(self._first, len(lines) - height))
        return filled(lines[self._first :], height)

    def top(self) -> None:
        self._first = 0

    def offers(self) -> list[KeyHint]:
        return [KeyHint(" ".join(_SCROLLED), "scroll", "scroll", self._scroll, shown="↑↓ j k")]

    def _scroll(self, key: str) -> None:
        self._first += _SCROLLED[key]


_SCROLLED = {"up": -1, "k": -1, "down": 1, "j": 1, "pageup": -10, "pagedown": 10}

Line = TypeVar("Line")


class ListView(View, Generic[Line]):
    """A list with a cursor that stays on its line, and a filter."""

    empty = "nothing is listed"
    """Why keys about a line do nothing."""

    query = ""
    cursor: Any = None
    """Id of the line under it."""
    listed: Sequence[Line] = ()
    """As they were last drawn."""
    moved = True
    """Whether somebody has moved the cursor since a line under it was dealt with."""
    _first = 0
    _last = 0
    _page = 10

    def id_of(self, line: Any) -> object:
        """What the cursor stays on."""
        return line.id

    def at(self) -> int:
        """Index of the line under the cursor; where that is gone, of the one in its place."""
        ids = (index for index, line in enumerate(self.listed) if self.id_of(line) == self.cursor)
        return next(ids, max(0, min(self._last, len(self.listed) - 1)))

    def selected(self) -> Line | None:
        """The line under the cursor."""
        return self.listed[self.at()] if self.listed else None

    def seen(self, fits: int) -> Sequence[Line]:
        """Lines to draw where so many fit; the cursor's is one of them."""
        self._page = fits
        if not self.listed:
            return ()
        self._last = self.at()
        self.cursor = self.id_of(self.listed[self._last])
        self._first = window(len(self.listed), self._last, fits, self._first)
        return self.listed[self._first : self._first + fits]

    def none(self) -> str:
        """Why keys about a line do nothing now; empty where they do."""
        return "" if self.listed else self.empty

    def top(self) -> None:
        self._go(0)

    def enter_key(self, shown: Shown, explained: str) -> KeyHint:
        """Opens what the line under the cursor is about."""
        return KeyHint(
            "enter", "open", explained, lambda: self._context.show(shown, self.cursor), self.none()
        )

    def move_key(self, explained: str) -> KeyHint:
        """Moves the cursor."""
        keys = "up k down j pageup pagedown home end"
        return KeyHint(keys, "", explained, self._move, self.none(), shown="↑↓ j k")

    def _move(self, key: str) -> None:
        far, page = len(self.listed), self._page
        steps = {"pagedown": page, "pageup": -page, "home": -far, "end": far, "up": -1, "k": -1}
        self._go(self.at() + steps.get(key, 1))

    def _go(self, at: int) -> None:
        self.moved = True
        if self.listed:
            self._last = max(0, min(len(self.listed) - 1, at))
            self.cursor = self.id_of(self.listed[self._last])

    def filter_keys(self, explained: str) -> list[KeyHint]:
        """Asks for the filter, and drops it."""
        use = partial(setattr, self, "query")

        def ask() -> None:
            self._context.ask = TextQuestion("Filter:", self.query, use, at_once=True)

        drop = [KeyHint("escape", act=partial(use, ""), shown="")] if self.query else []
        return [KeyHint("slash", "filter", explained, ask), *drop]

    def filtered(self, text: str) -> str:
        """A caption, and the filter behind it."""
        return f"{text}{self.query and f' · filter {self.query!r}'}"

    def pointed(self, line: Line, drawn: Text) -> Text:
        """A line behind the sign of the cursor, if it is there."""
        here = self.id_of(line) == self.cursor
        whole = Text.assemble(("▌" if here else " ", "accent"), drawn, no_wrap=True)
        if here:
            whole.stylize_before("cursor")
        return whole
