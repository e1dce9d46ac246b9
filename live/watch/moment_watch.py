"""Moments of a running service: the times of their examination, and their storage."""

from collections.abc import Callable, Iterable, Sequence

from live.event.game_change import EventChange, select_messages
from live.messages.alerts import Alert
from live.messages.figures import GameDetail, GameView
from live.messages.moments import Moment
from live.messages.to_clients import Change, MoveMessage, ScoreMessage
from live.messages.values import GameId
from live.process.clock import ReadClock
from live.process.supervision import FaultLog
from live.watch.alert_kinds import CONTRADICTIONS, find_doubted_games
from live.watch.arbiter_notes import WatchMemory, WatchStore
from live.watch.story_desk import GameStory, StoryDesk

#: Kind of the values in the journal about moments of a game.
STORY = "story"
#: Maximum number of games examined in one tick.
GAMES_A_TICK = 12


class MomentWatch:
    """Finds and publishes moments, about once a second.

    Moments depend on all data that sources send, so an error here is caught and can
    only cause missed moments.
    """

    def __init__(
        self,
        publish: Callable[[Sequence[Change]], None],
        store: WatchStore,
        clock: ReadClock,
        detail_of: Callable[[GameId], GameDetail | None],
        alerts: Callable[[], Iterable[Alert]] = tuple,
    ) -> None:
        """``clock`` returns seconds since 1970 UTC; ``alerts`` returns the open
        alerts.
        """

        def is_doubted(game: GameId) -> bool:
            return game in find_doubted_games(alerts(), CONTRADICTIONS)

        self._desk = StoryDesk(is_doubted)
        self._publish = publish
        self._detail_of = detail_of
        self._clock = clock
        self._store = store
        self.restoring = False
        """Whether games of an earlier run are being restored. Meanwhile no moments are
        found.
        """
        # Games that received moves or scores during the restart; their moments might be
        # outdated.
        self._replayed: set[GameId] = set()
        self._faults = FaultLog("moments are missed")

    def follow(self, changes: Iterable[EventChange]) -> None:
        """Process changes of the event; subscribers get them elsewhere."""
        if self.restoring:
            for change in changes:
                if isinstance(change, MoveMessage | ScoreMessage):
                    self._replayed.add(change.game)
            return
        with self._faults.guarded():
            self._desk.follow(select_messages(changes), self._clock())

    def tick(self) -> None:
        """Examine the games that have changed. Call this about once a second."""
        for _ in range(GAMES_A_TICK):
            if not self._desk.has_work:
                break
            with self._faults.guarded():
                messages = self._desk.examine_next(self._detail_of)
                if messages:
                    self._publish(messages)
        self._desk.remember_waiting()
        self._store.keep_memories(self.memories())

    def memories(self) -> list[WatchMemory]:
        """Return the values to store that have changed since the last call."""
        stories = self._desk.unremembered().items()
        return [WatchMemory(STORY, game, story) for game, story in stories]

    def resume(self, games: Iterable[GameView]) -> None:
        """Restore the moments of an earlier run with their times, without publishing
        them.
        """
        with self._faults.guarded():
            stories = self._store.read_memories(STORY, GameStory)
            self._desk.restore(games, stories, self._replayed)
        self._replayed.clear()

    def moments(self) -> Sequence[Moment]:
        """Return the present moments."""
        return self._desk.moments()
