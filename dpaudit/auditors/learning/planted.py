"""A difference that is planted in copies of outputs, to see whether what learns would notice one of that kind.

That nothing tells two inputs apart says something only where a difference could have been told. Outputs such as hash
reports, one-time pads and random identifiers hide what they depend on from everything that compares values.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from dpaudit.auditors.learning.digits import Found, digits_in
from dpaudit.auditors.outputs.column_words import Naming, part
from dpaudit.auditors.outputs.columns import Columns
from dpaudit.auditors.outputs.event_words import listed
from dpaudit.auditors.outputs.flat import Flat, Grouped, Structure, Uniform, Varied, blocks, paths
from dpaudit.auditors.outputs.leaves import Values, is_read_by_text
from dpaudit.auditors.outputs.outputs import Outputs, coding_of, joined, outcome_keys
from dpaudit.auditors.outputs.text_fields import fields_of, is_word
from dpaudit.auditors.sampling.pace import check_time

_ROWS, _LEAST_ROWS = 20_000, 1000
"""Outputs of either input, at most, that are copied, and of the widest."""

_NUMBERS = 20_000_000
"""Numbers of either input, at most, that are looked at where that leaves `_LEAST_ROWS` outputs. Chosen by hand, for
time and memory: 20,000 outputs of 1,000 numbers."""

_SEED = 0x5EED
_MOSTLY_NEW = 0.5
"""Share of distinct values from which on a column identifies outputs instead of describing them."""

_FEW_TIMES = 4
"""Outputs that have a key, at most, for it to name an output instead of a thing. Chosen by hand: of 400 names among
3,000 outputs, most come more often."""

_BINS = 16
_EVEN = 2.0
"""Ratio of the fullest to the emptiest of the bins of a column whose values are spread like random identifiers."""

_GLANCE, _MIDDLE = 1000, (0.3, 0.7)
"""Rows that say first whether a column may identify, and the part of them that the middle of its range then has."""

_LEAST_GLANCE, _GLANCE_NUMBERS = 100, 4_000_000
"""Rows, at least, and numbers, at most, that this takes where there are many columns. Chosen by hand, for time."""

_DEPTH = 4
"""Structures within each other in which it is looked for sets and lists, for advice. Chosen by hand."""

_GLANCE_COLUMNS = 4096
"""Columns that are looked at together, for memory. Chosen by hand."""

_SPLIT_COLUMNS = 2000
"""Columns, at most, among which that is chosen which a value splits most evenly. Chosen by hand, for time: one of many
is as good as another."""

_SECONDS = 1e-7
"""Seconds that it takes to look at a number, about. Measured roughly: 20 to 100 ns."""

_NOT_EVEN = 56.5
"""Chi-squared statistic of the bins that an evenly spread column exceeds with probability 1e-6."""

_ONE_SIDED = 0.02

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?", re.ASCII)
"""A number in a word, such as 12.5msec."""

_OF_WHOLE_NUMBER = re.compile(r"( // 2\*\*\d+)?( % 2\*\*\d+)?$")
"""Words on which bits of a long whole number a column holds."""


def planted(x: Outputs, y: Outputs, epsilon: float, *, digits: bool = False) -> tuple[Outputs, Outputs] | None:
    """Return copies of outputs between which an event about as common as its complement differs by ``epsilon``.

    Every output of both inputs goes to one of the copies; those in the event go to the first, and the others to the
    second, e^epsilon times as often as the other way round. Where the outputs, or a column of them, identify rather
    than describe, the event is a half of the outcomes that is picked at random, as a hidden dependence would pick it.
    Otherwise it is a half-line in the column that a value splits most evenly.

    Parameters
    ----------
    x, y
        Outputs on either input.
    epsilon
        Size of the difference.
    digits
        Whether a part of them looks like random digits.

    Returns
    -------
    tuple or None
        The copies, equally many outputs in each; None where all outputs are alike, so that nothing can be planted.
    """
    both = _looked_at(x, y)
    inside = _event(x, y, both, digits)
    if not _ONE_SIDED < inside.mean() < 1 - _ONE_SIDED:
        return None
    rng = np.random.default_rng(_SEED)
    first = rng.random(len(both)) < 0.5
    kept = (inside == first) | (rng.random(len(both)) < np.exp(-epsilon))
    copies = [np.flatnonzero(kept & first), np.flatnonzero(kept & ~first)]
    size = min(map(len, copies))
    of_first, of_second = (both[rng.permutation(places)[:size]] for places in copies)
    return of_first, of_second


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifier:
    """What names outputs instead of describing them.

    Attributes
    ----------
    found
        The numbers of its columns, or the paths of its values; nothing where no part of the outputs is known to do it.
    columns, width
        The columns that outputs are taken apart into, and how many there are.
    digits
        Whether they identify only together, as random digits do.
    field
        Whether it is a word of its own that most outputs have, which are a text each.
    """

    found: Found = ()
    columns: Columns
    width: int
    digits: bool = False
    field: bool = False

    def describe(self, naming: Naming) -> str:
        """Return the part of an output that it is, in words; nothing where it is the whole, or not known."""
        if self.field:
            return "a part of the text that hardly any other has"
        names = [
            (f"output{each}" if each else "") if isinstance(each, str) else part(self.columns, each, self.width, naming)
            for each in self.found
            if isinstance(each, str) or self.width > 1
        ]
        # A whole number that is taken apart is an identifier as a whole.
        names = [_OF_WHOLE_NUMBER.sub("", name) for name in names if name]
        if self.digits:
            whole = not names or (len(names) == self.width and self.columns.numeric)
            return f"{'all their values' if whole else listed(names)}, which together look like random digits"
        return listed(names) if names else ""


def identifier(x: Outputs, y: Outputs) -> Identifier | None:
    """What in outputs names them, so that they may hide more than any score sees; None where nothing does.

    Nearly all texts that hold a noisy number, or several words, are new: outputs that are a text each identify by a
    number in it, or where most have a word that hardly any other has.
    """
    both = _looked_at(x, y)
    some = _first(x, y)
    columns = some[0].columns_with(some[1])
    if columns is None:
        return None
    own_words = _are_texts(both) and "" not in columns.read_as_fields
    with np.errstate(over="ignore", invalid="ignore"):  # outputs may be infinite, or too large for a double
        rows = both.rows(columns).astype(float, copy=False)
        found = _evenly_spread(rows) if own_words else _identifying(both, rows, columns)
        digits = () if found is not None or own_words else digits_in(both, rows, len(some[0]), len(x) + len(y))
    field = found is None and own_words and _have_words_of_their_own(both)
    if found is None and not digits and not field:
        return None
    return Identifier(found=found or digits, columns=columns, width=rows.shape[1], digits=bool(digits), field=field)


def are_alike(x: Outputs, y: Outputs) -> bool:
    """Whether all outputs of both inputs are equal."""
    # A few outputs mostly say that they are not.
    for size in (min(_LEAST_GLANCE, len(x), len(y)), max(len(x), len(y))):
        both = joined([each[: min(size, len(each))] for each in (x, y)])
        keys = outcome_keys(both, coding_of(both))
        if (keys != keys[0]).any():
            return False
    return True


def types_read_by_text(x: Outputs, y: Outputs) -> tuple[str, ...]:
    """Names of the types in the first of the outputs of which only the ``repr`` is seen, in alphabetical order."""
    if x.dtype.kind != "O" or x.ndim > 1:
        return ()
    some = joined([each[: min(_GLANCE, len(each))] for each in (x, y)]).raw
    kinds: set[type] = set()
    for _, flat in blocks(some, characters=False):
        parts = [each for _, each in flat.groups] if isinstance(flat, Grouped) else [flat]
        for group in parts:
            columns = group.columns if isinstance(group, Uniform) else [group.values]
            kinds.update(*(set(map(type, column)) for column in columns if not isinstance(column, np.ndarray)))
    return tuple(sorted(kind.__name__ for kind in kinds if is_read_by_text(kind)))


def what_is_held(x: Outputs, y: Outputs) -> tuple[str, ...]:
    """What the first of the outputs are or hold: ``numbers`` alone, ``sets``, ``lists``."""
    if x.dtype.kind in "biufc":
        return ("numbers",)
    if x.dtype.kind != "O" or x.ndim > 1:
        return ()
    kinds: set[str] = set()
    for each in (x, y):
        for output in each.raw[:_LEAST_GLANCE]:
            kinds.update(_held(output, _DEPTH))
    return tuple(sorted(kinds))


def _held(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, set | frozenset):
        yield "sets"
    elif isinstance(value, list | tuple | dict) and depth:
        if isinstance(value, list):
            yield "lists"
        for part in value.values() if isinstance(value, dict) else value:
            yield from _held(part, depth - 1)


def _first(x: Outputs, y: Outputs) -> tuple[Outputs, Outputs]:
    """Outputs of either input that are looked at; all of them as they are, with what is known of them."""
    rows = max(_LEAST_ROWS, min(_ROWS, _NUMBERS // x.width))
    return (x, y) if max(len(x), len(y)) <= rows else (x[:rows], y[:rows])


def _looked_at(x: Outputs, y: Outputs) -> Outputs:
    """These outputs of both inputs, where there is time for them."""
    some = _first(x, y)
    check_time(sum(map(len, some)) * x.width * _SECONDS)
    return joined(some)


def _event(x: Outputs, y: Outputs, both: Outputs, digits: bool) -> np.ndarray:
    """Whether each output is in the event that differs."""
    columns = x.columns_with(y)
    if columns is None:
        return _half_of_outcomes(both)
    rows = both.rows(columns).astype(float, copy=False)
    if digits or _identifying(both, rows, columns) is not None:
        return _half_of_outcomes(both)
    places = np.unique(np.linspace(0, rows.shape[1] - 1, min(rows.shape[1], _SPLIT_COLUMNS)).astype(int))
    splits = []
    for column in rows[:, places].T:
        check_time()
        splits.append(column > _middle(column))
    evenness = [abs(float(split.mean()) - 0.5) for split in splits]
    return np.asarray(splits[evenness.index(min(evenness))])


def _identifying(both: Outputs, rows: np.ndarray, columns: Columns) -> Found | None:
    """Where outputs name themselves instead of describing something, as `Identifier` has it; None if nowhere.

    Texts do that where most of them are new and not read as numbers and common words, and structured outputs where most
    of them are new by what is no number in them, or by the texts in one place or the keys of one dict. Otherwise a
    column of whole numbers does it, of whatever type, most of whose values are new and spread evenly. A column of other
    numbers does it where they are as evenly spread as those of a random generator and another column is not: noise
    alone, in however many columns, describes.
    """
    if both.dtype.kind not in "biufc" and _share_of_new(outcome_keys(both, coding_of(both))) > _MOSTLY_NEW:
        read = columns.read_as_fields
        texts = (None if "" in read else "") if _are_texts(both) else _new_texts(both, read)
        if texts is not None or _share_of_new(outcome_keys(rows, "row")) <= _MOSTLY_NEW:
            return (texts,) if texts else ()
    return _evenly_spread(rows)


def _are_texts(both: Outputs) -> bool:
    """Whether outputs are a text each."""
    return both.dtype.kind in "US" or (both.dtype.kind == "O" and isinstance(both.raw.ravel()[0], str | bytes))


def _have_words_of_their_own(both: Outputs) -> bool:
    """Whether most texts have a word that hardly any other has, whatever numbers are in it."""
    texts = [text for text in both.raw.ravel().tolist() if isinstance(text, str | bytes)]
    words = [{_NUMBER.sub("0", field) for field in each if is_word(field)} for each in fields_of(texts)]
    counts = Counter(chain.from_iterable(words))
    return sum(any(counts[word] <= _FEW_TIMES for word in each) for each in words) > _MOSTLY_NEW * len(both)


def _evenly_spread(rows: np.ndarray) -> Found | None:
    """Columns that identify by their numbers, as `_identifying` has it."""
    uniform = []
    for place in _candidates(rows):
        check_time()
        column = rows[:, place]
        if not np.isfinite(column).all() or _share_of_new(column) <= _MOSTLY_NEW:
            continue
        counts = _counts(column)
        if np.array_equal(column, np.floor(column)):
            if counts.max() < _EVEN * counts.min():
                return (int(place),)
        else:
            even = len(column) / _BINS
            if float(np.sum((counts - even) ** 2)) < _NOT_EVEN * even:
                uniform.append(int(place))
    return tuple(uniform) if 0 < len(uniform) < rows.shape[1] else None


def _counts(column: np.ndarray) -> np.ndarray:
    """How many values of a column lie in each of equally wide bins."""
    quarters = column / 4  # the difference of two large numbers may exceed the range of double precision
    counts, _ = np.histogram(quarters, bins=np.linspace(quarters.min(), quarters.max(), _BINS + 1))
    return np.asarray(counts)


def _candidates(rows: np.ndarray) -> np.ndarray:
    """Columns whose first values look as if they were spread evenly: few of many, so that a look at all is quick."""
    rows = rows[: max(_LEAST_GLANCE, min(_GLANCE, _GLANCE_NUMBERS // rows.shape[1]))]
    shares = []
    for start in range(0, rows.shape[1], _GLANCE_COLUMNS):
        check_time()
        some = rows[:, start : start + _GLANCE_COLUMNS]
        with np.errstate(over="ignore", invalid="ignore"):
            low, high = some.min(axis=0), some.max(axis=0)
            middle = np.abs(some - (low / 2 + high / 2)) <= (high / 4 - low / 4)
        shares.append(middle.mean(axis=0))
    share = np.concatenate(shares)
    return np.flatnonzero((share > _MIDDLE[0]) & (share < _MIDDLE[1]))


def _new_texts(both: Outputs, read: frozenset[str]) -> str | None:
    """Path of the first place of structured outputs where most texts, or keys, are new; None if there is none.

    A value of which only its ``repr`` is seen is a text, too; one that is read as fields is none.
    """
    texts: dict[str, set[Any]] = {}
    shapes: list[tuple[Structure, int]] = []
    for _, flat in blocks(both.raw, characters=False):
        check_time()
        if isinstance(flat, Varied) and not any(map(_is_type_of_texts, set(map(type, flat.values)))):
            shapes += [(structure, 1) for structure in flat.structures]
            continue
        for structure, size, columns in _pieces(flat):
            shapes.append((structure, size))
            for path, values in zip(paths(structure), columns, strict=True):
                if not isinstance(values, np.ndarray) or values.dtype.kind in "USO":
                    texts.setdefault(path, set()).update(map(_text, filter(_is_text, values)))
    found = (path for path, each in texts.items() if path not in read and len(each) > _MOSTLY_NEW * len(both))
    return next(found, _new_keys(shapes, len(both)))


def _pieces(flat: Flat) -> Iterator[tuple[Structure, int, Sequence[Values]]]:
    """Structures of outputs, how many have each, and their values by place."""
    if isinstance(flat, Grouped):
        for _, group in flat.groups:
            yield from _pieces(group)
    elif isinstance(flat, Uniform):
        yield flat.structure, flat.size, flat.columns
    else:
        start = 0
        for structure, count in zip(flat.structures, flat.counts.tolist(), strict=True):
            yield structure, 1, [[value] for value in flat.values[start : start + count]]
            start += count


def _is_text(value: Any) -> bool:
    return _is_type_of_texts(type(value))


def _is_type_of_texts(kind: type) -> bool:
    of_any: Any = kind
    return issubclass(kind, str | bytes) or is_read_by_text(of_any)


def _text(value: Any) -> str | bytes:
    return value if isinstance(value, str | bytes) else repr(value)


def _new_keys(shapes: Sequence[tuple[Structure, int]], size: int) -> str | None:
    """Path of the first dict that has a key in most outputs which hardly any other output has; None if none does."""
    if _FEW_TIMES * len({structure for structure, _ in shapes}) <= _MOSTLY_NEW * size:
        return None
    counts: dict[str, Counter[Any]] = {}
    for structure, many in shapes:
        for path, names in _keys(structure, ""):
            counts.setdefault(path, Counter()).update(dict.fromkeys(names, many))
    rare: Counter[str] = Counter()
    for structure, many in shapes:
        for path, names in _keys(structure, ""):
            rare[path] += many * (min(map(counts[path].__getitem__, names), default=size) <= _FEW_TIMES)
    return next((path for path, many in rare.items() if many > _MOSTLY_NEW * size), None)


def _keys(structure: Structure, path: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Paths of dicts with their keys, down to dicts in lists of one another."""
    if structure is None or isinstance(structure, int):
        return
    what, names, parts = structure
    if what == "dict":
        yield path, names
    for name, inner in zip(names if what == "dict" else ["..."] * len(parts), parts, strict=True):
        if inner is not None and not isinstance(inner, int):
            yield from _keys(inner, f"{path}[{name}]")


def _share_of_new(values: np.ndarray) -> float:
    return len(np.unique(values)) / len(values)


def _middle(column: np.ndarray) -> float:
    """Value above which about half of a column lies; below its largest."""
    middle = float(np.median(column))
    return middle if (column > middle).any() else float(np.nextafter(middle, -np.inf))


def _half_of_outcomes(both: Outputs) -> np.ndarray:
    """Outcomes picked at random, each with all its outputs."""
    _, outcome = np.unique(outcome_keys(both, coding_of(both)), return_inverse=True)
    count = int(outcome.max()) + 1
    order = np.random.default_rng(_SEED).permutation(count)
    return np.asarray((order < count // 2)[outcome])
