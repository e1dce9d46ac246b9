"""Find the moments of one game. Pure: the input is a game, the output drafts of
moments.

A moment rests only on final scores, and on perceived ratings that include all moves up
to that point.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from live.catalogue import EARLY_MOVES
from live.event.rate_game import COLORS
from live.games.game import LEAST_PLIES, number_move, side_of_ply
from live.messages.figures import CurvePoint, GameDetail
from live.messages.values import Color
from live.watch.expected_scores import (
    Scores,
    expected_scores,
    list_equal_rating_scores,
    score_of,
)
from live.watch.moment_draft import MomentDraft
from live.watch.sides import find_opponent_color, find_winner
from live.watch.turning_points import (
    FROM_MOVE,
    find_costliest_ply,
    find_costly_plies,
    find_turning_points,
)

#: Highest expected scores of a player who is nearly lost: with the ratings of both
#: players (``LOST``), and computed as if the ratings were equal (``LOST_ALIKE``). The
#: second limit is needed because a much weaker player has a low expected score from the
#: first move on.
LOST = 0.12
LOST_ALIKE = 0.30
#: Limit in place of ``LOST`` if the nearly lost player won. It is higher, since a win
#: is a greater comeback than a draw.
LOST_WON = 0.20
#: Rating difference, Elo, from which a win by the weaker player is an upset.
UPSET_ELO = 100
#: Conditions of a moment about a coming upset: minimum rating difference (Elo), minimum
#: expected score of the weaker player, and minimum number of plies in a row with such a
#: score.
COMING_ELO = 150
UPSET_SCORE = 0.75
UPSET_PLIES = 4
#: First ply at which an upset can be predicted.
UPSET_FROM = 30
#: Conditions of a moment about a performance above the rating: minimum percentile among
#: players of equal rating, and minimum number of counted moves.
ABOVE = 95.0
ABOVE_MOVES = 20
#: Maximum share of players who would play a move that is called a rare find.
FIND_SHARE = 0.10
#: Minimum chance of an error in a position that is called a trap.
TRAP_CHANCE = 0.20
#: A game is undecided while White's expected score is between these two values, unless
#: the chance of a draw is at least ``DRAWN``.
OPEN = (0.15, 0.85)
DRAWN = 0.70
#: Limits of a time scramble, as pairs in seconds: the minimum time on the clock early
#: in a game, and the remaining time at which a scramble begins in such a game.
SCRAMBLES = ((3000.0, 60.0), (600.0, 20.0), (0.0, 10.0))
#: First ply of a possible time scramble. A low clock before it belongs to a player who
#: arrived late.
SCRAMBLE_FROM = 20


def find_moments(game: GameDetail) -> list[MomentDraft]:
    """Return drafts of all moments of one game, in the order of their plies."""
    scores = expected_scores(game)
    alike = list_equal_rating_scores(game)
    turns = find_turning_points(game)
    drafts = [
        *turns,
        *_find_finds_and_traps(game, scores),
        *_find_scramble(game, scores),
        *_find_coming_upset(game, scores),
        *_find_upset(game, turns),
        *_find_comebacks(game, scores, alike),
        *_find_above(game),
        *find_win_despite_lower_rating(game),
    ]
    return sorted(drafts, key=lambda draft: draft.ply)


def is_finished_and_scored(game: GameDetail) -> bool:
    """Return whether a game has ended and all its figures include all moves."""
    if game.result == "*" or not all(ply.final for ply in game.plies):
        return False
    for ply in game.plies[-2:]:
        point = find_last_point(game, side_of_ply(game, ply.ply))
        if point is None or point.ply != ply.ply:
            return False
    return True


def find_last_point(game: GameDetail, color: Color) -> CurvePoint | None:
    """Return the last point of a player's rating curve; None if it has no points."""
    points: Sequence[CurvePoint] = getattr(game.curves, color)
    return points[-1] if points else None


