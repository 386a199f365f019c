"""Compositions on a grid against closed forms, enumeration, and another library."""

import itertools
import math

import numpy as np
import pytest

from dpaudit.laws import (
    ComposedComparison,
    ComposedLaw,
    FiniteLaw,
    FiniteLoss,
    GaussianLaw,
    GaussianLoss,
    GaussianMixtureLaw,
    LaplaceLaw,
    LaplaceLoss,
    PrivacyLoss,
    ProductLaw,
    SplicedLoss,
    SubstitutedGaussianLoss,
    compare,
    subsampled,
)

SETTINGS = [(1, 1.0, 1e-5), (10, 2.0, 1e-6), (100, 5.0, 1e-10), (1000, 3.0, 1e-18), (1, 0.3, 1e-3), (7, 1.0, 0.3)]


def response(epsilon):
    p = 1 / (1 + math.exp(-epsilon))
    return PrivacyLoss.from_log_probabilities(np.log([p, 1 - p]), np.log([1 - p, p]))


@pytest.mark.parametrize(("count", "scale", "delta"), SETTINGS)
def test_repeated_gaussian_noise_is_enclosed(count, scale, delta):
    truth = compare(GaussianLaw(math.sqrt(count) / scale, 1.0), GaussianLaw(0.0, 1.0))
    epsilon = truth.epsilon(delta).lower
    found = ComposedComparison([(GaussianLoss(1 / scale), count)])
    enclosure = found.epsilon(delta)
    assert enclosure.lower < epsilon < enclosure.upper
    assert enclosure.upper - enclosure.lower <= 1.01e-4 * max(1.0, epsilon)
    enclosure = found.delta(epsilon)
    assert enclosure.lower < truth.delta(epsilon).lower < enclosure.upper
    assert enclosure.upper - enclosure.lower <= 5.01e-4 * delta


@pytest.mark.parametrize(
    ("budget", "count", "epsilon"), [(0.1, 100, 2.0), (1.0, 10, 5.0), (0.01, 10_000, 1.5), (0.5, 1000, 200.0)]
)
def test_repeated_randomized_response_is_a_binomial_law(budget, count, epsilon):
    from scipy.stats import binom

    truths = np.arange(count + 1)
    losses = (2 * truths - count) * budget
    above = losses > epsilon
    masses = binom.pmf(truths, count, 1 / (1 + math.exp(-budget)))[above]
    delta = math.fsum(masses * -np.expm1(epsilon - losses[above]))
    found = ComposedComparison([(FiniteLoss(response(budget)), count)])
    enclosure = found.delta(epsilon)
    assert enclosure.lower < delta < enclosure.upper
    assert enclosure.upper - enclosure.lower <= 1e-7 * delta
    assert found.max_divergence() == pytest.approx(count * budget, rel=1e-12)
    assert found.delta(1.0001 * count * budget).upper == 0


@pytest.mark.parametrize(
    ("ratio", "count", "delta"), [(1.0, 1, 0.1), (0.5, 10, 1e-3), (0.1, 100, 1e-6), (1.0, 20, 1e-9)]
)
def test_repeated_laplace_noise_is_enclosed(ratio, count, delta):
    coarse = compare(ProductLaw([LaplaceLaw(ratio, 1.0)] * count), ProductLaw([LaplaceLaw(0.0, 1.0)] * count))
    known = coarse.epsilon(delta)
    enclosure = ComposedComparison([(LaplaceLoss(ratio), count)]).epsilon(delta)
    assert known.lower <= enclosure.upper
    assert enclosure.lower <= known.upper
    assert enclosure.upper - enclosure.lower <= 1e-6
    if count == 1:
        assert enclosure.lower < ratio + 2 * math.log1p(-delta) < enclosure.upper


@pytest.mark.slow
def test_ten_thousand_steps_of_subsampled_gaussian_noise_are_enclosed_narrowly():
    loss = subsampled(GaussianLoss(1.0), 0.01)
    removed = ComposedComparison([(loss, 10_000)]).epsilon(1e-6)
    added = ComposedComparison([(loss.reversed(), 10_000)]).epsilon(1e-6)
    assert removed.upper - removed.lower < 1e-3
    assert added.upper - added.lower < 1e-3
    # dp-accounting 0.6.0 at a step of 1e-4: 6.9074195 at most.
    assert removed.lower < 6.907405 < 6.9074195
    assert removed.upper > 6.90735
    assert added.upper < removed.lower


