"""SAFA and Harmony: frequencies of many attributes with small domains, each user asked about one of them.

Source: Yang, Cheng, Su, Chen, Ren, Liu, "Collecting preference rankings under local differential privacy", 2018: SAFA
is its Algorithms 1 and 2, Theorems 1 to 4 are those of its technical report. Harmony: Nguyen et al., "Collecting and
analyzing data from smart device users with local differential privacy", 2016.

Symbols: epsilon is the paper's ε', attributes |A|, values |dom(A_j)|, the same m for all attributes here, agents n,
frequency the share f of the users who hold a value; e stands for e^ε'.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import dpaudit
from dpaudit import randomizers

PAPER = "Yang, Cheng, Su, Chen, Ren, Liu 2018"
REPORT = f"{PAPER}, technical report"
ABOUT = 1.1
LARGEST_DOMAIN = 4096
MOST_SIZES = 500
"""What "about" is taken to mean: a factor of at most this, on either side."""


def _sizes(below: float) -> list[int]:
    """Domain sizes from 2 on, below a limit and the largest domain looked at; where they are many, spread out."""
    last = min(math.ceil(below) - 1, LARGEST_DOMAIN)
    return (
        list(range(2, last + 1))
        if last < MOST_SIZES
        else np.unique(np.geomspace(2, last, MOST_SIZES).astype(int)).tolist()
    )


def _sizes_text(below: float) -> str:
    last = min(math.ceil(below) - 1, LARGEST_DOMAIN)
    return f"{'every m' if last < MOST_SIZES else f'{MOST_SIZES} sizes m'} below {min(below, LARGEST_DOMAIN + 1):.6g}"


class _Report(dpaudit.Mechanism):
    """What one user sends: the attribute asked about, and what the randomizer makes of its value."""

    epsilon: float = dpaudit.parameter(1.0, doc="ε', the budget of one user")
    attributes: int = dpaudit.parameter(3, minimum=1, doc="|A|")
    values: int = dpaudit.parameter(4, minimum=2, doc="m, the size of every domain")

    def neighbours(self) -> dpaudit.Neighbouring:
        return dpaudit.Neighbouring(
            relation="any-two-inputs",
            pairs=self._pairs,
            complete=True,
            scope=(
                f"any two tuples of {self.attributes} values; renaming the values of an attribute and the attributes "
                "leaves the losses as they are, so one tuple stands for all that differ in as many attributes"
            ),
        )

    def _pairs(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        zeros = np.zeros(self.attributes, dtype=np.int64)
        for differing in range(1, self.attributes + 1):
            yield zeros, (np.arange(self.attributes) < differing).astype(np.int64)


class SafaReport(_Report):
    """Report of SAFA: the attribute, and its value by generalised randomized response."""

    notation = (
        "an input holds the user's value of every attribute; an output is the attribute asked for and the "
        "value reported"
    )

    @property
    def randomizer(self) -> randomizers.SampledResponse:
        return randomizers.SampledResponse(np.full(self.attributes, self.values), self.epsilon)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        asked = self.randomizer.assign(size, rng)
        return np.stack([asked, self.randomizer.randomize(asked, np.asarray(data)[asked], rng)], axis=1)

    def law(self, data: Any) -> dpaudit.FiniteLaw:
        return self.randomizer.law(data)


class HarmonyReport(_Report):
    """Report of Harmony: the attribute, a row of the Hadamard matrix, and the value's sign in it, randomized."""

    notation = (
        "an input holds the user's value of every attribute; an output is the attribute asked for, the row of "
        "the Hadamard matrix, and the sign reported"
    )

    @property
    def randomizer(self) -> randomizers.SampledProjection:
        return randomizers.SampledProjection(self.attributes, self.values, self.epsilon)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        asked = self.randomizer.assign(size, rng)
        signs = self.randomizer.randomize(self.randomizer.orthogonal(), asked, np.asarray(data)[asked], rng)
        return np.concatenate([asked[:, None], signs], axis=1)

    def law(self, data: Any) -> dpaudit.FiniteLaw:
        return self.randomizer.law(data, self.randomizer.orthogonal())


