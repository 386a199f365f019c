"""Bounds from numbers of right guesses: against enumerated mechanisms, linear programs and published formulas."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import ndtr, ndtri
from scipy.stats import beta, binom, norm

from dpaudit.statistics import epsilon_of_guesses, mu_of_guesses
from dpaudit.statistics.guesses import _approximate, _gaussian, is_possible, tail_of_guesses

ALPHAS = (0.3, 0.1, 0.05, 0.001)


def missed(law, true, bound):
    """Probability that a bound on the number of right guesses is above the truth."""
    return sum(mass for right, mass in law.items() if bound(right) > true)


def response_law(m, k, epsilon, delta=0.0):
    """Law of the number of right guesses, over all coins and outputs, where each canary's coin is told by randomized
    response, and with probability delta as it is; what is told for sure is guessed first."""
    keep = 1 / (1 + math.exp(-epsilon))
    law = dict.fromkeys(range(k + 1), 0.0)
    # Output of a canary: told for sure or not, and right or wrong.
    parts = [((0, 1), delta), ((1, 1), (1 - delta) * keep), ((1, 0), (1 - delta) * (1 - keep))]
    for outputs in itertools.product(parts, repeat=m):
        first = sorted((kind for kind, _ in outputs), key=lambda kind: kind[0])[:k]
        law[sum(right for _, right in first)] += math.prod(mass for _, mass in outputs)
    return law


def sum_law(m, mu):
    """Law of the number of right guesses where the number of canaries that are in is told with Gaussian noise, and all
    canaries are guessed to be in, or all to be out."""
    law = dict.fromkeys(range(m + 1), 0.0)
    for inside in range(m + 1):
        above = norm.sf(m / 2, loc=inside, scale=1 / mu)
        law[inside] += binom.pmf(inside, m, 0.5) * above
        law[m - inside] += binom.pmf(inside, m, 0.5) * (1 - above)
    return law


def test_randomized_response_makes_binomial_numbers_of_right_guesses():
    law = response_law(6, 4, 1.3)
    assert list(law.values()) == pytest.approx(binom.pmf(range(5), 4, 1 / (1 + math.exp(-1.3))), abs=1e-12)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.02, 0.1])
@pytest.mark.parametrize(("m", "k"), [(6, 6), (6, 2), (4, 1)])
def test_coverage_of_epsilon(m, k, delta, alpha):
    for epsilon in (0.0, 0.4, 1.3, 3.0):
        law = response_law(m, k, epsilon, delta)
        assert missed(law, epsilon, lambda right: epsilon_of_guesses(right, k, m, delta=delta, alpha=alpha)) <= alpha


def test_the_bound_is_attained_at_delta_0():
    # Just below each attainable error probability, as much is missed.
    k, epsilon = 30, 1.0
    for right in range(18, 31):
        alpha = binom.sf(right - 1, k, 1 / (1 + math.exp(-epsilon)))
        assert epsilon_of_guesses(right, k, 30, alpha=alpha) == pytest.approx(epsilon, abs=1e-6)
        assert epsilon_of_guesses(right, k, 50, alpha=alpha) <= epsilon + 1e-9


@pytest.mark.parametrize("alpha", ALPHAS)
def test_coverage_of_mu(alpha):
    for m, mu in itertools.product((1, 2, 5, 12), (0.3, 1.0, 2.5)):
        binomial = dict(enumerate(binom.pmf(range(m + 1), m, ndtr(mu / 2))))
        for law in (binomial, sum_law(m, mu)):
            assert missed(law, mu, lambda right, m=m: mu_of_guesses(right, m, m, alpha=alpha)) <= alpha


def test_what_happens_is_possible():
    # Of mechanisms that keep the guarantee, no probability is called impossible: a term too few in a sum, or a canary
    # too many in a mean, would.
    for m, mu in itertools.product((1, 2, 3, 8, 20), (0.3, 1.0, 2.5)):
        laws = [dict(enumerate(binom.pmf(range(m + 1), m, ndtr(mu / 2)))), sum_law(m, mu)]
        for law, right in itertools.product(laws, range(1, m + 1)):
            tail = sum(mass for number, mass in law.items() if number >= right)
            assert is_possible(right, m, m, alpha=tail, blow_down=_gaussian(mu))
    # One canary: the probability of a right guess is Phi(mu / 2), and no more is possible.
    assert not is_possible(1, 1, 1, alpha=ndtr(0.5) + 1e-6, blow_down=_gaussian(1.0))


def largest_tail(right, k, m, lines):
    """Largest P[R >= right] under the constraints of `is_possible`, F being the least of some lines, by a program."""
    rows, limits = [], []
    for c in range(1, k + 1):
        for slope, constant in lines:
            row = [(w if w >= c else 0) - slope * (k - w if w >= c - 1 else 0) for w in range(k + 1)]
            rows.append(np.array(row) / m)
            limits.append(constant)
    goal = [-float(w >= right) for w in range(k + 1)]
    found = linprog(goal, A_ub=rows, b_ub=limits, A_eq=[np.ones(k + 1)], b_eq=[1.0])
    assert found.status == 0
    return -found.fun


@pytest.mark.parametrize(("right", "k", "m"), [(5, 6, 6), (6, 6, 10), (9, 12, 30), (1, 1, 4)])
def test_the_recursion_solves_the_linear_program(right, k, m):
    def by_recursion(blow_down):
        low, high = 0.0, 1.0
        while high - low > 1e-9:
            middle = (low + high) / 2
            possible = is_possible(right, k, m, alpha=middle, blow_down=blow_down)
            low, high = (middle, high) if possible else (low, middle)
        return low

    for epsilon, delta in ((0.0, 0.01), (1.0, 0.0), (1.0, 0.003), (2.0, 0.05)):
        grown = math.exp(epsilon)
        lines = [(grown, delta), (1 / grown, 1 - (1 - delta) / grown)]
        assert by_recursion(_approximate(epsilon, delta)) == pytest.approx(largest_tail(right, k, m, lines), abs=1e-6)
    for mu in (0.5, 1.5):
        at = ndtr(np.linspace(-6, 4, 400))
        slopes = np.exp(mu * -ndtri(at) - mu**2 / 2)
        lines = list(zip(slopes, ndtr(ndtri(at) + mu) - slopes * at, strict=True))
        # The lines touch F from above, and allow a little more.
        assert by_recursion(_gaussian(mu)) == pytest.approx(largest_tail(right, k, m, lines), abs=2e-4)


def test_tails_are_those_of_the_theorem():
    m, k, v, epsilon, delta = 40, 12, 9, 0.7, 1e-3
    trials = binom(k, 1 / (1 + math.exp(-epsilon)))
    between = [sum(trials.pmf(w) for w in range(max(v - i, 0), v)) / i for i in range(1, m + 1)]
    expected = sum(trials.pmf(w) for w in range(v, k + 1)) + 2 * m * delta * max(between)
    assert tail_of_guesses(v, k, m, epsilon=epsilon, delta=delta) == pytest.approx(expected, rel=1e-12)


def published_mu(right, k, m, alpha):
    """The recursion as the authors write it, on a grid of mu."""
    for mu in np.arange(0.0, 4.0, 0.01):
        h, r = [0.0] * (right + 1), [0.0] * (right + 1)
        h[right], r[right] = alpha * (k - right) / m, alpha * right / m
        for i in range(right - 1, -1, -1):
            h[i] = max(h[i + 1], norm.cdf(norm.ppf(min(r[i + 1], 1.0)) - mu))
            r[i] = r[i + 1] + i / (k - i) * (h[i] - h[i + 1])
        if r[0] + h[0] <= k / m:
            return mu
    return None


@pytest.mark.slow
def test_bounds_against_the_published_formulas():
    for right, k, m in ((17, 20, 50), (60, 80, 80)):
        assert mu_of_guesses(right, k, m, alpha=0.05) == pytest.approx(published_mu(right, k, m, 0.05), abs=0.0101)
    # Ten guesses, all of them right: ln(p / (1 - p)) with p^10 = 0.05.
    p = 0.05**0.1
    assert epsilon_of_guesses(10, 10, 1000, alpha=0.05) == pytest.approx(math.log(p / (1 - p)), abs=1e-9)
    p = beta.ppf(0.05, 80, 21)
    assert epsilon_of_guesses(80, 100, 100, alpha=0.05) == pytest.approx(math.log(p / (1 - p)), abs=1e-9)


def test_bounds_move_as_they_should():
    at = [epsilon_of_guesses(90, 100, 1000, delta=delta, alpha=0.05) for delta in (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 0.1)]
    assert at == sorted(at, reverse=True)
    assert at[0] - at[1] < 0.01
    assert at[-1] == 0
    for bound in (epsilon_of_guesses, mu_of_guesses):
        by_right = [bound(right, 60, 200, alpha=0.01) for right in range(61)]
        assert by_right == sorted(by_right)
        assert by_right[30] == bound(0, 0, 10) == 0
        # More canaries that are not guessed say less of mu, and of epsilon at delta 0 nothing.
        assert bound(55, 60, 60, alpha=0.01) >= bound(55, 60, 2000, alpha=0.01) > 0
