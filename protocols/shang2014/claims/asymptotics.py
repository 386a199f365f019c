"""Section III-C: the error rate as the number of agents grows."""

import math
from typing import Any

import numpy as np

import dpaudit

from ..bounds import (
    general_density,
    lemma3,
    lemma3_corrected,
    rule_of,
    tail_integral,
    theorem2,
    tightest,
    undefined,
    upper_tail,
)
from ..error_rate import PROFILES, exact_error, is_integrable
from ..exact_errors import order_kept_probability
from ..gaussian_histogram import GaussianHistogram
from ..paper import PAPER
from .shared import LazyNumbers, error_bound, falling_error, relative, setting, unless_bounded, unless_positional


@dpaudit.claim(
    "shang2014.lemma3",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(section="III-C", lemma=3),
    statement="For every τ > 0 the error rate is at most C(M,2) √2 (M! - 1) Q(τ / (2σ̂)) τ + Q(τ / σ̂).",
)
def lemma3_for_every_tau(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    beside: dict[str, Any] = {"at tau = 1/sqrt 2": lemma3(system, 1 / math.sqrt(2) / system.share_noise)}
    if is_integrable(system):
        beside["fails from tau"] = lambda: _fails_from(system) * system.share_noise
    return error_bound(system, 0.0, trivial=None, beside=LazyNumbers(beside))


def _fails_from(system: GaussianHistogram) -> float:
    """First x, to one per cent, at which the right side of Lemma 3 is below the error rate; it is 0 at the last x."""
    exact = exact_error(system)
    steps: list[float] = np.geomspace(1e-2, 1e2, 921).tolist()
    return next(x for x in steps if lemma3(system, x) < exact)


@dpaudit.claim(
    "shang2014.lemma3-equation24",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(section="III-C", lemma=3, note="at Equation 24"),
    statement="The error rate is at most the right side of Lemma 3 at the τ of Eq. 24.",
)
def lemma3_at_equation24(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    best = tightest(system, density=general_density(system))
    return error_bound(
        system,
        lemma3(system, best),
        beside={"tau": best * system.share_noise},
        inapplicable=undefined(system) or unless_bounded(system),
    )


@dpaudit.claim(
    "shang2014.lemma3-corrected",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(
        section="III-C", lemma=3, note="with the integral in place of Jensen's inequality and τ to infinity"
    ),
    statement="The error rate is at most C(M,2) (M! - 1) σ̂ / √π.",
    ours=True,
    mends=["shang2014.lemma3", "shang2014.lemma3-equation24"],
)
def lemma3_without_jensen(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    return error_bound(system, lemma3_corrected(system, general_density(system)))


@dpaudit.claim(
    "shang2014.lemma3-improves",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="III-C", lemma=3, part="after"),
    statement="For every τ > 0 the right side of Lemma 3 is at most that of Theorem 2.",
)
def lemma3_improves(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    def sides(x: float) -> dict[str, float]:
        return {"claimed": theorem2(system, x, density=general_density(system)), "actual": lemma3(system, x)}

    return dpaudit.LemmaClaim(
        margin=lambda x: relative(**sides(x)),
        variables={"x": dpaudit.Reals(0.0, 40.0)},
        explain=sides,
        scope=f"x = τ / σ̂ from 0 to 40, σ̂ = {system.share_noise:.6g}, M = {system.alternatives}",
    )


def _averages(x: float) -> dict[str, float]:
    return {"claimed": x * upper_tail(x / 2), "actual": tail_integral(x)}


@dpaudit.claim(
    "shang2014.lemma3-jensen",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="III-C", lemma=3, part="proof", equation=28),
    statement="The integral of Q from 0 to x is at most x Q(x / 2).",
)
def lemma3_jensen(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=lambda x: _averages(x)["claimed"] - _averages(x)["actual"],
        instances=[{"x": x} for x in (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)],
        explain=_averages,
        scope="x = τ / σ̂",
    )


@dpaudit.claim(
    "shang2014.lemma3-jensen-reversed",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="III-C", lemma=3, part="proof", equation=28, note="the right way round"),
    statement="The integral of Q from 0 to x is at least x Q(x / 2).",
    ours=True,
    mends="shang2014.lemma3-jensen",
)
def lemma3_jensen_reversed(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=lambda x: _averages(x)["actual"] - _averages(x)["claimed"],
        variables={"x": dpaudit.Reals(0.0, 40.0)},
        explain=lambda x: {"claimed": _averages(x)["actual"], "actual": _averages(x)["claimed"]},
        scope="x from 0 to 40",
    )


@dpaudit.claim(
    "shang2014.theorem3",
    GaussianHistogram,
    kind="rate",
    place=PAPER.at(section="III-C", theorem=3),
    statement=(
        "For any fixed ϵ, δ and M and any positional rule the error rate goes to 0 as N grows; here as N^-0.5 or "
        "faster (a constant chosen here)."
    ),
)
def theorem3(system: GaussianHistogram) -> dpaudit.RateClaim:
    return falling_error(system, -0.5)


@dpaudit.claim(
    "shang2014.theorem3-independent",
    GaussianHistogram,
    kind="rate",
    place=PAPER.at(section="III-C", theorem=3, note="for independent uniform rankings"),
    statement="Where every agent's ranking is uniform and independent, the error rate falls as 1/√N and no faster.",
    ours=True,
)
def theorem3_independent(system: GaussianHistogram) -> dpaudit.RateClaim:
    rule = rule_of(system)

    def error(agents: float, runs: int, rng: np.random.Generator) -> np.ndarray:
        scores = rule.score_histograms(
            rng.multinomial(int(agents), np.full(cells, 1 / cells), size=runs).astype(float),
        )
        return 1 - order_kept_probability(scores, system.noise.scale * rule.gap_norm / math.sqrt(2), rng)

    # From where noise on a count is a tenth of the standard deviation that the count itself has.
    cells = math.factorial(system.alternatives)
    first = 100 * system.noise.scale**2 * cells
    return dpaudit.RateClaim(
        variable="agents",
        points=[math.ceil(first * 10 ** (i / 3)) for i in range(7)],
        exponent=-0.5,
        direction="equal",
        measure=error,
        runs=400_000,
        quantity="error rate",
        scope=f"{setting(system)}, ϵ = {system.epsilon:g}, δ = {system.failure:g}, {PROFILES['independent']}",
        inapplicable=unless_positional(system)
        if system.profiles == "independent"
        else "it is about independent agents",
    )
