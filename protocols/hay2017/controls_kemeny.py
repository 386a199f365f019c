"""Broken variants of the exponential mechanism over all rankings."""

from typing import Any

import numpy as np

import dpaudit
from dpaudit import rankings

from .kemeny_exponential import KemenyExponential
from .paper import PAPER

EXPONENTIAL: dict[str, Any] = {
    "paper": PAPER,
    "statement": "The aggregate ranking is ϵ-differentially private.",
    "exact": True,
    "fixed": {"instance": "unanimous"},
    "agents": 4,
}
_SHARE = 0.5


@dpaudit.control("control.exponential-one-pair", KemenyExponential, **EXPONENTIAL)
def exponential_one_pair(right: KemenyExponential) -> dpaudit.Mechanism:
    """The average distance is taken to change by 1/n, as for one pair, instead of C(m, 2)/n."""
    return right.but(epsilon=right.epsilon * right.pairs)


@dpaudit.control("control.exponential-without-two", KemenyExponential, **EXPONENTIAL)
def exponential_without_two(right: KemenyExponential) -> dpaudit.Mechanism:
    """The price is ϵ / Δ instead of ϵ / (2 Δ), as if the normaliser did not depend on the data."""
    return right.but(epsilon=2 * right.epsilon)


@dpaudit.control("control.exponential-n-twice", KemenyExponential, **EXPONENTIAL)
def exponential_n_twice(right: KemenyExponential) -> dpaudit.Mechanism:
    """The price is that of the average distance, ϵ n / (2 C), but what it multiplies is the total distance times n."""
    return right.but(epsilon=right.epsilon * right.agents)


class _OftenBest(KemenyExponential):
    """The exponential mechanism in half of the runs, and a Kemeny ranking in the others."""

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        outputs = super().sample(data, size, rng)
        outputs[rng.random(size) < _SHARE] = self.default(data)
        return outputs

    def law(self, data: Any) -> dpaudit.FiniteLaw | None:
        law = super().law(data)
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


@dpaudit.control("control.exponential-often-best", KemenyExponential, **EXPONENTIAL)
def exponential_often_best(right: KemenyExponential) -> dpaudit.Mechanism:
    """Every other run returns the Kemeny ranking itself, as if the draw had failed and a default were needed."""
    return _OftenBest(**right.parameters())
