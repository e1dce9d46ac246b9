"""Tokens: what a file may say, when they are over, and that new ones are what the file
takes.

The file of tokens is read again when it changes; one that is gone or broken lets nobody
in.

Who a request comes from: every way to give a token, and none.

Hosts and origins.

How many, and how fast.

live.server.boards_on_air: who may say what is analysed first.
"""

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.errors import ConfigError
from live.messages.from_clients import OnAirMessage, decode_client_message
from live.messages.health import FeedHealth
from live.server.authentication import Authentication, Guest, read_token
from live.server.boards_on_air import BoardsOnAir
from live.server.http_values import HttpRequest
from live.server.limits import ClientLimits, RateLimits, TokenBucket
from live.server.listening import check_exposure
from live.server.origins import (
    OriginPolicy,
    is_loopback,
    is_this_machine,
    parse_host,
    read_client_address,
)
from live.server.stream_filter import StreamFilter
from live.server.tokens import (
    GRACE_LOOKS,
    Token,
    TokenFile,
    create_token,
    hash_token,
    read_tokens,
)
from live.server.visibility import Visibility
from live.settings import ServerConfig
from tests.server.world import Clock

NOON = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)


def chance(size: int) -> bytes:
    return bytes(range(size))


def test_a_new_token_is_found_by_its_digest_alone() -> None:
    secret, entry = create_token("screen", chance, arbiter=True, events=("Open A",))
    assert len(secret) == 64
    assert secret not in entry
    token = read_tokens(entry, "f").get(hash_token(secret))
    assert token == Token("screen", hash_token(secret), True, ("Open A",))
    assert token.restriction == StreamFilter(events=frozenset({"open a"}))
    assert hash_token(secret + "x") not in read_tokens(entry, "f")


@given(
    name=st.text(min_size=1),
    events=st.lists(st.text(min_size=1).filter(str.strip), max_size=3),
)
def test_any_name_survives_the_file(name: str, events: list[str]) -> None:
    events = [event[:100] for event in events if event[:100].strip()]
    secret, entry = create_token(name, chance, events=tuple(events))
    token = read_tokens(entry, "f").get(hash_token(secret))
    assert token is not None
    assert (token.name, token.events) == (name, tuple(events))


@pytest.mark.parametrize(
    ("expires", "over"),
    [
        (None, False),
        (dt.date(2026, 5, 1), False),
        (dt.date(2026, 4, 30), True),
        (dt.date(9998, 12, 31), False),
    ],
)
def test_a_token_is_valid_until_its_day_is_over(
    expires: dt.date | None, over: bool
) -> None:
    token = Token("a", hash_token("a"), expires=expires)
    assert token.has_expired(NOON) == over
    assert (guard(token).authenticate(request("Bearer a")) is None) == over


DIGEST = hash_token("a")


ENTRY = f"[[token]]\nname = 'a'\nsha256 = '{DIGEST}'\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[[token]", "Expected"),
        ("[[tokens]]", "tokens"),
        ("[[token]]\nname = 'a'", "sha256"),
        (ENTRY.replace("'a'", "''"), "length"),
        (ENTRY.replace(DIGEST, "secret"), "regex"),
        (f"{ENTRY}admin = true", "admin"),
        (f"{ENTRY}events = ['']", "event is empty"),
        (f"{ENTRY}expires = 'soon'", "expires"),
        (ENTRY * 2, "same name"),
        (ENTRY + ENTRY.replace("'a'", "'b'"), "same sha256"),
    ],
)
def test_a_file_that_says_something_else_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint) as refused:
        read_tokens(text, "server.tokens_file tokens.toml")
    assert "tokens.toml" in str(refused.value)


def entry(name: str, byte: int) -> str:
    return create_token(name, lambda size: bytes([byte]) * size)[1]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "tokens.toml"
    made.write_text(entry("a", 1), encoding="utf-8")
    return made


