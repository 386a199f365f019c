"""Zero-concentrated differential privacy, and its approximate form."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dpaudit.claims.evidence import Interval
from dpaudit.claims.guarantees.approximate import ApproximateDP
from dpaudit.claims.guarantees.base import ROUNDING, Guarantee, meets_closely
from dpaudit.claims.guarantees.bits import balanced, largest_allowed, rate_of_bits
from dpaudit.claims.guarantees.conversions import epsilon_of_concentration
from dpaudit.claims.guarantees.decisions import decisions_of, worst_event_of
from dpaudit.claims.ranges import in_range
from dpaudit.errors import ParameterError

if TYPE_CHECKING:
    from dpaudit.laws.base import Comparison, Event


def inside(p: Any, q: Any, delta: float) -> tuple[Any, Any]:
    """Least probability p' and largest q' of an event given events of probability 1 - delta; see the notes below.

    What of p is above delta by rounding alone counts for nothing.
    """
    rest = 1 - delta
    return np.maximum(np.asarray(p) - delta * (1 + ROUNDING), 0.0) / rest, np.minimum(np.asarray(q) / rest, 1.0)


def _check_pure(epsilon: float) -> None:
    if not (in_range(epsilon, 0) and in_range(epsilon * epsilon)):
        raise ParameterError(f"epsilon must be a number >= 0 whose square is finite, got {epsilon}")


@dataclass(frozen=True, slots=True)
class ZeroConcentratedDP(Guarantee):
    """rho-zero-concentrated differential privacy; delta-approximate where delta is above 0.

    Every Renyi divergence, of order alpha > 1, is at most rho alpha. In the approximate form, each of two inputs has an
    event of probability at least 1 - delta, and the outputs given these events have such divergences.

    Parameters
    ----------
    rho
        Finite, at least 0.
    delta
        In [0, 1).

    Raises
    ------
    ParameterError
        A parameter is out of its range.

    Notes
    -----
    What one event S forces, with probability p on one input and q on the other: the bit that says whether S occurred
    has Renyi divergences no larger than the outputs' (data processing), so that rho is at least the supremum over
    orders of that divergence over the order, in either direction.

    With delta > 0 let E and E' be the two events. From P(S) <= 1 - P(E) + P(E) P(S | E), which rises as P(E) falls, p
    is at most delta + (1 - delta) p' with p' = P(S | E); and from Q(S) >= Q(E') Q(S | E'), q is at least
    (1 - delta) q' with q' = Q(S | E'). So p' is at least (p - delta) / (1 - delta) and q' at most q / (1 - delta),
    and what p' and q' force rises with p' and falls with q'.

    References
    ----------
    Bun, Steinke, "Concentrated differential privacy", TCC 2016, Definitions 1.1 and 8.1.

    Examples
    --------
    >>> import dpaudit
    >>> promise = dpaudit.ZeroConcentratedDP(0.5)
    >>> promise.forced
    'rho'
    >>> dpaudit.ZeroConcentratedDP(-1.0)
    Traceback (most recent call last):
        ...
    dpaudit.errors.ParameterError: rho must be a finite number >= 0, got -1.0
    """

    kind: ClassVar[str] = "zero-concentrated-dp"
    forced: ClassVar[str] = "rho"

    rho: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        if not in_range(self.rho, 0):
            raise ParameterError(f"rho must be a finite number >= 0, got {self.rho}")
        if not in_range(self.delta, 0, 1, without=(1.0,)):
            raise ParameterError(f"delta must be in [0, 1), got {self.delta}")

    @classmethod
    def of_pure(cls, epsilon: float) -> Self:
        """Return what epsilon-differential privacy implies: rho = epsilon tanh(epsilon / 2), at most epsilon^2 / 2.

        It is the relative entropy of randomized response, of which every such mechanism is a post-processing.

        Parameters
        ----------
        epsilon
            At least 0, its square finite.

        Raises
        ------
        ParameterError
            epsilon is out of its range.

        References
        ----------
        Bun, Steinke, "Concentrated differential privacy", TCC 2016, Proposition 1.4, for epsilon^2 / 2; Harrison,
        Manurangsi, "Exact zCDP characterizations for fundamental differentially private mechanisms", 2025.
        """
        _check_pure(epsilon)
        return cls(epsilon * math.tanh(epsilon / 2))

    @classmethod
    def of_exponential_mechanism(cls, epsilon: float) -> Self:
        """Return what an exponential mechanism satisfies that is epsilon-differentially private: rho = epsilon^2 / 8.

        Its privacy loss has a range of epsilon.

        Parameters
        ----------
        epsilon
            At least 0, its square finite.

        Raises
        ------
        ParameterError
            epsilon is out of its range.

        References
        ----------
        Cesar, Rogers, "Bounding, concentrating, and truncating: unifying privacy loss composition for data analytics",
        ALT 2021, Lemma 3.2.
        """
        _check_pure(epsilon)
        return cls(epsilon * epsilon / 8)

    def to_approximate(self, delta: float) -> ApproximateDP:
        """As for any guarantee; where delta of the guarantee is 0, no more than the bound on all orders gives."""
        found = Guarantee.to_approximate(self, delta)
        if self.delta or not 0 < delta < 1:
            return found
        return ApproximateDP(min(found.epsilon, epsilon_of_concentration(self.rho, delta)), delta)

    def most(self, q: float) -> float:
        """Return the largest p of two bits with these divergences."""
        part = largest_allowed(rate_of_bits, self.rho, min(1.0, q / (1 - self.delta)))
        return min(1.0, self.delta + (1 - self.delta) * part)

    def forces(self, p: Any, q: Any) -> Any:
        """Return the largest quotient of a Renyi divergence of two bits and its order."""
        return rate_of_bits(*self._inside(p, q))

    def forces_about(self, p: Any, q: Any) -> Any:
        """As `forces`, from few orders."""
        return rate_of_bits(*self._inside(p, q), about=True)

    def _inside(self, p: Any, q: Any) -> tuple[Any, Any]:
        """Probabilities at least and at most given the events of the approximate form."""
        if not self.delta:
            return p, q
        return inside(p, q, self.delta)

    @property
    def balanced(self) -> float:
        """The probability q at which `most` is 1 - q."""
        return balanced(self.forces, self.rho)

    def meets(self, value: float, parameter: str | None = None) -> bool:
        """As for any guarantee, unless rounding is much beside the claim."""
        return meets_closely(value, self.rho)

    def measure(self, comparison: Comparison) -> Mapping[str, Interval] | None:
        """Return rho, exact or enclosed."""
        rho = decisions_of(comparison).concentrated(self.delta)
        return None if rho is None else {"rho": rho}

    def worst_event(self, comparison: Comparison, *, frequent: bool = False) -> Event:
        """Return the event that forces the largest rho."""
        return worst_event_of(self, comparison, frequent=frequent)

    def __str__(self) -> str:
        """The guarantee as papers write it."""
        return f"{self.delta:g}-approximate {self.rho:g}-zCDP" if self.delta else f"{self.rho:g}-zCDP"
