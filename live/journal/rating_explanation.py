"""Explains a published rating from the scores it is based on. Pure.

An explanation contains the searches, the gains, and the comparisons with the engine and
with rated players. The game is rated again by the usual function. The explanation is a
value for programs; its text for people shows the formulas with their numbers.
"""

from collections.abc import Iterator

import numpy as np

from live.engine.search import Position, Search, SearchOptions, SearchResult
from live.engine.search_key import SearchKey
from live.engine.uci import format_go, format_position
from live.event.rate_game import TracedSide
from live.games.game import Game
from live.human.difficulty import format_share as share_in_words
from live.messages.figures import CurvePoint, EngineInfo, GainKind, PlyView
from live.messages.values import Color, GameId, Value
from live.ratings.expected_score import DIFFERENCE_SD_ELO, convert_score_to_difference
from live.ratings.perceived_rating import GRID_ELO, Floats, read_rating


class ExplainedMove(Value):
    """A move, compared with the moves of players with the perceived rating in the same
    position.
    """

    ply: int
    before_cp: int
    gain_cp: int
    slope: float
    """Increase of the logarithm of the move's likelihood per 100 Elo, minus the average
    increase over the moves that players make here. A value above 0 means that the move
    is more frequent among stronger players.
    """


class ExplainedPerceived(Value, kw_only=True):
    """Derivation of a perceived rating from moves and a prior distribution."""

    models: tuple[str, ...]
    scale: float
    """Number of the engine's centipawns in one centipawn of the models."""
    level_elo: float
    own_elo: float | None
    prior_sd_elo: float
    """Standard deviation of the prior distribution of ratings around the level, Elo."""
    rating: float
    moves: tuple[ExplainedMove, ...]
    slope: float
    """Sum of the moves' slopes, minus the part that was difficult for both players."""
    prior: float
    """Slope of the prior distribution. At the perceived rating it balances
    ``slope``.
    """


class Explanation(Value, kw_only=True):
    """Derivation of one player's rating after one ply.

    Scores and gains are from the mover's view; ``searches`` and ``move`` are from
    White's view.
    """

    game: GameId
    white: str
    black: str
    mover: Color
    gain: GainKind
    engine: EngineInfo
    identity: str
    """Name and options of the engine."""
    searches: tuple[tuple[str, SearchKey, SearchResult], ...]
    before_cp: int | None
    move: PlyView
    gains_cp: tuple[int, ...]
    """Gains of all the mover's moves so far."""
    published: CurvePoint
    model: str | None
    note: str
    perceived: ExplainedPerceived | None


def list_searches(
    game: Game, ply: int, search_options: SearchOptions, depth: int | None
) -> list[tuple[str, Search]]:
    """Return the searches needed for the gain at ``ply``, each with its description.

    ``depth`` is the depth that the search of the position before the move reached.
    """
    moves = tuple(move.uci for move in game.moves)

    def build_position(index: int) -> Position:
        return Position(game.start_fen, moves[:index], game.chess960)

    return [
        ("position before", search_options.search_of_position(build_position(ply - 1))),
        (
            "move played",
            search_options.search_of_move(
                build_position(ply - 1), moves[ply - 1], depth
            ),
        ),
        ("position after", search_options.search_of_position(build_position(ply))),
    ]


def explain_side(side: TracedSide | None) -> ExplainedPerceived | None:
    """Return the derivation of a side's perceived rating; None if it has no counted
    move.
    """
    if side is None:
        return None
    prior_sd = side.reader.prior_sd
    reading = read_rating(side.evidence, prior_sd)
    if reading is None:
        return None
    rating = reading.rating

    def read_slope(line: Floats) -> float:
        return 100 * float(np.interp(rating, GRID_ELO, line))

    return ExplainedPerceived(
        models=tuple(model.name for model in side.reader.models),
        scale=side.reader.scale,
        level_elo=side.elos.level,
        own_elo=side.elos.own,
        prior_sd_elo=prior_sd,
        rating=rating,
        moves=tuple(
            ExplainedMove(
                turn.ply, turn.score_before_cp, turn.gain_cp, read_slope(compared.slope)
            )
            for turn, compared in side.moves
        ),
        slope=read_slope(side.evidence.slope),
        prior=100 * (rating - side.elos.level) / prior_sd**2,
    )


