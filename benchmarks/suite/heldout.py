"""The held-out suite: the same classes as the second suite by other mechanisms. It has no part in any tuning."""

import math
from functools import cache
from itertools import combinations
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import ndtr
from scipy.stats import skellam

import dpaudit
from suite import exact
from suite.exact import LinearGaussian, OnePair, RatioCase
from suite.families import (
    bloom_filters,
    finite_case,
    hadamard,
    hashed,
    quantile_case,
    rappor_case,
    support_case,
)
from suite.laws import draw, laplace_cdf, laplace_masses, laplace_quadrature, log_laplace_cdf, summed
from suite.second import SeededLocalHashing

MADE = "made for this suite"
FINE = 400


# Structured outputs


class Winner(NamedTuple):
    """The largest noisy answer."""

    name: str
    value: float


class NamedWinner(OnePair):
    """A named tuple of the largest of five noisy answers and its value, with noise for the name alone."""

    pair = ((0.0,) * 5, (1.0,) * 5)
    names: ClassVar = ("ada", "bob", "cyd", "dan", "eve")

    @property
    def scale(self):
        return 2 / self.epsilon

    def sample(self, data, size, rng):
        noisy = np.asarray(data) + rng.laplace(scale=self.scale, size=(size, len(data)))
        names = np.array(self.names)[noisy.argmax(axis=1)].tolist()
        return [Winner(*row) for row in zip(names, noisy.max(axis=1).tolist(), strict=True)]


def _named_winner():
    mechanism = NamedWinner()
    scale = mechanism.scale

    def log_ratio(outputs):
        values = exact.column(outputs, 1)
        others = 4 * (log_laplace_cdf(values, scale) - log_laplace_cdf(values - 1, scale))
        return exact.laplace_loss(values, 0.0, 1.0, scale) + others

    def masses():
        edges = np.unique(np.r_[np.linspace(0, 1, FINE), np.geomspace(1, 60, FINE)])
        return tuple(np.diff(np.r_[0.0, laplace_cdf(edges - centre, scale) ** 5, 1.0]) for centre in (0, 1))

    return RatioCase(
        mechanism=mechanism,
        family="noisy max",
        source="Ding, Wang, Wang, Zhang, Kifer (StatDP), CCS 2018, with the name beside the value",
        # Below all answers each of the five contributes a factor of e^(1 / scale).
        epsilon=lambda: 5 / scale,
        log_ratio=log_ratio,
        masses=masses,
    )


class SensorReport(OnePair):
    """A list of two sensors' records, a remark or None, and a nested list of settings; both sensors change by 1."""

    epsilon: float = 1.0

    def sample(self, data, size, rng):
        noisy = (data + rng.laplace(scale=1 / self.epsilon, size=(size, 2))).tolist()
        remarks = np.array([None, "ok", "late"], object)[rng.integers(0, 3, size)].tolist()
        settings = rng.integers(0, 5, (size, 2)).tolist()
        return [
            [{"id": "s1", "value": first}, {"id": "s2", "value": second}, remark, [setting, ["unit", 1]]]
            for (first, second), remark, setting in zip(noisy, remarks, settings, strict=True)
        ]


def _sensor_report():
    mechanism = SensorReport()

    def log_ratio(outputs):
        values = np.array([(row[0]["value"], row[1]["value"]) for row in outputs])
        return exact.laplace_loss(values, 0.0, 1.0, 1 / mechanism.epsilon).sum(axis=1)

    return RatioCase(
        mechanism=mechanism,
        family="structured",
        source=MADE,
        epsilon=lambda: 2 * mechanism.epsilon,
        log_ratio=log_ratio,
        masses=lambda: tuple(summed(side, 2) for side in laplace_masses(mechanism.epsilon, FINE)),
    )


class LogLines(OnePair):
    """A text of random words, of whose number of lines half the noise is missing."""

    pair = (6, 7)
    epsilon: float = 0.5
    spent: ClassVar = 1.0

    def sample(self, data, size, rng):
        numbers = np.maximum(data + exact.geometric(math.exp(-self.spent), size, rng), 0)
        words = np.array(["get /", "put /a", "get /b", "del /c"])[rng.integers(0, 4, numbers.sum())].tolist()
        ends = np.cumsum(numbers).tolist()
        return ["\n".join(words[end - number : end]) for end, number in zip(ends, numbers.tolist(), strict=True)]


def _log_lines():
    mechanism = LogLines()

    def log_ratio(outputs):
        lines = np.array([text.count("\n") + bool(text) for text in outputs])
        return mechanism.spent * np.where(lines <= 6, 1.0, -1.0)

    return RatioCase(
        mechanism=mechanism,
        family="number of outputs",
        source=MADE,
        epsilon=lambda: mechanism.spent,
        log_ratio=log_ratio,
        masses=lambda: exact.step_masses(math.exp(-mechanism.spent)),
    )


# Sparse vector and other latent thresholds


