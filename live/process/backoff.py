"""Growing waits between attempts of sources, service parts and engines. Pure."""

from collections.abc import Callable, Iterator

#: Upper bound of the first wait, seconds. The first wait is random, so that the clients
#: of a restarted server do not all reconnect at the same moment.
FIRST_S = 2.0
#: Bound of the second wait, seconds; later bounds double.
BASE_S = 2.0
#: Longest wait, seconds: an arbiter looks at the screen once a minute.
CAP_S = 60.0

Chance = Callable[[], float]
"""Function that returns random numbers in [0, 1)."""


def generate_backoff_s(random: Chance) -> Iterator[float]:
    """Yield waits in seconds for ever: a random one up to :data:`FIRST_S`, then
    doubling ones.

    Every wait is at most :data:`CAP_S`; from the second on the waits never decrease.
    They are for reconnecting to sources, brokers and services.
    """
    yield random() * FIRST_S
    yield from generate_doubling_s(random, first_s=BASE_S, cap_s=CAP_S, least_share=1.0)


def generate_doubling_s(
    random: Chance, *, first_s: float, cap_s: float, least_share: float
) -> Iterator[float]:
    """Yield waits in seconds for ever, each random between ``least_share`` times its
    bound and the bound; bounds double from ``first_s`` to ``cap_s``.

    The randomness prevents clients that failed together from returning together
    (Brooker, "Exponential backoff and jitter", AWS 2015: full jitter with
    ``least_share`` 0, equal jitter with 0.5).
    """
    bound_s = min(cap_s, first_s)
    while True:
        yield bound_s * (least_share + (1.0 - least_share) * random())
        bound_s = min(cap_s, 2.0 * bound_s)


def format_duration(seconds: float) -> str:
    """Format seconds in everyday units: ``4 s``, ``6 min``, ``2 h``."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{round(seconds / 3600)} h"
