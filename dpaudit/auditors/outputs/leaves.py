"""Single values inside of outputs: the text that identifies one, its number or category, and words to hash."""

from __future__ import annotations

import gc
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from enum import Enum
from functools import cache
from hashlib import blake2b, sha256
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np

from dpaudit.auditors.outputs.fields import attributes, is_object
from dpaudit.auditors.outputs.foreign import is_foreign, is_sparse, plain
from dpaudit.claims.inputs import error_text
from dpaudit.errors import CheckError

_LARGEST = 1e300
_LONGEST_TEXT = 256
_MOST_BITS = 4096
"""Larger integers are written in hexadecimal, because Python refuses to write them in decimal."""

_WORD_MIN, _WORD_MAX = -(2**63), 2**63 - 1

_ADDRESS: Any = object.__repr__
"""Says only where in memory a value lies."""

_HEXADECIMAL = re.compile("0x([0-9A-Fa-f]+)")
_OF_VALUES = frozenset({"datetime", "decimal", "fractions", "uuid"})
"""Modules of which the types are written by their values."""

ATOMS = frozenset({str, bytes, bool, type(None), np.bool_, np.str_, np.bytes_})
"""Types of which equal values have equal texts, so that distinct values can be looked up instead of written each."""

_WRITTEN_AS_THEY_ARE = frozenset({str, bytes, bool, type(None)})
"""Types whose values are their own canonical form."""

_EQUAL_ACROSS_TYPES = frozenset({int, float, bool})
"""Types of which a value may equal one of another type, whose text is another."""

_INT_TAG, _FLOAT_TAG, _TEXT_TAG = (
    np.uint64(tag) for tag in (0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B)
)
_NAN_BITS = np.uint64(0x7FF8000000000000)

Values = Sequence[Any] | np.ndarray
"""Values of one position in many outputs."""


def text_of(item: Any) -> str:
    """Text that identifies an outcome, long ones by their digest.

    Raises
    ------
    CheckError
        The outcome has no text, or one that says only where in memory it lies.
    """
    try:
        text = repr(canonical(item))
    except CheckError:
        raise
    except Exception as error:
        raise CheckError(
            f"an output of type {type(item).__name__} cannot be told from others, because its `repr` raised "
            f"{error_text(error)}; return numbers, strings, or lists, tuples, sets or dicts of them"
        ) from error
    if len(text) <= _LONGEST_TEXT:
        return text
    return f"{text[:_LONGEST_TEXT]} {sha256(text.encode(errors='surrogatepass')).hexdigest()}"


def canonical(item: Any) -> Any:
    """Return a value whose ``repr`` is the same for equal outcomes, whatever order a set is listed in."""
    kind: Any = type(item)
    # Nearly all values are texts and whole numbers, and pairs of them.
    if kind in _WRITTEN_AS_THEY_ARE or (kind is int and _WORD_MIN <= item <= _WORD_MAX):
        return item
    if kind is tuple or kind is list:
        return [canonical(part) for part in item]
    if kind is frozenset or kind is set:
        return ("set", sorted(_texts_of_members(item)))
    if is_foreign(kind):
        return canonical(plain(item))
    if is_object(kind) and (fields := attributes(item)) is not None:
        return kind.__qualname__, [(name, canonical(value)) for name, value in fields.items()]
    if kind.__repr__ is _ADDRESS:
        raise _unidentified(kind)
    if isinstance(item, int) and item.bit_length() > _MOST_BITS:
        return hex(item)
    if isinstance(item, np.ndarray):
        return canonical(item.tolist())
    if isinstance(item, set | frozenset):
        return ("set", sorted(_texts_of_members(item)))
    if isinstance(item, dict):
        return ("dict", sorted((repr(canonical(key)), repr(canonical(value))) for key, value in item.items()))
    if isinstance(item, list | tuple):
        return [canonical(part) for part in item]
    if isinstance(item, np.str_):
        # numpy leaves out zero characters at the end where it converts or writes one.
        return str.__str__(item)
    if isinstance(item, np.generic):
        return _with_one_zero(item.item())
    if _writes_itself(kind):
        # What a number writes itself as may leave out its value.
        return item, (int if issubclass(kind, int) else float)(item) + 0
    if not _says_its_value(kind) and _holds_address(item):
        raise _unidentified(kind)
    return _with_one_zero(item)


def _texts_of_members(members: set[Any] | frozenset[Any]) -> Iterable[str]:
    kinds = set(map(type, members))
    short_numbers = kinds == {int} and max(max(members), -min(members)).bit_length() <= _MOST_BITS
    if short_numbers or kinds <= _WRITTEN_AS_THEY_ARE:
        return map(repr, members)
    return (repr(canonical(part)) for part in members)


def _with_one_zero(item: Any) -> Any:
    """Return a value with 0.0 for -0.0, which is equal but has another text and other bits."""
    if type(item) is complex:
        return complex(item.real + 0.0, item.imag + 0.0)
    return item + 0.0 if type(item) in (float, np.longdouble) else item


