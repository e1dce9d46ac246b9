"""Files of games, one text after the other: PGN or NDJSON, plain or compressed, or
standard input.

The first bytes of a file say what it is, not its name. Only the text being read is held
in memory, so a file can have any size. The compressions are gzip, bzip2, xz and
Zstandard.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

from live.errors import InputError
from live.sources.pgn_splitter import PgnSegment, PgnSplitter
from live.studies.corpus_games import CorpusGame
from live.studies.searched_games import SearchedGame, SearchSetting

STDIN = "-"
_PIECE_BYTES = 1 << 16
#: Of one game; nothing sane is longer, and a file of something else must not fill the
#: memory.
MOST_BYTES = 1 << 24
#: One game of a file, unread: a segment of PGN, or a line of NDJSON.
GameText = PgnSegment | bytes


class BrokenFile(Exception):
    """A file that ends in the middle or cannot be read on; what came before is good."""


def read_file_mark(path: str) -> str:
    """Return a mark that changes when the file does; empty for standard input, which
    cannot be read again.

    Raises InputError when there is no such file.
    """
    if path == STDIN:
        return ""
    try:
        about = Path(path).stat()
    except OSError as error:
        raise InputError(
            path, error.strerror or "cannot be read", "Check the path"
        ) from None
    return f"{about.st_size} bytes, {about.st_mtime_ns}"


def read_game_texts(path: str) -> Iterator[GameText]:
    """Yield the games of a file in their order.

    Raises:
        InputError: no such file, or one that is compressed in a way that needs another
            package.
        BrokenFile: it cannot be read to its end.
    """
    try:
        raw = sys.stdin.buffer if path == STDIN else open(path, "rb")  # noqa: SIM115
    except OSError as error:
        raise InputError(
            path, error.strerror or "cannot be read", "Check the path"
        ) from None
    with raw:
        plain = _decompress(
            io.BufferedReader(cast("io.RawIOBase", raw), _PIECE_BYTES), path
        )
        try:
            first = plain.peek(64).lstrip(b"\xef\xbb\xbf \t\r\n")
            yield from (
                _read_lines(plain) if first.startswith(b"{") else _split_segments(plain)
            )
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise BrokenFile(str(error) or type(error).__name__) from None
        except Exception as error:
            # The optional decompressor has errors of its own.
            if type(error).__module__.split(".")[0] == "zstandard":
                raise BrokenFile(str(error)) from None
            raise


def _decompress(raw: io.BufferedReader, path: str) -> Any:
    """Open the contents of a file, whatever compresses it."""
    first = raw.peek(6)
    if first.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=raw)
    if first.startswith(b"BZh"):
        return bz2.BZ2File(raw)
    if first.startswith(b"\xfd7zXZ"):
        return lzma.LZMAFile(raw)
    if not first.startswith(b"\x28\xb5\x2f\xfd"):
        return raw
    try:
        import zstandard
    except ImportError:
        raise InputError(
            path,
            "is compressed by Zstandard, which this Python cannot read",
            "Run: pip install 'live-rate[study]'",
        ) from None
    opened = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
    return io.BufferedReader(cast("io.RawIOBase", opened), _PIECE_BYTES)


def _read_lines(file: io.BufferedReader) -> Iterator[GameText]:
    return filter(bytes.strip, iter(partial(file.readline, MOST_BYTES), b""))


def _split_segments(file: io.BufferedReader) -> Iterator[GameText]:
    splitter = PgnSplitter(max_game_bytes=MOST_BYTES, eager=False)
    # One read at a time: asked for more, a file that was cut fails, and what it had is
    # gone.
    while piece := file.read1(_PIECE_BYTES):
        yield from filter(None, splitter.split_bytes(piece))
    yield from filter(None, splitter.finish_input())


class ReadGame(NamedTuple):
    """What one text holds."""

    game: CorpusGame
    searched: SearchedGame | None
    setting: SearchSetting


class DamagedGame(Exception):
    """A text that is no game: what is wrong with it, for people."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(problem)
        self.name = name
        """Who played, or where it stands."""
