"""KwikSort (Ailon, Charikar, Newman 2008): runs in batches and the comparisons they use."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpaudit.errors import DataError, ParameterError
from dpaudit.rankings.orders import BoolArray, IntArray, as_positive_int, invert, row_chunks


def kwiksort(before: npt.ArrayLike, rng: np.random.Generator, size: int | None = None) -> IntArray:
    """Run KwikSort many times, each run with its own uniformly random pivots.

    Parameters
    ----------
    before : array_like of bool, shape (B, m, m) or (m, m)
        Entry [b, i, p] says whether run b places item i before pivot p; for each pair exactly one of [i, p] and
        [p, i] is true. The diagonal is not read.
    rng : numpy.random.Generator
    size : int, optional
        Number of runs B; needed when `before` is one matrix.

    Returns
    -------
    ndarray of int64, shape (B, m)
        Rankings, best first.

    Raises
    ------
    ParameterError
        When the shape or the size does not fit.
    DataError
        When `before` is not of booleans or contradicts itself on a pair.

    Examples
    --------
    >>> import numpy as np
    >>> from dpaudit.rankings import kwiksort
    >>> before = np.triu(np.ones((3, 3), dtype=bool), 1)  # 0 before 1 before 2
    >>> kwiksort(before, np.random.default_rng(1), size=2)
    array([[0, 1, 2],
           [0, 1, 2]])
    """
    table = np.asarray(before)
    if table.dtype != np.bool_:
        raise DataError(f"before holds values of type {table.dtype}; give booleans")
    runs = runs_of(table.shape, size, "before")
    m = table.shape[-1]
    matrices = table.reshape(-1, m, m)
    rankings = np.empty((runs, m), dtype=np.int64)
    for piece in row_chunks(len(matrices), m * m):
        _check_pairs(matrices[piece], piece.start)
    for piece in row_chunks(runs, m * m):
        chunk = np.broadcast_to(table, (runs, m, m))[piece]
        rankings[piece] = invert(_places(chunk, rng))
    return rankings


@dataclass(frozen=True, slots=True, eq=False)
class KwikSortRuns:
    """Runs of KwikSort with the comparisons that they made.

    Attributes
    ----------
    rankings
        Best first, shape (B, m).
    comparisons
        Number of comparisons of each run, shape (B,).
    asked
        Whether a pair is among the first `cap` comparisons of the run, shape (B, m, m), symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from dpaudit.rankings import kwiksort_runs
    >>> before = np.triu(np.ones((3, 3), dtype=bool), 1)
    >>> runs = kwiksort_runs(before[None], 3, np.random.default_rng(1))
    >>> runs.rankings
    array([[0, 1, 2]])
    """

    rankings: IntArray
    comparisons: IntArray
    asked: BoolArray


def kwiksort_runs(before: npt.ArrayLike, cap: int, rng: np.random.Generator) -> KwikSortRuns:
    """Run KwikSort, the left part before the right one, and keep which pairs the first `cap` comparisons were about.

    Within the part that it splits a pivot is compared in an order drawn anew for every run.

    Parameters
    ----------
    before : array_like of bool, shape (B, m, m)
        As for `kwiksort`.
    cap : int
        At least 0. A run that makes more comparisons is not cut short; only `asked` stops there.
    rng : numpy.random.Generator

    Returns
    -------
    KwikSortRuns

    Raises
    ------
    ParameterError
        When the shape does not fit or `cap` is negative.
    DataError
        When `before` is not of booleans or contradicts itself on a pair.

    Examples
    --------
    >>> import numpy as np
    >>> from dpaudit.rankings import kwiksort_runs
    >>> before = np.triu(np.ones((3, 3), dtype=bool), 1)
    >>> runs = kwiksort_runs(before[None], 3, np.random.default_rng(1))
    >>> bool(2 <= runs.comparisons[0] <= 3)
    True
    """
    table = np.asarray(before)
    if table.dtype != np.bool_:
        raise DataError(f"before holds values of type {table.dtype}; give booleans")
    runs = runs_of(table.shape, None, "before")
    cap = as_positive_int(cap, "cap", least=0)
    m = table.shape[-1]
    rankings = np.empty((runs, m), dtype=np.int64)
    total = np.empty(runs, dtype=np.int64)
    asked = np.empty((runs, m, m), dtype=bool)
    for piece in row_chunks(runs, m * m):
        chunk = table[piece]
        _check_pairs(chunk, piece.start)
        blocks = np.empty(chunk.shape, dtype=bool)
        places, starts = _sort(chunk, rng, blocks)
        rankings[piece] = invert(places)
        sizes = np.count_nonzero(blocks, axis=1)
        total[piece] = sizes.sum(axis=1)
        # Recursion, left before right: a part comes before those within it and those to the right of it.
        turn = np.lexsort((-sizes, starts), axis=-1)
        in_turn = np.take_along_axis(sizes, turn, axis=1)
        earlier = np.empty_like(sizes)
        np.put_along_axis(earlier, turn, np.cumsum(in_turn, axis=1) - in_turn, axis=1)
        loop = rng.permuted(np.tile(np.arange(m), (len(chunk), 1)), axis=1)[:, :, None]
        number = np.empty(blocks.shape, dtype=np.int64)
        np.put_along_axis(number, loop, np.cumsum(np.take_along_axis(blocks, loop, axis=1), axis=1), axis=1)
        first = blocks & (number + earlier[:, None, :] <= cap)
        asked[piece] = first | first.transpose(0, 2, 1)
    return KwikSortRuns(rankings, total, asked)


def kwiksort_queries(before: npt.ArrayLike, rng: np.random.Generator) -> tuple[IntArray, BoolArray]:
    """Run KwikSort on answers that may differ between the two directions of a pair, and say which it asked for.

    Parameters
    ----------
    before : array_like of bool, shape (B, m, m)
        Entry [b, i, p] says whether run b places item i before pivot p, if it asks. The diagonal is not read.
    rng : numpy.random.Generator

    Returns
    -------
    rankings : ndarray of int64, shape (B, m)
        Best first.
    asked : ndarray of bool, shape (B, m, m)
        Entry [b, i, p] says whether run b asked for item i and pivot p.

    Raises
    ------
    ParameterError
        When the shape does not fit.
    DataError
        When `before` is not of booleans.

    Examples
    --------
    >>> import numpy as np
    >>> from dpaudit.rankings import kwiksort_queries
    >>> before = np.triu(np.ones((3, 3), dtype=bool), 1)
    >>> rankings, asked = kwiksort_queries(before[None], np.random.default_rng(1))
    >>> rankings
    array([[0, 1, 2]])
    >>> asked.shape
    (1, 3, 3)
    """
    table = np.asarray(before)
    if table.dtype != np.bool_:
        raise DataError(f"before holds values of type {table.dtype}; give booleans")
    if table.ndim != 3 or table.shape[1] != table.shape[2] or table.shape[1] == 0:
        raise ParameterError(f"before has shape {table.shape}; give (B, m, m)")
    asked = np.empty(table.shape, dtype=bool)
    places, _ = _sort(table, rng, asked)
    return invert(places), asked


def comparisons(margins: npt.ArrayLike, rng: np.random.Generator, size: int | None = None) -> BoolArray:
    """Majority comparisons for KwikSort, ties decided by an independent fair coin for each pair and run.

    KwikSort compares a pair at most once in a run, so coins tossed beforehand have the same law as coins tossed when
    the pair is compared.

    Parameters
    ----------
    margins : array_like of float, shape (m, m) or (B, m, m)
        Antisymmetric; entry [i, p] > 0 places i before p.
    rng : numpy.random.Generator
    size : int, optional
        Number of runs B; needed when `margins` is one matrix.

    Returns
    -------
    ndarray of bool, shape (B, m, m)
        The diagonal is False.

    Raises
    ------
    ParameterError
        When the shape or the size does not fit.
    DataError
        When a margin is NaN or two mirrored margins do not have opposite signs.

    Examples
    --------
    >>> import numpy as np
    >>> from dpaudit.rankings import comparisons
    >>> comparisons([[0, 3], [-3, 0]], np.random.default_rng(1), size=1).tolist()
    [[[False, True], [False, False]]]
    """
    table = np.asarray(margins)
    if table.dtype.kind not in "iuf":
        raise DataError(f"margins hold values of type {table.dtype}; give numbers")
    runs = runs_of(table.shape, size, "margins")
    m = table.shape[-1]
    i, p = np.triu_indices(m, k=1)
    upper, lower = np.sign(table[..., i, p]), np.sign(table[..., p, i])
    if np.isnan(upper).any() or np.isnan(lower).any():
        raise DataError("a margin is NaN; check the computation that gave it")
    if np.any((upper > 0) != (lower < 0)) or np.any((upper < 0) != (lower > 0)):
        raise DataError("margins [i, p] and [p, i] of a pair do not have opposite signs; give an antisymmetric matrix")
    signs = np.broadcast_to(upper, (runs, len(i)))
    wins = signs > 0
    tied = signs == 0
    wins[tied] = rng.random(np.count_nonzero(tied)) < 0.5
    before = np.zeros((runs, m, m), dtype=bool)
    before[:, i, p] = wins
    before[:, p, i] = ~wins
    return before


def runs_of(shape: tuple[int, ...], size: int | None, what: str) -> int:
    """Return the number of runs that one matrix and a size, or many matrices, stand for."""
    if len(shape) not in (2, 3) or shape[-1] != shape[-2] or shape[-1] == 0:
        raise ParameterError(f"{what} has shape {shape}; give (m, m) with a size, or (B, m, m)")
    if len(shape) == 2:
        if size is None:
            raise ParameterError(f"{what} is one matrix and size is not given; say how many runs to draw")
        return as_positive_int(size, "size", least=0)
    if size is not None and size != shape[0]:
        raise ParameterError(f"size is {size} but {what} holds {shape[0]} matrices; leave size out")
    return shape[0]


def _check_pairs(before: BoolArray, first: int) -> None:
    m = before.shape[-1]
    i, p = np.triu_indices(m, k=1)
    wrong = before[:, i, p] == before[:, p, i]
    if wrong.any():
        run, pair = np.argwhere(wrong)[0]
        raise DataError(
            f"before, matrix {first + run}: entries [{i[pair]}, {p[pair]}] and [{p[pair]}, {i[pair]}] are equal; "
            "exactly one of them must be True"
        )


def _places(before: BoolArray, rng: np.random.Generator) -> IntArray:
    return _sort(before, rng, None)[0]


def _sort(before: BoolArray, rng: np.random.Generator, blocks: BoolArray | None) -> tuple[IntArray, IntArray]:
    """Places of the items, and the first place of the part that each split as the pivot.

    Column p of `blocks`, where given, is set to the items that pivot p was compared with.
    """
    runs, m = before.shape[:2]
    priority = rng.permuted(np.tile(np.arange(m), (runs, 1)), axis=1)
    start = np.zeros((runs, m), dtype=np.int64)
    first = np.zeros((runs, m), dtype=np.int64)
    run = np.arange(runs)
    for turn in range(m):
        pivot = priority[:, turn]
        base = start[run, pivot]
        block = start == base[:, None]
        block[run, pivot] = False
        to_left = before[run, :, pivot]
        place = base + np.count_nonzero(block & to_left, axis=1)
        start = np.where(block & ~to_left, place[:, None] + 1, start)
        start[run, pivot] = place
        first[run, pivot] = base
        if blocks is not None:
            blocks[run, :, pivot] = block
    return start, first