@pytest.mark.parametrize("left", [None, "[[tok"])
def test_a_file_that_is_gone_or_broken_withdraws_its_tokens_soon(
    left: str | None, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    said = list[FeedHealth]()
    file = TokenFile(str(path), said.append)
    file.read(file.load())
    path.unlink()
    if left is not None:
        path.write_text(left)
    assert [file.update(file.load()) for _ in range(GRACE_LOOKS)] == [
        None
    ] * GRACE_LOOKS
    assert f"withdrawn in {GRACE_LOOKS} s" in said[-1].detail
    assert file.update(file.load()) == {}
    assert "are withdrawn until" in said[-1].detail
    assert [file.update(file.load()) for _ in range(5)] == [None] * 5
    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]
    path.write_text(entry("a", 1))
    assert len(file.update(file.load()) or ()) == 1
    assert [each.state for each in said] == ["failed", "failed", "live"]
    assert file.update(file.load()) is None


def test_half_a_file_for_a_moment_withdraws_nothing_but_rubbish_gets_no_more_time(
    path: Path,
) -> None:
    file = TokenFile(str(path), print)
    file.read(file.load())
    path.write_text("[[tok")
    assert file.update(file.load()) is None
    path.write_text(entry("a", 1) + entry("b", 2))
    assert len(file.update(file.load()) or ()) == 2
    assert [file.update(file.load()) for _ in range(2 * GRACE_LOOKS)] == [
        None
    ] * 2 * GRACE_LOOKS
    looks = []
    for number in range(GRACE_LOOKS + 1):
        path.write_text("[[tok" * number + "[")
        looks.append(file.update(file.load()))
    assert looks == [*[None] * GRACE_LOOKS, {}]


@pytest.mark.parametrize(
    ("data", "complaint"), [(None, "No such file"), (b"\xff", "UTF-8")]
)
def test_a_file_that_cannot_be_read_is_refused(
    path: Path, data: bytes | None, complaint: str
) -> None:
    path.unlink()
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ConfigError, match=complaint):
        file = TokenFile(str(path), print)
        file.read(file.load())


SCREEN = Token(
    "screen", hash_token("s"), events=("Open A",), expires=dt.date(2026, 5, 1)
)
ARBITER = Token("arbiter", hash_token("a"), arbiter=True)
WITHIN = StreamFilter(events=frozenset({"open a"}))


def guard(
    *tokens: Token, now: Callable[[], dt.datetime] = lambda: NOON, **admits: Any
) -> Authentication:
    known = {token.sha256: token for token in tokens} or None
    return Authentication(known, ServerConfig(**admits), now)


def request(header: str | None = None, *query: tuple[str, str]) -> HttpRequest:
    headers = {} if header is None else {"authorization": header}
    return HttpRequest("GET", "/v3/live", query, headers)


@pytest.mark.parametrize(
    ("asked", "token"),
    [
        (request(), None),
        (request("Bearer abc"), "abc"),
        (request("Basic abc"), ""),
        (request(""), ""),
        (request(None, ("token", "abc")), "abc"),
        (request(None, ("token", "")), ""),
        (request(None, ("token", "a"), ("token", "b")), ""),
        (request("Bearer x", ("token", "abc")), "x"),
    ],
)
def test_a_token_is_read_from_header_or_query(
    asked: HttpRequest, token: str | None
) -> None:
    assert read_token(asked) == token


def test_without_a_file_everybody_is_the_public() -> None:
    for asked in (request(), request("Bearer whatever")):
        assert guard().authenticate(asked) == Guest(
            Visibility.PUBLIC, can_read_metrics=True
        )
        assert guard(hide_scores=True).authenticate(asked) == Guest(Visibility.VENUE)
    assert not guard().should_ask_for_token(request())


def test_with_a_file_only_tokens_count() -> None:
    strict = guard(SCREEN, ARBITER)
    assert strict.authenticate(request()) is None
    assert strict.authenticate(request("Bearer x")) is None
    assert strict.authenticate(request("Bearer ")) is None
    screen = Guest(Visibility.PUBLIC, WITHIN, hash_token("s"), name="screen")
    arbiter = Guest(Visibility.ARBITER, None, hash_token("a"), name="arbiter")
    assert strict.authenticate(request("Bearer s")) == screen
    assert strict.authenticate(request(None, ("token", "a"))) == arbiter
    assert strict.should_ask_for_token(request())
    assert not strict.should_ask_for_token(request("Bearer x"))


