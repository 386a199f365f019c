"""Comparisons that are known by bounds alone, and laws that are known by their comparison alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpaudit.claims.evidence import Interval
from dpaudit.errors import CheckError
from dpaudit.laws.base import Comparison, Event, Law

_SPLITS = 256


@dataclass(frozen=True, slots=True, eq=False)
class BoundedComparison(Comparison):
    """A privacy profile between those of some pairs of laws.

    Parameters
    ----------
    below
        Pairs that occur: the profile is at least the largest of theirs.
    above
        Pairs that dominate: it is at most the smallest of theirs.
    """

    below: Sequence[Comparison]
    above: Sequence[Comparison]

    def max_divergence(self) -> float:
        """Smallest of the dominating pairs'."""
        return min(part.max_divergence() for part in self.above)

    def delta(self, epsilon: float) -> Interval:
        """Between the largest lower bound and the smallest upper one."""
        return _between([part.delta(epsilon) for part in self.below], [part.delta(epsilon) for part in self.above])

    def epsilon(self, delta: float) -> Interval:
        """Between the largest lower bound and the smallest upper one."""
        return _between([part.epsilon(delta) for part in self.below], [part.epsilon(delta) for part in self.above])

    def worst_event(self, epsilon: float, delta: float) -> Event:
        """That of the pair with the largest divergence."""
        worst = max(self.below, key=lambda part: part.delta(epsilon).lower or 0.0)
        return worst.worst_event(epsilon, delta)


def _between(below: Sequence[Interval], above: Sequence[Interval]) -> Interval:
    lower = max(value.lower or 0.0 for value in below)
    upper = min(math.inf if value.upper is None else value.upper for value in above)
    return Interval(lower=min(lower, upper), upper=upper)


@dataclass(frozen=True, slots=True, eq=False)
class ChainedComparison(Comparison):
    """P against Q by way of a third law R: an upper bound on the privacy profile, and no lower one.

    For any e + f = epsilon, delta(P, Q) at epsilon is at most delta(P, R) at e plus e^e times delta(R, Q) at f.
    """

    first: Comparison
    second: Comparison

    def max_divergence(self) -> float:
        """Sum of both."""
        return self.first.max_divergence() + self.second.max_divergence()

    def delta(self, epsilon: float) -> Interval:
        """Smallest bound over some ways to split epsilon."""
        if epsilon >= self.max_divergence():
            return Interval.exact(0.0)
        parts = np.linspace(0.0, max(epsilon, 0.0), _SPLITS + 1)
        first, second = self.first.privacy_profile(parts)[1], self.second.privacy_profile(epsilon - parts)[1]
        return Interval(lower=0.0, upper=min(1.0, float((first + np.exp(parts) * second).min())))

    def epsilon(self, delta: float) -> Interval:
        """Upper bound only, on a grid of epsilons up to the sum of what both parts need."""
        if delta == 0:
            return Interval(lower=0.0, upper=max(0.0, self.max_divergence()))
        # With e enough for delta / 2 in the first part, and f for the rest in the second, e + f is enough for both.
        first = self.first.epsilon(delta / 2).upper
        if first is None or math.isinf(first):
            return Interval(lower=0.0, upper=math.inf)
        second = self.second.epsilon(delta / 2 * math.exp(-first)).upper
        if second is None or math.isinf(second):
            return Interval(lower=0.0, upper=math.inf)
        grid = np.linspace(0.0, first + second, _SPLITS + 1)
        at_first, at_second = self.first.privacy_profile(grid)[1], self.second.privacy_profile(grid)[1]
        for k, epsilon in enumerate(grid.tolist()):
            if float((at_first[: k + 1] + np.exp(grid[: k + 1]) * at_second[k::-1]).min()) <= delta:
                return Interval(lower=0.0, upper=epsilon)
        return Interval(lower=0.0, upper=first + second)

    def worst_event(self, epsilon: float, delta: float) -> Event:
        """There is none: a bound has no event."""
        raise CheckError("an upper bound on a privacy profile has no event")


@dataclass(frozen=True, slots=True, eq=False)
class PairedLaw(Law):
    """One of two laws that are known by their comparison with each other alone.

    Parameters
    ----------
    first
        Whether this is the first one.
    forward, backward
        The first one against the second, and the second one against the first.
    """

    first: bool
    forward: Comparison
    backward: Comparison

    def against(self, other: Law) -> Comparison:
        """Compare with the other of the two."""
        assert isinstance(other, PairedLaw)
        if self.first == other.first:
            raise CheckError("a law that is known by its comparison with another cannot be compared with itself")
        return self.forward if self.first else self.backward
