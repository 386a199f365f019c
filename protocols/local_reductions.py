"""Rank aggregation in the local model: all comparisons at once, or only those that KwikSort asks for.

Source: Alabi, Ghazi, Kumar, Manurangsi, "Private rank aggregation in central and local models", AAAI 2022.

Symbols: epsilon is the paper's ϵ, alternatives m, agents n, pairs C(m, 2), cap q, budget of one answer ϵ_0, size of a
reported answer d_ϵ, uses the number of answers 2q/m that a set of agents gives at most, w_ji the fraction of agents who
prefer j to i. A report of the vector mechanism has entries ±B.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import randomizers, rankings

PAPER = "Alabi, Ghazi, Kumar, Manurangsi 2022"
AGENT_CHUNK = 1 << 17
TABLE_CELLS = 1 << 23
LISTED_ALTERNATIVES = 6
MOST_COUNTS = 64
FEW_ENTRIES = 12
MANY_AGENTS = 900_000_000
"""Agents in whose presence the noise stays below the weights, for rates in the budget."""
RATIO = 5.0

Ties = Literal["split", "both"]


class VectorReport(dpaudit.Mechanism):
    """What one agent sends: its C(m, 2) comparisons, as one corner of the cube."""

    notation = (
        "an input is the agent's ranking, best first; an output says for each pair (0, 1), (0, 2), … whether "
        "the first is preferred, 1 or 0"
    )

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the budget of one agent")
    alternatives: int = dpaudit.parameter(4, minimum=2, doc="m")
    ties: Ties = dpaudit.parameter(
        "split", doc="reports that agree in exactly half of the entries: as meant, or printed"
    )

    @property
    def pairs(self) -> int:
        return math.comb(self.alternatives, 2)

    @property
    def response(self) -> randomizers.HypercubeResponse:
        return randomizers.HypercubeResponse(self.pairs, self.epsilon, self.ties)

    def truths(self, orders: np.ndarray) -> np.ndarray:
        """Does the agent prefer a_j to a_l, for every pair j < l."""
        return rankings.answers(orders, rankings.alternative_pairs(self.alternatives))

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        truth = self.truths(np.atleast_2d(data))
        return self.response.randomize(np.broadcast_to(truth, (size, self.pairs)), rng).astype(np.int8)

    def features(self, outputs: np.ndarray) -> np.ndarray:
        """Where there are many entries, how many are 1, and how many comparisons each alternative wins."""
        if self.pairs <= FEW_ENTRIES:
            return outputs
        first = np.eye(self.alternatives)[rankings.alternative_pairs(self.alternatives)]
        wins = outputs @ (first[:, 0] - first[:, 1])
        return np.concatenate([outputs.sum(axis=1, keepdims=True), wins], axis=1)

    def law(self, data: Any) -> dpaudit.Law:
        return self.response.law(self.truths(np.atleast_2d(data))[0])

    def log_likelihood(self, outputs: np.ndarray, data: Any) -> np.ndarray:
        return self.response.log_likelihood(outputs, self.truths(np.atleast_2d(data))[0])

    def tally(self, truths: np.ndarray, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Number of agents that report a preference for j to l, for every pair j < l."""
        return self.response.tally(truths, counts, rng)

    def error(self, agents: float) -> float:
        """Root mean squared error of an estimated w_jl, the same for every w_jl: an entry's square is always B^2."""
        return math.sqrt(self.response.variance(agents)) / agents

    def neighbours(self) -> dpaudit.Neighbouring:
        return dpaudit.Neighbouring(
            relation="any-two-inputs",
            pairs=lambda: _by_inversions(self.alternatives),
            complete=True,
            scope=(
                f"any two rankings of {self.alternatives} alternatives; all entries and both signs are treated "
                "alike, so two rankings stand for all that order as many pairs differently"
            ),
        )


