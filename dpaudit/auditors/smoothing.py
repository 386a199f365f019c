"""A smooth log-ratio of two samples along a score, for choosing a threshold that luck alone does not advise."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit, ndtri

_SCALES = 4.0 ** np.arange(-2, 5)
"""Standard deviations that the weights of the shapes may have, in units of one over the root of the outputs."""

_SETS = {(1,): 1.0, (2,): 1.0, (3,): 1.0, (6,): 1.0, (1, 2, 3): 1.0, (4,): 0.3, (5,): 0.3, (1, 2, 3, 4, 5): 0.3}
"""Shapes that are fitted together, beside the constant, and how likely each set is, before anything is counted."""

_RAMP = 0.16
"""Ranks to either side of the middle between which the log-ratio of Laplace noise shifted by its scale rises."""

_LITTLE = 1e-6
"""Precision of the weight of the constant, which the counts decide alone."""

_MOST = 300.0
"""Size of a log-ratio beyond which it might not be told from an infinite one."""

_UNLIKELY = 1e-3
"""How much less likely than the likeliest a fit is that is left out."""

_MOST_CELLS = 250
"""Cells that weights are fitted to, at most: more of them change little."""

_STEPS = 30
_CLOSE_ENOUGH = 1e-8


@dataclass(frozen=True, slots=True)
class Fit:
    """A weighted sum of some of the shapes, fitted to the counts.

    Attributes
    ----------
    shapes
        The constant and these shapes at every cell, shape (number of them, cells).
    weights, covariance
        Their weights, and the covariance of these in the posterior.
    evidence
        Logarithm of how many times likelier the counts are than without any difference, and of how likely these shapes
        were before.
    """

    shapes: np.ndarray
    weights: np.ndarray
    covariance: np.ndarray
    evidence: float

    def log_ratios(self, total: np.ndarray, *, above: bool) -> tuple[np.ndarray, np.ndarray]:
        """Log-ratio of the probabilities of the cells from, or up to, each one, and its variance."""
        logit = np.clip(self.weights @ self.shapes, -_MOST, _MOST)
        part, rest = expit(logit), expit(-logit)
        first, second = (_cumulated(total * each, above=above) for each in (part, rest))
        slopes = _cumulated(self.shapes * (total * part * rest), above=above) * (1 / first + 1 / second)
        variance = np.einsum("kc,kl,lc->c", slopes, self.covariance, slopes)
        return np.log(first) - np.log(second), np.maximum(variance, 0.0)


@dataclass(frozen=True, slots=True)
class Curve:
    """The log-ratio of two samples along a score: the average of several fits, as likely as the counts make them.

    Attributes
    ----------
    fits
        The fits.
    total
        Outputs of both inputs in every cell.
    """

    fits: tuple[Fit, ...]
    total: np.ndarray
    _known: dict[bool, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict, repr=False, compare=False)

    def log_ratios(self, *, above: bool) -> tuple[np.ndarray, np.ndarray]:
        """Log-ratio of the probabilities of the cells from, or up to, each one, and its standard error."""
        if above not in self._known:
            self._known[above] = self._averaged(above=above)
        return self._known[above]

    def _averaged(self, *, above: bool) -> tuple[np.ndarray, np.ndarray]:
        evidence = np.array([fit.evidence for fit in self.fits])
        likely = np.exp(evidence - evidence.max())
        likely = np.where(likely > _UNLIKELY, likely, 0.0)
        likely /= likely.sum()
        found = [
            fit.log_ratios(self.total, above=above) for fit, part in zip(self.fits, likely, strict=True) if part > 0
        ]
        likely = likely[likely > 0]
        each, variances = np.stack([mean for mean, _ in found]), np.stack([variance for _, variance in found])
        mean = likely @ each
        return mean, np.sqrt(likely @ (variances + (each - mean) ** 2))

    @property
    def evidence(self) -> float:
        """Logarithm of how many times likelier the counts are than without any difference; hardly below 0."""
        return float(np.logaddexp.reduce([fit.evidence for fit in self.fits]))

    def explains(self, cells: np.ndarray, errors: float) -> bool:
        """Whether the counts in all cells from, and up to, each one are within so many standard errors of the curve."""
        for above in (True, False):
            first, both = _cumulated(cells[0], above=above), _cumulated(self.total, above=above)
            part = expit(self.log_ratios(above=above)[0])
            if np.any(np.abs(first - both * part) > errors * np.sqrt(both * part * (1 - part))):
                return False
        return True


def fitted_curve(cells: np.ndarray) -> Curve | None:
    """Fit the log-ratio to the counts of two samples in cells along a score.

    Parameters
    ----------
    cells
        How many outputs of either input each cell has, shape (2, cells); none is empty.

    Returns
    -------
    Curve or None
        None where no fit converges, as for inputs that are told apart with certainty.

    Notes
    -----
    The shapes are functions of the rank u in both samples together. Three are the log-ratios of small shifts of
    Laplace, logistic and normal noise: the sign of u - 1/2, u itself, and its normal score. Two are those of shifts of
    Gumbel noise to either side, 1 + log(u) and -1 - log(1 - u), and near those of a change of scale. One is that of a
    larger shift of Laplace noise, which rises between the two centres. Each alone is fitted, and some together: few
    counts leave the average of these fits, and many leave what fits. Weights are
    independent and normal, with the standard deviation under which the counts are likeliest (by Laplace's
    approximation).
    """
    total = cells.sum(axis=0)
    rank = (np.cumsum(total) - total / 2) / total.sum()
    symmetric = np.sign(rank - 0.5), np.sqrt(12) * (rank - 0.5), ndtri(rank)
    ramp = np.clip((rank - 0.5) / _RAMP, -1, 1)
    shapes = np.stack([np.ones_like(rank), *symmetric, 1 + np.log(rank), -1 - np.log1p(-rank), ramp])
    fits = [
        _fit(shapes[[0, *chosen]], cells[0], total, math.log(prior / sum(_SETS.values())))
        for chosen, prior in _SETS.items()
    ]
    found = tuple(fit for fit in fits if fit is not None)
    return Curve(found, total) if found else None


def _fit(shapes: np.ndarray, first: np.ndarray, total: np.ndarray, prior: float) -> Fit | None:
    """Fit weights of shapes to the counts of the first input; None where that does not converge.

    ``prior`` is the logarithm of how likely this set of shapes is, before anything is counted.
    """
    coarse, first, total = _grouped(shapes, first, total)
    precision = np.repeat(total.sum() / _SCALES[:, None] ** 2, len(shapes), axis=1)
    precision[:, 0] = _LITTLE
    weights = np.zeros_like(precision)
    # Newton's method for all standard deviations at once.
    for _ in range(_STEPS):
        part = expit(weights @ coarse)
        information = (coarse * (total * part * (1 - part))[:, None]) @ coarse.T
        information[:, range(len(shapes)), range(len(shapes))] += precision
        gradient = (first - total * part) @ coarse.T - precision * weights
        step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        weights = weights + step
        converged = np.abs(step).max(axis=1) < _CLOSE_ENOUGH
        if converged.all():
            break
    if not converged.any():
        return None
    logit = weights @ coarse
    # Without a difference, every output is as likely to be of the first input as of the second.
    fit = logit @ first - (np.logaddexp(0, logit) - math.log(2)) @ total - np.sum(precision * weights**2, axis=1) / 2
    volume = np.linalg.slogdet(information)[1] - math.log(total.sum() / 4)
    evidence = prior + fit + (np.log(precision[:, 1:]).sum(axis=1) - volume) / 2
    best = int(np.argmax(np.where(converged, evidence, -np.inf)))
    return Fit(shapes, weights[best], np.linalg.inv(information[best]), float(evidence[best]))


def _grouped(shapes: np.ndarray, first: np.ndarray, total: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Join neighbouring cells where there are many: their mean shapes, and their counts."""
    starts = np.unique(np.linspace(0, len(total), _MOST_CELLS, endpoint=False).astype(int))
    if len(starts) == len(total):
        return shapes, first, total
    joined = np.add.reduceat(total, starts)
    return np.add.reduceat(shapes * total, starts, axis=1) / joined, np.add.reduceat(first, starts), joined


def _cumulated(cells: np.ndarray, *, above: bool) -> np.ndarray:
    """Sums over the cells from each one on, or up to it."""
    return np.asarray(np.cumsum(cells[..., ::-1], axis=-1)[..., ::-1] if above else np.cumsum(cells, axis=-1))
