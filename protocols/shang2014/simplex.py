"""Densities of linear images of a uniform point of the simplex."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from dpaudit import ParameterError

_STEP = 0.1
_DECAY = 40.0
_BENDS = 6.0
_CHUNK = 1 << 20


def linear_form_density(
    values: npt.ArrayLike, multiplicities: npt.ArrayLike, at: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """Density of a linear form of a uniform point of the simplex.

    The form is ``sum_i c_i v_i`` where v is uniform on {v >= 0, sum v = 1} in n >= 4 dimensions. Where the coefficients
    c have length 1 and sum 0, the density is the volume of a slice of the simplex over the volume of the simplex.

    Parameters
    ----------
    values, multiplicities : array_like, shape (g,)
        Distinct coefficients, and how many of the n coefficients have each. No coefficient may have all but one of
        them, since the density then jumps there.
    at : array_like of float
        Where the density is wanted.

    Returns
    -------
    ndarray of float64
        Same shape as ``at``, absolute error about 1e-13 of the largest value.

    Raises
    ------
    ParameterError
        The shapes differ, n is below 4 or a multiplicity is out of range.

    Notes
    -----
    With independent standard exponential X_i, v is X over its sum, which is independent of v. So the density of the
    form at x is n - 1 times the density of ``sum_i (c_i - x) X_i`` at 0, and the inversion formula gives
    ``(n - 1) / pi * int_0^inf Re prod_i 1 / (1 - i t (c_i - x)) dt``. The integrand is analytic round the real line;
    after t = sinh(u) the trapezoidal rule converges exponentially.
    **Checked against** the B-spline that it is (Curry and Schoenberg, "On Polya frequency functions IV", J. Analyse
    Math. 17, 1966) in rational arithmetic, sampling, and its integral.
    """
    coefficients = np.asarray(values, dtype=float)
    counts = np.asarray(multiplicities, dtype=float)
    points = np.asarray(at, dtype=float)
    total = counts.sum()
    if coefficients.ndim != 1 or coefficients.shape != counts.shape or not (counts >= 1).all():
        raise ParameterError(
            f"values and multiplicities have shapes {coefficients.shape} and {counts.shape}; "
            "give one multiplicity of at least 1 for each value"
        )
    if total < 4 or counts.max() > total - 2:
        raise ParameterError(
            f"{total:.0f} coefficients of which {counts.max():.0f} are alike: give at least 4, with at most all but "
            "three alike, or else the density is not continuous"
        )
    # Beyond the bends, where the last factor but one has set in, the integrand falls as exp(-(n - k - 1) u).
    nodes = np.arange(0, _BENDS + _DECAY / (total - counts.max() - 1), _STEP)
    weights = np.cosh(nodes) * np.where(nodes == 0, 0.5, 1.0) * _STEP
    flat = points.ravel()
    density = np.empty(flat.shape)
    step = max(1, _CHUNK // (len(nodes) * len(coefficients)))
    for start in range(0, len(flat), step):
        shifted = coefficients - flat[start : start + step, None]
        scale = np.sqrt((counts * shifted**2).sum(axis=1))
        t = np.sinh(nodes) / scale[:, None]
        log_product = -(counts * np.log1p(-1j * t[:, :, None] * shifted[:, None, :])).sum(axis=2)
        density[start : start + step] = (np.exp(log_product).real * weights).sum(axis=1) / scale
    inside = (flat > coefficients.min()) & (flat < coefficients.max())
    return np.asarray(np.where(inside, np.maximum((total - 1) / np.pi * density, 0.0), 0.0).reshape(points.shape))


def plane_image_density(
    vertices: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """Density of the image of a uniform point of the simplex under a linear map into the plane.

    Parameters
    ----------
    vertices : array_like of float, shape (n, 2)
        Images of the n vertices of the simplex, 3 <= n <= 12, not all on one line.
    first, second : array_like of float
        Coordinates of the points where the density is wanted; same shape.

    Returns
    -------
    ndarray of float64
        Same shape as ``first``. On the lines through two vertices, a null set, the value is arbitrary.

    Raises
    ------
    ParameterError
        The vertices have another shape, or lie on one line.

    Notes
    -----
    A piecewise polynomial of degree n - 3, by the recurrence of Micchelli, "A constructive approach to Kergin
    interpolation in R^k: multivariate B-splines and Lagrange interpolation", Rocky Mountain J. Math. 10, 1980.
    **Checked against** its integral, its marginals, a Dirichlet density and sampling.
    """
    knots = np.asarray(vertices, dtype=float)
    if knots.ndim != 2 or knots.shape[1] != 2 or not 3 <= len(knots) <= 12:
        raise ParameterError(f"vertices have shape {knots.shape}; give (n, 2) with n from 3 to 12")
    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    scale = np.abs(knots - knots.mean(axis=0)).max()
    areas: dict[tuple[int, ...], float] = {
        triple: _signed_area(*knots[list(triple)]) for triple in combinations(range(len(knots)), 3)
    }
    proper = {triple: area for triple, area in areas.items() if abs(area) > 1e-12 * scale**2}
    if not proper:
        raise ParameterError("the vertices lie on one line; give images that span the plane")
    known: dict[tuple[int, ...], npt.NDArray[np.float64]] = {}

    def shares(triple: tuple[int, ...]) -> list[npt.NDArray[np.float64]]:
        a, b, c = knots[list(triple)]
        first_share = ((b[0] - x) * (c[1] - y) - (c[0] - x) * (b[1] - y)) / (2 * proper[triple])
        second_share = ((c[0] - x) * (a[1] - y) - (a[0] - x) * (c[1] - y)) / (2 * proper[triple])
        return [first_share, second_share, 1 - first_share - second_share]

    def spline(chosen: tuple[int, ...]) -> npt.NDArray[np.float64]:
        if chosen in known:
            return known[chosen]
        triple = max(combinations(chosen, 3), key=lambda candidate: abs(areas[candidate]))
        if triple not in proper:
            result = np.zeros(x.shape)
        elif len(chosen) == 3:
            result = np.where(np.min(shares(triple), axis=0) >= 0, 1 / abs(proper[triple]), 0.0)
        else:
            parts = [
                share * spline(tuple(k for k in chosen if k != left))
                for left, share in zip(triple, shares(triple), strict=True)
            ]
            result = (len(chosen) - 1) / (len(chosen) - 3) * np.sum(parts, axis=0)
        known[chosen] = result
        return result

    return np.maximum(spline(tuple(range(len(knots)))), 0.0)


def _signed_area(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64], c: npt.NDArray[np.float64]) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])) / 2
