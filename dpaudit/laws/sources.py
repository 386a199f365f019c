"""Privacy losses of one step, as masses of intervals: what is put on a grid in order to be composed many times."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from dpaudit.errors import CheckError, ParameterError
from dpaudit.laws.loss import PrivacyLoss

UNIT = 2.0**-52
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
_LATTICE_POINTS = 1 << 16
_LATTICE_DIVISORS = 64
_LATTICE_DIGITS = 1e-12


class LossSource(ABC):
    """The privacy loss of a law P against another Q, in this direction, with the masses of its intervals.

    Attributes
    ----------
    bottom, top
        Infimum and supremum of the finite losses.
    infinite
        Mass that P puts where Q has none.
    pinned
        Whether there is a single loss where the spacing is 0.
    lattice
        One value and the spacing of a lattice on which all single losses of positive probability lie; the spacing is 0
        where there is at most one, and None stands where they lie on no lattice.
    """

    bottom: float
    top: float
    infinite: float = 0.0
    pinned: bool = False
    lattice: tuple[float, float] | None

    @abstractmethod
    def cells(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log-masses under P and Q of the intervals (edges[i], edges[i+1]], shape (k - 1,).

        ``edges`` ascend strictly; the first may be ``-inf`` and the last ``inf``. The masses are accurate to a relative
        error of `rounding` of them.
        """

    @abstractmethod
    def span(self, log_tail: float) -> tuple[float, float]:
        """Return two losses below and above which P has mass e^``log_tail`` at most."""

    def reversed(self) -> LossSource:
        """Return the loss of Q against P."""
        return Reversed(self)


def rounding(log_p: np.ndarray, log_q: np.ndarray) -> np.ndarray:
    """Bound on the relative error of masses that were computed as logarithms in double precision."""
    with np.errstate(invalid="ignore"):
        size = np.where(np.isfinite(log_p), np.abs(log_p), 0.0) + np.where(np.isfinite(log_q), np.abs(log_q), 0.0)
    error: np.ndarray = UNIT * (32.0 + 4.0 * size)
    return error


