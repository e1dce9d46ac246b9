"""Both players' gains of one game, in the curves and in what is pooled over the event."""

from __future__ import annotations

from live.events import Color, CurvePoint, Curves, PointMessage
from live.games.game import Game
from live.ledger.game.game_curves import GameCurves
from live.ledger.game.quick_look import QuickAndFull
from live.ledger.measure import FieldPriors, Measure, choice_of
from live.ledger.methods.game_methods import COLORS, GameMethodsState
from live.ledger.outbox import Outbox
from live.ledger.players.player_totals import PlayerTotals


class RatedSides:
    """Gains enter in ply order for each colour, whatever the order they become known in; one that
    a quick look told is put right when the full search tells another.
    """

    def __init__(
        self,
        game: Game,
        tallies: dict[Color, PlayerTotals],
        judgement: GameMethodsState,
        measure: Measure,
        priors: FieldPriors,
    ) -> None:
        self.tallies = tallies
        self._id = game.id
        self._measure = measure
        self.choice = choice = choice_of(measure, game)
        self._rated_as = elos_of(game)
        self.curves = GameCurves(measure.gain, choice, self._rated_as, priors)
        # Plies whose gain in the curves is a quick look's.
        self._hasty: set[int] = set()
        self.enter(game)
        for color, tally in tallies.items():
            tally.rated(game.id, choice, self.curves.calibrated(color))
            tally.judged(game.id, judgement.sides[color])

    def enter(self, game: Game) -> None:
        """Tell the pooled players what the game says of them now."""
        self.tallies["white"].enter(game.id, game.headers.white)
        self.tallies["black"].enter(game.id, game.headers.black)

    def serves(self, game: Game, tallies: dict[Color, PlayerTotals]) -> bool:
        """Whether these are still the same players, rated the same and by the same calibration."""
        same = tallies == self.tallies and elos_of(game) == self._rated_as
        return same and choice_of(self._measure, game) == self.choice

    def reread(self, out: Outbox, engine_rating: int) -> None:
        """The field has changed, and with it every calibrated figure."""
        for color in COLORS:
            for point in self.curves.reread(color, engine_rating):
                out.changes.append(PointMessage(self._id, color, point))

    def resume(self, known: QuickAndFull, curves: Curves) -> None:
        """Go on behind these points; in what is pooled their gains are already."""
        for color in COLORS:
            held: list[tuple[CurvePoint, int]] = []
            for point in curves.white if color == "white" else curves.black:
                look = known.at(point.ply)
                before = look.position(point.ply - 1)
                assert before is not None  # it had a gain
                held.append((point, before.score.cp if color == "white" else -before.score.cp))
                if look is not known:
                    self._hasty.add(point.ply)
            self.curves.resume(color, held)

    def leave(self) -> None:
        """Nothing of the game stays in what is pooled."""
        self.rewind(1)
        for tally in self.tallies.values():
            tally.leave(self._id)

    def rewind(self, ply: int) -> None:
        """Take back every gain at ``ply`` or later."""
        self._hasty = {at for at in self._hasty if at < ply}
        for color in COLORS:
            self._rewind(color, ply)

    def _rewind(self, color: Color, ply: int) -> None:
        for gain_cp in self.curves.rewind(color, ply):
            self.tallies[color].remove(self._id, gain_cp)

    def revise(self, known: QuickAndFull, ply: int) -> None:
        """The full search of ``ply`` may have told another gain than the quick look: then it and
        all that follow leave the curve, to be put back by :meth:`advance`.
        """
        if ply in self._hasty and known.tier(ply) == "full":
            self._hasty -= {*range(ply, len(known) + 1, 2)}
            self._rewind(known.mover(ply), ply)

    def advance(self, known: QuickAndFull, out: Outbox, engine_rating: int) -> None:
        """Put every known gain that is next in ply order into its curve."""
        for color in COLORS:
            first = 1 if known.mover(1) == color else 2
            last = self.curves.last_ply(color)
            for ply in range(last + 2 if last else first, len(known) + 1, 2):
                if not known.told(ply):
                    break
                self._add(known, color, ply, out, engine_rating)

    def _add(
        self, known: QuickAndFull, color: Color, ply: int, out: Outbox, engine_rating: int
    ) -> None:
        look = known.at(ply)
        gain_cp = look.gains(ply).of(self._measure.gain)
        if gain_cp is None:
            return  # given up: this ply has no gain, the later ones still count
        before = look.position(ply - 1)
        assert before is not None  # else the ply would have no gain
        if look is not known:
            self._hasty.add(ply)
        score_before_cp = before.score.cp if color == "white" else -before.score.cp
        point = self.curves.add(color, ply, gain_cp, score_before_cp, engine_rating)
        self.tallies[color].add(self._id, gain_cp)
        out.changes.append(PointMessage(self._id, color, point))


def elos_of(game: Game) -> dict[Color, int | None]:
    """The players' own ratings."""
    return {"white": game.headers.white.elo, "black": game.headers.black.elo}
