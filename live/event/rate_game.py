"""Computes every figure of both sides of one game from its present data. Pure.

The same call rates a game live, after a restart, from the archive and for an
explanation. The figures depend only on the arguments, not on the order in which data
became known: a move without a score is left out until it has one. :class:`GameRater`
reuses the figures of all moves before the first move that has changed since its last
call.

Each move has a gain, and is compared with rated players in the same position
(:mod:`live.ratings.perceived_rating`). All other figures are sums over moves. The sums
are stored after each move, so that a further move needs little computation. A figure
that cannot be computed is null, and another field gives the reason. Sums over games do
not depend on their order.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, NamedTuple

import msgspec

from live.catalogue import EARLY_MOVES, LEAST_MOVES, LEAST_SHOWN_ELO, MOST_SHOWN_ELO
from live.engine.search import Limit, SearchOptions
from live.event.ply import EvaluatedPosition, KnownGame, KnownMove
from live.games.game import Game, is_played
from live.games.pace_of_play import Pace, classify_pace
from live.human.question import HumanAnswer
from live.messages.figures import CurvePoint, Curves, GainKind, HeadToHead
from live.messages.values import Color, Value
from live.ratings.agreement import (
    ChoiceModel,
    GameChoices,
    is_counted_choice,
    predict_engine_move_share,
)
from live.ratings.complexity import measure_complexity
from live.ratings.expected_result import ResultModel
from live.ratings.expected_score import convert_score_to_difference
from live.ratings.ferreira import SPIKE_AT_ZERO, EngineDistribution, run_algorithm_4
from live.ratings.intrinsic_rating import IntrinsicTable
from live.ratings.model_choice import ModelChoice, Models, PaceGroup
from live.ratings.move_circumstances import Turn
from live.ratings.perceived_model import MoveReader
from live.ratings.perceived_rating import (
    ComparedMove,
    Elos,
    Evidence,
    GameSums,
    estimate_level,
    read_rating,
)
from live.ratings.score_interval import ClusteredScores, GameScores

COLORS: tuple[Color, Color] = ("white", "black")

_NO_SCORES = GameScores(0, 0, 0)


# --- measures for all games of one event ----------------------------------------------

#: Published decimals: 0.01 Elo (``ELO_DECIMALS``), and 0.000001 points
#: (``SCORE_DECIMALS``). Figures are rounded only once, so that all subscribers add
#: exactly the same numbers.
ELO_DECIMALS = 2
SCORE_DECIMALS = 6
PERCENT_DECIMALS = 1

#: Typical difference of a field's rating from an engine's by Algorithm 4, Elo. It is
#: used for an engine without a learned model. Measured were -143 and -151 over the
#: board, and -185 in blitz.
USUAL_DIFFERENCE = -150.0


class HumanSearches(NamedTuple):
    """The short searches that find the losses of moves that people would play."""

    lines: int
    limit: Limit


class Measure(NamedTuple):
    """Definitions and models for all games of an event.

    They are the kind of gain, the models that fit engine, limit and gain, and the
    options of searches.
    """

    gain: GainKind
    models: Models = Models()
    """Models of the perceived rating."""
    search_options: SearchOptions = SearchOptions()
    table: IntrinsicTable | None = None
    """Table for choices among several lines; None if no table fits (``table_note``
    gives the reason).
    """
    table_note: str = "Multi-PV is off ([engine] multipv)"
    results: tuple[ResultModel, ...] = ()
    """Models of game results, one per pace."""
    forecast: ChoiceModel | None = None
    """Forecast of the engine's first choices; None if none was learned for this engine
    and limit.
    """
    human: HumanSearches | None = None
    """Searches for the losses of human moves; None if human moves are not predicted."""

    engine_gains: EngineDistribution = SPIKE_AT_ZERO
    """Distribution of the engine's own gains, with which Algorithm 4
    compares players.
    """

    def expected_difference(self, elo: float) -> float:
        """Return the difference from the engine, Elo, that Algorithm 4 finds for
        players of this Elo.
        """
        for model in self.models.models:
            return model.predict_difference(elo)
        return USUAL_DIFFERENCE

    def results_of(self, pace: Pace | None) -> ResultModel | None:
        """Return the model of the results of games at this pace; None if
        there is none.
        """
        is_fast = pace in ("blitz", "bullet")
        time_control = "blitz" if is_fast else "classical"
        return next(
            (model for model in self.results if model.time_control == time_control),
            None,
        )


def game_pace(game: Game) -> Pace | None:
    """Return the pace of a game; None if its source does not give the time control."""
    return classify_pace(game.headers.time_control, game.moves)


def rounded(value: float | None, decimals: int) -> float | None:
    """Return ``value`` rounded for publication; None (unbounded or unknown)
    stays None.
    """
    # Adding 0.0 changes -0.0 to 0.0, since JSON would show the sign.
    return None if value is None else round(value, decimals) + 0.0


# --- rating ---------------------------------------------------------------------------


class SideFigures(Value, eq=False):
    """One player's part of one game.

    All of the player's figures over the event are computed from these parts.
    """

    pace: PaceGroup
    gains_cp: tuple[int, ...] = ()
    """Gains in centipawns, in ply order."""
    scores: GameScores = _NO_SCORES
    """Scores of these gains against the engine (Algorithm 4)."""
    evidence: Evidence | None = None
    """Evidence for the perceived rating; None without a counted move."""
    choices: GameChoices | None = None
    """Choices of the engine's move, compared with the forecast; None if there is no
    forecast.
    """

    def has_equal_figures(self, other: SideFigures) -> bool:
        """Return whether two sides have equal figures."""
        pairs = zip(
            msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True
        )
        return all(
            own_value is other_value
            or (
                not isinstance(own_value, Evidence | GameChoices)
                and own_value == other_value
            )
            for own_value, other_value in pairs
        )


class GameFigures(Value, eq=False):
    """Every figure of one game."""

    white: SideFigures
    black: SideFigures
    curves: Curves
    head_to_head: HeadToHead
    model: str | None
    """Same value as in :class:`live.messages.figures.GameView`."""
    note: str


class TracedMove(NamedTuple):
    """The contribution of one move to the perceived rating, for an explanation."""

    turn: Turn
    compared: ComparedMove


class TracedSide(NamedTuple):
    """All data from which one side's perceived rating was computed, for an
    explanation.
    """

    reader: MoveReader
    elos: Elos
    """Ratings of the players with whom the side was compared."""
    evidence: Evidence
    moves: tuple[TracedMove, ...]
    """The moves that count."""


def count_common(
    first: Iterable[Any], second: Iterable[Any], is_same: Callable[[Any, Any], bool]
) -> int:
    """Return the number of leading items that two sequences have in common."""
    pairs = zip(first, second, strict=False)
    count = 0
    for count, (a, b) in enumerate(pairs, 1):
        if a is not b and not is_same(a, b):
            return count - 1
    return count


class _Context(NamedTuple):
    """Inputs that the rating of every move depends on.

    If one of them changes, all moves are rated again.
    """

    measure: Measure
    choice: ModelChoice
    elos: Mapping[Color, int | None]
    level: float | None


class _Rated(NamedTuple):
    """One move, with the sums over its side's moves up to this move."""

    move: KnownMove
    answer: HumanAnswer | None
    gain_cp: int | None = None
    scores: GameScores = _NO_SCORES
    choices: GameChoices | None = None
    evidence: Evidence | None = None
    point: CurvePoint | None = None
    """Curve point at this ply while the game is in progress; None if the gain is
    unknown.
    """


