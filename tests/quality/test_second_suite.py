"""What the second and the held-out suite take for true: exact log-ratios against samples, and truths by other ways."""

import math
from itertools import pairwise, permutations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom, laplace, norm
from suite import SUITES, audit, case_named, cases, exact, families, heldout, oracle, second

import dpaudit

FALSE_ALARM = 1e-6
SAMPLES = 100_000
NAMES = [name for suite in ("second", "held-out") for name in cases(suite)]
FAST = {"zero-inflated", "staircase", "snapped-noise", "skellam-noise", "needle-ten-thousandth", "median-exponential"}
HEAVY = {"wide-dense-shift", "wide-few-shifted", "winner-and-gap"}
MOSTLY_SLOW = [pytest.param(name, marks=[] if name in FAST else [pytest.mark.slow]) for name in NAMES]
CORRECT = {
    "label-and-count",
    "visit-list",
    "count-above-threshold",
    "first-above",
    "first-number-above",
    "winner-and-gap",
    "sorted-noisy-values",
    "seeded-local-hashing",
    "rappor-cohorts",
    "hadamard-response",
    "staircase",
    "discrete-laplace-small",
    "permute-and-flip",
    "median-exponential",
    "common-alarm",
    "range-of-noisy-values",
    "censored-reading",
    "seeded-binary-hashing-features",
    "hadamard-one-bit",
    "stable-histogram",
    "confident-votes",
}
UNREACHED = {"drifting-series", "biased-walk"}
"""Cases whose largest log-ratio has a probability of 2^-25 or less."""

RARE = {"needle-thousandth", "needle-ten-thousandth", "noise-missing", "column-without-noise"}
"""Cases whose best event comes a few hundred times among SAMPLES: too few to value it to a few per cent."""


def size_of(case):
    return 20_000 if case.most else SAMPLES


@pytest.fixture(scope="module")
def sampled():
    """Log-ratios of every case on both inputs, drawn once."""
    found = {}

    def losses(name):
        if name not in found:
            case = case_named(name)
            found[name] = [case.losses(side, size_of(case), seed=77 + side) for side in (0, 1)]
        return found[name]

    return losses


def least_p_value(losses):
    """Smallest p-value, times the number of tests, for log-ratios that are those of the laws they were drawn from.

    For an event {log-ratio > t}, t >= 0, its indicator on one input and e^-log-ratio in it on the other have the same
    mean. The latter is made a coin with that probability; of equal numbers, hits are then split evenly by chance.
    """
    rng = np.random.default_rng(5)
    tests = []
    for sign, own, other in ((1, losses[0], losses[1]), (-1, losses[1], losses[0])):
        own, other = sign * own, sign * other
        assert not np.any(other == np.inf)
        positive = np.sort(own[(own > 0) & (own < np.inf)])
        # Halfway between two neighbours, so that no atom is split by rounding.
        levels = [0.0, *(positive[int(share * len(positive))] for share in (0.2, 0.5, 0.8, 0.98) if len(positive))]
        with np.errstate(over="ignore"):
            coins = rng.random(len(own)) < np.exp(-own)
        for level in levels:
            on_own, on_other = np.sum(coins & (own > level + 1e-9)), np.sum(other > level + 1e-9)
            total = on_own + on_other
            tail = min(binom.cdf(on_own, total, 0.5), binom.sf(on_own - 1, total, 0.5))
            tests.append(2 * tail)
    return len(tests) * min(tests)


@pytest.mark.parametrize("name", MOSTLY_SLOW)
def test_log_ratios_are_those_of_the_samplers(name, sampled):
    losses = sampled(name)
    assert not any(np.isnan(side).any() for side in losses)
    assert least_p_value(losses) > FALSE_ALARM


@pytest.mark.parametrize("name", ["zero-inflated", "two-grids"])
def test_log_ratios_a_fifth_too_large_are_noticed(name, sampled):
    assert least_p_value([1.2 * side for side in sampled(name)]) < FALSE_ALARM


