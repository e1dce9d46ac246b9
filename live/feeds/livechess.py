"""``--feed ws://HOST:1982/api/v1.0``: boards in the hall, through DGT LiveChess on its
computer.

The boards' events have neither players nor results; those come from the pairings of the
tournament that runs in LiveChess, where one does. Which game that makes is
:mod:`live.feeds.hall`'s to say. The feed has no end.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Generator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import chess
import httpx
import msgspec
from msgspec.structs import replace
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
from websockets.frames import CloseCode

from live.clock import LoopShare
from live.events import FeedName, GameReport, Headers, Value
from live.feeds import http_client
from live.feeds.feed import FeedConditions, FeedSession, SessionFeed
from live.feeds.foreign_json import (
    ForeignObject,
    add_unread,
    describe_no_json,
    describe_unread,
    fill_unread,
    read_json,
    read_value,
)
from live.feeds.game_line import MAX_PLIES
from live.feeds.hall import MAX_BOARDS, Hall
from live.feeds.hall_board import Clocks, HallBoard, Seat, Seats
from live.feeds.livechess_cloud import CloudPairing, read_cloud_player
from live.feeds.pgn_headers import clean_text
from live.feeds.retry import FeedTrouble, create_fatal_trouble, describe_os_error
from live.feeds.source_address import FeedAddress
from live.feeds.websocket_client import SourceSocket, open_websocket

# Who plays on which board, asked of DGT LiveChess in the hall.
#
# LiveChess answers HTTP beside its websocket, on the same port:
# ``/api/v1.0/tournaments``, ``/tournament/ID`` (with the serial numbers of its boards,
# in order), ``/round/ID/N`` (pairings with players, result and whether the game is
# live). There is no public description; the paths and fields are those that the PyPI
# package ``livechess`` 0.1.0 reads.


log = logging.getLogger(__name__)

#: Of one answer: a round of :data:`MAX_BOARDS` pairings takes less.
MAX_BYTES = 1 << 19
#: Bounds of what is asked for at one look, and of what is said of it.
MAX_TOURNAMENTS, MAX_ROUNDS, MAX_NOTES = 4, 30, 5
#: Pairings that are read in one go, 50 us each.
SEATS_A_PIECE = 64


class _Tournament(ForeignObject):
    """In the list of tournaments only its ``uuid``."""

    uuid: str = ""
    name: str | None = None
    rounds: int | None = None
    eboards: tuple[object, ...] | None = None
    """Serial numbers by table; one that cannot be read costs its own table alone."""


class _Pairing(CloudPairing):
    nr: int = 0


class _Round(ForeignObject):
    nr: int | None = None
    pairings: tuple[_Pairing, ...] | None = None


T = TypeVar("T")


class Pairings:
    """Asks one LiveChess who plays at its boards; what does not answer, or cannot be
    read, stays as it was, since a round that cannot be read just now is no round that
    has gone.
    """

    def __init__(self, feed: FeedName, url: str) -> None:
        """``url`` is that of the websocket."""
        self._feed = feed
        self._base = f"http{url.removeprefix('ws')}".rstrip("/")
        self._answers: dict[str, Any] = {}
        """By path, those of the last look."""
        self._notes: list[str] = []
        self.unread: dict[str, dict[str, str]] = {}
        """What could not be read of pairings in the last look, by serial number."""

    @property
    def note(self) -> str:
        """What else could not be read in the last look, for people."""
        return "; ".join(self._notes[:MAX_NOTES])

    async def fetch_pairings(
        self, client: httpx.AsyncClient, share: LoopShare
    ) -> Seats | None:
        """Return all pairings of the boards, rounds in order; None where LiveChess
        never said.
        """
        before, self._answers = self._answers, {}
        self._notes = []
        self.unread = {}

        async def get(path: str, kind: type[T]) -> T | None:
            answer = None
            try:
                url = f"{self._base}/{path}"
                answer = await http_client.fetch_body(
                    client, self._feed, url, max_bytes=MAX_BYTES
                )
            except FeedTrouble as error:
                log.debug("%s: %s: %s", self._feed, path, error)
            read = None if answer is None else read_json(answer.body, kind)
            if answer is not None and read is None:
                self._notes.append(f"{path} is {describe_no_json(answer.body)}")
            return read

        listed: tuple[_Tournament, ...] | None = await get(
            "tournaments", tuple[_Tournament, ...]
        )
        listed = _merge_tournaments(listed, before.get("tournaments"))
        if listed is None:
            return None
        self._answers["tournaments"] = listed
        seats: dict[str, dict[tuple[str, int], Seat]] = {}
        for each in listed:
            path = f"tournament/{each.uuid}"
            tournament = _merge_tournament(
                await get(path, _Tournament), before.get(path)
            )
            self._answers[path] = tournament
            self._note_unread(path, tournament.unread)
            self._note_serials(path, tournament)
            for number in range(min(tournament.rounds or 0, MAX_ROUNDS)):
                path = f"round/{each.uuid}/{number}"
                round_ = _merge_round(await get(path, _Round), before.get(path))
                self._answers[path] = round_
                self._note_unread(path, round_.unread)
                told = number + 1 if round_.nr is None else round_.nr
                for serial, seat in await share.run(
                    self._read_seats(tournament, told, round_)
                ):
                    seats.setdefault(serial, {})[each.uuid, number] = seat
        return {serial: tuple(rounds.values()) for serial, rounds in seats.items()}

    def _read_seats(
        self, tournament: _Tournament, number: int, round_: _Round
    ) -> Generator[None, None, list[tuple[str, Seat]]]:
        """Return who sits at the boards in a round, by serial number; yields between
        pieces.
        """
        serials = dict(enumerate(map(_read_serial, tournament.eboards or ()), start=1))
        found = []
        for place, pairing in enumerate(round_.pairings or ()):
            if place % SEATS_A_PIECE == 0:
                yield
            serial = serials.get(pairing.nr)
            if not serial:
                self._note_unread(f"a pairing of round {number}", pairing.unread)
                continue
            if pairing.unread:
                self.unread[serial] = pairing.unread
            if (pairing.white or pairing.black) and _is_result_known(pairing):
                found.append((serial, _create_seat(tournament.name, number, pairing)))
        return found

    def _note_serials(self, path: str, tournament: _Tournament) -> None:
        for table, serial in enumerate(tournament.eboards or (), start=1):
            if serial is not None and _read_serial(serial) is None:
                self._notes.append(
                    f"{clean_text(path, 80)}: the board of table {table} cannot be read"
                )

    def _note_unread(self, what: str, unread: Mapping[str, str]) -> None:
        if unread:
            self._notes.append(f"{clean_text(what, 80)}: {describe_unread(unread)}")


# What is asked for again and again: as it is now, with what it was where that cannot be
# read.


def _merge_tournaments(
    now: tuple[_Tournament, ...] | None, before: tuple[_Tournament, ...] | None
) -> tuple[_Tournament, ...] | None:
    if now is None:
        return before
    listed = list(now[:MAX_TOURNAMENTS])
    for at, each in enumerate(before or ()):
        if at < len(listed) and listed[at].unread:
            listed[at] = each
    return tuple(listed)


def _merge_tournament(
    now: _Tournament | None, before: _Tournament | None
) -> _Tournament:
    before = before or _Tournament()
    if now is None:
        return before
    now = fill_unread(now, before, "name")
    return replace(
        now,
        rounds=before.rounds if now.rounds is None else now.rounds,
        eboards=_merge_serials(now.eboards, before.eboards or ()),
    )


def _merge_serials(
    now: tuple[object, ...] | None, before: tuple[object, ...]
) -> tuple[object, ...]:
    if now is None:
        return before
    listed = list(now[:MAX_BOARDS])
    for at, serial in enumerate(before[: len(listed)]):
        if listed[at] is not None and _read_serial(listed[at]) is None:
            listed[at] = serial
    return tuple(listed)


def _read_serial(value: object) -> str | None:
    """Return the serial number of a board; None where there is none or it is odd."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return clean_text(value, 40) or None if isinstance(value, str) else None


