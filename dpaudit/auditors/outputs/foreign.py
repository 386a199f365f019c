"""Values of other types as plain Python values: those of libraries, none of which is imported, and of Python's own."""

from __future__ import annotations

import math
from array import array
from collections import deque
from functools import cache
from ipaddress import IPv4Address, IPv6Address
from itertools import chain, pairwise
from pathlib import PurePath
from types import MappingProxyType, SimpleNamespace
from typing import Any
from uuid import UUID

import numpy as np

from dpaudit.errors import CheckError

MOST_DENSE = 4096
"""Entries of a sparse matrix, at most, that are written out; of larger ones, those that are not 0 are kept alone."""

_MOST_WHOLE = 2**53
"""Whole numbers up to this are all numbers of double precision."""

_BYTES = frozenset({"B", "c"})
"""Formats of a view of memory that is of bytes and not of numbers."""


_PLAIN = frozenset({bool, int, float, str, type(None)})
"""Types of values that a column of a frame holds as they are."""

_OF_PANDAS = (("ordinal", "freqstr"), ("left", "right", "closed"))
"""Attributes that say all of a period, and of an interval."""

_HOLDING_ONE = bytearray | UUID | IPv4Address | IPv6Address | PurePath | SimpleNamespace
"""Types of Python's own that hold one plain value, or named ones."""


@cache
def is_foreign(kind: type) -> bool:
    """Whether values of a type are made plain: frames, series, sparse matrices, sequences, and what holds one value."""
    if issubclass(kind, np.ndarray | np.generic):
        return issubclass(kind, np.void | np.ma.MaskedArray)
    return (
        issubclass(kind, range | slice | deque | array | memoryview | MappingProxyType | _HOLDING_ONE)
        or _attributes(kind) is not None
        or is_frame(kind)
        or is_series(kind)
        or is_sparse(kind)
        or is_array(kind)
    )


def _attributes(kind: type) -> tuple[str, ...] | None:
    """Names of what a period or an interval of pandas is made of; None of other types."""
    if str(kind.__module__).split(".")[0] != "pandas":
        return None
    return next((names for names in _OF_PANDAS if all(hasattr(kind, name) for name in names)), None)


def is_frame(kind: type) -> bool:
    """Whether a type is a table with named columns, as of pandas, polars or pyarrow."""
    named = all(hasattr(kind, name) for name in ("columns", "shape", "__getitem__"))
    return named and (hasattr(kind, "to_numpy") or hasattr(kind, "column_names"))


def is_series(kind: type) -> bool:
    """Whether a type is a column of a table, as of pandas, polars or pyarrow."""
    return all(hasattr(kind, name) for name in ("to_numpy", "__getitem__", "__len__")) and not is_frame(kind)


def is_sparse(kind: type) -> bool:
    """Whether a type is a sparse matrix or array of scipy."""
    return all(hasattr(kind, name) for name in ("tocsr", "toarray", "nnz"))


def is_array(kind: type) -> bool:
    """Whether a type is an array of another library."""
    return hasattr(kind, "__array__") and hasattr(kind, "shape")


def plain(item: Any) -> Any:
    """Return what a value of another library holds: rows as lists, named parts as dicts."""
    kind = type(item)
    if isinstance(item, np.ma.MaskedArray):
        return item.tolist()  # with None for what is masked
    if isinstance(item, np.void):
        # A row of a record array, or bytes.
        names = item.dtype.names
        return item.tobytes() if names is None else {name: _of_numpy(item[name]) for name in names}
    if is_sparse(kind):
        return _sparse_row(item)
    if is_frame(kind):
        read, labels = _columns_of(item), _labels(item)
        if labels is None:
            return read
        if not read or not item.index.is_unique:
            return {"index": labels, "values": read}
        if isinstance(read, list):
            return dict(zip(labels, read, strict=True))
        return {name: dict(zip(labels, values, strict=True)) for name, values in read.items()}
    if is_series(kind):
        values = _values_of(item).tolist()
        labels = _labels(item)
        if labels is None:
            return values
        return dict(zip(labels, values, strict=True)) if item.index.is_unique else {"index": labels, "values": values}
    if is_array(kind):
        return np.asarray(item).tolist()
    if isinstance(item, IPv6Address) and item.scope_id is not None:
        return [int(item), item.scope_id]
    if isinstance(item, UUID | IPv4Address | IPv6Address):
        return int(item)
    if isinstance(item, PurePath):
        return str(item)
    if isinstance(item, SimpleNamespace):
        return vars(item)
    if isinstance(item, bytearray):
        return bytes(item)
    if isinstance(item, MappingProxyType):
        return dict(item)
    if kind is memoryview:
        # A view itself lists only numbers that are in the byte order of the machine.
        try:
            return item.tobytes() if item.format in _BYTES else np.asarray(item).tolist()
        except ValueError as error:
            words = f"an output holds a view of memory that cannot be read ({error}); return what it holds"
            raise CheckError(words) from error
    if (attributes := _attributes(kind)) is not None:
        return {name: getattr(item, name) for name in attributes}
    if kind is range or kind is slice:
        # Of as many numbers as its ends are apart, however long that is.
        return {"start": item.start, "stop": item.stop, "step": item.step}
    return list(item)


