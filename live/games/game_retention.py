"""Selection of old games to forget, so that a service can run for weeks. No I/O.

A game is old when it has ended, has not changed for long, and its source has reported
another game since. If there are more finished games than allowed, those that changed
longest ago count as old, too.
"""

from collections import OrderedDict

from live.games.game import Game, GameConfirmed, Step
from live.messages.values import FeedName, GameId

#: Maximum number of finished games kept.
MOST_GAMES = 5_000
#: Least time without a change before a game is forgotten, seconds, even if there are
#: too many games, because results are often corrected at first.
LEAST_S = 300.0


class GameRetention:
    """Finder of games to forget, by their last change.

    Args:
        after_s: seconds without a change after which a finished game is old; 0 means
            never.
        max_games: maximum number of finished games kept; if there are more, those that
            changed longest ago are forgotten.
    """

    def __init__(self, after_s: float, max_games: int = MOST_GAMES) -> None:
        self._after_s = after_s
        self._max_games = max_games
        # Time of the last change, feed, and whether the game has ended, for each game.
        # The game unchanged for longest is first.
        self._changed: OrderedDict[GameId, tuple[float, FeedName, bool]] = OrderedDict()
        self._newest_s: dict[FeedName, float] = {}
        self._finished = 0

    def __len__(self) -> int:
        return len(self._changed)

    def record_change(
        self, id: GameId, feed: FeedName, *, over: bool, now_s: float
    ) -> None:
        """Record that the game has changed at ``now_s``."""
        self.remove_game(id)
        self._changed[id] = (now_s, feed, over)
        self._finished += over
        self._newest_s[feed] = now_s

    def record_step(self, step: Step, game: Game | None, now_s: float) -> None:
        """Record a step that was applied; ``game`` is the game after it, None if
        deleted.
        """
        if game is None:
            self.remove_game(step.id)
        elif not isinstance(step, GameConfirmed):
            self.record_change(game.id, game.feed, over=game.result != "*", now_s=now_s)

    def remove_game(self, id: GameId) -> None:
        """Remove a game that is no longer known."""
        before = self._changed.pop(id, None)
        if before is not None:
            self._finished -= before[2]

    def find_old_games(self, now_s: float) -> list[GameId]:
        """Return the games to forget now, the longest unchanged first."""
        old_games: list[GameId] = []
        too_many = self._finished - self._max_games
        for id, (at_s, feed, over) in self._changed.items():
            still_s = now_s - at_s
            if still_s < LEAST_S:
                break
            if not over:
                continue
            old = 0 < self._after_s <= still_s and self._newest_s[feed] > at_s
            if not old and len(old_games) >= too_many:
                if self._after_s and still_s < self._after_s:
                    break
                continue
            old_games.append(id)
        return old_games
