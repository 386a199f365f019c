"""Exact laws of KwikSort: the law of the output ranking and the expected Kendall cost."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import factorial, log, perm

import numpy as np
import numpy.typing as npt

from dpaudit.errors import ParameterError
from dpaudit.rankings.orders import CHUNK_CELLS, FloatArray, IntArray
from dpaudit.rankings.pairwise import check_counts
from dpaudit.rankings.subsets import level_sets, subset_bits

MAX_LAW = 8
MAX_COST = 14
_TOLERANCE = 1e-9

_Operation = Callable[[FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True, slots=True)
class _Level:
    """The lexicographic arrangements of `length` items out of m; `head` and `tail` index shorter arrangements."""

    length: int
    rows: IntArray
    head: tuple[IntArray, ...]
    tail: tuple[IntArray, ...]


@lru_cache(maxsize=MAX_LAW)
def _levels(m: int) -> tuple[_Level, ...]:
    return tuple(_level(m, length) for length in range(1, m + 1))


def _level(m: int, length: int) -> _Level:
    rows = np.array(list(permutations(range(m), length)), dtype=np.int64)
    head = tuple(np.arange(len(rows)) // perm(m - k, length - k) for k in range(length + 1))
    tail = tuple(_arrangement_index(rows[:, length - k :], m) for k in range(length + 1))
    return _Level(length, rows, head, tail)


def _arrangement_index(rows: IntArray, m: int) -> IntArray:
    length = rows.shape[1]
    index = np.zeros(len(rows), dtype=np.int64)
    for place in range(length):
        digit = rows[:, place] - np.count_nonzero(rows[:, :place] < rows[:, place, None], axis=1)
        index += digit * perm(m - 1 - place, length - 1 - place)
    return index


def kwiksort_law(before_probability: npt.ArrayLike) -> FloatArray:
    """Exact law of the ranking that KwikSort returns when it compares each pair independently at random.

    Parameters
    ----------
    before_probability : array_like of float, shape (..., m, m), m <= 8
        Entry [i, p] is the probability that item i is placed before pivot p; [i, p] and [p, i] add up to 1. The
        diagonal is not read.

    Returns
    -------
    ndarray of float64, shape (..., m!)
        Probabilities in the order of `all_rankings(m)`; every step adds and multiplies non-negative numbers, so each
        has full relative accuracy unless it underflows.

    Raises
    ------
    ParameterError
        When the shape does not fit, m > 8 or the entries are not such probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from dpaudit.rankings import kwiksort_law
    >>> kwiksort_law(np.full((3, 3), 0.5)).round(4)
    array([0.1667, 0.1667, 0.1667, 0.1667, 0.1667, 0.1667])
    """
    table = _square(before_probability, "before_probability")
    check_pair_probabilities(table, table)
    return _law(table, np.multiply, np.add, lambda values, size: values / size, 1.0)


def kwiksort_log_law(log_before: npt.ArrayLike) -> FloatArray:
    """Logarithm of `kwiksort_law`, from log-probabilities; accurate where probabilities underflow.

    Parameters
    ----------
    log_before : array_like of float, shape (..., m, m), m <= 8
        Entry [i, p] is the log-probability that item i is placed before pivot p; -inf is allowed.

    Returns
    -------
    ndarray of float64, shape (..., m!)
        Log-probabilities in the order of `all_rankings(m)`.

    Raises
    ------
    ParameterError
        When the shape does not fit, m > 8 or the entries are not such log-probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from dpaudit.rankings import kwiksort_log_law
    >>> np.exp(kwiksort_log_law(np.log(np.full((3, 3), 0.5)))).round(4)
    array([0.1667, 0.1667, 0.1667, 0.1667, 0.1667, 0.1667])
    """
    table = _square(log_before, "log_before")
    off_diagonal = np.where(np.eye(table.shape[-1], dtype=bool), 0.0, table)
    with np.errstate(over="ignore"):
        check_pair_probabilities(np.exp(off_diagonal), off_diagonal)
    return _law(table, np.add, np.logaddexp, lambda values, size: values - log(size), 0.0)


def _square(values: npt.ArrayLike, what: str) -> FloatArray:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim < 2 or table.shape[-1] != table.shape[-2] or table.shape[-1] == 0:
        raise ParameterError(f"{what} has shape {table.shape}; give (..., m, m)")
    if table.shape[-1] > MAX_LAW:
        raise ParameterError(f"m is {table.shape[-1]}; the exact law over m! rankings is computed up to m = {MAX_LAW}")
    return table


def check_pair_probabilities(table: FloatArray, shown: FloatArray) -> None:
    """Refuse tables (..., m, m) in which the two probabilities of a pair are not in [0, 1] or do not add up to 1."""
    i, p = np.triu_indices(table.shape[-1], k=1)
    upper, lower = table[..., i, p], table[..., p, i]
    good = (upper >= 0) & (lower >= 0) & (np.abs(upper + lower - 1) <= _TOLERANCE)
    if not good.all():
        *lead, pair = np.argwhere(~good)[0]
        where = f"[{i[pair]}, {p[pair]}]"
        values = shown[(*lead, i[pair], p[pair])], shown[(*lead, p[pair], i[pair])]
        raise ParameterError(
            f"the entry {where} and its mirror image are {values[0]} and {values[1]}; "
            "the two probabilities of a pair must be at least 0 and add up to 1"
        )


def _law(
    table: FloatArray, times: _Operation, plus: _Operation, share: Callable[[FloatArray, int], FloatArray], one: float
) -> FloatArray:
    m = table.shape[-1]
    entries = table.reshape(-1, m * m)
    law = np.empty((len(entries), factorial(m)))
    step = max(1, CHUNK_CELLS // factorial(m))
    for start in range(0, len(entries), step):
        columns = np.ascontiguousarray(entries[start : start + step].T)
        law[start : start + step] = _law_columns(columns, m, times, plus, share, one).T
    return law.reshape(*table.shape[:-2], factorial(m))


def _law_columns(
    columns: FloatArray,
    m: int,
    times: _Operation,
    plus: _Operation,
    share: Callable[[FloatArray, int], FloatArray],
    one: float,
) -> FloatArray:
    """Run the recursion on arrangements: KwikSort's sublists are the contiguous pieces of its output.

    For an arrangement r of some items, law(r) is the average over the places of the pivot of
    up_to(r[:place+1]) * from_(r[place:]), where up_to and from_ carry the comparisons of the pivot, last in the one
    and first in the other, and the laws of the two sublists.
    """
    batch = columns.shape[1]
    law = [np.full((1, batch), one)]
    pivot_last: list[FloatArray] = [law[0]]
    pivot_first: list[FloatArray] = [law[0]]
    up_to: list[FloatArray] = [law[0]]
    from_: list[FloatArray] = [law[0]]
    for level in _levels(m):
        k, rows = level.length, level.rows
        if k == 1:
            last = first = np.full((m, batch), one)
        else:
            end_pair = columns[rows[:, 0] * m + rows[:, -1]]
            last = times(end_pair, pivot_last[k - 1][level.tail[k - 1]])
            first = times(end_pair, pivot_first[k - 1][level.head[k - 1]])
        pivot_last.append(last)
        pivot_first.append(first)
        up_to.append(times(last, law[k - 1][level.head[k - 1]]))
        from_.append(times(first, law[k - 1][level.tail[k - 1]]))
        total = times(up_to[1][level.head[1]], from_[k])
        for place in range(1, k):
            total = plus(total, times(up_to[place + 1][level.head[place + 1]], from_[k - place][level.tail[k - place]]))
        law.append(share(total, k))
    return law[m]


def kwiksort_expected_cost(counts: npt.ArrayLike, before_probability: npt.ArrayLike | None = None) -> float:
    """Exact expected Kendall cost of KwikSort with independent comparisons.

    Parameters
    ----------
    counts : array_like of int, shape (m, m), m <= 14
        Pairwise counts of the profile.
    before_probability : array_like of float, shape (m, m), optional
        Entry [i, p] is the probability that item i is placed before pivot p, as for `kwiksort_law`; majority
        comparisons with fair coins on ties when left out.

    Returns
    -------
    float
        Expected total number of disagreements with the agents. Recursion over the subsets of alternatives: a pivot
        pays for its own pairs and for the pairs that it separates; O(m^2 2^m) time and memory.

    Raises
    ------
    DataError
        When `counts` is not a square matrix of non-negative integers.
    ParameterError
        When m > 14, or `before_probability` is no such table.

    Examples
    --------
    >>> from dpaudit.rankings import kwiksort_expected_cost, pairwise_counts
    >>> kwiksort_expected_cost(pairwise_counts([[0, 1, 2], [0, 1, 2], [2, 1, 0]]))
    3.0
    """
    table = check_counts(counts)
    m = len(table)
    if m > MAX_COST:
        raise ParameterError(f"m is {m}; the expected cost is computed over 2^m subsets up to m = {MAX_COST}")
    if before_probability is None:
        left = (1 + np.sign(table - table.T)) / 2
    else:
        left = np.asarray(before_probability, dtype=np.float64)
        if left.shape != table.shape:
            raise ParameterError(f"before_probability has shape {left.shape}; give {table.shape}, as the counts have")
        check_pair_probabilities(left, left)
    bits = subset_bits(m)
    paid = np.stack([_pivot_cost(p, left[:, p], table, bits) for p in range(m)])
    stages = np.zeros((m, 2, m + 1, 1 << m))
    cost = np.zeros(1 << m)
    for size, subsets in enumerate(level_sets(m)):
        for p in range(m):
            if size:
                holders = subsets[bits[subsets, p]]
                rest = holders ^ (1 << p)
                cost[holders] += (paid[p, rest] + stages[p, 0, m, rest] + stages[p, 1, m, rest]) / size
        for p in range(m):
            others = subsets[~bits[subsets, p]]
            _split(stages[p, 0], cost, others, left[:, p], bits)
            _split(stages[p, 1], cost, others, 1 - left[:, p], bits)
    return float(cost[-1])


def _pivot_cost(p: int, left: FloatArray, counts: IntArray, bits: npt.NDArray[np.bool_]) -> FloatArray:
    """Charge pivot p, beside every subset, for its own pairs and for the pairs that it separates (expected cost)."""
    own = left * counts[p] + (1 - left) * counts[:, p]
    separated = np.outer(left, 1 - left) * counts.T
    chosen = bits.astype(np.float64)
    return np.asarray(chosen @ own + ((chosen @ separated) * chosen).sum(axis=1), dtype=np.float64)


def _split(
    stages: FloatArray, cost: FloatArray, subsets: IntArray, kept: FloatArray, bits: npt.NDArray[np.bool_]
) -> None:
    """Average the cost over the random part of each subset that keeps item t with probability kept[t], stage by t."""
    stages[0, subsets] = cost[subsets]
    for t, probability in enumerate(kept):
        value = stages[t, subsets].copy()
        holds = bits[subsets, t]
        holders = subsets[holds]
        value[holds] = probability * value[holds] + (1 - probability) * stages[t, holders ^ (1 << t)]
        stages[t + 1, subsets] = value