class ThreeAbove(OnePair):
    """Whether each of twelve answers is above a noisy threshold, up to the third; the noise is that for one."""

    pair = ((0, 1) * 6, (1, 0) * 6)
    threshold: ClassVar = 1.0
    threshold_scale: ClassVar = 2.0
    query_scale: ClassVar = 4.0
    limit: ClassVar = 3

    def sample(self, data, size, rng):
        threshold = self.threshold + rng.laplace(scale=self.threshold_scale, size=(size, 1))
        above = np.asarray(data) + rng.laplace(scale=self.query_scale, size=(size, len(data))) > threshold
        last = np.cumsum(above, axis=1) >= self.limit
        ends = np.where(last.any(axis=1), last.argmax(axis=1) + 1, len(data)).tolist()
        return exact.objects([row[:end] for row, end in zip(above.tolist(), ends, strict=True)])

    def patterns(self):
        """All outputs: where the answers above are."""
        length = len(self.pair[0])
        for number in range(self.limit + 1):
            for places in combinations(range(length), number):
                end = places[-1] + 1 if number == self.limit else length
                yield tuple(place in places for place in range(end))

    def law_of(self, data):
        nodes, weights = laplace_quadrature(self.threshold_scale, np.unique(data) - self.threshold, self.query_scale)
        above = np.array([laplace_cdf(answer - self.threshold - nodes, self.query_scale) for answer in data])
        below = np.array([laplace_cdf(self.threshold + nodes - answer, self.query_scale) for answer in data])
        return np.array(
            [
                np.prod([above[i] if answer else below[i] for i, answer in enumerate(pattern)], axis=0) @ weights
                for pattern in self.patterns()
            ]
        )


def _three_above():
    mechanism = ThreeAbove()
    place = {pattern: i for i, pattern in enumerate(mechanism.patterns())}
    return finite_case(
        mechanism,
        "sparse vector",
        "Lyu, Su, Li, VLDB 2017, Algorithm 1 with c = 3 and the noise of c = 1",
        mechanism.law_of,
        lambda outputs: np.array([place[tuple(row)] for row in outputs]),
    )


class NumbersAbove(ThreeAbove):
    """The same with the noisy answers themselves in place of "above", and None for the others; eight answers."""

    pair = ((0.0,) * 8, (1.0,) * 8)

    def sample(self, data, size, rng):
        threshold = self.threshold + rng.laplace(scale=self.threshold_scale, size=(size, 1))
        noisy = np.asarray(data) + rng.laplace(scale=self.query_scale, size=(size, len(data)))
        above = noisy > threshold
        last = np.cumsum(above, axis=1) >= self.limit
        ends = np.where(last.any(axis=1), last.argmax(axis=1) + 1, len(data)).tolist()
        answers = np.where(above, noisy.astype(object), None).tolist()
        return exact.objects([row[:end] for row, end in zip(answers, ends, strict=True)])


@cache
def below_until(mechanism, answer, number):
    """Noise of the threshold, and the log of the mass of all below it with ``number`` answers below the threshold.

    By the trapezoidal rule with steps of 1/500, which all kinks are multiples of: the relative error is below 1e-5.
    """
    noise = np.arange(-40_000, 40_001) / 500
    below = log_laplace_cdf(noise + mechanism.threshold - answer, mechanism.query_scale)
    density = np.exp(number * below - np.abs(noise) / mechanism.threshold_scale) / (2 * mechanism.threshold_scale)
    steps = (density[1:] + density[:-1]) / 1000
    # Below the first node the integrand is exponential.
    first = density[0] / (number / mechanism.query_scale + 1 / mechanism.threshold_scale)
    return noise, np.log(first + np.r_[0.0, np.cumsum(steps)])


def _numbers_above():
    mechanism = NumbersAbove()
    length = len(mechanism.pair[0])

    def log_ratio(outputs):
        rows = np.full((len(outputs), length), np.nan)
        ends = np.array([len(row) for row in outputs])
        rows[np.arange(length) < ends[:, None]] = np.array([answer for row in outputs for answer in row], float)
        positive = ~np.isnan(rows)
        loss = np.where(positive, exact.laplace_loss(rows, 0.0, 1.0, mechanism.query_scale), 0.0).sum(axis=1)
        least = np.where(positive, rows, 80.0 + mechanism.threshold).min(axis=1) - mechanism.threshold
        negatives = ends - positive.sum(axis=1)
        for number in np.unique(negatives):
            at = negatives == number
            x, y = (np.interp(least[at], *below_until(mechanism, answer, int(number))) for answer in (0.0, 1.0))
            loss[at] += x - y
        return loss

    return RatioCase(
        mechanism=mechanism,
        family="sparse vector",
        source="Lyu, Su, Li, VLDB 2017, Algorithm 3 (Roth's lecture notes), c = 3",
        # A small number given out forces the threshold down, where each answer contributes a factor of e^(1 / scale).
        epsilon=lambda: length / mechanism.query_scale,
        log_ratio=log_ratio,
    )


class CommonAlarm(OnePair):
    """A string of twelve alarms, 1 where an answer is above one noisy threshold for all."""

    pair = ((0,) * 6 + (1,) * 6, (1,) * 6 + (0,) * 6)
    threshold: ClassVar = 0.5
    threshold_scale: ClassVar = 1.0
    query_scale: ClassVar = 12.0

    def sample(self, data, size, rng):
        threshold = self.threshold + rng.laplace(scale=self.threshold_scale, size=(size, 1))
        above = np.asarray(data) + rng.laplace(scale=self.query_scale, size=(size, len(data))) > threshold
        text = (above + ord("0")).astype(np.uint8).tobytes().decode()
        return [text[12 * i : 12 * i + 12] for i in range(size)]

    def law_of(self, data):
        """Masses of how many alarms there are in either half."""
        nodes, weights = laplace_quadrature(self.threshold_scale, np.array([-0.5, 0.5]), self.query_scale)
        choose = np.array([math.comb(6, k) for k in range(7)])
        counts = np.arange(7)[:, None]
        halves = []
        for answer in (data[0], data[-1]):
            above = laplace_cdf(answer - self.threshold - nodes, self.query_scale)
            halves.append(choose[:, None] * above**counts * (1 - above) ** (6 - counts))
        return ((halves[0] * weights) @ halves[1].T).ravel()


