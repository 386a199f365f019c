"""Reduction II in the central model: KwikSort on few noisy queries (Theorem 5, Corollaries 6 and 7, Algorithm 1)."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import messages, randomizers, rankings

from .central import RUNS_AT_ONCE, Central, Noise, Weights
from .kwiksort_counted import kwiksort_counted_law
from .noisy_pairwise import NoisyPairwise
from .paper import ALGORITHM_1, CENTRAL, COROLLARIES_6_7, PAPER, PROOF_OF_THEOREM_5

EXACT_LAW = 5
"""Most alternatives of which the law over all rankings is computed."""


class LongestRun(Weights):
    """What the longest run reveals: its first q noisy answers, and the fallback's noisy weights where q is too few.

    One replaced ranking, the reverse of the other, changes every weight by 1/n, and answers beyond 0 and 1 have the
    largest ratio of densities whatever was compared before. So no run tells more about it than this one, and at δ = 0
    the bound is met: this run is possible. There is nothing to sample: the view `transcript` is what runs reveal.
    """

    notation = (
        "an input lists the agents' rankings, best first; an output holds the noisy answers about the pairs "
        "(0, 1), (0, 2), … and then, where there is a fallback, the noisy weights of all pairs"
    )

    answers: int = dpaudit.parameter(3, minimum=0, doc="answers of KwikSort's queries that are revealed")
    query_scale: float = dpaudit.parameter(1.0, above=0, doc="scale of their noise")
    fallback_scale: float = dpaudit.parameter(0.0, minimum=0, doc="scale of the fallback's Laplace noise; 0: none")

    @property
    def parts(self) -> list[tuple[Noise, int]]:
        """Noise, and how many of the weights it is added to."""
        kind = randomizers.LaplaceNoise if self.noise == "laplace" else randomizers.GaussianNoise
        queries: list[tuple[Noise, int]] = [(kind(self.query_scale), self.answers)] if self.answers else []
        if self.fallback_scale:
            queries.append((randomizers.LaplaceNoise(self.fallback_scale), self.pairs))
        return queries

    def sends(self) -> Sequence[dpaudit.Message]:
        return [dpaudit.Message(noise, count) for noise, count in self.parts]

    def law(self, data: Any) -> dpaudit.ProductLaw:
        weights = self.weights(data)
        return dpaudit.ProductLaw([noise.law(weight) for noise, count in self.parts for weight in weights[:count]])


class Transcript(Central):
    """What the curator computes from the data in a run: which pairs it asked about, the answers, and the fallback.

    Columns: for every pair whether it was asked about, for every pair the answer or 0, whether the fallback ran, and
    its noisy weights or zeros. The pivots do not depend on the data.
    """

    notation = (
        "an input lists the agents' rankings, best first; an output says for every pair (0, 1), (0, 2), … "
        "whether it was asked about, then the answers, then whether the fallback ran, then its noisy weights"
    )

    cap: int = dpaudit.parameter(3, minimum=0, doc="q")
    query_scale: float = dpaudit.parameter(1.0, above=0, doc="scale of the answers' noise")
    fallback_scale: float = dpaudit.parameter(1.0, above=0, doc="scale of the fallback's Laplace noise")

    @property
    def query_noise(self) -> Noise:
        return (randomizers.LaplaceNoise if self.noise == "laplace" else randomizers.GaussianNoise)(self.query_scale)

    @property
    def fallback_noise(self) -> randomizers.LaplaceNoise:
        return randomizers.LaplaceNoise(self.fallback_scale)

    def sends(self) -> Sequence[dpaudit.Message]:
        return [
            dpaudit.Message(self.query_noise, self.cap, least=0),
            dpaudit.Message(self.fallback_noise, self.pairs if self.cap < self.pairs else 0, least=0),
        ]

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        weights = self.weights(data)
        parts = []
        for start in range(0, size, RUNS_AT_ONCE):
            runs = min(RUNS_AT_ONCE, size - start)
            with messages.ahead() as drawn:
                noisy = self.query_noise.randomize(np.tile(weights, (runs, 1)), rng)
            made = rankings.kwiksort_runs(compared(noisy, self.alternatives, rng), self.cap, rng)
            i, j = rankings.alternative_pairs(self.alternatives).T
            asked = made.asked[:, i, j]
            drawn.sent(np.count_nonzero(asked))
            ran = (made.comparisons > self.cap)[:, None]
            with messages.ahead() as drawn:
                again = self.fallback_noise.randomize(np.tile(weights, (runs, 1)), rng)
            drawn.sent(np.count_nonzero(ran) * self.pairs)
            parts.append(np.concatenate([asked, np.where(asked, noisy, 0), ran, np.where(ran, again, 0)], axis=1))
        return np.concatenate(parts) if parts else np.empty((0, 3 * self.pairs + 1))

    def log_likelihood(self, outputs: np.ndarray, data: Any) -> np.ndarray:
        """Log-density of the answers and of the fallback's weights."""
        weights = self.weights(data)
        asked, answers, ran, again = np.split(outputs, np.cumsum([self.pairs, self.pairs, 1]), axis=1)
        first = np.where(asked > 0, self.query_noise.log_density(answers - weights), 0).sum(axis=1)
        return np.asarray(first + np.where(ran > 0, self.fallback_noise.log_density(again - weights), 0).sum(axis=1))


