"""Riffle independence: chains and marginals against all rankings, information and splits against loops."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import chisquare

import dpaudit
from dpaudit.catalog.yang2018.marginals import (
    second_order_marginals,
    second_order_of_indices,
    second_order_of_law,
)
from dpaudit.catalog.yang2018.riffle import Chain, interleavings, random_chain, relative_positions, thin_leaf_sizes
from dpaudit.catalog.yang2018.rule_one import triplet_distributions, triplets
from dpaudit.catalog.yang2018.structure import (
    best_split,
    information_cube,
    learn_chain,
    split_cost,
    triplet_information,
)
from dpaudit.rankings import Mallows, all_rankings, alternative_pairs, positions, ranking_index

FALSE_ALARM = 1e-6
SEED = 20261128
CHAINS = [
    Chain(((2,), (0,), (3,), (1,))),
    Chain(((1, 3), (0, 2))),
    Chain(((0, 2, 3), (1,))),
    Chain(((3,), (0, 1, 2))),
    Chain(((0, 1, 2, 3),)),
]


def random_laws(chain, rng):
    sizes = chain.sizes()
    laws = np.zeros((len(sizes), sizes.max()))
    for row, size in enumerate(sizes):
        laws[row, :size] = rng.dirichlet(np.ones(size))
    return laws


def brute_values(chain, order):
    """Attribute values by listing: the leaf's order, and the pattern of leaf and rest, among all in order."""
    found = [
        list(itertools.permutations(leaf)).index(tuple(x for x in order if x in leaf))
        for leaf in chain.leaves
        if len(leaf) > 1
    ]
    for number, leaf in enumerate(chain.leaves[:-1]):
        inside = [x for x in order if x in leaf or x in chain.behind(number)]
        places = tuple(i for i, x in enumerate(inside) if x in leaf)
        found.append(list(itertools.combinations(range(len(inside)), len(leaf))).index(places))
    return found


@pytest.mark.parametrize("chain", CHAINS, ids=str)
def test_attributes_are_leaf_orders_and_interleavings(chain):
    orders = all_rankings(4)
    places = positions(orders)
    attributes = range(len(chain.sizes()))
    found = np.stack([chain.values(places, np.full(24, asked)) for asked in attributes], axis=1)
    assert found.tolist() == [brute_values(chain, order) for order in orders.tolist()]
    # Together they name the ranking, and every combination of values occurs.
    assert len({tuple(row) for row in found.tolist()}) == 24 == chain.sizes().prod()


@pytest.mark.parametrize("chain", CHAINS, ids=str)
def test_rankings_drawn_from_a_chain_have_independent_parts(chain):
    rng = np.random.default_rng(SEED)
    laws = random_laws(chain, rng)
    exact = [math.prod(laws[row, v] for row, v in enumerate(brute_values(chain, o))) for o in all_rankings(4).tolist()]
    drawn = np.bincount(ranking_index(chain.sample(laws, 40_000, rng)), minlength=24)
    assert sum(exact) == pytest.approx(1)
    assert chisquare(drawn, 40_000 * np.array(exact)).pvalue > FALSE_ALARM


def test_one_attribute_for_each_user():
    chain, rng = CHAINS[1], np.random.default_rng(SEED)
    orders = rng.permuted(np.tile(np.arange(4), (50, 1)), axis=1)
    asked = rng.integers(0, 3, 50)
    assert chain.values(positions(orders), asked).tolist() == [
        brute_values(chain, order)[j] for order, j in zip(orders.tolist(), asked.tolist(), strict=True)
    ]


@pytest.mark.parametrize(("a", "b"), [(0, 3), (1, 1), (2, 3), (4, 0)])
def test_interleavings_are_all_patterns(a, b):
    table = interleavings(a, b)
    assert {tuple(row) for row in table.tolist()} == {
        row for row in itertools.product((False, True), repeat=a + b) if sum(row) == a
    }
    assert len(table) == math.comb(a + b, a)


@pytest.mark.parametrize("leaves", [((0, 1), (1, 2)), ((0,), ()), ((1,), (2,)), ()])
def test_leaves_must_split_the_alternatives(leaves):
    if leaves == ():
        assert Chain(leaves).alternatives == 0
        return
    with pytest.raises(dpaudit.ParameterError, match="split the alternatives"):
        Chain(leaves)


@pytest.mark.parametrize(("m", "k", "sizes"), [(5, 1, [1] * 5), (5, 2, [2, 2, 1]), (6, 3, [3, 3]), (3, 5, [3])])
def test_leaves_of_a_thin_chain(m, k, sizes):
    assert thin_leaf_sizes(m, k) == sizes
    assert [len(leaf) for leaf in random_chain(m, k, np.random.default_rng(0)).leaves] == sizes


def test_relative_positions_are_ranks_within_the_subset():
    places = positions(all_rankings(4))
    found = relative_positions(places, (1, 3, 0))
    expected = [[sum(row[y] < row[x] for y in (1, 3, 0)) for x in (1, 3, 0)] for row in places.tolist()]
    assert found.tolist() == expected