def _merge_round(now: _Round | None, before: _Round | None) -> _Round:
    before = before or _Round()
    if now is None:
        return before
    now = fill_unread(now, before, "nr")
    earlier = before.pairings or ()
    if now.pairings is None:
        return replace(now, pairings=earlier)
    filled = list(now.pairings[:MAX_BOARDS])
    for at, pairing in enumerate(earlier[: len(filled)]):
        filled[at] = _merge_pairing(filled[at], pairing)
    return replace(now, pairings=tuple(filled))


def _merge_pairing(now: _Pairing, before: _Pairing) -> _Pairing:
    if "" in now.unread:
        return replace(before, unread=now.unread)
    filled = fill_unread(now, before, "nr", "white", "black")
    if (filled.nr, filled.white, filled.black) != (
        before.nr,
        before.white,
        before.black,
    ):
        # Other players: their result is not that of those who stood here.
        return filled
    return fill_unread(filled, before, "result", "live")


def _is_result_known(pairing: _Pairing) -> bool:
    """Whether the result is known: one that cannot be read withdraws none."""
    return pairing.result is not None or "result" not in pairing.unread


def _create_seat(event: str | None, number: int, pairing: _Pairing) -> Seat:
    headers = Headers(
        read_cloud_player(pairing.white),
        read_cloud_player(pairing.black),
        event=clean_text(event or "", 200),
        round=f"{number}.{pairing.nr}",
        board=pairing.nr,
    )
    result = pairing.result or "*"
    return Seat(headers, result, bool(pairing.live) or result != "*")


