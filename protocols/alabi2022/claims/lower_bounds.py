"""Lower bounds: Theorems 13 and 14."""

import math
from collections.abc import Callable

import dpaudit

from .. import floors
from ..marginals_reduction import EXACT, LONGEST_CODE, MarginalsReduction
from ..paper import LOWER_BOUNDS, PAPER

THEOREM13 = PAPER.at(section=LOWER_BOUNDS, theorem=13)


@dpaudit.claim(
    "alabi2022.theorem13-one-system",
    MarginalsReduction,
    kind="utility",
    place=PAPER.at(section=LOWER_BOUNDS, theorem=13, note="for one system, with n = o(m / ϵ) as n <= 0.25 m / ϵ"),
    ours=True,
    statement=(
        "At the stated ϵ, m and n <= 0.25 m / ϵ: the stated ϵ-DP system errs, on average over the code, by at least "
        "0.01 m^2, a corollary of Theorem 13."
    ),
)
def theorem13_one_system(reduction: MarginalsReduction) -> dpaudit.UtilityClaim:
    bound = floors.SHARE * reduction.alternatives**2

    def beyond() -> str:
        """Say why Theorem 13 with its constants says nothing here."""
        spent, most = reduction.epsilon * reduction.agents, floors.AGENTS_SHARE * reduction.alternatives
        if spent > most:
            return f"ϵ n = {spent:g} is above {floors.AGENTS_SHARE:g} m = {most:g}"
        floor = floors.pure_floor(reduction)
        if floor < bound:
            return f"these d, t and code carry a floor of {floor:.4g} only, below {bound:.4g}"
        return ""

    return _error_claim(reduction, lambda: bound, lambda: _impure(reduction) or beyond())


@dpaudit.claim(
    "alabi2022.theorem13-constant",
    MarginalsReduction,
    kind="lemma",
    place=THEOREM13,
    statement=(
        "For every ϵ > 0, m as listed and n <= 0.25 m / ϵ: every ϵ-DP algorithm has, whatever its approximation ratio, "
        "an additive error of at least 0.01 m^2 on some profile."
    ),
)
def theorem13_constant(reduction: MarginalsReduction) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=lambda alternatives: floors.largest_floor(alternatives) / alternatives**2 - floors.SHARE,
        instances=[{"alternatives": m} for m in (*range(2, 301), 1000, 3000, 10_000)],
        complete=True,
        explain=lambda alternatives: {
            "actual": floors.largest_floor(alternatives),
            "claimed": floors.SHARE * alternatives**2,
        },
        scope=f"m from 2 to 300, 1000, 3000 and 10000, at ϵ n = {floors.AGENTS_SHARE:g} m; d = m / 2, where OPT = 0",
    )


@dpaudit.claim(
    "alabi2022.theorem13-packing",
    MarginalsReduction,
    kind="utility",
    place=PAPER.at(section=LOWER_BOUNDS, theorem=13, note="for one system, by packing"),
    ours=True,
    statement=(
        "At the stated ϵ, m and n: the stated ϵ-DP system errs, on average over the code, by at least what disjoint "
        "balls around the words leave to an ϵ-DP algorithm."
    ),
)
def theorem13_packing(reduction: MarginalsReduction) -> dpaudit.UtilityClaim:
    return _error_claim(reduction, lambda: floors.packing_floor(reduction), lambda: _impure(reduction))


@dpaudit.claim(
    "alabi2022.theorem13-floor",
    MarginalsReduction,
    kind="utility",
    place=PAPER.at(section=LOWER_BOUNDS, theorem=13, note="for one system, with the best constant"),
    ours=True,
    statement=(
        "At the stated ϵ, m and n: the stated ϵ-DP system errs, on average over the code, by at least what "
        "probabilities within e^(ϵ n) of each other allow."
    ),
)
def theorem13_floor(reduction: MarginalsReduction) -> dpaudit.UtilityClaim:
    return _error_claim(reduction, lambda: floors.pure_floor(reduction), lambda: _impure(reduction))


@dpaudit.claim(
    "alabi2022.theorem14-packing",
    MarginalsReduction,
    kind="utility",
    place=PAPER.at(section=LOWER_BOUNDS, theorem=14, note="for one system, by packing and not by fingerprinting"),
    ours=True,
    statement=(
        "At the stated ϵ, δ, m and n: the stated (ϵ, δ)-DP system errs, on average over the code, by at least what "
        "balls around the words leave to an (ϵ, δ)-DP algorithm, with δ (e^(ϵ n) - 1) / (e^ϵ - 1) for n replacements. "
        "That reaches n of the order of log(1 / δ) / ϵ; Theorem 14's sqrt(m) / ϵ is not audited."
    ),
)
def theorem14_packing(reduction: MarginalsReduction) -> dpaudit.UtilityClaim:
    pure = "" if reduction.delta > 0 else "delta is 0; see alabi2022.theorem13-floor"
    return _error_claim(reduction, lambda: floors.approximate_floor(reduction), lambda: pure)


def _impure(reduction: MarginalsReduction) -> str:
    return "" if reduction.delta == 0 else "delta is above 0; see alabi2022.theorem14-packing"


def _error_claim(
    reduction: MarginalsReduction, bound: Callable[[], float], inapplicable: Callable[[], str]
) -> dpaudit.UtilityClaim:
    """Claim that the system's error on the hard instances is at least a floor."""
    if reduction.dimensions > LONGEST_CODE:
        reason = f"no code is listed for words of {reduction.dimensions} places; codes are listed up to {LONGEST_CODE}"
        return dpaudit.UtilityClaim(bound=0.0, direction="at-least", inapplicable=reason)
    exact = reduction.system == EXACT
    return dpaudit.UtilityClaim(
        bound=bound(),
        direction="at-least",
        exact=reduction.exact_error if exact else None,
        measure=None if exact else reduction.errors,
        runs=2000,
        support=(0.0, float(math.comb(reduction.alternatives, 2))),
        quantity="additive error E[K(σ, Π)], OPT = 0",
        scope=f"n = {reduction.agents} agents who all hold π^x, x uniform over {len(reduction.words())} words, "
        f"d = {reduction.dimensions}, t = {reduction.padding}, {reduction.system} at its nominal ϵ",
        inapplicable=inapplicable(),
    )
