"""Many independent steps released together: privacy profiles enclosed from both sides, at any delta."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from dpaudit.laws.base import UncomposableError
from dpaudit.laws.grid import GridLoss
from dpaudit.laws.sources import UNIT

_OUTSIDE = 37.0
"""Minus the log of the tilted mass that may lie outside of the window."""

_CHERNOFF = np.geomspace(0.02, 40.0, 24)
_COARSE = 1 << 11
_LARGEST_TILT = 1e9
_LARGEST_EXPONENT = 400.0
_LARGEST_WINDOW = 1 << 23
_FFT_ROUNDING = 10 * UNIT
"""Relative error of a term of a Fourier transform, for each doubling of its length: a product and a sum."""


class WindowError(UncomposableError):
    """The sum spreads over more points than the largest window has."""


@dataclass(frozen=True, eq=False)
class GridComposition:
    """The sum of independent losses on grids of one step, each so many times.

    Notes
    -----
    The law of the sum is computed by a Fourier transform of every loss, under exponential tilting: with the masses
    multiplied by e^(tilt * loss), so that the losses that decide the divergence in question are where the sum's law is
    large, and keep their relative accuracy however small delta is. Three errors are bounded and accounted for: what
    lies outside of the window (Chernoff), the rounding of the transforms (Higham, "Accuracy and stability of numerical
    algorithms", 2002, Section 24.1), and what powers make of it.
    """

    parts: Sequence[tuple[GridLoss, int]]
    _kept: dict[float, Tilted] = field(default_factory=dict, repr=False)

    @property
    def step(self) -> float:
        """Spacing of the grids."""
        return self.parts[0][0].step

    @cached_property
    def infinite(self) -> float:
        """Mass of an infinite loss in any of the parts."""
        if any(part.infinite >= 1 for part, _ in self.parts):
            return 1.0
        return -math.expm1(math.fsum(count * math.log1p(-part.infinite) for part, count in self.parts))

    @cached_property
    def _logs(self) -> list[tuple[np.ndarray, np.ndarray, int]]:
        """Losses, log-masses and number of every part."""
        found = []
        for part, count in self.parts:
            present = part.masses > 0
            found.append((part.losses[present], np.log(part.masses[present]), count))
        return found

    def log_moment(self, tilt: float) -> float:
        """Log of the sum's moment generating function."""
        return math.fsum(count * _log_sum_exp(logs + tilt * losses) for losses, logs, count in self._logs)

    @cached_property
    def _coarse(self) -> list[tuple[np.ndarray, np.ndarray, int]]:
        """The same with neighbouring losses merged, which is enough to choose a tilt by."""
        found = []
        for losses, logs, count in self._logs:
            block = max(1, len(losses) // _COARSE)
            starts = np.arange(0, len(losses), block)
            merged = np.logaddexp.reduceat(logs, starts)
            weights = np.exp(logs - np.repeat(merged, np.diff(np.r_[starts, len(losses)])))
            found.append((np.add.reduceat(weights * losses, starts), merged, count))
        return found

    def moments(self, tilt: float, *, roughly: bool = False) -> tuple[float, float, float]:
        """Log of the moment generating function, and mean and standard deviation under the tilt."""
        log_moment, mean, variance = 0.0, 0.0, 0.0
        for losses, logs, count in self._coarse if roughly else self._logs:
            exponents = logs + tilt * losses
            largest = float(exponents.max())
            weights = np.exp(exponents - largest)
            total = float(weights.sum())
            centre = float(weights @ losses) / total
            log_moment += count * (largest + math.log(total))
            mean += count * centre
            variance += count * float(weights @ (losses - centre) ** 2) / total
        return log_moment, mean, math.sqrt(variance)

    def tilt_at(self, epsilon: float) -> float:
        """Tilt, at least 0, under which the sum's mean is ``epsilon``."""
        return _solved(lambda tilt: self.moments(tilt, roughly=True)[1] - epsilon)

    def tilt_for(self, delta: float) -> float:
        """Tilt, at least 0, whose mean is about the epsilon at which the divergence is ``delta``."""

        def lack(tilt: float) -> float:
            log_moment, mean, deviation = self.moments(tilt, roughly=True)
            width = max(1.0, math.sqrt(2 * math.pi) * deviation * max(tilt, 1e-3))
            return math.log(delta) - (log_moment - tilt * mean - math.log(width) - math.log1p(tilt))

        return _solved(lack)

    def tilted(self, tilt: float) -> Tilted:
        """Law of the sum under a tilt."""
        if tilt not in self._kept:
            if len(self._kept) >= 64:
                self._kept.clear()
            self._kept[tilt] = self._tilted(tilt)
        return self._kept[tilt]

    def _window(self, tilt: float, log_moment: float, mean: float, deviation: float) -> tuple[float, float]:
        """Losses outside of which the tilted sum has mass 2 e^-37 at most."""
        scale = max(deviation, self.step)
        low = math.fsum(count * float(losses[0]) for losses, _, count in self._logs)
        high = math.fsum(count * float(losses[-1]) for losses, _, count in self._logs)
        # The best shifts are found roughly, and what they say is computed exactly.
        shifts = (_CHERNOFF / scale).tolist()
        here = self.moments(tilt, roughly=True)[0]
        up = min(shifts, key=lambda shift: (self.moments(tilt + shift, roughly=True)[0] - here + _OUTSIDE) / shift)
        down = min(shifts, key=lambda shift: (self.moments(tilt - shift, roughly=True)[0] - here + _OUTSIDE) / shift)
        high = min(high, (self.log_moment(tilt + up) - log_moment + _OUTSIDE) / up)
        low = max(low, (log_moment - self.log_moment(tilt - down) - _OUTSIDE) / down)
        return low, high

    def _tilted(self, tilt: float) -> Tilted:
        log_moment, mean, deviation = self.moments(tilt)
        low, high = self._window(tilt, log_moment, mean, deviation)
        step = self.step
        needed = (high - low) / step + 4
        if needed > _LARGEST_WINDOW:
            raise WindowError(
                f"the privacy losses of {sum(count for _, count in self.parts):,} parts released together spread over "
                f"{needed:.3g} points of a grid, and {_LARGEST_WINDOW:,} is the most; choose fewer parts (steps) or "
                "more noise (noise_multiplier)"
            )
        length = 1 << max(6, math.ceil(math.log2(needed)))
        doublings = math.log2(length)
        origin = 0.0
        log_size = np.zeros(length // 2 + 1)
        error = np.zeros(length // 2 + 1)
        spectrum = np.ones(length // 2 + 1, dtype=complex)
        for part, count in self.parts:
            with np.errstate(divide="ignore"):
                exponents = np.log(part.masses) + tilt * part.losses
            weights = np.exp(exponents - exponents.max())
            weights /= weights.sum()
            centre = round(float(weights @ np.arange(len(weights))))
            folded = np.bincount((np.arange(len(weights)) - centre) % length, weights, length)
            transformed = np.fft.rfft(folded)
            # Every term of every sum is rounded as often as the length doubles, and the terms' sizes add up to 1.
            off = _FFT_ROUNDING * doublings + 16 * UNIT
            size = np.abs(transformed) + 2 * off
            log_size += count * np.log(size)
            error += count * (off / size + 4 * UNIT)
            spectrum *= _power(transformed, count)
            origin += count * (part.start + step * centre)
        log_size = log_size + np.log(error)
        off = math.sqrt(2 / length) * float(np.linalg.norm(np.exp(log_size)))
        law = np.fft.irfft(spectrum, length)
        off += 2 * _FFT_ROUNDING * doublings * (float(np.linalg.norm(law)) + off)
        first = math.floor((low - origin) / step) - 1
        law = np.maximum(np.roll(law, -first), 0.0)
        return Tilted(
            tilt=tilt,
            log_moment=log_moment,
            start=origin + step * first,
            step=step,
            law=law,
            mean=mean,
            deviation=deviation,
            count=sum(count for _, count in self.parts),
            off=off,
            outside=2 * math.exp(-_OUTSIDE) + 1e-15,
            infinite=self.infinite,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Tilted:
    """The law of a sum, its masses multiplied by e^(tilt * loss - log_moment), on a window of a grid.

    Attributes
    ----------
    count
        Number of losses added up.
    off
        Bound on the error of ``law`` in the Euclidean norm.
    outside
        Bound on the tilted mass outside of the window.
    """

    tilt: float
    log_moment: float
    start: float
    step: float
    law: np.ndarray
    mean: float
    deviation: float
    count: int
    off: float
    outside: float
    infinite: float

    @cached_property
    def first(self) -> int:
        """First point at which divergences are computed: before it the weights e^(-tilt * loss) are too large."""
        reach = _LARGEST_EXPONENT / max(self.tilt, 1e-12)
        return max(0, int(min((self.mean - reach - self.start) / self.step, len(self.law) - 2)))

    @cached_property
    def _divergences(self) -> np.ndarray:
        """Divergences at the points from ``first`` on, times e^(tilt * point - log_moment)."""
        law = self.law[self.first :]
        # With S(j) the sum over i >= j of m(i) e^(-(loss i - loss j)), the divergence at j is (1 - e^-step) times the
        # sum of S(i) over i > j. Nothing cancels.
        sums = _fading_sums(law[::-1], math.exp(-(1 + self.tilt) * self.step))
        fade = math.exp(-self.tilt * self.step)
        found: np.ndarray = -math.expm1(-self.step) * fade * _fading_sums(np.r_[0.0, sums[:-1]], fade)[::-1]
        return found

    def _log_scale(self, epsilon: float) -> float:
        return self.log_moment - self.tilt * epsilon

    def bounds(self, epsilon: float) -> tuple[float, float]:
        """Lower and upper bounds on the divergence at ``epsilon``, as far as the law's errors allow."""
        position = (epsilon - self.start) / self.step - self.first
        scale = math.exp(min(self._log_scale(epsilon), 700.0))
        if not 0 <= position < len(self._divergences) - 1:
            if position >= 0:
                return self.infinite, min(1.0, self.infinite + scale * self.outside)
            nearest = self.start + self.step * self.first
            return (self.bounds(nearest)[0] if epsilon < nearest else self.infinite), 1.0
        if self.tilt * self.step > _LARGEST_EXPONENT:
            # Only a loss near the largest one counts, and Chernoff's bound says enough.
            return self.infinite, min(1.0, self.infinite + scale)
        place = int(position)
        share = math.expm1((position - place) * self.step) / math.expm1(self.step)
        fade = math.exp(self.tilt * (position - place) * self.step)
        here, after = self._divergences[place : place + 2]
        value = fade * ((1 - share) * float(here) + share * float(after) * math.exp(-self.tilt * self.step))
        terms = min(float(len(self.law)), 1 / -math.expm1(-2 * max(self.tilt, 1e-300) * self.step))
        error = self.off * math.sqrt(terms) + self.outside
        relative = UNIT * (4 * len(self.law) + 64 * self.count + 4 * abs(self._log_scale(epsilon)))
        finite = 1 - self.infinite
        low = self.infinite + min(finite, scale * max(0.0, value * (1 - relative) - error))
        high = self.infinite + scale * (value * (1 + relative) + error)
        return min(low, 1.0), min(high, 1.0)

    def log_tails(self, epsilon: float) -> tuple[float, float]:
        """Log-masses under P and under Q of the losses above ``epsilon``, about."""
        losses = self.start + self.step * np.arange(len(self.law))
        beyond = (losses > epsilon) & (self.law > 0)
        if not beyond.any():
            return (math.log(self.infinite) if self.infinite else -math.inf), -math.inf
        with np.errstate(divide="ignore"):
            log_p = np.log(self.law[beyond]) + self.log_moment - self.tilt * losses[beyond]
        at_p = float(np.logaddexp.reduce(log_p))
        infinite = math.log(self.infinite) if self.infinite else -math.inf
        at_q = float(np.logaddexp.reduce(log_p - losses[beyond]))
        return min(0.0, float(np.logaddexp(at_p, infinite))), min(0.0, at_q)

    def epsilon(self, delta: float, *, upper: bool) -> float:
        """Smallest epsilon in the window at which the upper bound is at most ``delta``, or the lower one is."""
        side = 1 if upper else 0
        first = self.start + self.step * self.first
        last = self.start + self.step * (self.first + len(self._divergences) - 1.001)
        # Far from the mean the errors outweigh the divergence, so that the bounds are followed from there outwards.
        places = np.clip(self.mean + self.deviation * np.linspace(-8.0, 8.0, 65), first, last).tolist()
        exceeding = [i for i, place in enumerate(places) if self.bounds(place)[side] > delta]
        if upper:
            allowed = exceeding[-1] + 1 if exceeding else 0
            if allowed == len(places):
                return math.inf
            low, high = places[max(allowed - 1, 0)], places[allowed]
        else:
            if not exceeding:
                return -math.inf
            low, high = places[exceeding[-1]], places[min(exceeding[-1] + 1, len(places) - 1)]
        while high - low > 1e-13 * max(1.0, abs(high)):
            middle = (low + high) / 2
            if not low < middle < high:
                break
            if self.bounds(middle)[side] > delta:
                low = middle
            else:
                high = middle
        return float(high if upper else low)


def _fading_sums(values: np.ndarray, fade: float) -> np.ndarray:
    """Sums over i <= j of fade^(j - i) values[i], shape (n,), by doubling what is summed."""
    sums, reach = values.copy(), 1
    while reach < len(sums) and fade > 0:
        sums[reach:] = sums[reach:] + fade * sums[:-reach]
        fade *= fade
        reach *= 2
    return sums


def _power(values: np.ndarray, count: int) -> np.ndarray:
    """Whole powers by repeated squaring."""
    result = np.ones_like(values)
    square = values
    while count:
        if count & 1:
            result = result * square
        count >>= 1
        if count:
            square = square * square
    return result


def _log_sum_exp(values: np.ndarray) -> float:
    largest = float(values.max())
    return largest + math.log(float(np.exp(values - largest).sum()))


def _solved(rising: Callable[[float], float]) -> float:
    """Where a rising function of a tilt >= 0 is 0, to three digits; the largest tilt where it stays below."""
    if rising(0.0) >= 0:
        return 0.0
    low, high = 0.0, 1.0
    while rising(high) < 0:
        low, high = high, 2 * high
        if high > _LARGEST_TILT:
            return low
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return high
