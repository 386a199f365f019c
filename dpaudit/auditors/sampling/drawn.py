"""Outputs that were drawn already, on each of two inputs, in one form."""

from __future__ import annotations

from numbers import Number
from pathlib import PurePath
from typing import Any

import numpy as np

from dpaudit.auditors.outputs.checked_outputs import as_array, is_masked, missing_in
from dpaudit.auditors.outputs.foreign import listed
from dpaudit.auditors.outputs.forms import as_objects
from dpaudit.claims.inputs import short_repr
from dpaudit.errors import DataError
from dpaudit.sources.structures import StructureTable, in_one_form
from dpaudit.sources.tables import ArrayTable, Table, form_of, in_order, shared_type

_NUMBERS = "biuf"

_LOOKED_AT, _DEEPEST = 100, 8
"""Outputs of either side in which times are searched, and the levels of structures."""


def tables_of(a: Any, b: Any, names: tuple[str, str]) -> tuple[Table, Table]:
    """Return outputs of both sides as tables, with whole numbers in one form.

    Parameters
    ----------
    a, b
        Arrays, lists or frames with an output a row, or tables.
    names
        What messages call the two.

    Raises
    ------
    DataError
        One is none of these, is masked, has no values, or has a NaN.
    """
    first, second = (
        each if _is_table(each) else _outputs(each, name) for each, name in zip((a, b), names, strict=True)
    )
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        arrays = isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
        first, second = _with_others(*_as_whole_numbers(first, second, listed=not arrays))
    one, other = (
        ArrayTable(each, name) if isinstance(each, np.ndarray) else each
        for each, name in zip((first, second), names, strict=True)
    )
    return in_one_form(one, other)


def type_of_both(tables: tuple[Table, Table]) -> np.dtype[Any]:
    """Return the type of array that holds the outputs of both tables.

    Raises
    ------
    DataError
        They have other columns, values of other kinds, or times of units that have none in common.
    """
    one, other = (set(table.columns) for table in tables)
    if one and other and one != other:
        # A note of a file says that its first line was taken for a header.
        noted = "".join(f" ({note})" for table in tables for note in getattr(table, "notes", ()))
        raise DataError(
            f"{tables[0].name} has the columns {', '.join(tables[0].columns)}, and "
            f"{tables[1].name} has {', '.join(tables[1].columns)}; give the same columns{noted}"
        )
    first, second = (next(iter(table.chunks())) for table in tables)
    second = in_order(second, first.dtype.names)
    if form_of(first) != form_of(second):
        forms = " and ".join(
            f"{table.name} has {_form(table, part)}" for table, part in zip(tables, (first, second), strict=True)
        )
        raise DataError(f"{forms}; give the same columns with the same types")
    _check_units_inside(tables, first, second)
    _check_precision(tables, first, second)
    try:
        return shared_type(first.dtype, second.dtype)
    except TypeError as error:
        raise DataError(
            f"{tables[0].name} and {tables[1].name} have times of types {error}, whose units have none in common; "
            "write both in one unit"
        ) from error


def in_type(chunk: np.ndarray, dtype: np.dtype[Any], name: str) -> np.ndarray:
    """Return outputs of a table in the type that both sides share, times as whole numbers of their unit.

    Parameters
    ----------
    chunk
        Outputs along axis 0.
    dtype
        The type, as `type_of_both` returns it.
    name
        What messages call the table.

    Raises
    ------
    DataError
        There is a NaN, or the type does not hold the values as they are.
    """
    for part in [chunk[column] for column in chunk.dtype.names] if chunk.dtype.names else [chunk]:
        if part.dtype.kind in "fc" and np.isnan(part).any():
            raise DataError(f"{name} has NaN among its outputs; write a value that can be compared")
    ordered = in_order(chunk, dtype.names)
    given = ordered.astype(dtype, copy=False)
    for column in dtype.names or (None,):
        before, after = (ordered, given) if column is None else (ordered[column], given[column])
        where = name if column is None else f"{name}, column {column}"
        if not _are_times_kept(before, after):
            raise DataError(
                f"{where}: has times of type {before.dtype} that are too far away for {after.dtype}, which suits the "
                "unit of the other side; write both in one unit"
            )
        if not _are_numbers_kept(before, after):
            raise DataError(
                f"{where}: has whole numbers above 2^53 that would be rounded, because the other side has "
                "numbers of another type there; write both as whole numbers of one type"
            )
    return given.view(np.int64) if given.dtype.kind in "mM" else given


