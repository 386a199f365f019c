"""Samples held against laws of every form: size, and errors in one part alone."""

import math

import numpy as np
import pytest
from scipy.stats import binom

import dpaudit
from dpaudit.auditors.misfit import held_against, width_of

FALSE_ALARM = 1e-6
ALPHA = 1e-7
SIZE = 20_000
COIN = dpaudit.FiniteLaw.from_probabilities([0, 1], [0.3, 0.7])
NOISE = dpaudit.LaplaceLaw(1.0, 2.0)
NORMAL = dpaudit.GaussianLaw(-1.0, 0.5)


def noise(rng, size=SIZE):
    return rng.laplace(1.0, 2.0, size)


def normal(rng, size=SIZE):
    return rng.normal(-1.0, 0.5, size)


def coin(rng, size=SIZE):
    return (rng.random(size) < 0.7).astype(float)


def rows(*columns):
    return np.stack(columns, axis=1)


def mixture(rng, of_one=noise, of_two=normal):
    chosen = rng.random(SIZE) < 0.25
    return rows(chosen, np.where(chosen, of_one(rng), of_two(rng)))


LAWS = {
    "finite": (COIN, coin),
    "laplace": (NOISE, noise),
    "gaussian": (NORMAL, normal),
    "product": (dpaudit.ProductLaw([NOISE, COIN, NORMAL]), lambda rng: rows(noise(rng), coin(rng), normal(rng))),
    "nested": (
        dpaudit.ProductLaw([dpaudit.ProductLaw([NOISE, COIN]), NORMAL]),
        lambda rng: rows(noise(rng), coin(rng), normal(rng)),
    ),
    "mixture": (dpaudit.PublicMixtureLaw([1, 0], np.log([0.25, 0.75]), [NOISE, NORMAL]), mixture),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_samples_of_the_law_are_refused_as_seldom_as_stated(name):
    law, draw = LAWS[name]
    values = [held_against(law, draw(np.random.default_rng(seed)), alpha=ALPHA).p_value for seed in range(30)]
    assert np.count_nonzero(np.array(values) <= 0.05) <= binom.isf(FALSE_ALARM, 30, 0.05)


@pytest.mark.parametrize("scale", [0.8, 1.25])
@pytest.mark.parametrize("column", [0, 2])
@pytest.mark.parametrize("name", ["product", "nested"])
def test_one_part_of_a_product_with_another_scale(name, column, scale):
    law, draw = LAWS[name]
    outputs = draw(np.random.default_rng(1))
    centre = outputs[:, column].mean()
    outputs[:, column] = centre + scale * (outputs[:, column] - centre)
    assert held_against(law, outputs, alpha=ALPHA).p_value < ALPHA


def test_choices_and_what_follows_them():
    law = LAWS["mixture"][0]
    rng = np.random.default_rng(1)
    assert held_against(law, mixture(rng, of_one=normal), alpha=ALPHA).p_value < ALPHA
    assert held_against(law, mixture(rng, of_two=lambda rng: 1.2 * normal(rng)), alpha=ALPHA).p_value < ALPHA
    often = mixture(rng)
    often[:2000] = often[often[:, 0] == 1][:2000]
    assert held_against(law, often, alpha=ALPHA).p_value < ALPHA
    unlisted = mixture(rng)
    unlisted[0, 0] = 7
    assert held_against(law, unlisted, alpha=ALPHA).p_value == 0


def test_a_shift_as_large_as_stated_is_seen():
    law, draw = LAWS["product"]
    fit = held_against(law, draw(np.random.default_rng(1)), alpha=ALPHA)
    seen = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        outputs = draw(rng)
        # Mass from the left of the centre to its right.
        moved = (outputs[:, 0] < 1) & (rng.random(SIZE) < 2 * fit.shift)
        outputs[moved, 0] = 2 - outputs[moved, 0]
        seen += held_against(law, outputs, alpha=ALPHA).p_value <= ALPHA
    assert seen >= binom.ppf(FALSE_ALARM, 40, 0.9)


def test_the_power_is_that_of_the_harder_part():
    rng = np.random.default_rng(1)
    alone = held_against(NOISE, noise(rng), alpha=ALPHA)
    together = held_against(*[made if i == 0 else made(rng) for i, made in enumerate(LAWS["product"])], alpha=ALPHA)
    assert alone.variation is None
    assert alone.shift < together.shift
    of_coin = held_against(COIN, coin(rng), alpha=ALPHA)
    # What one of two outcomes gains the other loses.
    assert of_coin.variation <= of_coin.shift
    assert of_coin.variation == pytest.approx(of_coin.shift, rel=0.05)


def test_outputs_of_another_form_are_not_compared():
    rng = np.random.default_rng(1)
    law = LAWS["product"][0]
    assert held_against(law, rows(noise(rng), coin(rng)), alpha=ALPHA) is None
    assert held_against(law, np.array([["a", "b", "c"]] * 10), alpha=ALPHA) is None
    many = dpaudit.PublicMixtureLaw(list(range(300)), np.full(300, -math.log(300)), [NOISE] * 300)
    assert width_of(many) is None
    assert width_of(dpaudit.PublicMixtureLaw(["a", "b"], np.log([0.5, 0.5]), [NOISE, NOISE])) is None
    assert width_of(dpaudit.PublicMixtureLaw([0, 1], np.log([0.5, 0.5]), [NOISE, LAWS["product"][0]])) is None
