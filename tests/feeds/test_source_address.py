import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.errors import UnknownFeed
from live.feeds.source_address import (
    KINDS,
    lichess_broadcast,
    lichess_page,
    lichess_watch,
    origin,
    public_name,
    recognise,
)


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("demo", "demo"),
        ("-", "stdin"),
        ("games.pgn", "file"),
        ("./games.txt", "file"),
        ("/srv/open/games.pgn", "file"),
        ("round 1+2.pgn", "file"),
        ("a+b/games.pgn", "file"),
        ("C:\\open\\games.PGN", "file"),
        ("file:///srv/games.pgn", "file"),
        ("https://example.org/live/games.pgn", "pgn-url"),
        ("http://example.org/pgn.php?round=3", "pgn-url"),
        ("https://lichess.org/broadcast/norway-chess/round-1/abcdEFG1", "lichess"),
        ("https://lichess.org/broadcast/norway-chess/round-1/abcdEFG1/12345678", "lichess"),
        ("https://www.lichess.org/broadcast/-/-/abcdEFG1", "lichess"),
        ("https://lichess.org/broadcast/-/-/abcdEFG1#boards", "lichess"),
        ("https://lichess.org/api/stream/broadcast/round/abcdEFG1.pgn", "lichess"),
        ("https://lichess.org/api/broadcast/round/abcdEFG1.pgn", "lichess"),
        ("https://lichess.org/broadcast/norway-chess/abcdEFG1", "lichess"),
        ("https://lichess.org/api/stream/broadcast/tour/abcdEFG1.pgn", "lichess"),
        ("https://lichess.org/study/abcdEFG1.pgn", "lichess"),
        ("https://lichess.org/abcd1234", "lichess"),
        ("https://lichess.org/tv/blitz", "lichess"),
        (
            "https://view.livechesscloud.com/#11111111-2222-3333-4444-555555555555/2",
            "livechess-cloud",
        ),
        ("ws://192.168.1.5:1982/api/v1.0", "dgt-board"),
        ("file+demo", "file"),
        ("pgn-url+https://lichess.org/x", "pgn-url"),
        ("lichess+http://127.0.0.1:9000/broadcast/a/b/abcdEFG1", "lichess"),
    ],
)
def test_the_kind_is_told_from_the_text(spec: str, kind: str) -> None:
    assert recognise(spec).kind == kind


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
        "https://lichess.org/training",
        "https://view.livechesscloud.com/#about",
        "chessbase+https://example.org/games.pgn",
    ],
)
def test_what_cannot_be_followed_is_named_with_the_list_of_kinds(spec: str) -> None:
    with pytest.raises(UnknownFeed) as caught:
        recognise(spec)
    text = str(caught.value)
    assert f'--feed "{spec}"' in text
    assert all(kind in text for kind in KINDS)
    assert "\n" not in text
    assert caught.value.exit_code == 2


def test_a_bare_word_may_be_a_folder() -> None:
    with pytest.raises(UnknownFeed, match=r"Write \./round-1 if it is a file or folder"):
        recognise("round-1")


def test_a_configured_lichess_is_recognised_like_the_real_one() -> None:
    url = "http://localhost:9663/broadcast/-/-/abcdEFG1"
    assert recognise(url).kind == "pgn-url"
    assert recognise(url, lichess_url="http://localhost:9663").kind == "lichess"
    assert lichess_broadcast(url) == ("round", "abcdEFG1")


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("https://anna:hunter2@example.org/games.pgn", "https://example.org/games.pgn"),
        ("https://example.org/g#token=hunter2", "https://example.org/g#token=***"),
        ("https://example.org/g?code=hunter2&t=hunter2", "https://example.org/g?code=***&t=***"),
        ("https://example.org/g?round=3&token=hunter2", "https://example.org/g?round=3&token=***"),
        ("https://example.org/g?api%5Fkey=hunter2", "https://example.org/g?api_key=***"),
        (
            "https://example.org/g?X-Amz-Signature=hunter2",
            "https://example.org/g?X-Amz-Signature=***",
        ),
        ("pgn-url+https://a:hunter2@example.org/g", "pgn-url+https://example.org/g"),
        ("https://a:hunter2@[::1/g", "https://…"),
        ("games\x1b[31m.pgn", "games�[31m.pgn"),
    ],
)
def test_no_name_holds_a_secret_or_a_control(spec: str, name: str) -> None:
    assert public_name(spec.removeprefix("pgn-url+")) == name.removeprefix("pgn-url+")
    if "[::1" not in spec:
        assert recognise(spec).name == name


