"""Searches turned into questions."""

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.engine.result_cache import MemoryResultCache
from live.engine.search import (
    Limit,
    Position,
    Search,
    SearchFailure,
    SearchOptions,
    SearchResult,
)
from live.engine.search_key import SearchKey, SearchKeys
from live.messages.from_sources import Score

LIMIT = Limit(nodes=1000)
START = chess.STARTING_FEN


def ask(moves: str = "", start: str = START, **search: str) -> SearchKey:
    position = Position(start, tuple(moves.split()))
    search_key = SearchKeys(LIMIT).build_key(Search(position, only=search.get("only")))
    assert isinstance(search_key, SearchKey), search_key
    return search_key


def refuse(moves: str = "", start: str = START, only: str | None = None) -> str:
    position = Position(start, tuple(moves.split()))
    failure = SearchKeys(LIMIT).build_key(Search(position, only=only))
    assert isinstance(failure, SearchFailure)
    return failure.reason


@pytest.mark.parametrize(
    ("moves", "fen", "since"),
    [
        # Without its moves, but for a repetition: then with those since the last pawn
        # move.
        (
            "e2e4 e7e5 g1f3",
            "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 1",
            "",
        ),
        (
            "e2e4 e7e5 g1f3 g8f6 f3g1 f6g8",
            "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1",
            "g1f3 g8f6 f3g1 f6g8",
        ),
        ("g1f3 g8f6 f3g1 f6g8 e2e4", "", ""),
        # Lost castling rights are no repetition.
        ("e2e4 e7e5 e1e2 e8e7 e2e1 e7e8", "", ""),
        # En passant counts only where it is legal.
        ("e2e4", "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1", ""),
        (
            "e2e4 a7a6 e4e5 d7d5",
            "rnbqkbnr/1pp1pppp/p7/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 1",
            "",
        ),
    ],
)
def test_what_of_the_past_is_asked_about(moves: str, fen: str, since: str) -> None:
    search_key = ask(moves)
    assert search_key.moves == tuple(since.split())
    assert not fen or search_key.fen == fen


def test_transpositions_share_a_search_unless_fifty_move_counters_differ() -> None:
    assert ask("g1f3 g8f6 b1c3 b8c6") == ask("b1c3 b8c6 g1f3 g8f6")
    assert ask("e2e3 e7e6 e3e4 e6e5 g1f3") == ask("e2e4 e7e5 g1f3")
    assert ask("g1f3 d7d5 d2d4") != ask("d2d4 d7d5 g1f3")
    # A start position keeps its own.
    assert ask("h1h2", "4k3/8/8/8/8/8/8/4K2R w - - 30 60").fen.endswith(" b - - 31 1")


def test_chess960_castling_is_written_by_files() -> None:
    start = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"
    search_key = SearchKeys(LIMIT).build_key(Search(Position(start, chess960=True)))
    assert isinstance(search_key, SearchKey)
    assert search_key.fen.split()[2] == "HFhf"
    assert search_key.can_be_best("g1h1") is False
    assert search_key.can_be_best("a2b4")


@pytest.mark.parametrize(
    ("start", "says"),
    [
        ("8/8/8/8/8/8/8/8 w - - 0 1", "no_white_king"),
        ("4k3/8/8/8/8/8/8/K3K3 w - - 0 1", "too_many_kings"),
        ("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1", "opposite_check"),
        ("P3k3/8/8/8/8/8/8/4K3 w - - 0 1", "pawns_on_backrank"),
        ("what is this", "fen"),
        ("", "fen"),
    ],
)
def test_what_is_no_chess_position_is_refused(start: str, says: str) -> None:
    assert says in refuse(start=start)


@pytest.mark.parametrize(
    ("moves", "only", "says"),
    [
        ("e2e4 e2e5", None, "illegal move e2e5 at ply 2"),
        ("e2e4 e7", None, "illegal move e7 at ply 2"),
        ("e2e4", "e2e4", "e2e4 is not legal"),
        ("", "e9e4", "e9e4 is not legal"),
        ("f2f3 e7e5 g2g4 d8h4", None, "the rules score it"),
        ("e2e4 0000", None, "illegal move 0000 at ply 2"),
    ],
)
def test_what_no_engine_may_be_asked_is_refused(
    moves: str, only: str | None, says: str
) -> None:
    assert says in refuse(moves, only=only)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 1000), max_size=40))
def test_the_question_is_the_position_whatever_was_asked_before(
    choices: list[int],
) -> None:
    """What is sent stands for the board, and memory of other searches changes
    nothing.
    """
    board = chess.Board()
    remembering = SearchKeys(LIMIT)
    for choice in choices:
        moves = list(board.legal_moves)
        if not moves:
            break
        board.push(moves[choice % len(moves)])
        search = Search(Position(START, tuple(move.uci() for move in board.move_stack)))
        search_key = remembering.build_key(search)
        assert search_key == SearchKeys(LIMIT).build_key(search)
        if isinstance(search_key, SearchFailure):
            assert board.is_game_over()
            continue
        asked = search_key.build_board()
        assert asked.epd(en_passant="legal") == board.epd(en_passant="legal")
        assert asked.halfmove_clock == board.halfmove_clock
        assert asked.is_repetition(2) == board.is_repetition(2)
        assert asked.is_repetition(3) == board.is_repetition(3)


HERE = Position("4k3/8/8/8/8/8/8/4K2R w - - 0 1")


def test_the_move_played_is_searched_to_the_best_moves_depth_in_one_line() -> None:
    assert SearchOptions().search_of_position(HERE) == Search(HERE)
    assert SearchOptions().search_of_move(HERE, "e1e2", 17) == Search(HERE, only="e1e2")
    same = SearchOptions(lines=3, same_depth=True)
    assert same.search_of_position(HERE) == Search(HERE, lines=3)
    assert same.search_of_move(HERE, "e1e2", 17) == Search(
        HERE, only="e1e2", limit=Limit(depth=17)
    )
    assert same.search_of_move(HERE, "e1e2", None) == Search(HERE, only="e1e2")


def test_of_results_in_memory_the_least_used_goes_first() -> None:
    cache = MemoryResultCache(capacity=2)
    results = [SearchResult(Score(number), "e1e2", depth=9) for number in range(3)]
    keys = [ask(move) for move in ("e2e4", "d2d4", "c2c4")]
    for key, result in zip(keys[:2], results, strict=False):
        cache.store_result("engine", key, result)
    cache.find_result("engine", keys[0])
    cache.store_result("engine", keys[2], results[2])
    held = [cache.find_result("engine", key) for key in keys]
    assert (len(cache), held) == (2, [results[0], None, results[2]])
