"""Recorded noise: every source of it, the file and line, nothing left behind, equal runs from equal seeds."""

import inspect
import random
import secrets
import sys
import threading
from random import gauss as imported_gauss
from types import ModuleType

import numpy as np
import pytest
from numpy.random import laplace as imported_laplace

import dpaudit
from dpaudit.auditors.noise.audit import audit_noise
from dpaudit.auditors.sampling.streams import Streams
from dpaudit.sources.noise.patches import patched
from dpaudit.sources.noise.recorder import Recorder, Replay

SHARED = np.random.default_rng(7)


def line_here():
    return inspect.currentframe().f_back.f_lineno


@pytest.mark.parametrize(
    ("draw", "function", "value", "scale"),
    [
        (lambda: np.random.laplace(3.0, 2.0), "numpy.random.RandomState.laplace", 3.0, 2.0),
        (lambda: imported_laplace(scale=2.0), "numpy.random.RandomState.laplace", 0.0, 2.0),
        (lambda: np.random.normal([1.0, 2.0], 3.0), "numpy.random.RandomState.normal", [1.0, 2.0], [3.0, 3.0]),
        (lambda: np.random.randn(2), "numpy.random.RandomState.standard_normal", [0.0, 0.0], [1.0, 1.0]),
        (lambda: np.random.RandomState(1).laplace(size=1), "numpy.random.RandomState.laplace", [0.0], [1.0]),
        (lambda: np.random.default_rng(1).normal(1.0, 2.0), "numpy.random.Generator.normal", 1.0, 2.0),
        (lambda: np.random.Generator(np.random.PCG64(1)).laplace(), "numpy.random.Generator.laplace", 0.0, 1.0),
        (
            lambda: np.random.default_rng(1).standard_normal(1, np.float32),
            "numpy.random.Generator.standard_normal",
            [0.0],
            [1.0],
        ),
        (lambda: SHARED.laplace(1.0), "numpy.random.Generator.laplace", 1.0, 1.0),
        (lambda: random.gauss(1.0, 2.0), "random.gauss", 1.0, 2.0),
        (lambda: imported_gauss(1.0, 2.0), "random.gauss", 1.0, 2.0),
        (lambda: random.Random(1).normalvariate(1.0, 2.0), "random.normalvariate", 1.0, 2.0),
        (lambda: secrets.SystemRandom().gauss(1.0, 2.0), "random.gauss", 1.0, 2.0),
    ],
)
def test_every_source_is_recorded(draw, function, value, scale):
    with dpaudit.record_noise() as calls:
        returned = draw()
    (call,) = calls
    assert (call.function, call.value.tolist(), call.scale.tolist()) == (function, value, scale)
    assert np.array_equal(call.returned, returned)
    np.testing.assert_allclose(call.value + call.noise, np.asarray(returned, dtype=float), rtol=1e-6)
    assert call.place.endswith(f"test_noise_recording.py:{draw.__code__.co_firstlineno}") or "standard" in function


def test_the_place_is_the_line_of_the_call():
    with dpaudit.record_noise() as calls:
        np.random.laplace(); line = line_here()  # fmt: skip  # noqa: E702
    assert calls[0].place.endswith(f"test_noise_recording.py:{line}")
    assert f":{line}: value 0., scale 1." in repr(calls[0])


def test_recorded_noise_is_that_which_is_drawn_otherwise():
    def draws():
        np.random.seed(1)
        random.seed(1)
        rng = np.random.default_rng(1)
        return [
            np.random.laplace(),
            np.random.rand(),
            rng.normal(),
            rng.integers(9),
            random.gauss(0, 1),
            random.random(),
        ]

    before = draws()
    with dpaudit.record_noise():
        assert draws() == before


def test_everything_is_put_back_and_states_are_kept():
    def held():
        return [
            np.random.laplace, np.random.default_rng, np.random.Generator, np.random.RandomState,
            np.random.mtrand._rand,
            np.random.mtrand.laplace, imported_laplace, imported_gauss, random.gauss, random.Random.gauss,
            random.SystemRandom.random, vars(random.Random).get("random"), random.Random.seed, SHARED,
        ]  # fmt: skip

    before = held()
    state = random.getstate()
    numbers = np.random.get_state()[1].tolist()

    def interrupted():
        with patched(), Recorder(Replay(seed=3)):
            assert held() != before
            random.random()
            np.random.rand()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        interrupted()
    assert all(a is b for a, b in zip(held(), before, strict=True))
    assert random.getstate() == state
    assert np.random.get_state()[1].tolist() == numbers


