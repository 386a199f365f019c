"""Witness files: data there and back, what a refutation leaves behind, and checks on fresh samples."""

import json
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import binom

import dpaudit
from dpaudit.auditors.blackbox import choosing
from dpaudit.auditors.blackbox.pair import EventBound
from dpaudit.auditors.learning import selection
from dpaudit.auditors.learning.contest import Competition
from dpaudit.auditors.learning.counts import Counts, ThresholdEvent
from dpaudit.auditors.learning.learners import boosted_score
from dpaudit.auditors.recheck import counted, enough_samples
from dpaudit.runner import Request
from dpaudit.runner.check import run_request
from dpaudit.runner.plaindata import NotDataError, from_data, to_data
from dpaudit.runner.verify import verify_here as verify
from dpaudit.runner.witnesses import read_witness

pytestmark = pytest.mark.slow

FALSE_ALARM = 1e-6
TARGETS = '''\
import numpy as np

import dpaudit


class Base(dpaudit.Mechanism):
    """Claims half of its epsilon; `inputs` says what its inputs are."""

    epsilon: float = 2.0
    delta: float = 0.0

    def pair(self):
        return 0.0, 1.0

    def neighbours(self):
        return dpaudit.Neighbouring(relation="own", pairs=[self.pair()], complete=False, scope="one pair")

    def _claims(self):
        statement = "It is private."
        claim = dpaudit.PrivacyClaim(id="x.privacy", statement=statement, epsilon=self.epsilon / 2, delta=self.delta)
        return [claim]


class Number(Base):
    """A number with Laplace noise."""

    def sample(self, data, size, rng):
        return data + rng.laplace(scale=1 / self.epsilon, size=size)

    claims = Base._claims


class Rows(Base):
    """Three numbers with Laplace noise each; the input is an array."""

    def pair(self):
        return np.array([1.0, 0.1, -0.0]), np.array([0.0, 0.1, -0.0])

    def sample(self, data, size, rng):
        return data + rng.laplace(scale=1 / self.epsilon, size=(size, 3))

    claims = Base._claims


class Grid(Base):
    """Two rows of two numbers each, the last of which the input shifts, and what they speak for."""

    def pair(self):
        return 1, 0

    def sample(self, data, size, rng):
        made = rng.laplace(scale=1 / self.epsilon, size=(size, 2, 2))
        made[:, 1, 1] += 2 * data
        return made

    def supports(self, outputs, data):
        return (outputs[:, 1, 1] >= 1) == bool(data)

    claims = Base._claims


class Words(Base):
    """A word; the input is a nested tuple."""

    def pair(self):
        return (("yes", None), [1, True]), (("no", None), [1, True])

    def sample(self, data, size, rng):
        truth = rng.random(size) < 1 / (1 + np.exp(-self.epsilon))
        return np.where(truth == (data[0][0] == "yes"), "yes", "no")

    claims = Base._claims


class Gauss(Base):
    """Gaussian noise that is too small for its delta, with its likelihood."""

    known: bool = False

    def sample(self, data, size, rng):
        return data + rng.normal(size=size)

    def log_likelihood(self, outputs, data):
        return -((outputs - data) ** 2) / 2 if self.known else None

    claims = Base._claims


class Lawful(Base):
    """Two answers, with their exact law."""

    def pair(self):
        return 0, 1

    @property
    def truth(self):
        return 1 / (1 + np.exp(-self.epsilon))

    def sample(self, data, size, rng):
        return np.where(rng.random((size, 2)) < self.truth, data, 1 - data)

    def law(self, data):
        one = dpaudit.FiniteLaw([data, 1 - data], np.log([self.truth, 1 - self.truth]))
        return dpaudit.ProductLaw([one, one])

    claims = Base._claims


class Line(Base):
    """Laplace noise with its exact law."""

    def sample(self, data, size, rng):
        return data + rng.laplace(scale=1 / self.epsilon, size=size)

    def law(self, data):
        return dpaudit.LaplaceLaw(data, 1 / self.epsilon)

    claims = Base._claims


class Certain(Base):
    """Three times out of ten, the input."""

    def pair(self):
        return 1, 2

    def sample(self, data, size, rng):
        return np.where(rng.random(size) < 0.3, data, 0)

    def law(self, data):
        return dpaudit.FiniteLaw([0, data, 3 - data], [np.log(0.7), np.log(0.3), -np.inf])

    claims = Base._claims


class Lambdas(Base):
    """Inputs that cannot be written as data, of which only one pair leaks."""

    def neighbours(self):
        a, b, c = (lambda: 0.0), (lambda: 0.0), (lambda: 1.0)
        return dpaudit.Neighbouring(relation="own", pairs=[(a, b), (a, c)], complete=True, scope="functions")

    def sample(self, data, size, rng):
        return data() + rng.laplace(scale=1 / self.epsilon, size=size)

    claims = Base._claims


class Wide(Base):
    """A sum with Laplace noise, of vectors too many to be listed."""

    def neighbours(self):
        return dpaudit.Neighbouring.within(dpaudit.Vectors(length=9, low=0, high=9))

    def sample(self, data, size, rng):
        return np.sum(data) + rng.laplace(scale=1 / self.epsilon, size=size)

    claims = Base._claims


class Naive(Base):
    """Laplace noise by inverting its distribution function, in floating point."""

    def sample(self, data, size, rng):
        u = rng.random(size) - 0.5
        return data - np.sign(u) * np.log(1 - 2 * np.abs(u)) / (self.epsilon / 2)

    def law(self, data):
        return dpaudit.LaplaceLaw(data, 2 / self.epsilon)

    claims = Base._claims
'''