def describe_explanation(explanation: Explanation) -> Iterator[str]:
    """Yield the text of an explanation for people, line by line."""
    view = explanation.move
    engine = explanation.engine
    point = explanation.published
    mover = explanation.mover
    sign = 1 if mover == "white" else -1
    yield (
        f"{explanation.white} - {explanation.black} ({explanation.game}),"
        f" ply {view.ply}: {view.san}"
    )
    yield f"Engine: {explanation.identity}; {engine.limit}"
    yield ""
    yield f"Scores, from {mover}'s side:"
    for label, search_key, result in explanation.searches:
        best = f", best {result.best}" if search_key.only is None else ""
        score = result.score
        mate = f" (mate in {sign * score.mate})" if score.mate is not None else ""
        reached = f"depth {result.depth}{best}, {result.nodes} nodes"
        yield f"  {label}: {sign * score.cp} cp{mate}, {reached}"
        # The lines are commands to an engine, so that anybody can repeat the search.
        yield f"    position {format_position(search_key)}"
        yield f"    go {format_go(search_key)}"
    yield f"Gain, same search: {_format_gain(view.gain_same_search_cp)}"
    if explanation.gain == "same-search" and view.played_cp is not None:
        yield (
            f"  played - best = {sign * view.played_cp} - {explanation.before_cp},"
            " at most 0"
        )
    yield f"Gain, successive: {_format_gain(view.gain_successive_cp)}"
    if view.score_cp is not None:
        yield f"  after - before = {sign * view.score_cp} - {explanation.before_cp}"
    if view.played_share is not None:
        rated = (
            "players" if view.played_elo is None else f"players rated {view.played_elo}"
        )
        mark = f"; a {view.mark}" if view.mark else ""
        share = share_in_words(view.played_share)
        yield f"What others would play: {share} {rated} would play it{mark}"
    yield ""
    gains = explanation.gains_cp
    n = len(gains)
    worse = sum(gain < 0 for gain in gains)
    equal = gains.count(0)
    better = n - worse - equal
    expected = (better + equal / 2) / n
    yield f"Algorithm 4 (Ferreira 2012, section 7), {n} moves, gain {explanation.gain}:"
    yield "  " + " ".join(map(str, gains))
    yield (
        f"  against the engine, whose gain is always 0: {better} better, {equal} equal,"
        f" {worse} worse"
    )
    yield f"  expected score = ({better} + {equal} / 2) / {n} = {expected:.6f}"
    difference = convert_score_to_difference(expected)
    if difference is None:
        yield "  difference: unbounded, so there is no rating"
    else:
        yield (
            f"  difference = 200 sqrt(2) inverse-normal({expected:.6f})"
            f" = {DIFFERENCE_SD_ELO:.2f} x {difference / DIFFERENCE_SD_ELO:.5f} ="
            f" {difference:.2f}"
        )
        yield (
            f"  rating = {engine.rating} (engine, {engine.rating_source})"
            f" + {difference:.2f} = {engine.rating + difference:.2f}"
        )
    yield f"  published difference: {_format_number(point.difference)}"
    yield ""
    if explanation.perceived is not None:
        yield from _describe_perceived(explanation, explanation.perceived)
    else:
        note = f", {explanation.note}" if explanation.note else ""
        yield f"Perceived rating: none{note}"


def _describe_perceived(
    explanation: Explanation, perceived: ExplainedPerceived
) -> Iterator[str]:
    note = f"; {explanation.note}" if explanation.note else ""
    names = " and ".join(perceived.models)
    yield f"Perceived rating, read as {explanation.model} by {names}{note}:"
    if perceived.scale != 1:
        yield f"  scores and gains divided by {perceived.scale:.3f}"
    own = "unrated" if perceived.own_elo is None else f"own Elo {perceived.own_elo:.0f}"
    yield f"  level of the game {perceived.level_elo:.0f}, {own}"
    yield (
        f"  with 100 Elo more than {perceived.rating:.0f} the logarithm of each move's"
        f" likelihood rises"
        " (+) or falls by"
    )
    for move in perceived.moves:
        yield (
            f"    ply {move.ply}: at {move.before_cp} cp, gain {move.gain_cp}:"
            f" {move.slope:+.4f}"
        )
    point = explanation.published
    total = sum(move.slope for move in perceived.moves)
    yield (
        f"  {len(perceived.moves)} moves: {total:+.4f}, less what was hard for both"
        f" {total - perceived.slope:+.4f} = {perceived.slope:+.4f}"
    )
    yield (
        f"  prior: 100 x ({perceived.rating:.2f} - {perceived.level_elo:.0f}) /"
        f" {perceived.prior_sd_elo:g}^2"
        f" = {perceived.prior:+.4f}, which balances it at {perceived.rating:.2f}"
    )
    yield (
        "  published:"
        f" {_format_elo(point.perceived)}{f' ({point.reason})' if point.reason else ''}"
    )
    if point.usual_low is not None and point.usual_high is not None:
        yield (
            f"  usual for the own Elo: {point.usual_low} to {point.usual_high},"
            f" better than {_format_number(point.percentile)} % of games"
        )
    yield (
        f"  95 % of the moves alone: {_format_elo(point.low)} to"
        f" {_format_elo(point.high)}"
    )


def _format_gain(gain_cp: int | None) -> str:
    return "unknown" if gain_cp is None else f"{gain_cp} cp"


def _format_elo(elo: int | None) -> str:
    return "none" if elo is None else str(elo)


def _format_number(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"