def _common_alarm():
    mechanism = CommonAlarm()
    return finite_case(
        mechanism,
        "sparse vector",
        "Lyu, Su, Li, VLDB 2017, Algorithm 6 (Chen et al.), on twelve answers",
        mechanism.law_of,
        lambda outputs: np.array([7 * text[:6].count("1") + text[6:].count("1") for text in outputs]),
    )


# Order statistics


class RangeOfNoisyValues(OnePair):
    """The smallest and the largest of ten numbers with Laplace noise, one of which changes by 1."""

    pair = ((0.0,) * 10, (1.0,) + (0.0,) * 9)
    epsilon: float = 2.0

    def sample(self, data, size, rng):
        noisy = np.asarray(data) + rng.laplace(scale=1 / self.epsilon, size=(size, len(data)))
        return list(zip(noisy.min(axis=1).tolist(), noisy.max(axis=1).tolist(), strict=True))


def _range():
    mechanism = RangeOfNoisyValues()
    scale = 1 / mechanism.epsilon

    def between(low, high, centre):
        """Mass between two numbers, exact in both tails."""
        low, high = low - centre, high - centre
        upper = laplace_cdf(-low, scale) - laplace_cdf(-high, scale)
        return np.where(low > 0, upper, laplace_cdf(high, scale) - laplace_cdf(low, scale))

    def log_ratio(outputs):
        low, high = exact.column(outputs, 0), exact.column(outputs, 1)
        at_low, at_high = (np.exp(-exact.laplace_loss(ends, 0.0, 1.0, scale)) for ends in (low, high))
        inside = between(low, high, 1.0) / between(low, high, 0.0)
        # Of the ten, the one that changed is the smallest, the largest, or one of the eight others.
        return -np.log((at_low + at_high + 8 * inside) / 10)

    return RatioCase(
        mechanism=mechanism,
        family="order statistics",
        source=MADE,
        # Both numbers below 0, or above 1.
        epsilon=lambda: mechanism.epsilon,
        log_ratio=log_ratio,
    )


class FourthGap(OnePair):
    """Eight numbers in random order; in sorted order, their fourth gap is exponential with a rate by the input."""

    rates: ClassVar = (1.0, 3.0)

    def sample(self, data, size, rng):
        gaps = rng.exponential(size=(size, 8))
        gaps[:, 3] /= self.rates[data]
        return rng.permuted(np.cumsum(gaps, axis=1), axis=1)


def _fourth_gap():
    mechanism = FourthGap()

    def log_ratio(outputs):
        ordered = np.sort(outputs, axis=1)
        return 2 * (ordered[:, 3] - ordered[:, 2]) - math.log(3)

    def masses():
        edges = np.r_[np.linspace(0, 25, 5001), np.inf]
        return tuple(-np.diff(np.exp(-rate * edges)) for rate in mechanism.rates)

    return RatioCase(
        mechanism=mechanism,
        family="order statistics",
        source=MADE,
        epsilon=lambda: math.inf,
        log_ratio=log_ratio,
        masses=masses,
    )


# Spikes and atoms


class RepeatedValues(OnePair):
    """Eight normal numbers, two of which are equal in 1 % or in 0.1 % of all cases."""

    epsilon: float = 1.0
    rates: ClassVar = (1e-2, 1e-3)

    def sample(self, data, size, rng):
        values = rng.standard_normal((size, 8))
        at = np.flatnonzero(rng.random(size) < self.rates[data])
        places = rng.permuted(np.tile(np.arange(8), (len(at), 1)), axis=1)
        values[at, places[:, 0]] = values[at, places[:, 1]]
        return values


def _repeated_values():
    mechanism = RepeatedValues()
    return finite_case(
        mechanism,
        "spikes",
        MADE,
        lambda data: [mechanism.rates[data], 1 - mechanism.rates[data]],
        lambda outputs: np.where((np.diff(np.sort(outputs, axis=1), axis=1) == 0).any(axis=1), 0, 1),
    )


class NeedleTenThousandth(OnePair):
    """Two numbers, the second with Laplace noise, or within 1e-8 of -1.7 once in 10,000 or in 100,000 times."""

    epsilon: float = 0.5
    rates: ClassVar = (1e-4, 1e-5)
    width: ClassVar = 1e-8
    scale: ClassVar = 5.0

    def sample(self, data, size, rng):
        values = data + rng.laplace(scale=self.scale, size=size)
        needle = -1.7 + self.width * rng.random(size)
        return np.column_stack(
            [rng.standard_normal(size), np.where(rng.random(size) < self.rates[data], needle, values)]
        )


def _needle():
    mechanism = NeedleTenThousandth()
    others = [
        mechanism.width * math.exp(-abs(-1.7 - data) / mechanism.scale) / (2 * mechanism.scale)
        for data in mechanism.pair
    ]
    inside = [rate + (1 - rate) * other for rate, other in zip(mechanism.rates, others, strict=True)]
    outside = math.log((1 - mechanism.rates[0]) / (1 - mechanism.rates[1]))

    def log_ratio(outputs):
        values = outputs[:, 1]
        laplace = exact.laplace_loss(values, 0.0, 1.0, mechanism.scale) + outside
        return np.where(
            np.abs(values + 1.7 - mechanism.width / 2) <= mechanism.width, math.log(inside[0] / inside[1]), laplace
        )

    return RatioCase(
        mechanism=mechanism,
        family="spikes",
        source=MADE,
        epsilon=lambda: math.log(inside[0] / inside[1]),
        log_ratio=log_ratio,
        # That the needle's place is not taken out of the noise moves masses by 1e-9.
        masses=lambda: exact.mixed(
            [inside, [1 - mass for mass in inside]], ([1.0], [1.0]), laplace_masses(1 / mechanism.scale, FINE)
        ),
    )


