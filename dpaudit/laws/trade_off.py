"""Trade-off functions of two laws, in one direction, and what Gaussian differential privacy makes of them."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from dpaudit.claims.evidence import Interval
from dpaudit.errors import CheckError
from dpaudit.laws.base import Comparison
from dpaudit.laws.continuous import GaussianComparison, LaplaceComparison
from dpaudit.laws.enclosed import EnclosedLoss
from dpaudit.laws.finite import FiniteComparison
from dpaudit.laws.joint import ProductComparison, PublicMixtureComparison
from dpaudit.laws.loss import PrivacyLoss
from dpaudit.laws.privacy_profile import LARGEST_EPSILON, PrivacyProfileBounds
from dpaudit.laws.renyi import independent_parts

_POINTS, _FINE, _FEW = 129, 96, 49
"""Points of a privacy profile that is not known in closed form, parts of each step between them, and points of a round
of a search for one of them."""

_ROUNDS = 6
_SURELY_LITTLE = 1e-15
_LOWEST = 40.0
_SURELY = 1e-11
"""How far below 1 a divergence must be for the distance to be more than rounding."""

_HALVINGS = 70


def tails(loss: PrivacyLoss) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Log-probabilities, under both laws, of the events of Neyman and Pearson and of their complements.

    Returns
    -------
    log_p, log_q, log_not_p, log_not_q : ndarray
        Of the outcomes whose privacy loss is at least each of its values, ascending, and of the others; shape (k,).
    """
    inside = [np.minimum(np.logaddexp.accumulate(masses[::-1])[::-1], 0.0) for masses in (loss.log_p, loss.log_q)]
    outside = [np.r_[-np.inf, np.minimum(np.logaddexp.accumulate(m), 0.0)[:-1]] for m in (loss.log_p, loss.log_q)]
    return inside[0], inside[1], outside[0], outside[1]


def normal_quantile(log_inside: np.ndarray, log_outside: np.ndarray) -> np.ndarray:
    """Quantile of the standard normal law, from the logarithms of a probability and of its complement."""
    from scipy.special import ndtri_exp

    lower = log_inside <= log_outside
    found: np.ndarray = np.where(lower, ndtri_exp(np.where(lower, log_inside, -1.0)), 0.0)
    return np.where(lower, found, -ndtri_exp(np.where(lower, -1.0, log_outside)))


def finite_loss(comparison: Comparison) -> PrivacyLoss | None:
    """Privacy loss of two laws where it is known and has finitely many values."""
    if isinstance(comparison, FiniteComparison):
        return comparison.loss()
    return comparison.known_loss if isinstance(comparison, EnclosedLoss) else None


def trade_off(comparison: Comparison, type_one: float) -> Interval | None:
    """Least type II error of a test whose type I error, a probability under Q, is at most ``type_one``.

    Notes
    -----
    **Guarantee.** Exact for finite, Gaussian and Laplace laws. Otherwise enclosed by the duality with the privacy
    profile delta over all real epsilons, T(a) = sup of 1 - delta(epsilon) - e^epsilon a: any point bounds it from
    below, and convexity of the profile in e^epsilon from above.

    References
    ----------
    Dong, Roth, Su, "Gaussian differential privacy", JRSS B 84, 2022, Section 2.
    """
    own = getattr(comparison, "trade_off", None)
    if own is not None:
        found: Interval | None = own(type_one)
        return found
    if isinstance(comparison, ProductComparison) and _all_gaussian(comparison):
        comparison = _gaussian_of(comparison)
    if isinstance(comparison, GaussianComparison):
        from scipy.special import ndtr, ndtri

        return Interval.exact(float(ndtr(-ndtri(type_one) - comparison.ratio)))
    if isinstance(comparison, LaplaceComparison):
        fall = math.exp(-comparison.ratio)
        middle = 1 - type_one / fall if type_one < fall / 2 else fall / (4 * type_one)
        return Interval.exact(middle if type_one <= 0.5 else fall * (1 - type_one))
    if (loss := finite_loss(comparison)) is not None:
        log_p, log_q, *_ = tails(loss)
        # Randomised tests are between the events; the empty one comes last.
        p, q = np.r_[np.exp(log_p), 0.0], np.r_[np.exp(log_q), 0.0]
        last = np.r_[True, q[:-1] > q[1:]]  # of events of equal q the likeliest
        return Interval.exact(1 - float(np.interp(type_one, q[last][::-1], p[last][::-1])))
    return _by_duality(comparison, type_one)


def _by_duality(comparison: Comparison, type_one: float) -> Interval | None:
    # Losses may go further down than up; what tests gain below e^-40 is less than rounding.
    low, high = -max(_end(comparison), _LOWEST), _end(comparison)
    lower, upper = 0.0, 1 - type_one
    for _ in range(_ROUNDS):
        epsilons = np.linspace(low, high, _FEW)
        try:
            below, above = comparison.privacy_profile(epsilons)
        except CheckError:
            return None
        duals = 1 - above - np.exp(epsilons) * type_one
        lower = max(lower, float(duals.max()))
        z, values = PrivacyProfileBounds(epsilons, below, above)._knots
        upper = min(upper, float(np.max(1 - values - z * type_one, initial=lower)))
        best = int(np.argmax(duals))
        low, high = float(epsilons[max(best - 2, 0)]), float(epsilons[min(best + 2, _FEW - 1)])
    return Interval(lower=lower, upper=max(lower, upper))


