"""Bets against a guarantee: fair where it holds, and gaining as fast as can be where it does not."""

import math
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import ndtr, ndtri, rel_entr

import dpaudit
from dpaudit.statistics import PairHits, best_bets, joint_bets, lines_above


@dataclass(frozen=True, slots=True)
class GaussianDP(dpaudit.Guarantee):
    """mu-Gaussian differential privacy, whose boundary is a curve."""

    kind: ClassVar[str] = "gaussian-dp"
    forced: ClassVar[str] = "mu"

    mu: float

    def most(self, q):
        return float(ndtr(ndtri(q) + self.mu))

    def forces(self, p, q):
        return np.where(p > q, ndtri(p) - ndtri(q), 0.0)[()]

    def measure(self, comparison):
        return None

    def worst_event(self, comparison, *, frequent=False):
        return comparison.worst_event(0.0, 1e-300)


@dataclass(frozen=True, slots=True)
class Steps(GaussianDP):
    """A guarantee that is neither convex nor continuous, as anyone may write one."""

    def most(self, q):
        return min(1.0, math.ceil(q * 4) / 4 + 0.1)


GUARANTEES = [
    dpaudit.ApproximateDP(0.0),
    dpaudit.ApproximateDP(1.0),
    dpaudit.ApproximateDP(1.0, 0.1),
    dpaudit.ApproximateDP(4.0, 1e-5),
    GaussianDP(1.0),
    GaussianDP(0.1),
    Steps(1.0),
]
POINTS = np.r_[0.0, 1e-9, 1e-4, np.linspace(0.001, 0.999, 60), 1.0]
PROBABILITIES = [(0.9, 0.1), (0.5, 0.02), (0.99, 0.9), (0.02, 0.001), (0.9999, 1e-6), (0.3, 0.29)]


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=str)
def test_no_allowed_pair_lies_above_a_line(guarantee):
    for slope, intercept in lines_above(guarantee):
        assert all(guarantee.most(q) <= slope * q + intercept + 1e-12 for q in POINTS)


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=str)
def test_a_bet_does_not_gain_where_the_guarantee_holds(guarantee):
    p, q = np.array(PROBABILITIES).T
    for bet in best_bets(lines_above(guarantee), p, q)[1]:
        for part in (1.0, 0.3):
            scaled = bet.scaled(part)
            factors = {
                hits: math.exp(scaled.log_gain(PairHits(hits), 1)) for hits in product((0, 1), repeat=2)
            }  # of the output on the likelier input and of that on the other
            for at_q in POINTS:
                for at_p in (guarantee.most(at_q), guarantee.most(at_q) / 2):
                    mean = sum(
                        factor * (at_p if hits[0] else 1 - at_p) * (at_q if hits[1] else 1 - at_q)
                        for hits, factor in factors.items()
                    )
                    assert mean <= 1 + 1e-9


@pytest.mark.parametrize("guarantee", GUARANTEES[:4], ids=str)
def test_no_bet_gains_faster_than_the_distance_from_the_guarantee(guarantee):
    """The most that can be gained is the least relative entropy from what the guarantee allows."""

    def distance(p, q, other_p, other_q):
        pairs = [(p, other_p), (1 - p, 1 - other_p), (q, other_q), (1 - q, 1 - other_q)]
        return sum(rel_entr(a, b) for a, b in pairs)

    found = 0
    for p, q in PROBABILITIES:
        growth = float(best_bets(lines_above(guarantee), [p], [q])[0][0])
        if p <= guarantee.most(q):
            assert growth == 0
            continue
        least = minimize_scalar(
            lambda at, p=p, q=q: distance(p, q, min(guarantee.most(at), 1 - 1e-12), at),
            bounds=(q, 0.999),
            method="bounded",
            options={"xatol": 1e-12},
        ).fun
        assert growth <= least + 1e-9
        # A stake is kept back, which counts only where a single output may be decisive.
        assert growth >= (0.9 if p < 0.999 else 0.5) * least
        found += 1
    assert found >= 1


def test_a_curve_is_bet_against_nearly_as_well():
    guarantee = GaussianDP(1.0)
    growth = best_bets(lines_above(guarantee), [ndtr(1.0)], [ndtr(-1.0)])[0][0]
    best = best_bets(lines_above(dpaudit.ApproximateDP(*tangent(guarantee, 0.25))), [ndtr(1.0)], [ndtr(-1.0)])[0][0]
    assert growth >= 0.9 * best > 0


def tangent(guarantee, q):
    slope = (guarantee.most(q + 1e-6) - guarantee.most(q - 1e-6)) / 2e-6
    return math.log(slope), guarantee.most(q) - slope * q


def test_counts_of_several_trials_multiply():
    (bet,) = best_bets(lines_above(dpaudit.ApproximateDP(1.0)), [0.9], [0.1])[1]
    single = {hits: bet.log_gain(PairHits(hits), 1) for hits in product((0, 1), repeat=2)}
    assert bet.log_gain(PairHits((2, 1)), 3) == pytest.approx(single[1, 0] + single[1, 1] + single[0, 0])
    assert bet.log_gain(PairHits((0, 0)), 0) == 0


