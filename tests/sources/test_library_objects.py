"""Objects of libraries as mechanisms, by fakes that have the libraries' interface: neighbours, guarantees, messages."""

import copy
import functools
import math
import pickle
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dpaudit
from dpaudit.errors import CheckError, ParameterError, TargetError
from dpaudit.registry import called, code_file, find_targets, reference_of
from dpaudit.runner.cells import build_cells
from dpaudit.runner.keys import Keys
from dpaudit.runner.request import Request
from dpaudit.sources.libraries.adapters import with_inputs
from dpaudit.sources.libraries.neighbours import pairs_of
from dpaudit.sources.libraries.objects import LibraryMechanism, as_outputs
from dpaudit.sources.libraries.opendp_objects import guarantee_of
from dpaudit.sources.libraries.spaces import space_of

WHOLE = "AtomDomain(T=i32)"
REAL = "AtomDomain(T=f64)"


@dataclass
class Fake:
    """What an OpenDP Measurement has."""

    input_domain: str = WHOLE
    input_metric: str = "AbsoluteDistance(i32)"
    output_measure: str = "MaxDivergence"
    function: Any = lambda data: data
    privacy: Any = lambda d_in: 1.0 * d_in
    input_distance_type: str = "i32"

    def __call__(self, data):
        return self.function(data)

    def map(self, d_in):
        return self.privacy(d_in)


def distance(x, y, metric):
    if metric == "l1":
        return sum(abs(a - b) for a, b in zip(x, y, strict=True))
    if metric == "l2":
        return math.sqrt(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))
    return max(abs(a - b) for a, b in zip(x, y, strict=True))


def moved(x, y):
    """Records that must be added to, or removed from, one multiset to get the other."""
    left, right = [repr(each) for each in x], [repr(each) for each in y]
    for each in list(left):
        if each in right:
            left.remove(each)
            right.remove(each)
    return len(left), len(right)


def test_domains_are_read_from_their_text():
    space = space_of("VectorDomain(AtomDomain(bounds=[0.0, 1.5], nan=true, T=f64), size=10)")
    assert (space.form, space.atom, space.low, space.high, space.nan, space.size) == ("vector", "f64", 0, 1.5, True, 10)
    space = space_of("AtomDomain(bounds=[-3, 10], T=i32)")
    assert (space.form, space.low, space.high, space.bounded, space.nan) == ("atom", -3, 10, True, False)
    assert (space_of("AtomDomain(T=u8)").low, space_of("AtomDomain(T=u8)").high) == (0, 255)
    assert (space_of("AtomDomain(T=i64)").low, space_of("AtomDomain(T=i64)").high) == (-(2**63), 2**63 - 1)
    assert space_of("OptionDomain(AtomDomain(T=i32))").none
    text = "MapDomain { key_domain: AtomDomain(T=String), value_domain: AtomDomain(T=i32) }"
    assert (space_of(text).form, space_of(text).atom) == ("map", "i32")
    for text in ("LazyFrameDomain(a: i64)", "AtomDomain(T=Whatever)"):
        with pytest.raises(ParameterError, match="give pairs"):
            space_of(text)


@pytest.mark.parametrize("step", [1, 3])
def test_numbers_are_at_the_distance_and_in_the_bounds(step):
    pairs = pairs_of(space_of("AtomDomain(bounds=[-3, 10], T=i32)"), "AbsoluteDistance(i32)", step)
    assert all(abs(x - y) == step and min(x, y) >= -3 and max(x, y) <= 10 for x, y in pairs)
    assert {(-3, -3 + step), (10 - step, 10)} <= set(pairs)
    pairs = pairs_of(space_of(WHOLE), "AbsoluteDistance(i32)", step)
    assert {(2**31 - 1 - step, 2**31 - 1), (-(2**31), -(2**31) + step)} <= set(pairs)


def test_floats_are_tried_where_they_are_coarse_and_at_minus_zero():
    pairs = pairs_of(space_of(REAL), "AbsoluteDistance(f64)", 1.0)
    assert any(x == y == 0 and math.copysign(1, x) != math.copysign(1, y) for x, y in pairs)
    assert any(0 < abs(y) < 1e-300 for _, y in pairs)
    assert any(abs(x) > 2**52 for x, _ in pairs)
    assert all(0 <= abs(x - y) <= 1 for x, y in pairs)


