"""``--feed telnet://HOST[:5000]/GAME``: a chess server of the FICS family. Shell."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from live.errors import FeedNotFound, FeedUnreadable
from live.feeds.feed import FeedSink
from live.feeds.feed_session import FeedConditions, FeedSession, follow
from live.feeds.fics.fics_address import FicsAddress
from live.feeds.fics.fics_text import FicsLoginRefused, FicsText, NotFics
from live.network.retry import FeedTrouble, system_words

CHUNK_BYTES = 65_536
#: Silence after which an empty line is sent: servers throw idle guests out after an hour.
IDLE_S = 300.0


class FicsFeed:
    """Follows the games that one server sends.

    Over when every game has a result and nothing has changed for the grace period.
    """

    def __init__(self, name: str, address: FicsAddress, conditions: FeedConditions) -> None:
        self.name = name
        self._address = address
        self._conditions = conditions
        self._text = FicsText(address.host, address.games, address.user, address.password)

    async def run(self, sink: FeedSink) -> None:
        await follow(self.name, self._follow, sink, self._conditions)

    async def _follow(self, session: FeedSession) -> None:
        timeout_s = self._conditions.config.timeout_s
        try:
            async with self._conditions.clock.deadline(timeout_s):
                reader, writer = await asyncio.open_connection(
                    self._address.host, self._address.port
                )
        except TimeoutError as error:
            raise FeedTrouble("the server does not answer") from error
        except OSError as error:
            why = system_words(error) or "no connection"
            raise FeedTrouble(f"cannot reach the server ({why})") from error
        try:
            await self._listen(reader, writer, session)
        except OSError as error:
            raise FeedTrouble("connection to the server lost") from error
        except FicsLoginRefused as error:
            raise self._fatal("the server refuses user or password") from error
        except NotFics as error:
            raise self._fatal("the server sends no lines of text") from error
        finally:
            writer.transport.abort()

    async def _listen(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, session: FeedSession
    ) -> None:
        self._text.reconnected()
        wait_s = self._conditions.config.timeout_s
        heard = False
        while not session.over:
            try:
                async with self._conditions.clock.deadline(wait_s):
                    data = await reader.read(CHUNK_BYTES)
            except TimeoutError:
                if not heard:
                    raise FeedTrouble("the server says nothing") from None
                await _send(writer, [b"\n"])
                session.alive()
                wait_s = session.soonest(IDLE_S) or IDLE_S
                continue
            if not data:
                raise FeedTrouble("connection to the server lost")
            heard = True
            answers, games = self._text.receive(data)
            await _send(writer, answers)
            await session.report(games)
            if self._text.missing and not session.reported:
                problem = "the server has no such game"
                error = FeedNotFound(self.name, problem, "Check the number or name at its end")
                raise FeedTrouble(problem, fatal=error)
            wait_s = session.soonest(IDLE_S) or IDLE_S

    def _fatal(self, problem: str) -> FeedTrouble:
        remedy = "It looks like telnet://HOST:5000/GAME, with USER:PASSWORD@ where one is needed"
        return FeedTrouble(problem, fatal=FeedUnreadable(self.name, problem, remedy))


async def _send(writer: asyncio.StreamWriter, lines: Iterable[bytes]) -> None:
    for line in lines:
        writer.write(line)
    await writer.drain()
