"""The system of Section II-C: Gaussian noise on the histogram of all rankings, then any ranking rule."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

from .other_rules import copeland, histogram_margins, instant_runoff, kemeny_of_margins, randomize_margins
from .paper import ERRATA, PAPER
from .positional import LARGEST_HISTOGRAM, PositionalRule, rank_by_scores, ranking_histogram

OTHER_RULES = ("instant-runoff", "kemeny", "copeland")
LARGEST_AUDITED_HISTOGRAM = 5
BATCH_CELLS = 1 << 21


def calibrated_noise(epsilon: float, delta: float) -> randomizers.GaussianNoise:
    """Equation 5: σ^2 = 2 ln(2/δ) / ϵ^2, whatever the neighbouring relation."""
    return randomizers.GaussianNoise(math.sqrt(2 * math.log(2 / delta)) / epsilon)


class NoisyHistogram(dpaudit.Mechanism):
    """What is released (Eq. 5): the number of agents with each ranking, plus Gaussian noise.

    Neighbouring profiles differ by one ranking that is added or removed, as in Section II-B.
    """

    places = (PAPER.at(section="II-C", equation=5),)
    model = "central"
    trust = "A trusted curator sees every ranking; the adversary sees the noisy histogram."
    notation = (
        "an input lists the agents' rankings, best first; an output gives the noisy number of agents with each "
        "ranking, in lexicographic order"
    )

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ")
    delta: float = dpaudit.parameter(1e-4, above=0, maximum=1, doc="δ")
    alternatives: int = dpaudit.parameter(3, minimum=3, maximum=LARGEST_AUDITED_HISTOGRAM, doc="M", role="alternatives")

    @property
    def noise(self) -> randomizers.GaussianNoise:
        """Noise on each count."""
        return calibrated_noise(self.epsilon, self.delta)

    def sends(self) -> Sequence[dpaudit.Message]:
        return [dpaudit.Message(self.noise, math.factorial(self.alternatives))]

    def counts(self, data: Any) -> np.ndarray:
        """Histogram of rankings of shape (n, M), n >= 0."""
        index = rankings.ranking_index(np.asarray(data, dtype=np.int64).reshape(-1, self.alternatives))
        return np.bincount(index, minlength=math.factorial(self.alternatives))

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        counts = self.counts(data)
        return self.noise.randomize(np.broadcast_to(counts, (size, len(counts))), rng)

    def features(self, outputs: np.ndarray) -> np.ndarray:
        """Return the only cell in which the neighbouring inputs differ."""
        return outputs[:, :1]

    def law(self, data: Any) -> dpaudit.ProductLaw:
        return dpaudit.ProductLaw([self.noise.law(count) for count in self.counts(data)])

    def neighbours(self) -> dpaudit.Neighbouring:
        one = np.arange(self.alternatives)[None]
        return self._neighbouring("add-remove", one, one[:0], "added or removed")

    def _neighbouring(self, relation: str, one: Any, other: Any, change: str) -> dpaudit.Neighbouring:
        return dpaudit.Neighbouring(
            relation=relation,
            pairs=[(one, other)],
            complete=True,
            scope=(
                f"any two profiles over {self.alternatives} alternatives with one ranking {change}; the noise does not "
                "depend on the data and treats all cells alike, so one pair without further agents stands for all"
            ),
        )


class SubstitutedHistogram(NoisyHistogram):
    """The same noisy histogram, where neighbouring profiles differ by one ranking that is replaced."""

    def features(self, outputs: np.ndarray) -> np.ndarray:
        """Return the difference of the two cells in which the neighbouring inputs differ."""
        return np.asarray(outputs[:, :1] - outputs[:, -1:])

    def neighbours(self) -> dpaudit.Neighbouring:
        one = np.arange(self.alternatives)[None]
        return self._neighbouring("substitution", one, one[:, ::-1], "replaced")


class ScaledHistogram(SubstitutedHistogram):
    """The same with the noise of Equation 4, which has the sensitivity √2 of a replaced ranking as a factor."""

    @property
    def noise(self) -> randomizers.GaussianNoise:
        return randomizers.GaussianNoise(calibrated_noise(self.epsilon, self.delta).scale * math.sqrt(2))


class GaussianHistogram(dpaudit.Mechanism):
    """Gaussian noise on the histogram of all rankings, then any ranking rule on the noisy histogram."""

    name = "gaussian-histogram"
    places = (PAPER.at(section="II-C"),)
    model = "central"
    trust = "A trusted curator sees every ranking; the adversary sees the noisy histogram."
    errata = ERRATA

    epsilon: float = dpaudit.parameter(0.1, doc="ϵ")
    delta: float | Literal["0.1/n"] = dpaudit.parameter(5e-4, doc="δ, or a tenth over the number of agents")
    alternatives: int = dpaudit.parameter(3, minimum=3, maximum=20, doc="M", role="alternatives")
    agents: int = dpaudit.parameter(2000, minimum=1, maximum=10**13, doc="N", role="agents")
    rule: str = dpaudit.parameter(
        "borda", doc="plurality, veto, borda, 2-approval, scores such as 1:0.5:0, instant-runoff, kemeny or copeland"
    )
    relation: Literal["add-remove", "substitution"] = dpaudit.parameter("add-remove", doc="neighbouring relation")
    profiles: Literal["simplex", "compositions", "independent"] = dpaudit.parameter(
        "simplex", doc="uniform: shares on the simplex (the paper's), histograms of N agents, or every agent's ranking"
    )

    def validate(self) -> None:
        if not 0 < self.failure < 1:
            raise dpaudit.ParameterError(
                f"{self.name}: parameter 'delta' must be above 0 and below 1, got {self.delta}"
            )
        if self.rule not in OTHER_RULES:
            try:
                PositionalRule.named(self.rule, self.alternatives)
            except dpaudit.ParameterError as error:
                raise dpaudit.ParameterError(f"{self.name}: parameter 'rule': {error}") from None
        elif self.rule != "copeland" and self.alternatives > LARGEST_HISTOGRAM:
            raise dpaudit.ParameterError(
                f"{self.name}: parameter 'rule' {self.rule!r} needs the whole histogram, up to {LARGEST_HISTOGRAM} "
                f"alternatives, got {self.alternatives}; take a positional rule or copeland"
            )

    @property
    def failure(self) -> float:
        """δ as a number."""
        return 0.1 / self.agents if isinstance(self.delta, str) else self.delta

    @property
    def noise(self) -> randomizers.GaussianNoise:
        """Noise on each count (Eq. 5)."""
        return calibrated_noise(self.epsilon, self.failure)

    @property
    def share_noise(self) -> float:
        """Standard deviation of the noise on each share: σ̂ = σ / N (Proposition 1)."""
        return self.noise.scale / self.agents

    @cached_property
    def positional(self) -> PositionalRule | None:
        """The rule, if it is positional."""
        if self.rule in OTHER_RULES:
            return None
        return PositionalRule.named(self.rule, self.alternatives)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Aggregate the rankings of a profile of shape (n, M), or of a ``Profile``.

        Beyond 8 alternatives the noise is drawn on total scores or margins.
        """
        profile = data if isinstance(data, rankings.Profile) else rankings.Profile.from_rankings(data)
        if self.alternatives > LARGEST_HISTOGRAM:
            return self.sample_by_statistics(profile, size, rng)
        counts = ranking_histogram(profile)
        parts = []
        for runs in self.batches(size):
            noisy = self.noise.randomize(np.broadcast_to(counts, (runs, len(counts))), rng)
            parts.append(self.aggregate(noisy, rng))
        return np.concatenate(parts)

    def aggregate(self, histograms: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Apply the rule to histograms of shape (runs, M!); ties are broken at random."""
        if self.positional is not None:
            return rank_by_scores(self.positional.score_histograms(histograms), rng)
        if self.rule == "instant-runoff":
            return instant_runoff(histograms, self.alternatives, rng)
        margins = histogram_margins(histograms, self.alternatives)
        rule = kemeny_of_margins if self.rule == "kemeny" else copeland
        return rule(margins, self.alternatives, rng)

    def sample_by_statistics(self, profile: rankings.Profile, size: int, rng: np.random.Generator) -> np.ndarray:
        """As ``sample``, for a positional rule or Copeland's: a linear image of Gaussian noise is Gaussian."""
        m = self.alternatives
        if self.positional is not None:
            totals = np.broadcast_to(self.positional.score_profile(profile), (size, m))
            return rank_by_scores(self.positional.randomize_scores(totals, self.noise.scale, rng), rng)
        margins = rankings.margins(rankings.pairwise_counts(profile))[np.triu_indices(m, k=1)]
        noisy = randomize_margins(np.broadcast_to(margins, (size, len(margins))), m, self.noise.scale, rng)
        return copeland(noisy, m, rng)

    def batches(self, runs: int) -> list[int]:
        """Numbers of runs, at most so many that their histograms fit in memory, that add up to ``runs``."""
        batch = max(1, BATCH_CELLS // math.factorial(self.alternatives))
        return [min(batch, runs - start) for start in range(0, runs, batch)]

    def transcript(self) -> dpaudit.Transcript | None:
        if self.alternatives > LARGEST_AUDITED_HISTOGRAM:
            return None
        one = np.arange(self.alternatives)[None]
        return dpaudit.Transcript(view="histogram", inputs=[one, one[:, ::-1]], runs=4)

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        if self.alternatives > LARGEST_AUDITED_HISTOGRAM:
            return {"output": self}
        shared: dict[str, Any] = {
            "epsilon": self.epsilon,
            "delta": self.failure,
            "alternatives": self.alternatives,
        }
        if self.relation == "add-remove":
            # The sensitivity is 1, so that the noise of Equation 4 is that of Equation 5.
            histogram = NoisyHistogram(**shared)
            return {"output": self, "histogram": histogram, "scaled-histogram": histogram}
        return {
            "output": self,
            "histogram": SubstitutedHistogram(**shared),
            "scaled-histogram": ScaledHistogram(**shared),
        }
