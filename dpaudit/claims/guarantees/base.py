"""Guarantees: what a privacy claim promises about any two neighbouring inputs.

A kind of guarantee is one class. It knows three things: the largest probability that an event may have on one input
given its probability on the other (`Guarantee.most`), so that one sampling test refutes every kind; what two output
laws make of its parameters (`Guarantee.measure`), which decides it exactly; and the value of a parameter that an
observation forces (`Guarantee.forces`). Auditors ask these questions and mention no parameter by name.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from dpaudit.claims.ranges import in_range
from dpaudit.errors import ParameterError

if TYPE_CHECKING:
    from dpaudit.claims.evidence import Interval
    from dpaudit.claims.guarantees.approximate import ApproximateDP
    from dpaudit.laws.base import Comparison, Event

ROUNDING = 1e-9
"""Relative excess over a claimed number that is put down to rounding."""

ABSOLUTE_ROUNDING = 1e-13
"""Excess over any claimed number, however small, that is put down to rounding.

Where claims of the catalogue are met with equality, what is computed from sums of probabilities exceeds them by at most
3e-14.
"""

ANY_DELTA = 1e-300
"""A delta above 0, so that `Comparison.worst_event` returns all outputs whose loss exceeds its epsilon."""

_TRIALS, _ALPHA, _LEAST_HITS = 100_000, 1e-3, 1e-3
"""Samples and error probability for which an event is chosen that is to be counted, and what stands for no hits."""

_STEP = 1e-6
_HALVINGS = 50
_LOG_LEAST = -700.0


def exceeds(value: float, limit: float) -> bool:
    """Whether a value is above a limit by more than rounding."""
    return value > rounded_up(limit)


def rounded_up(limit: float) -> float:
    """Return the largest value that may differ from a limit by rounding alone."""
    return limit + ROUNDING * abs(limit) + ABSOLUTE_ROUNDING


def meets_closely(value: float, limit: float) -> bool:
    """Whether a value is at most a limit, or above it by rounding that is at most a millionth of the limit.

    For parameters that shrink with the square of the privacy loss, beside which `ABSOLUTE_ROUNDING` may be much.
    """
    return value <= limit + ROUNDING * abs(limit) + min(ABSOLUTE_ROUNDING, 1e-6 * abs(limit))


PART_OF_PROBABILITY = 0.05
"""Part of the error probability that a bound by the ratio leaves to the event's probability on one input."""


class ProfilePoint(NamedTuple):
    """A point of the privacy profile: the hockey-stick divergence at ``epsilon`` is at most ``delta``."""

    epsilon: float
    delta: float


