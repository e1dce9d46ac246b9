"""Filters: what they say, what they take, and that equal ones are equal."""

from __future__ import annotations

import msgspec
import pytest

from live.events import GameMessage, GameView, GoneMessage
from live.publish.visibility import EVERYTHING, FilterError, StreamFilter, fold, parse
from tests.publish.world import World


def view(game: str = "g1") -> GameView:
    (message,) = World(1).appear(game)
    assert isinstance(message, GameMessage)
    return message.game


def test_order_repetition_and_case_make_no_other_filter() -> None:
    one = parse([("game", "a"), ("game", "b"), ("player", "Ding,  LIREN"), ("type", "move,score")])
    other = parse(
        [
            ("type", "score"),
            ("game", "b"),
            ("game", "a"),
            ("game", "a"),
            ("type", "move"),
            ("player", "ding, liren"),
            ("since", "4"),
        ]
    )
    assert one == other
    assert hash(one) == hash(other)
    assert parse([]) == EVERYTHING


def test_kinds_must_all_hold_and_within_a_kind_any() -> None:
    game = view()
    name = fold(game.white.name)
    assert EVERYTHING.takes(game)
    assert StreamFilter(games=frozenset({"g1", "x"})).takes(game)
    assert StreamFilter(players=frozenset({name, "x"}), events=frozenset({fold(game.event)})).takes(
        game
    )
    assert not StreamFilter(players=frozenset({name}), events=frozenset({"x"})).takes(game)
    assert not StreamFilter(games=frozenset({"x"})).takes(game)


def test_a_board_is_selected_by_its_number() -> None:
    wanted = parse([("board", "3"), ("board", " 12 ")])
    assert wanted.narrow
    assert wanted.takes(msgspec.structs.replace(view(), board=12))
    assert not wanted.takes(msgspec.structs.replace(view(), board=1))
    assert not wanted.takes(msgspec.structs.replace(view(), board=None))


def test_types_thin_out_messages_not_games() -> None:
    only = parse([("type", "gone")])
    assert only.takes(view())
    assert only.takes_type(GoneMessage("g"))
    assert not only.takes_type(GameMessage(view()))
    assert EVERYTHING.takes_type(GoneMessage("g"))
    assert not only.narrow


@pytest.mark.parametrize(
    "query",
    [
        [("game", "")],
        [("player", "  ")],
        [("type", "hello")],
        [("type", "move,")],
        [("event", "x" * 201)],
        [("game", str(number)) for number in range(65)],
    ],
)
def test_a_senseless_filter_is_refused_in_one_line(query: list[tuple[str, str]]) -> None:
    with pytest.raises(FilterError) as refused:
        parse(query)
    assert "\n" not in str(refused.value)
