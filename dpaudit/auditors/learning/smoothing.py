"""A smooth log-ratio of two samples along a score, for choosing a threshold that luck alone does not advise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from scipy.special import expit, ndtri

_SCALES = 4.0 ** np.arange(-1, 8)
"""Standard deviations that the weights of the shapes may have beforehand, in units of one over the root of the outputs.
The standard error of a weight is about two of these units, so that they reach from no visible difference to weights of
5 in eight million outputs, in steps of a factor of four. Chosen by hand."""

_SETS = {
    (1,): 1.0,
    (6,): 1.0,
    (2,): 1.0,
    (3,): 0.5,
    (7,): 0.5,
    (1, 2, 3): 0.3,
    (4,): 0.1,
    (5,): 0.1,
    (1, 2, 3, 4, 5): 0.1,
    (7, 8, 9, 10, 11, 12, 13, 14): 0.1,
}
"""Shapes that are fitted together, beside the constant, and how likely each set is before anything is counted. The
numbers of the shapes are those of their order in `fitted_curve`. Tuned on seeds 0 to 39 of Laplace, geometric and
Gaussian noise (benchmarks/weak_effects.md)."""

_BENDS = (0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999)
"""Ranks at which the slope of an estimate of the log-ratio may change: learned scores promise too much in the tails.
Chosen by hand: the middle, and three powers of ten on either side."""

_RAMP = 0.16
"""Ranks to either side of the middle between which the log-ratio of Laplace noise shifted by its scale rises. It rises
between the two centres, whose ranks in both samples together are (1 - 1/e) / 4 = 0.158 from the middle. With 0.08 or
0.32, the mean in benchmarks/sensitivity.md changes by 0.004 of the oracle's bound at most, one row by up to 0.140."""

_LITTLE = 1e-6
"""Precision of the weight of the constant beforehand, which the counts decide alone: a quarter of the outputs is added
to it. Neither 5e-07 nor 2e-06 changes a bound of benchmarks/sensitivity.md by 0.1 %."""

_MOST = 300.0
"""Size of a log-ratio beyond which it might not be told from an infinite one. Double precision ends at exponentials of
709, which leaves room to multiply two of them. Neither 150 nor 600 changes a bound of benchmarks/sensitivity.md by 0.1
%."""

_UNLIKELY = 1e-3
"""How much less likely than the likeliest a fit is that is left out of the average. Chosen by hand, for time. With
0.0005 or 0.002, the mean in benchmarks/sensitivity.md stays, and one row changes by up to 0.005 of the oracle's
bound."""

_MOST_CELLS = 250
"""Cells that weights are fitted to, at most: more of them change little. Chosen by hand, for time. With 125 or 500, the
mean in benchmarks/sensitivity.md changes by 0.003 of the oracle's bound at most, one row by up to 0.127."""

_OUTERMOST = 8
"""Cells on either side that are never joined: of scores with few values, they are events of their own. Chosen by hand,
when the best event of sparse vector 6 was its most extreme value and never among the thresholds. Neither 7 nor 9
changes a bound of benchmarks/sensitivity.md by 0.1 %."""

_DRAWS = 8
"""Draws from the posterior of each fit, half of them mirror images of the others. Chosen for time alone
(benchmarks/weak_effects.md)."""

_STEPS = 30
"""Steps of Newton's method, at most, and of the iteration that solves g^(d + 1) = g + 1. A fit that needs more is left
out. Chosen by hand: both gain digits with every step."""

_BALANCING_STEPS = 4
"""Steps of Newton's method for the constant that makes both samples equally large. Chosen by hand: the fit begins close
to it. Neither 3 nor 5 changes a bound of benchmarks/sensitivity.md by 0.1 %."""

