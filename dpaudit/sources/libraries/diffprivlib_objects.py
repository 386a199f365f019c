"""diffprivlib's mechanisms and tools as mechanisms: epsilon, delta, sensitivity and bounds are their claim."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import Any

import numpy as np

from dpaudit.claims.guarantees import ApproximateDP, Guarantee
from dpaudit.claims.inputs import Pair
from dpaudit.errors import ParameterError
from dpaudit.sources.libraries.objects import Inputs, LibraryMechanism, checked_pairs, made_class, maker_of

_MOST_CATEGORIES = 8
_COUNTS = ("histogram",)
"""Tools whose noise is for one record that is added or removed; that of the others is for one that is replaced.

Others take the length of an array for public: `sum` and `count_nonzero` cut off releases at a bound that grows with it.
"""

_ON_UTILITIES = ("sensitivity", "monotonic", "candidates", "measure")


class DiffprivlibMechanism(LibraryMechanism):
    """A mechanism of diffprivlib, or one of its tools with its arguments (`functools.partial`)."""

    source = "diffprivlib"
    notation = "inputs and outputs are those of `randomise`, or of the tool; utilities are those of the candidates"

    def check_object(self, made: Any) -> None:
        """Raise ParameterError where it is neither a mechanism nor a tool with its epsilon."""
        if not recognises(made):
            raise ParameterError(
                f"{self.name}: needs a diffprivlib mechanism, with epsilon and randomise, or functools.partial of a "
                f"tool with its epsilon, such as partial(tools.mean, epsilon=1.0, bounds=(0, 1)); got "
                f"{type(made).__name__}"
            )
        if _is_tool(made) and made.keywords.get("random_state") is not None:
            raise ParameterError(
                f"{self.name}: random_state={made.keywords['random_state']!r} gives every release the same noise, "
                "which hides nothing; leave it out, and dpaudit seeds the library itself"
            )
        if getattr(made, "sensitivity", None) == 0:
            raise ParameterError(
                f"{self.name}: with sensitivity 0 no two inputs are neighbours; give the sensitivity of the release"
            )

    def draws(self, data: Any, rng: np.random.Generator) -> Callable[[], Any]:
        """Return the library's own call, with its generator seeded from ``rng``."""
        made, state = self.held, np.random.RandomState(rng.bit_generator)
        if _is_tool(made):
            array = np.array(data, dtype=float)
            return lambda: _value(made(array, random_state=state))
        if _on_utilities(made):
            taken = inspect.signature(type(made)).parameters
            options = {name: getattr(made, name) for name in _ON_UTILITIES if name in taken and hasattr(made, name)}
            fresh = type(made)(epsilon=made.epsilon, utility=list(data), random_state=state, **options)
            return lambda: fresh.randomise(None)
        seeded = made.copy()
        seeded._rng = state
        return lambda: seeded.randomise(data)

    def guarantee(self) -> Guarantee:
        """Return epsilon and delta of the object."""
        made = self.held
        if _is_tool(made):
            return ApproximateDP(float(made.keywords["epsilon"]))
        return ApproximateDP(float(made.epsilon), float(made.delta))

    def inputs(self) -> Inputs:
        """Pairs derived from the object's sensitivity and bounds, its values, its utilities, or a tool's bounds."""
        made = self.held
        if _is_tool(made):
            counts = made.func.__name__ in _COUNTS
            relation = "add-remove" if counts else "substitution"
            pairs = list(_arrays(made.keywords, replace=not counts, nan=made.func.__name__.startswith("nan")))
            return Inputs(
                relation=relation, pairs=pairs, scope=f"{len(pairs)} pairs of arrays in and beyond the bounds"
            )
        if _on_utilities(made):
            pairs = list(_utilities(made))
            return Inputs(relation="utilities within the sensitivity", pairs=pairs, scope=f"{len(pairs)} pairs")
        values = _values_of(made)
        if values:
            pairs = list(combinations(values[:_MOST_CATEGORIES], 2))
            return Inputs(relation="any-two-inputs", pairs=pairs, scope=f"all pairs of {len(values)} values")
        if not hasattr(made, "sensitivity"):
            raise ParameterError(
                f"{self.name}: no inputs can be derived for {type(made).__name__}; give pairs of neighbouring inputs"
            )
        pairs = list(_numbers(made))
        scope = f"{len(pairs)} pairs of numbers at the sensitivity, {float(made.sensitivity):g}"
        return Inputs(relation=f"numbers at most {float(made.sensitivity):g} apart", pairs=pairs, scope=scope)

    def statement(self, guarantee: Guarantee) -> str:
        """Return the claim in one sentence."""
        made = self.held
        what = f"tools.{made.func.__name__}" if _is_tool(made) else type(made).__name__
        return f"The outputs of `{self.name}`, diffprivlib's {what}, are {guarantee}."


def _is_tool(made: Any) -> bool:
    return isinstance(made, functools.partial)


def _on_utilities(made: Any) -> bool:
    return hasattr(made, "utility") and hasattr(made, "sensitivity")


def _value(released: Any) -> Any:
    """Return what a tool releases; of a histogram without the edges, which do not depend on the data."""
    return released[0] if isinstance(released, tuple) else released


