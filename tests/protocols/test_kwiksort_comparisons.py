"""The claims about the number of KwikSort's comparisons say something: a smaller constant, another rate is refuted."""

import dataclasses
import math

import dpaudit

KWIKSORT = dpaudit.load("kwiksort")


def claim(name):
    return next(claim for claim in KWIKSORT().claims() if claim.id == name)


def verdict(changed):
    class Altered(dpaudit.Mechanism):
        """One altered claim."""

        def claims(self):
            return [changed]

    return dpaudit.check(Altered()).results[0].verdict


def test_the_constant_is_not_much_larger_than_needed(monkeypatch):
    tail = claim("alabi2022.comparisons-tail")
    assert verdict(tail) == "proved"
    monkeypatch.setitem(tail.margin.__globals__, "CAP_FACTOR", 2.5)
    assert verdict(tail) == "refuted"


def test_the_logarithm_is_needed():
    expected = claim("alabi2022.comparisons-expected")
    assert verdict(expected) == "consistent"
    assert verdict(dataclasses.replace(expected, shape=None)) == "refuted"
    assert verdict(dataclasses.replace(expected, shape=lambda m: math.log(m) ** 3)) == "refuted"