class DPKwikSortCapped(Central):
    """Algorithm 1: KwikSort on at most q noisy weights; a run that needs more returns Reduction I's ranking at ϵ/2."""

    name = "dp-kwiksort-capped"
    places = (PAPER.at(section=CENTRAL, algorithm=1),)
    trust = "A trusted curator sees every ranking; the adversary sees the ranking, or every noisy weight computed."
    notation = "an input lists the agents' rankings, best first; the output is a ranking"
    errata = (COROLLARIES_6_7, PROOF_OF_THEOREM_5, ALGORITHM_1)

    cap: int | Literal["auto"] = dpaudit.parameter(
        "auto", minimum=0, doc="q; auto: the least with at most ξ/m^4 for more comparisons, C(m, 2) where that is less"
    )
    xi: float = dpaudit.parameter(1.0, above=0, doc="ξ, of the default cap and of the approximation ratio 5 + ξ")
    budget: Literal["printed", "meant"] = dpaudit.parameter(
        "printed", doc="of the queries: ϵ as in Corollaries 6 and 7, or ϵ/2 as in Theorem 5"
    )

    @property
    def limit(self) -> int:
        """The cap, by the default rule where it is `auto`; no run makes more than C(m, 2) comparisons."""
        return default_cap(self.alternatives, self.xi) if isinstance(self.cap, str) else min(self.cap, self.pairs)

    @property
    def capped(self) -> bool:
        """Whether a run can need more than q comparisons."""
        return self.limit < self.pairs

    @property
    def main_noise(self) -> Noise:
        """Noise of one query, of which there are at most q."""
        spent = self.epsilon if self.budget == "printed" else self.epsilon / 2
        queries = max(self.limit, 1)
        return self.calibrated(spent, queries / self.agents, math.sqrt(queries) / self.agents)

    @property
    def fallback(self) -> NoisyPairwise:
        """Corollary 3 at ϵ/2 with ξ = 1."""
        return NoisyPairwise(
            epsilon=self.epsilon / 2,
            delta=0.0,
            noise="laplace",
            instance=self.instance,
            calibration=self.calibration,
            alternatives=self.alternatives,
            agents=self.agents,
            xi=1.0,
        )

    @property
    def computed(self) -> Transcript:
        """What the curator computes in a run."""
        query, fallback = self.main_noise.scale, self.fallback.main_noise.scale
        return Transcript(**self._shared(), cap=self.limit, query_scale=query, fallback_scale=fallback)

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        query, fallback = self.main_noise.scale, self.fallback.main_noise.scale
        return {
            "output": self,
            "longest-run": LongestRun(
                **self._shared(), answers=self.limit, query_scale=query, fallback_scale=fallback if self.capped else 0.0
            ),
            "transcript": self.computed,
        }

    def _shared(self) -> dict[str, Any]:
        return {name: value for name, value in self.parameters().items() if name not in ("cap", "xi", "budget")}

    def transcript(self) -> dpaudit.Transcript:
        # Half of the runs on three alternatives need a third comparison.
        return dpaudit.Transcript(
            view="transcript", inputs=self.opposites(), also=[{"alternatives": 3, "cap": 2}], runs=8
        )

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Aggregate rankings: KwikSort on noisy weights, and the fallback for the runs that exceed the cap."""
        weights, noise = self.weights(data), self.computed.query_noise
        parts = [np.empty((0, self.alternatives), dtype=np.int64)]
        for start in range(0, size, RUNS_AT_ONCE):
            with messages.ahead() as drawn:
                noisy = noise.randomize(np.tile(weights, (min(RUNS_AT_ONCE, size - start), 1)), rng)
            made = rankings.kwiksort_runs(compared(noisy, self.alternatives, rng), self.limit, rng)
            orders, over = made.rankings.copy(), made.comparisons > self.limit
            # A run that exceeds the cap stops there; of any other every comparison has an answer.
            drawn.sent(np.where(over, self.limit, made.comparisons).sum())
            if over.any():
                orders[over] = self.fallback.sample(data, int(over.sum()), rng)
            parts.append(orders)
        return np.concatenate(parts)

    def before(self, data: Any) -> np.ndarray:
        """Probability that item i is placed before pivot p, (m, m)."""
        margins = rankings.margin_matrix(self.weights(data) - 0.5, self.alternatives)
        return np.exp(self.main_noise.log_below(margins))

    def law(self, data: Any) -> dpaudit.FiniteLaw | None:
        """Law over all rankings: those within the cap, and the fallback's with the probability of exceeding it."""
        if self.alternatives > EXACT_LAW:
            return None
        counted = kwiksort_counted_law(self.before(data))
        law = counted[:, : self.limit + 1].sum(axis=1)
        if self.capped:
            fallback = self.fallback.law(data)
            if fallback is None:
                return None
            law = law + counted[:, self.limit + 1 :].sum() * np.exp(fallback.log_probabilities)
        return dpaudit.FiniteLaw.from_probabilities(rankings.all_rankings(self.alternatives), law)


def compared(noisy: np.ndarray, alternatives: int, rng: np.random.Generator) -> np.ndarray:
    """Comparisons from noisy weights: j goes to the left of pivot i where the noisy w_ji is above one half."""
    return rankings.comparisons(rankings.margin_matrix(noisy - 0.5, alternatives), rng)


@lru_cache(maxsize=512)
def default_cap(alternatives: int, xi: float) -> int:
    """Least q that QuickSort exceeds with probability at most ξ/m^4."""
    low, high = 0, math.comb(alternatives, 2)
    while low < high:
        middle = (low + high) // 2
        if rankings.quicksort_tail(alternatives, middle) <= xi / alternatives**4:
            high = middle
        else:
            low = middle + 1
    return low
