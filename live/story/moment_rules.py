"""What of one game is worth telling. Pure: a game in, drafts of moments out.

Only what holds is told: final scores, and ratings that rest on all moves up to then. Expected
scores are White's chance to win plus half that of a draw, by score, ratings and point of the game;
where no model of results fits, by the score alone.
"""

import contextlib
import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import chess
from msgspec.structs import replace

from live.catalogue import EARLY_MOVES
from live.events import Color, GameDetail, MomentKind, PlyView
from live.games.game import move_number, mover
from live.ledger.rate_game import COLORS

#: Expected score that one move loses, so that it turns a game, and what its mover had at least.
TURN = 0.20
TURN_FROM = 0.25
#: What one move loses so that it is told of however early it was played.
SWING = 0.40
#: Of what the opponent's last move gave, so much counts as had, which any two searches differ by: a
#: gift that is given back at once turns nothing, it was missed.
GIFT = 0.05
#: The same between players rated alike, by the score alone: who is rated 400 lower has no 20 points
#: to lose, and loses a piece all the same.
BLUNDER = 0.25
BLUNDER_FROM = 0.35
#: Part of it that the reply gives back, so that it was missed.
GIVEN_BACK = 0.6
#: Centipawns that a slip has to cost, and the expected score it may recover by, to have decided.
DECIDED_CP = 100
#: Centipawns that a move is said to have cost: less bears out no slip, more is mate.
_SAID_CP = 50, 1000
#: What is known of a ply by the position after it.
_SCORED = ("score_cp", "mate", "final", "win", "draw")
RECOVERED = 0.05
#: Expected score that nobody expects to come back from, and the same of players rated alike: who is
#: rated far lower is expected to score little from the first move on.
LOST = 0.12
LOST_ALIKE = 0.30
#: The same of who wins in the end: that is a longer way.
LOST_WON = 0.20
#: Elo between two players, from which a win of the weaker is an upset.
UPSET_ELO = 100
#: Elo between two players, expected score of the weaker, and for how many plies, from which an
#: upset is coming.
COMING_ELO = 150
UPSET_SCORE = 0.75
UPSET_PLIES = 4
#: The first ply that is looked at for it.
UPSET_FROM = 30
#: Expected score that a move cost at least, to be named.
COSTLY = 0.10
#: Better than so many games in 100 of players rated alike, over so many counted moves.
ABOVE = 95.0
ABOVE_MOVES = 20
#: A find that more players would play is none that is told of.
FIND_SHARE = 0.10
#: Nor is one before this move, nor a trap, nor does one turn a game while it goes on: most of that
#: is known theory, which nobody has to find, and which an engine may see otherwise.
FROM_MOVE = 11
#: A trap that fewer would fall into neither.
TRAP_CHANCE = 0.20
#: Expected scores between which a game is open, and the chance of a draw from which it is not.
OPEN = (0.15, 0.85)
DRAWN = 0.70
#: Clock at the start, and the clock from which it is a scramble, both in seconds.
SCRAMBLES = ((3000.0, 60.0), (600.0, 20.0), (0.0, 10.0))
#: The first ply of a scramble: clocks of before are those of late players.
SCRAMBLE_FROM = 20

#: The logistic curve that lichess publishes as win percentage (lichess.org/page/accuracy).
_LOGISTIC = 0.00368208


_Scores = Sequence[float | None]
"""Expected scores after each ply, the start first; None while one does not hold."""


#: At most one of this kind and colour in a game.
ONCE = (
    *("scramble", "upset-coming", "upset", "comeback", "above", "despite"),
    *("highest", "lowest"),
)


class MomentDraft(NamedTuple):
    """A moment before it is worded."""

    kind: MomentKind
    ply: int
    color: Color | None
    weight: float
    figures: Mapping[str, float]


class SlipLimits(NamedTuple):
    """Of the slip that decided a lost game, in expected score."""

    had: float
    """At least, before it."""
    lost: float
    """At least."""
    left: float
    """At most."""
    part: float
    """Of what was had, left at most."""


