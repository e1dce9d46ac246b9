"""Searched games of rated players, for benchmarks: read, with what people would play, and how often
the engine's first choice is played in them.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import chess
import msgspec
import numpy as np
from scipy.optimize import minimize

from live.events import GainKind
from live.human.network import HumanMoves, answers
from live.human.question import (
    REFERENCE_ELOS,
    HumanAnswer,
    HumanQuestion,
    learned_kind,
    not_covered,
)
from live.ratings.agreement import (
    ChoiceModel,
    GameChoices,
    HumanChoices,
    counts,
    found_by,
    log_likelihoods,
)
from live.ratings.perceived_model import Circumstance, Turn, measured
from live.ratings.perceived_rating import Floats
from live.studies.perceived_games import PlayedGame, PlayedSide, read_played_games
from live.studies.perceived_learning import share_of

#: Bands of Elo.
BANDS = (0, 1200, 1600, 2000, 2300, 2500, 2600, 4000)
#: The first plies are played from memory: they say what was learned by heart.
FIRST_PLY = 9
#: Questions at a time.
_BATCH = 16


def read(paths: Iterable[Path], gain: GainKind) -> list[PlayedGame]:
    """The games of all files, which may be gzipped."""
    games: list[PlayedGame] = []
    for path in paths:
        data = path.read_bytes()
        lines = (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()
        games += read_played_games(lines, gain, path.name)
    return games


# --- what people would play -----------------------------------------------------------------------


def questions(
    game: PlayedGame, elos: Callable[[Turn], tuple[int, ...]], kind: str
) -> Iterator[tuple[Turn, chess.Board, HumanQuestion]]:
    """Every turn after the opening that the network covers, with the position before it, and what
    is asked about that.
    """
    turns = {turn.ply: turn for side in game.sides for turn in side.turns}
    board = chess.Board()
    fens = [board.fen()]
    for ply, uci in enumerate(game.moves, 1):
        first = max(0, ply - 3)
        if ply >= FIRST_PLY and ply in turns and not_covered(board) is None:
            before = game.moves[first : ply - 1]
            yield turns[ply], board, HumanQuestion(fens[first], before, elos(turns[ply]), kind)
        board.push_uci(uci)
        fens.append(board.fen())


def told_among_people(
    games: Iterable[PlayedGame], network: HumanMoves, pace: str
) -> Iterator[PlayedGame]:
    """Games with how many people find each first choice; some second a game.

    Of games without moves nobody can be asked: they stay as they are.
    """
    kind = learned_kind(pace, online=False)
    for game in games:
        asked = {
            turn.ply: each for turn, _, each in questions(game, lambda _: REFERENCE_ELOS, kind)
        }
        plies, wanted = list(asked), list(asked.values())
        found: dict[int, HumanAnswer] = {}
        for start in range(0, len(plies), _BATCH):
            batch = answers(network, wanted[start : start + _BATCH])
            found.update(zip(plies[start:], batch, strict=False))
        white, black = (_told(side, found) for side in game.sides)
        yield game._replace(white=white, black=black) if game.moves else game


def _told(side: PlayedSide, found: dict[int, HumanAnswer]) -> PlayedSide:
    bests = side.best or (None,) * len(side.turns)
    turns = tuple(
        msgspec.structs.replace(turn, found=found_by(found.get(turn.ply), best, side.elo))
        for turn, best in zip(side.turns, bests, strict=True)
    )
    return side._replace(turns=turns)


# --- how often the engine's first choice is played ------------------------------------------------

_NAMES: tuple[Circumstance, ...] = (
    *("always", "early", "late", "ahead", "behind", "level", "instability", "jump"),
    *("choices", "pieces", "captures", "recapture", "check"),
)
_WITH_PEOPLE: tuple[Circumstance, ...] = (*_NAMES, "found", "found_squared")
CENTRE_ELO, SCALE_ELO = 2100.0, 400.0
#: Spreads of players and of games that are tried, log-odds.
_SPREADS = tuple(product((0.05, 0.08, 0.12, 0.16, 0.2), (0.08, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4)))


class _Learned(NamedTuple):
    moves: int
    weights: tuple[float, ...]
    slope: float
    spreads: tuple[float, float]


def learn_choices(
    games: Sequence[PlayedGame], without: Callable[[str], bool], network: str = ""
) -> ChoiceModel:
    """Learn from searched games; the spreads are those under which games of players who did not
    teach the forecast are likeliest. ``network`` is whose answers say of the turns how many people
    choose the engine's move, where it was asked. Raises ValueError without a choice to learn from.
    """
    sides = [
        side
        for game in games
        for side in game.sides
        if side.elo is not None and side.first_choices and not without(side.player)
    ]
    plain = _learned(sides, _NAMES, all_turns=True)
    spreads, human = [plain.spreads], None
    if network:
        known = _learned(sides, _WITH_PEOPLE, all_turns=False)
        # One pair of spreads holds for all choices: the wider makes evidence weaker.
        spreads.append(known.spreads)
        human = HumanChoices(
            network=network,
            circumstances=_WITH_PEOPLE,
            weights=known.weights,
            slope=known.slope,
        )
    player_sd, game_sd = (max(each) for each in zip(*spreads, strict=True))
    return ChoiceModel(
        name="",
        engine="",
        limit="",
        data="",
        date="",
        games=len(sides),
        moves=plain.moves,
        centre_elo=CENTRE_ELO,
        scale_elo=SCALE_ELO,
        circumstances=_NAMES,
        weights=plain.weights,
        slope=plain.slope,
        player_sd=player_sd,
        game_sd=game_sd,
        human=human,
    )


def _learned(
    sides: Sequence[PlayedSide], names: tuple[Circumstance, ...], *, all_turns: bool
) -> _Learned:
    told = [_rows(side, names, all_turns=all_turns) for side in sides]
    of_side = np.repeat(np.arange(len(told)), [len(rows) for rows in told])
    if not len(of_side):
        raise ValueError("no choice of a rated player to learn from")
    *columns, chosen = np.concatenate(told).T
    at = np.stack(columns, axis=1)
    share = np.array([share_of(side.player) for side in sides])[of_side]
    log_odds = np.zeros(len(at))
    for one in np.unique(share):
        log_odds[share == one] = at[share == one] @ _fit(at[share != one], chosen[share != one])
    by_player: dict[str, list[GameChoices]] = {}
    for number, side in enumerate(sides):
        game = GameChoices()
        own = of_side == number
        for odds, match in zip(log_odds[own].tolist(), chosen[own].tolist(), strict=True):
            game = game.after(odds, bool(match))
        by_player.setdefault(side.player, []).append(game)

    def likelihood(spreads: tuple[float, float]) -> float:
        return sum(float(log_likelihoods(played, *spreads)[0]) for played in by_player.values())

    *weights, slope = (round(float(each), 4) + 0.0 for each in _fit(at, chosen))
    return _Learned(len(at), tuple(weights), slope, max(_SPREADS, key=likelihood))


def _rows(side: PlayedSide, names: tuple[Circumstance, ...], *, all_turns: bool) -> Floats:
    """Circumstances and Elo of the choices that count, and whether they were the engine's."""
    assert side.elo is not None
    z = (side.elo - CENTRE_ELO) / SCALE_ELO
    counted = [
        (*measured(turn, names), z, choice)
        for turn, choice in zip(side.turns, side.first_choices, strict=True)
        if counts(turn) and (all_turns or turn.found is not None)
    ]
    return np.array(counted, dtype=np.float64).reshape(-1, len(names) + 2)


def _fit(at: Floats, chosen: Floats) -> Floats:
    def loss(weights: Floats) -> tuple[float, Floats]:
        odds = at @ weights
        fit = float(chosen @ odds - np.logaddexp(0, odds).sum())
        rise = at.T @ (chosen - 1 / (1 + np.exp(-odds)))
        return 0.5 * float(weights @ weights) - fit, weights - rise

    found: Floats = minimize(loss, np.zeros(at.shape[1]), jac=True, method="L-BFGS-B").x
    return found
