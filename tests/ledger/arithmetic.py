"""An engine made of arithmetic: the same search always has the same answer, at once.

Stands where the real one would only be slower: the ledger is about what follows from answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator
from typing import cast

import chess

from live.engine.search import Line, Search, SearchFailure, SearchResult
from live.events import Headers, Move, Player, Score
from live.games.game import Game
from live.ledger.game_evaluations import Effects

ANAND = Player("Anand", elo=2811)
CARLSEN = Player("Carlsen", elo=2826)


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def answer(search: Search) -> SearchResult:
    """Score and first choice drawn from the position's own text."""
    position = search.position
    board = chess.Board(position.start_fen, chess960=position.chess960)
    for uci in position.moves:
        board.push_uci(uci)
    limit = search.limit or ""
    draw = _number(f"{position.start_fen} {' '.join(position.moves)} {search.only}{limit}")
    legal = sorted(move.uci() for move in board.legal_moves)
    # Few alternatives, so that first choices, gains of 0 and losses all happen often.
    at = draw % min(2, len(legal))
    best, score = search.only or legal[at], Score(draw % 401 - 200)
    lines: tuple[Line, ...] = ()
    if search.lines > 1:
        chosen = [*legal[at:], *legal[:at]][: search.lines]
        sign = 1 if board.turn == chess.WHITE else -1
        lines = tuple(
            Line(move, Score(score.cp - sign * 7 * rank), 10) for rank, move in enumerate(chosen)
        )
    return SearchResult(score, best, depth=10 + len(position.moves) % 3, lines=lines)


def answer_or_failure(search: Search) -> SearchResult | SearchFailure:
    """Like :func:`answer`, but one search in nineteen always kills its engines."""
    position = search.position
    draw = _number(f"fails? {' '.join(position.moves)} {search.only}")
    return SearchFailure("killed three engines") if draw % 19 == 0 else answer(search)


def line(*choices: int, start_fen: str = chess.STARTING_FEN) -> tuple[Move, ...]:
    """Legal moves from the start: each choice picks one of the legal moves in UCI order."""
    board = chess.Board(start_fen)
    moves = []
    for choice in choices:
        legal = sorted(board.legal_moves, key=chess.Move.uci)
        if not legal:
            break
        move = legal[choice % len(legal)]
        moves.append(Move(uci=move.uci(), san=board.san(move)))
        board.push(move)
    return tuple(moves)


def game(
    id: str = "g1",
    moves: tuple[Move, ...] = (),
    *,
    white: Player = ANAND,
    black: Player = CARLSEN,
    start_fen: str = chess.STARTING_FEN,
    start_eval: Score | None = None,
) -> Game:
    return Game(
        id=id,
        feed="test",
        key=id,
        headers=Headers(white=white, black=black, event="Test"),
        start_fen=start_fen,
        moves=moves,
        start_eval=start_eval,
    )


def whole(pieces: Generator[None, None, Effects]) -> Effects:
    """What is to be done once all pieces have come."""
    while True:
        try:
            next(pieces)
        except StopIteration as ended:
            return cast("Effects", ended.value)
