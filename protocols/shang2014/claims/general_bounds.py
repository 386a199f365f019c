"""Section III-B from Lemma 2 on: bounds on the error rate of any positional rule."""

import math
from collections.abc import Callable

import dpaudit

from ..bounds import (
    equation24_argument,
    equation26_at_best,
    equation27,
    general_density,
    normal_density,
    pairs,
    rule_of,
    theorem2,
    theorem2_at_best,
    tightest,
    undefined,
    union,
    upper_tail,
)
from ..error_rate import is_integrable
from ..exact_errors import largest_pair_distance, pair_distance_density, pair_flip_probability, three_way_error
from ..gaussian_histogram import GaussianHistogram
from ..paper import PAPER
from .shared import error_bound, falling_error, relative, setting, unless_bounded, unless_positional


@dpaudit.claim(
    "shang2014.lemma2",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(section="III-B", lemma=2),
    statement="For every τ > 0 the error rate is at most C(M,2) 2 ∫_0^τ p_D(l) Q(l / σ̂) dl + Q(τ / σ̂).",
)
def lemma2(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    at_infinity = union(system)
    # The derivative has the sign of C(M,2) 2 p_D(τ) σ̂ Q(x) / φ(x) - 1, which falls: the ends are smallest.
    return error_bound(system, min(0.5, at_infinity), beside={"as tau goes to 0": 0.5, "as tau grows": at_infinity})


@dpaudit.claim(
    "shang2014.lemma2-corrected",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(section="III-B", lemma=2, note="with the tail of every pair"),
    statement="For every τ > 0 the error rate is at most C(M,2) (2 ∫_0^τ p_D(l) Q(l / σ̂) dl + Q(τ / σ̂)).",
    ours=True,
    mends=["shang2014.lemma2", "shang2014.equation17", "shang2014.equation18"],
)
def lemma2_corrected(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    return error_bound(system, union(system))


@dpaudit.claim(
    "shang2014.equation17",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="III-B", lemma=2, part="proof", equation=17),
    statement="Errors at profiles within τ of a hyperplane are at most C(M,2) reversals of a pair within τ.",
)
def equation17(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    rule, noise = rule_of(system), system.share_noise

    def high_error(x: float) -> dict[str, float]:
        beyond, _ = three_way_error(rule, noise, beyond=x * noise)
        within = pair_flip_probability(rule, noise, within=x * noise)
        everywhere, _ = three_way_error(rule, noise)
        return {"claimed": pairs(system) * within, "actual": everywhere - beyond}

    return _region(system, high_error)


@dpaudit.claim(
    "shang2014.equation18",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="III-B", lemma=2, part="proof", equation=18),
    statement="Errors at profiles beyond τ of all hyperplanes are at most Q(τ / σ̂) of these profiles.",
)
def equation18(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    def low_error(x: float) -> dict[str, float]:
        error, mass = three_way_error(rule_of(system), system.share_noise, beyond=x * system.share_noise)
        return {"claimed": mass * upper_tail(x), "actual": error}

    return _region(system, low_error)


def _region(system: GaussianHistogram, sides: Callable[[float], dict[str, float]]) -> dpaudit.LemmaClaim:
    """Return the claim about one of the two regions of the simplex that Lemma 2's proof tells apart."""
    rule, noise = rule_of(system), system.share_noise
    # The farthest profile from both hyperplanes next to it: a mixture of one ballot with that of two swapped.
    middle = rule.scores[1]
    farthest = (1 + min(middle, 1 - middle)) / 3 * largest_pair_distance(rule)
    far = [share * farthest / noise for share in (0.5, 0.9, 0.97, 0.99, 0.995)]
    return dpaudit.LemmaClaim(
        margin=lambda x: relative(**sides(x)),
        instances=[{"x": x} for x in (0.01, 0.1, 0.5, 1.0, 2.0, 4.0, *far)],
        explain=sides,
        tolerance=1e-6,
        scope=f"x = τ / σ̂ at σ̂ = {noise:.6g}, {system.rule}, M = 3, integrated",
        inapplicable="" if is_integrable(system) else "integrated for 3 alternatives on the simplex",
    )


@dpaudit.claim(
    "shang2014.theorem2",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(section="III-B", theorem=2),
    statement="For every τ > 0 the error rate is at most C(M,2) (M! - 1) τ / √2 + Q(τ / σ̂).",
)
def theorem2_for_every_tau(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    density = general_density(system)
    tau = tightest(system, density=density) * system.share_noise
    return error_bound(system, theorem2_at_best(system, density=density), beside={"tightest tau": tau})


@dpaudit.claim(
    "shang2014.theorem2-equation24",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(section="III-B", theorem=2, note="at Equation 24"),
    statement="The error rate is at most the right side of Theorem 2 at the τ of Eq. 24.",
)
def theorem2_at_equation24(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    density = general_density(system)
    best = tightest(system, density=density)
    return error_bound(
        system,
        theorem2(system, best, density=density),
        beside={"tau": best * system.share_noise},
        inapplicable=undefined(system) or unless_bounded(system),
    )


@dpaudit.claim(
    "shang2014.theorem2-corrected",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(section="III-B", theorem=2, note="with the tail of every pair"),
    statement="For every τ > 0 the error rate is at most C(M,2) ((M! - 1) τ / √2 + Q(τ / σ̂)).",
    ours=True,
    mends="shang2014.theorem2",
)
def theorem2_corrected(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    density, tail = general_density(system), pairs(system)
    tau = tightest(system, density=density, tail=tail) * system.share_noise
    return error_bound(system, theorem2_at_best(system, density=density, tail=tail), beside={"tightest tau": tau})


@dpaudit.claim(
    "shang2014.equation22",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(section="III-B", theorem=2, part="proof", equation=22),
    statement="The density of the distance at 0 is at most (M! - 1) / √2.",
)
def equation22(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    return dpaudit.UtilityClaim(
        bound=general_density(system),
        exact=lambda: float(pair_distance_density(rule_of(system), 0.0)),
        support=(0.0, math.inf),
        quantity="p_D(0)",
        scope=setting(system),
        inapplicable=unless_positional(system),
    )


@dpaudit.claim(
    "shang2014.equation24",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="III-B", theorem=2, part="after", equation=24),
    statement="For all ϵ, δ, M and N the τ of Eq. 24 is real, and no other makes the right side of Theorem 2 smaller.",
)
def equation24(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    if not undefined(system):
        return _smallest_at_equation24(system)
    radicand = -2 * math.log(equation24_argument(system, density=general_density(system)))
    return dpaudit.LemmaClaim(
        margin=lambda: radicand,
        instances=[{}],
        complete=True,
        explain=lambda: {"claimed": radicand, "actual": 0.0},
        scope="what Equation 24 takes the root of, which should be at least 0",
    )


@dpaudit.claim(
    "shang2014.equation24-mended",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="III-B", theorem=2, part="after", equation=24, note="with a condition"),
    statement="Where ϵ N > √(π ln(2/δ) / 2) M (M - 1) (M! - 1), no τ has a smaller right side of Thm. 2 than Eq. 24's.",
    ours=True,
    mends=["shang2014.equation24", "shang2014.theorem2-equation24"],
)
def equation24_mended(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    return _smallest_at_equation24(system)


def _smallest_at_equation24(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    density = general_density(system)
    best = tightest(system, density=density)
    at_best = theorem2(system, best, density=density)
    return dpaudit.LemmaClaim(
        margin=lambda ratio: theorem2(system, ratio * best, density=density) - at_best,
        variables={"ratio": dpaudit.Reals(1e-3, 30.0)},
        instances=[{"ratio": 1 + step} for step in (-0.1, -1e-3, 1e-3, 0.1)],
        scope="τ from a thousandth to 30 times that of Equation 24",
        inapplicable=undefined(system),
    )


@dpaudit.claim(
    "shang2014.equation25",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="III-B", theorem=2, part="after", equation=25),
    statement="For every x > 0, Q(x) is at most exp(-x²/2) / (√(2π) x).",
)
def equation25(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=lambda x: normal_density(x) / x - upper_tail(x),
        variables={"x": dpaudit.Reals(1e-6, 37.0)},
        explain=lambda x: {"claimed": normal_density(x) / x, "actual": upper_tail(x)},
        scope="x from 0 to 37",
    )


@dpaudit.claim(
    "shang2014.equation26-step",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="III-B", theorem=2, part="after", equation=(25, 26)),
    statement="Q(x) is at most the last term of Equation 26, exp(-x²/2) / (2 √(2π) x).",
)
def equation26_step(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    def sides(x: float) -> dict[str, float]:
        return {"claimed": normal_density(x) / (2 * x), "actual": upper_tail(x)}

    return dpaudit.LemmaClaim(
        margin=lambda x: sides(x)["claimed"] - sides(x)["actual"],
        instances=[{"x": x} for x in (0.25, 0.5, 1.0, 2.0, 4.0)],
        explain=sides,
        scope="x = ϵ N τ / √(2 ln(2/δ))",
    )


@dpaudit.claim(
    "shang2014.equation26",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(section="III-B", theorem=2, part="after", equation=26),
    statement="For every τ > 0 the error rate is at most C(M,2) (M! - 1) τ / √2 + σ̂ exp(-τ²/(2σ̂²)) / (2 √(2π) τ).",
)
def equation26(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    return error_bound(system, equation26_at_best(system, factor=0.5))


@dpaudit.claim(
    "shang2014.equation26-meant",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(
        section="III-B", theorem=2, part="after", equation=26, note="with the factor that Equation 25 gives"
    ),
    statement="For every τ > 0 the error rate is at most C(M,2) (M! - 1) τ / √2 + σ̂ exp(-τ²/(2σ̂²)) / (√(2π) τ).",
    mends="shang2014.equation26-step",
)
def equation26_meant(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    return error_bound(system, equation26_at_best(system, factor=1.0))


@dpaudit.claim(
    "shang2014.equation27",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(section="III-B", theorem=2, part="after", equation=27),
    statement="The error rate is at most (C(M,2) (M! - 1) √(2 ln N ln(2/δ)) / ϵ + 1 / (2 √(π ln N))) / N.",
)
def equation27_as_printed(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    if system.agents == 1:
        return error_bound(system, 0.0, inapplicable="its last term is divided by ln N, which is 0 for a single agent")
    return error_bound(system, equation27(system))


@dpaudit.claim(
    "shang2014.equation27-rate",
    GaussianHistogram,
    kind="rate",
    place=PAPER.at(section="III-B", theorem=2, part="after", equation=27, note="on the rate"),
    statement="For fixed ϵ, δ and M and any positional rule the error rate falls at least as fast as √(ln N) / N.",
)
def equation27_rate(system: GaussianHistogram) -> dpaudit.RateClaim:
    return falling_error(system, -1.0, shape=lambda agents: math.sqrt(math.log(agents)))
