"""Laws of several independent parts, and of a public choice followed by a part."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.claims.evidence import Interval
from dpaudit.errors import CheckError
from dpaudit.laws.base import Comparison, Event, Law, check_distance, compare
from dpaudit.laws.continuous import GaussianComparison, LaplaceComparison, bounding_laplace_losses
from dpaudit.laws.finite import FiniteComparison, FiniteLaw, outcome_key
from dpaudit.laws.gaussian_product import GaussianProductComparison
from dpaudit.laws.loss import PrivacyLoss

_MAX_FLAT_OUTCOMES = 1 << 20
_MAX_NESTED_OUTCOMES = 1 << 15
"""The same where a part is itself a product or a mixture: its outcomes are nested, and slow to go through."""


@dataclass(frozen=True, slots=True, eq=False)
class ProductLaw(Law):
    """Independent parts released together.

    Parameters
    ----------
    parts
        Laws of the parts, in the same order for every input.

    Raises
    ------
    CheckError
        There is no part, or a part is no law.

    Examples
    --------
    >>> import dpaudit
    >>> pair = dpaudit.ProductLaw([dpaudit.LaplaceLaw(0.0, 1.0), dpaudit.LaplaceLaw(0.0, 2.0)])
    >>> other = dpaudit.ProductLaw([dpaudit.LaplaceLaw(1.0, 1.0), dpaudit.LaplaceLaw(1.0, 2.0)])
    >>> dpaudit.compare(pair, other).epsilon(0.0).upper
    1.5
    """

    parts: Sequence[Law]

    def __post_init__(self) -> None:
        if not isinstance(self.parts, Sequence) or not self.parts:
            raise CheckError("a product law needs at least one part")
        for part in self.parts:
            if not isinstance(part, Law):
                raise CheckError(f"a part of a product law must be a law, got {part!r}")

    def against(self, other: Law) -> ProductComparison:
        """Compare part by part."""
        assert isinstance(other, ProductLaw)
        if len(self.parts) != len(other.parts):
            raise CheckError(f"product laws of {len(self.parts)} and {len(other.parts)} parts cannot be compared")
        return ProductComparison([compare(p, q) for p, q in zip(self.parts, other.parts, strict=True)])

    def flattened(self) -> FiniteLaw | None:
        """Return the same law with its outcomes listed, if it is finite and not too long."""
        finite = [flat for part in self.parts if (flat := flattened(part)) is not None]
        nested = not all(isinstance(part, FiniteLaw) for part in self.parts)
        most = _MAX_NESTED_OUTCOMES if nested else _MAX_FLAT_OUTCOMES
        if len(finite) < len(self.parts) or math.prod(len(part.outcomes) for part in finite) > most:
            return None
        outcomes = list(itertools.product(*(part.outcomes for part in finite)))
        log_p = finite[0].log_probabilities
        for part in finite[1:]:
            log_p = np.add.outer(log_p, part.log_probabilities).ravel()
        return FiniteLaw(outcomes, log_p)


@dataclass(frozen=True, slots=True, eq=False)
class ProductComparison(Comparison):
    """Two product laws, part by part."""

    parts: Sequence[Comparison]

    def max_divergence(self) -> float:
        """Sum over the parts."""
        return math.fsum(part.max_divergence() for part in self.parts)

    def bounding_losses(self) -> tuple[PrivacyLoss, PrivacyLoss]:
        """Privacy losses that enclose the composed one from below and from above."""
        below, above = [], []
        laplace = [part.ratio for part in self.parts if isinstance(part, LaplaceComparison) and part.ratio > 0]
        if laplace:
            for ratio in laplace:
                check_distance(ratio)
            low, high = bounding_laplace_losses(laplace)
            below.append(low)
            above.append(high)
        for part in self.parts:
            if isinstance(part, LaplaceComparison) or (isinstance(part, GaussianComparison) and part.ratio == 0):
                continue
            low, high = bounding_losses(part)
            below.append(low)
            above.append(high)
        if not below:
            nothing = PrivacyLoss(np.zeros(1), np.zeros(1), np.zeros(1))
            return nothing, nothing
        return PrivacyLoss.composition(below), PrivacyLoss.composition(above)

    def _gaussian(self) -> GaussianComparison | GaussianProductComparison | None:
        """Gaussian parts in one, with the others beside it, where any Gaussian part differs."""
        ratios = [part.ratio for part in self.parts if isinstance(part, GaussianComparison)]
        together = GaussianComparison(math.sqrt(math.fsum(ratio * ratio for ratio in ratios)), 0.0, 1.0)
        if ratios and len(ratios) == len(self.parts):
            return together
        if together.ratio == 0:
            return None
        others = [part for part in self.parts if not isinstance(part, GaussianComparison)]
        return GaussianProductComparison(together, *ProductComparison(others).bounding_losses())

    def delta(self, epsilon: float) -> Interval:
        """Exact for finite or Gaussian parts, enclosed for Laplace parts."""
        gaussian = self._gaussian()
        if gaussian is not None:
            return gaussian.delta(epsilon)
        below, above = self.bounding_losses()
        return Interval(lower=below.delta(epsilon), upper=above.delta(epsilon))

    def privacy_profile(self, epsilons: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As ``delta``, with the parts composed once."""
        gaussian = self._gaussian()
        if gaussian is not None:
            return gaussian.privacy_profile(epsilons)
        below, above = self.bounding_losses()
        return below.privacy_profile(epsilons), above.privacy_profile(epsilons)

    def epsilon(self, delta: float) -> Interval:
        """Exact for finite or Gaussian parts or at delta = 0, enclosed for Laplace parts."""
        gaussian = self._gaussian()
        if gaussian is not None:
            return gaussian.epsilon(delta)
        if delta == 0:
            return Interval.exact(max(0.0, self.max_divergence()))
        below, above = self.bounding_losses()
        return Interval(lower=below.epsilon(delta), upper=above.epsilon(delta))

    def worst_event(self, epsilon: float, delta: float) -> Event:
        """Product of the parts' worst outputs (delta = 0), or all outputs whose privacy loss exceeds ``epsilon``."""
        if delta > 0:
            gaussian = self._gaussian()
            if gaussian is None:
                return _tail_event(self.bounding_losses()[0], epsilon)
            event = gaussian.worst_event(epsilon, delta)
            return Event(outcomes=_tail_text(epsilon), log_p=event.log_p, log_q=event.log_q)
        events = [part.worst_event(epsilon, delta) for part in self.parts]
        return Event(
            outcomes=[event.outcomes for event in events],
            log_p=math.fsum(event.log_p for event in events),
            log_q=math.fsum(event.log_q for event in events),
        )


