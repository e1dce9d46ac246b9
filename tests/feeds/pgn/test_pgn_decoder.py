from __future__ import annotations

import io
from pathlib import Path

import chess
import chess.pgn
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from live.events import STANDS, GameReport, Score
from live.feeds.pgn_decoder import PgnDecoder, PgnLimits, PgnReader
from live.feeds.pgn_headers import DOUBTFUL_WORDS, RESULT_WORDS

DATA = Path(__file__).parents[2] / "data"
FILES = (
    "dgt-livechess-round.pgn",
    "lichess-open-2025.pgn",
    "lichess-round-robin-2025.pgn",
    "otb-2024-25.pgn",
    "figure-1.pgn",
)
HEAD = b'[Event "E"]\n[White "W"]\n[Black "B"]\n'


def decode(text: bytes) -> list[GameReport]:
    """All games of a text, which a stream and a snapshot must tell alike."""
    decoder = PgnDecoder()
    streamed = [*decoder.feed(text), *decoder.finish()]
    assert PgnReader().read(text, closed=True) == streamed
    return streamed


def one(movetext: bytes, head: bytes = HEAD) -> GameReport:
    [game] = decode(head + b"\n" + movetext + b"\n\n")
    return game


def sans(game: GameReport) -> str:
    return " ".join(move.san for move in game.moves)


def names(games: list[GameReport]) -> list[str]:
    return [game.headers.white.name for game in games]


# --- against python-chess ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_real_games_read_as_python_chess_reads_them(name: str) -> None:
    text = (DATA / name).read_bytes()
    handle = io.StringIO(text.decode())
    games = decode(text)
    for game in games:
        expected = chess.pgn.read_game(handle)
        assert expected is not None
        nodes = list(expected.mainline())
        assert [move.uci for move in game.moves] == [node.move.uci() for node in nodes]
        assert [move.san for move in game.moves] == [node.san() for node in nodes]
        assert [move.clock_s for move in game.moves] == [node.clock() for node in nodes]
        assert [move.spent_s for move in game.moves] == [node.emt() for node in nodes]
        for move, node in zip(game.moves, nodes, strict=True):
            score = node.eval()
            assert (move.eval is None) is (score is None)
            if score is not None and move.eval is not None:
                assert move.eval.mate == score.white().mate()
                assert move.eval.cp == score.white().score(mate_score=100_000) or (
                    abs(move.eval.cp) == 3900
                )
        assert game.result == expected.headers["Result"]
        assert game.headers.white.name == expected.headers["White"]
        assert game.headers.black.name == expected.headers["Black"]
        assert game.problem is None
    assert chess.pgn.read_game(handle) is None


def test_dgt_livechess_round() -> None:
    games = decode((DATA / "dgt-livechess-round.pgn").read_bytes())
    assert len(games) == 12
    first = games[0]
    assert (first.headers.round, first.headers.board, first.headers.date) == ("1.1", 1, "")
    assert first.headers.black.elo == 1349
    assert (first.moves[1].clock_s, first.moves[1].spent_s) == (918.0, 2.0)
    assert first.moves[2].clock_s == 927.0  # wrapped inside the comment


def test_lichess_evaluations_are_whites() -> None:
    game = decode((DATA / "lichess-round-robin-2025.pgn").read_bytes())[0]
    assert any(move.eval is not None and move.eval.mate is not None for move in game.moves)
    assert game.moves[0].eval is not None and abs(game.moves[0].eval.cp) < 100


# --- the traps of feeds.md, section 5 ------------------------------------------------------------


def test_keep_alive_spaces_before_a_game() -> None:
    text = HEAD + b"\n1. e4 *\n\n\n     " + HEAD + b"\n1. e4 e5 *\n\n\n  "
    assert [len(game.moves) for game in decode(text)] == [1, 2]


def test_game_without_moves() -> None:
    game = one(b" *")
    assert (game.moves, game.result, game.problem) == ((), "*", None)


