"""Sums of independent bits: their law, and what one more bit gives away among them, accurate in the furthest tails."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from dpaudit.errors import ParameterError

_REACH = 9.0
"""Standard deviations of a tilted binomial that are kept; what is left out is below 1e-17 of its largest value."""
_MARGIN = 60
"""Values kept beyond that, for laws as skew as a Poisson law."""
_TRUSTED = 4.0
"""Standard deviations around the mean within which one tilt gives the law to the accuracy of double precision."""
_DIRECT = 1 << 18
_BISECTIONS = 60
_TOTAL_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Bit:
    """A random bit, by the log-probabilities of 0 and of 1: neither loses its digits next to the other."""

    log_zero: float
    log_one: float

    def __post_init__(self) -> None:
        logs = (self.log_zero, self.log_one)
        if not (max(logs) <= 0 and abs(sum(map(math.exp, logs)) - 1) <= _TOTAL_TOLERANCE):
            raise ParameterError(
                f"a bit needs log-probabilities of 0 and 1 that add up to 1, got {self.log_zero} and {self.log_one}"
            )

    @classmethod
    def of(cls, probability: float) -> Self:
        """Return the bit that is 1 with a probability in [0, 1]."""
        if not 0 <= probability <= 1:
            raise ParameterError(f"a probability must be in [0, 1], got {probability}")
        return cls(
            math.log1p(-probability) if probability < 1 else -math.inf,
            math.log(probability) if probability > 0 else -math.inf,
        )

    @property
    def logit(self) -> float:
        """Log-odds of a 1."""
        return self.log_one - self.log_zero

    @property
    def flipped(self) -> Bit:
        """The opposite bit."""
        return Bit(self.log_one, self.log_zero)


Group = tuple[int, Bit]
"""So many independent copies of a bit."""


@dataclass(frozen=True, slots=True)
class TiltedSum:
    """The law w of a sum: w(s) = exp(log_scale - tilt (s - mean)) v(s), where v is largest near the mean."""

    start: int
    values: np.ndarray
    tilt: float
    mean: float
    deviation: float
    log_scale: float

    def log_factor(self, places: np.ndarray) -> np.ndarray:
        """Log of w / v."""
        factors: np.ndarray = self.log_scale - self.tilt * (places - self.mean)
        return factors


def binomial_window(size: int, logit: float) -> tuple[int, np.ndarray]:
    """First value and probabilities of a binomial law around its mode, from ratios of neighbours."""
    if size == 0 or logit == -math.inf:
        return 0, np.ones(1)
    if logit == math.inf:
        return size, np.ones(1)
    success = logistic(logit)
    mode = min(size, int((size + 1) * success))
    reach = int(_REACH * math.sqrt(size * success * logistic(-logit))) + _MARGIN
    low, high = max(0, mode - reach), min(size, mode + reach)
    up, down = np.arange(mode, high), np.arange(mode, low, -1)
    values = np.concatenate(
        [
            np.exp(np.cumsum(np.log(down / (size - down + 1)) - logit))[::-1],
            [1.0],
            np.exp(np.cumsum(np.log((size - up) / (up + 1)) + logit)),
        ]
    )
    return low, values / values.sum()


def logistic(x: float) -> float:
    """1 / (1 + e^-x), accurate where it is tiny."""
    return 1 / (1 + math.exp(-x)) if x > -700 else math.exp(x)


def log_scale_of(bit: Bit, tilt: float) -> float:
    """What one bit adds to the log-scale: minus the divergence of the tilted bit from the bit itself."""
    return float(np.logaddexp(bit.log_zero, bit.log_one + tilt)) - tilt * logistic(bit.logit + tilt)


def tilted_sum(groups: Sequence[Group], tilt: float) -> TiltedSum:
    """Law of a sum of bits, from that of the bits with their log-odds moved by ``tilt``."""
    start, values, mean, variance, log_scale = 0, np.ones(1), 0.0, 0.0, 0.0
    for size, bit in groups:
        if not size:
            continue
        logit = bit.logit + tilt
        first, part = binomial_window(size, logit)
        start += first
        values = _convolved(values, part)
        success, failure = logistic(logit), logistic(-logit)
        mean += size * success
        variance += size * success * failure
        log_scale += size * log_scale_of(bit, tilt)
    return TiltedSum(start, values, tilt, mean, math.sqrt(variance), log_scale)


def _convolved(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if len(a) * len(b) <= _DIRECT or min(len(a), len(b)) < 64:
        return np.convolve(a, b)
    from scipy.fft import irfft, next_fast_len, rfft

    length = len(a) + len(b) - 1
    padded = next_fast_len(length, real=True)
    product: np.ndarray = irfft(rfft(a, padded) * rfft(b, padded), padded)[:length]
    np.maximum(product, 0.0, out=product)
    return product


def log_count_law(groups: Sequence[Group]) -> np.ndarray:
    """Log-probabilities of a sum of independent bits, given as groups of equal ones.

    Parameters
    ----------
    groups
        (number, bit) each.

    Returns
    -------
    ndarray of float, shape (1 + number of bits,)
        Accurate to a relative error of about 1e-11 of the probability however small it is, ``-inf`` where it is 0.

    Notes
    -----
    Exponential tilting: the law is computed where it is large under the bits with their log-odds moved by ``tilt``,
    for as many tilts as it takes to cover all values.
    **Checked against** rational arithmetic, and binomial laws.
    """
    total = sum(size for size, _ in groups)
    law = np.full(total + 1, -np.inf)
    certain = sum(size for size, bit in groups if bit.log_zero == -math.inf)
    possible = total - sum(size for size, bit in groups if bit.log_one == -math.inf)
    free = [(size, bit) for size, bit in groups if size and math.isfinite(bit.logit)]
    law[certain] = math.fsum(size * bit.log_zero for size, bit in free)
    law[possible] = math.fsum(size * bit.log_one for size, bit in free)
    place = certain + 1
    while place < possible:
        # Aimed so far ahead that the places from here on are within reach on both sides of the mean.
        near = tilted_sum(free, _tilt_to(free, place - certain))
        aim = min(place - certain + _TRUSTED * near.deviation, possible - certain - 0.5)
        tilted = tilted_sum(free, _tilt_to(free, aim))
        end = min(possible, max(place + 1, certain + int(tilted.mean + _TRUSTED * tilted.deviation)))
        places = np.arange(place - certain, end - certain)
        with np.errstate(divide="ignore"):
            law[place:end] = np.log(tilted.values[places - tilted.start]) + tilted.log_factor(places)
        place = end
    return law


def _tilt_to(groups: Sequence[Group], mean: float) -> float:
    """Tilt under which bits have a sum of this mean, strictly between 0 and their number."""
    low = math.log(mean / (sum(size for size, _ in groups) - mean)) - max(bit.logit for _, bit in groups)
    high = low + max(bit.logit for _, bit in groups) - min(bit.logit for _, bit in groups)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        below = math.fsum(size * logistic(bit.logit + middle) for size, bit in groups) < mean
        low, high = (middle, high) if below else (low, middle)
    return (low + high) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class HockeyStick:
    """What a sum of bits says of whether one of them was drawn as ``one`` rather than as ``zero``, at one epsilon.

    Attributes
    ----------
    log_delta
        Log of the largest P(S) - e^epsilon Q(S) over events S; ``-inf`` where it is 0.
    least
        The event of the largest is: the sum is at least this.
    log_p, log_q
        Log-probabilities of that event under P and Q.
    """

    log_delta: float
    least: int
    log_p: float
    log_q: float

    @property
    def delta(self) -> float:
        """The hockey-stick divergence."""
        return math.exp(self.log_delta)


def hockey_stick(one: Bit, zero: Bit, others: Sequence[Group], epsilon: float) -> HockeyStick:
    """Hockey-stick divergence of the sum of ``one`` and the others from the sum of ``zero`` and the others.

    Parameters
    ----------
    one, zero
        The bit under P, which is likelier to be 1, and under Q.
    others
        The other bits: (number, bit) each.
    epsilon
        At least 0.

    Returns
    -------
    HockeyStick

    Raises
    ------
    ParameterError
        ``one`` is less likely to be 1 than ``zero``, or epsilon is negative.

    Notes
    -----
    Let w be the law of the sum of the others, W that sum, and a = P(one = 1) - e^epsilon P(zero = 1) > 0. Then
    P(s) - e^epsilon Q(s) = a w(s - 1) - (a + e^epsilon - 1) w(s). A sum of independent bits has a log-concave law, so
    that this is positive exactly from some ``least`` on, and adds up to a w(least - 1) - (e^epsilon - 1) P(W >= least),
    where least - 1 is the mode of the law w(s) e^(tilt s) with e^tilt = 1 + (e^epsilon - 1) / a. Under that tilt

        delta = a w(mode) (1 - e^-tilt) sum over j >= 0 of e^(-tilt j) (1 - v(mode + 1 + j) / v(mode)),

    in which nothing cancels and nothing underflows.
    **Checked against** rational arithmetic, enumeration of all reports, and simulated shuffles.
    """
    if one.log_one < zero.log_one or one.log_zero > zero.log_zero:
        raise ParameterError("hockey_stick: `one` must be at least as likely to be 1 as `zero`")
    if not epsilon >= 0:
        raise ParameterError(f"hockey_stick: epsilon must be at least 0, got {epsilon}")
    decisive = decisive_tilt(one, zero, epsilon)
    if decisive is None:
        return HockeyStick(log_delta=-math.inf, least=0, log_p=0.0, log_q=0.0)
    log_gain, tilt = decisive
    tilted = tilted_sum(others, tilt)
    v = tilted.values / tilted.values.max()
    mode = int(np.argmax(v))
    after = v[mode + 1 :]
    weights = np.exp(-tilt * np.arange(len(after) + 1))
    spread = -math.expm1(-tilt) * float(weights[:-1] @ (1 - after)) + float(weights[-1])
    log_mode = math.log(float(tilted.values.max())) + float(tilted.log_factor(np.array(tilted.start + mode)))
    beyond = float(weights[1:] @ after)
    log_beyond = log_mode + math.log(beyond) if beyond > 0 else -math.inf
    return HockeyStick(
        log_delta=log_gain + log_mode + math.log(spread),
        least=tilted.start + mode + 1,
        log_p=float(np.logaddexp(one.log_one + log_mode, log_beyond)),
        log_q=float(np.logaddexp(zero.log_one + log_mode, log_beyond)),
    )


def decisive_tilt(one: Bit, zero: Bit, epsilon: float) -> tuple[float, float] | None:
    """Log of a = P(one = 1) - e^epsilon P(zero = 1), and log(1 + (e^epsilon - 1) / a); None where a is not above 0."""
    excess = epsilon + zero.log_one - one.log_one
    if not excess < 0:
        return None
    log_gain = one.log_one + math.log(-math.expm1(excess))
    return log_gain, float(np.logaddexp(0.0, _log_expm1(epsilon) - log_gain))


def _log_expm1(x: float) -> float:
    if x == 0:
        return -math.inf
    return math.log(math.expm1(x)) if x < 1 else x + math.log(-math.expm1(-x))
