"""Removes old games from memory, so that memory use stays bounded over weeks.

The games remain in the journal, so reports made from the journal contain them.
"""

import logging
from collections.abc import Iterable

from live.event.bus import TakeChanges
from live.event.event import Event
from live.event.game_change import EventChange, ReportedStep
from live.games.game_retention import GameRetention
from live.process.clock import ReadClock
from live.process.memory import release_free_memory

log = logging.getLogger(__name__)


class OldGames:
    """Removes the old games of an event from memory.

    Args:
        event: the event.
        publish: receives the changes.
        retention: finds the old games.
        clock: returns a monotonic time, seconds.
    """

    def __init__(
        self,
        event: Event,
        publish: TakeChanges,
        retention: GameRetention,
        clock: ReadClock,
    ) -> None:
        self._event = event
        self._publish = publish
        self._retention = retention
        self._clock = clock

    def start_restored_retention(self) -> None:
        """Start the retention time of restored games now, as if they had
        just changed.
        """
        for game in self._event.list_source_games():
            is_over = game.result != "*"
            self._retention.record_change(
                game.id, game.feed, over=is_over, now_s=self._clock()
            )

    def follow(self, changes: Iterable[EventChange]) -> None:
        """Record which games change now."""
        for change in changes:
            if isinstance(change, ReportedStep):
                game = self._event.get_shown_game(change.step.id)
                self._retention.record_step(change.step, game, self._clock())

    def forget(self) -> None:
        """Remove the games that are old now."""
        old_games = self._retention.find_old_games(self._clock())
        for id in old_games:
            games, changes = self._event.forget(id)
            self._publish(changes)
            self._retention.remove_game(id)
            for game in games:
                self._retention.remove_game(game.id)
                log.info("game %s ended long ago and was removed from memory", game.id)
        if old_games:
            release_free_memory()