def test_no_blank_line_between_games() -> None:
    games = decode(b'[White "A"]\n\n1. e4 1-0\n[White "B"]\n\n1. d4 0-1\n')
    assert names(games) == ["A", "B"]
    assert [game.result for game in games] == ["1-0", "0-1"]


def test_two_blank_lines_between_tags_and_moves() -> None:
    [game] = decode(HEAD + b"\n\n\n1. e4 e5 1-0\n\n")
    assert (game.headers.white.name, sans(game), game.result) == ("W", "e4 e5", "1-0")


def test_illegal_move_costs_what_follows_in_its_game_only() -> None:
    games = decode(HEAD + b"\n1. e4 e5 2. Qh9 Nc6 0-1\n\n" + HEAD + b"\n1. d4 1-0\n\n")
    assert [sans(game) for game in games] == ["e4 e5", "d4"]
    assert [game.result for game in games] == ["0-1", "1-0"]
    assert games[0].problem == "illegal move Qh9 at ply 3 (2.)"
    assert games[1].problem is None


def test_file_cut_inside_a_comment_or_move() -> None:
    for cut in (b"1. e4 e5 {[%clk 0:0", b"1. e4 e5 2. Nf", b"1. e4 e5 2", b"1. e4 e5 (2. d4"):
        [game] = decode(HEAD + b"\n" + cut)
        assert (sans(game), game.problem) == ("e4 e5", None)


def test_castling_cut_from_long_to_short() -> None:
    moves = b"1. d4 d5 2. Nc3 Nc6 3. Bf4 Bf5 4. Qd2 Qd7 5. Nf3 Nf6 6. e3 e6 7. Bd3 Bd6 8. O-O"
    [game] = decode(HEAD + b"\n" + moves)
    assert len(game.moves) == 14
    assert one(moves + b"-O").moves[-1].uci == "e1c1"


def test_clock_without_seconds() -> None:
    assert one(b"e4 {[%clk 1:30]} *").moves[0].clock_s == 5400


@pytest.mark.parametrize("charset", ["utf-8", "cp1252"])
def test_half_points(charset: str) -> None:
    text = '[White "W"]\n[Result "½-½"]\n\n1. e4 ½-½\n'.encode(charset)
    assert [game.result for game in decode(text)] == ["1/2-1/2"]


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_mark_and_line_ends(newline: bytes, mark: bytes) -> None:
    text = mark + (HEAD + b"\n1. e4 {a\nb} e5\n2. 0-0 1-0\n\n" + HEAD + b"\n*\n").replace(
        b"\n", newline
    )
    games = decode(text)
    assert [sans(game) for game in games] == ["e4 e5", ""]
    assert names(games) == ["W", "W"]


def test_zero_castling() -> None:
    assert sans(one(b"1. e4 e5 2. Nf3 Nf6 3. Bc4 Bc5 4. 0-0 0-0 *")).endswith("O-O O-O")


def test_null_move_ends_the_moves_and_says_so() -> None:
    game = one(b"1. e4 -- 2. d4 1-0")
    assert (sans(game), game.result) == ("e4", "1-0")
    assert game.problem == "null move -- at ply 2 (1...)"


def test_two_tags_on_one_line() -> None:
    [game] = decode(b'[White "A"] [Black "B"]\n\n1. e4 *\n')
    assert (game.headers.white.name, game.headers.black.name) == ("A", "B")


def test_chess960_position_without_variant() -> None:
    fen = "bqnbnrkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBNRKR w KQkq - 0 1"
    game = one(b"1. e4 e5 2. O-O *", HEAD + b'[FEN "%s"]\n' % fen.encode())
    assert game.headers.variant == "chess960"
    assert game.start_fen == fen
    assert [move.uci for move in game.moves] == ["e2e4", "e7e5"]
    game = one(b"1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. O-O *", HEAD + b'[Variant "Chess960"]\n')
    assert game.moves[-1].uci == "e1h1"


@pytest.mark.parametrize(
    "comment",
    [b'{\n\n[Event "x"]\n[White "y"]\n\n1. d4 1-0\n\n[Event "z"]\n}', b"{ 1-0\n}", b"; 1-0\n"],
)
def test_what_looks_like_a_game_inside_a_comment(comment: bytes) -> None:
    assert sans(one(b"1. e4 " + comment + b" e5 *")) == "e4 e5"