def _unidentified(kind: type) -> CheckError:
    return CheckError(
        f"outputs hold values of type {kind.__name__}, whose `repr` does not identify them; return numbers, "
        "strings, or lists, tuples, sets or dicts of them, or define `__repr__`; in place of an object that holds such "
        "values as attributes, return a dict of those that are released"
    )


@cache
def _says_its_value(kind: Any) -> bool:
    """Whether what values of a type are written as is known to depend on nothing but the value."""
    return kind in ATOMS or is_number_type(kind) or kind.__module__ in _OF_VALUES


@cache
def _writes_itself(kind: Any) -> bool:
    """Whether a type is one of Python's numbers with a ``repr`` of its own."""
    own = issubclass(kind, int | float) and not issubclass(kind, Enum | bool)
    return own and kind.__repr__ not in (int.__repr__, float.__repr__)


@cache
def is_read_by_text(kind: Any) -> bool:
    """Whether all that is seen of single values of a type is their ``repr``, though they are no texts."""
    return not _says_its_value(kind) and not issubclass(kind, str | bytes | set | frozenset | complex | Enum)


def _holds_address(item: Any) -> bool:
    """Whether a text says where in memory the value lies, or what it is made of: a function, or what it is bound to."""
    found = {int(digits, 16) for digits in _HEXADECIMAL.findall(repr(item))}
    if not found or id(item) in found:
        return bool(found)
    parts = gc.get_referents(item)
    return any(id(part) in found for part in (*parts, *gc.get_referents(*parts)))


def with_names(outcomes: np.ndarray) -> list[Any]:
    """Return outcomes as an event lists them: records, named tuples and objects with the names of their parts.

    Views of memory and sparse matrices are what they hold, and exceptions what their ``repr`` says.
    """
    names = outcomes.dtype.names
    if names is None:
        return [_named(item) for item in outcomes.tolist()]
    return [dict(zip(names, map(_named, outcome), strict=True)) for outcome in outcomes.tolist()]


def _named(item: Any) -> Any:
    if isinstance(item, tuple) and hasattr(item, "_fields"):
        return {name: _named(part) for name, part in zip(item._fields, item, strict=True)}
    kind: Any = type(item)
    if kind is memoryview or is_sparse(kind):
        return plain(item)
    if is_object(kind) and (fields := attributes(item)) is not None:
        return {name: _named(part) for name, part in fields.items()}
    if kind is list or kind is tuple:
        return kind(_named(part) for part in item)
    if kind is dict:
        return {key: _named(part) for key, part in item.items()}
    if isinstance(item, BaseException):
        # As a text it would be its message, without its type.
        return repr(item)
    return item


@cache
def is_number_type(kind: Any) -> bool:
    """Whether values of a type are numbers that can be compared, except NaN, which counts as one more category."""
    return (issubclass(kind, Real) and not issubclass(kind, bool)) or issubclass(kind, Decimal)


def numbers_and_categories(values: Values, code: Callable[[str], int]) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the number of every value, 0 where it is none, and its category, 0 where it is a number.

    Parameters
    ----------
    values
        Values of one position, or of many.
    code
        Category of a value by its text.

    Returns
    -------
    numbers : ndarray of float
        Finite.
    categories : ndarray of int or None
        None where all are numbers.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        numbers = np.clip(values.astype(float), -_LARGEST, _LARGEST)
        odd = np.isnan(numbers) if values.dtype.kind == "f" else None
        return _without_nan(numbers, odd, code)
    groups = list(_by_type(values))
    if len(groups) == 1 and is_number_type(groups[0][0]):
        numbers = _as_floats(groups[0][2])
        return _without_nan(numbers, np.isnan(numbers), code)
    numbers, categories = np.zeros(len(values)), np.zeros(len(values), dtype=int)
    for kind, where, group in groups:
        if is_number_type(kind):
            made = _as_floats(group)
            made, others = _without_nan(made, np.isnan(made), code)
            numbers[where] = made
            if others is not None:
                categories[where] = others
        else:
            categories[where] = _looked_up(kind, group, code, int)
    return numbers, categories


def count_texts(values: Values) -> Counter[str]:
    """How often each value that is no number comes, by its text."""
    found: Counter[str] = Counter()
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        odd = int(np.isnan(values).sum()) if values.dtype.kind == "f" else 0
        return Counter({"nan": odd} if odd else {})
    for kind, _, group in _by_type(values):
        if is_number_type(kind):
            odd = int(np.isnan(_as_floats(group)).sum())
            if odd:
                found["nan"] += odd
        elif _can_be_looked_up(kind, group):
            for value, count in Counter(group).items():
                found[text_of(value)] += count
        else:
            found.update(map(text_of, group))
    return found


