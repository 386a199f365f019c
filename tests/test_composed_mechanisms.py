"""Mechanisms made of mechanisms: their laws against enumeration, their samples against their laws, their verdicts."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import dpaudit
from dpaudit import (
    ApproximateDP,
    FiniteLaw,
    GaussianLaw,
    Mechanism,
    Neighbouring,
    PrivacyClaim,
    Records,
    Verdict,
    compare,
)
from dpaudit.composition import composed
from dpaudit.errors import CheckError, TargetError
from dpaudit.laws import Comparison, Law


class Answer(Mechanism):
    """A bit, told with probability 0.6."""

    truth: float = 0.6

    def sample(self, data, size, rng):
        return np.where(rng.random(size) < self.truth, data, 1 - data)

    def law(self, data):
        return FiniteLaw.from_probabilities([data, 1 - data], [self.truth, 1 - self.truth])

    def neighbours(self):
        return Neighbouring.any_two_inputs([0, 1], scope="two inputs")

    def claims(self):
        epsilon = math.log(self.truth / (1 - self.truth))
        return [PrivacyClaim(id="answer.privacy", statement="as it is", guarantee=ApproximateDP(epsilon))]


class NoisyParity(Mechanism):
    """Number of records above 0, modulo 3, told with probability 0.5 and drawn otherwise."""

    relation: str = "add-remove"

    def _value(self, data):
        return sum(record > 0 for record in data) % 3

    def sample(self, data, size, rng):
        return np.where(rng.random(size) < 0.5, self._value(data), rng.integers(3, size=size))

    def law(self, data):
        masses = np.full(3, 0.5 / 3)
        masses[self._value(data)] += 0.5
        return FiniteLaw.from_probabilities([0, 1, 2], masses)

    def neighbours(self):
        return Neighbouring.within(Records(values=[0, 1], size=4, relation=self.relation))

    def claims(self):
        return [PrivacyClaim(id="parity.privacy", statement="log 4", guarantee=ApproximateDP(math.log(4)))]


class NoisySum(Mechanism):
    """Sum of the records with Gaussian noise."""

    scale: float = 1.0

    def sample(self, data, size, rng):
        return rng.normal(sum(data), self.scale, size)

    def law(self, data):
        return GaussianLaw(float(sum(data)), self.scale)

    def neighbours(self):
        return Neighbouring.within(Records(values=[1], size=4, relation="add-remove"))

    def claims(self):
        return [PrivacyClaim(id="sum.privacy", statement="(4.38, 1e-5)", guarantee=ApproximateDP(4.38, 1e-5))]


def verdict_of(target):
    return [result.verdict for result in dpaudit.check(target, seed=1).results]


def test_repeated_answers_are_a_binomial_law():
    from scipy.stats import binom

    epsilon = 0.7
    for count in (3, 500):
        found = compare(*(dpaudit.Repeated(Answer(), count).law(bit) for bit in (0, 1))).delta(epsilon)
        truths = np.arange(count + 1)
        losses = (2 * truths - count) * math.log(1.5)
        above = losses > epsilon
        truth = float(np.sum(binom.pmf(truths, count, 0.6)[above] * -np.expm1(epsilon - losses[above])))
        assert found.lower == pytest.approx(truth, rel=1e-9)
        assert found.upper == pytest.approx(truth, rel=1e-9)


def test_the_inherited_claims_add_up():
    (claim,) = dpaudit.Repeated(Answer(), 3).claims()
    assert claim.guarantee.epsilon == pytest.approx(3 * math.log(1.5))
    (claim,) = dpaudit.Composed([Answer(), Answer(truth=0.75)]).claims()
    assert claim.guarantee.epsilon == pytest.approx(math.log(1.5) + math.log(3))
    (claim,) = dpaudit.Repeated(NoisySum(), 4).claims()
    assert claim.guarantee == ApproximateDP(4 * 4.38, 4e-5)
    (claim,) = dpaudit.PoissonSubsampled(NoisyParity(), 0.25).claims()
    assert claim.guarantee.epsilon == pytest.approx(math.log(1 + 0.25 * 3))
    (claim,) = dpaudit.SampledWithoutReplacement(NoisyParity(relation="substitution"), 2).claims()
    assert claim.guarantee.epsilon == pytest.approx(math.log(1 + 0.5 * 3))
    assert dpaudit.PoissonSubsampled(NoisyParity(relation="substitution"), 0.25).claims() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "target",
    [
        dpaudit.Repeated(Answer(), 3),
        dpaudit.Composed([Answer(), Answer(truth=0.75)]),
        dpaudit.PoissonSubsampled(NoisyParity(), 0.25),
        dpaudit.SampledWithoutReplacement(NoisyParity(relation="substitution"), 2),
        dpaudit.Repeated(NoisySum(), 2),
    ],
    ids=lambda target: target.name,
)
def test_what_follows_from_true_claims_is_proved(target):
    assert verdict_of(target) == [Verdict.PROVED]


@pytest.mark.slow
def test_amplification_is_tight_and_less_is_refuted():
    class Less(dpaudit.PoissonSubsampled):
        """A claim below the truth."""

        mechanism: Mechanism = NoisyParity()
        rate: float = 0.25

        def claims(self):
            guarantee = ApproximateDP(math.log(1.74))
            return [PrivacyClaim(id="less.privacy", statement="too little", guarantee=guarantee)]

    assert verdict_of(Less()) == [Verdict.REFUTED]


def brute(mechanism, parts):
    """Mixture over (probability, dataset)."""
    masses = np.zeros(3)
    for weight, part in parts:
        masses += weight * np.exp(mechanism.law(part).log_probabilities)
    return masses


def test_laws_of_random_parts_against_enumeration():
    data, inner = (1, 0, 1, 1), NoisyParity()
    found = dpaudit.PoissonSubsampled(inner, 0.3).law(data)
    subsets = [
        (0.3 ** len(chosen) * 0.7 ** (4 - len(chosen)), [data[i] for i in chosen])
        for size in range(5)
        for chosen in itertools.combinations(range(4), size)
    ]
    assert np.exp(found.log_probabilities) == pytest.approx(brute(inner, subsets))
    found = dpaudit.SampledWithoutReplacement(inner, 2).law(data)
    subsets = [(1 / 6, part) for part in itertools.combinations(data, 2)]
    assert np.exp(found.log_probabilities) == pytest.approx(brute(inner, subsets))
    assert dpaudit.PoissonSubsampled(inner, 1.0).law(data).log_probabilities == pytest.approx(
        inner.law(data).log_probabilities
    )


def test_the_law_of_shuffled_batches_against_enumeration():
    data, inner = (1, 0, 1), NoisyParity()
    found = dpaudit.ShuffledBatches(inner, 2).law(data)
    masses = dict.fromkeys(itertools.product(range(3), repeat=2), 0.0)
    for places in itertools.product(range(2), repeat=3):
        laws = [inner.law([r for r, p in zip(data, places, strict=True) if p == batch]) for batch in range(2)]
        for a, b in masses:
            masses[a, b] += math.exp(laws[0].log_probabilities[a] + laws[1].log_probabilities[b]) / 8
    assert dict(zip(found.outcomes, np.exp(found.log_probabilities), strict=True)) == pytest.approx(masses)


@pytest.mark.slow
@pytest.mark.parametrize(
    "target",
    [
        dpaudit.PoissonSubsampled(NoisyParity(), 0.3),
        dpaudit.SampledWithoutReplacement(NoisyParity(), 2),
        dpaudit.ShuffledBatches(NoisyParity(), 2),
        dpaudit.Composed([NoisyParity(), NoisyParity()]),
    ],
    ids=lambda target: target.name,
)
def test_samples_follow_the_law(target):
    """Largest deviation of a frequency, at 200,000 samples: 6 standard errors for at most 9 outcomes."""
    from dpaudit.laws.joint import flattened

    data, size = (1, 0, 1, 1), 200_000
    law = flattened(target.law(data))
    outputs = target.sample(data, size, np.random.default_rng(1))
    for outcome, log_p in zip(law.outcomes, law.log_probabilities, strict=True):
        p = math.exp(log_p)
        hits = np.all(outputs.reshape(size, -1) == np.reshape(outcome, (1, -1)), axis=1).mean()
        assert abs(hits - p) < 6 * math.sqrt(p * (1 - p) / size)


@pytest.mark.slow
def test_a_subsampled_gaussian_sum_is_the_mixture_of_its_subsets():
    target = dpaudit.PoissonSubsampled(NoisySum(scale=2.0), 0.3)
    law = target.law((1, 1))
    assert law.locations == pytest.approx([0, 1, 2])
    assert np.exp(law.log_weights) == pytest.approx([0.49, 0.42, 0.09])
    # With one record it is the dominating pair.
    forward = compare(target.law((1,)), target.law(()))
    from dpaudit.laws import ComposedComparison, GaussianLoss, subsampled

    truth = ComposedComparison([(subsampled(GaussianLoss(0.5), 0.3), 1)]).delta(0.1)
    assert forward.delta(0.1).lower == pytest.approx(truth.lower, rel=1e-3)


def test_what_cannot_be_composed_is_refused():
    with pytest.raises(dpaudit.ParameterError, match="at least one"):
        dpaudit.Composed([])
    with pytest.raises(dpaudit.ParameterError, match="'count' must be at least 1"):
        dpaudit.Repeated(Answer(), 0)
    with pytest.raises(dpaudit.ParameterError, match="'rate' must be above 0"):
        dpaudit.PoissonSubsampled(NoisyParity(), 0.0)
    with pytest.raises(dpaudit.TargetError, match="different neighbouring inputs"):
        dpaudit.Composed([Answer(), NoisyParity()]).neighbours()
    with pytest.raises(dpaudit.CheckError, match="sequence of records"):
        dpaudit.PoissonSubsampled(NoisyParity(), 0.5).law(3)


@pytest.mark.parametrize("count", [20, 1000])
def test_mu_of_repeated_answers_is_that_of_binomial_tails(count):
    from scipy.special import ndtri_exp
    from scipy.stats import binom

    found = measured(dpaudit.Repeated(Answer(), count), dpaudit.GaussianDP(1.0))
    least = np.arange(1, count + 1)
    quantiles = []
    for truth in (0.6, 0.4):
        inside, outside = binom.logsf(least - 1, count, truth), binom.logcdf(least - 1, count, truth)
        quantiles.append(
            [ndtri_exp(a) if a < b else -ndtri_exp(b) for a, b in zip(inside.tolist(), outside.tolist(), strict=True)]
        )
    shifts = np.subtract(*quantiles)
    truth = float(shifts[np.isfinite(shifts)].max())  # probabilities below 1e-308 have no logarithm here
    assert found.lower <= truth * (1 + 1e-6)
    assert found.upper >= truth * (1 - 1e-6)
    assert found.lower == pytest.approx(truth, rel=1e-3)
    assert found.upper == pytest.approx(truth, rel=1e-3)


@pytest.mark.parametrize("count", [20, 1000])
def test_rho_and_renyi_of_repeated_answers_add_up(count):
    once = dpaudit.ZeroConcentratedDP.of_pure(math.log(1.5)).rho
    repeated = dpaudit.Repeated(Answer(), count)
    found = measured(repeated, dpaudit.ZeroConcentratedDP(1.0))
    assert count * once * (1 - 1e-9) < found.lower <= found.upper < count * once * (1 + 1e-9)
    order = 3.0
    divergence = math.log(0.6**order * 0.4 ** (1 - order) + 0.4**order * 0.6 ** (1 - order)) / (order - 1)
    found = measured(repeated, dpaudit.RenyiDP(order, 1e6))
    assert (found.lower, found.upper) == pytest.approx((count * divergence, count * divergence), rel=1e-9)


@pytest.mark.slow
def test_concentration_of_gaussian_and_other_parts():
    class Noisy(Answer):
        def sample(self, data, size, rng):
            return rng.normal(data, 2.0, size)

        def law(self, data):
            return GaussianLaw(float(data), 2.0)

    total = dpaudit.Composed([dpaudit.Repeated(Answer(), 3), dpaudit.Repeated(Noisy(), 5)])
    rho = 3 * dpaudit.ZeroConcentratedDP.of_pure(math.log(1.5)).rho + 5 / 8
    found = measured(total, dpaudit.ZeroConcentratedDP(1.0))
    assert (found.lower, found.upper) == pytest.approx((rho, rho), rel=1e-8)
    # As of a Gaussian part alone from below, and by the sum of squares from above.
    mu = measured(total, dpaudit.GaussianDP(10.0))
    alone = measured(dpaudit.Repeated(Answer(), 3), dpaudit.GaussianDP(10.0)).upper
    assert math.sqrt(5) / 2 < mu.lower <= mu.upper <= math.hypot(math.sqrt(5) / 2, alone) * (1 + 1e-9)


def test_guarantees_of_other_kinds_are_inherited():
    rho, mu = dpaudit.ZeroConcentratedDP, dpaudit.GaussianDP
    found = composed([(rho(0.1, 1e-6), 3), (rho(0.2), 1)])
    assert (found.rho, found.delta) == pytest.approx((0.5, 3e-6))
    assert composed([(mu(3.0), 1), (mu(2.0), 4)]) == mu(5.0)
    assert composed([(dpaudit.RenyiDP(2, 0.5), 4)]) == dpaudit.RenyiDP(2, 2.0)
    assert composed([(dpaudit.RenyiDP(2, 0.5), 1), (dpaudit.RenyiDP(3, 0.5), 1)]) is None
    assert composed([(mu(1.0), 1), (rho(1.0), 1)]) is None
    assert composed([(ApproximateDP(0.1, 0.3), 4)]) is None
    found = composed([(ApproximateDP(0.1, 0.3), 3)])
    assert (found.epsilon, found.delta) == pytest.approx((0.3, 0.9))


def measured(mechanism, guarantee):
    """What the laws on two inputs give the parameter that the guarantee forces."""
    return guarantee.measure(compare(mechanism.law(0), mechanism.law(1)))[guarantee.forced]


def leaks(data):
    return FiniteLaw.from_probabilities([data], [1.0])


class SeveralKinds(NoisyParity):
    """A mechanism that claims a finer guarantee before the plain one."""

    def claims(self):
        finer = dpaudit.ZeroConcentratedDP.of_pure(math.log(4))
        return [PrivacyClaim(id="parity.zcdp", statement="finer", guarantee=finer), *super().claims()]


def test_the_first_kind_that_all_parts_claim_is_inherited():
    (subsampled,) = dpaudit.PoissonSubsampled(SeveralKinds(), 0.5).claims()
    assert subsampled.guarantee.epsilon == pytest.approx(math.log(2.5))
    (finer,) = dpaudit.Repeated(SeveralKinds(), 2).claims()
    assert finer.guarantee == dpaudit.ZeroConcentratedDP(2 * dpaudit.ZeroConcentratedDP.of_pure(math.log(4)).rho)
    (plain,) = dpaudit.Composed([SeveralKinds(), NoisyParity()]).claims()
    assert plain.guarantee == ApproximateDP(2 * math.log(4))


class Leak(Answer):
    """The bit itself."""

    def sample(self, data, size, rng):
        return np.full(size, data)

    def law(self, data):
        return leaks(data)


class NoisyCount(Answer):
    """A bit with discrete Gaussian noise."""

    scale: float = 2.0

    def law(self, data):
        return dpaudit.DiscreteGaussianLaw(data, self.scale)

    def sample(self, data, size, rng):
        listed = self.law(0).listed()
        return data + rng.choice(listed.outcomes, size, p=np.exp(listed.log_probabilities))


class LaplaceAnswer(Answer):
    """A bit with Laplace noise of scale 1."""

    def law(self, data):
        return dpaudit.LaplaceLaw(data, 1.0)

    def sample(self, data, size, rng):
        return data + rng.laplace(size=size)


GUARANTEES = [
    ApproximateDP(3.0),
    ApproximateDP(1.0, 0.5),
    dpaudit.ZeroConcentratedDP(5.0),
    dpaudit.ZeroConcentratedDP(5.0, 0.1),
    dpaudit.RenyiDP(2, 5.0),
    dpaudit.GaussianDP(5.0),
    dpaudit.PrivacyProfile({1.0: 0.5}),
    dpaudit.TradeOff({0.1: 0.5}),
]


def decide(target, guarantee, **budget):
    from dpaudit.auditors import Budget, Streams, audit

    claim = PrivacyClaim(id="c", statement="It is private.", guarantee=guarantee)
    return audit(target, claim, budget=Budget(samples=5_000, **budget), streams=Streams(1))


@pytest.mark.slow
@pytest.mark.parametrize("guarantee", GUARANTEES, ids=str)
@pytest.mark.parametrize(
    "target",
    [
        dpaudit.Composed([Leak(), dpaudit.Repeated(Answer(), 14)]),
        dpaudit.Composed([Leak(), LaplaceAnswer()]),
        dpaudit.Repeated(Leak(), 20),
    ],
    ids=["beside answers", "beside Laplace noise", "repeated"],
)
def test_a_part_that_tells_everything_refutes_any_guarantee(target, guarantee):
    evidence = decide(target, guarantee)
    assert (evidence.verdict, evidence.method) == (Verdict.REFUTED, "exact")
    assert (evidence.witness.p, evidence.witness.q) == (1.0, 0.0)
    assert evidence.measured[guarantee.forced].lower > 10


@pytest.mark.parametrize("count", [2, 20])
def test_repeated_discrete_gaussian_noise_against_the_law_of_the_sum(count):
    listed = dpaudit.DiscreteGaussianLaw(0, 2.0).listed()
    one = np.exp(listed.log_probabilities)
    total = np.ones(1)
    for _ in range(count):
        total = np.convolve(total, one)
    # The loss depends on the sum of the outputs alone, which moves by 1 for every one of them.
    p, q = np.r_[total, np.zeros(count)], np.r_[np.zeros(count), total]
    found = compare(*(dpaudit.Repeated(NoisyCount(), count).law(bit) for bit in (0, 1)))
    for epsilon in (0.0, 0.3, 1.0, 2.5):
        truth = float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())
        delta = found.delta(epsilon)
        assert delta.lower <= truth * (1 + 1e-9)
        assert truth * (1 - 1e-9) <= delta.upper
        assert delta.upper - delta.lower <= 1e-4 * truth
    assert found.max_divergence() == math.inf


@pytest.mark.slow
def test_guarantees_of_repeated_discrete_gaussian_noise():
    for count in (3, 14):
        target, rho = dpaudit.Repeated(NoisyCount(), count), count / 8
        assert decide(target, dpaudit.ZeroConcentratedDP(rho)).verdict == Verdict.PROVED
        assert decide(target, dpaudit.ZeroConcentratedDP(rho * (1 - 1e-6))).verdict == Verdict.REFUTED
    assert decide(target, dpaudit.RenyiDP(3, 3 * rho)).verdict == Verdict.PROVED
    assert decide(target, dpaudit.RenyiDP(3, 3 * rho * (1 - 1e-6))).verdict == Verdict.REFUTED
    both = dpaudit.Composed([NoisyCount(), LaplaceAnswer()])
    rho = decide(both, dpaudit.ZeroConcentratedDP(1.0)).measured["rho"]
    # No more than what both add up to, and no less than at the order 2.
    laplace = math.log((2 * math.exp(1) + math.exp(-2)) / 3)
    assert (1 / 4 + laplace) / 2 <= rho.lower <= rho.upper <= 1 / 8 + math.exp(-1) + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "rho", "count"), [(Answer(), math.log(1.5) * 0.2, 13), (LaplaceAnswer(), math.exp(-1), 2)]
)
def test_rho_of_repeated_parts_is_decided_on_both_sides(part, rho, count):
    target = dpaudit.Repeated(part, count)
    assert decide(target, dpaudit.ZeroConcentratedDP(count * rho * (1 + 1e-8))).verdict == Verdict.PROVED
    evidence = decide(target, dpaudit.ZeroConcentratedDP(count * rho * (1 - 1e-6)))
    assert evidence.verdict == Verdict.REFUTED
    # Not an event of almost all outputs, of whose complement rounding leaves nothing.
    witness = evidence.witness
    assert witness.p > witness.q
    assert 0.3 * count * rho < dpaudit.ZeroConcentratedDP(1.0).forces(witness.p, witness.q) <= count * rho


class Unknown(Law):
    """A law that nothing is known of but itself."""

    def against(self, other):
        return UnknownComparison()


class UnknownComparison(Comparison):
    def max_divergence(self):
        return math.inf

    def delta(self, epsilon):
        return dpaudit.Interval.exact(0.5)

    def epsilon(self, delta):
        return dpaudit.Interval.exact(1.0)

    def worst_event(self, epsilon, delta):
        raise NotImplementedError


@pytest.mark.slow
def test_parts_of_unknown_laws_are_sampled():
    class Own(Answer):
        def law(self, data):
            return Unknown()

    target = dpaudit.Repeated(Own(), 3)
    assert decide(target, ApproximateDP(0.5)).method == "black-box"
    with pytest.raises(dpaudit.CheckError, match="a UnknownComparison cannot be composed with other parts"):
        decide(target, ApproximateDP(0.5), method="exact")


class Thrice(dpaudit.Repeated):
    count: int = 3


class FourTimes(dpaudit.Repeated):
    count = 4


class Labelled(dpaudit.Repeated):
    label: str = ""


class Together(dpaudit.Composed):
    """Answers together."""


class Half(dpaudit.PoissonSubsampled):
    rate = 0.5


def test_subclasses_take_arguments_by_position_and_defaults_of_the_class():
    assert Thrice(Answer()) == Thrice(mechanism=Answer(), count=3)
    assert Thrice(Answer(), 5).count == 5
    assert FourTimes(Answer()).count == 4
    assert Labelled(Answer(), 2, label="x").parameters() == {"mechanism": Answer(), "count": 2, "label": "x"}
    assert Together([Answer(), Answer()]).mechanisms == (Answer(), Answer())
    assert Half(NoisyParity()).rate == 0.5
    assert Thrice(Answer()).but(count=2) == Thrice(Answer(), 2)
    assert len(list(Thrice(Answer()).sample(1, 2, np.random.default_rng(0))[0])) == 3
    for make, words in [
        (lambda: Thrice(Answer(), 0), "parameter 'count' must be at least 1"),
        (lambda: Half(NoisyParity(), 2.0), "parameter 'rate' must be at most 1"),
        (lambda: dpaudit.Composed(Answer()), "parameter 'mechanisms'"),
    ]:
        with pytest.raises(dpaudit.ParameterError, match=words):
            make()
    with pytest.raises(TypeError, match=r"Thrice takes 2 arguments at most \(mechanism, count\), got 3"):
        Thrice(Answer(), 1, 2)
    with pytest.raises(TypeError, match="two values of 'mechanism'"):
        Thrice(Answer(), mechanism=Answer())


class Whatever(dpaudit.Mechanism):
    """Outputs of any kind, on a bit."""

    make: Callable[[Any, int, np.random.Generator], Any] = dpaudit.parameter(doc="function that samples")

    def sample(self, data, size, rng):
        return self.make(data, size, rng)

    def neighbours(self):
        return dpaudit.Neighbouring(relation="substitution", pairs=[((0,), (1,))], complete=False, scope="a bit")

    def claims(self):
        return [dpaudit.PrivacyClaim(id="whatever.privacy", statement="ε-DP", epsilon=0.1)]


class WithoutClaim(dpaudit.SampledWithoutReplacement):
    def claims(self):
        return self.mechanism.claims()


COMBINED = {
    "composed": lambda part: dpaudit.Composed([part, part]),
    "repeated": lambda part: dpaudit.Repeated(part, 2),
    "sampled": lambda part: WithoutClaim(part, 1),
}


@pytest.mark.parametrize("how", COMBINED)
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda data, size, rng: pd.DataFrame({"v": np.full(size, data[0]), "n": rng.normal(size=size)}), "DataFrame"),
        (lambda data, size, rng: pd.DataFrame({"v": np.full(size, data[0])}), "DataFrame"),
        (lambda data, size, rng: scipy.sparse.csr_array(np.full((size, 2), data[0])), "csr_array"),
        (lambda data, size, rng: {"v": np.full(size, data[0])}, "dict"),
        (lambda data, size, rng: np.ma.masked_array(rng.normal(size=size), np.full(size, data[0] > 0)), "mask"),
        (lambda data, size, rng: rng.normal(size=size + 1), "return 1000 along axis 0"),
    ],
)
def test_parts_whose_outputs_would_be_taken_for_others_are_refused(how, make, said):
    """Of a frame, iteration gives the names of columns, and a copy of a masked array loses the mask."""
    combined = COMBINED[how](Whatever(make=make))
    with pytest.raises(CheckError, match=said):
        combined.sample((1,), 1000, np.random.default_rng(1))


@pytest.mark.parametrize("how", COMBINED)
def test_generators_and_series_are_parts(how):
    for make in (
        lambda data, size, rng: (float(x) for x in rng.normal(size=size)),
        lambda data, size, rng: pd.Series(rng.normal(size=size)),
    ):
        assert len(COMBINED[how](Whatever(make=make)).sample((1,), 50, np.random.default_rng(1))) == 50


@pytest.mark.parametrize(
    "of_none", [lambda size: np.array(["none"] * size), lambda size: np.zeros(size, dtype=bool)], ids=["text", "bool"]
)
def test_parts_of_the_records_whose_outputs_have_other_types_are_refused(of_none):
    """A text in place of every number would make the form of outputs depend on what is drawn."""
    part = Whatever(make=lambda data, size, rng: rng.integers(9, size=size) if data else of_none(size))
    with pytest.raises(CheckError, match="different types"):
        dpaudit.PoissonSubsampled(part, 0.5).sample((1, 0), 1000, np.random.default_rng(1))


def test_neighbours_that_are_printed_alike_are_not_the_same():
    class Long(Whatever):
        place: int = 0

        def neighbours(self):
            x = np.zeros(3000)
            y = x.copy()
            y[self.place] = 1
            return dpaudit.Neighbouring(relation="substitution", pairs=[(x, y)], complete=False, scope="one of many")

    def nothing(data, size, rng):
        return rng.normal(size=size)

    with pytest.raises(TargetError, match="different neighbouring inputs"):
        dpaudit.Composed([Long(make=nothing, place=1500), Long(make=nothing, place=700)]).neighbours()
    assert dpaudit.Composed([Long(make=nothing, place=700), Long(make=nothing, place=700)]).neighbours() is not None


@pytest.mark.parametrize("how", COMBINED)
def test_randomness_of_its_own_is_that_of_the_whole(how):
    class Own(Whatever):
        own_randomness = True

    def own(data, size, rng):
        return np.random.default_rng().normal(size=size)

    assert COMBINED[how](Own(make=own)).own_randomness
    assert not COMBINED[how](Whatever(make=own)).own_randomness
    # Nothing seeds the noise, so that the verdict may differ from run to run; it is never that outputs do not repeat.
    record = dpaudit.check(COMBINED[how](Own(make=own)), samples=2000)
    assert record.results[0].verdict != "error", record.results[0].note
