"""Pairwise comparison queries: which pairs of alternatives each agent is asked about."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dpaudit.errors import ParameterError
from dpaudit.rankings.orders import IntArray


def random_subsets(population: int, subset: int, size: int, rng: np.random.Generator) -> IntArray:
    """Draw uniformly random subsets by Floyd's algorithm, for all rows at once.

    Parameters
    ----------
    population, subset
        Subsets of {0, ..., population - 1} with ``subset`` elements, 0 <= subset <= population.
    size
        Number of subsets.

    Returns
    -------
    ndarray of int64, shape (size, subset)
        Every row ascending.

    Raises
    ------
    ParameterError
        The subset is larger than the population.

    References
    ----------
    Bentley and Floyd, "A sample of brilliance", Communications of the ACM 30(9), 1987.

    Examples
    --------
    >>> import numpy as np
    >>> from dpaudit.rankings import random_subsets
    >>> subsets = random_subsets(10, 3, 2, np.random.default_rng(1))
    >>> [len(set(row)) for row in subsets.tolist()]
    [3, 3]
    """
    if not 0 <= subset <= population:
        raise ParameterError(f"a subset of {subset} elements cannot be drawn from {population}")
    if subset == population:
        return np.tile(np.arange(population, dtype=np.int64), (size, 1))
    columns = np.empty((subset, size), dtype=np.int64)
    for taken, last in enumerate(range(population - subset, population)):
        drawn = rng.integers(0, last + 1, size)
        repeated = (columns[:taken] == drawn).any(axis=0)
        columns[taken] = np.where(repeated, last, drawn)
    rows = np.ascontiguousarray(columns.T)
    rows.sort(axis=1)
    return rows


def pair_tally(pairs: npt.ArrayLike, values: npt.ArrayLike, count: int) -> npt.NDArray[np.float64]:
    """Sum values by pair.

    Parameters
    ----------
    pairs, values
        Pair number and value of every answer, same shape.
    count
        Number of pairs.

    Returns
    -------
    ndarray of float64, shape (count,)

    Examples
    --------
    >>> from dpaudit.rankings import pair_tally
    >>> pair_tally([[0, 2], [2, 2]], [[1, -1], [1, 1]], 3)
    array([1., 0., 1.])
    """
    return np.asarray(np.bincount(np.ravel(pairs), weights=np.ravel(values), minlength=count), dtype=np.float64)


def margin_matrix(pair_margins: npt.ArrayLike, alternatives: int) -> npt.NDArray[np.float64]:
    """Antisymmetric matrix of margins from one margin per pair j < l, in the order of ``alternative_pairs``.

    Parameters
    ----------
    pair_margins
        Shape (..., C(m, 2)); positive where j is preferred to l.
    alternatives
        m.

    Returns
    -------
    ndarray of float64, shape (..., m, m)

    Examples
    --------
    >>> from dpaudit.rankings import margin_matrix
    >>> margin_matrix([1, 2, 3], 3)
    array([[ 0.,  1.,  2.],
           [-1.,  0.,  3.],
           [-2., -3.,  0.]])
    """
    values = np.asarray(pair_margins, dtype=float)
    j, l = np.triu_indices(alternatives, k=1)  # noqa: E741 - the paper's index
    matrix = np.zeros((*values.shape[:-1], alternatives, alternatives))
    matrix[..., j, l] = values
    matrix[..., l, j] = -values
    return matrix
