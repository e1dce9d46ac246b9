"""Learned values by name or path."""

from __future__ import annotations

from pathlib import Path

import pytest

from live.errors import InputError
from live.ratings.learned_files import LearnedFiles

SHIPPED = LearnedFiles("models", "model")


def test_a_name_gives_what_comes_with_the_package() -> None:
    assert "classical" in SHIPPED.names()
    assert SHIPPED.read("classical").startswith(b"{")


def test_anything_else_is_a_path(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_bytes(b"mine")
    assert SHIPPED.read(str(tmp_path / "mine.json")) == b"mine"


@pytest.mark.parametrize("name", ["none such", "classical.json", "../models/classical", "\0"])
def test_what_is_not_there_is_told_with_what_is(name: str) -> None:
    with pytest.raises(InputError, match=r"no model of that name or path.*Shipped are: .*cl"):
        SHIPPED.read(name)