def test_triplet_distributions_and_information_are_the_definition():
    rng = np.random.default_rng(SEED)
    places = positions(Mallows(np.array([2, 0, 3, 1]), 0.6).sample(300, rng)).tolist()
    joint = triplet_distributions(np.array(places))
    information = triplet_information(joint)
    rows = triplets(4).tolist()
    assert len(rows) == 4 * math.comb(3, 2)
    for (x, y, z), table, value in zip(rows, joint, information, strict=True):
        p = {(r, b): sum(q[x] == r and (q[y] > q[z]) == b for q in places) / 300 for r in range(4) for b in (0, 1)}
        assert {key: table[key] for key in p} == pytest.approx(p, abs=1e-12)
        rank = {r: p[r, 0] + p[r, 1] for r in range(4)}
        side = {b: sum(p[r, b] for r in range(4)) for b in (0, 1)}
        brute = sum(v * math.log(v / (rank[r] * side[b])) for (r, b), v in p.items() if v > 0)
        assert value == pytest.approx(brute, abs=1e-12)


def test_triplets_across_riffle_independent_sets_are_independent():
    """Exact, over the law of all rankings: no information across the sets, some inside."""
    chain = Chain(((0, 2, 4), (1, 3, 5)))
    laws = random_laws(chain, np.random.default_rng(SEED))
    orders = all_rankings(6)
    places = positions(orders)
    weights = np.ones(len(orders))
    for attribute in range(len(laws)):
        weights *= laws[attribute, chain.values(places, np.full(len(orders), attribute))]
    sets = [set(leaf) for leaf in chain.leaves]
    for x, y, z in triplets(6).tolist():
        table = np.zeros((6, 2))
        np.add.at(table, (places[:, x], (places[:, y] > places[:, z]).astype(int)), weights)
        value = triplet_information(table)
        across = any(x in s and y not in s and z not in s for s in sets)
        assert value < 1e-12 if across else value > 1e-6


def brute_cost(cube, a, b):
    one = sum(cube[x, y, z] for x in a for y, z in itertools.combinations(b, 2))
    return one + sum(cube[x, y, z] for x in b for y, z in itertools.combinations(a, 2))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_splits(size):
    rng = np.random.default_rng(SEED + size)
    cube = information_cube(6, rng.random(len(triplets(6))))
    assert (cube == cube.transpose(0, 2, 1)).all()
    items = (0, 1, 3, 4, 5)
    subsets = list(itertools.combinations(items, size))
    costs = [brute_cost(cube, a, [x for x in items if x not in a]) for a in subsets]
    assert [split_cost(cube, a, [x for x in items if x not in a]) for a in subsets] == pytest.approx(costs)
    best, rest = best_split(cube, items, size, exhaustive=True)
    assert best == subsets[int(np.argmin(costs))]
    assert sorted(best + rest) == list(items)
    # Anchors, by loops.
    tried = {
        tuple(sorted(sorted((x for x in items if x not in (a, b)), key=lambda x: cube[x, a, b])[:size]))
        for a, b in itertools.combinations(items, 2)
    }
    found, _ = best_split(cube, items, size)
    assert brute_cost(cube, found, [x for x in items if x not in found]) == pytest.approx(
        min(brute_cost(cube, a, [x for x in items if x not in a]) for a in tried)
    )


@pytest.mark.parametrize("exhaustive", [False, True])
def test_the_structure_is_found_again(exhaustive):
    """Two groups of three, riffled at random, each strongly ordered within."""
    rng = np.random.default_rng(SEED)
    chain = Chain(((0, 2, 4), (1, 3, 5)))
    sizes = chain.sizes()
    laws = np.zeros((3, sizes.max()))
    laws[0, [0, 5]] = laws[1, [1, 4]] = 0.5  # an order or its opposite
    laws[2, : sizes[2]] = 1 / sizes[2]
    places = positions(chain.sample(laws, 20_000, rng))
    cube = information_cube(6, triplet_information(triplet_distributions(places)))
    assert set(learn_chain(cube, 3, exhaustive=exhaustive).leaves) == set(chain.leaves)


@pytest.mark.slow
@pytest.mark.parametrize("m", [2, 3, 5, 6, 7])
def test_second_order_marginals(m):
    rng = np.random.default_rng(SEED)
    orders = all_rankings(m)
    weights = rng.normal(size=len(orders))
    expected = np.zeros((math.comb(m, 2), m, m))
    places = positions(orders)
    for number, (i, j) in enumerate(alternative_pairs(m).tolist()):
        np.add.at(expected[number], (places[:, i], places[:, j]), weights)
    assert second_order_of_law(weights, m) == pytest.approx(expected, abs=1e-9)
    drawn = orders[rng.integers(0, len(orders), 200)]
    shares = np.bincount(ranking_index(drawn), minlength=len(orders)) / 200
    assert second_order_marginals(drawn) == pytest.approx(second_order_of_law(shares, m), abs=1e-12)
    assert np.array_equal(second_order_of_indices(ranking_index(drawn), m), second_order_marginals(drawn))


@pytest.mark.parametrize(("length", "m"), [(5, 3), (1, 1), (24, 11)])
def test_weights_must_fit_the_rankings(length, m):
    with pytest.raises(dpaudit.ParameterError, match="give m! of them"):
        second_order_of_law(np.zeros(length), m)
