"""How moves alone, level, percentile and performance came about, from the searches.

Pure. Every turn is put together here once more from the moves and from what the journal holds of
each search, and all sums are made anew, so that an explanation that ends in another number than the
published one shows a mistake.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import chess
import msgspec
import numpy as np

from live.engine.search import SearchResult
from live.events import Color, CurvePoint, GameDetail
from live.games.game import Game
from live.human.question import REFERENCE_ELOS, HumanAnswer
from live.ratings.alliot.complexity import complexity
from live.ratings.calibration.engine_transfer import Transfer
from live.ratings.calibration.move_evidence import Population
from live.ratings.strength.expected_result import Chances
from live.ratings.strength.human_evidence import FIRST_PLY, human_likelihood
from live.ratings.strength.known_before_move import Board, Turn, board_before
from live.ratings.strength.loss_model import (
    GRID_ELO,
    Alone,
    Floats,
    LossModel,
    LossReader,
    alone,
    joined,
    level,
)
from live.ratings.strength.percentile import Surprise, percentile
from live.ratings.strength.performance import (
    POINTS,
    PlayedAgainst,
    Results,
    of_result,
    performance,
)

_LOW_ELO, _HIGH_ELO = REFERENCE_ELOS

#: The log-likelihood is printed for these ratings.
SHOWN_ELO = (1000, 1400, 1800, 2200, 2600, 3000)


class ExplainedTurn(msgspec.Struct, frozen=True):
    """One counted move beside what players of the mover's Elo lose there."""

    ply: int
    gain_cp: int
    """On the scale of the model's engine, like all that follows."""
    score_before_cp: int
    """Mover's side."""
    stability_cp: float | None
    jump_cp: int | None
    log_loss: float
    """log(1 + loss in tenths of a pawn)."""
    expected: float
    """Mean of ``log_loss`` among players of this Elo."""
    sd: float
    shares: tuple[float, float] | None = None
    """0 to 1: how many players of the two reference ratings play the move, where that counts."""


class ExplainedFigure(msgspec.Struct, frozen=True):
    """A figure with its 95 % interval as worked out here, Elo; null where unbounded."""

    value: float | None
    low: float | None
    high: float | None


class ExplainedStrength(msgspec.Struct, frozen=True, kw_only=True):
    """The figures after one ply, and the performance of the game as it stands."""

    model: str
    transfer: Transfer | None
    """How another engine's scores are read; gains and scores here are divided by its scale."""
    turns: tuple[ExplainedTurn, ...]
    """Of the player: forced moves are no choice and do not count."""
    opponent_turns: int
    """Turns of the opponent before the last of these; what they lost shifts what is expected."""
    weight: float
    """Each move counts for this, since moves of one game are not independent of each other."""
    log_likelihood: tuple[tuple[int, float], ...]
    """Of all losses, for players of some ratings; unweighted."""
    network: str | None
    """Whose answers say how likely the moves are among people; null where one is not known, and
    the losses count alone."""
    human_weight: float | None
    """What the next counts beside the losses."""
    human_log_likelihood: tuple[tuple[int, float], ...] | None
    """Of all moves among people, for players of the same ratings; unweighted."""
    over: bool
    """The game ended there: it is compared with finished games."""
    alone: ExplainedFigure | None
    prior_elo: float
    """The own Elo, without one the field's."""
    prior_sd_elo: float
    level: ExplainedFigure
    level_share: float
    percentile: float | None
    above_expected: float
    """Sum of ``log_loss - expected`` over the turns."""
    opponent_elo: int | None
    win: float | None
    """Of the player, by the result, or by the last position while the game runs."""
    draw: float | None
    loss: float | None
    game_turns: int
    """Counted moves that the performance rests on: those of the whole game."""
    performance: ExplainedFigure | None
    published_performance: ExplainedFigure | None


