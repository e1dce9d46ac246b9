"""A published rating down to its scores: searches, gains, comparison with the engine, posterior.

Pure. Everything is worked out again here from the scores, by the formulas of the sources, so that
an explanation that ends in another number than the published one shows a mistake.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import msgspec

from live.engine.process.uci_conversation import go_words
from live.engine.search import Position, Search, SearchOptions
from live.engine.search_key import SearchKey
from live.events import Color, CurvePoint, EngineInfo, GainKind, GameDetail, GameId, PlyView
from live.games.game import Game
from live.human.difficulty import in_words as share_in_words
from live.ratings.calibration.calibrated_rating import CalibratedRating
from live.ratings.calibration.engine_transfer import Transfer
from live.ratings.calibration.move_evidence import PARTS_OF_ONE, EvidenceSums
from live.ratings.calibration.posterior import REACH
from live.ratings.expected_score import DIFFERENCE_SD_ELO, difference_of
from live.store.journal_records import RecordedScore
from live.store.strength_explanation import ExplainedStrength, strength_in_words


class ExplainedSearch(msgspec.Struct, frozen=True):
    """One search that a gain rests on."""

    what: str
    """``position before``, ``move played``, ``position after``."""
    # Programs read it under this name.
    search_key: SearchKey = msgspec.field(name="question")
    found: RecordedScore


class ExplainedPosterior(msgspec.Struct, frozen=True, kw_only=True):
    """The calibrated rating: a normal prior times what the moves say; Elo."""

    calibration: str
    n: int
    weight: float
    """Each move counts for this, since moves of one game are not independent of each other."""
    slope: float
    """Sum over moves, unweighted."""
    curvature: float
    centre_elo: float
    scale_elo: float
    prior_elo: float
    prior_sd_elo: float
    mean: float
    low: float
    high: float
    transfer: Transfer | None = None
    """How another engine's scores are read; it is in ``slope`` and ``curvature`` already."""


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """How the rating of one player after one ply came about. Scores are from the mover's side."""

    game: GameId
    white: str
    black: str
    ply: int
    move: str
    mover: Color
    gain: GainKind
    engine: EngineInfo
    identity: str
    """Engine name and options."""
    searches: tuple[ExplainedSearch, ...]
    before_cp: int | None
    played_cp: int | None
    after_cp: int | None
    gain_same_search_cp: int | None
    gain_successive_cp: int | None
    gains_cp: tuple[tuple[int, int], ...]
    """All gains of the curve so far: ply and gain."""
    worse: int
    equal: int
    better: int
    expected_score: float
    difference: float | None
    rating: float | None
    belief: ExplainedPosterior | None
    """Of ``calibrated``, which passes with the next version."""
    strength: ExplainedStrength | None
    """Moves alone, level, percentile and performance; null where no model of losses fits."""
    published: CurvePoint
    others: str = ""
    """How many players of the mover's rating would have played the move, in words."""


def searches(
    game: Game, ply: int, search_options: SearchOptions, depth: int | None
) -> list[tuple[str, Search]]:
    """What a gain at ``ply`` rests on; ``depth`` is what the search before it reached."""
    moves = tuple(move.uci for move in game.moves)

    def position(index: int) -> Position:
        return Position(game.start_fen, moves[:index], game.chess960)

    return [
        ("position before", search_options.whole(position(ply - 1))),
        ("move played", search_options.played(position(ply - 1), moves[ply - 1], depth)),
        ("position after", search_options.whole(position(ply))),
    ]


