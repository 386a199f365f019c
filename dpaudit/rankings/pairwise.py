"""Pairwise comparisons: how many agents prefer one alternative to another."""

import numpy as np
import numpy.typing as npt

from dpaudit.errors import DataError, ParameterError
from dpaudit.rankings.orders import BoolArray, IntArray, check_rankings, check_rows, integer_array, invert, row_chunks
from dpaudit.rankings.profiles import Profile


def pairwise_counts(rankings: Profile | npt.ArrayLike) -> IntArray:
    """Count the agents who prefer each alternative to each other one.

    Parameters
    ----------
    rankings : Profile or array_like of int, shape (n, m)

    Returns
    -------
    ndarray of int64, shape (m, m)
        Entry [j, l] is the number of agents who prefer j to l; the diagonal is 0.

    Raises
    ------
    DataError
        When a row is not a permutation or the shape is not (n, m).

    Examples
    --------
    >>> from dpaudit.rankings import pairwise_counts
    >>> pairwise_counts([[0, 1, 2], [2, 1, 0], [0, 2, 1]])
    array([[0, 2, 2],
           [1, 0, 1],
           [1, 2, 0]])
    """
    if isinstance(rankings, Profile):
        rows: npt.NDArray[np.integer] = rankings.orders
        weights: IntArray | None = rankings.counts
    else:
        rows, weights = integer_array(rankings, "rankings"), None
    if rows.ndim != 2 or 0 in rows.shape:
        raise DataError(f"rankings have shape {rows.shape}; give (n, m) with at least one ranking and one alternative")
    m = rows.shape[1]
    counts = np.zeros((m, m), dtype=np.int64)
    for piece in row_chunks(len(rows), m):
        places = invert(check_rows(rows[piece], piece.start))
        columns = np.ascontiguousarray(places.T)
        total = len(places) if weights is None else int(weights[piece].sum())
        for j in range(m):
            for l in range(j + 1, m):  # noqa: E741
                ahead = columns[j] < columns[l]
                number = np.count_nonzero(ahead) if weights is None else weights[piece][ahead].sum()
                counts[j, l] += number
                counts[l, j] += total - number
    return counts


def margins(counts: npt.ArrayLike) -> IntArray:
    """Majority margins C - C^T, the ``cmp`` of Yan, Li, Liu (2020).

    Parameters
    ----------
    counts : array_like of int, shape (m, m)
        Pairwise counts.

    Returns
    -------
    ndarray of int64, shape (m, m)
        Entry [j, l] is positive when a majority prefers j to l.

    Raises
    ------
    DataError
        When `counts` is not a square matrix of non-negative integers.

    Examples
    --------
    >>> from dpaudit.rankings import margins, pairwise_counts
    >>> margins(pairwise_counts([[0, 1], [0, 1], [1, 0]]))
    array([[ 0,  1],
           [-1,  0]])
    """
    valid = check_counts(counts)
    return valid - valid.T


def check_counts(counts: npt.ArrayLike) -> IntArray:
    """Validate pairwise counts (m, m) and return them as int64 with a zero diagonal."""
    array = integer_array(counts, "pairwise counts")
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.size == 0:
        raise DataError(f"pairwise counts have shape {array.shape}; give a square matrix (m, m)")
    if array.min() < 0:
        j, l = np.argwhere(array < 0)[0]  # noqa: E741
        raise DataError(f"pairwise count [{j}, {l}] is {array[j, l]}; counts are at least 0")
    if array.diagonal().any():
        j = int(np.argmax(array.diagonal() != 0))
        raise DataError(f"pairwise count [{j}, {j}] is {array[j, j]}; the diagonal must be 0")
    return array.astype(np.int64)


def answers(rankings: npt.ArrayLike, pairs: npt.ArrayLike) -> BoolArray:
    """Answer for every ranking whether it places the first of a pair before the second.

    Parameters
    ----------
    rankings : array_like of int, shape (n, m)
    pairs : array_like of int, shape (K, 2) or (n, K, 2)
        The same K pairs for all agents, or K pairs for each.

    Returns
    -------
    ndarray of bool, shape (n, K)

    Raises
    ------
    DataError
        When a row is not a permutation.
    ParameterError
        When the pairs have the wrong shape, are out of range or compare an alternative with itself.

    Examples
    --------
    >>> from dpaudit.rankings import answers
    >>> answers([[0, 1, 2], [2, 1, 0]], [[0, 1], [0, 2]]).tolist()
    [[True, True], [False, False]]
    """
    rows = check_rankings(rankings)
    asked = integer_array(pairs, "pairs")
    if rows.ndim != 2:
        raise DataError(f"rankings have shape {rows.shape}; give (n, m)")
    n, m = rows.shape
    if asked.ndim not in (2, 3) or asked.shape[-1] != 2 or (asked.ndim == 3 and len(asked) != n):
        raise ParameterError(f"pairs have shape {asked.shape}; give (K, 2) or ({n}, K, 2)")
    if asked.size and (asked.min() < 0 or asked.max() >= m):
        raise ParameterError(f"a pair names an alternative outside 0 to {m - 1}; check the pairs against m = {m}")
    if np.any(asked[..., 0] == asked[..., 1]):
        raise ParameterError("a pair compares an alternative with itself; give two different alternatives")
    before = np.empty((n, asked.shape[-2]), dtype=bool)
    for piece in row_chunks(n, max(m, 2 * asked.shape[-2])):
        places = invert(rows[piece])
        if asked.ndim == 2:
            before[piece] = places[:, asked[:, 0]] < places[:, asked[:, 1]]
        else:
            first = np.take_along_axis(places, asked[piece, :, 0], axis=1)
            before[piece] = first < np.take_along_axis(places, asked[piece, :, 1], axis=1)
    return before
