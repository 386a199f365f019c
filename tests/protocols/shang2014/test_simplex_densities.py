"""Densities on the simplex against rational arithmetic, closed forms and sampling."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.interpolate import BSpline
from scipy.stats import kstest

from dpaudit import ParameterError
from dpaudit.catalog.shang2014.simplex import linear_form_density, plane_image_density

FALSE_ALARM = 1e-6
SEED = 20261121
BORDA3 = ([-2, -1, 1, 2], [1, 2, 2, 1])
PLURALITY3 = ([-1, 0, 1], [2, 2, 2])
BORDA4 = ([-3, -2, -1, 1, 2, 3], [2, 4, 6, 6, 4, 2])
UNEVEN = ([-3, 1, 2, 7], [1, 3, 1, 2])


def rational_density(values, multiplicities, at):
    """(n - 1) times the divided difference of (t - x)_+^(n - 2) over the coefficients, each as often as it occurs."""
    knots = [Fraction(v) for v, k in zip(values, multiplicities, strict=True) for _ in range(k)]
    n, x = len(knots), Fraction(at)

    def derivative(t, order):
        power = n - 2 - order
        return math.perm(n - 2, order) * max(t - x, Fraction(0)) ** power if power else Fraction(t > x)

    table = [derivative(t, 0) for t in knots]
    for order in range(1, n):
        table = [
            (table[i + 1] - table[i]) / (knots[i + order] - knots[i])
            if knots[i + order] != knots[i]
            else derivative(knots[i], order) / math.factorial(order)
            for i in range(n - order)
        ]
    return (n - 1) * table[0]


@pytest.mark.parametrize("form", [BORDA3, PLURALITY3, BORDA4, UNEVEN])
def test_density_against_the_divided_difference_in_rational_arithmetic(form):
    low, high = min(form[0]), max(form[0])
    points = [Fraction(low) + Fraction(high - low) * i / 37 for i in range(38)]
    exact = np.array([float(rational_density(*form, point)) for point in points])
    found = linear_form_density(*form, [float(point) for point in points])
    assert found == pytest.approx(exact, abs=1e-12 * exact.max())


def test_the_rational_density_is_known_in_a_simple_case():
    # v_1 + v_2 is Beta(2, 2), and v_1 is Beta(1, 3), whose density jumps at 0.
    assert rational_density([0, 1], [2, 2], Fraction(1, 4)) == 6 * Fraction(3, 16)
    assert rational_density([0, 1], [3, 1], Fraction(1, 3)) == 3 * Fraction(2, 3) ** 2
    assert linear_form_density([0, 1], [2, 2], 0.25) == pytest.approx(6 * 0.25 * 0.75, rel=1e-12)


def test_density_of_many_coefficients_against_de_boor():
    values, counts = np.array([-4.0, -3, -2, -1, 1, 2, 3, 4]) / 4, np.array([6, 12, 18, 24, 24, 18, 12, 6])
    knots = np.repeat(values, counts)
    at = np.linspace(-0.4, 0.4, 81)
    spline = BSpline.basis_element(knots)(at) * (len(knots) - 1) / (knots[-1] - knots[0])
    found = linear_form_density(values, counts, at)
    assert found == pytest.approx(spline, abs=1e-11 * spline.max())


@pytest.mark.parametrize("form", [BORDA3, BORDA4, UNEVEN])
def test_density_integrates_to_one_and_is_what_sampling_shows(form):
    values, counts = np.array(form[0], dtype=float), np.array(form[1])
    grid = np.linspace(values[0], values[-1], 1201)
    density = linear_form_density(values, counts, grid)
    cumulative = np.r_[0, np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(grid))]
    assert cumulative[-1] == pytest.approx(1, abs=1e-4)
    points = np.random.default_rng(SEED).dirichlet(np.ones(counts.sum()), 10_000)
    drawn = points @ np.repeat(values, counts)
    assert kstest(drawn, lambda x: np.interp(x, grid, cumulative)).pvalue > FALSE_ALARM


def test_density_is_zero_outside():
    assert linear_form_density(*BORDA3, [-2.5, -2.0, 2.0, 3.0]).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("values", "counts", "words"),
    [
        ([0, 1], [1, 1], "at least 4"),
        ([0, 1], [1, 4], "not continuous"),
        ([0, 1], [3, 1], "not continuous"),
        ([0, 1, 2], [2, 2], "shapes"),
    ],
)
def test_what_has_no_continuous_density_is_refused(values, counts, words):
    with pytest.raises(ParameterError, match=words):
        linear_form_density(values, counts, 0.5)


def test_plane_density_of_a_doubled_triangle_is_dirichlet():
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    x, y = np.array([0.2, 0.31, 0.6, 0.9]), np.array([0.3, 0.12, 0.35, 0.8])
    density = plane_image_density(np.repeat(corners, 2, axis=0), x, y)
    exact = np.where(x + y < 1, 120 * x * y * (1 - x - y), 0)
    assert density == pytest.approx(exact, abs=1e-12)


def test_plane_density_has_the_marginal_of_a_linear_form():
    vertices = np.array([[1, 1], [2, -1], [1, -2], [-1, -1], [-2, 1], [-1, 2]], dtype=float)
    nodes, weights = np.polynomial.legendre.leggauss(8)
    for at in (0.13, 0.77, 1.31):
        # Kinks where a line through two vertices meets the vertical one.
        kinks = {-2.0, 2.0}
        for i, a in enumerate(vertices):
            for b in vertices[i + 1 :]:
                if a[0] != b[0]:
                    kinks.add(float(np.clip(a[1] + (b[1] - a[1]) * (at - a[0]) / (b[0] - a[0]), -2, 2)))
        ends = np.array(sorted(kinks))
        half = np.diff(ends)[:, None] / 2
        y = (ends[:-1, None] + half + half * nodes).ravel()
        marginal = np.sum(plane_image_density(vertices, np.full(y.shape, at), y) * (half * weights).ravel())
        assert marginal == pytest.approx(float(linear_form_density(*BORDA3, at)), rel=1e-12)


def test_plane_density_refuses_what_has_none():
    with pytest.raises(ParameterError, match="one line"):
        plane_image_density([[0, 0], [1, 1], [2, 2]], 0.5, 0.5)
    with pytest.raises(ParameterError, match="shape"):
        plane_image_density([[0, 0], [1, 1]], 0.5, 0.5)
