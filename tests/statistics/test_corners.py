"""Joint regions of an event's two probabilities, against enumeration."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.statistics.corners import joint_corners

M, N = 14, 11


def tables(p, q):
    """P(X >= x) and P(Y <= y), and the probabilities of x and y, for all counts."""
    x, y = np.arange(M + 1), np.arange(N + 1)
    return binom.sf(x - 1, M, p), binom.cdf(y, N, q), binom.pmf(x, M, p), binom.pmf(y, N, q)


@cache
def regions(alpha):
    """Corners of the regions of all counts."""
    x, y = (grid.ravel() for grid in np.meshgrid(np.arange(M + 1), np.arange(N + 1), indexing="ij"))
    return joint_corners(x, M, y, N, alpha)


def covered(p, q, alpha):
    """Whether the region of all counts contains (p, q), shape (M + 1, N + 1)."""
    corners = regions(alpha)
    return ((corners.p <= p) & (corners.q >= q)).any(axis=1).reshape(M + 1, N + 1)


PAIRS = [(p, q) for p in (0.02, 0.2, 0.5, 0.77, 0.99) for q in (0.01, 0.15, 0.5, 0.9)]


@pytest.mark.parametrize("alpha", [0.3, 0.05])
def test_exact_error_is_at_most_alpha_and_no_small_part_of_it(alpha):
    errors = []
    for p, q in PAIRS:
        *_, of_x, of_y = tables(p, q)
        errors.append(float(of_x @ ~covered(p, q, alpha) @ of_y))
    assert max(errors) <= alpha
    assert max(errors) >= alpha / 3


@pytest.mark.parametrize("alpha", [0.3, 0.01])
def test_the_region_encloses_that_of_the_product_closely(alpha):
    t = 1e-9
    while t * (1 - np.log(t)) < alpha:
        t *= 1.0001
    missing = extra = 0
    for p, q in PAIRS:
        above, below, *_ = tables(p, q)
        exact = np.multiply.outer(above, below) > t
        found = covered(p, q, alpha)
        missing += np.count_nonzero(exact & ~found)
        # What is enclosed beyond it has a product of p-values of at least t less one part of its exponent.
        extra += np.count_nonzero(found & (np.multiply.outer(above, below) < t ** (1 + 1.01 / 64)))
    assert missing == 0
    assert extra == 0


def test_complements_keep_their_digits():
    corners = joint_corners(np.array([999_999]), 1_000_000, np.array([1]), 1_000_000, 0.01)
    assert corners.p + corners.p_complement == pytest.approx(1.0, abs=1e-12)
    assert corners.q + corners.q_complement == pytest.approx(1.0, abs=1e-12)
    assert np.all(corners.p_complement > 0)
    other = joint_corners(np.array([999_999]), 1_000_000, np.array([1]), 1_000_000, 0.01).reverse
    assert np.array_equal(other.p, corners.q_complement)
    assert np.array_equal(other.q, corners.p_complement)
    assert np.array_equal(other.reverse.p, corners.p)


def test_each_event_has_an_error_probability_of_its_own():
    both = joint_corners(np.array([60, 60]), 100, np.array([40, 40]), 100, np.array([0.1, 1e-4]))
    assert np.all(both.p[0] > both.p[1])
    assert np.all(both.q[0] < both.q[1])
    alone = joint_corners(np.array([60]), 100, np.array([40]), 100, 1e-4)
    assert np.array_equal(alone.p[0], both.p[1])