def words(values: Values) -> np.ndarray:
    """Return one well-mixed 64-bit word for every value, equal where the texts are."""
    if isinstance(values, np.ndarray) and (values.dtype.kind in "iu" or values.dtype.str[1:] in ("f2", "f4", "f8")):
        if values.dtype.kind == "f":
            return _float_words(values.astype(float))
        if values.dtype.kind == "i" or values.dtype.itemsize < 8 or int(values.max(initial=0)) <= _WORD_MAX:
            return mixed(values.astype(np.int64).view(np.uint64) ^ _INT_TAG)
    made = np.zeros(len(values), dtype=np.uint64)
    for kind, where, group in _by_type(values):
        made[where] = _words_of_type(kind, group)
    return made


def mixed(word: np.ndarray) -> np.ndarray:
    """Spread every bit of a word over all of them (the finaliser of SplitMix64)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(word ^ (word >> np.uint64(31)))


def digest(text: str) -> int:
    """64-bit digest of a text, the same in every process."""
    return int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest(), "little")


def _words_of_type(kind: type, group: Sequence[Any]) -> np.ndarray:
    if kind is float or (issubclass(kind, np.floating) and kind is not np.longdouble):
        return _float_words(np.array(group, dtype=float))
    if kind is int or issubclass(kind, np.integer):
        numbers = group if kind is int else [value.item() for value in group]
        if min(numbers) >= _WORD_MIN and max(numbers) <= _WORD_MAX:
            return mixed(np.array(numbers, dtype=np.int64).view(np.uint64) ^ _INT_TAG)
        return np.concatenate([_int_word(number) for number in numbers])
    return mixed(_looked_up(kind, group, digest, np.uint64) ^ _TEXT_TAG)


def _float_words(numbers: np.ndarray) -> np.ndarray:
    # -0.0 and 0.0 are equal but differ in their bits.
    bits = (numbers + 0.0).view(np.uint64)
    odd = np.isnan(numbers)
    return mixed((np.where(odd, _NAN_BITS, bits) if odd.any() else bits) ^ _FLOAT_TAG)


def _int_word(number: int) -> np.ndarray:
    if _WORD_MIN <= number <= _WORD_MAX:
        return mixed(np.array([number], dtype=np.int64).view(np.uint64) ^ _INT_TAG)
    return mixed(np.array([digest(text_of(number))], dtype=np.uint64) ^ _TEXT_TAG)


def _looked_up(kind: type, group: Sequence[Any], code: Callable[[str], int], dtype: Any) -> np.ndarray:
    """Code of every value's text, each distinct one written once where equal values have equal texts."""
    if _can_be_looked_up(kind, group):
        table = {value: code(text_of(value)) for value in dict.fromkeys(group)}
        return np.fromiter(map(table.__getitem__, group), dtype, len(group))
    return np.fromiter((code(text_of(value)) for value in group), dtype, len(group))


def _can_be_looked_up(kind: type, group: Sequence[Any]) -> bool:
    """Whether equal ones among values of a type have equal texts: pairs of whole numbers or of texts do."""
    if kind in ATOMS:
        return True
    if kind is not tuple and kind is not frozenset:
        return False
    parts = set(map(type, chain.from_iterable(group)))
    return parts <= _WRITTEN_AS_THEY_ARE | _EQUAL_ACROSS_TYPES and len(parts & _EQUAL_ACROSS_TYPES) <= 1


def _by_type(values: Values) -> Iterator[tuple[type, Any, Sequence[Any]]]:
    """Yield every type with the places of its values, and these."""
    if isinstance(values, np.ndarray):
        values = values.tolist() if values.dtype != np.longdouble else list(values)
    kinds = set(map(type, values))
    if len(kinds) == 1:
        yield kinds.pop(), slice(None), values
        return
    types = list(map(type, values))
    for kind in sorted(kinds, key=lambda each: each.__qualname__):
        where = np.flatnonzero(np.fromiter((each is kind for each in types), bool, len(types)))
        yield kind, where, [values[i] for i in where.tolist()]


def _as_floats(group: Sequence[Any]) -> np.ndarray:
    """Numbers in double precision, those beyond a large one limited."""
    try:
        with np.errstate(over="ignore"):
            numbers = np.array(group, dtype=float)
    except (OverflowError, TypeError, ValueError):
        # Whole numbers may be larger than any floating-point number.
        numbers = np.array([_as_float(value) for value in group])
    return np.clip(numbers, -_LARGEST, _LARGEST, out=numbers)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return _LARGEST if value > 0 else -_LARGEST
    except ValueError:  # A NaN of Decimal may be one that signals.
        return math.nan


def _without_nan(
    numbers: np.ndarray, odd: np.ndarray | None, code: Callable[[str], int]
) -> tuple[np.ndarray, np.ndarray | None]:
    if odd is None or not odd.any():
        return numbers, None
    return np.where(odd, 0.0, numbers), np.where(odd, code("nan"), 0)
