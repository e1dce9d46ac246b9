"""Figures on paper: unknown is empty, unbounded says so."""

from __future__ import annotations

from live.report.printed_figures import (
    clock,
    html,
    interval,
    pawns,
    percent,
    plain,
    signed,
    whole,
)


def test_unknown_is_empty() -> None:
    assert [whole(None), signed(None), pawns(None), percent(None), clock(None)] == [""] * 5
    assert interval(None, None) == ""


def test_known_and_unbounded() -> None:
    assert whole(2034.4) == "2034"
    assert interval(None, 2100.0) == interval(2100.0, None) == ""
    assert interval(1890.0, 2370.2) == "1890\N{EN DASH}2370"
    assert signed(-12.0) == "\N{MINUS SIGN}12" and pawns(35) == "+0.35"
    assert clock(3731.9) == "1:02:11"


def test_names() -> None:
    assert plain("  A\x1b[2J \n B ") == "A [2J B"
    assert plain("x" * 500).endswith("…") and len(plain("x" * 500)) == 80
    assert html("<&>") == "<bdi>&lt;&amp;&gt;</bdi>"
