import random

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.feeds.position_tracker import PositionTracker, read_fen
from tests.feeds.fakes import DATA, decode

GAME = max(decode((DATA / "lichess-open-2025.pgn").read_bytes()), key=lambda g: len(g.moves))


def positions() -> list[tuple[chess.Board, str, str]]:
    """Each position of a real game, with the move that led to it in SAN and in UCI."""
    board = chess.Board()
    found = [(board.copy(), "", "")]
    for move in GAME.moves:
        board.push_uci(move.uci)
        found.append((board.copy(stack=False), move.san, move.uci))
    return found


ALL = positions()
UCI = [move.uci for move in GAME.moves]


def ucis(game: PositionTracker) -> list[str]:
    return [move.uci for move in game.moves]


@pytest.mark.parametrize("kind", [1, 2])
def test_a_game_told_position_by_position(kind: int) -> None:
    game = PositionTracker()
    for ply, told in enumerate(ALL):
        game.see(told[0], str(told[kind]), 1000.0 - ply, 2000.0 - ply)
    assert ucis(game) == UCI
    assert [move.clock_s for move in game.moves[:3]] == [999, 1998, 997]


def test_moves_are_found_without_being_told() -> None:
    game = PositionTracker()
    for board, _, _ in ALL:
        game.see(board)
    assert ucis(game) == UCI


@pytest.mark.parametrize("told", [True, False])
def test_a_missed_position_is_found_again(told: bool) -> None:
    game = PositionTracker()
    for board, san, _ in ALL[:40:2]:
        game.see(board, san if told else "")
    assert ucis(game) == UCI[:38]


def test_takebacks_corrections_and_repeats() -> None:
    game = PositionTracker()
    for board, san, _ in [*ALL[:12], ALL[11], ALL[9], ALL[10], ALL[11], ALL[12]]:
        game.see(board, san)
    assert ucis(game) == UCI[:12]
    wrong = ALL[12][0].copy()
    slip = next(move for move in wrong.legal_moves if move.uci() != UCI[12])
    san = wrong.san(slip)
    wrong.push(slip)
    game.see(wrong, san)
    assert ucis(game)[-1] == slip.uci()
    game.see(ALL[13][0], ALL[13][1])
    assert ucis(game) == UCI[:13]


def test_a_game_met_late_begins_where_it_was_met() -> None:
    game = PositionTracker()
    for board, san, _ in ALL[30:40]:
        game.see(board, san)
    assert game.start_fen == ALL[30][0].fen()
    assert ucis(game) == UCI[30:39]


def test_a_gap_that_cannot_be_bridged_begins_anew_there() -> None:
    game = PositionTracker()
    for board, san, _ in [*ALL[:10], *ALL[30:33]]:
        game.see(board, san)
    assert (game.start_fen, ucis(game)) == (ALL[30][0].fen(), UCI[30:32])
    assert game.number == 1


def test_pieces_set_back_begin_the_next_game() -> None:
    game = PositionTracker()
    for board, san, _ in [*ALL[:10], *ALL[:5]]:
        game.see(board, san)
    assert (game.number, ucis(game)) == (2, UCI[:4])


def test_a_game_is_recalled_only_if_it_leads_here() -> None:
    game = PositionTracker()
    assert game.recall(UCI[:20], ALL[20][0])
    assert not game.recall(UCI[:20], ALL[21][0])
    assert not game.recall(["e2e5"], ALL[1][0])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "8/8/8/8/8/8/8/8 w - - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN w",
        "x",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 e4",
        "k" * 200,
    ],
)
def test_what_is_no_position(text: str) -> None:
    assert read_fen(text) is None


def test_a_fen_may_end_early_and_tell_chess960() -> None:
    board = read_fen("4k3/8/8/8/8/8/8/4K3 b")
    assert board is not None and board.turn == chess.BLACK and not board.chess960
    board = read_fen("4k3/8/8/8/8/8/8/1R2K3 w B - 0 1")
    assert board is not None and board.chess960


@pytest.mark.slow
@given(st.lists(st.integers(0, len(ALL) - 1), max_size=12), st.integers(0, 2**32))
def test_law_whatever_came_before_the_last_position_is_held(plies: list[int], seed: int) -> None:
    chance, game = random.Random(seed), PositionTracker()
    for ply in [*plies, len(ALL) - 1]:
        board, san, uci = ALL[ply]
        game.see(board, chance.choice([san, uci, "", "Ke9"]))
        held = chess.Board(game.start_fen)
        for move in game.moves:
            held.push_uci(move.uci)
        assert held.board_fen() == board.board_fen()
