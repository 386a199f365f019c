"""The others among whom one bit shows most."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np

from dpaudit.errors import ParameterError
from dpaudit.laws.counts import (
    Bit,
    HockeyStick,
    binomial_window,
    decisive_tilt,
    hockey_stick,
    log_scale_of,
    logistic,
    tilted_sum,
)

_BLOCK = 64
"""Numbers of ones, less one, that are looked at together."""


def worst_others(one: Bit, zero: Bit, others: int, epsilon: float) -> tuple[int, HockeyStick]:
    """How many of the other bits must be drawn as ``one`` for the sum to say most of one bit.

    Parameters
    ----------
    one, zero, epsilon
        As in `hockey_stick`.
    others
        Number of the other bits, each drawn as ``one`` or as ``zero``.

    Returns
    -------
    ones : int
        Of the other bits, those drawn as ``one``.
    worst : HockeyStick
        The largest divergence, up to a relative rounding error of 1e-10: the search is complete.

    Raises
    ------
    ParameterError
        ``others`` is negative, or the bits or epsilon do not fit.

    Notes
    -----
    The divergence is not monotone in the number of ones, and its largest value not at an end: the sum is a whole
    number, so it goes up and down with the place of the mode between two of them. But whoever is also told some of
    the other reports knows more: with between k and l ones it is at most what k ones and the zeros that are always
    there leave (data processing). Best-first search by that bound ends at the largest value over all numbers of ones.
    **Checked against** enumeration of all numbers of ones.
    """
    if others < 0:
        raise ParameterError(f"worst_others: the number of others must be at least 0, got {others}")

    def among(ones: int, zeros: int) -> HockeyStick:
        return hockey_stick(one, zero, [(ones, one), (zeros, zero)], epsilon)

    decisive = decisive_tilt(one, zero, epsilon)
    if decisive is None:
        return 0, among(0, others)
    block = _Block.of(one, zero, min(_BLOCK, others), decisive[1])
    queue: list[tuple[float, int, int, HockeyStick | None]] = [(-math.inf, 0, others, None)]
    while True:
        _, low, high, found = heapq.heappop(queue)
        if found is not None:
            return low, found
        if high - low <= block.size:
            first = min(low, others - block.size)
            ones = first + block.worst(first, others - block.size - first)
            found = among(ones, others - ones)
            heapq.heappush(queue, (-found.log_delta, ones, ones, found))
            continue
        middle = (low + high) // 2
        for part_low, part_high in ((low, middle), (middle + 1, high)):
            bound = among(part_low, others - part_high).log_delta
            heapq.heappush(queue, (-bound, part_low, part_high, None))


@dataclass(frozen=True, slots=True)
class _Block:
    """Sums of ``size`` bits, i of them drawn as one and the others as zero, i = 0, ..., size; all under one tilt.

    Row i of ``laws`` is the law of the sum under the tilt, and of ``scales`` and ``means`` what it adds to log-scale
    and mean of a tilted sum.
    """

    one: Bit
    zero: Bit
    size: int
    tilt: float
    laws: np.ndarray
    scales: np.ndarray
    means: np.ndarray

    @classmethod
    def of(cls, one: Bit, zero: Bit, size: int, tilt: float) -> _Block:
        laws = np.zeros((size + 1, size + 1))
        for ones in range(size + 1):
            start, law = binomial_window(ones, one.logit + tilt)
            more, other = binomial_window(size - ones, zero.logit + tilt)
            both = np.convolve(law, other)
            laws[ones, start + more : start + more + len(both)] = both
        share = np.arange(size + 1)
        scales = share * log_scale_of(one, tilt) + (size - share) * log_scale_of(zero, tilt)
        means = share * logistic(one.logit + tilt) + (size - share) * logistic(zero.logit + tilt)
        return cls(one, zero, size, tilt, laws, scales, means)

    def worst(self, ones: int, zeros: int) -> int:
        """The i for which the divergence beside so many further bits is largest."""
        base = tilted_sum([(ones, self.one), (zeros, self.zero)], self.tilt)
        # The mode of a sum of independent bits is within 1 of its mean.
        first, last = math.floor(base.mean) - 2, math.ceil(base.mean) + self.size + 3
        low, high = first - self.size, last + 1
        values = np.zeros(high - low)
        inside = slice(max(low, base.start), min(high, base.start + len(base.values)))
        values[inside.start - low : inside.stop - low] = base.values[
            inside.start - base.start : inside.stop - base.start
        ]
        beyond = base.values[max(0, high - base.start) :]
        gap = max(0, base.start - high)
        tail = float(np.exp(-self.tilt * (gap + np.arange(len(beyond)))) @ beyond)
        tails = np.empty(len(values))
        fade = math.exp(-self.tilt)
        for place in range(len(values) - 1, -1, -1):
            tail = values[place] + fade * tail
            tails[place] = tail
        sums, sum_tails = (self._convolved(column) for column in (values, tails))
        places = np.arange(first, last + 1)
        modes = np.minimum(np.argmax(sums, axis=0), len(places) - 2)
        rows = np.arange(self.size + 1)
        gains = sums[modes, rows] + math.expm1(-self.tilt) * sum_tails[modes + 1, rows]
        with np.errstate(divide="ignore"):
            logs = np.log(np.maximum(gains, 0.0)) + self.scales - self.tilt * (places[modes] - self.means)
        return int(np.argmax(logs))

    def _convolved(self, column: np.ndarray) -> np.ndarray:
        """Convolution with every row, shape (places, size + 1)."""
        windows = np.lib.stride_tricks.sliding_window_view(column, self.size + 1)[:, ::-1]
        result: np.ndarray = windows @ self.laws.T
        return result
