"""The second suite: structured, latent, spiked, hashed, wide and correlated outputs. It may be tuned on."""

import math
from functools import cache
from typing import ClassVar

import numpy as np

import dpaudit
from suite import exact, noisy_max, oracle
from suite.exact import LinearGaussian, OnePair, RatioCase
from suite.families import (
    bloom_filters,
    composed,
    finite_case,
    hadamard,
    hashed,
    quantile_case,
    rappor_case,
    subsampled_loss,
    subsampled_masses,
    support_case,
)
from suite.laws import combination_cells, draw, laplace_cdf, laplace_masses, laplace_quadrature, summed

MADE = "made for this suite"
FINE = 400


# Structured outputs


class LabelAndCount(OnePair):
    """A pair of a label by randomized response and a noisy count, or None in its place once in ten times."""

    pair = (("red", 3), ("blue", 4))
    labels: ClassVar = ("red", "blue", "green")

    def sample(self, data, size, rng):
        label, count = data
        answers = exact.respond(self.labels.index(label), 3, self.epsilon / 2, size, rng)
        counts = (count + exact.geometric(math.exp(-self.epsilon / 2), size, rng)).astype(object)
        counts[rng.random(size) < 0.1] = None
        return list(zip(np.array(self.labels)[answers].tolist(), counts.tolist(), strict=True))


def _label_and_count():
    mechanism = LabelAndCount()
    half = mechanism.epsilon / 2

    def log_ratio(outputs):
        labels = exact.column(outputs, 0, object)
        counts = exact.column(outputs, 1)  # None becomes NaN
        return half * ((labels == "red") * 1.0 - (labels == "blue") + (counts <= 3) - (counts >= 4))

    def masses():
        counts = exact.mixed([(0.9, 0.9), (0.1, 0.1)], exact.step_masses(math.exp(-half)), ([1.0], [1.0]))
        return exact.pairs_of(exact.response_masses(half, 3), counts)

    return RatioCase(
        mechanism=mechanism,
        family="structured",
        source=MADE,
        epsilon=lambda: mechanism.epsilon,
        log_ratio=log_ratio,
        masses=masses,
    )


class ProfileDict(OnePair):
    """A dictionary of a region, an income and the number of children, with noise for an income that changes by 1."""

    regions: ClassVar = ("north", "east", "south", "west", "centre")
    profiles: ClassVar = ((0, 2.0, 1), (2, 4.0, 0))

    def sample(self, data, size, rng):
        region, income, children = self.profiles[data]
        part = self.epsilon / 3
        regions = np.array(self.regions)[exact.respond(region, 5, part, size, rng)].tolist()
        incomes = (income + rng.laplace(scale=1 / part, size=size)).tolist()
        numbers = exact.respond(children, 3, part, size, rng).tolist()
        return [
            {"region": r, "income": i, "children": c} if c else {"region": r, "income": i}
            for r, i, c in zip(regions, incomes, numbers, strict=True)
        ]


def _profile_dict():
    mechanism = ProfileDict()
    part = mechanism.epsilon / 3

    def log_ratio(outputs):
        regions = exact.column(outputs, "region", object)
        children = np.array([output.get("children", 0) for output in outputs])
        return (
            part * ((regions == "north") * 1.0 - (regions == "south"))
            + exact.laplace_loss(exact.column(outputs, "income"), 2.0, 4.0, 1 / part)
            + exact.response_loss(children, 1, 0, part)
        )

    return RatioCase(
        mechanism=mechanism,
        family="structured",
        source=f"{MADE}; the income changes by 2",
        epsilon=lambda: 4 * part,
        log_ratio=log_ratio,
        masses=lambda: exact.pairs_of(
            exact.response_masses(part, 5), laplace_masses(2 * part, FINE), exact.response_masses(part, 3)
        ),
    )


class VisitList(OnePair):
    """A list of times of visits, of which only the number depends on the input, with geometric noise."""

    pair = (4, 5)

    def sample(self, data, size, rng):
        numbers = np.maximum(data + exact.geometric(math.exp(-self.epsilon), size, rng), 0)
        times = rng.uniform(8, 18, numbers.sum()).tolist()
        ends = np.cumsum(numbers).tolist()
        return exact.objects([times[end - number : end] for end, number in zip(ends, numbers.tolist(), strict=True)])


def _visit_list():
    mechanism = VisitList()
    return RatioCase(
        mechanism=mechanism,
        family="number of outputs",
        source=MADE,
        epsilon=lambda: mechanism.epsilon,
        log_ratio=lambda outputs: mechanism.epsilon * np.where(np.array([len(row) for row in outputs]) <= 4, 1.0, -1.0),
        masses=lambda: exact.step_masses(math.exp(-mechanism.epsilon)),
    )


# Sparse vector and other latent thresholds


class CountAboveThreshold(OnePair):
    """How many of twenty noisy answers are above one noisy threshold, without a limit to that number."""

    pair = ((1,) * 20, (2,) * 5 + (0,) * 15)
    threshold: float = 1.5
    threshold_scale: float = 2.0
    query_scale: float = 4.0

    def sample(self, data, size, rng):
        threshold = self.threshold + rng.laplace(scale=self.threshold_scale, size=(size, 1))
        return np.sum(
            np.asarray(data) + rng.laplace(scale=self.query_scale, size=(size, len(data))) > threshold, axis=1
        )

    def law_of(self, data):
        kinks = np.unique(data) - self.threshold
        nodes, weights = laplace_quadrature(self.threshold_scale, kinks, self.query_scale)
        law = np.zeros((len(data) + 1, len(nodes)))
        law[0] = 1.0
        for answer in data:
            above = laplace_cdf(answer - self.threshold - nodes, self.query_scale)
            law[1:] = law[1:] * (1 - above) + law[:-1] * above
            law[0] *= 1 - above
        return law @ weights


