"""Charsets that are recognised only from the names in a text."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.sources.charset_guess import guess_charset
from live.sources.pgn_decoder import PgnReader

RUSSIAN = "Карпов, Анатолий;Каспаров, Гарри;Непомнящий, Ян;Ёлкин, Пётр;Шевченко, Юлия"
GREEK = "Παπαδόπουλος, Γιάννης;Μαυρίδης, Στέφανος;Χατζηδάκη, Ελένη"
TURKISH = "Çağlar Şahin;Arslan, Gökhan İsmail;Işıklı, Doğuş;Yüksel, Nağme"
CENTRAL = (
    "Dvořák, Jiří;Hráček, Zbyněk;Kovačević, Aleksandar;Wojtaszek, "
    "Radosław;Świercz, Dariusz;"
    "Mikołajczyk, Żaneta;Krejčík, Štěpán"
)
GERMAN = "Müller, Jörg;Grönfeld, Ernst;Bäuerle, Käthe;Schröter, Günter"
FRENCH = "Hélène Lefèvre;Crépin, Gaëlle;Besançon, Benoît"
SPANISH = "José Núñez;Ibáñez, Íñigo;Rodríguez, Ángela"
NORDIC = "Sørensen, Bjørn;Åberg, Märta;Kjær, Søren"
PORTUGUESE = "João Conceição;Simões, António"
LATVIAN = "Bērziņš, Jānis;Kalniņa, Žanete;Šķēle, Pēteris"

TEXTS = {
    "cp1251": [RUSSIAN, "Іванчук, Василь;Пономарьов, Руслан"],
    "koi8-u": [RUSSIAN, "Іванчук, Василь;Пономарьов, Руслан"],
    "cp866": [RUSSIAN],
    "cp1253": [GREEK],
    "cp1254": [TURKISH],
    "cp1250": [CENTRAL],
    "iso8859-2": [CENTRAL],
    "cp852": [CENTRAL],
    "cp1252": [GERMAN, FRENCH, SPANISH, NORDIC, PORTUGUESE, "O’Neil, Zoë"],
    "cp437": [GERMAN],
    "cp850": [GERMAN, FRENCH, SPANISH, NORDIC, PORTUGUESE],
    "mac_roman": [GERMAN, FRENCH, SPANISH, NORDIC],
    "cp1257": [LATVIAN],
    "cp1255": ["גלפנד, בוריס;סמירין, איליה"],
    "gb18030": ["李小龙;丁立人;侯逸凡"],
}


def pgn(names: list[str]) -> str:
    return "".join(
        f'[Event "Open"]\n[White "{name}"]\n[Black "Smith, John"]\n\n1. e4 *\n\n'
        for name in names
    )


def list_cases() -> Iterator[tuple[str, str]]:
    for charset, lists in TEXTS.items():
        for names in lists:
            yield charset, names


@pytest.mark.parametrize(("charset", "names"), list(list_cases()))
def test_names_tell_their_charset(charset: str, names: str) -> None:
    text = pgn(names.split(";"))
    raw = text.encode(charset)
    assert raw.decode(guess_charset(raw)) == text
    assert guess_charset(text.encode()) == ""


#: Charsets for which a single name is enough.
ALONE = ["cp1251", "koi8-u", "cp866", "cp1253", "cp1250", "cp1252", "cp850", "cp1255"]


@pytest.mark.parametrize("charset", ALONE)
def test_one_name_is_enough(charset: str) -> None:
    for names in TEXTS[charset]:
        for name in names.split(";"):
            raw = pgn([name]).encode(charset)
            assert raw.decode(guess_charset(raw)) == pgn([name]), name


@pytest.mark.parametrize(
    "charset", ["utf-16", "utf-16-le", "utf-16-be", "utf-8", "utf-8-sig"]
)
def test_unicode_is_no_guess(charset: str) -> None:
    assert guess_charset(pgn(RUSSIAN.split(";")).encode(charset)) == ""


def test_dashes_and_blanks_of_moves_are_those_of_windows() -> None:
    raw = (
        pgn(["Smith"]).replace("1. e4", "1.\xa0e4 e5 2.\xa0Nf3 – 0–0").encode("cp1252")
    )
    assert guess_charset(raw) == "cp1252"
    assert guess_charset("1. e4 e5 2. Кf3 Кc6 3. Сb5 Фe7".encode("cp1251")) == "cp1251"


@pytest.mark.parametrize(
    ("charset", "name"),
    [
        ("gb18030", "丁立人"),
        ("gb18030", "陌生人"),  # its first bytes are a valid letter in UTF-8
        ("koi8-r", "Карпов, Анатолий"),
        ("cp866", "Карпов, Анатолий"),
        ("mac_roman", "Müller, Jörg"),
        ("cp1253", "Παπαδόπουλος"),
        ("cp1254", "Çağlar Şahin"),
    ],
)
def test_games_are_read_in_the_charset(charset: str, name: str) -> None:
    raw = pgn([name, "Berg"]).replace("e4 *", "e4 {" + name + "} e5 *").encode(charset)
    first, second = PgnReader(fallback_charset=charset).read_text(raw)
    assert (first.headers.white.name, second.headers.white.name) == (name, "Berg")
    assert len(first.moves) == len(second.moves) == 2


@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_read(charset: str) -> None:
    (game,) = PgnReader().read_text(pgn(["Карпов, Анатолий"]).encode(charset))
    assert (game.headers.white.name, len(game.moves)) == ("Карпов, Анатолий", 1)


@given(st.binary(max_size=200))
def test_no_bytes_are_too_odd(raw: bytes) -> None:
    charset = guess_charset(raw)
    assert charset == "" or raw.decode(charset, "replace")