@dataclass(frozen=True, slots=True)
class Guarantee(ABC):
    """What a privacy claim promises.

    Subclasses are frozen dataclasses whose fields are the parameters. They define `most`, `forces`, `measure` and
    `worst_event`; everything else follows from these, and may be overridden where a closed form is known.

    Attributes
    ----------
    kind
        Name of the kind, as records hold it.
    forced
        The parameter of which an observation forces a value, the others being as claimed.

    Examples
    --------
    >>> import dpaudit
    >>> promises = [dpaudit.ApproximateDP(1.0), dpaudit.GaussianDP(1.0), dpaudit.ZeroConcentratedDP(0.5)]
    >>> [(promise.kind, promise.forced) for promise in promises]
    [('approximate-dp', 'epsilon'), ('gaussian-dp', 'mu'), ('zero-concentrated-dp', 'rho')]
    """

    kind: ClassVar[str]
    forced: ClassVar[str]

    @property
    def parameters(self) -> Mapping[str, float]:
        """The claimed parameters, by name."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, float]) -> Self:
        """Make the guarantee of which `parameters` are these, as records and witness files hold them.

        Raises
        ------
        ParameterError, TypeError
            They are no parameters of such a guarantee.
        """
        return cls(**parameters)

    @property
    def claimed(self) -> float:
        """The claimed value of the forced parameter."""
        return self.parameters[self.forced]

    def at(self, value: float) -> Self:
        """Return the guarantee with another value of the forced parameter."""
        return replace(self, **{self.forced: value})

    # What an event may be, and what it forces.

    @abstractmethod
    def most(self, q: float) -> float:
        """Largest probability that an event may have on one input when it is ``q`` on the other."""

    @abstractmethod
    def forces(self, p: Any, q: Any) -> Any:
        """Smallest value of the forced parameter that allows an event of probability ``p`` and ``q``.

        ``p`` and ``q`` are numbers, or arrays that broadcast against each other. The value must rise with ``p`` and
        fall with ``q``, and be 0 where ``p <= q``: a confidence bound takes it at the ends of two intervals.
        """

    @property
    def by_ratio(self) -> bool:
        """Whether the ratio of two probabilities says most of what an event forces; see `forces_by_ratio`.

        Samples are then assigned to the inputs by fair coins, and the split of the event's occurrences alone gives a
        sharper bound on the ratio than two bounds on probabilities.
        """
        return False

    def forces_by_ratio(self, ratio: Any, p: Any) -> Any:
        """As `forces`, of an event with log(p / q) = ``ratio``; asked only where `by_ratio` says so.

        The value must rise with ``ratio`` and with ``p``.
        """
        raise NotImplementedError

    @property
    def ratio_alone(self) -> bool:
        """Whether the ratio alone decides what an event forces, whatever its probability."""
        return False

    def exceeds(self, value: float, parameter: str | None = None) -> bool:
        """Whether a value of a parameter, by default the forced one, is above the claimed one by more than rounding."""
        return exceeds(value, self.parameters[parameter or self.forced])

    def meets(self, value: float, parameter: str | None = None) -> bool:
        """Whether a value of a parameter, by default the forced one, shows that the claimed one holds."""
        return not self.exceeds(value, parameter)

    def to_approximate(self, delta: float) -> ApproximateDP:
        """Return the (epsilon, delta)-differential privacy that the guarantee implies, with the smallest epsilon.

        For reading only: auditors decide every guarantee as it is.

        Parameters
        ----------
        delta
            In [0, 1].

        Raises
        ------
        ParameterError
            delta is out of its range, or no finite epsilon follows, as for Gaussian DP at delta 0.

        Notes
        -----
        (epsilon, delta)-DP is about single events, and so is what follows for it: epsilon is the supremum over q of
        log((p - delta) / q), with the largest p that `most` allows in both directions. No smaller one follows where, as
        for all guarantees of dpaudit, a mechanism whose output is one bit meets the guarantee if its events do. It is
        rounded up by a relative 1e-9.
        **Checked against** the closed form for Gaussian DP, and the bounds of Canonne, Kamath and Steinke.

        References
        ----------
        Upper bounds on the same: Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy", NeurIPS
        2020, Proposition 12; Asoodeh, Liao, Calmon, Kosut, Sankar, "Three variants of differential privacy: lossless
        conversion and applications", IEEE JSAIT 2, 2021, whose lossless conversion this is for a single order.

        Examples
        --------
        >>> from dpaudit import GaussianDP
        >>> print(GaussianDP(1.0).to_approximate(1e-6))
        (4.88655, 1e-06)-DP
        """
        from dpaudit.claims.guarantees.approximate import ApproximateDP
        from dpaudit.claims.guarantees.conversions import implied_epsilon

        if not in_range(delta, 0, 1):
            raise ParameterError(f"delta must be in [0, 1], got {delta}")
        epsilon = min([implied_epsilon(self, delta), *(each.epsilon for each in self.promised if each.delta <= delta)])
        if math.isinf(epsilon):
            raise ParameterError(f"{self} implies no epsilon below 690 at delta {delta:g}; give a larger delta")
        return ApproximateDP(epsilon, delta)

    def delta_at(self, epsilon: float) -> float:
        """Smallest delta with which the guarantee implies (``epsilon``, delta)-differential privacy.

        As `to_approximate`, with ``epsilon`` finite and at least 0.
        """
        from dpaudit.claims.guarantees.conversions import implied_delta

        if not in_range(epsilon, 0):
            raise ParameterError(f"epsilon must be a finite number >= 0, got {epsilon}")
        return min([implied_delta(self, epsilon), *(each.delta for each in self.promised if each.epsilon <= epsilon)])

    # What two laws say.

    @property
    def decisive(self) -> str:
        """The parameter whose exact value decides the guarantee."""
        return self.forced

    @abstractmethod
    def measure(self, comparison: Comparison) -> Mapping[str, Interval] | None:
        """Return what two laws give each parameter, the others being as claimed: exact, or bounds that enclose it.

        None where the guarantee cannot be computed for laws of this kind; the audit then samples.
        """

    @abstractmethod
    def worst_event(self, comparison: Comparison, *, frequent: bool = False) -> Event:
        """Return the event by which two laws break the guarantee, with both its probabilities.

        With ``frequent``, an event that shows the violation in as few samples as possible.
        """

    @property
    def profile_point(self) -> ProfilePoint | None:
        """The point of the privacy profile that the guarantee is equivalent to; None where no single point is.

        The likelihood auditor serves only guarantees that have one. Their parameters are epsilon and delta.
        """
        return None

    @property
    def promised(self) -> tuple[ProfilePoint, ...]:
        """Points of the privacy profile that the guarantee promises as they are, without a conversion."""
        return () if self.profile_point is None else (self.profile_point,)

    def by_samples(self, p: Any, q: Any) -> Any:
        """Value to be expected of so many samples as an audit has, of which exact audits choose an event to be counted.

        ``p`` and ``q`` are probabilities of events, in arrays of equal shape.
        """
        hits = (np.maximum(np.asarray(side) * _TRIALS, _LEAST_HITS) for side in (p, q))
        return self.expected(next(hits), next(hits), _TRIALS, _ALPHA)

    # What guides sampling. None of this can make a statement invalid.

    def forces_about(self, p: Any, q: Any) -> Any:
        """As `forces`, or to within a few percent where that takes long; events are chosen by it."""
        return self.forces(p, q)

    def largest(self, q: float) -> float:
        """Largest value of the forced parameter that an event of probability ``q`` on the other input can force.

        Infinite where every value leaves room for more.
        """
        return float(self.forces(1.0, q))

    @property
    def balanced(self) -> float:
        """The probability q at which `most` is 1 - q."""
        low, high = _LOG_LEAST, math.log(0.5)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            q = math.exp(middle)
            low, high = (low, middle) if self.most(q) > 1 - q else (middle, high)
        return math.exp(low) if low > _LOG_LEAST else 0.0

    def steps(self, p: Any, q: Any) -> tuple[Any, Any]:
        """Return the changes of ``p`` and of ``q`` that each change the forced value by one, to first order.

        ``p`` and ``q`` are numbers or arrays; 0 stands where a small change has no effect.
        """
        step_p, step_q = (_STEP * np.minimum(value, 1 - np.asarray(value)) for value in (p, q))
        rise_p = self.forces_about(p + step_p, q) - self.forces_about(p - step_p, q)
        rise_q = self.forces_about(p, q - step_q) - self.forces_about(p, q + step_q)
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = (
                np.where((step > 0) & (rise > 0), 2 * step / rise, 0.0)[()]
                for step, rise in ((step_p, rise_p), (step_q, rise_q))
            )
            return next(steps), next(steps)

    def expected(self, hits_p: np.ndarray, hits_q: np.ndarray, trials: int, alpha: float) -> np.ndarray:
        """Return the lower bound on the forced value to be expected of counts like these, by its normal limit.

        Counts are above 0 and need not be whole. Only the order matters: a value below 0 says how far an event is
        from forcing anything. An event that is likelier than not on both inputs comes last, because its complement,
        whose counts say more, competes as well.
        """
        from scipy.special import ndtri

        p, q = hits_p / trials, hits_q / trials
        errors = -ndtri(alpha / 2)
        low = p - errors * np.sqrt(hits_p * np.maximum(1 - p, 1 / trials)) / trials
        high = q + errors * np.sqrt(hits_q) / trials
        forced = np.asarray(self.forces_about(np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)))
        expected = np.where(forced > 0, forced, np.minimum(low - high, 0.0) - 1.0)
        return np.where(q <= 0.5, expected, -1e6)

    def __str__(self) -> str:
        """The guarantee as papers write it."""
        return f"{self.kind}({', '.join(f'{name}={value:g}' for name, value in self.parameters.items())})"


def listed(what: str, points: Iterable[Iterable[float]], form: str) -> tuple[tuple[float, float], ...]:
    """Return points as pairs of numbers, ascending; ParameterError where they are none."""
    try:
        pairs = tuple(sorted((float(x), float(y)) for x, y in points))
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{what} needs points {form}, got {points!r}") from None
    if not pairs:
        raise ParameterError(f"{what} needs at least one point {form}")
    if len({x for x, _ in pairs}) < len(pairs):
        raise ParameterError(f"{what}: points {form} must differ in their first number")
    return pairs


def points_promised(what: str, function: Any, name: str, places: Any) -> list[tuple[float, float]]:
    """Points of a function that is promised at some places; ParameterError where one of them is no number."""
    try:
        chosen = [float(place) for place in places]
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{what}: `{name}` must be numbers, got {places!r}") from None
    points = [(place, function(place)) for place in chosen]
    for place, value in points:
        if not in_range(value):
            raise ParameterError(f"{what}: the function must return a finite number, got {value!r} at {place:g}")
    return [(place, float(value)) for place, value in points]


def named_points(name: str, points: Iterable[tuple[float, float]]) -> dict[str, float]:
    """Parameters of points: the second number of each, by a name that holds the first one."""
    return {f"{name}_at_{x!r}".removesuffix(".0"): y for x, y in points}


def points_of(
    name: str, parameters: Mapping[str, float], *, other: str
) -> tuple[tuple[tuple[float, float], ...], float]:
    """Points that `named_points` made parameters of, and the one parameter beside them."""
    start = f"{name}_at_"
    try:
        points = tuple((float(key.removeprefix(start)), y) for key, y in parameters.items() if key != other)
        return points, parameters[other]
    except (KeyError, ValueError):
        raise ParameterError(f"parameters must be {other!r} and names that begin with {start!r}") from None