def test_an_error_holds_no_secret_either() -> None:
    with pytest.raises(UnknownFeed) as caught:
        recognise("gopher://anna:hunter2@example.org/x?token=hunter2")
    assert "hunter2" not in str(caught.value)


@given(st.text())
def test_any_text_is_a_source_or_an_unknown_one(spec: str) -> None:
    try:
        source = recognise(spec)
    except UnknownFeed:
        return
    assert source.kind in KINDS
    assert source.name.isprintable()


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/broadcast/a/b/abcdEFG1", ("round", "abcdEFG1")),
        ("/broadcast/a/b/abcdEFG1/hijk5678", ("round", "abcdEFG1")),
        ("/broadcast/a/abcdEFG1", ("tour", "abcdEFG1")),
        ("/api/stream/broadcast/tour/abcdEFG1.pgn", ("tour", "abcdEFG1")),
        ("/api/stream/broadcast/tournament/abcdEFG1.pgn", ("tour", "abcdEFG1")),
        ("/api/broadcast/abcdEFG1.pgn", ("tour", "abcdEFG1")),
        ("/api/stream/broadcast/group/abcdEFG1.pgn", ("group", "abcdEFG1")),
        ("/broadcast", None),
        ("/broadcast/a/b/short", None),
        ("/broadcast/by/user", None),
    ],
)
def test_scope_and_id_of_a_broadcast(path: str, found: tuple[str, str] | None) -> None:
    assert lichess_broadcast("https://lichess.org" + path) == found


def test_origin_leaves_out_everything_private() -> None:
    assert origin("https://a:b@example.org:8443/x?y#z") == "https://example.org:8443"


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://lichess.org/broadcast/a/round-1/AbCdEfGh.pgn", ("round", "AbCdEfGh")),
        ("https://lichess.org/api/broadcast/-/-/AbCdEfGh", ("round", "AbCdEfGh")),
        ("https://lichess.org/embed/broadcast/a/b/AbCdEfGh", ("round", "AbCdEfGh")),
        ("https://lichess.org/api/broadcast/round/AbCdEfGh.pgn", ("round", "AbCdEfGh")),
    ],
)
def test_every_address_of_a_broadcast_goes_to_its_stream(url: str, found: tuple[str, str]) -> None:
    assert lichess_broadcast(url) == found
    assert recognise(url).kind == "lichess"


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/study/AbCdEfGh", "/api/study/AbCdEfGh.pgn"),
        ("/study/AbCdEfGh.pgn", "/api/study/AbCdEfGh.pgn"),
        ("/study/AbCdEfGh/12345678", "/api/study/AbCdEfGh/12345678.pgn"),
        ("/study/embed/x", None),
        ("/tournament/AbCdEfGh", "/api/tournament/AbCdEfGh/games?clocks=true"),
        ("/swiss/AbCdEfGh", "/api/swiss/AbCdEfGh/games?clocks=true"),
        ("/@/somebody/tv", "/api/user/somebody/current-game?clocks=true"),
        ("/@/somebody", None),
    ],
)
def test_lichess_pages_without_a_stream_are_asked_for_as_pgn(path: str, asked: str | None) -> None:
    found = lichess_page(f"https://lichess.org{path}")
    assert (found and found[0]) == asked
    if asked is not None:
        assert recognise(f"https://lichess.org{path}").kind == "lichess"


def test_an_embedded_game_is_that_game() -> None:
    assert lichess_watch("https://lichess.org/embed/game/AbCdEfGh") == ("game", "AbCdEfGh")
    assert lichess_watch("https://lichess.org/game/export/AbCdEfGh.pgn") == ("game", "AbCdEfGh")