# Of the event on both inputs, and of the opposite event on both, each on its likelier input first.
TWO_EVENTS = [
    ((0.5, 0.07), (0.5, 0.07)),
    ((0.3, 0.02), (0.2, 0.01)),
    ((0.9, 0.05), (0.6, 0.08)),
    ((0.4, 0.1), (0.02, 0.001)),
    ((0.45, 1e-4), (0.4, 1e-4)),
]


def arrays(pairs):
    return tuple(np.array(pairs).transpose(1, 2, 0))


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=str)
def test_a_bet_on_two_events_does_not_gain_where_the_guarantee_holds(guarantee):
    rng = np.random.default_rng(0)
    for bet in joint_bets(lines_above(guarantee), *arrays(TWO_EVENTS))[1]:
        # On either input: in the event, in the opposite one, in neither.
        factors = np.array(
            [
                [math.exp(bet.log_gain(PairHits((x == 0, y == 0), (x == 1, y == 1)), 1)) for y in range(3)]
                for x in range(3)
            ]
        )
        for _ in range(300):
            x, y = rng.dirichlet([0.5, 0.5, 0.5], size=2)
            # On the edge of what is allowed, where there is room for it.
            x = np.array([min(guarantee.most(y[0]), 1 - x[1]), x[1], 0.0])
            y = np.array([y[0], min(guarantee.most(x[1]), 1 - y[0]), 0.0])
            x[2], y[2] = 1 - x.sum(), 1 - y.sum()
            assert x @ factors @ y <= 1 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("guarantee", GUARANTEES[:4], ids=str)
def test_bets_on_two_events_gain_as_fast_as_their_distance_from_the_guarantee(guarantee):
    """That distance is found by a general method, with the guarantee of both events as its constraints."""
    slope, intercept = lines_above(guarantee)[0]
    found = 0
    growth, bets = joint_bets(lines_above(guarantee), *arrays(TWO_EVENTS))
    for ((p, q), (u, v)), reached, bet in zip(TWO_EVENTS, growth, bets, strict=True):
        seen = np.array([p, v, 1 - p - v, q, u, 1 - q - u])
        limits = [
            {"type": "eq", "fun": lambda at: at[:3].sum() - 1},
            {"type": "eq", "fun": lambda at: at[3:].sum() - 1},
            {"type": "ineq", "fun": lambda at: slope * at[3] + intercept - at[0]},
            {"type": "ineq", "fun": lambda at: slope * at[1] + intercept - at[4]},
        ]
        least = minimize(
            lambda at, seen=seen: rel_entr(seen, at).sum() + at.sum() - seen.sum(),
            np.full(6, 1 / 3),
            bounds=[(1e-9, 1)] * 6,
            constraints=limits,
            options={"ftol": 1e-14, "maxiter": 1000},
        )
        assert least.success
        assert reached <= least.fun + 1e-6
        assert reached >= 0.9 * least.fun - 1e-9
        alone = [float(best_bets(lines_above(guarantee), [p], [q])[0][0]) for p, q in ((p, q), (u, v))]
        assert reached >= max(alone)
        found += min(alone) > 0 and reached > 1.2 * max(alone)
        # What it gains on average is what its factors say.
        outcomes = [(PairHits((1, 0), (0, 0)), p), (PairHits((0, 0), (1, 0)), v)]
        mean = sum(part * (bet.log_gain(hits, 1) - bet.log_gain(PairHits((0, 0)), 1)) for hits, part in outcomes)
        outcomes = [(PairHits((0, 1), (0, 0)), q), (PairHits((0, 0), (0, 1)), u)]
        mean += sum(part * (bet.log_gain(hits, 1) - bet.log_gain(PairHits((0, 0)), 1)) for hits, part in outcomes)
        assert mean + bet.log_gain(PairHits((0, 0)), 1) == pytest.approx(reached, abs=1e-12)
    assert found >= 1


def test_of_two_events_only_the_one_that_breaks_the_guarantee_is_bet_on():
    lines = lines_above(dpaudit.ApproximateDP(1.0))
    growth, (first, second, neither) = joint_bets(
        lines,
        (np.array([0.5, 0.2, 0.2]), np.array([0.05, 0.1, 0.1])),
        (np.array([0.3, 0.5, 0.3]), np.array([0.2, 0.05, 0.2])),
    )
    assert growth[0] == growth[1] == best_bets(lines, [0.5], [0.05])[0][0] > 0 == growth[2]
    assert (first.opposite_stake, second.stake) == (0.0, 0.0)
    assert first.stake == second.opposite_stake > 0
    assert neither.log_gain(PairHits((3, 1), (2, 2)), 9) == 0


@pytest.mark.parametrize("epsilon", [0.0, 30.0, 300.0, 700.0])
def test_bets_on_rare_events_against_any_claim_are_numbers(epsilon):
    rng = np.random.default_rng(3)
    q, v = 10 ** rng.uniform(-9, -1, (2, 200))
    p, u = rng.uniform(0.01, 0.99, (2, 200)) * (1 - np.array([v, q]))
    growth, bets = joint_bets(lines_above(dpaudit.ApproximateDP(epsilon)), (p, q), (u, v))
    assert np.isfinite(growth).all()
    assert (growth >= 0).all()
    for bet in bets:
        for x, y in product(range(3), repeat=2):
            assert math.isfinite(bet.log_gain(PairHits((x == 0, y == 0), (x == 1, y == 1)), 1))