@pytest.mark.parametrize(("metric", "norm"), [("L1Distance", "l1"), ("L2Distance", "l2"), ("LInfDistance", "linf")])
@pytest.mark.parametrize(("atom", "step"), [("i32", 1), ("i32", 4), ("f64", 0.3), ("f64", 1.0)])
def test_vectors_are_within_the_distance_and_reach_it(metric, norm, atom, step):
    pairs = pairs_of(space_of(f"VectorDomain(AtomDomain(T={atom}))"), f"{metric}({atom})", step)
    distances = [distance(x, y, norm) for x, y in pairs]
    assert max(distances) <= step * (1 + 1e-15)
    assert sum(found > 0.99 * step for found in distances) > len(pairs) / 2
    assert {len(x) for x, _ in pairs} == {1, 2, 3, 4}
    if norm == "linf":
        both_ways = [(x, y) for x, y in pairs if min(np.subtract(y, x)) < 0 < max(np.subtract(y, x))]
        assert both_ways
        monotonic = pairs_of(space_of(f"VectorDomain(AtomDomain(T={atom}))"), "LInfDistance(monotonic, T=i32)", step)
        assert not any(min(np.subtract(y, x)) < 0 < max(np.subtract(y, x)) for x, y in monotonic)


def test_records_are_added_at_odd_and_even_lengths_to_nothing_and_in_another_order():
    pairs = pairs_of(space_of("VectorDomain(AtomDomain(nan=true, T=f64))"), "SymmetricDistance()", 1)
    assert all(sum(moved(x, y)) <= 1 for x, y in pairs)
    lengths = {len(x) for x, _ in pairs}
    assert 0 in lengths
    assert {length % 2 for length in lengths} == {0, 1}
    records = [record for x, y in pairs for record in y[len(x) :]]
    assert any(math.isnan(record) for record in records)
    assert {math.inf, -math.inf} <= set(records)
    assert any(moved(x, y) == (0, 0) and x != y for x, y in pairs)
    ordered = pairs_of(space_of("VectorDomain(AtomDomain(T=i32))"), "InsertDeleteDistance()", 1)
    assert not any(moved(x, y) == (0, 0) for x, y in ordered)
    assert {2**31 - 1, -(2**31)} <= {record for x, y in ordered for record in y[len(x) :]}


def test_vectors_of_bits_have_several_lengths():
    pairs = pairs_of(space_of("BitVectorDomain(max_weight=1)"), "DiscreteDistance()", 1)
    assert any(len(x) != len(y) for x, y in pairs)
    assert any(len(x) == len(y) for x, y in pairs)


def test_none_is_a_record_where_the_domain_has_it():
    pairs = pairs_of(space_of("VectorDomain(OptionDomain(AtomDomain(T=i32)))"), "SymmetricDistance()", 1)
    assert any(None in y for _, y in pairs)
    pairs = pairs_of(space_of("VectorDomain(AtomDomain(T=i32))"), "SymmetricDistance()", 1)
    assert not any(None in y for _, y in pairs)


def test_a_fixed_size_is_kept_and_takes_two_changes_of_an_unordered_multiset():
    space = space_of("VectorDomain(AtomDomain(bounds=[0, 9], T=i32), size=5)")
    assert pairs_of(space, "SymmetricDistance()", 1) == []
    for metric, step in (("SymmetricDistance()", 2), ("ChangeOneDistance()", 1), ("HammingDistance()", 1)):
        pairs = [(x, y) for x, y in pairs_of(space, metric, step) if x != y]
        assert pairs
        assert {(len(x), len(y)) for x, y in pairs} == {(5, 5)}
        assert {moved(x, y) for x, y in pairs} == {(1, 1)}
        assert {0, 9} <= {record for pair in pairs for data in pair for record in data}


def test_maps_differ_in_one_key_or_its_value():
    text = "MapDomain { key_domain: AtomDomain(T=String), value_domain: AtomDomain(T=i32) }"
    pairs = pairs_of(space_of(text), "L01InfDistance(AbsoluteDistance(i32))", (1, 1, 1))
    assert all(len({key for key in {*x, *y} if x.get(key, 0) != y.get(key, 0)}) == 1 for x, y in pairs)
    assert all(abs(x.get(key, 0) - y.get(key, 0)) <= 1 for x, y in pairs for key in {*x, *y})
    assert ({}, {"a": 1}) in pairs