@pytest.mark.parametrize("name", MOSTLY_SLOW)
def test_log_ratios_do_not_exceed_the_truth_and_come_near(name, sampled):
    case = case_named(name)
    truth = case.truth()
    losses = sampled(name)
    assert truth > 0
    largest = max(np.abs(side).max() for side in losses)
    if case.mechanism.delta:
        # In the worse direction E[(1 - e^(truth - log-ratio))+] is delta; in the other one it is no more.
        if math.isfinite(truth) and case.mechanism.delta >= 1e-4:
            rng = np.random.default_rng(6)
            excess = [
                -np.expm1(np.minimum(truth - sign * side, 0.0)) for sign, side in zip((1, -1), losses, strict=True)
            ]
            hits = [int(np.sum(rng.random(len(side)) < side)) for side in excess]
            expected = binom(size_of(case), case.mechanism.delta)
            assert max(hits) <= expected.isf(FALSE_ALARM / 4)
            assert max(hits) >= expected.ppf(FALSE_ALARM / 2)
        return
    assert largest <= truth * (1 + 1e-9)
    if case.masses is None and name not in UNREACHED:
        assert largest > 0.97 * truth
    if math.isinf(truth) and largest < np.inf:
        assert largest > case.claimed[0]


@pytest.mark.parametrize("name", MOSTLY_SLOW)
def test_cells_have_the_masses_that_samples_show(name, sampled):
    case = case_named(name)
    if case.masses is None:
        pytest.skip("the oracle is worked out from samples")
    p, q = case.masses()
    assert p.sum() == pytest.approx(1, abs=1e-7)
    assert q.sum() == pytest.approx(1, abs=1e-7)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.log(p) - np.log(q)
    tests = []
    for masses, losses in zip((p, q), sampled(name), strict=True):
        for level in np.quantile(
            losses[np.isfinite(losses)] if np.isfinite(losses).any() else [0.0], [0.02, 0.5, 0.98]
        ):
            # Within a cell the log-ratio may differ a little from the cell's own.
            least, most = (masses[ratios > level + margin].sum() for margin in (0.02, -0.02))
            hits, number = int(np.sum(losses > level + 1e-9)), len(losses)
            tests += [binom.cdf(hits, number, min(least, 1.0)), binom.sf(hits - 1, number, min(most, 1.0))]
    assert 2 * len(tests) * min(tests) > FALSE_ALARM


@pytest.mark.parametrize("name", MOSTLY_SLOW)
def test_the_oracle_grows_and_stays_below_the_truth(name, monkeypatch):
    # What is said of an oracle without cells follows from fewer log-ratios than its value is worked out from.
    monkeypatch.setattr(exact, "SAMPLED", 1 << 16)
    case = case_named(name)
    truth = case.truth()
    bounds = [case.oracle(samples, 0.9) for samples in (10**4, 10**6)]
    assert 0 < bounds[0] < bounds[1] <= truth * (1 + 1e-9)
    if case.masses is None:
        return
    far = case.oracle(10**12, 0.9)
    assert far <= truth * (1 + 1e-9)
    if math.isinf(truth):
        assert far > bounds[1] + 0.1
    elif name not in UNREACHED:
        assert far > 0.97 * truth


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name for name in NAMES if case_named(name).masses and not case_named(name).most and name not in RARE]
)
def test_the_oracle_from_samples_agrees_with_the_one_from_cells(name, sampled):
    case = case_named(name)
    # The sample of all tests chooses the event, and another one values it.
    from_samples = max(
        oracle.sampled_bound(
            sign * sampled(name)[side],
            sign * case.losses(side, SAMPLES, 9 + side),
            10**4,
            0.9,
            case.mechanism.delta,
        )
        for side, sign in ((0, 1), (1, -1))
    )
    assert from_samples == pytest.approx(case.oracle(10**4, 0.9), rel=0.06, abs=0.02)


def test_suites_are_apart_and_even():
    assert list(SUITES) == ["first", "second", "held-out"]
    assert len(cases("second")) >= 22
    assert len(cases("held-out")) >= 22
    named = [name for suite in SUITES for name in cases(suite)]
    assert len(named) == len(set(named))
    families_of = [{case.family for case in cases(suite).values()} for suite in ("second", "held-out")]
    assert families_of[0] == families_of[1]


@pytest.mark.slow
def test_claims_and_truths_agree():
    found = {name for name in NAMES if case_named(name).truth() <= case_named(name).claimed[0] * (1 + 1e-9)}
    assert found == CORRECT


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in HEAVY else []) for name in NAMES]
)
def test_samplers_repeat_and_return_what_was_asked_for(name):
    mechanism = case_named(name).mechanism
    for x, y in mechanism.neighbours():
        assert (x, y) == mechanism.pair
    for data in mechanism.pair:
        first, again = (mechanism.sample(data, 30, np.random.default_rng(8)) for _ in range(2))
        assert len(first) == 30
        assert repr(list(first)) == repr(list(again))
        assert case_named(name).log_ratio(first).shape == (30,)
        features = mechanism.features(np.fromiter(first, object, 30) if isinstance(first, list) else first)
        assert len(features) == 30


