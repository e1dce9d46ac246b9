"""Which games are old enough to be forgotten, so that a service can run for weeks.
Pure.

A game is old when it is over, nothing of it has changed for long, and its source has
reported another game since. If more finished games are held than allowed, those that
changed longest ago are old, too. A forgotten game is remembered by its key; otherwise a
source that lists old rounds for ever would bring it back with every report.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from live.games.game import Game, GameConfirmed, Step
from live.games.game_index import GameKey, source_key
from live.messages.from_sources import FeedReport, GameReport
from live.messages.values import FeedName, GameId

#: Forgotten games that are remembered. One more may come back, and is forgotten again.
MAX_FORGOTTEN = 100_000
#: Finished games held at most.
MOST_GAMES = 5_000
#: Nothing is forgotten sooner, however many games there are: results are corrected.
LEAST_S = 300.0


def state_key(feed: FeedName, game: Game | GameReport) -> GameKey:
    """Return a key of the game in its present state; a correction changes it."""
    last = game.moves[-1].uci if game.moves else ""
    return (*source_key(feed, game), game.result, len(game.moves), last)


class GameRetention:
    """Finds the games to be forgotten, by their last change.

    Args:
        after_s: seconds without a change after which a finished game is old; 0: never.
        most: finished games held at once; beyond, the ones that changed longest ago go.
    """

    def __init__(self, after_s: float, most: int = MOST_GAMES) -> None:
        self._after_s = after_s
        self._most = most
        # When each game changed last, the one that changed longest ago first.
        self._changed: OrderedDict[GameId, tuple[float, FeedName, bool]] = OrderedDict()
        self._newest_s: dict[FeedName, float] = {}
        self._finished = 0
        # Hashes of keys: a key holds names and rounds, half a kilobyte.
        self._forgotten: OrderedDict[int, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._changed)

    def record_change(
        self, id: GameId, feed: FeedName, *, over: bool, now_s: float
    ) -> None:
        """Record that the game has changed."""
        self.remove_game(id)
        self._changed[id] = (now_s, feed, over)
        self._finished += over
        self._newest_s[feed] = now_s

    def record_step(self, step: Step, game: Game | None, now_s: float) -> None:
        """Record a step that was applied; ``game`` is what is held after it."""
        if game is None:
            self.remove_game(step.id)
        elif not isinstance(step, GameConfirmed):
            self.record_change(game.id, game.feed, over=game.result != "*", now_s=now_s)

    def remove_game(self, id: GameId) -> None:
        """Remove a game that is no longer held."""
        before = self._changed.pop(id, None)
        if before is not None:
            self._finished -= before[2]

    def find_old_games(self, now_s: float) -> list[GameId]:
        """Return the games to be forgotten now, the oldest first."""
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

    def forget_old_games(
        self, retire: Callable[[GameId], Iterable[Game]], now_s: float
    ) -> Iterator[Game]:
        """Forget the old games and yield them.

        ``retire`` stops showing a game and returns the games that it was made of.
        """
        for id in self.find_old_games(now_s):
            for game in retire(id):
                self.forget_game(game)
                yield game
            self.remove_game(id)

    def forget_game(self, game: Game) -> None:
        """Remember that the game was forgotten in this state."""
        self.remove_game(game.id)
        self._forgotten[hash(state_key(game.feed, game))] = None
        while len(self._forgotten) > MAX_FORGOTTEN:
            self._forgotten.popitem(last=False)

    def drop_forgotten(self, report: FeedReport) -> FeedReport:
        """Return the report without forgotten games that have not changed since."""
        if not self._forgotten:
            return report
        games = tuple(
            game
            for game in report.games
            if hash(state_key(report.feed, game)) not in self._forgotten
        )
        return replace(report, games=games)