def _count_above_threshold():
    mechanism = CountAboveThreshold()
    return finite_case(mechanism, "sparse vector", MADE, mechanism.law_of, np.asarray)


class FirstAbove(OnePair):
    """Place of the first of ten answers that is above a noisy threshold, or None: the sparse vector with c = 1."""

    pair = ((0,) * 9 + (1,), (1,) * 9 + (0,))
    threshold: float = 0.5
    threshold_scale: float = 2.0
    query_scale: float = 4.0

    def first(self, data, size, rng):
        threshold = self.threshold + rng.laplace(scale=self.threshold_scale, size=(size, 1))
        above = np.asarray(data) + rng.laplace(scale=self.query_scale, size=(size, len(data))) > threshold
        return np.where(above.any(axis=1), above.argmax(axis=1), len(data))

    def sample(self, data, size, rng):
        names = [*range(len(data)), None]
        return exact.objects([names[place] for place in self.first(data, size, rng).tolist()])

    def law_of(self, data):
        nodes, weights = laplace_quadrature(self.threshold_scale, np.unique(data) - self.threshold, self.query_scale)
        below = np.array([laplace_cdf(self.threshold + nodes - answer, self.query_scale) for answer in data])
        until = np.vstack([np.ones(len(nodes)), np.cumprod(below, axis=0)])
        # The tail of 1 - below keeps its relative precision where it is taken from the other side.
        above = np.array([laplace_cdf(answer - self.threshold - nodes, self.query_scale) for answer in data])
        return np.vstack([until[:-1] * above, until[-1:]]) @ weights


def _first_above():
    mechanism = FirstAbove()
    return finite_case(
        mechanism,
        "sparse vector",
        "Dwork and Roth 2014, Algorithm 1, as in Lyu, Su, Li, VLDB 2017; c = 1",
        mechanism.law_of,
        lambda outputs: np.array([10 if place is None else place for place in outputs]),
    )


class FirstNumberAbove(FirstAbove):
    """Answers None until the first above a noisy threshold, which is given with fresh noise: a list that ends there."""

    threshold_scale: float = 3.0
    query_scale: float = 6.0
    value_scale: float = 3.0

    def sample(self, data, size, rng):
        place = self.first(data, size, rng)
        values = np.r_[np.asarray(data, float), 0.0][place] + rng.laplace(scale=self.value_scale, size=size)
        return exact.objects(
            [
                [None] * at + [value] if at < len(data) else [None] * at
                for at, value in zip(place.tolist(), values.tolist(), strict=True)
            ]
        )


def _first_number_above():
    mechanism = FirstNumberAbove()
    x, y = mechanism.pair

    @cache
    def laws():
        return tuple(mechanism.law_of(data) for data in mechanism.pair)

    def log_ratio(outputs):
        answered = np.array([row[-1] is not None for row in outputs])
        place = np.where(answered, [len(row) - 1 for row in outputs], len(x))
        loss = np.log(laws()[0] / laws()[1])[place]
        values = np.array([row[-1] for row in outputs], float)[answered]
        at = place[answered]
        loss[answered] += exact.laplace_loss(values, np.array(x)[at], np.array(y)[at], mechanism.value_scale)
        return loss

    def masses():
        value = laplace_masses(1 / mechanism.value_scale, 40)
        kinds = [value] * len(x) + [([1.0], [1.0])]
        return exact.mixed(list(zip(*laws(), strict=True)), *kinds)

    return RatioCase(
        mechanism=mechanism,
        family="sparse vector",
        source="Lyu, Su, Li, VLDB 2017, Algorithm 7 with a numeric answer; c = 1",
        epsilon=lambda: exact.largest_loss(masses()),
        log_ratio=log_ratio,
        masses=masses,
    )


# Report noisy max


class WinnerAndGap(OnePair):
    """The largest of four noisy answers and its distance to the second, with noise that suffices for both."""

    pair = ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 1.0, 1.0))
    epsilon: float = 1.0

    @property
    def scale(self):
        return 2 / self.epsilon

    def sample(self, data, size, rng):
        noisy = np.asarray(data) + rng.laplace(scale=self.scale, size=(size, len(data)))
        winner = noisy.argmax(axis=1)
        top = np.sort(noisy, axis=1)
        return list(zip(winner.tolist(), (top[:, -1] - top[:, -2]).tolist(), strict=True))


GAPS = np.r_[np.linspace(0, 8, 161), np.linspace(8.5, 60, 104)]


@cache
def gap_density(data, winner, scale):
    """Density of the gaps GAPS with this winner, by Simpson's rule: the relative error is below 1e-6."""
    step = 0.01
    second = np.arange(-90, 91 + step / 2, step)
    weights = np.full(len(second), 2.0)
    weights[1::2], weights[[0, -1]] = 4.0, 1.0
    others = [answer for i, answer in enumerate(data) if i != winner]
    # Whole answers keep the kinks of the integrand on the nodes: every gap is a multiple of two steps.
    cdfs = np.array([laplace_cdf(second - other, scale) for other in others])
    densities = np.array([np.exp(-np.abs(second - other) / scale) / (2 * scale) for other in others])
    largest = sum(densities[i] * np.prod(np.delete(cdfs, i, axis=0), axis=0) for i in range(len(others)))
    ahead = np.exp(-np.abs(second[:, None] + GAPS - data[winner]) / scale) / (2 * scale)
    return (weights * largest * step / 3) @ ahead