def test_outputs_that_happen_to_be_alike_keep_their_form():
    found = exact.objects([[1.0, None], [2.0, 3.0]])
    assert found.dtype == object
    assert found.shape == (2,)


def test_permute_and_flip_against_all_orders():
    mechanism = second.PermuteAndFlip()
    for data in mechanism.pair:
        coins = mechanism.coins(data)
        expected = np.zeros(6)
        for order in permutations(range(6)):
            left = 1.0
            for i in order:
                expected[i] += left * coins[i] / math.factorial(6)
                left *= 1 - coins[i]
        assert mechanism.law_of(data) == pytest.approx(expected, rel=1e-12)


def test_the_truth_of_top_three_by_selection_one_at_a_time():
    # Three of the three best are chosen, each with a factor of e for the choice less the growth of what is left.
    weights = [[math.exp(value / 2) for value in data] for data in second.TopThreeGumbel().pair]
    expected = 0.0
    for places in ((0, 1, 2), (3, 4, 5), (0, 3, 1)):
        logs = []
        for side in weights:
            left = list(side)
            total = 0.0
            for i in places:
                total += math.log(side[i] / sum(left))
                left[i] = 0.0
            logs.append(total)
        expected = max(expected, abs(logs[0] - logs[1]))
    assert case_named("top-three-gumbel").truth() == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 4, 9, 10])
def test_the_first_answer_above_against_scipy(place):
    mechanism = second.FirstAbove()
    for data in mechanism.pair:

        def density(rho, data=data):
            below = [laplace.cdf(0.5 + rho - answer, scale=4.0) for answer in data]
            found = laplace.pdf(rho, scale=2.0) * np.prod(below[:place])
            return found * (1 - below[place]) if place < 10 else found

        edges = (-np.inf, -10, -0.5, 0, 0.5, 10, np.inf)
        expected = math.fsum(quad(density, *bounds)[0] for bounds in pairwise(edges))
        assert mechanism.law_of(data)[place] == pytest.approx(expected, rel=1e-7)


@pytest.mark.slow
def test_the_density_of_gaps_against_scipy():
    data, scale = second.WinnerAndGap().pair[1], 2.0
    for winner, at in ((0, 0), (1, 40), (1, 170)):
        gap = second.GAPS[at]
        others = [answer for i, answer in enumerate(data) if i != winner]

        def density(value, winner=winner, gap=gap, others=others):
            runner_up = sum(
                laplace.pdf(value, other, scale)
                * math.prod(laplace.cdf(value, rest, scale) for j, rest in enumerate(others) if j != i)
                for i, other in enumerate(others)
            )
            return laplace.pdf(value + gap, data[winner], scale) * runner_up

        edges = sorted({-60.0, 0.0, 1.0, data[winner] - gap, 60.0})
        expected = math.fsum(quad(density, *bounds, epsabs=1e-14)[0] for bounds in pairwise(edges))
        assert second.gap_density(data, winner, scale)[at] == pytest.approx(expected, rel=1e-5)


def test_thresholds_below_a_number_against_scipy():
    mechanism = heldout.NumbersAbove()
    noise, logs = heldout.below_until(mechanism, 1.0, 5)
    for end in (-7.0, 0.4, 12.0):

        def density(rho):
            return laplace.pdf(rho, scale=2.0) * laplace.cdf(rho + 1.0 - 1.0, scale=4.0) ** 5

        edges = sorted({-80.0, *(min(edge, end) for edge in (-20.0, 0.0)), end})
        expected = math.fsum(quad(density, *bounds, epsabs=0)[0] for bounds in pairwise(edges))
        assert np.interp(end, noise, logs) == pytest.approx(math.log(expected), abs=2e-5)


@pytest.mark.slow
def test_composed_steps_of_normal_noise_against_one_of_them():
    edges = np.linspace(-9, 10, 40_000)
    p, q = (np.diff(np.r_[0.0, norm.cdf(edges - centre), 1.0]) for centre in (0.0, 0.5))
    middle = np.r_[edges[0], (edges[1:] + edges[:-1]) / 2, edges[-1]]
    masses = families.composed(p, q, 0.125 - 0.5 * middle, 4)
    assert oracle.true_epsilon(*masses, 1e-4) == pytest.approx(exact.gaussian_epsilon(1.0, 1e-4), abs=2e-4)