#: By the expected scores of these two players, and of players rated alike.
DECIDED = SlipLimits(0.15, 0.10, 0.20, 0.60)
DECIDED_ALIKE = SlipLimits(0.35, 0.12, 0.36, 0.75)


def other(color: Color) -> Color:
    """The other side."""
    return "black" if color == "white" else "white"


def expected_scores(game: GameDetail) -> list[float | None]:
    """White's expected score after each ply, the start first; None while it does not hold."""
    # Ratings do not enter into the start's: beside figures that know them it would be a fall.
    comparable = all(ply.win is None for ply in game.plies)
    start = _by_score(game.start_score_cp) if comparable else None
    return [start, *map(_expected, game.plies)]


def scores_alike(game: GameDetail) -> list[float | None]:
    """The same of players rated alike: by the score alone."""
    known = (ply.score_cp if ply.final else None for ply in game.plies)
    return [_by_score(score) for score in (game.start_score_cp, *known)]


def _by_score(score_cp: int | None) -> float | None:
    if score_cp is None:
        return None
    return 1 / (1 + math.exp(-_LOGISTIC * max(-4000, min(4000, score_cp))))


def _expected(ply: PlyView) -> float | None:
    if not ply.final or ply.score_cp is None:
        return None
    if ply.win is not None and ply.draw is not None:
        return ply.win + ply.draw / 2
    return _by_score(ply.score_cp)


def moments(game: GameDetail) -> list[MomentDraft]:
    """All of one game, in the order of their plies."""
    scores, alike = expected_scores(game), scores_alike(game)
    calm = _without_repetitions(game)
    slips = _slips_of(calm)
    found = [
        *slips,
        *_marked(game, scores),
        *_scramble(game, scores),
        *_upset(game, scores, slips, calm),
        *_comebacks(game, scores, alike),
        *_above(game),
        *_won_despite(game, alike),
    ]
    return sorted(found, key=lambda draft: draft.ply)


def turning_points(game: GameDetail) -> list[MomentDraft]:
    """Return the moves that turned or decided a game, and those that would have (``missed``)."""
    return _slips_of(_without_repetitions(game))


def _slips_of(game: GameDetail) -> list[MomentDraft]:
    scores, alike = expected_scores(game), scores_alike(game)
    turns = list(_turns(game, scores, alike))
    return [*turns, *_decided(game, scores, alike, turns)]


def _without_repetitions(game: GameDetail) -> GameDetail:
    """The game, each position that is there for the third time scored as the time before: an engine
    calls it a draw, though the game goes on. The last position keeps its own score.
    """
    cp = [game.start_score_cp or 0, *(ply.score_cp or 0 for ply in game.plies)]
    # Only what looks like one, since it replays the game: a draw right beside an advantage.
    around = zip(cp, cp[1:], cp[2:], strict=False)
    if not any(cp == 0 and max(abs(one), abs(other)) >= DECIDED_CP for one, cp, other in around):
        return game
    plies = list(game.plies)
    moves = tuple(ply.uci for ply in game.plies[:-1])
    start, *positions = _positions(game.start_fen, game.variant == "chess960", moves)
    times = defaultdict[str, list[PlyView | None]](list, {start: [None]})
    for at, position in enumerate(positions):
        ply, same = game.plies[at], times[position]
        if ply.score_cp == 0 and len(same) >= 2 and (before := same[-1]) is not None:
            plies[at] = replace(ply, **{name: getattr(before, name) for name in _SCORED})
        same.append(plies[at])
    return replace(game, plies=tuple(plies))


@lru_cache(maxsize=64)
def _positions(start_fen: str, chess960: bool, moves: tuple[str, ...]) -> tuple[str, ...]:
    """Find the positions of a game, the start first, as far as it can be replayed.

    Kept, since a game is looked at again with every score of it.
    """
    found = [start_fen]
    with contextlib.suppress(ValueError):
        board = chess.Board(start_fen, chess960=chess960)
        found = [board.epd()]
        for move in moves:
            board.push_uci(move)
            found.append(board.epd())
    return tuple(found)


def _of(color: Color, score: float) -> float:
    return score if color == "white" else 1 - score


