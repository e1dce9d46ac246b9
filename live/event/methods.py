"""Figures of games and players by further methods. Pure.

Further methods are all except Ferreira's and the perceived rating. The figures are
computed on demand from the scored moves, for ``analyze``, for reports, and for studies
that compare players. An unknown figure is null, and another field gives the reason.
Sums over games do not depend on the order of the games.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from live.event.ply import KnownGame, KnownMove
from live.event.rate_game import COLORS, ELO_DECIMALS, SCORE_DECIMALS, Measure, rounded
from live.games.game import Game, is_played, side_to_play
from live.messages.figures import (
    GameMethods,
    Intrinsic,
    PlayerMethods,
    Share,
    SideMethods,
)
from live.messages.from_sources import Headers
from live.messages.values import Color, GameId, Value
from live.ratings.accuracy import MeanOfMoves, SideAccuracy, compute_game_accuracy
from live.ratings.algorithm_2 import Strength
from live.ratings.choice_model import (
    CHOICE_LIMIT_CP,
    FIRST_CHOICE_PLY,
    Spread,
    build_spread,
    explain_left_out,
)
from live.ratings.choice_projection import project_choices
from live.ratings.conformance import (
    FIRST_COUNTED_PLY,
    GUID_BRATKO,
    PONDERATED,
    RAW,
    AccumulatedConformance,
    Conformance,
    predict_by_conformance,
)
from live.ratings.intrinsic_rating import IntrinsicTable, estimate_rating
from live.ratings.markov import ENOUGH_MOVES
from live.ratings.score_interval import ClusteredScores, GameScores

SHARE_DECIMALS = 4
MEAN_DECIMALS = 2
Z_DECIMALS = 2
#: The ends of Algorithm 2's intervals are published as multiples of this, rounded
#: outwards.
INTERVAL_STEP_ELO = 5
#: Ratings are rounded to this number of decimals first. Otherwise the error of the
#: solver, some 1e-12, could decide how a rating that ends in a half is rounded.
_SOLVED_DECIMALS = 6

NO_CHOICE = "no engine's first choice to compare with"
NO_TURN = "no turn that counts yet (from move 9 on, among several lines)"
UNRATED = "no own rating to compare with"
NO_COMPARISON = "no opponent with a bounded comparison yet"
NOBODY_RATED = "nobody of this group of players is rated"
ONE_RATED = "the only rated player of the group: the rating is kept as it is"


# --- moves ----------------------------------------------------------------------------


class MoveQuality(Value, gc=False):
    """One move compared with the engine's first choice, from the mover's side."""

    ply: int
    best_cp: int | None = None
    """Score of the position before the move, centipawns; None while unknown."""
    gain_cp: int | None = None
    """Same-search gain, centipawns; None while it or the engine's first choice is
    unknown.
    """
    first_choice: bool | None = None
    """True if the move was the engine's first choice; None if the first choice is
    unknown.
    """
    forced: bool = False
    """True if the move was the only legal one."""
    spread: Spread | None = None
    """The choice among several lines of the engine; None if the engine gave only one
    line, or if the move does not count (Regan and Haworth 2011, section 5).
    """


class JudgedSide(NamedTuple):
    """One player's moves in one game."""

    color: Color
    moves: tuple[MoveQuality, ...] = ()
    gains_cp: tuple[int, ...] = ()
    """Gains from which the rating curves are computed, centipawns."""
    lost: SideAccuracy = SideAccuracy(MeanOfMoves(None, 0), MeanOfMoves(None, 0))


JudgedGame = Mapping[Color, JudgedSide]


def judge_game(game: Game, searches: KnownGame, measure: Measure) -> JudgedGame:
    """Return the judged moves of both sides.

    The moves of a game that ended before both sides moved are left out.
    """
    if game.result != "*" and not is_played(game):
        return {color: JudgedSide(color) for color in COLORS}
    scores = [move.after.score if move.after else None for move in searches.moves]
    accuracies = compute_game_accuracy(
        [searches.start, *scores], side_to_play(game.start_fen, 1)
    )
    sides: dict[Color, JudgedSide] = {}
    for color in COLORS:
        own = [move for move in searches.moves if move.mover == color]
        gains = [move.gains.of(measure.gain) for move in own]
        sides[color] = JudgedSide(
            color,
            tuple(map(judge_move, own)),
            tuple(gain for gain in gains if gain is not None),
            accuracies[color],
        )
    return sides


def judge_move(move: KnownMove) -> MoveQuality:
    """Compare a move with the engine's first choice, as far as it is known."""
    before, forced = move.before, move.board.is_forced
    if before is None:
        return MoveQuality(move.ply, forced=forced)
    sign = 1 if move.mover == "white" else -1
    choice = None if before.best is None else before.best == move.uci
    spread = None
    lines = [(line.move, sign * line.score.cp) for line in before.lines]
    # An engine that was stopped while it ordered its lines can list one move twice and
    # omit another.
    if len(lines) > 1 and len(dict(lines)) == len(lines):
        spread = build_spread(lines, move.uci)
        if explain_left_out(spread, move.ply, repeated=move.board.repeated):
            spread = None
    gain_cp = move.gains.same_search_cp
    return MoveQuality(
        move.ply, sign * before.score.cp, gain_cp, choice, forced, spread
    )


