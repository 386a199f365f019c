"""Frequency oracles over all d! rankings: the flat baselines of Section IV-A.

They are GRR (Kairouz et al. 2014), one-time RAPPOR (Erlingsson et al. 2014), SH, the frequency oracle of Bassily and
Smith 2015, and OLH (Wang et al. 2017). A ranking is one of k = d! values.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

from .marginals import second_order_of_indices, second_order_of_law
from .paper import PAPER, SIGN_ROWS

WHOLE_ITEMS = 3
"""Most items with which the whole report is audited; its outcomes are listed."""


class RankingReport(dpaudit.Mechanism):
    """What one user sends: the randomized number of the ranking.

    With more than three items, only the part of it that concerns the two rankings that are compared: the identity is
    number 0, the other number 1. The rest of the report has the same law for both, and is independent of this part.
    """

    epsilon: float = dpaudit.parameter(1.0, doc="ε")
    items: int = dpaudit.parameter(3, minimum=2, maximum=10, role="alternatives", doc="d")

    def oracle(self, values: int) -> randomizers.FrequencyOracle:
        """Frequency oracle over that many values."""
        raise NotImplementedError

    @property
    def whole(self) -> bool:
        """Whether the whole report is audited."""
        return self.items <= WHOLE_ITEMS

    def number(self, data: Any) -> int:
        """Number by which a ranking is reported."""
        index = int(rankings.ranking_index(np.asarray(data)))
        return index if self.whole else min(index, 1)

    @property
    def shown(self) -> randomizers.FrequencyOracle:
        """The oracle over the rankings that are compared."""
        return self.oracle(math.factorial(self.items) if self.whole else 2)

    def sends(self) -> Sequence[dpaudit.Message]:
        # The oracle over the rankings that are compared draws the part of the report that concerns them.
        return [dpaudit.Message(self.oracle(math.factorial(self.items)), others=[self.shown])]

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


class GrrReport(RankingReport):
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


class RapporReport(RankingReport):
    """One bit for every ranking, by symmetric unary encoding."""

    notation = "an input is the user's ranking, best first; an output is one bit for every ranking"

    def oracle(self, values: int) -> randomizers.FrequencyOracle:
        return randomizers.UnaryEncoding(values, self.epsilon)


class ShReport(RankingReport):
    """A fair sign for every ranking, and the own ranking's sign by randomized response."""

    notation = (
        "an input is the user's ranking, best first; an output is the sign of every ranking, and the sign reported"
    )

    def oracle(self, values: int) -> randomizers.FrequencyOracle:
        return randomizers.LocalHashing.binary(values, self.epsilon)


class OlhReport(RankingReport):
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


class RankingOracle(dpaudit.Mechanism):
    """The collector's distribution over all rankings."""

    epsilon: float = dpaudit.parameter(1.0, doc="ε")
    items: int = dpaudit.parameter(3, minimum=2, maximum=10, role="alternatives", doc="d")
    agents: int = dpaudit.parameter(5000, minimum=1, role="agents", doc="n")
    postprocess: Literal["none", "clip", "norm-sub"] = dpaudit.parameter(
        "norm-sub",
        doc="none: estimates as they are; clip: negative ones to 0, then scaled; norm-sub: nearest distribution",
    )

    places = (PAPER.at(section="IV-A"),)
    model = "local"
    trust = "Nobody is trusted: every user randomizes their own ranking."

    @property
    def report(self) -> RankingReport:
        """What one user sends."""
        raise NotImplementedError

    @property
    def oracle(self) -> randomizers.FrequencyOracle:
        """Frequency oracle over all rankings."""
        return self.report.oracle(math.factorial(self.items))

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        return {"output": self, "report": self.report}

    def transcript(self) -> dpaudit.Transcript:
        one = np.arange(self.items)[None]
        # A run draws the supports of all d! rankings.
        many = self.items > 7
        return dpaudit.Transcript(view="report", inputs=[one] if many else [one, one[:, ::-1]], runs=1 if many else 4)

    def distribution(self, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw post-processed estimates, shape (d!,), given the number of users who hold each ranking."""
        estimates = self.oracle.estimate(self.oracle.aggregate(counts, rng), int(counts.sum()))
        if self.postprocess == "none":
            return estimates
        return randomizers.clipped(estimates) if self.postprocess == "clip" else randomizers.norm_sub(estimates)

    def marginals(self, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Second-order marginals of n rankings synthesised from the distribution, or of raw estimates themselves."""
        weights = self.distribution(counts, rng)
        if self.postprocess == "none":
            return second_order_of_law(weights, self.items)
        steps = np.cumsum(weights)
        drawn = np.searchsorted(steps, rng.random(int(counts.sum())) * steps[-1], side="right")
        return second_order_of_indices(np.minimum(drawn, len(steps) - 1), self.items)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Draw distributions, shape (size, d!), for users' rankings of shape (n, d)."""
        counts = np.bincount(rankings.ranking_index(np.asarray(data)), minlength=math.factorial(self.items))
        return np.array([self.distribution(counts, rng) for _ in range(size)])


class RankingGrr(RankingOracle):
    """Generalised randomized response over all rankings."""

    name = "ranking-grr"

    @property
    def report(self) -> GrrReport:
        return GrrReport(epsilon=self.epsilon, items=self.items)


class RankingRappor(RankingOracle):
    """One-time RAPPOR with one hash per ranking: symmetric unary encoding over all rankings."""

    name = "ranking-rappor"

    @property
    def report(self) -> RapporReport:
        return RapporReport(epsilon=self.epsilon, items=self.items)


class RankingSh(RankingOracle):
    """The frequency oracle of succinct histograms: a random sign row of one's own, which is binary local hashing."""

    name = "ranking-sh"
    errata = (SIGN_ROWS,)

    @property
    def report(self) -> ShReport:
        return ShReport(epsilon=self.epsilon, items=self.items)


class RankingOlh(RankingOracle):
    """Optimal local hashing over all rankings."""

    name = "ranking-olh"

    @property
    def report(self) -> OlhReport:
        return OlhReport(epsilon=self.epsilon, items=self.items)
