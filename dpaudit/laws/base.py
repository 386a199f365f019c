"""What a law is, and the comparison of two laws."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpaudit.claims.evidence import Interval
from dpaudit.errors import CheckError

_NEAREST, _FARTHEST = 1e-9, 1e6
"""Distances of noise, over its scale, whose privacy loss is put on grids."""


class UncomposableError(CheckError):
    """The exact law of parts released together is not known; samples still are."""


def check_distance(ratio: float) -> None:
    """Raise UncomposableError where noise is too near or too far, over its scale, for its loss to be put on a grid."""
    if not _NEAREST <= ratio <= _FARTHEST:
        raise UncomposableError(
            f"noise whose centres lie {ratio:g} scales apart cannot be put on a grid with other parts, only from "
            f"{_NEAREST:g} to {_FARTHEST:g}; audit by sampling (--method black-box)"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A set of outputs with its log-probability under two laws P and Q.

    ``outcomes`` describes the set; ``members`` lists its outcomes where it is finite and they are known.
    """

    outcomes: Any
    log_p: float
    log_q: float
    members: tuple[Any, ...] | None = field(default=None, compare=False, repr=False)

    @property
    def p(self) -> float:
        """Probability under P."""
        return math.exp(min(0.0, self.log_p))

    @property
    def q(self) -> float:
        """Probability under Q."""
        return math.exp(min(0.0, self.log_q))


class Comparison(ABC):
    """The privacy loss of one law P against another Q, in this direction only."""

    @abstractmethod
    def max_divergence(self) -> float:
        """Supremum of log P(S) - log Q(S) over events S; infinite where Q misses something."""

    @abstractmethod
    def delta(self, epsilon: float) -> Interval:
        """Hockey-stick divergence sup over S of P(S) - e^epsilon Q(S); exact, or bounds that enclose it."""

    def privacy_profile(self, epsilons: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds on the privacy profile at many epsilons, shape (k,) each; equal where it is exact."""
        values = [self.delta(float(epsilon)) for epsilon in epsilons]
        return np.array([value.lower for value in values]), np.array([value.upper for value in values])

    @abstractmethod
    def epsilon(self, delta: float) -> Interval:
        """Smallest epsilon >= 0 whose hockey-stick divergence is at most ``delta``."""

    @abstractmethod
    def worst_event(self, epsilon: float, delta: float) -> Event:
        """Event that decides whether (``epsilon``, ``delta``) holds, with both its probabilities."""


class Law(ABC):
    """The probability law of a mechanism's output on one input.

    Examples
    --------
    >>> import dpaudit
    >>> law = dpaudit.LaplaceLaw(0.0, 1.0)
    >>> isinstance(law, dpaudit.Law)
    True
    >>> law.against(dpaudit.LaplaceLaw(1.0, 1.0)).max_divergence()
    1.0
    """

    @abstractmethod
    def against(self, other: Law) -> Comparison:
        """Compare this law (P) with another of the same kind (Q)."""


def compare(p: Law, q: Law) -> Comparison:
    """Privacy loss of law ``p`` against law ``q``.

    Parameters
    ----------
    p, q
        Output laws of the same kind on two inputs.

    Returns
    -------
    Comparison
        Bounds on delta at an epsilon, on epsilon at a delta, and the worst event.

    Raises
    ------
    CheckError
        The laws are of different kinds, so that no comparison is defined.

    Examples
    --------
    >>> import dpaudit
    >>> comparison = dpaudit.compare(dpaudit.GaussianLaw(0.0, 1.0), dpaudit.GaussianLaw(1.0, 1.0))
    >>> round(comparison.epsilon(1e-5).upper, 3)
    4.377
    >>> dpaudit.compare(dpaudit.GaussianLaw(0.0, 1.0), dpaudit.LaplaceLaw(0.0, 1.0))
    Traceback (most recent call last):
        ...
    dpaudit.errors.CheckError: a GaussianLaw cannot be compared with a LaplaceLaw; ...
    """
    if type(p) is not type(q):
        raise CheckError(
            f"a {type(p).__name__} cannot be compared with a {type(q).__name__}; "
            "`law(data)` must return the same kind of law for every input"
        )
    return p.against(q)
