"""What `dpaudit reproduce` measures again of Table 1: every row, by rates that can fail."""

import math
from dataclasses import replace

import pytest

import dpaudit
from dpaudit.auditors.measures.rates import audit_rate
from dpaudit.auditors.sampling.budget import Budget
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.verdicts import Verdict

GAUSSIAN = {"noise": "gaussian", "delta": 1e-5}
ROWS = [
    ("Table 1", "dp-kwiksort-capped", {}, "alabi2022.corollary6", {"agents": -1, "epsilon": -1, "alternatives": 3}),
    ("Table 1", "noisy-pairwise", {}, "alabi2022.corollary3", {"agents": -1, "epsilon": -1, "alternatives": 4}),
    (
        "Table 1", "dp-kwiksort-capped", GAUSSIAN, "alabi2022.corollary7",
        {"agents": -1, "epsilon": -1, "alternatives": 2.5, "delta": 0.5},
    ),
    (
        "Table 1", "noisy-pairwise", GAUSSIAN, "alabi2022.corollary4",
        {"agents": -1, "epsilon": -1, "alternatives": 3, "delta": 0.5},
    ),
    (
        "Table 1", "kemeny-exponential", {}, "alabi2022.kemeny-exponential",
        {"agents": -1, "epsilon": -1, "alternatives": 3},
    ),
]  # fmt: skip


def rate(target, parameters, name):
    """The claim of that id, which must be applicable."""
    (claim,) = (claim for claim in dpaudit.load(target)(**parameters).claims() if claim.id == name)
    assert not claim.inapplicable
    return claim


def verdict(claim):
    return audit_rate(claim, budget=Budget(confidence=0.999), streams=Streams(0, (claim.id,))).verdict


@pytest.mark.slow
@pytest.mark.parametrize(("table", "target", "parameters", "prefix", "exponents"), ROWS)
def test_every_row_of_the_table_has_a_rate_in_each_of_its_variables(table, target, parameters, prefix, exponents):
    for variable, exponent in exponents.items():
        claim = rate(target, parameters, f"{prefix}-rate-{variable}")
        assert (claim.reproduces, claim.exponent) == (table, exponent)
        # Where the row has a logarithm of m, so has the rate.
        logarithm = variable == "alternatives" and prefix.endswith(("6", "7", "exponential"))
        assert (claim.shape is not None) == logarithm


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS[2:4])
def test_the_error_follows_the_deviation_of_the_noise_in_delta(row):
    _, target, parameters, prefix, _ = row
    claim = rate(target, parameters, f"{prefix}-rate-delta")
    # sqrt(2 ln(1.25 / δ)) / ϵ, by which the worst margin and so the error scale.
    expected = math.sqrt((math.log(1.25) + 64) / (math.log(1.25) + 4))
    assert claim.exact(64) / claim.exact(4) == pytest.approx(expected, rel=1e-4)
    assert verdict(claim) is Verdict.CONSISTENT
    for wrong in (0.0, 1.0):
        assert verdict(replace(claim, exponent=wrong)) is Verdict.REFUTED
