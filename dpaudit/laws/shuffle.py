"""Shuffled reports: the law of how many users sent which report, and what it says of one of the users."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpaudit.errors import CheckError, ParameterError
from dpaudit.laws.counts import Bit, hockey_stick, log_count_law
from dpaudit.laws.finite import FiniteLaw, outcome_key
from dpaudit.laws.worst import worst_others

_MOST_HISTOGRAMS = 1 << 20
_MOST_DATASETS = 20_000
_MOST_STEPS = 1 << 28
"""About a minute's work where there are more than two reports."""
_SAME = 1e-12
_ROUNDS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ShuffleLoss:
    """The inputs on which shuffled reports say most of one user.

    Attributes
    ----------
    epsilon, log_delta
        The hockey-stick divergence at epsilon, as its logarithm; ``-inf`` where it is 0.
    data, neighbour
        Number of users with each input: the likelier side of the event first.
    event
        The event in words, or for two reports the least number of users with the second one ("at least"), or with the
        first one ("at most" that many with the second).
    log_p, log_q
        Log-probabilities of the event on ``data`` and on ``neighbour``.
    """

    epsilon: float
    log_delta: float
    data: tuple[int, ...]
    neighbour: tuple[int, ...]
    event: Any
    log_p: float
    log_q: float

    @property
    def delta(self) -> float:
        """The hockey-stick divergence."""
        return math.exp(self.log_delta)


