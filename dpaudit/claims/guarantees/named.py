"""Guarantees by names and numbers, as command lines and plans claim them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, Literal, get_args

from dpaudit.claims.guarantees.approximate import ApproximateDP
from dpaudit.claims.guarantees.base import Guarantee
from dpaudit.claims.guarantees.gaussian import GaussianDP
from dpaudit.claims.guarantees.renyi import RenyiDP
from dpaudit.claims.guarantees.zero_concentrated import ZeroConcentratedDP
from dpaudit.errors import ParameterError

Named = Literal["approximate", "gaussian", "zero-concentrated", "renyi"]

KINDS: Final = get_args(Named)

_MADE: Final[Mapping[str, type[Any]]] = {
    "approximate": ApproximateDP,
    "gaussian": GaussianDP,
    "zero-concentrated": ZeroConcentratedDP,
    "renyi": RenyiDP,
}

NUMBERS: Final[Mapping[str, tuple[str, ...]]] = {
    "approximate": ("epsilon", "delta"),
    "gaussian": ("mu",),
    "zero-concentrated": ("rho", "delta"),
    "renyi": ("epsilon", "order"),
}
"""What each kind is claimed by, the number that is bounded first."""

_WORDS: Final = {
    "approximate": "(epsilon, delta)-DP",
    "gaussian": "Gaussian DP",
    "zero-concentrated": "zero-concentrated DP",
    "renyi": "Renyi DP",
}
_TELLING: Final = {"mu": "gaussian", "rho": "zero-concentrated", "order": "renyi"}


def bounded_number(kind: str) -> str:
    """Return the name of the number that samples bound."""
    return NUMBERS[kind][0]


def named_guarantee(kind: str, values: Mapping[str, float]) -> Guarantee:
    """Return a guarantee from its kind and its numbers; delta is 0 without it.

    Raises
    ------
    ParameterError
        A number is out of range.
    """
    names = {"order": "alpha"}
    given = {names.get(name, name): float(values.get(name, 0.0)) for name in NUMBERS[kind]}
    made: Guarantee = _MADE[kind](**given)
    return made


def kind_claimed(kind: str | None, options: Mapping[str, float | None]) -> str:
    """Return the kind that numbers of options claim: that of the option that says so, or else what their names say.

    Parameters
    ----------
    kind
        The kind asked for; None where it is for the numbers to say.
    options
        The numbers given, by the options that gave them, such as ``--claim-mu`` and ``--order``.

    Raises
    ------
    ParameterError
        They are not numbers of one kind, or out of range.
    """
    given = {option: value for option, value in options.items() if value is not None}
    for option, value in given.items():
        if not (math.isfinite(value) and value >= 0) and not (option == "--order" and value == math.inf):
            raise ParameterError(f"{option} must be a finite number of at least 0, got {value}")
    said = [_TELLING[name] for name in map(_name, given) if name in _TELLING]
    found = kind or (said[0] if said else "approximate")
    for option in given:
        if _name(option) not in NUMBERS[found]:
            asked = " and ".join(
                other for other in options if _name(other) in NUMBERS[found] and not other.endswith("delta")
            )
            raise ParameterError(f"{option} is no claim of {_WORDS[found]}; give {asked} alone")
    if found == "renyi" and options.get("--order") is None:
        raise ParameterError("Renyi DP is claimed at an order; give it as --order, above 1")
    return found


def _name(option: str) -> str:
    return option.removeprefix("--").removeprefix("claim-")
