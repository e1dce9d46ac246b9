"""Short ways to write reports."""

from typing import Any, TypeVar

import chess
import msgspec

from live.games.game import Game, Step
from live.games.game_index import GameIndex
from live.games.report_changes import plan_report_steps
from live.messages.from_sources import (
    FeedReport,
    GameReport,
    Headers,
    Move,
    Player,
    Result,
)

FEED = "test"

Headed = TypeVar("Headed", GameReport, Game)


def line(sans: str, start_fen: str = chess.STARTING_FEN) -> tuple[Move, ...]:
    """Moves written as SAN with blanks between."""
    board = chess.Board(start_fen)
    moves: list[Move] = []
    for san in sans.split():
        move = board.parse_san(san)
        moves.append(Move(uci=move.uci(), san=board.san(move)))
        board.push(move)
    return tuple(moves)


def make_game(
    pair: str = "Anna Adams-Boris Berg",
    sans: str = "",
    *,
    key: str = "",
    result: Result = "*",
    event: str = "Open",
    round: str = "1",
    board: int | None = None,
    start_fen: str = chess.STARTING_FEN,
    problem: str | None = None,
    variant: str = "standard",
) -> GameReport:
    """A game between the two players of ``pair``."""
    white, black = (Player(name) for name in pair.split("-"))
    headers = Headers(
        white, black, event=event, round=round, board=board, variant=variant
    )
    moves = line(sans, start_fen)
    return GameReport(key, headers, start_fen, moves, result, problem=problem)


def change_headers(game: Headed, **changes: Any) -> Headed:
    """The same with other headers."""
    headers = msgspec.structs.replace(game.headers, **changes)
    return msgspec.structs.replace(game, headers=headers)


def report(*games: GameReport, feed: str = FEED, complete: bool = True) -> FeedReport:
    return FeedReport(feed, games, complete)


def follow(
    held: GameIndex, *games: GameReport, feed: str = FEED, complete: bool = True
) -> list[Step]:
    """Plan and apply one report."""
    steps = plan_report_steps(held, report(*games, feed=feed, complete=complete))
    for step in steps:
        held.apply(step)
    return list(steps)


def build_index(*games: GameReport) -> GameIndex:
    """What is held after one complete report."""
    held = GameIndex()
    follow(held, *games)
    return held
