"""Input domains: their pairs are neighbours, counted right, and drawn alike from equal generators."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import strategies

import dpaudit
from dpaudit.claims.inputs import InputDomain, pair_key
from dpaudit.claims.neighbouring import MOST_LISTED

NORMS = {"linf": np.inf, "l1": 1, "l2": 2}

VECTORS = [
    dpaudit.Vectors(length=1, low=0, high=1),
    dpaudit.Vectors(length=5, low=0, high=10),
    dpaudit.Vectors(length=5, low=-0.3, high=0.4, step=0.1, norm="l1"),
    dpaudit.Vectors(length=10, low=-1.0, high=1.0, step=0.7, norm="l2"),
    dpaudit.Vectors(length=3, low=0, high=1, step=5, norm="linf"),
    dpaudit.Vectors(length=3, low=0, high=1, step=100, norm="l2"),
    dpaudit.Vectors(length=1, low=-2, high=3, step=2.5, integer=True),
    dpaudit.Vectors(length=3, low=0, high=2, integer=True),
    dpaudit.Vectors(length=3, low=0, high=3, step=2, norm="l1", integer=True),
    dpaudit.Vectors(length=3, low=-1, high=2, step=1.5, norm="l2", integer=True),
    dpaudit.Vectors(length=2, low=0, high=4, step=math.sqrt(5), norm="l2", integer=True),
    dpaudit.Vectors(length=2, low=0, high=1, step=50, norm="l1", integer=True),
    dpaudit.Vectors(length=40, low=0, high=1000, step=3, norm="l1", integer=True),
]
RECORDS = [
    dpaudit.Records(values=values, size=size, relation=relation, ordered=ordered)
    for values, size in (("ab", 1), ("abc", 1), ("abc", 2), ("ab", 4), (["x", 1, (2, 3)], 3))
    for relation in ("substitution", "add-remove")
    for ordered in (False, True)
]
PROFILES = [
    dpaudit.Profiles(agents=agents, alternatives=m, relation=relation, neutral=neutral)
    for agents, m in ((1, 2), (1, 3), (2, 3), (3, 3), (3, 2), (20, 7))
    for relation in ("substitution", "add-remove")
    for neutral in (False, True)
]
ANY_TWO = [dpaudit.AnyTwo(values=values) for values in ((0, 1), "abc", range(300), [np.arange(3), np.ones(3)])]
DRAWN = [
    dpaudit.DrawnPairs(
        strategy=strategies.integers(0, 50).flatmap(lambda n: strategies.tuples(strategies.just(n), _near(n))),
        relation="own",
        scope="integers that differ by at most 1",
    )
]
DOMAINS = [*VECTORS, *RECORDS, *PROFILES, *ANY_TWO, *DRAWN]


def _near(n):
    return strategies.integers(n - 1, n + 1)


def _neighbours(domain, pair):
    """Whether a pair is one of a domain's, decided without the domain's own code."""
    x, y = pair
    if isinstance(domain, dpaudit.Vectors):
        kind = np.int64 if domain.integer else np.float64
        in_box = all(
            v.shape == (domain.length,) and v.dtype == kind and v.min() >= domain.low and v.max() <= domain.high
            for v in pair
        )
        distance = np.linalg.norm((y - x).astype(float), NORMS[domain.norm])
        return in_box and 0 < distance <= domain.step * (1 + 1e-9)
    if isinstance(domain, dpaudit.Records):
        return _one_record_apart(domain, x, y)
    if isinstance(domain, dpaudit.Profiles):
        x, y = (tuple(map(tuple, profile.tolist())) for profile in pair)
        rankings = all(sorted(row) == list(range(domain.alternatives)) for row in x + y)
        sizes = (len(x), len(y)) == (domain.agents, domain.agents - (domain.relation == "add-remove"))
        first = not domain.neutral or x[0] == tuple(range(domain.alternatives))
        return rankings and sizes and first and (Counter(x) - Counter(y)).total() == 1
    if isinstance(domain, dpaudit.AnyTwo):
        return x is not y and all(any(v is value for value in domain.values) for v in pair)
    return x != y and abs(x - y) <= 1 and 0 <= x <= 50


def _one_record_apart(domain, x, y):
    if not {*x, *y} <= set(domain.values):
        return False
    if domain.relation == "add-remove":
        larger, other = (x, y) if len(x) > len(y) else (y, x)
        if (len(larger), len(other)) != (domain.size, domain.size - 1):
            return False
        if domain.ordered:
            return any(larger[:i] + larger[i + 1 :] == other for i in range(len(larger)))
        return (Counter(larger) - Counter(other)).total() == 1 and not Counter(other) - Counter(larger)
    if not len(x) == len(y) == domain.size:
        return False
    if domain.ordered:
        return sum(a != b for a, b in zip(x, y, strict=True)) == 1
    return (Counter(x) - Counter(y)).total() == 1


def _all_datasets(domain):
    for size in [domain.size] if domain.relation == "substitution" else [domain.size - 1, domain.size]:
        if domain.ordered:
            yield from itertools.product(domain.values, repeat=size)
        else:
            yield from itertools.combinations_with_replacement(domain.values, size)


@pytest.mark.slow
@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_every_pair_given_is_a_pair_of_neighbours(domain):
    assert isinstance(domain, InputDomain)
    rng = np.random.default_rng(1)
    patterns = list(domain.patterns())
    assert 1 <= len(patterns) <= 64
    assert len({pair_key(pair) for pair in patterns}) == len(patterns)
    drawn = [domain.draw(rng) for _ in range(12 if domain in DRAWN else 200)]
    varied = patterns + drawn
    for _ in range(1 if domain in DRAWN else 4):
        varied = [domain.vary(pair, rng) for pair in varied]
        assert all(_neighbours(domain, pair) for pair in varied)
    assert all(_neighbours(domain, pair) for pair in patterns + drawn)
    if len(patterns) > 4:
        assert len({pair_key(pair) for pair in drawn}) > 4
        assert {pair_key(pair) for pair in varied} - {pair_key(pair) for pair in patterns + drawn} or domain.count()


@pytest.mark.slow
@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_equal_generators_draw_alike(domain):
    def once(seed):
        rng = np.random.default_rng(seed)
        drawn = [domain.draw(rng) for _ in range(5)]
        return [pair_key(pair) for pair in drawn + [domain.vary(pair, rng) for pair in drawn]]

    assert once(1) == once(1)
    assert [pair_key(pair) for pair in domain.patterns()] == [pair_key(pair) for pair in domain.patterns()]


@pytest.mark.parametrize("domain", [d for d in VECTORS if d.integer and d.length <= 3], ids=repr)
def test_pairs_of_integer_vectors_against_brute_force(domain):
    box = itertools.product(range(int(domain.low), int(domain.high) + 1), repeat=domain.length)
    expected = {
        frozenset((x, y))
        for x, y in itertools.combinations(box, 2)
        if np.linalg.norm(np.subtract(x, y), NORMS[domain.norm]) <= domain.step * (1 + 1e-9)
    }
    listed = [frozenset((tuple(x.tolist()), tuple(y.tolist()))) for x, y in domain.pairs()]
    assert len(listed) == len(set(listed)) == domain.count()
    assert set(listed) == expected


@pytest.mark.parametrize("domain", RECORDS, ids=repr)
def test_pairs_of_records_against_brute_force(domain):
    expected = {
        frozenset(pair) for pair in itertools.combinations(_all_datasets(domain), 2) if _one_record_apart(domain, *pair)
    }
    listed = [frozenset(pair) for pair in domain.pairs()]
    assert len(listed) == len(set(listed)) == domain.count()
    assert set(listed) == expected


def _multiset(profile):
    return frozenset(Counter(map(tuple, profile.tolist())).items())


@pytest.mark.parametrize("domain", [d for d in PROFILES if d.agents <= 3 and not d.neutral], ids=repr)
def test_pairs_of_profiles_against_brute_force(domain):
    every = list(itertools.permutations(range(domain.alternatives)))
    profiles = [
        Counter(rows)
        for n in {domain.agents, domain.agents - (domain.relation == "add-remove")}
        for rows in itertools.combinations_with_replacement(every, n)
    ]
    moved = {"substitution": {(1, 1)}, "add-remove": {(1, 0), (0, 1)}}[domain.relation]
    expected = {
        frozenset((frozenset(x.items()), frozenset(y.items())))
        for x, y in itertools.combinations(profiles, 2)
        if ((x - y).total(), (y - x).total()) in moved
    }
    listed = [frozenset(map(_multiset, pair)) for pair in domain.pairs()]
    assert len(listed) == len(set(listed)) == domain.count()
    assert set(listed) == expected


@pytest.mark.parametrize("domain", [d for d in PROFILES if d.agents <= 3 and d.neutral], ids=repr)
def test_neutral_pairs_stand_for_all_others(domain):
    listed = list(domain.pairs())
    assert len(listed) == domain.count()
    everything = dpaudit.Profiles(agents=domain.agents, alternatives=domain.alternatives, relation=domain.relation)
    renamed = {
        frozenset(_multiset(np.array(names)[profile]) for profile in pair)
        for pair in listed
        for names in itertools.permutations(range(domain.alternatives))
    }
    assert renamed == {frozenset(map(_multiset, pair)) for pair in everything.pairs()}


@pytest.mark.slow
@pytest.mark.parametrize("domain", [d for d in ANY_TWO + RECORDS if d.count() <= 300], ids=repr)
def test_draws_and_variations_reach_every_pair(domain):
    rng = np.random.default_rng(2)
    every = {pair_key(pair) for pair in domain.pairs()}
    assert {pair_key(domain.draw(rng)) for _ in range(60 * len(every) + 60)} == every
    pair, walked = next(domain.patterns()), set()
    for _ in range(100 * len(every) + 60):
        pair = domain.vary(pair, rng)
        walked.add(pair_key(pair))
    assert walked == every


def test_patterns_of_counts_differ_in_the_usual_ways():
    """The categories of Ding et al. 2018, table 1, at their place: queries around 1 that change by 1."""
    listed = [
        ([1, 1, 1, 1, 1], [2, 1, 1, 1, 1]),
        ([1, 1, 1, 1, 1], [0, 1, 1, 1, 1]),
        ([1, 1, 1, 1, 1], [2, 0, 0, 0, 0]),
        ([1, 1, 1, 1, 1], [0, 2, 2, 2, 2]),
        ([1, 1, 1, 1, 1], [2, 2, 2, 2, 2]),
        ([1, 1, 1, 1, 1], [2, 2, 2, 0, 0]),
    ]
    domain = dpaudit.Vectors(length=5, low=0, high=10)
    differences = {tuple((y - x).tolist()) for x, y in domain.patterns()}
    for x, y in listed:
        difference = np.subtract(y, x)
        assert {tuple(difference), tuple(-difference)} & differences


def test_steps_are_used_up():
    for domain in VECTORS:
        if not domain.integer and domain.step < (domain.high - domain.low):
            for x, y in domain.patterns():
                assert np.linalg.norm(y - x, NORMS[domain.norm]) == pytest.approx(domain.step, rel=1e-9)


def test_counts_that_are_large_or_none():
    whole = {"low": 0, "high": 1, "integer": True}
    assert dpaudit.Vectors(length=2, low=0.0, high=1.0).count() is None
    # Any two of the 2^n corners; and those that differ in one place.
    assert dpaudit.Vectors(length=100, **whole).count() == math.comb(2**100, 2)
    assert dpaudit.Vectors(length=100, norm="l1", **whole).count() == 100 * 2**99
    assert dpaudit.Vectors(length=50, low=0, high=10**6, step=10**4, norm="l2", integer=True).count() is None
    assert dpaudit.Profiles(agents=1, alternatives=12).count() == math.comb(math.factorial(12), 2)
    with pytest.raises(dpaudit.ParameterError, match="cannot be listed"):
        list(dpaudit.Vectors(length=2, low=0.0, high=1.0).pairs())
    with pytest.raises(dpaudit.ParameterError, match="cannot be listed"):
        list(DRAWN[0].pairs())


@pytest.mark.slow
def test_a_small_domain_is_complete_and_a_large_one_gives_its_patterns():
    small = dpaudit.Neighbouring.within(dpaudit.AnyTwo(values="abcd"))
    assert small.complete
    assert list(small) == list(small) == list(itertools.combinations("abcd", 2))
    assert (small.relation, small.scope) == ("any-two-inputs", "any two of 4 inputs")
    for domain in (VECTORS[1], dpaudit.AnyTwo(values=range(448))):
        large = dpaudit.Neighbouring.within(domain, scope="mine")
        assert not large.complete
        assert large.scope == "mine"
        assert large.domain is domain
        assert [pair_key(pair) for pair in large] == [pair_key(pair) for pair in domain.patterns()]
    assert math.comb(448, 2) > MOST_LISTED >= math.comb(447, 2)
    assert dpaudit.Neighbouring.within(dpaudit.AnyTwo(values=range(447))).complete
    every = dpaudit.Neighbouring.any_two_inputs(range(500), scope="many")
    assert every.complete
    assert sum(1 for _ in every) == math.comb(500, 2)


@pytest.mark.slow
def test_nothing_is_proved_from_patterns():
    class Flips(dpaudit.Mechanism):
        domain = dpaudit.Vectors(length=1, low=0, high=1)

        def sample(self, data, size, rng):
            return rng.random(size) < 0.25 + 0.5 * data[0]

        def law(self, data):
            p = 0.25 + 0.5 * data[0]
            return dpaudit.FiniteLaw([False, True], np.log([1 - p, p]))

        def neighbours(self):
            return dpaudit.Neighbouring.within(self.domain)

        def claims(self):
            return [dpaudit.PrivacyClaim(id="c", statement="s", epsilon=math.log(3))]

    assert dpaudit.check(Flips()).results[0].verdict == "certified"
    Flips.domain = dpaudit.Vectors(length=1, low=0, high=1, integer=True)
    assert dpaudit.check(Flips()).results[0].verdict == "proved"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: dpaudit.Vectors(length=0, low=0, high=1), "length must be a whole number of at least 1, got 0"),
        (lambda: dpaudit.Vectors(length=2.0, low=0, high=1), "length must be a whole number"),
        (lambda: dpaudit.Vectors(length=2, low=1, high=1), "low < high, got 1 and 1"),
        (lambda: dpaudit.Vectors(length=2, low=0, high=math.inf), "finite"),
        (lambda: dpaudit.Vectors(length=2, low=-1.7e308, high=1.7e308), "high - low"),
        (lambda: dpaudit.Vectors(length=2, low="0", high=1), "low must be a number, got '0'"),
        (lambda: dpaudit.Vectors(length=2, low=0, high=1, step=0), "step must be a finite number above 0"),
        (lambda: dpaudit.Vectors(length=2, low=0, high=1, step=math.nan), "step must be a finite number above 0"),
        (lambda: dpaudit.Vectors(length=2, low=0, high=1, norm="l3"), "norm must be one of linf, l1, l2, got 'l3'"),
        (lambda: dpaudit.Vectors(length=2, low=0.5, high=2, integer=True), "must be whole"),
        (lambda: dpaudit.Vectors(length=2, low=0, high=2, step=0.5, integer=True), "at least 1, got 0.5"),
        (lambda: dpaudit.Vectors(length=2, low=0, high=1e300, integer=True), "within"),
        (lambda: dpaudit.Vectors(length=2, low=1e15, high=1e15 + 1), "rounding"),
        (lambda: dpaudit.Records(values="a", size=2), "at least 2 values, got 1"),
        (lambda: dpaudit.Records(values="", size=2, relation="add-remove"), "at least 1 value, got 0"),
        (lambda: dpaudit.Records(values="aba", size=2), "values 0 and 2 are both 'a'"),
        (lambda: dpaudit.Records(values="ab", size=0), "size must be a whole number of at least 1"),
        (lambda: dpaudit.Records(values="ab", size=1, relation="swap"), "relation must be"),
        (lambda: dpaudit.AnyTwo(values=[1]), "at least 2 values"),
        (lambda: dpaudit.AnyTwo(values=5), "sequence of inputs"),
        (lambda: dpaudit.AnyTwo(values=[np.zeros(2), np.zeros(2)]), "values 0 and 1"),
        (lambda: dpaudit.Profiles(agents=0, alternatives=3), "agents"),
        (lambda: dpaudit.Profiles(agents=1, alternatives=1), "alternatives"),
        (lambda: dpaudit.Profiles(agents=1, alternatives=2, relation="swap"), "relation must be"),
        (lambda: dpaudit.DrawnPairs(strategy=3, relation="r", scope="s"), "Hypothesis strategy"),
        (lambda: dpaudit.Neighbouring.within([(0, 1)]), "input domain"),
        (lambda: dpaudit.Neighbouring.within(dpaudit.Vectors), "input domain"),
        (lambda: VECTORS[1].vary((np.zeros(2), np.ones(2)), np.random.default_rng(1)), "length 5"),
        (lambda: VECTORS[1].vary((np.zeros(5), np.zeros(5)), np.random.default_rng(1)), "different"),
        (lambda: RECORDS[0].vary((("a",), ("z",)), np.random.default_rng(1)), "'z' is not one of"),
        (lambda: RECORDS[0].vary((("a",), ("a",)), np.random.default_rng(1)), "no pair of this domain"),
        (lambda: PROFILES[0].vary((np.zeros((1, 3)), np.zeros((1, 3))), np.random.default_rng(1)), "no pair of"),
    ],
)
def test_arguments_that_make_no_domain(make, words):
    with pytest.raises(dpaudit.ParameterError, match=words):
        make()


@pytest.mark.slow
def test_strategies_that_draw_no_pairs():
    def first(strategy):
        return next(dpaudit.DrawnPairs(strategy=strategy, relation="r", scope="s").patterns())

    with pytest.raises(dpaudit.ParameterError, match="the strategy drew 0; make it draw tuples"):
        first(strategies.integers(0, 3))
    with pytest.raises(dpaudit.ParameterError, match="no pair of two different inputs"):
        first(strategies.just((1, 1)))
    assert first(strategies.lists(strategies.integers(), min_size=2, max_size=2)) != (0, 0)


def test_inputs_that_have_no_key_can_be_varied():
    class User:
        pass

    domain = dpaudit.AnyTwo(values=[User() for _ in range(5)])
    rng = np.random.default_rng(1)
    pair = domain.draw(rng)
    for _ in range(50):
        pair = domain.vary(pair, rng)
        assert _neighbours(domain, pair)
