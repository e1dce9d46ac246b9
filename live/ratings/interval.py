"""95 % intervals for an expected score after a few moves."""

from __future__ import annotations

from scipy.special import betaincinv


def score_interval(
    n: int, total: float, total_of_squares: float, *, ceiling: float = 1.0
) -> tuple[float, float]:
    """Interval for the mean of values in [0, ceiling], from n of them and their two sums."""
    a = total / ceiling + 0.5
    b = n - total / ceiling + 0.5
    low = 0.0 if total == 0 else ceiling * float(betaincinv(a, b, 0.025))
    high = ceiling if total == n * ceiling else ceiling * float(betaincinv(a, b, 0.975))
    return low, high
