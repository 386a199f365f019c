"""The likelihood auditor against closed forms, the exact auditor, and likelihoods that are wrong."""

import math

import numpy as np
import pytest
from rates import counted, most
from scipy.stats import norm

import dpaudit
from dpaudit.auditors import Budget, Streams, audit

FALSE_ALARM = 1e-6


class Noise(dpaudit.Mechanism):
    """Noise on each of ``size`` coordinates; the sampler and the likelihood may each be given another scale."""

    kind: str = dpaudit.parameter("gaussian")
    scale: float = dpaudit.parameter(1.0)
    stated: float = dpaudit.parameter(0.0, doc="scale of the likelihood, if another")
    size: int = dpaudit.parameter(1)
    pairs: int = dpaudit.parameter(1)
    wrong: str = dpaudit.parameter("")

    def sample(self, data, size, rng):
        draw = rng.normal if self.kind == "gaussian" else rng.laplace
        return data + draw(scale=self.scale, size=(size, self.size))

    def log_likelihood(self, outputs, data):
        if self.wrong == "another input":
            data = 1.0 - data
        scaled = np.abs(outputs - data) / (self.stated or self.scale)
        values = -(scaled**2 / 2 if self.kind == "gaussian" else scaled).sum(axis=1)
        return values + (0.3 * data if self.wrong == "unnormalised" else 0.0)

    def neighbours(self):
        pairs = [(0.0, 1.0 / (i + 1)) for i in range(self.pairs)]
        return dpaudit.Neighbouring(relation="step", pairs=pairs, complete=False, scope="steps")

    def comparison(self):
        law = dpaudit.GaussianLaw if self.kind == "gaussian" else dpaudit.LaplaceLaw
        p, q = (dpaudit.ProductLaw([law(at, self.scale)] * self.size) for at in (0.0, 1.0))
        return dpaudit.compare(p, q)


class Table(dpaudit.Mechanism):
    """Laws on five outcomes, some of them impossible."""

    seed: int = dpaudit.parameter(0)
    known: bool = dpaudit.parameter(False, doc="whether the law is declared")

    def laws(self):
        laws = np.random.default_rng(self.seed).dirichlet(np.full(5, 3.0), 3)
        laws[0, 0] = 0.0 if self.seed % 2 else laws[0, 0]
        return laws / laws.sum(axis=1, keepdims=True)

    def law(self, data):
        return dpaudit.FiniteLaw.from_probabilities(np.arange(5), self.laws()[data]) if self.known else None

    def sample(self, data, size, rng):
        return rng.choice(5, size, p=self.laws()[data])

    def log_likelihood(self, outputs, data):
        with np.errstate(divide="ignore"):
            return np.log(self.laws()[data])[outputs]

    def neighbours(self):
        return dpaudit.Neighbouring.any_two_inputs([0, 1, 2], scope="all three")


def decide(target, epsilon, delta=0.0, seed=1, **budget):
    claim = dpaudit.PrivacyClaim(id="p", statement="", epsilon=epsilon, delta=delta)
    return audit(target, claim, budget=Budget(**budget), streams=Streams(seed))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "epsilon"),
    [
        (Noise(), 0.2),
        (Noise(), 1.0),
        (Noise(), 2.5),
        (Noise(scale=5.0), 0.3),
        (Noise(kind="laplace"), 0.5),
        (Noise(kind="laplace", scale=3.0, size=20), 3.0),
    ],
)
def test_the_interval_encloses_the_closed_form_and_decides(target, epsilon):
    exact = target.comparison().delta(epsilon)
    beyond = decide(target, epsilon, exact.lower * 0.8, samples=100_000)
    assert beyond.method == "likelihood"
    delta = beyond.measured["delta"]
    assert delta.lower <= exact.upper
    assert exact.lower <= delta.upper
    deviation = math.sqrt(exact.upper / 100_000)
    assert delta.upper - delta.lower < 10 * deviation + 40 / 100_000
    assert beyond.verdict == ("refuted" if exact.lower > 60 * deviation else beyond.verdict)
    within = decide(target, epsilon, exact.upper * 1.6, samples=100_000)
    assert within.verdict == "certified"
    true = target.comparison().epsilon(exact.upper * 1.6)
    assert within.measured["epsilon"].lower <= true.upper
    assert true.lower <= within.measured["epsilon"].upper <= true.lower + 0.2 * max(1.0, true.lower)
    assert decide(target, epsilon, exact.lower, samples=100_000).verdict == "inconclusive"


