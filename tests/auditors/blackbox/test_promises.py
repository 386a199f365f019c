"""What pairs of inputs promise, by which a search compares them."""

import numpy as np
import pytest
from scipy import stats

import dpaudit
from dpaudit.auditors.blackbox import audit as blackbox
from dpaudit.auditors.blackbox.audit import search_pair
from dpaudit.auditors.blackbox.promises import modelled_bound, promised_bound
from dpaudit.auditors.learning.counts import FinalTest
from dpaudit.auditors.sampling.budget import Budget
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.claims.guarantees import ApproximateDP

CODE = -1000.0
TEST = FinalTest(ApproximateDP(1.0), 1_000_000, 0.1)


def rows_of(shift, size, rng):
    """Three numbers, or codes where coins say so."""
    rows = rng.normal(shift, size=(size, 3))
    rows[rng.random((size, 3)) < 0.3 + 0.2 * shift] = CODE
    return rows


def log_ratio(rows, shift):
    """Of rows on shift and on no shift, by their densities."""
    of_codes = np.log((0.3 + 0.2 * shift) / 0.3)
    of_numbers = stats.norm.logpdf(rows, shift) - stats.norm.logpdf(rows) + np.log((0.7 - 0.2 * shift) / 0.7)
    return np.where(rows == CODE, of_codes, of_numbers).sum(axis=1)


def best_expected(x, y, shift):
    """Largest bound to be expected of a half-line of the true log-ratio, by so many outputs."""
    found = []
    of_x, of_y = (np.sort(log_ratio(side, shift)) for side in (x, y))
    for threshold in np.quantile(of_x, np.linspace(0.001, 0.999, 400)):
        above = [float(len(side) - np.searchsorted(side, threshold)) for side in (of_x, of_y)]
        below = [len(side) - hits for side, hits in zip((of_y, of_x), above[::-1], strict=True)]
        for p_hits, q_hits in (above, below):
            hits = np.array([p_hits]), np.array([q_hits])
            scaled = (np.maximum(each, 1e-3) * (TEST.size / len(x)) for each in hits)
            found.append(float(TEST.guarantee.expected(*scaled, TEST.size, TEST.alpha)[0]))
    return max(found)


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0.1, 0.3])
def test_the_model_promises_what_the_best_event_of_the_true_log_ratio_gives(shift):
    rng = np.random.default_rng(1)
    x, y = rows_of(shift, 400_000, rng), rows_of(0.0, 400_000, rng)
    true = best_expected(x, y, shift)
    # The priors and the cells take a part, and the fewer outputs the larger; but luck adds nothing.
    assert 0.8 * true < modelled_bound(x[:100_000], y[:100_000], TEST) < 1.05 * true
    assert 0.3 * true < modelled_bound(x[:8000], y[:8000], TEST) < 1.05 * true


def test_equal_inputs_promise_nearly_nothing_and_numbers_alone_have_no_model():
    rng = np.random.default_rng(2)
    assert modelled_bound(rows_of(0.2, 8000, rng), rows_of(0.2, 8000, rng), TEST) < 0.1
    assert modelled_bound(rng.normal(size=(8000, 3)), rng.normal(size=(8000, 3)), TEST) == -np.inf
    texts = np.array(["a", "b"] * 500)
    assert modelled_bound(texts, texts, TEST) == -np.inf


class Answers(dpaudit.Mechanism):
    """Numbers with codes; on one pair, the first number is now and then where no other input puts it."""

    name = "answers"
    epsilon: float = dpaudit.parameter(3.0)
    codes: bool = dpaudit.parameter(True)

    def sample(self, data, size, rng):
        rows = rng.normal(size=(size, 3))
        if self.codes:
            rows[rng.random((size, 3)) < 0.3] = CODE
        if data[0] == 2:
            rows[rng.random(size) < 0.005, 0] = 7.0 + rng.random()
        return rows

    def neighbours(self):
        vectors = dpaudit.Vectors(length=4, low=0, high=2, step=1, norm="linf", integer=True)
        return dpaudit.Neighbouring.within(vectors)

    def claims(self):
        return [dpaudit.PrivacyClaim(id="answers.privacy", statement="It is private.", epsilon=3.0)]


