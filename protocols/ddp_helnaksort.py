"""DDP-Helnaksort: noisy pairwise answers, shuffled pair by pair, and a hierarchical rank aggregation.

Source: Song, Lan, Li, Li, "Distributed differentially private ranking aggregation", PAKDD 2022.

Symbols: epsilon is the paper's ϵ of one agent (local), central_epsilon the ϵ that is left after shuffling, delta δ,
queries K, alternatives m, agents n, agents_per_pair n' = n / C(m, 2), and the budget of one answer ϵ_k = ϵ/K.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import laws, randomizers, rankings

PAPER = "Song, Lan, Li, Li 2022"
CHEU = "Cheu, Smith, Ullman, Zeber, Zhilyaev 2019, on protocols of single messages"
NEGLIGIBLE = 1e-25
REPEATS = 8

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


@cache
def worst_delta(name: RandomizerName, epsilon: float, delta: float, agents: int, claimed: float) -> float:
    """Largest divergence at the claimed ϵ, over all inputs."""
    return shuffled(name, epsilon, delta, agents).worst(claimed).delta


class _Answers(dpaudit.Mechanism):
    """Parameters of everything that is seen of the answers."""

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the budget of one agent")
    delta: float = dpaudit.parameter(1e-4, above=0.0, maximum=1.0, doc="δ")
    randomizer: RandomizerName = dpaudit.parameter("gaussian-threshold", doc="what one answer goes through")


class Report(_Answers):
    """What one agent sends: its K answers; which pairs it was asked about is no secret and depends on no ranking."""

    notation = (
        "an input holds the agent's true answers, 1 where the first of the pair is preferred; an output holds "
        "the noisy ones"
    )

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

    notation = (
        "an input is how many agents prefer the second of the pair, and how many the first; the output is how "
        "many of the shuffled answers say that the first is preferred"
    )

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
                "of them changed: those with the largest delta, and those with the largest epsilon, of all; who was "
                "asked about which pair is public"
            ),
        )


class AnswersOfDrawnAgents(_Answers):
    """What the curator receives about the pair that one agent was asked about, when every agent draws its pair.

    Inputs are (the preference of that agent, the preference of all others), 0 or 1. Which agents were asked about the
    pair is public: the output is how many others were, and how many of all answers are 1.
    """

    notation = (
        "an input is the preference of one agent and that of all others, 0 or 1; an output is how many others "
        "were asked about that agent's pair, and how many of all answers are 1"
    )

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
            math.exp(weight) * worst_delta(self.randomizer, self.epsilon, self.delta, number + 1, epsilon)
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
                f"agents on a pair is drawn, and then public, with who was asked; for any rankings of the others delta "
                f"is at most {bound:.6g}"
            ),
        )


class AnswersOfSecretDraws(ShuffledAnswers):
    """What the curator receives of all pairs when every agent draws its pair, and nobody else knows which.

    A report is (pair, noisy answer), and the multiset of the reports of all agents is seen. Inputs are (agents with the
    reverse of a ranking, agents with that ranking), and what is seen is how many answers, of all pairs, agree with the
    ranking. That says all that the multiset says: whether an answer agrees depends on no pair, and which pairs were
    drawn depends on no ranking. So these reports are the answers of n agents, not n', on one pair, however pairs are
    drawn, as long as every agent draws by the same rule.
    """

    notation = (
        "an input is how many agents hold the reverse of a ranking, and how many that ranking; the output is how many "
        "of all the shuffled answers agree with it"
    )

    agents: int = dpaudit.parameter(100, minimum=1, doc="n")

    def delta_at_most(self, epsilon: float) -> float:
        """Bound for all rankings: the privacy blanket.

        Let a noisy answer be false with probability q, and be t = 1 - 2q. Whatever an agent's ranking, with probability
        2q its report is as good as drawn uniformly from all 2 C(m, 2), else it is the true answer on a uniform pair.
        Who is told which of the other agents sent what of the latter kind knows more, and is left with the report of
        one agent among M uniform ones, M binomial(n - 1, 2q). There delta is the mean of (L_0 + ... + L_M)_+ / (M + 1),
        where L_i, of M + 1 uniform reports, is the likelihood of report i under the one ranking less e^ϵ times that
        under the other, both relative to a uniform report: 1 - e^ϵ ± t (e^ϵ + 1) on a pair that they order differently,
        1 - e^ϵ ± t (e^ϵ - 1) on another, either sign with probability 1/2. The former are the latter with a larger
        spread, so larger in the convex order, and the mean is largest where the rankings order all pairs differently.
        Then it does not depend on the pairs, and is that of one bit among M fair coins.
        """
        one = shuffled(self.randomizer, self.epsilon, self.delta, 1).law((0, 1))
        return laws.blanket_delta(epsilon, one.log_probabilities[1] - one.log_probabilities[0], self.agents)

    def neighbours(self) -> dpaudit.Neighbouring:
        bound = self.delta_at_most(self.claimed)
        return dpaudit.Neighbouring(
            relation="substitution",
            pairs=worst_inputs(self.randomizer, self.epsilon, self.delta, self.agents, self.claimed),
            complete=bound <= self.delta,
            scope=(
                f"(agents with the reverse of a ranking, agents with the ranking), {self.agents} in all, one of them "
                "reversed: of such inputs those with the largest delta, and with the largest epsilon; nobody else "
                f"knows which pair an agent drew; for any rankings delta is at most {bound:.6g}"
            ),
        )


class _Voters(dpaudit.Mechanism):
    """Agents with rankings: of the Mallows model, or drawn from the data."""

    alternatives: int = dpaudit.parameter(4, minimum=2, doc="m")
    agents: int = dpaudit.parameter(100, minimum=1, doc="n")
    dispersion: float = dpaudit.parameter(0.25, minimum=0.0, doc="θ of the Mallows model, phi = exp(-θ)")
    profile: rankings.Profile | None = dpaudit.parameter(None, doc="real rankings (--data), not the Mallows model")
    drawn: int = dpaudit.parameter(100, minimum=1, doc="agents drawn from the data in every run, at most all")

    synthetic = ("dispersion",)

    @property
    def pairs(self) -> int:
        """Number of pairs of alternatives."""
        return math.comb(self.alternatives, 2)

    @property
    def voters(self) -> int:
        """Agents in one run of a measurement."""
        return self.agents if self.profile is None else min(self.drawn, self.agents)

    def electorates(self, runs: int, rng: np.random.Generator) -> np.ndarray:
        """Rankings of all agents in many runs, shape (runs, n, m), under new labels in every run.

        New labels, so that the order of the labels is no help to an aggregation that ignores its input.
        """
        if self.profile is None:
            model = rankings.Mallows(np.arange(self.alternatives), math.exp(-self.dispersion))
            orders = model.sample(runs * self.agents, rng).reshape(runs, self.agents, -1)
        else:
            everybody = self.profile.rankings()
            chosen = rankings.random_subsets(len(everybody), self.voters, runs, rng)
            orders = everybody[chosen]
        labels = rng.permuted(np.tile(np.arange(self.alternatives), (runs, 1)), axis=1)
        return np.take_along_axis(labels[:, None, :], orders, axis=2)

    def where(self) -> str:
        """The agents in words."""
        if self.profile is not None:
            return f"{self.voters} agents drawn from the data in every run"
        return f"Mallows model with phi = {math.exp(-self.dispersion):.4g}, n = {self.agents}, m = {self.alternatives}"


def truths(orders: np.ndarray) -> np.ndarray:
    """Whether every agent prefers the first alternative of every pair: shape (runs, n, C(m, 2))."""
    runs, agents, m = orders.shape
    answers = rankings.answers(orders.reshape(runs * agents, m), rankings.alternative_pairs(m))
    return answers.reshape(runs, agents, -1)


def true_margins(preferred: np.ndarray) -> np.ndarray:
    """Margins (runs, m, m) of the true answers to all questions."""
    margins = 2.0 * preferred.sum(axis=1) - preferred.shape[1]
    return rankings.margin_matrix(margins, _alternatives(preferred.shape[2]))


def cast(preferred: np.ndarray, response: Any, rng: np.random.Generator) -> np.ndarray:
    """Randomized answer of every agent to every question, as a vote of +1 or -1: shape (runs, n, C(m, 2)).

    Protocols ask for some of them, none for one twice, and so may be compared on the same votes.
    """
    votes: np.ndarray = 2.0 * response.randomize(preferred, rng) - 1
    return votes


def collect(votes: np.ndarray, queries: int, rng: np.random.Generator) -> np.ndarray:
    """Algorithm 1 and the tally: K random questions for every agent; margins of the answers, (runs, m, m).

    The order in which the answers arrive plays no part in it.
    """
    runs, agents, pairs = votes.shape
    asked = rankings.random_subsets(pairs, queries, runs * agents, rng).reshape(runs, agents, queries)
    given = np.take_along_axis(votes, asked, axis=2)
    cells = asked + pairs * np.arange(runs)[:, None, None]
    tally = rankings.pair_tally(cells, given, runs * pairs).reshape(runs, pairs)
    return rankings.margin_matrix(tally, _alternatives(pairs))


def _alternatives(pairs: int) -> int:
    return (1 + math.isqrt(8 * pairs + 1)) // 2


def quicksort(votes: np.ndarray, queries: int, rng: np.random.Generator) -> np.ndarray:
    """LDP-QuickSort: QuickSort that asks the agents for each of its comparisons when it makes it; rankings (runs, m).

    An agent answers a comparison with a probability of K over the comparisons that QuickSort makes in the mean, until
    it has answered K times.
    """
    runs, agents, pairs = votes.shape
    m = _alternatives(pairs)
    chance = min(1.0, queries / rankings.quicksort_expected_comparisons(m))
    left = np.full((runs, agents), queries)
    pivots = rng.permuted(np.tile(np.arange(m), (runs, 1)), axis=1)
    start = np.zeros((runs, m), dtype=int)
    run = np.arange(runs)
    for pivot in pivots.T:
        base = start[run, pivot]
        block = start == base[:, None]
        block[run, pivot] = False
        margins = np.zeros((runs, m))
        for item in range(m):
            compared = np.flatnonzero(block[:, item])
            against = pivot[compared]
            answering = (left[compared] > 0) & (rng.random((len(compared), agents)) < chance)
            question = rankings.pair_index(np.minimum(item, against), np.maximum(item, against), m)
            answers = votes[compared, :, question] * np.where(item < against, 1.0, -1.0)[:, None]
            margins[compared, item] = np.where(answering, answers, 0.0).sum(axis=1)
            left[compared] -= answering
        before = block & ((margins > 0) | ((margins == 0) & (rng.random((runs, m)) < 0.5)))
        place = base + np.count_nonzero(before, axis=1)
        start = np.where(block & ~before, place[:, None] + 1, start)
        start[run, pivot] = place
    return rankings.positions(start)


class DDPHelnaksort(_Answers, _Voters):
    """DDP-Helnaksort: Gaussian noise, a threshold, a shuffler for every pair, hierarchical rank aggregation."""

    queries: int = dpaudit.parameter(1, minimum=1, doc="K")
    agents_per_pair: int | None = dpaudit.parameter(None, minimum=1, doc="n'; n / C(m, 2) where not given")
    central_epsilon: float | None = dpaudit.parameter(
        None, minimum=0.0, doc="the other way round: `epsilon` becomes this plus ln n'"
    )
    shuffle: bool = dpaudit.parameter(True, doc="whether there is a shuffler")

    name = "ddp-helnaksort"
    source = PAPER
    model = "shuffle"
    trust = (
        "Agents trust a shuffler, which sees who sends what, and nobody else; the curator sees the answers about every "
        "pair in random order. Whether it knows who was asked about which pair is left open, and each is audited."
    )
    errata = (
        dpaudit.Erratum(
            where=f"{PAPER}, Theorem 2.1",
            printed="a randomizer that is (ϵ + ln n, δ)-LDP gives a shuffled protocol that is (ϵ, δ)-DP",
            meant="a shuffled protocol of single messages that is (ϵ, δ)-DP has a randomizer that is (ϵ + ln n, δ)-LDP",
            reason=f"{CHEU}, is cited for it and proves the latter; randomized response refutes the former",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Algorithm 1, line 3, and Section 3.2",
            printed="an agent's preference on a randomly selected pair, that is being queried",
            meant="left open who selects the pair, and who knows it; there are claims for known and for secret pairs",
            reason="the proof of Theorem 3.1 hides an answer among the n' on its pair, which fits pairs that are known",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Equation 2",
            printed="δ on the left side",
            meant="σ, the standard deviation of the noise",
            reason="the right side is the classical calibration of the Gaussian mechanism with the budget ϵ/K",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Algorithm 2, lines 10 to 12",
            printed="L(j) += PPR(i, j): an alternative scores for those that are preferred to it",
            meant="L(j) += PPR(j, i): it scores for those that it is preferred to",
            reason="Section 2.1.2 takes row sums, and line 19 ranks by levels, the highest first",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Equation 1",
            printed="C_aj sums over j in [M]",
            meant="over the other alternatives i of the level",
            reason="j is the alternative whose score it is",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Algorithm 2, lines 6 to 9, and Section 2.1.2",
            printed="PCM divides by the number of answers on a pair; PPR compares M(i, j) with M(i, j)",
            meant="PPR compares M(i, j) with M(j, i), within the level, and a pair without answers is a tie",
            reason="a pair may get no answer, and M(i, j) = 1/2 is the paper's value for equal preference",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Algorithm 2, lines 13 to 15",
            printed="the winner of C_aj, with no word on several of them",
            meant="one of them, drawn uniformly",
            reason="any rule by label would prefer some alternatives",
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
        if self.local_epsilon > 0:
            # One setting, however it is given, is one cell of an audit.
            object.__setattr__(self, "epsilon", self.local_epsilon)
        else:
            raise dpaudit.ParameterError(
                f"{self.name}: central_epsilon + ln n' must be above 0, got {self.local_epsilon:g}; "
                "raise 'central_epsilon' or 'agents_per_pair'"
            )

    @property
    def share(self) -> float:
        """n', the average number of agents per pair at K = 1."""
        return self.voters / self.pairs if self.agents_per_pair is None else self.agents_per_pair

    @property
    def on_a_pair(self) -> int:
        """Whole part of n'."""
        return max(1, math.floor(self.share))

    @property
    def everybody(self) -> int:
        """n, the agents on all pairs."""
        return self.voters if self.agents_per_pair is None else self.agents_per_pair * self.pairs

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
                AnswersOfDrawnAgents(agents=self.voters, pairs=self.pairs, **shared) if self.shuffle else self.report
            ),
            "received-of-secret-draws": (
                AnswersOfSecretDraws(agents=self.everybody, **shared) if self.shuffle else self.report
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
            meaning = (
                "no mechanism satisfies it, since all outputs together have probability 1 on every input"
                if self.delta < -math.expm1(self.amplified)
                else "and differential privacy is defined for ϵ >= 0"
            )
            return f"ϵ - ln n' = {self.amplified:.4g} is negative: {meaning}"
        return ""

    def claims(self) -> Sequence[dpaudit.Claim]:
        amplified: dict[str, Any] = {"epsilon": max(0.0, self.amplified), "delta": self.delta}
        inapplicable = self._no_amplification()
        premise = inapplicable or (
            f"one answer is not (ϵ, δ)-LDP to begin with: its δ is {self.local_delta():.4g}"
            if self.local_delta() > self.delta
            else ""
        )
        unlisted = "real answers in random order have no exact law here" if self._real else ""
        given = "" if self.agents_per_pair is None else "the number of agents on a pair is given, not drawn"
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
                source=f"{CHEU}; cited by {PAPER}",
                statement="Where shuffled reports of n agents are (ϵ, δ)-DP, the randomizer is (ϵ + ln n, δ)-LDP.",
                margin=self._converse_margin,
                instances=[{}],
                complete=True,
                explain=self._explain_converse,
                tolerance=1e-9,
                scope=f"this randomizer at this δ; {setting}",
                inapplicable=unlisted,
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
                statement=(
                    "At K = 1 the shuffled answers of n' agents about a pair are (ϵ - ln n', δ)-DP, for a curator who "
                    "knows which agents it asked about the pair."
                ),
                view="received",
                inapplicable=inapplicable,
                **amplified,
            ),
            dpaudit.PrivacyClaim(
                id="song2022.theorem3.1-central-by-lot",
                source=f"{PAPER}, Theorem 3.1",
                statement=(
                    "At K = 1 the shuffled answers are (ϵ - ln n', δ)-DP with n' = n / C(m, 2), when every agent draws "
                    "its pair, for a curator who knows who drew which."
                ),
                view="received-by-lot",
                inapplicable=inapplicable or unlisted or given,
                **amplified,
            ),
            dpaudit.PrivacyClaim(
                id="song2022.theorem3.1-central-secret-draw",
                source=f"{PAPER}, Theorem 3.1",
                statement=(
                    "At K = 1 the shuffled reports (pair, noisy answer) of all n agents are (ϵ - ln n', δ)-DP with "
                    "n' = n / C(m, 2), when every agent draws its pair and nobody else knows which."
                ),
                view="received-of-secret-draws",
                inapplicable=inapplicable or unlisted,
                **amplified,
            ),
            *self._figures(),
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

    # The protocol, and the claims about its figures.

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Aggregate rankings of a profile of shape (n, m), or of a ``Profile``, from ``size`` runs."""
        orders = data.rankings() if isinstance(data, rankings.Profile) else np.asarray(data)
        votes = cast(truths(np.broadcast_to(orders, (size, *orders.shape))), self.report.response, rng)
        return rankings.hierarchical(collect(votes, self.queries, rng), rng)

    def errors(self, preferred: np.ndarray, response: Any, queries: int, rng: np.random.Generator) -> np.ndarray:
        """Average Kendall tau distance of DDP-Helnaksort in every run."""
        received = collect(cast(preferred, response, rng), queries, rng)
        return _mean_distance(lambda margins: rankings.hierarchical(margins, rng), received, preferred)

    def _response(self, epsilon: float, queries: int) -> Any:
        return local_randomizer(self.randomizer, epsilon / queries, self.delta)

    def _figures(self) -> list[dpaudit.Claim]:
        asked = f"K = {self.queries}, {self.where()}"

        def against(competitor: str) -> Callable[[int, np.random.Generator], Mapping[str, np.ndarray]]:
            def measure(runs: int, rng: np.random.Generator) -> Mapping[str, np.ndarray]:
                preferred = truths(self.electorates(runs, rng))
                votes = cast(preferred, self._response(self.local_epsilon, self.queries), rng)
                received = collect(votes, self.queries, rng)
                margins = true_margins(preferred)
                if competitor == "ldp-kwiksort":
                    theirs = _mean_distance(
                        lambda seen: rankings.kwiksort(rankings.comparisons(seen, rng), rng), received, preferred
                    )
                else:
                    order = quicksort(votes, self.queries, rng)
                    theirs = rankings.margin_distance(order, margins, preferred.shape[1])
                ours = _mean_distance(lambda seen: rankings.hierarchical(seen, rng), received, preferred)
                best = rankings.margin_distance(rankings.hierarchical(margins, rng), margins, preferred.shape[1])
                return {"value": ours - theirs, "ddp-helnaksort": ours, competitor: theirs, "without noise": best}

            return measure

        def queries(runs: int, rng: np.random.Generator) -> Mapping[str, np.ndarray]:
            preferred = truths(self.electorates(runs, rng))
            one = self.errors(preferred, self._response(self.local_epsilon, 1), 1, rng)
            many = self.errors(preferred, self._response(self.local_epsilon, self.queries), self.queries, rng)
            return {"value": one - many, "K = 1": one, f"K = {self.queries}": many}

        def shuffling(calibrate: Callable[[], tuple[Any, Any]]) -> Any:
            def measure(runs: int, rng: np.random.Generator) -> Mapping[str, np.ndarray]:
                preferred = truths(self.electorates(runs, rng))
                found = [self.errors(preferred, response, 1, rng) for response in calibrate()]
                return {"value": found[0] - found[1], "with a shuffler": found[0], "without": found[1]}

            return measure

        def budgets(runs: int, rng: np.random.Generator) -> Mapping[str, np.ndarray]:
            preferred = truths(self.electorates(runs, rng))
            half, full = (
                self.errors(preferred, self._response(spent + math.log(self.share), 1), 1, rng)
                for spent in (self._axis / 2, self._axis)
            )
            return {"value": full - half, "at ϵ": full, "at ϵ/2": half}

        only_one = "" if self.queries == 1 else f"the figure is about K = 1, got K = {self.queries}"
        too_few = f"n' = {self.share:.4g} is below 1, so that ϵ + ln n' is below ϵ" if self.share < 1 else ""
        common: dict[str, Any] = {
            "bound": 0.0,
            "runs": 40_000,
            "support": (-1.0, 1.0),
            "beside_support": (0.0, 1.0),
            "on_data": True,
        }
        figure2 = [
            dpaudit.UtilityClaim(
                id=f"song2022.figure2-{competitor.removeprefix('ldp-')}",
                source=f"{PAPER}, Figure 2",
                reproduces="Figure 2",
                statement=f"At equal local ϵ DDP-Helnaksort is at least as near to the agents as {words}.",
                measure=against(competitor),
                quantity=f"average Kendall tau distance, DDP-Helnaksort less {words}",
                scope=f"local ϵ = {self.local_epsilon:.4g}, {asked}",
                **common,
            )
            for competitor, words in (("ldp-kwiksort", "LDP-KwikSort"), ("ldp-quicksort", "LDP-QuickSort"))
        ]
        return [
            *figure2,
            dpaudit.UtilityClaim(
                id="song2022.figure3",
                source=f"{PAPER}, Figure 3",
                reproduces="Figure 3",
                statement="DDP-Helnaksort is nearest to the agents at K = 1.",
                measure=queries,
                quantity=f"average Kendall tau distance, K = 1 less K = {self.queries}",
                scope=f"local ϵ = {self.local_epsilon:.4g}, {asked}",
                inapplicable="the figure compares K = 1 with larger K" if self.queries == 1 else "",
                **common,
            ),
            dpaudit.UtilityClaim(
                id="song2022.figure4",
                source=f"{PAPER}, Figure 4",
                reproduces="Figure 4",
                statement="At equal ϵ, local ϵ + ln n' with a shuffler and ϵ without, the shuffler helps.",
                measure=shuffling(self._as_claimed),
                quantity="average Kendall tau distance, with a shuffler less without",
                scope=f"ϵ = {self._axis:.4g}, with a shuffler n' = {self.share:.4g} times e^ϵ, {asked}",
                inapplicable=only_one or too_few,
                **common,
            ),
            dpaudit.UtilityClaim(
                id="song2022.figure4-budget",
                source=f"{PAPER}, Section 4.2.3 and Figure 4",
                reproduces="Figure 4",
                statement="With a shuffler the distance at ϵ/2 is at least that at ϵ.",
                measure=budgets,
                quantity="average Kendall tau distance with a shuffler, at ϵ less at ϵ/2",
                scope=f"ϵ = {self._axis:.4g}, n' = {self.share:.4g}, {asked}",
                inapplicable=only_one or too_few,
                **common,
            ),
            dpaudit.LemmaClaim(
                id="song2022.figure4-noise",
                source=f"{PAPER}, Section 4.2.3 and Figure 4",
                statement="At equal ϵ an answer carries no more noise with the shuffler than without.",
                margin=lambda: math.log(self.share),
                instances=[{}],
                complete=True,
                explain=lambda: {"actual": self._axis, "claimed": self._axis + math.log(self.share)},
                scope=f"local ϵ (claimed) against the ϵ without a shuffler (actual); n' = {self.share:.4g}",
            ),
            dpaudit.UtilityClaim(
                id="song2022.figure4-exact",
                source=f"{PAPER}, Figure 4, both sides as truthful as (ϵ, δ)-DP allows",
                statement="At equal and exact (ϵ, δ) the shuffler helps.",
                measure=shuffling(self._as_exact),
                quantity="average Kendall tau distance, with a shuffler less without",
                scope=f"ϵ = {self._axis:.4g}, δ = {self.delta:g}, randomized response, {asked}",
                inapplicable=only_one,
                **common,
            ),
        ]

    @property
    def _axis(self) -> float:
        """The ϵ on the axis of Figure 4."""
        return self.epsilon if self.central_epsilon is None else self.central_epsilon

    def _as_claimed(self) -> tuple[Any, Any]:
        with_shuffler = max(self._axis + math.log(self.share), 1e-6)
        return self._response(with_shuffler, 1), self._response(self._axis, 1)

    def _as_exact(self) -> tuple[Any, Any]:
        """The most truthful binary randomizers that are (ϵ, δ)-DP: after shuffling n' answers, and alone."""
        keep = (math.exp(self._axis) + self.delta) / (math.exp(self._axis) + 1)
        alone = randomizers.RandomizedResponse(keep)
        return randomizers.RandomizedResponse(most_truthful(self.on_a_pair, self._axis, self.delta)), alone


