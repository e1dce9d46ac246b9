"""One way to rate a game: from what is known of it now to every figure of both sides. Pure.

Live, after a restart, in the archive and in an explanation it is the same call. What it makes
follows from its arguments alone, whatever order they became known in: a move whose score is not
known is left out, and comes in when it is. :class:`GameRater` reuses what it made of the
moves before the first that differs from its last call.

Per move: its gain, and the comparison of it with rated players in the same position
(:mod:`live.ratings.perceived_rating`). Everything else is sums over moves, held after each of them,
so that one more move costs no more than itself. What cannot be said is null and has its reason
beside it; sums over games do not depend on their order.
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
from live.games.pace_of_play import SPENT_PLIES, ClockedGame, Pace, classify_pace
from live.human.question import HumanAnswer
from live.messages.figures import CurvePoint, Curves, GainKind, HeadToHead
from live.messages.values import Color, Value
from live.ratings.agreement import ChoiceModel, GameChoices, counts, predict_found_share
from live.ratings.alliot import (
    measure_complexity,
)
from live.ratings.expected_result import ResultModel
from live.ratings.expected_score import convert_score_to_difference
from live.ratings.ferreira import SPIKE_AT_ZERO, EngineDistribution, run_algorithm_4
from live.ratings.intrinsic_rating import (
    IntrinsicTable,
)
from live.ratings.perceived_model import (
    ModelChoice,
    Models,
    MoveReader,
    PaceGroup,
    Turn,
)
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


# --- what everybody of one event is measured with, and how figures are rounded ---

#: Decimals published: a hundredth of an Elo point, a millionth of a point of score. Figures are
#: rounded once, so that every subscriber adds the very same numbers.
ELO_DECIMALS = 2
SCORE_DECIMALS = 6
PERCENT_DECIMALS = 1

#: What Algorithm 4 shows of a field against an engine that nothing was learned of, Elo: -143 and
#: -151 over the board, -185 in blitz.
USUAL_DIFFERENCE = -150.0


class HumanSearches(NamedTuple):
    """The short search that says what the moves players choose would lose."""

    lines: int
    limit: Limit


class Measure(NamedTuple):
    """The gain that feeds the curves, the models that fit engine, limit and gain, and the options
    of searches.
    """

    gain: GainKind
    models: Models = Models()
    """What perceived ratings are read by."""
    search_options: SearchOptions = SearchOptions()
    table: IntrinsicTable | None = None
    """For choices among several lines; None where none fits, see ``table_note``."""
    table_note: str = "Multi-PV is off ([engine] multipv)"
    results: tuple[ResultModel, ...] = ()
    """How games end, by pace."""
    forecast: ChoiceModel | None = None
    """Of the engine's first choices; None for an engine and limit of which it was not learned."""
    human: HumanSearches | None = None
    """For what players of a rating would play; None where nobody is asked."""

    engine_gains: EngineDistribution = SPIKE_AT_ZERO
    """How the engine's own gains are distributed: what Algorithm 4 measures players against."""

    def expected_difference(self, elo: float) -> float:
        """What Algorithm 4 shows of players of this Elo, against the engine."""
        for model in self.models.models:
            return model.expected_difference(elo)
        return USUAL_DIFFERENCE

    def results_of(self, pace: Pace | None) -> ResultModel | None:
        """How games of this pace end; None where nothing was learned at all."""
        fast = pace in ("blitz", "bullet")
        wanted = "blitz" if fast else "classical"
        return next(
            (each for each in self.results if each.time_control == wanted), None
        )


def game_pace(game: Game) -> Pace | None:
    """How fast a game is played, as far as its source says."""
    clocks = [
        ClockedGame(move.clock_s, move.spent_s) for move in game.moves[:SPENT_PLIES]
    ]
    return classify_pace(game.headers.time_control, clocks)


def rounded(value: float | None, decimals: int) -> float | None:
    """``value`` as published; None stays None (unbounded or unknown)."""
    # Adding 0.0 turns -0.0, which JSON would show, into 0.0.
    return None if value is None else round(value, decimals) + 0.0


# --- rating ---------------------------------------------------------------------------------------


