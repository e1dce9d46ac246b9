"""Games to rehearse with."""

from __future__ import annotations

import itertools
from pathlib import Path

import chess
import msgspec

from live.events import GameReport, Headers, Player, Result
from live.feeds.pgn_decoder import PgnReader
from tests.games.told import line as line_of

DATA = Path(__file__).resolve().parent.parent / "data"
START = chess.STARTING_FEN


def four_boards() -> list[GameReport]:
    """Four decisive games, 90 minutes and 30 seconds a move, as their PGN holds them."""
    reader = PgnReader()
    data = (DATA / "four-boards.pgn").read_bytes()
    games = list(reader.read(data, closed=True))
    return [
        msgspec.structs.replace(game, headers=msgspec.structs.replace(game.headers, board=board))
        for board, game in enumerate(games, 1)
    ]


def played(
    line: str,
    *,
    result: Result = "*",
    start_fen: str = START,
    clocks: tuple[float, ...] = (),
    time_control: str = "90+30",
    board: int = 9,
) -> GameReport:
    """A game from its moves in SAN, separated by spaces; clocks where given."""
    moves = [
        msgspec.structs.replace(move, clock_s=clock_s)
        for move, clock_s in itertools.zip_longest(line_of(line, start_fen), clocks)
    ]
    headers = Headers(
        Player("Weiß, Anna", elo=2000),
        Player("Schwarz, Bea", elo=2000),
        event="Open",
        round="1",
        board=board,
        time_control=time_control,
    )
    return GameReport(f"game-{board}", headers, start_fen, tuple(moves), result)