def _winner_and_gap():
    mechanism = WinnerAndGap()
    x, y = mechanism.pair

    def log_ratio(outputs):
        winner, gap = exact.column(outputs, 0, int), exact.column(outputs, 1)
        loss = np.empty(len(winner))
        for i in range(len(x)):
            densities = (np.log(gap_density(data, i, mechanism.scale)) for data in (x, y))
            loss[winner == i] = np.interp(gap[winner == i], GAPS, np.subtract(*densities))
        return loss

    return RatioCase(
        mechanism=mechanism,
        family="noisy max",
        source="Ding, Wang, Zhang, Kifer, VLDB 2019: the gap is free",
        # It is approached where the first answer leads by far.
        epsilon=lambda: mechanism.epsilon,
        log_ratio=log_ratio,
    )


# Order statistics


class SortedNoisyValues(OnePair):
    """Six numbers with Laplace noise, sorted; one of them changes by 1."""

    pair = ((0.0,) * 6, (1.0,) + (0.0,) * 5)
    epsilon: float = 2.0

    def sample(self, data, size, rng):
        return np.sort(np.asarray(data) + rng.laplace(scale=1 / self.epsilon, size=(size, len(data))), axis=1)


def _sorted_noisy_values():
    mechanism = SortedNoisyValues()

    def log_ratio(outputs):
        # Any of the six may be the one that changed.
        return -np.log(
            np.mean(np.exp(-exact.laplace_loss(np.asarray(outputs), 0.0, 1.0, 1 / mechanism.epsilon)), axis=1)
        )

    return RatioCase(
        mechanism=mechanism,
        family="order statistics",
        source=MADE,
        epsilon=lambda: mechanism.epsilon,
        log_ratio=log_ratio,
    )


# Spikes and atoms


class NeedleThousandth(OnePair):
    """A normal number, once in 1,000 or in 10,000 times replaced by one within a millionth of 0.3."""

    epsilon: float = 0.5
    rates: ClassVar = (1e-3, 1e-4)
    width: ClassVar = 1e-6

    def sample(self, data, size, rng):
        values = rng.standard_normal(size)
        return np.where(rng.random(size) < self.rates[data], 0.3 + self.width * rng.random(size), values)

    def law_of(self, data):
        """Mass of the needle, and of all else; the density of the others is level on the needle within 1e-6."""
        others = self.width * math.exp(-(0.3**2) / 2) / math.sqrt(2 * math.pi)
        inside = self.rates[data] + (1 - self.rates[data]) * others
        return np.array([inside, 1 - inside])


def _needle():
    mechanism = NeedleThousandth()
    return finite_case(
        mechanism,
        "spikes",
        MADE,
        mechanism.law_of,
        lambda outputs: np.where((outputs >= 0.3) & (outputs <= 0.3 + mechanism.width), 0, 1),
    )


class ZeroInflated(OnePair):
    """An amount with Laplace noise, or exactly 0 in 2 % or 0.3 % of all cases."""

    pair = (5.0, 6.0)
    epsilon: float = 0.5
    zeros: ClassVar = {5.0: 0.02, 6.0: 0.003}

    def sample(self, data, size, rng):
        noisy = data + rng.laplace(scale=2 / self.epsilon, size=size)
        return np.where(rng.random(size) < self.zeros[data], 0.0, noisy)


def _zero_inflated():
    mechanism = ZeroInflated()
    scale = 2 / mechanism.epsilon
    zeros = tuple(mechanism.zeros.values())
    others = tuple(1 - zero for zero in zeros)

    def log_ratio(outputs):
        noisy = exact.laplace_loss(outputs, 5.0, 6.0, scale) + math.log(others[0] / others[1])
        return np.where(outputs == 0.0, math.log(zeros[0] / zeros[1]), noisy)

    return RatioCase(
        mechanism=mechanism,
        family="spikes",
        source=MADE,
        epsilon=lambda: math.log(zeros[0] / zeros[1]),
        log_ratio=log_ratio,
        masses=lambda: exact.mixed([zeros, others], ([1.0], [1.0]), laplace_masses(1 / scale, FINE)),
    )


class TwoGrids(OnePair):
    """Noise on a grid of quarters, of which three in five are rounded to halves on the second input."""

    epsilon: float = 0.25
    rounded: ClassVar = 0.6
    decay: ClassVar = math.exp(-1 / 40)

    def sample(self, data, size, rng):
        steps = exact.geometric(self.decay, size, rng)
        if data:
            steps = np.where(rng.random(size) < self.rounded, steps & ~1, steps)
        return steps * 0.25


def _two_grids():
    mechanism = TwoGrids()
    h, decay = mechanism.rounded, mechanism.decay

    def law_of(data):
        even_above = 1 / (1 - decay**2)
        # Odd numbers, even ones from 0 on, even ones below 0; an odd one is rounded to the even one below.
        odd = 2 * decay / (1 - decay**2)
        law = np.array([odd, even_above, even_above - 1]) * (1 - decay) / (1 + decay)
        if data:
            law = law * np.array([1 - h, 1 + h * decay, 1 + h / decay])
        return law

    def index(outputs):
        steps = np.rint(np.asarray(outputs) * 4).astype(int)
        return np.select([steps % 2 == 1, steps >= 0], [0, 1], 2)

    return finite_case(mechanism, "spikes", MADE, law_of, index)