class GameRater:
    """Rates one game, and reuses unchanged figures when it is called again."""

    def __init__(self) -> None:
        self._reset(None)

    def _reset(self, context: _Context | None) -> None:
        self._context = context
        self._moves: list[_Rated] = []
        # Comparisons by ply. A late score changes the sums of later plies, but not
        # their comparisons.
        self._compared: dict[int, TracedMove] = {}
        self._sums: GameSums | None = None
        self._sides: dict[Color, SideFigures] = {}
        if context is None or context.choice.reader is None or context.level is None:
            return
        elos = {
            color: Elos.from_ratings(context.level, elo)
            for color, elo in context.elos.items()
        }
        self._sums = GameSums(elos, context.choice.reader.shared)

    def rate(
        self,
        game: Game,
        searches: KnownGame,
        answers: Sequence[HumanAnswer | None],
        field: float | None,
        measure: Measure,
    ) -> GameFigures:
        """Return every figure of a game.

        Args:
            game: the headers, clocks and result; its moves are those of ``searches``.
            searches: all final scores of searches.
            answers: predicted human moves, by position; the list can be shorter than
                the game.
            field: mean Elo of the event's rated players; None while no player is rated.
            measure: models and definitions.
        """
        context = _choose_context(game, field, measure)
        if context != self._context:
            self._reset(context)
        moves = list(zip(searches.moves, chain(answers, repeat(None)), strict=False))
        common_plies = count_common(
            self._moves,
            moves,
            lambda rated, now: rated.move is now[0] and rated.answer is now[1],
        )
        del self._moves[common_plies:]
        if self._sums is not None:
            self._sums.truncate(common_plies)
        for move, answer in moves[common_plies:]:
            self._moves.append(self._rate_move(context, move, answer))
        is_over = game.result != "*"
        sides: list[SideFigures] = []
        curves: list[tuple[CurvePoint, ...]] = []
        for color in COLORS:
            own = self._list_moves_of(color)
            if own and is_over:
                own[-1] = self._recompute_final_evidence(context, color, own[-1])
            points = tuple(move.point for move in own if move.point)
            if is_over and not is_played(game):
                # A game that ended before both sides moved has curve points but no
                # figures.
                points = tuple(map(strip_figures, points))
                own = []
            curves.append(points)
            sides.append(self._sum_side(context, color, own))
        white, black = sides
        return GameFigures(
            white=white,
            black=black,
            curves=Curves(*curves),
            head_to_head=compare_head_to_head(white.gains_cp, black.gains_cp),
            model=context.choice.model if context.choice.reader else None,
            note=context.choice.note,
        )

    def _list_moves_of(self, color: Color) -> list[_Rated]:
        return [rated for rated in self._moves if rated.move.mover == color]

    def trace_side(self, color: Color, ply: int) -> TracedSide | None:
        """Return a side's rating after ``ply``, with all data from which it was
        computed.

        The rating is that of a game in progress. The values are those of the last call
        of :meth:`rate`. Return None if no move counts.
        """
        own = [rated for rated in self._moves[:ply] if rated.move.mover == color]
        reader = self._context.choice.reader if self._context is not None else None
        if not own or own[-1].evidence is None or reader is None or self._sums is None:
            return None
        traced = (self._compared.get(rated.move.ply) for rated in own)
        moves = tuple(compared for compared in traced if compared is not None)
        return TracedSide(reader, self._sums.elos[color], own[-1].evidence, moves)

    # --- sums over moves --------------------------------------------------------------

    def _rate_move(
        self, context: _Context, move: KnownMove, answer: HumanAnswer | None
    ) -> _Rated:
        measure, reader = context.measure, context.choice.reader
        color, ply = move.mover, move.ply
        gain_cp = move.gains.of(measure.gain)
        own = (
            earlier for earlier in reversed(self._moves) if earlier.move.mover == color
        )
        last = next(own, _Rated(move, answer))
        rated = last._replace(move=move, answer=answer, gain_cp=None, point=None)
        before = move.before
        traced = self._compared.pop(ply, None)
        if gain_cp is None or before is None:
            return rated
        parts = measure.engine_gains.score_gain(gain_cp)
        n, total, squares = rated.scores
        scores = GameScores(n + 1, total + parts, squares + parts * parts)
        turn = _build_turn(move, before, gain_cp)
        evidence = rated.evidence
        # A forced move is not a choice. A score from the source does not include the
        # engine's first choice, so it cannot judge one.
        is_choice = not move.board.is_forced and before.best is not None
        if reader and self._sums and is_choice:
            if traced is None or traced.turn != turn:
                compared = reader.compare_turn(turn, self._sums.elos[color])
                traced = TracedMove(turn, compared)
            self._compared[ply] = traced
            self._sums.add(color, ply, traced.compared)
            evidence = self._sums.sum_evidence(color, reader.dispersion, over=False)
        return rated._replace(
            gain_cp=gain_cp,
            scores=scores,
            choices=_add_choice(context, rated.choices, turn, move, answer),
            evidence=evidence,
            point=_build_point(context, ply, gain_cp, scores, evidence),
        )

    def _recompute_final_evidence(
        self, context: _Context, color: Color, last: _Rated
    ) -> _Rated:
        """Return the last move of a side whose game has ended, with new evidence.

        The evidence is computed again, because performances in finished games vary more
        than those in running games.
        """
        reader = context.choice.reader
        if last.gain_cp is None or last.move.ply < len(self._moves) - 1:
            return last
        if self._sums is None or reader is None or last.evidence is None:
            return last
        evidence = self._sums.sum_evidence(color, reader.dispersion, over=True)
        previous = self._sides[color].evidence if color in self._sides else None
        if (
            previous is not None
            and evidence is not None
            and _is_same(previous, evidence)
        ):
            evidence = previous
        point = _build_point(
            context, last.move.ply, last.gain_cp, last.scores, evidence
        )
        return last._replace(evidence=evidence, point=point)

    def _sum_side(
        self, context: _Context, color: Color, moves: Sequence[_Rated]
    ) -> SideFigures:
        side = SideFigures(pace=context.choice.pace)
        if moves:
            side = SideFigures(
                context.choice.pace,
                tuple(move.gain_cp for move in moves if move.gain_cp is not None),
                moves[-1].scores,
                moves[-1].evidence,
                moves[-1].choices,
            )
        previous = self._sides.get(color)
        if previous is not None and previous.has_equal_figures(side):
            return previous
        self._sides[color] = side
        return side


