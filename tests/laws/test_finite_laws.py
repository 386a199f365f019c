import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from dpaudit.errors import CheckError
from dpaudit.laws import FiniteLaw, LaplaceLaw, compare

SETTINGS = settings(max_examples=150, deadline=None, derandomize=True, database=None)
LOG_WEIGHTS = st.one_of(st.just(-math.inf), st.sampled_from([-800.0, -690.8, -30.0]), st.floats(-5.0, 0.0))
EPSILONS = st.one_of(st.floats(-1.0, 6.0), st.sampled_from([0.0, 30.0, 600.0]))


@st.composite
def pairs_of_laws(draw):
    """Log-probabilities of two laws on 2 to 5 outcomes: zeros, 1e-300 and infinite losses included."""
    size = draw(st.integers(2, 5))
    possible = st.lists(LOG_WEIGHTS, min_size=size, max_size=size).filter(lambda row: max(row) > -math.inf)
    rows = [np.array(draw(possible)) for _ in range(2)]
    return [row - logsumexp(row) for row in rows]


def events(size):
    for chosen in itertools.product([False, True], repeat=size):
        if any(chosen):
            yield np.array(chosen)


def largest_excess(log_p, log_q, epsilon):
    """Hockey-stick divergence, by trying every event."""
    with np.errstate(over="ignore"):
        p, raised_q = np.exp(log_p), np.exp(epsilon + log_q)
    return max(0.0, *(math.fsum([*p[s], *-raised_q[s]]) for s in events(len(p))))


def largest_ratio(log_p, log_q):
    """Max divergence, by trying every event that P can produce."""
    ratios = []
    for s in events(len(log_p)):
        mass_p, mass_q = np.logaddexp.reduce(log_p[s]), np.logaddexp.reduce(log_q[s])
        if mass_p > -math.inf:
            ratios.append(mass_p - mass_q)
    return max(ratios)


def compared(log_p, log_q):
    outcomes = list(range(len(log_p)))
    return compare(FiniteLaw(outcomes, log_p), FiniteLaw(outcomes, log_q))


@pytest.mark.slow
@SETTINGS
@given(laws=pairs_of_laws(), epsilon=EPSILONS)
def test_delta_is_the_largest_excess_over_all_events(laws, epsilon):
    found = compared(*laws).delta(epsilon)
    assert found.lower == found.upper == pytest.approx(largest_excess(*laws, epsilon), rel=1e-9, abs=1e-14)


@pytest.mark.slow
@SETTINGS
@given(laws=pairs_of_laws())
def test_max_divergence_is_the_largest_ratio_over_all_events(laws):
    expected = largest_ratio(*laws)
    comparison = compared(*laws)
    assert comparison.max_divergence() == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert comparison.epsilon(0.0).upper == pytest.approx(max(0.0, expected), rel=1e-12, abs=1e-12)


@pytest.mark.slow
@SETTINGS
@given(laws=pairs_of_laws(), delta=st.one_of(st.floats(1e-6, 1.0), st.sampled_from([1e-12, 1e-200])))
def test_epsilon_is_the_smallest_that_keeps_delta(laws, delta):
    epsilon = compared(*laws).epsilon(delta).upper
    slack = 1e-9 * delta + 1e-14 * max(1.0, min(epsilon, 1000.0))
    if epsilon == math.inf:
        assert largest_excess(*laws, 2000.0) > delta - slack
    else:
        assert largest_excess(*laws, epsilon) <= delta + slack
    if 0 < epsilon < math.inf:
        assert largest_excess(*laws, epsilon - 1e-7 * max(1.0, epsilon)) > delta - slack


@pytest.mark.slow
@SETTINGS
@given(laws=pairs_of_laws(), delta=st.floats(1e-3, 0.9))
def test_epsilon_undoes_delta(laws, delta):
    comparison = compared(*laws)
    epsilon = comparison.epsilon(delta).upper
    if 0 < epsilon < math.inf:
        assert comparison.delta(epsilon).upper == pytest.approx(delta, rel=1e-9)


@pytest.mark.slow
@SETTINGS
@given(laws=pairs_of_laws(), epsilon=st.floats(0.0, 3.0))
def test_worst_event_carries_the_divergence(laws, epsilon):
    comparison = compared(*laws)
    pure = comparison.worst_event(epsilon, 0.0)
    assert pure.log_p - pure.log_q == pytest.approx(comparison.max_divergence(), rel=1e-12, abs=1e-12)
    approximate = comparison.worst_event(epsilon, 1e-3)
    delta = comparison.delta(epsilon).upper
    if delta > 0:
        assert approximate.p - math.exp(epsilon) * approximate.q == pytest.approx(delta, rel=1e-9, abs=1e-13)


def test_worst_event_lists_the_outcomes_whose_masses_it_states():
    p = FiniteLaw.from_probabilities(["a", "b", "c", "d"], [0.4, 0.3, 0.2, 0.1])
    q = FiniteLaw.from_probabilities(["d", "c", "b", "a"], [0.6, 0.2, 0.1, 0.1])
    event = compare(p, q).worst_event(0.5, 0.1)
    assert event.outcomes == ["a", "b"]
    assert (event.p, event.q) == (pytest.approx(0.7), pytest.approx(0.2))
    assert compare(p, q).worst_event(0.5, 0.0).outcomes == "a"


