"""The calibration file: what it holds, what it is for, and what is no calibration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from live.errors import InputError
from live.ratings.calibration.move_evidence import (
    Calibration,
    EvidenceSums,
    RatedMove,
    circumstance_class,
    decode_calibration,
    encode_calibration,
    load_calibration,
    shipped,
)


@pytest.fixture
def classical() -> Calibration:
    return load_calibration("classical")


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_calibration_survives_its_file(name: str) -> None:
    calibration = load_calibration(name)
    assert calibration.name == name
    data = encode_calibration(calibration)
    assert len(data) < 100_000
    assert decode_calibration(data, name) == calibration


def test_classical_and_blitz_are_shipped() -> None:
    assert {"classical", "blitz"} <= set(shipped())


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_calibration_says_where_it_is_from(name: str) -> None:
    calibration = load_calibration(name)
    assert calibration.games > 200
    assert calibration.players > 100
    assert calibration.moves > 20 * calibration.games
    assert calibration.engine_rating is not None
    assert 1000 < calibration.engine_rating < 3000
    measured = calibration.measured
    assert measured is not None
    assert 0.93 <= measured.coverage <= 0.97
    assert measured.mean_absolute_error < measured.constant_error


def test_a_calibration_is_refused_for_another_engine_limit_or_gain(classical: Calibration) -> None:
    own = (classical.engine, classical.limit, classical.gain)
    assert classical.matches(*own)
    assert classical.mismatch(*own) is None
    assert classical.matches(classical.engine.upper(), classical.limit, classical.gain)
    for engine, limit, gain, what in (
        ("Stockfish 17", own[1], own[2], "engine"),
        (own[0], "200000 nodes", own[2], "limit"),
        (own[0], own[1], "successive", "gain"),
    ):
        assert not classical.matches(engine, limit, gain)
        reason = classical.mismatch(engine, limit, gain)
        assert reason is not None
        assert what in reason
        assert "'classical'" in reason


def test_a_calibration_is_read_from_a_path(tmp_path: Path, classical: Calibration) -> None:
    path = tmp_path / "mine.json"
    path.write_bytes(encode_calibration(classical))
    assert load_calibration(str(path)) == classical


def test_a_name_that_is_none_is_named_with_those_there_are(tmp_path: Path) -> None:
    for name in ("bullet", str(tmp_path)):
        with pytest.raises(InputError) as caught:
            load_calibration(name)
        assert name in str(caught.value)
        assert "classical" in str(caught.value)


def _damage(document: dict[str, Any], how: str) -> None:
    if how == "format":
        document["format"] = 99
    elif how == "missing":
        del document["limit"]
    elif how == "shape":
        document["parts"][1]["slope"].pop()
    elif how == "row":
        document["parts"][2]["pooled_slope"][0].pop()
    elif how == "curvatures":
        document["curvature"].pop()
    elif how == "convex":
        document["curvature"][3] = -0.01
    elif how == "edges":
        document["gain_edges_cp"][0] = 50
    elif how == "correlation":
        document["games_correlation"] = 1.5
    elif how == "scale":
        document["scale_elo"] = 0
    else:
        document["population"]["sd_elo"] = 0


@pytest.mark.parametrize(
    "how",
    [
        "format",
        "missing",
        "shape",
        "row",
        "curvatures",
        "convex",
        "edges",
        "correlation",
        "scale",
        "population",
    ],
)
def test_a_damaged_file_is_refused_by_name(how: str, classical: Calibration) -> None:
    document = msgspec.json.decode(encode_calibration(classical))
    _damage(document, how)
    with pytest.raises(InputError, match=r"mine\.json: is no calibration"):
        decode_calibration(msgspec.json.encode(document), "mine.json")


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"\xff\x00", b'{"name":'])
def test_what_is_no_json_or_another_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match="is no calibration"):
        decode_calibration(data, "mine.json")


def test_an_edge_belongs_below_it() -> None:
    move = RatedMove(gain_cp=0, score_before_cp=-30, ply=16, previous_gain_cp=-20)
    assert circumstance_class("none", (), move) == 0
    assert circumstance_class("ply", (16, 30), move) == 0
    assert circumstance_class("score_before_cp", (-100, -30, 30), move) == 1
    assert circumstance_class("previous_gain_cp", (-100, -20), move) == 1


def test_a_first_move_counts_as_one_after_a_good_one() -> None:
    first = RatedMove(gain_cp=0, score_before_cp=20, ply=1)
    assert circumstance_class("previous_gain_cp", (-100, -20), first) == 2


def test_evidence_is_the_sum_over_the_parts(classical: Calibration) -> None:
    move = RatedMove(gain_cp=-60, score_before_cp=45, ply=33, previous_gain_cp=-300)
    kind = sum(edge < -60 for edge in classical.gain_edges_cp)
    values = {"ply": 33, "score_before_cp": 45, "previous_gain_cp": -300}
    slope = 0.0
    for part in classical.parts:
        row = 0 if part.by == "none" else sum(edge < values[part.by] for edge in part.edges)
        slope += part.slope[row][kind]
    evidence = EvidenceSums(classical).weigh(move)
    assert evidence.slope == pytest.approx(slope * 1e6, abs=0.5)
    assert evidence.curvature == pytest.approx(classical.curvature[kind] * 1e6, abs=0.5)


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_calibration_knows_how_far_it_reaches(name: str) -> None:
    calibration = load_calibration(name)
    assert calibration.elo_range is not None
    low, high = calibration.elo_range
    assert low < calibration.population.mean_elo < high
    assert calibration.beyond(low - 1)
    assert calibration.beyond(high + 1)
    assert not calibration.beyond(high)


@pytest.mark.parametrize("elo_range", [[2000, 1900], [-5, 100], [2000, 2000]])
def test_a_range_that_is_none_is_refused(elo_range: list[float]) -> None:
    held = msgspec.json.decode(encode_calibration(load_calibration("classical")))
    data = msgspec.json.encode({**held, "elo_range": elo_range})
    with pytest.raises(InputError, match="elo_range"):
        decode_calibration(data, "mine.json")
