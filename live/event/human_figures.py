"""What players of the same ratings would have played in one game. Pure.

Shares are those of players of the mover's rating among themselves, and of two reference
ratings; a player without a rating has those alone.
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

#: Addresses of games played on a server, and of those only shown there.
_SERVERS = ("lichess.org/", "chess.com/", "freechess.org")
_SHOWN = ("/broadcast/", "/events/", "/study/")


class HumanProfile(NamedTuple):
    """Whose moves are asked for in one game."""

    elos: Mapping[Color, int | None]
    """Each side's rating in hundreds, within those learned; None for the unrated."""
    kind: str
    """One of :data:`live.human.question.KINDS`."""

    def list_elos(self, to_move: Color) -> tuple[int, ...]:
        """Return the ratings that a position is asked about, the mover's own first."""
        own = self.elos[to_move]
        return REFERENCE_ELOS if own is None else (own, *REFERENCE_ELOS)


def is_played_online(game: Game) -> bool:
    """Return whether a game was played on a server, as far as its headers say."""
    where = f"{game.headers.site} {game.headers.url}".lower()
    if any(shown in where for shown in _SHOWN):
        return False
    return any(server in where for server in _SERVERS)


def build_profile(game: Game) -> HumanProfile:
    """Return whose moves are asked for in a game."""
    elos: dict[Color, int | None] = {}
    for color in COLORS:
        elo = getattr(game.headers, color).elo
        elos[color] = round_elo(elo) if elo else None
    return HumanProfile(elos, choose_kind(game_pace(game), is_played_online(game)))


def build_question(
    plies: Sequence[Ply], index: int, profile: HumanProfile
) -> HumanQuestion | None:
    """Return the question about a position; None where nothing like it was learned."""
    here = plies[index]
    board = chess.Board(here.fen)
    if explain_not_covered(board, plies[0].fen) is not None:
        return None
    if not any(board.generate_legal_moves()):
        return None
    # A question gives two moves more of the past.
    start = max(0, index - 2)
    moves = list_moves(plies, start, index)
    elos = profile.list_elos(here.to_move)
    return HumanQuestion(plies[start].fen, moves, elos, profile.kind)


def collect_human_fields(
    view: PlyView, before: Ply, here: Ply, profile: HumanProfile
) -> dict[str, Any]:
    """Return the fields of a ply's view that say what people would have played.

    Args:
        view: the ply with its scores.
        before: the position before the move.
        here: the position after it.
        profile: whose moves were asked for.
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
        "difficulty": _show_difficulty(here, profile),
        "mark": _find_mark(view, before, here, played, profile),
    }


def _compute_shares(
    answer: HumanAnswer, difficulties: tuple[Difficulty, ...], uci: str
) -> tuple[float | None, tuple[RatingShare, ...]]:
    """Return how many players play a move, of the mover's rating and of the others.

    By the network alone until it is known what the moves lose.
    """
    shares: list[float | None] = []
    for asked in range(len(answer.per_mille)):
        share = answer.find_share(asked, uci)
        if share is not None and difficulties:
            share = round(difficulties[asked].shares.get(uci, 0.0), 3)
        shares.append(share)
    first = len(shares) - len(REFERENCE_ELOS)
    references = tuple(
        RatingShare(elo, share)
        for elo, share in zip(REFERENCE_ELOS, shares[first:], strict=True)
        if share is not None
    )
    return shares[0] if first else None, references


def _show_difficulty(here: Ply, profile: HumanProfile) -> DifficultyView | None:
    """Return how hard a position is for the player to move."""
    elo = profile.elos[here.to_move]
    if here.answer is None or elo is None or here.found is None:
        return None
    best = here.found.best
    if best is None:
        return None
    difficulties = rate_difficulty(here, profile)
    if not difficulties:
        return DifficultyView(elo, best)
    own = difficulties[0]
    share, references = _compute_shares(here.answer, difficulties, best)
    loss_cp = round(own.expected_loss_cp)
    return DifficultyView(
        elo, best, share, references, round(own.error_chance, 2), loss_cp
    )


def rate_difficulty(
    here: Ply, profile: HumanProfile, lossless: str = ""
) -> tuple[Difficulty, ...]:
    """Return how hard a position is for each rating asked for; nothing until it is
    known what the moves lose.

    Args:
        here: the position.
        profile: whose moves were asked for.
        lossless: a move of which perhaps only its own search saw that it loses nothing.
    """
    found = here.found
    if here.answer is None or found is None or found.best is None:
        return ()
    replies = here.get_replies() or {}
    key = lossless if lossless != found.best else ""
    # Their order counts too: the last stands for all that were not searched.
    made_from = here.answer, found, tuple(replies.items())
    kept = here.difficulties.get(key)
    if kept is not None and kept[0] == made_from:
        return kept[1]
    sign = 1 if here.to_move == "white" else -1
    losses = compute_move_losses(replies, found.best, sign, found.score.cp)
    if losses is None:
        return ()
    if key and losses.find_loss(key):
        losses = losses._replace(searched_cp={**losses.searched_cp, key: 0})
    elos = profile.list_elos(here.to_move)
    asked = zip(here.answer.per_mille, elos, strict=False)
    rated = tuple(estimate_difficulty(shares, losses, elo) for shares, elo in asked)
    here.difficulties[key] = made_from, rated
    return rated


def _find_mark(
    view: PlyView,
    before: Ply,
    here: Ply,
    played: float | None,
    profile: HumanProfile,
) -> Mark | None:
    if before.found is None or view.gain_cp is None:
        return None
    score_cp = before.found.score.cp
    after_cp = here.found.score.cp if here.found is not None else None
    sign = 1 if before.to_move == "white" else -1
    own = _rate_for_mover(before, profile)
    is_as_good = before.found.best == view.uci or view.gain_same_search_cp == 0
    if played is not None and is_as_good and own is not None:
        # A search may see a move only once it is played: the others miss that, too.
        late_cp = 0
        if after_cp is not None:
            late_cp = clamp_score(sign * after_cp) - clamp_score(sign * score_cp)
        missed_cp = late_cp if late_cp >= ERROR_CP else 0
        others_cp = own.average_loss_of_others_cp(view.uci) + missed_cp
        second_cp = own.find_second_loss_cp(view.uci) + missed_cp
        if is_find(played, others_cp, second_cp, sign * score_cp):
            return "find"
    reply = _rate_for_mover(here, profile)
    if reply is None or after_cp is None:
        return None
    return "trap" if is_trap(played, reply, -view.gain_cp, after_cp) else None


def _rate_for_mover(here: Ply, profile: HumanProfile) -> Difficulty | None:
    """Return how hard a position is for players of the mover's rating, if known."""
    if not profile.elos[here.to_move]:
        return None
    return next(iter(rate_difficulty(here, profile)), None)