def test_the_subsampled_normal_law_against_scipy():
    case = case_named("subsampled-gaussian")
    truth, sigma, rate = case.truth(), case.mechanism.sigma, case.mechanism.rate

    def excess(value):
        mixed = (1 - rate) * norm.pdf(value, 0, sigma) + rate * norm.pdf(value, 1, sigma)
        return max(mixed - math.exp(truth) * norm.pdf(value, 0, sigma), 0.0)

    # The worse direction is that of the user in the sample: the excess starts where the log-ratio is the truth.
    start = 0.5 + sigma**2 * math.log((math.exp(truth) - 1 + rate) / rate)
    assert quad(excess, start, 8, epsabs=1e-12)[0] == pytest.approx(case.mechanism.delta, rel=1e-4)


@pytest.mark.parametrize("name", ["skellam-noise", "stable-histogram", "confident-votes"])
def test_truths_of_finite_laws_agree_with_the_toolkit(name):
    case = case_named(name)
    p, q = case.masses()
    laws = [dpaudit.FiniteLaw.from_probabilities(range(len(p)), side / side.sum()) for side in (p, q)]
    exact_epsilon = max(dpaudit.compare(a, b).epsilon(case.mechanism.delta).upper for a, b in (laws, laws[::-1]))
    assert case.truth() == pytest.approx(exact_epsilon, rel=1e-6)


@pytest.mark.parametrize("name", ["autoregressive-series", "tree-counter", "shared-noise", "momentum-steps"])
def test_the_noise_of_series_has_the_covariance_that_the_log_ratio_uses(name):
    case = case_named(name)
    outputs = case.mechanism.sample(0, 20_000, np.random.default_rng(4))
    mixing = case.mechanism.mixing()
    covariance = mixing @ mixing.T
    spread = np.sqrt(np.diag(covariance))
    found = np.cov(outputs, rowvar=False) / np.outer(spread, spread)
    # Of at most 50 * 50 correlations none is off by more than seven standard errors.
    assert np.abs(found - covariance / np.outer(spread, spread)).max() < 7 * math.sqrt(2 / 20_000)
    # All parameters after a step are those of twelve independent steps: sqrt(12) / 5 standard deviations.
    if name == "momentum-steps":
        assert case.truth() == pytest.approx(exact.gaussian_epsilon(math.sqrt(12) / 5, 1e-5), rel=1e-9)


def test_the_nodes_of_the_tree_make_up_the_prefixes():
    mechanism = second.TreeCounter()
    mixing = mechanism.mixing()
    nodes = [np.arange(16) // 2**level == i for level in range(5) for i in range(16 >> level)]
    assert np.array_equal(mixing @ np.array(nodes), np.tril(np.ones((16, 16))))


@pytest.mark.parametrize("name", ["sometimes-small-noise", "random-scale"])
def test_the_largest_log_ratio_of_a_mixture_is_where_it_is_said(name):
    case = case_named(name)
    line = np.linspace(-3, 3, 60_001)
    outputs = line if name == "sometimes-small-noise" else np.repeat(line[:, None], 10, axis=1)
    assert np.abs(case.log_ratio(outputs)).max() == pytest.approx(case.truth(), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["label-and-count", "sensor-report", "first-above", "needle-ten-thousandth"])
def test_cases_are_audited_through_the_public_interface(name):
    row = audit.audit_case(name, 3000, 0.9, 1)
    assert row.verdict in {"refuted", "consistent", "inconclusive"}
    assert row.samples > 0
    # The bound holds with probability 0.9; one that is so far above is a wrong truth, not bad luck.
    assert row.bound < row.truth + 1


@pytest.mark.slow
def test_a_row_without_an_oracle_is_not_behind_it():
    row = audit.audit_case("discrete-laplace-small", 1000, 0.9, 1)
    assert row.oracle == 0
    assert row.ratio == 1


def test_outputs_asked_for_are_bounded_where_they_are_wide():
    assert case_named("wide-dense-shift").most == 50_000
    assert case_named("wide-few-shifted").most == 50_000


@pytest.mark.slow
def test_the_command_line_takes_a_suite(tmp_path, capsys):
    import blackbox

    arguments = ["--suite", "held-out", "--samples", "4000", "--only", "snapped-noise", "log-lines"]
    assert blackbox.main([*arguments, "--write", str(tmp_path / "table.md")]) == 0
    captured = capsys.readouterr()
    assert [line.split()[0] for line in captured.out.splitlines()] == ["mechanism", "snapped-noise", "log-lines"]
    assert "median" in captured.err
    written = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert written.startswith("# Black-box audits of held-out mechanisms")
    assert "--suite held-out" in written
    assert blackbox.main(["--suite", "second", "--only", "snapped-noise"]) == 2
    assert "no case named snapped-noise" in capsys.readouterr().err
