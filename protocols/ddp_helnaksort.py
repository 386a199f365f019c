"""DDP-Helnaksort: noisy pairwise answers, shuffled pair by pair, and a hierarchical rank aggregation.

Source: Song, Lan, Li, Li, "Distributed differentially private ranking aggregation", PAKDD 2022.

Symbols: epsilon is the paper's ϵ of one agent (local), central_epsilon the ϵ that is left after shuffling, delta δ,
queries K, alternatives m, agents n, agents_per_pair n' = n / C(m, 2), and the budget of one answer ϵ_k = ϵ/K.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import laws, randomizers

PAPER = "Song, Lan, Li, Li 2022"
CHEU = "Cheu, Smith, Ullman, Zeber, Zhilyaev 2019, Section 6"
MOST_SHUFFLED = 1 << 22
NEGLIGIBLE = 1e-25

RandomizerName = Literal["gaussian-threshold", "gaussian", "randomized-response", "laplace-threshold"]


def local_randomizer(name: RandomizerName, epsilon: float, delta: float) -> Any:
    """Randomizer of one answer, 0 or 1, with a budget (ϵ_k, δ): Algorithm 1 and its alternatives."""
    if name == "randomized-response":
        return randomizers.RandomizedResponse.for_epsilon(epsilon)
    if name == "laplace-threshold":
        return randomizers.Thresholded(randomizers.LaplaceNoise.for_epsilon(epsilon, sensitivity=1.0))
    noise = randomizers.GaussianNoise.classical(epsilon, delta, sensitivity=1.0)
    return noise if name == "gaussian" else randomizers.Thresholded(noise)


@cache
def shuffled(name: RandomizerName, epsilon: float, delta: float, agents: int) -> laws.Shuffle:
    """Answers of so many agents on one pair, in random order."""
    return randomizers.Shuffler(local_randomizer(name, epsilon, delta)).of(agents)


@cache
def worst_inputs(
    name: RandomizerName, epsilon: float, delta: float, agents: int, claimed: float
) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """Inputs with the largest divergence at the claimed ϵ, and those that need the largest ϵ at δ."""
    shuffle = shuffled(name, epsilon, delta, agents)
    found = [shuffle.worst(claimed), shuffle.epsilon(delta)]
    return tuple(dict.fromkeys((loss.data, loss.neighbour) for loss in found))


class _Answers(dpaudit.Mechanism):
    """Parameters of everything that is seen of the answers."""

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the budget of one agent")
    delta: float = dpaudit.parameter(1e-4, above=0.0, maximum=1.0, doc="δ")
    randomizer: RandomizerName = dpaudit.parameter("gaussian-threshold", doc="what one answer goes through")


class Report(_Answers):
    """What one agent sends: its K answers; which pairs it was asked about is no secret and depends on no ranking."""

    queries: int = dpaudit.parameter(1, minimum=1, doc="K")

    @property
    def response(self) -> Any:
        """Gaussian noise of standard deviation K sqrt(2 ln(1.25 / δ)) / ϵ in Algorithm 1."""
        return local_randomizer(self.randomizer, self.epsilon / self.queries, self.delta)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        return self.response.randomize(np.broadcast_to(data, (size, self.queries)), rng)

    def law(self, data: Any) -> dpaudit.ProductLaw:
        one, other = self.response.law(1), self.response.law(0)
        return dpaudit.ProductLaw([one if answer else other for answer in data])

    def neighbours(self) -> dpaudit.Neighbouring:
        return dpaudit.Neighbouring(
            relation="any-two-inputs",
            pairs=[(np.zeros(self.queries, dtype=int), np.ones(self.queries, dtype=int))],
            complete=True,
            scope=(
                f"any two rankings; a ranking and its reverse answer all {self.queries} questions differently, and the "
                "report of two that differ in fewer answers follows from theirs by drawing the others anew"
            ),
        )


class ShuffledAnswers(_Answers):
    """What the curator receives about one pair of alternatives: its answers in random order.

    Inputs are (agents who prefer the second alternative, agents who prefer the first). Of two possible answers, what
    is seen is how many say that the first is preferred.
    """

    agents: int = dpaudit.parameter(16, minimum=1, doc="n', agents who are asked about the pair")
    claimed: float = dpaudit.parameter(0.25, minimum=0.0, doc="epsilon at which the worst inputs are wanted")

    @property
    def response(self) -> Any:
        return local_randomizer(self.randomizer, self.epsilon, self.delta)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        no, yes = (int(count) for count in data)
        if self.randomizer == "gaussian":
            values = np.broadcast_to(np.repeat([0, 1], [no, yes]), (size, self.agents))
            return np.sort(self.response.randomize(values, rng), axis=1)
        keep = np.exp([self.response.law(bit).log_probabilities[1] for bit in (0, 1)])
        return rng.binomial(no, keep[0], size) + rng.binomial(yes, keep[1], size)

    def law(self, data: Any) -> dpaudit.FiniteLaw | None:
        if self.randomizer == "gaussian":
            return None
        return shuffled(self.randomizer, self.epsilon, self.delta, self.agents).law(data)

    def log_likelihood(self, outputs: np.ndarray, data: Any) -> np.ndarray | None:
        """Of real answers in random order: their mean likelihood over all ways to say whose is whose."""
        if self.randomizer != "gaussian":
            return None
        log_ratios = (np.asarray(outputs, dtype=float) - 0.5) / self.response.scale**2
        yes = int(data[1])
        # Log of the elementary symmetric polynomials of the ratios, one answer after the other.
        table = np.full((len(log_ratios), yes + 1), -np.inf)
        table[:, 0] = 0.0
        for column in log_ratios.T:
            table[:, 1:] = np.logaddexp(table[:, 1:], table[:, :-1] + column[:, None])
        return np.asarray(table[:, yes] - math.log(math.comb(self.agents, yes)))

    def neighbours(self) -> dpaudit.Neighbouring:
        if self.randomizer == "gaussian":
            others = self.agents - 1
            return dpaudit.Neighbouring(
                relation="substitution",
                pairs=[((k + 1, others - k), (k, others - k + 1)) for k in sorted({0, others // 2, others})],
                complete=False,
                scope=(
                    f"(agents against, agents for) one preference, {self.agents} in all, one of them changed; the "
                    "others all alike, or halved"
                ),
            )
        return dpaudit.Neighbouring(
            relation="substitution",
            pairs=worst_inputs(self.randomizer, self.epsilon, self.delta, self.agents, self.claimed),
            complete=True,
            scope=(
                f"all inputs (agents against, agents for) of the {self.agents} agents on one pair of alternatives, one "
                "of them changed: those with the largest delta, and those with the largest epsilon, of all"
            ),
        )


class AnswersOfDrawnAgents(_Answers):
    """What the curator receives about the pair that one agent was asked about, when every agent draws its pair.

    Inputs are (the preference of that agent, the preference of all others), 0 or 1. Which agents were asked about the
    pair is public: the output is how many others were, and how many of all answers are 1.
    """

    agents: int = dpaudit.parameter(100, minimum=1, doc="n")
    pairs: int = dpaudit.parameter(6, minimum=1, doc="C(m, 2)")
    claimed: float = dpaudit.parameter(0.25, minimum=0.0, doc="epsilon at which the worst inputs are wanted")

    def others(self) -> tuple[np.ndarray, np.ndarray]:
        """Possible numbers of other agents on the pair, and their log-probabilities: binomial(n - 1, 1 / C(m, 2))."""
        from scipy.stats import binom

        numbers = np.arange(self.agents)
        log_weights = binom.logpmf(numbers, self.agents - 1, 1 / self.pairs)
        present = log_weights > math.log(NEGLIGIBLE)
        return numbers[present], log_weights[present]

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        keep = np.exp(
            [local_randomizer(self.randomizer, self.epsilon, self.delta).law(bit).log_probabilities[1] for bit in data]
        )
        others = rng.binomial(self.agents - 1, 1 / self.pairs, size)
        ones = rng.binomial(1, keep[0], size) + rng.binomial(others, keep[1])
        return np.stack([others, ones], axis=1)

    def law(self, data: Any) -> dpaudit.PublicMixtureLaw:
        own, other = (int(bit) for bit in data)
        numbers, log_weights = self.others()
        parts = []
        for number in numbers.tolist():
            counts = [0, 0]
            counts[own] += 1
            counts[other] += number
            parts.append(self._shuffled(number).law(counts))
        return dpaudit.PublicMixtureLaw(numbers.tolist(), log_weights, parts)

    def _shuffled(self, others: int) -> laws.Shuffle:
        return shuffled(self.randomizer, self.epsilon, self.delta, others + 1)

    def delta_at_most(self, epsilon: float) -> float:
        """Bound for all inputs: the largest delta for every number of agents on the pair, in the mean."""
        numbers, log_weights = self.others()
        return math.fsum(
            math.exp(weight) * self._shuffled(number).worst(epsilon).delta
            for number, weight in zip(numbers.tolist(), log_weights, strict=True)
        )

    def neighbours(self) -> dpaudit.Neighbouring:
        bound = self.delta_at_most(self.claimed)
        return dpaudit.Neighbouring(
            relation="substitution",
            pairs=[((0, others), (1, others)) for others in (0, 1)],
            complete=bound <= self.delta,
            scope=(
                f"one of {self.agents} agents reverses its ranking, all others have one ranking, and the number of "
                f"agents on a pair is drawn; for any rankings of the others delta is at most {bound:.6g}"
            ),
        )


class DDPHelnaksort(_Answers):
    """DDP-Helnaksort: Gaussian noise, a threshold, a shuffler for every pair, hierarchical rank aggregation."""

    queries: int = dpaudit.parameter(1, minimum=1, doc="K")
    alternatives: int = dpaudit.parameter(4, minimum=2, doc="m")
    agents: int = dpaudit.parameter(100, minimum=1, doc="n")
    agents_per_pair: int | None = dpaudit.parameter(None, minimum=1, doc="n'; n / C(m, 2) where not given")
    central_epsilon: float | None = dpaudit.parameter(
        None, minimum=0.0, doc="the other way round: ϵ is this plus ln n', whatever `epsilon` is"
    )
    shuffle: bool = dpaudit.parameter(True, doc="whether there is a shuffler")

    name = "ddp-helnaksort"
    source = PAPER
    trust = (
        "Agents trust a shuffler, which sees who sends what, and nobody else; the curator sees the answers about every "
        "pair in random order."
    )
    errata = (
        dpaudit.Erratum(
            where=f"{PAPER}, Theorem 2.1",
            printed="a randomizer that is (ϵ + ln n, δ)-LDP gives a shuffled protocol that is (ϵ, δ)-DP",
            meant="a shuffled protocol of single messages that is (ϵ, δ)-DP has a randomizer that is (ϵ + ln n, δ)-LDP",
            reason=f"{CHEU}, which is cited for it, proves the latter; randomized response refutes the former",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Equation 2",
            printed="δ on the left side",
            meant="σ, the standard deviation of the noise",
            reason="the right side is the classical calibration of the Gaussian mechanism with the budget ϵ/K",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Definition 2",
            printed="Pr[M(x = y)] for every output y",
            meant="Pr[M(x) in Y] for every set Y of outputs",
            reason="with δ > 0 a bound for single outputs does not add up to one for sets of them",
        ),
    )

    def validate(self) -> None:
        if self.queries > self.pairs:
            raise dpaudit.ParameterError(
                f"{self.name}: parameter 'queries' must be at most {self.pairs}, the number of pairs of "
                f"{self.alternatives} alternatives, got {self.queries}"
            )
        if not self.local_epsilon > 0:
            raise dpaudit.ParameterError(
                f"{self.name}: central_epsilon + ln n' must be above 0, got {self.local_epsilon:g}; "
                "raise 'central_epsilon' or 'agents_per_pair'"
            )

    @property
    def pairs(self) -> int:
        """Number of pairs of alternatives."""
        return math.comb(self.alternatives, 2)

    @property
    def share(self) -> float:
        """n', the average number of agents per pair at K = 1."""
        return self.agents / self.pairs if self.agents_per_pair is None else self.agents_per_pair

    @property
    def on_a_pair(self) -> int:
        """n' as a number of agents."""
        return max(1, math.floor(self.share))

    @property
    def local_epsilon(self) -> float:
        """ϵ of one agent."""
        return self.epsilon if self.central_epsilon is None else self.central_epsilon + math.log(self.share)

    @property
    def amplified(self) -> float:
        """ϵ - ln n', what Theorem 3.1 says is left."""
        return self.local_epsilon - math.log(self.share) if self.central_epsilon is None else self.central_epsilon

    @property
    def report(self) -> Report:
        """What one agent sends."""
        return Report(epsilon=self.local_epsilon, delta=self.delta, queries=self.queries, randomizer=self.randomizer)

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        shared: dict[str, Any] = {
            "epsilon": self.local_epsilon,
            "delta": self.delta,
            "randomizer": self.randomizer,
            "claimed": max(0.0, self.amplified),
        }
        # Without a shuffler the answers of the others, who are known by name, say nothing of one agent.
        return {
            "output": self,
            "report": self.report,
            "received": ShuffledAnswers(agents=self.on_a_pair, **shared) if self.shuffle else self.report,
            "received-by-lot": (
                AnswersOfDrawnAgents(agents=self.agents, pairs=self.pairs, **shared) if self.shuffle else self.report
            ),
        }

    # The claims about privacy.

    def local_delta(self) -> float:
        """Exact δ of one answer at the ϵ of one agent."""
        response = local_randomizer(self.randomizer, self.local_epsilon, self.delta)
        return dpaudit.compare(response.law(1), response.law(0)).delta(self.local_epsilon).upper or 0.0

    def _no_amplification(self) -> str:
        if self.queries != 1:
            return f"the claim is about K = 1, got K = {self.queries}"
        if self.amplified < 0:
            return (
                f"ϵ - ln n' = {self.amplified:.4g} is negative, which no output of two possible values satisfies "
                "with δ < 1 - e^ϵ"
            )
        return ""

    def claims(self) -> Sequence[dpaudit.Claim]:
        amplified = {"epsilon": max(0.0, self.amplified), "delta": self.delta}
        inapplicable = self._no_amplification()
        premise = inapplicable or (
            f"one answer is not (ϵ, δ)-LDP to begin with: its δ is {self.local_delta():.4g}"
            if self.local_delta() > self.delta
            else ""
        )
        setting = f"ϵ = {self.local_epsilon:.4g} of one agent, {self.on_a_pair} agents on a pair, {self.randomizer}"
        return [
            dpaudit.PrivacyClaim(
                id="song2022.theorem2.1",
                source=f"{PAPER}, Theorem 2.1",
                statement="Shuffled reports of n agents by any (ϵ + ln n, δ)-LDP randomizer are (ϵ, δ)-DP.",
                view="received",
                inapplicable=premise,
                **amplified,
            ),
            dpaudit.LemmaClaim(
                id="song2022.theorem2.1-meant",
                source=f"{CHEU}, which {PAPER} cites",
                statement="Where shuffled reports of n agents are (ϵ, δ)-DP, the randomizer is (ϵ + ln n, δ)-LDP.",
                margin=self._converse_margin,
                instances=[{}],
                complete=True,
                explain=self._explain_converse,
                tolerance=1e-9,
                scope=f"this randomizer at this δ; {setting}",
                inapplicable="real answers in random order have no exact law here" if self._real else "",
            ),
            dpaudit.PrivacyClaim(
                id="song2022.theorem3.1-local",
                source=f"{PAPER}, Theorem 3.1",
                statement="The K answers of one agent, with noise for ϵ/K and δ each, are (ϵ, δ)-LDP.",
                epsilon=self.local_epsilon,
                delta=self.delta,
                view="report",
            ),
            dpaudit.PrivacyClaim(
                id="song2022.theorem3.1-central",
                source=f"{PAPER}, Theorem 3.1",
                statement="At K = 1 the shuffled answers of n' agents about a pair are (ϵ - ln n', δ)-DP.",
                view="received",
                inapplicable=inapplicable,
                **amplified,
            ),
            dpaudit.PrivacyClaim(
                id="song2022.theorem3.1-central-by-lot",
                source=f"{PAPER}, Theorem 3.1",
                statement=(
                    "At K = 1 the shuffled answers are (ϵ - ln n', δ)-DP with n' = n / C(m, 2), when every agent draws "
                    "its pair."
                ),
                view="received-by-lot",
                inapplicable=inapplicable
                or ("real answers in random order have no exact law here" if self._real else ""),
                **amplified,
            ),
        ]

    @property
    def _real(self) -> bool:
        return self.randomizer == "gaussian"

    def _converse_margin(self) -> float:
        numbers = self._explain_converse()
        return numbers["claimed"] - numbers["actual"]

    def _explain_converse(self) -> Mapping[str, float]:
        shuffle = shuffled(self.randomizer, self.local_epsilon, self.delta, self.on_a_pair)
        central = shuffle.epsilon(self.delta).epsilon
        local = dpaudit.compare(shuffle.reports[1], shuffle.reports[0]).epsilon(self.delta).upper or 0.0
        return {
            "epsilon of the shuffled reports": central,
            "claimed": central + math.log(self.on_a_pair),
            "actual": local,
        }
