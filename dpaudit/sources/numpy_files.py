"""Outputs in files of numpy: one array, or one array for each column."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dpaudit.errors import DataError
from dpaudit.reading import check_regular
from dpaudit.sources.tables import CHUNK
from dpaudit.sources.text import cell, refuse


class NumpyTable:
    """Outputs of a npy file, read from the disk as they are needed, or of a npz file, in memory.

    Parameters
    ----------
    path
        The file. A npz file holds one array, or arrays of equal length, which are columns with these names.

    Raises
    ------
    DataError
        It cannot be read, or holds no numbers or texts.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            check_regular(path)
            # What would run code when it is read is not read.
            with open(path, "rb") as file:
                if file.read(2) == b"PK":
                    file.seek(0)
                    with np.load(file, allow_pickle=False) as found:
                        parts = {name: found[name] for name in found.files}
                else:
                    parts = {"": np.load(path, mmap_mode="r", allow_pickle=False)}
        except OSError as error:
            refuse(path, f"cannot be read ({error.strerror or error})")
        except MemoryError:
            refuse(path, "does not fit into the memory; write an array to a npy file, which is read as it is needed")
        except Exception as error:
            # What reads a header or a compressed part raises errors of its own where these are damaged.
            said = str(error)
            what = "it is damaged"
            if "pickled" in said:
                what = "it is not a file of numpy"
            if "Object arrays" in said or "Python objects" in said:
                what = "it holds Python objects, which are not read"
            refuse(path, f"{what}; write numbers or texts with numpy.save")
        if not parts:
            refuse(path, "there are no arrays in it")
        for name, part in parts.items():
            where = f"array {cell(name)}" if name else "its array"
            if not isinstance(part, np.ndarray):
                refuse(path, f"{where} is not a file of numpy; write numbers or texts with numpy.savez")
            if part.dtype.kind not in "biufU" and part.dtype.names is None:
                refuse(path, f"{where} has type {part.dtype}; give numbers or texts")
            if part.ndim == 0:
                refuse(path, f"{where} is a single value; give an output a row")
            if part.size == 0 and len(part):
                refuse(path, f"{where} has rows without any values (shape {part.shape}); give at least one in each")
            if len({len(other) for other in parts.values() if other.ndim}) > 1:
                refuse(path, "its arrays have different lengths; give columns of one length, or one array")
            if len(parts) > 1 and part.ndim > 1:
                refuse(path, f"{where} has {part.ndim} axes; give columns of one axis, or one array")
        self._parts = parts
        self._rows = len(next(iter(parts.values())))

    @property
    def name(self) -> str:
        """What messages call it."""
        return str(self._path)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns; empty where they have none."""
        return tuple(name for name in self._parts if len(self._parts) > 1)

    @property
    def rows(self) -> int:
        """How many outputs there are."""
        return self._rows

    def chunks(self) -> Iterator[np.ndarray]:
        """Yield all outputs in order."""
        for start in range(0, self._rows, CHUNK):
            parts = {name: np.asarray(part[start : start + CHUNK]) for name, part in self._parts.items()}
            for name, part in parts.items():
                if part.dtype.kind == "f" and np.isnan(part).any():
                    row = start + int(np.flatnonzero(np.isnan(part.reshape(len(part), -1)).any(axis=1))[0])
                    where = f"{self._path}{f', array {cell(name)}' if name else ''}, row {row}"
                    raise DataError(f"{where}: is NaN; write a value that can be compared")
            yield as_records(parts)


def as_records(parts: dict[str, np.ndarray]) -> np.ndarray:
    """Return columns as records with their names; the only one as it is."""
    if len(parts) == 1:
        return _text_as_objects(next(iter(parts.values())))
    columns = {name: _text_as_objects(part) for name, part in parts.items()}
    made = np.empty(len(next(iter(columns.values()))), dtype=[(name, part.dtype) for name, part in columns.items()])
    for name, part in columns.items():
        made[name] = part
    return made


def _text_as_objects(part: np.ndarray) -> np.ndarray:
    # Texts of one chunk may be longer than those of another.
    return part.astype(object) if part.dtype.kind == "U" else part
