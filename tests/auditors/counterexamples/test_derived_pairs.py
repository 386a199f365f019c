"""Neighbouring inputs derived from a domain: they are neighbours, in the domain, and find what hides at its corners."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import dpaudit
from dpaudit import Choices, Datasets, DerivedPairs, Floats, Integers, Nullable, ParameterError, Rows

TABLE = Rows((Integers(0, 9), Floats(-1.0, 1.0)))


def pairs_of(domain, draws=300):
    """Patterns, draws, and variations of both."""
    rng = np.random.default_rng(7)
    found = list(domain.patterns())
    found += [domain.draw(rng) for _ in range(draws)]
    return found + [domain.vary(pair, rng) for pair in found]


def in_table(record):
    whole, part = record
    return isinstance(whole, int) and 0 <= whole <= 9 and -1 <= part <= 1


@pytest.mark.slow
@pytest.mark.parametrize("size", [None, 4])
def test_datasets_differ_in_one_record(size):
    for relation, apart in (("substitution", 2), ("add-remove", 1)):
        for x, y in pairs_of(DerivedPairs(space=Datasets(TABLE, size=size), relation=relation)):
            # Records in no order: the symmetric difference of the multisets, in which 0.0 is not -0.0.
            counts = Counter(map(repr, x)), Counter(map(repr, y))
            assert sum(((counts[0] - counts[1]) + (counts[1] - counts[0])).values()) == apart
            assert all(map(in_table, [*x, *y]))
            if size is not None:
                assert max(len(x), len(y)) == size


def test_lists_grow_no_longer_than_the_domain_says():
    pairs = pairs_of(DerivedPairs(space=Datasets(Choices("ab"), longest=5), relation="add-remove"))
    lengths = {len(data) for pair in pairs for data in pair}
    assert lengths == {0, 1, 2, 3, 4, 5}


@pytest.mark.parametrize(
    ("space", "distance"),
    [(Floats(), 1.0), (Floats(bits=32), 1.0), (Floats(-3.0, 5.0), 0.1), (Integers(-5, 5), 3), (Integers(-5, 5), 2.5)],
)
def test_numbers_are_no_farther_apart_than_the_distance_exactly(space, distance):
    pairs = pairs_of(DerivedPairs(space=space, relation="absolute", distance=distance))
    assert all(0 <= abs(Fraction(x) - Fraction(y)) <= distance for x, y in pairs)
    assert all(space.low <= each <= space.high for pair in pairs for each in pair)
    # Most are as far apart as they may be.
    assert np.mean([abs(x - y) > 0.9 * np.floor(distance + 0.5 * (distance < 1)) for x, y in pairs]) > 0.5


def test_corners_of_all_columns_come_first():
    patterns = list(DerivedPairs(space=Datasets(TABLE), relation="substitution").patterns())
    alone = [(x[0], y[0]) for x, y in patterns if len(x) == 1]
    assert alone[0] == ((0, -1.0), (9, 1.0))
    corners = set(itertools.product((0, 9), (-1.0, 1.0)))
    assert corners <= {record for pair in alone for record in pair}


@pytest.mark.slow
def test_domain_by_a_predicate():
    def is_round(rows):
        return all(x * x + y * y <= 1 for x, y in rows)

    domain = DerivedPairs(
        space=Datasets(Rows((Floats(-1.0, 1.0),) * 2), size=3), relation="substitution", member=is_round
    )
    assert all(is_round(data) for pair in pairs_of(domain, 20) for data in pair)
    # The corners of the square lie outside; the ends of the axes do not.
    records = {record for pair in domain.patterns() for data in pair for record in data}
    assert {(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)} <= records
    nobody = DerivedPairs(space=Datasets(TABLE), relation="add-remove", member=lambda _: False)
    assert list(nobody.patterns()) == []
    with pytest.raises(ParameterError, match="none has two different inputs"):
        nobody.draw(np.random.default_rng(0))


def test_missing_values_and_nan_are_records():
    domain = Datasets(Rows((Nullable(Integers(0, 3)), Floats(nan=True))), size=1)
    found = pairs_of(DerivedPairs(space=domain, relation="any-two-inputs"))
    records = [data[0] for pair in found for data in pair]
    assert any(first is None for first, _ in records)
    assert any(second != second for _, second in records)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"space": Integers(0, 3), "relation": "substitution"}, "give Datasets"),
        ({"space": Choices("ab"), "relation": "absolute"}, "give Integers, Reals or Floats"),
        ({"space": Floats(), "relation": "absolute", "distance": 0.0}, "above 0"),
        ({"space": Integers(0, 3), "relation": "absolute", "distance": 0.5}, "at least 1 apart"),
        ({"space": Datasets(Choices("ab"), size=0), "relation": "substitution"}, "without records"),
        ({"space": Datasets(Choices("ab"), longest=0), "relation": "add-remove"}, "without records"),
        ({"space": Integers(0, 3), "relation": "near"}, "relation must be one of"),
    ],
)
def test_what_has_no_neighbours_is_refused(arguments, words):
    with pytest.raises(ParameterError, match=words):
        DerivedPairs(**arguments)


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "verdict"), [(100.0, "consistent"), (10.0, "refuted")])
def test_a_sensitivity_of_one_corner_is_found(scale, verdict):
    class Total(dpaudit.Mechanism):
        """The sum of products, which moves by 100 between opposite corners only."""

        name = "total"

        def sample(self, data, size, rng):
            return sum(x * y for x, y in data) + rng.laplace(0, scale, size)

        def neighbours(self):
            space = Datasets(Rows((Floats(0.0, 100.0), Floats(0.0, 1.0))))
            return dpaudit.Neighbouring.within(DerivedPairs(space=space, relation="add-remove"))

        def claims(self):
            return [dpaudit.PrivacyClaim(id="total.privacy", statement="It is private.", epsilon=1.0)]

    (result,) = dpaudit.check(Total(), seed=3, samples=5000).results
    assert str(result.verdict) == verdict


def test_few_pairs_of_any_two_inputs_meet_all_values():
    pairs = DerivedPairs(space=Choices(tuple("abcdefg")), relation="any-two-inputs")
    met = list(itertools.islice(pairs.patterns(), 4))
    assert {value for pair in met for value in pair} == set("abcdefg")
    assert len(set(map(frozenset, pairs.patterns()))) == math.comb(7, 2)