def explain(
    detail: GameDetail,
    ply: int,
    *,
    engine: EngineInfo,
    gain: GainKind,
    identity: str,
    weigher: EvidenceSums | None,
    made: tuple[ExplainedSearch, ...],
    strength: ExplainedStrength | None = None,
) -> Explanation | None:
    """The explanation; None where the ply has no point in its curve."""
    mover = mover_of(detail, ply)
    curve = detail.curves.white if mover == "white" else detail.curves.black
    points = [point for point in curve if point.ply <= ply]
    if not points or points[-1].ply != ply:
        return None
    view = detail.plies[ply - 1]
    sign = 1 if mover == "white" else -1
    before_cp = detail.plies[ply - 2].score_cp if ply > 1 else detail.start_score_cp
    gains = [point.gain_cp for point in points]
    worse, equal, better = (sum(map(test, gains)) for test in (_below, _zero, _above))
    expected = (better + equal / 2) / len(gains)
    difference = difference_of(expected)
    return Explanation(
        game=detail.id,
        white=detail.white.name,
        black=detail.black.name,
        ply=ply,
        move=view.san,
        mover=mover,
        gain=gain,
        engine=engine,
        identity=identity,
        searches=made,
        before_cp=_signed(sign, before_cp),
        played_cp=_signed(sign, view.played_cp),
        after_cp=_signed(sign, view.score_cp),
        gain_same_search_cp=view.gain_same_search_cp,
        gain_successive_cp=view.gain_successive_cp,
        gains_cp=tuple((point.ply, point.gain_cp) for point in points),
        worse=worse,
        equal=equal,
        better=better,
        expected_score=expected,
        difference=difference,
        rating=None if difference is None else engine.rating + difference,
        belief=_belief(detail, points, sign, engine, weigher),
        strength=strength,
        published=points[-1],
        others=_others(view),
    )


def _others(view: PlyView) -> str:
    if view.played_share is None:
        return ""
    rated = "players" if view.played_elo is None else f"players rated {view.played_elo}"
    mark = f"; a {view.mark}" if view.mark else ""
    return f"{share_in_words(view.played_share)} {rated} would play it{mark}"


def mover_of(detail: GameDetail, ply: int) -> Color:
    """Whose move a ply is."""
    return "white" if (ply % 2 == 1) == (" w " in detail.start_fen) else "black"


def _below(gain_cp: int) -> bool:
    return gain_cp < 0


def _zero(gain_cp: int) -> bool:
    return gain_cp == 0


def _above(gain_cp: int) -> bool:
    return gain_cp > 0


def _signed(sign: int, score_cp: int | None) -> int | None:
    return None if score_cp is None else sign * score_cp


def _belief(
    detail: GameDetail,
    points: Sequence[CurvePoint],
    sign: int,
    engine: EngineInfo,
    weigher: EvidenceSums | None,
) -> ExplainedPosterior | None:
    known = {each.name: each for each in engine.calibrations}
    if weigher is None or (prior := known.get(weigher.calibration.name)) is None:
        return None
    calibration = weigher.calibration
    rating = CalibratedRating(weigher)
    last: CurvePoint | None = None
    for point in points:
        before = detail.plies[point.ply - 2].score_cp if point.ply > 1 else detail.start_score_cp
        if before is None:
            return None
        previous = last.gain_cp if last is not None and last.ply == point.ply - 2 else None
        rating.add(point.gain_cp, sign * before, point.ply, previous)
        last = point
    weight = 1 / (1 + rating.n / calibration.half_moves)
    slope = rating.evidence.slope / PARTS_OF_ONE
    curvature = rating.evidence.curvature / PARTS_OF_ONE
    centre, scale = calibration.centre_elo, calibration.scale_elo
    precision = 1 / prior.prior_sd_elo**2 + weight * curvature / scale**2
    pull = (prior.prior_elo - centre) / prior.prior_sd_elo**2 + weight * slope / scale
    mean, reach = centre + pull / precision, REACH / math.sqrt(precision)
    return ExplainedPosterior(
        calibration=calibration.name,
        n=rating.n,
        weight=weight,
        slope=slope,
        curvature=curvature,
        centre_elo=centre,
        scale_elo=scale,
        prior_elo=prior.prior_elo,
        prior_sd_elo=prior.prior_sd_elo,
        mean=mean,
        low=mean - reach,
        high=mean + reach,
        transfer=weigher.transfer,
    )


