"""Tables of studies: every figure they show is the one they were given, and text stays text."""

from __future__ import annotations

import msgspec
import pytest

from live.events import EngineInfo, PlayerView
from live.ledger.comparisons import compare, rank
from live.ledger.comparisons import table_four as ferreira_table_4
from live.ratings.intrinsic_rating import RYBKA_3
from live.ratings.match import GameCounts, PairCounts, Sprt, match_statistics, sprt
from live.studies import printed_tables
from tests.ledger.event_of_three import event
from tests.terminal.sample_boards import drawn

ENGINE = EngineInfo("Arithmetic", "1 look", 2800, "field")


WIDTH = 80


@pytest.mark.slow
def test_a_comparison_shows_scores_and_reasons() -> None:
    held = event()
    one, other, _ = held.players()
    rows = compare(held.study(), one.id, other.id)
    text = drawn(printed_tables.comparison(one, other, rows, width=WIDTH), WIDTH)
    for row in rows:
        assert all(word in text for word in row.predictor.split())
        if row.expected_score is not None:
            assert f"{row.expected_score:.3f}" in text
    assert "of 500 moves" in " ".join(text.split())
    assert "…" not in text


def known(view: PlayerView, **figures: float | None) -> PlayerView:
    return msgspec.structs.replace(view, **figures)


def test_two_players_stand_side_by_side_with_what_people_see_of_them() -> None:
    one, other, _ = event().players()
    one = known(
        one, counted=30, perceived=2441.0, usual_low=2100.0, usual_high=2790.0, percentile=74.0
    )
    other = known(other, perceived=3300.0, usual_low=None, usual_high=None, percentile=None)
    text = drawn(printed_tables.both_players(one, other, ENGINE, "same-search", width=WIDTH), WIDTH)
    lines = {line.split("  ")[0].strip(): line for line in text.splitlines() if line.strip()}
    assert "2441 (usual 2100–2790)" in lines["Playing like"]
    assert "3200 or more" in lines["Playing like"] and "74" in lines["Percentile"]
    assert all(len(line) <= WIDTH for line in text.splitlines())


@pytest.mark.slow
def test_names_cannot_write_to_the_terminal() -> None:
    held = event()
    one, other, _ = held.players()
    hostile = msgspec.structs.replace(one, name="\x1b]0;x\x07[red]Anand")
    ranks = [
        msgspec.structs.replace(each, name=hostile.name, missing="[b]why")
        for each in rank(held.study(), held.players(), engine_rating=ENGINE.rating)
    ]
    for table in (
        printed_tables.comparison(hostile, other, (), width=WIDTH),
        printed_tables.both_players(hostile, other, ENGINE, "same-search", width=WIDTH),
        printed_tables.battle(ranks, "covariance", width=WIDTH),
    ):
        text = drawn(table, WIDTH)
        assert "\x1b" not in text and "\x07" not in text
        assert "[red]Anand" in text


@pytest.mark.slow
def test_a_battle_royale_shows_everybody_in_its_own_order() -> None:
    held = event()
    ranks = rank(held.study(), held.players(), engine_rating=ENGINE.rating)
    text = drawn(printed_tables.battle(ranks, "covariance", width=WIDTH), WIDTH)
    names = [each.name for each in sorted(ranks, key=lambda each: each.place or 9)]
    assert [name for line in text.splitlines() for name in names if name in line] == names
    assert "…" not in text
    first = msgspec.structs.replace(ranks[0], place=1)
    tied = [first, *(msgspec.structs.replace(each, place=1) for each in ranks[1:])]
    assert drawn(printed_tables.battle(tied, "covariance", width=WIDTH), WIDTH).count("1=") == 3


@pytest.mark.parametrize("counts", [GameCounts(0, 0, 0), GameCounts(3, 0, 0), GameCounts(5, 9, 2)])
def test_a_match_shows_what_it_cannot_tell(counts: GameCounts) -> None:
    found = match_statistics(counts)
    text = drawn(printed_tables.match("Anna", "Berta", counts, found), WIDTH)
    assert "Anna against Berta" in text
    assert all(gap.split(":")[0] in text for gap in found.gaps)


def test_pairs_and_a_test_stand_beside() -> None:
    counts = PairCounts(1, 2, 9, 4, 2)
    assert "1 2 9 4 2" in drawn(printed_tables.pairs(counts, match_statistics(counts)), WIDTH)
    test = Sprt(0, 5)
    text = drawn(printed_tables.sprt(test, sprt(test, counts), None), WIDTH)
    assert "-2.944, 2.944" in text


# --- calibration ----------------------------------------------------------------------------


@pytest.mark.slow
def test_table_four_has_the_columns_of_the_paper() -> None:
    held = event()
    strengths = held.study().strengths
    found = ferreira_table_4(held.players(), held.engine_strength(), strengths)
    text = drawn(printed_tables.table_four(found, "[b]Arithmetic", "1 look", "same-search"), 120)
    assert "[b]Arithmetic" in text
    for row in found.rows:
        line = next(line for line in text.splitlines() if row.name in line)
        assert f"{row.expected_score:.3f}" in line
        assert f"{row.difference:+.0f}" in line
    assert found.engine_by_elo is not None
    assert f"{found.engine_by_elo:.0f}" in text


def test_a_check_of_few_games_leaves_empty_what_it_cannot_tell() -> None:
    row = {"n": 1, "usual_holds": 0.8, "interval_holds": 1.0, "own_outside": 0.0, "blind_r": None}
    text = drawn(printed_tables.checked("mine", {"5": {"n": 0}, "whole": row}, known=True), 100)
    assert "5 moves" not in text
    assert "the game" in text and "80.0 %" in text
    assert "left out" in text


def test_mileposts_are_listed() -> None:
    text = drawn(printed_tables.mileposts(RYBKA_3), 100)
    assert "Rybka 3" in text
    assert "0.080" in text and "0.513" in text
