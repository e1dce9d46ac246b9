"""A published rating down to its scores, in words: searches, gains, the comparison with the engine,
and with rated players. Pure.

The game is rated once more, by the same call as ever, and its trace is written down, the formulas
with the numbers put in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from live.engine.search import Position, Search, SearchKey, SearchOptions, SearchResult
from live.engine.uci import go_words, position_words
from live.events import CurvePoint, EngineInfo, GainKind, GameDetail
from live.games.game import Game, mover_of
from live.human.difficulty import in_words as share_in_words
from live.ledger.rate_game import GameRater, TracedSide
from live.ratings.expected_score import DIFFERENCE_SD_ELO, difference_of
from live.ratings.perceived_rating import GRID_ELO, PULL_MOVES, Floats, perceived


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


def explained(
    detail: GameDetail,
    point: CurvePoint,
    *,
    engine: EngineInfo,
    gain: GainKind,
    identity: str,
    rater: GameRater,
    made: Iterable[tuple[str, SearchKey, SearchResult]],
) -> Iterator[str]:
    """How the rating of one player after one ply came about, line by line. Scores are from the
    mover's side.

    Args:
        detail: the game as published, with this point in one of its curves.
        point: what is explained.
        engine: who measures, and how strong it counts.
        gain: which one feeds the curves.
        identity: engine name and options.
        rater: has rated the game once more, from what is known of it.
        made: the searches of :func:`searches` that were made, and what they found.
    """
    ply, view = point.ply, detail.plies[point.ply - 1]
    mover = mover_of(detail.start_fen, ply)
    sign = 1 if mover == "white" else -1
    yield f"{detail.white.name} - {detail.black.name} ({detail.id}), ply {ply}: {view.san}"
    yield f"Engine: {identity}; {engine.limit}"
    yield ""
    yield f"Scores, from {mover}'s side:"
    for what, search_key, result in made:
        best = f", best {result.best}" if search_key.only is None else ""
        score = result.score
        mate = f" (mate in {sign * score.mate})" if score.mate is not None else ""
        reached = f"depth {result.depth}{best}, {result.nodes} nodes"
        yield f"  {what}: {sign * score.cp} cp{mate}, {reached}"
        # As it is typed to an engine, so that anybody can ask again.
        yield f"    position {position_words(search_key)}"
        yield f"    go {go_words(search_key)}"
    before_cp = detail.plies[ply - 2].score_cp if ply > 1 else detail.start_score_cp
    before_cp = sign * (before_cp or 0)
    yield f"Gain, same search: {_gain(view.gain_same_search_cp)}"
    if gain == "same-search" and view.played_cp is not None:
        yield f"  played - best = {sign * view.played_cp} - {before_cp}, at most 0"
    yield f"Gain, successive: {_gain(view.gain_successive_cp)}"
    if view.score_cp is not None:
        yield f"  after - before = {sign * view.score_cp} - {before_cp}"
    if view.played_share is not None:
        rated = "players" if view.played_elo is None else f"players rated {view.played_elo}"
        mark = f"; a {view.mark}" if view.mark else ""
        share = share_in_words(view.played_share)
        yield f"What others would play: {share} {rated} would play it{mark}"
    yield ""
    curve = detail.curves.white if mover == "white" else detail.curves.black
    gains = [each.gain_cp for each in curve if each.ply <= ply]
    n, worse, equal = len(gains), sum(each < 0 for each in gains), gains.count(0)
    better = n - worse - equal
    expected = (better + equal / 2) / n
    yield f"Algorithm 4 (Ferreira 2012, section 7), {n} moves, gain {gain}:"
    yield "  " + " ".join(map(str, gains))
    yield (
        f"  against the engine, whose gain is always 0: {better} better, {equal} equal,"
        f" {worse} worse"
    )
    yield f"  expected score = ({better} + {equal} / 2) / {n} = {expected:.6f}"
    difference = difference_of(expected)
    if difference is None:
        yield "  difference: unbounded, so there is no rating"
    else:
        yield (
            f"  difference = 200 sqrt(2) inverse-normal({expected:.6f})"
            f" = {DIFFERENCE_SD_ELO:.2f} x {difference / DIFFERENCE_SD_ELO:.5f} = {difference:.2f}"
        )
        yield (
            f"  rating = {engine.rating} (engine, {engine.rating_source})"
            f" + {difference:.2f} = {engine.rating + difference:.2f}"
        )
    yield f"  published difference: {_number(point.difference)}"
    yield ""
    side = rater.trace(mover, ply)
    found = perceived(side.evidence) if side is not None else None
    if side is not None and found is not None and detail.model is not None:
        yield from _perceived(detail, point, side, found.rating)
    else:
        yield f"Perceived rating: none{f', {detail.note}' if detail.note else ''}"


def _perceived(
    detail: GameDetail, point: CurvePoint, side: TracedSide, rating: float
) -> Iterator[str]:
    def at(line: Floats) -> float:
        return float(np.interp(rating, GRID_ELO, line))

    reader, elos = side.reader, side.elos
    names = " and ".join(model.name for model in reader.models)
    note = f"; {detail.note}" if detail.note else ""
    yield f"Perceived rating, read as {detail.model} by {names}{note}:"
    if reader.scale != 1:
        yield f"  scores and gains divided by {reader.scale:.3f}"
    own = "unrated" if elos.own is None else f"own Elo {elos.own:.0f}"
    yield f"  level of the game {elos.level:.0f}, {own}"
    yield f"  against players rated {rating:.0f} in the same positions, of 1 a move:"
    scored = 0.0
    for turn, compared in side.moves:
        scored += (score := at(compared.single.score))
        yield (
            f"    ply {turn.ply}: at {turn.score_before_cp} cp, gain {turn.gain_cp}: scored"
            f" {score:.3f}, a player of the level {at(compared.single.of_level):.3f}"
        )
    n, total, of_level = len(side.moves), at(side.evidence.score), at(side.evidence.of_level)
    pulled = PULL_MOVES / n * (of_level - n / 2)
    yield (
        f"  {n} moves: S = {scored:.4f} - {scored - total:.4f} (hard for both)"
        f" = {total:.4f}, A = {of_level:.4f}"
    )
    yield (
        f"  S - n/2 + {PULL_MOVES:g}/n (A - n/2) = {total - n / 2:.4f} + {pulled:.4f}"
        f" = {total - n / 2 + pulled:.4f}, which is 0 at {rating:.2f}"
    )
    yield f"  published: {_number(point.perceived)}"
    if point.usual_low is not None and point.usual_high is not None:
        yield (
            f"  usual for the own Elo: {point.usual_low:.0f} to {point.usual_high:.0f},"
            f" better than {_number(point.percentile)} % of games"
        )
    yield f"  95 % of the moves alone: {_number(point.low)} to {_number(point.high)}"


def _gain(gain_cp: int | None) -> str:
    return "unknown" if gain_cp is None else f"{gain_cp} cp"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"
