"""``--feed ws://HOST:1982/api/v1.0``: boards in the hall, through DGT LiveChess on its computer.

The boards' events have neither players nor results; those come from the pairings of the tournament
that runs in LiveChess, where one does. The feed has no end.
"""

from __future__ import annotations

import asyncio

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidMessage,
    InvalidStatus,
    InvalidURI,
)

from live.errors import FeedUnreadable
from live.feeds import http_client
from live.feeds.dgt.livechess_messages import BOARDS_S, LiveChessMessages
from live.feeds.dgt.livechess_pairings import ask_seats
from live.feeds.feed import FeedSink
from live.feeds.feed_session import FeedConditions, FeedSession, follow
from live.network.retry import FeedTrouble, system_words

MAX_MESSAGE_BYTES = 1 << 20


class LiveChessFeed:
    """Follows every board that one LiveChess has."""

    def __init__(self, name: str, url: str, conditions: FeedConditions) -> None:
        self.name = name
        self._url = url
        self._conditions = conditions
        self._boards = LiveChessMessages()
        self._asking: set[asyncio.Task[None]] = set()

    async def run(self, sink: FeedSink) -> None:
        await follow(self.name, self._follow, sink, self._conditions)

    async def _follow(self, session: FeedSession) -> None:
        timeout_s = self._conditions.config.timeout_s
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
        except InvalidURI as error:
            raise self._fatal("is no websocket address") from error
        except (InvalidStatus, InvalidMessage, InvalidHandshake) as error:
            raise self._fatal("answers, but is no LiveChess") from error
        except ConnectionClosed as error:
            raise FeedTrouble("connection to LiveChess lost") from error
        except TimeoutError as error:
            raise FeedTrouble("LiveChess does not answer") from error
        except OSError as error:
            raise FeedTrouble(
                f"cannot reach LiveChess ({system_words(error) or 'no connection'})"
            ) from error

    async def _ask_pairings(self, session: FeedSession) -> None:
        """Look at the pairings once; without any the boards stay without names."""
        async with http_client.client(self._conditions.config) as client:
            games = self._boards.seat(await ask_seats(client, self.name, self._url))
        if games:
            await session.report(games)

    async def _listen(self, connection: ClientConnection, session: FeedSession) -> None:
        self._boards.reconnected()
        clock = self._conditions.clock
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

    def _fatal(self, problem: str) -> FeedTrouble:
        return FeedTrouble(
            f"the address {problem}",
            fatal=FeedUnreadable(self.name, problem, "It looks like ws://HOST:1982/api/v1.0"),
        )