class CensoredReading(OnePair):
    """A number with Laplace noise, "low" where it is below 0, "high" above 3, and None in 5 % of all cases."""

    pair = (1.0, 2.0)

    def sample(self, data, size, rng):
        noisy = data + rng.laplace(scale=1 / self.epsilon, size=size)
        shown = noisy.astype(object)
        shown[noisy < 0], shown[noisy > 3] = "low", "high"
        shown[rng.random(size) < 0.05] = None
        return shown


def _censored_reading():
    mechanism = CensoredReading()

    def log_ratio(outputs):
        codes = {"low": -1.0, "high": 4.0, None: 1.5}
        values = np.array(
            [codes.get(output, output) if not isinstance(output, float) else output for output in outputs]
        )
        return exact.laplace_loss(values, 1.0, 2.0, 1 / mechanism.epsilon)

    return RatioCase(
        mechanism=mechanism,
        family="bounded noise",
        source=MADE,
        epsilon=lambda: mechanism.epsilon,
        log_ratio=log_ratio,
        masses=lambda: exact.mixed(
            [(0.95, 0.95), (0.05, 0.05)], laplace_masses(mechanism.epsilon, FINE), ([1.0], [1.0])
        ),
    )


# Floating-point artefacts


class SnappedNoise(OnePair):
    """A number plus noise on a grid of 1/1024; the sum itself is not snapped."""

    epsilon: float = 1.0
    centres: ClassVar = (0.0, 0.1)

    def sample(self, data, size, rng):
        return self.centres[data] + exact.geometric(math.exp(-self.epsilon / 100), size, rng) / 1024


def _snapped_noise():
    mechanism = SnappedNoise()
    return finite_case(
        mechanism,
        "floating point",
        "Mironov, CCS 2012: the noise is snapped in place of the sum",
        lambda data: [1.0 - data, float(data)],
        lambda outputs: np.where(np.asarray(outputs) * 1024 == np.rint(np.asarray(outputs) * 1024), 0, 1),
        epsilon=lambda: math.inf,
    )


# Hashes in the report


class SeededBinaryHashing(SeededLocalHashing):
    """Binary local hashing as a dictionary of seed and bit, with three times the budget."""

    pair = (1, 8)
    spent: float = dpaudit.parameter(3.0, doc="epsilon of the randomized response")

    @property
    def hashes(self):
        return 2

    def sample(self, data, size, rng):
        seeds, bits = self.report(data, size, rng)
        return [{"seed": seed, "bit": bit} for seed, bit in zip(seeds.tolist(), bits.tolist(), strict=True)]


class SeededBinaryHashingFeatures(SeededBinaryHashing):
    """The same with the budget that it claims, and features that name the values each report supports."""

    spent: float = dpaudit.parameter(1.0, doc="epsilon of the randomized response")

    def features(self, outputs):
        seeds, bits = exact.column(outputs, "seed", np.int64), exact.column(outputs, "bit", int)
        return np.column_stack([hashed(seeds, value, 2) == bits for value in range(10)]).astype(float)


def _binary_hashing(mechanism):
    def supports(outputs, value):
        return hashed(exact.column(outputs, "seed", np.int64), value, 2) == exact.column(outputs, "bit", int)

    return support_case(mechanism, "local hashing", "Bassily and Smith, STOC 2015; seed and bit reported", supports)


class WideRappor(OnePair):
    """RAPPOR's permanent response as a library returns it: an array of 128 bits and one of 64 cohorts."""

    pair = ("yes", "no")
    epsilon: float = 2 * math.log(0.75 / 0.25)
    bits: ClassVar = 128
    cohorts: ClassVar = 64
    hashes: ClassVar = 2
    f: ClassVar = 0.5

    def filters(self, value):
        return bloom_filters(value, self.cohorts, self.bits, self.hashes)

    def sample(self, data, size, rng):
        cohort = rng.integers(0, self.cohorts, size)
        u = rng.random((size, self.bits), dtype=np.float32)
        bits = np.where(u < self.f, u < self.f / 2, self.filters(data)[cohort]).astype(np.int8)
        return list(zip(bits, cohort.tolist(), strict=True))


def _wide_rappor():
    return rappor_case(
        WideRappor(),
        "RAPPOR with cohorts",
        "Erlingsson, Pihur, Korolova, CCS 2014; 128 bits, 64 cohorts, 2 hash functions, f = 0.5, half of it claimed",
        lambda outputs: (np.array([row for row, _ in outputs]), exact.column(outputs, 1, int)),
    )


class HadamardOneBit(OnePair):
    """A random column of a Hadamard matrix of size 256, and the value's entry there under randomized response."""

    pair = (17, 201)
    epsilon: float = 1.0

    def sample(self, data, size, rng):
        columns = rng.integers(0, 256, size)
        kept = rng.random(size) < exact.truthful(self.epsilon, 2)
        entries = np.where(kept, 1, -1) * hadamard(256)[data][columns]
        return list(zip(columns.tolist(), entries.tolist(), strict=True))


