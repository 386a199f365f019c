"""Bounds and claims in words and options."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpaudit.claims.evidence import Evidence
    from dpaudit.runner.bounds import Claimed


def option_words(claimed: Claimed) -> list[str]:
    """Return the options of a command that make a claim."""
    names = {"epsilon": "--claim-epsilon", "delta": "--delta", "mu": "--claim-mu"}
    return [word for name, value in claimed.parameters.items() for word in (names[name], repr(value))]


def bound_in_words(parameter: str, value: float, delta: float, confidence: float) -> str:
    """Return a bound as one sentence; it is rounded down."""
    from dpaudit.claims.evidence import Interval
    from dpaudit.reporting.numbers import format_interval

    at = f" at delta {delta:.6g}" if delta else ""
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
