"""The public's view of the event: delayed, and without withheld data. Pure.

There are two audiences. Arbiters (in the service's own terminal, and clients with an
arbiter's token) read the live state. Everyone else reads this view: pages, programs,
broker, standard output and files.

Changes of the live state come in, wait for the delay
(:mod:`live.server.delay_line`), are stripped of withheld data and are passed on. While
anything is withheld, all requests of the public are answered from a copy of the state
that contains only what has been passed on. So no waiting data leaks: no figure, and no
empty message that would reveal that an engine has answered.

The copy contains the real ids of games and the real names of sources. All answers and
changes for the public contain public names instead (:mod:`live.server.public_names`).
"""

import logging
import secrets
import time
from collections.abc import Callable, Iterable
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from live.messages.alerts import Alert
from live.messages.figures import (
    EngineInfo,
    GainKind,
    GameDetail,
    GameView,
    PlayerView,
    view_of,
)
from live.messages.health import FeedHealth, PublicDelay
from live.messages.moments import Moment
from live.messages.to_clients import (
    AlertMessage,
    Change,
    EngineMessage,
    GameMessage,
    GoneMessage,
    HealthMessage,
    ScoreMessage,
)
from live.messages.values import GameId
from live.process.clock import ReadClock
from live.server.delay_line import DelayLine
from live.server.event_reader import EventReader
from live.server.filtered_reader import FilteredReader, snapshot
from live.server.pseudonyms import SECRET_BYTES, Pseudonyms
from live.server.public_names import PublicNames
from live.server.reference_client import OutOfStep, ReferenceClient
from live.server.stream_filter import ALL, StreamFilter
from live.server.visibility import Visibility, redact
from live.server.withheld_games import Unshown, list_withholding_changes

log = logging.getLogger(__name__)
Listener = Callable[[list[Change]], None]
_VENUE = StreamFilter(visibility=Visibility.VENUE, gains=True)


class _Subscription(NamedTuple):
    """A listener for changes, with the arguments of :meth:`PublicView.listen`."""

    listener: Listener
    reset: Callable[[], None]
    knows_sources: bool


