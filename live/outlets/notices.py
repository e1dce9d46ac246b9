"""Notices to people elsewhere, sent with apprise (github.com/caronc/apprise) by mail,
chat or telephone.

The rules are pure: changes come in, and notices go out. Nothing that was already true
when the service began causes a notice. :class:`PublicRules` receives only what viewers
are allowed to know. :class:`ArbiterRules` receives what arbiters see; its addresses are
in a separate file. To prevent floods, each of the two sends a limited number of notices
per hour. The last notice within the limit mentions the limit, and the number of omitted
notices is logged.

At most :data:`MAX_WAITING` notices wait for each of the two. Further
notices are dropped; each dropped or undeliverable notice is logged.
"""

import abc
import asyncio
import logging
import time
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from live.errors import ConfigError
from live.games.player_identity import fold_name
from live.games.short_names import isolate_direction
from live.messages.alerts import Alert
from live.messages.figures import GameView
from live.messages.health import NOTIFICATIONS, HealthReport, part_health
from live.messages.moments import Moment
from live.messages.to_clients import (
    AlertMessage,
    Change,
    GameMessage,
    GoneMessage,
    MomentMessage,
)
from live.messages.values import FeedName, GameId
from live.outlets.optional_libraries import import_library
from live.server.stream_filter import StreamFilter
from live.settings import NotifyConfig
from live.user_files import read_file_of_setting
from live.watch.finding import rank_severity
from live.watch.incident_log import list_changes
from live.watch.story_desk import PAST_MOVES

log = logging.getLogger(__name__)

HOUR_S = 3600.0
MAX_WAITING = 100
#: Maximum number of notices per hour, separately for the public and for arbiters.
PER_HOUR = 20
#: Least weight of a moment that causes a notice or a switch of scene.
LEAST_WEIGHT = 0.6
#: Text added to the last notice within the limit, so that nobody takes the silence as a
#: sign that nothing happens.
_PAUSE = " (The limit of notices per hour is reached; no more for a while.)"


class Notice(NamedTuple):
    """A notice as plain text."""

    title: str
    body: str


class NoticeLimit:
    """Limit of :data:`PER_HOUR` notices per hour."""

    def __init__(self) -> None:
        self._sent_s: deque[float] = deque()
        self._mentioned_s = float("-inf")
        self.left_out = 0
        """Number of notices omitted since the last log message about them."""

    def admit_notices(self, notices: Sequence[Notice], now_s: float) -> list[Notice]:
        """Return the notices within the limit; count the others.

        The last notice within the limit mentions the limit, at most once an hour.
        """
        while self._sent_s and now_s - self._sent_s[0] >= HOUR_S:
            self._sent_s.popleft()
        sent = list(notices[: PER_HOUR - len(self._sent_s)])
        self.left_out += len(notices) - len(sent)
        self._sent_s.extend([now_s] * len(sent))
        if (
            sent
            and len(self._sent_s) == PER_HOUR
            and now_s - self._mentioned_s >= HOUR_S
        ):
            self._mentioned_s = now_s
            sent[-1] = sent[-1]._replace(body=f"{sent[-1].body}{_PAUSE}")
        return sent


class KnownGame:
    """A game and the news already reported about it, which a source can repeat."""

    def __init__(self, view: GameView, *, begun: bool = False) -> None:
        self.view = view
        self.begun = begun
        self.result = view.result
        """The last result other than ``*``; ``*`` if there was none."""
        self.moments: set[str] = set()

    def mark_if_news(self, moment: Moment) -> bool:
        """Return whether a moment is news, and mark it as reported.

        A moment is news if it is important and its time is known. A moment without a
        time can be hours old.
        """
        if (
            moment.at_s is None
            or moment.weight < LEAST_WEIGHT
            or moment.id in self.moments
        ):
            return False
        self.moments.add(moment.id)
        return True


