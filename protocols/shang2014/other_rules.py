"""Rules that are not positional: instant run-off, Copeland and Kemeny, on histograms whose counts may be negative."""

from __future__ import annotations

from functools import cache
from math import factorial, sqrt

import numpy as np
import numpy.typing as npt

from dpaudit import DataError
from dpaudit.rankings import all_rankings, alternative_pairs

from .positional import FloatArray, IntArray, all_places, rank_by_scores

_CHUNK = 1 << 22


def histogram_margins(histograms: npt.ArrayLike, alternatives: int) -> FloatArray:
    """Weight of the rankings that place j before l less that of the others, for every pair j < l.

    Parameters
    ----------
    histograms : array_like of float, shape (runs, m!)
        Weight of every ranking, in the order of ``all_rankings``.
    alternatives
        m <= 8.

    Returns
    -------
    ndarray of float64, shape (runs, m (m - 1) / 2)
        In the order of ``alternative_pairs``.
    """
    return np.asarray(_checked(histograms, alternatives) @ _signs(alternatives))


def randomize_margins(margins: npt.ArrayLike, alternatives: int, scale: float, rng: np.random.Generator) -> FloatArray:
    """Add to margins the noise that independent Gaussian noise on the counts of all m! rankings causes.

    Parameters
    ----------
    margins : array_like of float, shape (runs, m (m - 1) / 2)
        In the order of ``alternative_pairs``.
    alternatives
        m.
    scale
        Standard deviation of the noise on one count.

    Returns
    -------
    ndarray of float64
        Same shape. Noise of a pair has variance ``scale^2 m!``; pairs that share an alternative have a covariance of
        a third of it, negative where the alternative is first in one and second in the other; others have none.
    """
    values = np.asarray(margins, dtype=float)
    unit = scale * sqrt(factorial(alternatives) / 3)
    own = rng.normal(size=(len(values), alternatives))
    first, second = alternative_pairs(alternatives).T
    return np.asarray(values + unit * (own[:, first] - own[:, second] + rng.normal(size=values.shape)))


def copeland(margins: npt.ArrayLike, alternatives: int, rng: np.random.Generator) -> IntArray:
    """Sort alternatives by the number of others that they beat; a tie counts half; ties are broken at random.

    Parameters
    ----------
    margins : array_like of float, shape (runs, m (m - 1) / 2)
        As of ``histogram_margins``.

    Returns
    -------
    ndarray of int64, shape (runs, m)
    """
    wins = np.sign(np.asarray(margins, dtype=float))
    totals = np.zeros((len(wins), alternatives))
    for column, (j, l) in enumerate(alternative_pairs(alternatives)):  # noqa: E741 - the usual index
        totals[:, j] += wins[:, column]
        totals[:, l] -= wins[:, column]
    return rank_by_scores(totals, rng)


def kemeny_of_margins(margins: npt.ArrayLike, alternatives: int, rng: np.random.Generator) -> IntArray:
    """Ranking of least total Kendall tau distance, by enumeration; ties are broken at random.

    Parameters
    ----------
    margins : array_like of float, shape (runs, m (m - 1) / 2)
        As of ``histogram_margins``.
    alternatives
        m <= 8.

    Returns
    -------
    ndarray of int64, shape (runs, m)
    """
    values = np.asarray(margins, dtype=float)
    signs, every = _signs(alternatives).T, all_rankings(alternatives)
    step = max(1, _CHUNK // len(every))
    parts = []
    for start in range(0, len(values), step):
        agreement = values[start : start + step] @ signs
        best = agreement.max(axis=1, keepdims=True)
        ties = agreement >= best - 1e-12 * np.abs(best)
        parts.append(every[np.argmax(np.where(ties, rng.random(ties.shape), -1.0), axis=1)])
    return np.concatenate(parts) if parts else np.zeros((0, alternatives), dtype=np.int64)


def instant_runoff(histograms: npt.ArrayLike, alternatives: int, rng: np.random.Generator) -> IntArray:
    """Repeatedly eliminate the alternative that is first for the least weight; the last one left is ranked first.

    Parameters
    ----------
    histograms : array_like of float, shape (runs, m!)
        Weight of every ranking, in the order of ``all_rankings``.
    alternatives
        m <= 8.

    Returns
    -------
    ndarray of int64, shape (runs, m)
        Best first; where several have the least weight, one of them is eliminated at random.
    """
    weights = _checked(histograms, alternatives)
    remaining = np.full(len(weights), (1 << alternatives) - 1)
    rankings = np.empty((len(weights), alternatives), dtype=np.int64)
    for place in range(alternatives - 1, 0, -1):
        for left in np.unique(remaining):
            runs = np.flatnonzero(remaining == left)
            favourites = _favourites(int(left), alternatives)[:, None] == np.arange(alternatives)
            votes = np.where(_members(int(left), alternatives), weights[runs] @ favourites.astype(float), np.inf)
            tied = votes == votes.min(axis=1, keepdims=True)
            rankings[runs, place] = np.argmax(np.where(tied, rng.random(tied.shape), -1.0), axis=1)
        remaining ^= 1 << rankings[:, place]
    rankings[:, 0] = np.log2(remaining).astype(np.int64)
    return rankings


def _checked(histograms: npt.ArrayLike, alternatives: int) -> FloatArray:
    weights = np.asarray(histograms, dtype=float)
    if weights.ndim != 2 or weights.shape[1] != len(all_places(alternatives)):
        raise DataError(f"histograms have shape {weights.shape}; give (runs, {factorial(alternatives)})")
    return weights


@cache
def _signs(m: int) -> FloatArray:
    """1 where a ranking places the first of a pair before the second and -1 elsewhere, shape (m!, pairs)."""
    places, pairs = all_places(m), alternative_pairs(m)
    return np.where(places[:, pairs[:, 0]] < places[:, pairs[:, 1]], 1.0, -1.0)


def _members(left: int, m: int) -> npt.NDArray[np.bool_]:
    return np.asarray((left >> np.arange(m)) & 1 == 1)


@cache
def _favourites(left: int, m: int) -> npt.NDArray[np.int8]:
    """Best of the alternatives left in every ranking, shape (m!,)."""
    return np.asarray(np.where(_members(left, m), all_places(m), m).argmin(axis=1), dtype=np.int8)
