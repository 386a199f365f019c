"""OpenDP's transformations as targets: input domain, metrics and map are a stability claim as they stand."""

from __future__ import annotations

import math
import warnings
from typing import Any

from dpaudit.claims.claims import StabilityClaim
from dpaudit.claims.domains import Choices, Datasets, Element, Floats, InputSpace, Integers, Nullable
from dpaudit.errors import ParameterError
from dpaudit.sources.libraries.neighbours import metric_name
from dpaudit.sources.libraries.objects import LibraryMechanism, made_class
from dpaudit.sources.libraries.spaces import Space, space_of

METRICS = {
    "SymmetricDistance": "symmetric",
    "InsertDeleteDistance": "insert-delete",
    "ChangeOneDistance": "change-one",
    "HammingDistance": "hamming",
    "AbsoluteDistance": "absolute",
    "L1Distance": "l1",
    "L2Distance": "l2",
    "LInfDistance": "linf",
    "DiscreteDistance": "discrete",
}
"""Names of metrics, by OpenDP's own."""

_TEXTS = ("a", "b", "", "1", "2.5", "-0", "nan", "true", "\u00e9", "a" * 300)


class OpendpTransformation(LibraryMechanism):
    """A transformation of OpenDP; its claim is that its outputs are as near to each other as its map says."""

    source = "OpenDP"
    notation = "inputs and outputs are those of the transformation"

    def check_object(self, made: Any) -> None:
        """Raise ParameterError where it is no transformation."""
        if not recognises(made):
            raise ParameterError(
                f"{self.name}: needs an OpenDP Transformation, with input_domain, input_metric, output_metric and map, "
                f"got {type(made).__name__}"
            )

    def claims(self) -> list[Any]:
        """Return the claim that the transformation carries.

        Raises
        ------
        ParameterError
            Its domain or one of its metrics is not one that dpaudit knows.
        """
        made = self.held
        domain = made.input_domain
        words = " ".join(str(domain).split())
        given, returned = self._metric(made.input_metric), self._metric(made.output_metric)
        whole = str(getattr(made, "input_distance_type", "f64")) not in ("f32", "f64", "float")
        return [
            StabilityClaim(
                id=f"{self.name}.stability",
                statement=(
                    f"Outputs of `{self.name}` are at most as far apart in {made.output_metric} as its map says of the "
                    f"distance of its inputs in {made.input_metric}."
                ),
                transformation=lambda data: made(data),
                domain=input_space(space_of(words)),
                input_metric=given,
                output_metric=returned,
                map=lambda distance: _promise(made, distance, whole),
                distance_type=int if whole else float,
                member=lambda data: _is_member(domain, data),
                tolerance=0.0,
                scope=f"inputs of {words}",
            )
        ]

    def _metric(self, found: Any) -> str:
        name = METRICS.get(metric_name(str(found)))
        if name is None:
            raise ParameterError(
                f"{self.name}: the metric {found} is not one that dpaudit knows; write a dpaudit.StabilityClaim with a "
                "function for the distance"
            )
        return name


def _promise(made: Any, distance: Any, whole: bool) -> Any:
    """What the map says; infinity where it refuses a distance, because then it promises nothing."""
    if whole and distance != int(distance):
        return math.inf
    try:
        return made.map(distance)
    except Exception:
        return math.inf


def _is_member(domain: Any, data: Any) -> bool:
    """Whether an input belongs to a domain by the library's own word, which it also warns about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return not hasattr(domain, "member") or bool(domain.member(data))


def input_space(space: Space) -> InputSpace:
    """Return the inputs of an OpenDP domain.

    Raises
    ------
    ParameterError
        They cannot be derived.
    """
    if space.form not in ("atom", "option", "vector"):
        raise ParameterError(
            f"no inputs can be derived for an OpenDP domain of the form {space.form}; write a dpaudit.StabilityClaim"
        )
    element: Element
    if space.atom == "bool":
        element = Choices((False, True))
    elif space.atom == "String":
        element = Choices(_TEXTS, complete=False)
    elif space.floats:
        low, high = (space.low, space.high) if space.bounded else (-math.inf, math.inf)
        element = Floats(low, high, nan=space.nan and not space.bounded, bits=32 if space.atom == "f32" else 64)
    else:
        element = Integers(space.low, space.high)
    if space.none:
        element = Nullable(element)
    return Datasets(element, size=space.size) if space.form == "vector" else element


def recognises(value: Any) -> bool:
    """Whether a value is a transformation."""
    needed = ("input_domain", "input_metric", "output_domain", "output_metric", "map")
    return not isinstance(value, type) and callable(value) and all(hasattr(value, each) for each in needed)


def from_transformation(transformation: Any, *, name: str) -> OpendpTransformation:
    """Return an OpenDP transformation as a target, with the stability claim that it carries."""
    made = made_class(OpendpTransformation, lambda: transformation, name=name)()
    made.check_object(transformation)
    assert isinstance(made, OpendpTransformation)
    return made
