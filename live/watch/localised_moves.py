"""Moves with their numbers, written with each language's piece letters. Pure."""

import re
from functools import lru_cache

import chess
import msgspec

from live.games.game import number_move
from live.messages.figures import GameDetail
from live.messages.moments import MomentText
from live.watch.words import LANGUAGES, WORDS


def write_move(game: GameDetail, ply: int, language: str) -> str:
    """Return a move with its number (``26… Td8``); ``?`` if there is no such ply."""
    if not 1 <= ply <= len(game.plies):
        return "?"
    number, is_white = number_move(game, ply)
    dots = "." if is_white else "…"
    return f"{number}{dots}\u00a0{localise(game.plies[ply - 1].san, language)}"


def write_move_in_all(game: GameDetail, ply: int) -> MomentText:
    """Return a move with its number, in every language."""
    texts = {language: write_move(game, ply, language) for language in LANGUAGES}
    return msgspec.convert(texts, MomentText)


def localise(san: str, language: str) -> str:
    """Return a move in SAN with the piece letters of a language.

    A text that is not a move is returned unchanged, since sources can send such a text.
    """
    if not re.fullmatch(r"[KQRBN]?[a-h1-8x=QRBN+#]+", san):
        return san
    letters = dict(zip("KQRBN", WORDS[language].letters.split(), strict=True))
    return re.sub("[KQRBN]", lambda letter: letters[letter[0]], san)


def find_best_move(game: GameDetail, ply: int) -> str | None:
    """Return the move that the engine prefers to the one played at a ply, in SAN.

    Return None if the engine prefers the move played, or if its choice is unknown.
    """
    view = game.plies[ply - 1]
    if view.best is None or view.best == view.uci:
        return None
    moves = tuple(earlier.uci for earlier in game.plies[: ply - 1])
    return _write_san(game.start_fen, game.variant == "chess960", moves, view.best)


@lru_cache(maxsize=512)
def _write_san(
    start_fen: str, chess960: bool, moves: tuple[str, ...], uci: str
) -> str | None:
    """Return a move in SAN; None if it cannot be played.

    The result is cached, since all sentences about a game are written again whenever
    the game changes.
    """
    try:
        board = chess.Board(start_fen, chess960=chess960)
        for move in moves:
            board.push_uci(move)
        return board.san(board.parse_uci(uci))
    except ValueError:
        return None
