"""Files that people name, whatever is there."""

import asyncio
import io
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from live import user_files
from live.user_files import (
    NotRegularFile,
    escape_surrogates,
    on_own_thread,
    read_regular,
)


def test_a_file_is_read_whole_or_as_far_as_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"some text")
    assert read_regular(path) == b"some text"
    assert read_regular(path, 4) == b"some"
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "b.txt")


def test_what_is_no_file_is_named_and_never_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, what in (
        (pipe, "a pipe"),
        (tmp_path, "a folder"),
        (Path("/dev/zero"), "a device"),
    ):
        with pytest.raises(NotRegularFile, match=f"{what}, not a file"):
            read_regular(path)


def test_a_file_replaced_between_look_and_open_is_refused_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe, path = tmp_path / "pipe", tmp_path / "a.txt"
    os.mkfifo(pipe)
    path.write_bytes(b"text")
    looked = os.stat(path)
    monkeypatch.setattr(os, "stat", lambda path: looked)
    with pytest.raises(NotRegularFile):
        read_regular(pipe)


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        (os.fsdecode(b"\xff.pgn"), r"\xff.pgn"),
        ("Zoë ½.pgn", "Zoë ½.pgn"),
        ("\ud800x", r"\ud800x"),
        (os.fsdecode("Müller".encode("latin-1")), r"M\xfcller"),
    ],
)
def test_any_name_is_text(name: str, printed: str) -> None:
    assert escape_surrogates(name) == printed
    printed.encode()


async def test_what_a_thread_finds_or_raises_comes_back() -> None:
    assert await on_own_thread(pow, 2, 10) == 1024
    with pytest.raises(ZeroDivisionError):
        await on_own_thread(divmod, 1, 0)


async def test_whoever_waits_no_more_is_not_kept() -> None:
    ends = threading.Event()
    waiting = asyncio.ensure_future(on_own_thread(ends.wait, 60))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    ends.set()


def test_a_file_that_is_rewritten_while_it_is_read_is_never_two_texts_in_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "games.pgn"
    path.write_bytes(b"old " * 10)

    class Rewritten(io.FileIO):
        """The file is rewritten in place once its first piece has been read."""

        def readinto(self, buffer: Any) -> int | None:
            count = super().readinto(buffer)
            if path.read_bytes().startswith(b"old"):
                path.write_bytes(b"new text " * 10)
            return count

    def open_rewritten(descriptor: int, mode: str) -> io.BufferedReader:
        return io.BufferedReader(Rewritten(descriptor, mode))

    monkeypatch.setattr(user_files, "open", open_rewritten, raising=False)
    assert read_regular(path, 1_000_000) == b"new text " * 10
