"""Both kinds of NDJSON of rated games, and lines that are neither."""

from __future__ import annotations

import json
from typing import Any

import pytest

from live.errors import InputError
from live.ratings.calibration.move_evidence import RatedMove
from live.ratings.calibration.rated_games import belongs, read_rated_games

GAINS: dict[str, Any] = {
    "player": 17,
    "elo": 1474,
    "colour": "white",
    "result": "1-0",
    "gains_cp": [-25, 4, -900],
    "evals_cp": [-8, 8, 15, 20, -880],
}
SEARCHED: dict[str, Any] = {
    "white": "Ada",
    "black": "Ben",
    "white_elo": 2100,
    "black_elo": None,
    "result": "0-1",
    "moves": ["e2e4", "e7e5", "g1f3", "b8c6", "f1e2"],
    "plies": [
        {"cp": 20, "best": "e2e4"},
        {"cp": 25, "best": "c7c5", "played": 33},
        {"cp": 30, "best": "b1c3", "played": 35},
        {"cp": 28, "best": "b8c6"},
        {"cp": 31, "best": "f1b5", "played": 11},
        {"cp": 5, "best": None},
    ],
}


def lines(*rows: dict[str, Any]) -> list[str]:
    return [json.dumps(row) for row in rows]


def test_gains_of_white_come_with_the_evaluation_before_each() -> None:
    (game,) = read_rated_games(lines(GAINS), "successive")
    assert (game.player, game.elo) == ("17", 1474)
    assert game.moves == (
        RatedMove(-25, 17, 7, None),  # the score after ply 7, -8, less the gain
        RatedMove(4, 8, 9, -25),
        RatedMove(-900, 20, 11, 4),
    )


def test_gains_of_black_are_from_blacks_side() -> None:
    (game,) = read_rated_games(lines({**GAINS, "colour": "black"}), "successive")
    assert game.moves == (
        RatedMove(-25, 8, 8, None),
        RatedMove(4, -15, 10, -25),
        RatedMove(-900, 880, 12, 4),
    )


def test_gains_beyond_the_evaluations_are_passed_over() -> None:
    (game,) = read_rated_games(lines({**GAINS, "evals_cp": [-8, 8]}), "successive")
    assert len(game.moves) == 2
    (game,) = read_rated_games(lines({**GAINS, "evals_cp": []}), "successive")
    assert game.moves == ()


def test_a_searched_game_gives_same_search_gains_cut_at_0() -> None:
    (game,) = read_rated_games(lines(SEARCHED), "same-search")
    assert (game.player, game.elo) == ("Ada", 2100)
    assert game.moves == (
        RatedMove(0, 20, 1, None),
        RatedMove(0, 30, 3, 0),
        RatedMove(-20, 31, 5, 0),
    )


def test_a_searched_game_gives_successive_gains_too() -> None:
    rows = lines({**SEARCHED, "black_elo": 1900})
    white, black = read_rated_games(rows, "successive")
    assert [move.gain_cp for move in white.moves] == [5, -2, -26]
    assert [(move.gain_cp, move.score_before_cp, move.ply) for move in black.moves] == [
        (-5, -25, 2),
        (-3, -28, 4),
    ]


def test_a_move_whose_own_search_is_missing_is_unknown() -> None:
    plies = [dict(ply) for ply in SEARCHED["plies"]]
    del plies[2]["played"]
    (game,) = read_rated_games(lines({**SEARCHED, "plies": plies}), "same-search")
    assert game.moves == (RatedMove(0, 20, 1, None), RatedMove(-20, 31, 5, None))


def test_empty_lines_are_no_games() -> None:
    assert list(read_rated_games(["", " \n"], "successive")) == []


@pytest.mark.parametrize(
    "line", ["{", "[]", "{}", '{"gains_cp": [1.5], "player": 1}', '{"gains_cp": "x"}', "\x00"]
)
def test_a_line_that_is_no_game_is_named(line: str) -> None:
    with pytest.raises(InputError, match=r"club\.ndjson, line 2: is no rated game"):
        list(read_rated_games([*lines(GAINS), line], "successive", "club.ndjson"))


def test_successive_gains_are_not_taken_for_others() -> None:
    with pytest.raises(InputError, match="line 1: holds successive gains"):
        list(read_rated_games(lines(GAINS), "same-search", "club.ndjson"))


def test_shares_of_players_are_apart_and_complete() -> None:
    for player in map(str, range(200)):
        assert sum(belongs(player, 5, remainder) for remainder in range(5)) == 1
