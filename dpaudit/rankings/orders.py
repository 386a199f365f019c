"""Rankings as arrays: validation, inverse permutations, lexicographic indices and pairs of alternatives."""

from collections.abc import Iterator
from math import factorial

import numpy as np
import numpy.typing as npt

from dpaudit.errors import DataError, ParameterError

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

CHUNK_CELLS = 1 << 21
MAX_INDEXED = 20
MAX_ENUMERATED = 10


def row_chunks(rows: int, width: int) -> Iterator[slice]:
    """Cut an array into pieces of bounded memory.

    Parameters
    ----------
    rows : int
        Number of rows.
    width : int
        Cells of a row, or cells that the work on a row needs.

    Yields
    ------
    slice
        Rows of a piece, in order.

    Examples
    --------
    >>> from dpaudit.rankings import row_chunks
    >>> sum(part.stop - part.start for part in row_chunks(1_000_000, 100))
    1000000
    """
    step = max(1, CHUNK_CELLS // max(1, width))
    for start in range(0, rows, step):
        yield slice(start, min(rows, start + step))


def integer_array(values: npt.ArrayLike, what: str) -> npt.NDArray[np.integer]:
    """View `values` as an integer array; DataError when that loses information."""
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError) as error:
        raise DataError(f"{what}: the rows do not form a rectangular array; give rows of equal length") from error
    if array.dtype.kind not in "iu":
        raise DataError(f"{what}: values of type {array.dtype} found; give integers")
    return array


