"""The public's view of the event: delayed, and without withheld data. Pure.

There are two audiences. Arbiters (in the service's own terminal, and clients with an
arbiter's token) read the live state. Everyone else reads this view: pages, programs,
broker, standard output and files.

Changes of the live state come in, wait for the delay, are stripped of withheld data and
are passed on. While anything is withheld, all requests of the public are answered from
a copy of the state that contains only what has been passed on. So nothing that waits is
visible: no figure, and no empty message that would reveal that an engine has answered.
Loss policy: lossless; the number of waiting changes is limited by what happens during
the delay.

The copy contains the real ids of games and the real names of sources. In all answers
and changes for the public they are replaced (:mod:`live.server.pseudonyms`).
"""

import logging
import secrets
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import asdict, replace

from live.event.ply import show_unscored
from live.event.rate_game import count_common
from live.games.game import Game
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
from live.messages.moments import ROUND_MOMENTS, Moment
from live.messages.to_clients import (
    AlertMessage,
    Change,
    ClockMessage,
    EngineMessage,
    GainsMessage,
    GameMessage,
    GoneMessage,
    HealthMessage,
    MomentMessage,
    MoveMessage,
    ScoreMessage,
    StandingMessage,
)
from live.messages.values import GameId
from live.process.clock import ReadClock
from live.server.event_reader import EventReader, replay_game
from live.server.filtered_reader import FilteredReader, snapshot
from live.server.pseudonyms import SECRET_BYTES, Pseudonyms, Told
from live.server.reference_client import OutOfStep, ReferenceClient
from live.server.stream_filter import ALL, StreamFilter
from live.server.visibility import Visibility, redact

log = logging.getLogger(__name__)
Listener = Callable[[list[Change]], None]
Stage = tuple[float, Game | None]
"""A stage of a game: how many seconds ago it changed, and the game after the change.
None instead of a game means the present game.
"""


Unshown = Mapping[GameId, Sequence[Stage]]
"""For each game that the public has not completely seen, by its id: its stages, the
oldest first, the present one last.
"""


_VENUE = StreamFilter(visibility=Visibility.VENUE, gains=True)


class _Subscription(NamedTuple):
    """A listener for changes, with the arguments of :meth:`PublicAudience.listen`."""

    listener: Listener
    reset: Callable[[], None]
    knows_sources: bool


