"""``--feed ws://HOST:1982/api/v1.0``: boards in the hall, through DGT LiveChess on its computer.

The boards' events have neither players nor results; those come from the pairings of the tournament
that runs in LiveChess, where one does. The feed has no end.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from itertools import takewhile
from typing import Any, TypeVar

import chess
import httpx
import msgspec
from msgspec.structs import replace
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from live.events import FeedName, GameReport, Headers, Move, Player, Result
from live.feeds import http_client
from live.feeds.feed import FeedConditions, FeedSession, SessionFeed
from live.feeds.game_line import GameLine, ListedMove
from live.feeds.livechess_cloud import RESULTS, CloudPairing, player_of
from live.feeds.pgn_headers import clean
from live.feeds.position_tracker import PositionTracker, single_move
from live.feeds.results import read_result
from live.feeds.retry import FeedTrouble, system_words, unreadable
from live.feeds.source_address import FeedAddress

# Where a game stands, found from the placement of its pieces. Pure.
#
# LiveChess sends only the placement until it has been sent the starting position. Whether it
# remembers that position after a lost connection is not documented. If it does not, the game in
# progress is found again here, and LiveChess is sent the position to continue from.


def found_again(
    start_fen: str, moves: Sequence[Move], placed: str
) -> tuple[tuple[Move, ...], str] | None:
    """The moves that lead to the pieces as ``placed`` (the first field of a FEN), and the position.

    The moves held, some of the last ones fewer or one corrected, or one or two more; None where no
    such way leads there, as with a piece in the air.
    """
    for turn in chess.COLORS:
        game = PositionTracker(chess.Board(start_fen))
        for move in moves:
            game.play(move.uci)
        if game.find(_board(placed, turn)):
            return tuple(game.moves), game.board.fen()
    return None


def met(before: str, now: str) -> str | None:
    """The FEN of a game met in the middle: ``now`` came from ``before`` by one side's move, so the
    other is to move. Castling is allowed where king and rook stand at home. None where no move, or
    one of either side, leads there.
    """
    movers = []
    for turn in chess.COLORS:
        board = _board(before, turn)
        if board.king(chess.WHITE) is None or board.king(chess.BLACK) is None:
            return None
        board.castling_rights = board.rooks
        board.castling_rights = board.clean_castling_rights()
        played = single_move(board, chess.BaseBoard(now))
        if played is not None:
            board.push(played)
            board.halfmove_clock, board.fullmove_number = 0, 1
            movers.append(board.fen())
    return movers[0] if len(movers) == 1 else None


def _board(placed: str, turn: chess.Color) -> chess.Board:
    """Raises ValueError where it is no placement."""
    board = chess.Board(None)
    board.set_board_fen(placed)
    board.turn = turn
    return board


# Who plays on which board, asked of DGT LiveChess in the hall.
#
# LiveChess answers HTTP beside its websocket, on the same port: ``/api/v1.0/tournaments``,
# ``/tournament/ID`` (with the serial numbers of its boards, in order), ``/round/ID/N`` (pairings
# with players, result and whether the game is live). There is no public description; the paths and
# fields are those that the PyPI package ``livechess`` 0.1.0 reads.


log = logging.getLogger(__name__)

MAX_BYTES = 4_000_000
#: Bounds of what is asked for at one look.
MAX_TOURNAMENTS, MAX_ROUNDS = 4, 30


class _Tournament(msgspec.Struct):
    """In the list of tournaments only its ``uuid``."""

    uuid: str = ""
    name: str | None = None
    rounds: int = 0
    eboards: list[str | None] = []


class _Pairing(CloudPairing):
    nr: int = 0


class _Round(msgspec.Struct):
    nr: int | None = None
    pairings: list[_Pairing] = []


#: What the pairings say of one board.
Seat = tuple[Headers, Result]
Seats = dict[str, Seat]
"""By the serial number of the board."""
T = TypeVar("T")


async def ask_seats(client: httpx.AsyncClient, feed: FeedName, url: str) -> Seats:
    """The seats by the serial numbers of the boards; ``url`` is that of the websocket.

    Of several rounds the last counts in which the board's game is live or has a result. Empty
    where LiveChess has no tournament, or does not answer.
    """
    base = f"http{url.removeprefix('ws')}".rstrip("/")

    async def get(path: str, kind: type[T]) -> T | None:
        try:
            answer = await http_client.get(client, feed, f"{base}/{path}", max_bytes=MAX_BYTES)
        except FeedTrouble as error:
            log.debug("%s: %s: %s", feed, path, error)
            return None
        return http_client.read_json(answer.body, kind) if answer is not None else None

    seats: Seats = {}
    for listed in (await get("tournaments", list[_Tournament]) or [])[:MAX_TOURNAMENTS]:
        tournament = await get(f"tournament/{listed.uuid}", _Tournament) or _Tournament()
        for number in range(min(tournament.rounds, MAX_ROUNDS)):
            round_ = await get(f"round/{listed.uuid}/{number}", _Round) or _Round()
            told = number + 1 if round_.nr is None else round_.nr
            for pairing in round_.pairings:
                seats.update(_seat(tournament, told, pairing))
    return seats


def _seat(tournament: _Tournament, number: int, pairing: _Pairing) -> Seats:
    """By the serial number of its board; empty where nobody plays or has played there."""
    serial = dict(enumerate(tournament.eboards, start=1)).get(pairing.nr)
    if not serial or not (pairing.live or pairing.result) or not (pairing.white or pairing.black):
        return {}
    headers = Headers(
        player_of(pairing.white),
        player_of(pairing.black),
        event=clean(tournament.name or "", 200),
        round=f"{number}.{pairing.nr}",
        board=pairing.nr,
    )
    result = pairing.result or ""
    return {serial: (headers, RESULTS.get(result) or read_result(result))}


# DGT LiveChess' websocket protocol: messages in, messages and reports out. Pure.
#
# There is no public description; the messages are those of captures of LiveChess 2 and of clients
# that work with it. LiveChess reconstructs the game from the sensors. Once it has been sent the
# starting position (``setup``), it sends all moves so far at each event. Before that it sends only
# the placement of the pieces, each time a piece is lifted.


Reaction = tuple[list[bytes], list[GameReport]]
"""What to send and what to report after a message."""

MAX_BOARDS = 768
#: The first moves may be taken back one by one; a longer game that is suddenly empty is over and
#: the pieces stand ready for the next.
NEW_GAME_PLIES = 4
#: Moves taken back while nobody listened, at most.
BACK_PLIES = 8
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

    def __init__(self, serial: str, number: int) -> None:
        self.serial = serial
        self.number = number
        """Of the board among all, and of what is subscribed to for it."""
        self.subscribed = False
        self.game = 1
        self.asked = False
        """The setup call was sent."""
        self.line = GameLine()
        """What LiveChess sent last, behind ``base``."""
        self.base: tuple[Move, ...] = ()
        """Moves before the position that LiveChess was sent to continue from."""
        self.base_fen = ""
        """That position; empty when it is the start of the game."""
        self.seen: deque[str] = deque(maxlen=SEEN)
        """Placements of a board met in the middle of its game."""
        self.clock = _Sides()
        self.moves: list[Move] = []

    def place(self, placed: str) -> str | None:
        """Take a placement sent without moves.

        Returns the position to send to LiveChess, once it is known.
        """
        if self.asked or not placed:
            return None
        fen: str | None = chess.STARTING_FEN
        if placed != chess.STARTING_BOARD_FEN:
            try:
                fen = self._in_the_middle(placed)
            except ValueError:  # no placement
                return None
        self.asked = fen is not None  # else pieces are in the air
        return fen

    def _in_the_middle(self, placed: str) -> str | None:
        if self.moves and (found := found_again(self.line.start.fen(), self.moves, placed)):
            self.base, self.base_fen = found
            return self.base_fen
        chess.BaseBoard(placed)
        fen = next(filter(None, (met(before, placed) for before in self.seen)), None)
        if placed not in self.seen:
            self.seen.append(placed)
        if fen is not None:
            # Too many moves were missed: what comes from here on counts as a new game.
            self.game += bool(self.moves)
            self.moves, self.base, self.base_fen = [], (), ""
            self.seen.clear()
        return fen

    def set_moves(self, start: chess.Board | None, san: list[str]) -> None:
        """Take all moves so far, as sent, from where LiveChess began to follow; moves already known
        keep their clocks.
        """
        if start is not None and start.fen() != self.base_fen:
            self.base, self.base_fen = (), ""
        elif start is not None:
            start = self.line.start
        before, base = self.moves, [ListedMove(move.san) for move in self.base]
        self.line.set([*base, *map(ListedMove, san)], start)
        self.moves = list(self.line.moves)
        newest = len(base) + len(san) - 1
        for ply, now in enumerate(self.moves):
            if ply < len(before) and before[ply].uci == now.uci:
                self.moves[ply] = before[ply]
            elif ply == newest:  # only the newest move is sent with its clock
                white = self.line.start.turn == (ply % 2 == 0)
                clock_s = self.clock.white if white else self.clock.black
                self.moves[ply] = replace(now, clock_s=clock_s)
        pairs = zip(before, self.moves, strict=False)
        kept = len(list(takewhile(lambda pair: pair[0].uci == pair[1].uci, pairs)))
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
        white_to_move = self.line.start.turn == (len(self.moves) % 2 == 0)
        if not self.moves or self.clock.run is not white_to_move:
            return False
        left_s = self.clock.black if white_to_move else self.clock.white
        if left_s is None or left_s == self.moves[-1].clock_s:
            return False
        self.moves[-1] = replace(self.moves[-1], clock_s=left_s)
        return True


class LiveChessMessages:
    """All boards of one LiveChess.

    Send what :meth:`ask` gives after connecting and every :data:`BOARDS_S`; give each message to
    :meth:`receive`, send what it says, and report the games it gives.
    """

    def __init__(self) -> None:
        self._calls = 0
        self._seats: Seats = {}
        self._boards: dict[str, _Board] = {}
        """In the order of their numbers."""

    def reconnected(self) -> None:
        """Subscriptions are gone, the games are not."""
        for board in self._boards.values():
            board.subscribed = board.asked = False

    def seat(self, seats: Seats) -> list[GameReport]:
        """Who plays on which board, by serial number; the games of which that is news."""
        changed = [serial for serial, seat in seats.items() if self._seats.get(serial) != seat]
        self._seats.update(seats)
        return [self._report(self._boards[each]) for each in changed if each in self._boards]

    def ask(self) -> bytes:
        """Ask which boards there are."""
        return self._call("eboards")

    def receive(self, raw: str | bytes) -> Reaction:
        """Never raises."""
        message = http_client.read_json(raw, _Message) or _Message()
        if message.response == "call":
            return self._subscriptions(http_client.read_json(message.param, object)), []
        event = http_client.read_json(message.param, _Event)
        boards = list(self._boards.values())
        known = message.response == "feed" and 0 < message.id <= len(boards)
        return self._event(boards[message.id - 1], event) if event and known else ([], [])

    def _subscriptions(self, boards: Any) -> list[bytes]:
        """The answer to ``eboards`` is a list; other calls answer null."""
        sent = []
        for each in boards if isinstance(boards, list) else ():
            serial = str(each.get("serialnr") or "") if isinstance(each, dict) else ""
            if serial and serial not in self._boards and len(self._boards) < MAX_BOARDS:
                self._boards[serial] = _Board(serial, len(self._boards) + 1)
            found = self._boards.get(serial)
            if found is not None and not found.subscribed:
                found.subscribed = True
                about = {"feed": "eboardevent", "id": found.number, "param": {"serialnr": serial}}
                sent.append(self._call("subscribe", param=about))
        return sent

    def _event(self, board: _Board, event: _Event) -> Reaction:
        placed = (event.board or "").partition(" ")[0]
        if event.clock is not None:
            board.clock = event.clock
        if event.san is None:
            reports = [self._report(board)] if board.pressed() else []
            return self._setup(board, board.place(placed)), reports
        try:
            start = chess.Board(event.start) if event.start else None
        except ValueError:
            return [], []
        board.set_moves(start, event.san)
        board.pressed()
        if event.match:
            # It knows where the game stands, whatever a piece in the air made it doubt.
            board.asked = True
        sent = []
        if event.match is False and board.base_fen and event.board:
            # It goes on from a position that was itself corrected, and cannot find out alone.
            board.asked = False
            fen = board.place(placed)
            sent = self._setup(board, None if fen == event.start else fen)
        return sent, [self._report(board)]

    def _setup(self, board: _Board, fen: str | None) -> list[bytes]:
        """Send LiveChess the position, if there is one to send."""
        if fen is None:
            return []
        return [
            self._call("call", param={"id": board.number, "method": "setup", "param": {"fen": fen}})
        ]

    def _report(self, board: _Board) -> GameReport:
        name, nobody = clean(board.serial, 40), Player("?")
        unknown = Headers(nobody, nobody, event=f"Board {name}", board=board.number)
        headers, result = self._seats.get(board.serial, (unknown, "*"))
        moves, line = tuple(board.moves), board.line
        key = f"{name}/{board.game}"
        return GameReport(key, headers, line.start.fen(), moves, result, None, line.problem)

    def _call(self, call: str, **more: object) -> bytes:
        self._calls += 1
        return msgspec.json.encode({"id": self._calls, "call": call, **more})


MAX_MESSAGE_BYTES = 1 << 20


class LiveChessFeed(SessionFeed):
    """Follows every board that one LiveChess has."""

    def __init__(self, source: FeedAddress, conditions: FeedConditions) -> None:
        super().__init__(source.name, conditions)
        self._url = source.target
        self._boards = LiveChessMessages()
        self._asking: set[asyncio.Task[None]] = set()

    async def _follow(self, session: FeedSession) -> None:
        timeout_s = self._config.timeout_s
        try:
            async with connect(
                self._url,
                open_timeout=timeout_s,
                close_timeout=timeout_s,
                max_size=MAX_MESSAGE_BYTES,
                proxy=None,  # the hall's own network
            ) as connection:
                try:
                    await self._listen(connection, session)
                finally:
                    for task in self._asking:
                        task.cancel()
                    await asyncio.gather(*self._asking, return_exceptions=True)
        except (InvalidURI, InvalidHandshake) as error:
            wrong = isinstance(error, InvalidURI)
            problem = "is no websocket address" if wrong else "answers, but is no LiveChess"
            raise unreadable(self.name, problem, "It looks like ws://HOST:1982/api/v1.0") from error
        except ConnectionClosed as error:
            raise FeedTrouble("connection to LiveChess lost") from error
        except TimeoutError as error:
            raise FeedTrouble("LiveChess does not answer") from error
        except OSError as error:
            why = system_words(error) or "no connection"
            raise FeedTrouble(f"cannot reach LiveChess ({why})") from error

    async def _ask_pairings(self, session: FeedSession) -> None:
        """Look at the pairings once; without any the boards stay without names."""
        async with http_client.client(self._config) as client:
            games = self._boards.seat(await ask_seats(client, self.name, self._url))
        if games:
            await session.report(games)

    async def _listen(self, connection: ClientConnection, session: FeedSession) -> None:
        self._boards.reconnected()
        clock = self._clock
        asked_s = float("-inf")
        while True:
            # Clocks that run speak every second: silence is not waited for.
            if clock.now() - asked_s >= BOARDS_S:
                await connection.send(self._boards.ask(), text=True)
                asked_s = clock.now()
                session.alive()
                if not self._asking:
                    asking = asyncio.create_task(self._ask_pairings(session), name="pairings")
                    self._asking.add(asking)
                    asking.add_done_callback(self._asking.discard)
            try:
                async with clock.deadline(asked_s + BOARDS_S - clock.now()):
                    message = await connection.recv()
            except TimeoutError:
                continue
            answers, games = self._boards.receive(message)
            for answer in answers:
                await connection.send(answer, text=True)
            if games:
                await session.report(games)
