"""Where a Markov chain ends up, for any stochastic matrix.

Alliot 2017, section 3.4, takes the stochastic eigenvector of eigenvalue 1 and says that it does
not depend on the start. That holds for a chain that falls into one piece and has no period. Here
it is defined for all: the long-run share of time spent in each state by a chain that starts from
a given distribution (the Cesàro limit of ``π₀ Mᵏ``), which is ``lim π₀ Mᵏ`` wherever that exists.

Computed by eliminating states (Grassmann, Taksar and Heyman 1985, "Regenerative analysis and
steady state distributions for Markov chains"), which never subtracts, so that every entry has
all its digits however slowly the chain mixes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: A transition less likely than this is the rounding of a row that sums to 1, so it is none.
NEVER = 1e-15


def checked_stochastic(matrix: Floats) -> Floats:
    """A copy with rows that sum to 1 exactly, shape (n, n).

    Raises ValueError unless it is square, finite, not negative, and every row sums to 1 within
    1e-9.
    """
    found = np.array(matrix, dtype=np.float64)
    if found.ndim != 2 or found.shape[0] != found.shape[1] or not found.size:
        raise ValueError(f"a transition matrix is square, not of shape {found.shape}")
    if not np.isfinite(found).all() or (found < 0).any():
        raise ValueError("a transition matrix holds probabilities, nothing negative or unknown")
    if (abs(found.sum(axis=1) - 1) > 1e-9).any():
        raise ValueError("every row of a transition matrix sums to 1")
    found[found < NEVER] = 0
    found /= found.sum(axis=1, keepdims=True)
    return found


def closed_classes(matrix: Floats) -> list[list[int]]:
    """The sets of states that a chain never leaves once inside, smallest state first.

    A chain with one of them forgets where it started.
    """
    n = len(matrix)
    reach = (matrix > 0) | np.eye(n, dtype=bool)
    for _ in range(n.bit_length()):
        reach = (reach.astype(np.float64) @ reach) > 0
    mutual = reach & reach.T
    # A state belongs to a closed class when every state it reaches leads back.
    recurrent = (reach == mutual).all(axis=1)
    classes: list[list[int]] = []
    seen: set[int] = set()
    for state in np.flatnonzero(recurrent).tolist():
        if state not in seen:
            members = np.flatnonzero(mutual[state]).tolist()
            classes.append(members)
            seen.update(members)
    return classes


def stationary_vector(matrix: Floats, start: Floats | None = None) -> Floats:
    """Long-run share of each state from the distribution ``start`` (uniform unless given).

    ``start`` matters only when ``closed_classes`` gives more than one. O(n³). Raises ValueError
    for what is no stochastic matrix or no distribution.
    """
    chain = checked_stochastic(matrix)
    n = len(chain)
    mass = np.full(n, 1 / n) if start is None else np.array(start, dtype=np.float64)
    if mass.shape != (n,) or not (mass >= 0).all() or abs(mass.sum() - 1) > 1e-9:
        raise ValueError(f"a start is a distribution over {n} states")
    classes = closed_classes(chain)
    kept = np.ones(n, dtype=bool)
    lasting = {state for members in classes for state in members}
    for state in range(n):
        if state in lasting:
            continue
        # Watch the chain only outside this state: what enters it goes on to where it leaves to.
        kept[state] = False
        onward = np.where(kept, chain[state], 0)
        onward /= onward.sum()
        mass += mass[state] * onward
        chain += np.outer(chain[:, state], onward)
        mass[state] = 0
        chain[:, state] = 0
    found = np.zeros(n)
    for members in classes:
        share = mass[members].sum()
        found[members] = share * _of_one_class(chain[np.ix_(members, members)])
    total: float = found.sum()
    return found / total


def _of_one_class(chain: Floats) -> Floats:
    """Stationary vector of an irreducible chain."""
    chain = chain.copy()
    n = len(chain)
    for last in range(n - 1, 0, -1):
        leaving = chain[last, :last].sum()
        chain[:last, last] /= leaving
        chain[:last, :last] += np.outer(chain[:last, last], chain[last, :last])
    found = np.zeros(n)
    found[0] = 1
    for state in range(1, n):
        found[state] = found[:state] @ chain[:state, state]
    total: float = found.sum()
    return found / total


def sensitivities(matrix: Floats, stationary: Floats, values: Floats) -> Floats:
    """How much more of ``values`` a chain gathers for starting in each state, shape (n,).

    For a chain with one closed class: the solution h of ``(I - M) h = v - π·v`` with ``π·h = 0``.
    A small change dM of the matrix changes ``π·v`` by ``π dM h`` (Schweitzer 1968, "Perturbation
    theory and finite Markov chains").
    """
    n = len(matrix)
    # The fundamental matrix (Kemeny and Snell 1960, section 4.3); regular for one closed class.
    regular = np.eye(n) - matrix + np.outer(np.ones(n), stationary)
    return np.asarray(np.linalg.solve(regular, values - stationary @ values), dtype=np.float64)