def explain_strength(
    game: Game,
    detail: GameDetail,
    mover: Color,
    ply: int,
    *,
    found: Mapping[int, SearchResult],
    reader: LossReader,
    results: Results | None,
    field: Population,
    answers: Mapping[int, HumanAnswer],
) -> ExplainedStrength | None:
    """The explanation; None where a search is not in the journal, or no move counts.

    ``found`` and ``answers`` are by ply, of the position before it; ``field`` is what is believed
    of a player without a rating.
    """
    boards = list(_boards(game))
    usual = {color: getattr(detail, color).elo for color in ("white", "black")}
    other: Color = "black" if mover == "white" else "white"
    turns: dict[Color, list[Turn]] = {"white": [], "black": []}
    for color in turns:
        for point in _points(detail, color):
            searched = found.get(point.ply)
            if searched is None:
                return None
            turn = _turn(point, color, searched, boards[point.ply - 1])
            if turn.board is None or not turn.board.forced:
                turns[color].append(reader.scaled(turn))

    def beside(color: Color) -> list[Surprise]:
        elo = usual[color] if usual[color] is not None else field.mean_elo
        each = [(turn, reader.expected(turn, elo)) for turn in turns[color]]
        return [Surprise(t.ply, t.log_loss - e.mean, e.variance) for t, e in each]

    counted = [turn for turn in turns[mover] if turn.ply <= ply]
    if not counted:
        return None
    own, opponent, elo = beside(mover), beside(other), usual[mover]
    over = game.result != "*" and ply >= len(game.moves) - 1
    model, n = reader.model, len(counted)
    moves = {at: move.uci for at, move in enumerate(game.moves, 1)}
    among = _among(model, counted, answers, moves)
    all_among = _among(model, turns[mover], answers, moves)
    losses = _sum(reader, counted)
    summed, human = joined(model, losses, among)
    prior_elo, prior_sd_elo = field.mean_elo, field.sd_elo
    if elo is not None:
        prior_elo, prior_sd_elo = float(elo), model.form_sd_elo
    held = level(model, summed, n, prior_elo, prior_sd_elo)
    rank = None if elo is None else percentile(model, elo, own[:n], opponent, over=over)
    ends = _ends(game, detail, mover, results, usual[other])
    against = PlayedAgainst(
        usual[other],
        mover == "white",
        ends,
        _sum(reader, turns[mover]),
        len(turns[mover]),
        game.result != "*",
        human=all_among,
    )
    side = getattr(detail.methods, mover)
    return ExplainedStrength(
        model=model.name,
        transfer=reader.transfer,
        turns=tuple(
            _explained(turn, beside, answers.get(turn.ply) if human else None, moves[turn.ply])
            for turn, beside in zip(counted, own, strict=False)
        ),
        opponent_turns=sum(each.ply < counted[-1].ply for each in opponent),
        weight=model.weight(n),
        log_likelihood=_shown(losses),
        network=human.network if human else None,
        human_weight=human.weight if human else None,
        human_log_likelihood=_shown(among) if human and among is not None else None,
        over=over,
        alone=_figure(alone(model, summed, n, over=over, human=human)),
        prior_elo=prior_elo,
        prior_sd_elo=prior_sd_elo,
        level=ExplainedFigure(held.elo, held.low, held.high),
        level_share=held.share,
        percentile=rank,
        above_expected=sum(each.above for each in own[:n]),
        opponent_elo=usual[other],
        win=ends.win if ends else None,
        draw=ends.draw if ends else None,
        loss=ends.loss if ends else None,
        game_turns=len(turns[mover]),
        performance=None if results is None else _figure(performance(model, results, [against])),
        published_performance=_known(side.performance, side.performance_low, side.performance_high),
    )


def _boards(game: Game) -> Iterator[Board]:
    """What the board shows before each ply."""
    walk = chess.Board(game.start_fen, chess960=game.chess960)
    taken = False
    for move in game.moves:
        repeated = walk.halfmove_clock > 3 and walk.is_repetition(2)
        yield board_before(walk, taken=taken, repeated=repeated)
        played = chess.Move.from_uci(move.uci)
        taken = walk.is_capture(played)
        walk.push(played)


def _points(detail: GameDetail, color: Color) -> Sequence[CurvePoint]:
    return detail.curves.white if color == "white" else detail.curves.black


def _turn(point: CurvePoint, color: Color, searched: SearchResult, board: Board) -> Turn:
    said = complexity(searched.by_depth)
    return Turn(
        point.gain_cp,
        searched.score.cp if color == "white" else -searched.score.cp,
        point.ply,
        said.stability_cp if said else None,
        said.jump_cp if said else None,
        board,
    )


def _sum(reader: LossReader, turns: Sequence[Turn]) -> Floats:
    total: Floats = np.zeros(len(GRID_ELO))
    for turn in turns:
        total = total + reader.log_likelihood(turn)
    return total


def _among(
    model: LossModel,
    turns: Sequence[Turn],
    answers: Mapping[int, HumanAnswer],
    moves: Mapping[int, str],
) -> Floats | None:
    total: Floats = np.zeros(len(GRID_ELO))
    for turn in turns:
        one = human_likelihood(model, answers.get(turn.ply), turn.ply, moves[turn.ply])
        if one is None:
            return None
        total = total + one
    return total


def _shown(log_likelihood: Floats) -> tuple[tuple[int, float], ...]:
    return tuple((at, float(np.interp(at, GRID_ELO, log_likelihood))) for at in SHOWN_ELO)


def _ends(
    game: Game,
    detail: GameDetail,
    mover: Color,
    results: Results | None,
    opponent_elo: int | None,
) -> Chances | None:
    points = POINTS.get(game.result)
    if points is not None:
        return of_result(points if mover == "white" else 1 - points)
    if results is None:
        return None
    scores = [detail.start_score_cp]
    scores += [None if ply.score_source else ply.score_cp for ply in detail.plies]
    for ply in range(len(scores) - 1, -1, -1):
        score_cp = scores[ply]
        if score_cp is not None:
            # Two players of the opponent's rating: the own one is not used.
            seen = results.chances(score_cp, ply, opponent_elo, opponent_elo)
            return seen if mover == "white" else Chances(seen.loss, seen.draw, seen.win)
    return None


