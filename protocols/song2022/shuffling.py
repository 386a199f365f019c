"""Shuffling (Section 3.2): what the curator receives, by who knows which pair an agent was asked about."""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

import dpaudit
from dpaudit import laws, randomizers

from .collection import Answers, RandomizerName, local_randomizer

NEGLIGIBLE = 1e-25
"""Numbers of agents on a pair that are less likely than this are left out of the law."""


@cache
def shuffled(name: RandomizerName, epsilon: float, delta: float, agents: int) -> laws.Shuffle:
    """Answers of so many agents on one pair, in random order."""
    return randomizers.Shuffler(local_randomizer(name, epsilon, delta)).of(agents)


@cache
def worst_inputs(
    name: RandomizerName, epsilon: float, delta: float, agents: int, claimed: float
) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """Inputs with the largest divergence at the claimed ϵ, in either direction, and those that need the largest ϵ at δ.

    For ϵ < 0 they are those at -ϵ, the other way round: the divergence is 1 - e^ϵ more than e^ϵ times that one.
    """
    shuffle = shuffled(name, epsilon, delta, agents)
    found = [shuffle.worst(abs(claimed)), shuffle.epsilon(delta)]
    return tuple(dict.fromkeys((loss.data, loss.neighbour) for loss in found))


@cache
def worst_delta(name: RandomizerName, epsilon: float, delta: float, agents: int, claimed: float) -> float:
    """Largest divergence at the claimed ϵ, over all inputs."""
    return at_either_sign(claimed, shuffled(name, epsilon, delta, agents).worst(abs(claimed)).delta)


def at_either_sign(epsilon: float, opposite: float) -> float:
    """Divergence of P from Q at ϵ, where that of Q from P at ``abs(ϵ)`` is known; for ϵ >= 0 it is that itself.

    P - e^ϵ Q is (1 - e^ϵ) in all, and its negative part is e^ϵ times what Q exceeds e^-ϵ P by.
    """
    return opposite if epsilon >= 0 else -math.expm1(epsilon) + math.exp(epsilon) * opposite


def answer_epsilon(name: RandomizerName, epsilon: float, delta: float) -> float:
    """Exact ϵ, at δ = 0, of one answer that is 0 or 1: the logarithm of the odds at which it is true."""
    log_false, log_true = local_randomizer(name, epsilon, delta).law(1).log_probabilities
    return float(log_true - log_false)


def proved_epsilon(name: RandomizerName, epsilon: float, delta: float, agents: int) -> float:
    """An ϵ at δ that is proved for so many shuffled answers that are 0 or 1: that of one answer, or a closed form.

    A bit with symmetric noise is randomized response, for which the closed form holds.
    """
    local = answer_epsilon(name, epsilon, delta)
    return min(local, laws.stronger_clones_epsilon(local, agents, delta))


class ShuffledAnswers(Answers):
    """What the curator receives about one pair of alternatives: its answers in random order.

    Inputs are (agents who prefer the second alternative, agents who prefer the first). Where an answer is 0 or 1, the
    output is how many answers say that the first is preferred.
    """

    notation = (
        "an input is how many agents prefer the second of the pair, and how many the first; the output is how "
        "many of the shuffled answers say that the first is preferred"
    )

    agents: int = dpaudit.parameter(16, minimum=1, doc="n', agents who are asked about the pair")
    claimed: float = dpaudit.parameter(0.25, doc="epsilon at which the worst inputs are wanted")

    @property
    def response(self) -> Any:
        """Randomizer of one answer."""
        return local_randomizer(self.randomizer, self.epsilon, self.delta)

    def sends(self) -> Sequence[dpaudit.Message]:
        return [dpaudit.Message(self.response, self.agents)]

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        no, yes = (int(count) for count in data)
        if self.randomizer == "gaussian":
            values = np.broadcast_to(np.repeat([0, 1], [no, yes]), (size, self.agents))
            return np.sort(self.response.randomize(values, rng), axis=1)
        return self.response.count_ones([False, True], [no, yes], rng, size)

    def law(self, data: Any) -> dpaudit.FiniteLaw | None:
        if self.randomizer == "gaussian":
            return None
        return shuffled(self.randomizer, self.epsilon, self.delta, self.agents).law(data)

    def log_likelihood(self, outputs: np.ndarray, data: Any) -> np.ndarray | None:
        """Log-likelihood of real answers in random order: the mean over all ways to assign them to the agents."""
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


