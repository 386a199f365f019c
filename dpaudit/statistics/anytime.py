"""Confidence bounds for a proportion that hold at all times at once, so that one may stop when one likes."""

from __future__ import annotations

import math

_ROUNDING = 1e-9


def anytime_lower(successes: int, failures: int, alpha: float, *, prior: tuple[float, float] = (0.5, 0.5)) -> float:
    """Lower bound of a proportion, from a mixture martingale.

    For a true proportion s, the ratio of the likelihood of the trials so far, averaged over a beta law of the
    proportion, to their likelihood under s is a non-negative martingale that begins at 1. It ever reaches
    1 / ``alpha`` with probability at most ``alpha`` (Ville). The bound is the smallest s that it has not refuted.

    Parameters
    ----------
    successes, failures
        Counts so far, in any order.
    alpha
        Probability, at most, that the bound ever exceeds the proportion.
    prior
        Parameters of the beta law, above 0; chosen without looking at these trials. Nearer to the truth is tighter.

    Returns
    -------
    float
        The bound, in [0, 1].

    Notes
    -----
    **Guarantee.** With probability at least 1 - ``alpha`` no bound computed at any time, for any stopping rule, is
    above the true proportion.
    **Checked against** simulated paths that are stopped as soon as the bound is wrong.

    References
    ----------
    Robbins, "Statistical methods related to the law of the iterated logarithm", Annals of Mathematical Statistics
    41(5), 1970; Ville, "Étude critique de la notion de collectif", 1939.
    """
    from scipy.special import betaln

    if successes <= 0:
        return 0.0
    a, b = prior
    evidence = float(betaln(successes + a, failures + b) - betaln(a, b)) + math.log(alpha)

    def refuted(share: float) -> bool:
        log_null = successes * math.log(share) + (failures * math.log1p(-share) if failures else 0.0)
        return evidence >= log_null

    high = math.log(successes / (successes + failures))
    low = min(high, evidence / successes) - 1.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(math.exp(middle)) else (low, middle)
    return math.exp(low) * (1 - _ROUNDING)


def anytime_upper(successes: int, failures: int, alpha: float, *, prior: tuple[float, float] = (0.5, 0.5)) -> float:
    """Upper bound of a proportion that holds at all times at once; see :func:`anytime_lower`."""
    from scipy.special import betaln

    if failures <= 0:
        return 1.0
    a, b = prior
    evidence = float(betaln(successes + a, failures + b) - betaln(a, b)) + math.log(alpha)

    def refuted(share: float) -> bool:
        log_null = (successes * math.log(share) if successes else 0.0) + failures * math.log1p(-share)
        return evidence >= log_null

    low = successes / (successes + failures)
    # Searched by its logarithm, since a proportion may be far below 1.
    log_low, log_high = math.log(max(low, 1e-300)), 0.0
    if refuted(math.exp(log_low)):
        return min(1.0, low * (1 + _ROUNDING))
    for _ in range(200):
        middle = (log_low + log_high) / 2
        share = math.exp(middle)
        log_low, log_high = (log_low, middle) if share >= 1 or refuted(share) else (middle, log_high)
    return min(1.0, math.exp(log_high) * (1 + _ROUNDING))
