"""What the claims about both reductions of the central model share."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar

import numpy as np

import dpaudit

from ..central import Central
from ..central_errors import cost_range, costs, exact_cost, instance_profile, optimum
from ..paper import PAPER, RESULTS

TABLE_1 = PAPER.at(section=RESULTS, table=1)

LAPLACE: Mapping[str, Any] = {"noise": "laplace", "delta": 0.0}
GAUSSIAN: Mapping[str, Any] = {"noise": "gaussian", "delta": 1e-5}

AGENTS = [10.0**k for k in range(3, 9)]
EPSILONS = [2.0**k for k in range(-4, 5)]
LOG_INVERSE_DELTAS = (4, 8, 16, 32, 64, 128)
"""Values of log(1/δ) for rates in it: δ from 0.018 to 3e-56."""

S = TypeVar("S", bound=Central)
C = TypeVar("C", bound=dpaudit.Claim)


def about(values: Mapping[str, Any]) -> Callable[[Callable[[S], C]], Callable[[S], C]]:
    """Say which noise, or which budget, a claim is about: at any other it is inapplicable."""
    name, value = next(iter(values.items()))

    def decorate(bind: Callable[[S], C]) -> Callable[[S], C]:
        @wraps(bind)
        def bound(system: S) -> C:
            if getattr(system, name) == value:
                return bind(system)
            return replace(bind(system.but(**values)), inapplicable=f"it is about {name} = {value}")

        return bound

    return decorate


def expected_cost(system: Central, alpha: float, beta: float, inapplicable: str = "") -> dpaudit.UtilityClaim:
    """E[K(σ, Π)] <= alpha OPT(Π) + beta on the system's instance."""
    profile = instance_profile(system)
    least = optimum(system, profile)

    def measure(runs: int, rng: np.random.Generator) -> Mapping[str, np.ndarray]:
        cost = costs(system.sample(profile, runs, rng), profile)
        return {"value": cost, "additive error for ratio one": cost - least}

    return dpaudit.UtilityClaim(
        bound=alpha * least + beta,
        exact=exact_cost(system, profile),
        measure=measure,
        support=cost_range(system, least),
        beside_support=(-1e-9, system.pairs - 2 * least + 1e-9),
        trivial=system.pairs / 2,
        trivial_reason="a ranking drawn at random costs C(m, 2)/2 on every profile",
        quantity="expected average Kendall tau distance K(σ, Π)",
        scope=(
            f"{system.instance} profile of {system.agents} agents over {system.alternatives} alternatives, OPT = "
            f"{least:.6g}; bound {alpha:.6g} OPT + {beta:.6g}"
        ),
        inapplicable=inapplicable,
    )


def varied(system: S, variable: str, point: float) -> S:
    """Return the system at a point of a rate in its agents, its budget or log(1/δ)."""
    if variable == "log(1/δ)":
        return system.but(delta=math.exp(-point))
    return system.but(**{variable: round(point) if variable == "agents" else point})
