"""The claims about the number of KwikSort's comparisons say something: a smaller constant, another rate is refuted."""

import dataclasses
import math

import pytest

import dpaudit
from dpaudit.catalog.ailon2008 import KwikSort
from dpaudit.catalog.alabi2022.claims import comparisons


def verdict(changed):
    class Altered(dpaudit.Mechanism):
        """One altered claim."""

        def claims(self):
            return [changed]

    return dpaudit.check(Altered()).results[0].verdict


@pytest.mark.slow
def test_the_constant_is_not_much_larger_than_needed(monkeypatch):
    tail = comparisons.comparisons_tail(KwikSort())
    assert verdict(tail) == "proved"
    monkeypatch.setattr(comparisons, "CAP_FACTOR", 2.5)
    assert verdict(tail) == "refuted"


def test_the_logarithm_is_needed():
    expected = comparisons.comparisons_expected(KwikSort())
    assert verdict(expected) == "consistent"
    assert verdict(dataclasses.replace(expected, shape=None)) == "refuted"
    assert verdict(dataclasses.replace(expected, shape=lambda m: math.log(m) ** 3)) == "refuted"
