"""Positional ranking rules (Section II-A), on histograms of rankings or on profiles, and the noise on their scores."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import factorial, isfinite, sqrt

import numpy as np
import numpy.typing as npt

from dpaudit import DataError, ParameterError, rankings

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

LARGEST_HISTOGRAM = 8
"""Largest number of alternatives for which the histogram of all rankings is held in memory."""

_CHUNK_CELLS = 1 << 21
_NAMED = "plurality, veto, borda, 2-approval, or scores such as 1:0.5:0"


@dataclass(frozen=True, slots=True)
class PositionalRule:
    """Every agent gives each alternative the score of its place; alternatives are sorted by their total.

    Parameters
    ----------
    scores : tuple of float, length m
        Score of each place, best first: finite, never increasing, the first above the last.

    Raises
    ------
    ParameterError
        The scores do not meet these conditions.
    """

    scores: tuple[float, ...]

    def __post_init__(self) -> None:
        values = self.scores
        falling = all(a >= b for a, b in pairwise(values))
        if len(values) < 2 or not all(map(isfinite, values)) or not falling or values[0] <= values[-1]:
            raise ParameterError(
                f"scores must be two or more finite numbers that fall from the best place to the last, got {values}"
            )

    @classmethod
    def named(cls, name: str, alternatives: int) -> PositionalRule:
        """Return plurality, veto, Borda, k-approval, or the rule whose scores the name lists.

        Parameters
        ----------
        name
            ``plurality``, ``veto``, ``borda``, ``2-approval`` and so on, all with scores from 1 to 0, or ``1:0.5:0``.
        alternatives
            m >= 2.

        Raises
        ------
        ParameterError
            The name is unknown or does not fit m.
        """
        m = alternatives
        if m < 2:
            raise ParameterError(f"a positional rule needs 2 or more alternatives, got {m}")
        approved = {"plurality": 1, "veto": m - 1}.get(name)
        if match := re.fullmatch(r"(\d+)-approval", name):
            approved = int(match[1])
        if approved is not None:
            if not 1 <= approved < m:
                raise ParameterError(f"rule {name!r} does not fit {m} alternatives; approve 1 to {m - 1}")
            return cls((1.0,) * approved + (0.0,) * (m - approved))
        if name == "borda":
            return cls(tuple((m - 1 - place) / (m - 1) for place in range(m)))
        try:
            scores = tuple(float(part) for part in name.split(":"))
        except ValueError:
            raise ParameterError(f"rule {name!r} is unknown; give {_NAMED}") from None
        if len(scores) != m:
            raise ParameterError(f"rule {name!r} has {len(scores)} scores for {m} alternatives; give one per place")
        return cls(scores)

    @property
    def alternatives(self) -> int:
        """Number of alternatives m."""
        return len(self.scores)

    def score_histograms(self, histograms: npt.ArrayLike) -> FloatArray:
        """Total scores of histograms over all rankings.

        Parameters
        ----------
        histograms : array_like of float, shape (..., m!)
            Weight of every ranking, in the order of ``all_rankings``; may be negative.

        Returns
        -------
        ndarray of float64, shape (..., m)
        """
        return np.asarray(np.asarray(histograms, dtype=float) @ self._of_each_ranking())

    def score_profile(self, profile: rankings.Profile) -> FloatArray:
        """Total scores of a profile, for any m; shape (m,)."""
        totals = np.zeros(self.alternatives)
        values = np.array(self.scores)
        step = max(1, _CHUNK_CELLS // self.alternatives)
        for start in range(0, len(profile.orders), step):
            piece = slice(start, start + step)
            totals += profile.counts[piece] @ values[rankings.positions(profile.orders[piece])]
        return totals

    def randomize_scores(self, scores: npt.ArrayLike, scale: float, rng: np.random.Generator) -> FloatArray:
        """Add to total scores the noise that independent Gaussian noise on the counts of all m! rankings causes.

        Parameters
        ----------
        scores : array_like of float, shape (..., m)
        scale
            Standard deviation of the noise on one count.

        Returns
        -------
        ndarray of float64
            Same shape. Noise on a total has variance ``scale^2 (m - 1)! sum_k s_k^2``, that on two totals covariance
            ``scale^2 (m - 2)! sum_{k != l} s_k s_l``. Where the covariance is negative, which takes scores below 0, the
            part that is common to all totals is left out; no ranking depends on it.
        """
        totals = np.asarray(scores, dtype=float)
        values = np.array(self.scores)
        covariance = factorial(self.alternatives - 2) * float(values.sum() ** 2 - (values**2).sum())
        own = scale * self.gap_norm / sqrt(2) * rng.normal(size=totals.shape)
        common = scale * sqrt(max(0.0, covariance)) * rng.normal(size=(*totals.shape[:-1], 1))
        return np.asarray(totals + own + common)

    def gap_coefficients(self) -> tuple[FloatArray, IntArray]:
        """Coefficients of the difference of two totals: distinct values, and how many of the m! rankings have each."""
        values = np.array(self.scores)
        gaps = np.subtract.outer(values, values)[~np.eye(len(values), dtype=bool)]
        distinct, counts = np.unique(np.round(gaps, 12), return_counts=True)
        return distinct, counts * factorial(self.alternatives - 2)

    @property
    def gap_norm(self) -> float:
        """Length of the coefficient vector of the difference of two totals."""
        values = np.array(self.scores)
        squares = (np.subtract.outer(values, values) ** 2).sum()
        return sqrt(float(squares) * factorial(self.alternatives - 2))

    def _of_each_ranking(self) -> FloatArray:
        """Score that every ranking gives each alternative, shape (m!, m)."""
        return np.array(self.scores)[all_places(self.alternatives)]


def ranking_histogram(profile: rankings.Profile) -> IntArray:
    """Count the agents who hold each ranking.

    Parameters
    ----------
    profile : dpaudit.rankings.Profile
        At most 8 alternatives.

    Returns
    -------
    ndarray of int64, shape (m!,)
        In the order of ``all_rankings``.

    Raises
    ------
    ParameterError
        There are more than 8 alternatives.
    """
    _check_dense(profile.alternatives)
    histogram = np.zeros(factorial(profile.alternatives), dtype=np.int64)
    np.add.at(histogram, rankings.ranking_index(profile.orders), profile.counts)
    return histogram


def rank_by_scores(scores: npt.ArrayLike, rng: np.random.Generator) -> IntArray:
    """Sort alternatives by falling score; ties are broken at random.

    Parameters
    ----------
    scores : array_like of float, shape (runs, m)

    Returns
    -------
    ndarray of int64, shape (runs, m)
        Rankings, best first.

    Raises
    ------
    DataError
        The scores have another shape or are not numbers.
    """
    totals = np.asarray(scores, dtype=float)
    if totals.ndim != 2 or np.isnan(totals).any():
        raise DataError(f"scores of shape {totals.shape}: give numbers of shape (runs, m)")
    order = np.argsort(-totals, axis=1)
    tied = (np.diff(np.take_along_axis(totals, order, axis=1), axis=1) == 0).any(axis=1)
    if tied.any():
        order[tied] = np.lexsort((rng.random((np.count_nonzero(tied), totals.shape[1])), -totals[tied]), axis=1)
    return order


@cache
def all_places(m: int) -> IntArray:
    """Place of every alternative in every ranking, shape (m!, m)."""
    _check_dense(m)
    places = rankings.positions(rankings.all_rankings(m))
    places.setflags(write=False)
    return places


def _check_dense(m: int) -> None:
    if m > LARGEST_HISTOGRAM:
        raise ParameterError(f"m is {m}, which means {m}! rankings; a histogram is held up to m = {LARGEST_HISTOGRAM}")