# --- games and players ----------------------------------------------------------------


class EventMethods(NamedTuple):
    """Figures of every game and every player by the methods of this module, by id."""

    games: Mapping[GameId, GameMethods]
    players: Mapping[str, PlayerMethods]


def rate_game_by_methods(
    sides: JudgedGame, headers: Headers, measure: Measure
) -> GameMethods:
    """Return the figures of one game by the methods of this module."""
    white, black = sides["white"], sides["black"]
    predicted = predict_by_conformance(
        accumulate_conformance([white]), accumulate_conformance([black])
    )
    return GameMethods(
        _rate_side_by_methods(white, measure, headers.white.elo),
        _rate_side_by_methods(black, measure, headers.black.elo),
        expected_score=rounded(predicted.expected_score, SCORE_DECIMALS),
        low=rounded(predicted.low, SCORE_DECIMALS),
        high=rounded(predicted.high, SCORE_DECIMALS),
        missing=predicted.missing,
    )


def _rate_side_by_methods(
    side: JudgedSide, measure: Measure, elo: int | None
) -> SideMethods:
    gains = side.gains_cp
    mean_cp = sum(gains) / len(gains) if gains else None
    figures = move_figures((side,), measure, elo)
    return SideMethods(**figures, mean_gain_cp=rounded(mean_cp, MEAN_DECIMALS))


def rate_player_by_methods(
    sides: Sequence[JudgedSide],
    measure: Measure,
    elo: int | None,
    strength: Strength | None,
) -> PlayerMethods:
    """Return a player's figures over the event by the methods of this module.

    ``strength`` is the player's rating by Algorithm 2.
    """
    figures = move_figures(sides, measure, elo)
    tournament, reasons = tournament_figures(strength)
    moves = accumulate_conformance(sides).n
    if moves < ENOUGH_MOVES:
        reasons = {"markov": f"{moves} of {ENOUGH_MOVES} moves", **reasons}
    figures["missing"] |= reasons
    return PlayerMethods(**figures, **tournament, markov_moves=moves)


def move_figures(
    sides: Sequence[JudgedSide], measure: Measure, elo: int | None
) -> dict[str, Any]:
    """Return the fields of :class:`live.messages.figures.MoveMethods` over all
    ``sides``.

    Args:
        sides: one player's moves, by game.
        measure: the definitions and models of the event.
        elo: the player's official rating; None if unrated.
    """
    shares: dict[str, Share] = {}
    for name, kind in _KINDS.items():
        counted = [accumulate_conformance([side], kind) for side in sides]
        shares[name] = share(
            [(conformance.n, conformance.within_count) for conformance in counted]
        )
    shares["first_choice"] = share(list(map(count_first_choices, sides)))
    unchosen = bool(sides) and all(map(_has_no_first_choices, sides))
    missing = {
        name: NO_CHOICE if unchosen else _explain_no_move(name)
        for name, figure in shares.items()
        if figure.share is None
    }
    means = {
        "accuracy": _mean_over_games(side.lost.accuracy for side in sides),
        "centipawn_loss": _mean_over_games(side.lost.centipawn_loss for side in sides),
    }
    missing |= {
        name: "no scored move yet" for name, mean in means.items() if mean is None
    }
    moves = chain.from_iterable(side.moves for side in sides)
    spreads = [move.spread for move in moves if move.spread]
    intrinsic, reasons = _intrinsic_figures(measure, spreads, elo)
    return {**shares, **means, "intrinsic": intrinsic, "missing": missing | reasons}


def _explain_no_move(name: str) -> str:
    """Return the reason why a share has no counted move yet."""
    first_ply = FIRST_CHOICE_PLY if name == "first_choice" else FIRST_COUNTED_PLY
    return f"no counted move yet (from move {(first_ply + 1) // 2} on)"


_KINDS = {"conformance": RAW, "guid_bratko": GUID_BRATKO, "ponderated": PONDERATED}


def accumulate_conformance(
    sides: Iterable[JudgedSide], kind: Conformance = RAW
) -> AccumulatedConformance:
    """Return the conformance over all moves of these sides."""
    conformance = AccumulatedConformance(kind)
    for move in chain.from_iterable(side.moves for side in sides):
        if move.best_cp is not None and move.gain_cp is not None:
            conformance.add(
                move.best_cp, move.gain_cp, ply=move.ply, forced=move.forced
            )
    return conformance


def count_first_choices(side: JudgedSide) -> tuple[int, int]:
    """Return the number of moves that count, and the number of first choices among
    them.
    """
    chosen = [move.first_choice for move in side.moves if _is_counted_move(move)]
    return len(chosen), sum(map(bool, chosen))


