"""``dpaudit.testing.assert_private``: what it lets pass, what it says when it fails, and that it says it again."""

import functools
import re

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


def noisy(data, size, rng, epsilon=2.0):
    return Noisy(epsilon=epsilon).sample(data, size, rng)


PAIRS = [(3.0, 4.0)]


def message(*args, **options):
    with pytest.raises(AssertionError) as caught:
        assert_private(*args, **options)
    return str(caught.value)


@pytest.mark.slow
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
    (hits, trials), (others, other_trials) = (map(int, pair) for pair in re.findall(r"(\d+) of (\d+)", text))
    assert f"p, q       {hits / trials:.6g}, {others / other_trials:.6g} (frequency" in text
    assert "to see it again: seed=0, samples=50000, confidence=0.999" in text
    assert {lines["input"].split()[1], lines["neighbour"].split()[1]} == {"3.0", "4.0"}
    assert 1 < float(text.split("so epsilon >= ")[1].split()[0]) <= 2
    p, q = (float(value.strip(",")) for value in lines["p,"].split()[2:4])
    assert 0 < q < p < 1


@pytest.mark.slow
def test_the_bound_is_rounded_downwards(monkeypatch):
    found = []
    audit = dpaudit.testing.audit
    monkeypatch.setattr(
        dpaudit.testing, "audit", lambda *args, **options: found.append(audit(*args, **options)) or found[-1]
    )
    for seed in range(5):
        text = message(Noisy(epsilon=2.0), epsilon=1.0, samples=2000, seed=seed)
        printed = float(text.split("so epsilon >= ")[1].split()[0])
        assert 0 <= found[-1].measured["epsilon"].lower - printed < 1e-3, "four digits"


@pytest.mark.slow
def test_an_exact_violation_has_no_false_alarm_rate():
    text = message(Exact(epsilon=2.0), epsilon=1.0)
    assert "refuted (exact)" in text
    assert "so epsilon >= 2" in text
    assert "false-alarm" not in text
    assert "see it again" not in text, "nothing is drawn"
    assert "(probability of the event" in text
    # Phi(1/2 - 1) - e Phi(-1/2 - 1), the hockey-stick divergence of two normal laws one standard deviation apart
    assert "so delta >= 0.1269 at epsilon 1 (claimed: 0.001)" in message(Gaussian(), epsilon=1.0, delta=0.001)


@pytest.mark.slow
def test_float_bits_show_what_a_law_of_real_numbers_does_not():
    class Naive(Exact):
        def sample(self, data, size, rng):
            u = rng.random(size) - 0.5
            return data - np.sign(u) * np.log(1 - 2 * np.abs(u)) / self.epsilon

    assert assert_private(Naive(), epsilon=1.0).verdict == "proved"
    options = {"epsilon": 1.0, "samples": 50_000, "features": "float-bits"}
    text = message(Naive(), **options)
    assert "refuted (black-box)" in text
    assert "samples=50000, confidence=0.999, features='float-bits'" in text
    assert text == message(Naive(), **options)
    with pytest.raises(dpaudit.ParameterError, match="float-bits"):
        assert_private(Naive(), epsilon=1.0, method="exact", features="float-bits")


def test_a_budget_too_small_to_say_fails():
    text = message(Noisy(), epsilon=9.0, samples=1000)
    assert "inconclusive" in text
    assert "raise `samples`" in text
    assert "epsilon    at least " in text
    assert "false-alarm" not in text, "nothing was refuted"
    assert "to see it again: seed=0, samples=1000, confidence=0.999" in text


@pytest.mark.slow
def test_a_rerun_says_the_same():
    options = {"epsilon": 1.0, "samples": 20_000}
    assert message(Noisy(epsilon=2.0), **options) == message(Noisy(epsilon=2.0), **options)
    assert assert_private(Noisy(), **options) == assert_private(Noisy(), **options)
    assert message(Noisy(epsilon=2.0), **options) != message(Noisy(epsilon=2.0), **options, seed=1)
    np.random.default_rng().random()
    assert assert_private(Noisy(), **options, seed=5) == assert_private(Noisy(), **options, seed=5)


