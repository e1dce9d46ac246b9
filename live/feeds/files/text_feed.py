"""A source that gives its PGN text by text: somebody else follows it, and says when it changes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from live.feeds.feed import FeedSink
from live.feeds.feed_session import FeedConditions, FeedSession, follow
from live.feeds.files.pgn_snapshots import PgnSnapshots, PgnText, note_of


class TextFeed:
    """Reports the games of each text. Over when there are no more, or as a page is: every game has
    a result and nothing has changed for the grace period.
    """

    def __init__(
        self,
        name: str,
        texts: Callable[[], AsyncGenerator[str | None, None]],
        conditions: FeedConditions,
    ) -> None:
        """``texts`` begins to follow: each is all games as they are now, None says that it lives.
        It raises FeedTrouble.
        """
        self.name = name
        self._texts = texts
        self._conditions = conditions
        self._text = PgnText(name, conditions)
        self._snapshots = PgnSnapshots(conditions)

    async def run(self, sink: FeedSink) -> None:
        await follow(self.name, self._follow, sink, self._conditions)

    async def _follow(self, session: FeedSession) -> None:
        given = False
        async with aclosing(self._texts()) as texts:
            async for text in texts:
                if text is not None:
                    await self._text.take(text.encode("utf-8", "replace"))
                    given = True
                if given:
                    await self._report(session)
                    if session.over:
                        return
        # Nobody writes it any more: all of it is believed after a while.
        while given and (wait_s := await self._report(session)) is not None:
            await self._conditions.clock.sleep(wait_s)

    async def _report(self, session: FeedSession) -> float | None:
        return await self._snapshots.report(
            [await self._text.believe()], session, [note_of(self._text)]
        )
