from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from live.errors import InputError
from live.studies.read_games import BrokenFile, GameTextPart, file_mark, game_texts
from tests.studies.small_corpus import DATA, SEARCHED

PGN = (DATA / "four-boards.pgn").read_bytes()


@pytest.mark.parametrize(
    "compress",
    [bytes, gzip.compress, bz2.compress, lzma.compress, zstandard.ZstdCompressor().compress],
)
def test_a_file_is_the_same_however_it_is_compressed(
    compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    plain, packed = tmp_path / "games.pgn", tmp_path / "games"
    plain.write_bytes(PGN)
    packed.write_bytes(compress(PGN))
    assert list(game_texts(str(packed))) == list(game_texts(str(plain)))
    assert len(list(game_texts(str(packed)))) == 4


def test_standard_input_is_read_like_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(SEARCHED.read_bytes())

    monkeypatch.setattr(sys, "stdin", Stdin())
    assert list(game_texts("-")) == list(game_texts(str(SEARCHED)))
    assert file_mark("-") == ""


def test_a_file_that_was_cut_gives_what_it_holds_and_says_so(tmp_path: Path) -> None:
    cut = tmp_path / "cut.ndjson.gz"
    cut.write_bytes(SEARCHED.read_bytes()[:9000])
    found: list[GameTextPart] = []
    with pytest.raises(BrokenFile):
        found.extend(game_texts(str(cut)))
    assert 0 < len(found) < 13


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none"):
        file_mark(str(tmp_path / "none.pgn"))
    with pytest.raises(InputError, match="none"):
        list(game_texts(str(tmp_path / "none.pgn")))
