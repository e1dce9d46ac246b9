"""DGT LiveChess' websocket protocol: messages in, messages and reports out. Pure.

There is no public description; the messages are those of captures of LiveChess 2 and of clients
that work with it. LiveChess reconstructs the game from the sensors. Once it has been sent the
starting position (``setup``), it sends all moves so far at each event. Before that it sends only
the placement of the pieces, each time a piece is lifted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from itertools import takewhile
from typing import Any

import chess
import msgspec

from live.events import GameReport, Headers, Move, Player
from live.feeds.dgt.game_from_position import BACK_PLIES, found_again, met
from live.feeds.dgt.livechess_pairings import Seat
from live.feeds.pgn.pgn_headers import clean
from live.feeds.san import MAX_PLIES, MoveReader, UnplayableMove

MAX_BOARDS = 768
#: The first moves may be taken back one by one; a longer game that is suddenly empty is over and
#: the pieces stand ready for the next.
NEW_GAME_PLIES = 4
#: Placements remembered of a board met in the middle of its game: a capture is three or four.
SEEN = 6
#: Ask again which boards there are, every so many seconds: more may be plugged in.
BOARDS_S = 30.0


class _Sides(msgspec.Struct):
    white: float | None = None
    black: float | None = None
    run: bool | None = None
    """Whose clock runs: White's (true), Black's, or none."""


class _Event(msgspec.Struct):
    """A board's event; what has not changed is left out."""

    serialnr: str = ""
    board: str | None = None
    clock: _Sides | None = None
    start: str | None = None
    san: list[str] | None = None
    match: bool | None = None
    """Whether the pieces stand as ``san`` leads to."""


class _Message(msgspec.Struct):
    response: str = ""
    id: int = 0
    param: msgspec.Raw = msgspec.Raw(b"null")


