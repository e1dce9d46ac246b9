"""Archived games: values that can be kept on disk; what pooled figures need of them is at hand.

Most games of a long event are over. An archived one costs little memory and nothing to bring back
after a restart; its plies, curves and scores are read when somebody looks at them. It is tracked
again when its source reports something new.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

import msgspec
import numpy as np

from live.engine.search import SearchOptions
from live.events import (
    RESULT_POINTS,
    Color,
    Curves,
    GameDetail,
    GameId,
    GameView,
    PlyView,
)
from live.games.game import Game
from live.human.question import HumanAnswer
from live.ledger.calibrations_in_use import CalibrationsInUse, FieldPriors, choice_of, game_pace
from live.ledger.game.game_curves import GameCurves, points_of
from live.ledger.game.game_evaluations import EvaluationsValue, QuickAndFull
from live.ledger.game.game_strength import PlayedTurn
from live.ledger.methods.game_methods import COLORS
from live.ledger.methods.move_quality import MoveQuality, SideQuality
from live.ledger.outgoing_messages import OutgoingMessages
from live.ledger.players.player_totals import PlayerTotals
from live.ratings.accuracy import Accuracy, CentipawnLoss
from live.ratings.alliot.complexity import complexity
from live.ratings.calibration.calibrated_rating import CalibratedRating
from live.ratings.calibration.move_evidence import MoveEvidence, Population
from live.ratings.regan.move_spread import Spread
from live.ratings.strength.agreement import GameChoices
from live.ratings.strength.expected_result import Chances
from live.ratings.strength.human_evidence import human_likelihood
from live.ratings.strength.known_before_move import Turn
from live.ratings.strength.performance import PlayedAgainst


class EventGames(msgspec.Struct, frozen=True):
    """Moves counted, and how many of them conform."""

    n: int
    within: int


class ArchivedChoices(msgspec.Struct, frozen=True):
    """Choices beside the forecast."""

    moves: int
    matches: int
    expected: float
    variance: float
    log_likelihood: bytes
    """Numbers of eight bytes, as the machine has them."""

    @classmethod
    def of(cls, held: GameChoices) -> ArchivedChoices:
        likely = held.log_likelihood.tobytes() if held.moves else b""
        return cls(held.moves, held.matches, held.expected, held.variance, likely)

    @property
    def game(self) -> GameChoices:
        game = GameChoices()
        if self.moves:
            game.moves, game.matches = self.moves, self.matches
            game.expected, game.variance = self.expected, self.variance
            game.log_likelihood = np.frombuffer(self.log_likelihood).reshape(
                game.log_likelihood.shape
            )
        return game


class ArchivedPlay(msgspec.Struct, frozen=True):
    """What a performance is made of."""

    opponent_elo: float | None
    white: bool
    ends: tuple[float, float, float] | None
    log_likelihood: bytes | None
    """Numbers of eight bytes, as the machine has them."""
    moves: int
    over: bool
    percentile: float | None
    choices: ArchivedChoices | None
    human: bytes | None = None
    """Log-likelihood among people, as the other."""

    @classmethod
    def of(cls, played: PlayedAgainst) -> ArchivedPlay:
        held = played.log_likelihood
        return cls(
            played.opponent_elo,
            played.white,
            (played.ends.win, played.ends.draw, played.ends.loss) if played.ends else None,
            held.tobytes() if held is not None else None,
            played.moves,
            played.over,
            played.percentile,
            ArchivedChoices.of(played.choices) if played.choices is not None else None,
            played.human.tobytes() if played.human is not None else None,
        )

    @property
    def against(self) -> PlayedAgainst:
        held, human = self.log_likelihood, self.human
        return PlayedAgainst(
            self.opponent_elo,
            self.white,
            Chances(*self.ends) if self.ends is not None else None,
            np.frombuffer(held) if held is not None else None,
            self.moves,
            self.over,
            self.percentile,
            self.choices.game if self.choices is not None else None,
            np.frombuffer(human) if human is not None else None,
        )


class ArchivedSide(msgspec.Struct, frozen=True):
    """What is pooled of one player's moves of one game."""

    gains_cp: tuple[int, ...]
    """In the curve, in ply order."""
    rated: tuple[int, MoveEvidence] | None
    """Moves, and what they came to by the game's calibration; None without one."""
    raw: EventGames
    guid_bratko: EventGames
    ponderated: EventGames
    choices: int
    matches: int
    markov_moves: int
    accuracy: Accuracy
    loss: CentipawnLoss
    unchosen: bool
    turns: tuple[Spread, ...] = ()
    played: ArchivedPlay | None = None

    @classmethod
    def of(
        cls,
        side: SideQuality,
        gains_cp: list[int],
        calibrated: CalibratedRating | None,
        played: PlayedAgainst | None,
    ) -> ArchivedSide:
        return cls(
            gains_cp=tuple(gains_cp),
            rated=(calibrated.n, calibrated.evidence) if calibrated else None,
            raw=EventGames(side.raw.n, side.raw.within),
            guid_bratko=EventGames(side.guid_bratko.n, side.guid_bratko.within),
            ponderated=EventGames(side.ponderated.n, side.ponderated.within),
            choices=side.choices,
            matches=side.matches,
            markov_moves=side.markov_moves,
            accuracy=side.accuracy,
            loss=side.loss,
            unchosen=side.unchosen,
            turns=side.turns,
            played=ArchivedPlay.of(played) if played is not None else None,
        )


