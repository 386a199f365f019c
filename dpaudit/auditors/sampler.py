"""Drawing outputs of a mechanism in chunks, with every output checked."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dpaudit.auditors.features import FeatureMap
from dpaudit.auditors.streams import Streams
from dpaudit.errors import CheckError, DpauditError, TargetRaisedError

CHUNK = 1 << 16
"""Samples drawn in one call; fixed, because it decides which random numbers go into which sample."""

_MOST_SELECTED = 1_000_000
_MOST_SELECTED_VALUES = 8_000_000
_MOST_OBJECTS = 200_000

Form = tuple[str, tuple[int, ...]]
"""Kind of dtype, and shape of one output."""

SampleFunction = Callable[[Any, int, np.random.Generator], Any]


class Sampler:
    """A mechanism's ``sample`` with checked outputs and keyed streams.

    Parameters
    ----------
    sample
        ``sample(data, size, rng)``.
    name
        Name of the mechanism, for messages.
    streams
        Streams of this audit.
    own_randomness
        Whether the mechanism has a source of randomness that ``rng`` does not seed, so that runs differ.
    features
        Feature map, applied to the outputs.
    """

    def __init__(
        self,
        sample: SampleFunction,
        name: str,
        streams: Streams,
        *,
        own_randomness: bool = False,
        features: FeatureMap | None = None,
    ) -> None:
        self._sample = sample
        self._name = name
        self._streams = streams
        self._own_randomness = own_randomness
        self._features = features
        self._forms: tuple[list[Form], list[Form]] = ([], [])

    def chunks(self, data: Any, size: int, *purpose: str | int) -> Iterator[np.ndarray]:
        """Yield arrays of at most ``CHUNK`` outputs, ``size`` altogether."""
        for chunk in range(-(-size // CHUNK)):
            count = min(CHUNK, size - chunk * CHUNK)
            yield self._draw(data, count, self._streams.generator(*purpose, chunk))

    def draw_once(self, data: Any, size: int, *purpose: str | int) -> np.ndarray:
        """Return ``size`` outputs of one call."""
        return self._draw(data, size, self._streams.generator(*purpose))

    def draw(self, data: Any, size: int, *purpose: str | int) -> np.ndarray:
        """Return ``size`` outputs at once, drawn in chunks."""
        parts = list(self.chunks(data, size, *purpose))
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def coins(self, *purpose: str | int) -> np.random.Generator:
        """Generator for decisions of the auditor's own."""
        return self._streams.generator("auditor", *purpose)

    @property
    def form(self) -> Form:
        """Kind of dtype and shape of what is audited; known after :meth:`check_deterministic`."""
        return (self._forms[1] or self._forms[0])[0]

    @property
    def selection_limit(self) -> int:
        """Most samples per input that are worth choosing an event from; known after :meth:`check_deterministic`."""
        kind, shape = self.form
        if kind not in "biufc":
            return _MOST_OBJECTS
        return max(_MOST_OBJECTS, min(_MOST_SELECTED, _MOST_SELECTED_VALUES // math.prod(shape)))

    def check_deterministic(self, data: Any) -> None:
        """Draw twice from one stream and once from another, and compare.

        Raises
        ------
        CheckError
            The sampler takes randomness from elsewhere than ``rng``, or none from it although its outputs vary.
        """
        size = 64
        if self._own_randomness:
            self._draw(data, size, self._streams.generator("determinism", "one"))
            return
        first, again = (self._draw(data, size, self._streams.generator("determinism", "one")) for _ in range(2))
        if not _equal(first, again):
            raise CheckError(
                f"{self._name}: `sample` gave different outputs for the same `rng` state; "
                "take all randomness from the `rng` argument, or declare `own_randomness = True` where that cannot be"
            )
        others = [self._draw(data, size, self._streams.generator("determinism", f"other {i}")) for i in range(4)]
        if all(_is_constant(outputs) for outputs in (first, *others)):
            if not all(_equal(first, other) for other in others):
                raise CheckError(
                    f"{self._name}: `sample` gave {size} equal outputs in one call and others in the next; "
                    "draw `size` independent outputs"
                )
            return
        # Varied outputs come again with probability 0.006 at most, so four times over by chance at 1.1e-9 at most.
        if all(_equal(first, other) for other in others):
            raise CheckError(
                f"{self._name}: `sample` gave the same varied outputs for two different `rng` states; "
                "it seems to ignore `rng` and to seed its own generator; take all randomness from the `rng` argument"
            )

    def _draw(self, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        given = copy.deepcopy(data)
        # A copy that is not even equal to begin with (NaN, a class without ==) cannot show a change.
        comparable = _equal(given, data)
        try:
            raw = self._sample(given, size, rng)
        except DpauditError:
            raise
        except Exception as error:
            raise TargetRaisedError(
                f"{self._name}: `sample` raised {type(error).__name__}: {error} (input {_short(data)}, size {size})"
            ) from error
        if comparable and not _equal(given, data):
            raise CheckError(f"{self._name}: `sample` changed its input {_short(data)}; work on a copy")
        outputs = self._checked(
            _as_array(raw, size), size, f"{self._name}: `sample(data, {size}, rng)`", self._forms[0]
        )
        if self._features is None:
            return outputs
        try:
            mapped = self._features(outputs)
        except DpauditError:
            raise
        except Exception as error:
            raise TargetRaisedError(f"{self._name}: `features` raised {type(error).__name__}: {error}") from error
        return self._checked(_as_array(mapped, size), size, f"{self._name}: `features`", self._forms[1])

    def _checked(self, outputs: np.ndarray | None, size: int, where: str, seen: list[Form]) -> np.ndarray:
        """Outputs as they are, if they are `size` values without NaN in the form seen before."""
        if outputs is None or outputs.ndim == 0 or len(outputs) != size:
            shape = "no array" if outputs is None else f"an array of shape {outputs.shape}"
            raise CheckError(f"{where} returned {shape}; return {size} outputs along axis 0")
        if outputs.size == 0:
            raise CheckError(f"{where} returned outputs without any values; return at least one number in each")
        if outputs.dtype.kind in "fc" and np.isnan(outputs).any():
            raise CheckError(f"{where} returned NaN among its outputs; return a value that can be compared")
        form = (outputs.dtype.kind, outputs.shape[1:])
        if not seen:
            seen.append(form)
        elif form != seen[0]:
            raise CheckError(
                f"{where} returned outputs of dtype kind {form[0]!r} and shape {form[1]} after others of "
                f"{seen[0][0]!r} and {seen[0][1]}; return one form for every input, and outputs of varying form "
                "(lists of different lengths, numbers or None) in an array of dtype object"
            )
        return outputs


def _as_array(raw: Any, size: int) -> np.ndarray | None:
    """Outputs as an array, without making different outputs equal (as numpy does of 1 and '1' in one list)."""
    if isinstance(raw, np.ndarray):
        # Numbers longer than double precision have no form in a record.
        wider = raw.dtype in (np.longdouble, np.clongdouble)
        return raw.astype(complex if raw.dtype.kind == "c" else float) if wider else raw
    if not isinstance(raw, list | tuple):
        return None
    kinds = _kinds(raw)
    if len(kinds) == 1:
        try:
            array = np.array(raw)
        except (ValueError, OverflowError):
            array = np.empty(0)
        rounded = kinds == {int} and array.dtype.kind == "f"  # integers too large for one integer type
        if array.dtype.kind in "biuf" and len(array) == size and not rounded:
            return array
    structured = np.empty(len(raw), dtype=object)
    structured[:] = raw
    return structured


def _kinds(value: Any) -> set[type]:
    """Types of the values that nested lists, tuples and arrays hold."""
    if isinstance(value, np.ndarray):
        return {value.dtype.type}
    if isinstance(value, list | tuple):
        return {kind for item in value for kind in _kinds(item)}
    return {type(value)}


def _is_constant(outputs: np.ndarray) -> bool:
    return _equal(outputs, np.repeat(outputs[:1], len(outputs), axis=0))


def _equal(a: Any, b: Any) -> bool:
    try:
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            if np.array_equal(a, b):
                return True
            # A NaN inside of an output is not equal to itself, but comes again in the same words.
            structured = isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.dtype.kind == b.dtype.kind == "O"
            return structured and repr(a.tolist()) == repr(b.tolist())
        return bool(a == b)
    except (ValueError, TypeError):
        return repr(a) == repr(b)


def _short(data: Any) -> str:
    text = repr(data.tolist() if isinstance(data, np.ndarray) else data)
    return text if len(text) <= 80 else text[:77] + "..."
