"""Gaussian noise on the histogram of all rankings, then any ranking rule on the noisy histogram.

Source: Shang, Wang, Cuff, Kulkarni, "The application of differential privacy for rank aggregation: privacy and
accuracy", FUSION 2014.

Symbols: epsilon is the paper's ϵ, alternatives M, agents N, noise σ, share_noise σ̂ = σ / N, p_D the density of the
distance of a profile from the hyperplane where two alternatives tie, and P_e the error rate. Bounds are functions of
x = τ / σ̂, and Q is the upper tail of the standard normal law.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

PAPER = "Shang, Wang, Cuff, Kulkarni 2014"
OTHER_RULES = ("instant-runoff", "kemeny", "copeland")
LARGEST_HISTOGRAM = 8
LARGEST_AUDITED_HISTOGRAM = 5
BATCH_CELLS = 1 << 21


class _NoisyHistogram(dpaudit.Mechanism):
    """What is released: the number of agents who hold each ranking, plus Gaussian noise (Eq. 5)."""

    scale: float = dpaudit.parameter(1.0, above=0, doc="σ")
    alternatives: int = dpaudit.parameter(3, minimum=2, maximum=LARGEST_AUDITED_HISTOGRAM, doc="M")
    relation: Literal["add-remove", "substitution"] = dpaudit.parameter("add-remove", doc="neighbouring relation")

    def counts(self, data: Any) -> np.ndarray:
        """Histogram of rankings of shape (n, M), n >= 0."""
        index = rankings.ranking_index(np.asarray(data, dtype=np.int64).reshape(-1, self.alternatives))
        return np.bincount(index, minlength=math.factorial(self.alternatives))

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        counts = self.counts(data)
        return randomizers.GaussianNoise(self.scale).randomize(np.broadcast_to(counts, (size, len(counts))), rng)

    def features(self, outputs: np.ndarray) -> np.ndarray:
        """The cell in which the neighbouring inputs differ, or the difference of the two; the rest tells nothing."""
        return outputs[:, :1] if self.relation == "add-remove" else outputs[:, :1] - outputs[:, -1:]

    def law(self, data: Any) -> dpaudit.ProductLaw:
        noise = randomizers.GaussianNoise(self.scale)
        return dpaudit.ProductLaw([noise.law(count) for count in self.counts(data)])

    def neighbours(self) -> dpaudit.Neighbouring:
        one = np.arange(self.alternatives)[None]
        other = one[:0] if self.relation == "add-remove" else one[:, ::-1]
        change = "added or removed" if self.relation == "add-remove" else "replaced"
        return dpaudit.Neighbouring(
            relation=self.relation,
            pairs=[(one, other)],
            complete=True,
            scope=(
                f"any two profiles over {self.alternatives} alternatives with one ranking {change}; the noise does not "
                "depend on the data and treats all cells alike, so one pair without further agents stands for all"
            ),
        )


class GaussianHistogram(dpaudit.Mechanism):
    """Gaussian noise on the histogram of all rankings, then any ranking rule on the noisy histogram."""

    name = "gaussian-histogram"
    source = PAPER
    trust = "A trusted curator sees every ranking; the adversary sees the noisy histogram."
    errata = (
        dpaudit.Erratum(
            where=f"{PAPER}, Proposition 1",
            printed="σ̂^2 = 2 ln(2/δ) / e^(2 N^2)",
            meant="σ̂^2 = 2 ln(2/δ) / (ϵ^2 N^2)",
            reason="dividing the histogram by N divides the noise of Eq. 5 by N; Theorem 2 uses this value",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Section III-B",
            printed="D takes values on [-√2, √2]",
            meant="D takes values on [-1/√2, 1/√2] at most",
            reason="the unit normal has each entry with both signs, so its largest entry is at most 1/√2",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Equation 13",
            printed="Eq. 12 holds for any hyperplane, not only for one through the origin",
            meant="it holds through the origin only, and Lemma 1 follows because p_D is even and log-concave",
            reason="the density of Y is positive everywhere, but a hyperplane farther than 1/√2 misses the simplex",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Equation 26",
            printed="the second term has the factor 1 / (2 √π)",
            meant="1 / √π",
            reason="Eq. 25 at x = ϵ N τ / √(2 ln(2/δ)) gives twice the printed term; Eq. 27 follows from the right one",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Equation 28",
            printed="by Jensen's inequality the average of Q over [0, τ / σ̂] is at most Q(τ / (2 σ̂))",
            meant="at least",
            reason="Q is convex on [0, ∞); the third line also lacks the factor τ that the fourth has",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Section II-A",
            printed="the Kemeny-Young method is NP-hard even for M = 4, with M the number of candidates",
            meant="for 4 voters",
            reason="four candidates have 24 rankings; the result that is cited is about four lists",
        ),
    )

    epsilon: float = dpaudit.parameter(0.1, doc="ϵ")
    delta: float | Literal["0.1/n"] = dpaudit.parameter(5e-4, doc="δ, or a tenth over the number of agents")
    alternatives: int = dpaudit.parameter(3, minimum=3, maximum=20, doc="M")
    agents: int = dpaudit.parameter(2000, minimum=1, doc="N")
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
            rankings.PositionalRule.named(self.rule, self.alternatives)
        elif self.alternatives > LARGEST_HISTOGRAM:
            raise dpaudit.ParameterError(
                f"{self.name}: parameter 'rule' {self.rule!r} needs the whole histogram, up to {LARGEST_HISTOGRAM} "
                f"alternatives, got {self.alternatives}; take a positional rule"
            )

    @property
    def failure(self) -> float:
        """δ as a number."""
        return 0.1 / self.agents if isinstance(self.delta, str) else self.delta

    @property
    def noise(self) -> randomizers.GaussianNoise:
        """Eq. 5: σ^2 = 2 ln(2/δ) / ϵ^2, whatever the relation."""
        return randomizers.GaussianNoise(math.sqrt(2 * math.log(2 / self.failure)) / self.epsilon)

    @property
    def share_noise(self) -> float:
        """Proposition 1: σ̂ = σ / N."""
        return self.noise.scale / self.agents

    @cached_property
    def positional(self) -> rankings.PositionalRule | None:
        """The rule, if it is positional."""
        if self.rule in OTHER_RULES:
            return None
        return rankings.PositionalRule.named(self.rule, self.alternatives)

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        if self.alternatives > LARGEST_AUDITED_HISTOGRAM:
            return {"output": self}
        shared: dict[str, Any] = {"alternatives": self.alternatives, "relation": self.relation}
        sensitivity = 1.0 if self.relation == "add-remove" else math.sqrt(2)
        return {
            "output": self,
            "histogram": _NoisyHistogram(scale=self.noise.scale, **shared),
            "scaled-histogram": _NoisyHistogram(scale=self.noise.scale * sensitivity, **shared),
        }

    # The system.

    def aggregate(self, histograms: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Apply the rule to histograms of shape (runs, M!); ties at random."""
        if self.positional is not None:
            return rankings.rank_by_scores(self.positional.score_histograms(histograms), rng)
        if self.rule == "instant-runoff":
            return rankings.instant_runoff(histograms, self.alternatives, rng)
        margins = rankings.histogram_margins(histograms, self.alternatives)
        rule = rankings.kemeny_rankings if self.rule == "kemeny" else rankings.copeland
        return rule(margins, self.alternatives, rng)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Aggregate rankings of a profile of shape (n, M), or of a ``Profile``.

        Beyond 8 alternatives the noise is drawn as what it adds to the total scores, which is Gaussian too.
        """
        profile = data if isinstance(data, rankings.Profile) else rankings.Profile.from_rankings(data)
        if self.alternatives > LARGEST_HISTOGRAM:
            return self.sample_by_scores(profile, size, rng)
        counts = rankings.ranking_histogram(profile)
        parts = []
        for runs in self._batches(size):
            noisy = self.noise.randomize(np.broadcast_to(counts, (runs, len(counts))), rng)
            parts.append(self.aggregate(noisy, rng))
        return np.concatenate(parts)

    def sample_by_scores(self, profile: rankings.Profile, size: int, rng: np.random.Generator) -> np.ndarray:
        """As ``sample``, for a positional rule and any M, by way of the total scores."""
        if self.positional is None:
            raise dpaudit.ParameterError(f"{self.name}: the rule {self.rule!r} has no total scores")
        totals = np.broadcast_to(self.positional.score_profile(profile), (size, self.alternatives))
        return rankings.rank_by_scores(self.positional.randomize_scores(totals, self.noise.scale, rng), rng)

    def _batches(self, runs: int) -> list[int]:
        batch = max(1, BATCH_CELLS // math.factorial(self.alternatives))
        return [min(batch, runs - start) for start in range(0, runs, batch)]

    # Its error rate (Definition 3).

    def draw(self, runs: int, rng: np.random.Generator) -> np.ndarray:
        """Histograms (runs, M!) of uniform profiles; as shares on the simplex, times N."""
        cells = math.factorial(self.alternatives)
        if self.profiles == "independent":
            return rng.multinomial(self.agents, np.full(cells, 1 / cells), size=runs).astype(float)
        exponential = rng.exponential(size=(runs, cells))
        shares = exponential / exponential.sum(axis=1, keepdims=True)
        if self.profiles == "compositions":
            return rng.multinomial(self.agents, shares).astype(float)
        return shares * self.agents

    def errs(self, runs: int, rng: np.random.Generator) -> np.ndarray:
        """Whether noise changes the ranking, on profiles of their own for every run; shape (runs,)."""
        parts = []
        for batch in self._batches(runs):
            histograms = self.draw(batch, rng)
            truth = self.aggregate(histograms, rng)
            parts.append((self.aggregate(self.noise.randomize(histograms, rng), rng) != truth).any(axis=1))
        return np.concatenate(parts)

    def error_probabilities(self, runs: int, rng: np.random.Generator) -> np.ndarray:
        """Probability that noise changes the ranking, given the profile and half of the noise; shape (runs,)."""
        if self.positional is None or self.profiles != "simplex":
            return self.errs(runs, rng)
        parts = []
        for batch in self._batches(runs):
            scores = self.positional.score_histograms(self.draw(batch, rng))
            # Up to a shift common to all of them, the noise on the total scores is independent.
            score_noise = self.noise.scale * self.positional.gap_norm / math.sqrt(2)
            parts.append(1 - rankings.order_kept_probability(scores, score_noise, rng))
        return np.concatenate(parts)

    def exact_error(self) -> float | None:
        """P_e where it can be integrated: a positional rule on three alternatives and the simplex."""
        if self.positional is None or self.alternatives != 3 or self.profiles != "simplex":
            return None
        return rankings.three_way_error(self.positional, self.share_noise)[0]

    # Its bounds.

    @property
    def pairs(self) -> int:
        return math.comb(self.alternatives, 2)

    @property
    def general_density(self) -> float:
        """Eq. 22: p_D(0) <= (M! - 1) / √2."""
        return (math.factorial(self.alternatives) - 1) / math.sqrt(2)

    def theorem2(self, x: float, *, density: float, tail: float = 1.0) -> float:
        """Right side of Theorem 2 with a density in the place of (M! - 1) / √2, and a factor of its last term."""
        return self.pairs * density * self.share_noise * x + tail * _upper_tail(x)

    def tightest(self, *, density: float, tail: float = 1.0) -> float:
        """Eq. 24 over σ̂: where the right side of Theorem 2, convex in x, is smallest; 0 where it is undefined."""
        argument = self.pairs * density * self.share_noise * math.sqrt(2 * math.pi) / tail
        return math.sqrt(-2 * math.log(argument)) if argument < 1 else 0.0

    def equation26(self, x: float, *, factor: float) -> float:
        """Eq. 26, with the factor of its last term: 1/2 as printed, 1 as Eq. 25 gives."""
        slope = self.pairs * self.general_density * self.share_noise
        return slope * x + factor * math.exp(-(x**2) / 2) / (math.sqrt(2 * math.pi) * x)

    def equation27(self) -> float:
        """Eq. 27: τ = 2 √(ln N ln(2/δ)) / (ϵ N), which is x = √(2 ln N)."""
        first = self.pairs * (math.factorial(self.alternatives) - 1)
        first *= math.sqrt(2 * math.log(self.agents) * math.log(2 / self.failure)) / self.epsilon
        return (first + 1 / (2 * math.sqrt(math.pi * math.log(self.agents)))) / self.agents

    def lemma3(self, x: float) -> float:
        """Lemma 3."""
        return 2 * self.pairs * self.general_density * self.share_noise * x * _upper_tail(x / 2) + _upper_tail(x)

    def union(self, density: float | None = None) -> float:
        """C(M, 2) times 2 ∫ p_D(l) Q(l / σ̂) dl over all l > 0: union over the pairs. With a density, p_D is that."""
        if density is not None:
            return self.pairs * 2 * density * self.share_noise / math.sqrt(2 * math.pi)
        assert self.positional is not None
        return self.pairs * rankings.pair_flip_probability(self.positional, self.share_noise)

    # Its claims.

    def claims(self) -> Sequence[dpaudit.Claim]:
        found = [*self._privacy_claims()] if self.alternatives <= LARGEST_AUDITED_HISTOGRAM else []
        if self.alternatives <= LARGEST_HISTOGRAM:
            found += [self._bound_on_error(**bound) for bound in self._bounds()]
        return found

    def _privacy_claims(self) -> Sequence[dpaudit.Claim]:
        return [
            dpaudit.PrivacyClaim(
                id="shang2014.theorem1",
                source=f"{PAPER}, Theorem 1 and Equation 5",
                statement="With σ^2 = 2 ln(2/δ) / ϵ^2 the noisy histogram is (ϵ, δ)-differentially private.",
                epsilon=self.epsilon,
                delta=self.failure,
                view="histogram",
            ),
            dpaudit.PrivacyClaim(
                id="shang2014.theorem1-scaled",
                source=f"{PAPER}, Theorem 1 (Equation 4)",
                statement="With the noise of Theorem 1 for the sensitivity of the relation it is (ϵ, δ)-DP.",
                epsilon=self.epsilon,
                delta=self.failure,
                view="scaled-histogram",
            ),
        ]

    def _bounds(self) -> Sequence[dict[str, Any]]:
        best = self.tightest(density=self.general_density)
        return [
            {
                "id": "shang2014.theorem2",
                "source": f"{PAPER}, Theorem 2",
                "statement": "For every τ > 0 the error rate is at most C(M,2) (M! - 1) τ / √2 + Q(τ / σ̂).",
                "bound": self.theorem2(best, density=self.general_density),
                "beside": {"tightest tau": best * self.share_noise},
            },
        ]

    def _bound_on_error(self, **given: Any) -> dpaudit.UtilityClaim:
        exact = self.exact_error()
        factorial = math.factorial(self.alternatives)
        return dpaudit.UtilityClaim(
            **given,
            exact=None if exact is None else lambda: exact,
            measure=self.error_probabilities,
            runs=20_000,
            trivial=1 - 1 / factorial,
            trivial_reason=f"a ranking drawn at random errs with probability 1 - 1/{factorial}",
            quantity="error rate",
            scope=f"{self.rule} with M = {self.alternatives}, N = {self.agents}, {self.profiles}",
        )


def _upper_tail(x: float) -> float:
    """Q(x)."""
    return math.erfc(x / math.sqrt(2)) / 2
