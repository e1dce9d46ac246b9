"""Positions, moves, shares and figures as pages read them: live/web/client."""

from __future__ import annotations

from random import Random
from typing import Any, get_args

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.catalogue import EARLY_MOVES, LEAST_SHOWN_ELO, MOST_SHOWN_ELO
from live.events import Curves, FigureChoice
from live.human.difficulty import in_words
from tests.web.conftest import Pages
from tests.web.page.games import plain, point

# --- board position ------------------------------------------------------------------------------


def placement(pages: Pages, start_fen: str, moves: list[str]) -> str:
    args = [start_fen, moves]
    result = pages.run("client/board_position.js", "placementAfter", *args)
    assert isinstance(result, str)
    return result


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 2**32), plies=st.integers(0, 120))
def test_random_games(pages: Pages, seed: int, plies: int) -> None:
    random = Random(seed)
    chess960 = random.random() < 0.5
    board = chess.Board(chess960=chess960)
    if chess960:
        board = chess.Board.from_chess960_pos(random.randrange(960))
    start_fen = board.fen()
    moves: list[str] = []
    for _ in range(plies):
        legal = list(board.legal_moves)
        if not legal:
            break
        # The rare kinds of move are what can go wrong.
        rare = [
            move
            for move in legal
            if board.is_castling(move) or board.is_en_passant(move) or move.promotion
        ]
        move = random.choice(rare or legal)
        moves.append(board.uci(move))
        board.push(move)
    assert placement(pages, start_fen, moves) == board.board_fen()


def test_castling_where_king_and_rook_swap_squares(pages: Pages) -> None:
    # Chess960: the king on f1 castles with the rook on g1, and they change places.
    assert placement(pages, "4k3/8/8/8/8/8/8/5KR1 w G - 0 1", ["f1g1"]) == "4k3/8/8/8/8/8/8/5RK1"


# --- material ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("placement", "white", "black"),
    [
        (chess.STARTING_BOARD_FEN, "", ""),
        ("4k3/8/8/8/8/8/PP6/4K3", "♟♟ +2", ""),
        # A bishop for a knight is nothing in all.
        ("4kn2/8/8/8/8/8/8/4KB2", "♝", "♞"),
        ("3qk3/8/8/8/8/8/8/R3K2R", "♜♜ +1", "♛"),
        ("4k3/8/8/8/8/8/ppp5/4KN2", "♞", "♟♟♟"),
    ],
)
def test_what_each_side_has_more_of(pages: Pages, placement: str, white: str, black: str) -> None:
    told = pages.run("client/board_position.js", "materialText", placement)
    assert told == {"white": white, "black": black}


# --- move notation -------------------------------------------------------------------------------


def san(pages: Pages, board: chess.Board, move: chess.Move) -> str:
    told: str = pages.run(
        "client/board_position.js",
        "sanOf",
        board.root().fen(),
        [each.uci() for each in board.move_stack],
        board.uci(move),
    )
    return told


def test_moves_of_random_games_are_written_as_people_write_them(pages: Pages) -> None:
    random, compared = Random(19), 0
    for _ in range(6):
        board = chess.Board()
        for _ in range(60):
            moves = list(board.legal_moves)
            if not moves:
                break
            move = random.choice(moves)
            expected, told = board.san(move).rstrip("+#"), san(pages, board, move)
            if told != expected:
                # A pinned rival is not looked at: then a letter stands that need not.
                assert len(told) > len(expected)
                assert board.parse_san(told) == move
            compared += told == expected
            board.push(move)
    assert compared > 250


@pytest.mark.parametrize(
    ("fen", "uci", "expected"),
    [
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", "O-O"),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8c8", "O-O-O"),
        ("7k/P7/8/8/8/8/8/K7 w - - 0 1", "a7a8q", "a8=Q"),
        ("7k/8/8/3pP3/8/8/8/K7 w - d6 0 1", "e5d6", "exd6"),
        ("7k/8/8/3Q3Q/8/8/8/K6Q w - - 0 1", "h5d1", "Qh5d1"),
    ],
)
def test_moves_that_are_written_otherwise(pages: Pages, fen: str, uci: str, expected: str) -> None:
    board = chess.Board(fen)
    assert san(pages, board, chess.Move.from_uci(uci)) == expected


# --- move shares ---------------------------------------------------------------------------------


@pytest.mark.parametrize("start", range(0, 1000, 100))
def test_the_same_words(pages: Pages, start: int) -> None:
    english = pages("languages")["en"]
    for per_mille in range(start, start + 100, 7):
        share = per_mille / 1000
        args = [share, english]
        said = pages.run("overlay/shown_figures.js", "shareWords", *args)
        assert said == in_words(share)


# --- curve series --------------------------------------------------------------------------------


START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


@pytest.mark.parametrize(
    ("turn", "plies", "rated", "white", "black"),
    [
        ("w", 0, (0, 0), 0, 0),
        ("w", 7, (0, 0), 4, 3),
        ("w", 7, (7, 6), 0, 0),
        ("w", 8, (7, 6), 0, 1),
        ("b", 8, (0, 0), 4, 4),
        ("b", 1, (0, 0), 0, 1),
    ],
)
def test_moves_since_the_last_point_are_unrated(
    pages: Pages, turn: str, plies: int, rated: tuple[int, int], white: int, black: int
) -> None:
    curves = [[{"ply": ply}] if ply else [] for ply in rated]
    game = {
        "start_fen": START.replace(" w ", f" {turn} "),
        "plies": [{}] * plies,
        "curves": {"white": curves[0], "black": curves[1]},
    }
    told = [
        pages.run("client/figures.js", "unratedMoves", game, color) for color in ("white", "black")
    ]
    assert told == [white, black]


