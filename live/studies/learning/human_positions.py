"""Conversion of files of rated games to the records of positions that training reads.

A file has one game per line (JSON, plain or compressed): ``m`` is the moves in UCI
joined by spaces, ``w`` and ``b`` are the Elo ratings, ``kind`` is the kind of game, and
``wid`` and ``bid``, if known, are the players' numbers.
"""

import functools
import itertools
import multiprocessing
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import chess
import msgspec
import numpy as np

from live.errors import InputError
from live.human.network_input import POSITION, Positions, mirror_black, pack_position
from live.human.question import KINDS
from live.studies.game_texts import read_json_lines
from live.studies.learning.held_out import GamePart, HeldOut

#: Number of opening plies, which are played from memory and are the same in thousands
#: of games.
OPENING_PLIES = 8
#: Shares of positions kept for training: of the opening, and of each kind of game.
KEEP_OPENING = 0.2
KEEP_KIND = {"otb": 1.0, "classical": 1.0, "rapid": 1.0, "blitz": 1.0, "bullet": 0.12}
#: Number of games per file of records: some 300,000 positions.
_GAMES_A_FILE = 5000
_move = functools.cache(chess.Move.from_uci)

Elos = tuple[int, int]
"""Elo ratings of two players."""


class RatedGameLine(NamedTuple):
    """One game of a file: its moves in UCI, both Elo ratings, its kind, and its
    players' numbers.
    """

    moves: str
    elo: Elos
    kind: str
    players: tuple[int | None, int | None]

    def pair_elos(self, turn: chess.Color) -> Elos:
        """Return the mover's rating, then the opponent's."""
        return self.elo if turn else self.elo[::-1]


NumberedLine = tuple[int, RatedGameLine]
"""Number of a game in the sequence of all files, and the game."""


class _Line(msgspec.Struct):
    """The keys of a line that are read."""

    m: str | None = None
    w: int | None = None
    b: int | None = None
    kind: str | None = None
    wid: int | None = None
    bid: int | None = None


def read_game_lines(path: Path) -> Iterator[RatedGameLine]:
    """Yield the games of a file. Lines without moves, without both ratings or without a
    known kind are skipped.

    Raises:
        InputError: the file cannot be read, or one of its lines does not describe a
            game as JSON.
    """
    for number, text in enumerate(read_json_lines(str(path)), 1):
        if not text.strip():
            continue
        try:
            line = msgspec.json.decode(text, type=_Line)
        except (ValueError, RecursionError):
            raise InputError(
                f"{path}, line {number}", "is no JSON", "Give one game a line"
            ) from None
        if line.m and line.w and line.b and line.kind in KINDS:
            players = line.wid, line.bid
            yield RatedGameLine(line.m, (line.w, line.b), line.kind, players)


def encode_game(game: RatedGameLine, number: int) -> list[tuple[Any, ...]]:
    """Return a row of the records for every position of a game, with the move played.
    Rows of Black's positions are not mirrored yet.
    """
    board = chess.Board()
    moves = [_move(uci) for uci in game.moves.split()]
    rows = []
    for ply, move in enumerate(moves):
        row = pack_position(
            board, moves[max(ply - 2, 0) : ply], game.pair_elos(board.turn), game.kind
        )
        rows.append((*row[:8], move.from_square * 64 + move.to_square, number, ply))
        board.push(move)
    return rows


def encode_games(
    numbered: Iterable[NumberedLine], sample: random.Random | None
) -> Positions:
    """Encode the positions of many games. If ``sample`` is given, keep only a random
    part of the openings and of some kinds of game.
    """

    def choose_rows() -> Iterator[tuple[Any, ...]]:
        for number, game in numbered:
            for row in encode_game(game, number):
                share = KEEP_KIND[game.kind] * (
                    KEEP_OPENING if row[-1] < OPENING_PLIES else 1.0
                )
                if sample is None or share == 1.0 or sample.random() < share:
                    yield row

    rows = np.fromiter(choose_rows(), dtype=POSITION)
    return mirror_black(rows, rows["ply"] % 2 == 1)


def select_games(
    paths: Iterable[Path], part: GamePart, held_out: HeldOut
) -> list[NumberedLine]:
    """Return the games of one part, each with its number. The numbers count through all
    files in the given order.
    """
    numbered_games = enumerate(
        itertools.chain.from_iterable(map(read_game_lines, paths))
    )
    return [
        (number, game)
        for number, game in numbered_games
        if part in ("all", held_out.find_part(game.moves, game.players))
    ]


def write_positions(
    folder: Path, games: list[NumberedLine], name: str, seed: int
) -> None:
    """Write the records of many games, shuffled by game, as ``name-000.npy`` and so on.

    Two processes write the files. Files that already exist are kept, so that an
    interruption costs little. With the name ``train``, only a random part of the
    openings and of some kinds of game is kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shuffled = list(games)
    random.Random(seed).shuffle(shuffled)
    file_count = -(-len(shuffled) // _GAMES_A_FILE)
    jobs = [
        (folder / f"{name}-{k:03}.npy", shuffled[k::file_count], k)
        for k in range(file_count)
    ]
    missing = [(*job, seed, name == "train") for job in jobs if not job[0].exists()]
    if missing:
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            pool.starmap(_encode_file, missing, chunksize=1)


def _encode_file(
    path: Path, games: list[NumberedLine], number: int, seed: int, thinned: bool
) -> None:
    rows = encode_games(games, random.Random(f"{seed} {number}") if thinned else None)
    part_path = path.with_suffix(".part.npy")
    np.save(part_path, rows)
    part_path.replace(path)


def load_positions(folder: Path, name: str) -> Positions:
    """Load all records that :func:`write_positions` has written under this name."""
    return np.concatenate(
        [np.load(path) for path in sorted(folder.glob(f"{name}-???.npy"))]
    )