def _end(comparison: Comparison) -> float:
    """Largest loss, or an epsilon at which hardly anything is left of the divergence."""
    most = comparison.max_divergence()
    if not math.isfinite(most) and isinstance(comparison, PublicMixtureComparison):
        most = max(map(_end, comparison.parts))
    if not math.isfinite(most):
        most = comparison.epsilon(_SURELY_LITTLE).upper or 0.0
    return min(max(most, 1e-9), LARGEST_EPSILON)


def _all_gaussian(comparison: ProductComparison) -> bool:
    return all(isinstance(part, GaussianComparison) for part in comparison.parts)


def _gaussian_of(comparison: ProductComparison) -> GaussianComparison:
    squares = [part.ratio * part.ratio for part in comparison.parts if isinstance(part, GaussianComparison)]
    return GaussianComparison(math.sqrt(math.fsum(squares)), 0.0, 1.0)


def gaussian_shift(comparison: Comparison) -> Interval | None:
    """Smallest mu at which a test between the two laws is as hard as between N(0, 1) and N(mu, 1).

    None where the privacy profile is not known for laws of this kind.

    Notes
    -----
    **Guarantee.** Exact for Gaussian laws and their products, for Laplace laws, and for finite laws, where the events
    of Neyman and Pearson decide, since a convex trade-off function lies below the chords between them. For Laplace laws
    of distance r, an event of the likelier half-lines at t has the value h(t) + h(r - t) with h(t) =
    -Phi^-1(e^-t / 2), which is concave because its derivative is the ratio of Mills, and so largest at t = r / 2.
    Products and public mixtures are enclosed: from below by points of the privacy profile; from above by chords of
    it, and by what their parts satisfy: mu^2 adds up, and a mixture has at most the largest.
    **Checked against** enumeration of events, and Gaussian parts of known mu.

    References
    ----------
    Dong, Roth, Su, "Gaussian differential privacy", JRSS B 84, 2022, Corollaries 2.13 and 3.3.
    """
    own = getattr(comparison, "gaussian_shift", None)
    if own is not None:
        found: Interval | None = own()
        return found
    if isinstance(comparison, GaussianComparison):
        return Interval.exact(comparison.ratio)
    if isinstance(comparison, LaplaceComparison):
        from scipy.special import ndtri_exp

        return Interval.exact(max(0.0, -2 * float(ndtri_exp(-comparison.ratio / 2 - math.log(2)))))
    if (loss := finite_loss(comparison)) is not None:
        log_p, log_q, log_not_p, log_not_q = tails(loss)
        with np.errstate(invalid="ignore"):
            values = normal_quantile(log_p, log_not_p) - normal_quantile(log_q, log_not_q)
        return Interval.exact(max(0.0, float(np.nanmax(values, initial=0.0))))
    if isinstance(comparison, ProductComparison) and _all_gaussian(comparison):
        return Interval.exact(_gaussian_of(comparison).ratio)
    return _shift_by_profile(comparison)


def _shift_by_profile(comparison: Comparison) -> Interval | None:
    end = _end(comparison)
    epsilons = np.linspace(0.0, end, _POINTS)
    try:
        below, above = comparison.privacy_profile(epsilons)
    except CheckError:
        return None
    # Near 1 all that is known of a divergence may be rounding.
    lower = float(shift_at(epsilons, np.minimum(below, 1 - _SURELY)).max())
    upper = _shift_of_parts(comparison)
    if math.isfinite(comparison.max_divergence()) and end < LARGEST_EPSILON:
        above[-1] = 0.0
        # Chords of the profile in z = e^epsilon, in steps at whose far end its value at the near one is allowed for.
        z = np.exp(epsilons)
        fine = np.concatenate([np.linspace(*ends, _FINE, endpoint=False) for ends in pairwise(z.tolist())])
        chord = np.interp(fine, z, above)
        upper = min(upper, float(shift_at(np.log(np.r_[fine[1:], z[-1]]), chord).max()))
    return Interval(lower=lower, upper=max(lower, upper))


def _shift_of_parts(comparison: Comparison) -> float:
    if parts := independent_parts(comparison):
        each = [(_most(part), count) for part, count in parts]
        return math.sqrt(math.fsum(count * (mu * mu) for mu, count in each))
    return max(map(_most, comparison.parts)) if isinstance(comparison, PublicMixtureComparison) else math.inf


def _most(comparison: Comparison) -> float:
    mu = gaussian_shift(comparison)
    return math.inf if mu is None or mu.upper is None else mu.upper


def shift_at(epsilons: np.ndarray, deltas: np.ndarray) -> np.ndarray:
    """Mu of the Gaussian laws with these points of their privacy profile; 0 where that is less than nothing."""
    from scipy.special import log_ndtr

    low, high = np.full(len(epsilons), 1e-12), np.full(len(epsilons), 1e3)
    for _ in range(_HALVINGS):
        mu = np.sqrt(low * high)
        log_p = log_ndtr(mu / 2 - epsilons / mu)
        log_q = epsilons + log_ndtr(-mu / 2 - epsilons / mu)
        with np.errstate(invalid="ignore"):
            value = np.exp(log_p) * -np.expm1(np.minimum(0.0, log_q - log_p))
        less = np.nan_to_num(value) < deltas
        low, high = np.where(less, mu, low), np.where(less, high, mu)
    return np.where(deltas > 0, high, 0.0)