def test_a_wrong_token_is_not_quietly_the_public() -> None:
    both = guard(SCREEN, public=True)
    assert both.authenticate(request()) == Guest(Visibility.PUBLIC)
    assert both.authenticate(request("Bearer x")) is None
    assert not both.should_ask_for_token(request())


@pytest.mark.parametrize(
    ("message", "known"),
    [
        (b'{"type":"token","token":"s"}', True),
        (b'{"type":"token","token":"s","more":1}', True),
        (b'{"type":"token","token":null}', False),
        (b'{"token":"s"}', True),
        (b'{"type":"hello","token":"s"}', False),
        (b"\xff", False),
        (b"[" * 3000, False),
        (b'{"type":"token","token":"' + b"s" * 600 + b'"}', False),
    ],
)
def test_a_first_message_says_who_it_is_or_not(message: bytes, known: bool) -> None:
    assert (guard(SCREEN).authenticate_message(message) is not None) == known


def test_a_guest_stays_while_its_token_says_the_same() -> None:
    now = [NOON]
    strict = guard(SCREEN, ARBITER, now=lambda: now[0])
    guest = strict.authenticate(request("Bearer s"))
    assert guest is not None
    assert strict.is_still_valid(guest)
    now[0] = NOON + dt.timedelta(days=1)
    assert not strict.is_still_valid(guest)
    now[0] = NOON
    strict.tokens = {hash_token("s"): Token("screen", hash_token("s"))}
    assert not strict.is_still_valid(guest), "it may see something else now"
    strict.tokens = {}
    assert not strict.is_still_valid(guest)
    assert guard().is_still_valid(Guest(Visibility.PUBLIC, can_read_metrics=True))


def test_metrics_need_a_token_for_them_unless_nothing_is_withheld() -> None:
    meter = Token("meter", hash_token("m"), metrics=True)
    strict = guard(meter, SCREEN, ARBITER, public=True)

    def can_read_metrics(token: str | None) -> bool:
        guest = strict.authenticate(request(token))
        return guest is not None and guest.can_read_metrics

    assert can_read_metrics("Bearer m")
    for token in ("Bearer s", "Bearer a", None):
        assert not can_read_metrics(token), token
    hidden = guard(hide_scores=True).authenticate(request())
    assert hidden is not None and not hidden.can_read_metrics


@pytest.mark.parametrize(
    ("authority", "host"),
    [
        ("localhost", "localhost"),
        ("[::1]:80", "::1"),
        ("127.0.0.1:8765", "127.0.0.1"),
        ("", ""),
        ("a:99999", ""),
        ("a@b", ""),
        ("[::1", ""),
    ],
)
def test_the_host_of_an_authority(authority: str, host: str) -> None:
    assert parse_host(authority) == host


def test_what_can_only_mean_this_machine() -> None:
    for host in (
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "127.0.0.1",
        "127.9.9.9",
        "::1",
    ):
        assert is_loopback(host)
    for host in (
        "0.0.0.0",
        "10.0.0.1",
        "localhost.example",
        "127.0.0.1.example",
        "",
        "::",
    ):
        assert not is_loopback(host)


def test_beyond_loopback_any_name_is_answered_unless_some_are_listed() -> None:
    assert OriginPolicy(ServerConfig(host="0.0.0.0")).accepts_host(
        "anything.example:80"
    )
    listed = OriginPolicy(ServerConfig(host="0.0.0.0", hosts=("chess.example",)))
    assert listed.accepts_host("CHESS.example:443")
    assert not listed.accepts_host("other.example")
    # Names of this machine are no attacker's, and health checks ask by them.
    assert listed.accepts_host("127.0.0.1:8765")
    assert listed.accepts_host("localhost")
    bound = OriginPolicy(ServerConfig(host="127.0.0.1", hosts=("chess.example",)))
    assert bound.accepts_host("chess.example") and bound.accepts_host("localhost")
    assert not bound.accepts_host("other.example")


