"""The main line of a game whose text is sent repeatedly."""

import chess
import pytest

from live.messages.from_sources import Move, Result, Score
from live.sources import game_line
from live.sources.movetext import Movetext
from live.sources.san import play_san
from tests.sources.fakes import DATA, sans


def read(
    text: bytes, *, whole: bool = True, known: Movetext | None = None, tag: Result = "*"
) -> Movetext:
    movetext = known or Movetext(chess.Board())
    for _ in movetext.read_text(text, whole=whole, tag=tag):
        pass
    return movetext


@pytest.mark.parametrize(
    "text",
    [
        b"1. e4 e5 2. Nf3 Nc6 *",
        b"1.e4 e5 2.Nf3 Nc6",
        b"1 e4 1... e5 2 Nf3 2 ... Nc6",
        b"1e4 e5 2Nf3 ...Nc6",
        b"e4\ne5\tNf3\nNc6",
        b"1. e4! e5?! 2. Nf3 $1 $14 Nc6$5 +/- \xe2\xa9\xb1 ! += =",
        b"e4 {x}e5{}Nf3{ {( }Nc6",
        b"e4 e5 (Qh8) Nf3 Nc6",
        b"e4 (d4 d5 (e5) {)} 1-0) e5 (c5) (e6 (c6)) Nf3(Nc3)Nc6 (",
        b"e4 e5 ) Nf3 } Nc6 ] [",
        b"e4 ; e5 Nc3 } (\ne5 Nf3 ;\nNc6 ; end",
        b"% e4\ne4 e5\n% Nc3 {\nNf3 Nc6\n%",
        b"e4 (d4 ; )\n% )\n) e5 Nf3 Nc6",
        b"e4 1-0 e5 * Nf3 Nc6 1/2-1/2",
        b"e4 $" + b"9" * 5000 + b" e5 Nf3 Nc6",
        "e4 e5 ♘f3 ♞c6".encode(),
        b"e4 e5 Nf3 N Nc6 TN D",
        b"1.e4!!e5?2.Nf3Nc6",
        b"1.e4e52.Nf3 Nc6*",
        b"e4e5 Nf3Nc6",
        b"1.e4e5 2Nf3 2...Nc6",
    ],
)
def test_mainline_survives(text: bytes) -> None:
    assert sans(read(text)) == "e4 e5 Nf3 Nc6"


@pytest.mark.parametrize(
    ("text", "moves", "problem"),
    [
        (b"e4 Qh9 e5 1-0", 1, "illegal move 1...Qh9"),
        (b"e4 e5 Qh6 Nf6 1-0", 2, "illegal move 2.Qh6"),
        (b"1. e4 -- 2. d4 1-0", 1, "null move 1...--"),
        (b"e4 Z0 1-0", 1, "null move 1...Z0"),
        (b"Nf3 Nf6 Ng1 Ng8 d3 d6 Nd2 c6 Nf3 1-0", 8, "ambiguous move 5.Nf3"),
        (b"e4 foo e5 1-0", 1, "unreadable move 1...foo"),
        (b"e4 e5 Nf 1-0", 2, "unreadable move 2.Nf"),
        (b"e4 \xff\xfe1 1-0", 1, "unreadable move 1...ÿþ1"),
        (b"e4 e5 {oops Nf3 1-0", 2, "a comment is never closed after ply 2"),
        (b"e4 (d4 e5 Nf3 1-0", 1, "a variation is never closed after ply 1"),
        (b"e4 (d4 {) e5 Nf3 1-0", 1, "a variation is never closed after ply 1"),
        (b"0-0 1-0", 0, "illegal move 1.0-0"),
        (b"1.e4e52.Nf3Qh3 d4 1-0", 3, "illegal move 2...Qh3"),
        (b"e4 e5e4e5 1-0", 2, "illegal move 2.e4"),
        (b"Qh5e5 1-0", 0, "illegal move 1.Qh5e5"),
    ],
)
def test_problems_keep_the_moves_before_and_the_result(
    text: bytes, moves: int, problem: str
) -> None:
    game = read(text)
    assert (len(game.moves), game.problem, game.result) == (moves, problem, "1-0")


def test_start_position_with_black_to_move() -> None:
    start = chess.Board("4k3/8/8/8/8/8/8/4K3 b - - 0 1")
    game = read(b"1... Kd7 2. Kd2 Kz1", known=Movetext(start))
    assert sans(game) == "Kd7 Kd2"
    assert game.problem == "unreadable move 2...Kz1"


