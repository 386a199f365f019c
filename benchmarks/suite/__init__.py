"""Mechanisms, correct and broken, with what is true of each.

The first suite is from the literature on testing differential privacy. The second and the held-out one cover outputs of
other kinds, by different mechanisms each; results on the held-out one must never decide how the auditor is built.
"""

from functools import cache

from suite import heldout, local, noise, noisy_max, second, sparse_vector
from suite.case import Case
from suite.exact import RatioCase

SUITES = {
    "first": (noise, noisy_max, sparse_vector, local),
    "second": (second,),
    "held-out": (heldout,),
}


@cache
def cases(suite: str = "first") -> dict[str, Case | RatioCase]:
    """All cases of a suite by name, in the order of the table."""
    return {case.name: case for module in SUITES[suite] for case in module.cases()}


def case_named(name: str) -> Case | RatioCase:
    """The case of that name, of any suite: no two have the same."""
    return next(cases(suite)[name] for suite in SUITES if name in cases(suite))
