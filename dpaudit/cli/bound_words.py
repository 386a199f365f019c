"""Bounds and claims in words and options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpaudit.claims.evidence import Evidence
    from dpaudit.runner.bounds import Claimed


def option_words(claimed: Claimed) -> list[str]:
    """Return the options of a command that make a claim."""
    names = {"delta": "--delta", "alpha": "--order"}
    return [
        word for name, value in claimed.parameters.items() for word in (names.get(name, f"--claim-{name}"), repr(value))
    ]


def bound_in_words(parameter: str, value: float, others: Mapping[str, float], confidence: float) -> str:
    """Return a bound as one sentence; it is rounded down.

    Parameters
    ----------
    parameter, value
        What is bounded, and the bound.
    others
        Other parameters of the guarantee, which are as claimed.
    confidence
        That of the bound.
    """
    from dpaudit.claims.evidence import Interval
    from dpaudit.reporting.numbers import format_interval

    names = {"alpha": "order"}
    at = "".join(f" at {names.get(name, name)} {number:.6g}" for name, number in others.items() if number)
    if value <= 0:
        return f"nothing is shown of {parameter}{at}: it is at least 0"
    known = format_interval(Interval(lower=value, upper=None), digits=5)
    return f"{parameter} is {known}{at}, with confidence {confidence!r}"


def claim_in_words(claimed: Claimed, evidence: Evidence) -> str:
    """Return what a bound says of a claim."""
    return f"{claimed}: {evidence.verdict}; {evidence.note}"


def lines(heading: str, rows: list[tuple[str, str]]) -> str:
    """Return a heading and named lines below it."""
    from dpaudit.reporting.wording import clean

    return clean("\n".join([heading, *(f"  {name.ljust(11)} {text}" for name, text in rows)]) + "\n")
