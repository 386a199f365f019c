"""How often something goes wrong in many runs, counted with as few of them as tell."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from scipy.special import betaincinv
from scipy.stats import binom

FALSE_ALARM = 1e-6
"""The probability, at most, with which a count of an allowed rate is above its limit."""

SEEN = 0.999
"""The probability with which all runs show a rate that counts are ended early against."""

MISSED = 1e-4
"""The probability, at most, with which a count of such a rate ends early."""


def most(runs: int, alpha: float) -> int:
    """How many of some runs may be wrong where a share of alpha is allowed: its quantile at `FALSE_ALARM`."""
    return int(binom.isf(FALSE_ALARM, runs, alpha))


def visible(runs: int, alpha: float) -> float:
    """The rate at which more runs than that are wrong with a probability of `SEEN`."""
    limit = most(runs, alpha)
    return float(betaincinv(limit + 1, runs - limit, SEEN))


def counted(is_wrong: Callable[[int], Any], runs: int, *, alpha: float) -> tuple[int, int]:
    """Count the runs that are wrong, and all that were made: not all where few of the first ones are wrong.

    After every run, the likelihood of what was seen at the rate that is `visible` is compared with that at half of
    ``alpha``. Where the rate is the visible one or more, the chance that this ratio ever falls to `MISSED` is at most
    `MISSED` (Ville's inequality). So nothing is lost of what the runs show: the power at any rate is less by 0.002 at
    most, which tests/quality/test_false_refutations.py works out. The limit is that for the runs that were made.

    Parameters
    ----------
    is_wrong
        Tells, by its seed, whether a run is wrong.
    runs
        How many runs there may be.
    alpha
        The rate that is allowed.

    Returns
    -------
    wrong, made : int
        How many runs were wrong, of how many.
    """
    high, usual = visible(runs, alpha), alpha / 2
    for_right, for_wrong = math.log((1 - high) / (1 - usual)), math.log(high / usual)
    wrong, ratio = 0, 0.0
    for seed in range(runs):
        if is_wrong(seed):
            wrong += 1
            ratio += for_wrong
        else:
            ratio += for_right
        if ratio <= math.log(MISSED):
            return wrong, seed + 1
    return wrong, runs


def exceeding(is_wrong: Callable[[int], Any], runs: int, *, alpha: float) -> tuple[int, int]:
    """Count the runs that are wrong until they are more than `most` of all: then nothing is left to know.

    Parameters
    ----------
    is_wrong, runs, alpha
        As for `counted`.

    Returns
    -------
    wrong, made : int
        How many runs were wrong, of how many.
    """
    wrong, limit = 0, most(runs, alpha)
    for seed in range(runs):
        wrong += bool(is_wrong(seed))
        if wrong > limit:
            return wrong, seed + 1
    return wrong, runs
