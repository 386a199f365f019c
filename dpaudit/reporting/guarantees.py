"""Guarantees as reports write them: a claim's guarantee made again from a result, and what it allows of an event."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dpaudit.claims.guarantees import ApproximateDP, GaussianDP, Guarantee
from dpaudit.claims.record import Result
from dpaudit.errors import ParameterError
from dpaudit.reporting.numbers import format_number


def guarantee_of(result: Result) -> Guarantee | None:
    """Return the guarantee that a result is about; None where it is about none, or of a kind that is not known here."""
    kind = next((each for each in _kinds(Guarantee) if each.kind == result.guarantee), None)
    try:
        return None if kind is None else kind.from_parameters(result.claimed)
    except (TypeError, ParameterError):
        return None


def allowed_in_words(guarantee: Guarantee) -> str:
    """Return the most that an event of probability q may have on the other input, as a formula; empty where unknown."""
    write = _FORMULAS.get(guarantee.kind)
    return write(guarantee.parameters) if write else ""


def _kinds(base: Any) -> Iterator[type[Guarantee]]:
    for each in base.__subclasses__():
        yield each
        yield from _kinds(each)


def approximate_in_words(parameters: Mapping[str, float]) -> str:
    """Return the most that an event may have under approximate DP, as a formula."""
    plus = f" + {format_number(parameters['delta'])}" if parameters.get("delta") else ""
    return f"e^{format_number(parameters['epsilon'])} × q{plus}"


def _gaussian_in_words(parameters: Mapping[str, float]) -> str:
    return f"Φ(Φ⁻¹(q) + {format_number(parameters['mu'])})"


_FORMULAS: Mapping[str, Callable[[Mapping[str, float]], str]] = {
    ApproximateDP.kind: approximate_in_words,
    GaussianDP.kind: _gaussian_in_words,
}
