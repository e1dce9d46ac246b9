"""The whole event: every game, every player, and the engine's rating. Pure.

It is called only on the event loop, and no call blocks. There is one method for each
kind of input. A report is applied step by step (``apply_report``); a result or answer
is applied at once (``apply_result``, ``apply_answer``). Each method returns the
resulting changes in order: messages to subscribers, requests for searches, and
questions for the neural network of human moves. The event calls no other part; its
caller passes the changes to the bus.

No result of the engine is dropped: each one is applied, in any order.
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
from typing import TypeVar

import msgspec

from live.engine.requests import RequestId
from live.engine.search import Position, SearchFailure, SearchProgress, SearchResult
from live.event.comparisons import ComparedMoves, ComparisonData
from live.event.game_change import EventChange, ReportedStep
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
from live.games.game import (
    Game,
    GameConfirmed,
    NewGame,
    Step,
    side_to_play,
)
from live.games.game_index import GameIndex, sort_by_order
from live.games.player_lists import PlayerLists
from live.games.shared_games import SharedGames, Shown
from live.human.question import HumanAnswer, HumanRequest
from live.messages.alerts import Alert
from live.messages.figures import EngineInfo, GainCounts, GainKind, GameDetail, GameView
from live.messages.from_sources import FeedReport, GameReport, Player
from live.messages.health import GAME_PART, EngineHealth, FeedHealth, part_health
from live.messages.moments import Moment
from live.messages.to_clients import (
    GameMessage,
    GoneMessage,
    HealthMessage,
)
from live.messages.values import FeedName, GameId
from live.ratings.intrinsic_rating import predict_choices
from live.ratings.model_choice import Models

log = logging.getLogger(__name__)

View = TypeVar("View", bound=GameView)


class Event:
    """All games, standings and health reports. Applies every change of the state, in
    order.

    Args:
        measure: the definitions and models with which games are rated.
        engine: the engine that scores the games. A rating that is not ``fixed`` is
            only a starting value, and is replaced gradually by the rating measured over
            the games.
        engine_scores: False uses the source's ``[%eval]`` comments instead of searches.
    """

    def __init__(
        self,
        measure: Measure,
        *,
        engine: EngineInfo = EngineInfo("none", "none", 2160, "calibration"),  # noqa: B008 - frozen
        engine_scores: bool = True,
    ) -> None:
        self.alerts: Callable[[], Sequence[Alert]] = tuple
        """Return the open alerts. The part of the service that raises
        alerts sets this.
        """
        self.moments: Callable[[], Sequence[Moment]] = tuple
        """Return the notable moments. The part of the service that finds moments sets
        this.
        """
        self.lists = PlayerLists(None, None)
        """Lists of players, with which every report is completed. The caller sets them
        before the first report.
        """
        self.index = GameIndex()
        """Every game as its source reports it."""
        self._shared = shared = SharedGames(self.index)
        self.get_shown_game = shared.get
        """Return a game as screens show it, or as its source reports it if no screen
        shows it.
        """
        self.list_source_ids = shared.member_ids
        """Return the ids of a shown game in its sources. The last one is its id on
        screens.
        """
        self.removed_ids = shared.removed_ids
        """Return the ids of the removed games, in the order of their removal."""
        self._feeds: dict[str, FeedHealth] = {}
        self._engines = EngineHealth()
        self.measure = measure
        """The definitions, models and search options with which every game is rated."""
        self._engine_scores = engine_scores
        self._records: dict[GameId, GameRecord] = {}
        # Games with new answers that the standings do not include yet.
        self._unrated: dict[GameId, None] = {}
        # The changes of the call in progress. Those that are not committed are dropped
        # if the work on a game fails.
        self._committed: list[EventChange] = []
        self._uncommitted: list[EventChange] = []
        self._standings = standings = EventStandings(
            measure, engine, self._uncommitted.append
        )
        self.players, self.gains = standings.players, standings.gains
        self.stored_engine = standings.stored_engine
        """The engine with its rating before any game was known."""
        self.rate_engine = standings.rate_engine

    def find_mover_elo(self, game: GameId, ply: int) -> int | None:
        """Return the Elo of the player who makes a ply of a game; None if it is
        unknown.
        """
        played = self.get_shown_game(game)
        if played is None:
            return None
        player: Player = getattr(played.headers, side_to_play(played.start_fen, ply))
        return player.elo

    def predict_choices(
        self, game: GameId, ply: int, behind_cp: Sequence[int]
    ) -> list[float]:
        """Return the probability that the mover of a ply chooses each of several moves.

        ``behind_cp`` contains the loss of each move against the best one, centipawns.
        """
        return predict_choices(self.find_mover_elo(game, ply), behind_cp)

    # --- reports ----------------------------------------------------------------------

    def apply_report(self, report: FeedReport) -> Iterator[Sequence[EventChange]]:
        """Complete a report with the lists of players, and apply it step by step.

        Yield the changes of each step. Each step is applied when the iterator is
        advanced, and takes some milliseconds.

        Raises:
            ValueError: a step does not fit its game.
            KeyError: the game of a step is unknown.
        """
        report = self.lists.complete_report(report)
        if doubts := self.lists.doubt_text:
            detail = f"in doubt, so not used: {doubts}"
            yield self.update_feed_health(part_health("rating list", "stale", detail))
        for step, shown in self._shared.apply_report(report):
            yield [ReportedStep(step), *self._follow_step(step, shown)]

    def restore(self, game: Game) -> Iterator[Sequence[EventChange]]:
        """Restore a game of an earlier run in several steps; yield the changes of each
        step.
        """
        for step, shown in self._shared.add_game(game):
            changes = self._follow_step(step, shown)
            self.index.mark_restored(game.id)
            yield changes
        self._announce_header(game.id)
        yield self._take_changes()

    def set_order(self, order: Sequence[GameId]) -> None:
        """Set the order in which the games are listed."""
        self.index.set_order(order)
        self._records = sort_by_order(self._records, order)

    def apply_step(self, step: Step) -> Sequence[EventChange]:
        """Apply one step of a source's games; return the changes.

        If rating a game raises an error, that game is deleted, and no other game is
        affected.

        Raises:
            ValueError: the step does not fit its game.
            KeyError: the game of the step is unknown.
        """
        return self._follow_step(step, self._shared.apply_step(step))

    def _follow_step(self, step: Step, shown: Iterable[Shown]) -> Sequence[EventChange]:
        """Bring the records up to date after a step; return the changes."""
        if isinstance(step, GameConfirmed):
            self._announce_header(step.id)
        else:
            self._apply_shown(shown)
        return self._take_changes()

    def _apply_shown(self, steps: Iterable[Shown]) -> None:
        self._rate_waiting()
        for step, game in steps:
            with self._commit_or_delete_game(step.id):
                self._update_record(step, game)

    def _update_record(self, step: Step, game: Game | None) -> None:
        """Update the record of a game to ``game``, its state after ``step``.

        None for ``game`` means that the game was deleted.
        """
        id = step.id
        record = self._records.get(id)
        affected = list(record.players.values()) if record is not None else []
        if isinstance(step, NewGame):
            record = self._records[id] = self._open_record(step.game)
            record.begin()
        elif record is None:
            return  # the game was deleted after an error
        elif game is None:
            self._close_record(record)
            self._renew_standings(affected)
            return
        else:
            record.follow(game, self._standings.find_players(id, game.headers))
        self._uncommitted += record.take_changes()
        self._renew_standings([*affected, *record.players.values()])

    def _open_record(
        self, game: Game, archived: ArchivedValues | None = None
    ) -> GameRecord:
        return GameRecord(
            game,
            self._standings.find_players(game.id, game.headers),
            measure=self.measure,
            field=lambda: self._standings.field,
            collect=self._uncommitted.append,
            engine_scores=self._engine_scores,
            archived=archived,
        )

    def _close_record(self, record: GameRecord) -> None:
        record.close()
        del self._records[record.game.id]
        self._uncommitted.append(GoneMessage(record.game.id))

    def remove(self, id: GameId) -> Sequence[EventChange]:
        """Exclude a game from screens and figures, although its sources still report
        it.
        """
        self._apply_shown(self._shared.remove_game(id))
        return self._take_changes()

    def restore_removed(self, id: GameId) -> Sequence[EventChange]:
        """Include a removed game in screens and figures again."""
        self._apply_shown(self._shared.restore_removed(id))
        return self._take_changes()

    def forget(self, id: GameId) -> tuple[list[Game], Sequence[EventChange]]:
        """Remove an old game from memory, and from the figures of its players.

        Return the game as each of its sources reported it, and the changes.
        """
        if id not in self.index:
            return [], ()
        games, shown = self._shared.forget_game(self._shared.shown_id(id))
        self._apply_shown(shown)
        return games, self._take_changes()

    # --- answers ----------------------------------------------------------------------

    def apply_result(
        self,
        request_id: RequestId,
        result: SearchResult | SearchFailure,
        *,
        rate: bool = True,
    ) -> Sequence[EventChange]:
        """Apply the result of a search.

        A result for a request that is no longer open changes nothing. If ``rate`` is
        False, the standings are updated only by the next step or the next call of
        :meth:`rate`, because one answer can concern a thousand games.
        """
        return self._apply_answer(
            request_id.game,
            lambda record: record.apply_result(request_id, result),
            rate,
        )

    def apply_answer(
        self, request: HumanRequest, answer: HumanAnswer | None, *, rate: bool = True
    ) -> Sequence[EventChange]:
        """Apply an answer of the neural network of human moves.

        None means that no answer will come. An answer to a question that is no longer
        open changes nothing. ``rate`` has the same meaning as in :meth:`apply_result`.
        """
        return self._apply_answer(
            request.game, lambda record: record.apply_answer(request, answer), rate
        )

    def apply_progress(
        self, request_id: RequestId, progress: SearchProgress
    ) -> Sequence[EventChange]:
        """Show the depth and score of an unfinished search as provisional.

        Figures do not use them.
        """
        return self._apply_answer(
            request_id.game,
            lambda record: record.apply_progress(request_id, progress),
            True,
        )

    def _apply_answer(
        self, id: GameId, apply: Callable[[GameRecord], None], rate: bool
    ) -> Sequence[EventChange]:
        record = self._records.get(id)
        if record is None:
            return ()
        with self._commit_or_delete_game(id):
            apply(record)
            self._uncommitted += record.take_changes()
            players = record.players.values()
            if rate:
                self._renew_standings(players)
            elif any(player.changed for player in players):
                self._unrated[id] = None
        return self._take_changes()

    @property
    def has_unrated(self) -> bool:
        """Return whether the standings lack an answer, so that :meth:`rate` must be
        called.

        Every step also adds the missing answers.
        """
        return bool(self._unrated)

    def rate(self) -> Sequence[EventChange]:
        """Update the standings with all answers that they lack; return the changes."""
        self._rate_waiting()
        return self._take_changes()

    def _rate_waiting(self) -> None:
        waiting, self._unrated = self._unrated, {}
        self._rate_games(list(waiting))

    def _rate_games(self, games: Sequence[GameId]) -> None:
        if not games:
            return
        affected: list[PlayerTotals] = []
        for id in games:
            affected += self._records[id].players.values()
        try:
            self._renew_standings(affected)
        except Exception:
            # All exceptions are caught, as in :meth:`_commit_or_delete_game`. If
            # several games were rated together, it is unknown which of them failed. So
            # each game is rated alone, and the figures of the other games are
            # preserved.
            if len(games) == 1:
                self._delete_failed_game(games[0])
                return
            log.exception(
                "rating of %d games failed; each is rated separately", len(games)
            )
            self._commit()
            for game in games:
                self._rate_games([game])
        else:
            self._commit()

    # --- models and health ------------------------------------------------------------

    def measure_by(self, models: Models) -> Iterator[Sequence[EventChange]]:
        """Rate every game with other models.

        Yields the changes after each game, so that other tasks can run. Games that are
        reported in the meantime are rated with the new models at once.
        """
        self._rate_waiting()
        self.measure = self.measure._replace(models=models)
        self._standings.measure_by(self.measure)
        self._commit()
        yield self._take_changes()
        for record in list(self._records.values()):
            # A game that was deleted and reported again in the meantime has a new
            # record.
            if self._records.get(record.game.id) is record:
                self._renew_standings(self._remeasure_game(record))
                self._commit()
                yield self._take_changes()

    def update_feed_health(self, health: FeedHealth) -> Sequence[EventChange]:
        """Store the state of a feed; return the changes."""
        self._store_feed_health(health)
        return self._take_changes()

    def _store_feed_health(self, health: FeedHealth) -> None:
        if health.part and health.state == "live":
            # A part of a feed is listed only while it has a problem.
            if self._feeds.pop(health.feed, None) is None:
                return
        elif self._feeds.get(health.feed) == health:
            return
        else:
            self._feeds[health.feed] = health
        self._announce_health()

    def update_engine_health(self, health: EngineHealth) -> Sequence[EventChange]:
        """Store the health of the engines; return the changes."""
        if health != self._engines:
            self._engines = health
            self._announce_health()
        return self._take_changes()

    def _announce_health(self) -> None:
        self._uncommitted.append(HealthMessage(self.feeds(), self._engines))
        self._commit()

    # --- archive ----------------------------------------------------------------------

    def archive(self, id: GameId) -> ArchivedValues | None:
        """Return a game as values that can be stored.

        Return None if the game has open searches, is already archived, or is unknown.
        Return None also for a game that several sources report: it would be restored as
        if the first source had reported everything.
        """
        record = self._records.get(id)
        if record is None or record.archived or record.pending or record.game.also:
            return None
        return record.archive()

    def rest(self, values: ArchivedValues) -> None:
        """Replace the record of a finished game with archived values, which need a
        tenth of the memory.

        ``values`` are the last values that :meth:`archive` returned for the game. A
        game that is rated with the mean Elo of the field is not replaced, because this
        mean changes.
        """
        game = values.game
        if game.result != "*" and not needs_field(game):
            self._records[game.id].rest(values)

    def resume(
        self, archived: Sequence[ArchivedValues]
    ) -> Generator[None, None, Sequence[EventChange]]:
        """Restore archived games of an earlier run without decompressing them; return
        the changes.

        Yields where other tasks can run. Screens can show nothing before the last step.
        """
        ids = [values.game.id for values in archived]
        affected: dict[str, PlayerTotals] = {}
        for values in archived:
            game = values.game
            self.index.apply(NewGame(game))
            record = self._records[game.id] = self._open_record(game, values)
            affected |= {player.key: player for player in record.players.values()}
            yield
        yield from self._standings.rate_in_pieces(affected.values())
        field = self._standings.field
        for values in archived:
            if needs_field(values.game) and values.field != field:
                self._standings.rate(
                    self._remeasure_game(self._records[values.game.id])
                )
                yield
        self._uncommitted[:0] = [GameMessage(self._records[id].view) for id in ids]
        for id in ids:
            self.index.mark_restored(id)
        self._commit()
        self._apply_shown(self._shared.merge_restored(ids))
        return self._take_changes()

    # --- consequences of a change -----------------------------------------------------

    def _remeasure_game(self, record: GameRecord) -> list[PlayerTotals]:
        """Rate a game with the current models; return its two players."""
        record.measure_by(self.measure)
        self._uncommitted += record.take_changes()
        return list(record.players.values())

    def _renew_standings(self, affected: Iterable[PlayerTotals]) -> None:
        """Update the figures of these players, and of all games that are rated with the
        field's mean Elo if that has changed.
        """
        field = self._standings.field
        self._standings.rate(affected)
        if self._standings.field == field:
            return
        # The mean Elo of the field stands in for the rating of players without one.
        players: list[PlayerTotals] = []
        for record in self._records.values():
            if needs_field(record.game):
                players += self._remeasure_game(record)
        self._standings.rate(players)

    @contextmanager
    def _commit_or_delete_game(self, id: GameId) -> Iterator[None]:
        """Commit the changes made in the block; if the block fails, delete the game."""
        try:
            yield
        except Exception:
            # All exceptions are caught: the block runs all rating rules, and a
            # malicious game that breaks a rule must not affect other games.
            self._delete_failed_game(id)
        else:
            self._commit()

    def _delete_failed_game(self, id: GameId) -> None:
        """Delete a game after an error, and report this in the log and as a failed
        part.

        Must be called within an except clause.
        """
        log.exception("game %s is deleted after an error", id)
        # The changes collected by the failed call are incomplete, so they are dropped.
        self._uncommitted.clear()
        self._unrated.pop(id, None)
        record = self._records.get(id)
        if record is not None:
            self._close_record(record)
            self._renew_standings(record.players.values())
        self._commit()
        reason = "given up after a program fault; the log says where"
        self._store_feed_health(part_health(f"{GAME_PART}{id}", "failed", reason))

    def _commit(self) -> None:
        """Commit the changes collected so far; the call in progress returns them."""
        self._committed += map(self._mark_restored_in, self._uncommitted)
        self._uncommitted.clear()

    def _take_changes(self) -> Sequence[EventChange]:
        """Return the committed changes for the call in progress."""
        committed = self._committed
        self._committed = []
        return committed

    def _announce_header(self, id: GameId) -> None:
        """Send the header of a game again.

        The header says whether the game was restored and has not been reported since.
        """
        record = self._records.get(self._shared.shown_id(id))
        if record is not None:
            self._uncommitted.append(GameMessage(record.view))
            self._commit()

    def _mark_restored_in(self, change: EventChange) -> EventChange:
        if isinstance(change, GameMessage):
            return GameMessage(self._mark_restored(change.game))
        return change

    def _mark_restored(self, view: View) -> View:
        """Mark a game as restored if no source has reported it since the restart."""
        for id in self._shared.member_ids(view.id):
            if not self.index.is_restored(id):
                return view
        return msgspec.structs.replace(view, restored=True)

    # --- queries ----------------------------------------------------------------------

    def engine(self) -> EngineInfo:
        """Return the engine with its current rating."""
        return self._standings.engine

    def gain(self) -> GainKind:
        """Return the gain that feeds the curves."""
        return self.measure.gain

    @property
    def is_analysed(self) -> bool:
        """Return whether every requested search has a result."""
        pending = (record.pending for record in self._records.values())
        return not self._unrated and not any(pending)

    @property
    def is_rated(self) -> bool:
        """Return whether the figures of every game include all its moves."""
        records = self._records.values()
        return not self._unrated and all(record.is_rated for record in records)

    def list_source_games(self) -> Iterable[Game]:
        """Return every game as its source reports it, in the order in which games
        appeared.
        """
        return iter(self.index)

    def list_reports(self, feed: FeedName) -> list[GameReport]:
        """Return every game of a source as it was last reported."""
        return [game.to_report() for game in self.index if game.feed == feed]

    def games(self) -> Iterable[GameView]:
        """Return every game without plies and curves, in the order in which games
        appeared.
        """
        return (self._mark_restored(record.view) for record in self._records.values())

    def list_records(self) -> Iterable[GameRecord]:
        """Return the record of every game, in the order in which games appeared."""
        return self._records.values()

    def find_record(self, id: GameId) -> GameRecord | None:
        """Return the record of one game, which the caller must not change; None if
        unknown.
        """
        return self._records.get(id)

    def game(self, id: GameId) -> GameDetail | None:
        """Return one game with its plies and curves; None if the game is unknown."""
        record = self._records.get(id)
        if record is None:
            return None
        return self._mark_restored(record.build_detail())

    def find_human_shares(self, id: GameId, position: Position) -> Mapping[str, float]:
        """Return the share of players who would play each move in a position, by UCI
        move.

        The players are those of the mover's rating. Return an empty mapping while the
        shares are unknown, or if the position did not occur in the game.
        """
        record = self._records.get(id)
        return record.find_human_shares(position.moves) if record is not None else {}

    def player_ids(self, id: GameId) -> tuple[str, ...]:
        """Return ``PlayerView.id`` of White and of Black; empty for an unknown game."""
        record = self._records.get(id)
        if record is None:
            return ()
        return tuple(player.key for player in record.players.values())

    def engine_gains(self) -> GainCounts:
        """Return the engine's own gains, with which players' gains are compared."""
        return self.measure.engine_gains.counts

    def feeds(self) -> tuple[FeedHealth, ...]:
        return tuple(self._feeds.values())

    def find_feed_health(self, feed: FeedName) -> FeedHealth | None:
        """Return the last reported health of a source; None if it was never
        reported.
        """
        return self._feeds.get(feed)

    def engines(self) -> EngineHealth:
        return self._engines

    def rate_again(self, id: GameId) -> GameRater:
        """Rate a game from scratch, for an explanation of its rating.

        Raises:
            KeyError: the game is unknown.
        """
        return self._records[id].rate_again()

    def rate_by_methods(self) -> EventMethods:
        """Return the figures of :mod:`live.event.methods` for every game and player."""
        games, sides = self._judge_games()
        measure = self.measure
        strengths = self._standings.build_algorithm_2().solve_strengths()
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
        """Return every player's moves, in the form that methods for comparing players
        need.
        """
        _, sides = self._judge_games()
        totals, event = self._standings.totals, self._standings.build_algorithm_2()
        players = {
            view.id: ComparisonData(view, totals[view.id].gains, sides[view.id])
            for view in self.players()
        }
        return ComparedMoves(players, event.solve_strengths(), event.compute_margins())

    def _judge_games(
        self,
    ) -> tuple[dict[GameId, JudgedGame], dict[str, list[JudgedSide]]]:
        """Return the judged moves of every game and of every player, each by its id."""
        games: dict[GameId, JudgedGame] = {}
        players: dict[str, list[JudgedSide]] = defaultdict(list)
        for id, record in self._records.items():
            searches = record.collect_search_results()
            games[id] = judged = judge_game(record.game, searches, self.measure)
            for color, player in record.players.items():
                players[player.key].append(judged[color])
        return games, players
