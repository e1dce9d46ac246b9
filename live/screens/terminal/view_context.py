"""State and actions that all views of the terminal app share."""

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
from live.watch.finding import format_count, format_hms, sort_by_urgency
from live.watch.incident_log import name_board_and_players

#: Time that a message stays on the screen, in seconds.
MESSAGE_S = 6.0

ExportKind = Literal["pgn", "csv", "html"]
#: Views that are opened for a particular board, player or filter.
Shown = Literal["board", "boards", "player"]

#: Names of the screens, in the order of their keys.
SCREENS = ("boards", "players", "alerts", "log", "sources", "moments")


# --- recent changes -------------------------------------------------------------------

#: Time for which a change counts as new, in seconds.
NEW_S = 4.0


class RecentChanges:
    """Times of each board's latest changes, by the monotonic clock ``now``, in seconds.

    Recording a change is one dictionary entry, so it does not delay the bus. Loss
    policy: only the latest change of a board is stored.
    """

    def __init__(self, now: ReadClock) -> None:
        self.now = now
        # For each board: its number of plies, the time when that number was reached, in
        # seconds, and whether that time is exact.
        self._reached: dict[GameId, tuple[int, float, bool]] = {}
        # For each board: the latest ply that was sent or rated, and when, in seconds.
        self._latest: dict[GameId, tuple[int, float]] = {}
        self._silent: dict[FeedName, float] = {}
        """For each feed that is not live: the time when it stopped being live, in
        seconds.
        """

    def note(self, changes: Iterable[Change]) -> None:
        """Record ``changes``; the state already contains them."""
        for change in changes:
            match change:
                case GoneMessage(game=game):
                    self._reached.pop(game, None)
                    self._latest.pop(game, None)
                case MoveMessage(game=game, ply=ply, move=None):
                    self._reached[game] = ply - 1, self.now(), True
                    self._latest.pop(game, None)
                case MoveMessage(game=game, ply=ply):
                    self._reached[game] = ply, self.now(), True
                    self._latest[game] = ply, self.now()
                case PointMessage(game=game, point=point):
                    self._latest[game] = max(
                        self._latest.get(game, (0, 0.0)), (point.ply, self.now())
                    )

    def set_last_move(self, game: GameId, ply: int, ago_s: float) -> None:
        """Set the age of a board's last move, as read from the journal at the start."""
        self._reached[game] = ply, self.now() - ago_s, True

    def measure_age_s(self, game: GameId, plies: int) -> tuple[float, bool]:
        """Return the seconds since the board reached this many plies, and whether that
        age is exact.

        The age is not exact if the move was played before the start or during a lost
        connection. It then counts from the time when the move was first seen.
        """
        reached_plies, since, exact = self._reached.setdefault(
            game, (plies, self.now(), False)
        )
        if reached_plies != plies:
            since, exact = self.now(), False
            self._reached[game] = plies, since, exact
        return self.now() - since, exact

    def track_ages_and_silences(
        self, feeds: Iterable[FeedHealth], games: Iterable[GameView]
    ) -> None:
        """Record which feeds are not live, and the number of plies of each game.

        While a feed is silent, nobody knows whether the clocks of its games run. Plies
        are recorded for all games, shown or not.
        """
        for game in games:
            self.measure_age_s(game.id, game.plies_played)
        now = self.now()
        self._silent = {
            feed.feed: self._silent.get(feed.feed, now)
            for feed in feeds
            if feed.state != "live"
        }

    def measure_run_s(self, game: GameId, feed: FeedName, plies: int) -> float:
        """Return the seconds for which the clock of the side to move is known to have
        run.

        The time counts from the last move until the feed became silent, or until now.
        """
        return max(
            0.0, self.measure_age_s(game, plies)[0] - self.measure_silence_s(feed)
        )

    def measure_silence_s(self, feed: FeedName) -> float:
        """Return the seconds for which a feed has not been live; 0 while it is live."""
        return self.now() - self._silent.get(feed, self.now())

    def is_new(self, game: GameId, ply: int) -> bool:
        """Return whether this move, or the rating after it, came in the last few
        seconds.
        """
        newest_ply, at_s = self._latest.get(game, (0, 0.0))
        return newest_ply == ply and self.now() - at_s < NEW_S


# --- questions, and the state of all views --------------------------------------------


class AskText(Protocol):
    """Function that asks for a line of text.

    With ``at_once``, ``receive`` is called after every key with the text so far, and
    with the initial text if the user gives up.
    """

    def __call__(
        self,
        label: str,
        value: str,
        receive: Callable[[str], None],
        *,
        at_once: bool = False,
    ) -> None: ...


Answers = Mapping[str, tuple[str, Callable[[], None]]]
"""For each key: what it does, in words, and the action."""


def is_awaiting_arbiter(alert: Alert) -> bool:
    """Return whether an alert is open and neither acknowledged nor muted."""
    return alert.cleared_s is None and alert.acknowledged_s is None and not alert.muted


def group_by_board(alerts: Iterable[Alert]) -> dict[GameId, list[Alert]]:
    """Return each board's alerts, the most urgent first; the board with the most urgent
    alert comes first.
    """
    by_board: dict[GameId, list[Alert]] = {}
    for alert in sort_by_urgency(alerts):
        if alert.game is not None:
            by_board.setdefault(alert.game, []).append(alert)
    return by_board


