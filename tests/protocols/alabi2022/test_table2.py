"""Table 2 of Alabi et al.: every entry has rates that can fail."""

import math

import numpy as np
import pytest

from dpaudit.catalog.alabi2022 import LDPKwikSortInteractive, LocalPairwise

ROWS = [
    (LocalPairwise, "alabi2022.corollary9", {"agents": -0.5, "epsilon": -1, "alternatives": 3}),
    (LDPKwikSortInteractive, "alabi2022.corollary12", {"agents": -0.5, "budget": -1, "alternatives": 2.5}),
]


def rate(system, name):
    """Return the claim of that id, which must be applicable."""
    (claim,) = (claim for claim in system.claims() if claim.id == name)
    assert not claim.inapplicable
    return claim


@pytest.mark.parametrize(("target", "prefix", "exponents"), ROWS)
def test_every_row_has_a_rate_in_each_of_its_variables(target, prefix, exponents):
    for variable, exponent in exponents.items():
        claim = rate(target(), f"{prefix}-rate-{variable}")
        assert (claim.reproduces, claim.exponent) == ("Table 2", exponent)
        # Where the row has a logarithm of m, so has the rate.
        assert (claim.shape is not None) == (variable == "alternatives" and prefix.endswith("12"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("system", "name"),
    [
        (LocalPairwise(alternatives=4, agents=10**6), "alabi2022.corollary9-rate-epsilon"),
        (LDPKwikSortInteractive(alternatives=4, agents=9 * 10**8), "alabi2022.corollary12-rate-budget"),
    ],
)
def test_the_error_doubles_where_the_budget_is_halved(system, name):
    claim = rate(system, name)
    runs = 4000
    half, full = (claim.measure(epsilon, runs, np.random.default_rng(1)) for epsilon in (0.125, 0.25))
    deviation = math.hypot(half.std() / half.mean(), full.std() / full.mean()) / math.sqrt(runs)
    # 1 / tanh(ϵ/2) doubles up to 1.2 %; five deviations are a false alarm of 6e-7.
    assert abs(math.log(half.mean() / full.mean() / 2)) < 5 * deviation + 0.012 < 0.2