@dataclass(frozen=True, slots=True)
class GaussianLoss(LossSource):
    """Two normal laws of one scale, ``ratio`` > 0 standard deviations apart.

    Q is the standard normal law, P that with mean ``ratio``, and the loss at x is ratio x - ratio^2 / 2.
    """

    ratio: float
    bottom = -math.inf
    top = math.inf
    lattice = (0.0, 0.0)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.ratio) and self.ratio > 0):
            raise ParameterError(f"the distance over the scale must be a finite number above 0, got {self.ratio}")

    def cells(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log-masses of the intervals under the two normal laws."""
        x = edges / self.ratio + self.ratio / 2
        return log_normal_cells(x, self.ratio), log_normal_cells(x, 0.0)

    def span(self, log_tail: float) -> tuple[float, float]:
        """Return the losses at both ends of P's central part."""
        reach = self.ratio * math.sqrt(-2 * log_tail)
        return self.ratio**2 / 2 - reach, self.ratio**2 / 2 + reach


def log_normal_cells(x: np.ndarray, mean: float) -> np.ndarray:
    """Log-masses of the intervals between ascending ``x`` under a normal law of deviation 1, however far out.

    Narrow intervals are integrated by a Gauss-Legendre rule of 10 nodes, so that nothing cancels.
    """
    from scipy.special import log_ndtr

    # Widths from ``x`` as given, so that they are the same under every mean.
    left, right = x[:-1] - mean, x[1:] - mean
    with np.errstate(invalid="ignore"):
        width = np.diff(x)
        narrow = np.isfinite(width) & (width * (1 + np.maximum(np.abs(left), np.abs(right))) <= 1.0)
    log_mass = np.empty(len(width))
    centre, half = (left[narrow] + right[narrow]) / 2, width[narrow] / 2
    total = np.zeros(len(centre))
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        shift = half * node
        total += weight * np.exp(-shift * (centre + shift / 2))
    with np.errstate(divide="ignore"):
        log_mass[narrow] = np.log(total * half) - centre**2 / 2 - 0.5 * math.log(2 * math.pi)
    wide = ~narrow
    # The difference of two tails on the side where they are small.
    with np.errstate(invalid="ignore"):
        mirrored = left[wide] + right[wide] > 0
    high = np.where(mirrored, -left[wide], right[wide])
    low = np.where(mirrored, -right[wide], left[wide])
    log_high, log_low = log_ndtr(high), log_ndtr(low)
    with np.errstate(invalid="ignore", divide="ignore"):
        log_mass[wide] = np.where(
            log_high > log_low, log_high + np.log(-np.expm1(np.minimum(log_low - log_high, 0.0))), -np.inf
        )
    return log_mass


@dataclass(frozen=True, slots=True)
class LaplaceLoss(LossSource):
    """Two Laplace laws of one scale, ``ratio`` > 0 scales apart.

    The loss is ``ratio`` with P-mass 1/2, -ratio with P-mass e^-ratio / 2, and between them it has the density
    e^((loss - ratio) / 2) / 4 under P and e^(-(loss + ratio) / 2) / 4 under Q.
    """

    ratio: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.ratio) and self.ratio > 0):
            raise ParameterError(f"the distance over the scale must be a finite number above 0, got {self.ratio}")

    @property
    def bottom(self) -> float:  # type: ignore[override]
        """Minus the distance over the scale."""
        return -self.ratio

    @property
    def top(self) -> float:  # type: ignore[override]
        """Distance over the scale."""
        return self.ratio

    @property
    def lattice(self) -> tuple[float, float]:  # type: ignore[override]
        """The two ends."""
        return -self.ratio, 2 * self.ratio

    def cells(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log-masses in closed form."""
        ratio = self.ratio
        low, high = np.clip(edges[:-1], -ratio, ratio), np.clip(edges[1:], -ratio, ratio)
        with np.errstate(divide="ignore"):
            inside = np.log(-np.expm1((low - high) / 2)) - math.log(2)
        log_p, log_q = inside + (high - ratio) / 2, inside - (low + ratio) / 2
        for end, at_p, at_q in ((-ratio, -ratio, 0.0), (ratio, 0.0, -ratio)):
            i = int(np.searchsorted(edges, end, side="left")) - 1
            if 0 <= i < len(log_p):
                log_p[i] = np.logaddexp(log_p[i], at_p - math.log(2))
                log_q[i] = np.logaddexp(log_q[i], at_q - math.log(2))
        return log_p, log_q

    def span(self, log_tail: float) -> tuple[float, float]:
        """Both ends."""
        return -self.ratio, self.ratio


class FiniteLoss(LossSource):
    """A privacy loss with finitely many values."""

    def __init__(self, loss: PrivacyLoss) -> None:
        self.loss = loss
        finite = np.isfinite(loss.losses)
        if not finite.any():
            raise CheckError("two laws that share no outcome cannot be composed: their privacy loss is infinite")
        self._losses, self._log_p, self._log_q = loss.losses[finite], loss.log_p[finite], loss.log_q[finite]
        self.bottom, self.top = float(self._losses[0]), float(self._losses[-1])
        self.infinite = float(np.exp(loss.log_p[loss.losses == np.inf]).sum())
        self.lattice = _lattice_of(self._losses)

    def cells(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log-masses, added up."""
        place = np.searchsorted(edges, self._losses, side="left") - 1
        within = (place >= 0) & (place < len(edges) - 1)
        log_p = np.full(len(edges) - 1, -np.inf)
        log_q = log_p.copy()
        np.logaddexp.at(log_p, place[within], self._log_p[within])
        np.logaddexp.at(log_q, place[within], self._log_q[within])
        return log_p, log_q

    def span(self, log_tail: float) -> tuple[float, float]:
        """Smallest and largest loss."""
        return self.bottom, self.top

    def reversed(self) -> FiniteLoss:
        """Return the loss of Q against P."""
        loss = self.loss
        return FiniteLoss(PrivacyLoss(-loss.losses[::-1], loss.log_q[::-1], loss.log_p[::-1]))

    def subsampled(self, rate: float) -> FiniteLoss:
        """Return the loss of the mixture against Q."""
        mixed = np.logaddexp(math.log1p(-rate) + self.loss.log_q, math.log(rate) + self.loss.log_p)
        return FiniteLoss(PrivacyLoss.from_log_probabilities(mixed, self.loss.log_q))


def _lattice_of(values: np.ndarray) -> tuple[float, float] | None:
    """First value, and the spacing whose multiples reach all other values up to rounding."""
    start, width = float(values[0]), float(values[-1] - values[0])
    if len(values) == 1:
        return start, 0.0
    slack = _LATTICE_DIGITS * max(1.0, float(np.abs(values).max()))
    spacing = float(np.diff(values).min())
    for divisor in range(1, _LATTICE_DIVISORS + 1):
        steps = np.rint((values - start) * divisor / spacing)
        if steps[-1] > _LATTICE_POINTS:
            return None
        exact = width / float(steps[-1])  # the widest gap says most exactly what the spacing is
        if np.abs(start + steps * exact - values).max() <= slack:
            return start, exact
    return None


@dataclass(frozen=True, slots=True)
class Reversed(LossSource):
    """The loss of Q against P, where each has mass wherever the other has."""

    source: LossSource

    @property
    def bottom(self) -> float:  # type: ignore[override]
        """Minus the largest loss."""
        return -self.source.top

    @property
    def top(self) -> float:  # type: ignore[override]
        """Minus the smallest loss."""
        return -self.source.bottom

    @property
    def lattice(self) -> tuple[float, float] | None:  # type: ignore[override]
        """The lattice, mirrored."""
        lattice = self.source.lattice
        return None if lattice is None else (-lattice[0], lattice[1])

    def cells(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log-masses of the mirrored intervals; a single loss at an edge changes sides with them."""
        mirrored = -edges[::-1]
        mirrored = np.where(np.isfinite(mirrored), np.nextafter(mirrored, -np.inf), mirrored)
        log_p, log_q = self.source.cells(mirrored)
        return log_q[::-1], log_p[::-1]

    def span(self, log_tail: float) -> tuple[float, float]:
        """Found step by step, since it is about the source's Q."""
        low, high = self.source.span(log_tail)

        def outside(first: float, last: float) -> bool:
            return float(self.source.cells(np.array([first, last]))[1][0]) > log_tail

        step = 1.0
        while high < self.source.top and outside(high, np.inf):
            high, step = min(high + step, self.source.top), 2 * step
        step = 1.0
        while low > self.source.bottom and outside(-np.inf, low):
            low, step = max(low - step, self.source.bottom), 2 * step
        return -high, -low

    def reversed(self) -> LossSource:
        """Return the source itself."""
        return self.source


@dataclass(frozen=True, slots=True)
class _Subsampled(LossSource):
    """(1 - rate) Q + rate P against Q, where each of P and Q has mass wherever the other has."""

    source: LossSource
    rate: float

    def _mixed(self, loss: float) -> float:
        return float(np.logaddexp(math.log1p(-self.rate), math.log(self.rate) + loss))

    @property
    def bottom(self) -> float:  # type: ignore[override]
        """At least log(1 - rate)."""
        return self._mixed(self.source.bottom)

    @property
    def top(self) -> float:  # type: ignore[override]
        """Largest loss of the mixture."""
        return self._mixed(self.source.top)

    @property
    def lattice(self) -> tuple[float, float] | None:  # type: ignore[override]
        """Both ends, where these are the only single losses."""
        lattice = self.source.lattice
        if lattice is None or lattice[1] == 0:
            return None if lattice is None else (self._mixed(self.source.bottom), 0.0)
        start, spacing = lattice
        ends = math.isclose(spacing, self.source.top - self.source.bottom, rel_tol=1e-9)
        return (self._mixed(start), self.top - self.bottom) if ends else None

    def cells(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log-masses of the source's intervals, mixed."""
        above = edges - math.log1p(-self.rate)
        # The source's loss is log((e^loss - (1 - rate)) / rate).
        with np.errstate(divide="ignore", invalid="ignore"):
            small = np.log(np.expm1(np.clip(above, 0.0, 1.0)))
            log_excess = np.where(above < 1, small, above + np.log1p(-np.exp(-np.maximum(above, 0.5))))
        inner = math.log1p(-self.rate) - math.log(self.rate) + log_excess
        # Of the edges at or below the bottom, the last one does the work of all.
        below = np.flatnonzero(inner == -np.inf)
        first = int(below[-1]) if below.size else 0
        log_p, log_q = self.source.cells(inner[first:])
        nothing = np.full(first, -np.inf)
        mixed = np.logaddexp(math.log1p(-self.rate) + log_q, math.log(self.rate) + log_p)
        return np.r_[nothing, mixed], np.r_[nothing, log_q]

    def span(self, log_tail: float) -> tuple[float, float]:
        """From the bottom to the mixed end of P's central part."""
        low, high = self.source.span(log_tail)
        return self._mixed(low if math.isfinite(self.source.bottom) else -math.inf), self._mixed(high)


def subsampled(source: LossSource, rate: float) -> LossSource:
    """Return the loss of (1 - rate) Q + rate P against Q: a record that takes part with this probability, removed.

    `LossSource.reversed` of it is the other direction: the record added.

    Parameters
    ----------
    source
        Loss of P against Q.
    rate
        Above 0 and at most 1.

    Raises
    ------
    ParameterError
        The rate is out of range.

    References
    ----------
    Zhu, Dong, Wang, "Optimal accounting of differential privacy via characteristic function", AISTATS 2022, Theorem 11:
    where (P, Q) dominates a mechanism under removal of a record, the mixture and Q dominate it after Poisson sampling.
    """
    if not 0 < rate <= 1:
        raise ParameterError(f"the sampling rate must be above 0 and at most 1, got {rate}")
    if rate == 1:
        return source
    return source.subsampled(rate) if isinstance(source, FiniteLoss) else _Subsampled(source, rate)
