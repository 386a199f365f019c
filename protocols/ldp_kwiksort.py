"""LDP-KwikSort: every agent answers a few pairwise comparisons, randomized; KwikSort sorts by the estimated majorities.

Source: Yan, Li, Liu, "Private rank aggregation under local differential privacy", Int. J. Intell. Syst. 35(10), 2020.

Symbols: epsilon is the paper's ϵ, queries K, alternatives m, agents n, dispersion θ, the budget of a query ϵ_k = ϵ/K,
and `bias` the difference p - q between the probabilities of counting an answer as it is and as its opposite.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Literal

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

AGENT_CHUNK = 1 << 17
ANSWER_CHUNK = 1 << 21
LISTED_OUTPUTS = 1 << 16
PAPER = "Yan, Li, Liu 2020"

System = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]
"""Estimated margins (runs, m, m) from rankings (runs, n, m), their margins (runs, m, m) and a generator."""


class _Report(dpaudit.Mechanism):
    """What one agent sends: the numbers of the K pairs that it was asked about, and its K answers."""

    notation = (
        "an input is the agent's ranking, best first; an output names the pairs asked about, by their numbers "
        "in (0, 1), (0, 2), …, and then the answers, true ones being 1 where the first of the pair is "
        "preferred"
    )

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the budget of one agent")
    queries: int = dpaudit.parameter(1, minimum=1, doc="K")
    alternatives: int = dpaudit.parameter(4, minimum=2, doc="m")

    @property
    def pairs(self) -> int:
        return math.comb(self.alternatives, 2)

    def assign(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Query assignment: K different pairs for every agent, shape (size, K)."""
        return rankings.random_subsets(self.pairs, self.queries, size, rng)

    def truths(self, orders: np.ndarray, asked: np.ndarray) -> np.ndarray:
        """Does the agent prefer a_j to a_l, for every pair j < l asked."""
        return rankings.answers(orders, rankings.alternative_pairs(self.alternatives)[asked])

    def randomize(self, truths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Apply the local randomizer to every answer."""
        raise NotImplementedError

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        asked = self.assign(size, rng)
        truths = self.truths(np.broadcast_to(data, (size, self.alternatives)), asked)
        return np.concatenate([asked, self.randomize(truths, rng)], axis=1)

    def neighbours(self) -> dpaudit.Neighbouring:
        return dpaudit.Neighbouring(
            relation="any-two-inputs",
            pairs=self._pairs,
            complete=True,
            scope=(
                f"any two rankings of {self.alternatives} alternatives; the queries treat all pairs of alternatives "
                "alike, so two rankings stand for all that order as many pairs differently"
            ),
        )

    def _pairs(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The identity against one ranking for each possible number of pairs ordered differently."""
        identity = np.arange(self.alternatives)
        for inversions in range(1, self.pairs + 1):
            yield identity, rankings.ranking_with_inversions(self.alternatives, inversions)


class RandomizedResponseReport(_Report):
    """Report of LDP-KwikSort:RR (Algorithm 1 as meant): every answer by randomized response."""

    @property
    def response(self) -> randomizers.RandomizedResponse:
        """p_rr = e^ϵ_k / (e^ϵ_k + 1)."""
        return randomizers.RandomizedResponse.for_epsilon(self.epsilon / self.queries)

    def randomize(self, truths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self.response.randomize(truths, rng)

    def law(self, data: Any) -> dpaudit.FiniteLaw | None:
        if math.comb(self.pairs, self.queries) * 2**self.queries > LISTED_OUTPUTS:
            return None
        asked, replies, outputs = _outputs(self.pairs, self.queries)
        truths = self.truths(np.broadcast_to(data, (len(asked), self.alternatives)), asked)
        truthful = (truths[:, None, :] == replies[None, :, :]).sum(axis=2).ravel()
        # In terms of ϵ_k, because p_rr rounds to 1 at a large one.
        epsilon_k = self.epsilon / self.queries
        log_keep = -math.log1p(math.exp(-epsilon_k))
        log_p = self.queries * log_keep - (self.queries - truthful) * epsilon_k
        return dpaudit.FiniteLaw(outputs, log_p - math.log(len(asked)))


class LaplaceReport(_Report):
    """Report of LDP-KwikSort:Lap (Algorithm 3): every answer, 0 or 1, plus Laplace noise."""

    @property
    def noise(self) -> randomizers.LaplaceNoise:
        """Lap(1/ϵ_k): the sensitivity of one answer is 1."""
        return randomizers.LaplaceNoise.for_epsilon(self.epsilon / self.queries, sensitivity=1.0)

    def randomize(self, truths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self.noise.randomize(truths, rng)

    def law(self, data: Any) -> dpaudit.PublicMixtureLaw | None:
        choices = math.comb(self.pairs, self.queries)
        if choices * self.pairs > LISTED_OUTPUTS:
            return None
        asked = np.array(list(itertools.combinations(range(self.pairs), self.queries)))
        truths = self.truths(np.broadcast_to(data, (choices, self.alternatives)), asked)
        return dpaudit.PublicMixtureLaw(
            [tuple(row) for row in asked.tolist()],
            np.full(choices, -math.log(choices)),
            [dpaudit.ProductLaw([self.noise.law(bit) for bit in row]) for row in truths],
        )


class _Protocol(dpaudit.Mechanism):
    """The protocol with its three steps: query assignment, local randomizer, aggregation."""

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the budget of one agent")
    queries: int | Literal["auto"] = dpaudit.parameter("auto", minimum=1, doc="K; auto: the paper's rule on g(K)")
    alternatives: int = dpaudit.parameter(4, minimum=2, doc="m")
    agents: int = dpaudit.parameter(1000, minimum=1, doc="n")
    dispersion: float = dpaudit.parameter(0.5, minimum=0, doc="θ of the Mallows model")
    convention: Literal["yan", "permallows"] = dpaudit.parameter(
        "yan", doc="phi = 1 - θ (the paper's theorems) or exp(-θ) (the package behind its experiments)"
    )
    centre: Literal["random", "identity"] = dpaudit.parameter(
        "random", doc="ground truth: drawn anew for every run, or the order of the labels"
    )
    profile: rankings.Profile | None = dpaudit.parameter(None, doc="real rankings (--data), not the Mallows model")

    source = PAPER
    model = "local"
    trust = "Nobody is trusted: every agent randomizes its own answers, and the curator sees only those."
    errata: ClassVar[Sequence[dpaudit.Erratum]] = (
        dpaudit.Erratum(
            where=f"{PAPER}, Section 5.1.2",
            printed="synthetic data come from PerMallows with the θ of the theorems",
            meant="two parametrisations: phi = 1 - θ in the theorems, phi = exp(-θ) in PerMallows",
            reason="θ = 0.5 is phi = 0.5 in the theorems and 0.607 in PerMallows; the parameter `convention` chooses",
        ),
    )
    solution: ClassVar[str]
    theorem: ClassVar[str]

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
    def asked(self) -> int:
        """K, by the paper's rule where it is `auto`."""
        return self.rule() if isinstance(self.queries, str) else self.queries

    @property
    def report(self) -> _Report:
        """What one agent sends."""
        raise NotImplementedError

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        return {"output": self, "report": self.report}

    def g(self, queries: float) -> float:
        """Section 4.2: the part of the exponent of μ that depends on K."""
        raise NotImplementedError

    def bias(self, queries: float) -> float:
        """2 p - 1 at K queries, p the probability that an answer is counted as it is."""
        raise NotImplementedError

    def votes(self, answers: np.ndarray) -> np.ndarray:
        """Count every answer for a_j (+1) or for a_l (-1)."""
        raise NotImplementedError

    def margins(self, tally: np.ndarray) -> np.ndarray:
        """Estimate the margin of every pair from its tally of votes."""
        raise NotImplementedError

    # The protocol.

    def estimate(self, chunks: Iterable[np.ndarray], rng: np.random.Generator) -> np.ndarray:
        """Query assignment, local randomizer and tally.

        ``chunks`` are rankings of shape (runs, agents of the chunk, m); the estimated margins have shape (runs, m, m).
        """
        report = self.report
        tally: Any = 0
        for part in itertools.chain.from_iterable(_parts(chunk, self.asked) for chunk in chunks):
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
        parts = [
            self.estimate([np.broadcast_to(orders, (runs, *orders.shape))], rng) for runs in _batches(size, len(orders))
        ]
        return self.aggregate(np.concatenate(parts), rng)

    # Its inputs, for the utility claims.

    @property
    def phi(self) -> float:
        """Mallows model: ratio of the probabilities of two rankings one swap apart."""
        return 1 - self.dispersion if self.convention == "yan" else math.exp(-self.dispersion)

    def draw(self, runs: int, rng: np.random.Generator) -> tuple[np.ndarray, Iterator[np.ndarray]]:
        """Ground truths (runs, m) and chunks of rankings (runs, agents of the chunk, m) of that many profiles."""
        identity = np.arange(self.alternatives)
        centres = np.tile(identity, (runs, 1))
        if self.centre == "random":
            centres = rng.permuted(centres, axis=1)
        model = rankings.Mallows(identity, self.phi)

        def chunks() -> Iterator[np.ndarray]:
            for start in range(0, self.agents, AGENT_CHUNK):
                agents = min(AGENT_CHUNK, self.agents - start)
                orders = model.sample(runs * agents, rng).reshape(runs, -1)
                yield np.take_along_axis(centres, orders, axis=1).reshape(runs, agents, -1)

        return centres, chunks()

    def run(self, runs: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Runs on Mallows profiles: estimated margins, the profiles' margins and the ground truths', (runs, m, m)."""
        centres, chunks = self.draw(runs, rng)
        majority: Any = 0

        def counted() -> Iterator[np.ndarray]:
            nonlocal majority
            for chunk in chunks:
                majority = majority + _margins(chunk)
                yield chunk

        estimate = self.estimate(counted(), rng)
        return estimate, majority, _margins(centres[:, None])

    # Its claims.

    def rule(self) -> int:
        """Section 5.2: compare g at the integers next to ϵ/2."""
        nearest = (math.floor(self.epsilon / 2), math.ceil(self.epsilon / 2))
        return max(sorted({min(max(k, 1), self.pairs) for k in nearest}), key=self.g)

    def pair_bound(self) -> float:
        """Eq. 4: 2 exp(-g(K) θ*^2 n / (m (m - 1))) with θ* = θ / (2 - θ)."""
        theta = 1 - self.phi
        spread = (theta / (2 - theta)) ** 2 * self.agents / (self.alternatives * (self.alternatives - 1))
        return 2 * math.exp(-self.g(self.asked) * spread)

    def mu(self) -> float:
        """Theorems 2 and 3: μ, the bound of Eq. 4 summed over the pairs."""
        return self.pairs * self.pair_bound()

    def pair_error(self, agree: float | None = None) -> float:
        """Exact probability that the estimated sign of a pair contradicts the ground truth.

        ``agree`` is the probability that an agent orders the pair as the ground truth does; None: that of two
        neighbours there. The number of agents asked about the pair is binomial(n, K / C(m, 2)), and so are the right
        answers among them.
        """
        from scipy.stats import binom

        agree = 1 / (1 + self.phi) if agree is None else agree
        right = 0.5 + (agree - 0.5) * self.bias(self.asked)
        share = self.asked / self.pairs
        # Beyond 12 standard deviations and 40 lies a probability below 1e-30.
        reach = 12 * math.sqrt(self.agents * share * (1 - share)) + 40
        centre = self.agents * share
        asked = np.arange(max(0, math.floor(centre - reach)), min(self.agents, math.ceil(centre + reach)) + 1)
        fewer_right_than_wrong = binom.cdf(np.ceil(asked / 2) - 1, asked, right)
        return float(np.sum(binom.pmf(asked, self.agents, share) * fewer_right_than_wrong))

    def claims(self) -> Sequence[dpaudit.Claim]:
        setting = self._setting()
        theorem = f"{PAPER}, Theorem {self.theorem[-1]}"
        return [
            dpaudit.PrivacyClaim(
                id=f"yan2020.theorem1-{self.solution}",
                source=f"{PAPER}, Theorem 1",
                statement="An agent's report, K answers of budget ϵ/K each, is ϵ-locally differentially private.",
                epsilon=self.epsilon,
                view="report",
            ),
            self._error_claim(self.theorem, theorem, setting, "the majority of the agents", profile=True),
            self._error_claim(
                f"{self.theorem}-meant", f"{theorem}, as its proof has it", setting, "the ground truth", profile=False
            ),
            dpaudit.UtilityClaim(
                id=f"yan2020.pairwise-bound{'' if self.solution == 'rr' else '-lap'}",
                source=f"{PAPER}, Equation 4",
                statement="The estimated order of a pair contradicts the ground truth with at most this probability.",
                bound=self.pair_bound(),
                exact=self.pair_error,
                trivial=0.5,
                trivial_reason="a fair coin errs with probability one half",
                quantity="error probability of the least certain pair",
                scope=f"{setting}; two neighbours in the ground truth",
            ),
            dpaudit.LemmaClaim(
                id=f"yan2020.optimal-queries-{self.solution}",
                source=f"{PAPER}, Sections 4.2 and 5.2",
                statement="Of all K, the integer next to ϵ/2 with the larger g(K) has the smallest error.",
                margin=lambda: self._exponent(self.rule()) - self._exponent(self._best_queries()),
                instances=[{}],
                complete=True,
                explain=self._explain_queries,
                scope=f"every K from 1 to {self.pairs}; exponent of Eq. 4 before its approximation",
            ),
        ]

    def _setting(self) -> str:
        return (
            f"Mallows model with phi {self.phi:.6g} and a {self.centre} centre, n = {self.agents}, "
            f"m = {self.alternatives}, K = {self.asked}"
        )

    def _error_claim(
        self, name: str, source: str, setting: str, reference: str, *, profile: bool
    ) -> dpaudit.UtilityClaim:
        """P(error >= 6 μ) <= 2^(-6 μ), where the error is the number of pairs with the wrong sign."""
        limit = 6 * self.mu()
        statement = f"Fewer than 6 μ pairs contradict {reference}, except with probability at most 2^(-6 μ)."
        common: dict[str, Any] = {
            "id": f"yan2020.{name}",
            "source": source,
            "statement": statement,
            "bound": 2**-limit,
            "quantity": f"probability of at least 6 μ = {limit:.6g} wrong pairs out of {self.pairs}",
            "scope": setting,
        }
        if limit > self.pairs:
            reason = f"6 μ = {limit:.6g} is more than the {self.pairs} pairs there are, so no protocol can err so often"
            return dpaudit.UtilityClaim(**common, exact=lambda: 0.0, trivial=0.0, trivial_reason=reason)

        def measure(runs: int, rng: np.random.Generator) -> np.ndarray:
            parts = []
            for batch in _batches(runs, self.agents):
                estimate, majority, truth = self.run(batch, rng)
                parts.append(rankings.sign_errors(majority if profile else truth, estimate) >= limit)
            return np.concatenate(parts)

        return dpaudit.UtilityClaim(
            **common,
            measure=measure,
            trivial=_coins_at_least(self.pairs, limit),
            trivial_reason="a fair coin for every pair, and no report at all, does as well",
        )

    def _exponent(self, queries: float) -> float:
        """K (2 p - 1)^2: g(K) before the approximation of Eq. 4."""
        return queries * self.bias(queries) ** 2

    def _best_queries(self) -> int:
        return max(range(1, self.pairs + 1), key=self._exponent)

    def _explain_queries(self) -> Mapping[str, float]:
        from scipy.optimize import minimize_scalar

        found = minimize_scalar(
            lambda k: -self._exponent(k),
            bounds=(self.epsilon * 1e-3, self.epsilon),
            method="bounded",
            options={"xatol": 1e-9 * self.epsilon},
        )
        best = self._best_queries()
        return {
            "queries by the rule": self.rule(),
            "best queries": best,
            "claimed": self._exponent(self.rule()),
            "actual": self._exponent(best),
            "best real K over epsilon": float(found.x) / self.epsilon,
        }


class LDPKwikSortRR(_Protocol):
    """LDP-KwikSort:RR, pairwise answers by randomized response."""

    name = "ldp-kwiksort-rr"
    solution = "rr"
    theorem = "theorem2"
    errata = (
        dpaudit.Erratum(
            where=f"{PAPER}, Algorithm 1",
            printed="the report is 1 if g <= p_rr and 0 otherwise, whatever the true answer",
            meant="the report is the true answer if g <= p_rr and its opposite otherwise",
            reason="as printed the reports do not depend on the data; the matrix M_rr of Section 3.3 is what is meant",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, proof of Theorem 1",
            printed="the ratio of the report probabilities is 2 p_rr / (1 - p_rr) = e^ϵ_k",
            meant="p_rr / (1 - p_rr) = e^ϵ_k",
            reason="with p_rr = e^ϵ_k / (e^ϵ_k + 1) the printed left side is 2 e^ϵ_k",
        ),
        *_Protocol.errata,
    )

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
        """Eq. 3: the noisy margin over 2 p_rr - 1."""
        return tally / self.bias(self.asked)

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [
            *super().claims(),
            dpaudit.LemmaClaim(
                id="yan2020.rr-beats-lap",
                source=f"{PAPER}, Sections 4.2 and 5.7",
                statement="At equal ϵ_k randomized response flips an answer at most as often as the Laplace solution.",
                margin=lambda epsilon_k: epsilon_k / 2 + math.log1p(math.exp(-epsilon_k)) - math.log(2),
                instances=[{"epsilon_k": self.epsilon / self.asked}],
                variables={"epsilon_k": dpaudit.Reals(1e-9, 700.0)},
                explain=lambda epsilon_k: {"actual": _response_flip(epsilon_k), "claimed": _laplace_flip(epsilon_k)},
                scope="ϵ_k of this setting, and ϵ_k drawn from 1e-9 to 700",
            ),
            self._comparison("kendall-tau", "average normalised Kendall tau distance"),
            self._comparison("error-rate", "error rate (Equation 5)"),
        ]

    def _comparison(self, metric: str, words: str) -> dpaudit.UtilityClaim:
        """E[metric of RR - metric of Lap] <= 0, with every competitor's metric beside it."""

        def measure(runs: int, rng: np.random.Generator) -> Mapping[str, np.ndarray]:
            measured = self.compete(runs, rng)
            values = {name: both[metric] for name, both in measured.items()}
            return {"value": values["ldp-kwiksort-rr"] - values["ldp-kwiksort-lap"], **values}

        return dpaudit.UtilityClaim(
            id=f"yan2020.section5-{metric}",
            source=f"{PAPER}, Sections 5.3 and 5.7",
            statement=f"LDP-KwikSort:RR's {words} is at most LDP-KwikSort:Lap's.",
            bound=0.0,
            measure=measure,
            runs=20_000,
            support=(-1.0, 1.0),
            beside_support=(0.0, 1.0),
            quantity=f"{words}, RR less Lap",
            scope=(
                f"{'the data' if self.profile is not None else self._setting()}; "
                "beside it each system's own, DP-KwikSort with the natural logarithm"
            ),
            on_data=True,
        )

    def compete(
        self, runs: int, rng: np.random.Generator, systems: Mapping[str, System] | None = None
    ) -> dict[str, dict[str, np.ndarray]]:
        """Both metrics of several systems, by default the four of Section 5, on the same profiles."""
        systems = self._four() if systems is None else systems
        measured: dict[str, dict[str, list[np.ndarray]]] = {}
        for batch in _batches(runs, self.agents):
            orders, margins = self.profiles(batch, rng)
            estimates = {name: system(orders, margins, rng) for name, system in systems.items()}
            for name, estimate in estimates.items():
                both = measured.setdefault(name, {"kendall-tau": [], "error-rate": []})
                order = self.aggregate(estimate, rng)
                both["kendall-tau"].append(rankings.margin_distance(order, margins, self.agents))
                both["error-rate"].append(rankings.error_rate(margins, estimate))
        return {
            name: {metric: np.concatenate(parts) for metric, parts in both.items()} for name, both in measured.items()
        }

    def _four(self) -> dict[str, System]:
        shared: dict[str, Any] = {"epsilon": self.epsilon, "alternatives": self.alternatives, "agents": self.agents}
        laplace = LDPKwikSortLap(**shared, queries=self.queries)
        central: Any = dpaudit.load("dp-kwiksort")(**shared)
        return {
            "kwiksort": lambda orders, margins, rng: margins,
            "dp-kwiksort": lambda orders, margins, rng: margins + central.noise_of(len(margins), rng),
            "ldp-kwiksort-rr": lambda orders, margins, rng: self.estimate([orders], rng),
            "ldp-kwiksort-lap": lambda orders, margins, rng: laplace.estimate([orders], rng),
        }

    def profiles(self, runs: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Rankings (runs, n, m) and margins (runs, m, m): Mallows profiles, or the data under new labels in every run.

        New labels, so that the order of the labels is no help to an aggregation that ignores its input.
        """
        if self.profile is None:
            orders = np.concatenate(list(self.draw(runs, rng)[1]), axis=1)
            return orders, _margins(orders)
        orders = self.profile.rankings()
        labels = rng.permuted(np.tile(np.arange(self.alternatives), (runs, 1)), axis=1)
        new = rankings.positions(labels)
        return labels[:, orders], _margins(orders[None])[0][new[:, :, None], new[:, None, :]]


class LDPKwikSortLap(_Protocol):
    """LDP-KwikSort:Lap, pairwise answers with Laplace noise."""

    name = "ldp-kwiksort-lap"
    solution = "lap"
    theorem = "theorem3"
    errata = (
        dpaudit.Erratum(
            where=f"{PAPER}, Section 4.2.2",
            printed="p_{1,0} = F(-0.5) = 1 - exp(-ϵ_k / 2) / 2, and p_{1,1} = 1 - F(-0.5) = exp(-ϵ_k / 2) / 2",
            meant="F(-0.5) = exp(-ϵ_k / 2) / 2 is the probability of a false answer, and p_{1,1} one minus it",
            reason="F is below one half at a negative point, and M_lap has p_lap on its diagonal",
        ),
        *_Protocol.errata,
    )

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


def _batches(runs: int, agents: int) -> list[int]:
    """Split runs so that the agents of one batch fit in bounded memory."""
    batch = max(1, AGENT_CHUNK // agents)
    return [min(batch, runs - start) for start in range(0, runs, batch)]


def _parts(chunk: np.ndarray, queries: int) -> Iterator[np.ndarray]:
    """Split the agents of a chunk so that their answers fit in bounded memory."""
    runs, agents, _ = chunk.shape
    step = max(1, ANSWER_CHUNK // (runs * queries)) if runs else agents
    for start in range(0, agents, step):
        yield chunk[:, start : start + step]


def _margins(orders: np.ndarray) -> np.ndarray:
    """Margins (runs, m, m) of profiles of shape (runs, n, m), as the estimates' numbers are."""
    return rankings.profile_margins(orders).astype(float)


def _response_flip(epsilon_k: float) -> float:
    return math.exp(-epsilon_k) / (1 + math.exp(-epsilon_k))


def _laplace_flip(epsilon_k: float) -> float:
    return math.exp(-epsilon_k / 2) / 2


def _coins_at_least(pairs: int, limit: float) -> float:
    """Probability that fair coins get at least ``limit`` of the pairs wrong."""
    from scipy.stats import binom

    return float(binom.sf(math.ceil(limit) - 1, pairs, 0.5))


@cache
def _outputs(pairs: int, queries: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All query sets (s, K), all answers (2^K, K), and all outputs (s 2^K, 2K)."""
    asked = np.array(list(itertools.combinations(range(pairs), queries)))
    replies = np.array(list(itertools.product((0, 1), repeat=queries)))
    outputs = np.concatenate([np.repeat(asked, len(replies), axis=0), np.tile(replies, (len(asked), 1))], axis=1)
    return asked, replies, outputs
