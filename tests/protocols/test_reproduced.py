"""What `dpaudit reproduce` measures again of tables and figures: every entry, by rates that can fail."""

import math

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.budget import Budget
from dpaudit.auditors.rates import audit_rate
from dpaudit.auditors.streams import Streams

pytestmark = pytest.mark.slow

ROWS = [
    ("Table 2", "local-pairwise", {}, "alabi2022.corollary9", {"agents": -0.5, "epsilon": -1, "alternatives": 3}),
    (
        "Table 2", "ldp-kwiksort-interactive", {}, "alabi2022.corollary12",
        {"agents": -0.5, "budget": -1, "alternatives": 2.5},
    ),
]  # fmt: skip


def rate(target, parameters, name):
    """The claim of that id, which must be applicable."""
    (claim,) = (claim for claim in dpaudit.load(target)(**parameters).claims() if claim.id == name)
    assert not claim.inapplicable
    return claim


def verdict(claim):
    return audit_rate(claim, budget=Budget(confidence=0.999), streams=Streams(0, (claim.id,))).verdict


@pytest.mark.parametrize(("table", "target", "parameters", "prefix", "exponents"), ROWS)
def test_every_row_of_the_tables_has_a_rate_in_each_of_its_variables(table, target, parameters, prefix, exponents):
    for variable, exponent in exponents.items():
        claim = rate(target, parameters, f"{prefix}-rate-{variable}")
        assert (claim.reproduces, claim.exponent) == (table, exponent)
        # Where the row has a logarithm of m, so has the rate.
        logarithm = variable == "alternatives" and prefix.endswith("12")
        assert (claim.shape is not None) == logarithm


@pytest.mark.parametrize(
    ("target", "parameters", "name"),
    [
        ("local-pairwise", {"alternatives": 4, "agents": 10**6}, "alabi2022.corollary9-rate-epsilon"),
        (
            "ldp-kwiksort-interactive",
            {"alternatives": 4, "agents": 9 * 10**8},
            "alabi2022.corollary12-rate-budget",
        ),
    ],
)
def test_the_local_error_doubles_where_the_budget_is_halved(target, parameters, name):
    claim = rate(target, parameters, name)
    runs = 4000
    half, full = (claim.measure(epsilon, runs, np.random.default_rng(1)) for epsilon in (0.125, 0.25))
    deviation = math.hypot(half.std() / half.mean(), full.std() / full.mean()) / math.sqrt(runs)
    # 1 / tanh(ϵ/2) doubles up to 1.2 %; five deviations are a false alarm of 6e-7.
    assert abs(math.log(half.mean() / full.mean() / 2)) < 5 * deviation + 0.012 < 0.2


