"""The vector of signs: against the definition by enumeration, both parities, both ways with ties."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2_contingency, chisquare

from dpaudit.errors import ParameterError
from dpaudit.laws import FiniteLaw, compare
from dpaudit.randomizers import HypercubeResponse
from dpaudit.randomizers.hypercube import HypercubeLaw

FALSE_ALARM = 1e-6
SEED = 20261125
CASES = list(itertools.product([1, 2, 3, 4, 5, 6, 7], [0.3, 1.0, 4.0], ["split", "both"]))


def printed_law(bits, epsilon, ties):
    """The definition: choose a half-space, then a uniform corner in it; a tie is in both, or a coin decides."""
    d = len(bits)
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    signs = np.where(bits, 1, -1)
    corners = np.array(list(itertools.product([0, 1], repeat=d)))
    products = np.where(corners, 1, -1) @ signs
    tied = np.where(products == 0, 1.0 if ties == "both" else 0.5, 0.0)
    own, other = np.where(products > 0, 1.0, tied), np.where(products < 0, 1.0, tied)
    return corners, keep * own / own.sum() + (1 - keep) * other / other.sum()


@pytest.mark.parametrize(("d", "epsilon", "ties"), CASES)
def test_law_and_scale_are_those_of_the_definition(d, epsilon, ties):
    response = HypercubeResponse(d, epsilon, ties)
    bits = np.arange(d) % 3 == 0
    corners, law = printed_law(bits, epsilon, ties)
    found = response.law(bits)
    assert isinstance(found, FiniteLaw)
    assert np.asarray(found.outcomes).tolist() == corners.tolist()
    assert np.exp(found.log_probabilities) == pytest.approx(law, rel=1e-12)
    mean = law @ np.where(corners, 1.0, -1.0)
    assert response.scale * mean == pytest.approx(np.where(bits, 1.0, -1.0), rel=1e-12)


@pytest.mark.parametrize(("d", "epsilon", "ties"), CASES)
def test_loss_by_the_number_of_differing_entries_is_the_largest_log_ratio(d, epsilon, ties):
    response = HypercubeResponse(d, epsilon, ties)
    one = printed_law(np.zeros(d, dtype=bool), epsilon, ties)[1]
    for differing in range(d + 1):
        other = printed_law(np.arange(d) < differing, epsilon, ties)[1]
        assert response.loss(differing) == pytest.approx(np.log(one / other).max(), abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_ties_in_both_half_spaces_cost_more_than_epsilon_but_not_between_opposites(epsilon):
    for d in (2, 4, 6, 190):
        printed = HypercubeResponse(d, epsilon, "both")
        losses = [printed.loss(h) for h in range(1, d + 1)]
        assert losses[:-1] == pytest.approx([math.log1p(math.exp(epsilon))] * (d - 1), rel=1e-12)
        assert losses[-1] == pytest.approx(epsilon, rel=1e-12)
        assert max(HypercubeResponse(d, epsilon).loss(h) for h in range(1, d + 1)) == pytest.approx(epsilon, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["split", "both"])
@pytest.mark.parametrize("d", [13, 14])
def test_the_closed_form_agrees_with_the_listed_law(d, ties):
    response = HypercubeResponse(d, 1.0, ties)
    rows = np.array([np.arange(d) < d // 3, np.arange(d) % 2 == 0])
    corners = np.indices((2,) * d).reshape(d, -1).T
    listed = [FiniteLaw(corners, response.log_likelihood(corners, row)) for row in rows]
    closed = [response.law(row) for row in rows]
    assert all(isinstance(law, HypercubeLaw) for law in closed)
    one, two = compare(*listed), compare(*closed)
    assert two.max_divergence() == pytest.approx(one.max_divergence(), rel=1e-12)
    for epsilon in (0.0, 0.3, 0.9):
        assert two.delta(epsilon).lower == pytest.approx(one.delta(epsilon).lower, rel=1e-9)
    event = two.worst_event(1.0, 0.0)
    assert math.log(event.p / event.q) == pytest.approx(one.max_divergence(), rel=1e-12)


@pytest.mark.parametrize("ties", ["split", "both"])
@pytest.mark.parametrize("d", [1, 3, 4, 6])
def test_sampler_follows_the_law(d, ties):
    response, count = HypercubeResponse(d, 1.0, ties), 200_000
    bits = np.arange(d) % 2 == 0
    reports = response.randomize(np.tile(bits, (count, 1)), np.random.default_rng(SEED))
    seen = np.bincount(reports @ (1 << np.arange(d)[::-1]), minlength=2**d)
    assert chisquare(seen, count * np.exp(response.law(bits).log_probabilities)).pvalue > FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["split", "both"])
@pytest.mark.parametrize("d", [9, 190])
def test_tally_has_the_mean_and_the_variance_of_the_estimate(d, ties):
    response = HypercubeResponse(d, 2.0, ties)
    bits = np.array([np.arange(d) < d // 2, np.arange(d) % 3 == 0, np.ones(d)], dtype=bool)
    counts = np.array([300, 0, 500])
    runs = 400
    rng = np.random.default_rng(SEED)
    errors = np.array([response.unbiased(response.tally(bits, counts, rng), 800) - counts @ bits for _ in range(runs)])
    deviations = errors / math.sqrt(response.variance(800))
    # A mean of 400 standardised values in each of d entries; P(|normal| > 6) < 2e-9.
    assert np.abs(deviations.mean(axis=0)).max() < 6 / math.sqrt(runs)
    assert abs((deviations**2).mean() - 1) < 6 * math.sqrt(2 / runs)


@pytest.mark.slow
def test_tally_is_the_sum_of_reports_in_any_chunks(monkeypatch):
    response = HypercubeResponse(5, 1.0)
    bits, counts = np.eye(5, dtype=bool), np.array([7, 0, 30, 13, 50])
    monkeypatch.setattr("dpaudit.randomizers.hypercube._CHUNK_CELLS", 35)
    runs = np.array([response.tally(bits, counts, np.random.default_rng(seed)) for seed in range(800)])
    mean = counts @ (0.5 + (bits - 0.5) / response.scale)
    assert np.abs(runs.mean(axis=0) - mean).max() < 6 * math.sqrt(100 / 4 / 800)
    assert response.tally(bits, 0 * counts, np.random.default_rng(0)).tolist() == [0] * 5


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["split", "both"])
@pytest.mark.parametrize("d", [3, 4])
def test_users_counted_together_have_the_law_of_users_one_by_one(d, ties):
    response, users, runs = HypercubeResponse(d, 1.0, ties), 2**d, 4000
    bits = np.arange(d)[None] % 2 == 0
    rng = np.random.default_rng(SEED)
    together = np.array([response.tally(bits, [users], rng) for _ in range(runs)])
    each = response.randomize(np.repeat(bits, users * runs, axis=0), rng).reshape(runs, users, d).sum(axis=1)
    table = np.array([[np.bincount(sums[:, j], minlength=users + 1) for j in range(d)] for sums in (together, each)])
    for j in range(d):
        kept = table[:, j].sum(axis=0) >= 20
        assert chi2_contingency(table[:, j][:, kept]).pvalue > FALSE_ALARM
    deviations = np.cov(together.T) - np.cov(each.T)
    assert np.abs(deviations).max() < 6 * users / 4 * math.sqrt(4 / runs)


def test_the_scale_at_a_large_dimension():
    """Of d fair coins |heads - tails| is about sqrt(2 d / pi)."""
    for d in (10**4, 10**6 + 1):
        limit = math.sqrt(math.pi * d / 2) / math.tanh(0.5)
        assert HypercubeResponse(d, 1.0).scale == pytest.approx(limit, rel=1 / d + 1e-9)


@pytest.mark.parametrize("d", [1000, 1001, 1999, 2000, 2001, 2002, 2003, 3000, 20_000])
def test_the_scale_on_either_side_of_the_series(d):
    exact = Fraction(math.comb(2 * (d // 2), d // 2), 4 ** (d // 2))
    assert HypercubeResponse(d, 1.0).scale * math.tanh(0.5) == pytest.approx(1 / float(exact), rel=1e-11)


@pytest.mark.parametrize("wrong", [{"dimension": 0}, {"epsilon": 0.0}, {"epsilon": math.inf}, {"ties": "none"}])
def test_wrong_values_are_refused(wrong):
    with pytest.raises(ParameterError):
        HypercubeResponse(**{"dimension": 3, "epsilon": 1.0, **wrong})


def test_bits_of_the_wrong_shape_are_refused():
    with pytest.raises(ParameterError, match="give \\(n, 3\\)"):
        HypercubeResponse(3, 1.0).randomize(np.zeros((2, 4)), np.random.default_rng(0))