def test_a_witness_can_be_recomputed():
    target = Noise()
    evidence = decide(target, 1.0, 0.1, samples=50_000)
    witness = evidence.witness
    assert evidence.verdict == "refuted"
    assert witness.forces == {"delta": evidence.measured["delta"].lower}
    assert target.comparison().delta(1.0).lower >= witness.forces["delta"] > 0.1
    # The likelihood ratio is above e on one side of 1/2 + 1 = 1.5 away from the other input.
    assert witness.p == pytest.approx(norm.sf(0.5), abs=0.02)
    assert witness.q == pytest.approx(norm.sf(1.5), abs=0.02)
    output = np.array([witness.event["for example"]])
    for name, data in (("data", witness.data), ("neighbour", witness.neighbour)):
        assert target.log_likelihood(output, data)[0] == witness.event[f"its log-likelihood on {name}"]


@pytest.mark.slow
def test_a_single_output_refutes_a_pure_claim():
    evidence = decide(Noise(kind="laplace"), 0.999, samples=1000)
    assert evidence.verdict == "refuted"
    assert evidence.witness.forces["epsilon"] == pytest.approx(1.0, abs=1e-6)
    assert evidence.witness.p == pytest.approx(0.5, abs=0.1)
    assert decide(Noise(), 2.0, samples=20_000).verdict == "refuted"
    impossible = decide(Table(seed=1), 20.0, samples=1000)
    assert impossible.verdict == "refuted"
    assert impossible.witness.forces["epsilon"] == math.inf
    assert impossible.witness.q == 0


@pytest.mark.slow
def test_a_pure_claim_met_with_equality_is_consistent_and_says_what_would_have_been_found():
    evidence = decide(Noise(kind="laplace", size=20), 20.0, samples=20_000)
    assert evidence.verdict == "consistent"
    limit = evidence.measured["detection_limit_delta"].upper
    final = evidence.samples * 0.98 / 2
    assert limit == pytest.approx(-math.log(0.05) / final, rel=1e-3)
    assert 1 - (1 - limit) ** final >= 0.95 - 1e-6
    assert evidence.measured["delta"].lower == 0
    assert limit < evidence.measured["delta"].upper < 30 / final
    assert 0 < evidence.measured["epsilon"].lower <= 20.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("delta", [0.0, 0.02, 0.1])
def test_agrees_with_the_exact_auditor(seed, delta):
    exact = decide(Table(seed=seed, known=True), 0.4, delta, method="exact")
    sampled = decide(Table(seed=seed), 0.4, delta, samples=100_000, confidence=1 - FALSE_ALARM)
    insisted = decide(Table(seed=seed, known=True), 0.4, delta, samples=100_000, method="likelihood")
    assert sampled.method == insisted.method == "likelihood"
    agreeing = {"proved": {"certified", "consistent", "inconclusive"}, "refuted": {"refuted", "inconclusive"}}
    assert sampled.verdict in agreeing[exact.verdict]
    truth, found = exact.measured["delta"], sampled.measured["delta"]
    assert found.lower <= truth.upper + 1e-12
    assert truth.lower <= found.upper
    if delta == 0:
        assert sampled.measured["epsilon"].lower == pytest.approx(exact.measured["epsilon"].lower, rel=1e-6)
    else:
        assert sampled.measured["epsilon"].lower <= exact.measured["epsilon"].upper
        assert exact.measured["epsilon"].lower <= (sampled.measured["epsilon"].upper or math.inf)
    curves, exact_curves = sampled.curves, exact.curves
    at = list(exact_curves.type_one).index(0.25)
    assert curves.type_two_lower[at] <= exact_curves.type_two_upper[at] + 1e-6


@pytest.mark.slow
def test_several_pairs_share_the_samples_and_the_worst_is_found():
    evidence = decide(Noise(pairs=30), 1.0, 0.1, samples=100_000)
    assert evidence.verdict == "refuted"
    assert {evidence.witness.data, evidence.witness.neighbour} == {0.0, 1.0}
    assert evidence.samples == 200_000
    assert "30 pairs" in evidence.scope
    truth = Noise().comparison().delta(1.0).lower
    assert evidence.measured["delta"].upper - evidence.measured["delta"].lower < 0.03
    assert evidence.measured["delta"].lower <= truth <= evidence.measured["delta"].upper


@pytest.mark.slow
def test_of_many_pairs_some_are_sampled_and_the_scope_says_so():
    evidence = decide(Noise(pairs=300), 2.0, 0.2, samples=2000)
    assert "256 of 300 pairs" in evidence.scope


