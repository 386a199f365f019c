"""The privacy profile of shuffled randomized response on all inputs, by convolution of binomials."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

import dpaudit
from dpaudit.auditors import Budget, Streams, audit

TARGET = dpaudit.load("shuffled-response-all-inputs")
USERS, EPSILON = 12, 1.5


def ones(zeros, with_one):
    """Law of the number of reports that are 1."""
    keep = 1 / (1 + math.exp(-EPSILON))
    parts = (binom.pmf(np.arange(n + 1), n, p) for n, p in ((zeros, 1 - keep), (with_one, keep)))
    return np.convolve(next(parts), next(parts))


def exact_delta(epsilon):
    """Largest δ over all inputs with one user changed, in both directions."""
    laws = [ones(USERS - k, k) for k in range(USERS + 1)]
    pairs = [each for p, q in itertools.pairwise(laws) for each in ((p, q), (q, p))]
    return max(float(np.maximum(p - math.exp(epsilon) * q, 0).sum()) for p, q in pairs)


def decide(points=None):
    target = TARGET(epsilon=EPSILON, users=USERS)
    (claim,) = target.claims()
    if points is not None:
        claim = replace(claim, guarantee=dpaudit.PrivacyProfile(points))
    return claim, audit(target, claim, budget=Budget(), streams=Streams(0))


@pytest.mark.slow
def test_the_blanket_has_room_at_every_point():
    claim, evidence = decide()
    assert evidence.verdict == "proved"
    assert [epsilon / EPSILON for epsilon, _ in claim.guarantee.points] == [1 / 8, 1 / 4, 1 / 2, 3 / 4]
    for epsilon, delta in claim.guarantee.points:
        assert exact_delta(epsilon) < delta < 5 * exact_delta(epsilon) + 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("least", [0, 3])
def test_the_exact_profile_is_met_and_one_point_below_it_is_refuted(least):
    claim, _ = decide()
    exact = [(epsilon, exact_delta(epsilon)) for epsilon, _ in claim.guarantee.points]
    assert decide([(epsilon, delta * (1 + 1e-9)) for epsilon, delta in exact])[1].verdict == "proved"
    exact[least] = (exact[least][0], 0.999 * exact[least][1])
    assert decide(exact)[1].verdict == "refuted"
