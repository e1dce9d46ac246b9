"""Which moves turned a game. Pure.

A move's loss is read off the scores before and after it, and every other search that
saw one of the two positions has to bear it out: neighbouring searches of one position
differ.
"""

import statistics
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from live.games.game import number_move, side_of_ply
from live.messages.figures import GameDetail, PlyView
from live.messages.values import Color
from live.watch.expected_scores import (
    Scores,
    expected_scores,
    score_after,
    score_alike,
    score_of,
    scores_alike,
    without_repetitions,
)
from live.watch.moment_draft import MomentDraft

#: Of the opponent's last move so much counts as had, which any two searches differ by:
#: a gift that is given back at once turns nothing, it was missed.
GIFT = 0.05
#: What one move loses so that it is told of however early it was played.
SWING = 0.40
#: Before this move nothing turns a game while it goes on: most of that is known theory,
#: which an engine may see otherwise.
FROM_MOVE = 11
#: Expected score that a move has to cost these two players, to be told for what it
#: would have cost players rated alike.
SEEN = 0.10
#: Part of a loss that the reply gives back, so that it was missed.
GIVEN_BACK = 0.6
#: Expected score that a move cost at least, to be named.
COSTLY = 0.10
#: Centipawns that a move is said to have cost: less bears out no slip, more is mate.
_SAID_CP = 50, 1000


class TurnLimits(NamedTuple):
    """Of a move that turns a game, in expected score."""

    lost: float
    """At least."""
    had: float
    """At least, before it."""


#: By the expected scores of these two players, and of players rated alike: who is rated
#: 400 lower has no 20 points to lose, and loses a piece all the same.
TURN = TurnLimits(0.20, 0.25)
TURN_ALIKE = TurnLimits(0.25, 0.35)


def find_turning_points(game: GameDetail) -> list[MomentDraft]:
    """Find the moves that turned a game, and those that would have (``missed``)."""
    game = without_repetitions(game)
    scores = expected_scores(game)
    alike = scores_alike(game)
    return list(_find_turns(game, scores, alike))


def find_costly_plies(game: GameDetail, scores: Scores, loser: Color) -> list[int]:
    """Find the plies by which a player lost ten points of expected score or more."""
    return [
        ply
        for ply, (before, after) in enumerate(pairwise(scores), 1)
        if before is not None and after is not None and side_of_ply(game, ply) == loser
        if score_of(loser, before) - score_of(loser, after) >= COSTLY
        if not lost_nothing(game.plies[ply - 1])
    ]


def find_costliest_ply(game: GameDetail, loser: Color) -> int | None:
    """Find the ply by which a loser lost most, as it stood after the reply; None where
    it is not known, or where it was little.
    """
    game = without_repetitions(game)
    scores = expected_scores(game)
    if None in scores[1:]:
        return None
    replied = [*scores[2:], scores[-1]]
    costs = {
        ply: score_of(loser, before) - score_of(loser, after)
        for ply, (before, after) in enumerate(zip(scores, replied, strict=False), 1)
        if before is not None and after is not None and side_of_ply(game, ply) == loser
        if not lost_nothing(game.plies[ply - 1])
    }
    costliest = max(costs, key=costs.__getitem__, default=None)
    if costliest is None or costs[costliest] < COSTLY:
        return None
    return costliest


def lost_nothing(ply: PlyView) -> bool:
    """Whether no move was better, whatever the scores before and after it say: two
    searches of neighbouring positions may contradict each other.
    """
    gain_cp = ply.gain_same_search_cp
    return ply.best == ply.uci or (gain_cp is not None and gain_cp >= 0)


# --- what all searches say ------------------------------------------------------------


def _weigh_loss(game: GameDetail, ply: int) -> float:
    """Return what the searches that saw a move say it lost on average, as a part of
    what the scores before and after it say; 0 to 1.
    """
    before = [score_alike(cp) for cp in _list_scores_cp(game, ply - 1)]
    after = [score_alike(cp) for cp in _list_scores_cp(game, ply)]
    if not before or not after or before[0] == after[0]:
        return 1.0
    average = statistics.fmean(before) - statistics.fmean(after)
    return max(0.0, min(1.0, average / (before[0] - after[0])))