class ArchivedValues(msgspec.Struct, frozen=True):
    """What is always at hand of an archived game."""

    game: Game
    view: GameView
    white: ArchivedSide
    black: ArchivedSide
    field: dict[str, Population]
    """What was believed of everybody before the first move, by calibration."""


class ArchivedDetails(msgspec.Struct, frozen=True):
    """What is read when somebody looks at the game."""

    plies: tuple[PlyView, ...]
    curves: Curves
    full: EvaluationsValue
    quick: EvaluationsValue | None
    judged: tuple[MoveQuality, ...]
    given_up: dict[int, str] = {}
    human: tuple[HumanAnswer | None, ...] = ()
    """What players would play, by position."""


Recall = Callable[[GameId], ArchivedDetails | None]
"""Gives the details of an archived game; None where they can be read no more."""


class _Side:
    """A side of it in the shape that pooled figures read."""

    revision = 0

    def __init__(self, color: Color, sums: ArchivedSide, game: ArchivedGame) -> None:
        self.color = color
        self.raw, self.guid_bratko, self.ponderated = sums.raw, sums.guid_bratko, sums.ponderated
        self.choices, self.matches = sums.choices, sums.matches
        self.markov_moves = sums.markov_moves
        self.turns = sums.turns
        self.accuracy, self.loss, self.unchosen = sums.accuracy, sums.loss, sums.unchosen
        self._game = game

    @property
    def moves(self) -> tuple[MoveQuality, ...]:
        details = self._game.details()
        if details is None:
            return ()
        white_moves = self.color == ("white" if self._game.white_begins else "black")
        return tuple(move for move in details.judged if (move.ply % 2 == 1) == white_moves)