@dataclass(frozen=True, slots=True, eq=False)
class PublicMixtureLaw(Law):
    """A public choice that does not depend on the input, followed by the law that belongs to it.

    Parameters
    ----------
    labels
        The possible choices, in the same order for every input.
    log_weights
        Their log-probabilities, shape (k,).
    parts
        Law of the rest of the output given each choice.

    Raises
    ------
    CheckError
        There are not as many laws as labels.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit
    >>> def law(location):
    ...     parts = [dpaudit.LaplaceLaw(location, 1.0), dpaudit.LaplaceLaw(location, 2.0)]
    ...     return dpaudit.PublicMixtureLaw(["fine", "coarse"], np.log([0.5, 0.5]), parts)
    >>> dpaudit.compare(law(0.0), law(1.0)).epsilon(0.0).upper
    1.0
    """

    labels: Sequence[Any]
    log_weights: np.ndarray
    parts: Sequence[Law]

    def __post_init__(self) -> None:
        FiniteLaw(self.labels, self.log_weights)
        if len(self.parts) != len(self.labels):
            raise CheckError(f"{len(self.labels)} choices but {len(self.parts)} laws")

    def against(self, other: Law) -> PublicMixtureComparison:
        """Compare choice by choice."""
        assert isinstance(other, PublicMixtureLaw)
        if self.labels is not other.labels and outcome_key(list(self.labels)) != outcome_key(list(other.labels)):
            raise CheckError("the public choices differ between inputs; list the same ones in the same order for each")
        if not np.allclose(self.log_weights, other.log_weights, rtol=1e-12, atol=1e-12):
            raise CheckError("the public choice has another law for another input, so it is not public")
        parts = [compare(p, q) for p, q in zip(self.parts, other.parts, strict=True)]
        return PublicMixtureComparison(self.labels, self.log_weights, parts)

    def flattened(self) -> FiniteLaw | None:
        """Return the same law with its outcomes (choice, rest) listed, if it is finite and not too long."""
        outcomes: list[Any] = []
        log_p: list[np.ndarray] = []
        for label, weight, part in zip(self.labels, self.log_weights, self.parts, strict=True):
            flat = part if isinstance(part, FiniteLaw) else flattened(part)
            if flat is None or len(outcomes) + len(flat.outcomes) > _MAX_FLAT_OUTCOMES:
                return None
            outcomes.extend((label, outcome) for outcome in flat.outcomes)
            log_p.append(weight + flat.log_probabilities)
        return FiniteLaw(outcomes, np.concatenate(log_p))