# DGT LiveChess' websocket protocol: messages in, messages and reports out. Pure.
#
# There is no public description; the messages are those of captures of LiveChess 2 and
# of clients that work with it. LiveChess reconstructs the game from the sensors. Once
# it has been sent the starting position (``setup``), it sends all moves so far at each
# event. Before that it sends only the placement of the pieces, each time a piece is
# lifted.


Reaction = tuple[list[bytes], list[GameReport]]
"""What to send and what to report after a message."""

#: Ask again which boards there are, every so many seconds: more may be plugged in.
BOARDS_S = 30.0


class _Sides(Value):
    white: float | None = None
    black: float | None = None
    run: bool | None = None
    """Whose clock runs: White's (true), Black's, or none."""


class _Event(ForeignObject):
    """A board's event; what has not changed is left out."""

    board: str | None = None
    clock: _Sides | None = None
    start: str | None = None
    san: tuple[str, ...] | None = None
    match: bool | None = None
    """Whether the pieces stand as ``san`` leads to."""


class _Message(Value):
    response: str = ""
    id: int = 0
    param: object = None


class _Listed(Value):
    """One of the boards that there are."""

    serialnr: str = ""


class LiveChessMessages:
    """The messages of one LiveChess, and what they say of its boards.

    Send what :meth:`ask` gives after connecting and every :data:`BOARDS_S`; give each
    message to :meth:`apply_message`, send what it says, and report the games it gives.
    What may take long comes in pieces, between which other messages may not be given.
    """

    def __init__(self, hall: Hall | None = None) -> None:
        self.hall = hall or Hall()
        self._calls = 0
        self._unread: dict[str, dict[str, str]] = {}
        """What could not be read of the last event of a board, by its serial number."""
        self._unread_pairings: dict[str, dict[str, str]] = {}
        self._damage = ""

    @property
    def note(self) -> str:
        """What people should know of the boards and the last message."""
        return "; ".join(filter(None, [self.hall.note, self._damage]))

    def take_changed_games(self, *said: HallBoard) -> list[GameReport]:
        """Return the games that have changed, and those of the boards of which more is
        to be said, each with what could not be read of it.
        """
        games = {game.key: game for game in self.hall.take_changed_games()}
        for board in said:
            if (game := self.hall.game_of_board(board)) is not None:
                games[game.key] = game
        if games and (self._unread or self._unread_pairings):
            for board in self.hall.boards.values():
                if board.key in games:
                    games[board.key] = self._add_unread(games[board.key], board.serial)
        return list(games.values())

    def update_unread_pairings(
        self, unread: dict[str, dict[str, str]]
    ) -> list[HallBoard]:
        """Take what could not be read of pairings, by serial number; returns the boards
        of which that is news.
        """
        before = self._unread_pairings
        self._unread_pairings = unread
        changed = [
            each
            for each in {**before, **unread}
            if before.get(each) != unread.get(each)
        ]
        return [self.hall.boards[each] for each in changed if each in self.hall.boards]

    def _add_unread(self, game: GameReport, serial: str) -> GameReport:
        unread = self._unread.get(serial, {})
        others = self._unread_pairings.get(serial, {}) | unread
        if found := others.pop("san", None):
            problem = f"its moves cannot be read ({found})"
            game = replace(game, problem=problem, unread=("moves",))
        return add_unread(game, others)

    def request_boards(self) -> bytes:
        """Ask which boards there are."""
        return self._encode_call("eboards")

    def apply_message(
        self, raw: str | bytes, now_s: float
    ) -> Generator[None, None, Reaction]:
        """Never raises; yields between pieces of work."""
        message = read_json(raw, _Message)
        self._damage = "" if message is not None else "a message of it is damaged JSON"
        if message is None:
            return [], []
        if message.response == "call":
            return self._subscribe_boards(
                message.param, now_s
            ), self.take_changed_games()
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
            # It says nothing of moves: what could not be read of them is still missing.
            unread = {
                path: before[path] for path in ("san", "start") if path in before
            } | unread
        if unread:
            self._unread[board.serial] = unread
        sent = yield from self._apply_event(board, event, now_s)
        said = [board] if unread != before else []
        return sent, self.take_changed_games(*said)

    def _subscribe_boards(self, boards: object, now_s: float) -> list[bytes]:
        """The answer to ``eboards`` is a list; other calls answer null."""
        sent = []
        for each in boards if isinstance(boards, list) else ():
            listed = read_value(each, _Listed) or _Listed()
            serial = listed.serialnr
            board = self.hall.add_board(serial, now_s) if serial else None
            if board is not None and not board.is_subscribed:
                board.is_subscribed = True
                about = {
                    "feed": "eboardevent",
                    "id": board.number,
                    "param": {"serialnr": serial},
                }
                sent.append(self._encode_call("subscribe", param=about))
        return sent

    def _apply_event(
        self, board: HallBoard, event: _Event, now_s: float
    ) -> Generator[None, None, list[bytes]]:
        placed = (event.board or "").partition(" ")[0]
        if event.clock is not None:
            board.clocks = Clocks(event.clock.white, event.clock.black, event.clock.run)
        if event.unread.keys() & {"san", "start"}:
            # Moves that cannot be read, or from nobody knows where, are nothing heard.
            self.hall.apply_clocks(board, now_s)
            return []
        if event.san is None:
            self.hall.apply_clocks(board, now_s)
            return self._send_position(
                board, self.hall.apply_placement(board, placed, now_s)
            )
        try:
            start = chess.Board(event.start) if event.start else None
        except ValueError:
            return []
        yield from self.hall.apply_moves(board, start, event.san[:MAX_PLIES], now_s)
        if event.match:
            # It knows where the game stands, whatever a piece in the air made it doubt.
            board.is_set_up = True
        elif event.match is False and board.is_met_later and placed:
            # It goes on from a position that was itself corrected, and cannot find out
            # alone.
            board.is_set_up = False
            fen = self.hall.apply_placement(board, placed, now_s)
            return self._send_position(board, None if fen == event.start else fen)
        return []

    def _send_position(self, board: HallBoard, fen: str | None) -> list[bytes]:
        """Send LiveChess the position, if there is one to send."""
        if fen is None:
            return []
        return [
            self._encode_call(
                "call",
                param={"id": board.number, "method": "setup", "param": {"fen": fen}},
            )
        ]

    def _encode_call(self, call: str, **more: object) -> bytes:
        self._calls += 1
        return msgspec.json.encode({"id": self._calls, "call": call, **more})


