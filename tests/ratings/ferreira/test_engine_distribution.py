from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.ratings.ferreira import MeasuredDistribution, SpikeAtZero
from live.ratings.gain import MAX_GAIN_CP, GainHistogram, expected_score_exact

gains = st.integers(-MAX_GAIN_CP, MAX_GAIN_CP) | st.integers(-9, 9)


@pytest.mark.slow
@given(st.lists(gains, min_size=1, max_size=30), gains)
def test_a_moves_score_equals_the_cross_correlation(engine: list[int], gain: int) -> None:
    measured = MeasuredDistribution(GainHistogram(engine))
    exact = expected_score_exact(GainHistogram([gain]), GainHistogram(engine))
    assert measured.parts(gain) / measured.scale == exact


@pytest.mark.slow
@given(gains)
def test_the_spike_is_the_distribution_of_a_single_zero(gain: int) -> None:
    measured = MeasuredDistribution(GainHistogram([0]))
    assert SpikeAtZero().parts(gain) / SpikeAtZero().scale == measured.parts(gain) / measured.scale


def test_what_is_measured_stays_as_it_was() -> None:
    source = GainHistogram([0])
    measured = MeasuredDistribution(source)
    source.add(-10)
    assert measured == MeasuredDistribution(GainHistogram([0]))


def test_nothing_measured_is_refused() -> None:
    with pytest.raises(ValueError, match="Spike"):
        MeasuredDistribution(GainHistogram())


def test_equal_distributions_are_equal() -> None:
    assert SpikeAtZero() == SpikeAtZero()
    assert hash(SpikeAtZero()) == hash(SpikeAtZero())
    assert MeasuredDistribution(GainHistogram([1, 2])) == MeasuredDistribution(
        GainHistogram([2, 1])
    )
    assert MeasuredDistribution(GainHistogram([0])) != MeasuredDistribution(GainHistogram([1]))