def strip_figures(point: CurvePoint) -> CurvePoint:
    """Return a point without figures, since subscribers expect one point
    for each move.
    """
    return CurvePoint(
        ply=point.ply, n=0, counted=0, gain_cp=point.gain_cp, score=point.score
    )


def _build_point(
    context: _Context,
    ply: int,
    gain_cp: int,
    scores: GameScores,
    evidence: Evidence | None,
) -> CurvePoint:
    return CurvePoint(
        ply=ply,
        n=scores.n,
        gain_cp=gain_cp,
        **algorithm_4_figures(ClusteredScores((scores,)), context.measure),
        **perceived_figures(evidence, context.choice.reader),
    )


def algorithm_4_figures(scores: ClusteredScores, measure: Measure) -> dict[str, Any]:
    """Return the fields of Algorithm 4 of a curve point or player, rounded.

    The fields are null without a move.
    """
    result = run_algorithm_4(scores, measure.engine_gains, measure.gain)._asdict()
    figures = {name: rounded(figure, ELO_DECIMALS) for name, figure in result.items()}
    return figures | {"score": rounded(result["score"], SCORE_DECIMALS)}


def _add_choice(
    context: _Context,
    choices: GameChoices | None,
    turn: Turn,
    move: KnownMove,
    answer: HumanAnswer | None,
) -> GameChoices | None:
    forecast, best = (
        context.measure.forecast,
        move.before.best if move.before else None,
    )
    elo = context.elos[move.mover]
    if forecast is None or elo is None:
        return None
    choices = GameChoices() if choices is None else choices
    if best is None or move.board.is_forced or not is_counted_choice(turn):
        return choices
    # The forecast was learned with the share of players of this Elo who choose the
    # engine's move, so it needs this share here.
    human, share = forecast.human, None
    if human is not None and answer is not None and answer.network == human.network:
        share = predict_engine_move_share(answer, best, elo)
    turn = msgspec.structs.replace(turn, found=share)
    return choices.add_choice(forecast.compute_log_odds(turn, elo), best == move.uci)


