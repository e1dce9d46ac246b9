"""Source ``--feed -``: PGN on standard input, from a pipe, a terminal or a file."""

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import AsyncIterator

from live.errors import FeedUnreadable
from live.process.input_wait import InputWait
from live.process.loop_slices import LoopSlices
from live.sources.feed import Feed
from live.sources.feed_session import FeedConditions, FeedSession
from live.sources.pgn_decoder import PgnDecoder
from live.sources.pgn_detection import describe_non_pgn
from live.sources.source_address import FeedAddress

#: Greatest number of bytes read at once.
PIECE_BYTES = 16_384
#: Greatest number of pieces read ahead while the consumer is busy; after that, the
#: writer to standard input has to wait.
AHEAD = 4


class StdinFeed(Feed):
    """Reports games as they arrive; ends at the end of input."""

    def __init__(
        self, source: FeedAddress, conditions: FeedConditions, fd: int = 0
    ) -> None:
        super().__init__("standard input", conditions)
        self._fd = fd

    async def _follow_source(self, session: FeedSession) -> None:
        decoder = PgnDecoder(fallback_charset=self._config.charset or "cp1252")
        session.record_source_answer()
        first = True
        async for piece in read_pieces(self._fd):
            if first and piece.strip():
                first = False
                if description := describe_non_pgn(piece):
                    raise FeedUnreadable(
                        "standard input", f"holds {description}", "Pipe PGN into it"
                    )
            if games := await LoopSlices().run(decoder.decode_in_pieces(piece)):
                await session.report(games)
        if games := decoder.finish_input():
            await session.report(games)


async def read_pieces(fd: int) -> AsyncIterator[bytes]:
    """Yield the contents of a file descriptor in pieces, to its end.

    The input is read in a thread, because the event loop can wait for pipes and
    terminals but not for plain files, and standard input can be any of these. At most
    :data:`AHEAD` pieces are read ahead.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[bytes | OSError] = asyncio.Queue(AHEAD)
    stop_reader, stop_writer = os.pipe()

    def read_input() -> None:
        waiting = InputWait(fd, stop_reader)
        piece: bytes | OSError = b"\0"
        while piece and not isinstance(piece, OSError):
            try:
                if not waiting.wait():
                    break
                piece = os.read(fd, PIECE_BYTES)
            except OSError as error:
                piece = error
            try:
                asyncio.run_coroutine_threadsafe(queue.put(piece), loop).result()
            except (RuntimeError, concurrent.futures.CancelledError):
                break  # the event loop has been closed
        os.close(stop_reader)

    # A daemon thread: a terminal on which nobody types must not keep the program
    # running.
    threading.Thread(target=read_input, name="stdin", daemon=True).start()
    try:
        while True:
            piece = await queue.get()
            if isinstance(piece, OSError):
                raise FeedUnreadable(
                    "standard input",
                    f"cannot be read ({piece.strerror})",
                    "Give a file's path",
                )
            if not piece:
                return
            yield piece
    finally:
        os.close(stop_writer)
        # Make room for a waiting reader, so that its thread notices the stop.
        while not queue.empty():
            queue.get_nowait()
