"""Rank aggregation in the central model: noise on every pairwise weight, and KwikSort on few noisy queries.

Source: Alabi, Ghazi, Kumar, Manurangsi, "Private rank aggregation in central and local models", AAAI 2022.

Symbols: epsilon ϵ, delta δ, alternatives m, agents n, xi ξ, cap q, and the weight w_ij of a pair, the fraction of the
agents who place i before j. One ranking replaced changes the C(m, 2) weights i < j by at most C(m, 2)/n in sum.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

PAPER = "Alabi, Ghazi, Kumar, Manurangsi 2022"
TABLE = "Table 1"
LOG_INVERSE_DELTAS = (4, 8, 16, 32, 64, 128)
"""Values of log(1/δ) for rates in it: δ from 0.018 to 3e-56."""
RUNS_AT_ONCE = 1 << 15
EXACT_KEMENY = 14
EXACT_LAW = 5
EXACT_COST = 12
CROSSOVER = "alternatives from which on it holds"
LARGEST_COMPARED = 128
"""Up to it the tail of KwikSort's comparisons is exact."""

MANY_AGENTS = 10**9
"""Agents in whose presence the noise is far below the weights, for rates in other things."""

PROPORTIONAL = {"agents": "1/n", "epsilon": "1/ϵ", "log(1/δ)": "sqrt(log(1/δ))"}
"""What the additive error is proportional to, by the variable of a rate."""

Noise = randomizers.LaplaceNoise | randomizers.GaussianNoise