@pytest.fixture
def targets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("targets.py").write_text(TARGETS, encoding="utf-8")
    return "targets.py"


@pytest.fixture
def refuted(targets):
    """Audit a class of TARGETS and return its result and its witness file."""

    def run(name, workers=1, **options):
        options = {"samples": 20_000, **options}
        record = run_request(
            Request(targets=[f"{targets}::{name}"], seed=5, **options),
            output=Path("out"),
            workers=workers,
            # In this process, so that tests can change what runs.
            apart=False,
        ).record
        (result,) = record.results
        assert result.verdict == "refuted", result
        assert result.witness_file is not None
        return result, result.witness_file

    return run


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
arrays = hnp.arrays(
    st.sampled_from(["<f8", "<f4", "<f2", "<i8", "<u8", "|b1", "|u1", "<U3"]), hnp.array_shapes(min_dims=0, min_side=0)
)
values = st.recursive(
    scalars | arrays | st.frozensets(st.integers()),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
    ),
    max_leaves=6,
)


def same(one, other):
    """Equal to the bit, and of equal types throughout."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and _bits(one) == _bits(other)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(map(repr, one)) == list(map(repr, other)) and all(map(same, one.values(), other.values()))
    return repr(one) == repr(other) if isinstance(one, float) else bool(one == other)


def _bits(array):
    # A NaN is a NaN, whatever it carries.
    return [repr(item) for item in array.ravel().tolist()]


@settings(max_examples=60, deadline=None)
@given(values)
def test_data_come_back_exactly(value):
    text = json.dumps(to_data(value), allow_nan=False)
    assert same(from_data(json.loads(text)), value)


def test_numpy_scalars_objects_and_what_is_no_data():
    for value in (np.float32(0.1), np.int8(-3), np.bool_(True), np.float64(math.inf)):
        again = from_data(json.loads(json.dumps(to_data(value))))
        assert type(again) is type(value)
        assert again == value
    mixed = np.empty(2, dtype=object)
    mixed[:] = [(1, "a"), [np.arange(2)]]
    again = from_data(json.loads(json.dumps(to_data(mixed))))
    assert again.dtype == object
    assert again[0] == (1, "a")
    assert same(again[1][0], np.arange(2))
    for value in (object(), len, [1, (2, object())], np.longdouble(1), np.array([1j]), range(3)):
        with pytest.raises(NotDataError):
            to_data(value)
    for raw in (
        {"$tuple": 3},
        {"$array": {"dtype": "<f8", "shape": [3], "values": [1.0]}},
        {"$array": {"dtype": "nonsense", "shape": [], "values": [1.0]}},
        {"$array": []},
        {"$float": "huge"},
        {"$bytes": "xyz"},
        {"$what": 1},
        {"$tuple": [], "other": 1},
        {"$set": [[1]]},
    ):
        with pytest.raises(NotDataError):
            from_data(raw)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Number", {}),
        ("Number", {"stop_early": True}),
        ("Rows", {}),
        ("Words", {}),
        ("Gauss", {"set": {"epsilon": [1.0], "delta": [0.01]}}),
        ("Gauss", {"set": {"epsilon": [0.4], "delta": [0.01], "known": [True]}}),
        ("Gauss", {"set": {"epsilon": [2.0], "known": [True]}}),
        ("Lawful", {}),
        ("Line", {}),
        ("Line", {"set": {"delta": [0.1]}}),
        ("Lawful", {"method": "black-box"}),
    ],
    ids=str,
)
def test_a_witness_is_confirmed_on_fresh_samples(refuted, name, options):
    result, file = refuted(name, **options)
    witness = read_witness(file)
    assert witness.method == result.method
    assert witness.audit.seed == 5
    assert witness.command == result.command
    found = verify(file)
    assert found.confirmed
    assert found.forces["epsilon"] > found.claimed["epsilon"] == result.claimed["epsilon"]
    assert found.claimed["delta"] == result.claimed["delta"]
    assert (found.data, found.neighbour) == (result.witness.data, result.witness.neighbour)
    assert found.p == found.hits[0] / found.trials[0]
    assert found.q == found.hits[1] / found.trials[1]
    assert found.notes == ()
    # The same event, so that frequencies agree within chance: 6 standard errors, and what the audit's own have.
    for fresh, known, trials in (
        (found.p, witness.found.p, found.trials[0]),
        (found.q, witness.found.q, found.trials[1]),
    ):
        least = min(trials, 16_000, *(each for each in witness.found.trials or () if each))
        assert abs(fresh - known) < 8 * math.sqrt(max(known * (1 - known), 1e-4) / least)
    assert json.loads(found.to_json())["schema"] == "dpaudit.verification/2"


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"stop_early": True}], ids=str)
def test_a_check_has_the_words_of_the_audit(refuted, options):
    result, file = refuted("Grid", **options)
    found = verify(file)
    assert found.event == result.witness.event
    assert re.search(r"output\[1\]\[1\]|whether the report speaks for", str(found.event))
    assert "output[3]" not in str(found.event)


def test_the_bound_of_a_check_is_below_the_truth(refuted):
    _, file = refuted("Number")
    found = verify(file, samples=300_000, confidence=1 - 1e-6)
    assert 1.9 < found.forces["epsilon"] <= 2.0
    assert found.samples == 300_000
    # Trials are assigned by coins where delta is 0.
    assert sum(found.trials) == 600_000
    assert found.trials[0] != found.trials[1]


def test_checks_are_reproducible_and_not_the_audits_samples(refuted):
    _, file = refuted("Number")
    one, again, other = (verify(file, samples=16_000, seed=seed) for seed in (5, 5, 6))
    assert one.to_json() == again.to_json()
    assert one.hits != other.hits
    assert one.hits != read_witness(file).found.hits


@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_a_claim_that_holds_with_equality_is_rarely_confirmed(refuted, delta, monkeypatch):
    # The file's claim is not the target's. The package has a function of the module's name.
    monkeypatch.setattr(sys.modules["dpaudit.runner.verify"], "_check_claim", lambda *_: None)
    # The likelier answer is the true one, with probability truth: epsilon is log((truth - delta) / (1 - truth)).
    truth = 1 / (1 + math.exp(-2.0))
    _, file = refuted("Words")
    raw = json.loads(Path(file).read_text(encoding="utf-8"))
    raw["claimed"]["parameters"] = {"epsilon": math.log((truth - delta) / (1 - truth)), "delta": delta}
    Path(file).write_text(json.dumps(raw), encoding="utf-8")
    runs = 300
    confirmed = sum(verify(file, samples=1000, confidence=0.9, seed=seed).confirmed for seed in range(runs))
    assert confirmed <= binom.isf(FALSE_ALARM, runs, 0.1)


def test_samples_are_planned_for_the_error_probability_that_is_stated(refuted, monkeypatch):
    # In floating point 1 - 0.999 is above 0.001.
    planned = []

    def remember(known, guarantee, *, alpha):
        planned.append(alpha)
        return 1000

    monkeypatch.setattr(sys.modules["dpaudit.runner.verify"], "enough_samples", remember)
    _, file = refuted("Number")
    assert verify(file, confidence=0.999).samples == 1000
    assert planned == [0.001]


def test_an_infinite_loss(refuted):
    result, file = refuted("Certain")
    assert result.method == "exact"
    assert math.isinf(read_witness(file).found.forces["epsilon"])
    found = verify(file)
    assert found.confirmed
    assert found.hits[1] == 0


def test_inputs_that_are_no_data_are_searched_again(refuted):
    _, file = refuted("Lambdas", samples=50_000)
    assert read_witness(file).inputs is None
    found = verify(file)
    assert found.confirmed
    assert "searched again" in found.notes[0]
    assert found.p > found.q


@pytest.mark.parametrize(
    ("name", "inputs", "told"),
    [
        ("Number", (0.0, 2.0), "does not list this pair"),
        ("Wide", (np.full(9, 3.0), np.r_[8.0, np.full(8, 3.0)]), "does not list all pairs of its domain"),
    ],
)
def test_a_pair_that_the_target_does_not_list_is_told(refuted, name, inputs, told):
    _, path = refuted(name)
    text = json.loads(Path(path).read_text(encoding="utf-8"))
    text["inputs"] = [to_data(each) for each in inputs]
    Path(path).write_text(json.dumps(text), encoding="utf-8")
    assert any(told in note for note in verify(path).notes)


def test_an_event_that_is_no_data_is_learned_again(refuted, monkeypatch):
    chosen = []
    select = choosing.select_events

    def remember(*arguments):
        chosen.append(select(*arguments))
        return chosen[-1]

    monkeypatch.setattr(choosing, "select_events", remember)
    monkeypatch.setattr(ThresholdEvent, "to_json", lambda self: None)
    _, file = refuted("Rows")
    assert read_witness(file).event is None
    found = verify(file)
    assert found.confirmed
    assert any("learned again" in note for note in found.notes)
    first, again = chosen
    assert (again.main.event.threshold, again.main.reverse) == (first.main.event.threshold, first.main.reverse)
    assert again.main.p_hits == first.main.p_hits


def test_trees_are_learned_again(refuted, monkeypatch):
    forced = selection.compete

    def trees_only(x, y, test, *, thorough, **options):
        tried = forced(x, y, test, thorough=False)
        if not thorough:
            return tried
        half = len(x) // 2
        learn, judge = (x[:half], y[:half]), (x[half:], y[half:])
        trees = boosted_score(*learn, (tried.tables[0].score,), probe=False)
        return Competition([Counts.of(trees, judge)], tried.form)

    monkeypatch.setattr(selection, "compete", trees_only)
    _, file = refuted("Rows")
    assert read_witness(file).event is None
    found = verify(file)
    assert found.confirmed
    assert "log-odds" in json.dumps(found.event)


@pytest.mark.slow
def test_float_bits_refute_what_the_real_valued_law_satisfies(refuted, targets):
    (plain,) = dpaudit.check(f"{targets}::Naive", samples=30_000).results
    assert plain.verdict == "certified"
    result, file = refuted("Naive", samples=60_000, features="float-bits")
    assert result.method == "black-box"
    assert "--features float-bits" in result.command
    assert read_witness(file).features == "float-bits"
    assert verify(file).confirmed


@pytest.mark.slow
def test_workers_write_the_same_files(targets):
    request = Request(targets=[f"{targets}::Number"], set={"epsilon": [2.0, 3.0]}, samples=5000)
    texts = []
    for workers in (1, 2):
        record = run_request(request, output=Path(f"out{workers}"), workers=workers).record
        files = [Path(result.witness_file) for result in record.results]
        assert len(set(files)) == 2
        texts.append([file.read_text(encoding="utf-8") for file in files])
    assert texts[0] == texts[1]


def test_no_file_without_a_folder_and_none_without_a_refutation(targets):
    (result,) = dpaudit.check(f"{targets}::Number", samples=5000).results
    assert result.verdict == "refuted"
    assert result.witness_file is None
    request = Request(targets=[f"{targets}::Lawful"], set={"delta": [0.99]})
    record = run_request(request, output=Path("out")).record
    assert record.results[0].verdict == "certified"
    assert record.results[0].witness_file is None
    assert not (Path("out") / "witnesses").exists()


def test_a_file_that_cannot_be_written_costs_no_result(targets):
    Path("out").mkdir()
    (Path("out") / "witnesses").write_text("in the way", encoding="utf-8")
    record = run_request(Request(targets=[f"{targets}::Number"], samples=5000), output=Path("out")).record
    assert record.results[0].verdict == "refuted"
    assert record.results[0].witness_file is None
    assert "witness file could not be written" in record.results[0].note


@pytest.mark.parametrize(
    ("hits", "trials", "delta", "least", "most"),
    [
        ((5000, 500), (10_000, 10_000), 0.0, 10_000, 10_000),
        # Barely above the claim: all that is allowed.
        ((2900, 1000), (10_000, 10_000), 0.0, 40_000, 40_000),
        ((8, 0), (1_000_000, 1_000_000), 0.0, 500_000, 4_000_000),
        ((5000, 100), (10_000, 10_000), 0.01, 10_000, 10_000),
        ((5, 0), (800, 800), 0.0, 10_000, 10_000),
    ],
)
def test_default_samples(hits, trials, delta, least, most):
    known = EventBound(hits=hits, trials=trials, value=0.0)
    assert least <= enough_samples(known, dpaudit.ApproximateDP(1.0, delta), alpha=0.001) <= most


def test_default_samples_of_known_probabilities():
    claim = dpaudit.ApproximateDP(1.0)
    assert enough_samples(counted(0.5, 0.1), claim, alpha=0.001) == 10_000
    assert enough_samples(counted(1e-4, 1e-5), claim, alpha=0.001) > 100_000
    assert enough_samples(counted(0.5, 0.5), claim, alpha=0.001) == 4_000_000