def test_origins() -> None:
    gate = OriginPolicy(
        ServerConfig(host="127.0.0.1", origins=("https://club.example/", "null"))
    )
    assert gate.allows_origin(None, "127.0.0.1:1")
    assert gate.allows_origin("https://CLUB.example", "127.0.0.1:1")
    assert gate.allows_origin("null", "127.0.0.1:1")
    assert gate.allows_origin("http://127.0.0.1:1", "127.0.0.1:1")
    assert gate.allows_origin("https://localhost:1", "LOCALHOST:1")
    for origin in (
        "http://127.0.0.1:2",
        "https://club.example.evil",
        "file://",
        "",
        "evil",
        "http://[::1",
    ):
        assert not gate.allows_origin(origin, "127.0.0.1:1")
    assert not OriginPolicy(ServerConfig(host="127.0.0.1")).allows_origin(
        "null", "127.0.0.1:1"
    )


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "2001:db8::1"])
def test_only_an_address_of_this_machine_needs_no_permission(host: str) -> None:
    assert check_exposure(ServerConfig(host="::1")) == []
    with pytest.raises(ConfigError, match=rf"{host}.*--public"):
        check_exposure(ServerConfig(host=host))
    for settings, said in (
        ({"public": True}, ["scores of running games included"]),
        ({"public": True, "hide_scores": True}, ["without scores"]),
        ({"tokens_file": "t"}, ["in the clear"]),
        ({"tokens_file": "t", "certificate_file": "c"}, []),
    ):
        lines = check_exposure(ServerConfig(host=host, **settings))
        assert [part in line for part, line in zip(said, lines, strict=True)] == [
            True
        ] * len(said)


def test_a_bucket_gives_its_burst_and_then_its_rate() -> None:
    bucket = TokenBucket(rate=2, burst=3, now_s=0)
    assert [bucket.take(0) for _ in range(4)] == [True, True, True, False]
    assert not bucket.take(0.4)
    assert bucket.take(0.5)
    assert [bucket.take(100) for _ in range(4)] == [True, True, True, False]


def test_so_many_from_one_address_and_so_many_in_all() -> None:
    limits = ClientLimits(
        connections=4, connections_per_address=2, handshakes_per_address_burst=1
    )
    admission = RateLimits(limits, Clock())
    assert [admission.add_connection("10.0.0.1") for _ in range(3)] == [
        True,
        True,
        False,
    ]
    admission.remove_connection("10.0.0.1")
    # This machine is counted in all only.
    assert admission.add_connection("127.0.0.1") and admission.add_connection("::1")
    assert not admission.add_connection("10.0.0.4") and not admission.add_connection(
        "127.0.0.1"
    )
    assert all(admission.admit_handshake("::1") for _ in range(50))


def test_one_visitor_behind_a_proxy_cannot_use_up_the_websockets_of_others() -> None:
    admission = RateLimits(ClientLimits(connections_per_address=2), Clock())
    for _ in range(2):
        assert admission.has_room_for("203.0.113.1")
        admission.add_websocket("203.0.113.1")
    assert not admission.has_room_for("203.0.113.1") and admission.has_room_for(
        "203.0.113.2"
    )
    admission.remove_websocket("203.0.113.1")
    assert admission.has_room_for("203.0.113.1")
    # This machine itself, where no proxy names anybody.
    for _ in range(9):
        admission.add_websocket("127.0.0.1")
    assert admission.has_room_for("127.0.0.1")