def _check_precision(tables: tuple[Table, Table], first: np.ndarray, second: np.ndarray) -> None:
    """Check that numbers of both sides are rounded alike: 0.1 of 32 bits is another number than 0.1 of 64 bits."""
    for column in first.dtype.names or (None,):
        parts = [chunk if column is None else chunk[column] for chunk in (first, second)]
        if not all(part.dtype.kind == "f" for part in parts) or parts[0].dtype == parts[1].dtype:
            continue
        narrow, wide = sorted((0, 1), key=lambda side: parts[side].dtype.itemsize)
        with np.errstate(over="ignore"):
            rounded = parts[wide].astype(parts[narrow].dtype).astype(parts[wide].dtype)
        if (rounded != parts[wide]).any():
            where = "" if column is None else f", column {column}"
            raise DataError(
                f"{tables[wide].name}{where}: has numbers of type {parts[wide].dtype}, which {parts[narrow].dtype}, "
                f"the type of {tables[narrow].name}, rounds to others; write both in one type"
            )


def _check_units_inside(tables: tuple[Table, Table], *chunks: np.ndarray) -> None:
    """Check that times inside of structures, which stay in their units, do not have others on each side."""
    units = [_units_inside(chunk[:_LOOKED_AT]) for chunk in chunks]
    if all(units) and units[0].isdisjoint(units[1]):
        held = " and ".join(
            f"{table.name} holds times of type {', '.join(sorted(each))}"
            for table, each in zip(tables, units, strict=True)
        )
        raise DataError(f"{held}, which are not compared; write both in one unit")


def _units_inside(outputs: np.ndarray) -> set[str]:
    """Types of numpy's times inside of outputs, each with its unit."""
    found, level = set(), outputs.tolist() if outputs.dtype.kind == "O" else []
    for _ in range(_DEEPEST):
        times = [part for part in level if isinstance(part, np.generic | np.ndarray) and part.dtype.kind in "mM"]
        found |= {str(part.dtype) for part in times}
        level = [
            inner
            for part in level
            if isinstance(part, list | tuple | dict)
            for inner in (part.values() if isinstance(part, dict) else part)
        ]
    return found


def _is_table(given: Any) -> bool:
    return hasattr(given, "chunks") and hasattr(given, "rows")


def _outputs(given: Any, name: str) -> np.ndarray:
    """Return outputs that are no table as an array."""
    if isinstance(given, str | PurePath):
        raise DataError(
            f"{name} is {short_repr(str(given))}, and no outputs; read the file, with numpy.loadtxt or pandas.read_csv "
            "for instance, or give both paths to `dpaudit bound` or `assert_private`"
        )
    raw: Any = given
    if not isinstance(given, np.ndarray):  # Records of numpy keep their types: both sides get one type of column later.
        raw = list(given) if hasattr(type(given), "__next__") else listed(given, -1)
    if is_masked(raw):
        raise DataError(f"{name} is a masked array, whose mask would go unseen; fill it")
    outputs = as_array(raw, len(raw) if isinstance(raw, list | tuple) else -1)
    if outputs is None or outputs.ndim == 0:
        raise DataError(f"{name} is {type(given).__name__}; give an array, a list or a frame with an output a row")
    if outputs.size == 0 and len(outputs):
        raise DataError(f"{name} has rows without any values; give at least one number in each")
    if missing := missing_in(outputs):
        raise DataError(f"{name} has {missing} among its outputs; write a value that can be compared")
    return _as_times(outputs)


def _as_times(outputs: np.ndarray) -> np.ndarray:
    """Return single times or durations of numpy in a list as the array that they would be."""
    if outputs.dtype.kind != "O" or outputs.ndim > 1:
        return outputs
    items = outputs.tolist()
    if set(map(type, items)) not in ({np.datetime64}, {np.timedelta64}) or len({item.dtype for item in items}) > 1:
        return outputs
    times = np.array(items)
    return outputs if np.isnat(times).any() else times