def _of_numpy(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) and not isinstance(value, np.void) else value


def _columns_of(frame: Any) -> dict[Any, list[Any]] | list[Any]:
    """Values of a frame by the names of its columns.

    Of columns with one name, only the position tells which is which.
    """
    if hasattr(frame, "iloc") and (read := _plain_columns(frame)) is not None:
        return read
    names = _names_of(frame)
    if len(set(names)) < len(names):
        rows: list[Any] = np.asarray(frame).tolist()
        return rows
    return {name: _values_of(frame[name]).tolist() for name in names}


def _names_of(frame: Any) -> list[Any]:
    return list(frame.column_names if hasattr(type(frame), "column_names") else frame.columns)


def _plain_columns(frame: Any) -> dict[Any, list[Any]] | None:
    """Values of a frame of pandas by the names of its columns, read all at once, which takes a third of the time.

    None where that might not be what the columns hold one by one, such as times, or where their names are not distinct.
    """
    names = frame.columns.tolist()
    values = frame.to_numpy(dtype=object).T.tolist()
    if len(set(names)) < len(names) or not set(map(type, chain.from_iterable(values))) <= _PLAIN:
        return None
    return dict(zip(names, values, strict=True))


def _labels(item: Any) -> list[Any] | None:
    """Labels of a series or a frame, where they are more than positions."""
    index = getattr(item, "index", None)
    if index is None or not hasattr(index, "is_unique"):
        return None
    if (getattr(index, "start", None), getattr(index, "step", None)) == (0, 1):
        # Nearly all frames count their rows, and writing out the numbers takes as long as reading a column.
        return None
    labels = index.tolist()
    return None if labels == list(range(len(labels))) else labels


def _sparse_row(item: Any) -> Any:
    if math.prod(item.shape) <= MOST_DENSE:
        dense = item.toarray()
        return (dense[0] if dense.ndim == 2 and dense.shape[0] == 1 else dense).tolist()
    entries = item.tocoo()
    entries.sum_duplicates()
    at = zip(*(axis.tolist() for axis in _axes(entries)), strict=True)
    found = {
        (place[-1] if item.shape[0] == 1 else place): v for place, v in zip(at, entries.data.tolist(), strict=True)
    }
    return {place: value for place, value in found.items() if value != 0}


def _sparse_rows(matrix: Any) -> list[dict[int, Any]]:
    """Entries of every row by their columns."""
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    ends, columns, values = (part.tolist() for part in (matrix.indptr, matrix.indices, matrix.data))
    return [dict(zip(columns[a:b], values[a:b], strict=True)) for a, b in pairwise(ends)]


def _axes(entries: Any) -> tuple[np.ndarray, ...]:
    coords: tuple[np.ndarray, ...] = entries.coords if hasattr(entries, "coords") else (entries.row, entries.col)
    return coords


def listed(raw: Any, size: int) -> Any:
    """Return what a call of a sampler gave as an array or a list whose items are the outputs."""
    kind = type(raw)
    if isinstance(raw, np.ndarray) and raw.dtype.names and not isinstance(raw, np.ma.MaskedArray):
        # Of several records in an output, only the position tells which is which.
        return _records({name: raw[name] for name in raw.dtype.names}, len(raw)) if raw.ndim == 1 else raw.tolist()
    if isinstance(raw, np.ndarray | list | tuple):
        return raw
    if is_sparse(kind):
        if len(raw.shape) == 2 and raw.shape[1] <= MOST_DENSE:
            return raw.toarray()
        return _sparse_rows(raw.tocsr(copy=True)) if len(raw.shape) == 2 else raw.toarray()
    if is_frame(kind):
        return _frame(raw)
    if is_series(kind):
        return _values_of(raw)
    if is_array(kind):
        return np.asarray(raw)
    if hasattr(kind, "__next__"):
        # One more than asked for is enough to see that they are too many, even if they never end.
        return [item for item, _ in zip(raw, range(size + 1), strict=False)]
    return list(raw) if isinstance(raw, range | deque | array) else raw


