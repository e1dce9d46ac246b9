import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.feeds.charset import not_pgn, what_instead


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"  \r\n ",
        b'[Event "x"]',
        b'\xef\xbb\xbf[Event "x"]',
        b'   [Event "after keep-alives"]',
        b'[ePGN "0.1;DGT LiveChess/2.2.6"]',
        b"% escape line\n[Event",
        b"; comment\n1. e4",
        b"1. e4 e5",
        b"e4 e5 Nf3 *",
        b"O-O",
        b"{ [%eval 0.2] } 1. e4",
        b"*",
        '[Event "x"]'.encode("utf-16"),
    ],
)
def test_what_may_be_pgn(head: bytes) -> None:
    assert not_pgn(head) is None


@pytest.mark.parametrize(
    ("head", "what"),
    [
        (b"<!DOCTYPE html><html>", "HTML"),
        (b"\n\n  <HTML>", "HTML"),
        (b'\xef\xbb\xbf<!doctype HTML public "x">', "HTML"),
        (b"<?xml version='1.0'?><rss>", "XML"),
        (b'{"error":"Not found"}', "JSON"),
        (b'[{"id": 1}]', "JSON"),
        (b"%PDF-1.7", "PDF"),
        (b"PK\x03\x04....", "ZIP"),
        (gzip.compress(b"[Event", mtime=0), "gzip"),
        (b"\x7fELF\x00\x00", "binary"),
        (b"Please log in", "not PGN"),
        (b"Dear friends of chess, today", "not PGN"),
    ],
)
def test_what_is_not(head: bytes, what: str) -> None:
    assert what in (not_pgn(head) or "")


def test_a_login_page_without_tags_is_known_by_its_type() -> None:
    assert "HTML" in (not_pgn(b"Please log in", "text/html; charset=utf-8") or "")


def test_pgn_sent_as_html_is_still_pgn() -> None:
    assert not_pgn(b'[Event "x"]', "text/html") is None


@given(st.binary(max_size=50), st.text(max_size=10))
def test_never_raises(head: bytes, content_type: str) -> None:
    not_pgn(head, content_type)


@pytest.mark.parametrize("head", [b"hello\n", b"Oops", b"Bob 1-0"])
def test_a_short_word_is_no_move(head: bytes) -> None:
    assert not_pgn(head) == "text that is not PGN"


@pytest.mark.parametrize("host", ["chess.com", "www.chess.com", "s1.chess-results.com"])
def test_a_site_without_games_is_known_with_its_subdomains(host: str) -> None:
    assert "follow the organiser's" in what_instead(f"https://{host}/events/x")


def test_another_site_whose_name_only_ends_so_is_not_taken_for_it() -> None:
    assert what_instead("https://notchess.com/x") == "give the address of the PGN itself"
