"""A finished file: guesses about it are logged."""

from pathlib import Path

import pytest

from live.sources.pgn_file import read_pgn_file


def test_what_was_guessed_of_a_file_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pgn = tmp_path / "turkish.pgn"
    text = (
        '[White "Çağlar Şahin"]\n[Black "B"]\n\n1. '
        "e4 {[%eval 31,20]} e5 {[%eval 28,21]} *"
    )
    pgn.write_bytes(text.encode("cp1254"))
    (game,) = read_pgn_file(pgn).games
    assert game.headers.white.name == "Çağlar Şahin"
    assert f"{pgn}: charset guessed: cp1254" in caplog.text
    assert f"{pgn}: evaluations read as centipawns in 1 game" in caplog.text
