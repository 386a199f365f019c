"""Margins of many profiles at once, and the error rate of their estimates (Section 5.1.3)."""

import numpy as np
import numpy.typing as npt

import dpaudit
from dpaudit import rankings

CHUNK_CELLS = 1 << 21
"""Entries of rankings that are compared at once."""

_LONG_ROW = 512


def profile_margins(orders: npt.ArrayLike) -> np.ndarray:
    """Majority margins of many profiles at once.

    Parameters
    ----------
    orders : array_like of int, shape (B, n, m)
        B profiles of n agents each.

    Returns
    -------
    ndarray of int64, shape (B, m, m)
        Entry [b, j, l] is the number of agents of profile b who prefer j to l less the number of the others.

    Raises
    ------
    DataError
        A row is not a permutation, or the shape is not (B, n, m).
    """
    array = np.asarray(orders)
    if array.ndim != 3 or 0 in array.shape[1:]:
        raise dpaudit.DataError(
            f"rankings have shape {array.shape}; give (B, n, m) with at least one ranking and alternative"
        )
    profiles, agents, m = array.shape
    counts = np.zeros((m, m, profiles), dtype=np.int64)
    for some in _slices(profiles, agents * m):
        for piece in _slices(agents, m):
            rows = rankings.check_rankings(array[some, piece].reshape(-1, m))
            # One row for each alternative, of the smallest type: the comparisons are what takes the time.
            places = np.empty((m, len(rows)), dtype=np.min_scalar_type(m))
            row = np.arange(len(rows))
            for place in range(m):
                places[rows[:, place], row] = place
            columns = places.reshape(m, some.stop - some.start, -1)
            for first in range(m - 1):
                counts[first, first + 1 :, some] += _true_in_rows(columns[first] < columns[first + 1 :])
    margin = np.moveaxis(counts, 2, 0) * 2
    j, l = np.triu_indices(m, k=1)  # noqa: E741
    margin[:, j, l] -= agents
    margin[:, l, j] = -margin[:, j, l]
    return margin


def sign_errors(margins: npt.ArrayLike, estimate: npt.ArrayLike) -> np.ndarray:
    """Count the pairs whose estimated margin has the opposite sign of the true one.

    Parameters
    ----------
    margins : array_like of float, shape (..., m, m)
        True margins; only entries above the diagonal are read.
    estimate : array_like of float, shape (..., m, m)
        Estimated margins; the leading axes broadcast.

    Returns
    -------
    ndarray of int64, shape (...)
        A zero on either side is no error.

    Raises
    ------
    DataError
        The shapes do not fit, or a value is NaN.
    """
    truth, guess = np.asarray(margins, dtype=np.float64), np.asarray(estimate, dtype=np.float64)
    if truth.ndim < 2 or truth.shape[-1] != truth.shape[-2] or guess.shape[-2:] != truth.shape[-2:]:
        raise dpaudit.DataError(
            f"margins of shape {truth.shape} with estimates of shape {guess.shape}; give two of shape (..., m, m)"
        )
    j, l = np.triu_indices(truth.shape[-1], k=1)  # noqa: E741
    true_pairs, guessed_pairs = truth[..., j, l], guess[..., j, l]
    if np.isnan(true_pairs).any() or np.isnan(guessed_pairs).any():
        raise dpaudit.DataError("a margin is NaN; check the computation that gave it")
    wrong = ((true_pairs > 0) & (guessed_pairs < 0)) | ((true_pairs < 0) & (guessed_pairs > 0))
    return np.asarray(np.count_nonzero(wrong, axis=-1), dtype=np.int64)


def error_rate(margins: npt.ArrayLike, estimate: npt.ArrayLike) -> np.ndarray:
    """Share of the pairs whose estimated margin has the wrong sign (Equation 5).

    Parameters
    ----------
    margins, estimate : array_like of float, shape (..., m, m)

    Returns
    -------
    ndarray of float64, shape (...)

    Raises
    ------
    DataError
        The shapes do not fit, a value is NaN, or there is no pair (m < 2).
    """
    wrong = sign_errors(margins, estimate)
    m = np.shape(margins)[-1]
    if m < 2:
        raise dpaudit.DataError("one alternative has no pair to compare; give at least two alternatives")
    return np.asarray(wrong / (m * (m - 1) / 2), dtype=np.float64)


def _slices(rows: int, width: int) -> list[slice]:
    """Slices that cut ``rows`` rows of ``width`` cells each into pieces of bounded memory."""
    step = max(1, CHUNK_CELLS // width)
    return [slice(start, min(rows, start + step)) for start in range(0, rows, step)]


def _true_in_rows(table: np.ndarray) -> np.ndarray:
    """Count the true entries along the last axis; one long row after the other is faster than numpy's axis."""
    if table.shape[-1] < _LONG_ROW:
        return np.asarray(np.count_nonzero(table, axis=-1), dtype=np.int64)
    rows = table.reshape(-1, table.shape[-1])
    return np.array([np.count_nonzero(row) for row in rows], dtype=np.int64).reshape(table.shape[:-1])