def test_equal_seeds_give_equal_runs_on_any_input():
    def run(value):
        rng = np.random.default_rng()
        return [
            np.random.laplace(value, 2.0) - value, rng.random(), random.random(), random.SystemRandom().random(),
            random.Random().random(), np.random.RandomState().rand(), rng.normal(size=2).sum(), random.gauss(0, 1),
        ]  # fmt: skip

    found = []
    with patched():
        for value in (0.0, 8.0):
            with Recorder(Replay(seed=5)) as recorder:
                found.append(run(value))
            assert len(recorder.others) == 5
        with Recorder(Replay(seed=6)):
            other = run(0.0)
    np.testing.assert_allclose(found[0], found[1], atol=1e-14)
    assert not set(found[0]) & set(other)


def test_replays_have_the_law_that_is_declared():
    with patched(), Recorder(Replay(seed=1)):
        drawn = np.random.laplace(0.0, 3.0, 20000), np.random.normal(0.0, 3.0, 20000)
    # E|X| is the scale of a Laplace law and scale * sqrt(2 / pi) of a normal one; six standard errors.
    assert np.abs(drawn[0]).mean() == pytest.approx(3.0, abs=6 * 3 / 20000**0.5)
    assert np.abs(drawn[1]).mean() == pytest.approx(3.0 * (2 / np.pi) ** 0.5, abs=6 * 1.81 / 20000**0.5)


def test_generators_are_what_they_were():
    with patched():
        rng = np.random.default_rng(1)
        assert isinstance(rng, np.random.Generator)
        assert isinstance(SHARED, np.random.Generator)
        assert np.random.default_rng(rng) is rng
        assert not isinstance(rng, np.random.RandomState)
    assert isinstance(rng, np.random.Generator)
    assert 0 <= rng.random() < 1  # what is kept goes on drawing


def test_other_threads_are_not_recorded():
    with dpaudit.record_noise() as calls:
        thread = threading.Thread(target=np.random.laplace)
        thread.start()
        thread.join()
    assert calls == []


def test_one_recording_at_a_time():
    with dpaudit.record_noise(), pytest.raises(dpaudit.CheckError, match="already"), dpaudit.record_noise():
        pass
    with dpaudit.record_noise():
        pass


# Functions of the user's own.


def add(value, *, width, rng=None):
    return value + width * (random.random() - 0.5)


def test_a_named_function_is_recorded_and_its_own_draws_are_not():
    described = dpaudit.NoiseFunction(
        name=f"{__name__}:add", value="value", sensitivity=lambda given: given["width"] / 2
    )
    with dpaudit.record_noise(described) as calls:
        returned = add(3.0, width=4.0)
    assert [(each.function, each.value, each.sensitivity) for each in calls] == [(f"{__name__}:add", 3.0, 2.0)]
    assert 1.0 <= returned <= 5.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": "no.such.module:f"}, "cannot be found"),
        ({"name": f"{__name__}:no_such_function"}, "cannot be found"),
        ({"name": f"{__name__}:add", "value": "nothing"}, "no argument 'nothing'; it has value, width, rng"),
        ({"name": f"{__name__}:add", "sensitivity": "nothing"}, "no argument"),
    ],
)
def test_functions_that_are_not_there_are_refused(options, words):
    described = dpaudit.NoiseFunction(**{"value": "value", "sensitivity": "width", **options})
    with pytest.raises(dpaudit.ParameterError, match=words), dpaudit.record_noise(described):
        pass
    with dpaudit.record_noise():
        pass


@pytest.mark.parametrize(
    "options",
    [
        {"name": "numpy"},
        {"name": "a:b", "family": "cauchy", "scale": "x"},
        {"name": "a:b", "family": "laplace"},
        {"name": "a:b"},
        {"name": "a:b", "sensitivity": "x", "metric": "l3"},
    ],
)
def test_bad_descriptions_are_refused(options):
    with pytest.raises(dpaudit.ParameterError, match="NoiseFunction"):
        dpaudit.NoiseFunction(**{"value": "x", **options})


# Libraries: as they are where they are installed, and modules of the same form everywhere.