class AnswersOfDrawnAgents(Answers):
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
    claimed: float = dpaudit.parameter(0.25, doc="epsilon at which the worst inputs are wanted")

    @property
    def response(self) -> Any:
        """Randomizer of one answer."""
        return local_randomizer(self.randomizer, self.epsilon, self.delta)

    def sends(self) -> Sequence[dpaudit.Message]:
        return [dpaudit.Message(self.response, self.agents, least=1)]

    def others(self) -> tuple[np.ndarray, np.ndarray]:
        """Possible numbers of other agents on the pair, and their log-probabilities: binomial(n - 1, 1 / C(m, 2))."""
        from scipy.stats import binom

        numbers = np.arange(self.agents)
        log_weights = binom.logpmf(numbers, self.agents - 1, 1 / self.pairs)
        present = log_weights > math.log(NEGLIGIBLE)
        return numbers[present], log_weights[present]

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        own, other = (bool(bit) for bit in data)
        others = rng.binomial(self.agents - 1, 1 / self.pairs, size)
        ones = self.response.count_ones([own], [1], rng, size) + self.response.count_ones([other], [others], rng)
        return np.stack([others, ones], axis=1)

    def law(self, data: Any) -> dpaudit.PublicMixtureLaw:
        own, other = (int(bit) for bit in data)
        numbers, log_weights = self.others()
        parts = []
        for number in numbers.tolist():
            counts = [0, 0]
            counts[own] += 1
            counts[other] += number
            parts.append(shuffled(self.randomizer, self.epsilon, self.delta, number + 1).law(counts))
        return dpaudit.PublicMixtureLaw(numbers.tolist(), log_weights, parts)

    def delta_at_most(self, epsilon: float) -> float:
        """Bound for all inputs: the mean, over the number of agents on the pair, of the largest delta for it."""
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

    A report is (pair, noisy answer), and the curator sees the multiset of the reports of all agents. Inputs are (agents
    with the reverse of a ranking, agents with that ranking), and the output is how many answers, of all pairs, agree
    with the ranking. That number says as much as the multiset: whether an answer agrees depends on no pair, and which
    pairs were drawn depends on no ranking. So these reports are the answers of n agents, not n', on one pair. This
    holds however pairs are drawn, as long as every agent draws by the same rule.
    """

    notation = (
        "an input is how many agents hold the reverse of a ranking, and how many that ranking; the output is how many "
        "of all the shuffled answers agree with it"
    )

    agents: int = dpaudit.parameter(100, minimum=1, doc="n")

    def delta_at_most(self, epsilon: float) -> float:
        """Bound for all rankings, by the privacy blanket.

        Let q be the probability that a noisy answer is false, and t = 1 - 2q. Whatever an agent's ranking is, with
        probability 2q its report may be taken as drawn uniformly from all 2 C(m, 2) reports; otherwise it is the true
        answer on a uniform pair. Somebody who is told which of the other agents sent what of the latter kind knows
        more than the curator, and sees the report of one agent among M uniform ones, with M binomial(n - 1, 2q).

        There delta is the mean of (L_0 + ... + L_M)_+ / (M + 1), where L_i, for each of M + 1 uniform reports, is the
        likelihood of report i under the one ranking less e^ϵ times that under the other, both relative to a uniform
        report. It is 1 - e^ϵ ± t (e^ϵ + 1) on a pair that the rankings order differently, and 1 - e^ϵ ± t (e^ϵ - 1) on
        any other pair, either sign with probability 1/2. The former has the larger spread, so it is larger in the
        convex order, and the mean is largest where the rankings order all pairs differently. In that case the mean does
        not depend on the pairs, and is that of one bit among M fair coins.
        """
        one = shuffled(self.randomizer, self.epsilon, self.delta, 1).law((0, 1))
        odds = one.log_probabilities[1] - one.log_probabilities[0]
        return at_either_sign(epsilon, laws.blanket_delta(abs(epsilon), odds, self.agents))

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
