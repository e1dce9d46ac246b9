"""Which games are old enough to be forgotten, so that a service can run for weeks. Pure.

A game is old when it is over, nothing of it has changed for long, and its source has moved on: it
has reported another game since. And of more finished games than are to be held at once,
those are old that changed longest ago. What was forgotten is remembered by a mark, or a source that
lists old rounds for ever would bring it back with every report.
"""

from __future__ import annotations

from collections import OrderedDict

from live.events import FeedName, GameId, GameReport
from live.games.game import Game
from live.games.game_index import Mark, key_mark, names_mark

#: Forgotten games whose marks are remembered; beyond, one may come back, and is forgotten again.
MARKS = 100_000
#: Nothing is forgotten sooner, however many there are: results are often mended.
LEAST_S = 600.0


def mark_of(feed: FeedName, game: Game | GameReport) -> Mark:
    """Tells a game in the state it is in: a correction makes it another one. One source may never
    have finished it, where another did.
    """
    named = key_mark(feed, game.key) if game.key else names_mark(feed, game.headers)
    last = game.moves[-1].uci if game.moves else ""
    return (*named, game.result, len(game.moves), last)


class GameRetention:
    """Games by their last change.

    Args:
        after_s: seconds without a change after which a finished game is old; 0: never.
        most: finished games held at once.
    """

    def __init__(self, after_s: float, most: int) -> None:
        self._after_s = after_s
        self._most = most
        # When each game changed last, the one that changed longest ago first.
        self._changed: OrderedDict[GameId, tuple[float, FeedName, bool]] = OrderedDict()
        self._newest_s: dict[FeedName, float] = {}
        self._finished = 0
        self._marks: OrderedDict[Mark, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._changed)

    def changed(self, id: GameId, feed: FeedName, *, over: bool, now_s: float) -> None:
        """Something of the game is news."""
        self.gone(id)
        self._changed[id] = (now_s, feed, over)
        self._finished += over
        self._newest_s[feed] = now_s

    def gone(self, id: GameId) -> None:
        """The game is held no more."""
        if (known := self._changed.pop(id, None)) is not None:
            self._finished -= known[2]

    def due(self, now_s: float) -> list[GameId]:
        """Games to be forgotten now, the oldest first."""
        found: list[GameId] = []
        too_many = self._finished - self._most
        for id, (at_s, feed, over) in self._changed.items():
            still_s = now_s - at_s
            if still_s < LEAST_S:
                break
            if not over:
                continue
            old = 0 < self._after_s <= still_s and self._newest_s[feed] > at_s
            if not old and len(found) >= too_many:
                if self._after_s and still_s < self._after_s:
                    break
                continue
            found.append(id)
        return found

    def forget(self, game: Game) -> None:
        """The game was forgotten in this state."""
        self.gone(game.id)
        self._marks[mark_of(game.feed, game)] = None
        while len(self._marks) > MARKS:
            self._marks.popitem(last=False)

    def knows(self, feed: FeedName, report: GameReport) -> bool:
        """Whether this is a forgotten game, reported again as it was."""
        return bool(self._marks) and mark_of(feed, report) in self._marks