def test_clocks_spent_times_and_evaluations() -> None:
    game = read(
        b"{[%eval 0.2]} 1. e4 {[%clk 1:30:00]} {[%emt 0:00:05]} (d4 {[%clk "
        b"0:00:01]}) e5 "
        b"{x} ({[%clk 0:00:02]} c5) {[%eval #-3] [%clk\n0:59:59.5]} 2. "
        b"Nf3 {[%clk 1:00]} *"
    )
    assert game.start_eval == Score(20)
    assert game.moves == [
        Move("e2e4", "e4", 5400.0, 5.0),
        Move("e7e5", "e5", 3599.5, None, Score(-3900, -3)),
        Move("g1f3", "Nf3", 3600.0),
    ]


@pytest.mark.parametrize(
    ("cut", "moves"),
    [
        (b"1. e4 e", "e4"),
        (b"1. e4 e5", "e4"),
        (b"1. e4 e5 ", "e4 e5"),
        (b"1. e4 e5 2", "e4 e5"),
        (b"1. e4 e5 {", "e4 e5"),
        (b"1. e4 e5 {[%clk 0:0", "e4 e5"),
        (b"1. e4 e5 (2. d", "e4 e5"),
        (b"1. e4 e5;", "e4 e5"),
        (b"1. e4 e5 ; Nf3", "e4 e5"),
    ],
)
def test_what_is_cut_at_the_end_waits(cut: bytes, moves: str) -> None:
    game = read(cut, whole=False)
    assert (sans(game), game.problem) == (moves, None)


def test_castling_cut_short_is_not_castled_and_a_double_forfeit_is_none() -> None:
    start = b"e4 e5 Nf3 Nf6 Bc4 Bc5 O-O d6 d3 Bg4 Nc3 Nc6 Be3 Qd7 Re1 O-O"
    assert len(read(start, whole=False).moves) == 15
    for whole in (False, True):
        game = read(start, whole=whole)
        assert read(start + b"-O *", known=game).moves[-1].san == "O-O-O"
    forfeited = read(b"e4 0-0", tag="0-0")
    assert (forfeited.result, forfeited.problem) == ("0-0", None)


def test_other_variants_are_only_read_for_their_result() -> None:
    game = Movetext(chess.Board(), playable=False)
    game = read(b"P@e4 e5 ( x 0-1", known=game)
    assert (game.moves, game.problem, game.result) == ([], None, "0-1")


def test_glued_moves_end_with_their_result() -> None:
    game = read(b"1.f3e52.g4Qh4#0-1")
    assert (sans(game), game.result, game.problem) == ("f3 e5 g4 Qh4#", "0-1", None)


def test_a_game_glued_together_is_read_up_to_a_bound() -> None:
    assert len(read(b"Nf3Nf6Ng1Ng8" * 100).moves) == 400
    assert read(b"Nf3Nf6Ng1Ng8" * 1000).problem is not None


# --- piece letters --------------------------------------------------------------------

#: A game with castling, captures, a promotion, and moves of every piece.
ENGLISH = (
    "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Bxc6 dxc6 5. O-O Qd6 6. Re1 Be6 7. "
    "Kf1 O-O-O 8. d4 exd4 "
    "9. Nbd2 d3 10. Nb3 dxc2 11. Nfd4 cxd1=Q 12. Rxd1 c5 1-0"
)
LETTERS = {
    "German": "KDTLS",
    "French": "RDTFC",
    "Spanish or Italian": "RDTAC",
    "Portuguese": "RDTBC",
    "Dutch": "KDTLP",
    "Russian": "КФЛСК",
    "Polish": "KHWGS",
    "Czech": "KDVSJ",
    "Hungarian": "KVBFH",
    "Finnish": "KDTLR",
    "Icelandic": "KDHBR",
    "Romanian": "RDTNC",
    "Turkish": "ŞVKFA",
    "Ukrainian": "КФТСК",
    "Serbian": "КДТЛС",
}


def in_language(text: str, language: str) -> str:
    letters = dict(zip("KQRBN", LETTERS[language], strict=True))
    if language in ("Russian", "Ukrainian"):
        letters["K"] = "Кр"
    return "".join(letters.get(sign, sign) for sign in text)


def read_text(text: str, *, whole: bool = True) -> Movetext:
    return read(text.encode(), whole=whole)


