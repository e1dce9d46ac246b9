from __future__ import annotations

import json
from hashlib import sha256
from importlib.resources import files

import pytest

from live.errors import InputError
from live.studies.perceived_games import read_played_games
from live.studies.perceived_learning import SHARES, judges, share_of

# --- played games -------------------------------------------------------------------------------


PLIES = {
    "white": "A",
    "black": "B",
    "white_elo": 2000,
    "black_elo": 2100,
    "result": "1-0",
    "moves": ["e2e4", "e7e5", "g1f3"],
    "plies": [
        {"cp": 20, "best": "e2e4", "by_depth": [10, 20, 40]},
        {"cp": 30, "best": "c7c5", "played": 45, "by_depth": [30, "M"]},
        {"cp": 40, "best": "f1c4", "played": 15},
        {"cp": 10},
    ],
}
LISTS = {
    "white": 1,
    "black": 2,
    "white_elo": 2000,
    "black_elo": None,
    "result": "0-1",
    "moves": ["e2e4", "e7e5"],
    "start_cp": 20,
    "cp": [30, 40],
    "best": ["e2e4", "c7c5"],
    "played": [None, 45],
    "stability": [4.0, 5.0],
    "jump": [9, 10],
}
WHITE = {
    "player": 1,
    "elo": 1500,
    "opponent_elo": 1600,
    "colour": "white",
    "result": "1-0",
    "gains_cp": [-10, -20, 5],
    "evals_cp": [0, 10, -10, -5, 0, 5],
}
BLACK = WHITE | {
    "player": 2,
    "elo": 1600,
    "opponent_elo": 1500,
    "colour": "black",
    "gains_cp": [-10, -5],
}


def lines(*rows: object) -> list[str]:
    return [json.dumps(row) for row in rows]


def test_a_searched_game_has_turns_of_both_sides() -> None:
    (game,) = read_played_games(lines(PLIES), "same-search")
    assert [turn.gain_cp for turn in game.white.turns] == [0, -25]
    assert [turn.gain_cp for turn in game.black.turns] == [-15]
    assert game.black.turns[0].score_before_cp == -30
    assert game.white.turns[0].stability_cp == 15
    assert game.black.turns[0].jump_cp == 3870
    assert game.white.best == ("e2e4", "f1c4")
    assert game.scores_cp == (20, 30, 40, 10)


def test_lists_tell_of_the_position_after_each_move() -> None:
    (game,) = read_played_games(lines(LISTS), "same-search")
    assert [turn.gain_cp for turn in game.black.turns] == [-15]
    assert game.black.turns[0].stability_cp == 4.0
    assert game.black.elo is None


def test_successive_gains_are_between_positions() -> None:
    (game,) = read_played_games(lines(PLIES), "successive")
    assert [turn.gain_cp for turn in game.white.turns] == [10, -30]
    assert [turn.gain_cp for turn in game.black.turns] == [-10]


def test_two_sides_of_a_game_are_put_together() -> None:
    (game,) = read_played_games(lines(WHITE, BLACK), "successive")
    assert (game.white.player, game.black.player) == ("1", "2")
    assert [turn.score_before_cp for turn in game.black.turns] == [0, 10]
    assert game.white.turns[0].ply == 7


def test_one_side_alone_is_a_game_too() -> None:
    (game,) = read_played_games(lines(BLACK), "successive")
    assert game.white.turns == ()
    assert game.white.elo == 1500


def test_what_cannot_be_read_is_named() -> None:
    with pytest.raises(InputError, match="line 2"):
        read_played_games([*lines(PLIES), "{}"], "same-search")
    with pytest.raises(InputError, match="successive"):
        read_played_games(lines(WHITE), "same-search")


# --- held out -----------------------------------------------------------------------------------


def test_one_player_in_eight_judges() -> None:
    found = sum(judges(str(number)) for number in range(8000))
    assert 900 < found < 1100


def test_the_rule_is_that_of_the_list() -> None:
    listed = json.loads(files("live.ratings").joinpath("held_out.json").read_text("utf-8"))
    for player in listed["players"]:
        assert int(sha256(player.encode()).hexdigest(), 16) % SHARES == 0
        assert judges(player)
    assert len(listed["games"]) == len(set(listed["games"])) > 90


def test_every_player_has_one_share() -> None:
    assert {share_of(str(number)) for number in range(200)} == set(range(SHARES))
