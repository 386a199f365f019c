"""Outputs as arrays that keep the rules of an audit: whatever makes them or maps them, they are checked in one way."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from dpaudit.auditors.outputs.features import FeatureMap
from dpaudit.auditors.outputs.foreign import listed
from dpaudit.auditors.outputs.forms import Forms, alike, concatenated, form_of
from dpaudit.auditors.outputs.outputs import coding_of, outcome_keys
from dpaudit.auditors.outputs.packed import Packed
from dpaudit.claims.inputs import error_text, short_repr
from dpaudit.errors import CheckError, DpauditError, TargetRaisedError
from dpaudit.floating_point import their_settings

COMPARED = 64
"""Outputs of a call that are compared with those of another, or looked at once more in a few calls. Chosen by hand: two
calls hardly agree in 64 varied outputs by chance."""

FEW = 8
"""Outputs that a function which must look at every output on its own is given once more without the others: two of
them one by one, where it is a feature map. Chosen by hand: a function that looks at the whole batch mostly shows it in
the first one, and every further call may take long."""

RAISED = (Exception, SystemExit, GeneratorExit)
"""What a function of the user's may raise that does not ask the whole run to end."""

_NUMBERS = {bool, int, float}
"""Types of Python that are numbers as they are."""

_SHOWN = (bool, int, float, complex, str, bytes, np.generic)
"""Types whose values messages show."""

_DEEPEST = 32
"""Axes of an array, at most, into which lists within lists are made: as many as numpy had until its version 2."""

_CLOSE = 1e-6
"""Part of the largest number by which features of an output may differ between batches: matrix products round otherwise
in other batches, by about 1e-7 in single precision. Chosen by hand."""


def checked(raw: Any, size: int, where: str, forms: Forms) -> np.ndarray:
    """Return outputs as an array, if they are ``size`` values without NaN in the form seen before.

    Parameters
    ----------
    raw
        What a function of the user's returned.
    size
        How many outputs it is to hold.
    where
        What messages call the function.
    forms
        Form of its outputs so far, which is noted.

    Raises
    ------
    CheckError
        They are something else.
    """
    if is_masked(raw):
        raise CheckError(
            f"{where} returned a masked array, whose mask would go unseen; return its `.filled(value)`, or an array of "
            "dtype object with None for what is masked"
        )
    # A copy, because a sampler may fill one buffer again and again; and of no subclass, whose shapes may differ.
    outputs = np.array(raw, order="K", subok=False) if isinstance(raw, np.ndarray) else as_array(raw, size)
    if outputs is None or outputs.ndim == 0 or len(outputs) != size:
        found = _single(raw) if outputs is None or outputs.ndim == 0 else f"an array of shape {outputs.shape}"
        raise CheckError(f"{where} returned {found}; return {size} outputs along axis 0{_by_the_way(raw, size)}")
    if outputs.size == 0:
        raise CheckError(f"{where} returned outputs without any values; return at least one number in each")
    if missing := missing_in(outputs):
        raise CheckError(
            f"{where} returned {missing} among its outputs; return a value that can be compared in its place, such as "
            "None in a list (null in JSON)"
        )
    form, seen = form_of(outputs), forms.seen
    if not forms.admits(form, listed=not isinstance(raw, np.ndarray)):
        assert seen is not None
        if form[0][0] == seen[0][0] == "V":
            columns, others = (short_repr(list(kind[1:].split("\n"))) for kind in (form[0], seen[0]))
            raise CheckError(
                f"{where} returned records with the columns {columns} after others with {others}; return the same "
                "columns in the same order from every call and for every input, or a list of dicts"
            )
        raise CheckError(
            f"{where} returned outputs of dtype kind {form[0]!r} and shape {form[1]} after others of "
            f"{seen[0]!r} and {seen[1]}; return one form for every input, and outputs of varying form "
            "(lists of different lengths, numbers or None) in an array of dtype object"
        )
    return outputs.view(np.int64) if outputs.dtype.kind in "mM" else forms.in_form(outputs)


