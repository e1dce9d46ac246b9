"""The two matrices that Alliot 2017 prints, and games played by known matrices."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

#: Table 2: Robert Fischer in 1971, as White, rounded to two digits.
FISCHER = np.array(
    [
        [1.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00],
        [0.29, 0.71, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00],
        [0.10, 0.12, 0.78, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00],
        [0.01, 0.01, 0.06, 0.92, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00],
        [0.00, 0.00, 0.01, 0.06, 0.93, 0.00, 0.00, 0.00, 0.00, 0.00],
        [0.00, 0.00, 0.00, 0.00, 0.14, 0.86, 0.00, 0.00, 0.00, 0.00],
        [0.00, 0.00, 0.00, 0.00, 0.04, 0.14, 0.82, 0.00, 0.00, 0.00],
        [0.00, 0.00, 0.00, 0.00, 0.01, 0.02, 0.12, 0.85, 0.00, 0.00],
        [0.00, 0.00, 0.00, 0.00, 0.00, 0.01, 0.01, 0.10, 0.88, 0.00],
        [0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.01, 0.03, 0.96],
    ]
)

#: Table 3: Boris Spassky in 1971, as Black, rounded to two digits; the third row sums to 1.01.
SPASSKY = np.array(
    [
        [0.95, 0.03, 0.01, 0.01, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00],
        [0.00, 0.77, 0.11, 0.04, 0.00, 0.08, 0.00, 0.00, 0.00, 0.00],
        [0.00, 0.00, 0.78, 0.15, 0.07, 0.00, 0.00, 0.00, 0.00, 0.01],
        [0.00, 0.00, 0.00, 0.78, 0.17, 0.05, 0.00, 0.00, 0.00, 0.00],
        [0.00, 0.00, 0.00, 0.00, 0.79, 0.20, 0.01, 0.00, 0.00, 0.00],
        [0.00, 0.00, 0.00, 0.00, 0.00, 0.92, 0.07, 0.01, 0.00, 0.00],
        [0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.88, 0.11, 0.01, 0.00],
        [0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.80, 0.12, 0.08],
        [0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.63, 0.37],
        [0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 1.00],
    ]
)

#: Section 3.4: what the paper's unrounded matrices led to.
PUBLISHED = np.array([0.07, 0.01, 0.01, 0.04, 0.14, 0.18, 0.07, 0.04, 0.04, 0.40])


def normalised(matrix: Floats) -> Floats:
    found: Floats = matrix / matrix.sum(axis=1, keepdims=True)
    return found


def with_slips(matrix: Floats, share: float) -> Floats:
    """The same play, but once in a while any worse class of evaluation is as likely as another.

    The printed tables hold many exact zeros, where the players' true matrices hold rarities.
    """
    n = len(matrix)
    worse = np.tri(n) if matrix[-1, 0] >= matrix[0, -1] and matrix[1, 0] > 0 else np.tri(n).T
    return (1 - share) * normalised(matrix) + share * normalised(worse)


def played(
    rng: np.random.Generator, white: Floats, black: Floats, start: Floats, games: int, turns: int
) -> tuple[Counts, Counts]:
    """Moves of White and of Black by class before and after, White's side, in games from known
    matrices.
    """
    n = len(white)
    found = (np.zeros((n, n), dtype=np.int64), np.zeros((n, n), dtype=np.int64))
    steps = (white.cumsum(axis=1), black.cumsum(axis=1))
    before = rng.choice(n, games, p=start)
    for _ in range(turns):
        for step, counts in zip(steps, found, strict=True):
            after = np.minimum((rng.random((games, 1)) > step[before]).sum(axis=1), n - 1)
            np.add.at(counts, (before, after), 1)
            before = after
    return found
