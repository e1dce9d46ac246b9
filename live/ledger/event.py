"""The whole event: every game, every player, and the engine they are measured by.

One writer calls; nothing waits. Each call returns an :class:`~live.ledger.outbox.Outbox` with the
searches to start and stop and the messages that bring subscribers from the state before to the
state after.

Loss policy engine → ratings: lossless, applied in ply order per game.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from live.engine.search import Progress, SearchFailure, SearchResult
from live.events import (
    Color,
    EngineInfo,
    EngineMessage,
    GainKind,
    GameDetail,
    GameId,
    GameView,
    GoneMessage,
    Headers,
    PlayerView,
    StandingMessage,
)
from live.games.game import Game
from live.games.identity import person_key
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
from live.ledger.players import PlayerTally, rebase
from live.ledger.strengths import EventStrengths
from live.ledger.tracked import TrackedGame
from live.ratings.engine_strength import EngineStrength, MeasuredPlayer, engine_strength
from live.ratings.field import FieldRating


class EventLedger:
    """All state of the event.

    Args:
        measure: which gain feeds the curves, and the calibration that fits.
        engine_name: as the engine calls itself, or where the evaluations come from.
        limit: of a search, for people.
        fixed_rating: the engine's Elo when configured; None measures it over the field.
        stored_rating: what the field's rating is drawn towards until enough moves are in.
        calibration_note: for people, what the calibration was learned from or why none fits.
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
        calibration_note: str = "",
        engine_scores: bool = True,
    ) -> None:
        self._measure = measure
        self._engine_scores = engine_scores
        self._fixed = fixed_rating is not None
        self._field = FieldRating(stored_rating)
        self._games: dict[GameId, TrackedGame] = {}
        self._players: dict[str, PlayerTally] = {}
        self._standings: dict[str, PlayerView] = {}
        self._strengths = EventStrengths()
        self._pending = 0
        calibration = measure.weigher.calibration if measure.weigher else None
        self.engine = EngineInfo(
            name=engine_name,
            limit=limit,
            rating=stored_rating if fixed_rating is None else fixed_rating,
            rating_source="calibration" if fixed_rating is None else "fixed",
            calibration=calibration.name if calibration else None,
            calibration_note=calibration_note,
        )

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
        pending = tracked.pending
        touched = list(tracked.tallies.values())
        if isinstance(step, GameGone):
            tracked.close(out)
            del self._games[step.id]
            self._strengths.part(*(tally.key for tally in touched))
            out.changes.append(GoneMessage(step.id))
        else:
            tracked.game = applied(tracked.game, step)
            self._follow(tracked, step, out)
            if (now := list(tracked.tallies.values())) != touched:
                self._strengths.part(*(tally.key for tally in touched))
                self._strengths.meet(*(tally.key for tally in now))
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
                tracked.correct_clocks(clocks, out)
            case EvalsChanged():
                tracked.reread_source_evals(out, rating)
            case HeadersChanged(headers=headers):
                tracked.reseat(self._tallies(step.id, headers), out, rating)
            case ResultChanged():
                tracked.hurry(out)
            case _:
                tracked.show(out)

    def searched(self, ask: Ask, answer: SearchResult | SearchFailure) -> Outbox:
        """An engine answered; an answer to a question no longer asked changes nothing."""
        out = Outbox()
        tracked = self._games.get(ask.game)
        if tracked is not None:
            pending = tracked.pending
            tracked.searched(ask, answer, out, self.engine.rating)
            self._pending += tracked.pending - pending
            if out.changes:
                self._rate(tracked.tallies.values(), out)
        return out

    def abandon(self, id: GameId) -> Outbox:
        """Forget a game that broke a rule of ours, so that it costs no other anything."""
        out = Outbox()
        tracked = self._games.pop(id, None)
        if tracked is not None:
            tallies = list(tracked.tallies.values())
            tracked.close(out)
            self._pending = sum(each.pending for each in self._games.values())
            self._strengths.part(*(tally.key for tally in tallies))
            out.changes.append(GoneMessage(id))
            self._rate(tallies, out)
        return out

    def progressed(self, ask: Ask, progress: Progress) -> Outbox:
        """A search deepens: shown as provisional, in no histogram."""
        out = Outbox()
        if (tracked := self._games.get(ask.game)) is not None:
            tracked.progressed(ask, progress, out)
        return out

    def _open(self, game: Game, out: Outbox) -> Outbox:
        tracked = TrackedGame(
            game,
            self._tallies(game.id, game.headers),
            measure=self._measure,
            engine_scores=self._engine_scores,
        )
        self._games[game.id] = tracked
        self._strengths.meet(*(tally.key for tally in tracked.tallies.values()))
        tracked.begin(out, self.engine.rating)
        self._pending += tracked.pending
        self._rate(tracked.tallies.values(), out)
        return out

    def _tallies(self, id: GameId, headers: Headers) -> dict[Color, PlayerTally]:
        white, black = person_key(headers.white), person_key(headers.black)
        if white == black:
            # Nobody plays against himself: a slip of the operator, two guests, an engine's match.
            white = black = ""
        # Players whose names nobody told are not all one person.
        return {
            "white": self._tally(white or f"{id}-white"),
            "black": self._tally(black or f"{id}-black"),
        }

    def _tally(self, key: str) -> PlayerTally:
        tally = self._players.get(key)
        if tally is None:
            tally = self._players[key] = PlayerTally(key, self._measure, self._strengths)
        return tally

    # --- what follows for players and the engine ------------------------------------------------

    def _rate(self, touched: Iterable[PlayerTally], out: Outbox) -> None:
        """Renew the engine's rating, then the standings of those whose figures may have changed."""
        tallies = {tally.key: tally for tally in touched}
        for tally in tallies.values():
            self._field.update(tally.key, tally.player.elo, tally.moves, tally.expected_score)
            self._strengths.rate(tally.key, tally.player.elo if tally.games else None)
        if not self._fixed and (measured := self._measured()) != self.engine:
            if measured.rating != self.engine.rating:
                # Just what subscribers now do: the figures of those who moved follow below.
                self._standings = {
                    key: rebase(view, measured.rating) for key, view in self._standings.items()
                }
            self.engine = measured
            out.changes.append(EngineMessage(self.engine))
        for key in self._strengths.renew():
            # One move shifts others a little too; their other figures stay.
            if key not in tallies and (view := self._standings.get(key)) is not None:
                methods = self._strengths.on(view.methods, key)
                self._show(msgspec.structs.replace(view, methods=methods), out)
        for key, tally in tallies.items():
            self._show(tally.view(self.engine.rating), out)
            if not tally.games:
                self._players.pop(key, None)
                self._standings.pop(key, None)

    def _show(self, view: PlayerView, out: Outbox) -> None:
        if self._standings.get(view.id) != view:
            self._standings[view.id] = view
            out.changes.append(StandingMessage(view))

    def _measured(self) -> EngineInfo:
        return msgspec.structs.replace(
            self.engine,
            rating=self._field.rating,
            rating_source="field" if self._field.moves else "calibration",
            rating_moves=self._field.moves,
        )

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
        tracked = self._games.get(id)
        return tracked.detail(self.engine.rating) if tracked else None

    def player_ids(self, id: GameId) -> tuple[str, ...]:
        """``PlayerView.id`` of those who play in the game; empty for an unknown one."""
        tracked = self._games.get(id)
        return tuple(tally.key for tally in tracked.tallies.values()) if tracked else ()

    def study(self) -> Study:
        """Every player's moves as the methods that compare players need them; made afresh."""
        players = self._players.values()
        return Study(
            (tally.evidence(self.engine.rating) for tally in players), self._strengths.exact()
        )

    def engine_strength(self) -> EngineStrength:
        """Algorithm 3 over the players of the event, rows by player id (Ferreira 2012, Table 4)."""
        strengths = self._strengths.exact()
        return engine_strength(
            MeasuredPlayer(
                tally.key,
                tally.expected_score,
                tally.player.elo,
                strengths[tally.key].rating if tally.key in strengths else None,
            )
            for tally in self._players.values()
            if tally.expected_score is not None
        )

    def players(self) -> tuple[PlayerView, ...]:
        """Every player, in the order they appeared."""
        return tuple(self._standings.values())
