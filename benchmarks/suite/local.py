"""Local randomizers: RAPPOR and the frequency oracles over ten values."""

import hashlib
import math
from functools import lru_cache
from itertools import combinations

import numpy as np

import dpaudit
from suite import inputs
from suite.case import Audited, Case, Cells
from suite.laws import combination_cells, summed

WANG = "Wang, Blocki, Li, Jha, USENIX Security 2017"


class OneTimeRappor(Audited):
    """A Bloom filter of 20 bits and 4 hashes under the permanent randomized response of RAPPOR."""

    epsilon: float = 8 * math.log(0.525 / 0.475)
    values: int = dpaudit.parameter(10, minimum=2)
    bits: int = dpaudit.parameter(20, minimum=1)
    hashes: int = dpaudit.parameter(4, minimum=1)
    f: float = dpaudit.parameter(0.95, minimum=0, maximum=1)

    def bloom_filter(self, value):
        """Bits that are set for a value; the hash functions are public and fixed."""
        found = np.zeros(self.bits, dtype=bool)
        for i in range(self.hashes):
            digest = hashlib.sha256(f"{i}:{value}".encode()).digest()
            found[int.from_bytes(digest[:8], "big") % self.bits] = True
        return found

    def permanent(self, data, size, rng):
        u = rng.random((size, self.bits))
        # With probability f a bit is replaced by a fair coin.
        return np.where(u < self.f, u < self.f / 2, self.bloom_filter(data))

    def sample(self, data, size, rng):
        return self.permanent(data, size, rng).astype(np.int8)

    def neighbours(self):
        return inputs.any_two(range(self.values))

    def one(self, bit):
        """Probability that a bit of the report is 1."""
        return self.f / 2 + (1 - self.f) * bit


class Rappor(OneTimeRappor):
    """RAPPOR's permanent randomized response, and an instantaneous one on top of it."""

    epsilon: float = 8 * math.log(0.5125 / 0.4875)
    f: float = dpaudit.parameter(0.75, minimum=0, maximum=1)
    p: float = dpaudit.parameter(0.45, minimum=0, maximum=1)
    q: float = dpaudit.parameter(0.55, minimum=0, maximum=1)

    def sample(self, data, size, rng):
        ones = np.where(self.permanent(data, size, rng), self.q, self.p)
        return (rng.random((size, self.bits)) < ones).astype(np.int8)

    def one(self, bit):
        kept = self.f / 2 + (1 - self.f) * bit
        return kept * self.q + (1 - kept) * self.p


class Local(Audited):
    """Common to the frequency oracles."""

    values: int = dpaudit.parameter(10, minimum=2)

    def neighbours(self):
        return inputs.any_two(range(self.values))


class RandomizedResponse(Local):
    """Generalized randomized response: the value, or any of the others."""

    def sample(self, data, size, rng):
        other = rng.integers(0, self.values - 1, size)
        truthful = rng.random(size) < math.exp(self.epsilon) / (math.exp(self.epsilon) + self.values - 1)
        return np.where(truthful, data, other + (other >= data))


class UnaryEncoding(Local):
    """One bit for every value, each flipped on its own."""

    def ones(self):
        """Probability of a 1 for the bit of the value, and for another bit."""
        raise NotImplementedError

    def sample(self, data, size, rng):
        own, other = self.ones()
        probabilities = np.where(np.arange(self.values) == data, own, other)
        return (rng.random((size, self.values)) < probabilities).astype(np.int8)


class SymmetricUnaryEncoding(UnaryEncoding):
    """Symmetric unary encoding, with both bits of a value kept with the same probability."""

    def ones(self):
        kept = 1 / (1 + math.exp(-self.epsilon / 2))
        return kept, 1 - kept


class OptimizedUnaryEncoding(UnaryEncoding):
    """Optimized unary encoding, with a fair coin in place of the value's bit."""

    def ones(self):
        return 0.5, 1 / (1 + math.exp(self.epsilon))


class OptimizedLocalHashing(Local):
    """A public random hash function, as the table of its values, and the value's hash under randomized response."""

    @property
    def hashes(self):
        return round(math.exp(self.epsilon)) + 1

    @property
    def truthful(self):
        return math.exp(self.epsilon) / (math.exp(self.epsilon) + self.hashes - 1)

    def sample(self, data, size, rng):
        output = np.empty((size, self.values + 1), dtype=np.int8)
        output[:, :-1] = rng.integers(0, self.hashes, (size, self.values), dtype=np.int8)
        own = output[:, data]
        other = rng.integers(0, self.hashes - 1, size, dtype=np.int8)
        output[:, -1] = np.where(rng.random(size) < self.truthful, own, other + (other >= own))
        return output


