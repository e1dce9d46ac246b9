"""Tables of studies: every figure they show is the one they were given, and text stays text."""

from __future__ import annotations

import msgspec
import pytest
from rich.console import Console
from rich.table import Table

from live.events import EngineInfo
from live.ledger.methods.predictors import compare
from live.ledger.players.ranking import rank
from live.ratings.match.match_statistics import GameCounts, PairCounts, match_statistics
from live.ratings.match.sprt import Sprt, sprt
from live.terminal.tables import study_tables
from tests.ledger.event_of_three import event

ENGINE = EngineInfo("Arithmetic", "1 look", 2800, "field")


def drawn(table: Table) -> str:
    console = Console(width=160, force_terminal=False)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


@pytest.mark.slow
def test_a_comparison_shows_scores_and_reasons() -> None:
    held = event()
    one, other, _ = held.players()
    rows = compare(held.study(), one.id, other.id)
    text = drawn(study_tables.comparison(one, other, rows, ENGINE, "same-search"))
    for row in rows:
        assert row.predictor in text
        if row.expected_score is not None:
            assert f"{row.expected_score:.3f}" in text
    assert "of 500 moves" in text


@pytest.mark.slow
def test_names_cannot_write_to_the_terminal() -> None:
    held = event()
    one, other, _ = held.players()
    hostile = msgspec.structs.replace(one, name="\x1b]0;x\x07[red]Anand")
    text = drawn(study_tables.comparison(hostile, other, (), ENGINE, "same-search"))
    assert "\x1b" not in text and "\x07" not in text
    assert "[red]Anand" in text


@pytest.mark.slow
def test_a_ranking_shows_everybody() -> None:
    held = event()
    text = drawn(study_tables.ranking(rank(held.study(), held.players()), "covariance", ENGINE,
                                 "same-search"))  # fmt: skip
    for name in ("Anand", "Carlsen", "Ding, Liren"):
        assert name in text


@pytest.mark.parametrize("counts", [GameCounts(0, 0, 0), GameCounts(3, 0, 0), GameCounts(5, 9, 2)])
def test_a_match_shows_what_it_cannot_tell(counts: GameCounts) -> None:
    found = match_statistics(counts)
    text = drawn(study_tables.match("Anna", "Berta", counts, found))
    assert "Anna against Berta" in text
    assert all(gap.split(":")[0] in text for gap in found.gaps)


def test_pairs_and_a_test_stand_beside() -> None:
    counts = PairCounts(1, 2, 9, 4, 2)
    assert "1 2 9 4 2" in drawn(study_tables.pairs(counts, match_statistics(counts)))
    test = Sprt(0, 5)
    text = drawn(study_tables.sprt(test, sprt(test, counts), None))
    assert "-2.944, 2.944" in text


@pytest.mark.slow
def test_markup_in_names_stays_text_everywhere() -> None:
    held = event()
    ranks = [
        msgspec.structs.replace(each, name="[/nothing]", missing="[b]why")
        for each in rank(held.study(), held.players())
    ]
    text = drawn(study_tables.ranking(ranks, "covariance", ENGINE, "same-search"))
    assert "[/nothing]" in text and "[b]why" in text
