"""Mechanisms from the literature on testing differential privacy, correct and broken, with what is true of each."""

from functools import cache

from suite import local, noise, noisy_max, sparse_vector
from suite.case import Case


@cache
def cases() -> dict[str, Case]:
    """All cases by name, in the order of the table."""
    found = [*noise.cases(), *noisy_max.cases(), *sparse_vector.cases(), *local.cases()]
    return {case.name: case for case in found}