class SubsetSelection(Local):
    """A random subset of the values that holds the value more often than another one does."""

    @property
    def chosen(self):
        return max(1, round(self.values / (math.exp(self.epsilon) + 1)))

    @property
    def inclusion(self):
        weight = self.chosen * math.exp(self.epsilon)
        return weight / (weight + self.values - self.chosen)

    def sample(self, data, size, rng):
        table, holding = subsets_by_member(self.values, self.chosen, data)
        row = np.where(
            rng.random(size) < self.inclusion,
            rng.integers(0, holding, size),
            rng.integers(holding, len(table), size),
        )
        return table[row]


@lru_cache(maxsize=64)
def subsets_by_member(values, chosen, member):
    """Subsets of ``chosen`` values as rows of bits, those that hold ``member`` first, and how many these are."""
    rows = np.array([np.isin(np.arange(values), subset) for subset in combinations(range(values), chosen)], np.int8)
    order = np.argsort(-rows[:, member], kind="stable")
    return rows[order], int(rows[:, member].sum())


def _rappor(mechanism):
    def differing(x, y):
        return mechanism.bloom_filter(x) != mechanism.bloom_filter(y)

    def cells(x, y):
        # Every bit that differs has the same two probabilities, either way; only how many agree with x matters.
        at = differing(x, y)
        of_x = mechanism.bloom_filter(x)[at]
        kept, mistaken = mechanism.one(1), mechanism.one(0)
        p = summed(np.array([1 - kept, kept]), len(of_x))
        q = summed(np.array([1 - mistaken, mistaken]), len(of_x))
        return Cells(p=p, q=q, index=lambda outputs: np.sum(outputs[:, at] == of_x, axis=1))

    pairs = [pair for pair in combinations(range(mechanism.values), 2) if differing(*pair).any()]
    return Case(
        mechanism=mechanism,
        source="Erlingsson, Pihur, Korolova, CCS 2014; parameters of DP-Sniper",
        # A bit is kept or mistaken with probabilities that add up to 1, so that every one contributes the same.
        epsilon=lambda: (
            math.log(mechanism.one(1) / mechanism.one(0)) * max(int(differing(*pair).sum()) for pair in pairs)
        ),
        cells=cells,
        pairs=lambda: pairs,
    )


def _symmetric(mechanism, source, masses, index):
    """Case of a randomizer that treats all values alike, so that every pair is the worst."""

    def cells(x, y):
        p, q = masses()
        return Cells(p=p, q=q, index=lambda outputs: index(outputs, x, y))

    return Case(
        mechanism=mechanism, source=source, epsilon=lambda: mechanism.epsilon, cells=cells, pairs=lambda: [(0, 1)]
    )


def _randomized_response(mechanism):
    def masses():
        law = np.ones(3)
        law[0], law[2] = math.exp(mechanism.epsilon), mechanism.values - 2
        law /= law.sum()
        return law, law[[1, 0, 2]]

    def index(outputs, x, y):
        return np.select([outputs == x, outputs == y], [0, 1], 2)

    return _symmetric(mechanism, "Kairouz, Bonawitz, Ramage, ICML 2016", masses, index)


def _unary(mechanism):
    def masses():
        own, other = ([1 - one, one] for one in mechanism.ones())
        return combination_cells([own, other]), combination_cells([other, own])

    def index(outputs, x, y):
        return 2 * outputs[:, x] + outputs[:, y]

    return _symmetric(mechanism, WANG, masses, index)


def _local_hashing(mechanism):
    def masses():
        g, truthful = mechanism.hashes, mechanism.truthful
        wrong = (1 - truthful) / (g - 1)
        # The report is the hash of: both, x alone, y alone, neither.
        both = truthful / g
        apart = np.array([truthful, wrong]) * (g - 1) / g
        p = np.r_[both, apart, 1 - both - apart.sum()]
        return p, p[[0, 2, 1, 3]]

    def index(outputs, x, y):
        of_x, of_y = (outputs[:, value] == outputs[:, -1] for value in (x, y))
        return np.select([of_x & of_y, of_x, of_y], [0, 1, 2], 3)

    return _symmetric(mechanism, f"{WANG}; g = round(e^epsilon) + 1", masses, index)


def _subset_selection(mechanism):
    def masses():
        k, w, inclusion = mechanism.values, mechanism.chosen, mechanism.inclusion
        both, x_alone = inclusion * (w - 1) / (k - 1), inclusion * (k - w) / (k - 1)
        y_alone = (1 - inclusion) * w / (k - 1)
        p = np.array([1 - both - x_alone - y_alone, y_alone, x_alone, both])
        return p, p[[0, 2, 1, 3]]

    def index(outputs, x, y):
        return 2 * outputs[:, x] + outputs[:, y]

    return _symmetric(mechanism, "Ye and Barg, IEEE Transactions on Information Theory 2018", masses, index)


def cases():
    return [
        _rappor(OneTimeRappor()),
        _rappor(Rappor()),
        _randomized_response(RandomizedResponse()),
        _unary(SymmetricUnaryEncoding()),
        _unary(OptimizedUnaryEncoding()),
        _local_hashing(OptimizedLocalHashing()),
        _subset_selection(SubsetSelection()),
    ]
