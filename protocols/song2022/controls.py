"""Broken variants of DDP-Helnaksort. Each claims what the right protocol keeps, and must come out ``refuted``."""

from typing import Any

import numpy as np

import dpaudit
from dpaudit import randomizers

from .paper import PAPER


class AnswersOnAPair(dpaudit.Mechanism):
    """The answers about one pair as the curator receives them; inputs are the agents' true answers."""

    notation = "an input holds true answers about one pair, 0 or 1; an output is what the curator receives of them"
    trust = "As DDP-Helnaksort: the adversary sees what the curator receives."

    epsilon: float = dpaudit.parameter(2.0, doc="ϵ, the budget of one agent")
    delta: float = dpaudit.parameter(0.01, above=0.0, maximum=0.5, doc="δ")
    agents_per_pair: int = dpaudit.parameter(50, minimum=1, doc="n'")

    @property
    def response(self) -> Any:
        """Randomizer of one answer."""
        return randomizers.RandomizedResponse.for_epsilon(self.epsilon)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Number of answers that are 1."""
        return self.response.randomize(self.everybody(data, size), rng).sum(axis=1)

    def everybody(self, data: Any, size: int) -> np.ndarray:
        """True answers of all agents in many runs."""
        return np.broadcast_to(data, (size, self.agents_per_pair))

    def neighbours(self) -> dpaudit.Neighbouring:
        alike = np.ones(self.agents_per_pair, dtype=int)
        return dpaudit.Neighbouring(
            relation="substitution",
            pairs=[(alike, np.r_[0, alike[1:]])],
            complete=False,
            scope=f"{self.agents_per_pair} agents who all agree, and one who does not",
        )

    def shuffled(self) -> dpaudit.PrivacyClaim:
        """The exact ϵ at δ of the answers in random order."""
        exact = randomizers.Shuffler(self.response).of(self.agents_per_pair).epsilon(self.delta)
        return dpaudit.PrivacyClaim(epsilon=exact.epsilon, delta=self.delta)


class ThresholdedAnswers(AnswersOnAPair):
    """The same with the paper's randomizer: Gaussian noise, and a threshold at 1/2."""

    @property
    def noise(self) -> randomizers.GaussianNoise:
        """Noise of one answer."""
        return randomizers.GaussianNoise.classical(self.epsilon, self.delta, sensitivity=1.0)

    @property
    def response(self) -> Any:
        return randomizers.Thresholded(self.noise)


class NoisyReport(AnswersOnAPair):
    """The K noisy answers of one agent, before the threshold."""

    queries: int = dpaudit.parameter(4, minimum=2, doc="K")

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        noise = randomizers.GaussianNoise.classical(self.epsilon / self.queries, self.delta, sensitivity=1.0)
        return noise.randomize(np.broadcast_to(data, (size, self.queries)), rng)

    def neighbours(self) -> dpaudit.Neighbouring:
        return dpaudit.Neighbouring(
            relation="any-two-inputs",
            pairs=[(np.zeros(self.queries), np.ones(self.queries))],
            complete=False,
            scope=f"a ranking and its reverse, asked {self.queries} questions",
        )


@dpaudit.control(
    "control.shuffler-keeps-order",
    AnswersOnAPair,
    paper=PAPER,
    statement="What the curator receives is as private as in the right protocol.",
    claimed=AnswersOnAPair.shuffled,
)
def shuffler_keeps_order(right: AnswersOnAPair, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """The shuffler sends the answers on in the order in which they came."""
    return np.asarray(right.response.randomize(right.everybody(data, size), rng))


@dpaudit.control(
    "control.two-bits-per-user",
    AnswersOnAPair,
    paper=PAPER,
    statement="What the curator receives is as private as in the right protocol.",
    claimed=AnswersOnAPair.shuffled,
)
def two_bits_per_user(right: AnswersOnAPair, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Every agent sends two answers with fresh randomness, on the budget of one."""
    twice = np.concatenate([right.everybody(data, size)] * 2, axis=1)
    return np.asarray(right.response.randomize(twice, rng).sum(axis=1))


@dpaudit.control(
    "control.threshold-after-shuffling",
    ThresholdedAnswers,
    paper=PAPER,
    statement="What the curator receives is as private as in the right protocol.",
    claimed=ThresholdedAnswers.shuffled,
    epsilon=4.0,
    agents_per_pair=4,
)
def threshold_after_shuffling(right: ThresholdedAnswers, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """The curator cuts the noisy answers off at 1/2, and so sees them before."""
    return np.sort(right.noise.randomize(right.everybody(data, size), rng), axis=1)


@dpaudit.control(
    "control.noise-without-queries",
    NoisyReport,
    paper=PAPER,
    statement="The noisy answers of one agent are (ϵ, δ)-LDP.",
    epsilon=1.0,
)
def noise_without_queries(right: NoisyReport) -> NoisyReport:
    """The noise of each of K answers has the scale for one answer."""
    return right.but(epsilon=right.epsilon * right.queries)
