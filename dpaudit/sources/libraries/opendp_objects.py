"""OpenDP's measurements as mechanisms: input domain, input metric, output measure and map are a claim as they stand.

Transformations, which carry a claim too, are in `opendp_transformations`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np

from dpaudit.claims.guarantees import ApproximateDP, Guarantee, PrivacyProfile, RenyiCurve, ZeroConcentratedDP
from dpaudit.claims.inputs import Pair, short_repr
from dpaudit.claims.metrics import metric
from dpaudit.errors import CheckError, ParameterError
from dpaudit.mechanism import parameter
from dpaudit.sources.libraries import opendp_transformations
from dpaudit.sources.libraries.neighbours import metric_name, pairs_of, relation_of
from dpaudit.sources.libraries.objects import Inputs, LibraryMechanism, checked_pairs, made_class, maker_of
from dpaudit.sources.libraries.spaces import space_of

ORDERS = (1.5, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Orders at which a Renyi curve is audited."""

EPSILONS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Epsilons at which a privacy profile is audited."""

_DELTAS = (1e-1, 1e-2, 1e-3, 1e-6)
_PROBES = 200


class OpendpMechanism(LibraryMechanism):
    """A measurement of OpenDP.

    Its inputs are derived from input domain and metric, at the distance ``d_in``; the guarantee is what its map says at
    that distance, in its output measure. The library draws from the operating system, which cannot be seeded.
    """

    d_in: float = parameter(1.0, above=0, doc="largest distance of two neighbouring inputs")

    source = "OpenDP"
    own_randomness = True
    raising_counts = True
    notation = "inputs and outputs are those of the measurement; an output `raised …` stands for an exception"
    adapter_parameters: ClassVar[frozenset[str]] = frozenset({"d_in"})

    def check_object(self, made: Any) -> None:
        """Raise ParameterError where it is no measurement."""
        if not _is_measurement(made):
            raise ParameterError(
                f"{self.name}: needs an OpenDP Measurement, with input_domain, input_metric, output_measure and map, "
                f"got {type(made).__name__}"
            )

    @property
    def metric(self) -> str:
        """The input metric, as OpenDP writes it."""
        return str(self.held.input_metric)

    @property
    def distance(self) -> Any:
        """``d_in`` as the metric measures it.

        Raises
        ------
        ParameterError
            The metric counts, and it is not a whole number.
        """
        text = str(getattr(self.held, "input_distance_type", "f64"))
        name = metric_name(self.metric)
        whole = not any(each in f"{text} {self.metric}" for each in ("f32", "f64"))
        if whole and self.d_in != int(self.d_in):
            raise ParameterError(f"{self.name}: d_in must be a whole number for {self.metric}, got {self.d_in:g}")
        number = int(self.d_in) if whole else float(self.d_in)
        return (1, number, number) if name.startswith(("L01Inf", "L02Inf")) else number

    def draws(self, data: Any, rng: np.random.Generator) -> Callable[[], Any]:
        """Return the measurement, called with an input."""
        measurement = self.held
        return lambda: measurement(data)

    def inputs(self) -> Inputs:
        """Pairs derived from domain and metric, as far as the domain says that they are members."""
        domain = self.held.input_domain
        space = space_of(str(domain))
        pairs = pairs_of(space, self.metric, self.distance)
        if metric_name(self.metric) == "DiscreteDistance" and space.form == "atom":
            pairs = self._categories() + pairs
        member = getattr(domain, "member", lambda value: True)
        pairs = [pair for pair in pairs if all(member(data) for data in pair)]
        scope = f"{len(pairs)} pairs of inputs derived from {' '.join(str(domain).split())} and {self.metric}"
        return Inputs(relation=relation_of(self.metric, self.distance), pairs=pairs, scope=scope)

    def check_pair(self, pair: Pair) -> None:
        """Raise CheckError where the two are farther apart than ``d_in``, about which the map says something else."""
        name = opendp_transformations.METRICS.get(metric_name(self.metric))
        if name is None:
            return
        try:
            least = metric(name).between_outputs(*pair)
        except Exception:
            # The object itself says whether it takes them.
            return
        if least > self.d_in:
            shown = " and ".join(map(short_repr, pair))
            raise CheckError(
                f"{self.name}: the inputs of a pair that was given, {shown}, are {float(least):g} apart in "
                f"{self.metric}, and the claim is about d_in = {self.d_in:g}; give nearer ones, or a larger d_in"
            )

    def _categories(self) -> list[Pair]:
        """Pairs of the outputs that come for some input: of a randomized response, its categories."""
        try:
            (first, *_), *_ = pairs_of(space_of(str(self.held.input_domain)), self.metric, 1)
            drawn = {repr(each): each for each in (self.held(first) for _ in range(_PROBES))}
        except Exception:
            return []
        values = [drawn[key] for key in sorted(drawn)][:6]
        return [(x, y) for place, x in enumerate(values) for y in values[place + 1 :]]

    def guarantee(self) -> Guarantee:
        """Return what the map says at ``d_in``, in the output measure.

        Raises
        ------
        ParameterError
            It promises nothing there, or the measure is not known.
        """
        measurement = self.held
        try:
            value = measurement.map(self.distance)
        except Exception as error:
            why = " ".join(str(error).split())
            raise ParameterError(f"{self.name}: map({self.distance}) raised {type(error).__name__}: {why}") from error
        return guarantee_of(self.name, str(measurement.output_measure), value)

    def statement(self, guarantee: Guarantee) -> str:
        """Return the claim in one sentence."""
        return f"The outputs of `{self.name}` are {guarantee} at {self.metric} {self.distance}, as OpenDP's map says."


def guarantee_of(name: str, measure: str, value: Any) -> Guarantee:
    """Return the guarantee that a value of a map stands for in an output measure.

    Parameters
    ----------
    name
        What messages begin with.
    measure
        The output measure as OpenDP writes it.
    value
        What the map returns: a number, a pair, a curve or a privacy profile.

    Raises
    ------
    ParameterError
        The value promises nothing, or the measure is not known.

    Notes
    -----
    For approximate zero-concentrated DP, what it implies is audited: (epsilon, delta + d)-DP with
    epsilon = rho + 2 sqrt(rho log(1 / d)) at several d (Bun, Steinke 2016, Lemma 3.5 and Lemma 8.8).
    """
    kind = metric_name(measure)
    if kind == "Approximate":
        of, delta = value
        if measure.startswith("Approximate(Max"):
            return ApproximateDP(_finite(name, of), float(delta))
        if measure.startswith("Approximate(ZeroConcentrated"):
            rho = _finite(name, of)
            points = [(rho + 2 * math.sqrt(rho * math.log(1 / d)), min(1.0, float(delta) + d)) for d in _DELTAS]
            return PrivacyProfile(points)
    if kind == "FixedSmoothedMaxDivergence":
        return ApproximateDP(_finite(name, value[0]), float(value[1]))
    if kind == "MaxDivergence":
        return ApproximateDP(_finite(name, value))
    if kind == "ZeroConcentratedDivergence":
        return ZeroConcentratedDP(_finite(name, value))
    if kind == "RenyiDivergence":
        return RenyiCurve([(order, _finite(name, value(order))) for order in ORDERS])
    if kind in ("SmoothedMaxDivergence", "PrivacyProfile"):
        return PrivacyProfile([(epsilon, min(1.0, float(value.delta(epsilon)))) for epsilon in EPSILONS])
    raise ParameterError(f"{name}: the output measure {measure} is not one that dpaudit knows")


def _finite(name: str, value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ParameterError(f"{name}: its map promises nothing at this d_in (it says {number}); set another d_in")
    return number


def recognises(value: Any) -> bool:
    """Whether a value is a measurement or a transformation."""
    return _is_measurement(value) or opendp_transformations.recognises(value)


def base_for(value: Any, returned: str) -> type[LibraryMechanism]:
    """Return what stands for an object, or for one that a function says it returns."""
    if opendp_transformations.recognises(value) or returned == "Transformation":
        return opendp_transformations.OpendpTransformation
    return OpendpMechanism


def _is_measurement(value: Any) -> bool:
    needed = ("input_domain", "input_metric", "output_measure", "map")
    return not isinstance(value, type) and callable(value) and all(hasattr(value, each) for each in needed)


def from_opendp(
    measurement: Any, *, d_in: float = 1.0, pairs: Iterable[Pair] | None = None, name: str = "opendp"
) -> LibraryMechanism:
    """Return an OpenDP measurement or transformation as a target, with the claim that it carries.

    Parameters
    ----------
    measurement
        The measurement, or a function that makes it; its arguments are then parameters, at their defaults. Only what a
        function of a module makes can be sent to another process. Or a transformation, whose stability is audited at
        all distances.
    d_in
        Largest distance of two neighbouring inputs, in its input metric, above 0.
    pairs
        Neighbouring inputs in place of those that are derived from domain and metric.
    name
        Name of the target.

    Returns
    -------
    Mechanism
        Takes a place in `dpaudit.check` and `dpaudit.testing.assert_private`.

    Raises
    ------
    ParameterError
        It is neither, ``d_in`` is out of range, or it is given, as ``pairs`` are, for a transformation.

    Examples
    --------
    >>> import dpaudit
    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib")
    >>> noisy = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=1.0)
    >>> print(dpaudit.check(dpaudit.from_opendp(noisy), samples=2_000, confidence=0.999999).results[0].verdict)
    consistent
    """
    if opendp_transformations.recognises(measurement):
        if d_in != 1.0 or pairs is not None:
            raise ParameterError(f"{name}: a transformation is audited at all distances; leave d_in and pairs out")
        return opendp_transformations.from_transformation(measurement, name=name)
    given = None if pairs is None else checked_pairs(pairs)
    more = {"recipe": (from_opendp, measurement, {"pairs": given, "name": name})}
    made = made_class(OpendpMechanism, maker_of(measurement), name=name, pairs=given, more=more)
    mechanism = made(d_in=d_in)  # type: ignore[call-arg]
    assert isinstance(mechanism, OpendpMechanism)
    mechanism.held  # noqa: B018 - made, and checked, at once
    return mechanism


MECHANISM = OpendpMechanism
