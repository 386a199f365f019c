"""Laws of many independent parts: products whose privacy loss is composed on a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from dpaudit.errors import CheckError
from dpaudit.laws.base import Comparison, Law, UncomposableError, check_distance, compare
from dpaudit.laws.composed import ComposedComparison
from dpaudit.laws.continuous import GaussianComparison, LaplaceComparison
from dpaudit.laws.discrete import DiscreteGaussianComparison
from dpaudit.laws.enclosed import EnclosedLoss, composed_exactly
from dpaudit.laws.finite import FiniteComparison
from dpaudit.laws.joint import ProductComparison, PublicMixtureComparison, bounding_losses
from dpaudit.laws.loss import PrivacyLoss
from dpaudit.laws.mixture import GaussianMixtureComparison
from dpaudit.laws.sources import FiniteLoss, GaussianLoss, LaplaceLoss, LossSource

_MOST_TIMES = 10**12

Counted = tuple[LossSource, int]


@dataclass(frozen=True, slots=True, eq=False)
class ComposedLaw(Law):
    """Independent parts released together, each so many times.

    Parts can be finite, Gaussian, Laplace, discrete Gaussian, mixtures of normal laws, products, public mixtures, and
    composed laws.

    Parameters
    ----------
    parts
        (law, count) each; counts are at least 1.

    Raises
    ------
    CheckError
        There is no part, or a count is below 1.
    """

    parts: Sequence[tuple[Law, int]]

    def __post_init__(self) -> None:
        if not isinstance(self.parts, Sequence) or not self.parts:
            raise CheckError("a composed law needs at least one part")
        for part in self.parts:
            if not (isinstance(part, Sequence) and len(part) == 2 and isinstance(part[0], Law)):
                raise CheckError(f"a part of a composed law must be (law, how often it occurs), got {part!r}")
            if not (isinstance(part[1], Integral) and 1 <= part[1] <= _MOST_TIMES):
                raise CheckError(f"a part of a composed law occurs from 1 to {_MOST_TIMES:,} times, got {part[1]!r}")

    def against(self, other: Law) -> Comparison:
        """Compare part by part; all Gaussian parts are one, in closed form."""
        assert isinstance(other, ComposedLaw)
        mine, others = [count for _, count in self.parts], [count for _, count in other.parts]
        if mine != others:
            raise CheckError(f"composed laws of {mine} and {others} parts cannot be compared")
        return composition([(compare(p, q), count) for (p, count), (q, _) in zip(self.parts, other.parts, strict=True)])


def composition(parts: Sequence[tuple[Comparison, int]]) -> Comparison:
    """Compare independent parts released together, each so many times.

    Parameters
    ----------
    parts
        (comparison, count) each.

    Returns
    -------
    Comparison
        Exact where all parts are Gaussian, where they are finite and the loss has at most 4,096 values, and where a
        part tells the inputs apart with certainty; otherwise enclosed from both sides.

    Raises
    ------
    UncomposableError
        A part is of a kind that cannot be composed.
    """
    for part, _ in parts:
        if (loss := _total(part)) is not None:
            return EnclosedLoss(loss, loss, [(FiniteComparison(range(len(loss.losses)), loss.log_p, loss.log_q), 1)])
    below: list[Counted] = []
    above: list[Counted] = []
    squares = 0.0
    for part, count in parts:
        low, high = _sources(part)
        for side, found in ((below, low), (above, high)):
            side.extend((source, count * times) for source, times in found if not isinstance(source, GaussianLoss))
        squares += count * math.fsum(times * (s.ratio * s.ratio) for s, times in high if isinstance(s, GaussianLoss))
    if not above:
        return GaussianComparison(math.sqrt(squares), 0.0, 1.0)
    if len(parts) == 1 and parts[0][1] == 1:
        return parts[0][0]
    finite = [(source.loss, count) for source, count in above if isinstance(source, FiniteLoss)]
    if not squares and len(finite) == len(above) and all(a is b for (a, _), (b, _) in zip(above, below, strict=True)):
        exact = composed_exactly(finite)
        if exact is not None:
            return EnclosedLoss(exact, exact, tuple(parts))
    if squares:
        together: Counted = (GaussianLoss(math.sqrt(squares)), 1)
        below.append(together)
        above.append(together)
    return ComposedComparison(above, below, independent=tuple(parts))


def _total(comparison: Comparison) -> PrivacyLoss | None:
    """Return the loss of two laws that share no outcome, whatever is released besides; None of other laws."""
    if isinstance(comparison, ProductComparison):
        return next((loss for part in comparison.parts if (loss := _total(part)) is not None), None)
    loss = None
    if isinstance(comparison, FiniteComparison):
        loss = comparison.loss()
    elif isinstance(comparison, EnclosedLoss):
        loss = comparison.known_loss
    elif isinstance(comparison, PublicMixtureComparison):
        possible = comparison.log_weights > -np.inf
        chosen = [_total(part) for part, can in zip(comparison.parts, possible, strict=True) if can]
        loss = None if any(each is None for each in chosen) else chosen[0]
    return None if loss is None or np.isfinite(loss.losses).any() else loss


def _sources(comparison: Comparison) -> tuple[list[Counted], list[Counted]]:
    """Losses below and above; none where both laws are the same."""
    same: list[Counted]
    if isinstance(comparison, GaussianComparison | LaplaceComparison):
        kind = GaussianLoss if isinstance(comparison, GaussianComparison) else LaplaceLoss
        if comparison.ratio > 0:
            check_distance(comparison.ratio)
        same = [(kind(comparison.ratio), 1)] if comparison.ratio > 0 else []
        return same, same
    if isinstance(comparison, FiniteComparison):
        loss = comparison.loss()
        same = [(FiniteLoss(loss), 1)] if np.any(loss.losses != 0) else []
        return same, same
    if isinstance(comparison, DiscreteGaussianComparison):
        if not comparison.distance:
            return [], []
        least, most = comparison.bounding_losses()
        return [(FiniteLoss(least), 1)], [(FiniteLoss(most), 1)]
    if isinstance(comparison, GaussianMixtureComparison):
        if comparison.equal:
            return [], []
        low, high = comparison.sources()
        return [(low, 1)], [(high, 1)]
    if isinstance(comparison, EnclosedLoss):
        return [(FiniteLoss(comparison.below), 1)], [(FiniteLoss(comparison.above), 1)]
    if isinstance(comparison, ComposedComparison):
        return list(comparison.below), list(comparison.above)
    if isinstance(comparison, ProductComparison):
        pairs = [_sources(part) for part in comparison.parts]
        return [s for pair in pairs for s in pair[0]], [s for pair in pairs for s in pair[1]]
    if isinstance(comparison, PublicMixtureComparison):
        least, most = bounding_losses(comparison)
        return [(FiniteLoss(least), 1)], [(FiniteLoss(most), 1)]
    raise UncomposableError(
        f"a {type(comparison).__name__} cannot be composed with other parts; audit by sampling (--method black-box)"
    )