def compare_head_to_head(
    white_cp: Sequence[int], black_cp: Sequence[int]
) -> HeadToHead:
    """Rate White's gains against Black's by Algorithm 1 (Ferreira 2012, section 4, Eq.
    2).
    """
    if not white_cp or not black_cp:
        return HeadToHead()
    ranked = sorted(black_cp)
    halves = sum(
        bisect_left(ranked, gain) + bisect_right(ranked, gain) for gain in white_cp
    )
    expected = halves / (2 * len(white_cp) * len(black_cp))
    return HeadToHead(
        rounded(expected, SCORE_DECIMALS),
        rounded(convert_score_to_difference(expected), ELO_DECIMALS),
    )


def perceived_figures(
    evidence: Evidence | None, reader: MoveReader | None
) -> dict[str, Any]:
    """Return the fields of the perceived rating of a curve point or player, rounded."""
    counted = evidence.counted if evidence is not None else 0
    if reader is None:
        return {"counted": counted, "reason": "no-model"}
    rating = read_rating(evidence, reader.prior_sd) if evidence is not None else None
    if rating is None or counted < LEAST_MOVES:
        return {"counted": counted, "reason": "early"}
    figures = {
        "counted": counted,
        "perceived": _published_elo(rating.rating),
        "low": _published_elo(rating.low),
        "high": _published_elo(rating.high),
    }
    if counted < EARLY_MOVES:
        return figures
    return figures | {
        "usual_low": _published_elo(rating.usual_low),
        "usual_high": _published_elo(rating.usual_high),
        "percentile": rounded(rating.percentile, PERCENT_DECIMALS),
    }


def _published_elo(elo: float | None) -> int | None:
    """Return a rating as whole Elo, limited to the published range; None for None."""
    if elo is None:
        return None
    return round(min(max(elo, LEAST_SHOWN_ELO), MOST_SHOWN_ELO))


def needs_field(game: Game) -> bool:
    """Return whether a game is rated with the mean Elo of the field.

    This is the case if neither player is rated.
    """
    return game.headers.white.elo is None and game.headers.black.elo is None


def _choose_context(game: Game, field: float | None, measure: Measure) -> _Context:
    choice = measure.models.choose_for_pace(game_pace(game))
    white, black = game.headers.white.elo, game.headers.black.elo
    level = None
    if choice.reader is not None:
        level = estimate_level(
            white, black, choice.reader.mean_elo if field is None else field
        )
    return _Context(measure, choice, {"white": white, "black": black}, level)


def _build_turn(move: KnownMove, before: EvaluatedPosition, gain_cp: int) -> Turn:
    complexity, score_cp = measure_complexity(before.by_depth), before.score.cp
    return Turn(
        gain_cp,
        score_cp if move.mover == "white" else -score_cp,
        move.ply,
        complexity.stability_cp if complexity else None,
        complexity.jump_cp if complexity else None,
        move.board,
    )


def _is_same(first: Evidence, second: Evidence) -> bool:
    return first.slope is second.slope and first.kappa == second.kappa
