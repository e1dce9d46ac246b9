"""Long-run behaviour of a Markov chain, for any stochastic matrix.

Alliot 2017, section 3.4, uses the stochastic eigenvector of eigenvalue 1 and states
that it does not depend on the start. This is true for a chain that has one part and no
period. Here the vector is defined for all chains, as the long-run share of time that a
chain from a given initial distribution spends in each state (the Cesàro limit of ``π₀
Mᵏ``). It equals ``lim π₀ Mᵏ`` if that limit exists.

The vector is computed by eliminating states (Grassmann, Taksar and Heyman 1985,
"Regenerative analysis and steady state distributions for Markov chains"). The method
never subtracts, so every entry has full precision even if the chain mixes slowly.
"""

import numpy as np

from live.ratings.ferreira import Floats

#: Transitions with a lower probability are rounding errors of a row that sums to 1.
#: They are set to 0.
NEVER = 1e-15


def check_stochastic(matrix: Floats) -> Floats:
    """Return a copy of a stochastic matrix with rows that sum to exactly 1, shape (n,
    n).
    """
    stochastic = np.array(matrix, dtype=np.float64)
    stochastic[stochastic < NEVER] = 0
    stochastic /= stochastic.sum(axis=1, keepdims=True)
    return stochastic


def find_closed_classes(matrix: Floats) -> list[list[int]]:
    """Return the sets of states that a chain never leaves once it has entered them.

    The sets are ordered by their smallest state. The long-run behaviour of a chain with
    only one such set does not depend on the start.
    """
    n = len(matrix)
    reach = (matrix > 0) | np.eye(n, dtype=bool)
    for _ in range(n.bit_length()):
        reach = (reach.astype(np.float64) @ reach) > 0
    mutual = reach & reach.T
    # A state belongs to a closed class if every state that it leads to can lead back to
    # it.
    recurrent = (reach == mutual).all(axis=1)
    classes = {
        tuple(np.flatnonzero(mutual[state]).tolist())
        for state in np.flatnonzero(recurrent)
    }
    return sorted(map(list, classes))


def solve_stationary_vector(matrix: Floats, start: Floats | None = None) -> Floats:
    """Return the long-run share of each state from the initial distribution ``start``.

    ``start`` is uniform by default. It matters only if :func:`find_closed_classes`
    returns more than one set. The time is O(n³).
    """
    chain = check_stochastic(matrix)
    n = len(chain)
    mass = np.ones(n) / n if start is None else start.astype(np.float64)
    classes = find_closed_classes(chain)
    is_kept = np.ones(n, dtype=bool)
    for state in sorted(set(range(n)).difference(*classes)):
        # Eliminate this state: transitions into it now lead to the states it leads to.
        is_kept[state] = False
        onward = np.where(is_kept, chain[state], 0)
        onward /= onward.sum()
        mass += mass[state] * onward
        chain += np.outer(chain[:, state], onward)
        mass[state] = 0
        chain[:, state] = 0
    shares = np.zeros(n)
    for members in classes:
        share = mass[members].sum()
        shares[members] = share * _solve_one_class(chain[np.ix_(members, members)])
    shares /= shares.sum()
    return shares


def _solve_one_class(chain: Floats) -> Floats:
    """Return the stationary vector of an irreducible chain."""
    chain = chain.copy()
    n = len(chain)
    for last in range(n - 1, 0, -1):
        leaving = chain[last, :last].sum()
        chain[:last, last] /= leaving
        chain[:last, :last] += np.outer(chain[:last, last], chain[last, :last])
    vector = np.zeros(n)
    vector[0] = 1
    for state in range(1, n):
        vector[state] = vector[:state] @ chain[:state, state]
    vector /= vector.sum()
    return vector


def compute_sensitivities(matrix: Floats, stationary: Floats, values: Floats) -> Floats:
    """Return the additional sum of ``values`` that a chain collects by starting in each
    state.

    The shape is (n,). For a chain with one closed class, this is the solution h of ``(I
    - M) h = v - π·v`` with ``π·h = 0``. A small change dM of the matrix changes ``π·v``
    by ``π dM h`` (Schweitzer 1968, "Perturbation theory and finite Markov chains").
    """
    n = len(matrix)
    # The fundamental matrix (Kemeny and Snell 1960, section 4.3). It is regular for a
    # chain with one closed class.
    regular = np.eye(n) - matrix + np.outer(np.ones(n), stationary)
    return np.asarray(
        np.linalg.solve(regular, values - stationary @ values), dtype=np.float64
    )
