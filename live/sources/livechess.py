"""Source ``--feed ws://HOST:1982/api/v1.0``: boards in the hall, read from DGT
LiveChess on the hall's computer.

The events of the boards contain neither players nor results. These come from the
pairings of the tournament in LiveChess, if there is one. :mod:`live.sources.hall`
decides to which game the moves belong. The source never ends.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
from websockets.frames import CloseCode

from live.messages.from_sources import GameReport
from live.process.loop_slices import LoopShare
from live.sources import http_client
from live.sources.feed import Feed
from live.sources.feed_session import FeedConditions, FeedSession
from live.sources.hall import Hall
from live.sources.livechess_messages import LiveChessMessages
from live.sources.livechess_pairings import Pairings
from live.sources.retry import FeedTrouble, create_permanent_trouble, describe_os_error
from live.sources.source_address import FeedAddress
from live.sources.websocket_client import SourceSocket, open_websocket

log = logging.getLogger(__name__)


#: Time between two requests for the list of boards, seconds; more boards might have
#: been connected.
BOARDS_S = 30.0


#: Greatest size of a message, bytes. The longest message is the list of boards, 300
#: bytes each; all moves of a game of :data:`MAX_PLIES` with its placement take 15,000.
#: A longer message is not about a board.
MAX_MESSAGE_BYTES = 1 << 18


class LiveChessFeed(Feed):
    """Follows all boards of one LiveChess."""

    def __init__(self, source: FeedAddress, conditions: FeedConditions) -> None:
        super().__init__(source.name, conditions)
        self._url = source.target
        self._pairings = Pairings(source.name, source.target)
        self._boards: LiveChessMessages | None = None
        self._asking: set[asyncio.Task[None]] = set()
        self._share = LoopShare(self._clock)

    async def _follow_source(self, session: FeedSession) -> None:
        boards = self._boards
        if boards is None:
            known_games = session.sink.known_games(session.name)
            boards = LiveChessMessages(Hall(known_games, self._config.finish_after_s))
            self._boards = boards
            session.remember_games(known_games)
        async with self._connect() as socket:
            try:
                await self._follow_socket(socket, session, boards)
            finally:
                for task in self._asking:
                    task.cancel()
                await asyncio.gather(*self._asking, return_exceptions=True)

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[SourceSocket]:
        """Open the websocket for the duration of the block. Raises FeedTrouble for any
        failure.
        """
        try:
            async with open_websocket(
                self._url,
                max_bytes=MAX_MESSAGE_BYTES,
                timeout_s=self._config.timeout_s,
                share=self._share,
            ) as socket:
                yield socket
        except (InvalidURI, InvalidHandshake) as error:
            is_wrong_address = isinstance(error, InvalidURI)
            problem = (
                "is not a websocket address"
                if is_wrong_address
                else "answers, but is not LiveChess"
            )
            raise create_permanent_trouble(
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
            reason = describe_os_error(error) or "no connection"
            raise FeedTrouble(f"cannot reach LiveChess ({reason})") from error

    async def _ask_pairings(
        self, session: FeedSession, boards: LiveChessMessages
    ) -> None:
        """Fetch the pairings once. Without pairings, the boards' games have no players'
        names.
        """
        async with http_client.open_client(self._config) as client:
            seats = await self._pairings.fetch_pairings(client, self._share)
        if seats is None:
            return
        await self._share.run(
            boards.hall.apply_pairings(
                seats, self._clock.now(), is_complete=self._pairings.is_complete
            )
        )
        changed_boards = boards.update_unread_pairings(self._pairings.unread)
        await self._report_games(
            session, boards, boards.take_changed_games(*changed_boards)
        )

    async def _report_games(
        self, session: FeedSession, boards: LiveChessMessages, games: list[GameReport]
    ) -> None:
        note = "; ".join(filter(None, [boards.note, self._pairings.note]))
        is_news = note != session.note
        session.note = note
        if games:
            await session.report(games)
        elif is_news and session.reported:
            session.record_source_answer()

    async def _follow_socket(
        self,
        socket: SourceSocket,
        session: FeedSession,
        boards: LiveChessMessages,
    ) -> None:
        clock = self._clock
        timeout_s = self._config.timeout_s
        boards.hall.mark_disconnected()
        # Pairings are needed before moves: after a restart, a board might already have
        # its next game.
        try:
            async with clock.deadline(timeout_s):
                await self._ask_pairings(session, boards)
        except TimeoutError:
            log.debug("%s: the pairings arrive too slowly", self.name)
        asked_s = float("-inf")
        has_answered = True
        while True:
            # LiveChess answers each request for boards, and a running clock sends a
            # message every second. If nothing has come since the last request, the
            # connection is dead.
            if clock.now() - asked_s >= BOARDS_S:
                if not has_answered:
                    raise TimeoutError
                if asked_s > float("-inf") and not self._asking:
                    asking = asyncio.create_task(
                        self._ask_pairings(session, boards), name="pairings"
                    )
                    self._asking.add(asking)
                    asking.add_done_callback(self._asking.discard)
                async with clock.deadline(timeout_s):
                    await socket.send(boards.build_boards_request())
                asked_s = clock.now()
                has_answered = False
            try:
                async with clock.deadline(asked_s + BOARDS_S - clock.now()):
                    message = await socket.receive()
            except TimeoutError:
                continue
            if not has_answered:
                has_answered = True
                session.record_source_answer()
            answers, games = await self._share.run(
                boards.apply_message(message, clock.now())
            )
            for answer in answers:
                async with clock.deadline(timeout_s):
                    await socket.send(answer)
            await self._report_games(session, boards, games)
