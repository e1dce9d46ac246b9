"""A published rating down to its scores: searches, gains, the comparison with the engine, and with
rated players. Pure.

The game is rated once more, by the same call as ever, and its trace is written down.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec
import numpy as np

from live.engine.search import Position, Search, SearchKey, SearchOptions
from live.engine.uci import go_words
from live.events import Color, CurvePoint, EngineInfo, GainKind, GameDetail, GameId, PlyView
from live.games.game import Game, mover_of
from live.human.difficulty import in_words as share_in_words
from live.ledger.rate_game import GameRater
from live.ratings.expected_score import DIFFERENCE_SD_ELO, difference_of
from live.ratings.perceived_rating import GRID_ELO, PULL_MOVES, Floats, perceived
from live.store.journal_reader import RecordedScore


class ExplainedSearch(msgspec.Struct, frozen=True):
    """One search that a gain rests on."""

    what: str
    """``position before``, ``move played``, ``position after``."""
    # Programs read it under this name.
    search_key: SearchKey = msgspec.field(name="question")
    found: RecordedScore


class ExplainedMove(msgspec.Struct, frozen=True):
    """One counted move beside what rated players lose in the same position."""

    ply: int
    gain_cp: int
    score_before_cp: int
    """Mover's side."""
    score: float
    """``s``: against players of the perceived rating, 0 to 1."""
    expected: float
    """``a``: what a player of the game's level scores against them."""


class ExplainedPerceived(msgspec.Struct, frozen=True, kw_only=True):
    """Where the perceived rating comes from: all sums are at that rating."""

    model: str
    models: tuple[str, ...]
    """Names of the files."""
    scale: float
    """Centipawns of the engine to one of the models'."""
    game_elo: float
    """``F``: the level of the game, from where both players start."""
    own_elo: float | None
    moves: tuple[ExplainedMove, ...]
    score: float
    """``S``: the sum of the moves' scores, less what the game's hardness gave or took."""
    hardness: float
    """The sum of what it gave or took (``b``)."""
    of_level: float
    """``A``: what a player of the level would have scored."""
    pull_moves: float
    """Both players start with so many moves by a player of the level."""
    rating: float


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
    score: float
    difference: float | None
    rating: float | None
    """The engine's plus ``difference``."""
    perceived: ExplainedPerceived | None
    """Null where no move counts or nothing reads the scores; ``note`` says why."""
    note: str
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
    rater: GameRater,
    made: tuple[ExplainedSearch, ...],
) -> Explanation | None:
    """The explanation; None where the ply has no point in its curve. ``rater`` has rated the game
    once more, from what is known of it.
    """
    mover = mover_of(detail.start_fen, ply)
    curve = detail.curves.white if mover == "white" else detail.curves.black
    points = [point for point in curve if point.ply <= ply]
    if not points or points[-1].ply != ply:
        return None
    view = detail.plies[ply - 1]
    sign = 1 if mover == "white" else -1
    before_cp = detail.plies[ply - 2].score_cp if ply > 1 else detail.start_score_cp
    gains = [point.gain_cp for point in points]
    worse, equal = sum(gain < 0 for gain in gains), gains.count(0)
    better = len(gains) - worse - equal
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
        score=expected,
        difference=difference,
        rating=None if difference is None else engine.rating + difference,
        perceived=_perceived(detail, mover, ply, rater),
        note=detail.note,
        published=points[-1],
        others=_others(view),
    )


def _others(view: PlyView) -> str:
    if view.played_share is None:
        return ""
    rated = "players" if view.played_elo is None else f"players rated {view.played_elo}"
    mark = f"; a {view.mark}" if view.mark else ""
    return f"{share_in_words(view.played_share)} {rated} would play it{mark}"


def _signed(sign: int, score_cp: int | None) -> int | None:
    return None if score_cp is None else sign * score_cp


def _perceived(
    detail: GameDetail, mover: Color, ply: int, rater: GameRater
) -> ExplainedPerceived | None:
    side = rater.trace(mover, ply)
    found = perceived(side.evidence) if side is not None else None
    if side is None or found is None or detail.model is None:
        return None

    def at(line: Floats) -> float:
        return float(np.interp(found.rating, GRID_ELO, line))

    moves = tuple(
        ExplainedMove(
            each.turn.ply,
            each.turn.gain_cp,
            each.turn.score_before_cp,
            at(each.compared.single.score),
            at(each.compared.single.of_level),
        )
        for each in side.moves
    )
    score = at(side.evidence.score)
    return ExplainedPerceived(
        model=detail.model,
        models=tuple(model.name for model in side.reader.models),
        scale=side.reader.scale,
        game_elo=side.elos.level,
        own_elo=side.elos.own,
        moves=moves,
        score=score,
        hardness=math.fsum(move.score for move in moves) - score,
        of_level=at(side.evidence.of_level),
        pull_moves=PULL_MOVES,
        rating=found.rating,
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
    yield (f"  expected score = ({found.better} + {found.equal} / 2) / {n} = {found.score:.6f}")
    if found.difference is None:
        yield "  difference: unbounded, so there is no rating"
    else:
        yield (
            f"  difference = 200 sqrt(2) inverse-normal({found.score:.6f})"
            f" = {DIFFERENCE_SD_ELO:.2f} x {found.difference / DIFFERENCE_SD_ELO:.5f}"
            f" = {found.difference:.2f}"
        )
        yield (
            f"  rating = {found.engine.rating} (engine, {found.engine.rating_source})"
            f" + {found.difference:.2f} = {found.rating:.2f}"
        )
    yield f"  published difference: {_number(found.published.difference)}"
    yield ""
    if found.perceived is None:
        yield f"Perceived rating: none{f', {found.note}' if found.note else ''}"
    else:
        yield from _perceived_in_words(found.perceived, found)


def _perceived_in_words(made: ExplainedPerceived, found: Explanation) -> Iterator[str]:
    n, published = len(made.moves), found.published
    names = " and ".join(made.models)
    note = f"; {found.note}" if found.note else ""
    yield f"Perceived rating, read as {made.model} by {names}{note}:"
    if made.scale != 1:
        yield f"  scores and gains divided by {made.scale:.3f}"
    own = "unrated" if made.own_elo is None else f"own Elo {made.own_elo:.0f}"
    yield f"  level of the game {made.game_elo:.0f}, {own}"
    yield f"  against players rated {made.rating:.0f} in the same positions, of 1 a move:"
    for move in made.moves:
        yield (
            f"    ply {move.ply}: at {move.score_before_cp} cp, gain {move.gain_cp}: scored"
            f" {move.score:.3f}, a player of the level {move.expected:.3f}"
        )
    pulled = made.pull_moves / n * (made.of_level - n / 2)
    yield (
        f"  {n} moves: S = {made.score + made.hardness:.4f} - {made.hardness:.4f} (hard for both)"
        f" = {made.score:.4f}, A = {made.of_level:.4f}"
    )
    yield (
        f"  S - n/2 + {made.pull_moves:g}/n (A - n/2) = {made.score - n / 2:.4f} + {pulled:.4f}"
        f" = {made.score - n / 2 + pulled:.4f}, which is 0 at {made.rating:.2f}"
    )
    yield f"  published: {_number(published.perceived)}"
    if published.usual_low is not None and published.usual_high is not None:
        yield (
            f"  usual for the own Elo: {published.usual_low:.0f} to {published.usual_high:.0f},"
            f" better than {_number(published.percentile)} % of games"
        )
    yield f"  95 % of the moves alone: {_number(published.low)} to {_number(published.high)}"


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
