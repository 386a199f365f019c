"""Bounds on what an event forces from a fixed number of outputs on each input, by coins that come afterwards.

A bound by the ratio (`log_ratio_lower`) is about trials that coins have assigned to the inputs. Outputs that were drawn
already are as good: coins decide how many of them to use.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpaudit.claims.guarantees import PART_OF_PROBABILITY, Guarantee
from dpaudit.statistics.events import Counts, forced_lower
from dpaudit.statistics.proportions import proportion_lower

SPILL = 0.01
"""Probability, at most, that coins ask for more outputs of an input than there are; the fewer trials, the smaller."""

_SHARES = (0.2, 0.35, 0.5, 0.65, 0.8)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinTrials:
    """How many outputs of either input coins have asked for.

    Attributes
    ----------
    coin
        Probability with which a trial goes to the first input.
    trials
        Trials of either input.
    """

    coin: float
    trials: tuple[int, int]

    def fits(self, rows: tuple[int, int]) -> bool:
        """Whether there are so many outputs."""
        return self.trials[0] <= rows[0] and self.trials[1] <= rows[1]


def trials_by_coins(rows: tuple[int, int], rng: np.random.Generator) -> CoinTrials:
    """Toss a fixed number of coins, each of which asks for an output of the first input or of the second.

    Parameters
    ----------
    rows
        Outputs that there are of either input, each at least 1. The coin is as biased as their numbers, and there are
        as many tosses as rarely ask for more than there are.
    rng
        Generator of the coins.
    """
    tosses, coin = tosses_for(rows)
    first = int(rng.binomial(tosses, coin))
    return CoinTrials(coin=coin, trials=(first, tosses - first))


def tosses_for(rows: tuple[int, int]) -> tuple[int, float]:
    """Return the number of coins to toss for so many outputs, and the probability of the first side."""
    from scipy.special import bdtr, bdtrc

    coin = rows[0] / sum(rows)

    def spills(tosses: int) -> float:
        # Above what there is of the first, or below what leaves too many for the second.
        above = bdtrc(rows[0], tosses, coin) if tosses > rows[0] else 0.0
        below = bdtr(tosses - rows[1] - 1, tosses, coin) if tosses > rows[1] else 0.0
        return float(above + below)

    low, high = min(rows), sum(rows) + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if spills(middle) <= SPILL else (low, middle)
    return low, coin


def bound_by_coins(guarantee: Guarantee, hits: Counts, trials: Counts, *, coin: float, alpha: float) -> float:
    """Lower bound on the value that an event forces, from trials that coins have assigned.

    Parameters
    ----------
    guarantee
        One whose `by_ratio` is true.
    hits, trials
        Occurrences and trials on the input where the event is likelier, and on the other.
    coin
        Probability with which a trial went to the first of these.
    alpha
        Probability, at most, that the bound exceeds the truth.

    Notes
    -----
    **Guarantee.** With probability at least 1 - ``alpha``, no smaller value of the forced parameter holds. A trial
    whose event occurs is one of the likelier input with probability r = c p / (c p + (1 - c) q), c being the coin; so
    given all occurrences, those of the likelier input are binomial, and a Clopper-Pearson bound on r bounds
    log(p / q) = logit(r) - logit(c). Where the ratio alone does not decide, a part of alpha bounds p, given the number
    of trials.
    **Checked against** exact coverage by enumeration over coins and trials.
    """
    alone = guarantee.ratio_alone
    share = float(proportion_lower(hits[0], sum(hits), alpha if alone else alpha * (1 - PART_OF_PROBABILITY)))
    if share <= 0:
        return 0.0
    ratio = math.log(share) - math.log1p(-share) - (math.log(coin) - math.log1p(-coin))
    least = 1.0 if alone else float(proportion_lower(hits[0], trials[0], alpha * PART_OF_PROBABILITY))
    return max(0.0, float(guarantee.forces_by_ratio(max(ratio, 0.0), least)))


def share_of_fixed(guarantee: Guarantee, rates: tuple[float, float], rows: Counts, *, alpha: float) -> float:
    """Part of the error probability that the first count of `forced_lower` should get, for such rates and rows."""
    hits = rates[0] * rows[0], rates[1] * rows[1]
    bounds = [float(forced_lower(guarantee, hits[0], rows[0], hits[1], rows[1], alpha=alpha, share=s)) for s in _SHARES]
    return _SHARES[max(range(len(_SHARES)), key=bounds.__getitem__)]
