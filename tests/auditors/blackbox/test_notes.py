"""What audits and lower bounds say in words of what they could not see."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors import Budget, Streams, audit
from dpaudit.auditors.blackbox.audit import why_no_limit_in_time
from dpaudit.auditors.blackbox.pair import PairBound
from dpaudit.auditors.sampling import pace


class Identifiers(dpaudit.Mechanism):
    """A new identifier each time."""

    def sample(self, data, size, rng):
        return rng.integers(2**60, size=size)

    def neighbours(self):
        return dpaudit.Neighbouring(relation="substitution", pairs=[(0, 1)], complete=True, scope="two bits")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="identifiers.privacy", statement="It is private.", epsilon=1.0)]


class Loud(Identifiers):
    """A number with hardly any noise."""

    def sample(self, data, size, rng):
        return data + rng.laplace(scale=0.1, size=size)


def noisy(data, size, rng):
    return rng.laplace(data, size=size)


@pytest.mark.slow
def test_a_lower_bound_says_of_outputs_that_are_all_new_what_an_audit_says():
    bound = dpaudit.epsilon_lower_bound(Identifiers().sample, 0, 1, samples=5000)
    (note,) = bound.notes
    assert bound.detection_limit == float("inf")
    assert "come only once" in note
    assert "define `features` or `supports`" in note
    assert note == dpaudit.check(Identifiers(), samples=5000).results[0].note


@pytest.mark.parametrize(
    ("options", "note"),
    [
        (
            {"samples": 1000, "claimed": 9},
            "no violation could have been found with so few samples; raise `samples`",
        ),
        (
            {"samples": 100_000, "seconds": 1e-6},
            "`seconds` allowed no more: sampling ended after 0 of 200000 samples, before there was an event to look at",
        ),
    ],
    ids=["too few samples", "too little time"],
)
def test_a_lower_bound_says_why_it_has_no_detection_limit(options, note):
    assert dpaudit.epsilon_lower_bound(noisy, 0, 1, **options).notes == (note,)


def without_limit(trials):
    """Result of an audit whose time was over after so many outputs of the final sample."""
    return PairBound(
        value=0.0,
        detection_limit=math.inf,
        event={},
        reverse=False,
        hits=(0, 0),
        trials=trials,
        p=0.0,
        q=0.0,
        samples=2000,
        too_few=True,
    )


def test_a_note_says_that_the_time_was_over_before_the_final_sample():
    late = why_no_limit_in_time(without_limit((0, 0)), "epsilon")
    some = why_no_limit_in_time(without_limit((300, 300)), "epsilon")
    assert "over before the outputs that bound the event were drawn; more --seconds" in late[0]
    assert "too few outputs for any event" in some[0]


@pytest.mark.slow
def test_too_few_outputs_for_any_event_are_why_there_is_no_limit_where_the_time_is_over(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(pace, "time", SimpleNamespace(time=lambda: now[0]))

    def slow(data, size, rng):
        now[0] += 0.2 * size
        return noisy(data, size, rng)

    class Slow(Identifiers):
        def sample(self, data, size, rng):
            return slow(data, size, rng)

    bound = dpaudit.epsilon_lower_bound(slow, 0, 1, seconds=20.0)
    assert bound.detection_limit == float("inf")
    out_of_time, why = bound.notes
    assert "`seconds` allowed no more" in out_of_time
    assert "too few outputs for any event to show a violation" in why
    assert "more `seconds`" in why
    assert "identifiers" not in why
    budget = Budget(samples=5000, deadline=now[0] + 20.0)
    evidence = audit(Slow(), Slow().claims()[0], budget=budget, streams=Streams(1))
    assert evidence.verdict == "inconclusive"
    assert "too few outputs for any event to show a violation" in evidence.note
    assert "more --seconds" in evidence.note
    # Where there is a limit, there is nothing to explain.
    bound = dpaudit.epsilon_lower_bound(slow, 0, 1, seconds=2000.0)
    assert bound.detection_limit < float("inf")
    assert len(bound.notes) == 1


def test_a_lower_bound_with_a_detection_limit_has_no_notes():
    assert dpaudit.epsilon_lower_bound(noisy, 0, 1, samples=5000).notes == ()


class Constant(Identifiers):
    """The same output each time."""

    def sample(self, data, size, rng):
        return np.zeros(size)


class Hidden(Loud):
    """What is looked at is the same each time."""

    def features(self, outputs):
        return np.ones(len(outputs))


class Partly(Loud):
    """What is looked at tells some outputs apart."""

    def features(self, outputs):
        return outputs > 0.5


def test_features_that_are_all_equal_are_no_pass():
    (result,) = dpaudit.check(Hidden(), samples=20_000).results
    assert (result.verdict, result.remedy) == ("inconclusive", "features")
    assert result.note == (
        "all 8,000 features that chose the event were equal, so that they could tell nothing; let `features` return "
        "what varies with the outputs, or leave it out"
    )
    assert "--seconds" not in result.note
    sample, features = Loud().sample, Hidden().features
    bound = dpaudit.epsilon_lower_bound(sample, 0, 1, samples=20_000, features=features, claimed=1.0)
    assert (bound.detection_limit, bound.notes) == (float("inf"), (result.note,))
    rng = np.random.default_rng(1)
    with pytest.raises(AssertionError, match=r"inconclusive[\s\S]*could tell nothing"):
        dpaudit.testing.assert_private((sample(0, 5000, rng), sample(1, 5000, rng)), epsilon=1.0, features=features)
    assert dpaudit.check(Partly(), samples=20_000).results[0].verdict == "refuted"


@pytest.mark.parametrize("features", ["none", "float-bits"])
def test_a_constant_is_private_and_its_limit_is_that_of_what_never_occurred(features):
    (result,) = dpaudit.check(Constant(), samples=20_000, features=features).results
    assert result.verdict == "consistent"
    # 2,000 outputs on either input chose the event, of which none was in its complement.
    assert "no event as likely as the one chosen here can force so much, but one of probability 0.0005" in result.note
    assert result.measured["detection_limit"].lower > 2


def test_a_limit_that_the_event_chosen_cannot_force_is_that_of_a_rarer_one():
    class Quiet(Identifiers):
        def sample(self, data, size, rng):
            return data + rng.laplace(scale=20.0, size=size)

    (result,) = dpaudit.check(Quiet(), samples=20_000).results
    assert result.verdict == "consistent"
    limit = result.measured["detection_limit"].lower
    words = f"but one of probability {1 / (1 + np.exp(limit)):.2g} on one input that forces an epsilon of {limit:.4g}"
    assert words in result.note


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "words", "absent"),
    [
        (lambda rng, n: rng.integers(2**60, size=n), "; return coarser outputs without identifiers, or", "sorted"),
        (lambda rng, n: [{"t": rng.bytes(16)} for _ in range(n)], "; return numbers or coarser outputs", "sorted"),
        (
            lambda rng, n: [(frozenset(rng.integers(2**50, size=5).tolist()), 0) for _ in range(n)],
            ", `sorted(output)` in place of a set of numbers, or",
            "in order",
        ),
    ],
    ids=["numbers", "bytes", "sets"],
)
def test_advice_fits_the_type_of_the_outputs(draw, words, absent):
    class Mixed(Identifiers):
        def sample(self, data, size, rng):
            return draw(rng, size)

    (result,) = dpaudit.check(Mixed(), samples=5000).results
    assert result.verdict == "inconclusive"
    assert words in result.note
    assert absent not in result.note


@pytest.mark.slow
def test_one_round_of_bets_is_no_plural():
    (result,) = dpaudit.check(Loud(), samples=20_000, stop_early=True).results
    assert "outputs, in one round, in which the event occurred" in result.note


@pytest.mark.slow
def test_a_note_names_the_part_that_is_like_an_identifier():
    def tagged(data, size, rng):
        tokens, counts = rng.integers(2**60, size=size), rng.laplace(data, 0.5, size=size)
        return [{"id": int(token), "n": count} for token, count in zip(tokens, counts, strict=True)]

    words = "most of these outputs come only once (by output['id'], as identifiers do), so that"
    (note,) = dpaudit.epsilon_lower_bound(tagged, 0, 1, samples=5000, claimed=3.0).notes
    assert note.startswith(words)
    rng = np.random.default_rng(1)
    bound = dpaudit.bound_from_samples(tagged(0, 5000, rng), tagged(1, 5000, rng), claimed=3.0)
    assert (bound.blind, bound.identifier) == (True, "output['id']")


class Coins(Identifiers):
    """A fair coin whatever the input."""

    def sample(self, data, size, rng):
        return rng.integers(2, size=size)


@pytest.mark.slow
def test_coins_too_few_to_show_anything_are_not_taken_for_identifiers():
    results = [dpaudit.check(Coins(), samples=1000, seed=seed).results[0] for seed in range(8)]
    unclear = [result for result in results if result.verdict == "inconclusive"]
    assert len(unclear) >= 3
    for result in unclear:
        assert result.note == "no violation could have been found with so few samples; raise --samples"
        assert result.remedy == "samples"
    assert dpaudit.check(Coins(), samples=5000).results[0].verdict == "consistent"
