"""Section IV: the bounds of a given rule, and Figures 2 and 3."""

from functools import partial
from typing import Any

import dpaudit

from .bounds import (
    general_density,
    lemma3,
    lemma3_corrected,
    pairs,
    rule_of,
    theorem2,
    theorem2_at_best,
    tightest,
    union,
)
from .claims.shared import LazyNumbers, error_bound
from .error_rate import errors, exact_error, is_integrable
from .exact_errors import pair_distance_density
from .gaussian_histogram import GaussianHistogram
from .paper import PAPER


@dpaudit.claim(
    "shang2014.borda-bound",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(section="IV"),
    statement="For every τ > 0 the error rate is at most C(M,2) p_D(0) τ + Q(τ / σ̂), with the rule's own p_D(0).",
)
def borda_bound(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    own = own_density(system)
    return error_bound(
        system,
        theorem2_at_best(system, density=own),
        beside={
            "tightest tau": tightest(system, density=own) * system.share_noise,
            "density at 0": own,
            "largest density at 0": general_density(system),
        },
    )


@dpaudit.claim(
    "shang2014.borda-bound-corrected",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(section="IV", note="by the corrected Lemma 3"),
    statement="The error rate is at most C(M,2) p_D(0) σ̂ √(2 / π), with the rule's own p_D(0).",
    ours=True,
)
def borda_bound_corrected(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    return error_bound(system, lemma3_corrected(system, own_density(system)))


@dpaudit.claim(
    "shang2014.figure2",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(section="IV", figure=2),
    statement="The simulated error rate lies below the bounds of Theorem 2, Lemma 3 and the rule itself.",
    reproduces="Figure 2",
)
def figure2(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    return below_the_curves(system)


@dpaudit.claim(
    "shang2014.figure3",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(section="IV", figure=3),
    statement="The simulated error rate lies below the bounds of Theorem 2, Lemma 3 and the rule itself.",
    reproduces="Figure 3",
)
def figure3(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    return below_the_curves(system)


def own_density(system: GaussianHistogram) -> float:
    """p_D(0) of the rule."""
    return float(pair_distance_density(rule_of(system), 0.0))


def below_the_curves(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    """Return the claim that the error rate, simulated as in the paper, lies below the curves of a figure."""
    general, own = general_density(system), own_density(system)
    x = tightest(system, density=general)
    curves = {
        "bound of theorem 2": theorem2(system, x, density=general),
        "bound of lemma 3 at its tau": lemma3(system, x),
        "bound of the rule": theorem2_at_best(system, density=own),
    }
    right: dict[str, Any] = {
        "bound of theorem 2, corrected": theorem2_at_best(system, density=general, tail=pairs(system)),
        "bound of lemma 3, corrected": lemma3_corrected(system, general),
        "bound by the union of the pairs": lambda: union(system),
    }
    return error_bound(
        system,
        min(curves.values()),
        trivial=None,
        exact=None,
        measure=partial(errors, system),
        runs=100_000,
        bounds=LazyNumbers(curves | right),
        beside=LazyNumbers({"exact": lambda: exact_error(system)} if is_integrable(system) else {}),
    )