def _list_scores_cp(game: GameDetail, ply: int) -> list[int]:
    """List what was found of the position after a ply, centipawns, White's side: by its
    own search, then by the search before it, of the move that was played.
    """
    own = score_after(game, ply)
    if ply == 0:
        parent = None
    elif game.plies[ply - 1].best == game.plies[ply - 1].uci:
        parent = score_after(game, ply - 1)
    else:
        parent = game.plies[ply - 1].played_cp
    return [score_cp for score_cp in (own, parent) if score_cp is not None]


# --- moves that turned it -------------------------------------------------------------


class _Turn(NamedTuple):
    ply: int
    lost: float
    """Expected score."""
    is_given_back: bool
    """The reply missed it."""


def _find_turns(
    game: GameDetail, scores: Scores, alike: Scores
) -> Iterator[MomentDraft]:
    """Find the moves that turn the game, and those that would have if the reply had
    been better.
    """
    named: set[int] = set()
    for measure, limits in ((scores, TURN), (alike, TURN_ALIKE)):
        for turn in _find_falls(game, measure, limits):
            plies = {turn.ply, turn.ply + turn.is_given_back}
            # The first measure knows these players; a slip that it has named is named.
            if plies & named:
                continue
            draft = _draft_turn(game, scores, turn, is_alike=measure is alike)
            if draft is not None:
                named |= plies
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
        had = score_of(color, before)
        has = score_of(color, after)
        lost = had - has
        if number_move(game, ply)[0] < FROM_MOVE and lost < SWING:
            continue
        earlier = scores[ply - 2] if ply > 2 else before
        if earlier is None or had < limits.had or lost_nothing(game.plies[ply - 1]):
            continue
        own = min(had, score_of(color, earlier) + GIFT)
        if (own - has) * _weigh_loss(game, ply) < limits.lost:
            continue
        # Told at once; the reply confirms or completes it.
        reply = scores[ply + 1] if ply < last else None
        given_back = 0.0 if reply is None else score_of(color, reply) - has
        is_given_back = given_back >= GIVEN_BACK * lost
        if is_given_back and lost_nothing(game.plies[ply]):
            continue
        if is_given_back:
            missed = ply + 1
        yield _Turn(ply, lost, is_given_back)


def _draft_turn(
    game: GameDetail, scores: Scores, turn: _Turn, *, is_alike: bool
) -> MomentDraft | None:
    """Draft it by the expected scores of these two players; None where they say nothing
    of it.
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
        seen = figures["before"] - figures["after"]
        if seen < 100 * SEEN and turn.lost < SWING:
            return None  # It went as everybody expected.
        if round(figures["before"]) <= round(figures["after"]):
            return None  # Between these two it changed nothing.
        figures |= _price(game, turn.ply)
    if turn.is_given_back:
        reply = scores[turn.ply + 1]
        figures["reply"] = 100 * score_of(color, after if reply is None else reply)
        weight = 0.3 + 0.8 * turn.lost
        return MomentDraft("missed", turn.ply + 1, color, weight, figures)
    if not _is_answered(game, scores, turn.ply):
        figures["open"] = 1.0
    return MomentDraft("turn", turn.ply, color, 0.3 + turn.lost, figures)


def _is_answered(game: GameDetail, scores: Scores, ply: int) -> bool:
    """Whether it is known what a move led to: by the reply's score, or the game ended
    there.
    """
    if ply < len(game.plies):
        return scores[ply + 1] is not None
    return game.result != "*"


def _price(game: GameDetail, ply: int) -> dict[str, float]:
    """Return what a move cost in pawns: its gain, as everywhere, before it is known by
    the scores; nothing where it was mate, or where the gain does not bear out what the
    scores say.
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
