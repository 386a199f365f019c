"""Broken variants of DDP-Helnaksort. Each claims what the right protocol keeps, and must come out ``refuted``."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import dpaudit
from dpaudit import randomizers


class _Broken(dpaudit.Mechanism):
    """The answers about one pair as the curator receives them, with a bug; inputs are the agents' true answers."""

    notation = "an input holds true answers about one pair, 0 or 1; an output is what the curator receives of them"

    epsilon: float = dpaudit.parameter(2.0, doc="ϵ, the budget of one agent")
    delta: float = dpaudit.parameter(0.01, above=0.0, maximum=0.5, doc="δ")
    agents_per_pair: int = dpaudit.parameter(50, minimum=1, doc="n'")

    source = "a bug planted in DDP-Helnaksort"
    trust = "As DDP-Helnaksort: the adversary sees what the curator receives."

    @property
    def response(self) -> Any:
        """Randomizer of one answer in the right protocol."""
        return randomizers.RandomizedResponse.for_epsilon(self.epsilon)

    def shuffled_epsilon(self) -> float:
        """Exact ϵ of the right protocol at δ."""
        return randomizers.Shuffler(self.response).of(self.agents_per_pair).epsilon(self.delta).epsilon

    def answers(self, data: Any, size: int) -> np.ndarray:
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

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [
            dpaudit.PrivacyClaim(
                id=f"control.{self.name}",
                source=self.summary(),
                statement="What the curator receives is as private as in the right protocol.",
                epsilon=self.shuffled_epsilon(),
                delta=self.delta,
            )
        ]


class ShufflerKeepsOrder(_Broken):
    """The shuffler sends the answers on in the order in which they came."""

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        return self.response.randomize(self.answers(data, size), rng)


class TwoBitsPerUser(_Broken):
    """Every agent sends two answers with fresh randomness, on the budget of one."""

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        twice = np.concatenate([self.answers(data, size)] * 2, axis=1)
        return self.response.randomize(twice, rng).sum(axis=1)


class ThresholdAfterShuffling(_Broken):
    """The curator cuts the noisy answers off at 1/2, and so sees them before."""

    epsilon: float = dpaudit.parameter(4.0, doc="ϵ, the budget of one agent")
    agents_per_pair: int = dpaudit.parameter(4, minimum=1, doc="n'")

    @property
    def noise(self) -> randomizers.GaussianNoise:
        return randomizers.GaussianNoise.classical(self.epsilon, self.delta, sensitivity=1.0)

    @property
    def response(self) -> Any:
        return randomizers.Thresholded(self.noise)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        return np.sort(self.noise.randomize(self.answers(data, size), rng), axis=1)


class NoiseWithoutQueries(_Broken):
    """The noise of each of K answers has the scale for one answer."""

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the budget of one agent")
    queries: int = dpaudit.parameter(4, minimum=2, doc="K")

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        noise = randomizers.GaussianNoise.classical(self.epsilon, self.delta, sensitivity=1.0)
        return noise.randomize(np.broadcast_to(data, (size, self.queries)), rng)

    def neighbours(self) -> dpaudit.Neighbouring:
        return dpaudit.Neighbouring(
            relation="any-two-inputs",
            pairs=[(np.zeros(self.queries), np.ones(self.queries))],
            complete=False,
            scope=f"a ranking and its reverse, asked {self.queries} questions",
        )

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [
            dpaudit.PrivacyClaim(
                id=f"control.{self.name}",
                source=self.summary(),
                statement="The noisy answers of one agent are (ϵ, δ)-LDP.",
                epsilon=self.epsilon,
                delta=self.delta,
            )
        ]
