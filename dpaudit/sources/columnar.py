"""Outputs in Parquet and Arrow files, by pyarrow, which is an extra."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from dpaudit.errors import DataError, ParameterError
from dpaudit.reading import check_regular
from dpaudit.sources.numpy_files import as_records
from dpaudit.sources.tables import CHUNK
from dpaudit.sources.text import DIGITS, cell, is_rounded, refuse

_EXTRA: Final = "reading Parquet and Arrow files takes pyarrow; pip install 'dpaudit[arrow]'"


class ArrowTable:
    """Outputs of a Parquet file, or of an Arrow file or stream, read batch by batch.

    Parameters
    ----------
    path
        The file; one that ends in .parquet is Parquet.

    Raises
    ------
    DataError
        It cannot be read, or has columns of other types than numbers and texts.
    ParameterError
        pyarrow is not installed.
    """

    def __init__(self, path: Path) -> None:
        try:
            import pyarrow as pa  # noqa: F401
        except ImportError:
            raise ParameterError(f"{path}: {_EXTRA}") from None
        self._path = path
        try:
            check_regular(path)
        except OSError as error:
            refuse(path, f"cannot be read ({error.strerror or error})")
        self._rows = 0
        self._columns: tuple[str, ...] = ()
        for batch in self._batches(columns=False):
            self._rows += batch.num_rows

    @property
    def name(self) -> str:
        """What messages call it."""
        return str(self._path)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns; empty where they have none."""
        return self._columns

    @property
    def rows(self) -> int:
        """How many outputs there are."""
        return self._rows

    def chunks(self) -> Iterator[np.ndarray]:
        """Yield all outputs in order."""
        start = 0
        for batch in self._batches(columns=True):
            for offset in range(0, batch.num_rows, CHUNK):
                part = batch.slice(offset, CHUNK)
                yield as_records(
                    {
                        field.name: self._column(part.column(i), field, start + offset)
                        for i, field in enumerate(part.schema)
                    }
                )
            start += batch.num_rows

    def _batches(self, *, columns: bool) -> Iterator[Any]:
        import pyarrow as pa

        try:
            for batch in self._parquet(columns) if self._path.name.lower().endswith(".parquet") else self._arrow():
                # Damaged offsets would be followed beyond the memory of the batch.
                batch.validate(full=True)
                yield batch
        except (pa.ArrowException, UnicodeDecodeError) as error:
            refuse(self._path, f"cannot be read as what its ending says ({str(error).splitlines()[0]}); write it again")
        except OSError as error:
            refuse(self._path, f"cannot be read ({error.strerror or str(error).splitlines()[0]}); write it again")

    def _parquet(self, columns: bool) -> Iterator[Any]:
        from pyarrow import parquet

        with parquet.ParquetFile(self._path) as file:
            self._columns = self._named(file.schema_arrow.names)
            yield from file.iter_batches(batch_size=CHUNK, columns=None if columns else file.schema_arrow.names[:1])

    def _arrow(self) -> Iterator[Any]:
        import pyarrow as pa

        with open(self._path, "rb") as start:
            is_file = start.read(6) == b"ARROW1"
        with pa.memory_map(str(self._path)) as source:
            reader = pa.ipc.open_file(source) if is_file else pa.ipc.open_stream(source)
            self._columns = self._named(reader.schema.names)
            if is_file:
                yield from (reader.get_batch(i) for i in range(reader.num_record_batches))
            else:
                yield from reader

    def _named(self, names: Sequence[str]) -> tuple[str, ...]:
        if not names:
            refuse(self._path, "has no columns; write at least one")
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            refuse(self._path, f"has two columns {cell(twice)}; give them different names")
        return tuple(names)

    def _column(self, column: Any, field: Any, start: int) -> np.ndarray:
        import pyarrow as pa
        from pyarrow import compute as pc
        from pyarrow import types

        where = f"{self._path}, column {cell(field.name)}"
        if column.null_count:
            row = start + int(np.flatnonzero(np.asarray(column.is_null()))[0])
            raise DataError(f"{where}, row {row}: is null; write a value that can be compared")
        kind = field.type
        if types.is_run_end_encoded(kind):
            column, kind = pc.run_end_decode(column), kind.value_type
        if types.is_dictionary(kind):
            # Arrow cannot take values of a dictionary of views.
            values = column.dictionary.cast(pa.large_string()) if _is_text(kind.value_type) else column.dictionary
            column, kind = values.take(column.indices), values.type
        if _is_text(kind):
            return np.array(column.to_pylist(), dtype=object)
        if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
            made = np.asarray(column.to_numpy(zero_copy_only=False))
            if made.dtype.kind == "f" and np.isnan(made).any():
                row = start + int(np.flatnonzero(np.isnan(made))[0])
                raise DataError(f"{where}, row {row}: is NaN; write a value that can be compared")
            return made
        if types.is_decimal(kind):
            return self._decimals(column, where, start)
        raise DataError(f"{where}: has type {kind}; give numbers or texts")

    def _decimals(self, column: Any, where: str, start: int) -> np.ndarray:
        """Decimals as whole numbers where they have no places, and in double precision where that holds them."""
        import pyarrow as pa

        mend = "round it, or write it as a text"
        if column.type.scale <= 0:
            try:
                return np.asarray(column.cast(pa.int64()).to_numpy())
            except pa.ArrowInvalid:
                row, value = next(
                    (row, value) for row, value in enumerate(column.to_pylist(), start) if not -(2**63) <= value < 2**63
                )
                raise DataError(f"{where}, row {row}: {value} has more digits than 64 bits hold; {mend}") from None
        made = np.asarray(column.cast(pa.float64()).to_numpy())
        if column.type.precision > DIGITS:
            for row, (value, held) in enumerate(zip(column.to_pylist(), made.tolist(), strict=True), start):
                if is_rounded(value, held):
                    raise DataError(f"{where}, row {row}: {value} has more digits than double precision holds; {mend}")
        return made


def _is_text(kind: Any) -> bool:
    """Whether a type of Arrow is of texts; string views are newer than the oldest pyarrow that is supported."""
    from pyarrow import types

    is_view = getattr(types, "is_string_view", None)
    return types.is_string(kind) or types.is_large_string(kind) or (is_view is not None and is_view(kind))
