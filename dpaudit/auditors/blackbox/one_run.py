"""A lower confidence bound from one run of a training: canaries that coins put into the data, and their scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np

from dpaudit.auditors.sampling.arguments import check_seed
from dpaudit.auditors.sampling.budget import DEFAULT_CONFIDENCE, check_confidence, complement
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.guarantees import exceeds
from dpaudit.claims.ranges import in_range
from dpaudit.errors import ParameterError
from dpaudit.floating_point import our_settings
from dpaudit.statistics import clopper_pearson, epsilon_of_guesses, mu_of_guesses

OneRunGuarantee = Literal["approximate", "gaussian"]

_FACTOR, _POWER = 2.0, 0.6
"""Guesses on both sides: the factor times this power of the canaries. For 200 to 5000 canaries with Gaussian scores,
and true mu between 0.5 and 2, that is about the best number."""

_SHARES = (0.4, 0.25, 0.2, 0.15)
"""Parts of the error probability of the numbers of guesses tried: on both sides, on the highest scores alone, three
times as many, and on all canaries."""

_NO_COINS = 1e-9
"""Probability below which so many canaries in, or so few, are not put down to fair coins."""

_COME_AGAIN, _DIGITS = 20, 9
"""Scores of more than so many digits that come again, each with one coin only, from which on rows are no canaries of
their own, and how many there are for each that comes with both. With coins of their own, they would do so with
probability 2^-20 at most, unless scores tell them all."""

MORE = 10
"""How many times the canaries the outlook of a bound is for."""

Guesses = tuple[int, int]
"""How many of the highest scores are guessed to be in, and how many of the lowest to be out."""


class CoinsError(ParameterError):
    """No fair coins have put the canaries in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneRunBound:
    """Lower confidence bound on epsilon, or on mu, from one run of a training.

    Attributes
    ----------
    parameter, value
        ``epsilon`` or ``mu``, and the bound: with the stated confidence no smaller value holds; 0 where nothing can be
        said.
    delta
        Delta at which epsilon is bounded; 0 where mu is.
    confidence
        Probability, at least, with which the bound is not above the truth.
    guesses, right
        How many of the highest scores were guessed to be in and how many of the lowest to be out, and how many of these
        guesses were right; of the numbers tried, those that gave the bound.
    canaries, included
        How many canaries there are, and how many of them were in.
    tried, share
        How many numbers of guesses shared the error probability, and the part of it that these had; 1 and 1 where the
        numbers were given.
    ceiling
        The largest bound that any right guesses could have given with so many canaries.
    outlook
        The bound that `MORE` times as many canaries would give, with as large a share of them guessed and as large a
        share of the guesses right.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit
    >>> rng = np.random.default_rng(1)
    >>> included = rng.random(1000) < 0.5
    >>> bound = dpaudit.one_run_bound(2 * included + rng.normal(size=1000), included, delta=1e-5, confidence=0.95)
    >>> bound.parameter, bound.canaries
    ('epsilon', 1000)
    """

    parameter: Literal["epsilon", "mu"]
    value: float
    delta: float
    confidence: float
    guesses: Guesses
    right: int
    canaries: int
    included: int
    tried: int
    share: float
    ceiling: float
    outlook: float

    def least_right(self, claimed: float) -> int | None:
        """Return the least number of these guesses that is right more often than a claim allows; None where none is."""
        test = _Test(
            guarantee="gaussian" if self.parameter == "mu" else "approximate",
            delta=self.delta,
            alpha=complement(self.confidence),
        )
        number = sum(self.guesses)
        low, high = 0, number + 1
        while high - low > 1:
            middle = (low + high) // 2
            above = exceeds(test.bound(middle, number, self.canaries, self.share), claimed)
            low, high = (low, middle) if above else (middle, high)
        return high if high <= number else None

    @property
    def epsilon(self) -> float | None:
        """The bound on epsilon; None where mu was bounded."""
        return self.value if self.parameter == "epsilon" else None

    @property
    def mu(self) -> float | None:
        """The bound on mu; None where epsilon was bounded."""
        return self.value if self.parameter == "mu" else None


