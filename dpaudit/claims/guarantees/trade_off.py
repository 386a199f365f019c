"""A trade-off function as a guarantee."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dpaudit.claims.evidence import Interval
from dpaudit.claims.guarantees.base import (
    ABSOLUTE_ROUNDING,
    ROUNDING,
    Guarantee,
    listed,
    named_points,
    points_of,
    points_promised,
)
from dpaudit.claims.guarantees.decisions import decisions_of, worst_event_of
from dpaudit.claims.ranges import in_range
from dpaudit.errors import ParameterError

if TYPE_CHECKING:
    from dpaudit.laws.base import Comparison, Event


@dataclass(frozen=True, slots=True)
class TradeOff(Guarantee):
    """Least type II errors of any test that tells two inputs apart, at several type I errors.

    Parameters
    ----------
    points
        Pairs (type I error, least type II error), at least one, type I errors distinct and in (0, 1), type II errors in
        (0, 1) and at most 1 less the type I error; a mapping of one to the other; or a function of the type I error,
        together with ``type_one``.
    shift
        At least 0: what is promised is Phi(Phi^-1(b) - ``shift``) in place of each type II error b. The forced
        parameter, 0 as claimed.
    type_one
        Where a function is promised. Between these points nothing is audited beyond what they imply.

    Raises
    ------
    ParameterError
        A parameter is out of its range, or a function comes without ``type_one``.

    Notes
    -----
    A test with type I error q and type II error 1 - p, mixed with tests that always or never accept, has at a type I
    error a >= q a type II error of (1 - p) (1 - a) / (1 - q), and at a <= q of 1 - p a / q. An event forces the shift
    that makes room for these. For Gaussian DP the shift is an excess of mu. As parameters, a record holds ``shift``,
    and each type II error by its type I error: ``type_two_at_0.05`` for 0.05.

    References
    ----------
    Dong, Roth, Su, "Gaussian differential privacy", JRSS B 84, 2022, Definition 2.3.

    Examples
    --------
    >>> import dpaudit
    >>> promise = dpaudit.TradeOff([(0.1, 0.6), (0.5, 0.1)])
    >>> promise.kind
    'trade-off'
    >>> dpaudit.TradeOff([(0.1, 0.95)])
    Traceback (most recent call last):
        ...
    dpaudit.errors.ParameterError: type II error at 0.1 must be above 0 and at most 0.9, got 0.95
    """

    kind: ClassVar[str] = "trade-off"
    forced: ClassVar[str] = "shift"

    points: Any
    shift: float = 0.0
    type_one: InitVar[Sequence[float] | None] = None

    def __post_init__(self, type_one: Sequence[float] | None) -> None:
        given: Any = self.points
        if callable(given):
            if type_one is None:
                raise ParameterError("a trade-off that is a function needs `type_one` at which it is promised")
            given = points_promised("TradeOff", given, "type_one", type_one)
        elif isinstance(given, Mapping):
            given = given.items()
        points = listed("TradeOff", given, "(type I error, type II error)")
        for first, second in points:
            if not 0 < first < 1:
                raise ParameterError(f"a type I error must be in (0, 1), got {first}")
            if not 0 < second <= (1 - first) * (1 + ROUNDING):
                raise ParameterError(
                    f"type II error at {first:g} must be above 0 and at most {1 - first:g}, got {second}"
                )
        if not in_range(self.shift, 0):
            raise ParameterError(f"shift must be a finite number >= 0, got {self.shift}")
        object.__setattr__(self, "points", points)

    @property
    def parameters(self) -> Mapping[str, float]:
        """``shift``, and the points."""
        return {"shift": self.shift, **named_points("type_two", self.points)}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, float]) -> Self:
        """Make the guarantee of its parameters."""
        return cls(*points_of("type_two", parameters, other="shift"))

    def most(self, q: float) -> float:
        """Return the least that the points leave to the probability of an event, by the lines of the notes."""
        from scipy.special import ndtr, ndtri

        most = 1.0
        for first, second in self.points:
            second = float(ndtr(ndtri(second) - self.shift))
            allowed = 1 - second * (1 - q) / (1 - first) if q <= first else (1 - second) * q / first
            most = min(most, allowed)
        return max(most, q)

    def forces(self, p: Any, q: Any) -> Any:
        """Return the largest shift that a test and its mixtures force, at least 0."""
        return np.where(np.greater(p, q), np.maximum(self._needed(p, q), 0.0), 0.0)[()]

    def _needed(self, p: Any, q: Any) -> Any:
        """Shift that an event needs, below 0 where there is room for more."""
        from scipy.special import ndtri

        p, q = np.broadcast_arrays(np.asarray(p, float), np.asarray(q, float))
        each = []
        for first, second in self.points:
            with np.errstate(divide="ignore", invalid="ignore"):
                reached = np.where(q <= first, (1 - p) * (1 - first) / (1 - q), 1 - p * first / q)
            each.append(ndtri(second) - ndtri(np.clip(reached, 0.0, 1.0)))
        return np.max(each, axis=0)

    def exceeds(self, value: float, parameter: str | None = None) -> bool:
        """Whether a shift is above the claimed one by more than 1e-9, which is rounding."""
        return value > self.shift + ROUNDING

    def meets(self, value: float, parameter: str | None = None) -> bool:
        """Whether a shift is the claimed one, but for what rounding does to a small number."""
        return value <= self.shift + ABSOLUTE_ROUNDING

    def measure(self, comparison: Comparison) -> Mapping[str, Interval] | None:
        """Return the shift; a relative 1e-9 of a type II error is rounding."""
        from scipy.special import ndtri

        decisions, lower, upper = decisions_of(comparison), 0.0, 0.0
        for first, second in self.points:
            reached = decisions.trade_off(first)
            if reached is None:
                return None
            promised = float(ndtri(second * (1 - ROUNDING)))
            lower = max(lower, promised - float(ndtri(1.0 if reached.upper is None else reached.upper)))
            upper = max(upper, promised - float(ndtri(reached.lower or 0.0)))
        return {"shift": Interval(lower=lower, upper=upper)}

    def worst_event(self, comparison: Comparison, *, frequent: bool = False) -> Event:
        """Return the event that forces the largest shift."""
        return worst_event_of(self, comparison, frequent=frequent, value=self._needed)

    def __str__(self) -> str:
        """The guarantee in words."""
        points = ", ".join(f"({first:g}, {second:g})" for first, second in self.points)
        shifted = f" shifted by {self.shift:g}" if self.shift else ""
        return f"trade-off {points}{shifted}"