def _turns(game: GameDetail, scores: _Scores, alike: _Scores) -> Iterator[MomentDraft]:
    """Moves that turn the game, and those that would have if the reply had been better."""
    named: set[int] = set()
    for measure, least, had in ((scores, TURN, TURN_FROM), (alike, BLUNDER, BLUNDER_FROM)):
        for ply, missed, lost in _turned(game, measure, least, had):
            before, after = scores[ply - 1], scores[ply]
            # The first measure knows these players; a slip that it has named is named.
            if before is None or after is None or {ply, ply + missed} & named:
                continue
            color = mover(game, ply)
            figures = {"before": 100 * _of(color, before), "after": 100 * _of(color, after)}
            if measure is alike:
                if round(figures["before"]) <= round(figures["after"]):
                    continue  # Between these two it changed nothing.
                figures |= _pawns(game, ply)
            named |= {ply, ply + missed}
            if missed:
                reply = scores[ply + 1] if ply < len(game.plies) else after
                figures["reply"] = 100 * _of(color, after if reply is None else reply)
                yield MomentDraft("missed", ply + 1, color, 0.3 + 0.8 * lost, figures)
            else:
                if not _is_answered(game, scores, ply):
                    figures["open"] = 1.0
                yield MomentDraft("turn", ply, color, 0.3 + lost, figures)


def _turned(
    game: GameDetail, scores: _Scores, least: float, start: float
) -> Iterator[tuple[int, bool, float]]:
    """The ply of each such move, whether the reply missed it, and the expected score it lost."""
    last, missed = len(game.plies), 0
    for ply in range(1, last + 1):
        before, after = scores[ply - 1], scores[ply]
        if before is None or after is None or ply == missed:
            continue
        color = mover(game, ply)
        had, has = _of(color, before), _of(color, after)
        if move_number(game, ply)[0] < FROM_MOVE and had - has < SWING:
            continue
        earlier = scores[ply - 2] if ply > 2 else before
        if earlier is None or had < start or _lost_nothing(game.plies[ply - 1]):
            continue
        if min(had, _of(color, earlier) + GIFT) - has < least:
            continue
        reply = scores[ply + 1] if ply < last else None
        if reply is None:
            reply = after  # Told at once; the reply confirms or completes it.
        lost = had - has
        given_back = _of(color, reply) - has >= GIVEN_BACK * lost
        if given_back and ply < last and _lost_nothing(game.plies[ply]):
            continue
        if given_back:
            missed = ply + 1
        yield ply, given_back, lost


def _is_answered(game: GameDetail, scores: _Scores, ply: int) -> bool:
    """Whether it is known what a move led to: by the reply's score, or the game ended there."""
    if ply < len(game.plies):
        return scores[ply + 1] is not None
    return game.result != "*"


def _lost_nothing(ply: PlyView) -> bool:
    """Whether no move was better, whatever the scores before and after it say: two searches of
    neighbouring positions may contradict each other.
    """
    return ply.best == ply.uci or (
        ply.gain_same_search_cp is not None and ply.gain_same_search_cp >= 0
    )


def _pawns(game: GameDetail, ply: int) -> dict[str, float]:
    """What a move cost: its gain, as everywhere, before it is known by the scores; nothing where
    it was mate, or where the gain does not bear out what the scores say.
    """
    shown = [game.start_score_cp, *(None if x.mate is not None else x.score_cp for x in game.plies)]
    before, after = shown[ply - 1 : ply + 1]
    if before is None or after is None:
        return {}
    gain_cp = game.plies[ply - 1].gain_cp
    if gain_cp is None:
        gain_cp = (after - before) * (1 if mover(game, ply) == "white" else -1)
    least_cp, most_cp = _SAID_CP
    return {"pawns": -gain_cp / 100} if least_cp <= -gain_cp <= most_cp else {}