def _hadamard_one_bit():
    mechanism = HadamardOneBit()
    kept = exact.truthful(mechanism.epsilon, 2)

    def log_ratio(outputs):
        columns, entries = exact.column(outputs, 0, int), exact.column(outputs, 1, int)
        of_x, of_y = (hadamard(256)[data][columns] == entries for data in mechanism.pair)
        return mechanism.epsilon * (of_x * 1.0 - of_y)

    return RatioCase(
        mechanism=mechanism,
        family="Hadamard response",
        source="Bassily, Nissim, Stemmer, Thakurta, NeurIPS 2017",
        epsilon=lambda: mechanism.epsilon,
        log_ratio=log_ratio,
        # The two rows agree in half of the columns.
        masses=lambda: (np.array([0.5, kept / 2, (1 - kept) / 2]), np.array([0.5, (1 - kept) / 2, kept / 2])),
    )


# Wide rows


class WideFewShifted(LinearGaussian):
    """A thousand columns with standard normal noise, five of which shift by 0.5."""

    epsilon: float = 2.0
    columns: ClassVar = 1000
    shifted: ClassVar = (41, 260, 555, 731, 902)

    def mean(self, data):
        mean = np.zeros(self.columns)
        mean[list(self.shifted)] = 0.5 * data
        return mean

    def sample(self, data, size, rng):
        return rng.standard_normal((size, self.columns), dtype=np.float32) + self.mean(data).astype(np.float32)


# Series


class DriftingSeries(OnePair):
    """Fifty steps of autoregressive noise with Laplace innovations, around a level that shifts at the 25th."""

    epsilon: float = 0.25
    steps: ClassVar = 50
    coefficient: ClassVar = 0.9
    scale: ClassVar = 4.0

    def sample(self, data, size, rng):
        series = rng.laplace(scale=self.scale, size=(size, self.steps))
        for step in range(1, self.steps):
            series[:, step] += self.coefficient * series[:, step - 1]
        series[:, 25:] += data
        return series


def _drifting_series():
    mechanism = DriftingSeries()
    level = np.r_[np.zeros(25), np.ones(25)]
    shift = level - mechanism.coefficient * np.r_[0.0, level[:-1]]

    def log_ratio(outputs):
        before = np.column_stack([np.zeros(len(outputs)), outputs[:, :-1]])
        return exact.laplace_loss(outputs - mechanism.coefficient * before, 0.0, shift, mechanism.scale).sum(axis=1)

    return RatioCase(
        mechanism=mechanism,
        family="correlated noise",
        source=f"{MADE}; the noise is that for the level alone",
        epsilon=lambda: shift.sum() / mechanism.scale,
        log_ratio=log_ratio,
    )


class SharedNoise(LinearGaussian):
    """Twenty columns with much noise in common and little of their own; half of them shift by 0.3."""

    epsilon: float = 1.0

    def mean(self, data):
        return np.r_[np.full(10, 0.3 * data), np.zeros(10)]

    def mixing(self):
        return np.column_stack([np.eye(20), np.full(20, 5.0)])


class BiasedWalk(OnePair):
    """A walk of 64 steps that drifts upwards in its first half, or in its second one."""

    epsilon: float = 3.0
    up: ClassVar = 0.55

    def sample(self, data, size, rng):
        up = np.full(64, 0.5)
        up[32 * data : 32 * data + 32] = self.up
        return np.cumsum(np.where(rng.random((size, 64)) < up, 1, -1), axis=1)

    def law_of(self, data):
        """Masses of how many steps go up in either half."""
        drift, fair = (summed(np.array([1 - up, up]), 32) for up in (self.up, 0.5))
        return np.outer(*((fair, drift) if data else (drift, fair))).ravel()


