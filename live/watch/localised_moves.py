"""Moves with their numbers, in the letters of each language. Pure."""

import re
from functools import lru_cache

import chess
import msgspec

from live.games.game import number_move
from live.messages.figures import GameDetail
from live.messages.moments import MomentText
from live.watch.words import LANGUAGES, WORDS


def write_move(game: GameDetail, ply: int, language: str) -> str:
    """Write a move with its number: ``26… Td8``; ``?`` where there is none."""
    if not 1 <= ply <= len(game.plies):
        return "?"
    number, is_white = number_move(game, ply)
    dots = "." if is_white else "…"
    return f"{number}{dots}\u00a0{localise(game.plies[ply - 1].san, language)}"


def write_move_in_all(game: GameDetail, ply: int) -> MomentText:
    """Write a move with its number in the letters of each language."""
    texts = {language: write_move(game, ply, language) for language in LANGUAGES}
    return msgspec.convert(texts, MomentText)


def localise(san: str, language: str) -> str:
    """Write a move in the letters of a language; what is no move stays, as feeds may
    send it.
    """
    if not re.fullmatch(r"[KQRBN]?[a-h1-8x=QRBN+#]+", san):
        return san
    letters = dict(zip("KQRBN", WORDS[language].letters.split(), strict=True))
    return re.sub("[KQRBN]", lambda found: letters[found[0]], san)


def find_best_move(game: GameDetail, ply: int) -> str | None:
    """Return the engine's first choice before a ply in SAN; None where it was played or
    is not known.
    """
    view = game.plies[ply - 1]
    if view.best is None or view.best == view.uci:
        return None
    moves = tuple(each.uci for each in game.plies[: ply - 1])
    return _write_san(game.start_fen, game.variant == "chess960", moves, view.best)


@lru_cache(maxsize=512)
def _write_san(
    start_fen: str, chess960: bool, moves: tuple[str, ...], uci: str
) -> str | None:
    """Kept, since all moments of a game are worded again at each news of it."""
    try:
        board = chess.Board(start_fen, chess960=chess960)
        for each in moves:
            board.push_uci(each)
        return board.san(board.parse_uci(uci))
    except ValueError:
        return None
