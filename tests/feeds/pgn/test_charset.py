from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.feeds.charset import PlainLines, Utf16ToUtf8, decode, likely_charset


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"Carlsen", "Carlsen"),
        ("Đurić".encode(), "Đurić"),
        ("Müller".encode("cp1252"), "Müller"),
        (codecs.BOM_UTF8 + "Müller".encode(), "Müller"),
        (codecs.BOM_UTF8 + "Müller".encode("cp1252"), "Müller"),
        (b"\x81\x8d", "��"),
    ],
)
def test_mark_then_utf8_then_windows(raw: bytes, text: str) -> None:
    assert decode(raw) == text


def test_fallback_is_the_callers() -> None:
    assert decode("Đurić".encode("iso-8859-2"), "iso-8859-2") == "Đurić"
    assert decode("Müller".encode("cp1252"), "no-such-charset") == "Müller"


@pytest.mark.slow
@given(st.binary(), st.sampled_from(["cp1252", "iso-8859-2", "utf-16", "base64", "idna", "\x00"]))
def test_decoding_never_fails(raw: bytes, fallback: str) -> None:
    decode(raw, fallback)


@pytest.mark.slow
@given(st.text(), st.sampled_from(["utf-8", "utf-16-le", "utf-16-be"]), st.data())
def test_utf16_is_told_by_its_mark_wherever_cut(
    text: str, charset: str, data: st.DataObject
) -> None:
    mark = "﻿".encode(charset) if charset != "utf-8" else b""
    raw = mark + text.encode(charset)
    cut = data.draw(st.integers(0, len(raw)))
    wide = Utf16ToUtf8()
    assert wide.feed(raw[:cut]) + wide.feed(raw[cut:]) + wide.finish() == text.encode()


@pytest.mark.slow
@given(st.lists(st.sampled_from([b"a", b"\r", b"\n", b"\r\n", b"\x00"]), max_size=20), st.data())
def test_lines_end_alike_wherever_cut(parts: list[bytes], data: st.DataObject) -> None:
    raw = b"".join(parts)
    cut = data.draw(st.integers(0, len(raw)))
    lines = PlainLines()
    plain = lines.feed(raw[:cut]) + lines.feed(raw[cut:]) + lines.finish()
    assert plain.decode().splitlines() == raw.replace(b"\x00", b" ").decode().splitlines()
    assert b"\r" not in plain


@pytest.mark.parametrize(
    ("names", "charset"),
    [
        ("Карпов, Анатолий - Каспаров, Гарри", "cp1251"),
        ("Непомнящий, Ян", "cp1251"),
        ("Dvořák, Jiří - Hráček, Zbyněk", "cp1250"),
        ("Kovačević, Aleksandar", "cp1250"),
        ("Wojtaszek, Radosław - Świercz, Dariusz", "cp1250"),
        ("Hélène Lefèvre - José Núñez", "cp1252"),
        ("Müller, Jörg - Grönfeld, Ernst", "cp1252"),
        ("Sørensen, Bjørn - Åberg, Märta", "cp1252"),
        ("João Conceição", "cp1252"),
    ],
)
def test_names_tell_their_charset(names: str, charset: str) -> None:
    raw = f'[Event "Open"]\n[White "{names}"]\n\n1. e4 *\n'.encode(charset)
    assert likely_charset(raw) == charset
    assert likely_charset(raw.decode(charset).encode()) == ""