def test_long_worst_event_is_counted_and_abridged():
    p = FiniteLaw.from_probabilities(range(101), [*[0.009] * 100, 0.1])
    q = FiniteLaw.from_probabilities(range(101), [*[0.001] * 100, 0.9])
    event = compare(p, q).worst_event(1.0, 0.1)
    assert event.outcomes["outcomes whose likelihood ratio exceeds e^epsilon"] == 100
    assert event.outcomes["among them"] == list(range(24))
    assert event.p == pytest.approx(0.9)


def test_masses_of_the_certain_event_are_no_more_than_one():
    uniform = np.full(10, -math.log(10))
    event = compared(uniform, uniform).worst_event(-1.0, 0.1)
    assert event.p <= 1
    assert event.q <= 1
    assert event.p == pytest.approx(1)


def test_loss_of_outcomes_too_rare_for_a_double_is_not_lost():
    comparison = compared(np.array([-800.0, 0.0]), np.array([-900.0, 0.0]))
    assert comparison.max_divergence() == 100
    assert comparison.epsilon(0.0).lower == 100


def test_outcomes_are_matched_by_value_and_missing_ones_are_impossible():
    p = FiniteLaw.from_probabilities(np.array([[0, 1], [1, 0]]), [0.25, 0.75])
    q = FiniteLaw.from_probabilities([(1, 0), (2, 2)], [0.5, 0.5])
    assert compare(p, q).delta(0.0).upper == pytest.approx(0.5)
    assert compare(p, q).max_divergence() == math.inf
    assert compare(q, p).delta(0.0).upper == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("outcomes", "probabilities", "message"),
    [
        ("ab", [0.5, 0.4], "add up to 0.9 instead of 1"),
        ("ab", [0.5, 0.5 + 1e-8], "add up to 1.00000001 instead of 1"),
        ("ab", [0.5, math.nan], "not a number or above 0"),
        ("ab", [1.5, -0.5], "-0.5 is negative"),
        ("ab", [2.0, 0.0], "not a number or above 0"),
        ("abc", [0.5, 0.5], r"3 outcomes but log-probabilities of shape \(2,\)"),
        ("ab", [[0.5, 0.5]], r"2 outcomes but log-probabilities of shape \(1, 2\)"),
        ("", [], "add up to 0 instead of 1"),
    ],
)
def test_malformed_laws_are_refused(outcomes, probabilities, message):
    with pytest.raises(CheckError, match=message):
        FiniteLaw.from_probabilities(outcomes, probabilities)


def test_rounding_of_the_total_is_forgiven():
    assert len(FiniteLaw.from_probabilities("ab", [0.5, 0.5 + 1e-10]).outcomes) == 2


def test_an_outcome_listed_twice_is_refused():
    twice = FiniteLaw.from_probabilities([[1, 2], (1, 2)], [0.5, 0.5])
    with pytest.raises(CheckError, match="same outcome twice"):
        compare(twice, FiniteLaw.from_probabilities([(1, 2)], [1.0]))


def test_rows_of_two_arrays_are_compared_as_lists_of_them_are():
    rows, p, q = np.array([[0, 1], [1, 0], [1, 1]]), [0.5, 0.25, 0.25], [0.2, 0.3, 0.5]
    by_arrays = compare(FiniteLaw.from_probabilities(rows, p), FiniteLaw.from_probabilities(rows.copy(), q))
    for others in (rows.tolist(), rows[::-1], rows.astype(float)[[1, 0, 2]]):
        masses = dict(zip(map(tuple, rows.tolist()), q, strict=True))
        law = FiniteLaw.from_probabilities(others, [masses[tuple(row)] for row in np.asarray(others).tolist()])
        found = compare(FiniteLaw.from_probabilities(rows, p), law)
        for epsilon in (0.0, 0.1, 0.5, 1.0):
            assert found.delta(epsilon) == by_arrays.delta(epsilon)
    # Floating point holds no whole number beyond 2^53, and what is masked is no outcome.
    large = FiniteLaw.from_probabilities(np.array([2**53, 2**53 + 1, 5]), p)
    with pytest.raises(CheckError, match="same outcome twice"):
        compare(large, FiniteLaw.from_probabilities(np.array([2.0**53, 2.0**53, 5.0]), q))
    one, other = (FiniteLaw.from_probabilities(np.ma.array([1, 2, 3], mask=mask), p) for mask in ([0, 1, 0], [0, 0, 1]))
    assert compare(one, other).epsilon(0.0).upper == np.inf
    again = np.array([[0, 1], [0, 1], [1, 1]])
    with pytest.raises(CheckError, match="same outcome twice"):
        compare(FiniteLaw.from_probabilities(again, p), FiniteLaw.from_probabilities(again.copy(), q))


def test_laws_of_different_kinds_are_not_compared():
    with pytest.raises(CheckError, match="a FiniteLaw cannot be compared with a LaplaceLaw"):
        compare(FiniteLaw.from_probabilities("a", [1.0]), LaplaceLaw(0.0, 1.0))
