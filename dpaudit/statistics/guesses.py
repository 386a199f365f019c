"""What numbers of right guesses say of a guarantee, where one output was guessed from about many coins at once.

Many coins, one for each canary, decide which canaries are in the data; one output is made of the data; and from the
output alone it is guessed of some of the canaries whether they are in.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.statistics.proportions import proportion_lower

_ROUNDING = 1e-9
"""Relative margin, above the rounding errors of the recursion, by which its sum must exceed 1."""

_DIGITS = 1e-7
_MOST_EPSILON, _MOST_MU = 700.0, 70.0


def epsilon_of_guesses(right: int, guesses: int, canaries: int, *, delta: float = 0.0, alpha: float = 0.001) -> float:
    """Lower bound on epsilon at ``delta`` from the number of right guesses.

    Parameters
    ----------
    right, guesses, canaries
        How many guesses were right, how many were made, and how many canaries there are;
        0 <= right <= guesses <= canaries. Only the first may depend on which canaries were in.
    delta
        In [0, 1).
    alpha
        Probability, at most, that the bound exceeds the truth; in (0, 1).

    Notes
    -----
    **Guarantee.** With probability at least 1 - ``alpha`` the mechanism is not (e, delta)-DP, under addition and
    removal of one canary, for any e below the bound.

    Where delta is 0, every guess is right with probability at most p = 1 / (1 + e^-epsilon), whatever the output and
    the other coins, so that a binomial number with this p exceeds the number of right guesses stochastically: the
    bound is the logit of a Clopper-Pearson bound. Otherwise the larger of two bounds is returned, each of which limits
    the probability of as many right guesses:

    * P[R >= v] <= P[B >= v] + 2 m delta max_i P[v > B >= v - i] / i, with B binomial (k, p), m canaries and k guesses
      (Steinke, Nasr, Jagielski, "Privacy auditing with one (1) training run", NeurIPS 2023, Theorem 5.2);
    * the recursion of `is_possible` with f of (epsilon, delta)-DP.

    Both limits are decided by the three numbers alone, so that taking the better one costs nothing.
    **Checked against** exact coverage by enumeration over the mechanisms that reach the limits.
    """
    if guesses == 0 or 2 * right <= guesses:
        return 0.0
    if delta == 0:
        return float(_logit(proportion_lower(right, guesses, alpha)))

    def by_tails(epsilon: float) -> bool:
        return tail_of_guesses(right, guesses, canaries, epsilon=epsilon, delta=delta) > alpha

    def by_recursion(epsilon: float) -> bool:
        return is_possible(right, guesses, canaries, alpha=alpha, blow_down=_approximate(epsilon, delta))

    return max(_least(by_tails, _MOST_EPSILON), _least(by_recursion, _MOST_EPSILON))


def mu_of_guesses(right: int, guesses: int, canaries: int, *, alpha: float = 0.001) -> float:
    """Lower bound on mu from the number of right guesses.

    Parameters
    ----------
    right, guesses, canaries, alpha
        As in `epsilon_of_guesses`.

    Notes
    -----
    **Guarantee.** With probability at least 1 - ``alpha`` the mechanism is not mu-Gaussian-DP, under addition and
    removal of one canary, for any mu below the bound. By the recursion of `is_possible`.
    **Checked against** exact coverage by enumeration, a linear program with the same constraints, and the published
    recursion.
    """
    if guesses == 0 or 2 * right <= guesses:
        return 0.0

    def possible(mu: float) -> bool:
        return is_possible(right, guesses, canaries, alpha=alpha, blow_down=_gaussian(mu))

    return _least(possible, _MOST_MU)


def tail_of_guesses(right: int, guesses: int, canaries: int, *, epsilon: float, delta: float) -> float:
    """Limit of Theorem 5.2 on the probability of ``right`` or more right guesses, of (epsilon, delta)-DP mechanisms.

    Parameters
    ----------
    right, guesses, canaries
        As in `epsilon_of_guesses`.
    epsilon, delta
        The guarantee.
    """
    from scipy.special import bdtrc, expit

    p = float(expit(epsilon))
    least = np.arange(right, -1, -1)  # the smallest number that each tail holds
    tails = np.where(least > 0, bdtrc(np.maximum(least - 1, 0), guesses, p), 1.0)
    below = (tails[1:] - tails[0]) / np.arange(1, right + 1)
    return float(tails[0] + 2 * canaries * delta * max(np.max(below, initial=0.0), 0.0))


def is_possible(right: int, guesses: int, canaries: int, *, alpha: float, blow_down: Callable[[float], float]) -> bool:
    """Whether ``right`` or more guesses may be right with probability ``alpha`` under an f-DP guarantee.

    Parameters
    ----------
    right, guesses, canaries, alpha
        As in `epsilon_of_guesses`.
    blow_down
        Inverse of F(x) = 1 - f(x), where f is the trade-off function: the least probability that an event may have on
        one of two neighbouring inputs when it is so much on the other. Rises, is convex, and is 0 at 0.

    Notes
    -----
    Let R of k guesses be right, R_i of those on other canaries than i, and c a number. Whether the guess on canary i
    says what its coin says, and R_i >= c - 1, is for fixed other coins an event of the output. Turning coin i round
    turns a right guess into a wrong one, so that P[right on i, R_i >= c - 1] <= F(P[wrong on i, R_i >= c - 1]); F is
    concave, and the mean over the m canaries gives, with p_w = P[R = w],

        (1 / m) sum_{w >= c} w p_w  <=  F((1 / m) sum_{w >= c - 1} (k - w) p_w)     for every c in 1..k.

    Of all p with P[R >= v] = alpha that satisfy this, that has the least sum which has alpha at v, nothing above, and
    below as little as the constraint for each next c asks for: mass that is added earlier asks for more. If even this
    sum exceeds 1, the probability is below alpha. This is the recursion of Mahloujifar, Melis, Chaudhuri, "Auditing
    f-differential privacy in one run", ICML 2025 (arXiv 2410.22235), with abstentions.
    """
    v, k, m = right, guesses, canaries
    correct, wrong, most = alpha * v / m, alpha * (k - v) / m, k / m * (1 + _ROUNDING)
    for w in range(v - 1, -1, -1):
        if correct + wrong > most:
            return False
        asked = blow_down(correct)
        if asked <= wrong:
            break
        correct += w / (k - w) * (asked - wrong)
        wrong = asked
    return correct + wrong <= most


def _approximate(epsilon: float, delta: float) -> Callable[[float], float]:
    shrunk = math.exp(-epsilon)

    def blow_down(probability: float) -> float:
        return max(0.0, (probability - delta) * shrunk, 1 - delta - (1 - probability) / shrunk)

    return blow_down


def _gaussian(mu: float) -> Callable[[float], float]:
    from scipy.special import ndtr, ndtri

    def blow_down(probability: float) -> float:
        return float(ndtr(ndtri(min(probability, 1.0)) - mu))

    return blow_down


def _logit(probability: Any) -> float:
    return max(0.0, math.log(probability) - math.log1p(-probability)) if probability > 0.5 else 0.0


def _least(possible: Callable[[float], bool], most: float) -> float:
    """Return a value, at least 0, that is barely below the least at which something is possible."""
    low, high = 0.0, 1.0
    if possible(low):
        return low
    while not possible(high):
        low, high = high, 2 * high
        if high > most:
            return low
    while high - low > _DIGITS * max(1.0, high):
        middle = (low + high) / 2
        low, high = (low, middle) if possible(middle) else (middle, high)
    return low
