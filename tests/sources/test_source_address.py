"""From the text after ``--feed`` to the kind of source, its name, and its feed."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.errors import ConfigError, FeedNotFound, FeedUnreadable, UnknownFeed
from live.rehearse.web_server import ServedReply, ServedRequest, serve_http
from live.settings import FeedsConfig, LichessConfig, MqttFeedConfig
from live.sources.demo_feed import DemoFeed
from live.sources.file_feed import FileFeed, FolderFeed
from live.sources.lichess import LichessBroadcastFeed
from live.sources.lichess_game import LichessGameFeed
from live.sources.livechess import LiveChessFeed
from live.sources.livechess_cloud import LiveChessCloudFeed
from live.sources.mqtt_address import (
    MqttAddress,
    describe_wrong_topic,
    read_mqtt_address,
)
from live.sources.mqtt_feed import MqttFeed
from live.sources.open_feed import open_feed
from live.sources.pgn_url_feed import PgnUrlFeed
from live.sources.source_address import (
    KINDS,
    LichessTarget,
    origin_of,
    read_cloud_address,
    read_lichess_target,
    recognise_source,
    redact_address,
)
from live.sources.source_probe import probe_sources
from live.sources.stdin_feed import StdinFeed
from tests.sources.fakes import CONFIG, DATA, GAMES, PgnPage, answer_with

UUID = "11111111-2222-3333-4444-555555555555"
TOURS = ("tour", "tournament")


@pytest.mark.parametrize(
    ("kind", "specs"),
    [
        (
            "file",
            ["games.pgn", "./games.txt", "round 1+2.pgn", "a+b/games.pgn", "file+demo"],
        ),
        ("file", ["C:\\open\\games.PGN", "file:///srv/games.pgn"]),
        (
            "pgn-url",
            [
                "https://example.org/live/games.pgn",
                "http://example.org/pgn.php?round=3",
            ],
        ),
        ("lichess", ["https://www.lichess.org/broadcast/-/-/abcdEFG1"]),
        ("lichess", ["https://lichess.org/broadcast/-/-/abcdEFG1#boards"]),
        ("lichess", ["lichess+http://127.0.0.1:9000/broadcast/a/b/abcdEFG1"]),
    ],
)
def test_the_kind_is_told_from_the_text(kind: str, specs: list[str]) -> None:
    assert {recognise_source(spec).kind for spec in specs} == {kind}


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "dmeo",
        "gopher://example.org/games.pgn",
        "lichess.org",
        "https://",
        "http://[::1/games.pgn",
        "https://example.org:port/games.pgn",
        "https://lichess.org/",
        "https://view.livechesscloud.com/#about",
        "chessbase+https://example.org/games.pgn",
    ],
)
def test_what_cannot_be_followed_is_named_with_the_list_of_kinds(spec: str) -> None:
    with pytest.raises(UnknownFeed) as caught:
        recognise_source(spec)
    text = str(caught.value)
    assert f'--feed "{spec}"' in text
    assert all(kind in text for kind in KINDS)
    assert "\n" not in text
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("htps://x.org/a?t=secret", "Did you mean https://x.org/a?t=***?"),
        ("HTTPX://x.org/a", "Did you mean http"),
        ("mqt://hall/a/#", "Did you mean mqtt://hall/a/#?"),
        ("ftp://x.org/a", "an address (http, ws, mqtt)"),
        ("", '--feed "": is empty. Give demo, '),
    ],
)
def test_what_cannot_be_followed_is_answered_with_what_can(
    spec: str, says: str
) -> None:
    with pytest.raises(UnknownFeed) as caught:
        recognise_source(spec)
    assert says in str(caught.value)


def test_the_path_of_a_folder_is_that_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An existing folder is recognised with a path separator in its name, and without
    one.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path.parent))
    for path in (".", "./", str(tmp_path), f"~/{tmp_path.name}"):
        assert recognise_source(path).kind == "folder"
    for name in ("round-1", "round.1"):
        (tmp_path / name).mkdir()
        assert recognise_source(name).kind == "folder"
        assert isinstance(open_feed(name, CONFIG), FolderFeed)


def test_a_configured_lichess_is_recognised_like_the_real_one() -> None:
    url = "http://localhost:9663/broadcast/-/-/abcdEFG1"
    assert recognise_source(url).kind == "pgn-url"
    assert recognise_source(url, lichess_url="http://localhost:9663").kind == "lichess"
    assert read_lichess_target(url) == ("round", "abcdEFG1", 0)


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("https://anna:hunter2@example.org/games.pgn", "https://example.org/games.pgn"),
        ("https://example.org/g#token=hunter2", "https://example.org/g#token=***"),
        (
            "https://example.org/g?code=hunter2&t=hunter2",
            "https://example.org/g?code=***&t=***",
        ),
        (
            "https://example.org/g?round=3&token=hunter2",
            "https://example.org/g?round=3&token=***",
        ),
        (
            "https://example.org/g?api%5Fkey=hunter2",
            "https://example.org/g?api_key=***",
        ),
        (
            "https://x.org/g?X-Amz-Signature=hunter2",
            "https://x.org/g?X-Amz-Signature=***",
        ),
        ("pgn-url+https://a:hunter2@example.org/g", "pgn-url+https://example.org/g"),
        ("mqtt://me:hunter2@hall/a/#", "mqtt://hall/a/#"),
        ("mqtt+mqtt://me:hunter2@hall/a/#", "mqtt+mqtt://hall/a/#"),
        ("games\x1b[31m.pgn", "games�[31m.pgn"),
    ],
)
def test_no_name_holds_a_secret_or_a_control(spec: str, name: str) -> None:
    assert recognise_source(spec).name == name


def test_an_error_holds_no_secret_either() -> None:
    assert redact_address("https://a:hunter2@[::1/g") == "https://…"
    with pytest.raises(UnknownFeed) as caught:
        recognise_source("gopher://anna:hunter2@example.org/x?token=hunter2")
    assert "hunter2" not in str(caught.value)
    assert origin_of("https://a:b@example.org:8443/x?y#z") == "https://example.org:8443"


@pytest.mark.parametrize(
    ("found", "paths"),
    [
        (
            ("round", "abcdEFG1"),
            [
                "/broadcast/a/b/abcdEFG1",
                "/broadcast/a/b/abcdEFG1/hijk5678",
                "/broadcast/a/round-1/abcdEFG1.pgn",
                "/api/broadcast/-/-/abcdEFG1",
                "/embed/broadcast/a/b/abcdEFG1",
                "/api/broadcast/round/abcdEFG1.pgn",
                "/api/stream/broadcast/round/abcdEFG1.pgn",
            ],
        ),
        (
            ("tour", "abcdEFG1"),
            ["/broadcast/a/abcdEFG1", "/api/broadcast/abcdEFG1.pgn"],
        ),
        (
            ("tour", "abcdEFG1"),
            [f"/api/stream/broadcast/{t}/abcdEFG1.pgn" for t in TOURS],
        ),
        (("group", "abcdEFG1"), ["/api/stream/broadcast/group/abcdEFG1.pgn"]),
        (("game", "abcd1234"), ["/abcd1234", "/abcd1234/black", "/abcd1234WXYZ"]),
        (("game", "abcd1234"), ["/api/stream/game/abcd1234", "/embed/game/abcd1234"]),
        (("game", "abcd1234"), ["/game/export/abcd1234.pgn"]),
        (("tv", ""), ["/tv", "/api/tv/feed"]),
        (("tv", "blitz"), ["/tv/blitz", "/api/tv/blitz/feed"]),
        (
            ("page", "/api/study/AbCdEfGh.pgn", 10),
            ["/study/AbCdEfGh", "/study/AbCdEfGh.pgn"],
        ),
        (
            ("page", "/api/study/AbCdEfGh/12345678.pgn", 10),
            ["/study/AbCdEfGh/12345678"],
        ),
        (
            ("page", "/api/tournament/AbCdEfGh/games?clocks=true", 60),
            ["/tournament/AbCdEfGh"],
        ),
        (("page", "/api/swiss/AbCdEfGh/games?clocks=true", 60), ["/swiss/AbCdEfGh"]),
        (
            ("page", "/api/user/somebody/current-game?clocks=true", 6),
            ["/@/somebody/tv"],
        ),
        (
            None,
            ["/broadcast", "/broadcast/a/b/short", "/broadcast/by/user", "/training"],
        ),
        (None, ["/study/embed/x", "/@/somebody", "/"]),
    ],
)
def test_what_an_address_of_lichess_shows(
    found: tuple[Any, ...] | None, paths: list[str]
) -> None:
    for path in paths:
        url = f"https://lichess.org{path}"
        assert read_lichess_target(url) == (LichessTarget(*found) if found else None)
        if found is not None:
            assert recognise_source(url).kind == "lichess"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (f"#{UUID}", (UUID, None)),
        (f"#{UUID}/3", (UUID, 3)),
        (f"#{UUID}/3/12", (UUID, 3)),
        (UUID, (UUID, None)),
        (f"#{UUID.upper()}/0", (UUID.lower(), None)),
        ("#about", None),
    ],
)
def test_tournament_and_round_of_a_livechess_cloud_address(
    path: str, found: tuple[str, int | None] | None
) -> None:
    assert read_cloud_address(f"https://view.livechesscloud.com/{path}") == found


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("mqtt://hall/chess/#", MqttAddress("hall", 1883, False, "chess/#")),
        ("mqtts://hall/+/games/#", MqttAddress("hall", 8883, True, "+/games/#")),
        ("mqtt://hall:1884/a?b=1@2", MqttAddress("hall", 1884, False, "a?b=1@2")),
        ("mqtt://me@hall/a", MqttAddress("hall", 1883, False, "a", "me")),
        (
            "mqtt://me:p%40s%2F@hall/a",
            MqttAddress("hall", 1883, False, "a", "me", "p@s/"),
        ),
        ("mqtt://[::1]:9/a", MqttAddress("::1", 9, False, "a")),
        ("mqtt://hall", MqttAddress("hall", 1883, False, "")),
        ("mqtt://hall//a", MqttAddress("hall", 1883, False, "/a")),
        ("http://hall/a", None),
        ("mqtt:///a", None),
        ("mqtt://hall:99999/a", None),
        ("mqtt://hall:me/a", None),
    ],
)
def test_addresses_of_brokers(text: str, address: MqttAddress | None) -> None:
    assert read_mqtt_address(text) == address


@pytest.mark.parametrize(
    ("topic", "problem"),
    [
        ("a/#", None),
        ("#", None),
        ("+/b/+", None),
        ("$share/group/a", None),
        ("", "names no topic"),
        ("a/#/b", "has a # that is not the last level of its topic"),
        ("a#", "has a # that is not the last level of its topic"),
        ("a/b+", "has a + that is not a whole level of its topic"),
        ("a\x00", "has a topic that no broker accepts"),
        ("a" * 70_000, "has a topic that no broker accepts"),
    ],
)
def test_topics(topic: str, problem: str | None) -> None:
    assert describe_wrong_topic(topic) == problem


@given(st.text(max_size=60))
def test_any_text_is_a_brokers_address_or_none(text: str) -> None:
    read_mqtt_address(text)
    found = read_mqtt_address(f"mqtt://{text}")
    if found is not None:
        assert found.password == "" or found.password not in redact_address(
            found.public
        )
        bare = MqttAddress(found.host, found.port, found.tls, found.topic)
        assert read_mqtt_address(found.public) == bare
    describe_wrong_topic(text)


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
        "pgn-url+https://example.org/games": PgnUrlFeed,
        "https://lichess.org/broadcast/a/b/abcdefgh": LichessBroadcastFeed,
        "https://lichess.org/study/abcdefgh": PgnUrlFeed,
        "https://lichess.org/abcdefgh": LichessGameFeed,
        "ws://hall:1982/api/v1.0": LiveChessFeed,
        f"https://view.livechesscloud.com/#{UUID}": LiveChessCloudFeed,
        "mqtt://hall/a/#": MqttFeed,
    }
    assert {recognise_source(spec).kind for spec in opened} == set(KINDS)
    for spec, kind in opened.items():
        feed = open_feed(spec, CONFIG)
        assert type(feed) is kind
        assert feed.name == ("standard input" if spec == "-" else spec)


@pytest.mark.parametrize(
    ("spec", "error", "says"),
    [
        ("pgn-url+ftp://example.org/x", UnknownFeed, "the kinds are: demo"),
        ("lichess+https://lichess.org/", UnknownFeed, "the kinds are: demo"),
        (
            "{}/none.pgn",
            FeedNotFound,
            "there is no such file.*a service that lasts waits",
        ),
        ("C:\\\\open\\\\games.pgn", FeedNotFound, "a Windows path"),
        ("lichess.org/broadcast/a/b/AbCdEfGh", FeedNotFound, "https://"),
        ("127.0.0.1:80/x.pgn", FeedNotFound, "https://"),
        ("file+{}", FeedUnreadable, "is a folder"),
        ("folder+{}/games.pgn", FeedUnreadable, "is not a folder"),
        (os.devnull, FeedUnreadable, "is not a file that can be followed"),
    ],
)
def test_what_cannot_be_followed_says_why(
    tmp_path: Path, spec: str, error: type[Exception], says: str
) -> None:
    (tmp_path / "games.pgn").touch()
    with pytest.raises(error, match=says):
        open_feed(spec.format(tmp_path), CONFIG, lasting="C:" in spec)


@pytest.mark.parametrize("text", ["./none.pgn", "a.b", "round 1.5/games.pgn"])
def test_what_looks_like_no_host_is_a_path(text: str) -> None:
    with pytest.raises((FeedNotFound, UnknownFeed)) as caught:
        open_feed(text, CONFIG)
    assert "https://" not in str(caught.value)


def test_a_token_file_that_is_not_there() -> None:
    config = FeedsConfig(lichess=LichessConfig(token_file="/nonexistent/token"))
    with pytest.raises(
        ConfigError, match="token_file /nonexistent/token: cannot be read"
    ):
        open_feed("https://lichess.org/broadcast/a/b/abcdefgh", config)


async def test_a_source_that_answers_and_its_games(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("live.sources.source_probe.QUIET_S", 0.2)
    site = PgnPage(GAMES)
    for index, game in enumerate(GAMES):
        site.show_report(index, game)
    async with site.serve() as url:
        page, file = await probe_sources(
            [url, str(DATA / "four-boards.pgn")], CONFIG, within_s=20
        )
    assert (page.kind, page.answers, page.detail) == ("pgn-url", True, "4 games")
    assert [(game.white, game.plies, game.result) for game in page.games] == [
        (game.headers.white.name, len(game.moves), game.result) for game in GAMES
    ]
    assert (file.kind, file.games) == ("file", page.games)


async def test_a_source_that_goes_on_with_moves_is_not_waited_for() -> None:
    """The time limit of a minute is not used up: the demo never falls silent."""
    async with asyncio.timeout(30):
        [demo] = await probe_sources(["demo"], CONFIG, within_s=60)
    assert (demo.answers, len(demo.games)) == (True, 6)


async def test_what_a_look_says_of_sources_that_cannot_be_followed(
    tmp_path: Path,
) -> None:
    async def silent(request: ServedRequest, reply: ServedReply) -> None:
        await reply.writer.wait_closed()

    missing = str(tmp_path / "password")
    config = FeedsConfig(mqtt=MqttFeedConfig(password_file=missing))
    async with (
        serve_http(answer_with(200, b"<html>")) as page,
        serve_http(silent) as hole,
    ):
        expected = {
            "nonsense": ("", "cannot be followed"),
            str(tmp_path / "none.pgn"): ("file", "there is no such file"),
            f"{page}/games.pgn": ("pgn-url", "holds an HTML page"),
            f"{hole}/games.pgn": ("pgn-url", "no answer within 1 s"),
            # A source that is tried once promises no retry, and its message shows no
            # secret.
            "http://me:secret@127.0.0.1:1/x.pgn?token=abc": (
                "pgn-url",
                "cannot reach 127.0.0.1 (Connection refused)",
            ),
            "ws://127.0.0.1:1/api": (
                "dgt-board",
                "cannot reach LiveChess (Connection refused)",
            ),
            "mqtt://127.0.0.1:1/a/#": (
                "mqtt",
                f"feeds.mqtt.password_file {missing}: cannot be",
            ),
        }
        found = await probe_sources(list(expected), config, within_s=1)
    for finding, (kind, detail) in zip(found, expected.values(), strict=True):
        assert (finding.kind, finding.answers) == (kind, False)
        assert finding.detail.startswith(detail)
    assert "secret" not in str(found) and "abc" not in str(found)
    assert found[4].detail.endswith("refused)") and found[5].detail.endswith("refused)")
