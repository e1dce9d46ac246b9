"""The whole event: every game, every player, and the engine they are measured by.

One writer calls; nothing waits. Each call returns an :class:`OutgoingMessages` with the
searches to start and stop and the messages that bring subscribers from the state before to the
state after.

Loss policy engine → ratings: lossless, applied in ply order per game.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

import msgspec

from live.engine.search import SearchFailure, SearchProgress, SearchResult
from live.events import (
    Color,
    Curves,
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
from live.games.game import Game
from live.games.game_index import GameIndex, arranged
from live.games.game_steps import (
    ClocksCorrected,
    EvalsChanged,
    HeadersChanged,
    MovesPlayed,
    NewGame,
    ResultChanged,
    Step,
    TailReplaced,
    TakenBack,
)
from live.human.question import HumanAnswer
from live.ledger.calibrations_in_use import CalibrationsInUse
from live.ledger.game.archived_game import ArchivedDetails, ArchivedGame, ArchivedValues, Recall
from live.ledger.game.game_evaluations import RequestId
from live.ledger.game.tracked_game import TrackedGame
from live.ledger.methods.comparison_data import ComparedMoves
from live.ledger.outgoing_messages import Effects, HumanRequest, OutgoingMessages, rated
from live.ledger.players.player_totals import PlayerTotals
from live.ledger.players.standings import EventStandings
from live.ratings.calibration.calibration_choice import CalibrationShelf
from live.ratings.ferreira.algorithm_3 import Algorithm3


class EventLedger:
    """All state of the event.

    Args:
        in_use: which gain feeds the curves, and the calibration that fits.
        engine_name: as the engine calls itself, or where the evaluations come from.
        limit: of a search, for people.
        fixed_rating: the engine's Elo when configured; None measures it over the field.
        stored_rating: what the field's rating is drawn towards until enough moves are in.
        engine_scores: False takes the source's own ``[%eval]`` instead of searches.
    """

    def __init__(
        self,
        *,
        in_use: CalibrationsInUse,
        engine_name: str,
        limit: str,
        fixed_rating: int | None,
        stored_rating: int,
        engine_scores: bool = True,
    ) -> None:
        # Sources that rewrite whole texts wait until one has settled, so a report is believed.
        self.index = GameIndex()
        """Every game as its source reports it; the only place that applies steps."""
        self._in_use = in_use
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
        self._outgoing = OutgoingMessages(engine.rating)
        self._standings = EventStandings(
            in_use, engine, self._outgoing, fixed=fixed_rating is not None
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
    def in_use(self) -> CalibrationsInUse:
        """What everybody is measured with."""
        return self._in_use

    @property
    def gain(self) -> GainKind:
        """Which gain feeds the curves."""
        return self._in_use.gain

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
        self._details.pop(step.id, None)
        held = self._games[step.id]
        pending = held.pending
        touched = list(held.tallies.values())
        if game is None:
            held.close()
            del self._games[step.id]
            self._pending -= pending
            self._standings.part(touched)
            self._outgoing.changes.append(GoneMessage(step.id))
        else:
            tracked = self._woken(step.id)
            tracked.game = game
            self._follow(tracked, step)
            if (now := list(tracked.tallies.values())) != touched:
                self._standings.part(touched)
                self._standings.meet(now)
                touched += now
            self._pending += tracked.pending - pending
        self._rate(touched)
        return self._outgoing.take()

    def _follow(self, tracked: TrackedGame, step: Step) -> None:
        """What a step that has been applied to the game means for its scores and curves."""
        match step:
            case MovesPlayed(moves=moves, from_ply=ply) | TailReplaced(moves=moves, from_ply=ply):
                tracked.play(ply, moves)
            case TakenBack(to_ply=ply):
                tracked.take_back(ply)
            case ClocksCorrected(clocks=clocks):
                tracked.correct_clocks(clocks)
            case EvalsChanged():
                tracked.reread_source_evals()
            case HeadersChanged(headers=headers):
                tracked.set_players(self._standings.tallies(step.id, headers))
            case ResultChanged():
                tracked.result_changed()
            case _:
                tracked.show()

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
            self._details.pop(request_id.game, None)
            pending = tracked.pending
            tracked.searched(request_id, result)
            self._pending += tracked.pending - pending
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
            self._details.pop(request.game, None)
            pending = tracked.pending
            rated_anew = tracked.answered(request, answer)
            self._pending += tracked.pending - pending
            if rated_anew:
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
            touched += self._games[id].tallies.values()
        # What a failed call had collected was not sent.
        self._outgoing.clear()
        self._rate(touched)
        return self._outgoing.take()

    def _rate_game(self, tracked: TrackedGame, now: bool) -> None:
        if now:
            self._rate(tracked.tallies.values())
        else:
            self._unrated[tracked.game.id] = None

    def recalibrate(self, shelf: CalibrationShelf) -> Iterator[Effects]:
        """Rate by other calibrations from now on; every game anew, one with each step, so that
        others have their turn. Games reported meanwhile are rated by them at once.
        """
        self._in_use = self._in_use._replace(shelf=shelf)
        self._standings.recalibrate(self._in_use)
        yield self._outgoing.take()
        for id in list(self._games):
            if id in self._games:
                self._recalibrate(id)
                yield self._outgoing.take()

    def _recalibrate(self, id: GameId) -> None:
        self._details.pop(id, None)
        pending = self._games[id].pending
        tracked = self._woken(id)
        tracked.recalibrate(self._in_use)
        self._pending += tracked.pending - pending
        self._rate(tracked.tallies.values())

    def make_anew(self, id: GameId) -> Effects:
        """Score a game again whose details can no longer be read."""
        if id in self._games:
            self._details.pop(id, None)
            pending = self._games[id].pending
            tracked = self._woken(id)
            self._pending += tracked.pending - pending
            self._rate(tracked.tallies.values())
        return self._outgoing.take()

    def abandon(self, id: GameId) -> Effects:
        """Forget a game that broke a rule of ours, so that it costs no other anything."""
        # What the failed call had collected was not sent.
        self._outgoing.clear()
        self._details.pop(id, None)
        self._unrated.pop(id, None)
        tracked = self._games.pop(id, None)
        if tracked is not None:
            tallies = list(tracked.tallies.values())
            tracked.close()
            self._pending = sum(each.pending for each in self._games.values())
            self._standings.part(tallies)
            self._outgoing.changes.append(GoneMessage(id))
            self._rate(tallies)
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
        tracked = self._tracked(game, self._standings.tallies(game.id, game.headers))
        self._games[game.id] = tracked
        self._standings.meet(tracked.tallies.values())
        tracked.begin()
        self._pending += tracked.pending
        self._rate(tracked.tallies.values())
        return self._outgoing.take()

    def _tracked(self, game: Game, tallies: dict[Color, PlayerTotals]) -> TrackedGame:
        in_use, priors = self._in_use, self._standings.priors
        return TrackedGame(
            game,
            tallies,
            in_use=in_use,
            priors=priors,
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
            resumed.append(self._asleep(values, recall))
            yield
        for game in resumed:
            game.enter()
            yield
        # Later than all gains: who has none yet is compared at no cost.
        for game in resumed:
            self._standings.meet(game.tallies.values())
            yield
        touched = {tally.key: tally for game in resumed for tally in game.tallies.values()}
        yield from self._standings.rate_in_pieces(touched.values())
        for game in resumed:
            game.rank()
            yield
        ranked = [tally for tally in touched.values() if tally.changed]
        yield from self._standings.rate_in_pieces(ranked)
        self._outgoing.changes.extend(GameMessage(game.view()) for game in resumed)
        return self._outgoing.take()

    def _asleep(self, values: ArchivedValues, recall: Recall) -> ArchivedGame:
        self.index.apply(NewGame(values.game))
        tallies = self._standings.tallies(values.game.id, values.game.headers)
        priors = self._standings.priors
        asleep = ArchivedGame(values, tallies, self._in_use, priors, recall, self._outgoing)
        self._games[values.game.id] = asleep
        return asleep

    def _woken(self, id: GameId) -> TrackedGame:
        """The game, awake. Searched again where its details can no longer be read."""
        held = self._games[id]
        if isinstance(held, TrackedGame):
            return held
        details = held.details()
        if details is None:
            held.close()
        tracked = self._games[id] = self._tracked(held.game, held.tallies)
        if details is None:
            tracked.begin()
        else:
            tracked.resume(details, held.view())
        return tracked

    def _rate(self, touched: Iterable[PlayerTotals]) -> None:
        moved = self._standings.rate(touched)
        if moved:
            self._details.clear()
        if moved == "field":
            for tracked in self._games.values():
                tracked.reread()
            # Percentiles against players without a rating go by the field too.
            self._standings.rate(
                tally for tracked in self._games.values() for tally in tracked.tallies.values()
            )

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
            detail = self._details[id] = self._rated(tracked.detail())
        return detail

    def _rated(self, detail: GameDetail) -> GameDetail:
        rating = self.engine.rating
        curves = Curves(
            white=tuple(rated(point, rating) for point in detail.curves.white),
            black=tuple(rated(point, rating) for point in detail.curves.black),
        )
        return msgspec.structs.replace(detail, curves=curves)

    def answers(self, id: GameId) -> tuple[HumanAnswer | None, ...]:
        """What people would play in each position of a game, as far as that is known."""
        held = self._games[id]
        if isinstance(held, TrackedGame):
            return held.answers()
        details = held.details()
        return details.human if details is not None else ()

    def people(self, id: GameId, moves: Sequence[str]) -> Mapping[str, float]:
        """How many players of the mover's rating would play each move after these, by UCI; empty
        while that is not known, and for moves that the game has not come to.
        """
        held = self._games.get(id)
        return held.people(moves) if isinstance(held, TrackedGame) else {}

    def player_ids(self, id: GameId) -> tuple[str, ...]:
        """``PlayerView.id`` of those who play in the game; empty for an unknown one."""
        tracked = self._games.get(id)
        return tuple(tally.key for tally in tracked.tallies.values()) if tracked else ()

    def study(self) -> ComparedMoves:
        """Every player's moves as the methods that compare players need them; made afresh."""
        return self._standings.study()

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
        return self._in_use.engine_gains.counts