class PublicAudience(FilteredReader):
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
            unshown: games from before a restart that changed within the delay. Their
                moves, clocks, headers and results are shown when they are due, as if
                there had been no restart; their figures are shown with the last change.
                A game without known stages is withheld completely.
            stored_engine: the engine with a rating that does not depend on any game. It
                is shown until all games in ``unshown`` have been shown.
            pseudonyms: names for the public; without them, this run has new ones.
            clock: returns a monotonic time, seconds.
        """
        super().__init__(live, ALL)
        self._live = live
        # A copy of the state with everything that the public knows; None if the public
        # knows the whole live state.
        self._delayed_copy: ReferenceClient | None = None
        self._clock = clock
        self._delay_s = 0.0
        self._waiting: deque[tuple[float, Change]] = deque()
        self._moves: Counter[GameId] = Counter()
        self._listeners: list[_Subscription] = []
        self._pseudonyms = pseudonyms or Pseudonyms(secrets.token_bytes(SECRET_BYTES))
        # The real id for each public id of a game; None without a delay.
        self._real_ids: dict[GameId, GameId] | None = None
        self.set_delay(delay_s)
        if self._delayed_copy is not None:
            self._withhold_unshown(self._delayed_copy, unshown, stored_engine)
        self.hide_scores(hide_scores)

    # --- the state that the public can read -------------------------------------------

    def games(self) -> Iterable[GameView]:
        return [self._rename(view) for view in super().games()]

    def game(self, game: GameId) -> GameDetail | None:
        detail = super().game(self._real_id(game))
        return None if detail is None else self._rename(detail)

    def players(self) -> Iterable[PlayerView]:
        return [self._rename(view) for view in super().players()]

    def player_ids(self, game: GameId) -> Iterable[str]:
        return super().player_ids(self._real_id(game))

    def feeds(self) -> tuple[FeedHealth, ...]:
        return tuple(self._rename(health) for health in super().feeds())

    def moments(self) -> Iterable[Moment]:
        return [self._rename(moment) for moment in super().moments()]

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

    # --- pseudonyms -------------------------------------------------------------------

    def public_id(self, game: GameId) -> GameId:
        """Return the public id of a game, given its real id."""
        return game if self._real_ids is None else self._pseudonyms.game_id(game)

    def find_real_ids(self, games: Iterable[GameId]) -> frozenset[GameId]:
        """Return the real ids of games, given public ids; keep ids that are unknown."""
        real_ids = self._real_ids or {}
        return frozenset(real_ids.get(game, game) for game in games)

    def restrict_to_public_ids(self, selected: StreamFilter) -> StreamFilter:
        """Return a filter whose token restriction also contains the games' public ids.

        The restriction contains real ids, since the people who write the file of tokens
        know those. The filter of an arbiter is returned unchanged.
        """
        restriction = selected.restriction
        has_real_ids = selected.visibility is Visibility.ARBITER
        if (
            restriction is None
            or not restriction.games
            or has_real_ids
            or self._real_ids is None
        ):
            return selected
        games = restriction.games.union(
            map(self._pseudonyms.game_id, restriction.games)
        )
        return replace(selected, restriction=replace(restriction, games=games))

    def _real_id(self, game: GameId) -> GameId:
        """Return the real id of a game, given its public id; empty if it is unknown."""
        return game if self._real_ids is None else self._real_ids.get(game, "")

    def _update_ids(self, change: Change) -> None:
        """Update the table of ids if a game appears or disappears."""
        if self._real_ids is None:
            return
        if isinstance(change, GameMessage):
            id = change.game.id
            self._real_ids[self._pseudonyms.game_id(id)] = id
        elif isinstance(change, GoneMessage):
            self._real_ids.pop(self._pseudonyms.game_id(change.game), None)

    def _rename(self, value: Told) -> Told:
        """Return a value or message with the pseudonyms for the public."""
        if self._real_ids is None:
            return self._pseudonyms.name_sources(value)
        return self._pseudonyms.redact(value)

    def _reassign_ids(self) -> None:
        """Switch to public ids if a delay has begun, to real ids if it has ended."""
        is_late = self._delay_s > 0
        if is_late == (self._real_ids is not None):
            return
        self._real_ids = None
        if is_late:
            game_id = self._pseudonyms.game_id
            self._real_ids = {game_id(view.id): view.id for view in self._live.games()}
        for listener in self._listeners:
            listener.reset()

    # --- withheld changes -------------------------------------------------------------

    @property
    def delay_s(self) -> float:
        """The delay of the public's view, seconds."""
        return self._delay_s

    def set_delay(self, delay_s: float) -> None:
        """Set the delay, seconds; it applies to changes that already wait, too.

        Data that the public has already seen is not withdrawn.
        """
        self._delay_s = delay_s
        self._update_copy()
        self.release_due()
        self._reassign_ids()

    def hide_scores(self, is_hidden: bool) -> None:
        """Hide everything that comes from engines from the public, or show it again."""
        self._selected = _VENUE if is_hidden else ALL
        self._update_copy()

    def _update_copy(self) -> None:
        """Create a copy of the state if the public must know less than the live state.

        Drop the copy as soon as it is no longer needed.
        """
        if not self._delay_s and not self._waiting and self._selected is ALL:
            self._delayed_copy = None
        elif self._delayed_copy is None:
            self._delayed_copy = ReferenceClient()
            self._delayed_copy.apply(replace(snapshot(self._live, ALL), alerts=()))
        self._state = self._delayed_copy or self._live

    def _withhold_unshown(
        self,
        delayed_copy: ReferenceClient,
        unshown: Unshown,
        stored_engine: EngineInfo | None,
    ) -> None:
        """Move data that changed within the delay from the copy to the queue.

        ``delayed_copy`` is the copy.
        """
        whole = delayed_copy.snapshot()
        changed_s: dict[GameId, float] = {}
        for detail in whole.games:
            stages = unshown.get(detail.id, ())
            if stages and stages[-1][0] < self._delay_s:
                delayed_copy.apply(GoneMessage(detail.id))
                changed_s[detail.id] = self._withhold_stages(
                    delayed_copy, detail, stages
                )
        if not changed_s:
            return
        last_s = max(changed_s.values())
        for moment in whole.moments:
            if moment.game in changed_s or moment.kind in ROUND_MOMENTS:
                if moment.game not in changed_s:
                    delayed_copy.apply(MomentMessage(moment.game, moment, holds=False))
                self._enqueue(last_s, MomentMessage(moment.game, moment))
        # The players' figures depend on the withheld games to an unknown degree.
        for player in whole.players:
            delayed_copy.apply(StandingMessage(replace(player, games=0, moves=0)))
            self._enqueue(last_s, StandingMessage(player))
        for player_gains in whole.gains:
            for gain_cp, moves in player_gains.counts:
                self._enqueue(last_s, GainsMessage(player_gains.player, gain_cp, moves))
        # The engine's rating depends on the withheld games too.
        stored = stored_engine or whole.engine
        rating = stored.rating
        source = stored.rating_source
        stored_only = replace(
            whole.engine, rating=rating, rating_source=source, rating_moves=0
        )
        delayed_copy.apply(EngineMessage(stored_only))
        self._enqueue(last_s, EngineMessage(whole.engine))
        self._waiting = deque(sorted(self._waiting, key=itemgetter(0)))

    def _withhold_stages(
        self, delayed_copy: ReferenceClient, detail: GameDetail, stages: Sequence[Stage]
    ) -> float:
        """Apply the stages of a game that are due to the copy, and enqueue the others.

        Return the time of the last stage by the clock of this object, seconds.
        """
        now_s = at_s = self._clock()
        before: GameDetail | None = None
        for ago_s, game in stages:
            after = detail if game is None else _restore_position(detail, game)
            # If the clock was set back, the time could be in the future. It is limited,
            # since the first change in the queue delays all others.
            at_s = now_s - max(0.0, ago_s)
            for change in (
                replay_game(after) if before is None else _continue_game(before, after)
            ):
                if ago_s >= self._delay_s:
                    delayed_copy.apply(change)
                else:
                    self._enqueue(at_s, change)
            before = after
        return at_s

    def _enqueue(self, at_s: float, change: Change) -> None:
        self._waiting.append((at_s, change))
        if isinstance(change, MoveMessage) and change.move is not None:
            self._moves[change.game] += 1

    def describe_delay(
        self, visibility: Visibility = Visibility.ARBITER
    ) -> PublicDelay:
        """Return the delay and the number of waiting moves, for this visibility."""
        delay = PublicDelay(self._delay_s, self._moves.total(), len(self._moves))
        return redact(delay, visibility)

    @property
    def next_s(self) -> float | None:
        """Seconds until the next waiting change is due; None if nothing waits."""
        if not self._waiting:
            return None
        return max(0.0, self._waiting[0][0] + self._delay_s - self._clock())

    @property
    def is_withholding(self) -> bool:
        """True if the public sees less than the arbiters, or sees it later."""
        return self._delayed_copy is not None

    # --- changes ----------------------------------------------------------------------

    def publish(self, changes: Iterable[Change]) -> None:
        """Take changes that the live state already contains; pass on those that are
        due.
        """
        if not self._delay_s and not self._waiting:
            self._release(changes)
            return
        now_s = self._clock()
        for change in changes:
            if not isinstance(change, AlertMessage) and _is_worth_keeping(change):
                self._enqueue(now_s, change)
        self.release_due()

    def release_due(self) -> None:
        """Pass on all changes that are due by now."""
        if self._delayed_copy is None:
            return
        until_s = self._clock() - self._delay_s
        ready: list[Change] = []
        while self._waiting and self._waiting[0][0] <= until_s:
            ready.append(change := self._waiting.popleft()[1])
            if isinstance(change, MoveMessage) and change.move is not None:
                self._moves[change.game] -= 1
        self._moves = +self._moves
        self._release(ready)
        self._update_copy()

    def _release(self, changes: Iterable[Change]) -> None:
        """Apply changes to the copy, and pass them on to the listeners."""
        due: list[Change] = []
        for change in changes:
            self._update_ids(change)
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
            renamed = [self._rename(change) for change in due]
            for listener in self._listeners:
                listener.listener(
                    due
                    if listener.knows_sources and self._real_ids is None
                    else renamed
                )

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