class ArchivedGame:
    """One archived game, pooled with the others."""

    pending = 0
    """A game is archived only when no search of it is open."""
    rated = True

    def __init__(
        self,
        values: ArchivedValues,
        tallies: dict[Color, PlayerTotals],
        in_use: CalibrationsInUse,
        priors: FieldPriors,
        recall: Recall,
        outgoing: OutgoingMessages,
    ) -> None:
        self._outgoing = outgoing
        self.game = values.game
        self.tallies = tallies
        self._view = values.view
        self._in_use = in_use
        self._choice = choice_of(in_use, values.game)
        self._priors = priors
        self._recall = recall
        self._sides: dict[Color, ArchivedSide] = {"white": values.white, "black": values.black}
        self._field: Mapping[str, Population] = values.field
        # Made anew since the field changed; else the details have them.
        self._curves: Curves | None = None

    @cached_property
    def white_begins(self) -> bool:
        """Who has the odd plies."""
        return " w " in self.game.start_fen

    def enter(self) -> None:
        """Put everything into what is pooled."""
        players = {"white": self.game.headers.white, "black": self.game.headers.black}
        points = dict(zip(COLORS, RESULT_POINTS.get(self.game.result, (None, None)), strict=True))
        for color in COLORS:
            tally, sums = self.tallies[color], self._sides[color]
            tally.enter(self.game.id, players[color], points[color])
            tally.add_all(self.game.id, sums.gains_cp)
            tally.judged(self.game.id, _Side(color, sums, self))
            if sums.played is not None:
                self._perform(color, sums.played)
            weigher = self._choice.weigher
            if sums.rated is not None and weigher is not None:
                rating = CalibratedRating.resumed(weigher, *sums.rated)
                tally.rated(self.game.id, self._choice, rating)

    def _perform(self, color: Color, played: ArchivedPlay) -> None:
        reader = self._in_use.loss_reader(self._choice)
        model = reader.model if reader is not None else None
        results = self._in_use.results_of(game_pace(self.game))
        self.tallies[color].performed(self.game.id, played.against, model, results)

    def close(self) -> None:
        """Take everything out of it again."""
        for color in COLORS:
            for gain_cp in self._sides[color].gains_cp:
                self.tallies[color].remove(self.game.id, gain_cp)
        for tally in self.tallies.values():
            tally.leave(self.game.id)

    def details(self) -> ArchivedDetails | None:
        """All else that is known, its curves as the field is now."""
        details = self._recall(self.game.id)
        if details is None or len(details.plies) != len(self.game.moves):
            return None
        if self._curves is None and self._field != self._priors.known:
            self._curves = self._recalibrated(details)
            self._field = dict(self._priors.known)
        if self._curves is not None:
            details = msgspec.structs.replace(details, curves=self._curves)
        return details

    def _recalibrated(self, details: ArchivedDetails) -> Curves:
        elos: dict[Color, int | None] = {
            "white": self.game.headers.white.elo,
            "black": self.game.headers.black.elo,
        }
        # Only of a player without a rating does the field say more than the calibrated figures.
        reader = self._in_use.loss_reader(self._choice) if None in elos.values() else None
        curves = GameCurves(
            self._in_use.gain,
            self._choice,
            elos,
            self._priors,
            reader,
            engine_gains=self._in_use.engine_gains,
        )
        walk = QuickAndFull(
            self.game.start_fen,
            chess960=self.game.chess960,
            search_options=SearchOptions(),
            gain=self._in_use.gain,
        )
        for move in self.game.moves if reader is not None else ():
            walk.extend(move.uci)
        for color in COLORS:
            sign = 1 if color == "white" else -1
            held = []
            for point in points_of(details.curves, color):
                looks = (details.full, details.quick)
                before = next(
                    (at for look in looks if look and (at := look.positions[point.ply - 1])), None
                )
                score_cp = sign * before.score.cp if before else 0
                played = None
                if reader is not None and before is not None:
                    told = complexity(before.by_depth)
                    turn = Turn(
                        point.gain_cp,
                        score_cp,
                        point.ply,
                        told.stability_cp if told else None,
                        told.jump_cp if told else None,
                        walk.board(point.ply),
                    )
                    answer = details.human[point.ply - 1] if details.human else None
                    uci = self.game.moves[point.ply - 1].uci
                    among = human_likelihood(reader.model, answer, point.ply, uci)
                    over = self.game.result != "*" and point.ply >= len(self.game.moves) - 1
                    played = PlayedTurn(turn, over, human=among)
                held.append((point, score_cp, played))
            curves.resume(color, held)
        if self._choice.weigher is None:
            return details.curves
        return curves.reread()

    def reread(self) -> None:
        """The field has changed, and with it every calibrated figure."""
        self._curves = None
        if self._choice.weigher is None or (details := self.details()) is None:
            return
        for color in COLORS:
            for point in points_of(details.curves, color):
                self._outgoing.add_point(self.game.id, color, point)
        self._rank(details.curves)

    def rank(self) -> None:
        """Pool the percentiles as the field is now: it may have changed since they were kept."""
        ranked = any(side.played and side.played.percentile for side in self._sides.values())
        unrated = None in (self.game.headers.white.elo, self.game.headers.black.elo)
        if ranked and unrated and self._field != self._priors.known:
            details = self.details()
            if details is not None:
                self._rank(details.curves)

    def _rank(self, curves: Curves) -> None:
        for color in COLORS:
            played, points = self._sides[color].played, points_of(curves, color)
            if played is not None and points and played.percentile != points[-1].percentile:
                played = msgspec.structs.replace(played, percentile=points[-1].percentile)
                self._sides[color] = msgspec.structs.replace(self._sides[color], played=played)
                self._perform(color, played)

    def view(self) -> GameView:
        """The game without plies and curves."""
        return self._view

    def detail(self) -> GameDetail:
        """The game in full, as differences from the engine; without plies and curves where they can
        no longer be read.
        """
        fields = msgspec.structs.asdict(self._view)
        details = self.details()
        if details is None:
            return GameDetail(**fields)
        return GameDetail(**fields, plies=details.plies, curves=details.curves)
