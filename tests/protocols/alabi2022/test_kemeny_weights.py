"""Kemeny rankings of real-valued weights, and the law of three noisy ones: against enumeration, integrals, runs."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chisquare

from dpaudit.catalog.alabi2022.kemeny_law import noisy_kemeny_law
from dpaudit.catalog.alabi2022.kemeny_weights import kemeny_rankings, kemeny_weighted, weighted_cost
from dpaudit.errors import DataError, ParameterError
from dpaudit.randomizers import GaussianNoise, LaplaceNoise
from dpaudit.rankings import all_rankings, kemeny, ranking_index

FALSE_ALARM = 1e-6
SEED = 20261121


def tables(m, runs, rng):
    table = np.zeros((runs, m, m))
    i, j = np.triu_indices(m, k=1)
    table[:, i, j] = rng.random((runs, len(i)))
    table[:, j, i] = 1 - table[:, i, j]
    return table


def brute_cost(order, table):
    return sum(table[later, earlier] for earlier, later in itertools.combinations(order, 2))


@pytest.mark.parametrize("m", [1, 2, 3, 4, 6])
def test_batches_against_all_rankings(m):
    rng = np.random.default_rng(SEED)
    table = tables(m, 20, rng)
    for order, one in zip(kemeny_rankings(table, rng), table, strict=True):
        best = min(brute_cost(r, one) for r in itertools.permutations(range(m)))
        assert brute_cost(order, one) == pytest.approx(best, abs=1e-12)
        assert weighted_cost(order, one) == pytest.approx(best, abs=1e-12)
        assert kemeny_weighted(one, method="dp").cost == pytest.approx(best, abs=1e-12)


def test_integer_programme_certifies_its_gap():
    one = tables(9, 1, np.random.default_rng(SEED))[0]
    best = kemeny_weighted(one, method="dp")
    exact, rough = kemeny_weighted(one, method="milp"), kemeny_weighted(one, method="milp", gap=0.3)
    assert exact.cost == pytest.approx(best.cost, rel=1e-9)
    assert exact.ratio == pytest.approx(1, abs=1e-6)
    assert best.ratio == 1
    assert rough.lower_bound <= best.cost <= rough.cost
    assert rough.ratio <= 1 / 0.7 + 1e-9


def test_integer_weights_agree_with_counts():
    upper = np.triu(np.random.default_rng(SEED).integers(0, 8, (7, 7)), 1)
    counts = upper + np.triu(7 - upper, 1).T
    assert kemeny_weighted(counts).cost == kemeny(counts).cost


def test_ties_do_not_follow_the_labels():
    cycle = np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]])
    orders = kemeny_rankings(np.tile(cycle, (30_000, 1, 1)), np.random.default_rng(SEED))
    counts = np.bincount(ranking_index(orders), minlength=6)
    best = [weighted_cost(order, cycle) == 1 for order in all_rankings(3)]
    assert counts[~np.array(best)].sum() == 0
    assert chisquare(counts[best]).pvalue > FALSE_ALARM


def test_no_weights_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(DataError, match="clip noisy weights"):
        kemeny_weighted([[0, -0.1], [1.1, 0]])
    with pytest.raises(DataError, match="diagonal"):
        kemeny_weighted([[1, 0.5], [0.5, 0]])
    with pytest.raises(DataError, match="call kemeny_rankings"):
        kemeny_weighted(np.zeros((2, 3, 3)))
    with pytest.raises(DataError, match=r"\(B, m, m\)"):
        kemeny_rankings(np.zeros((3, 3)), rng)
    with pytest.raises(DataError, match="give numbers"):
        kemeny_weighted([["a"]])
    with pytest.raises(ParameterError, match="gap"):
        kemeny_weighted(np.zeros((2, 2)), gap=1.0)
    with pytest.raises(ParameterError, match="method"):
        kemeny_weighted(np.zeros((2, 2)), method="guess")
    with pytest.raises(ParameterError, match="at most 14"):
        kemeny_weighted(np.zeros((15, 15)), method="dp")


MARGINS = [(0.5, 0.5, 0.5), (0.1, -0.2, 0.3), (0.5, -0.5, 0.5)]


@pytest.mark.parametrize("noise", [LaplaceNoise(0.3), GaussianNoise(0.2)], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("margins", MARGINS)
def test_law_of_three_against_integrals(noise, margins):
    """Every ranking: its transitive orthant, and the cycles in which its worst pair is the weakest, by quad."""
    law = noisy_kemeny_law(margins, log_below=noise.log_below, log_density=noise.log_density, scale=noise.scale)
    assert law.sum() == pytest.approx(1, abs=1e-12)

    def above(level, centre):
        return float(np.exp(noise.log_below(centre - level)))

    expected = []
    for order in itertools.permutations(range(3)):
        sign = [1 if order.index(i) < order.index(j) else -1 for i, j in ((0, 1), (0, 2), (1, 2))]
        chance = math.prod(above(0, s * x) for s, x in zip(sign, margins, strict=True))
        for cycle in ((1, -1, 1), (-1, 1, -1)):
            flipped = [e for e in range(3) if sign[e] != cycle[e]]
            if len(flipped) == 1:
                own = cycle[flipped[0]] * margins[flipped[0]]
                rest = [cycle[e] * margins[e] for e in range(3) if e != flipped[0]]
                chance += quad(
                    lambda t, own=own, rest=rest: (
                        float(np.exp(noise.log_density(t - own))) * above(t, rest[0]) * above(t, rest[1])
                    ),
                    0,
                    0.5,
                    points=sorted({x for x in (own, *rest) if 0 < x < 0.5}) or None,
                    epsabs=1e-13,
                )[0]
                chance += math.prod(above(0.5, c * x) for c, x in zip(cycle, margins, strict=True)) / 3
        expected.append(chance)
    assert law == pytest.approx(expected, rel=1e-9)


def test_law_of_three_against_runs():
    noise, margins, runs = LaplaceNoise(0.4), np.array([0.1, -0.2, 0.3]), 100_000
    rng = np.random.default_rng(SEED)
    weights = np.clip(0.5 + noise.randomize(np.tile(margins, (runs, 1)), rng), 0, 1)
    table = np.zeros((runs, 3, 3))
    for column, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
        table[:, i, j], table[:, j, i] = weights[:, column], 1 - weights[:, column]
    counts = np.bincount(ranking_index(kemeny_rankings(table, rng)), minlength=6)
    law = noisy_kemeny_law(margins, log_below=noise.log_below, log_density=noise.log_density, scale=0.4)
    assert chisquare(counts, law * runs).pvalue > FALSE_ALARM
    halved = LaplaceNoise(0.2)
    wrong = noisy_kemeny_law(margins, log_below=halved.log_below, log_density=halved.log_density, scale=0.2)
    assert chisquare(counts, wrong * runs).pvalue < FALSE_ALARM


def test_law_of_three_refuses():
    noise = LaplaceNoise(1.0)
    for margins, scale in (([0.1, 0.2], 1.0), ([0.1, 0.2, 0.7], 1.0), ([0.1, 0.2, 0.3], 0.0)):
        with pytest.raises(ParameterError):
            noisy_kemeny_law(margins, log_below=noise.log_below, log_density=noise.log_density, scale=scale)