def _is_undecided(score: float) -> bool:
    lowest, highest = OPEN
    return lowest <= score <= highest


def _find_finds_and_traps(game: GameDetail, scores: Scores) -> Iterator[MomentDraft]:
    """Find moves that few players would find, and traps that many would fall into."""
    for ply in game.plies:
        score = scores[ply.ply]
        if score is None or not _is_undecided(score):
            continue
        if number_move(game, ply.ply)[0] < FROM_MOVE:
            continue
        color = side_of_ply(game, ply.ply)
        share = ply.played_share
        if ply.mark == "find" and share is not None and ply.played_elo:
            if share <= FIND_SHARE:
                figures = {"share": 100 * share, "elo": float(ply.played_elo)}
                yield MomentDraft("find", ply.ply, color, 0.7 - 3 * share, figures)
        elif ply.mark == "trap" and ply.difficulty is not None:
            chance, elo = ply.difficulty.error_chance, ply.difficulty.elo
            if chance is not None and elo and chance >= TRAP_CHANCE:
                figures = {"chance": 100 * chance, "elo": float(elo)}
                yield MomentDraft("trap", ply.ply, color, 0.2 + chance / 2, figures)


def _find_scramble(game: GameDetail, scores: Scores) -> Iterator[MomentDraft]:
    """Find the first move of an undecided game made with very little time left."""
    early = [
        ply.clock_s for ply in game.plies[:SCRAMBLE_FROM] if ply.clock_s is not None
    ]
    begun_s = max(early, default=0.0)
    if begun_s == 0.0:
        return  # The clocks are missing or were never set.
    limit_s = next(limit_s for least_s, limit_s in SCRAMBLES if begun_s >= least_s)
    for ply in game.plies[SCRAMBLE_FROM - 1 :]:
        before, after = scores[ply.ply - 1], scores[ply.ply]
        if ply.clock_s is None or before is None or after is None:
            continue
        # A clock at 0 is left to the arbiter: the flag has fallen, or the clock is
        # being set.
        if not 0 < ply.clock_s <= limit_s or (ply.draw or 0.0) >= DRAWN:
            continue
        # The game must also be undecided before the move. Otherwise a blunder could
        # make a decided game count as undecided.
        if _is_undecided(before) and _is_undecided(after):
            color = side_of_ply(game, ply.ply)
            yield MomentDraft("scramble", ply.ply, color, 0.45, {"clock": ply.clock_s})
            return


def _find_weaker(game: GameDetail) -> tuple[Color, float] | None:
    """Return the lower-rated side and the rating difference; None without ratings."""
    white, black = game.white.elo, game.black.elo
    if not white or not black:
        return None
    return "white" if white < black else "black", float(abs(white - black))


def _find_coming_upset(game: GameDetail, scores: Scores) -> Iterator[MomentDraft]:
    """Find the ply from which the weaker player is likely to win.

    Once the game is over nothing is coming any more; a win is reported as an upset.
    """
    if game.result != "*":
        return
    rated = _find_weaker(game)
    if rated is None or rated[1] < COMING_ELO:
        return
    weaker, gap = rated
    plies_in_a_row = 0
    # A ply counts only after another move has followed it.
    for ply, score in enumerate(scores[: len(game.plies)]):
        if score is None or ply < UPSET_FROM or score_of(weaker, score) < UPSET_SCORE:
            plies_in_a_row = 0
            continue
        plies_in_a_row += 1
        if plies_in_a_row == UPSET_PLIES:
            figures = {"score": 100 * score_of(weaker, score), "gap": gap}
            yield MomentDraft("upset-coming", ply, weaker, 0.6, figures)
            return


