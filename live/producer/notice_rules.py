"""What people are notified of: changes in, notices out. Pure: the time comes in.

:class:`NoticeRules` is given what the public may know. :class:`ArbiterRules` is given what arbiters
see, for addresses of their own. Against floods there is a limit an hour for each: the last notice
within it says so, and how many were left out is logged. What was so when the service began is no
news.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final, NamedTuple, get_args

from live.alerts.incident_log import news
from live.config import NotifyConfig
from live.events import (
    Alert,
    AlertMessage,
    Change,
    GameId,
    GameMessage,
    GameView,
    GoneMessage,
    Moment,
    MomentMessage,
    Severity,
)
from live.games.player_identity import isolated
from live.story.story_desk import PAST_MOVES

HOUR_S: Final = 3600.0
#: Silence after this is no sign that nothing happens.
_PAUSE: Final = " (As many notices as notify.per_hour are sent; no more for a while.)"


class Notice(NamedTuple):
    """What somebody is sent, as plain text."""

    title: str
    body: str


def folded(name: str) -> str:
    """A name as it is compared: whatever the case, single spaces."""
    return " ".join(name.casefold().split())


class NoticeLimit:
    """At most so many notices an hour."""

    def __init__(self, per_hour: int) -> None:
        self._per_hour = per_hour
        self._sent_s: deque[float] = deque()
        self._left_out = 0
        self._said_s = float("-inf")

    def within(self, notices: Iterable[Notice], now_s: float) -> list[Notice]:
        """Those that there is room for; the others are counted. The last says so, once an hour."""
        kept = []
        for notice in notices:
            if self._room(now_s):
                full = len(self._sent_s) == self._per_hour and now_s - self._said_s >= HOUR_S
                if full:
                    self._said_s = now_s
                kept.append(notice._replace(body=f"{notice.body}{_PAUSE}") if full else notice)
        return kept

    def _room(self, now_s: float) -> bool:
        while self._sent_s and now_s - self._sent_s[0] >= HOUR_S:
            self._sent_s.popleft()
        if len(self._sent_s) >= self._per_hour:
            self._left_out += 1
            return False
        self._sent_s.append(now_s)
        return True

    def left_out(self) -> int:
        """How many were left out since this was asked last."""
        count, self._left_out = self._left_out, 0
        return count


class _KnownGame:
    """A game, and what people have heard of it: a source may say anything twice."""

    def __init__(self, view: GameView) -> None:
        self.view = view
        self.begun = view.plies_played > 0
        self.result = view.result
        """The last one that was not ``*``, if there was one."""
        self.moments: set[str] = set()


class NoticeRules:
    """One writer calls; nothing waits."""

    def __init__(self, config: NotifyConfig) -> None:
        self._config = config
        self._players = frozenset(map(folded, config.players))
        self._games: dict[GameId, _KnownGame] = {}
        self.limit = NoticeLimit(config.per_hour)

    def begin(self, games: Iterable[GameView], moments: Iterable[Moment] = ()) -> None:
        """These games are known already, and these moments of them."""
        self._games = {view.id: _KnownGame(view) for view in games}
        for moment in moments:
            if moment.game in self._games:
                self._games[moment.game].moments.add(moment.id)

    def heard(self, changes: Iterable[Change], now_s: float) -> list[Notice]:
        """The notices that follow from changes which the public may know."""
        found: list[Notice] = []
        for change in changes:
            if isinstance(change, GameMessage):
                found += self._game(change.game)
            elif isinstance(change, GoneMessage):
                self._games.pop(change.game, None)
            elif isinstance(change, MomentMessage):
                found += self._moment(change)
        return self.limit.within(found, now_s)

    def _game(self, view: GameView) -> list[Notice]:
        known = self._games.get(view.id)
        if known is None:
            self._games[view.id] = _KnownGame(view)
            return []
        known.view = view
        found = []
        if not known.begun and view.plies_played:
            known.begun = True
            # A game that is taken up in its middle is first shown without any ply, too.
            news = view.plies_played <= PAST_MOVES and view.result == "*"
            if news and "begins" in self._config.what:
                found.append("The game has begun.")
        if view.result not in ("*", known.result):
            what = "game is over" if known.result == "*" else "result is corrected"
            known.result = view.result
            if "ends" in self._config.what:
                found.append(f"The {what}: {view.result}.")
        follows_it = follows(self._players, view)
        return [Notice(pairing(view), each) for each in found if follows_it]

    def _moment(self, change: MomentMessage) -> list[Notice]:
        known, moment = self._games.get(change.game), change.moment
        wanted = change.holds and moment.at_s is not None and "moments" in self._config.what
        if known is None or not wanted or moment.id in known.moments:
            return []
        if moment.weight < self._config.least_weight or not follows(self._players, known.view):
            return []
        known.moments.add(moment.id)
        return [Notice(pairing(known.view), getattr(moment.text, self._config.lang))]


class ArbiterRules:
    """What needs the arbiter. One writer calls; nothing waits."""

    def __init__(self, config: NotifyConfig) -> None:
        self._players = frozenset(map(folded, config.players))
        self._least = _SEVERITIES.index(config.arbiters_from)
        self._games: dict[GameId, GameView] = {}
        self._known: dict[str, Alert] = {}
        self.limit = NoticeLimit(config.per_hour)

    def begin(self, games: Iterable[GameView], alerts: Iterable[Alert]) -> None:
        """These are known already."""
        self._games = {view.id: view for view in games}
        self._known = {alert.id: alert for alert in alerts}

    def heard(self, changes: Iterable[Change], now_s: float) -> list[Notice]:
        """The notices that follow from changes which arbiters see."""
        found: list[Notice] = []
        for change in changes:
            if isinstance(change, GameMessage):
                self._games[change.game.id] = change.game
            elif isinstance(change, GoneMessage):
                self._games.pop(change.game, None)
            elif isinstance(change, AlertMessage):
                found += self._alert(change.alert)
        return self.limit.within(found, now_s)

    def _alert(self, alert: Alert) -> list[Notice]:
        before = self._known.pop(alert.id, None)
        if alert.cleared_s is None:
            self._known[alert.id] = alert
        worth = _SEVERITIES.index(alert.severity)
        happened = {what for what, _ in news(before, alert)}
        worse = "changed" in happened and before and worth > _SEVERITIES.index(before.severity)
        if not (worse or happened & {"raised", "raised again"}) or worth < self._least:
            return []
        view = self._games.get(alert.game) if alert.game is not None else None
        if alert.muted or alert.cleared_s is not None:
            return []
        if view is not None and not follows(self._players, view):
            return []
        title = "live-rate" if view is None else pairing(view)
        return [Notice(title, f"{alert.text} {alert.advice}")]


def follows(players: frozenset[str], view: GameView) -> bool:
    """Whether one of these plays in it, by folded full name or FIDE id; of nobody: yes."""
    if not players:
        return True
    ids = {str(side.fide_id) for side in (view.white, view.black) if side.fide_id}
    names = {folded(side.name) for side in (view.white, view.black)}
    return not players.isdisjoint(ids | names)


#: From the least to the most urgent.
_SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)


def pairing(view: GameView) -> str:
    """`Adams – Berg, board 3, Open`."""
    board = "" if view.board is None else f"board {view.board}"
    names = f"{isolated(view.white.name or '?')} – {isolated(view.black.name or '?')}"
    return ", ".join(filter(None, (names, board, view.event)))
