"""Broken variants of SAFARI, SAFA and the frequency oracles."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import dpaudit
from dpaudit import randomizers

SAFARI: Any = dpaudit.load("safari")


class _Control(dpaudit.Mechanism):
    """A mechanism with a planted bug."""

    notation = (
        "an input is a user's ranking or the values of its attributes; an output is the report that the user sends"
    )

    epsilon: float = dpaudit.parameter(1.0, doc="the budget that is claimed")

    source = "a bug planted in SAFARI, SAFA or a frequency oracle"

    def privacy(self) -> list[dpaudit.Claim]:
        return [
            dpaudit.PrivacyClaim(
                id=f"control.{self.name}",
                source=self.summary(),
                statement="A report is ε-locally differentially private.",
                epsilon=self.epsilon,
            )
        ]


class BothPhasesAtEpsilon(_Control):
    """Each of SAFARI's two phases spends all of ε."""

    items: int = dpaudit.parameter(3, minimum=3, maximum=4, doc="d")

    @property
    def honest(self) -> Any:
        """The right report with twice the budget."""
        return SAFARI(epsilon=2 * self.epsilon, items=self.items).report

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        return self.honest.sample(data, size, rng)

    def law(self, data: Any) -> dpaudit.Law | None:
        law: dpaudit.Law | None = self.honest.law(data)
        return law

    def neighbours(self) -> dpaudit.Neighbouring:
        pairs: dpaudit.Neighbouring = self.honest.neighbours()
        return pairs

    def claims(self) -> Sequence[dpaudit.Claim]:
        return self.privacy()


class IndexFromData(_Control):
    """The attribute to be reported is drawn by the user, twice as often one whose value is not 0."""

    attributes: int = dpaudit.parameter(3, minimum=2, doc="|A|")
    values: int = dpaudit.parameter(4, minimum=2, doc="m")

    @property
    def safa(self) -> randomizers.SampledResponse:
        return randomizers.SampledResponse(np.full(self.attributes, self.values), self.epsilon)

    def chances(self, data: Any) -> np.ndarray:
        weights = 1.0 + (np.asarray(data) != 0)
        return np.asarray(weights / weights.sum())

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        asked = rng.choice(self.attributes, size, p=self.chances(data))
        return np.stack([asked, self.safa.randomize(asked, np.asarray(data)[asked], rng)], axis=1)

    def law(self, data: Any) -> dpaudit.FiniteLaw:
        fair = self.safa.law(data)
        drawn = np.log(np.repeat(self.chances(data), self.values) * self.attributes)
        return dpaudit.FiniteLaw(fair.outcomes, fair.log_probabilities + drawn)

    def neighbours(self) -> dpaudit.Neighbouring:
        zeros = np.zeros(self.attributes, dtype=np.int64)
        one = np.arange(self.attributes) == 0
        return dpaudit.Neighbouring(
            relation="any-two-inputs",
            pairs=[(zeros, one.astype(np.int64)), (zeros, zeros + 1), (one.astype(np.int64), 1 - one.astype(np.int64))],
            complete=False,
            scope="some tuples",
        )

    def claims(self) -> Sequence[dpaudit.Claim]:
        return self.privacy()


class NeverCleared(_Control):
    """Symmetric unary encoding in which the bit of the user's own value is never cleared."""

    values: int = dpaudit.parameter(4, minimum=2, doc="k")

    @property
    def other(self) -> float:
        return randomizers.UnaryEncoding(self.values, self.epsilon).other

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        flipped = rng.random((size, self.values)) < self.other
        return (flipped | (np.arange(self.values) == data)).astype(np.int64)

    def law(self, data: Any) -> dpaudit.ProductLaw:
        bits = [0, 1]
        return dpaudit.ProductLaw(
            [
                dpaudit.FiniteLaw.from_probabilities(
                    bits, [0.0, 1.0] if value == data else [1 - self.other, self.other]
                )
                for value in range(self.values)
            ]
        )

    def neighbours(self) -> dpaudit.Neighbouring:
        return dpaudit.Neighbouring.any_two_inputs(range(self.values), scope=f"all pairs of {self.values} values")

    def claims(self) -> Sequence[dpaudit.Claim]:
        return self.privacy()


class ClippedEarly(_Control):
    """SAFA in which a count below its expected noise is raised to it, before the bias is taken out."""

    attributes: int = dpaudit.parameter(3, minimum=1, doc="|A|")
    values: int = dpaudit.parameter(4, minimum=2, doc="m")
    agents: int = dpaudit.parameter(1000, minimum=1, doc="n")

    def bias(self) -> float:
        """Expected estimate of a value that nobody holds: the count is binomial(n, q / |A|)."""
        from scipy.stats import binom

        safa = randomizers.SampledResponse(np.full(self.attributes, self.values), self.epsilon)
        p, q = float(safa.own[0]), float(safa.other[0])
        counts = np.arange(self.agents + 1)
        estimates = np.maximum(self.attributes * counts / self.agents - q, 0.0) / (p - q)
        return float(binom.pmf(counts, self.agents, q / self.attributes) @ estimates)

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [
            dpaudit.UtilityClaim(
                id=f"control.{self.name}",
                source=self.summary(),
                statement="The estimate of a value that nobody holds is unbiased.",
                bound=0.0,
                exact=self.bias,
                support=(-math.inf, math.inf),
                quantity="expected estimate",
                scope=f"|A| = {self.attributes}, m = {self.values}, n = {self.agents}",
            )
        ]


class SharedHash(_Control):
    """Optimal local hashing in which all users have the same hash function."""

    values: int = dpaudit.parameter(8, minimum=2, doc="k")
    agents: int = dpaudit.parameter(1000, minimum=1, doc="n")

    @property
    def oracle(self) -> randomizers.LocalHashing:
        return randomizers.LocalHashing.optimal(self.values, self.epsilon)

    def variance(self) -> float:
        """Variance of the estimate of a value that nobody holds, where all users hold one other value.

        With probability 1/g the two collide, and then every report supports it with probability p, otherwise with
        q = (1 - p) / (g - 1).
        """
        oracle = self.oracle
        p, g = oracle.own, oracle.hashes
        q = (1 - p) / (g - 1)
        within = (p * (1 - p) / g + q * (1 - q) * (1 - 1 / g)) / self.agents
        between = (p - q) ** 2 * (1 / g) * (1 - 1 / g)
        return (within + between) / (p - 1 / g) ** 2

    def estimates(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Estimates of value 1 where all hold value 0, from ``size`` runs."""
        oracle = self.oracle
        found = np.empty(size)
        for run in range(size):
            table = rng.integers(0, oracle.hashes, self.values)
            reports = oracle.response.randomize(np.full(self.agents, table[0]), rng)[:, 0]
            found[run] = oracle.estimate(np.array([np.count_nonzero(reports == table[1])]), self.agents)[0]
        return found

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [
            dpaudit.UtilityClaim(
                id=f"control.{self.name}",
                source=self.summary(),
                statement="The variance of the estimate of a value that nobody holds is that of optimal local hashing.",
                bound=float(self.oracle.variance(0.0, self.agents)),
                exact=self.variance,
                support=(0.0, math.inf),
                quantity="variance of the estimate",
                scope=f"k = {self.values}, n = {self.agents}, all users hold one other value",
            )
        ]
