"""What of one game is worth telling. Pure: a game in, drafts of moments out.

Only what holds is told: final scores, and ratings that rest on all moves up to then.
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
    other,
    score_of,
    scores_alike,
)
from live.watch.moment_draft import MomentDraft
from live.watch.turning_points import (
    FROM_MOVE,
    find_costliest_ply,
    find_costly_plies,
    find_turning_points,
)

#: Expected score that nobody expects to come back from, and the same of players rated
#: alike: who is rated far lower is expected to score little from the first move on.
LOST = 0.12
LOST_ALIKE = 0.30
#: The same of who wins in the end: that is a longer way.
LOST_WON = 0.20
#: Elo between two players, from which a win of the weaker is an upset.
UPSET_ELO = 100
#: Elo between two players, expected score of the weaker, and for how many plies, from
#: which an upset is coming.
COMING_ELO = 150
UPSET_SCORE = 0.75
UPSET_PLIES = 4
#: The first ply that is looked at for it.
UPSET_FROM = 30
#: Better than so many games in 100 of players rated alike, over so many counted moves.
ABOVE = 95.0
ABOVE_MOVES = 20
#: A find that more players would play is none that is told of, nor is one of the first
#: moves.
FIND_SHARE = 0.10
#: A trap that fewer would fall into neither.
TRAP_CHANCE = 0.20
#: Expected scores between which a game is open, and the chance of a draw from which it
#: is not.
OPEN = (0.15, 0.85)
DRAWN = 0.70
#: Clock at the start, and the clock from which it is a scramble, both in seconds.
SCRAMBLES = ((3000.0, 60.0), (600.0, 20.0), (0.0, 10.0))
#: The first ply of a scramble: clocks of before are those of late players.
SCRAMBLE_FROM = 20


def find_moments(game: GameDetail) -> list[MomentDraft]:
    """Find all of one game, in the order of their plies."""
    scores = expected_scores(game)
    alike = scores_alike(game)
    turns = find_turning_points(game)
    found = [
        *turns,
        *_find_marked(game, scores),
        *_find_scramble(game, scores),
        *_find_coming_upset(game, scores),
        *_find_upset(game, turns),
        *_find_comebacks(game, scores, alike),
        *_find_above(game),
        *find_despite(game),
    ]
    return sorted(found, key=lambda draft: draft.ply)


def is_whole(game: GameDetail) -> bool:
    """Whether it is over, and every figure of it rests on all moves."""
    if game.result == "*" or not all(ply.final for ply in game.plies):
        return False
    for ply in game.plies[-2:]:
        point = last_point(game, side_of_ply(game, ply.ply))
        if point is None or point.ply != ply.ply:
            return False
    return True


def last_point(game: GameDetail, color: Color) -> CurvePoint | None:
    """Return how strong a player has played so far."""
    points: Sequence[CurvePoint] = getattr(game.curves, color)
    return points[-1] if points else None


def find_winner(game: GameDetail) -> Color | None:
    """Return who won; None where nobody did, or not yet."""
    winners: dict[str, Color] = {"1-0": "white", "0-1": "black"}
    return winners.get(game.result)


def _is_open(score: float) -> bool:
    least, most = OPEN
    return least <= score <= most


def _find_marked(game: GameDetail, scores: Scores) -> Iterator[MomentDraft]:
    """Find what few would find, and traps that many would fall into."""
    for ply in game.plies:
        score = scores[ply.ply]
        if score is None or not _is_open(score):
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
    """Find the first time that a player of an open game has hardly any time left."""
    early = [
        ply.clock_s for ply in game.plies[:SCRAMBLE_FROM] if ply.clock_s is not None
    ]
    begun_s = max(early, default=0.0)
    if begun_s == 0.0:
        return  # Nobody set these clocks.
    limit_s = next(limit_s for least_s, limit_s in SCRAMBLES if begun_s >= least_s)
    for ply in game.plies[SCRAMBLE_FROM - 1 :]:
        before, after = scores[ply.ply - 1], scores[ply.ply]
        if ply.clock_s is None or before is None or after is None:
            continue
        # At 0 it is the arbiter's: the flag has fallen, or somebody is setting the
        # clock.
        if not 0 < ply.clock_s <= limit_s or (ply.draw or 0.0) >= DRAWN:
            continue
        # Before and after: a slip that is mended at once opens nothing.
        if _is_open(before) and _is_open(after):
            color = side_of_ply(game, ply.ply)
            yield MomentDraft("scramble", ply.ply, color, 0.45, {"clock": ply.clock_s})
            return


def _find_weaker(game: GameDetail) -> tuple[Color, float] | None:
    """Return who is rated lower, and by how much; None where that is not known."""
    white, black = game.white.elo, game.black.elo
    if not white or not black:
        return None
    return "white" if white < black else "black", float(abs(white - black))


def _find_coming_upset(game: GameDetail, scores: Scores) -> Iterator[MomentDraft]:
    """Find from where on the weaker player is about to win."""
    rated = _find_weaker(game)
    if rated is None or rated[1] < COMING_ELO:
        return
    weaker, gap = rated
    held = 0
    # By the last move it is in the making no longer.
    for ply, score in enumerate(scores[: len(game.plies)]):
        if score is None or ply < UPSET_FROM or score_of(weaker, score) < UPSET_SCORE:
            held = 0
            continue
        held += 1
        if held == UPSET_PLIES:
            figures = {"score": 100 * score_of(weaker, score), "gap": gap}
            yield MomentDraft("upset-coming", ply, weaker, 0.6, figures)
            return


def _find_upset(
    game: GameDetail, turns: Sequence[MomentDraft]
) -> Iterator[MomentDraft]:
    """Say that the weaker player won, and by what, if no turning point tells it."""
    rated = _find_weaker(game)
    if rated is None or rated[1] < UPSET_ELO:
        return
    weaker, gap = rated
    if len(game.plies) < LEAST_PLIES or find_winner(game) != weaker:
        return
    figures = {"gap": gap}
    loser = other(weaker)
    if not any(each.kind == "turn" and each.color == loser for each in turns):
        costliest = find_costliest_ply(game, loser)
        if costliest is not None:
            figures["costliest"] = float(costliest)
    weight = 0.5 + min(400.0, gap) / 800
    yield MomentDraft("upset", len(game.plies), weaker, weight, figures)


def _find_comebacks(
    game: GameDetail, scores: Scores, alike: Scores
) -> Iterator[MomentDraft]:
    """Find who was as good as lost, and did not lose."""
    winner = find_winner(game)
    if winner is None and game.result != "1/2-1/2":
        return
    for color in COLORS:
        if winner == other(color):
            continue
        lowest = _find_lowest(color, scores, alike)
        has_won = winner == color
        if lowest <= (LOST_WON if has_won else LOST):
            weight = 0.95 if has_won else 0.8
            figures = {"lowest": 100 * lowest}
            yield MomentDraft("comeback", len(game.plies), color, weight, figures)


def _find_lowest(color: Color, scores: Scores, alike: Scores) -> float:
    """Return the least that a player was expected to score twice in a row: a move that
    was answered badly at once is told as missed. 1 where it never was little between
    players rated alike.
    """
    lowest = 1.0
    both = zip(pairwise(scores), pairwise(alike), strict=True)
    for (one, two), (one_alike, two_alike) in both:
        if one is None or two is None or one_alike is None or two_alike is None:
            continue
        if max(score_of(color, one_alike), score_of(color, two_alike)) <= LOST_ALIKE:
            lowest = min(lowest, max(score_of(color, one), score_of(color, two)))
    return lowest


def _find_above(game: GameDetail) -> Iterator[MomentDraft]:
    """Find who has played better than nearly everybody rated alike; at the end alone,
    so that no move takes it back.
    """
    if not is_whole(game):
        return
    for color in COLORS:
        elo, point = getattr(game, color).elo, last_point(game, color)
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


def find_despite(game: GameDetail) -> Iterator[MomentDraft]:
    """Say why the winner's figure is below the loser's: by the loser's last costly
    move.
    """
    winner = find_winner(game)
    if winner is None or not is_whole(game):
        return
    loser = other(winner)
    own, rival = last_point(game, winner), last_point(game, loser)
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
    costly = find_costly_plies(game, scores_alike(game), loser)
    if costly:
        figures["mistake"] = float(costly[-1])
    yield MomentDraft("despite", len(game.plies), winner, 0.5, figures)