def test_comment_never_closed_costs_its_game_only() -> None:
    games = decode(HEAD + b"\n1. e4 {oops e5 1-0\n\n" + HEAD + b"\n1. d4 {x} d5 *\n\n")
    assert [sans(game) for game in games] == ["e4", "d4 d5"]
    assert games[0].problem == "a comment is never closed after ply 1"
    assert games[0].result == "1-0"


def test_utf8_and_windows_names_in_one_text() -> None:
    text = b"".join(b'[White "%s"]\n\n*\n\n' % "Müller".encode(c) for c in ("utf-8", "cp1252"))
    assert names(decode(text)) == ["Müller", "Müller"]


def test_utf16_text() -> None:
    text = '[White "Müller"]\n\n1. e4 e5 *\n\n'.encode("utf-16")
    [game] = decode(text)
    assert (game.headers.white.name, sans(game)) == ("Müller", "e4 e5")


# --- the traps of python-chess -------------------------------------------------------------------


def test_illegal_variation_does_not_truncate_the_mainline() -> None:
    assert sans(one(b"e4 e5 (Qh8) Nf3 Nc6 *")) == "e4 e5 Nf3 Nc6"


@pytest.mark.parametrize(
    "movetext",
    [
        b") e4 ) ) e5 *",
        b"(e4 e4 e5 *",
        b"$" + b"9" * 5000 + b" e4 *",
        b"{}{}{} ( { ) } ) e4 *",
        b"e4 " + b"(" * 8000 + b"d4" + b")" * 8000 + b" e5 *",
        b"Nf3 Nf6 Ng1 Ng8 " * 250 + b"(e4) " * 200 + b"*",
    ],
)
def test_odd_nesting(movetext: bytes) -> None:
    assert one(movetext).result == "*"


def test_bad_position() -> None:
    game = one(b"1. e4 1-0", HEAD + b'[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n')
    assert (game.moves, game.result) == ((), "1-0")
    assert game.problem == "the FEN header is not a legal position"


def test_other_variant() -> None:
    game = one(b"1. P@e4 e5 0-1", HEAD + b'[Variant "Crazyhouse"]\n')
    assert (game.headers.variant, game.moves, game.result) == ("crazyhouse", (), "0-1")
    assert game.problem == "the variant crazyhouse is not followed"


# --- results -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tag", "token", "result"),
    [
        (b"1-0", b"1-0", "1-0"),
        (b"*", b"1-0", "1-0"),
        (b"1-0", b"*", "1-0"),
        (b"1-0", b"0-1", "0-1"),
        (b"1/2", b"", "1/2-1/2"),
        (b"+--", b"*", "1-0"),
        (b"?", b"", "*"),
        (b"0-0", b"0-0", "0-0"),
    ],
)
def test_token_counts_unless_it_leaves_open_what_the_tag_decides(
    tag: bytes, token: bytes, result: str
) -> None:
    assert one(b"1. e4 " + token, HEAD + b'[Result "%s"]\n' % tag).result == result


def test_tag_of_a_text_that_breaks_off_is_not_believed_while_it_is_written() -> None:
    text = HEAD + b'[Result "1-0"]\n\n1. e4 e5\n'
    assert PgnReader().read(text)[0].result == "*"
    assert PgnReader().read(text, closed=True)[0].result == "1-0"


def test_start_evaluation() -> None:
    assert one(b"{[%eval 0.13]} 1. e4 {[%eval 0.2]} *").start_eval == Score(13)


# --- bounds --------------------------------------------------------------------------------------


