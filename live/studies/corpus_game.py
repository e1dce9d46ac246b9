"""One game as a corpus keeps it: who, when, what was played; and as few bytes as it takes.

Moves are packed into two bytes each, so that a million games fit a disk and are read without
replaying them. A game is told by its players, date, start and moves; the result and the ratings
are not part of that, since sources contradict each other about them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

import chess
import msgspec
import numpy as np

from live.events import GameReport, Headers, Player, Result
from live.games.player_identity import fide_id, name_words

STANDARD_FEN = chess.STARTING_FEN

_PIECES = "nbrq"
_DATE = re.compile(r"(\d{4})(?:[.\-/](\d{2}))?(?:[.\-/](\d{2}))?")


class CorpusPlayer(msgspec.Struct, frozen=True):
    """A player as a source names them; nobody (no name, no number) stays nobody."""

    name: str
    """As shown: a name, or the number that stands for one."""
    words: str
    """The name as it is compared; empty for nobody."""
    fide_id: int | None = None


class CorpusGame(msgspec.Struct, frozen=True, kw_only=True):
    """What a corpus keeps of one game."""

    white: CorpusPlayer
    black: CorpusPlayer
    white_elo: int | None
    black_elo: int | None
    event: str
    round: str
    date: str
    """``2013``, ``2013.08`` or ``2013.08.01``; empty where unknown."""
    result: str
    """As in ``live.events.Result``."""
    moves: tuple[str, ...]
    """UCI."""
    start_fen: str = STANDARD_FEN
    chess960: bool = False
    time_control: str = ""

    @property
    def year(self) -> int | None:
        """Of the date; None where that is unknown."""
        return int(self.date[:4]) if self.date else None

    @property
    def digest(self) -> bytes:
        """16 bytes that tell this game from others."""
        text = "\x1f".join(
            (
                self.white.words,
                self.black.words,
                self.date,
                "" if self.start_fen == STANDARD_FEN else self.start_fen,
                " ".join(self.moves),
            )
        )
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def numbered_player(number: int | str | None) -> CorpusPlayer:
    """A player of a file that has names, or numbers in their place, or neither."""
    if number is None or number == "":
        return CorpusPlayer("?", "")
    if isinstance(number, int):
        return CorpusPlayer(str(number), f"number {number}")
    return CorpusPlayer(number, _words(number))


def _words(name: str) -> str:
    """A name as it is compared. One letter names somebody too: a study is told its players."""
    letter = name.strip().casefold()
    return name_words(name) or (f"letter {letter}" if len(letter) == 1 and letter.isalnum() else "")


def named_player(player: Player) -> CorpusPlayer:
    """A player of a PGN."""
    return CorpusPlayer(player.name or "?", _words(player.name), fide_id(player))


def plain_date(text: str | None) -> str:
    """``2013.08.??`` and ``2013-08`` → ``2013.08``; empty for what is no date."""
    found = _DATE.match(text or "")
    if found is None or found[1] == "0000":
        return ""
    parts = []
    for part in found.groups():
        if part is None or not int(part):
            break
        parts.append(part)
    return ".".join(parts)


def game_of(report: GameReport) -> CorpusGame:
    """A game of a PGN."""
    moves = [move.uci for move in report.moves]
    game = game_from(report.headers, report.result, moves, report.start_fen)
    return msgspec.structs.replace(game, chess960=report.headers.variant == "chess960")


def game_from(headers: Headers, result: Result, moves: Iterable[str], start_fen: str) -> CorpusGame:
    """A game by what the tags of its PGN say, with its moves in UCI."""
    return CorpusGame(
        white=named_player(headers.white),
        black=named_player(headers.black),
        white_elo=headers.white.elo,
        black_elo=headers.black.elo,
        event=headers.event,
        round=headers.round,
        date=plain_date(headers.date),
        result=result,
        moves=tuple(moves),
        start_fen=start_fen,
        time_control=headers.time_control,
    )


def illegal_move(moves: Sequence[str], start_fen: str = STANDARD_FEN) -> str | None:
    """What is wrong with the moves, for people; None when all are legal."""
    try:
        board = chess.Board(start_fen)
    except ValueError as error:
        return f"no start position: {error}"
    for ply, uci in enumerate(moves, 1):
        try:
            move = chess.Move.from_uci(uci)
        except ValueError:
            return f"unreadable move {uci[:12]!r} at ply {ply}"
        if not board.is_legal(move):
            return f"illegal move {uci} at ply {ply}"
        board.push(move)
    return None


def packed(moves: Sequence[str]) -> bytes:
    """Moves (UCI) in two bytes each: from, to, and what a pawn becomes."""
    codes = []
    for uci in moves:
        piece = _PIECES.index(uci[4]) + 1 if len(uci) > 4 else 0
        codes.append(_square(uci[0:2]) | _square(uci[2:4]) << 6 | piece << 12)
    return np.array(codes, dtype="<u2").tobytes()


def unpacked(data: bytes) -> tuple[str, ...]:
    """The moves that were packed."""
    names = chess.SQUARE_NAMES
    return tuple(
        names[code & 63] + names[code >> 6 & 63] + ("", *_PIECES)[code >> 12]
        for code in np.frombuffer(data, dtype="<u2").tolist()
    )


def _square(name: str) -> int:
    return (ord(name[0]) - 97) | (ord(name[1]) - 49) << 3