def _values_of(series: Any) -> np.ndarray:
    """Values of a column; as Python's own where numpy has no type for them, or takes one for another.

    What is missing is None, unless the column is numpy's. With it, an array of numpy would hold the whole numbers as
    floating-point ones, and what is missing as one that is no number.
    """
    listed = next((way for way in ("to_list", "to_pylist") if hasattr(series, way)), None)
    if listed is None or isinstance(getattr(series, "dtype", None), np.dtype):
        return np.asarray(series.to_numpy())
    try:
        values = np.asarray(series.to_numpy())
    except Exception:
        # Integers of 128 bits, and Arrow's own arrays with nulls.
        return _objects(getattr(series, listed)())
    if values.ndim == 1 and values.dtype.kind == "f":
        missing = _missing(series)
        if not missing.any():
            return values
        held = _objects(getattr(series, listed)())
        held[missing] = None
        return held
    if values.dtype.kind == "O" and values.ndim == 1 and any(isinstance(each, np.ndarray) for each in values):
        return _objects(getattr(series, listed)())
    return values


def _missing(series: Any) -> np.ndarray:
    """Which values of a column are missing, where its library tells them from what is no number."""
    for way in ("is_null", "isna"):
        if hasattr(series, way):
            return np.asarray(getattr(series, way)(), dtype=bool)
    return np.zeros(len(series), dtype=bool)


def _column(series: Any) -> np.ndarray:
    """Values of a column; those of several parts as Python's own."""
    values = _values_of(series)
    return values if values.ndim == 1 else _objects(series.to_list())


def _frame(raw: Any) -> Any:
    """A row of a frame is an output, a record with the names of the columns; numbers and times keep their types."""
    names = [str(name) for name in _names_of(raw)]
    if len(set(names)) < len(names) or not all(names) or not names:
        # numpy calls a field without a name otherwise.
        return np.asarray(raw)
    return _records(dict(zip(names, (_column(raw[name]) for name in _names_of(raw)), strict=True)), len(raw))


def _records(columns: dict[str, np.ndarray], size: int) -> np.ndarray:
    """Columns as records, in which an output is the same whatever other outputs the columns hold."""
    parts = {name: _by_value(part) if part.ndim == 1 else part for name, part in columns.items()}
    fields = [
        (name, part.dtype if part.dtype.kind in "biufmM" or part.ndim > 1 else object, part.shape[1:])
        for name, part in parts.items()
    ]
    records = np.empty(size, dtype=fields)
    for name, part in parts.items():
        records[name] = part
    return records


def _by_value(column: np.ndarray) -> np.ndarray:
    """Values of a column, each in the type that it alone would have.

    One missing value or fraction makes floating-point numbers of all whole numbers in a column, and a time of finer
    unit makes others of all times. So a floating-point number that is whole becomes a whole number, a complex one
    without imaginary part a real one, and times are counted in nanoseconds where these reach so far.
    """
    kind = column.dtype.kind
    if kind in "mM":
        return _in_nanoseconds(column)
    if kind == "O":
        return _objects([_number_by_value(each) for each in column.tolist()])
    if kind == "c":
        real = column.imag == 0
        return _by_value(column.real) if real.all() else _by_value(column.astype(object)) if real.any() else column
    if kind != "f" or column.dtype.itemsize > np.dtype(float).itemsize:
        return column
    with np.errstate(invalid="ignore"):
        whole = (np.rint(column) == column) & (np.abs(column) <= _MOST_WHOLE)
    if not whole.any():
        return column
    if whole.all():
        return column.astype(np.int64)
    mixed = column.astype(object)
    mixed[whole] = column[whole].astype(np.int64)
    return mixed


def _number_by_value(value: Any) -> Any:
    """A floating-point or complex number in the type that `_by_value` gives it; anything else as it is."""
    if isinstance(value, complex | np.complexfloating) and value.imag == 0:
        value = float(value.real)
    if not isinstance(value, float) or not value.is_integer() or abs(value) > _MOST_WHOLE:
        return value
    return int(value)


def _objects(values: list[Any]) -> np.ndarray:
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def _in_nanoseconds(times: np.ndarray) -> np.ndarray:
    """Times and durations in nanoseconds; as they are where one of them is too far away."""
    made = times.astype(f"{times.dtype.kind}8[ns]")
    with np.errstate(all="ignore"):
        same = (made.astype(times.dtype) == times) | np.isnat(times)
    return made if same.all() else times
