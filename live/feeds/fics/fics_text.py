"""What a chess server of the FICS family sends as text: bytes in, answers and reports out. Pure.

A game comes as one line a position, "style 12", which every server of this family speaks (FICS
help, style12): the board, both clocks and the last move. Moves made before we came are asked for
with ``moves``. The end is a line like ``{Game 45 (A vs. B) A resigns} 0-1``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import chess
import msgspec

from live.events import GameReport, Headers, Move, Player, Result
from live.feeds.pgn.pgn_headers import clean
from live.feeds.position_tracker import PositionTracker, read_fen
from live.feeds.result_spelling import read_result

#: A longer line is no line of a chess server.
MAX_LINE_BYTES = 16_384
#: Games that are remembered at most.
MAX_GAMES = 1024
NAME_CHARS = 40
#: Lists of moves asked for in vain, before a game is believed to have begun where we met it.
MAX_ASKED = 5

#: Telnet (RFC 854): "interpret as command" and what follows; a sub-negotiation runs to its end.
_TELNET = re.compile(rb"\xff(?:[\xfb-\xfe].|\xfa.*?\xff\xf0|[\xf0-\xf9\xff])", re.DOTALL)
_PROMPT = re.compile(r"^\s*\w{2,12}% ")
_RETURN = re.compile(r"Press return to enter the server.*:\s*$")
_END = re.compile(r"\{Game (\d{1,5}) \((\S+) vs\. (\S+)\) [^{}]*\} (\S+)")
_RATINGS = re.compile(r"Game (\d{1,5}): (\S+) \(\s*([\d+-]+)\w?\) (\S+) \(\s*([\d+-]+)\w?\)")
_LIST = re.compile(r"Movelist for game (\d{1,5}):")
_ROW = re.compile(r"\s*\d{1,4}\.\s+(\S+)\s+\([\d:.]+\)(?:\s+(\S+)\s+\([\d:.]+\))?\s*$")
_LAST_ROW = re.compile(r"\s*\{[^{}]*\}\s*(\S+)\s*$")
_NO_GAME = re.compile(r"There is no such game|is not a valid handle|No user named|not logged in")
_NO_ENTRY = re.compile(r"\*{4} Invalid password|is not a registered name")
_FIELDS = 30


class FicsLoginRefused(Exception):
    """The server refuses user or password."""


class NotFics(Exception):
    """What comes is no text in lines."""


class Style12(msgspec.Struct, frozen=True):
    """One line ``<12> …``, read."""

    board: chess.Board
    game: int
    white: str
    black: str
    initial_s: int
    increment_s: int
    white_s: float
    black_s: float
    san: str
    """The move that led here; empty at the start."""


def style12(line: str) -> Style12 | None:
    """Read one line; None for any other, for a diagram without a game, and for nonsense."""
    words = line.split()
    if not words or words[0] != "<12>" or len(words) - 1 < _FIELDS:
        return None
    ranks, told = words[1:9], words[9:]
    if told[10] == "-3" or told[0] not in ("W", "B") or any(len(rank) != 8 for rank in ranks):
        return None
    try:
        numbers = [int(word) for word in (*told[1:8], told[11], told[12], told[15], told[16])]
        move_number = int(told[17])
    except ValueError:
        return None
    pushed, *flags, halfmoves, game, initial, increment, white_s, black_s = numbers
    placement = "/".join(re.sub("-+", lambda gap: str(len(gap[0])), rank) for rank in ranks)
    rights = "".join(right for right, flag in zip("KQkq", flags, strict=True) if flag) or "-"
    turn = told[0].lower()
    behind = f"{'abcdefgh'[pushed]}{'6' if turn == 'w' else '3'}" if 0 <= pushed < 8 else "-"
    board = read_fen(
        f"{placement} {turn} {rights} {behind} {max(0, halfmoves)} {max(1, move_number)}"
    )
    if board is None:
        return None
    board.chess960 = False
    return Style12(
        board=board,
        game=game,
        white=clean(told[8], NAME_CHARS),
        black=clean(told[9], NAME_CHARS),
        initial_s=60 * initial,
        increment_s=increment,
        white_s=max(0.0, float(white_s)),
        black_s=max(0.0, float(black_s)),
        san="" if told[20] == "none" else told[20],
    )


class _Game:
    def __init__(self) -> None:
        self.positions = PositionTracker()
        self.last: Style12 | None = None
        self.result: Result = "*"
        self.known: list[Move] = []
        """The moves before a gap, with their clocks."""
        self.asked = 0
        """How often the moves before we came were asked for."""

    @property
    def met_late(self) -> bool:
        """The first moves are missing, as far as we can see."""
        return self.positions.start_fen != chess.STARTING_FEN


class FicsText:
    """One server's text: give bytes to :meth:`receive`, send what it answers."""

    def __init__(
        self, server: str, games: Sequence[str], user: str = "", password: str = ""
    ) -> None:
        self._server = server
        self._wanted = games
        self._user = user
        self._password = password
        self._games: dict[tuple[int, str, str], _Game] = {}
        self._ratings: dict[int, tuple[str, int | None, str, int | None]] = {}
        self.reconnected()

    def reconnected(self) -> None:
        """A new connection; the games are remembered."""
        self._rest = b""
        self._greeted = False
        self._list: tuple[int, list[str]] | None = None
        self._refused = 0
        """How many of the games asked for the server does not have."""
        for game in self._games.values():
            game.asked = 0

    @property
    def missing(self) -> bool:
        """The server has none of the games asked for."""
        return 0 < len(self._wanted) <= self._refused

    def receive(self, data: bytes) -> tuple[list[bytes], list[GameReport]]:
        """What to send, and what to report.

        Raises :class:`FicsLoginRefused` and :class:`NotFics`.
        """
        text = self._rest + data
        *lines, self._rest = text.replace(b"\r", b"\n").split(b"\n")
        if len(self._rest) > MAX_LINE_BYTES:
            raise NotFics
        answers: list[bytes] = []
        games: dict[int, GameReport] = {}
        for raw in lines:
            line = _TELNET.sub(b"", raw).decode("latin-1")
            if _RETURN.match(line) and not self._greeted:
                answers.append(b"\n")  # some servers end this prompt with a line's end
                continue
            while found := _PROMPT.match(line):
                answers += self._greet()
                line = line[found.end() :]
            if game := self._line(line, answers):
                games[id(game)] = self._report(game)
        answers += self._prompt()
        return answers, list(games.values())

    # --- getting in ------------------------------------------------------------------------------

    def _prompt(self) -> list[bytes]:
        """Prompts end without a line's end, so they are looked for in what is left."""
        rest = _TELNET.sub(b"", self._rest).decode("latin-1")
        answer: list[bytes] = []
        if rest.rstrip().endswith("login:"):
            answer = [f"{self._user or 'guest'}\n".encode()]
        elif rest.rstrip().endswith("password:"):
            answer = [f"{self._password}\n".encode()]
        elif rest.startswith("Press return to enter the server"):
            if not rest.rstrip().endswith(":"):
                return []
            answer = [b"\n"]
        elif _PROMPT.fullmatch(rest):
            answer = self._greet()
        else:
            return []
        self._rest = b""
        return answer

    def _greet(self) -> list[bytes]:
        if self._greeted:
            return []
        self._greeted = True
        quiet = [b"set style 12\n", b"set seek 0\n", b"set shout 0\n"]
        return quiet + [f"observe {game}\n".encode() for game in self._wanted]

    # --- games -----------------------------------------------------------------------------------

    def _line(self, line: str, answers: list[bytes]) -> _Game | None:
        """The game that a line changes; None when it changes none."""
        if line.startswith("<12>"):
            told = style12(line)
            return self._position(told, answers) if told is not None else None
        if found := _END.match(line):
            return self._end(int(found[1]), found[2], found[3], read_result(found[4]))
        if found := _RATINGS.match(line):
            number, white, white_elo, black, black_elo = found.groups()
            if len(self._ratings) < MAX_GAMES:
                self._ratings[int(number)] = (white, _elo(white_elo), black, _elo(black_elo))
        elif found := _LIST.match(line):
            self._list = (int(found[1]), [])
        elif self._list is not None:
            return self._history(line)
        elif _NO_ENTRY.search(line):
            raise FicsLoginRefused
        elif _NO_GAME.search(line):
            self._refused += 1
        return None

    def _position(self, told: Style12, answers: list[bytes]) -> _Game | None:
        name = (told.game, told.white, told.black)
        if name not in self._games and len(self._games) >= MAX_GAMES:
            # A feed that runs for weeks sees more games than are worth remembering.
            over = next((each for each, game in self._games.items() if game.result != "*"), None)
            if over is None:
                return None
            del self._games[over]
        game = self._games.setdefault(name, _Game())
        before, known = game.positions.number, game.positions.moves
        game.positions.see(told.board, told.san, told.white_s, told.black_s)
        if game.positions.number != before:
            game.result = "*"
        if not game.positions.moves and known:
            game.known = known
        game.last = told
        if told.san and game.met_late and game.asked < MAX_ASKED and self._greeted:
            game.asked += 1
            answers.append(f"moves {told.game}\n".encode())
        return game

    def _end(self, number: int, white: str, black: str, result: Result) -> _Game | None:
        game = self._games.get((number, clean(white, NAME_CHARS), clean(black, NAME_CHARS)))
        if game is None or game.result == result:
            return None
        game.result = result
        return game

    def _history(self, line: str) -> _Game | None:
        """A row of a list of moves, or its end."""
        assert self._list is not None
        number, moves = self._list
        if row := _ROW.match(line):
            moves += [move for move in row.groups() if move and move != "..."]
            return None
        if not _LAST_ROW.match(line):
            return None
        self._list = None
        for (game_number, _, _), game in self._games.items():
            if game_number == number and game.last is not None and game.met_late:
                recalled = PositionTracker()
                if recalled.recall(moves, game.last.board):
                    last = game.last
                    recalled.see(last.board, last.san, last.white_s, last.black_s)
                    recalled.number = game.positions.number
                    recalled.moves[: len(game.known)] = [
                        old if old.uci == new.uci else new
                        for new, old in zip(recalled.moves, game.known, strict=False)
                    ]
                    game.positions, game.asked = recalled, 0
                    return game
        return None

    def _report(self, game: _Game) -> GameReport:
        told = game.last
        assert told is not None
        known = self._ratings.get(told.game)
        elos = known[1::2] if known and known[::2] == (told.white, told.black) else (None, None)
        headers = Headers(
            Player(told.white or "?", elo=_number(elos[0])),
            Player(told.black or "?", elo=_number(elos[1])),
            event=self._server,
            board=told.game or None,
            time_control=f"{told.initial_s}+{told.increment_s}",
        )
        positions = game.positions
        key = f"{self._server}/{told.game}/{told.white}/{told.black}/{positions.number}"
        return GameReport(key, headers, positions.start_fen, tuple(positions.moves), game.result)


def _elo(text: str) -> int | None:
    return int(text) or None if text.isdigit() and len(text) <= 4 else None


def _number(value: str | int | None) -> int | None:
    return value if isinstance(value, int) else None
