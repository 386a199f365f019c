"""Notices rows that are not new: samplers that draw those of a fixed array again, and samples that are copies."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betainc

from dpaudit.auditors.outputs.flat import size_of
from dpaudit.auditors.outputs.grids import Grid
from dpaudit.auditors.outputs.outputs import Outputs, OutputsLike, as_outputs, coding_of, joined, outcome_keys, raw_of

_LOOKED_AT = 20_000
_FEWEST = 500
"""Outputs per input, at most and at least, that are looked at."""

_MOST_NUMBERS = 4_000_000
"""Numbers per input, at most, that are looked at where that leaves `_FEWEST` outputs. Chosen by hand, for time: with
1,000 columns, they show a fixed array of up to 400,000 rows."""

_PARTS_LOOKED_AT, _MOST_VALUES = 3000, 120_000
"""Structured outputs per input, and values in them, at most, that are looked at. Chosen by hand, for time: each is
taken apart, and so many show a fixed array of up to some 200,000 of them."""

_FEW_VALUES = 20
"""Values of a column below which it says nothing of a fixed array. Chosen by hand."""

_REPEATS = 20
"""Outputs, at least, that came before on the same input."""

_COLUMNS_FIRST = 4
"""Columns in which numbers must come again before whole rows are compared. Chosen by hand, for time."""

_ON_GRID = 2000
"""Outputs that say whether all numbers are on a grid: those of a discrete law may have all digits, too."""

_UNEVEN = 8.0
"""Standard errors by which the most frequent output may be more frequent than the mean."""

_STEPS = (1, 2, 3)
"""Rows by which one sample is moved against the other, either way, to see how many are equal by chance, or because rows
are in order."""

_BY_PLACE = 0.99
"""Share of the places in which a column has the same number in both samples, from which on the place decides it. Chosen
by hand."""

_BY_CHANCE = 1e-9
"""Probability with which samples that were drawn independently of each other are taken for copies, about."""


def copied(x: OutputsLike, y: OutputsLike, *, complete: bool) -> str:
    """Say in what two samples are copies of each other; empty where they are not.

    Rows of the same place are equal far more often than rows that are some places apart. Or, where the samples are
    ``complete``, every row comes equally often in both, which the samples of one law seldom have: every frequency is
    about normal, so that another one has exactly the same with the density of their difference at 0. Columns that the
    place decides, such as a row number, make no copies.
    """
    both = joined([x, y])
    first, second = _codes(outcome_keys(both, coding_of(both)), len(x))
    if complete and len(x) == len(y):
        counts = [np.bincount(side, minlength=int(max(first.max(), second.max())) + 1) for side in (first, second)]
        if np.array_equal(counts[0], counts[1]):
            # The largest is what the others leave.
            log_chance = -0.5 * float(np.log(4 * np.pi * np.sort(counts[0])[:-1]).sum())
            if log_chance < np.log(_BY_CHANCE):
                return "have the same rows equally often"
    size = min(len(first), len(second))
    equal = _equal_in_place(first[:size], second[:size])
    if equal:
        told_by_place = _without_places(as_outputs(x)[:size], as_outputs(y)[:size])
        if told_by_place is not None and not _equal_in_place(*told_by_place):
            return ""
        return f"have the same row in {equal:,} of the first {size:,} places"
    return ""


def _codes(keys: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    codes = np.unique(keys, return_inverse=True)[1]
    return codes[:size], codes[size:]


def _equal_in_place(first: np.ndarray, second: np.ndarray) -> int:
    """How many rows of the same place are equal, if far more than of places some rows apart; 0 otherwise."""
    size = len(first)
    equal = int(np.count_nonzero(first == second))
    apart = max(
        (
            int(np.count_nonzero(one[step:] == other[: size - step]))
            for step in _STEPS
            if step < size
            for one, other in ((first, second), (second, first))
        ),
        default=0,
    )
    # The probability of at least so many heads of fair coins.
    return equal if equal and betainc(equal, apart + 1, 0.5) < _BY_CHANCE else 0


def _without_places(x: Outputs, y: Outputs) -> tuple[np.ndarray, np.ndarray] | None:
    """Rows without the columns that their place decides, such as a row number or a date; None where none is left."""
    columns = x.columns_with(y)
    if columns is None:
        return None
    rows = [side.rows(columns) for side in (x, y)]
    own = (rows[0] == rows[1]).mean(axis=0) < _BY_PLACE
    if not own.any():
        return None
    kept = np.concatenate([side[:, own] for side in rows])
    return _codes(outcome_keys(np.ascontiguousarray(kept), "row"), len(x))


ONLY_THESE = (
    "if there are others, such as those of an array that was drawn before, the bound tells these few apart and not the "
    "inputs"
)
"""What a note says of texts that come again."""


def are_texts(outputs: np.ndarray) -> bool:
    """Whether outputs are texts, which is how the outputs of a law of few are given."""
    return outputs.dtype == object and outputs.ndim == 1 and len(outputs) > 0 and isinstance(outputs[0], str | bytes)


def most_looked_at(outputs: OutputsLike) -> int:
    """Return how many outputs like these are looked at, at most."""
    raw = raw_of(outputs)
    if raw.dtype.kind in "OV":
        values = sum(map(size_of, raw[:1].ravel().tolist()))
        return min(_PARTS_LOOKED_AT, _MOST_VALUES // max(values, 1))
    width = max(raw[:1].size, 1)
    return min(_LOOKED_AT, max(_FEWEST, _MOST_NUMBERS // width))


def drawn_again(x: OutputsLike, y: OutputsLike) -> int | None:
    """Return about how many outputs seem to be drawn again and again; None where they seem to be new ones.

    Numbers with all digits of double precision, which come again on the same input, about equally often each, and never
    on the other input, are what drawing rows of two fixed arrays gives. New outputs of continuous laws do not come
    again; those of discrete laws come on both inputs, or some far more often than others. Columns of few values are
    left out: an exact answer beside noise is no fixed array.

    Parameters
    ----------
    x, y
        Outputs on either input, along axis 0.
    """
    some = [as_outputs(side)[: most_looked_at(side)] for side in (x, y)]
    if min(map(len, some)) < _FEWEST:
        return None
    columns = some[0].columns_with(some[1])
    if columns is None:
        return None
    rows = [side.rows(columns) for side in some]
    if any(side.dtype != np.float64 for side in rows) or rows[0].shape[1] != rows[1].shape[1]:
        return None
    looked_at = range(0, rows[0].shape[1], -(-rows[0].shape[1] // _COLUMNS_FIRST))
    if any(len(side) - len(np.unique(side[:, column])) < _REPEATS for side in rows for column in looked_at):
        return None
    varied = np.array([_has_many(side) for side in rows]).all(axis=0)
    keys = [np.ascontiguousarray(side[:, varied]) for side in rows]
    if not varied.any() or any(not np.isfinite(side).all() for side in keys):
        return None
    with np.errstate(over="ignore"):
        rounded = [np.mean((side.astype(np.float32) != side).any(axis=1)) < 0.99 for side in keys]
    if any(rounded):
        return None
    if any(all(Grid.of(column) is not None for column in side[:_ON_GRID].T) for side in keys):
        return None
    wholes = [side.view(np.dtype((np.void, side.dtype.itemsize * side.shape[1]))).ravel() for side in keys]
    found: list[Any] = [np.unique(side, return_counts=True) for side in wholes]
    if np.isin(found[0][0], found[1][0]).any():
        return None
    for values, counts in found:
        mean = counts.mean()
        if counts.sum() - len(values) < _REPEATS or counts.max() > mean + _UNEVEN * np.sqrt(mean) + 2:
            return None
    return min(len(values) for values, _ in found)


def _has_many(rows: np.ndarray) -> np.ndarray:
    """Whether each column has many values: in the first rows, or in all."""
    some = np.sort(rows[:_FEWEST], axis=0)
    many = np.count_nonzero(some[1:] != some[:-1], axis=0) + 1 >= _FEW_VALUES
    for column in np.flatnonzero(~many):
        many[column] = len(np.unique(rows[:, column])) >= _FEW_VALUES
    return np.asarray(many)