#: Languages that become clear only later: 2.Rf3 is read as a rook until other letters
#: follow, and 2.Hf3 as a queen in Polish.
LATER_CLEAR = {"Finnish", "Icelandic", "Hungarian"}


@pytest.mark.parametrize("language", LETTERS)
def test_a_game_in_another_language_is_read_as_it_grows(language: str) -> None:
    words = in_language(ENGLISH, language).split()
    known, expected = Movetext(chess.Board()), read_text(ENGLISH)
    for end in range(len(words)):
        game = read(" ".join(words[:end]).encode(), whole=False, known=known)
        assert game.problem is None or (
            language in LATER_CLEAR and len(game.moves) == 2
        )
        assert game.moves == expected.moves[: len(game.moves)]
    game = read(" ".join(words).encode(), known=known)
    assert (game.moves, game.result, game.problem) == (expected.moves, "1-0", None)
    assert len(game.moves) == 24


def test_p_is_a_pawn_where_every_pawn_has_it() -> None:
    assert sans(read_text("1. Pe4 Pe5 2. Pf3 Nc6")) == "e4 e5 f3 Nc6"
    assert sans(read_text("1. e4 e5 2. Pf3 Pc6 3. d3 1-0")) == "e4 e5 Nf3 Nc6 d3"
    # Letters that Dutch does not have are read as English.
    assert sans(read_text("1. e4 e5 2. Pf3 Nc6 3. Pd3 1-0")) == "e4 e5 f3 Nc6 d3"


def test_cyrillic_letters_that_look_like_latin_ones_are_read() -> None:
    game = read_text("1. е4 е5 2. Кf3 Кс6 3. Сс4 Сс5 4. О-О К×е4")
    assert sans(game) == "e4 e5 Nf3 Nc6 Bc4 Bc5 O-O"
    assert game.problem == "illegal move 4...Nxe4 (Russian or Ukrainian piece letters)"
    assert sans(read_text("e4 d5 е×d5 Фхd5")) == "e4 d5 exd5 Qxd5"


@pytest.mark.parametrize(
    ("text", "moves", "problem"),
    [
        # An error in a game in another language.
        ("e4 e5 Sf3 Sc6 Lb5 Lb1", 5, "illegal move 3...Bb1 (German piece letters)"),
        ("e4 e5 Cf3 Cc6 Fb5 Ah6", 2, "unreadable move 2.Cf3"),
        # An error in an English game, and letters that are of no language.
        ("e4 e5 Nf3 Sc6 Bb5", 3, "unreadable move 2...Sc6"),
        ("e4 e5 Xf3", 2, "unreadable move 2.Xf3"),
        ("e4 e5 Re2", 2, "illegal move 2.Re2"),
    ],
)
def test_languages_are_not_mixed(text: str, moves: int, problem: str) -> None:
    game = read_text(text)
    assert (len(game.moves), game.problem) == (moves, problem)


def test_a_common_language_is_meant_where_it_fits() -> None:
    # S is a knight in German and a bishop in Czech; both can go there.
    assert sans(read_text("1. e4 e6 2. d4 d5 3. Sd2 Sf6")) == "e4 e6 d4 d5 Nd2 Nf6"


def test_letters_that_fit_two_languages_are_named() -> None:
    # H is a queen in Polish and a knight in Hungarian.
    game = read_text("1. e4 e5 2. Hf3 d6")
    assert len(game.moves) == 2
    languages = "Polish or Hungarian or Icelandic"
    assert game.problem == f"unreadable move 2.Hf3 ({languages} piece letters)"


def state(game: Movetext) -> tuple[object, ...]:
    return (game.moves, game.result, game.problem, game.start_eval)


GAME = (DATA / "lichess-open-2025.pgn").read_bytes().split(b"\n\n")[1].strip()


def test_a_game_resent_at_every_move_is_played_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played: list[str] = []

    def counted(board: chess.Board, text: str) -> tuple[str, str]:
        played.append(text)
        return play_san(board, text)

    monkeypatch.setattr(game_line, "play_san", counted)
    known, parts = Movetext(chess.Board()), GAME.split(b"} ")
    texts = [b"} ".join(parts[:n]) + b"} *" for n in range(1, len(parts) - 1)] + [GAME]
    for ply, text in enumerate(texts, 1):
        assert len(read(text, known=known).moves) == ply
    assert len(played) == len(known.moves) > 120
    assert state(known) == state(read(GAME))