def test_columns_hold_the_figure_with_its_band_at_its_move(pages: Pages) -> None:
    curves = plain(Curves(white=(point(1, 0, None), point(5, 2, 2100.0)), black=()))

    def ask(name: str, *args: Any) -> Any:
        return pages.run("client/figures.js", name, *args)

    nothing = [None, None, None]
    band = [[None, None, high] for high in (2300, 1900, 2100)]
    assert ask("columns", curves, "perceived", 2200) == [[1, 2, 3], *band, *[nothing] * 3]
    published = [[2230, None, 2230], [2030, None, 2030], [2130, None, 2130]]
    assert ask("columns", curves, "algorithm4", 2200)[1:4] == published
    assert ask("hasRating", {"curves": curves}, "perceived", None)
    assert not ask("hasRating", {"curves": curves}, "algorithm4", None)


def test_the_axis_holds_the_band_and_the_own_elo(pages: Pages) -> None:
    curves = plain(Curves(white=(point(1, 1, 2100.0),)))
    call = {"module": "client/figures.js"}
    data = pages("call", **call, name="columns", args=[curves, "perceived", None])
    low, high = pages("call", **call, name="span", args=[data, [2800, None]])
    assert low < 1900 < 2800 < high


# --- figures -------------------------------------------------------------------------------------


def call(pages: Pages, name: str, *args: Any) -> Any:
    return pages.run("client/figures.js", name, *args)


def figure(pages: Pages, held: Any, kind: str = "perceived", engine: int | None = 2200) -> Any:
    return call(pages, "figureOf", plain(held), kind, engine)


def test_the_choices_and_limits_are_those_of_the_service(pages: Pages) -> None:
    def constant(name: str) -> Any:
        return pages("constant", module="client/figures.js", name=name)

    assert constant("CHOICES") == list(get_args(FigureChoice))
    assert constant("EARLY_MOVES") == EARLY_MOVES


def test_each_figure_is_read_with_its_own_band(pages: Pages) -> None:
    held = point(40, 20, 2340.4)
    found = figure(pages, held)
    assert (found["value"], found["low"], found["high"]) == (2340.4, 1900, 2300)
    assert (found["counted"], found["percentile"]) == (20, 50)
    assert call(pages, "beyondUsual", found) == "above"
    assert call(pages, "bandText", found) == "1900–2300"
    published = figure(pages, held, "algorithm4")
    assert (published["value"], published["low"], published["high"]) == (2130, 2030, 2230)
    assert call(pages, "beyondUsual", published) == ""
    assert figure(pages, held, "algorithm4", None) is None
    assert figure(pages, point(1, 0, None)) is None


def test_what_is_early_has_no_percentile_and_is_nowhere_beyond(pages: Pages) -> None:
    early, enough = (figure(pages, point(30, n, 2500.0)) for n in (EARLY_MOVES - 1, EARLY_MOVES))
    assert [call(pages, "isEarly", each) for each in (early, enough)] == [True, False]
    assert [each["percentile"] for each in (early, enough)] == [None, 50]
    assert [call(pages, "beyondUsual", each) for each in (early, enough)] == ["", "above"]


def test_without_an_own_rating_there_is_no_band_and_that_is_all(pages: Pages) -> None:
    found = figure(pages, point(40, 20, 2340.4, usual_low=None, usual_high=None, percentile=None))
    assert found["value"] == 2340.4
    assert [call(pages, name, found) for name in ("bandText", "beyondUsual")] == ["", ""]


@pytest.mark.parametrize(
    ("perceived", "said"),
    [
        (2340.5, "2341"),
        (MOST_SHOWN_ELO + 0.1, f"{MOST_SHOWN_ELO} or more"),
        (LEAST_SHOWN_ELO - 0.1, f"{LEAST_SHOWN_ELO} or less"),
    ],
)
def test_words_clip_what_numbers_do_not(pages: Pages, perceived: float, said: str) -> None:
    found = figure(pages, point(40, 20, perceived, usual_low=500.0, usual_high=3500.0))
    assert found["value"] == perceived
    assert call(pages, "eloText", found) == said
    assert call(pages, "bandText", found) == f"{LEAST_SHOWN_ELO}–{MOST_SHOWN_ELO}"


def test_nobody_is_better_than_all_or_than_none(pages: Pages) -> None:
    assert [call(pages, "percentText", value) for value in (0.2, 49.6, 99.8)] == ["1", "50", "99"]


def test_players_stand_in_falling_order_and_equal_numbers_are_a_tie(pages: Pages) -> None:
    def player(name: str, perceived: float | None, counted: int, points: float | None) -> Any:
        held = plain(point(1, counted, perceived))
        return {**held, "id": name, "name": name, "moves": counted, "points": points}

    players = [
        player("d", 2900.0, EARLY_MOVES - 1, 2.0),
        player("b", 2400.2, 30, 0.5),
        player("a", 2399.8, 30, 2.0),
        player("c", 2300.0, 30, 1.0),
        player("e", None, 0, None),
    ]

    def places(by: str) -> list[tuple[str, str]]:
        found = call(pages, "standings", players, {"by": by, "engineRating": 2200})
        return [(each["player"]["id"], call(pages, "placeText", each)) for each in found]

    early = [("d", ""), ("e", "")]
    assert places("perceived") == [("a", "1="), ("b", "1="), ("c", "3"), *early]
    assert places("points") == [("a", "1="), ("d", "1="), ("c", "3"), ("b", "4"), ("e", "")]
