"""Sums of bits against rational arithmetic and binomial laws; the worst number of ones against all of them."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

import dpaudit
from dpaudit.laws import Bit, hockey_stick, log_count_law, worst_others

SEED = 20261121


def exact_law(*groups):
    """Law of a sum of bits in rational arithmetic; groups are (number, probability)."""
    law = [Fraction(1)]
    for number, probability in groups:
        p = Fraction(probability)
        for _ in range(number):
            law = [
                (law[i] * (1 - p) if i < len(law) else 0) + (law[i - 1] * p if i else 0) for i in range(len(law) + 1)
            ]
    return law


def log_of(value):
    """Logarithm of a rational number of any size."""
    shift = value.numerator.bit_length() - value.denominator.bit_length()
    return math.log(value / Fraction(2) ** shift) + shift * math.log(2)


def random_cases(count, most=12):
    rng = np.random.default_rng(SEED)
    while count:
        zero, one = sorted(rng.beta(0.3, 0.3, 2))
        if 0 < zero < one < 1:
            ones, zeros = rng.integers(0, most, 2)
            yield float(zero), float(one), int(ones), int(zeros), float(rng.uniform())
            count -= 1


def test_law_in_rational_arithmetic():
    for zero, one, ones, zeros, _ in random_cases(30):
        found = log_count_law([(ones, Bit.of(one)), (zeros, Bit.of(zero))])
        exact = [log_of(value) for value in exact_law((ones, one), (zeros, zero))]
        assert found == pytest.approx(exact, rel=0, abs=1e-12)


def test_tails_keep_their_digits_below_1e_300():
    found = log_count_law([(40, Bit.of(1e-9)), (30, Bit.of(0.25))])
    exact = np.array([log_of(value) for value in exact_law((40, 1e-9), (30, 0.25))])
    assert exact[-1] < math.log(1e-300)
    assert found == pytest.approx(exact, rel=0, abs=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.5, 0.27, 1e-4])
def test_law_of_100_000_bits_is_binomial(p):
    found = log_count_law([(40_000, Bit.of(p)), (60_000, Bit.of(p))])
    near = np.unique(binom.ppf([1e-300, 1e-100, 1e-20, 1e-3, 0.5, 1 - 1e-3, 1 - 1e-12], 100_000, p).astype(int))
    assert found[near] == pytest.approx(binom.logpmf(near, 100_000, p), rel=0, abs=1e-8)
    assert math.fsum(np.exp(found)) == pytest.approx(1, abs=1e-11)
    assert found[-1] == pytest.approx(100_000 * math.log(p), rel=1e-12)


def test_bits_that_are_certain_only_shift_the_law():
    law = log_count_law([(3, Bit.of(1.0)), (2, Bit.of(0.0)), (2, Bit.of(0.5))])
    assert np.exp(law) == pytest.approx([0, 0, 0, 0.25, 0.5, 0.25, 0, 0])
    assert np.exp(log_count_law([(4, Bit.of(1.0))])) == pytest.approx([0, 0, 0, 0, 1])
    assert np.exp(log_count_law([])) == pytest.approx([1])


def test_divergence_in_rational_arithmetic():
    for zero, one, ones, zeros, share in random_cases(60):
        epsilon = share * math.log(one / zero)
        p = exact_law((ones + 1, one), (zeros, zero))
        q = exact_law((ones, one), (zeros + 1, zero))
        level = Fraction(math.exp(epsilon))
        exact = sum(max(a - level * b, Fraction(0)) for a, b in zip(p, q, strict=True))
        found = hockey_stick(Bit.of(one), Bit.of(zero), [(ones, Bit.of(one)), (zeros, Bit.of(zero))], epsilon)
        assert found.log_delta == pytest.approx(log_of(exact), rel=0, abs=1e-9)
        assert found.log_p == pytest.approx(log_of(sum(p[found.least :])), rel=0, abs=1e-11)
        assert found.log_q == pytest.approx(log_of(sum(q[found.least :])), rel=0, abs=1e-11)


def test_divergence_far_below_the_smallest_float():
    one, zero = Bit.of(0.6), Bit.of(0.4)
    found = hockey_stick(one, zero, [(20_000, one), (20_000, zero)], 0.3)
    assert found.log_delta < math.log(1e-300)
    assert found.delta == 0 or found.delta < 1e-300
    # P(S) - e^epsilon Q(S) of its own event, by the difference of the logarithms.
    gap = -math.expm1(0.3 + found.log_q - found.log_p)
    assert found.log_delta == pytest.approx(found.log_p + math.log(gap), rel=1e-9)


def test_no_divergence_beyond_the_largest_loss():
    one, zero = Bit.of(0.8), Bit.of(0.2)
    assert hockey_stick(one, zero, [(5, one)], math.log(4)).delta == pytest.approx(0, abs=1e-12)
    assert hockey_stick(one, zero, [(5, one)], 2.0).delta == 0
    assert hockey_stick(one, one, [(5, one)], 0.0).delta == 0


@pytest.mark.slow
@pytest.mark.parametrize("mirrored", [True, False])
def test_worst_number_of_ones_is_the_worst_of_all(mirrored):
    for zero, one, others, _, share in random_cases(50, most=30):
        p, q = (max(one, 1 - zero), min(1 - one, zero)) if mirrored else (one, zero)
        q = 1 - p if mirrored else q
        if p <= q:
            continue
        epsilon = 0.98 * share * math.log(p / q)
        a, b = Bit.of(p), Bit.of(q)
        every = [hockey_stick(a, b, [(ones, a), (others - ones, b)], epsilon).log_delta for ones in range(others + 1)]
        ones, found = worst_others(a, b, others, epsilon)
        assert found.log_delta == pytest.approx(max(every), rel=0, abs=1e-12)
        assert every[ones] == found.log_delta


@pytest.mark.parametrize(
    ("zero", "one", "share"), [(0.45, 0.55, 0.02), (0.02, 0.5, 0.3), (0.3, 0.9, 0.6), (0.4, 0.6, 0.0)]
)
def test_worst_number_of_ones_among_many(zero, one, share):
    """More than the numbers that are looked at together, so that the search has to choose between their groups."""
    a, b, others = Bit.of(one), Bit.of(zero), 300
    epsilon = share * math.log(one / zero)
    every = [hockey_stick(a, b, [(k, a), (others - k, b)], epsilon).log_delta for k in range(others + 1)]
    assert worst_others(a, b, others, epsilon)[1].log_delta == pytest.approx(max(every), rel=0, abs=1e-12)


def test_worst_number_of_ones_need_not_be_at_an_end():
    one = Bit.of(1 / (1 + math.exp(-1.7)))
    ones, found = worst_others(one, one.flipped, 20, 0.085)
    for end in (0, 20):
        at_end = hockey_stick(one, one.flipped, [(end, one), (20 - end, one.flipped)], 0.085)
        assert found.delta > 1.04 * at_end.delta
    assert 0 < ones < 20


def test_more_others_never_help_the_adversary():
    """The bound by which the search prunes: a divergence falls with every report that is added."""
    one, zero = Bit.of(0.7), Bit.of(0.2)
    for ones, zeros in itertools.product(range(0, 30, 7), repeat=2):
        here = hockey_stick(one, zero, [(ones, one), (zeros, zero)], 0.4).delta
        assert hockey_stick(one, zero, [(ones + 1, one), (zeros, zero)], 0.4).delta <= here * (1 + 1e-12)
        assert hockey_stick(one, zero, [(ones, one), (zeros + 1, zero)], 0.4).delta <= here * (1 + 1e-12)


def test_what_cannot_be_is_refused():
    with pytest.raises(dpaudit.ParameterError, match="add up to 1"):
        Bit(-0.1, -0.1)
    with pytest.raises(dpaudit.ParameterError, match="in \\[0, 1\\]"):
        Bit.of(1.5)
    with pytest.raises(dpaudit.ParameterError, match="at least as likely"):
        hockey_stick(Bit.of(0.2), Bit.of(0.8), [], 0.1)
    with pytest.raises(dpaudit.ParameterError, match="epsilon"):
        hockey_stick(Bit.of(0.8), Bit.of(0.2), [], -0.1)
    with pytest.raises(dpaudit.ParameterError, match="others"):
        worst_others(Bit.of(0.8), Bit.of(0.2), -1, 0.1)