def in_words(found: Explanation) -> Iterator[str]:
    """The same for people, formulas with the numbers put in; one line each."""
    yield f"{found.white} - {found.black} ({found.game}), ply {found.ply}: {found.move}"
    yield f"Engine: {found.identity}; {found.engine.limit}"
    yield ""
    yield f"Scores, from {found.mover}'s side:"
    for made in found.searches:
        yield f"  {made.what}: {_pawns(made, found.mover)}"
        search_key = made.search_key
        moves = f" moves {' '.join(search_key.moves)}" if search_key.moves else ""
        # As it is typed to an engine, so that anybody can ask again.
        yield f"    position fen {search_key.fen}{moves}"
        yield f"    go {go_words(search_key)}"
    yield f"Gain, same search: {_gain(found.gain_same_search_cp)}"
    if found.gain == "same-search" and found.played_cp is not None:
        yield f"  played - best = {found.played_cp} - {found.before_cp}, at most 0"
    yield f"Gain, successive: {_gain(found.gain_successive_cp)}"
    if found.after_cp is not None:
        yield f"  after - before = {found.after_cp} - {found.before_cp}"
    if found.others:
        yield f"What others would play: {found.others}"
    yield ""
    n = len(found.gains_cp)
    yield f"Algorithm 4 (Ferreira 2012, section 7), {n} moves, gain {found.gain}:"
    yield "  " + " ".join(str(gain_cp) for _, gain_cp in found.gains_cp)
    yield (
        f"  against the engine, whose gain is always 0: {found.better} better, {found.equal} equal,"
        f" {found.worse} worse"
    )
    yield (
        f"  expected score = ({found.better} + {found.equal} / 2) / {n}"
        f" = {found.expected_score:.6f}"
    )
    if found.difference is None:
        yield "  difference: unbounded, so there is no rating"
    else:
        yield (
            f"  difference = 200 sqrt(2) inverse-normal({found.expected_score:.6f})"
            f" = {DIFFERENCE_SD_ELO:.2f} x {found.difference / DIFFERENCE_SD_ELO:.5f}"
            f" = {found.difference:.2f}"
        )
        yield (
            f"  rating = {found.engine.rating} (engine, {found.engine.rating_source})"
            f" + {found.difference:.2f} = {found.rating:.2f}"
        )
    yield f"  published: {_number(found.published.rating)}"
    yield ""
    if found.strength is not None:
        yield from strength_in_words(found.strength, found.published)
    else:
        yield "Moves alone, level, percentile, performance: none, no model of losses fits"
    note = f" ({found.engine.calibration_note})" if found.engine.calibration_note else ""
    yield f"Calibration: {found.engine.calibration or 'none'}{note}"
    if (belief := found.belief) is not None:
        yield ""
        yield from _belief_in_words(belief, found.published)


def _belief_in_words(belief: ExplainedPosterior, published: CurvePoint) -> Iterator[str]:
    yield f"Calibrated rating, calibration {belief.calibration!r}, z = (Elo - centre) / scale;"
    yield "  kept for one version, moves alone and level take its place:"
    yield (
        f"  prior: normal, mean {belief.prior_elo:.2f}, sd {belief.prior_sd_elo:.2f};"
        f" centre {belief.centre_elo:g}, scale {belief.scale_elo:g}"
    )
    if (transfer := belief.transfer) is not None:
        yield (
            f"  transferred: scores and gains divided by {transfer.scale:.3f}, each move's evidence"
            f" counted {transfer.weight:.3f} times and moved by {-transfer.offset_elo:+.0f} Elo"
        )
    yield (
        f"  {belief.n} moves: slope {belief.slope:.6f}, curvature {belief.curvature:.6f},"
        f" each counting for {belief.weight:.5f}"
    )
    yield (
        f"  precision = 1 / {belief.prior_sd_elo:.2f}^2 + {belief.weight:.5f} x"
        f" {belief.curvature:.6f} / {belief.scale_elo:g}^2"
    )
    yield (
        f"  mean = centre + ((prior - centre) / sd^2 + {belief.weight:.5f} x {belief.slope:.6f}"
        f" / {belief.scale_elo:g}) / precision = {belief.mean:.2f}"
    )
    yield f"  95 %: {belief.low:.2f} to {belief.high:.2f}"
    yield (
        f"  published: {_number(published.calibrated)} ({_number(published.calibrated_low)} to"
        f" {_number(published.calibrated_high)})"
    )


def _pawns(made: ExplainedSearch, mover: Color) -> str:
    result = made.found.result
    sign = 1 if mover == "white" else -1
    best = f", best {result.best}" if made.search_key.only is None else ""
    mate = f" (mate in {sign * result.score.mate})" if result.score.mate is not None else ""
    return f"{sign * result.score.cp} cp{mate}, depth {result.depth}{best}, {result.nodes} nodes"


def _gain(gain_cp: int | None) -> str:
    return "unknown" if gain_cp is None else f"{gain_cp} cp"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"