def _restore_position(detail: GameDetail, game: Game) -> GameDetail:
    """Return a game with the moves and headers of an earlier ``game``, without figures.

    ``detail`` gives the fields that an earlier game lacks.
    """
    heads = asdict(game.headers)
    fields = {
        name: value
        for name, value in heads.items()
        if name in GameView.__struct_fields__
    }
    return replace(
        redact(detail, Visibility.VENUE),
        **fields,
        result=game.result,
        problem=game.problem,
        plies_played=len(game.moves),
        plies=tuple(show_unscored(ply, move) for ply, move in enumerate(game.moves, 1)),
    )


def _continue_game(before: GameDetail, after: GameDetail) -> Iterator[Change]:
    """Yield the messages that change an earlier state of a game into a later one."""
    common_plies = count_common(
        before.plies, after.plies, lambda earlier, later: earlier.uci == later.uci
    )
    if common_plies < len(before.plies):
        yield MoveMessage(after.id, common_plies + 1, None)
    for change in replay_game(after):
        if not isinstance(change, MoveMessage) or change.ply > common_plies:
            yield change
            continue
        shown_ply = before.plies[change.ply - 1]
        now = after.plies[change.ply - 1]
        if (shown_ply.clock_s, shown_ply.spent_s) != (now.clock_s, now.spent_s):
            yield ClockMessage(after.id, now.ply, now.clock_s, now.spent_s)
        if shown_ply != now:
            yield ScoreMessage(after.id, now)


def _is_worth_keeping(change: Change) -> bool:
    """Return whether a change must be kept for later.

    A provisional score is not kept, since a later score will replace it.
    """
    return (
        not isinstance(change, ScoreMessage)
        or change.ply.final
        or change.ply.depth is None
    )
