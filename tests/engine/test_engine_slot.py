"""Waits before restarts. The life of a slot is tried through the pool."""

from __future__ import annotations

import random
from itertools import islice

from live.engine.engine_pool import restart_delays


class Highest(random.Random):
    """Always the upper end."""

    def random(self) -> float:
        return 1.0


def test_waits_double_up_to_a_cap() -> None:
    waits = list(islice(restart_delays(Highest(), first_s=0.1, cap_s=1.0), 6))
    assert waits == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]


def test_waits_are_random_below_that() -> None:
    one = list(islice(restart_delays(random.Random(1)), 12))
    two = list(islice(restart_delays(random.Random(2)), 12))
    assert all(a != b for a, b in zip(one, two, strict=True))
    assert all(0 <= wait <= 0.1 * 2**n for n, wait in enumerate(one))
