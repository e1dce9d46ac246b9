"""One way to rate a game: from what is known of it now to every figure of both sides. Pure."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import is_
from typing import Any, NamedTuple, Protocol

import msgspec
import numpy as np

from live.events import (
    Color,
    CurvePoint,
    Curves,
    GameMethods,
    HeadToHead,
    Intrinsic,
    Score,
    Share,
    SideMethods,
)
from live.games.game import Game
from live.human.question import HumanAnswer
from live.ledger.game_evaluations import KnownGame, KnownMove
from live.ledger.measure import (
    ELO_DECIMALS,
    PERCENT_DECIMALS,
    SCORE_DECIMALS,
    Measure,
    game_pace,
    rounded,
)
from live.ratings.accuracy import Accuracy, CentipawnLoss, GameAccuracy
from live.ratings.agreement import ChoiceModel, GameChoices, counts, found_by
from live.ratings.choice_model import Spread, left_out, spread_of
from live.ratings.conformance import (
    GUID_BRATKO,
    PONDERATED,
    RAW,
    complexity,
    is_counted,
    predict_by_shares,
)
from live.ratings.expected_score import difference_of
from live.ratings.ferreira import interval_of
from live.ratings.intrinsic_rating import IntrinsicCounter, IntrinsicTable, project
from live.ratings.perceived_model import ModelChoice, MoveReader, PaceGroup, Turn
from live.ratings.perceived_rating import (
    ComparedMove,
    Elos,
    Evidence,
    GameSums,
    Perceived,
    game_level,
    perceived,
)
from live.ratings.score_interval import GameScores, clustered_interval

# --- move quality -------------------------------------------------------------------------------

# Every move as the methods beside Ferreira's need it, and one side's moves of a game counted.


#: "Each game was begun on move 9", "more than 3 pawns ahead" (Regan and Haworth 2011, section 5).
FIRST_CHOICE_PLY = 17
DECIDED_CP = 300


class MoveQuality(msgspec.Struct, frozen=True, gc=False):
    """One move against the engine's choice; scores and gain from the mover's side."""

    ply: int
    best_cp: int | None = None
    """Score of the position before the move; None while unknown."""
    gain_cp: int | None = None
    """Same-search gain; None while unknown, or for ever without a first choice."""
    first_choice: bool | None = None
    """Whether it was the engine's own; None where nobody chose."""
    forced: bool = False
    """It was the only legal move."""
    spread: Spread | None = None
    """What there was to choose from, where the engine showed several lines and the turn counts
    (Regan and Haworth 2011, section 5)."""
    after: Score | None = None
    """Final score of the position after the move, White's side."""


def judged(known: KnownMove) -> MoveQuality:
    """What is finally known of a move."""
    before = known.before
    forced = known.board.forced
    after = known.after.score if known.after else None
    if before is None:
        return MoveQuality(known.ply, forced=forced, after=after)
    sign = 1 if known.mover == "white" else -1
    choice = None if before.best is None else before.best == known.uci
    spread = _counted_spread(known, [(line.move, sign * line.score.cp) for line in before.lines])
    return MoveQuality(
        known.ply,
        sign * before.score.cp,
        known.gains.same_search_cp,
        choice,
        forced,
        spread,
        after,
    )


def _counted_spread(known: KnownMove, lines: list[tuple[str, int]]) -> Spread | None:
    # An engine stopped while it orders its lines may list one move at two ranks, and so miss one.
    if len(lines) < 2 or len({move for move, _ in lines}) < len(lines):
        return None
    spread = spread_of(lines, known.uci)
    return None if left_out(spread, known.ply, repeated=known.board.repeated) else spread


class Counted(NamedTuple):
    """Moves counted, and how many of them conform."""

    n: int = 0
    within: int = 0