def _biased_walk():
    mechanism = BiasedWalk()
    return finite_case(
        mechanism,
        "walks and counters",
        MADE,
        mechanism.law_of,
        lambda outputs: 33 * ((outputs[:, 31] + 32) // 2) + (outputs[:, 63] - outputs[:, 31] + 32) // 2,
    )


# Thresholded histograms


class StableHistogram(OnePair):
    """A dictionary of the noisy counts above 6, with geometric noise; one count of 3 becomes 2."""

    delta: float = 1e-4
    counts: ClassVar = ({"red": 9, "green": 8, "blue": 3}, {"red": 9, "green": 8, "blue": 2})

    def sample(self, data, size, rng):
        counts = self.counts[data]
        noise = exact.geometric(math.exp(-self.epsilon), (size, 3), rng)
        noisy = (np.array(list(counts.values())) + noise).tolist()
        return [{key: count for key, count in zip(counts, row, strict=True) if count > 6} for row in noisy]


def _stable_histogram():
    mechanism = StableHistogram()

    def law_of(data):
        decay = math.exp(-mechanism.epsilon)
        shown = decay ** (7 - (3, 2)[data]) / (1 + decay)
        return np.array([shown, 1 - shown])

    return finite_case(
        mechanism,
        "thresholded histogram",
        "Bun, Nissim, Stemmer, ITCS 2016",
        law_of,
        lambda outputs: np.array([0 if "blue" in output else 1 for output in outputs]),
    )


# Other noise


class SkellamNoise(OnePair):
    """A count with the difference of two Poisson numbers of mean 3 as its noise."""

    epsilon: float = 1.0
    delta: float = 1e-4
    rate: ClassVar = 3.0

    def sample(self, data, size, rng):
        return data + rng.poisson(self.rate, size) - rng.poisson(self.rate, size)


def _skellam_noise():
    mechanism = SkellamNoise()
    counts = np.arange(-30, 32)
    return finite_case(
        mechanism,
        "other noise",
        "Agarwal, Kairouz, Liu, NeurIPS 2021",
        lambda data: skellam.pmf(counts - data, mechanism.rate, mechanism.rate),
        lambda outputs: np.asarray(outputs) + 30,
    )


class DiscreteGaussianTriple(OnePair):
    """Three counts with discrete Gaussian noise, all of which change."""

    epsilon: float = 1.0
    delta: float = 1e-4
    sigma: ClassVar = 3.0
    counts: ClassVar = np.arange(-60, 62)

    def law_of(self, data):
        law = np.exp(-((self.counts - data) ** 2) / (2 * self.sigma**2))
        return law / law.sum()

    def sample(self, data, size, rng):
        return self.counts[draw(self.law_of(data), 3 * size, rng)].reshape(size, 3)


def _discrete_gaussian_triple():
    mechanism = DiscreteGaussianTriple()
    # The log-ratio depends on the sum of the counts alone.
    return finite_case(
        mechanism,
        "other noise",
        "Canonne, Kamath, Steinke, NeurIPS 2020; the noise is that for one of the counts at a delta of 0.01",
        lambda data: summed(mechanism.law_of(data), 3),
        lambda outputs: outputs.sum(axis=1) + 180,
    )


# Selection


class BestSubset(OnePair):
    """Three of eight names by the exponential mechanism on their total score, which changes by 3 and not by 1."""

    pair = ((1, 1, 1, 0, 0, 0, 0, 0), (0, 0, 0, 1, 1, 1, 1, 1))
    subsets: ClassVar = list(combinations(["ann", "ben", "cat", "deb", "eli", "fay", "gil", "hal"], 3))

    def law_of(self, data):
        scores = np.array([sum(subset) for subset in combinations(data, 3)])
        weights = np.exp(self.epsilon * scores / 2)
        return weights / weights.sum()

    def sample(self, data, size, rng):
        return [self.subsets[i] for i in draw(self.law_of(data), size, rng).tolist()]


def _best_subset():
    mechanism = BestSubset()
    place = {subset: i for i, subset in enumerate(mechanism.subsets)}
    return finite_case(
        mechanism,
        "selection",
        "McSherry and Talwar, FOCS 2007, with the sensitivity of one score",
        mechanism.law_of,
        lambda outputs: np.array([place[tuple(subset)] for subset in outputs]),
    )


class GumbelWinnerValue(OnePair):
    """The best of five by score and Gumbel noise, and its noisy score with it."""

    pair = ((0.0,) * 5, (1.0,) * 5)

    @property
    def scale(self):
        return 2 / self.epsilon

    def sample(self, data, size, rng):
        noisy = np.asarray(data) + rng.gumbel(scale=self.scale, size=(size, len(data)))
        return list(zip(noisy.argmax(axis=1).tolist(), noisy.max(axis=1).tolist(), strict=True))


def _gumbel_winner():
    mechanism = GumbelWinnerValue()
    scale = mechanism.scale

    def standard(values, centre):
        # The largest of five is a Gumbel number too, and says nothing of which it is.
        return (values - centre) / scale - math.log(5)

    def log_ratio(outputs):
        x, y = (standard(exact.column(outputs, 1), centre) for centre in (0.0, 1.0))
        return (y - x) + np.exp(-y) - np.exp(-x)

    def masses():
        edges = np.linspace(-6, 60, 12_000)
        return tuple(np.diff(np.r_[0.0, np.exp(-np.exp(-standard(edges, centre))), 1.0]) for centre in (0, 1))

    return RatioCase(
        mechanism=mechanism,
        family="selection",
        source="Durfee and Rogers, NeurIPS 2019, with the value of the winner",
        # The left tail of Gumbel noise is doubly exponential.
        epsilon=lambda: math.inf,
        log_ratio=log_ratio,
        masses=masses,
    )


class LowerQuartile(OnePair):
    """A lower quartile of eight numbers by the exponential mechanism, without the 2 in its exponent."""

    epsilon: float = 0.5
    numbers: ClassVar = ((0.1, 0.2, 0.3, 0.4, 0.55, 0.6, 0.7, 0.95), (0.02, 0.1, 0.2, 0.3, 0.4, 0.55, 0.6, 0.7))

    def intervals(self, data):
        edges = np.r_[0.0, self.numbers[data], 1.0]
        weights = np.exp(-self.epsilon * 2 * np.abs(np.arange(len(edges) - 1) - 2))
        return edges, weights / (weights @ np.diff(edges))

    def sample(self, data, size, rng):
        edges, density = self.intervals(data)
        which = draw(density * np.diff(edges), size, rng)
        values = edges[which] + np.diff(edges)[which] * rng.random(size)
        return [("q1", value) for value in values.tolist()]


# Shuffling, sampling, mixtures


class ShuffledLetters(OnePair):
    """A string of eight users' letters under randomized response over three, in random order."""

    epsilon: float = 1.0
    users: ClassVar = 8
    local: ClassVar = 1.5

    def sample(self, data, size, rng):
        letters = np.column_stack(
            [
                exact.respond(data, 3, self.local, size, rng),
                *(exact.respond(2, 3, self.local, size, rng) for _ in range(self.users - 1)),
            ]
        )
        text = (rng.permuted(letters, axis=1) + ord("a")).astype(np.uint8).tobytes().decode()
        return [text[8 * i : 8 * i + 8] for i in range(size)]

    def law_of(self, data):
        """Masses of how many letters are a, and how many b."""
        law = np.zeros((self.users + 1, self.users + 1))
        law[0, 0] = 1.0
        kept, other = exact.truthful(self.local, 3), (1 - exact.truthful(self.local, 3)) / 2
        for letter in (data, *[2] * (self.users - 1)):
            a, b, c = (kept if letter == i else other for i in range(3))
            new = c * law
            new[1:] += a * law[:-1]
            new[:, 1:] += b * law[:, :-1]
            law = new
        return law.ravel()


def _shuffled_letters():
    mechanism = ShuffledLetters()
    return finite_case(
        mechanism,
        "shuffled",
        "Balle, Bell, Gascon, Nissim, Crypto 2019",
        mechanism.law_of,
        lambda outputs: np.array([9 * text.count("a") + text.count("b") for text in outputs]),
        epsilon=lambda: exact.largest_loss([side[side > 0] for side in map(mechanism.law_of, mechanism.pair)]),
    )


class SubsampledLaplaceRows(OnePair):
    """Five columns with Laplace noise, that shift by 1 only where a user is in the sample."""

    epsilon: float = 0.5
    rate: ClassVar = 0.1
    scale: ClassVar = 1.5

    def sample(self, data, size, rng):
        shift = data * (rng.random((size, 1)) < self.rate)
        return shift + rng.laplace(scale=self.scale, size=(size, 5))


def _subsampled_laplace():
    mechanism = SubsampledLaplaceRows()
    rate = mechanism.rate

    def log_ratio(outputs):
        moved = -exact.laplace_loss(outputs, 0.0, 1.0, mechanism.scale).sum(axis=1)
        return -np.logaddexp(math.log1p(-rate), math.log(rate) + moved)

    def masses():
        p, moved = (summed(side, 5) for side in laplace_masses(1 / mechanism.scale, 100))
        return p, (1 - rate) * p + rate * moved

    return RatioCase(
        mechanism=mechanism,
        family="subsampled",
        source="Balle, Barthe, Gaboardi, NeurIPS 2018",
        epsilon=lambda: math.log1p(rate * math.expm1(5 / mechanism.scale)),
        log_ratio=log_ratio,
        masses=masses,
    )


class RandomScale(OnePair):
    """Ten columns with Laplace noise of one scale, which is 1 or 6 with even chances."""

    epsilon: float = 2.0
    scales: ClassVar = (1.0, 6.0)

    def sample(self, data, size, rng):
        scale = np.where(rng.random((size, 1)) < 0.5, *self.scales)
        return data + scale * rng.laplace(size=(size, 10))


def _random_scale():
    mechanism = RandomScale()

    def log_ratio(outputs):
        logs = []
        for centre in (0.0, 1.0):
            far = np.abs(outputs - centre).sum(axis=1)
            logs.append(np.logaddexp(*(-far / scale - 10 * math.log(scale) for scale in mechanism.scales)))
        return np.subtract(*logs)

    return RatioCase(
        mechanism=mechanism,
        family="mixture",
        source=MADE,
        # Outputs far from both inputs tell less, for the scale is large there: the largest ratio is at an input.
        epsilon=lambda: float(log_ratio(np.zeros((1, 10)))[0]),
        log_ratio=log_ratio,
    )


# Machine learning


class ConfidentVotes(OnePair):
    """The label of ten with the most votes and normal noise, or None where the noisy largest count is below 9."""

    pair = ((10, 4) + (0,) * 8, (9, 5) + (0,) * 8)
    epsilon: float = 1.0
    delta: float = 1e-5
    threshold: ClassVar = 9.0
    check: ClassVar = 1.5
    sigma: ClassVar = 2.5

    def sample(self, data, size, rng):
        votes = np.array(data)
        sure = votes.max() + rng.normal(scale=self.check, size=size) >= self.threshold
        labels = np.argmax(votes + rng.normal(scale=self.sigma, size=(size, 10)), axis=1)
        return np.where(sure, labels.astype(object), None)

    def law_of(self, data):
        votes = np.array(data)
        sure = ndtr((votes.max() - self.threshold) / self.check)
        nodes = np.linspace(-25, 40, 20_001)
        step = nodes[1] - nodes[0]
        density = np.exp(-(((nodes - votes[:, None]) / self.sigma) ** 2) / 2) / (self.sigma * math.sqrt(2 * math.pi))
        below = ndtr((nodes - votes[:, None]) / self.sigma)
        labels = [np.sum(density[i] * np.prod(np.delete(below, i, axis=0), axis=0)) * step for i in range(10)]
        return np.r_[sure * np.array(labels), 1 - sure]


def _confident_votes():
    mechanism = ConfidentVotes()
    return finite_case(
        mechanism,
        "PATE",
        "Papernot et al., ICLR 2018",
        mechanism.law_of,
        lambda outputs: np.array([10 if label is None else label for label in outputs]),
    )


class MomentumSteps(LinearGaussian):
    """Parameters after each of twelve noisy gradient steps with momentum, with the noise that suffices for one step."""

    epsilon: float = 1.0
    steps: ClassVar = 12

    def filter(self):
        """What each step's gradient adds to the parameters after every step."""
        lag = np.subtract.outer(np.arange(self.steps), np.arange(self.steps))
        velocity = np.where(lag >= 0, 0.9 ** np.abs(lag), 0.0)
        return np.cumsum(velocity, axis=0)

    def mean(self, data):
        return data * self.filter().sum(axis=1)

    def mixing(self):
        return 5.0 * self.filter()


# Budgets, and missing noise


class CountTwice(OnePair):
    """A count as a number with Laplace noise and as a text with geometric noise, each for the whole budget."""

    pair = (20, 21)

    def sample(self, data, size, rng):
        noisy = (data + rng.laplace(scale=1 / self.epsilon, size=size)).tolist()
        counts = (data + exact.geometric(math.exp(-self.epsilon), size, rng)).tolist()
        return [{"estimate": number, "text": f"about {count}"} for number, count in zip(noisy, counts, strict=True)]


def _count_twice():
    mechanism = CountTwice()

    def log_ratio(outputs):
        counts = np.array([int(output["text"].split()[1]) for output in outputs])
        numbers = exact.laplace_loss(exact.column(outputs, "estimate"), 20.0, 21.0, 1 / mechanism.epsilon)
        return numbers + mechanism.epsilon * np.where(counts <= 20, 1.0, -1.0)

    return RatioCase(
        mechanism=mechanism,
        family="budget spent twice",
        source=MADE,
        epsilon=lambda: 2 * mechanism.epsilon,
        log_ratio=log_ratio,
        masses=lambda: exact.pairs_of(
            laplace_masses(mechanism.epsilon, FINE), exact.step_masses(math.exp(-mechanism.epsilon))
        ),
    )


class MeanOfUnknownSize(OnePair):
    """The mean of ten numbers or nine, with Laplace noise of one over their number."""

    centres: ClassVar = (0.5, 0.45)
    sizes: ClassVar = (10, 9)

    def sample(self, data, size, rng):
        return self.centres[data] + rng.laplace(scale=1 / (self.epsilon * self.sizes[data]), size=size)


def _mean_of_unknown_size():
    mechanism = MeanOfUnknownSize()
    scales = [1 / (mechanism.epsilon * number) for number in mechanism.sizes]

    def log_ratio(outputs):
        x, y = (np.abs(outputs - c) / scale for c, scale in zip(mechanism.centres, scales, strict=True))
        return (y - x) + math.log(scales[1] / scales[0])

    def masses():
        # One half is reflected: a mass near 1 is known to 1e-16 only, and the tail is what counts.
        edges = np.linspace(-3, 4, 14_001)
        parts = []
        for centre, scale in zip(mechanism.centres, scales, strict=True):
            below, above = laplace_cdf(edges - centre, scale), laplace_cdf(centre - edges, scale)
            inner = np.where(edges[:-1] > centre, -np.diff(above), np.diff(below))
            parts.append(np.r_[below[0], inner, above[-1]])
        return tuple(parts)

    return RatioCase(
        mechanism=mechanism,
        family="wrong sensitivity",
        source=MADE,
        epsilon=lambda: math.inf,
        log_ratio=log_ratio,
        masses=masses,
    )


class ColumnWithoutNoise(OnePair):
    """Four numbers with Laplace noise, one of which has none in 0.05 % of all cases."""

    pair = (2.0, 3.0)
    delta: float = 1e-5
    missing: ClassVar = 5e-4

    def sample(self, data, size, rng):
        noise = rng.laplace(scale=4 / self.epsilon, size=(size, 4))
        at = np.flatnonzero(rng.random(size) < self.missing)
        noise[at, rng.integers(0, 4, len(at))] = 0.0
        return data + noise


def _column_without_noise():
    mechanism = ColumnWithoutNoise()
    missing = mechanism.missing
    scale = 4 / mechanism.epsilon

    def log_ratio(outputs):
        noisy = exact.laplace_loss(outputs, 2.0, 3.0, scale).sum(axis=1)
        return np.select([(outputs == 2.0).any(axis=1), (outputs == 3.0).any(axis=1)], [np.inf, -np.inf], noisy)

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
            tuple(summed(side, 4) for side in laplace_masses(1 / scale, FINE)),
        ),
    )


