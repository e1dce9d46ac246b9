"""live.producer.notifier: real apprise, to a server on loopback."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from live.config import NotifyConfig
from live.errors import ConfigError
from live.events import FeedHealth, GameMessage
from live.producer.notice_rules import Notice, NoticeRules
from live.producer.notifier import Notifier, open_people
from live.publish.published_state import view_of
from tests.story.games import game

#: apprise imports a module of the standard library that is to go.
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")


class Inbox:
    """Takes in what is posted to it."""

    def __init__(self) -> None:
        self.letters: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.status = "200 OK"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        self.letters.put_nowait(json.loads(await reader.readexactly(length)))
        writer.write(f"HTTP/1.1 {self.status}\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()


async def test_a_game_that_begins_reaches_people(tmp_path: Path) -> None:
    inbox = Inbox()
    told: list[FeedHealth] = []
    server = await asyncio.start_server(inbox.serve, "127.0.0.1", 0)
    async with server, asyncio.timeout(60):
        urls = tmp_path / "urls"
        port = server.sockets[0].getsockname()[1]
        urls.write_text(f"# mine\n\njson://127.0.0.1:{port}/\n")
        rules = NoticeRules(NotifyConfig())
        notifier = Notifier(rules, "notify.urls_file", str(urls), report=told.append)
        running = asyncio.create_task(notifier.run())
        notifier.publish([GameMessage(view_of(game(wins))) for wins in ([], [0.5])])
        letter = await inbox.letters.get()
        assert (letter["title"], letter["message"]) == (
            "Adams, Ann – Berg, Bo, board 1, Open",
            "The game has begun.",
        )
        inbox.status = "500 No"
        assert not await notifier.send(Notice("a", "b"))
        assert told[-1] == FeedHealth(
            "notifications",
            "retrying",
            "not everybody could be notified; the log says more",
            part=True,
        )
        running.cancel()
        await asyncio.wait({running})


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "holds no address"), ("# only\n", "holds no address"), ("nonsense\n", "line 1")],
)
def test_a_file_that_reaches_nobody_is_refused(tmp_path: Path, text: str, words: str) -> None:
    urls = tmp_path / "urls"
    urls.write_text(text)
    with pytest.raises(ConfigError, match=words):
        open_people("notify.urls_file", str(urls))


def test_a_path_may_begin_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "urls").write_text("json://127.0.0.1/\n")
    assert len(open_people("notify.urls_file", "~/urls")) == 1


def test_a_file_that_cannot_be_read_is_named_in_one_plain_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        open_people("notify.urls_file", str(tmp_path / "none"))
    path = tmp_path / "none"
    plain = f"notify.urls_file {path}: cannot be read (No such file or directory). Correct the path"
    assert str(refused.value).rstrip(".") == plain
    (tmp_path / "latin").write_bytes("mailto://Grüße".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"cannot be read \(not UTF-8 text\)"):
        open_people("notify.urls_file", str(tmp_path / "latin"))
