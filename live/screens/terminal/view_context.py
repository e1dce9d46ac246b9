"""What all views of the terminal share: the state looked at, and what may be done from
here.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Literal, Protocol, get_args

from live.errors import ConfigError, LiveRateError
from live.messages.alerts import Alert, Incident
from live.messages.figures import GameView
from live.messages.from_clients import DeskCommand
from live.messages.health import FeedHealth, PublicDelay
from live.messages.to_clients import Change, GoneMessage, MoveMessage, PointMessage
from live.messages.values import FeedName, GameId
from live.process.clock import ReadClock
from live.screens.terminal.text import DUSK, Palette, plain
from live.server.event_reader import EventReader
from live.setting_keys import convert_setting
from live.watch.finding import count_things, dial, in_order
from live.watch.incident_log import board_words

#: How long a message stays, seconds.
MESSAGE_S = 6.0

ExportKind = Literal["pgn", "csv", "html"]
#: What is opened by what it is about.
Shown = Literal["board", "boards", "player"]

#: What the screens are called, in the order of their keys.
SCREENS = ("boards", "players", "alerts", "log", "sources", "moments")


# --- what has just happened -----------------------------------------------------------

#: How long something counts as new, seconds.
NEW_S = 4.0


class RecentChanges:
    """What has just happened, as it is sent; ``now`` gives seconds that never go back.

    Noting costs a dictionary entry a change, so that listening holds up nobody. Loss
    policy: what changed twice between two frames is seen once.
    """

    def __init__(self, now: ReadClock) -> None:
        self.now = now
        # How many plies stand since when, and whether that is exact: the last change of
        # each board.
        self._stands: dict[GameId, tuple[int, float, bool]] = {}
        # The last move that was sent, or whose rating was, and when.
        self._news: dict[GameId, tuple[int, float]] = {}
        self._silent: dict[FeedName, float] = {}
        """Since when a feed is not live, seconds."""

    def note(self, changes: Iterable[Change]) -> None:
        """Note ``changes``; the state already holds them."""
        for change in changes:
            match change:
                case GoneMessage(game=game):
                    self._stands.pop(game, None)
                    self._news.pop(game, None)
                case MoveMessage(game=game, ply=ply, move=None):
                    self._stands[game] = ply - 1, self.now(), True
                    self._news.pop(game, None)
                case MoveMessage(game=game, ply=ply):
                    self._stands[game] = ply, self.now(), True
                    self._news[game] = ply, self.now()
                case PointMessage(game=game, point=point):
                    self._news[game] = max(
                        self._news.get(game, (0, 0.0)), (point.ply, self.now())
                    )

    def set_last_move(self, game: GameId, ply: int, ago_s: float) -> None:
        """Set a board's last move and its age, as far as is known of the time before
        us.
        """
        self._stands[game] = ply, self.now() - ago_s, True

    def measure_age_s(self, game: GameId, plies: int) -> tuple[float, bool]:
        """Return seconds since the last of so many plies came, and whether that is
        exact: of one that nobody sent, because it was there before us or came while we
        were cut off, all that is known is that it came before we first looked.
        """
        stand, since, exact = self._stands.setdefault(game, (plies, self.now(), False))
        if stand != plies:
            since, exact = self.now(), False
            self._stands[game] = plies, since, exact
        return self.now() - since, exact

    def look(self, feeds: Iterable[FeedHealth], games: Iterable[GameView]) -> None:
        """Note which feeds are silent: nobody knows whether clocks of their games still
        run; and since when games stand as they do, whether or not a screen shows them.
        """
        for game in games:
            self.measure_age_s(game.id, game.plies_played)
        now = self.now()
        self._silent = {
            each.feed: self._silent.get(each.feed, now)
            for each in feeds
            if each.state != "live"
        }

    def measure_run_s(self, game: GameId, feed: FeedName, plies: int) -> float:
        """Return the seconds that the clock of the side to move has run after so many
        plies, as far as is known: since the last one, until the feed fell silent.
        """
        return max(
            0.0, self.measure_age_s(game, plies)[0] - self.measure_silence_s(feed)
        )

    def measure_silence_s(self, feed: FeedName) -> float:
        """Return seconds for which a feed is known not to be live; 0 while it is."""
        return self.now() - self._silent.get(feed, self.now())

    def is_new(self, game: GameId, ply: int) -> bool:
        """Return whether this move, or the rating after it, is a moment old."""
        known, at_s = self._news.get(game, (0, 0.0))
        return known == ply and self.now() - at_s < NEW_S


# --- what is asked, and what all views share ------------------------------------------


class AskText(Protocol):
    """Asks for a line of text. ``at_once``: done with what stands there so far, and
    with what stood there first when it is given up.
    """

    def __call__(
        self,
        label: str,
        value: str,
        done: Callable[[str], None],
        *,
        at_once: bool = False,
    ) -> None: ...


Answers = Mapping[str, tuple[str, Callable[[], None]]]
"""By key: what it does in words, and the action."""


def asks_for_notice(alert: Alert) -> bool:
    """Return whether it stands and nobody took note of it."""
    return alert.cleared_s is None and alert.acknowledged_s is None and not alert.muted


def group_by_board(alerts: Iterable[Alert]) -> dict[GameId, list[Alert]]:
    """Return each board's alerts, the most urgent first, and so the boards."""
    found: dict[GameId, list[Alert]] = {}
    for alert in in_order(alerts):
        if alert.game is not None:
            found.setdefault(alert.game, []).append(alert)
    return found


