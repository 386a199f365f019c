"""Unary encoding: one bit for every value, each randomized on its own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from dpaudit.laws import FiniteLaw, ProductLaw
from dpaudit.messages import announces
from dpaudit.randomizers.oracle import FrequencyOracle, check_oracle, check_truths

_LISTED = 1 << 12


@dataclass(frozen=True, slots=True)
class UnaryEncoding(FrequencyOracle):
    """Reports k bits; the bit of the user's value is 1 with probability p, every other with probability q.

    Parameters
    ----------
    values
        Number of values k, at least 2.
    epsilon
        Above 0, finite: log(p (1 - q) / (q (1 - p))).
    kind
        ``symmetric``: p = 1 - q = e^(epsilon/2) / (e^(epsilon/2) + 1), as one-time RAPPOR with one hash per value.
        ``optimised``: p = 1/2, q = 1 / (e^epsilon + 1), which has the least variance for a rare value.

    References
    ----------
    Wang, Blocki, Li, Jha, "Locally differentially private protocols for frequency estimation", USENIX Security 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from dpaudit.randomizers import UnaryEncoding
    >>> oracle = UnaryEncoding(4, np.log(9))
    >>> print(round(oracle.own, 4), round(oracle.other, 4))
    0.75 0.25
    """

    values: int
    epsilon: float
    kind: Literal["symmetric", "optimised"] = "symmetric"

    def __post_init__(self) -> None:
        check_oracle(self.values, self.epsilon)

    @property
    def own(self) -> float:
        """P."""
        return 0.5 if self.kind == "optimised" else 1 / (1 + math.exp(-self.epsilon / 2))

    @property
    def other(self) -> float:
        """Q."""
        odds = math.exp(-self.epsilon if self.kind == "optimised" else -self.epsilon / 2)
        return odds / (1 + odds)

    @announces(lambda truths, rng: len(truths))
    def randomize(self, truths: npt.ArrayLike, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Bits, shape (n, k)."""
        held = check_truths(truths, self.values)
        ones = np.where(held[:, None] == np.arange(self.values), self.own, self.other)
        return (rng.random(ones.shape) < ones).astype(np.int64)

    def supports(self, reports: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Count the ones of each value."""
        return np.asarray(reports.sum(axis=0))

    def law(self, value: int) -> ProductLaw | None:
        """Law of the bits."""
        if self.values > _LISTED:
            return None
        odds = math.exp(-self.epsilon if self.kind == "optimised" else -self.epsilon / 2)
        log_one, log_zero = math.log(odds) - math.log1p(odds), -math.log1p(odds)
        own = (-math.log(2), -math.log(2)) if self.kind == "optimised" else (log_one, log_zero)
        bits = [0, 1]
        unheld = FiniteLaw(bits, np.array([log_zero, log_one]))
        parts = [unheld] * self.values
        parts[value] = FiniteLaw(bits, np.array(own))
        return ProductLaw(parts)
