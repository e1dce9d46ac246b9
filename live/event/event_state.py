"""The whole event: every game, every player, and the engine they are measured by.

One writer calls; nothing waits, and there is no I/O. Searches, messages and questions for the
network of human moves leave through the doors given at the start; ``app.py`` puts the engine pool,
the publisher and the network behind them.

Loss policy engine → ratings: lossless, in whatever order it comes.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeVar

import msgspec

from live.engine.search import Search, SearchFailure, SearchProgress, SearchResult
from live.event.comparisons import ComparedMoves, ComparisonData
from live.event.game_evaluations import HumanRequest, Outbox, RequestId, Urgency
from live.event.methods import (
    EventMethods,
    JudgedGame,
    JudgedSide,
    judge_game,
    rate_game_by_methods,
    rate_player_by_methods,
)
from live.event.players import EventStandings, GamePlayers, PlayerTotals
from live.event.rate_game import GameRater, Measure, needs_field
from live.event.tracked_game import (
    ArchivedGame,
    ArchivedValues,
    TrackedGame,
    view_of,
)
from live.games.game import (
    Game,
    GameConfirmed,
    GameGone,
    MovesPlayed,
    NewGame,
    Step,
)
from live.games.game_index import GameIndex, sort_by_order
from live.games.report_changes import plan_steps
from live.games.shared_games import SharedGames, Shown
from live.human.question import HumanAnswer
from live.messages.alerts import Alert
from live.messages.figures import EngineInfo, GainCounts, GainKind, GameDetail, GameView
from live.messages.from_sources import FeedReport
from live.messages.health import GAME_PART, EngineHealth, FeedHealth, part_health
from live.messages.moments import Moment
from live.messages.to_clients import Change, ChangeListener, GameMessage, GoneMessage, HealthMessage
from live.messages.values import GameId
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
    """Holds games, standings and health; every change of state passes here, one at a time.

    Args:
        measure: which gain feeds the curves, and the models that fit.
        searches: the door to the engines.
        publish: the door to subscribers.
        alerts: what arbiters should know now, from whoever watches the event.
        ask: the door to the network of human moves; needed where ``measure`` asks it.
        moments: what is worth telling of the games, from whoever tells it.
        engine: who measures; its rating is what the field's is drawn towards until enough moves
            are in, unless it is ``fixed``.
        engine_scores: False takes the source's own ``[%eval]`` instead of searches.
    """

    def __init__(
        self,
        measure: Measure,
        searches: Searches,
        publish: ChangeListener,
        alerts: Callable[[], Sequence[Alert]] = tuple,
        ask: Callable[[HumanRequest], None] | None = None,
        moments: Callable[[], Sequence[Moment]] = tuple,
        *,
        engine: EngineInfo = EngineInfo("none", "none", 2160, "calibration"),  # noqa: B008  # frozen
        engine_scores: bool = True,
    ) -> None:
        self._ask = ask
        self._searches = searches
        self._publish = publish
        self.alerts = alerts
        self.moments = moments
        # Sources that rewrite whole texts wait until one has settled, so a report is believed.
        self.index = GameIndex()
        """Every game as its source reports it; the only place that applies steps."""
        self._shared = shared = SharedGames(self.index)
        self.holding = shared.get
        """The game as it is shown, or as its source reports it where it is not shown."""
        self.carriers = shared.member_ids
        """The ids under which the sources hold the game that is shown under this one, which is the
        last of them.
        """
        self.removed_ids = shared.removed_ids
        """Games that were removed, the latest last."""
        self._feeds: dict[str, FeedHealth] = {}
        self._engines = EngineHealth()
        self.measure = measure
        """What everybody is measured with."""
        self._engine_scores = engine_scores
        self._games: dict[GameId, TrackedGame | ArchivedGame] = {}
        # Games with answers that no standing rests on yet.
        self._unrated: dict[GameId, None] = {}
        self._outbox = Outbox()
        self._standings = standings = EventStandings(measure, engine, self._outbox)
        self.players, self.gains = standings.players, standings.gains
        self.stored_engine = standings.stored_engine
        """Who measures, and how strong it counted before any game was known."""
        self.engine_strength = standings.engine_strength

    # --- news of games --------------------------------------------------------------------------

    def plan(self, report: FeedReport) -> Iterator[Step]:
        """The steps that bring what is held to what is reported; changes nothing yet.

        A new game comes empty first and its moves in pieces, so that no step takes long.
        """
        for step in plan_steps(self.index, report):
            if isinstance(step, NewGame):
                self._shared.announce_game(step.game)
                yield from in_pieces(step.game)
            else:
                yield step

    def restore(self, game: Game) -> Iterator[None]:
        """Hold a game of an earlier start again, piece by piece."""
        self._shared.announce_game(game)
        for step in in_pieces(game):
            self.apply(step)
            self.index.mark_restored(game.id)
            yield
        self._show(game.id)

    def arrange(self, order: Sequence[GameId]) -> None:
        """Count the games as having appeared in this order."""
        self.index.set_order(order)
        self._games = sort_by_order(self._games, order)

    def apply(self, step: Step) -> None:
        """Carry out one step of the latest plan. A game that breaks a rule of ours is given up,
        and costs no other anything.

        Raises:
            ValueError: the step does not fit its game.
            KeyError: it is about a game that is not held.
        """
        self.index.apply(step)
        if isinstance(step, GameConfirmed):
            self._show(step.id)
        else:
            self._follow(self._shared.follow_step(step))

    def _follow(self, shown: Iterable[Shown]) -> None:
        self.rate()
        for step, game in shown:
            with self._guarded(step.id):
                self._take(step, game)

    def _take(self, step: Step, game: Game | None) -> None:
        """What a step means for scores and ratings; ``game`` is how it is shown now."""
        id = step.id
        held = self._games.get(id)
        touched = list(held.players.values()) if held is not None else []
        with self._changing(id):
            if isinstance(step, NewGame):
                players = self._standings.players_of(id, step.game.headers)
                self._games[id] = tracked = self._tracked(step.game, players)
                tracked.begin()
            elif held is None:
                return  # given up
            elif game is None:
                held.close()
                del self._games[id]
                self._outbox.changes.append(GoneMessage(id))
            else:
                players = self._standings.players_of(id, game.headers)
                self._tracked_anew(id).follow(game, players)
        if id in self._games:
            touched += self._games[id].players.values()
        self._renew(touched)

    def remove(self, id: GameId) -> None:
        """Show a game no longer and count nothing of it, though its sources go on with it."""
        self._follow(self._shared.remove_game(id))

    def bring_back(self, id: GameId) -> None:
        """Show and count a game again that was removed."""
        self._follow(self._shared.restore_removed(id))

    def retire(self, id: GameId) -> list[Game]:
        """Hold an old game no longer, nor what is pooled of its players from it. Gives it, as each
        source has it that carries it.
        """
        if id not in self.index:
            return []
        first = self._shared.shown_id(id)
        games = [self.index[each] for each in self._shared.member_ids(first)]
        for game in games:
            self.index.apply(GameGone(game.id))
        # At once: else it would be shown for a moment with fewer and fewer sources.
        self._follow(self._shared.retire_game(first))
        return games

    # --- answers --------------------------------------------------------------------------------

    def searched(
        self,
        request_id: RequestId,
        result: SearchResult | SearchFailure,
        *,
        rate: bool = True,
    ) -> None:
        """A search is over; the result of a request no longer open changes nothing. Without
        ``rate`` the standings wait for :meth:`rate`, or for other news: one answer can serve a
        thousand games.
        """
        self._tell(request_id.game, lambda tracked: tracked.searched(request_id, result), rate)

    def answered(
        self, request: HumanRequest, answer: HumanAnswer | None, *, rate: bool = True
    ) -> None:
        """The network of human moves answered, or (None) never will; a question no longer open
        changes nothing. ``rate`` as in :meth:`searched`.
        """
        self._tell(request.game, lambda tracked: tracked.answered(request, answer), rate)

    def progressed(self, request_id: RequestId, progress: SearchProgress) -> None:
        """A search deepens: shown as provisional, in no histogram."""
        self._tell(request_id.game, lambda tracked: tracked.progressed(request_id, progress), True)

    def _tell(self, id: GameId, tell: Callable[[TrackedGame], None], rate: bool) -> None:
        tracked = self._games.get(id)
        if not isinstance(tracked, TrackedGame):
            return
        with self._guarded(id):
            with self._changing(id):
                tell(tracked)
            players = tracked.players.values()
            if rate:
                self._renew(players)
            elif any(player.changed for player in players):
                self._unrated[id] = None

    @property
    def unrated(self) -> bool:
        """Whether answers wait for :meth:`rate`, which comes before any other news."""
        return bool(self._unrated)

    def rate(self) -> None:
        """Renew the standings by all answers that wait for it."""
        waiting, self._unrated = self._unrated, {}
        self._rate(list(waiting))

    def _rate(self, games: Sequence[GameId]) -> None:
        if not games:
            return
        try:
            self._renew(player for id in games for player in self._games[id].players.values())
        except Exception:
            # Broad as in :meth:`_guarded`. Of several nobody knows whose fault it was; what has
            # been found of the others is not found a second time.
            if len(games) == 1:
                self._give_up(games[0])
            else:
                log.exception("rating of %d games fails; each is tried by itself", len(games))
                self._send()
                for game in games:
                    self._rate([game])
        else:
            self._send()

    # --- other news -----------------------------------------------------------------------------

    def measure_by(self, models: Models) -> Generator[None, None, None]:
        """Rate by other models from now on; every game anew, one with each step, so that others
        have their turn. Games reported meanwhile are rated by them at once.
        """
        self.rate()
        self.measure = self.measure._replace(models=models)
        self._standings.measure_by(self.measure)
        self._send()
        yield
        for id in list(self._games):
            if id in self._games:
                self._renew(self._rated_anew(id))
                self._send()
                yield

    def feed_health(self, health: FeedHealth) -> None:
        """A feed says how it is doing."""
        if health.part and health.state == "live":
            # A part is spoken of only while it is in trouble.
            if self._feeds.pop(health.feed, None) is None:
                return
        elif self._feeds.get(health.feed) == health:
            return
        else:
            self._feeds[health.feed] = health
        self._publish((HealthMessage(self.feeds(), self._engines),))

    def engine_health(self, health: EngineHealth) -> None:
        """The engines' figures, for people."""
        if health != self._engines:
            self._engines = health
            self._publish((HealthMessage(self.feeds(), health),))

    # --- archive --------------------------------------------------------------------------------

    def archive(self, id: GameId) -> ArchivedValues | None:
        """A game as values that can be kept; None while searches of it are open, and for one that
        is archived already or not held. Nor is one that several sources carry: it would come back
        as if its first source had reported all of it.
        """
        game = self._games.get(id)
        if not isinstance(game, TrackedGame) or game.pending or game.game.also:
            return None
        return game.archive()

    def archived(self, values: ArchivedValues) -> None:
        """A game is kept as these values, the last that :meth:`archive` gave of it. What is over
        is held as them, too, at a tenth of its size; but where both figures rest on the field,
        which moves.
        """
        game = values.game
        if game.result != "*" and not needs_field(game):
            self._games[game.id] = ArchivedGame(values, self._games[game.id].players)

    def resume(self, archived: Sequence[ArchivedValues]) -> Generator[None, None, None]:
        """Hold games of an earlier start again that were kept whole, all archived. Yields where
        others may have a turn, and nothing of it is to be shown.
        """
        ids = [values.game.id for values in archived]
        touched: dict[str, PlayerTotals] = {}
        for values in archived:
            game = values.game
            self.index.apply(NewGame(game))
            players = self._standings.players_of(game.id, game.headers)
            self._games[game.id] = ArchivedGame(values, players)
            touched |= {player.key: player for player in players.values()}
            yield
        yield from self._standings.rate_in_pieces(touched.values())
        field = self._standings.field
        for values in archived:
            if needs_field(values.game) and values.field != field:
                self._standings.rate(self._rated_anew(values.game.id))
                yield
        self._outbox.changes[:0] = [GameMessage(self._games[id].view()) for id in ids]
        for id in ids:
            self.index.mark_restored(id)
        self._send()
        self._follow(self._shared.merge_restored(ids))

    def _tracked(
        self,
        game: Game,
        players: GamePlayers,
        shown: GameDetail | None = None,
    ) -> TrackedGame:
        return TrackedGame(
            game,
            players,
            measure=self.measure,
            field=lambda: self._standings.field,
            outbox=self._outbox,
            engine_scores=self._engine_scores,
            shown=shown,
        )

    def _tracked_anew(self, id: GameId) -> TrackedGame:
        """The game, tracked."""
        held = self._games[id]
        if isinstance(held, ArchivedGame):
            tracked = self._games[id] = self._tracked(held.game, held.players, held.detail())
            tracked.resume(held.values.details())
            return tracked
        return held

    # --- what follows from news -----------------------------------------------------------------

    @contextmanager
    def _changing(self, id: GameId) -> Iterator[None]:
        """A game may become another one within; subscribers are told how."""
        yield
        held = self._games.get(id)
        if isinstance(held, TrackedGame):
            self._outbox.changes += held.news()

    def _rated_anew(self, id: GameId) -> list[PlayerTotals]:
        """Rate a game by what measures now; gives those whose figures may have changed."""
        with self._changing(id):
            tracked = self._tracked_anew(id)
            tracked.measure_by(self.measure)
        return list(tracked.players.values())

    def _renew(self, touched: Iterable[PlayerTotals]) -> None:
        """Renew the standings of players who may have changed, and all that rests on the field."""
        field = self._standings.field
        self._standings.rate(touched)
        if self._standings.field == field:
            return
        # Players without a rating are taken to be of the field.
        of_field = [id for id, held in self._games.items() if needs_field(held.game)]
        self._standings.rate([player for id in of_field for player in self._rated_anew(id)])

    @contextmanager
    def _guarded(self, id: GameId) -> Iterator[None]:
        """What follows from news of a game is sent; one that breaks a rule of ours is given up."""
        try:
            yield
        except Exception:
            # Broad: all rules of ratings lie behind this, and whichever a hostile game breaks, the
            # other games are not to suffer.
            self._give_up(id)
        else:
            self._send()

    def _give_up(self, id: GameId) -> None:
        """Within an except clause: take the game away, and report it in the log and to people."""
        log.exception("game %s is given up", id)
        # What the failed call had collected is not sent.
        self._outbox.clear()
        self._unrated.pop(id, None)
        held = self._games.pop(id, None)
        if held is not None:
            held.close()
            self._outbox.changes.append(GoneMessage(id))
            self._renew(held.players.values())
        self._send()
        why = "given up after a fault in our own code; the log says where"
        self.feed_health(part_health(f"{GAME_PART}{id}", "failed", why))

    def _send(self) -> None:
        sent = self._outbox.take()
        for request_id in sent.dropped:
            self._searches.drop(request_id)
        for request in sent.requests:
            self._searches.submit(request.search, request.id, request.urgency)
        if sent.changes:
            self._publish([self._marked(change) for change in sent.changes])
        if self._ask is not None:
            for question in sent.questions:
                self._ask(question)

    def _show(self, id: GameId) -> None:
        """Send the header of a game again, with the mark of what was restored."""
        if (detail := self.game(self._shared.shown_id(id))) is not None:
            self._publish((GameMessage(view_of(detail)),))

    def _marked(self, change: Change) -> Change:
        if isinstance(change, GameMessage):
            return GameMessage(self._restored(change.game))
        return change

    def _restored(self, view: View) -> View:
        """Marked where no source that carries it has reported it since the start."""
        if not all(self.index.is_restored(each) for each in self._shared.member_ids(view.id)):
            return view
        return msgspec.structs.replace(view, restored=True)

    # --- what is held ---------------------------------------------------------------------------

    def engine(self) -> EngineInfo:
        """Who measures, and how strong it counts now."""
        return self._standings.engine

    def gain(self) -> GainKind:
        """Which gain feeds the curves."""
        return self.measure.gain

    @property
    def analysed(self) -> bool:
        """True when no search is outstanding."""
        return not self._unrated and not any(held.pending for held in self._games.values())

    @property
    def rated(self) -> bool:
        """Whether the figures of every game rest on all its moves."""
        return not self._unrated and all(held.rated for held in self._games.values())

    def held(self) -> Iterable[Game]:
        """Every game as its source reports it, in the order they appeared."""
        return iter(self.index)

    def games(self) -> Iterable[GameView]:
        """Every game without plies and curves, in the order they appeared."""
        return (self._restored(held.view()) for held in self._games.values())

    def game(self, id: GameId) -> GameDetail | None:
        """One game in full."""
        held = self._games.get(id)
        return self._restored(held.detail()) if held is not None else None

    def reader(self, id: GameId) -> Callable[[], GameDetail]:
        """Gives the game in full as it stands now, whatever becomes of it. Raises KeyError for one
        not held.
        """
        held = self._games[id]
        if isinstance(held, ArchivedGame):
            return held.detail  # which is read when it is asked for, and never another one
        detail = held.detail()
        return lambda: detail

    def people(self, id: GameId, moves: Sequence[str]) -> Mapping[str, float]:
        """How many players of the mover's rating would play each move after these, by UCI; empty
        while that is not known, and for moves that the game has not come to.
        """
        held = self._games.get(id)
        return held.people(moves) if isinstance(held, TrackedGame) else {}

    def player_ids(self, id: GameId) -> tuple[str, ...]:
        """``PlayerView.id`` of those who play in the game; empty for an unknown one."""
        held = self._games.get(id)
        return tuple(player.key for player in held.players.values()) if held else ()

    def engine_gains(self) -> GainCounts:
        """The engine's own, which players are measured against."""
        return self.measure.engine_gains.counts

    def feeds(self) -> tuple[FeedHealth, ...]:
        return tuple(self._feeds.values())

    def engines(self) -> EngineHealth:
        return self._engines

    def rated_again(self, id: GameId) -> GameRater:
        """A game rated once more from what is known of it, for its trace. Raises KeyError for a
        game not held.
        """
        return self._tracked_anew(id).rated_again()

    def methods(self) -> EventMethods:
        """What the methods beside Ferreira's and the perceived rating say; made afresh."""
        games, sides = self._judged()
        measure, strengths = self.measure, self._standings.strengths().strengths()
        return EventMethods(
            {
                id: rate_game_by_methods(judged, self._games[id].game.headers, measure)
                for id, judged in games.items()
            },
            {
                view.id: rate_player_by_methods(
                    sides[view.id], measure, view.elo, strengths.get(view.id)
                )
                for view in self.players()
            },
        )

    def study(self) -> ComparedMoves:
        """Every player's moves as the methods that compare players need them; made afresh."""
        _, sides = self._judged()
        totals, event = self._standings.totals, self._standings.strengths()
        players = {
            view.id: ComparisonData(view, totals[view.id].gains, sides[view.id])
            for view in self.players()
        }
        return ComparedMoves(players, event.strengths(), event.margins())

    def _judged(self) -> tuple[dict[GameId, JudgedGame], dict[str, list[JudgedSide]]]:
        """The moves of every game, and of every player, by id."""
        games: dict[GameId, JudgedGame] = {}
        players: dict[str, list[JudgedSide]] = defaultdict(list)
        for id, held in self._games.items():
            games[id] = judged = judge_game(held.game, held.collect_known(), self.measure)
            for color, player in held.players.items():
                players[player.key].append(judged[color])
        return games, players


def in_pieces(game: Game) -> Iterator[Step]:
    """A game as steps that each take some milliseconds: without its moves first."""
    yield NewGame(msgspec.structs.replace(game, moves=()))
    for start in range(0, len(game.moves), MOVES_A_STEP):
        yield MovesPlayed(game.id, start + 1, game.moves[start : start + MOVES_A_STEP])
