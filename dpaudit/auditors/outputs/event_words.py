"""Events in words: which parts of an output they look at, and the rule itself where it is short."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context
from itertools import product
from typing import Any

import numpy as np

MOST_NAMED = 6
"""Parts of an output that are named, at most, where there are more."""

LONGEST_RULE = 240
"""Characters of a rule, at most."""

RULE = "in short"
"""Key of an event under which its rule stands."""

_MOST_CELLS = 1 << 15
_MOST_AXES = 6
_MOST_GROUPS, _MOST_GROUPED_AXES = 36, 3
"""Cells, and numbers, that a rule is looked for in at most; and parts of these, and numbers, that it may hang on."""

_LONGEST_NUMBER = 9
"""Characters up to which a number is written in full."""

_LEAST_DIGITS, _MOST_DIGITS = 6, 15
"""Digits that a number is rounded to: any decimal number of up to 15 digits is read back as it was written."""

_OFF = 1e-6
"""Part of the narrowest cell of a column, or of 1, that a threshold in words may be off by."""

_LARGE = 1000.0
"""Size from which on thresholds are written in full: timestamps and totals may differ by a tiny part of their size."""

_MOST_ADDED, _MOST_STEPS = 4, 3
_DECIMALS = range(2, 7)
"""Numbers and their steps up to which it is written what each adds, and decimals that are tried for that."""


def half_line(threshold: float, *, above: bool) -> str:
    """Write which side of a threshold an event is, with as many digits as it takes to read the threshold back."""
    return f"{'>=' if above else '<='} {in_full(threshold)}"


def listed(names: Sequence[str], weights: Sequence[float] | None = None) -> str:
    """Write a list of parts in their order, each once; of many, those of the largest weights and how many others.

    Examples
    --------
    >>> listed([f"output[{i}]" for i in range(20)], [i in (3, 8) for i in range(20)])
    'output[0], output[1], output[2], output[3], output[4], output[8] and 14 more'
    """
    if not names:
        return "nothing"
    heaviest: dict[str, float] = {}
    for name, weight in zip(names, weights or [0.0] * len(names), strict=True):
        heaviest[name] = max(weight, heaviest.get(name, -math.inf))
    chosen = sorted(heaviest, key=lambda name: -heaviest[name])[:MOST_NAMED]
    words = [name for name in heaviest if name in chosen]
    if len(words) < len(heaviest):
        words.append(f"{len(heaviest) - len(words)} more")
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def in_full(value: float) -> str:
    """Write a number with the fewest digits that are read back as it.

    Examples
    --------
    >>> in_full(2.0), in_full(0.1), in_full(1.7e9)
    ('2', '0.1', '1700000000')
    """
    return repr(float(value)).removesuffix(".0")


def number(value: float, off: float) -> str:
    """Write a number in full where it is short or whole, otherwise rounded by no more than ``off``.

    Examples
    --------
    >>> number(2.0, 0.01), number(1.7e9, 0.01), number(1 / 3, 0.01), number(1 / 3, 1e-8)
    ('2', '1700000000', '0.333333', '0.33333333')
    """
    text = in_full(value)
    return text if len(text) <= _LONGEST_NUMBER or value.is_integer() else _rounded(value, off, ROUND_HALF_EVEN)


def _rounded(value: float, off: float, rounding: str) -> str:
    """Write a number with the fewest digits that are near enough, at least six, or in full."""
    for digits in range(_LEAST_DIGITS, _MOST_DIGITS + 1):
        rounded = float(Context(prec=digits, rounding=rounding).create_decimal_from_float(value))
        if abs(value - rounded) <= off:
            return f"{rounded:.{digits}g}"
    return in_full(value)


def rounded_down(value: float, width: float) -> str:
    """Write a number, or one that is smaller by hardly any part of a cell of that width.

    Examples
    --------
    >>> rounded_down(2 / 3, 1.0), rounded_down(-2 / 3, 1.0), rounded_down(2 / 3, 0.01), rounded_down(5000.1, 1.0)
    ('0.666666', '-0.666667', '0.66666666', '5000.1')
    """
    text = in_full(value)
    if len(text) <= _LONGEST_NUMBER or abs(value) >= _LARGE:
        return text
    return _rounded(value, _OFF * min(1.0, width), ROUND_FLOOR)


def rounded_up(value: float, width: float) -> str:
    """Write a number, or one that is larger by hardly any part of a cell of that width.

    Examples
    --------
    >>> rounded_up(2 / 3, 1.0), rounded_up(-2 / 3, 1.0), rounded_up(2.0, 1.0)
    ('0.666667', '-0.666666', '2')
    """
    text = rounded_down(-value, width)
    return text[1:] if text.startswith("-") else text if text == "0" else f"-{text}"


def beginning(edge: float) -> tuple[str, bool]:
    """Write where numbers begin exactly, and say whether they begin after that number.

    Examples
    --------
    >>> beginning(2.0), beginning(math.nextafter(2.0, math.inf))
    (('2', False), ('2', True))
    """
    before = math.nextafter(edge, -math.inf)
    return min((in_full(edge), False), (in_full(before), True), key=lambda each: len(each[0]))


def interval(name: str, low: tuple[str, bool] | None, high: tuple[str, bool] | None) -> str:
    """Write that a number is in an interval, of which `beginning` wrote where it and what is beyond it begin."""
    if low is None or high is None:
        if high is not None:
            return f"{name} {'<=' if high[1] else '<'} {high[0]}"
        return name if low is None else f"{name} {'>' if low[1] else '>='} {low[0]}"
    return f"{low[0]} {'<' if low[1] else '<='} {name} {'<=' if high[1] else '<'} {high[0]}"


@dataclass(frozen=True, slots=True)
class Axis:
    """One number of outputs, cut into cells.

    Attributes
    ----------
    name
        What it is.
    points
        A number in every cell.
    edges
        Where every cell but the first begins, ascending.
    values
        What the number of every cell stands for; None for numbers that count by their size.
    """

    name: str
    points: np.ndarray
    edges: np.ndarray
    values: tuple[str, ...] | None = None

    @classmethod
    def of_numbers(cls, name: str, edges: np.ndarray) -> Axis:
        """Cut a number at edges."""
        edges = np.unique(edges)
        return cls(name, np.r_[np.nextafter(edges[:1], -np.inf), edges] if len(edges) else np.zeros(1), edges)

    def condition(self, inside: np.ndarray) -> str:
        """Write which cells an output must be in, of which some are meant and some are not."""
        if self.values is not None:
            chosen = [value for value, each in zip(self.values, inside, strict=True) if each]
            others = [value for value, each in zip(self.values, inside, strict=True) if not each]
            if len(chosen) <= len(others):
                return f"{self.name} is {_any_of(chosen)}"
            return f"{self.name} is {'not' if len(others) == 1 else 'none of'} {_any_of(others)}"
        intervals, between = _runs(inside), _runs(~inside)
        equal = f"{self.name} = "
        if len(intervals) == 2 and len(between) == 1 and (left_out := self._interval(*between[0])).startswith(equal):
            return f"{self.name} != {left_out.removeprefix(equal)}"
        return " or ".join(self._interval(start, end) for start, end in intervals)

    def _interval(self, start: int, end: int) -> str:
        if start and end < len(self.edges) and _is_next(self.edges[start - 1], self.edges[end]):
            return f"{self.name} = {in_full(self.edges[start - 1])}"
        low = self._beginning(start - 1) if start else None
        high = self._beginning(end) if end < len(self.edges) else None
        return interval(self.name, low, high)

    def _beginning(self, place: int) -> tuple[str, bool]:
        """Write where a cell begins: exactly, or lower by so little that it hardly matters for any output."""
        edge = float(self.edges[place])
        exact = beginning(edge)
        single = np.nextafter(self.edges[:-1], np.inf) == self.edges[1:]
        # Values that come again and take many digits, such as thirds, may lie as near to each other as rounding goes.
        again = max(map(len, map(in_full, self.edges[:-1][single])), default=0) > _LONGEST_NUMBER
        if len(exact[0]) <= _LONGEST_NUMBER or again or (place and single[place - 1]):
            return exact
        width = float(np.diff(self.edges).min(where=~single, initial=1.0))
        # Never higher: outputs that equal an edge, as those it was learned from do, stay where they are.
        rounded = rounded_down(edge, width)
        return (rounded, False) if len(rounded) < len(exact[0]) else exact

    def added(self, amounts: Sequence[str]) -> str:
        """Write what every cell adds."""
        if self.values is not None:
            usual = max(dict.fromkeys(amounts), key=list(amounts).count)
            parts = [
                f"{amount} for {_any_of([v for v, each in zip(self.values, amounts, strict=True) if each == amount])}"
                for amount in dict.fromkeys(amounts)
                if amount != usual
            ]
        else:
            usual = amounts[-1]
            ends = map(self._beginning, range(len(self.edges)))
            parts = [
                f"{amount} {'up to' if beyond else 'below'} {end}"
                for amount, (end, beyond) in zip(amounts[:-1], ends, strict=True)
            ]
        return f"{self.name} adds {', '.join([*parts, f'{usual} otherwise' if parts else usual])}"


def _is_next(low: float, high: float) -> bool:
    """Whether no number is between two."""
    return math.nextafter(low, math.inf) == high


def _runs(inside: np.ndarray) -> list[tuple[int, int]]:
    """First and last cells of every run of cells."""
    padded = np.zeros(len(inside) + 2, bool)
    padded[1:-1] = inside
    turns = np.flatnonzero(padded[1:] != padded[:-1]).tolist()
    return [(start, end - 1) for start, end in zip(turns[::2], turns[1::2], strict=True)]


def _any_of(values: Sequence[str]) -> str:
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} or {values[-1]}"


def rule(axes: Sequence[Axis], score: Callable[[np.ndarray], np.ndarray], threshold: float, *, above: bool) -> str:
    """Write an event as conditions on a few numbers; empty where that takes many words.

    Parameters
    ----------
    axes
        The numbers that the score looks at; it is the same everywhere in a cell.
    score
        Score of rows of these numbers.
    threshold, above
        Which scores are in the event.

    Examples
    --------
    >>> import numpy as np
    >>> axes = [Axis.of_numbers(name, np.array([0.5])) for name in ("output[0]", "output[1]")]
    >>> rule(axes, lambda rows: (rows >= 0.5).sum(axis=1), 1, above=True)
    'output[0] >= 0.5 or output[1] >= 0.5'
    """
    sizes = [len(axis.points) for axis in axes]
    if not axes or len(axes) > _MOST_AXES or math.prod(sizes) > _MOST_CELLS:
        return ""
    scores = score(_grid(axes)).reshape(sizes)
    inside = scores >= threshold if above else scores <= threshold
    groups = []
    for place in range(len(axes)):
        # Cells of one number between which nothing changes belong together.
        slices = np.moveaxis(inside, place, 0).reshape(sizes[place], -1)
        _, first, group = np.unique(slices, axis=0, return_index=True, return_inverse=True)
        groups.append((first, group.ravel()))
    matter = [place for place, (first, _) in enumerate(groups) if len(first) > 1]
    if not matter or len(matter) > _MOST_GROUPED_AXES:
        return ""
    small = inside[np.ix_(*(first for first, _ in groups))]
    if small.size > _MOST_GROUPS:
        return ""
    small = small.reshape([len(groups[place][0]) for place in matter])
    parts = [(axes[place], groups[place][1]) for place in matter]
    texts = [_conditions(small, parts), f"not ({_conditions(~small, parts)})"]
    best = min(texts, key=len)
    return best if len(best) <= LONGEST_RULE else ""


def _grid(axes: Sequence[Axis]) -> np.ndarray:
    """Rows of all combinations of cells."""
    mesh = np.meshgrid(*(axis.points for axis in axes), indexing="ij")
    return np.column_stack([each.ravel() for each in mesh])


def _conditions(inside: np.ndarray, parts: Sequence[tuple[Axis, np.ndarray]]) -> str:
    """Write a set of combinations of groups of cells, whichever number comes first."""
    if len(parts) == 1:
        axis, group = parts[0]
        return axis.condition(inside[group])
    found = []
    for place, (axis, group) in enumerate(parts):
        slices = np.moveaxis(inside, place, 0)
        rest = [*parts[:place], *parts[place + 1 :]]
        written = []
        for each in np.unique(slices.reshape(len(slices), -1), axis=0):
            if not each.any():
                continue
            same = (slices.reshape(len(slices), -1) == each).all(axis=1)
            terms = [] if same.all() else [axis.condition(same[group])]
            if not each.all():
                terms.append(_conditions(each.reshape(slices.shape[1:]), rest))
            written.append(" and ".join(f"({term})" if len(terms) > 1 and " or " in term else term for term in terms))
        found.append("; or ".join(written) if len(written) > 1 else written[0])
        always: np.ndarray = np.asarray(slices.reshape(len(slices), -1).all(axis=1))
        others = np.unique(slices[~always], axis=0)
        if always.any() and len(others) == 1 and others.any():
            # What is so for the other groups of this number is so for these as well.
            first = axis.condition(always[group])
            first = f"({first})" if axis.values is not None and " or " in first else first
            found.append(f"{first} or {_conditions(others[0], rest)}")
    return min(found, key=len)


def added(
    axes: Sequence[Axis],
    values: Sequence[np.ndarray],
    score: Callable[[np.ndarray], np.ndarray],
    threshold: float,
    *,
    above: bool,
) -> str:
    """Write a sum of what the cells of a few numbers add; empty where that takes many words.

    The numbers are rounded so far that the rounded ones decide about every combination of cells as the score does.
    """
    if not 0 < len(axes) <= _MOST_ADDED or any(axis.values is None and len(axis.edges) > _MOST_STEPS for axis in axes):
        return ""
    if math.prod(len(axis.points) for axis in axes) > _MOST_CELLS:
        return ""
    scores = score(_grid(axes))
    inside = scores >= threshold if above else scores <= threshold
    if inside.all() or not inside.any() or not np.isfinite(scores).all():
        return ""
    for decimals in _DECIMALS:
        whole = [np.rint(each * 10.0**decimals) for each in values]
        sums = np.array([sum(each) for each in product(*whole)])
        limit = sums[inside].min() if above else sums[inside].max()
        if (sums[~inside] >= limit).any() if above else (sums[~inside] <= limit).any():
            continue
        # The limit as it is where it serves, so that it resembles the one with all digits.
        usual = np.rint(threshold * 10.0**decimals)
        nearest = sums[~inside].max() if above else sums[~inside].min()
        if (nearest < usual <= limit) if above else (limit <= usual < nearest):
            limit = usual
        amounts = [[f"{value / 10.0**decimals + 0.0:.{decimals}f}" for value in each.tolist()] for each in whole]
        words = [axis.added(each) for axis, each in zip(axes, amounts, strict=True)]
        least = f"{limit / 10.0**decimals + 0.0:.{decimals}f}"
        words.append(f"the event is a sum of at {'least' if above else 'most'} {least}")
        text = "; ".join(words)
        return text if len(text) <= LONGEST_RULE else ""
    return ""


def with_rule(event: dict[str, Any], text: str) -> dict[str, Any]:
    """Put the rule of an event first, where there is one."""
    return {RULE: text, **event} if text else event
