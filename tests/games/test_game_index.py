"""Old games are forgotten, and stay forgotten."""

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.games.game import Game, GameConfirmed, GameGone, HeadersChanged, NewGame
from live.games.game_index import (
    GameIndex,
    lookup_keys,
    player_and_place_keys,
    source_key,
    state_key,
)
from live.games.game_retention import LEAST_S, GameRetention
from live.messages.from_sources import GameReport, Headers, Player, Result
from tests.games.short_reports import follow, make_game


def game(id: str = "g", white: str = "Anna", feed: str = "test", key: str = "") -> Game:
    return Game(
        id, feed, key, Headers(Player(white), Player("Boris")), chess.STARTING_FEN
    )


def test_new_headers_are_found_and_old_ones_no_longer() -> None:
    held = GameIndex()
    held.apply(NewGame(game()))
    new = Headers(Player("Cleo", fide_id=5), Player("Boris"))
    held.apply(HeadersChanged("g", new))
    assert held.list_game_ids_with_key(source_key("test", held["g"])) == ("g",)
    assert held.list_game_ids_with_key(source_key("test", game())) == ()
    assert held.list_game_ids_with_key(("fide", "test", 5)) == ("g",)
    assert held.list_game_ids_with_key(("name", "test", "boris")) == ("g",)
    assert held.list_game_ids_with_key(("name", "test", "anna")) == ()


def test_a_game_that_is_gone_leaves_nothing_behind() -> None:
    held = GameIndex()
    held.apply(NewGame(game()))
    held.apply(GameGone("g"))
    assert len(held) == 0 and held.list_game_ids_of_feed("test") == ()
    assert not any(held.list_game_ids_with_key(mark) for mark in lookup_keys(game()))


def test_a_step_that_does_not_fit_is_refused() -> None:
    held = GameIndex()
    with pytest.raises(KeyError):
        held.apply(GameGone("g"))
    held.apply(NewGame(game()))
    with pytest.raises(ValueError, match="game g is known already"):
        held.apply(NewGame(game()))


def test_a_place_is_a_round_with_a_board() -> None:
    players = Player("?"), Player("?")
    assert player_and_place_keys("f", Headers(*players, round="1")) == ()
    assert player_and_place_keys("f", Headers(*players, board=2)) == ()
    assert player_and_place_keys("f", Headers(*players, round="1", board=2)) == (
        ("place", "f", "1", 2),
    )
    assert player_and_place_keys("f", Headers(*players, round="1.2")) == (
        ("place", "f", "1.2", None),
    )


def test_a_game_from_before_is_so_until_a_source_tells_it() -> None:
    held = GameIndex()
    held.apply(NewGame(game()))
    assert not held.is_restored("g")
    held.mark_restored("g")
    assert held.is_restored("g")
    held.apply(GameConfirmed("g"))
    assert not held.is_restored("g")
    held.mark_restored("g")
    held.apply(GameGone("g"))
    held.apply(NewGame(game()))
    assert not held.is_restored("g")
    with pytest.raises(KeyError):
        held.mark_restored("another")


HOUR_S = 3600.0


def test_a_finished_game_is_old_once_its_source_has_moved_on() -> None:
    held = GameRetention(48 * HOUR_S, 1000)
    held.record_change("a", "feed", over=True, now_s=0.0)
    assert held.find_old_games(100 * HOUR_S) == [], (
        "the last round stays, however long ago it was"
    )
    held.record_change("b", "feed", over=False, now_s=100 * HOUR_S)
    assert held.find_old_games(100 * HOUR_S) == ["a"]
    held.record_change("a", "feed", over=True, now_s=100 * HOUR_S)
    assert held.find_old_games(101 * HOUR_S) == [], "a result was mended"


def test_neither_another_source_nor_time_alone_makes_a_game_old() -> None:
    held = GameRetention(48 * HOUR_S, 1)
    held.record_change("a", "one", over=True, now_s=0.0)
    for number in range(10):
        held.record_change(str(number), "other", over=False, now_s=100 * HOUR_S)
    assert held.find_old_games(1000 * HOUR_S) == []


@given(
    st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=200),
    st.integers(1, 10),
)
def test_no_more_finished_games_are_held_than_allowed(
    news: list[tuple[int, bool]], most: int
) -> None:
    held, now_s = GameRetention(0.0, most), 0.0
    over: dict[str, bool] = {}
    for number, done in news:
        now_s += LEAST_S + 1
        held.record_change(str(number), "feed", over=done, now_s=now_s)
        over[str(number)] = done
        for id in held.find_old_games(now_s + LEAST_S):
            assert over.pop(id), "only finished ones"
            held.remove_game(id)
    assert sum(over.values()) <= most
    assert len(held) == len(over)


def test_a_forgotten_game_told_again_is_known_and_a_corrected_one_is_not() -> None:
    def report(
        pair: str = "Anna-Boris", sans: str = "e4 e5", result: Result = "1-0"
    ) -> GameReport:
        return make_game(pair, sans, result=result)

    held = GameIndex()
    told = report()
    follow(held, told, feed="feed")
    (game,) = held
    assert held.forget(game.id) == game
    assert state_key("feed", game) == state_key("feed", told)
    follow(held, told, feed="feed")
    assert not len(held)
    # More moves, a game that goes on, and a result that was mended are news.
    ended = report(result="*"), report(result="0-1")
    for other in (report("Cleo-Dora"), report(sans="e4 e5 Nf3"), *ended):
        follow(held, told, other, feed="feed")
        (back,) = held
        assert state_key("feed", back) == state_key("feed", other)
        held.apply(GameGone(back.id))
    follow(held, told, feed="other")
    assert len(held) == 1


def test_a_forgotten_mate_told_without_its_result_stays_forgotten() -> None:
    held = GameIndex()
    told = make_game("Anna-Boris", "f3 e5 g4 Qh4#")
    follow(held, told, feed="feed")
    (game,) = held
    assert (told.result, game.result) == ("*", "0-1")
    held.forget(game.id)
    follow(held, told, feed="feed")
    assert not len(held)
