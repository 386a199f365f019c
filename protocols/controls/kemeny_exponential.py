"""Broken variants of the exponential mechanism over all rankings."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

import dpaudit
from dpaudit import rankings

EXPONENTIAL: Any = dpaudit.load("kemeny-exponential")
_SHARE = 0.5


class _Broken(dpaudit.Mechanism):
    """The exponential mechanism with a bug that amounts to a budget larger than the claimed one."""

    notation = "an input lists the agents' rankings, best first; the output is a ranking"

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the budget that is claimed")
    alternatives: int = dpaudit.parameter(3, minimum=2, doc="m")
    agents: int = dpaudit.parameter(4, minimum=1, doc="n")
    relation: Literal["substitution", "add-remove"] = dpaudit.parameter("substitution", doc="neighbouring relation")

    source = "a bug planted in the exponential mechanism over all rankings"
    model = "central"
    trust = "As the exponential mechanism: the adversary sees the aggregate ranking."

    def spent(self) -> float:
        """Budget that the bug amounts to."""
        raise NotImplementedError

    @property
    def honest(self) -> Any:
        """The right mechanism with that budget."""
        return EXPONENTIAL(
            epsilon=self.spent(), alternatives=self.alternatives, agents=self.agents, relation=self.relation
        )

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        return self.honest.sample(data, size, rng)

    def law(self, data: Any) -> dpaudit.Law | None:
        law: dpaudit.Law | None = self.honest.law(data)
        return law

    def neighbours(self) -> dpaudit.Neighbouring:
        pairs: dpaudit.Neighbouring = self.honest.neighbours()
        return pairs

    def claims(self) -> Sequence[dpaudit.Claim]:
        return [
            dpaudit.PrivacyClaim(
                id=f"control.{self.name}",
                source=self.summary(),
                statement="The aggregate ranking is ϵ-differentially private.",
                epsilon=self.epsilon,
            )
        ]


class ExponentialOnePair(_Broken):
    """The average distance is taken to change by 1/n, as for one pair, instead of C(m, 2)/n."""

    def spent(self) -> float:
        return self.epsilon * self.alternatives * (self.alternatives - 1) / 2


class ExponentialWithoutTwo(_Broken):
    """The price is ϵ / Δ instead of ϵ / (2 Δ), as if the normaliser did not depend on the data."""

    def spent(self) -> float:
        return 2 * self.epsilon


class ExponentialNTwice(_Broken):
    """The price is that of the average distance, ϵ n / (2 C), but what it multiplies is the total distance times n."""

    def spent(self) -> float:
        return self.epsilon * self.agents


class ExponentialOftenBest(_Broken):
    """Every other run returns the Kemeny ranking itself, as if the draw had failed and a default were needed."""

    def spent(self) -> float:
        return self.epsilon

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        outputs = self.honest.sample(data, size, rng)
        outputs[rng.random(size) < _SHARE] = self.default(data)
        return outputs

    def law(self, data: Any) -> dpaudit.Law | None:
        law = self.honest.law(data)
        if law is None:
            return None
        is_default = (np.asarray(law.outcomes) == self.default(data)).all(axis=1)
        p = (1 - _SHARE) * np.exp(law.log_probabilities) + _SHARE * is_default
        return dpaudit.FiniteLaw(law.outcomes, np.log(p))

    def default(self, data: Any) -> np.ndarray:
        """A Kemeny ranking; the order of the labels where there is no agent."""
        if isinstance(data, np.ndarray) and not len(data):
            return np.arange(self.alternatives)
        return np.array(rankings.kemeny(rankings.pairwise_counts(data), method="dp").ranking)
