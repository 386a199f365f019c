"""Tables against brute force over all segmentations, closed forms, and planted deviations."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.special import xlogy
from scipy.stats import binom, chi2, laplace, norm

from dpaudit.auditors.learning.tables import Table

FALSE_ALARM = 1e-6
SEED = 20260301


def penalised(a, b, cuts):
    """Log likelihood of the labels in pieces between the cuts, less the price of the pieces."""
    pieces = np.r_[0, cuts].astype(int)
    a, b = np.add.reduceat(a, pieces), np.add.reduceat(b, pieces)
    return float((xlogy(a, a) + xlogy(b, b) - xlogy(a + b, a + b)).sum()), len(pieces)


@pytest.mark.parametrize("cells", [1, 2, 3, 6, 10])
@pytest.mark.parametrize("seed", range(12))
def test_the_pieces_are_the_best_of_all_segmentations(cells, seed):
    rng = np.random.default_rng((SEED, cells, seed))
    steps = np.repeat(rng.normal(scale=rng.choice([0.0, 0.3, 2.0]), size=cells), rng.integers(1, 4, cells))[:cells]
    mean = rng.choice([2, 20, 200])
    a, b = 1 + rng.poisson(mean * np.exp(steps)), rng.poisson(mean, cells)
    table = Table.fit_quickly(np.repeat(np.arange(cells), a), np.r_[np.repeat(np.arange(cells), b), np.zeros(5, int)])
    b[0] += 5
    price = 1 + math.log(cells)

    def worth(cuts):
        likelihood, pieces = penalised(a, b, cuts)
        return likelihood - price * pieces

    best = max(worth(cuts) for k in range(cells) for cuts in combinations(range(1, cells), k))
    assert worth(table.edges) == pytest.approx(best, abs=1e-9)
    pieces = np.r_[0, table.edges].astype(int)
    in_x, in_y = np.add.reduceat(a, pieces), np.add.reduceat(b, pieces)
    ratios = (in_x + 0.5) / (in_y + 0.5) * b.sum() / a.sum()
    assert np.exp(table.values) == pytest.approx(ratios)


@pytest.mark.slow
def test_two_cells_are_told_apart_by_chance_as_often_as_the_price_of_a_piece_implies():
    """Twice the gain of a second piece is chi-squared; exact over all counts, unlike the limit law."""
    trials = 60
    pmf = binom.pmf(np.arange(trials + 1), trials, 0.5)
    rate = 0.0
    for i in range(5, trials - 4):
        for j in range(5, trials - 4):
            sides = (np.repeat([0, 1], [k, trials - k]) for k in (i, j))
            rate += pmf[i] * pmf[j] * (len(Table.fit_quickly(*sides).values) == 2)
    assert rate == pytest.approx(chi2.sf(2 * (1 + math.log(2)), 1), rel=0.3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "cells"),
    [
        (lambda rng: rng.integers(0, 10, 2000), 10),
        (lambda rng: rng.integers(0, 60, 2000), 60),
        (lambda rng: rng.normal(size=5000), 128),
    ],
    ids=["10 values", "60 values", "numbers"],
)
def test_what_does_not_differ_is_one_piece(draw, cells):
    """However many pieces: no more often than all ways of cutting together imply."""
    rng, repeats = np.random.default_rng(SEED), 200
    price = 1 + math.log(cells)
    implied = sum(math.comb(cells - 1, k) * chi2.sf(2 * k * price, k) for k in range(1, 6))
    assert implied < 0.25
    for fit in (Table.fit, Table.fit_quickly):
        wrong = sum(fit(draw(rng), draw(rng)).spread > 0 for _ in range(repeats))
        assert wrong <= binom.isf(FALSE_ALARM, repeats, implied)


@pytest.mark.parametrize("width", [1e-4, 0.02])
def test_a_needle_is_recovered(width):
    rng = np.random.default_rng(SEED)
    x, y = rng.normal(size=(2, 100_000))
    x[:400] = rng.uniform(0.3, 0.3 + width, 400)
    table = Table.fit(x, y)
    inside = 100_000 * width * math.exp(-(0.3**2) / 2) / math.sqrt(2 * math.pi)
    assert table(np.array([0.3 + width / 2]))[0] > 0.6 * math.log((inside + 400) / (inside + 1))
    assert np.abs(table(np.array([0.3 - 2 * width - 0.01, 0.3 + 3 * width + 0.01, -1.0, 2.0]))).max() < 0.1


@pytest.mark.slow
def test_a_rare_needle_is_cut_out_at_its_ends():
    """Blocks of ranks reach beyond a needle of some 50 values; what lies beside it occurs as often on either input."""
    reached = []
    for seed in range(20):
        rng = np.random.default_rng((SEED, seed))
        x, y = rng.normal(size=(2, 100_000))
        x[:50], y[:5] = 0.3 + 1e-6 * rng.random(50), 0.3 + 1e-6 * rng.random(5)
        table = Table.fit(x, y)
        piece = int(table.values.argmax())
        low, high = np.r_[-np.inf, table.edges, np.inf][piece : piece + 2]
        inside = max(0.0, min(high, 0.3 + 1e-6) - max(low, 0.3)) / 1e-6
        others = norm.cdf(high) - norm.cdf(low)
        reached.append(math.log((5e-4 * inside + others) / (5e-5 * inside + others)))
    assert np.mean(reached) > 0.85 * math.log(10)


def test_an_atom_is_recovered_to_the_last_bit():
    rng = np.random.default_rng(SEED)
    x, y = rng.normal(size=(2, 100_000))
    x[:40] = 0.1
    table = Table.fit(x, y)
    at, below, above = table(np.array([0.1, np.nextafter(0.1, 0), np.nextafter(0.1, 1)]))
    assert at > math.log(20)
    assert max(abs(below), abs(above)) < 0.1


@pytest.mark.parametrize("fit", [Table.fit, Table.fit_quickly])
def test_a_step_is_recovered(fit):
    rng = np.random.default_rng(SEED)
    x = np.where(rng.random(100_000) < 0.2, rng.uniform(0, 0.25, 100_000), rng.random(100_000))
    table = fit(x, rng.random(100_000))
    assert 2 <= len(table.values) <= 4
    assert table(np.array([0.0, 0.2, 0.24])) == pytest.approx(math.log(1.6), abs=0.1)
    assert table(np.array([0.26, 0.3, 1.0])) == pytest.approx(math.log(0.8), abs=0.1)


def test_infinite_values_are_a_piece_of_their_own():
    rng = np.random.default_rng(SEED)
    x, y = rng.normal(size=(2, 20_000))
    x[:2000], y[:500] = np.inf, np.inf
    x[2000:2100] = -np.inf
    for table in (Table.fit(x, y), Table.fit_quickly(x, y)):
        assert table(np.array([np.inf]))[0] == pytest.approx(math.log(4), abs=0.2)
        assert table(np.array([-np.inf]))[0] > 4
        assert abs(table(np.array([0.0]))[0]) < 0.2


@pytest.mark.parametrize("fit", [Table.fit, Table.fit_quickly])
def test_both_ways_of_fitting_come_near_the_log_ratio(fit):
    rng = np.random.default_rng(SEED)
    table = fit(rng.laplace(size=200_000), 1 + rng.laplace(size=200_000))
    grid = np.linspace(-4, 5, 300)
    truth = laplace.logpdf(grid) - laplace.logpdf(grid, 1)
    assert np.abs(table(grid) - truth).mean() < 0.06
    assert np.abs(table(grid) - truth).max() < 0.3


def test_both_ways_of_fitting_agree_on_few_whole_numbers():
    rng = np.random.default_rng(SEED)
    x, y = rng.geometric(0.3, 20_000), rng.geometric(0.5, 20_000)
    slow, quick = Table.fit(x, y), Table.fit_quickly(x, y)
    assert np.array_equal(slow.edges, quick.edges)
    assert slow.values == pytest.approx(quick.values, rel=1e-12)


@pytest.mark.parametrize("edges", [0, 1, 3, 8, 9, 60])
@pytest.mark.parametrize("scale", [0.5, 4.0, -1.0, -2.0])
def test_mirrored_tables_are_mirror_images(edges, scale):
    rng = np.random.default_rng((SEED, edges))
    # Multiples of 1/16, so that centre + scale * number is exact, on edges too.
    at = np.unique(rng.integers(-200, 200, edges) / 16)
    table = Table(at, rng.normal(size=len(at) + 1))
    numbers = np.r_[rng.integers(-300, 300, 2000) / 16, table.edges]
    assert table.mirrored(3.0, scale)(3.0 + scale * numbers) == pytest.approx(table(numbers), abs=1e-12)


@pytest.mark.parametrize("edges", [0, 2, 8, 9, 40])
def test_a_table_is_evaluated_piece_by_piece(edges):
    rng = np.random.default_rng((SEED, edges))
    table = Table(np.sort(rng.normal(size=edges)), rng.normal(size=edges + 1))
    numbers = np.r_[rng.normal(size=500), table.edges, -np.inf, np.inf]
    expected = [table.values[sum(edge <= number for edge in table.edges)] for number in numbers]
    assert table(numbers) == pytest.approx(expected, abs=1e-12)
    assert table.spread == pytest.approx(max(table.values) - min(table.values))


def test_repeated_numbers_have_their_log_ratios_and_others_none():
    x = np.r_[np.full(30, 0.1), np.full(4, 2.0), np.linspace(10, 11, 66)]
    y = np.r_[np.full(10, 0.1), np.full(4, -5.0), np.linspace(20, 21, 86)]
    table = Table.of_repeats(x, y)
    numbers = np.array([0.1, 2.0, -5.0, np.nextafter(0.1, 0), np.nextafter(0.1, 1), 1.0, 10.0, -9.0])
    expected = [math.log(30.5 / 10.5), math.log(4.5 / 0.5), math.log(0.5 / 4.5), 0, 0, 0, 0, 0]
    assert table(numbers) == pytest.approx(expected, abs=1e-12)
    assert Table.of_repeats(np.array([1.0, 2.0]), np.array([3.0, 4.0])).spread == 0


def test_of_many_repeated_numbers_the_most_telling_are_kept():
    rng = np.random.default_rng(SEED)
    x, y = rng.integers(0, 1000, (2, 50_000)).astype(float)
    x[:2000], y[:2000] = 500.5, 600.5
    table = Table.of_repeats(x, y)
    assert len(table.values) <= 2 * 256 + 1
    assert table(np.array([500.5]))[0] > 7
    assert table(np.array([600.5]))[0] < -7


def peaked(share, size, rng):
    """Normal numbers, so many of which are within 10^-7 of each other."""
    numbers = rng.normal(size=size)
    inside = rng.random(size) < share
    numbers[inside] = 0.731 + 1e-7 * rng.random(int(inside.sum()))
    return numbers


@pytest.mark.parametrize("size", [20_000, 60_000, 200_000])
def test_numbers_that_lie_close_together_are_a_cell_of_their_own(size):
    rng = np.random.default_rng(1)
    table = Table.of_repeats(peaked(1e-3, size, rng), peaked(1e-4, size, rng))
    # Of the numbers around the peak, hardly any are in it, and of its own, hardly any are not.
    assert 0.731 - 1e-5 < table.edges[0] < 0.731 + 3e-8
    assert 0.731 + 7e-8 < table.edges[-1] < 0.731 + 1e-5
    assert 1.0 < table(np.array([0.731 + 5e-8]))[0] < 4.0
    assert table(np.array([0.7, 0.8])).tolist() == [0.0, 0.0]


def test_narrow_peaks_among_infinite_and_huge_numbers():
    rng = np.random.default_rng(3)
    numbers = np.r_[peaked(2e-3, 20_000, rng), [np.inf, -np.inf, 1.7e308, -1.7e308] * 3]
    table = Table.of_repeats(numbers, peaked(2e-4, 20_000, rng))
    assert table(np.array([0.731 + 5e-8]))[0] > 1.0
    assert np.isfinite(table(np.r_[numbers, np.inf, -np.inf])).all()
    wide = np.r_[-1.6e308, np.linspace(-1, 1, 40) * 1.5e308, 1e292 + np.arange(12) * 1e270, 1.6e308]
    assert np.isfinite(Table.of_repeats(wide, wide[::2] + 1e280)(wide)).all()


@pytest.mark.slow
def test_narrow_peaks_beside_each_other_are_kept_in_order():
    """Stretches of numbers of all densities side by side, so that what lies around a peak may be as dense as it is."""
    rng = np.random.default_rng(1)
    peaks = 0
    for _ in range(1000):
        lengths = 10.0 ** rng.uniform(-4, 0, 200) * rng.choice([1, 1, 1e-3], 200)
        numbers = np.cumsum(np.repeat(lengths, rng.integers(1, 60, 200))[:1200])
        table = Table.of_repeats(numbers[::2], numbers[1::2])
        peaks += len(table.values) > 1
        assert (np.diff(table.edges) >= 0).all()
        assert np.isfinite(table(numbers)).all()
    assert peaks > 500


@pytest.mark.slow
@pytest.mark.parametrize("law", ["random", "standard_normal", "standard_cauchy", "exponential", "laplace"])
def test_smooth_laws_have_no_narrow_peaks(law):
    rng = np.random.default_rng(2)
    for size, runs in ((500, 400), (20_000, 100)):
        sides = ((getattr(rng, law)(size=size) for _ in range(2)) for _ in range(runs))
        assert sum(Table.of_repeats(*each).spread > 0 for each in sides) <= 2


def test_numbers_within_a_small_part_of_an_even_cell_have_quantiles_as_cells():
    """One in 50 lies within 0.05 where others spread over 800, so that an even cell holds as many others."""
    rng = np.random.default_rng(4)
    sides = [100 * rng.normal(size=50_000) for _ in range(2)]
    near = [rng.random(50_000) < often for often in (0.02, 0.002)]
    for side, which in zip(sides, near, strict=True):
        side[which] = 0.02 * rng.normal(size=which.sum())
    table = Table.fit_quickly(*sides)
    assert table(np.array([0.0]))[0] == pytest.approx(math.log(10), abs=0.4)
    # Most of those that are there come from the part: the cell is narrow.
    inside = [float(np.mean(table(side) > 1.5)) for side in sides]
    assert inside[0] == pytest.approx(0.02, abs=0.004)
    assert inside[1] < 0.004