def test_bounds_cost_their_game_only() -> None:
    limits = PgnLimits(game_bytes=300, plies=6, tags=5)
    reader = PgnReader(limits=limits)
    good = b'[White "good"]\n\n1. e4 e5 *\n\n'
    long = b'[White "long"]\n\n1. e4 {' + b"x" * 1000 + b"} e5 *\n\n"
    plies = b'[White "plies"]\n\n' + b"Nf3 Nf6 Ng1 Ng8 " * 2 + b"1-0\n\n"
    tags = b"".join(b'[Tag%d "x"]\n' % i for i in range(9)) + b"\n1. e4 e5 *\n\n"
    games = reader.read(b"".join([long, good, plies, good, tags, good]))
    assert [game.problem for game in games] == [
        "the game is longer than 300 bytes",
        None,
        "more than 6 plies",
        None,
        "only the first 5 headers were read",
        None,
    ]
    assert [sans(game) for game in games[1::2]] == ["e4 e5"] * 3
    assert sans(games[0]) == "e4" and len(games[2].moves) == 6 and games[2].result == "1-0"


def test_games_beyond_the_bound_are_counted() -> None:
    reader = PgnReader(limits=PgnLimits(games=3))
    text = b'[White "W"]\n\n1. e4 *\n\n' * 5
    assert len(reader.read(text)) == 3
    assert reader.left_out == 2
    assert len(reader.read(text[: len(text) // 5])) == 1
    assert reader.left_out == 0


def test_games_remembered_are_bounded() -> None:
    decoder = PgnDecoder(limits=PgnLimits(games=10))
    for number in range(100):
        decoder.feed(b'[White "W%d"]\n\n1. e4 *\n\n' % number)
    cache = decoder._reader._cache
    assert len(cache._by_header) == len(cache._by_identity) == 10


def test_text_without_games() -> None:
    for text in (
        b"",
        b"\n \n",
        b"<html><body>Login</body></html>",
        b"*\n*\n",
        b"}{",
        b"\x00" * 100,
    ):
        assert decode(text) == []


# --- streams and cuts ----------------------------------------------------------------------------


def test_a_game_is_told_when_its_result_token_is_there() -> None:
    decoder = PgnDecoder()
    assert decoder.feed(HEAD + b"\n1. e4 ") == []
    assert decoder.feed(b"e5 *") == []
    assert [sans(game) for game in decoder.feed(b"\n")] == ["e4 e5"]
    assert decoder.feed(b"\n\n     ") == []
    assert [sans(game) for game in decoder.feed(HEAD + b"\n1. e4 e5 2. Nf3 *\n\n\n")] == [
        "e4 e5 Nf3"
    ]
    assert decoder.finish() == []


def test_reset_forgets_the_half_of_a_game_and_keeps_the_games() -> None:
    decoder = PgnDecoder()
    first = decoder.feed(HEAD + b"\n1. e4 e5 *\n\n\n")
    decoder.feed(b'[Event "half')
    decoder.reset()
    assert decoder.feed(HEAD + b"\n1. e4 e5 *\n\n\n") == first


def test_input_may_begin_again_after_its_end() -> None:
    decoder = PgnDecoder()
    for _ in range(2):
        assert decoder.feed(HEAD + b"\n1. e4 e5") == []
        assert [sans(game) for game in decoder.finish()] == ["e4"]


def test_lichess_stream_with_corrections() -> None:
    url = HEAD + b'[Result "%s"]\n[GameURL "https://lichess.org/broadcast/-/-/abcdefgh/ijklmnop"]\n'
    tells = [
        (b"*", b" *", ""),
        (b"*", b"1. e4 { [%clk 1:30:56] } *", "e4"),
        (b"*", b"1. e4 { [%clk 1:30:56] } 1... e5 { [%clk 1:30:40] } *", "e4 e5"),
        (b"*", b"1. e4 { [%clk 1:30:56] } 1... c5 { [%clk 1:30:41] } *", "e4 c5"),
        (b"1-0", b"1. e4 { [%clk 1:30:56] } 1... c5 { [%clk 1:30:41] } 2. d4 1-0", "e4 c5 d4"),
    ]
    decoder = PgnDecoder()
    for result, moves, expected in tells:
        [game] = decoder.feed(b"  " + url % result + b"\n" + moves + b"\n\n\n")
        assert (sans(game), game.key, game.result) == (expected, "ijklmnop", result.decode())
    assert [move.clock_s for move in game.moves] == [5456.0, 5441.0, None]


def test_games_with_equal_tags_do_not_mix() -> None:
    reader = PgnReader()
    games = [HEAD + b"\n1. %s *\n\n" % move for move in (b"e4", b"d4", b"c4")]
    for _ in range(2):
        assert [sans(game) for game in reader.read(b"".join(games))] == ["e4", "d4", "c4"]
    assert [sans(game) for game in reader.read(b"".join(games[1:]))] == ["d4", "c4"]


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_cut_at_every_position(name: str) -> None:
    text = (DATA / name).read_bytes()
    whole = decode(text)
    decoder = PgnDecoder()
    for cut in range(0, len(text) + 1, 7 if name.startswith("dgt") else 31):
        games = [*decoder.feed(text[:cut]), *decoder.feed(text[cut:]), *decoder.finish()]
        assert games == whole
    decoder = PgnDecoder()
    games = [game for at in range(len(text)) for game in decoder.feed(text[at : at + 1])]
    assert games + decoder.finish() == whole


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_file_read_while_it_grows_never_tells_what_is_not_so(name: str) -> None:
    text = (DATA / name).read_bytes()
    whole = PgnReader().read(text, closed=True)
    reader = PgnReader()
    told = 0
    for end in [*range(0, len(text), 11), len(text)]:
        games = reader.read(text[:end])
        assert len(games) <= len(whole)
        for game, final in zip(games, whole, strict=False):
            assert game.problem is None
            moves = [move.uci for move in game.moves]
            assert moves == [move.uci for move in final.moves[: len(moves)]]
            assert game.moves[:-1] == final.moves[: len(moves) - 1] or not moves
            assert game.result in ("*", final.result)
            if game.result != "*":
                assert game.moves == final.moves
        told = max(told, sum(len(game.moves) for game in games))
    assert told == sum(len(game.moves) for game in whole)


_PIECES = st.sampled_from(
    [HEAD, b"\n", b"\n\n", b"\r\n", b"1. e4", b" e5 ", b" Nf3", b" O-O", b" *", b" 1-0", b"{", b"}",
     b"(", b")", b";", b"%", b"[", b'[Event "x"]', b"\xbd", b"\xc2", b"{[%clk 0:0:1]}",
     b"\xef\xbb\xbf", b"$1", b'[Result "1-0"]', b'[FEN "x"]']
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_PIECES, max_size=40).map(b"".join), st.data())
def test_reports_do_not_depend_on_cuts(text: bytes, data: st.DataObject) -> None:
    decoder = PgnDecoder()
    whole = [*decoder.feed(text), *decoder.finish()]
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    decoder = PgnDecoder()
    games = []
    for start, stop in zip([0, *cuts], [*cuts, len(text)], strict=True):
        games += decoder.feed(text[start:stop])
    assert games + decoder.finish() == whole


@pytest.mark.slow
@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.lists(_PIECES, max_size=30).map(b"".join), min_size=2, max_size=5), st.booleans()
)
def test_reading_again_never_depends_on_what_was_read_before(
    texts: list[bytes], closed: bool
) -> None:
    reader = PgnReader()
    for text in [*texts, *texts]:
        assert reader.read(text, closed=closed) == PgnReader().read(text, closed=closed)


