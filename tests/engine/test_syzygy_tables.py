"""Proven endgames, from real tables (three men; see tests/data/README.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from live.engine.search import Limit, SearchKey
from live.engine.syzygy_tables import SyzygyTables
from live.errors import ConfigError
from live.events import Score

FOLDER = Path(__file__).parents[1] / "data" / "syzygy"
LIMIT = Limit(nodes=1000)


@pytest.fixture(scope="module")
def tables() -> Iterator[SyzygyTables]:
    with SyzygyTables(FOLDER) as tables:
        yield tables


def search_key(fen: str, **more: object) -> SearchKey:
    return SearchKey(fen, (), LIMIT, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fen", "cp"),
    [
        # White to move and Black to move, for both colours.
        ("4k3/8/8/8/8/8/8/4K2R w - - 0 1", 3900),
        ("4k3/8/8/8/8/8/8/4K2R b - - 0 1", 3900),
        ("4k2r/8/8/8/8/8/8/4K3 w - - 0 1", -3900),
        ("4k2r/8/8/8/8/8/8/4K3 b - - 0 1", -3900),
        # The opposition: the same position is drawn or lost by whose move it is.
        ("8/4k3/8/4K3/4P3/8/8/8 w - - 0 1", 0),
        ("8/4k3/8/4K3/4P3/8/8/8 b - - 0 1", 3900),
        # The rook can be taken.
        ("8/8/8/8/8/8/6k1/4K2R b - - 0 1", 0),
    ],
)
def test_what_is_proven_is_scored_like_a_mate_or_a_draw(
    tables: SyzygyTables, fen: str, cp: int
) -> None:
    result = tables.result(search_key(fen))
    assert result is not None
    assert result.score == Score(cp)
    assert (result.nodes, result.lines) == (0, ())


def test_the_best_move_keeps_the_value_and_another_has_its_own(tables: SyzygyTables) -> None:
    fen = "8/8/8/8/4k3/8/4P3/4K3 w - - 0 1"
    whole = tables.result(search_key(fen))
    assert whole is not None
    kept = tables.result(search_key(fen, only=whole.best))
    assert kept is not None
    assert kept.score == whole.score
    # Leaving the rook to be taken.
    lost = tables.result(search_key("8/8/8/8/8/8/3k3K/7R w - - 0 1", only="h1d1"))
    assert lost is not None
    assert lost.score == Score(0)
    assert lost.best == "h1d1"


def test_several_lines_are_told_best_first(tables: SyzygyTables) -> None:
    result = tables.result(search_key("8/8/8/8/8/8/3k3K/7R b - - 0 1", lines=3))
    assert result is not None
    assert [line.score.cp for line in result.lines] == [3900] * 3
    white = tables.result(search_key("8/8/8/8/8/8/3k3K/7R w - - 0 1", lines=256))
    assert white is not None
    scores = [line.score.cp for line in white.lines]
    assert scores == sorted(scores, reverse=True)
    assert {0, 3900} == set(scores)


def test_a_mate_comes_before_a_win_that_takes_longer(tables: SyzygyTables) -> None:
    result = tables.result(search_key("7k/8/6K1/8/8/8/8/Q7 w - - 0 1"))
    assert result is not None
    assert result.best in ("a1a8", "a1h1", "a1h8")


@pytest.mark.parametrize(
    "fen",
    [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        # No table of ours, and castling rights, of which no table knows.
        "4k3/8/8/8/8/8/8/4K1BN w - - 0 1",
        "4k3/8/8/8/8/8/8/4K2R b K - 0 1",
    ],
)
def test_what_no_table_knows_is_left_to_the_engine(tables: SyzygyTables, fen: str) -> None:
    assert tables.result(search_key(fen)) is None
    assert tables.result(search_key(fen)) is None


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ConfigError, match="no Syzygy tables"):
            SyzygyTables(folder)