class KnownGames(dict[GameId, KnownGame]):
    """All games, with the given games and moments marked as reported."""

    def __init__(
        self, games: Iterable[GameView] = (), moments: Iterable[Moment] = ()
    ) -> None:
        super().__init__(
            (game.id, KnownGame(game, begun=game.plies_played > 0)) for game in games
        )
        for moment in moments:
            if moment.game in self:
                self[moment.game].moments.add(moment.id)

    def apply_change(self, change: Change) -> None:
        """Add, update or remove the game of a change."""
        if isinstance(change, GameMessage):
            self.setdefault(change.game.id, KnownGame(change.game)).view = change.game
        elif isinstance(change, GoneMessage):
            self.pop(change.game, None)


class NoticeRules(abc.ABC):
    """Rules for notices, with a limit per hour. One task calls them; no call blocks."""

    def __init__(self, config: NotifyConfig) -> None:
        self.limit = NoticeLimit()
        self._config = config
        self._follows = StreamFilter(
            players=frozenset(map(fold_name, config.players))
        ).has_game
        """Return whether a followed player plays in a game; always true if no player is
        followed.
        """
        self._games = KnownGames()

    def collect_notices(self, changes: Iterable[Change], now_s: float) -> list[Notice]:
        """Return the notices for changes that the receivers are allowed to know."""
        notices: list[Notice] = []
        for change in changes:
            self._games.apply_change(change)
            notices += self._find_news(change)
        return self.limit.admit_notices(notices, now_s)

    @abc.abstractmethod
    def _find_news(self, change: Change) -> list[Notice]:
        """Return the notices for one change, before the limit."""


class PublicRules(NoticeRules):
    """Rules for notices to the public, about what viewers are allowed to know."""

    def set_known(
        self, games: Iterable[GameView], moments: Iterable[Moment] = ()
    ) -> None:
        """Set the games and moments known at the start, which cause no notices."""
        self._games = KnownGames(games, moments)

    def _find_news(self, change: Change) -> list[Notice]:
        sentences: list[str] = []
        game: KnownGame | None = None
        if isinstance(change, GameMessage):
            game = self._games[change.game.id]
            sentences = self._find_start_and_end(game)
        elif isinstance(change, MomentMessage) and "moments" in self._config.what:
            game = self._games.get(change.game)
            if game is not None and change.holds and game.mark_if_news(change.moment):
                sentences = [getattr(change.moment.text, self._config.lang)]
        if game is None or not self._follows(game.view):
            return []
        return [Notice(format_pairing(game.view), sentence) for sentence in sentences]

    def _find_start_and_end(self, game: KnownGame) -> list[str]:
        """Return the sentences for a game that has begun or ended."""
        view = game.view
        sentences = []
        if not game.begun and view.plies_played:
            game.begun = True
            # A game with more moves was already in progress when first reported.
            is_news = view.plies_played <= PAST_MOVES and view.result == "*"
            if is_news and "begins" in self._config.what:
                sentences.append("The game has begun.")
        if view.result not in ("*", game.result):
            event = "game is over" if game.result == "*" else "result is corrected"
            game.result = view.result
            if "ends" in self._config.what:
                sentences.append(f"The {event}: {view.result}.")
        return sentences


class ArbiterRules(NoticeRules):
    """Rules for notices to arbiters, about alerts."""

    def __init__(self, config: NotifyConfig) -> None:
        super().__init__(config)
        self._least_rank = rank_severity(config.arbiters_from)
        self._alerts: dict[str, Alert] = {}

    def set_known(self, games: Iterable[GameView], alerts: Iterable[Alert]) -> None:
        """Set the games and alerts known at the start, which cause no notices."""
        self._games = KnownGames(games)
        self._alerts = {alert.id: alert for alert in alerts}

    def _find_news(self, change: Change) -> list[Notice]:
        if not isinstance(change, AlertMessage):
            return []
        alert = change.alert
        before = self._alerts.pop(alert.id, None)
        if alert.cleared_s is not None:
            return []
        self._alerts[alert.id] = alert
        rank = rank_severity(alert.severity)
        happened = {word for word, _ in list_changes(before, alert)}
        is_worse = (
            "changed" in happened and before and rank > rank_severity(before.severity)
        )
        game = self._games.get(alert.game or "")
        if (
            alert.muted
            or rank < self._least_rank
            or (game and not self._follows(game.view))
            or not (is_worse or happened & {"raised", "raised again"})
        ):
            return []
        title = "live-rate" if game is None else format_pairing(game.view)
        return [Notice(title, f"{alert.text} {alert.advice}")]


