"""Section IV: the bounds of a given rule, and Figures 2 and 3."""

import math
from functools import partial
from typing import Any

import numpy as np

import dpaudit
from dpaudit import rankings

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
from .claims.shared import LazyNumbers, error_bound, unless_bounded
from .error_rate import errors, exact_error, is_integrable
from .exact_errors import pair_distance_density
from .gaussian_histogram import GaussianHistogram
from .paper import PAPER
from .positional import PositionalRule


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
    mends="shang2014.borda-bound",
)
def borda_bound_corrected(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    return error_bound(system, lemma3_corrected(system, own_density(system)))


PRINTED_ORDER = ("abc", "acb", "cab", "cba", "bca", "bac")
PRINTED_SCORES = ((1, 1, 0.5, 0, 0, 0.5), (0.5, 0, 0, 0.5, 1, 1), (0, 0.5, 1, 1, 0.5, 0))
PRINTED_SIDES = ((2, 2, 1, 0, 0, 1), (1, 0, 0, 1, 2, 2))
PRINTED_PLANES = {"ab": (1, 2, 1, -1, -2, -1), "bc": (1, -1, -2, -1, 1, 2), "ac": (2, 1, -1, -2, -1, 1)}


@dpaudit.claim(
    "shang2014.equations29-34",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="IV", equation=(29, 30, 31, 32, 33, 34)),
    statement="The matrix of scores and the three hyperplanes are those of Borda's rule with three candidates.",
    only={"alternatives": 3, "rule": "borda"},
)
def equations29_to_34(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    orders = np.array([["abc".index(letter) for letter in name] for name in PRINTED_ORDER])
    scores = np.array(PositionalRule.named("borda", 3).scores)[rankings.positions(orders)].T

    def difference(equation: str) -> float:
        printed = np.array(PRINTED_PLANES.get(equation, PRINTED_SCORES), dtype=float)
        if equation == "29":
            return float(np.abs(printed - scores).max())
        if equation == "31":
            return float(np.abs(np.array(PRINTED_SIDES) - 2 * scores[:2]).max())
        first, second = ("abc".index(letter) for letter in equation)
        return float(np.abs(printed - 2 * (scores[first] - scores[second])).max())

    return dpaudit.LemmaClaim(
        margin=lambda equation: -difference(equation),
        instances=[{"equation": equation} for equation in ("29", "31", *PRINTED_PLANES)],
        complete=True,
        explain=lambda equation: {"claimed": 0.0, "actual": difference(equation)},
        scope="every printed coefficient against the scores of Borda's rule",
    )


@dpaudit.claim(
    "shang2014.figure2",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(section="IV", figure=2),
    statement=(
        "With Borda's rule, M = 3, N = 2,000, δ = 5e-4 as printed, or 0.1/N as the text explains it, and every ϵ from "
        "0.05 to 0.24 the simulated error rate lies below the bounds of Theorem 2, Lemma 3 and the rule itself."
    ),
    reproduces="Figure 2",
    only={"epsilon": dpaudit.Between(0.05, 0.24), "delta": (5e-4, "0.1/n")},
)
def figure2(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    return below_the_curves(system, unless_printed(system, "Figure 2", agents=(2000, 2000)))


@dpaudit.claim(
    "shang2014.figure2-other-m",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(section="IV", figure=2, note="for more candidates"),
    statement="At this ϵ, δ and N the error rate of Borda's rule is below the bounds of Figures 2 and 3 for M > 3 too.",
    ours=True,
)
def figure2_other_m(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    return below_the_curves(system, "it is about M > 3" if system.alternatives == 3 else "")


@dpaudit.claim(
    "shang2014.figure2-delta",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="IV", figure=2, note="on δ"),
    statement="δ = 5e-4 is 0.1 divided by the number of voters, 2000.",
    only={"delta": 5e-4, "agents": 2000, "alternatives": 3, "rule": "borda"},
)
def figure2_delta(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    return _tenth_of(5e-4)


@dpaudit.claim(
    "shang2014.figure2-delta-mended",
    GaussianHistogram,
    kind="lemma",
    place=PAPER.at(section="IV", figure=2, note="on δ, as Figure 3 has it"),
    statement="δ = 5e-5 is 0.1 divided by the number of voters, 2000.",
    ours=True,
    only={"delta": 5e-5, "agents": 2000, "alternatives": 3, "rule": "borda"},
)
def figure2_delta_mended(system: GaussianHistogram) -> dpaudit.LemmaClaim:
    return _tenth_of(5e-5)


def _tenth_of(delta: float) -> dpaudit.LemmaClaim:
    return dpaudit.LemmaClaim(
        margin=lambda: -abs(delta - 0.1 / 2000),
        instances=[{}],
        complete=True,
        explain=lambda: {"claimed": delta, "actual": 0.1 / 2000},
        scope="arithmetic",
    )


@dpaudit.claim(
    "shang2014.figure3",
    GaussianHistogram,
    kind="utility",
    place=PAPER.at(section="IV", figure=3),
    statement=(
        "With Borda's rule, M = 3, ϵ = 0.1, δ = 0.1/N and every N from 1,000 to 100,000 the simulated error rate lies "
        "below the bounds of Theorem 2, Lemma 3 and the rule itself."
    ),
    reproduces="Figure 3",
    only={"epsilon": 0.1, "delta": "0.1/n"},
)
def figure3(system: GaussianHistogram) -> dpaudit.UtilityClaim:
    return below_the_curves(system, unless_printed(system, "Figure 3", agents=(1000, 100_000)))


@dpaudit.claim(
    "shang2014.figure3-vanishes",
    GaussianHistogram,
    kind="rate",
    place=PAPER.at(section="IV", figure=3, note="on a δ that falls as 1/N"),
    statement=(
        "At ϵ = 0.1 and δ = 0.1/N the error rate of Borda's rule, and here of plurality too, with M = 3 goes to 0 as "
        "N grows from 1,000 to 100,000; here as fast as √(ln N) / N (a rate chosen here)."
    ),
    only={"epsilon": 0.1, "delta": "0.1/n", "alternatives": 3, "rule": ("borda", "plurality")},
)
def figure3_vanishes(system: GaussianHistogram) -> dpaudit.RateClaim:
    return dpaudit.RateClaim(
        variable="agents",
        points=[1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000],
        exponent=-1.0,
        shape=lambda agents: math.sqrt(math.log(20 * agents)),
        exact=lambda agents: exact_error(system.but(agents=int(agents), delta="0.1/n")),
        quantity="error rate",
        scope=f"{system.rule} with M = {system.alternatives}, ϵ = {system.epsilon:g}",
        inapplicable="" if is_integrable(system) else "integrated for 3 alternatives on the simplex",
    )


def own_density(system: GaussianHistogram) -> float:
    """p_D(0) of the rule."""
    return float(pair_distance_density(rule_of(system), 0.0))


def unless_printed(system: GaussianHistogram, figure: str, *, agents: tuple[int, int]) -> str:
    """Why a figure, drawn for so many agents, does not apply; empty where it does."""
    least, most = agents
    if system.alternatives != 3 or system.rule != "borda":
        return f"{figure} is about Borda's rule with three candidates"
    if not least <= system.agents <= most:
        return f"{figure} has {f'{least} to {most}' if least < most else least} voters"
    return ""


def below_the_curves(system: GaussianHistogram, inapplicable: str) -> dpaudit.UtilityClaim:
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
        inapplicable=inapplicable or unless_bounded(system),
    )