def audited(mechanism, x, y, **claimed):
    pairs = dpaudit.Neighbouring(relation="its own", pairs=[(x, y)], complete=False, scope="one pair")
    claim = dpaudit.NoiseClaim(id="n", statement="It is enough.", mechanism=mechanism, neighbours=pairs, **claimed)
    return audit_noise(dpaudit.Mechanism(), claim, pairs=None, deadline=None, streams=Streams(0))


def module(monkeypatch, name, source):
    made = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, made)
    exec(compile(inspect.cleandoc(source), f"/site-packages/{name.replace('.', '/')}.py", "exec"), vars(made))
    return made


@pytest.fixture
def diffprivlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "diffprivlib", ModuleType("diffprivlib"))
    return module(
        monkeypatch,
        "diffprivlib.mechanisms.base",
        """
        import math, secrets
        class DPMechanism:
            def __init__(self, epsilon, sensitivity, delta=0.0):
                self.epsilon, self.sensitivity, self.delta = epsilon, sensitivity, delta
                self._rng = secrets.SystemRandom()
            def _check_all(self, value):
                if not isinstance(value, float):
                    raise TypeError(value)
            def _noise(self):
                u = self._rng.random() - 0.5
                return -self.sensitivity / self.epsilon * math.copysign(math.log1p(-2 * abs(u)), u)
        class Laplace(DPMechanism):
            def randomise(self, value):
                return value + self._noise()
        class LaplaceFolded(DPMechanism):
            def randomise(self, value):
                return abs(value + self._noise())
        """,
    )


@pytest.mark.slow
def test_mechanisms_of_diffprivlib(diffprivlib):
    def regression(bound):
        def fit(data):
            first = diffprivlib.Laplace(0.5, 100.0).randomise(float(sum(data)))
            second = diffprivlib.LaplaceFolded(0.5, bound).randomise(float(sum(x**2 for x in data)))
            return first / second

        return fit

    x, y = [100.0, 0.0], [100.0, 100.0]
    evidence = audited(regression(0.0), x, y, epsilon=1.0)
    assert (evidence.verdict, evidence.witness.measured, evidence.witness.claimed) == ("refuted", 10000.0, 0.0)
    assert evidence.witness.instance["call"] == "diffprivlib.LaplaceFolded.randomise"
    assert evidence.witness.details["required scale"] == 20000.0
    # Mended, the two halves of the budget are what the calls declare.
    assert audited(regression(10000.0), x, y, epsilon=1.0).verdict == "consistent"
    assert audited(regression(10000.0), x, y, epsilon=0.9).verdict == "inconclusive"
    assert (
        audited(lambda data: diffprivlib.Laplace(1.0, 1.0).randomise(data), 0.0, 1.0, epsilon=0.9).verdict == "refuted"
    )


@pytest.fixture
def opendp(monkeypatch):
    return module(
        monkeypatch,
        "opendp.mod",
        """
        import os
        class Measurement:
            def __init__(self, function, **arguments):
                self.__opendp_dict__ = {"__function__": function, "__kwargs__": arguments}
            def __call__(self, arg):
                return [int.from_bytes(os.urandom(4), "little")]
            invoke = __call__
        """,
    )


@pytest.mark.slow
def test_measurements_of_opendp(opendp):
    laplace = opendp.Measurement("make_laplace", scale=2.0)
    chain = opendp.Measurement(
        "make_chain_mt", measurement1=laplace, transformation0=lambda data: [sum(data), len(data)]
    )
    assert audited(chain, [1], [1, 1], epsilon=1.0).verdict == "consistent"
    evidence = audited(lambda data: chain(data), [1], [1, 3], epsilon=1.0)
    assert (evidence.verdict, evidence.witness.measured) == ("refuted", pytest.approx(2.0))
    assert "test_noise_recording.py" in evidence.witness.instance["place"]
    unknown = opendp.Measurement("make_other")
    assert "not recorded" in audited(unknown, [1], [1, 1], epsilon=1.0).note


