"""Shares of players who would have played each move of a game. Pure.

The shares are computed for players of the mover's rating, and for players of two
reference ratings. If the mover is unrated, only the shares for the reference ratings
are available.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import chess

from live.event.ply import Ply, list_moves
from live.event.rate_game import COLORS, game_pace
from live.games.game import Game
from live.human.difficulty import (
    ERROR_CP,
    Difficulty,
    clamp_score,
    compute_move_losses,
    estimate_difficulty,
    is_find,
    is_trap,
)
from live.human.question import (
    REFERENCE_ELOS,
    HumanAnswer,
    HumanQuestion,
    choose_kind,
    explain_not_covered,
    round_elo,
)
from live.messages.figures import DifficultyView, Mark, PlyView, RatingShare
from live.messages.values import Color

#: Parts of URLs of games that were played on a server (``_SERVERS``), unless the URL
#: also contains a part showing that the server only displays the game (``_SHOWN``).
_SERVERS = ("lichess.org/", "chess.com/", "freechess.org")
_SHOWN = ("/broadcast/", "/events/", "/study/")


class HumanProfile(NamedTuple):
    """The ratings and the kind of game with which human moves are predicted in one
    game.
    """

    elos: Mapping[Color, int | None]
    """Each side's rating, rounded to hundreds within the learned range; None if
    unrated.
    """
    kind: str
    """One of :data:`live.human.question.KINDS`."""

    def list_elos(self, to_move: Color) -> tuple[int, ...]:
        """Return the ratings for a question about a position, the mover's
        rating first.
        """
        own = self.elos[to_move]
        return REFERENCE_ELOS if own is None else (own, *REFERENCE_ELOS)


def is_played_online(game: Game) -> bool:
    """Return whether the headers of a game show that it was played on a server."""
    address = f"{game.headers.site} {game.headers.url}".lower()
    if any(pattern in address for pattern in _SHOWN):
        return False
    return any(server in address for server in _SERVERS)


def build_profile(game: Game) -> HumanProfile:
    """Return the ratings and the kind of game with which human moves are predicted."""
    elos: dict[Color, int | None] = {}
    for color in COLORS:
        elo = getattr(game.headers, color).elo
        elos[color] = round_elo(elo) if elo else None
    return HumanProfile(elos, choose_kind(game_pace(game), is_played_online(game)))


def build_question(
    plies: Sequence[Ply], index: int, profile: HumanProfile
) -> HumanQuestion | None:
    """Return the question about a position to the neural network.

    Return None if the network did not learn from positions of this kind.
    """
    ply = plies[index]
    board = chess.Board(ply.fen)
    if explain_not_covered(board, plies[0].fen) is not None:
        return None
    if not any(board.generate_legal_moves()):
        return None
    # A question includes the two moves that led to the position.
    start = max(0, index - 2)
    moves = list_moves(plies, start, index)
    elos = profile.list_elos(ply.to_move)
    return HumanQuestion(plies[start].fen, moves, elos, profile.kind)


def collect_human_fields(
    view: PlyView, before: Ply, ply: Ply, profile: HumanProfile
) -> dict[str, Any]:
    """Return the fields of a ply's view that are about human moves.

    Args:
        view: the ply with its scores.
        before: the position before the move.
        ply: the position after the move.
        profile: the ratings and the kind of game of the question.
    """
    played: float | None = None
    references: tuple[RatingShare, ...] = ()
    if before.answer is not None:
        lossless = view.uci if view.gain_same_search_cp == 0 else ""
        difficulties = rate_difficulty(before, profile, lossless)
        played, references = _compute_shares(before.answer, difficulties, view.uci)
    return {
        "played_share": played,
        "played_elo": profile.elos[before.to_move] if played is not None else None,
        "played_references": references,
        "difficulty": _show_difficulty(ply, profile),
        "mark": _find_mark(view, before, ply, played, profile),
    }


def _compute_shares(
    answer: HumanAnswer, difficulties: tuple[Difficulty, ...], uci: str
) -> tuple[float | None, tuple[RatingShare, ...]]:
    """Return the share of players of the mover's rating who play a move, and the shares
    for the reference ratings. The first is None if the share is unknown.

    Until the losses of the moves are known, the shares are those that the neural
    network predicts. Afterwards the losses correct them.
    """
    shares: list[float | None] = []
    for index in range(len(answer.per_mille)):
        share = answer.find_share(index, uci)
        if share is not None and difficulties:
            share = round(difficulties[index].shares.get(uci, 0.0), 3)
        shares.append(share)
    first = len(shares) - len(REFERENCE_ELOS)
    references = tuple(
        RatingShare(elo, share)
        for elo, share in zip(REFERENCE_ELOS, shares[first:], strict=True)
        if share is not None
    )
    return shares[0] if first else None, references


def _show_difficulty(ply: Ply, profile: HumanProfile) -> DifficultyView | None:
    """Return a position's difficulty for the player to move; None while it
    is unknown.
    """
    elo = profile.elos[ply.to_move]
    if ply.answer is None or elo is None or ply.found is None:
        return None
    best = ply.found.best
    if best is None:
        return None
    difficulties = rate_difficulty(ply, profile)
    if not difficulties:
        return DifficultyView(elo, best)
    own = difficulties[0]
    share, references = _compute_shares(ply.answer, difficulties, best)
    loss_cp = round(own.expected_loss_cp)
    return DifficultyView(
        elo, best, share, references, round(own.error_chance, 2), loss_cp
    )


def rate_difficulty(
    ply: Ply, profile: HumanProfile, lossless: str = ""
) -> tuple[Difficulty, ...]:
    """Return the difficulty of a position for each rating of the question.

    Return an empty tuple until the losses of the moves are known.

    Args:
        ply: the position.
        profile: the ratings and the kind of game of the question.
        lossless: UCI of a move that loses nothing, even if only its own search shows
            this; empty for none.
    """
    evaluation = ply.found
    if ply.answer is None or evaluation is None or evaluation.best is None:
        return ()
    replies = ply.get_replies() or {}
    key = lossless if lossless != evaluation.best else ""
    # The order of the replies is part of the key, since the last reply represents all
    # moves that were not searched.
    made_from = ply.answer, evaluation, tuple(replies.items())
    known_rating = ply.difficulties.get(key)
    if known_rating is not None and known_rating[0] == made_from:
        return known_rating[1]
    sign = 1 if ply.to_move == "white" else -1
    losses = compute_move_losses(replies, evaluation.best, sign, evaluation.score.cp)
    if losses is None:
        return ()
    if key and losses.find_loss(key):
        losses = losses._replace(searched_cp={**losses.searched_cp, key: 0})
    elos = profile.list_elos(ply.to_move)
    shares_by_elo = zip(ply.answer.per_mille, elos, strict=False)
    rated = tuple(
        estimate_difficulty(shares, losses, elo) for shares, elo in shares_by_elo
    )
    ply.difficulties[key] = made_from, rated
    return rated


def _find_mark(
    view: PlyView,
    before: Ply,
    ply: Ply,
    played: float | None,
    profile: HumanProfile,
) -> Mark | None:
    if before.found is None or view.gain_cp is None:
        return None
    score_cp = before.found.score.cp
    after_cp = ply.found.score.cp if ply.found is not None else None
    sign = 1 if before.to_move == "white" else -1
    own = _rate_for_mover(before, profile)
    is_as_good = before.found.best == view.uci or view.gain_same_search_cp == 0
    if played is not None and is_as_good and own is not None:
        # Sometimes only the search after a move shows how good it is. Players of other
        # moves missed this gain, so it counts as part of their loss.
        late_cp = 0
        if after_cp is not None:
            late_cp = clamp_score(sign * after_cp) - clamp_score(sign * score_cp)
        missed_cp = late_cp if late_cp >= ERROR_CP else 0
        others_cp = own.average_loss_of_others_cp(view.uci) + missed_cp
        second_cp = own.find_second_loss_cp(view.uci) + missed_cp
        if is_find(played, others_cp, second_cp, sign * score_cp):
            return "find"
    reply = _rate_for_mover(ply, profile)
    if reply is None or after_cp is None:
        return None
    return "trap" if is_trap(played, reply, -view.gain_cp, after_cp) else None


def _rate_for_mover(ply: Ply, profile: HumanProfile) -> Difficulty | None:
    """Return a position's difficulty for players of the mover's rating; None if
    unknown.
    """
    if not profile.elos[ply.to_move]:
        return None
    return next(iter(rate_difficulty(ply, profile)), None)
