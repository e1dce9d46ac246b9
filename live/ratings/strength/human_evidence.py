"""What a move says of Elo beside the moves that people choose in the position.

A network of human moves answers how many players of two reference ratings choose each move. In
between and beyond them the log-odds of any two moves are taken as linear in Elo:
``p(move | t) = low ** (1 - t) * high ** t / Z(t)`` with ``t = (Elo - low Elo) / (high Elo - low
Elo)``, the exponential family through both answers. So the two answers that are shown anyway, and
that the journal keeps, give a likelihood over all ratings, and nobody's own rating enters it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import chess
import msgspec
import numpy as np

from live.human.players import HumanMoves, answers
from live.human.question import (
    REFERENCE_ELOS,
    HumanAnswer,
    HumanQuestion,
    learned_kind,
    not_covered,
)
from live.ratings.strength.agreement import found_by
from live.ratings.strength.loss_model import GRID_ELO, Floats, LossModel
from live.ratings.strength.played_games import PlayedGame, PlayedSide

#: The first plies are played from memory: they say what was learned by heart.
FIRST_PLY = 9
#: Shares are kept in whole per mille; less than one counts as this.
_RAREST = 0.5
#: Questions at a time.
_BATCH = 16

_LOW_ELO, _HIGH_ELO = REFERENCE_ELOS
_AT = ((GRID_ELO - _LOW_ELO) / (_HIGH_ELO - _LOW_ELO))[:, None]


def log_likelihood(answer: HumanAnswer, uci: str) -> Floats:
    """Of the move played, over ``GRID_ELO``; 0 where nothing was learned of such a move.

    ``answer`` ends with the shares of the two reference ratings. Some 20 µs.
    """
    if not answer.by_elo or uci[4:] not in ("", "q"):
        return np.zeros(len(GRID_ELO))
    low, high = answer.per_mille[-2:]
    moves = [uci, *(move for move in {**low, **high} if move != uci)]
    at_low, at_high = np.log(
        [[max(each.get(move, 0), _RAREST) for move in moves] for each in (low, high)]
    )
    log_odds = at_low + _AT * (at_high - at_low)
    # The chances at both ends cancel: only odds enter.
    top = log_odds.max(axis=1)
    found: Floats = log_odds[:, 0] - top - np.log(np.exp(log_odds - top[:, None]).sum(axis=1))
    return found


def human_likelihood(
    model: LossModel, answer: HumanAnswer | None, ply: int, uci: str
) -> Floats | None:
    """Of the move at ``ply`` over ``GRID_ELO``, as it joins the evidence of ``model``; None where
    nobody answered about the position, or another network than the model was learned with.
    """
    if model.human is None or answer is None or answer.network != model.human.network:
        return None
    return log_likelihood(answer, uci) if ply >= FIRST_PLY else np.zeros(len(GRID_ELO))


def among_people(
    games: Iterable[PlayedGame], network: HumanMoves, pace: str = "classical"
) -> Iterator[PlayedGame]:
    """Games with the likelihood of each turn's move among people; some second a game.

    Of games without moves nobody can be asked: they stay as they are.
    """
    kind = learned_kind(pace, online=False)
    for game in games:
        asked = dict(_questions(game, kind))
        plies, questions = list(asked), list(asked.values())
        found: dict[int, HumanAnswer] = {}
        for start in range(0, len(plies), _BATCH):
            batch = answers(network, questions[start : start + _BATCH])
            found.update(zip(plies[start:], batch, strict=False))
        white, black = (_told(game, side, found) for side in game.sides)
        yield game._replace(white=white, black=black) if game.moves else game


def _questions(game: PlayedGame, kind: str) -> Iterator[tuple[int, HumanQuestion]]:
    """By ply, what is asked about the position before it."""
    turns = {turn.ply for side in game.sides for turn in side.turns}
    board = chess.Board()
    fens = [board.fen()]
    for ply, uci in enumerate(game.moves, 1):
        first = max(0, ply - 3)
        if ply >= FIRST_PLY and ply in turns and not_covered(board) is None:
            yield ply, HumanQuestion(fens[first], game.moves[first : ply - 1], REFERENCE_ELOS, kind)
        board.push_uci(uci)
        fens.append(board.fen())


def _told(game: PlayedGame, side: PlayedSide, found: dict[int, HumanAnswer]) -> PlayedSide:
    nothing = np.zeros(len(GRID_ELO))
    human = tuple(
        log_likelihood(found[turn.ply], game.moves[turn.ply - 1]) if turn.ply in found else nothing
        for turn in side.turns
    )
    bests = side.best or (None,) * len(side.turns)
    turns = tuple(
        msgspec.structs.replace(turn, found=found_by(found.get(turn.ply), best, side.elo))
        for turn, best in zip(side.turns, bests, strict=True)
    )
    return side._replace(turns=turns, human=human)