class MoveCounts(NamedTuple):
    """One player's moves of one game, as the shares of the methods are made of."""

    raw: Counted = Counted()
    guid_bratko: Counted = Counted()
    ponderated: Counted = Counted()
    first_choice: Counted = Counted()
    markov: int = 0
    """Moves that count for the Markov predictor."""
    scored: int = 0
    """Moves of which the score before is known."""
    chosen: int = 0
    """Those that can be compared with a first choice."""

    def after(self, move: MoveQuality) -> MoveCounts:
        """With one more move, as far as it is judged."""
        if move.best_cp is None:
            return self
        counts = self._replace(scored=self.scored + 1)
        if move.gain_cp is not None and is_counted(move.ply, forced=move.forced):
            found = [kind.of(move.best_cp, move.gain_cp) for kind in _KINDS]
            raw, guid_bratko, ponderated = (
                held if shortfall is None else _one_more(held, shortfall <= kind.x_cp)
                for held, shortfall, kind in zip(counts[:3], found, _KINDS, strict=True)
            )
            counts = counts._replace(
                raw=raw, guid_bratko=guid_bratko, ponderated=ponderated, markov=counts.markov + 1
            )
        if move.first_choice is None:
            return counts
        choice = counts.first_choice
        decided = abs(move.best_cp) > DECIDED_CP
        if move.ply >= FIRST_CHOICE_PLY and not move.forced and not decided:
            choice = _one_more(choice, move.first_choice)
        return counts._replace(chosen=counts.chosen + 1, first_choice=choice)

    @property
    def unchosen(self) -> bool:
        """Scores without a first choice are all there is, as ``[%eval]`` comments give them."""
        return self.scored > 0 and not self.chosen


_KINDS = (RAW, GUID_BRATKO, PONDERATED)


def _one_more(held: Counted, within: bool) -> Counted:
    return Counted(held.n + 1, held.within + within)


# --- method figures -----------------------------------------------------------------------------

# The figures of the methods beside Ferreira's, from one game or several pooled. Pure.
#
# What cannot be said is null and has its reason beside it. Sums over games do not depend on the
# order of the games.


SHARE_DECIMALS = 4
MEAN_DECIMALS = 2

NO_CHOICE = "no engine's first choice to compare with"
NO_MOVE = "no move yet"


class SideOfGame(Protocol):
    """What a game says of one player, for the methods."""

    @property
    def counts(self) -> MoveCounts: ...

    @property
    def accuracy(self) -> Accuracy: ...

    @property
    def loss(self) -> CentipawnLoss: ...


def move_figures(sides: Sequence[SideOfGame]) -> dict[str, Any]:
    """The fields of :class:`live.events.MoveMethods`, pooled over ``sides``."""
    missing: dict[str, str] = {}
    shares = {
        "conformance": share(tuple([side.counts.raw for side in sides])),
        "guid_bratko": share(tuple([side.counts.guid_bratko for side in sides])),
        "ponderated": share(tuple([side.counts.ponderated for side in sides])),
        "first_choice": share(tuple([side.counts.first_choice for side in sides])),
    }
    unchosen = bool(sides) and all(side.counts.unchosen for side in sides)
    for name, found in shares.items():
        if found.share is None:
            first = 9 if name == "first_choice" else 10
            missing[name] = NO_CHOICE if unchosen else f"no counted move yet (from move {first} on)"
    means = {
        "accuracy": _over_games([(s.accuracy.so_far, s.accuracy.moves) for s in sides]),
        "centipawn_loss": _over_games([(s.loss.so_far_cp, s.loss.moves) for s in sides]),
    }
    missing |= {name: "no scored move yet" for name, mean in means.items() if mean is None}
    return {**shares, **means, "missing": missing}


# Most news leaves most shares as they are.
@lru_cache(maxsize=4096)
def share(games: tuple[tuple[int, int], ...]) -> Share:
    """A share over games of ``(moves, those counted in)``, interval clustered by game."""
    scores = [GameScores(n, within, within) for n, within in games if n]
    n = sum(score.n for score in scores)
    if not n:
        return Share()
    ends = clustered_interval(scores)
    low, high = ends if ends is not None else (None, None)
    return Share(
        share=rounded(sum(score.total for score in scores) / n, SHARE_DECIMALS),
        low=rounded(low, SHARE_DECIMALS),
        high=rounded(high, SHARE_DECIMALS),
        moves=n,
    )


