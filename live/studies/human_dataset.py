"""Files of rated games, replayed once into records of positions that training reads from disk.

A file has one game a line (JSON, may be gzipped): ``m`` moves in UCI joined by spaces, ``w`` and
``b`` Elo, ``kind``, and where known ``wid`` and ``bid``, the players' numbers.

Which games a network may learn from, and which judge it: decided once, by player.

A game is held out when one of its players is, when it has no player numbers and its moves are
drawn, or when it is among the games that judge the ratings. Of the games held out, a third serves
choices (size, rate, when to stop), two thirds only the figures that are published.
"""

from __future__ import annotations

import gzip
import json
import multiprocessing
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import chess
import numpy as np

from live.human.encoding import POSITION, Positions, mirrored, pack
from live.human.question import KINDS

Part = Literal["train", "validation", "test"]

#: One in so many players, and of games without numbers one in so many games, is held out.
PLAYERS_IN = 8
#: One in so many of the games held out serves choices.
VALIDATION_IN = 3


def _drawn(text: str, one_in: int) -> bool:
    return int(sha256(text.encode()).hexdigest(), 16) % one_in == 0


@dataclass(frozen=True)
class HeldOut:
    """Games and players held out by name, besides those drawn.

    ``games`` are SHA-256 sums (hexadecimal) of a game's moves in UCI joined by spaces; ``players``
    are numbers as in the files of games.
    """

    games: frozenset[str]
    players: frozenset[int]

    def part_of(self, moves: str, players: Iterable[int | None]) -> Part:
        """The part of a game: its moves in UCI joined by spaces, its two players' numbers."""
        known = [number for number in players if number is not None]
        held = (
            any(number in self.players or _drawn(str(number), PLAYERS_IN) for number in known)
            or (len(known) < 2 and _drawn(moves, PLAYERS_IN))
            or sha256(moves.encode()).hexdigest() in self.games
        )
        if not held:
            return "train"
        return "validation" if _drawn(f"validation {moves}", VALIDATION_IN) else "test"


def held_out() -> HeldOut:
    """The games and players that judge this project's ratings (``human_held_out.json``)."""
    raw = json.loads(files(__package__).joinpath("human_held_out.json").read_text("utf-8"))
    return HeldOut(games=frozenset(raw["games"]), players=frozenset(raw["players"]))


#: The first plies are played from memory and are the same in thousands of games.
OPENING_PLIES = 8
#: Shares of positions kept for training: of the opening, and of a kind of game.
KEEP_OPENING = 0.2
KEEP_KIND = {"otb": 1.0, "classical": 1.0, "rapid": 1.0, "blitz": 1.0, "bullet": 0.12}
#: Games to one file of records: some 300,000 positions.
_GAMES_A_FILE = 5000
_MOVES: dict[str, chess.Move] = {}


@dataclass(frozen=True)
class GameLine:
    """One game of a file: its moves in UCI, both Elo, its kind, and its players' numbers."""

    moves: str
    elo: tuple[int, int]
    kind: str
    players: tuple[int | None, int | None]


def games(path: Path) -> Iterator[GameLine]:
    """The games of a file; lines without moves, both ratings and a known kind are left out."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        for line in lines:
            raw: dict[str, Any] = json.loads(line)
            if raw.get("m") and raw.get("w") and raw.get("b") and raw.get("kind") in KINDS:
                players = (raw.get("wid"), raw.get("bid"))
                yield GameLine(raw["m"], (raw["w"], raw["b"]), raw["kind"], players)


def _move(uci: str) -> chess.Move:
    move = _MOVES.get(uci)
    if move is None:
        move = _MOVES[uci] = chess.Move.from_uci(uci)
    return move


def positions(game: GameLine, number: int) -> list[tuple[Any, ...]]:
    """Every position of a game as a row of records, with the move played; not mirrored."""
    board = chess.Board()
    moves = [_move(uci) for uci in game.moves.split()]
    rows = []
    for ply, move in enumerate(moves):
        elo = game.elo if board.turn else (game.elo[1], game.elo[0])
        row = pack(board, moves[max(ply - 2, 0) : ply], elo, game.kind)
        rows.append((*row[:8], move.from_square * 64 + move.to_square, number, ply))
        board.push(move)
    return rows


def encode(numbered: Iterable[tuple[int, GameLine]], sample: random.Random | None) -> Positions:
    """Positions of many games; with ``sample`` openings and some kinds are thinned out."""
    kept: list[tuple[Any, ...]] = []
    parts = []
    for number, game in numbered:
        for row in positions(game, number):
            if sample is not None:
                share = KEEP_KIND[game.kind] * (KEEP_OPENING if row[-1] < OPENING_PLIES else 1.0)
                if share < 1.0 and sample.random() >= share:
                    continue
            kept.append(row)
        if len(kept) > 20_000:
            parts.append(np.array(kept, dtype=POSITION))
            kept = []
    parts.append(np.array(kept, dtype=POSITION))
    rows = np.concatenate(parts)
    return mirrored(rows, rows["ply"] % 2 == 1)


def part(paths: Iterable[Path], wanted: Part, held: HeldOut) -> list[tuple[int, GameLine]]:
    """The games of one part, numbered through all files in the order given."""
    chosen = []
    number = 0
    for path in paths:
        for game in games(path):
            if held.part_of(game.moves, game.players) == wanted:
                chosen.append((number, game))
            number += 1
    return chosen


def encode_to(folder: Path, chosen: list[tuple[int, GameLine]], name: str, seed: int) -> None:
    """Records of many games, shuffled by game, as ``name-000.npy`` and so on.

    Two processes work; files that are there already are kept, so that an interruption costs
    little. With the name ``train`` openings and some kinds are thinned out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shuffled = list(chosen)
    random.Random(seed).shuffle(shuffled)
    many = -(-len(shuffled) // _GAMES_A_FILE)
    wanted = [(folder / f"{name}-{k:03}.npy", shuffled[k::many], k) for k in range(many)]
    missing = [(*job, seed, name == "train") for job in wanted if not job[0].exists()]
    if missing:
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            pool.starmap(_encode_file, missing, chunksize=1)


def _encode_file(
    path: Path, chosen: list[tuple[int, GameLine]], number: int, seed: int, thinned: bool
) -> None:
    rows = encode(chosen, random.Random(f"{seed} {number}") if thinned else None)
    part_path = path.with_suffix(".part.npy")
    np.save(part_path, rows)
    part_path.replace(path)


def encoded(folder: Path, name: str) -> Positions:
    """The records written by :func:`encode_to`, all files together."""
    return np.concatenate([np.load(path) for path in sorted(folder.glob(f"{name}-???.npy"))])