class _Collector(dpaudit.Mechanism):
    """The collector's estimates of one attribute, every user holding the same value in all of them."""

    epsilon: float = dpaudit.parameter(1.0, maximum=20.0, doc="ε', the budget of one user")
    attributes: int = dpaudit.parameter(3, minimum=1, doc="|A|")
    values: int = dpaudit.parameter(4, minimum=2, doc="m, the size of every domain")
    agents: int = dpaudit.parameter(5000, minimum=1, doc="n")
    frequency: float = dpaudit.parameter(0.05, minimum=0, maximum=1, doc="f, share of the users who hold a value")
    projection: randomizers.Projection = dpaudit.parameter("hadamard", doc="Harmony's binary matrix")

    source = PAPER
    trust = "Nobody is trusted: the collector draws the attribute, every user randomizes its value."

    @property
    def odds(self) -> float:
        """e^ε'."""
        return math.exp(self.epsilon)

    def harmony_variance(self, values: int, frequency: float) -> float:
        """Exact variance of Harmony's estimate of a value, the other values sharing the rest of the users equally."""
        harmony = randomizers.SampledProjection(self.attributes, values, self.epsilon, self.projection)
        shares = [frequency] + [(1 - frequency) / (values - 1)] * (values - 1)
        return float(harmony.variance(shares, self.agents)[0])

    def privacy(self, name: str, source: str, words: str) -> dpaudit.PrivacyClaim:
        return dpaudit.PrivacyClaim(
            id=name,
            source=source,
            statement=f"A report of {words} is ε'-locally differentially private.",
            epsilon=self.epsilon,
            view="report",
        )

    def about(self, name: str, source: str, printed: float, exact: float, what: str) -> dpaudit.Claim:
        """The printed variance is within a factor of 1.1 of the exact one, on either side."""
        return dpaudit.UtilityClaim(
            id=name,
            source=source,
            statement=f"The printed variance of {what} is right but for a factor of {ABOUT}.",
            bound=ABOUT,
            exact=lambda: max(printed / exact, exact / printed),
            support=(1.0, math.inf),
            quantity="the larger of the printed and the exact variance over the smaller",
            scope=(
                f"ε' = {self.epsilon:g}, |A| = {self.attributes}, m = {self.values}, f = {self.frequency:g}, "
                f"n = {self.agents}: printed {printed:.6g}, exact {exact:.6g}"
            ),
        )


