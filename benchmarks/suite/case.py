"""A mechanism of the suite, with what an audit of it could at best find."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

import dpaudit
from suite import oracle
from suite.oracle import BestEvent


class Audited(dpaudit.Mechanism):
    """A mechanism that claims (epsilon, delta)-differential privacy."""

    epsilon: float = dpaudit.parameter(1.0, doc="claimed epsilon")
    delta: float = dpaudit.parameter(0.0, doc="claimed delta")

    def claims(self):
        statement = f"{self.name} is ({self.epsilon:g}, {self.delta:g})-differentially private"
        return [dpaudit.PrivacyClaim(id=self.name, statement=statement, epsilon=self.epsilon, delta=self.delta)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """A partition of the outputs: the mass of every cell on either input, and the cell of every output."""

    p: np.ndarray
    q: np.ndarray
    index: Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One row of the benchmark.

    Attributes
    ----------
    mechanism
        What is audited.
    source
        Where the mechanism, and the parameters, are from.
    epsilon
        The true epsilon at the claimed delta over the declared neighbours: in closed form, or by enumeration.
    cells
        Partition of the outputs for a pair of inputs, by which the best event is found.
    pairs
        The pairs of inputs among which the worst is; why no others need to be looked at is said at each case.
    steps
        Whether inputs are vectors, so that the best of ``pairs`` is improved one coordinate at a time.
    coarse
        A quicker ``cells`` to search among pairs.
    most
        The largest number of outputs per input that the benchmark asks for, where outputs are wide.
    """

    mechanism: Audited
    source: str
    epsilon: Callable[[], float]
    cells: Callable[[Any, Any], Cells]
    pairs: Callable[[], Iterable[tuple[Any, Any]]]
    steps: bool = False
    coarse: Callable[[Any, Any], Cells] | None = None
    most: int | None = None

    @property
    def name(self) -> str:
        return self.mechanism.name

    @property
    def claimed(self) -> tuple[float, float]:
        return self.mechanism.epsilon, self.mechanism.delta

    def truth(self) -> float:
        """True epsilon at the claimed delta; may be infinite."""
        return float(self.epsilon())

    def oracle(self, samples: int, confidence: float) -> float:
        """Bound that Clopper-Pearson gives, at the expected counts, for the best event of the best pair."""
        return self.best_event(samples, confidence).bound

    def best_event(self, samples: int, confidence: float) -> BestEvent:
        """Best event of the best pair, at the expected counts."""
        cells = self.cells(*self.best_pair(samples, confidence))
        return oracle.best_event(cells.p, cells.q, samples, confidence, self.mechanism.delta)

    def best_pair(self, samples: int, confidence: float) -> tuple[Any, Any]:
        """Pair of inputs of the largest bound."""
        cells = self.coarse or self.cells
        return worst_pair(lambda x, y: self._bound(cells(x, y), samples, confidence), self.pairs(), self.steps)

    def _bound(self, cells: Cells, samples: int, confidence: float) -> float:
        return oracle.best_bound(cells.p, cells.q, samples, confidence, self.mechanism.delta)


CLIMBS = 2
"""Pairs from which the search goes on."""

STEPS = ((0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 1), (2, 2))
"""How one coordinate can differ between neighbours in {0, 1, 2} under an L-infinity step of 1."""


def enumerated_epsilon(cells, pairs, *, delta=0.0, steps=False) -> float:
    """True epsilon over pairs of which the cells are the outcomes."""

    def objective(x, y):
        found = cells(x, y)
        return oracle.true_epsilon(found.p, found.q, delta)

    return objective(*worst_pair(objective, pairs, steps))


def worst_pair(objective, pairs, steps=False):
    """Pair of the largest objective; with ``steps``, the best few are improved by changes of one coordinate."""
    pairs = list(pairs)
    values = [objective(x, y) for x, y in pairs]
    order = np.argsort(values, kind="stable")[::-1]
    if not steps or np.isinf(values[order[0]]):
        return pairs[order[0]]
    climbed = [_climbed(objective, pairs[start], values[start]) for start in order[:CLIMBS]]
    return max(climbed, key=lambda found: found[1])[0]


def _climbed(objective, pair, value):
    (x, y), improving = pair, True
    while improving:
        improving = False
        for i in range(len(x)):
            for low, high in STEPS:
                new_x, new_y = (*x[:i], low, *x[i + 1 :]), (*y[:i], high, *y[i + 1 :])
                new = objective(new_x, new_y) if new_x != new_y else 0.0
                if new > value * (1 + 1e-9):
                    (x, y), value, improving = (new_x, new_y), new, True
    return (x, y), value


def step_pairs(steps):
    """Pair of vectors from the steps of its coordinates."""
    return tuple(step[0] for step in steps), tuple(step[1] for step in steps)


@cache
def unordered_pairs(length):
    """All neighbouring pairs in {0, 1, 2}^length up to the order of the coordinates."""
    found = (step_pairs(steps) for steps in combinations_with_replacement(STEPS, length))
    return [(x, y) for x, y in found if x != y]


@cache
def block_pairs(length):
    """Pairs in which the first coordinates take one step and the others another."""
    found = {
        step_pairs([first] * split + [second] * (length - split))
        for first in STEPS
        for second in STEPS
        for split in range(1, length + 1)
    }
    return sorted((x, y) for x, y in found if x != y)