# Floating-point artefacts


class LowestMantissaBit(OnePair):
    """A number with much Laplace noise, whose lowest mantissa bit tells the input with probability 0.88."""

    epsilon: float = 1.0
    bit_epsilon: ClassVar = 2.0

    def sample(self, data, size, rng):
        bits = rng.laplace(scale=10.0, size=size).view(np.uint64) & ~np.uint64(1)
        return (bits | exact.respond(data, 2, self.bit_epsilon, size, rng).astype(np.uint64)).view(float)


def _lowest_bit():
    mechanism = LowestMantissaBit()
    return finite_case(
        mechanism,
        "floating point",
        "after Mironov, CCS 2012",
        lambda data: exact.response_masses(mechanism.bit_epsilon, 2)[data][:2],
        lambda outputs: (np.ascontiguousarray(outputs, float).view(np.uint64) & np.uint64(1)).astype(int),
        epsilon=lambda: mechanism.bit_epsilon,
    )


# Hashes in the report


class SeededLocalHashing(OnePair):
    """Optimized local hashing as a library reports it: the seed of the hash function, and the noisy hash."""

    pair = (3, 7)
    epsilon: float = 1.0
    spent: float = dpaudit.parameter(1.0, doc="epsilon of the randomized response")

    @property
    def hashes(self):
        return round(math.exp(self.spent)) + 1

    def report(self, data, size, rng):
        seeds = rng.integers(0, 1 << 32, size)
        own = hashed(seeds, data, self.hashes)
        other = rng.integers(0, self.hashes - 1, size)
        kept = rng.random(size) < exact.truthful(self.spent, self.hashes)
        return seeds, np.where(kept, own, other + (other >= own))

    def sample(self, data, size, rng):
        seeds, values = self.report(data, size, rng)
        return list(zip(seeds.tolist(), values.tolist(), strict=True))


class SeededLocalHashingFeatures(SeededLocalHashing):
    """The same with three times the budget, and features that name the values each report supports."""

    spent: float = dpaudit.parameter(3.0, doc="epsilon of the randomized response")

    def features(self, outputs):
        seeds, values = exact.column(outputs, 0, np.int64), exact.column(outputs, 1, int)
        return np.column_stack([hashed(seeds, value, self.hashes) == values for value in range(10)]).astype(float)


def _local_hashing(mechanism):
    def supports(outputs, value):
        return hashed(exact.column(outputs, 0, np.int64), value, mechanism.hashes) == exact.column(outputs, 1, int)

    return support_case(
        mechanism, "local hashing", "Wang, Blocki, Li, Jha, USENIX Security 2017; seed and hash reported", supports
    )


class RapporCohorts(OnePair):
    """RAPPOR's permanent response: a list of 16 bits, and the cohort that chose the hash functions."""

    pair = ("cat", "dog")
    epsilon: float = 4 * math.log(0.75 / 0.25)
    bits: ClassVar = 16
    cohorts: ClassVar = 8
    hashes: ClassVar = 2
    f: ClassVar = 0.5

    def filters(self, value):
        """Bloom filter of a value in every cohort."""
        return bloom_filters(value, self.cohorts, self.bits, self.hashes)

    def noisy(self, data, size, rng):
        cohort = rng.integers(0, self.cohorts, size)
        u = rng.random((size, self.bits))
        return np.where(u < self.f, u < self.f / 2, self.filters(data)[cohort]).astype(np.int8), cohort

    def sample(self, data, size, rng):
        bits, cohort = self.noisy(data, size, rng)
        return list(zip(bits.tolist(), cohort.tolist(), strict=True))


def _rappor_cohorts():
    return rappor_case(
        RapporCohorts(),
        "RAPPOR with cohorts",
        "Erlingsson, Pihur, Korolova, CCS 2014; 16 bits, 8 cohorts, 2 hash functions, f = 0.5",
        lambda outputs: (np.array([row for row, _ in outputs]), exact.column(outputs, 1, int)),
    )


class HadamardResponse(OnePair):
    """One of 16 numbers, those at which the value's row of a Hadamard matrix is 1 with e^epsilon times the weight."""

    pair = (2, 5)
    epsilon: float = 1.0

    def law_of(self, data):
        weights = np.where(hadamard(16)[data + 1] == 1, math.exp(self.epsilon), 1.0)
        return weights / weights.sum()

    def sample(self, data, size, rng):
        return draw(self.law_of(data), size, rng)


def _hadamard_response():
    mechanism = HadamardResponse()
    return finite_case(
        mechanism,
        "Hadamard response",
        "Acharya, Sun, Zhang, AISTATS 2019; K = 16",
        mechanism.law_of,
        np.asarray,
        epsilon=lambda: mechanism.epsilon,
    )


# Wide rows


class WideDenseShift(LinearGaussian):
    """A thousand columns with standard normal noise, each of which shifts by 0.03."""

    epsilon: float = 2.0
    columns: ClassVar = 1000

    def mean(self, data):
        return np.full(self.columns, 0.03 * data)

    def sample(self, data, size, rng):
        return rng.standard_normal((size, self.columns), dtype=np.float32) + self.mean(data).astype(np.float32)


def _wide_dense_shift():
    return exact.gaussian_case(
        WideDenseShift(), "wide rows", f"{MADE}; the shift has length 0.95", variance=1.0, most=50_000
    )


