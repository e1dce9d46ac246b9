"""Whether two sources report one game: only where nothing else can be true."""

from __future__ import annotations

import msgspec
import pytest

from live.events import Player, Result
from live.games.game import Game
from live.games.game_matching import (
    SAME_GAME_PLIES,
    difference,
    is_another_line,
    is_one_game,
)
from tests.games.told import line

#: Twenty-four plies of a Berlin draw, which grandmasters have played more than once.
BERLIN = (
    "e4 e5 Nf3 Nc6 Bb5 Nf6 O-O Nxe4 Re1 Nd6 Nxe5 Be7 Bf1 Nxe5 Rxe5 O-O d4 Bf6 Re1 Re8 c3 Rxe1"
    " Qxe1 Ne8"
)
SLAV = "d4 d5 c4 c6 Nf3 Nf6 Nc3 dxc4 a4 Bf5 e3 e6"


def game(
    sans: str = BERLIN,
    *,
    feed: str = "a",
    result: Result = "*",
    clocks: float | None = None,
    white: str | Player = "Anna Adams",
    black: str | Player = "Boris Berg",
    **headers: object,
) -> Game:
    """``clocks``: what the first move's clock shows; each later one 40 s less."""
    from live.events import Headers

    moves = tuple(
        msgspec.structs.replace(move, clock_s=None if clocks is None else clocks - 40.0 * at)
        for at, move in enumerate(line(sans))
    )
    players = [Player(each) if isinstance(each, str) else each for each in (white, black)]
    told = {"event": "Open", "round": "1", **headers}
    return Game(
        id=feed,
        feed=feed,
        key="",
        headers=Headers(*players, **told),  # type: ignore[arg-type]
        start_fen="rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        moves=moves,
        result=result,
    )


ONE = game(clocks=5400)


def test_event_round_and_players_make_one_game_before_the_first_move() -> None:
    assert is_one_game(game(""), game("", feed="b"), alone=True)
    assert is_one_game(game(""), game("", feed="b", round="Round 01.3"), alone=True)
    assert is_one_game(game("e4 e5"), game("", feed="b", round="1.7"), alone=True)


@pytest.mark.parametrize(
    ("one", "other", "alone"),
    [
        pytest.param(game(""), game(""), False, id="another game of the same names"),
        pytest.param(game("", round=""), game("", round=""), True, id="no round"),
        pytest.param(game("", event=""), game("", event=""), True, id="no event"),
        pytest.param(game(""), game("", event="Cup"), True, id="another event"),
        pytest.param(game(""), game("", round="2"), True, id="another round"),
        pytest.param(
            game("", round="1.1"), game("", round="1.2"), True, id="games 1 and 2 of a match"
        ),
        pytest.param(game(""), game("", black="Cleo"), True, id="another player"),
        pytest.param(
            game("", white="Boris Berg", black="Anna Adams"), game(""), True, id="other colours"
        ),
        pytest.param(game("e4 e5"), game("e4 e5", result="1-0"), True, id="one is over"),
        pytest.param(game("e4 e5 Nf3 Nc6"), game(SLAV), True, id="other moves"),
        pytest.param(
            game(white=Player("Anna Adams", fide_id=1)),
            game(white=Player("Anna Adams", fide_id=2)),
            True,
            id="namesakes",
        ),
        pytest.param(
            game(date="2024.01.20", result="1/2-1/2"),
            game(date="2025.01.20", result="1/2-1/2"),
            True,
            id="the same draw a year later",
        ),
        pytest.param(
            game(event="Cup", clocks=None), game(clocks=5400), True, id="another event, no clocks"
        ),
        pytest.param(
            game(event="Cup", clocks=600), game(clocks=5400), True, id="another event and clocks"
        ),
        pytest.param(
            game(clocks=600, round=""), game(clocks=5400), True, id="no round, other clocks"
        ),
    ],
)
def test_two_games_are_not_taken_for_one(one: Game, other: Game, alone: bool) -> None:
    other = msgspec.structs.replace(other, feed="b")
    assert not is_one_game(one, other, alone=alone)
    assert not is_one_game(other, one, alone=alone)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(game(event=""), id="no event"),
        pytest.param(game(event="Open 2026 | Masters", clocks=5401), id="other event name"),
        pytest.param(game(round="", result="1/2-1/2", clocks=5400), id="no round, over"),
        pytest.param(game(white="A. Adams", clocks=5400, event="Cup"), id="one name abbreviated"),
    ],
)
def test_many_moves_prove_what_names_leave_open(other: Game) -> None:
    other = msgspec.structs.replace(other, feed="b")
    assert is_one_game(ONE, other, alone=False)
    short = msgspec.structs.replace(other, moves=other.moves[: SAME_GAME_PLIES - 1])
    assert not is_one_game(ONE, short, alone=False)


def test_a_wrong_move_of_one_source_makes_no_second_game_after_20_plies() -> None:

    one, other = game(BERLIN + " d5 d6"), game(BERLIN.replace("c3", "b3") + " d5 d6", feed="b")
    assert is_one_game(one, other, alone=True)
    assert not is_one_game(one, other, alone=False), "it may be the other game of these names"


def test_a_last_move_in_correction_is_no_other_game() -> None:
    assert is_one_game(game("e4 e5 Nf3 Nc6"), game("e4 e5 Nf3 Nf6", feed="b"), alone=True)


def test_lines_that_part_early_are_two_games_after_all() -> None:
    assert is_another_line(game(BERLIN), game("e4 e5 Nf3 Nc6 Bc4 Bc5 c3 Nf6 d3 d6 b4 Bb6 a4 a5"))
    assert not is_another_line(game(BERLIN), game(BERLIN + " d5"))
    assert not is_another_line(game("e4 e5"), game("d4 d5")), "it may be a slip"


@pytest.mark.parametrize(
    ("one", "other", "text"),
    [
        pytest.param(game(BERLIN), game("e4 e5"), "", id="behind"),
        pytest.param(game("e4 e5 Nf3"), game("e4 e5 Nc3"), "", id="in correction"),
        pytest.param(
            game("e4 e5 Nf3 Nc6 Bb5"),
            game("e4 e5 Nc3 Nc6 Bb5"),
            "2. Nf3 in a, but Nc3 in b",
            id="moves",
        ),
        pytest.param(
            game("e4 e5 Nf3", result="1-0"),
            game("e4 e5 Nc3", result="1-0"),
            "2. Nf3 in a, but Nc3 in b",
            id="last moves of a game that is over",
        ),
        pytest.param(
            game(result="1-0"), game(result="0-1"), "1-0 in a, but 0-1 in b", id="results"
        ),
        pytest.param(game(result="1-0"), game(), "", id="a result that the other has not yet"),
        pytest.param(
            game("e4 e5", result="1-0"),
            game(),
            "1-0 after 2 plies in a, but 24 plies in b",
            id="goes on after the end",
        ),
    ],
)
def test_where_two_sources_contradict_each_other(one: Game, other: Game, text: str) -> None:
    assert difference(one, msgspec.structs.replace(other, feed="b")) == text
