"""The story desk of a running service: its clock, its way to subscribers. Part of the composition
root.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

from live.events import Alert, AlertKind, Change, GameDetail, GameId, Moment
from live.service.supervision import FaultLog
from live.story.story_desk import StoryDesk

#: Games looked at in one go.
LOOKS = 12
#: Alerts that doubt the result of their game.
_DOUBTS: frozenset[AlertKind] = frozenset({"result", "sources-differ"})


def _time_and_game(told: tuple[float, Change]) -> tuple[float, object]:
    game = getattr(told[1], "game", None)
    return told[0], getattr(game, "id", game)


class StoryService:
    """Looks for moments once a second. A fault in here costs moments, nothing else."""

    def __init__(
        self,
        publish: Callable[[Sequence[Change]], None],
        detail_of: Callable[[GameId], GameDetail | None],
        clock: Callable[[], float] = time.time,
        alerts: Callable[[], Iterable[Alert]] = tuple,
    ) -> None:
        """``alerts``: those that stand."""
        self._desk = StoryDesk(self._doubted)
        self._alerts = alerts
        self._publish = publish
        self._detail_of = detail_of
        self._clock = clock
        self._restoring = False
        self._faults = FaultLog("moments are missed")

    def published(self, changes: Iterable[Change]) -> None:
        """To be called with every change, before subscribers are sent it."""
        with self._guarded():
            self._desk.heard(changes, None if self._restoring else self._clock())

    def _doubted(self, game: GameId) -> bool:
        return any(each.game == game and each.kind in _DOUBTS for each in self._alerts())

    def tick(self) -> None:
        """To be called about once a second: look at what has changed."""
        for _ in range(LOOKS):
            if not self._desk.waiting:
                return
            with self._guarded():
                if messages := self._desk.look(self._detail_of):
                    self._publish(messages)

    def resume(self, told: Iterable[tuple[float, Change]]) -> Generator[None, None, None]:
        """Moments of what a run before this one saw stand again, with their times, without a word:
        who was sent them then is not sent them as news. Yields wherever others may have a turn.

        ``told``: that run's changes, each with its time, seconds since 1970 UTC.
        """
        with self._guarded():
            for (at_s, _), together in itertools.groupby(told, key=_time_and_game):
                self._desk.heard([change for _, change in together], at_s)
                yield
            yield from self._desk.recall(self._detail_of)

    @property
    def missed(self) -> int:
        """How often moments were missed by a fault of ours."""
        return self._faults.count

    def moments(self) -> Sequence[Moment]:
        """Those that stand."""
        return self._desk.moments()

    @contextlib.contextmanager
    def restoring(self) -> Iterator[None]:
        """What happens meanwhile happened at a time that is not known."""
        self._restoring = True
        try:
            yield
        finally:
            self._restoring = False

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            # Broad: what is told of games rests on whatever feeds say of them, and must not cost
            # anybody a move.
            self._faults.note(error)
