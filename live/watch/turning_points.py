"""Find the moves that turned a game. Pure.

The loss of a move is the difference between the scores before and after it. Two
searches can score the same position differently, so a loss counts only as far as the
other searches of the two positions confirm it.
"""

import statistics
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from live.catalogue import round_percent
from live.games.game import number_move, side_of_ply
from live.messages.figures import GameDetail, PlyView
from live.messages.values import Color
from live.watch.expected_scores import (
    Scores,
    compute_equal_rating_score,
    expected_scores,
    list_equal_rating_scores,
    replace_repetition_draws,
    score_after,
    score_of,
)
from live.watch.moment_draft import MomentDraft

#: Largest difference between two searches of a position, in expected score. A player
#: who gives back a gain from the opponent's mistake at once has missed a chance. Only
#: this much of the gain counts as a loss by his move.
GIFT = 0.05
#: Minimum loss by one move that is reported even in the opening, in expected score.
SWING = 0.40
#: First move number at which a smaller loss is reported. Earlier moves are mostly known
#: opening theory, which an engine can judge differently.
FROM_MOVE = 11
#: Minimum loss of expected score with both ratings taken into account. It applies to
#: moves that are reported for their loss between players of equal rating.
SEEN = 0.10
#: Minimum share of a loss that the reply gives back if it misses the chance.
GIVEN_BACK = 0.6
#: Minimum loss of expected score by a move that is called costly.
COSTLY = 0.10
#: Minimum and maximum cost of a move that a sentence states, centipawns. A lower cost
#: does not confirm a mistake, and a higher cost means mate.
_SAID_CP = 50, 1000


class TurnLimits(NamedTuple):
    """Minimum values for a move that turns a game, in expected score from 0 to 1."""

    lost: float
    """Minimum loss of expected score by the move."""
    had: float
    """Minimum expected score of the moving player before the move."""


#: The limits for expected scores that include the players' ratings, and for expected
#: scores between players of equal rating. The second limits are needed because a player
#: rated 400 lower has less than 0.20 to lose, even if he loses a piece.
TURN = TurnLimits(0.20, 0.25)
TURN_ALIKE = TurnLimits(0.25, 0.35)


def find_turning_points(game: GameDetail) -> list[MomentDraft]:
    """Return the moves that turned a game, and the replies that missed a chance.

    Their kinds of moment are ``turn`` and ``missed``.
    """
    game = replace_repetition_draws(game)
    scores = expected_scores(game)
    alike = list_equal_rating_scores(game)
    return list(_find_turns(game, scores, alike))


def find_costly_plies(game: GameDetail, scores: Scores, loser: Color) -> list[int]:
    """Return all plies at which a player lost at least 0.10 of expected score."""
    return [
        ply
        for ply, (before, after) in enumerate(pairwise(scores), 1)
        if before is not None and after is not None and side_of_ply(game, ply) == loser
        if score_of(loser, before) - score_of(loser, after) >= COSTLY
        if not has_lost_nothing(game.plies[ply - 1])
    ]


def find_costliest_ply(game: GameDetail, loser: Color) -> int | None:
    """Return the ply at which the loser lost most, judged by the score after the reply.

    Return None if some scores are unknown, or if the loss was small.
    """
    game = replace_repetition_draws(game)
    scores = expected_scores(game)
    if None in scores[1:]:
        return None
    replied = [*scores[2:], scores[-1]]
    costs = {
        ply: score_of(loser, before) - score_of(loser, after)
        for ply, (before, after) in enumerate(zip(scores, replied, strict=False), 1)
        if before is not None and after is not None and side_of_ply(game, ply) == loser
        if not has_lost_nothing(game.plies[ply - 1])
    }
    costliest = max(costs, key=costs.__getitem__, default=None)
    if costliest is None or costs[costliest] < COSTLY:
        return None
    return costliest


def has_lost_nothing(ply: PlyView) -> bool:
    """Return whether no move was better, according to the search before the move.

    The scores before and after the move can contradict this result, since they come
    from two different searches.
    """
    gain_cp = ply.gain_same_search_cp
    return ply.best == ply.uci or (gain_cp is not None and gain_cp >= 0)


# --- agreement of the searches --------------------------------------------------------


def _compute_confirmed_loss_share(game: GameDetail, ply: int) -> float:
    """Return the share of a move's loss that all searches confirm on average, 0 to 1.

    The share is the loss by the average scores of all searches of the two positions,
    divided by the loss by the scores before and after the move.
    """
    before = [compute_equal_rating_score(cp) for cp in _list_scores_cp(game, ply - 1)]
    after = [compute_equal_rating_score(cp) for cp in _list_scores_cp(game, ply)]
    if not before or not after or before[0] == after[0]:
        return 1.0
    average = statistics.fmean(before) - statistics.fmean(after)
    return max(0.0, min(1.0, average / (before[0] - after[0])))


def _list_scores_cp(game: GameDetail, ply: int) -> list[int]:
    """Return the known scores of the position after a ply, in centipawns for White.

    The first score is from the search of this position. The second score is from the
    search of the position before, which also scored the move that was played.
    """
    own = score_after(game, ply)
    if ply == 0:
        parent = None
    elif game.plies[ply - 1].best == game.plies[ply - 1].uci:
        parent = score_after(game, ply - 1)
    else:
        parent = game.plies[ply - 1].played_cp
    return [score_cp for score_cp in (own, parent) if score_cp is not None]


