"""Exponents of growth: of exact values point by point, of measured ones by regression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True)
class Exponent:
    """An exponent with the interval that it lies in."""

    lower: float
    estimate: float
    upper: float


def local_exponents(points: np.ndarray, values: np.ndarray, *, corrected: bool = False) -> Exponent:
    """Smallest, median and largest local exponent of exact values.

    Parameters
    ----------
    points, values
        Above 0, points ascending, shape (k,), k >= 2; 3 with ``corrected``.
    corrected
        Solve ``values = a * points ** exponent * exp(c / points)`` on every three neighbouring points instead of
        a power law on every two. The factor takes up what small points add, such as (1 - 1 / m) in m (m - 1), so this
        is closer to the exponent in the limit.

    Returns
    -------
    Exponent
        A statement about these points alone: nothing is estimated, so no confidence is involved.
    """
    x, y = np.log(points), np.log(values)
    if corrected:
        with np.errstate(over="ignore"):
            inverse = 1.0 / points
        if not np.isfinite(inverse).all():
            return Exponent(lower=np.nan, estimate=np.nan, upper=np.nan)
        # On three points, with the constant and c eliminated.
        first, second = np.diff(inverse)[:-1], np.diff(inverse)[1:]
        slopes = (np.diff(y)[:-1] * second - np.diff(y)[1:] * first) / (
            np.diff(x)[:-1] * second - np.diff(x)[1:] * first
        )
    else:
        slopes = np.diff(y) / np.diff(x)
    return Exponent(lower=float(slopes.min()), estimate=float(np.median(slopes)), upper=float(slopes.max()))


def fitted_exponent(points: np.ndarray, values: np.ndarray, *, confidence: float, corrected: bool = False) -> Exponent:
    """Fit a power law to independent measurements by least squares on the logarithms.

    Parameters
    ----------
    points
        Above 0, shape (k,), k >= 2; 3 with ``corrected``.
    values
        Independent measurements at each point, above 0, shape (k, r), r >= 2.
    confidence
        Coverage of the interval, in (0, 1).
    corrected
        Fit the factor exp(c / point) of `local_exponents` too.

    Returns
    -------
    Exponent

    Notes
    -----
    **Guarantee.** Student's interval with the heteroscedasticity-robust HC3 standard errors: approximate, with the
    stated coverage where a power law holds and the logarithms of the measurements are near to normal.
    **Checked against** simulated coverage with unequal variances.

    References
    ----------
    MacKinnon and White, "Some heteroskedasticity-consistent covariance matrix estimators with improved finite sample
    properties", Journal of Econometrics 29, 1985.
    """
    from statsmodels.regression.linear_model import OLS

    every = np.repeat(points, values.shape[1])
    columns = [np.ones(len(every)), np.log(every)] + ([1.0 / every] if corrected else [])
    fit = OLS(np.log(values.ravel()), np.stack(columns, axis=1)).fit(cov_type="HC3", use_t=True)
    lower, upper = fit.conf_int(alpha=1 - confidence)[1]
    return Exponent(lower=float(lower), estimate=float(fit.params[1]), upper=float(upper))