def test_slices_hand_back_control() -> None:
    text = (DATA / "lichess-open-2025.pgn").read_bytes()
    slices = list(PgnDecoder().slices(text))
    assert len(slices) > 2
    assert [game for games in slices for game in games] == PgnDecoder().feed(text)


WON = b'[Event "E"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n'


def test_an_illegal_move_that_the_game_went_on_from_stands() -> None:
    """It ended the board (audit, row 15); the game goes on from the position behind it."""
    text = WON + b"1. e4 e5 2. Nf3 Nc6 3. Qh6 {[%clk 1:00:00]} a6 4. Bc4 d6 5. O-O 1-0\n"
    first, rest = PgnReader().read(text, closed=True)
    assert [move.san for move in first.moves] == ["e4", "e5", "Nf3", "Nc6"]
    assert first.problem is not None and first.problem.startswith("illegal move Qh6 at ply 5")
    assert first.problem.endswith(STANDS)
    assert [move.san for move in rest.moves] == ["a6", "Bc4", "d6", "O-O"]
    assert rest.start_fen.split()[:2] == [
        "r1bqkbnr/pppp1ppp/2n4Q/4p3/4P3/5N2/PPPP1PPP/RNB1KB1R",
        "b",
    ]
    assert (rest.result, rest.problem, rest.key) == ("1-0", None, "E//A/B/ from ply 5")
    board = chess.Board(rest.start_fen)
    for move in rest.moves:
        board.push_uci(move.uci)