class Safa(_Collector):
    """SAFA: each user reports one attribute, drawn by the collector, by generalised randomized response."""

    name = "safa"
    errata = (
        dpaudit.Erratum(
            where=f"{REPORT}, Theorem 3",
            printed="Var z_j[k] is about ((e + m - 1)|A| - 1) / (n (e - 1)^2)",
            meant="that plus f (e - 1) ((e + m - 1)|A| - e - 1) / (n (e - 1)^2)",
            reason="the count of a report is 1 with probability p/|A| for the share f, and q/|A| for the others",
        ),
        dpaudit.Erratum(
            where=f"{PAPER}, Algorithm 1, line 12",
            printed="n q_j is subtracted, as if the number of users asked about attribute j were n/|A|",
            meant="implemented as printed",
            reason="unbiased, but the number asked is known and random; taking it instead would leave less variance",
        ),
    )

    @property
    def report(self) -> SafaReport:
        return SafaReport(epsilon=self.epsilon, attributes=self.attributes, values=self.values)

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        return {"output": self, "report": self.report}

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Estimated frequencies (size, |A|, m) for users' tuples of shape (n, |A|)."""
        tuples, safa = np.asarray(data), self.report.randomizer
        found = []
        for _ in range(size):
            asked = safa.assign(len(tuples), rng)
            reports = safa.randomize(asked, tuples[np.arange(len(tuples)), asked], rng)
            found.append(safa.estimate(safa.tally(asked, reports), len(tuples)))
        return np.array(found)

    def printed_variance(self, values: int, attributes: int) -> float:
        """Theorem 3."""
        return ((self.odds + values - 1) * attributes - 1) / (self.agents * (self.odds - 1) ** 2)

    def exact_variance(self, values: int, attributes: int, frequency: float) -> float:
        safa = randomizers.SampledResponse(np.full(attributes, values), self.epsilon)
        return float(safa.variance(frequency, self.agents))

    def printed_crossover(self) -> float:
        """Theorem 4."""
        return ((2 * self.attributes - 1) * (self.odds + 1) ** 2 + 1) / self.attributes - self.odds + 1

    def true_crossover(self) -> float:
        """Domain size at which the exact variances are equal for a value that nobody holds."""
        return self.odds**2 + self.odds + 2 + 1 / self.attributes

    def claims(self) -> Sequence[dpaudit.Claim]:
        setting = f"ε' = {self.epsilon:g}, |A| = {self.attributes}"
        other = "" if self.projection == "hadamard" else "it is the crossover for orthogonal columns"
        return [
            self.privacy("yang2018.safa-theorem1", f"{REPORT}, Theorem 1", "SAFA"),
            dpaudit.LemmaClaim(
                id="yang2018.safa-theorem2",
                source=f"{REPORT}, Theorem 2",
                statement="SAFA's frequencies are unbiased.",
                margin=lambda truth: -self._bias(truth),
                instances=[{"truth": truth} for truth in range(self.values)],
                complete=True,
                tolerance=1e-9,
                scope=f"{setting}, m = {self.values}: any users, as the estimates are sums over them",
            ),
            self.about(
                "yang2018.safa-theorem3",
                f"{REPORT}, Theorem 3",
                self.printed_variance(self.values, self.attributes),
                self.exact_variance(self.values, self.attributes, self.frequency),
                "SAFA's estimate",
            ),
            dpaudit.LemmaClaim(
                id="yang2018.safa-theorem3-side",
                source=f"{REPORT}, Theorem 3",
                statement="SAFA's exact variance is at least the printed one, and at most e^ε' times that.",
                margin=self._theorem3_margin,
                instances=[{"values": self.values, "attributes": self.attributes, "frequency": self.frequency}],
                variables={
                    "values": dpaudit.Integers(2, 1000),
                    "attributes": dpaudit.Integers(1, 500),
                    "frequency": dpaudit.Reals(0.0, 1.0),
                },
                explain=lambda values, attributes, frequency: {
                    "claimed": self.printed_variance(values, attributes),
                    "actual": self.exact_variance(values, attributes, frequency),
                },
                tolerance=1e-9,
                scope=f"ε' = {self.epsilon:g}",
            ),
            dpaudit.LemmaClaim(
                id="yang2018.safa-theorem4",
                source=f"{REPORT}, Theorem 4",
                statement="For a value nobody holds, SAFA's variance is below Harmony's at every domain size below the "
                "printed crossover.",
                margin=lambda values: (
                    self.harmony_variance(values, 0.0) - self.exact_variance(values, self.attributes, 0.0)
                ),
                instances=[{"values": values} for values in _sizes(self.printed_crossover())],
                complete=self.printed_crossover() <= MOST_SIZES,
                explain=lambda values: {
                    "printed crossover": self.printed_crossover(),
                    "true crossover": self.true_crossover(),
                    "actual": self.exact_variance(values, self.attributes, 0.0),
                    "claimed": self.harmony_variance(values, 0.0),
                },
                scope=(
                    f"{setting}, n = {self.agents}, {_sizes_text(self.printed_crossover())}; Harmony with "
                    f"{self.projection} signs"
                ),
            ),
            dpaudit.LemmaClaim(
                id="yang2018.safa-theorem4-meant",
                source=f"{REPORT}, Theorem 4, with Harmony's exact variance",
                statement="For values nobody holds SAFA's variance is below Harmony's for m < e^2 + e + 2 + 1/|A|, and "
                "not otherwise.",
                inapplicable=other,
                margin=self._crossover_margin,
                instances=[{"values": values} for values in _sizes(4 * self.true_crossover())],
                complete=4 * self.true_crossover() <= MOST_SIZES,
                tolerance=1e-9,
                scope=f"{setting}, {_sizes_text(4 * self.true_crossover())}, four times the crossover",
            ),
            dpaudit.LemmaClaim(
                id="yang2018.grr-best",
                source=f"{PAPER}, Section III-D",
                statement="Of the frequency oracles, GRR has the least variance at this domain size, among users who "
                "all answer.",
                margin=self._grr_margin,
                instances=[{"frequency": 0.0}, {"frequency": 1 / self.values}],
                complete=True,
                explain=lambda frequency: {
                    name: float(oracle.variance(frequency, self.agents)) for name, oracle in self._oracles().items()
                },
                scope=(
                    f"ε' = {self.epsilon:g}, m = {self.values}; a value of frequency 0, and one of frequency 1/m; the "
                    "users who are asked for one attribute, their counts debiased by their number, so for any |A|"
                ),
            ),
        ]

    def _bias(self, truth: int) -> float:
        """Largest bias over one attribute's values, from the law of the report, as a share of the largest estimate."""
        safa = self.report.randomizer
        law = safa.law([truth] * self.attributes)
        mean, largest = np.zeros((self.attributes, self.values)), 1.0
        for (attribute, value), p in zip(law.outcomes, np.exp(law.log_probabilities), strict=True):
            estimate = safa.estimate(safa.tally(np.array([attribute]), np.array([value])), 1)
            mean += p * estimate
            largest = max(largest, float(np.abs(estimate).max()))
        mean[:, truth] -= 1
        return float(np.abs(mean).max()) / largest

    def _theorem3_margin(self, values: int, attributes: int, frequency: float) -> float:
        ratio = self.exact_variance(values, attributes, frequency) / self.printed_variance(values, attributes)
        return min(ratio - 1, self.odds - ratio)

    def _crossover_margin(self, values: int) -> float:
        gain = self.harmony_variance(values, 0.0) / self.exact_variance(values, self.attributes, 0.0) - 1
        return gain if values < self.true_crossover() else -gain

    def _oracles(self) -> dict[str, randomizers.FrequencyOracle]:
        m, budget = self.values, self.epsilon
        return {
            "grr": randomizers.GeneralizedRandomizedResponse(m, budget),
            "symmetric unary encoding": randomizers.UnaryEncoding(m, budget),
            "optimised unary encoding": randomizers.UnaryEncoding(m, budget, "optimised"),
            "binary local hashing": randomizers.LocalHashing.binary(m, budget),
            "optimal local hashing": randomizers.LocalHashing.optimal(m, budget),
            "hadamard response": randomizers.HadamardResponse(m, budget),
        }

    def _grr_margin(self, frequency: float) -> float:
        variances = {name: float(oracle.variance(frequency, 1)) for name, oracle in self._oracles().items()}
        grr = variances.pop("grr")
        return min(variances.values()) / grr - 1


