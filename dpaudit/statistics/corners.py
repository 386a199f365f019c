"""Joint confidence regions for an event's probabilities on two inputs, where it is likelier on the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.statistics.proportions import proportion_lower, proportion_upper

_STEPS = 64
"""Corners that enclose the edge of a region. With four times as many a bound is 1 % nearer to the truth."""

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Corners:
    """Regions, each of which is a union of rectangles {p at least p_j and q at most q_j}.

    Attributes
    ----------
    p, q
        Corners of the rectangles of each event, shape (events, corners).
    p_complement, q_complement
        1 - p and 1 - q, with small ones to full precision.
    """

    p: np.ndarray
    q: np.ndarray
    p_complement: np.ndarray
    q_complement: np.ndarray

    @property
    def reverse(self) -> Corners:
        """The regions of the complements, which are likelier on the second input."""
        return Corners(self.q_complement, self.p_complement, self.q, self.p)


def joint_corners(hits_p: Any, trials_p: int, hits_q: Any, trials_q: int, alpha: Any) -> Corners:
    """Enclose, for each of several events, the probabilities (p, q) that two independent counts leave possible.

    Where each probability has a confidence bound of its own, both are wrong by as much at once. The region of Fisher's
    product of p-values is smaller: it leaves possible all (p, q) with P(X >= hits_p) P(Y <= hits_q) > t for binomial X
    and Y, where t (1 - log t) = ``alpha`` is the probability that a product of two uniform numbers is at most t.

    Parameters
    ----------
    hits_p, hits_q
        Occurrences on the input where an event should be likelier, and on the other, shape (events,).
    trials_p, trials_q
        Trials on each input.
    alpha
        Error probability of each region, shape (events,) or one number.

    Returns
    -------
    Corners

    Notes
    -----
    **Guarantee.** With probability at least 1 - ``alpha`` of an event, its true (p, q) is in one of the rectangles of
    that event: some corner has p_j <= p and q_j >= q. A function of (p, q) that rises with p and falls with q is
    therefore at least its smallest value over the corners.
    Fisher, "Statistical methods for research workers", 1932, Section 21.1 (the product of p-values).
    **Checked against** the exact coverage by enumeration.
    """
    from scipy.special import chdtri

    hits_p, hits_q = np.asarray(hits_p), np.asarray(hits_q)
    # Twice the negative logarithm of the product of two uniform numbers has a chi-squared law of 4 degrees of freedom.
    exponent = (chdtri(4, np.broadcast_to(alpha, hits_p.shape)) / 2 * (1 + _ROUNDING))[:, None]
    share = np.arange(_STEPS + 1) / _STEPS
    # Where the first p-value is t to a power between two of these shares, so is the second above its complement.
    level_p, level_q = np.exp(-exponent * share[1:]), np.exp(-exponent * (1 - share[:-1]))
    of_p, of_q = hits_p[:, None], hits_q[:, None]
    return Corners(
        p=proportion_lower(of_p, trials_p, level_p),
        q=proportion_upper(of_q, trials_q, level_q),
        p_complement=proportion_upper(trials_p - of_p, trials_p, level_p),
        q_complement=proportion_lower(trials_q - of_q, trials_q, level_q),
    )