@dataclass(frozen=True, eq=False)
class Shuffle:
    """Reports of so many users in random order, by one local randomizer with finitely many inputs and reports.

    What the receiver of shuffled reports sees is how often each report was sent.

    Parameters
    ----------
    reports
        Law of one user's report for every input, at least two of them.
    users
        Number of users, at least 1.

    Raises
    ------
    ParameterError
        There are fewer than two inputs, or no user.

    Notes
    -----
    With two inputs and two reports, laws and worst cases are exact and fast up to 100,000 users (see
    `dpaudit.laws.counts`). Beyond, all histograms of reports are listed, which is for small numbers; `merged` first.
    """

    reports: Sequence[FiniteLaw]
    users: int

    def __post_init__(self) -> None:
        if len(self.reports) < 2:
            raise ParameterError(f"a shuffle needs the report laws of at least two inputs, got {len(self.reports)}")
        if isinstance(self.users, bool) or not isinstance(self.users, int | np.integer) or self.users < 1:
            raise ParameterError(f"users must be a whole number of at least 1, got {self.users!r}")

    @cached_property
    def outcomes(self) -> list[Any]:
        """All reports, in the order in which a histogram counts them."""
        found: dict[Any, Any] = {}
        for law in self.reports:
            for outcome in law.outcomes:
                found.setdefault(outcome_key(outcome), outcome)
        return list(found.values())

    @cached_property
    def log_reports(self) -> np.ndarray:
        """Log-probability of every report for every input, shape (inputs, reports)."""
        place = {outcome_key(outcome): i for i, outcome in enumerate(self.outcomes)}
        table = np.full((len(self.reports), len(place)), -np.inf)
        for row, law in zip(table, self.reports, strict=True):
            row[[place[outcome_key(outcome)] for outcome in law.outcomes]] = law.log_probabilities
        return table

    @cached_property
    def _bits(self) -> list[Bit] | None:
        """The reports as bits, where there are two."""
        if self.log_reports.shape[1] != 2:
            return None
        return [Bit(min(0.0, float(zero)), min(0.0, float(one))) for zero, one in self.log_reports]

    def merged(self) -> Shuffle:
        """Return the same shuffle with reports that all inputs send in one proportion counted as one.

        Which of them was sent depends on no input, so that nothing is gained or lost for privacy.
        """
        columns: list[list[int]] = []
        table = self.log_reports
        for i in range(table.shape[1]):
            if (table[:, i] == -np.inf).all():
                continue
            for group in columns:
                first = table[:, group[0]]
                alike = np.isfinite(first) == np.isfinite(table[:, i])
                gaps = (table[:, i] - first)[np.isfinite(first)] if alike.all() else np.array([0.0, np.inf])
                if np.ptp(gaps) <= _SAME:
                    group.append(i)
                    break
            else:
                columns.append([i])
        names = [
            self.outcomes[group[0]] if len(group) == 1 else tuple(self.outcomes[i] for i in group) for group in columns
        ]
        laws = [
            FiniteLaw(names, np.minimum(0.0, [np.logaddexp.reduce(row[group]) for group in columns])) for row in table
        ]
        return Shuffle(laws, self.users)

    def law(self, data: Sequence[int]) -> FiniteLaw:
        """Law of what is seen: how many users sent the second of two reports, or the histogram of more as a tuple.

        Parameters
        ----------
        data
            Number of users with each input; they add up to ``users``.

        Raises
        ------
        ParameterError
            The numbers do not fit.
        CheckError
            There are more than 2^20 histograms.
        """
        counts = [int(count) for count in data]
        if len(counts) != len(self.reports) or min(counts) < 0 or sum(counts) != self.users:
            raise ParameterError(
                f"data must be the numbers of users with each of the {len(self.reports)} inputs, {self.users} in all, "
                f"got {data}"
            )
        if self._bits is not None:
            return FiniteLaw(range(self.users + 1), log_count_law(list(zip(counts, self._bits, strict=True))))
        table = self._histograms(counts)
        places = np.argwhere(table > -np.inf)
        histograms = [(*place, self.users - sum(place)) for place in places.tolist()]
        return FiniteLaw(histograms, np.minimum(table[tuple(places.T)], 0.0))

    def _histograms(self, counts: Sequence[int]) -> np.ndarray:
        """Log-probabilities by the numbers of all reports but the last, one axis of length users + 1 for each."""
        kinds = self.log_reports.shape[1]
        size = sum(counts) + 1
        if size ** (kinds - 1) > _MOST_HISTOGRAMS:
            raise CheckError(
                f"shuffling {size - 1} reports of {kinds} kinds has too many histograms; "
                "merge reports that say the same (`merged`), or take fewer users"
            )
        table = np.full((size,) * (kinds - 1), -np.inf)
        table[(0,) * (kinds - 1)] = 0.0
        for row, count in zip(self.log_reports, counts, strict=True):
            for _ in range(count):
                more = table + row[-1]
                for axis in range(kinds - 1):
                    up: list[Any] = [slice(None)] * (kinds - 1)
                    down: list[Any] = [slice(None)] * (kinds - 1)
                    up[axis], down[axis] = slice(1, None), slice(None, -1)
                    more[tuple(up)] = np.logaddexp(more[tuple(up)], table[tuple(down)] + row[axis])
                table = more
        return table

    def worst(self, epsilon: float) -> ShuffleLoss:
        """Find the two inputs of one user, and the inputs of the others, with the largest divergence at epsilon.

        Raises
        ------
        ParameterError
            Epsilon is negative.
        CheckError
            There are too many inputs to try.
        """
        if not epsilon >= 0:
            raise ParameterError(f"epsilon must be at least 0, got {epsilon}")
        if self._bits is not None and len(self._bits) == 2:
            # Where the inputs are mirror images of each other, so are the two directions.
            mirrored = math.isclose(self._bits[0].logit, -self._bits[1].logit, rel_tol=0.0, abs_tol=_SAME)
            sides = [self._worst_bits(epsilon, swapped) for swapped in (False, True)[: 1 if mirrored else 2]]
        else:
            sides = [self._compared(data, neighbour, epsilon) for data, neighbour in self._neighbours()]
        return max(sides, key=lambda side: side.log_delta)

    def _worst_bits(self, epsilon: float, swapped: bool) -> ShuffleLoss:
        """Worst case in the direction in which the event is a large (or, swapped, a small) number of second reports."""
        assert self._bits is not None
        bits = [bit.flipped for bit in self._bits] if swapped else list(self._bits)
        one = max(range(2), key=lambda i: (bits[i].log_one, -bits[i].log_zero))
        ones, found = worst_others(bits[one], bits[1 - one], self.users - 1, epsilon)
        sizes = (ones, self.users - 1 - ones) if one == 0 else (self.users - 1 - ones, ones)
        event = {"at most": self.users - found.least} if swapped else {"at least": found.least}
        return ShuffleLoss(
            epsilon=epsilon,
            log_delta=found.log_delta,
            data=_one_more(sizes, one),
            neighbour=_one_more(sizes, 1 - one),
            event=event,
            log_p=found.log_p,
            log_q=found.log_q,
        )

    def _neighbours(self) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        inputs = len(self.reports)
        datasets = math.comb(self.users - 1 + inputs - 1, inputs - 1) * inputs * (inputs - 1)
        kinds = self.log_reports.shape[1]
        steps = datasets * self.users * (self.users + 1) ** (kinds - 1)
        if datasets > _MOST_DATASETS or (self._bits is None and steps > _MOST_STEPS):
            raise CheckError(
                f"{self.users} users with {inputs} inputs and {kinds} kinds of report have too many "
                "data sets to try; take fewer users, or merge reports that say the same (`merged`)"
            )
        for bars in itertools.combinations(range(self.users - 1 + inputs - 1), inputs - 1):
            edges = (-1, *bars, self.users - 1 + inputs - 1)
            others = tuple(b - a - 1 for a, b in itertools.pairwise(edges))
            for i, j in itertools.permutations(range(inputs), 2):
                yield _one_more(others, i), _one_more(others, j)

    def _compared(self, data: tuple[int, ...], neighbour: tuple[int, ...], epsilon: float) -> ShuffleLoss:
        comparison = self.law(data).against(self.law(neighbour))
        delta = comparison.delta(epsilon).upper or 0.0
        event = comparison.worst_event(epsilon, 1.0)
        return ShuffleLoss(
            epsilon=epsilon,
            log_delta=math.log(delta) if delta > 0 else -math.inf,
            data=data,
            neighbour=neighbour,
            event=event.outcomes,
            log_p=event.log_p,
            log_q=event.log_q,
        )

    def epsilon(self, delta: float) -> ShuffleLoss:
        """Find the smallest epsilon >= 0 whose largest divergence is at most ``delta``, and the inputs that need it.

        Raises
        ------
        ParameterError
            ``delta`` is not in (0, 1].
        """
        if not 0 < delta <= 1:
            raise ParameterError(f"delta must be above 0 and at most 1, got {delta}")
        log_delta = math.log(delta)
        # Others that are all alike are nearly the worst case; from there on few inputs are left to look at.
        found = self._alike(0.0)
        if found.log_delta <= log_delta:
            found = self.worst(0.0)
        for _ in range(_ROUNDS):
            if found.log_delta <= log_delta:
                return found
            # The profile of these inputs reaches delta further on; other inputs may still be above it there.
            crossing = self._crossing(found, log_delta)
            if crossing - found.epsilon <= _SAME * max(1.0, crossing):
                return found
            found = self.worst(crossing)
        raise CheckError(f"the epsilon of {self.users} shuffled reports at delta = {delta} was not found")

    def _alike(self, epsilon: float) -> ShuffleLoss:
        """Worst case among the data sets whose other users all have one input."""
        inputs = range(len(self.reports))
        alike = [tuple((self.users - 1) * (i == common) for i in inputs) for common in inputs]
        sides = [
            self.divergence(_one_more(others, i), _one_more(others, j), epsilon)
            for others in alike
            for i, j in itertools.permutations(inputs, 2)
        ]
        return max(sides, key=lambda side: side.log_delta)

    def _crossing(self, at: ShuffleLoss, log_delta: float) -> float:
        """Epsilon at which the divergence of these inputs falls to delta."""
        from scipy.optimize import brentq

        def excess(epsilon: float) -> float:
            return max(self.divergence(at.data, at.neighbour, epsilon).log_delta, -1e300) - log_delta

        high = max(1.0, 2 * at.epsilon)
        while excess(high) > 0:
            high *= 2
            if high > 1e6:
                raise CheckError("a report that only one input sends has no finite epsilon at so small a delta")
        return float(brentq(excess, at.epsilon, high, xtol=1e-14, rtol=1e-14))

    def divergence(self, data: Sequence[int], neighbour: Sequence[int], epsilon: float) -> ShuffleLoss:
        """Hockey-stick divergence of the reports of ``data`` from those of ``neighbour``, which differ in one user.

        Raises
        ------
        ParameterError
            The inputs do not differ in one user, or epsilon is negative.
        """
        data, neighbour = tuple(map(int, data)), tuple(map(int, neighbour))
        change = np.subtract(data, neighbour)
        if sorted(change.tolist()) != [-1, *[0] * (len(change) - 2), 1]:
            raise ParameterError(f"data and neighbour must differ in the input of one user, got {data} and {neighbour}")
        if self._bits is None:
            return self._compared(data, neighbour, epsilon)
        into, out = int(np.argmax(change)), int(np.argmin(change))
        swapped = self._bits[into].logit < self._bits[out].logit
        bits = [bit.flipped for bit in self._bits] if swapped else self._bits
        groups = [(count - (i == into), bit) for i, (count, bit) in enumerate(zip(data, bits, strict=True))]
        found = hockey_stick(bits[into], bits[out], groups, epsilon)
        return ShuffleLoss(
            epsilon=epsilon,
            log_delta=found.log_delta,
            data=data,
            neighbour=neighbour,
            event={"at most": self.users - found.least} if swapped else {"at least": found.least},
            log_p=found.log_p,
            log_q=found.log_q,
        )


def _one_more(counts: Sequence[int], place: int) -> tuple[int, ...]:
    return tuple(count + (i == place) for i, count in enumerate(counts))
