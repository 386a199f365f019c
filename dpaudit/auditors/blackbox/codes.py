"""Codes among numbers: values of a column that come again and again, such as -1000 for "no answer"."""

from __future__ import annotations

import numpy as np

_LOOKED_AT = 1000
"""Rows of either side in which codes are looked for."""

_LEAST_SEEN = 4
"""Times that a value comes in these rows, at least, to be a code: rarer ones tell little in so few outputs."""


def codes(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return which code every column holds; None for outputs that are no rows of floating-point numbers with codes.

    Parameters
    ----------
    x, y
        Outputs on two inputs, of one form.

    Returns
    -------
    tuple of ndarray or None
        For both sides, shape (size, columns that hold codes): the place of the code among those of the column, in
        ascending order, or their number where a value is none of them.
    """
    if x.dtype.kind != "f" or x.ndim != 2:
        return None
    first = np.sort(np.concatenate([x[:_LOOKED_AT], y[:_LOOKED_AT]]), axis=0)
    comes_again = first[_LEAST_SEEN - 1 :] == first[: len(first) - _LEAST_SEEN + 1]
    found = np.flatnonzero(comes_again.any(axis=0))
    if not len(found):
        return None
    known = [np.unique(first[: len(comes_again), column][comes_again[:, column]]) for column in found]
    of_x, of_y = (
        np.column_stack([_places(values, side[:, column]) for values, column in zip(known, found, strict=True)])
        for side in (x, y)
    )
    return of_x, of_y


def _places(known: np.ndarray, values: np.ndarray) -> np.ndarray:
    at = np.searchsorted(known, values)
    return np.where(known[np.minimum(at, len(known) - 1)] == values, at, len(known)).astype(np.int16)
