"""The vector of signs of Duchi, Jordan and Wainwright: a corner of the cube on the input's side of a hyperplane."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dpaudit.errors import ParameterError
from dpaudit.laws import FiniteLaw, Law
from dpaudit.laws.base import Event
from dpaudit.laws.finite import FiniteComparison
from dpaudit.messages import announces

MAX_LISTED = 12
"""Largest dimension whose 2^d reports are listed."""

_CHUNK_CELLS = 1 << 24
_LARGE = 1000
_BITS_SET = np.array([byte.bit_count() for byte in range(256)], dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class HypercubeResponse:
    """Reports d bits at once: a uniform one of the vectors that agree with the input in more than half of the entries.

    With probability ``flip`` it is one of those that agree in fewer than half. In terms of signs, of input v and of
    report z, these are the half-spaces <z, v> > 0 and <z, v> < 0.

    Parameters
    ----------
    dimension
        d, at least 1.
    epsilon
        Budget of the coin that chooses the half-space, above 0: it keeps the input's own with probability
        e^epsilon / (1 + e^epsilon).
    ties
        What becomes of reports that agree in exactly half of the entries, which an even d has. ``both``: they belong
        to both half-spaces, as printed; the loss is then log(1 + e^epsilon), not epsilon. ``split``: half of the
        weight of another corner on average, as if a further, fixed entry broke the tie; the loss is epsilon.

    References
    ----------
    Duchi, Jordan, Wainwright, "Local privacy, data processing inequalities, and statistical minimax rates",
    arXiv:1302.3203; Nguyên et al., arXiv:1606.05053, on the loss at an even d.

    Examples
    --------
    >>> import numpy as np
    >>> from dpaudit.randomizers import HypercubeResponse
    >>> response = HypercubeResponse(3, np.log(3))
    >>> print(round(response.keep, 4), round(response.flip, 4))
    0.75 0.25
    >>> response.randomize([[True, False, True]], np.random.default_rng(1)).shape
    (1, 3)
    """

    dimension: int
    epsilon: float
    ties: Literal["split", "both"] = "split"

    def __post_init__(self) -> None:
        if isinstance(self.dimension, bool) or not isinstance(self.dimension, int) or self.dimension < 1:
            raise ParameterError(f"dimension must be a whole number of at least 1, got {self.dimension!r}")
        if not (math.isfinite(self.epsilon) and self.epsilon > 0):
            raise ParameterError(f"epsilon must be a finite number above 0, got {self.epsilon}")
        if self.ties not in ("split", "both"):
            raise ParameterError(f"ties must be 'split' or 'both', got {self.ties!r}")

    @property
    def keep(self) -> float:
        """Probability of the input's own half-space."""
        return 1 / (1 + math.exp(-self.epsilon))

    @property
    def flip(self) -> float:
        """Probability of the opposite half-space."""
        return math.exp(-self.epsilon) / (1 + math.exp(-self.epsilon))

    @property
    def tie_share(self) -> float:
        """Share of the 2^d vectors that agree with the input in exactly half of the entries; 0 at an odd d."""
        return 0.0 if self.dimension % 2 else math.exp(_log_central(self.dimension // 2))

    @property
    def scale(self) -> float:
        """B, the size of the reported entries +-B that makes them unbiased for the signs +-1 of the input."""
        share = math.exp(_log_central(self.dimension // 2))
        if self.ties == "both" and self.dimension % 2 == 0:
            share /= 1 + share
        return 1 / (share * math.tanh(self.epsilon / 2))

    def log_density(self) -> npt.NDArray[np.float64]:
        """Log-probability of one report, by the number of entries in which it agrees with the input; shape (d + 1,)."""
        d = self.dimension
        log_size = (d - 1) * math.log(2)
        log_keep = -math.log1p(math.exp(-self.epsilon))
        log_tie = -math.log(2)
        if self.ties == "both":
            log_size += math.log1p(self.tie_share)
            log_tie = 0.0
        twice = 2 * np.arange(d + 1)
        log_side = np.where(twice > d, log_keep, np.where(twice < d, log_keep - self.epsilon, log_tie))
        return np.asarray(log_side - log_size, dtype=np.float64)

    def loss(self, differing: int) -> float:
        """Exact privacy loss of two inputs that differ in so many entries (0 to d)."""
        if not 0 <= differing <= self.dimension:
            raise ParameterError(f"{self.dimension} entries cannot differ in {differing} places")
        log_p, log_q = self._cells(differing)[2:]
        return float(np.max(log_p - log_q))

    @announces(lambda bits, rng: len(bits))
    def randomize(self, bits: npt.ArrayLike, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        """Report of every row of bits, independently; same shape (n, d)."""
        truth = self._checked(bits)
        reports = np.empty(truth.shape, dtype=bool)
        for start in range(0, len(truth), self._rows):
            rows = truth[start : start + self._rows]
            agree = np.unpackbits(self._agreements(len(rows), rng), axis=1, count=self.dimension)
            reports[start : start + len(rows)] = rows == agree
        return reports

    @announces(lambda bits, counts, rng: np.sum(counts))
    def tally(self, bits: npt.ArrayLike, counts: npt.ArrayLike, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Number of reported ones in each entry, when ``counts[i]`` users hold row i of ``bits``; bounded memory.

        Parameters
        ----------
        bits
            Shape (k, d).
        counts
            Shape (k,), at least 0.

        Returns
        -------
        ndarray of int64, shape (d,)
        """
        truth = self._checked(bits)
        users = np.asarray(counts, dtype=np.int64)
        if self.dimension > MAX_LISTED:
            return self._tally_of_each(truth, users, rng)
        # Users with equal bits are many draws from one short list.
        merged = users >= 2**self.dimension
        ones = self._tally_of_each(truth[~merged], users[~merged], rng)
        if merged.any():
            every = _corners(self.dimension)
            density = np.exp(self.log_density()[every.sum(axis=1)])
            agree = rng.multinomial(users[merged], density / density.sum()) @ every
            ones += np.where(truth[merged], agree, users[merged, None] - agree).sum(axis=0)
        return ones

    def _tally_of_each(
        self, truth: npt.NDArray[np.bool_], counts: npt.NDArray[np.int64], rng: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        packed = np.packbits(truth, axis=1)
        ends = np.cumsum(counts)
        total = int(ends[-1]) if len(ends) else 0
        ones = np.zeros(self.dimension, dtype=np.int64)
        for start in range(0, total, self._rows):
            users = np.arange(start, min(start + self._rows, total))
            held = packed[np.searchsorted(ends, users, side="right")]
            reports = ~(self._agreements(len(users), rng) ^ held)
            ones += np.unpackbits(reports, axis=1, count=self.dimension).sum(axis=0, dtype=np.int64)
        return ones

    def unbiased(self, ones: npt.ArrayLike, reports: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Unbiased estimate of how many of the true bits are 1, from the number of reported ones."""
        half = np.asarray(reports, float) / 2
        return np.asarray(half + self.scale * (np.asarray(ones, float) - half), dtype=np.float64)

    def variance(self, reports: float) -> float:
        """Variance of that estimate, (B^2 - 1) / 4 for each report: it does not depend on the bits."""
        return (self.scale**2 - 1) / 4 * reports

    def law(self, bits: npt.ArrayLike) -> Law:
        """Law of the report: finite and listed up to d = 12, otherwise compared with another in closed form."""
        row = self._checked(np.atleast_2d(np.asarray(bits)))[0]
        if self.dimension > MAX_LISTED:
            return HypercubeLaw(self, row)
        every = _corners(self.dimension)
        return FiniteLaw(every, self.log_likelihood(every, row))

    def log_likelihood(self, reports: npt.ArrayLike, bits: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Log-probability of reports (n, d) given the bits (d,) or (n, d); shape (n,)."""
        agreements = np.count_nonzero(np.asarray(reports, dtype=bool) == np.asarray(bits, dtype=bool), axis=-1)
        return np.asarray(self.log_density()[agreements], dtype=np.float64)

    @property
    def _rows(self) -> int:
        return max(1, _CHUNK_CELLS // self.dimension)

    def _checked(self, bits: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        truth = np.asarray(bits, dtype=bool)
        if truth.ndim != 2 or truth.shape[1] != self.dimension:
            raise ParameterError(f"bits have shape {truth.shape}; give (n, {self.dimension})")
        return truth

    def _agreements(self, size: int, rng: np.random.Generator) -> npt.NDArray[np.uint8]:
        """In which entries each report agrees with its input, packed into bytes of shape (size, ceil(d / 8)).

        A uniform vector, turned into its opposite where it lies in the half-space that was not chosen.
        """
        d = self.dimension
        agree = rng.integers(0, 256, (size, -(-d // 8)), dtype=np.uint8)
        agree[:, -1] &= (0xFF << (-d % 8)) & 0xFF
        if self.ties == "both" and d % 2 == 0:
            # What `both` has over `split` is uniform on the ties.
            tied = np.flatnonzero(rng.random(size) < self.tie_share / (1 + self.tie_share))
            balanced = np.tile(np.arange(d) < d // 2, (len(tied), 1))
            agree[tied] = np.packbits(rng.permuted(balanced, axis=1), axis=1)
        twice = 2 * _BITS_SET[agree].sum(axis=1, dtype=np.int64)
        kept = rng.random(size) < self.keep
        opposite = ((twice > d) != kept) & (twice != d)
        agree[opposite] ^= np.uint8(0xFF)
        return agree

    def _cells(self, differing: int) -> tuple[npt.NDArray[Any], ...]:
        """Reports grouped by their agreements with two inputs: in the entries that these share, and in the others.

        Returns both numbers of agreements with the first input, and the log-probabilities under either input.
        """
        shared = self.dimension - differing
        common, own = (grid.ravel() for grid in np.indices((shared + 1, differing + 1)))
        log_count = _log_choose(shared)[common] + _log_choose(differing)[own]
        density = self.log_density()
        return common, own, log_count + density[common + own], log_count + density[common + differing - own]


@dataclass(frozen=True, slots=True, eq=False)
class HypercubeLaw(Law):
    """Law of one report of a :class:`HypercubeResponse` for an input, in any dimension."""

    response: HypercubeResponse
    bits: npt.NDArray[np.bool_]

    def against(self, other: Law) -> HypercubeComparison:
        """Compare with the law for another input of the same randomizer."""
        assert isinstance(other, HypercubeLaw)
        if other.response != self.response:
            raise ParameterError("two reports can be compared only where the randomizer is the same")
        common, own, log_p, log_q = self.response._cells(int(np.count_nonzero(self.bits != other.bits)))
        return HypercubeComparison(np.stack([common, own], axis=1), log_p, log_q)


class HypercubeComparison(FiniteComparison):
    """Two such laws, the reports grouped by their agreements with the first input."""

    __slots__ = ()

    def worst_event(self, epsilon: float, delta: float) -> Event:
        """Group of reports of the largest ratio (delta = 0), or all whose ratio exceeds e^epsilon."""
        event = FiniteComparison.worst_event(self, epsilon, delta)
        outcomes = event.outcomes
        if delta == 0:
            common, own = outcomes
            outcomes = {
                "agrees with the input, of the entries that both inputs share, in": common,
                "and of the entries in which they differ, in": own,
            }
        # The groups are no outputs that a sampler returns.
        return Event(outcomes=outcomes, log_p=event.log_p, log_q=event.log_q)


def _log_choose(n: int) -> npt.NDArray[np.float64]:
    """Log of the binomial coefficients C(n, 0), ..., C(n, n)."""
    from scipy.special import gammaln

    k = np.arange(n + 1)
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), dtype=np.float64)


def _log_central(k: int) -> float:
    """Log of C(2k, k) / 4^k: how often 2k fair coins balance."""
    if k > _LARGE:
        # Stirling's series; the next term is below k^-5 / 640, and differences of log-gamma lose their digits here.
        return -math.log(math.pi * k) / 2 - 1 / (8 * k) + 1 / (192 * k**3)
    return math.lgamma(2 * k + 1) - 2 * math.lgamma(k + 1) - 2 * k * math.log(2)


@cache
def _corners(dimension: int) -> npt.NDArray[np.int64]:
    """All vectors of d bits, shape (2^d, d)."""
    return np.indices((2,) * dimension, dtype=np.int64).reshape(dimension, -1).T.copy()
