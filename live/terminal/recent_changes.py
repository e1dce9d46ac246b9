"""What has just happened, noted as it is sent: which boards to look at again, and what is new.

Costs a set entry a change, so that listening holds up nobody. Loss policy: what changed twice
between two frames is seen once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from live.events import (
    Change,
    ClockMessage,
    FeedHealth,
    FeedName,
    GameId,
    GameMessage,
    GoneMessage,
    MoveMessage,
    PointMessage,
    ScoreMessage,
    StandingMessage,
)

#: How long something counts as new, seconds.
NEW_S = 4.0


class RecentChange(msgspec.Struct, frozen=True):
    """The last move of a board, or the taking back of one."""

    ply: int
    at_s: float
    taken_back: bool = False


class RecentChanges:
    """``now`` gives seconds that never go back."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self.began_s = now()
        """Nothing is known of what happened before."""
        self._touched: set[GameId] = set()
        self._all = True
        self._moves: dict[GameId, RecentChange] = {}
        self._points: dict[GameId, tuple[int, float]] = {}
        self._silent: dict[FeedName, float] = {}
        """Since when a feed is not live, seconds."""
        self._asked: dict[GameId, tuple[int, float]] = {}
        """Plies of a board whose last move was not sent, and when they were first asked about."""
        self.standings = 0
        """Grows whenever a player's figures change."""

    def note(self, changes: Iterable[Change]) -> None:
        """Note ``changes``; the state already holds them."""
        for change in changes:
            match change:
                case GoneMessage(game=game):
                    for noted in (self._moves, self._points, self._asked):
                        noted.pop(game, None)
                    self._touched.discard(game)
                case GameMessage(game=view):
                    self._touched.add(view.id)
                case ScoreMessage(game=game) | ClockMessage(game=game):
                    self._touched.add(game)
                case MoveMessage(game=game, ply=ply, move=move):
                    self._touched.add(game)
                    self._moves[game] = RecentChange(ply, self.now(), move is None)
                case PointMessage(game=game, point=point):
                    self._touched.add(game)
                    self._points[game] = (point.ply, self.now())
                case StandingMessage():
                    self.standings += 1
                case _:
                    pass

    def everything(self) -> None:
        """The whole state was replaced."""
        self._all = True
        self.standings += 1

    def touched(self) -> tuple[bool, set[GameId]]:
        """Whether every board changed, and which did since this was last asked."""
        answer = self._all, self._touched
        self._all, self._touched = False, set()
        return answer

    def age_s(self, game: GameId) -> tuple[float, bool]:
        """Seconds since the last move, and whether it is exact: before the first move sent, all
        that is known is that it is longer ago than we look on.
        """
        event = self._moves.get(game)
        since = self.began_s if event is None else event.at_s
        return self.now() - since, event is not None

    def feeds(self, feeds: Iterable[FeedHealth]) -> None:
        """Note which feeds are silent: nobody knows whether clocks of their games still run."""
        now = self.now()
        self._silent = {
            each.feed: self._silent.get(each.feed, now) for each in feeds if each.state != "live"
        }

    def ran_s(self, game: GameId, feed: FeedName, plies: int) -> float:
        """Seconds that the clock of the side to move has run after so many plies, as far as is
        known: since the last of them was sent, else since this was first asked, and only until the
        feed fell silent.
        """
        event = self._moves.get(game)
        if event is not None and event.ply - event.taken_back == plies:
            since = event.at_s
        else:  # it was there before us, or came while we were cut off
            known, since = self._asked.get(game, (plies, self.now()))
            if known != plies:
                since = self.now()
            self._asked[game] = plies, since
        return max(0.0, self._silent.get(feed, self.now()) - since)

    def is_new(self, game: GameId, ply: int) -> bool:
        """Whether this move, or the rating after it, is a moment old."""
        now = self.now()
        event = self._moves.get(game)
        if event is not None and event.ply == ply and now - event.at_s < NEW_S:
            return True
        point = self._points.get(game)
        return point is not None and point[0] == ply and now - point[1] < NEW_S