def _explained(turn: Turn, beside: Surprise, answer: HumanAnswer | None, uci: str) -> ExplainedTurn:
    shares = None
    if answer is not None and turn.ply >= FIRST_PLY:
        last = len(answer.per_mille)
        low, high = answer.share(last - 2, uci), answer.share(last - 1, uci)
        shares = None if low is None or high is None else (low, high)
    return ExplainedTurn(
        turn.ply,
        turn.gain_cp,
        turn.score_before_cp,
        turn.stability_cp,
        turn.jump_cp,
        turn.log_loss,
        turn.log_loss - beside.above,
        beside.variance**0.5,
        shares,
    )


def _figure(found: Alone | None) -> ExplainedFigure | None:
    return None if found is None else _known(*found[:3])


def _known(value: float | None, low: float | None, high: float | None) -> ExplainedFigure | None:
    return (
        None
        if value is None and low is None and high is None
        else ExplainedFigure(value, low, high)
    )


def strength_in_words(found: ExplainedStrength, published: CurvePoint) -> Iterator[str]:
    """The same for people, one line each."""
    n = len(found.turns)
    yield f"Losses, model {found.model!r}: log(1 + loss in tenths of a pawn), and what players of"
    yield f"  {found.prior_elo:.0f} Elo lose in such positions, of {n} moves:"
    if (transfer := found.transfer) is not None:
        yield (
            f"  transferred: scores and gains divided by {transfer.scale:.3f}, each move's evidence"
            f" counted {transfer.weight:.3f} times and moved by {-transfer.offset_elo:+.0f} Elo"
        )
    for turn in found.turns:
        unstable = "" if turn.stability_cp is None else f", unstable by {turn.stability_cp:.1f} cp"
        played = ""
        if turn.shares is not None:
            low, high = (f"{1000 * share:.0f}" for share in turn.shares)
            played = f"; of 1000 rated {_LOW_ELO} and {_HIGH_ELO}, {low} and {high} play it"
        yield (
            f"  ply {turn.ply}: gain {turn.gain_cp} cp at {turn.score_before_cp:+d} cp{unstable}:"
            f" {turn.log_loss:.3f}, expected {turn.expected:.3f} ± {turn.sd:.3f}{played}"
        )
    yield ""
    yield f"Moves alone, each move counting for {found.weight:.5f}; log-likelihood of the losses:"
    yield "  " + ", ".join(f"{elo} Elo: {value:.3f}" for elo, value in found.log_likelihood)
    if found.human_log_likelihood is None:
        yield "  losses alone: of some move it is not known how many people play it"
    else:
        yield (
            f"  and, {found.human_weight:g} times, of the moves among people from ply {FIRST_PLY}"
            f" on, by {found.network}:"
        )
        yield "  " + ", ".join(
            f"{elo} Elo: {value:.3f}" for elo, value in found.human_log_likelihood
        )
    what = "finished games" if found.over else "running games"
    yield (
        "  the Elo where the signed root of twice the likelihood ratio, standardised as in"
        f" {what} of so many moves, is 0; the interval is where it stays within its reach"
    )
    yield f"  = {_ends_in_words(found.alone)}"
    yield (
        "  published: "
        f"{_ends_in_words(_known(published.alone, published.alone_low, published.alone_high))}"
    )
    yield ""
    yield f"Level: normal prior, mean {found.prior_elo:.2f}, sd {found.prior_sd_elo:.2f},"
    yield "  times the same likelihood"
    if not found.prior_sd_elo:
        yield "  an sd of 0: no form of the day was found beyond the rating, so the level is it"
    yield (
        f"  = {_ends_in_words(found.level)}; share of these moves 1 - variance / prior variance ="
        f" {found.level_share:.6f}"
    )
    yield (
        "  published: "
        f"{_ends_in_words(_known(published.level, published.level_low, published.level_high))};"
        f" share {_number(published.level_share, 6)}"
    )
    yield ""
    yield (
        f"Percentile: losses above what was expected add up to {found.above_expected:+.3f}; less"
        f" what {found.opponent_turns} moves of the opponent say of the game's difficulty"
    )
    yield (
        f"  = {_number(found.percentile, 1)} of 100 games played worse; published:"
        f" {_number(published.percentile, 1)}"
    )
    yield ""
    yield (
        f"Performance of the game as it stands, {found.game_turns} moves, opponent's Elo"
        f" {found.opponent_elo or 'unknown'}, win/draw/loss"
        f" {_number(found.win, 3)}/{_number(found.draw, 3)}/{_number(found.loss, 3)}"
    )
    yield f"  = {_ends_in_words(found.performance)}"
    yield f"  published: {_ends_in_words(found.published_performance)}"


def _ends_in_words(found: ExplainedFigure | None) -> str:
    if found is None:
        return "none"
    low, high = _number(found.low, 2, "unbounded"), _number(found.high, 2, "unbounded")
    return f"{_number(found.value, 2, 'unbounded')} ({low} to {high})"


def _number(value: float | None, decimals: int, nothing: str = "none") -> str:
    return nothing if value is None else f"{value:.{decimals}f}"