def format_pairing(view: GameView) -> str:
    """Return a pairing as text: `Adams – Berg, board 3, Open`."""
    board = "" if view.board is None else f"board {view.board}"
    white = isolate_direction(view.white.name or "?")
    black = isolate_direction(view.black.name or "?")
    return ", ".join(filter(None, (f"{white} – {black}", board, view.event)))


class Notifier:
    """Sender of notices to all addresses of one file.

    :meth:`run` must be running, and :meth:`publish` must be called with every change
    that the receivers are allowed to know.
    """

    def __init__(
        self,
        rules: NoticeRules,
        setting: str,
        path: str,
        *,
        part: FeedName = NOTIFICATIONS,
        report: HealthReport,
    ) -> None:
        """Read the file of addresses at ``path``.

        ``setting`` is the setting with this path, for errors. ``part`` is the name of
        the notifier in health reports.

        Raises:
            ConfigError: the file cannot be read or contains no usable address, or
                apprise is not installed.
        """
        self._rules = rules
        self._part = part
        self._report = report
        self._waiting: asyncio.Queue[Notice] = asyncio.Queue(MAX_WAITING)
        self._people = open_people(setting, path)

    def publish(self, changes: Iterable[Change]) -> None:
        """Queue the notices for changes that the receivers are allowed to know.

        This method does not block.
        """
        for notice in self._rules.collect_notices(changes, time.monotonic()):
            try:
                self._waiting.put_nowait(notice)
            except asyncio.QueueFull:
                log.warning("a notice was dropped: %d are already waiting", MAX_WAITING)

    async def run(self) -> None:
        """Send queued notices until cancelled."""
        limit = self._rules.limit
        while True:
            notice = await self._waiting.get()
            await self.send_notice(notice)
            if limit.left_out:
                log.warning(
                    "%d notices dropped: at most %d are sent per hour",
                    limit.left_out,
                    PER_HOUR,
                )
                limit.left_out = 0

    async def send_notice(self, notice: Notice) -> bool:
        """Send one notice to all addresses; return whether all were reached."""
        sent = await notify_people(self._people, notice)
        health = part_health(self._part, "live")
        if not sent:
            # Addresses contain secrets, so they are not logged here; apprise logs which
            # of them failed.
            log.warning("a notice could not be delivered to everybody")
            reason = "not everybody could be notified; the log says more"
            health = part_health(self._part, "retrying", reason)
        self._report(health)
        return sent


async def notify_people(people: Any, notice: Notice) -> bool:
    """Send one notice to the addresses of :func:`open_people`; return whether it
    reached all of them.
    """
    sent = await people.async_notify(
        title=notice.title, body=notice.body, body_format="text"
    )
    return bool(sent)


def open_people(setting: str, path: str) -> Any:
    """Return an apprise object for the addresses in a file, one per line.

    ``setting`` is the name of the setting with the path, for error messages.

    Raises:
        ConfigError: the file cannot be read, contains an invalid address or no address,
            or apprise is not installed.
    """
    subject = f"{setting} {path}"
    people = import_library("apprise", subject).Apprise()
    lines = map(str.strip, read_file_of_setting(setting, path).splitlines())
    for number, line in enumerate(lines, 1):
        if line and not line.startswith("#") and not people.add(line):
            raise ConfigError(
                f"{subject}, line {number}",
                "is not an address that apprise knows",
                "See github.com/caronc/apprise for their format",
            )
    if not len(people):
        raise ConfigError(
            subject, "contains no address", "Write one apprise address per line"
        )
    return people
