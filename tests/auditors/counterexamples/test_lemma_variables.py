"""Variables of lemmas: values stay in their domains, and simplifying ends at what is simplest."""

import itertools

import numpy as np
import pytest

import dpaudit
from dpaudit.auditors.counterexamples.variables import draw_value, simpler_values, simplest, vary_value

NUMBERS = [
    dpaudit.Integers(0, 0),
    dpaudit.Integers(-3, 5),
    dpaudit.Integers(7, 2**32 - 1),
    dpaudit.Integers(-(10**40), -10),
    dpaudit.Reals(0, 1),
    dpaudit.Reals(-8.0, 8.0),
    dpaudit.Reals(1e-9, 700.0),
    dpaudit.Reals(-1e308, 1e308),
    dpaudit.Reals(2.5, 2.5),
]
PROFILES = [dpaudit.RankingProfiles(1, 2), dpaudit.RankingProfiles(6, 5), dpaudit.RankingProfiles(40, 3)]


def is_in(domain, value):
    if isinstance(domain, dpaudit.RankingProfiles):
        agents, alternatives = value.shape
        sizes = 1 <= agents <= domain.agents and 2 <= alternatives <= domain.alternatives
        return sizes and (np.sort(value, axis=1) == np.arange(alternatives)).all()
    kind = int if isinstance(domain, dpaudit.Integers) else float
    return type(value) is kind and domain.low <= value <= domain.high


@pytest.mark.slow
@pytest.mark.parametrize("domain", [*NUMBERS, *PROFILES], ids=repr)
def test_values_stay_in_their_domain(domain):
    rng = np.random.default_rng(1)
    value = draw_value(domain, rng)
    for _ in range(500):
        assert is_in(domain, value)
        assert all(is_in(domain, each) for each in itertools.islice(simpler_values(domain, value), 200))
        value = draw_value(domain, rng) if rng.random() < 0.3 else vary_value(domain, value, rng)


@pytest.mark.slow
@pytest.mark.parametrize("domain", [*NUMBERS, *PROFILES], ids=repr)
def test_simplifying_comes_to_an_end(domain):
    rng = np.random.default_rng(2)
    for _ in range(20):
        value = draw_value(domain, rng)
        for _ in range(2000):
            simpler = list(simpler_values(domain, value))
            if not simpler:
                break
            value = simpler[rng.integers(len(simpler))]
        assert not simpler


@pytest.mark.parametrize("domain", NUMBERS, ids=repr)
def test_the_simplest_value_has_no_simpler_one(domain):
    assert list(simpler_values(domain, simplest(domain))) == []


@pytest.mark.parametrize("least", [0.3, 10.0, 123.456, 6e5])
def test_reals_get_few_digits(least):
    """The simplest number above a bound, whatever one starts from."""
    domain, rng = dpaudit.Reals(0.0, 1e6), np.random.default_rng(3)
    for _ in range(50):
        value = rng.uniform(least, 1e6)
        while (found := next((each for each in simpler_values(domain, value) if each > least), None)) is not None:
            value = found
        assert value == float(int(least) + 1)


def test_a_simple_profile_is_left():
    domain = dpaudit.RankingProfiles(30, 6)
    value = draw_value(domain, np.random.default_rng(1))
    while (found := next(iter(simpler_values(domain, value)), None)) is not None:
        value = found
    assert value.tolist() == [[0, 1]]