def _mean_distance(
    aggregate: Callable[[np.ndarray], np.ndarray], received: np.ndarray, preferred: np.ndarray
) -> np.ndarray:
    """Average Kendall tau distance in every run, in the mean over several ways to draw pivots and break ties."""
    orders = aggregate(np.repeat(received, REPEATS, axis=0))
    margins = np.repeat(true_margins(preferred), REPEATS, axis=0)
    distances = rankings.margin_distance(orders, margins, preferred.shape[1])
    return np.asarray(distances.reshape(-1, REPEATS).mean(axis=1))


@cache
def most_truthful(agents: int, epsilon: float, delta: float) -> float:
    """Largest probability of a true answer at which so many shuffled answers are (ϵ, δ)-DP, to 1e-9."""
    low, high = 0.5, 1.0
    while high - low > 1e-9:
        keep = (low + high) / 2
        shuffle = randomizers.Shuffler(randomizers.RandomizedResponse(keep)).of(agents)
        low, high = (keep, high) if shuffle.worst(epsilon).delta <= delta else (low, keep)
    return low


class LDPQuickSort(_Answers, _Voters):
    """LDP-QuickSort, the paper's second baseline: QuickSort that asks the agents when it compares."""

    queries: int = dpaudit.parameter(1, minimum=1, doc="K, answers of one agent")

    name = "ldp-quicksort"
    source = f"{PAPER}, Section 4.1.2"
    model = "local"
    trust = "Nobody is trusted: every agent randomizes its own answers, and the curator sees only those."
    errata = (
        dpaudit.Erratum(
            where=f"{PAPER}, Section 4.1.2",
            printed="K is the number of answers of an agent, and comparisons are asked for when QuickSort makes them",
            meant="left open who answers which; here an agent answers each with one probability, until it has K times",
            reason="how many comparisons there will be is not known when they are asked for",
        ),
    )

    @property
    def report(self) -> Report:
        return Report(epsilon=self.epsilon, delta=self.delta, queries=self.queries, randomizer=self.randomizer)

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        return {"output": self, "report": self.report}

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        orders = data.rankings() if isinstance(data, rankings.Profile) else np.asarray(data)
        votes = cast(truths(np.broadcast_to(orders, (size, *orders.shape))), self.report.response, rng)
        return quicksort(votes, self.queries, rng)

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [
            dpaudit.PrivacyClaim(
                id="song2022.ldp-quicksort",
                source=f"{PAPER}, Section 4.1.2",
                statement="The K answers of one agent to LDP-QuickSort, with noise for ϵ/K and δ each, are (ϵ, δ)-LDP.",
                epsilon=self.epsilon,
                delta=self.delta,
                view="report",
            )
        ]