# --- moves that turned the game -------------------------------------------------------


class _Turn(NamedTuple):
    ply: int
    lost: float
    """Loss of expected score by the move, 0 to 1."""
    is_given_back: bool
    """True if the reply missed the chance and gave back most of the loss."""


def _find_turns(
    game: GameDetail, scores: Scores, alike: Scores
) -> Iterator[MomentDraft]:
    """Yield the moves that turned the game, and the chances that a reply missed."""
    named_plies: set[int] = set()
    for measure, limits in ((scores, TURN), (alike, TURN_ALIKE)):
        for turn in _find_falls(game, measure, limits):
            plies = {turn.ply, turn.ply + turn.is_given_back}
            # A mistake that is already reported with other expected scores is not
            # reported again.
            if plies & named_plies:
                continue
            draft = _draft_turn(game, scores, turn, is_alike=measure is alike)
            if draft is not None:
                named_plies |= plies
                yield draft


def _find_falls(
    game: GameDetail, scores: Scores, limits: TurnLimits
) -> Iterator[_Turn]:
    last = len(game.plies)
    missed = 0
    for ply in range(1, last + 1):
        before, after = scores[ply - 1], scores[ply]
        if before is None or after is None or ply == missed:
            continue
        color = side_of_ply(game, ply)
        old_score = score_of(color, before)
        new_score = score_of(color, after)
        lost = old_score - new_score
        if number_move(game, ply)[0] < FROM_MOVE and lost < SWING:
            continue
        earlier = scores[ply - 2] if ply > 2 else before
        if (
            earlier is None
            or old_score < limits.had
            or has_lost_nothing(game.plies[ply - 1])
        ):
            continue
        own = min(old_score, score_of(color, earlier) + GIFT)
        if (own - new_score) * _compute_confirmed_loss_share(game, ply) < limits.lost:
            continue
        # Before the reply is scored, the moment is reported without its confirmation.
        reply = scores[ply + 1] if ply < last else None
        given_back = 0.0 if reply is None else score_of(color, reply) - new_score
        is_given_back = given_back >= GIVEN_BACK * lost
        if is_given_back and has_lost_nothing(game.plies[ply]):
            continue
        if is_given_back:
            missed = ply + 1
        yield _Turn(ply, lost, is_given_back)


def _draft_turn(
    game: GameDetail, scores: Scores, turn: _Turn, *, is_alike: bool
) -> MomentDraft | None:
    """Return the draft of a turning point, with the expected scores of the players.

    Return None if the expected scores are unknown, or changed too little.
    """
    before, after = scores[turn.ply - 1], scores[turn.ply]
    if before is None or after is None:
        return None
    color = side_of_ply(game, turn.ply)
    figures = {
        "before": 100 * score_of(color, before),
        "after": 100 * score_of(color, after),
    }
    if is_alike:
        shown_loss = figures["before"] - figures["after"]
        if shown_loss < 100 * SEEN and turn.lost < SWING:
            return None  # The loss was too small with both ratings taken into account.
        if round_percent(figures["before"]) <= round_percent(figures["after"]):
            return None  # The loss is not visible in rounded percent.
        figures |= _compute_cost_in_pawns(game, turn.ply)
    if turn.is_given_back:
        reply = scores[turn.ply + 1]
        figures["reply"] = 100 * score_of(color, after if reply is None else reply)
        weight = 0.3 + 0.8 * turn.lost
        return MomentDraft("missed", turn.ply + 1, color, weight, figures)
    if not _has_known_consequence(game, scores, turn.ply):
        figures["open"] = 1.0
    return MomentDraft("turn", turn.ply, color, 0.3 + turn.lost, figures)


def _has_known_consequence(game: GameDetail, scores: Scores, ply: int) -> bool:
    """Return whether the consequence of a move is known.

    The consequence is known if the reply has a score, or if the game ended with the
    move.
    """
    if ply < len(game.plies):
        return scores[ply + 1] is not None
    return game.result != "*"


def _compute_cost_in_pawns(game: GameDetail, ply: int) -> dict[str, float]:
    """Return the cost of a move, in pawns, as a dict with the key ``pawns``.

    The cost is the move's gain with the sign reversed or, until the gain is known, the
    difference of the scores. Return an empty dict if mate was involved, or if the cost
    is outside the limits for a sentence.
    """
    before = score_after(game, ply - 1)
    after = score_after(game, ply)
    is_mate = any(view.mate is not None for view in game.plies[max(0, ply - 2) : ply])
    if before is None or after is None or is_mate:
        return {}
    gain_cp = game.plies[ply - 1].gain_cp
    if gain_cp is None:
        sign = 1 if side_of_ply(game, ply) == "white" else -1
        gain_cp = sign * (after - before)
    least_cp, most_cp = _SAID_CP
    return {"pawns": -gain_cp / 100} if least_cp <= -gain_cp <= most_cp else {}
