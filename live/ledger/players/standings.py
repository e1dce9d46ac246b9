"""Everybody's pooled figures, and the engine's rating that they are measured against."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Literal

import msgspec

from live.events import (
    CalibrationInfo,
    Color,
    EngineInfo,
    GainCounts,
    GainsMessage,
    GameId,
    Headers,
    PlayerView,
    PluginFigure,
)
from live.games.player_identity import person_key
from live.ledger.calibrations_in_use import CalibrationsInUse, FieldPriors
from live.ledger.methods.comparison_data import ComparedMoves
from live.ledger.outgoing_messages import OutgoingMessages, rated
from live.ledger.players.event_strengths import EventStrengths, with_strength
from live.ledger.players.player_totals import PlayerTotals
from live.ratings.calibration.field_population import FieldPopulation
from live.ratings.calibration.move_evidence import Population
from live.ratings.ferreira.algorithm_3 import Algorithm3, MeasuredPlayer, engine_strength
from live.ratings.ferreira.field_engine_rating import FieldEngineRating

Moved = Literal["", "engine", "field"]


class EventStandings:
    """All players of the event.

    Args:
        in_use: which gain feeds the curves, and the calibration that fits.
        engine: what is known of the engine before the first move.
        outgoing: gets the messages.
        fixed: its rating is configured; else it is measured over the field.
    """

    def __init__(
        self,
        in_use: CalibrationsInUse,
        engine: EngineInfo,
        outgoing: OutgoingMessages,
        *,
        fixed: bool,
    ) -> None:
        self.engine = engine
        self._outgoing = outgoing
        self._in_use = in_use
        self._fixed = fixed
        self._field = FieldEngineRating(engine.rating)
        # What the engine counts while no rated player is known.
        self._stored_rating = engine.rating
        self.stored_engine = engine
        """The engine as it counted before any game was known."""
        self._population = FieldPopulation()
        self.priors = FieldPriors()
        """What is believed of everybody before the first move."""
        self._players: dict[str, PlayerTotals] = {}
        # As last sent, without the ratings: those follow from the engine's.
        self._shown: dict[str, PlayerView] = {}
        self._plugins: dict[str, tuple[PluginFigure, ...]] = {}
        self._strengths = EventStrengths(in_use.gain)
        # Whether the rated players, or what reads them, are others since the last rating.
        self._repeopled = True
        self._know_field()
        self.engine = self._described(engine)

    def recalibrate(self, in_use: CalibrationsInUse) -> None:
        """Other calibrations rate the games from now on; each game is recalibrated separately."""
        self._in_use = in_use
        self._repeopled = True
        self._know_field()
        described = self._described(self.engine)
        if described != self.engine:
            self.engine = described
            self._outgoing.add_engine(described)

    def _described(self, engine: EngineInfo) -> EngineInfo:
        """The engine with the calibrations that read its scores."""
        shelf = self._in_use.shelf
        return msgspec.structs.replace(
            engine,
            calibration=shelf.calibrations[0].name if shelf.calibrations else None,
            calibration_note=shelf.note,
            calibrations=self._calibrations(),
        )

    def tallies(self, id: GameId, headers: Headers) -> dict[Color, PlayerTotals]:
        """Who plays in game ``id``, as one person over all games."""
        white, black = person_key(headers.white), person_key(headers.black)
        if white == black:
            # Nobody plays against himself: a slip of the operator, two guests, an engine's match.
            white = black = ""
        # Players whose names are unknown are not all one person.
        return {
            "white": self._tally(white or f"{id}-white"),
            "black": self._tally(black or f"{id}-black"),
        }

    def _tally(self, key: str) -> PlayerTotals:
        tally = self._players.get(key)
        if tally is None:
            tally = self._players[key] = PlayerTotals(
                key, self._in_use, self._strengths, self.priors
            )
        return tally

    def meet(self, tallies: Iterable[PlayerTotals]) -> None:
        """Two players have a game with each other."""
        self._strengths.meet(*(tally.key for tally in tallies))

    def part(self, tallies: Iterable[PlayerTotals]) -> None:
        """Their game is gone, or it was somebody else's."""
        self._strengths.part(*(tally.key for tally in tallies))

    def rate(self, touched: Iterable[PlayerTotals]) -> Moved:
        """Renew what the field says, then the standings of those whose figures may have changed.

        Returns:
            What else is another now: the engine's rating, and with it every rating, or the field
            as the prior, and with it every calibrated figure too.
        """
        pieces = self.rate_in_pieces(touched)
        while True:
            try:
                next(pieces)
            except StopIteration as end:
                moved: Moved = end.value
                return moved

    def rate_in_pieces(self, touched: Iterable[PlayerTotals]) -> Generator[None, None, Moved]:
        """:meth:`rate`, with a yield after every player, for when nothing is shown until it is
        over.
        """
        tallies = {tally.key: tally for tally in touched}
        for tally in tallies.values():
            if tally.changed:
                self._field.update(tally.key, tally.player.elo, tally.moves, tally.expected_score)
                elo = tally.player.elo if tally.games else None
                self._strengths.rate(tally.key, elo)
                self._repeopled |= self._population.update(tally.key, elo)
        refielded = False
        if self._repeopled:
            self._repeopled = False
            self._start_engine()
            refielded = self._know_field()
        moved = self._measure_engine(refielded)
        if refielded:
            for key, tally in self._players.items():
                tally.renew()
                tallies.setdefault(key, tally)
        for key in self._strengths.renew():
            # One move shifts others a little too; their other figures stay.
            if key not in tallies and (view := self._shown.get(key)) is not None:
                methods = with_strength(view.methods, self._strengths.published(key))
                self._show(msgspec.structs.replace(view, methods=methods))
        for key, tally in tallies.items():
            self._outgoing.changes += (
                GainsMessage(key, gain_cp, moves) for gain_cp, moves in tally.take_changed_gains()
            )
            self._show(tally.view())
            if not tally.games:
                self._players.pop(key, None)
                self._shown.pop(key, None)
                self._plugins.pop(key, None)
            yield
        if refielded:
            return "field"
        return "engine" if moved else ""

    def _start_engine(self) -> None:
        """Until many moves are in, the engine's rating is what makes players of this field show
        their mean Elo.
        """
        mean = self._population.mean_elo
        if mean is None:
            self._field.start(self._stored_rating)
        else:
            self._field.start(mean - self._in_use.expected_difference(mean))

    def _know_field(self) -> bool:
        """What is believed before the first move; returns whether that is another now."""
        known: dict[str, Population] = {
            each.name: self._population.over(each.population)
            for each in self._in_use.shelf.calibrations
        }
        return self.priors.set(known)

    def _calibrations(self) -> tuple[CalibrationInfo, ...]:
        found = []
        for each in self._in_use.shelf.calibrations:
            prior = self.priors.of(each)
            low, high = each.elo_range or (None, None)
            found.append(
                CalibrationInfo(
                    name=each.name,
                    time_control=each.time_control,
                    prior_elo=prior.mean_elo,
                    prior_sd_elo=prior.sd_elo,
                    elo_low=low,
                    elo_high=high,
                )
            )
        return tuple(found)

    def _measure_engine(self, refielded: bool) -> bool:
        measured, moves = self.engine, self._field.moves
        if refielded:
            measured = msgspec.structs.replace(measured, calibrations=self._calibrations())
        rating = measured.rating if self._fixed else self._field.rating
        if not self._fixed and (rating, moves) != (measured.rating, measured.rating_moves):
            measured = msgspec.structs.replace(
                measured,
                rating=rating,
                rating_source="field" if moves else "calibration",
                rating_moves=moves,
            )
        moved = measured.rating != self.engine.rating
        if measured != self.engine:
            self.engine = measured
            self._outgoing.add_engine(measured)
        return moved

    def plugin_figure(self, player: str, name: str, figure: PluginFigure | None) -> None:
        """What the plugin of this name says of a player; None: nothing any more."""
        view = self._shown.get(player)
        if view is None:
            return
        others = [each for each in view.plugins if each.name != name]
        if figure is not None:
            others.append(msgspec.structs.replace(figure, name=name))
        self._plugins[player] = tuple(sorted(others, key=lambda each: each.name))
        self._show(view)

    def _show(self, view: PlayerView) -> None:
        figures = self._plugins.get(view.id, ())
        if figures or view.plugins:
            view = msgspec.structs.replace(view, plugins=figures)
        held = self._shown.get(view.id)
        if held is not view and held != view:
            self._shown[view.id] = view
            self._outgoing.add_standing(view)

    def players(self) -> tuple[PlayerView, ...]:
        """Every player, in the order they appeared."""
        return tuple(rated(view, self.engine.rating) for view in self._shown.values())

    def gains(self, player: str) -> GainCounts:
        """A player's gains over the event, by id; empty for an unknown one."""
        tally = self._players.get(player)
        return tally.gains if tally is not None else ()

    def study(self) -> ComparedMoves:
        """Every player's moves as the methods that compare players need them; made afresh."""
        players = self._players.values()
        return ComparedMoves(
            (tally.comparison_data(self.engine.rating) for tally in players),
            self._strengths.exact(),
            self._strengths.intervals(),
            self._strengths.margins(),
        )

    def engine_strength(self) -> Algorithm3:
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
