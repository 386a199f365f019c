"""The smooth log-ratio of two samples: against laws in closed form, and against what luck does to counts."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from dpaudit.auditors.learning.smoothing import fitted_curve

EDGES = np.concatenate([[-np.inf], np.linspace(-3, 3, 61), [np.inf]])


def expected_cells(law, shift, size):
    """Expected occurrences in cells of samples of a law and of the shifted law."""
    return size * np.stack([np.diff(law.cdf(EDGES)), np.diff(law.cdf(EDGES - shift))])


def true_log_ratios(law, shift):
    """Log-ratios of the events from each edge on, and up to each edge."""
    return (
        law.logsf(EDGES[:-1]) - law.logsf(EDGES[:-1] - shift),
        law.logcdf(EDGES[1:]) - law.logcdf(EDGES[1:] - shift),
    )


@pytest.mark.parametrize("name", ["laplace", "logistic", "norm", "gumbel_l", "gumbel_r"])
def test_small_shifts_of_known_noise_are_fitted(name):
    law, shift = getattr(stats, name)(), 0.05
    curve = fitted_curve(expected_cells(law, shift, 1e7))
    for above, truth in zip((True, False), true_log_ratios(law, shift), strict=True):
        found = curve.log_ratios(above=above)
        likely = (law.sf(EDGES[:-1]) if above else law.cdf(EDGES[1:])) > 0.02
        np.testing.assert_allclose(found[likely], truth[likely], atol=0.004)
    assert curve.evidence > 100
    drawn = dict(zip((True, False), curve.draws(np.arange(62))[:2], strict=True))
    assert max(np.abs(drawn[above] - curve.log_ratios(above=above)).max() for above in drawn) < 0.1


def test_a_larger_shift_of_laplace_noise_is_fitted():
    """Its log-ratio rises between the two centres, and is level beyond: no other shape has such corners."""
    law, shift = stats.laplace(), 1.0
    curve = fitted_curve(expected_cells(law, shift, 1e5))
    found = curve.log_ratios(above=True)
    truth = true_log_ratios(law, shift)[0]
    likely = law.sf(EDGES[:-1]) > 0.02
    assert np.abs(found - truth)[likely].max() < 0.05


@pytest.mark.parametrize("shift", [1.0, 2.5])
def test_a_larger_shift_of_normal_noise_is_fitted_into_its_tail(shift):
    """Its log-ratio is a line in the score, but no function of the rank that the shapes have."""
    law, edges = stats.norm(), np.linspace(-6, 8, 281)
    cells = 1e7 * np.stack([np.diff(law.cdf(edges)), np.diff(law.cdf(edges - shift))])
    truth, tail = law.logcdf(edges[1:]) - law.logcdf(edges[1:] - shift), law.cdf(edges[1:]) * 1e7 > 10
    by_score, by_rank = (fitted_curve(cells, scores) for scores in ((edges[1:] + edges[:-1]) / 2, None))
    missed = [np.abs(curve.log_ratios(above=False) - truth)[tail].max() for curve in (by_score, by_rank)]
    assert missed[0] < min(0.02 * shift, missed[1] / 4)
    assert by_score.explains(cells, 3.0, above=True)


@pytest.mark.slow
def test_draws_are_as_far_apart_as_the_estimates_of_many_samples_are_off():
    """Normal noise, where one of the shapes is right: the draws err as much, but for the average."""
    law, shift, size = stats.norm(), 0.1, 20_000
    expected = expected_cells(law, shift, size)
    truth = true_log_ratios(law, shift)[1][20]
    deviations = []
    for seed in range(40):
        _, drawn, likely = fitted_curve(np.random.default_rng(seed).poisson(expected).astype(float)).draws(
            np.arange(expected.shape[1])
        )
        assert likely.sum() == pytest.approx(1.0)
        mean = likely @ drawn[:, 20]
        deviations.append((mean - truth) / np.sqrt(likely @ (drawn[:, 20] - mean) ** 2))
    # Weights are shrunk a little. With 40 samples, the mean square is above 2 by chance once in a million.
    assert 0.3 < np.mean(np.square(deviations)) < 2.0
    assert abs(np.mean(deviations)) < 1.0


def test_every_draw_gives_all_outputs_the_same_probability_on_both_inputs():
    cells = np.random.default_rng(0).poisson(expected_cells(stats.norm(), 1.5, 2000)).astype(float) + 1
    above, below, _ = fitted_curve(cells).draws(np.arange(0, 62, 3))
    # What differs in size between the two samples is luck alone.
    assert max(np.abs(above[:, 0]).max(), np.abs(below[:, -1]).max()) < 1e-6


def test_without_a_difference_nothing_speaks_for_one():
    rng = np.random.default_rng(0)
    for _ in range(10):
        cells = rng.poisson(200.0, size=(2, 50)).astype(float)
        curve = fitted_curve(cells)
        # Of the nine standard deviations of a weight, each as likely as the others, the least is next to none.
        assert -np.log(9) < curve.evidence < 5
        assert curve.explains(cells, 4.5, above=True)


def test_counts_that_no_shape_has_are_noticed():
    cells = np.full((2, 50), 200.0)
    assert fitted_curve(cells).explains(cells, 3.0, above=True)
    cells[0, 49], cells[1, 49] = 60.0, 1.0
    assert not fitted_curve(cells).explains(cells, 3.0, above=True)


@pytest.mark.parametrize("above", [True, False])
def test_a_curve_may_be_off_by_a_part_of_the_log_ratio(above):
    law, size = stats.norm, 4e8
    cells = expected_cells(law, 0.5, size)
    curve = fitted_curve(cells, np.clip((EDGES[:-1] + EDGES[1:]) / 2, -3.2, 3.2))
    for steeper, amiss, explained in ((1.0, 0.02, True), (1.05, 0.02, False), (1.05, 0.1, True)):
        # Another part of the same outputs is of the first input.
        logits = steeper * np.log(cells[0] / cells[1])
        total = cells.sum(axis=0)
        others = np.stack([total * expit(logits), total * expit(-logits)])
        assert curve.explains(others, 4.0, above=above, amiss=amiss) is explained


@pytest.mark.parametrize("size", [10.0, 1e3, 1e6])
def test_inputs_told_apart_with_certainty_or_nearly_so_give_finite_numbers(size):
    certain, nearly = np.zeros((2, 40)), expected_cells(stats.norm(), 6.0, 1e6)
    certain[0, :20] = certain[1, 20:] = size
    for cells in (certain, nearly[:, 10:-1].round() + size):
        curve = fitted_curve(cells)
        if curve is not None:
            found = [number for above in (True, False) for number in curve.log_ratios(above=above)]
            assert np.all(np.isfinite(found))
            assert all(np.all(np.isfinite(drawn)) for drawn in curve.draws(np.arange(cells.shape[1])))
            curve.explains(cells, 3.0, above=True)


def test_shapes_that_nearly_agree_leave_finite_draws():
    """A score of which nearly all outputs have the same value: all its bends but one are at that value."""
    cells = np.stack([np.r_[3.0, 1e6, np.full(20, 2.0)], np.r_[2.0, 1e6, np.full(20, 5.0)]])
    curve = fitted_curve(cells, np.r_[-1.0, np.linspace(0, 1e-9, 21)], estimates=True)
    above, below, likely = curve.draws(np.arange(22))
    assert np.isfinite(above).all()
    assert np.isfinite(below).all()
    assert likely.sum() == pytest.approx(1)
