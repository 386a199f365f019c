"""What an auditor hands back: a verdict with its scope, method, numbers and witness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from dpaudit.claims.verdicts import Verdict


class Role(StrEnum):
    """What a measured number is to the claim.

    Examples
    --------
    >>> import dpaudit
    >>> dpaudit.Interval.exact(0.5, role=dpaudit.Role.BOUND).role == "bound"
    True
    """

    VALUE = "value"
    """The audited quantity, or one that follows from it."""
    BOUND = "bound"
    """Another bound on the audited quantity."""
    COMPARISON = "comparison"
    """A number of the same kind for comparison: another method's, a trivial one's."""
    MEAN_OF_RUNS = "mean-of-runs"
    """What a mean over as few runs as the published one's may come to."""


class Remedy(StrEnum):
    """What a user can do about a verdict that is ``inconclusive``.

    Examples
    --------
    >>> import dpaudit
    >>> dpaudit.Remedy.SAMPLES == "samples"
    True
    """

    SAMPLES = "samples"
    """Spend more samples."""
    TIME = "time"
    """Allow more time."""
    FEATURES = "features"
    """Say what to look at in the outputs."""
    EXACT = "exact"
    """Give an exact law or a finer enclosure; no number of samples helps."""
    POINTS = "points"
    """Give other points, over a wider range."""
    SAMPLING = "sampling"
    """Audit the claim by sampling, or say more of the noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A measured quantity: what is known of it from below and from above.

    ``None`` means that nothing is known on that side. An exact value has ``lower == upper``; ``estimate`` is a
    point estimate between the two where there is one. ``role`` is what the number is to the claim.

    Attributes
    ----------
    lower, upper
        Bounds; None where nothing is known on that side.
    estimate
        A point estimate between the two, or None.
    role
        What the number is to the claim.

    Examples
    --------
    >>> import dpaudit
    >>> dpaudit.Interval.exact(2).upper
    2.0
    >>> dpaudit.Interval(lower=0.4, upper=0.6, estimate=0.5)
    Interval(lower=0.4, upper=0.6, estimate=0.5, role=<Role.VALUE: 'value'>)
    """

    lower: float | None
    upper: float | None
    estimate: float | None = None
    role: Role = Role.VALUE

    @classmethod
    def exact(cls, value: float, *, role: Role = Role.VALUE) -> Interval:
        """Interval of a value that was computed exactly."""
        return cls(lower=float(value), upper=float(value), role=role)


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A violation of a privacy guarantee, in a form that a reader can recompute.

    Attributes
    ----------
    data, neighbour
        The two neighbouring inputs, the event being likelier on the first than the guarantee allows.
    event
        The event.
    p, q
        Its probability on each: exact, or the frequency observed, with the counts in the note.
    forces
        What follows for the guarantee's parameters, exactly or at least with the stated confidence:
        ``{"epsilon": 1.98}``.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit
    >>> found = dpaudit.Violation(data=0, neighbour=1, event="output 0", p=0.9, q=0.1, forces={"epsilon": 2.197})
    >>> round(float(np.log(found.p / found.q)), 3)
    2.197
    """

    data: Any
    neighbour: Any
    event: Any
    p: float
    q: float
    forces: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """An instance at which a claim that is no privacy claim fails, and the two numbers that contradict each other.

    Attributes
    ----------
    instance
        The instance: values of a lemma's variables, or the setting of a measurement in words.
    quantity
        What the numbers are of, in words.
    measured, claimed
        The number found, at best for the claim, and the one claimed.
    direction
        The claim is that the quantity is ``at-most``, ``at-least`` or ``equal`` to the number claimed.
    details
        Further numbers by which a reader can recompute it.

    Examples
    --------
    >>> import dpaudit
    >>> found = dpaudit.Counterexample(
    ...     instance={"n": 4}, quantity="error rate", measured=0.3, claimed=0.2, direction="at-most"
    ... )
    >>> found.measured > found.claimed
    True
    """

    instance: Any
    quantity: str
    measured: float
    claimed: float
    direction: Literal["at-most", "at-least", "equal"]
    details: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """Privacy profile and trade-off function of the worst pair found, each value exact or bounded.

    Both are for the pair in its worse direction at every point, so that the trade-off function is symmetric.

    Attributes
    ----------
    epsilon, delta_lower, delta_upper
        Epsilons, ascending, and bounds on the hockey-stick divergence there; equal where it is exact.
    type_one, type_two_lower, type_two_upper
        Type I errors of a test between the two inputs, ascending in [0, 1], and bounds on the least type II error.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit
    >>> class Bit(dpaudit.Mechanism):
    ...     epsilon: float = 1.0
    ...     def sample(self, data, size, rng):
    ...         return np.where(rng.random(size) < 1 / (1 + np.exp(-self.epsilon)), data, 1 - data)
    ...     def law(self, data):
    ...         keep = 1 / (1 + np.exp(-self.epsilon))
    ...         return dpaudit.FiniteLaw.from_probabilities([data, 1 - data], [keep, 1 - keep])
    ...     def neighbours(self):
    ...         return dpaudit.Neighbouring.any_two_inputs([0, 1], scope="a bit")
    ...     def claims(self):
    ...         return [dpaudit.PrivacyClaim(id="bit.privacy", statement="The bit is ε-LDP.", epsilon=self.epsilon)]
    >>> record = dpaudit.check(Bit(epsilon=1.0))
    >>> curves = record.results[0].curves
    >>> round(curves.delta_upper[0], 4)  # the total variation distance, where epsilon is 0
    0.4621
    """

    epsilon: tuple[float, ...]
    delta_lower: tuple[float, ...]
    delta_upper: tuple[float, ...]
    type_one: tuple[float, ...]
    type_two_lower: tuple[float, ...]
    type_two_upper: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """Values of a quantity at the points of a rate claim.

    Attributes
    ----------
    variable
        What varies.
    points, values
        The points, ascending, and the exact value or measured mean at each.
    shape
        The claimed further factor at each point; 1 where none is claimed.
    """

    variable: str
    points: tuple[float, ...]
    values: tuple[float, ...]
    shape: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a witness file needs beyond the record, to check a violation of a privacy claim on fresh samples.

    Attributes
    ----------
    inputs
        The two neighbouring inputs themselves.
    reverse
        Whether the event is likelier on the second.
    event
        The event as data (see `dpaudit.auditors.recheck`); None where it can only be learned again.
    p, q
        Its probability, or frequency, on the likelier and on the other input.
    hits, trials
        Occurrences and trials there; None where they were not counted.
    samples, candidate
        To learn the event again: samples per input that its pair had, and which of the events chosen it is.
    """

    inputs: tuple[Any, Any]
    reverse: bool = False
    event: Mapping[str, Any] | None
    p: float
    q: float
    hits: tuple[int, int] | None = None
    trials: tuple[int, int] | None = None
    samples: int = 0
    candidate: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The outcome of one audit of one claim at one set of parameters.

    ``remedy`` is given where the verdict is ``inconclusive``, and where a time limit made ``consistent`` say less.

    Attributes
    ----------
    verdict, scope, method
        What was concluded, about which inputs and parameters, and how.
    measured
        What is known of each quantity, by name.
    witness
        The violation or counterexample of a ``refuted`` verdict.
    note
        Further sentences for a reader.
    samples
        How many outputs were drawn; 0 for an exact method.
    curves, growth
        Values that reports draw, where they are known.
    remedy
        What the user can do to learn more.
    finding
        What a search for lemmas found, in words.

    Examples
    --------
    >>> import dpaudit
    >>> exact = dpaudit.Interval.exact(1.0)
    >>> found = dpaudit.Evidence(
    ...     verdict=dpaudit.Verdict.PROVED, scope="all pairs", method="exact", measured={"epsilon": exact}
    ... )
    >>> found.measured["epsilon"].upper
    1.0
    """

    verdict: Verdict
    scope: str
    method: str
    measured: Mapping[str, Interval] = field(default_factory=dict)
    witness: Violation | Counterexample | None = None
    note: str = ""
    samples: int = 0
    curves: Curves | None = None
    growth: Growth | None = None
    remedy: Remedy | None = None
    finding: Finding | None = field(default=None, compare=False, repr=False)
