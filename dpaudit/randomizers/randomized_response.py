"""Binary randomized response (Warner 1965)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import numpy.typing as npt

from dpaudit.errors import ParameterError
from dpaudit.laws import FiniteLaw
from dpaudit.messages import announces

Users = int | npt.NDArray[np.int64]
"""A number of users, or one for each of several counts."""


@dataclass(frozen=True, slots=True)
class RandomizedResponse:
    """Reports a bit truthfully with probability ``keep``, and flipped otherwise.

    Parameters
    ----------
    keep
        In (1/2, 1], so that reports say something about the truth.

    Attributes
    ----------
    flip
        Probability of a false report. Kept beside ``keep``, because 1 - keep loses its digits at a large epsilon.

    Examples
    --------
    >>> import numpy as np
    >>> from dpaudit.randomizers import RandomizedResponse
    >>> response = RandomizedResponse(0.75)
    >>> round(response.epsilon, 4)
    1.0986
    >>> np.exp(response.law(True).log_probabilities).round(4)
    array([0.25, 0.75])
    """

    keep: float
    flip: float = field(init=False)

    def __post_init__(self) -> None:
        if not 0.5 < self.keep <= 1:
            raise ParameterError(f"keep must be above 1/2 and at most 1, got {self.keep}")
        object.__setattr__(self, "flip", 1 - self.keep)

    @classmethod
    def for_epsilon(cls, epsilon: float) -> Self:
        """Return the one that is epsilon-LDP with equality: keep = e^epsilon / (1 + e^epsilon)."""
        if not epsilon > 0:
            raise ParameterError(f"epsilon must be above 0, got {epsilon}")
        odds = math.exp(-epsilon)
        made = cls(1 / (1 + odds))
        object.__setattr__(made, "flip", odds / (1 + odds))
        return made

    @property
    def epsilon(self) -> float:
        """Exact epsilon: log(keep / flip)."""
        return math.inf if self.flip == 0 else math.log(self.keep) - math.log(self.flip)

    @announces(lambda bits, rng: np.size(bits))
    def randomize(self, bits: npt.ArrayLike, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        """Report of every bit, independently; same shape."""
        truth = np.asarray(bits, dtype=bool)
        return truth ^ (rng.random(truth.shape) >= self.keep)

    @announces(lambda bits, users, rng, size=None: ones_drawn(users, size))
    def count_ones(
        self, bits: Sequence[bool], users: Sequence[Users], rng: np.random.Generator, size: int | None = None
    ) -> npt.NDArray[np.int64]:
        """Draw how many users report 1, ``size`` times or once, where ``users[i]`` of them hold ``bits[i]``."""
        drawn = [
            rng.binomial(number, self.keep if bit else self.flip, size) for bit, number in zip(bits, users, strict=True)
        ]
        return np.asarray(sum(drawn))

    def law(self, bit: bool) -> FiniteLaw:
        """Law of the report of one bit."""
        return FiniteLaw.from_probabilities([0, 1], [self.flip, self.keep] if bit else [self.keep, self.flip])

    def unbiased(self, ones: npt.ArrayLike, reports: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Unbiased estimate of how many of the true bits are 1, from the number of reported ones."""
        return (np.asarray(ones, float) - self.flip * np.asarray(reports, float)) / (self.keep - self.flip)


def ones_drawn(users: Sequence[Users], size: int | None) -> int:
    """Number of reports that a count of ones stands for."""
    return sum(int(np.sum(number)) * (1 if size is None else size) for number in users)