class SumOfTwoCharacters(OnePair):
    """Ten random letters of four; the third and the eighth add up to the input under randomized response."""

    pair = (0, 2)
    spent: ClassVar = 2.0

    def sample(self, data, size, rng):
        letters = rng.integers(0, 4, (size, 10))
        letters[:, 7] = (exact.respond(data, 4, self.spent, size, rng) - letters[:, 2]) % 4
        text = np.frombuffer(b"ACGT", np.uint8)[letters].tobytes().decode()
        return [text[10 * i : 10 * i + 10] for i in range(size)]


def _sum_of_two_characters():
    mechanism = SumOfTwoCharacters()
    return finite_case(
        mechanism,
        "strings",
        MADE,
        lambda data: exact.response_masses(mechanism.spent, 4)[data // 2],
        lambda outputs: np.array([(0, 2, 1, 2)[("ACGT".index(t[2]) + "ACGT".index(t[7])) % 4] for t in outputs]),
        epsilon=lambda: mechanism.spent,
    )


def cases():
    return [
        _named_winner(),
        _sensor_report(),
        _log_lines(),
        _three_above(),
        _numbers_above(),
        _common_alarm(),
        _range(),
        _fourth_gap(),
        _repeated_values(),
        _needle(),
        _censored_reading(),
        _snapped_noise(),
        _binary_hashing(SeededBinaryHashing()),
        _binary_hashing(SeededBinaryHashingFeatures()),
        _wide_rappor(),
        _hadamard_one_bit(),
        exact.gaussian_case(
            WideFewShifted(), "wide rows", f"{MADE}; the shift has length 1.12", variance=1.0, most=50_000
        ),
        _drifting_series(),
        exact.gaussian_case(SharedNoise(), "correlated noise", MADE),
        _biased_walk(),
        _stable_histogram(),
        _skellam_noise(),
        _discrete_gaussian_triple(),
        _best_subset(),
        _gumbel_winner(),
        quantile_case(
            LowerQuartile(), "quantile", "Smith, STOC 2011, without the 2", lambda outputs: exact.column(outputs, 1)
        ),
        _shuffled_letters(),
        _subsampled_laplace(),
        _random_scale(),
        _confident_votes(),
        exact.gaussian_case(MomentumSteps(), "DP-SGD", "Abadi et al., CCS 2016, with momentum and every step released"),
        _count_twice(),
        _mean_of_unknown_size(),
        _column_without_noise(),
        _sum_of_two_characters(),
    ]
