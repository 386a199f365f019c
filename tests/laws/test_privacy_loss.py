import math

import numpy as np
import pytest

from dpaudit.errors import CheckError
from dpaudit.laws import PrivacyLoss

SEED = 20240607


def random_rows(rng, size):
    """Log-probabilities of two laws, each with an outcome that the other misses."""
    rows = rng.dirichlet(np.ones(size), 2)
    rows[0, 0] = rows[1, 1] = 0
    with np.errstate(divide="ignore"):
        return np.log(rows / rows.sum(axis=1, keepdims=True))


def excess(p, q, epsilon):
    return np.maximum(p - math.exp(epsilon) * q, 0).sum()


@pytest.mark.parametrize("epsilon", [-0.5, 0.0, 0.7, 3.0])
def test_composition_is_the_loss_of_the_product_law(epsilon):
    rng = np.random.default_rng(SEED)
    parts = [random_rows(rng, size) for size in (2, 3, 4)]
    loss = PrivacyLoss.composition([PrivacyLoss.from_log_probabilities(*part) for part in parts])
    p, q = (np.einsum("i,j,k->ijk", *(np.exp(part[side]) for part in parts)) for side in (0, 1))
    assert loss.delta(epsilon) == pytest.approx(excess(p, q, epsilon), rel=1e-12)
    assert loss.max_divergence() == math.inf


def test_composition_of_many_equal_parts_is_binomial():
    keep, flip, parts = 0.75, 0.25, 40
    one = PrivacyLoss.from_log_probabilities(np.log([keep, flip]), np.log([flip, keep]))
    many = PrivacyLoss.composition([one] * parts)
    assert len(many.losses) == parts + 1
    for epsilon in (0.0, 5.0, 30.0, 43.0):
        terms = [
            math.comb(parts, k)
            * max(0.0, keep**k * flip ** (parts - k) - math.exp(epsilon) * flip**k * keep ** (parts - k))
            for k in range(parts + 1)
        ]
        assert many.delta(epsilon) == pytest.approx(math.fsum(terms), rel=1e-9)
    assert many.max_divergence() == pytest.approx(parts * math.log(3), rel=1e-12)


def test_mixture_is_the_loss_of_the_joint_law():
    rng = np.random.default_rng(SEED)
    weights = np.array([0.2, 0.5, 0.3, 0.0])
    rows = [random_rows(rng, size) for size in (2, 3, 4, 3)]
    with np.errstate(divide="ignore"):
        loss = PrivacyLoss.mixture(np.log(weights), [PrivacyLoss.from_log_probabilities(*row) for row in rows])
    joint = [np.concatenate([w * np.exp(row[side]) for w, row in zip(weights, rows, strict=True)]) for side in (0, 1)]
    for epsilon in (0.0, 0.4, 2.0):
        assert loss.delta(epsilon) == pytest.approx(excess(*joint, epsilon), rel=1e-12)


def test_outcomes_of_equal_ratio_are_merged_with_their_masses():
    loss = PrivacyLoss.from_log_probabilities(np.log([0.1, 0.3, 0.6]), np.log([0.2, 0.6, 0.2]))
    np.testing.assert_allclose(loss.losses, np.log([0.5, 3.0]))
    np.testing.assert_allclose(np.exp(loss.log_p), [0.4, 0.6])
    np.testing.assert_allclose(np.exp(loss.log_q), [0.8, 0.2])


def test_merging_equal_losses_never_lowers_the_largest():
    log_p = np.log([0.25, 0.25, 0.5])
    log_q = log_p - np.array([0.5, 0.5 + 1e-15, -1.0])
    assert PrivacyLoss.from_log_probabilities(log_p, log_q).max_divergence() >= (log_p - log_q).max()


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 2.0, 2.9])
def test_epsilon_finds_its_way_back_on_a_fine_grid(epsilon):
    losses = np.linspace(-3, 3, 5001)
    mass = np.exp(-((losses - 1) ** 2))
    log_p = np.log(mass / mass.sum())
    loss = PrivacyLoss(losses, log_p, log_p - losses)
    assert loss.epsilon(loss.delta(epsilon)) == pytest.approx(epsilon, rel=1e-9)


def test_a_loss_needs_an_outcome():
    nothing = np.array([-math.inf])
    with pytest.raises(CheckError, match="at least one outcome"):
        PrivacyLoss.from_log_probabilities(nothing, nothing)
