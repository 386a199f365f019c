"""Settings of numpy for floating-point errors: those of a caller change no audit, and hold in the caller's own code."""

import numpy as np
import pytest

import dpaudit
from dpaudit.testing import assert_private

AS_SET = {"divide": "raise", "over": "raise", "under": "raise", "invalid": "raise"}


@pytest.fixture
def raising():
    before = np.seterr(**AS_SET)
    yield
    assert np.geterr() == AS_SET
    np.seterr(**before)


def noisy(data, size, rng):
    return data + rng.laplace(size=size)


def far_apart(data, size, rng):
    return 60.0 * data + rng.laplace(size=(size, 3))


BOUNDS = [
    lambda: dpaudit.epsilon_lower_bound(noisy, 0, 1, samples=5000),
    lambda: dpaudit.epsilon_lower_bound(far_apart, 0, 1, samples=5000, delta=1e-9, stop_early=True, claimed=1.0),
    lambda: dpaudit.privacy_bounds(noisy, 0, 1, samples=5000).mu,
    lambda: dpaudit.bound_from_samples(*(noisy(data, 3000, np.random.default_rng(data)) for data in (0, 1))),
    lambda: dpaudit.NoisySteps(noise_multiplier=0.3, rate=1.0, steps=3).judge(50.0, 1e-6),
    lambda: dpaudit.NoisySteps(noise_multiplier=1.0, rate=0.01, steps=1000).epsilon(1e-6),
    lambda: assert_private(noisy, epsilon=1.5, pairs=[(0, 1)], samples=5000),
]


@pytest.mark.slow
@pytest.mark.parametrize("bound", BOUNDS)
def test_settings_of_the_caller_change_nothing(bound, request):
    expected = repr(bound())
    request.getfixturevalue("raising")
    assert repr(bound()) == expected


@pytest.mark.usefixtures("raising")
def test_code_of_the_caller_runs_with_its_settings():
    seen = []

    def noting(data, size, rng):
        seen.append(np.geterr())
        return noisy(data, size, rng)

    def shown(outputs):
        seen.append(np.geterr())
        return outputs

    def speaks(outputs, data):
        seen.append(np.geterr())
        return np.abs(outputs - data) < 1

    dpaudit.epsilon_lower_bound(noting, 0, 1, samples=1000, features=shown)
    dpaudit.epsilon_lower_bound(noting, 0, 1, samples=1000, supports=speaks)
    assert len(seen) > 10
    assert all(each == AS_SET for each in seen)
    with pytest.raises(dpaudit.TargetRaisedError, match="divide by zero"):
        dpaudit.epsilon_lower_bound(lambda d, s, rng: np.ones(s) / np.zeros(s), 0, 1, samples=1000)


def test_what_a_sampler_sets_ends_with_its_call():
    before = np.geterr()

    def setting(data, size, rng):
        np.seterr(all="raise")
        return noisy(data, size, rng)

    expected = dpaudit.epsilon_lower_bound(noisy, 0, 1, samples=2000)
    assert dpaudit.epsilon_lower_bound(setting, 0, 1, samples=2000).epsilon == expected.epsilon
    assert np.geterr() == before