def compared(answers, x, y, **fields):
    sampler = blackbox.sampler_of(answers, Budget(), Streams(0))
    sampler.check_deterministic(x)
    comparison = blackbox._Comparison(pair=(x, y), size=30_000, purpose=("pilot", 0, 0), test=TEST, **fields)
    return comparison.run(sampler, b"").promised


@pytest.mark.slow
def test_what_the_model_does_not_see_counts_too():
    special, other = (2, 0, 0, 0), (1, 0, 0, 0)
    answers = Answers()
    first, *others = compared(answers, special, other, modelled=True)
    assert others == list(compared(answers, special, other))
    draws = np.random.default_rng(3), np.random.default_rng(4)
    outputs = [answers.sample(data, 30_000, rng) for data, rng in zip((special, other), draws, strict=True)]
    assert modelled_bound(*outputs, TEST) < 1
    assert promised_bound(*outputs, TEST).cautious > 1.5
    assert first > 1.5


@pytest.mark.slow
@pytest.mark.parametrize(("codes", "most"), [(True, 16), (False, 19)])
def test_codes_make_a_search_compare_fewer_pairs_by_more_outputs(monkeypatch, codes, most):
    # Without codes, 500 outputs of a pair are enough for the first of four rounds; with codes, many are glanced at.
    monkeypatch.setattr(blackbox, "_LEAST_MODELLED", 200)
    answers, asked = Answers(codes=codes), []
    run = blackbox._Comparison.run
    monkeypatch.setattr(blackbox._Comparison, "run", lambda self, *args: (asked.append(self), run(self, *args))[1])
    budget = Budget(samples=100_000, confidence=0.9)
    search = search_pair(answers, answers.claims()[0], answers.neighbours(), budget=budget, streams=Streams(1))
    first_round = [each for each in asked if each.purpose[1] == 0]
    assert len(first_round) == most
    assert {each.modelled for each in asked} == {codes}
    glanced_at = [each for each in asked if each.purpose[1] < 0]
    assert [each.size for each in glanced_at] == ([500] * 9 if codes else [])
    assert search.found.searched == len({blackbox.pair_key(each.pair) for each in asked})
    assert search.drawn == 2 * (sum(each.size for each in asked) + 1000)
    # The other 60,000 are what the pair found is left with.
    assert search.task.samples == 60_000


@pytest.mark.slow
def test_few_samples_are_not_spent_on_models(monkeypatch):
    def none(*_):
        raise AssertionError

    monkeypatch.setattr(blackbox, "modelled_bound", none)
    monkeypatch.setattr(blackbox, "has_codes", none)
    answers = Answers()
    budget = Budget(samples=100_000, confidence=0.9)
    search = search_pair(answers, answers.claims()[0], answers.neighbours(), budget=budget, streams=Streams(1))
    assert search.drawn == 2 * search.found.samples


class Forgotten(dpaudit.Mechanism):
    """A number with noise, twice, each withheld now and then; of one input, the noise is forgotten."""

    forgotten: int

    def sample(self, data, size, rng):
        number = float(data[0])
        rows = rng.laplace(number, 0.05 if number == self.forgotten else 4.0, size=(size, 2))
        rows[rng.random((size, 2)) < 0.3] = CODE
        return rows

    def neighbours(self):
        return dpaudit.Neighbouring.within(dpaudit.Vectors(length=1, low=0, high=70, step=1, integer=True))

    def claims(self):
        return [dpaudit.PrivacyClaim(id="forgotten.privacy", statement="It is private.", epsilon=1.0)]


@pytest.mark.slow
def test_a_pair_that_nothing_leads_to_is_met_beside_models():
    """The 16 pairs that models have room for are mostly others."""
    mechanism = Forgotten(forgotten=41)
    budget = Budget(samples=1_000_000, confidence=0.9)
    search = search_pair(mechanism, mechanism.claims()[0], mechanism.neighbours(), budget=budget, streams=Streams(1))
    assert search.found.searched == 70
    assert 41 in {int(data[0]) for data in search.found.pair}