def test_a_game_that_goes_on_is_read_on_as_it_grows() -> None:
    reader = PgnReader()
    text = WON.replace(b"1-0", b"*") + b"1. e4 e5 2. Nf3 Nc6 3. Qh6 a6 4. Bc4"
    assert [len(game.moves) for game in reader.read(text + b" *\n")] == [4, 2]
    assert [len(game.moves) for game in reader.read(text + b" d6 5. O-O *\n")] == [4, 4]


@pytest.mark.parametrize(
    "moves",
    [
        b"1. e4 e5 2. Bb6 1-0",  # nothing follows
        b"1. e4 e5 2. Bb6 Qh3 3. Nh9 1-0",  # what follows fits no position
        b"1. e4 e5 2. Nd4 Nc6 3. a3 1-0",  # which knight?
        b"1. e4 e5 2. Bxe8 Nc6 3. a3 1-0",  # a king cannot be taken
    ],
)
def test_an_illegal_move_that_proves_nothing_ends_the_game(moves: bytes) -> None:
    (game,) = PgnReader().read(WON + moves + b"\n", closed=True)
    assert game.problem is not None and STANDS not in game.problem


@pytest.mark.parametrize("word", sorted(RESULT_WORDS | DOUBTFUL_WORDS))
def test_whatever_result_is_read_ends_a_text_and_its_game(word: bytes) -> None:
    result = (RESULT_WORDS | DOUBTFUL_WORDS)[word]
    text = b'[White "A"]\n[Black "B"]\n[Result "' + word + b'"]\n\n'
    for moves, end in ((b"", b""), (b"1. e4 e5 2. Nf3 ", b""), (b"1. e4 e5 2. Nf3 ", b"\n\n")):
        reader = PgnReader()
        (game,) = reader.read(text + moves + word + end)
        assert (game.result, game.problem, reader.whole) == (result, None, True)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("1. e4 *\n\n", True),
        ("1. e4 1-0", True),
        ("1. e4 0-1\r\n", True),
        ("1. e4 {they agreed} ½-½\n", True),
        ("1. e4 {[%clk 1:30:00]} 1:0\n", True),
        ("1. e4 e5 2. Nf3 {[%clk 1:0", False),  # cut in a clock: no result
        ("1. e4 e5 2. Nf3 {[%clk\n0:1", False),
        ("1. e4 e5 2. Nf3 {one thought of 1-0", False),
        ("1. e4 ; one thought of 1-0", False),
        ("1. e4 e5 2. Nf3 +/-", False),  # White stands better
        ("1. e4 e5 2. Nf3 Nf6 3. Bc4 Bc5 4. 0-0", False),
        ('1. e4 *\n\n[White "C', False),
        ("1. e4 e", False),
        ("", True),
    ],
)
def test_the_end_of_a_text_tells_whether_it_is_all_there(text: str, whole: bool) -> None:
    reader = PgnReader()
    head = '[White "A"]\n[Black "B"]\n[Result "*"]\n\n' if text else ""
    reader.read((head + text).encode())
    assert reader.whole is whole


def test_a_sign_after_a_move_is_no_result_and_ends_nothing() -> None:
    reader = PgnReader()
    (game,) = reader.read(b'[Result "0-1"]\n\n1. e4 +/- e5 2. Nf3 +/-\nNc6 0-1\n')
    assert (len(game.moves), game.result, game.problem) == (4, "0-1", None)
