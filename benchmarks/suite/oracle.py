"""The best bound that Clopper-Pearson can give, and the true epsilon, from the exact masses of a partition of outputs.

A partition with exact masses on both inputs turns every mechanism into one with finitely many outcomes. Its events are
events of the mechanism, so what follows is attainable, and loses no more than the partition is coarse.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtri

SHORTLIST = 12

_ROUNDING = 1e-12
"""Probability above delta that is none."""


class BestEvent(NamedTuple):
    """The event of the largest bound, its probabilities on the likelier and on the other input, and that bound."""

    bound: float
    p: float
    q: float


def ordered_tails(p, q):
    """Cumulated masses of ``p`` and ``q`` along decreasing p / q: those of all likelihood-ratio events."""
    present = (p > 0) | (q > 0)
    p, q = p[present], q[present]
    with np.errstate(divide="ignore"):
        order = np.argsort(np.log(q) - np.log(p), kind="stable")
    return np.minimum(np.cumsum(p[order]), 1.0), np.minimum(np.cumsum(q[order]), 1.0)


def clopper_pearson_bound(p, q, samples, alpha, delta=0.0):
    """log((lower bound of p - delta) / upper bound of q) at the expected counts, which need not be whole; else 0."""
    hits_p, hits_q = np.asarray(p, float) * samples, np.asarray(q, float) * samples
    low = betaincinv(np.maximum(hits_p, 1e-9), samples - hits_p + 1, alpha / 2) - delta
    high = betaincinv(hits_q + 1, np.maximum(samples - hits_q, 1e-9), 1 - alpha / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(low > 0, np.maximum(np.log(low) - np.log(high), 0.0), 0.0)


def best_bound(p, q, samples, confidence, delta=0.0):
    """Largest such bound over both directions and all likelihood-ratio events of a pair."""
    return best_event(p, q, samples, confidence, delta).bound


def best_event(p, q, samples, confidence, delta=0.0):
    """Event of the largest such bound."""
    alpha = 1 - confidence
    best = BestEvent(0.0, 1.0, 1.0)
    for tail_p, tail_q in (ordered_tails(p, q), ordered_tails(q, p)):
        # Score bounds are quick and rank the events nearly as the exact bounds do.
        rank = np.log(np.maximum(_score(tail_p, samples, alpha, -1) - delta, 1e-300)) - np.log(
            _score(tail_q + 1 / samples, samples, alpha, 1)
        )
        shortlist = np.argsort(rank)[-SHORTLIST:]
        bounds = clopper_pearson_bound(tail_p[shortlist], tail_q[shortlist], samples, alpha, delta)
        at = int(np.argmax(bounds))
        found = BestEvent(float(bounds[at]), float(tail_p[shortlist[at]]), float(tail_q[shortlist[at]]))
        best = max(best, found)
    return best


def drawn_bounds(event, samples, confidence, rng, *, draws, delta=0.0):
    """Bounds that so many final samples would give for this event, shape (draws,)."""
    p, q = rng.binomial(samples, event.p, size=draws), rng.binomial(samples, event.q, size=draws)
    return clopper_pearson_bound(p / samples, q / samples, samples, 1 - confidence, delta)


def _score(p, samples, alpha, sign):
    """Wilson's score bound, below (-1) or above (1)."""
    z = ndtri(1 - alpha / 2)
    p = np.minimum(p, 1.0)
    spread = z * np.sqrt(p * (1 - p) / samples + (z / (2 * samples)) ** 2)
    return (p + z**2 / (2 * samples) + sign * spread) / (1 + z**2 / samples)


def true_epsilon(p, q, delta=0.0):
    """Least epsilon >= 0 with P(A) <= e^epsilon Q(A) + delta and the reverse, for all events A of these outcomes.

    The worst events are {p / q >= t}, so that log((P(A) - delta) / Q(A)) is looked up for each.
    """
    return max(0.0, _one_sided(p, q, delta), _one_sided(q, p, delta))


def _one_sided(p, q, delta):
    with np.errstate(divide="ignore", invalid="ignore"):
        if delta == 0:
            return float(np.max(np.log(p[p > 0]) - np.log(q[p > 0])))
        order = np.argsort(np.where(p > 0, q / p, np.inf), kind="stable")
        excess, of_q = np.cumsum(p[order]) - delta, np.cumsum(q[order])
        found = np.log(excess) - np.log(of_q)
    return float(np.max(found, where=excess > _ROUNDING, initial=-np.inf))


def sampled_bound(chosen, valued, samples, confidence, delta=0.0):
    """The same for one direction, from log-ratios of outputs on the input whose probability is bounded below.

    An event {log-ratio > t} has the mass E[e^-log-ratio; event] on the other input, so that one sample gives both. The
    threshold is chosen on ``chosen``, and its masses are taken from ``valued``, so that the choice adds nothing.
    """
    alpha = 1 - confidence
    order = np.sort(chosen)[::-1]
    # A quarter of a million thresholds would differ by less than the masses are known to.
    at = np.unique(np.geomspace(20, len(order), 2000).astype(int)) - 1
    p = (at + 1) / len(order)
    q = np.cumsum(np.exp(-order))[at] / len(order)
    bounds = clopper_pearson_bound(p, np.minimum(q, 1.0), samples, alpha, delta)
    event = valued >= order[at[np.argmax(bounds)]]
    p, q = event.mean(), min(float(np.exp(-valued[event]).sum()) / len(valued), 1.0)
    return float(clopper_pearson_bound(p, q, samples, alpha, delta))