def _decided(
    game: GameDetail, scores: _Scores, alike: _Scores, turns: Sequence[MomentDraft]
) -> Iterator[MomentDraft]:
    """The slip from which a loser never recovered, where no move of his lost enough to turn the
    game: who is expected to score little has little to lose.
    """
    winners: dict[str, Color] = {"1-0": "white", "0-1": "black"}
    if game.result not in winners:
        return
    loser = other(winners[game.result])
    if any(each.kind == "turn" and each.color == loser for each in turns):
        return
    let_go = {each.ply for each in turns}
    for measure, limits in ((scores, DECIDED), (alike, DECIDED_ALIKE)):
        slips = [x for x in _slips(game, measure, loser, limits) if x[0] not in let_go]
        if not slips:
            continue
        ply, lost = max(slips, key=lambda each: each[1])
        was = scores[ply - 1]
        left = [100 * _of(loser, score) for score in scores[ply:] if score is not None]
        # Between these two it may have changed nothing that is seen.
        if was is None or round(100 * _of(loser, was)) <= round(left[0]):
            continue
        figures = {"before": 100 * _of(loser, was), "after": left[0], "highest": max(left)}
        yield MomentDraft("turn", ply, loser, 0.3 + lost, figures | _pawns(game, ply))
        return


def _slips(
    game: GameDetail, scores: _Scores, loser: Color, limits: SlipLimits
) -> Iterator[tuple[int, float]]:
    """The ply of each slip from which nothing recovered, and what it lost."""
    cp = [game.start_score_cp, *(ply.score_cp for ply in game.plies)]
    sign = 1 if loser == "white" else -1
    highest = 0.0
    for ply in range(len(game.plies), 0, -1):
        before, after, was_cp, is_cp = scores[ply - 1], scores[ply], cp[ply - 1], cp[ply]
        if before is None or after is None or was_cp is None or is_cp is None:
            return  # How it stood from here on is not known.
        had, has = _of(loser, before), _of(loser, after)
        highest = max(highest, has)
        if highest > limits.left + RECOVERED:
            return
        if mover(game, ply) != loser or had < limits.had or had - has < limits.lost:
            continue
        if _lost_nothing(game.plies[ply - 1]):
            continue
        if has > min(limits.left, limits.part * had) or highest > has + RECOVERED:
            continue
        if sign * (was_cp - is_cp) >= DECIDED_CP:
            yield ply, had - has


def _marked(game: GameDetail, scores: _Scores) -> Iterator[MomentDraft]:
    """Finds that few would find, and traps that most would fall into."""
    for ply in game.plies:
        color, score = mover(game, ply.ply), scores[ply.ply]
        if score is None or not OPEN[0] <= score <= OPEN[1]:
            continue
        if move_number(game, ply.ply)[0] < FROM_MOVE:
            continue
        share, elo = ply.played_share, ply.played_elo
        if ply.mark == "find" and share is not None and elo and share <= FIND_SHARE:
            figures = {"share": 100 * share, "elo": float(elo)}
            yield MomentDraft("find", ply.ply, color, 0.7 - 3 * share, figures)
        elif ply.mark == "trap" and ply.difficulty is not None:
            chance, elo = ply.difficulty.error_chance, ply.difficulty.elo
            if chance is not None and elo and chance >= TRAP_CHANCE:
                figures = {"chance": 100 * chance, "elo": float(elo)}
                yield MomentDraft("trap", ply.ply, color, 0.2 + chance / 2, figures)


def _scramble(game: GameDetail, scores: _Scores) -> Iterator[MomentDraft]:
    """The first time that a player of an open game has hardly any time left."""
    clocks = [ply.clock_s for ply in game.plies[:SCRAMBLE_FROM] if ply.clock_s is not None]
    if not clocks:
        return
    begun = max(clocks)
    if begun == 0.0:
        return  # Nobody set these clocks.
    limit = next(limit for least, limit in SCRAMBLES if begun >= least)
    for ply in game.plies[SCRAMBLE_FROM - 1 :]:
        before, score = scores[ply.ply - 1], scores[ply.ply]
        if ply.clock_s is None or score is None or before is None:
            continue
        # At 0 it is the arbiter's: the flag has fallen, or somebody is setting the clock.
        if not 0 < ply.clock_s <= limit:
            continue
        if (ply.draw or 0.0) >= DRAWN:
            continue
        # Before and after: a slip that is mended at once opens nothing.
        if OPEN[0] <= min(before, score) and max(before, score) <= OPEN[1]:
            figures = {"clock": ply.clock_s}
            yield MomentDraft("scramble", ply.ply, mover(game, ply.ply), 0.45, figures)
            return