@pytest.mark.slow
def test_curves_enclose_the_gaussian_ones():
    evidence = decide(Noise(), 1.0, 0.1, samples=200_000)
    curves = evidence.curves
    truth = Noise().comparison().privacy_profile(np.array(curves.epsilon))[0]
    assert np.all(np.array(curves.delta_lower) <= truth)
    assert np.all(truth <= np.array(curves.delta_upper))
    type_one = np.array(curves.type_one)
    truth = norm.cdf(norm.ppf(1 - type_one) - 1.0)
    assert np.all(np.array(curves.type_two_lower) <= truth + 1e-12)
    assert np.all(truth <= np.array(curves.type_two_upper) + 1e-12)
    assert np.max(np.subtract(curves.type_two_upper, curves.type_two_lower)) < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.1])
def test_curves_of_an_exact_audit(delta):
    class Known(Noise):
        """With its law."""

        def law(self, data):
            return dpaudit.GaussianLaw(data, self.scale)

    curves = decide(Known(), 1.0, delta, method="exact").curves
    assert 1.0 in curves.epsilon
    assert len(curves.epsilon) <= 27
    np.testing.assert_allclose(
        curves.delta_upper, Noise().comparison().privacy_profile(np.array(curves.epsilon))[0], rtol=1e-5, atol=1e-12
    )
    truth = norm.cdf(norm.ppf(1 - np.array(curves.type_one)) - 1.0)
    assert np.all(np.array(curves.type_two_lower) <= truth + 1e-6)
    assert np.all(truth <= np.array(curves.type_two_upper) + 1e-6)
    assert np.max(np.subtract(curves.type_two_upper, curves.type_two_lower)) < 3e-3


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize(
    "changes", [{"stated": 0.5}, {"stated": 2.0}, {"wrong": "another input"}, {"wrong": "unnormalised"}]
)
@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_a_likelihood_that_does_not_belong_to_the_sampler(kind, changes, delta):
    with pytest.raises(
        dpaudit.CheckError, match=r"noise: `log_likelihood` does not belong .* 0\.0 and 1\.0|1\.0 and 0"
    ):
        decide(Noise(kind=kind, **changes), 1.0, delta, samples=10_000)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1.0, 1 / 0.3, 0.7])
@pytest.mark.parametrize("seed", range(2))
def test_losses_that_repeat_up_to_rounding_are_no_mismatch(scale, seed):
    """Half of the losses of Laplace noise are the largest one, give or take a bit: at, and at parts of, the claim."""
    for factor in (1.0, 0.5, 1 / 3, 2.0):
        found = decide(Noise(kind="laplace", scale=scale), factor / scale, seed=seed, samples=20_000)
        assert found.verdict == ("consistent" if factor >= 1 else "refuted")
        assert decide(Noise(kind="laplace", scale=scale), factor / scale, 0.9, seed=seed, samples=2000)
    ratio = math.log(3)
    table = type(
        "Response",
        (Table,),
        {"laws": lambda self: np.array([[0.75, 0.25], [0.25, 0.75], [0.5, 0.5]]).repeat(2, axis=1)[:, :5] / 2},
    )
    sample = {"sample": lambda self, data, size, rng: rng.choice(4, size, p=self.laws()[data])}
    assert decide(type("Response", (table,), sample)(), ratio, seed=seed, samples=20_000).verdict == "consistent"


def broken(value):
    return type("Broken", (Noise,), {"log_likelihood": lambda self, outputs, data: value(outputs, data)})()


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (lambda o, d: np.zeros(len(o) + 1), dpaudit.CheckError, ["shape", "return shape"]),
        (lambda o, d: np.zeros((len(o), 1)), dpaudit.CheckError, ["shape"]),
        (lambda o, d: 0.0, dpaudit.CheckError, ["shape ()"]),
        (lambda o, d: np.full(len(o), np.nan), dpaudit.CheckError, ["NaN", "output"]),
        (lambda o, d: np.where(np.arange(len(o)) == 3, np.inf, 0.0), dpaudit.CheckError, ["+inf", "impossible"]),
        (lambda o, d: np.full(len(o), -np.inf), dpaudit.CheckError, ["impossible", "`sample` gave"]),
        (lambda o, d: ["a"] * len(o), dpaudit.CheckError, ["real number"]),
        (lambda o, d: np.zeros(len(o), complex), dpaudit.CheckError, ["real number"]),
        (lambda o, d: None if d else np.zeros(len(o)), dpaudit.CheckError, ["None"]),
        (lambda o, d: 1 / 0, dpaudit.TargetRaisedError, ["raised ZeroDivisionError", "input"]),
    ],
)
def test_broken_likelihoods_are_told_what_to_do(value, error, words):
    with pytest.raises(error) as caught:
        decide(broken(value), 1.0, 0.1, samples=1000)
    message = str(caught.value)
    assert message.startswith("broken: `")
    assert "\n" not in message
    assert all(word in message for word in words)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.0, 0.02])