def _over_games(games: Iterable[tuple[float | None, int]]) -> float | None:
    """Mean over games, weighted by their moves; None without a move."""
    known = [(value, moves) for value, moves in games if value is not None and moves]
    if not known:
        return None
    total = math.fsum([value * moves for value, moves in known])
    return rounded(total / sum([moves for _, moves in known]), MEAN_DECIMALS)


# --- move choice screening ----------------------------------------------------------------------

# Choices among several lines beside what players of one's rating choose. Pure.
#
# Source: Regan and Haworth 2011; needs Multi-PV, and a table for just that engine and limit. What
# it finds is for screening: it accuses nobody.


Z_DECIMALS = 2

NO_TURN = "no turn that counts yet (from move 9 on, among several lines)"
UNRATED = "no own rating to compare with"


def screened(
    measure: Measure, turns: tuple[Spread, ...], elo: int | None
) -> tuple[Intrinsic | None, dict[str, str]]:
    """The figures, and why any is null, by name. ``elo`` is the player's own rating."""
    if measure.table is None:
        return None, {"intrinsic": measure.table_note}
    if not turns:
        return None, {"intrinsic": NO_TURN}
    figures, reason = _figures(measure.table, turns, elo)
    missing = {} if elo is not None else {"intrinsic_z": UNRATED}
    if reason:
        missing["intrinsic_rating"] = reason
    return figures, missing


# Asked for again with every news of the player, and mostly nothing of it has changed.
@lru_cache(maxsize=2048)
def _figures(
    table: IntrinsicTable, turns: tuple[Spread, ...], elo: int | None
) -> tuple[Intrinsic, str]:
    counter = IntrinsicCounter(table)
    for spread in turns:
        counter.add(spread)
    found = counter.rating
    losses = [spread.loss for spread in turns if spread.loss is not None]
    matches = sum(spread.played == 0 for spread in turns)
    beside = project(turns, table.skill(elo)) if elo is not None else None
    return (
        Intrinsic(
            turns=len(turns),
            rating=rounded(found.elo, ELO_DECIMALS),
            low=rounded(found.low, ELO_DECIMALS),
            high=rounded(found.high, ELO_DECIMALS),
            beyond=found.beyond,
            move_match=round(matches / len(turns), SHARE_DECIMALS),
            average_difference=round(sum(losses) / len(turns), SHARE_DECIMALS),
            projected_match=rounded(
                beside.matches.projected / len(turns) if beside else None, SHARE_DECIMALS
            ),
            projected_difference=rounded(
                beside.difference.projected if beside else None, SHARE_DECIMALS
            ),
            match_z=rounded(beside.matches.z if beside else None, Z_DECIMALS),
            difference_z=rounded(beside.difference.z if beside else None, Z_DECIMALS),
            table=table.name,
        ),
        found.reason or "",
    )


# --- rate game ----------------------------------------------------------------------------------

# One way to rate a game: from what is known of it now to every figure of both sides. Pure.
#
# Live, after a restart, in the archive and in an explanation it is the same call. What it makes
# follows from its arguments alone, whatever order they became known in: a move whose score is not
# known is left out, and comes in when it is. :class:`GameRater` gives the same as :func:`rate`, and
# reuses what it made of the moves before the first that differs from its last call.
#
# Per move: its gain, and the comparison of it with rated players in the same position
# (:mod:`live.ratings.perceived_rating`). Everything else is sums over moves, held after
# each of them, so that one more move costs no more than itself.


COLORS: tuple[Color, Color] = ("white", "black")

_NO_SCORES = GameScores(0, 0, 0)


