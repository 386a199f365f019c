"""A difference that is planted in copies of outputs, to see whether what learns would notice one of that kind.

That nothing tells two inputs apart says something only where a difference could have been told. Outputs such as hash
reports, one-time pads and random identifiers hide what they depend on from everything that compares values.
"""

from __future__ import annotations

import numpy as np

from dpaudit.auditors.outputs import Outputs, coding_of, joined, outcome_keys

_ROWS = 20_000
"""Outputs of either input, at most, that are copied."""

_SEED = 0x5EED
_MOSTLY_NEW = 0.5
"""Share of distinct values from which on a column identifies outputs instead of describing them."""

_BINS = 16
_EVEN = 2.0
"""Ratio of the fullest to the emptiest of the bins of a column whose values are spread like random identifiers."""

_ONE_SIDED = 0.02


def planted(x: Outputs, y: Outputs, epsilon: float) -> tuple[Outputs, Outputs] | None:
    """Return copies of outputs between which an event about as common as its complement differs by ``epsilon``.

    Every output of both inputs goes to one of the copies; those in the event go to the first, and the others to the
    second, e^epsilon times as often as the other way round. Where the outputs, or a column of them, identify rather
    than describe, the event is a half of the outcomes that is picked at random, as a hidden dependence would pick it.
    Otherwise it is a half-line in the column that a value splits most evenly.

    Returns
    -------
    tuple or None
        The copies, equally many outputs in each; None where all outputs are alike, so that nothing can be planted.
    """
    both = joined([x[:_ROWS], y[:_ROWS]])
    inside = _event(x, y, both)
    if not _ONE_SIDED < inside.mean() < 1 - _ONE_SIDED:
        return None
    rng = np.random.default_rng(_SEED)
    first = rng.random(len(both)) < 0.5
    kept = (inside == first) | (rng.random(len(both)) < np.exp(-epsilon))
    copies = [np.flatnonzero(kept & first), np.flatnonzero(kept & ~first)]
    size = min(map(len, copies))
    of_first, of_second = (both[rng.permutation(places)[:size]] for places in copies)
    return of_first, of_second


def _event(x: Outputs, y: Outputs, both: Outputs) -> np.ndarray:
    """Whether each output is in the event that differs."""
    columns = x.columns_with(y)
    if columns is None:
        return _half_of_outcomes(both)
    rows = both.rows(columns).astype(float, copy=False)
    if _identifies(both, rows):
        return _half_of_outcomes(both)
    splits = [column > _middle(column) for column in rows.T]
    evenness = [abs(float(split.mean()) - 0.5) for split in splits]
    return np.asarray(splits[evenness.index(min(evenness))])


def _identifies(both: Outputs, rows: np.ndarray) -> bool:
    """Whether outputs name themselves instead of describing something.

    Texts do that where most of them are new, and structured outputs where most of them are new by what is no number in
    them; otherwise a column of whole numbers does it, most of whose values are new and spread evenly.
    """
    if both.dtype.kind in "fc":
        return False
    if both.dtype.kind not in "biu" and _share_of_new(outcome_keys(both, coding_of(both))) > _MOSTLY_NEW:
        is_text = both.dtype.kind in "US" or isinstance(both.raw.ravel()[0], str | bytes)
        if is_text or _share_of_new(outcome_keys(rows, "row")) <= _MOSTLY_NEW:
            return True
    for column in rows.T:
        if np.array_equal(column, np.floor(column)) and _share_of_new(column) > _MOSTLY_NEW:
            counts, _ = np.histogram(column, bins=_BINS)
            if counts.max() < _EVEN * counts.min():
                return True
    return False


def _share_of_new(values: np.ndarray) -> float:
    return len(np.unique(values)) / len(values)


def _middle(column: np.ndarray) -> float:
    """Value above which about half of a column lies; below its largest."""
    middle = float(np.median(column))
    return middle if (column > middle).any() else float(np.nextafter(middle, -np.inf))


def _half_of_outcomes(both: Outputs) -> np.ndarray:
    """Outcomes picked at random, each with all its outputs."""
    _, outcome = np.unique(outcome_keys(both, coding_of(both)), return_inverse=True)
    count = int(outcome.max()) + 1
    order = np.random.default_rng(_SEED).permutation(count)
    return np.asarray((order < count // 2)[outcome])
