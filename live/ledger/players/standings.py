"""Everybody's pooled figures, and the engine's rating that they are measured against."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping

import msgspec

from live.events import (
    Color,
    EngineInfo,
    EngineMessage,
    GainCounts,
    GainsMessage,
    GameId,
    Headers,
    PlayerView,
    PluginFigure,
    StandingMessage,
)
from live.games.player_identity import person_key
from live.ledger.measure import Measure
from live.ledger.outgoing_messages import OutgoingMessages
from live.ledger.players.event_strengths import EventStrengths, with_strength
from live.ledger.players.player_totals import PlayerTotals
from live.ratings.ferreira.algorithm_3 import Algorithm3, MeasuredPlayer, engine_strength
from live.ratings.ferreira.field_engine_rating import FieldEngineRating

#: The level of a field moves in steps, Elo, so that a late entry does not shift every curve of a
#: large event by less than can be seen.
LEVEL_STEP_ELO = 20


class EventStandings:
    """All players of the event.

    Args:
        measure: which gain feeds the curves, and the models that fit.
        engine: what is known of the engine before the first move.
        outgoing: gets the messages.
        fixed: its rating is configured; else it is measured over the field.
    """

    def __init__(
        self,
        measure: Measure,
        engine: EngineInfo,
        outgoing: OutgoingMessages,
        *,
        fixed: bool,
    ) -> None:
        self.engine = self.stored_engine = _described(engine, measure)
        """The engine as it counts now, and as it counted before any game was known."""
        self._outgoing = outgoing
        self._measure = measure
        self._fixed = fixed
        self._field = FieldEngineRating(engine.rating)
        # What the engine counts while no rated player is known.
        self._stored_rating = engine.rating
        # Of the players who have a game.
        self._elos: dict[str, int] = {}
        self._total_elo = 0
        self._players: dict[str, PlayerTotals] = {}
        # As last sent.
        self._shown: dict[str, PlayerView] = {}
        self._plugins: dict[str, tuple[PluginFigure, ...]] = {}

    def measure_by(self, measure: Measure) -> None:
        """Other models rate the games from now on; each game is rated anew separately."""
        self._measure = measure
        for player in self._players.values():
            player.measure_by(measure)
        self._start_engine()
        self._set_engine(_described(self.engine, measure))

    def players_of(self, id: GameId, headers: Headers) -> dict[Color, PlayerTotals]:
        """Who plays in game ``id``, as one person over all games."""
        white, black = person_key(headers.white), person_key(headers.black)
        if white == black:
            # Nobody plays against himself: a slip of the operator, two guests, an engine's match.
            white = black = ""
        # Players whose names are unknown are not all one person.
        return {
            "white": self._totals(white or f"{id}-white"),
            "black": self._totals(black or f"{id}-black"),
        }

    def _totals(self, key: str) -> PlayerTotals:
        totals = self._players.get(key)
        if totals is None:
            totals = self._players[key] = PlayerTotals(key, self._measure)
        return totals

    @property
    def field(self) -> float | None:
        """The mean Elo of the rated players, in steps; None while nobody is rated."""
        if not self._elos:
            return None
        return float(LEVEL_STEP_ELO * round(self._total_elo / len(self._elos) / LEVEL_STEP_ELO))

    def rate(self, touched: Iterable[PlayerTotals]) -> None:
        """Renew the engine's rating and the figures of those who may have changed."""
        for _ in self.rate_in_pieces(touched):
            pass

    def rate_in_pieces(self, touched: Iterable[PlayerTotals]) -> Generator[None, None, None]:
        """:meth:`rate`, with a yield after every player, for when nothing is shown until it is
        over.
        """
        changed = {player.key: player for player in touched if player.changed}
        for key, player in changed.items():
            elo = player.player.elo
            self._field.update(key, elo, player.moves, player.expected_score)
            self._total_elo -= self._elos.pop(key, 0)
            if elo is not None and player.games:
                self._elos[key] = elo
                self._total_elo += elo
        self._start_engine()
        self._set_engine(self.engine)
        for key, player in changed.items():
            self._outgoing.changes += (
                GainsMessage(key, gain_cp, moves) for gain_cp, moves in player.take_changed_gains()
            )
            self._show(player.view())
            if not player.games:
                self._players.pop(key, None)
                self._shown.pop(key, None)
                self._plugins.pop(key, None)
            yield

    def _start_engine(self) -> None:
        """Until many moves are in, the engine's rating is what makes players of this field show
        their mean Elo.
        """
        if not self._elos:
            self._field.start(self._stored_rating)
        else:
            mean = self._total_elo / len(self._elos)
            self._field.start(mean - self._measure.expected_difference(mean))

    def _set_engine(self, engine: EngineInfo) -> None:
        rating, moves = self._field.rating, self._field.moves
        if not self._fixed and (rating, moves) != (engine.rating, engine.rating_moves):
            engine = msgspec.structs.replace(
                engine,
                rating=rating,
                rating_source="field" if moves else "calibration",
                rating_moves=moves,
            )
        if engine != self.engine:
            self.engine = engine
            self._outgoing.changes.append(EngineMessage(engine))

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
            self._outgoing.changes.append(StandingMessage(view))

    def players(self) -> tuple[PlayerView, ...]:
        """Every player, in the order they appeared."""
        return tuple(self._shown.values())

    def totals(self) -> Mapping[str, PlayerTotals]:
        """Every player, by id."""
        return self._players

    def gains(self, player: str) -> GainCounts:
        """A player's gains over the event, by id; empty for an unknown one."""
        totals = self._players.get(player)
        return totals.gains if totals is not None else ()

    def strengths(self) -> EventStrengths:
        """Algorithm 2 over the event; made afresh, some milliseconds a game."""
        found = EventStrengths(self._measure.gain)
        met: dict[GameId, list[str]] = {}
        for key, totals in self._players.items():
            found.rate(key, totals.player.elo if totals.games else None)
            for id in totals.games:
                met.setdefault(id, []).append(key)
        for pair in met.values():
            if len(pair) == 2:
                found.meet(*pair)
        for key, totals in self._players.items():
            for id in sorted(totals.games):
                for gain_cp in totals.games[id].side.gains_cp:
                    found.add(key, gain_cp, id)
        return found

    def compared(self) -> tuple[PlayerView, ...]:
        """Every player, with what Algorithm 2 says; made afresh."""
        found = self.strengths().published()
        return tuple(
            msgspec.structs.replace(view, methods=with_strength(view.methods, found.get(view.id)))
            for view in self.players()
        )

    def engine_strength(self) -> Algorithm3:
        """Algorithm 3 over the players of the event, rows by player id (Ferreira 2012, Table 4)."""
        strengths = self.strengths().exact()
        return engine_strength(
            MeasuredPlayer(
                key,
                totals.expected_score,
                totals.player.elo,
                strengths[key].rating if key in strengths else None,
            )
            for key, totals in self._players.items()
            if totals.expected_score is not None
        )


def _described(engine: EngineInfo, measure: Measure) -> EngineInfo:
    """The engine with the models that read its scores."""
    models = measure.models
    return msgspec.structs.replace(
        engine, models=tuple(each.name for each in models.models), note=models.note
    )