def _as_whole_numbers(first: np.ndarray, second: np.ndarray, *, listed: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return both sides as Python's whole numbers, where one of them is a list of numbers too large for an array."""
    kinds = first.dtype.kind + second.dtype.kind
    if listed and kinds in ("iu", "ui") and np.promote_types(first.dtype, second.dtype).kind == "f":
        return as_objects(first), as_objects(second)
    if kinds in ("Oi", "Ou", "iO", "uO"):
        large, small = (first, second) if kinds[0] == "O" else (second, first)
        if _shape_of_whole_numbers(large) == small.shape[1:]:
            return as_objects(first), as_objects(second)
    return first, second


def _with_others(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both sides with numbers as objects, where one side alone has other values among them, such as None."""
    names = first.dtype.names
    if not names:
        if _are_mixed(first) and _are_numbers(second):
            return first, as_objects(second)
        return (as_objects(first), second) if _are_mixed(second) and _are_numbers(first) else (first, second)
    if names != second.dtype.names:
        return first, second
    for name in names:
        one, other = _with_others(first[name], second[name])
        first, second = _with_column(first, name, one), _with_column(second, name, other)
    return first, second


def _are_mixed(outputs: np.ndarray) -> bool:
    """Whether outputs are single values of several kinds, numbers among them."""
    if outputs.dtype.kind != "O" or outputs.ndim > 1:
        return False
    kinds = set(map(type, outputs.tolist()))
    return len(kinds) > 1 and any(issubclass(kind, Number) for kind in kinds)


def _are_numbers(outputs: np.ndarray) -> bool:
    return outputs.dtype.kind in _NUMBERS and outputs.ndim == 1


def _with_column(records: np.ndarray, name: str, column: np.ndarray) -> np.ndarray:
    """Records with another column in place of that of a name."""
    if records.dtype[name] == column.dtype:
        return records
    types = [(each, column.dtype if each == name else records.dtype[each]) for each in records.dtype.names or ()]
    return records.astype(types)


def _shape_of_whole_numbers(outputs: np.ndarray) -> tuple[int, ...] | None:
    """Shape of every output, where all are Python's whole numbers, or nested lists of them; None of others."""
    try:
        cells = np.array(outputs.tolist(), dtype=object)
    except ValueError:
        return None
    return cells.shape[1:] if set(map(type, cells.ravel().tolist())) == {int} else None


def _are_times_kept(before: np.ndarray, after: np.ndarray) -> bool:
    """Whether times are the same in another unit, which comes out as other ones where it does not reach so far."""
    if before.dtype.kind not in "mM" or before.dtype == after.dtype:
        return True
    same = after.astype(before.dtype) == before
    return bool((same | (np.isnat(before) & np.isnat(after))).all())


def _are_numbers_kept(before: np.ndarray, after: np.ndarray) -> bool:
    """Whether whole numbers are the same in floating point, as far as it is known to hold such numbers."""
    if before.dtype.kind not in "iu" or after.dtype.kind != "f" or before.dtype.itemsize <= 4:
        return True
    with np.errstate(invalid="ignore"):
        kept = (after.astype(before.dtype) == before) & (np.abs(after) < 2.0**63)
    return bool((kept | (np.abs(after) <= 2.0**53)).all())


def _form(table: Table, outputs: np.ndarray) -> str:
    """What outputs are, in words."""
    form = form_of(outputs)
    kinds = sorted({type(each).__name__ for each in outputs.tolist()}) if outputs.dtype.kind == "O" else ["str"]
    if isinstance(table, StructureTable):
        return "structures"
    if kinds != ["str"] and outputs.ndim == 1:
        return f"values of type {', '.join(kinds)}"
    if form and isinstance(form[0], tuple):
        return "the columns " + ", ".join(f"{name} ({kind}s)" for name, kind in form)
    kind, shape = form
    return f"{kind}s" + (f" in rows of shape {shape}" if shape else "")