@pytest.fixture
def torch(monkeypatch):
    made = module(
        monkeypatch,
        "torch",
        """
        import numpy
        class Tensor:
            def __init__(self, values):
                self.values = numpy.array(values, dtype=float)
                self.shape, self.dtype = self.values.shape, "float32"
            def detach(self): return self
            def cpu(self): return self
            def numpy(self): return self.values
            def to(self, dtype): return self
            def __add__(self, other): return Tensor(self.values + other.values)
            def copy_(self, other):
                self.values[...] = other.values
                return self
            def normal_(self, mean=0.0, std=1.0):
                return self.copy_(normal(mean, std, self.shape))
        def as_tensor(values): return Tensor(values)
        def get_default_dtype(): return "float32"
        def normal(mean, std=1.0, size=None, generator=None): return Tensor(numpy.full(size, 9.0))
        def randn(*size): return normal(0.0, 1.0, size)
        def randperm(n): return Tensor(range(n))
        """,
    )
    distributions = module(
        monkeypatch,
        "torch.distributions",
        """
        class Laplace:
            def __init__(self, loc, scale): self.loc, self.scale = loc, scale
            def sample(self, sample_shape=()): raise AssertionError
        """,
    )
    made.distributions = distributions
    return made


@pytest.mark.slow
def test_functions_of_torch(torch):
    def gradient(noise):
        return lambda data: torch.Tensor([sum(data), 0.0]) + noise()

    for noise in (
        lambda: torch.normal(mean=0, std=2.0, size=(2,), generator=None),
        lambda: torch.Tensor([0.0, 0.0]).normal_(0, std=2.0),
    ):
        assert audited(gradient(noise), [1.0], [2.0], guarantee=dpaudit.GaussianDP(0.5)).verdict == "consistent"
        evidence = audited(gradient(noise), [1.0], [2.0], guarantee=dpaudit.GaussianDP(0.4))
        assert (evidence.verdict, evidence.witness.measured) == ("refuted", pytest.approx(0.5))
    assert (
        audited(gradient(lambda: torch.randn(2)), [1.0], [2.0], guarantee=dpaudit.GaussianDP(1.0)).verdict
        == "consistent"
    )
    drawn = torch.distributions.Laplace(torch.Tensor(0.0), torch.Tensor(1.0))
    assert (
        audited(lambda data: torch.Tensor(sum(data)) + drawn.sample(), [1.0], [2.0], epsilon=1.0).verdict
        == "consistent"
    )
    shuffled = audited(lambda data: torch.randperm(2) + torch.normal(0.0, 1.0, (2,)), [1.0], [2.0], epsilon=1.0)
    assert "torch.randperm at" in shuffled.note


def test_the_real_diffprivlib():
    pytest.importorskip("diffprivlib", reason="diffprivlib is not installed")
    from diffprivlib import tools

    def mean(data):
        return tools.mean(data, epsilon=1.0, bounds=(0, 10))

    assert audited(mean, np.array([1.0, 2.0]), np.array([1.0, 10.0]), epsilon=1.0).verdict == "consistent"


def test_the_real_opendp():
    dp = pytest.importorskip("opendp.prelude", reason="opendp is not installed")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(bounds=(0, 5))), dp.symmetric_distance()
    total = space >> dp.t.then_sum() >> dp.m.then_laplace(5.0)
    assert audited(total, [1], [1, 5], epsilon=1.0).verdict == "consistent"
    assert audited(total, [1], [1, 5], epsilon=0.9).verdict == "refuted"


def test_the_real_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed")

    def mechanism(data):
        return torch.tensor([sum(data)]) + torch.normal(mean=0.0, std=2.0, size=(1,))

    assert audited(mechanism, [1.0], [2.0], guarantee=dpaudit.GaussianDP(0.4)).verdict == "refuted"


def test_methods_without_an_object_stay_what_they_are(monkeypatch):
    made = module(
        monkeypatch,
        "static_noise",
        """
import numpy as np

class Adding:
    @staticmethod
    def static(value, width):
        return value + np.random.laplace(0, width)

    @classmethod
    def of_class(cls, value, width):
        return value + np.random.laplace(0, width)

class Below(Adding):
    pass
""",
    )
    for owner in ("Adding", "Below"):
        for name in ("static", "of_class"):
            before = inspect.getattr_static(getattr(made, owner), name)
            told = dpaudit.NoiseFunction(name=f"static_noise:{owner}.{name}", value="value", sensitivity="width")
            with dpaudit.record_noise(told) as calls:
                for holder in (getattr(made, owner), getattr(made, owner)()):
                    getattr(holder, name)(3.1, 1.7)
            assert [(each.function, each.value, each.sensitivity) for each in calls] == [(told.name, 3.1, 1.7)] * 2
            assert inspect.getattr_static(getattr(made, owner), name) is before
            assert (name in vars(made.Below)) is False
