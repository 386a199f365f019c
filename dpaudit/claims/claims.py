"""The kinds of claim that dpaudit audits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from dpaudit.claims.domains import Domain
from dpaudit.errors import ParameterError

Measurements = np.ndarray | Mapping[str, np.ndarray]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What is common to all claims.

    Attributes
    ----------
    id
        Identifier, ``paper.statement`` for a published claim; ``-meant`` at its end where print and evident
        meaning differ and this is the latter.
    source
        Paper and theorem, equation or section.
    statement
        The claim in one plain sentence.
    inapplicable
        Why the claim's own assumptions do not hold at these parameters; empty where they do.
    on_data
        Whether the claim is measured on the rankings of ``--data`` when there are any.
    """

    kind: ClassVar[str]

    id: str
    statement: str
    source: str = ""
    inapplicable: str = ""
    on_data: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyClaim(Claim):
    """(epsilon, delta)-differential privacy of one view under that view's neighbouring relation.

    Attributes
    ----------
    epsilon, delta
        The claimed parameters: epsilon >= 0 and finite, delta in [0, 1].
    view
        What the adversary sees: a key of the target's ``views()``.
    """

    kind: ClassVar[str] = "privacy"

    epsilon: float
    delta: float = 0.0
    view: str = "output"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.epsilon) and self.epsilon >= 0):
            raise ParameterError(f"claim {self.id}: epsilon must be a finite number >= 0, got {self.epsilon}")
        if not 0 <= self.delta <= 1:
            raise ParameterError(f"claim {self.id}: delta must be in [0, 1], got {self.delta}")


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
    scope
        Inputs and randomness that the expectation is over, in words.
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
    scope: str = ""

    def __post_init__(self) -> None:
        if not math.isfinite(self.bound):
            raise ParameterError(f"claim {self.id}: the bound must be a finite number, got {self.bound}")
        for support in (self.support, self.beside_support or self.support):
            if not support[0] < support[1]:
                raise ParameterError(f"claim {self.id}: support must be (smallest, largest), got {support}")
        if self.measure is not None and not (math.isfinite(self.support[0]) and math.isfinite(self.support[1])):
            raise ParameterError(f"claim {self.id}: a measured value needs a finite support, got {self.support}")
        if self.exact is None and self.measure is None and not self.inapplicable:
            raise ParameterError(f"claim {self.id}: give `exact` or `measure`, otherwise nothing can be audited")


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
            raise ParameterError(f"claim {self.id}: tolerance must be a finite number >= 0, got {self.tolerance}")
        object.__setattr__(self, "instances", tuple(self.instances))


@dataclass(frozen=True, slots=True, kw_only=True)
class Erratum:
    """Something printed that cannot be what the authors meant.

    Attributes
    ----------
    where
        Paper and place.
    printed, meant, reason
        What is printed, what is implemented instead, and how we know.
    """

    where: str
    printed: str
    meant: str
    reason: str
