import os
import subprocess
import sys
from pathlib import Path

import pytest

from live.config import FeedsConfig, LichessConfig
from live.errors import ConfigError, FeedNotFound, FeedUnreadable, UnknownFeed
from live.feeds.demo_feed import DemoFeed
from live.feeds.file_feed import FileFeed, StdinFeed
from live.feeds.folder_feed import FolderFeed
from live.feeds.lichess import LichessBroadcastFeed
from live.feeds.open_feed import open_feed
from live.feeds.web_page_feed import WebPageFeed

CONFIG = FeedsConfig()
ROOT = Path(__file__).resolve().parents[2]


def test_each_kind_opens_its_feed(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.touch()
    opened = {
        "demo": DemoFeed,
        "-": StdinFeed,
        str(path): FileFeed,
        path.as_uri(): FileFeed,
        str(tmp_path): FolderFeed,
        f"folder+{tmp_path}": FolderFeed,
        f"file+{path}": FileFeed,
        "https://example.org/games.pgn": WebPageFeed,
        "pgn-url+https://example.org/games": WebPageFeed,
        "https://lichess.org/broadcast/a/b/abcdefgh": LichessBroadcastFeed,
    }
    for spec, kind in opened.items():
        feed = open_feed(spec, CONFIG, env={})
        assert type(feed) is kind
        assert feed.name == ("standard input" if spec == "-" else spec)


@pytest.mark.parametrize(
    "spec",
    ["nonsense", "pgn-url+ftp://example.org/x", "lichess+https://lichess.org/", "lichess+demo"],
)
def test_what_cannot_be_followed(spec: str) -> None:
    with pytest.raises(UnknownFeed, match="The kinds are: demo"):
        open_feed(spec, CONFIG, env={})


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(FeedNotFound, match=r"there is no such file.*its folder"):
        open_feed(str(tmp_path / "none.pgn"), CONFIG)


@pytest.mark.parametrize("text", ["lichess.org/broadcast/a/b/AbCdEfGh", "127.0.0.1:80/x.pgn"])
def test_an_address_without_its_scheme_is_told_how_to_be_one(text: str) -> None:
    with pytest.raises(FeedNotFound, match="https://"):
        open_feed(text, CONFIG)


@pytest.mark.parametrize("text", ["./none.pgn", "../none.pgn", "a.b", "round 1.5/games.pgn"])
def test_what_looks_like_no_host_is_a_path(text: str) -> None:
    with pytest.raises((FeedNotFound, UnknownFeed)) as caught:
        open_feed(text, CONFIG)
    assert "https://" not in str(caught.value)


def test_a_folder_where_a_file_is_forced(tmp_path: Path) -> None:
    with pytest.raises(FeedUnreadable, match="is a folder"):
        open_feed(f"file+{tmp_path}", CONFIG)


def test_a_file_where_a_folder_is_forced(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").touch()
    with pytest.raises(FeedUnreadable, match="is no folder"):
        open_feed(f"folder+{tmp_path}/games.pgn", CONFIG)


def test_a_token_file_that_is_not_there() -> None:
    config = FeedsConfig(lichess=LichessConfig(token_file="/nonexistent/token"))
    with pytest.raises(ConfigError, match="token_file /nonexistent/token: cannot be read"):
        open_feed("https://lichess.org/broadcast/a/b/abcdefgh", config, env={})


@pytest.mark.slow
def test_a_demo_brings_in_no_network_library() -> None:
    """A newcomer's first command starts fast."""
    program = (
        "import sys; from live.config import FeedsConfig;"
        "from live.feeds.open_feed import open_feed; open_feed('demo', FeedsConfig());"
        "print([name for name in ('httpx', 'websockets', 'watchfiles') if name in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, cwd=ROOT
    )
    assert found.stdout.strip() == b"[]"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_or_device_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pgn")
    for path in (tmp_path / "pipe.pgn", Path(os.devnull)):
        with pytest.raises(FeedUnreadable, match="is no file that can be followed"):
            open_feed(str(path), CONFIG)