def test_an_unknown_metric_says_so():
    with pytest.raises(ParameterError, match=r"metric FrameDistance\(\).*give pairs"):
        pairs_of(space_of(WHOLE), "FrameDistance()", 1)


class Profile:
    def delta(self, epsilon):
        return 2.0 if epsilon == 0 else math.exp(-epsilon) / 10


def test_guarantees_are_those_of_the_measure():
    assert guarantee_of("m", "MaxDivergence", 0.7) == dpaudit.ApproximateDP(0.7)
    assert guarantee_of("m", "MaxDivergence(f64)", 0.7) == dpaudit.ApproximateDP(0.7)
    assert guarantee_of("m", "Approximate(MaxDivergence)", (0.7, 1e-3)) == dpaudit.ApproximateDP(0.7, 1e-3)
    assert guarantee_of("m", "ZeroConcentratedDivergence", 0.5) == dpaudit.ZeroConcentratedDP(0.5)
    renyi = guarantee_of("m", "RenyiDivergence", lambda alpha: alpha / 2)
    assert isinstance(renyi, dpaudit.RenyiCurve)
    assert dict(renyi.points)[4.0] == 2.0
    profile = guarantee_of("m", "SmoothedMaxDivergence", Profile())
    assert isinstance(profile, dpaudit.PrivacyProfile)
    assert dict(profile.points)[0.0] == 1.0
    assert dict(profile.points)[2.0] == pytest.approx(math.exp(-2) / 10)


@pytest.mark.slow
def test_approximate_zero_concentrated_privacy_is_audited_by_what_it_implies():
    """Gaussian noise of standard deviation 1 is 0.5-zCDP; its exact profile lies below every point."""
    points = guarantee_of("m", "Approximate(ZeroConcentratedDivergence)", (0.5, 1e-3)).points
    gaussian = dpaudit.compare(dpaudit.GaussianLaw(0.0, 1.0), dpaudit.GaussianLaw(1.0, 1.0))
    for epsilon, delta in points:
        assert gaussian.delta(epsilon).upper + 1e-3 <= delta
    assert min(delta for _, delta in points) < 2e-3


@pytest.mark.parametrize(
    ("measure", "value", "words"),
    [
        ("MaxDivergence", math.inf, "promises nothing"),
        ("MaxDivergence", math.nan, "promises nothing"),
        ("Something", 1.0, "output measure Something"),
        ("Approximate(Something)", (1.0, 0.1), "output measure Approximate"),
    ],
)
def test_what_promises_nothing_is_refused(measure, value, words):
    with pytest.raises(ParameterError, match=words):
        guarantee_of("m", measure, value)


def test_the_claim_is_what_the_map_says_at_the_distance():
    (claim,) = dpaudit.from_opendp(Fake(), d_in=3).claims()
    assert claim.guarantee == dpaudit.ApproximateDP(3.0)
    assert "3" in claim.statement
    with pytest.raises(ParameterError, match="whole number"):
        dpaudit.from_opendp(Fake(), d_in=0.5).claims()
    real = Fake(input_domain=REAL, input_metric="AbsoluteDistance(f64)", input_distance_type="f64")
    assert dpaudit.from_opendp(real, d_in=0.5).claims()[0].guarantee == dpaudit.ApproximateDP(0.5)
    for d_in in (0, -1):
        with pytest.raises(ParameterError, match="d_in"):
            dpaudit.from_opendp(Fake(), d_in=d_in)


def noisy(scale):
    rng = np.random.default_rng(1)
    return lambda data: data + int(rng.geometric(1 - math.exp(-1 / scale)) - rng.geometric(1 - math.exp(-1 / scale)))


@pytest.mark.slow
def test_a_fake_with_half_the_noise_is_refuted_and_a_right_one_is_not():
    (right,) = dpaudit.check(dpaudit.from_opendp(Fake(function=noisy(1.0))), samples=4000, confidence=1 - 1e-6).results
    assert right.verdict == "consistent"
    (wrong,) = dpaudit.check(dpaudit.from_opendp(Fake(function=noisy(0.5))), samples=4000, confidence=1 - 1e-6).results
    assert wrong.verdict == "refuted"
    assert 1 < wrong.measured["epsilon"].lower <= 2


@pytest.mark.slow
def test_an_exception_on_one_of_two_inputs_is_seen():
    def raising(data):
        if data == 2**31 - 1:
            raise OverflowError("too large")
        return data * 0

    (result,) = dpaudit.check(dpaudit.from_opendp(Fake(function=raising)), samples=2000).results
    assert result.verdict == "refuted"
    assert 2**31 - 1 in (result.witness.data, result.witness.neighbour)