_CLOSE_ENOUGH = 1e-8
"""Largest step of a weight at which Newton's method has converged: the root of the precision of double numbers, as the
next step would be about its square."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A weighted sum of some of the shapes, fitted to the counts.

    Attributes
    ----------
    which
        Numbers of these shapes, of which 0 is the constant.
    weights, information
        Their weights, and the inverse of their covariance in the posterior.
    evidence
        Logarithm of how many times likelier the counts are than without any difference, and of how likely these shapes
        were before.
    """

    which: np.ndarray
    weights: np.ndarray
    information: np.ndarray
    evidence: float


@dataclass(frozen=True)
class Curve:
    """The log-ratio of two samples along a score: the average of several fits, as likely as the counts make them.

    Attributes
    ----------
    fits
        The fits.
    shapes
        The constant, and all shapes, at every cell, shape (number of them, cells).
    total
        Outputs of both inputs in every cell.
    """

    fits: tuple[Fit, ...]
    shapes: np.ndarray
    total: np.ndarray

    def log_ratios(self, *, above: bool) -> np.ndarray:
        """Log-ratio of the probabilities of the cells from, or up to, each one: the mean over the fits."""
        return np.asarray(self._likely[0] @ _of_events(*self._of_cells, above=above))

    def draws(self, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Log-ratios that may be the true ones, of the events from, and up to, cells joined from ``starts`` on.

        Returns both, shape (draws, cells), and how likely each draw is. The draws are spread evenly over the posterior
        of the weights of each fit. As both samples are equally large, so are the probabilities of all outputs.
        """
        likely, fits = self._likely
        total = np.add.reduceat(self.total, starts)
        shapes = np.add.reduceat(self.shapes * self.total, starts, axis=1) / total
        drawn = []
        for fit in fits:
            spread = _root(np.linalg.inv(fit.information))
            drawn.append((fit.weights + _evenly_normal(len(fit.weights)) @ spread.T) @ shapes[fit.which])
        logit = _balanced(np.clip(np.concatenate(drawn), -_MOST, _MOST), total)
        of_cells = _of_cells(logit, total)
        above, below = (_of_events(*of_cells, above=above) for above in (True, False))
        return above, below, np.repeat(likely / _DRAWS, _DRAWS)

    @cached_property
    def _of_cells(self) -> tuple[np.ndarray, np.ndarray]:
        """Outputs of the first and of the second input in every cell, by each fit that counts."""
        logit = np.stack([fit.weights @ self.shapes[fit.which] for fit in self._likely[1]])
        return _of_cells(logit, self.total)

    @cached_property
    def _likely(self) -> tuple[np.ndarray, list[Fit]]:
        """How likely each fit is, and the fits, without those that hardly count."""
        evidence = np.array([fit.evidence for fit in self.fits])
        likely = np.exp(evidence - evidence.max())
        kept = np.flatnonzero(likely > _UNLIKELY)
        return likely[kept] / likely[kept].sum(), [self.fits[i] for i in kept]

    @property
    def evidence(self) -> float:
        """Logarithm of how many times likelier the counts are than without any difference; at least about -2."""
        return float(np.logaddexp.reduce([fit.evidence for fit in self.fits]))

    def explains(self, cells: np.ndarray, errors: float, *, above: bool, amiss: float = 0.0) -> bool:
        """Whether the counts in all cells from, or up to, each one are within so many standard errors of the curve.

        To these comes what Bernstein's inequality adds, which is what decides where few occurrences are expected, and
        the part ``amiss`` of the log-ratio, by which the curve may be off.
        """
        first, both = _cumulated(cells[0], above=above), _cumulated(self.total, above=above)
        log_ratios = self.log_ratios(above=above)
        part = expit(log_ratios)
        variance = both * part * (1 - part)
        allowed = errors * np.sqrt(variance) + errors**2 / 6 + amiss * np.abs(log_ratios) * variance
        return bool(np.all(np.abs(first - both * part) <= allowed))


def fitted_curve(cells: np.ndarray, scores: np.ndarray | None = None, *, estimates: bool = False) -> Curve | None:
    """Fit the log-ratio to the counts of two samples in cells along a score.

    Parameters
    ----------
    cells
        How many outputs of either input each cell has, shape (2, cells); none is empty.
    scores
        The score of every cell, ascending. None where only their order is known.
    estimates
        Whether the scores are estimates of the log-ratio.

    Returns
    -------
    Curve or None
        None where no fit converges, as for inputs that are told apart with certainty.

    Notes
    -----
    The shapes are functions of the rank u in both samples together. Three are the log-ratios of small shifts of
    Laplace, logistic and normal noise: the sign of u - 1/2, u itself, and its normal score. Two are those of shifts of
    Gumbel noise to either side, 1 + log(u) and -1 - log(1 - u), and near those of a change of scale. One is that of a
    larger shift of Laplace noise, which rises between the two centres. The last is the score itself: the log-ratio of
    any shift of normal noise, and of a score that is learned as one; the slope of such a one may change at some of its
    values, which are shapes too. Each alone is fitted, and some together: few
    counts leave the average of these fits, and many leave what fits. Weights are
    independent and normal, with the standard deviation under which the counts are likeliest (by Laplace's
    approximation).
    """
    total = cells.sum(axis=0)
    rank = (np.cumsum(total) - total / 2) / total.sum()
    # Nothing may be in the first or the last cell.
    rank = np.clip(rank, 0.25 / total.sum(), 1 - 0.25 / total.sum())
    symmetric = np.sign(rank - 0.5), np.sqrt(12) * (rank - 0.5), ndtri(rank)
    ramp = np.clip((rank - 0.5) / _RAMP, -1, 1)
    shapes = np.stack([np.ones_like(rank), *symmetric, 1 + np.log(rank), -1 - np.log1p(-rank), ramp])
    linear = None if scores is None else _standardised(scores, total)
    if linear is not None:
        shapes = np.concatenate([shapes, linear[None]])
        if estimates:
            bends = np.interp(_BENDS, rank, linear)
            shapes = np.concatenate([shapes, np.maximum(linear - bends[:, None], 0.0)])
    coarse, first, joined = _grouped(shapes, cells[0], total)
    together: dict[int, list[tuple[int, ...]]] = {}
    for chosen in _SETS:
        if max(chosen) < len(shapes):
            together.setdefault(len(chosen), []).append(chosen)
    found = {
        chosen: fits
        for sets in together.values()
        for chosen, fits in zip(sets, _fits(sets, coarse, first, joined), strict=True)
    }
    ordered = tuple(fit for chosen in _SETS for fit in found.get(chosen, ()))
    return Curve(ordered, shapes, total) if ordered else None


def _standardised(scores: np.ndarray, total: np.ndarray) -> np.ndarray | None:
    """Scores with mean 0 and standard deviation 1; None where they have none."""
    with np.errstate(over="ignore", invalid="ignore"):
        centred = scores - np.average(scores, weights=total)
        spread = float(np.sqrt(np.average(centred**2, weights=total)))
    return centred / spread if math.isfinite(spread) and spread > 0 else None


def _fits(sets: Sequence[tuple[int, ...]], shapes: np.ndarray, first: np.ndarray, total: np.ndarray) -> list[list[Fit]]:
    """Fit weights of sets of equally many shapes to the counts, for each standard deviation for which that converges.

    Returns the fits of each set.
    """
    rows = np.array([(0, *chosen) for chosen in sets])
    own = shapes[rows]
    size = rows.shape[1]
    one, other = np.triu_indices(size)
    products = (own[:, one] * own[:, other]).swapaxes(1, 2)
    precision = np.repeat(total.sum() / _SCALES[:, None] ** 2, size, axis=1)
    precision[:, 0] = _LITTLE
    weights = np.zeros((len(sets), *precision.shape))
    information = np.empty((*weights.shape, size))
    # Newton's method for all sets and standard deviations at once.
    for _ in range(_STEPS):
        part = expit(weights @ own)
        information[..., one, other] = information[..., other, one] = (total * part * (1 - part)) @ products
        information[..., range(size), range(size)] += precision
        gradient = (first - total * part) @ own.swapaxes(1, 2) - precision * weights
        step = np.linalg.solve(information, gradient[..., None])[..., 0]
        weights = weights + step
        converged = np.abs(step).max(axis=-1) < _CLOSE_ENOUGH
        if converged.all():
            break
    logit = weights @ own
    # Without a difference, every output is as likely to be of the first input as of the second.
    fit = logit @ first - (np.logaddexp(0, logit) - math.log(2)) @ total - np.sum(precision * weights**2, axis=-1) / 2
    volume = np.linalg.slogdet(information)[1] - math.log(total.sum() / 4)
    prior = np.log([_SETS[chosen] / sum(_SETS.values()) / len(_SCALES) for chosen in sets])
    evidence = prior[:, None] + fit + (np.log(precision[:, 1:]).sum(axis=1) - volume) / 2
    return [
        [Fit(rows[i], weights[i, j], information[i, j], float(evidence[i, j])) for j in np.flatnonzero(each)]
        for i, each in enumerate(converged)
    ]


def _grouped(shapes: np.ndarray, first: np.ndarray, total: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Join neighbouring cells where there are many: their mean shapes, and their counts."""
    starts = starts_of_groups(len(total), _MOST_CELLS)
    if len(starts) == len(total):
        return shapes, first, total
    joined = np.add.reduceat(total, starts)
    return np.add.reduceat(shapes * total, starts, axis=1) / joined, np.add.reduceat(first, starts), joined


def starts_of_groups(cells: int, groups: int) -> np.ndarray:
    """First cells of about so many groups of neighbouring cells, of which those on the outside are of one cell each."""
    outermost = np.arange(min(_OUTERMOST, cells))
    evenly = np.linspace(0, cells, groups, endpoint=False).astype(int)
    return np.unique(np.concatenate([outermost, evenly, cells - 1 - outermost]))


def _balanced(logit: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Log-ratios with the constant that makes both samples equally large, as they are."""
    half = total.sum() / 2
    for _ in range(_BALANCING_STEPS):
        part = expit(logit)
        slope = np.maximum((part * (1 - part)) @ total, 1e-9 * half)
        logit = logit + np.clip((half - part @ total) / slope, -1, 1)[:, None]
    return np.asarray(logit)


def _root(covariance: np.ndarray) -> np.ndarray:
    """Return a root of a covariance of which rounding may have made some variances negative."""
    try:
        return np.asarray(np.linalg.cholesky(covariance))
    except np.linalg.LinAlgError:  # shapes nearly agree
        variances, turn = np.linalg.eigh(covariance)
        return np.asarray(turn * np.sqrt(np.maximum(variances, 0.0)))


@cache
def _evenly_normal(dimension: int) -> np.ndarray:
    """Points that are spread evenly under independent normal laws, each with its mirror image.

    They are the sequence whose step is 1, 1/g, 1/g^2 and so on, modulo 1, with g^(dimension + 1) = g + 1.
    """
    ratio = 2.0
    for _ in range(_STEPS):
        ratio = (1 + ratio) ** (1 / (dimension + 1))
    steps = ratio ** -np.arange(1.0, dimension + 1)
    points = ndtri((0.5 + np.arange(1, _DRAWS // 2 + 1)[:, None] * steps) % 1)
    return np.concatenate([points, -points])


def _of_cells(logit: np.ndarray, total: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Outputs of the first and of the second input in cells with these log-ratios."""
    logit = np.clip(logit, -_MOST, _MOST)
    return total * expit(logit), total * expit(-logit)


def _of_events(first: np.ndarray, second: np.ndarray, *, above: bool) -> np.ndarray:
    """Log-ratios of the events from, or up to, each cell, by the outputs of both inputs in the cells."""
    return np.asarray(np.log(_cumulated(first, above=above) / _cumulated(second, above=above)))


def _cumulated(cells: np.ndarray, *, above: bool) -> np.ndarray:
    """Sums over the cells from each one on, or up to it."""
    return np.asarray(np.cumsum(cells[..., ::-1], axis=-1)[..., ::-1] if above else np.cumsum(cells, axis=-1))
