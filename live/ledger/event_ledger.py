"""The whole event: every game, every player, and the engine they are measured by.

One writer calls; nothing waits. Each call returns an :class:`OutgoingMessages` with the
searches to start and stop and the messages that bring subscribers from the state before to the
state after.

Loss policy engine → ratings: lossless, in whatever order it comes.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from live.engine.search import SearchFailure, SearchProgress, SearchResult
from live.events import (
    Color,
    EngineInfo,
    GainCounts,
    GainKind,
    GameDetail,
    GameId,
    GameMessage,
    GameView,
    GoneMessage,
    PlayerView,
    PluginFigure,
)
from live.games.game import Game, NewGame, Step
from live.games.game_index import GameIndex, arranged
from live.human.question import HumanAnswer
from live.ledger.comparisons import ComparedGame, ComparedMoves, ComparisonData
from live.ledger.game_evaluations import RequestId
from live.ledger.measure import Measure
from live.ledger.outgoing_messages import Effects, HumanRequest, OutgoingMessages
from live.ledger.players import EventStandings, PlayerTotals
from live.ledger.rate_game import GameRater, needs_field
from live.ledger.tracked_game import (
    ArchivedDetails,
    ArchivedGame,
    ArchivedValues,
    Recall,
    TrackedGame,
)
from live.ratings.ferreira import Algorithm3
from live.ratings.perceived_model import Models


class EventLedger:
    """All state of the event.

    Args:
        measure: which gain feeds the curves, and the models that fit.
        engine_name: as the engine calls itself, or where the evaluations come from.
        limit: of a search, for people.
        fixed_rating: the engine's Elo when configured; None measures it over the field.
        stored_rating: what the field's rating is drawn towards until enough moves are in.
        engine_scores: False takes the source's own ``[%eval]`` instead of searches.
    """

    def __init__(
        self,
        *,
        measure: Measure,
        engine_name: str,
        limit: str,
        fixed_rating: int | None,
        stored_rating: int,
        engine_scores: bool = True,
    ) -> None:
        # Sources that rewrite whole texts wait until one has settled, so a report is believed.
        self.index = GameIndex()
        """Every game as its source reports it; the only place that applies steps."""
        self._measure = measure
        self._engine_scores = engine_scores
        self._games: dict[GameId, TrackedGame | ArchivedGame] = {}
        # Games as last shown in full, until something of them changes: many come to look.
        self._details: dict[GameId, GameDetail] = {}
        self._pending = 0
        # Games with answers that no standing rests on yet.
        self._unrated: dict[GameId, None] = {}
        engine = EngineInfo(
            name=engine_name,
            limit=limit,
            rating=stored_rating if fixed_rating is None else fixed_rating,
            rating_source="calibration" if fixed_rating is None else "fixed",
        )
        self._outgoing = OutgoingMessages()
        self._standings = EventStandings(
            measure, engine, self._outgoing, fixed=fixed_rating is not None
        )

    @property
    def engine(self) -> EngineInfo:
        """Who measures, and how strong it counts now."""
        return self._standings.engine

    @property
    def stored_engine(self) -> EngineInfo:
        """Who measures, and how strong it counted before any game was known."""
        return self._standings.stored_engine

    @property
    def measure(self) -> Measure:
        """What everybody is measured with."""
        return self._measure

    @property
    def gain(self) -> GainKind:
        """Which gain feeds the curves."""
        return self._measure.gain

    # --- news -----------------------------------------------------------------------------------

    def apply(self, step: Step) -> Effects:
        """Hold what one step of a plan says (:mod:`live.games.report_changes`), and follow it.

        Raises:
            ValueError: the step does not fit its game.
            KeyError: it is about a game that is not held.
        """
        return self.follow(step, self.index.apply(step))

    def follow(self, step: Step, game: Game | None) -> Effects:
        """What a step means for scores and ratings; ``game`` is how the index holds it now."""
        if isinstance(step, NewGame):
            return self._open(step.game)
        if step.id not in self._games:
            return Effects()  # abandoned
        held = self._games[step.id]
        touched = list(held.players.values())
        with self._changing(step.id):
            if game is None:
                held.close()
                del self._games[step.id]
                self._outgoing.changes.append(GoneMessage(step.id))
            else:
                players = self._standings.players_of(step.id, game.headers)
                self._tracked_anew(step.id).follow(game, players)
                touched += players.values()
        self._rate(touched)
        return self._outgoing.take()

    @contextmanager
    def _changing(self, id: GameId) -> Iterator[None]:
        """A game may become another one within."""
        self._details.pop(id, None)
        before = self._games[id].pending if id in self._games else 0
        yield
        self._pending += (self._games[id].pending if id in self._games else 0) - before

    def searched(
        self,
        request_id: RequestId,
        result: SearchResult | SearchFailure,
        *,
        rate: bool = True,
    ) -> Effects:
        """A search is over; the result of a request no longer open changes nothing. Without
        ``rate`` the standings wait for :meth:`rate`: one answer can serve a thousand games.
        """
        tracked = self._games.get(request_id.game)
        if isinstance(tracked, TrackedGame):
            with self._changing(request_id.game):
                tracked.searched(request_id, result)
            if self._outgoing.changes:
                self._rate_game(tracked, rate)
        return self._outgoing.take()

    def answered(
        self, request: HumanRequest, answer: HumanAnswer | None, *, rate: bool = True
    ) -> Effects:
        """The network of human moves answered, or (None) never will; a question no longer open
        changes nothing. ``rate`` as in :meth:`searched`.
        """
        tracked = self._games.get(request.game)
        if isinstance(tracked, TrackedGame):
            with self._changing(request.game):
                tracked.answered(request, answer)
            self._rate_game(tracked, rate)
        return self._outgoing.take()

    @property
    def unrated(self) -> tuple[GameId, ...]:
        """Games with answers that wait for :meth:`rate`, which is to come before any other news."""
        return tuple(self._unrated)

    def rate(self, games: Iterable[GameId]) -> Effects:
        """Renew the standings by the answers that these games got."""
        touched: list[PlayerTotals] = []
        for id in games:
            self._unrated.pop(id, None)
            touched += self._games[id].players.values()
        # What a failed call had collected was not sent.
        self._outgoing.clear()
        self._rate(touched)
        return self._outgoing.take()

    def _rate_game(self, tracked: TrackedGame, now: bool) -> None:
        if now:
            self._rate(tracked.players.values())
        elif any(player.changed for player in tracked.players.values()):
            self._unrated[tracked.game.id] = None

    def measure_by(self, models: Models) -> Iterator[Effects]:
        """Rate by other models from now on; every game anew, one with each step, so that others
        have their turn. Games reported meanwhile are rated by them at once.
        """
        self._measure = self._measure._replace(models=models)
        self._standings.measure_by(self._measure)
        yield self._outgoing.take()
        for id in list(self._games):
            if id in self._games:
                self._rate(self._rated_anew(id))
                yield self._outgoing.take()

    def _rated_anew(self, id: GameId) -> list[PlayerTotals]:
        """Rate a game by what measures now; gives those whose figures may have changed."""
        with self._changing(id):
            tracked = self._tracked_anew(id)
            tracked.measure_by(self._measure)
        return list(tracked.players.values())

    def make_anew(self, id: GameId) -> Effects:
        """Score a game again whose details can no longer be read."""
        if id in self._games:
            with self._changing(id):
                tracked = self._tracked_anew(id)
            self._rate(tracked.players.values())
        return self._outgoing.take()

    def abandon(self, id: GameId) -> Effects:
        """Forget a game that broke a rule of ours, so that it costs no other anything."""
        # What the failed call had collected was not sent.
        self._outgoing.clear()
        self._details.pop(id, None)
        self._unrated.pop(id, None)
        tracked = self._games.pop(id, None)
        if tracked is not None:
            players = list(tracked.players.values())
            tracked.close()
            self._pending = sum(each.pending for each in self._games.values())
            self._outgoing.changes.append(GoneMessage(id))
            self._rate(players)
        return self._outgoing.take()

    def progressed(self, request_id: RequestId, progress: SearchProgress) -> Effects:
        """A search deepens: shown as provisional, in no histogram."""
        tracked = self._games.get(request_id.game)
        if isinstance(tracked, TrackedGame):
            self._details.pop(request_id.game, None)
            tracked.progressed(request_id, progress)
        return self._outgoing.take()

    def plugin_figure(self, player: str, name: str, figure: PluginFigure | None) -> Effects:
        """A plugin says something of a player; nothing where there is no such player."""
        self._standings.plugin_figure(player, name, figure)
        return self._outgoing.take()

    def _open(self, game: Game) -> Effects:
        tracked = self._tracked(game, self._standings.players_of(game.id, game.headers))
        with self._changing(game.id):
            self._games[game.id] = tracked
            tracked.begin()
        self._rate(tracked.players.values())
        return self._outgoing.take()

    def _tracked(self, game: Game, players: dict[Color, PlayerTotals]) -> TrackedGame:
        return TrackedGame(
            game,
            players,
            measure=self._measure,
            field=lambda: self._standings.field,
            outgoing=self._outgoing,
            engine_scores=self._engine_scores,
        )

    # --- archive --------------------------------------------------------------------------------

    def archive(self, id: GameId) -> tuple[ArchivedValues, ArchivedDetails] | None:
        """A game as values that can be kept; None while searches of it are open, and for one that
        is archived already or not held. Nor is one that several sources carry: it would come back
        as if its first source had reported all of it.
        """
        game = self._games.get(id)
        if not isinstance(game, TrackedGame) or game.pending or game.game.also:
            return None
        return game.archive()

    def arrange(self, order: Sequence[GameId]) -> None:
        """Count the games as having appeared in this order."""
        self._games = arranged(self._games, order)

    def resume(
        self, archived: Iterable[ArchivedValues], recall: Recall
    ) -> Generator[None, None, Effects]:
        """Hold games again that were kept, all archived; ``recall`` gives their details. Yields
        where others may have a turn, and nothing of it is to be shown.
        """
        resumed = []
        for values in archived:
            self.index.apply(NewGame(values.game))
            players = self._standings.players_of(values.game.id, values.game.headers)
            held = self._games[values.game.id] = ArchivedGame(values, players, recall)
            held.enter()
            resumed.append(values.game.id)
            yield
        touched = {
            player.key: player for id in resumed for player in self._games[id].players.values()
        }
        yield from self._standings.rate_in_pieces(touched.values())
        field = self._standings.field
        for id in resumed:
            held_now = self._games[id]
            if (
                isinstance(held_now, ArchivedGame)
                and needs_field(held_now.game)
                and held_now.values.field != field
            ):
                self._standings.rate(self._rated_anew(id))
                yield
        self._outgoing.changes[:0] = [GameMessage(self._games[id].view()) for id in resumed]
        return self._outgoing.take()

    def _tracked_anew(self, id: GameId) -> TrackedGame:
        """The game, tracked. Searched again where its details can no longer be read."""
        held = self._games[id]
        if isinstance(held, TrackedGame):
            return held
        details = held.details()
        if details is None:
            held.close()
        tracked = self._games[id] = self._tracked(held.game, held.players)
        if details is None:
            tracked.begin()
        else:
            tracked.resume(details, held.view())
        return tracked

    def _rate(self, touched: Iterable[PlayerTotals]) -> None:
        field = self._standings.field
        self._standings.rate(touched)
        if self._standings.field == field:
            return
        # Players without a rating are taken to be of the field.
        of_field = [id for id, held in self._games.items() if needs_field(held.game)]
        self._standings.rate([player for id in of_field for player in self._rated_anew(id)])

    # --- what is held ---------------------------------------------------------------------------

    @property
    def pending(self) -> int:
        """Open requests of all games."""
        return self._pending

    @property
    def rated(self) -> bool:
        """Whether the figures of every game rest on all its moves."""
        return all(tracked.rated for tracked in self._games.values())

    def games(self) -> Iterator[GameView]:
        """Every game without plies and curves, in the order they appeared."""
        return (tracked.view() for tracked in self._games.values())

    def game(self, id: GameId) -> GameDetail | None:
        """One game in full."""
        detail = self._details.get(id)
        if detail is None and (tracked := self._games.get(id)) is not None:
            detail = self._details[id] = tracked.detail()
        return detail

    def answers(self, id: GameId) -> tuple[HumanAnswer | None, ...]:
        """What people would play in each position of a game, as far as that is known."""
        return self._games[id].answers()

    def people(self, id: GameId, moves: Sequence[str]) -> Mapping[str, float]:
        """How many players of the mover's rating would play each move after these, by UCI; empty
        while that is not known, and for moves that the game has not come to.
        """
        held = self._games.get(id)
        return held.people(moves) if isinstance(held, TrackedGame) else {}

    def player_ids(self, id: GameId) -> tuple[str, ...]:
        """``PlayerView.id`` of those who play in the game; empty for an unknown one."""
        tracked = self._games.get(id)
        return tuple(player.key for player in tracked.players.values()) if tracked else ()

    def study(self) -> ComparedMoves:
        """Every player's moves as the methods that compare players need them; made afresh."""
        games: dict[str, list[ComparedGame]] = {}
        for held in self._games.values():
            white_begins = " w " in held.game.start_fen
            for color, player in held.players.items():
                odd = white_begins == (color == "white")
                own = tuple(move for move in held.moves if (move.ply % 2 == 1) == odd)
                games.setdefault(player.key, []).append(ComparedGame(color, own))
        totals = self._standings.totals()
        return ComparedMoves(
            (
                ComparisonData(view, totals[view.id].histogram, games.get(view.id, ()))
                for view in self.players()
            ),
            self._standings.strengths(),
        )

    def compared_players(self) -> tuple[PlayerView, ...]:
        """:meth:`players`, with what Algorithm 2 says of them; made afresh."""
        return self._standings.compared()

    def rated_again(self, id: GameId) -> GameRater:
        """A game rated once more from what is known of it, for its trace. Raises KeyError for a
        game not held.
        """
        return self._tracked_anew(id).rated_again()

    def engine_strength(self) -> Algorithm3:
        """Algorithm 3 over the players of the event, rows by player id (Ferreira 2012, Table 4)."""
        return self._standings.engine_strength()

    def players(self) -> tuple[PlayerView, ...]:
        """Every player, in the order they appeared."""
        return self._standings.players()

    def gains(self, player: str) -> GainCounts:
        """A player's gains over the event, by ``PlayerView.id``; empty for an unknown one."""
        return self._standings.gains(player)

    @property
    def engine_gains(self) -> GainCounts:
        """The engine's own, which players are measured against."""
        return self._measure.engine_gains.counts
