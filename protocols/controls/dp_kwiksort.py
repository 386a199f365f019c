"""Broken variants of DP-KwikSort where it is right: add-remove neighbours and the binary logarithm."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import dpaudit

CENTRAL: Any = dpaudit.load("dp-kwiksort")


class _Broken(dpaudit.Mechanism):
    """DP-KwikSort with a bug that amounts to a budget larger than the claimed one."""

    notation = "an input lists the agents' rankings, best first; the output is a ranking"

    epsilon: float = dpaudit.parameter(1.0, doc="ϵ, the budget that is claimed")
    alternatives: int = dpaudit.parameter(3, minimum=2, doc="m")
    agents: int = dpaudit.parameter(2, minimum=1, doc="n")

    source = "a bug planted in DP-KwikSort"
    model = "central"
    trust = "As DP-KwikSort: the adversary sees the aggregate ranking."

    def spent(self) -> float:
        """Budget that the bug amounts to."""
        raise NotImplementedError

    @property
    def honest(self) -> Any:
        """The right protocol with that budget."""
        return CENTRAL(
            epsilon=self.spent(),
            alternatives=self.alternatives,
            agents=self.agents,
            logarithm="binary",
            relation="add-remove",
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


class CentralHalfNoise(_Broken):
    """The Laplace noise has half the scale that it should have."""

    def spent(self) -> float:
        return 2 * self.epsilon


class CentralUnsplitBudget(_Broken):
    """Every comparison gets the whole budget, as if there were only one."""

    def spent(self) -> float:
        return self.epsilon * (self.alternatives - 1) * float(np.log2(self.alternatives))