# Series


class AutoregressiveSeries(LinearGaussian):
    """Fifty steps of autoregressive noise (coefficient 0.8) around a level that shifts by 0.4."""

    epsilon: float = 1.0
    steps: ClassVar = 50
    coefficient: ClassVar = 0.8

    def mean(self, data):
        return np.full(self.steps, 0.4 * data)

    def mixing(self):
        lag = np.subtract.outer(np.arange(self.steps), np.arange(self.steps))
        mixing = np.where(lag >= 0, self.coefficient ** np.abs(lag), 0.0)
        # The first one has the stationary law.
        mixing[:, 0] /= math.sqrt(1 - self.coefficient**2)
        return mixing


class TreeCounter(LinearGaussian):
    """All sixteen prefix sums of a stream from a binary tree of sums with normal noise."""

    epsilon: float = 3.0
    steps: ClassVar = 16

    def mean(self, data):
        stream = np.zeros(self.steps)
        stream[5] = data
        return np.cumsum(stream)

    def mixing(self):
        """Nodes of the tree that make up each prefix; sigma is 1 in every one of the five levels."""
        nodes = [(level, i) for level in range(5) for i in range(self.steps >> level)]
        place = {node: i for i, node in enumerate(nodes)}
        mixing = np.zeros((self.steps, len(nodes)))
        for length in range(1, self.steps + 1):
            start = 0
            for level in reversed(range(5)):
                if length >> level & 1:
                    mixing[length - 1, place[level, start >> level]] = 1.0
                    start += 1 << level
        return mixing


# Thresholded histograms


class ThresholdedHistogram(OnePair):
    """A dictionary of the noisy counts above a threshold that is too low for its delta."""

    delta: float = 1e-3
    threshold: ClassVar = 3.0
    counts: ClassVar = ({"apple": 5, "pear": 3, "fig": 1}, {"apple": 5, "pear": 3})

    def sample(self, data, size, rng):
        counts = self.counts[data]
        noisy = np.array(list(counts.values())) + rng.laplace(scale=1 / self.epsilon, size=(size, len(counts)))
        return [
            {key: value for key, value in zip(counts, row, strict=True) if value > self.threshold}
            for row in noisy.tolist()
        ]


def _thresholded_histogram():
    mechanism = ThresholdedHistogram()
    shown = math.exp(-(mechanism.threshold - 1) * mechanism.epsilon) / 2
    return finite_case(
        mechanism,
        "thresholded histogram",
        "Korolova, Kenthapadi, Mishra, Ntoulas, WWW 2009, with a threshold of 3 where 1 + log(1/(2 delta)) is due",
        lambda data: [0.0, 1.0] if data else [shown, 1 - shown],
        lambda outputs: np.array([0 if "fig" in output else 1 for output in outputs]),
        epsilon=lambda: math.inf,
    )


# Other noise


class Staircase(OnePair):
    """A number with staircase noise."""

    epsilon: float = 1.0

    @property
    def width(self):
        return 1 / (1 + math.exp(self.epsilon / 2))

    def sample(self, data, size, rng):
        steps = rng.geometric(-math.expm1(-self.epsilon), size) - 1
        near = rng.random(size) < self.width / (self.width + (1 - self.width) * math.exp(-self.epsilon))
        u = rng.random(size)
        reach = np.where(near, steps + self.width * u, steps + self.width + (1 - self.width) * u)
        return data + rng.choice([-1.0, 1.0], size) * reach

    def level(self, noise):
        """How many steps down the density is at a noise."""
        whole = np.floor(np.abs(noise))
        return whole + (np.abs(noise) - whole >= self.width)


def _staircase():
    mechanism = Staircase()
    decay = math.exp(-mechanism.epsilon)

    def log_ratio(outputs):
        return mechanism.epsilon * (mechanism.level(outputs - 1) - mechanism.level(outputs * 1.0))

    def masses():
        whole = np.arange(-60, 61.0)
        edges = np.unique(np.concatenate([whole, whole + mechanism.width, whole - mechanism.width]))
        middle, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
        top = (1 - decay) / (2 * (mechanism.width + decay * (1 - mechanism.width)))
        return tuple(top * decay ** mechanism.level(middle - centre) * width for centre in (0, 1))

    return RatioCase(
        mechanism=mechanism,
        family="other noise",
        source="Geng and Viswanath, ISIT 2014",
        epsilon=lambda: mechanism.epsilon,
        log_ratio=log_ratio,
        masses=masses,
    )


class DiscreteLaplaceSmall(OnePair):
    """A count with two-sided geometric noise at a small epsilon."""

    epsilon: float = 0.05

    def sample(self, data, size, rng):
        return data + exact.geometric(math.exp(-self.epsilon), size, rng)


def _discrete_laplace():
    mechanism = DiscreteLaplaceSmall()
    return RatioCase(
        mechanism=mechanism,
        family="other noise",
        source="Ghosh, Roughgarden, Sundararajan, STOC 2009",
        epsilon=lambda: mechanism.epsilon,
        log_ratio=lambda outputs: mechanism.epsilon * np.where(np.asarray(outputs) <= 0, 1.0, -1.0),
        masses=lambda: exact.step_masses(math.exp(-mechanism.epsilon)),
    )


# Selection