def _by_the_way(raw: Any, size: int) -> str:
    """Return how what was returned becomes outputs along axis 0, where that shows; else nothing."""
    if inspect.iscoroutine(raw):
        raw.close()
        return " from a function without `async`"
    if isinstance(raw, np.ndarray) and raw.ndim > 1 and raw.shape[-1] == size:
        return "; its last axis has as many: transpose it"
    parts = list(raw.values()) if isinstance(raw, dict) else raw
    if (
        isinstance(parts, tuple | list)
        and parts
        and all(hasattr(each, "__len__") and len(each) == size for each in parts)
    ):
        whole = (
            "a list of dicts or a data frame"
            if isinstance(raw, dict)
            else "`np.column_stack` or `list(zip(...))` of them"
        )
        return f"; its {len(parts)} parts have {size} values each: return {whole}"
    return ""


def _single(raw: Any) -> str:
    """Return words on what is neither an array nor a list of outputs."""
    if raw is None:
        return "None, which is no array"
    if isinstance(raw, np.ndarray):
        return f"{short_repr(raw)}, a single value"
    # The words for values of other types may change from run to run, as an address does.
    shown = short_repr(raw) if isinstance(raw, _SHOWN) else "a value"
    return f"{shown} of type {type(raw).__name__}, which is no array"


def features_of(features: FeatureMap, outputs: np.ndarray, where: str, forms: Forms) -> np.ndarray:
    """Return what a feature map shows of outputs, checked as outputs are.

    Parameters
    ----------
    features
        The map, which may change what it is given.
    outputs
        Outputs along axis 0.
    where
        What messages call the map.
    forms
        Form of what it returned so far, which is noted.

    Raises
    ------
    CheckError
        It returned something else than an output for each.
    TargetRaisedError
        It raised an error.
    """
    try:
        with their_settings():
            raw = features(outputs)
        found = listed(raw, len(outputs))
    except DpauditError:
        raise
    except RAISED as error:
        raise TargetRaisedError(f"{where} raised {error_text(error)}") from error
    return checked(found, len(outputs), where, forms)


def seen_apart(
    look: Callable[[np.ndarray], np.ndarray], outputs: np.ndarray, seen: np.ndarray, *, fewest: bool = False
) -> np.ndarray:
    """Return what a feature map shows of outputs in a few calls, each among others than before and in reverse order.

    Two outputs come alone, those whose features are least and most in order: what counts values or ranks them gives
    these others.

    Parameters
    ----------
    look
        Returns what the map shows of outputs.
    outputs
        Outputs along axis 0.
    seen
        What it showed of them, or of outputs that should be equal, in one call.
    fewest
        Whether to make two calls only, one with an output alone and one with the others, in place of four.

    Returns
    -------
    ndarray
        In the order of ``outputs``.
    """
    if seen.dtype.kind in "biuf" and seen.ndim > 1:
        order = np.argsort(seen.reshape(len(seen), -1).sum(axis=1, dtype=float), kind="stable")
    else:
        order = np.argsort(outcome_keys(seen, coding_of(seen)), kind="stable")
    alone = order[-1:] if fewest else np.unique(order[[-1, 0]])
    others = np.setdiff1d(order, alone)[::-1]
    few = 0 if fewest else FEW - len(alone)
    parts = [*np.split(alone, len(alone)), others[:few], others[few:]]
    places = [part for part in parts if len(part)]
    shown = concatenated([_shown(look, outputs[part]) for part in places])
    return shown[np.argsort(np.concatenate(places))]


def _shown(look: Callable[[np.ndarray], np.ndarray], outputs: np.ndarray) -> np.ndarray:
    try:
        return look(outputs)
    except CheckError as error:
        if len(outputs) > 1:
            raise
        raise CheckError(
            f"{error}; that was for an output alone, for which it returned features among other outputs: look at every "
            "output on its own"
        ) from error.__cause__