class Harmony(_Collector):
    """Harmony on categorical attributes: each user reports one sign of a projection of one attribute's value."""

    name = "harmony"
    source = "Nguyen et al. 2016, as described in Yang et al. 2018, Section III-D"
    errata = (
        dpaudit.Erratum(
            where=f"{PAPER}, Section III-D",
            printed="the domain of A_j is projected into a binary matrix of size |dom(A_j)| x |dom(A_j)|",
            meant="left open: `projection` is hadamard (orthogonal, order a power of two) or random (fair signs)",
            reason="no construction is given; with random signs the values leak into each other however many users",
        ),
        dpaudit.Erratum(
            where=f"{REPORT}, Theorem 4",
            printed="Var_Harmony = (2|A| - 1)(e + 1)^2 / (n (e - 1)^2)",
            meant="(|A| (e + 1)^2 / (e - 1)^2 - f) / n",
            reason=(
                "a user adds ±|A| (e + 1)/(e - 1) with probability 1/|A|, whose square has the mean "
                "|A| (e + 1)^2 / (e - 1)^2; orthogonal columns make its mean 1 for the share f, and 0 for the others"
            ),
        ),
    )

    @property
    def report(self) -> HarmonyReport:
        return HarmonyReport(epsilon=self.epsilon, attributes=self.attributes, values=self.values)

    def views(self) -> Mapping[str, dpaudit.Mechanism]:
        return {"output": self, "report": self.report}

    @property
    def randomizer(self) -> randomizers.SampledProjection:
        return randomizers.SampledProjection(self.attributes, self.values, self.epsilon, self.projection)

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        """Estimated frequencies (size, |A|, m) for users' tuples of shape (n, |A|)."""
        tuples, harmony = np.asarray(data), self.randomizer
        found = []
        for _ in range(size):
            matrices = harmony.matrices(rng)
            asked = harmony.assign(len(tuples), rng)
            reports = harmony.randomize(matrices, asked, tuples[np.arange(len(tuples)), asked], rng)
            found.append(harmony.estimate(matrices, asked, reports))
        return np.array(found)

    def claims(self) -> Sequence[dpaudit.Claim]:
        printed = (2 * self.attributes - 1) * ((self.odds + 1) / (self.odds - 1)) ** 2 / self.agents
        return [
            self.privacy("yang2018.harmony-ldp", f"{PAPER}, Section III-D; Nguyen et al. 2016", "Harmony"),
            self.about(
                "yang2018.harmony-variance",
                f"{REPORT}, Theorem 4",
                printed,
                self.harmony_variance(self.values, self.frequency),
                "Harmony's estimate",
            ),
        ]
