"""What two laws say of guarantees: the decisions that `dpaudit.claims.guarantees` asks for."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.claims.evidence import Interval
from dpaudit.claims.guarantees.base import ANY_DELTA, ROUNDING
from dpaudit.claims.guarantees.bits import rate_of_bits
from dpaudit.claims.guarantees.decisions import provide
from dpaudit.claims.guarantees.zero_concentrated import inside
from dpaudit.errors import CheckError
from dpaudit.laws.base import Comparison, Event
from dpaudit.laws.continuous import GaussianComparison, LaplaceComparison
from dpaudit.laws.finite import FiniteComparison
from dpaudit.laws.joint import ProductComparison, PublicMixtureComparison
from dpaudit.laws.loss import PrivacyLoss
from dpaudit.laws.renyi import concentration, renyi_divergence
from dpaudit.laws.trade_off import finite_loss, gaussian_shift, tails, trade_off

_LEVELS, _ROUNDS = 65, 5
_EQUAL = 1e-8
_ALMOST_1 = 1 - 1e-12
_RARE = 1e-6
"""Divergence beyond which events are too rare to be looked for, where losses are unbounded."""


@dataclass(frozen=True, slots=True)
class LawDecisions:
    """The decisions of one comparison; see `dpaudit.claims.guarantees.decisions.Decisions`."""

    comparison: Comparison

    def renyi(self, order: float) -> Interval | None:
        """Renyi divergence; see `renyi_divergence`."""
        return renyi_divergence(self.comparison, order)

    def concentrated(self, delta: float) -> Interval | None:
        """Rho of zero-concentrated DP; see `concentration`.

        Notes
        -----
        With ``delta`` above 0: from below by events. From above by the exact form; by 0 where no event differs by more
        than ``delta``; and by what is left when each law gives up a part of its outcomes, of probability ``delta`` at
        most, so that no likelihood ratio exceeds e^epsilon(delta). For finite laws that is computed, for Gaussian and
        Laplace laws, whose epsilon is the same in both directions, it is at most epsilon tanh(epsilon / 2).
        **Checked against** a larger delta never giving a larger rho.
        """
        exact = concentration(self.comparison)
        if delta == 0 or exact is None:
            return exact

        def forced(p: Any, q: Any) -> Any:
            return rate_of_bits(*inside(p, q, delta))

        event = self.likeliest_event(forced)
        lower = max(0.0, float(forced(event.p, event.q)))
        upper = math.inf if exact.upper is None else exact.upper
        upper = min(upper, self._concentrated_given(delta))
        return Interval(lower=min(lower, upper), upper=upper)

    def _concentrated_given(self, delta: float) -> float:
        """Upper bound on rho given events of probability 1 - ``delta``."""
        comparison, enough = self.comparison, delta * (1 + ROUNDING)
        apart = comparison.delta(0.0).upper
        if apart is not None and apart <= enough:
            return 0.0
        if isinstance(comparison, FiniteComparison):
            rho = concentration(_capped(comparison, enough))
            return math.inf if rho is None or rho.upper is None else rho.upper
        if isinstance(comparison, GaussianComparison | LaplaceComparison):
            epsilon = comparison.epsilon(delta).upper
            return math.inf if epsilon is None or math.isinf(epsilon) else epsilon * math.tanh(epsilon / 2)
        return math.inf

    def gaussian(self) -> Interval | None:
        """Mu of Gaussian DP; see `gaussian_shift`."""
        return gaussian_shift(self.comparison)

    def trade_off(self, type_one: float) -> Interval | None:
        """Least type II error; see `trade_off`."""
        return trade_off(self.comparison, type_one)

    def likeliest_event(self, value: Callable[[Any, Any], Any]) -> Event:
        """Return the event of a privacy loss above some level whose two probabilities have the largest value."""
        comparison = self.comparison
        losses = _losses(comparison)
        if losses is not None:
            log_p, log_q, *_ = tails(losses)
            best = _best(value, np.exp(log_p), np.exp(log_q))
            # Events are of losses above a level.
            return comparison.worst_event(float(np.nextafter(losses.losses[best], -math.inf)), ANY_DELTA)
        if isinstance(comparison, PublicMixtureComparison):
            return _of_one_choice(comparison, value)
        if isinstance(comparison, ProductComparison):
            comparison = comparison._gaussian() or comparison
        low, high = self._levels()
        event = comparison.worst_event(0.0, ANY_DELTA)
        for _ in range(_ROUNDS):
            levels = np.linspace(low, high, _LEVELS)
            events = [comparison.worst_event(float(level), ANY_DELTA) for level in levels]
            best = _best(value, *(np.array(side) for side in zip(*((each.p, each.q) for each in events), strict=True)))
            event = events[best]
            low, high = float(levels[max(best - 1, 0)]), float(levels[min(best + 1, _LEVELS - 1)])
        return event

    def _levels(self) -> tuple[float, float]:
        most = self.comparison.max_divergence()
        if not math.isfinite(most):
            most = self.comparison.epsilon(_RARE).upper or 0.0
        most = most if math.isfinite(most) and most > 0 else 1.0
        # A law is at its own largest loss: beyond it there is no event.
        return -most, most * (1 - 1e-12)


def _losses(comparison: Comparison) -> PrivacyLoss | None:
    """Privacy loss of finite laws, or that which bounds it from below; None where there is none."""
    if (known := finite_loss(comparison)) is not None:
        return known
    if isinstance(comparison, ProductComparison | PublicMixtureComparison):
        with suppress(CheckError):
            return comparison.bounding_losses()[0]
    return None


def _of_one_choice(comparison: PublicMixtureComparison, value: Callable[[Any, Any], Any]) -> Event:
    """Return the best event among those of one public choice."""
    events = []
    for label, weight, part in zip(comparison.labels, comparison.log_weights, comparison.parts, strict=True):
        if weight > -np.inf:
            event = LawDecisions(part).likeliest_event(value)
            events.append(
                Event(
                    outcomes={"public choice": label, "then": event.outcomes},
                    log_p=float(weight) + event.log_p,
                    log_q=float(weight) + event.log_q,
                )
            )
    return events[_best(value, np.array([event.p for event in events]), np.array([event.q for event in events]))]


def _best(value: Callable[[Any, Any], Any], p: np.ndarray, q: np.ndarray) -> int:
    """Which events have the largest value; of equal ones that which is seen and missed most often."""
    # Nearer to 1 a probability may be rounded, and what its complement is then says nothing.
    found = np.nan_to_num(value(np.minimum(p, _ALMOST_1), q), nan=-np.inf, posinf=np.inf, neginf=-np.inf)
    most = float(found.max())
    equal = found >= (most - _EQUAL * abs(most) if math.isfinite(most) else most)
    return int(np.argmax(np.where(equal, np.minimum(p, 1 - q), -1.0)))


def _capped(comparison: FiniteComparison, delta: float) -> FiniteComparison:
    """Laws given events of probability 1 - delta: no more of either than e^epsilon(delta) times the other."""
    loss = comparison.loss()
    reverse = PrivacyLoss(-loss.losses[::-1], loss.log_q[::-1], loss.log_p[::-1])
    at_p = np.minimum(loss.log_p, loss.log_q + loss.epsilon(delta))
    at_q = np.minimum(loss.log_q, loss.log_p + reverse.epsilon(delta))
    whole = [np.logaddexp.reduce(side) for side in (at_p, at_q)]
    return FiniteComparison(range(len(loss.losses)), at_p - whole[0], at_q - whole[1])


provide(LawDecisions)