def _is_counted_move(move: MoveQuality) -> bool:
    """Return whether a move counts for the share of first choices. Unlike in
    ``live.ratings.agreement``, repeated positions count too.
    """
    if move.best_cp is None or move.first_choice is None or move.forced:
        return False
    return move.ply >= FIRST_CHOICE_PLY and abs(move.best_cp) <= CHOICE_LIMIT_CP


def _has_no_first_choices(side: JudgedSide) -> bool:
    """Return whether a side has scores but no first choices.

    This is the case for scores from ``[%eval]`` comments.
    """
    scored = [move for move in side.moves if move.best_cp is not None]
    return bool(scored) and all(move.first_choice is None for move in scored)


def share(games: Sequence[tuple[int, int]]) -> Share:
    """Return the share of moves with a property, with an interval clustered by game.

    ``games`` contains for each game its number of moves, and the number with the
    property.
    """
    scores = [
        GameScores(n, with_property, with_property) for n, with_property in games if n
    ]
    n = sum(score.n for score in scores)
    if not n:
        return Share()
    ends = ClusteredScores(scores).compute_interval()
    low, high = ends if ends is not None else (None, None)
    return Share(
        share=rounded(sum(score.total for score in scores) / n, SHARE_DECIMALS),
        low=rounded(low, SHARE_DECIMALS),
        high=rounded(high, SHARE_DECIMALS),
        moves=n,
    )


def _mean_over_games(games: Iterable[MeanOfMoves]) -> float | None:
    """Return the mean over games, weighted by moves; None without a move."""
    known_values = [
        (value, moves) for value, moves in games if value is not None and moves
    ]
    moves = sum([moves for _, moves in known_values])
    total = math.fsum([value * moves for value, moves in known_values])
    return rounded(total / moves, MEAN_DECIMALS) if moves else None


def _intrinsic_figures(
    measure: Measure, turns: Sequence[Spread], elo: int | None
) -> tuple[Intrinsic | None, dict[str, str]]:
    """Return the figures of the intrinsic rating, and the reason for each null figure.

    The reasons are by field name.
    """
    if measure.table is None:
        return None, {"intrinsic": measure.table_note}
    if not turns:
        return None, {"intrinsic": NO_TURN}
    figures, reason = _compute_intrinsic_rating(measure.table, turns, elo)
    missing = {} if elo is not None else {"intrinsic_z": UNRATED}
    if reason:
        missing["intrinsic_rating"] = reason
    return figures, missing


def _compute_intrinsic_rating(
    table: IntrinsicTable, turns: Sequence[Spread], elo: int | None
) -> tuple[Intrinsic, str]:
    estimate, n = estimate_rating(table, turns), len(turns)
    losses = [spread.loss for spread in turns if spread.loss is not None]
    projections = (
        project_choices(turns, table.interpolate_skill(elo))
        if elo is not None
        else None
    )
    matches, difference = (
        (projections.matches, projections.difference) if projections else (None, None)
    )
    intrinsic = Intrinsic(
        turns=n,
        rating=rounded(estimate.elo, ELO_DECIMALS),
        low=rounded(estimate.low, ELO_DECIMALS),
        high=rounded(estimate.high, ELO_DECIMALS),
        beyond=estimate.beyond,
        move_match=round(
            sum(spread.played == 0 for spread in turns) / n, SHARE_DECIMALS
        ),
        average_difference=round(sum(losses) / n, SHARE_DECIMALS),
        projected_match=rounded(
            matches.projected / n if matches else None, SHARE_DECIMALS
        ),
        projected_difference=rounded(
            difference.projected if difference else None, SHARE_DECIMALS
        ),
        match_z=rounded(matches.z if matches else None, Z_DECIMALS),
        difference_z=rounded(difference.z if difference else None, Z_DECIMALS),
        table=table.name,
    )
    return intrinsic, estimate.reason or ""


def tournament_figures(
    strength: Strength | None,
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return Algorithm 2's figures of a player in whole Elo, and the reason for each
    null figure.

    The reasons are by field name.
    """
    if strength is None:
        return {}, {"tournament_rating": NO_COMPARISON}
    missing: dict[str, str] = {}
    if strength.rating is None:
        missing = {"tournament_rating": NOBODY_RATED}
    elif strength.low is None:
        missing = {"tournament_low": ONE_RATED, "tournament_high": ONE_RATED}
    figures = {
        "tournament_group": strength.part,
        "tournament_difference": round_elo(strength.relative),
        "tournament_rating": round_elo(strength.rating),
        "tournament_low": round_elo(strength.low, math.floor, INTERVAL_STEP_ELO),
        "tournament_high": round_elo(strength.high, math.ceil, INTERVAL_STEP_ELO),
    }
    return figures, missing


def round_elo(
    elo: float | None, to_whole: Callable[[float], int] = round, step: int = 1
) -> int | None:
    """Return ``elo`` rounded to a multiple of ``step`` with the function
    ``to_whole``; None for None.
    """
    return None if elo is None else to_whole(round(elo, _SOLVED_DECIMALS) / step) * step