def test_an_object_that_takes_nothing_is_no_pass():
    def refusing(data):
        raise TypeError("wants a frame")

    with pytest.raises(CheckError, match=r"TypeError on .*wants a frame.*give pairs"):
        dpaudit.from_opendp(Fake(function=refusing)).neighbours()


def test_pairs_that_are_given_take_the_place_of_those_derived():
    def whole(data):
        return data // 1 if isinstance(data, int) else data.nothing

    with pytest.raises(CheckError, match=r"takes neither input of a pair that was given \(AttributeError on 'a'"):
        dpaudit.from_opendp(Fake(function=whole), pairs=[(1, 2), ("a", "b")]).neighbours()
    given = dpaudit.from_opendp(Fake(input_domain="LazyFrameDomain()"), pairs=[(1, 2)])
    assert list(given.neighbours()) == [(1, 2)]
    with pytest.raises(ParameterError, match="pairs must be"):
        dpaudit.from_opendp(Fake(), pairs=[])


@pytest.mark.parametrize(
    ("metric", "pair", "apart"),
    [("AbsoluteDistance(i32)", (3, 6), "3"), ("SymmetricDistance()", ([1, 2], [1, 2, 3, 4]), "2")],
)
def test_a_pair_that_is_farther_apart_than_the_claim_is_about_is_refused(metric, pair, apart):
    far = dpaudit.from_opendp(Fake(input_metric=metric), pairs=[pair])
    with pytest.raises(CheckError, match=rf"are {apart} apart in {metric.partition('(')[0]}.*d_in = 1; give nearer"):
        far.neighbours()
    assert list(far.but(d_in=float(apart)).neighbours()) == [pair]


def test_a_value_that_a_client_does_not_have_is_refused():
    class Client:
        epsilon, d = 1.0, 4

        def index_mapper(self, data):
            return data - 1

        def privatise(self, data):
            return data

    for given in ({"pairs": [(0, 1)]}, {"pairs": [(1, 5)]}, {"inputs": [1, 99]}):
        with pytest.raises(CheckError, match="none of the client's 4 values, which are 1 to 4"):
            dpaudit.from_pure_ldp(Client(), **given).neighbours()


def test_a_warning_that_a_library_repeats_is_shown_once(recwarn):
    class Warned(FakeLaplace):
        """Warns with every output."""

        def copy(self):
            return Warned()

        def randomise(self, value):
            warnings.warn("bounds are not given, warned once", stacklevel=1)
            return super().randomise(value)

    warnings.simplefilter("always")
    dpaudit.from_diffprivlib(Warned()).sample(0, 50, np.random.default_rng(1))
    assert [str(each.message) for each in recwarn] == ["bounds are not given, warned once"]


def test_what_claims_no_privacy_is_told_so():
    with pytest.raises(ParameterError, match=r"claims no privacy, but stability; audit it with `dpaudit\.check`"):
        LibraryMechanism().guarantee()


@pytest.mark.parametrize(
    ("adapter", "value"),
    [
        (dpaudit.from_opendp, 3),
        (dpaudit.from_opendp, Fake),
        (dpaudit.from_diffprivlib, "x"),
        (dpaudit.from_pure_ldp, []),
    ],
)
def test_something_else_is_refused(adapter, value):
    with pytest.raises(ParameterError, match="needs a"):
        adapter(value)


class FakeLaplace:
    """What a mechanism of diffprivlib has."""

    epsilon, delta, sensitivity, lower, upper = 1.0, 0.0, 2, 0, 10

    def copy(self):
        return FakeLaplace()

    def randomise(self, value):
        if not isinstance(value, int):
            raise TypeError("whole numbers only")
        return value + int(self._rng.randint(0, 100))


