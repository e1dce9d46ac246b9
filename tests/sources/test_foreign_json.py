"""JSON from other programs: an unexpected value costs only its field, raises no error
and takes no long time.
"""

import json
from typing import Annotated

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.messages.values import Value
from live.sources.foreign_json import (
    MAX_ENTRIES,
    MAX_UNREAD,
    ForeignObject,
    describe_non_json,
    describe_unread,
    read_json,
)


class Person(Value):
    name: str = "?"
    elo: Annotated[int, msgspec.Meta(ge=0, le=5000)] | None = None


Line = Annotated[str, msgspec.Meta(max_length=5000)]


class Board(ForeignObject):
    white: str | Person = "?"
    round: str | int = ""
    clock_s: float | None = None
    live: bool = False
    moves: Line | list[str | Person] | None = None


class Hall(ForeignObject):
    name: str = ""
    boards: tuple[Board, ...] = ()


def board(**fields: object) -> Board:
    found = read_json(json.dumps(fields), Board)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("field", "sent", "read"),
    [
        ("round", "3", "3"),
        ("round", 1.5, "1.5"),
        ("round", 3, "3"),
        ("clock_s", 5390, 5390.0),
        ("clock_s", "5390.5", 5390.5),
        ("clock_s", "", None),
        ("clock_s", None, None),
        ("live", 1, True),
        ("live", "false", False),
        ("white", "Ä", "Ä"),
        ("white", {"name": 7, "elo": "2231"}, Person("7", 2231)),
        ("white", {"name": "A", "elo": 2231.0}, Person("A", 2231)),
        ("white", {"name": "A", "elo": " "}, Person("A")),
        ("moves", ["e4", {"name": "e5"}], ["e4", Person("e5")]),
        ("moves", None, None),
        ("moves", "e4 " * 1000, "e4 " * 1000),
    ],
)
def test_what_is_read_of_a_value(field: str, sent: object, read: object) -> None:
    found = board(**{field: sent})
    assert getattr(found, field) == read and found.unread == {}


@pytest.mark.parametrize(
    ("field", "sent", "path", "found"),
    [
        ("round", [], "round", "a list"),
        ("round", True, "round", "true"),
        ("clock_s", "soon", "clock_s", "a text"),
        ("clock_s", "9" * 400, "clock_s", "a text"),
        ("live", 2, "live", "a number"),
        ("live", {}, "live", "an object"),
        ("white", 5, "white", "a number"),
        ("white", {"elo": [2231]}, "white.elo", "a list"),
        ("white", {"elo": -1}, "white.elo", "a number out of range"),
        ("white", {"elo": 2231.5}, "white.elo", "a fraction"),
        ("white", {"elo": "2231.5"}, "white.elo", "a fraction"),
        ("white", {"elo": "²"}, "white.elo", "a text"),
        ("moves", 3, "moves", "a number"),
        (
            "white",
            {"name": "A" * 1001},
            "white.name",
            "a text of more than 1000 characters",
        ),
        ("round", "1" * 1001, "round", "a text of more than 1000 characters"),
        ("moves", ["e4", None, "e5"], "moves", "null as entry 2"),
        (
            "moves",
            ["e4"] * (MAX_ENTRIES + 1),
            "moves",
            f"more than {MAX_ENTRIES} entries",
        ),
    ],
)
def test_an_odd_value_costs_its_field_and_is_named(
    field: str, sent: object, path: str, found: str
) -> None:
    whole = board(**{"clock_s": 7, "live": True, field: sent})
    assert whole.unread == {path: found}
    assert describe_unread(whole.unread) == f"not read: {path} ({found})"
    assert field == "clock_s" or whole.clock_s == 7
    assert field == "live" or whole.live


def test_what_can_be_read_of_a_list_ends_at_an_odd_entry() -> None:
    assert board(moves=["e4", None, "e5"]).moves == ["e4"]
    assert board(white={"name": "A", "elo": []}).white == Person("A")