class _Board:
    """One board: what is on it and how its game went."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.game = 1
        self.asked = False
        """The setup call was sent."""
        self.start_fen = chess.STARTING_FEN
        self.base: tuple[Move, ...] = ()
        """Moves before the position that LiveChess was sent to continue from."""
        self.base_fen = ""
        """That position; empty when it is the start of the game."""
        self.seen: deque[str] = deque(maxlen=SEEN)
        """Placements of a board met in the middle of its game."""
        self.clock = _Sides()
        self.moves: list[Move] = []
        self.problem: str | None = None

    def place(self, placed: str) -> str | None:
        """Take a placement sent without moves.

        Returns the position to send to LiveChess, once it is known.
        """
        if self.asked or not placed:
            return None
        if placed == chess.STARTING_BOARD_FEN:
            fen = chess.STARTING_FEN
        else:
            try:
                found = self._in_the_middle(placed)
            except ValueError:  # no placement
                return None
            if found is None:  # pieces in the air
                return None
            fen = found
        self.asked = True
        return fen

    def _in_the_middle(self, placed: str) -> str | None:
        if self.moves:
            found = found_again(self.start_fen, self.moves, placed)
            if found is not None:
                board = chess.Board(self.start_fen)
                for move in found:
                    board.push_uci(move.uci)
                self.base, self.base_fen = found, board.fen()
                return self.base_fen
        chess.BaseBoard(placed)
        fens = (met(before, placed) for before in self.seen)
        fen = next((fen for fen in fens if fen is not None), None)
        if placed not in self.seen:
            self.seen.append(placed)
        if fen is not None:
            # Too many moves were missed: what comes from here on counts as a new game.
            self.game += bool(self.moves)
            self.moves, self.base, self.base_fen = [], (), ""
            self.seen.clear()
        return fen

    def begins(self, fen: str) -> None:
        """LiveChess sends moves from this position on."""
        if fen == self.base_fen:
            return
        self.base, self.base_fen = (), ""
        self.start_fen = fen

    def set_moves(self, san: list[str]) -> None:
        """Take all moves so far, as sent; moves already known keep their clocks."""
        before, self.moves, self.problem = self.moves, [], None
        board = chess.Board(self.start_fen)
        for ply, known in enumerate(self.base):
            board.push_uci(known.uci)
            told = ply < len(before) and before[ply].uci == known.uci
            self.moves.append(before[ply] if told else known)
        mover = MoveReader(board)
        for ply, text in enumerate(san[:MAX_PLIES], start=len(self.base)):
            white = board.turn == chess.WHITE
            try:
                uci, played = mover.play_san(text)
            except UnplayableMove as error:
                self.problem = f"{error} at ply {ply + 1}"
                return
            # Only the newest move is sent with its clock.
            latest = ply == len(self.base) + len(san) - 1
            clock_s = (self.clock.white if white else self.clock.black) if latest else None
            held = before[ply] if ply < len(before) else None
            self.moves.append(held if held and held.uci == uci else Move(uci, played, clock_s))
        kept = len(list(takewhile(_same, zip(before, self.moves, strict=False))))
        if self._another(len(before), kept):
            self.game += 1
            self.moves[:kept] = [Move(move.uci, move.san) for move in self.moves[:kept]]

    def _another(self, plies: int, kept: int) -> bool:
        """Whether the moves sent now, which keep ``kept`` of ``plies`` plies, are another game."""
        if not self.moves:
            return plies >= NEW_GAME_PLIES
        # Nobody listened when it began: its moves are others, or hardly any.
        return plies - kept > BACK_PLIES and (kept < len(self.moves) or kept < NEW_GAME_PLIES)

    def pressed(self) -> bool:
        """Whether the newest move's player has pressed the clock and it shows another time: a move
        is sensed before, and only then the clock stands still, with the increment on it.
        """
        white_first = self.start_fen.split()[1] == "w"
        white_to_move = white_first == (len(self.moves) % 2 == 0)
        if not self.moves or self.clock.run is not white_to_move:
            return False
        left_s = self.clock.black if white_to_move else self.clock.white
        if left_s is None or left_s == self.moves[-1].clock_s:
            return False
        self.moves[-1] = msgspec.structs.replace(self.moves[-1], clock_s=left_s)
        return True


def _same(pair: tuple[Move, Move]) -> bool:
    held, sent = pair
    return held.uci == sent.uci


class LiveChessMessages:
    """All boards of one LiveChess.

    Send what :meth:`ask` gives after connecting and every :data:`BOARDS_S`; give each message to
    :meth:`receive`, send what it says, and report the games it gives.
    """

    def __init__(self) -> None:
        self._calls = 0
        self._seats: dict[str, Seat] = {}
        self._boards: dict[str, _Board] = {}
        self._feeds: dict[int, str] = {}
        self._subscribed: set[str] = set()

    def reconnected(self) -> None:
        """Subscriptions are gone, the games are not."""
        self._feeds.clear()
        self._subscribed.clear()
        for board in self._boards.values():
            board.asked = False

    def seat(self, seats: Mapping[str, Seat]) -> list[GameReport]:
        """Who plays on which board, by serial number; the games of which that is news."""
        changed = [serial for serial, seat in seats.items() if self._seats.get(serial) != seat]
        self._seats.update(seats)
        return [self._report(each, self._boards[each]) for each in changed if each in self._boards]

    def ask(self) -> bytes:
        """Ask which boards there are."""
        return self._call("eboards")

    def receive(self, raw: str | bytes) -> tuple[list[bytes], list[GameReport]]:
        """What to send and what to report after a message. Never raises."""
        try:
            message = msgspec.json.decode(raw, type=_Message)
            if message.response == "call":
                return self._subscriptions(msgspec.json.decode(message.param)), []
            if message.response == "feed" and message.id in self._feeds:
                return self._event(message.id, msgspec.json.decode(message.param, type=_Event))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass
        return [], []

    def _subscriptions(self, boards: Any) -> list[bytes]:
        """The answer to ``eboards`` is a list; other calls answer null."""
        sent = []
        for told in boards if isinstance(boards, list) else ():
            serial = str(told.get("serialnr") or "") if isinstance(told, dict) else ""
            if not serial or serial in self._subscribed or len(self._subscribed) >= MAX_BOARDS:
                continue
            self._subscribed.add(serial)
            if serial not in self._boards:
                self._boards[serial] = _Board(len(self._boards) + 1)
            feed = self._boards[serial].number
            self._feeds[feed] = serial
            wanted = {"feed": "eboardevent", "id": feed, "param": {"serialnr": serial}}
            sent.append(self._call("subscribe", wanted))
        return sent

    def _event(self, feed: int, event: _Event) -> tuple[list[bytes], list[GameReport]]:
        serial = self._feeds[feed]
        board = self._boards[serial]
        if event.clock is not None:
            board.clock = event.clock
        if event.san is None:
            reports = [self._report(serial, board)] if board.pressed() else []
            fen = board.place((event.board or "").partition(" ")[0])
            if fen is None:
                return [], reports
            setup = {"id": feed, "method": "setup", "param": {"fen": fen}}
            return [self._call("call", setup)], reports
        if event.start:
            try:
                board.begins(chess.Board(event.start).fen())
            except ValueError:
                return [], []
        board.set_moves(event.san)
        board.pressed()
        if event.match:
            # It knows where the game stands, whatever a piece in the air made it doubt.
            board.asked = True
        reports = [self._report(serial, board)]
        if event.match is False and board.base_fen and event.board:
            # It goes on from a position that was itself corrected, and cannot find out alone.
            board.asked = False
            fen = board.place(event.board.partition(" ")[0])
            if fen is not None and fen != event.start:
                setup = {"id": feed, "method": "setup", "param": {"fen": fen}}
                return [self._call("call", setup)], reports
        return [], reports

    def _report(self, serial: str, board: _Board) -> GameReport:
        name = clean(serial, 40)
        headers = Headers(Player("?"), Player("?"), event=f"Board {name}", board=board.number)
        seat = self._seats.get(serial)
        if seat is not None:
            headers = Headers(
                seat.white,
                seat.black,
                event=seat.event,
                round=f"{seat.round}.{seat.board}",
                board=seat.board,
            )
        return GameReport(
            f"{name}/{board.game}",
            headers,
            board.start_fen,
            tuple(board.moves),
            "*" if seat is None else seat.result,
            problem=board.problem,
        )

    def _call(self, call: str, param: object = None) -> bytes:
        self._calls += 1
        message: dict[str, object] = {"id": self._calls, "call": call}
        if param is not None:
            message["param"] = param
        return msgspec.json.encode(message)