class PermuteAndFlip(OnePair):
    """The first of six candidates, in random order, whose coin with a bias by its score comes up."""

    pair = ((3, 2, 1, 1, 0, 0), (2, 3, 2, 2, 1, 1))

    def coins(self, data):
        scores = np.asarray(data, float)
        return np.exp(self.epsilon * (scores - scores.max()) / 2)

    def sample(self, data, size, rng):
        order = rng.random((size, len(data)))
        return np.where(rng.random((size, len(data))) < self.coins(data), order, 2.0).argmin(axis=1)

    def law_of(self, data):
        coins = self.coins(data)
        law = []
        for i, coin in enumerate(coins):
            # Coefficients: for each number of candidates that come before, all of their coins fail.
            failing = np.ones(1)
            for other in np.delete(coins, i):
                failing = np.convolve(failing, [1, 1 - other])
            n = len(coins)
            before = [math.factorial(k) * math.factorial(n - 1 - k) / math.factorial(n) for k in range(n)]
            law.append(coin * (failing @ before))
        return np.array(law)


def _permute_and_flip():
    mechanism = PermuteAndFlip()
    return finite_case(mechanism, "selection", "McKenna and Sheldon, NeurIPS 2020", mechanism.law_of, np.asarray)


class TopThreeGumbel(OnePair):
    """The three best of twelve candidates by score and Gumbel noise, best first, with the noise for one of them."""

    pair = ((1,) * 3 + (0,) * 9, (0,) * 3 + (1,) * 9)

    def sample(self, data, size, rng):
        noisy = np.asarray(data) + rng.gumbel(scale=2 / self.epsilon, size=(size, len(data)))
        return [tuple(row) for row in np.argsort(-noisy, axis=1)[:, :3].tolist()]

    def law_of(self, data):
        weights = np.exp(self.epsilon * np.asarray(data) / 2)
        i, j, k = np.ogrid[:12, :12, :12]
        total = weights.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            law = weights[i] / total * weights[j] / (total - weights[i])
            law = law * weights[k] / (total - weights[i] - weights[j])
        return np.where((i != j) & (j != k) & (i != k), law, 0.0).ravel()


def _top_three_gumbel():
    mechanism = TopThreeGumbel()
    return finite_case(
        mechanism,
        "selection",
        "Durfee and Rogers, NeurIPS 2019; three are given at the price of one",
        mechanism.law_of,
        lambda outputs: np.array(outputs) @ np.array([144, 12, 1]),
        epsilon=lambda: exact.largest_loss([side[side > 0] for side in map(mechanism.law_of, mechanism.pair)]),
    )


class MedianExponential(OnePair):
    """A median of nine numbers in [0, 1] by the exponential mechanism."""

    epsilon: float = 1.0
    numbers: ClassVar = (
        (0.05, 0.1, 0.15, 0.2, 0.3, 0.6, 0.7, 0.8, 0.9),
        (0.1, 0.15, 0.2, 0.3, 0.6, 0.7, 0.8, 0.9, 0.95),
    )

    def intervals(self, data):
        """Edges of the intervals, and the density on each."""
        edges = np.r_[0.0, self.numbers[data], 1.0]
        weights = np.exp(-self.epsilon / 2 * np.abs(np.arange(len(edges) - 1) - len(self.numbers[data]) / 2))
        return edges, weights / (weights @ np.diff(edges))

    def sample(self, data, size, rng):
        edges, density = self.intervals(data)
        which = draw(density * np.diff(edges), size, rng)
        return edges[which] + np.diff(edges)[which] * rng.random(size)


def _median():
    return quantile_case(MedianExponential(), "quantile", "Smith, STOC 2011", np.asarray)


# Shuffling, sampling, mixtures


class ShuffledBits(OnePair):
    """The bits of twenty users under randomized response, in random order; one user's bit changes."""

    epsilon: float = 1.0
    users: ClassVar = 20
    local: ClassVar = 2.0

    def sample(self, data, size, rng):
        bits = np.zeros((size, self.users), dtype=np.int8)
        bits[:, 0] = data
        flipped = rng.random(bits.shape) >= exact.truthful(self.local, 2)
        return rng.permuted(bits ^ flipped, axis=1)

    def law_of(self, data):
        kept = exact.truthful(self.local, 2)
        own = [1 - kept, kept] if data else [kept, 1 - kept]
        return np.convolve(summed(np.array([kept, 1 - kept]), self.users - 1), own)


def _shuffled_bits():
    mechanism = ShuffledBits()
    return finite_case(
        mechanism,
        "shuffled",
        "Cheu, Smith, Ullman, Zeber, Zhilyaev, Eurocrypt 2019",
        mechanism.law_of,
        lambda outputs: np.asarray(outputs).sum(axis=1),
    )


class SubsampledGaussian(OnePair):
    """A normal number whose centre shifts by 1 only where a user is in the sample, with probability 0.2."""

    delta: float = 1e-4
    sigma: ClassVar = 0.6
    rate: ClassVar = 0.2

    def sample(self, data, size, rng):
        return data * (rng.random(size) < self.rate) + rng.normal(scale=self.sigma, size=size)


def _subsampled_gaussian():
    mechanism = SubsampledGaussian()

    @cache
    def masses():
        return subsampled_masses(mechanism.sigma, mechanism.rate, np.linspace(-8, 8, 20_000))

    return RatioCase(
        mechanism=mechanism,
        family="subsampled",
        source="Abadi et al., CCS 2016",
        # The profile of 20,000 cells is below the true one by less than 1e-6.
        epsilon=lambda: oracle.true_epsilon(*masses(), mechanism.delta),
        log_ratio=lambda outputs: subsampled_loss(outputs, mechanism.sigma, mechanism.rate),
        masses=masses,
    )