def check_alone(
    look: Callable[[np.ndarray], np.ndarray], outputs: np.ndarray, seen: np.ndarray, *, fewest: bool = False
) -> None:
    """Check that a feature map looks at every output on its own, by looking at some again in a few calls.

    Parameters
    ----------
    look
        Returns what the map shows of outputs.
    outputs
        Outputs along axis 0.
    seen
        What it showed of them among others.
    fewest
        As of `seen_apart`.

    Raises
    ------
    CheckError
        It shows something else.
    """
    if not close(seen_apart(look, outputs, seen, fewest=fewest), seen):
        raise CheckError(
            "`features` gave an output other features among other outputs; "
            "look at every output on its own, or no bound holds"
        )


def is_masked(raw: Any) -> bool:
    """Whether outputs are a masked array, or a list of such arrays."""
    if isinstance(raw, np.ma.MaskedArray):
        return True
    return (
        isinstance(raw, list | tuple) or (isinstance(raw, np.ndarray) and raw.dtype.kind == "O" and raw.ndim == 1)
    ) and any(isinstance(each, np.ma.MaskedArray) for each in raw[:100])


def missing_in(outputs: np.ndarray) -> str:
    """Return what there is among outputs that cannot be compared, ``NaN`` or ``NaT``; nothing where there is none."""
    if outputs.dtype.kind in "fc":
        return "NaN" if np.isnan(outputs).any() else ""
    if outputs.dtype.kind in "mM":
        return "NaT" if np.isnat(outputs).any() else ""
    # Deeper inside an output it is a value like others, told apart by its text.
    if outputs.dtype.kind != "O":
        return ""
    items = outputs.ravel().tolist()
    found = any(issubclass(kind, float) for kind in set(map(type, items))) and any(
        isinstance(item, float) and item != item for item in items
    )
    return "NaN" if found else ""


def as_array(raw: Any, size: int) -> np.ndarray | None:
    """Return outputs as an array, without making different ones equal, as numpy does of 1 and '1' in one list.

    None where they are neither an array, nor a list or tuple. An array shares its memory.
    """
    if isinstance(raw, np.ndarray):
        # Of no subclass, whose shapes may differ.
        return np.asarray(raw)
    if not isinstance(raw, list | tuple):
        return None
    array = as_numbers(raw)
    return array if array is not None and len(array) == size else objects(raw)


def objects(items: Sequence[Any]) -> np.ndarray:
    """Return items as an array of objects, shape (size,)."""
    # Assigned to a slice, numpy would make an array of each data frame first, to see what is in it.
    return np.fromiter(items, object, len(items))


def as_numbers(raw: Sequence[Any]) -> np.ndarray | None:
    """Nested lists and tuples of one shape as an array, where they hold numbers of one type; None of others."""
    if (packed := Packed.of_rows(raw)) is not None:
        return packed.table()
    shape: tuple[int, ...] = (len(raw),)
    level: Any = raw
    kinds = set(map(type, level))
    while kinds and kinds <= {list, tuple} and len(shape) < _DEEPEST:
        inside = set(map(type, level[0]))
        if len(inside) > 1 and not inside <= {list, tuple}:
            return None
        lengths = set(map(len, level))
        if len(lengths) > 1:
            return None
        shape += (lengths.pop(),)
        level = list(chain.from_iterable(level))
        kinds = set(map(type, level))
    if kinds == {np.ndarray}:
        if len({(part.dtype, part.shape) for part in level}) > 1:
            return None
        stacked = np.stack(level)
        return stacked.reshape(*shape, *stacked.shape[1:]) if stacked.dtype.kind in "biuf" else None
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    if kind not in _NUMBERS and not issubclass(kind, np.number | np.bool_):
        return None
    try:
        array = np.fromiter(level, float, len(level)) if kind is float else np.array(level)
    except (ValueError, OverflowError):
        return None
    rounded = kind is int and array.dtype.kind == "f"  # integers too large for one integer type
    return array.reshape(shape) if array.dtype.kind in "biuf" and not rounded else None


def close(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether what was looked at in outputs is equal, but for rounding."""
    a, b = alike(a, b)
    if a.dtype.kind in "fc":
        scale = float(np.abs(a[np.isfinite(a)]).max(initial=0.0))
        return bool(np.allclose(a, b, rtol=_CLOSE, atol=_CLOSE * scale))
    return bool(np.array_equal(outcome_keys(a, coding_of(a)), outcome_keys(b, coding_of(b))))
