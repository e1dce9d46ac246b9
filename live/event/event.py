"""The whole event: every game, every player, and the engine that measures them. Pure.

One writer calls, and nothing waits. Searches, messages and questions for the network of
human moves leave through the doors given at the start; ``app.py`` puts the engine pool,
the publisher and the network behind them.

Loss policy engine → ratings: every result is applied, in any order.
"""

import logging
from collections import defaultdict
from collections.abc import (
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from typing import Protocol, TypeVar

import msgspec

from live.engine.search import Search, SearchFailure, SearchProgress, SearchResult
from live.event.comparisons import ComparedMoves, ComparisonData
from live.event.game_change import EventChange
from live.event.game_record import ArchivedValues, GameRecord
from live.event.methods import (
    EventMethods,
    JudgedGame,
    JudgedSide,
    judge_game,
    rate_game_by_methods,
    rate_player_by_methods,
)
from live.event.players import EventStandings, PlayerTotals
from live.event.rate_game import GameRater, Measure, needs_field
from live.event.requests import Outbox, RequestId, Urgency
from live.games.game import (
    Game,
    GameConfirmed,
    GameGone,
    MovesPlayed,
    NewGame,
    Step,
    side_to_play,
)
from live.games.game_index import GameIndex, sort_by_order
from live.games.report_changes import plan_steps
from live.games.shared_games import SharedGames, Shown
from live.human.question import HumanAnswer, HumanRequest
from live.messages.alerts import Alert
from live.messages.figures import EngineInfo, GainCounts, GainKind, GameDetail, GameView
from live.messages.from_sources import FeedReport, Player
from live.messages.health import GAME_PART, EngineHealth, FeedHealth, part_health
from live.messages.moments import Moment
from live.messages.to_clients import (
    GameMessage,
    GoneMessage,
    HealthMessage,
)
from live.messages.values import FeedName, GameId
from live.ratings.perceived_model import Models

#: Moves applied at once: some milliseconds of work.
MOVES_A_STEP = 40

log = logging.getLogger(__name__)

View = TypeVar("View", bound=GameView)


class Searches(Protocol):
    """The door to the engines."""

    def submit(self, search: Search, request_id: RequestId, urgency: Urgency) -> None:
        """Make this search; the same request with another urgency moves it."""

    def drop(self, request_id: RequestId) -> None:
        """Stop a search whose result nobody needs any more."""


class Event:
    """Holds games, standings and health; every change of state passes here, in order.

    Args:
        measure: which gain feeds the curves, and the models that fit.
        searches: the door to the engines.
        publish: gets every change, in order.
        alerts: returns what arbiters should know now.
        ask: the door to the network of human moves; needed where ``measure`` asks it.
        moments: returns what is worth telling of the games.
        engine: who measures. Unless it is ``fixed``, its rating is only what the
            measured one is drawn towards until enough moves are in.
        engine_scores: False takes the source's own ``[%eval]`` instead of searches.
    """

    def __init__(
        self,
        measure: Measure,
        searches: Searches,
        publish: Callable[[Sequence[EventChange]], None],
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
        self.index = GameIndex()
        """Every game as its source reports it; the only place that applies steps."""
        self._shared = shared = SharedGames(self.index)
        self.get_shown_game = shared.get
        """The game as it is shown; as its source reports it where it is not shown."""
        self.list_source_ids = shared.member_ids
        """The ids under which the sources hold the game that is shown under this one,
        which is the last of them.
        """
        self.removed_ids = shared.removed_ids
        """Games that were removed, the latest last."""
        self._feeds: dict[str, FeedHealth] = {}
        self._engines = EngineHealth()
        self.measure = measure
        """What every game is measured with."""
        self._engine_scores = engine_scores
        self._records: dict[GameId, GameRecord] = {}
        # Games with answers that no standing rests on yet.
        self._unrated: dict[GameId, None] = {}
        self._outbox = Outbox()
        self._standings = standings = EventStandings(measure, engine, self._outbox)
        self.players, self.gains = standings.players, standings.gains
        self.stored_engine = standings.stored_engine
        """Who measures, and how strong it counted before any game was known."""
        self.rate_engine = standings.rate_engine

    def find_mover_elo(self, game: GameId, ply: int) -> int | None:
        """Return the Elo of the player who makes a ply of a game, if it is known."""
        played = self.get_shown_game(game)
        if played is None:
            return None
        player: Player = getattr(played.headers, side_to_play(played.start_fen, ply))
        return player.elo

    # --- reports ----------------------------------------------------------------------

    def plan(self, report: FeedReport) -> Iterator[Step]:
        """Yield the steps from what is held to what is reported; change nothing yet.

        A new game comes empty first, its moves in pieces: so no step takes long.
        """
        for step in plan_steps(self.index, report):
            if isinstance(step, NewGame):
                self._shared.announce_game(step.game)
                yield from split_into_steps(step.game)
            else:
                yield step

    def restore(self, game: Game) -> Iterator[None]:
        """Hold a game of an earlier start again, piece by piece."""
        self._shared.announce_game(game)
        for step in split_into_steps(game):
            self.apply(step)
            self.index.mark_restored(game.id)
            yield
        self._send_header(game.id)

    def set_order(self, order: Sequence[GameId]) -> None:
        """Set the order in which games appeared."""
        self.index.set_order(order)
        self._records = sort_by_order(self._records, order)

    def apply(self, step: Step) -> None:
        """Apply one step of the latest plan. A game that breaks a rule of ours is given
        up, and costs no other anything.

        Raises:
            ValueError: the step does not fit its game.
            KeyError: it is about a game that is not held.
        """
        self.index.apply(step)
        if isinstance(step, GameConfirmed):
            self._send_header(step.id)
        else:
            self._apply_shown(self._shared.follow_step(step))

    def _apply_shown(self, shown: Iterable[Shown]) -> None:
        self.rate()
        for step, game in shown:
            with self._give_up_on_error(step.id):
                self._update_record(step, game)

    def _update_record(self, step: Step, game: Game | None) -> None:
        """Bring a record to ``game``, as shown after ``step``; None: it is gone."""
        id = step.id
        record = self._records.get(id)
        touched = list(record.players.values()) if record is not None else []
        if isinstance(step, NewGame):
            record = self._records[id] = self._open_record(step.game)
            record.begin()
        elif record is None:
            return  # given up
        elif game is None:
            self._close_record(record)
            self._renew_standings(touched)
            return
        else:
            record.follow(game, self._standings.find_players(id, game.headers))
        self._outbox.changes += record.take_changes()
        self._renew_standings([*touched, *record.players.values()])

    def _open_record(
        self, game: Game, archived: ArchivedValues | None = None
    ) -> GameRecord:
        return GameRecord(
            game,
            self._standings.find_players(game.id, game.headers),
            measure=self.measure,
            field=lambda: self._standings.field,
            outbox=self._outbox,
            engine_scores=self._engine_scores,
            archived=archived,
        )

    def _close_record(self, record: GameRecord) -> None:
        record.close()
        del self._records[record.game.id]
        self._outbox.changes.append(GoneMessage(record.game.id))

    def remove(self, id: GameId) -> None:
        """Stop showing and counting a game, though its sources go on with it."""
        self._apply_shown(self._shared.remove_game(id))

    def restore_removed(self, id: GameId) -> None:
        """Show and count a removed game again."""
        self._apply_shown(self._shared.restore_removed(id))

    def forget(self, id: GameId) -> list[Game]:
        """Forget an old game, and what is pooled of its players from it.

        Return it as each source has it that carries it.
        """
        if id not in self.index:
            return []
        first = self._shared.shown_id(id)
        games = [self.index[each] for each in self._shared.member_ids(first)]
        for game in games:
            self.index.apply(GameGone(game.id))
        # At once: else it would be shown for a moment with fewer and fewer sources.
        self._apply_shown(self._shared.retire_game(first))
        return games

    # --- answers ----------------------------------------------------------------------

    def apply_result(
        self,
        request_id: RequestId,
        result: SearchResult | SearchFailure,
        *,
        rate: bool = True,
    ) -> None:
        """Apply the result of a search; of a request no longer open it changes nothing.

        Without ``rate`` the standings wait for :meth:`rate`, or for another change: one
        answer can serve a thousand games.
        """
        self._apply_answer(
            request_id.game,
            lambda record: record.apply_result(request_id, result),
            rate,
        )

    def apply_answer(
        self, request: HumanRequest, answer: HumanAnswer | None, *, rate: bool = True
    ) -> None:
        """Apply an answer of the network of human moves; None: it will never answer.

        A question no longer open changes nothing. ``rate`` as in :meth:`apply_result`.
        """
        self._apply_answer(
            request.game, lambda record: record.apply_answer(request, answer), rate
        )

    def apply_progress(self, request_id: RequestId, progress: SearchProgress) -> None:
        """Show how deep a search is, as provisional; it enters no figure."""
        self._apply_answer(
            request_id.game,
            lambda record: record.apply_progress(request_id, progress),
            True,
        )

    def _apply_answer(
        self, id: GameId, apply: Callable[[GameRecord], None], rate: bool
    ) -> None:
        record = self._records.get(id)
        if record is None:
            return
        with self._give_up_on_error(id):
            apply(record)
            self._outbox.changes += record.take_changes()
            players = record.players.values()
            if rate:
                self._renew_standings(players)
            elif any(player.changed for player in players):
                self._unrated[id] = None

    @property
    def has_unrated(self) -> bool:
        """Whether answers wait for :meth:`rate`; it comes before any other change."""
        return bool(self._unrated)

    def rate(self) -> None:
        """Renew the standings by all answers that wait for it."""
        waiting, self._unrated = self._unrated, {}
        self._rate_games(list(waiting))

    def _rate_games(self, games: Sequence[GameId]) -> None:
        if not games:
            return
        touched: list[PlayerTotals] = []
        for id in games:
            touched += self._records[id].players.values()
        try:
            self._renew_standings(touched)
        except Exception:
            # Broad as in :meth:`_give_up_on_error`. Of several games it is unknown
            # which one fails; what was found of the others is kept.
            if len(games) == 1:
                self._give_up(games[0])
                return
            log.exception(
                "rating of %d games fails; each is tried by itself", len(games)
            )
            self._send()
            for game in games:
                self._rate_games([game])
        else:
            self._send()

    # --- models and health ------------------------------------------------------------

    def measure_by(self, models: Models) -> Generator[None, None, None]:
        """Rate every game by other models; yield after each, so that others have their
        turn. Games reported meanwhile are rated by them at once.
        """
        self.rate()
        self.measure = self.measure._replace(models=models)
        self._standings.measure_by(self.measure)
        self._send()
        yield
        for record in list(self._records.values()):
            # One that went meanwhile, and came back, is another record.
            if self._records.get(record.game.id) is record:
                self._renew_standings(self._rerate(record))
                self._send()
                yield

    def update_feed_health(self, health: FeedHealth) -> None:
        """Show how a feed is doing."""
        if health.part and health.state == "live":
            # A part is listed only while it is in trouble.
            if self._feeds.pop(health.feed, None) is None:
                return
        elif self._feeds.get(health.feed) == health:
            return
        else:
            self._feeds[health.feed] = health
        self._publish((HealthMessage(self.feeds(), self._engines),))

    def update_engine_health(self, health: EngineHealth) -> None:
        """Show the engines' figures."""
        if health != self._engines:
            self._engines = health
            self._publish((HealthMessage(self.feeds(), health),))

    # --- archive ----------------------------------------------------------------------

    def archive(self, id: GameId) -> ArchivedValues | None:
        """Return a game as values that can be kept.

        None while searches of it are open, and for a game that rests already or is not
        held. Nor for one that several sources carry: it would come back as if its first
        source had reported all of it.
        """
        record = self._records.get(id)
        if record is None or record.archived or record.pending or record.game.also:
            return None
        return record.archive()

    def rest(self, values: ArchivedValues) -> None:
        """Let a game that is over rest as these values, the last that :meth:`archive`
        returned of it, at a tenth of its size. A game whose figures rest on the field,
        which moves, is followed on.
        """
        game = values.game
        if game.result != "*" and not needs_field(game):
            self._records[game.id].rest(values)

    def resume(self, archived: Sequence[ArchivedValues]) -> Generator[None, None, None]:
        """Hold archived games of an earlier start again, all at rest.

        Yield where others may have a turn; nothing may be shown until it is over.
        """
        ids = [values.game.id for values in archived]
        touched: dict[str, PlayerTotals] = {}
        for values in archived:
            game = values.game
            self.index.apply(NewGame(game))
            record = self._records[game.id] = self._open_record(game, values)
            touched |= {player.key: player for player in record.players.values()}
            yield
        yield from self._standings.rate_in_pieces(touched.values())
        field = self._standings.field
        for values in archived:
            if needs_field(values.game) and values.field != field:
                self._standings.rate(self._rerate(self._records[values.game.id]))
                yield
        self._outbox.changes[:0] = [GameMessage(self._records[id].view) for id in ids]
        for id in ids:
            self.index.mark_restored(id)
        self._send()
        self._apply_shown(self._shared.merge_restored(ids))

    # --- what follows from a change ---------------------------------------------------

    def _rerate(self, record: GameRecord) -> list[PlayerTotals]:
        """Rate a game by what measures now; return its players."""
        record.measure_by(self.measure)
        self._outbox.changes += record.take_changes()
        return list(record.players.values())

    def _renew_standings(self, touched: Iterable[PlayerTotals]) -> None:
        """Renew the figures of these players, and all that rests on the field."""
        field = self._standings.field
        self._standings.rate(touched)
        if self._standings.field == field:
            return
        # Players without a rating are taken to be of the field.
        players: list[PlayerTotals] = []
        for record in self._records.values():
            if needs_field(record.game):
                players += self._rerate(record)
        self._standings.rate(players)

    @contextmanager
    def _give_up_on_error(self, id: GameId) -> Iterator[None]:
        """Send what follows from the block; if the block fails, give up the game."""
        try:
            yield
        except Exception:
            # Broad: all rules of ratings lie behind this, and a hostile game that
            # breaks one must not cost the other games anything.
            self._give_up(id)
        else:
            self._send()

    def _give_up(self, id: GameId) -> None:
        """Within an except clause: take the game away, and report it in the log and to
        people.
        """
        log.exception("game %s is given up", id)
        # What the failed call had collected is not sent.
        self._outbox.clear()
        self._unrated.pop(id, None)
        record = self._records.get(id)
        if record is not None:
            self._close_record(record)
            self._renew_standings(record.players.values())
        self._send()
        why = "given up after a fault in our own code; the log says where"
        self.update_feed_health(part_health(f"{GAME_PART}{id}", "failed", why))

    def _send(self) -> None:
        sent = self._outbox.take()
        for request_id in sent.dropped:
            self._searches.drop(request_id)
        for request in sent.requests:
            self._searches.submit(request.search, request.id, request.urgency)
        if sent.changes:
            self._publish([self._mark_change(change) for change in sent.changes])
        if self._ask is not None:
            for question in sent.questions:
                self._ask(question)

    def _send_header(self, id: GameId) -> None:
        """Send the header of a game again, with the mark of what was restored."""
        record = self._records.get(self._shared.shown_id(id))
        if record is not None:
            self._publish((GameMessage(self._mark_restored(record.view)),))

    def _mark_change(self, change: EventChange) -> EventChange:
        if isinstance(change, GameMessage):
            return GameMessage(self._mark_restored(change.game))
        return change

    def _mark_restored(self, view: View) -> View:
        """Mark a game that none of its sources has reported since the start."""
        for id in self._shared.member_ids(view.id):
            if not self.index.is_restored(id):
                return view
        return msgspec.structs.replace(view, restored=True)

    # --- what is held -----------------------------------------------------------------

    def engine(self) -> EngineInfo:
        """Return who measures, and how strong it counts now."""
        return self._standings.engine

    def gain(self) -> GainKind:
        """Return which gain feeds the curves."""
        return self.measure.gain

    @property
    def is_analysed(self) -> bool:
        """Whether no search is outstanding."""
        pending = (record.pending for record in self._records.values())
        return not self._unrated and not any(pending)

    @property
    def is_rated(self) -> bool:
        """Whether the figures of every game rest on all its moves."""
        records = self._records.values()
        return not self._unrated and all(record.is_rated for record in records)

    def list_source_games(self) -> Iterable[Game]:
        """Return every game as its source reports it, in the order they appeared."""
        return iter(self.index)

    def games(self) -> Iterable[GameView]:
        """Return every game without plies and curves, in the order they appeared."""
        return (self._mark_restored(record.view) for record in self._records.values())

    def list_records(self) -> Iterable[GameRecord]:
        """Return the record of every game, in the order they appeared."""
        return self._records.values()

    def find_record(self, id: GameId) -> GameRecord | None:
        """Return the record of one game; read it and change nothing."""
        return self._records.get(id)

    def game(self, id: GameId) -> GameDetail | None:
        """Return one game in full."""
        record = self._records.get(id)
        if record is None:
            return None
        return self._mark_restored(record.build_detail())

    def find_human_shares(
        self, id: GameId, moves: Sequence[str]
    ) -> Mapping[str, float]:
        """Return the share of players of the mover's rating who would play each move
        after these, by UCI; empty while it is unknown, and for moves not played.
        """
        record = self._records.get(id)
        return record.find_human_shares(moves) if record is not None else {}

    def player_ids(self, id: GameId) -> tuple[str, ...]:
        """Return ``PlayerView.id`` of both players; empty for an unknown game."""
        record = self._records.get(id)
        if record is None:
            return ()
        return tuple(player.key for player in record.players.values())

    def engine_gains(self) -> GainCounts:
        """Return the engine's own gains, which players are measured against."""
        return self.measure.engine_gains.counts

    def feeds(self) -> tuple[FeedHealth, ...]:
        return tuple(self._feeds.values())

    def find_feed_health(self, feed: FeedName) -> FeedHealth | None:
        """Return what was said last of a source; None if nothing was."""
        return self._feeds.get(feed)

    def engines(self) -> EngineHealth:
        return self._engines

    def rate_again(self, id: GameId) -> GameRater:
        """Rate a game again from what is known of it, for its trace.

        Raises:
            KeyError: the game is not held.
        """
        return self._records[id].rate_again()

    def rate_by_methods(self) -> EventMethods:
        """Return what the methods beside Ferreira's and the perceived rating say."""
        games, sides = self._judge_games()
        measure, strengths = self.measure, self._standings.rate_strengths().strengths()
        return EventMethods(
            {
                id: rate_game_by_methods(
                    judged, self._records[id].game.headers, measure
                )
                for id, judged in games.items()
            },
            {
                view.id: rate_player_by_methods(
                    sides[view.id], measure, view.elo, strengths.get(view.id)
                )
                for view in self.players()
            },
        )

    def collect_compared_moves(self) -> ComparedMoves:
        """Return every player's moves as the methods that compare players need them."""
        _, sides = self._judge_games()
        totals, event = self._standings.totals, self._standings.rate_strengths()
        players = {
            view.id: ComparisonData(view, totals[view.id].gains, sides[view.id])
            for view in self.players()
        }
        return ComparedMoves(players, event.strengths(), event.margins())

    def _judge_games(
        self,
    ) -> tuple[dict[GameId, JudgedGame], dict[str, list[JudgedSide]]]:
        """Return the moves of every game, and of every player, by id."""
        games: dict[GameId, JudgedGame] = {}
        players: dict[str, list[JudgedSide]] = defaultdict(list)
        for id, record in self._records.items():
            known = record.collect_known()
            games[id] = judged = judge_game(record.game, known, self.measure)
            for color, player in record.players.items():
                players[player.key].append(judged[color])
        return games, players


def split_into_steps(game: Game) -> Iterator[Step]:
    """Yield a game as steps of some milliseconds each: without its moves first."""
    yield NewGame(msgspec.structs.replace(game, moves=()))
    for start in range(0, len(game.moves), MOVES_A_STEP):
        moves = game.moves[start : start + MOVES_A_STEP]
        yield MovesPlayed(game.id, start + 1, moves)
