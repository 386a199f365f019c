"""Laws on finitely many outcomes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.claims.evidence import Interval
from dpaudit.claims.ranges import array_of
from dpaudit.errors import CheckError
from dpaudit.laws.base import Comparison, Event, Law
from dpaudit.laws.loss import PrivacyLoss

_SHOWN_OUTCOMES = 24
_TOTAL_TOLERANCE = 1e-9
_TWICE = "a finite law lists the same outcome twice; list every outcome once"
_DISTINCT: dict[int, Any] = {}
_REMEMBERED = 16
"""Lists of outcomes that are known to hold none twice; kept alive, so that an id means one list."""


def outcome_key(outcome: Any) -> Hashable:
    """Return a key that is equal for equal outcomes, whether arrays, numbers or nested sequences."""
    if isinstance(outcome, np.ndarray | np.generic):
        outcome = outcome.tolist()
    if isinstance(outcome, list | tuple):
        return tuple(outcome_key(item) for item in outcome)
    if isinstance(outcome, set | frozenset):
        return frozenset(outcome_key(item) for item in outcome)
    return outcome if isinstance(outcome, Hashable) else repr(outcome)


@dataclass(frozen=True, slots=True, eq=False)
class FiniteLaw(Law):
    """A law on listed outcomes.

    Parameters
    ----------
    outcomes
        Distinct outcomes, k of them: any values, or the rows of an array.
    log_probabilities
        Their log-probabilities, shape (k,); the probabilities must add up to 1 within 1e-9.

    Raises
    ------
    CheckError
        Lengths differ, a log-probability is NaN or above 0, or the probabilities do not add up to 1.

    Examples
    --------
    >>> import dpaudit
    >>> law = dpaudit.FiniteLaw.from_probabilities(["yes", "no"], [0.75, 0.25])
    >>> other = dpaudit.FiniteLaw.from_probabilities(["yes", "no"], [0.25, 0.75])
    >>> round(dpaudit.compare(law, other).epsilon(0.0).upper, 4)  # log 3
    1.0986
    >>> dpaudit.FiniteLaw.from_probabilities(["yes", "no"], [0.75, 0.35])
    Traceback (most recent call last):
        ...
    dpaudit.errors.CheckError: the probabilities add up to 1.1 instead of 1
    """

    outcomes: Sequence[Any] | np.ndarray
    log_probabilities: np.ndarray

    def __post_init__(self) -> None:
        log_p = array_of(self.log_probabilities, "log-probabilities")  # a copy: the caller may use the array again
        if not isinstance(self.outcomes, Sequence | np.ndarray):
            raise CheckError(f"outcomes must be a list or an array, got {self.outcomes!r}")
        if log_p.ndim != 1 or len(self.outcomes) != len(log_p):
            raise CheckError(f"{len(self.outcomes)} outcomes but log-probabilities of shape {log_p.shape}")
        if np.isnan(log_p).any() or (log_p > _TOTAL_TOLERANCE).any():
            raise CheckError("a log-probability is not a number or above 0; probabilities must lie in [0, 1]")
        total = math.fsum(np.exp(log_p))
        if abs(total - 1) > _TOTAL_TOLERANCE:
            raise CheckError(f"the probabilities add up to {total:.12g} instead of 1")
        object.__setattr__(self, "log_probabilities", log_p)

    @classmethod
    def from_probabilities(cls, outcomes: Sequence[Any] | np.ndarray, probabilities: Any) -> FiniteLaw:
        """Law from plain probabilities."""
        values = array_of(probabilities, "probabilities")
        if (values < 0).any():
            raise CheckError(f"probability {values.min():g} is negative; probabilities must lie in [0, 1]")
        with np.errstate(divide="ignore"):
            return cls(outcomes, np.log(values))

    def against(self, other: Law) -> FiniteComparison:
        """Compare with another finite law; outcomes that one of them lacks have probability 0 there."""
        assert isinstance(other, FiniteLaw)
        if self.outcomes is other.outcomes:
            _check_distinct(self.outcomes)
            return FiniteComparison(self.outcomes, self.log_probabilities, other.log_probabilities)
        index: dict[Hashable, int] = {}
        outcomes: list[Any] = []
        for outcome in [*self.outcomes, *other.outcomes]:
            if index.setdefault(outcome_key(outcome), len(outcomes)) == len(outcomes):
                outcomes.append(outcome)
        aligned = np.full((2, len(outcomes)), -np.inf)
        for row, law in zip(aligned, (self, other), strict=True):
            at = [index[outcome_key(outcome)] for outcome in law.outcomes]
            if len(set(at)) != len(at):
                raise CheckError(_TWICE)
            row[at] = law.log_probabilities
        return FiniteComparison(outcomes, aligned[0], aligned[1])


@dataclass(frozen=True, slots=True, eq=False)
class FiniteComparison(Comparison):
    """Two finite laws on the same outcomes."""

    outcomes: Sequence[Any] | np.ndarray
    log_p: np.ndarray
    log_q: np.ndarray

    def loss(self) -> PrivacyLoss:
        """Distribution of the privacy loss."""
        return PrivacyLoss.from_log_probabilities(self.log_p, self.log_q)

    def max_divergence(self) -> float:
        """Largest log-ratio."""
        return self.loss().max_divergence()

    def delta(self, epsilon: float) -> Interval:
        """Exact hockey-stick divergence."""
        return Interval.exact(self.loss().delta(epsilon))

    def privacy_profile(self, epsilons: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Exact hockey-stick divergence at many epsilons."""
        values = self.loss().privacy_profile(epsilons)
        return values, values

    def epsilon(self, delta: float) -> Interval:
        """Exact smallest epsilon."""
        return Interval.exact(self.loss().epsilon(delta))

    def worst_event(self, epsilon: float, delta: float) -> Event:
        """Outcome of the largest ratio (delta = 0), or all outcomes whose ratio exceeds e^epsilon."""
        with np.errstate(invalid="ignore"):
            ratio = np.where(self.log_p == -np.inf, -np.inf, self.log_p - self.log_q)
        if delta == 0:
            worst = int(np.argmax(np.where(ratio == ratio.max(), self.log_p, -np.inf)))
            chosen = np.array([worst])
        else:
            chosen = np.flatnonzero(ratio > epsilon)
            if not chosen.size:
                chosen = np.array([int(np.argmax(ratio))])
        shown: Any = [_shown(self.outcomes[int(i)]) for i in chosen[:_SHOWN_OUTCOMES]]
        if len(chosen) > _SHOWN_OUTCOMES:
            shown = {"outcomes whose likelihood ratio exceeds e^epsilon": len(chosen), "among them": shown}
        elif len(chosen) == 1:
            shown = shown[0]
        return Event(
            outcomes=shown,
            log_p=float(np.logaddexp.reduce(self.log_p[chosen])),
            log_q=float(np.logaddexp.reduce(self.log_q[chosen])),
            members=tuple(self.outcomes[int(i)] for i in chosen),
        )


def _check_distinct(outcomes: Sequence[Any] | np.ndarray) -> None:
    if _DISTINCT.get(id(outcomes)) is outcomes:
        return
    keys = {outcome_key(outcome) for outcome in outcomes}
    if len(keys) < len(outcomes):
        raise CheckError(_TWICE)
    if len(_DISTINCT) >= _REMEMBERED:
        _DISTINCT.clear()
    _DISTINCT[id(outcomes)] = outcomes


def _shown(outcome: Any) -> Any:
    return outcome.tolist() if isinstance(outcome, np.ndarray | np.generic) else outcome
