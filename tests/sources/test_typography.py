"""Spaces, dashes, quotes and dots as different programs write them."""

import unicodedata
from itertools import chain

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.sources.movetext import Movetext
from live.sources.pgn_decoder import PgnDecoder, PgnReader
from live.sources.results import read_result
from live.sources.typography import normalise_line, normalise_tags, normalise_text
from tests.sources.fakes import sans

#: All but ideographs and what is private: the planes behind hold neither blanks nor
#: dashes.
EVERY = list(map(chr, range(0x80, 0x20000)))
BLANKS = [sign for sign in EVERY if unicodedata.category(sign) in ("Zs", "Zl", "Zp")]
#: Format characters around Arabic and Syriac numbers that are visible.
SEEN = set("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2")
FORMATS = {
    sign for sign in EVERY if unicodedata.category(sign) == "Cf" and sign < "\U00010000"
}
UNSEEN = sorted(FORMATS - SEEN)
DASHES = [sign for sign in EVERY if unicodedata.category(sign) == "Pd"] + [
    "\u2212",
    "\u2043",
]
#: Unicode dashes that neither keyboards nor programs produce.
RARE_DASHES = set("\u1400\u2e17\u2e1a\u2e40\u2e5d\U00010ead\u05be\u058a\u1806")

MOVES = "1. e4 e5 2. Nf3 Nc6 3. Bb5 Nf6 4. O-O d6 5. d3 Bd7 6. c3 Qe7 7. Re1 O-O-O 1-0"
SANS = "e4 e5 Nf3 Nc6 Bb5 Nf6 O-O d6 d3 Bd7 c3 Qe7 Re1 O-O-O"


def read(text: str) -> tuple[str, str | None, str | None]:
    game = Movetext(chess.Board())
    for _ in game.read_text(normalise_text(text).encode(), whole=True):
        pass
    return sans(game), game.result, game.problem


@pytest.mark.parametrize("blank", [*BLANKS, "\x85", "\u2800", "\u3164"], ids=ascii)
def test_every_blank_parts_words(blank: str) -> None:
    assert read(MOVES.replace(" ", blank)) == (SANS, "1-0", None)


@pytest.mark.parametrize("mark", UNSEEN, ids=ascii)
def test_marks_without_width_part_words_and_no_move(mark: str) -> None:
    for text in (
        MOVES.replace(" ", f" {mark}"),
        MOVES.replace(" ", f"{mark} "),
        mark + MOVES.replace(". ", f".{mark}") + mark,
        MOVES.replace("N", f"N{mark}").replace("B", f"{mark}B"),
        MOVES.replace(" ", mark).replace(f"O-O{mark}", "O-O "),
    ):
        assert read(text) == (SANS, "1-0", None), ascii(text)


@pytest.mark.parametrize("dash", sorted({*DASHES} - RARE_DASHES), ids=ascii)
def test_every_dash_castles_and_parts_a_result(dash: str) -> None:
    assert read(MOVES.replace("-", dash)) == (SANS, "1-0", None)
    assert read(MOVES.replace("O", "0").replace("-", dash)) == (SANS, "1-0", None)
    results = ("1-0", "0-1", "1/2-1/2", "½-½", "+--", "--+", "0-0")
    for result in results:
        assert read_result(result.replace("-", dash)) == read_result(result) != "*"


def test_a_soft_hyphen_may_be_a_dash() -> None:
    assert read(MOVES.replace("-", "\xad")) == (SANS, "1-0", None)
    assert read(MOVES.replace("Nf", "N\xadf")) == (SANS, "1-0", None)


@pytest.mark.parametrize(
    "text",
    [
        "1… e4 e5 2…Nf3 Nc6",
        "1．e4 e5 2． Ｎf3 ｅ4 ".replace("ｅ4", "Nc6"),
        "１．ｅ４ ｅ５ ２．Ｎｆ３ Ｎｃ６",
    ],
)
def test_dots_and_full_width_forms(text: str) -> None:
    assert read(text) == ("e4 e5 Nf3 Nc6", None, None)


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("[White\xa0“Anna”]", '[White "Anna"]'),
        ("[White „Anna“]", '[White "Anna"]'),
        ("[White «Anna»]\u200b", '[White "Anna"]'),
        ("\u3000[White ＂Anna＂]", '[White "Anna"]'),
        ('[Event "Open “Tal” – A’s"]', '[Event "Open “Tal” – A’s"]'),
        ('[White "A"] [Black ”B”]', '[White "A"] [Black "B"]'),
    ],
)
def test_tags_in_other_quotes(line: str, plain: str) -> None:
    assert normalise_line(line).split() == plain.split()


HEAD = '[White “Anna”]\n[Black\u2003"Bea"]\n[Result "1\u20140"]\n\u00a0\n'
ENDS = {"1-0": "1\u20140", "1/2-1/2": "½\u2013½", "*": "*"}


@pytest.mark.parametrize(("result", "word"), ENDS.items())
def test_a_pgn_is_read_alike_whole_and_cut_anywhere(result: str, word: str) -> None:
    moves = (
        SANS.replace(" ", "\u00a0")
        .replace("O-O-O", "O\u2010O\u2011O")
        .replace("Nf3", "♘\ufe0ef3")
    )
    text = (
        f"{HEAD}1.\u200b{moves}\u202f{word}\u00a0\n\u3000\n{HEAD}{moves} *\n".encode()
    )
    first, second = PgnReader().read_text(text)
    assert (sans(first), sans(second), first.problem, second.problem) == (
        SANS,
        SANS,
        None,
        None,
    )
    assert first.result == (result if result != "*" else "1-0")
    assert (first.headers.white.name, first.headers.black.name) == ("Anna", "Bea")
    for size in (1, 2, 3, 7):
        decoder = PgnDecoder()
        pieces = (text[at : at + size] for at in range(0, len(text), size))
        streamed = chain.from_iterable(map(decoder.decode, pieces))
        assert [*streamed, *decoder.finish_input()] == [first, second]


def test_a_text_that_grows_by_bytes_never_tells_what_is_not_so() -> None:
    text = f"{HEAD}{MOVES}\n".replace(" ", "\u2002").replace("Nf", "♞\u200bf").encode()
    reader = PgnReader()
    for end in range(len(text)):
        for game in reader.read_text(text[:end]):
            assert (SANS + " ").startswith(f"{sans(game)} ".lstrip()), text[:end]
            assert game.problem is None


@pytest.mark.parametrize("charset", ["cp1250", "cp1252", "cp1251", "cp1254"])
def test_blanks_and_dashes_of_windows(charset: str) -> None:
    moves = MOVES.replace(" ", "\xa0").replace("O-O", "O–O").replace("1-0", "1—0")
    text = f'[White "A"]\n[Black "B"]\n\n{moves}\n'.encode(charset)
    (game,) = PgnReader(fallback_charset=charset).read_text(text)
    assert (sans(game), game.result, game.problem) == (SANS, "1-0", None)


def test_one_damaged_letter_costs_no_other() -> None:
    text = f'[White "Đurić"]\n[Black "B"]\n\n{MOVES}\n'.replace("N", "♘").encode()
    text = text.replace(b" 1-0", b" {M\xfcller} 1-0")
    (game,) = PgnReader().read_text(text)
    assert (sans(game), game.result, game.headers.white.name) == (SANS, "1-0", "Đurić")


@given(st.text())
def test_ascii_stays_and_nothing_is_too_odd(text: str) -> None:
    for function in (normalise_text, normalise_tags, normalise_line):
        once = function(text)
        assert function(once).split() == once.split() or not once.isascii()
        assert not text.isascii() or once == text
