"""The kinds of claim that dpaudit audits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from dpaudit.claims.domains import Choices, Datasets, Domain, Floats, InputSpace, Integers, Nullable, Reals, Rows
from dpaudit.claims.guarantees import ApproximateDP, Guarantee
from dpaudit.claims.metrics import metric
from dpaudit.errors import ParameterError

Measurements = np.ndarray | Mapping[str, np.ndarray]

FEWEST_POINTS = 6
"""Points of a rate claim: half of them, and a fit with three coefficients, must leave something to judge it by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What is common to all claims.

    Attributes
    ----------
    id, statement
        Identifier, and the claim in one plain sentence. A claim that is declared (`dpaudit.claim`) gets both, and its
        source, from its declaration.
    source
        Paper and theorem, equation or section, in words.
    inapplicable
        Why the claim's own assumptions do not hold at these parameters; empty where they do.
    on_data
        Whether the claim is measured on the rankings of ``--data`` when there are any.
    reproduces
        The published figure or table that the claim measures again, such as ``Table 1``; empty for none.

    Examples
    --------
    >>> import dpaudit
    >>> made = dpaudit.UtilityClaim(id="coin.mean", statement="E[x] is at most 0.6.", bound=0.6, exact=lambda: 0.5)
    >>> isinstance(made, dpaudit.Claim), made.kind
    (True, 'utility')
    """

    kind: ClassVar[str]

    id: str = ""
    statement: str = ""
    source: str = ""
    inapplicable: str = ""
    on_data: bool = False
    reproduces: str = ""

    def _unfit(self, problem: str) -> ParameterError:
        return ParameterError(f"claim {self.id}: {problem}" if self.id else problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyClaim(Claim):
    """A privacy guarantee of one view under that view's neighbouring relation.

    Attributes
    ----------
    guarantee
        What is promised, such as ``ApproximateDP(1.0, 1e-6)``.
    epsilon, delta
        In its place, as a shorthand, the parameters of approximate differential privacy: epsilon >= 0 and finite, delta
        in [0, 1].
    view
        What the adversary sees: a key of the target's ``views()``.

    Raises
    ------
    ParameterError
        Neither a guarantee nor an epsilon is given, the two differ, or a parameter is out of its range.

    Examples
    --------
    >>> import dpaudit
    >>> made = dpaudit.PrivacyClaim(id="sum.privacy", statement="The sum is (1, 1e-6)-DP.", epsilon=1.0, delta=1e-6)
    >>> made.guarantee
    ApproximateDP(epsilon=1.0, delta=1e-06)
    """

    kind: ClassVar[str] = "privacy"

    guarantee: Guarantee = None  # type: ignore[assignment]  # made of epsilon and delta where it is not given
    epsilon: float | None = None
    delta: float = 0.0
    view: str = "output"

    def __post_init__(self) -> None:
        if self.guarantee is None:
            if self.epsilon is None:
                raise self._unfit("give `guarantee`, or `epsilon` and `delta`")
            try:
                object.__setattr__(self, "guarantee", ApproximateDP(self.epsilon, self.delta))
            except ParameterError as error:
                raise self._unfit(str(error)) from None
        elif not isinstance(self.guarantee, Guarantee):
            raise self._unfit(f"`guarantee` must be a guarantee such as ApproximateDP(1.0), got {self.guarantee!r}")
        elif (self.epsilon, self.delta) != (None, 0.0) and dict(self.guarantee.parameters) != {
            "epsilon": self.epsilon,
            "delta": self.delta,
        }:
            raise self._unfit(f"`guarantee` is {self.guarantee}; leave `epsilon` and `delta` out")


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityClaim(Claim):
    """A bound on the expectation of a quantity; on a probability, when the quantity is 0 or 1.

    Attributes
    ----------
    bound, direction
        The claim is ``E[value] <= bound`` (``at-most``) or ``E[value] >= bound`` (``at-least``).
    exact
        Computes the expectation exactly. Give this, ``measure``, or both (then ``exact`` decides).
    measure
        ``measure(runs, rng)`` returns ``runs`` independent values, or a mapping of named arrays in which ``value``
        is the audited one and the others are reported beside it.
    runs
        Runs that are measured where no number is asked for.
    support, beside_support
        Smallest and largest possible value of ``value`` and of the other arrays (None: the same); the confidence
        intervals are rigorous because of them.
    trivial
        What a method that ignores its input achieves; a true bound no better than this is ``vacuous``.
    trivial_reason
        What that method is, in words.
    quantity
        What is measured, in words.
    beside
        Known numbers that are reported beside the value for comparison, by name.
    bounds
        Other bounds on the same quantity, by name; they are drawn with the claimed one.
    scope
        Inputs and randomness that the expectation is over, in words.

    Raises
    ------
    ParameterError
        Neither ``exact`` nor ``measure`` is given, or the bound or a support cannot be used.

    Examples
    --------
    >>> import dpaudit
    >>> made = dpaudit.UtilityClaim(
    ...     id="coin.error", statement="The coin errs with probability at most 0.6.", bound=0.6,
    ...     measure=lambda runs, rng: rng.integers(0, 2, size=runs),
    ... )
    >>> made.direction, made.support
    ('at-most', (0.0, 1.0))
    """

    kind: ClassVar[str] = "utility"

    bound: float
    direction: Literal["at-most", "at-least"] = "at-most"
    exact: Callable[[], float] | None = None
    measure: Callable[[int, np.random.Generator], Measurements] | None = None
    runs: int = 1000
    support: tuple[float, float] = (0.0, 1.0)
    beside_support: tuple[float, float] | None = None
    trivial: float | None = None
    trivial_reason: str = "a method that ignores its input does as well"
    quantity: str = "value"
    beside: Mapping[str, float] = field(default_factory=dict)
    bounds: Mapping[str, float] = field(default_factory=dict)
    scope: str = ""

    def __post_init__(self) -> None:
        if not math.isfinite(self.bound):
            raise self._unfit(f"the bound must be a finite number, got {self.bound}")
        for support in (self.support, self.beside_support or self.support):
            if not support[0] < support[1]:
                raise self._unfit(f"support must be (smallest, largest), got {support}")
        if self.measure is not None and not (math.isfinite(self.support[0]) and math.isfinite(self.support[1])):
            raise self._unfit(f"a measured value needs a finite support, got {self.support}")
        if self.exact is None and self.measure is None and not self.inapplicable:
            raise self._unfit("give `exact` or `measure`, otherwise nothing can be audited")
        for name in {"value", "trivial", "slack", "worst"} & {*self.beside, *self.bounds}:
            raise self._unfit(f"{name!r} is not free for a number in `beside` or `bounds`; choose another name")
        if both := set(self.beside) & set(self.bounds):
            raise self._unfit(f"{min(both)!r} is in `beside` and in `bounds`; leave it out of one")


@dataclass(frozen=True, slots=True, kw_only=True)
class RateClaim(Claim):
    """How a quantity grows with one variable: like ``variable ** exponent``, times ``shape``.

    Attributes
    ----------
    variable
        What varies, by the name of the parameter where it is one.
    points
        Its values, at least 6, above 0 and ascending; a factor of 10 from first to last tells more than many points.
    exponent
        The claimed exponent.
    shape
        Further claimed factor as a function of the variable, such as a logarithm; None for none.
    direction
        ``at-most``: grows no faster (what O(...) says). ``equal``: grows just so.
    exact
        ``exact(point)`` computes the quantity, above 0.
    measure
        ``measure(point, runs, rng)`` returns ``runs`` independent values of it, shape (runs,), whose mean is fitted.
        Give this or ``exact``.
    runs
        Runs per point where no number is asked for.
    resolution
        Exponents this far apart are to be told from each other; where the data cannot, the verdict is
        ``inconclusive``.
    quantity, scope
        What grows, and over which inputs, in words.

    Raises
    ------
    ParameterError
        There are fewer than 6 ascending points, or not just one of ``exact`` and ``measure`` is given.

    Examples
    --------
    >>> import dpaudit
    >>> made = dpaudit.RateClaim(
    ...     id="mean.rate", statement="The error falls like 1/n.", variable="n", points=(10, 20, 50, 100, 200, 500),
    ...     exponent=-1.0, exact=lambda n: 2 / n,
    ... )
    >>> made.exact(10)
    0.2
    """

    kind: ClassVar[str] = "rate"

    variable: str
    points: Sequence[float]
    exponent: float
    shape: Callable[[float], float] | None = None
    direction: Literal["at-most", "equal"] = "at-most"
    exact: Callable[[float], float] | None = None
    measure: Callable[[float, int, np.random.Generator], np.ndarray] | None = None
    runs: int = 1000
    resolution: float = 0.25
    quantity: str = "value"
    scope: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", tuple(self.points))
        points = np.array(self.points, dtype=float)
        if (
            len(points) < FEWEST_POINTS
            or not np.isfinite(points).all()
            or points[0] <= 0
            or (np.diff(points) <= 0).any()
        ):
            raise self._unfit(f"points must be at least {FEWEST_POINTS} ascending numbers above 0, got {self.points}")
        if not math.isfinite(self.exponent):
            raise self._unfit(f"exponent must be a finite number, got {self.exponent}")
        if not (math.isfinite(self.resolution) and self.resolution > 0):
            raise self._unfit(f"resolution must be a finite number above 0, got {self.resolution}")
        if (self.exact is None) == (self.measure is None) and not self.inapplicable:
            raise self._unfit("give `exact` or `measure`, one of the two")


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureClaim(Claim):
    """A published number, or what the text says of a figure or table, to be measured again.

    A number itself, with how exactly it is printed or can be read off, comes from the audit plan (keys ``published``
    and ``tolerance``); at parameters for which nothing is published, the quantity is measured all the same. What the
    text says of a figure, such as that one curve is below another, is an inequality: `direction`, with its bound in
    `published`.

    Attributes
    ----------
    measure
        ``measure(runs, rng)`` returns ``runs`` independent values, whose mean is the number, or a mapping of named
        arrays: ``value``; ``over`` where the number is the mean of ``value`` over that of ``over``; others are
        reported beside it.
    runs
        Runs where no number is asked for.
    factor
        What the number is multiplied by: 100 for percent.
    support, over_support, beside_support
        Smallest and largest possible value of ``value``, of ``over`` and of the other arrays (None: as ``value``).
    quantity, scope
        What is measured, and over which inputs and randomness, in words.
    published, tolerance
        The published number, and how far from it, or beyond it, the measured one may be; None where nothing is
        published.
    direction
        ``equal``: a number. ``at-most``, ``at-least``: an inequality, whose bound ``published`` is.
    published_runs
        Runs that the published number is a mean over, where the source says so: it is then held against what a mean of
        so many runs may come to, not against the expectation. None: against the expectation.
    timed
        Whether the values are times, or made of times. They belong to the machine: the record holds them in its part
        ``timing``, and no machine's times certify anything, so that the verdict is ``refuted`` (beyond the tolerance,
        which should be a clear factor) or ``consistent``. Only an inequality can be judged: published seconds are those
        of another machine.

    Raises
    ------
    ParameterError
        The support, the factor, the published number or the tolerance is out of its range.

    Examples
    --------
    >>> import numpy as np
    >>> import dpaudit
    >>> made = dpaudit.FigureClaim(
    ...     id="coin.figure1", statement="The mean of Figure 1.", published=0.5, tolerance=0.01, runs=2000,
    ...     measure=lambda runs, rng: rng.integers(0, 2, size=runs),
    ... )
    >>> float(made.measure(made.runs, np.random.default_rng(1)).mean())
    0.507
    """

    kind: ClassVar[str] = "figure"

    measure: Callable[[int, np.random.Generator], Measurements]
    runs: int = 1000
    factor: float = 1.0
    support: tuple[float, float] = (0.0, 1.0)
    over_support: tuple[float, float] | None = None
    beside_support: tuple[float, float] | None = None
    quantity: str = "value"
    scope: str = ""
    published: float | None = None
    tolerance: float = 0.0
    direction: Literal["equal", "at-most", "at-least"] = "equal"
    published_runs: int | None = None
    timed: bool = False

    def __post_init__(self) -> None:
        for support in (self.support, self.over_support or self.support, self.beside_support or self.support):
            if not (math.isfinite(support[0]) and math.isfinite(support[1]) and support[0] < support[1]):
                raise self._unfit(f"support must be finite (smallest, largest), got {support}")
        if not (math.isfinite(self.factor) and self.factor > 0):
            raise self._unfit(f"factor must be a finite number above 0, got {self.factor}")
        if self.published is not None and not math.isfinite(self.published):
            raise self._unfit(f"published must be a finite number, got {self.published}")
        if not (math.isfinite(self.tolerance) and self.tolerance >= 0):
            raise self._unfit(f"tolerance must be a finite number >= 0, got {self.tolerance}")
        if self.published_runs is not None and self.published_runs < 1:
            raise self._unfit(f"published_runs must be at least 1, got {self.published_runs}")
        if self.direction not in ("equal", "at-most", "at-least"):
            raise self._unfit(f"direction must be 'equal', 'at-most' or 'at-least', got {self.direction!r}")
        if self.direction != "equal" and self.published is None:
            raise self._unfit("an inequality needs its bound; give `published`")
        if self.timed and self.direction == "equal" and self.published is not None:
            raise self._unfit("the times of another machine cannot be measured again; compare times with each other")


@dataclass(frozen=True, slots=True, kw_only=True)
class LemmaClaim(Claim):
    """A universally quantified statement, as an inequality whose margin must not be negative.

    Attributes
    ----------
    margin
        ``margin(**instance)`` returns claimed minus actual: negative where the statement fails.
    instances
        Instances that are all checked, each a mapping of variable names to values.
    complete
        Whether ``instances`` are all that there are in the scope.
    variables
        Domains from which further instances are drawn; a counterexample is shrunk. Empty: nothing is drawn.
    explain
        ``explain(**instance)`` returns named numbers that let a reader recompute the margin.
    tolerance
        A margin above ``-tolerance`` counts as rounding.
    scope
        The instances covered, in words.

    Raises
    ------
    ParameterError
        The tolerance is negative or not finite.

    Examples
    --------
    >>> import dpaudit
    >>> made = dpaudit.LemmaClaim(
    ...     id="mine.lemma1", statement="x (1 - x) is at most 1/4.",
    ...     variables={"x": dpaudit.Reals(0.0, 1.0)}, margin=lambda x: 0.25 - x * (1 - x),
    ... )
    >>> made.margin(x=0.5)
    0.0
    """

    kind: ClassVar[str] = "lemma"

    margin: Callable[..., float]
    instances: Sequence[Mapping[str, Any]] = ()
    complete: bool = False
    variables: Mapping[str, Domain] = field(default_factory=dict)
    explain: Callable[..., Mapping[str, float]] | None = None
    tolerance: float = 1e-12
    scope: str = ""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.tolerance) and self.tolerance >= 0):
            raise self._unfit(f"tolerance must be a finite number >= 0, got {self.tolerance}")
        object.__setattr__(self, "instances", tuple(self.instances))


@dataclass(frozen=True, slots=True, kw_only=True)
class StabilityClaim(Claim):
    """What a deterministic transformation promises: inputs at distance d give outputs at most ``map(d)`` apart.

    Attributes
    ----------
    transformation
        ``transformation(data)`` returns the output; it always gives the same on the same input.
    domain
        The inputs: `Integers`, `Reals`, `Floats`, `Choices`, `Nullable`, `Rows`, or `Datasets` of these.
    input_metric, output_metric
        Distance of two inputs and of two outputs: ``symmetric``, ``insert-delete``, ``change-one``, ``hamming``,
        ``absolute``, ``l1``, ``l2``, ``linf``, ``discrete``, or a function of two values that returns a number.
    map
        ``map(distance)`` returns the largest distance of the outputs that is promised; infinity promises nothing.
    distance_type
        ``float`` where ``map`` takes floats, rounded up; by default whole numbers stay whole.
    raising_counts
        Whether a transformation that raises on one of two neighbours breaks the promise, as by default. Otherwise
        inputs on which it raises are not in the domain.
    member
        ``member(data)`` returns whether an input that was drawn belongs to the domain, for conditions that ``domain``
        does not express; None for all.
    tolerance
        Excess over the promise, absolute below 1 and relative above, that counts as rounding. 0 for a transformation
        that claims to take rounding into account.
    scope
        The inputs, in words.

    Raises
    ------
    ParameterError
        A metric is none that is known, or a value is out of its range.

    Examples
    --------
    >>> import dpaudit
    >>> made = dpaudit.StabilityClaim(
    ...     id="count.stability", statement="A count changes by at most the number of rows that change.",
    ...     transformation=len, domain=dpaudit.Datasets(dpaudit.Integers(0, 9), longest=5),
    ...     input_metric="symmetric", output_metric="absolute", map=lambda distance: distance,
    ... )
    >>> made.map(2)
    2
    """

    kind: ClassVar[str] = "stability"

    transformation: Callable[[Any], Any]
    domain: InputSpace
    input_metric: str | Callable[[Any, Any], float]
    output_metric: str | Callable[[Any, Any], float]
    map: Callable[[Any], Any]
    distance_type: type = int
    raising_counts: bool = True
    member: Callable[[Any], bool] | None = None
    tolerance: float = 1e-9
    scope: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Integers | Reals | Floats | Choices | Nullable | Rows | Datasets):
            raise self._unfit(f"domain must be such as Datasets(Integers(0, 10)), got {self.domain!r}")
        for name in ("input_metric", "output_metric"):
            try:
                found = metric(getattr(self, name))
            except ParameterError as error:
                raise self._unfit(f"{name}: {error}") from None
            if name == "input_metric" and found.datasets and not isinstance(self.domain, Datasets):
                raise self._unfit(f"input_metric {found.name} compares datasets; give domain=Datasets(...)")
        if not (math.isfinite(self.tolerance) and self.tolerance >= 0):
            raise self._unfit(f"tolerance must be a finite number >= 0, got {self.tolerance}")
        if self.distance_type not in (int, float):
            raise self._unfit(f"distance_type must be int or float, got {self.distance_type!r}")
