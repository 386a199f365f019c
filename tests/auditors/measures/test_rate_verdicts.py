"""Verdicts of the rate auditor on quantities whose growth is known."""

import json
import math

import numpy as np
import pytest
from scipy.stats import binom

import dpaudit
from dpaudit.auditors import Budget, Streams
from dpaudit.auditors.measures.rates import audit_rate

POINTS = (5, 8, 13, 20, 32, 50)
WIDE = tuple(np.geomspace(100, 100_000, 7))
FALSE_ALARM = 1e-6


def decide(*, runs=None, seed=1, confidence=0.999, **fields):
    fields = {"id": "r", "statement": "", "variable": "m", "points": POINTS, **fields}
    return audit_rate(
        dpaudit.RateClaim(**fields), budget=Budget(samples=runs, confidence=confidence), streams=Streams(seed)
    )


@pytest.mark.parametrize(
    ("grows", "claimed", "shape", "direction", "verdict"),
    [
        (lambda m: m**3, 3, None, "at-most", "consistent"),
        (lambda m: m**3, 3, None, "equal", "consistent"),
        (lambda m: m**3, 2.5, None, "at-most", "refuted"),
        (lambda m: m**3, 4, None, "at-most", "consistent"),
        (lambda m: m**3, 4, None, "equal", "refuted"),
        # The exponent of small m is 2 + 1 / (m - 1), above 2 by more than the resolution at first.
        (lambda m: m * (m - 1) / 2, 2, None, "at-most", "consistent"),
        (lambda m: math.comb(m, 2) ** 2, 4, None, "equal", "consistent"),
        (lambda m: m**2.5 * math.log(m), 2.5, math.log, "equal", "consistent"),
        # Its local exponent is 2.5 + 1 / ln m, so above 2.75 up to m = 50.
        (lambda m: m**2.5 * math.log(m), 2.5, None, "at-most", "refuted"),
        (lambda m: m**-0.5 + 1, -0.5, None, "at-most", "refuted"),
        (lambda m: 1 / m, 1, None, "equal", "refuted"),
    ],
)
def test_exact_values(grows, claimed, shape, direction, verdict):
    evidence = decide(exact=grows, exponent=claimed, shape=shape, direction=direction)
    assert evidence.verdict == verdict
    assert evidence.growth.points == POINTS
    assert evidence.growth.values == tuple(map(grows, POINTS))
    assert evidence.growth.shape == tuple((shape or (lambda m: 1))(m) for m in POINTS)
    assert (evidence.witness is not None) == (verdict == "refuted")
    if evidence.witness:
        assert evidence.witness.claimed == claimed
        assert evidence.witness.instance["m"] == list(POINTS)


def noisy(exponent, spread):
    return lambda point, runs, rng: point**exponent * rng.exponential(1, runs) ** spread


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claimed", "direction", "verdict"),
    [
        (-0.5, "equal", "consistent"),
        (-1.0, "at-most", "refuted"),
        (-1.0, "equal", "refuted"),
        (0.5, "equal", "refuted"),
    ],
)
def test_measured_values(claimed, direction, verdict):
    evidence = decide(
        points=WIDE, measure=noisy(-0.5, 1), exponent=claimed, direction=direction, runs=20_000, confidence=1 - 1e-6
    )
    assert evidence.verdict == verdict
    assert evidence.samples == 20_000 * len(WIDE)
    assert evidence.method == "simulation, fitted exponents"


def test_too_few_runs_are_inconclusive():
    evidence = decide(measure=noisy(2, 3), exponent=2, runs=40)
    assert evidence.verdict == "inconclusive"
    assert "raise --samples" in evidence.note


def test_a_mean_of_zero_is_inconclusive():
    evidence = decide(measure=lambda m, runs, rng: (rng.random(runs) < 1e-3) * m, exponent=2, runs=60)
    assert evidence.verdict == "inconclusive"
    assert "averages 0" in evidence.note


@pytest.mark.slow
def test_false_refutations_stay_below_the_stated_rate():
    repeats, alpha = 200, 0.2
    verdicts = [
        decide(points=WIDE, measure=noisy(1, 1), exponent=1 - 0.125, runs=200, seed=seed, confidence=1 - alpha).verdict
        for seed in range(repeats)
    ]
    # The claimed exponent is off by exactly what is not held against a claim.
    assert verdicts.count("refuted") <= binom.isf(FALSE_ALARM, repeats, alpha)


def test_runs_are_divided_into_equal_parts():
    asked = []

    def measure(point, runs, rng):
        asked.append(runs)
        return np.ones(runs)

    assert decide(measure=measure, exponent=0, runs=41).samples == 6 * 60
    assert asked == [60] * 6


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"exact": lambda m: 0.0}, "`exact` gives 0 at m = 5"),
        ({"exact": lambda m: math.nan}, "`exact` gives nan at m = 5"),
        ({"exact": lambda m: 1.0, "shape": lambda m: -1}, "`shape` gives -1 at m = 5"),
        ({"measure": lambda m, runs, rng: -np.ones(runs)}, "`measure` gives -1 on average"),
        ({"measure": lambda m, runs, rng: np.zeros(3)}, r"returned shape \(3,\)"),
        ({"measure": lambda m, runs, rng: np.full(runs, "a")}, "one real number per run"),
    ],
)
def test_unusable_values_are_named(fields, named):
    with pytest.raises(dpaudit.CheckError, match=named):
        decide(exponent=0, **fields)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"points": (1, 2, 3)}, "at least 6 ascending"),
        ({"points": (6, 5, 4, 3, 2, 1)}, "ascending"),
        ({"points": (0, 1, 2, 3, 4, 5)}, "above 0"),
        ({"exponent": math.nan}, "exponent"),
        ({"resolution": 0}, "resolution"),
        ({"exact": None}, "`exact` or `measure`"),
        ({"measure": noisy(1, 1)}, "`exact` or `measure`"),
    ],
)
def test_unusable_claims_are_refused(fields, named):
    with pytest.raises(dpaudit.ParameterError, match=named):
        dpaudit.RateClaim(**{"id": "r", "statement": "", "variable": "m", "points": POINTS, "exponent": 1.0,
                             "exact": float, **fields})  # fmt: skip


def test_a_rate_goes_from_claim_to_record():
    class Grower(dpaudit.Mechanism):
        """Grows."""

        power: float = 2.0

        def claims(self):
            return [
                dpaudit.RateClaim(
                    id="grows", statement="grows like m^2", variable="m", points=POINTS, exponent=2.0,
                    exact=lambda m: m**self.power, quantity="size",
                )
            ]  # fmt: skip

    true, false = (dpaudit.check(Grower(power=power)) for power in (2.0, 3.0))
    assert true.results[0].verdict == "consistent"
    assert true.results[0].claimed == {"exponent_at_most": 2.0}
    assert false.results[0].kind == "rate"
    assert false.results[0].verdict == "refuted"
    assert json.loads(false.to_json())["results"][0]["witness"]["measured"] == pytest.approx(3)


def test_the_note_says_which_sides_were_tested():
    def note(direction):
        return decide(exact=lambda m: m**2 + m, exponent=2, direction=direction).note

    assert note("at-most").startswith("an exponent above ")
    assert " and below " not in note("at-most")
    assert " and below 1.96 are excluded over this range" in note("equal")
    for direction in ("at-most", "equal"):
        assert note(direction).endswith("exponents are told apart where they differ by 0.25")
