"""Both players' gains of one game, in the curves and in what is pooled over the event."""

from __future__ import annotations

from collections.abc import Callable

from live.events import RESULT_POINTS, Color, CurvePoint, Curves
from live.games.game import Game
from live.human.question import HumanAnswer
from live.ledger.calibrations_in_use import (
    CalibrationsInUse,
    FieldPriors,
    choice_of,
    game_pace,
)
from live.ledger.game.game_curves import GameCurves, points_of
from live.ledger.game.game_evaluations import EvaluatedPosition, QuickAndFull
from live.ledger.game.game_strength import PlayedTurn
from live.ledger.methods.game_methods import COLORS, GameMethodsState
from live.ledger.outgoing_messages import OutgoingMessages
from live.ledger.players.player_totals import PlayerTotals
from live.ratings.alliot.complexity import complexity
from live.ratings.strength.expected_result import Chances
from live.ratings.strength.human_evidence import found_by, human_likelihood
from live.ratings.strength.known_before_move import Turn
from live.ratings.strength.loss_model import Alone, Floats
from live.ratings.strength.performance import POINTS, PlayedAgainst, of_result, performance


class RatedSides:
    """Gains enter in ply order for each colour, whatever the order they become known in; one that
    came from a quick look is corrected when the full search gives another.
    """

    def __init__(
        self,
        game: Game,
        tallies: dict[Color, PlayerTotals],
        game_methods: GameMethodsState,
        in_use: CalibrationsInUse,
        priors: FieldPriors,
        outgoing: OutgoingMessages,
        people: Callable[[int], HumanAnswer | None] = lambda index: None,
    ) -> None:
        self._outgoing = outgoing
        self._people = people
        self.tallies = tallies
        self._id = game.id
        self._in_use = in_use
        self.choice = choice = choice_of(in_use, game)
        self._rated_as = elos_of(game)
        self._reader = in_use.loss_reader(choice)
        self.results = in_use.results_of(game_pace(game))
        """How games of this pace end; None where nothing was learned."""
        self.result = game.result
        self.curves = GameCurves(
            in_use.gain,
            choice,
            self._rated_as,
            priors,
            self._reader,
            in_use.forecast,
            in_use.engine_gains,
        )
        # What the game says now, and the performance that was made of it.
        self._against: dict[Color, PlayedAgainst | None] = {}
        self._performances: dict[Color, tuple[PlayedAgainst, Alone | None]] = {}
        # What the last known position promises: score, ply and opponent's rating, and the chances.
        self._promises: dict[Color, tuple[tuple[int, int, int | None], Chances]] = {}
        # Plies whose gain in the curves is a quick look's.
        self._quick_plies: set[int] = set()
        self.enter(game)
        for color, tally in tallies.items():
            tally.rated(game.id, choice, self.curves.calibrated(color))
            tally.judged(game.id, game_methods.sides[color])

    def enter(self, game: Game) -> None:
        """Report to the pooled players what the game says of them now."""
        white, black = RESULT_POINTS.get(game.result, (None, None))
        self.tallies["white"].enter(game.id, game.headers.white, white)
        self.tallies["black"].enter(game.id, game.headers.black, black)

    def serves(self, game: Game, tallies: dict[Color, PlayerTotals]) -> bool:
        """Whether these are still the same players, rated the same and by the same calibration."""
        same = tallies == self.tallies and elos_of(game) == self._rated_as
        same &= self._in_use.results_of(game_pace(game)) is self.results
        return same and choice_of(self._in_use, game) == self.choice

    def reread(self, known: QuickAndFull) -> None:
        """The field has changed, and with it every calibrated figure."""
        curves = self.curves.reread()
        for color in COLORS:
            for point in points_of(curves, color):
                self._outgoing.add_point(self._id, color, point)
        self._perform(known)

    def resume(self, known: QuickAndFull, curves: Curves) -> None:
        """Go on behind these points; in what is pooled their gains are already."""
        for color in COLORS:
            held: list[tuple[CurvePoint, int, PlayedTurn | None]] = []
            for point in points_of(curves, color):
                look = known.at(point.ply)
                before = look.position(point.ply - 1)
                assert before is not None  # it had a gain
                score_cp = before.score.cp if color == "white" else -before.score.cp
                played = self._played(known, point.ply, point.gain_cp, score_cp, before)
                held.append((point, score_cp, played))
                if look is not known:
                    self._quick_plies.add(point.ply)
            self.curves.resume(color, held)
        self._perform(known)

    def leave(self) -> None:
        """Nothing of the game stays in what is pooled."""
        self.rewind(1)
        for tally in self.tallies.values():
            tally.leave(self._id)

    def rewind(self, ply: int) -> None:
        """Take back every gain at ``ply`` or later."""
        self._quick_plies = {at for at in self._quick_plies if at < ply}
        for color in COLORS:
            self._rewind(color, ply)

    def _rewind(self, color: Color, ply: int) -> None:
        for gain_cp in self.curves.rewind(color, ply):
            self.tallies[color].remove(self._id, gain_cp)

    def revise(self, known: QuickAndFull, ply: int) -> None:
        """The full search of ``ply`` may have given another gain than the quick look: then it and
        all that follow leave the curve, to be put back by :meth:`advance`.
        """
        if ply in self._quick_plies and known.tier(ply) == "full":
            self._quick_plies -= {*range(ply, len(known) + 1, 2)}
            self._rewind(known.mover(ply), ply)

    def heard(self, known: QuickAndFull, ply: int) -> bool:
        """What people would play at ``ply`` is known now. Where figures waited for that, they leave
        the curve, to be put back by :meth:`advance`; returns whether there are any.
        """
        color = known.mover(ply)
        strength = self.curves.strength(color)
        if strength is None or strength.first_lacking() != ply or self._among(known, ply) is None:
            return False
        self._quick_plies -= {*range(ply, len(known) + 1, 2)}
        self._rewind(color, ply)
        return True

    @property
    def note(self) -> str:
        """For people: from where on figures rest on losses alone, though people were asked."""
        if self._in_use.human is None or self._reader is None or self._reader.model.human is None:
            return ""
        strengths = (self.curves.strength(color) for color in COLORS)
        plies = [ply for each in strengths if each and (ply := each.first_lacking()) is not None]
        if not plies:
            return ""
        return f"from move {(min(plies) + 1) // 2} on by losses alone: no answer about human moves"

    def _among(self, known: QuickAndFull, ply: int) -> Floats | None:
        if self._reader is None:
            return None
        answer, uci = self._people(ply - 1), known.move(ply)
        return human_likelihood(self._reader.model, answer, ply, uci)

    def advance(self, known: QuickAndFull) -> None:
        """Put every known gain that is next in ply order into its curve."""
        for color in COLORS:
            first = 1 if known.mover(1) == color else 2
            last = self.curves.last_ply(color)
            for ply in range(last + 2 if last else first, len(known) + 1, 2):
                if not known.is_settled(ply):
                    break
                self._add(known, color, ply)
        self.mend(known)

    def mend(self, known: QuickAndFull) -> None:
        """Correct what the other side's moves and the result say of points and players."""
        ended = self.result != "*"
        for color, point in self.curves.mend(len(known), ended=ended):
            self._outgoing.add_point(self._id, color, point)
        self._perform(known)

    def _perform(self, known: QuickAndFull) -> None:
        model = self._reader.model if self._reader is not None else None
        for color in COLORS:
            played = self._against[color] = self.against(known, color)
            self.tallies[color].performed(self._id, played, model, self.results)

    def against(self, known: QuickAndFull, color: Color) -> PlayedAgainst | None:
        """The game of one side, as a performance is made of; None without a move."""
        if not len(known) or self.results is None:
            return None
        opponent = self._rated_as["black" if color == "white" else "white"]
        strength = self.curves.strength(color)
        counted = len(strength.turns) if strength is not None else 0
        last = self.curves.last(color)
        return PlayedAgainst(
            opponent,
            color == "white",
            self._ends(known, color, opponent),
            strength.log_likelihood if strength is not None and counted else None,
            counted,
            self.result != "*",
            last.percentile if last is not None else None,
            strength.choices if strength is not None else None,
            strength.human if strength is not None and counted else None,
        )

    def performance(self, color: Color) -> Alone | None:
        """Of one side in this game, as it stood at the last :meth:`mend`; None where nothing says
        anything about it.
        """
        against = self._against.get(color)
        if against is None:
            return None
        # Asked for with all news of the game, and mostly nothing of it has changed.
        held = self._performances.get(color)
        if held is None or not held[0].same(against):
            model = self._reader.model if self._reader is not None else None
            found = performance(model, self.results, [against])
            held = self._performances[color] = against, found
        return held[1]

    def _ends(self, known: QuickAndFull, color: Color, opponent: int | None) -> Chances | None:
        points = POINTS.get(self.result)
        if points is not None:
            return of_result(points if color == "white" else 1 - points)
        if self.results is None:
            return None
        for ply in range(len(known), -1, -1):
            position = known.position(ply)
            if position is not None:
                return self._promised(color, position.score.cp, ply, opponent)
        return None

    def _promised(self, color: Color, score_cp: int, ply: int, opponent: int | None) -> Chances:
        # Asked for with all news of the game, and mostly of the same position.
        key = score_cp, ply, opponent
        held = self._promises.get(color)
        if held is None or held[0] != key:
            assert self.results is not None  # else nothing promises anything
            # Two players of the opponent's rating: the own one is not used.
            seen = self.results.chances(score_cp, ply, opponent, opponent)
            ends = seen if color == "white" else Chances(seen.loss, seen.draw, seen.win)
            held = self._promises[color] = key, ends
        return held[1]

    def _played(
        self,
        known: QuickAndFull,
        ply: int,
        gain_cp: int,
        score_before_cp: int,
        before: EvaluatedPosition,
    ) -> PlayedTurn | None:
        if self._reader is None:
            return None
        told = complexity(before.by_depth)
        turn = Turn(
            gain_cp,
            score_before_cp,
            ply,
            told.stability_cp if told else None,
            told.jump_cp if told else None,
            known.board(ply),
            self._found(known, ply, before.best),
        )
        match = None if before.best is None else before.best == known.move(ply)
        over = self.result != "*" and ply >= len(known) - 1
        return PlayedTurn(turn, over, match, self._among(known, ply))

    def _found(self, known: QuickAndFull, ply: int, best: str | None) -> float | None:
        """How many players of the mover's rating choose the engine's move."""
        forecast, answer = self._in_use.forecast, self._people(ply - 1)
        if forecast is None or forecast.human is None or answer is None:
            return None
        if answer.network != forecast.human.network:
            return None
        return found_by(answer, best, self._rated_as[known.mover(ply)])

    def _add(self, known: QuickAndFull, color: Color, ply: int) -> None:
        look = known.at(ply)
        gain_cp = look.gains(ply).of(self._in_use.gain)
        if gain_cp is None:
            return  # given up: this ply has no gain, the later ones still count
        before = look.position(ply - 1)
        assert before is not None  # else the ply would have no gain
        if look is not known:
            self._quick_plies.add(ply)
        score_before_cp = before.score.cp if color == "white" else -before.score.cp
        played = self._played(known, ply, gain_cp, score_before_cp, before)
        point = self.curves.add(color, ply, gain_cp, score_before_cp, played)
        self.tallies[color].add(self._id, gain_cp)
        self._outgoing.add_point(self._id, color, point)


def elos_of(game: Game) -> dict[Color, int | None]:
    """The players' own ratings."""
    return {"white": game.headers.white.elo, "black": game.headers.black.elo}
