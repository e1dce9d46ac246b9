"""Applies reports of sources to the event and writes them to its journal."""

import time
from collections.abc import Callable, Sequence

from live.event.bus import Follower
from live.event.event import Event
from live.games.game_retention import GameRetention
from live.games.player_lists import PlayerLists
from live.journal.event_journal import EventJournal
from live.journal.journal_reader import Memory
from live.messages.from_sources import FeedReport
from live.messages.health import HealthReport, part_health
from live.process.clock import ReadClock
from live.process.loop_slices import LoopSlices


class ReportIntake:
    """Applies reports to the event, one after the other, and writes each step to the
    journal.

    Args:
        event: the event.
        publish: receives the changes.
        journal: the journal of the event.
        lists: add missing data about the players to every report.
        retention: records which games changed.
        memories: returns the values to store with a step.
        report_health: receives doubts about the rating lists.
        clock: returns a monotonic time, seconds.
    """

    def __init__(
        self,
        event: Event,
        publish: Follower,
        journal: EventJournal,
        lists: PlayerLists,
        retention: GameRetention,
        memories: Callable[[], Sequence[Memory]],
        report_health: HealthReport,
        clock: ReadClock = time.monotonic,
    ) -> None:
        self._event = event
        self._publish = publish
        self._journal = journal
        self._lists = lists
        self._retention = retention
        self._memories = memories
        self._report_health = report_health
        self._clock = clock
        self._slices = LoopSlices()

    async def take(self, report: FeedReport) -> None:
        """Update the event with a report; let other tasks run between the steps."""
        report = self._lists.complete_report(report)
        if doubts := self._lists.doubt_text:
            detail = f"in doubt, so not used: {doubts}"
            self._report_health(part_health("rating list", "stale", detail))
        for step, changes in self._event.apply_report(report):
            # A step and its alerts are written in one transaction. If the program were
            # killed between two transactions, the alert that a step raises would be
            # raised again after the restart.
            with self._journal.journal.transaction():
                try:
                    self._publish(changes)
                finally:
                    # The event already has the step. If the journal did not have it,
                    # later steps of the game could not be replayed.
                    self._journal.add_step(step, self._memories())
            game = self._event.get_shown_game(step.id)
            self._retention.record_step(step, game, self._clock())
            await self._slices.yield_if_due()