#: The longest is the list of boards, 300 bytes each; all moves of a game of
#: :data:`MAX_PLIES` and their board take 15,000. What is longer is not said of any
#: board.
MAX_MESSAGE_BYTES = 1 << 18


class LiveChessFeed(SessionFeed):
    """Follows every board that one LiveChess has."""

    def __init__(self, source: FeedAddress, conditions: FeedConditions) -> None:
        super().__init__(source.name, conditions)
        self._url = source.target
        self._pairings = Pairings(source.name, source.target)
        self._boards: LiveChessMessages | None = None
        self._asking: set[asyncio.Task[None]] = set()

    async def _follow_source(self, session: FeedSession) -> None:
        boards = self._boards
        if boards is None:
            known = session.sink.known_games(session.name)
            boards = LiveChessMessages(Hall(known, self._config.finish_after_s))
            self._boards = boards
            session.remember_games(known)
        share = LoopShare(self._clock)
        async with self._connect(share) as socket:
            try:
                await self._follow_socket(socket, session, boards, share)
            finally:
                for task in self._asking:
                    task.cancel()
                await asyncio.gather(*self._asking, return_exceptions=True)

    @asynccontextmanager
    async def _connect(self, share: LoopShare) -> AsyncIterator[SourceSocket]:
        """Raises FeedTrouble for all that a connection may suffer."""
        try:
            async with open_websocket(
                self._url,
                max_bytes=MAX_MESSAGE_BYTES,
                timeout_s=self._config.timeout_s,
                share=share,
            ) as socket:
                yield socket
        except (InvalidURI, InvalidHandshake) as error:
            wrong = isinstance(error, InvalidURI)
            problem = (
                "is no websocket address" if wrong else "answers, but is no LiveChess"
            )
            raise create_fatal_trouble(
                self.name, problem, "It looks like ws://HOST:1982/api/v1.0"
            ) from error
        except ConnectionClosed as error:
            if error.sent is not None and error.sent.code == CloseCode.MESSAGE_TOO_BIG:
                size = f"{MAX_MESSAGE_BYTES >> 10} kB"
                raise FeedTrouble(
                    f"LiveChess sends messages of more than {size}"
                ) from error
            raise FeedTrouble("connection to LiveChess lost") from error
        except TimeoutError as error:
            raise FeedTrouble("LiveChess does not answer") from error
        except OSError as error:
            why = describe_os_error(error) or "no connection"
            raise FeedTrouble(f"cannot reach LiveChess ({why})") from error

    async def _ask_pairings(
        self, session: FeedSession, boards: LiveChessMessages, share: LoopShare
    ) -> None:
        """Look at the pairings once; without any the boards stay without names."""
        async with http_client.open_client(self._config) as client:
            seats = await self._pairings.fetch_pairings(client, share)
        if seats is None:
            return
        await share.run(boards.hall.apply_pairings(seats, self._clock.now()))
        said = boards.update_unread_pairings(self._pairings.unread)
        await self._report_games(session, boards, boards.take_changed_games(*said))

    async def _report_games(
        self, session: FeedSession, boards: LiveChessMessages, games: list[GameReport]
    ) -> None:
        note = "; ".join(filter(None, [boards.note, self._pairings.note]))
        is_news = note != session.note
        session.note = note
        if games:
            await session.report(games)
        elif is_news and session.reported:
            session.mark_alive()

    async def _follow_socket(
        self,
        socket: SourceSocket,
        session: FeedSession,
        boards: LiveChessMessages,
        share: LoopShare,
    ) -> None:
        clock = self._clock
        timeout_s = self._config.timeout_s
        boards.hall.mark_disconnected()
        # Who sits where comes before what stands there: after a restart the board may
        # have its next game on it already.
        try:
            async with clock.deadline(timeout_s):
                await self._ask_pairings(session, boards, share)
        except TimeoutError:
            log.debug("%s: the pairings come too slowly", self.name)
        asked_s = float("-inf")
        has_answered = True
        while True:
            # Clocks that run speak every second, and every look is answered.
            if clock.now() - asked_s >= BOARDS_S:
                if not has_answered:
                    raise TimeoutError
                if asked_s > float("-inf") and not self._asking:
                    asking = asyncio.create_task(
                        self._ask_pairings(session, boards, share), name="pairings"
                    )
                    self._asking.add(asking)
                    asking.add_done_callback(self._asking.discard)
                async with clock.deadline(timeout_s):
                    await socket.send(boards.request_boards())
                asked_s = clock.now()
                has_answered = False
            try:
                async with clock.deadline(asked_s + BOARDS_S - clock.now()):
                    message = await socket.receive()
            except TimeoutError:
                continue
            if not has_answered:
                has_answered = True
                session.mark_alive()
            answers, games = await share.run(boards.apply_message(message, clock.now()))
            for answer in answers:
                async with clock.deadline(timeout_s):
                    await socket.send(answer)
            await self._report_games(session, boards, games)
