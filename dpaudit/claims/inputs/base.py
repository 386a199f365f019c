"""What an input domain offers, and keys by which an input is known again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dpaudit.errors import ParameterError

Pair = tuple[Any, Any]


@runtime_checkable
class InputDomain(Protocol):
    """Neighbouring inputs that can be counted, listed, drawn and varied.

    A pair is unordered: auditors look at both directions. The two inputs of a pair always differ.

    Examples
    --------
    >>> import dpaudit
    >>> domain = dpaudit.Records(values=(0, 1), size=2)
    >>> isinstance(domain, dpaudit.InputDomain)
    True
    >>> domain.count()
    2
    """

    @property
    def relation(self) -> str:
        """Name of the neighbouring relation."""
        ...

    @property
    def scope(self) -> str:
        """The inputs covered, in words."""
        ...

    def count(self) -> int | None:
        """Return the number of pairs; None where they are infinitely many or too many to count."""
        ...

    def pairs(self) -> Iterator[Pair]:
        """Yield every pair once, where ``count`` is not None."""
        ...

    def patterns(self) -> Iterator[Pair]:
        """Yield a few dozen pairs at most that are worth trying first, the likeliest to leak in front."""
        ...

    def draw(self, rng: np.random.Generator) -> Pair:
        """Draw a pair."""
        ...

    def vary(self, pair: Pair, rng: np.random.Generator) -> Pair:
        """Draw a pair near to a pair of this domain."""
        ...


def is_pair(value: object) -> bool:
    """Whether a value is two inputs to compare."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0 and len(value) == 2
    return isinstance(value, tuple | list) and len(value) == 2


def short_repr(value: object, longest: int = 80) -> str:
    """Text of a value for a message, whatever the value does about it."""
    try:
        text = repr(value.tolist() if isinstance(value, np.ndarray | np.generic) else value)
    except Exception:
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= longest else text[: longest - 3] + "..."


def error_text(error: BaseException) -> str:
    """Type of an exception and what it says, whatever its ``str`` does."""
    kind = type(error).__name__
    try:
        words = str(error)
    except Exception as other:
        return f"{kind}, whose `str` raised {type(other).__name__}"
    return f"{kind}: {words}" if words else kind


def input_key(data: Any) -> Any:
    """Key under which only one and the same input is found again; None for inputs of other kinds."""
    if isinstance(data, np.ndarray) and data.dtype.kind in "biuf":
        return ("array", data.dtype.str, data.shape, data.tobytes())
    if type(data) in (bool, int):
        return (type(data).__name__, data)
    if type(data) in (float, str, bytes):
        return (type(data).__name__, repr(data))
    if type(data) in (list, tuple):
        keys = tuple(input_key(item) for item in data)
        return None if None in keys else (type(data).__name__, keys)
    return None


def pair_key(pair: Pair) -> Any:
    """Key of an unordered pair; None where an input has none."""
    keys = [input_key(data) for data in pair]
    return None if None in keys else frozenset(keys)


def is_twice_the_same(pair: Pair) -> bool:
    """Whether a pair is twice the same input, as far as inputs of their kinds can be compared."""
    key = pair_key(pair)
    return key is not None and len(key) == 1


def distinct(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Leave out pairs that came before, and pairs of twice the same input."""
    seen: set[Any] = set()
    for pair in pairs:
        key = pair_key(pair)
        if key is not None:
            if key in seen or len(key) == 1:
                continue
            seen.add(key)
        yield pair


def finite_values(values: Iterable[Any], least: int, what: str) -> tuple[Any, ...]:
    """Return values that are at least so many and, as far as can be told, distinct; ParameterError otherwise."""
    try:
        listed = tuple(values)
    except TypeError:
        raise ParameterError(f"{what}: values must be a sequence of inputs, got {values!r}") from None
    if len(listed) < least:
        raise ParameterError(f"{what} needs at least {least} value{'s' if least > 1 else ''}, got {len(listed)}")
    seen: dict[Any, int] = {}
    for i, value in enumerate(listed):
        key = input_key(value)
        if key is not None and seen.setdefault(key, i) != i:
            raise ParameterError(f"{what}: values {seen[key]} and {i} are both {value!r}; list each value once")
    return listed


def position(values: Sequence[Any], item: Any) -> int:
    """Place of an item among the values: the very object or else one with the same key."""
    for i, value in enumerate(values):
        if value is item:
            return i
    key = input_key(item)
    if key is not None:
        for i, value in enumerate(values):
            if input_key(value) == key:
                return i
    raise ParameterError(f"{item!r} is not one of the {len(values)} values of the domain; vary pairs of the domain")


def other_than(index: int, count: int, rng: np.random.Generator) -> int:
    """Draw one of ``count`` indices that is not the given one."""
    drawn = int(rng.integers(count - 1))
    return drawn + (drawn >= index)


def whole(value: object, what: str, least: int) -> int:
    """Return a value as an int of at least ``least``; ParameterError otherwise."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ParameterError(f"{what} must be a whole number of at least {least}, got {value!r}")
    return int(value)
