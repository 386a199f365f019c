"""Broken variants of SAFARI, SAFA and the frequency oracles; every bug must be found."""

import math
from typing import Any

import numpy as np

import dpaudit
from dpaudit import randomizers

from .paper import PAPER
from .safa import SafaReport
from .safari import SafariReport

PRIVATE = "A report is ε-locally differentially private."


class BothPhasesAtEpsilon(dpaudit.Mechanism):
    """Each of SAFARI's two phases spends all of ε."""

    notation = SafariReport.notation
    source = "a bug planted in SAFARI"

    epsilon: float = dpaudit.parameter(1.0, doc="the budget that is claimed")
    items: int = dpaudit.parameter(3, minimum=3, maximum=4, role="alternatives", doc="d")

    @property
    def shown(self) -> SafariReport:
        """The right report with twice the budget."""
        return SafariReport(epsilon=2 * self.epsilon, items=self.items, thin=1, learned=True)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        return self.shown.sample(data, size, rng)

    def law(self, data: Any) -> dpaudit.Law:
        return self.shown.law(data)

    def neighbours(self) -> dpaudit.Neighbouring:
        return self.shown.neighbours()


@dpaudit.claim(
    "control.both-phases-at-epsilon",
    BothPhasesAtEpsilon,
    kind="privacy",
    place=PAPER.at(section="III-A"),
    statement=PRIVATE,
    bug=BothPhasesAtEpsilon.summary(),
)
def both_phases_at_epsilon(control: BothPhasesAtEpsilon) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=control.epsilon)


class IndexFromData(SafaReport):
    """The user draws the attribute to be reported, and draws one whose value is not 0 twice as often."""

    source = "a bug planted in SAFA"

    attributes: int = dpaudit.parameter(3, minimum=2, doc="|A|")

    def chances(self, data: Any) -> np.ndarray:
        """Probability with which each attribute is reported."""
        weights = 1.0 + (np.asarray(data) != 0)
        return np.asarray(weights / weights.sum())

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        asked = rng.choice(self.attributes, size, p=self.chances(data))
        return np.stack([asked, self.randomizer.randomize(asked, np.asarray(data)[asked], rng)], axis=1)

    def law(self, data: Any) -> dpaudit.FiniteLaw:
        fair = self.randomizer.law(data)
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


@dpaudit.claim(
    "control.index-from-data",
    IndexFromData,
    kind="privacy",
    place=PAPER.at(section="III-D", algorithm=1, line=3),
    statement=PRIVATE,
    bug=IndexFromData.summary(),
)
def index_from_data(control: IndexFromData) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=control.epsilon)


class NeverCleared(dpaudit.Mechanism):
    """Symmetric unary encoding in which the bit of the user's own value is never cleared."""

    notation = "an input is the user's value; an output is one bit for every value"
    source = "a bug planted in one-time RAPPOR"

    epsilon: float = dpaudit.parameter(1.0, doc="the budget that is claimed")
    values: int = dpaudit.parameter(4, minimum=2, doc="k")

    @property
    def other(self) -> float:
        """Probability that the bit of another value is set."""
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


@dpaudit.claim(
    "control.never-cleared",
    NeverCleared,
    kind="privacy",
    place=PAPER.at(section="IV-A"),
    statement=PRIVATE,
    bug=NeverCleared.summary(),
)
def never_cleared(control: NeverCleared) -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(epsilon=control.epsilon)


class ClippedEarly(dpaudit.Mechanism):
    """SAFA in which a count below its expected noise is raised to it, before the bias is taken out."""

    source = "a bug planted in SAFA"

    epsilon: float = dpaudit.parameter(1.0, doc="ε'")
    attributes: int = dpaudit.parameter(3, minimum=1, doc="|A|")
    values: int = dpaudit.parameter(4, minimum=2, doc="m")
    agents: int = dpaudit.parameter(1000, minimum=1, role="agents", doc="n")

    def bias(self) -> float:
        """Expected estimate of a value that nobody holds: the count is binomial(n, q / |A|)."""
        from scipy.stats import binom

        safa = randomizers.SampledResponse(np.full(self.attributes, self.values), self.epsilon)
        p, q = float(safa.own[0]), float(safa.other[0])
        counts = np.arange(self.agents + 1)
        estimates = np.maximum(self.attributes * counts / self.agents - q, 0.0) / (p - q)
        return float(binom.pmf(counts, self.agents, q / self.attributes) @ estimates)


@dpaudit.claim(
    "control.clipped-early",
    ClippedEarly,
    kind="utility",
    place=PAPER.at(section="III-D", algorithm=1, line=12),
    statement="The estimate of a value that nobody holds is unbiased.",
    bug=ClippedEarly.summary(),
)
def clipped_early(control: ClippedEarly) -> dpaudit.UtilityClaim:
    return dpaudit.UtilityClaim(
        bound=0.0,
        exact=control.bias,
        support=(-math.inf, math.inf),
        quantity="expected estimate",
        scope=f"|A| = {control.attributes}, m = {control.values}, n = {control.agents}",
    )


class SharedHash(dpaudit.Mechanism):
    """Optimal local hashing in which all users have the same hash function."""

    source = "a bug planted in optimal local hashing"

    epsilon: float = dpaudit.parameter(1.0, doc="ε")
    values: int = dpaudit.parameter(8, minimum=2, doc="k")
    agents: int = dpaudit.parameter(1000, minimum=1, role="agents", doc="n")

    @property
    def oracle(self) -> randomizers.LocalHashing:
        """The right oracle."""
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
        """Draw estimates of value 1 where all hold value 0, one for each of ``size`` runs."""
        oracle = self.oracle
        found = np.empty(size)
        for run in range(size):
            table = rng.integers(0, oracle.hashes, self.values)
            reports = oracle.response.randomize(np.full(self.agents, table[0]), rng)[:, 0]
            found[run] = oracle.estimate(np.array([np.count_nonzero(reports == table[1])]), self.agents)[0]
        return found


@dpaudit.claim(
    "control.shared-hash",
    SharedHash,
    kind="utility",
    place=PAPER.at(section="IV-A"),
    statement="The variance of the estimate of a value that nobody holds is that of optimal local hashing.",
    bug=SharedHash.summary(),
)
def shared_hash(control: SharedHash) -> dpaudit.UtilityClaim:
    return dpaudit.UtilityClaim(
        bound=float(control.oracle.variance(0.0, control.agents)),
        exact=control.variance,
        support=(0.0, math.inf),
        quantity="variance of the estimate",
        scope=f"k = {control.values}, n = {control.agents}, all users hold one other value",
    )
