"""Files of games, one text after the other: PGN and NDJSON, plain or compressed, or standard input.

What a file is its first bytes say, not its name. Nothing is held but the text being read, so a file
may be of any size. Compressed by gzip, bzip2, xz and Zstandard.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final, cast

import msgspec

from live.errors import InputError
from live.feeds.pgn.pgn_splitter import PgnSegment, PgnSplitter

STDIN: Final = "-"

_PIECE_BYTES: Final = 1 << 16
#: Of one game; nothing sane is longer, and a file of something else must not fill the memory.
MOST_BYTES: Final = 1 << 24
_ZSTANDARD: Final = b"\x28\xb5\x2f\xfd"


class GameTextPart(msgspec.Struct, frozen=True):
    """One game of a file, unread: a segment of PGN, or a line of NDJSON."""

    pgn: PgnSegment | None = None
    line: bytes | None = None


class BrokenFile(Exception):
    """A file that ends in the middle or cannot be read on; what came before is good."""


def file_mark(path: str) -> str:
    """What changes when the file does; empty for standard input, which cannot be read again.

    Raises InputError when there is no such file.
    """
    if path == STDIN:
        return ""
    try:
        about = Path(path).stat()
    except OSError as error:
        raise InputError(path, error.strerror or "cannot be read", "Check the path") from None
    return f"{about.st_size} bytes, {about.st_mtime_ns}"


def game_texts(path: str) -> Iterator[GameTextPart]:
    """The games of a file in their order.

    Raises:
        InputError: no such file, or one that is compressed in a way that needs another package.
        BrokenFile: it cannot be read to its end.
    """
    try:
        raw = sys.stdin.buffer if path == STDIN else open(path, "rb")  # noqa: SIM115
    except OSError as error:
        raise InputError(path, error.strerror or "cannot be read", "Check the path") from None
    with raw:
        plain = _plain(io.BufferedReader(cast("io.RawIOBase", raw), 1 << 16), path)
        try:
            first = plain.peek(64).lstrip(b"\xef\xbb\xbf \t\r\n")
            yield from _lines(plain) if first.startswith(b"{") else _segments(plain)
        except (OSError, EOFError, lzma.LZMAError) as error:
            raise BrokenFile(str(error) or type(error).__name__) from None
        except Exception as error:
            # The optional decompressor has errors of its own.
            if type(error).__module__.split(".")[0] == "zstandard":
                raise BrokenFile(str(error)) from None
            raise


class _Decompressed(io.RawIOBase):
    """What a decompressor has ready, so that of a file that was cut nothing is lost before the
    cut: asked for more it fails, and what it had is gone.
    """

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self._file.read1(len(buffer))
        buffer[: len(found)] = found
        return len(found)


def _plain(raw: io.BufferedReader, path: str) -> io.BufferedReader:
    """What stands in a file, whatever compresses it."""
    first = raw.peek(6)[:6]
    opened: IO[bytes]
    if first.startswith(b"\x1f\x8b"):
        opened = cast("IO[bytes]", gzip.GzipFile(fileobj=raw))
    elif first.startswith(b"BZh"):
        opened = bz2.BZ2File(raw)
    elif first.startswith(b"\xfd7zXZ"):
        opened = lzma.LZMAFile(raw)  # noqa: SIM115
    elif first.startswith(_ZSTANDARD):
        try:
            import zstandard
        except ImportError:
            raise InputError(
                path,
                "is compressed by Zstandard, which this Python cannot read",
                "Run: pip install 'live-rate[study]'",
            ) from None
        opened = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
    else:
        return raw
    return io.BufferedReader(_Decompressed(cast("io.BufferedReader", opened)), _PIECE_BYTES)


def _lines(file: io.BufferedReader) -> Iterator[GameTextPart]:
    while line := file.readline(MOST_BYTES):
        if line.strip():
            yield GameTextPart(line=line)


def _segments(file: io.BufferedReader) -> Iterator[GameTextPart]:
    splitter = PgnSplitter(max_game_bytes=MOST_BYTES, eager=False)
    while piece := file.read(_PIECE_BYTES):
        for segment in splitter.feed(piece):
            if segment is not None:
                yield GameTextPart(pgn=segment)
    for segment in splitter.finish():
        if segment is not None:
            yield GameTextPart(pgn=segment)
