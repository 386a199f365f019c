"""Gaussian differential privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpaudit.claims.evidence import Interval
from dpaudit.claims.guarantees.base import Guarantee
from dpaudit.claims.guarantees.decisions import decisions_of, worst_event_of
from dpaudit.claims.ranges import in_range
from dpaudit.errors import ParameterError

if TYPE_CHECKING:
    from dpaudit.laws.base import Comparison, Event


@dataclass(frozen=True, slots=True)
class GaussianDP(Guarantee):
    """mu-Gaussian differential privacy: two inputs are at least as hard to tell apart as N(0, 1) and N(mu, 1).

    Parameters
    ----------
    mu
        Finite, at least 0.

    Raises
    ------
    ParameterError
        mu is out of its range.

    Examples
    --------
    >>> round(GaussianDP(1.0).most(0.5), 6)
    0.841345

    References
    ----------
    Dong, Roth, Su, "Gaussian differential privacy", JRSS B 84, 2022, Definition 2.6.
    """

    kind: ClassVar[str] = "gaussian-dp"
    forced: ClassVar[str] = "mu"

    mu: float

    def __post_init__(self) -> None:
        if not in_range(self.mu, 0):
            raise ParameterError(f"mu must be a finite number >= 0, got {self.mu}")

    def most(self, q: float) -> float:
        """Return Phi(Phi^-1(q) + mu)."""
        from scipy.special import ndtr, ndtri

        return float(ndtr(ndtri(q) + self.mu))

    def forces(self, p: Any, q: Any) -> Any:
        """Return Phi^-1(p) - Phi^-1(q), at least 0."""
        from scipy.special import ndtri

        p, q = np.broadcast_arrays(np.asarray(p, float), np.asarray(q, float))
        with np.errstate(invalid="ignore"):
            return np.where(p > q, ndtri(p) - ndtri(q), 0.0)[()]

    def measure(self, comparison: Comparison) -> Mapping[str, Interval] | None:
        """Return mu: of Gaussian, Laplace and finite laws exact, of products and mixtures enclosed."""
        mu = decisions_of(comparison).gaussian()
        return None if mu is None else {"mu": mu}

    def worst_event(self, comparison: Comparison, *, frequent: bool = False) -> Event:
        """Return the event that forces the largest mu."""
        return worst_event_of(self, comparison, frequent=frequent)

    def __str__(self) -> str:
        """The guarantee as papers write it."""
        return f"{self.mu:g}-GDP"