def _upset(
    game: GameDetail,
    scores: _Scores,
    slips: Sequence[MomentDraft],
    calm: GameDetail,
) -> Iterator[MomentDraft]:
    """The weaker player is about to win, and wins: by what of the game without repetitions, if it
    was none of its ``slips``.
    """
    white, black = game.white.elo, game.black.elo
    gap = float(abs(white - black)) if white and black else 0.0
    if not white or not black or gap < UPSET_ELO:
        return
    weaker: Color = "white" if white < black else "black"
    held = 0
    for ply, score in enumerate(scores if gap >= COMING_ELO else ()):
        good = score is not None and ply >= UPSET_FROM and _of(weaker, score) >= UPSET_SCORE
        held = held + 1 if good else 0
        # By the last move it is no more in the making.
        if held == UPSET_PLIES and score is not None and ply < len(game.plies):
            figures = {"score": 100 * _of(weaker, score), "gap": gap}
            yield MomentDraft("upset-coming", ply, weaker, 0.6, figures)
            break
    if game.plies and game.result == ("1-0" if weaker == "white" else "0-1"):
        weight, figures = 0.5 + min(400.0, gap) / 800, {"gap": gap}
        if not any(each.kind == "turn" and each.color != weaker for each in slips):
            figures |= _costliest(calm, expected_scores(calm), other(weaker))
        yield MomentDraft("upset", len(game.plies), weaker, weight, figures)


def _costliest(game: GameDetail, scores: _Scores, loser: Color) -> dict[str, float]:
    """The ply by which a loser lost most, as it stood after the reply; once all is known."""
    replied = [*scores[2:], scores[-1]]
    costs = {
        ply: _of(loser, before) - _of(loser, after)
        for ply, (before, after) in enumerate(zip(scores, replied, strict=False), 1)
        if before is not None and after is not None and mover(game, ply) == loser
        if not _lost_nothing(game.plies[ply - 1])
    }
    if not costs or None in scores[1:]:
        return {}
    ply = max(costs, key=costs.__getitem__)
    return {"costliest": float(ply)} if costs[ply] >= COSTLY else {}


def _comebacks(game: GameDetail, scores: _Scores, alike: _Scores) -> Iterator[MomentDraft]:
    """Who was as good as lost, and did not lose."""
    points = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}.get(game.result)
    if points is None:
        return
    both = list(zip(scores, alike, strict=True))
    for color in COLORS:
        if _of(color, points) == 0:
            continue
        # Twice in a row: a move that was answered badly at once is told as missed.
        lows = [
            max(_of(color, one), _of(color, two))
            for (one, one_alike), (two, two_alike) in itertools.pairwise(both)
            if one is not None and two is not None
            if one_alike is not None and two_alike is not None
            if max(_of(color, one_alike), _of(color, two_alike)) <= LOST_ALIKE
        ]
        has_won = _of(color, points) == 1
        if lows and min(lows) <= (LOST_WON if has_won else LOST):
            weight = 0.95 if has_won else 0.8
            figures = {"lowest": 100 * min(lows)}
            yield MomentDraft("comeback", len(game.plies), color, weight, figures)


def _above(game: GameDetail) -> Iterator[MomentDraft]:
    """Who has played better than nearly everybody rated alike; told at the end alone, so that no
    move takes it back.
    """
    for color in COLORS if is_whole(game) else ():
        elo, last = getattr(game, color).elo, getattr(game.curves, color)[-1:]
        for point in last:
            value = point.percentile or 0.0
            if value >= ABOVE and point.counted >= ABOVE_MOVES and elo and point.perceived:
                figures = {
                    "perceived": point.perceived,
                    "percentile": value,
                    "elo": float(elo),
                    "moves": float(point.counted),
                }
                weight = 0.5 + (value - ABOVE) / 20
                yield MomentDraft("above", point.ply, color, weight, figures)