@pytest.mark.slow
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
        {"epsilon": 1.0, "delta": 1.0},
        {"epsilon": 10**400},
        {"epsilon": 1.0, "samples": 0},
        {"epsilon": 1.0, "samples": 1e6},
        {"epsilon": 1.0, "confidence": 1.0},
        {"epsilon": 1.0, "seed": -1},
        {"epsilon": 1.0, "seed": None},
        {"epsilon": "1"},
        {"epsilon": True},
        {"epsilon": 1.0, "method": "guess"},
    ],
)
def test_impossible_calls_are_refused(wrong):
    with pytest.raises(dpaudit.ParameterError, match=list(wrong)[-1]):
        assert_private(Noisy(), **wrong)


@pytest.mark.slow
def test_a_function_is_audited_on_its_pairs():
    evidence = assert_private(noisy, epsilon=2.0, pairs=PAIRS, samples=50_000)
    assert evidence.verdict == "consistent"
    assert evidence.scope.startswith("the pairs given")
    text = message(noisy, epsilon=1.0, pairs=iter(PAIRS), samples=5000)
    assert text.startswith("noisy is not (1, 0)-DP: refuted (black-box)")
    assert text == message(noisy, epsilon=1.0, pairs=PAIRS, samples=5000)
    # Only the second pair is far enough apart.
    text = message(noisy, epsilon=2.5, pairs=[(3.0, 3.5), (3.0, 5.0)], samples=20_000)
    assert {line.split()[1] for line in text.splitlines()[1:3]} == {"3.0", "5.0"}


@pytest.mark.slow
def test_a_function_is_called_by_the_name_its_author_gave_it():
    class Sampler:
        def __call__(self, data, size, rng):
            return noisy(data, size, rng)

    named = {
        "noisy": functools.partial(functools.partial(noisy, epsilon=2.0), epsilon=3.0),
        "Noisy.sample": Noisy(epsilon=2.0).sample,
        "<lambda>": lambda data, size, rng: noisy(data, size, rng),
        "Sampler": Sampler(),
    }
    for name, function in named.items():
        text = message(function, epsilon=1.0, pairs=PAIRS, samples=2000)
        assert text.startswith(f"{name} is not (1, 0)-DP")
        assert " at 0x" not in text


@pytest.mark.parametrize(
    ("target", "options", "words"),
    [
        (noisy, {}, r"noisy is a function; give the inputs to compare as well: pairs=\[\(x, y\), \.\.\.\]"),
        (noisy, {"pairs": (3.0, 4.0)}, r"pairs must be a list of tuples .* got \(3.0, 4.0\)"),
        (noisy, {"pairs": [3.0, 4.0]}, "got 3.0 at place 0"),
        (noisy, {"pairs": [[0, 1], [1, 1]]}, r"got \[0, 1\] at place 0"),
        (noisy, {"pairs": []}, "got none"),
        (noisy, {"pairs": 3}, "got 3"),
        (noisy, {"pairs": PAIRS, "view": "report"}, "no view but its output; leave view='report' out"),
        (noisy, {"pairs": PAIRS, "method": "exact"}, "whose law is not known; leave method='exact' out"),
        (Noisy(), {"pairs": PAIRS}, r"its own pairs in `neighbours`; leave `pairs` out with Noisy\(epsilon=1.0\)"),
        (Noisy(), {"own_randomness": True}, "declare `own_randomness = True` in the class"),
        (Noisy, {}, "Noisy is a class; give an instance"),
        (3.0, {"pairs": PAIRS}, "target must be a mechanism, a function .* got 3.0"),
        (noisy, {"pairs": PAIRS, "stop_early": "no"}, "stop_early must be True or False, got 'no'"),
        (noisy, {"pairs": PAIRS, "own_randomness": 1}, "own_randomness must be True or False, got 1"),
    ],
)
def test_what_does_not_go_together_is_refused(target, options, words):
    with pytest.raises(dpaudit.ParameterError, match=words):
        assert_private(target, epsilon=1.0, **options)


def test_a_pair_of_equal_inputs_is_refused():
    with pytest.raises(dpaudit.CheckError, match=r"the two inputs of pair 1 are equal: 3\.0; give two inputs that"):
        assert_private(noisy, epsilon=1.0, pairs=[(3.0, 4.0), (3.0, 3.0)])


@pytest.mark.slow
def test_a_method_can_be_insisted_on():
    assert assert_private(Exact(), epsilon=1.0, method="black-box", samples=5000).verdict == "consistent"
    text = message(Exact(epsilon=2.0), epsilon=1.0, method="black-box", samples=5000)
    assert "refuted (black-box)" in text
    assert "to see it again: seed=0, samples=5000, confidence=0.999, method='black-box'" in text
    with pytest.raises(dpaudit.CheckError, match="the law of noisy is not known"):
        assert_private(Noisy(), epsilon=1.0, method="exact")