class SideFigures(Value, eq=False):
    """What one game says of one player: all that figures over the event are made of."""

    pace: PaceGroup
    gains_cp: tuple[int, ...] = ()
    """In ply order."""
    scores: GameScores = _NO_SCORES
    """Of these against the engine (Algorithm 4)."""
    evidence: Evidence | None = None
    """What the perceived rating is read from; None without a counted move."""
    choices: GameChoices | None = None
    """Choices of the engine's move beside the forecast; None where nothing forecasts them."""

    def same(self, other: SideFigures) -> bool:
        """Whether it says the same."""
        pairs = zip(
            msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True
        )
        return all(
            one is other
            or (not isinstance(one, Evidence | GameChoices) and one == other)
            for one, other in pairs
        )


class GameFigures(Value, eq=False):
    """Every figure of one game."""

    white: SideFigures
    black: SideFigures
    curves: Curves
    head_to_head: HeadToHead
    model: str | None
    """As :class:`live.messages.figures.GameView` has it."""
    note: str


class TracedMove(NamedTuple):
    """How one move entered the perceived rating, for an explanation."""

    turn: Turn
    compared: ComparedMove


class TracedSide(NamedTuple):
    """How one side's perceived rating came about, for an explanation."""

    reader: MoveReader
    elos: Elos
    """Whom the side was compared with."""
    evidence: Evidence
    moves: tuple[TracedMove, ...]
    """Those that count."""


def count_common(
    one: Iterable[Any], other: Iterable[Any], same: Callable[[Any, Any], bool]
) -> int:
    """How many items of both are the same, from the first on."""
    pairs = zip(one, other, strict=False)
    found = 0
    for found, (a, b) in enumerate(pairs, 1):
        if a is not b and not same(a, b):
            return found - 1
    return found


class _Terms(NamedTuple):
    """What rates every move of one game; another one rates them all anew."""

    measure: Measure
    choice: ModelChoice
    elos: Mapping[Color, int | None]
    level: float | None


class _Rated(NamedTuple):
    """One move, with its side's sums after it."""

    known: KnownMove
    answer: HumanAnswer | None
    gain_cp: int | None = None
    scores: GameScores = _NO_SCORES
    choices: GameChoices | None = None
    evidence: Evidence | None = None
    point: CurvePoint | None = None
    """Of this very ply, while the game goes on; None where its gain is not known."""


