"""Whether what a caller gives to an audit from Python is of the right kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit.claims.guarantees import Guarantee
from dpaudit.claims.inputs import short_repr
from dpaudit.claims.ranges import in_range
from dpaudit.errors import ParameterError


def check_seed(seed: Any) -> None:
    """Raise ParameterError where a seed is no whole number of at least 0."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ParameterError(f"seed must be a whole number of at least 0, got {short_repr(seed)}")


def check_true_or_false(**given: Any) -> None:
    """Raise ParameterError where one of the named values is neither True nor False, such as a text."""
    for name, value in given.items():
        if not isinstance(value, bool | np.bool_):
            raise ParameterError(f"{name} must be True or False, got {short_repr(value)}")


def check_delta(delta: Any) -> None:
    """Raise ParameterError where delta is not at least 0 and below 1, at which any mechanism is private."""
    if not in_range(delta, 0, 1, without=(1.0,)):
        raise ParameterError(f"delta must be at least 0 and below 1 to be audited by samples, got {short_repr(delta)}")


def check_claimed(claimed: Any) -> None:
    """Raise ParameterError where a claimed epsilon is no finite number of at least 0."""
    if not in_range(claimed, 0):
        raise ParameterError(f"claimed must be a finite number >= 0, got {short_repr(claimed)}")


def check_guarantee(guarantee: Any) -> None:
    """Raise ParameterError where something is no guarantee, such as a number."""
    if not isinstance(guarantee, Guarantee):
        raise ParameterError(f"guarantee must be one such as dpaudit.ApproximateDP(1.0), got {short_repr(guarantee)}")
