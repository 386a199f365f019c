"""Whether a log-likelihood belongs to its sampler: large losses on one input against weighted samples of the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dpaudit.claims.inputs import Pair
from dpaudit.errors import CheckError
from dpaudit.mechanism import Mechanism
from dpaudit.statistics import BettingMeans

MISMATCH_ALPHA = 1e-6
"""Probability, at most, with which a log-likelihood that belongs to its sampler is reported as one that does not."""

_LEVELS = 6


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """Privacy losses from which on samples are held against each other, their distance, and an error probability."""

    levels: np.ndarray
    width: float
    alpha: float

    @classmethod
    def up_to(cls, top: float, *, directions: int) -> Self:
        """Return levels below a loss, for so many directions of pairs."""
        # Each level has two intervals, of the frequency and of the weighted samples, with two sides each.
        alpha = MISMATCH_ALPHA / (2 * (2 * directions) * _LEVELS)
        return cls(np.arange(_LEVELS) * top / _LEVELS, top / _LEVELS, alpha)

    def ramp(self, loss: np.ndarray, level: float) -> np.ndarray:
        """Rise from 0 at the level to 1; not a step, on whose edge rounding would decide where losses repeat."""
        height: np.ndarray = np.minimum((loss - level) / self.width, 1.0)
        return height


class LargeLosses:
    """What the samples of one direction say of losses above each level: weighted to the other input, and reversed."""

    def __init__(self, levels: Levels, *, horizon: int) -> None:
        mismatch = np.full(len(levels.levels), levels.alpha)
        self.levels = levels
        self.weighted = BettingMeans(mismatch, horizon=horizon)
        self.reverse = BettingMeans(mismatch, horizon=horizon)

    def update(self, part: np.ndarray) -> None:
        """Take the losses of a block of outputs, ascending."""
        levels, rows = self.levels, len(part)
        above = np.searchsorted(part, levels.levels, side="right")
        tails = [(t, part[k:]) for t, k in zip(levels.levels, above, strict=True)]
        self.weighted.update(rows, [np.exp(t - tail) * levels.ramp(tail, t) for t, tail in tails])
        below = np.searchsorted(part, -levels.levels, side="left")
        self.reverse.update(rows, [levels.ramp(-part[:k], t) for t, k in zip(levels.levels, below, strict=True)])


def check_match(mechanism: Mechanism, inputs: Pair | tuple[Any, Any], here: LargeLosses, other: LargeLosses) -> None:
    """Hold the frequency of losses above each level on one input against the weighted samples of the other.

    Raises
    ------
    CheckError
        They differ, as they do with probability 1e-6 at most where the likelihood is the sampler's.
    """
    levels, width = here.levels.levels, here.levels.width
    factor = np.exp(-levels)
    weighted = [bound * factor for bound in here.weighted.bounds()]
    observed = other.reverse.bounds()
    gap = np.maximum(weighted[0] - observed[1], observed[0] - weighted[1])
    worst = int(np.argmax(gap))
    if gap[worst] > 0:
        intervals = [f"{lower[worst]:.6g} to {upper[worst]:.6g}" for lower, upper in (observed, weighted)]
        raise CheckError(
            f"{mechanism.name}: `log_likelihood` does not belong to `sample` for the inputs "
            f"{inputs[0]!r} and {inputs[1]!r}: outputs whose log-likelihood on the first is more than "
            f"{levels[worst]:.4g} above that on the second (counted in full from "
            f"{levels[worst] + width:.4g}) have probability {intervals[0]} in samples on the "
            f"second, but {intervals[1]} by likelihoods in samples on the first (false-alarm rate "
            f"{MISMATCH_ALPHA:g}); mend whichever is wrong"
        )