@dataclasses.dataclass
class ViewContext:
    """State and actions that all views share."""

    state: EventReader
    changes: RecentChanges
    address: str
    """Base URL of the service's pages, ending with a slash."""
    wall_s: ReadClock
    """Returns the time as seconds since 1970 UTC."""
    palette: Palette = DUSK
    ask: AskText = lambda label, value, receive, at_once=False: None
    choose: Callable[[str, Answers], None] = lambda question, answers: None
    """Asks a question that is answered by one key."""
    show: Callable[[Shown, str], None] = lambda view, about: None
    """Opens the view of a board, of a player, or of the boards that match a filter."""
    export: Callable[[ExportKind, GameId | None], str] = lambda kind, game: ""
    """Writes a file and returns its path."""
    export_log: Callable[[], str] = str
    """Writes the incident log as a page to print and returns its path."""
    leave_question: str = "End live-rate?"
    public_delay: Callable[[], PublicDelay] = PublicDelay
    """Returns the delay of the public view, and how many moves the public does not see
    yet.
    """
    hides_scores: Callable[[], bool] = lambda: False
    """Returns whether scores and ratings are hidden from the public, as far as it is
    known here.
    """
    set_delay: Callable[[float], None] | None = None
    """Sets the public delay; None if it cannot be set here."""
    command: Callable[[DeskCommand], None] = lambda command: None
    """Carries out an arbiter's command."""
    incidents: Callable[[], Sequence[Incident]] = tuple
    """Returns the incidents, in the order they began."""
    no_desk: Callable[[], str] = str
    """Returns the reason why alerts and log are unknown here; an empty string if they
    are known.
    """
    remove_board: Callable[[GameId], None] | None = None
    """Removes a board from all screens, points and reports; None if that is not
    possible here.
    """
    bring_back_board: Callable[[], str] = str
    """Brings the last removed board back and returns its name; an empty string if there
    is none.
    """
    status: Callable[[], str] = str
    """Returns the problem of the connection; an empty string if there is none."""
    _message: tuple[float, str] = (-math.inf, "")

    def notify(self, text: str) -> None:
        """Show a message for a few seconds."""
        self._message = (self.changes.now(), text)

    def find_message(self) -> str:
        """Return the current message; an empty string if there is none."""
        at_s, text = self._message
        return text if self.changes.now() - at_s <= MESSAGE_S else ""

    # --- actions on a board -----------------------------------------------------------

    def name_board(self, game: GameId | None) -> str:
        """Return a name such as ``board 12 Carlsen – Ding``, or ``no board``."""
        view = self.state.game(game) if game else None
        return (
            f"board {plain(name_board_and_players(view), 44)}" if view else "no board"
        )

    def is_desk_known(self) -> bool:
        """Return whether alerts and log are known here; if not, show a message with the
        reason.
        """
        desk = self.no_desk()
        if desk:
            self.notify(f"Not possible now: {desk}")
        return not desk

    def acknowledge_board(self, game: GameId | None) -> None:
        """Acknowledge all alerts of a board."""
        if not self.is_desk_known():
            return
        alert_ids = [
            alert.id
            for alert in self.state.alerts()
            if alert.game == game and is_awaiting_arbiter(alert)
        ]
        if game is None or not alert_ids:
            self.notify("The board has no open alert")
            return
        for alert_id in alert_ids:
            self.command(DeskCommand("acknowledge", alert_id))
        self.notify(
            f"Acknowledged {format_count(len(alert_ids), 'alert')} of the board"
        )

    def ask_log_entry(self, game: GameId | None) -> None:
        """Ask for the text of a log entry about a board, or about no board."""

        def enter_text(text: str) -> None:
            if text.strip():
                self.command(DeskCommand("enter", game or "", text.strip()))
                self.notify("Written into the log: press 4 to see it")

        if self.is_desk_known():
            self.ask(f"Log entry, {self.name_board(game)}:", "", enter_text)

    def ask_removal(self, game: GameId | None) -> None:
        """Ask whether to remove a board, or to bring the last removed one back."""
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
        """Ask which report to write into a file."""
        names = {"pgn": "PGN", "csv": "CSV", "html": "a page to print"}
        answers: dict[str, tuple[str, Callable[[], None]]] = {}
        for kind in get_args(ExportKind):
            if game is not None:
                write = partial(self.write_report, partial(self.export, kind, game))
                answers[kind[0]] = f"this board as {names[kind]}", write
        for kind in get_args(ExportKind):
            write = partial(self.write_report, partial(self.export, kind, None))
            answers[kind[0].upper()] = f"the round as {names[kind]}", write
        self.choose("Write", answers)

    def write_report(self, write: Callable[[], str]) -> None:
        """Write a file, and show its path or the reason why it was not written."""
        try:
            self.notify(f"Wrote {write()}")
        except LiveRateError as error:
            self.notify(str(error))

    def ask_delay(self) -> None:
        """Ask for the public delay and set it."""
        set_delay = self.set_delay
        if set_delay is None:
            self.notify("The delay can be set only at the service: --delay")
            return

        def enter_delay(text: str) -> None:
            try:
                seconds = float(str(convert_setting("delay", "feeds.delay_s", text)))
            except ConfigError as error:
                self.notify(str(error))
                return
            set_delay(seconds)
            notice = f"The public is {format_hms(seconds)} behind"
            self.notify(notice if seconds else "The public sees every move at once")

        now_s = self.public_delay().delay_s
        self.ask("Public delay (90, 15m, 1h):", f"{now_s:g}", enter_delay)