@dataclasses.dataclass
class ViewContext:
    """Shared by the views: what is looked at, and what may be done from here."""

    state: EventReader
    changes: RecentChanges
    address: str
    """Base URL of the service's pages, ending with a slash."""
    wall_s: ReadClock
    """Seconds since 1970 UTC."""
    palette: Palette = DUSK
    ask: AskText = lambda label, value, done, at_once=False: None
    choose: Callable[[str, Answers], None] = lambda question, answers: None
    """Asks a question that one key answers."""
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
    """Takes a board off all screens, points and reports; None where that is not done
    here.
    """
    bring_back_board: Callable[[], str] = str
    """Brings the board removed last back and says which; empty where there is none."""
    status: Callable[[], str] = str
    """What is wrong with the connection; empty when nothing is."""
    _message: tuple[float, str] = (-math.inf, "")

    def notify(self, text: str) -> None:
        """Show a message for a few seconds."""
        self._message = (self.changes.now(), text)

    def find_message(self) -> str:
        """Return the message of the moment, if there is one."""
        at_s, text = self._message
        return text if self.changes.now() - at_s <= MESSAGE_S else ""

    # --- what is done about a board ---------------------------------------------------

    def name_board(self, game: GameId | None) -> str:
        """Return ``board 12 Carlsen – Ding``; ``no board``."""
        view = self.state.game(game) if game else None
        return f"board {plain(board_words(view), 44)}" if view else "no board"

    def is_desk_known(self) -> bool:
        """Return whether alerts and log are answered here; if not, say why."""
        desk = self.no_desk()
        if desk:
            self.notify(f"Not possible now: {desk}")
        return not desk

    def acknowledge_board(self, game: GameId | None) -> None:
        """Take note of all alerts of a board."""
        if not self.is_desk_known():
            return
        asking = [
            each.id
            for each in self.state.alerts()
            if each.game == game and asks_for_notice(each)
        ]
        if game is None or not asking:
            self.notify("The board has no open alert")
            return
        for alert in asking:
            self.command(DeskCommand("acknowledge", alert))
        self.notify(f"Acknowledged {count_things(len(asking), 'alert')} of the board")

    def write_entry(self, game: GameId | None) -> None:
        """Ask for an entry into the log about a board, or about none."""

        def done(text: str) -> None:
            if text.strip():
                self.command(DeskCommand("enter", game or "", text.strip()))
                self.notify("Written into the log: press 4 to see it")

        if self.is_desk_known():
            self.ask(f"Log entry, {self.name_board(game)}:", "", done)

    def ask_removal(self, game: GameId | None) -> None:
        """Ask whether to remove a board, or bring the last one back."""
        remove = self.remove_board
        if remove is None:
            self.notify("Boards can be removed only at the service itself")
            return

        def bring_back() -> None:
            words = self.bring_back_board()
            self.notify(
                f"Brought back: {words}" if words else "There is no removed board"
            )

        def remove_it() -> None:
            if game is not None:
                remove(game)
                self.notify(
                    "Removed, and written into the log: press x u to bring it back"
                )

        answers: dict[str, tuple[str, Callable[[], None]]] = {}
        if game is not None:
            answers["y"] = f"remove {self.name_board(game)} and its points", remove_it
        answers["u"] = "bring the last one back", bring_back
        self.choose("Remove the board?", answers)

    def ask_export(self, game: GameId | None) -> None:
        """Ask what to write into a file."""
        names = {"pgn": "PGN", "csv": "CSV", "html": "a page to print"}
        answers: dict[str, tuple[str, Callable[[], None]]] = {}
        for kind in get_args(ExportKind):
            if game is not None:
                write = partial(self.report_written, partial(self.export, kind, game))
                answers[kind[0]] = f"this board as {names[kind]}", write
        for kind in get_args(ExportKind):
            write = partial(self.report_written, partial(self.export, kind, None))
            answers[kind[0].upper()] = f"the round as {names[kind]}", write
        self.choose("Write", answers)

    def report_written(self, write: Callable[[], str]) -> None:
        """Say which file was written, or why none was."""
        try:
            self.notify(f"Wrote {write()}")
        except LiveRateError as error:
            self.notify(str(error))

    def ask_delay(self, game: GameId | None = None) -> None:
        """Ask how far the public is to be behind, whatever board is looked at."""
        set_delay = self.set_delay
        if set_delay is None:
            self.notify("The delay can be set only at the service: --delay")
            return

        def done(text: str) -> None:
            try:
                seconds = float(str(convert_setting("delay", "feeds.delay_s", text)))
            except ConfigError as error:
                self.notify(str(error))
                return
            set_delay(seconds)
            behind = f"The public is {dial(seconds)} behind"
            self.notify(behind if seconds else "The public sees everything at once")

        now_s = self.public_delay().delay_s
        self.ask("Public delay (90, 15m, 1h):", f"{now_s:g}", done)
