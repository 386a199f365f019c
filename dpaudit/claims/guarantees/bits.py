"""Renyi divergences of two bits: what a single event says of guarantees that are about all outputs at once.

An event maps outputs to a bit. By data processing the divergence of the two bits is at most that of the outputs, so
that an event's two probabilities bound every Renyi guarantee from below.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

_EXCESSES: Final = np.geomspace(1e-2, 1e4, 25)
"""Orders less one at which a supremum over all orders is looked for."""

_FEW: Final = np.geomspace(0.05, 500, 11)
_STEP: Final = math.log(_EXCESSES[1] / _EXCESSES[0])
_AROUND: Final = np.linspace(-1, 1, 9)
_REFINEMENTS: Final = 4
"""Where orders are looked at around the best one, in steps of the last search, and how many searches there are."""

_LEAST_LOGIT, _MOST_LOGIT = -745.0, 45.0
_LEAST_LOG = -700.0
_PARTS, _ROUNDS = 65, 8


def renyi_of_bits(p: Any, q: Any, order: float) -> Any:
    """Renyi divergence between two bits, the larger one of both directions.

    Parameters
    ----------
    p, q
        Probabilities of a 1, numbers or arrays that broadcast against each other.
    order
        Above 1; infinite for the max divergence.

    Returns
    -------
    float or ndarray
        The divergence, 0 where ``p <= q``; infinite where one bit has a value that the other has not.
    """
    bits = _Bits(p, q)
    if math.isinf(order):
        return bits.masked(np.maximum(bits.of_one, -bits.of_zero))
    return bits.masked(bits.moment(order - 1) / (order - 1))


def rate_of_bits(p: Any, q: Any, *, about: bool = False) -> Any:
    """Supremum over orders a of the Renyi divergence between two bits over a: the rho that they force.

    Parameters and shape are those of `renyi_of_bits`; with ``about``, few orders are looked at.

    Notes
    -----
    **Guarantee.** The value is the divergence at some order, over that order, and so at most the supremum. It is found
    on a grid of orders, the limit at 1 included, which is refined three times; it falls short of the supremum by a
    relative 1e-4 at most.
    **Checked against** finer grids.
    """
    bits = _Bits(p, q, axis=True)
    most = bits.relative_entropy()
    if about:
        return bits.masked(np.maximum(most, (bits.moment(_FEW) / (_FEW * (1 + _FEW))).max(axis=-1)))
    excesses, step = np.broadcast_to(_EXCESSES, (*bits.above.shape, len(_EXCESSES))), _STEP
    for _ in range(_REFINEMENTS):
        rates = bits.moment(excesses) / (excesses * (1 + excesses))
        most = np.maximum(most, rates.max(axis=-1))
        best = np.take_along_axis(excesses, np.argmax(rates, axis=-1)[..., None], axis=-1)
        excesses, step = best * np.exp(step * _AROUND), step * (_AROUND[1] - _AROUND[0])
    return bits.masked(most)


class _Bits:
    """Two bits, with the logarithms of the ratios of their probabilities of 1 and of 0."""

    def __init__(self, p: Any, q: Any, *, axis: bool = False) -> None:
        p, q = np.broadcast_arrays(np.asarray(p, float), np.asarray(q, float))
        self.above = p > q
        p, q = (p[..., None], q[..., None]) if axis else (p, q)
        self._p, self._q = p, q
        with np.errstate(divide="ignore", invalid="ignore"):
            self.log_p, self.log_q = np.log(p), np.log(q)
            self.log_not_p, self.log_not_q = np.log1p(-p), np.log1p(-q)
            self.of_one, self.of_zero = self.log_p - self.log_q, self.log_not_p - self.log_not_q

    def moment(self, excess: Any) -> Any:
        """Order less one times the divergence, the larger one of both directions."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            forth = np.logaddexp(self.log_p + excess * self.of_one, self.log_not_p + excess * self.of_zero)
            back = np.logaddexp(self.log_q - excess * self.of_one, self.log_not_q - excess * self.of_zero)
            return np.maximum(forth, back)

    def relative_entropy(self) -> Any:
        """Limit of the divergence as the order falls to 1, the larger one of both directions; without the new axis."""
        p, q, one, zero = self._p, self._q, self.of_one, self.of_zero
        with np.errstate(divide="ignore", invalid="ignore"):
            forth = p * one + np.where(p < 1, (1 - p) * zero, 0.0)
            back = -np.where(q > 0, q * one, 0.0) - (1 - q) * zero
            return np.maximum(forth, back)[..., 0]

    def masked(self, values: Any) -> Any:
        """Values at least 0, and 0 where the first bit is not likelier to be 1."""
        with np.errstate(invalid="ignore"):
            return np.where(self.above, np.maximum(values, 0.0), 0.0)[()]


def largest_allowed(forces: Callable[[Any, Any], Any], limit: float, q: float) -> float:
    """Largest probability p with ``forces(p, q)`` at most a limit, for a function that rises with p.

    Parameters
    ----------
    forces
        As `Guarantee.forces`, for arrays.
    limit
        At least 0.
    q
        In [0, 1].
    """
    if q >= 1:
        return 1.0
    # p is searched by its logit, so that it is as precise where it is tiny as where it is almost 1.
    low = math.log(q) - math.log1p(-q) if q > 0 else _LEAST_LOGIT
    high = _MOST_LOGIT
    if low >= high:
        return q
    for _ in range(_ROUNDS):
        logits = np.linspace(low, high, _PARTS)
        odds = np.exp(-np.abs(logits))
        p = np.where(logits > 0, 1.0, odds) / (1 + odds)
        allowed = np.asarray(forces(np.maximum(p, q), q)) <= limit
        if allowed.all():
            return 1.0 if high >= _MOST_LOGIT else float(p[-1])
        first = int(np.argmin(allowed))
        if first == 0:
            return q
        low, high = float(logits[first - 1]), float(logits[first])
    return max(q, float(p[first - 1]))


def balanced(forces: Callable[[Any, Any], Any], limit: float) -> float:
    """Probability q at which an event that has 1 - q on the other input forces a limit."""
    low, high = _LEAST_LOG, -math.log(2)
    for _ in range(_ROUNDS):
        logs = np.linspace(low, high, _PARTS)
        q = np.exp(logs)
        above = np.asarray(forces(1 - q, q)) > limit
        last = int(np.count_nonzero(above)) - 1
        if last < 0:
            return 0.0
        low, high = float(logs[last]), float(logs[min(last + 1, _PARTS - 1)])
    return math.exp(low)