def test_one_address_cannot_use_up_the_handshakes_of_others() -> None:
    clock = Clock()
    limits = ClientLimits(
        handshakes_burst=5,
        handshakes_per_s=1,
        handshakes_per_address_burst=2,
        handshakes_per_address_per_s=0.5,
    )
    admission = RateLimits(limits, clock)
    assert [admission.admit_handshake("10.0.0.1") for _ in range(3)] == [
        True,
        True,
        False,
    ]
    assert [admission.admit_handshake("10.0.0.2") for _ in range(3)] == [
        True,
        True,
        False,
    ]
    assert admission.admit_handshake("10.0.0.3")
    assert not admission.admit_handshake("10.0.0.4")
    clock.now_s += 2
    assert admission.admit_handshake("10.0.0.1")
    assert admission.admit_handshake("10.0.0.4")
    assert not admission.admit_handshake("10.0.0.1")


def test_addresses_are_not_remembered_without_end() -> None:
    admission = RateLimits(ClientLimits(handshakes_burst=1e9), Clock())
    for number in range(10_000):
        admission.admit_handshake(f"10.0.{number // 256}.{number % 256}")
    assert len(admission._rates) <= 4096


@pytest.mark.parametrize(
    ("address", "named", "counted"),
    [
        ("192.0.2.7", "10.0.0.1", "192.0.2.7"),
        ("127.0.0.1", None, "127.0.0.1"),
        ("127.0.0.1", "10.0.0.1, 192.0.2.7", "192.0.2.7"),
        ("::1", "2001:DB8::1", "2001:db8::1"),
        *(
            ("127.0.0.1", said, "127.0.0.1")
            for said in ("", "unknown", "192.0.2.7,", 9000 * "x")
        ),
    ],
)
def test_only_a_proxy_on_this_machine_says_for_whom_it_asks(
    address: str, named: str | None, counted: str
) -> None:
    headers = {} if named is None else {"x-forwarded-for": named}
    assert read_client_address(headers, address) == counted


HERE = {"host": "127.0.0.1:8765"}


@pytest.mark.parametrize(
    ("headers", "address", "here"),
    [
        (HERE, "127.0.0.1", True),
        ({"host": "localhost:8765"}, "::1", True),
        ({**HERE, "origin": "http://127.0.0.1:8765"}, "127.0.0.1", True),
        # From elsewhere, or through a proxy on this machine, or from a page of
        # elsewhere.
        (HERE, "192.0.2.7", False),
        ({"host": "chess.example"}, "127.0.0.1", False),
        ({**HERE, "x-forwarded-for": "192.0.2.7"}, "127.0.0.1", False),
        ({**HERE, "origin": "https://chess.example"}, "127.0.0.1", False),
        ({**HERE, "origin": "null"}, "127.0.0.1", False),
        ({}, "127.0.0.1", False),
    ],
)
def test_this_machine_and_no_other(
    headers: dict[str, str], address: str, here: bool
) -> None:
    assert is_this_machine(headers, address) is here


@pytest.mark.parametrize(
    ("message", "games"),
    [
        (b'{"type":"air","games":["a","b"]}', ("a", "b")),
        (b'{"type":"air"}', ()),
        (b'{"type":"token","token":"x"}', None),
        (b'{"type":"air","games":[1]}', None),
        (b'{"type":"air","games":["\xff"]}', None),
        (b'{"x":' + b"[" * 5000, None),
    ],
)
def test_only_what_is_meant_is_heard(
    message: bytes, games: tuple[str, ...] | None
) -> None:
    found = decode_client_message(message, OnAirMessage)
    assert (found and found.games) == games


def test_what_all_overlays_show_is_on_air_while_they_are_there() -> None:
    told = list[frozenset[str]]()
    air = BoardsOnAir(told.append)

    def show(overlay: str, *games: str) -> None:
        air.update(overlay, msgspec.json.encode(OnAirMessage(games)))

    show("one", "a")
    show("two", "a", "b")
    air.update("two", b"noise")
    show("two")
    # A wall of all boards puts none before the others.
    show("two", *(f"g{n}" for n in range(9)))
    air.remove("one")
    air.remove("one")
    assert told == [{"a"}, {"a", "b"}, {"a"}, frozenset()]
