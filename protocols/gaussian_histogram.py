"""Gaussian noise on the histogram of all rankings, then any ranking rule on the noisy histogram.

Source: Shang, Wang, Cuff, Kulkarni, "The application of differential privacy for rank aggregation: privacy and
accuracy", FUSION 2014.

Symbols: epsilon is the paper's ϵ, alternatives M, agents N, noise σ, share_noise σ̂ = σ / N, p_D the density of the
distance of a profile from the hyperplane where two alternatives tie, and P_e the error rate. Bounds are functions of
x = τ / σ̂, and Q is the upper tail of the standard normal law.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
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
LITTLE_NOISE = 1e-9
PROFILES = {
    "simplex": "shares uniform on the simplex",
    "compositions": "all histograms of N agents alike",
    "independent": "every agent's ranking uniform",
}


class _NoisyHistogram(dpaudit.Mechanism):
    """What is released: the number of agents who hold each ranking, plus Gaussian noise (Eq. 5)."""

    notation = (
        "an input lists the agents' rankings, best first; an output is the noisy number of agents with each "
        "ranking, in lexicographic order"
    )

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
    model = "central"
    trust = "A trusted curator sees every ranking; the adversary sees the noisy histogram."
    errata = (
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
            where=f"{PAPER}, Equations 17 to 21 (Lemma 2 and Theorem 2)",
            printed="the last term is Q(τ / σ̂)",
            meant="C(M, 2) Q(τ / σ̂), by a union over the pairs as for the first term",
            reason="near one hyperplane noise may cross another (Eq. 17), and beyond τ any of several (Eq. 18)",
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
    agents: int = dpaudit.parameter(2000, minimum=1, maximum=10**13, doc="N")
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
                rankings.PositionalRule.named(self.rule, self.alternatives)
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
        rule = rankings.kemeny_of_margins if self.rule == "kemeny" else rankings.copeland
        return rule(margins, self.alternatives, rng)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Aggregate rankings of a profile of shape (n, M), or of a ``Profile``.

        Beyond 8 alternatives by way of total scores or margins.
        """
        profile = data if isinstance(data, rankings.Profile) else rankings.Profile.from_rankings(data)
        if self.alternatives > LARGEST_HISTOGRAM:
            return self.sample_by_statistics(profile, size, rng)
        counts = rankings.ranking_histogram(profile)
        parts = []
        for runs in self._batches(size):
            noisy = self.noise.randomize(np.broadcast_to(counts, (runs, len(counts))), rng)
            parts.append(self.aggregate(noisy, rng))
        return np.concatenate(parts)

    def sample_by_statistics(self, profile: rankings.Profile, size: int, rng: np.random.Generator) -> np.ndarray:
        """As ``sample``, for a positional rule or Copeland's: a linear image of Gaussian noise is Gaussian."""
        m = self.alternatives
        if self.positional is not None:
            totals = np.broadcast_to(self.positional.score_profile(profile), (size, m))
            return rankings.rank_by_scores(self.positional.randomize_scores(totals, self.noise.scale, rng), rng)
        margins = rankings.margins(rankings.pairwise_counts(profile))[np.triu_indices(m, k=1)]
        noisy = rankings.randomize_margins(np.broadcast_to(margins, (size, len(margins))), m, self.noise.scale, rng)
        return rankings.copeland(noisy, m, rng)

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
        return np.asarray(shares * self.agents)

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

    def _undefined(self) -> str:
        """Why Eq. 24 has no value; nothing where it has one."""
        least = self.pairs * self.general_density * self.noise.scale * math.sqrt(2 * math.pi)
        if self.agents > least:
            return ""
        return f"Eq. 24 takes the root of a negative number unless N is above {least:.6g}; no τ > 0 is best"

    def theorem2_at_best(self, *, density: float, tail: float = 1.0) -> float:
        """Infimum of the right side of Theorem 2 over all τ > 0."""
        return self.theorem2(self.tightest(density=density, tail=tail), density=density, tail=tail)

    def equation26_at_best(self, *, factor: float) -> float:
        """Infimum over τ of Eq. 26, with the factor of its last term: 1/2 as printed, 1 as Eq. 25 gives."""
        from scipy.optimize import brentq

        slope = self.pairs * self.general_density * self.share_noise
        # The derivative vanishes where factor φ(x) (1 + 1 / x^2) = slope; the left side falls from infinity to 0.
        x = brentq(lambda x: factor * _normal_density(x) * (1 + x**-2) - slope, 1e-60, 38.0)
        return float(slope * x + factor * _normal_density(x) / x)

    def equation27(self) -> float:
        """Eq. 27, which is Theorem 2 and Eq. 25 at τ = 2 √(ln N ln(2/δ)) / (ϵ N)."""
        log = math.log(self.agents)
        first = math.sqrt(2 * log * math.log(2 / self.failure)) / self.epsilon
        second = 1 / (2 * math.sqrt(math.pi * log))
        return (self.pairs * (math.factorial(self.alternatives) - 1) * first + second) / self.agents

    def lemma3(self, x: float) -> float:
        """Right side of Lemma 3."""
        return 2 * self.pairs * self.general_density * self.share_noise * x * _upper_tail(x / 2) + _upper_tail(x)

    def lemma3_corrected(self, density: float) -> float:
        """C(M, 2) 2 p_D(0) ∫ Q(l / σ̂) dl over all l > 0, which is C(M, 2) p_D(0) σ̂ √(2 / π)."""
        return self.pairs * density * self.share_noise * math.sqrt(2 / math.pi)

    def union(self, rule: rankings.PositionalRule) -> float:
        """C(M, 2) 2 ∫ p_D(l) Q(l / σ̂) dl over all l > 0: the probabilities that a pair is reversed, added up."""
        return self.pairs * rankings.pair_flip_probability(rule, self.share_noise)

    # Its claims.

    def claims(self) -> Sequence[dpaudit.Claim]:
        rule = self.positional or rankings.PositionalRule.named("borda", self.alternatives)
        private = _unless(
            self.alternatives <= LARGEST_AUDITED_HISTOGRAM,
            f"audited up to {LARGEST_AUDITED_HISTOGRAM} alternatives; further cells, which do not change, tell nothing",
            self._privacy_claims(),
        )
        about_positional_rules = _unless(
            self.positional is not None,
            "it is about positional rules",
            [
                *self._general_bounds(),
                *self._bounds_of(rule),
                *self._steps_of(rule),
                *_unless(
                    self.exact_error() is not None,
                    "integrated for 3 alternatives on the simplex",
                    self._regions_of(rule),
                ),
                self._rate(rule),
            ],
        )
        about_errors = _unless(
            self.alternatives <= LARGEST_HISTOGRAM,
            f"error rates are measured up to {LARGEST_HISTOGRAM} alternatives",
            [self._scale_invariance(), *about_positional_rules, self._limit()],
        )
        return [*private, *about_errors, *self._formula_steps()]

    def _privacy_claims(self) -> list[dpaudit.Claim]:
        private: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.failure}
        threshold = self._largest_epsilon()
        return [
            dpaudit.PrivacyClaim(
                id="shang2014.theorem1",
                source=f"{PAPER}, Theorem 1 and Equation 5",
                statement="With σ^2 = 2 ln(2/δ) / ϵ^2 the noisy histogram is (ϵ, δ)-differentially private.",
                view="histogram",
                **private,
            ),
            dpaudit.PrivacyClaim(
                id="shang2014.theorem1-scaled",
                source=f"{PAPER}, Theorem 1, Equation 4",
                statement="With the sensitivity of the relation as a factor of σ it is (ϵ, δ)-differentially private.",
                view="scaled-histogram",
                **private,
            ),
            dpaudit.LemmaClaim(
                id="shang2014.theorem1-every-epsilon",
                source=f"{PAPER}, Theorem 1, which states no range of ϵ",
                statement="With σ^2 = 2 ln(2/δ) / ϵ^2 the noisy histogram is (ϵ, δ)-DP at every ϵ > 0.",
                margin=lambda epsilon: 1 - self._delta_at(epsilon) / self.failure,
                instances=[{"epsilon": threshold * factor} for factor in np.geomspace(1e-3, 1.01, 100).tolist()],
                explain=lambda epsilon: {
                    "claimed": self.failure,
                    "actual": self._delta_at(epsilon),
                    "holds up to epsilon": threshold,
                },
                scope=f"δ = {self.failure:g}, {self.relation}; exact δ at 100 ϵ up to 1.01 of where it fails first",
            ),
        ]

    def _delta_at(self, epsilon: float) -> float:
        """Exact δ of the noisy histogram with the noise of Eq. 5 for another ϵ."""
        scale = math.sqrt(2 * math.log(2 / self.failure)) / epsilon
        sensitivity = 1.0 if self.relation == "add-remove" else math.sqrt(2)
        laws = dpaudit.GaussianLaw(sensitivity, scale), dpaudit.GaussianLaw(0.0, scale)
        delta = dpaudit.compare(*laws).delta(epsilon).upper
        assert delta is not None
        return delta

    def _largest_epsilon(self) -> float:
        """ϵ above which Eq. 5 gives too little noise: the first on a fine grid, refined."""
        from scipy.optimize import brentq

        def excess(log_epsilon: float) -> float:
            return self._delta_at(math.exp(log_epsilon)) / self.failure - 1

        grid = np.linspace(math.log(1e-6), math.log(1e3), 400).tolist()
        first = next(i for i, log_epsilon in enumerate(grid) if excess(log_epsilon) > 0)
        return math.exp(brentq(excess, grid[first - 1], grid[first], xtol=1e-12))

    def _error_claim(self, name: str, where: str, statement: str, bound: float, **given: Any) -> dpaudit.UtilityClaim:
        """P_e <= bound."""
        exact = self.exact_error()
        factorial = math.factorial(self.alternatives)
        common: dict[str, Any] = {
            "exact": None if exact is None else lambda: exact,
            "measure": self.error_probabilities,
            "runs": 20_000,
            "trivial": 1 - 1 / factorial,
            "trivial_reason": f"a ranking drawn at random errs with probability 1 - 1/{factorial}",
            "quantity": "error rate",
            "scope": f"{self.rule} with M = {self.alternatives}, N = {self.agents}, σ / N = {self.share_noise:.6g}, "
            + PROFILES[self.profiles],
        }
        return dpaudit.UtilityClaim(
            id=f"shang2014.{name}", source=f"{PAPER}, {where}", statement=statement, bound=bound, **(common | given)
        )

    def _general_bounds(self) -> list[dpaudit.Claim]:
        general = self.general_density
        best = self.tightest(density=general)
        undefined = self._undefined()
        first = self._lemma3_fails_from()
        claims = [
            self._error_claim(
                "theorem2",
                "Theorem 2",
                "For every τ > 0 the error rate is at most C(M,2) (M! - 1) τ / √2 + Q(τ / σ̂).",
                self.theorem2_at_best(density=general),
                beside={"tightest tau": best * self.share_noise},
            ),
            self._error_claim(
                "theorem2-corrected",
                "Theorem 2, with the tail of every pair",
                "For every τ > 0 the error rate is at most C(M,2) ((M! - 1) τ / √2 + Q(τ / σ̂)).",
                self.theorem2_at_best(density=general, tail=self.pairs),
                beside={"tightest tau": self.tightest(density=general, tail=self.pairs) * self.share_noise},
            ),
            self._error_claim(
                "equation26",
                "Equation 26",
                "For every τ > 0 the error rate is at most C(M,2) (M! - 1) τ / √2 + σ̂ exp(-τ²/(2σ̂²)) / (2 √(2π) τ).",
                self.equation26_at_best(factor=0.5),
            ),
            self._error_claim(
                "equation26-meant",
                "Equation 26, with the factor that Equation 25 gives",
                "For every τ > 0 the error rate is at most C(M,2) (M! - 1) τ / √2 + σ̂ exp(-τ²/(2σ̂²)) / (√(2π) τ).",
                self.equation26_at_best(factor=1.0),
            ),
            self._error_claim(
                "lemma3",
                "Lemma 3",
                "For every τ > 0 the error rate is at most C(M,2) √2 (M! - 1) Q(τ / (2σ̂)) τ + Q(τ / σ̂), so at most 0.",
                0.0,
                trivial=None,
                beside={"at tau = 1/sqrt 2": self.lemma3(1 / math.sqrt(2) / self.share_noise)}
                | ({"fails from tau": first * self.share_noise} if first is not None else {}),
            ),
            self._error_claim(
                "lemma3-corrected",
                "Lemma 3, with the integral in place of Jensen's inequality and τ to infinity",
                "The error rate is at most C(M,2) (M! - 1) σ̂ / √π.",
                self.lemma3_corrected(general),
            ),
        ]
        for name, where, value in (
            ("theorem2-equation24", "Theorem 2 at Equation 24", self.theorem2(best, density=general)),
            ("lemma3-equation24", "Lemma 3 at Equation 24", self.lemma3(best)),
        ):
            given = {"inapplicable": undefined} if undefined else {"beside": {"tau": best * self.share_noise}}
            statement = f"The error rate is at most the right side of {where.partition(' at')[0]} at the τ of Eq. 24."
            claims.append(self._error_claim(name, where, statement, value, **given))
        statement = "The error rate is at most (C(M,2) (M! - 1) √(2 ln N ln(2/δ)) / ϵ + 1 / (2 √(π ln N))) / N."
        alone = "" if self.agents > 1 else "its last term is divided by ln N, which is 0 for a single agent"
        bound = self.equation27() if self.agents > 1 else 0.0
        claims.append(self._error_claim("equation27", "Equation 27", statement, bound, inapplicable=alone))
        return list(claims)

    def _lemma3_fails_from(self) -> float | None:
        """First x, to one per cent, at which the right side of Lemma 3 is below the error rate, where that is known."""
        exact = self.exact_error()
        if exact is None:
            return None
        return next((x for x in np.geomspace(1e-2, 1e2, 921).tolist() if self.lemma3(x) < exact), None)

    def _scale_invariance(self) -> dpaudit.Claim:
        cells = math.factorial(self.alternatives)

        def margin(seed: int, log_factor: float) -> float:
            histogram = np.random.default_rng(seed).normal(self.agents / cells, self.noise.scale, size=(1, cells))
            orders = [
                self.aggregate(q, np.random.default_rng(0)) for q in (histogram, math.exp(log_factor) * histogram)
            ]
            return 0.0 if np.array_equal(orders[0], orders[1]) else -1.0

        return dpaudit.LemmaClaim(
            id="shang2014.proposition1-meant",
            source=f"{PAPER}, Equation 2 and Proposition 1",
            statement="The ranking of α q̂ is that of q̂ for every α > 0, even where counts are negative.",
            margin=margin,
            variables={"seed": dpaudit.Integers(0, 2**32 - 1), "log_factor": dpaudit.Reals(-8.0, 8.0)},
            scope=f"{self.rule}, noisy histograms drawn by seed, ln α from -8 to 8",
        )

    def _limit(self) -> dpaudit.Claim:
        agents = math.ceil(self.noise.scale / LITTLE_NOISE)
        return self._error_claim(
            "any-rule",
            "Section I, second contribution",
            f"For any ranking rule the error rate goes to 0 as N grows; here to 0.01 at σ / N = {LITTLE_NOISE:g}.",
            0.01,
            exact=None,
            measure=replace(self, agents=agents, delta=self.failure).errs,
            scope=f"{self.rule} with M = {self.alternatives}, N = {agents}, {PROFILES[self.profiles]}",
        )

    def _rate(self, rule: rankings.PositionalRule) -> dpaudit.Claim:
        def at(agents: float) -> "GaussianHistogram":
            return replace(self, agents=int(agents), delta=self.failure)

        quantity: dict[str, Any] = {"quantity": "error rate"}
        if self.profiles != "simplex":
            quantity["measure"] = lambda agents, runs, rng: at(agents).errs(runs, rng).astype(float)
        elif self.alternatives == 3:
            quantity["exact"] = lambda agents: at(agents).exact_error()
        else:
            quantity["exact"] = lambda agents: at(agents).union(rule)
            quantity["quantity"] = "sum of the pairs' probabilities to be reversed, which the error rate cannot exceed"
        # From where the bound of the corrected Lemma 3 is 0.2, over two decades.
        first = max(10.0, self.agents * self.lemma3_corrected(float(rankings.pair_distance_density(rule, 0.0))) / 0.2)
        return dpaudit.RateClaim(
            id="shang2014.theorem3",
            reproduces="Figure 3",
            source=f"{PAPER}, Theorem 3 and the remark under Equation 27",
            statement="The error rate goes to 0 as N grows, at least as fast as √(ln N) / N.",
            variable="agents",
            points=[math.ceil(first * 10 ** (i / 3)) for i in range(7)],
            exponent=-1.0,
            shape=lambda agents: math.sqrt(math.log(agents)),
            runs=20_000,
            scope=f"{self.rule} with M = {self.alternatives}, ϵ = {self.epsilon:g}, δ = {self.failure:g}, "
            + PROFILES[self.profiles],
            **quantity,
        )

    def _bounds_of(self, rule: rankings.PositionalRule) -> list[dpaudit.Claim]:
        general, own = self.general_density, float(rankings.pair_distance_density(rule, 0.0))
        best = self.tightest(density=own)
        union = self.union(rule)
        claims: list[dpaudit.Claim] = [
            self._error_claim(
                "lemma2",
                "Lemma 2",
                "For every τ > 0 the error rate is at most C(M,2) 2 ∫_0^τ p_D(l) Q(l / σ̂) dl + Q(τ / σ̂).",
                # The derivative has the sign of C(M,2) 2 p_D(τ) σ̂ Q(x) / φ(x) - 1, which falls: the ends are smallest.
                min(0.5, union),
                beside={"as tau goes to 0": 0.5, "as tau grows": union},
            ),
            self._error_claim(
                "lemma2-corrected",
                "Lemma 2, with the tail of every pair",
                "For every τ > 0 the error rate is at most C(M,2) (2 ∫_0^τ p_D(l) Q(l / σ̂) dl + Q(τ / σ̂)).",
                union,
            ),
            self._error_claim(
                "borda-bound",
                "Section IV",
                "For every τ > 0 the error rate is at most C(M,2) p_D(0) τ + Q(τ / σ̂), with the rule's own p_D(0).",
                self.theorem2_at_best(density=own),
                beside={"tightest tau": best * self.share_noise, "density at 0": own, "largest density at 0": general},
            ),
            self._error_claim(
                "borda-bound-corrected",
                "Section IV, by the corrected Lemma 3",
                "The error rate is at most C(M,2) p_D(0) σ̂ √(2 / π), with the rule's own p_D(0).",
                self.lemma3_corrected(own),
            ),
            dpaudit.UtilityClaim(
                id="shang2014.equation22",
                source=f"{PAPER}, Equation 22",
                statement="The density of the distance at 0 is at most (M! - 1) / √2.",
                bound=general,
                exact=lambda: own,
                support=(0.0, math.inf),
                quantity="p_D(0)",
                scope=f"{self.rule} with M = {self.alternatives}",
            ),
        ]
        x = self.tightest(density=general)
        curves = {
            "bound of theorem 2": self.theorem2(x, density=general),
            "bound of lemma 3 at its tau": self.lemma3(x),
            "bound of the rule": self.theorem2_at_best(density=own),
        }
        exact = self.exact_error()
        beside = curves | {
            "bound of theorem 2, corrected": self.theorem2_at_best(density=general, tail=self.pairs),
            "bound of lemma 3, corrected": self.lemma3_corrected(general),
            "bound by the union of the pairs": union,
        }
        return claims + [
            self._error_claim(
                f"figure{figure}",
                f"Figure {figure}",
                "The simulated error rate lies below the bounds of Theorem 2, Lemma 3 and the rule itself.",
                min(curves.values()),
                reproduces=f"Figure {figure}",
                trivial=None,
                exact=None,
                measure=self.errs,
                runs=100_000,
                beside=beside | ({} if exact is None else {"exact": exact}),
            )
            for figure in (2, 3)
        ]

    def _steps_of(self, rule: rankings.PositionalRule) -> list[dpaudit.Claim]:
        norm, factorial = rule.gap_norm, math.factorial(self.alternatives)
        claimed_noise = math.sqrt(2 * math.log(2 / self.failure)) / (self.epsilon * self.agents)

        def density(distance: float, middle: float | None = None) -> float:
            own = rule if middle is None else rankings.PositionalRule((1.0, middle, 0.0))
            return float(rankings.pair_distance_density(own, distance))

        def flips() -> dict[str, float]:
            sizes = {"claimed": claimed_noise, "actual": self.share_noise}
            return {name: rankings.pair_flip_probability(rule, size) for name, size in sizes.items()}

        gaps, counts = rule.gap_coefficients()

        def exponential_density(s: float) -> float:
            """(M! - 1) G(s), G the density of the same linear form of independent exponential variables."""
            from scipy.integrate import quad

            upper = [(gap / norm, count) for gap, count in zip(gaps.tolist(), counts.tolist(), strict=True) if gap > 0]

            def transformed(u: float) -> float:
                """Characteristic function at t = sinh u, times cos(s t) dt / du."""
                t = math.sinh(u)
                log = sum(count * math.log1p((gap * t) ** 2) for gap, count in upper)
                return math.cos(s * t) * math.exp(-log) * math.cosh(u)

            form = quad(transformed, 0, 15, limit=500)
            return float((factorial - 1) * form[0] / math.pi)

        largest = rankings.largest_pair_distance(rule)
        claims: list[dpaudit.Claim] = [
            dpaudit.LemmaClaim(
                id="shang2014.proposition1",
                source=f"{PAPER}, Proposition 1",
                statement="Noise with σ̂^2 = 2 ln(2/δ) / (ϵN)^2 on the shares errs as often as Eq. 5's on counts.",
                margin=lambda: -abs(_relative(**flips())),
                instances=[{}],
                complete=True,
                explain=flips,
                tolerance=1e-9,
                scope=f"probability that a given pair is reversed, {self.rule} with M = {self.alternatives}",
            ),
            dpaudit.LemmaClaim(
                id="shang2014.lemma1",
                source=f"{PAPER}, Lemma 1",
                statement="The density of the distance is largest at 0.",
                margin=lambda distance, middle=None: density(0.0, middle) - density(distance, middle),
                instances=[{"distance": distance} for distance in np.linspace(0, largest, 201).tolist()],
                variables={"distance": dpaudit.Reals(0.0, 1 / math.sqrt(2)), "middle": dpaudit.Reals(0.0, 1.0)}
                if self.alternatives == 3
                else {},
                tolerance=1e-9,
                scope=f"{self.rule} at 201 distances" + "; scores (1, s, 0)" * (self.alternatives == 3),
            ),
            dpaudit.LemmaClaim(
                id="shang2014.distance-range",
                source=f"{PAPER}, Section III-B",
                statement="The distance of a profile from the hyperplane of a pair is at most √2.",
                margin=lambda: math.sqrt(2) - largest,
                instances=[{}],
                complete=True,
                explain=lambda: {"claimed": math.sqrt(2), "actual": largest, "1 / sqrt 2": 1 / math.sqrt(2)},
                scope=f"{self.rule} with M = {self.alternatives}",
            ),
            dpaudit.LemmaClaim(
                id="shang2014.equation13",
                source=f"{PAPER}, Equation 13",
                statement="At every distance s the slice of the simplex has volume √M! G(s) / Γ(M! - 1).",
                margin=lambda distance: -abs(density(distance) - exponential_density(distance)),
                instances=[{"distance": distance} for distance in (0.0, 0.1, 0.2, 0.4, 1 / math.sqrt(2), 1.0)],
                explain=lambda distance: {"claimed": exponential_density(distance), "actual": density(distance)},
                tolerance=1e-6,
                scope="both over the volume of the simplex",
            ),
        ]
        return claims

    def _regions_of(self, rule: rankings.PositionalRule) -> list[dpaudit.Claim]:
        def high(x: float) -> dict[str, float]:
            beyond, _ = rankings.three_way_error(rule, self.share_noise, beyond=x * self.share_noise)
            within = rankings.pair_flip_probability(rule, self.share_noise, within=x * self.share_noise)
            everywhere, _ = rankings.three_way_error(rule, self.share_noise)
            return {"claimed": self.pairs * within, "actual": everywhere - beyond}

        def low(x: float) -> dict[str, float]:
            error, mass = rankings.three_way_error(rule, self.share_noise, beyond=x * self.share_noise)
            return {"claimed": mass * _upper_tail(x), "actual": error}

        # The farthest profile from both hyperplanes next to it: a mixture of one ballot with that of two swapped.
        middle = rule.scores[1]
        farthest = (1 + min(middle, 1 - middle)) / 3 * rankings.largest_pair_distance(rule)
        far = [share * farthest / self.share_noise for share in (0.5, 0.9, 0.97, 0.99, 0.995)]
        return [
            dpaudit.LemmaClaim(
                id=f"shang2014.equation{number}",
                source=f"{PAPER}, Equation {number}",
                statement=statement,
                margin=lambda x, sides=sides: _relative(**sides(x)),
                instances=[{"x": x} for x in (0.01, 0.1, 0.5, 1.0, 2.0, 4.0, *far)],
                explain=sides,
                tolerance=1e-6,
                scope=f"x = τ / σ̂ at σ̂ = {self.share_noise:.6g}, {self.rule}, M = 3, integrated",
            )
            for number, sides, statement in (
                (
                    17,
                    high,
                    "Errors at profiles within τ of a hyperplane are at most C(M,2) reversals of a pair within τ.",
                ),
                (18, low, "Errors at profiles beyond τ of all hyperplanes are at most Q(τ / σ̂) of these profiles."),
            )
        ]

    def _formula_steps(self) -> list[dpaudit.Claim]:
        best = self.tightest(density=self.general_density)

        def shared(x: float) -> dict[str, float]:
            return {"claimed": x * _upper_tail(x / 2), "actual": _tail_integral(x)}

        def printed(x: float) -> dict[str, float]:
            return {"claimed": _normal_density(x) / (2 * x), "actual": _upper_tail(x)}

        at_best = self.theorem2(best, density=self.general_density)
        return [
            dpaudit.LemmaClaim(
                id="shang2014.equation24",
                source=f"{PAPER}, Equation 24",
                statement="No other τ makes the right side of Theorem 2 smaller.",
                margin=lambda ratio: self.theorem2(ratio * best, density=self.general_density) - at_best,
                variables={"ratio": dpaudit.Reals(1e-3, 30.0)},
                instances=[{"ratio": 1 + step} for step in (-0.1, -1e-3, 1e-3, 0.1)],
                scope="τ from a thousandth to 30 times that of Equation 24",
                inapplicable=self._undefined(),
            ),
            dpaudit.LemmaClaim(
                id="shang2014.equation26-step",
                source=f"{PAPER}, Equations 23, 25 and 26",
                statement="Q(x) is at most the last term of Equation 26, exp(-x²/2) / (2 √(2π) x).",
                margin=lambda x: printed(x)["claimed"] - printed(x)["actual"],
                instances=[{"x": x} for x in (0.25, 0.5, 1.0, 2.0, 4.0)],
                explain=printed,
                scope="x = ϵ N τ / √(2 ln(2/δ))",
            ),
            dpaudit.LemmaClaim(
                id="shang2014.lemma3-jensen",
                source=f"{PAPER}, Equation 28",
                statement="The integral of Q from 0 to x is at most x Q(x / 2).",
                margin=lambda x: shared(x)["claimed"] - shared(x)["actual"],
                instances=[{"x": x} for x in (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)],
                explain=shared,
                scope="x = τ / σ̂",
            ),
            dpaudit.LemmaClaim(
                id="shang2014.lemma3-jensen-reversed",
                source=f"{PAPER}, Equation 28, the right way round",
                statement="The integral of Q from 0 to x is at least x Q(x / 2).",
                margin=lambda x: shared(x)["actual"] - shared(x)["claimed"],
                variables={"x": dpaudit.Reals(0.0, 40.0)},
                explain=lambda x: {"claimed": shared(x)["actual"], "actual": shared(x)["claimed"]},
                scope="x from 0 to 40",
            ),
        ]


def _unless(fits: bool, reason: str, claims: Sequence[dpaudit.Claim]) -> list[dpaudit.Claim]:
    """The claims, inapplicable for a reason unless they fit."""
    return [claim if fits or claim.inapplicable else replace(claim, inapplicable=reason) for claim in claims]


def _relative(claimed: float, actual: float) -> float:
    """How far the actual value stays below the claimed one, as a share of the larger; 0 where both have vanished."""
    return (claimed - actual) / max(claimed, actual) if max(claimed, actual) > 0 else 0.0


def _upper_tail(x: float) -> float:
    """Q(x)."""
    return math.erfc(x / math.sqrt(2)) / 2


def _normal_density(x: float) -> float:
    return math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


def _tail_integral(x: float) -> float:
    """∫_0^x Q."""
    return x * _upper_tail(x) + _normal_density(0.0) - _normal_density(x)
