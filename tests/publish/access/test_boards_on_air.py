"""live.publish.access: who may say what is analysed first."""

from __future__ import annotations

import pytest

from live.publish.access import BoardsOnAir, games_of, is_this_machine

HERE = {"host": "127.0.0.1:8765"}


@pytest.mark.parametrize(
    ("headers", "address", "here"),
    [
        (HERE, "127.0.0.1", True),
        ({"host": "localhost:8765"}, "::1", True),
        ({**HERE, "origin": "http://127.0.0.1:8765"}, "127.0.0.1", True),
        # From elsewhere, or through a proxy on this machine, or from a page of elsewhere.
        (HERE, "192.0.2.7", False),
        ({"host": "chess.example"}, "127.0.0.1", False),
        ({**HERE, "x-forwarded-for": "192.0.2.7"}, "127.0.0.1", False),
        ({**HERE, "origin": "https://chess.example"}, "127.0.0.1", False),
        ({**HERE, "origin": "null"}, "127.0.0.1", False),
        ({**HERE, "origin": "http://[::1"}, "127.0.0.1", False),
        ({}, "127.0.0.1", False),
    ],
)
def test_this_machine_and_no_other(headers: dict[str, str], address: str, here: bool) -> None:
    assert is_this_machine(headers, address) is here


@pytest.mark.parametrize(
    ("message", "games"),
    [
        (b'{"type":"air","games":["a","b"]}', ("a", "b")),
        (b'{"type":"air"}', ()),
        (b'{"type":"token","token":"x"}', None),
        (b'{"type":"air","games":[1]}', None),
        (b"air", None),
        (b"\xff", None),
        (b"[" * 5000, None),
    ],
)
def test_only_what_is_meant_is_heard(message: bytes, games: tuple[str, ...] | None) -> None:
    assert games_of(message) == games


def test_what_all_overlays_show_is_on_air_while_they_are_there() -> None:
    air = BoardsOnAir()
    air.show("one", ["a"])
    air.show("two", ["a", "b"])
    assert air.games == {"a", "b"}
    air.show("two", [])
    assert air.games == {"a"}
    # A wall of all boards puts none before the others.
    air.show("two", [f"g{n}" for n in range(9)])
    assert air.games == {"a"}
    air.close("one")
    air.close("one")
    assert air.games == frozenset()
