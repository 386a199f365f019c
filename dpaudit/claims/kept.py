"""Results of a run, few of them in memory, and many in a temporary file."""

from __future__ import annotations

import os
import pickle
import tempfile
import threading
import weakref
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any, overload

from dpaudit.errors import OutputError

if TYPE_CHECKING:
    from dpaudit.claims.record import Result

MOST_AT_ONCE = 5000
"""Of more results than this a run holds a few at a time, and a report has several pages."""

_BLOCK = 256
"""Results that are read at a time."""


class OpenFile:
    """A file that is closed with the last reference to it; threads and forked processes may read it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._lock = threading.Lock()
        weakref.finalize(self, file.close)

    def read(self, start: int, end: int) -> bytes:
        """Return what is between two places."""
        if hasattr(os, "pread"):
            # The place in the file, which threads and forked processes share, plays no part.
            return os.pread(self._file.fileno(), end - start, start)
        with self._lock:
            self._file.seek(start)
            return self._file.read(end - start)

    def write(self, start: int, content: bytes) -> None:
        """Write at a place."""
        with self._lock:
            self._file.seek(start)
            while content:
                content = content[self._file.write(content) :]


class ResultFile(Sequence["Result"]):
    """Results that are read from a temporary file as they are asked for; it goes with the last reference to it.

    Parameters
    ----------
    file
        The file, which nobody else can open.
    places
        Where the results are in it, in their order: beginnings and ends.
    """

    def __init__(self, file: OpenFile, places: _Places) -> None:
        self._file, self._places = file, places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> Result: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Result, ...]: ...

    def __getitem__(self, place: int | slice) -> Result | tuple[Result, ...]:
        if isinstance(place, slice):
            return tuple(self[i] for i in range(*place.indices(len(self))))
        return self._read(*self._places[place])

    def __iter__(self) -> Iterator[Result]:
        for start in range(0, len(self), _BLOCK):
            yield from self[start : start + _BLOCK]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str | bytes):
            return NotImplemented
        return len(self) == len(other) and all(one == another for one, another in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return kept, (list(self),)

    def __repr__(self) -> str:
        return f"<{len(self)} results in a temporary file>"

    def _read(self, start: int, end: int) -> Result:
        try:
            found: Result = pickle.loads(self._file.read(start, end))  # noqa: S301 - what this process wrote
        except OSError as error:
            raise _unusable(error) from None
        return found


class _Places:
    """Beginnings and ends in a file, of what was written to it in another order than it is read."""

    def __init__(self, starts: array[int], ends: array[int], order: array[int]) -> None:
        self._starts, self._ends, self._order = starts, ends, order

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, place: int) -> tuple[int, int]:
        number = self._order[place]
        return self._starts[number], self._ends[number]


class Keep:
    """Takes results in any order, by number; from a number of them on, in a temporary file."""

    def __init__(self) -> None:
        self._held: dict[int, Result] = {}
        self._numbers, self._starts, self._ends = array("Q"), array("Q"), array("Q")
        self._file: OpenFile | None = None

    def __len__(self) -> int:
        return len(self._numbers) + len(self._held)

    def add(self, number: int, result: Result) -> None:
        """Take a result under a number that no other has.

        Raises
        ------
        OutputError
            The temporary file cannot be written.
        """
        if self._file is None:
            self._held[number] = result
            if len(self._held) <= MOST_AT_ONCE:
                return
        held, self._held = self._held or {number: result}, {}
        try:
            if self._file is None:
                self._file = OpenFile(tempfile.TemporaryFile(prefix="dpaudit-", buffering=0))  # noqa: SIM115
            for each, found in held.items():
                self._write(self._file, each, found)
        except OSError as error:
            raise _unusable(error) from None

    def _write(self, file: OpenFile, number: int, result: Result) -> None:
        start = self._ends[-1] if self._ends else 0
        content = pickle.dumps(result, protocol=pickle.HIGHEST_PROTOCOL)
        file.write(start, content)
        self._numbers.append(number)
        self._starts.append(start)
        self._ends.append(start + len(content))

    def results(self) -> tuple[array[int], Sequence[Result]]:
        """Return the numbers in ascending order, and the results."""
        if self._file is None:
            numbers = array("Q", sorted(self._held))
            return numbers, tuple(self._held[number] for number in numbers)
        order = array("Q", sorted(range(len(self._numbers)), key=self._numbers.__getitem__))
        numbers = array("Q", (self._numbers[i] for i in order))
        return numbers, ResultFile(self._file, _Places(self._starts, self._ends, order))


def kept(results: Iterable[Result]) -> Sequence[Result]:
    """Return results as a tuple, or, where there are many, in a temporary file.

    Raises
    ------
    OutputError
        The temporary file cannot be written.
    """
    if isinstance(results, tuple | ResultFile):
        return results
    keep = Keep()
    for number, result in enumerate(results):
        keep.add(number, result)
    return keep.results()[1]


def _unusable(error: OSError) -> OutputError:
    return OutputError(
        f"{tempfile.gettempdir()}: results cannot be kept in a temporary file ({error.strerror or error}); make room, "
        "or name another folder in TMPDIR"
    )
