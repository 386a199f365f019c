"""``dpaudit.testing.assert_private``: what it lets pass, what it says when it fails, and that it says it again."""

import numpy as np
import pytest

import dpaudit
from dpaudit.testing import assert_private


class Noisy(dpaudit.Mechanism):
    """A count with Laplace noise."""

    epsilon: float = dpaudit.parameter(1.0)

    def sample(self, data, size, rng):
        return data + rng.laplace(scale=1 / self.epsilon, size=size)

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([3.0, 4.0], scope="two counts")


class Exact(Noisy):
    """The same with its law."""

    def law(self, data):
        return dpaudit.LaplaceLaw(data, 1 / self.epsilon)


class Gaussian(Noisy):
    """A count with normal noise."""

    def sample(self, data, size, rng):
        return data + rng.normal(size=size)

    def law(self, data):
        return dpaudit.GaussianLaw(data, 1.0)


def message(*args, **options):
    with pytest.raises(AssertionError) as caught:
        assert_private(*args, **options)
    return str(caught.value)


def test_what_holds_passes_and_returns_the_evidence():
    assert assert_private(Exact(), epsilon=1.0).verdict == "proved"
    sampled = assert_private(Noisy(), epsilon=1.0, samples=20_000)
    assert sampled.verdict == "consistent"
    assert sampled.measured["epsilon"].lower <= 1.0
    epsilon = dpaudit.compare(dpaudit.GaussianLaw(1, 1), dpaudit.GaussianLaw(0, 1)).epsilon(0.01).upper
    assert assert_private(Gaussian(), epsilon=epsilon, delta=0.01).verdict == "proved"


def test_a_violation_found_by_sampling_is_shown_with_its_false_alarm_rate():
    text = message(Noisy(epsilon=2.0), epsilon=1.0, samples=50_000, confidence=0.999)
    assert "Noisy(epsilon=2.0)" in text
    assert "(1, 0)-DP" in text
    assert "refuted (black-box)" in text
    assert "false-alarm rate: at most 0.001" in text
    lines = {line.split()[0]: line for line in text.splitlines()[1:]}
    assert {"input", "neighbour", "event", "p,"} <= set(lines)
    assert {lines["input"].split()[1], lines["neighbour"].split()[1]} == {"3.0", "4.0"}
    assert 1 < float(text.split("so epsilon >= ")[1].split()[0]) <= 2
    p, q = (float(value.strip(",")) for value in lines["p,"].split()[2:])
    assert 0 < q < p < 1


def test_an_exact_violation_has_no_false_alarm_rate():
    text = message(Exact(epsilon=2.0), epsilon=1.0)
    assert "refuted (exact)" in text
    assert "so epsilon >= 2" in text
    assert "false-alarm" not in text
    assert "delta 0.126937" in message(Gaussian(), epsilon=1.0, delta=0.001)


def test_a_budget_too_small_to_say_fails():
    text = message(Noisy(), epsilon=9.0, samples=1000)
    assert "inconclusive" in text
    assert "raise --samples" in text


def test_a_rerun_says_the_same():
    options = {"epsilon": 1.0, "samples": 20_000}
    assert message(Noisy(epsilon=2.0), **options) == message(Noisy(epsilon=2.0), **options)
    assert assert_private(Noisy(), **options) == assert_private(Noisy(), **options)
    assert message(Noisy(epsilon=2.0), **options) != message(Noisy(epsilon=2.0), **options, seed=1)
    np.random.default_rng().random()
    assert assert_private(Noisy(), **options, seed=5) == assert_private(Noisy(), **options, seed=5)


def test_a_view_is_chosen_by_name():
    protocol = dpaudit.load("ldp-kwiksort-rr")(epsilon=1.0, queries=2)
    assert assert_private(protocol, epsilon=1.0, view="report").verdict == "proved"
    assert "refuted" in message(protocol, epsilon=0.9, view="report")
    with pytest.raises(dpaudit.CheckError, match="no view"):
        assert_private(protocol, epsilon=1.0, view="reports")


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": -1.0},
        {"epsilon": 1.0, "delta": 2.0},
        {"epsilon": 1.0, "samples": 0},
        {"epsilon": 1.0, "confidence": 1.0},
    ],
)
def test_impossible_calls_are_refused(wrong):
    with pytest.raises(dpaudit.ParameterError):
        assert_private(Noisy(), **wrong)
