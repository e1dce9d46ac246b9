import chess
import pytest

from live.events import Headers, Player
from live.games.game import (
    Game,
    GameConfirmed,
    GameGone,
    HeadersChanged,
    NewGame,
)
from live.games.game_index import GameIndex, key_mark, marks_of_game, names_mark, wider_marks


def game(id: str = "g", white: str = "Anna", feed: str = "test", key: str = "") -> Game:
    return Game(id, feed, key, Headers(Player(white), Player("Boris")), chess.STARTING_FEN)


def test_games_come_in_the_order_they_appeared_and_by_feed() -> None:
    held = GameIndex()
    for new in (game("b", "Bea"), game("a"), game("c", "Cleo", feed="other")):
        held.apply(NewGame(new))
    assert [each.id for each in held] == ["b", "a", "c"]
    assert held.of_feed("test") == ("b", "a")
    assert held.of_feed("other") == ("c",)
    assert held.of_feed("unheard of") == ()
    assert (len(held), "a" in held, "z" in held, held.get("z")) == (3, True, False, None)


def test_a_game_is_found_by_its_key_only_when_it_has_one() -> None:
    held = GameIndex()
    held.apply(NewGame(game("g", key="k")))
    assert held.marked(key_mark("test", "k")) == ("g",)
    assert held.marked(key_mark("other", "k")) == ()
    assert held.marked(names_mark("test", game().headers)) == ()


def test_new_headers_are_found_and_old_ones_no_longer() -> None:
    held = GameIndex()
    held.apply(NewGame(game()))
    new = Headers(Player("Cleo", fide_id=5), Player("Boris"))
    held.apply(HeadersChanged("g", new))
    assert held.marked(names_mark("test", new)) == ("g",)
    assert held.marked(names_mark("test", game().headers)) == ()
    assert held.marked(("fide", "test", 5)) == ("g",)
    assert held.marked(("name", "test", "boris")) == ("g",)
    assert held.marked(("name", "test", "anna")) == ()


def test_a_game_that_is_gone_leaves_nothing_behind() -> None:
    held = GameIndex()
    held.apply(NewGame(game()))
    held.apply(GameGone("g"))
    assert len(held) == 0 and held.of_feed("test") == ()
    assert not any(held.marked(mark) for mark in marks_of_game(game()))


def test_a_second_game_of_the_same_id_is_refused() -> None:
    held = GameIndex()
    held.apply(NewGame(game()))
    with pytest.raises(ValueError, match="game g is held already"):
        held.apply(NewGame(game()))


def test_a_step_of_a_game_not_held_is_refused() -> None:
    with pytest.raises(KeyError):
        GameIndex().apply(GameGone("g"))


def test_a_place_is_a_round_with_a_board() -> None:
    players = Player("?"), Player("?")
    assert wider_marks("f", Headers(*players, round="1")) == ()
    assert wider_marks("f", Headers(*players, board=2)) == ()
    assert wider_marks("f", Headers(*players, round="1", board=2)) == (("place", "f", "1", 2),)
    assert wider_marks("f", Headers(*players, round="1.2")) == (("place", "f", "1.2", None),)


def test_a_game_from_before_is_so_until_a_source_tells_it() -> None:
    held = GameIndex()
    held.apply(NewGame(game()))
    assert not held.is_restored("g")
    held.restore("g")
    assert held.is_restored("g")
    held.apply(GameConfirmed("g"))
    assert not held.is_restored("g")
    held.restore("g")
    held.apply(GameGone("g"))
    held.apply(NewGame(game()))
    assert not held.is_restored("g")
    with pytest.raises(KeyError):
        held.restore("another")


def test_a_step_gives_the_game_as_it_is_held_then() -> None:
    held = GameIndex()
    new = game("g1")
    assert held.apply(NewGame(new)) is new
    assert held.apply(GameConfirmed("g1")) is new
    assert held.apply(GameGone("g1")) is None