class GameRater:
    """Every figure of one game, once and again."""

    def __init__(self) -> None:
        self._terms: _Terms | None = None
        self._moves: list[_Rated] = []
        # What was compared, by ply: a late score rates later plies anew, but judges none anew.
        self._compared: dict[int, TracedMove] = {}
        self._sums: GameSums | None = None
        self._sides: dict[Color, SideFigures] = {}

    def rate(
        self,
        game: Game,
        searches: KnownGame,
        answers: Sequence[HumanAnswer | None],
        field: float | None,
        measure: Measure,
    ) -> GameFigures:
        """Every figure of a game.

        Args:
            game: its headers, clocks and result count; its moves are those of ``searches``.
            searches: what searches have shown, all of it final.
            answers: what people would play, by position; as many as are known.
            field: the mean rating of the event's rated players, Elo; None while nobody is rated.
            measure: models and definitions.
        """
        terms = _terms(game, field, measure)
        if terms != self._terms:
            self._begin(terms)
        known = list(zip(searches.moves, chain(answers, repeat(None)), strict=False))
        same = count_common(
            self._moves,
            known,
            lambda held, now: held.known is now[0] and held.answer is now[1],
        )
        del self._moves[same:]
        if self._sums is not None:
            self._sums.truncate(same)
        for move, answer in known[same:]:
            self._moves.append(self._rated(terms, move, answer))
        sides = {
            color: [each for each in self._moves if each.known.mover == color]
            for color in COLORS
        }
        for color, own in sides.items():
            if own and game.result != "*":
                own[-1] = self._finished(terms, color, own[-1])
        points = [
            tuple(each.point for each in own if each.point) for own in sides.values()
        ]
        if game.result != "*" and not is_played(game):
            # What one side never began is no game: it has points, and no figure.
            points = [tuple(map(without_figures, own)) for own in points]
            sides = dict[Color, list[_Rated]]((color, []) for color in COLORS)
        white, black = (self._side(terms, color, sides[color]) for color in COLORS)
        return GameFigures(
            white=white,
            black=black,
            curves=Curves(*points),
            head_to_head=head_to_head(white.gains_cp, black.gains_cp),
            model=terms.choice.model if terms.choice.reader else None,
            note=terms.choice.note,
        )

    def trace(self, color: Color, ply: int) -> TracedSide | None:
        """A side after ``ply`` of a game that goes on, in the last call; None without a counted
        move.
        """
        own = [each for each in self._moves[:ply] if each.known.mover == color]
        reader = self._terms.choice.reader if self._terms is not None else None
        if not own or own[-1].evidence is None or reader is None or self._sums is None:
            return None
        traced = (self._compared.get(each.known.ply) for each in own)
        moves = tuple(each for each in traced if each is not None)
        return TracedSide(reader, self._sums.elos[color], own[-1].evidence, moves)

    # --- sums over moves ------------------------------------------------------------------------

    def _begin(self, terms: _Terms) -> None:
        self.__init__()  # type: ignore[misc]  # nothing of before counts
        self._terms = terms
        reader, level = terms.choice.reader, terms.level
        if reader is not None and level is not None:
            elos = {
                color: Elos.from_ratings(level, elo)
                for color, elo in terms.elos.items()
            }
            self._sums = GameSums(elos, reader.shared)

    def _rated(
        self, terms: _Terms, known: KnownMove, answer: HumanAnswer | None
    ) -> _Rated:
        measure, reader, color, ply = (
            terms.measure,
            terms.choice.reader,
            known.mover,
            known.ply,
        )
        gain_cp = known.gains.of(measure.gain)
        blank = _Rated(known, answer)
        last = next(
            (each for each in reversed(self._moves) if each.known.mover == color), blank
        )
        rated = last._replace(known=known, answer=answer, gain_cp=None, point=None)
        before, traced = known.before, self._compared.pop(ply, None)
        if gain_cp is None or before is None:
            return rated
        parts = measure.engine_gains.score_gain(gain_cp)
        n, total, squares = rated.scores
        scores = GameScores(n + 1, total + parts, squares + parts * parts)
        turn, evidence = _turn(known, before, gain_cp), rated.evidence
        # A forced move is no choice, and what no search of ours has seen says too little.
        if (
            reader
            and self._sums
            and not known.board.is_forced
            and before.best is not None
        ):
            if traced is None or traced.turn != turn:
                traced = TracedMove(
                    turn, reader.compare_turn(turn, self._sums.elos[color])
                )
            self._compared[ply] = traced
            self._sums.add(color, ply, traced.compared)
            evidence = self._sums.sum_evidence(color, reader.dispersion, over=False)
        return rated._replace(
            gain_cp=gain_cp,
            scores=scores,
            choices=_choices(terms, rated.choices, turn, known, answer),
            evidence=evidence,
            point=_point(terms, ply, gain_cp, scores, evidence),
        )

    def _finished(self, terms: _Terms, color: Color, last: _Rated) -> _Rated:
        """The side after its last move, where the game has ended with it: finished games differ by
        more than running ones.
        """
        reader = terms.choice.reader
        if last.gain_cp is None or last.known.ply < len(self._moves) - 1:
            return last
        if self._sums is None or reader is None or last.evidence is None:
            return last
        evidence = self._sums.sum_evidence(color, reader.dispersion, over=True)
        held = self._sides[color].evidence if color in self._sides else None
        if held is not None and evidence is not None and _same(held, evidence):
            evidence = held
        point = _point(terms, last.known.ply, last.gain_cp, last.scores, evidence)
        return last._replace(evidence=evidence, point=point)

    def _side(
        self, terms: _Terms, color: Color, moves: Sequence[_Rated]
    ) -> SideFigures:
        sums = ("scores", "evidence", "choices")
        side = SideFigures(
            pace=terms.choice.pace,
            gains_cp=tuple(each.gain_cp for each in moves if each.gain_cp is not None),
            **{name: getattr(moves[-1], name) for name in (sums if moves else ())},
        )
        held = self._sides.get(color)
        if held is None or not held.same(side):
            held = self._sides[color] = side
        return held


