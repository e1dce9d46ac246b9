"""Moments of a running service: their clock, and their way to subscribers and into the
journal. Part of the composition root.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from live.events import (
    Alert,
    AlertKind,
    Change,
    GameDetail,
    GameId,
    GameView,
    Moment,
    MoveMessage,
    ScoreMessage,
)
from live.service.alert_service import memory_of, read_memories
from live.service.supervision import FaultLog
from live.store.journal import Journal
from live.store.journal_reader import Memory
from live.story.story_desk import GameStory, StoryDesk

#: What is remembered of a game.
STORY = "story"
#: Games looked at for moments in one go.
LOOKS = 12
#: Alerts that doubt the result of their game.
_DOUBTS: frozenset[AlertKind] = frozenset({"result", "sources-differ"})


class StoryService:
    """Looks for moments once a second. A fault in here costs moments, nothing else: what is said of
    games rests on whatever feeds say of them, and must not cost anybody a move.
    """

    def __init__(
        self,
        publish: Callable[[Sequence[Change]], None],
        detail_of: Callable[[GameId], GameDetail | None],
        clock: Callable[[], float] = time.time,
        alerts: Callable[[], Iterable[Alert]] = tuple,
        journal: Journal | None = None,
    ) -> None:
        """``alerts``: those that stand."""
        self._desk = StoryDesk(
            lambda game: any(each.game == game and each.kind in _DOUBTS for each in alerts())
        )
        self._publish = publish
        self._detail_of = detail_of
        self._clock = clock
        self._journal = journal or Journal()
        self.restoring = False
        """Games of before come back."""
        # Those that came back move by move: what is told of them may be out of date.
        self._made_anew: set[GameId] = set()
        self._faults = FaultLog("moments are missed")

    def published(self, changes: Iterable[Change]) -> None:
        """To be called with every change, before subscribers are sent it."""
        if self.restoring:
            news = (each for each in changes if isinstance(each, MoveMessage | ScoreMessage))
            self._made_anew.update(each.game for each in news)
            return
        with self._faults.guarded():
            self._desk.follow(changes, self._clock())

    def tick(self) -> None:
        """To be called about once a second: look at what has changed."""
        for _ in range(LOOKS):
            if not self._desk.waiting:
                break
            with self._faults.guarded():
                if messages := self._desk.look(self._detail_of):
                    self._publish(messages)
        self._desk.remember_waiting()
        self._journal.remember(self.memories)

    def memories(self) -> list[Memory]:
        """What there is to remember since the last call."""
        stories = self._desk.unremembered()
        return [memory_of(STORY, game, story) for game, story in stories.items()]

    def resume(self, games: Iterable[GameView]) -> None:
        """Moments of what a run before this one saw stand again, with their times, without a word:
        who was sent them then is not sent them as news.
        """
        with self._faults.guarded():
            stories = read_memories(self._journal, STORY, GameStory)
            self._desk.restore(games, stories, self._made_anew)
        self._made_anew.clear()

    def moments(self) -> Sequence[Moment]:
        """Those that stand."""
        return self._desk.moments()
