import random

import pytest

from live.ratings.engine_scale import (
    CLIP_CP,
    LEAST_CORRELATION,
    MeasuredEngine,
    ReferencePosition,
    ReferenceSet,
    ScoredReference,
    measure_agreement,
    measure_engine,
)


def noisy(scale: float, noise_cp: float, n: int = 300) -> tuple[list[int], list[int]]:
    rng = random.Random(7)
    known = [round(rng.gauss(0, 150)) for _ in range(n)]
    return known, [round(scale * score + rng.gauss(0, noise_cp)) for score in known]


@pytest.mark.parametrize("scale", [0.5, 0.88, 1.0, 2.0])
def test_the_scale_is_found_within_its_error(scale: float) -> None:
    found = measure_agreement(*noisy(scale, noise_cp=30 * scale))
    assert abs(found.scale - scale) < 3 * found.scale_error
    assert 0 < found.scale_error < 0.04
    assert found.correlation > LEAST_CORRELATION


def test_the_error_is_the_spread_over_many_measurements() -> None:
    rng = random.Random(3)
    known = [round(rng.gauss(0, 150)) for _ in range(100)]
    found = []
    for _ in range(300):
        noisy = [round(0.9 * score + rng.gauss(0, 40)) for score in known]
        found.append(measure_agreement(known, noisy))
    mean = sum(each.scale for each in found) / len(found)
    spread = (sum((each.scale - mean) ** 2 for each in found) / len(found)) ** 0.5
    assert sum(each.scale_error for each in found) / len(found) == pytest.approx(
        spread, rel=0.15
    )


def test_a_mate_counts_no_more_than_a_won_game() -> None:
    known, other = noisy(1.0, noise_cp=5)
    mate = measure_agreement([*known, CLIP_CP], [*other, 3900])
    assert mate.scale == pytest.approx(measure_agreement(known, other).scale, abs=0.01)
    assert mate.correlation > LEAST_CORRELATION


def test_an_engine_that_scores_for_the_other_side_does_not_fit() -> None:
    known, other = noisy(-1.0, noise_cp=5)
    assert MeasuredEngine(
        agreement=measure_agreement(known, other), nodes=1
    ).explain_refusal


def test_too_little_to_compare() -> None:
    with pytest.raises(ValueError, match="49 positions: 50 are needed"):
        measure_agreement([1] * 49, [1] * 49)


REFERENCE = ReferenceSet(
    engine="Known 1",
    limit="100000 nodes",
    data="made up",
    positions=tuple(ReferencePosition("", score_cp=20 * (at - 35)) for at in range(70)),
)


def scored(missing: range = range(0)) -> list[ScoredReference | None]:
    return [
        None if at in missing else ScoredReference(18 * (at - 35), nodes=1000 + at)
        for at in range(70)
    ]


def test_an_engine_is_compared_at_every_position() -> None:
    found = measure_engine(REFERENCE, scored())
    assert isinstance(found, MeasuredEngine)
    assert found.agreement.scale == pytest.approx(0.9)
    assert found.agreement.positions == 70
    assert found.nodes == pytest.approx(1034.5, abs=0.5)


def test_positions_without_a_score_are_left_out_if_they_are_few() -> None:
    found = measure_engine(REFERENCE, scored(range(3, 5)))
    assert isinstance(found, MeasuredEngine)
    assert found.agreement.positions == 68
    assert found.agreement.scale == pytest.approx(0.9)
    refused = measure_engine(REFERENCE, scored(range(30)))
    assert (
        refused
        == "it could not be measured: it gave no score for 30 of 70 reference positions"
    )