def _find_upset(
    game: GameDetail, turns: Sequence[MomentDraft]
) -> Iterator[MomentDraft]:
    """Yield a moment about a win by the lower-rated player.

    The moment names the loser's costliest move, unless a turning point already reports
    it.
    """
    rated = _find_weaker(game)
    if rated is None or rated[1] < UPSET_ELO:
        return
    weaker, gap = rated
    if len(game.plies) < LEAST_PLIES or find_winner(game.result) != weaker:
        return
    figures = {"gap": gap}
    loser = find_opponent_color(weaker)
    if not any(turn.kind == "turn" and turn.color == loser for turn in turns):
        costliest = find_costliest_ply(game, loser)
        if costliest is not None:
            figures["costliest"] = float(costliest)
    weight = 0.5 + min(400.0, gap) / 800
    yield MomentDraft("upset", len(game.plies), weaker, weight, figures)


def _find_comebacks(
    game: GameDetail, scores: Scores, alike: Scores
) -> Iterator[MomentDraft]:
    """Find players who were nearly lost but drew or won."""
    winner = find_winner(game.result)
    if winner is None and game.result != "1/2-1/2":
        return
    for color in COLORS:
        if winner == find_opponent_color(color):
            continue
        lowest = _find_lowest(color, scores, alike)
        has_won = winner == color
        if lowest <= (LOST_WON if has_won else LOST):
            weight = 0.95 if has_won else 0.8
            figures = {"lowest": 100 * lowest}
            yield MomentDraft("comeback", len(game.plies), color, weight, figures)


def _find_lowest(color: Color, scores: Scores, alike: Scores) -> float:
    """Return the lowest expected score that a player had for two plies in a row.

    A single low value does not count, since it is reported as the opponent's missed
    chance. Only plies with a score of at most :data:`LOST_ALIKE` between equal ratings
    count; return 1.0 if there are none.
    """
    lowest = 1.0
    both = zip(pairwise(scores), pairwise(alike), strict=True)
    for (first, second), (first_alike, second_alike) in both:
        if (
            first is None
            or second is None
            or first_alike is None
            or second_alike is None
        ):
            continue
        if (
            max(score_of(color, first_alike), score_of(color, second_alike))
            <= LOST_ALIKE
        ):
            lowest = min(lowest, max(score_of(color, first), score_of(color, second)))
    return lowest


def _find_above(game: GameDetail) -> Iterator[MomentDraft]:
    """Find players who played better than nearly all players of equal rating.

    Such a moment is reported only after the game, since later moves would change it.
    """
    if not is_finished_and_scored(game):
        return
    for color in COLORS:
        elo, point = getattr(game, color).elo, find_last_point(game, color)
        if not elo or point is None or not point.perceived or point.percentile is None:
            continue
        if point.percentile < ABOVE or point.counted < ABOVE_MOVES:
            continue
        figures = {
            "perceived": float(point.perceived),
            "percentile": point.percentile,
            "elo": float(elo),
            "moves": float(point.counted),
        }
        weight = 0.5 + (point.percentile - ABOVE) / 20
        yield MomentDraft("above", point.ply, color, weight, figures)


def find_win_despite_lower_rating(game: GameDetail) -> Iterator[MomentDraft]:
    """Yield a moment about a winner whose perceived rating is lower than the loser's.

    The moment names the loser's last costly move as the reason.
    """
    winner = find_winner(game.result)
    if winner is None or not is_finished_and_scored(game):
        return
    loser = find_opponent_color(winner)
    own, rival = find_last_point(game, winner), find_last_point(game, loser)
    if own is None or rival is None or min(own.counted, rival.counted) < EARLY_MOVES:
        return
    if own.perceived is None or rival.perceived is None:
        return
    if own.perceived >= rival.perceived:
        return
    figures = {
        "perceived": float(own.perceived),
        "rival_perceived": float(rival.perceived),
    }
    costly = find_costly_plies(game, list_equal_rating_scores(game), loser)
    if costly:
        figures["mistake"] = float(costly[-1])
    yield MomentDraft("despite", len(game.plies), winner, 0.5, figures)
