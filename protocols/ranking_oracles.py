"""Frequency oracles over all d! rankings: the flat baselines of SAFARI.

Source: Yang, Cheng, Su, Chen, Ren, Liu, "Collecting preference rankings under local differential privacy", 2018,
Section IV: GRR (Kairouz et al. 2014), one-time RAPPOR (Erlingsson et al. 2014), SH, the frequency oracle of Bassily and
Smith 2015, and OLH (Wang et al. 2017). A ranking is one of k = d! values.

Symbols: epsilon is ε, items d, agents n.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

PAPER = "Yang, Cheng, Su, Chen, Ren, Liu 2018"
WHOLE_ITEMS = 3
"""Most items with which the whole report is audited; its outcomes are listed."""


class _Report(dpaudit.Mechanism):
    """What one user sends: the randomized number of the ranking.

    With more than three items, what of it concerns the two rankings that are compared: the identity is number 0, the
    other number 1. The rest of the report has the same law for both, and given that rest nothing changes.
    """

    epsilon: float = dpaudit.parameter(1.0, doc="ε")
    items: int = dpaudit.parameter(3, minimum=2, maximum=10, doc="d")

    def oracle(self, values: int) -> randomizers.FrequencyOracle:
        raise NotImplementedError

    @property
    def whole(self) -> bool:
        """Whether the whole report is audited."""
        return self.items <= WHOLE_ITEMS

    def number(self, data: Any) -> int:
        index = int(rankings.ranking_index(np.asarray(data)))
        return index if self.whole else min(index, 1)

    @property
    def shown(self) -> randomizers.FrequencyOracle:
        """The oracle over the rankings that are compared."""
        return self.oracle(math.factorial(self.items) if self.whole else 2)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        return self.shown.randomize(np.full(size, self.number(data)), rng)

    def law(self, data: Any) -> dpaudit.Law | None:
        return self.shown.law(self.number(data))

    def neighbours(self) -> dpaudit.Neighbouring:
        return dpaudit.Neighbouring(
            relation="any-two-inputs",
            pairs=[(np.arange(self.items), np.arange(self.items)[::-1])],
            complete=True,
            scope=(
                f"any two rankings of {self.items} items: the oracle treats all values alike, so one pair is as another"
                f"{'' if self.whole else '; of the report only what concerns the two compared'}"
            ),
        )


class GrrReport(_Report):
    """A ranking by generalised randomized response; 2 stands for all others where only two are compared."""

    notation = "an input is the user's ranking, best first; the output is the number of a ranking"

    def oracle(self, values: int) -> randomizers.FrequencyOracle:
        return randomizers.GeneralizedRandomizedResponse(values, self.epsilon)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        full = self.oracle(math.factorial(self.items))
        reports = full.randomize(np.full(size, self.number(data)), rng)
        return reports if self.whole else np.minimum(reports, 2)

    def law(self, data: Any) -> dpaudit.Law | None:
        full = self.oracle(math.factorial(self.items))
        if self.whole:
            return full.law(self.number(data))
        log_own = -math.log1p((full.values - 1) * math.exp(-self.epsilon))
        log_p = [log_own, log_own - self.epsilon, log_own - self.epsilon + math.log(full.values - 2)]
        if self.number(data) == 1:
            log_p[:2] = log_p[1::-1]
        return dpaudit.FiniteLaw([[0], [1], [2]], np.array(log_p))


class RapporReport(_Report):
    """One bit for every ranking, by symmetric unary encoding."""

    notation = "an input is the user's ranking, best first; an output is one bit for every ranking"

    def oracle(self, values: int) -> randomizers.FrequencyOracle:
        return randomizers.UnaryEncoding(values, self.epsilon)


class ShReport(_Report):
    """A fair sign for every ranking, and the own ranking's sign by randomized response."""

    notation = (
        "an input is the user's ranking, best first; an output is the sign of every ranking, and the sign reported"
    )

    def oracle(self, values: int) -> randomizers.FrequencyOracle:
        return randomizers.LocalHashing.binary(values, self.epsilon)


class OlhReport(_Report):
    """One of g hashes for every ranking, and the own ranking's hash by generalised randomized response."""

    notation = (
        "an input is the user's ranking, best first; an output is the hash of every ranking, and the hash reported"
    )

    @property
    def whole(self) -> bool:
        """Never: with g hashes even three items make too many functions to be listed in a short time."""
        return False

    def oracle(self, values: int) -> randomizers.FrequencyOracle:
        return randomizers.LocalHashing.optimal(values, self.epsilon)