def test_a_likelihood_that_leaves_out_what_tells_inputs_apart_certifies_nothing(delta):
    class Stub(Noise):
        def log_likelihood(self, outputs, data):
            return np.zeros(len(outputs))

    evidence = decide(Stub(kind="laplace"), 0.5, delta, samples=100_000)
    assert (evidence.verdict, evidence.method) == ("refuted", "black-box")
    assert "`log_likelihood`" in evidence.note
    assert 0.5 < evidence.measured["epsilon"].lower <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda values: values.astype(np.float32), "dtype float32.* double precision"),
        (lambda values: np.ma.masked_less(values, -3.0), "a masked array"),
        (lambda values: values.astype(np.longdouble) * np.longdouble("1e4000"), "calls impossible there"),
        (lambda values: np.where(values > -1.0, 1.7e308, -1.7e308), "does not belong to `sample`"),
    ],
)
def test_likelihoods_beyond_double_precision_or_short_of_it(change, words):
    class Changed(Noise):
        def log_likelihood(self, outputs, data):
            return change(super().log_likelihood(outputs, data))

    with pytest.raises(dpaudit.CheckError, match=words):
        decide(Changed(kind="laplace"), 1.0)


def test_likelihoods_whose_differences_are_rounding():
    class Tiny(Noise):
        def log_likelihood(self, outputs, data):
            return super().log_likelihood(outputs, data) * 1e-320

    assert decide(Tiny(kind="laplace"), 1.0, samples=5000).verdict == "consistent"


def test_a_likelihood_that_looks_at_more_than_one_output():
    class Scaled(Noise):
        def log_likelihood(self, outputs, data):
            values = super().log_likelihood(outputs, data)
            return values - values.max()

    with pytest.raises(dpaudit.CheckError, match="every output on its own"):
        decide(Scaled(), 1.0, 0.0)


@pytest.mark.slow
def test_a_likelihood_may_work_in_place():
    def in_place(outputs, data):
        outputs -= data
        outputs **= 2
        return -outputs.sum(axis=1) / 2

    assert decide(broken(in_place), 1.0, 0.2, samples=10_000).verdict == "certified"


@pytest.mark.slow
def test_which_method_is_taken():
    unknown = type("Unknown", (Noise,), {"log_likelihood": dpaudit.Mechanism.log_likelihood})()
    sometimes = broken(lambda outputs, data: None)
    for target in (unknown, sometimes):
        assert decide(target, 1.0, samples=1000).method == "black-box"
        with pytest.raises(dpaudit.CheckError, match=r"`log_likelihood.*black-box"):
            decide(target, 1.0, method="likelihood")
    assert decide(Noise(), 1.0, samples=1000, method="black-box").method == "black-box"
    with pytest.raises(dpaudit.CheckError, match="--method likelihood"):
        decide(Noise(), 1.0, method="exact")
    assert decide(Table(known=True), 1.0, 0.1).method == "exact"
    with pytest.raises(dpaudit.ParameterError, match="at least 1000"):
        decide(Noise(), 1.0, samples=999)
    with pytest.raises(dpaudit.CheckError, match="500"):
        decide(Noise(), 501.0, samples=1000)


@pytest.mark.slow
def test_equal_seeds_give_equal_evidence():
    one, again, other = (repr(decide(Noise(pairs=3), 1.0, 0.1, samples=3000, seed=s)) for s in (1, 1, 2))
    assert one == again != other


@pytest.mark.slow
@pytest.mark.parametrize("target", [Noise(), Noise(pairs=3), Table(seed=2)])
@pytest.mark.parametrize("side", [-1, 1])
def test_rates_of_false_verdicts(target, side):
    """Claims just beside the truth; each wrong verdict must come out with half the error probability at most."""
    confidence, runs = 0.6, 100
    if isinstance(target, Noise):
        truth = Noise().comparison().delta(1.0).lower
    else:
        truth = decide(Table(seed=2, known=True), 0.3, 0.1, method="exact").measured["delta"].lower
    epsilon = 1.0 if isinstance(target, Noise) else 0.3
    wrong = "certified" if side < 0 else "refuted"
    delta, alpha = truth * (1 + side * 1e-6), (1 - confidence) / 2

    def is_wrong(seed):
        return decide(target, epsilon, delta, seed=seed, samples=1000, confidence=confidence).verdict == wrong

    found, made = counted(is_wrong, runs, alpha=alpha)
    assert found <= most(made, alpha)