@dataclass(frozen=True, slots=True, eq=False)
class PublicMixtureComparison(Comparison):
    """Two public mixtures, choice by choice."""

    labels: Sequence[Any]
    log_weights: np.ndarray
    parts: Sequence[Comparison]

    def max_divergence(self) -> float:
        """Largest over the choices that can occur."""
        return max(
            part.max_divergence() for weight, part in zip(self.log_weights, self.parts, strict=True) if weight > -np.inf
        )

    def bounding_losses(self) -> tuple[PrivacyLoss, PrivacyLoss]:
        """Privacy losses that enclose the mixture's."""
        pairs = [bounding_losses(part) for part in self.parts]
        below, above = zip(*pairs, strict=True)
        return PrivacyLoss.mixture(self.log_weights, below), PrivacyLoss.mixture(self.log_weights, above)

    def delta(self, epsilon: float) -> Interval:
        """Average over the choices."""
        values = [part.delta(epsilon) for part in self.parts]
        weights = np.exp(self.log_weights)
        return Interval(
            lower=math.fsum(w * (v.lower or 0.0) for w, v in zip(weights, values, strict=True)),
            upper=math.fsum(w * (v.upper or 0.0) for w, v in zip(weights, values, strict=True)),
        )

    def privacy_profile(self, epsilons: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Average over the choices."""
        parts = [part.privacy_profile(epsilons) for part in self.parts]
        weights = np.exp(self.log_weights)[:, None]
        lower, upper = (np.array(side) for side in zip(*parts, strict=True))
        return (weights * lower).sum(axis=0), (weights * upper).sum(axis=0)

    def epsilon(self, delta: float) -> Interval:
        """Invert the averaged privacy profile."""
        if delta == 0:
            return Interval.exact(max(0.0, self.max_divergence()))
        below, above = self.bounding_losses()
        return Interval(lower=below.epsilon(delta), upper=above.epsilon(delta))

    def worst_event(self, epsilon: float, delta: float) -> Event:
        """Worst output of the worst choice (delta = 0), or all outputs whose privacy loss exceeds ``epsilon``."""
        if delta > 0:
            return _tail_event(self.bounding_losses()[0], epsilon)
        possible = [i for i, weight in enumerate(self.log_weights) if weight > -np.inf]
        worst = max(possible, key=lambda i: self.parts[i].max_divergence())
        event = self.parts[worst].worst_event(epsilon, delta)
        weight = float(self.log_weights[worst])
        label = self.labels[worst]
        return Event(
            outcomes={"public choice": label, "then": event.outcomes},
            log_p=weight + event.log_p,
            log_q=weight + event.log_q,
        )


def _tail_text(epsilon: float) -> str:
    return f"all outputs whose likelihood ratio exceeds e^{epsilon:.10g}"


def _tail_event(loss: PrivacyLoss, epsilon: float) -> Event:
    above = loss.losses > epsilon
    return Event(
        outcomes=_tail_text(epsilon),
        log_p=float(np.logaddexp.reduce(loss.log_p[above], initial=-np.inf)),
        log_q=float(np.logaddexp.reduce(loss.log_q[above], initial=-np.inf)),
    )


def bounding_losses(comparison: Comparison) -> tuple[PrivacyLoss, PrivacyLoss]:
    """Privacy losses that enclose the comparison's from below and from above; equal where it is finite."""
    if isinstance(comparison, FiniteComparison):
        loss = comparison.loss()
        return loss, loss
    if isinstance(comparison, LaplaceComparison):
        return ProductComparison([comparison]).bounding_losses()
    if isinstance(comparison, ProductComparison | PublicMixtureComparison):
        return comparison.bounding_losses()
    raise CheckError(
        f"a {type(comparison).__name__} among parts of other kinds has no exact privacy profile here; "
        "audit by sampling (--method black-box)"
    )


def flattened(law: Law) -> FiniteLaw | None:
    """Return a finite law with its outcomes listed, or None where that is not possible."""
    if isinstance(law, FiniteLaw):
        return law
    if isinstance(law, ProductLaw | PublicMixtureLaw):
        return law.flattened()
    return None
