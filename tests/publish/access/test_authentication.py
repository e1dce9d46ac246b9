"""Who a request comes from: every way to give a token, and none."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.publish.access import Authentication, Guest, Token, Tokens, digest_of, given_token
from live.publish.answers import HttpRequest
from live.publish.visibility import EVERYTHING, StreamFilter, Visibility

NOON = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)
SCREEN = Token("screen", digest_of("s"), events=("Open A",), expires=dt.date(2026, 5, 1))
ARBITER = Token("arbiter", digest_of("a"), arbiter=True)
WITHIN = StreamFilter(events=frozenset({"open a"}))


class Day:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> dt.datetime:
        return self.now


def guard(
    *tokens: Token, public: bool = False, hide_scores: bool = False, day: Day | None = None
) -> Authentication:
    return Authentication(
        Tokens(tokens) if tokens else None, public=public, hide_scores=hide_scores, now=day or Day()
    )


def request(header: str | None = None, *query: tuple[str, str]) -> HttpRequest:
    headers = {} if header is None else {"authorization": header}
    return HttpRequest("GET", "/v2/live", query, headers)


@pytest.mark.parametrize(
    ("asked", "token"),
    [
        (request(), None),
        (request("Bearer abc"), "abc"),
        (request("bearer  abc "), "abc"),
        (request("Basic abc"), ""),
        (request("abc"), ""),
        (request(""), ""),
        (request(None, ("token", "abc")), "abc"),
        (request(None, ("token", "")), ""),
        (request(None, ("token", "a"), ("token", "b")), ""),
        (request("Bearer x", ("token", "abc")), "x"),
    ],
)
def test_a_token_is_read_from_header_or_query(asked: HttpRequest, token: str | None) -> None:
    assert given_token(asked) == token


def test_without_a_file_everybody_is_the_public() -> None:
    for asked in (request(), request("Bearer whatever")):
        assert guard().who(asked) == Guest(Visibility.PUBLIC, metrics=True)
        assert guard(hide_scores=True).who(asked) == Guest(Visibility.VENUE)
    assert not guard().asks_first(request())


def test_with_a_file_only_tokens_count() -> None:
    strict = guard(SCREEN, ARBITER)
    assert strict.who(request()) is None
    assert strict.who(request("Bearer x")) is None
    assert strict.who(request("Bearer ")) is None
    assert strict.who(request("Bearer s")) == Guest(Visibility.PUBLIC, WITHIN, digest_of("s"))
    assert strict.who(request(None, ("token", "a"))) == Guest(
        Visibility.ARBITER, None, digest_of("a")
    )
    assert strict.asks_first(request())
    assert not strict.asks_first(request("Bearer x"))


def test_a_wrong_token_is_not_quietly_the_public() -> None:
    both = guard(SCREEN, public=True)
    assert both.who(request()) == Guest(Visibility.PUBLIC)
    assert both.who(request("Bearer x")) is None
    assert not both.asks_first(request())
    assert both.asks_first(request(None, ("auth", "message")))


def test_hidden_scores_are_hidden_from_tokens_too_but_not_from_arbiters() -> None:
    venue = guard(SCREEN, ARBITER, hide_scores=True)
    screen, arbiter = venue.who(request("Bearer s")), venue.who(request("Bearer a"))
    assert screen is not None and screen.visibility is Visibility.VENUE
    assert arbiter is not None and arbiter.visibility is Visibility.ARBITER


@pytest.mark.parametrize(
    ("message", "known"),
    [
        (b'{"type":"token","token":"s"}', True),
        (b'{"type":"token","token":"s","more":1}', True),
        (b'{"type":"token","token":"x"}', False),
        (b'{"type":"token","token":""}', False),
        (b'{"type":"token","token":null}', False),
        (b'{"type":"token"}', False),
        (b'{"token":"s"}', True),
        (b'{"type":"hello","token":"s"}', False),
        (b'"s"', False),
        (b"s", False),
        (b"", False),
        (b"\xff", False),
        (b"[" * 3000, False),
        (b'{"type":"token","token":"' + b"s" * 600 + b'"}', False),
    ],
)
def test_a_first_message_says_who_it_is_or_not(message: bytes, known: bool) -> None:
    assert (guard(SCREEN).introduced(message) is not None) == known


@given(st.binary())
def test_no_first_message_fails(message: bytes) -> None:
    assert guard(SCREEN).introduced(message) is None


def test_a_guest_stays_while_its_token_says_the_same() -> None:
    day = Day()
    strict = guard(SCREEN, ARBITER, day=day)
    guest = strict.who(request("Bearer s"))
    assert guest is not None
    assert strict.still(guest)
    day.now = NOON + dt.timedelta(days=1)
    assert not strict.still(guest)
    day.now = NOON
    strict.replace(Tokens((Token("screen", digest_of("s")),)))
    assert not strict.still(guest), "it may see something else now"
    strict.replace(Tokens())
    assert not strict.still(guest)
    assert guard().still(Guest(Visibility.PUBLIC, metrics=True))


def test_metrics_are_read_with_a_token_that_says_so_or_where_nothing_is_withheld() -> None:
    meter = Token("meter", digest_of("m"), metrics=True)
    strict = guard(meter, SCREEN, ARBITER, public=True)
    read = {
        token: guest is not None and guest.metrics
        for token in ("Bearer m", "Bearer s", "Bearer a", None)
        for guest in [strict.who(request(token))]
    }
    assert read == {"Bearer m": True, "Bearer s": False, "Bearer a": False, None: False}
    hidden = guard(hide_scores=True).who(request())
    assert hidden is not None and not hidden.metrics


def test_a_guest_gets_what_it_asks_for_within_what_it_may() -> None:
    asked = StreamFilter(games=frozenset({"g1"}))
    got = Guest(Visibility.VENUE, WITHIN).limit(asked)
    assert (got.games, got.within, got.visibility) == (asked.games, WITHIN, Visibility.VENUE)
    assert Guest().limit(EVERYTHING) == EVERYTHING