class _Flat(dpaudit.Mechanism):
    """The collector's distribution over all rankings."""

    epsilon: float = dpaudit.parameter(1.0, doc="ε")
    items: int = dpaudit.parameter(3, minimum=2, maximum=10, doc="d")
    agents: int = dpaudit.parameter(5000, minimum=1, doc="n")
    postprocess: Literal["none", "clip", "norm-sub"] = dpaudit.parameter(
        "norm-sub",
        doc="none: estimates as they are; clip: negative ones to 0, then scaled; norm-sub: nearest distribution",
    )

    source = f"{PAPER}, Section IV"
    trust = "Nobody is trusted: every user randomizes the own ranking."

    @property
    def report(self) -> _Report:
        raise NotImplementedError

    @property
    def oracle(self) -> randomizers.FrequencyOracle:
        return self.report.oracle(math.factorial(self.items))

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        return {"output": self, "report": self.report}

    def distribution(self, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Post-processed estimates (d!,) from the number of users who hold each ranking, by the aggregate law."""
        estimates = self.oracle.estimate(self.oracle.aggregate(counts, rng), int(counts.sum()))
        if self.postprocess == "none":
            return estimates
        return randomizers.clipped(estimates) if self.postprocess == "clip" else randomizers.norm_sub(estimates)

    def marginals(self, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Second-order marginals of n rankings synthesised from the distribution, or of raw estimates themselves."""
        weights = self.distribution(counts, rng)
        if self.postprocess == "none":
            return rankings.second_order_of_law(weights, self.items)
        steps = np.cumsum(weights)
        drawn = np.searchsorted(steps, rng.random(int(counts.sum())) * steps[-1], side="right")
        return rankings.second_order_marginals(rankings.ranking_at(np.minimum(drawn, len(steps) - 1), self.items))

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Distributions (size, d!) for users' rankings of shape (n, d)."""
        counts = np.bincount(rankings.ranking_index(np.asarray(data)), minlength=math.factorial(self.items))
        return np.array([self.distribution(counts, rng) for _ in range(size)])

    def total_variance(self) -> float:
        """Expected squared distance of the raw estimates to the truth; the same whatever the truth."""
        own, other = self.oracle.variance(1.0, self.agents), self.oracle.variance(0.0, self.agents)
        return float(own + (self.oracle.values - 1) * other)

    def claims(self) -> Sequence[dpaudit.Claim]:
        k = self.oracle.values
        return [
            dpaudit.PrivacyClaim(
                id=f"yang2018.{self.name}-ldp",
                source=self.source,
                statement="A report is ε-locally differentially private.",
                epsilon=self.epsilon,
                view="report",
            ),
            dpaudit.UtilityClaim(
                id=f"yang2018.{self.name}-noise",
                source=f"{PAPER}, Section I",
                statement=(
                    "Collecting the distribution over all rankings directly suffers from excessive noise: the squared "
                    "error is above that of the uniform distribution, whatever the users hold."
                ),
                bound=1 - 1 / k,
                direction="at-least",
                exact=self.total_variance,
                support=(0.0, math.inf),
                quantity="expected squared distance of the raw estimates to the truth",
                scope=f"ε = {self.epsilon:g}, d = {self.items}, n = {self.agents}; nothing is further from uniform",
            ),
        ]


class RankingGrr(_Flat):
    """Generalised randomized response over all rankings."""

    name = "ranking-grr"

    @property
    def report(self) -> GrrReport:
        return GrrReport(epsilon=self.epsilon, items=self.items)


class RankingRappor(_Flat):
    """One-time RAPPOR with one hash per ranking: symmetric unary encoding over all rankings."""

    name = "ranking-rappor"

    @property
    def report(self) -> RapporReport:
        return RapporReport(epsilon=self.epsilon, items=self.items)


class RankingSh(_Flat):
    """The frequency oracle of succinct histograms: a random sign row of one's own, which is binary local hashing."""

    name = "ranking-sh"
    errata = (
        dpaudit.Erratum(
            where=f"{PAPER}, Section IV-A",
            printed="SH [9], without the number of rows of its random matrix",
            meant="left open: implemented with a row of its own for every user",
            reason="fewer rows than users make values leak into each other, so this is the variant that errs least",
        ),
    )

    @property
    def report(self) -> ShReport:
        return ShReport(epsilon=self.epsilon, items=self.items)


class RankingOlh(_Flat):
    """Optimal local hashing over all rankings."""

    name = "ranking-olh"

    @property
    def report(self) -> OlhReport:
        return OlhReport(epsilon=self.epsilon, items=self.items)