def _won_despite(game: GameDetail, alike: _Scores) -> Iterator[MomentDraft]:
    """Say why the winner's figure is below the loser's: by the loser's last costly move."""
    if game.result not in ("1-0", "0-1") or not is_whole(game):
        return
    winner: Color = "white" if game.result == "1-0" else "black"
    loser = other(winner)
    own, rival = (getattr(game.curves, color)[-1:] for color in (winner, loser))
    if not own or not rival or min(own[0].counted, rival[0].counted) < EARLY_MOVES:
        return
    won_like, lost_like = own[0].perceived, rival[0].perceived
    if won_like is None or lost_like is None or won_like >= lost_like:
        return
    figures = {"perceived": float(won_like), "rival_perceived": float(lost_like)}
    costly = [ply for ply in _costly_plies(alike) if mover(game, ply) == loser]
    if costly:
        figures["mistake"] = float(costly[-1])
    yield MomentDraft("despite", len(game.plies), winner, 0.5, figures)


def _costly_plies(scores: _Scores) -> Iterator[int]:
    """Find the plies that changed the expected score by ten points or more."""
    for ply, (before, after) in enumerate(itertools.pairwise(scores), 1):
        if before is not None and after is not None and abs(after - before) >= COSTLY:
            yield ply


def is_whole(game: GameDetail) -> bool:
    """Whether it is over, and every figure of it rests on all moves."""
    if game.result == "*" or not all(ply.final for ply in game.plies):
        return False
    return all(
        bool(points := getattr(game.curves, mover(game, ply.ply))) and points[-1].ply == ply.ply
        for ply in game.plies[-2:]
    )


class WholeSide(NamedTuple):
    """How one player has played a game that is over, beside what is usual for the rating."""

    elo: int
    perceived: int
    percentile: float
    counted: int
    """Moves that this rests on."""
    ply: int
    """Of the last of them."""


class WholeGame(NamedTuple):
    """A game that is over, as it is compared with the others of its round."""

    plies: int
    level: tuple[float, float] | None
    """Both percentiles at its end, White's first; None where one is unknown."""
    short: bool
    """It has too few moves to be compared by how well it was played, or not all can be read."""
    wild: float
    """How far White's expected score went up and down in all, in points."""
    turned: bool = False
    """One move turned or decided it, or would have if the reply had been better."""
    sides: tuple[WholeSide | None, WholeSide | None] = (None, None)
    """White's and Black's; None without a rating, or where its percentile is unknown."""
    peak: int = 0
    """The ply that changed the expected score most; 0 where none did."""


def whole_game(game: GameDetail) -> WholeGame | None:
    """What its round is compared by; None while it is not :func:`whole <is_whole>`."""
    if not is_whole(game):
        return None
    last = [points[-1] for points in (game.curves.white, game.curves.black) if points]
    level = tuple(point.percentile for point in last if point.percentile is not None)
    known = [score for score in expected_scores(game) if score is not None]
    return WholeGame(
        plies=len(game.plies),
        level=(level[0], level[1]) if len(level) == 2 else None,
        short=bool(game.problem) or len(last) < 2 or any(point.n < ABOVE_MOVES for point in last),
        wild=sum(abs(two - one) for one, two in itertools.pairwise(known)),
        turned=bool(turning_points(game)),
        sides=(whole_side(game, "white"), whole_side(game, "black")),
        peak=_peak(expected_scores(game)),
    )


def whole_side(game: GameDetail, color: Color) -> WholeSide | None:
    """Return how a player has played; None without a rating, or where it is not known."""
    elo, points = getattr(game, color).elo, getattr(game.curves, color)
    if not elo or not points:
        return None
    last = points[-1]
    if last.percentile is None or last.perceived is None:
        return None
    return WholeSide(elo, last.perceived, last.percentile, last.counted, last.ply)


def _peak(scores: _Scores) -> int:
    """Find the ply that changed the expected score most; 0 where none did."""
    peak, most = 0, 0.0
    for ply, (before, after) in enumerate(itertools.pairwise(scores), 1):
        if before is not None and after is not None and abs(after - before) > most:
            peak, most = ply, abs(after - before)
    return peak