def _values_of(made: Any) -> list[Any]:
    """Values between which a mechanism for categories chooses; none for a mechanism for numbers."""
    if hasattr(made, "value0"):
        return [made.value0, made.value1]
    if getattr(made, "hierarchy", None) is not None:
        return list(_leaves(made.hierarchy))
    found = getattr(made, "utility_list", None)
    return list(dict.fromkeys(value for row in found for value in row[:2])) if found else []


def _leaves(tree: Any) -> Iterator[Any]:
    if isinstance(tree, list | tuple):
        for each in tree:
            yield from _leaves(each)
    else:
        yield tree


def _numbers(made: Any) -> Iterator[Pair]:
    """Two numbers that differ by the sensitivity: around 0, at the bounds, beyond them, and where floats are coarse."""
    step = made.sensitivity
    low, high = getattr(made, "lower", None), getattr(made, "upper", None)
    bases = [0, 1, -step]
    if low is not None and high is not None:
        bases = [low, high - step, (low + high) / 2, low - step / 2, high + step, *bases]
    whole = all(isinstance(each, int | np.integer) for each in (step, low, high) if each is not None)
    for base in [*bases, 0.1, 1e6, 2.0**53 - 2 * step]:
        yield float(base), float(base + step)
        if whole and base == int(base):
            # Mechanisms for whole numbers refuse floats, and the other pairs are then left out.
            yield int(base), int(base + step)
    yield 0.0, -0.0
    yield 0.0, 5e-324


def _utilities(made: Any) -> Iterator[Pair]:
    """Utilities of all candidates, of which each changes by the sensitivity at most."""
    step, size = float(made.sensitivity), len(made.utility)
    own = [float(each) for each in made.utility]
    ascending = [step * place for place in range(size)]
    for base in (own, [0.0] * size, ascending):
        for place in {0, size - 1, int(np.argmax(base))}:
            alone = [step if each == place else 0.0 for each in range(size)]
            changes = [alone, [step] * size, [step - each for each in alone]]
            if not made.monotonic:
                changes.append([step if each == place else -step for each in range(size)])
            for change in changes:
                yield tuple(base), tuple(value + each for value, each in zip(base, change, strict=True))


def _arrays(keywords: dict[str, Any], *, replace: bool, nan: bool) -> Iterator[Pair]:
    """Arrays of odd and even lengths that differ in one record: at the bounds, beyond them, ties, -0.0, NaN."""
    bounds = keywords.get("bounds") or keywords.get("range") or (0.0, 1.0)
    low, high = (float(np.min(each)) for each in bounds)
    middle, span = low / 2 + high / 2, high - low
    records = [low, high, middle, low - span, high + span, 0.0, -0.0, math.inf, -math.inf]
    # Only some tools are made for arrays with NaN.
    records += [math.nan] if nan else []
    for size in (1, 2, 3, 5, 10):
        shared = [[low] * (size - 1), [high] * (size - 1), [low] * (size // 2) + [high] * (size - 1 - size // 2)]
        for rest in shared:
            for record in records if size == 3 else records[:2]:
                if not replace:
                    yield tuple(rest), (*rest, record)
                elif record != low:
                    yield (*rest, low), (*rest, record)


def recognises(value: Any) -> bool:
    """Whether a value is a mechanism, or a tool with its epsilon."""
    if isinstance(value, functools.partial):
        return "epsilon" in value.keywords
    needed = ("epsilon", "delta", "randomise", "copy")
    return not isinstance(value, type) and all(hasattr(value, each) for each in needed)


def from_diffprivlib(
    mechanism: Any, *, pairs: Iterable[Pair] | None = None, name: str = "diffprivlib"
) -> DiffprivlibMechanism:
    """Return a mechanism or tool of diffprivlib as a mechanism, with the claim that it carries.

    Parameters
    ----------
    mechanism
        A mechanism; or ``functools.partial`` of a tool with its arguments, among them ``epsilon``; or a function that
        makes either.
    pairs
        Neighbouring inputs in place of those that are derived: values of ``randomise``; utilities of the candidates for
        `Exponential` and `PermuteAndFlip`; arrays, as tuples of numbers, for a tool.
    name
        Name of the target.

    Returns
    -------
    Mechanism
        Its draws come from the library's own code, seeded.

    Raises
    ------
    ParameterError
        It is something else.

    Notes
    -----
    Derived inputs that the object refuses are left out. For a tool they are arrays of equal length that differ in one
    record, or for histograms in one record more, as the library's sensitivities say.

    Examples
    --------
    >>> import dpaudit
    >>> from diffprivlib.mechanisms import Geometric
    >>> print(dpaudit.check(dpaudit.from_diffprivlib(Geometric(epsilon=1.0)), samples=2_000).results[0].verdict)
    consistent
    """
    given = None if pairs is None else checked_pairs(pairs)
    more = {"recipe": (from_diffprivlib, mechanism, {"pairs": given, "name": name})}
    made = made_class(DiffprivlibMechanism, maker_of(mechanism), name=name, pairs=given, more=more)()
    assert isinstance(made, DiffprivlibMechanism)
    made.held  # noqa: B018 - made, and checked, at once
    return made


MECHANISM = DiffprivlibMechanism