class SometimesSmallNoise(OnePair):
    """A number with Laplace noise, whose scale is a twentieth of what is due in 3 % of all cases."""

    epsilon: float = 1.0
    scales: ClassVar = (1.0, 0.05)
    weights: ClassVar = (0.97, 0.03)

    def sample(self, data, size, rng):
        return data + rng.laplace(size=size) * np.where(rng.random(size) < self.weights[1], *self.scales[::-1])

    def density(self, noise):
        return sum(
            weight * np.exp(-np.abs(noise) / scale) / (2 * scale)
            for weight, scale in zip(self.weights, self.scales, strict=True)
        )


def _sometimes_small_noise():
    mechanism = SometimesSmallNoise()

    def log_ratio(outputs):
        return np.log(mechanism.density(outputs)) - np.log(mechanism.density(outputs - 1.0))

    def masses():
        edges = np.unique(np.r_[np.linspace(-0.5, 1.5, 4001), np.linspace(-20, 21, 2000)])

        def cdf(values):
            parts = zip(mechanism.weights, mechanism.scales, strict=True)
            return sum(weight * laplace_cdf(values, scale) for weight, scale in parts)

        return tuple(np.diff(np.r_[0.0, cdf(edges - centre), 1.0]) for centre in (0, 1))

    return RatioCase(
        mechanism=mechanism,
        family="mixture",
        source=MADE,
        # The largest log-ratio is at the centre, where both parts have their peak.
        epsilon=lambda: float(log_ratio(np.zeros(1))[0]),
        log_ratio=log_ratio,
        masses=masses,
    )


# Machine learning


class TeacherVotes(OnePair):
    """Three labels, each the one of ten with the most votes of the teachers after Laplace noise."""

    epsilon: float = 1.0
    pair = (
        ((9, 8) + (0,) * 8, (7, 7, 4) + (0,) * 7, (2,) * 9 + (0,)),
        ((8, 9) + (0,) * 8, (6, 8, 4) + (0,) * 7, (2,) * 8 + (1, 1)),
    )
    scale: ClassVar = 3.0

    def sample(self, data, size, rng):
        labels = [np.argmax(np.array(votes) + rng.laplace(scale=self.scale, size=(size, 10)), axis=1) for votes in data]
        return np.column_stack(labels).tolist()

    def law_of(self, data):
        return combination_cells([noisy_max.laplace_argmax_law(votes, self.scale) for votes in data])


def _teacher_votes():
    mechanism = TeacherVotes()
    return finite_case(
        mechanism,
        "PATE",
        "Papernot et al., ICLR 2017: the scale 3 suffices for 2 (Laplace on two counts, three labels)",
        mechanism.law_of,
        lambda outputs: np.array(outputs) @ np.array([100, 10, 1]),
    )


class NoisyGradients(OnePair):
    """Ten steps of a gradient, clipped to 1, with noise and a sampling rate of 0.2: all of them as a list."""

    epsilon: float = 2.0
    delta: float = 1e-4
    steps: ClassVar = 10
    sigma: ClassVar = 0.8
    rate: ClassVar = 0.2

    def sample(self, data, size, rng):
        taken = rng.random((size, self.steps)) < self.rate
        return data * taken + rng.normal(scale=self.sigma, size=(size, self.steps))


def _noisy_gradients():
    mechanism = NoisyGradients()

    @cache
    def masses():
        edges = np.linspace(-7 * mechanism.sigma, 1 + 7 * mechanism.sigma, 40_000)
        p, q = subsampled_masses(mechanism.sigma, mechanism.rate, edges)
        middle = np.r_[edges[0], (edges[1:] + edges[:-1]) / 2, edges[-1]]
        return composed(p, q, subsampled_loss(middle, mechanism.sigma, mechanism.rate), mechanism.steps)

    return RatioCase(
        mechanism=mechanism,
        family="DP-SGD",
        source="Abadi et al., CCS 2016; one clipped gradient against none",
        # Rounding the log-ratios moves it by less than 1e-4.
        epsilon=lambda: oracle.true_epsilon(*masses(), mechanism.delta),
        log_ratio=lambda outputs: subsampled_loss(outputs, mechanism.sigma, mechanism.rate).sum(axis=1),
        masses=masses,
    )


# Bounded outputs, and budgets


class TruncatedLaplace(OnePair):
    """A number with Laplace noise, drawn again until it lies in [0, 2], with the scale for noise without bounds."""

    epsilon: float = 1.0

    def sample(self, data, size, rng):
        low, high = laplace_cdf(np.array([0.0, 2.0]) - data, 1 / self.epsilon)
        u = low + (high - low) * rng.random(size) - 0.5
        return np.clip(data - np.sign(u) * np.log1p(-2 * np.abs(u)) / self.epsilon, 0.0, 2.0)


def _truncated_laplace():
    mechanism = TruncatedLaplace()
    scale = 1 / mechanism.epsilon

    def mass(data):
        return float(np.diff(laplace_cdf(np.array([0.0, 2.0]) - data, scale))[0])

    def masses():
        edges = np.r_[np.linspace(0, 1, FINE), 2.0]
        return tuple(np.diff(laplace_cdf(edges - data, scale)) / mass(data) for data in mechanism.pair)

    correction = math.log(mass(1) / mass(0))
    return RatioCase(
        mechanism=mechanism,
        family="bounded noise",
        source="Holohan, Antonatos, Braghin, Mac Aonghusa 2018: the scale must be larger",
        epsilon=lambda: mechanism.epsilon + correction,
        log_ratio=lambda outputs: exact.laplace_loss(outputs, 0.0, 1.0, scale) + correction,
        masses=masses,
    )


