import chess
import pytest

from live.events import Result
from live.games.report_changes import (
    is_no_game,
    with_result_by_rule,
    without_centred_kings,
    without_unsupported,
)
from tests.games.told import told

# White Kg1, Black Ke6 to move: Kd5 is legal for Black, no king reaches the centre for White.
BLACK_NEAR_CENTRE = "8/8/4k3/8/8/8/5PPP/2R3K1 b - - 0 40"
WHITE_NEAR_CENTRE = "3r2k1/5ppp/8/8/8/4K3/8/8 w - - 0 40"


@pytest.mark.parametrize("san", ["Kd4", "Kd5", "Ke4", "Ke5"])
def test_an_illegal_king_in_the_centre_after_the_end_is_no_problem(san: str) -> None:
    report = told(
        "Anna-Boris", "e4 e5 Nf3", result="1-0", problem=f"illegal move {san} at ply 4 (2...)"
    )
    assert without_centred_kings(report).problem is None
    assert without_centred_kings(report).moves == report.moves


@pytest.mark.parametrize(
    "problem",
    [
        "illegal move Ke3 at ply 4",  # not the centre
        "illegal move Qe4 at ply 4",
        "illegal move Ke4 at ply 4; 20 more plies follow",
        "cut in the middle",
    ],
)
def test_any_other_problem_stays(problem: str) -> None:
    report = told("Anna-Boris", "e4 e5 Nf3", result="1-0", problem=problem)
    assert without_centred_kings(report) == report


def test_while_the_game_has_no_result_the_problem_is_shown() -> None:
    report = told("Anna-Boris", "e4 e5 Nf3", problem="illegal move Ke4 at ply 4")
    assert without_centred_kings(report) == report


@pytest.mark.parametrize(
    ("result", "second", "plies"),
    [
        ("1-0", "Ke4", 0),  # Black lost and moved last: both kings show White's win
        ("0-1", "Ke4", 1),  # the squares do not show Black's win
        ("1-0", "Ke5", 1),  # nor these White's
        ("1/2-1/2", "Ke4", 1),  # a draw: the king move may be real
    ],
)
def test_a_legal_king_move_is_cut_only_when_both_kings_show_that_its_mover_lost(
    result: Result, second: str, plies: int
) -> None:
    problem = f"illegal move {second} at ply 2"
    report = told("Anna-Boris", "Kd5", result=result, start_fen=BLACK_NEAR_CENTRE, problem=problem)
    assert len(without_centred_kings(report).moves) == plies


def test_a_legal_king_move_of_the_winner_stands() -> None:
    problem = "illegal move Kd5 at ply 2"
    report = told("Anna-Boris", "Ke4", result="1-0", start_fen=WHITE_NEAR_CENTRE, problem=problem)
    cut = without_centred_kings(report)
    assert (len(cut.moves), cut.problem) == (1, None)


def test_a_legal_king_move_to_the_centre_that_ends_a_game_stands() -> None:
    report = told("Anna-Boris", "Kd5", result="1-0", start_fen=BLACK_NEAR_CENTRE)
    assert without_centred_kings(report) == report


BLACK_MATES_FIRST = "k7/8/8/8/8/1r6/r7/7K b - - 0 1"


@pytest.mark.parametrize(
    ("sans", "start_fen", "told_result", "result"),
    [
        ("f3 e5 g4 Qh4#", chess.STARTING_FEN, "*", "0-1"),
        ("e4 e5 Qh5 Ke7 Qxe5#", chess.STARTING_FEN, "*", "1-0"),
        ("Rb1#", BLACK_MATES_FIRST, "*", "0-1"),
        ("f3 e5 g4 Qh4#", chess.STARTING_FEN, "1/2-1/2", "1/2-1/2"),
        ("f3 e5 g4 Qg5", chess.STARTING_FEN, "*", "*"),
        ("", chess.STARTING_FEN, "*", "*"),
    ],
)
def test_a_mate_without_a_result_is_won_by_rule(
    sans: str, start_fen: str, told_result: Result, result: Result
) -> None:
    report = told("Anna-Boris", sans, start_fen=start_fen, result=told_result)
    assert with_result_by_rule(report).result == result


@pytest.mark.parametrize(
    ("pair", "sans", "no_game"),
    [
        ("Anna-bye", "", True),
        ("BYE-Anna", "", True),
        ("Anna-?", "", True),
        ("-", "", True),
        ("Anna-Bye, Anders", "", False),
        ("Anna-Boris", "", False),
        ("-", "e4", False),
        ("?-?", "e4", False),
    ],
)
def test_a_bye_or_a_half_pairing_is_no_game_before_its_first_move(
    pair: str, sans: str, no_game: bool
) -> None:
    assert is_no_game(told(pair, sans)) is no_game


def test_an_unknown_variant_keeps_its_names_and_result_and_no_moves() -> None:
    report = told("Anna-Boris", "e4 e5", variant="atomic", result="1-0")
    left = without_unsupported(report)
    assert (left.moves, left.problem, left.result) == (
        (),
        "variant atomic is not supported",
        "1-0",
    )
    assert left.headers == report.headers