def test_a_diffprivlib_mechanism_is_seeded_and_its_inputs_lie_at_its_sensitivity():
    mechanism = dpaudit.from_diffprivlib(FakeLaplace())
    assert mechanism.claims()[0].guarantee == dpaudit.ApproximateDP(1.0)
    pairs = list(mechanism.neighbours())
    assert all(y - x == 2 and type(x) is int for x, y in pairs)
    assert {(0, 2), (8, 10)} <= set(pairs)
    first, again, other = (mechanism.sample(0, 50, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_tool_is_tried_on_one_record_replaced_and_counts_on_one_added():
    def mean(array, epsilon=1.0, bounds=None, random_state=None):
        if np.isnan(array).any():
            raise ValueError("no NaN")
        return float(np.clip(array, *bounds).mean() + random_state.laplace())

    def histogram(array, epsilon=1.0, range=None, random_state=None):  # noqa: A002
        return np.array([len(array)]), np.array([0, 1])

    replaced = dpaudit.from_diffprivlib(functools.partial(mean, epsilon=0.5, bounds=(-1, 3)))
    assert replaced.claims()[0].guarantee == dpaudit.ApproximateDP(0.5)
    pairs = list(replaced.neighbours())
    assert all(len(x) == len(y) and sum(a != b for a, b in zip(x, y, strict=True)) <= 1 for x, y in pairs)
    assert {len(x) % 2 for x, _ in pairs} == {0, 1}
    assert {-1.0, 3.0, 7.0, math.inf} <= {record for pair in pairs for data in pair for record in data}
    added = dpaudit.from_diffprivlib(functools.partial(histogram, epsilon=1.0, range=(0, 1)))
    assert all(len(y) == len(x) + 1 for x, y in added.neighbours())
    assert added.sample((0.5,), 3, np.random.default_rng(1)).tolist() == [[1]] * 3
    with pytest.raises(ParameterError, match="random_state=3 gives every release the same noise"):
        dpaudit.from_diffprivlib(functools.partial(mean, epsilon=0.5, bounds=(-1, 3), random_state=3))
    still = FakeLaplace()
    still.sensitivity = 0
    with pytest.raises(ParameterError, match="with sensitivity 0 no two inputs are neighbours"):
        dpaudit.from_diffprivlib(still)
    with pytest.raises(ParameterError, match="needs a diffprivlib mechanism"):
        dpaudit.from_diffprivlib(functools.partial(mean, bounds=(0, 1)))


def test_utilities_change_by_the_sensitivity_at_most():
    class Exponential:
        delta, sensitivity = 0.0, 0.5

        def __init__(self, *, epsilon, sensitivity, utility, monotonic=False, random_state=None):
            self.epsilon, self.utility, self.monotonic = epsilon, utility, monotonic

        def copy(self):
            return self

        def randomise(self, value=None):
            return int(np.argmax(self.utility))

    for monotonic in (False, True):
        made = Exponential(epsilon=1.0, sensitivity=0.5, utility=[0.0, 1.0, 2.0], monotonic=monotonic)
        pairs = list(dpaudit.from_diffprivlib(made).neighbours())
        changes = [np.subtract(y, x) for x, y in pairs]
        assert max(np.abs(change).max() for change in changes) == 0.5
        assert any(change.min() < 0 < change.max() for change in changes) is not monotonic
        assert ((0.0, 0.0, 0.0), (0.5, 0.0, 0.0)) in pairs


def test_a_client_is_tried_on_all_pairs_of_its_values():
    class Client:
        epsilon, d = 0.5, 4

        def privatise(self, data):
            return int(np.random.randint(data))  # noqa: NPY002

    mechanism = dpaudit.from_pure_ldp(Client())
    assert {frozenset(pair) for pair in mechanism.neighbours()} == {
        frozenset((x, y)) for x in range(1, 5) for y in range(1, x)
    }
    assert mechanism.claims()[0].guarantee == dpaudit.ApproximateDP(0.5)
    first, again = (mechanism.sample(4, 100, np.random.default_rng(1)) for _ in range(2))
    assert np.array_equal(first, again)
    assert set(first) == {0, 1, 2, 3}


def test_outputs_become_arrays_where_they_are_alike():
    for outputs, kind, shape in (
        ([1, 2], "i", (2,)),
        ([True, False], "b", (2,)),
        ([1.5, 2.0], "f", (2,)),
        ([[1, 2], [3, 4]], "i", (2, 2)),
    ):
        made = as_outputs(outputs, alike=True)
        assert (made.dtype.kind, made.shape, made.tolist()) == (kind, shape, outputs)
    for outputs, held in (
        ([[1], [3, 4]], [(1,), (3, 4)]),
        ([[1, 2], [3, 4]], [(1, 2), (3, 4)]),
        ([{"b": 1, "a": 2}], [(("a", 2), ("b", 1))]),
        ([1, "raised OverflowError"], [1, "raised OverflowError"]),
        ([2**70, 1], [2**70, 1]),
    ):
        made = as_outputs(outputs, alike=False)
        assert (made.dtype.kind, made.shape, list(made)) == ("O", (len(outputs),), held)


def test_nan_is_an_output_that_equals_itself():
    made = as_outputs([math.nan, np.float64("nan"), 1.0], alike=False)
    assert list(made) == ["NaN", "NaN", 1.0]


def test_outputs_have_one_form_for_all_inputs():
    vectors = Fake(input_domain="VectorDomain(AtomDomain(T=i32))", input_metric="L1Distance(i32)")
    mechanism = dpaudit.from_opendp(vectors)
    assert {mechanism.sample(x, 2, np.random.default_rng(1)).dtype.kind for x, _ in mechanism.neighbours()} == {"O"}
    vectors.input_domain = "VectorDomain(AtomDomain(T=i32), size=3)"
    mechanism = dpaudit.from_opendp(vectors)
    assert {mechanism.sample(x, 2, np.random.default_rng(1)).shape for x, _ in mechanism.neighbours()} == {(2, 3)}


FILE = """
from fakes import Fake

measurement = Fake()

def made(scale: float = 1.0) -> "Measurement":
    return Fake(privacy=lambda d_in: d_in / scale)

def other():
    return Fake()
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A file of a user with fakes, where the library counts as installed."""
    import sys
    import types

    module = types.ModuleType("fakes")
    module.Fake = Fake
    monkeypatch.setitem(sys.modules, "fakes", module)
    monkeypatch.setattr("dpaudit.sources.libraries.adapters.check_installed", lambda library: None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FILE)
    return "opendp:mine.py"


def test_a_target_names_a_library_a_file_and_an_object(mine):
    (reference,) = find_targets(f"{mine}::measurement")
    made = reference.load()
    assert (made.name, called(reference, made.name)) == ("measurement", "opendp:mine.py:measurement")
    assert find_targets(called(reference, made.name)) == [reference]
    assert reference_of(made) == reference
    assert str(code_file(f"{mine}::measurement")) == "mine.py"
    # All objects: those that are one, and functions that say that they return one.
    assert [each.attribute for each in find_targets(mine)] == ["measurement", "made"]
    assert find_targets(f"{mine}:other")[0].load().name == "other"


def test_the_arguments_of_a_function_are_parameters(mine):
    (reference,) = find_targets(f"{mine}:made")
    made = reference.load()
    assert made.parameter_names() == ["d_in", "scale"]
    assert made(scale="4", d_in=2).claims()[0].guarantee == dpaudit.ApproximateDP(0.5)


def test_wrong_names_are_answered_with_what_there_is(mine):
    with pytest.raises(TargetError, match=r"no object 'nothing'; of opendp it has: measurement, made"):
        find_targets(f"{mine}:nothing")
    with pytest.raises(TargetError, match="'Fake' is type; give an OpenDP Measurement"):
        find_targets(f"{mine}:Fake")
    with pytest.raises(TargetError, match="names no module"):
        find_targets("opendp:")


@pytest.mark.parametrize("library", ["opendp", "diffprivlib", "pure-ldp"])
def test_a_library_that_is_not_there_is_named_with_its_installation(library, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(TargetError, match=rf"{library}: the library is not installed; pip install {library}"):
        find_targets(f"{library}:mine:object")


def test_inputs_of_ones_own_come_with_the_target(mine):
    """As JSON behind the target: they go into the reference, the command, and the key."""
    text = with_inputs(mine + "::measurement", pairs="[[1, 2]]", inputs=None)
    (reference,) = find_targets(text)
    made = reference.load()
    assert (made.name, list(made(d_in=1).neighbours())) == ("measurement", [(1, 2)])
    assert called(reference, made.name) == "opendp:mine.py:measurement#[[1, 2]]"
    assert find_targets(called(reference, made.name)) == [reference] == [reference_of(made)]
    assert str(code_file(text)) == "mine.py"
    assert reference != find_targets(f"{mine}::measurement")[0]
    every = with_inputs(mine, pairs=None, inputs="[1, 2, 3]")
    assert [list(each.load()(d_in=2).neighbours()) for each in find_targets(every)] == [[(1, 2), (1, 3), (2, 3)]] * 2


OWN = """
class Own:
    input_domain, input_metric, output_measure = "AtomDomain(T=i32)", "AbsoluteDistance(i32)", "MaxDivergence"

    def __call__(self, data):
        return data

    def map(self, d_in):
        return 1.0

measurement = Own()
"""


@pytest.mark.slow
def test_inputs_of_ones_own_count_in_the_key(mine, tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    text = "opendp:own.py::measurement"
    keys = [
        {key for cell in build_cells(Request(targets=[each])) for key in Keys(0).candidates(cell)}
        for each in (text, *(with_inputs(text, pairs=pairs, inputs=None) for pairs in ("[[1, 2]]", "[[1, 3]]")))
    ]
    assert all(keys)
    assert not keys[0] & keys[1]
    assert not keys[1] & keys[2]


@pytest.mark.parametrize(
    ("target", "given", "words"),
    [
        ("opendp:mine.py", {"pairs": "[1, 2]", "inputs": None}, "must list pairs"),
        ("opendp:mine.py", {"pairs": "[]", "inputs": None}, "nothing to compare"),
        ("opendp:mine.py", {"pairs": None, "inputs": "[1]"}, "nothing to compare"),
        ("opendp:mine.py", {"pairs": None, "inputs": "x"}, "not JSON"),
        ("opendp:mine.py", {"pairs": "[[1, 2]]", "inputs": "[1, 2]"}, "give one of them"),
        ("mine.py", {"pairs": "[[1, 2]]", "inputs": None}, "about a program or an object of a library"),
    ],
)
def test_inputs_that_cannot_be_used(target, given, words):
    with pytest.raises(ParameterError, match=words):
        with_inputs(target, **given)


def makes():
    """Make a measurement; a function of a module, as a pickle can name it."""
    return Fake(privacy=lambda d_in: 2.0 * d_in)


def test_what_a_function_makes_is_rebuilt_elsewhere():
    mechanism = dpaudit.from_opendp(makes, d_in=2, pairs=[(0, 2)], name="mine")
    again = pickle.loads(pickle.dumps(mechanism))
    assert (again.name, again.parameters()) == ("mine", {"d_in": 2.0})
    assert again.claims()[0].guarantee == dpaudit.ApproximateDP(4.0) == mechanism.claims()[0].guarantee
    assert list(again.neighbours()) == [(0, 2)]
    assert copy.deepcopy(mechanism) is mechanism
    tool = dpaudit.from_diffprivlib(functools.partial(mean, epsilon=1.5, bounds=(0, 1)))
    assert pickle.loads(pickle.dumps(tool)).claims()[0].guarantee == dpaudit.ApproximateDP(1.5)


def test_an_object_that_cannot_be_pickled_says_what_can():
    with pytest.raises(pickle.PicklingError, match=r"opendp: Fake cannot be pickled .* give from_opendp a function"):
        pickle.dumps(dpaudit.from_opendp(Fake(privacy=lambda d_in: 1.0)))


def mean(array, epsilon, bounds, random_state=None):
    return 0.0


class FakeTree:
    """A transformation of OpenDP's form: the sum of two leaves, in 32 bits that wrap around unless it saturates."""

    input_domain = "VectorDomain(AtomDomain(T=i32), size=2)"
    output_domain = "VectorDomain(AtomDomain(T=i32), size=3)"
    input_metric = output_metric = "L1Distance(i32)"
    input_distance_type = "i32"

    def __init__(self, saturates):
        self.saturates = saturates

    def __call__(self, leaves):
        total = sum(leaves)
        if self.saturates:
            return [min(max(total, -(2**31)), 2**31 - 1), *leaves]
        return [(total + 2**31) % 2**32 - 2**31, *leaves]

    def map(self, distance):
        if distance >= 2**31:
            raise OverflowError("distance does not fit")
        return 2 * distance


@pytest.mark.slow
def test_a_transformation_is_audited_against_its_map():
    (broken,) = dpaudit.check(dpaudit.from_opendp(FakeTree(saturates=False)), seed=1).results
    (right,) = dpaudit.check(dpaudit.from_opendp(FakeTree(saturates=True)), seed=1).results
    assert (broken.kind, broken.verdict, broken.witness.measured) == ("stability", "refuted", 2.0**32)
    assert right.verdict == "consistent"


def test_a_transformation_takes_no_distance_and_no_pairs():
    with pytest.raises(ParameterError, match="leave d_in and pairs out"):
        dpaudit.from_opendp(FakeTree(saturates=True), d_in=2.0)