def without_figures(point: CurvePoint) -> CurvePoint:
    """The move alone: subscribers hold a point for it."""
    return CurvePoint(
        ply=point.ply, n=0, counted=0, gain_cp=point.gain_cp, score=point.score
    )


def _point(
    terms: _Terms, ply: int, gain_cp: int, scores: GameScores, evidence: Evidence | None
) -> CurvePoint:
    return CurvePoint(
        ply=ply,
        n=scores.n,
        gain_cp=gain_cp,
        **algorithm_4_figures(ClusteredScores((scores,)), terms.measure),
        **perceived_figures(evidence, terms.choice.reader),
    )


def algorithm_4_figures(scores: ClusteredScores, measure: Measure) -> dict[str, Any]:
    """Its fields of a curve point or player, rounded; null without a move."""
    found = run_algorithm_4(scores, measure.engine_gains, measure.gain)._asdict()
    figures = {name: rounded(each, ELO_DECIMALS) for name, each in found.items()}
    return figures | {"score": rounded(found["score"], SCORE_DECIMALS)}


def _choices(
    terms: _Terms,
    choices: GameChoices | None,
    turn: Turn,
    known: KnownMove,
    answer: HumanAnswer | None,
) -> GameChoices | None:
    forecast, best = terms.measure.forecast, known.before.best if known.before else None
    elo = terms.elos[known.mover]
    if forecast is None or elo is None:
        return None
    choices = GameChoices() if choices is None else choices
    if best is None or known.board.is_forced or not counts(turn):
        return choices
    # How many players of this Elo choose the engine's move, as the forecast was learned with.
    human, found = forecast.human, None
    if human is not None and answer is not None and answer.network == human.network:
        found = predict_found_share(answer, best, elo)
    turn = msgspec.structs.replace(turn, found=found)
    return choices.add_choice(forecast.compute_log_odds(turn, elo), best == known.uci)


def head_to_head(white_cp: Sequence[int], black_cp: Sequence[int]) -> HeadToHead:
    """Algorithm 1: White's gains against Black's (Ferreira 2012, section 4, Eq. 2)."""
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
    """Return the fields of a curve point or player, as they are published."""
    counted = evidence.counted if evidence is not None else 0
    if reader is None:
        return {"counted": counted, "reason": "no-model"}
    found = read_rating(evidence, reader.prior_sd) if evidence is not None else None
    if found is None or counted < LEAST_MOVES:
        return {"counted": counted, "reason": "early"}
    figures = {
        "counted": counted,
        "perceived": _published_elo(found.rating),
        "low": _published_elo(found.low),
        "high": _published_elo(found.high),
    }
    if counted < EARLY_MOVES:
        return figures
    return figures | {
        "usual_low": _published_elo(found.usual_low),
        "usual_high": _published_elo(found.usual_high),
        "percentile": rounded(found.percentile, PERCENT_DECIMALS),
    }


def _published_elo(elo: float | None) -> int | None:
    """Return whole Elo within what is shown."""
    if elo is None:
        return None
    return round(min(max(elo, LEAST_SHOWN_ELO), MOST_SHOWN_ELO))


def needs_field(game: Game) -> bool:
    """Whether the level of the game is that of the field: neither player is rated."""
    return game.headers.white.elo is None and game.headers.black.elo is None


def _terms(game: Game, field: float | None, measure: Measure) -> _Terms:
    choice = measure.models.choose_for_pace(game_pace(game))
    white, black = game.headers.white.elo, game.headers.black.elo
    level = None
    if choice.reader is not None:
        level = estimate_level(
            white, black, choice.reader.mean_elo if field is None else field
        )
    return _Terms(measure, choice, {"white": white, "black": black}, level)


def _turn(known: KnownMove, before: EvaluatedPosition, gain_cp: int) -> Turn:
    seen, score_cp = measure_complexity(before.by_depth), before.score.cp
    return Turn(
        gain_cp,
        score_cp if known.mover == "white" else -score_cp,
        known.ply,
        seen.stability_cp if seen else None,
        seen.jump_cp if seen else None,
        known.board,
    )


def _same(one: Evidence, other: Evidence) -> bool:
    return one.slope is other.slope and one.kappa == other.kappa
