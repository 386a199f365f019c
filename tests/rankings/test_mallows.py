from math import exp, inf, log

import numpy as np
import pytest
from scipy.stats import chi2

from dpaudit.errors import DataError, ParameterError
from dpaudit.rankings import Mallows, all_rankings, kendall_tau, pairwise_counts, ranking_index
from dpaudit.rankings import orders as orders_module

PHIS = [0.0, 1e-9, 0.3, 0.9, 1 - 1e-12, 1.0]
CENTRE = np.array([3, 0, 4, 1, 2])


@pytest.mark.parametrize("phi", PHIS)
def test_pmf_is_phi_to_the_distance_normalised(phi):
    rankings = all_rankings(5)
    weights = np.power(phi, kendall_tau(rankings, CENTRE))
    found = np.exp(Mallows(CENTRE, phi).log_pmf(rankings))
    np.testing.assert_allclose(found, weights / weights.sum(), rtol=1e-12)
    assert found.sum() == pytest.approx(1, rel=1e-12)


def test_ratio_of_adjacent_rankings_is_phi():
    model = Mallows(CENTRE, 0.3)
    swapped = CENTRE[[1, 0, 2, 3, 4]]
    assert model.log_pmf(swapped) - model.log_pmf(CENTRE) == pytest.approx(log(0.3))


def test_point_mass_and_shapes():
    model = Mallows(CENTRE, 0)
    assert model.log_pmf(CENTRE).shape == ()
    assert model.log_pmf([CENTRE, CENTRE[::-1]]).tolist() == [0.0, -inf]
    assert (model.sample(50, np.random.default_rng(0)) == CENTRE).all()


@pytest.mark.parametrize("phi", [0.25, 0.8, 1.0])
def test_sampler_against_pmf(phi):
    centre = np.array([2, 0, 3, 1])
    model = Mallows(centre, phi)
    size = 60_000
    seen = np.bincount(ranking_index(model.sample(size, np.random.default_rng(13))), minlength=24)
    expected = np.exp(model.log_pmf(all_rankings(4))) * size
    assert expected.min() > 5
    assert ((seen - expected) ** 2 / expected).sum() < chi2.isf(1e-6, 23)


@pytest.mark.parametrize("phi", PHIS)
def test_pairwise_probability_against_enumeration(phi):
    model = Mallows(CENTRE, phi)
    rankings = all_rankings(5)
    law = np.exp(model.log_pmf(rankings))
    places = np.argsort(rankings, axis=1)
    expected = np.einsum("r,rjl->jl", law, places[:, :, None] < places[:, None, :])
    found = model.pairwise_probability()
    np.testing.assert_allclose(found, expected, rtol=1e-11)
    np.testing.assert_allclose(found + found.T, 1 - np.eye(5), rtol=1e-14)


def test_pairwise_probability_is_mallows_closed_form():
    phi = 0.6
    found = Mallows(np.arange(12), phi).pairwise_probability()
    for d in range(1, 12):
        assert found[0, d] == pytest.approx((d + 1) / (1 - phi ** (d + 1)) - d / (1 - phi**d), rel=1e-12)
    assert Mallows(np.array([1, 0]), 0.25).pairwise_probability().tolist() == [[0, 0.2], [0.8, 0]]


def test_sampler_agrees_with_pairwise_probability():
    model = Mallows(np.random.default_rng(3).permutation(15), 0.85)
    size = 20_000
    share = pairwise_counts(model.sample(size, np.random.default_rng(4))) / size
    probability = model.pairwise_probability()
    spread = np.sqrt(probability * (1 - probability) / size)
    # 105 pairs at 1e-8 each
    assert (np.abs(share - probability) <= 5.8 * spread + 5 / size).all()


@pytest.mark.parametrize("phi", PHIS)
def test_expected_distance_against_enumeration(phi):
    model = Mallows(CENTRE, phi)
    rankings = all_rankings(5)
    expected = np.exp(model.log_pmf(rankings)) @ kendall_tau(rankings, CENTRE)
    assert model.expected_distance() == pytest.approx(expected, rel=1e-11)


def test_expected_distance_closed_forms():
    # Fligner and Verducci (1986): m phi / (1 - phi) - sum_i i phi^i / (1 - phi^i)
    m, phi = 30, 0.7
    expected = m * phi / (1 - phi) - sum(i * phi**i / (1 - phi**i) for i in range(1, m + 1))
    assert Mallows(np.arange(m), phi).expected_distance() == pytest.approx(expected, rel=1e-12)
    assert Mallows(np.arange(m), 1).expected_distance() == pytest.approx(m * (m - 1) / 4)
    assert Mallows(np.arange(1), 0.5).expected_distance() == 0