def as_positive_int(value: object, what: str, least: int = 1) -> int:
    """Return `value` as an int of at least `least`; ParameterError otherwise."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ParameterError(f"{what} is {value!r}; give an integer of at least {least}")
    return int(value)


def check_rankings(rankings: npt.ArrayLike) -> IntArray:
    """Validate rankings and return them as int64.

    Parameters
    ----------
    rankings : array_like of int, shape (..., m)
        Each row lists the alternatives 0..m-1, best first.

    Returns
    -------
    ndarray of int64, shape (..., m)

    Raises
    ------
    DataError
        When a row is not a permutation of 0..m-1.

    Examples
    --------
    >>> from dpaudit.rankings import check_rankings
    >>> check_rankings([2, 0, 1])
    array([2, 0, 1])
    >>> check_rankings([2, 2, 1])
    Traceback (most recent call last):
        ...
    dpaudit.errors.DataError: row 0: alternative 2 is repeated and alternative 0 is missing; list each of 0 to 2 once
    """
    array = integer_array(rankings, "rankings")
    if array.ndim == 0 or array.shape[-1] == 0:
        raise DataError(
            f"rankings of shape {array.shape} hold no alternative; give an array of shape (n, m) with m >= 1"
        )
    rows = array.reshape(-1, array.shape[-1])
    for piece in row_chunks(*rows.shape):
        check_rows(rows[piece], piece.start)
    return array.astype(np.int64, copy=False)


def check_rows(rows: npt.NDArray[np.integer], first: int = 0) -> IntArray:
    """Validate a chunk (c, m) of rankings whose first row has the number `first`; return it as int64."""
    m = rows.shape[1]
    wrong = (rows < 0) | (rows >= m)
    if wrong.any():
        row, place = np.argwhere(wrong)[0]
        raise DataError(
            f"row {first + row}: alternative {rows[row, place]} at place {place} is out of range; use 0 to {m - 1}"
        )
    chunk = rows.astype(np.int64, copy=False)
    seen = np.zeros(chunk.shape, dtype=bool)
    seen.reshape(-1)[chunk + m * np.arange(len(chunk))[:, None]] = True
    if not seen.all():
        row, missing = np.argwhere(~seen)[0]
        repeated = int(np.argmax(np.bincount(chunk[row], minlength=m) > 1))
        raise DataError(
            f"row {first + row}: alternative {repeated} is repeated and alternative {missing} is missing; "
            f"list each of 0 to {m - 1} once"
        )
    return chunk


def positions(rankings: npt.ArrayLike) -> IntArray:
    """Inverse permutations: the place of each alternative in each ranking.

    Parameters
    ----------
    rankings : array_like of int, shape (..., m)

    Returns
    -------
    ndarray of int64, shape (..., m)
        Entry j is the 0-based place of alternative j.

    Raises
    ------
    DataError
        When a row is not a permutation.

    Examples
    --------
    >>> from dpaudit.rankings import positions
    >>> positions([2, 0, 1])
    array([1, 2, 0])
    """
    return invert(check_rankings(rankings))


def invert(permutations: IntArray) -> IntArray:
    """Invert permutations of shape (..., m) that are known to be valid."""
    inverse = np.empty_like(permutations, order="C")
    places = np.broadcast_to(np.arange(permutations.shape[-1]), permutations.shape)
    np.put_along_axis(inverse, permutations, places, axis=-1)
    return inverse


def all_rankings(m: int) -> IntArray:
    """List all rankings of m alternatives in lexicographic order.

    Parameters
    ----------
    m : int
        Number of alternatives, 1 to 10.

    Returns
    -------
    ndarray of int64, shape (m!, m)

    Raises
    ------
    ParameterError
        When m is out of range.

    Examples
    --------
    >>> from dpaudit.rankings import all_rankings
    >>> all_rankings(3).tolist()
    [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    """
    m = as_positive_int(m, "the number of alternatives m")
    if m > MAX_ENUMERATED:
        raise ParameterError(f"m is {m}, which means {m}! rankings; enumerate at most m = {MAX_ENUMERATED}")
    return ranking_at(np.arange(factorial(m)), m)


def ranking_index(rankings: npt.ArrayLike) -> IntArray:
    """Lexicographic index of rankings among all m! (Lehmer code).

    Parameters
    ----------
    rankings : array_like of int, shape (..., m), m <= 20

    Returns
    -------
    ndarray of int64, shape (...)
        Index 0 is 0, 1, ..., m-1 and index m!-1 its reverse.

    Raises
    ------
    DataError
        When a row is not a permutation.
    ParameterError
        When m > 20, for which the index does not fit 64 bits.

    Examples
    --------
    >>> from dpaudit.rankings import ranking_index
    >>> int(ranking_index([2, 1, 0]))
    5
    """
    valid = check_rankings(rankings)
    m = valid.shape[-1]
    if m > MAX_INDEXED:
        raise ParameterError(f"m is {m}; the index of a ranking fits 64 bits up to m = {MAX_INDEXED} only")
    rows = valid.reshape(-1, m)
    index = np.empty(len(rows), dtype=np.int64)
    for piece in row_chunks(*rows.shape):
        index[piece] = lehmer_index(rows[piece])
    return index.reshape(valid.shape[:-1])


def lehmer_index(rows: IntArray) -> IntArray:
    """Lexicographic index of valid rankings (n, m), m <= 20."""
    m = rows.shape[1]
    index = np.zeros(len(rows), dtype=np.int64)
    for place in range(m - 1):
        smaller = np.count_nonzero(rows[:, place + 1 :] < rows[:, place, None], axis=1)
        index += smaller * factorial(m - 1 - place)
    return index


def ranking_at(index: npt.ArrayLike, m: int) -> IntArray:
    """Rankings at given lexicographic indices; the inverse of `ranking_index`.

    Parameters
    ----------
    index : array_like of int, shape (...)
        Values 0 to m! - 1.
    m : int
        Number of alternatives, 1 to 20.

    Returns
    -------
    ndarray of int64, shape (..., m)

    Raises
    ------
    ParameterError
        When m or an index is out of range.
    DataError
        When an index is not an integer.

    Examples
    --------
    >>> from dpaudit.rankings import ranking_at
    >>> ranking_at(5, 3)
    array([2, 1, 0])
    """
    m = as_positive_int(m, "the number of alternatives m")
    if m > MAX_INDEXED:
        raise ParameterError(f"m is {m}; the index of a ranking fits 64 bits up to m = {MAX_INDEXED} only")
    indices = integer_array(index, "index")
    if indices.size and (indices.min() < 0 or indices.max() >= factorial(m)):
        raise ParameterError(f"an index is outside 0 to {factorial(m) - 1}; with m = {m} there are {m}! rankings")
    rest = indices.astype(np.int64)
    rankings = np.empty((*rest.shape, m), dtype=np.int64)
    for place in range(m):
        rankings[..., place], rest = np.divmod(rest, factorial(m - 1 - place))
    for place in range(m - 2, -1, -1):
        later = rankings[..., place + 1 :]
        later += later >= rankings[..., place, None]
    return rankings


def alternative_pairs(m: int) -> IntArray:
    """List the pairs j < l of m alternatives in lexicographic order.

    Parameters
    ----------
    m : int
        Number of alternatives, at least 1.

    Returns
    -------
    ndarray of int64, shape (m (m-1) / 2, 2)

    Raises
    ------
    ParameterError
        When m is not a positive integer.

    Examples
    --------
    >>> from dpaudit.rankings import alternative_pairs
    >>> alternative_pairs(3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    first, second = np.triu_indices(as_positive_int(m, "the number of alternatives m"), k=1)
    return np.stack([first, second], axis=1).astype(np.int64)


def pair_index(j: npt.ArrayLike, l: npt.ArrayLike, m: int) -> IntArray:  # noqa: E741
    """Row of the pair (j, l) in `alternative_pairs(m)`.

    Parameters
    ----------
    j, l : array_like of int, broadcast against each other
        0 <= j < l < m.
    m : int
        Number of alternatives.

    Returns
    -------
    ndarray of int64

    Raises
    ------
    ParameterError
        When a pair is not 0 <= j < l < m.

    Examples
    --------
    >>> from dpaudit.rankings import alternative_pairs, pair_index
    >>> int(pair_index(1, 2, 4))
    3
    >>> alternative_pairs(4)[3]
    array([1, 2])
    """
    m = as_positive_int(m, "the number of alternatives m")
    low = integer_array(j, "j").astype(np.int64)
    high = integer_array(l, "l").astype(np.int64)
    if not np.all((low >= 0) & (low < high) & (high < m)):
        raise ParameterError(f"a pair (j, l) does not have 0 <= j < l < {m}; put the smaller alternative first")
    return np.asarray(low * (2 * m - low - 1) // 2 + (high - low - 1), dtype=np.int64)
