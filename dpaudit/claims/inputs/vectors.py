"""Vectors in a box, neighbouring within one step in a norm."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from dpaudit.claims.inputs.base import Pair, distinct, whole
from dpaudit.errors import ParameterError

Norm = Literal["linf", "l1", "l2"]
Floats = npt.NDArray[np.float64]

_NORM_WORDS = {"l1": "L1", "l2": "L2"}
_MOST_COSTS = 256
"""Longest polynomial with which integer pairs are counted."""
_MOST_DIGITS = 2.0**53


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """Vectors in a box, neighbouring when their distance in a norm is at most one step.

    Coordinates are floating-point numbers unless ``integer`` is set; ``step`` is a distance and no grid.

    Attributes
    ----------
    length
        Number of coordinates, at least 1.
    low, high
        Every coordinate lies in [low, high]; finite, low < high.
    step
        Largest distance of two neighbours, above 0 (at least 1 for integers). Coordinates are not multiples of it:
        ``step=1`` with ``integer=True`` gives whole numbers that differ by at most 1.
    norm
        ``linf`` (every coordinate may change by the step), ``l1`` or ``l2``.
    integer
        Whether the coordinates are whole numbers (arrays of int64; float64 otherwise). ``low`` and ``high`` are then
        whole numbers too.

    Raises
    ------
    ParameterError
        An argument is out of range.

    Notes
    -----
    Distances of float vectors are at most the step up to rounding. The patterns are the categories of queries that
    tests of counting mechanisms use (Ding, Wang, Wang, Zhang, Kifer 2018, "Detecting violations of differential
    privacy", section 5), laid at several places of the box.

    Examples
    --------
    >>> import dpaudit
    >>> dpaudit.Vectors(length=3, low=0.0, high=1.0, norm="l2").step
    1.0
    >>> dpaudit.Vectors(length=1, low=0, high=2, step=1, integer=True).count()  # 0 and 1, 1 and 2
    2
    >>> dpaudit.Vectors(length=3, low=1.0, high=0.0)
    Traceback (most recent call last):
        ...
    dpaudit.errors.ParameterError: Vectors: give finite low < high, got 1.0 and 0.0
    """

    length: int
    low: float
    high: float
    step: float = 1.0
    norm: Norm = "linf"
    integer: bool = False

    def __post_init__(self) -> None:
        whole(self.length, "Vectors: length", 1)
        for name in ("low", "high", "step"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
                raise ParameterError(f"Vectors: {name} must be a number, got {value!r}")
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ParameterError(f"Vectors: give finite low < high, got {self.low} and {self.high}")
        if not math.isfinite(self.high - self.low):
            raise ParameterError(f"Vectors: high - low is not a finite number, got {self.low} and {self.high}")
        if not (math.isfinite(self.step) and self.step > 0):
            raise ParameterError(f"Vectors: step must be a finite number above 0, got {self.step}")
        if self.norm not in get_args(Norm):
            raise ParameterError(f"Vectors: norm must be one of {', '.join(get_args(Norm))}, got {self.norm!r}")
        if self.integer:
            if self.low != round(self.low) or self.high != round(self.high):
                raise ParameterError(f"Vectors: low and high of integers must be whole, got {self.low} and {self.high}")
            if max(abs(self.low), abs(self.high)) > _MOST_DIGITS:
                raise ParameterError(f"Vectors: integers must lie within 2**53, got {self.low} and {self.high}")
            if self.step < 1:
                raise ParameterError(f"Vectors: step of integers must be at least 1, got {self.step}")
        elif max(abs(self.low), abs(self.high)) * 2.0**-40 > min(self.step, self.high - self.low):
            raise ParameterError(
                f"Vectors: a step of {self.step} is lost to rounding between {self.low} and {self.high}; "
                "move the box nearer to 0"
            )

    @property
    def relation(self) -> str:
        """Name of the relation: ``linf-distance``, ``l1-distance`` or ``l2-distance``."""
        return f"{self.norm}-distance"

    @property
    def scope(self) -> str:
        """The inputs covered, in words."""
        kind = "vectors of whole numbers" if self.integer else "vectors"
        box = f"{kind} of length {self.length} with coordinates in [{self.low:g}, {self.high:g}]"
        if self.norm == "linf":
            return f"{box} that differ by at most {self.step:g} in every coordinate"
        return f"{box} at an {_NORM_WORDS[self.norm]} distance of at most {self.step:g}"

    def count(self) -> int | None:
        """Return the number of unordered pairs of integer vectors; None for floats or where a count takes too long."""
        if not self.integer:
            return None
        values = self._width() + 1
        if self.norm == "linf" or self.length == 1:
            reach = min(math.floor(self.step), values - 1)
            near = values + 2 * sum(values - d for d in range(1, reach + 1)) if reach <= 10**6 else None
            return None if near is None else int(near**self.length - values**self.length) // 2
        costs = {self._cost(d): 2 * (values - d) for d in range(1, self._reach(0) + 1)}
        most = min(self._budget(), self.length * max(costs))
        if most > _MOST_COSTS:
            return None
        total = _truncated_power({0: values, **costs}, self.length, most)
        return (sum(total.values()) - int(values**self.length)) // 2

    def pairs(self) -> Iterator[Pair]:
        """Yield every unordered pair of integer vectors."""
        if not self.integer:
            raise ParameterError("Vectors: pairs of float vectors cannot be listed; take patterns or draws")
        low, high = int(self.low), int(self.high)
        for difference in self._differences(self.length, 0):
            # Of a difference and its negative one is enough: pairs are unordered.
            if next((d for d in difference if d), 0) <= 0:
                continue
            moved = np.array(difference, dtype=np.int64)
            for base in product(*(range(low - min(d, 0), high - max(d, 0) + 1) for d in difference)):
                first = np.array(base, dtype=np.int64)
                yield first, first + moved

    def patterns(self) -> Iterator[Pair]:
        """Yield pairs that differ in a structured way, at structured places of the box."""
        bases, directions = list(_bases(self.length)), list(_directions(self.length))
        # Diagonally, so that the first few pairs already vary in both.
        order = sorted(product(range(len(bases)), range(len(directions))), key=lambda ij: (sum(ij), ij))
        span = self.high - self.low
        return distinct(self._pair(self.low + span * bases[i], directions[j]) for i, j in order if i < 3 or j < 4)

    def draw(self, rng: np.random.Generator) -> Pair:
        """Draw a place in the box and a direction in which some of the coordinates change, by the whole step."""
        n = self.length
        unit = [np.full(n, rng.choice([0.0, 0.5, 1.0])), rng.choice([0.0, 0.5, 1.0], n), rng.random(n)][rng.integers(3)]
        changed = min(n, int(np.exp(rng.uniform(0, np.log(n + 1)))))
        direction = np.zeros(n)
        places = rng.choice(n, changed, replace=False)
        direction[places] = 1.0 if rng.random() < 0.3 else rng.choice([-1.0, 1.0], changed)
        if rng.random() < 0.2:
            direction *= rng.random(n) + 1e-3
        return self._pair(self.low + (self.high - self.low) * unit, direction)

    def vary(self, pair: Pair, rng: np.random.Generator) -> Pair:
        """Change the direction in one or two coordinates, or move the pair as a whole in some."""
        first, second = (np.asarray(data, dtype=float) for data in pair)
        if first.shape != (self.length,) or second.shape != (self.length,):
            raise ParameterError(f"Vectors: vary takes two vectors of length {self.length}, got {first.shape}")
        if np.array_equal(first, second):
            raise ParameterError("Vectors: vary takes two different vectors, got twice the same")
        base, direction = first, (second - first) / float(np.abs(second - first).max())
        changes = [
            self._turn,
            self._turn,
            self._thin,
            self._swap,
            self._shift,
            self._place,
            *[self._recast, self._copy] * 2,
        ]
        for _ in range(1 + int(rng.random() < 0.3)):
            base, direction = changes[rng.integers(len(changes))](base, direction, rng)
        return self._pair(base, direction)

    def _turn(self, base: Floats, direction: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Raise, lower, keep or weaken one coordinate."""
        place = rng.integers(self.length)
        turned = direction.copy()
        turned[place] = rng.choice([value for value in (-1.0, 0.0, 1.0) if value != direction[place]])
        if rng.random() < 0.1:
            turned[place] *= rng.random()
        return base, turned if turned.any() else -direction

    def _thin(self, base: Floats, direction: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Let only half of the coordinates change that did."""
        changing = np.flatnonzero(direction)
        thinned = np.zeros(self.length)
        kept = rng.choice(changing, (len(changing) + 1) // 2, replace=False)
        thinned[kept] = direction[kept]
        return base, thinned

    def _swap(self, base: Floats, direction: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Let two coordinates change places."""
        i, j = rng.integers(self.length, size=2)
        order = np.arange(self.length)
        order[[i, j]] = order[[j, i]]
        return base[order], direction[order]

    def _recast(self, base: Floats, direction: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Treat all coordinates that are like one of them alike: turn them, or put them elsewhere."""
        model = rng.integers(self.length)
        alike = (base == base[model]) & (direction == direction[model])
        if rng.random() < 0.5:
            moved = base.copy()
            moved[alike] = rng.choice(
                [self.low, (self.low + self.high) / 2, self.high, rng.uniform(self.low, self.high)]
            )
            return moved, direction
        turned = direction.copy()
        turned[alike] = rng.choice([value for value in (-1.0, 0.0, 1.0) if value != direction[model]])
        return base, turned if turned.any() else -direction

    def _copy(self, base: Floats, direction: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Make the coordinates next to one of them like it."""
        model, end = rng.integers(self.length, size=2)
        run = slice(min(model, end), max(model, end) + 1)
        moved, turned = base.copy(), direction.copy()
        moved[run], turned[run] = base[model], direction[model]
        return moved, turned if turned.any() else direction

    def _shift(self, base: Floats, direction: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Move all coordinates alike, by steps or by some part of the box."""
        way = rng.choice([-1.0, 1.0])
        span = self.high - self.low
        far = span * rng.random() ** 2 if rng.random() < 0.5 else min(self.step, span) * rng.integers(1, 4)
        return base + way * far, direction

    def _place(self, base: Floats, direction: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Put one coordinate elsewhere: at an end, in the middle, where another one is, or anywhere."""
        place = rng.integers(self.length)
        middle = (self.low + self.high) / 2
        moved = base.copy()
        moved[place] = rng.choice(
            [self.low, middle, self.high, base[rng.integers(self.length)], rng.uniform(self.low, self.high)]
        )
        return moved, direction

    def _pair(self, base: Floats, direction: Floats) -> Pair:
        """Pair at a base, moved as little as the box demands, that differs by the whole step in a direction."""
        span = self.high - self.low
        step = min(self.step, self.length * span)
        size = {
            "linf": float(np.abs(direction).max()),
            "l1": float(np.abs(direction).sum()),
            "l2": float(np.sqrt((direction**2).sum())),
        }[self.norm]
        if self.integer:
            moved = self._whole_difference(direction * (step / size))
            first = np.clip(np.rint(base), self.low - np.minimum(moved, 0), self.high - np.maximum(moved, 0))
            whole_first = first.astype(np.int64)
            return whole_first, whole_first + moved.astype(np.int64)
        moved = np.clip(direction * (step / size), -span, span)
        first = np.clip(base, self.low - np.minimum(moved, 0), self.high - np.maximum(moved, 0))
        first = np.clip(first, self.low, self.high)
        return first, np.clip(first + moved, self.low, self.high)

    def _whole_difference(self, exact: Floats) -> Floats:
        """Integer vector near to a real one whose length in the norm is at most the step, and not 0."""
        sizes, way = np.abs(exact), np.sign(exact)
        rounded = np.minimum(np.floor(sizes + 1e-9), self._width())
        if self.norm == "linf":
            return np.maximum(rounded, sizes > 0) * way
        # Rounding up what rounds to nothing keeps as many coordinates in the difference as the step allows.
        left = self._budget() - int((rounded**2 if self.norm == "l2" else rounded).sum())
        lost = [place for place in np.argsort(-sizes, kind="stable") if sizes[place] > 0 and rounded[place] == 0]
        rounded[lost[:left]] = 1
        return rounded * way

    def _width(self) -> int:
        """Largest difference of two values of a coordinate, for integers."""
        return int(self.high) - int(self.low)

    def _cost(self, difference: int) -> int:
        """Share of the budget that a difference of a coordinate takes: itself (l1), or its square (l2)."""
        return difference**2 if self.norm == "l2" else difference

    def _budget(self) -> int:
        step = min(self.step, self.length * self._width())
        return math.floor(step**2 * (1 + 1e-12)) if self.norm == "l2" else math.floor(step)

    def _reach(self, spent: int) -> int:
        """Largest difference that a coordinate can take when so much of the budget is spent."""
        left = self._budget() - spent
        return min(math.isqrt(left) if self.norm == "l2" else left, self._width())

    def _differences(self, length: int, spent: int) -> Iterator[tuple[int, ...]]:
        if length == 0:
            yield ()
            return
        for size in range(self._reach(spent) + 1):
            after = 0 if self.norm == "linf" else spent + self._cost(size)
            for rest in self._differences(length - 1, after):
                for difference in (size, -size) if size else (0,):
                    yield (difference, *rest)


def _bases(n: int) -> Iterator[Floats]:
    """Places in the unit box."""
    places = np.arange(n)
    yield np.zeros(n)
    yield np.full(n, 0.5)
    yield np.ones(n)
    yield (places % 2).astype(float)
    yield (places == 0).astype(float)
    yield (places == n - 1).astype(float)
    yield (places >= (n + 1) // 2).astype(float)
    yield places / max(n - 1, 1)


def _directions(n: int) -> Iterator[Floats]:
    """Directions with entries -1, 0 and 1: which coordinates of a pair go up and which down."""
    places = np.arange(n)
    half = (n + 1) // 2
    yield np.ones(n)
    yield (places == 0).astype(float)
    yield np.where(places == 0, 1.0, -1.0)
    yield np.where(places < half, 1.0, -1.0)
    yield (places == n - 1).astype(float)
    yield np.where(places == n - 1, 1.0, -1.0)
    yield (places < half).astype(float)
    yield np.where(places % 2 == 0, 1.0, -1.0)
    yield (places == n // 2).astype(float)
    yield (places > 0).astype(float) if n > 1 else np.ones(n)


def _truncated_power(polynomial: dict[int, int], power: int, most: int) -> dict[int, int]:
    """Power of a polynomial {exponent: coefficient}, without the terms above an exponent."""

    def times(a: dict[int, int], b: dict[int, int]) -> dict[int, int]:
        result: dict[int, int] = {}
        for (i, u), (j, v) in product(a.items(), b.items()):
            if i + j <= most:
                result[i + j] = result.get(i + j, 0) + u * v
        return result

    result: dict[int, int] = {0: 1}
    while power:
        if power % 2:
            result = times(result, polynomial)
        polynomial = times(polynomial, polynomial)
        power //= 2
    return result
