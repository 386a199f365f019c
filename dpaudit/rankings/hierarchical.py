"""Hierarchical rank aggregation: sort alternatives into levels by their pairwise victories, and every level again."""

import numpy as np
import numpy.typing as npt

from dpaudit.errors import DataError
from dpaudit.rankings.kwiksort import runs_of
from dpaudit.rankings.orders import IntArray, invert, row_chunks


def hierarchical(margins: npt.ArrayLike, rng: np.random.Generator, size: int | None = None) -> IntArray:
    """Aggregate pairwise margins by levels, in many runs at once.

    All alternatives begin in one level. Within a level, an alternative scores 1 for every other alternative of the
    level that it beats and 1/2 for every one that it ties with, and the level is split by score, the highest first.
    A level in which all score the same is split by the sum of the margins over its other alternatives: the one with
    the largest sum goes above the others; of several, one drawn uniformly. Levels of one alternative are done.

    Parameters
    ----------
    margins : array_like of float, shape (B, m, m) or (m, m)
        Antisymmetric: entry [i, j] is the number of answers that prefer i to j less the number of opposite ones.
        A pair without answers has margin 0, which is a tie.
    rng : numpy.random.Generator
        Decides between alternatives with equal sums, by one random order of the alternatives for each run.
    size : int, optional
        Number of runs B; needed when `margins` is one matrix.

    Returns
    -------
    ndarray of int64, shape (B, m)
        Rankings, best first.

    Raises
    ------
    ParameterError
        When the shape or the size does not fit.
    DataError
        When a margin is not finite, or the matrix is not antisymmetric.

    Notes
    -----
    It ends after at most m - 1 rounds, because every level of two or more is split in each; it is neutral, because
    alternatives are told apart by margins and a uniformly random order alone; and where one order beats all, every
    alternative beating all that are behind it, the scores are all different and it is that order.

    References
    ----------
    Ding, Han, Dezert, Yang, "A new hierarchical ranking aggregation method", Information Sciences 453, 2018, with the
    Borda count in place of the sum of margins, which orders full rankings alike; Song, Lan, Li, Li, "Distributed
    differentially private ranking aggregation", PAKDD 2022, Algorithm 2 as meant.

    Examples
    --------
    >>> import numpy as np
    >>> from dpaudit.rankings import hierarchical
    >>> hierarchical([[0, 2, 2], [-2, 0, 2], [-2, -2, 0]], np.random.default_rng(1), size=1)
    array([[0, 1, 2]])
    """
    table = np.asarray(margins)
    if table.dtype.kind not in "iuf":
        raise DataError(f"margins hold values of type {table.dtype}; give numbers")
    runs = runs_of(table.shape, size, "margins")
    if not np.isfinite(table).all():
        raise DataError("a margin is not a finite number; check the computation that gave it")
    if (table != -np.swapaxes(table, -1, -2)).any():
        raise DataError("margins [i, j] and [j, i] do not add up to 0; give an antisymmetric matrix")
    m = table.shape[-1]
    rankings = np.empty((runs, m), dtype=np.int64)
    for piece in row_chunks(runs, m * m):
        rankings[piece] = invert(_places(np.broadcast_to(table, (runs, m, m))[piece], rng))
    return rankings


def _places(margins: npt.NDArray[np.generic], rng: np.random.Generator) -> IntArray:
    """Place of every alternative; between rounds, the place at which its level begins."""
    runs, m = margins.shape[:2]
    priority = rng.permuted(np.tile(np.arange(m), (runs, 1)), axis=1)
    places = np.zeros((runs, m), dtype=np.int64)
    # Runs are the last axis, because there are many of them and few alternatives; runs that are done leave.
    active = np.arange(runs)
    start = np.zeros((m, runs), dtype=np.int32)
    victories = np.ascontiguousarray(np.sign(margins).astype(np.int32).transpose(1, 2, 0))
    while len(active):
        together = start[:, None] == start[None]
        # Victories less defeats order a level as the scores do.
        score = np.where(together, victories, 0).sum(axis=1, dtype=np.int32)
        alike = together & (score[:, None] == score[None])
        level, tied = together.sum(axis=1, dtype=np.int32), alike.sum(axis=1, dtype=np.int32)
        unsplit = (level > 1) & (tied == level)
        stuck = np.flatnonzero(unsplit.any(axis=0))
        winner = _winners(together[:, :, stuck].transpose(2, 0, 1), margins[active[stuck]], priority[active[stuck]])
        score[:, stuck] = np.where(unsplit[:, stuck], winner.T, score[:, stuck])
        start = start + (together & (score[None] > score[:, None])).sum(axis=1, dtype=np.int32)
        places[active] = start.T
        # The places of a run are all different when they add up to 0 + ... + (m - 1), and else to less.
        left = np.flatnonzero(start.sum(axis=0, dtype=np.int64) < m * (m - 1) // 2)
        active, start, victories = active[left], start[:, left], victories[:, :, left]
    return places


def _winners(
    together: npt.NDArray[np.bool_], margins: npt.NDArray[np.generic], priority: IntArray
) -> npt.NDArray[np.bool_]:
    """Tell which alternatives have the largest sum of margins over their level, or of several the first drawn."""
    total = np.where(together, margins, 0).sum(axis=2)
    ahead = (total[:, None, :] > total[:, :, None]) | (
        (total[:, None, :] == total[:, :, None]) & (priority[:, None, :] > priority[:, :, None])
    )
    return np.asarray(~(together & ahead).any(axis=2))