@pytest.mark.slow
def test_one_subsampled_step_is_the_closed_form():
    """delta(e^epsilon) of the mixture is q times that of the source at a transformed epsilon."""
    rate, epsilon = 0.2, 0.1
    loss = subsampled(GaussianLoss(0.8), rate)
    inner = math.log((math.exp(epsilon) - (1 - rate)) / rate)
    truth = rate * compare(GaussianLaw(0.8, 1.0), GaussianLaw(0.0, 1.0)).delta(inner).lower
    enclosure = ComposedComparison([(loss, 1)]).delta(epsilon)
    assert enclosure.lower < truth < enclosure.upper
    # The other direction: delta(P, Q) at epsilon is 1 - e^epsilon + e^epsilon delta(Q, P) at -epsilon.
    inner = math.log((math.exp(-epsilon) - (1 - rate)) / rate)
    outer = rate * compare(GaussianLaw(0.8, 1.0), GaussianLaw(0.0, 1.0)).delta(inner).lower
    truth = 1 - math.exp(epsilon) * (1 - outer)
    enclosure = ComposedComparison([(loss.reversed(), 1)]).delta(epsilon)
    assert enclosure.lower < truth < enclosure.upper


def on_grid(loss, epsilon):
    """Divergence of a loss on a grid."""
    gaps = np.minimum(epsilon - loss.losses, 0.0)
    return loss.infinite + float(np.sum(loss.masses * -np.expm1(gaps)))