class EntrywiseReport(VectorReport):
    """What one agent sends where every comparison is randomized on its own, at ϵ / C(m, 2)."""

    notation = (
        "an input is the agent's ranking, best first; an output says for each pair (0, 1), (0, 2), … whether "
        "the first is preferred, 1 or 0"
    )

    @property
    def coin(self) -> randomizers.RandomizedResponse:
        return randomizers.RandomizedResponse.for_epsilon(self.epsilon / self.pairs)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        truth = self.truths(np.atleast_2d(data))
        return self.coin.randomize(np.broadcast_to(truth, (size, self.pairs)), rng).astype(np.int8)

    def law(self, data: Any) -> dpaudit.Law:
        laws = [self.coin.law(False), self.coin.law(True)]
        return dpaudit.ProductLaw([laws[int(bit)] for bit in self.truths(np.atleast_2d(data))[0]])

    def log_likelihood(self, outputs: np.ndarray, data: Any) -> np.ndarray:
        kept = np.count_nonzero(outputs == self.truths(np.atleast_2d(data)), axis=1)
        log_p: np.ndarray = kept * math.log(self.coin.keep) + (self.pairs - kept) * math.log(self.coin.flip)
        return log_p

    def tally(self, truths: np.ndarray, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        true = counts @ truths
        ones: np.ndarray = rng.binomial(true, self.coin.keep) + rng.binomial(counts.sum() - true, self.coin.flip)
        return ones

    def error(self, agents: float) -> float:
        """As for the vector, with 1 / tanh(ϵ / 2 C(m, 2)) in place of B."""
        return math.sqrt((math.tanh(self.epsilon / self.pairs / 2) ** -2 - 1) / 4 / agents)


class LocalPairwise(dpaudit.Mechanism):
    """Reduction I in the local model: every agent reports all its comparisons, and the estimate is aggregated."""

    name = "local-pairwise"
    source = f"{PAPER}, Theorem 8 and Corollary 9; Duchi, Jordan, Wainwright, arXiv:1302.3203"
    trust = "Nobody is trusted: every agent randomizes its comparisons, and the curator sees only those."
    model = "local"
    errata = (
        dpaudit.Erratum(
            where="Duchi, Jordan, Wainwright, arXiv:1302.3203, the ℓ∞ mechanism, which Theorem 8 relies on",
            printed="both half-spaces <z, v> >= 0 and <z, v> <= 0 contain the ties <z, v> = 0",
            meant="a tie counts as half in either, as if a further, fixed entry broke it",
            reason="at even d = C(m, 2) a tie is 1 + e^ϵ times as probable as a report on the wrong side",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, proof of Theorem 1 and Fact 2",
            printed="a sum over all i, j in [m]",
            meant="a sum over the pairs i < j",
            reason="a ranking pays for one of w_ij and w_ji, so the printed m^2 can be C(m, 2)",
        ),
    )

    epsilon: float = dpaudit.parameter(1.0, maximum=1e6, doc="ϵ, the budget of one agent")
    alternatives: int = dpaudit.parameter(4, minimum=2, doc="m")
    agents: int = dpaudit.parameter(10_000, minimum=1, doc="n, for the utility claims")
    randomizer: Literal["vector", "entrywise"] = dpaudit.parameter(
        "vector", doc="the vector mechanism, or randomized response on every entry at ϵ / C(m, 2)"
    )
    instance: Literal["unanimous", "near-tie"] = dpaudit.parameter(
        "near-tie", doc="for the utility claims: all agents alike, or a majority of the size of the noise"
    )

    @property
    def report(self) -> VectorReport:
        """What one agent sends."""
        return self.reports()["report" if self.randomizer == "vector" else "entrywise-report"]

    def reports(self) -> dict[str, VectorReport]:
        """What one agent sends by either randomizer, and by the vector mechanism as it was published."""
        shared: dict[str, Any] = {"epsilon": self.epsilon, "alternatives": self.alternatives}
        return {
            "report": VectorReport(**shared),
            "printed-report": VectorReport(**shared, ties="both"),
            "entrywise-report": EntrywiseReport(**shared),
        }

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        return {"output": self, **self.reports()}

    def reported(self, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        """How many agents report that they prefer j to l, for every pair j < l, in ``size`` runs; (size, C(m, 2))."""
        profile = _profile(data)
        report = self.report
        ones = np.zeros((size, report.pairs), dtype=np.int64)
        for start in range(0, len(profile.orders), AGENT_CHUNK):
            piece = slice(start, start + AGENT_CHUNK)
            truths = report.truths(profile.orders[piece])
            for run in range(size):
                ones[run] += report.tally(truths, profile.counts[piece], rng)
        return ones

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Aggregate rankings of a profile of shape (n, m), or of a ``Profile``.

        The unbiased estimate of w_jl is an increasing affine function of the count of reports, the same one for every
        pair, so that the two have the same Kemeny rankings; an exact one needs no weights between 0 and 1.
        """
        profile = _profile(data)
        return _kemeny(self.reported(profile, size, rng), profile.agents, self.alternatives, rng)

    def claims(self) -> Sequence[dpaudit.Claim]:
        m, n = self.alternatives, self.agents
        entry = self.report.error(n)
        vector, printed, entrywise = self.reports().values()
        worst = printed.response.loss
        saved, one_pair = _quotient(entrywise.error(n), vector.error(n)), one_pair_error(self.epsilon, m, n)
        theorem8, corollary9 = f"{PAPER}, Theorem 8", f"{PAPER}, Corollary 9"
        scope = f"n = {n}, m = {m}; every w_jl has this error"
        return [
            dpaudit.PrivacyClaim(
                id="alabi2022.theorem8-privacy",
                source=theorem8,
                statement="A report of all comparisons, by the vector mechanism as it was published, is ϵ-LDP.",
                epsilon=self.epsilon,
                view="printed-report",
            ),
            dpaudit.PrivacyClaim(
                id="alabi2022.theorem8-privacy-meant",
                source=theorem8,
                statement="A report of all comparisons, with its ties split between the half-spaces, is ϵ-LDP.",
                epsilon=self.epsilon,
                view="report",
            ),
            dpaudit.PrivacyClaim(
                id="alabi2022.entrywise-privacy",
                source=f"{PAPER}, after Theorem 8",
                statement="Randomized response on every comparison, at ϵ / C(m, 2) each, is ϵ-LDP.",
                epsilon=self.epsilon,
                view="entrywise-report",
            ),
            dpaudit.LemmaClaim(
                id="alabi2022.theorem8-worst-pair",
                source=theorem8,
                statement="No two rankings are told apart better than a ranking and its reverse (as published).",
                margin=lambda inversions: worst(printed.pairs) - worst(inversions),
                instances=[{"inversions": k} for k in range(1, printed.pairs + 1)],
                complete=True,
                explain=lambda inversions: {"actual": worst(inversions), "claimed": worst(printed.pairs)},
                scope=f"every number of differently ordered pairs of {m} alternatives",
            ),
            dpaudit.UtilityClaim(
                id="alabi2022.theorem8-entry",
                source=f"{PAPER}, proof of Theorem 8",
                statement="The vector mechanism's error per entry is at most 3m / (2ϵ sqrt n).",
                bound=1.5 * m / (self.epsilon * math.sqrt(n)),
                exact=lambda: vector.error(n),
                support=(0.0, math.inf),
                quantity="root mean squared error of an entry",
                scope=scope,
            ),
            dpaudit.UtilityClaim(
                id="alabi2022.theorem8-entry-meant",
                source=f"{PAPER}, proof of Theorem 8",
                statement="The vector mechanism's error per entry is at most 3m / (2 min(1, ϵ) sqrt n).",
                bound=1.5 * m / (min(1.0, self.epsilon) * math.sqrt(n)),
                exact=lambda: vector.error(n),
                support=(0.0, math.inf),
                quantity="root mean squared error of an entry",
                scope=scope,
            ),
            dpaudit.UtilityClaim(
                id="alabi2022.entrywise-entry",
                source=f"{PAPER}, after Theorem 8",
                statement="Randomized response on every entry has an error of at most m^2 / (2ϵ sqrt n) per entry.",
                bound=0.5 * m * m / (self.epsilon * math.sqrt(n)),
                exact=lambda: entrywise.error(n),
                support=(0.0, math.inf),
                quantity="root mean squared error of an entry",
                scope=scope,
            ),
            dpaudit.LemmaClaim(
                id="alabi2022.theorem8-saving",
                source=f"{PAPER}, after Theorem 8",
                statement="The vector mechanism saves a factor of Θ(m): between 2m/5 and 3m/5 of the error per entry.",
                margin=lambda: min(saved / m - 0.4, 0.6 - saved / m),
                instances=[{}],
                complete=True,
                explain=lambda: {"factor saved": saved, "of m": saved / m},
                scope=f"ϵ = {self.epsilon:g}, m = {m}",
            ),
            dpaudit.LemmaClaim(
                id="alabi2022.theorem8-against-one-pair",
                source=f"{PAPER}, proof of Theorem 8; Yan, Li, Liu 2020 (K = 1)",
                statement="The vector mechanism errs no more per entry than asking every agent for one pair at ϵ does.",
                margin=lambda: one_pair - vector.error(n),
                instances=[{}],
                complete=True,
                explain=lambda: {
                    "actual": vector.error(n),
                    "claimed": one_pair,
                    "ratio": _quotient(vector.error(n), one_pair),
                },
                scope=f"ϵ = {self.epsilon:g}, m = {m}, n = {n}",
            ),
            dpaudit.UtilityClaim(
                id="alabi2022.corollary9",
                source=corollary9,
                statement="The expected Kemeny score exceeds the least one by at most 3m^3 / (ϵ sqrt n).",
                bound=3 * m**3 / (self.epsilon * math.sqrt(n)),
                measure=self.excess,
                runs=400,
                support=(0.0, float(math.comb(m, 2))),
                trivial=math.comb(m, 2) / 2,
                trivial_reason="a random ranking never exceeds the least score by more than C(m, 2) / 2 in expectation",
                quantity=f"Kemeny score above the least, {self.instance} instance",
                scope=f"n = {n}, m = {m}, error per entry {entry:.4g}; exact Kemeny rankings, so ξ = 0",
            ),
            dpaudit.RateClaim(
                id="alabi2022.corollary9-rate-agents",
                source=f"{corollary9} and Table 2",
                reproduces="Table 2",
                statement="The additive error grows no faster than sqrt(1/n).",
                variable="agents",
                points=tuple(10.0**k for k in range(3, 10)),
                exponent=-0.5,
                measure=lambda point, runs, rng: self._with(agents=int(point)).excess(runs, rng),
                runs=400,
                quantity=f"Kemeny score above the least, {self.instance} instances",
                scope=f"m = {m}",
            ),
            dpaudit.RateClaim(
                id="alabi2022.corollary9-rate-epsilon",
                source=f"{corollary9} and Table 2",
                reproduces="Table 2",
                statement="The additive error grows like 1/ϵ as ϵ falls.",
                variable="epsilon",
                points=tuple(self.epsilon * 2.0**k for k in range(-8, 1)),
                exponent=-1.0,
                direction="equal",
                measure=lambda point, runs, rng: self._with(epsilon=point, agents=MANY_AGENTS).excess(runs, rng),
                runs=20_000,
                quantity=f"Kemeny score above the least, {self.instance} instances",
                scope=f"n = {MANY_AGENTS}, m = {m}",
            ),
            dpaudit.RateClaim(
                id="alabi2022.corollary9-rate-alternatives",
                source=f"{corollary9} and Table 2",
                reproduces="Table 2",
                statement="The additive error that the proof allows, the errors of all entries together, is Θ(m^3).",
                variable="alternatives",
                points=(10, 20, 50, 100, 200, 500, 1000),
                exponent=3.0,
                direction="equal",
                exact=lambda point: self._with(alternatives=int(point)).proven_excess(),
                quantity="twice the sum of the entries' root mean squared errors",
                scope=f"ϵ = {self.epsilon:g}, n = {n}",
            ),
            dpaudit.RateClaim(
                id="alabi2022.theorem8-rate-epsilon",
                source=theorem8,
                statement="The error per entry falls like 1/ϵ.",
                variable="epsilon",
                points=tuple(self.epsilon * 2.0**k for k in range(-6, 1)),
                exponent=-1.0,
                direction="equal",
                exact=lambda point: self._with(epsilon=point).report.error(n),
                quantity="root mean squared error of an entry",
                scope=f"n = {n}, m = {m}",
            ),
        ]

    def excess(self, runs: int, rng: np.random.Generator) -> np.ndarray:
        """Kemeny score above the least one, on the instance chosen."""
        profile = _opposed(self.alternatives, self.agents, self.instance, self.report.error(self.agents))
        return _excess(self.sample(profile, runs, rng), profile)

    def proven_excess(self) -> float:
        """How far above the least score a Kemeny ranking of the estimate is at most: twice an error for each pair."""
        return 2 * self.report.pairs * self.report.error(self.agents)

    def _with(self, **changed: Any) -> "LocalPairwise":
        return LocalPairwise(**{**self.parameters(), **changed})


class Answers(dpaudit.Mechanism):
    """What one agent sends in Algorithms 2 and 3: its answers, and where there is a fallback its report there.

    Of the public queries those that tell two rankings apart best: the first denies what the second affirms.
    """

    notation = (
        "an input is the agent's ranking, best first; an output holds 1 for every positive answer, 0 for a "
        "negative one, and then, where there is a fallback, the report to it"
    )

    epsilon: float = dpaudit.parameter(0.1, doc="ϵ_0, the budget of one answer")
    alternatives: int = dpaudit.parameter(4, minimum=2, doc="m")
    answers: int = dpaudit.parameter(1, minimum=1, doc="number of answers")
    fallback: float = dpaudit.parameter(0.0, minimum=0.0, doc="budget of the fallback's report; 0: there is none")
    ties: Ties = dpaudit.parameter("split", doc="of the fallback's report")

    @property
    def report(self) -> VectorReport | None:
        if self.fallback == 0:
            return None
        return VectorReport(epsilon=self.fallback, alternatives=self.alternatives, ties=self.ties)

    def coin(self, truth: bool) -> dpaudit.FiniteLaw:
        """Law of the sign of one answer: d_ϵ with probability (1 + w / d_ϵ) / 2, where w is 0 or 1."""
        # 1 / d_ϵ = tanh(ϵ_0 / 2), and at w = 1 the probabilities are those of randomized response.
        log_keep = -math.log1p(math.exp(-self.epsilon))
        log_p = [log_keep - self.epsilon, log_keep] if truth else [-math.log(2)] * 2
        return dpaudit.FiniteLaw([0, 1], np.array(log_p))

    def truths(self, data: Any) -> np.ndarray:
        """Does the agent prefer l to j, for as many pairs j < l as there are answers, over again where they run out.

        The last pair only where it is needed, as two rankings can agree on it and still be worst for all the rest.
        """
        asked = rankings.alternative_pairs(self.alternatives)[:, ::-1]
        if len(asked) not in (1, self.answers):
            asked = asked[:-1]
        said: np.ndarray = rankings.answers(np.atleast_2d(data), np.resize(asked, (self.answers, 2)))[0]
        return said

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        positive = np.array([math.exp(self.coin(bool(truth)).log_probabilities[1]) for truth in (0, 1)])
        signs = rng.random((size, self.answers)) < positive[self.truths(data).astype(int)]
        parts = [signs.astype(np.int8)] + ([] if self.report is None else [self.report.sample(data, size, rng)])
        return np.concatenate(parts, axis=1)

    def features(self, outputs: np.ndarray) -> np.ndarray:
        """How many answers are positive, and the report: the answers of one agent differ only by chance."""
        positive = outputs[:, : self.answers].sum(axis=1, keepdims=True)
        return np.concatenate([positive, outputs[:, self.answers :]], axis=1)

    def law(self, data: Any) -> dpaudit.Law:
        coins = [self.coin(False), self.coin(True)]
        parts: list[dpaudit.Law] = [coins[int(truth)] for truth in self.truths(data)]
        if self.report is not None:
            parts.append(self.report.law(data))
        return parts[0] if len(parts) == 1 else dpaudit.ProductLaw(parts)

    def neighbours(self) -> dpaudit.Neighbouring:
        identity = np.arange(self.alternatives)
        reverse = identity[::-1]
        others = [reverse] if self.alternatives == 2 else [reverse, np.r_[reverse[[1, 0]], reverse[2:]]]
        what = f"{self.answers} answer{'s' if self.answers > 1 else ''} to public queries"
        return dpaudit.Neighbouring(
            relation="any-two-inputs",
            pairs=[(identity, other) for other in others],
            complete=True,
            scope=(
                f"any two rankings of {self.alternatives} alternatives, {what}"
                f"{'' if self.report is None else ' and the report of the fallback'}; nothing is worse for an answer "
                "than that one ranking denies what the other affirms, nor for the fallback's report than the reverse "
                "or what is one swap from it"
            ),
        )


class LDPKwikSortInteractive(dpaudit.Mechanism):
    """Reduction II in the local model: KwikSort asks, and one of m sets of agents answers each query."""

    name = "ldp-kwiksort-interactive"
    source = f"{PAPER}, Algorithms 2 and 3"
    trust = "Nobody is trusted: every agent randomizes its answers, and the curator sees only those."
    model = "local"
    errata = (
        dpaudit.Erratum(
            where=f"{PAPER}, Algorithms 2 and 3",
            printed="the counter of a set is raised inside the loop over its agents",
            meant="it is raised once for every query that the set answers",
            reason="as printed it counts agents, and the first query ends in ⊥ where n > 2q",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Section on the modified algorithm of Bassily",
            printed="⊥ if the set has already been used at least 2q/m times",
            meant="⊥ if it would be used more than 2q/m times, as in Algorithm 2",
            reason="where 2q/m is no whole number the text allows one use more, and nominally more than ϵ",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Algorithm 3",
            printed="d_ϵ without saying for which budget, a threshold τ = Ω(log m), and a fallback at ϵ/2",
            meant="τ = 2q/m, and Algorithm 2 run on ϵ/2, so that ϵ_0 = ϵm / 4q",
            reason="Theorem 11 claims ϵ in total, and Theorem 5, its counterpart, halves the budget",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Lemma 10",
            printed="any sequence of q queries",
            meant="different queries, chosen without knowing ℓ",
            reason="a query asked again goes to the same set, and who knows ℓ can ask one set for everything",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Algorithm 3",
            printed="answers for ji and ij come from different sets, with noise of their own",
            meant="left as printed: KwikSort asks for one of the two",
            reason="their sum is not 1, so the probability constraint that the ratio 5 rests on does not hold",
        ),
    )

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the budget of one agent")
    cap: int | Literal["auto"] = dpaudit.parameter(
        "auto", minimum=1, doc="q; auto: the smallest whole number above 10 m ln m"
    )
    alternatives: int = dpaudit.parameter(4, minimum=2, doc="m")
    agents: int = dpaudit.parameter(10_000, minimum=1, doc="n, for the utility claims")
    instance: Literal["unanimous", "near-tie"] = dpaudit.parameter(
        "near-tie", doc="for the utility claims: all agents alike, or a majority of the size of the noise"
    )

    @property
    def pairs(self) -> int:
        return math.comb(self.alternatives, 2)

    @property
    def queries(self) -> int:
        """q, which Lemma 10 wants above 10 m log m."""
        return _least_cap(self.alternatives) if isinstance(self.cap, str) else self.cap

    @property
    def uses(self) -> int:
        """Answers that a set gives before ⊥: the counter may reach 2q/m."""
        return 2 * self.queries // self.alternatives

    @property
    def answer_budget(self) -> float:
        """Algorithm 2: ϵ_0 = ϵm / 2q."""
        return 0.5 * self.epsilon * self.alternatives / self.queries

    def _shared(self, epsilon: float, **others: Any) -> dict[str, Any]:
        return {"epsilon": epsilon, "alternatives": self.alternatives, **others}

    @property
    def fallback(self) -> LocalPairwise:
        """Corollary 9 at ϵ/2."""
        return LocalPairwise(**self._shared(self.epsilon / 2))

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        half = self.epsilon / 2
        one, every = self._shared(self.answer_budget), self._shared(self.answer_budget, answers=self.uses)
        halved = self._shared(self.answer_budget / 2, answers=self.uses)
        # KwikSort compares no pair twice, and the fallback runs only after a set has been asked for more than 2q/m.
        asked, falls_back = min(self.uses, self.pairs), half if self.pairs > self.uses else 0.0
        return {
            "output": self,
            "answer": Answers(**one),
            "transcript": Answers(**every),
            "transcript-and-fallback": Answers(**every, fallback=half),
            "transcript-and-printed-fallback": Answers(**every, fallback=half, ties="both"),
            "halved-transcript-and-fallback": Answers(**halved, fallback=half),
            "kwiksort-transcript": Answers(**one, answers=asked, fallback=falls_back),
        }

    # The protocol (Algorithm 3 as meant, so with ϵ/2 for the answers).

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Aggregate rankings of a profile of shape (n, m), or of a ``Profile``."""
        return self.run(data, size, rng)[0]

    def run(self, data: Any, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Aggregate rankings (size, m) of a profile, and whether each run ended in ⊥ and so in the fallback."""
        profile = _profile(data)
        m = self.alternatives
        orders, failed = np.empty((size, m), dtype=np.int64), np.empty(size, dtype=bool)
        batch = max(1, TABLE_CELLS // m**3)
        for start in range(0, size, batch):
            runs = min(batch, size - start)
            assigned = rng.integers(0, m, (runs, m, m))  # ℓ(j, i)
            answers = self.answers(profile, assigned, self.answer_budget / 2, rng)
            piece = slice(start, start + runs)
            orders[piece], asked = rankings.kwiksort_queries(answers > 0.5, rng)
            cells = (assigned + np.arange(runs)[:, None, None] * m)[asked]
            used = np.bincount(cells, minlength=runs * m).reshape(runs, m)
            failed[piece] = used.max(axis=1) > self.uses
        fallen = np.flatnonzero(failed)
        if len(fallen):
            orders[fallen] = self.fallback.sample(profile, len(fallen), rng)
        return orders, failed

    def answers(self, data: Any, assigned: np.ndarray, budget: float, rng: np.random.Generator) -> np.ndarray:
        """Algorithm 2 for all ordered pairs: estimates of w_ji, shape (runs, m, m), from the sets ``assigned`` to them.

        Agents are partitioned anew in every run. An agent's answer is d_ϵ or -d_ϵ; the sum over those who prefer j to
        i, and over the others, is binomial.
        """
        profile = _profile(data)
        prefer, members = rankings.partition_counts(profile, len(assigned), rng)
        run, j, i = np.ogrid[: len(assigned), : self.alternatives, : self.alternatives]
        yes = prefer[run, assigned, j, i]
        no = members[run, assigned] - yes
        keep = randomizers.RandomizedResponse.for_epsilon(budget).keep
        positive = rng.binomial(yes, keep) + rng.binomial(no, 0.5)
        size = 1 / math.tanh(budget / 2)
        estimate: np.ndarray = self.alternatives / profile.agents * size * (2 * positive - yes - no)
        return estimate

    # Its claims.

    def answer_error(self, agents: float) -> float:
        """Root mean squared error of an answer of Algorithm 2 where it is largest, at w_ji = 0."""
        return answer_deviation(self.answer_budget, self.alternatives, agents, 0.0)

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [*self._privacy_claims(), *self._lemma10_claims(), *self._usefulness_claims(), *self._utility_claims()]

    def _privacy_claims(self) -> list[dpaudit.Claim]:
        lemma10, theorem11 = f"{PAPER}, Lemma 10", f"{PAPER}, Theorem 11"
        return [
            dpaudit.LemmaClaim(
                id="alabi2022.lemma10-privacy",
                source=lemma10,
                statement="One answer loses at most ϵ_0 = ϵm / 2q, and an agent's 2q/m answers together at most ϵ.",
                margin=lambda: min(claimed - actual for actual, claimed in self._losses().values()),
                instances=[{}],
                complete=True,
                explain=self._explain_losses,
                scope="any two rankings and any queries, from the laws of one answer and of a whole transcript",
            ),
            dpaudit.PrivacyClaim(
                id="alabi2022.lemma10-privacy-use",
                source=lemma10,
                statement="One answer is ϵ_0-LDP with ϵ_0 = ϵm / 2q.",
                epsilon=self.answer_budget,
                view="answer",
            ),
            dpaudit.PrivacyClaim(
                id="alabi2022.lemma10-privacy-total",
                source=lemma10,
                statement="An agent's answers, 2q/m at most, are ϵ-LDP together.",
                epsilon=self.epsilon,
                view="transcript",
            ),
            dpaudit.LemmaClaim(
                id="alabi2022.lemma10-cap-text",
                source=f"{PAPER}, text before the proof of Lemma 10",
                statement="⊥ after at least 2q/m earlier uses keeps the budgets of an agent's answers within ϵ.",
                margin=lambda: self.epsilon - self._text_uses() * self.answer_budget,
                instances=[{}],
                complete=True,
                explain=lambda: {
                    "actual": self._text_uses() * self.answer_budget,
                    "claimed": self.epsilon,
                    "uses by the text": self._text_uses(),
                    "uses by Algorithm 2": self.uses,
                },
                scope=f"2q/m = {2 * self.queries / self.alternatives:.6g}; sum of the nominal budgets ϵ_0",
            ),
            dpaudit.LemmaClaim(
                id="alabi2022.theorem11-composition",
                source=f"{theorem11} and Algorithm 3",
                statement="The budgets of an agent's answers and of the fallback, ϵ/2, add up to at most ϵ.",
                margin=lambda: self.epsilon / 2 - self.uses * self.answer_budget,
                instances=[{}],
                complete=True,
                explain=lambda: {"actual": self.epsilon / 2 + self.uses * self.answer_budget, "claimed": self.epsilon},
                scope="sum of the nominal budgets, with ϵ_0 = ϵm / 2q",
            ),
            dpaudit.PrivacyClaim(
                id="alabi2022.theorem11-budget",
                source=f"{theorem11} and Algorithm 3",
                statement="An agent's answers at ϵm / 2q and its report to the fallback at ϵ/2 are ϵ-LDP together.",
                epsilon=self.epsilon,
                view="transcript-and-fallback",
            ),
            dpaudit.PrivacyClaim(
                id="alabi2022.theorem11-budget-printed-fallback",
                source=f"{theorem11}, Algorithm 3 and Theorem 8",
                statement="The same, with the report to the fallback by the vector mechanism as it was published.",
                epsilon=self.epsilon,
                view="transcript-and-printed-fallback",
            ),
            dpaudit.PrivacyClaim(
                id="alabi2022.theorem11-budget-meant",
                source=f"{theorem11} and Algorithm 3",
                statement="An agent's answers at ϵm / 4q and its report to the fallback at ϵ/2 are ϵ-LDP together.",
                epsilon=self.epsilon,
                view="halved-transcript-and-fallback",
            ),
            dpaudit.PrivacyClaim(
                id="alabi2022.algorithm3-privacy",
                source=f"{PAPER}, Algorithm 3",
                statement="What an agent sends while KwikSort, which compares no pair twice, runs is ϵ-LDP.",
                epsilon=self.epsilon,
                view="kwiksort-transcript",
            ),
        ]

    def _lemma10_claims(self) -> list[dpaudit.Claim]:
        lemma10 = f"{PAPER}, Lemma 10"
        m, n, q = self.alternatives, self.agents, self.queries
        bound = math.exp(-0.1 * q / m)
        ordered = m * (m - 1)
        too_small = f"q = {q} is not above 10 m ln m = {10 * m * math.log(m):.6g}" if q <= 10 * m * math.log(m) else ""
        counts = range(n + 1) if n <= MOST_COUNTS else sorted({0, 1, n // 3, n // 2, n - 1, n})
        bottom: dict[str, Any] = {"source": lemma10, "bound": bound, "inapplicable": too_small}
        setting = f"q = {q}, m = {m}, at most {self.uses} uses of a set"

        def measure(runs: int, rng: np.random.Generator) -> np.ndarray:
            loads = rng.multinomial(min(q, ordered), np.full(m, 1 / m), runs)
            return np.asarray(loads.max(axis=1) > self.uses, dtype=float)

        return [
            dpaudit.UtilityClaim(
                id="alabi2022.lemma10-error",
                source=lemma10,
                statement="The expected error of an answer is at most 5q / (ϵ sqrt(nm)).",
                bound=5 * q / (self.epsilon * math.sqrt(n * m)),
                exact=lambda: self.answer_error(n),
                support=(0.0, math.inf),
                quantity="root mean squared error of an answer",
                scope=f"q = {q}, m = {m}, n = {n}; the largest over w_ji, which is at w_ji = 0",
            ),
            dpaudit.LemmaClaim(
                id="alabi2022.lemma10-unbiased",
                source=f"{lemma10} and the remark on dummy users",
                statement="The answer (m/n) Σ w~_ji^k has the expectation w_ji, also where m does not divide n.",
                margin=lambda yes: -abs(self._mean_answer(yes, n) - yes / n),
                instances=[{"yes": yes} for yes in counts],
                complete=len(counts) > n,
                explain=lambda yes: {"actual": self._mean_answer(yes, n), "claimed": yes / n},
                tolerance=1e-9,
                scope=f"n = {n}, m = {m}, {-n % m} dummy users; n counts the real ones",
            ),
            dpaudit.LemmaClaim(
                id="alabi2022.lemma10-unbiased-padded",
                source=f"{PAPER}, remark on dummy users",
                statement="The same where n counts the dummy users too, who make it divisible by m.",
                margin=lambda yes: -abs(self._mean_answer(yes, n + -n % m) - yes / n),
                instances=[{"yes": yes} for yes in counts],
                complete=len(counts) > n,
                explain=lambda yes: {"actual": self._mean_answer(yes, n + -n % m), "claimed": yes / n},
                tolerance=1e-9,
                scope=f"n = {n}, m = {m}, {-n % m} dummy users",
            ),
            dpaudit.UtilityClaim(
                **bottom,
                id="alabi2022.lemma10-bottom",
                statement="Any q queries end in ⊥ with probability at most exp(-0.1 q/m).",
                exact=lambda: float(q > self.uses),
                quantity="probability of ⊥",
                scope=f"{setting}; the same query q times, which goes to the same set every time",
            ),
            dpaudit.UtilityClaim(
                **bottom,
                id="alabi2022.lemma10-bottom-informed",
                statement="The same for different queries, chosen by who knows ℓ, as the algorithm lets one.",
                exact=lambda: rankings.overload_probability(ordered, m, self.uses),
                quantity="probability that some set is assigned to more pairs than it may answer",
                scope=f"{setting}; the {ordered} ordered pairs",
            ),
            dpaudit.UtilityClaim(
                **bottom,
                id="alabi2022.lemma10-bottom-meant",
                statement="The same for different queries, chosen without knowing ℓ.",
                exact=lambda: rankings.overload_probability(min(q, ordered), m, self.uses),
                measure=measure,
                quantity="probability of ⊥",
                scope=f"{setting}; {min(q, ordered)} different queries, each assigned to a uniform set",
            ),
            dpaudit.UtilityClaim(
                **bottom,
                id="alabi2022.lemma10-union-bound",
                statement="m exp(-q/3m) <= exp(-0.1 q/m).",
                exact=lambda: m * math.exp(-q / (3 * m)),
                support=(0.0, math.inf),
                quantity="m exp(-q/3m)",
                scope=setting,
            ),
            dpaudit.LemmaClaim(
                id="alabi2022.lemma10-chernoff",
                source=lemma10,
                statement="q different queries give ⊥ with probability at most m exp(-q/3m).",
                margin=lambda: m * math.exp(-q / (3 * m)) - rankings.overload_probability(q, m, self.uses),
                instances=[{}],
                complete=True,
                explain=lambda: {
                    "actual": rankings.overload_probability(q, m, self.uses),
                    "claimed": m * math.exp(-q / (3 * m)),
                },
                scope=f"{setting}; as if there were q different queries",
                inapplicable=too_small,
            ),
            dpaudit.UtilityClaim(
                **bottom,
                id="alabi2022.algorithm2-counter",
                statement="With the counter as printed, a first query is answered by ⊥ with at most that probability.",
                exact=lambda: float(n // m > 2 * q / m),
                quantity="probability of ⊥",
                scope=f"{setting}, n = {n}; one query, whose set has at least {n // m} agents",
            ),
        ]

    def _usefulness_claims(self) -> list[dpaudit.Claim]:
        theorem11 = f"{PAPER}, Theorem 11"
        m = self.alternatives

        def against(other: Callable[[int], float]) -> Callable[[], Mapping[str, float]]:
            return lambda: {
                "actual": self._answer_error_at(m),
                "claimed": other(m),
                "ratio": self._answer_error_at(m) / other(m),
                "alternatives from which on it holds": _first(lambda k: self._answer_error_at(k) <= other(k)),
                "the same with all of the budget": _first(lambda k: self._answer_error_at(k, part=1) <= other(k)),
            }

        def claim(name: str, words: str, other: Callable[[int], float]) -> dpaudit.LemmaClaim:
            return dpaudit.LemmaClaim(
                id=f"alabi2022.reduction2-against-{name}",
                source=theorem11,
                statement=f"An answer of Reduction II errs less than {words}.",
                margin=lambda: math.log(other(m) / self._answer_error_at(m)),
                instances=[{}],
                complete=True,
                explain=against(other),
                scope=(
                    f"ϵ = {self.epsilon:g}, m = {m}, q the least that Lemma 10 allows and half of ϵ kept for the "
                    "fallback; root mean squared errors times sqrt n, the largest over w_ji"
                ),
            )

        return [
            dpaudit.LemmaClaim(
                id="alabi2022.reduction2-cap",
                source=theorem11,
                statement="The cap q is below the number of pairs that KwikSort could compare at all.",
                margin=lambda: float(self.pairs - self.queries),
                instances=[{}],
                complete=True,
                explain=lambda: {
                    "actual": self.queries,
                    "claimed": self.pairs,
                    "alternatives from which on it holds": _first(lambda k: _least_cap(k) <= math.comb(k, 2)),
                    "the same for ordered pairs": _first(lambda k: _least_cap(k) <= k * (k - 1)),
                },
                scope=f"m = {m}",
            ),
            claim("reduction1", "an entry of Reduction I", self._entry_error_at),
            claim("one-pair", "asking every agent for one pair", lambda k: one_pair_error(self.epsilon, k, 1)),
        ]

    def _utility_claims(self) -> list[dpaudit.Claim]:
        """Theorem 11 with its constants: (5 + 1) m^2 errors of an answer of 10q / (ϵ sqrt(nm)) at half of the budget.

        The fallback adds 6m^3 / (ϵ sqrt n) with probability 1/m at most, which is little against that; and
        60 (10 m ln m + 1) m^1.5 <= 700 m^2.5 ln m from m = 2 on.
        """
        m, n, q = self.alternatives, self.agents, self.queries
        too_small = f"q = {q} is below 10 m ln m" if q < 10 * m * math.log(m) else ""
        scope = f"n = {n}, m = {m}, q = {q}; the excess over the least score is held to it, so with a ratio of 1"
        shared: dict[str, Any] = {
            "measure": self.excess,
            "runs": 400,
            "support": (0.0, float(self.pairs)),
            "trivial": self.pairs / 2,
            "trivial_reason": "a random ranking never exceeds the least score by more than C(m, 2) / 2 in expectation",
            "quantity": f"Kemeny score above the least, {self.instance} instance",
            "scope": scope,
            "inapplicable": too_small,
        }
        return [
            dpaudit.UtilityClaim(
                **shared,
                id="alabi2022.theorem11",
                source=f"{PAPER}, Theorem 11",
                statement="The expected Kemeny score is at most 5 OPT + 60 m^1.5 q / (ϵ sqrt n).",
                bound=60 * m**1.5 * q / (self.epsilon * math.sqrt(n)),
            ),
            dpaudit.UtilityClaim(
                **shared,
                id="alabi2022.corollary12",
                source=f"{PAPER}, Corollary 12",
                statement="The expected Kemeny score is at most 5 OPT + 700 m^2.5 ln m / (ϵ sqrt n).",
                bound=700 * m**2.5 * math.log(m) / (self.epsilon * math.sqrt(n)),
            ),
            dpaudit.RateClaim(
                id="alabi2022.corollary12-rate-epsilon",
                source=f"{PAPER}, Corollary 12",
                statement="The error of an answer falls like 1/ϵ.",
                variable="epsilon",
                points=tuple(self.epsilon * 2.0**k for k in range(-6, 1)),
                exponent=-1.0,
                direction="equal",
                exact=lambda point: answer_deviation(0.25 * point * m / q, m, n, 0.0),
                quantity="root mean squared error of an answer at ϵ/2",
                scope=f"n = {n}, m = {m}, q = {q}",
            ),
            self._rate("agents", [2e6 * 2.8**k for k in range(7)], -0.5, None),
            self._rate("epsilon", [self.epsilon * 2.0**k for k in range(-5, 4)], -1.0, None),
            self._rate("alternatives", [4, 6, 9, 14, 22, 34, 50], 2.5, lambda k: math.log(k) * (1 - 1 / k)),
        ]

    def excess(self, runs: int, rng: np.random.Generator) -> np.ndarray:
        """Kemeny score above the least one, on the instance chosen."""
        error = answer_deviation(self.answer_budget / 2, self.alternatives, self.agents, 0.5)
        profile = _opposed(self.alternatives, self.agents, self.instance, error)
        return _excess(self.sample(profile, runs, rng), profile)

    def _rate(
        self, variable: str, points: Sequence[float], exponent: float, shape: Callable[[float], float] | None
    ) -> dpaudit.RateClaim:
        def measure(point: float, runs: int, rng: np.random.Generator) -> np.ndarray:
            changed: dict[str, Any] = {"instance": "near-tie", variable: int(point)}
            if variable == "epsilon":
                changed |= {"epsilon": point, "agents": MANY_AGENTS}
            return LDPKwikSortInteractive(**{**self.parameters(), **changed}).excess(runs, rng)

        growth = {
            "agents": "grows no faster than sqrt(1/n)",
            "alternatives": "grows no faster than m^2.5 log m",
            "epsilon": "grows like 1/ϵ as ϵ falls",
        }
        return dpaudit.RateClaim(
            # The claim of that name in epsilon is about one answer.
            id=f"alabi2022.corollary12-rate-{'budget' if variable == 'epsilon' else variable}",
            source=f"{PAPER}, Corollary 12 and Table 2",
            reproduces="Table 2",
            statement=f"The additive error {growth[variable]}.",
            variable=variable,
            points=tuple(points),
            exponent=exponent,
            direction="equal" if variable == "epsilon" else "at-most",
            shape=shape,
            measure=measure,
            runs=1000,
            resolution=0.5 if shape else 0.25,
            quantity="Kemeny score above the least, near-tie instances",
            scope={
                "agents": f"m = {self.alternatives}",
                "alternatives": "C(m, 2) in place of m^2",
                "epsilon": f"n = {MANY_AGENTS}, m = {self.alternatives}",
            }[variable],
        )

    def _losses(self) -> dict[str, tuple[float, float]]:
        """Exact and claimed loss of one answer and of a transcript."""
        claimed = {"answer": self.answer_budget, "transcript": self.epsilon}
        return {view: (_loss(self.views()[view]), budget) for view, budget in claimed.items()}

    def _explain_losses(self) -> Mapping[str, float]:
        (use, budget), (total, epsilon) = self._losses().values()
        return {
            "loss per use": use,
            "claimed per use": budget,
            "loss in total": total,
            "claimed in total": epsilon,
            "answers of an agent": self.uses,
            "tightness": epsilon / total,
        }

    def _text_uses(self) -> int:
        """Uses before there have been at least 2q/m."""
        return -(-2 * self.queries // self.alternatives)

    def _mean_answer(self, yes: int, agents: int) -> float:
        """Expectation of the answer where ``yes`` of the agents prefer j to i and the sum is divided by ``agents``.

        Over how many of them are in the set, and over the coins.
        """
        from scipy.stats import hypergeom

        m, n = self.alternatives, self.agents
        share = -(-n // m)
        coin = Answers(**self._shared(self.answer_budget)).coin
        size = 1 / math.tanh(self.answer_budget / 2)
        means = [size * float(np.dot([-1, 1], np.exp(coin(bool(truth)).log_probabilities))) for truth in (0, 1)]
        expected = [
            float(np.dot(k, hypergeom.pmf(k, share * m, group, share)))
            for group in (n - yes, yes)
            for k in [np.arange(min(group, share) + 1)]
        ]
        return m / agents * float(np.dot(means, expected))

    def _answer_error_at(self, alternatives: int, part: float = 0.5) -> float:
        """Largest error of an answer at a part of the budget and the least q, times sqrt n."""
        budget = 0.5 * part * self.epsilon * alternatives / _least_cap(alternatives)
        return answer_deviation(budget, alternatives, math.inf, 0.0)

    def _entry_error_at(self, alternatives: int) -> float:
        settings: dict[str, Any] = {"epsilon": self.epsilon, "alternatives": alternatives}
        return VectorReport(**settings).error(1)


def answer_deviation(budget: float, alternatives: int, agents: float, share: float) -> float:
    """Standard deviation of an answer of Algorithm 2 where a share w_ji of the agents prefers j to i.

    Var = (m/n)^2 [(n d_ϵ^2 - n w) / m + Var(agents of the set who prefer j to i)], the latter hypergeometric over the
    agents and the dummies. With ``agents`` infinite, the limit times sqrt n.
    """
    size = 1 / math.tanh(budget / 2)
    if math.isinf(agents):
        return math.sqrt(alternatives * (size**2 - share + share * (1 - share) * (1 - 1 / alternatives)))
    per_set = math.ceil(agents / alternatives)
    slots = per_set * alternatives
    part = agents * share / slots
    drawn = per_set * part * (1 - part) * (slots - per_set) / (slots - 1)
    return alternatives / agents * math.sqrt(agents * (size**2 - share) / alternatives + drawn)


def one_pair_error(epsilon: float, alternatives: int, agents: float) -> float:
    """Root mean squared error of w_jl where every agent answers one random pair by randomized response at ϵ.

    Answers to other pairs count as 0, so that an entry's square is C(m, 2) / tanh(ϵ/2)^2 in expectation.
    """
    return math.sqrt((math.comb(alternatives, 2) * math.tanh(epsilon / 2) ** -2 - 1) / 4 / agents)


def _quotient(error: float, other: float) -> float:
    """Quotient of two errors; 1 where both have become 0 in double precision, as for one entry at a large ϵ."""
    return error / other if other else 1.0


def _least_cap(alternatives: int) -> int:
    return math.floor(10 * alternatives * math.log(alternatives)) + 1


def _loss(view: dpaudit.Mechanism) -> float:
    """Exact epsilon of a view, from its laws on the pairs of inputs that it lists."""
    worst = 0.0
    for pair in view.neighbours() or ():
        laws = [view.law(data) for data in pair]
        for p, q in (laws, laws[::-1]):
            assert p is not None
            assert q is not None
            worst = max(worst, dpaudit.compare(p, q).max_divergence())
    return worst


def _first(holds: Callable[[int], bool]) -> float:
    """Smallest number of alternatives from which on something holds that holds for all large ones, up to 10^9."""
    if not holds(10**9):
        return math.inf
    # It may hold for the smallest ones too, so the search goes down from the top.
    below, above = 2, 10**9
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if holds(middle) else (middle, above)
    return float(above)


def _kemeny(ones: np.ndarray, agents: int, alternatives: int, rng: np.random.Generator) -> np.ndarray:
    """Kemeny rankings (runs, m) from the numbers of agents (runs, C(m, 2)) who are said to prefer j to l, j < l."""
    if alternatives <= LISTED_ALTERNATIVES:
        every = rankings.all_rankings(alternatives)
        in_order = rankings.answers(every, rankings.alternative_pairs(alternatives))
        agreeing = (2 * ones - agents) @ in_order.T
        # Less than the difference of two counts, so that equal ones are decided at random.
        best: np.ndarray = every[np.argmax(agreeing + rng.random(agreeing.shape) / 2, axis=1)]
        return best
    counts = np.zeros((len(ones), alternatives, alternatives), dtype=np.int64)
    j, l = np.triu_indices(alternatives, k=1)  # noqa: E741 - the index of the other protocols
    counts[:, j, l], counts[:, l, j] = ones, agents - ones
    return np.array([rankings.kemeny(table).ranking for table in counts])


def _by_inversions(alternatives: int) -> Any:
    """The identity against one ranking for each possible number of pairs ordered differently."""
    identity = np.arange(alternatives)
    for inversions in range(1, math.comb(alternatives, 2) + 1):
        yield identity, rankings.ranking_with_inversions(alternatives, inversions)


def _profile(data: Any) -> rankings.Profile:
    return data if isinstance(data, rankings.Profile) else rankings.Profile.from_rankings(data)


def _opposed(alternatives: int, agents: int, instance: str, error: float) -> rankings.Profile:
    """Two blocs with opposite rankings, the larger one with a share of 1 (unanimous) or 1/2 + error (near-tie).

    A majority of the size of the noise costs most: a larger one is rarely missed, a smaller one costs little.
    """
    order = np.arange(alternatives)
    share = 1.0 if instance == "unanimous" else min(1.0, 0.5 + error)
    first = round(agents * share)
    counts = np.array([first, agents - first])
    return rankings.Profile(np.stack([order, order[::-1]])[counts > 0], counts[counts > 0])


def _excess(orders: np.ndarray, profile: rankings.Profile) -> np.ndarray:
    """Kemeny score of rankings (runs, m) above the least one, for two opposed blocs."""
    advantage = 2 * int(profile.counts[0]) / profile.agents - 1
    above: np.ndarray = rankings.kendall_tau(orders, profile.orders[0]) * advantage
    return above