class SpentTwice(OnePair):
    """The same number twice, each time with Laplace noise for the whole budget."""

    epsilon: float = 1.0

    def sample(self, data, size, rng):
        noisy = data + rng.laplace(scale=1 / self.epsilon, size=(size, 2))
        return [tuple(row) for row in noisy.tolist()]


def _spent_twice():
    mechanism = SpentTwice()
    return RatioCase(
        mechanism=mechanism,
        family="budget spent twice",
        source=MADE,
        epsilon=lambda: 2 * mechanism.epsilon,
        log_ratio=lambda outputs: exact.laplace_loss(np.array(outputs), 0.0, 1.0, 1 / mechanism.epsilon).sum(axis=1),
        masses=lambda: tuple(summed(side, 2) for side in laplace_masses(mechanism.epsilon, FINE)),
    )


class SumOfThree(OnePair):
    """A sum to which one user adds up to 3, with geometric noise for 1."""

    pair = (10, 13)
    epsilon: float = 0.5

    def sample(self, data, size, rng):
        return data + exact.geometric(math.exp(-self.epsilon), size, rng)


def _sum_of_three():
    mechanism = SumOfThree()

    def law_of(data):
        decay = math.exp(-mechanism.epsilon)
        inner = (1 - decay) / (1 + decay) * decay ** np.abs(np.arange(11, 13) - data)
        return np.r_[decay ** (data - 10), inner * (1 + decay), decay ** (13 - data)] / (1 + decay)

    return finite_case(
        mechanism,
        "wrong sensitivity",
        MADE,
        law_of,
        lambda outputs: np.clip(np.asarray(outputs) - 10, 0, 3),
        epsilon=lambda: 3 * mechanism.epsilon,
    )


class NoiseMissing(OnePair):
    """A number with Laplace noise, without any once in 1,000 times, where delta is a hundredth of that."""

    pair = (1.0, 2.0)
    epsilon: float = 1.0
    delta: float = 1e-5
    missing: ClassVar = 1e-3

    def sample(self, data, size, rng):
        return data + np.where(rng.random(size) < self.missing, 0.0, rng.laplace(scale=1 / self.epsilon, size=size))


def _noise_missing():
    mechanism = NoiseMissing()

    def log_ratio(outputs):
        bare = exact.laplace_loss(outputs, 1.0, 2.0, 1 / mechanism.epsilon)
        return np.select([outputs == 1.0, outputs == 2.0], [np.inf, -np.inf], bare)

    missing = mechanism.missing
    return RatioCase(
        mechanism=mechanism,
        family="noise missing",
        source=MADE,
        epsilon=lambda: math.inf,
        log_ratio=log_ratio,
        masses=lambda: exact.mixed(
            [(missing, 0.0), (0.0, missing), (1 - missing, 1 - missing)],
            ([1.0], [1.0]),
            ([1.0], [1.0]),
            laplace_masses(mechanism.epsilon, FINE),
        ),
    )


class OneCharacter(OnePair):
    """Twelve random hexadecimal digits, the seventh of which is the input under randomized response."""

    pair = (4, 11)
    epsilon: float = 1.0
    spent: ClassVar = 2.0

    def sample(self, data, size, rng):
        digits = rng.integers(0, 16, (size, 12))
        digits[:, 6] = exact.respond(data, 16, self.spent, size, rng)
        text = np.frombuffer(b"0123456789abcdef", np.uint8)[digits].tobytes().decode()
        return [text[12 * i : 12 * i + 12] for i in range(size)]


def _one_character():
    mechanism = OneCharacter()
    return finite_case(
        mechanism,
        "strings",
        MADE,
        lambda data: exact.response_masses(mechanism.spent, 16)[int(data == 11)],
        lambda outputs: np.array([{"4": 0, "b": 1}.get(text[6], 2) for text in outputs]),
        epsilon=lambda: mechanism.spent,
    )


def cases():
    return [
        _label_and_count(),
        _profile_dict(),
        _visit_list(),
        _count_above_threshold(),
        _first_above(),
        _first_number_above(),
        _winner_and_gap(),
        _sorted_noisy_values(),
        _needle(),
        _zero_inflated(),
        _two_grids(),
        _lowest_bit(),
        _local_hashing(SeededLocalHashing()),
        _local_hashing(SeededLocalHashingFeatures()),
        _rappor_cohorts(),
        _hadamard_response(),
        _wide_dense_shift(),
        exact.gaussian_case(AutoregressiveSeries(), "correlated noise", f"{MADE}; 50 steps"),
        exact.gaussian_case(TreeCounter(), "walks and counters", "Chan, Shi, Song, TISSEC 2011, with normal noise"),
        _thresholded_histogram(),
        _staircase(),
        _discrete_laplace(),
        _permute_and_flip(),
        _top_three_gumbel(),
        _median(),
        _shuffled_bits(),
        _subsampled_gaussian(),
        _sometimes_small_noise(),
        _teacher_votes(),
        _noisy_gradients(),
        _truncated_laplace(),
        _spent_twice(),
        _sum_of_three(),
        _noise_missing(),
        _one_character(),
    ]
