"""Two columns of many that one input makes alike: noise that two answers share, or that cancels in their sum."""

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.learning.likeness import alike_transform, others_transform
from dpaudit.auditors.outputs.columns import Columns

WIDTH = 300


def rows(rng, size, width=WIDTH):
    return rng.laplace(0, 5, (size, width)) + np.linspace(0, 10, width)


@pytest.mark.parametrize(("sign", "unit"), [(1.0, 1.0), (-1.0, 1.0), (-1.0, 30.0)])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_pair_that_is_alike_on_one_input_is_found_among_45_000(sign, unit, swapped):
    rng = np.random.default_rng(1)
    x, y = rows(rng, 500), rows(rng, 500)
    y[:, 291] = 7 + sign * unit * y[:, 17]
    x[:, 291] *= unit
    found = alike_transform(Columns(), *((y, x) if swapped else (x, y)))
    assert np.flatnonzero(found.matrix[:, 0]).tolist() == [17, 291]
    one, other = found.matrix[[17, 291], 0]
    assert one == pytest.approx(-sign * unit * other, rel=0.1)
    assert found(y)[:, 0].std() < 0.05
    assert found(x)[:, 0].std() > 1
    if unit == 1 and sign == 1:
        assert np.ptp(found(y)[:, 0]) < 1e-12


def test_columns_that_are_alike_on_both_inputs_or_constant_on_one_are_none():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x, y = rows(rng, 1000), rows(rng, 1000)
        for side in (x, y):
            side[:, 5] = side[:, 4] + rng.laplace(size=1000)
        y[:, 9] = 3.0
        assert alike_transform(Columns(), x, y) is None, seed
    assert alike_transform(Columns(), x[:50], y[:50]) is None


@pytest.mark.slow
@pytest.mark.parametrize("form", ["rows", "dicts", "images"])
def test_noise_that_two_answers_share_is_refuted(form):
    def sample(data, size, rng):
        made = rows(rng, size, 784 if form == "images" else WIDTH)
        if data:
            made[:, 291] = made[:, 17]
        if form == "dicts":
            return [dict(zip(map(str, range(WIDTH)), row, strict=True)) for row in np.rint(made).astype(int).tolist()]
        return np.clip(np.rint(made + 50), 0, 255).astype(np.uint8).reshape(size, 28, 28) if form == "images" else made

    found = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=10_000, seed=1)
    # The two are equal on one input; on the other, with probability 0 or, where they are rounded, below 0.06.
    assert found.epsilon > 2.5


def test_a_total_that_is_the_sum_of_the_others_more_often_on_one_input_is_kept():
    rng = np.random.default_rng(3)
    x, y = rng.laplace(size=(2000, 6)) * 1e6, rng.laplace(size=(2000, 6)) * 1e6
    assert others_transform(Columns(), x, y) is None
    y[:100, 2] = np.delete(y[:100], 2, axis=1).sum(axis=1)
    found = others_transform(Columns(), x, y)
    assert found.matrix.T.tolist() == [[-1, -1, 1, -1, -1, -1]]
    x[:100, 2] = np.delete(x[:100], 2, axis=1).sum(axis=1)
    assert others_transform(Columns(), x, y) is None
    assert others_transform(Columns(), x[:, :2], y[:, :2]) is None
