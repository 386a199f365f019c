"""Runs of a mechanism with prescribed noise, and their outputs as a form and numbers."""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.errors import DpauditError
from dpaudit.sources.noise.recorder import NoiseCall, Recorder, Replay, TooManyCallsError

_WHOLE = 2**53
"""Whole numbers up to here are floating-point numbers as well."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Run:
    """One run.

    Attributes
    ----------
    calls, others, diverged, seeded
        As in `Recorder`.
    form
        All of the output that is no finite number: types, shapes, keys, words, which entries are NaN. Equal for outputs
        that differ in their numbers alone.
    numbers
        The finite numbers in it, in order.
    opaque
        What in the output cannot be looked into; empty where all can.
    raised
        What it did in place of an output, in words; empty where there is one.
    """

    calls: list[NoiseCall]
    others: list[str]
    diverged: int | None
    seeded: list[str]
    form: tuple[Any, ...]
    numbers: np.ndarray
    opaque: str = ""
    raised: str = ""

    def same_output(self, other: Run) -> bool:
        """Whether two runs released the same."""
        return self.form == other.form and np.array_equal(self.numbers, other.numbers)


def run(mechanism: Callable[[Any], Any], data: Any, replay: Replay) -> Run:
    """Run a mechanism on a copy of an input, with the noise that a replay prescribes."""
    with Recorder(replay) as recorder:
        try:
            output = mechanism(copy.deepcopy(data))
        except DpauditError:
            raise
        except (Exception, TooManyCallsError) as error:
            endless = isinstance(error, TooManyCallsError)
            words = f"drew noise {replay.most} times" if endless else f"raised {type(error).__name__}: {error}"[:200]
            return Run(
                calls=recorder.calls,
                others=recorder.others,
                diverged=_diverged(recorder),
                seeded=recorder.seeded,
                form=("raised", type(error).__name__),
                numbers=np.zeros(0),
                raised=words,
            )
    form, numbers, opaque = taken_apart(output)
    return Run(
        calls=recorder.calls,
        others=recorder.others,
        diverged=_diverged(recorder),
        seeded=recorder.seeded,
        form=form,
        numbers=numbers,
        opaque=opaque,
    )


def _diverged(recorder: Recorder) -> int | None:
    """Number of the first call that differs from those repeated; also where calls are missing at the end."""
    assert recorder.replay is not None
    returns, count = recorder.replay.returns, len(recorder.calls)
    return count if recorder.diverged is None and count < len(returns) else recorder.diverged


def taken_apart(output: Any) -> tuple[tuple[Any, ...], np.ndarray, str]:
    """Return an output's form, its finite numbers, and what of it cannot be looked into."""
    form: list[Any] = []
    numbers: list[np.ndarray] = []
    opaque: list[str] = []

    def visit(value: Any) -> None:
        if hasattr(value, "detach"):
            value = value.detach().cpu().numpy()
        fields = [each.name for each in dataclasses.fields(value)] if _is_record(value) else []
        if _is_seen(value) and set(getattr(value, "__dict__", ())) - set(fields):
            opaque.append(f"a {type(value).__name__} with attributes of its own")
        if isinstance(value, np.ma.MaskedArray):
            form.append(("mask", np.ma.getmaskarray(value).tobytes()))
            visit(np.ma.filled(value, 0))
        elif isinstance(value, np.ndarray | np.generic):
            if value.dtype.kind in "iuf":
                # A number is the same whether it is numpy's or Python's own.
                form.append(("numbers", np.shape(value)) if np.shape(value) else "number")
                add(np.asarray(value))
            elif value.dtype.kind == "O":
                form.append(("array", np.shape(value)))
                visit(value.tolist())
            else:
                form.append(("values", np.shape(value), repr(value.tolist())))
        elif value is None or isinstance(value, bool | str | bytes):
            form.append(repr(value))
        elif isinstance(value, int | float):
            form.append("number")
            if isinstance(value, int) and abs(value) > _WHOLE:
                opaque.append("a whole number beyond 2^53")
            else:
                add(np.asarray(value))
        elif isinstance(value, Mapping):
            keys = sorted(value, key=repr)
            form.append(("keys", tuple(repr(key) for key in keys)))
            for key in keys:
                visit(value[key])
        elif isinstance(value, list | tuple):
            form.append((type(value).__name__, len(value)))
            for each in value:
                visit(each)
        elif _is_record(value):
            visit({name: getattr(value, name) for name in fields})
        else:
            form.append(type(value).__name__)
            opaque.append(f"a {type(value).__name__}")

    def add(values: np.ndarray) -> None:
        if values.dtype.kind in "iu" and values.size and max(abs(int(values.max())), abs(int(values.min()))) > _WHOLE:
            opaque.append("a whole number beyond 2^53")
            return
        flat = values.astype(float).ravel()
        finite = np.isfinite(flat)
        if not finite.all():
            form.append(("not finite", tuple((int(i), repr(float(flat[i]))) for i in np.flatnonzero(~finite))))
        numbers.append(flat[finite])

    visit(output)
    return tuple(form), np.concatenate(numbers) if numbers else np.zeros(0), opaque[0] if opaque else ""


def _is_record(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _is_seen(value: Any) -> bool:
    """Whether a value is taken for a number, a text, an array, a container or a record, whatever else it holds."""
    if isinstance(value, np.ma.MaskedArray):
        return False
    return _is_record(value) or isinstance(value, int | float | str | bytes | list | tuple | Mapping | np.ndarray)


def difference_in_words(x: tuple[Any, ...], y: tuple[Any, ...]) -> str:
    """Say where two forms differ first."""
    for a, b in zip(x, y, strict=False):
        if a != b:
            return f"{_words(a)} on one input and {_words(b)} on the other"
    longer = x if len(x) > len(y) else y
    return f"{_words(longer[min(len(x), len(y))])} on one input alone"


def _words(part: Any) -> str:
    if not isinstance(part, tuple):
        return str(part)
    name, *rest = part
    if name == "numbers":
        return f"an array of shape {rest[0]}"
    if name == "not finite":
        return f"{len(rest[0])} entries that are {', '.join(dict.fromkeys(value for _, value in rest[0]))}"
    if name in ("list", "tuple"):
        return f"a {name} of {rest[0]} entries"
    return f"{name} {', '.join(str(each) for each in rest)}"[:120]


def change(distance: Callable[[Any, Any], Any], x: Any, y: Any) -> float:
    """Distance of two values; infinite where one of them alone is not finite, or where their shapes differ."""
    try:
        a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    except (TypeError, ValueError):
        return float(distance(x, y))
    if a.shape == b.shape and np.array_equal(a, b, equal_nan=True):
        return 0.0
    if a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return math.inf
    return float(distance(x, y))
