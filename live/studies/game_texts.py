"""Reader of files of games, one text at a time: PGN or NDJSON, plain or compressed, or
standard input.

The type of a file is recognised by its first bytes, not by its name. Only the text
being read is kept in memory, so a file can have any size. The supported compressions
are gzip, bzip2, xz and Zstandard.
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
#: Largest size of one game. No real game is longer, and a file without games must not
#: fill the memory.
MOST_BYTES = 1 << 24
#: One game of a file before it is parsed: a segment of PGN, or a line of NDJSON.
GameText = PgnSegment | bytes


class BrokenFile(Exception):
    """Failure to read a file to its end; the texts before the failure are good."""


def read_file_mark(path: str) -> str:
    """Return a mark that changes when the file changes; empty for standard input, which
    cannot be read again.

    Raises:
        InputError: there is no such file.
    """
    if path == STDIN:
        return ""
    try:
        status = Path(path).stat()
    except OSError as error:
        raise InputError(
            path, error.strerror or "cannot be read", "Check the path"
        ) from None
    return f"{status.st_size} bytes, {status.st_mtime_ns}"


def read_game_texts(path: str) -> Iterator[GameText]:
    """Yield the games of a file in their order.

    Raises:
        InputError: there is no such file, or its compression needs another package.
        BrokenFile: the file cannot be read to its end.
    """
    for text in _read_texts(path):
        if not isinstance(text, bytes) or text.strip():
            yield text


def read_json_lines(path: str) -> Iterator[bytes]:
    """Yield the lines of an NDJSON file; yield nothing for a PGN file. Blank lines are
    included, so that a caller can count lines for its errors.

    Raises:
        InputError: there is no such file, or it cannot be read to its end.
    """
    try:
        for text in _read_texts(path):
            if isinstance(text, bytes):
                yield text
    except BrokenFile as error:
        problem = f"is no whole file ({error})"
        raise InputError(path, problem, "Fetch it again") from None


def _read_texts(path: str) -> Iterator[GameText]:
    """Yield the segments of a PGN file, or the lines of an NDJSON file."""
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
            if first.startswith(b"{"):
                yield from iter(partial(plain.readline, MOST_BYTES), b"")
            else:
                yield from _split_segments(plain)
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise BrokenFile(str(error) or type(error).__name__) from None
        except Exception as error:
            # The optional decompressor raises its own errors.
            if type(error).__module__.split(".")[0] == "zstandard":
                raise BrokenFile(str(error)) from None
            raise


def _decompress(raw: io.BufferedReader, path: str) -> Any:
    """Return a binary reader of the file's contents, decompressed if necessary."""
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


def _split_segments(file: io.BufferedReader) -> Iterator[GameText]:
    splitter = PgnSplitter(max_game_bytes=MOST_BYTES, eager=False)
    # At most one block is read at a time. A larger read from a truncated file would
    # fail and lose the data before the end.
    while piece := file.read1(_PIECE_BYTES):
        yield from filter(None, splitter.split_bytes(piece))
    yield from filter(None, splitter.finish_input())


class ReadGame(NamedTuple):
    """Contents of one text: the game, its searches if there are any, and their
    setting.
    """

    game: CorpusGame
    searched: SearchedGame | None
    setting: SearchSetting


class DamagedGame(Exception):
    """Failure to read a text as a game, with the problem as a text for people."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(problem)
        self.name = name
        """Players of the game, or the beginning of the text."""
