"""The whole event: every game, every player, and the engine they are measured by.

One writer calls; nothing waits. Each call returns an :class:`~live.ledger.outbox.Outbox` with the
searches to start and stop and the messages that bring subscribers from the state before to the
state after.

Loss policy engine → ratings: lossless, applied in ply order per game.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from live.engine.search import Progress, SearchFailure, SearchResult
from live.events import (
    EngineInfo,
    GainKind,
    GameDetail,
    GameId,
    GameView,
    GoneMessage,
    PlayerView,
)
from live.games.game import Game
from live.games.steps import (
    ClocksCorrected,
    EvalsChanged,
    GameGone,
    HeadersChanged,
    MovesPlayed,
    NewGame,
    ResultChanged,
    Step,
    TailReplaced,
    TakenBack,
    applied,
)
from live.ledger.evaluations import Ask
from live.ledger.evidence import Study
from live.ledger.measure import Measure
from live.ledger.outbox import Outbox
from live.ledger.players import PlayerTally
from live.ledger.standings import Standings
from live.ledger.tracked import TrackedGame
from live.ratings.engine_strength import EngineStrength


class EventLedger:
    """All state of the event.

    Args:
        measure: which gain feeds the curves, and the calibration that fits.
        engine_name: as the engine calls itself, or where the evaluations come from.
        limit: of a search, for people.
        fixed_rating: the engine's Elo when configured; None measures it over the field.
        stored_rating: what the field's rating is drawn towards until enough moves are in.
        engine_scores: False takes the source's own ``[%eval]`` instead of asking an engine.
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
        self._measure = measure
        self._engine_scores = engine_scores
        self._games: dict[GameId, TrackedGame] = {}
        # Games as last shown in full, until something of them changes: many come to look.
        self._details: dict[GameId, GameDetail] = {}
        self._pending = 0
        calibrations = measure.shelf.calibrations
        engine = EngineInfo(
            name=engine_name,
            limit=limit,
            rating=stored_rating if fixed_rating is None else fixed_rating,
            rating_source="calibration" if fixed_rating is None else "fixed",
            calibration=calibrations[0].name if calibrations else None,
            calibration_note=measure.shelf.note,
        )
        self._standings = Standings(measure, engine, fixed=fixed_rating is not None)

    @property
    def engine(self) -> EngineInfo:
        """Who measures, and how strong it counts now."""
        return self._standings.engine

    @property
    def gain(self) -> GainKind:
        """Which gain feeds the curves."""
        return self._measure.gain

    # --- news -----------------------------------------------------------------------------------

    def apply(self, step: Step) -> Outbox:
        """One step of a plan; see :mod:`live.games.plan`."""
        out = Outbox()
        if isinstance(step, NewGame):
            return self._open(step.game, out)
        if step.id not in self._games:
            return out  # abandoned
        tracked = self._games[step.id]
        self._details.pop(step.id, None)
        pending = tracked.pending
        touched = list(tracked.tallies.values())
        if isinstance(step, GameGone):
            tracked.close(out)
            del self._games[step.id]
            self._standings.part(touched)
            out.changes.append(GoneMessage(step.id))
        else:
            tracked.game = applied(tracked.game, step)
            self._follow(tracked, step, out)
            if (now := list(tracked.tallies.values())) != touched:
                self._standings.part(touched)
                self._standings.meet(now)
                touched += now
        self._pending += tracked.pending - pending
        self._rate(touched, out)
        return out

    def _follow(self, tracked: TrackedGame, step: Step, out: Outbox) -> None:
        """What a step that has been applied to the game means for its scores and curves."""
        rating = self.engine.rating
        match step:
            case MovesPlayed(moves=moves, from_ply=ply) | TailReplaced(moves=moves, from_ply=ply):
                tracked.play(ply, moves, out, rating)
            case TakenBack(to_ply=ply):
                tracked.take_back(ply, out, rating)
            case ClocksCorrected(clocks=clocks):
                tracked.correct_clocks(clocks, out, rating)
            case EvalsChanged():
                tracked.reread_source_evals(out, rating)
            case HeadersChanged(headers=headers):
                tracked.reseat(self._standings.tallies(step.id, headers), out, rating)
            case ResultChanged():
                tracked.hurry(out)
            case _:
                tracked.show(out)

    def searched(self, ask: Ask, answer: SearchResult | SearchFailure) -> Outbox:
        """An engine answered; an answer to a question no longer asked changes nothing."""
        out = Outbox()
        tracked = self._games.get(ask.game)
        if tracked is not None:
            self._details.pop(ask.game, None)
            pending = tracked.pending
            tracked.searched(ask, answer, out, self.engine.rating)
            self._pending += tracked.pending - pending
            if out.changes:
                self._rate(tracked.tallies.values(), out)
        return out

    def abandon(self, id: GameId) -> Outbox:
        """Forget a game that broke a rule of ours, so that it costs no other anything."""
        out = Outbox()
        self._details.pop(id, None)
        tracked = self._games.pop(id, None)
        if tracked is not None:
            tallies = list(tracked.tallies.values())
            tracked.close(out)
            self._pending = sum(each.pending for each in self._games.values())
            self._standings.part(tallies)
            out.changes.append(GoneMessage(id))
            self._rate(tallies, out)
        return out

    def progressed(self, ask: Ask, progress: Progress) -> Outbox:
        """A search deepens: shown as provisional, in no histogram."""
        out = Outbox()
        if (tracked := self._games.get(ask.game)) is not None:
            self._details.pop(ask.game, None)
            tracked.progressed(ask, progress, out)
        return out

    def _open(self, game: Game, out: Outbox) -> Outbox:
        tracked = TrackedGame(
            game,
            self._standings.tallies(game.id, game.headers),
            measure=self._measure,
            priors=self._standings.priors,
            engine_scores=self._engine_scores,
        )
        self._games[game.id] = tracked
        self._standings.meet(tracked.tallies.values())
        tracked.begin(out, self.engine.rating)
        self._pending += tracked.pending
        self._rate(tracked.tallies.values(), out)
        return out

    def _rate(self, touched: Iterable[PlayerTally], out: Outbox) -> None:
        moved = self._standings.rate(touched, out)
        if moved:
            self._details.clear()
        if moved == "field":
            for tracked in self._games.values():
                tracked.reread(out, self.engine.rating)

    # --- what is held ---------------------------------------------------------------------------

    @property
    def pending(self) -> int:
        """Searches asked for and not yet answered, over all games."""
        return self._pending

    def games(self) -> Iterator[GameView]:
        """Every game without plies and curves, in the order they appeared."""
        return (tracked.view() for tracked in self._games.values())

    def game(self, id: GameId) -> GameDetail | None:
        """One game in full."""
        detail = self._details.get(id)
        if detail is None and (tracked := self._games.get(id)) is not None:
            detail = self._details[id] = tracked.detail(self.engine.rating)
        return detail

    def player_ids(self, id: GameId) -> tuple[str, ...]:
        """``PlayerView.id`` of those who play in the game; empty for an unknown one."""
        tracked = self._games.get(id)
        return tuple(tally.key for tally in tracked.tallies.values()) if tracked else ()

    def study(self) -> Study:
        """Every player's moves as the methods that compare players need them; made afresh."""
        return self._standings.study()

    def engine_strength(self) -> EngineStrength:
        """Algorithm 3 over the players of the event, rows by player id (Ferreira 2012, Table 4)."""
        return self._standings.engine_strength()

    def players(self) -> tuple[PlayerView, ...]:
        """Every player, in the order they appeared."""
        return self._standings.players()
