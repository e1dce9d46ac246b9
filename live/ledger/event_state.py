"""The one writer: takes what feeds and engines say, and passes on what follows from it.

Synchronous and without I/O. Searches, messages and questions for the network of human moves leave
through the doors given at the start; ``app.py`` puts the engine pool, the publisher and the network
behind them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

import msgspec

from live.engine.search import Search, SearchFailure, SearchProgress, SearchResult
from live.events import (
    Alert,
    Change,
    EngineHealth,
    EngineInfo,
    FeedHealth,
    FeedReport,
    GainCounts,
    GainKind,
    GameDetail,
    GameId,
    GameMessage,
    GameView,
    HealthMessage,
    Moment,
    PlayerView,
    PluginFigure,
)
from live.games.game import Game, GameConfirmed, GameGone, MovesPlayed, NewGame, Step
from live.games.report_changes import plan
from live.games.shared_games import SharedGames, Shown
from live.human.question import HumanAnswer
from live.ledger.event_ledger import EventLedger
from live.ledger.game_evaluations import RequestId
from live.ledger.outgoing_messages import Effects, HumanRequest, Urgency
from live.ledger.tracked_game import ArchivedValues, Recall
from live.ratings.perceived_model import Models

#: Moves taken in at once: some milliseconds of work.
MOVES_A_STEP = 40

log = logging.getLogger(__name__)

View = TypeVar("View", bound=GameView)


class Searches(Protocol):
    """The door to the engines."""

    def submit(self, search: Search, request_id: RequestId, urgency: Urgency) -> None:
        """Make this search for ``request_id``; the same again with another urgency moves it."""

    def drop(self, request_id: RequestId) -> None:
        """Nobody needs the result of ``request_id`` any more."""


class EventState:
    """Holds games, ledger and health; every change of state passes here, one at a time."""

    def __init__(
        self,
        ledger: EventLedger,
        searches: Searches,
        publish: Callable[[Iterable[Change]], None],
        alerts: Callable[[], Sequence[Alert]] = tuple,
        ask: Callable[[HumanRequest], None] | None = None,
        moments: Callable[[], Sequence[Moment]] = tuple,
    ) -> None:
        """``ask``: the door to the network of human moves; needed where the ledger asks it."""
        self.ledger = ledger
        self._ask = ask
        self._searches = searches
        self._publish = publish
        self._alerts = alerts
        self._moments = moments
        self._held = ledger.index
        self._shared = SharedGames(ledger.index)
        self._feeds: dict[str, FeedHealth] = {}
        self._engines = EngineHealth()

    # --- news -----------------------------------------------------------------------------------

    def plan(self, report: FeedReport) -> Iterator[Step]:
        """The steps that bring what is held to what is reported; changes nothing yet.

        A new game comes empty first and its moves in pieces, so that no step takes long.
        """
        for step in plan(self._held, report):
            if isinstance(step, NewGame):
                self._shared.expect(step.game)
                yield from in_pieces(step.game)
            else:
                yield step

    def restore(self, game: Game) -> Iterator[None]:
        """Hold a game of an earlier start again, piece by piece."""
        self._shared.expect(game)
        for step in in_pieces(game):
            self.apply(step)
            self._held.restore(game.id)
            yield
        self._show(game.id)

    def arrange(self, order: Sequence[GameId]) -> None:
        """Count the games as having appeared in this order."""
        self._held.arrange(order)
        self.ledger.arrange(order)

    def resume(
        self, archived: Sequence[ArchivedValues], recall: Recall
    ) -> Generator[None, None, None]:
        """Hold games of an earlier start again that were kept whole, piece by piece."""
        effects = yield from self.ledger.resume(archived, recall)
        for values in archived:
            self._held.restore(values.game.id)
        self._send(effects)
        self._follow(self._shared.adopt([values.game.id for values in archived]))

    def apply(self, step: Step) -> None:
        """Carry out one step of the latest plan. A game that breaks a rule of ours is given up,
        and costs no other anything.
        """
        self._held.apply(step)
        if isinstance(step, GameConfirmed):
            self._show(step.id)
        else:
            self._follow(self._shared.follow(step))

    def _follow(self, shown: Iterable[Shown]) -> None:
        self.rate()
        for step, game in shown:
            try:
                effects = self.ledger.follow(step, game)
            except Exception:
                # Broad: all rules of ratings lie behind this, and whichever a hostile game breaks,
                # the other games are not to suffer.
                self._give_up(step.id)
            else:
                self._send(effects)

    def _give_up(self, id: GameId) -> None:
        """Within an except clause: take the game away, and report it in the log and to people."""
        log.exception("game %s is given up", id)
        self._send(self.ledger.abandon(id))
        why = "given up after a fault in our own code; the log says where"
        self.feed_health(FeedHealth(f"game {id}", "failed", why, part=True))

    def measure_by(self, models: Models) -> Generator[None, None, None]:
        """Rate by other models from now on, a game with each step."""
        self.rate()
        for effects in self.ledger.measure_by(models):
            self._send(effects)
            yield

    def make_anew(self, id: GameId) -> None:
        """Score a game again of which the journal has lost more than its moves."""
        self._send(self.ledger.make_anew(id))

    def holding(self, id: GameId) -> Game | None:
        """The game as it is shown, or as its source reports it where it is not shown."""
        return self._shared.get(id)

    def carriers(self, id: GameId) -> tuple[GameId, ...]:
        """The ids under which the sources hold the game that is shown under this one, which is the
        last of them.
        """
        return self._shared.members(id)

    def remove(self, id: GameId) -> None:
        """Show a game no longer and count nothing of it, though its sources go on with it."""
        self._follow(self._shared.remove(id))

    def removed(self) -> tuple[GameId, ...]:
        """Games that were removed, the latest last."""
        return self._shared.removed()

    def bring_back(self, id: GameId) -> None:
        """Show and count a game again that was removed."""
        self._follow(self._shared.bring_back(id))

    def retire(self, id: GameId) -> list[Game]:
        """Hold an old game no longer, nor what is pooled of its players from it. Gives it, as each
        source has it that carries it.
        """
        if id not in self._held:
            return []
        first = self._shared.shown_as(id)
        games = [self._held[each] for each in self._shared.members(first)]
        for game in games:
            self._held.apply(GameGone(game.id))
        # At once: else it would be shown for a moment with fewer and fewer sources.
        self._follow(self._shared.retire(first))
        return games

    def searched(
        self,
        request_id: RequestId,
        result: SearchResult | SearchFailure,
        *,
        rate: bool = True,
    ) -> None:
        """An engine answered. Without ``rate`` the standings wait for :meth:`rate`, or for other
        news.
        """
        try:
            effects = self.ledger.searched(request_id, result, rate=rate)
        except Exception:
            # Broad as in :meth:`apply`: an answer may break what the moves did not.
            self._give_up(request_id.game)
        else:
            self._send(effects)

    def answered(
        self, request: HumanRequest, answer: HumanAnswer | None, *, rate: bool = True
    ) -> None:
        """The network of human moves answered, or never will. ``rate`` as in :meth:`searched`."""
        try:
            effects = self.ledger.answered(request, answer, rate=rate)
        except Exception:
            # Broad as in :meth:`apply`.
            self._give_up(request.game)
        else:
            self._send(effects)

    def rate(self) -> None:
        """Renew the standings by all answers that wait for it."""
        self._rate(self.ledger.unrated)

    def _rate(self, games: Sequence[GameId]) -> None:
        if not games:
            return
        try:
            effects = self.ledger.rate(games)
        except Exception:
            # Broad as in :meth:`apply`. Of several nobody knows whose fault it was.
            if len(games) == 1:
                self._give_up(games[0])
            else:
                for game in games:
                    self._rate([game])
        else:
            self._send(effects)

    def progressed(self, request_id: RequestId, progress: SearchProgress) -> None:
        """An engine has a provisional score."""
        self._send(self.ledger.progressed(request_id, progress))

    def plugin_figure(self, player: str, name: str, figure: PluginFigure | None) -> None:
        """What a plugin says of a player, or (None) that it says nothing any more."""
        self._send(self.ledger.plugin_figure(player, name, figure))

    def feed_health(self, health: FeedHealth) -> None:
        """A feed says how it is doing."""
        if health.part and health.state == "live":
            # A part is spoken of only while it is in trouble.
            if self._feeds.pop(health.feed, None) is None:
                return
            self._publish((HealthMessage(self.feeds(), self._engines),))
        elif self._feeds.get(health.feed) != health:
            self._feeds[health.feed] = health
            self._publish((HealthMessage(self.feeds(), self._engines),))

    def engine_health(self, health: EngineHealth) -> None:
        """The engines' figures, for people."""
        if health != self._engines:
            self._engines = health
            self._publish((HealthMessage(self.feeds(), health),))

    def _send(self, effects: Effects) -> None:
        for request_id in effects.dropped:
            self._searches.drop(request_id)
        for request in effects.requests:
            self._searches.submit(request.search, request.id, request.urgency)
        if effects.changes:
            self._publish([self._marked(change) for change in effects.changes])
        if self._ask is not None:
            for question in effects.questions:
                self._ask(question)

    def _show(self, id: GameId) -> None:
        """Send the header of a game again, with a mark that the ledger does not have."""
        if (detail := self.game(self._shared.shown_as(id))) is not None:
            view = {name: getattr(detail, name) for name in GameView.__struct_fields__}
            self._publish((GameMessage(GameView(**view)),))

    def _marked(self, change: Change) -> Change:
        if isinstance(change, GameMessage) and self._is_restored(change.game.id):
            return GameMessage(msgspec.structs.replace(change.game, restored=True))
        return change

    # --- what is held ---------------------------------------------------------------------------

    def engine(self) -> EngineInfo:
        return self.ledger.engine

    def gain(self) -> GainKind:
        return self.ledger.gain

    @property
    def analysed(self) -> bool:
        """True when no search is outstanding."""
        return self.ledger.pending == 0 and not self.ledger.unrated

    @property
    def rated(self) -> bool:
        """Whether the figures of every game rest on all its moves."""
        return self.ledger.rated and not self.ledger.unrated

    def held(self) -> Iterable[Game]:
        """Every game as its source reports it, in the order they appeared."""
        return iter(self._held)

    def games(self) -> Iterable[GameView]:
        return map(self._restored, self.ledger.games())

    def game(self, id: GameId) -> GameDetail | None:
        detail = self.ledger.game(id)
        return self._restored(detail) if detail is not None else None

    def _is_restored(self, id: GameId) -> bool:
        """Whether no source that carries it has reported it since the start."""
        return all(self._held.is_restored(each) for each in self._shared.members(id))

    def _restored(self, view: View) -> View:
        if not self._is_restored(view.id):
            return view
        return msgspec.structs.replace(view, restored=True)

    def player_ids(self, id: GameId) -> tuple[str, ...]:
        return self.ledger.player_ids(id)

    def players(self) -> Sequence[PlayerView]:
        return self.ledger.players()

    def gains(self, player: str) -> GainCounts:
        return self.ledger.gains(player)

    def engine_gains(self) -> GainCounts:
        return self.ledger.engine_gains

    def feeds(self) -> tuple[FeedHealth, ...]:
        return tuple(self._feeds.values())

    def engines(self) -> EngineHealth:
        return self._engines

    def alerts(self) -> Sequence[Alert]:
        """What arbiters should know now, from whoever watches the event."""
        return self._alerts()

    def moments(self) -> Sequence[Moment]:
        """What is worth telling of the games, from whoever tells it."""
        return self._moments()


def in_pieces(game: Game) -> Iterator[Step]:
    """A game as steps that each take some milliseconds: without its moves first."""
    yield NewGame(msgspec.structs.replace(game, moves=()))
    for start in range(0, len(game.moves), MOVES_A_STEP):
        yield MovesPlayed(game.id, start + 1, game.moves[start : start + MOVES_A_STEP])