class _Central(dpaudit.Mechanism):
    """What both reductions share: a trusted curator who adds noise to pairwise weights."""

    epsilon: float = dpaudit.parameter(1.0, minimum=1e-3, doc="ϵ, the whole budget")
    delta: float = dpaudit.parameter(0.0, doc="δ: 0 with Laplace noise, above 0 with Gaussian noise")
    noise: Literal["laplace", "gaussian"] = dpaudit.parameter("laplace", doc="noise of a weight")
    calibration: Literal["printed", "classical", "tight"] = dpaudit.parameter(
        "printed", doc="of the noise: as printed, or to the true sensitivity, Gaussian noise classically or exactly"
    )
    alternatives: int = dpaudit.parameter(3, minimum=2, maximum=256, doc="m")
    agents: int = dpaudit.parameter(2, minimum=1, doc="n")
    instance: Literal["unanimous", "near-ties", "opposed", "cyclic"] = dpaudit.parameter(
        "near-ties", doc="profile of the utility claims: near-ties has margins of the size of the noise"
    )

    source = PAPER

    def validate(self) -> None:
        if (self.noise == "gaussian") != (0 < self.delta < 1):
            need = "above 0 and below 1" if self.noise == "gaussian" else "0"
            raise dpaudit.ParameterError(
                f"{self.name}: parameter 'delta' must be {need} with {self.noise} noise, got {self.delta}"
            )
        if self.instance == "cyclic" and self.alternatives > EXACT_KEMENY:
            raise dpaudit.ParameterError(
                f"{self.name}: parameter 'alternatives' must be at most {EXACT_KEMENY} with the instance 'cyclic', "
                f"whose optimum has no closed form here, got {self.alternatives}"
            )

    @property
    def pairs(self) -> int:
        """Number of pairs of alternatives."""
        return math.comb(self.alternatives, 2)

    def weights(self, data: Any) -> np.ndarray:
        """w_ij of the pairs i < j of a profile of shape (n, m), or of a ``Profile``."""
        counts = rankings.pairwise_counts(data)
        i, j = rankings.alternative_pairs(self.alternatives).T
        return np.asarray(counts[i, j] / (counts[i, j] + counts[j, i]))

    def calibrated(self, epsilon: float, l1: float, l2: float) -> Noise:
        """Noise for that budget: Lap(l1 / ϵ), or Gaussian noise for an L2 sensitivity."""
        if self.noise == "laplace":
            return randomizers.LaplaceNoise.for_epsilon(epsilon, sensitivity=l1)
        if self.calibration == "tight":
            return randomizers.GaussianNoise.analytic(epsilon, self.delta, sensitivity=l2)
        return randomizers.GaussianNoise.classical(epsilon, self.delta, sensitivity=l2)

    def neighbours(self) -> dpaudit.Neighbouring:
        profiles = rankings.Profiles(agents=self.agents, alternatives=self.alternatives, neutral=True)
        return dpaudit.Neighbouring(
            relation=profiles.relation,
            pairs=profiles.pairs,
            complete=True,
            scope=f"all {profiles.scope}",
            domain=profiles,
        )

    def own_claims(self) -> list[dpaudit.Claim]:
        """What is claimed with this noise and budget."""
        return []

    def variants(self) -> list[dict[str, Any]]:
        """Parameters that other claims of the paper are about, beginning with the noise that this is not."""
        return [
            {"noise": "laplace", "delta": 0.0} if self.noise == "gaussian" else {"noise": "gaussian", "delta": 1e-5}
        ]

    def every_claim(self) -> Sequence[dpaudit.Claim]:
        """Every claim at every parameter; those about another noise or budget are inapplicable."""
        claims = {claim.id: claim for claim in self.own_claims()}
        for changed in self.variants():
            about = f"it is about {', '.join(f'{key} = {value}' for key, value in changed.items() if key != 'delta')}"
            for claim in type(self)(**{**self.parameters(), **changed}).own_claims():
                claims.setdefault(claim.id, replace(claim, inapplicable=about))
        return list(claims.values())

    # The profiles of the utility claims.

    def profile(self) -> rankings.Profile:
        """The instance: blocs that hold an order and its reverse, or the m rotations of one order."""
        orders = np.arange(self.alternatives)
        if self.instance == "cyclic":
            orders = (orders + orders[:, None]) % self.alternatives
            counts = np.full(self.alternatives, self.agents // self.alternatives)
            counts[: self.agents % self.alternatives] += 1
        else:
            margin = {"unanimous": 0.5, "near-ties": min(0.5, self.main_noise.scale), "opposed": 0.0}[self.instance]
            ahead = math.ceil(self.agents * (0.5 + margin) - 1e-9)
            orders = np.stack([orders, orders[::-1]])
            counts = np.array([ahead, self.agents - ahead])
        return rankings.Profile(orders[counts > 0], counts[counts > 0])

    @property
    def main_noise(self) -> Noise:
        """Noise of the weights that decide the ranking."""
        raise NotImplementedError

    def optimum(self, profile: rankings.Profile) -> float:
        """OPT: of two opposed blocs every pair costs the smaller one."""
        if self.instance == "cyclic":
            return rankings.kemeny(rankings.pairwise_counts(profile)).cost / self.agents
        weights = self.weights(profile)
        return float(np.minimum(weights, 1 - weights).sum())

    def costs(self, orders: np.ndarray, profile: rankings.Profile) -> np.ndarray:
        """K(σ, Π) of many rankings."""
        return np.asarray(rankings.average_kendall_tau(orders, profile))

    @property
    def exact(self) -> bool:
        """Whether the law over all rankings is known."""
        raise NotImplementedError

    def expected_cost(self, profile: rankings.Profile) -> float:
        """E[K(σ, Π)] from the law over all rankings."""
        law = self.law(profile)
        assert isinstance(law, dpaudit.FiniteLaw)
        return float(np.exp(law.log_probabilities) @ self.costs(np.asarray(law.outcomes), profile))

    def cost_range(self, optimum: float) -> tuple[float, float]:
        """Costs of all rankings: a ranking and its reverse together cost C(m, 2). Widened for rounding."""
        return optimum - 1e-9, self.pairs - optimum + 1e-9

    def utility(
        self, name: str, statement: str, alpha: float, beta: float, inapplicable: str = ""
    ) -> dpaudit.UtilityClaim:
        """E[K(σ, Π)] <= alpha OPT(Π) + beta on the instance."""
        profile = self.profile()
        optimum = self.optimum(profile)

        def measure(runs: int, rng: np.random.Generator) -> Mapping[str, np.ndarray]:
            cost = self.costs(self.sample(profile, runs, rng), profile)
            return {"value": cost, "additive error for ratio one": cost - optimum}

        return dpaudit.UtilityClaim(
            id=name,
            source=f"{PAPER}, Corollary {name[-1]}",
            statement=statement,
            bound=alpha * optimum + beta,
            exact=(lambda: self.expected_cost(profile)) if self.exact else None,
            measure=measure,
            support=self.cost_range(optimum),
            beside_support=(-1e-9, self.pairs - 2 * optimum + 1e-9),
            trivial=self.pairs / 2,
            trivial_reason="a ranking drawn at random costs C(m, 2)/2 on every profile",
            quantity="expected average Kendall tau distance K(σ, Π)",
            scope=(
                f"{self.instance} profile of {self.agents} agents over {self.alternatives} alternatives, OPT = "
                f"{optimum:.6g}; bound {alpha:.6g} OPT + {beta:.6g}"
            ),
            inapplicable=inapplicable,
        )


class _Weights(_Central):
    """Noisy weights alone, whose privacy loss grows with every weight that changes."""

    def neighbours(self) -> dpaudit.Neighbouring:
        order = np.arange(self.alternatives)
        rest = np.tile(order, (self.agents - 1, 1))
        return dpaudit.Neighbouring(
            relation="substitution",
            pairs=[(np.vstack([order, rest]), np.vstack([order[::-1], rest]))],
            complete=True,
            scope=(
                f"all profiles of {self.agents} agent{'s' if self.agents > 1 else ''} over {self.alternatives} "
                "alternatives with one ranking replaced; the reverse, which changes every weight by 1/n, stands for all"
                " others, because the loss depends on the changes alone and grows with them"
            ),
        )


class NoisyMatrix(_Weights):
    """The noisy weights of Reduction I, before they are clipped."""

    notation = (
        "an input lists the agents' rankings, best first; an output holds a noisy weight for each pair (0, "
        "1), (0, 2), …"
    )

    @property
    def main_noise(self) -> Noise:
        """As printed for m^2 queries; the true sensitivities are C(m, 2)/n and sqrt(C(m, 2))/n."""
        squares = self.alternatives**2 if self.calibration == "printed" else self.pairs
        return self.calibrated(self.epsilon, squares / self.agents, math.sqrt(squares) / self.agents)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        return self.main_noise.randomize(np.tile(self.weights(data), (size, 1)), rng)

    def law(self, data: Any) -> dpaudit.ProductLaw:
        return dpaudit.ProductLaw([self.main_noise.law(weight) for weight in self.weights(data)])


class NoisyPairwise(_Central):
    """Reduction I: noise on every pairwise weight, clipped to [0, 1], and a Kemeny ranking of what results."""

    name = "noisy-pairwise"
    trust = "A trusted curator sees every ranking; the adversary sees the ranking, or every noisy weight."
    notation = "an input lists the agents' rankings, best first; the output is a ranking"
    errata = (
        dpaudit.Erratum(
            where=f"{PAPER}, Fact 2 and Theorem 1",
            printed="|K(σ, w) - K(σ, w~)| <= sum over all i, j in [m] of |w_ji - w~_ji|, and so (α + 1) m^2 e",
            meant="the sum over pairs i < j, and so (α + 1) C(m, 2) e",
            reason="a ranking pays one of the two directions of a pair; the print is true and at least twice too large",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Corollary 3",
            printed="noise Lap(m^2 / (ϵn)) on each query, for q <= m^2 queries",
            meant="noise Lap(C(m, 2) / (ϵn)): footnote 2 noises the pairs i < j only",
            reason="the printed noise spends (m - 1)/(2m) of the budget; the parameter `calibration` audits both",
        ),
    )

    xi: float = dpaudit.parameter(0.0, minimum=0, doc="ξ: the Kemeny ranking may cost 1 + ξ times the least, m > 14")

    @property
    def matrix(self) -> NoisyMatrix:
        """The noisy weights."""
        shared = {name: value for name, value in self.parameters().items() if name != "xi"}
        return NoisyMatrix(**shared)

    @property
    def main_noise(self) -> Noise:
        return self.matrix.main_noise

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        return {"output": self, "noisy-matrix": self.matrix}

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Kemeny rankings of noisy weights; equal ones are told apart by random labels."""
        parts = [np.empty((0, self.alternatives), dtype=np.int64)]
        for start in range(0, size, RUNS_AT_ONCE):
            noisy = self.matrix.sample(data, min(RUNS_AT_ONCE, size - start), rng)
            clipped = rankings.margin_matrix(np.clip(noisy, 0, 1) - 0.5, self.alternatives) + 0.5
            clipped[:, range(self.alternatives), range(self.alternatives)] = 0
            parts.append(rankings.kemeny_rankings(clipped, rng, gap=self.xi / (1 + self.xi)))
        return np.concatenate(parts)

    @property
    def exact(self) -> bool:
        return self.alternatives <= 3

    def law(self, data: Any) -> dpaudit.FiniteLaw | None:
        """Law over the rankings of two or three alternatives."""
        if not self.exact:
            return None
        noise, margins = self.main_noise, self.weights(data) - 0.5
        if self.alternatives == 2:
            return dpaudit.FiniteLaw(rankings.all_rankings(2), noise.log_below(np.array([margins[0], -margins[0]])))
        law = rankings.noisy_kemeny_law(
            margins, log_below=noise.log_below, log_density=noise.log_density, scale=noise.scale
        )
        return dpaudit.FiniteLaw.from_probabilities(rankings.all_rankings(3), law)

    @property
    def corollary(self) -> str:
        """Which corollary speaks of this noise."""
        return "alabi2022.corollary3" if self.noise == "laplace" else "alabi2022.corollary4"

    def claims(self) -> Sequence[dpaudit.Claim]:
        return self.every_claim()

    def own_claims(self) -> list[dpaudit.Claim]:
        budget = "ϵ" if self.noise == "laplace" else "(ϵ, δ)"
        source = f"{PAPER}, Corollary {self.corollary[-1]}"
        printed = NoisyMatrix(**{**self.matrix.parameters(), "calibration": "printed"}).main_noise
        return [
            dpaudit.PrivacyClaim(
                id=f"{self.corollary}-privacy",
                source=source,
                statement=f"The noisy weights, and so what is made of them, are {budget}-differentially private.",
                epsilon=self.epsilon,
                delta=self.delta,
                view="noisy-matrix",
            ),
            dpaudit.PrivacyClaim(
                id=f"{self.corollary}-output",
                source=source,
                statement=f"The ranking is {budget}-differentially private.",
                epsilon=self.epsilon,
                delta=self.delta,
            ),
            self.utility(
                self.corollary,
                "The expected cost is at most (1 + ξ) OPT + (2 + ξ) m^2 e, e the printed noise's mean absolute value.",
                1 + self.xi,
                (2 + self.xi) * self.alternatives**2 * _mean_absolute(printed),
            ),
            self._rate("agents", [10.0**k for k in range(3, 9)], -1.0),
            self._rate("epsilon", [2.0**k for k in range(-4, 5)], -1.0),
            *([self._rate("log(1/δ)", LOG_INVERSE_DELTAS, 0.5)] if self.noise == "gaussian" else []),
            dpaudit.RateClaim(
                id=f"{self.corollary}-rate-alternatives",
                source=f"{source} and {TABLE}",
                reproduces=TABLE,
                statement=f"The additive error grows no faster than m^{4 if self.noise == 'laplace' else 3}.",
                variable="alternatives",
                points=(2, 3, 4, 5, 8, 12),
                exponent=4.0 if self.noise == "laplace" else 3.0,
                measure=self._excess,
                runs=4000,
                resolution=0.5,
                quantity="additive error E[K(σ, Π)] - OPT in units of ϵ^-1 n^-1",
                scope=(
                    "two opposed blocs with margin 2 / sqrt(m) times the noise, where it is near its largest; at "
                    "these m the exponent of C(m, 2) alone is 2.5 falling to 2.1"
                ),
            ),
        ]

    def _rate(self, variable: str, points: Sequence[float], exponent: float) -> dpaudit.RateClaim:
        """Exact rate over agents, the budget or log(1/δ), three alternatives."""

        def error(point: float) -> float:
            made = {**self.parameters(), "alternatives": 3, "agents": 10**6, **_varied(variable, point)}
            return _largest_bloc_error(type(self)(**made).main_noise, _kemeny_distance)

        return dpaudit.RateClaim(
            id=f"{self.corollary}-rate-{_short(variable)}",
            source=f"{PAPER}, Corollary {self.corollary[-1]} and {TABLE}",
            reproduces=TABLE,
            statement=f"The additive error is proportional to {PROPORTIONAL[variable]}.",
            variable=variable,
            points=points,
            exponent=exponent,
            direction="equal",
            exact=error,
            quantity="largest additive error E[K(σ, Π)] - OPT",
            scope="two opposed blocs over three alternatives, the worst margin" + _other(variable),
        )

    def _excess(self, alternatives: float, runs: int, rng: np.random.Generator) -> np.ndarray:
        """Additive error times n ϵ, on two opposed blocs whose margin is a few times the noise over sqrt(m)."""
        made = type(self)(**{**self.parameters(), "alternatives": int(alternatives), "agents": MANY_AGENTS})
        margin = 2 * made.main_noise.scale / math.sqrt(alternatives)
        ahead = round(MANY_AGENTS * (0.5 + margin))
        order = np.arange(made.alternatives)
        profile = rankings.Profile(np.stack([order, order[::-1]]), np.array([ahead, MANY_AGENTS - ahead]))
        wrong = rankings.kendall_tau(made.sample(profile, runs, rng), order)
        return np.asarray(wrong * (2 * ahead - MANY_AGENTS) * self.epsilon)


class LongestRun(_Weights):
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

    def law(self, data: Any) -> dpaudit.ProductLaw:
        weights = self.weights(data)
        return dpaudit.ProductLaw([noise.law(weight) for noise, count in self.parts for weight in weights[:count]])


class Transcript(_Central):
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

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        weights = self.weights(data)
        parts = []
        for start in range(0, size, RUNS_AT_ONCE):
            runs = min(RUNS_AT_ONCE, size - start)
            noisy = self.query_noise.randomize(np.tile(weights, (runs, 1)), rng)
            made = rankings.kwiksort_runs(_before(noisy, self.alternatives, rng), self.cap, rng)
            i, j = rankings.alternative_pairs(self.alternatives).T
            asked = made.asked[:, i, j]
            ran = (made.comparisons > self.cap)[:, None]
            again = self.fallback_noise.randomize(np.tile(weights, (runs, 1)), rng)
            parts.append(np.concatenate([asked, np.where(asked, noisy, 0), ran, np.where(ran, again, 0)], axis=1))
        return np.concatenate(parts) if parts else np.empty((0, 3 * self.pairs + 1))

    def log_likelihood(self, outputs: np.ndarray, data: Any) -> np.ndarray:
        """Log-density of the answers and of the fallback's weights."""
        weights = self.weights(data)
        asked, answers, ran, again = np.split(outputs, np.cumsum([self.pairs, self.pairs, 1]), axis=1)
        first = np.where(asked > 0, self.query_noise.log_density(answers - weights), 0).sum(axis=1)
        return np.asarray(first + np.where(ran > 0, self.fallback_noise.log_density(again - weights), 0).sum(axis=1))


class DPKwikSortCapped(_Central):
    """Algorithm 1: KwikSort on at most q noisy weights; a run that needs more returns Reduction I's ranking at ϵ/2."""

    name = "dp-kwiksort-capped"
    trust = "A trusted curator sees every ranking; the adversary sees the ranking, or every noisy weight computed."
    notation = "an input lists the agents' rankings, best first; the output is a ranking"
    errata = (
        dpaudit.Erratum(
            where=f"{PAPER}, Corollaries 6 and 7",
            printed="noise Lap(q / (ϵn)), or Gaussian noise of deviation O(sqrt(q log(1/δ)) / (ϵn)), on each query",
            meant="the same at ϵ/2: Lap(2q / (ϵn))",
            reason="Theorem 5 wants (ϵ/2, δ) for the queries; q of them at ϵ/q and the fallback at ϵ/2 cost 3ϵ/2",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, proof of Theorem 5",
            printed="E[K(σ, w~)] <= Pr[E_q] E[K(σ^A, w~) | E_q] + Pr[not E_q] E[K(σ*, w~)], E_q: more than q queries",
            meant="E_q and its complement the other way round",
            reason="the algorithm returns σ^A within the cap and σ* beyond it, and the next line has ζ/m^4 before σ*",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Algorithm 1",
            printed="the counter c is an input of the recursion, so that both parts continue from the same value",
            meant="one counter for the whole run",
            reason="the text below the algorithm calls it a global counter",
        ),
    )

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
        return _default_cap(self.alternatives, self.xi) if isinstance(self.cap, str) else min(self.cap, self.pairs)

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
    def capped(self) -> bool:
        """Whether a run can need more than q comparisons."""
        return self.limit < self.pairs

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        own = ("cap", "xi", "budget")
        shared = {name: value for name, value in self.parameters().items() if name not in own}
        query, fallback = self.main_noise.scale, self.fallback.main_noise.scale
        return {
            "output": self,
            "longest-run": LongestRun(
                **shared, answers=self.limit, query_scale=query, fallback_scale=fallback if self.capped else 0.0
            ),
            "transcript": Transcript(**shared, cap=self.limit, query_scale=query, fallback_scale=fallback),
        }

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Aggregate rankings: KwikSort on noisy weights, and the fallback for the runs that exceed the cap."""
        weights = self.weights(data)
        parts = [np.empty((0, self.alternatives), dtype=np.int64)]
        for start in range(0, size, RUNS_AT_ONCE):
            noisy = self.main_noise.randomize(np.tile(weights, (min(RUNS_AT_ONCE, size - start), 1)), rng)
            made = rankings.kwiksort_runs(_before(noisy, self.alternatives, rng), self.limit, rng)
            orders, over = made.rankings.copy(), made.comparisons > self.limit
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
        counted = rankings.kwiksort_counted_law(self.before(data))
        law = counted[:, : self.limit + 1].sum(axis=1)
        if self.capped:
            fallback = self.fallback.law(data)
            if fallback is None:
                return None
            law = law + counted[:, self.limit + 1 :].sum() * np.exp(fallback.log_probabilities)
        return dpaudit.FiniteLaw.from_probabilities(rankings.all_rankings(self.alternatives), law)

    @property
    def exact(self) -> bool:
        return self.alternatives <= (3 if self.capped else EXACT_COST)

    def expected_cost(self, profile: rankings.Profile) -> float:
        """By recursion over subsets where the cap cannot be exceeded, else from the law."""
        if self.capped:
            return super().expected_cost(profile)
        counts = rankings.pairwise_counts(profile)
        return rankings.kwiksort_expected_cost(counts, self.before(profile)) / self.agents

    @property
    def corollary(self) -> str:
        """Which corollary speaks of this noise."""
        return "alabi2022.corollary6" if self.noise == "laplace" else "alabi2022.corollary7"

    def claims(self) -> Sequence[dpaudit.Claim]:
        return self.every_claim()

    def own_claims(self) -> list[dpaudit.Claim]:
        meant = "" if self.budget == "printed" else "-meant"
        budget = "ϵ" if self.noise == "laplace" else "(ϵ, δ)"
        spent = "ϵ/2 for" if meant else "ϵ for"
        m, n, q = self.alternatives, self.agents, self.limit
        exceeds = rankings.quicksort_tail(m, q)
        privacy: dict[str, Any] = {"source": f"{PAPER}, Theorem 5", "epsilon": self.epsilon, "delta": self.delta}
        return [
            dpaudit.PrivacyClaim(
                id=f"alabi2022.theorem5-budget{meant}",
                statement=f"{spent} q queries and ϵ/2 for the fallback: together they are {budget}-DP.",
                view="longest-run",
                **privacy,
            ),
            dpaudit.PrivacyClaim(
                id=f"alabi2022.theorem5-transcript{meant}",
                statement=f"{spent} q queries: what a run computes from data is {budget}-differentially private.",
                view="transcript",
                **privacy,
            ),
            dpaudit.PrivacyClaim(
                id=f"alabi2022.theorem5-output{meant}",
                statement=f"{spent} q queries: the ranking is {budget}-differentially private.",
                **privacy,
            ),
            self.utility(
                self.corollary,
                "The expected cost is at most (5 + ξ) OPT + 6 m^2 e + 6 ξ / (ϵn), e the noise's mean absolute value.",
                5 + self.xi,
                6 * m**2 * _mean_absolute(self.main_noise) + 6 * self.xi / (self.epsilon * n),
                ""
                if exceeds <= self.xi / m**4
                else f"the cap {q} is exceeded with probability {exceeds:.3g}, not with at most ξ/m^4",
            ),
            *self._rates(),
            *self._usefulness(),
            dpaudit.LemmaClaim(
                id="alabi2022.comparisons-any",
                source=f"{PAPER}, Concrete Bounds via KwikSort",
                statement="Whatever its comparisons say, KwikSort exceeds no limit more often than QuickSort.",
                margin=_margin_to_quicksort,
                instances=[
                    {"alternatives": size, "outcomes": outcomes}
                    for size in range(2, EXACT_LAW + 1)
                    for outcomes in range(1 << math.comb(size, 2))
                ],
                complete=True,
                scope=f"every tournament of 2 to {EXACT_LAW} alternatives, every limit; the law is exact",
            ),
        ]

    def variants(self) -> list[dict[str, Any]]:
        return [*super().variants(), {"budget": "meant" if self.budget == "printed" else "printed"}]

    def _rates(self) -> list[dpaudit.RateClaim]:
        """Exact rates of the additive error on two opposed blocs, without the fallback."""
        number = self.corollary[-1]
        shape, words = (math.log, "m^3 log m") if number == "6" else (_root_log, "m^2.5 sqrt(log m)")
        tail = "; without the fallback, which adds at most ξ C(m, 2)/m^4"
        common: dict[str, Any] = {
            "source": f"{PAPER}, Corollary {number} and {TABLE}",
            "reproduces": TABLE,
            "quantity": "largest additive error E[K(σ, Π)] - OPT",
        }
        blocs = f"two opposed blocs over {self.alternatives} alternatives, the worst margin"

        def proportional(variable: str, points: Sequence[float], exponent: float) -> dpaudit.RateClaim:
            return dpaudit.RateClaim(
                id=f"{self.corollary}-rate-{_short(variable)}",
                statement=f"The additive error is proportional to {PROPORTIONAL[variable]}.",
                variable=variable,
                points=points,
                exponent=exponent,
                direction="equal",
                exact=lambda point: self._error(**{"agents": MANY_AGENTS, **_varied(variable, point)}),
                scope=blocs + (tail if variable == "agents" else f"; {MANY_AGENTS} agents{tail}"),
                **common,
            )

        return [
            proportional("agents", [10.0**k for k in range(3, 9)], -1.0),
            proportional("epsilon", [2.0**k for k in range(-4, 5)], -1.0),
            *([proportional("log(1/δ)", LOG_INVERSE_DELTAS, 0.5)] if self.noise == "gaussian" else []),
            dpaudit.RateClaim(
                id=f"{self.corollary}-rate-alternatives",
                statement=f"The additive error grows no faster than {words}.",
                variable="alternatives",
                points=(16, 20, 24, 32, 40, 48, 64, 80, 96, 112, 128),
                exponent=3.0 if number == "6" else 2.5,
                shape=shape,
                exact=lambda point: self._error(agents=MANY_AGENTS, alternatives=int(point), cap="auto"),
                resolution=0.5,
                scope=(
                    f"two opposed blocs, the worst margin; {MANY_AGENTS} agents{tail}; at these m the default cap and "
                    "the share of wrong pairs still approach their rates from below"
                ),
                **common,
            ),
        ]

    def _error(self, **changed: Any) -> float:
        made = type(self)(**{**self.parameters(), **changed})

        def distance(margin: float, noise: Noise) -> float:
            flip = float(np.exp(noise.log_below(-margin)))
            return float(rankings.kwiksort_wrong_pairs(made.alternatives, flip)[-1])

        return _largest_bloc_error(made.main_noise, distance)

    def _first_reduction(self) -> NoisyPairwise:
        """Reduction I at the same budget and calibration."""
        return NoisyPairwise(**{k: v for k, v in self.parameters().items() if k not in ("cap", "xi", "budget")})

    def _settings(self) -> tuple[tuple[str, Any], ...]:
        """What the crossovers depend on; neither agents nor the profile do."""
        general = {"agents": 1, "alternatives": 2, "instance": "opposed", "cap": "auto"}
        return tuple({**self.parameters(), **general}.items())

    def noise_ratio(self) -> float:
        """Scale of the noise of a query over that of a weight in Reduction I."""
        return self.main_noise.scale / self._first_reduction().main_noise.scale

    def _usefulness(self) -> list[dpaudit.UtilityClaim]:
        """Where Reduction II has less noise, and less error, than Reduction I at the same budget."""
        first = self._first_reduction()
        ratio = self.noise_ratio()
        profile = self.profile()
        low, high = self.cost_range(self.optimum(profile))
        source = f"{PAPER}, Reduction II"

        def difference(runs: int, rng: np.random.Generator) -> Mapping[str, np.ndarray]:
            second_cost = self.costs(self.sample(profile, runs, rng), profile)
            first_cost = self.costs(first.sample(profile, runs, rng), profile)
            return {"value": second_cost - first_cost, "reduction I": first_cost, "reduction II": second_cost}

        too_large = f"an exact Kemeny ranking takes too long beyond {EXACT_KEMENY} alternatives"
        return [
            dpaudit.UtilityClaim(
                id="alabi2022.reduction2-cap",
                source=source,
                statement="The cap q is below the number of pairs: fewer queries than in Reduction I are paid for.",
                bound=1 - 1 / self.pairs,
                exact=lambda: self.limit / self.pairs,
                beside={CROSSOVER: _crossover("cap", *self._settings())},
                quantity="cap over number of pairs",
                scope=f"{self.alternatives} alternatives, q = {self.limit} of {self.pairs}",
            ),
            dpaudit.UtilityClaim(
                id="alabi2022.reduction2-noise",
                source=source,
                statement="A query of Reduction II has less noise than a weight of Reduction I.",
                bound=1.0 - 1e-6,
                exact=lambda: ratio,
                support=(0.0, math.inf),
                beside={CROSSOVER: _crossover("noise", *self._settings())},
                quantity="scale of the noise, Reduction II over I",
                scope=f"{self.alternatives} alternatives, q = {self.limit}, both calibrations {self.calibration}",
            ),
            dpaudit.UtilityClaim(
                id="alabi2022.reduction2-error",
                source=source,
                statement="Reduction II costs less than Reduction I.",
                bound=0.0,
                measure=difference,
                runs=4000,
                support=(low - high, high - low),
                beside_support=(low, high),
                quantity="expected cost, Reduction II less I",
                scope=f"{self.instance} profile of {self.agents} agents over {self.alternatives} alternatives",
                inapplicable="" if self.alternatives <= EXACT_KEMENY else too_large,
            ),
        ]


def _before(noisy: np.ndarray, alternatives: int, rng: np.random.Generator) -> np.ndarray:
    """Comparisons from noisy weights: j goes to the left of pivot i where the noisy w_ji is above one half."""
    return rankings.comparisons(rankings.margin_matrix(noisy - 0.5, alternatives), rng)


@lru_cache(maxsize=64)
def _crossover(what: Literal["cap", "noise"], *settings: tuple[str, Any]) -> float:
    """From how many alternatives on, up to the largest compared, Reduction II asks for less or has less noise."""
    first = math.inf
    for m in range(LARGEST_COMPARED, 1, -1):
        made = DPKwikSortCapped(**{**dict(settings), "alternatives": m})
        if not (made.limit < made.pairs if what == "cap" else made.noise_ratio() < 1):
            break
        first = float(m)
    return first


@lru_cache(maxsize=512)
def _default_cap(alternatives: int, xi: float) -> int:
    """Least q that QuickSort exceeds with probability at most ξ/m^4."""
    low, high = 0, math.comb(alternatives, 2)
    while low < high:
        middle = (low + high) // 2
        if rankings.quicksort_tail(alternatives, middle) <= xi / alternatives**4:
            high = middle
        else:
            low = middle + 1
    return low


def _margin_to_quicksort(alternatives: int, outcomes: int) -> float:
    """Smallest difference of the tails, QuickSort's less KwikSort's on the tournament, over all limits."""
    pairs = rankings.alternative_pairs(alternatives)
    wins = (outcomes >> np.arange(len(pairs))) & 1
    before = np.zeros((alternatives, alternatives))
    before[pairs[:, 0], pairs[:, 1]] = wins
    before[pairs[:, 1], pairs[:, 0]] = 1 - wins
    law = rankings.kwiksort_counted_law(before).sum(axis=0)
    return float((np.cumsum(law) - np.cumsum(rankings.quicksort_comparisons(alternatives))).min())


def _root_log(value: float) -> float:
    return math.sqrt(math.log(value))


def _mean_absolute(noise: Noise) -> float:
    """E of the noise's absolute value."""
    return noise.scale if isinstance(noise, randomizers.LaplaceNoise) else noise.scale * math.sqrt(2 / math.pi)


def _varied(variable: str, point: float) -> dict[str, float]:
    """The parameter that a point of a rate sets."""
    if variable == "log(1/δ)":
        return {"delta": math.exp(-point)}
    return {variable: round(point) if variable == "agents" else point}


def _short(variable: str) -> str:
    """The variable of a rate in the name of its claim."""
    return "delta" if variable == "log(1/δ)" else variable


def _other(variable: str) -> str:
    return "" if variable == "agents" else "; 10^6 agents"


def _kemeny_distance(margin: float, noise: Noise) -> float:
    """Expected distance of the Kemeny ranking of three alternatives to the larger bloc's order."""
    law = rankings.noisy_kemeny_law(
        np.full(3, margin), log_below=noise.log_below, log_density=noise.log_density, scale=noise.scale
    )
    return float(law @ rankings.kendall_tau(rankings.all_rankings(3), np.arange(3)))


def _largest_bloc_error(noise: Noise, distance: Callable[[float, Noise], float]) -> float:
    """Largest additive error on two opposed blocs, over their margin: every wrong pair costs twice the margin."""
    from scipy.optimize import minimize_scalar

    def error(scales: float) -> float:
        margin = scales * noise.scale
        return 2 * margin * distance(margin, noise)

    limit = min(6.0, 0.5 / noise.scale)
    found = minimize_scalar(lambda scales: -error(scales), bounds=(0.0, limit), method="bounded")
    return max(-float(found.fun), error(limit))