@our_settings()
def one_run_bound(
    scores: Any,
    included: Any,
    *,
    delta: float = 0.0,
    confidence: float = DEFAULT_CONFIDENCE,
    guesses: int | Guesses | None = None,
    guarantee: OneRunGuarantee = "approximate",
    seed: int = 0,
) -> OneRunBound:
    """Bound epsilon, or mu of Gaussian DP, from below by one run of a training with canaries.

    The highest scores are guessed to be of canaries that were in, the lowest of canaries that were out; the others are
    not guessed.

    Parameters
    ----------
    scores
        Scores of the m canaries, worked out from what the training has put out, shape (m,); high scores speak for a
        canary that was in. Not NaN.
    included
        Which canaries were in the data of the run, shape (m,), booleans or 0 and 1. Every canary must have been put
        in by a fair coin of its own: choosing a fixed number of them is not covered.
    delta
        In [0, 1); for Gaussian DP leave it at 0.
    confidence
        In (0, 1).
    guesses
        How many guesses are made: a number, half of it on either side, or a pair of the numbers on the high and on the
        low side. Must have been chosen without a look at this run. By default four choices, which depend on the number
        of canaries alone, share the error probability.
    guarantee
        ``"approximate"`` bounds epsilon at ``delta``, ``"gaussian"`` bounds mu.
    seed
        Orders equal scores at random; equal seeds give equal results.

    Returns
    -------
    OneRunBound

    Raises
    ------
    ParameterError
        A number is out of range, the shapes differ, a score is NaN, canaries come several times, or so many were in, or
        so few, that no fair coins put them there.

    Notes
    -----
    **Guarantee.** With probability at least ``confidence``, over the coins and the training, the bound is not above the
    true parameter under addition and removal of one canary. `dpaudit.statistics.guesses` has the theorems. They are
    about numbers of guesses that are fixed beforehand. Numbers that maximise the bound on the same coins void it: on
    scores of nothing, they give bounds above 0 in most runs. Numbers chosen on some of the canaries, from scores of the
    same output, are covered at delta = 0 alone. Here Boole's inequality covers a few numbers instead, which also gave
    larger bounds than a part of the canaries set aside for choosing (``benchmarks/one_run.md``).
    **Checked against** exact coverage by enumeration, 1,000 runs with scores of nothing, and the published formulas.

    References
    ----------
    Steinke, Nasr, Jagielski, "Privacy auditing with one (1) training run", NeurIPS 2023.
    Mahloujifar, Melis, Chaudhuri, "Auditing f-differential privacy in one run", ICML 2025.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit
    >>> rng = np.random.default_rng(1)
    >>> included = rng.random(1000) < 0.5
    >>> scores = 2 * included + rng.normal(size=1000)  # 2-Gaussian-DP, whose epsilon at delta 1e-5 is 10.0
    >>> bound = dpaudit.one_run_bound(scores, included, delta=1e-5, confidence=0.95)
    >>> bound.epsilon > 2
    True
    """
    values, coins = _checked(scores, included)
    if guarantee not in get_args(OneRunGuarantee):
        raise ParameterError(f"guarantee must be one of {', '.join(get_args(OneRunGuarantee))}, got {guarantee!r}")
    if not in_range(delta, 0, 1, without=(1.0,)):
        raise ParameterError(f"delta must be at least 0 and below 1, got {delta}")
    if delta and guarantee == "gaussian":
        raise ParameterError(f"Gaussian DP has no delta; leave delta={delta} out, or bound epsilon")
    check_confidence(confidence)
    check_seed(seed)
    m = len(values)
    tried = numbers_of_guesses(m) if guesses is None else [(_given(guesses, m), 1.0)]
    test = _Test(guarantee=guarantee, delta=float(delta), alpha=complement(float(confidence)))
    ordered = coins[_descending(values, Streams(int(seed), ("one_run_bound",)).generator("ties"))]
    found = []
    for place, ((high, low), share) in enumerate(tried):
        right = int(np.count_nonzero(ordered[:high]) + np.count_nonzero(~ordered[m - low :]))
        # Where nothing can be said, the largest share of right guesses is told.
        found.append((test.bound(right, high + low, m, share), right / (high + low), -place))
    value, _, place = max(found)
    (high, low), share = tried[-place]
    number = high + low
    right = round(found[-place][1] * number)
    return OneRunBound(
        parameter="mu" if guarantee == "gaussian" else "epsilon",
        value=value,
        delta=float(delta),
        confidence=float(confidence),
        guesses=(high, low),
        right=right,
        canaries=m,
        included=int(np.count_nonzero(coins)),
        tried=len(tried),
        share=share,
        ceiling=_ceiling(test, m, tuple(tried)),
        outlook=max(value, test.bound(MORE * right, MORE * number, MORE * m, share)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Test:
    guarantee: OneRunGuarantee
    delta: float
    alpha: float

    def bound(self, right: int, number: int, canaries: int, share: float) -> float:
        """Bound that so many right guesses give with a part of the error probability."""
        if self.guarantee == "gaussian":
            return mu_of_guesses(right, number, canaries, alpha=self.alpha * share)
        return epsilon_of_guesses(right, number, canaries, delta=self.delta, alpha=self.alpha * share)


@lru_cache(maxsize=64)
def _ceiling(test: _Test, canaries: int, tried: tuple[tuple[Guesses, float], ...]) -> float:
    """Largest bound that right guesses could give."""
    return max(test.bound(sum(guesses), sum(guesses), canaries, share) for guesses, share in tried)


def numbers_of_guesses(canaries: int) -> list[tuple[Guesses, float]]:
    """Return the numbers of guesses that are tried by default, and the part of the error probability of each.

    Parameters
    ----------
    canaries
        How many there are, at least 1.
    """

    def both(number: int) -> Guesses:
        return (number + 1) // 2, number // 2

    few = min(canaries, math.ceil(_FACTOR * canaries**_POWER))
    wanted = [both(few), (max(1, few // 2), 0), both(min(canaries, 3 * few)), both(canaries)]
    shares: dict[Guesses, float] = {}
    for each, share in zip(wanted, _SHARES, strict=True):
        shares[each] = shares.get(each, 0.0) + share
    return list(shares.items())


def _descending(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Order from the highest value to the lowest, equal ones at random: the order of a file may say who was in."""
    shuffled = rng.permutation(len(values))
    order: np.ndarray = shuffled[np.argsort(-values[shuffled], kind="stable")]
    return order


def _given(guesses: Any, canaries: int) -> Guesses:
    wrong = ParameterError(
        f"guesses must be a number between 1 and the {canaries} canaries, or two numbers of at least 0 with such a "
        f"sum, got {guesses!r}"
    )
    whole = isinstance(guesses, int | np.integer) and not isinstance(guesses, bool)
    pair = ((int(guesses) + 1) // 2, int(guesses) // 2) if whole else guesses
    if not (isinstance(pair, tuple | list) and len(pair) == 2):
        raise wrong
    if not all(isinstance(side, int | np.integer) and not isinstance(side, bool) and side >= 0 for side in pair):
        raise wrong
    if not 1 <= sum(pair) <= canaries or (whole and guesses < 1):
        raise wrong
    return int(pair[0]), int(pair[1])


def _checked(scores: Any, included: Any) -> tuple[np.ndarray, np.ndarray]:
    try:
        values, given = np.asarray(scores), np.asarray(included)
    except ValueError as error:
        raise ParameterError(f"scores and included must be arrays of one axis ({error})") from None
    if values.ndim != 1 or values.dtype.kind not in "biuf":
        raise ParameterError(
            f"scores must be numbers of shape (m,), got {values.dtype} of shape {values.shape}; give one per canary"
        )
    if given.shape != values.shape:
        raise ParameterError(
            f"included has shape {given.shape} for scores of shape {values.shape}; give one per canary"
        )
    if not len(values):
        raise ParameterError("there are no canaries; give one score and one coin for each")
    values = values.astype(float)
    if np.isnan(values).any():
        place = int(np.flatnonzero(np.isnan(values))[0])
        raise ParameterError(f"the score of canary {place} is NaN; score every canary, by a low number for none")
    if given.dtype.kind not in "biuf" or not np.isin(given, (0, 1)).all():
        raise ParameterError("included must be true or false, or 1 or 0, for every canary")
    coins = given.astype(bool)
    _check_apart(values, coins)
    inside = int(np.count_nonzero(coins))
    low, high = clopper_pearson(inside, len(coins), 1 - _NO_COINS)
    if not low <= 0.5 <= high:
        raise CoinsError(
            f"{inside} of {len(coins)} canaries were in, which fair coins practically never give; "
            "the bound needs every canary to be put in by a fair coin of its own"
        )
    return values, coins


def _check_apart(values: np.ndarray, coins: np.ndarray) -> None:
    """Raise CoinsError where canaries come several times, such as once for every epoch, with one coin each."""
    _, first, group, times = np.unique(values, return_index=True, return_inverse=True, return_counts=True)
    inside = np.bincount(group, coins, minlength=len(times))
    again = [at for at in np.flatnonzero(times > 1).tolist() if not _is_short(float(values[first[at]]))]
    alike = [at for at in again if inside[at] in (0, times[at])]
    # A score that many canaries have, such as the limit of a loss, has both coins.
    if len(alike) < _COME_AGAIN or len(alike) < _COME_AGAIN * (len(again) - len(alike)):
        return
    one, other = np.flatnonzero(group == alike[0])[:2].tolist()
    raise CoinsError(
        f"the scores of {len(alike)} canaries come several times, always with the same coin: that of canary {one} is "
        f"{values[one]!s} and so is that of canary {other}; give one row per canary, such as that of the last epoch"
    )


def _is_short(value: float) -> bool:
    """Whether few digits, or none, say what a number is, as they do of counts."""
    return not math.isfinite(value) or float(f"{value:.{_DIGITS}g}") == value
