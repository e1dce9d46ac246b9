"""Tokens: what a file may say, when they are over, and that new ones are what the file takes."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.errors import ConfigError
from live.publish.access import Token, Tokens, digest_of, new_token, read_tokens
from live.publish.visibility import StreamFilter

NOON = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)


def chance(size: int) -> bytes:
    return bytes(range(size))


def test_a_new_token_is_found_by_its_digest_alone() -> None:
    secret, entry = new_token("screen", chance, arbiter=True, events=("Open A",))
    assert len(secret) == 64
    assert secret not in entry
    token = read_tokens(entry, "f").find(digest_of(secret), NOON)
    assert token == Token("screen", digest_of(secret), True, ("Open A",))
    assert token.within == StreamFilter(events=frozenset({"open a"}))
    assert read_tokens(entry, "f").find(digest_of(secret + "x"), NOON) is None


@pytest.mark.slow
@given(name=st.text(min_size=1), events=st.lists(st.text(min_size=1).filter(str.strip), max_size=3))
def test_any_name_survives_the_file(name: str, events: list[str]) -> None:
    events = [event[:100] for event in events if event[:100].strip()]
    secret, entry = new_token(name, chance, events=tuple(events))
    token = read_tokens(entry, "f").find(digest_of(secret), NOON)
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
def test_a_token_is_valid_until_its_day_is_over(expires: dt.date | None, over: bool) -> None:
    token = Token("a", digest_of("a"), expires=expires)
    assert token.expired(NOON) == over
    assert (Tokens((token,)).find(digest_of("a"), NOON) is None) == over


DIGEST = digest_of("a")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[[token]", "not valid TOML"),
        ("[[tokens]]", "tokens"),
        ("[[token]]\nname = 'a'", "sha256"),
        ("[[token]]\nname = ''\nsha256 = '" + DIGEST + "'", "length"),
        ("[[token]]\nname = 'a'\nsha256 = 'secret'", "regex"),
        (f"[[token]]\nname = 'a'\nsha256 = '{DIGEST}'\nadmin = true", "admin"),
        (f"[[token]]\nname = 'a'\nsha256 = '{DIGEST}'\nevents = ['']", "event is empty"),
        (f"[[token]]\nname = 'a'\nsha256 = '{DIGEST}'\nexpires = 'soon'", "expires"),
        (f"[[token]]\nname = 'a'\nsha256 = '{DIGEST}'\n" * 2, "same name"),
        (
            f"[[token]]\nname='a'\nsha256='{DIGEST}'\n[[token]]\nname='b'\nsha256='{DIGEST}'\n",
            "same sha256",
        ),
    ],
)
def test_a_file_that_says_something_else_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint) as refused:
        read_tokens(text, "server.tokens_file tokens.toml")
    assert "tokens.toml" in str(refused.value)


def test_an_empty_file_lets_nobody_in() -> None:
    assert len(read_tokens("# none yet\n", "f")) == 0
