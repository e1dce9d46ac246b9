"""Websocket protocol of DGT LiveChess: converts its messages to replies and reports. No
I/O.

There is no public description. The messages are known from recordings of LiveChess 2
and from clients that work with it. LiveChess reconstructs the game from the sensors.
After it has been sent a starting position (``setup``), it sends all moves so far with
each event. Before that it only sends the placement of the pieces, each time a piece is
lifted.
"""

from collections.abc import Generator

import chess
import msgspec
from msgspec.structs import replace

from live.messages.from_sources import GameReport
from live.messages.values import Value
from live.sources.foreign_json import ForeignObject, add_unread, read_json, read_value
from live.sources.game_line import MAX_PLIES
from live.sources.hall import Hall
from live.sources.hall_board import Clocks, HallBoard

Reaction = tuple[list[bytes], list[GameReport]]
"""Messages to send and games to report after a received message."""


class _Sides(Value):
    white: float | None = None
    black: float | None = None
    run: bool | None = None
    """True if White's clock runs, false if Black's does, None if neither does."""


class _Event(ForeignObject):
    """Event of a board. Unchanged values are omitted."""

    board: str | None = None
    clock: _Sides | None = None
    start: str | None = None
    san: tuple[str, ...] | None = None
    match: bool | None = None
    """Whether the pieces are as they should be after the moves in ``san``."""


class _Message(Value):
    response: str = ""
    id: int = 0
    param: object = None


class _Listed(Value):
    """An entry in the list of connected boards."""

    serialnr: str = ""


class LiveChessMessages:
    """Handler of the messages of one LiveChess and its boards.

    Send the result of :meth:`build_boards_request` after connecting, and then
    regularly. Pass each received message to :meth:`apply_message`, send the messages it
    returns and report the games. Exhaust its generator before passing the next message:
    it yields between pieces of long work.
    """

    def __init__(self, hall: Hall | None = None) -> None:
        self.hall = hall or Hall()
        self._calls = 0
        self._unread: dict[str, dict[str, str]] = {}
        """Unreadable parts of the last event of each board, by the board's serial
        number.
        """
        self._unread_pairings: dict[str, dict[str, str]] = {}
        self._damage = ""

    @property
    def note(self) -> str:
        """Message for people about the boards and the last message."""
        return "; ".join(filter(None, [self.hall.note, self._damage]))

    def take_changed_games(self, *boards: HallBoard) -> list[GameReport]:
        """Return the games that have changed and the games of the boards in ``boards``,
        each with its unread parts described.
        """
        games = {game.key: game for game in self.hall.take_changed_games()}
        for board in boards:
            if (game := self.hall.game_of_board(board)) is not None:
                games[game.key] = game
        if games and (self._unread or self._unread_pairings):
            for board in self.hall.boards.values():
                if board.key in games:
                    games[board.key] = self._add_unreadable(
                        games[board.key], board.serial
                    )
        return list(games.values())

    def update_unread_pairings(
        self, unread: dict[str, dict[str, str]]
    ) -> list[HallBoard]:
        """Store the unreadable parts of pairings, by serial number. Return the boards
        for which they have changed.
        """
        before = self._unread_pairings
        self._unread_pairings = unread
        changed = [
            serial
            for serial in {**before, **unread}
            if before.get(serial) != unread.get(serial)
        ]
        return [
            self.hall.boards[serial] for serial in changed if serial in self.hall.boards
        ]

    def _add_unreadable(self, game: GameReport, serial: str) -> GameReport:
        unread = self._unread.get(serial, {})
        all_unread = self._unread_pairings.get(serial, {}) | unread
        if description := all_unread.pop("san", None):
            problem = f"its moves cannot be read ({description})"
            game = replace(game, problem=problem, unread=("moves",))
        return add_unread(game, all_unread)

    def build_boards_request(self) -> bytes:
        """Return the message that asks for the list of boards."""
        return self._encode_call("eboards")

    def apply_message(
        self, raw: str | bytes, now_s: float
    ) -> Generator[None, None, Reaction]:
        """Process one received message. Yields between pieces of work; returns the
        replies and the changed games. Never raises.
        """
        message = read_json(raw, _Message)
        self._damage = "" if message is not None else "a message of it is damaged JSON"
        if message is None:
            return [], []
        if message.response == "call":
            sent = self._build_board_subscriptions(message.param, now_s)
            return sent, self.take_changed_games()
        event = read_value(message.param, _Event)
        boards = list(self.hall.boards.values())
        is_known = message.response == "feed" and 0 < message.id <= len(boards)
        if event is None or not is_known:
            return [], self.take_changed_games()
        yield
        board = boards[message.id - 1]
        before = self._unread.pop(board.serial, {})
        unread = event.unread
        if event.san is None:
            # The event has no moves, so moves that could not be read before are still
            # missing.
            unread = {
                path: before[path] for path in ("san", "start") if path in before
            } | unread
        if unread:
            self._unread[board.serial] = unread
        sent = yield from self._apply_event(board, event, now_s)
        changed_boards = [board] if unread != before else []
        return sent, self.take_changed_games(*changed_boards)

    def _build_board_subscriptions(self, boards: object, now_s: float) -> list[bytes]:
        """Return the messages that subscribe to new boards. Only the answer to
        ``eboards`` is a list.
        """
        sent = []
        for entry in boards if isinstance(boards, list) else ():
            listed = read_value(entry, _Listed) or _Listed()
            serial = listed.serialnr
            board = self.hall.find_or_add_board(serial, now_s) if serial else None
            if board is not None and not board.is_subscribed:
                board.is_subscribed = True
                parameters = {
                    "feed": "eboardevent",
                    "id": board.number,
                    "param": {"serialnr": serial},
                }
                sent.append(self._encode_call("subscribe", param=parameters))
        return sent

    def _apply_event(
        self, board: HallBoard, event: _Event, now_s: float
    ) -> Generator[None, None, list[bytes]]:
        placed = (event.board or "").partition(" ")[0]
        if event.clock is not None:
            board.clocks = Clocks(event.clock.white, event.clock.black, event.clock.run)
        if event.unread.keys() & {"san", "start"}:
            # Moves that cannot be read, or that start from an unknown position, are
            # treated as if they had not been received.
            self.hall.apply_clocks(board, now_s)
            return []
        if event.san is None:
            self.hall.apply_clocks(board, now_s)
            return self._build_setup_message(
                board, self.hall.apply_placement(board, placed, now_s)
            )
        try:
            start = chess.Board(event.start) if event.start else None
        except ValueError:
            return []
        yield from self.hall.apply_moves(board, start, event.san[:MAX_PLIES], now_s)
        if event.match:
            # LiveChess knows the position, even if a lifted piece has caused doubt.
            board.is_set_up = True
        elif event.match is False and board.is_first_seen_in_progress and placed:
            # LiveChess continues from a position that was itself a correction, and
            # cannot find the right position alone.
            board.is_set_up = False
            fen = self.hall.apply_placement(board, placed, now_s)
            return self._build_setup_message(board, None if fen == event.start else fen)
        return []

    def _build_setup_message(self, board: HallBoard, fen: str | None) -> list[bytes]:
        """Return the message that sets a position in LiveChess; none if ``fen`` is
        None.
        """
        if fen is None:
            return []
        return [
            self._encode_call(
                "call",
                param={"id": board.number, "method": "setup", "param": {"fen": fen}},
            )
        ]

    def _encode_call(self, call: str, **fields: object) -> bytes:
        self._calls += 1
        return msgspec.json.encode({"id": self._calls, "call": call, **fields})
