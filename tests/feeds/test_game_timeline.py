import chess
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.events import GameReport, Headers, Move, Player
from live.feeds.game_timeline import (
    MOVE_S,
    RESULT_S,
    PlannedIncident,
    misread,
    thinking_s,
    timeline,
)
from tests.feeds.fakes import DATA, decode

GAMES = decode((DATA / "four-boards.pgn").read_bytes())


def clocked(*clocks: float | None, control: str = "90+30") -> GameReport:
    board = chess.Board()
    moves = []
    for clock_s in clocks:
        move = next(iter(board.legal_moves))
        moves.append(Move(move.uci(), board.san(move), clock_s))
        board.push(move)
    headers = Headers(Player("A"), Player("B"), time_control=control)
    return GameReport("", headers, chess.STARTING_FEN, tuple(moves), "1-0")


def test_time_taken_comes_from_the_movers_clocks_and_the_increment() -> None:
    assert thinking_s(clocked(5400, 5400, 5370, 5310)) == [0, 0, 60, 120]


@pytest.mark.parametrize("control", ["40/7200:3600+30", "5400 + 30", "90+30", "5700+30 (a)"])
def test_the_increment_is_the_last_number(control: str) -> None:
    assert thinking_s(clocked(100, 100, 90, control=control))[2] == 40


def test_a_clock_that_jumps_up_takes_no_time_off() -> None:
    assert thinking_s(clocked(60, 60, 1860))[2] == 0


def test_moves_without_clocks_come_at_an_even_pace() -> None:
    assert thinking_s(clocked(None, None, None)) == [MOVE_S] * 3


def test_time_spent_is_believed_where_it_is_told() -> None:
    game = clocked(100, 100)
    moves = tuple(msgspec.structs.replace(move, spent_s=7.0) for move in game.moves)
    assert thinking_s(msgspec.structs.replace(game, moves=moves)) == [7, 7]


@pytest.mark.slow
@given(
    st.floats(0.1, 1000),
    st.integers(0, 3),
    st.integers(1, 90),
    st.sampled_from(["slip", "takeback"]),
)
def test_every_replay_starts_empty_ends_as_given_and_keeps_time(
    speed: float, board: int, ply: int, kind: str
) -> None:
    incident = PlannedIncident("slip" if kind == "slip" else "takeback", board, ply)
    moments = timeline(GAMES, speed=speed, incidents=[incident])
    assert [m.at_s for m in moments] == sorted(m.at_s for m in moments)
    for index, game in enumerate(GAMES):
        own = [m.report for m in moments if m.game == index]
        assert own[0].moves == () and own[0].result == "*"
        assert own[-1] == game
        lengths = [len(report.moves) for report in own]
        assert set(lengths) == set(range(len(game.moves) + 1))
        if index != board:
            assert lengths == sorted(lengths)
    assert moments[-1].at_s == pytest.approx(
        (max(sum(thinking_s(game)) for game in GAMES) + RESULT_S) / speed
    )


def test_a_takeback_is_told_and_mended_before_the_next_move() -> None:
    moments = timeline(GAMES, incidents=[PlannedIncident("takeback", 0, 10)])
    lengths = [len(m.report.moves) for m in moments if m.game == 0]
    assert lengths[9:14] == [9, 10, 9, 10, 11]


def test_a_slip_tells_a_legal_wrong_move_and_then_the_right_one() -> None:
    moments = timeline(GAMES, incidents=[PlannedIncident("slip", 0, 10)])
    ten = [m.report.moves for m in moments if m.game == 0 and len(m.report.moves) == 10]
    assert len(ten) == 2
    wrong, right = ten
    assert right == GAMES[0].moves[:10]
    assert wrong[:9] == right[:9] and wrong[9].uci != right[9].uci
    assert wrong[9].clock_s == right[9].clock_s
    board = chess.Board()
    for move in wrong:
        assert board.san(board.parse_uci(move.uci)) == move.san
        board.push_uci(move.uci)


def test_no_slip_where_there_is_no_other_move() -> None:
    forced = "k7/8/1K6/8/8/8/8/7R b - - 0 1"
    headers = Headers(Player("A"), Player("B"))
    game = GameReport("", headers, forced, (Move("a8b8", "Kb8"),))
    assert misread(game, 1) is None
    moments = timeline([game], incidents=[PlannedIncident("slip", 0, 1)])
    assert [len(m.report.moves) for m in moments] == [0, 1, 1]


def test_speed_must_be_positive() -> None:
    with pytest.raises(ValueError, match="above 0"):
        timeline(GAMES, speed=0)
