"""Files of outputs, one a row: CSV, JSON Lines, npy, npz, Parquet and Arrow, read in chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np

from dpaudit.sources.columnar import ArrowTable
from dpaudit.sources.numpy_files import NumpyTable
from dpaudit.sources.rows import CsvTable, as_object_array
from dpaudit.sources.structures import StructureTable, json_table
from dpaudit.sources.tables import Table
from dpaudit.sources.text import cell, refuse

_READERS: Final[dict[str, Callable[[Path], Table]]] = {
    ".csv": CsvTable,
    ".csv.gz": CsvTable,
    ".jsonl": json_table,
    ".jsonl.gz": json_table,
    ".ndjson": json_table,
    ".ndjson.gz": json_table,
    ".npy": NumpyTable,
    ".npz": NumpyTable,
    ".parquet": ArrowTable,
    ".arrow": ArrowTable,
    ".feather": ArrowTable,
}

_HINTS: Final = {
    ".json": "write one output a line, in a file that ends in .jsonl",
    ".tsv": "separate columns by commas, in a file that ends in .csv",
}
"""What to do about files that come near to one that can be read, by their endings."""

_PAIR_ENDS: Final = (("-a", "-b"), ("_a", "_b"), (".a", ".b"), ("-A", "-B"), ("_A", "_B"), (".A", ".B"))
"""How the names of two files of a pair end, before their common ending."""


def ending_of(path: Path) -> str | None:
    """Return the ending of a file that can be read; None where it has none of these."""
    name = path.name.lower()
    return max((end for end in _READERS if name.endswith(end)), key=len, default=None)


def read_table(path: Path, *, header: bool | None = None) -> Table:
    """Open a file of outputs, by its ending.

    Parameters
    ----------
    path
        The file.
    header
        Whether the first line of a CSV file has the names of its columns; None to guess it. Other files say it.

    Raises
    ------
    DataError
        It cannot be read, or its ending says nothing.
    """
    ending = ending_of(path)
    if ending is None:
        if path.is_dir():
            refuse(path, "is a folder; give two files, or the folder alone")
        for near, hint in _HINTS.items():
            if path.name.lower().removesuffix(".gz").endswith(near):
                refuse(path, f"files that end in {near} are not read; {hint}")
        refuse(path, f"its ending does not say what it is; known: {', '.join(_READERS)}")
    return CsvTable(path, header=header) if ending.startswith(".csv") else _READERS[ending](path)


class _Labelled:
    """The rows of a table with one label, without the column of labels."""

    def __init__(self, table: Table, column: str, label: str, rows: int) -> None:
        self._table, self._column, self._label, self._rows = table, column, label, rows

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"{self._table.name}, {self._column} {self._label}"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns; empty where they have none."""
        return tuple(name for name in self._table.columns if name != self._column)

    @property
    def rows(self) -> int:
        """How many outputs there are."""
        return self._rows

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of the file."""
        return getattr(self._table, "notes", ())

    def chunks(self) -> Iterator[np.ndarray]:
        """Yield the outputs with this label."""
        for chunk in self._table.chunks():
            labels = _labels(chunk, self._column)
            if isinstance(self._table, StructureTable):
                kept = chunk[labels == self._label].tolist()
                yield as_object_array([{name: each[name] for name in each if name != self._column} for each in kept])
                continue
            names = [name for name in (chunk.dtype.names or ()) if name != self._column]
            kept = chunk[labels == self._label]
            yield kept[names[0]] if len(names) == 1 else _only(kept, names)


def by_label(path: Path, column: str, *, header: bool | None = None) -> tuple[Table, Table]:
    """Return two tables of outputs, one for each of two labels in a column of one file; the labels in their order.

    Raises
    ------
    DataError
        There is no such column, or it has not just two values.
    """
    table = read_table(path, header=header)
    if table.columns == (column,):
        refuse(path, f"has no column but {cell(column)}; the outputs are missing")
    counts: dict[str, int] = {}
    for chunk in table.chunks():
        names = chunk.dtype.names
        if isinstance(table, StructureTable) and table.kind == "an object":
            names = tuple(sorted(set.intersection(*map(set, chunk.tolist()))))
        if names is None:
            refuse(path, f"its columns have no names; name one of them {cell(column)}, or give two files")
        if column not in names:
            refuse(path, f"has no column {cell(column)}; it has {', '.join(names)}")
        found, numbers = np.unique(_labels(chunk, column), return_counts=True)
        for label, number in zip(found.tolist(), numbers.tolist(), strict=True):
            if not label.strip():
                refuse(path, f"column {cell(column)} has an empty label; write which input a row is of in every line")
            counts[label] = counts.get(label, 0) + number
            if len(counts) > 2:
                refuse(path, f"column {cell(column)} has more than two values: {', '.join(map(cell, sorted(counts)))}")
    if len(counts) != 2:
        refuse(path, f"column {cell(column)} must have two values, one for each input, and has {len(counts)}")
    first, second = (_Labelled(table, column, label, counts[label]) for label in sorted(counts))
    return first, second


def pairs_in(folder: Path) -> dict[str, tuple[Path, Path]]:
    """Return the pairs of files in a folder by their names.

    A pair is two files ``NAME-a.csv`` and ``NAME-b.csv`` (or ``_a``, ``.a``, ``-A``), or a folder with two files.

    Raises
    ------
    DataError
        There are no pairs, two of them have one name, a file has no partner, or pairs would be left out: in formats
        that are not read, or in folders further down.
    """
    files = {path.name: path for path in sorted(folder.iterdir()) if path.is_file() and ending_of(path)}
    _check_endings(folder)
    pairs: dict[str, tuple[Path, Path]] = {}
    for name, path in files.items():
        ending = ending_of(path) or ""
        stem = name[: -len(ending)]
        for first, second in _PAIR_ENDS:
            if stem.endswith((first, second)):
                start, last = stem[: -len(first)], name[-len(ending) :]
                other = start + (second if stem.endswith(first) else first) + last
                if other not in files:
                    refuse(path, f"there is no {other} beside it")
                pair = files[f"{start}{first}{last}"], files[f"{start}{second}{last}"]
                if pairs.setdefault(start, pair) != pair:
                    refuse(
                        path, f"{pairs[start][0].name} is of another pair named {start}; rename one of the two pairs"
                    )
                break
        else:
            refuse(path, "belongs to no pair; name the two files of a pair NAME-a and NAME-b, with one ending")
    for inner in sorted(path for path in folder.iterdir() if path.is_dir()):
        inside = sorted(path for path in inner.iterdir() if path.is_file() and ending_of(path))
        _check_endings(inner)
        if len(inside) == 2:
            pair = (inside[0], inside[1])
            if pairs.setdefault(inner.name, pair) != pair:
                refuse(
                    inner, f"{pairs[inner.name][0].name} is of another pair named {inner.name}; rename one of the two"
                )
        elif inside:
            refuse(inner, f"has {len(inside)} files of outputs; a folder of a pair has two")
        elif deeper := sorted(path for path in inner.rglob("*") if path.is_file() and ending_of(path)):
            refuse(deeper[0], f"lies more than one folder below {folder}; give its folder, or move the pair up")
    if not pairs:
        refuse(folder, "there are no pairs of files in it; name them NAME-a.csv and NAME-b.csv")
    return dict(sorted(pairs.items()))


def _check_endings(folder: Path) -> None:
    """Refuse files that are named as those of a pair are, in a format that is not read."""
    for path in sorted(folder.iterdir()):
        stem = path.name.partition(".")[0]
        if path.is_file() and not ending_of(path) and stem.endswith(tuple(chain.from_iterable(_PAIR_ENDS))):
            refuse(
                path,
                f"is named as a file of a pair, but its format is none of {', '.join(_READERS)}; convert or rename it",
            )


def _labels(chunk: np.ndarray, column: str) -> np.ndarray:
    if chunk.dtype.names:
        values = chunk[column]
    else:
        values = as_object_array(["" if each[column] is None else each[column] for each in chunk])
    return values.astype(str) if values.dtype.kind != "O" else np.array([str(value) for value in values])


def _only(records: np.ndarray, names: list[str]) -> np.ndarray:
    made = np.empty(len(records), dtype=[(name, records.dtype[name]) for name in names])
    for name in names:
        made[name] = records[name]
    return made
