"""LDP-KwikSort: every agent answers a few pairwise comparisons, randomized; KwikSort sorts by the estimated majorities.

Symbols: epsilon is the paper's ϵ, queries K, alternatives m, agents n, dispersion θ, the budget of a query ϵ_k = ϵ/K,
and `bias` the difference p - q between the probabilities of counting an answer as it is and as its opposite.
"""

import itertools
import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import rankings

from .chunks import batches, parts
from .paper import OF_LAP, OF_RR, OF_THE_PROTOCOL, PAPER
from .reports import LaplaceReport, RandomizedResponseReport, Report


class LDPKwikSort(dpaudit.Mechanism):
    """The protocol with its three steps: query assignment, local randomizer, aggregation."""

    model = "local"
    synthetic = ("dispersion", "convention", "centre")
    trust = "Nobody is trusted: every agent randomizes its own answers, and the curator sees only those."

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the budget of one agent")
    queries: int | Literal["auto"] = dpaudit.parameter("auto", minimum=1, doc="K; auto: the paper's rule on g(K)")
    alternatives: int = dpaudit.parameter(4, minimum=2, doc="m", role="alternatives")
    agents: int = dpaudit.parameter(1000, minimum=1, doc="n", role="agents")
    dispersion: float = dpaudit.parameter(0.5, minimum=0, doc="θ of the Mallows model")
    convention: Literal["yan", "permallows"] = dpaudit.parameter(
        "yan", doc="phi = 1 - θ (the paper's theorems) or exp(-θ) (the package behind its experiments)"
    )
    centre: Literal["random", "identity"] = dpaudit.parameter(
        "random", doc="ground truth: drawn anew for every run, or the order of the labels"
    )
    profile: rankings.Profile | None = dpaudit.parameter(
        None, doc="real rankings (--data), not the Mallows model", role="dataset", loader=rankings.PREFLIB
    )

    def validate(self) -> None:
        if self.profile is not None and self.profile.alternatives != self.alternatives:
            raise dpaudit.ParameterError(
                f"{self.name}: parameter 'alternatives' is {self.alternatives}, but the data rank "
                f"{self.profile.alternatives}; leave it out"
            )
        if isinstance(self.queries, int) and self.queries > self.pairs:
            raise dpaudit.ParameterError(
                f"{self.name}: parameter 'queries' must be at most {self.pairs}, the number of pairs of "
                f"{self.alternatives} alternatives, got {self.queries}"
            )
        if self.convention == "yan" and self.dispersion > 1:
            raise dpaudit.ParameterError(
                f"{self.name}: parameter 'dispersion' must be at most 1 in the convention 'yan', got {self.dispersion}"
            )

    @property
    def pairs(self) -> int:
        """Number of pairs of alternatives."""
        return math.comb(self.alternatives, 2)

    @property
    def phi(self) -> float:
        """Mallows model: ratio of the probabilities of two rankings one swap apart."""
        return 1 - self.dispersion if self.convention == "yan" else math.exp(-self.dispersion)

    @property
    def asked(self) -> int:
        """K, by the paper's rule where it is `auto`."""
        return self.rule() if isinstance(self.queries, str) else self.queries

    def rule(self) -> int:
        """Section 5.2: compare g at the integers next to ϵ/2."""
        nearest = (math.floor(self.epsilon / 2), math.ceil(self.epsilon / 2))
        return max(sorted({min(max(k, 1), self.pairs) for k in nearest}), key=self.g)

    def g(self, queries: float) -> float:
        """Section 4.2: the part of the exponent of μ that depends on K."""
        raise NotImplementedError

    @property
    def report(self) -> Report:
        """What one agent sends."""
        raise NotImplementedError

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        return {"output": self, "report": self.report}

    def transcript(self) -> dpaudit.Transcript:
        one = np.arange(self.alternatives)[None]
        return dpaudit.Transcript(view="report", inputs=[one, one[:, ::-1]])

    def bias(self, queries: float) -> float:
        """2 p - 1 at K queries, p the probability that an answer is counted as it is."""
        raise NotImplementedError

    def votes(self, answers: np.ndarray) -> np.ndarray:
        """Count every answer for a_j (+1) or for a_l (-1)."""
        raise NotImplementedError

    def margins(self, tally: np.ndarray) -> np.ndarray:
        """Estimate the margin of every pair from its tally of votes."""
        raise NotImplementedError

    def estimate(self, chunks: Iterable[np.ndarray], rng: np.random.Generator) -> np.ndarray:
        """Query assignment, local randomizer and tally.

        ``chunks`` are rankings of shape (runs, agents of the chunk, m); the estimated margins have shape (runs, m, m).
        """
        report = self.report
        tally: Any = 0
        for part in itertools.chain.from_iterable(parts(chunk, self.asked) for chunk in chunks):
            runs, agents, _ = part.shape
            asked = report.assign(runs * agents, rng)
            answers = report.randomize(report.truths(part.reshape(runs * agents, -1), asked), rng)
            cells = asked + np.repeat(np.arange(runs), agents)[:, None] * self.pairs
            votes = rankings.pair_tally(cells, self.votes(answers), runs * self.pairs)
            tally = tally + votes.reshape(runs, self.pairs)
        return rankings.margin_matrix(self.margins(tally), self.alternatives)

    def aggregate(self, estimates: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """KwikSort on the signs of estimated margins of shape (runs, m, m)."""
        return rankings.kwiksort(rankings.comparisons(estimates, rng), rng)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Aggregate rankings of a profile of shape (n, m), or of a ``Profile``, from ``size`` runs."""
        orders = data.rankings() if isinstance(data, rankings.Profile) else np.asarray(data)
        estimates = [
            self.estimate([np.broadcast_to(orders, (runs, *orders.shape))], rng) for runs in batches(size, len(orders))
        ]
        return self.aggregate(np.concatenate(estimates), rng)


class LDPKwikSortRR(LDPKwikSort):
    """LDP-KwikSort:RR, pairwise answers by randomized response."""

    name = "ldp-kwiksort-rr"
    places = (PAPER.at(section="3.3", algorithm=1), PAPER.at(section="3.4", algorithm=2))
    errata = (*OF_RR, *OF_THE_PROTOCOL)

    @property
    def report(self) -> RandomizedResponseReport:
        return RandomizedResponseReport(epsilon=self.epsilon, queries=self.asked, alternatives=self.alternatives)

    def g(self, queries: float) -> float:
        """Section 4.2.1: ϵ^2 K / (ϵ + 2K)^2."""
        return queries / (1 + 2 * queries / self.epsilon) ** 2

    def bias(self, queries: float) -> float:
        """2 p_rr - 1 = tanh(ϵ_k / 2)."""
        return math.tanh(self.epsilon / queries / 2)

    def votes(self, answers: np.ndarray) -> np.ndarray:
        return np.where(answers, 1.0, -1.0)

    def margins(self, tally: np.ndarray) -> np.ndarray:
        """Equation 3: the noisy margin over 2 p_rr - 1."""
        return tally / self.bias(self.asked)


class LDPKwikSortLap(LDPKwikSort):
    """LDP-KwikSort:Lap, pairwise answers with Laplace noise."""

    name = "ldp-kwiksort-lap"
    places = (PAPER.at(section="3.5", algorithm=(3, 4)),)
    errata = (*OF_LAP, *OF_THE_PROTOCOL)

    @property
    def report(self) -> LaplaceReport:
        return LaplaceReport(epsilon=self.epsilon, queries=self.asked, alternatives=self.alternatives)

    def g(self, queries: float) -> float:
        """Section 4.2.2: (1 - e^(-ϵ / 2K))^2 K."""
        return math.expm1(-self.epsilon / (2 * queries)) ** 2 * queries

    def bias(self, queries: float) -> float:
        """2 p_lap - 1 = 1 - e^(-ϵ_k / 2)."""
        return -math.expm1(-self.epsilon / queries / 2)

    def votes(self, answers: np.ndarray) -> np.ndarray:
        """Algorithm 4: an answer of at least 0.5 counts as yes."""
        return np.where(answers >= 0.5, 1.0, -1.0)

    def margins(self, tally: np.ndarray) -> np.ndarray:
        """Algorithm 4 takes the tallies as they are."""
        return tally