class SideFigures(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """What one game says of one player: all that figures over the event are made of."""

    pace: PaceGroup
    gains_cp: tuple[int, ...] = ()
    """In ply order."""
    scores: GameScores = _NO_SCORES
    """Of these against the engine (Algorithm 4)."""
    evidence: Evidence | None = None
    """What the perceived rating is read from; None without a counted move."""
    counts: MoveCounts = MoveCounts()
    accuracy: Accuracy = Accuracy(None, None, 0, 0)
    loss: CentipawnLoss = CentipawnLoss(None, None, 0, 0, 0)
    spreads: tuple[Spread, ...] = ()
    """What there was to choose from; empty without Multi-PV."""
    choices: GameChoices | None = None
    """Choices of the engine's move beside the forecast; None where nothing forecasts them."""

    def same(self, other: SideFigures) -> bool:
        """Whether it says the same."""
        return (
            (self.pace, self.gains_cp, self.scores, self.counts, self.accuracy, self.loss)
            == (other.pace, other.gains_cp, other.scores, other.counts, other.accuracy, other.loss)
            and self.choices is other.choices
            and self.evidence is other.evidence
            and self.spreads == other.spreads
        )


class GameFigures(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Every figure of one game."""

    white: SideFigures
    black: SideFigures
    curves: Curves = Curves()
    moves: tuple[MoveQuality, ...] = ()
    """Every move, judged or not."""
    methods: GameMethods = GameMethods()
    head_to_head: HeadToHead = HeadToHead()
    model: str | None = None
    """As :class:`live.events.GameView` has it."""
    note: str = ""

    def side(self, color: Color) -> SideFigures:
        return self.white if color == "white" else self.black


class TracedMove(NamedTuple):
    """How one move entered the perceived rating, for an explanation."""

    known: KnownMove
    turn: Turn
    compared: ComparedMove


def rate(
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
    return GameRater().rate(game, searches, answers, field, measure)


class _Terms(NamedTuple):
    """What rates every move of one game; another one rates them all anew."""

    measure: Measure
    choice: ModelChoice
    elos: tuple[int | None, int | None]
    level: float | None


class _After(NamedTuple):
    """One side after one of its plies."""

    ply: int
    gains: int
    """How many are known."""
    scores: GameScores
    counts: MoveCounts
    choices: GameChoices | None
    evidence: Evidence | None
    point: CurvePoint | None
    """Of this very ply, while the game goes on; None where its gain is not known."""


class GameRater:
    """:func:`rate`, once and again for one game."""

    def __init__(self) -> None:
        self._terms: _Terms | None = None
        self._moves: list[tuple[KnownMove, HumanAnswer | None]] = []
        self._qualities: list[MoveQuality] = []
        # What was compared, by ply: a late score rates later plies anew, but judges none anew.
        self._compared: dict[int, TracedMove] = {}
        self._sums: GameSums | None = None
        self._after: dict[Color, list[_After]] = {"white": [], "black": []}
        self._gains: dict[Color, list[int]] = {"white": [], "black": []}
        self._accuracy: GameAccuracy | None = None
        self._sides: dict[Color, SideFigures] = {}
        self._shown: dict[Color, tuple[tuple[object, ...], SideMethods]] = {}
        self._game_methods: tuple[tuple[object, ...], GameMethods] | None = None
        self._duel: tuple[tuple[tuple[int, ...], tuple[int, ...]], HeadToHead] | None = None

    def rate(
        self,
        game: Game,
        searches: KnownGame,
        answers: Sequence[HumanAnswer | None],
        field: float | None,
        measure: Measure,
    ) -> GameFigures:
        """As :func:`rate`."""
        terms = _terms(game, field, measure)
        if self._terms is None or terms != self._terms:
            self._begin(terms)
        moves = [
            (known, answers[at] if at < len(answers) else None)
            for at, known in enumerate(searches.moves)
        ]
        same = 0
        for held, now in zip(self._moves, moves, strict=False):
            if held[0] is not now[0] or held[1] is not now[1]:
                break
            same += 1
        self._truncate(same)
        for known, answer in moves[same:]:
            self._add(known, answer)
        ended = game.result != "*"
        scores = [
            searches.start,
            *(known.after.score if known.after else None for known, _ in moves),
        ]
        mover: Color = "white" if " w " in game.start_fen else "black"
        if self._accuracy is None:
            self._accuracy = GameAccuracy(searches.start, mover)
        self._accuracy.hold(scores)
        finals = {color: self._final(color, len(moves), ended=ended) for color in COLORS}
        white, black = (self._side(color, finals[color]) for color in COLORS)
        return GameFigures(
            white=white,
            black=black,
            curves=Curves(
                white=self._curve("white", finals["white"]),
                black=self._curve("black", finals["black"]),
            ),
            moves=tuple(self._qualities),
            methods=self._methods(white, black),
            head_to_head=self._head_to_head(white, black),
            model=terms.choice.model if terms.choice.reader else None,
            note=terms.choice.note,
        )

    def trace(self, color: Color, ply: int) -> tuple[TracedMove, ...]:
        """The counted moves of a side up to ``ply``, of the last call."""
        traced = (self._compared[at] for at in sorted(self._compared) if at <= ply)
        return tuple(each for each in traced if each.known.mover == color)

    def evidence(self, color: Color, ply: int) -> Evidence | None:
        """The sums of a side after ``ply`` of a game that goes on, of the last call."""
        found = [each for each in self._after[color] if each.ply <= ply]
        return found[-1].evidence if found else None

    @property
    def reader(self) -> MoveReader | None:
        """What compares moves, in the last call; None where nothing does."""
        return self._terms.choice.reader if self._terms is not None else None

    @property
    def elos(self) -> Mapping[Color, Elos]:
        """Whom each side was compared with, in the last call; empty where nothing reads it."""
        return self._sums.elos if self._sums is not None else {}

    # --- sums over moves ------------------------------------------------------------------------

    def _begin(self, terms: _Terms) -> None:
        self.__init__()  # type: ignore[misc]  # nothing of before counts
        self._terms = terms
        reader = terms.choice.reader
        if reader is not None and terms.level is not None:
            elos = {
                color: Elos.of(terms.level, elo)
                for color, elo in zip(COLORS, terms.elos, strict=True)
            }
            self._sums = GameSums(elos, reader.shared)

    def _truncate(self, plies: int) -> None:
        """Forget every move after so many plies."""
        del self._moves[plies:], self._qualities[plies:]
        if self._sums is not None:
            self._sums.truncate(plies)
        for color, held in self._after.items():
            while held and held[-1].ply > plies:
                held.pop()
            del self._gains[color][held[-1].gains if held else 0 :]

    def _add(self, known: KnownMove, answer: HumanAnswer | None) -> None:
        assert self._terms is not None  # else nothing was begun
        measure, color, ply = self._terms.measure, known.mover, known.ply
        self._moves.append((known, answer))
        quality = judged(known)
        self._qualities.append(quality)
        last = self._last(color)
        scores, choices, evidence = last.scores, last.choices, last.evidence
        gain_cp = known.gains.of(measure.gain)
        point: CurvePoint | None = None
        if gain_cp is not None and known.before is not None:
            parts = measure.engine_gains.parts(gain_cp)
            scores = GameScores(scores.n + 1, scores.total + parts, scores.squares + parts * parts)
            self._gains[color].append(gain_cp)
            turn = _turn(known, gain_cp)
            if self._count(known, turn):
                assert self._sums is not None and self._terms.choice.reader is not None
                evidence = self._sums.evidence(
                    color, self._terms.choice.reader.dispersion, over=False
                )
            choices = self._choose(choices, turn, known, answer)
            point = self._point(ply, gain_cp, scores, evidence)
        else:
            self._compared.pop(ply, None)
        self._after[color].append(
            _After(
                ply,
                len(self._gains[color]),
                scores,
                last.counts.after(quality),
                choices,
                evidence,
                point,
            )
        )

    def _last(self, color: Color) -> _After:
        held = self._after[color]
        return held[-1] if held else _After(0, 0, _NO_SCORES, MoveCounts(), None, None, None)

    def _count(self, known: KnownMove, turn: Turn) -> bool:
        """Compare a move with what rated players lose there; whether it counts: a forced move is
        no choice, and what no search of ours has seen says too little.
        """
        reader = self._terms.choice.reader if self._terms is not None else None
        searched = known.before is not None and known.before.best is not None
        if reader is None or self._sums is None or known.board.forced or not searched:
            self._compared.pop(known.ply, None)
            return False
        held = self._compared.get(known.ply)
        if held is None or held.turn != turn:
            compared = reader.compare(turn, self._sums.elos[known.mover])
            held = TracedMove(known, turn, compared)
        self._compared[known.ply] = held._replace(known=known)
        self._sums.add(known.mover, known.ply, held.compared)
        return True

    def _choose(
        self,
        choices: GameChoices | None,
        turn: Turn,
        known: KnownMove,
        answer: HumanAnswer | None,
    ) -> GameChoices | None:
        assert self._terms is not None and known.before is not None
        forecast, best = self._terms.measure.forecast, known.before.best
        elo = self._terms.elos[COLORS.index(known.mover)]
        if forecast is None or elo is None:
            return None
        choices = GameChoices() if choices is None else choices
        if best is None or known.board.forced or not counts(turn):
            return choices
        found = _found(forecast, answer, best, elo)
        turn = msgspec.structs.replace(turn, found=found)
        return choices.after(forecast.log_odds(turn, elo), best == known.uci)

    def _point(
        self, ply: int, gain_cp: int, scores: GameScores, evidence: Evidence | None
    ) -> CurvePoint:
        assert self._terms is not None
        measure = self._terms.measure
        engine = measure.engine_gains
        score = scores.total / (scores.n * engine.scale)
        low, high = interval_of(scores, engine, measure.gain)
        return CurvePoint(
            ply=ply,
            n=scores.n,
            gain_cp=gain_cp,
            score=round(score, SCORE_DECIMALS),
            difference=rounded(difference_of(score), ELO_DECIMALS),
            difference_low=rounded(low, ELO_DECIMALS),
            difference_high=rounded(high, ELO_DECIMALS),
            **perceived_figures(perceived(evidence) if evidence is not None else None),
        )

    # --- figures --------------------------------------------------------------------------------

    def _final(self, color: Color, plies: int, *, ended: bool) -> _After | None:
        """The side after its last move, where the game has ended with it: finished games differ by
        more than running ones.
        """
        held = self._after[color]
        last = held[-1] if held else None
        if not ended or last is None or last.point is None or last.ply < plies - 1:
            return None
        reader = self._terms.choice.reader if self._terms is not None else None
        if self._sums is None or reader is None or last.evidence is None:
            return None
        evidence = self._sums.evidence(color, reader.dispersion, over=True)
        known = self._sides.get(color)
        if known is not None and evidence is not None and _same_evidence(known.evidence, evidence):
            evidence = known.evidence
        point = self._point(last.ply, last.point.gain_cp, last.scores, evidence)
        return last._replace(evidence=evidence, point=point)

    def _curve(self, color: Color, final: _After | None) -> tuple[CurvePoint, ...]:
        points = [each.point for each in self._after[color] if each.point is not None]
        if final is not None and final.point is not None:
            points[-1] = final.point
        return tuple(points)

    def _side(self, color: Color, final: _After | None) -> SideFigures:
        assert self._terms is not None and self._accuracy is not None
        last = final or self._last(color)
        side = SideFigures(
            pace=self._terms.choice.pace,
            gains_cp=tuple(self._gains[color]),
            scores=last.scores,
            evidence=last.evidence,
            counts=last.counts,
            accuracy=self._accuracy.accuracy(color),
            loss=self._accuracy.centipawn_loss(color),
            spreads=tuple(
                quality.spread
                for quality, (known, _) in zip(self._qualities, self._moves, strict=True)
                if quality.spread is not None and known.mover == color
            ),
            choices=last.choices,
        )
        held = self._sides.get(color)
        if held is not None and held.same(side):
            return held
        self._sides[color] = side
        return side

    def _methods(self, white: SideFigures, black: SideFigures) -> GameMethods:
        held = self._game_methods
        if held is not None and all(map(is_, held[0], (white, black))):
            return held[1]
        predicted = predict_by_shares(white.counts.raw, black.counts.raw)
        found = GameMethods(
            white=self._side_methods("white", white),
            black=self._side_methods("black", black),
            expected_score=rounded(predicted.expected_score, SCORE_DECIMALS),
            low=rounded(predicted.low, SCORE_DECIMALS),
            high=rounded(predicted.high, SCORE_DECIMALS),
            missing=predicted.missing,
        )
        self._game_methods = (white, black), found
        return found

    def _side_methods(self, color: Color, side: SideFigures) -> SideMethods:
        made_from = side.counts, side.accuracy, side.loss, side.gains_cp, side.spreads
        held = self._shown.get(color)
        if held is not None and held[0] == made_from:
            return held[1]
        assert self._terms is not None
        figures = move_figures((side,))
        elo = self._terms.elos[COLORS.index(color)]
        figures["intrinsic"], missing = screened(self._terms.measure, side.spreads, elo)
        figures["missing"].update(missing)
        mean = sum(side.gains_cp) / len(side.gains_cp) if side.gains_cp else None
        found = SideMethods(**figures, mean_gain_cp=rounded(mean, 2))
        self._shown[color] = made_from, found
        return found

    def _head_to_head(self, white: SideFigures, black: SideFigures) -> HeadToHead:
        made_from = white.gains_cp, black.gains_cp
        if self._duel is None or self._duel[0] != made_from:
            self._duel = made_from, head_to_head(*made_from)
        return self._duel[1]


def head_to_head(white_cp: Sequence[int], black_cp: Sequence[int]) -> HeadToHead:
    """Algorithm 1: White's gains against Black's (Ferreira 2012, section 4, Eq. 2)."""
    if not white_cp or not black_cp:
        return HeadToHead()
    ranked = sorted(black_cp)
    halves = sum(bisect_left(ranked, gain) + bisect_right(ranked, gain) for gain in white_cp)
    expected = halves / (2 * len(white_cp) * len(black_cp))
    return HeadToHead(
        rounded(expected, SCORE_DECIMALS), rounded(difference_of(expected), ELO_DECIMALS)
    )


def perceived_figures(found: Perceived | None) -> dict[str, Any]:
    """The fields of a curve point or player, rounded."""
    if found is None:
        return dict(_NOTHING)
    return {
        "counted": found.counted,
        "perceived": rounded(found.rating, ELO_DECIMALS),
        "low": rounded(found.low, ELO_DECIMALS),
        "high": rounded(found.high, ELO_DECIMALS),
        "usual_low": rounded(found.usual_low, ELO_DECIMALS),
        "usual_high": rounded(found.usual_high, ELO_DECIMALS),
        "percentile": rounded(found.percentile, PERCENT_DECIMALS),
    }


_NOTHING: dict[str, Any] = {
    "counted": 0,
    "perceived": None,
    "low": None,
    "high": None,
    "usual_low": None,
    "usual_high": None,
    "percentile": None,
}


def needs_field(game: Game) -> bool:
    """Whether the level of the game is that of the field: neither player is rated."""
    return game.headers.white.elo is None and game.headers.black.elo is None


def _terms(game: Game, field: float | None, measure: Measure) -> _Terms:
    choice = measure.models.choose(game_pace(game))
    white, black = game.headers.white.elo, game.headers.black.elo
    level = None
    if choice.reader is not None:
        level = game_level(white, black, choice.reader.mean_elo if field is None else field)
    return _Terms(measure, choice, (white, black), level)


def _turn(known: KnownMove, gain_cp: int) -> Turn:
    assert known.before is not None  # it has a gain
    seen = complexity(known.before.by_depth)
    score_cp = known.before.score.cp
    return Turn(
        gain_cp,
        score_cp if known.mover == "white" else -score_cp,
        known.ply,
        seen.stability_cp if seen else None,
        seen.jump_cp if seen else None,
        known.board,
    )


def _found(forecast: ChoiceModel, answer: HumanAnswer | None, best: str, elo: int) -> float | None:
    """How many players of this Elo choose the engine's move, as the forecast was learned with."""
    if forecast.human is None or answer is None or answer.network != forecast.human.network:
        return None
    return found_by(answer, best, elo)


def _same_evidence(one: Evidence | None, other: Evidence) -> bool:
    return (
        one is not None
        and one.score is other.score
        and one.of_own is other.of_own
        and np.array_equal(one.variance, other.variance)
    )