@pytest.mark.slow
@pytest.mark.parametrize("step", [1e-3, 0.02, 0.4])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("ratio", "rate"), [(0.8, 1.0), (0.8, 0.05), (1.4, 0.001), (3.0, 0.3)])
def test_grids_lie_on_their_sides_of_the_divergence(ratio, rate, reverse, step):
    """One step of subsampled Gaussian noise, whose divergence has a closed form at every epsilon."""
    from dpaudit.laws.grid import loss_above, loss_below

    plain = compare(GaussianLaw(ratio, 1.0), GaussianLaw(0.0, 1.0))

    def removed(epsilon):
        if math.exp(epsilon) <= 1 - rate:
            return 1 - math.exp(epsilon)
        return rate * plain.delta(math.log((math.exp(epsilon) - (1 - rate)) / rate)).lower

    def truth(epsilon):
        return 1 - math.exp(epsilon) * (1 - removed(-epsilon)) if reverse else removed(epsilon)

    loss = subsampled(GaussianLoss(ratio), rate)
    loss = loss.reversed() if reverse else loss
    below, above = loss_below(loss, step), loss_above(loss, step)
    points = np.r_[above.losses[:: max(1, len(above.losses) // 25)], np.linspace(-2, 2, 25) * rate]
    for epsilon in points[np.abs(points) < 20].tolist():
        exact, rounding = truth(epsilon), 1e-13 * (1 + math.exp(epsilon))
        assert on_grid(below, epsilon) <= exact + rounding
        assert on_grid(above, epsilon) >= exact - rounding
    if step < rate / 20:
        # Of second order in the step: P keeps its mass, and the mean loss moves by less than the squared step.
        assert below.masses.sum() == pytest.approx(1, abs=1e-10)
        assert float(above.masses @ above.losses - below.masses @ below.losses) <= step**2


def test_a_rate_of_one_changes_nothing():
    source = GaussianLoss(0.5)
    assert subsampled(source, 1.0) is source


def test_subsampled_finite_laws_are_exact():
    """Against all outcomes of three subsampled randomized responses."""
    rate, budget, epsilon = 0.3, 1.2, 0.4
    p = 1 / (1 + math.exp(-budget))
    one, other = np.array([p, 1 - p]), np.array([1 - p, p])
    mixed = (1 - rate) * other + rate * one
    for first, second, turned in ((mixed, other, False), (other, mixed, True)):
        terms = [
            max(0.0, math.prod(first[list(o)]) - math.exp(epsilon) * math.prod(second[list(o)]))
            for o in itertools.product(range(2), repeat=3)
        ]
        loss = subsampled(FiniteLoss(response(budget)), rate)
        enclosure = ComposedComparison([(loss.reversed() if turned else loss, 3)]).delta(epsilon)
        assert enclosure.lower <= math.fsum(terms) <= enclosure.upper
        assert enclosure.upper - enclosure.lower <= 1e-9


@pytest.mark.slow
def test_composition_is_enclosed_where_losses_share_no_grid():
    """Two kinds of randomized response and a third law, against all their outcomes."""
    laws = [
        (np.array([0.7, 0.3]), np.array([0.3, 0.7])),
        (np.array([0.6, 0.4]), np.array([0.4, 0.6])),
        (np.array([0.5, 0.3, 0.2]), np.array([0.25, 0.25, 0.5])),
    ]
    counts = [2, 1, 2]
    drawn = [pair for pair, count in zip(laws, counts, strict=True) for _ in range(count)]
    terms = []
    for o in itertools.product(*(range(len(p)) for p, _ in drawn)):
        p = math.prod(pair[0][i] for pair, i in zip(drawn, o, strict=True))
        q = math.prod(pair[1][i] for pair, i in zip(drawn, o, strict=True))
        terms.append(max(0.0, p - math.exp(0.5) * q))
    p_law, q_law = (
        ComposedLaw(
            [
                (FiniteLaw.from_probabilities(range(len(pair[side])), pair[side]), n)
                for pair, n in zip(laws, counts, strict=True)
            ]
        )
        for side in (0, 1)
    )
    enclosure = compare(p_law, q_law).delta(0.5)
    assert enclosure.lower == pytest.approx(math.fsum(terms), rel=1e-12)
    parts = [
        (FiniteLoss(PrivacyLoss.from_log_probabilities(np.log(p), np.log(q))), n)
        for (p, q), n in zip(laws, counts, strict=True)
    ]
    on_grid = ComposedComparison(parts).delta(0.5)
    assert on_grid.lower <= math.fsum(terms) <= on_grid.upper
    assert on_grid.upper - on_grid.lower <= 1e-3


def test_an_outcome_that_one_law_misses_stays_infinite():
    p_law = ComposedLaw([(FiniteLaw.from_probabilities([0, 1, 2], [0.5, 0.4, 0.1]), 3)])
    q_law = ComposedLaw([(FiniteLaw.from_probabilities([0, 1], [0.5, 0.5]), 3)])
    found = compare(p_law, q_law)
    assert found.max_divergence() == math.inf
    missed = 1 - 0.9**3
    assert found.delta(20.0).lower == pytest.approx(missed, rel=1e-9)
    assert found.epsilon(missed / 2).lower == math.inf
    reverse = compare(q_law, p_law)
    assert reverse.max_divergence() == pytest.approx(3 * math.log(0.5 / 0.4))


def test_gaussian_parts_are_exact_and_equal_parts_drop_out():
    parts = [(GaussianLaw(1.0, 2.0), 4), (LaplaceLaw(0.0, 1.0), 3)]
    zero = [(GaussianLaw(0.0, 2.0), 4), (LaplaceLaw(0.0, 1.0), 3)]
    truth = compare(GaussianLaw(1.0, 1.0), GaussianLaw(0.0, 1.0)).epsilon(1e-6)
    assert compare(ComposedLaw(parts), ComposedLaw(zero)).epsilon(1e-6).lower == pytest.approx(truth.lower, rel=1e-12)


@pytest.mark.slow
def test_tiny_deltas_keep_their_digits():
    """The setting of a published bug: delta 1.1e-18 and 1.13e-18 give nearly one epsilon."""
    loss = subsampled(GaussianLoss(0.25), 0.00033)
    found = [ComposedComparison([(loss, 10_000)]).epsilon(delta) for delta in (1.1e-18, 1.13e-18)]
    assert 0.0671 < found[1].lower <= found[0].upper < 0.0673
    assert all(each.upper - each.lower < 1e-4 for each in found)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_mixtures_of_normal_laws_against_quadrature(epsilon):
    """Cells, closed forms and their mirror images against sums over a fine line."""
    x = np.linspace(-20, 25, 200_001)
    width = x[1] - x[0]

    def density(law):
        z = (x[:, None] - law.locations) / law.scale
        return (np.exp(-(z**2) / 2) / (law.scale * math.sqrt(2 * math.pi))) @ np.exp(law.log_weights)

    single = GaussianMixtureLaw([0.0], [0.0], 1.5)
    mixed = GaussianMixtureLaw([0.0, 2.0], np.log([0.7, 0.3]), 1.5)
    opposite = GaussianMixtureLaw([0.0, -2.0], np.log([0.7, 0.3]), 1.5)
    several = GaussianMixtureLaw([-1.0, 0.5, 3.0], np.log([0.2, 0.5, 0.3]), 1.5)
    for p, q in [(mixed, single), (single, mixed), (mixed, opposite), (several, mixed), (mixed, several)]:
        truth = float(np.maximum(density(p) - math.exp(epsilon) * density(q), 0.0).sum() * width)
        enclosure = compare(p, q).delta(epsilon)
        assert enclosure.lower - 1e-10 <= truth <= enclosure.upper + 1e-10
        assert enclosure.upper - enclosure.lower <= 1e-6 + 1e-3 * truth


@pytest.mark.slow
def test_cells_composed_enclose_the_closed_form():
    """The same two mixtures in closed form and, by a third component of no weight, by cells."""
    q = GaussianMixtureLaw([0.0], [0.0], 1.0)
    p = GaussianMixtureLaw([0.0, 1.0], np.log([0.9, 0.1]), 1.0)
    nearly = GaussianMixtureLaw([0.0, 1.0, 1.0 + 1e-9], np.log([0.9, 0.05, 0.05]), 1.0)
    closed = compare(ComposedLaw([(p, 50)]), ComposedLaw([(q, 50)])).epsilon(1e-4)
    cells = compare(ComposedLaw([(nearly, 50)]), ComposedLaw([(q, 50)])).epsilon(1e-4)
    assert cells.lower <= closed.upper + 1e-6
    assert closed.lower <= cells.upper + 1e-6
    assert cells.upper - cells.lower < 0.01


@pytest.mark.slow
def test_replacement_lies_between_removal_and_both_in_turn():
    loss = ComposedComparison([(SubstitutedGaussianLoss(1.0, 0.01), 1000)]).epsilon(1e-6)
    removed = ComposedComparison([(subsampled(GaussianLoss(1.0), 0.01), 1000)]).epsilon(1e-6)
    assert removed.upper < loss.lower < loss.upper < 3 * removed.lower


@pytest.mark.slow
def test_losses_that_spread_too_far_name_what_to_do():
    from dpaudit.laws.composition import GridComposition, WindowError
    from dpaudit.laws.grid import GridLoss

    wide = GridComposition([(GridLoss(-1e3, 1e-4, np.full(1 << 21, 2.0**-21), 0.0), 10_000)])
    with pytest.raises(WindowError, match=r"10,000 parts released together spread over .*noise_multiplier"):
        wide.tilted(0.0)


@pytest.mark.slow
def test_spliced_losses_dominate_both_directions():
    loss = subsampled(GaussianLoss(2.0), 0.05)
    spliced = ComposedComparison([(SplicedLoss(loss, loss.reversed()), 20)])
    whole = spliced.delta(2.0)
    for part in (loss, loss.reversed()):
        assert ComposedComparison([(part, 20)]).delta(2.0).lower <= whole.upper
    # At one step the splice is the larger of the two at every epsilon >= 0.
    once = ComposedComparison([(SplicedLoss(loss, loss.reversed()), 1)])
    for epsilon in (0.0, 1.0):
        one = ComposedComparison([(loss, 1)]).delta(epsilon)
        other = once.delta(epsilon)
        assert other.lower <= one.upper * (1 + 1e-9)
        assert one.lower <= other.upper * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "scale", "count"), [(0.01, 2.0, 500), (0.2, 0.8, 20), (1.0, 0.8, 20)])
def test_dp_accounting_encloses_the_same(rate, scale, count):
    distribution = pytest.importorskip(
        "dp_accounting.pld.privacy_loss_distribution", reason="the extra `accounting` is not installed"
    )
    loss = subsampled(GaussianLoss(1 / scale), rate)
    ours = [ComposedComparison([(side, count)]).epsilon(1e-6) for side in (loss, loss.reversed())]
    theirs = [
        distribution.from_gaussian_mechanism(
            scale, pessimistic_estimate=pessimistic, use_connect_dots=pessimistic, sampling_prob=rate
        )
        .self_compose(count)
        .get_epsilon_for_delta(1e-6)
        for pessimistic in (False, True)
    ]
    assert theirs[0] <= max(side.upper for side in ours)
    assert max(side.lower for side in ours) <= theirs[1]
