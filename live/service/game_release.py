"""Lets old games go, so that memory stays bounded over weeks. Part of the composition root.

What is let go leaves the service's memory, and with it what is pooled of its players; the journal
keeps it, and reports made from the journal hold it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

import msgspec

from live.config import MemoryConfig
from live.events import FeedReport
from live.games.game import GameConfirmed, NewGame, Step
from live.games.game_index import GameRetention
from live.ledger.event_state import EventState

log = logging.getLogger(__name__)


class GameRelease:
    """Watches every step, and lets go what is old; see :mod:`live.games.game_index`."""

    def __init__(
        self,
        state: EventState,
        config: MemoryConfig,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._state = state
        self._clock = clock
        self._retiring = GameRetention(config.finished_after_h * 3600, config.games)
        for game in state.held():
            over = game.result != "*"
            self._retiring.changed(game.id, game.feed, over=over, now_s=clock())

    def news(self, report: FeedReport) -> FeedReport:
        """The report without those games that were released and are reported again unchanged."""
        known = [self._retiring.knows(report.feed, game) for game in report.games]
        if not any(known):
            return report
        games = tuple(game for game, old in zip(report.games, known, strict=True) if not old)
        return msgspec.structs.replace(report, games=games)

    def applied(self, step: Step) -> None:
        """A step has been carried out."""
        if isinstance(step, GameConfirmed):
            return
        id = step.game.id if isinstance(step, NewGame) else step.id
        game = self._state.holding(id)
        if game is None:
            self._retiring.gone(id)
        else:
            over = game.result != "*"
            self._retiring.changed(id, game.feed, over=over, now_s=self._clock())

    def look(self) -> None:
        """Let go what is old by now; to be called about once a second."""
        for id in self._retiring.due(self._clock()):
            for game in self._state.retire(id):
                self._retiring.forget(game)
                log.info("game %s is over for long, and is let go", game.id)
            self._retiring.gone(id)