class PublicView(FilteredReader):
    """The part of the live state that the public is allowed to know.

    ``clock`` returns a monotonic time, seconds.
    """

    def __init__(
        self,
        live: EventReader,
        *,
        delay_s: float = 0.0,
        hide_scores: bool = False,
        unshown: Unshown = MappingProxyType({}),
        stored_engine: EngineInfo | None = None,
        pseudonyms: Pseudonyms | None = None,
        clock: ReadClock = time.monotonic,
    ) -> None:
        """Create the public's view.

        Args:
            live: the live state.
            delay_s: the delay, seconds.
            hide_scores: whether everything from engines is hidden from the public.
            unshown: games from before a restart that changed within the delay.
            stored_engine: the engine with a rating that does not depend on any game. It
                is shown until all games in ``unshown`` have been shown.
            pseudonyms: names for the public; by default new ones, for this run only.
            clock: returns a monotonic time, seconds.
        """
        super().__init__(live, ALL)
        self._live = live
        # A copy of the state with everything that the public knows; None if the public
        # knows the whole live state.
        self._delayed_copy: ReferenceClient | None = None
        self._waiting = DelayLine(clock)
        self._listeners: list[_Subscription] = []
        self.names = PublicNames(
            pseudonyms or Pseudonyms(secrets.token_bytes(SECRET_BYTES))
        )
        self.set_delay(delay_s)
        if self._delayed_copy is not None:
            self._waiting.add_earlier(
                list_withholding_changes(
                    self._delayed_copy.snapshot(),
                    unshown,
                    stored_engine,
                    delay_s=delay_s,
                    now_s=clock(),
                )
            )
            self.release_due()
        self.hide_scores(hide_scores)

    # --- the state that the public can read -------------------------------------------

    def games(self) -> Iterable[GameView]:
        return [self.names.rename(view) for view in super().games()]

    def game(self, game: GameId) -> GameDetail | None:
        detail = super().game(self.names.real_id(game))
        return None if detail is None else self.names.rename(detail)

    def players(self) -> Iterable[PlayerView]:
        return [self.names.rename(view) for view in super().players()]

    def player_ids(self, game: GameId) -> Iterable[str]:
        return super().player_ids(self.names.real_id(game))

    def feeds(self) -> tuple[FeedHealth, ...]:
        return tuple(self.names.rename(health) for health in super().feeds())

    def moments(self) -> Iterable[Moment]:
        return [self.names.rename(moment) for moment in super().moments()]

    def gain(self) -> GainKind:
        """Return the kind of gain, a setting that never changes and needs no delay."""
        return self._live.gain()

    def alerts(self) -> Iterable[Alert]:
        """Return no alerts: they are only for arbiters, who read the live state."""
        return ()

    def listen(
        self,
        listener: Listener,
        reset: Callable[[], None] = lambda: None,
        *,
        knows_sources: bool = False,
    ) -> None:
        """Call a listener with every change that the public can see, in order.

        Args:
            listener: called with changes from now on; it must not block.
            reset: called if games get other ids. Then earlier changes are invalid and
                the state must be read again.
            knows_sources: whether the listener writes for the people who run the
                service. Then sources keep their real names, unless there is a delay.
        """
        self._listeners.append(_Subscription(listener, reset, knows_sources))

    # --- delay and hidden scores ------------------------------------------------------

    @property
    def delay_s(self) -> float:
        """The delay of the public's view, seconds."""
        return self._waiting.delay_s

    def set_delay(self, delay_s: float) -> None:
        """Set the delay, seconds; it applies to changes that already wait, too.

        Data that the public has already seen is not withdrawn.
        """
        self._waiting.delay_s = delay_s
        self._update_copy()
        self.release_due()
        is_late = delay_s > 0
        if is_late == self.names.has_other_ids:
            return
        if is_late:
            self.names.use_pseudonymous_ids(view.id for view in self._live.games())
        else:
            self.names.use_real_ids()
        for subscription in self._listeners:
            subscription.reset()

    def hide_scores(self, is_hidden: bool) -> None:
        """Hide everything that comes from engines from the public, or show it again."""
        self._selected = _VENUE if is_hidden else ALL
        self._update_copy()

    @property
    def is_hiding_scores(self) -> bool:
        """True if everything that comes from engines is hidden from the public."""
        return self._selected is _VENUE

    def _update_copy(self) -> None:
        """Create a copy of the state if the public must know less than the live state.

        Drop the copy as soon as it is no longer needed.
        """
        if not self.delay_s and self._waiting.is_empty and self._selected is ALL:
            self._delayed_copy = None
        elif self._delayed_copy is None:
            self._delayed_copy = ReferenceClient()
            self._delayed_copy.apply(replace(snapshot(self._live, ALL), alerts=()))
        self._state = self._delayed_copy or self._live

    def describe_delay(
        self, visibility: Visibility = Visibility.ARBITER
    ) -> PublicDelay:
        """Return the delay and the number of waiting moves, for this visibility."""
        return redact(self._waiting.describe(), visibility)

    @property
    def next_s(self) -> float | None:
        """Seconds until the next waiting change is due; None if nothing waits."""
        return self._waiting.next_s

    @property
    def is_withholding(self) -> bool:
        """True if the public sees less than the arbiters, or sees it later."""
        return self._delayed_copy is not None

    # --- changes ----------------------------------------------------------------------

    def publish(self, changes: Iterable[Change]) -> None:
        """Add changes that the live state already contains; pass on all due changes."""
        if not self.delay_s and self._waiting.is_empty:
            self._release(changes)
        else:
            self._waiting.add(filter(_is_needed_after_delay, changes))
            self.release_due()

    def release_due(self) -> None:
        """Pass on all changes that are due by now."""
        if self._delayed_copy is None:
            return
        self._release(self._waiting.take_due())
        self._update_copy()

    def _release(self, changes: Iterable[Change]) -> None:
        """Apply changes to the copy, and pass them on to the listeners."""
        due: list[Change] = []
        for change in changes:
            self.names.update(change)
            news = self._select_news(change)
            try:
                if self._delayed_copy is not None:
                    self._delayed_copy.apply(change)
            except OutOfStep as error:
                # This is a bug in the service; the public misses only this change.
                log.error("the public misses a change: %s", error)
            else:
                due += news
        if due:
            renamed = [self.names.rename(change) for change in due]
            for subscription in self._listeners:
                keeps_names = (
                    subscription.knows_sources and not self.names.has_other_ids
                )
                subscription.listener(due if keeps_names else renamed)

    def _select_news(self, change: Change) -> tuple[Change, ...]:
        """Return the change with its public data only, if that is new to the public.

        Return nothing otherwise: a message without news would reveal that an engine has
        answered.
        """
        if self._selected is ALL:
            return (change,)
        visible = self._redact(change)
        is_news = self._should_send(type(change))
        match visible:
            case GameMessage(game=view):
                shown_game = self._state.game(view.id)
                is_news = (
                    shown_game is None or self._redact(view_of(shown_game)) != view
                )
            case GoneMessage(game=game):
                is_news = self._state.game(game) is not None
            case EngineMessage(engine=engine):
                is_news = engine != self.engine()
            case HealthMessage(feeds=feeds):
                is_news = feeds != super().feeds()
        return (visible,) if is_news else ()


def _is_needed_after_delay(change: Change) -> bool:
    """Return whether the public will need a change after the delay.

    Alerts are only for arbiters. A provisional score will be replaced by a later score.
    """
    if isinstance(change, ScoreMessage):
        return change.ply.final or change.ply.depth is None
    return not isinstance(change, AlertMessage)