def test_randomness_of_its_own_is_allowed_where_it_is_declared():
    def unseeded(data, size, rng):
        return noisy(data, size, np.random.default_rng())

    with pytest.raises(dpaudit.CheckError, match="own_randomness"):
        assert_private(unseeded, epsilon=1.0, pairs=PAIRS, samples=5000)
    # The only test without a seed: the bound is 1.8 or so, more than ten standard deviations above the claim.
    text = message(unseeded, epsilon=1.0, pairs=PAIRS, samples=20_000, own_randomness=True)
    assert "no seed fixes" in text


def test_a_broken_contract_is_raised_as_it_is_and_without_the_way_through_dpaudit():
    def broken(data, size, rng):
        raise ZeroDivisionError("in the target")

    with pytest.raises(dpaudit.TargetRaisedError, match="broken: `sample` raised ZeroDivisionError") as caught:
        assert_private(broken, epsilon=1.0, pairs=PAIRS)
    assert [entry.name for entry in caught.traceback][1:] == ["assert_private"]
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert pytest.ExceptionInfo.from_exception(caught.value.__cause__).traceback[-1].name == "broken"
    with pytest.raises(dpaudit.CheckError, match="return 64 outputs along axis 0"):
        assert_private(lambda data, size, rng: rng.random(size - 1), epsilon=1.0, pairs=PAIRS)


@pytest.mark.slow
def test_long_inputs_are_shown_in_part():
    records = (tuple(range(5000)), tuple(range(1, 5001)))
    text = message(lambda data, size, rng: noisy(data[0], size, rng), epsilon=1.0, pairs=[records], samples=2000)
    assert len(text) < 10_000
    assert "... (28" in text


@pytest.mark.slow
def test_every_audit_is_counted_with_its_false_alarm_rate():
    before = len(dpaudit.testing.history)
    assert_private(Exact(), epsilon=1.0)
    assert_private(Noisy(), epsilon=1.0, samples=2000, confidence=0.99)
    message(Noisy(epsilon=2.0), epsilon=1.0, samples=5000)
    made = dpaudit.testing.history[before:]
    assert [(audited.by_sampling, str(audited.false_alarm)) for audited in made] == [
        (False, "0.000001"),
        (True, "0.01"),
        (True, "0.001"),
    ]


def tagged(data, size, rng):
    tokens = rng.integers(2**60, size=size)
    return [{"id": int(each), "n": count} for each, count in zip(tokens, noisy(data, size, rng), strict=True)]


def counts(outputs):
    return np.array([output["n"] for output in outputs])


def above(outputs, data):
    return counts(outputs) > data


@pytest.mark.slow
@pytest.mark.parametrize("looks", [{"features": counts}, {"supports": above}], ids=["features", "supports"])
def test_a_failure_names_the_function_and_what_looks_at_its_outputs(looks):
    text = message(tagged, epsilon=0.5, pairs=PAIRS, samples=5000, **looks)
    assert text.startswith("tagged is not (0.5, 0)-DP: refuted (black-box)")
    (name, look) = next(iter(looks.items()))
    assert f"to see it again: seed=0, samples=5000, confidence=0.999, {name}={look.__name__}" in text


@pytest.mark.slow
def test_features_are_a_function_as_for_a_lower_bound():
    assert assert_private(tagged, epsilon=2.0, pairs=PAIRS, samples=5000, features=counts).verdict == "consistent"
    assert assert_private(noisy, epsilon=2.0, pairs=PAIRS, samples=5000, features=None).verdict == "consistent"
    rng = np.random.default_rng(1)
    drawn = tagged(3.0, 5000, rng), tagged(4.0, 5000, rng)
    text = message(drawn, epsilon=0.5, features=counts)
    assert "to see it again: seed=0, confidence=0.999, features=counts" in text


@pytest.mark.parametrize("features", ["bits", 3, [counts]])
def test_features_that_are_neither_a_function_nor_a_name_are_refused(features):
    with pytest.raises(dpaudit.ParameterError, match="features must be a function or one of none, float-bits, got"):
        assert_private(noisy, epsilon=1.0, pairs=PAIRS, features=features)


def test_a_mechanism_has_features_as_a_method():
    with pytest.raises(dpaudit.ParameterError, match="define `features` as a method of the class of Noisy"):
        assert_private(Noisy(), epsilon=1.0, features=counts)
