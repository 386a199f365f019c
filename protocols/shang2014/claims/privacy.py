"""Section II-C: privacy of the noisy histogram."""

import math
from functools import cache, partial
from typing import Literal

import numpy as np

import dpaudit
from dpaudit import rankings

from ..error_rate import uniform_histograms
from ..gaussian_histogram import LARGEST_AUDITED_HISTOGRAM, GaussianHistogram, NoisyHistogram, calibrated_noise
from ..paper import PAPER
from .shared import LazyNumbers, setting, unless_measurable

THEOREM1 = PAPER.at(section="II-C", theorem=1)
REPLACED = PAPER.at(section="II-C", theorem=1, note="for a ranking that is replaced")
AFTER_EQUATION5 = PAPER.at(section="II-C", equation=5, part="after")
LARGEST_DELTA = 2 / math.e
SENSITIVITY = {"add-remove": 1.0, "substitution": math.sqrt(2)}


@dpaudit.claim(
    "shang2014.sensitivity",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="II-C"),
    statement="Adding or removing any one ranking changes the histogram by 1 in the l2 norm.",
)
def sensitivity(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    inapplicable = _unless_audited(system)

    def change(ranking: int) -> float:
        released = NoisyHistogram(epsilon=system.epsilon, delta=system.failure, alternatives=system.alternatives)
        one = rankings.all_rankings(system.alternatives)[ranking : ranking + 1]
        return float(np.linalg.norm(released.counts(one) - released.counts(one[:0])))

    return dpaudit.LemmaClaim(
        margin=lambda ranking: -abs(change(ranking) - 1),
        instances=[{"ranking": each} for each in range(0 if inapplicable else math.factorial(system.alternatives))],
        complete=True,
        explain=lambda ranking: {"claimed": 1.0, "actual": change(ranking)},
        scope=f"every ranking of {system.alternatives} alternatives; counts add up, so that other agents do not matter",
        inapplicable=inapplicable,
    )


@dpaudit.claim(
    "shang2014.laplace-stronger",
    GaussianHistogram,
    kind="lemma",
    place=AFTER_EQUATION5,
    statement="Laplace noise gives stronger privacy: (ϵ, 0) at scale 1/ϵ, where Gaussian noise has δ > 0 at every ϵ.",
)
def laplace_stronger(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    def sides(epsilon: float) -> dict[str, float]:
        laws = dpaudit.LaplaceLaw(1.0, 1 / epsilon), dpaudit.LaplaceLaw(0.0, 1 / epsilon)
        pure = dpaudit.compare(*laws).epsilon(0.0).upper
        assert pure is not None
        return {"ϵ of Laplace": pure, "δ of Gaussian": exact_delta(epsilon, system.failure, "add-remove")}

    return dpaudit.LemmaClaim(
        margin=lambda epsilon: min(
            epsilon * (1 + 1e-9) - sides(epsilon)["ϵ of Laplace"], sides(epsilon)["δ of Gaussian"]
        ),
        instances=[{"epsilon": epsilon} for epsilon in (0.05, 0.1, 0.24, 1.0, 5.0)],
        explain=sides,
        scope=f"ϵ from 0.05 to 5, δ = {system.failure:g}, one ranking added or removed",
    )


@dpaudit.claim(
    "shang2014.laplace-errs-less",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(section="II-C", equation=5, part="after", note="on the error rate"),
    statement="At these ϵ, δ and N the error rate with Laplace noise of scale 1/ϵ is below that with Eq. 5's noise.",
    ours=True,
)
def laplace_errs_less(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    def measure(runs: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        histograms = uniform_histograms(system, runs, rng)
        truth = system.aggregate(histograms, rng)
        noises = {
            "Gaussian": system.noise.randomize(histograms, rng),
            "Laplace": histograms + rng.laplace(scale=1 / system.epsilon, size=histograms.shape),
        }
        wrong = {
            name: (system.aggregate(noisy, rng) != truth).any(axis=1).astype(float) for name, noisy in noises.items()
        }
        return {"value": wrong["Laplace"] - wrong["Gaussian"], **wrong}

    return dpaudit.UtilityClaim(
        bound=0.0,
        measure=measure,
        runs=20_000,
        support=(-1.0, 1.0),
        beside_support=(0.0, 1.0),
        quantity="error rate with Laplace noise less that with Gaussian noise",
        scope=f"{setting(system)}, N = {system.agents}, ϵ = {system.epsilon:g}, δ = {system.failure:g}",
        inapplicable=unless_measurable(system),
    )


@dpaudit.claim(
    "shang2014.laplace-less-noise",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="II-C", equation=5, part="after", note="on the variance"),
    statement="At every ϵ and δ < 2/e Laplace noise of scale 1/ϵ has the smaller variance than that of Eq. 5.",
    ours=True,
)
def laplace_less_noise(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    def variances(epsilon: float, share: float) -> dict[str, float]:
        gaussian = calibrated_noise(epsilon, share * LARGEST_DELTA).scale ** 2
        return {"claimed": gaussian, "actual": 2 / epsilon**2}

    return dpaudit.LemmaClaim(
        margin=lambda epsilon, share: 1 - variances(epsilon, share)["actual"] / variances(epsilon, share)["claimed"],
        instances=[{"epsilon": system.epsilon, "share": system.failure / LARGEST_DELTA}],
        variables={"epsilon": dpaudit.Reals(1e-3, 1e3), "share": dpaudit.Reals(1e-12, 1.0)},
        explain=variances,
        scope="δ is a share of 2/e",
    )


@dpaudit.claim(
    "shang2014.theorem1",
    GaussianHistogram,
    kind="privacy",
    place=[THEOREM1, PAPER.at(section="II-C", equation=5)],
    statement="At every ϵ, δ, M and N, with σ^2 = 2 ln(2/δ) / ϵ^2 the noisy histogram is (ϵ, δ)-DP.",
)
def theorem1(system: GaussianHistogram) -> dpaudit.PrivacyClaim:
    return _private(system, view="histogram", inapplicable=_unless_added(system))


@dpaudit.claim(
    "shang2014.theorem1-substitution",
    GaussianHistogram,
    kind="privacy",
    place=REPLACED,
    statement="With σ^2 = 2 ln(2/δ) / ϵ^2 the noisy histogram is (ϵ, δ)-DP also where one ranking is replaced.",
    ours=True,
)
def theorem1_substitution(system: GaussianHistogram) -> dpaudit.PrivacyClaim:
    added = "here neighbours differ by a ranking that is added or removed, as in the paper"
    return _private(system, view="histogram", inapplicable=added if system.relation == "add-remove" else "")


@dpaudit.claim(
    "shang2014.theorem1-scaled",
    GaussianHistogram,
    kind="privacy",
    place=[REPLACED, PAPER.at(section="II-C", equation=4)],
    statement=(
        "With √2 as a factor of σ the noisy histogram is (ϵ, δ)-DP where one ranking is replaced, for every M and "
        "every ϵ at which Eq. 5 suffices for one that is added: up to 8.99 at δ = 1e-4."
    ),
    ours=True,
    mends="shang2014.theorem1-substitution",
)
def theorem1_scaled(system: GaussianHistogram) -> dpaudit.PrivacyClaim:
    enough = exact_delta(system.epsilon, system.failure, "add-remove") <= system.failure
    beyond = "even for one ranking that is added the noise is too little at this ϵ"
    return _private(system, view="scaled-histogram", inapplicable="" if enough else beyond)


@dpaudit.claim(
    "shang2014.theorem1-every-epsilon",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="II-C", theorem=1, note="which states no range of ϵ"),
    statement="With σ^2 = 2 ln(2/δ) / ϵ^2 the noisy histogram is (ϵ, δ)-DP at every ϵ > 0; where that fails first.",
    ours=True,
)
def theorem1_every_epsilon(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    delta = system.failure
    relation: Literal["add-remove", "substitution"] = "add-remove"
    factors = np.geomspace(1e-3, 1.01, 100).tolist()

    def threshold(factor: float = 1.0) -> float:
        return largest_private_epsilon(delta, relation) * factor

    return dpaudit.LemmaClaim(
        margin=lambda epsilon: 1 - exact_delta(epsilon, delta, relation) / delta,
        instances=[LazyNumbers({"epsilon": partial(threshold, factor)}) for factor in factors],
        explain=lambda epsilon: {
            "claimed": delta,
            "actual": exact_delta(epsilon, delta, relation),
            "holds up to epsilon": threshold(),
        },
        scope=f"δ = {delta:g}, {relation}; exact δ at 100 ϵ up to 1.01 of where it fails first",
        inapplicable=_unless_added(system),
    )


@dpaudit.claim(
    "shang2014.theorem1-every-epsilon-mended",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="II-C", theorem=1, note="with a noise for every ϵ"),
    statement="With σ = (√ln(1/δ) + √(ln(1/δ) + ϵ)) / (√2 ϵ) the noisy histogram is (ϵ, δ)-DP at every ϵ > 0.",
    ours=True,
    mends=["shang2014.theorem1", "shang2014.theorem1-every-epsilon"],
)
def theorem1_mended(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    """Bun and Steinke 2016: the noise of (ρ + 2 √(ρ ln(1/δ)), δ)-DP by ρ-zero-concentrated DP."""

    def sides(log_epsilon: float, log_delta: float) -> dict[str, float]:
        epsilon, delta = math.exp(log_epsilon), math.exp(log_delta)
        scale = (math.sqrt(-log_delta) + math.sqrt(epsilon - log_delta)) / (math.sqrt(2) * epsilon)
        return {"claimed": delta, "actual": delta_at(epsilon, scale, "add-remove")}

    return dpaudit.LemmaClaim(
        margin=lambda **both: 1 - sides(**both)["actual"] / sides(**both)["claimed"],
        instances=[
            {"log_epsilon": math.log(epsilon), "log_delta": math.log(system.failure)}
            for epsilon in (0.05, 0.24, 1.0, 8.0, 10.0, 100.0)
        ],
        variables={"log_epsilon": dpaudit.Reals(-5.0, 6.0), "log_delta": dpaudit.Reals(-20.0, -0.1)},
        explain=sides,
        scope="ln ϵ from -5 to 6 and ln δ from -20 to -0.1, one ranking added or removed",
    )


def exact_delta(epsilon: float, delta: float, relation: Literal["add-remove", "substitution"]) -> float:
    """Exact δ of the noisy histogram at ϵ, with the noise that Equation 5 takes for ϵ and the claimed δ."""
    return delta_at(epsilon, calibrated_noise(epsilon, delta).scale, relation)


def delta_at(epsilon: float, scale: float, relation: Literal["add-remove", "substitution"]) -> float:
    """Exact δ of the histogram at ϵ with Gaussian noise of a given scale."""
    laws = dpaudit.GaussianLaw(SENSITIVITY[relation], scale), dpaudit.GaussianLaw(0.0, scale)
    exact = dpaudit.compare(*laws).delta(epsilon).upper
    assert exact is not None
    return exact


@cache
def largest_private_epsilon(delta: float, relation: Literal["add-remove", "substitution"]) -> float:
    """ϵ above which Equation 5 gives too little noise: the first on a fine grid, refined."""
    from scipy.optimize import brentq

    def excess(log_epsilon: float) -> float:
        return exact_delta(math.exp(log_epsilon), delta, relation) / delta - 1

    grid = np.linspace(math.log(1e-6), math.log(1e3), 400).tolist()
    first = next(i for i, log_epsilon in enumerate(grid) if excess(log_epsilon) > 0)
    return math.exp(brentq(excess, grid[first - 1], grid[first], xtol=1e-12))


def _private(system: GaussianHistogram, *, view: str, inapplicable: str = "") -> dpaudit.PrivacyClaim:
    return dpaudit.PrivacyClaim(
        epsilon=system.epsilon, delta=system.failure, view=view, inapplicable=inapplicable or _unless_audited(system)
    )


def _unless_added(system: GaussianHistogram) -> str:
    if system.relation != "add-remove":
        return "Section II-B has neighbours with one entry more or one less"
    return _unless_audited(system)


def _unless_audited(system: GaussianHistogram) -> str:
    if system.alternatives <= LARGEST_AUDITED_HISTOGRAM:
        return ""
    return f"audited up to {LARGEST_AUDITED_HISTOGRAM} alternatives; the further cells do not change"
