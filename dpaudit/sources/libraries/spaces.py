"""Input domains of OpenDP, read from how they are written: ``VectorDomain(AtomDomain(bounds=[0, 10], T=i32))``.

The text is the one thing that all versions of the library, and all of its bindings, have in common.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Literal

from dpaudit.errors import ParameterError

_FLOATS = ("f32", "f64")
_INTEGERS = {f"{sign}{bits}": (sign, bits) for sign in "iu" for bits in (8, 16, 32, 64, 128)}
_LARGEST = {"f32": 3.4028234663852886e38, "f64": 1.7976931348623157e308}
_SMALLEST = {"f32": 1.401298464324817e-45, "f64": 5e-324}

Form = Literal["atom", "vector", "option", "map", "bits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """An input domain.

    Attributes
    ----------
    form
        ``atom``, ``vector`` (of atoms), ``option`` (an atom or None), ``map`` (keys to atoms), ``bits`` (bytes).
    atom
        Type of the values: ``i32``, ``f64``, ``String``, ``bool``.
    low, high
        Bounds of the values, the type's own where none are declared; None where the values are no numbers.
    bounded
        Whether bounds are declared.
    nan
        Whether NaN is among the values.
    size
        Number of elements of a vector; None where any are allowed.
    none
        Whether elements of a vector may be None.
    """

    form: Form
    atom: str
    low: Any = None
    high: Any = None
    bounded: bool = False
    nan: bool = False
    size: int | None = None
    none: bool = False

    @property
    def floats(self) -> bool:
        """Whether the values are floating-point numbers."""
        return self.atom in _FLOATS

    @property
    def integers(self) -> bool:
        """Whether the values are whole numbers."""
        return self.atom in _INTEGERS or self.atom in ("usize", "isize")

    def number(self, value: float) -> Any:
        """Return a number as a value of the type."""
        return float(value) if self.floats else int(value)

    def holds(self, value: Any) -> bool:
        """Whether a number is one of the values."""
        return self.low is None or (math.isnan(value) and self.nan) or self.low <= value <= self.high

    def records(self) -> list[Any]:
        """Values worth trying, ordinary ones first: ends of the bounds, extremes of the type, NaN, infinities, -0.0."""
        if self.atom == "bool":
            return [False, True]
        if self.atom == "String":
            return ["a", "b", "", "\u00e9", "a" * 300]
        inside = [value for value in (0, 1, 2, -1) if self.holds(value)]
        middle = [self.number(self.low / 2 + self.high / 2)] if self.bounded else []
        values = [self.number(each) for each in inside] + middle
        if self.bounded:
            values = [self.low, self.high, *values]
        elif self.integers:
            values += [self.high, self.low]
        else:
            values += [1e6, self.high, self.low, math.inf, -math.inf, _SMALLEST[self.atom]]
        if self.floats and self.holds(0.0):
            values.append(-0.0)
        values += [math.nan] if self.nan else []
        return [*_distinct(values), *([None] if self.none else [])]


def space_of(text: str) -> Space:
    """Read a domain as OpenDP writes it.

    Raises
    ------
    ParameterError
        No inputs can be derived from a domain of that kind.
    """
    text = " ".join(text.split())
    if text.startswith("VectorDomain("):
        element = space_of(text.removeprefix("VectorDomain("))
        if element.form in ("atom", "option"):
            size = re.search(r"\bsize=(\d+)", text)
            return _changed(element, form="vector", none=element.none, size=None if size is None else int(size[1]))
    if text.startswith("OptionDomain("):
        return _changed(space_of(text.removeprefix("OptionDomain(")), form="option", none=True)
    if text.startswith("BitVectorDomain"):
        return Space(form="bits", atom="u8")
    if text.startswith("MapDomain"):
        key, value = text.partition("value_domain")[::2]
        if "T=String" in key:
            return _changed(space_of(value.strip(" :=")), form="map")
    if text.startswith("AtomDomain("):
        return _atom(text)
    raise ParameterError(f"no inputs can be derived from the domain {text}; give pairs of neighbouring inputs yourself")


def _atom(text: str) -> Space:
    # What follows the atom belongs to what holds it.
    inner = text[: text.index(")") + 1] if ")" in text else text
    kind = re.search(r"\bT=(\w+)", inner)
    if kind is None:
        raise ParameterError(f"the domain {text} does not say its type; give pairs of neighbouring inputs yourself")
    atom = kind[1]
    low, high = _extremes(atom)
    bounds = re.search(r"bounds=\[([^\],]+), ?([^\]]+)\]", inner)
    if bounds is not None and low is not None:
        convert = float if atom in _FLOATS else int
        low, high = convert(bounds[1]), convert(bounds[2])
    elif low is None and atom not in ("bool", "String"):
        raise ParameterError(f"no inputs can be derived for the type {atom}; give pairs of inputs yourself")
    return Space(form="atom", atom=atom, low=low, high=high, bounded=bounds is not None, nan="nan=true" in inner)


def _extremes(atom: str) -> tuple[Any, Any]:
    if atom in _LARGEST:
        return -_LARGEST[atom], _LARGEST[atom]
    if atom in ("usize", "isize"):
        atom = atom.replace("size", "64")
    if atom not in _INTEGERS:
        return None, None
    sign, bits = _INTEGERS[atom]
    return (0, 2**bits - 1) if sign == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _changed(space: Space, **changes: Any) -> Space:
    from dataclasses import replace

    return replace(space, **changes)


def _distinct(values: list[Any]) -> list[Any]:
    return list({repr(value): value for value in values}.values())
