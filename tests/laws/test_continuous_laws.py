import math
from itertools import pairwise

import pytest
from scipy.integrate import quad
from scipy.stats import laplace, norm

from dpaudit.errors import CheckError, ParameterError
from dpaudit.laws import GaussianLaw, LaplaceLaw, compare

RATIOS = [1e-3, 0.1, 1.0, 3.0, 20.0]


def integrated_excess(p, q, epsilon, breaks):
    """Integral of (p - e^epsilon q)+ over consecutive intervals, for frozen scipy laws."""

    def excess(x):
        gap = epsilon + q.logpdf(x) - p.logpdf(x)
        return math.exp(p.logpdf(x)) * -math.expm1(gap) if gap < -1e-12 else 0.0

    pieces = pairwise(breaks)
    return math.fsum(quad(excess, low, high, epsabs=0, epsrel=1e-10, limit=200)[0] for low, high in pieces)


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("share", [-2.0, -1.0, -0.5, 0.0, 0.3, 0.999, 1.0, 1.5])
def test_laplace_delta_is_the_integrated_excess(ratio, share):
    epsilon, scale = share * ratio, 2.5
    crossing = (ratio + max(-ratio, min(epsilon, ratio))) / 2 * scale
    breaks = sorted({-40 * scale, 0.0, crossing, ratio * scale, (ratio + 40) * scale})
    expected = integrated_excess(laplace(ratio * scale, scale), laplace(0, scale), epsilon, breaks)
    found = compare(LaplaceLaw(ratio * scale, scale), LaplaceLaw(0.0, scale)).delta(epsilon)
    assert found.lower == found.upper == pytest.approx(expected, rel=1e-8, abs=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("distance", [0.0, 0.5, 3.0, 8.0, 20.0, 37.0])
def test_gaussian_delta_is_the_integrated_excess(ratio, distance):
    """``distance`` standard deviations beyond P's centre: delta falls to about 1e-300."""
    scale = 0.7
    epsilon = ratio * distance + ratio**2 / 2
    crossing = (ratio + distance) * scale
    breaks = [crossing + step * scale for step in (0, 0.05, 0.3, 1, 4, 15, 40)]
    expected = integrated_excess(norm(ratio * scale, scale), norm(0, scale), epsilon, breaks)
    found = compare(GaussianLaw(ratio * scale, scale), GaussianLaw(0.0, scale)).delta(epsilon)
    assert expected > 0
    assert found.lower == found.upper == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("law", [LaplaceLaw, GaussianLaw])
@pytest.mark.parametrize("ratio", [0.0, *RATIOS])
@pytest.mark.parametrize("delta", [1e-300, 1e-30, 1e-9, 1e-3, 0.4, 0.999, 1.0])
def test_epsilon_undoes_delta(law, ratio, delta):
    comparison = compare(law(ratio, 1.0), law(0.0, 1.0))
    epsilon = comparison.epsilon(delta).upper
    if epsilon == 0:
        assert comparison.delta(0.0).upper <= delta
    else:
        # Beside a loss of `ratio`, a double cannot tell deltas apart that differ by less than its last digit.
        last_digit = 4e-16 * ratio if law is LaplaceLaw else 0.0
        assert comparison.delta(epsilon).upper == pytest.approx(delta, rel=1e-8, abs=last_digit)


@pytest.mark.parametrize("ratio", [1e-17, 0.1, 5.0])
def test_pure_epsilon(ratio):
    laplace_pair = compare(LaplaceLaw(0.0, 1.0), LaplaceLaw(ratio, 1.0))
    assert laplace_pair.max_divergence() == laplace_pair.epsilon(0.0).lower == ratio
    gaussian_pair = compare(GaussianLaw(0.0, 1.0), GaussianLaw(ratio, 1.0))
    assert gaussian_pair.max_divergence() == gaussian_pair.epsilon(0.0).lower == math.inf


@pytest.mark.parametrize("law", [LaplaceLaw, GaussianLaw])
def test_equal_laws_lose_nothing(law):
    comparison = compare(law(3.0, 2.0), law(3.0, 2.0))
    assert comparison.max_divergence() == comparison.epsilon(0.0).upper == comparison.delta(0.0).upper == 0
    assert comparison.delta(-1.0).upper == pytest.approx(1 - math.exp(-1))
    event = comparison.worst_event(1.0, 0.0)
    assert event.p == event.q


@pytest.mark.parametrize(("law", "reference"), [(LaplaceLaw, laplace), (GaussianLaw, norm)])
@pytest.mark.parametrize("direction", [1.0, -1.0])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.4, 1e-3), (0.0, 1e-3), (1.1, 0.0), (9.0, 0.0)])
def test_worst_event_is_a_half_line_with_the_masses_it_states(law, reference, direction, epsilon, delta):
    scale, p_location, q_location = 0.8, 2.0 + direction, 2.0
    comparison = compare(law(p_location, scale), law(q_location, scale))
    event = comparison.worst_event(epsilon, delta)
    ((side, threshold),) = event.outcomes.items()
    assert side == ("at least" if direction > 0 else "at most")
    tail = "sf" if direction > 0 else "cdf"
    assert event.p == pytest.approx(getattr(reference(p_location, scale), tail)(threshold), rel=1e-9)
    assert event.q == pytest.approx(getattr(reference(q_location, scale), tail)(threshold), rel=1e-9)
    if delta > 0:
        assert event.p - math.exp(epsilon) * event.q == pytest.approx(comparison.delta(epsilon).upper, rel=1e-9)
    elif law is LaplaceLaw:
        assert event.log_p - event.log_q == pytest.approx(comparison.max_divergence(), rel=1e-12)
    else:
        assert event.log_p - event.log_q > epsilon


@pytest.mark.parametrize("law", [LaplaceLaw, GaussianLaw])
def test_different_scales_are_refused(law):
    with pytest.raises(CheckError, match=r"different scales \(1 and 2\)"):
        compare(law(0.0, 1.0), law(0.0, 2.0))


@pytest.mark.parametrize("law", [LaplaceLaw, GaussianLaw])
@pytest.mark.parametrize(("location", "scale"), [(math.nan, 1), (math.inf, 1), (0, 0), (0, -1), (0, math.nan)])
def test_impossible_parameters_are_refused(law, location, scale):
    with pytest.raises(ParameterError, match="finite location and a scale above 0"):
        law(location, scale)
