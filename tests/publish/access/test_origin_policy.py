"""Hosts and origins."""

from __future__ import annotations

import pytest

from live.config import ServerConfig
from live.errors import ConfigError
from live.publish.access import OriginPolicy, check_exposure, host_of, is_loopback


@pytest.mark.parametrize(
    ("authority", "host"),
    [
        ("localhost", "localhost"),
        ("LocalHost:80", "localhost"),
        ("[::1]:80", "::1"),
        ("127.0.0.1:8765", "127.0.0.1"),
        ("", None),
        ("a b", None),
        ("a:port", None),
        ("a:99999", None),
        ("a@b", None),
        ("a/b", None),
        ("[::1", None),
    ],
)
def test_the_host_of_an_authority(authority: str, host: str | None) -> None:
    assert host_of(authority) == host


def test_what_can_only_mean_this_machine() -> None:
    for host in ("localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.9.9.9", "::1"):
        assert is_loopback(host)
    for host in ("0.0.0.0", "10.0.0.1", "localhost.example", "127.0.0.1.example", "", "::"):
        assert not is_loopback(host)


def test_beyond_loopback_any_name_is_answered_unless_some_are_listed() -> None:
    assert OriginPolicy("0.0.0.0").answers_to("anything.example:80")
    listed = OriginPolicy("0.0.0.0", hosts=["chess.example"])
    assert listed.answers_to("CHESS.example:443")
    assert not listed.answers_to("other.example")
    # Names of this machine are no attacker's, and health checks ask by them.
    assert listed.answers_to("127.0.0.1:8765")
    assert listed.answers_to("localhost")


def test_on_loopback_a_listed_name_is_answered_too() -> None:
    gate = OriginPolicy("127.0.0.1", hosts=["chess.example"])
    assert gate.answers_to("chess.example")
    assert gate.answers_to("localhost")
    assert not gate.answers_to("other.example")


def test_origins() -> None:
    gate = OriginPolicy("127.0.0.1", origins=["https://club.example/", "null"])
    assert gate.lets_in(None, "127.0.0.1:1")
    assert gate.lets_in("https://CLUB.example", "127.0.0.1:1")
    assert gate.lets_in("null", "127.0.0.1:1")
    assert gate.lets_in("http://127.0.0.1:1", "127.0.0.1:1")
    assert gate.lets_in("https://localhost:1", "LOCALHOST:1")
    for origin in (
        "http://127.0.0.1:2",
        "https://club.example.evil",
        "file://",
        "",
        "evil",
        "http://[::1",
    ):
        assert not gate.lets_in(origin, "127.0.0.1:1")
    assert not OriginPolicy("127.0.0.1").lets_in("null", "127.0.0.1:1")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_this_machine_alone_needs_no_permission(host: str) -> None:
    assert check_exposure(ServerConfig(host=host)) == []


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "2001:db8::1"])
def test_any_other_address_does(host: str) -> None:
    with pytest.raises(ConfigError, match="--public") as refused:
        check_exposure(ServerConfig(host=host))
    assert host in str(refused.value)


def test_what_others_can_see_is_said() -> None:
    (line,) = check_exposure(ServerConfig(host="0.0.0.0", public=True))
    assert "scores of running games included" in line
    (line,) = check_exposure(ServerConfig(host="0.0.0.0", public=True, hide_scores=True))
    assert "without scores" in line
    (line,) = check_exposure(ServerConfig(host="0.0.0.0", tokens_file="t"))
    assert "in the clear" in line
    assert check_exposure(ServerConfig(host="0.0.0.0", tokens_file="t", certificate_file="c")) == []
