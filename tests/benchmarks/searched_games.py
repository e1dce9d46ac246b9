"""Searched games of rated players, read for benchmarks, with what people would play."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
import numpy as np

from live.events import GainKind
from live.human.players import HumanMoves
from live.ratings.strength.human_evidence import among_people
from live.ratings.strength.loss_model import Floats
from live.ratings.strength.played_games import PlayedGame, PlayedSide, read_played_games

#: Bands of Elo.
BANDS = (0, 1200, 1600, 2000, 2300, 2500, 2600, 4000)


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
    """The games with the likelihood of each move among people, from ``kept`` where it holds that
    of the same network and games, else asked (some second a game) and kept there.
    """
    turns = [len(side.turns) for game in games for side in game.sides]
    if kept is not None and kept.is_file():
        with np.load(kept) as held:
            if str(held["network"]) == network.identity and held["turns"].tolist() == turns:
                cuts = np.cumsum(turns)[:-1]
                rows = zip(
                    np.split(held["human"].astype(float), cuts),
                    np.split(held["found"].astype(float), cuts),
                    strict=True,
                )
                return [
                    game._replace(
                        white=_with(game.white, *next(rows)), black=_with(game.black, *next(rows))
                    )
                    for game in games
                ]
    told = list(among_people(games, network, pace))
    if kept is not None:
        sides = [side for game in told for side in game.sides]
        human = np.array([row for side in sides for row in side.human], dtype=np.float32)
        found = np.array([turn.found for side in sides for turn in side.turns], dtype=np.float64)
        np.savez(kept, network=network.identity, turns=turns, human=human, found=found)
    return told


def _with(side: PlayedSide, human: Floats, found: Floats) -> PlayedSide:
    turns = (
        msgspec.structs.replace(turn, found=None if np.isnan(share) else share)
        for turn, share in zip(side.turns, found.tolist(), strict=True)
    )
    return side._replace(turns=tuple(turns), human=tuple(human))
