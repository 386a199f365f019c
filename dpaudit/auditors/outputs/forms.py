"""The form of outputs, arrays of numbers or objects, and one form for those of several calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Form = tuple[str, tuple[int, ...]]
"""Kind of dtype, and shape of one output."""

_OBJECTS: Form = ("O", ())
_NUMBERS = "biufc"
_WIDENED = "biufcUSO"
"""Kinds of arrays that can be written as objects without losing what tells outputs apart."""

_WIDEST = {"b": np.bool_, "i": np.int64, "u": np.uint64, "f": np.float64, "c": np.complex128}
"""Types of numbers that do not depend on which outputs come in one call."""


@dataclass(slots=True)
class Forms:
    """The form of the outputs of a sampler so far.

    A list of outputs may be of numbers by chance, so that the form of later calls differs; all are taken as objects
    from then on.

    Attributes
    ----------
    seen
        Form of the outputs so far; None before the first.
    listed
        Whether they came as a list, whose form the sampler did not choose.
    kept
        Form in which events were learned: that of all outputs that are looked at later.
    """

    seen: Form | None = None
    listed: bool = False
    kept: Form | None = None

    def keep(self) -> None:
        """Look at all outputs in the form so far from now on."""
        if self.kept is None:
            self.kept = self.seen

    def admits(self, form: Form, *, listed: bool) -> bool:
        """Note the form of a call's outputs; False where it cannot be brought together with that of others."""
        if self.seen is None:
            self.seen, self.listed = form, listed
        if form == self.seen:
            return True
        loose = self.listed or listed or "O" in (form[0], self.seen[0])
        if not loose or not {form[0][:1], self.seen[0][:1]} <= set(_WIDENED):
            return False
        if self.kept is not None and (self.kept[0] in "US" or (self.kept[0] == "c" and self.kept[1])):
            return False
        self.seen = _OBJECTS
        return True

    def in_form(self, outputs: np.ndarray) -> np.ndarray:
        """Outputs of a call in the form of all so far."""
        return as_objects(outputs) if self.seen == _OBJECTS and form_of(outputs) != self.kept else outputs

    def as_kept(self, outputs: np.ndarray, numbers: Callable[[Sequence[Any]], np.ndarray | None]) -> np.ndarray:
        """Outputs in the form in which events were learned: zeros where an output does not have that form.

        Each output is looked at on its own, whatever others the call gave.

        Parameters
        ----------
        outputs
            Outputs along axis 0.
        numbers
            Makes an array of a list of outputs, where they are numbers of one type and shape.
        """
        if self.kept is None or self.kept[0] not in _NUMBERS or form_of(outputs) == self.kept:
            return outputs
        kind, shape = self.kept
        rows: list[np.ndarray | None] = []
        for item in outputs:
            row = np.array([item]) if isinstance(item, complex | np.complexfloating) else numbers([item])
            fits = row is not None and form_of(row) == self.kept and not (kind in "fc" and np.isnan(row).any())
            rows.append(row if fits else None)
        fitting = [row for row in rows if row is not None]
        dtype = np.result_type(_WIDEST[kind], *{row.dtype for row in fitting})
        made = np.zeros((len(rows), *shape), dtype=dtype)
        made[[row is not None for row in rows]] = np.concatenate(fitting) if fitting else 0
        return made


def merged(states: Sequence[Forms]) -> Forms:
    """Forms after calls that all began with the first: objects where one of them came to objects."""
    first = states[0]
    objects = any(each.seen == _OBJECTS for each in states)
    return Forms(seen=_OBJECTS if objects else first.seen, listed=first.listed, kept=first.kept)


def form_of(outputs: np.ndarray) -> Form:
    """Return the kind of dtype, with the unit of a time or the names of columns, and the shape of one output."""
    dtype = outputs.dtype
    if dtype.names:
        return dtype.kind + "\n".join(dtype.names), outputs.shape[1:]
    return (dtype.str if dtype.kind in "mM" else dtype.kind, outputs.shape[1:])


def as_objects(outputs: np.ndarray) -> np.ndarray:
    """Outputs of any form as an array of objects with the same values, shape (size,)."""
    if outputs.dtype.kind == "O" and outputs.ndim == 1:
        return outputs
    made = np.empty(len(outputs), dtype=object)
    made[:] = outputs.tolist() if outputs.ndim == 1 else [row.tolist() for row in outputs]
    return made


def alike(*parts: np.ndarray) -> tuple[np.ndarray, ...]:
    """Outputs of several calls in one form: as objects where a part of them are.

    Columns of records become objects where their types differ, so that each value is the same whatever call it is from.
    """
    if len({form_of(part) for part in parts}) > 1 and any(part.dtype.kind == "O" for part in parts):
        return tuple(map(as_objects, parts))
    dtypes = [part.dtype for part in parts]
    if len(set(dtypes)) > 1 and all(dtype.names == dtypes[0].names is not None for dtype in dtypes):
        return tuple(part.astype(_of_all(dtypes)) for part in parts)
    return parts


def _of_all(dtypes: Sequence[np.dtype[Any]]) -> np.dtype[Any]:
    """A type of records of the same columns: each in the type that all give it, or of objects."""
    names: tuple[str, ...] = dtypes[0].names or ()
    columns = {name: {dtype[name] for dtype in dtypes} for name in names}
    return np.dtype([(name, found.pop() if len(found) == 1 else object) for name, found in columns.items()])


def concatenated(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Outputs of several calls end to end, in one form."""
    return parts[0] if len(parts) == 1 else np.concatenate(alike(*parts))


def end_to_end(parts: Iterator[np.ndarray], size: int) -> np.ndarray:
    """As :func:`concatenated`, of ``size`` outputs altogether, as they come: none but the last part is held besides."""
    first = next(parts)
    if len(first) == size:
        return first
    made = np.empty_like(first, shape=(size, *first.shape[1:]))
    made[: len(first)] = first
    filled = len(first)
    del first
    while filled < size:
        part = next(parts)
        if part.dtype != made.dtype or part.shape[1:] != made.shape[1:]:
            return concatenated([made[:filled], part, *parts])
        made[filled : filled + len(part)] = part
        filled += len(part)
        del part
    return made
