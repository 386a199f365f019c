"""Claims about the noise inside a mechanism, seen by recording the calls that draw it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, get_args

from dpaudit.claims.claims import Claim
from dpaudit.claims.guarantees import ApproximateDP, Guarantee
from dpaudit.claims.metrics import metric
from dpaudit.claims.neighbouring import Neighbouring
from dpaudit.errors import ParameterError

Family = Literal["laplace", "gaussian", "discrete-laplace", "discrete-gaussian"]

FAMILIES: Final = get_args(Family)
"""Laws of noise that can be drawn again: symmetric about 0, with one scale."""

_NAME = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)?")

Argument = str | Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseFunction:
    """A function of the user's own, or of a library, that adds noise to a value and returns it.

    It is replaced while it is recorded, wherever a loaded module holds it, and put back afterwards.

    Attributes
    ----------
    name
        ``module:function`` or ``module:Class.method``.
    value
        Name of the argument that the noise is added to.
    sensitivity
        The declared sensitivity: the name of an argument, or a function of all arguments (a mapping by name).
    metric
        The distance that the sensitivity is about: ``absolute``, ``l1``, ``l2``, ``linf``, or a function of two values.
    family, scale
        The law of the noise, ``laplace``, ``gaussian``, ``discrete-laplace`` or ``discrete-gaussian``, and its scale
        (of Gaussian noise the standard deviation), as ``sensitivity`` is given. Leave both out where the noise is not
        simply added; then the sensitivity alone is judged.

    Raises
    ------
    ParameterError
        The name is not that of a function in a module, the metric or the family is unknown, only one of ``family`` and
        ``scale`` is given, or there is neither a sensitivity nor a law.

    Examples
    --------
    >>> import dpaudit
    >>> added = dpaudit.NoiseFunction(name="survey:add_noise", value="total", sensitivity="sensitivity")
    >>> added.metric
    'l1'
    >>> dpaudit.NoiseFunction(name="survey:add_noise", value="total")
    Traceback (most recent call last):
        ...
    dpaudit.errors.ParameterError: NoiseFunction survey:add_noise: give `sensitivity`, or `family` and `scale`
    """

    name: str
    value: str
    sensitivity: Argument | None = None
    metric: str | Callable[[Any, Any], float] = "l1"
    family: Family | None = None
    scale: Argument | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise ParameterError(
                f"NoiseFunction: name must be 'module:function' or 'module:Class.method', got {self.name!r}"
            )
        try:
            metric(self.metric)
        except ParameterError as error:
            raise ParameterError(f"NoiseFunction {self.name}: {error}") from None
        if self.family is not None and self.family not in FAMILIES:
            raise ParameterError(
                f"NoiseFunction {self.name}: family must be one of {', '.join(FAMILIES)}, got {self.family!r}"
            )
        if (self.family is None) != (self.scale is None):
            raise ParameterError(f"NoiseFunction {self.name}: give `family` and `scale` both, or neither")
        if self.family is None and self.sensitivity is None:
            raise ParameterError(f"NoiseFunction {self.name}: give `sensitivity`, or `family` and `scale`")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseClaim(Claim):
    """The noise that a mechanism draws covers the change of what it is added to, on every pair of neighbouring inputs.

    The mechanism runs on both inputs with equal noise. Where a call declares a sensitivity, the value that it adds
    noise to must change by no more; and with a guarantee, the noise must be large enough for it.

    Attributes
    ----------
    mechanism
        ``mechanism(data)`` runs once and returns the output; by default the target's ``sample`` with ``size=1``.
    neighbours
        Pairs of neighbouring inputs; by default those of the target.
    guarantee
        What the noise must be enough for, such as ``ApproximateDP(1.0)``; None to look at declared sensitivities alone.
    epsilon, delta
        In its place, as a shorthand, the parameters of approximate differential privacy.
    released
        ``output``: an adversary sees what the mechanism returns. ``noised values``: each call that adds noise has to be
        paid for, because what it returns is released, or because the budget is promised to the calls.
    functions
        Further functions that add noise, beyond those that dpaudit knows.
    scope
        The inputs, in words; by default those of the pairs.

    Raises
    ------
    ParameterError
        A guarantee and another epsilon or delta are given, or an argument is of another kind than it has to be.

    Examples
    --------
    >>> import dpaudit
    >>> made = dpaudit.NoiseClaim(id="sum.noise", statement="The noise is enough for 1-DP.", epsilon=1.0)
    >>> made.guarantee
    ApproximateDP(epsilon=1.0, delta=0.0)
    """

    kind: ClassVar[str] = "noise"

    mechanism: Callable[[Any], Any] | None = None
    neighbours: Neighbouring | None = None
    guarantee: Guarantee | None = None
    epsilon: float | None = None
    delta: float = 0.0
    released: Literal["output", "noised values"] = "output"
    functions: Sequence[NoiseFunction] = ()
    scope: str = ""

    def __post_init__(self) -> None:
        if self.guarantee is not None and not isinstance(self.guarantee, Guarantee):
            raise self._unfit(f"`guarantee` must be a guarantee such as ApproximateDP(1.0), got {self.guarantee!r}")
        if self.guarantee is None and self.epsilon is not None:
            try:
                object.__setattr__(self, "guarantee", ApproximateDP(self.epsilon, self.delta))
            except ParameterError as error:
                raise self._unfit(str(error)) from None
        elif (self.epsilon, self.delta) != (None, 0.0) and (
            self.guarantee is None or dict(self.guarantee.parameters) != {"epsilon": self.epsilon, "delta": self.delta}
        ):
            raise self._unfit("give `guarantee`, or `epsilon` and with it `delta`, and not both")
        if self.mechanism is not None and not callable(self.mechanism):
            raise self._unfit(f"`mechanism` must be a function of the data, got {self.mechanism!r}")
        if self.neighbours is not None and not isinstance(self.neighbours, Neighbouring):
            raise self._unfit(f"`neighbours` must be a dpaudit.Neighbouring, got {self.neighbours!r}")
        if self.released not in ("output", "noised values"):
            raise self._unfit(f"`released` must be 'output' or 'noised values', got {self.released!r}")
        functions = tuple(self.functions)
        for each in functions:
            if not isinstance(each, NoiseFunction):
                raise self._unfit(f"`functions` must be dpaudit.NoiseFunction objects, got {each!r}")
        object.__setattr__(self, "functions", functions)