def test_an_odd_board_keeps_its_place_among_the_others() -> None:
    hall = read_json(
        '{"boards": [{"round": 1}, null, 7, {"round": []}, {"round": 5}]}', Hall
    )
    assert hall is not None and hall.unread == {}
    assert [each.round for each in hall.boards] == ["1", "", "", "", "5"]
    assert [each.unread for each in hall.boards] == [
        {},
        {"": "null"},
        {"": "a number"},
        {"round": "a list"},
        {},
    ]
    assert describe_unread(hall.boards[1].unread) == "not read: null"


def test_a_list_of_too_many_objects_says_so_in_a_last_entry() -> None:
    boards = read_json(json.dumps([{"round": 1}] * (MAX_ENTRIES + 1)), list[Board])
    assert boards is not None and len(boards) == MAX_ENTRIES + 1
    assert {each.round for each in boards[:-1]} == {"1"}
    assert boards[-1].unread == {"": f"more than {MAX_ENTRIES} entries"}


HUGE = "9" * 400_000


@pytest.mark.parametrize(
    ("body", "unread"),
    [
        ('{"clock_s": 1e400}', {"clock_s": "a number out of range"}),
        ('{"clock_s": NaN, "round": -Infinity}', {"round": "", "clock_s": ""}),
        (f'{{"clock_s": {HUGE}}}', {"clock_s": "a number out of range"}),
        (f'{{"clock_s": {HUGE}.5}}', {"clock_s": "a number out of range"}),
        (f'{{"clock_s": "{HUGE}"}}', {"clock_s": "a text"}),
        ('{"round": 1, "round": []}', {"round": "a list"}),
        ('{"round": [], "round": 1}', {}),
        ('\ufeff{"round": "\\ud800"}', {}),
    ],
)
def test_numbers_that_cannot_be_twice_the_same_field_and_half_a_pair(
    body: str, unread: dict[str, str]
) -> None:
    found = read_json(body.encode(), Board)
    assert found is not None and found.unread.keys() == unread.keys()
    str(found.round).encode()


def test_bytes_that_are_no_utf_8_are_read_as_those_of_a_pgn() -> None:
    found = read_json(b'{"white": "M\xfcller"}', Board)
    assert found is not None and found.white == "Müller"


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (b"", "nothing"),
        (b" \n", "nothing"),
        (
            b"<html><body>502 Bad gateway</body></html>",
            "an HTML page (perhaps a login page)",
        ),
        (b'{"moves": ["e4"', "damaged JSON"),
        (b"online", "damaged JSON"),
        (b"\x89PNG\r\n", "a picture"),
        (b"[" * 500_000, "damaged JSON"),
        (b'{"white":' * 200_000, "damaged JSON"),
    ],
)
def test_what_is_no_json_is_nothing_heard(body: bytes, what: str) -> None:
    assert read_json(body, Board) is None
    assert describe_non_json(body) == what


@pytest.mark.parametrize("body", ["[]", "7", '"x"', "null", "true"])
def test_json_of_another_kind_is_nothing_heard(body: str) -> None:
    assert read_json(body, Board) is None
    assert read_json(body.replace("[]", "{}"), list[Board]) is None


def test_many_odd_fields_are_named_up_to_a_bound() -> None:
    class Many(ForeignObject):
        a: int = 0
        b: int = 0
        c: int = 0
        d: int = 0
        e: int = 0
        f: int = 0
        g: int = 0
        h: int = 0
        i: int = 0

    found = read_json(json.dumps({name: [] for name in "abcdefghi"}), Many)
    # All names are kept for look-ups; only the message is limited.
    assert found is not None and len(found.unread) == 9
    assert describe_unread(found.unread).count("(a list)") == MAX_UNREAD


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["name", "elo", "white", "boards", "moves", "unread", "round"]
            ),
            inner,
        )
    ),
)


@given(VALUES)
def test_law_whatever_is_sent_it_is_read_or_nothing(value: object) -> None:
    body = json.dumps(value)
    found = read_json(body, Hall)
    assert (found is None) is not isinstance(value, dict)
    if found is not None:
        msgspec.json.encode(found)


@given(st.binary(max_size=60))
def test_law_bytes_are_read_or_nothing(body: bytes) -> None:
    assert read_json(body, Hall) is None or isinstance(read_json(body, Hall), Hall)
    assert describe_non_json(body)