def test_dispersion_conventions():
    assert Mallows.from_dispersion(0.2, centre=[1, 0]).phi == pytest.approx(0.8)
    assert Mallows.from_dispersion(0, "yan", centre=[1, 0]).phi == 1
    assert Mallows.from_dispersion(1, "yan", centre=[1, 0]).phi == 0
    assert Mallows.from_dispersion(1.5, "permallows", centre=[1, 0]).phi == pytest.approx(exp(-1.5))
    assert Mallows.from_dispersion(0, "permallows", centre=[1, 0]).phi == 1


def test_chunks_add_up_and_repeat_the_stream():
    model = Mallows(np.arange(4), 0.5)
    pieces = list(model.sample_chunks(25, np.random.default_rng(9), chunk=10))
    assert [piece.shape for piece in pieces] == [(10, 4), (10, 4), (5, 4)]
    rng = np.random.default_rng(9)
    np.testing.assert_array_equal(np.concatenate(pieces), np.concatenate([model.sample(k, rng) for k in (10, 10, 5)]))
    assert list(model.sample_chunks(0, rng)) == []
    assert model.sample(0, rng).shape == (0, 4)


def test_values_compare_by_content():
    assert Mallows([0, 1], 0.5) == Mallows(np.array([0, 1]), 0.5)
    assert hash(Mallows([0, 1], 0.5)) == hash(Mallows(np.array([0, 1]), 0.5))
    assert Mallows([0, 1], 0.5) != Mallows([1, 0], 0.5)
    assert Mallows([0, 1], 0.5) != Mallows([0, 1], 0.25)
    assert Mallows([0, 1], 0.5) != 0.5


@pytest.mark.parametrize(
    "call",
    [
        lambda: Mallows([0, 1], -0.1),
        lambda: Mallows([0, 1], 1.1),
        lambda: Mallows([0, 1], float("nan")),
        lambda: Mallows([0, 1], "0.5"),
        lambda: Mallows([0, 1], True),
        lambda: Mallows.from_dispersion(1.5, centre=[0, 1]),
        lambda: Mallows.from_dispersion(-0.5, centre=[0, 1]),
        lambda: Mallows.from_dispersion(-0.5, "permallows", centre=[0, 1]),
        lambda: Mallows.from_dispersion(inf, "permallows", centre=[0, 1]),
        lambda: Mallows.from_dispersion(0.5, "other", centre=[0, 1]),
        lambda: Mallows([0, 1], 0.5).sample(-1, np.random.default_rng(0)),
        lambda: Mallows([0, 1], 0.5).sample_chunks(5, np.random.default_rng(0), chunk=0),
    ],
)
def test_bad_parameters_are_refused(call):
    with pytest.raises(ParameterError):
        call()


def test_bad_centres_and_rankings_are_refused():
    with pytest.raises(DataError):
        Mallows([[0, 1]], 0.5)
    with pytest.raises(DataError):
        Mallows([0, 0], 0.5)
    with pytest.raises(DataError):
        Mallows([0, 1], 0.5).log_pmf([0, 1, 2])


def test_more_alternatives_than_a_byte_counts_and_pieces_of_the_places(monkeypatch):
    """Insertion as the paper on the sampler has it, one ranking at a time, on the same random numbers."""
    m, size = 258, 3
    model = Mallows(np.arange(m)[::-1], 0.97)
    uniform = np.array([np.random.default_rng(6).random((m - 1) * size)]).reshape(m - 1, size)
    powers = 0.97 ** np.arange(m)
    expected = []
    for run in range(size):
        ranking = [m - 1]
        for item in range(1, m):
            law = np.cumsum(powers[: item + 1]) / powers[: item + 1].sum()
            back = next(step for step, mass in enumerate(law) if uniform[item - 1, run] < mass)
            ranking.insert(item - back, m - 1 - item)
        expected.append(ranking)
    assert model.sample(size, np.random.default_rng(6)).tolist() == expected
    monkeypatch.setattr(orders_module, "CHUNK_CELLS", 256)
    assert model.sample(size, np.random.default_rng(6)).tolist() == expected
