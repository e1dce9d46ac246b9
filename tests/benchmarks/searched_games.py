"""Searched games of rated players, read for benchmarks, with what people would play."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import chess
import msgspec
import numpy as np

from live.events import GainKind
from live.human.network import HumanMoves, answers
from live.human.question import (
    REFERENCE_ELOS,
    HumanAnswer,
    HumanQuestion,
    learned_kind,
    not_covered,
)
from live.ratings.agreement import found_by
from live.ratings.perceived_rating import Floats
from live.studies.perceived_games import PlayedGame, PlayedSide, read_played_games

#: Bands of Elo.
BANDS = (0, 1200, 1600, 2000, 2300, 2500, 2600, 4000)
#: The first plies are played from memory: they say what was learned by heart.
FIRST_PLY = 9
#: Questions at a time.
_BATCH = 16


def read(paths: Iterable[Path], gain: GainKind) -> list[PlayedGame]:
    games: list[PlayedGame] = []
    for path in paths:
        data = path.read_bytes()
        lines = (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()
        games += read_played_games(lines, gain, path.name)
    return games


def told_among_people(
    games: Sequence[PlayedGame], network: HumanMoves, pace: str, kept: Path | None
) -> list[PlayedGame]:
    """The games with how many people find each first choice, from ``kept`` where it holds that
    of the same network and games, else asked (some second a game) and kept there.
    """
    turns = [len(side.turns) for game in games for side in game.sides]
    if kept is not None and kept.is_file():
        with np.load(kept) as held:
            if str(held["network"]) == network.identity and held["turns"].tolist() == turns:
                cuts = np.cumsum(turns)[:-1]
                rows = iter(np.split(held["found"].astype(float), cuts))
                return [
                    game._replace(
                        white=_with(game.white, next(rows)), black=_with(game.black, next(rows))
                    )
                    for game in games
                ]
    told = list(_among_people(games, network, pace))
    if kept is not None:
        sides = [side for game in told for side in game.sides]
        found = np.array([turn.found for side in sides for turn in side.turns], dtype=np.float64)
        np.savez(kept, network=network.identity, turns=turns, found=found)
    return told


def _with(side: PlayedSide, found: Floats) -> PlayedSide:
    turns = (
        msgspec.structs.replace(turn, found=None if np.isnan(share) else share)
        for turn, share in zip(side.turns, found.tolist(), strict=True)
    )
    return side._replace(turns=tuple(turns))


def _among_people(
    games: Iterable[PlayedGame], network: HumanMoves, pace: str = "classical"
) -> Iterator[PlayedGame]:
    """Games with how many people find each first choice; some second a game.

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
    bests = side.best or (None,) * len(side.turns)
    turns = tuple(
        msgspec.structs.replace(turn, found=found_by(found.get(turn.ply), best, side.elo))
        for turn, best in zip(side.turns, bests, strict=True)
    )
    return side._replace(turns=turns)
